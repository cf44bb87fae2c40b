"""PyTorch: what `torch` gives, from its own list of derivatives, tools/autograd/derivatives.yaml."""

from __future__ import annotations

from backprop.conventions import MASKS, RARE, Choice, Framework, named
from backprop.conventions.ties import HALVES_UNLESS_BEATEN, pairwise

ORDER = "https://docs.pytorch.org/docs/stable/notes/autograd.html#gradients-for-non-differentiable-functions"
YAML = "tools/autograd/derivatives.yaml"

FRAMEWORK = Framework(
    name="torch",
    title="PyTorch",
    version="2.14.1",
    source=f"{YAML}, in the order told by {ORDER}",
    choices=(
        Choice("abs", ("sign(x)",), f"{YAML}: abs is grad * self.sgn()"),
        Choice("relu", ("where(x <= 0, 0, 1)",), f"{YAML}: relu is threshold_backward(grad, result, 0)"),
        Choice("max", pairwise("max", HALVES_UNLESS_BEATEN), f"{YAML}: maximum halves it where self == other"),
        Choice("min", pairwise("min", HALVES_UNLESS_BEATEN), f"{YAML}: minimum halves it where self == other"),
        Choice(
            "clip",
            lambda moving: (
                (
                    "where(x < lo or x > hi, 0, where(lo < x and x < hi or lo == hi, 1, 1/2))",
                    "where(x < lo and lo <= hi, 1, where(x == lo and lo < hi, 1/2, 0))",
                    "where(x > hi or hi < lo, 1, where(x == hi and lo < hi, 1/2, 0))",
                )
                if moving[1] or moving[2]
                else ("where(lo < x and x < hi, 1, 0)", None, None)
            ),
            f"{YAML}: clamp is clamp_backward, 0 at a bound that is a number and half at one that is a tensor",
        ),
        Choice("leaky_relu", ("where(x > 0, 1, 0.01)",), f"{YAML}: leaky_relu_backward, the left side at 0"),
        Choice("leaky_relu_with", ("where(x > 0, 1, a)", None), f"{YAML}: leaky_relu_backward, the left side at 0"),
        Choice(
            "xlogy",
            ("where(x == 0 and y <= 0, 0, log(y))", "x/y"),
            f"{YAML}: xlogy is masked where self == 0 and other <= 0 for self alone",
        ),
        Choice(
            "pow",
            ("where(y == 0, 0, y*x^(y - 1))", "where(x == 0 and y >= 0, 0, out*log(x))"),
            f"{YAML}: pow_backward_self and pow_backward_exponent mask exponent == 0 and a base of 0",
            when="x == 0 or y == 0",
        ),
        Choice("hypot", ("x/out", "y/out"), f"{YAML}: hypot is grad * self / result", when="out == 0"),
        Choice("atan2", ("0", "0"), f"{YAML}: atan2_backward masks the origin", when="x == 0 and y == 0"),
        Choice("sinc", ("0",), f"{YAML}: sinc_backward masks 0", when="x == 0"),
        Choice("mod", (None, "-floor(x/y)"), f"{YAML}: remainder is -grad * floor(self/other)", when="y == 0"),
        *(
            Choice(row, ("where(out == 0, 0, x/out)", *rest), f"{YAML}: norm is norm_backward, masked where norm == 0")
            for row, rest in (("norm", ()), ("norm_along", (None,)))
        ),
        Choice("acosh", ("1/sqrt(x^2 - 1)",), f"{YAML}: acosh is rsqrt(self * self - 1)", when="x < 1"),
    ),
    zeros=dict.fromkeys(("where", "max", "min", "clip", "relu", "sign", "floor", "ceil", "round"), MASKS),
    written={
        "max": "torch.maximum(x, y)",
        "min": "torch.minimum(x, y)",
        "clip": "torch.clamp(x, lo, hi)",
        "where": "torch.where(c, x, y), which works out both branches",
        "mod": "torch.remainder(x, y)",
        "sinc": "torch.sinc(x/pi)",
    },
    missing=RARE | named("factorial cbrt gamma"),
    remarks={"leaky_relu_with": "its slope to the left is a plain number, which has no derivative"},
)

"""autograd: what `autograd.numpy` gives on arrays, from autograd/numpy/numpy_vjps.py."""

from __future__ import annotations

from backprop.conventions import MASKS, RARE, STOPS, Choice, Framework, named
from backprop.conventions.ties import pairwise

VJPS = "autograd/numpy/numpy_vjps.py"

FRAMEWORK = Framework(
    name="autograd",
    title="autograd",
    version="1.9.1",
    source=VJPS,
    choices=(
        Choice("abs", ("where(x == 0, 0, x/out)",), f"{VJPS}: abs is g * x / ans with zeros replaced"),
        Choice("max", pairwise("max"), f"{VJPS}: maximum is g * balanced_eq(x, ans, y), half at a tie"),
        Choice("min", pairwise("min"), f"{VJPS}: minimum is g * balanced_eq(x, ans, y), half at a tie"),
        Choice(
            "clip",
            ("where(out != lo and out != hi, 1, 0)", None, None),
            f"{VJPS}: clip is g * logical_and(ans != a_min, ans != a_max)",
        ),
        Choice(
            "pow",
            ("where(y == 0, y*x, y*x^(y - 1))", "where(x == 0, 0*out, out*log(x))"),
            f"{VJPS}: power is y * x**where(y, y - 1, 1) and log(replace_zero(x, 1)) * ans",
            when="x == 0 or y == 0",
        ),
        Choice("hypot", ("x/out", "y/out"), f"{VJPS}: hypot is g * x / ans, 0/0 at the origin", when="out == 0"),
        Choice(
            "sinc",
            ("(x*cos(x) - sin(x))/x^2",),
            f"{VJPS}: sinc is (cos(pi*x)*pi*x - sin(pi*x))/(pi*x**2), 0/0 at 0",
        ),
        Choice("mod", (None, "-floor(x/y)"), f"{VJPS}: mod is -g * floor(x / y)", when="y == 0"),
        *(
            Choice(row, ("out/x", *rest), f"{VJPS}: prod is g * ans / x, 0/0 at an element that is 0")
            for row, rest in (("prod", ()), ("prod_along", (None,)))
        ),
        Choice("acosh", ("1/sqrt(x^2 - 1)",), f"{VJPS}: arccosh is g / sqrt(x**2 - 1), on the left too", when="x < 1"),
    ),
    zeros={"where": MASKS} | dict.fromkeys(("sign", "floor", "ceil", "round"), STOPS),
    written={
        "max": "np.maximum(x, y)",
        "min": "np.minimum(x, y)",
        "clip": "np.clip(x, lo, hi)",
        "where": "np.where(c, x, y), which works out both branches",
        "mod": "np.mod(x, y)",
        "sinc": "np.sinc(x/pi)",
    },
    missing=RARE | named("factorial relu leaky_relu leaky_relu_with elu gelu cbrt softplus silu xlogy"),
    raises={"clip": (1, 2)},
    floats=named("div sqrt pow"),
    remarks={"clip": "its bounds have no derivative: it raises KeyError"},
)

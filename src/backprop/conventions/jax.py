"""JAX: what `jax.numpy` and `jax.nn` give, from the derivative rules of their primitives in jax/_src/lax/lax.py."""

from __future__ import annotations

from backprop.conventions import MASKS, RARE, STOPS, Choice, Framework
from backprop.conventions.ties import pairwise

LAX = "jax/_src/lax/lax.py"
TIE = "where({a} == {b}, 1/2, where({a} {beats} {b}, 1, 0))"

_IN = TIE.format(a="max(lo, x)", b="hi", beats="<")  # what jnp.minimum(hi, ...) lets through

FRAMEWORK = Framework(
    name="jax",
    title="JAX",
    version="0.10.2",
    source=LAX,
    choices=(
        Choice("abs", ("where(x >= 0, 1, -1)",), f"{LAX}: _abs_jvp_rule selects g where x >= 0"),
        Choice("relu", ("where(x > 0, 1, 0)",), "jax/_src/nn/functions.py: relu.defjvps selects g where x > 0"),
        Choice("max", pairwise("max"), f"{LAX}: max_p has the rule g * _balanced_eq(x, ans, y), half at a tie"),
        Choice("min", pairwise("min"), f"{LAX}: min_p has the rule g * _balanced_eq(x, ans, y), half at a tie"),
        Choice(
            "clip",
            (
                f"{TIE.format(a='x', b='lo', beats='>')}*{_IN}",
                f"{TIE.format(a='lo', b='x', beats='>')}*{_IN}",
                TIE.format(a="hi", b="max(lo, x)", beats="<"),
            ),
            "jax/_src/numpy/lax_numpy.py: clip is minimum(hi, maximum(lo, x)), each half at a tie",
        ),
        Choice(
            "leaky_relu",
            ("where(x >= 0, 1, 0.01)",),
            "jax/_src/nn/functions.py: leaky_relu is where(x >= 0, x, slope * x)",
        ),
        Choice(
            "leaky_relu_with",
            ("where(x >= 0, 1, a)", "where(x >= 0, 0, x)"),
            "jax/_src/nn/functions.py: leaky_relu is where(x >= 0, x, slope * x)",
        ),
        Choice(
            "pow",
            lambda moving: (None if not moving[1] else "y*x^(y - 1)", "where(x == 0, 0*out, out*log(x))"),
            f"{LAX}: _pow_jvp_lhs is y*x^(y-1) for a float y, _pow_jvp_rhs is log(_replace_zero(x))*ans",
        ),
        Choice("xlogy", ("log(y)", "x/y"), "jax/_src/scipy/special.py: the rule of xlogy is x_dot*log(y) + y_dot*x/y"),
        Choice(
            "hypot",
            ("1/2", "1/2"),
            "jax/_src/numpy/ufuncs.py: hypot begins with maximum(abs(x), abs(y)), a tie at the origin",
            when="out == 0",
        ),
        Choice("acosh", ("1/sqrt(x^2 - 1)",), f"{LAX}: acosh_p is g * rsqrt((x - 1) * (x + 1))", when="x < 1"),
        Choice("mod", (None, "-abs(floor(x/y))"), f"{LAX}: rem_p is -g * round_toward_zero(x/y)", when="y == 0"),
        Choice("gamma", ("x/x",), "jax/_src/scipy/special.py: digamma is NaN at 0", when="x == 0"),
        Choice("lgamma", ("x/x",), f"{LAX}: lgamma_p is g * digamma(x), which is NaN at 0", when="x == 0"),
        Choice("sinc", ("0",), "jax/_src/numpy/lax_numpy.py: sinc has a Taylor series of its own at 0", when="x == 0"),
    ),
    zeros=dict.fromkeys(("where", "relu", "leaky_relu", "leaky_relu_with"), MASKS)
    | dict.fromkeys(("sign", "floor", "ceil", "round"), STOPS),
    written={
        "max": "jnp.maximum(x, y)",
        "min": "jnp.minimum(x, y)",
        "clip": "jnp.clip(x, lo, hi)",
        "where": "jnp.where(c, x, y), which works out both branches",
        "mod": "jnp.mod(x, y)",
        "pow": "x**y; x**0.0 has the slope NaN at 0, x**0 has 0",
        "sinc": "jnp.sinc(x/pi)",
        "relu": "jax.nn.relu(x)",
    },
    missing=RARE,
    remarks={"factorial": "the factorial of a negative number is 0 there"},
)

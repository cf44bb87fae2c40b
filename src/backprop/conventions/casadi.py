"""CasADi: what its symbolic expressions (SX) give, from the derivatives in casadi/core/calculus.hpp."""

from __future__ import annotations

from backprop.conventions import RARE, SKIPS, STOPS, Choice, Framework, named
from backprop.conventions.ties import pairwise

CALCULUS = "casadi/core/calculus.hpp"

FRAMEWORK = Framework(
    name="casadi",
    title="CasADi",
    version="3.8.2",
    source=CALCULUS,
    choices=(
        Choice("abs", ("sign(x)",), f"{CALCULUS}: OP_FABS is sign(x)"),
        Choice("max", pairwise("max"), f"{CALCULUS}: OP_FMAX is a/(a + b) with a = y <= x, b = x <= y"),
        Choice("min", pairwise("min"), f"{CALCULUS}: OP_FMIN is a/(a + b) with a = x <= y, b = y <= x"),
        Choice(
            "pow",
            lambda moving: ("y*x^(y - 1)" if moving[1] else None, "log(x)*out"),
            f"{CALCULUS}: OP_POW is y*pow(x, y-1) and log(x)*f",
        ),
        Choice("hypot", ("x/out", "y/out"), f"{CALCULUS}: OP_HYPOT is x/f, 0/0 at the origin", when="out == 0"),
    ),
    zeros={"where": SKIPS} | dict.fromkeys(("sign", "floor", "ceil"), STOPS),
    written={
        "max": "fmax(x, y)",
        "min": "fmin(x, y)",
        "where": "if_else(c, x, y), whose other branch is left out of the derivative",
    },
    missing=RARE
    | named(
        "mod factorial round clip relu leaky_relu leaky_relu_with elu gelu exp2 log2 cbrt "
        "sigmoid softplus silu logaddexp xlogy erfc gamma lgamma digamma polygamma sinc"
    ),
    simplifies="sqrt(x*x) becomes fabs(x), x*log(x) has the slope log(x) + 1",
)

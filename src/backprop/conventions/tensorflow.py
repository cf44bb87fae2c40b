"""TensorFlow: what `tf.math` and `tf.nn` give, from the gradients registered in tensorflow/python/ops/math_grad.py."""

from __future__ import annotations

from backprop.conventions import MASKS, QUIET, RARE, STOPS, Choice, Framework, named
from backprop.conventions.ties import FIRST, pairwise

GRAD = "tensorflow/python/ops/math_grad.py"

FRAMEWORK = Framework(
    name="tensorflow",
    title="TensorFlow",
    version="2.21.0",
    source=GRAD,
    choices=(
        Choice("abs", ("sign(x)",), f"{GRAD}: _AbsGrad is grad * sign(x)"),
        Choice("relu", ("where(x > 0, 1, 0)",), "tensorflow/python/ops/nn_grad.py: _ReluGrad, 1 where it is > 0"),
        Choice("max", pairwise("max", FIRST), f"{GRAD}: _MaximumGrad is grad*(x >= y, x < y)"),
        Choice("min", pairwise("min", FIRST), f"{GRAD}: _MinimumGrad is grad*(x <= y, x > y)"),
        Choice(
            "clip",
            ("where(x < lo or x > hi, 0, 1)", "where(x < lo, 1, 0)", "where(x > hi, 1, 0)"),
            "tensorflow/python/ops/clip_ops.py: _clip_by_value_grad zeroes x < lo and x > hi, not the bounds",
        ),
        Choice(
            "leaky_relu_with",
            ("where(x > 0, 1, a)", None),
            "tensorflow/python/ops/nn_grad.py: _LeakyReluGrad takes the left side at 0",
        ),
        Choice(
            "pow",
            ("y*x^(y - 1)", "where(x > 0, out*log(x), 0*out)"),
            f"{GRAD}: _PowGrad is y*x^(y-1), and takes log(x) as 0 where x <= 0",
        ),
        Choice(
            "xlogy",
            ("where(x == 0, 0, log(y))", "where(x == 0, 0, x/y)"),
            f"{GRAD}: _XLogyGrad is xlogy(x != 0, y) and xdivy(x, y)",
        ),
        Choice("mod", (None, "-floor(x/y)"), f"{GRAD}: _FloorModGrad is grad * -floor(x/y)", when="y == 0"),
        Choice("lgamma", ("x/x",), f"{GRAD}: _LgammaGrad is grad * digamma(x), which is NaN at 0", when="x == 0"),
        Choice("sqrt", ("1/(2*out)",), "tensorflow/core/kernels/cwise_ops_gradients.h: a gradient of 0 stays 0 there"),
    ),
    zeros=dict.fromkeys(("where", "max", "min", "clip", "sign"), MASKS)
    | dict.fromkeys(("floor", "ceil", "round"), STOPS)
    | {"sqrt": QUIET},
    written={
        "max": "tf.maximum(x, y)",
        "min": "tf.minimum(x, y)",
        "clip": "tf.clip_by_value(x, lo, hi)",
        "where": "tf.where(c, x, y), which works out both branches",
        "mod": "tf.math.floormod(x, y)",
        "sqrt": "tf.sqrt(x), whose gradient keeps a 0 that comes",
    },
    missing=RARE | named("factorial exp2 log2 log10 cbrt logaddexp gamma hypot sinc"),
    remarks={
        "leaky_relu": "its slope 0.01 is rounded to single precision",
        "gelu": "it is worked out with a square root of 2 in single precision",
        "leaky_relu_with": "its slope to the left is a plain number, which has no derivative",
    },
)

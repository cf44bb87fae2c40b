"""Wrong rules: how the derivative of an operation is misremembered, one row each.

A row says, in the user's own language, what the tangent of a node becomes by the slip: `x`, `y` (the names of the table
of operations) are the operands of the node, `dx`, `dy` their tangents and `out` its value. It speaks of nodes where the
tangents in it move and the operands in `still` do not. To add a slip, add a row.

The sentence may use {x}, {y} for the operands and {dx}, {dy} for their derivatives, as formulas, {node} for the node
itself, and the right rules by name.
"""

from __future__ import annotations

from dataclasses import dataclass

# The rules that are told right, by name.
RIGHT = {
    "product": "the product rule is u'·v + u·v'",
    "quotient": "the quotient rule is (u'·v - u·v')/v²",
    "power": "the power rule is n·u^(n - 1)·u'",
}


@dataclass(frozen=True, slots=True)
class WrongRule:
    """A slip at a node. `rank` tells when it is tried: 1 before a lost inner factor, 2 after it, 3 at the end."""

    code: str
    ops: tuple[str, ...]
    wrong: str
    says: str
    still: tuple[str, ...] = ()
    rank: int = 1


# The likelier stands first.
WRONG_RULES: list[WrongRule] = []


def wrong(code: str, ops: str, tangent: str, says: str, *, still: str = "", rank: int = 1) -> None:
    """Put one row in the table."""
    WRONG_RULES.append(WrongRule(code, tuple(ops.split()), tangent, says, tuple(still.split()), rank))


# fmt: off
wrong("product-half", "mul", "dx*y",
      "product rule half done: {product}, and u·v' with v = {y} is missing; v' = {dy}")
wrong("product-half", "mul", "x*dy",
      "product rule half done: {product}, and u'·v with u = {x} is missing; u' = {dx}")
wrong("product-of-derivatives", "mul", "dx*dy",
      "{product}, not u'·v', at u = {x}, v = {y}")
wrong("minus-lost", "neg", "dx",
      "the minus before {x} is missing", rank=2)
wrong("product-sign", "mul", "dx*y - x*dy",
      "{product}, with a plus, at u = {x}, v = {y}", rank=2)
wrong("product-sign", "mul", "x*dy - dx*y",
      "{product}, with a plus, at u = {x}, v = {y}", rank=2)
wrong("product-as-sum", "mul", "dx + dy",
      "{product}, not u' + v', at u = {x}, v = {y}", rank=3)
wrong("factor-lost", "mul", "dx",
      "the constant factor {y} of {node} is missing", still="y", rank=2)
wrong("factor-lost", "mul", "dy",
      "the constant factor {x} of {node} is missing", still="x", rank=2)
wrong("quotient-order", "div", "(x*dy - dx*y)/y^2",
      "quotient rule in the wrong order: {quotient}, at u = {x}, v = {y}", rank=2)
wrong("quotient-square", "div", "(dx*y - x*dy)/y",
      "{quotient}: the square below is missing, at u = {x}, v = {y}")
wrong("quotient-square", "div", "-x*dy/y",
      "the derivative of c/v is -c·v'/v²: the square below is missing, at v = {y}", still="x")
wrong("quotient-below", "div", "dx*y - x*dy",
      "{quotient}: v² below is missing, at u = {x}, v = {y}")
wrong("quotient-of-derivatives", "div", "dx/dy",
      "{quotient}, not u'/v', at u = {x}, v = {y}", rank=2)
wrong("quotient-sign", "div", "(dx*y + x*dy)/y^2",
      "{quotient}, with a minus, at u = {x}, v = {y}")
wrong("quotient-half", "div", "dx/y",
      "quotient rule half done: {quotient}, and the part of v' = {dy} is missing")
wrong("quotient-half", "div", "-x*dy/y^2",
      "quotient rule half done: {quotient}, and the part of u' = {dx} is missing")
wrong("quotient-upside-down", "div", "(dx*y - x*dy)/x^2",
      "{quotient}: below stands the square of v = {y}, not of u", rank=3)
wrong("reciprocal-sign", "div", "x*dy/y^2",
      "the derivative of c/v is -c·v'/v²: the minus is missing, at v = {y}", still="x")
wrong("reciprocal-log", "div", "x*log(abs(y))*dy",
      "{node} was integrated: the derivative of 1/v is -v'/v², not log(v)", still="x", rank=3)
wrong("factor-lost", "div", "-dy/y^2",
      "the constant factor {x} of {node} is missing", still="x", rank=2)
wrong("divisor-lost", "div", "dx",
      "the constant divisor {y} of {node} is missing", still="y", rank=2)
wrong("exponent-not-down", "pow", "x^(y - 1)*dx",
      "{power}: the exponent {y} was not brought down, at u = {x}", still="y")
wrong("exponent-not-lowered", "pow", "y*x^y*dx",
      "{power}: the exponent {y} was not lowered by one, at u = {x}", still="y")
wrong("exponent-raised", "pow", "y*x^(y + 1)*dx",
      "{power}: the exponent {y} goes down by one, not up, at u = {x}", still="y")
wrong("exponent-lowered-first", "pow", "(y - 1)*x^(y - 1)*dx",
      "{power}: the exponent {y} comes down before it is lowered, at u = {x}", still="y")
wrong("exponent-lowered-twice", "pow", "y*x^(y - 2)*dx",
      "{power}: the exponent {y} was lowered by two, at u = {x}", still="y", rank=3)
wrong("integrated", "pow", "x^(y + 1)/(y + 1)*dx",
      "{node} was integrated: {y} comes down as a factor", still="y", rank=3)
wrong("power-sign", "pow", "abs(y)*x^(y - 1)*dx",
      "{power}: the sign of the exponent {y} was lost, at u = {x}", still="y")
wrong("power-rule-on-exponential", "pow", "y*x^(y - 1)*dy",
      "{node} has its variable in the exponent: its derivative is a^u·log(a)·u', not the power rule", still="x")
wrong("log-of-base", "pow", "out*dy",
      "the derivative of a^u is a^u·log(a)·u': log({x}) is missing", still="x")
wrong("log-of-base", "pow", "out/log(x)*dy",
      "the derivative of a^u is a^u·log(a)·u': log({x}) is a factor, not a divisor", still="x")
wrong("exponential-as-power", "pow", "y*x^(y - 1)*dx",
      "{node} has variables below and above: the part of the exponent, out·log(u)·v', is missing; v' = {dy}")
wrong("power-as-exponential", "pow", "out*log(x)*dy",
      "{node} has variables below and above: the part of the base, v·u^(v - 1)·u', is missing; u' = {dx}")
wrong("power-rule-on-exponential", "exp", "x*exp(x - 1)*dx",
      "exp is its own derivative: the power rule is for u^n")
wrong("power-rule-on-exponential", "exp", "exp(x - 1)*dx",
      "exp is its own derivative: its exponent is not lowered", rank=3)
wrong("log-of-base", "exp2", "out*dx",
      "the derivative of 2^u is 2^u·log(2)·u': log(2) is missing")
wrong("log-of-base", "log2 log10", "dx/x",
      "this is not the natural logarithm: the log of the base belongs below")
wrong("log-of-base", "log2", "log(2)*dx/x",
      "the derivative of log2(u) is u'/(u·log(2)): log(2) belongs below")
wrong("log-of-base", "log10", "log(10)*dx/x",
      "the derivative of log10(u) is u'/(u·log(10)): log(10) belongs below")
wrong("log-of-base", "log_base", "dx/x",
      "this is not the natural logarithm: log({b}) belongs below", still="b")
wrong("natural-log", "log", "dx/(x*log(10))",
      "log is the natural logarithm here: its derivative is u'/u", rank=3)
wrong("log-kept", "log", "dx/out",
      "the derivative of log(u) is u'/u, not u'/log(u), at u = {x}")
wrong("log-square", "log", "-dx/x^2",
      "the derivative of log(u) is u'/u: 1/u was differentiated once more", rank=3)
wrong("root-half", "sqrt", "dx/out",
      "the derivative of sqrt(u) is u'/(2·sqrt(u)): the 2 below is missing, at u = {x}")
wrong("root-above", "sqrt", "out*dx/2",
      "the derivative of sqrt(u) is u'/(2·sqrt(u)): the root stands below, at u = {x}")
wrong("root-lost", "sqrt", "dx/(2*x)",
      "the derivative of sqrt(u) is u'/(2·sqrt(u)): the root below is missing, at u = {x}")
wrong("root-half", "cbrt", "dx/out^2",
      "the derivative of cbrt(u) is u'/(3·cbrt(u)²): the 3 below is missing")
wrong("cos-sign", "cos", "sin(x)*dx",
      "the derivative of cos is -sin: the minus is missing, at {node}")
wrong("cos-kept", "cos", "cos(x)*dx",
      "the derivative of cos is -sin, at {node}")
wrong("sin-sign", "sin", "-cos(x)*dx",
      "the derivative of sin is cos, without a minus, at {node}", rank=2)
wrong("sin-kept", "sin", "sin(x)*dx",
      "the derivative of sin is cos, at {node}")
wrong("tan-square", "tan", "sec(x)*dx",
      "the derivative of tan is sec²: the square is missing, at {node}")
wrong("tan-sign", "tan", "(1 - out^2)*dx",
      "the derivative of tan is 1 + tan², with a plus, at {node}")
wrong("tan-as-sec", "tan", "sec(x)*tan(x)*dx",
      "the derivative of tan is sec², not sec·tan, at {node}")
wrong("cotangent-sign", "cot", "csc(x)^2*dx",
      "the derivative of cot is -csc²: the minus is missing, at {node}")
wrong("cosine-sign", "csc", "csc(x)*cot(x)*dx",
      "the derivative of csc is -csc·cot: the minus is missing, at {node}")
wrong("sec-half", "sec", "tan(x)*dx",
      "the derivative of sec is sec·tan: sec is missing, at {node}")
wrong("arc-sign", "acos", "dx/sqrt(1 - x^2)",
      "the derivative of acos is -1/sqrt(1 - u²): the minus is missing")
wrong("arc-root", "asin", "dx/(1 - x^2)",
      "the derivative of asin is 1/sqrt(1 - u²): the root is missing")
wrong("arc-sign", "asin", "dx/sqrt(1 + x^2)",
      "the derivative of asin is 1/sqrt(1 - u²), with a minus")
wrong("arc-sign", "atan", "dx/(1 - x^2)",
      "the derivative of atan is 1/(1 + u²), with a plus")
wrong("arc-root", "atan", "dx/sqrt(1 + x^2)",
      "the derivative of atan is 1/(1 + u²), without a root")
wrong("arc-square", "atan", "dx/(1 + x)",
      "the derivative of atan is 1/(1 + u²): the square is missing")
wrong("cosh-sign", "cosh", "-sinh(x)*dx",
      "the derivative of cosh is sinh, without a minus")
wrong("tanh-sign", "tanh", "(1 + out^2)*dx",
      "the derivative of tanh is 1 - tanh², with a minus, at {node}")
wrong("tanh-square", "tanh", "(1 - out)*dx",
      "the derivative of tanh is 1 - tanh²: the square is missing, at {node}")
wrong("before-the-function", "tanh", "(1 - x^2)*dx",
      "the derivative of tanh is 1 - tanh²: the square is of {node}, not of {x}, which goes into it")
wrong("sigmoid-sign", "sigmoid", "out*(1 + out)*dx",
      "the derivative of sigmoid is s·(1 - s), with a minus, at s = {node}")
wrong("sigmoid-half", "sigmoid", "out*dx",
      "the derivative of sigmoid is s·(1 - s): the factor 1 - s is missing, at s = {node}")
wrong("sigmoid-half", "sigmoid", "(1 - out)*dx",
      "the derivative of sigmoid is s·(1 - s): the factor s is missing, at s = {node}")
wrong("before-the-function", "sigmoid", "x*(1 - x)*dx",
      "the derivative of sigmoid is s·(1 - s): s stands for {node}, not for {x}, which goes into it")
wrong("twice-through", "sigmoid", "sigmoid(out)*(1 - sigmoid(out))*dx",
      "s·(1 - s) already holds s = {node}: sigmoid was taken twice", rank=3)
wrong("abs-sign", "abs", "dx",
      "the slope of abs is the sign of {x}, not always 1", rank=2)
wrong("relu-open", "relu", "dx",
      "relu lets a slope through only where {x} > 0")
wrong("difference-sign", "sub", "dx + dy",
      "the minus before {y} is missing")
wrong("difference-sign", "sub", "dy",
      "the minus before {y} is missing", still="x")
wrong("constant-kept", "add", "dx + y",
      "the derivative of the constant {y} is 0", still="y", rank=2)
wrong("constant-kept", "add", "x + dy",
      "the derivative of the constant {x} is 0", still="x", rank=2)
wrong("constant-kept", "sub", "dx - y",
      "the derivative of the constant {y} is 0", still="y", rank=2)
wrong("constant-kept", "sub", "x - dy",
      "the derivative of the constant {x} is 0", still="x", rank=2)
wrong("constant-one", "add", "dx + 1",
      "the derivative of the constant {y} is 0, not 1", still="y", rank=3)
wrong("constant-one", "add", "1 + dy",
      "the derivative of the constant {x} is 0, not 1", still="x", rank=3)

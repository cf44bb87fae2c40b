"""The same programs in released frameworks: what each gives for value and gradient, in double precision."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

from backprop import ops
from backprop.grammar import parse
from backprop.graph import CONST, INPUT, Graph
from backprop.graph.building import build
from backprop.kinds.ieee import IEEE
from backprop.values import values

Table = dict[str, Callable[..., Any]]


class NotOffered(Exception):
    """The framework has no such function."""


SIGNS: Table = {
    "copy": lambda x: x,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}


def run(graph: Graph, table: Table, inputs: dict[str, Any]) -> Any:
    """The output of a program with the functions of a framework; what holds no input is a Python number."""
    plain = values(graph, IEEE, dict.fromkeys(graph.inputs.values(), 1.0))
    moving = graph.moving(list(graph.inputs.values()))
    conditions = {node for node in range(len(graph)) if (row := graph.row(node)) is not None and row.gives_condition}
    power = ops.by_name("pow").code
    exponents = {graph.operands(node)[1] for node in range(len(graph)) if graph.codes[node] == power}
    # an exponent is an integer where a person writes one: x**2
    whole = {node for node in exponents if graph.literals.get(node, "").lstrip("-").isdecimal()}
    known: list[Any] = []
    for node in range(len(graph)):
        code = graph.codes[node]
        if code == INPUT:
            known.append(inputs[graph.names[node]])
        elif node in whole:
            known.append(int(plain[node]))
        elif code == CONST or not (moving[node] or node in conditions):
            known.append(plain[node])
        else:
            name = ops.rows()[code].name
            if name not in table:
                raise NotOffered(name)
            known.append(table[name](*(known[operand] for operand in graph.operands(node))))
    return known[graph.output]


def read(program: str, names: list[str]) -> Graph:
    return build(parse(program, variables=tuple(names)), names)


def pairwise(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """A function of two numbers, from left to right over any count."""
    return lambda *x: reduce(function, x)


def every(module: Any, names: str) -> Table:
    """The functions of a module that go by the names of our rows; those that it does not have are left out."""
    return {name: getattr(module, name) for name in names.split() if hasattr(module, name)}


# -- PyTorch ----------------------------------------------------------------------------------------------------------


def torch(program: str, point: dict[str, float]) -> tuple[float, dict[str, float]]:
    import torch as t
    import torch.nn.functional as F

    def tensor(x: Any) -> Any:
        return x if isinstance(x, t.Tensor) else t.tensor(x, dtype=t.bool if isinstance(x, bool) else t.float64)

    def of(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *x: function(*map(tensor, x))

    table: Table = SIGNS | {
        "pow": operator.pow, "mod": operator.mod, "max": pairwise(of(t.maximum)), "min": pairwise(of(t.minimum)),
        "clip": lambda x, lo, hi: t.clamp(tensor(x), lo, hi) if not isinstance(lo, t.Tensor) and
        not isinstance(hi, t.Tensor) else t.clamp(tensor(x), tensor(lo), tensor(hi)),
        "where": of(t.where), "and": of(t.logical_and), "or": of(t.logical_or), "not": of(t.logical_not),
        "leaky_relu": lambda x: F.leaky_relu(x, 0.01), "elu": F.elu, "gelu": F.gelu, "silu": F.silu,
        "leaky_relu_with": _scalar_second(F.leaky_relu), "softplus": F.softplus, "sinc": lambda x: t.sinc(x / math.pi),
        "polygamma": lambda n, x: t.polygamma(int(n), x), "xlogy": of(t.xlogy), "hypot": of(t.hypot),
        "atan2": of(t.atan2), "logaddexp": of(t.logaddexp),
    }  # fmt: skip
    table |= every(
        t,
        "abs sign floor ceil round relu exp exp2 expm1 log log2 log10 log1p sqrt sigmoid erf erfc "
        "lgamma digamma sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh",
    )
    given = {name: t.tensor(x, dtype=t.float64, requires_grad=True) for name, x in point.items()}
    out = run(read(program, list(point)), table, given)
    if not (isinstance(out, t.Tensor) and out.requires_grad):
        return float(out), dict.fromkeys(point, 0.0)
    slopes = t.autograd.grad(out, list(given.values()), allow_unused=True)
    return float(out), {name: 0.0 if g is None else float(g) for name, g in zip(given, slopes, strict=True)}


def _scalar_second(function: Callable[[Any, float], Any]) -> Callable[[Any, Any], Any]:
    def called(x: Any, a: Any) -> Any:
        if not isinstance(a, (int, float)):
            raise NotOffered("the slope to the left is a plain number")
        return function(x, a)

    return called


# -- JAX --------------------------------------------------------------------------------------------------------------


def jax(program: str, point: dict[str, float]) -> tuple[float, dict[str, float]]:
    import jax as j
    import jax.numpy as np
    from jax.scipy import special

    j.config.update("jax_enable_x64", True)
    table: Table = SIGNS | {
        "pow": operator.pow, "mod": operator.mod, "max": pairwise(np.maximum), "min": pairwise(np.minimum),
        "where": np.where, "and": np.logical_and, "or": np.logical_or, "not": np.logical_not,
        "leaky_relu": j.nn.leaky_relu, "leaky_relu_with": j.nn.leaky_relu, "elu": j.nn.elu, "relu": j.nn.relu,
        "gelu": lambda x: j.nn.gelu(x, approximate=False), "silu": j.nn.silu, "softplus": j.nn.softplus,
        "sigmoid": j.nn.sigmoid, "sinc": lambda x: np.sinc(x / math.pi), "lgamma": special.gammaln,
        "polygamma": lambda n, x: special.polygamma(int(n), x),
    }  # fmt: skip
    table |= every(
        np,
        "abs sign floor ceil round clip exp exp2 expm1 log log2 log10 log1p sqrt cbrt logaddexp sin "
        "cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh hypot",
    )
    table |= every(special, "xlogy erf erfc gamma factorial digamma")
    graph = read(program, list(point))
    given = {name: np.float64(x) for name, x in point.items()}
    value, slopes = j.value_and_grad(lambda inputs: np.asarray(run(graph, table, inputs)).astype(np.float64))(given)
    return float(value), {name: float(slope) for name, slope in slopes.items()}


# -- TensorFlow -------------------------------------------------------------------------------------------------------


def tensorflow(program: str, point: dict[str, float]) -> tuple[float, dict[str, float]]:
    import tensorflow as tf

    def tensor(x: Any) -> Any:
        return x if tf.is_tensor(x) else tf.constant(x, tf.bool if isinstance(x, bool) else tf.float64)

    def of(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *x: function(*map(tensor, x))

    table: Table = SIGNS | {
        "pow": operator.pow, "mod": operator.mod, "max": pairwise(of(tf.maximum)), "min": pairwise(of(tf.minimum)),
        "clip": of(tf.clip_by_value), "where": of(tf.where), "and": of(tf.logical_and), "or": of(tf.logical_or),
        "not": of(tf.logical_not), "leaky_relu": lambda x: tf.nn.leaky_relu(x, 0.01),
        "leaky_relu_with": _scalar_second(tf.nn.leaky_relu), "elu": tf.nn.elu, "relu": tf.nn.relu, "gelu": tf.nn.gelu,
        "silu": tf.nn.silu, "xlogy": of(tf.math.xlogy), "atan2": of(tf.atan2), "eq": of(tf.equal),
        "ne": of(tf.not_equal), "polygamma": of(tf.math.polygamma),
    }  # fmt: skip
    table |= every(
        tf.math,
        "abs sign floor ceil round exp expm1 log log1p sqrt sigmoid softplus erf erfc lgamma "
        "digamma sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh",
    )
    given = {name: tf.constant(x, tf.float64) for name, x in point.items()}
    with tf.GradientTape() as tape:
        for one in given.values():
            tape.watch(one)
        out = run(read(program, list(point)), table, given)
    slopes = tape.gradient(out, given)
    return float(out), {name: 0.0 if g is None else float(g) for name, g in slopes.items()}


# -- autograd ---------------------------------------------------------------------------------------------------------


def autograd(program: str, point: dict[str, float]) -> tuple[float, dict[str, float]]:
    import autograd.numpy as np
    from autograd import value_and_grad
    from autograd.scipy import special

    table: Table = SIGNS | {
        "pow": operator.pow, "mod": operator.mod, "max": pairwise(np.maximum), "min": pairwise(np.minimum),
        "clip": np.clip, "where": np.where, "and": np.logical_and, "or": np.logical_or, "not": np.logical_not,
        "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh,
        "atanh": np.arctanh, "atan2": np.arctan2, "sinc": lambda x: np.sinc(x / math.pi), "sigmoid": special.expit,
        "lgamma": special.gammaln, "digamma": special.digamma, "gamma": special.gamma, "erf": special.erf,
        "erfc": special.erfc, "polygamma": lambda n, x: special.polygamma(int(n), x),
    }  # fmt: skip
    table |= every(
        np,
        "abs sign floor ceil round exp exp2 expm1 log log2 log10 log1p sqrt logaddexp sin cos tan sinh cosh tanh hypot",
    )
    graph, names = read(program, list(point)), list(point)
    import numpy

    def function(x: Any) -> Any:
        return run(graph, table, {name: x[place] for place, name in enumerate(names)}) + 0.0 * np.sum(numpy.zeros(1))

    with numpy.errstate(all="ignore"):
        value, slopes = value_and_grad(function)(numpy.array([point[name] for name in names]))
    return float(value), dict(zip(names, map(float, slopes), strict=True))


# -- CasADi -----------------------------------------------------------------------------------------------------------


def casadi(program: str, point: dict[str, float]) -> tuple[float, dict[str, float]]:
    import casadi as c

    table: Table = SIGNS | {
        "pow": operator.pow, "max": pairwise(c.fmax), "min": pairwise(c.fmin), "abs": c.fabs, "where": c.if_else,
        "and": c.logic_and, "or": c.logic_or, "not": c.logic_not,
    }  # fmt: skip
    table |= every(
        c,
        "sign floor ceil exp expm1 log log10 log1p sqrt sin cos tan asin acos atan atan2 sinh cosh "
        "tanh asinh acosh atanh hypot erf",
    )
    names = list(point)
    symbols = {name: c.SX.sym(name) for name in names}
    out = c.SX(run(read(program, names), table, symbols))
    slopes = c.gradient(out, c.vertcat(*symbols.values()))
    value, found = c.Function("f", list(symbols.values()), [out, slopes])(*point.values())
    return float(value), {name: float(found[place]) for place, name in enumerate(names)}


PEERS = {"torch": torch, "jax": jax, "tensorflow": tensorflow, "autograd": autograd, "casadi": casadi}

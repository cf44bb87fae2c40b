"""Value and six derivatives of one expression for every row of six columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import chdir
from typing import Any

import scratch
from harness import MILLION_A_SECOND, Found, Subject, Works

COLUMNS = ("u", "v", "w", "x", "y", "z")
# 36 operations, nine of them transcendental
FORMULA = (
    "sin(u*v)*exp(-w*w) + log(1 + x*x)*cos(y - z) + tanh(u*x + v*y)*exp(z*w) "
    "+ sin(x*y*z)*log(2 + u*u) + cos(w*u - v)*(x - y)/2"
)
FUNCTIONS = ("sin", "cos", "exp", "log", "tanh")
JAX, COPY = "JAX jit vmap(grad)", "copying the same bytes (the limit)"
OURS = {"numpy": "backprop, NumPy", "numba": "backprop, extra fast (numba)", "c": "backprop, C"}
BOTH = ", two cores"
LIMITS = {"numpy": 1.2, "numba": 2.5, "c": 8.0}

ROWS = Subject(
    "rows",
    "Rows in memory",
    f"Value and six derivatives of `{FORMULA}`, 36 operations, nine of them transcendental, for columns of doubles.",
    sizes=(10**5, 10**6),
    quick=(10**3,),
    measure=MILLION_A_SECOND,
    repeats=7,
    limit=120,
    answer=lambda result: [float(column[place]) for column in result for place in (0, -1)],
    size_word="rows",
    plot="bars",
)
SUBJECTS = [ROWS]


def columns(size: int) -> dict[str, Any]:
    """Six columns of numbers between -1.5 and 1.5."""
    import numpy as np

    draw = np.random.default_rng(36)
    return {name: draw.uniform(-1.5, 1.5, size) for name in COLUMNS}


def formula(functions: Mapping[str, Callable[[Any], Any]]) -> Callable[..., Any]:
    """The expression as a function of six arguments, over the functions of a library."""
    made: Callable[..., Any] = eval(f"lambda {', '.join(COLUMNS)}: {FORMULA}", dict(functions))
    return made


def _of(module: Any) -> dict[str, Callable[[Any], Any]]:
    return {name: getattr(module, name) for name in FUNCTIONS}


def _ours(engine: str) -> Callable[[int], Works]:
    def make(size: int) -> Works:
        from backprop.mapping.kernels import kernel
        from backprop.point import Program

        given = columns(size)
        made = kernel(Program(FORMULA), COLUMNS, {}, COLUMNS, engine=engine)

        def work() -> list[Any]:
            answers = made.run(given)
            return [answers.value, *(answers.slopes[name] for name in COLUMNS)]

        return {"": work}

    return make


for engine, name in OURS.items():
    needs = ["backprop.mapping", {"numpy": "numpy", "numba": "numba", "c": "gcc"}[engine]]
    ROWS.contender(name, needs, ours=True)(_ours(engine))


@ROWS.contender(COPY, ["numpy"])
def copy(size: int) -> Works:
    import numpy as np

    given = list(columns(size).values())
    made = [np.empty(size) for _ in range(7)]

    def work() -> None:
        for place, column in enumerate(made):
            np.copyto(column, given[place % 6])

    return {"": work}


def jax(size: int) -> Works:
    import jax as j

    j.config.update("jax_enable_x64", True)
    given = [j.numpy.array(column) for column in columns(size).values()]
    one = j.value_and_grad(formula(_of(j.numpy)), argnums=tuple(range(6)))
    many = j.jit(j.vmap(one))

    def work() -> list[Any]:
        value, slopes = j.block_until_ready(many(*given))
        return [value, *slopes]

    return {"": work}


def torch(cores: int) -> Callable[[int], Works]:
    def make(size: int) -> Works:
        import torch as t

        t.set_num_threads(cores)
        given = [t.from_numpy(column).requires_grad_() for column in columns(size).values()]
        function = formula(_of(t))

        def work() -> list[Any]:
            value = function(*given)
            return [value.detach(), *t.autograd.grad(value.sum(), given)]

        return {"": work}

    return make


ROWS.contender(JAX, ["jax"])(jax)
ROWS.contender(JAX + BOTH, ["jax"], cores=2)(jax)
ROWS.contender("PyTorch", ["torch"])(torch(1))
ROWS.contender("PyTorch" + BOTH, ["torch"], cores=2)(torch(2))


@ROWS.contender("autograd", ["autograd"])
def autograd(size: int) -> Works:
    from autograd import make_vjp
    from autograd import numpy as np

    given = tuple(columns(size).values())
    function = formula(_of(np))

    def work() -> list[Any]:
        back, value = make_vjp(lambda packed: function(*packed))(given)
        return [value, *back(np.ones(size))]

    return {"": work}


def casadi(compiled: bool) -> Callable[[int], Works]:
    def make(size: int) -> Works:
        import casadi as ca
        import numpy as np

        x = ca.SX.sym("x", 6)
        value = formula(_of(ca))(*(x[k] for k in range(6)))
        options = {"jit": True, "compiler": "shell", "jit_options": {"flags": ["-O3", "-march=native"]}}
        both = ca.vertcat(value, ca.gradient(value, x))
        with chdir(scratch.folder()):  # its compiler leaves files where it stands
            many = ca.Function("f", [x], [both], options if compiled else {}).map(size, "serial")
        given = ca.DM(np.stack(list(columns(size).values())))
        return {"": lambda: many(given).full()}

    return make


ROWS.contender("CasADi map", ["casadi"])(casadi(False))
ROWS.contender("CasADi map, compiled by gcc", ["casadi", "gcc"])(casadi(True))


def derivatives() -> tuple[list[Any], list[Any]]:
    """SymPy's symbols, and its formulas for value and derivatives."""
    import sympy

    symbols = list(sympy.symbols(COLUMNS, real=True))
    value = formula(_of(sympy))(*symbols)
    return symbols, [value, *(sympy.diff(value, symbol) for symbol in symbols)]


@ROWS.contender("SymPy lambdify", ["sympy", "numpy"])
def sympy(size: int) -> Works:
    import sympy as s

    symbols, formulas = derivatives()
    function = s.lambdify(symbols, formulas, "numpy", cse=True)
    given = columns(size).values()
    return {"": lambda: function(*given)}


@ROWS.contender("numexpr", ["numexpr", "sympy"])
def numexpr(size: int) -> Works:
    import numexpr as n

    texts = [str(one) for one in derivatives()[1]]
    given = columns(size)
    return {"": lambda: [n.evaluate(text, given) for text in texts]}


@ROWS.contender("SymEngine, LLVM", ["symengine"])
def symengine(size: int) -> Works:
    import numpy as np
    import symengine as s

    symbols = [s.Symbol(name) for name in COLUMNS]
    value = formula(_of(s))(*symbols)
    formulas = [value, *(s.diff(value, symbol) for symbol in symbols)]
    function = s.Lambdify(symbols, formulas, cse=True, backend="llvm")
    given = np.stack(list(columns(size).values()), axis=1)
    return {"": lambda: function(given).T}


@ROWS.contender(
    "a loop in Python, by hand", ["math"], largest=10**5, why_no_more="not tried: it is a tenth of the rest"
)
def loop(size: int) -> Works:
    """What a row costs without any library: value and derivatives, written out by SymPy, one row after another."""
    import sympy as s

    symbols, formulas = derivatives()
    function = s.lambdify(symbols, formulas, "math", cse=True)
    given = [column.tolist() for column in columns(size).values()]
    return {"": lambda: list(zip(*map(function, *given), strict=True))}


def _limit(engine: str, name: str) -> None:
    @ROWS.budget(f"rows {engine}", f"rows, {name}: JAX = 1", LIMITS[engine], more=True)
    def _(found: Found) -> float:
        return found.ratio(JAX, name)


for engine, name in OURS.items():
    _limit(engine, name)


@ROWS.budget("rows c copy", "rows, C: part of the speed of a copy", 0.5, more=True)
def _(found: Found) -> float:
    return found.ratio(COPY, OURS["c"])

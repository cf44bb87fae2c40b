"""backprop: a graph tracer and derivative calculator.

The Python door to what the command `backprop` does. Importing it is cheap: each function loads what it needs.

>>> import backprop
>>> value, gradient = backprop.grad("(x*y + z)*x", {"x": 3, "y": -1, "z": 2})
>>> value, gradient["x"]
(-3.0, -4.0)
"""

from __future__ import annotations

TYPE_CHECKING = False  # nothing is imported here: `backprop.__main__` listens for an interrupt right after this file
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from backprop.checks import CheckReport
    from backprop.compiled import Compiled
    from backprop.costs import CostReport
    from backprop.derivatives import Derivatives
    from backprop.higher.directions import Direction, Directional
    from backprop.mistakes import Mistake
    from backprop.path_sums import PathTerm
    from backprop.point import Number, Program
    from backprop.record import Trace

__version__ = "0.1.0"
__all__ = [
    "Mistake",
    "check",
    "compile",
    "cost",
    "diff",
    "directional",
    "emit",
    "grad",
    "hessian",
    "jacobian",
    "map_rows",
    "paths",
    "trace",
]


def __getattr__(name: str) -> object:
    """The class of what a user can get wrong, once somebody asks for it."""
    if name != "Mistake":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from backprop.mistakes import Mistake

    globals()[name] = Mistake
    return Mistake


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext backprop` does in a notebook: the magic %backprop is there (`backprop.notebook`)."""
    from backprop.notebook import load

    load(shell)


def trace(
    program: str | Program,
    inputs: Mapping[str, Number] | None = None,
    *,
    wrt: Sequence[str] | None = None,
    mode: str = "reverse",
    check: bool = True,
    symbolic: bool = False,
    figures: int | None = None,
    kind: str = "real",
    limit: int | None = None,
    undefined: str = "explain",
    convention: str = "minimum-norm",
    rounding: bool = False,
    opened: bool | Sequence[str] = False,
) -> Trace:
    """Everything about a program at a point: values, partials, adjoints (or tangents), steps, witnesses and notes.

    `wrt` names the inputs (or nodes) whose derivatives are asked for, all inputs when it is None. `mode="forward"`
    gives tangents along the one name in `wrt`. `symbolic=True` needs no numbers: formulas stand in their place.
    `kind` is the kind of number, "real", "exact", "digits:30" or "certified"; `limit` moves the bound of a kind that
    has one. `figures` is the significant digits in the lines of working, those of the kind when it is None.
    `undefined="propagate"` lets NaN and infinities through as a plain tape does, and `birth` of the trace tells where
    the first came from. `convention` is whose choice is taken at a kink: "minimum-norm", "mean", "left", "right",
    "nan", or a framework, "torch", "jax", "tensorflow", "autograd", "casadi".
    `rounding=True` puts in how many digits of every value and adjoint are right in doubles.
    `opened=True` opens arrays into single numbers, each a node of its own; `opened=["z"]` opens those nodes alone.
    Raises `Mistake` for what a user can get wrong; an undefined point is no mistake, the trace says so in its notes.
    """
    from backprop import tracing

    return tracing.trace(
        program,
        inputs or {},
        wrt=wrt,
        mode=mode,
        check=check,
        symbolic=symbolic,
        figures=figures,
        kind=kind,
        limit=limit,
        undefined=undefined,
        convention=convention,
        rounding=rounding,
        opened=_names_to_open(opened),
    )


def grad(
    program: str | Program,
    inputs: Mapping[str, Number] | None = None,
    *,
    wrt: Sequence[str] | None = None,
    kind: str = "real",
    limit: int | None = None,
    undefined: str = "explain",
    convention: str = "minimum-norm",
) -> tuple[Any, dict[str, Any]]:
    """The value and the gradient. Raises `Mistake`, also where the value or a derivative is undefined.

    The numbers are floats, and with another `kind` what it works with: `fractions.Fraction` for "exact", `mpmath.mpf`
    of so many digits for "digits:30". For "certified" each is a `backprop.balls.ball.Ball`, which is proven to hold the
    true number: `float(ball)` is its middle, `ball.bounds` are two floats around it, and `0.3 in ball` asks.
    """
    from backprop import kinds
    from backprop.gradient import answered

    here = answered(program, inputs or {}, wrt, kinds.by_name(kind, limit), undefined=undefined, convention=convention)
    number = here.kind
    return number.answer(here.answer()), {name: number.answer(slope) for name, slope in here.gradient().items()}


def emit(
    program: str | Program,
    inputs: Mapping[str, Number] | None = None,
    to: str = "numpy",
    *,
    wrt: Sequence[str] | None = None,
    fixed: Sequence[str] = (),
    value_only: bool = False,
    function: str = "",
) -> str:
    """Value and gradient as straight-line code in another language: "numpy", "numba", "c", "torch", "jax", "sql", ...

    `inputs` are defaults; those named in `fixed` are numbers in the code. `function` is the name of the function.
    Raises `Mistake`, also for an operation that the language has no word for.
    """
    from backprop import emission

    lines = emission.emit(program, inputs, to, wrt=wrt, fixed=fixed, value_only=value_only, function=function)
    return "\n".join([*lines, ""])


def jacobian(
    program: str | Program,
    inputs: Mapping[str, Number] | None = None,
    *,
    wrt: Sequence[str] | None = None,
    kind: str = "real",
    limit: int | None = None,
    mode: str | None = None,
) -> dict[str, Any]:
    """The derivatives of every element of the output by each input: `{"W": array, ...}`.

    The shape of each is that of the output and then that of the input; of one number by one number it is a number.
    `mode` is "forward" (a pass for each element of an input) or "reverse" (one for each element of the output), the
    cheaper when it is None; columns, or rows, that do not touch share a pass. Raises `Mistake`, also where the value or
    a derivative does not exist.
    """
    from backprop.higher.jacobians import jacobian as derivatives

    return derivatives(program, inputs or {}, wrt, kind, limit, mode)


def hessian(
    program: str | Program,
    inputs: Mapping[str, Number] | None = None,
    *,
    wrt: Sequence[str] | None = None,
    kind: str = "real",
    limit: int | None = None,
) -> dict[str, dict[str, Any]]:
    """The second derivatives by name and name: `{"x": {"x": ..., "y": ...}, ...}`, symmetric.

    Between arrays they are an array, of the shape of the one and then that of the other.

    `wrt` names inputs, all of them when it is None. Raises `Mistake`, also where a second derivative does not exist.
    """
    from backprop.higher.hessians import hessian as second_derivatives

    return second_derivatives(program, inputs or {}, wrt, kind, limit)


def directional(
    program: str | Program,
    inputs: Mapping[str, Number] | None = None,
    *,
    wrt: Sequence[str] | None = None,
    kind: str = "real",
    limit: int | None = None,
    jvp: Direction | None = None,
    vjp: Number | None = None,
    hvp: Direction | None = None,
    hessian: bool = False,
    order: int | None = None,
    jacobian: bool = False,
    sparsity: bool = False,
    mode: str | None = None,
) -> Directional:
    """Value and gradient with what is asked along a direction: `jvp` ∇f·v, `hvp` H·v, and `vjp` u·∇f for a number u.

    A direction is {"x": 1, "y": 0}, [1, 0] in the order of `wrt`, or a text such as "x=1,y=0"; a name left out has 0.
    The part of an array is an array of its shape; u is one in the shape of the output. `order` gives the Taylor series
    of f(x + t·v) along `jvp`, up to that power of t. `jacobian` puts in every derivative of every element of the
    output (`mode` as in `jacobian`), `sparsity` where those may be other than 0 (with `hessian` the second ones).
    """
    from backprop.higher import directions

    return directions.directional(
        program,
        inputs or {},
        wrt,
        kind,
        limit,
        jvp=jvp,
        vjp=vjp,
        hvp=hvp,
        hessian=hessian,
        order=order,
        jacobian=jacobian,
        sparsity=sparsity,
        mode=mode,
    )


def diff(program: str, wrt: Sequence[Sequence[str]] | None = None, *, order: int = 1) -> Derivatives:
    """Derivatives as formulas; no values needed."""
    from backprop.derivatives import differentiate

    return differentiate(program, None if wrt is None else [list(names) for names in wrt], order=order)


def paths(
    program: str | Program,
    inputs: Mapping[str, Number] | None = None,
    *,
    source: str,
    target: str | None = None,
    kind: str = "real",
    limit: int | None = None,
    undefined: str = "explain",
    convention: str = "minimum-norm",
) -> Iterator[PathTerm]:
    """The paths from a node to the output (or to `target`), lazily, each with its term.

    Of an array program they lead through its opened graph, whose nodes are single numbers: `source="W[0,1]"`; of an
    array, "W", come those of each element, one after the other (`one.routes.source_id` tells which).
    """
    from itertools import chain

    from backprop.path_sums import listing, routes

    found = trace(
        program,
        inputs,
        check=False,
        kind=kind,
        limit=limit,
        undefined=undefined,
        convention=convention,
        opened=True,
    )
    return chain.from_iterable(map(listing, routes(found, [source], target)))


def check(
    program: str | Program,
    inputs: Mapping[str, Number] | None = None,
    *,
    wrt: Sequence[str] | None = None,
    claims: Sequence[str] = (),
    opened: bool | Sequence[str] = False,
) -> CheckReport:
    """Every witness in full, with the convergence of difference quotients, or a judgement of claims.

    A claim is what somebody says of a derivative or a value: "dx = -4", "df/dz = 2*x + 1", "f = 1/3", "x = undefined".
    A claimed formula needs no inputs. `opened` as in `trace`. Raises `Mistake` for what cannot be read.
    """
    from backprop.checks import check as run

    return run(program, inputs or {}, wrt=wrt, claims=claims, opened=_names_to_open(opened))


def cost(
    program: str | Program,
    inputs: Mapping[str, Number] | None = None,
    *,
    wrt: Sequence[str] | None = None,
    time: bool = True,
    longest: float = 10,
) -> CostReport:
    """What value and derivatives take, counted and measured: `cost(...).way("reverse").operations`, `.seconds`.

    `time=False` counts only; a way that would take more than `longest` seconds is estimated and not run.
    """
    from backprop import costs

    return costs.cost(program, inputs, wrt=wrt, time=time, longest=longest)


def map_rows(
    program: str | Program,
    columns: Mapping[str, Any],
    constants: Mapping[str, Number] | None = None,
    *,
    wrt: Sequence[str] | None = None,
    value_only: bool = False,
    engine: str = "auto",
    careful: bool = False,
) -> dict[str, Any]:
    """Value and gradient for every row of columns: `map_rows("w*x", {"x": array}, {"w": 2})["d_x"]`.

    `columns` are the inputs of their names, arrays of n numbers each: a dict, or a table of pandas, Polars or PyArrow
    by name. `constants` are the numbers of the other inputs; `wrt` names the derivatives, those by the columns when it
    is None. Returns the columns of the value (under the id of the output, `f` where it has no name), of each slope
    (`d_x`) and the notes (`note`), in this order: arrays of n doubles, NaN where a row has no answer, and a list of n
    texts, None where there is nothing to tell. `careful=True` works out the rows in which rounding may have left fewer
    than 11 digits as `grad` does. Raises `Mistake` for what does not depend on the row.
    """
    from backprop.mapping.run import map_columns

    return map_columns(program, columns, constants or {}, wrt, value_only, engine, careful)


def _names_to_open(opened: bool | Sequence[str]) -> Sequence[str] | None:
    """The nodes to open: None for no opening, no names for all."""
    return None if opened is False else () if opened is True else opened


def compile(program: str, *, engine: str = "auto") -> Compiled:
    """A program read once, to be evaluated at many points: `compile("x^2").value_and_gradient({"x": 3})`.

    `engine` is what evaluates it in doubles: "plain" (Python), "fast" (machine code, with the extra `fast`), or as it
    pays. Raises `Mistake` for an engine that is not here.
    """
    from backprop.compiled import Compiled

    return Compiled(program, engine=engine)

"""backprop: a graph tracer and derivative calculator.

The Python door to what the command `backprop` does. Importing it is cheap: each function loads what it needs.

>>> import backprop
>>> value, gradient = backprop.grad("(x*y + z)*x", {"x": 3, "y": -1, "z": 2})
>>> value, gradient["x"]
(-3.0, -4.0)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from backprop.figures import DEFAULT_FIGURES
from backprop.mistakes import Mistake

if TYPE_CHECKING:
    from backprop.checks import CheckReport
    from backprop.derivatives import Derivatives
    from backprop.path_sums import PathTerm
    from backprop.point import Number, Program
    from backprop.record import Trace

__version__ = "0.1.0"
__all__ = ["Mistake", "check", "compile", "diff", "grad", "paths", "trace"]


def trace(
    program: str | Program,
    inputs: Mapping[str, Number] | None = None,
    *,
    wrt: Sequence[str] | None = None,
    mode: str = "reverse",
    check: bool = True,
    symbolic: bool = False,
    figures: int = DEFAULT_FIGURES,
) -> Trace:
    """Everything about a program at a point: values, partials, adjoints (or tangents), steps, witnesses and notes.

    `wrt` names the inputs (or nodes) whose derivatives are asked for, all inputs when it is None. `mode="forward"`
    gives tangents along the one name in `wrt`. `symbolic=True` needs no numbers: formulas stand in their place.
    Raises `Mistake` for what a user can get wrong; an undefined point is no mistake, the trace says so in its notes.
    """
    from backprop import tracing

    return tracing.trace(program, inputs or {}, wrt=wrt, mode=mode, check=check, symbolic=symbolic, figures=figures)


def grad(
    program: str | Program, inputs: Mapping[str, Number] | None = None, *, wrt: Sequence[str] | None = None
) -> tuple[float, dict[str, float]]:
    """The value and the gradient. Raises `Mistake`, also where the value or a derivative is undefined."""
    from backprop.gradient import gradient

    return gradient(program, inputs or {}, wrt)


def diff(program: str, wrt: Sequence[Sequence[str]] | None = None, *, order: int = 1) -> Derivatives:
    """Derivatives as formulas; no values needed."""
    from backprop.derivatives import differentiate

    return differentiate(program, None if wrt is None else [list(names) for names in wrt], order=order)


def paths(
    program: str | Program, inputs: Mapping[str, Number] | None = None, *, source: str, target: str | None = None
) -> Iterator[PathTerm]:
    """The paths from a node to the output (or to `target`), lazily, each with its term."""
    from backprop.path_sums import Routes, listing

    return listing(Routes(trace(program, inputs, check=False), source, target))


def check(program: str | Program, inputs: Mapping[str, Number] | None = None) -> CheckReport:
    """Every witness in full, with the convergence of difference quotients."""
    from backprop.checks import check as run

    return run(program, inputs or {})


def compile(program: str) -> Program:
    """A program read once, to be evaluated at many points: `compile("x^2").at({"x": 3}).gradient()`."""
    from backprop.point import Program

    return Program(program)

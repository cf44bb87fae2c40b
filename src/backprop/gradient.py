"""Value and gradient alone, by the shortest way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backprop import point as points
from backprop.kinds import Hole
from backprop.mistakes import Undefined
from backprop.notes import too_large, why
from backprop.point import Number, Point, Program


def gradient(
    program: str | Program, inputs: Mapping[str, Number], wrt: Sequence[str] | None = None
) -> tuple[float, dict[str, float]]:
    """The value and d value / d each name. Raises `Undefined` where one of them does not exist."""
    here = points.at(program, inputs, wrt)
    refuse_holes(here)
    return here.value(), here.gradient()


def refuse_holes(here: Point) -> None:
    """Raises `Undefined` when the value or a derivative that was asked for does not exist, or overflows."""
    for answer in (here.value(), *here.gradient().values()):
        if isinstance(answer, Hole):
            raise Undefined(why(here, answer), span=here.graph.span(answer.node)).within(here.syntax.source)
    beyond = too_large(here)
    if beyond:
        raise Undefined(beyond, span=here.graph.span(here.graph.output)).within(here.syntax.source)

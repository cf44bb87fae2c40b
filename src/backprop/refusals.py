"""Refusals: what a kind of number will not work out, told before anything is shown.

A refusal is about what was asked: an operation on no path to the value or to a derivative asked for refuses nothing.
"""

from __future__ import annotations

from dataclasses import replace

from backprop.graph import CONST, INPUT
from backprop.kinds import REFUSALS, Hole
from backprop.mistakes import NotExact, NoVariable, TooLargeForKind
from backprop.point import Point


def _born(point: Point, hole: Hole) -> Hole:
    """The hole with the first array in which there is one of its sort: an element does not remember where it stands."""
    for node, value in enumerate(point.values):
        if any(isinstance(one, Hole) and one.code == hole.code for one in point.kind.elements(value)):
            return replace(hole, node=node)
    return replace(hole, node=point.graph.output)


def refuse(point: Point) -> None:
    """Raise `NotExact` or `TooLargeForKind` when an answer is one that the kind refuses."""
    point = point.told()
    value = point.answer()
    slopes = () if point.kind.shape(value) else point.gradient().values()
    for answer in (one for found in (value, *slopes) for one in point.kind.elements(found)):
        if not isinstance(answer, Hole) or answer.code not in REFUSALS:
            continue
        if point.kind.arrays and answer.node < 0:
            answer = _born(point, answer)
        from backprop.notes import why  # with all that a note may need

        span, source = point.graph.span(answer.node), point.syntax.source
        cause = why(point, answer)
        if answer.code == "too-large":
            raise TooLargeForKind(cause, point.kind.name, span).within(source)
        raise NotExact(cause, is_slope=not isinstance(value, Hole), span=span).within(source)
    for node, one in point.singular().items():
        if one.mended and not isinstance(one.slope, Hole) and not point.kind.trusts(one.slope):
            output, name = point.graph.ids[point.graph.output], point.name_of(node)
            told = f"∂{output}/∂{name} is known from values beside the point alone, and does not come out as a fraction"
            raise NotExact(told, is_slope=True, span=point.graph.span(one.node)).within(point.syntax.source)


def refuse_steps(point: Point) -> None:
    """Raise `NoVariable` when a derivative is asked for by a node that does not move by itself."""
    for node in point.wrt:
        if point.graph.codes[node] not in (INPUT, CONST):
            raise NoVariable(point.name_of(node), list(point.graph.inputs))

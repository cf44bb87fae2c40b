"""Refusals: what a kind of number will not work out, told before anything is shown.

A refusal is about what was asked: an operation on no path to the value or to a derivative asked for refuses nothing.
"""

from __future__ import annotations

from backprop.kinds import REFUSALS, Hole
from backprop.mistakes import NotExact, TooLargeForKind
from backprop.point import Point


def refuse(point: Point) -> None:
    """Raise `NotExact` or `TooLargeForKind` when an answer is one that the kind refuses."""
    value = point.answer()
    for answer in (value, *point.gradient().values()):
        if not isinstance(answer, Hole) or answer.code not in REFUSALS:
            continue
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

"""Formats as the tests go through them: text ones all alike, those that draw with their bound."""

from __future__ import annotations

from backprop.mistakes import TooLargeToDraw
from backprop.record import Trace
from backprop.render import by_name, formats
from backprop.render.drawing import MOST_EDGES, MOST_NODES
from backprop.render.look import Look

TEXTS = [format.name for format in formats() if not format.binary]
BINARY = [format.name for format in formats() if format.binary]


def shown(found: Trace, name: str, look: Look | None = None) -> list[str]:
    """The lines of a format of text; those of the refusal where the graph is too large for a drawing."""
    try:
        return list(by_name(name).render(found, look or Look()))
    except TooLargeToDraw as mistake:
        assert len(found.nodes) > MOST_NODES or len(found.edges) > MOST_EDGES
        return [mistake.cause]

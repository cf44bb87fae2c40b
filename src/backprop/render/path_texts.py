"""The texts of many paths: those of an edge are written once, those of tails that many paths share are joined once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from backprop.figures import json_value
from backprop.path_sums import Stretch
from backprop.render.look import Look

# Nodes whose tails are kept as texts.
KEPT = 32

Texts = tuple[str, ...]


class Joined:
    """Texts of edges, joined along paths: `step` gives the texts of an edge, told whether it is the first of its path.

    `separators` stand between two edges, one for each of the texts.
    """

    def __init__(self, step: Callable[[int, bool], Texts], separators: Texts) -> None:
        self._step, self._separators = step, separators
        self._known: dict[int, Texts] = {}
        self._tails: dict[tuple[int, bool], list[Texts]] = {}

    def along(self, edges: Sequence[int], first: bool = True) -> Texts:
        """The texts of a path, or with `first=False` of the rest of one, without a separator in front."""
        if not edges:
            return ("",) * len(self._separators)
        known = self._known
        steps = [known.get(edge) or self._kept(edge) for edge in edges]
        if first:
            steps[0] = self._step(edges[0], True)
        return tuple(
            separator.join(texts) for separator, texts in zip(self._separators, zip(*steps, strict=True), strict=True)
        )

    def tails(self, stretch: Stretch) -> list[Texts]:
        """The texts of each tail, with a separator in front where something stands before it."""
        first = not stretch.head
        found = self._tails.get((stretch.node, first))
        if found is None:
            found = [self.along(tail, first) for tail in stretch.tails]
            if not first:
                found = [
                    tuple(map(str.__add__, self._separators, texts)) if tail else texts
                    for tail, texts in zip(stretch.tails, found, strict=True)
                ]
            if len(self._tails) >= KEPT:
                self._tails.clear()
            self._tails[stretch.node, first] = found
        return found

    def _kept(self, edge: int) -> Texts:
        self._known[edge] = found = self._step(edge, False)
        return found


def figures(look: Look, missing: str) -> Callable[[Any], str]:
    """`look.figure` for many numbers, nearly all of them doubles; `missing` stands for those that are None.

    >>> write = figures(Look(figures=3), "undefined")
    >>> write(2 / 3), write(-4.0), write(123456.0), write(1e-9), write(None)
    ('0.667', '-4', '123456', '1e-09', 'undefined')
    """
    form = f"%.{look.figures}g"
    bound = 10.0 ** min(look.figures - 1, 15)  # whole numbers below are written to their last digit by the form too
    whole = look.figure

    def write(value: Any) -> str:
        if type(value) is float and value - value == 0:  # by no cache, for sums do not come twice
            if -bound < value < bound:
                return form % value if value else "0"
            return str(int(value)) if abs(value) < 1e15 and value == int(value) else form % value
        return missing if value is None else whole(value)

    return write


def json_number(value: Any, text: Callable[[Any], str]) -> str:
    """A number of a record as JSON."""
    if type(value) is float and value - value == 0 and value:
        return float.__repr__(value)
    return text(json_value(value))

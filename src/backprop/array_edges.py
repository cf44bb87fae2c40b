"""The edges of a trace between arrays: their partials as nested lists, and what they bring as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backprop.array_point import ArrayPoint
from backprop.arrays_text import element_name
from backprop.kinds import Hole, is_unproven, plain
from backprop.kinds.array import Diagonal, Linear, Reduced
from backprop.kinds.shapes import shape_of
from backprop.kinds.symbol import label
from backprop.mistakes import OneDirection
from backprop.ops import Row
from backprop.point import Point
from backprop.pulls import folded, pulled, pushed, spread, times
from backprop.record import Edge, Value, carried_name


def edges_of_arrays(
    point: Point, node: int, rules: Sequence[str | None], brought: Sequence[Any], mode: str
) -> list[Edge]:
    """The edges into a node, which may join arrays; `rules` are those of its row, `brought` what edges bring."""
    graph, kind, known = point.graph, point.kind, point.values
    row, ids = graph.row(node), graph.ids
    assert row is not None
    sources = graph.operands(node)
    made = [Edge(ids[source], ids[node], position) for position, source in enumerate(sources)]
    values = [known[source] for source in sources]
    is_known = not any(value is None or isinstance(value, Hole) for value in (*values, known[node]))
    for edge, found in zip(graph.edges_to(node), made, strict=True):
        position, source = edge.position, edge.source
        partial = point.partials.values[edge.place]
        rule = rules[position] if rules and point.moving[source] else None
        if rule is None and not isinstance(partial, Linear):
            continue
        told = _Told(point, row, node, position)
        if rule is not None:
            found.formula = told.rule(rule, partial)
            found.proven = not any(map(is_unproven, kind.elements(getattr(partial, "values", partial))))
        if is_known:
            found.pull = told.pull(found.formula, partial, mode)
        found.partial = told.partial(partial)
        carried, ends = brought[edge.place], known[source if mode == "reverse" else node]
        if carried is not None or found.partial is not None:
            zero = kind.number("0")
            found.contribution = told.value(kind.spread(zero if carried is None else carried, kind.shape(ends)))
    return made


def unit(point: ArrayPoint) -> dict[int, Any]:
    """The direction of the one number that is asked for: 1 there and 0 elsewhere. Raises `OneDirection`."""
    ((name, (node, at)),) = point.asked.items()
    kind, shape = point.kind, shape_of(point.values[node])
    if len(at) < len(shape):
        raise OneDirection([element_name(point.name_of(node), (*at, *(0 for _ in shape[len(at) :])))], array=name)
    if not shape:
        return {node: kind.number("1")}
    moved = kind.spread(kind.number("0"), shape)
    moved[at] = kind.number("1")
    return {node: moved}


class _Told:
    """One edge, as it is told."""

    def __init__(self, point: Point, row: Row, node: int, position: int) -> None:
        self.point, self.row, self.node, self.position = point, row, node, position
        graph = point.graph
        self.sources = graph.operands(node)
        self.operands = [graph.written_id(source) for source in self.sources]
        self.out = graph.ids[node]

    def value(self, value: Any) -> Value | None:
        found: Value | None = plain(self.point.kind, value)
        return found

    def rule(self, rule: str, partial: Any) -> str:
        out = spread(self.out, partial.axis) if isinstance(partial, Reduced) else self.out
        return label(rule, self.row, [text for text, _ in self.operands], out)

    def partial(self, partial: Any) -> Value | None:
        kind = self.point.kind
        if isinstance(partial, Diagonal):
            return self.value(kind.spread(partial.values, partial.target))
        if isinstance(partial, Reduced):
            return self.value(kind.spread(partial.values, partial.source))
        return None if isinstance(partial, Linear) else self.value(partial)

    def pull(self, rule: str | None, partial: Any, mode: str) -> str | None:
        """What the edge brings back, in forward mode what it brings on; None between numbers."""
        back = mode == "reverse"
        letter = carried_name("g" if back else "t", (self.out, *(text for text, _ in self.operands)))
        if isinstance(partial, Linear):
            values = [self.point.values[source] for source in self.sources]
            shapes = self.point.kind.shapes(self.row, values)
            told = pulled if back else pushed
            return told(self.row, self.position, self.operands, self.out, shapes, letter)
        if isinstance(partial, Reduced) and rule is not None:
            if back:
                return times(spread(letter, partial.axis), rule)
            along = "" if partial.axis is None else f", {partial.axis}"
            return f"sum({times(letter, rule)}{along})"
        if isinstance(partial, Diagonal) and rule is not None:
            brought = times(letter, rule)
            return folded(brought, partial.source, partial.target) if back else brought
        return None

"""Machines: a program with its numbers, ready to be run forward and back, in doubles or in doubles that count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backprop.forward import tangents
from backprop.graph import Graph
from backprop.kinds import Kind
from backprop.kinds.counted import Counted, Tally
from backprop.kinds.real import Real
from backprop.ops.work import shape, size
from backprop.reverse import Reverse, reverse
from backprop.rules import Partials, partials
from backprop.values import values

if TYPE_CHECKING:
    from backprop.point import Point

# The steps of differences, which nobody reads: only their cost counts.
STEP = 1e-6


@dataclass(slots=True)
class Machine:
    """A program with its numbers in one kind, ready to be run. `leaves` are the values of what is given.

    `chosen` are the places in an array that move, row by row, where not all of it does.
    """

    graph: Graph
    kind: Kind
    leaves: dict[int, Any]
    wrt: list[int]
    moving: bytearray
    chosen: Mapping[int, Sequence[int]] = field(default_factory=dict)

    def value(self, leaves: Mapping[int, Any] | None = None) -> list[Any]:
        return values(self.graph, self.kind, self.leaves if leaves is None else leaves)

    def partials(self, known: list[Any]) -> Partials:
        return partials(self.graph, self.kind, known, self.moving)

    def backward(self, slopes: Partials, seed: Any) -> Reverse:
        return reverse(self.graph, slopes, self.kind, seed=seed)

    def forward(self, slopes: Partials, seed: Mapping[int, Any]) -> list[Any]:
        return tangents(self.graph, slopes, self.kind, seed)

    def directions(self) -> Iterator[dict[int, Any]]:
        """Each input number moving alone: the seeds of the tangent passes."""
        for node in self.wrt:
            for seed in self.seeds(self.known(node), self.chosen.get(node)):
                yield {node: seed}

    def known(self, node: int) -> Any:
        """The value of an input."""
        return self.leaves[node] if node in self.leaves else self.kind.number(self.graph.literals[node])

    def seeds(self, value: Any, places: Sequence[int] | None = None) -> Iterator[Any]:
        """A 1 in each place of something of the shape of a value, in turn; the array is the same one each time."""
        if not shape(value):
            yield self.kind.number("1")
            return
        import numpy as np

        seed = np.zeros(shape(value))
        flat = seed.reshape(-1)
        for place in range(flat.size) if places is None else places:
            flat[place] = 1.0
            yield seed
            flat[place] = 0.0

    def moved(self, sign: int = 1) -> Iterator[dict[int, Any]]:
        """Each input number moved a little, in turn."""
        for node in self.wrt:
            value = self.known(node)
            if not shape(value):
                yield self.leaves | {node: value + sign * STEP}
                continue
            beside = value.copy()
            flat, given = beside.reshape(-1), value.reshape(-1)
            for place in self.chosen.get(node, range(flat.size)):
                flat[place] = given[place] + sign * STEP
                yield self.leaves | {node: beside}
                flat[place] = given[place]


def machine(point: Point, tally: Tally | None = None) -> Machine:
    """The program of a point in plain doubles, or in doubles that count."""
    graph = point.graph
    leaves = {graph.inputs[name]: point.values[graph.inputs[name]] for name in point.given}
    kind = point.kind if tally is None else _counting(point.kind, tally)
    return Machine(graph, kind, leaves, point.wrt, point.moving, chosen_places(point))


def chosen_places(point: Point) -> dict[int, list[int]]:
    """The places of the arrays of which only some elements are asked for."""
    found: dict[int, list[int]] = {}
    asked = moving_parts(point)
    for node, at in asked:
        if (node, ()) not in asked:
            import numpy as np

            value = point.values[node]
            places = np.arange(value.size).reshape(value.shape)[at].ravel().tolist()
            found[node] = list(dict.fromkeys([*found.get(node, ()), *places]))
    return found


def moving_parts(point: Point) -> list[tuple[int, tuple[int, ...]]]:
    """What moves: nodes, and where in them (all of one when that is empty)."""
    asked: Mapping[str, tuple[int, tuple[int, ...]]] = getattr(point, "asked", {})
    return [(node, at) for node, at in asked.values() if node in point.wrt] or [(node, ()) for node in point.wrt]


def _counting(kind: Kind, tally: Tally) -> Kind:
    if isinstance(kind, Real):
        return Counted(tally)
    from backprop.kinds.counted_arrays import CountedArrays

    return CountedArrays(Counted(tally))


def by_reverse(point: Point) -> dict[str, list[float]]:
    """The gradient by one reverse pass, the numbers of each input row by row (a Jacobian row after row)."""
    runner = machine(point)
    known = runner.value()
    slopes = runner.partials(known)
    found: dict[str, list[float]] = {point.name_of(node): [] for node in point.wrt}
    for seed in runner.seeds(known[point.graph.output]):
        adjoints = runner.backward(slopes, seed).adjoints
        for node in point.wrt:
            numbers = _numbers(adjoints[node])
            found[point.name_of(node)] += numbers * (size(known[node]) if adjoints[node] is None else 1)
    return found


def by_forward(point: Point) -> dict[str, list[float]]:
    """The same numbers by a tangent pass for each input number."""
    runner = machine(point)
    known = runner.value()
    slopes = runner.partials(known)
    outputs = size(known[point.graph.output])
    columns: dict[str, list[list[float]]] = {point.name_of(node): [] for node in point.wrt}
    for direction in runner.directions():
        (node,) = direction
        moved = runner.forward(slopes, direction)[point.graph.output]
        columns[point.name_of(node)].append(_numbers(moved) * (outputs if moved is None else 1))
    return {name: [number for row in zip(*lists, strict=True) for number in row] for name, lists in columns.items()}


def _numbers(value: Any) -> list[float]:
    if value is None:
        return [0.0]
    return [float(one) for one in value.ravel()] if shape(value) else [value]

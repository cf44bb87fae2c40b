"""Terms: a sum at a hole, taken apart into the terms that have the hole and those that are smooth.

In x*log(x) + y*log(y) + z^2 at x = 0 only x*log(x) has a hole. What its limit is depends on x alone, and the slopes in
y and z are those of the other terms by their rules: as many inputs as there are need not be moved all together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

from backprop.graph import CONST, INPUT, Graph
from backprop.kinds import Hole, is_number
from backprop.point import Point
from backprop.rules import partials
from backprop.values import values

# Operations through which a sum is followed to its terms; and those through which it is when the second operand stays.
SUMS, SCALED = frozenset({"add", "sub", "neg", "copy"}), frozenset({"mul", "div"})


@dataclass(slots=True)
class Apart:
    """A sum taken apart: the `point` of a smaller graph in which only some nodes move, and the slopes in all `others`.

    `nodes` are those that move, each with the node that it stands for.
    """

    point: Point
    nodes: dict[int, int]
    others: dict[int, Any]


def apart(point: Point, nodes: Collection[int]) -> Apart | None:
    """The terms with a hole apart from those without; None where that spares no node, or a smooth term is not smooth.

    >>> from backprop.point import at
    >>> here = at("x*log(x) + y^2", {"x": 0, "y": 3})
    >>> found = apart(here, here.wrt)
    >>> [here.name_of(node) for node in found.nodes.values()], list(found.others.values())
    (['x'], [6.0])
    """
    graph, known = point.graph, point.values
    holes, smooth, waiting = set[int](), set[int](), [graph.output]
    while waiting:
        node = waiting.pop()
        row = graph.row(node)
        if not isinstance(known[node], Hole):
            smooth.add(node)
        elif row is not None and row.name in SUMS:
            waiting += graph.operands(node)
        elif row is not None and row.name in SCALED and not point.moving[graph.operands(node)[1]]:
            waiting.append(graph.operands(node)[0])
        elif row is not None and row.name == "mul" and not point.moving[graph.operands(node)[0]]:
            waiting.append(graph.operands(node)[1])
        else:
            holes.add(node)
    behind = _behind(graph, holes)
    moved = [node for node in nodes if node in behind]
    if not holes or len(moved) in (0, len(nodes)):
        return None
    others = _slopes(point, holes, [node for node in nodes if node not in behind])
    if others is None:
        return None
    still = {node for node in smooth if _behind(graph, [node]).isdisjoint(moved)}
    small, places = _part(graph, still)
    numbers = [known[node] for node in places]
    wrt = [place for place, node in enumerate(places) if node in moved]
    moving = small.moving(wrt)
    here = _at(point, small, numbers, wrt, moving)
    return Apart(here, {place: places[place] for place in wrt}, others)


def _behind(graph: Graph, ends: Iterable[int]) -> set[int]:
    """The nodes that lead to some others, and these."""
    found = set(ends)
    waiting = list(found)
    while waiting:
        more = set(graph.operands(waiting.pop())) - found
        found |= more
        waiting += more
    return found


def _slopes(point: Point, holes: Collection[int], nodes: list[int]) -> dict[int, Any] | None:
    """The slopes of the sum in nodes that lead to no term with a hole; None where they are not those of the rules."""
    codes = point.graph.codes[:]
    for node in holes:
        codes[node] = CONST
    graph = replace(point.graph, codes=codes)
    zero = point.kind.number("0")
    leaves = {
        node: zero if node in holes else point.values[node] for node, code in enumerate(codes) if code in (INPUT, CONST)
    }
    here = _at(point, graph, values(graph, point.kind, leaves), nodes, graph.moving(nodes))
    if not is_number(here.value()) or here.singular() or here.singular().reason:
        return None
    found = {node: here.gradient()[point.name_of(node)] for node in nodes}
    return found if all(map(is_number, found.values())) else None


def _part(graph: Graph, still: Collection[int]) -> tuple[Graph, list[int]]:
    """The part of a graph that leads to its output, some nodes of it held still; and the node of each of its nodes."""
    wanted, waiting = {graph.output}, [graph.output]
    while waiting:
        node = waiting.pop()
        more = set() if node in still else set(graph.operands(node)) - wanted
        wanted |= more
        waiting += more
    small, places = Graph(source=graph.source), sorted(wanted)
    new = {node: place for place, node in enumerate(places)}
    for node in places:
        code, span = graph.codes[node], graph.span(node)
        if code == INPUT:
            small.add_input(graph.names[node], span)
        elif code == CONST or node in still:
            made = small.add(CONST, (), span)
            if code == CONST and node in graph.literals:
                small.literals[made] = graph.literals[node]
        else:
            small.add(code, [new[operand] for operand in graph.operands(node)], span)
    small.output = new[graph.output]
    return small, places


def _at(point: Point, graph: Graph, known: list[Any], wrt: list[int], moving: bytearray) -> Point:
    """A point of another graph with values that are known."""
    slopes = partials(graph, point.kind, known, moving)
    return Point(point.syntax, graph, point.kind, point.given, [], wrt, moving, known, slopes, point.convention)

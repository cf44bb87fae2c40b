"""Witness 2: SymPy differentiates the closed form of the whole, put to 40 digits at the point."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from backprop import ops
from backprop.graph import CONST, INPUT
from backprop.kinds import Hole, is_number
from backprop.point import Point
from backprop.record import Witness
from backprop.rules import kinks
from backprop.witnesses.child import Answers
from backprop.witnesses.judging import Fine, judge

BY = "sympy"

# Nodes of the closed form when every shared node is written out again where it is used.
LARGEST_TREE = 1_000

# Nodes of a graph in which a closed form is looked for at all.
LARGEST_GRAPH = 100_000

# Inputs for each of which SymPy differentiates the whole.
MOST_INPUTS = 50


def question(point: Point) -> dict[str, Any] | str:
    """The graph as the child takes it, or why the whole is not put to SymPy."""
    graph, known = point.graph, point.values
    if not point.kind.checked:
        return f"SymPy does not check kind {point.kind.name}"
    if not point.wrt:
        return "there is nothing to differentiate by"
    if not is_number(point.answer()):
        return "there is no finite value here"
    if len(point.wrt) > MOST_INPUTS:
        return f"{len(point.wrt)} inputs are too many to differentiate the closed form by"
    if len(graph) > LARGEST_GRAPH:
        return f"the graph has {len(graph)} nodes"
    needed, size = _needed(point)
    if size > LARGEST_TREE:
        return f"the closed form has more than {LARGEST_TREE} nodes"
    places = {node: place for place, node in enumerate(needed)}
    met = (one.node for one in point.singular().values() if not one.hole)
    at = (node for node in kinks(graph, point.kind, known) if node in places and point.moving[node])
    kink = next(chain(met, at), None)
    if kink is not None:
        return f"there is a kink at {graph.ids[kink]}"
    nodes: list[list[Any]] = []
    where = ops.by_name("where").code
    for node in needed:
        if graph.codes[node] in (INPUT, CONST):
            if not is_number(known[node]):
                return f"{graph.ids[node]} is not finite"
            nodes.append([None, point.kind.told(known[node])])
            continue
        operands = list(graph.operands(node))
        name = graph.op(node)
        if graph.codes[node] == where:
            # the branch taken is the function here; the other one may have no value at all
            operands, name = [operands[1] if known[operands[0]] else operands[2]], ""
        numbers = [known[operand] for operand in operands]
        texts = [None if one is None or isinstance(one, (bool, Hole)) else point.kind.told(one) for one in numbers]
        nodes.append([name, [places[operand] for operand in operands], texts])
    wrt = [node for node in point.wrt if node in places]
    values = {str(places[node]): point.kind.told(known[node]) for node in wrt if is_number(known[node])}
    return {"nodes": nodes, "output": places[graph.output], "wrt": [places[node] for node in wrt], "values": values}


def _needed(point: Point) -> tuple[list[int], int]:
    """The nodes that the output needs here, in order, and the size of the closed form (no larger than it must be)."""
    graph, known = point.graph, point.values
    where = ops.by_name("where").code
    wanted = bytearray(len(graph))
    wanted[graph.output] = 1
    for node in range(len(graph) - 1, -1, -1):
        if not wanted[node]:
            continue
        operands = graph.operands(node)
        if graph.codes[node] == where:
            operands = [operands[1] if known[operands[0]] else operands[2]]
        for operand in operands:
            wanted[operand] = 1
    needed = [node for node in range(len(graph)) if wanted[node]]
    size: dict[int, int] = {}
    for node in needed:
        size[node] = min(LARGEST_TREE + 1, 1 + sum(size.get(operand, 0) for operand in graph.operands(node)))
    return needed, size[graph.output]


def places_of(point: Point) -> dict[int, int]:
    """Where the nodes that the closed form needs stand in the question."""
    return {node: place for place, node in enumerate(_needed(point)[0])}


def testify(point: Point, asked: dict[str, Any] | str, answers: Answers, fine: Fine) -> list[Witness]:
    """One row for each input, or one for all when the whole is not put to SymPy."""
    if isinstance(asked, str):
        return not_asked(point, asked)
    from mpmath import mp, mpf

    said: list[Witness] = []
    for node, truth, reason in answered(point, answers):
        if truth is None:
            said.append(Witness(point.name_of(node), BY, "not checked", reason=reason))
            continue
        with mp.workdps(45):
            said.append(judge(point, fine, node, BY, mpf(truth), 30))
    return said


def not_asked(point: Point, reason: str) -> list[Witness]:
    """One row that says why the whole is not put to SymPy."""
    of = point.name_of(point.wrt[0]) if len(point.wrt) == 1 else "all"
    return [Witness(of, BY, "not checked", reason=reason)] if point.wrt else []


def answered(point: Point, answers: Answers) -> Iterator[tuple[int, str | None, str]]:
    """For each node asked for the slope that SymPy found, as text, or None and why there is none."""
    needed, _ = _needed(point)
    places = {node: place for place, node in enumerate(needed)}
    for node in point.wrt:
        truth = answers.whole.get(places[node]) if node in places else "0"
        if truth is not None:
            yield node, truth, ""
            continue
        error = answers.errors.get(places[node], "")
        reason = "SymPy has no number there" if places[node] in answers.whole else answers.trouble
        yield node, None, f"{reason} ({error})" if error else reason

"""Values: what stands at every node, inputs first.

One walk in order, never a recursion. A branch that is not taken is not evaluated: its nodes have the value None. Where
there is no value stands a `Hole`, which swallows what it meets; only a hole that reaches an answer spoils the answer,
so an undefined node that nobody uses harms nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from backprop import ops
from backprop.graph import Graph
from backprop.kinds import Hole, Kind, Misfit, Refused, value_at
from backprop.mistakes import ShapesDiffer

# Longer parts of the source are called by their id.
LONGEST_PART = 30


def values(graph: Graph, kind: Kind, inputs: Mapping[int, Any], asked: Iterable[int] = ()) -> list[Any]:
    """The value of every node, given the values of the input nodes.

    None marks a node in a branch not taken, a `Hole` a node without a value. An overflow is an infinity. Nodes that
    are `asked` for have a value even where only a branch not taken leads to them.

    >>> from backprop.grammar import parse
    >>> from backprop.graph.building import build
    >>> from backprop.kinds.real import REAL
    >>> values(build(parse("(a + b) * (b + 1)")), REAL, {0: 2.0, 1: 1.0})
    [2.0, 1.0, 3.0, 1.0, 2.0, 6.0]
    """
    found: list[Any] = [None] * len(graph)
    codes = graph.codes
    for node, text in graph.literals.items():
        try:
            found[node] = kind.number(text)
        except OverflowError:
            found[node] = Hole(node, "overflow")
        except Refused as refused:
            found[node] = Hole(node, refused.code, detail=refused.detail)
    for node, value in inputs.items():
        found[node] = value
    where = ops.by_name("where").code
    if where in codes and not kind.eager:
        _walk_lazily(graph, kind, found, where, asked)
        return found
    rows, offsets, args = ops.rows(), graph.offsets, graph.args
    node = 0
    try:
        for node, code in enumerate(codes):
            if code >= 0:
                operands = [found[arg] for arg in args[offsets[node] : offsets[node + 1]]]
                found[node] = value_at(node, rows[code], kind, operands)
    except Misfit as misfit:
        raise shapes_differ(graph, node, misfit) from None
    return found


def shapes_differ(graph: Graph, node: int, misfit: Misfit) -> ShapesDiffer:
    """The mistake for operands that do not fit together, told with their names."""
    names = [_called(graph, operand) for operand in graph.operands(node)]
    repair = re.sub(r"\((\w+)\.T\)\.T", r"\1", misfit.repair.format(*names))
    return ShapesDiffer(misfit.says.format(*names), repair, graph.span(node))


def _called(graph: Graph, node: int) -> str:
    """What an operand is called in a repair that can be typed: by its name, a short part of the source in brackets."""
    start, end = graph.span(node)
    if node in graph.names or graph.codes[node] < 0 or not 0 < end - start <= LONGEST_PART:
        return graph.written_id(node)[0]
    return f"({graph.source[start:end]})"


def _walk_lazily(graph: Graph, kind: Kind, found: list[Any], where: int, asked: Iterable[int]) -> None:
    """Evaluate on demand, so that only the branch of a `where` that is taken is worked out.

    Whatever is not reached through a branch is demanded in order; a `where` demands its condition, then one branch.
    """
    codes, rows = graph.codes, ops.rows()
    demanded = _demanded(graph, where, asked)
    for root in range(len(codes)):
        if not demanded[root]:
            continue
        stack = [root]
        while stack:
            node = stack[-1]
            if found[node] is not None or codes[node] < 0:
                stack.pop()
                continue
            operands = graph.operands(node)
            if codes[node] == where:
                condition = found[operands[0]]
                chosen = None if condition is None or isinstance(condition, Hole) else kind.choose(condition)
                wanted = operands[0] if chosen is None else operands[1] if chosen else operands[2]
                if found[wanted] is None and codes[wanted] >= 0:
                    stack.append(wanted)
                    continue
                if chosen is not None or isinstance(condition, Hole):
                    found[node] = found[wanted]
                    continue
            missing = [arg for arg in operands if found[arg] is None and codes[arg] >= 0]
            if missing:
                stack.extend(missing)
            else:
                try:
                    found[node] = value_at(node, rows[codes[node]], kind, [found[arg] for arg in operands])
                except Misfit as misfit:
                    raise shapes_differ(graph, node, misfit) from None


def _demanded(graph: Graph, where: int, asked: Iterable[int]) -> bytearray:
    """Which nodes are needed whatever the conditions say: 0 for those that only a branch leads to."""
    used, demanded = bytearray(len(graph)), bytearray(len(graph))
    for node in asked:
        demanded[node] = 1
    if graph.output >= 0:  # which a branch may need too: y = x^2; z = where(x > 0, y, 0); y
        demanded[graph.output] = 1
    for node in range(len(graph) - 1, -1, -1):
        operands = graph.operands(node)
        for operand in operands:
            used[operand] = 1
        if demanded[node] or not used[node]:
            demanded[node] = 1
            for operand in operands[:1] if graph.codes[node] == where else operands:
                demanded[operand] = 1
    return demanded

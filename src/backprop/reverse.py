"""Reverse: how the output moves with every node, output first, inputs last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from backprop.forward import contribution, total
from backprop.graph import Graph
from backprop.kinds import Kind
from backprop.rules import Partials


@dataclass(slots=True)
class Reverse:
    """`adjoints` per node and `contributions` per edge; None where the output does not depend on it at all."""

    adjoints: list[Any]
    contributions: list[Any]


def reverse(
    graph: Graph,
    partials: Partials,
    kind: Kind,
    output: int | None = None,
    named: Callable[[int, Any], Any] | None = None,
    seed: Any = None,
) -> Reverse:
    """How the output (or the node `output`) moves with each node: its adjoint, gathered edge by edge.

    Nodes are already in order, so one walk back is enough (sum over paths, factored). `named` says what stands for
    the adjoint of a node in those before it: a long formula by its name. `seed` is the adjoint of the output, 1 unless
    it is told; of an array as output it has its shape.

    >>> from backprop.grammar import parse
    >>> from backprop.graph.building import build
    >>> from backprop.kinds.real import REAL
    >>> from backprop.rules import partials
    >>> from backprop.values import values
    >>> graph = build(parse("(a + b) * (b + 1)"))
    >>> slopes = partials(graph, REAL, values(graph, REAL, {0: 2.0, 1: 1.0}), graph.moving([0, 1]))
    >>> reverse(graph, slopes, REAL).adjoints[:2]
    [2.0, 5.0]
    """
    adjoints: list[Any] = [None] * len(graph)
    contributions: list[Any] = [None] * len(graph.args)
    adjoints[graph.output if output is None else output] = kind.seeded(kind.number("1") if seed is None else seed)
    offsets, args, pull = graph.offsets, graph.args, kind.pull
    slopes, exact_zero, zeros = partials.values, partials.exact_zero, partials.zeros
    for node in range(len(graph) - 1, -1, -1):
        adjoint = adjoints[node]
        if adjoint is None:
            continue
        if named is not None:
            adjoint = named(node, adjoint)
        for index in range(offsets[node], offsets[node + 1]):
            partial = slopes[index]
            if partial is None or exact_zero[index]:
                continue
            if index in zeros and partials.dies_out(index, kind, adjoint):
                brought = kind.number("0")
            else:
                brought = contribution(pull, adjoint, partial, node, index - offsets[node])
            contributions[index] = brought
            source = args[index]
            adjoints[source] = brought if adjoints[source] is None else total(kind, adjoints[source], brought, source)
    return Reverse(kind.settled(adjoints), kind.settled(contributions))

"""Forward: how every node moves when the inputs do (tangents), inputs first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from backprop.graph import CONST, INPUT, Graph
from backprop.kinds import Hole, Kind, Misfit, Refused
from backprop.rules import Partials


def tangents(
    graph: Graph,
    partials: Partials,
    kind: Kind,
    seed: Mapping[int, Any],
    named: Callable[[int, Any], Any] | None = None,
) -> list[Any]:
    """How every node moves when the inputs move by `seed` (node to tangent); None where it does not move at all.

    `named` says what stands for the tangent of a node in those after it: a long formula by its name.
    """
    moved: list[Any] = [None] * len(graph)
    moved_by = dict(seed)
    offsets, args = graph.offsets, graph.args
    for node, code in enumerate(graph.codes):
        if node in moved_by:
            moved[node] = kind.seeded(moved_by[node])
        if code in (INPUT, CONST):
            continue
        for index in range(offsets[node], offsets[node + 1]):
            tangent, partial = moved[args[index]], partials.values[index]
            if tangent is None or partial is None or partials.exact_zero[index]:
                continue
            if named is not None:
                tangent = named(args[index], tangent)
            if index in partials.zeros and partials.dies_out(index, kind, tangent):
                brought = kind.number("0")
            else:
                brought = contribution(kind.push, tangent, partial, node, index - offsets[node])
            moved[node] = brought if moved[node] is None else total(kind, moved[node], brought, node)
    return kind.settled(moved)


def contribution(carry: Callable[[Any, Any], Any], carried: Any, partial: Any, node: int, position: int) -> Any:
    """What is carried over one edge (`kind.push` or `kind.pull`); a hole where either is one, or they are 0 and inf."""
    if isinstance(carried, Hole):
        return carried
    if isinstance(partial, Hole):
        return partial
    try:
        return carry(carried, partial)
    except Refused as refused:
        return Hole(node, refused.code, position, refused.detail)
    except Misfit as misfit:
        return Hole(node, "too-large", position, misfit.says)
    except ArithmeticError:
        return Hole(node, "indeterminate", position)


def total(kind: Kind, left: Any, right: Any, node: int) -> Any:
    """The sum where edges meet; a hole when either part is one, or when they are inf and -inf."""
    if isinstance(left, Hole):
        return left
    if isinstance(right, Hole):
        return right
    try:
        return kind.add(left, right)
    except Refused as refused:
        return Hole(node, refused.code, detail=refused.detail)
    except ArithmeticError:
        return Hole(node, "indeterminate")


def weighted(kind: Kind, terms: Iterable[tuple[Any, Any]], node: int) -> Any:
    """The sum of slope · amount; a hole where infinities meet."""
    found = kind.number("0")
    for slope, amount in terms:
        if not kind.is_zero(amount):
            found = total(kind, found, contribution(kind.push, amount, slope, node, -1), node)
    return found

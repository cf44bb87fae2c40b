"""Traces built by hand: chains of diamonds, and graphs from a list of edges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from backprop.record import Edge, Node, Trace, Value

Given = tuple[str, str, Value | None]


def trace_of(
    edges: Iterable[Given | tuple[str, str, Value | None, str]],
    wrt: Sequence[str] = ("x",),
    output: str = "f",
    nodes: Sequence[str] = (),
    kind: str = "real",
) -> Trace:
    """A trace with these edges (source, target, partial and perhaps its formula), nodes in the order of appearance.

    The key of an edge is its place among the edges of its target, as if each were an operand.
    """
    given = list(edges)
    ids = list(nodes) or list(dict.fromkeys(name for source, target, *_ in given for name in (source, target)))
    keys: dict[str, int] = {}
    made: list[Edge] = []
    for source, target, partial, *formula in given:
        key = keys.get(target, 0)
        keys[target] = key + 1
        made.append(Edge(source, target, key, partial, formula[0] if formula else None))
    records = [Node(name, "add" if name in keys else "input") for name in ids]
    return Trace("", "", kind, "reverse", {}, [], output, 0.0, list(wrt), {}, {}, records, made)


def diamonds(partials: Sequence[Sequence[Value | None]]) -> Trace:
    """n0 -> n1 -> n2 ...: between two nodes as many edges as there are partials in that row."""
    edges = [(f"n{k}", f"n{k + 1}", partial) for k, row in enumerate(partials) for partial in row]
    return trace_of(edges, wrt=["n0"], output=f"n{len(partials)}")


def written_diamonds(count: int, slopes: Sequence[float] = (2.0, 3.0, 5.0)) -> Trace:
    """The same as a program has it: y = a*x + b*x + c*x is three products and two sums, five nodes a diamond."""
    edges: list[Given] = []
    for k in range(count):
        below, above = f"y{k}", f"y{k + 1}"
        a, b, c, s = (f"{letter}{k}" for letter in "abcs")
        edges += [(below, a, slopes[0]), (below, b, slopes[1]), (a, s, 1.0), (b, s, 1.0)]
        edges += [(below, c, slopes[2]), (s, above, 1.0), (c, above, 1.0)]
    return trace_of(edges, wrt=["y0"], output=f"y{count}")

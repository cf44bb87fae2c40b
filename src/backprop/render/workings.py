"""Workings: how the values, adjoints or tangents of a trace come about, line by line; of very many some."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from backprop.record import Node, Trace, Value
from backprop.render.excerpts import column, excerpt
from backprop.render.look import Look
from backprop.working import Gap, Working, forward_working, reverse_working, tangent_working
from backprop.working.brought import edges_at, known_of

Line = Working | Gap


def shapes_of(trace: Trace) -> dict[str, tuple[int, ...]]:
    """The shapes of the arrays in a trace, by id; a trace that is held as columns has none."""
    if hasattr(trace.nodes, "column"):
        return {}
    return {node.id: node.shape for node in trace.nodes if node.shape}


def digits_of(trace: Trace, name: str) -> dict[str, float]:
    """How many digits of values or adjoints are right, by id, as far as it was asked for."""
    found = column(trace, name)
    return {one: digits for one, digits in zip(column(trace, "id"), found, strict=bool(found)) if digits is not None}


def put_in(trace: Trace) -> str:
    """The heading over what stands in the place of the names."""
    return "formulas put in" if trace.kind == "symbol" else "numbers put in"


def value_lines(trace: Trace, look: Look) -> Iterator[Line]:
    """How each value is worked out, inputs first; of very many some."""
    known, nodes = known_of(trace, look.numbers), trace.nodes
    for place in excerpt(list(_steps(trace)), _slopes_of(trace).__getitem__, look):
        yield place if isinstance(place, Gap) else forward_working(nodes[place], known.number, look.numbers)


def adjoint_lines(trace: Trace, look: Look) -> Iterator[Line]:
    """How each adjoint is gathered, output first; of very many some."""
    known, leaving, nodes = known_of(trace, look.numbers), edges_at(trace, "source"), trace.nodes
    adjoints, taken = column(trace, "adjoint"), column(trace, "taken")
    # what nobody reads may stand behind the output
    output = [place for place, one in enumerate(column(trace, "id")) if one == trace.output]
    order = [*output, *(place for place in range(len(nodes) - 1, -1, -1) if place not in output)]
    rows = [place for place in order if taken[place] and (adjoints[place] is not None or leaving(place))]
    for place in excerpt(rows, adjoints.__getitem__, look):
        if isinstance(place, Gap):
            yield place
        else:
            yield reverse_working(nodes[place], leaving(place), known.slope, trace.output, look.numbers, known)


def tangent_lines(trace: Trace, look: Look) -> Iterator[Line]:
    """How each node moves with the chosen input, inputs first; of very many some."""
    known, arriving, nodes = known_of(trace, look.numbers), edges_at(trace, "target"), trace.nodes
    taken = column(trace, "taken")
    rows = [place for place in _steps(trace, inputs=True) if taken[place]]
    for place in excerpt(rows, _slopes_of(trace).__getitem__, look):
        if isinstance(place, Gap):
            yield place
        else:
            node, direction = nodes[place], ", ".join(trace.wrt)
            yield tangent_working(node, arriving(place), known.slope, direction, look.numbers, known)


def _slopes_of(trace: Trace) -> Sequence[Value | None]:
    """The adjoints of the nodes, or in forward mode their tangents."""
    return column(trace, "tangent" if trace.mode == "forward" else "adjoint")


def _steps(trace: Trace, inputs: bool = False) -> Iterator[int]:
    """The places of the nodes with a row of their own, with or without the inputs."""
    ids = column(trace, "id")
    for place, op in enumerate(column(trace, "op")):
        if op == "input":
            is_step = inputs
        else:
            is_step = op != "const" or (ids[place][0].isalpha() and _is_step(trace.nodes[place], trace))
        if is_step:
            yield place


def _is_step(node: Node, trace: Trace) -> bool:
    """Whether a node has a row of its own: operations have, and constants that the author named, but no inputs."""
    if node.op == "input":
        return False
    if node.op != "const":
        return True
    name = node.id.partition("~")[0]
    if not name.isidentifier() or node.span is None:
        return False
    return trace.program[slice(*node.span)] not in {"pi": "piπ", "tau": "tauτ", "e": "e", "inf": "inf∞"}.get(name, "")

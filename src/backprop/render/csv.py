"""The trace as one table for a spreadsheet: a row for each node, then one for each edge, all digits.

An array has a row for each element, `W[0,1]`; an edge between arrays one for each element of what it brings, and for
each of its partial.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from io import StringIO
from itertools import zip_longest

from backprop import progress
from backprop.arrays_text import element_name, indices_of
from backprop.figures import elements_of, shape_of
from backprop.record import Edge, Trace, Value
from backprop.render import Format
from backprop.render.look import Look

FORMAT = Format("csv", suffix=".csv", says="one row for each node, then for each edge; all digits")

COLUMNS = ["what", "id", "op", "formula", "source", "target", "key"]
COLUMNS += ["value", "tangent", "adjoint", "partial", "contribution"]


def render(trace: Trace, look: Look) -> Iterator[str]:
    """The head and the rows; what a row does not have is empty."""
    return map(look.letters, map(csv_line, _rows(trace)))


def _rows(trace: Trace) -> Iterator[list[str]]:
    yield COLUMNS
    for node in progress.steps("nodes", trace.nodes, len(trace.nodes)):
        shape = shape_of(node.value) or shape_of(node.adjoint) or shape_of(node.tangent)
        every = zip_longest(*map(elements_of, (node.value, node.tangent, node.adjoint)))
        for place, of_node in enumerate(every):
            name = element_name(node.id, indices_of(shape, place))
            yield ["node", name, node.op, node.formula or "", "", "", "", *map(all_digits, of_node), "", ""]
    shapes = {node.id: node.shape or () for node in trace.nodes}
    for edge in progress.steps("edges", trace.edges, len(trace.edges)):
        for source, target, partial, brought in _ends(edge, shapes, trace.mode):
            told = [partial, brought]
            rule = edge.formula or edge.pull or ""
            yield ["edge", "", "", rule, source, target, str(edge.key), "", "", "", *map(all_digits, told)]


def _ends(
    edge: Edge, shapes: Mapping[str, tuple[int, ...]], mode: str
) -> Iterator[tuple[str, str, Value | None, Value | None]]:
    """Source, target, partial and contribution of an edge, for each element that it has: one for numbers."""
    source, target = shapes[edge.source], shapes[edge.target]
    of_partial, of_brought = shape_of(edge.partial), shape_of(edge.contribution)
    partials, brought = elements_of(edge.partial), elements_of(edge.contribution)

    def name(node: str, shape: tuple[int, ...], own: tuple[int, ...], place: int) -> str:
        return element_name(node, indices_of(shape, place)) if shape == own else node

    if of_partial == of_brought:
        for place, (partial, one) in enumerate(zip(partials, brought, strict=True)):
            ends = name(edge.source, source, of_partial, place), name(edge.target, target, of_partial, place)
            yield *ends, partial, one
        return
    if edge.partial is not None:
        for place, partial in enumerate(partials):
            ends = name(edge.source, source, of_partial, place), name(edge.target, target, of_partial, place)
            yield *ends, partial, None
    for place, one in enumerate(brought):
        if mode == "forward":
            yield edge.source, name(edge.target, target, of_brought, place), None, one
        else:
            yield name(edge.source, source, of_brought, place), edge.target, None, one


def all_digits(value: Value | None) -> str:
    """All the digits of a number; integers as integers, -0 as 0."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):  # a ball
        return value["mid"] if value["rad"] == "0" else f"{value['mid']} ± {value['rad']}"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def csv_line(row: list[str]) -> str:
    """A row as CSV, quoted where it must be, without a line end."""
    line = ",".join(row)
    if line.isprintable() and '"' not in line and line.count(",") == len(row) - 1 and len(row) > 1:
        return line  # nothing in it asks for quotes
    held = StringIO()
    csv.writer(held, lineterminator="").writerow(row)
    return held.getvalue()

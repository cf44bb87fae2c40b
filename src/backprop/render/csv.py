"""The trace as one table for a spreadsheet: a row for each node, then one for each edge, all digits."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO

from backprop.record import Trace, Value
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
    for node in trace.nodes:
        told = [node.value, node.tangent, node.adjoint]
        yield ["node", node.id, node.op, node.formula or "", "", "", "", *map(all_digits, told), "", ""]
    for edge in trace.edges:
        ends = [edge.source, edge.target, str(edge.key)]
        told = [edge.partial, edge.contribution]
        yield ["edge", "", "", edge.formula or "", *ends, "", "", "", *map(all_digits, told)]


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
    held = StringIO()
    csv.writer(held, lineterminator="").writerow(row)
    return held.getvalue()

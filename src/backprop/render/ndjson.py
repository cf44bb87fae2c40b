"""The trace as JSON lines: one record a line, each saying `what` it is; for streams and for tools that read lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from backprop.record import Trace, json_records, json_text
from backprop.render import Format
from backprop.render.json import ascii_json
from backprop.render.look import Look

FORMAT = Format("ndjson", suffix=".ndjson", says="one JSON record a line: trace, then nodes, edges, steps, witnesses")

_LISTS = {"nodes": "node", "edges": "edge", "steps": "step", "witnesses": "witness", "notes": "note"}


def render(trace: Trace, look: Look) -> Iterator[str]:
    """First the trace without its lists, then each entry of them."""
    found = trace.in_brief() if look.brief else trace
    yield from _told("trace", [json_text(found.head())], look)
    for key, items in found.lists().items():
        yield from _told(_LISTS[key], json_records(key, items), look)


def _told(what: str, records: Iterable[str], look: Look) -> Iterator[str]:
    lines = (f'{{"what": "{what}", {record[1:]}' for record in records)
    return map(ascii_json, lines) if look.ascii else lines

"""The trace as JSON lines: one record a line, each saying `what` it is; for streams and for tools that read lines."""

from __future__ import annotations

import json
from collections.abc import Iterator

from backprop.record import Trace
from backprop.render import Format
from backprop.render.json import ascii_json
from backprop.render.look import Look

FORMAT = Format("ndjson", suffix=".ndjson", says="one JSON record a line: trace, then nodes, edges, steps, witnesses")

_LISTS = {"nodes": "node", "edges": "edge", "steps": "step", "witnesses": "witness", "notes": "note"}


def render(trace: Trace, look: Look) -> Iterator[str]:
    """First the trace without its lists, then each entry of them."""
    record = (trace.in_brief() if look.brief else trace).to_dict()
    head = {key: value for key, value in record.items() if key not in _LISTS}
    yield _line("trace", head, look)
    for key, what in _LISTS.items():
        for item in record[key]:
            yield _line(what, item, look)


def _line(what: str, record: dict[str, object], look: Look) -> str:
    text = json.dumps({"what": what, **record}, ensure_ascii=look.ascii, allow_nan=False)
    return ascii_json(text) if look.ascii else text

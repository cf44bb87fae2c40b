"""The trace as JSON: the record that `backprop schema` describes, complete and read back unchanged."""

from __future__ import annotations

from collections.abc import Iterator

from backprop.record import Trace
from backprop.render import Format
from backprop.render.look import Look

FORMAT = Format("json", suffix=".json", says="the whole trace, one node, edge and step a line; NetworkX loads it")


def render(trace: Trace, look: Look) -> Iterator[str]:
    """The lines of the record."""
    return (ascii_json(line) if look.ascii else line for line in trace.json_lines())


def ascii_json(text: str) -> str:
    """JSON with every letter beyond ASCII escaped the way JSON does: the same record.

    >>> print(ascii_json('"α"'))
    "\\u03b1"
    """
    if text.isascii():
        return text
    units = text.encode("utf-16-be", "surrogatepass")
    codes = [int.from_bytes(units[at : at + 2], "big") for at in range(0, len(units), 2)]
    return "".join(chr(code) if code < 128 else f"\\u{code:04x}" for code in codes)

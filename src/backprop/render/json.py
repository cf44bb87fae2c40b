"""The trace as JSON: the record that `backprop schema` describes, complete and read back unchanged."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from backprop.render import Format

if TYPE_CHECKING:
    from backprop.record import Trace
    from backprop.render.look import Look

FORMAT = Format("json", suffix=".json", says="the whole trace, one node, edge and step a line; NetworkX loads it")


def render(trace: Trace, look: Look) -> Iterator[str]:
    """The lines of the record."""
    found = trace.in_brief() if look.brief else trace
    return map(ascii_json, found.json_lines()) if look.ascii else found.json_lines()


_ELEMENT = r'(?:-?[0-9][-+.e0-9]*|null|"(?:-?[0-9][-+./e0-9]*|NaN|-?Infinity)")'
_ROW = re.compile(rf"\[\n +({_ELEMENT}(?:,\n +{_ELEMENT})*)\n +\]")


def indented(record: Any, ascii_only: bool) -> list[str]:
    """A record as lines of JSON, an entry a line; a row of an array is one line.

    >>> print("\\n".join(indented({"W": [[1.0, 2.0], [3.0, "1/3"]]}, False)))
    {
     "W": [
      [1.0, 2.0],
      [3.0, "1/3"]
     ]
    }
    """
    text = json.dumps(record, ensure_ascii=ascii_only, indent=1, allow_nan=False)
    return _ROW.sub(lambda row: f"[{' '.join(row[1].split())}]", text).split("\n")


# What nearly every line of working holds.
_OFTEN = (("∂", "\\u2202"), ("·", "\\u00b7"))


def ascii_json(text: str) -> str:
    """JSON with every letter beyond ASCII escaped the way JSON does: the same record.

    >>> print(ascii_json('"α"'))
    "\\u03b1"
    """
    for letter, escaped in _OFTEN:
        text = text.replace(letter, escaped)
    if text.isascii():
        return text
    units = text.encode("utf-16-be", "surrogatepass")
    codes = [int.from_bytes(units[at : at + 2], "big") for at in range(0, len(units), 2)]
    return "".join(chr(code) if code < 128 else f"\\u{code:04x}" for code in codes)

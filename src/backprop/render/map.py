"""What is told of the rows of a table: sums over all of them, and what a reader of the columns has to know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from backprop.render.grad import equations
from backprop.render.look import Look


def render(record: Mapping[str, Any], look: Look) -> Iterator[str]:
    """The lines of a sum or a mean over all rows."""
    of, output, rows = record["of"], record["output"], record["rows"]
    left_out = rows - record["answered"]
    without = f", {left_out} without an answer left out" if left_out else ""
    yield look.paint(look.letters(f"{of} over {rows} row{'s' if rows != 1 else ''}{without}"), "heading")
    sign = "Σ" if of == "sum" else "mean "
    if "value" not in record:
        return
    told = {f"{sign}{output}": record["value"]}
    told |= {f"{sign}∂{output}/∂{name}": slope for name, slope in record["gradient"].items()}
    yield from equations(told, look)

"""Lines: the lines of working of a large trace as JSON, the way forward and then the way back."""

from __future__ import annotations

from collections.abc import Iterator

from backprop.columnar import Columns
from backprop.columnar.forward_lines import forward_lines
from backprop.columnar.reverse_lines import reverse_lines
from backprop.columnar.steps import all_steps
from backprop.columnar.texts import texts_of
from backprop.record import json_line


def step_lines(columns: Columns) -> Iterator[str]:
    """Each line of working as JSON."""
    texts = texts_of(columns)
    if texts is None or columns.mode != "reverse":
        yield from map(json_line, all_steps(columns))
        return
    yield from forward_lines(columns, texts)
    yield from reverse_lines(columns, texts)

"""The variables of a program as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from backprop.arrays_text import is_array, parts
from backprop.figures import Written, shape_text, summary
from backprop.render.look import Look
from backprop.render.tables import table


def render(found: Sequence[dict[str, Any]], look: Look) -> Iterator[str]:
    """The lines, without line ends; one that says so when there are none."""
    if not found:
        return iter([look.letters("no variables: every name has a value")])
    names = ("name", "declared", "shape", "default", "value")
    columns = [name for name in names if any(name in record for record in found)]
    return table(look, None, columns, ([_text(record.get(name, ""), look) for name in columns] for record in found))


def _text(value: str | list[int], look: Look) -> str:
    """A value as it was given, a large array in a few words, a shape."""
    if isinstance(value, list):
        return shape_text(tuple(value))
    if not is_array(value):
        return value
    shape, elements = parts(value)
    return value if len(elements) <= look.most else summary(shape, [Written(one) for one in elements], look.figures)

"""Numbers: columns of numbers as texts, for JSON and for the lines of working."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backprop.figures import figure, json_value
from backprop.record import json_text


def plain_column(column: Any) -> Sequence[Any]:
    """A column that is quick to look into at any place; of a tape's numbers the bare ones, in which NaN is none."""
    column = getattr(column, "column", column)
    found: Sequence[Any] = getattr(column, "numbers", column)
    return found


def json_numbers(values: Sequence[Any], propagates: bool = False) -> list[str]:
    """Each number as it stands in JSON; "" where there is none. NaN is one where it `propagates`.

    >>> json_numbers([2.0, -0.0, float("inf"), True, None])
    ['2.0', '0.0', '"Infinity"', 'true', '']
    """
    return [
        repr(value + 0.0) if type(value) is float and value - value == 0 else _json_number(value, propagates)
        for value in values
    ]


def _json_number(value: Any, propagates: bool) -> str:
    """One that may be out of the ordinary."""
    if not isinstance(value, (float, bool)) or (value != value and not propagates):
        return ""
    return json_text(json_value(value))


def figure_texts(values: Sequence[Any], figures: int, propagates: bool = False) -> list[str]:
    """Each number as the lines of working have it; "" where there is none."""
    shape, most = f"%.{figures}g", 10.0 ** min(figures, 15)

    def told(value: Any) -> str:
        return one_figure(value, figures, propagates)

    return [
        shape % value if type(value) is float and -most < value < most and value else told(value) for value in values
    ]


def one_figure(value: Any, figures: int, propagates: bool) -> str:
    """One that may be out of the ordinary: no number, 0, or a whole one with many digits."""
    is_number = isinstance(value, (float, bool)) and (value == value or propagates)
    return figure(value, figures) if is_number else ""

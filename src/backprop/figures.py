"""Figures: how a number is written, in one place, so that tables, drawings and pages agree on every digit."""

from __future__ import annotations

import math
from functools import lru_cache

DEFAULT_FIGURES = 6


def figure(value: float | int | str | bool | None, figures: int = DEFAULT_FIGURES) -> str:
    """A number to so many significant digits; integers as integers, -0 as 0, what is already text as it is.

    >>> figure(0.8853516482022625), figure(-4.0), figure(-0.0), figure(1.8158323094380704e-4), figure(float("inf"))
    ('0.885352', '-4', '0', '0.000181583', 'inf')
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return {"Infinity": "inf", "-Infinity": "-inf"}.get(value, value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return _figure(value, figures)


@lru_cache(maxsize=1 << 14)
def _figure(value: float, figures: int) -> str:
    """A number in the lines of a trace is written about ten times, nearly all of them in a row."""
    if not math.isfinite(value):
        return "NaN" if value != value else ("inf" if value > 0 else "-inf")
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.{figures}g}"

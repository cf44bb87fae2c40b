"""The theme: how each role looks on a terminal and in drawings and pages, on a light and on a dark background.

Looks ask by role. Colour is never the only sign of a role: a word, a letter or the shape of a frame says the same.
"""

from __future__ import annotations

from typing import NamedTuple


class Paint(NamedTuple):
    """How a role looks: words for a terminal ("default" is none), sRGB colours on a light and on a dark background."""

    terminal: str
    light: str
    dark: str


# What is written. Every one can be read on every ground below (`contrast` of 4.5 and more).
TEXTS = {
    "heading": Paint("bold", "#14181f", "#f2f4f8"),
    "name": Paint("cyan", "#0b4f7d", "#8ecbff"),
    "formula": Paint("default", "#3a4350", "#c6cedb"),
    "value": Paint("bold", "#14181f", "#f2f4f8"),
    "gradient": Paint("bold green", "#0b5c33", "#6fe3a1"),
    "tangent": Paint("bold green", "#5b2a91", "#d3b4ff"),
    "partial": Paint("default", "#3a4350", "#c6cedb"),
    "input": Paint("cyan", "#0b4f7d", "#8ecbff"),
    "param": Paint("cyan", "#6b3d00", "#f5c57f"),
    "constant": Paint("default", "#3a4350", "#c6cedb"),
    "output": Paint("bold", "#14181f", "#f2f4f8"),
    "path": Paint("bold yellow", "#8a3300", "#ffb070"),
    "good": Paint("green", "#0b5c33", "#6fe3a1"),
    "warning": Paint("yellow", "#7a3e00", "#ffc46b"),
    "bad": Paint("bold red", "#a3121f", "#ff9c9c"),
    "quiet": Paint("dim", "#505a68", "#a9b3c2"),
}

# What it is written on: the page, the box of a node, those of inputs and params.
GROUNDS = {
    "page": Paint("default", "#ffffff", "#11151c"),
    "box": Paint("default", "#f4f6f9", "#1c222c"),
    "input-box": Paint("default", "#e6f2fc", "#142b40"),
    "param-box": Paint("default", "#fdf2e0", "#352a18"),
    "output-box": Paint("default", "#f4f6f9", "#1c222c"),
}

# What is drawn: arrows and frames.
LINES = {
    "line": Paint("default", "#5d6878", "#8b97a8"),
    "frame": Paint("default", "#5d6878", "#8b97a8"),
    "input-frame": Paint("default", "#0b6aa8", "#5aa9e6"),
    "param-frame": Paint("default", "#a06200", "#d69a3c"),
    "output-frame": Paint("default", "#14181f", "#f2f4f8"),
}

THEME = TEXTS | GROUNDS | LINES


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, 1 to 21 (WCAG 2.2: relative luminance of sRGB).

    >>> contrast("#ffffff", "#000000"), round(contrast("#767676", "#ffffff"), 2)
    (21.0, 4.54)
    """
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue

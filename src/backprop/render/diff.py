"""Derivatives as formulas: a table for people, LaTeX to paste, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from backprop.mistakes import UnknownFormat
from backprop.render.json import ascii_json
from backprop.render.look import Look
from backprop.render.tables import table

if TYPE_CHECKING:
    from backprop.derivatives import Derivatives

FORMATS = ("table", "json", "latex")


def render(found: Derivatives, look: Look, format: str = "table") -> Iterator[str]:
    """The lines of one format, without line ends. Raises `UnknownFormat`."""
    if format not in FORMATS:
        raise UnknownFormat(format, FORMATS)
    return {"table": _table, "json": _json, "latex": _latex}[format](found, look)


def _table(found: Derivatives, look: Look) -> Iterator[str]:
    if found.shared:
        yield from table(
            look, "Parts that the formulas share", ["part", "formula"], found.shared, roles=["name", "formula"]
        )
        yield ""
    rows = [(one.name, one.text) for one in found.derivatives]
    yield from table(look, "Derivatives", ["derivative", "formula"], rows, roles=["gradient", "formula"])
    if found.chain and all(len(one.wrt) == 1 for one in found.derivatives):
        yield ""
        yield from table(look, "Nodes, inputs first", ["node", "formula"], found.definitions, roles=["name", "formula"])
        yield ""
        lines = [(one.left, " + ".join(one.terms), one.formula) for one in found.chain]
        columns = ["derivative", "chain rule", "formula"]
        yield from table(look, "Chain rule, output first", columns, lines, roles=["name", None, "formula"])


def _json(found: Derivatives, look: Look) -> Iterator[str]:
    text = json.dumps(found.to_dict(), ensure_ascii=False, indent=1)
    return iter((ascii_json(text) if look.ascii else text).split("\n"))


def _latex(found: Derivatives, look: Look) -> Iterator[str]:
    rows = [*found.shared_latex, *((one.latex_name, one.latex) for one in found.derivatives)]
    yield r"\begin{align*}"
    for place, (left, right) in enumerate(rows):
        yield look.letters(f"{left} &= {right}") + (r" \\" if place + 1 < len(rows) else "")
    yield r"\end{align*}"

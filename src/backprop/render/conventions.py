"""Opinions at a point: what is right, then a row for each convention, and where its rules are written down."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from backprop.notation import slope
from backprop.render.asked_for import point, statements
from backprop.render.look import Look
from backprop.render.tables import Cell, paragraph, table

if TYPE_CHECKING:
    from backprop.conventions.opinions import Opinion, Opinions, Truth

ROLES = {"right": "good", "possible": "good", "wrong": "bad", "apart": "warning", "not told": "quiet"}
LEGEND = {
    "wrong": "not the derivative, no slope from either side, or a number where there is none",
    "apart": "each number is possible by itself, but together they are no subgradient",
    "possible": "one of several that can be taken: a subgradient, or the slope from one side",
    "not told": "no number is given where there is something to tell",
}
INDENT = "  "


def render(found: Opinions, look: Look) -> Iterator[str]:
    """The lines, without line ends."""
    yield from paragraph(look, "; ".join(statements(found.canonical.split("; "))), indent=INDENT)
    yield from point(look, "at", found.inputs)
    if found.value is not None:
        yield from paragraph(look, f"{found.output} = {look.figure(found.value)}", indent=INDENT)
    for name, truth in found.truth.items():
        yield from paragraph(look, f"{slope(found.output, name)}: {_said(truth, look)}", indent=INDENT)
    yield ""
    columns = ["convention", *(slope(found.output, name) for name in found.truth), "verdict"]
    roles = ["name", *("gradient" for _ in found.truth), None]
    yield from table(look, "What each gives", columns, (_row(one, look) for one in found.opinions), roles=roles)
    verdicts = {one.verdict for one in found.opinions}
    for verdict, means in LEGEND.items():
        if verdict in verdicts:
            yield from paragraph(look, f"{verdict}: {means}", "quiet", INDENT)
    yield ""
    yield look.paint("Why", "heading")
    for one in found.opinions:
        for text in (*one.sources, *one.remarks):
            yield from paragraph(look, f"{one.title}: {text}", indent=INDENT)


def _said(truth: Truth, look: Look) -> str:
    """What is right, in words."""
    if truth.derivative is not None:
        return f"the derivative is {look.figure(truth.derivative)}"
    if truth.reason:
        return f"there is none, {truth.reason}"
    left, right = ("no slope" if end is None else look.figure(end) for end in (truth.left, truth.right))
    told = f"no derivative; {left} from the left and {right} from the right"
    return f"{told}, and every number between is a subgradient" if truth.sort == "corner" else told


def _row(one: Opinion, look: Look) -> list[Cell]:
    return [
        one.title,
        *(look.figure(given) for given in one.gradient.values()),
        (one.verdict, ROLES.get(one.verdict, "quiet")),
    ]

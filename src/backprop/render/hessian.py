"""The Hessian: the matrix with its names, then each second derivative with what its witnesses say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from backprop.notation import slope, slope_of_slope
from backprop.render import grids
from backprop.render.asked_for import point, statements
from backprop.render.gradients import checked
from backprop.render.look import Look
from backprop.render.tables import Cell, paragraph, table

if TYPE_CHECKING:
    from backprop.higher.hessians import HessianReport
    from backprop.record import Value, Witness

INDENT = "  "
UNDEFINED = "undefined"


def render(report: HessianReport, look: Look) -> Iterator[str]:
    """The lines of the report, without line ends."""
    missing = _missing(report)
    yield from paragraph(look, "; ".join(statements(report.canonical.split("; "))), "heading", INDENT)
    yield from point(look, "at", report.inputs)
    if report.value is not None:
        yield from paragraph(look, f"{report.output} = {look.figure(report.value)}", indent=INDENT)
        for name in report.wrt:
            shown = look.figure(report.gradient[name]) if name in report.gradient else missing
            yield from paragraph(look, f"{slope(report.output, name)} = {shown}", indent=INDENT)
        if report.wrt:
            yield ""
            yield from matrix(look, report.wrt, report.hessian, missing)
        if report.witnesses:
            yield ""
            yield from _entries(look, report)
    if report.notes:
        yield ""
        for note in report.notes:
            role = "bad" if note.code in ("undefined", "not-proven") else "warning"
            yield from paragraph(look, f"note: {note.text}", role, INDENT)
    yield ""
    yield from paragraph(look, *verdict(report), INDENT)


def _missing(report: HessianReport) -> str:
    """What a number that is not there is called: of balls nothing is proven."""
    return "not proven" if any(note.code == "not-proven" for note in report.notes) else UNDEFINED


def matrix(
    look: Look, names: Sequence[str], rows: Mapping[str, Mapping[str, Value]], missing: str = UNDEFINED
) -> Iterator[str]:
    """The Hessian as a matrix, a row and a column for each name."""
    shown: list[list[Cell]] = [[_figure(look, rows[one].get(other), missing) for other in names] for one in names]
    yield from grids.grid(look, "Hessian", names, names, shown)


def _figure(look: Look, value: Value | None, missing: str) -> Cell:
    return (missing, "bad") if value is None else look.figure(value)


def _entries(look: Look, report: HessianReport) -> Iterator[str]:
    said: dict[str, list[Witness]] = {}
    for witness in report.witnesses:
        said.setdefault(witness.of, []).append(witness)
    columns = ["derivative", "value", *(["formula"] if report.formulas else []), "checked (digits that agree)"]
    rows: list[list[Cell]] = []
    for place, one in enumerate(report.wrt):
        for other in report.wrt[place:]:
            pair = f"{one},{other}"
            found = _figure(look, report.hessian[one].get(other), _missing(report))
            row: list[Cell] = [slope_of_slope(report.output, one, other), found]
            if report.formulas:
                row.append(report.formulas.get(pair, ""))
            row.append(checked(said.get(pair, [])))
            rows.append(row)
    yield from table(look, "Second derivatives", columns, rows, roles=[None, "gradient", None, None])
    if "all" in said:
        text, role = checked(said["all"])
        yield from paragraph(look, f"all at once: {text}", role, INDENT)


def verdict(report: HessianReport) -> tuple[str, str]:
    """The last line, and its role."""
    if report.exit_code == 3:
        return f"{_missing(report)} at this point: see the notes", "bad"
    wrong = sum(witness.verdict == "DISAGREES" for witness in report.witnesses)
    if wrong:
        return f"{wrong} of {len(report.witnesses)} checks DISAGREE", "bad"
    count = len(report.wrt) * (len(report.wrt) + 1) // 2
    found = f"{count} second derivative{'s' if count != 1 else ''}"
    if not report.wrt:
        return "there is no input, so there is no second derivative", "quiet"
    if report.kind == "certified":
        return f"{found}, in balls that hold the true ones", "good"
    if not report.witnesses:
        return f"{found}, not checked", "quiet"
    agreed = {witness.of for witness in report.witnesses if witness.verdict == "agrees"} - {"all"}
    if len(agreed) == count:
        return f"{found}, every one is confirmed", "good"
    return f"{found}, {len(agreed)} of them confirmed", "warning"

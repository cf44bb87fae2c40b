"""A check: what each witness says, then how the quotients converge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from backprop.render.look import Look
from backprop.render.table import WITNESSES, point, statements
from backprop.render.tables import Cell, natural_width, paragraph, table
from backprop.working import slope

if TYPE_CHECKING:
    from backprop.checks import CheckReport, Convergence, Quotient
    from backprop.record import Witness

LEGEND = (
    "Each row has a tenth of the h above it: an error like h² gets 100 times smaller, one like h 10 times (the ratio); "
    "where it grows again, with a ratio below 1, rounding has taken over."
)
INDENT = "  "
ROLES = {"agrees": "good", "not checked": "quiet", "inaccurate": "warning", "DISAGREES": "bad"}


def render(report: CheckReport, look: Look) -> Iterator[str]:
    """The lines of the report, without line ends."""
    yield from paragraph(look, "; ".join(statements(report.canonical.split("; "))), indent=INDENT)
    yield from point(look, "at", report.inputs)
    if report.value is not None:
        yield from paragraph(look, f"{report.output} = {look.figure(report.value)}", indent=INDENT)
    for name in report.wrt:
        found = report.gradient.get(name)
        shown = "undefined" if found is None else look.figure(found)
        yield from paragraph(look, f"{slope(report.output, name)} = {shown}", indent=INDENT)
    if report.witnesses:
        yield ""
        yield from _witnesses(look, report)
    for name, rows in report.convergence.items():
        yield ""
        yield from _convergence(look, slope(report.output, name), rows)
    if report.convergence:
        yield from paragraph(look, LEGEND, indent=INDENT)
    if report.notes:
        yield ""
        for note in report.notes:
            role = "bad" if note.code == "undefined" else "warning"
            yield from paragraph(look, f"note: {note.text}", role, INDENT)
    yield ""
    yield from paragraph(look, *verdict(report), INDENT)


def _witnesses(look: Look, report: CheckReport) -> Iterator[str]:
    """What each witness says; on a narrow screen the remarks stand below the table."""
    columns = ["derivative", "witness", "found", "verdict", "digits", "remark"]
    rows = [_witness(look, report, one) for one in report.witnesses]
    inside = look.width is None or natural_width(look, columns, rows) <= look.width
    if not inside or not any(one.reason for one in report.witnesses):
        columns.pop()
    yield from table(look, "Witnesses", columns, (row[: len(columns)] for row in rows))
    if not inside:
        for of, by, *_, remark in rows:
            if remark:
                yield from paragraph(look, f"{of}, {by}: {remark}", indent=INDENT)


def _convergence(look: Look, name: str, found: Sequence[Convergence]) -> Iterator[str]:
    """How the quotients close in; the ratios, which can be worked out, make room on a narrow screen."""
    columns = ["h", "central", "error", "ratio", "one-sided", "error", "ratio"]
    rows = [_row(look, row) for row in found]
    if look.width is not None and natural_width(look, columns, rows) > look.width:
        kept = [place for place, column in enumerate(columns) if column != "ratio"]
        columns = [columns[place] for place in kept]
        rows = [[row[place] for place in kept] for row in rows]
    yield from table(look, f"Difference quotients for {name} in doubles (* comes nearest)", columns, rows)


def verdict(report: CheckReport) -> tuple[str, str]:
    """The last line, and its role."""
    if report.exit_code == 3:
        return "undefined at this point: see the notes", "bad"
    count = sum(witness.verdict == "DISAGREES" for witness in report.witnesses)
    if count:
        return f"{count} of {len(report.witnesses)} checks DISAGREE", "bad"
    agreeing = sum(witness.verdict == "agrees" for witness in report.witnesses)
    poor = sum(witness.verdict == "inaccurate" for witness in report.witnesses)
    if poor:
        return f"no rule is wrong, but {poor} of {len(report.witnesses)} checks find too few right digits", "warning"
    if not report.wrt:
        return "there is no input, so there is no derivative to check", "quiet"
    if not agreeing:
        return "nothing could be checked", "warning"
    left = len(report.witnesses) - agreeing
    return f"{agreeing} checks agree" + (f", {left} could not be made" if left else ""), "good"


def _witness(look: Look, report: CheckReport, witness: Witness) -> list[Cell]:
    of = "every edge" if witness.of == "all" and witness.by == "sympy rules" else witness.of
    of = "all inputs at once" if of == "all" else slope(report.output, of) if of in report.wrt else of
    return [
        of,
        WITNESSES.get(witness.by, witness.by),
        look.figure(witness.value),
        (witness.verdict, ROLES[witness.verdict]),
        "" if witness.digits is None else f"{witness.digits:.1f}",
        witness.reason or "",
    ]


def _row(look: Look, row: Convergence) -> list[Cell]:
    return [f"{row.step:.0e}", *_quotient(look, row.central, row.best_central),
            *_quotient(look, row.one_sided, row.best_one_sided)]  # fmt: skip


def _quotient(look: Look, quotient: Quotient | None, best: bool) -> list[Cell]:
    if quotient is None:
        return ["undefined", "", ""]
    error = "" if quotient.error is None else f"{quotient.error:.1e}" if quotient.error else "0"
    ratio = "" if quotient.ratio is None else f"{quotient.ratio:.3g}"
    return [look.figure(quotient.value), (f"{error} *", "good") if best else error, ratio]

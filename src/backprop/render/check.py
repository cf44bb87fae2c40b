"""A check as text or JSON: what each witness says, then how the quotients converge."""

from __future__ import annotations

from collections.abc import Iterator

from backprop.checks import CheckReport, Convergence, Quotient
from backprop.record import Witness
from backprop.render.look import Look
from backprop.render.tables import Cell, table, visible, wrap

LEGEND = (
    "A ratio says how many times smaller the error got: near 100 for an error like h², near 10 for one like h; "
    "below 1 rounding has taken over."
)
ROLES = {"agrees": "good", "not checked": "quiet", "inaccurate": "warning", "DISAGREES": "bad"}


def render(report: CheckReport, look: Look) -> Iterator[str]:
    """The lines of the report, without line ends."""
    inputs = ", ".join(f"{name} = {look.figure(value)}" for name, value in report.inputs.items())
    at = f"   at {inputs}" if inputs else ""
    yield from _text(look, f"{_one_line(report.canonical)}{at}")
    if report.value is not None:
        yield from _text(look, f"{report.output} = {look.figure(report.value)}")
    for name in report.wrt:
        slope = report.gradient.get(name)
        shown = "undefined" if slope is None else look.figure(slope)
        yield from _text(look, f"∂{report.output}/∂{name} = {shown}")
    if report.witnesses:
        yield ""
        columns = ["derivative", "witness", "found", "verdict", "digits", "remark"]
        yield from table(look, "witnesses", columns, (_witness(look, report, one) for one in report.witnesses))
    for name, rows in report.convergence.items():
        yield ""
        title = f"difference quotients for ∂{report.output}/∂{name} in doubles (* comes nearest)"
        columns = ["h", "central", "error", "ratio", "one-sided", "error", "ratio"]
        yield from table(look, title, columns, (_row(look, row) for row in rows))
    if report.convergence:
        yield from _text(look, LEGEND)
    if report.notes:
        yield ""
        for note in report.notes:
            role = "bad" if note.code == "undefined" else "warning"
            for line in _text(look, f"note: {note.text}"):
                yield look.paint(line, role)
    yield ""
    line, role = verdict(report)
    for part in _text(look, line):
        yield look.paint(part, role)


def render_json(report: CheckReport, look: Look) -> Iterator[str]:
    """The lines of the report in JSON."""
    yield from report.to_json().splitlines()


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
    of = "all inputs at once" if of == "all" else f"∂{report.output}/∂{of}" if of in report.wrt else of
    return [
        of,
        witness.by,
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


def _one_line(program: str) -> str:
    return "; ".join(part for part in program.splitlines() if part)


def _text(look: Look, text: str) -> list[str]:
    text = visible(look.letters(text))
    return [text] if look.width is None else wrap(text, look.width, "  ")

"""A check: what each witness says and how the quotients converge; or claims, and what is to be said of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from backprop.notation import slope
from backprop.render.asked_for import point, statements
from backprop.render.gradients import WITNESSES
from backprop.render.kinks import taken
from backprop.render.look import Look
from backprop.render.tables import Cell, equation, natural_width, paragraph, table

if TYPE_CHECKING:
    from backprop.checks import CheckReport
    from backprop.claims import Judged
    from backprop.record import Witness
    from backprop.stencils import Convergence, Quotient

LEGEND = (
    "Each row has a tenth of the h above it: an error like h² gets 100 times smaller, one like h 10 times (the ratio); "
    "where it grows again, with a ratio below 1, rounding has taken over."
)
ACROSS = "x: another branch is taken inside the stencil, so that the quotient tells nothing of the slope."
INDENT = "  "
ROLES = {"agrees": "good", "not checked": "warning", "inaccurate": "warning", "DISAGREES": "bad", "undefined": "bad"}
MARKS = {"right": "good", "wrong": "bad", "undefined": "bad", "not checked": "warning"}


def render(report: CheckReport, look: Look) -> Iterator[str]:
    """The lines of the report, without line ends."""
    yield from paragraph(look, "; ".join(statements(report.canonical.split("; "))), indent=INDENT)
    yield from point(look, "at", report.inputs)
    if report.claims:
        yield ""
        yield from _claims(look, report)
        told = [note for note in report.notes if note.code != "left-out"]
    else:
        yield from _answers(look, report)
        told = report.notes
    if told:
        yield ""
        for note in told:
            role = "bad" if note.code == "undefined" else "warning"
            yield from paragraph(look, f"note: {note.text}", role, INDENT)
    yield ""
    yield from paragraph(look, *verdict(report, look), INDENT)


def _answers(look: Look, report: CheckReport) -> Iterator[str]:
    """The value and the derivatives, who confirms them, and how the quotients close in."""
    if report.value is not None:
        yield from paragraph(look, f"{report.output} = {look.figure(report.value)}", indent=INDENT)
    for name in report.wrt:
        found = report.gradient.get(name)
        shown = "undefined" if found is None else look.figure(found)
        if isinstance(found, list):
            yield from equation(look, slope(report.output, name), [shown])
        else:
            yield from paragraph(look, f"{slope(report.output, name)} = {shown}", indent=INDENT)
    if report.witnesses:
        yield ""
        yield from _witnesses(look, report)
    if report.conclusions:
        yield ""
        for one in report.conclusions:
            yield from paragraph(look, f"{slope(report.output, one.of)}: {one.text}", ROLES[one.verdict], INDENT)
    for name, rows in report.convergence.items():
        yield ""
        yield from _convergence(look, slope(report.output, name), rows)
        for approach in report.approaches[name]:
            yield from paragraph(look, f"{approach.sort}: {approach.text}", indent=INDENT)
    if report.convergence:
        yield ""
        yield from paragraph(look, LEGEND, indent=INDENT)
        if any(row.crosses for rows in report.convergence.values() for row in rows):
            yield from paragraph(look, ACROSS, indent=INDENT)


# -- claims -----------------------------------------------------------------------------------------------------------


def _claims(look: Look, report: CheckReport) -> Iterator[str]:
    """Each claim in a row; what is wrong with it, and the likely slip, below the table."""
    columns = ["claim", "yours", "right", "verdict", "likely slip"]
    if not any(claim.slips for claim in report.claims):
        columns.pop()
    yield from table(look, None, columns, (_claim(look, claim)[: len(columns)] for claim in report.claims))
    for claim in report.claims:
        yield from _remarks(look, claim)


def _claim(look: Look, claim: Judged) -> list[Cell]:
    yours = claim.said
    if claim.yours is not None and not _is_number(claim.said):
        yours = f"{claim.said} = {look.figure(claim.yours)}"
    slips = " or ".join(slip.code.replace("-", " ") for slip in claim.slips)
    return [claim.name, yours, _right(look, claim), (claim.verdict, MARKS[claim.verdict]), slips]


def _right(look: Look, claim: Judged) -> str:
    """The right formula and the right number, as far as there are."""
    number = None if claim.right is None else look.figure(claim.right)
    if number is None and claim.left_slope is not None and claim.right_slope is not None:
        number = f"{look.figure(claim.left_slope)} from the left, {look.figure(claim.right_slope)} from the right"
    elif number is None and claim.undefined:
        number = "undefined"
    parts = [part for part in (claim.formula, number) if part is not None]
    return " = ".join(dict.fromkeys(parts)) if "from the" not in (number or "") else number or ""


def _remarks(look: Look, claim: Judged) -> Iterator[str]:
    """What there is to say of a claim beside its verdict."""
    start = f"{claim.name} = {claim.said}: "
    if claim.reason is not None:
        yield from paragraph(look, f"{start}{claim.reason}", indent=INDENT)
    elif claim.verdict == "right" and claim.points:
        skipped = f" ({claim.skipped} more told nothing)" if claim.skipped else ""
        where = "at the point and " if claim.yours is not None else ""
        yield from paragraph(look, f"{start}right {where}at {claim.agree} random points{skipped}", "quiet", INDENT)
    if claim.slips:
        # a formula is met by the slip at every point that was tried; a number may be met by chance
        word = "slip" if claim.points else "likely slip"
        for slip in claim.slips:
            yield from paragraph(look, f"  {word}: {slip.text}", "warning", INDENT * 2)
            word = "or perhaps"


def _is_number(text: str) -> bool:
    try:
        float(text.replace("−", "-").replace(",", "."))
    except ValueError:
        return False
    return True


# -- witnesses --------------------------------------------------------------------------------------------------------


def _witnesses(look: Look, report: CheckReport) -> Iterator[str]:
    """What each witness says; on a narrow screen the remarks stand below the table."""
    columns = ["derivative", "witness", "found", "verdict", "digits", "remark"]
    rows = [_witness(look, report, one) for one in report.witnesses]
    inside = look.width is None or natural_width(look, columns, rows) <= look.width
    if not inside or not any(one.reason or one.worst for one in report.witnesses):
        columns.pop()
    yield from table(look, "Witnesses", columns, (row[: len(columns)] for row in rows))
    if not inside:
        for of, by, *_, remark in rows:
            if remark:
                yield from paragraph(look, f"{of}, {by}: {remark}", indent=INDENT)


def _witness(look: Look, report: CheckReport, witness: Witness) -> list[Cell]:
    of = {"sympy rules": "every edge", "rounding": "double precision"}.get(witness.by, witness.of)
    of = "all inputs at once" if of == "all" else slope(report.output, of) if of in report.wrt else of
    return [
        of,
        WITNESSES.get(witness.by, witness.by),
        look.figure(witness.value),
        (witness.verdict, ROLES[witness.verdict]),
        "" if witness.digits is None else f"{witness.digits:.1f}",
        "; ".join([*([f"least in {witness.worst}"] if witness.worst else []), *filter(None, [witness.reason])]),
    ]


def _convergence(look: Look, name: str, found: Sequence[Convergence]) -> Iterator[str]:
    """How the quotients close in; the ratios, which can be worked out, make room on a narrow screen."""
    at_kink = any(row.left or row.right for row in found)
    side = "from the left" if any(row.side == "left" for row in found) else "one-sided"
    heads = ("from the left", "from the right") if at_kink else ("central", side)
    columns = ["h", heads[0], "error", "ratio", heads[1], "error", "ratio"]
    rows = [_row(look, row, at_kink) for row in found]
    if look.width is not None and natural_width(look, columns, rows) > look.width:
        kept = [place for place, column in enumerate(columns) if column != "ratio"]
        columns = [columns[place] for place in kept]
        rows = [[row[place] for place in kept] for row in rows]
    yield from table(look, f"Difference quotients for {name} in doubles (* comes nearest)", columns, rows)


def _row(look: Look, row: Convergence, at_kink: bool) -> list[Cell]:
    step = f"{row.step:.0e}"
    if at_kink:
        return [step, *_quotient(look, row.left, False), *_quotient(look, row.right, False)]
    return [
        step,
        *_quotient(look, row.central, row.best_central, bool(row.crosses)),
        *_quotient(look, row.one_sided, row.best_one_sided, row.one_sided_crosses),
    ]


def _quotient(look: Look, quotient: Quotient | None, best: bool, across: bool = False) -> list[Cell]:
    if quotient is None:
        return ["undefined", "", ""]
    if across:
        return [look.figure(quotient.value), ("x", "quiet"), ""]
    error = "" if quotient.error is None else f"{quotient.error:.1e}" if quotient.error else "0"
    ratio = "" if quotient.ratio is None else f"{quotient.ratio:.3g}"
    return [look.figure(quotient.value), (f"{error} *", "good") if best else error, ratio]


def verdict(report: CheckReport, look: Look) -> tuple[str, str]:
    """The last line, and its role."""
    against = sum(witness.verdict == "DISAGREES" for witness in report.witnesses)
    if against:
        return f"{against} of {len(report.witnesses)} checks DISAGREE", "bad"
    if report.claims:
        return _of_claims(report)
    if report.exit_code == 3:
        return "undefined at this point: see the notes", "bad"
    if not report.wrt:
        return "there is no input, so there is no derivative to check", "quiet"
    names = [slope(report.output, one.of) for one in report.conclusions if one.verdict == "not checked"]
    if names:
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        return f"not checked: {shown}", "warning"
    poor = sum(witness.verdict == "inaccurate" for witness in report.witnesses)
    if poor:
        return f"no rule is wrong, but {poor} of {len(report.witnesses)} checks find too few right digits", "warning"
    agreeing = sum(witness.verdict == "agrees" for witness in report.witnesses)
    left = len(report.witnesses) - agreeing
    digits = [one.digits for one in report.conclusions if one.digits is not None]
    least = f" to {min(digits):.1f} digits" if digits else ""
    chosen = list(taken(report.output, report.one_sided, look))
    missing = [f", {left} could not be made"] if left else []
    return "; ".join([f"{agreeing} checks agree{least}{''.join(missing)}", *chosen]), "warning" if chosen else "good"


def _of_claims(report: CheckReport) -> tuple[str, str]:
    """How many claims are right, and what is to be said of the others."""
    count = len(report.claims)
    verdicts = [claim.verdict for claim in report.claims]
    right = verdicts.count("right")
    if right == count:
        return ("the claim is right" if count == 1 else f"all {count} claims are right"), "good"
    if count == 1:
        return f"the claim is {verdicts[0]}", MARKS[verdicts[0]]
    words = [f"{right} of {count} claims {'is' if right == 1 else 'are'} right"]
    words += [f"{verdicts.count(one)} {one}" for one in ("wrong", "undefined", "not checked") if one in verdicts]
    return ", ".join(words), "bad" if "wrong" in verdicts or "undefined" in verdicts else "warning"

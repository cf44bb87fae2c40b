"""Check: every witness in full, how the difference quotients of doubles close in, and claims of others judged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backprop import point as points
from backprop import progress
from backprop.beside.one_sided import one_sided
from backprop.claims import NOT_CHECKED, RIGHT, UNDEFINED, WRONG, Judged, judge
from backprop.claims.reading import read
from backprop.claims.truth import texts_of
from backprop.figures import elements_of, json_value
from backprop.kinds import Hole, is_number, plain
from backprop.mistakes import MissingValue
from backprop.notes import notes
from backprop.point import Number, Point, Program
from backprop.record import Note, OneSided, Value, Witness
from backprop.stencils import PLACES, ROWS, Approach, Convergence, stencils
from backprop.syntax import canonical
from backprop.tracing import merged
from backprop.witnesses import Running, certified, start
from backprop.witnesses.certified import Enclosing

FORMAT, VERSION = "backprop-check", 1

# Evaluations of a node for all quotients together; the inputs beyond that get none, and a note says so.
MOST_EVALUATIONS = 3_000_000
# Those with many digits, which choose the steps; the inputs beyond that have the step that comes nearest.
MOST_FINE_EVALUATIONS = 60_000
# Quotients of doubles that agree to fewer digits are no check.
ENOUGH = 4.0
# Witnesses that share the rules with the answer: they show slips of the engines alone.
NOT_INDEPENDENT = ("forward mode", "paths", "rounding", "nodes", certified.BY)


@dataclass(slots=True)
class Conclusion:
    """What all witnesses together say of one derivative: the verdict, to how many digits at least, and by whom."""

    of: str
    verdict: str
    text: str
    digits: float | None = None


@dataclass(slots=True)
class CheckReport:
    """What all witnesses say of a program at a point, and what is to be said of claims.

    `convergence` holds the rows of each input, `approaches` how the quotients close in, `conclusions` a verdict for
    each derivative, `one_sided` what lies on both sides of a kink. Without values for the inputs (`at_point` is False)
    there are claims alone.
    """

    program: str
    canonical: str
    inputs: dict[str, Value]
    output: str
    value: Value | None
    wrt: list[str]
    gradient: dict[str, Value]
    witnesses: list[Witness] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    convergence: dict[str, list[Convergence]] = field(default_factory=dict)
    approaches: dict[str, list[Approach]] = field(default_factory=dict)
    conclusions: list[Conclusion] = field(default_factory=list)
    claims: list[Judged] = field(default_factory=list)
    one_sided: list[OneSided] = field(default_factory=list)
    at_point: bool = True

    @property
    def exit_code(self) -> int:
        """0 when everything agrees, 1 when something does not, 3 when an answer is undefined at this point.

        Doubles that lose half of their digits do not agree, and neither does what no witness could check. With claims
        it is 0 when all of them are right.
        """
        said = {witness.verdict for witness in self.witnesses}
        lost = any(witness.by == "rounding" and witness.verdict == "inaccurate" for witness in self.witnesses)
        if "DISAGREES" in said:
            return 1
        if self.claims:
            verdicts = {claim.verdict for claim in self.claims}
            return 1 if WRONG in verdicts else 3 if UNDEFINED in verdicts else 1 if NOT_CHECKED in verdicts else 0
        if any(note.code == "undefined" for note in self.notes):
            return 3
        return 1 if lost or any(one.verdict == NOT_CHECKED for one in self.conclusions) else 0

    def to_dict(self) -> dict[str, Any]:
        """The report as a record of plain values; absent things are absent."""
        record: dict[str, Any] = {"format": FORMAT, "version": VERSION, "program": self.program}
        record |= {"canonical": self.canonical, "inputs": json_value(self.inputs), "output": self.output}
        if self.value is not None:
            record["value"] = json_value(self.value)
        record |= {"wrt": self.wrt, "gradient": json_value(self.gradient)}
        record["witnesses"] = _record(self.witnesses)
        record["notes"] = _record(self.notes)
        record["conclusions"] = _record(self.conclusions)
        record["convergence"] = {name: _record(rows) for name, rows in self.convergence.items()}
        if self.one_sided:
            record["one_sided"] = _record(self.one_sided)
        record["approaches"] = {name: _record(each) for name, each in self.approaches.items()}
        if self.claims:
            record["claims"] = _record(self.claims)
            record["right"] = sum(claim.verdict == RIGHT for claim in self.claims)
        return record

    def to_json(self) -> str:
        """The record as JSON text: the same input gives the same bytes."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def check(
    program: str | Program,
    inputs: Mapping[str, Number],
    *,
    wrt: Sequence[str] | None = None,
    claims: Iterable[str | tuple[str, str | None]] = (),
    opened: Sequence[str] | None = None,
) -> CheckReport:
    """Everything that can be said for and against the derivatives of a program at a point, and of claims about them.

    A claim is a text such as "dx = 2*x" or "f = 9" (or the text of a file and its name). Claims alone need no inputs:
    formulas are then judged at random points. `opened` names nodes to open into single numbers; with none all are.
    Raises `Mistake` for a program, inputs or claims that cannot be read; a
    point where nothing is defined is no mistake.

    >>> report = check("x^2", {"x": 3})
    >>> report.exit_code, report.conclusions[0].verdict
    (0, 'agrees')
    >>> check("x^2", {"x": 3}, claims=["dx = 6", "dx = x"]).exit_code
    1
    """
    if isinstance(program, str):
        program = Program(program)
    texts = [claim if isinstance(claim, tuple) else (claim, None) for claim in claims]
    try:
        here = points.at(program, inputs, wrt, opened=opened)
    except MissingValue:
        if not texts or inputs or _has_arrays(program):
            raise
        return _claims_alone(program, texts)
    graph = here.graph
    asked = read(here.syntax, graph, texts) if here.is_scalar else []
    running = start(here)
    gradient = here.gradient()
    value = here.answer()
    report = CheckReport(
        program=here.syntax.source,
        canonical=canonical(here.syntax),
        inputs={name: plain(here.kind, here.values[graph.inputs[name]]) for name in here.given},
        output=graph.ids[graph.output],
        value=plain(here.kind, value),
        wrt=list(gradient),
        gradient={name: plain(here.kind, slope) for name, slope in gradient.items() if not isinstance(slope, Hole)},
        notes=notes(here),
        one_sided=one_sided(here.told()) if here.told().is_scalar else [],
    )
    if asked:
        report.claims = judge(graph, here.syntax.source, asked, texts_of(graph, here.given))
    elif texts:
        from backprop.array_point import ArrayPoint
        from backprop.claims.arrays import judge_arrays

        assert isinstance(here, ArrayPoint)
        report.claims = judge_arrays(here, texts)
    progress.phase("checking")
    said, more = running.finish()
    order = {name: place for place, name in enumerate(report.wrt)}
    # of arrays quotients are shown at the element that agrees least
    judged, nodes, known = here, here.wrt, said
    if isinstance(running, (Running, Enclosing)):
        said += certified.testify(here)
    else:
        said += running.enclosed()
        judged, nodes, known = running.judged or here, running.worst(), running.by_element
    report.witnesses = sorted(said, key=lambda one: order.get(one.of, len(order)))
    report.notes = merged(report.notes, more)
    if not texts:
        _put_in_quotients(report, judged, nodes, known)
    mended = {here.name_of(node) for node, one in here.singular().items() if one.mended}
    report.conclusions = [conclusion(report, name, name in mended) for name in report.wrt]
    return report


def _has_arrays(program: Program) -> bool:
    """Whether a program works on arrays, so that nothing is known of it without their shapes."""
    _, graph = program.read()
    return points.has_arrays(graph, graph.defaults)


def _claims_alone(program: Program, texts: list[tuple[str, str | None]]) -> CheckReport:
    """Claims about a program that has no values."""
    syntax, graph = program.read()
    asked = read(syntax, graph, texts)
    output = graph.ids[graph.output]
    report = CheckReport(syntax.source, canonical(syntax), {}, output, None, [], {}, at_point=False)
    report.claims = judge(graph, syntax.source, asked, None)
    return report


def _put_in_quotients(report: CheckReport, here: Point, nodes: Sequence[int], witnesses: Sequence[Witness]) -> None:
    """The quotients of doubles for each input, of arrays for one element, as far as the graph allows."""
    cost, left_out = 0, 0
    for node in nodes:
        cost += 2 * ROWS * len(here.graph)
        if cost > MOST_EVALUATIONS:
            left_out += 1
            continue
        name = here.name_of(node)
        left, right = _sides(here, node)
        fine = cost // (2 * ROWS) * PLACES <= MOST_FINE_EVALUATIONS
        found = stencils(here, node, _truth(here, witnesses, name, left, right), left, right, fine)
        if found is not None and found.rows:
            report.convergence[name] = found.rows
            report.approaches[name] = found.approaches
    if left_out:
        text = f"the convergence of quotients is left out for {left_out} of {len(nodes)} inputs: the graph is large"
        report.notes.append(Note("left-out", text))


def _sides(here: Point, node: int) -> tuple[float | None, float | None]:
    """The slopes from left and right at a kink, None where there is none."""
    one = here.singular().get(node)
    if one is None or one.sides.central is not None:
        return None, None
    left, right = one.left, one.right
    if isinstance(left, float) and isinstance(right, float) and is_number(left) and is_number(right):
        return left, right
    return None, None


def _truth(
    here: Point, witnesses: Sequence[Witness], name: str, left: float | None, right: float | None
) -> float | None:
    """The derivative as the best witness has it; our own where none has one; None at a kink, where there is none."""
    if left is not None and right is not None and left != right:
        return None
    for by in ("sympy", "difference"):
        for witness in witnesses:
            if witness.of == name and witness.by == by and isinstance(witness.value, float):
                return witness.value
    own = here.gradient()[name]
    return own if isinstance(own, float) and is_number(own) else None


def conclusion(report: CheckReport, name: str, mended: bool = False) -> Conclusion:
    """One line on one derivative: who agrees, to how many digits at least, and who could not tell.

    Witnesses that share the rules do not count. Of an answer that is `mended`, because it does not come from the rules,
    the edges tell nothing. Where nobody else can tell, the quotients of doubles may.
    """
    if name not in report.gradient:
        return Conclusion(name, UNDEFINED, "undefined at this point")
    if None in elements_of(report.gradient[name]):
        return Conclusion(name, UNDEFINED, "undefined at this point for some of its elements")
    own = [one for one in report.witnesses if one.of in (name, "all") and one.by not in NOT_INDEPENDENT]
    against = [one for one in report.witnesses if one.of in (name, "all") and one.verdict == "DISAGREES"]
    if against:
        return Conclusion(name, "DISAGREES", f"contradicted by {_names(against)}")
    telling = [
        one for one in own if one.verdict != NOT_CHECKED and not (one.by == "sympy rules" and _is_partial(one, mended))
    ]
    silent = [one for one in own if one not in telling]
    poor = [one for one in telling if one.verdict == "inaccurate"]
    # quotients in doubles of each operation have fewer digits than what they find right
    finest = [one for one in telling if one.by != "array rules"] or telling
    measured = [one.digits for one in finest if one.digits is not None]
    digits = min(measured) if measured else None
    told = "" if digits is None else f" to {digits:.1f} digits"
    without = f"; {_names(silent)} could not tell" if silent else ""
    samples = [one.sample for one in telling if one.sample is not None]
    if samples:
        without += f"; {samples[0][0]} of {samples[0][1]} edges were tried, and nothing is said of the others"
    if poor:
        return Conclusion(name, "inaccurate", f"the rules are right, but doubles agree{told} only{without}", digits)
    if any(one.by == "difference" and one.digits is None for one in telling):
        return Conclusion(name, "agrees", f"{_agree(telling)}: it lies between the slopes of a kink{without}")
    if telling:
        return Conclusion(name, "agrees", f"{_agree(telling)}{told}{without}", digits)
    seen = [one.digits or 0.0 for one in report.approaches.get(name, ())]
    if seen and min(seen) >= ENOUGH:
        if any(row.left is not None for row in report.convergence[name]):
            told = "the quotients of doubles show a kink, and it lies between the slopes"
            return Conclusion(name, "agrees", f"{told}{without}")
        return Conclusion(
            name, "agrees", f"the quotients of doubles agree to {max(seen):.1f} digits{without}", max(seen)
        )
    reasons = dict.fromkeys(one.reason for one in silent if one.reason)
    why = f": {'; '.join(reasons)}" if reasons else ""
    return Conclusion(name, NOT_CHECKED, f"not checked by anything that is independent of the rules{why}")


def _is_partial(edges: Witness, mended: bool) -> bool:
    """Whether the edges tell too little: some were left out, or the answer does not come from them."""
    return mended or (edges.reason or "").startswith(NOT_CHECKED)


NAMES = {
    "opened": "the opened program",
    "array rules": "each operation by itself",
    "sympy": "SymPy",
    "sympy rules": "SymPy edge by edge",
    "nodes": "some nodes worked out again",
    "difference": "the difference with many digits",
}


def _names(witnesses: Sequence[Witness]) -> str:
    """Witnesses in words."""
    names = list(dict.fromkeys(NAMES.get(one.by, one.by) for one in witnesses))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _agree(witnesses: Sequence[Witness]) -> str:
    return f"{_names(witnesses)} agree{'s' if len({one.by for one in witnesses}) == 1 else ''}"


def _record(item: Any) -> Any:
    """A dataclass, a list of them or a value as plain values; absent things are absent."""
    if isinstance(item, (list, tuple)):
        return [_record(one) for one in item]
    if not hasattr(item, "__slots__"):
        return json_value(item)
    found = {name: getattr(item, name) for name in item.__slots__}
    return {name: _record(one) for name, one in found.items() if one is not None and one is not False and one != []}

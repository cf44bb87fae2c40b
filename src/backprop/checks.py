"""Check: every witness in full, and how the difference quotients of doubles close in on the derivative.

The central quotient (f(x + h) - f(x - h)) / 2h is wrong by about h² f'''/6, the one-sided one (f(x + h) - f(x)) / h by
about h f''/2: ten times smaller a step gives the first two more digits and the second one. Below a certain step the
rounding of f, divided by h, takes over and both get worse again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backprop import point as points
from backprop.beside import cut
from backprop.graph import CONST, INPUT
from backprop.kinds import Hole, is_number
from backprop.kinds.real import REAL
from backprop.notes import notes
from backprop.point import Number, Point, Program
from backprop.record import Note, Value, Witness, json_value
from backprop.syntax import canonical
from backprop.values import values
from backprop.witnesses import start

FORMAT, VERSION = "backprop-check", 1

EXPONENTS = range(-1, -13, -1)

# Evaluations of a node for all quotients together; the inputs beyond that get none, and a note says so.
MOST_EVALUATIONS = 3_000_000


@dataclass(slots=True)
class Quotient:
    """A difference quotient, how far it is from the derivative, and how many times farther the one before was."""

    value: float
    error: float | None = None
    ratio: float | None = None


@dataclass(slots=True)
class Convergence:
    """Both quotients for one step; None where the function has no value there.

    `best_central` and `best_one_sided` mark the step that comes nearest.
    """

    step: float
    central: Quotient | None = None
    one_sided: Quotient | None = None
    best_central: bool = False
    best_one_sided: bool = False


@dataclass(slots=True)
class CheckReport:
    """What all witnesses say of a program at a point. `convergence` holds the rows of each input."""

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

    @property
    def exit_code(self) -> int:
        """0 when nothing disagrees, 1 when something does, 3 when an answer is undefined at this point."""
        if any(note.code == "undefined" for note in self.notes):
            return 3
        return 1 if any(witness.verdict == "DISAGREES" for witness in self.witnesses) else 0

    def to_dict(self) -> dict[str, Any]:
        """The report as a record of plain values; absent things are absent."""
        record: dict[str, Any] = {"format": FORMAT, "version": VERSION, "program": self.program}
        record |= {"canonical": self.canonical, "inputs": json_value(self.inputs), "output": self.output}
        if self.value is not None:
            record["value"] = json_value(self.value)
        record |= {"wrt": self.wrt, "gradient": json_value(self.gradient)}
        record["witnesses"] = [_record(witness) for witness in self.witnesses]
        record["notes"] = [_record(note) for note in self.notes]
        record["convergence"] = {name: [_record(row) for row in rows] for name, rows in self.convergence.items()}
        return record

    def to_json(self) -> str:
        """The record as JSON text: the same input gives the same bytes."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def check(program: str | Program, inputs: Mapping[str, Number], *, wrt: Sequence[str] | None = None) -> CheckReport:
    """Everything that can be said for and against the derivatives of a program at a point.

    Raises `Mistake` for a program or inputs that cannot be read; a point where nothing is defined is no mistake.

    >>> report = check("x^2", {"x": 3})
    >>> report.exit_code, report.convergence["x"][1].one_sided.value
    (0, 6.009999999999849)
    """
    here = points.at(program, inputs, wrt)
    running = start(here)
    graph = here.graph
    gradient = here.gradient()
    report = CheckReport(
        program=here.syntax.source,
        canonical=canonical(here.syntax),
        inputs={name: here.values[graph.inputs[name]] for name in here.given},
        output=graph.ids[graph.output],
        value=None if isinstance(here.value(), Hole) else here.value(),
        wrt=list(gradient),
        gradient={name: slope for name, slope in gradient.items() if not isinstance(slope, Hole)},
        notes=notes(here),
    )
    report.witnesses, more = running.finish()
    report.notes.extend(more)
    cost, left_out = 0, 0
    for node in here.wrt:
        cost += 2 * len(EXPONENTS) * len(graph)
        if cost > MOST_EVALUATIONS:
            left_out += 1
            continue
        name = here.name_of(node)
        rows = convergence(here, node, _truth(report, name))
        if rows:
            report.convergence[name] = rows
    if left_out:
        text = f"the convergence of quotients is left out for {left_out} of {len(here.wrt)} inputs: the graph is large"
        report.notes.append(Note("left-out", text))
    return report


def _truth(report: CheckReport, name: str) -> float | None:
    """The derivative as the best witness has it; our own where none has one; None at a kink, where there is none."""
    for witness in report.witnesses:
        if (
            witness.of == name
            and witness.by == "difference"
            and witness.verdict != "not checked"
            and witness.value is None
        ):
            return None
    for by in ("sympy", "difference"):
        for witness in report.witnesses:
            if witness.of == name and witness.by == by and isinstance(witness.value, float):
                return witness.value
    own = report.gradient.get(name)
    return own if isinstance(own, float) and is_number(own) else None


def convergence(point: Point, node: int, truth: float | None) -> list[Convergence]:
    """The quotients of the output in one node, in doubles, for smaller and smaller steps; none off the number line."""
    at, middle = point.values[node], point.value()
    if not isinstance(at, float) or not is_number(at) or not is_number(middle):
        return []
    graph = cut(point.graph, node)
    leaves = {
        leaf: point.values[leaf]
        for leaf, code in enumerate(graph.codes)
        if code in (INPUT, CONST) and not isinstance(point.values[leaf], Hole)
    }

    def value(x: float) -> Any:
        return values(graph, REAL, leaves | {node: x})[graph.output]

    rows: list[Convergence] = []
    for step in steps(at):
        above, below = value(at + step), value(at - step)
        row = Convergence(step)
        if is_number(above) and is_number(below):
            row.central = Quotient((above - below) / (2 * step) + 0.0)
        if is_number(above):
            row.one_sided = Quotient((above - middle) / step + 0.0)
        elif is_number(below):
            row.one_sided = Quotient((middle - below) / step + 0.0)
        rows.append(row)
    if truth is not None:
        _measure([row.central for row in rows], truth)
        _measure([row.one_sided for row in rows], truth)
        _mark(rows)
    return rows


def steps(x: float) -> list[float]:
    """0.1, 0.01, ... for an ordinary number; in proportion for a large or a small one, in powers of ten.

    Beside the smallest numbers of all there are fewer: no step is 0.

    >>> steps(2.0)[:2], steps(3000.0)[:2], steps(1e-7)[:1], steps(1e-322)
    ([0.1, 0.01], [100.0, 10.0], [1e-07], [1e-323])
    """
    size = math.floor(math.log10(abs(x))) if x else 0
    shift = size + 1 if size < -1 else max(0, size)
    return [step for exponent in EXPONENTS if (step := float(f"1e{exponent + shift}"))]


def _measure(quotients: list[Quotient | None], truth: float) -> None:
    """Put in how far each quotient is off, and how many times farther the one before it was."""
    before: float | None = None
    for quotient in quotients:
        if quotient is None:
            before = None
            continue
        quotient.error = abs(quotient.value - truth)
        if before is not None and quotient.error:
            quotient.ratio = before / quotient.error
        before = quotient.error


def _mark(rows: list[Convergence]) -> None:
    """Mark the row that comes nearest, the first of several."""
    central = [(row.central.error, -row.step) for row in rows if row.central and row.central.error is not None]
    one_sided = [(row.one_sided.error, -row.step) for row in rows if row.one_sided and row.one_sided.error is not None]
    for row in rows:
        row.best_central = bool(central) and -row.step == min(central)[1]
        row.best_one_sided = bool(one_sided) and -row.step == min(one_sided)[1]


def _record(item: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in item.__slots__:
        value = getattr(item, name)
        if value is not None and value is not False:
            found[name] = _record(value) if isinstance(value, Quotient) else json_value(value)
    return found

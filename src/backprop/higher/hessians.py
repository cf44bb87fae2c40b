"""The Hessian of a program at a point: every second derivative, the witnesses of each, and where there is none."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backprop import kinds
from backprop import point as points
from backprop.beside.differences import as_double
from backprop.derivatives import closed, gradient
from backprop.figures import DEFAULT_FIGURES, figure, json_value
from backprop.formulas import text
from backprop.gradient import refuse_holes
from backprop.graph import CONST
from backprop.higher.blocks import Part, blocks, gathered
from backprop.higher.curvature import Entry, digits_right, entries
from backprop.higher.differences import along, central
from backprop.higher.gradient_graph import Curvature, gradient_graph
from backprop.kinds import Hole, Kind
from backprop.mistakes import TooMuchWork, Undefined
from backprop.notation import slope_of_slope
from backprop.notes import notes
from backprop.point import Number, Point, Program
from backprop.record import Note, Value, Witness
from backprop.refusals import refuse, refuse_steps
from backprop.syntax import canonical
from backprop.witnesses import child, sympy_whole

FORMAT, VERSION = "backprop-hessian", 1

# Edges of the gradient's graph walked by the passes for all inputs; each takes some tenth of a millionth of a second.
MOST_EDGES = 5_000_000
# Inputs of which all pairs are taken.
MOST_INPUTS = 500
# Evaluations of a node that the differences of all second derivatives may take together.
MOST_EVALUATIONS = 40_000
# Second derivatives that SymPy is asked for.
MOST_ASKED = 40
# Formulas are for a reader: of a small program, and short.
LARGEST_FORMULA, MOST_IN_FORMULAS, LONGEST_FORMULA = 60, 6, 48
# Digits that have to agree; a witness that finds fewer disagrees.
ENOUGH = 10.0

UNDEFINED = "it is undefined"
BY_SYMPY, BY_DIFFERENCE, BY_REVERSE, BY_SYMMETRY = "sympy", "difference", "reverse over reverse", "symmetry"


@dataclass(slots=True)
class HessianReport:
    """The second derivatives of a program at a point. `hessian` is symmetric, by the names in `wrt`.

    A second derivative that does not exist is absent: a note says why, and `sides` holds its limits, by "x,y" and then
    by where they were taken. `formulas` holds, by such a pair too, the derivatives that are short enough to be read;
    `of` in a witness is such a pair of names. Of a program with arrays the names are those of elements, `W[0,1]`, and
    `parts` tells how they are put together.
    """

    program: str
    canonical: str
    kind: str
    inputs: dict[str, Value]
    output: str
    value: Value | None
    wrt: list[str]
    gradient: dict[str, Value]
    hessian: dict[str, dict[str, Value]]
    formulas: dict[str, str] = field(default_factory=dict)
    sides: dict[str, dict[str, float]] = field(default_factory=dict)
    witnesses: list[Witness] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    figures: int = DEFAULT_FIGURES

    @property
    def exit_code(self) -> int:
        """0 fine, 1 a witness disagrees, 3 a second derivative, or what comes before it, is undefined here."""
        if any(note.code in ("undefined", "not-proven") for note in self.notes):
            return 3
        return 1 if any(witness.verdict == "DISAGREES" for witness in self.witnesses) else 0

    def to_dict(self) -> dict[str, Any]:
        """The record as `backprop schema --of hessian` describes it; absent things are absent."""
        record: dict[str, Any] = {"format": FORMAT, "version": VERSION, "program": self.program}
        wrt, gradient, rows = self.wrt, self.gradient, self.hessian
        if self.parts:  # by names instead of by elements
            wrt = [part.name for part in self.parts]
            gradient = {name: one for name, one in gathered(gradient, self.parts).items() if one is not None}
            rows = blocks(rows, self.parts) if rows else {}
        record |= {"canonical": self.canonical, "kind": self.kind, "inputs": json_value(self.inputs)}
        record["output"] = self.output
        if self.value is not None:
            record["value"] = json_value(self.value)
        record |= {"wrt": wrt, "gradient": json_value(gradient), "hessian": json_value(rows)}
        if self.parts:
            record["shapes"] = {part.name: list(part.shape) for part in self.parts}
        if self.formulas:
            record["formulas"] = self.formulas
        if self.sides:
            record["sides"] = json_value(self.sides)
        record["witnesses"] = [item_record(witness) for witness in self.witnesses]
        record["notes"] = [item_record(note) for note in self.notes]
        return record

    def to_json(self) -> str:
        """The record as JSON text: the same input gives the same bytes."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def hessian(
    program: str | Program,
    inputs: Mapping[str, Number],
    wrt: Sequence[str] | None = None,
    kind: str | Kind = "real",
    limit: int | None = None,
) -> dict[str, dict[str, Any]]:
    """The second derivatives by name and name. Raises `Undefined` where one of them does not exist.

    Between arrays they are an array, of the shape of the one and then that of the other.

    >>> hessian("x^2*y", {"x": 3, "y": 2})
    {'x': {'x': 4.0, 'y': 6.0}, 'y': {'x': 6.0, 'y': 0.0}}
    """
    entire, here, of = curved(program, inputs, wrt, kind, limit)
    found = matrix(here, settled(here, of))
    if entire.is_scalar:
        return found
    from backprop.higher.array_directions import arrays_of  # with NumPy

    return arrays_of(entire, found)


def settled(here: Point, of: Curvature) -> dict[tuple[int, int], Entry]:
    """Every second derivative. Raises `Undefined` when one does not exist."""
    if isinstance(here.answer(), Hole):
        refuse_holes(here)
    found = entries(here, of)
    for entry in found.values():
        if entry.value is None:
            raise Undefined(f"{name(here, entry)} is undefined: {entry.why}").within(here.syntax.source)
    return found


def matrix(here: Point, found: Mapping[tuple[int, int], Entry]) -> dict[str, dict[str, Any]]:
    """The entries that exist as a symmetric matrix of names, in the order of `here.wrt`."""
    rows: dict[str, dict[str, Any]] = {}
    for i in here.wrt:
        row = rows[here.name_of(i)] = {}
        for j in here.wrt:
            value = found[(i, j) if (i, j) in found else (j, i)].value
            if value is not None:
                row[here.name_of(j)] = value
    return rows


def name(here: Point, entry: Entry) -> str:
    """∂²f/∂y∂x."""
    return slope_of_slope(here.graph.ids[here.graph.output], here.name_of(entry.i), here.name_of(entry.j))


def curved(
    program: str | Program,
    inputs: Mapping[str, Number],
    wrt: Sequence[str] | None = None,
    kind: str | Kind = "real",
    limit: int | None = None,
) -> tuple[Point, Point, Curvature]:
    """A program at a point, the same opened into single numbers, and its gradient as a graph.

    Raises what `curvature` does, `OutputNotANumber` for a vector and `TooMuchWork` where it is too large to be opened.
    """
    kind = kinds.by_name(kind, limit)
    entire = points.at(program, inputs, wrt, kind)
    entire.gradient()  # of a vector there is none
    refuse_steps(entire)
    here = entire.told()
    if not here.is_scalar:
        if isinstance(entire.value(), Hole):
            refuse_holes(entire)
        raise too_large("a Hessian").within(entire.syntax.source)
    refuse(here)
    return entire, here, curvature(here)


def too_large(what: str) -> TooMuchWork:
    """The mistake for second derivatives of a program that cannot be opened."""
    return TooMuchWork(
        f"{what} is worked out number by number, and this program has too many of them to be opened",
        "A product of the Hessian with a vector takes one pass over the arrays: backprop grad --hvp",
    )


def curvature(here: Point, passes: int | None = None) -> Curvature:
    """The gradient of a point as a graph. `passes` over that are meant, one for each input if None.

    Raises `NoVariable` for a node in `wrt` that is no input, and `TooMuchWork`.
    """
    refuse_steps(here)
    written = gradient_graph(here.graph, here.wrt)
    times = len(here.wrt) if passes is None else passes
    edges = times * len(written.graph.args)
    if edges > MOST_EDGES or (passes is None and times > MOST_INPUTS):
        raise TooMuchWork(
            f"the Hessian by {times} inputs has {times * (times + 1) // 2} entries and takes {times} passes over "
            f"{len(written.graph.args)} edges; up to {MOST_INPUTS} inputs and {MOST_EDGES} edges in all are worked out",
            "Ask for a few of the inputs: --wrt x,y   A product with a vector takes one pass: backprop grad --hvp",
        )
    return Curvature(here, written)


def report(
    program: str | Program,
    inputs: Mapping[str, Number],
    wrt: Sequence[str] | None = None,
    kind: str | Kind = "real",
    limit: int | None = None,
    check: bool = True,
) -> HessianReport:
    """The Hessian with all that can be said for and against it.

    Raises `Mistake` for a program or inputs that cannot be read; an undefined point is no mistake, the notes say so.
    """
    entire, here, of = curved(program, inputs, wrt, kind, limit)
    output = here.graph.ids[here.graph.output]
    lost = isinstance(here.answer(), Hole)
    running = _Sympy(here) if check and not lost and here.kind.checked else None
    found = {} if lost else entries(here, of)
    slopes = here.gradient()
    told = HessianReport(
        program=here.syntax.source,
        canonical=canonical(here.syntax),
        kind=here.kind.name,
        inputs={one: entire.kind.record(entire.values[entire.graph.inputs[one]]) for one in entire.given},
        output=output,
        value=None if lost else here.kind.record(here.answer()),
        wrt=list(slopes),
        gradient={one: here.kind.record(value) for one, value in slopes.items() if not isinstance(value, Hole)},
        hessian={},
        figures=here.kind.figures,
        notes=notes(here),
    )
    if not entire.is_scalar:
        from backprop.higher.array_directions import parts  # with NumPy

        told.parts = parts(entire)
    if lost:
        return told
    rows = matrix(here, found)
    told.hessian = {one: {other: here.kind.record(value) for other, value in row.items()} for one, row in rows.items()}
    told.sides = {
        _pair(here, entry): dict(entry.beside.sides)
        for entry in found.values()
        if entry.beside is not None and entry.beside.sides
    }
    told.formulas = _formulas(here, found)
    told.notes.extend(_notes(here, found))
    if running is not None:
        told.witnesses = _witnesses(here, of, found, running)
    return told


def _pair(here: Point, entry: Entry) -> str:
    return f"{here.name_of(entry.i)},{here.name_of(entry.j)}"


def _formulas(here: Point, found: Mapping[tuple[int, int], Entry]) -> dict[str, str]:
    """The second derivatives that exist as formulas of the inputs, where they are short."""
    graph, names = here.graph, [here.name_of(node) for node in here.wrt]
    if (
        len(graph) > LARGEST_FORMULA
        or len(names) > MOST_IN_FORMULAS
        or any(graph.codes[one] == CONST for one in here.wrt)
    ):
        return {}
    told: dict[str, str] = {}
    for place, first in enumerate(gradient(closed(graph), names)):
        for name_of, second in zip(names[place:], gradient(first, names[place:]), strict=True):
            pair = f"{names[place]},{name_of}"
            if second.size <= LONGEST_FORMULA and len(shown := text(second)) <= LONGEST_FORMULA:
                told[pair] = shown
    return {
        pair: told[pair] for entry in found.values() if entry.value is not None and (pair := _pair(here, entry)) in told
    }


# -- notes ------------------------------------------------------------------------------------------------------------


def _notes(here: Point, found: Mapping[tuple[int, int], Entry]) -> list[Note]:
    told: list[Note] = []
    mended: dict[str, list[Entry]] = {}
    for entry in found.values():
        what, pair = name(here, entry), _pair(here, entry)
        if entry.value is None:
            code, word = ("not-proven", "not proven") if here.kind.intervals else ("undefined", "undefined")
            told.append(Note(code, f"{what} {word}: {entry.why}", pair))
        elif entry.lost is not None:
            kind = "double precision" if here.kind.name == "real" else here.kind.name
            right = f"{entry.lost:.1f} of {here.kind.digits} digits are" if entry.lost else "none of the digits is"
            text = f"{kind} gives {_short(here, entry.rules)} for {what}, of which {right} right; "
            told.append(Note("lost-digits", f"{text}with more digits it is {_short(here, entry.value)}", pair))
        elif entry.mended:
            given = "have no number" if isinstance(entry.rules, Hole) else f"give {_short(here, entry.rules)}"
            mended.setdefault(given, []).append(entry)
        if entry.value is not None and entry.beside is not None and entry.beside.only:
            told.append(Note("one-sided", f"{what} is {_short(here, entry.value)} {entry.beside.only} alone", pair))
    for given, several in mended.items():
        answers = ", ".join(f"{name(here, entry)} is {_short(here, entry.value)}" for entry in several[:10])
        more = f" and {len(several) - 10} more" if len(several) > 10 else ""
        text = f"the rules {given} here; {answers}{more}, from values beside the point"
        told.append(Note("singular", text, _pair(here, several[0])))
    return told


def _short(here: Point, value: Any) -> str:
    return figure(here.kind.record(value), here.kind.figures)


# -- witnesses --------------------------------------------------------------------------------------------------------


class _Sympy:
    """SymPy at work on the closed form in its own process while the caller goes on."""

    def __init__(self, here: Point) -> None:
        self.pairs = [(i, j) for a, i in enumerate(here.wrt) for j in here.wrt[a:]]
        self.asked = sympy_whole.question(here)
        self.process = None
        if isinstance(self.asked, dict) and len(self.pairs) > MOST_ASKED:
            self.asked = f"{len(self.pairs)} second derivatives are too many to put to SymPy"
        if isinstance(self.asked, dict):
            places = sympy_whole.places_of(here)  # an input that does not reach the output has none
            self.pairs = [pair for pair in self.pairs if pair[0] in places and pair[1] in places]
            self.asked["pairs"] = [[places[i], places[j]] for i, j in self.pairs]
            self.process = child.Child([], self.asked, sure=max(30, here.kind.checked + 5))

    def truths(self) -> tuple[dict[tuple[int, int], str], str]:
        """What SymPy found for each pair of nodes, and why there may be less than was asked."""
        if self.process is None:
            return {}, str(self.asked)
        answers = self.process.answers()
        found = {
            pair: truth for place, pair in enumerate(self.pairs) if (truth := answers.whole.get(place)) is not None
        }
        return found, answers.trouble or "SymPy has no number there"


def _witnesses(here: Point, of: Curvature, found: Mapping[tuple[int, int], Entry], running: _Sympy) -> list[Witness]:
    said: list[Witness] = []
    rows = {node: of.level.row(place) for place, node in enumerate(here.wrt)}
    place = {node: at for at, node in enumerate(here.wrt)}
    columns = {node: of.level.column(node) for node in here.wrt}
    differences, spent = [], 0
    for entry in found.values():
        pair = _pair(here, entry)
        said.append(_modes(here, pair, BY_REVERSE, entry, rows[entry.i][place[entry.j]]))
        if entry.i != entry.j:
            said.append(_modes(here, pair, BY_SYMMETRY, entry, columns[entry.i][place[entry.j]]))
        spent += 8 * len(here.graph)
        differences.append(_difference(here, pair, entry, spent <= MOST_EVALUATIONS))
    if spent > MOST_EVALUATIONS:
        said.append(_all_at_once(here, found))
    truths, trouble = running.truths()
    by_sympy = [_sympy(here, entry, truths, trouble, running) for entry in found.values()]
    order = {_pair(here, entry): number for number, entry in enumerate(found.values())}
    each = [*by_sympy, *differences, *said]
    each.sort(key=lambda witness: order.get(witness.of, len(order)))
    return each


def _modes(here: Point, pair: str, by: str, entry: Entry, theirs: Any) -> Witness:
    """Another order of the same sum, or the same derivative taken the other way round."""
    if entry.value is None:
        return Witness(pair, by, "not checked", reason=UNDEFINED)
    if isinstance(theirs, Hole) or isinstance(entry.rules, Hole):
        return Witness(pair, by, "not checked", reason="the rules have no number here")
    if entry.mended:
        return Witness(pair, by, "not checked", reason="the answer does not come from the rules in doubles")
    kind, apart = here.kind, abs(entry.rules - theirs)
    if kind.digits and not apart and not isinstance(theirs, float):  # an exact number agrees without end
        return Witness(pair, by, "agrees", kind.record(theirs), float(kind.checked) if kind.rounds else None)
    if kind.digits and not isinstance(theirs, float):
        digits = kind.agreement(entry.rules, theirs)
    else:
        digits = _digits(apart, max(abs(entry.rules), abs(theirs)))
    # what rounding leaves where terms cancel
    if digits >= ENOUGH or as_double(apart) <= 1e-10 * _scale(here):
        return Witness(pair, by, "agrees", kind.record(theirs), digits)
    return Witness(pair, by, "DISAGREES", kind.record(theirs), digits)


def _scale(here: Point) -> float:
    """The size of the numbers from which a second derivative is made, roughly: what rounding is measured against."""
    numbers = [as_double(value) for value in here.gradient().values() if not isinstance(value, Hole)]
    return max([abs(as_double(here.answer())), *map(abs, numbers)], default=0.0)


def _digits(apart: Any, size: Any) -> float:
    from math import log10

    if not apart:
        return 15.95
    return round(min(15.95, max(0.0, -log10(as_double(apart / size)))), 2)


def _difference(here: Point, pair: str, entry: Entry, affordable: bool) -> Witness:
    """The second difference of values at many digits."""
    if entry.value is None:
        return Witness(pair, BY_DIFFERENCE, "not checked", reason=UNDEFINED)
    if entry.beside is not None and entry.mended:
        reason = "the answer itself comes from the values beside the point"
        return Witness(pair, BY_DIFFERENCE, "not checked", here.kind.record(entry.value), reason=reason)
    if here.kind.digits == 0:
        reason = f"nothing is looked at beside the point in kind {here.kind.name}"
        return Witness(pair, BY_DIFFERENCE, "not checked", reason=reason)
    if not affordable:
        return Witness(pair, BY_DIFFERENCE, "not checked", reason="the differences would take too long")
    told = entry.beside if entry.beside is not None else central(here, entry.i, entry.j)
    if told.value is None:
        return Witness(pair, BY_DIFFERENCE, "not checked", reason=told.reason)
    return _judged(here, pair, BY_DIFFERENCE, entry, told.value, told.digits)


def _all_at_once(here: Point, found: Mapping[tuple[int, int], Entry]) -> Witness:
    """Every input moved at once, by fixed amounts without a pattern: the curvature along that direction is vᵀHv."""
    why = next((entry.why for entry in found.values() if entry.value is None), "")
    if why or here.kind.digits == 0 or 8 * len(here.graph) > MOST_EVALUATIONS:
        reason = f"a second derivative is missing: {why}" if why else "the graph is too large for so many digits"
        return Witness("all", BY_DIFFERENCE, "not checked", reason=reason)
    direction = {
        node: max(1.0, abs(as_double(here.values[node]))) * (0.5 + place * 0.6180339887498949 % 1)
        for place, node in enumerate(here.wrt)
    }
    told = along(here, direction)
    if told.value is None:
        return Witness("all", BY_DIFFERENCE, "not checked", reason=told.reason)
    terms = [
        (1 if entry.i == entry.j else 2) * as_double(entry.value) * direction[entry.i] * direction[entry.j]
        for entry in found.values()
    ]
    total, size = math.fsum(terms), math.fsum(map(abs, terms))
    apart = abs(total - as_double(told.value))
    digits = _digits(apart, abs(total) or size or 1.0)
    right = digits >= ENOUGH or apart <= 1e-12 * size
    reason = "all inputs moved at once, along one direction"
    return Witness("all", BY_DIFFERENCE, "agrees" if right else "DISAGREES", digits=digits, reason=reason)


def _sympy(here: Point, entry: Entry, truths: Mapping[tuple[int, int], str], trouble: str, running: _Sympy) -> Witness:
    pair = _pair(here, entry)
    if entry.value is None:
        return Witness(pair, BY_SYMPY, "not checked", reason=UNDEFINED)
    truth = truths.get((entry.i, entry.j))
    if truth is None and isinstance(running.asked, dict) and (entry.i, entry.j) not in running.pairs:
        truth = "0"
    if truth is None:
        return Witness(pair, BY_SYMPY, "not checked", reason=trouble)
    from mpmath import mp, mpf

    with mp.workdps(max(45, here.kind.checked + 15)):
        return _judged(here, pair, BY_SYMPY, entry, mpf(truth), 30)


def _judged(here: Point, pair: str, by: str, entry: Entry, truth: Any, known_to: float) -> Witness:
    kind = here.kind
    ours = entry.value
    digits = round(digits_right(ours, truth) if isinstance(ours, float) else kind.agreement(ours, truth), 2)
    shown = kind.record(kind.nearest(truth)) if kind.digits else kind.record(entry.value)
    if digits >= min(ENOUGH, known_to - 1):
        return Witness(pair, by, "agrees", shown, digits)
    if truth == 0 and abs(as_double(entry.value)) <= 1e-10 * _scale(here):
        return Witness(pair, by, "agrees", shown, reason="0 up to the rounding of the terms that cancel")
    return Witness(pair, by, "DISAGREES", shown, digits)


def item_record(item: Any) -> dict[str, Any]:
    """A witness or a note as JSON holds it; absent things are absent."""
    found = {one: getattr(item, one) for one in item.__slots__}
    return {one: json_value(value) for one, value in found.items() if value is not None}

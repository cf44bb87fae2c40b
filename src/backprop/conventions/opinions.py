"""Opinions: the derivatives that each convention and each framework gives at one point, and which of them are right.

What is right comes from values beside the point, in many digits: the derivative where there is one, else the slopes
from left and right, and every number between them is a subgradient. What a framework gives comes from its own rules
(`conventions`), worked out as it works them out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backprop import ops
from backprop.beside.one_sided import one_sided
from backprop.beside.singular import gradients_beside, widened
from backprop.conventions import FRAMEWORKS, SLOPES, Framework, framework, named
from backprop.figures import json_value
from backprop.kinds import MINIMUM_NORM, Hole, is_number
from backprop.mistakes import TooLargeToOpen
from backprop.notes import why
from backprop.ops import ATOM
from backprop.point import Number, Point, Program
from backprop.rules import holds
from backprop.syntax import canonical
from backprop.writing import written

# How a number stands to what is right, from worse to better.
WRONG, APART, NOT_TOLD, POSSIBLE, RIGHT = "wrong", "apart", "not told", "possible", "right"
VERDICTS = (WRONG, APART, NOT_TOLD, POSSIBLE, RIGHT)
# Doubles that agree to so much are one number.
CLOSE = 1e-9

MEANT = {
    MINIMUM_NORM: "the derivative; at a kink the smallest subgradient, unless --convention says otherwise",
    "mean": "the derivative; at a kink the mean of the slopes from left and right",
    "left": "the slope from the left",
    "right": "the slope from the right",
    "nan": "the derivative; at a kink NaN",
}


@dataclass(slots=True)
class Truth:
    """What there is in one input: a `derivative`, or slopes from `left` and `right`, or neither and the `reason`.

    `sort` is that of `singular.SORTS`, "smooth" for a derivative, "undefined" where there is no value.
    """

    sort: str
    derivative: float | None = None
    left: float | None = None
    right: float | None = None
    reason: str = ""

    def judge(self, given: float | str) -> str:
        """How a number that somebody gives stands to it."""
        if isinstance(given, str):
            return NOT_TOLD
        if self.derivative is not None:
            return RIGHT if _same(given, self.derivative) else WRONG
        ends = [end for end in (self.left, self.right) if end is not None]
        if given != given:
            return WRONG if self.sort == "corner" else NOT_TOLD if ends else RIGHT
        if any(_same(given, end) for end in ends):
            return POSSIBLE if len(ends) == 2 else RIGHT
        between = len(ends) == 2 and min(ends) <= given <= max(ends)
        return POSSIBLE if between and math.isfinite(given) else WRONG


@dataclass(slots=True)
class Opinion:
    """What one convention gives: a number for each input, or "raises", "not offered", "undefined", "unclear".

    `verdicts` says how each stands to what is right, `apart` that each is possible but not all together, as (0, 0) is
    no subgradient of max(x, y) at a tie, `sources` where the rules that mattered are written down, and `remarks` what
    else there is to know.
    """

    by: str
    title: str
    gradient: dict[str, float | str]
    verdicts: dict[str, str] = field(default_factory=dict)
    apart: bool = False
    sources: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """The worst of the verdicts; "" where there is no input."""
        all_of_them = [*self.verdicts.values(), *([APART] if self.apart else [])]
        return min(all_of_them, key=VERDICTS.index, default="")

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON has it; what is empty is absent."""
        record: dict[str, Any] = {"by": self.by, "title": self.title, "gradient": json_value(self.gradient)}
        rest = {"verdicts": self.verdicts, "apart": self.apart, "sources": self.sources, "remarks": self.remarks}
        return record | {name: value for name, value in rest.items() if value}


@dataclass(slots=True)
class Opinions:
    """A program at a point, what is right there, and what each convention gives."""

    program: str
    canonical: str
    inputs: dict[str, Any]
    output: str
    value: float | None
    truth: dict[str, Truth]
    opinions: list[Opinion]

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON has it."""
        truth = {}
        for name, one in self.truth.items():
            known = {"sort": one.sort, "derivative": one.derivative, "left": one.left, "right": one.right}
            truth[name] = json_value({key: value for key, value in known.items() if value is not None})
            if one.reason:
                truth[name]["reason"] = one.reason
        record: dict[str, Any] = {"program": self.program, "canonical": self.canonical}
        record |= {"inputs": json_value(self.inputs), "output": self.output}
        if self.value is not None:
            record["value"] = json_value(self.value)
        return record | {"truth": truth, "opinions": [one.to_dict() for one in self.opinions]}


def opinions(program: str | Program, inputs: Mapping[str, Number], wrt: Sequence[str] | None = None) -> Opinions:
    """What each convention gives at a point. Raises `Mistake` for what a user can get wrong.

    >>> found = opinions("max(x, 0)", {"x": 0})
    >>> [(one.by, one.gradient["x"]) for one in found.opinions][:1], found.truth["x"].right
    ([('minimum-norm', 0.0)], 1.0)
    >>> {one.by: one.gradient["x"] for one in found.opinions if one.by in ("torch", "tensorflow")}
    {'torch': 0.5, 'tensorflow': 1.0}
    """
    program = Program(program) if isinstance(program, str) else program
    closed = program.at(inputs, wrt=wrt)
    closed.gradient()  # of a vector there is none
    here = closed.told()
    if not here.is_scalar and not isinstance(closed.value(), Hole):
        from backprop.opening import MOST_NODES

        raise TooLargeToOpen(MOST_NODES)
    truth = _truth(here)
    given = [_of_slopes(program, inputs, wrt, name) for name in SLOPES]
    given += [_of_framework(program, inputs, wrt, framework(name)) for name in FRAMEWORKS]
    for one in given:
        one.verdicts = {name: truth[name].judge(slope) for name, slope in one.gradient.items()}
        one.apart = _is_apart(here, truth, one)
        if one.by == "nan":  # it is asked not to choose
            one.verdicts |= {name: NOT_TOLD for name, slope in one.gradient.items() if slope != slope}
    value = here.answer()
    return Opinions(
        program=here.syntax.source,
        canonical=canonical(here.syntax),
        inputs={name: closed.kind.record(closed.values[closed.graph.inputs[name]]) for name in closed.given},
        output=here.graph.ids[here.graph.output],
        value=None if isinstance(value, Hole) else value,
        truth=truth,
        opinions=given,
    )


def _is_apart(point: Point, truth: Mapping[str, Truth], one: Opinion) -> bool:
    """Whether numbers that are possible each by itself are no subgradient together (`singular`, the convex hull)."""
    if not point.is_scalar:  # a whole array has no value
        return False
    nodes = {node: point.name_of(node) for node in point.wrt if truth[point.name_of(node)].sort == "corner"}
    if len(nodes) < 2 or any(one.verdicts[name] != POSSIBLE for name in nodes.values()):
        return False
    beside = gradients_beside(point, list(nodes))
    if not beside:
        return False
    given = [one.gradient[name] for name in nodes.values()]
    away = widened(point, list(nodes), beside, given)
    size = max(abs(part) for each in beside for part in each)
    return bool(max(map(abs, away)) > size * CLOSE)


def _same(one: float, other: float) -> bool:
    if one != one or not math.isfinite(one) or not math.isfinite(other):
        return one == other
    return math.isclose(one, other, rel_tol=CLOSE, abs_tol=1e-300)


def _truth(point: Point) -> dict[str, Truth]:
    """What there is in each input."""
    beside = {one.of: one for one in one_sided(point)}
    found = {}
    for name, slope in point.slopes().items():
        one = beside.get(name)
        if is_number(slope) and (one is None or one.sort == "smooth"):
            found[name] = Truth("smooth", derivative=slope)
        elif one is None or isinstance(point.answer(), Hole):
            found[name] = Truth("undefined", reason=why(point, slope) if isinstance(slope, Hole) else "overflow")
        else:
            left, right = (end if isinstance(end, float) else None for end in (one.left, one.right))
            found[name] = Truth(one.sort, left=left, right=right)
    return found


def _of_slopes(
    program: Program,
    inputs: Mapping[str, Number],
    wrt: Sequence[str] | None,
    convention: str,
) -> Opinion:
    """One of the conventions about the true slopes."""
    here = program.at(inputs, wrt=wrt, convention=convention)
    title = "backprop" if convention == MINIMUM_NORM else convention
    gradient = {name: "undefined" if isinstance(slope, Hole) else slope for name, slope in here.slopes().items()}
    return Opinion(convention, title, gradient, sources=[MEANT[convention]])


def _of_framework(
    program: Program, inputs: Mapping[str, Number], wrt: Sequence[str] | None, found: Framework
) -> Opinion:
    """What a framework gives, with the rules that mattered."""
    here = program.at(inputs, wrt=wrt, convention=found.name)
    title = f"{found.title} {found.version}"
    names = list(here.slopes())
    used = list(_rows(here))
    missing = _missing(used, found)
    if missing:
        said = [f"it has no {missing}"]
        return Opinion(found.name, title, dict.fromkeys(names, "not offered"), remarks=said)
    raising = list(_raising(here, used, found))
    if raising:
        return Opinion(found.name, title, dict.fromkeys(names, "raises"), remarks=raising)
    sources, said = list(_sources(here, used, found)), list(_remarks(here, used, found))
    gradient = here.slopes()
    if _has_singular_matrix(here):
        return Opinion(found.name, title, dict.fromkeys(names, "unclear"), remarks=[OF_MATRICES])
    if found.simplifies and len(used) > 1:  # what the rules make NaN may have a number once it is simplified
        gradient = {name: "unclear" if slope != slope else slope for name, slope in gradient.items()}
    return Opinion(found.name, title, gradient, sources=sources, remarks=said)


def remarks(point: Point) -> list[str]:
    """What a reader should know of the answers of a framework; nothing under a convention that is none.

    >>> from backprop.point import at
    >>> remarks(at("cbrt(x)", {"x": 8}, convention="torch"))
    ['PyTorch 2.14.1 has no cbrt(x): the rule of the table of operations stands in']
    """
    if point.convention not in FRAMEWORKS:
        return []
    found, used = framework(point.convention), list(_rows(point))
    title = f"{found.title} {found.version}"
    missing = _missing(used, found)
    said = [f"{title} raises an exception here, {text}" for text in _raising(point, used, found)]
    if missing:
        said.append(f"{title} has no {missing}: the rule of the table of operations stands in")
    return said + [f"{title}: {text}" for text in _remarks(point, used, found)]


def _remarks(point: Point, used: Sequence[tuple[int, str]], found: Framework) -> Iterator[str]:
    """What is to be said of the operations in use besides their rules."""
    names = dict.fromkeys(name for _, name in used if name in found.remarks and name not in found.raises)
    yield from (f"{name}: {found.remarks[name]}" for name in names)
    yield from _on_floats(point, used, found)
    if _has_singular_matrix(point):
        yield OF_MATRICES
    if found.simplifies and len(used) > 1 and not all(map(is_number, point.slopes().values())):
        yield f"it simplifies formulas first and may give another number than its rules: {found.simplifies}"


OF_MATRICES = "what it gives for a singular matrix comes of how it takes a matrix apart, which is not modelled here"
# Rows that take a matrix apart.
TAKING_APART = named("inv solve det logdet")


def _has_singular_matrix(point: Point) -> bool:
    """Whether a derivative passes through an operation on a matrix that is singular: its determinant is 0."""
    for node, name in _rows(point):
        if name in TAKING_APART:
            values = list(point.kind.elements(point.values[node]))
            if any(not is_number(one) or (name == "det" and one == 0) for one in values):
                return True
    return False


def _rows(point: Point) -> Iterator[tuple[int, str]]:
    """The operations through which a derivative passes, and the choices between branches."""
    for node in range(len(point.graph)):
        row = point.graph.row(node)
        if row is not None and point.moving[node] and row.name != "copy":
            yield node, row.name


def _missing(used: Sequence[tuple[int, str]], found: Framework) -> str:
    """The operations in use that a framework does not have, as they are written: "log(x, b), x!"."""
    names = dict.fromkeys(name for _, name in used if name in found.missing)
    rows = [ops.by_name(name) for name in names]
    return ", ".join(written(row, [(name, ATOM) for name in row.parameters])[0] for row in rows)


def _raising(point: Point, used: Sequence[tuple[int, str]], found: Framework) -> Iterator[str]:
    for node, name in used:
        operands = point.graph.operands(node)
        if any(point.moving[operands[place]] for place in found.raises.get(name, ())):
            yield f"{name}: {found.remarks[name]}"


def _sources(point: Point, used: Sequence[tuple[int, str]], found: Framework) -> Iterator[str]:
    """The sources of the rules that are the framework's own at these operands, each once."""
    graph, told = point.graph, set()
    for node, name in used:
        row = graph.row(node)
        assert row is not None
        operands = [point.values[operand] for operand in graph.operands(node)]
        if name == "where" and "where" in found.written and "where" not in told:
            told.add("where")
            yield found.written["where"]
        for choice in found.of(name):
            applies = not choice.when or holds(choice.when, row, point.kind, operands, point.values[node])
            if applies and choice.source not in told:
                told.add(choice.source)
                yield choice.source
    if not told:
        yield f"the rules of {found.source}"


def _on_floats(point: Point, used: Sequence[tuple[int, str]], found: Framework) -> Iterator[str]:
    """Where a plain number of Python's raises an exception in the place of an infinity."""
    graph, slopes = point.graph, point.partials.values
    for name in dict.fromkeys(name for _, name in used if name in found.floats):
        places = [range(graph.offsets[node], graph.offsets[node + 1]) for node, one in used if one == name]
        if any(isinstance(slopes[place], float) and math.isinf(slopes[place]) for row in places for place in row):
            yield f"on a Python float, not an array, {name} raises ZeroDivisionError here"

"""Expect: a program carries its own answers, `# expect de/db = 5`, and this holds them against what comes out."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from backprop import bindings
from backprop.figures import figure
from backprop.kinds import Hole
from backprop.mistakes import (
    CannotRead,
    Mistake,
    NoSuchElement,
    NotANumber,
    NumberTooLong,
    Span,
    TwoReadings,
    UnknownNode,
    UnreadableExpectation,
    UnusableNumber,
)
from backprop.notes import notes
from backprop.numerals import numeral
from backprop.point import Number, Point, Program, resolve
from backprop.syntax import normal

_EXPECT = re.compile(r"#[^\S\r\n]*expect[^\S\r\n]+([^\r\n]*[^\s])")
_ID = rf"{bindings.NAME}(?:~[0-9]+)?"
_ELEMENT = re.compile(r"(.*[^\s\]])\s*\[([-−0-9,\s]+)\]")
_SLOPE = re.compile(rf"[d∂]\s*({_ID})\s*/\s*[d∂]\s*({_ID})")
_EQUALS = re.compile(r"(.*?)\s*(?<![<>!=])=(?!=)\s*(.*)")
_PLACE = rf"{_ID}(?:\s*\[[0-9,\s]+\])?"
_PATHS = re.compile(rf"paths\s+from\s+({_PLACE})(?:\s+to\s+({_PLACE}))?")
_LATER = re.compile(r"after\s+(?:([1-9][0-9]{0,4})\s+)?steps?\s+(?:of\s+)?(\S+)\s+(.+)")
_DECIMAL = re.compile(r"[-−+]?[0-9]*[.,]([0-9]+)(?:[eE]([-−+]?[0-9]+))?")


@dataclass(frozen=True, slots=True)
class Difference:
    """One expectation that does not hold: its line in the file, what it says, and what is found instead."""

    line: int
    expected: str
    found: str


@dataclass(slots=True)
class Result:
    """A program held against its expectations. `mistake` is what was wrong with it when nothing expected that."""

    path: str
    count: int = 0
    differences: list[Difference] = field(default_factory=list)
    mistake: Mistake | None = None

    @property
    def fine(self) -> bool:
        return not self.differences and self.mistake is None

    @property
    def exit_code(self) -> int:
        """0 all hold, 1 something differs, 2 the file cannot be read."""
        if isinstance(self.mistake, CannotRead):
            return self.mistake.exit_code
        return 0 if self.fine else 1

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON holds it."""
        record: dict[str, Any] = {"file": self.path, "expectations": self.count, "holds": self.fine}
        record["differences"] = [
            {"line": one.line, "expected": one.expected, "found": one.found} for one in self.differences
        ]
        if self.mistake is not None:
            record["mistake"] = {"code": self.mistake.code, "text": self.mistake.cause}
        return record


def run(path: str, text: str | None = None) -> Result:
    """The program in a file (or `text`) held against its expectations. A mistake in it is part of the result."""
    result = Result(path)
    try:
        text = normal(bindings.read_file(path) if text is None else text)
        _hold(result, text)
    except Mistake as mistake:
        result.mistake = mistake if isinstance(mistake, CannotRead) else mistake.within(text or "", path)
    return result


def _hold(result: Result, text: str) -> None:
    expected = [(found[1], found.span(1)) for found in _EXPECT.finditer(text)]
    result.count = len(expected)
    mistaken = [(said, span) for said, span in expected if said.startswith("mistake")]
    try:
        program = Program(text, result.path)
        point = program.at({})
    except Mistake as mistake:
        if not mistaken:
            raise
        for said, span in mistaken:
            wanted = said.removeprefix("mistake").strip()
            if wanted != mistake.code:
                result.differences.append(Difference(_line(text, span), said, f"mistake {mistake.code}"))
        for said, span in expected:
            if (said, span) not in mistaken:
                result.differences.append(Difference(_line(text, span), said, f"mistake {mistake.code}"))
        return
    checker = _Checker(program, point)
    for said, span in expected:
        try:
            found = checker.differs(said, span)
        except UnreadableExpectation as mistake:
            raise mistake.within(text, result.path) from None
        except (NoSuchElement, UnknownNode) as mistake:
            found = mistake.cause
        if found is not None:
            result.differences.append(Difference(_line(text, span), said, found))


def _line(text: str, span: Span) -> int:
    return text.count("\n", 0, span[0]) + 1


class _Checker:
    """A program at a point, asked one expectation after another; `given` are inputs that have left their defaults."""

    def __init__(self, program: Program, point: Point, given: dict[str, Number] | None = None) -> None:
        self.program = program
        self.point = point
        self.given = given or {}
        self.shape = point.kind.shape

    @cached_property
    def notes(self) -> list[str]:
        return [note.code for note in notes(self.point)]

    def differs(self, said: str, span: Span) -> str | None:
        """What is found instead of what was said, None when it holds."""
        word, _, rest = said.partition(" ")
        rest = rest.strip()
        if word == "mistake":
            return "the program is well formed"
        later = _LATER.fullmatch(said)
        if later is not None:
            return self.later(int(later[1] or 1), later[2], span).differs(later[3], span)
        if word == "note" and "=" not in said:
            return None if rest in self.notes else f"notes: {', '.join(self.notes) or 'none'}"
        if word == "undefined" and "=" not in said:
            return self.differs_from_undefined(rest, span)
        equation = _EQUALS.fullmatch(said)
        if equation is None:
            raise UnreadableExpectation("this is no expectation that I know", span)
        left, right = equation.groups()
        paths = _PATHS.fullmatch(left)
        if paths:
            if not re.fullmatch("[0-9]+", right):
                raise UnreadableExpectation("a number of paths is a whole number", span)
            count = str(self.count(paths[1], paths[2]))
            return None if count == (right.lstrip("0") or "0") else f"{left} = {count}"
        found = self.answer(left, span)
        if isinstance(found, Hole):
            return "undefined"
        if right.startswith("["):
            return self.differs_as_array(left, found, right, span)
        if self.shape(found):
            return f"{left} is an array of shape {self.shape(found)}"
        return self.differs_as_number(left, found, right, span)

    def differs_as_number(self, left: str, found: Any, right: str, span: Span) -> str | None:
        wanted, tolerance = self.wanted(right, span)
        if found == wanted or abs(found - wanted) <= tolerance:
            return None
        digits = max(6, len(re.sub(r"\D", "", right)) + 2)
        return f"{left} = {figure(found, min(digits, 17))}"

    def differs_as_array(self, left: str, found: Any, right: str, span: Span) -> str | None:
        """The first element that is not what was said, or a shape that is not; None when all hold.

        Each element is met as a number alone would be; `[1, 2] ± 0.1` says how far off any of them may be.
        """
        from backprop import arrays_text

        text, sign, allowed = right.partition("±")
        try:
            shape, wanted = arrays_text.read(text.strip(), left)
        except Mistake as mistake:
            raise UnreadableExpectation(mistake.cause, span) from None
        for one in wanted:
            self.wanted(one + sign + allowed, span)  # all can be read, whatever differs first
        if shape != self.shape(found):
            return f"{left} is " + (f"an array of shape {self.shape(found)}" if self.shape(found) else figure(found))
        for position, (one, number) in enumerate(zip(wanted, found.flat, strict=True)):
            place = arrays_text.element_name(left, arrays_text.indices_of(shape, position)).replace("][", ",")
            differs = "undefined" if isinstance(number, Hole) else None
            differs = differs or self.differs_as_number(place, number, one + sign + allowed, span)
            if differs is not None:
                return differs
        return None

    def later(self, steps: int, rate: str, span: Span) -> _Checker:
        """The program after so many steps of gradient descent on its params."""
        from backprop.step import descend

        try:
            taken = list(descend(self.program, self.given, self.number(rate), steps))
        except (NotANumber, NumberTooLong, TwoReadings, UnusableNumber) as mistake:
            raise UnreadableExpectation(mistake.cause, span) from None
        given = {**self.given, **taken[-1].after}
        return _Checker(self.program, self.program.at(given), given)

    def differs_from_undefined(self, rest: str, span: Span) -> str | None:
        if not rest:
            return None if "undefined" in self.notes else "defined: " + f"{figure(self.point.answer())}"
        found = self.answer(rest, span)
        return None if isinstance(found, Hole) else f"{rest} = {figure(found)}"

    def answer(self, left: str, span: Span) -> Any:
        """The value of a node, or one node's slope with respect to another: `e`, `de/db`, `∂z/∂w`.

        Of an array also some of it: `a[0]`, `dL/dW[0, 1]`.
        """
        part = _ELEMENT.fullmatch(left)
        if part is not None:
            return self.part(self.answer(part[1], span), left, part[2], span)
        slope = _SLOPE.fullmatch(left)
        if slope is not None:
            return self.slope(slope[1], slope[2], span)
        if not re.fullmatch(_ID, left):
            raise UnreadableExpectation(f"{left} is neither the name of a node nor a slope such as de/db", span)
        node = self.node(left)
        value = self.point.answer() if node == self.point.graph.output else self.point.values[node]
        return Hole(0, "branch") if value is None else value

    def part(self, found: Any, left: str, places: str, span: Span) -> Any:
        """An element of an array, or a row: what stands at the places."""
        if isinstance(found, Hole):
            return found
        try:
            return found[tuple(int(place.replace("−", "-")) for place in places.split(","))]
        except (IndexError, TypeError):
            raise UnreadableExpectation(f"there is no {left}: the shape is {self.shape(found)}", span) from None
        except ValueError:
            raise UnreadableExpectation(f"{left} does not name an element, such as W[0, 1]", span) from None

    def slope(self, of: str, by: str, span: Span) -> Any:
        from backprop.reverse import reverse

        here = self.program.at(self.given, wrt=[by])
        if self.shape(here.values[self.node(of)]):
            raise UnreadableExpectation(f"{of} is an array: a slope such as dL/dW is that of one number", span)
        if self.node(of) == here.graph.output:
            return here.gradient()[here.name_of(here.wrt[0])]
        adjoint = reverse(here.graph, here.partials, here.kind, self.node(of)).adjoints[here.wrt[0]]
        adjoint = 0.0 if adjoint is None else adjoint
        shape = self.shape(here.values[here.wrt[0]])
        if shape == self.shape(adjoint):
            return adjoint
        from numpy import broadcast_to

        return broadcast_to(adjoint, shape)  # the same for every element

    def count(self, source: str, target: str | None) -> int:
        """The paths between two nodes; those of an array lead through its opened program, from all its elements."""
        from backprop.arrays_text import element_name, element_of
        from backprop.path_sums import count, routes
        from backprop.tracing import trace

        def written(name: str) -> str:
            stem, at = element_of(name)
            return element_name(self.point.graph.ids[self.node(stem)], at)

        found = trace(self.program, self.given, wrt=[source], check=False, opened=())
        return sum(map(count, routes(found, [written(source)], None if target is None else written(target))))

    def node(self, name: str) -> int:
        return resolve(self.point.graph, [name])[0]

    def wanted(self, right: str, span: Span) -> tuple[float, float]:
        """The number that is expected, and how far off an answer may be.

        `0.885352` is met by what rounds to it, `6` and `1/3` by what is equal but for the last digits of a double;
        `6 ± 0.1` says how far itself.
        """
        text, sign, allowed = right.partition("±")
        try:
            number = self.number(text)
            if sign:
                return number, abs(self.number(allowed))
        except (NotANumber, NumberTooLong, TwoReadings, UnusableNumber) as mistake:
            raise UnreadableExpectation(mistake.cause, span) from None
        tolerance = 1e-12 * abs(number) if number - number == 0 else 0.0
        decimal = _DECIMAL.fullmatch(text.strip())
        if decimal is not None:
            exponent = int((decimal[2] or "0").replace("−", "-")) - len(decimal[1])
            tolerance = max(tolerance, 0.5000001 * float(f"1e{exponent}"))
        return number, tolerance

    def number(self, text: str) -> float:
        if text.strip().startswith("["):
            raise NotANumber("it", text)
        try:
            return float(self.point.kind.number(numeral(text.strip(), "it")))
        except OverflowError:
            raise UnusableNumber("it", text.strip()) from None

"""Directions: derivatives along a vector, pulled back from a number, and further on along a line.

All of them belong to one output f of the inputs x: `jvp` is ∇f·v, the slope along v; `vjp` is u·∇f, what a change of
f is worth in each input; `hvp` is the Hessian times v, how the gradient changes along v; the Taylor series is
f(x + t·v) in powers of t.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

from backprop import kinds
from backprop import point as points
from backprop.figures import DEFAULT_FIGURES
from backprop.gradient import refuse_holes
from backprop.higher import hessians
from backprop.higher.curvature import product
from backprop.higher.gradient_graph import Curvature
from backprop.higher.taylor import LARGEST_ORDER, Coefficient, derivative, taylor
from backprop.kinds import Hole, Kind, is_number
from backprop.mistakes import (
    Mistake,
    NotANumber,
    OptionValue,
    Span,
    Undefined,
    UnreadableDirection,
    closest,
    listed,
)
from backprop.notes import notes
from backprop.numerals import numeral
from backprop.point import Number, Point, Program
from backprop.record import Note, Value, json_value
from backprop.working import slope

Direction = str | Mapping[str, Number] | Sequence[Number] | Number


@dataclass(slots=True)
class Directional:
    """What was asked of a program at a point besides its gradient; absent is None.

    A direction holds the numbers of all names in `wrt`. `taylor` are the coefficients c_0, c_1, ...
    """

    output: str
    value: Value
    wrt: list[str]
    gradient: dict[str, Value]
    jvp: tuple[dict[str, Value], Value] | None = None
    vjp: tuple[Value, dict[str, Value]] | None = None
    hvp: tuple[dict[str, Value], dict[str, Value]] | None = None
    hessian: dict[str, dict[str, Value]] | None = None
    taylor: tuple[dict[str, Value], list[Coefficient]] | None = None
    notes: list[Note] = field(default_factory=list)
    figures: int = DEFAULT_FIGURES

    def to_dict(self) -> dict[str, Any]:
        """The record for JSON; absent things are absent."""
        record: dict[str, Any] = {"value": self.value, "gradient": self.gradient}
        if self.jvp is not None:
            record["jvp"] = {"direction": self.jvp[0], "value": self.jvp[1]}
        if self.vjp is not None:
            record["vjp"] = {"seed": self.vjp[0], "gradient": self.vjp[1]}
        if self.hvp is not None:
            record["hvp"] = {"direction": self.hvp[0], "product": self.hvp[1]}
        if self.hessian is not None:
            record["hessian"] = self.hessian
        if self.taylor is not None:
            direction, coefficients = self.taylor
            record["taylor"] = {
                "direction": direction,
                "coefficients": [one.value for one in coefficients],
                "derivatives": [one.derivative for one in coefficients],
            }
        if self.notes:
            record["notes"] = [{"code": note.code, "text": note.text} for note in self.notes]
        plain: dict[str, Any] = json_value(record)
        return plain


def directional(
    program: str | Program,
    inputs: Mapping[str, Number],
    wrt: Sequence[str] | None = None,
    kind: str | Kind = "real",
    limit: int | None = None,
    *,
    jvp: Direction | None = None,
    vjp: Number | None = None,
    hvp: Direction | None = None,
    hessian: bool = False,
    order: int | None = None,
) -> Directional:
    """The value, the gradient and what else is asked. `order` is that of the Taylor series, along `jvp`.

    A direction is {"x": 1, "y": 0}, [1, 0] in the order of `wrt`, or such a text; a name left out has 0. With one
    input it may be one number. Slopes and series may be along any node in `wrt`, second derivatives along inputs alone
    (`NoVariable`). Raises `Mistake`, `Undefined` where something that was asked for does not exist or overflows.

    >>> found = directional("x^2*y", {"x": 3, "y": 2}, jvp="x=1", hvp=[0, 1], vjp=2)
    >>> found.jvp, found.hvp[1], found.vjp[1]
    (({'x': 1.0, 'y': 0.0}, 12.0), {'x': 6.0, 'y': 0.0}, {'x': 24.0, 'y': 18.0})
    """
    if order is not None and not (isinstance(order, int) and 1 <= order <= LARGEST_ORDER):
        raise OptionValue("order", order, f"A whole number from 1 up to {LARGEST_ORDER}, like: --order 10")
    here = points.at(program, inputs, wrt, kinds.by_name(kind, limit))
    refuse_holes(here)
    record, names = here.kind.record, [here.name_of(node) for node in here.wrt]
    if not names and (jvp is not None or hvp is not None or order is not None):
        raise UnreadableDirection(
            "the program has no input, so it has no direction", "Leave --jvp, --hvp, --order out."
        )
    gradient = here.gradient()
    found = Directional(
        output=here.graph.ids[here.graph.output],
        value=record(here.answer()),
        wrt=names,
        gradient={name: record(value) for name, value in gradient.items()},
        figures=here.kind.figures,
        notes=[note for note in notes(here) if note.code in ("kink", "singular", "lost-digits")],
    )
    if vjp is not None:
        text = str(vjp)
        try:
            seed = _number(here.kind, "vjp", _Part("u", text, None, (0, len(text))))
        except Mistake as mistake:
            raise mistake.within(text) from None
        pulled = {name: here.kind.scale(seed, value) for name, value in gradient.items()}
        for name, value in pulled.items():
            _refuse_beyond(here, f"u·{slope(found.output, name)}", value)
        found.vjp = record(seed), {name: record(value) for name, value in pulled.items()}
    if jvp is not None:
        along = vector(here, "jvp", jvp)
        moved = _slope(here, along)
        _refuse_beyond(here, f"∂{found.output}/∂v", moved)
        found.jvp = _named(here, along), record(moved)
    # the gradient as a graph is for those who ask for second derivatives: a slope may be along any node, too
    of = hessians.curvature(here, passes=None if hessian else 1) if hessian or hvp is not None else None
    if of is not None and hvp is not None:
        along = vector(here, "hvp", hvp)
        found.hvp = _named(here, along), _product(here, of, along)
    if of is not None and hessian:
        rows = hessians.matrix(here, hessians.settled(here, of))
        found.hessian = {one: {other: record(value) for other, value in row.items()} for one, row in rows.items()}
    if order is not None:
        if jvp is None and len(here.wrt) != 1:
            raise UnreadableDirection(
                f"a series goes along one line, and there are {len(here.wrt)} inputs",
                f"Say along which: --jvp {','.join(f'{name}=1' for name in names[:2])}   or one input: --wrt x",
            )
        along = vector(here, "jvp", jvp if jvp is not None else [1])
        found.taylor = _named(here, along), series(here, along, order)
        lost = [f"c{one.k} = {one.value}" for one in found.taylor[1] if one.k > 1 and one.lost is not None]
        if lost:
            text = f"doubles have lost too many digits of some coefficients; with more digits {', '.join(lost[:6])}"
            found.notes.append(Note("lost-digits", text))
        beyond = next((one.k for one in found.taylor[1] if one.derivative in (inf, -inf)), 0)
        if beyond:
            text = f"derivatives from k = {beyond} on are beyond {here.kind.largest}; --kind digits:30 carries them"
            found.notes.append(Note("overflow", text))
        only = next((one.only for one in found.taylor[1] if one.only), "")
        if only:
            text = f"the coefficients are those {only} alone: there is no value on the other side"
            found.notes.append(Note("one-sided", text))
    return found


def series(here: Point, along: Mapping[int, Any], order: int) -> list[Coefficient]:
    """The Taylor coefficients as a record holds them. Raises `Undefined` for the first that does not exist."""
    told = taylor(here, along, order, check=False)
    for one in told:
        if one.value is None:
            what = f"the coefficient of t^{one.k}, in f(x + t*v),"
            raise Undefined(f"{what} does not exist here: {one.why}").within(here.syntax.source)
        one.derivative = here.kind.record(derivative(here.kind, one))
        one.value = here.kind.record(one.value)
    return told


def _slope(here: Point, along: Mapping[int, Any]) -> Any:
    """The slope along a direction: one forward pass, or from the gradient where the rules alone cannot tell that."""
    gradient, kind = here.gradient(), here.kind
    tangent = here.tangents(along)[here.graph.output]
    if gradient == here.by_rules() and not isinstance(tangent, Hole):
        return kind.number("0") if tangent is None else tangent
    total = kind.number("0")
    for node, amount in along.items():
        if not kind.is_zero(amount):
            total = kind.add(total, kind.scale(gradient[here.name_of(node)], amount))
    return total


def _product(here: Point, of: Curvature, along: Mapping[int, Any]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    output = here.graph.ids[here.graph.output]
    for node, (value, why) in zip(here.wrt, product(here, of, along), strict=True):
        name = here.name_of(node)
        if value is None or isinstance(value, Hole):
            raise Undefined(f"how {slope(output, name)} moves along this is undefined: {why}").within(
                here.syntax.source
            )
        _refuse_beyond(here, f"∂({slope(output, name)})/∂v", value)
        found[name] = here.kind.record(value)
    return found


def _refuse_beyond(here: Point, what: str, value: Any) -> None:
    """Raise `Undefined` for an answer that the kind of number cannot carry."""
    if here.kind.digits and not is_number(value):
        raise Undefined(f"{what} overflows: it is beyond {here.kind.largest}").within(here.syntax.source)


def _named(here: Point, along: Mapping[int, Any]) -> dict[str, Value]:
    return {here.name_of(node): here.kind.record(amount) for node, amount in along.items()}


# -- reading a direction ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Part:
    """One component: its name, its number as text, and where these stand (None where nothing was typed)."""

    name: str
    number: str
    name_span: Span | None = None
    number_span: Span | None = None


def vector(here: Point, option: str, given: Direction) -> dict[int, Any]:
    """A direction as numbers of the point's kind, one for each node of `here.wrt`. Raises `UnreadableDirection`."""
    names = [here.name_of(node) for node in here.wrt]
    if isinstance(given, str):
        try:
            return _vector(here, option, names, _parts(option, given, names))
        except Mistake as mistake:
            raise mistake.within(given) from None
    if isinstance(given, Mapping):
        return _vector(here, option, names, [_Part(name, str(number)) for name, number in given.items()])
    numbers: list[Any] = list(given) if isinstance(given, Iterable) else [given]  # an array is as good as a list
    if len(numbers) != len(names):
        raise _unlike(option, len(numbers), names)
    return _vector(here, option, names, [_Part(*pair) for pair in zip(names, map(str, numbers), strict=True)])


def _vector(here: Point, option: str, names: list[str], parts: list[_Part]) -> dict[int, Any]:
    amounts: dict[str, Any] = {}
    for part in parts:
        if part.name not in names:
            near = closest(part.name, names)
            guess = f"Did you mean {near}?   " if near else ""
            told = f"nothing that is differentiated by is called {part.name}"
            raise UnreadableDirection(told, f"{guess}There are: {listed(names) or 'no inputs'}", part.name_span)
        if part.name in amounts:
            raise UnreadableDirection(f"{part.name} stands here twice", "Keep one of them.", part.name_span)
        amounts[part.name] = _number(here.kind, option, part)
    zero = here.kind.number("0")
    return {node: amounts.get(name, zero) for node, name in zip(here.wrt, names, strict=True)}


def _number(kind: Kind, option: str, part: _Part) -> Any:
    try:
        found = kind.number(numeral(part.number, part.name))
        if bool(found - found == 0):
            return found
    except (NotANumber, OverflowError, ValueError, ZeroDivisionError):
        pass
    shown = part.number or "nothing"
    example = f"--{option} 2" if option == "vjp" else f"--{option} {_example([part.name])}"
    raise UnreadableDirection(
        f"{shown} is no finite number", f"Numbers look like 1, -0.5, 1e-3: {example}", part.number_span
    )


def _example(names: Sequence[str]) -> str:
    return ",".join(f"{name}={1 - min(place, 1)}" for place, name in enumerate(names[:3]))


def _unlike(option: str, count: int, names: Sequence[str], span: Span | None = None) -> UnreadableDirection:
    here = "1 number stands here" if count == 1 else f"{count} numbers stand here"
    there = "there is 1 input" if len(names) == 1 else f"there are {len(names)} inputs"
    return UnreadableDirection(
        f"{here}, and {there}: {listed(names) or 'none'}",
        f"Give one for each, in this order, or name them: --{option} {_example(names)}",
        span,
    )


def _parts(option: str, text: str, names: list[str]) -> list[_Part]:
    """The components of `x=1,y=0`, `[1, 0]` or a single number."""
    stripped = text.strip()
    begin = text.index(stripped)
    if stripped.startswith("["):
        if not stripped.endswith("]"):
            raise UnreadableDirection("this [ has no ]", f"Write --{option} [1, 0]", (begin, begin + 1))
        numbers = list(_pieces(stripped[1:-1], begin + 1))
        if len(numbers) != len(names):
            raise _unlike(option, len(numbers), names, (begin, begin + len(stripped)))
        return [_Part(name, number, None, span) for name, (number, span) in zip(names, numbers, strict=True)]
    if "=" not in text:
        if len(names) != 1:
            told = f"it names none of the {len(names)} inputs: {listed(names) or 'there are none'}"
            repair = f"Write --{option} {_example(names)}   or all of them in brackets, in this order"
            raise UnreadableDirection(told, repair, (begin, begin + max(1, len(stripped))))
        return [_Part(names[0], stripped, None, (begin, begin + len(stripped)))]
    found: list[_Part] = []
    for piece, (start, end) in _pieces(text, 0):
        name, equals, number = piece.partition("=")
        if not equals:
            cause = f"{piece or 'nothing'} is no name=number"
            repair = f"Write --{option} {_example(names)}   (a decimal point is written 0.5)"
            raise UnreadableDirection(cause, repair, (start, max(end, start + 1)))
        at_number = start + len(name) + 1 + len(number) - len(number.lstrip())
        name, number = name.strip(), number.strip()
        spans = (start, start + len(name)), (at_number, max(end, at_number + 1))
        found.append(_Part(_normal(name), number, *spans))
    return found


def _pieces(text: str, start: int) -> Iterator[tuple[str, Span]]:
    """What stands between commas, each with where it stands; nothing of an empty text."""
    for piece in text.split(",") if text.strip() else []:
        inside = piece.strip()
        at = start + piece.index(inside)
        yield inside, (at, at + len(inside))
        start += len(piece) + 1


def _normal(name: str) -> str:
    if name.isascii():
        return name
    from backprop.syntax import normal

    return normal(name)

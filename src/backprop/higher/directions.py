"""Directions: derivatives along a vector, pulled back from a number, and further on along a line.

All of them belong to one output f of the inputs x: `jvp` is ∇f·v, the slope along v; `vjp` is u·∇f, what a change of
f is worth in each input; `hvp` is the Hessian times v, how the gradient changes along v; the Taylor series is
f(x + t·v) in powers of t.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, prod
from typing import TYPE_CHECKING, Any

from backprop import kinds
from backprop import point as points
from backprop.arrays_text import written
from backprop.figures import DEFAULT_FIGURES, json_value
from backprop.forward import weighted
from backprop.gradient import refuse_holes
from backprop.higher import hessians
from backprop.higher.blocks import Part, blocks
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
from backprop.notation import slope
from backprop.notes import notes
from backprop.numerals import numeral
from backprop.point import Number, Point, Program
from backprop.record import Note, Value

if TYPE_CHECKING:
    from backprop.higher.jacobian_records import Jacobian, Sparsity

Shape = tuple[int, ...]
# what parts the components of a direction, and the brackets between which nothing does
_BETWEEN = re.compile(r"[\[\],]|\s+(?=[^\W\d]\w*(?:\[[^\]]*\])?\s*=)")
Direction = str | Mapping[str, Number] | Sequence[Number] | Number


@dataclass(slots=True)
class Directional:
    """What was asked of a program at a point besides its gradient; absent is None.

    A direction holds the numbers of all names in `wrt`. `taylor` are the coefficients c_0, c_1, ... Of a program with
    arrays `parts` tells what is asked for; the Hessian is by the elements then, `W[0,1]`. A vector has no gradient.
    """

    output: str
    value: Value | None
    wrt: list[str]
    gradient: dict[str, Value] | None
    jvp: tuple[dict[str, Value], Value] | None = None
    vjp: tuple[Value, dict[str, Value]] | None = None
    hvp: tuple[dict[str, Value], dict[str, Value]] | None = None
    hessian: dict[str, dict[str, Value]] | None = None
    taylor: tuple[dict[str, Value], list[Coefficient]] | None = None
    jacobian: Jacobian | None = None
    sparsity: list[Sparsity] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    figures: int = DEFAULT_FIGURES

    @property
    def exit_code(self) -> int:
        """1 where the opened program disagrees with a Jacobian, else 0."""
        return 1 if self.jacobian is not None and self.jacobian.disagrees else 0

    def to_dict(self) -> dict[str, Any]:
        """The record for JSON; absent things are absent."""
        record: dict[str, Any] = {}
        if self.value is not None:
            record["value"] = self.value
        if self.gradient is not None:
            record["gradient"] = self.gradient
        if self.jvp is not None:
            record["jvp"] = {"direction": self.jvp[0], "value": self.jvp[1]}
        if self.vjp is not None:
            record["vjp"] = {"seed": self.vjp[0], "gradient": self.vjp[1]}
        if self.hvp is not None:
            record["hvp"] = {"direction": self.hvp[0], "product": self.hvp[1]}
        if self.hessian is not None:
            record["hessian"] = blocks(self.hessian, self.parts) if self.parts else self.hessian
        if self.jacobian is not None:
            record["jacobian"] = self.jacobian.to_dict()
            record["passes"] = self.jacobian.passes.to_dict()
            if self.jacobian.witnesses:
                record["witnesses"] = [hessians.item_record(witness) for witness in self.jacobian.witnesses]
        if self.sparsity:
            record["sparsity"] = [one.to_dict() for one in self.sparsity]
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


@dataclass(frozen=True, slots=True)
class Question:
    """What `directional` was asked for."""

    jvp: Direction | None
    vjp: Number | None
    hvp: Direction | None
    hessian: bool
    order: int | None
    jacobian: bool
    sparsity: bool
    mode: str | None


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
    jacobian: bool = False,
    sparsity: bool = False,
    mode: str | None = None,
) -> Directional:
    """The value, the gradient and what else is asked. `order` is that of the Taylor series, along `jvp`.

    A direction is {"x": 1, "y": 0}, [1, 0] in the order of `wrt`, or such a text; a name left out has 0. With one
    input it may be one number. Slopes and series may be along any node in `wrt`, second derivatives along inputs alone
    (`NoVariable`). The part of an array is an array of its shape; `vjp` has the shape of the output.
    `jacobian` has `mode` "forward" or "reverse", the cheaper one if None; with `sparsity` the pattern of the Jacobian,
    or of the Hessian, stands in place of its numbers.
    Raises `Mistake`, `Undefined` where something that was asked for does not exist or overflows.

    >>> found = directional("x^2*y", {"x": 3, "y": 2}, jvp="x=1", hvp=[0, 1], vjp=2)
    >>> found.jvp, found.hvp[1], found.vjp[1]
    (({'x': 1.0, 'y': 0.0}, 12.0), {'x': 6.0, 'y': 0.0}, {'x': 24.0, 'y': 18.0})
    """
    if order is not None and not (isinstance(order, int) and 1 <= order <= LARGEST_ORDER):
        raise OptionValue("order", order, f"A whole number from 1 up to {LARGEST_ORDER}, like: --order 10")
    here = points.at(program, inputs, wrt, kinds.by_name(kind, limit))
    if not here.wrt and (jvp is not None or hvp is not None or order is not None):
        raise UnreadableDirection(
            "the program has no input, so it has no direction", "Leave --jvp, --hvp, --order out."
        )
    asked = Question(jvp, vjp, hvp, hessian, order, jacobian, sparsity, mode)
    found_patterns: list[Sparsity] = []
    if sparsity:
        from backprop.higher.outputs import Outputs  # with NumPy
        from backprop.higher.patterns import patterns

        found_patterns = patterns(Outputs(here), asked)
        if all(one is None for one in (jvp, vjp, hvp, order)):
            return Directional(here.graph.ids[here.graph.output], None, here.names(), None, sparsity=found_patterns)
    if here.is_scalar:
        found = of_numbers(here, asked)
    else:
        from backprop.higher.array_directions import of_arrays

        found = of_arrays(here, asked)
    found.sparsity = found_patterns
    return found


def of_numbers(here: Point, asked: Question) -> Directional:
    """What is asked of a scalar program. Raises as `directional` does."""
    refuse_holes(here)
    record, names = here.kind.record, here.names()
    gradient = here.gradient()
    found = Directional(
        output=here.graph.ids[here.graph.output],
        value=record(here.answer()),
        wrt=names,
        gradient={name: record(value) for name, value in gradient.items()},
        figures=here.kind.figures,
        notes=[note for note in notes(here) if note.code in ("kink", "singular", "lost-digits")],
    )
    if asked.jacobian and not asked.sparsity:
        from backprop.higher.jacobians import told_jacobian
        from backprop.higher.outputs import Outputs

        found.jacobian = told_jacobian(Outputs(here), asked.mode)
    if asked.vjp is not None:
        seed = amounts(here, "vjp", asked.vjp, ())
        pulled = {name: here.kind.scale(seed, value) for name, value in gradient.items()}
        for name, value in pulled.items():
            refuse_beyond(here, f"u·{slope(found.output, name)}", value)
        found.vjp = record(seed), {name: record(value) for name, value in pulled.items()}
    if asked.jvp is not None:
        along = vector(here, "jvp", asked.jvp)
        moved = _slope(here, along)
        refuse_beyond(here, f"∂{found.output}/∂v", moved)
        found.jvp = named(here, along), record(moved)
    second_derivatives(here, found, asked, None if asked.hvp is None else vector(here, "hvp", asked.hvp))
    if asked.order is not None:
        if asked.jvp is None and len(here.wrt) != 1:
            raise needs_line(dict.fromkeys(names, ()), len(names))
        along = vector(here, "jvp", asked.jvp if asked.jvp is not None else [1])
        taylor_series(here, found, along, asked.order)
    return found


def second_derivatives(here: Point, found: Directional, asked: Question, along: Mapping[int, Any] | None) -> None:
    """Put the Hessian of a scalar program, and its product with `along`, into the answer, as far as they are asked."""
    full = asked.hessian and not asked.sparsity
    if along is None and not full:
        return
    # the gradient as a graph is for those who ask for second derivatives: a slope may be along any node, too
    of = hessians.curvature(here, passes=None if full else 1)
    if along is not None:
        found.hvp = named(here, along), _product(here, of, along)
    if full:
        rows, record = hessians.matrix(here, hessians.settled(here, of)), here.kind.record
        found.hessian = {one: {other: record(value) for other, value in row.items()} for one, row in rows.items()}


def needs_line(shapes: Mapping[str, Shape], count: int) -> UnreadableDirection:
    """The mistake for a series without a direction, where there are so many numbers to move."""
    return UnreadableDirection(
        f"a series goes along one line, and there are {count} inputs",
        f"Say along which: {_example('jvp', shapes)}   or one input: --wrt {next(iter(shapes))}",
    )


def taylor_series(here: Point, found: Directional, along: Mapping[int, Any], order: int) -> None:
    """Put the Taylor series of a scalar program along a direction into the answer, with what is to be said of it."""
    told = series(here, along, order)
    found.taylor = named(here, along), told
    lost = [f"c{one.k} = {one.value}" for one in told if one.k > 1 and one.lost is not None]
    if lost:
        text = f"doubles have lost too many digits of some coefficients; with more digits {', '.join(lost[:6])}"
        found.notes.append(Note("lost-digits", text))
    beyond = next((one.k for one in told if one.derivative in (inf, -inf)), 0)
    if beyond:
        text = f"derivatives from k = {beyond} on are beyond {here.kind.largest}; --kind digits:30 carries them"
        found.notes.append(Note("overflow", text))
    only = next((one.only for one in told if one.only), "")
    if only:
        text = f"the coefficients are those {only} alone: there is no value on the other side"
        found.notes.append(Note("one-sided", text))


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
    terms = ((gradient[here.name_of(node)], amount) for node, amount in along.items())
    return weighted(kind, terms, here.graph.output)


def _product(here: Point, of: Curvature, along: Mapping[int, Any]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    output = here.graph.ids[here.graph.output]
    for node, (value, why) in zip(here.wrt, product(here, of, along), strict=True):
        name = here.name_of(node)
        if value is None or isinstance(value, Hole):
            raise Undefined(f"how {slope(output, name)} moves along this is undefined: {why}").within(
                here.syntax.source
            )
        refuse_beyond(here, f"∂({slope(output, name)})/∂v", value)
        found[name] = here.kind.record(value)
    return found


def refuse_beyond(here: Point, what: str, value: Any) -> None:
    """Raise `Undefined` for an answer that the kind of number cannot carry."""
    if here.kind.digits and not (math.isfinite(value) if isinstance(value, float) else is_number(value)):
        raise Undefined(f"{what} overflows: it is beyond {here.kind.largest}").within(here.syntax.source)


def named(here: Point, along: Mapping[int, Any]) -> dict[str, Value]:
    """A direction as a record holds it."""
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
    found = components(here.kind, option, given, dict.fromkeys(here.names(), ()))
    return {node: found[here.name_of(node)] for node in here.wrt}


def components(kind: Kind, option: str, given: Direction, shapes: Mapping[str, Shape]) -> dict[str, Any]:
    """A direction by names, each part of it in the shape that the name has; 0 for what is left out.

    Raises `UnreadableDirection`, and what `numerals.numeral` does for an array that cannot be read.
    """
    names = list(shapes)
    single = len(names) == 1 and bool(shapes[names[0]])  # an array alone needs no name
    if isinstance(given, str):
        try:
            return _components(kind, option, shapes, _parts(option, given, shapes, single))
        except Mistake as mistake:
            raise mistake.within(given) from None
    if isinstance(given, Mapping):
        return _components(kind, option, shapes, [_Part(name, _text(number, name)) for name, number in given.items()])
    numbers: list[Any] = list(given) if isinstance(given, Iterable) else [given]  # an array is as good as a list
    if single:
        numbers = [given]
    if len(numbers) != len(names):
        raise _unlike(option, len(numbers), shapes)
    parts = [_Part(name, _text(number, name)) for name, number in zip(names, numbers, strict=True)]
    return _components(kind, option, shapes, parts)


def amounts(here: Point, option: str, given: Any, shape: Shape) -> Any:
    """A number, or an array of this shape, for each number of an output: what is pulled back. Raises as `vector`."""
    text = _text(given, "u")
    try:
        return _amount(here.kind, option, _Part("u", text, None, (0, len(text))), shape)
    except Mistake as mistake:
        raise mistake.within(text) from None


def _text(number: Any, name: str) -> str:
    return numeral(number, name) if hasattr(number, "tolist") or isinstance(number, (list, tuple)) else str(number)


def _shape(value: Any) -> Shape:
    return tuple(getattr(value, "shape", ()))


def _components(kind: Kind, option: str, shapes: Mapping[str, Shape], parts: list[_Part]) -> dict[str, Any]:
    names, found = list(shapes), dict[str, Any]()
    for part in parts:
        if part.name not in shapes:
            near = closest(part.name, names)
            guess = f"Did you mean {near}?   " if near else ""
            told = f"nothing that is differentiated by is called {part.name}"
            raise UnreadableDirection(told, f"{guess}There are: {listed(names) or 'no inputs'}", part.name_span)
        if part.name in found:
            raise UnreadableDirection(f"{part.name} stands here twice", "Keep one of them.", part.name_span)
        found[part.name] = _amount(kind, option, part, shapes[part.name])
    return {name: found[name] if name in found else kind.number(_written("0", shape)) for name, shape in shapes.items()}


def _amount(kind: Kind, option: str, part: _Part, shape: Shape) -> Any:
    try:
        found = kind.number(numeral(part.number, part.name))
        if all(bool(one - one == 0) for one in kind.elements(found)):
            if _shape(found) == shape:
                return found
            raise UnreadableDirection(
                f"{'this' if part.name == 'u' else part.name} needs {_said(shape)}, and here is {_said(_shape(found))}",
                f"Write {_example(option, {part.name: shape})}",
                part.number_span,
            )
    except NotANumber:
        if part.number.lstrip().startswith("["):
            raise  # it says which element
    except (OverflowError, ValueError, ZeroDivisionError):
        pass
    told = "holds a number that is not finite" if part.number.lstrip().startswith("[") else "is no finite number"
    raise UnreadableDirection(
        f"{part.number or 'nothing'} {told}",
        f"Numbers look like 1, -0.5, 1e-3: {_example(option, {part.name: shape})}",
        part.number_span,
    )


def _written(number: str, shape: Shape) -> str:
    return written(shape, [number] * prod(shape))


def _said(shape: Shape) -> str:
    """A shape in words: one number, or an array of (2, 3)."""
    return f"an array of shape {shape}" if shape else "one number"


def _example(option: str, shapes: Mapping[str, Shape]) -> str:
    """The option as it may be written, for the shapes that are asked for; large arrays come from files.

    >>> _example("jvp", {"x": (), "y": ()}), _example("jvp", {"W": (2, 1)}), _example("vjp", {"u": (100,)})
    ('--jvp x=1,y=0', '--jvp "W=[[1], [1]]"', '--vjp @u.npy')
    """
    numbers = [
        _written(str(1 - min(place, 1)), shape) if prod(shape) < 10 else f"@{name.partition('[')[0]}.npy"
        for place, (name, shape) in enumerate(shapes.items())
    ]
    if option == "vjp":
        told = numbers[0]
    else:
        pairs = [f"{name}={number}" for name, number in zip(shapes, numbers, strict=True)][:3]
        told = (", " if any(shapes.values()) else ",").join(pairs)
    return f'--{option} "{told}"' if "[" in told else f"--{option} {told}"


def _unlike(option: str, count: int, shapes: Mapping[str, Shape], span: Span | None = None) -> UnreadableDirection:
    here = "1 number stands here" if count == 1 else f"{count} numbers stand here"
    there = "there is 1 input" if len(shapes) == 1 else f"there are {len(shapes)} inputs"
    return UnreadableDirection(
        f"{here}, and {there}: {listed(list(shapes)) or 'none'}",
        f"Give one for each, in this order, or name them: {_example(option, shapes)}",
        span,
    )


def _parts(option: str, text: str, shapes: Mapping[str, Shape], single: bool) -> list[_Part]:
    """The components of `x=1,y=0`, `W=[[1, 0]] x=2`, `[1, 0]` or a single number (or array, where `single`)."""
    names = list(shapes)
    stripped = text.strip()
    begin = text.index(stripped)
    if single and "=" not in text:
        return [_Part(names[0], stripped, None, (begin, begin + max(1, len(stripped))))]
    if stripped.startswith("["):
        if not stripped.endswith("]"):
            raise UnreadableDirection("this [ has no ]", f"Write --{option} [1, 0]", (begin, begin + 1))
        numbers = list(_pieces(stripped[1:-1], begin + 1))
        if len(numbers) != len(names):
            raise _unlike(option, len(numbers), shapes, (begin, begin + len(stripped)))
        return [_Part(name, number, None, span) for name, (number, span) in zip(names, numbers, strict=True)]
    if "=" not in text:
        if len(names) != 1:
            told = f"it names none of the {len(names)} inputs: {listed(names) or 'there are none'}"
            repair = f"Write {_example(option, shapes)}   or all of them in brackets, in this order"
            raise UnreadableDirection(told, repair, (begin, begin + max(1, len(stripped))))
        return [_Part(names[0], stripped, None, (begin, begin + len(stripped)))]
    found: list[_Part] = []
    for piece, (start, end) in _pieces(text, 0):
        name, equals, number = piece.partition("=")
        if not equals:
            cause = f"{piece or 'nothing'} is no name=number"
            repair = f"Write {_example(option, shapes)}   (a decimal point is written 0.5)"
            raise UnreadableDirection(cause, repair, (start, max(end, start + 1)))
        at_number = start + len(name) + 1 + len(number) - len(number.lstrip())
        name, number = name.strip(), number.strip()
        spans = (start, start + len(name)), (at_number, max(end, at_number + 1))
        found.append(_Part(_normal(name), number, *spans))
    return found


def _pieces(text: str, start: int) -> Iterator[tuple[str, Span]]:
    """What stands between commas, or before the next `name=`, outside of brackets; each with where it stands.

    Nothing of an empty text.

    >>> [piece for piece, _ in _pieces("W=[[1, 0], [0, 1]] x=2, y=3", 0)]
    ['W=[[1, 0], [0, 1]]', 'x=2', 'y=3']
    """
    if not text.strip():
        return
    depth, begin = 0, 0
    for found in [*_BETWEEN.finditer(text), None]:
        sign = "" if found is None else found[0]
        if sign in ("[", "]"):
            depth += 1 if sign == "[" else -1
            continue
        if found is not None and (depth > 0 or (sign != "," and not text[begin : found.start()].strip())):
            continue
        piece = text[begin : len(text) if found is None else found.start()]
        inside = piece.strip()
        at = start + begin + piece.index(inside)
        yield inside, (at, at + len(inside))
        begin = len(text) if found is None else found.end()


def _normal(name: str) -> str:
    if name.isascii():
        return name
    from backprop.syntax import normal

    return normal(name)

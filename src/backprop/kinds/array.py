"""Arrays: values that are vectors, matrices and stacks of them, over any kind of number.

A value is a number of the kind below (shape ()) or a NumPy array: float64 over doubles, and over every other kind an
array of objects, each a number of that kind. What is not elementwise is defined here twice: in general, by the
elementary operations of the kind below, and over doubles by NumPy. Over a kind that writes a graph the general
definitions open an operation into its scalar graph.

Over doubles an element without a value is NaN; whoever needs to know why asks the opened program.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from backprop import ops
from backprop.arrays_text import is_array, parts
from backprop.kinds import Hole, Kind, Misfit, is_number, value_at
from backprop.kinds.real import Real
from backprop.ops import Row

Shape = tuple[int, ...]

# An array of more elements than this is refused before it is made.
MOST_ELEMENTS = {"float64": 10_000_000, "object": 2_000_000}
# So many operations of another kind than doubles are as many as somebody waits for.
MOST_OPERATIONS = 20_000_000
LAYERNORM_EPSILON = "1e-5"


def shape_of(value: Any) -> Shape:
    """The shape of a value; a number has ()."""
    return value.shape if isinstance(value, np.ndarray) else ()


def elements(value: Any) -> Iterator[Any]:
    """The numbers in a value, row by row."""
    # a list has floats; NumPy's own numbers would warn of inf - inf
    return iter(value.ravel().tolist() if isinstance(value, np.ndarray) else (value,))


@dataclass(slots=True)
class Diagonal:
    """The partials of an elementwise operation: one for each element of its result, of shape `target`.

    `source` is the shape of the operand, which may have been broadcast. `zeros` tells what a 0 does there, as in
    `conventions`: a partial of 0 "skips" what lies behind (a branch not taken) or "masks" any adjoint, an adjoint of 0
    stays 0 ("quiet"); nothing of that when it is empty.
    """

    values: Any
    source: Shape
    target: Shape
    zeros: str = ""


@dataclass(slots=True)
class Reduced:
    """The partials of a reduction: one for each element of its operand; `axis` is the one that went, None for all."""

    values: Any
    source: Shape
    axis: int | None
    zeros: str = ""


@dataclass(slots=True)
class Linear:
    """A partial that is a linear map: `rule` (a `rules.Carried`) with the operands and the result put in."""

    rule: Any
    operands: list[Any]
    out: Any


class Flat:
    """A point whose answers are arrays, as the kind of its numbers sees it: a number for each element."""

    def __init__(self, point: Any) -> None:
        answers = [point.value()] if point.shape else [point.value(), *point.by_rules().values()]
        self._numbers = [number for answer in answers for number in elements(answer)]
        self._row = point.graph.row
        self._nodes = len(point.graph)
        self._size = sum(math.prod(shape_of(value)) for value in point.values)
        self.graph = self

    def __len__(self) -> int:
        return self._size

    def row(self, node: int) -> Row | None:
        """The row of a node of the graph."""
        row: Row | None = self._row(node) if node < self._nodes else None
        return row

    def value(self) -> Any:
        """The first of the numbers that answer."""
        return self._numbers[0]

    def by_rules(self) -> dict[int, Any]:
        """All the others."""
        return dict(enumerate(self._numbers[1:]))

    def promises(self, digits: int, unit: Any) -> bool:
        """Whether the answers are good when they stay: of arrays nothing more is known."""
        return True


class Arrays(Kind):
    """Arrays over a kind of number; see the module."""

    arrays = True

    def __init__(self, base: Kind) -> None:
        self.base = base
        self.name, self.figures, self.largest = base.name, base.figures, base.largest
        self.digits, self.rounds, self.checked = base.digits, base.rounds, base.checked
        self.propagates, self.eager, self.convention = base.propagates, base.eager, base.convention
        self.intervals, self.unsteady = base.intervals, base.unsteady
        self.most = MOST_ELEMENTS["object"]

    # -- reading and telling

    def number(self, text: str) -> Any:
        """A number, an array ("[[1, 2], [3, 4]]") or the slice of an index ("1:3")."""
        if is_array(text):
            shape, texts = parts(text)
            self.afford(shape, "an array as large as this")
            return self.packed([self.base.number(one) for one in texts], shape)
        if ":" in text:
            return slice(*(int(bound) if bound.strip() else None for bound in text.split(":")))
        return self.base.number(text)

    def packed(self, numbers: Sequence[Any], shape: Shape) -> Any:
        """Numbers, row by row, as an array of that shape."""
        made = np.empty(len(numbers), dtype=object)
        made[:] = numbers
        return self.unwrapped(made.reshape(shape))

    def unwrapped(self, value: Any) -> Any:
        """A value as it is kept: an array of shape () is its number, and a number of NumPy's is a plain one."""
        return (
            value.item()
            if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.ndim)
            else value
        )

    def record(self, value: Any) -> Any:
        if isinstance(value, slice):
            return ":".join("" if bound is None else str(bound) for bound in _bounds(value))
        if not isinstance(value, np.ndarray):
            return self.base.record(value)
        lost = math.nan if self.propagates else None  # NaN is a value like any other there

        def told(one: Any) -> Any:
            return lost if isinstance(one, Hole) or one != one else self.base.record(one)

        return self._nested(value, told)

    def answer(self, value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return self.base.answer(value)
        return value if value.dtype == np.float64 else self._each(self.base.answer, value)

    def _nested(self, value: Any, told: Callable[[Any], Any]) -> Any:
        """An array as nested lists, each number as it is told."""
        flat = np.empty(value.size, dtype=object)
        flat[:] = [told(one) for one in elements(value)]
        return flat.reshape(value.shape).tolist()

    def read(self, record: Any) -> Any:
        if not isinstance(record, list):
            return self.base.read(record)
        shape, at = [], record
        while isinstance(at, list):
            shape.append(len(at))
            at = at[0]
        flat: list[Any] = record
        for _ in shape[1:]:
            flat = [one for row in flat for one in row]
        return self.packed([self.base.read(one) for one in flat], tuple(shape))

    def told(self, value: Any) -> str:
        return self.base.told(value)

    def agreement(self, value: Any, truth: Any) -> float:
        return self.base.agreement(value, truth)

    def nearest(self, value: Any) -> Any:
        return self.base.nearest(value)

    def whole(self, value: Any, what: str = "an axis") -> int:
        """A setting as an integer. Raises `Misfit` for one that is none, ValueError for one without a value."""
        number = getattr(value, "value", value)
        if isinstance(number, Hole) or (isinstance(number, float) and math.isnan(number)):
            raise ValueError(f"{what} has no value")
        if not isinstance(number, (np.ndarray, slice)):
            nearest = float(number)
            if nearest.is_integer() and (number == nearest) is True:
                return int(nearest)
            raise Misfit(f"{what} is a whole number, not {nearest:g}")
        raise Misfit(f"{what} is one whole number")

    # -- what engines ask

    def apply(self, row: Row, operands: list[Any]) -> Any:
        """The value of an operation. Raises `Misfit` for shapes that do not fit."""
        for operand in operands:
            if isinstance(operand, Hole) and not row.conditions:
                return operand
        if row.arrays:
            return self.unwrapped(row.value(self, *operands))
        if any(isinstance(operand, np.ndarray) for operand in operands):
            return self.elementwise(row, operands)
        return self.base.apply(row, operands)

    def slope(self, rule: Any, operands: list[Any], out: Any, position: int = 0) -> Any:
        """A partial: of numbers a number, else one of the records of this module."""
        row = rule.row
        if row.pulls is not None:
            return Linear(rule, operands, out)
        if row.reduces:
            axis = None if len(operands) == 1 else self.whole(operands[1])
            spread = out if axis is None else self.expand(out, axis)
            return Reduced(rule.evaluate(self, operands, spread), shape_of(operands[0]), axis, self._zeros(row))
        if not any(isinstance(operand, np.ndarray) for operand in operands):
            return self.base.slope(rule, operands, out, position)
        return Diagonal(
            self._slopes(rule, operands, out, position), shape_of(operands[position]), shape_of(out), self._zeros(row)
        )

    def _slopes(self, rule: Any, operands: list[Any], out: Any, position: int) -> Any:
        """The partials of an elementwise operation, each as the kind below has it."""

        def slope(*numbers: Any) -> Any:
            value = numbers[-1]
            return value if isinstance(value, Hole) else self.base.slope(rule, list(numbers[:-1]), value, position)

        return self._each(slope, *operands, out)

    def _zeros(self, row: Row) -> str:
        """What a 0 does on the edges of a row, element by element."""
        sort = "" if self.convention is None else self.convention.zeros.get(row.name, "")
        return "skips" if row.locally_constant and not self.eager else sort

    def elements(self, value: Any) -> Iterable[Any]:
        return elements(value)

    def shape(self, value: Any) -> Shape:
        return shape_of(value)

    def spread(self, value: Any, shape: Shape) -> Any:
        return value if isinstance(value, Hole) else self.broadcast(value, shape)

    def shapes(self, row: Row, operands: list[Any]) -> Any:
        return tuple(
            self.whole(operand) if row.is_setting(place) else shape_of(operand)
            for place, operand in enumerate(operands)
        )

    def pull(self, adjoint: Any, partial: Any) -> Any:
        """The adjoint carried back: along a linear map, and added up where the operand was broadcast."""
        if isinstance(partial, Diagonal):
            return self.folded(self.times(adjoint, partial.values, partial.zeros), partial.source, partial.target)
        if isinstance(partial, Reduced):
            spread = adjoint if partial.axis is None else self.expand(adjoint, partial.axis)
            brought = self.times(spread, partial.values, partial.zeros)
            return self.broadcast(brought, partial.source)
        if isinstance(partial, Linear):
            return _met(partial.rule.pull.evaluate(self, partial.operands, partial.out, adjoint))
        if isinstance(adjoint, np.ndarray):
            return self.times(adjoint, partial)
        return self.base.pull(adjoint, partial)

    def push(self, tangent: Any, partial: Any) -> Any:
        """The tangent carried on."""
        if isinstance(partial, Diagonal):
            return self.broadcast(self.times(tangent, partial.values, partial.zeros), partial.target)
        if isinstance(partial, Reduced):
            moved = self.broadcast(self.times(tangent, partial.values, partial.zeros), partial.source)
            return self.total(moved, partial.axis)
        if isinstance(partial, Linear):
            return self._pushed(tangent, partial)
        if isinstance(tangent, np.ndarray):
            return self.times(tangent, partial)
        return self.base.push(tangent, partial)

    def _pushed(self, tangent: Any, partial: Linear) -> Any:
        rule, operands = partial.rule, partial.operands
        if rule.push is not None:
            return _met(rule.push.evaluate(self, operands, partial.out, tangent))
        if rule.row.is_linear_in(rule.position):
            moved = [
                tangent
                if place == rule.position
                else self.broadcast(self.base.number("0"), shape_of(one))
                if rule.row.joint and not rule.row.is_setting(place)
                else one
                for place, one in enumerate(operands)
            ]
            return self.apply(rule.row, moved)
        # the result is one number: its pull is its gradient
        gradient = _met(rule.pull.evaluate(self, operands, partial.out, self.base.number("1")))
        return self.total(self.times(tangent, gradient))

    def times(self, carried: Any, partial: Any, zeros: str = "") -> Any:
        """carried · partial, element by element; `zeros` as in `Diagonal`."""
        return self._each(lambda one, by: _masked(self.base, one, by, zeros), carried, partial)

    def add(self, left: Any, right: Any) -> Any:
        if not isinstance(left, np.ndarray) and not isinstance(right, np.ndarray):
            return self.base.add(left, right)
        return self._each(lambda one, other: _held(self.base.add, one, other), left, right)

    def scale(self, adjoint: Any, partial: Any) -> Any:
        return self.times(adjoint, partial)

    def choose(self, condition: Any) -> bool | None:
        """Neither branch: both are worked out, since the result has the shape to which they are broadcast together."""
        return None

    def is_zero(self, value: Any) -> bool:
        return not isinstance(value, (np.ndarray, Diagonal, Reduced, Linear)) and self.base.is_zero(value)

    def finer(self, point: Any) -> Kind | None:
        """Arrays of the kind in which the opened program has its answers; without one, that the closed one needs."""
        if type(self.base).finer is Kind.finer:
            return None
        opened = point.opened()
        found = self.base.finer(Flat(point)) if opened is None else opened.kind
        return None if found is None or found is self.base else arrays(found)

    def trouble(self, value: Any, operands: list[Any]) -> str | None:
        if isinstance(value, (np.ndarray, slice)):
            return None
        if any(isinstance(one, (np.ndarray, slice)) for one in operands):
            lost = isinstance(value, float) and math.isnan(value) and not self.propagates
            return "indeterminate" if lost else None
        return self.base.trouble(value, operands)

    # -- element by element

    def fitted(self, operands: Sequence[Any]) -> Shape:
        """The shape to which operands are broadcast. Raises `Misfit` where they do not fit, or are too large."""
        shapes = [shape_of(operand) for operand in operands]
        try:
            shape = np.broadcast_shapes(*shapes)
        except ValueError:
            told = ", ".join(f"{{{place}}} is {_said(shape)}" for place, shape in enumerate(shapes) if shape)
            apart = _apart(shapes)
            raise Misfit(f"{told}: {apart}", _broadcasting_repair(shapes)) from None
        self.afford(shape, "the result")
        return shape

    def afford_work(self, count: int, what: str) -> None:
        """Raises `Misfit` for more operations, one number after the other, than anybody waits for."""
        if count > MOST_OPERATIONS:
            raise Misfit(
                f"{what} takes {count:,} operations in kind {self.name}; I do at most {MOST_OPERATIONS:,}",
                "In kind real NumPy does them.",
            )

    def afford(self, shape: Shape, what: str) -> None:
        """Raises `Misfit` for an array that would not fit into memory."""
        count = math.prod(shape)
        if count > self.most:
            raise Misfit(
                f"{what} would have the shape {_said(shape)}, {count:,} elements; I hold at most {self.most:,}",
                "Work on a part of it, or add up before you spread out.",
            )

    def elementwise(self, row: Row, operands: list[Any]) -> Any:
        """An elementary operation on each element; a hole where it has no value."""
        self.fitted(operands)

        def alone(*numbers: Any) -> Any:
            for place in row.conditions:
                if isinstance(numbers[place], Hole):
                    return numbers[place]
            return value_at(-1, row, self.base, list(numbers))

        return self._each(alone, *operands)

    def _each(self, function: Callable[..., Any], *operands: Any) -> Any:
        # NumPy would warn of what a function of one number has dealt with already
        with np.errstate(all="ignore"):
            return self.unwrapped(np.frompyfunc(function, len(operands), 1)(*operands))

    def each(self, name: str, *operands: Any) -> Any:
        """An elementary operation by its name, on numbers or arrays."""
        row = ops.by_name(name)
        if any(isinstance(operand, np.ndarray) for operand in operands):
            return self.elementwise(row, list(operands))
        return value_at(-1, row, self.base, list(operands))

    def broadcast(self, value: Any, shape: Shape) -> Any:
        """The value repeated to a shape that it fits."""
        if shape_of(value) == shape:
            return value
        spread = np.empty(shape, dtype=object if not isinstance(value, np.ndarray) else value.dtype)
        spread[...] = value
        return spread

    def folded(self, value: Any, source: Shape, target: Shape) -> Any:
        """What comes back to an operand of shape `source` that was broadcast to `target`: added up over the copies."""
        if source == target:
            return self.broadcast(value, source)
        value = self.broadcast(value, target)
        for _ in range(len(target) - len(source)):
            value = self.total(value, 0)
        for axis, size in enumerate(source):
            if size == 1 != target[len(target) - len(source) + axis]:
                value = self.expand(self.total(value, axis), axis)
        return value

    # -- many numbers become one

    def _lines(self, x: Any, axis: int | None) -> tuple[list[list[Any]], Shape]:
        """The rows of numbers that are made one each, and the shape of the results."""
        if axis is None:
            return [list(elements(x))], ()
        place = self.axis(x, axis)
        moved = np.moveaxis(x, place, -1)
        return moved.reshape(-1, moved.shape[-1]).tolist(), moved.shape[:-1]

    def axis(self, x: Any, axis: Any, extra: int = 0, operand: int = 0) -> int:
        """An axis of x, the operand at that position, from the front. Raises `Misfit` for one that x has not."""
        count, place = len(shape_of(x)) + extra, self.whole(axis)
        if not -count <= place < count:
            raise Misfit(
                f"{{{operand}}} is {_said(shape_of(x))}: it has no axis {place}",
                f"Its axes are 0 to {count - 1}, or -1 to -{count} from the end."
                if count > 1
                else "It has one axis, 0 (or -1 from the end)."
                if count
                else f"A vector of one number is written with brackets: [{{{operand}}}]",
            )
        return place % count

    def reduced(self, function: Callable[[list[Any]], Any], x: Any, axis: int | None) -> Any:
        """A function of a row of numbers, for each row along an axis, or for all numbers at once."""
        lines, shape = self._lines(x, axis)
        return self.packed([function(line) for line in lines], shape)

    def fold(self, name: str, numbers: Sequence[Any]) -> Any:
        """One operation between all numbers, from the left."""
        total = numbers[0]
        for one in numbers[1:]:
            total = self.each(name, total, one)
        return total

    def total(self, x: Any, axis: int | None = None) -> Any:
        return self.reduced(lambda line: self.fold("add", line), x, axis)

    def prod(self, x: Any, axis: int | None = None) -> Any:
        return self.reduced(lambda line: self.fold("mul", line), x, axis)

    def size(self, x: Any, axis: int | None = None) -> Any:
        shape = shape_of(x)
        return self.base.number(str(math.prod(shape) if axis is None else shape[self.axis(x, axis)]))

    def mean(self, x: Any, axis: int | None = None) -> Any:
        return self.each("div", self.total(x, axis), self.size(x, axis))

    def _extreme(self, name: str, numbers: list[Any]) -> Any:
        row = ops.by_name(name)
        if len(numbers) > row.most and not self.intervals:
            # what ties for the first place is compared at once, so that all of it shares the slope
            known = [getattr(one, "value", one) for one in numbers]
            if all(map(is_number, known)):
                first = max(known) if name == "max" else min(known)
                numbers = sorted(numbers, key=lambda one: getattr(one, "value", one) != first)
        while len(numbers) > 1:
            groups = [numbers[at : at + row.most] for at in range(0, len(numbers), row.most)]
            numbers = [group[0] if len(group) == 1 else self.each(name, *group) for group in groups]
        return numbers[0]

    def greatest(self, x: Any, axis: int | None = None) -> Any:
        return self.reduced(lambda line: self._extreme("max", line), x, axis)

    def least(self, x: Any, axis: int | None = None) -> Any:
        return self.reduced(lambda line: self._extreme("min", line), x, axis)

    def logsumexp(self, x: Any, axis: int | None = None) -> Any:
        return self.reduced(lambda line: self.fold("logaddexp", line), x, axis)

    def norm(self, x: Any, axis: int | None = None) -> Any:
        def length(line: list[Any]) -> Any:
            if len(line) == 1:
                return self.each("abs", line[0])
            two = self.base.number("2")
            return self.each("sqrt", self.fold("add", [self.each("pow", one, two) for one in line]))

        return self.reduced(length, x, axis)

    # -- order and shape

    def transpose(self, x: Any) -> Any:
        return np.swapaxes(x, -1, -2) if len(shape_of(x)) > 1 else x

    def reshape(self, x: Any, size: Sequence[Any]) -> Any:
        shape = tuple(self.whole(one) for one in size)
        count = math.prod(shape_of(x))
        known = math.prod(one for one in shape if one != -1)
        free = shape.count(-1)
        if free > 1 or any(one < -1 or one == 0 for one in shape) or (count % known if free else count != known):
            raise Misfit(
                f"{{0}} is {_said(shape_of(x))}, {count} elements, which is no {_said(shape)}",
                "The sizes multiply to the number of elements; one of them may be -1, what is left over.",
            )
        return self.unwrapped(np.reshape(self.array(x), shape))

    def array(self, x: Any) -> Any:
        """The value as an array, a number as one of shape ()."""
        if isinstance(x, np.ndarray):
            return x
        made = np.empty((), dtype=object)
        made[()] = x
        return made

    def expand(self, x: Any, axis: Any) -> Any:
        return np.expand_dims(self.array(x), self.axis(x, axis, 1))

    def places(self, x: Any, at: Sequence[Any], operand: int = 0) -> tuple[Any, ...]:
        """Subscripts of x, the operand at that position, as NumPy takes them. Raises `Misfit` for one outside."""
        shape = shape_of(x)
        if len(at) > len(shape):
            more = f"{len(at)} subscripts are more than the axes it has" if shape else "it has no elements to take"
            raise Misfit(f"{{{operand}}} is {_said(shape)}: {more}")
        taken = [math.prod(shape_of(one)) for one in at if isinstance(one, np.ndarray)]
        if taken:  # a slice takes no more than there is
            self.afford((math.prod(taken), *shape[len(at) :]), "the result")
        found: list[Any] = []
        lists = 0
        for axis, one in enumerate(at):
            if isinstance(one, slice):
                if not len(range(*one.indices(shape[axis]))):
                    raise Misfit(f"{{{operand}}} is {_said(shape)}: {self.record(one)} takes nothing along axis {axis}")
                found.append(one)
                continue
            wanted = [self.whole(place, "a place") for place in elements(one)]
            for place in wanted:
                if not -shape[axis] <= place < shape[axis]:
                    raise Misfit(
                        f"{{{operand}}} is {_said(shape)}: there is no place {place} along axis {axis}",
                        f"Places are counted from 0 to {shape[axis] - 1}, or from the end: -1 to -{shape[axis]}.",
                    )
            lists += isinstance(one, np.ndarray)
            found.append(np.array(wanted).reshape(one.shape) if isinstance(one, np.ndarray) else wanted[0])
        if lists > 1:
            raise Misfit("only one subscript may be a list of places", "Take one after the other: x[[0, 1]][:, [0, 2]]")
        return tuple(found)

    def index(self, x: Any, at: Sequence[Any]) -> Any:
        return self.unwrapped(self.array(self.array(x)[self.places(x, at)]))

    def put_places(self, x: Any, into: Any, at: Sequence[Any]) -> Any:
        """The numbers of the places, row by row, at which `put` puts x. Raises `Misfit` where x does not fit there."""
        shape = shape_of(into)
        numbers = np.arange(math.prod(shape)).reshape(shape)[self.places(into, at, 1)]
        try:
            fits = np.broadcast_shapes(shape_of(x), np.shape(numbers)) == np.shape(numbers)
        except ValueError:
            fits = False
        if not fits:
            raise Misfit(f"{{0}} is {_said(shape_of(x))}, and the places are {_said(np.shape(numbers))}")
        return numbers

    def put(self, x: Any, into: Any, at: Sequence[Any]) -> Any:
        numbers = self.put_places(x, into, at)
        made = self.broadcast(self.base.number("0"), shape_of(into))
        flat = made.reshape(-1)
        taken: set[int] = set()
        for place, one in zip(np.ravel(numbers).tolist(), elements(self.broadcast(x, np.shape(numbers))), strict=True):
            flat[place] = self.each("add", flat[place], one) if place in taken else one
            taken.add(place)
        return flat.reshape(made.shape)

    def stack(self, x: Sequence[Any]) -> Any:
        shapes = {shape_of(one) for one in x}
        if len(shapes) > 1:
            one, other = (next(place for place, value in enumerate(x) if shape_of(value) == shape)
                          for shape in list(dict.fromkeys(map(shape_of, x)))[:2])  # fmt: skip
            raise Misfit(f"{{{one}}} is {_said(shape_of(x[one]))} and {{{other}}} is {_said(shape_of(x[other]))}: "
                         "the parts of a vector have one shape")  # fmt: skip
        self.afford((len(x), *shapes.pop()), "the result")
        return np.stack([self.array(one) for one in x])

    def concat(self, x: Sequence[Any], axis: Any, offset: int = 0) -> Any:
        """Arrays joined along an axis; the first of them is the operand at the position `offset`."""
        first = shape_of(x[0])
        place = self.axis(x[0], axis, operand=offset)
        for number, one in enumerate(x):
            shape = shape_of(one)
            if len(shape) != len(first) or any(
                size != other for at, (size, other) in enumerate(zip(shape, first, strict=True)) if at != place
            ):
                raise Misfit(
                    f"{{{offset}}} is {_said(first)} and {{{number + offset}}} is {_said(shape)}: they differ beside "
                    f"axis {place}, along which they are joined",
                    "All of them have as many axes, and the sizes along all others are the same.",
                )
        joined = sum(shape_of(one)[place] for one in x)
        self.afford((*first[:place], joined, *first[place + 1 :]), "the result")
        return np.concatenate(list(x), axis=place)

    def diagonal(self, x: Any) -> Any:
        shape = shape_of(x)
        if len(shape) == 2:
            self.square(x)
            return np.diagonal(x).copy()
        if len(shape) != 1:
            raise Misfit(f"{{0}} is {_said(shape)}: diag takes a vector or a square matrix")
        self.afford((shape[0], shape[0]), "the matrix")
        made = self.broadcast(self.base.number("0"), (shape[0], shape[0]))
        for place, one in enumerate(x):
            made[place, place] = one
        return made

    def identity(self, n: Any) -> Any:
        size = self.whole(n)
        if size < 1:
            raise Misfit(f"the identity has at least one row, not {size}")
        self.afford((size, size), "the identity")
        return self.diagonal(self.broadcast(self.base.number("1"), (size,)))

    # -- products

    def matmul(self, a: Any, b: Any) -> Any:
        left, right = shape_of(a), shape_of(b)
        if not left or not right:
            raise Misfit("{0} is " + _said(left) + ", {1} is " + _said(right) + ": @ takes vectors and matrices",
                         "A number times an array is written with *: {0}*{1}")  # fmt: skip
        inner, other = left[-1], right[-2] if len(right) > 1 else right[0]
        if inner != other:
            raise Misfit(
                f"{{0}} is {_said(left)}, {{1}} is {_said(right)}: the inner sizes {inner} and {other} differ",
                _matmul_repair(left, right),
            )
        rows = a if len(left) > 1 else a[None, :]
        columns = b if len(right) > 1 else b[:, None]
        stacks = _stacks(rows.shape[:-2], columns.shape[:-2])
        self.afford((*stacks, rows.shape[-2], columns.shape[-1]), "the product")
        made = self._product(rows, columns, stacks)
        if len(left) == 1:
            made = made[..., 0, :]
        return self.unwrapped(self.array(made[..., 0] if len(right) == 1 else made))

    def _product(self, a: Any, b: Any, stacks: Shape) -> Any:
        a = np.broadcast_to(a, (*stacks, *a.shape[-2:]))
        b = np.broadcast_to(b, (*stacks, *b.shape[-2:]))
        self.afford_work(math.prod(stacks) * a.shape[-2] * a.shape[-1] * b.shape[-1], "the product")
        made = np.empty((*stacks, a.shape[-2], b.shape[-1]), dtype=object)
        for at in np.ndindex(*stacks):
            for row in range(a.shape[-2]):
                for column in range(b.shape[-1]):
                    made[(*at, row, column)] = self._sum_of_products(a[(*at, row)], b[(*at, slice(None), column)])
        return made

    def _sum_of_products(self, x: Any, y: Any) -> Any:
        return self.fold(
            "add", [self.each("mul", one, other) for one, other in zip(elements(x), elements(y), strict=True)]
        )

    def dot(self, x: Any, y: Any) -> Any:
        if shape_of(x) != shape_of(y) or len(shape_of(x)) > 1:
            matrix = len(shape_of(x)) > 1 or len(shape_of(y)) > 1
            raise Misfit(f"{{0}} is {_said(shape_of(x))}, {{1}} is {_said(shape_of(y))}: dot takes two vectors of one "
                         "size", "Matrices are multiplied with @: {0} @ {1}" if matrix
                         else "Every product of their elements is outer({0}, {1}).")  # fmt: skip
        return self._sum_of_products(self.array(x).reshape(-1), self.array(y).reshape(-1))

    def outer(self, x: Any, y: Any) -> Any:
        if len(shape_of(x)) != 1 or len(shape_of(y)) != 1:
            raise Misfit(f"{{0}} is {_said(shape_of(x))}, {{1}} is {_said(shape_of(y))}: outer takes two vectors",
                         "Its result is the matrix of all products of their elements.")  # fmt: skip
        return self.each("mul", x[:, None], y[None, :])

    # -- square matrices

    def square(self, a: Any) -> int:
        shape = shape_of(a)
        if len(shape) != 2 or shape[0] != shape[1]:
            apart = f", and the sizes {shape[0]} and {shape[1]} differ" if len(shape) == 2 else ""
            raise Misfit(
                f"{{0}} is {_said(shape)}: this takes a square matrix{apart}",
                "A stack is taken apart: {0}[0] is its first matrix." if len(shape) > 2 else "",
            )
        return shape[0]

    def trace(self, a: Any) -> Any:
        self.square(a)
        return self.fold("add", np.diagonal(a).tolist())

    def eliminated(self, a: Any, b: Any) -> Any:
        """The columns x with a @ x = b, by Gauss elimination with the largest pivot of each column.

        Raises ZeroDivisionError for a singular matrix.
        """
        size = self.square(a)
        self.afford_work(size * size * (size + 3 * b.shape[1]) // 3, "the elimination")
        rows = [[*left, *right] for left, right in zip(a.tolist(), b.tolist(), strict=True)]
        for column in range(size):
            best = max(range(column, size), key=lambda row: self.magnitude(rows[row][column]))
            rows[column], rows[best] = rows[best], rows[column]
            if self.base.is_zero(rows[column][column]) and not self.propagates:
                raise ZeroDivisionError("the matrix is singular")
            self._clear(rows, column)
        found: list[list[Any]] = [[] for _ in range(size)]
        for row in range(size - 1, -1, -1):
            for place in range(size, len(rows[row])):
                left = rows[row][place]
                for column in range(row + 1, size):
                    product = self.each("mul", rows[row][column], found[column][place - size])
                    left = self.each("sub", left, product)
                found[row].append(self.each("div", left, rows[row][row]))
        return self.packed([one for line in found for one in line], (size, len(found[0])))

    def _clear(self, rows: list[list[Any]], step: int) -> None:
        """Take the row of a pivot from those below it, so that nothing of its column is left there."""
        for row in range(step + 1, len(rows)):
            factor = self.each("div", rows[row][step], rows[step][step])
            for place in range(step + 1, len(rows[row])):
                product = self.each("mul", factor, rows[step][place])
                rows[row][place] = self.each("sub", rows[row][place], product)

    def magnitude(self, number: Any) -> Any:
        """How large a number is, to choose a pivot; of a ball how large at least, of a hole nothing is known."""
        number = getattr(number, "value", number)
        if isinstance(number, Hole):
            return -1
        size = abs(number)
        bounds = getattr(size, "bounds", None)
        return size if bounds is None else bounds[0]

    def pivots(self, a: Any) -> tuple[list[Any], int]:
        """Factors whose product, times the sign, is the determinant.

        The pivots are the largest of all that is left. Where what is left vanishes, its determinant is worked out
        without a division, so that a singular matrix has its derivatives too.
        """
        size = self.square(a)
        self.afford_work(size**3 // 3, "the elimination")
        rows, sign, largest = a.tolist(), 1, None
        for step in range(size - 1):
            places = [(row, column) for row in range(step, size) for column in range(step, size)]
            best, column = max(places, key=lambda at: self.magnitude(rows[at[0]][at[1]]))
            pivot = self.magnitude(rows[best][column])
            largest = pivot if largest is None else largest
            if pivot >= 0 and pivot <= self.negligible(largest):
                rest = [row[step:] for row in rows[step:]]
                return [*(rows[at][at] for at in range(step)), self._free(rest)], sign
            rows[step], rows[best] = rows[best], rows[step]
            for row in rows:
                row[step], row[column] = row[column], row[step]
            sign *= (-1) ** ((best != step) + (column != step))
            self._clear(rows, step)
        return [rows[at][at] for at in range(size)], sign

    def negligible(self, largest: Any) -> Any:
        """How large what is left of an elimination may be and still be nothing but rounding."""
        if self.intervals or not self.rounds:
            return largest * 0
        return largest * 10.0 ** (2 - min(self.digits or 16, 300))

    def inverse(self, a: Any) -> Any:
        return self.eliminated(a, self.identity(self.base.number(str(self.square(a)))))

    def solve(self, a: Any, b: Any) -> Any:
        size = self.square(a)
        shape = shape_of(b)
        if len(shape) not in (1, 2) or shape[0] != size:
            raise Misfit(
                f"{{0}} is {_said(shape_of(a))}, {{1}} is {_said(shape)}: "
                f"the right side is a vector or a matrix of {size} rows, as many as {{0}} has"
            )
        found = self._solved(a, b if len(shape) == 2 else b[:, None])
        return found if len(shape) == 2 else found[:, 0]

    def _solved(self, a: Any, b: Any) -> Any:
        return self.eliminated(a, b)

    def determinant(self, a: Any) -> Any:
        size = self.square(a)
        if size <= 3:  # without a division, so that a singular matrix has its derivatives
            return self._expanded(a.tolist())
        factors, sign = self.pivots(a)
        product = self.fold("mul", factors)
        return self.each("neg", product) if sign < 0 else product

    def _free(self, rows: list[list[Any]]) -> Any:
        """The determinant of a matrix without a division.

        By Bird, A simple division-free algorithm for computing determinants, Information Processing Letters 111, 2011.
        """
        size = len(rows)
        if size <= 3:
            return self._expanded(rows)
        made = rows
        for _ in range(size - 1):
            below: Any = None
            upper: list[list[Any]] = []
            for row in range(size - 1, -1, -1):
                diagonal = None if below is None else self.each("neg", below)
                upper.insert(0, [diagonal, *made[row][row + 1 :]])
                below = made[row][row] if below is None else self.each("add", below, made[row][row])
            made = [
                [
                    self._partial_product(upper[row], [rows[at][column] for at in range(row, size)])
                    for column in range(size)
                ]
                for row in range(size)
            ]
        return made[0][0] if size % 2 else self.each("neg", made[0][0])

    def _partial_product(self, left: list[Any], right: list[Any]) -> Any:
        """The sum of the products of two rows, of which the first may begin with nothing."""
        terms = [self.each("mul", one, other) for one, other in zip(left, right, strict=True) if one is not None]
        return self.fold("add", terms) if terms else self.base.number("0")

    def _expanded(self, rows: list[list[Any]]) -> Any:
        """The determinant of a small matrix along its first row."""
        if len(rows) == 1:
            return rows[0][0]
        total: Any = None
        for column, one in enumerate(rows[0]):
            minor = [row[:column] + row[column + 1 :] for row in rows[1:]]
            term = self.each("mul", one, self._expanded(minor))
            total = term if total is None else self.each("sub" if column % 2 else "add", total, term)
        return total

    def logdet(self, a: Any) -> Any:
        factors, _ = self.pivots(a)
        return self.fold("add", [self.each("log", self.each("abs", one)) for one in factors])

    # -- layers

    def rows_of(self, x: Any, axis: Any) -> int:
        return self.axis(x, axis) if shape_of(x) else 0

    def softmax(self, x: Any, axis: Any) -> Any:
        return self.each("exp", self.log_softmax(x, axis))

    def log_softmax(self, x: Any, axis: Any) -> Any:
        place = self.axis(x, axis)
        return self.each("sub", x, self.expand(self.logsumexp(x, place), place))

    def one_hot(self, x: Any, n: Any) -> Any:
        classes = self.whole(n, "a number of classes")
        if classes < 1:
            raise Misfit(f"there is at least one class, not {classes}")
        self.afford((*shape_of(x), classes), "the result")
        made = self.broadcast(self.base.number("0"), (math.prod(shape_of(x)), classes))
        one = self.base.number("1")
        for row, place in enumerate(self.whole(one, "a class number") for one in elements(x)):
            if not 0 <= place < classes:
                raise Misfit(
                    f"there is no class {place} ({{0}}): the {classes} classes are counted from 0 to {classes - 1}"
                )
            made[row, place] = one
        return made.reshape((*shape_of(x), classes))

    def cross_entropy(self, x: Any, y: Any) -> Any:
        logits, labels = shape_of(x), shape_of(y)
        if not logits:
            raise Misfit("{0} is one number: cross_entropy takes a vector of scores, or rows of them")
        if labels not in (logits, logits[:-1]):
            raise Misfit(
                f"{{0}} is {_said(logits)}, {{1}} is {_said(labels)}: they have no rows in common",
                f"The targets are class numbers, {_said(logits[:-1])}, or probabilities, {_said(logits)}.",
            )
        shares = self.log_softmax(x, -1)
        if labels == logits:
            chosen = list(elements(self.total(self.each("mul", y, shares), -1)))
        else:
            rows = shares.reshape(-1, logits[-1])
            chosen = []
            for row, place in zip(rows, (self.whole(one, "a class number") for one in elements(y)), strict=True):
                if not 0 <= place < logits[-1]:
                    raise Misfit(
                        f"there is no class {place} ({{1}}): {{0}} is {_said(logits)}, and its {logits[-1]} classes "
                        f"are counted from 0 to {logits[-1] - 1}"
                    )
                chosen.append(row[place])
        loss = self.each("neg", self.fold("add", chosen))
        return loss if len(chosen) == 1 else self.each("div", loss, self.base.number(str(len(chosen))))

    def mse(self, x: Any, y: Any) -> Any:
        if shape_of(x) != shape_of(y):
            raise Misfit(f"{{0}} is {_said(shape_of(x))}, {{1}} is {_said(shape_of(y))}: mse compares two of one shape",
                         "Broadcast, it is written mean(({0} - {1})^2).")  # fmt: skip
        return self.mean(self.each("pow", self.each("sub", x, y), self.base.number("2")))

    def layernorm(self, x: Any) -> Any:
        self.axis(x, -1)
        apart = self.each("sub", x, self.expand(self.mean(x, -1), -1))
        variance = self.mean(self.each("pow", apart, self.base.number("2")), -1)
        spread = self.each("sqrt", self.each("add", variance, self.base.number(LAYERNORM_EPSILON)))
        return self.each("div", apart, self.expand(spread, -1))


def _masked(base: Kind, carried: Any, partial: Any, zeros: str) -> Any:
    """carried · partial of two numbers; a branch not taken brings 0, whatever was carried."""
    quiet = carried if zeros == "quiet" else partial if zeros in ("skips", "masks") else None
    if quiet is not None and not isinstance(quiet, Hole) and base.is_zero(quiet):
        return base.number("0")
    return _held(base.scale, carried, partial)


def _met(carried: Any) -> Any:
    """What a rule carries over an edge. Raises ArithmeticError where it has no value: the edge has a name for that."""
    if isinstance(carried, Hole):
        raise ArithmeticError("the rule has no value")
    return carried


def _held(function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """A function of two numbers, a hole where there is no result."""
    if isinstance(left, Hole):
        return left
    if isinstance(right, Hole):
        return right
    try:
        return function(left, right)
    except ArithmeticError:
        return Hole(-1, "indeterminate")


def _bounds(one: slice) -> list[Any]:
    bounds = [one.start, one.stop]
    return bounds if one.step is None else [*bounds, one.step]


def _said(shape: Shape) -> str:
    """A shape as a reader sees it: (3, 4), (5,); one number has none.

    >>> _said((3, 4)), _said((5,)), _said(())
    ('(3, 4)', '(5,)', 'one number')
    """
    return str(tuple(shape)) if shape else "one number"


def _stacks(left: Shape, right: Shape) -> Shape:
    try:
        return tuple(np.broadcast_shapes(left, right))
    except ValueError:
        raise Misfit(f"the stacks {_said(left)} of {{0}} and {_said(right)} of {{1}} do not fit") from None


def _apart(shapes: list[Shape]) -> str:
    """Which sizes keep shapes from being broadcast together."""
    longest = max(map(len, shapes))
    for back in range(1, longest + 1):
        sizes = list(dict.fromkeys(shape[-back] for shape in shapes if len(shape) >= back and shape[-back] != 1))
        if len(sizes) > 1:
            which = "last" if back == 1 else f"{back} from the end"
            return (
                f"the {'last ' if back == 1 else ''}sizes {sizes[0]} and {sizes[1]}"
                + ("" if back == 1 else f", {which},")
                + " differ"
            )
    return "their sizes differ"


def _broadcasting_repair(shapes: list[Shape]) -> str:
    matrices = [shape for shape in shapes if len(shape) == 2]
    if len(shapes) == 2 and len(matrices) >= 1 and shapes[0] and shapes[1] and shapes[0][-1] == shapes[1][0]:
        return "* works element by element. The matrix product is written {0} @ {1}"
    return "Shapes are compared from the end; sizes are equal or one of them is 1."


def _matmul_repair(left: Shape, right: Shape) -> str:
    if len(left) == 2 and left[0] == (right[-2] if len(right) > 1 else right[0]):
        return "Did you mean {0}.T @ {1}?"
    if len(right) == 2 and left[-1] == right[1]:
        return "Did you mean {0} @ {1}.T?"
    if len(right) == 2 and len(left) == 2 and right[1] == left[0]:
        return "Did you mean {1} @ {0}?"
    if len(left) == 1 and len(right) == 1:
        return "Two vectors of different sizes have no product; every product of their elements is outer({0}, {1})."
    return "The last size on the left is the first on the right: (n, k) @ (k, m)."


def arrays(base: Kind) -> Arrays:
    """Arrays over a kind of number; NumPy does the work where they are doubles."""
    if isinstance(base, Arrays):
        return base
    if isinstance(base, Real):
        from backprop.kinds.doubles import Doubles

        return Doubles(base)
    return Arrays(base)

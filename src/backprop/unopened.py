"""What an array program tells that is too large to be opened: elements without a value, kinks, digits that are lost.

Each operation is looked at on its arrays. One element that needs words is put into a scalar program of its own, which
has only this one operation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from backprop import notes as of_numbers
from backprop import ops
from backprop.accuracy.fine import ENOUGH, FULL
from backprop.array_point import ArrayPoint
from backprop.arrays_text import element_name
from backprop.beside.one_sided import kink_text, notes_of_the_whole
from backprop.graph import CONST, Graph
from backprop.kinds import Hole, is_number
from backprop.kinds.array import Diagonal
from backprop.kinds.doubles import EPSILON, Doubles
from backprop.kinds.shapes import Shape, elements, shape_of
from backprop.mistakes import Undefined
from backprop.ops import Row
from backprop.point import Point
from backprop.record import Note
from backprop.rules import distances, partials
from backprop.values import values

Place = tuple[int, ...]


def refuse(point: ArrayPoint) -> None:
    """Raises `Undefined` where the value or a derivative does not exist, overflows, or has no digit that is known."""
    found = no_answer(point)
    if found is not None:
        node, text = found
        raise Undefined(text, span=point.graph.span(node)).within(point.syntax.source)


def no_answer(point: ArrayPoint) -> tuple[int, str] | None:
    """The node that leaves the value or a derivative without an answer, and why; None when all is well."""
    if point.kind.propagates:
        return None
    value = point.value()
    if isinstance(value, Hole):
        of_element = value.code == "indeterminate" and value.node >= 0
        return _without_value(point, value.node) if of_element else (value.node, of_numbers.why(point, value))
    if _lost(value).any():
        return _without_value(point, point.graph.output)
    answers = {} if point.shape else point.gradient()
    singular = _singular(point)
    if singular is None and any(_lost(slope).any() for slope in answers.values()):
        return without_slope(point)
    return singular or _overflow(point, answers)


def remarks(point: ArrayPoint) -> Iterator[Note]:
    """What a reader of the numbers has to know: kinks that were met, and digits that are lost."""
    if point.kind.propagates or isinstance(point.value(), Hole) or point.shape:
        return
    met: list[int] = []
    for node, note in kinks_met(point):
        met.append(node)
        yield note
    yield from notes_of_the_whole(point, met)
    yield from _lost_digits(point)


def kinks_met(point: ArrayPoint) -> Iterator[tuple[int, Note]]:
    """The nodes at a kink where a derivative is taken, with what is to be told of them."""
    for node, count, text in _kinks(point):
        size = math.prod(shape_of(point.values[node]))
        more = f"; likewise at {count - 1:,} more of the {size:,} elements" if count > 1 else ""
        yield node, Note("kink", text + more, point.graph.ids[node])


# -- one element by itself --------------------------------------------------------------------------------------------


def alone(point: ArrayPoint, node: int, at: Place) -> Point:
    """An elementwise operation at one element of its result, as a scalar program that has nothing else in it."""
    graph, base = point.graph, point.kind.base
    small, span, shape = Graph(source=graph.source), graph.span(node), shape_of(point.values[node])
    leaves: list[int] = []
    numbers: dict[int, Any] = {}
    for operand in graph.operands(node):
        value = point.values[operand]
        place = within(at, shape, shape_of(value))
        number = _number(value, place)
        name = element_name(graph.ids[operand], place)
        if graph.codes[operand] == CONST and not place:
            leaf = small.add(CONST, (), span)
            small.literals[leaf] = graph.literals[operand]
        else:
            leaf = small.inputs[name] if name in small.inputs else small.add_input(name, span)
            numbers[leaf] = number
        leaves.append(leaf)
    result = small.add(graph.codes[node], leaves, span)
    small.names[result] = element_name(graph.ids[node], at)
    small.output = result
    given = {name: str(base.record(numbers[leaf])) for name, leaf in small.inputs.items()}
    moves = [leaf for leaf, operand in zip(leaves, graph.operands(node), strict=True) if point.moving[operand]]
    wrt = [leaf for leaf in dict.fromkeys(moves) if leaf in numbers]
    moving = small.moving(wrt)
    known = values(small, base, numbers)
    slopes = partials(small, base, known, moving)
    return Point(point.syntax, small, base, given, [], wrt, moving, known, slopes, point.convention)


def within(at: Place, shape: Shape, own: Shape) -> Place:
    """The place in an operand of shape `own` that was broadcast to `shape`, for a place in the result."""
    return tuple(0 if size == 1 else at[len(shape) - len(own) + axis] for axis, size in enumerate(own))


def _number(value: Any, at: Place) -> Any:
    """The number at a place."""
    if not isinstance(value, np.ndarray):
        return value
    found = value[at]
    return found.item() if isinstance(found, np.generic) else found


def _lost(value: Any) -> Any:
    """Where there is no value: an array of bool."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return np.isnan(value)
    marks = [isinstance(one, Hole) or bool(one != one) for one in elements(value)]
    return np.array(marks, dtype=bool).reshape(shape_of(value))


def _first(marks: Any) -> Place:
    """The first place that is marked."""
    return tuple(int(one) for one in np.unravel_index(int(np.argmax(marks)), np.shape(marks)))


# -- no answer --------------------------------------------------------------------------------------------------------


def _without_value(point: ArrayPoint, node: int) -> tuple[int, str]:
    """Where the element was born that spoils the value."""
    graph, known = point.graph, point.values
    at = _first(_lost(known[node]))
    while True:
        row, shape = graph.row(node), shape_of(known[node])
        before: tuple[int, Place] | None = None
        for position, operand in enumerate(graph.operands(node)):
            value = known[operand]
            if value is None or isinstance(value, slice) or _not_taken(point, node, at, position):
                continue
            if row is not None and row.arrays:
                marks = _lost(value)
                if marks.any():
                    before = operand, _first(marks)
                    break
            elif _lost(_number(value, within(at, shape, shape_of(value)))).any():
                before = operand, within(at, shape, shape_of(value))
                break
        if before is None:
            break
        node, at = before
    name = element_name(graph.ids[node], at)
    if row is not None and not row.arrays:
        small = alone(point, node, at)
        if isinstance(small.value(), Hole):
            return node, of_numbers.why(small, small.value())
    return node, f"{name} of {graph.ids[node]} = {graph.formula(node)} meets 0·inf or inf - inf, which has no value"


def _not_taken(point: ArrayPoint, node: int, at: Place, position: int) -> bool:
    """Whether an operand is the branch of a `where` that is not taken at an element."""
    row = point.graph.row(node)
    if row is None or not row.chooses or position in row.conditions:
        return False
    value = point.values[point.graph.operands(node)[0]]
    condition = _number(value, within(at, shape_of(point.values[node]), shape_of(value)))
    return not isinstance(condition, Hole) and bool(condition) != (position == 1)


def without_slope(point: ArrayPoint) -> tuple[int, str]:
    """The edge, seen from the output, that first brings back what is no number."""
    graph, back = point.graph, point.reverse()
    for node in range(len(graph) - 1, -1, -1):
        adjoint = back.adjoints[node]
        if adjoint is None or isinstance(adjoint, Hole) or _lost(adjoint).any():
            continue
        for edge in graph.edges_to(node):
            brought = back.contributions[edge.place]
            if brought is None or not (isinstance(brought, Hole) or _lost(brought).any()):
                continue
            partial = point.partials.values[edge.place]
            names = f"∂{graph.ids[graph.output]}/∂{graph.ids[edge.source]}"
            if isinstance(partial, Diagonal):
                marks = _lost(point.kind.carried(adjoint, partial))
                at = _first(np.broadcast_to(marks, partial.target))
                small = alone(point, node, at)
                slope = small.partials.values[small.graph.offsets[-2] + edge.place - graph.offsets[node]]
                if isinstance(slope, Hole):
                    return node, of_numbers.why(small, slope)
                names = element_name(names, within(at, partial.target, partial.source))
            return node, f"{names} meets 0·inf or inf - inf at {graph.ids[node]}, which is not guessed"
    at_output = graph.ids[graph.output]
    return graph.output, f"the derivatives of {at_output} meet inf - inf where edges meet, which is not guessed"


def _overflow(point: ArrayPoint, answers: dict[str, Any]) -> tuple[int, str] | None:
    """What is infinite though everything that was given is finite."""
    graph = point.graph
    leaves = [point.values[node] for node, code in enumerate(graph.codes) if code < 0]
    leaves = [value for value in leaves if not isinstance(value, slice)]
    if point.kind.intervals or any(_infinite(one).any() for one in leaves):
        return None
    beyond = f"is beyond {point.kind.largest}"
    if _infinite(point.value()).any():
        for node, value in enumerate(point.values):
            row = graph.row(node)
            if row is None or value is None or isinstance(value, Hole) or not _infinite(value).any():
                continue
            name = element_name(graph.ids[node], _first(_infinite(value)))
            return node, f"the value overflows: {name} of {graph.ids[node]} = {graph.formula(node)} {beyond}"
    for name, slope in answers.items():
        if _infinite(slope).any():
            told = element_name(name, _first(_infinite(slope)))
            return graph.output, f"the derivative with respect to {told} overflows: it {beyond}"
    return None


def _infinite(value: Any) -> Any:
    """Which elements are infinite: an array of bool."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return np.isinf(value)
    marks = [one in (math.inf, -math.inf) for one in elements(value)]
    return np.array(marks, dtype=bool).reshape(shape_of(value))


# -- kinks ------------------------------------------------------------------------------------------------------------


def _kinks(point: ArrayPoint) -> Iterator[tuple[int, int, str]]:
    """The nodes at a kink where a derivative is taken, at how many elements, and what is to be told of the first."""
    graph, known, adjoints = point.graph, point.values, point.reverse().adjoints
    for node, code in enumerate(graph.codes):
        if code < 0 or not point.moving[node] or adjoints[node] is None or isinstance(adjoints[node], Hole):
            continue
        row = ops.rows()[code]
        operands, out = [known[operand] for operand in graph.operands(node)], known[node]
        if row.reduces and row.locally_constant:
            told = _tie(point, node, operands, out)
            if told:
                yield node, 1, told
        elif row.kink and not row.arrays:
            marks = _at_kink(point, row, operands, out) & _passed(adjoints[node])
            if marks.any():
                small = alone(point, node, _first(marks))
                yield node, int(marks.sum()), kink_text(small, small.graph.output)


def _passed(adjoint: Any) -> Any:
    """Where an adjoint is not 0."""
    if isinstance(adjoint, np.ndarray) and adjoint.dtype != object:
        return adjoint != 0
    marks = [isinstance(one, Hole) or bool(one != 0) for one in elements(adjoint)]
    return np.array(marks, dtype=bool).reshape(shape_of(adjoint))


def _at_kink(point: ArrayPoint, row: Row, operands: list[Any], out: Any) -> Any:
    """At which elements an operation has no derivative: an array of bool in the shape of the result."""
    met = np.zeros(shape_of(out), dtype=bool)
    for distance in distances(row, point.kind, operands, out):
        if not isinstance(distance, Hole):
            met |= ~_passed(distance) & ~_lost(distance)
    for operand in operands:
        met &= ~_infinite(operand)
    return met


def _tie(point: ArrayPoint, node: int, operands: list[Any], out: Any) -> str:
    """What is to be told where elements tie for the largest or the smallest; "" where none do."""
    kind, name = point.kind, point.graph.ids[node]
    spread = out if len(operands) == 1 else kind.expand(out, operands[1])
    ties = np.asarray(kind.each("eq", operands[0], spread), dtype=bool)
    axis = None if len(operands) == 1 else kind.axis(operands[0], operands[1])
    counts = np.asarray(ties.sum(axis=axis))
    if not (counts > 1).any():
        return ""
    at = _first(counts > 1)
    told = (f"{element_name(name, at)} of " if at else "") + f"{name} = {point.graph.formula(node)}"
    return f"kink: {told} is reached by {int(counts[at]):,} elements, which share the slope"


# -- digits -----------------------------------------------------------------------------------------------------------


def _singular(point: ArrayPoint) -> tuple[int, str] | None:
    """A matrix that is singular as far as doubles can tell, so that no digit of what comes of it is known."""
    for node, condition in _conditions(point):
        if condition * EPSILON > 1e-1:
            told = _told(point, node, condition)
            return node, f"{told}: it is singular as far as doubles can tell; more digits may tell"
    return None


def _lost_digits(point: ArrayPoint) -> Iterator[Note]:
    """Which matrices are near to a singular one, and where the value cancels."""
    graph, output = point.graph, point.graph.output
    for node, condition in _conditions(point):
        kept = FULL - math.log10(max(condition, 1.0))
        if kept < ENOUGH:
            text = f"{_told(point, node, condition)}: about {max(kept, 0.0):.0f} of 16 digits are right"
            yield Note("lost-digits", text, graph.ids[node])
    value, error = point.value(), _rounding(point)
    if error is not None and is_number(value) and error > abs(value) * 10**-ENOUGH:
        kept = max(-math.log10(error / abs(value)), 0.0) if value else 0.0
        text = f"terms cancel: {graph.ids[output]} keeps about {kept:.0f} of 16 digits; --kind digits:40 has more"
        yield Note("lost-digits", text, graph.ids[output])


def _told(point: ArrayPoint, node: int, condition: float) -> str:
    graph = point.graph
    matrix = graph.written_id(graph.operands(node)[0])[0]
    return f"{graph.ids[node]} = {graph.formula(node)}, and the condition number of {matrix} is {condition:.1g}"


def _conditions(point: ArrayPoint) -> Iterator[tuple[int, float]]:
    """The condition number of each matrix that is solved with, over doubles."""
    if not isinstance(point.kind, Doubles):
        return
    for node, code in enumerate(point.graph.codes):
        if code < 0 or not ops.rows()[code].solves or isinstance(point.values[node], Hole):
            continue
        matrix = point.values[point.graph.operands(node)[0]]
        try:
            with np.errstate(all="ignore"):
                condition = float(np.linalg.cond(matrix, 1))
        except np.linalg.LinAlgError:
            condition = math.inf
        yield node, condition


def _rounding(point: ArrayPoint) -> float | None:
    """How far rounding may have moved the value: one rounding of each result, seen through its adjoint.

    None over other kinds of number. This is the first order of the error, as in Higham, Accuracy and Stability of
    Numerical Algorithms, section 3.
    """
    if not isinstance(point.kind, Doubles):
        return None
    total, adjoints = 0.0, point.reverse().adjoints
    with np.errstate(all="ignore"):
        for node, code in enumerate(point.graph.codes):
            adjoint, value = adjoints[node], point.values[node]
            if code < 0 or adjoint is None or isinstance(value, Hole) or isinstance(adjoint, Hole):
                continue
            row = ops.rows()[code]
            if not row.flops:
                continue
            if row.adds:
                value = row.value(point.kind, *_sizes(point, node, row))
            total += float(np.sum(np.abs(np.multiply(adjoint, value))))
    return total * EPSILON if math.isfinite(total) else None


def _sizes(point: ArrayPoint, node: int, row: Row) -> list[Any]:
    """The operands of a sum without their signs, so that nothing cancels."""
    operands = [point.values[operand] for operand in point.graph.operands(node)]
    return [one if row.is_setting(place) else np.abs(one) for place, one in enumerate(operands)]

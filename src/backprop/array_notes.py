"""Notes about an array program at a point: what a reader should know, told once for all elements of an array.

Kinks, holes and lost digits are those of the opened program, whose nodes are the elements. What an operation has to
say of its elements (dead and saturated units) is counted on the arrays themselves, however large they are.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from backprop import notes as of_numbers
from backprop import ops, unopened
from backprop.accuracy.lost_digits import count, surviving
from backprop.array_point import ALWAYS_ASKED, ArrayPoint
from backprop.arrays_text import element_name
from backprop.beside.one_sided import kink_text, kinks_met, limits, notes_of_the_whole, one_sided
from backprop.figures import figure
from backprop.kinds import Hole, is_number
from backprop.kinds.shapes import elements, shape_of
from backprop.notation import slope
from backprop.opening import MOST_NODES
from backprop.ops import POWER, Remark, Row
from backprop.point import Point
from backprop.record import Note, Trace
from backprop.rules import formula

# So many elements are named one by one.
MOST_NAMED = 8


def notes_of_arrays(point: Point) -> list[Note]:
    """Every note about an array program at a point; what has no value comes first."""
    assert isinstance(point, ArrayPoint)
    opened = point.told()
    found = list(_of_arrays(point) if opened is point else _of_elements(point, opened))
    found += [*_remarks(point), *_steps(point, opened), *_without_derivative(point), *of_numbers.unused_inputs(point)]
    return [*found, *_inverses_on_paper(point), *of_numbers.reading_notes(point)]


def _inverses_on_paper(point: ArrayPoint) -> Iterator[Note]:
    """That A^-1 of a square matrix was read element by element: on paper it is the inverse."""
    graph = point.graph
    for node in range(len(graph)):
        row = graph.row(node)
        if row is None or row.level != POWER:
            continue
        base, exponent = graph.operands(node)
        shape = shape_of(point.values[base])
        if (
            len(shape) == 2
            and shape[0] == shape[1] > 1
            and graph.literals.get(exponent) == "-1"
            and base in graph.names
        ):
            text = f"{graph.formula(node)} was read element by element; the inverse is inv({graph.ids[base]})"
            yield Note("read-as", text, graph.ids[node])


def tell_sides_of_elements(point: ArrayPoint, trace: Trace) -> None:
    """Put into a trace what is known on both sides of the elements, and beside a hole."""
    opened = point.told()
    if opened is point:
        return
    trace.one_sided, trace.limits = one_sided(opened), limits(opened)
    for one in trace.one_sided:
        one.node = point.id_of(one.node)


def mended_elements(point: ArrayPoint) -> list[str]:
    """The answers of which doubles had lost an element, by name."""
    opened = point.told()
    accuracy = opened.accuracy()
    if accuracy is None:
        return []
    regained = {name for name, _, _ in point.regained()}
    first = point.graph.ids[point.graph.output]
    output = [first] if accuracy.value is not None or first in regained else []
    lost = {opened.name_of(node) for node in accuracy.slopes} | regained
    return output + [name for name in point.names() if not lost.isdisjoint(_parts(point, name))]


def surviving_elements(point: ArrayPoint) -> tuple[list[float | None], list[float | None]]:
    """For each node how many digits of its value and of its adjoint are right, at the element with the fewest."""
    opened, graph = point.told(), point.opening()
    if opened is point or graph is None:
        nothing: list[float | None] = [None] * len(point.graph)
        return nothing, nothing

    def least(digits: list[float | None]) -> list[float | None]:
        at = (places.ravel().tolist() for places in graph.places)
        known = ([digits[place] for place in places if place >= 0] for places in at)
        return [min((one for one in those if one is not None), default=None) for those in known]

    values, adjoints = surviving(opened)
    return least(values), least(adjoints)


def _parts(point: ArrayPoint, name: str) -> Iterator[str]:
    """The elements of what is asked for under a name."""
    node, at = point.asked[name]
    stem, shape = point.name_of(node), shape_of(point.values[node])
    return (element_name(stem, (*at, *rest)) for rest in np.ndindex(*shape[len(at) :]))


def listed(names: Iterable[str], count: int) -> str:
    """Some names, and how many more there are.

    >>> listed(["a", "b"], 2), listed((f"h[{i}]" for i in range(500)), 500)
    ('a, b', 'h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7] and 492 more')
    """
    told = ", ".join(islice(names, MOST_NAMED))
    return told if count <= MOST_NAMED else f"{told} and {count - MOST_NAMED} more"


# -- a vector or a matrix as output -----------------------------------------------------------------------------------


def parts(point: ArrayPoint) -> list[Point] | None:
    """Each element of the output as the output of a scalar program; None where they are too many."""
    found = point.opened_graph(ALWAYS_ASKED)
    if found is None:
        return None
    places = found.places[point.graph.output].ravel().tolist()
    if len(places) * len(found.graph) > MOST_NODES or min(places) < 0:
        return None
    return [point.element(found, place) for place in places]


def by_parts(point: ArrayPoint, parts: list[Point], name: str | None = None) -> Any:
    """The output, or its derivative by `name`, as the elements of it answer."""
    zero = point.kind.base.number("0")
    answers: list[Any] = [part.answer() for part in parts]
    if name is not None:
        slopes = (part.gradient().get(name, zero) for part in parts)
        answers = [one if isinstance(one, Hole) else slope for one, slope in zip(answers, slopes, strict=True)]
    made = np.empty(len(answers), dtype=object)
    made[:] = answers
    return made.reshape(point.shape)


def notes_of_parts(point: ArrayPoint, parts: list[Point] | None) -> Iterator[Note]:
    """What there is to tell of the elements of the output."""
    if parts is not None:
        yield from _grouped(point, (note for part in parts for note in of_numbers.troubles(part)))
        return
    output, value = point.graph.ids[point.graph.output], point.value()
    lost = [at for at, one in zip(np.ndindex(*point.shape), elements(value), strict=True) if _is_lost(one)]
    if lost and not point.kind.propagates:
        where = listed((element_name(output, at) for at in lost), len(lost))
        yield Note("undefined", f"undefined: {output} has no value at {where}", output)
    text = "the program is too large to be opened into single numbers"
    yield Note("not-looked-at", f"{text}: kinks on the way, and digits that doubles lose, are not told")


def _is_lost(number: Any) -> bool:
    return isinstance(number, Hole) or number != number


# -- what the opened program tells ------------------------------------------------------------------------------------


def _of_elements(point: ArrayPoint, opened: Point) -> Iterator[Note]:
    """What is undefined, lost or at a kink, each told once for all elements of an array."""

    def kinks(opened: Point) -> Iterator[Note]:
        met = kinks_met(opened)
        groups: dict[tuple[str, int], list[int]] = {}
        for node in met:
            groups.setdefault((point.id_of(opened.graph.ids[node]), opened.graph.codes[node]), []).append(node)
        for (closed, _), nodes in groups.items():
            names = [opened.graph.ids[node] for node in nodes]
            yield Note("kink", kink_text(opened, nodes[0]) + _likewise(point, closed, names), closed)
        yield from _grouped(point, notes_of_the_whole(opened, met))

    yield from _grouped(point, of_numbers.troubles(opened, kinks))
    yield from _regained(point)
    yield from of_numbers.unused_holes(point)  # of whole arrays, which are not opened


def _regained(point: ArrayPoint) -> Iterator[Note]:
    """The digits that are lost where whole arrays are worked out at once, and kept in the opened program."""
    found = point.regained()
    if not found:
        return
    output = point.graph.ids[point.graph.output]
    kept, name = min((_digits_kept(closed, answer), name) for name, closed, answer in found)
    what = output if name == output else slope(output, name)
    told = (f"{one if one == output else slope(output, one)} = {figure(answer, 16)}" for one, _, answer in found)
    text = f"{what} keeps {count(kept)} where whole arrays are worked out at once"
    yield Note("lost-digits", f"{text}; opened into single numbers {listed(told, len(found))}", output)


def _digits_kept(double: float, truth: float) -> float:
    """How many digits of one double are those of another."""
    apart = abs(double - truth)
    return max(0.0, -math.log10(apart / abs(truth))) if truth and math.isfinite(apart) else 0.0


def gathered(point: Point, notes: Iterable[Note]) -> Iterator[Note]:
    """Notes about elements, each told once for all elements of an array."""
    assert isinstance(point, ArrayPoint)
    return _grouped(point, notes)


def _grouped(point: ArrayPoint, notes: Iterable[Note]) -> Iterator[Note]:
    """One note for those of one sort about elements of one array: the first, and where it is likewise."""
    groups: dict[tuple[str, Any], list[Note]] = {}
    for place, note in enumerate(notes):
        closed = None if note.node is None else point.id_of(note.node)
        alone = note.node == closed
        groups.setdefault((note.code, place if alone else closed), []).append(note)
    for (_, closed), those in groups.items():
        first = those[0]
        if isinstance(closed, str):
            names = [note.node for note in those if note.node is not None]
            yield Note(first.code, first.text + _likewise(point, closed, names), closed)
        else:
            yield first


def _likewise(point: ArrayPoint, closed: str, names: list[str]) -> str:
    """ "; likewise at v1[1], v1[3]": where the same holds that was told of the first."""
    others = list(dict.fromkeys(names))[1:]
    if not others:
        return ""
    size = int(np.size(point.values[point.graph.ids.index(closed)]))
    if len(others) + 1 == size:
        return f"; likewise at all {size} elements of {closed}"
    return f"; likewise at {listed(others, len(others))}"


# -- what the arrays tell themselves ----------------------------------------------------------------------------------


def _of_arrays(point: ArrayPoint) -> Iterator[Note]:
    """What has no value or is at a kink, where there is no opened program to ask."""
    if isinstance(point.value(), Hole):
        yield from of_numbers.undefined(point)
    elif not point.shape:
        found = unopened.no_answer(point)
        if found is not None:
            yield Note("undefined", f"undefined: {found[1]}", point.graph.ids[found[0]])
        yield from unopened.remarks(point)


def _remarks(point: ArrayPoint) -> Iterator[Note]:
    """What rows have to say of their elements, counted."""
    graph, known = point.graph, point.values
    adjoints = None if point.shape or isinstance(point.value(), Hole) else point.reverse().adjoints
    for node, code in enumerate(graph.codes):
        if code < 0 or not point.moving[node] or (adjoints is not None and adjoints[node] is None):
            continue
        row, out = ops.rows()[code], known[node]
        operands = [known[operand] for operand in graph.operands(node)]
        if any(one is None or isinstance(one, Hole) for one in (*operands, out)):
            continue
        moves = tuple(bool(point.moving[source]) for source in graph.operands(node))
        for remark in row.remarks_for(moves):
            holds = _holding(point, remark, row, operands, out)
            if holds.any():
                yield Note(remark.code, _told(point, node, remark, row, holds), graph.ids[node])


def _holding(point: ArrayPoint, remark: Remark, row: Row, operands: list[Any], out: Any) -> Any:
    """Where a remark holds: an array of bool in the shape of the result."""
    found = formula(f"where({remark.when}, 1, 0)", row, len(operands)).evaluate(point.kind, operands, out)
    shape, yes = shape_of(out), point.kind.base.number("1")
    if isinstance(found, np.ndarray) and found.dtype == np.float64:
        return np.broadcast_to(found == yes, shape)
    answers = [not isinstance(one, Hole) and point.kind.base.choose(one == yes) is True for one in elements(found)]
    return np.broadcast_to(np.array(answers, dtype=bool).reshape(shape_of(found)), shape)


def _told(point: ArrayPoint, node: int, remark: Remark, row: Row, holds: Any) -> str:
    """A remark about the elements where it holds; rows of a matrix are a batch, so a column may hold in all of them."""
    ids = [point.graph.written_id(operand)[0] for operand in point.graph.operands(node)]
    name = point.graph.ids[node]
    names = dict(zip(row.names(len(ids)), ids, strict=True)) | {"node": name}
    if not holds.shape:
        out = figure(point.kind.record(point.values[node]))
        return remark.says.format(**names, out=out)
    places = np.argwhere(holds)
    if len(places) == 1:
        at = tuple(map(int, places[0]))
        return remark.says.format(**_elements(point, node, names, at))
    which = listed((element_name(name, map(int, at)) for at in places), len(places))
    every = len(places) == holds.size
    count = f"all {holds.size}" if every else f"{len(places)} of {holds.size}"
    text = f"{count} {remark.many.format(**names, which='' if every else f': {which}')}"
    whole = int(holds.all(axis=0).sum()) if holds.ndim == 2 and len(holds) > 1 else 0
    if whole and len(places) < holds.size:
        text += f"; {whole} of {holds.shape[1]} columns in every row"
    return text


def _elements(point: ArrayPoint, node: int, names: dict[str, str], at: tuple[int, ...]) -> dict[str, str]:
    """The names of the operands (and of the node) for one element of the result."""
    told = dict(names)
    shape = shape_of(point.values[node])
    for key, name in names.items():
        own = shape if key == "node" else next(
            (shape_of(point.values[one]) for one in point.graph.operands(node) if point.graph.ids[one] == name), ()
        )  # fmt: skip
        told[key] = element_name(name, unopened.within(at, shape, own))
    value = point.values[node][at] if shape else point.values[node]
    return told | {"out": figure(point.kind.record(value)) if is_number(value) else ""}


def _steps(point: ArrayPoint, opened: Point) -> Iterator[Note]:
    """Inputs, or some elements of them, that act only through steps."""
    if point.shape:
        return
    told = list(of_numbers.steps(point))
    yield from told
    arrays: Collection[str | None] = {note.node for note in told}
    if opened is not point:
        more = (note for note in of_numbers.steps(opened) if note.node is not None)
        yield from _grouped(point, (note for note in more if point.id_of(note.node or "") not in arrays))


def _without_derivative(point: ArrayPoint) -> Iterator[Note]:
    """Inputs through which no derivative passes anywhere: class numbers, conditions."""
    graph = point.graph
    for node in () if isinstance(point.value(), Hole) else point.wrt:
        uses = list(_leaving(point, node))
        if not uses or any(
            point.partials.values[place] is not None or isinstance(point.values[user], Hole) for user, place in uses
        ):
            continue
        user = uses[0][0]
        name = point.name_of(node)
        text = f"{name} is used only where no derivative passes, as in {graph.ids[user]} = {graph.formula(user)}"
        yield Note("no-derivative", f"{text}: its gradient is 0", graph.ids[node])


def _leaving(point: ArrayPoint, node: int) -> Iterator[tuple[int, int]]:
    """The edges that leave a node: the target of each, and its place."""
    graph = point.graph
    for target in range(node + 1, len(graph)):
        for edge in graph.edges_to(target):
            if edge.source == node:
                yield target, edge.place

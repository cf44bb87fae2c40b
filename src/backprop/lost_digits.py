"""Lost digits: which node of a point doubles could not carry, what the right digits are, and how to write it better."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from backprop.accuracy import Accuracy
from backprop.beside import EPSILON, LEVELS, to_double
from backprop.figures import figure
from backprop.fine import ENOUGH, FULL, Fine, Level, digits_kept
from backprop.fine import of as fine_of
from backprop.kinds import Hole, is_number
from backprop.point import Point
from backprop.record import Note
from backprop.rewrites import advice
from backprop.working import slope

# A node that moves the answer by less than this part of it is not to blame.
ENOUGH_OF_IT = 1e-11
# More answers than this are not told one by one.
MOST_TOLD = 4


@dataclass(slots=True)
class Loss:
    """The first node, in order, at which digits are lost that the answers need: how many of its digits are `kept`.

    `source` is the operand whose partial lost them, -1 when it is the value of the node.
    """

    node: int
    kept: float
    source: int = -1


def lost_digits(point: Point) -> Iterator[Note]:
    """What to know where the answers are not those of the doubles, or where it could not be told what they are.

    >>> from backprop.point import at
    >>> [note.text for note in lost_digits(at("1 - cos(x)", {"x": 1e-9}))]
    ['f = 1 - v1 keeps none of 16 digits; with more digits f = 5e-19; write 2*sin(x/2)^2 for 1 - cos(x)']
    """
    found = point.accuracy()
    if found is None or not found.doubted:
        return
    ids, output = point.graph.ids, point.graph.output
    if found.mended:
        assert found.fine is not None
        loss = first_loss(point, found)
        node = output if loss is None else loss.node
        code, what = told(point, found, loss)
        parts = [
            what,
            f"with more digits {', '.join(_right(point, found))}",
            "" if loss is None else _advice(point, found, loss),
        ]
        yield Note(code, "; ".join(part for part in parts if part), ids[node])
    if found.untold:
        yield Note("lost-digits", f"doubles may have lost digits here: {found.untold}", ids[output])


def _advice(point: Point, found: Accuracy, loss: Loss) -> str:
    """How to write it so that the digits are kept; "" when no rewrite is known that keeps them to the end."""
    assert found.fine is not None
    level = found.fine.at(LEVELS[0])
    truth = found.fine.value(point.graph.output)
    if level is None or found.value is None or not is_number(truth):
        return advice(point, loss.node)

    def keeps(node: int) -> bool:
        """Whether the answer stands it that a node is rounded: after exp(x) - 1 there may come another - x."""
        adjoint, value = level.adjoints[node], level.values[node]
        if not (is_number(adjoint) and is_number(value)):
            return True
        return bool(abs(adjoint * value) * EPSILON <= abs(truth) * 10.0**-ENOUGH)

    return advice(point, loss.node, keeps)


def told(point: Point, found: Accuracy, loss: Loss | None) -> tuple[str, str]:
    """What happened to the digits, as the code of a note and in words."""
    if loss is None:
        return "lost-digits", "the terms that meet cancel but for the last digits"
    ids = point.graph.ids
    name = ids[loss.node]
    if loss.source >= 0:
        return "lost-digits", f"the partial {slope(name, ids[loss.source])} keeps {count(loss.kept)}"
    what = f"{name} = {point.graph.formula(loss.node)}"
    truth = None if found.fine is None else found.fine.value(loss.node)
    if is_number(truth) and math.isinf(to_double(truth)):
        return "overflow", f"{what} is {shown(truth, 3)}, beyond {point.kind.largest}, so none of its digits is left"
    if is_number(truth) and truth != 0 and to_double(truth) == 0:
        return "underflow", f"{what} is {shown(truth, 3)}, less than the smallest double, 4.9e-324: 0 stands for it"
    return "lost-digits", f"{what} keeps {count(loss.kept)}"


def first_loss(point: Point, found: Accuracy) -> Loss | None:
    """The first node whose value, or one of whose partials, has too few digits; None where terms cancel at the end."""
    fine = found.fine
    level = None if fine is None else fine.at(LEVELS[0])
    if fine is None or level is None:
        return None
    graph = point.graph
    missing = _missing(point, found, fine)
    vanish = found.value is not None or any(isinstance(one, Hole) for one in point.by_rules().values())
    for node in _leading(graph, level):
        if graph.row(node) is None:
            continue
        if kept_on_tape(point.values[node], level.values[node]) < ENOUGH:
            truth = fine.value(node)
            kept = kept_on_tape(point.values[node], truth)
            if kept < ENOUGH and not is_number(truth):
                return Loss(node, kept)
            if point.values[node] == 0 and to_double(truth) == 0 and not vanish:
                continue  # what is less than the smallest double spoils slopes only where it meets an infinity
            if kept < ENOUGH and _matters(point, level, node, truth, missing):
                return Loss(node, kept)
        if found.slopes:
            for index in range(graph.offsets[node], graph.offsets[node + 1]):
                kept = digits_kept(point.partials.values[index], level.partials.values[index])
                if kept < ENOUGH:
                    return Loss(node, kept, graph.args[index])
    return None


def kept_on_tape(double: Any, truth: Any) -> float:
    """How many digits are left for what comes after: none of an infinity, and none of a 0 that is no 0."""
    compared = isinstance(double, float) and is_number(truth) and not isinstance(truth, bool)
    gone = compared and (math.isinf(double) or (double == 0 and truth != 0))
    return 0.0 if gone else digits_kept(double, truth)


def _leading(graph: Any, level: Level) -> list[int]:
    """The nodes that the output is worked out from, in order."""
    reached = {graph.output}
    for node in range(graph.output, -1, -1):
        if node in reached:
            reached.update(one for one in graph.operands(node) if level.values[one] is not None)
    return sorted(reached)


def _missing(point: Point, found: Accuracy, fine: Fine) -> Any:
    """How far the value of the tape is off; None when that is not known, or it is a slope that is wrong."""
    value, truth = point.value(), fine.value(point.graph.output)
    if found.value is None or not is_number(truth):
        return None
    return abs(value - truth) if is_number(value) else abs(truth) * ENOUGH_OF_IT


def _matters(point: Point, level: Level, node: int, truth: Any, missing: Any) -> bool:
    """Whether what a node is off by has a noticeable part in what the output is off by."""
    adjoint = level.adjoints[node]
    if missing is None or not is_number(adjoint) or not is_number(point.values[node]):
        return True
    return bool(100 * abs(adjoint * (point.values[node] - truth)) >= missing)


def _right(point: Point, found: Accuracy) -> Iterator[str]:
    """The answers that were mended, with all their digits."""
    assert found.fine is not None
    ids, output = point.graph.ids, point.graph.output
    told = [] if found.value is None else [(ids[output], found.value, found.fine.value(output))]
    told += [
        (slope(ids[output], point.name_of(node)), one, found.fine.adjoint(node)) for node, one in found.slopes.items()
    ]
    for name, answer, truth in told[:MOST_TOLD]:
        yield f"{name} has no value" if isinstance(answer, Hole) else f"{name} = {shown(truth)}"
    if len(told) > MOST_TOLD:
        yield f"and {len(told) - MOST_TOLD} more"


def count(kept: float) -> str:
    """How many digits are left, in words.

    >>> count(1.74), count(0.0)
    ('1.7 of 16 digits', 'none of 16 digits')
    """
    return f"{kept:.1f} of 16 digits" if kept else "none of 16 digits"


def out_of_range(point: Point, level: Level, known: Loss | None = None) -> list[Note]:
    """The first node that is too large for a double, and the first that is too small, with their true size.

    A loss that is `known` has been told.
    """
    found: dict[str, Note] = {}
    graph = point.graph
    for node in range(len(graph)):
        if graph.row(node) is None or len(found) == 2 or (known is not None and known.node == node):
            continue
        ours, true = point.values[node], level.values[node]
        if isinstance(true, bool) or not is_number(true):
            continue
        large = isinstance(ours, Hole) and ours.node == node and ours.code == "overflow"
        large = large or (isinstance(ours, float) and math.isinf(ours))
        small = isinstance(ours, float) and ours == 0 and true != 0 and to_double(true) == 0
        what = f"{graph.ids[node]} = {graph.formula(node)} is {shown(true, 3)}"
        if large and "overflow" not in found:
            text = f"{what}, more than the largest double (1.8e308)"
            found["overflow"] = Note("overflow", text, graph.ids[node])
        if small and "underflow" not in found:
            text = f"{what}, less than the smallest double (4.9e-324): 0 stands for it"
            found["underflow"] = Note("underflow", text, graph.ids[node])
    return list(found.values())


def shown(value: Any, figures: int = 17) -> str:
    """The right digits of a number: what a double holds as all its digits, what it cannot hold in full."""
    from mpmath import nstr

    nearest = to_double(value) + 0.0
    if not math.isfinite(nearest) or (nearest == 0 and value != 0):
        return str(nstr(value, min(figures, 6)))
    return repr(nearest) if figures == 17 and nearest != int(nearest) else figure(nearest, figures)


# -- how many digits survive at every node -------------------------------------------------------------------------


def surviving(point: Point) -> tuple[list[float | None], list[float | None]]:
    """For each node how many digits of its value and of its adjoint are right; None where that is not known."""
    fine = fine_of(point)
    nothing: list[float | None] = [None] * len(point.graph)
    if fine.reason:
        return nothing, nothing
    adjoints = [None] * len(point.graph) if isinstance(point.value(), Hole) else point.reverse().adjoints
    values = [_surviving(value, fine.value(node)) for node, value in enumerate(point.values)]
    slopes = [None if one is None else _surviving(one, fine.adjoint(node)) for node, one in enumerate(adjoints)]
    return values, slopes


def _surviving(double: Any, truth: Any) -> float | None:
    if not isinstance(double, (float, Hole)) or truth is None or isinstance(truth, bool):
        return None
    if isinstance(truth, Hole):
        return None if isinstance(double, Hole) else 0.0
    return min(FULL, digits_kept(double, truth))

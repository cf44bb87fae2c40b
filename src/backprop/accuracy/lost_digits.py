"""Lost digits: which node of a point doubles could not carry, what the right digits are, and how to write it better."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from backprop.accuracy.fine import ENOUGH, FULL, Fine, Level, digits_kept
from backprop.accuracy.fine import of as fine_of
from backprop.accuracy.mending import Accuracy, is_tiny
from backprop.accuracy.rewrites import advice
from backprop.beside.differences import EPSILON, LEVELS, affordable, to_double
from backprop.figures import figure
from backprop.kinds import Hole, is_number
from backprop.notation import slope
from backprop.point import Point
from backprop.record import Note

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
    graph, output = point.graph, point.graph.output  # of a million nodes the ids are made only to be told
    if found.mended:
        assert found.fine is not None
        loss = first_loss(point, found)
        node = output if loss is None else loss.node
        code, what = told(point, found, loss)
        parts = [
            what,
            f"with more digits {', '.join(_some([*_right(point, found), *_vanished(point, found)]))}",
            _as_written(point, found),
            "" if loss is None else _advice(point, found, loss),
        ]
        yield Note(code, "; ".join(part for part in parts if part), graph.ids[node])
    elif vanished := _vanished(point, found):
        text = f"{', '.join(_some(vanished))}: so near to 0 doubles have few digits, and none below 4.9e-324"
        yield Note("underflow", text, graph.ids[output])
    if found.untold:
        yield Note("lost-digits", f"doubles may have lost digits here: {found.untold}", graph.ids[output])


def _advice(point: Point, found: Accuracy, loss: Loss) -> str:
    """How to write it so that the digits are kept; "" when no rewrite is known that keeps them to the end."""
    assert found.fine is not None
    truth = found.fine.value(point.graph.output)
    level = found.fine.deepest
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
        if all(is_tiny(answer) for _, answer, _ in _mended(point, found, found.fine)):
            return "underflow", "so near to 0 doubles have few digits"
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
    if fine is None or fine.at(LEVELS[0]) is None:
        return None
    missing = _missing(point, found, fine)
    level = fine.deepest
    assert level is not None
    nodes = [node for node in _leading(point.graph, level) if point.graph.row(node) is not None]

    def losses() -> Iterator[Loss]:
        for node in nodes:
            yield from _losses(point, found, fine, level, node, missing)

    of_values = (loss for loss in losses() if loss.source < 0)
    # partials come after: one that is wrong without a trace in the value is not what a wrong value is about
    first = next(of_values, None) if found.value is not None else None
    return first or next(losses(), None)


def _losses(point: Point, found: Accuracy, fine: Fine, level: Level, node: int, missing: Any) -> Iterator[Loss]:
    """What is lost at a node: its value, if that matters to the answers, and partials, if a slope was mended."""
    graph = point.graph
    if kept_on_tape(point.values[node], level.values[node]) < ENOUGH:
        truth = fine.value(node)
        kept = kept_on_tape(point.values[node], truth)
        vanish = found.value is not None or any(isinstance(one, Hole) for one in point.by_rules().values())
        if kept < ENOUGH and not is_number(truth):
            yield Loss(node, kept)
        elif point.values[node] == 0 and to_double(truth) == 0 and not vanish:
            return  # what is less than the smallest double spoils slopes only where it meets an infinity
        elif kept < ENOUGH and _matters(point, level, node, truth, missing):
            yield Loss(node, kept)
    if found.slopes:
        for index in range(graph.offsets[node], graph.offsets[node + 1]):
            kept = digits_kept(point.partials.values[index], level.partials.values[index])
            if kept < ENOUGH:
                yield Loss(node, kept, graph.args[index])


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
    for name, answer, truth in _mended(point, found, found.fine):
        yield f"{name} has no value" if isinstance(answer, Hole) else f"{name} = {shown(truth)}"


def _some(answers: list[str]) -> list[str]:
    """The first few of the answers, and how many more there are."""
    more = len(answers) - MOST_TOLD
    return [*answers[:MOST_TOLD], f"and {more} more"] if more > 0 else answers


def _vanished(point: Point, found: Accuracy) -> list[str]:
    """The answers that are as near to the true number as doubles are, and still have too few of its digits."""
    from mpmath import nstr

    fine, ids, output = found.fine, point.graph.ids, point.graph.output
    if fine is None or fine.reason or isinstance(point.answer(), Hole):
        return []
    given = point.by_rules()
    answers = [] if found.value is not None else [(ids[output], point.value(), fine.value, output)]
    for node in point.wrt:
        name = point.name_of(node)
        if node not in found.slopes:
            answers.append((slope(ids[output], name), given[name], fine.adjoint, node))
    return [
        f"{name} = {nstr(truth, 6)}"
        for name, double, truth_of, node in answers
        if is_tiny(double) and is_number(truth := truth_of(node)) and truth and _relative(double, truth) < ENOUGH
    ]


def _relative(double: float, truth: Any) -> float:
    """How many digits of a number below the normal doubles are right, though no double may be nearer."""
    return 0.0 if not double else -math.log10(max(float(abs((double - truth) / truth)), EPSILON))


def _as_written(point: Point, found: Accuracy) -> str:
    """The answers to the numbers as they are written, where those to the doubles nearest to them are other ones.

    0.1 + 0.2 - 0.3 is 0 on paper, and 2.8e-17 for the doubles that stand for these numbers.
    """
    if not affordable(point.graph, LEVELS[0]):
        return ""
    answers = [
        f"{name} = {shown(truth) if to_double(truth) else '0'}"
        for name, answer, truth in _mended(point, found, Fine(point, as_written=True))
        if is_number(truth) and digits_kept(answer, truth) < ENOUGH
    ]
    if not answers:
        return ""
    more = f", and {len(answers) - MOST_TOLD} more" if len(answers) > MOST_TOLD else ""
    told = ", ".join(answers[:MOST_TOLD]) + more
    return f"for the numbers as written, not the doubles nearest to them, {told}"


def _mended(point: Point, found: Accuracy, fine: Fine | None) -> list[tuple[str, Any, Any]]:
    """Each mended answer: its name, the double that answers, and what `fine` has for it."""
    assert fine is not None
    ids, output = point.graph.ids, point.graph.output
    answers = [] if found.value is None else [(ids[output], found.value, fine.value(output))]
    return answers + [
        (slope(ids[output], point.name_of(node)), one, fine.adjoint(node)) for node, one in found.slopes.items()
    ]


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


def true_operands(point: Point, node: int) -> str:
    """ " at v2 = -2.77556e-17": the true operands of a node that doubles have the wrong ones of; "" for other kinds."""
    found = point.accuracy()
    if found is None or found.fine is None:
        return ""
    graph, parts = point.graph, []
    for operand in dict.fromkeys(graph.operands(node)):
        truth = found.fine.value(operand)
        if graph.row(operand) is not None and is_number(truth) and not isinstance(truth, bool):
            parts.append(f"{graph.ids[operand]} = {shown(truth, 6)}")
    return f" at {', '.join(parts)}, as more digits tell" if parts else ""


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
    return min(FULL, kept_on_tape(double, truth))

"""Accuracy: the true number where doubles have lost it.

A plain tape is wrong, and silent, where something overflows on the way, vanishes, or cancels. Here the doubles are
asked first what they can promise (`rounding`), which costs little. Only where that is too few digits is the point
worked out with many (`fine`), and then every answer that has too few digits right becomes the double nearest to the
true number. The nodes, their values and partials stay what doubles make of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backprop import ops
from backprop.accuracy.rounding import CUT_OFF, DOUBLE, INF, Errors, Roundoff, errors
from backprop.kinds import Hole, is_number
from backprop.kinds.real import Real
from backprop.point import Point

if TYPE_CHECKING:
    from backprop.accuracy.fine import Fine

# More than this part of an answer may be wrong: then doubles alone are not believed. It stands for 11 digits.
DOUBT = 1e-11 / DOUBLE.unit

# The digits of a double, and the fewest that are passed over where a graph is too large to do better.
DIGITS = 16.0
TOLD_OF = 10.0
# What is off by no more than 5e-318 is near enough, however small it is.
SLACK = 2.0**20 * DOUBLE.least


@dataclass(slots=True)
class Accuracy:
    """What is known of the digits of the answers, for the value under the node of the output and -1.

    `mended` are the answers that another double is nearer to, by node; `value` that of the output, when it is one of
    them. `doubted` says that doubles could not promise enough digits, `untold` what could not be told with more.
    """

    errors: Errors
    doubted: bool = False
    value: Any = None
    slopes: dict[int, Any] = field(default_factory=dict)
    untold: str = ""
    fine: Fine | None = None

    @property
    def mended(self) -> bool:
        """Whether any answer is another one than that of the doubles."""
        return self.value is not None or bool(self.slopes)


def accuracy(point: Point) -> Accuracy | None:
    """What the doubles of a point are worth and what is to be put in their place; None for other kinds of number.

    >>> from backprop.point import at
    >>> found = accuracy(at("log(1 + exp(x))", {"x": 800}))
    >>> found.value, found.slopes
    (800.0, {1: 1.0})
    """
    kind = point.kind
    if not isinstance(kind, Real) or kind.propagates or kind.eager:
        return None
    found = Accuracy(point.errors())
    found.doubted = _doubtful(point, found.errors) or vanishes(point, found.errors)
    if found.doubted:
        _mend(point, found)
    return found


def _doubtful(point: Point, found: Errors) -> bool:
    """Whether the value or a derivative asked for may have too few right digits."""
    output = point.value()
    if found.branch >= 0 or may_be_wrong(output, found.values[point.graph.output]):
        return True
    if isinstance(output, Hole):
        return False
    adjoints = point.reverse().adjoints
    return any(may_be_wrong(adjoints[node], found.adjoints[node]) for node in point.wrt if adjoints[node] is not None)


def is_tiny(number: Any) -> bool:
    """Whether a number is so small that a double has fewer digits for it, or none."""
    return bool(is_number(number) and abs(number) < DOUBLE.smallest_normal)


def vanishes(point: Point, found: Errors) -> bool:
    """Whether an answer is 0, or next to it, and something on the way there may be so for want of smaller doubles.

    What is 0 in truth is mostly told from that: x^2 has the slope 0 where an operand is 0, and log(x) is 0 at 1 where
    it goes on with the slope 1.
    """
    output, graph = point.value(), point.graph
    if isinstance(output, Hole):
        return False
    back, wrong = point.reverse(), found.values
    answers = [(output, wrong[graph.output])]
    answers += [(back.adjoints[node], found.adjoints[node]) for node in point.wrt if back.adjoints[node] is not None]
    if not any(error and is_tiny(number) for number, error in answers):
        return False
    known, slopes = point.values, point.partials
    for node, code in enumerate(graph.codes):
        if code < 0:
            continue
        edges = range(graph.offsets[node], graph.offsets[node + 1])
        moves = (is_number(slopes.values[one]) and slopes.values[one] * known[graph.args[one]] for one in edges)
        if wrong[node] and is_tiny(known[node]) and all(map(is_tiny, moves)):
            return True
        adjoint, row = back.adjoints[node], ops.rows()[code]
        if not adjoint or isinstance(adjoint, Hole) or row.jumps or row.name in CUT_OFF:
            continue
        if any(known[one] == 0 and not wrong[one] for one in graph.operands(node)):
            continue
        for index in edges:
            slope, brought = slopes.values[index], back.contributions[index]
            if brought is not None and not slopes.exact_zero[index] and (is_tiny(slope) or is_tiny(brought)):
                return True
    return False


def _promised(point: Point, found: Errors) -> float:
    """How many digits of every answer doubles promise, by the worst of them."""
    if found.branch >= 0 or isinstance(point.value(), Hole):
        return 0.0
    adjoints = point.reverse().adjoints
    pairs = [(point.value(), found.values[point.graph.output])]
    pairs += [(adjoints[node], found.adjoints[node]) for node in point.wrt if adjoints[node] is not None]
    least = DIGITS
    for number, error in pairs:
        if isinstance(number, Hole) or not may_be_wrong(number, error):
            continue
        relative = error * DOUBLE.unit / abs(number) if number and error < INF else 1.0
        least = min(least, max(0.0, -math.log10(relative)))
    return least


def promised(point: Point, digits: int, unit: Any) -> bool:
    """Whether so many digits of the value and of every derivative by the rules are right, by running error analysis.

    >>> from backprop.kinds.digits import Digits
    >>> from backprop.point import at
    >>> kind = Digits(30, guard=5)
    >>> [promised(at("1 + x - 1", {"x": x}, kind=kind), 30, kind.context.eps) for x in ("2", "1e-9", "1e-40")]
    [True, False, False]
    """
    output = point.value()
    back = None if isinstance(output, Hole) else point.reverse()
    roundoff = Roundoff(unit, 0, 0)
    found = errors(point.graph, point.kind, point.values, point.partials, point.moving, back, roundoff)
    if found.branch >= 0:
        return False
    pairs = [(output, found.values[point.graph.output])]
    if back is not None:
        pairs += [(back.adjoints[node], found.adjoints[node]) for node in point.wrt if back.adjoints[node] is not None]
    least = point.kind.number(f"1e-{digits}")
    for number, error in pairs:
        if isinstance(number, Hole) or number - number != 0:
            continue
        if error == INF or error * unit > abs(number) * least:
            return False
    return True


def may_be_wrong(number: Any, error: Any) -> bool:
    """Whether a number may have too few right digits, being wrong by `error` units of the roundoff of doubles."""
    if isinstance(number, Hole):
        return bool(error)
    if number - number != 0:
        return bool(error == INF)
    return bool(error > DOUBT * abs(number) + SLACK)


def _mend(point: Point, found: Accuracy) -> None:
    """Put the nearest double where the answer has too few right digits, or is a hole that mathematics does not have."""
    from backprop.accuracy.fine import ENOUGH, Fine, digits_kept
    from backprop.beside.differences import to_double

    found.fine = fine = Fine(point, found.errors)
    if fine.reason:
        digits = _promised(point, found.errors)
        if digits < TOLD_OF:
            found.untold = f"of some answer no more than {digits:.0f} are certain, and {fine.reason}"
        elif vanishes(point, found.errors):
            found.untold = f"some answer may be nearer to 0 than doubles are, and {fine.reason}"
        return

    def mended(double: Any, truth: Any) -> Any:
        if truth is None:
            return None
        if isinstance(truth, Hole):
            if isinstance(double, Hole) and found.value is None:
                return None
            # what many digits cannot carry either is no news
            return truth if truth.code in ("domain", "infinite-slope") else None
        return None if digits_kept(double, truth) >= ENOUGH else to_double(truth) + 0.0

    graph, given = point.graph, point.by_rules()
    truth = fine.value(graph.output)
    unsure = [] if truth is not None or isinstance(point.value(), Hole) else [graph.ids[graph.output]]
    found.value = mended(point.value(), truth)
    if isinstance(point.value() if found.value is None else found.value, Hole):
        if found.value is not None:
            found.slopes = dict.fromkeys(point.wrt, found.value)
        return  # where there is no value there is no slope
    for node in point.wrt:
        name = point.name_of(node)
        truth = fine.adjoint(node)
        if truth is None and not isinstance(given[name], Hole):
            unsure.append(name)
        answer = mended(given[name], truth)
        if answer is not None:
            found.slopes[node] = answer
    if unsure:
        found.untold = "the digits of " + ", ".join(unsure[:4]) + " could not be told with more digits"

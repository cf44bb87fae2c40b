"""Rounding: how much of every value and of every adjoint may be wrong, by a running error analysis of first order.

Every operation rounds its result once and passes on what its operands are wrong by, times its partials:

    error(v) = |v| + sum of |partial| * error(operand)

in units of the kind's roundoff (2^-53 for doubles); the same walk back serves the adjoints, whose partials are wrong
as well (N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.3). It asks for nothing but
the values and partials that are there, so it costs little beside them, and it is the same for doubles and for numbers
of many digits. Where it cannot promise, because something overflowed or a branch hangs on the last digits, the
error is infinite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from backprop import ops
from backprop.graph import CONST, INPUT, Graph
from backprop.kinds import Hole, Kind, is_number, value_at
from backprop.reverse import Reverse
from backprop.rules import Partials, formula, rules

INF = math.inf
# Operations with a kink that hand on an operand, or 0 in its place: x^2 and atan2 may have a 0 that is none.
CUT_OFF = frozenset({"abs", "max", "min", "clip", "relu", "mod"})

# Operands wrong by fewer units than this, and a partial of ordinary size: then it has as many digits as they have.
FEW = 1000.0
# Where operands are wrong by fewer units than this, relative to their size, a partial is not asked what it makes of it.
LITTLE = 512.0


@dataclass(slots=True)
class Roundoff:
    """What one rounding does in a kind: `unit` is relative, `least` what a number near 0 may be wrong by, in units.

    `ties` says whether two numbers that come out the same are believed to be the same.
    """

    unit: Any
    smallest_normal: Any
    least: Any
    ties: bool = False


DOUBLE = Roundoff(2.0**-53, 2.0**-1022, 2.0**-1021)


@dataclass(slots=True)
class Errors:
    """What the values and the adjoints may be wrong by, in units of the roundoff; 0 is exact, inf no promise.

    `strain` is what the operands of each node are wrong by together, relative to their size: the partials there are
    wrong by about as much; 0 where all are exact, inf where so simple a rule does not do.
    `branch` is the first node whose branch, jump or corner hangs on digits that may be wrong, -1 when there is none.
    """

    values: list[Any]
    adjoints: list[Any]
    strain: list[Any]
    branch: int = -1


def errors(
    graph: Graph,
    kind: Kind,
    known: list[Any],
    slopes: Partials,
    moving: bytearray,
    back: Reverse | None,
    roundoff: Roundoff = DOUBLE,
) -> Errors:
    """The errors of all values and, when there are adjoints, of these.

    >>> from backprop.point import at
    >>> here = at("(x + 1) - x", {"x": 1e15})
    >>> found = errors(here.graph, here.kind, here.values, here.partials, here.moving, here.reverse())
    >>> found.values[here.graph.output] * 2**-53 > 0.1
    True
    """
    found = _of_values(graph, kind, known, slopes, moving, roundoff)
    if back is not None:
        _of_adjoints(graph, kind, known, slopes, moving, back, roundoff, found)
    return found


def _of_values(
    graph: Graph, kind: Kind, known: list[Any], slopes: Partials, moving: bytearray, roundoff: Roundoff
) -> Errors:
    wrong: list[Any] = [0.0] * len(graph)
    strain: list[Any] = [0.0] * len(graph)
    rows, offsets, args, partials = ops.rows(), graph.offsets, graph.args, slopes.values
    kinky = {code for code in set(graph.codes) if code >= 0 and rows[code].kink}
    # a 0 out of these is one: a sum never underflows, and what is cut off is cut off whole
    exact = {code for code in set(graph.codes) if code >= 0 and rows[code].name in CUT_OFF}
    exact |= {code for code in set(graph.codes) if plain_rules(code) in ((None,), (None, None))}
    smallest, least, branch = roundoff.smallest_normal, roundoff.least, -1
    for node, code in enumerate(graph.codes):
        value = known[node]
        if code < 0 or value is None:
            continue
        first, end = offsets[node], offsets[node + 1]
        if type(value) is Hole:
            wrong[node] = _of_hole(value, graph, kind, node, known, wrong, roundoff)
            continue
        size = 0.0 if value is True or value is False else abs(value)
        total, apart = size, 0.0
        if code in kinky and any(known[source] == value for source in args[first:end]):
            total = 0.0  # max(x, 1) hands on one of its operands, and rounds nothing
        for index in range(first, end):
            source = args[index]
            error = wrong[source]
            if not error:
                continue
            slope = partials[index]
            if slope is None:
                if known[source] is None:
                    continue  # of a branch not taken
                slope = _still(graph, kind, known, node, index - first)
            if type(slope) is Hole:
                total = INF
            elif slope:
                passed = abs(slope)
                total += passed * error
                large = abs(known[source])
                ordinary = error <= FEW and error <= FEW * large and (passed == 1 or passed * large >= 1e-3 * size)
                apart += error / large if ordinary else INF
            else:
                apart = INF
                if error == INF:
                    total = INF  # 0·inf
        strain[node] = apart
        if apart and code in kinky and _hangs(graph, kind, known, wrong, node, roundoff):
            branch = node if branch < 0 else branch
        if not total < INF:
            total = _of_infinity(value, known, wrong, args[first:end])
        elif size < smallest and value is not True and value is not False:
            vanished = value == 0 and (code in exact or _of_nothing(known, wrong, args[first:end]))
            total += 0.0 if vanished else least
        wrong[node] = total
    return Errors(wrong, [], strain, branch)


def _of_nothing(known: list[Any], wrong: list[Any], operands: Any) -> bool:
    """Whether an operand is exactly 0, so that a 0 has come of it and not of an underflow."""
    return any(not wrong[one] and is_number(known[one]) and known[one] == 0 for one in operands)


def _of_hole(
    hole: Hole, graph: Graph, kind: Kind, node: int, known: list[Any], wrong: list[Any], roundoff: Roundoff
) -> float:
    """No promise where exact numbers might have had a value: an operand is wrong, or something overflowed."""
    if hole.node != node:
        return float(wrong[hole.node])
    operands = graph.operands(node)
    if hole.code != "domain" or any(wrong[operand] for operand in operands[1:]):
        return INF
    return 0.0 if not wrong[operands[0]] or _is_far(graph, kind, node, known, wrong, roundoff) else INF


def _is_far(graph: Graph, kind: Kind, node: int, known: list[Any], wrong: list[Any], roundoff: Roundoff) -> bool:
    """Whether an operation has no value wherever its first operand, the only one that is wrong, may truly be.

    In one variable a domain is an interval, or all that is outside of one, less some poles: where neither end of a
    short interval is in it, nothing between is. Only an operand that is wrong by little is asked.
    """
    row, operands = graph.row(node), [known[operand] for operand in graph.operands(node)]
    apart = FEW * wrong[graph.operands(node)[0]] * roundoff.unit
    if row is None or isinstance(operands[0], (Hole, bool)) or not apart <= abs(operands[0]) / FEW:
        return False
    ends = (operands[0] - apart, operands[0] + apart)
    return all(type(value_at(node, row, kind, [end, *operands[1:]])) is Hole for end in ends)


def _of_infinity(value: Any, known: list[Any], wrong: list[Any], operands: Any) -> float:
    """An infinity that was given is one; what overflowed, or is a number in spite of an overflow, has no promise."""
    if value - value == 0:
        return INF
    given = (not wrong[one] and not is_number(known[one]) for one in operands if not isinstance(known[one], Hole))
    return 0.0 if any(given) else INF


def _still(graph: Graph, kind: Kind, known: list[Any], node: int, position: int) -> Any:
    """The slope in an operand that was not asked to move: what it is wrong by goes on all the same."""
    sources = graph.operands(node)
    code = graph.codes[node]
    if ops.rows()[code].gives_condition:
        return None
    operands = [known[source] for source in sources]
    # a condition moves nothing, and nobody reads the rule of an operand that is not there
    rule = rules(code, tuple(one == position for one in range(len(sources))))[position]
    return None if rule is None else rule.evaluate(kind, operands, known[node])


def _hangs(graph: Graph, kind: Kind, known: list[Any], wrong: list[Any], node: int, roundoff: Roundoff) -> bool:
    """Whether a corner, a jump or a boundary lies so near that the operands' errors may carry a node across."""
    row = ops.rows()[graph.codes[node]]
    sources, out = graph.operands(node), known[node]
    operands = [known[source] for source in sources]
    if not all(one is True or one is False or is_number(one) for one in operands):
        return False
    moves = [_wrong_by(known[source], wrong[source], roundoff) for source in sources]
    reach = sum(moves)
    if not reach < INF:
        return True
    distances = [formula(text, row, len(operands)) for text in row.kinks(len(operands))]
    if all(one.indicator for one in distances):
        return False
    near = [distance for one in distances if not isinstance(distance := one.evaluate(kind, operands, out), Hole)
            and abs(distance) <= reach]  # fmt: skip
    if near:
        return any(distance or not roundoff.ties for distance in near)
    if row.gives_condition:
        return False
    # a step or a sawtooth may jump between two numbers of which neither is at the jump
    ends = [value_at(node, row, kind, [one + sign * by for one, by in zip(operands, moves, strict=True)])
            for sign in (-1, 1)]  # fmt: skip
    if any(isinstance(end, Hole) for end in ends):
        return False  # the edge of a domain: where it matters there is a hole
    return bool(abs(ends[1] - ends[0]) > 0.25 * abs(out) + 4 * reach)


def _wrong_by(value: Any, error: Any, roundoff: Roundoff) -> Any:
    return 0.0 if value is True or value is False else error * roundoff.unit


def _of_adjoints(
    graph: Graph,
    kind: Kind,
    known: list[Any],
    slopes: Partials,
    moving: bytearray,
    back: Reverse,
    roundoff: Roundoff,
    found: Errors,
) -> None:
    wrong: list[Any] = [0.0] * len(graph)
    offsets, args, partials, exact_zero = graph.offsets, graph.args, slopes.values, slopes.exact_zero
    adjoints, contributions, of_values = back.adjoints, back.contributions, found.values
    least, smallest = roundoff.least, roundoff.smallest_normal
    plain = {code: places for code in set(graph.codes) if (places := plain_rules(code)) is not None}
    for node in range(len(graph) - 1, -1, -1):
        adjoint = adjoints[node]
        if adjoint is None:
            continue
        first, end = offsets[node], offsets[node + 1]
        if first == end:
            continue
        carried, apart = wrong[node], found.strain[node]
        if type(adjoint) is Hole:
            for index in range(first, end):
                if partials[index] is not None and not exact_zero[index]:
                    wrong[args[index]] = INF
            continue
        size, places = abs(adjoint), plain.get(graph.codes[node])
        for index in range(first, end):
            slope, brought = partials[index], contributions[index]
            if slope is None or brought is None or exact_zero[index]:
                continue
            source = args[index]
            if Hole in (type(slope), type(brought), type(known[source])):
                wrong[source] = INF
                continue
            error = abs(brought)
            if carried:
                error = error + carried * abs(slope) if slope else max(error, carried) if carried == INF else error
            if size and places is not None:
                place = places[index - first]
                if place is not None:  # the partial is the very number of an operand, or of the result
                    error += size * (of_values[args[first + place]] if first + place < end else of_values[node])
            elif size:
                passed = abs(slope)
                if passed < smallest:
                    error += size * least  # it may be a 0 that is none
                if apart <= LITTLE and passed * abs(known[source]) >= 1e-3 * abs(known[node]):
                    # an ordinary rule, out of products and powers: as wrong as its operands, a few times over
                    error += abs(brought) * (1 + 4 * apart)
                else:
                    error += size * _of_partial(graph, kind, known, slopes, moving, of_values, index, node, roundoff)
            if not error < INF:
                error = INF
            elif abs(brought) < smallest and not (slope == 0 or adjoint == 0):
                error += least
            wrong[source] += error
    found.adjoints = wrong


@lru_cache(maxsize=1024)
def plain_rules(code: int) -> tuple[int | None, ...] | None:
    """For a sum or a product, the operand that each partial is: None for a number; None when rules are more than that.

    A place behind the last operand stands for the result.
    """
    if code < 0 or not isinstance(ops.rows()[code].partials, tuple):
        return None
    found = rules(code, (True,) * len(ops.rows()[code].parameters))
    if any(rule is None or (rule.constant is None and rule.single is None) for rule in found):
        return None
    return tuple(rule.single if rule is not None and rule.constant is None else None for rule in found)


def _of_partial(
    graph: Graph,
    kind: Kind,
    known: list[Any],
    slopes: Partials,
    moving: bytearray,
    of_values: list[Any],
    index: int,
    node: int,
    roundoff: Roundoff,
) -> Any:
    """What a partial is wrong by, where its rule has to tell: its own rounding, and what it makes of its operands."""
    first = graph.offsets[node]
    sources = graph.args[first : graph.offsets[node + 1]]
    rule = rules(graph.codes[node], tuple([bool(moving[one]) for one in sources]), kind.convention)[index - first]
    if rule is None or rule.constant is not None:
        return 0.0
    if rule.single is not None:
        return of_values[node] if rule.single == len(sources) else of_values[sources[rule.single]]
    operands, wrong = [known[one] for one in sources], [of_values[one] for one in sources]
    beside = slopes.values[first : first + len(sources)]
    slope = slopes.values[index]
    return abs(slope) + _by_trial(rule, kind, operands, known[node], wrong, beside, slope, roundoff)


def _by_trial(
    rule: Any,
    kind: Kind,
    operands: list[Any],
    out: Any,
    wrong: list[Any],
    slopes: list[Any],
    at: Any,
    roundoff: Roundoff,
) -> Any:
    """How far a rule moves when its operands move by what they are wrong by, every other one the other way."""
    beside, moved, sign = [], out, 1
    for value, error, slope in zip(operands, wrong, slopes, strict=True):
        # what is exact moves too: a rule near 0, as that of silu at its minimum, rounds as much by itself
        still = not error and (slope is None or isinstance(slope, Hole))
        if still or value is None or value is True or value is False:
            beside.append(value)
            continue
        if not error < INF or not is_number(value):
            return INF
        step = sign * max(error, 4 * abs(value)) * roundoff.unit  # a smaller step might be rounded away
        beside.append(value + step)
        if slope is not None and not isinstance(slope, Hole):
            moved = moved + slope * step
        sign = -sign
    there = rule.evaluate(kind, beside, moved)
    if isinstance(there, Hole) or not is_number(there):
        return INF
    return abs(there - at) / roundoff.unit


def leaves(graph: Graph) -> list[int]:
    """The nodes that are given: inputs and constants."""
    return [node for node, code in enumerate(graph.codes) if code in (INPUT, CONST)]

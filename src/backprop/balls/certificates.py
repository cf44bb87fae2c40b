"""Certificates: what proven enclosures tell a reader beside their digits.

How far the doubles of an ordinary trace are from the truth; where an enclosure holds the slopes of both sides of a
kink, or of both branches of a condition; and at which node it grew so wide that hardly a digit is proven.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from backprop import ops
from backprop.balls.ball import UNDECIDED, Ball, working
from backprop.balls.enclosures import ENOUGH, FIRST_BITS, Certified
from backprop.balls.narrower import open_conditions
from backprop.figures import figure
from backprop.graph import CONST
from backprop.kinds import Hole
from backprop.kinds.real import REAL
from backprop.mistakes import UnusableNumber
from backprop.point import Point
from backprop.record import Note

# A double farther from the truth than so many ulps is told by its digits: it has fewer than ten right.
MOST_ULPS = 1_000_000


def notes(point: Point) -> Iterator[Note]:
    """What there is to tell of a point in kind certified."""
    yield from _narrower(point)
    yield from _both_sides(point)
    yield from _grown(point)
    text = doubles(point)
    if text:
        yield Note("certified", text)


def doubles(point: Point) -> str:
    """How far the gradient of an ordinary trace is from the proven one; "" where an interval is given, or no input."""
    if not isinstance(point.kind, Certified):
        return ""  # arrays, too many to be opened into numbers
    if not point.wrt or any(".." in text for text in point.given.values()):
        return ""
    try:
        gradient = point.in_kind(REAL).gradient()
    except UnusableNumber as mistake:
        return f"double precision has no gradient here: {mistake.cause}"
    output = point.graph.ids[point.graph.output]
    worst, name = -1.0, ""
    for one, proven in point.gradient().items():
        double, slope = gradient[one], f"∂{output}/∂{one}"
        if isinstance(proven, Hole) or not proven.finite:
            continue
        if isinstance(double, Hole) or not math.isfinite(double):
            return f"the double-precision gradient has no number for {slope}, which is {shown(proven)}"
        apart = ulps(double, proven)
        if apart > MOST_ULPS:
            if proven.holds(0) or proven.digits() < ENOUGH:
                continue
            return f"the double-precision gradient has {figure(double)} for {slope}, which is {shown(proven)}"
        if apart > worst:
            worst, name = apart, slope
    if worst < 0:
        return ""
    most = max(1, math.ceil(worst * 2) / 2)
    return f"the double-precision gradient is within {most:g} ulp of the true one (the farthest is {name})"


def shown(proven: Ball) -> str:
    """A ball with as many digits as a double could hold."""
    return figure(dict(zip(("mid", "rad"), proven.decimals(), strict=True)), 17)


def ulps(double: float, proven: Ball) -> float:
    """By how many units in its last place a double may be off, at most; 0 when it is the number proven.

    >>> ulps(1.0, Ball.between(1, 1)), ulps(1.0, Ball.between(1, 1 + 2**-51)), ulps(0.0, Ball.between(0, 1)) > 1e300
    (0.0, 2.0, True)
    """
    with working(FIRST_BITS):
        apart = (abs(Ball.of(double) - proven) / Ball.of(math.ulp(double))).hi
    most = float(apart)
    return most if most >= apart else math.nextafter(most, math.inf)


def _narrower(point: Point) -> Iterator[Note]:
    """Which answers do not stand in the lines of the tables: narrower ones, and those that hold both branches."""
    value, slopes = point.narrower()
    graph, kind = point.graph, point.kind
    assert isinstance(kind, Certified)
    output = graph.ids[graph.output]
    names = [f"∂{output}/∂{point.name_of(node)}" for node, slope in slopes.items() if not isinstance(slope, Hole)]
    conditions = [node for node in open_conditions(point) if point.values[node] is not UNDECIDED]
    if conditions and names and not kind.given_intervals:
        text = ", ".join(f"{graph.formula(node)} is at its boundary" for node in conditions)
        text += f", so {', '.join(names)} {'holds' if len(names) == 1 else 'hold'} both branches"
        yield Note("both-branches", text, graph.ids[conditions[0]])
    elif kind.given_intervals and (names or value is not None):
        names = names if value is None else [output, *names]
        text = (
            f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} enclosed more narrowly than by the lines above: "
        )
        yield Note("narrower", text + "the intervals were taken apart, and ends compared where a slope has one sign")


def _both_sides(point: Point) -> Iterator[Note]:
    """Kinks and boundaries inside, where an enclosure holds what comes from both sides."""
    graph, known, kind = point.graph, point.values, point.kind
    assert isinstance(kind, Certified)
    adjoints = point.reverse().adjoints
    for node, code in enumerate(graph.codes):
        if code < 0 or adjoints[node] is None or not point.moving[node] or known[node] is None:
            continue
        row, sources = ops.rows()[code], graph.operands(node)
        operands = [known[source] for source in sources]
        slopes = point.partials.values[graph.offsets[node] : graph.offsets[node + 1]]
        if any(isinstance(one, Hole) for one in (known[node], *operands, *slopes)):
            continue
        what = f"{graph.ids[node]} = {graph.formula(node)}"
        where = ", ".join(
            f"{graph.ids[source]} = {figure(kind.record(known[source]))}"
            for source in dict.fromkeys(sources)
            if graph.codes[source] != CONST and isinstance(known[source], Ball)
        )
        if row.conditions and operands[0] is UNDECIDED:
            condition = graph.formula(sources[0]) or graph.ids[sources[0]]
            text = f"{condition} is not decided, so {what} and its slopes hold both branches"
            yield Note("both-branches", text, graph.ids[node])
        elif row.kink and not row.gives_condition and kind.is_kink(row, operands, known[node]):
            does = "jumps" if row.jumps else "has a kink"
            text = f"{what} {does} within {where}: its slopes hold those on both sides"
            yield Note("kink-inside", text, graph.ids[node])


def _grown(point: Point) -> Iterator[Note]:
    """The first node at which an enclosure of single numbers grew so wide that few digits are proven."""
    kind = point.kind
    assert isinstance(kind, Certified)
    answers = [point.answer(), *point.gradient().values()]
    if kind.given_intervals or all(isinstance(one, Hole) or proves(one) for one in answers):
        return
    graph, known = point.graph, point.values
    for node in range(len(graph)):
        operands = [known[source] for source in graph.operands(node)]
        if graph.row(node) is None or not isinstance(known[node], Ball) or proves(known[node]):
            continue
        if all(proves(one) for one in operands if isinstance(one, Ball)):
            text = f"{graph.ids[node]} = {graph.formula(node)} is {figure(kind.record(known[node]))} with {kind.bits} "
            yield Note("wide", text + "bits: no more is proven of it, nor of what comes of it", graph.ids[node])
            return


def proves(value: Any) -> bool:
    """Whether a value has enough proven digits."""
    return not isinstance(value, Ball) or value.digits() >= ENOUGH

"""Witnesses: independent ways to the same derivatives, and what each says of the numbers found.

None shares code with the rules it checks, and each is bounded in time and memory whatever the program:

1. SymPy differentiates each operation by itself (`sympy_rules`);
2. SymPy differentiates the closed form of the whole (`sympy_whole`), both in a process of their own (`child`);
3. the value alone, at 60 digits and more, beside the point and at it (`differences`);
4. forward mode, reverse mode and the sum over paths are three orders of one sum (`modes`).

An array program is held against the scalar program that it opens into, and all of these are asked of that (`arrays`).

Where doubles lose digits the answers are worked out with more (`accuracy`), and it is those that the witnesses judge;
what double precision is worth is told by a row of its own (`rounding`). A number with fewer digits than a double holds
is not yet a wrong rule: the rules themselves are worked out at 60 digits as well (`fine`), and only where those are
wrong too does a witness disagree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backprop.accuracy.fine import of as fine_of
from backprop.accuracy.lost_digits import first_loss, out_of_range
from backprop.beside.differences import LEVELS
from backprop.kinds.real import Real
from backprop.point import Point
from backprop.record import Note, Witness
from backprop.witnesses import child, differences, many_digits, modes, rounding, sampled, sympy_rules, sympy_whole
from backprop.witnesses.certified import Enclosing

if TYPE_CHECKING:
    from backprop.witnesses.arrays import ArraysRunning, Closed


class Running:
    """Witnesses at work: SymPy is starting in its own process while the caller goes on.

    `closed` is the array program whose answers are judged, where the point is the program that it opens into.
    """

    def __init__(self, point: Point, closed: Closed | None = None) -> None:
        self.point, self.closed = point, closed
        self.questions = sympy_rules.questions(point)
        self.whole = sympy_whole.question(point)
        self.process = None
        if self.questions.groups or isinstance(self.whole, dict):
            whole, sure = self.whole if isinstance(self.whole, dict) else None, max(30, point.kind.checked)
            self.process = child.Child(self.questions.groups, whole, sure)

    def finish(self) -> tuple[list[Witness], list[Note]]:
        """What all witnesses say, input by input, and notes on digits that were lost on the way."""
        point = self.point
        if not isinstance(point.kind, Real):
            answers = child.Answers() if self.process is None else self.process.answers()
            return many_digits.testify(point, self.questions, self.whole, answers, self.closed)
        fine = fine_of(point) if self.closed is None else self.closed.fine
        if self.closed is None:
            by_difference = differences.testify(point, fine)
        else:
            by_difference = differences.array_by_array(point, fine, self.closed.arrays())
        by_modes = modes.testify(point, fine.weights) if self.closed is None else []
        answers = child.Answers() if self.process is None else self.process.answers()
        by_rule = sympy_rules.testify(point, self.questions, answers, fine)
        by_whole = sympy_whole.testify(point, self.whole, answers, fine)
        blame = sympy_rules.blame(by_rule)
        for witness in [*by_difference, *by_whole]:
            if witness.verdict == "DISAGREES":
                witness.reason = "; ".join(part for part in (witness.reason, blame) if part)
        order = {point.name_of(node): place for place, node in enumerate(point.wrt)}
        each = [*by_whole, *by_difference, *by_modes]
        each.sort(key=lambda witness: order.get(witness.of, len(order)))
        if self.closed is None:
            by_rounding = rounding.testify(point)
        else:
            by_rounding = rounding.of_numbers(point, self.closed.point.value(), self.closed.by_rules())
        level = fine.at(LEVELS[0])
        known = point.accuracy()
        loss = first_loss(point, known) if known is not None and known.mended else None
        notes = [] if level is None else out_of_range(point, level, loss)
        return [*each, *by_rule, *sampled.testify(point), *([] if by_rounding is None else [by_rounding])], notes


def start(point: Point) -> Running | Enclosing | ArraysRunning:
    """Set the witnesses to work on a point; `finish` gathers what they say."""
    if point.kind.arrays:
        from backprop.array_point import ArrayPoint
        from backprop.witnesses.arrays import ArraysRunning

        assert isinstance(point, ArrayPoint)
        return ArraysRunning(point, _started)
    return _started(point)


def _started(point: Point, closed: Closed | None = None) -> Running | Enclosing:
    return Enclosing(point, Running) if point.kind.intervals else Running(point, closed)


def verify(point: Point) -> tuple[list[Witness], list[Note]]:
    """What all witnesses say of a point, and notes on digits that were lost on the way.

    >>> from backprop.point import at
    >>> witnesses, notes = verify(at("(x*y + z)*x", {"x": 3, "y": -1, "z": 2}))
    >>> {witness.verdict for witness in witnesses}, notes
    ({'agrees'}, [])
    """
    return start(point).finish()

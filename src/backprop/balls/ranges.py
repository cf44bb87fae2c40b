"""Ranges: how narrowly the values of a function over a box are enclosed.

Working a formula out in interval arithmetic takes every occurrence of an operand for another number, so x·(1 - x) over
[0.2, 0.4] becomes [0.12, 0.32] instead of [0.16, 0.24]. Where the slope in an operand has one sign all over the box,
the extremes lie at its ends; elsewhere the mean value form f(c) + f'(box)·(box - c) is narrow when the box is, so boxes
are halved until they are, and those that lie within what the function is known to reach are done with (Moore, Kearfott
and Cloud, Introduction to Interval Analysis, 2009, chapter 6).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from flint import arb

from backprop.balls.ball import Ball, Undecided, hull, max_of, min_of

Box = list[Any]  # a ball for each operand; a condition stands for itself
# The range of a function over a box, some way or other; `Undecided` where it may have no value, ValueError where it
# certainly has none. And its slopes there, None for one of which nothing is known.
Value = Callable[[Box], Ball]
Slopes = Callable[[Box], Sequence[Ball | None] | None]

# An enclosure that is wider by no more than this part of its width is as good as the range itself.
SLACK = arb(2) ** -50


@dataclass(slots=True)
class Budget:
    """How many more boxes may be looked at: a count and no clock, so that the same question has the same answer."""

    left: int

    def take(self) -> bool:
        self.left -= 1
        return self.left >= 0


def narrowed(value: Value, slopes: Slopes, box: Box, wide: list[int], budget: Budget, most: int = 300) -> Ball:
    """An enclosure of all values over a box, as narrow as at most so many smaller boxes make it.

    `wide` are the operands that are taken apart. The function is to be continuous, and its slopes to be those it has
    almost everywhere (of a corner those of both sides): then the mean value theorem holds for it (Lebourg 1975).
    """
    why = "it may have no value there"
    try:
        whole = value(box)
    except Undecided:
        whole = None
    except OverflowError:
        whole, why = None, "it grows beyond what can be carried"
    reached = _reached(value, box, wide)
    if whole is not None and reached is not None and _within(whole, reached):
        return whole
    done: list[Ball] = []
    waiting = deque([(box, whole)])
    looked = 0
    while waiting:
        piece, own = waiting.popleft()
        looked += 1
        found, definite, attained = _enclosed(value, slopes, piece, own, wide)
        if attained is not None:
            reached = attained if reached is None else reached.hull(attained)
        if found is not None and (definite or (reached is not None and _within(found, reached))):
            done.append(found)
        elif looked + len(waiting) < most and budget.take():
            waiting.extend((half, _value(value, half)) for half in halves(piece, wide))
        elif found is None:
            raise Undecided(why)
        else:
            done.append(found)
    found = hull(done)
    return found if whole is None else found.both(whole)


def _value(value: Value, box: Box) -> Ball | None:
    """The enclosure of a part of the box worked out in one go; None when that tells nothing. `Undecided` when the
    function has no value there: then it has none in the box, and some elsewhere perhaps."""
    try:
        return value(box)
    except (Undecided, OverflowError):
        return None
    except (ValueError, ZeroDivisionError):
        raise Undecided("it has no value in a part of the box") from None


def _reached(value: Value, box: Box, wide: list[int]) -> Ball | None:
    """Between which values the function comes for certain, by its values at corners. `Undecided` when it has none."""
    ends = [box[place].ends for place in wide]
    chosen = list(product(*ends)) if len(wide) <= 3 else [tuple(pair[side] for pair in ends) for side in (0, 1)]
    found = []
    for corner in chosen:
        moved = box[:]
        for place, end in zip(wide, corner, strict=True):
            moved[place] = end
        one = _value(value, moved)
        if one is not None:
            found.append(one)
    return _between(found)


def _between(values: list[Ball]) -> Ball | None:
    """The gap-free part of what a continuous function reaches that has a value in each of these balls."""
    if not values:
        return None
    low, high = values[0].hi, values[0].lo
    for one in values[1:]:
        low, high = min_of(low, one.hi), max_of(high, one.lo)
    return Ball(low, high) if low <= high else None


def _within(found: Ball, reached: Ball) -> bool:
    """Whether an enclosure adds nothing, or nothing to speak of, to what is reached."""
    if not found.finite:
        return False
    slack = ((reached.hi - reached.lo) * SLACK).upper()
    return bool((reached.lo - found.lo).upper() <= slack) and bool((found.hi - reached.hi).upper() <= slack)


def _enclosed(
    value: Value, slopes: Slopes, box: Box, own: Ball | None, wide: list[int]
) -> tuple[Ball | None, bool, Ball | None]:
    """The best enclosure of one box, whether it is the range itself, and what of it is reached for certain."""
    if own is None:
        return None, False, None
    try:
        known = slopes(box)
    except (ArithmeticError, ValueError):  # of a division by 0, an overflow, or what is undecided
        known = None
    if known is None:
        return own, False, None
    low, high, definite = box[:], box[:], True
    for place in wide:
        slope, (first, last) = known[place], box[place].ends
        if slope is not None and slope.lo >= 0:
            low[place], high[place] = first, last
        elif slope is not None and slope.hi <= 0:
            low[place], high[place] = last, first
        else:
            definite = False
    lowest, highest = _value(value, low), _value(value, high)
    found = own
    if lowest is not None and highest is not None:
        found = found.both(Ball.from_to(lowest, highest))
    if definite:
        attained = [one for one in (lowest, highest) if one is not None]
        return found, len(attained) == 2, _between(attained)
    centre = box[:]
    for place in wide:
        centre[place] = box[place].middle
    middle = _value(value, centre)
    if middle is None:
        return found, False, None
    if all(known[place] is not None for place in wide):
        form = middle
        for place in wide:
            form = form + known[place] * (box[place] - centre[place])
        if form.finite:
            found = found.both(form)
    return found, False, _between([middle])


def halves(box: Box, wide: list[int]) -> list[Box]:
    """A box cut in two across its widest operand, measured by its own size."""
    place = max(wide, key=lambda one: _width(box[one]))
    cut, (first, last) = box[place].middle, box[place].ends
    return [[*box[:place], piece, *box[place + 1 :]] for piece in (first.hull(cut), cut.hull(last))]


def _width(ball: Ball) -> float:
    return 0.0 if ball.exact else float((ball.hi - ball.lo) / (ball.size() + 1))

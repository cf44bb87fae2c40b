"""Limits: what a quantity does as a step h shrinks to 0, told from its values at many scales.

The scales are h = 10^-2, 10^-4, 10^-8, ...: each exponent is twice the one before. On them a power h^p squares from one
to the next, so that whatever moves by a power is over soon; and what moves by powers of L = log(1/h), as 1/log(x) does,
moves by powers of 2, so that Richardson's extrapolation takes it to its end (Sidi, Practical Extrapolation Methods,
2003, chapter 1). Steps between the scales, without a pattern, tell a limit from the steady part of an oscillation.

A value is believed only when it is the same with twice the digits, and a limit only when all scales bear it out; else
it is "unclear", and nothing is said. So no limit is told wrongly because rounding, or a slow beginning, looked like
one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from backprop.kinds import Hole, is_number

# Exponents of the scales. The last lies beyond whatever a double can hold, so that no constant of a program is met
# behind it; for a quantity that takes several times the digits, it is nearer.
SCALES, NEARER = (2, 4, 8, 16, 32, 64, 400), (2, 4, 8, 16, 32, 64)
# Those for operations that take seconds with a thousand digits.
HEAVY_SCALES = (2, 4, 8, 16, 32)
# Further ones, for what moves by powers of log(1/h).
FURTHER = (128, 256, 512, 1024)
# Where steps between the scales are tried.
BETWEEN = (16, 32)
# The steps at one scale are h times these, numbers without a pattern: floor(1/h) or sin(pi/h) is no special case then.
FACTORS = ("0.731058578630004", "0.377540668798145", "0.952574126822433", "0.119202922022117", "0.549833997312478")

# The quantity at a step of `factor`·10^-`exponent`, worked out with so many digits; no number where it has none.
Sample = Callable[[int, str, int], Any]


@dataclass(slots=True)
class Limit:
    """What a quantity does as h goes to 0.

    `sort` is "number" (it goes to `value`), "infinite" (it grows without bound, `value` is inf or -inf), "oscillates"
    (it goes to and fro for ever), "none" (it has no value beside the point) or "unclear" (nothing can be told).
    """

    sort: str
    value: Any = None

    @property
    def exists(self) -> bool:
        """Whether it goes anywhere: to a number, or to an infinity."""
        return self.sort in ("number", "infinite")


def limit(sample: Sample, far: bool = True, depth: int = 1, digits: int = 16, heavy: bool = False) -> Limit:
    """The limit of a quantity, good to so many `digits`. `far` lets it be followed to the scales that logarithms need.

    `heavy` says that it takes seconds with a thousand digits: then fewer scales have to do, and less can be told.
    `depth` is the power of h to which the quantity looks inside: a place h^3 from the point needs 3 times the digits.

    >>> from mpmath import mp, mpf
    >>> def of(function):
    ...     def sample(exponent, factor, digits):
    ...         with mp.workdps(digits):
    ...             return function(mpf(factor) * mpf(10) ** -exponent)
    ...     return sample
    >>> limit(of(lambda h: mp.sin(h) / h)), limit(of(lambda h: mp.log(h) / h))
    (Limit(sort='number', value=mpf('1.0')), Limit(sort='infinite', value=mpf('-inf')))
    >>> limit(of(lambda h: 1 / mp.log(h))).value, limit(of(lambda h: mp.sin(1 / h))).sort
    (mpf('0.0'), 'oscillates')
    """
    if heavy and depth > 1:
        return Limit("unclear")
    scales = HEAVY_SCALES if heavy else SCALES if depth == 1 else NEARER
    found = _Found(sample, depth, digits, scales)
    along = [found.at(exponent) for exponent in scales]
    if along[-1] is BEYOND:
        return _near(found, along)
    if all(one is None for one in along[1:]):
        return Limit("none")
    if any(one is None for one in along[1:]) or any(one is UNSTEADY or one is BEYOND for one in along):
        return Limit("unclear")
    if along[0] is None:
        along = along[1:]
    told = _settled(along, digits) or _grown(along)
    if told is not None:
        right = _goes_on(found, told, along, scales[-1]) and _borne_out(found, told)
        return told if right else Limit("unclear")
    if _swings(found):
        return Limit("oscillates")
    if heavy or not far:
        return Limit("unclear")
    doubling = [found.at(exponent) for exponent in (*SCALES[1:-1], *FURTHER)]
    if not all(map(_known, doubling)):
        return Limit("unclear")
    told = _settled(doubling, digits) or _grown(doubling) or _extrapolated(doubling)
    if told is not None and told.sort == "number" and told.value != 0 and digits > 16:
        return Limit("unclear")  # extrapolation does not give so many digits
    return told if told is not None and _borne_out(found, told) else Limit("unclear")


def tends(sample: Sample, end: Limit) -> bool:
    """Whether a quantity that moves too slowly to be followed to its end comes steadily nearer to this one.

    Nearer by a fifth at least with each squaring of h, as log(L)/L and 1/sqrt(L) do with L = log(1/h); towards an
    infinity it is enough to go as far again each time, as log(L) does.
    """
    found = _Found(sample, 1, 16, SCALES)
    along = [found.at(exponent) for exponent in (*SCALES[4:-1], *FURTHER[:-1])]
    if not all(map(_known, along)):
        return False
    if end.sort == "infinite":
        moves = [(after - before) * (1 if end.value > 0 else -1) for before, after in pairwise(along)]
        return moves[0] > 0 and all(after >= before * 0.9 for before, after in pairwise(moves))
    apart = [abs(one - end.value) for one in along]
    return all(after <= before * 0.8 for before, after in pairwise(apart))


class _Mark:
    """What stands for a value that is not known."""


# a value that changes with the digits it is worked out with, and one on whose way a number is beyond all measure
UNSTEADY, BEYOND = _Mark(), _Mark()


def _known(value: Any) -> bool:
    return value is not None and not isinstance(value, _Mark)


def _near(found: _Found, along: list[Any]) -> Limit:
    """The limit where the further scales are beyond all measure, as exp(1/h) is: the nearer have to be plain enough."""
    first = along.index(BEYOND)
    told = along[:first]
    if first < 4 or not all(map(_known, told)) or any(one is not BEYOND for one in along[first:]):
        return Limit("unclear")
    end = _settled(told, found.digits) or _grown(told)
    # it moves by more than any power of h does
    if end is None or (end.sort == "infinite" and abs(told[-1]) < abs(told[-2]) * 1e50):
        return Limit("unclear")
    return end if _borne_out(found, end, (8, 16)) else Limit("unclear")


class _Found:
    """The values of a quantity as far as they were asked for."""

    def __init__(self, sample: Sample, depth: int, digits: int, scales: tuple[int, ...]) -> None:
        self.sample, self.depth, self.digits, self.scales = sample, depth, digits, scales
        self.known: dict[tuple[int, str], Any] = {}

    def at(self, exponent: int, factor: str = FACTORS[0]) -> Any:
        """The value at one step: None where it has none, a mark where it is not known."""
        if (exponent, factor) not in self.known:
            self.known[exponent, factor] = self._steady(exponent, factor)
        return self.known[exponent, factor]

    def _steady(self, exponent: int, factor: str) -> Any:
        """Worked out with enough digits for h^2 to cancel in it, and more until two agree."""
        before: Any = None
        rounding = True
        for times in (2, 4, 8) if exponent <= 2 * NEARER[-1] and self.scales is not HEAVY_SCALES else (2, 4):
            digits = 84 + self.digits + times * self.depth * exponent
            value = self.sample(exponent, factor, digits)
            rounding = rounding and is_number(value) and abs(value) <= value.context.mpf(10) ** (-digits // 4)
            if times > 2:
                if is_number(value) != is_number(before):
                    return UNSTEADY
                if not is_number(value):
                    return BEYOND if isinstance(value, Hole) and value.code == "overflow" else None
                if abs(value - before) <= abs(value) * 10.0 ** -min(300, self.digits + 4):
                    return value
                # what shrinks with the rounding is 0
                if abs(value) <= abs(before) * value.context.mpf(10) ** (-digits // 4):
                    return value * 0
            before = value
        return before * 0 if rounding else UNSTEADY


def _settled(along: list[Any], digits: int) -> Limit | None:
    """A number: the last scales agree on it, or the quantity dwindles to nothing as a power does."""
    *_, before, last = along
    size = max(map(abs, along))
    # the last scale is twice or six times as far as the one before, and so many times the digits agree with the end
    enough = max(12, digits // 2 + 2) if len(along) <= len(HEAVY_SCALES) else max(17, (digits + 2) // 4)
    if abs(last - before) <= abs(last) * 10.0 ** -min(300, enough):
        end = last
    elif abs(last) <= size * 1e-20 and abs(last) <= abs(before) * 1e-10:
        end = last * 0
    else:
        return None
    # it has to come nearer before it arrives: a sudden end is one of the digits, not of the quantity
    apart = [abs(one - end) for one in along]
    seen = [one for one in apart if one > size * 1e-17]
    if len(seen) > 1 and seen[-1] > seen[-2] * 0.7:
        return None
    return Limit("number", end)


def _grown(along: list[Any]) -> Limit | None:
    """An infinity: it moves away from 0 at every scale, and farther than at the scale before."""
    moves = [after - before for before, after in pairwise(along)][-4:]
    sign = 1 if along[-1] > 0 else -1
    away = all(sign * move > 0 for move in moves)
    faster = all(abs(after) >= abs(before) * 1.2 for before, after in pairwise(moves))
    if away and faster and abs(along[-1]) >= 2 * abs(along[-3]):
        return Limit("infinite", along[-1].context.inf * sign)
    return None


def _extrapolated(doubling: list[Any]) -> Limit | None:
    """The end of what moves by whole powers of 1/L, by Richardson's extrapolation; two ends have to agree on it."""
    row, ends = list(doubling[1:]), []
    size = max(map(abs, row))
    moves = [after - before for before, after in pairwise(row)]
    if not all(0.1 * abs(before) < abs(after) < 0.9 * abs(before) for before, after in pairwise(moves)):
        return None
    for power in range(1, len(row)):
        row = [(2**power * after - before) / (2**power - 1) for before, after in pairwise(row)]
        ends.append(row[-1])
    apart = max(abs(ends[-1] - ends[-2]), abs(ends[-2] - ends[-3]))
    if apart > size * 1e-8:
        return None
    if abs(ends[-1]) <= size * 1e-7 and abs(doubling[-1]) < abs(doubling[-2]) * 0.8:
        return Limit("number", ends[-1] * 0)
    if apart > abs(ends[-1]) * 1e-13:
        return None
    # the digits beyond are those of the extrapolation
    return Limit("number", ends[-1].context.mpf(ends[-1].context.nstr(ends[-1], 13)))


def _goes_on(found: _Found, told: Limit, along: list[Any], exponent: int) -> bool:
    """Whether what dwindles to nothing, or grows, still does so farther on: 1e-300 + h stops at 1e-300."""
    before, last = along[-2:]
    if told.sort == "number" and (told.value != 0 or last == 0):
        return True
    one = found.at(exponent * 3 // 2)
    if not _known(one):
        return False
    if one == 0 or (told.sort == "infinite" and one * last < 0):
        return told.sort == "number"
    log = one.context.log
    grown, grows = (abs(log(abs(after)) - log(abs(start))) for start, after in ((before, last), (last, one)))
    # a logarithm grows by the least: from h^400 to h^600 by a fifth of what it did from h^64 to h^400
    return bool(grows >= 0.2 * grown and (abs(one) > abs(last)) == (told.sort == "infinite"))


def _borne_out(found: _Found, told: Limit, between: tuple[int, ...] = BETWEEN) -> bool:
    """Whether steps between the scales tell the same: no farther from a limit than a scale before, or as large."""
    for exponent in between:
        # two scales before, so that a factor of 10 between the steps does not matter
        before = found.at(exponent // 4)
        for factor in FACTORS[1:]:
            one = found.at(exponent, factor)
            if not _known(one) or not _known(before):
                return False
            if told.sort == "infinite":
                if not (one * told.value > 0 and abs(one) >= min(abs(before), abs(found.at(exponent // 2)))):
                    return False
            elif abs(one - told.value) > 2 * abs(before - told.value) + abs(told.value) * 1e-13:
                return False
    return True


def _swings(found: _Found) -> bool:
    """Whether the values at each scale are spread as widely as at the one before, without going anywhere."""
    spreads, middles = [], []
    for exponent in found.scales[2:6]:
        values = [found.at(exponent, factor) for factor in FACTORS]
        if not all(map(_known, values)):
            return False
        spreads.append(max(values) - min(values))
        middles.append((max(values) + min(values)) / 2)
    # a logarithm is as widely spread at every scale, but it goes away: further each time than it is spread
    wide = all(after >= before * 0.3 > 0 for before, after in pairwise(spreads))
    moves = (abs(after - before) for before, after in pairwise(middles))
    return wide and all(move <= max(spread) for move, spread in zip(moves, pairwise(spreads), strict=True))

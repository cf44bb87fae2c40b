"""The value and the derivative of a program over one of its inputs, sampled so that every break is seen.

Samples lie evenly first; between them breaks are found (`breaks`), a curve is cut there and led up to each side, and
where it bends it is sampled again between its points until its chords lie on it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from backprop.compiled import Compiled
from backprop.figures import figure
from backprop.kinds import Hole, is_number
from backprop.mistakes import OptionValue, Undefined, closest, listed
from backprop.notes import explained
from backprop.plots import Axis, Curve, Mark, Note, Pair, Panel, Plot
from backprop.plots.breaks import Break, Side, Watched, judged
from backprop.point import Number, Point, Program
from backprop.syntax import canonical

POINTS, MOST_POINTS = 201, 20_001
# From so many nodes on the engine would look at a break for seconds: there the neighbours tell, by a plain tape.
HEAVY = 1_000
# Breaks that are asked for one by one, and those that are told in words.
MOST_BREAKS, MOST_TOLD = 200, 12
# A chord may be off by this part of the height of a panel; between two samples so many times halves are taken.
OFF, DEEP, MOST_SAMPLES = 0.002, 7, 6_000
# Two breaks nearer than this part of the range are one.
SAME = 1e-9
# Towards a pole or an infinite slope: so many samples, each nearer by half.
NEARER = 14
# With a pole the height is that of all samples but this part at each end.
LEFT_OUT = 0.06


@dataclass(slots=True)
class _Piece:
    """A stretch without a break: samples in order, and its two ends."""

    xs: list[float]
    left: Break | None = None
    right: Break | None = None
    values: list[Pair] = field(default_factory=list)
    slopes: list[Pair] = field(default_factory=list)


def over(
    program: Program, inputs: Mapping[str, Number], name: str, low: float, high: float, points: int = POINTS
) -> Plot:
    """Value and derivative over an input that goes from `low` to `high`, the others standing at `inputs`.

    Raises `OptionValue` for a name that no input has, for an array and for a range without room, `Undefined` where
    there is no value in the whole range, and what `Program.at` raises.

    >>> found = over(Program("abs(x)"), {}, "x", -1, 1)
    >>> [(mark.sort, mark.x) for mark in found.panels[0].marks]
    [('kink', 0.0)]
    """
    return _Over(program, inputs, name, low, high, points).plot()


class _Over:
    """The work on one plot."""

    def __init__(
        self, program: Program, inputs: Mapping[str, Number], name: str, low: float, high: float, points: int
    ) -> None:
        if not -math.inf < low < high < math.inf or not math.isfinite(high - low):
            told = "A range goes from a smaller number to a larger one, both finite"
            raise OptionValue("over", f"{name}={low!r}..{high!r}", f"{told}: --over {name}=-3..3")
        self.program = Compiled(program.text, program.origin, program.engine)
        spelled = dict(program.spelled(inputs))
        (self.name,) = program.spelled({name: 0})
        _, graph = self.program.read({**spelled, self.name: 0})
        used = [one for one in graph.inputs if not graph.is_unused(one)]
        if self.name not in used:
            near = closest(name, used)
            guess = f"   Did you mean {near}?" if near is not None else ""
            raise OptionValue("over", name, f"The inputs of the program are: {listed(used) or 'none'}{guess}")
        given = self.given = spelled.pop(self.name, graph.defaults.get(self.name))
        if given is not None and not isinstance(given, (int, float)) and "[" in str(given):
            told = (
                f"{self.name} is an array, and one number moves. Make the element that is to move an input of its own"
            )
            raise OptionValue("over", name, f"{told}, as t in: {self.name} = [t, 1]; ...")
        self.inputs, self.low, self.high = spelled, low, high
        n = points - 1
        # of a range around 0 the middle is 0, which low + i·step need not be
        self.xs = sorted({low * ((n - i) / n) + high * (i / n) for i in range(points)})
        self.point = self.look(self.xs[len(self.xs) // 2])
        if self.point.shape:
            self.point.gradient()  # raises: of a vector there is none
        self.output = self.point.graph.ids[self.point.graph.output]
        self.known: dict[float, Side] = {}
        self.notes: list[Note] = []
        self.heavy = len(self.point.graph) > HEAVY
        if self.heavy:
            text = "the program is large: its numbers are those of a plain tape; lost digits are not looked for"
            self.notes.append(Note("plain", text))
        self.watched: Watched | None = None
        opened = self.point.told()
        if opened.is_scalar and self.name in opened.graph.inputs:
            self.watched = Watched(opened, opened.graph.inputs[self.name])
        else:
            text = "the program is too large to be opened: kinks and jumps were not looked for"
            self.notes.append(Note("not-looked-for", text))

    def look(self, x: Number) -> Point:
        """The program at x."""
        return self.program.at({**self.inputs, self.name: x}, wrt=[self.name])

    def at(self, x: float) -> Side:
        """Value and slope at x, each None where there is none that is finite."""
        if x not in self.known:
            self.known[x] = self._at(x)
        return self.known[x]

    def _at(self, x: float) -> Side:
        if self.watched is not None and self.watched.one(-1, x) != 1:
            return Side()  # known already, and the engine would look for its limits
        if self.heavy and self.watched is not None and self.watched.is_at_one(x):
            return Side(_finite(self.watched.known(x)[self.watched.graph.output]))
        try:
            at = {**self.inputs, self.name: x}
            value, slopes = self.program.value_and_gradient(at, wrt=[self.name], careful=not self.heavy)
            return Side(_finite(value), _finite(slopes[self.name]))
        except Undefined:
            here = self.look(x)
            return Side(_finite(here.answer()), _finite(here.gradient()[self.name]))

    # -- the plot

    def plot(self) -> Plot:
        breaks = self._breaks()
        pieces = self._pieces(breaks)
        if not any(piece.values for piece in pieces):
            self._refuse()
        marks: list[Mark] = []
        for one in breaks:
            marks += _marks(one)
        slope = f"∂{self.output}/∂{self.name}"
        horizontal = Axis(self.name, self.low, self.high)
        here = list(self._here())
        marks += [Mark("here", x, side.value) for x, side in here]
        heights = (
            self._height([[(m.x, m.y) for m in marks if m.y is not None], *(p.values for p in pieces)], breaks),
            self._height([p.slopes for p in pieces], breaks),
        )
        self._refine(pieces, heights)
        value = Curve(self.output, "value", [piece.values for piece in pieces if piece.values])
        slopes = Curve(slope, "gradient", [piece.slopes for piece in pieces if piece.slopes])
        panels = [Panel(self.output, horizontal, Axis("", *heights[0]), [value], marks)]
        if slopes.pieces:
            below = [mark for one in breaks for mark in _slope_marks(one)]
            below += [Mark("here", x, side.slope) for x, side in here if side.slope is not None]
            panels.append(Panel(slope, horizontal, Axis("", *heights[1]), [slopes], below))
        self._tell(breaks)
        given = ", ".join(f"{name} = {figure(value)}" for name, value in self._others())
        says = f"{self.output} and {slope} for {self.name} from {figure(self.low)} to {figure(self.high)}"
        return Plot(
            "over",
            canonical(self.point.syntax),
            f"{says}, at {given}" if given else says,
            panels,
            [self.name, self.output, slope],
            self._rows(pieces, breaks),
            self.notes,
        )

    def _here(self) -> Iterator[tuple[float, Side]]:
        """The value that the input was given, if it lies in the range and there is something there."""
        if self.given is not None:
            value = self.look(self.given).values[self.point.graph.inputs[self.name]]
            if isinstance(value, float) and self.low <= value <= self.high and self.at(value).value is not None:
                yield value, self.at(value)

    def _others(self) -> Iterator[tuple[str, Any]]:
        """What the other inputs are."""
        for name in self.point.given:
            if name != self.name:
                yield name, self.point.kind.record(self.point.values[self.point.graph.inputs[name]])

    def _refuse(self) -> None:
        """Raises `Undefined`, with why there is no value in the middle."""
        value = self.point.answer()
        why = f": {explained(self.point, value)}" if isinstance(value, Hole) else ""
        where = f"for any {self.name} from {figure(self.low)} to {figure(self.high)}"
        told = f"{self.output} has no finite value {where}; in the middle{why or ' it is too large'}"
        raise Undefined(told).within(self.point.syntax.source, self.program.origin)

    def _breaks(self) -> list[Break]:
        """What breaks in the range, in order."""
        if self.watched is None:
            return []
        places = self.watched.places(self.xs)
        if self.watched.left_out:
            text = f"the program is large: {self.watched.left_out} of {len(self.watched.watches)} operations that may"
            self.notes.append(Note("left-out", f"{text} break were not looked at"))
        if len(places) > MOST_BREAKS:
            text = f"{len(places)} places were found at which something may break; {MOST_BREAKS} of them are looked at"
            self.notes.append(Note("left-out", f"{text}: a shorter range shows all of them"))
            places = places[:: -(-len(places) // MOST_BREAKS)]
        found: dict[float, Break] = {}
        seen: list[float] = []
        width = (self.high - self.low) / len(self.xs)
        # doubles first: of them the engine knows, and what their neighbours show is the same break again
        for low, high in sorted(places, key=lambda place: place[0] < place[1]):
            if any(abs(low - x) <= SAME * (self.high - self.low) for x in seen):
                continue
            beside = self.at(max(self.low, low - width / 8)), self.at(min(self.high, high + width / 8))
            one = judged(low, high, None if self.heavy else self.look, self.at, beside)
            if one is not None and self._is_inside(one):
                found[one.x] = one
            if one is not None or low == high:
                seen.append(low)
        return [found[x] for x in sorted(found)]

    def _is_inside(self, one: Break) -> bool:
        """Whether something of a break is seen: at an end of the range only its one side is."""
        if self.low < one.x < self.high:
            return True
        inner = one.right if one.x <= self.low else one.left
        if one.x <= self.low:
            one.left = Side()
        else:
            one.right = Side()
        return inner.value is not None and inner.value != one.value

    def _pieces(self, breaks: Sequence[Break]) -> list[_Piece]:
        """The samples between one break and the next, led up to both, and cut where there is no value."""
        ends: list[Break | None] = [None, *breaks, None]
        pieces = []
        for left, right in pairwise(ends):
            low, high = self.low if left is None else left.x, self.high if right is None else right.x
            xs = [x for x in self.xs if low < x < high or (left is None and x == low) or (right is None and x == high)]
            step = (self.high - self.low) / len(self.xs)
            room = min(step, (high - low) / 2)
            for one, x, sign in ((left, low, 1), (right, high, -1)):
                if one is not None:
                    xs += [x + sign * room * 0.5**place for place in range(1, NEARER)]
            stretch: list[float] = []
            for x in sorted(
                {x for x in xs if low <= x <= high and all(end is None or x != end.x for end in (left, right))}
            ):
                if self.at(x).value is None:
                    if stretch:
                        pieces.append(_Piece(stretch))
                    stretch = []
                else:
                    stretch.append(x)
            if stretch:
                pieces.append(_Piece(stretch))
            own = [piece for piece in pieces if piece.xs and low <= piece.xs[0] and piece.xs[-1] <= high]
            if own and left is not None and own[0].xs[0] <= low + room:
                own[0].left = left
            if own and right is not None and own[-1].xs[-1] >= high - room:
                own[-1].right = right
        for piece in pieces:
            self._fill(piece)
        return pieces

    def _fill(self, piece: _Piece) -> None:
        """The points of a piece: its samples, and what its ends go to."""
        found = [(x, self.at(x)) for x in piece.xs]
        if piece.left is not None:
            found.insert(0, (piece.left.x, piece.left.right))
        if piece.right is not None:
            found.append((piece.right.x, piece.right.left))
        piece.values = [(x, one.value) for x, one in found if one.value is not None and math.isfinite(one.value)]
        piece.slopes = [(x, one.slope) for x, one in found if one.slope is not None and math.isfinite(one.slope)]

    def _height(self, curves: Sequence[Sequence[Pair]], breaks: Sequence[Break]) -> tuple[float, float]:
        """From where to where a panel goes: all there is, but where something grows without bound not its peaks."""
        pairs = [pair for piece in curves for pair in piece]
        if not pairs:
            return 0.0, 1.0
        even = set(self.xs)
        ys = sorted(y for x, y in pairs if x in even) or sorted(y for _, y in pairs)
        low, high = min(y for _, y in pairs), max(y for _, y in pairs)
        if any(one.sort in ("pole", "vertical", "edge") for one in breaks):
            cut = int(len(ys) * LEFT_OUT)
            inner_low, inner_high = ys[cut], ys[-1 - cut]
            room = (inner_high - inner_low) / 2 or abs(inner_low) or 1.0
            low, high = max(low, inner_low - room), min(high, inner_high + room)
        room = (high - low) * 0.05
        if not room > abs(low) * 1e-12:
            room = abs(low) * 0.1 or 1.0
        below, above = low - room, high + room
        return (below, above) if math.isfinite(above - below) else (low / 4, high / 4)

    def _refine(self, pieces: Sequence[_Piece], heights: Sequence[tuple[float, float]]) -> None:
        """Samples between samples, where a chord does not lie on its curve."""
        (low, high), (least, most) = heights
        taken = 0
        for piece in pieces:
            waiting = [(one, other, DEEP) for one, other in pairwise(piece.xs)]
            more: list[float] = []
            while waiting and taken < MOST_SAMPLES:
                one, other, deep = waiting.pop()
                middle = one + (other - one) / 2
                if not one < middle < other:
                    continue
                start, here, end = self.at(one), self.at(middle), self.at(other)
                taken += 1
                if here.value is None:
                    continue
                more.append(middle)
                if deep > 1 and (
                    _is_off(start.value, here.value, end.value, low, high)
                    or _is_off(start.slope, here.slope, end.slope, least, most)
                ):
                    waiting += [(one, middle, deep - 1), (middle, other, deep - 1)]
            piece.xs = sorted({*piece.xs, *more})
            self._fill(piece)

    def _rows(self, pieces: Sequence[_Piece], breaks: Sequence[Break]) -> list[list[Any]]:
        """The points in order; at a break its own, and no number where there is none."""
        rows: dict[float, list[Any]] = {x: [x, self.at(x).value, self.at(x).slope] for x in self.xs}
        for piece in pieces:
            rows |= {x: [x, self.at(x).value, self.at(x).slope] for x in piece.xs}
        for one in breaks:
            same = one.left.slope is not None and one.left.slope == one.right.slope and one.sort != "jump"
            slope = one.left.slope if same and one.value is not None else None
            rows[one.x] = [one.x, one.value, slope if slope is not None and math.isfinite(slope) else None]
        return [rows[x] for x in sorted(rows)]

    # -- in words

    def _tell(self, breaks: Sequence[Break]) -> None:
        """Every break in words, and where there is no value."""
        told = [Note(one.sort, f"{self._where(one)}: {_in_words(one)}", one.x) for one in breaks if one.sort != "edge"]
        self.notes += told[:MOST_TOLD]
        if len(told) > MOST_TOLD:
            self.notes.append(Note("left-out", f"{len(told) - MOST_TOLD} more breaks are drawn and not told"))
        edges = [one.x for one in breaks]
        holes = [x for x in self.xs if self.at(x).value is None and x not in edges]
        groups: list[list[float]] = []
        for x in holes:
            between = groups and any(
                self.at(other).value is not None for other in self.xs if groups[-1][-1] < other < x
            )
            if not groups or between:
                groups.append([])
            groups[-1].append(x)
        for group in groups[:MOST_TOLD]:
            before = max((x for x in edges if x < group[0]), default=None)
            after = min((x for x in edges if x > group[-1]), default=None)
            inside = [x for x in self.xs if self.at(x).value is not None]
            low = before if before is not None and not any(before < x < group[0] for x in inside) else group[0]
            high = after if after is not None and not any(group[-1] < x < after for x in inside) else group[-1]
            here = self.look(group[len(group) // 2])
            value = here.answer()
            why = explained(here, value) if isinstance(value, Hole) else "it is too large for double precision"
            span = f"from {figure(low)} to {figure(high)}" if low < high else f"= {figure(low)}"
            text = f"no value for {self.name} {span}: at {figure(group[len(group) // 2])} {why}"
            self.notes.append(Note("undefined", text, group[0]))

    def _where(self, one: Break) -> str:
        return f"{one.sort} at {self.name} = {figure(one.x)}"


def _in_words(one: Break) -> str:
    """What is to be told of a break."""
    left, right = one.left, one.right
    if one.sort == "kink":
        return f"the slope is {_number(left.slope)} from the left, {_number(right.slope)} from the right"
    if one.sort == "vertical":
        ends = [_number(side.slope) for side in (left, right) if side.slope is not None]
        return f"the slope is {' and '.join(dict.fromkeys(ends)) or 'infinite'}"
    if one.sort == "jump":
        here = "" if one.value is None else f", {figure(one.value)} there"
        if None in (left.value, right.value):
            return f"{_number(right.value if left.value is None else left.value)} beside it{here}"
        return f"from {_number(left.value)} to {_number(right.value)}{here}"
    if one.sort == "hole":
        return f"no value there, {_number(left.value)} from both sides"
    ends = [f"{_number(side.value)} from the {name}" for name, side in (("left", left), ("right", right))]
    return ", ".join(text for text, side in zip(ends, (left, right), strict=True) if side.value is not None)


def _number(value: float | None) -> str:
    if value is None:
        return "none"
    return figure(value) if math.isfinite(value) else f"{'+' if value > 0 else '-'}infinity"


def _finite(value: Any) -> float | None:
    """A number that can be drawn, None for every other."""
    if isinstance(value, Hole) or not is_number(value):
        return None
    found = float(value)
    return found if math.isfinite(found) else None


def _is_off(start: float | None, here: float | None, end: float | None, low: float, high: float) -> bool:
    """Whether the middle of a chord, as far as it is inside the panel, is away from the curve."""
    if start is None or here is None or end is None:
        return False
    if max(start, here, end) < low or min(start, here, end) > high:
        return False
    return abs(here - (start / 2 + end / 2)) > OFF * (high - low)


def _marks(one: Break) -> Iterator[Mark]:
    """What is seen of a break on the curve of values."""
    if one.sort == "pole":
        yield Mark("pole", one.x)
    elif one.sort in ("kink", "vertical") and one.value is not None:
        yield Mark("kink", one.x, one.value)
        return
    ends = {side.value for side in (one.left, one.right) if side.value is not None and math.isfinite(side.value)}
    yield from (Mark("open", one.x, end) for end in sorted(ends) if end != one.value)
    if one.value is not None:
        yield Mark("closed", one.x, one.value)


def _slope_marks(one: Break) -> Iterator[Mark]:
    """What is seen of a break on the curve of slopes: open ends, because there is no slope at the place itself."""
    slopes = [side.slope for side in (one.left, one.right) if side.slope is not None]
    if one.sort == "pole" or any(math.isinf(slope) for slope in slopes):
        yield Mark("pole", one.x)
    yield from (Mark("open", one.x, slope) for slope in sorted({s for s in slopes if math.isfinite(s)}))


__all__ = ["MOST_POINTS", "POINTS", "over"]

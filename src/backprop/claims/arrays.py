"""Claims about arrays: each element of what is claimed is judged by itself, on the opened program.

A number, a formula and an array of numbers are claimed of a derivative by an array, of one element of it or of the
value of a node; a formula may be over whole arrays, as outer(2*(W@x - y), x) is, and is opened as the program is. What
is wrong in all elements in the same way is told once, and so are slips that only arrays have (`array_slips`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from backprop.array_point import ArrayPoint
from backprop.arrays_text import element_name, is_array, written
from backprop.arrays_text import read as read_array
from backprop.claims import NOT_CHECKED, RIGHT, UNDEFINED, WRONG, Judged, judge
from backprop.claims.array_slips import likely
from backprop.claims.numbers import significant
from backprop.claims.reading import Claim, read
from backprop.claims.truth import texts_of
from backprop.kinds import Hole, is_number
from backprop.kinds.real import REAL
from backprop.kinds.shapes import elements, shape_of
from backprop.mistakes import NoSuchElement, UnreadableClaim
from backprop.numerals import numeral
from backprop.opening import Opened, open_graph, part

# Elements that are judged one by one, and what judging them may cost in evaluations of a node.
MOST_ELEMENTS, MOST_EVALUATIONS = 400, 400_000
# The letters of a claimed array that are shown again.
LONGEST = 60


@dataclass(slots=True)
class Group:
    """One claim, and the claims about single numbers that it consists of; a `reason` why it cannot be right at all."""

    claim: Claim
    names: list[str] = field(default_factory=list)
    each: list[Claim] = field(default_factory=list)
    shape: tuple[int, ...] = ()
    verdict: str = NOT_CHECKED
    reason: str = ""


def judge_arrays(point: ArrayPoint, texts: Sequence[tuple[str, str | None]]) -> list[Judged]:
    """What is to be said of each claim about an array program at a point. Raises what `reading.read` does."""
    asked = read(point.syntax, point.graph, texts, arrays=True)
    opened = point.opened_graph()
    scalar = point.wholly_opened() if not point.shape else None
    if opened is None or scalar is None or scalar is point:
        why = "the program is too large to be opened into single numbers"
        return [_alone(Group(claim, reason=why)) for claim in asked]
    groups = [_Reading(point, opened, claim).group() for claim in asked]
    judged = iter(judge(scalar.graph, point.syntax.source, [one for group in groups for one in group.each],
                        texts_of(scalar.graph, scalar.given)))  # fmt: skip
    return [_together(point, group, [next(judged) for _ in group.each]) for group in groups]


class _Reading:
    """A claim of an array program taken apart into claims about single numbers."""

    def __init__(self, point: ArrayPoint, opened: Opened, claim: Claim) -> None:
        self.point, self.opened, self.claim = point, opened, claim

    def group(self) -> Group:
        claim, point = self.claim, self.point
        found = Group(claim)
        of = self.places(claim.of, claim.of_at)
        about = of if claim.by is None else self.places(claim.by, claim.by_at)
        if claim.by is not None and of.size > 1:
            name = point.graph.ids[claim.of]
            told = f"{name} has shape {of.shape}: a derivative is claimed of one element, d{name}[{'0,' * of.ndim}"
            raise UnreadableClaim(f"{told[:-1]}]/d{point.name_of(claim.by)}", (0, len(claim.text))).within(claim.text)
        found.shape = about.shape
        node, at = (claim.of, claim.of_at) if claim.by is None else (claim.by, claim.by_at)
        base = point.graph.ids[claim.of] if claim.by is None else point.name_of(claim.by)
        at = self.counted(node, at)
        found.names = [element_name(base, (*at, *further)) for further in np.ndindex(*about.shape)]
        if about.size > MOST_ELEMENTS or about.size * len(self.opened.graph) > MOST_EVALUATIONS:
            found.reason = f"{about.size} elements are too many to judge one by one; claim some of them"
            return found
        if (about < 0).any() or (of < 0).any():
            found.reason = "some of its elements are no nodes of the opened program"
            return found
        said = self.said(found)
        for name, place, one in zip(found.names, map(int, about.flat), said, strict=False):
            if claim.by is None:
                found.each.append(replace(one, of=place, name=name))
            else:
                start = claim.name.rsplit("/", 1)[0]
                found.each.append(replace(one, of=int(of.flat[0]), by=place, name=f"{start}/∂{name}"))
        return found

    def counted(self, node: int, at: tuple[int, ...]) -> tuple[int, ...]:
        """Places counted from the front."""
        shape = shape_of(self.point.values[node])
        return tuple(one % size for one, size in zip(at, shape, strict=False))

    def places(self, node: int, at: tuple[int, ...]) -> Any:
        """The scalar nodes of a node, or of a part of it. Raises `NoSuchElement`."""
        whole = self.opened.places[node]
        try:
            return np.asarray(whole[at]) if at else whole
        except IndexError:
            name = self.point.name_of(node)
            raise NoSuchElement(element_name(name, at), name, whole.shape).within(self.claim.text) from None

    def said(self, found: Group) -> list[Claim]:
        """What is claimed of each element."""
        claim, count = self.claim, math.prod(found.shape)
        if claim.formula is not None:
            return self.formulas(found)
        if claim.number is None:
            return [claim] * count
        if not is_array(claim.number):
            return [claim] * count
        shape, texts = read_array(claim.number, claim.name)
        if shape != found.shape:
            found.verdict = WRONG
            is_turned = shape == found.shape[::-1]
            found.reason = f"it has shape {_told(shape)}, and what it is about has {_told(found.shape)}" + (
                ": it is transposed" if is_turned else ""
            )
            return []
        return [replace(claim, number=text, said=text) for text in texts]

    def formulas(self, found: Group) -> list[Claim]:
        """A formula over the nodes of the program, opened into one for each element."""
        claim, point, graph = self.claim, self.point, self.claim.formula
        assert graph is not None
        own = dict(claim.names)
        given: dict[str, str] = {}
        for node, place in own.items():
            value = point.values[place]
            if isinstance(value, Hole):
                found.reason = f"{point.graph.ids[place]} has no value here"
                return []
            given[graph.names[node]] = _text(value)
        opened = open_graph(graph, REAL, given)
        if opened is None:
            found.reason = "the formula is too large to be opened into single numbers"
            return []
        places = opened.places[graph.output]
        if places.shape not in ((), found.shape):
            found.verdict = WRONG
            found.reason = f"it has shape {_told(places.shape)}, and what it is about has {_told(found.shape)}"
            return []
        numbers = [int(place) for place in np.broadcast_to(places, found.shape).flat] if found.shape else [int(places)]
        if any(place < 0 for place in numbers):
            found.reason = "the formula has no value here, or numbers that are no nodes of it"
            return []
        return [self.element(opened, place, own) for place in numbers]

    def element(self, opened: Opened, place: int, own: dict[int, int]) -> Claim:
        """The claim about one element: its part of the opened formula, over elements of the opened program."""
        graph = self.claim.formula
        assert graph is not None
        small = part(opened, place)
        names: list[tuple[int, int]] = []
        for node, closed in own.items():
            known = self.opened.places[closed]
            for at in np.ndindex(*known.shape):
                name = element_name(graph.names[node], at)
                if name in small.graph.inputs:
                    names.append((small.graph.inputs[name], int(known[at])))
        return replace(self.claim, formula=small.graph, names=tuple(names))


def _text(value: Any) -> str:
    """A value as the text of an array; only its shape counts, and which branches and pivots it takes."""
    numbers = [numeral(float(one) if is_number(one) else 0.0, "") for one in elements(value)]
    return written(shape_of(value), numbers)


def _told(shape: tuple[int, ...]) -> str:
    return str(shape) if shape else "() (one number)"


# -- what is said of all of them together -------------------------------------------------------------------------


def _together(point: ArrayPoint, group: Group, judged: list[Judged]) -> Judged:
    """What is to be said of a claim, out of what is to be said of each number in it."""
    found = _alone(group)
    if not judged:
        return found
    if len(judged) == 1 and not group.shape:
        one = judged[0]
        one.claim, one.name, one.said = found.claim, found.name, found.said
        return one
    verdicts = [one.verdict for one in judged]
    found.verdict = next(verdict for verdict in (WRONG, UNDEFINED, NOT_CHECKED, RIGHT) if verdict in verdicts)
    found.right = _nested([one.right for one in judged], group.shape)
    if group.claim.formula is not None:
        found.yours = _nested([one.yours for one in judged], group.shape)
    told = [one.digits for one in judged if one.digits is not None]
    found.digits = min(told) if told else None
    for name in ("agree", "points", "skipped"):
        numbers = [getattr(one, name) for one in judged if getattr(one, name) is not None]
        setattr(found, name, min(numbers) if numbers else None)
    same = [place for place, verdict in enumerate(verdicts) if verdict == found.verdict]
    first = judged[same[0]]
    if found.verdict == RIGHT:
        reasons = {one.reason for one in judged}
        if len(reasons) == 1:
            found.reason = reasons.pop()
        else:
            place = next(place for place, one in enumerate(judged) if one.reason)
            found.reason = f"{group.names[place]}: {judged[place].reason}"
        return found
    count = f"{len(same)} of {len(judged)} elements {'is' if len(same) == 1 else 'are'} {found.verdict}"
    found.reason = f"{count}; {group.names[same[0]]}: {first.reason}"
    if found.verdict == WRONG:
        units = [float(significant(one.number)[1]) if one.number else 0.0 for one in group.each]
        found.slips = likely(point, group.claim, [one.yours for one in judged], units, group.shape)
        if not found.slips:
            shared = [slip for slip in first.slips if all(slip.code in _codes(judged[place]) for place in same)]
            found.slips = shared[:1] if len(same) > 1 else first.slips
    return found


def _codes(one: Judged) -> set[str]:
    return {slip.code for slip in one.slips}


def _alone(group: Group) -> Judged:
    """A claim without anything said of its numbers."""
    said = group.claim.said
    said = said if len(said) <= LONGEST else f"{said[: LONGEST - 3]}..."
    return Judged(group.claim.text, group.claim.name, said, group.verdict, reason=group.reason or None)


def _nested(values: list[Any], shape: tuple[int, ...]) -> Any:
    """Numbers row by row as nested lists; None where one is missing or not one number."""
    if any(not isinstance(value, float) for value in values):
        return None
    return np.array(values, dtype=np.float64).reshape(shape).tolist()

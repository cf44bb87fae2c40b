"""Claims: an answer that somebody else gives for a derivative or a value, judged.

A number is held against the derivative at the point, worked out with many digits, to the digits that were typed. A
formula is evaluated with many digits at the point and at random others; two formulas are never compared as texts, nor
by simplifying their difference. What is wrong is told with the point where it shows and the slip that explains it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from backprop.beside.differences import LARGEST, LEVELS, affordable, to_double
from backprop.claims.numbers import Match, is_near, match
from backprop.claims.reading import Claim
from backprop.claims.slips import Slip, derivative_of, formula_text_of, likely_slips
from backprop.claims.truth import (
    CLOSE,
    FINE,
    LEAST_POINTS,
    Field,
    Sample,
    Texts,
    Trial,
    Truth,
    in_doubles,
    named,
    same,
    same_at,
    sharp,
    true_answer,
)
from backprop.graph import Graph
from backprop.kinds import is_number
from backprop.kinds.digits import Digits

RIGHT, WRONG, UNDEFINED, NOT_CHECKED = "right", "wrong", "undefined", "not checked"
FIGURES = 6


@dataclass(slots=True)
class Judged:
    """A claim and what is to be said of it.

    `name` is the derivative or value that it is about, `claim` what was typed, `yours` the number it gives at the point
    and `right` the true one, `formula` the right formula where it is short. `left_slope` and `right_slope` stand in the
    place of `right` at a kink, `undefined` where there is none. `digits` of a number are right. A formula was found
    right at `agree` of `points` random points, `skipped` others had no value.
    """

    claim: str
    name: str
    said: str
    verdict: str = NOT_CHECKED
    yours: float | str | None = None
    right: float | str | None = None
    left_slope: float | str | None = None
    right_slope: float | str | None = None
    undefined: bool = False
    formula: str | None = None
    digits: float | None = None
    agree: int | None = None
    points: int | None = None
    skipped: int | None = None
    reason: str | None = None
    slips: list[Slip] = field(default_factory=list)


def judge(graph: Graph, source: str, claims: Sequence[Claim], given: Texts | None) -> list[Judged]:
    """What is to be said of each claim about a program. `given` are the numbers at its variables, None for no point.

    >>> from backprop.claims.reading import read
    >>> from backprop.grammar import parse
    >>> from backprop.graph.building import build
    >>> tree = parse("(x^2 + 1)^3")
    >>> graph = build(tree)
    >>> [one] = judge(graph, tree.source, read(tree, graph, [("dx = 3*(x^2 + 1)^2", None)]), None)
    >>> one.verdict, one.formula, one.slips[0].code
    ('wrong', '6*x*(x^2 + 1)^2', 'inner-factor')
    """
    judging = _Judging(graph, source, given)
    return [judging.judged(claim) for claim in claims]


class _Judging:
    def __init__(self, graph: Graph, source: str, given: Texts | None) -> None:
        self.graph, self.given = graph, given
        self.field = Field(graph, source, given)
        small = len(graph) <= LARGEST[LEVELS[0]]
        self.here = Sample(graph, given) if small and given is not None else None
        self._truths: dict[tuple[int, int | None], Truth] = {}

    def truth(self, claim: Claim) -> Truth | None:
        """What is right at the point; None where there is no point."""
        if self.given is None or self.here is None:
            return None
        key = claim.of, claim.by
        if key not in self._truths:
            self._truths[key] = true_answer(self.graph, self.given, claim.of, claim.by)
        return self._truths[key]

    def judged(self, claim: Claim) -> Judged:
        found = Judged(claim.text, claim.name, claim.said)
        found.formula = self.formula(claim)
        here = self.truth(claim)
        if here is not None:
            found.right, found.left_slope, found.right_slope = map(_double, (here.value, here.left, here.right))
            found.undefined = here.undefined
        infinite = claim.number is not None and claim.number.lstrip("-") == "inf"
        if len(self.graph) > LARGEST[LEVELS[0]]:
            found.reason = f"the graph has {len(self.graph)} nodes, too many to work out with {FINE} digits"
        elif here is None and (infinite or claim.undefined):
            found.reason = "without values there is no point at which it could be so"
        elif here is not None and claim.undefined:
            self.undefined(found, here)
        elif here is not None and infinite:
            self.infinite(found, claim, here)
        elif here is not None and claim.constant:
            self.number(found, claim, here)
        else:
            self.function(found, claim, here)
        return found

    def formula(self, claim: Claim) -> str | None:
        """The right formula where it is short: of a derivative, or of the value of a node."""
        if claim.by is not None:
            return derivative_of(self.graph, claim.of, claim.by) or None
        return formula_text_of(self.graph, claim.of) or None

    # -- claims that there is no number

    def undefined(self, found: Judged, here: Truth) -> None:
        if here.unsure:
            found.reason = here.reason
        elif here.kink or here.left is not None or here.right is not None:
            found.verdict, found.reason = RIGHT, _kink(here)
        elif here.undefined:
            found.verdict, found.reason = RIGHT, here.reason
        else:
            found.verdict, found.reason = WRONG, f"it is {_shown(here.value)}"

    # -- numbers

    def number(self, found: Judged, claim: Claim, here: Truth) -> None:
        """A number, or a formula without names, at the point."""
        assert self.here is not None
        said = self.here.said(claim)
        found.yours = _double(said)
        if said is None:
            found.verdict, found.reason = WRONG, "it has no value"
        elif here.unsure:
            found.reason = here.reason
        elif here.undefined:
            found.verdict, found.reason = UNDEFINED, here.reason
        elif here.value is None:
            self.at_kink(found, claim, said, here)
        else:
            self.matched(found, claim, said, here)

    def matched(self, found: Judged, claim: Claim, said: Any, here: Truth) -> None:
        """A number where there is one that is right."""
        assert self.here is not None
        text, right = claim.number or "", _shown(here.value)
        matched = match(text, said, here.value)
        found.digits = _digits(matched)
        if matched.right:
            found.verdict, found.reason = RIGHT, matched.remark or None
            return
        if self.right_in_doubles(claim, said):
            told = f"right for the doubles nearest to the inputs; as they are typed it is {right}"
            found.verdict, found.reason = RIGHT, told
            return
        what = "value" if claim.by is None else "derivative"
        found.verdict, found.reason = WRONG, matched.remark or f"the {what} is {right}"
        if is_near(text, said, here.value):  # rounded badly: that is the slip
            return
        samples = [self.here]
        if said == 0 and affordable(self.graph, LEVELS[-1]):  # what is 0 with few digits may not be with more
            samples.append(Sample(self.graph, self.here.texts, LEVELS[-1]))
        found.slips = likely_slips(self.graph, claim, samples, lambda sample, value: is_near(text, said, value))

    def right_in_doubles(self, claim: Claim, said: Any) -> bool:
        """Whether a number is right where each input is the double nearest to what was typed.

        It matters where the inputs decide about the digits, as in the sine of pi, which is 1.22e-16 for every program
        that works in doubles.
        """
        assert self.given is not None
        there = true_answer(self.graph, in_doubles(self.given), claim.of, claim.by)
        return there.value is not None and match(claim.number or "", said, there.value).right

    def infinite(self, found: Judged, claim: Claim, here: Truth) -> None:
        sign = -1 if (claim.number or "").startswith("-") else 1
        if here.infinite:
            found.verdict = RIGHT if here.infinite == {sign} else WRONG
            found.reason = "the slope grows without bound" if found.verdict == RIGHT else "its sign is not the same"
        elif here.unsure:
            found.reason = here.reason
        elif here.undefined:
            found.verdict, found.reason = UNDEFINED, here.reason
        else:
            found.verdict, found.reason = WRONG, "it is finite"

    def at_kink(self, found: Judged, claim: Claim, said: Any, here: Truth) -> None:
        """A number where there are slopes from the left and the right alone: either is right, and what lies between."""
        text = claim.number or ""
        sides = [(side, word) for side, word in ((here.left, "left"), (here.right, "right")) if side is not None]
        for side, word in sides:
            if match(text, said, side).right:
                found.verdict, found.reason = RIGHT, f"the slope from the {word}; {_kink(here)}"
                return
        if here.kink and min(here.left, here.right) < said < max(here.left, here.right):
            found.verdict, found.reason = RIGHT, f"a subgradient: it lies between; {_kink(here)}"
            return
        found.verdict, found.reason = WRONG, _kink(here)

    # -- formulas

    def function(self, found: Judged, claim: Claim, here: Truth | None) -> None:
        """A formula at the point, and as a function at random points."""
        met, remark = self.at_point(found, claim, here)
        trials = self.field.trials(claim.of, claim.by)
        pairs = [(trial, trial.sample.said(claim)) for trial in trials.usable]
        told = [
            (trial, said, same(claim, trial.sample, said, trial.right)) for trial, said in pairs if said is not None
        ]
        if all(one is None for _, _, one in told):  # what is 0 but for rounding wherever one looks is 0
            told = [one for one in told if one[0].vanishes(claim)]
        else:
            told = [one for one in told if one[2] is not None]
        judged = [(trial, said) for trial, said, _ in told]
        missed = [(trial, said) for trial, said, one in told if one is False]
        found.points, found.agree = len(judged), len(judged) - len(missed)
        found.skipped = trials.skipped + len(pairs) - len(judged)
        if len(judged) < LEAST_POINTS and not missed and met is not False:
            what = f"{len(judged)} of {len(pairs) + trials.skipped} random points have values to compare, too few"
            mend = "give the inputs values near which there are some" if here is None else ""
            found.reason = "; ".join(part for part in (remark, what, mend) if part)
            return
        if met is None and not missed:
            self.beside_the_point(found, here, remark)
            return
        if met and missed and self._near_by(missed, judged) and self._branches(missed):
            found.verdict = RIGHT
            found.reason = f"right where the same branches are taken; {self._told(claim, *missed[0])}"
            return
        if not missed and met:
            found.verdict, found.reason = RIGHT, remark
            return
        found.verdict = WRONG
        if met and missed:
            found.reason = f"right at this point by luck: {self._told(claim, *missed[0])}"
        elif met is False and not missed:
            found.reason = f"{remark}; right at {len(judged)} random points" if judged else remark
        else:
            found.reason = remark or self._told(claim, *missed[0])
        if claim.constant and here is None:
            found.reason = f"it is no constant: {self._told(claim, *missed[0])}"
        if missed:
            found.slips = self.slips_of(claim, judged, met, here)

    def beside_the_point(self, found: Judged, here: Truth | None, remark: str | None) -> None:
        """A formula that is right at random points and of which nothing can be said at the one given."""
        found.reason = remark
        if here is None:
            found.verdict = RIGHT
        elif here.unsure:
            found.verdict = NOT_CHECKED
        elif here.undefined:
            found.verdict = RIGHT if found.yours is None else UNDEFINED
            if found.yours is not None:
                found.reason = f"right at {found.points} random points, but {remark}"
        elif found.yours is None:
            found.verdict = RIGHT  # at a kink, where the derivative has no value either
        # else all of its digits are lost there

    def at_point(self, found: Judged, claim: Claim, here: Truth | None) -> tuple[bool | None, str | None]:
        """Whether a formula is right at the point; None where that cannot be said, with the reason."""
        if here is None or self.here is None:
            return None, None
        said = self.here.said(claim)
        found.yours = _double(said)
        if here.unsure:
            return None, here.reason
        if said is None:
            if here.undefined:
                return None, "at this point neither has a value"
            if here.value is None:
                return None, f"at this point neither has a value: {_kink(here)}"
            return False, f"at this point it has no value, where {_shown(here.value)} is right"
        if here.undefined:
            return None, f"at this point it gives {_shown(said)}, though nothing is defined: {here.reason}"
        if here.value is None:
            slopes = [side for side in (here.left, here.right) if side is not None]
            allowed = CLOSE * max(map(abs, slopes))
            return bool(min(slopes) - allowed <= said <= max(slopes) + allowed), _kink(here)
        met = same_at(claim, self.graph, self.here.texts, here.value)
        if met is None:
            return None, "at this point the formula loses all its digits"
        if met:
            return True, None
        what = "value" if claim.by is None else "derivative"
        return False, f"at this point it gives {_shown(said)}, the {what} is {_shown(here.value)}"

    def _told(self, claim: Claim, trial: Trial, said: Any) -> str:
        """Where a formula goes wrong."""
        at = named(self.graph, trial.sample.texts, self.field.variables)
        what = "value" if claim.by is None else "derivative"
        return f"at {at} it gives {_shown(said)}, the {what} is {_shown(trial.right)}"

    @staticmethod
    def _near_by(missed: list[tuple[Trial, Any]], judged: list[tuple[Trial, Any]]) -> bool:
        """Whether a formula is right at all points near by."""
        return sum(trial.near for trial, _ in judged) >= 2 and not any(trial.near for trial, _ in missed)

    def _branches(self, missed: list[tuple[Trial, Any]]) -> bool:
        """Whether the program has branches at all: without any, a formula that is right near by is right everywhere."""
        rows = [self.graph.row(node) for node in range(len(self.graph))]
        return bool(missed) and any(row is not None and (row.kink or row.gives_condition) for row in rows)

    def slips_of(
        self, claim: Claim, judged: list[tuple[Trial, Any]], met: bool | None, here: Truth | None
    ) -> list[Slip]:
        """The slip that gives the formula at every point, the one given included; a constant factor when none does."""
        said = {id(trial.sample): value for trial, value in judged}
        samples = [trial.sample for trial, _ in judged]
        point = self.here if met is False and here is not None and here.value is not None else None
        at_point = None if point is None else point.said(claim)
        if point is not None and at_point is not None:
            samples.insert(0, point)
            said[id(point)] = at_point
        samples = [sample for sample in samples if sharp(claim, sample, said[id(sample)])]
        if len(samples) < LEAST_POINTS:
            return []

        def gives(sample: Sample, value: Any) -> bool:
            theirs = said[id(sample)]
            return bool(abs(theirs - value) <= CLOSE * max(abs(theirs), abs(value)))

        found = likely_slips(self.graph, claim, samples, gives, most=1)
        return found or _factor([(value, trial.right) for trial, value in judged])


def _factor(pairs: list[tuple[Any, Any]]) -> list[Slip]:
    """The slip of a factor that is the same at every point; of two constants it would say nothing."""
    if all(abs(right - pairs[0][1]) <= CLOSE * abs(right) for _, right in pairs):
        return []
    ratios = [said / right for said, right in pairs if right != 0]
    if len(ratios) < LEAST_POINTS or ratios[0] == 0:
        return []
    if any(abs(ratio - ratios[0]) > CLOSE * abs(ratios[0]) for ratio in ratios):
        return []
    return [Slip("constant-factor", f"a constant factor is wrong: this is {_written(ratios[0])} times what is right")]


def _written(ratio: Any) -> str:
    """A factor as a fraction, or one of pi or a logarithm, where it is one."""
    from mpmath import log

    kind = Digits(60)
    for word, unit in (("", kind.number("1")), ("pi", kind.pi), ("log(2)", log(2)), ("log(10)", log(10))):
        for below in range(1, 361):
            above = ratio / unit * below
            if 0.5 <= abs(above) < 1000 and abs(above - round(above)) <= 1e-14 * abs(above):
                top = str(round(above)) if not word else f"{round(above)}*{word}".removeprefix("1*")
                return top if below == 1 else f"{top}/{below}"
    return _shown(ratio)


def _kink(here: Truth) -> str:
    """The slopes from both sides, or from the one that there is, in words."""
    if here.kink:
        return f"there is a kink: {_shown(here.left)} from the left, {_shown(here.right)} from the right"
    word, side = ("right", here.right) if here.left is None else ("left", here.left)
    return f"there is a slope from the {word} only, {_shown(side)}"


def _shown(value: Any) -> str:
    from backprop.figures import figure

    double = to_double(value) + 0.0
    if double == 0 != value or double - double != 0:
        from mpmath import nstr

        return str(nstr(value, FIGURES))
    return figure(double, FIGURES)


def _double(value: Any) -> float | str | None:
    """A number as a double, and as text where no double holds it (1.97e+434); None for what is no number."""
    if value is None or isinstance(value, bool) or not is_number(value):
        return None
    double = to_double(value) + 0.0
    return _shown(value) if double == 0 != value or double - double != 0 else double


def _digits(matched: Match) -> float:
    return round(min(matched.digits, 50.0), 1)


__all__ = ["Judged", "judge"]

"""A judgement: whether a number that differs from what a witness found is a wrong rule or a double out of digits."""

from __future__ import annotations

import math
from typing import Any

from backprop.accuracy.fine import ENOUGH, FULL, SMALLEST, Fine, Level, digits_right
from backprop.beside.differences import EPSILON, to_double
from backprop.kinds import Hole
from backprop.point import Point
from backprop.record import Witness

__all__ = ["ENOUGH", "FULL", "SMALLEST", "Fine", "Level", "digits_right", "judge", "rules_give"]


def judge(point: Point, fine: Fine, node: int, by: str, truth: Any, known_to: float) -> Witness:
    """What a witness that found `truth`, good to `known_to` digits, says of d output / d node.

    The double may have lost digits: then our rules, worked out with many digits, have to give the truth.
    """
    name, ours = point.name_of(node), point.gradient()[point.name_of(node)]
    weight = fine.weights[node]
    if truth != 0 and abs(truth) <= weight * 1e-30 and fine.adjoint(node) == 0:
        truth = truth * 0  # what is left of terms that cancel to the last digit
    value = to_double(truth) + 0.0
    if isinstance(ours, Hole):
        reason = "our rules give no number here"
        return Witness(name, by, "not checked", value if math.isfinite(value) else None, reason=reason)
    digits = digits_right(ours, truth)
    if digits >= 13:
        return Witness(name, by, "agrees", value, digits)
    if abs(ours - value) <= 64 * EPSILON * weight and truth == 0:
        left = round(min(FULL, -math.log10(max(abs(ours) / weight, EPSILON))), 2)
        return Witness(name, by, "agrees", value, left, "0 up to the rounding of the terms that cancel")
    right = rules_give(fine, node, truth, known_to)
    if right is None:
        reason = "whether the rules or the doubles are to blame could not be told with more digits"
        return Witness(name, by, "inaccurate", value, digits, reason)
    if not right:
        return Witness(name, by, "DISAGREES", value, digits)
    if digits >= ENOUGH:
        return Witness(name, by, "agrees", value, digits)
    return Witness(name, by, "inaccurate", value, digits, "the rules are right; doubles lose the other digits here")


def rules_give(fine: Fine, node: int, truth: Any, known_to: float) -> bool | None:
    """Whether our rules give the truth when they are worked out with many digits; None when they cannot be."""
    ours = fine.adjoint(node)
    if ours is None or isinstance(ours, Hole):
        return None
    allowed = 10.0 ** -max(3.0, min(known_to, 20.0) - 3.0)
    return bool(abs(ours - truth) <= allowed * abs(truth))

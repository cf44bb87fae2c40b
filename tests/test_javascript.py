"""The special functions that JavaScript lacks, as they are written for it, against mpmath."""

from __future__ import annotations

import json
import random

import pytest

from backprop.languages.common.special_functions import ERROR_FUNCTIONS, GAMMA_FUNCTIONS, POLYGAMMA
from emitted import in_node

pytestmark = pytest.mark.peers

ALL = f"{ERROR_FUNCTIONS}\n{GAMMA_FUNCTIONS}\n{POLYGAMMA}\nconst known = {{ erf, erfc, gamma, lgamma, polygamma }};"


def in_javascript(cases: list[tuple[str, list[float]]]) -> list[float]:
    """The values of functions at operands."""
    asked = f"console.log(JSON.stringify({json.dumps(cases)}.map(([name, at]) => String(known[name](...at)))));"
    return [float(one.replace("Infinity", "inf")) for one in json.loads(in_node(f"{ALL}\n{asked}"))]


def points() -> list[tuple[str, list[float]]]:
    chance = random.Random(11)
    near_0 = [chance.uniform(-6, 6) for _ in range(200)] + [1e-300, -1e-9, 0.9999, 1.0, 2.0]
    far = [chance.uniform(0, 26) for _ in range(100)]
    rising = [chance.uniform(0, 171) for _ in range(100)] + [chance.uniform(0, 12) for _ in range(200)]
    below = [chance.uniform(-170, 0) for _ in range(100)] + [-0.5, -1e-9, -1.4]
    edges = [1e-9, 1.0, 1 + 1e-9, 2.000000001, 0.49999, 0.5, 1.4999, 1.5, 2.4999, 2.5, 10.0, 23.0, 100.25, 171.0]
    some = [(name, [x]) for name in ("erf", "erfc") for x in (*near_0, *far)]
    some += [(name, [x]) for name in ("gamma", "lgamma") for x in (*rising, *below, *edges)]
    some += [("lgamma", [1e8]), ("lgamma", [1e300])]
    return some + [("polygamma", [n, x]) for n in (0, 1, 2, 3, 7) for x in (*rising, *below, *edges, 1e8)]


def test_they_have_nearly_all_digits_of_a_double() -> None:
    import mpmath

    def truth(name: str, at: list[float]) -> mpmath.mpf:
        if name == "lgamma":
            return mpmath.loggamma(at[0]).real
        if name == "polygamma":
            return mpmath.polygamma(int(at[0]), at[1])
        return getattr(mpmath, name)(*at)

    told = []
    with mpmath.workdps(40):
        for (name, at), found in zip(points(), in_javascript(points()), strict=True):
            expected = truth(name, [mpmath.mpf(x) for x in at])
            # where lgamma and digamma cross 0 between their poles the error is one of what is subtracted there
            room = 1e-14 * abs(expected) + (2e-14 if name in ("lgamma", "polygamma") and at[-1] < 0 else 1e-15)
            if name in ("erfc", "gamma"):
                room = 1e-14 * abs(expected)
            if abs(found - expected) > room:
                told.append((name, at, found, float(expected)))
    assert told == []


def test_near_1_and_2_the_logarithm_of_gamma_has_all_its_digits() -> None:
    """It is 0 there: log(gamma(2 + h)) is (1 - 0.5772...)h + ..."""
    import mpmath

    at = [1 + 1e-9, 1 - 1e-7, 2 + 1e-9, 2 - 1e-12, 1.25, 1.75]
    with mpmath.workdps(40):
        expected = [float(mpmath.loggamma(mpmath.mpf(x))) for x in at]
    assert in_javascript([("lgamma", [x]) for x in at]) == pytest.approx(expected, rel=1e-14)


def test_at_poles_and_beyond_the_largest_double_they_say_so() -> None:
    asked = [
        ("gamma", [0.0]),
        ("gamma", [-3.0]),
        ("lgamma", [-1.0]),
        ("polygamma", [0, -2.0]),
        ("polygamma", [0.5, 2.0]),
    ]
    assert all(one != one for one in in_javascript(asked))
    asked = [("gamma", [171.7]), ("gamma", [1e10]), ("erfc", [30.0]), ("erf", [9.0]), ("gamma", [-300.5])]
    assert in_javascript(asked) == [float("inf"), float("inf"), 0.0, 1.0, 0.0]

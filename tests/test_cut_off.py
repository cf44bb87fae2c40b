"""What a branch not taken has cut off: nothing behind it matters, in arrays as in single numbers.

Over doubles an element that is cut off is marked with a -0 on its way through adjoints and tangents (`kinds.doubles`).
The opened program, where each element is a number and a branch not taken an edge left out, says what is right.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import backprop
from backprop.forward import tangents
from backprop.graph import INPUT
from backprop.kinds.array import arrays
from backprop.kinds.ieee import IEEE
from backprop.kinds.real import REAL
from backprop.mistakes import Undefined
from backprop.point import at
from backprop.reverse import reverse

# What is behind has an infinite slope at 0; in front of it a branch is not taken, or is at its kink.
BEHIND_A_BRANCH = [
    ("sum(relu(sqrt(x) - 1))", [0, 4], [0, 0.25]),
    ("sum(relu(sqrt(x)))", [0, 4], [math.nan, 0.25]),  # a kink: no branch is the one taken
    ("sum(max(sqrt(x), 1))", [0, 4], [0, 0.25]),
    ("sum(max(sqrt(x), 0))", [0, 4], [math.nan, 0.25]),
    ("sum(clip(sqrt(x), 1, 3))", [0, 4], [0, 0.25]),
    ("sum(clip(sqrt(x), 0, 3))", [0, 4], [math.nan, 0.25]),
    ("sum(where(x > 1, sqrt(x), x))", [0, 4], [1, 0.25]),
    ("max(sqrt(x))", [0, 4], [0, 0.25]),
    ("min(sqrt(x))", [0, 4], [math.inf, 0]),
    ("max(sqrt(x))", [0, 0], [math.inf, math.inf]),  # each takes half of the slope
    ("sum(max(sqrt(x), axis=0))", [[0, 4], [4, 1]], [[0, 0.25], [0.25, 0]]),
    ("sqrt(x)[1]", [0, 4], [0, 0.25]),
    ("sum(sqrt(x)[[1, 1]])", [0, 4], [0, 0.5]),
    ("sum(relu(sqrt(x)[0:1] - 1))", [0, 4], [0, 0]),
    ("trace(sqrt(x))", [[1, 0], [0, 4]], [[0.5, 0], [0, 0.25]]),
    ("sum(diag(sqrt(x)))", [[1, 0], [0, 4]], [[0.5, 0], [0, 0.25]]),
    ("sum(relu(sqrt(x).T - 1))", [[1, 0], [0, 4]], [[0, 0], [0, 0.25]]),
    ("sum(relu(reshape(sqrt(x), -1, 1) - 1))", [0, 4], [0, 0.25]),
    ("sum(relu(concat(sqrt(x), x) - 1))", [0, 4], [0, 1.25]),
    ("sum(relu([sqrt(x), x] - 1))", [0, 4], [0, 1.25]),
    ("sum(relu(flatten(sqrt(x)) - 1))", [[0, 4]], [[0, 0.25]]),
    ("sum(relu(expand_dims(sqrt(x), 0) - 1))", [0, 4], [0, 0.25]),
]


@pytest.mark.parametrize(("program", "x", "expected"), BEHIND_A_BRANCH, ids=lambda part: str(part)[:40])
def test_what_is_cut_off_in_arrays_is_what_is_cut_off_in_numbers(program: str, x: Any, expected: Any) -> None:
    closed = at(program, {"x": x}, kind=IEEE)
    opened = at(program, {"x": x}, kind=IEEE, opened=[])
    slopes = closed.by_rules()["x"]
    assert slopes == pytest.approx(np.array(expected, dtype=float), nan_ok=True)
    assert list(slopes.flat) == pytest.approx(list(opened.by_rules().values()), nan_ok=True)


def test_a_kink_before_an_infinite_slope_has_no_answer_however_large_the_array_is() -> None:
    with pytest.raises(Undefined, match="no finite value"):
        backprop.grad("sum(relu(sqrt(x)))", {"x": [0.0] * 25_000 + [1.0]})
    with pytest.raises(Undefined, match="no finite value"):
        backprop.grad("relu(sqrt(x))", {"x": 0.0})


def test_a_minus_zero_that_a_user_gives_is_a_number_like_any_other() -> None:
    assert backprop.grad("sum(1/x)", {"x": ["-0"]}, undefined="propagate")[1]["x"] == [-math.inf]
    assert backprop.grad("sum(x*y)", {"x": ["-0"], "y": [2]}, undefined="propagate")[1]["y"] == [0]
    # 0·inf has no value, whatever sign the 0 has
    assert np.isnan(backprop.grad("sum(x*sqrt(y))", {"x": ["-0"], "y": [0]}, undefined="propagate")[1]["y"]).all()
    for program in ("sum(x*sqrt(y))", "sum(x*log(y))"):
        answers = [backprop.grad(program, {"x": [zero], "y": [1]})[1] for zero in ("-0", "0")]
        assert [float(one["y"][0]) for one in answers] == [0, 0]
        assert math.copysign(1, answers[0]["y"][0]) == 1


@pytest.mark.parametrize("kind", [REAL, IEEE], ids=lambda kind: kind.__class__.__name__)
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_an_engine_that_starts_with_a_minus_zero_starts_with_zero(kind: Any, zero: float) -> None:
    here = at("sqrt(x)", {"x": [0, 4]}, kind=kind)
    node = here.graph.codes.index(INPUT)
    seed = np.array([zero, 1.0])
    moved = tangents(here.graph, here.partials, arrays(kind), {node: seed})[here.graph.output]
    back = reverse(here.graph, here.partials, arrays(kind), seed=seed).adjoints[node]
    for found in (moved, back):
        assert np.isnan(found[0])
        assert found[1] == 0.25


# The largest of all elements knows which of them do not tie; max(a, b, c) of the opened program cuts off none at a tie.
ONE_BY_ONE = [case[0] for case in BEHIND_A_BRANCH if "[[" not in str(case[1]) and "(sqrt(x))" not in case[0][:12]]


@given(
    x=st.lists(st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 4.0]), min_size=2, max_size=4),
    program=st.sampled_from(ONE_BY_ONE),
)
def test_no_minus_zero_comes_out(x: list[float], program: str) -> None:
    here = at(program, {"x": x}, kind=IEEE)
    back = here.reverse()
    for found in (*back.adjoints, *back.contributions):
        if found is not None:
            assert not np.any(np.signbit(found) & np.equal(found, 0))
    opened = list(at(program, {"x": x}, kind=IEEE, opened=[]).by_rules().values())
    assert list(here.by_rules()["x"]) == pytest.approx(opened, nan_ok=True)

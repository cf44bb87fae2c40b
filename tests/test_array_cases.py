"""What the worked cases of arrays brought up: digits that whole arrays lose, pivots, and holes among smooth terms."""

from __future__ import annotations

import time

import pytest

import backprop
from backprop.point import at

NODES = (10.0, 10.1, 10.2, 10.3)
VANDERMONDE = [[1.0, t, t * t, t**3] for t in NODES]


def test_what_an_elimination_of_whole_arrays_loses_is_that_of_the_opened_program_with_a_note() -> None:
    found = backprop.trace("c = solve(V, y); c @ c", {"V": VANDERMONDE, "y": [1, 2, 0, 1]}, check=False)
    # from an elimination with 120 digits, outside of this program
    assert found.value == pytest.approx(1189400625865.8499, rel=1e-11)
    (note,) = [note for note in found.notes if note.code == "lost-digits"]
    assert "where whole arrays are worked out at once; opened into single numbers" in note.text
    assert set(found.mended) == {"f", "V", "y"}


def test_slopes_of_a_determinant_that_nearly_vanishes_are_its_cofactors() -> None:
    value, slopes = backprop.grad("det(A)", {"A": [[1, 2, 3], [4, 5, 6], [7, 8, 9.000000001]]})
    assert value == pytest.approx(-3e-9, rel=1e-6)
    # 5*9 - 6*8 and its kin, by hand
    expected = [[-2.999999995, 5.999999996, -3], [5.999999998, -11.999999999, 6], [-3, 6, -3]]
    for row, cofactors in zip(slopes["A"], expected, strict=True):
        assert list(row) == pytest.approx(cofactors, rel=1e-11)


def test_a_matrix_that_is_singular_in_doubles_alone_is_solved() -> None:
    """After Läuchli: A.T @ A is all 1 in doubles, and the true solution is (1, 1)."""
    A = [[1.0, 1.0], [1e-8, 0.0], [0.0, 1e-8]]
    found = backprop.trace("sum(solve(A.T @ A, A.T @ b))", {"A": A, "b": [2.0, 1e-8, 1e-8]})
    assert found.value == pytest.approx(2, rel=1e-12)
    assert "lost-digits" in {note.code for note in found.notes}
    assert not [one for one in found.witnesses if one.verdict == "DISAGREES"]


def test_a_singular_matrix_stays_singular() -> None:
    assert backprop.trace("sum(inv(A))", {"A": [[1, 2], [2, 4]]}).value is None


def test_forward_mode_that_loses_digits_is_inaccurate_and_disagrees_with_nothing() -> None:
    found = backprop.trace("c = solve(V, y); c @ c", {"V": VANDERMONDE, "y": [1, 2, 0, 1]})
    verdicts = {one.by: one.verdict for one in found.witnesses if one.of == "V"}
    assert verdicts["forward mode"] == "inaccurate"
    assert "DISAGREES" not in {one.verdict for one in found.witnesses}


def test_a_second_derivative_that_jumps_is_no_wrong_rule() -> None:
    found = backprop.trace("sum(elu(x))", {"x": [0.0, -1.0, 2.0]})
    assert "DISAGREES" not in {one.verdict for one in found.witnesses}


def test_an_entropy_with_a_0_among_many_has_its_limit_at_once() -> None:
    p = [0.0, *[1 / 16] * 16]
    began = time.process_time()
    found = backprop.trace("-sum(p*log2(p))", {"p": p}, check=False).limits
    assert time.process_time() - began < 5
    assert found is not None
    assert found.value == pytest.approx(4)
    assert found.gradient["p[0]"] == float("inf")
    assert found.gradient["p[1]"] == pytest.approx(4 - 1.4426950408889634)


def test_smooth_terms_beside_a_hole_keep_the_slopes_of_their_rules() -> None:
    found = at("3*x*log(x)/2 - y^2 + x*z", {"x": 0, "y": 3, "z": 5}).approach()
    assert found is not None
    assert found.both is not None
    assert found.both.value == pytest.approx(-9)
    assert list(found.both.slopes.values()) == [float("-inf"), -6.0, 0.0]


def test_a_pole_beside_smooth_terms_has_no_limit() -> None:
    found = at("1/x + y^2", {"x": 0, "y": 3}).approach()
    assert found is not None
    assert found.both is not None
    assert found.both.why == "direction"


def test_a_slope_at_a_corner_is_never_beyond_its_ends_by_rounding() -> None:
    values = {"X": [[1, 1], [2, -1], [0.5, 0.25]], "w": [0.5, 0.5], "y": [1, -1, 1]}
    found = backprop.trace("mean(max(0, 1 - y*(X @ w)))", values, check=False)
    for one, slope in zip(found.one_sided[-2:], found.gradient["w"], strict=True):
        assert min(one.left, one.right) <= slope <= max(one.left, one.right)

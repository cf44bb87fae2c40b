"""Where derivatives may be other than 0, columns that share a pass, and the picture of it."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backprop.higher import patterns as found_patterns
from backprop.higher.jacobian_records import Sparsity
from backprop.higher.jacobians import matrix
from backprop.higher.outputs import Outputs
from backprop.higher.passes import plan
from backprop.higher.sparsity import Pattern, members
from backprop.mistakes import TooMuchWork
from backprop.point import at
from backprop.render.look import Look
from backprop.render.sparsity import render
from command import call
from conftest import Golden

TRIDIAGONAL = "concat(x[1:], [0]) + x^2 - concat([0], x[:-1]^3)"


def sparsity(program: str, inputs: dict[str, Any], of: str = "jacobian", wrt: list[str] | None = None) -> Sparsity:
    outputs = Outputs(at(program, inputs, wrt))
    return found_patterns.sparsity(outputs) if of == "jacobian" else found_patterns.hessian_sparsity(outputs)


def columns(found: Sparsity) -> list[list[int]]:
    return [list(members(row)) for row in found.pattern.rows]


# -- the pattern ------------------------------------------------------------------------------------------------------


def test_each_element_depends_on_its_own() -> None:
    assert columns(sparsity("x^2", {"x": [1, 2, 3]})) == [[0], [1], [2]]


def test_a_matrix_moves_the_rows_of_its_product() -> None:
    # (W x)_i = W_i0 x_0 + W_i1 x_1: the columns are W[0,0], W[0,1], W[1,0], W[1,1], x[0], x[1]
    assert columns(sparsity("W @ x", {"W": [[1, 2], [3, 4]], "x": [1, 1]})) == [[0, 1, 4, 5], [2, 3, 4, 5]]


def test_the_structure_is_told_whatever_the_numbers_are() -> None:
    assert columns(sparsity("x*y", {"x": [0, 0], "y": [0, 1]})) == [[0, 2], [1, 3]]
    assert columns(sparsity("where(x > 0, y, z)", {"x": [1, -1], "y": [1, 2], "z": [3, 4]})) == [[2, 4], [3, 5]]


def test_a_step_lets_nothing_through() -> None:
    assert columns(sparsity("[floor(x) + y, sign(y)*x]", {"x": 1.5, "y": 2})) == [[1], [0]]


def test_numbers_alone_have_a_pattern_too() -> None:
    assert columns(sparsity("x*y + z", {"x": 1, "y": 2, "z": 3, "w": 4})) == [[0, 1, 2]]


def test_rows_and_elements_that_are_asked_for_are_the_columns() -> None:
    assert columns(sparsity("W @ x", {"W": [[1, 2], [3, 4]], "x": [1, 1]}, wrt=["x[1]", "W[1]"])) == [[0], [0, 1, 2]]


def test_the_hessian_of_a_separable_function_is_a_diagonal() -> None:
    assert columns(sparsity("sum(sin(x)*x)", {"x": [1, 2, 3]}, "hessian")) == [[0], [1], [2]]


def test_the_hessian_of_a_linear_function_is_empty() -> None:
    assert sparsity("sum(3*x) + x[0]", {"x": [1, 2, 3]}, "hessian").pattern.nonzeros == 0


def test_the_hessian_of_the_rosenbrock_valley_is_tridiagonal() -> None:
    # 100 (x_{i+1} - x_i²)² couples neighbours alone
    found = columns(sparsity("sum(100*(x[1:] - x[:-1]^2)^2 + (1 - x[:-1])^2)", {"x": [1, 2, 3, 4]}, "hessian"))
    assert found == [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3]]


def test_a_program_too_large_to_be_opened_has_no_pattern() -> None:
    with pytest.raises(TooMuchWork, match="number by number"):
        sparsity("W @ x", {"W": np.ones((400, 400)), "x": np.ones(400)})


# -- columns that share a pass ----------------------------------------------------------------------------------------


def test_a_tridiagonal_matrix_takes_three_passes() -> None:
    # Curtis, Powell and Reid: a band of width 2b + 1 takes as many groups
    for size in (3, 4, 5, 10, 100):
        found = sparsity(TRIDIAGONAL, {"x": list(range(size))})
        assert (found.forward, found.reverse) == (3, 3)


@pytest.mark.parametrize("width", [0, 1, 2, 5])
def test_a_band_takes_as_many_passes_as_it_is_wide(width: int) -> None:
    size = 40
    band = [sum(1 << at for at in range(max(0, row - width), min(size, row + width + 1))) for row in range(size)]
    assert len(Pattern(band, size).groups()) == 2 * width + 1


def test_an_arrow_takes_as_many_passes_as_it_has_columns_and_two_for_its_rows_less_the_last() -> None:
    # the last row touches every column
    size = 20
    arrow = Pattern([1 << row for row in range(size - 1)] + [(1 << size) - 1], size)
    assert len(arrow.groups()) == size
    assert len(arrow.turned().groups()) == 2


@settings(deadline=None)
@given(st.permutations(range(30)), st.permutations(range(30)), st.integers(0, 4))
def test_a_band_takes_as_few_passes_whatever_the_order_of_its_rows_and_columns(
    down: list[int], across: list[int], width: int
) -> None:
    def row(place: int) -> int:
        return sum(1 << across[at] for at in range(max(0, place - width), min(30, place + width + 1)))

    assert len(Pattern([row(place) for place in down], 30).groups()) == 2 * width + 1


def test_a_pattern_of_more_places_than_memory_has_is_refused() -> None:
    with pytest.raises(TooMuchWork, match="10,000,000,000 places"):
        sparsity("x^2", {"x": np.ones(100_000)})


def test_columns_that_nothing_depends_on_take_no_pass() -> None:
    assert Pattern([0b010], 3).groups() == [[1]]
    assert Pattern([], 3).groups() == []


patterns = st.integers(1, 12).flatmap(
    lambda wide: st.lists(st.integers(0, 2**wide - 1), min_size=1, max_size=12).map(lambda rows: Pattern(rows, wide))
)


@given(patterns)
def test_no_two_columns_of_a_group_meet_and_no_column_is_lost(found: Pattern) -> None:
    groups = found.groups()
    for row in found.rows:
        for group in groups:
            assert sum(row >> column & 1 for column in group) <= 1
    used = {column for row in found.rows for column in members(row)}
    assert sorted(column for group in groups for column in group) == sorted(used)
    assert len(groups) >= max(row.bit_count() for row in found.rows)  # those of one row meet each other
    assert found.turned().turned() == found


@given(st.integers(0, 2**200 - 1))
def test_the_members_of_a_set_are_its_bits(numbers: int) -> None:
    assert sum(1 << one for one in members(numbers)) == numbers


# -- shared passes give the dense numbers -----------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_shared_passes_give_what_a_pass_for_each_would(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 9))
    x = data.draw(st.lists(st.integers(-3, 3).map(float), min_size=size, max_size=size))
    terms = []
    for _ in range(size):
        i, j = (data.draw(st.integers(0, size - 1)) for _ in range(2))
        terms.append(
            data.draw(st.sampled_from([f"x[{i}]*x[{j}]", f"sin(x[{i}]) + x[{j}]", f"3*x[{i}]", "2", "x[0]^2"]))
        )
    program = f"[{', '.join(terms)}]"
    here = at(program, {"x": x})
    for mode in ("forward", "reverse"):
        shared, alone = Outputs(here), Outputs(here)
        with patch.object(alone, "pattern", lambda opened: None):
            assert np.array_equal(matrix(shared, mode)[0], matrix(alone, mode)[0])
            assert plan(shared, mode)[0].forward <= plan(alone, mode)[0].forward


def test_the_numbers_stand_where_the_pattern_is() -> None:
    outputs = Outputs(at(TRIDIAGONAL, {"x": [1, 2, 3, 4, 5, 6]}))
    made = matrix(outputs)[0]
    assert [list(np.nonzero(row)[0]) for row in made] == columns(found_patterns.sparsity(outputs))


# -- the picture ------------------------------------------------------------------------------------------------------


def drawn(found: Sparsity, **look: Any) -> list[str]:
    return list(render(found, "f", Look(**look)))


def test_a_small_pattern_has_a_letter_for_each_element() -> None:
    assert drawn(sparsity("x[1:] - x[:-1]^2", {"x": [1, 2, 3]})) == [
        "Jacobian of f: 2 x 3",
        "f ● ● ·",
        "  · ● ●",
        "4 of 6 may be other than 0: 66.7 %",
        "2 forward passes instead of 3, 2 reverse passes: columns, or rows, that do not touch share one",
    ]
    assert drawn(sparsity("x[1:] - x[:-1]^2", {"x": [1, 2, 3]}), ascii=True)[1:3] == ["f * * .", "  . * *"]


def braille(lines: list[str]) -> list[list[int]]:
    """The dots of a picture, row by row, as Unicode numbers them."""
    bits = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
    return [
        [int(bool(ord(letter) - 0x2800 & bit)) for letter in line for bit in pair] for line in lines for pair in bits
    ]


def test_a_large_pattern_is_drawn_in_dots_one_for_each_element() -> None:
    found = sparsity(TRIDIAGONAL, {"x": list(range(64))})
    lines = drawn(found)
    picture = braille([line for line in lines if ord(line[0]) >= 0x2800])
    assert picture == [[int(abs(row - column) <= 1) for column in range(64)] for row in range(64)]
    assert "one dot for each element" in lines


def test_a_larger_one_is_drawn_to_scale() -> None:
    found = sparsity(TRIDIAGONAL, {"x": list(range(256))})
    lines = drawn(found)
    picture = braille([line for line in lines if ord(line[0]) >= 0x2800])
    # a dot stands for 2 x 2: neighbours touch the blocks on the diagonal and those beside it
    assert picture == [[int(abs(row - column) <= 1) for column in range(128)] for row in range(128)]
    assert "one dot for 2 x 2 elements, drawn where one of them may be other than 0" in lines
    plain = drawn(found, ascii=True)
    assert "one mark for 8 x 8 elements, drawn where one of them may be other than 0" in plain
    assert plain[1] == "**" + 30 * "."


def test_a_picture_fits_the_screen() -> None:
    found = sparsity(TRIDIAGONAL, {"x": list(range(300))})
    assert max(map(len, drawn(found, width=40))) <= 40


def test_sparsity_stands_in_place_of_the_numbers(golden: Golden) -> None:
    words = ("grad", "concat(x[1:] - x[:-1]^2, [sum(y)])", "--x", "[1, 2, 3, 4]", "--y", "[1, 2]", "--sparsity")
    code, out, err = call(*words)
    assert (code, err) == (0, "")
    golden("jacobian/sparsity.txt", out)
    assert call(*words, "--jacobian") == (0, out, "")
    code, told, _ = call(*words, "--format", "json")
    found = json.loads(told)["sparsity"]
    assert found == [
        {
            "of": "jacobian",
            "shape": [4, 6],
            "nonzeros": 8,
            "rows": [[0, 1], [1, 2], [2, 3], [4, 5]],
            "passes": {"forward": 2, "reverse": 2},
        }
    ]


def test_the_hessian_has_a_pattern_where_it_is_too_large_to_be_worked_out(golden: Golden) -> None:
    x = json.dumps(list(range(600)))
    program = "sum((x[1:] - x[:-1]^2)^2)"
    assert call("grad", program, "--x", x, "--hessian")[0] == 2
    code, out, err = call("grad", program, "--x", x, "--hessian", "--sparsity")
    assert (code, err) == (0, "")
    assert "1798 of 360000 may be other than 0: 0.499 %" in out
    assert "3 forward passes instead of 600 over the gradient: columns that do not touch share one" in out


def test_what_else_is_asked_stands_beside_the_pattern() -> None:
    code, out, _ = call("grad", "x*y", "--x", "2", "--y", "3", "--sparsity", "--jvp", "x=1")
    assert code == 0
    assert "f ● ●" in out
    assert "∂f/∂v = 3" in out

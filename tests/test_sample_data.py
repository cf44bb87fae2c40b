"""The data in samples/data are those that were published."""

from __future__ import annotations

import numpy as np
import pytest

from layers import DATA, irises

# the means of Table I of Fisher's paper: sepal length and width, petal length and width, by species
MEANS = ((5.006, 3.428, 1.462, 0.246), (5.936, 2.770, 4.260, 1.326), (6.588, 2.974, 5.552, 2.026))


def test_the_irises_have_the_means_that_fisher_printed() -> None:
    flowers = irises("iris")
    assert flowers["X"].shape == (150, 4)
    for species, means in enumerate(MEANS):
        rows = flowers["X"][flowers["y"] == species]
        assert len(rows) == 50
        assert rows.mean(axis=0) == pytest.approx(means, abs=5e-4)


def test_the_two_rows_that_the_most_copied_file_has_wrong_are_right() -> None:
    flowers = irises("iris")["X"]
    assert flowers[34].tolist() == [4.9, 3.1, 1.5, 0.2]
    assert flowers[37].tolist() == [4.9, 3.6, 1.4, 0.1]


def test_the_small_batch_is_four_rows_of_each_species() -> None:
    whole, some = irises("iris"), irises("iris12")
    places = [first + row for first in (0, 50, 100) for row in range(4)]
    assert np.array_equal(some["X"], whole["X"][places])
    assert np.array_equal(some["y"], whole["y"][places])


def test_the_program_about_the_irises_holds_the_small_batch() -> None:
    from backprop.point import Program

    here = Program((DATA.parent / "iris.bp").read_text(encoding="utf-8")).at({})
    for name, figures in irises("iris12").items():
        assert np.array_equal(here.values[here.graph.inputs[name]], figures)

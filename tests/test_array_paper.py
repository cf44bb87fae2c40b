"""Arrays against numbers from paper: arrays/paper.json, each with its derivation in `why`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import backprop
from backprop import ops
from backprop.kinds import is_number
from backprop.point import at
from layers import numbers

PAPER = Path(__file__).parent / "arrays" / "paper.json"
CASES = json.loads(PAPER.read_text(encoding="utf-8"))["cases"]


def same(found: Any, expected: Any) -> bool:
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    return found.shape == expected.shape and found == pytest.approx(expected, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_value_and_gradient_are_those_from_paper(case: dict[str, Any]) -> None:
    value, gradient = backprop.grad(case["program"], case["inputs"])
    assert same(value, case["value"]), (value, case["why"])
    assert gradient.keys() == case["gradient"].keys()
    for name, slopes in case["gradient"].items():
        assert same(gradient[name], slopes), (name, gradient[name], case["why"])


# Where the rule of a whole operation meets 0/0 and only the opened program has an answer.
OPENED_ONLY = {"length 0", "determinant 0", "determinant 0 of rank 1", "determinant of the zero matrix"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_tangent_is_the_gradient_along_a_direction(case: dict[str, Any]) -> None:
    here = at(case["program"], case["inputs"])
    moved, expected = {}, 0.0
    for seed, (name, slopes) in enumerate(case["gradient"].items()):
        direction = numbers(*np.shape(slopes), seed=seed)
        moved[here.graph.inputs[name]] = direction if direction.shape else float(direction)
        expected += float(np.sum(direction * np.asarray(slopes, dtype=float)))
    tangent = here.tangents(moved)[here.graph.output]
    if case["name"] in OPENED_ONLY:
        assert not is_number(tangent)
        return
    assert (0.0 if tangent is None else tangent) == pytest.approx(expected, rel=1e-12, abs=1e-13)


def test_every_operation_on_arrays_is_met() -> None:
    met = set()
    for case in CASES:
        graph = at(case["program"], case["inputs"]).graph
        met |= {row.name for node in range(len(graph)) if (row := graph.row(node)) is not None}
    assert {row.name for row in ops.rows() if row.arrays} <= met


def test_every_case_has_a_name_and_says_why() -> None:
    assert len({case["name"] for case in CASES}) == len(CASES) > 170
    assert all(case["why"] and case["inputs"].keys() == case["gradient"].keys() for case in CASES)

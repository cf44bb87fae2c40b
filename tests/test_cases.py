"""Worked cases with known answers (tests/cases/README.md): each one a test.

Cases that need what is not built yet are named in NOT_BUILT, a list that only ever shrinks.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import backprop
from backprop.path_sums import Routes, count
from backprop.record import Trace

FILES = [Path(__file__).parent / "cases" / name for name in ("handed.json", "own.json")]
CASES = [case for file in FILES for case in json.loads(file.read_text(encoding="utf-8"))]

# vectors
NOT_BUILT = {
    "pt-opt-biggs-exp6",
    "pt-opt-box-three-dimensional",
    "pt-opt-brown-dennis-minimum",
    "pt-opt-kowalik-osborne",
    "pt-strd-boxbod-start",
    "pt-strd-misra1a-certified",
    "ts-difftests-negative-cubes",
    "ts-difftests-self-logit",
    "we-dot-gradient-4x",
    "we-lstm-one-step",
    "we-lstm-two-steps",
    "we-norm-of-five",
    "we-softmax-ce-123",
    "we-sum-x-exp-x",
}

# a note of one of these sorts names the cause of a number that doubles cannot carry
CAUSES = {"undefined", "overflow", "underflow", "lost-digits"}


def number(value: Any) -> float:
    return float(value)


def close(found: Any, expected: Any, tolerance: dict[str, float]) -> bool:
    if found is None or expected == "undefined":
        return found is None and expected == "undefined"
    expected = number(expected)
    return abs(number(found) - expected) <= tolerance["abs"] + tolerance["rel"] * abs(expected) or found == expected


def slope_is_right(found: Any, expected: Any, trace: Trace, tolerance: dict[str, float]) -> bool:
    """A number within tolerance; at a kink any number between the one-sided slopes, said to be a convention."""
    if not isinstance(expected, dict):
        return close(found, expected, tolerance)
    sides = [side for side in (expected["left"], expected["right"]) if side != "undefined"]
    if found is None:
        return any(note.code == "undefined" for note in trace.notes)
    between = min(map(number, sides)) <= number(found) <= max(map(number, sides))
    return between and any(note.code == "kink" for note in trace.notes)


def wrong_numbers(trace: Trace, expect: dict[str, Any], tolerance: dict[str, float]) -> list[str]:
    wrong: list[str] = []
    if "value" in expect and not close(trace.value, expect["value"], tolerance):
        wrong.append(f"value {trace.value} is not {expect['value']}")
    for name, slope in expect.get("grad", {}).items():
        found = trace.gradient.get(name)
        if not slope_is_right(found, slope, trace, tolerance):
            wrong.append(f"gradient of {name} {found} is not {slope}")
    return wrong


@pytest.mark.parametrize("case", [case for case in CASES if case["id"] not in NOT_BUILT], ids=lambda case: case["id"])
def test_case_gives_the_known_answer(case: dict[str, Any]) -> None:
    expect, tolerance = case["expect"], case["tolerance"]
    if "any_of" in expect:
        one_reading_is_taken(case)
        return
    trace = backprop.trace(case["program"], case["inputs"])
    wrong = wrong_numbers(trace, expect, tolerance)
    if wrong and "naive-fails" in case["tags"]:
        assert CAUSES & {note.code for note in trace.notes}, wrong
        wrong = []
    assert not wrong
    assert not [witness for witness in trace.witnesses if witness.verdict == "DISAGREES"]
    for name, node in expect.get("nodes", {}).items():
        found = trace.node(name)
        for what in ("value", "adjoint"):
            if what in node:
                assert close(getattr(found, what), node[what], tolerance), (name, what)
    for arrow, partial in expect.get("edges", {}).items():
        source, target = arrow.split("->")
        sums = [edge.partial for edge in trace.edges if (edge.source, edge.target) == (source, target)]
        assert close(sum(map(number, sums)), partial, tolerance), arrow
    for name, paths in expect.get("paths", {}).items():
        assert count(Routes(trace, name)) == paths, name
    for pair, second in expect.get("second", {}).items():
        names = pair.split(",")
        formula = backprop.diff(case["program"], [names], order=2)[pair]
        assert close(backprop.grad(formula, case["inputs"])[0], second, tolerance), pair


def one_reading_is_taken(case: dict[str, Any]) -> None:
    """An ambiguous text is refused, or read in one of the ways listed, never in another; the reading is shown."""
    readings = case["expect"]["any_of"]
    try:
        trace = backprop.trace(case["program"], case["inputs"])
    except backprop.Mistake:
        assert {"error": "parse"} in readings
        return
    assert any("error" not in reading and not wrong_numbers(trace, reading, case["tolerance"]) for reading in readings)
    assert trace.canonical


def test_the_list_of_cases_not_built_names_only_cases_that_exist() -> None:
    assert {case["id"] for case in CASES} >= NOT_BUILT

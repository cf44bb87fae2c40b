"""A program at a point: what its nodes are called, and what the notes say."""

from __future__ import annotations

import pytest

import backprop
from backprop.mistakes import closest
from backprop.point import Program, at


def noted(program: str, point: dict[str, float], code: str) -> list[str]:
    """The texts of the notes of one sort."""
    return [note.text for note in backprop.trace(program, point, check=False).notes if note.code == code]


def test_a_name_that_nothing_reads_is_noted_at_every_point() -> None:
    program = Program("x^2")
    for value in (1, 2):
        here = program.at({"x": value, "y": 3})
        assert here.unused == ["y"]
        assert here.gradient() == {"x": 2.0 * value, "y": 0.0}


def test_every_binding_of_a_name_has_a_derivative_of_its_own() -> None:
    # c = x, c~2 = 2 c, f = c~2 y
    assert at("c = x; c = c*2; c*y", {"x": 1, "y": 5}, ["c", "c~2", "x"]).gradient() == {
        "c": 10.0,
        "c~2": 5.0,
        "x": 10.0,
    }
    assert at("a = 1; b = a; a = 2; a*b", {}).gradient() == {"a": 2.0, "a~2": 1.0}
    assert backprop.diff("c = x; c = c*2; c*y", [["c"], ["c~2"]])["c~2"] == "y"


def test_an_input_keeps_its_name_when_the_name_is_bound_again() -> None:
    assert at("x = x^2; x = x^2; x", {"x": 3}).gradient() == {"x": 108.0}


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("a = 1; f(x) = x + a; a = 2; f(0)", ["a was set again after f was defined: f takes the newest a"]),
        ("f(x) = x*x + a; a = 2; f(3)", []),
        ("a = 1; f(x) = x + a; f(0) + a", []),
        ("a = 1; a = 2; f(x) = x + a; f(0)", []),
        ("x = 1; f(x) = 2*x; x = 3; f(x)", []),
        (
            "a = 1; f(x) = x + a; g(x) = f(x); a = 2; g(0)",
            ["a was set again after f was defined: f takes the newest a"],
        ),
    ],
)
def test_a_function_whose_names_changed_after_its_definition_is_noted(program: str, told: list[str]) -> None:
    assert noted(program, {}, "read-as") == told


def test_a_free_name_of_a_function_has_its_newest_value() -> None:
    assert backprop.grad("a = 1; f(x) = x + a; a = 2; f(0)", {})[0] == 2.0


@pytest.mark.parametrize(
    ("program", "name", "needs"),
    [
        ("x/0", "x", "f = x/0 has no real value at x = -2: a/y needs y != 0"),
        ("u/0", "u", "f = u/0 has no real value at u = -2: x/y needs y != 0"),
        ("1/(u + 2)", "u", "f = 1/v1 has no real value at v1 = 0: it needs v1 != 0"),
        ("log(u)", "u", "f = log(u) has no real value at u = -2: it needs u > 0"),
        (
            "log(u + 5, 1)",
            "u",
            "f = log(v1, 1) has no real value at v1 = 3: log(x, b) needs x > 0 and b > 0 and b != 1",
        ),
    ],
)
def test_a_condition_that_fails_is_told_in_letters_that_can_be_read(program: str, name: str, needs: str) -> None:
    (text,) = noted(program, {name: -2}, "undefined")
    assert text.partition(";")[0] == f"undefined: {needs}"  # what is approached beside the point comes behind


def test_an_overflow_is_told_as_one() -> None:
    assert noted("9^9^9^9", {}, "undefined") == ["the value overflows: v2 = 9^v1 is beyond the largest double, 1.8e308"]


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("rellu", ["relu", "exp"], "relu"),
        ("tahn", ["tanh", "exp"], "tanh"),
        ("xx", ["x", "y"], "x"),
        ("lgo", ["log"], "log"),
        ("leaky", ["leaky_relu"], "leaky_relu"),
        ("nope", ["ne", "or"], None),
        ("foo", ["f", "floor"], None),
        ("q", ["x"], None),
    ],
)
def test_only_a_word_that_may_have_been_meant_is_suggested(word: str, known: list[str], meant: str | None) -> None:
    assert closest(word, known) == meant


def test_the_output_has_a_value_though_only_a_branch_not_taken_uses_it() -> None:
    here = Program("y = 3*x; z = where(x != 0, y/x, 0); y").at({"x": 0})
    assert (here.value(), here.gradient()) == (0.0, {"x": 3.0})

"""The words of a command line: what is an option, what binds a variable, what is the expression."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import backprop
from backprop import bindings, mistakes
from backprop.bindings import Option, reads_as_value, split

OPTIONS = (
    Option("format", "how", "FORMAT", lambda: ["table", "json"]),
    Option("steps", "how many", "N"),
    Option("wrt", "names", "NAMES", many=True),
    Option("no-check", "switch"),
    Option("output", "file", "FILE", short="-o"),
)


def parts(*words: str) -> tuple[list[str], dict[str, str], dict[str, str]]:
    found = split(words, OPTIONS)
    return found.positional, found.given, found.options


@pytest.mark.parametrize(
    "words",
    [
        ("x*y", "--x", "3", "--y", "2"),
        ("--x", "3", "x*y", "--y", "2"),
        ("--x", "3", "--y", "2", "x*y"),
        ("--x=3", "--y=2", "x*y"),
        ("x=3", "x*y", "y=2"),
        ("--x", "3", "y=2", "--", "x*y"),
    ],
)
def test_variables_may_stand_anywhere_on_the_line(words: tuple[str, ...]) -> None:
    assert parts(*words) == (["x*y"], {"x": "3", "y": "2"}, {})


@pytest.mark.parametrize(
    "expression",
    ["-x*y+f", "-f*x", "--", "-", "a == b", "e = c*d", "y=x^2", "f=3x", "c=a+b; d=b+1", "x", "-x", "f(x)=x^2", "a==2"],
)
def test_whatever_is_neither_option_nor_binding_is_the_expression(expression: str) -> None:
    words = ("--", "--") if expression == "--" else (expression,)
    assert parts(*words, *(() if expression == "--" else ("x=1",)))[0] == [expression]


def test_after_two_dashes_everything_is_positional() -> None:
    assert parts("--x", "1", "--", "--x", "y=2", "-o") == (["--x", "y=2", "-o"], {"x": "1"}, {})


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("3", "3"),
        ("-1", "-1"),
        ("+2", "2"),
        ("−1", "-1"),
        ("1/3", "1/3"),
        ("-1/3", "-1/3"),
        ("1e-3", "1e-3"),
        ("1E5", "1E5"),
        (".5", ".5"),
        ("2,5", "2.5"),
        ("0,125", "0.125"),
        ("inf", "inf"),
        ("-inf", "-inf"),
        ("∞", "inf"),
        ("π", "pi"),
        ("pi", "pi"),
        ("½", "1/2"),
        ("-½", "-1/2"),
        ("0.1000", "0.1000"),
    ],
)
def test_every_form_of_a_number_is_read_in_every_way_of_giving_it(typed: str, read: str) -> None:
    for words in (("--x", typed), (f"--x={typed}",), (f"x={typed}",)):
        assert parts("x", *words)[1] == {"x": read}


@pytest.mark.parametrize("typed", ["two", "", "1/0", "1e", "--y", "0x10", "1_000", "2 3", "1,2,3"])
def test_what_is_no_number_is_refused(typed: str) -> None:
    with pytest.raises(mistakes.NotANumber):
        parts("x", "--x", typed)


@pytest.mark.parametrize("typed", ["1,000", "12,500", "1,000,000", "-2,125"])
def test_a_comma_that_may_part_thousands_is_refused(typed: str) -> None:
    with pytest.raises(mistakes.TwoReadings):
        parts("x", f"--x={typed}")


@pytest.mark.parametrize("typed", ["nan", "NaN", "-nan"])
def test_nan_is_read_and_refused_with_a_reason_by_what_works_with_numbers(typed: str) -> None:
    assert parts("x", f"x={typed}")[1]["x"].endswith("nan")
    with pytest.raises(mistakes.NotANumber) as caught:
        backprop.grad("x", {"x": typed})
    assert "differentiated" in caught.value.repair
    assert backprop.grad("x", {"x": typed}, undefined="propagate")[1] == {"x": 1.0}


def test_the_commands_own_options_win_and_name_equals_value_is_the_way_out() -> None:
    assert parts("format*steps", "--format", "json", "format=3", "steps=4", "--steps", "5") == (
        ["format*steps"],
        {"format": "3", "steps": "4"},
        {"format": "json", "steps": "5"},
    )
    with pytest.raises(mistakes.OptionValue) as caught:
        parts("format*2", "--format", "3")
    assert "format=3" in caught.value.repair


def test_unicode_names_are_bound_in_their_composed_form() -> None:
    assert parts("λ*x₁", "--λ", "2", "x₁=3", "--µ", "1")[1] == {"λ": "2", "x₁": "3", "μ": "1"}
    assert parts("é", "--e\u0301", "2")[1] == {"é": "2"}


@pytest.mark.parametrize(
    "words",
    [("--x", "1", "--x", "2"), ("--x", "1", "x=1"), ("--steps", "1", "--steps=2"), ("--é", "1", "--e\u0301", "2")],
)
def test_what_is_given_twice_is_a_mistake(words: tuple[str, ...]) -> None:
    with pytest.raises(mistakes.GivenTwice):
        parts("x", *words)


def test_a_list_option_may_come_twice() -> None:
    found = split(["x", "--wrt", "x,y", "--wrt=z"], OPTIONS)
    assert found.names("wrt") == ["x", "y", "z"]
    assert found.lists("wrt") == [["x", "y"], ["z"]]


@pytest.mark.parametrize("words", [("--x",), ("--x", "--"), ("--steps",), ("--steps", "--x", "3"), ("-o",)])
def test_an_option_without_its_value_is_a_mistake(words: tuple[str, ...]) -> None:
    with pytest.raises(mistakes.WordMissing):
        parts("x", *words)


def test_an_unknown_option_that_can_be_no_variable_is_told_at_once() -> None:
    with pytest.raises(mistakes.UnknownOption, match="--no-chek") as caught:
        parts("x", "--no-chek")
    assert "--no-check" in caught.value.repair


def test_a_misspelt_option_gets_a_guess_when_its_value_is_missing() -> None:
    with pytest.raises(mistakes.WordMissing) as caught:
        parts("x", "--stepz")
    assert "--steps" in caught.value.repair


def test_a_switch_takes_no_value() -> None:
    with pytest.raises(mistakes.OptionValue):
        parts("x", "--no-check=1")


def test_a_choice_that_is_none_gets_a_guess() -> None:
    with pytest.raises(mistakes.OptionValue) as caught:
        parts("x", "--format", "jsno")
    assert "--format json" in caught.value.repair


def test_an_unused_variable_that_looks_like_an_option_is_a_mistake_and_any_other_is_not() -> None:
    bindings.refuse_lookalikes(["q", "to", "rate", "step1x9"], ["x"], OPTIONS)
    with pytest.raises(mistakes.UnknownOption) as caught:
        bindings.refuse_lookalikes(["stepz"], ["x"], OPTIONS)
    assert "--steps" in caught.value.repair
    bindings.refuse_lookalikes(["stepz"], ["stepy"], OPTIONS[:1])


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "many", "", "99999999999999"])
def test_a_count_is_a_whole_number_within_bounds(text: str) -> None:
    with pytest.raises(mistakes.OptionValue):
        split(["x", "--steps", text], OPTIONS).count("steps", 1)


def test_a_count_that_is_too_large_hears_how_large_it_may_be() -> None:
    with pytest.raises(mistakes.OptionValue) as caught:
        split(["x", "--steps", "99999999999999"], OPTIONS).count("steps", 1)
    assert "from 1 up to 1000000000" in caught.value.repair


@pytest.mark.parametrize(("text", "number"), [("0,5", 0.5), ("1/4", 0.25), ("-2", -2.0), ("1e-3", 0.001)])
def test_an_option_that_is_a_number_is_written_like_the_value_of_a_variable(text: str, number: float) -> None:
    assert split(["x", "--steps", text], OPTIONS).number("steps", 1.0) == number


def test_a_value_may_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text(" 1/3\n", encoding="utf-8")
    assert parts("x", f"--x=@{tmp_path / 'x.txt'}", f"y=@{tmp_path / 'x.txt'}")[1] == {"x": "1/3", "y": "1/3"}
    with pytest.raises(mistakes.CannotRead):
        parts("x", "--x", f"@{tmp_path / 'nowhere'}")


def test_a_point_file_keeps_numbers_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "point.json"
    path.write_text('{"x": 0.10, "y": "1/3", "λ": -2, "w": Infinity, "v": NaN}', encoding="utf-8")
    assert bindings.point_file(str(path)) == {"x": "0.10", "y": "1/3", "λ": "-2", "w": "inf", "v": "nan"}


@pytest.mark.parametrize(
    "text", ["", "[1]", "{", '{"x": 1, "x": 2}', '{"x": []}', '{"x": null}', '{"2x": 1}', "[" * 100_000]
)
def test_a_point_file_that_is_no_point_is_a_mistake(text: str, tmp_path: Path) -> None:
    path = tmp_path / "point.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(mistakes.Mistake):
        bindings.point_file(str(path))


def test_bytes_that_are_no_text_are_a_mistake_and_byte_order_marks_are_read(tmp_path: Path) -> None:
    path = tmp_path / "program.bp"
    path.write_bytes(b"x\xff\xfe^2")
    with pytest.raises(mistakes.CannotRead, match="byte 2"):
        bindings.read_file(str(path))
    path.write_bytes("x^2".encode("utf-8-sig"))
    assert bindings.read_file(str(path)) == "x^2"
    path.write_bytes("x²".encode("utf-16"))
    assert bindings.read_file(str(path)) == "x²"


@pytest.mark.parametrize(
    ("words", "repair"),
    [
        (["x", "*", "y"], '"x * y"'),
        (["x*y", "-x"], "--x 2"),
        (["x*y", "x=two"], "x=2"),
        (["x; y", "z w"], "quotation marks"),
    ],
)
def test_a_second_expression_gets_the_repair_that_fits(words: list[str], repair: str) -> None:
    assert repair in bindings.extra_word(words).repair


@pytest.mark.parametrize("name", ["x", "x2", "x_1", "x₁", "λ", "é", "xₐ", "ab", "x²", "2x", "_x", "½x", "x-y", ""])
def test_a_name_of_the_command_line_is_a_name_of_the_language(name: str) -> None:
    from backprop.grammar import parse

    try:
        kinds = parse(name).kinds
    except mistakes.Mistake:
        kinds = []
    assert bindings.is_name(name) == (kinds == ["name"])


def test_a_saved_trace_is_a_point_too(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"format": "backprop-trace", "inputs": {"x": 3.0, "y": "Infinity"}}), encoding="utf-8")
    assert bindings.point_file(str(path)) == {"x": "3.0", "y": "inf"}


def test_a_misspelt_option_with_a_word_for_its_value_is_told_which_was_meant() -> None:
    with pytest.raises(mistakes.NotANumber) as told:
        split(["x", "--fromat", "json"], [Option("format", "how it is shown", "F")])
    assert "--format json" in told.value.repair
    with pytest.raises(mistakes.NotANumber) as told:
        split(["x", "--rate", "abc"], [Option("at", "a file", "F")])
    assert "--at" not in told.value.repair


@pytest.mark.parametrize("word", ["w=[1, 2]; sum(w*x)", "w=[1, 2]*x", "w=[1, 2]\nsum(w*x)"])
def test_a_program_may_begin_with_an_array(word: str) -> None:
    assert not reads_as_value(word.partition("=")[2])


@pytest.mark.parametrize("word", ["[1, 2]", "[[1, 2]; [3, 4]]", "[1, 2", "[1, 2]]", "[1], [2]", "[1, 2] "])
def test_an_array_with_a_slip_in_it_is_still_a_value(word: str) -> None:
    assert reads_as_value(word)

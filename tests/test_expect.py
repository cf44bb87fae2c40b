"""Programs that carry their own answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import command
from backprop import expect, mistakes
from backprop.render.expect import render
from backprop.render.look import Look

LESSON = """input a = 2
input b = 1
c = a + b
d = b + 1
e = c*d
"""


def result(*expectations: str, program: str = LESSON) -> expect.Result:
    return expect.run("lesson.bp", program + "\n".join(f"# expect {text}" for text in expectations) + "\n")


@pytest.mark.parametrize(
    "text",
    [
        "e = 6",
        "c = 3",
        "de/db = 5",
        "∂e/∂b = 5",
        "de/dc = 2",
        "dd/db = 1",
        "dc/dd = 0",
        "de/de = 1",
        "paths from b = 2",
        "paths from b to d = 1",
        "paths from a = 1",
        "e = 6.0",
        "e = 6.4 ± 0.5",
        "e = 12/2",
        "e=6",
    ],
)
def test_what_is_true_holds(text: str) -> None:
    assert result(text).fine


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("e = 5", "e = 6"),
        ("e = 6.4", "e = 6"),
        ("e = 6.0001", "e = 6"),
        ("e = 6.4 ± 0.3", "e = 6"),
        ("de/db = 4", "de/db = 5"),
        ("dc/dd = 1", "dc/dd = 0"),
        ("paths from b = 3", "paths from b = 2"),
        ("undefined", "defined: 6"),
        ("mistake unknown-name", "the program is well formed"),
        ("note dead-relu", "notes: none"),
        ("q = 1", "nothing here is called q"),
        ("de/dq = 1", "nothing here is called q"),
    ],
)
def test_what_is_false_is_told_with_what_is_found(text: str, found: str) -> None:
    (difference,) = result("e = 6", text).differences
    assert (difference.line, difference.expected, difference.found) == (7, text, found)


@pytest.mark.parametrize(
    ("text", "fine"),
    [
        ("h = 0.885352", True),
        ("h = 0.88535", True),
        ("h = 0.89", True),
        ("h = 0.885353", False),
        ("h = 8.85352e-1", True),
    ],
)
def test_an_answer_agrees_to_the_digits_that_are_written(text: str, fine: bool) -> None:
    assert result(text, program="h = tanh(1.4)\n").fine is fine  # 0.88535164820...


@pytest.mark.parametrize("program", ["f = sqrt(2)", "f = 0.1 + 0.2"])
def test_a_whole_number_is_not_met_by_what_rounds_to_it(program: str) -> None:
    assert not result("f = 1", "f = 0", program=program + "\n").fine


def test_an_undefined_point_a_note_and_a_mistake_can_be_expected() -> None:
    assert result("undefined", program="input x = -1\nlog(x)\n").fine
    assert result("undefined df/dx", "f = 0", program="input x = 0\nf = sqrt(x)\n").fine
    assert result("note dead-relu", "df/dx = 0", program="input x = -1\nf = relu(x)\n").fine
    assert result("mistake unknown-function", program="f = rellu(2)\n").fine
    assert result("mistake missing-value", program="f = x^2\n").fine
    (difference,) = result("mistake unknown-function", program="f = x^2\n").differences
    assert difference.found == "mistake missing-value"


LAYER = """param W = [[1, 2], [3, 4]]
input x = [1, -1]
z = W @ x
L = sum(z^2)
"""


@pytest.mark.parametrize(
    "text",
    [
        "z = [-1, -1]",
        "z=[ -1,-1 ]",
        "z[0] = -1",
        "W[1, 0] = 3",
        "W[1,−1] = 4",
        "W[1] = [3, 4]",
        "W = [[1, 2], [3, 4]]",
        "W = [[1.2, 2], [3, 3.7]] ± 0.5",
        "dL/dz = [-2, -2]",
        "dL/dW = [[-2, 2], [-2, 2]]",
        "dL/dW[0, 1] = 2",
        "dL/dx = [-8, -12]",
        "∂L/∂x[1] = -12.0",
        "dL/dx = [-8.00, -36/3]",
    ],
)
def test_an_array_and_its_elements_can_be_expected(text: str) -> None:
    assert result(text, program=LAYER).fine


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("z = [-1, -2]", "z[1] = -1"),
        ("z = [-1, -1, -1]", "z is an array of shape (2,)"),
        ("z = -1", "z is an array of shape (2,)"),
        ("L = [2]", "L is 2"),
        ("dL/dW = [[-2, 2], [2, 2]]", "dL/dW[1,0] = -2"),
        ("dL/dW[0] = [-2, 2.5]", "dL/dW[0,1] = 2"),
        ("W = [[1.2, 2], [3, 3.2]] ± 0.5", "W[1,1] = 4"),
    ],
)
def test_of_an_array_the_first_element_that_differs_is_told(text: str, found: str) -> None:
    (difference,) = result(text, program=LAYER).differences
    assert difference.found == found


@pytest.mark.parametrize(
    "text",
    ["z = [1, [2]]", "z = [1, 2", "z = [1, much]", "z[2] = 1", "z[0, 0] = 1", "L[0] = 2", "z[,] = 1", "dz/dW = 1"],
)
def test_what_cannot_be_said_of_an_array_is_a_mistake(text: str) -> None:
    assert isinstance(result(text, program=LAYER).mistake, mistakes.UnreadableExpectation)


def test_infinity_is_an_answer() -> None:
    assert result("f = inf", program="input x = inf\nf = x + 1\n").fine
    assert not result("f = 7", program="input x = inf\nf = x + 1\n").fine


@pytest.mark.parametrize("text", ["e is 6", "e + 1 = 7", "e == 6", "e = six", "paths b = 2", "e = 6 ± much"])
def test_an_expectation_that_cannot_be_read_is_a_mistake(text: str) -> None:
    found = result(text)
    assert isinstance(found.mistake, mistakes.UnreadableExpectation)
    assert found.exit_code == 1


def test_a_mistake_that_nobody_expected_fails_the_program() -> None:
    found = result("e = 1", program="f = x**\n")
    assert found.mistake is not None
    assert found.exit_code == 1


def call(*words: str, stdin: str = "") -> tuple[int, str, str]:
    return command.call("test", *words, stdin=stdin)


def test_every_file_is_run_and_a_line_sums_up(tmp_path: Path) -> None:
    good, bad, gone = tmp_path / "good.bp", tmp_path / "bad.bp", tmp_path / "gone.bp"
    good.write_text(LESSON + "# expect e = 6\n", encoding="utf-8")
    bad.write_text(LESSON + "# expect e = 7\n# expect de/db = 5\n", encoding="utf-8")
    code, out, err = call(str(bad), str(good))
    assert (code, err) == (1, "")
    assert "line 6: expected e = 7" in out
    assert "found    e = 6" in out
    assert out.splitlines()[-1] == "2 programs: 1 of 3 expectations differ"
    code, out, _ = call(str(good), str(good))
    assert (code, out.splitlines()[-1]) == (0, "2 programs: all 2 expectations hold")
    code, out, _ = call(str(gone), str(good))
    assert code == 2
    assert "good.bp" in out


def test_results_come_as_json_too() -> None:
    code, out, _ = call("-", "--format", "json", stdin=LESSON + "# expect e = 7\n")
    assert code == 1
    assert json.loads(out) == [
        {
            "file": "-",
            "expectations": 1,
            "holds": False,
            "differences": [{"line": 6, "expected": "e = 7", "found": "e = 6"}],
        }
    ]


def test_a_program_without_expectations_says_so() -> None:
    code, out, _ = call("-", stdin="1 + 1\n")
    assert code == 0
    assert "no expectations" in out


def test_an_expectation_can_look_past_a_learning_step() -> None:
    program = "param w = 1\nL = w^2\n"
    assert result("after step 0.25 w = 0.5", "after 2 steps of 0.25 L = 0.0625", program=program).fine
    wrong = result("after step 0.25 w = 0.6", program=program)
    assert [one.found for one in wrong.differences] == ["w = 0.5"]


def test_a_file_that_is_not_there_is_named_once_with_the_reason() -> None:
    shown = list(render([expect.run("/nowhere/a.bp")], Look()))
    assert shown[:3] == [
        "FAILED  /nowhere/a.bp",
        "        cannot be read",
        "          /nowhere/a.bp: no such file or directory",
    ]

"""What a reader of a trace with arrays is told: where adjoints are added up, and large arrays in brief in JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest
from jsonschema import Draft202012Validator

import backprop
from backprop.figures import Written, brief
from backprop.mistakes import NotATrace
from backprop.record import Trace
from backprop.schema import schema
from command import call

BATCH = "Z = X @ W + b; L = mean((Z - y)^2)"
POINT: dict[str, Any] = {"X": [[1, 2], [3, 4], [5, 6]], "W": [[1], [-1]], "b": [0.5], "y": [[0], [1], [2]]}


def remark(trace: Trace, node: str) -> str:
    """What stands in brackets behind the line of an adjoint."""
    (line,) = [step.text for step in trace.steps if step.phase == "reverse" and step.node == node]
    return line.partition("   (")[2].removesuffix(")")


def test_a_bias_that_every_row_of_a_batch_has_is_told_to_be_added_up() -> None:
    trace = backprop.trace(BATCH, POINT, check=False)
    assert remark(trace, "b") == "b was repeated 3 times along axis 0: add"
    # 2/3 of the sum of the residuals -0.5, -1.5, -2.5
    assert trace.gradient["b"] == pytest.approx([-3.0], rel=1e-15)


def test_the_sum_over_the_batch_in_the_gradient_of_weights_is_told() -> None:
    trace = backprop.trace(BATCH, POINT, check=False)
    assert remark(trace, "W") == "adds up over the 3 rows of X"
    rows = [2 / 3 * r * np.array(x) for r, x in zip((-0.5, -1.5, -2.5), POINT["X"], strict=True)]
    assert np.array(trace.gradient["W"]).ravel() == pytest.approx(sum(rows), rel=1e-15)
    assert remark(trace, "X") == ""


# of sizes (2, 1, 3), (4, 1) and ()
SPREAD: dict[str, Any] = {"A": np.ones((2, 1, 3)), "B": np.ones((4, 1)), "c": 2}


def test_copies_along_two_axes_and_of_one_number_are_counted() -> None:
    trace = backprop.trace("sum(A*c + B)", SPREAD, check=False)
    assert remark(trace, "c") == "c was repeated 6 times: add"
    assert trace.gradient["c"] == 24  # each of six products stands in four rows
    assert remark(trace, "B") == "B was repeated 2 times along axis 0 and 3 times along axis 2: add"
    assert trace.gradient["B"] == [[6.0]] * 4


def test_one_case_alone_is_not_told_to_be_added_up() -> None:
    dense: dict[str, Any] = {"W": [[1, 2], [3, 4]], "x": [1, -1], "b": [0, 1]}
    trace = backprop.trace("sum(tanh(W @ x + b))", dense, check=False)
    assert [remark(trace, name) for name in dense] == ["", "", ""]


# -- JSON in brief ---------------------------------------------------------------------------------------------------

LARGE: dict[str, Any] = {"W": np.arange(60.0).reshape(6, 10) / 7, "x": np.linspace(-1, 1, 10), "b": np.zeros(6)}
PROGRAM = "sum(tanh(W @ x + b))"


def in_brief(**how: Any) -> dict[str, Any]:
    record: dict[str, Any] = backprop.trace(PROGRAM, LARGE, check=False, **how).in_brief().to_dict()
    return record


def test_json_holds_every_element_unless_it_is_asked_for_in_brief() -> None:
    whole = backprop.trace(PROGRAM, LARGE, check=False).to_dict()
    assert np.array_equal(whole["inputs"]["W"], LARGE["W"])
    told = in_brief()
    assert told["inputs"]["W"] == {
        "shape": [6, 10],
        "norm": pytest.approx(np.linalg.norm(LARGE["W"]), rel=1e-15),
        "min": 0.0,
        "max": pytest.approx(59 / 7, rel=1e-15),
    }
    slopes = np.array(whole["gradient"]["W"])
    assert told["gradient"]["W"]["max"] == slopes.max()
    assert told["inputs"]["x"] == whole["inputs"]["x"]  # ten numbers are read at a glance
    assert [step["text"] for step in told["steps"]] == [step["text"] for step in whole["steps"]]
    assert told.keys() == whole.keys()


@pytest.mark.parametrize("kind", ["real", "exact", "digits:30"])
def test_json_in_brief_has_the_schema_and_is_a_graph_of_networkx(kind: str) -> None:
    trace = backprop.trace("sum(W*W)", {"W": [[i / 4 for i in range(30)]]}, kind=kind, check=False)
    record = json.loads(trace.in_brief().to_json())
    Draft202012Validator(schema()).validate(record)
    assert networkx.node_link_graph(record, edges="edges").nodes["W"]["value"]["shape"] == [1, 30]
    # the sum of the squares of 0 to 29 is 29·30·59/6
    assert float(record["inputs"]["W"]["norm"]) == pytest.approx((29 * 30 * 59 / 6) ** 0.5 / 4, rel=1e-15)


def test_the_schema_refuses_half_a_summary() -> None:
    validator, record = Draft202012Validator(schema()), in_brief()
    halves: list[dict[str, Any]] = [{"norm": 1.0}, {"mid": "1"}, {"shape": []}, {"shape": [2], "mean": 1.0}]
    for wrong in halves:
        assert not validator.is_valid({**record, "value": wrong})


def test_what_was_saved_in_brief_is_not_taken_for_the_whole() -> None:
    with pytest.raises(NotATrace, match="--brief"):
        Trace.from_dict(in_brief())


def test_the_command_line_writes_json_and_ndjson_in_brief(tmp_path: Path) -> None:
    np.save(tmp_path / "W.npy", LARGE["W"])
    words = ["trace", "sum(W)", "--W", f"@{tmp_path / 'W.npy'}", "--no-check", "--brief", "--format"]
    for form in ("json", "ndjson"):
        code, out, _ = call(*words, form)
        assert code == 0
        assert '"shape": [6, 10], "norm": ' in out
        assert len(out) < 3000
    code, _, said = call(*words, "json", "--full")
    assert code == 2
    assert "--brief and --full" in said


def test_elements_without_a_number_are_counted() -> None:
    assert brief([1.0, None, float("nan"), 4.0], 3) == {"shape": [4], "min": 1.0, "max": 4.0, "undefined": 1, "NaN": 1}
    assert brief([None, None], 1) == {"shape": [2], "undefined": 2}
    assert brief([Written("1/3"), Written("-2/3")], 1) == {
        "shape": [2],
        "norm": "0.7453559924999299",  # the square root of 5, by 3
        "min": "-2/3",
        "max": "1/3",
    }
    assert brief(["x[0]", "x[1]"], 1) == {"shape": [2]}


# -- vectors that cancel ---------------------------------------------------------------------------------------------


def test_a_vector_that_cancels_to_noise_has_its_true_values_and_slopes() -> None:
    # 0.2 is twice 0.1 to the last bit, so both sums are 0; doubles leave 2.8e-17 or 0, as they are added up
    words = ["--W", "[[1, 2, 3], [4, 5, 6]]", "--x", "[0.1, -0.2, 0.1]", "--format", "json"]
    code, out, _ = call("grad", "(W @ x)^2", *words, "--wrt", "W", "--jacobian")
    record = json.loads(out)
    assert code == 0
    assert record["value"] == [0, 0]
    assert np.count_nonzero(record["jacobian"]["W"]["values"]) == 0
    code, out, _ = call("grad", "(W @ x)^2", *words, "--vjp", "[1, 1]", "--jvp", "W=[[1, 0, 0], [0, 1, 0]]")
    record = json.loads(out)
    assert code == 0
    assert [np.count_nonzero(one) for one in record["vjp"]["gradient"].values()] == [0, 0]
    assert record["jvp"]["value"] == [0, 0]


# -- bad input -------------------------------------------------------------------------------------------------------


def test_a_function_of_other_languages_is_named_before_its_comma_is_taken_for_a_decimal_one() -> None:
    code, _, said = call("grad", "sum(ones(2,3)*x)", "--x", "2")
    assert code == 2
    assert "there is no function ones" in said
    code, _, said = call("grad", "x*(2,5)", "--x", "2")
    assert "a comma in a number" in said


def test_a_file_of_nothing_but_brackets_is_a_mistake_in_plain_words(tmp_path: Path) -> None:
    file = tmp_path / "deep.json"
    file.write_text("[" * 100_000 + "1" + "]" * 100_000)
    code, _, said = call("grad", "sum(x)", "--x", f"@{file}")
    assert code == 2
    assert "nested too deeply" in said


# -- the table of operations -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["softmax", "layernorm"])
def test_the_example_of_an_operation_whose_elements_add_up_to_the_same_has_slopes(name: str) -> None:
    _, out, _ = call("ops", name)
    assert f"sum({name}(x)*[1, 2, 3])" in out
    (line,) = [line for line in out.splitlines() if "∂f/∂x = " in line and "axis" not in line]
    slopes = json.loads(line.rpartition(" = ")[2])
    # what is the same for all elements is taken away again, so the slopes add up to 0
    assert sum(slopes) == pytest.approx(0, abs=1e-5)
    assert max(map(abs, slopes)) > 0.1

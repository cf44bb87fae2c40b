"""`backprop check` on array programs: a verdict for each input, and claims about arrays, elements and formulas."""

from __future__ import annotations

from typing import Any

import jsonschema
import numpy as np
import pytest

from backprop.checks import CheckReport, check
from backprop.claims import Judged
from backprop.mistakes import Mistake
from backprop.render.check import render
from backprop.render.look import Look
from backprop.schema import check_schema

LAYER = "z = W@x + b; a = tanh(z); L = sum((a - y)^2)"
POINT: dict[str, Any] = {"W": [[1, 2], [3, 4]], "x": [1, -1], "b": [0.5, 0.1], "y": [0, 1]}
BATCH = "Z = X@W + b; L = cross_entropy(Z, y)"
ROWS: dict[str, Any] = {
    "X": [[1, 2], [0.5, -1], [2, 0.25]],
    "W": [[0.1, 0.2, -0.3], [0.4, -0.5, 0.6]],
    "b": [0.1, 0, -0.1],
    "y": [0, 2, 1],
}


def judged(claim: str, program: str = LAYER, inputs: dict[str, Any] = POINT) -> Judged:
    [one] = check(program, inputs, claims=[claim]).claims
    return one


def shown(report: CheckReport) -> str:
    return "\n".join(render(report, Look()))


def batch() -> dict[str, Any]:
    """The gradient of the batch by the formula on paper: (softmax - one hot)/n, and what each row brings."""
    X, W, b = (np.array(ROWS[name]) for name in ("X", "W", "b"))
    Z = X @ W + b
    shares = np.exp(Z) / np.exp(Z).sum(axis=1, keepdims=True)
    by_row = (shares - np.eye(3)[ROWS["y"]]) / 3
    return {"rows": by_row, "b": by_row.sum(axis=0), "W": X.T @ by_row, "X": by_row @ W.T}


def written(array: Any) -> str:
    return str(np.round(array, 6).tolist())


# -- check --------------------------------------------------------------------------------------------------------


def test_each_input_has_its_conclusion_and_quotients_at_the_element_that_agrees_least() -> None:
    report = check(LAYER, POINT)
    assert report.exit_code == 0
    assert [one.of for one in report.conclusions] == ["W", "x", "b", "y"]
    assert {one.verdict for one in report.conclusions} == {"agrees"}
    assert "the opened program" in report.conclusions[0].text
    assert [name.partition("[")[0] for name in report.convergence] == ["W", "x", "b", "y"]
    text = shown(report)
    assert "∂L/∂W = [[-0.726862, 0.726862], [-1.67139, 1.67139]]" in text
    assert "central: order 2.0 as it should be" in text
    assert "checks agree to 15." in text


def test_an_opened_check_has_a_verdict_for_every_element() -> None:
    report = check(LAYER, POINT, opened=())
    assert [one.of for one in report.conclusions][:5] == ["W[0,0]", "W[0,1]", "W[1,0]", "W[1,1]", "x[0]"]
    assert report.exit_code == 0


def test_a_check_at_a_kink_and_one_without_a_value_say_so() -> None:
    kink = check("sum(relu(x))", {"x": [0, 1]})
    assert kink.exit_code == 0
    assert [one.of for one in kink.one_sided] == ["x[0]"]
    assert "kink" in shown(kink)
    hole = check("sum(log(x))", {"x": [1, -1]})
    assert hole.exit_code == 3


@pytest.mark.parametrize("claims", [[], ["W = [[-0.727, 0.727], [-1.67, 1.67]]", "dW[0,1] = 2", "x = W.T @ b"]])
def test_a_check_of_arrays_in_json_fits_its_schema(claims: list[str]) -> None:
    record = check(LAYER, POINT, claims=claims).to_dict()
    jsonschema.Draft202012Validator(check_schema()).validate(record)
    assert record["gradient"]["x"] == pytest.approx([-5.741033, -8.139286], rel=1e-6)


# -- claims that are right ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "claim",
    [
        "W = [[-0.727, 0.727], [-1.67, 1.67]]",
        "dW = [[-0.7268620, 0.7268620], [-1.671390, 1.671390]]",
        "dW[0,1] = 0.7269",
        "dL/dW[ -1, 0 ] = -1.6714",
        "dx = W.T @ (2*(a - y)*(1 - a^2))",
        "W = outer(2*(a - y)*(1 - a^2), x)",
        "dy = 2*(y - a)",
        "y[1] = 2*(y[1] - a[1])",
        "z = [-0.5, -0.9]",
        "z[0] = -0.5",
        "da[0]/dW[0,0] = x[0]*(1 - a[0]^2)",
        "da[0]/dW[1] = 0",
        "L = 3.15923",
        "W[0] = [-0.727, 0.727]",
    ],
)
def test_a_right_claim_is_right(claim: str) -> None:
    assert judged(claim).verdict == "right", judged(claim)


def test_a_formula_is_judged_at_random_points_too() -> None:
    one = judged("W = X.T @ (softmax(Z) - one_hot(y, 3))/3", BATCH, ROWS)
    assert one.verdict == "right"
    assert one.points is not None
    assert one.points >= 4
    lucky = judged("dy = 2*(y - a)*W[0,0]")
    assert lucky.verdict == "wrong"
    assert "by luck" in (lucky.reason or "")
    assert lucky.slips == []


# -- claims that are wrong, and why -------------------------------------------------------------------------------


def test_what_is_wrong_is_told_by_its_element() -> None:
    one = judged("x = [-5.741, -8.2]")
    assert one.verdict == "wrong"
    assert one.reason == "1 of 2 elements is wrong; x[1]: the derivative is -8.13929"
    assert one.right == pytest.approx([-5.741033, -8.139286], rel=1e-6)


def test_a_wrong_shape_is_told_with_both_shapes() -> None:
    one = judged("x = [1, 2, 3]")
    assert (one.verdict, one.reason) == ("wrong", "it has shape (3,), and what it is about has (2,)")
    turned = judged(f"W = {written(batch()['W'].T)}", BATCH, ROWS)
    assert turned.verdict == "wrong"
    assert (turned.reason or "").endswith(": it is transposed")


@pytest.mark.parametrize(
    ("claim", "code", "told"),
    [
        ("W = [[-0.727, -1.67], [0.727, 1.67]]", "transposed", "it is transposed"),
        ("dx = W @ (2*(a - y)*(1 - a^2))", "not-transposed", "W in place of W.T"),
        ("b = -2*(a - y)*(1 - a^2)", "sign", "the sign is turned"),
        ("W = outer(2*(a - y)*(1 - a), x)", "tanh-square", "the square is missing"),
    ],
)
def test_a_slip_of_arrays_is_named(claim: str, code: str, told: str) -> None:
    one = judged(claim)
    assert one.verdict == "wrong"
    assert [slip.code for slip in one.slips] == [code]
    assert told in one.slips[0].text


def test_slips_over_a_batch_are_named() -> None:
    right = batch()
    cases = [
        (f"b = {written(right['b'] * 3)}", "mean-without-n", "the 1/n of the mean is forgotten in L = cross_entropy"),
        (f"W = {written(right['W'] * 3)}", "mean-without-n", "the 1/n of the mean is forgotten in L = cross_entropy"),
        (f"b = {written(right['rows'][0])}", "not-added", "what comes back to b is not added over its copies"),
        (f"b = {written(right['rows'][-1])}", "not-added", "what comes back to b is not added over its copies"),
        (f"b = {written(right['rows'].mean(axis=0))}", "mean-for-sum", "a mean over its copies"),
    ]
    for claim, code, told in cases:
        one = judged(claim, BATCH, ROWS)
        assert one.verdict == "wrong"
        assert [slip.code for slip in one.slips] == [code], (claim, one.slips)
        assert told in one.slips[0].text


def test_the_share_of_a_mean_is_missed_where_mean_is_written_out() -> None:
    one = judged("x = [2, 2, 6]", "L = mean((x - y)^2)", {"x": [1, 2, 4], "y": [0, 1, 1]})
    assert [slip.code for slip in one.slips] == ["mean-without-n"]


# -- claims that cannot be read -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "code"),
    [
        ("W[0,9] = 2", "no-such-element"),
        ("dz/dW = 1", "unreadable-claim"),
        ("q[0] = 1", "unknown-in-claim"),
        ("W = [[1, 2], [3]]", "ragged-array"),
        ("x = W @ q", "unknown-in-claim"),
    ],
)
def test_a_claim_that_makes_no_sense_is_refused(claim: str, code: str) -> None:
    with pytest.raises(Mistake) as caught:
        judged(claim)
    assert caught.value.code == code


def test_claims_about_arrays_need_values_for_their_shapes() -> None:
    with pytest.raises(Mistake) as caught:
        check(LAYER, {}, claims=["dx = W.T @ a"])
    assert caught.value.code == "missing-value"


def test_a_program_too_large_to_open_leaves_a_claim_unchecked_and_says_why() -> None:
    [one] = check("L = sum(tanh(X@X))", {"X": (np.ones((80, 80)) / 9).tolist()}, claims=["dX[0,0] = 1"]).claims
    assert one.verdict == "not checked"
    assert "too large" in (one.reason or "")

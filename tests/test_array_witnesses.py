"""The witnesses of array programs: they agree where a gradient is right, and name the row where its rule is wrong."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from backprop import ops, rules
from backprop.kinds import by_name
from backprop.kinds.array import Arrays, arrays
from backprop.kinds.doubles import Doubles
from backprop.kinds.real import REAL
from backprop.ops import ATOM, Row
from backprop.point import at
from backprop.record import Witness
from backprop.tracing import trace
from backprop.witnesses import quotients, sympy_rules, sympy_whole, verify
from backprop.writing import written

ROWS = [row for row in ops.rows() if row.arrays]
LAYER = "z = W@x + b; a = tanh(z); L = sum((a - y)^2)"
POINT = {"W": [[1, 2], [3, 4]], "x": [1, -1], "b": [0.5, 0.1], "y": [0, 1]}
BATCH = "Z = X@W + b; L = cross_entropy(Z, y)"
ROW_BY_ROW = {
    "X": [[1, 2], [0.5, -1], [2, 0.25]],
    "W": [[0.1, 0.2, -0.3], [0.4, -0.5, 0.6]],
    "b": [0.1, 0, -0.1],
    "y": [0, 2, 1],
}


@pytest.fixture
def no_sympy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The witnesses without the process of SymPy, which takes most of a second to start."""
    monkeypatch.setattr(sympy_rules, "questions", lambda point: sympy_rules.Questions())
    monkeypatch.setattr(sympy_whole, "question", lambda point: "not asked here")


def said(program: str, inputs: dict[str, Any], **asked: Any) -> list[Witness]:
    return verify(at(program, inputs, **asked))[0]


def one(witnesses: list[Witness], of: str, by: str) -> Witness:
    found = [witness for witness in witnesses if (witness.of, witness.by) == (of, by)]
    assert len(found) == 1, witnesses
    return found[0]


def by_way(witnesses: list[Witness], way: str) -> dict[str, str]:
    return {witness.of: witness.verdict for witness in witnesses if witness.by == way}


# -- what is right ------------------------------------------------------------------------------------------------


def test_each_input_has_a_line_for_each_way_and_the_worst_element_is_named() -> None:
    found = said(LAYER, POINT)
    assert {witness.verdict for witness in found} == {"agrees"}
    for name in POINT:
        assert [witness.by for witness in found if witness.of == name] == [
            "sympy",
            "difference",
            "opened",
            "forward mode",
        ]
    for witness in found:
        if witness.digits is not None and witness.digits < 15.9 and witness.by in ("sympy", "difference"):
            assert witness.worst is not None
            assert witness.worst.startswith(f"{witness.of}[")


@pytest.mark.parametrize("kind", ["exact", "digits:30", "certified"])
def test_other_kinds_of_number_have_the_same_ways(kind: str) -> None:
    if kind == "certified":
        pytest.importorskip("flint")
    found = said("L = sum((W@x + b - y)^2)/3", POINT, kind=by_name(kind))
    assert {witness.verdict for witness in found} == {"agrees"}
    assert by_way(found, "opened") == dict.fromkeys(POINT, "agrees")
    assert by_way(found, "difference") == dict.fromkeys(POINT, "agrees")


def test_an_element_that_is_asked_for_has_its_own_line() -> None:
    found = said(LAYER, POINT, wrt=["W[0,1]", "x"])
    assert by_way(found, "difference") == {"W[0,1]": "agrees", "x": "agrees"}
    assert by_way(found, "forward mode") == {"W[0,1]": "agrees", "x": "agrees"}


def test_a_kink_is_told_by_its_element_and_is_no_disagreement(no_sympy: None) -> None:
    found = said("sum(relu(W@x - y)) + max(x)", {"W": [[1, 2], [3, 4]], "x": [1, 1], "y": [3, 1]})
    assert {witness.verdict for witness in found} == {"agrees", "not checked"}
    assert "kink" in (one(found, "x", "difference").reason or "")
    assert one(found, "x", "opened").worst == "x[0]"


@pytest.mark.parametrize(
    ("program", "inputs"),
    [
        ("sum(log(x))", {"x": [1, 0]}),
        ("sum(inv(A))", {"A": [[1, 2], [2, 4]]}),
        ("sum(sqrt(x))", {"x": [4, -1]}),
        ("sum(x/y)", {"x": [1, 2], "y": [1, 0]}),
    ],
)
def test_where_there_is_no_value_nothing_is_said_to_agree_about_it(
    program: str, inputs: dict[str, Any], no_sympy: None
) -> None:
    found = said(program, inputs)
    assert found
    assert all(witness.reason for witness in found if witness.verdict == "not checked")
    assert {one.verdict for one in found if one.by in ("difference", "opened", "forward mode")} == {"not checked"}


def test_a_class_number_is_not_moved_and_the_others_agree(no_sympy: None) -> None:
    found = said(BATCH, ROW_BY_ROW)
    assert {one.verdict for one in found if one.of in ("X", "W", "b")} == {"agrees"}
    assert "DISAGREES" not in {one.verdict for one in found}


def network(rows: int) -> tuple[str, dict[str, Any]]:
    rng = np.random.default_rng(3)
    inputs = {
        "X": rng.normal(size=(rows, 30)),
        "W": rng.normal(size=(30, 20)) / 5,
        "b": rng.normal(size=20) / 5,
        "V": rng.normal(size=(20, 4)) / 4,
        "y": [row % 4 for row in range(rows)],
    }
    return "L = cross_entropy(tanh(X@W + b)@V, y)", inputs


def test_a_program_too_large_to_open_has_quotients_forward_mode_and_its_operations() -> None:
    found = said(*network(60))
    for name in ("X", "W", "b", "V"):
        assert one(found, name, "difference").verdict == "agrees"
        assert "in doubles" in (one(found, name, "difference").reason or "")
        assert one(found, name, "forward mode").verdict == "agrees"
        assert one(found, name, "opened").verdict == "not checked"
        assert "too large" in (one(found, name, "opened").reason or "")
    assert one(found, "all", "array rules").verdict == "agrees"


def test_where_there_are_too_many_elements_each_array_is_moved_as_a_whole_with_many_digits(no_sympy: None) -> None:
    rng = np.random.default_rng(5)
    inputs = {
        "X": rng.normal(size=(12, 4)),
        "W": rng.normal(size=(4, 3)),
        "b": rng.normal(size=3),
        "V": rng.normal(size=(3, 3)),
        "y": [row % 3 for row in range(12)],
    }
    program = "L = cross_entropy(tanh(X@W + b)@V, y)"
    found = said(program, inputs)
    for name in inputs:
        assert one(found, name, "difference").verdict == "agrees"
        assert one(found, name, "difference").reason == "along one direction"
        assert (one(found, name, "difference").digits or 0) > 13
    with planted(ops.by_name("matmul"), pulls=("g @ B.T", "(A.T @ g)*1.001")):
        found = said(program, inputs)
    verdicts = {name: one(found, name, "difference").verdict for name in inputs}
    assert verdicts == {"X": "agrees", "W": "DISAGREES", "b": "agrees", "V": "DISAGREES", "y": "agrees"}


def test_a_quotient_in_doubles_is_good_to_many_digits_and_tells_a_kink() -> None:
    found = quotients.quotient(lambda h: float(np.exp(3 * h)))
    assert abs(found.slope - 3) < 1e-10
    assert found.error < 1e-8
    assert quotients.quotient(abs).reason == "there is a kink"
    assert quotients.quotient(lambda h: float(np.float64(h) ** 0.5) if h >= 0 else float("nan")).reason


# -- what is wrong ------------------------------------------------------------------------------------------------


@contextmanager
def planted(row: Row, **instead: Any) -> Iterator[None]:
    """The table with other rules for one operation."""

    def forget() -> None:
        for cache in (rules.rules, rules.carried, rules.formula):
            cache.cache_clear()

    ops.rows()[row.code] = dataclasses.replace(row, **instead)
    forget()
    try:
        yield
    finally:
        ops.rows()[row.code] = row
        forget()


def program_of(row: Row, sample: ops.Operands) -> tuple[str, dict[str, Any], list[str]]:
    """A program of one operation, the numbers of its operands, and the names of those that may move."""
    kind = arrays(REAL)
    operands = [kind.number(str(text)) for text in sample]
    texts = row.pulled(kind.shapes(row, operands)) if row.pulls is not None else row.rules((True,) * len(sample))
    inputs: dict[str, Any] = {}
    words: list[str] = []
    for place, text in enumerate(sample):
        stays = row.is_setting(place) or isinstance(operands[place], slice) or (row.name in ("index", "put") and (
            place >= len(row.parameters) - 1
        ))  # fmt: skip
        words.append(str(text) if stays else f"a{place}")
        if not stays:
            inputs[f"a{place}"] = str(text)
    moving = [f"a{place}" for place, text in enumerate(texts) if text is not None and f"a{place}" in inputs]
    call = written(row, [(word, ATOM) for word in words])[0]
    return f"sum(sin({call} + 0.3))", inputs, moving


def faults(row: Row, sample: ops.Operands) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Rules that are wrong by one part in a thousand, and without the transposition or the sum that belongs in them."""
    kind = arrays(REAL)
    operands = [kind.number(str(text)) for text in sample]
    shapes = kind.shapes(row, operands)
    right = row.pulled(shapes) if row.pulls is not None else row.evaluated_rules((True,) * len(sample))
    for place, rule in enumerate(right):
        if rule is None:
            continue
        wrongs = {"a thousandth": f"({rule})*1.001"}
        sizes = {size for shape in shapes if not isinstance(shape, int) for size in shape}
        if ".T" in rule and len(sizes) == 1:
            wrongs["a transposition"] = rule.replace(".T", "", 1)
        if re.search(r"\bsum\(", rule) and "mean(" not in rule:
            wrongs["a sum"] = re.sub(r"\bsum\(", "mean(", rule, count=1)
        for fault, wrong in wrongs.items():
            texts = (*right[:place], wrong, *right[place + 1 :])
            yield fault, place, {"pulls": texts} if row.pulls is not None else {"partials": texts, "stable": None}


# a slice can be typed between square brackets alone, and put is a call
SAMPLES = [(row, place, sample) for row in ROWS for place, sample in enumerate(row.samples)]
CASES = [
    pytest.param(row, sample, id=f"{row.name}-{place}")
    for row, place, sample in SAMPLES
    if not (row.name == "put" and ":" in sample)
]


@pytest.mark.parametrize(("row", "sample"), CASES)
def test_a_wrong_rule_of_an_array_row_is_found_by_every_way_and_named(
    row: Row, sample: ops.Operands, no_sympy: None
) -> None:
    program, inputs, moving = program_of(row, sample)
    right = said(program, inputs)
    assert "DISAGREES" not in {witness.verdict for witness in right}, right
    gradient = at(program, inputs).gradient()
    for fault, place, instead in faults(row, sample):
        name = f"a{place}"
        if name not in moving or not np.any(gradient[name]):
            continue
        with planted(row, **instead):
            wrong = at(program, inputs).gradient()
            if np.allclose(wrong[name], gradient[name], rtol=1e-6, atol=0):
                continue  # a mean of one number is its sum
            found = said(program, inputs)
        for way in ("opened", "difference"):
            assert one(found, name, way).verdict == "DISAGREES", (fault, found)
        named = one(found, "all", "array rules")
        assert named.verdict == "DISAGREES", (fault, found)
        assert (named.reason or "").startswith(f"{row.name} at node "), named
        assert f"operand {place + 1}" in (named.reason or "")
        assert row.name in (one(found, name, "opened").reason or "")


def test_the_worst_element_is_the_wrong_one(no_sympy: None) -> None:
    row = ops.by_name("matmul")
    wrong = ("outer(g, B) + 0.01*outer(g*[0, 1], B*[0, 1])", "A.T @ g")
    with planted(row, pulls=wrong):
        found = said(LAYER, POINT)
    for way in ("opened", "difference", "forward mode"):
        assert one(found, "W", way).verdict == "DISAGREES"
        assert one(found, "W", way).worst == "W[1,1]"
        assert one(found, "x", way).verdict == "agrees"


def test_a_sum_over_the_batch_that_is_missing_is_found(no_sympy: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def first_row_alone(self: Arrays, value: Any, source: Any, target: Any) -> Any:
        spread = self.broadcast(value, target)
        return spread if source == target else spread[(0,) * (len(target) - len(source))]

    for kind in (Arrays, Doubles):
        monkeypatch.setattr(kind, "folded", first_row_alone)
    found = said(BATCH, ROW_BY_ROW)
    for way in ("opened", "difference", "forward mode"):
        assert one(found, "b", way).verdict == "DISAGREES"
    assert one(found, "W", "opened").verdict == "agrees"
    assert "add at node Z, operand 2" in (one(found, "all", "array rules").reason or "")


@pytest.mark.parametrize("rows", [3, 60])
def test_the_row_is_named_however_large_the_program_is(rows: int, no_sympy: None) -> None:
    row = ops.by_name("cross_entropy")

    def wrong(shapes: Any) -> Any:
        first, *others = row.pulled(shapes)
        return (f"({first})*1.001", *others)

    with planted(row, pulls=wrong):
        found = said(*network(rows))
    assert one(found, "all", "array rules").reason == (
        "cross_entropy at node L, operand 1: what it sends back is not what its values show"
    )
    for name in ("X", "W", "b", "V"):
        assert one(found, name, "difference").verdict == "DISAGREES"
        assert "cross_entropy at node L" in (one(found, name, "difference").reason or "")


@pytest.mark.parametrize("kind", ["exact", "digits:30", "certified"])
def test_other_kinds_of_number_find_a_wrong_rule(kind: str, no_sympy: None) -> None:
    if kind == "certified":
        pytest.importorskip("flint")
    with planted(ops.by_name("matmul"), pulls=("outer(g, B)*1.001", "A.T @ g")):
        found = said("L = sum((W@x + b - y)^2)", POINT, kind=by_name(kind))
    assert one(found, "W", "opened").verdict == "DISAGREES"
    assert one(found, "x", "opened").verdict == "agrees"
    # the answer is that of the opened program
    assert one(found, "W", "difference").verdict == "agrees"


def test_a_tangent_that_is_carried_wrongly_is_found_and_told_apart(no_sympy: None) -> None:
    row = ops.by_name("inv")
    with planted(row, pushes=("-out @ t @ out.T",)):
        found = said("sum(sin(inv(A)))", {"A": [[1, 2], [-3, 0.5]]})
    assert one(found, "A", "forward mode").verdict == "DISAGREES"
    assert one(found, "A", "opened").verdict == "agrees"
    assert "how it carries a tangent" in (one(found, "all", "array rules").reason or "")


# -- doubles that lose digits -------------------------------------------------------------------------------------


def test_rounding_is_told_of_the_doubles_of_the_arrays_and_not_of_their_opened_steps(no_sympy: None) -> None:
    # the square of 3e200 is beyond every double, but the length of an array is worked out without it
    found = said("norm(x)", {"x": [3e200, 4e200]})
    assert one(found, "all", "rounding").verdict == "agrees"
    assert one(found, "x", "difference").verdict == "agrees"
    cancelled = said("sum(1 - cos(x))", {"x": [1e-9, 1e-5]})
    assert one(cancelled, "all", "rounding").verdict == "inaccurate"


@pytest.mark.parametrize(
    ("program", "inputs"),
    [
        (
            "sum(solve(A, b))",
            {"A": [[1 / (i + j + 1) for j in range(7)] for i in range(7)], "b": [1, 2, 3, 4, 5, 6, 7]},
        ),
        ("det(A) + sum(inv(A))", {"A": [[1 / (i + j + 1) for j in range(5)] for i in range(5)]}),
        ("sum((x - y)^2)", {"x": [1, 2], "y": [1.0000001, 2.0000003]}),
        ("sum(layernorm(x)^3)", {"x": [1e6, 1e6 + 1, 1e6 + 3]}),
        ("cross_entropy(X, y)", {"X": [[1000, -1000, 0], [5, 5, 5]], "y": [1, 0]}),
        ("logdet(A@A.T + 1e-9*eye(3))", {"A": [[1, 2, 3], [2, 4, 6], [1, 1, 1]]}),
        ("prod(x)", {"x": [0, 0, 3]}),
        ("mean((x - mean(x))^2)", {"x": [1e8, 1e8 + 1, 1e8 + 2]}),
    ],
)
def test_digits_that_doubles_lose_are_no_wrong_rule(program: str, inputs: dict[str, Any], no_sympy: None) -> None:
    assert "DISAGREES" not in {witness.verdict for witness in said(program, inputs)}


def test_a_norm_at_0_has_lost_no_digits() -> None:
    found = trace("norm(x)", {"x": [0, 0]})
    assert found.gradient == {"x": [0.0, 0.0]}
    assert not [witness for witness in found.witnesses if witness.verdict in ("inaccurate", "DISAGREES")]


def test_a_derivative_that_is_a_choice_in_every_element_is_not_said_to_be_checked() -> None:
    from backprop.render import by_name as renderer
    from backprop.render.look import Look

    def last(program: str, inputs: dict[str, Any]) -> str:
        return list(renderer("table").render(trace(program, inputs), Look()))[-1]

    assert "agrees" not in last("norm(x)", {"x": [0, 0]})
    assert "1 confirmed" in last("norm(x) + sum(y^2)", {"x": [0, 0], "y": [1, 2]})
    assert "every check agrees" in last("sum(relu(x))", {"x": [0, 2]})

"""Straight-line programs: what an operation is made of, and value and gradient as one list of operations."""

from __future__ import annotations

import math

import pytest

from backprop import ops
from backprop.grammar import parse
from backprop.graph import build
from backprop.kinds import Hole
from backprop.kinds.real import REAL
from backprop.ops import Row
from backprop.point import Program, resolve
from backprop.rules import formula
from backprop.straight import elementwise_names, straight_line
from backprop.values import values

MADE = [row for row in ops.rows() if row.made_of]
# what no other operation stands for
WORDS_OF_MATHEMATICS = frozenset(
    [
        "add",
        "sub",
        "mul",
        "div",
        "neg",
        "pow",
        "exp",
        "log",
        "sqrt",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "floor",
        "max",
        "min",
        "where",
        "lt",
        "le",
        "gt",
        "ge",
        "eq",
        "ne",
        "and",
        "or",
        "not",
        "mod",
        "erf",
        "erfc",
        "gamma",
        "lgamma",
        "digamma",
        "polygamma",
    ]
)


@pytest.mark.parametrize("row", MADE, ids=lambda row: row.name)
def test_what_an_operation_is_made_of_has_its_value(row: Row) -> None:
    made = formula(row.made_of, row, len(row.parameters))
    for operands in (*row.samples, *row.edges):
        expected = row.value(REAL, *operands)
        found = made.evaluate(REAL, list(operands), None)
        assert not isinstance(found, Hole), operands
        if isinstance(expected, bool):
            assert found is expected
        elif math.isfinite(expected) or math.isfinite(found):
            assert found == pytest.approx(expected, rel=2e-13, abs=1e-300), operands


@pytest.mark.parametrize("row", [row for row in ops.rows() if not row.arrays], ids=lambda row: row.name)
def test_every_operation_and_its_rules_can_be_made_of_a_few(row: Row) -> None:
    arity = max(row.least, len(row.parameters))
    if row.gives_condition or row.conditions:
        pytest.skip("conditions are words of their own")
    graph = Program(_typed(row, arity)).read()[1]
    line = straight_line(graph, resolve(graph, None), WORDS_OF_MATHEMATICS)
    used = {line.graph.op(node) for node in range(len(line.graph))} - {"input", "const"}
    assert used <= WORDS_OF_MATHEMATICS | {"copy"}


def _typed(row: Row, arity: int) -> str:
    from backprop.writing import written

    names = [f"q{i}" for i in range(arity)]
    if row.name == "polygamma":
        names[0] = "1"
    return written(row, [(name, ops.ATOM) for name in names])[0]


def test_the_straight_line_of_a_program_is_its_value_and_its_gradient() -> None:
    program = Program("h = tanh(w*x + b); (h - y)^2 + sigmoid(h)*abs(x)")
    _, graph = program.read()
    line = straight_line(graph, resolve(graph, ["w", "x", "b"]), elementwise_names())
    point = {"w": 0.3, "x": -1.2, "b": 0.4, "y": 0.7}
    found = values(line.graph, REAL, {line.graph.inputs[name]: number for name, number in point.items()})
    there = program.at(point, wrt=["w", "x", "b"])
    assert found[line.output] == there.value()
    assert {name: found[node] for name, node in line.gradient.items()} == pytest.approx(there.gradient(), rel=1e-15)
    assert {line.names[node] for node in line.names} == {"h", "f"}
    assert [graph.ids[node] for _, node in line.kinks] == ["v6"]


def test_powers_become_products_and_roots() -> None:
    graph = build(parse("x^2 + y^3 + z^-1 + w^0.5 + v^1.3"))
    line = straight_line(graph, [], None)
    written = [line.graph.op(node) for node in range(len(line.graph))]
    assert written.count("pow") == 1
    assert {"mul", "div", "sqrt"} <= set(written)

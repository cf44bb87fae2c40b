"""Straight-line programs: what an operation is made of, and value and gradient as one list of operations."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence

import pytest
from hypothesis import assume, given, settings

from backprop import ops
from backprop.accuracy.rounding import DOUBLE, errors
from backprop.grammar import parse
from backprop.graph.building import build
from backprop.kinds import Hole
from backprop.kinds.real import REAL
from backprop.ops import Row
from backprop.point import Program, resolve
from backprop.rules import formula
from backprop.straight import elementwise_names, straight_line
from backprop.values import values
from programs import at_a_kink, points, programs

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


# conditions are words of their own
NUMBERS = [row for row in ops.rows() if not (row.arrays or row.gives_condition or row.conditions)]


@pytest.mark.parametrize("row", NUMBERS, ids=lambda row: row.name)
def test_every_operation_and_its_rules_can_be_made_of_a_few(row: Row) -> None:
    arity = max(row.least, len(row.parameters))
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


def _formulas(text: str, wrt: Sequence[str] = (), words: Container[str] | None = None) -> list[str]:
    graph = build(parse(text))
    made = straight_line(graph, [graph.inputs[name] for name in wrt], words).graph
    return [made.formula(node) for node in range(len(made)) if made.formula(node)]


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("x*(0.3 - 1)", ["-0.7*x"]),
        ("where(2 > 1.5, x, y)", []),
        ("abs(-x) + abs(x)", ["abs(x)", "v1 + v1"]),
        ("x + -y", ["x - y"]),
        ("-x - y", ["x + y", "-v1"]),
        ("(-x)*y + z", ["x*y", "z - v1"]),
        ("(x - y)*(y - x)", ["x - y", "v1*v1", "-v2"]),
        ("where(-x < 2, x, y)", ["x > -2", "where(v1, x, y)"]),
        ("x^5", ["x*x", "v1*v1", "x*v2"]),
        ("x^-3", ["x*x", "x*v1", "1/v2"]),
        ("x^2.5", ["sqrt(x)", "x*x", "v2*v1"]),
    ],
)
def test_what_is_the_same_in_doubles_is_written_once(text: str, formulas: list[str]) -> None:
    assert len(_formulas(text)) == len(formulas)
    program, point = Program(text), {"x": 0.7, "y": -1.3, "z": 2.1}
    used = {name: number for name, number in point.items() if name in program.read()[1].inputs}
    line = straight_line(program.read()[1], [])
    found = values(line.graph, REAL, {line.graph.inputs[name]: number for name, number in used.items()})
    assert found[line.output] == pytest.approx(program.at(used).value(), rel=1e-15)


def test_a_sigmoid_and_its_slope_share_their_exponential() -> None:
    written = _formulas("sigmoid(x)*y", ["x", "y"], WORDS_OF_MATHEMATICS)
    assert len([text for text in written if text.startswith("exp(")]) == 1


@pytest.mark.parametrize("exponent", [*range(-32, 33), -2.5, -0.5, 1.5, 7.5])
def test_a_power_that_is_multiplied_out_keeps_its_digits(exponent: float) -> None:
    from fractions import Fraction

    line = straight_line(build(parse(f"x^({exponent})")), [])
    for x in (1.7, 0.3):
        found = values(line.graph, REAL, {0: x})[line.output]
        exact = Fraction(x) ** math.floor(exponent) * (Fraction(math.sqrt(x)) if exponent % 1 else 1)
        assert abs(Fraction(found) / exact - 1) < Fraction(max(4, abs(int(exponent))) * 2, 2**53)


@settings(max_examples=60, deadline=None)
@given(programs(), points)
def test_random_programs_have_their_value_and_gradient_in_few_words(text: str, point: dict[str, float]) -> None:
    program = Program(text)
    _, graph = program.read()
    point = {name: number for name, number in point.items() if name in graph.inputs}
    here = program.at(point, wrt=list(point))
    wrong = errors(here.graph, here.kind, here.values, here.partials, here.moving, here.reverse(), DOUBLE)
    assume(wrong.branch < 0 and not at_a_kink(here))
    line = straight_line(graph, [graph.inputs[name] for name in point], WORDS_OF_MATHEMATICS, guarded=True)
    leaves = {line.graph.inputs[name]: number for name, number in point.items()}
    assert line.check is not None
    found = values(line.graph, REAL, leaves, [*line.roots, line.check])
    assert math.isfinite(found[line.check])
    allowed = 64 * DOUBLE.unit
    assert abs(found[line.output] - here.value()) <= allowed * wrong.values[graph.output]
    for name, node in line.gradient.items():
        adjoint = here.reverse().adjoints[graph.inputs[name]] or 0.0
        assert abs(found[node] - adjoint) <= allowed * wrong.adjoints[graph.inputs[name]]

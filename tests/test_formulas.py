"""Formulas: folding, tidying and writing never change a value; what is written is what a person would write."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from backprop import formulas, tidying
from backprop.formulas import Formula, symbol, text, texts_of
from backprop.grammar import parse
from backprop.graph.building import build
from backprop.kinds import Hole
from backprop.kinds.digits import Digits
from backprop.kinds.symbol import SYMBOL, label
from backprop.latex import latex, latex_name
from backprop.ops import by_name
from backprop.tidying import tidied, tidy
from backprop.values import values
from programs import NAMES, points

MANY = Digits(50)

# (template, how many operands); many have no value at many points, as user's programs do
ANY = (
    ("({0} + {1})", 2), ("({0} - {1})", 2), ("({0})*({1})", 2), ("({0})/({1})", 2), ("-({0})", 1), ("({0})^2", 1),
    ("({0})^-1", 1), ("({0})^-2", 1), ("2*({0})", 1), ("0.5*({0})", 1), ("({0})/3", 1), ("1e-3*({0})", 1),
    ("({0} - {0})", 1), ("0*({0})", 1), ("({0})^(1/2)", 1), ("pi*{0}", 1), ("sin({0})", 1), ("exp({0})", 1),
    ("sqrt({0})", 1), ("log({0})", 1), ("({0})^{1}", 2), ("abs({0})", 1), ("relu({0})", 1), ("max({0}, {1})", 2),
    ("where({0} > {1}, {0}, {1}^2)", 2), ("where(x > 0.1, {0}, 0)", 1), ("where(x > 0.1, 0, {0})", 1),
    ("where(x > 0.1, sqrt({0}), {1})", 2), ("where(not (x < y and y < 1), {0}, {1})", 2), ("({0})!", 1),
)  # fmt: skip


@st.composite
def wild_programs(draw: st.DrawFn) -> str:
    known = list(NAMES)
    lines = []
    for place in range(draw(st.integers(1, 5))):
        made = draw(st.sampled_from(known))
        for _ in range(draw(st.integers(1, 4))):
            template, count = draw(st.sampled_from(ANY))
            made = template.format(made, *(draw(st.sampled_from([*known, "0.5", "2"])) for _ in range(count - 1)))
        lines.append(f"n{place} = {made}")
        known.append(f"n{place}")
    return "; ".join([*lines, " + ".join(known[len(NAMES) :])])


def formula_of(program: str) -> Formula:
    graph = build(parse(program))
    return values(graph, SYMBOL, {node: symbol(name) for name, node in graph.inputs.items()})[graph.output]


def value_of(program: str, point: dict[str, float]) -> object:
    """The value of a program with fifty digits; a Hole where it has none."""
    graph = build(parse(program, variables=tuple(point)), given=tuple(point))
    numbers = {node: MANY.number(str(point[name])) for name, node in graph.inputs.items()}
    return values(graph, MANY, numbers)[graph.output]


def same(found: object, expected: object) -> bool:
    """Equal to thirty digits; where a cancellation eats digits, relative to 1."""
    return not isinstance(found, Hole) and abs(found - expected) <= MANY.number("1e-30") * (1 + abs(expected))


def parts_count(formula: Formula) -> int:
    return len(formulas.parts([formula]))


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("x + x", "2*x"),
        ("x*y + y*x", "2*x*y"),
        ("x*x^2", "x^3"),
        ("(x^2)^3/x", "x^5"),
        ("(-1)*x", "-x"),
        ("a + -b", "a - b"),
        ("a - (b - c)", "a - b + c"),
        ("-(a - b)", "b - a"),
        ("-(a + b)*c", "-c*(a + b)"),
        ("1 + 2*0.1*x - 1", "0.2*x"),
        ("-x*y^-2", "-x/y^2"),
        ("1/2*x^(1/2 - 1)", "x^(-1/2)/2"),
        ("(2x)^3", "8*x^3"),
        ("1/(2*sqrt(x))", "1/(2*sqrt(x))"),
        ("x^2*cos(x) + sin(x)*2*x", "x^2*cos(x) + 2*x*sin(x)"),
        ("y*(x + 1)^(y - 1)", "y*(x + 1)^(y - 1)"),
        ("-x^2 + 1", "1 - x^2"),
        ("(a + b)*c + (b + a)*d", "(a + b)*(c + d)"),
        ("2*(x + y)", "2*(x + y)"),
        ("sin(x)*cos(x) + cos(x)*sin(x)", "2*sin(x)*cos(x)"),
        ("x10*x2*x1", "x1*x2*x10"),
        ("X*α + X*β", "α*X + β*X"),
        ("1e-3*x", "1e-3*x"),
        ("x/3 + x/6", "x/2"),
        ("where(x > 0, 1, 0)*y + 2*where(x > 0, 0, 1)", "where(x > 0, y, 2)"),
        ("where(2 > 1, x, log(x))", "x"),
        ("where(x > 0, where(x > 0, y, z), 1)", "where(x > 0, y, 1)"),
        ("where(x == x, y, z)", "y"),
        ("exp(0)*x + log(1) + log(e)", "x + 1"),
        ("x/0", "x/0"),
        ("0*x", "0"),
        ("inf - inf", "inf - inf"),
        ("2^2^2^2^2^2", "2^2^65536"),
    ],
)
def test_a_formula_is_written_as_on_paper(typed: str, expected: str) -> None:
    assert text(tidy(formula_of(typed))) == expected


@settings(max_examples=250, deadline=None)
@given(program=wild_programs(), point=points)
@example(program="n0 = where(x > 0.1, sqrt(x), -x); n0*n0 + n0", point={"x": -1.0, "y": 0.0, "z": 0.0})
def test_folding_tidying_and_writing_keep_the_value(program: str, point: dict[str, float]) -> None:
    expected = value_of(program, point)
    assume(not isinstance(expected, Hole) and abs(expected) < 1e6)
    raw = formula_of(program)
    neat = tidy(raw)
    assert same(value_of(text(raw), point), expected)
    assert same(value_of(text(neat), point), expected)
    assert tidy(neat) is neat
    assert neat.size <= 2 * raw.size + 8
    latex(neat)


@settings(max_examples=60, deadline=None)
@given(program=wild_programs(), point=points)
def test_shared_parts_are_named_and_the_value_stays(program: str, point: dict[str, float]) -> None:
    expected = value_of(program, point)
    assume(not isinstance(expected, Hole) and abs(expected) < 1e6)
    kept = formulas.LARGEST_TREE, tidying.SMALL
    formulas.LARGEST_TREE, tidying.SMALL = 4, 2
    try:
        raw = formula_of(program)
        neat = tidy(raw)
        assert parts_count(neat) <= 3 * parts_count(raw) + 8
        assert same(value_of(text(neat), point), expected)
    finally:
        formulas.LARGEST_TREE, tidying.SMALL = kept


def test_the_same_expression_is_one_object_and_none_is_kept_for_ever() -> None:
    assert formula_of("sin(x)*y") is formula_of("sin(x)*y")
    before = len(formulas._known)
    made = [formula_of(f"x^{count} + u{count}") for count in range(2, 300)]
    assert len(formulas._known) > before + 500
    del made
    assert len(formulas._known) <= before + 5


def test_a_formula_is_neither_true_nor_false() -> None:
    with pytest.raises(TypeError):
        bool(symbol("x"))


def test_doubling_forty_times_stays_small_and_parses() -> None:
    program = "v0 = sin(x)*y; " + "; ".join(f"v{i + 1} = sin(v{i})*v{i} + v{i}" for i in range(40))
    neat = tidy(formula_of(program))
    written = text(neat)
    assert len(written) < 3000
    point = {"x": 0.7, "y": 0.3}
    assert same(value_of(written, point), value_of(program, point))


def test_a_sum_of_twenty_thousand_terms_does_not_recurse() -> None:
    add, made = by_name("add"), symbol("x")
    for count in range(20_000):
        made = formulas.make(add, made, symbol(f"y{count % 100}"))
    assert text(tidy(made)).startswith("x + 200*y0 + 200*y1 + ")
    made = symbol("x")
    for _ in range(20_000):
        made = formulas.make(by_name("sin"), made)
    assert text(tidy(made)).startswith("sin(sin(")
    assert latex(made).endswith(r"\right)")


def test_names_of_shared_parts_avoid_the_names_in_use() -> None:
    program = "a = sin(t1)*t2; " + "; ".join(f"a = sin(a)*a + {i}" for i in range(12))
    shared, (written,) = texts_of(tidied([formula_of(program)]))
    names = [name for name, _ in shared]
    assert names
    assert not {"t1", "t2"} & set(names)
    point = {"t1": 0.4, "t2": 1.5}
    assert same(value_of("; ".join([*(f"{name} = {what}" for name, what in shared), written]), point),
                value_of(program, point))  # fmt: skip


def test_a_constant_is_not_confused_with_a_variable_of_its_name() -> None:
    written = text(formula_of("y = e^2 + pi; input e = 3; input pi = 2; y*e*pi"))
    expected = value_of("(exp(1)^2 + 4*atan(1))*6", {})
    assert same(value_of(written, {"e": 3.0, "pi": 2.0}), expected)


@pytest.mark.parametrize(
    ("rule", "row", "operands", "out", "expected"),
    [
        ("y", "mul", ["x", "y"], "v1", "y"),
        ("y*x^(y - 1)", "pow", ["x", "2"], "v1", "2*x"),
        ("where(y == 0, 0, y*x^(y - 1))", "pow", ["x", "3"], "v1", "3*x^2"),
        ("1 - out^2", "tanh", ["z"], "h", "1 - h^2"),
        ("-x/y^2", "div", ["c~2", "d"], "v1", "-c~2/d^2"),
        ("x", "mul", ["x", "x"], "v1", "x"),
        ("1/(2*out)", "sqrt", ["x"], "r", "1/(2*r)"),
        ("-1", "neg", ["x"], "f", "-1"),
        ("out*log(x)", "pow", ["0.5", "t"], "v9", "v9*log(0.5)"),
        ("where(x1 > x2, 1, 0)", "max", ["u", "0"], "f", "where(u > 0, 1, 0)"),
    ],
)
def test_the_label_of_an_edge_is_its_rule_over_the_ids(
    rule: str, row: str, operands: list[str], out: str, expected: str
) -> None:
    assert label(rule, by_name(row), operands, out) == expected


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("x^2/y", r"\frac{x^{2}}{y}"),
        ("-x/y", r"-\frac{x}{y}"),
        ("2*sin(w1)^2", r"2 \sin\left(w_{1}\right)^{2}"),
        ("exp(x)^2", r"\left(e^{x}\right)^{2}"),
        ("(a/b)^n", r"\left(\frac{a}{b}\right)^{n}"),
        ("2*3^x", r"2 \cdot 3^{x}"),
        ("x*(a + b)", r"x \left(a + b\right)"),
        ("sqrt(alpha) + x₁", r"\sqrt{\alpha} + x_{1}"),
        ("max(x, 0)", r"\max\left(x, 0\right)"),
        ("where(x > 0, x, 0)", r"\begin{cases} x & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}"),
        ("pi*1.5e-3", r"1.5 \cdot 10^{-3} \pi"),
    ],
)
def test_latex_is_what_a_book_would_set(typed: str, expected: str) -> None:
    assert latex(formula_of(typed)) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("w1", "w_{1}"), ("α", r"\alpha"), ("sigma2", r"\sigma_{2}"), ("x₁₂", "x_{12}"), ("c~2", "c^{(2)}"),
        ("rate", r"\mathrm{rate}"), ("w_in", r"w_{\mathrm{in}}"), ("x_1", "x_{1}"), ("вес", r"\text{вес}"),
    ],
)  # fmt: skip
def test_names_in_latex(name: str, expected: str) -> None:
    assert latex_name(name) == expected

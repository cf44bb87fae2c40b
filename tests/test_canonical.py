"""The normal form: how a program is printed, that it reads back the same, and where readers could disagree."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from backprop.grammar import parse
from backprop.graph.building import build
from backprop.mistakes import Mistake
from backprop.syntax import canonical, readings
from random_texts import programs
from test_grammar import patient

PRINTED = [
    ("(x*y+z)*x", "(x*y + z)*x", "((x*y) + z)*x"),
    ("-x^2", "-x^2", "-(x^2)"),
    ("(-x)^2", "(-x)^2", "(-x)^2"),
    ("2^-x", "2^(-x)", "2^(-x)"),
    ("a-(b-c)", "a - (b - c)", "a - (b - c)"),
    ("(a-b)-c", "a - b - c", "(a - b) - c"),
    ("a/(b*c)", "a/(b*c)", "a/(b*c)"),
    ("((a)*(b))/c", "a*b/c", "(a*b)/c"),
    ("(2^3)^2", "(2^3)^2", "(2^3)^2"),
    ("2^(3^2)", "2^3^2", "2^(3^2)"),
    ("½x", "½*x", "½*x"),
    ("x½".replace("½", "^½"), "x^½", "x^½"),
    ("a/½", "a/½", "a/½"),
    ("2½/3", "2½/3", "2½/3"),
    ("x⁻¹", "x^(-1)", "x^(-1)"),
    ("|x-1|", "|x - 1|", "|x - 1|"),
    ("√(x+1)", "sqrt(x + 1)", "sqrt(x + 1)"),
    ("abs = 2; |x|", "abs = 2; |x|", "abs = 2; |x|"),
    ("sqrt = 2; √x", "sqrt = 2; √(x)", "sqrt = 2; √(x)"),
    ("(a if b else c)+1", "(a if b else c) + 1", "(a if b else c) + 1"),
    ("a if b else (c if d else g)", "a if b else c if d else g", "a if b else (c if d else g)"),
    ("(a if b else c) if d else g", "(a if b else c) if d else g", "(a if b else c) if d else g"),
    ("not (a and b) or c", "not (a and b) or c", "(not (a and b)) or c"),
    ("(a<b) == (c<d)", "(a < b) == (c < d)", "(a < b) == (c < d)"),
    ("(x+1)[0]", "(x + 1)[0]", "(x + 1)[0]"),
    ("(A@B).T", "(A @ B).T", "(A @ B).T"),
    ("max(a,b+1)", "max(a, b + 1)", "max(a, b + 1)"),
    ("f(a)=a;input x;f(x)", "f(a) = a; input x; f(x)", "f(a) = a; input x; f(x)"),
]


@pytest.mark.parametrize(("text", "plain", "full"), PRINTED, ids=[text for text, _, _ in PRINTED])
def test_normal_form(text: str, plain: str, full: str) -> None:
    tree = parse(text)
    assert canonical(tree) == plain
    assert canonical(tree, full=True) == full


@settings(patient, max_examples=300)
@given(programs)
def test_printed_program_reads_back_the_same(text: str) -> None:
    try:
        tree = parse(text)
    except Mistake:
        return
    plain, full = canonical(tree), canonical(tree, full=True)
    # full brackets show the whole tree, so equal texts are equal trees
    assert canonical(parse(plain), full=True) == full
    assert canonical(parse(full), full=True) == full
    assert canonical(parse(full)) == plain


def _built(text: str) -> tuple[object, ...] | None:
    """The graph of a program as columns; None when it makes no sense."""
    try:
        graph = build(parse(text))
    except Mistake:
        return None
    return graph.codes, graph.args, graph.names, graph.literals, graph.inputs, graph.defaults, graph.output


@settings(patient, max_examples=300)
@given(programs)
@example("½x + 2½")
@example("x⁻¹ - 1/2")
def test_printed_program_has_the_same_graph(text: str) -> None:
    graph = _built(text)
    if graph is not None:
        assert _built(canonical(parse(text))) == _built(canonical(parse(text), full=True)) == graph


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1/2x", [("1/2x", "(1/2)*x")]),
        ("1 + a/b c", [("a/b c", "(a/b)*c")]),
        ("8/2(x+x)", [("8/2(x+x)", "(8/2)*(x + x)")]),
        ("√x²", [("√x²", "sqrt(x)^2")]),
        ("√2x", [("√2x", "sqrt(2)*x")]),
        ("e^2x", [("e^2x", "(e^2)*x")]),
        ("x²^3", [("x²^3", "(x^2)^3")]),
        ("(1/2)x", []),
        ("½x", []),
        ("1/2*x", []),
        ("√(x)²", []),
        ("√2 x", []),
        ("2x² y", []),
        ("x²y", []),
        ("2^-x - x^2", []),
        ("a/b*c", []),
    ],
)
def test_readings(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(text[slice(*span)], told) for span, told in readings(parse(text))] == expected


@given(some.integers(1, 60))
def test_readings_are_few_and_short(times: int) -> None:
    told = readings(parse("1" + "/2x" * times))
    assert len(told) == min(times, 20)


def test_long_chain_of_readings_takes_linear_time() -> None:
    told = readings(parse("1" + "/2x" * 100_000))
    assert all(len(text) < 2000 for _, text in told)


def test_a_transposed_number_keeps_its_brackets() -> None:
    assert canonical(parse("(2).T")) == "(2).T"

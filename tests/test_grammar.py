"""The grammar, the loop that drives its tables, and the mistakes of texts that cannot be read."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from lark import Lark
from lark.exceptions import UnexpectedToken

from backprop import grammar
from backprop.grammar import grammar_path, grammar_text, lark_parser, parse
from backprop.graph.building import build
from backprop.mistakes import Mistake, Span, TooLong
from backprop.syntax import Syntax, canonical, literal, normal, written
from random_texts import expressions, programs, programs_with_a_slip, soups

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = sorted((ROOT / "samples").rglob("*.bp"))
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # other tests may hold the machine


# -- the file -------------------------------------------------------------------------------------------------------


def test_grammar_has_no_conflicts_and_no_two_tokens_that_match_alike() -> None:
    Lark(grammar_text(), parser="lalr", strict=True, start="program")


def test_grammar_is_read_from_the_checkout() -> None:
    assert Path(grammar_path()) == ROOT / "grammars" / "expression.lark"
    assert grammar_text() == (ROOT / "grammars" / "expression.lark").read_text(encoding="utf-8")


def test_text_that_parses_does_not_import_lark(tmp_path: Path) -> None:
    environment = {**os.environ, "BACKPROP_CACHE_DIR": str(tmp_path)}
    program = "import sys; from backprop.grammar import parse; parse('x*y'); print('lark' in sys.modules)"
    told = [
        subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert [run.stdout.strip() for run in told] == ["True", "False"]


# -- what is read how -----------------------------------------------------------------------------------------------

READ = [
    # precedence, low to high
    ("a if c else b if d else e", "a if c else (b if d else e)"),
    ("a or b and not c", "a or (b and (not c))"),
    ("not a < b", "not (a < b)"),
    ("a < b + c", "a < (b + c)"),
    ("a - b - c", "(a - b) - c"),
    ("a - b*c", "a - (b*c)"),
    ("a/b*c", "(a/b)*c"),
    ("a % b @ c", "(a%b) @ c"),
    ("-x^2", "-(x^2)"),
    ("-x*y", "(-x)*y"),
    ("x*-y", "x*(-y)"),
    ("2^-x", "2^(-x)"),
    ("2^-x^2", "2^(-(x^2))"),
    ("2^3^2", "2^(3^2)"),
    ("2**3**2", "2^(3^2)"),
    ("x^+y", "x^y"),
    ("--x", "-(-x)"),
    ("+x", "x"),
    ("x!^2", "(x!)^2"),
    ("x!!", "(x!)!"),
    ("2^n!", "2^(n!)"),
    ("x!=y", "x != y"),
    ("x! == y", "(x!) == y"),
    ("x²!", "(x^2)!"),
    ("-x²", "-(x^2)"),
    ("2^x²", "2^(x^2)"),
    ("x²³", "x^23"),
    ("x⁻¹", "x^(-1)"),
    ("A.T @ x[0, 1]", "(A.T) @ (x[0, 1])"),
    ("√x²", "sqrt(x)^2"),
    ("√x[0]", "sqrt(x[0])"),
    ("∛(x + 1)", "cbrt(x + 1)"),
    ("√√x", "sqrt(sqrt(x))"),
    ("|x| + |y|", "|x| + |y|"),
    ("||x| - 1|", "||x| - 1|"),
    ("|x - |y||", "|x - |y||"),
    ("|(|x|)|(|y|)² - abs(x)", "(||x||*(|y|^2)) - abs(x)"),
    ("[1, [2, x]]", "[1, [2, x]]"),
    # arrays
    ("W[1:3, 0] + x[ : ]", "(W[1:3, 0]) + (x[:])"),
    ("x[::2][:-1][1 : − 1 :]", "((x[::2])[:-1])[1:-1]"),
    ("x[[0, 2]]", "x[[0, 2]]"),
    ("x[007:-00]", "x[7:0]"),
    ("x[(i if c else j)]", "x[i if c else j]"),
    ("x[ # a comment: 2\n : -1]", "x[:-1]"),
    ("sum(W, axis = 0)", "sum(W, axis=0)"),
    ("sum(W + 1, axis=-1)^2", "sum(W + 1, axis=-1)^2"),
    ("max(x, axis=max(y, axis=0))", "max(x, axis=max(y, axis=0))"),
    ("[[1, 2],\n [3, 4],\n]", "[[1, 2], [3, 4]]"),
    ("Aᵀ @ x²ᵀ", "(A.T) @ ((x^2).T)"),
    ("xᵀ[0]", "(x.T)[0]"),
    ("-xᵀ", "-(x.T)"),
    ("‖x - y‖² + ∥x∥", "(norm(x - y)^2) + norm(x)"),
    ("‖‖x‖ - 1‖", "norm(norm(x) - 1)"),
    ("norm = 3; ‖x‖ + norm", "norm = 3; ‖x‖ + norm"),
    # products without a sign
    ("2x", "2*x"),
    ("2x^2", "2*(x^2)"),
    ("2 sin(x)", "2*sin(x)"),
    ("2(x + 1)", "2*(x + 1)"),
    ("(a + b)(b + 1)", "(a + b)*(b + 1)"),
    ("(a)b", "a*b"),
    ("x y z", "(x*y)*z"),
    ("x(y)", "x*y"),
    ("x√y", "x*sqrt(y)"),
    ("1/2x", "(1/2)*x"),
    ("a b^2 c", "(a*(b^2))*c"),
    ("sin^2(x)", "(sin^2)*x"),
    ("sin x", "sin*x"),
    ("n! x", "(n!)*x"),
    ("f(1)(2)", "(f*1)*2"),
    ("x -y", "x - y"),
    # numbers
    ("2½x", "2½*x"),
    ("½", "½"),
    ("2e", "2*e"),
    ("2e3", "2e3"),
    ("2e-x", "(2*e) - x"),
    ("2e−3", "2e-3"),
    ("1E3", "1E3"),
    ("3.x", "3.*x"),
    (".5x", ".5*x"),
    # signs
    ("a · b × c ∙ d ⋅ e ∗ f", "((((a*b)*c)*d)*e)*f"),
    ("a − b – c ‐ d － f", "(((a - b) - c) - d) - f"),
    ("a ÷ b ∕ c", "(a/b)/c"),
    ("a ≤ b", "a <= b"),
    ("a ≥ b", "a >= b"),
    ("a ≠ b", "a != b"),
    # names
    ("lambda*E + I*N + S*beta", "((lambda*E) + (I*N)) + (S*beta)"),
    ("iffy + android", "iffy + android"),
    ("x₁ + αβ + xₙ", "(x₁ + αβ) + xₙ"),
    ("e\u0301x", "éx"),
    ("µ", "μ"),
    ("x\u0302 + 1", "x\u0302 + 1"),
    # statements
    ("a = 2; b = a", "a = 2; b = a"),
    ("\ufeffa = 2\r\n\r\n  b = a ;\n", "a = 2; b = a"),
    ("(a\n+\nb)", "a + b"),
    ("[1,\n2]", "[1, 2]"),
    ("a # a comment; b = (\nb", "a; b"),
    ("(a # within (brackets\n + b)", "a + b"),
    ("input x1 = 2.0\ninput x\nparam w1 = -.5", "input x1 = 2.0; input x; param w1 = -.5"),
    ("input x, y = 2", "input x; input y = 2"),
    ("input = 3; input*2", "input = 3; input*2"),
    ("input", "input"),
    ("input and x", "input and x"),
    ("param(2)", "param*2"),
    ("x = input y", "x = input*y"),
    ("sigma(z) = 1/(1 + exp(-z))", "sigma(z) = 1/(1 + exp(-z))"),
    ("f(a,\n b) = a b; f(1, 2)", "f(a, b) = a*b; f(1, 2)"),
    ("f = 3; f(x + 1)", "f = 3; f*(x + 1)"),
    ("f(x) = x^2; f = f(3)", "f(x) = x^2; f = f(3)"),
    ("max = 3; max(x)", "max = 3; max*x"),
    ("# max = 3\nmax(x, y)", "max(x, y)"),
    ("where(max == 3, 1, 2); max(x, y)", "where(max == 3, 1, 2); max(x, y)"),
    ("max (x, y)", "max(x, y)"),
    ("pi(x)", "pi*x"),
]


@pytest.mark.parametrize(("text", "expected"), READ, ids=[text for text, _ in READ])
def test_reading(text: str, expected: str) -> None:
    assert canonical(parse(text), full=True) == expected


def test_given_variable_before_a_bracket_is_a_factor() -> None:
    assert canonical(parse("gamma(x + 1)")) == "gamma(x + 1)"
    assert canonical(parse("gamma(x + 1)", variables=["gamma"])) == "gamma*(x + 1)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("½", "1/2"), ("2½", "5/2"), ("²", "2"), ("⁻¹", "-1"), ("⁺¹²", "12"), ("1E3", "1E3"), ("1e−3", "1e-3")],
)
def test_literal_is_plain_text(text: str, expected: str) -> None:
    assert literal(text) == expected


def test_statements_know_their_names_and_places() -> None:
    text = "input x = 2, y\nf(a, b) = a*b\nz = f(x, y)\nz + 1"
    tree = parse(text)
    told = [
        (one.kind, one.name, text[slice(*one.span)], one.name_span and text[slice(*one.name_span)])
        for one in tree.statements
    ]
    assert told == [
        ("input", "x", "input x = 2", "x"),
        ("input", "y", "y", "y"),
        ("function", "f", "f(a, b) = a*b", "f"),
        ("assign", "z", "z = f(x, y)", "z"),
        ("expression", None, "z + 1", None),
    ]
    assert [name for name, _ in tree.statements[2].parameters] == ["a", "b"]
    assert [text[slice(*span)] for _, span in tree.statements[2].parameters] == ["a", "b"]
    assert [list(tree.walk(one)) for one in tree.statements] == [[0], [], [1, 2, 3], [4, 5, 6], [7, 8, 9]]


def test_expectations_are_kept() -> None:
    text = "a = 2 # expect a = 2\n#expect da/da = 1  \n# expected nothing\n# we expect b"
    tree = parse(text)
    assert [one.text for one in tree.expectations] == ["a = 2", "da/da = 1"]
    assert all(text[slice(*one.span)] == one.text for one in tree.expectations)


def test_span_takes_in_the_brackets_of_an_operand() -> None:
    tree = parse("1 + (a+b)*(c)")
    assert [tree.text(at) for at in range(len(tree))] == ["1", "a", "b", "a+b", "c", "(a+b)*(c)", "1 + (a+b)*(c)"]


@settings(patient, max_examples=200)
@given(expressions)
def test_text_of_every_node_reads_as_that_node(text: str) -> None:
    try:
        tree = parse(text)
    except Mistake:  # 0 < x < 1 and such
        return
    for at, kind in enumerate(tree.kinds):
        if kind not in ("number", "slice", "keyword"):  # ² alone is no number, 1:3 no expression
            alone = parse(f"({tree.text(at)})")
            assert written(alone, len(alone) - 1, full=True) == written(tree, at, full=True)


# -- our loop and Lark's --------------------------------------------------------------------------------------------

_reference = lark_parser()
WAYS = ("expression", "assign", "input", "param", "function")  # what a statement can be


class Stopped(Exception):
    """The loop can go no further: at which terminal, and where that begins."""


def _stop(
    source: str, tables: grammar.Tables, states: Any, begins: Any, terminal: int, span: Span, end: int
) -> Stopped:
    return Stopped(tables.terminals[terminal], span[0])


def _by_lark(text: str) -> object:
    """What Lark's driver makes of a text: its tree with every span, a mistake of an action, or where it stops."""
    try:
        return _reference(text)
    except UnexpectedToken as error:
        return "stopped", error.token.type, error.token.start_pos
    except Mistake as mistake:
        return mistake.code, mistake.span


def _by_our_loop(text: str) -> object:
    with patch("backprop.misreadings.misreading", _stop):
        try:
            return parse(text)
        except Stopped as stopped:
            return "stopped", *stopped.args
        except Mistake as mistake:
            return mistake.code, mistake.span


def _same(text: str) -> None:
    expected, found = _by_lark(text), _by_our_loop(text)
    if isinstance(expected, Syntax) and not expected.statements:  # for the grammar an empty program is one
        assert found == ("nothing-written", (0, len(normal(text))))
    elif isinstance(expected, tuple) and expected[0] == "stopped" and isinstance(found, tuple):
        _, terminal, begin = expected
        if found[0] != "stopped":  # Lark's driver comes to the actions after the end, our loop on the way
            assert found[1][0] <= begin or terminal == "$END"
        elif terminal == "$END":  # which Lark puts at the last token
            assert found[1:] == ("$END", len(normal(text)))
        else:
            assert found == expected
    else:
        assert found == expected


@settings(patient, max_examples=500)
@given(some.one_of(programs, programs_with_a_slip))
def test_our_loop_agrees_with_larks_driver(text: str) -> None:
    _same(text)


@pytest.mark.slow
@settings(patient, max_examples=20_000)
@given(some.one_of(programs, programs_with_a_slip, soups))
def test_our_loop_agrees_with_larks_driver_on_many_texts(text: str) -> None:
    _same(text)


def test_programs_at_random_hold_every_rule_of_the_grammar() -> None:
    from random_texts import program

    seen: set[str] = set()
    for seed in range(1_000):
        with contextlib.suppress(Mistake):
            tree = parse(program(seed, 1 + seed % 12))
            seen |= {*tree.kinds, *(statement.kind for statement in tree.statements)}
    rules = {alias for alias in grammar.load_tables().actions if alias not in (*grammar._SILENT, *grammar._SPECIAL)}
    assert seen >= {*rules - {""}, *("vector", "index", "slice", "call", "keyword", "pow"), *WAYS}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_our_loop_agrees_with_larks_driver_on_samples(path: Path) -> None:
    _same(path.read_text(encoding="utf-8"))


# -- mistakes -------------------------------------------------------------------------------------------------------

MISTAKES = [
    ("", "nothing-written", ""),
    ("# nothing\n", "nothing-written", "# nothing\n"),
    ("2 +* 3", "missing-operand", "+*"),
    ("(2+)", "missing-operand", "+)"),
    ("max(,x)", "missing-operand", "(,"),
    ("max(a,)", "missing-operand", ",)"),
    ("= 3", "missing-operand", "="),
    ("²x", "missing-operand", "²"),
    ("2 +", "unfinished-line", "+"),
    ("2 +\n3", "unfinished-line", "+"),
    ("x =\n3", "unfinished-line", "="),
    ("5%", "unfinished-line", "%"),
    ("a\n* b", "line-begins-with-sign", "*"),
    ("(a + (b", "unclosed-bracket", "("),
    ("(a\nb = 3", "unclosed-bracket", "("),
    ("[1, 2", "unclosed-bracket", "["),
    ("a + b)", "unopened-bracket", ")"),
    ("(a]", "wrong-bracket", "]"),
    ("[1; 2]", "separator-inside", ";"),
    ("|x + 1", "unclosed-bar", "|"),
    ("(|x)", "unclosed-bar", "|"),
    ("2|x|", "missing-sign", "|"),
    ("2‖x‖", "missing-sign", "‖"),
    ("‖x + 1", "unclosed-bar", "‖"),
    ("sum(W axis=0)", "missing-sign", "axis="),
    ("x[1,]", "missing-operand", ",]"),
    ("x[i:j]", "bad-slice", "i"),
    ("x[:0.5]", "bad-slice", "0.5"),
    ("x[(1):]", "bad-slice", "(1)"),
    ("x[::0]", "bad-slice", "0"),
    ("[1:3]", "stray-colon", ":"),
    ("x[1:2:3:4]", "stray-colon", ":"),
    ("W(:, 1)", "stray-colon", ":"),
    ("0:10", "stray-colon", ":"),
    ("x[]", "empty-brackets", "[]"),
    ("A.T()", "empty-brackets", "()"),
    ("foo(a, b)", "stray-comma", ","),
    ("summ(W, axis=0)", "unknown-function", "summ"),
    ("[1,2;3,4]", "separator-inside", ";"),
    ("W.t()", "unknown-character", "W.t"),
    ("input x y", "missing-sign", "y"),
    ("()", "empty-brackets", "()"),
    ("[]", "empty-brackets", "[]"),
    ("where((a = b), 1, 2)", "assignment-inside", "="),
    ("where(a + 1 = b, 1, 2)", "assignment-inside", "="),
    ("a = b = 3", "assignment-inside", "="),
    ("a+b = 3", "bad-target", "a+b"),
    ("2 = x", "bad-target", "2"),
    ("sin(2) = x", "bad-target", "sin(2)"),
    ("(x) = 3", "bad-target", "(x)"),
    ("x[0] = 2", "bad-target", "x[0]"),
    ("my name = 2", "bad-target", "my name"),
    ("x 2", "number-after", "2"),
    ("2 3", "number-after", "3"),
    ("1.2.3", "number-after", ".3"),
    ("[1 2]", "number-after", "2"),
    ("x'", "prime", "'"),
    ("f'(x)", "prime", "'"),
    ("0<x<1", "chained-comparison", "<"),
    ("2,5 + x", "decimal-comma", "2,5"),
    ("(2,5)", "decimal-comma", "2,5"),
    ("a, b", "stray-comma", ","),
    ("if = 3", "reserved-word", "if"),
    ("a if b", "half-choice", "if"),
    ("(a if b) + 1", "half-choice", "if"),
    ("let x = 3", "foreign-statement", "let"),
    ("def f(x): x", "foreign-statement", "def"),
    ("lambda x: x", "foreign-statement", "lambda"),
    ("x := 3", "foreign-sign", ":="),
    ("x += 1", "foreign-sign", "+="),
    ("x++", "foreign-sign", "++"),
    ("a && b", "foreign-sign", "&&"),
    ("a || b", "foreign-sign", "||"),
    ("a =< b", "foreign-sign", "=<"),
    ("!x", "foreign-sign", "!"),
    ("x ? 1 : 2", "foreign-sign", "?"),
    ('"x"', "quote", '"'),
    ("a\x00b", "unknown-character", "\x00"),
    ("\ud800", "unknown-character", "\ud800"),
    ("（x）", "unknown-character", "（"),
    ("1_000", "unknown-character", "_"),
    ("{x}", "unknown-character", "{x}"),
    ("input x, 3", "misplaced", "3"),
]


@pytest.mark.parametrize(("text", "code", "where"), MISTAKES, ids=[ascii(text) for text, _, _ in MISTAKES])
def test_mistake_is_named_and_placed(text: str, code: str, where: str) -> None:
    with pytest.raises(Mistake) as caught:
        parse(text, origin="lesson.bp")
    mistake = caught.value
    assert mistake.code == code
    assert mistake.source == text
    assert mistake.span is not None
    assert text[slice(*mistake.span)] == where
    assert mistake.origin == "lesson.bp"
    assert mistake.cause.isprintable()
    assert mistake.repair.isprintable()


@pytest.mark.parametrize(
    ("text", "repair"),
    [
        ("0 < x + 1 < y", "Write 0 < x + 1 and x + 1 < y"),
        ("2,5 + x", "Write 2.5"),
        ("1_000", "Write 1000"),
        ("[1 2]", "Separate the entries with commas: [1, 2]"),
        ("my name = 2", "Write my_name = ..."),
        ("(a + b) 2", "Write (a + b)*2 for the product, (a + b)^2 for the power."),
    ],
)
def test_repair_is_written_in_the_users_words(text: str, repair: str) -> None:
    with pytest.raises(Mistake) as caught:
        parse(text)
    assert caught.value.repair == repair


def test_open_bracket_is_shown_where_it_stands() -> None:
    with pytest.raises(Mistake) as caught:
        parse("(a) + (b + (c)")
    assert caught.value.span == (6, 7)


@pytest.mark.parametrize("text", [text for text, *_ in (*READ, *MISTAKES)], ids=ascii)
def test_our_loop_agrees_with_larks_driver_on_what_is_tested_here(text: str) -> None:
    _same(text)


@settings(patient, max_examples=800)
@given(some.one_of(soups, programs_with_a_slip))
def test_nothing_but_a_mistake_is_ever_raised(text: str) -> None:
    mistake: Mistake | None = None
    try:
        canonical(parse(text))
    except Mistake as caught:
        mistake = caught
    if mistake is not None:
        assert mistake.span is not None
        begin, end = mistake.span
        assert 0 <= begin <= end <= len(mistake.source or "")
        assert mistake.cause.isprintable()
        assert mistake.repair.isprintable()


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_sample_of_a_mistake_makes_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    last = text.rstrip().splitlines()[-1].split()
    if path.parent.name != "mistakes":
        parse(text)
    elif (code := last[-1]) in {code for _, code, _ in MISTAKES}:  # the others are found after parsing
        with pytest.raises(Mistake) as caught:
            build(parse(text))
        assert caught.value.code == code


# -- sizes ----------------------------------------------------------------------------------------------------------


def _seconds(text: str) -> float:
    begin = time.perf_counter()
    with pytest.raises(Mistake):
        parse(text)
    return time.perf_counter() - begin


def test_deep_nesting_is_no_deeper_for_the_parser() -> None:
    depth = 100_000
    tree = parse("(" * depth + "x" + ")" * depth)
    assert len(tree) == 1
    assert canonical(parse("-" * depth + "x"), full=True) == "-(" * (depth - 1) + "-x" + ")" * (depth - 1)
    assert len(canonical(parse("sin(" * depth + "x" + ")" * depth))) == 5 * depth + 1
    assert len(parse("2^" * depth + "x")) == 2 * depth + 1
    assert len(parse("a if b else " * depth + "c")) == 3 * depth + 1


def test_long_programs_parse() -> None:
    lines = 100_000
    tree = parse("\n".join(f"v{line} = x + {line}" for line in range(lines)))
    assert len(tree.statements) == lines
    assert len(tree) == 3 * lines


@pytest.mark.slow
def test_a_million_terms_parse_and_print() -> None:
    terms = 1_000_000
    tree = parse(" + ".join(["x"] * terms))
    assert len(tree) == 2 * terms - 1
    assert len(canonical(tree)) == 4 * terms - 3


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10**6,
        ")" * 10**6,
        "|" * 10**6,
        "x " + "(" * 10**6 + ")" * 10**6,
        " " * 10**6 + "$",
        "x" * 10**6 + "'",
        "1" * 10**6 + " 2",
        "f(" * 10**5 + "\n",
        "x = " * 10**5,
        "a\n" * 10**5 + ")",
        "(a," * 10**5,
        "a < b and " * 10**5,
        "a\n(\n" * 10**5 + "= 3",
    ],
    ids=range(13),
)
def test_refusal_takes_linear_time(text: str) -> None:
    assert _seconds(text) < 10  # seconds where anything quadratic would take hours


@pytest.mark.parametrize("blank", ["\n", "\n \t", ";", ";\n", "; \r\n", "\n;"])
def test_what_ends_a_statement_costs_nothing_when_it_stands_a_million_times(blank: str) -> None:
    text = f"x{blank * 10**6}y{blank * 10**6}"
    begin = time.perf_counter()
    statements = parse(text).statements
    assert time.perf_counter() - begin < 1
    assert [one.span for one in statements] == [(0, 1), (text.index("y"), text.index("y") + 1)]


@pytest.mark.parametrize("text", ["-" * 30_000 + "x", "(" * 30_000, "x;" * 30_000, "x" + "!" * 30_000])
def test_a_program_of_too_many_parts_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar, "LARGEST_PROGRAM", 15_000)
    with pytest.raises(TooLong) as caught:
        parse(text)
    assert caught.value.span is not None
    assert caught.value.span[1] <= len(text)


def test_a_text_with_more_characters_than_the_columns_can_tell_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar, "LONGEST_SOURCE", 5_000)
    assert len(parse("x" + " " * 4_999).kinds) == 1
    with pytest.raises(TooLong, match="more than 5 000 characters"):
        parse("x" + " " * 5_000)


@pytest.mark.parametrize("text", ["x1 + sin(y)*2.5e-3", "input a = 2; f(x) = x^2", "a if not b else c # d", "[1, 2].T"])
def test_a_plain_text_is_cut_alike_by_the_pattern_for_plain_texts(text: str) -> None:
    from backprop.patterns import pattern

    tables = grammar.load_tables()
    for expression in (*tables.expressions[1:], tables.tokens, tables.blank, tables.name):
        short = pattern(expression, text)
        assert [(one.span(), one.groups()) for one in re.finditer(expression, text)] == [
            (one.span(), one.groups()) for one in short.finditer(text)
        ]


@pytest.mark.slow
def test_ten_million_brackets_are_refused() -> None:
    assert _seconds("(" * 10**7) < 60

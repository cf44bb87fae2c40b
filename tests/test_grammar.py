"""The grammar, the loop that drives its tables, and the mistakes of texts that cannot be read."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from lark import Lark
from lark.exceptions import LarkError

from backprop import grammar
from backprop.grammar import grammar_path, grammar_text, lark_parser, parse
from backprop.graph import build
from backprop.mistakes import Mistake, TooLong
from backprop.syntax import Syntax, canonical, literal, written

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = sorted((ROOT / "samples").rglob("*.bp"))
LETTERS = "xyabe"
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # other tests may hold the machine


# -- programs at random ---------------------------------------------------------------------------------------------


def _slices() -> some.SearchStrategy[str]:
    bound = some.sampled_from(["", "0", "1", "-2", "+3", " − 1 ", "\n12"])
    return some.tuples(bound, bound, some.sampled_from(["", ":", ":2", ": -1"])).map(lambda x: f"{x[0]}:{x[1]}{x[2]}")


def _expressions() -> some.SearchStrategy[str]:
    """Texts of expressions, with every sign of the language."""
    leaf = some.sampled_from(
        ["x", "y", "α", "x₁", "x2", "E", "in", "input", "π", "∞", "2", "0.5", ".5", "3.", "1e3", "2E-3", "½", "2¾"]
    )
    blank = some.sampled_from(["", " ", "  ", "\t", "\u00a0"])
    binary = some.sampled_from([*"+-*/^@%·×÷−<≠", *("**", "<=", ">=", "==", "!=", " and ", " or ")])

    def grow(inner: some.SearchStrategy[str]) -> some.SearchStrategy[str]:
        return some.one_of(
            some.tuples(inner, blank, binary, blank, inner).map("".join),
            inner.map(lambda x: f"({x})"),
            inner.map(lambda x: f"(\n{x} )"),
            inner.map(lambda x: f"-{x}"),
            inner.map(lambda x: f"+ {x}"),
            inner.map(lambda x: f"not {x}"),
            inner.map(lambda x: f"|{x}|"),
            inner.map(lambda x: f"√({x})"),
            inner.map(lambda x: f"∛{x}"),
            inner.map(lambda x: f"({x})²"),
            inner.map(lambda x: f"{x}⁻¹"),
            inner.map(lambda x: f"({x})!"),
            inner.map(lambda x: f"sin({x})"),
            inner.map(lambda x: f"[{x}, 1]"),
            some.tuples(inner, inner).map(lambda x: f"max({x[0]}, {x[1]})"),
            some.tuples(inner, inner).map(lambda x: f"({x[0]})({x[1]})"),
            some.tuples(inner, inner).map(lambda x: f"({x[0]})[{x[1]}]"),
            some.tuples(inner, _slices()).map(lambda x: f"({x[0]})[{x[1]}]"),
            some.tuples(inner, _slices(), inner).map(lambda x: f"{x[0]}[{x[1]}, {x[2]}]"),
            some.tuples(inner, inner).map(lambda x: f"sum({x[0]}, axis={x[1]})"),
            inner.map(lambda x: f"‖{x}‖"),
            inner.map(lambda x: f"({x})ᵀ"),
            inner.map(lambda x: f"[{x},\n{x},]"),
            some.tuples(inner, inner, inner).map(lambda x: f"({x[0]} if {x[1]} else {x[2]})"),
            inner.map(lambda x: f"2 a({x})"),
            inner.map(lambda x: f"({x}).T"),
        )

    return some.recursive(leaf, grow, max_leaves=12)


def _programs() -> some.SearchStrategy[str]:
    statement = some.one_of(
        _expressions(),
        some.tuples(some.sampled_from(LETTERS), _expressions()).map(lambda x: f"{x[0]} = {x[1]}"),
        some.tuples(some.sampled_from(LETTERS), _expressions()).map(lambda x: f"f_{x[0]}({x[0]}, z) = {x[1]}"),
        some.sampled_from(["input x", "param w = 0.5", "input y = -1, z", "input = 3", "# expect x = 2", ""]),
    )
    return some.lists(statement, min_size=1, max_size=5).flatmap(
        lambda parts: some.sampled_from(["; ", "\n", "\r\n", "\n\n"]).map(lambda join: join.join(parts))
    )


def _soup() -> some.SearchStrategy[str]:
    """Texts that hardly ever are programs."""
    pieces = some.sampled_from(
        [
            *"xy2½²⁻ᵀ()[]|‖,;:=<≤+-*^/%@√.'\"#_&:{}$\\ \n\ré\x00\ud800",
            *(".5", "==", "!", "!=", "**", ".T", "&&", ":=", "e\u0301", "sin"),
            *("if", "else", "and", "or", "not", "input ", "param", "let ", "def "),
        ]
    )
    return some.one_of(some.lists(pieces, max_size=14).map("".join), some.text(max_size=30))


def _mutated() -> some.SearchStrategy[str]:
    def mutate(parts: tuple[str, int, str, int]) -> str:
        program, at, put, cut = parts
        at %= len(program) + 1
        return program[:at] + put + program[at + cut :]

    sign = some.sampled_from([*"()[]|,;=!<+-*^/2x'\n #\\²½", "if "])
    return some.tuples(_programs(), some.integers(0, 200), sign, some.integers(0, 3)).map(mutate)


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


@patient
@given(_expressions())
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


def _read(parser: Callable[[str], Syntax], text: str) -> Syntax | None:
    try:
        return parser(text)
    except (LarkError, Mistake):
        return None


def _same(text: str) -> None:
    expected = _read(_reference, text)
    if expected is not None and not expected.statements:  # for the grammar an empty program is one
        expected = None
    assert _read(parse, text) == expected


@settings(patient, max_examples=300)
@given(some.one_of(_programs(), _mutated()))
def test_our_loop_agrees_with_larks_driver(text: str) -> None:
    _same(text)


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


@settings(patient, max_examples=500)
@given(some.one_of(_soup(), _mutated()))
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


@pytest.mark.slow
def test_ten_million_brackets_are_refused() -> None:
    assert _seconds("(" * 10**7) < 60


# -- the cache ------------------------------------------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BACKPROP_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(grammar, "_tables", None)
    return tmp_path


def _built(monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether loading the tables needs Lark."""
    asked: list[str] = []
    build = grammar.build_tables
    monkeypatch.setattr(grammar, "build_tables", lambda text: asked.append(text) or build(text))
    monkeypatch.setattr(grammar, "_tables", None)
    assert canonical(parse("2x")) == "2*x"
    monkeypatch.setattr(grammar, "build_tables", build)
    return bool(asked)


def test_tables_are_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _built(monkeypatch)
    assert len(list(cache.iterdir())) == 1
    assert not _built(monkeypatch)


@pytest.mark.parametrize("damage", [b"", b"\0", b"\0" * 100, None])
def test_damaged_cache_is_built_again(cache: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes | None) -> None:
    assert _built(monkeypatch)
    (file,) = cache.iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]) if damage is None else damage)
    assert _built(monkeypatch)
    assert file.exists()
    assert not _built(monkeypatch)


def test_other_grammar_has_other_tables(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _built(monkeypatch)
    text = grammar_text() + "\n// another\n"
    monkeypatch.setattr(grammar, "grammar_text", lambda: text)
    assert _built(monkeypatch)


def test_same_name_but_other_text_is_stale(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _built(monkeypatch)
    (file,) = cache.iterdir()
    assert grammar._stored(str(file), grammar_text()) is not None
    assert grammar._stored(str(file), "another") is None


def test_cache_that_cannot_be_written_costs_time_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("BACKPROP_CACHE_DIR", str(tmp_path / "file" / "below"))
    assert _built(monkeypatch)
    assert _built(monkeypatch)


def test_two_processes_may_fill_the_cache_at_once(tmp_path: Path) -> None:
    environment = {**os.environ, "BACKPROP_CACHE_DIR": str(tmp_path)}
    program = "from backprop.grammar import parse; print(len(parse('x*y + z')))"
    running = [
        subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [process.communicate()[0].strip() for process in running] == ["5"] * 4
    assert [file.suffix for file in tmp_path.iterdir()] == [".tables"]

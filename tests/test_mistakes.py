"""Mistakes in programs: each is named, marked where it stands, and its repair works when it is typed."""

from __future__ import annotations

import inspect
import math
import random
import time
from pathlib import Path

import pytest

from backprop import mistakes
from backprop.grammar import parse
from backprop.graph import Graph
from backprop.graph.building import build, misgivings
from backprop.mistakes import MissingValue, Mistake
from backprop.point import at
from backprop.syntax import canonical

SAMPLES = sorted((Path(__file__).parent.parent / "samples" / "mistakes").glob("*.bp"))


def read(text: str, *given: str) -> Graph:
    return build(parse(text, given), given)


def refusal(text: str) -> Mistake:
    with pytest.raises(Mistake) as caught:
        at(text, {})
    return caught.value.within(text)


# -- a repair is tried -----------------------------------------------------------------------------------------------

# what is typed, its mistake, and what the repair says to type in the place that is marked
REPAIRS = [
    ("sin x", "function-without-brackets", "sin(x)"),
    ("sin 2", "function-without-brackets", "sin(2)"),
    ("cos 2πx + 1", "function-without-brackets", "cos(2πx)"),
    ("sin |x|", "function-without-brackets", "sin(|x|)"),
    ("2 sin |x|", "function-without-brackets", "sin(|x|)"),
    ("2sin x", "function-without-brackets", "sin(x)"),
    ("x*sin x^2", "function-without-brackets", "sin(x^2)"),
    ("-sin^2(x)", "function-without-brackets", "sin(x)^2"),
    ("2 sin²x", "function-without-brackets", "sin(x)^2"),
    ("sin⁻¹(x)", "function-without-brackets", "asin(x)"),
    ("sin^-1(x)", "function-without-brackets", "1/sin(x)"),
    ("f(t) = t^2; f x", "function-without-brackets", "f(x)"),
    ("f(t) = t^2; f 3", "function-without-brackets", "f(3)"),
    ("sin + 1", "function-alone", "sin(x)"),
    ("f(s, t) = s*t; f + 1", "function-alone", "f(s, t)"),
    ("f() = 2; f + 1", "function-alone", "f()"),
    ("atan2 + 1", "function-alone", "atan2(y, x)"),
    ("(x > 0)*2", "condition-as-number", "where(x > 0, 1, 0)"),
    ("where(x, 1, 2)", "number-as-condition", "x != 0"),
    ("x if not y else 2", "number-as-condition", "y != 0"),
    ("2,5 + x", "decimal-comma", "2.5"),
    ("input x = 2,5; x", "decimal-comma", "2.5"),
    ("np.exp(x)", "unknown-character", "exp(x)"),
    ("torch.maximum(x, y)", "unknown-character", "max(x, y)"),
    ("2*math.pi", "unknown-character", "pi"),
    ("layer.w + 1", "unknown-character", "layer_w"),
    (r"\frac{1}{2}", "unknown-character", "(1)/(2)"),
    (r"\sqrt{x}", "unknown-character", "sqrt(x)"),
    (r"\alpha + 1", "unknown-character", "alpha"),
    ("x^{2}", "unknown-character", "(2)"),
    ("x_{12} + 1", "unknown-character", "x_12"),
    ("eˣ", "unknown-character", "^x"),
    ("e²ˣ", "unknown-character", "^(2x)"),
    ("xⁿ + 1", "unknown-character", "^n"),
    ("x⁻ⁿ", "unknown-character", "^(-n)"),
    ("x⁻½", "unknown-character", "^(-½)"),
    ("√-x", "missing-operand", "√(-x)"),
]


@pytest.mark.parametrize(("text", "code", "piece"), REPAIRS, ids=[ascii(text) for text, _, _ in REPAIRS])
def test_repair_works_when_it_is_typed(text: str, code: str, piece: str) -> None:
    mistake = refusal(text)
    assert mistake.code == code
    assert piece in mistake.repair
    assert mistake.span is not None
    begin, end = mistake.span
    rest = text[end:]
    for leftover in ("{1}{2}", "{x}", "(x, y)", "(x)", "x"):  # what the marks leave of the thing that is replaced
        if code in ("unknown-character", "missing-operand") and rest.startswith(leftover) and piece[-1] in ")":
            rest = rest.removeprefix(leftover)
            break
    read(text[:begin] + piece + rest)


@pytest.mark.parametrize(
    ("text", "code", "piece"),
    [
        ("f(x)", "unknown-function", "f*(x)"),
        ("2 a(b)", "unknown-function", "a*(b)"),
        ("lg(x)", "unknown-function", "log10(x)"),
        ("tg(x)", "unknown-function", "tan(x)"),
        ("input(x)", "unknown-function", "input x"),
        ("f(2); f(x) = x", "used-before-defined", "Put the definition of f before"),
        ("tanh(1,5)", "wrong-number-of-operands", "a decimal point is written 1.5"),
        ("return x", "foreign-statement", "without the word"),
        ("x = 3\nreturn x", "foreign-statement", "without the word"),
        ("import numpy as np", "foreign-statement", "every function is there"),
        ("from math import *", "foreign-statement", "every function is there"),
        ("def f(x) = x", "foreign-statement", "Write f(x) = ... without it"),
        ("def f(x): return x", "foreign-statement", "f(x) = x^2"),
        ("f'(x)", "prime", 'backprop diff "f(x)" --wrt x'),
        ("y'", "prime", "As another name write y_1"),
        ("|x||y|", "missing-sign", "|x|*|y|"),
        ("a||b", "foreign-sign", "or"),
        ("1 1/2", "number-after", "1 + 1/2"),
        ("2 ½", "number-after", "2½"),
        ("a = b = 3", "assignment-inside", "b = ...; a = b"),
        ("a = 3 b = 4", "assignment-inside", "a = 3; b = ..."),
        ("x.grad", "unknown-character", "backprop diff x"),
        ("90º", "unknown-character", "x*π/180"),
        ("١٢", "unknown-character", "1"),
        ("x!==y", "foreign-sign", "x! == 2"),
    ],
)
def test_repair_tells_what_to_do(text: str, code: str, piece: str) -> None:
    mistake = refusal(text)
    assert (mistake.code, piece in mistake.repair) == (code, True), mistake.repair


@pytest.mark.parametrize("name", sorted(mistakes.UnknownFunction.elsewhere))
def test_what_a_function_is_called_here_can_be_typed(name: str) -> None:
    told = mistakes.UnknownFunction.elsewhere[name].format("x")
    for way in told.split(", or ") if "(condition" not in told else []:
        program = (
            way.removesuffix(" in computer science")
            .removesuffix(" for the root")
            .removesuffix(", as the last statement")
        )
        read(program if not program.startswith(("input", "param")) else f"{program}; x")


@pytest.mark.parametrize(
    ("text", "values", "guess"),
    [
        ("sinx", {}, "sin(x)"),
        ("cos2x", {}, "cos(2x)"),
        ("sqrt2*x", {"x": 1.0}, "sqrt(2)"),
        ("xy", {"x": 1.0, "y": 2.0}, "x*y"),
        ("2πr", {"r": 1.0}, "π*r"),
        ("cost", {}, None),
        ("expo", {}, None),
    ],
)
def test_a_missing_name_that_was_meant_as_two_is_taken_apart(
    text: str, values: dict[str, float], guess: str | None
) -> None:
    with pytest.raises(MissingValue) as caught:
        at(text, values)
    assert ("is one name" in caught.value.repair) == (guess is not None)
    assert guess is None or f"did you mean {guess}?" in caught.value.repair


# -- every mistake has its sample ------------------------------------------------------------------------------------

# about the words of a command, files, or a point; or of texts of many thousand characters
NOT_OF_A_TEXT = {
    *("mistake", "not-a-number", "unknown-node", "undefined", "unreadable-expectation", "too-large-for-this-machine"),
    *("unknown-option", "option-value", "given-twice", "two-readings", "word-missing", "nothing-given", "extra-word"),
    *("unknown-command", "cannot-read", "cannot-write", "nothing-to-learn", "unknown-operation", "terms-without-size"),
    *("one-at-a-time", "not-an-input", "number-too-long", "too-long", "not-a-trace", "unknown-format", "one-direction"),
    *("order-out-of-range", "order-unlike-names", "too-many-derivatives", "arrays-in-formulas"),
    *("output-not-a-number", "too-large-to-open", "nothing-to-open"),
    *("too-much-work", "no-variable", "unreadable-direction", "unreadable-claim", "unknown-in-claim"),
    "apart",
    *("unknown-kind", "kind-argument", "extra-missing", "not-exact", "too-large-for-kind"),
    *("interval-for-number", "empty-interval", "endless-interval", "not-proven", "no-such-element"),
    *("not-real", "unreadable-array", "empty-array", "no-word", "no-engine", "not-elementwise", "one-column"),
    *("missing-column", "bound-column", "column-twice", "column-type", "column-changes", "table-cell", "ragged-row"),
    *("bad-record", "row-undefined", "no-column", "slope-of-array"),
    *("cluster-unreachable", "cluster-differs", "cluster-lost", "worker-lost", "part-missing", "folder-taken"),
    *("cannot-resume", "other-columns", "no-terminal", "page-on-terminal", "no-such-path"),
    *("binary-output", "too-large-to-draw", "too-many-pixels"),
}


def test_every_mistake_of_a_text_has_a_sample() -> None:
    codes = {one.code for _, one in inspect.getmembers(mistakes, inspect.isclass) if issubclass(one, Mistake)}
    assert codes - NOT_OF_A_TEXT == {path.stem for path in SAMPLES}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_sample_makes_its_mistake_and_says_so_in_its_last_line(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.endswith(f"\n# expect mistake {path.stem}\n")
    assert refusal(text).code == path.stem


# -- what is said where a reader could have meant something else -----------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x!!", ["x!! was read as (x!)!"]),
        ("7 % 2x", ["7 % 2x was read as (7%2)*x"]),
        ("x + e^x(y + 1)", ["e^x(y + 1) was read as (e^x)*(y + 1)"]),
        ("2^x√y", ["2^x√y was read as (2^x)*sqrt(y)"]),
        ("0x1F + 1", ["0x1F was read as 0*x1F"]),
        ("x\u200by", ["x\u200by was read as x*y"]),
        ("sinx + sqrt2", ["sinx was read as one name, not as sin(x)", "sqrt2 was read as one name, not as sqrt(2)"]),
        ("y = x^2; dy/dx", ["dy/dx was read as a quotient of two variables, not as a derivative"]),
        ("input sinx = 2; sinx", []),
        ("cost/expo + logits", []),
        ("x²(y + 1) + 2(x) + e^x (y)", []),
        ("(x!)!", []),
        ("0*x10", []),
    ],
)
def test_a_doubtful_reading_is_told(text: str, said: list[str]) -> None:
    tree = parse(text)
    assert [told for _, told in misgivings(tree, build(tree))] == said


def test_a_name_that_was_given_a_value_is_no_doubtful_reading() -> None:
    tree = parse("sinx")
    assert not list(misgivings(tree, build(tree), ("sinx",)))


def test_a_number_below_the_smallest_double_is_told() -> None:
    import backprop

    told = backprop.trace("x*1e-400", {"x": 2}, check=False).notes
    assert [note.code for note in told] == ["underflow"]
    assert not backprop.trace("x*1e-300 + 0.0e-400", {"x": 2}, check=False).notes


# -- names -----------------------------------------------------------------------------------------------------------


def test_words_of_other_languages_are_names_where_they_are_given_values() -> None:
    assert at("return x + lambda y", {"return": 2, "x": 3, "lambda": 5, "y": 7}).value() == 41


def test_a_given_name_of_another_script_may_stand_before_a_bracket() -> None:
    assert at("λ(y + x₂(2))", {"λ": 2, "y": 3, "x2": 4}).value() == 22
    assert at("x2 + x₂  # x2", {"x2": 1, "x₂": 10}).value() == 11
    assert at("x₂  # not x2", {"x2": 1}).value() == 1


@pytest.mark.parametrize(
    ("default", "value"), [("1/3", 1 / 3), ("-½", -0.5), ("--2", 2.0), ("pi/2", math.pi / 2), ("-1/e", -1 / math.e)]
)
def test_a_default_is_one_number(default: str, value: float) -> None:
    assert at(f"input x = {default}; x", {}).value() == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("default", ["1/0", "1/0e5", "inf/inf", "3/1e-400", "1/2/3", "2^3", "2a"])
def test_a_default_that_is_no_number_is_refused(default: str) -> None:
    assert refusal(f"input x = {default}; x").code == "default-not-a-number"


def test_a_default_is_no_constant_whose_name_means_something_else() -> None:
    assert refusal("e = 3; input x = e; x").code == "default-not-a-number"
    with pytest.raises(Mistake, match="default"):
        at("input x = e; x + e", {"e": 3})


# -- against another reader ------------------------------------------------------------------------------------------

HERE = {"x": 1.3, "y": -0.7, "z": 2.2, "αβ": 0.4}
PYTHON = {
    "x": 1.3,
    "y": -0.7,
    "z": 2.2,
    "ab": 0.4,
    "pi": math.pi,
    "abs": abs,
    "max": max,
    "tanh": math.tanh,
    "sqrt": math.sqrt,
}


class Writer:
    """Random expressions, each written twice: in our language and in Python, whose own parser then judges ours."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def one(self, *choices: tuple[str, str]) -> tuple[str, str]:
        return self.random.choice(choices)

    def atom(self, depth: int) -> tuple[str, str]:
        way = self.random.random()
        if depth <= 0 or way < 0.4:
            return self.one(
                *(("x", "x"), ("y", "y"), ("z", "z"), ("αβ", "ab"), ("2", "2"), (".5", ".5"), ("½", "(1/2)")),
                *(("1¾", "(7/4)"), ("π", "pi"), ("3.", "3."), ("2e-1", "2e-1")),
            )
        ours, python = self.sum(depth - 1)
        if way < 0.6:
            return f"({ours})", f"({python})"
        if way < 0.7:
            return f"|{ours}|", f"abs({python})"
        if way < 0.8:
            return f"tanh({ours})", f"tanh({python})"
        other = self.sum(depth - 1)
        if way < 0.9:
            return f"max({ours}, {other[0]})", f"max({python}, {other[1]})"
        left, right, sign = self.sum(0), self.sum(0), self.one(("<", "<"), ("≤", "<="), (" != ", "!="), ("≥", ">="))
        condition = f"{left[1]}{sign[1]}{right[1]}"
        return (
            f"({ours} if not {left[0]}{sign[0]}{right[0]} else {other[0]})",
            f"({python} if not {condition} else {other[1]})",
        )

    def power(self, depth: int) -> tuple[str, str]:
        ours, python = self.atom(depth)
        way = self.random.random()
        if way < 0.1:
            ours, python = f"√{ours}", f"sqrt({python})"
        elif way < 0.25:
            raised = self.one(("²", "2"), ("⁻¹", "-1"), ("³", "3"))
            ours, python = ours + raised[0], f"(({python})**({raised[1]}))"
        if self.random.random() < 0.2:
            sign = self.one(("^", "**"), ("^-", "**-"), ("**", "**"), ("^−", "**-"))
            exponent = self.power(depth - 1)
            return f"{ours}{sign[0]}{exponent[0]}", f"({python}){sign[1]}{exponent[1]}"
        return ours, python

    def product(self, depth: int) -> tuple[str, str]:
        sign = self.one(("", ""), ("", ""), ("-", "-"), ("−", "-"), ("+", "+"))
        power = self.power(depth)
        ours, python = sign[0] + power[0], sign[1] + power[1]
        for _ in range(self.random.choice((0, 0, 1, 2))):
            sign = self.one(("*", "*"), ("·", "*"), ("/", "/"), ("÷", "/"), ("%", "%"), ("*-", "*-"), (" ", "*"))
            power = self.power(depth)
            if sign[0] == " " and not (power[0][0] in "(√" or power[0][0].isalpha()):
                sign = ("×", "*")
            ours, python = ours + sign[0] + power[0], python + sign[1] + power[1]
        return ours, python

    def sum(self, depth: int) -> tuple[str, str]:
        ours, python = self.product(depth)
        for _ in range(self.random.choice((0, 0, 1, 2))):
            sign = self.one(("+", "+"), (" - ", "-"), ("−", "-"))
            product = self.product(depth)
            ours, python = ours + sign[0] + product[0], python + sign[1] + product[1]
        return ours, python


def test_values_are_those_of_pythons_own_reading() -> None:
    compared = 0
    for seed in range(1500):
        ours, python = Writer(seed).sum(2)
        try:
            expected = eval(python, dict(PYTHON))
        except (ArithmeticError, ValueError, TypeError):
            continue
        # a remainder of a large number has no digits left to compare
        if isinstance(expected, complex) or not abs(expected) < 1e6 or "%" in ours:
            continue
        for text in (ours, canonical(parse(ours, HERE)), canonical(parse(ours, HERE), full=True)):
            value = at(text, HERE).value()
            if isinstance(value, float):
                assert value == pytest.approx(expected, rel=1e-9, abs=1e-9), text
                compared += 1
    assert compared > 900


@pytest.mark.parametrize(("text", "value"), [("-7 % 3", 2.0), ("7 % 4*2", 6.0), ("2*7 % 4", 2.0), ("7 % -4", -1.0)])
def test_a_remainder_binds_like_a_product(text: str, value: float) -> None:
    assert at(text, {}).value() == value


# -- sizes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"x{i} + (" for i in range(20_000)) + "1" + ")" * 20_000,
        "".join(f"x{i}(1 + " for i in range(10_000)) + "1" + ")" * 10_000 + "".join(f" + x{i}" for i in range(10_000)),
        f"f({', '.join(f'p{i}' for i in range(20_000))}) = p0; 1",
        "# a remark\n" * 50_000 + "x",
        "x" * 1_000_000 + " + 1",
        " + ".join(f"d{i}a/d{i}b" for i in range(10_000)),
    ],
    ids=["nested names", "nested factors", "parameters", "remarks", "one name", "quotients"],
)
def test_reading_and_building_take_linear_time(text: str) -> None:
    begin = time.perf_counter()
    tree = parse(text)
    list(misgivings(tree, build(tree)))
    canonical(tree)
    assert time.perf_counter() - begin < 10  # a second and a half; minutes when every name walks the text

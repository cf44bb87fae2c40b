"""Kind certified: what is proven holds the truth, and what is not proven is not called a number, nor undefined."""

from __future__ import annotations

import builtins
import math
import random
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import backprop
from backprop import figures, kinds, mistakes, ops, rules
from backprop.balls.ball import UNDECIDED, Ball, Undecided, working
from backprop.balls.certificates import doubles
from backprop.balls.enclosures import FIRST_BITS, Certified
from backprop.kinds import Hole
from backprop.kinds.digits import Digits
from backprop.point import Point, Program, at
from backprop.record import Trace
from backprop.witnesses import certified as witness
from command import call
from programs import NAMES, points, programs
from test_cases import CASES
from test_ops_table import by_difference

MANY = Digits(100)
ROWS = ops.elementwise()
SMOOTH = [row for row in ROWS if not row.gives_condition]
# Digits works with exponents up to 2^60: what is smaller counts as 0 there, and Arb goes on
VANISHED = arb(10) ** -(10**17)


def certified(bits: int = FIRST_BITS, intervals: bool = False) -> Certified:
    kind = Certified(bits)
    kind.given_intervals = intervals
    return kind


def balls(operands: tuple[Any, ...]) -> list[Any]:
    return [x if isinstance(x, bool) else Ball.of(x) for x in operands]


def exactly(operands: tuple[Any, ...]) -> list[Any]:
    return [x if isinstance(x, bool) else MANY.from_double(x) for x in operands]


def moving(operands: tuple[Any, ...]) -> tuple[bool, ...]:
    return tuple(not isinstance(x, bool) for x in operands)


def holds(ball: Ball, truth: Any, digits: int = 98) -> bool:
    """Whether a number known to so many digits may lie in a ball."""
    with working(2000):
        number = Ball.of_mpf(MANY.context.convert(truth))
        slack = abs(number.lo) * arb(10) ** -digits
        if truth == 0 and min(abs(ball.lo), abs(ball.hi)) < VANISHED:
            return True
        return bool(ball.lo <= number.hi + slack) and bool(number.lo - slack <= ball.hi)


def holds_but_for_cancellation(ball: Ball, number: Any) -> bool:
    """Whether a number of fifty digits, of which cancellation may have cost some, may lie in a ball."""
    return holds(ball, number, 45) or bool(abs(number - float(ball)) <= MANY.number("1e-30") + abs(number) * 1e-20)


def is_unproven(value: Any) -> bool:
    return isinstance(value, Hole) and value.code == "unproven"


def number(draw: random.Random) -> float:
    """Ordinary, whole, nearly whole, tiny, huge, and the places where functions turn."""
    sign = draw.choice((1, -1))
    which = draw.random()
    if which < 0.35:
        return draw.uniform(-5, 5)
    if which < 0.5:
        return float(draw.randint(-8, 8))
    if which < 0.6:
        return draw.randint(-8, 8) + sign * 10.0 ** draw.uniform(-15, -1)
    if which < 0.7:
        return sign * 10.0 ** draw.uniform(-300, -5)
    if which < 0.8:
        return sign * 10.0 ** draw.uniform(1, 300)
    if which < 0.9:
        return sign * 10.0 ** draw.uniform(0, 4)
    return draw.choice((0.5, -0.5, 1.5, 2.5, math.pi, math.pi / 2, -math.pi, 1e-9, 0.1, -0.1, 0.0, 1.0, -1.0))


def drawn(row: ops.Row, draw: random.Random) -> tuple[Any, ...]:
    arity = draw.randint(1, 4) if row.variadic else len(row.parameters)
    operands: list[Any] = []
    for place in range(arity):
        if place in row.conditions:
            operands.append(draw.random() < 0.5)
        elif row.name == "polygamma" and place == 0:
            operands.append(float(draw.randint(0, 4)))
        else:
            operands.append(number(draw))
    if arity > 1 and not row.conditions and row.name != "polygamma" and draw.random() < 0.1:
        operands[-1] = operands[0]  # a tie
    return tuple(operands)


def check_row(row: ops.Row, operands: tuple[Any, ...]) -> None:
    """Value and every partial of a row hold the truth; what has no value has none in balls."""
    try:
        truth = MANY.apply(row, exactly(operands))
    except (ValueError, ZeroDivisionError):
        with pytest.raises((ValueError, ZeroDivisionError)):
            certified(8192).apply(row, balls(operands))
        with pytest.raises((ValueError, ZeroDivisionError, Undecided)):
            certified().apply(row, balls(operands))
        return
    except OverflowError:
        return
    for bits in (FIRST_BITS, 1024, 8192):  # what few bits cannot decide many may
        kind = certified(bits)
        try:
            found = kind.apply(row, balls(operands))
        except Undecided:
            continue
        except OverflowError:
            assert MANY.context.mag(truth) > 3.3e17  # of 10^17 places
            return
        slopes = [
            None if rule is None else rules.slope_at(rule, kind, balls(operands), found, 0, place)
            for place, rule in enumerate(rules.rules(row.code, moving(operands)))
        ]
        if not any(map(is_unproven, slopes)):
            break
    if isinstance(truth, bool):
        assert found is truth
        return
    assert holds(found, truth), (row.name, operands)
    for place, slope in enumerate(slopes):
        if slope is None:
            continue
        rule = rules.rules(row.code, moving(operands))[place]
        assert rule is not None
        exact = rule.evaluate(MANY, exactly(operands), truth)
        if isinstance(exact, Hole):
            assert is_unproven(slope), (row.name, operands, place)
        elif not isinstance(slope, Hole):
            assert holds(slope, exact), (row.name, operands, place)
        elif slope.code == "overflow":
            assert MANY.context.mag(exact) > 3.3e17
        else:
            # only where a corner has slopes of every direction is a number of the rules not proven
            assert kind.is_kink(row, balls(operands), found), (row.name, operands, place)


# -- every row of the table


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_holds_the_truth_at_its_samples_and_edges(row: ops.Row) -> None:
    for operands in row.samples + row.edges:
        check_row(row, operands)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_holds_the_truth_at_random_points(row: ops.Row) -> None:
    draw = random.Random(row.name)
    for _ in range(30):
        check_row(row, drawn(row, draw))


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_holds_the_truth_at_a_thousand_random_points(row: ops.Row) -> None:
    draw = random.Random(f"{row.name} again")
    for _ in range(1000):
        check_row(row, drawn(row, draw))


@pytest.mark.parametrize("row", SMOOTH, ids=lambda row: row.name)
def test_a_partial_holds_the_difference_quotient(row: ops.Row) -> None:
    kind = certified()
    for operands in row.samples:
        found = kind.apply(row, balls(operands))
        for place, rule in enumerate(rules.rules(row.code, moving(operands))):
            if rule is None or (row.name == "pow" and place == 1 and operands[0] < 0):
                continue
            slope = rules.slope_at(rule, kind, balls(operands), found, 0, place)
            assert slope.digits() >= 17
            assert holds(slope, by_difference(row, operands, place), 40), (operands, place)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_samples_prove_more_digits_than_a_double_has(row: ops.Row) -> None:
    for operands in row.samples:
        found = certified().apply(row, balls(operands))
        assert isinstance(found, bool) or found.digits() >= 30


def boxes(row: ops.Row, draw: random.Random) -> tuple[list[Any], list[tuple[Any, Any]]]:
    ends: list[tuple[Any, Any]] = []
    for place, x in enumerate(drawn(row, draw)):
        fixed = isinstance(x, bool) or (row.name == "polygamma" and place == 0)
        ends.append((x, x if fixed else x + draw.choice((0, 1e-6, 0.01, 0.5, 3, abs(x) / 10, 2 * abs(x)))))
    return [low if isinstance(low, bool) else Ball.between(low, high) for low, high in ends], ends


def check_box(row: ops.Row, draw: random.Random) -> None:
    """What comes of intervals holds what comes of every point in them."""
    kind = certified(intervals=True)
    box, ends = boxes(row, draw)
    outside = False
    try:
        found = kind.apply(row, box)
    except (ValueError, ZeroDivisionError):
        outside = True
    except (Undecided, OverflowError):
        return
    slopes = [] if outside else [
        None if rule is None else rules.slope_at(rule, kind, box, found, 0, place)
        for place, rule in enumerate(rules.rules(row.code, moving(tuple(low for low, _ in ends))))
    ]  # fmt: skip
    for turn in range(10):
        point = tuple(
            low if isinstance(low, bool) else (low, high)[turn] if turn < 2
            else min(max(low + (high - low) * draw.random(), low), high)
            for low, high in ends
        )  # fmt: skip
        try:
            truth = MANY.apply(row, exactly(point))
        except (ValueError, ZeroDivisionError):
            assert outside, (row.name, ends, point)
            continue
        except OverflowError:
            continue
        assert not outside, (row.name, ends, point)
        assert holds(found, truth), (row.name, ends, point)
        for place, slope in enumerate(slopes):
            rule = rules.rules(row.code, moving(point))[place]
            exact = None if rule is None else rule.evaluate(MANY, exactly(point), truth)
            if isinstance(slope, Ball) and not isinstance(exact, Hole):
                assert holds(slope, exact), (row.name, ends, point, place)


@pytest.mark.parametrize("row", SMOOTH, ids=lambda row: row.name)
def test_intervals_hold_every_point_in_them(row: ops.Row) -> None:
    draw = random.Random(f"{row.name} intervals")
    for _ in range(5):
        check_box(row, draw)


@pytest.mark.slow
@pytest.mark.parametrize("row", SMOOTH, ids=lambda row: row.name)
def test_many_intervals_hold_every_point_in_them(row: ops.Row) -> None:
    draw = random.Random(f"{row.name} many intervals")
    for _ in range(100):
        check_box(row, draw)


# -- whole programs


def proven(program: str, wrt: list[str] | None = None, **inputs: Any) -> Point:
    return at(program, inputs, wrt, kinds.by_name("certified"))


def ends(ball: Ball) -> tuple[float, float]:
    return float(ball.lo), float(ball.hi)


@settings(max_examples=120, deadline=None)
@given(programs(), points)
@example("cos(atan2(1 + x^2, x))", {"x": 0.0})  # a true 0, which fifty digits miss by their last one
def test_doubles_many_digits_and_balls_agree(program: str, point: dict[str, float]) -> None:
    texts = {name: repr(number) for name, number in point.items()}
    read = Program(program)
    fifty = read.at(texts, kind=Digits(50))
    assume(not isinstance(fifty.value(), Hole) and abs(fifty.value()) < MANY.number("1e100"))
    here = read.at(texts, kind=Certified())
    assert holds_but_for_cancellation(here.value(), fifty.value())
    doubles_here = read.at(point)
    trusted = doubles_here.accuracy()
    for name, slope in fifty.by_rules().items():
        ball = here.gradient()[name]
        if isinstance(ball, Hole):
            assert is_unproven(ball)
            continue
        assert holds_but_for_cancellation(ball, slope)
        if trusted is not None and not trusted.doubted and ball.digits() > 17:
            assert doubles_here.gradient()[name] == pytest.approx(float(ball), rel=1e-9, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(programs(3), points, st.sampled_from([0.001, 0.1, 1.0]), st.randoms(use_true_random=False))
def test_intervals_of_a_program_hold_every_point_in_them(
    program: str, point: dict[str, float], width: float, draw: random.Random
) -> None:
    read = Program(program)
    spans = {name: (number, round(number + width, 6)) for name, number in point.items()}
    kind = Certified()
    here = read.at({name: f"{low!r}..{high!r}" for name, (low, high) in spans.items()}, kind=kind)
    if not isinstance(here.answer(), Ball):
        assert is_unproven(here.answer())
        return
    for _ in range(6):
        inside = {name: draw.uniform(low, high) for name, (low, high) in spans.items()}
        exact = read.at({name: repr(number) for name, number in inside.items()}, kind=Digits(40))
        if isinstance(exact.value(), Hole) or abs(exact.value()) > MANY.number("1e60"):
            continue
        assert holds(here.answer(), exact.value(), 35)
        for name in NAMES:
            slope, ball = exact.by_rules()[name], here.gradient()[name]
            if isinstance(ball, Ball) and not isinstance(slope, Hole):
                assert holds(ball, slope, 20) or abs(slope) < MANY.number("1e-25")


@pytest.mark.parametrize(
    ("program", "x", "low", "high"),
    [
        ("sin(x)", "0..3", 0.0, 1.0),
        ("sin(x)", "1..8", -1.0, 1.0),
        ("cos(x)", "-1..1", math.cos(1), 1.0),
        ("x^2", "-1..2", 0.0, 4.0),
        ("x*x", "-1..2", 0.0, 4.0),
        ("x - x", "-1..2", 0.0, 0.0),
        ("x/x", "1..2", 1.0, 1.0),
        ("x^3", "-1..2", -1.0, 8.0),
        ("abs(x)", "-1..2", 0.0, 2.0),
        ("relu(x)", "-1..2", 0.0, 2.0),
        ("max(x, 0.5)", "-1..2", 0.5, 2.0),
        ("exp(x)", "-10..10", math.exp(-10), math.exp(10)),
        ("tanh(x)", "-3..4", math.tanh(-3), math.tanh(4)),
        ("sigmoid(x)", "-30..40", 1 / (1 + math.exp(30)), 1.0),
        ("x*(1 - x)", "0.2..0.4", 0.16, 0.24),
        ("x*(1 - x)", "0..1", 0.0, 0.25),
        ("x^2 - 2*x", "0..3", -1.0, 3.0),
        ("silu(x)", "-5..1", -0.2784645427610738, 1 / (1 + math.exp(-1))),
        ("gamma(x)", "1..3", 0.8856031944108887, 2.0),
        ("floor(x)", "0.5..2.5", 0.0, 2.0),
        ("where(x > 0, 1, 2)", "-1..1", 1.0, 2.0),
    ],
)
def test_an_enclosure_is_as_narrow_as_the_range(program: str, x: str, low: float, high: float) -> None:
    found = proven(program, x=x).answer()
    assert ends(found) == pytest.approx((low, high), rel=1e-14, abs=1e-14)
    assert found.lo <= low + 1e-15 * max(1, abs(low))
    assert found.hi >= high - 1e-15 * max(1, abs(high))


def test_bounds_that_are_reached_are_reached_exactly() -> None:
    assert ends(proven("sin(x)", x="0..3").answer()) == (0.0, 1.0)
    assert ends(proven("x^2", x="-1..2").answer()) == (0.0, 4.0)
    assert ends(proven("x*x", x="-1..2").answer()) == (0.0, 4.0)


@pytest.mark.parametrize(
    ("program", "x", "low", "high"),
    [
        ("sigmoid(x)", "-3..3", 0.045176659730912, 0.25),
        ("tanh(x)", "-1..2", 1 - math.tanh(2) ** 2, 1.0),
        ("x^2", "-1..2", -2.0, 4.0),
        ("abs(x)", "-1..2", -1.0, 1.0),
        ("abs(x)", "1..2", 1.0, 1.0),
        ("sign(x)", "1..2", 0.0, 0.0),
        ("max(x, 1)", "0..2", 0.0, 1.0),
        ("where(x > 0, 3*x, 5*x)", "-1..1", 3.0, 5.0),
    ],
)
def test_slopes_over_an_interval(program: str, x: str, low: float, high: float) -> None:
    found = proven(program, x=x).gradient()["x"]
    if program.startswith("where"):  # the hull of both branches, each taken or not
        assert found.lo <= low
        assert found.hi >= high
    else:
        assert ends(found) == pytest.approx((low, high), rel=1e-12, abs=1e-14)


def test_two_inputs_with_the_same_interval_are_two_numbers() -> None:
    assert ends(proven("x - y", x="0..1", y="0..1").answer()) == (-1.0, 1.0)


def test_the_same_text_is_the_same_number() -> None:
    assert proven("x - 0.1", x="0.1").value().holds(0)
    assert proven("x - 0.1", x="0.1").value().exact


def test_a_literal_is_the_number_typed() -> None:
    tenth = Certified().number("0.1")
    with working(1000):
        assert tenth.lo * 10 < 1 < tenth.hi * 10
    assert not tenth.holds(0.1)  # the double
    assert Certified().record(tenth) == {"mid": "0.1", "rad": "0"}
    assert Certified().number("1/4").exact
    with pytest.raises(ValueError, match="no number"):
        Certified().number("x")
    with pytest.raises(OverflowError):
        Certified().number("1e99999999999")


# -- what is not decided


def test_a_branch_is_never_taken_silently() -> None:
    x, y = Ball.between(0, 2), Ball.between(1, 3)
    for truth in (x < y, x <= y, x > y, x >= y, x == y, x != y):
        assert truth is UNDECIDED
        with pytest.raises(Undecided):
            bool(truth)
    assert (x < 3, x > 2, x <= 2, x == 5, x != 5) == (True, False, True, False, True)
    with pytest.raises(TypeError):
        bool(x)
    kind = Certified()
    assert kind.choose(x < y) is None
    assert kind.both(UNDECIDED, False) is False
    assert kind.either(UNDECIDED, True) is True
    assert kind.either(UNDECIDED, False) is UNDECIDED


@pytest.mark.parametrize(
    ("program", "inputs"),
    [
        ("log(sqrt(x)^2 - y)", {"x": "2", "y": "2"}),
        ("1/(sqrt(x)^2 - y)", {"x": "2", "y": "2"}),
        ("sqrt(x)", {"x": "-1..1"}),
        ("log(x)", {"x": "0..1"}),
        ("asin(x)", {"x": "0..2"}),
        ("atanh(x)", {"x": "-2..2"}),
        ("asec(x)", {"x": "-2..2"}),
        ("gamma(x)", {"x": "-1..1"}),
        ("tan(x)", {"x": "1..2"}),
        ("atan2(x, x)", {"x": "-1..1"}),
        ("where(sqrt(x)^2 > y, 1, log(-2))", {"x": "2", "y": "2"}),
    ],
)
def test_what_a_ball_cannot_decide_is_not_called_undefined(program: str, inputs: dict[str, str]) -> None:
    trace = backprop.trace(program, inputs, kind="certified", check=False)
    assert trace.value is None
    assert not trace.node(trace.output).proven
    assert trace.notes[0].code == "not-proven"
    assert "undefined" not in {note.code for note in trace.notes}
    assert trace.exit_code == 3
    with pytest.raises(mistakes.NotProven, match="may have no value") as mistake:
        backprop.grad(program, inputs, kind="certified")
    assert mistake.value.exit_code == 3


@pytest.mark.parametrize(
    ("program", "x"), [("log(x)", "-1"), ("log(x)", "-2..-1"), ("1/x", "0"), ("sqrt(x)", "-2..-1"), ("gamma(x)", "-2"),
                       ("asin(x)", "2..3"), ("acosh(x)", "0..0.5"), ("x^0.5", "-2..-1")]
)  # fmt: skip
def test_what_certainly_has_no_value_is_undefined(program: str, x: str) -> None:
    with pytest.raises(mistakes.Undefined, match="has no real value"):
        backprop.grad(program, {"x": x}, kind="certified")


def test_more_bits_are_taken_until_enough_is_proven() -> None:
    here = proven("(1/sqrt(1 - v^2/c^2) - 1)*m*c^2", v="30", c="299792458", m="1000")
    assert isinstance(here.kind, Certified)
    assert here.kind.bits > FIRST_BITS
    assert here.gradient()["c"].digits() >= 20
    assert float(here.gradient()["c"]) == pytest.approx(-2.2546761635097053e-17, rel=1e-15)
    assert proven("sin(x)", x="1e30").value().digits() >= 20


def test_a_zero_that_is_not_seen_to_be_one_says_where_the_digits_went() -> None:
    trace = backprop.trace("2*sin(pi*x)", {"x": 1}, kind="certified", check=False)
    (note,) = [note for note in trace.notes if note.code == "wide"]
    assert note.node == "v2"
    assert "bits" in note.text
    assert figures.figure(trace.value).startswith("0 ± ")


def test_a_limit_on_the_bits_is_kept() -> None:
    with pytest.raises(mistakes.KindArgument):
        kinds.by_name("certified", 10)
    with pytest.raises(mistakes.KindArgument):
        kinds.by_name("certified:200")
    for limit in (64, 300):
        here = at("sin(pi*x)", {"x": 1}, kind=kinds.by_name("certified", limit))
        assert isinstance(here.kind, Certified)
        assert here.kind.bits <= limit


def test_at_a_kink_the_slopes_of_both_sides_are_enclosed() -> None:
    assert ends(proven("abs(x)", x=0).gradient()["x"]) == (-1.0, 1.0)
    assert ends(proven("max(a, b)", a=1, b=1).gradient()["a"]) == (0.0, 1.0)
    # conventions do not add up: the truth is 1, and it is inside
    low, high = ends(proven("relu(x) - relu(-x)", x=0).gradient()["x"])
    assert low <= 1 <= high
    codes = [note.code for note in backprop.trace("abs(x)", {"x": "-1..1"}, kind="certified").notes]
    assert "kink-inside" in codes
    assert "both-branches" in [
        note.code for note in backprop.trace("where(x > 0, x, 2*x)", {"x": "-1..1"}, kind="certified").notes
    ]


@pytest.mark.parametrize(
    ("program", "low", "high"),
    [
        ("where(x == 0, 5*x, x)", 1.0, 5.0),  # the truth is 1: the branch taken is that of one point
        ("where(x >= 0, x^2, 0) + x", 1.0, 1.0),
        ("where(x > 0, x, 2*x)", 1.0, 2.0),
        ("where(x + 0.1 + 0.2 > 0.3, x, 2*x)", 1.0, 2.0),
    ],
)
def test_at_the_boundary_of_a_condition_both_branches_count(program: str, low: float, high: float) -> None:
    assert ends(proven(program, x=0).gradient()["x"]) == pytest.approx((low, high), abs=1e-30)


@pytest.mark.parametrize("program", ["where(x == 0, 1, sin(x)/x)", "where(x > 0, x + 1, x)"])
def test_a_slope_at_a_boundary_is_not_proven_by_one_branch(program: str) -> None:
    trace = backprop.trace(program, {"x": 0}, kind="certified", check=False)
    assert trace.gradient == {}
    (note,) = [note for note in trace.notes if note.code == "not-proven"]
    assert "is at its boundary" in note.text


def test_a_slope_in_what_no_condition_depends_on_is_that_of_the_branch() -> None:
    assert ends(proven("where(y > 0, x, 2*x)", x=1, y=0, wrt=["x"]).gradient()["x"]) == (2.0, 2.0)


@pytest.mark.parametrize(
    ("program", "point"),
    [
        ("sqrt(x^4)", {"x": 0}),  # the truth is 0, but the rules meet 0·inf
        ("sqrt(x)", {"x": 0}),
        ("floor(x)", {"x": 2}),
        ("sign(x)", {"x": 0}),
        ("x % 3", {"x": 6}),
        ("atan2(x, -1)", {"x": 0}),
        ("hypot(x, 0*x)", {"x": 0}),
    ],
)
def test_a_slope_of_which_the_rules_prove_nothing_is_not_called_undefined(program: str, point: dict[str, int]) -> None:
    trace = backprop.trace(program, point, kind="certified", check=False)
    assert trace.gradient == {}
    assert {note.code for note in trace.notes} & {"not-proven", "undefined"} == {"not-proven"}
    assert trace.exit_code == 3


def test_the_working_precision_is_left_as_it_was() -> None:
    before = ctx.prec
    try:
        ctx.prec = 77
        proven("sin(x) + gamma(x)*x^x", x="0.5..2").gradient()
        proven("log(x - y)", x="0.1", y="1/10").gradient()
        backprop.trace("x^2 - sin(pi*x)", {"x": 1}, kind="certified")
        assert ctx.prec == 77
    finally:
        ctx.prec = before


def flat(truth: Any) -> list[Any]:
    """The numbers of an expected array, row by row."""
    return [one for row in truth for one in flat(row)] if isinstance(truth, list) else [truth]


def exactly_these(value: Any) -> Any:
    """Inputs as the very doubles to which the answers of a case belong; 0.1 as text would be a tenth."""
    if isinstance(value, dict):
        return {name: exactly_these(one) for name, one in value.items()}
    if isinstance(value, list):
        return [exactly_these(one) for one in value]
    return Fraction(value) if isinstance(value, float) and math.isfinite(value) else value


# the stored slope, 0, is that of doubles: the true one is -f/2 = -4.9e-305
WRONGLY_STORED = {"br-stanli-root-of-underflow"}


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case["id"] not in WRONGLY_STORED and "any_of" not in case["expect"]],
    ids=lambda case: case["id"],
)
def test_the_known_answer_of_a_case_lies_in_what_is_proven(case: dict[str, Any]) -> None:
    here = at(case["program"], exactly_these(case["inputs"]), kind=kinds.by_name("certified"))
    expect, allowed = case["expect"], case["tolerance"]
    known = {None: expect["value"]} if "value" in expect else {}
    known |= expect.get("grad", {})
    for name, truth in known.items():
        found = here.answer() if name is None else here.gradient()[name]
        for ball, told in zip(here.kind.elements(found), flat(truth), strict=True):
            if isinstance(ball, Hole):
                continue  # nothing is claimed
            sides = told.values() if isinstance(told, dict) else [told]
            assert "undefined" not in sides or isinstance(told, dict)
            for side in (float(side) for side in sides if side != "undefined"):
                slack = allowed["abs"] + allowed["rel"] * abs(side)
                assert float(ball.lo) - slack <= side <= float(ball.hi) + slack, (name, ball, told)


# -- text


@given(st.integers(-(10**40), 10**40), st.integers(0, 10**30), st.integers(-400, 400), st.integers(2, 300))
def test_the_decimals_of_a_ball_hold_all_of_it(middle: int, radius: int, exponent: int, bits: int) -> None:
    with working(bits):
        scale = arb(2) ** exponent
        ball = Ball.between((arb(middle) - radius) * scale, (arb(middle) + radius) * scale)
    mid, rad = ball.decimals()
    with working(3000):
        m, r = (fmpq_of(text) for text in (mid, rad))
        assert arb(m - r) <= ball.lo or arb(m - r).overlaps(ball.lo)
        assert arb(m + r) >= ball.hi or arb(m + r).overlaps(ball.hi)
        # and hardly more
        assert float(rad) <= 1.1 * float(ball.hi - ball.lo) + 1e-19 * abs(float(ball))


def fmpq_of(text: str) -> fmpq:
    from fractions import Fraction

    number = Fraction(text)
    return fmpq(number.numerator, number.denominator)


def test_a_ball_is_written_with_no_more_digits_than_are_proven() -> None:
    record = Certified().record(proven("x^2/3", x="0.1").value())
    assert record["mid"].startswith("0.00333333333333333333")
    assert figures.enclosed(record["mid"], record["rad"], 60) == "0." + "00" + "3" * (len(record["mid"]) - 5)
    assert figures.enclosed("0.5", "1.5", 6) == "[-1, 2]"
    assert figures.enclosed("0.3", "0.1000000000001", 6) == "[0.199999, 0.400001]"
    assert figures.enclosed("1", "1e-30", 6) == "1"


@pytest.mark.parametrize("x", ["0.1", "1/3", "0.2..0.4"])
def test_a_saved_trace_of_balls_stands_for_its_program_at_its_point(x: str) -> None:
    _, saved, _ = call("trace", "x^2", "--x", x, "--kind", "certified", "--format", "json")
    code, out, _ = call("grad", "-", "--kind", "certified", stdin=saved)
    assert (code, out) == call("grad", "x^2", "--x", x, "--kind", "certified")[:2]


def test_a_trace_of_balls_survives_the_way_through_json() -> None:
    from jsonschema import validate

    from backprop.schema import schema

    for inputs in ({"x": "0.1"}, {"x": "0.2..0.4"}, {"x": "-1..1"}):
        trace = backprop.trace("where(x > 0, x^2, sqrt(x + 1/2)) + abs(x)", inputs, kind="certified")
        back = Trace.from_json(trace.to_json())
        assert back.to_json() == trace.to_json()
        validate(trace.to_dict(), schema())


def test_every_format_shows_a_trace_of_balls() -> None:
    for name in ("table", "json", "ndjson", "csv", "markdown", "dot", "mermaid"):
        code, out, err = call("trace", "x*exp(x) + log(x)", "--x", "0.2..0.4", "--kind", "certified", "--format", name)
        assert (code, err) == (0, "")
        assert ("0.3 ± 0.1" if name == "csv" else '{"mid": "0.3", "rad": "0.1"}' if "json" in name else "0.2") in out


# -- what it tells of doubles


def test_the_doubles_of_an_ordinary_point_are_near() -> None:
    assert doubles(proven("(x*y + z)*x", x=3, y=-1, z=2)) == (
        "the double-precision gradient is within 1 ulp of the true one (the farthest is ∂f/∂x)"
    )


def test_doubles_that_are_far_off_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Point, "accuracy", lambda self: None)
    # ((1 + x) - 1)·1e20 at x = 1e-20: doubles lose x altogether
    text = doubles(proven("((1 + x) - 1)^2*1e40", x="1e-20"))
    assert text == "the double-precision gradient has 0 for ∂f/∂x, which is 2e+20"


def test_a_number_beyond_doubles_is_told() -> None:
    text = doubles(proven("x/1e390", x="1e400"))
    assert text.startswith("double precision has no gradient here: x is 1e400")


# -- intervals as inputs


@pytest.mark.parametrize("command", ["trace", "grad", "paths"])
def test_an_interval_needs_a_kind_that_encloses(command: str) -> None:
    code, _, err = call(command, "x^2", "--x", "0.2..0.4")
    assert code == 2
    assert "Add --kind certified" in err


@pytest.mark.parametrize(
    ("text", "read"),
    [("0.2..0.4", (0.2, 0.4)), ("-1..2", (-1.0, 2.0)), ("0,5..1,5", (0.5, 1.5)), ("−1..½", (-1.0, 0.5)),
     ("1/4..3/4", (0.25, 0.75)), ("0..pi", (0.0, math.pi))],
)  # fmt: skip
def test_an_interval_is_read_as_it_is_typed(text: str, read: tuple[float, float]) -> None:
    assert ends(proven("x", x=text).value()) == pytest.approx(read)


def test_an_interval_may_stand_in_a_file(tmp_path: Any) -> None:
    file = tmp_path / "point.json"
    file.write_text('{"x": "0.25..0.5"}')
    code, out, _ = call("grad", "x^2", "--at", str(file), "--kind", "certified")
    assert (code, out.splitlines()[0]) == (0, "f     = [0.0625, 0.25]")


def test_an_interval_with_nothing_in_it_is_a_mistake() -> None:
    code, _, err = call("grad", "x^2", "--x", "0.4..0.2", "--kind", "certified")
    assert code == 2
    assert "--x 0.2..0.4" in err
    for text in ("1...2", "..2", "1..", "1..x", "1..2..3"):
        assert call("grad", "x^2", "--x", text, "--kind", "certified")[0] == 2


@pytest.mark.parametrize("command", ["trace", "grad", "paths", "hessian"])
def test_an_interval_has_two_ends(command: str) -> None:
    for text, told in (("0.2..inf", "--x 0.2..1e6"), ("-inf..2", "--x -1e6..2"), ("-inf..inf", "--x -1e6..1e6")):
        code, _, err = call(command, "x^2", "--x", text, "--kind", "certified")
        assert (code, told in err) == (2, True)
    assert "not a number" in call(command, "x^2", "--x", "nan..2", "--kind", "certified")[2]


@pytest.mark.parametrize(
    ("program", "lines"),
    [("exp(x)", ["f     = inf", "∂f/∂x = inf"]), ("x^2", ["f     = inf", "∂f/∂x = inf"]),
     ("1/x", ["f     = 0", "∂f/∂x = 0"]), ("abs(x)", ["f     = inf", "∂f/∂x = 1"])],
)  # fmt: skip
def test_an_infinite_input_is_what_it_is_of_doubles(program: str, lines: list[str]) -> None:
    for kind in ("real", "certified"):
        code, out, _ = call("grad", program, "--x", "inf", "--kind", kind)
        assert (code, out.splitlines()) == (0, lines)
    assert call("hessian", program, "--x", "inf", "--kind", "certified")[0] in (0, 3)


def test_a_ball_that_grows_without_bound_says_where_and_why() -> None:
    code, _, err = call("grad", "exp(exp(exp(x)))", "--x", "1..40", "--kind", "certified")
    assert code == 3
    assert "v2 = exp(v1) may have no value" in err
    assert "it grows beyond what can be carried" in err


def test_an_infinite_branch_of_an_undecided_condition_proves_no_bound() -> None:
    words = ("where(x > 0, inf*y, y)", "--x", "-1..1", "--y", "2", "--kind", "certified")
    assert call("grad", *words, "--wrt", "y")[:2] == (0, "f     = [2.0, inf]\n∂f/∂y = [1.0, inf]\n")
    assert call("trace", *words)[0] == 3


# -- witnesses


def test_many_digits_bear_the_balls_out() -> None:
    trace = backprop.trace("exp(-x)*sin(x*y)", {"x": "0.1", "y": "3"}, kind="certified")
    assert {witness.verdict for witness in trace.witnesses} == {"agrees"}
    assert trace.exit_code == 0


def test_a_ball_that_does_not_hold_the_truth_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Certified.exp
    monkeypatch.setattr(Certified, "exp", lambda self, x: right(self, x) * 1001 / 1000)
    trace = backprop.trace("exp(x)", {"x": "0.1"}, kind="certified")
    assert "DISAGREES" in {one.verdict for one in trace.witnesses if one.of == "x"}


def verdicts(program: str, **inputs: Any) -> dict[str, Any]:
    return {one.of: one for one in witness.testify(at(program, inputs))}


def test_a_double_near_its_proven_enclosure_agrees() -> None:
    found = verdicts("exp(-x)*sin(x*y) + x^y", x=0.1, y=3)
    assert {one.verdict for one in found.values()} == {"agrees"}
    assert all(one.digits >= 15 for one in found.values())
    assert verdicts("x*y", x=3, y=2)["x"].reason == "it is the very number"


def test_a_double_that_has_lost_its_digits_is_inaccurate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Point, "accuracy", lambda self: None)
    found = verdicts("((1 + x) - 1)^2*1e32", x=1e-12)["x"]
    assert found.verdict == "inaccurate"
    assert 3 < found.digits < 6
    assert "the true number is 2" in found.reason


def test_zero_up_to_rounding_agrees() -> None:
    found = verdicts("(x + y)^2 - x^2 - 2*x*y - y^2", x=0.1, y=0.7)["x"]
    assert found.verdict == "agrees"


def test_where_nothing_is_proven_the_witness_says_so() -> None:
    assert verdicts("abs(x)", x=0)["x"].verdict == "agrees"  # 0 lies in [-1, 1]
    assert verdicts("hypot(x, y)", x=0, y=0)["x"].verdict == "not checked"
    found = witness.testify(at(" + ".join(["sin(x)"] * 3000), {"x": 1}))
    assert (found[0].of, found[0].verdict) == ("all", "not checked")
    assert "too many" in (found[0].reason or "")


def without_flint(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def hidden(name: str, *rest: Any, **more: Any) -> Any:
        if name.partition(".")[0] == "flint":
            raise ImportError(name)
        return real(name, *rest, **more)

    for module in list(sys.modules):
        if module.startswith(("flint", "backprop.balls.")):
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(builtins, "__import__", hidden)


def test_without_the_extra_the_way_to_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    here = at("x^2", {"x": 1})
    without_flint(monkeypatch)
    with pytest.raises(mistakes.ExtraMissing) as mistake:
        kinds.by_name("certified")
    assert mistake.value.repair == 'Install it: pip install "backprop-trace[certify]"'
    (said,) = witness.testify(here)
    assert said.verdict == "not checked"
    assert "backprop-trace[certify]" in (said.reason or "")
    assert ("certified", "proven enclosures") in kinds.names()


def test_an_ordinary_trace_does_not_load_the_extra() -> None:
    code = "import sys, backprop; backprop.trace('x^2', {'x': 3}); print('flint' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# -- jumps: a slope that ignores one is false


@pytest.mark.parametrize(
    ("program", "point"),
    [
        ("floor(x)", {"x": "0..2"}),
        ("sign(x)*3", {"x": "-1..1"}),
        ("x % y", {"x": "5", "y": "2..3"}),
        ("atan2(x, -1)", {"x": "-1..1"}),
        ("round(sign(x))", {"x": 0}),  # flat at 0, and it jumps on both sides
        ("where(floor(x) > 0.5, x, 2*x)", {"x": 1}),  # decided at 1, and otherwise left of it
        ("max(floor(x), 1/2)", {"x": 1}),
        ("where(x > 0, x + 1, x)", {"x": "-1..1"}),
        ("where(x > 0, x + 1e-80, x)", {"x": 0}),
        ("where(sqrt(x)^2 > 2, x + 1, x)", {"x": 2}),
        ("where(x > 0, floor(x), -x)", {"x": 0}),
        ("where(x > 0 and x < 3, 1, 0)", {"x": "-1..1"}),
        ("where(y > 0.5, where(abs(x) >= 0.1, 1, -1), 2)", {"x": "0.1", "y": 1}),
        ("where(3 > 0, where(floor(x) > 0.5, 1, 2), x)", {"x": 1}),
        ("where(x*x > 1, x, 1/x)", {"x": "0.5..2"}),  # it is continuous, which is not seen
    ],
)
def test_no_slope_is_proven_across_a_jump(program: str, point: dict[str, Any]) -> None:
    here = proven(program, **point)
    assert isinstance(here.answer(), Ball)
    assert is_unproven(here.gradient()["x"])


@pytest.mark.parametrize(
    ("program", "point", "low", "high"),
    [
        ("where(x > 0, 3*x, 5*x) + 1", {"x": "-1..1"}, 3.0, 5.0),
        ("where(x > 0.1, x, 2*x - 0.1)", {"x": "0..1"}, 1.0, 2.0),
        ("where(x > 0.1, x, 2*x - 0.1)", {"x": 0.1}, 1.0, 2.0),
        ("where(x == 0, 5*x, x)*y", {"x": 0, "y": "1..2"}, 1.0, 10.0),
        ("where(x == 0, 5*x, x) + where(x > 0.1 + 0.2 - 0.3, 7*x, 0)", {"x": 0}, 1.0, 12.0),
        ("where(x > 0, x*sin(y), 0)", {"x": "-1..1", "y": "1..1"}, 0.0, math.sin(1)),
    ],
)
def test_where_branches_meet_the_slopes_of_both_are_enclosed(
    program: str, point: dict[str, Any], low: float, high: float
) -> None:
    assert ends(proven(program, **point).gradient()["x"]) == pytest.approx((low, high), rel=1e-14)


def test_only_what_makes_the_output_jump_loses_its_slope() -> None:
    here = proven("where(y > 0, x, 2*x + 1) + floor(z)", x="1..2", y="-1..1", z=2)
    assert ends(here.gradient()["x"]) == (1.0, 2.0)
    assert is_unproven(here.gradient()["y"])
    assert is_unproven(here.gradient()["z"])


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(
        ["floor({0})*{1}", "where({0} > {1}, {0}, {1}*{0})", "where({0} > 0, {1}*{0}, -{0})", "sign({0}) + {1}",
         "round(max({0}, {1}))", "{0} % 2 + {1}", "abs({0} - {1})", "where({0} >= 1, {0}^2, 2*{0} - 1)*{1}"]
    ),
    programs(2),
    points,
    st.sampled_from(["0", "0.5", "2"]),
    st.randoms(use_true_random=False),
)  # fmt: skip
def test_every_secant_of_an_interval_lies_in_its_slopes(
    outer: str, inner: str, point: dict[str, float], width: str, draw: random.Random
) -> None:
    *lines, last = inner.split("; ")
    read = Program("; ".join([*lines, f"w = {last}", outer.format(draw.choice(["x", "w"]), draw.choice(["y", "w"]))]))
    kind = Certified()
    span = (point["x"], round(point["x"] + float(width), 6))
    inputs = {name: repr(number) for name, number in point.items()}
    here = read.at(inputs | {"x": f"{span[0]!r}..{span[1]!r}"}, kind=kind)
    slopes = here.gradient().get("x")
    if not isinstance(slopes, Ball):
        return
    known = []
    for x in (*span, *(round(draw.uniform(*span), 6) for _ in range(3))):
        value = read.at(inputs | {"x": repr(x)}, kind=MANY).value()
        known.append((MANY.number(repr(x)), value))
    for (x, f), (other, g) in pairwise(known):
        if x != other:
            assert holds(slopes, (f - g) / (x - other), 60) or abs((f - g) / (x - other)) < 1e-60


@pytest.mark.parametrize("program", ["x*abs(x)", "where(x > 0, x^3, x)", "max(x, 0)", "floor(x)*x"])
def test_no_second_derivative_is_proven_across_a_kink(program: str) -> None:
    code, out, _ = call("hessian", program, "--x", "-1..1", "--kind", "certified")
    assert code == 3
    assert "undefined" not in out
    assert "not proven" in out
    with pytest.raises(mistakes.Mistake):
        backprop.directional(program, {"x": "-1..1"}, kind="certified", order=2)
    with pytest.raises(mistakes.Mistake):
        backprop.directional(program, {"x": "-1..1"}, kind="certified", hvp=1)


# -- fractions


@pytest.mark.parametrize(
    ("program", "x", "shown"),
    [
        ("3*x", "0.2..0.4", "[0.6, 1.2]"),
        ("x*(1 - x)", "0.2..0.4", "[0.16, 0.24]"),
        ("x^2", "-0.3..0.1", "[0, 0.09]"),
        ("1/x", "0.2..0.4", "[2.5, 5]"),
        ("1/x", "3..6", "[0.166666, 0.333334]"),
        ("0.1 + 0.2 - x", "0.3", "0"),
        ("sqrt(x)", "0.16..0.36", "[0.4, 0.6]"),
        ("hypot(x, 0.4)", "0.3..0.42", "[0.5, 0.58]"),
        ("min(x, 0.3) - abs(x)/2", "0.2..0.2", "0.1"),
        ("clip(x, 0.1, 0.3)", "0.2..0.4", "[0.2, 0.3]"),
    ],
)
def test_ends_that_are_fractions_stay_so(program: str, x: str, shown: str) -> None:
    code, out, _ = call("grad", program, "--x", x, "--kind", "certified")
    assert code == 0
    assert out.splitlines()[0].split(" = ")[1] == shown


def test_fractions_decide_what_balls_leave_open() -> None:
    assert proven("where(x + 0.1 + 0.2 > 0.3, 1, 2)", x=0).value().hi == 2
    with pytest.raises(mistakes.Undefined):
        backprop.grad("log(x - y)", {"x": "0.1", "y": "1/10"}, kind="certified")


@given(
    st.lists(st.tuples(st.sampled_from("+-*/"), st.fractions(-10, 10), st.fractions(0, 3)), min_size=1, max_size=6),
    st.sampled_from([30, 53, 200]),
)
def test_fractions_and_balls_hold_the_same_numbers(steps: list[tuple[str, Any, Any]], bits: int) -> None:
    import operator
    from fractions import Fraction

    apply = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
    with working(bits):
        total, plain, exactly = Ball.of(1), Ball.of(arb(1)), Fraction(1)
        for sign, low, width in steps:
            assume(sign != "/" or low > 0)
            other = Ball.of_fractions(fmpq(low.numerator, low.denominator),
                                      fmpq((low + width).numerator, (low + width).denominator))  # fmt: skip
            total = apply[sign](total, other)
            plain = apply[sign](Ball(plain.lo, plain.hi), Ball(other.lo, other.hi))
            exactly = apply[sign](exactly, low + width / 3)
    assert total.fractions is not None
    low, high = total.fractions
    assert low <= fmpq(exactly.numerator, exactly.denominator) <= high
    with working(3000):
        for outer in (total, plain):
            assert (arb(low) - outer.lo).upper() >= 0
            assert (outer.hi - arb(high)).upper() >= 0


def test_a_fraction_that_grows_long_is_let_go() -> None:
    value = proven("x^1000 + x", x="0.123456789").value()
    assert value.fractions is None
    assert value.digits() > 20


def test_a_ball_is_handed_to_python_with_its_bounds() -> None:
    value, _ = backprop.grad("x*x", {"x": "0.1"}, kind="certified")
    assert float(value) == 0.01
    low, high = value.bounds
    assert low < high == math.nextafter(low, 1)  # 1/100 lies between two doubles
    value, _ = backprop.grad("exp(x)", {"x": "1..2"}, kind="certified")
    assert 3 in value
    assert 1 not in value
    assert value.bounds == pytest.approx((math.e, math.e**2))
    assert backprop.grad("x", {"x": "1e400"}, kind="certified")[0].bounds == (sys.float_info.max, math.inf)


# -- paths and the note of `grad`


def test_the_terms_of_paths_are_balls() -> None:
    code, out, _ = call("paths", "x*x + x", "--x", "0.2..0.4", "--kind", "certified")
    assert code == 0
    assert "[1.4, 1.8]  ✓ the adjoint" in out
    (first, *_) = backprop.paths("x*y", {"x": "1..2", "y": "0.5"}, source="x", kind="certified")
    assert first.term == {"mid": "0.5", "rad": "0"}
    code, out, _ = call("paths", "x*sin(x)", "--x", "1..2", "--kind", "certified", "--top", "1")
    assert (code, "51.94 %" in out) == (0, True)


def test_paths_across_a_jump_prove_no_slope() -> None:
    code, out, _ = call("paths", "where(x > 0, x + 1, x)", "--x", "-1..1", "--kind", "certified")
    assert (code, "no slope is proven" in out) == (3, True)
    code, out, _ = call("paths", "floor(x)*x", "--x", "2", "--kind", "certified")
    assert (code, "∂f/∂x is not proven here" in out) == (3, True)


def test_the_sum_over_paths_holds_the_adjoint_and_is_saved() -> None:
    _, saved, _ = call("trace", "x*(1 - x)*exp(x)", "--x", "0.2..0.4", "--kind", "certified", "--format", "json")
    code, out, _ = call("paths", "-", stdin=saved)
    assert code == 0
    assert "with the intervals taken apart it is" in out


def test_grad_tells_how_near_doubles_are() -> None:
    _, _, err = call("grad", "exp(x)", "--x", "0.2", "--kind", "certified")
    assert "the double-precision gradient is within" in err
    assert call("grad", "exp(x)", "--x", "0.2..0.4", "--kind", "certified")[2] == ""


def test_a_saved_thin_ball_is_an_interval() -> None:
    _, saved, _ = call("trace", "x^2", "--x", "1/3", "--kind", "certified", "--format", "json")
    code, out, _ = call("trace", "-", "--kind", "certified", stdin=saved)
    assert (code, "0.111111" in out) == (0, True)

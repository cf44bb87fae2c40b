"""The table tests itself: every row, every sample and every edge, against SymPy and against a difference.

The rows of arrays are in test_array_rows.
"""

from __future__ import annotations

import itertools
import math
from functools import cache

import mpmath
import pytest

from backprop import ops, rules
from backprop.kinds import Hole
from backprop.kinds.digits import Digits
from backprop.kinds.real import REAL

FIFTY = Digits(50)
MANY = Digits(100)
THOUSAND = Digits(1000)  # where a plain formula loses 600 digits: at 1e-300, or at 700

ROWS = ops.elementwise()
CONDITIONS = [row for row in ROWS if row.gives_condition]
NUMBERS = [row for row in ROWS if not row.gives_condition]


def label(value):
    return value.name if isinstance(value, ops.Row) else None


def in_kind(kind, row, operands):
    """Operands given as doubles, in a kind of number; conditions stay what they are."""
    if kind is REAL:
        return list(operands)
    return [x if place in row.conditions else kind.from_double(x) for place, x in enumerate(operands)]


def all_moving(row, operands):
    return tuple(place not in row.conditions for place in range(len(operands)))


def points(rows, *, edges=True):
    return [
        pytest.param(row, operands, id=f"{row.name}{operands}")
        for row in rows
        for operands in row.samples + (row.edges if edges else ())
    ]


def slopes(rows, *, edges=True):
    return [
        pytest.param(row, operands, place, id=f"{row.name}{operands}-{place}")
        for row in rows
        for operands in row.samples + (row.edges if edges else ())
        for place, rule in enumerate(row.rules(all_moving(row, operands)))
        if rule is not None and not (row.name == "pow" and place == 1 and operands[0] <= 0)
    ]


@cache
def symbolic(row, arity, conditions):
    """SymPy's expression and its derivatives, as functions of mpmath numbers."""
    import sympy

    symbols = [
        sympy.true if condition is True else sympy.false if condition is False
        else sympy.Symbol(f"x{place}", real=True)
        for place, condition in enumerate(conditions)
    ]  # fmt: skip
    if row.name == "polygamma":
        symbols[0] = sympy.Symbol("n", integer=True, nonnegative=True)
    free = [symbol for symbol in symbols if isinstance(symbol, sympy.Symbol)]
    expression = row.sympy(sympy, *symbols)

    def function(of):
        if of.has(sympy.Max, sympy.Min, sympy.Heaviside):
            of = of.rewrite(sympy.Piecewise)
        return sympy.lambdify(free, of, modules="mpmath")

    rules_here = row.rules(tuple(condition is None for condition in conditions))
    derivatives = [
        None if rule is None else function(sympy.diff(expression, symbol))
        for rule, symbol in zip(rules_here, symbols, strict=True)
    ]
    return function(expression), derivatives


def by_sympy(row, operands, place=None):
    """The value of a row, or its slope in one operand, by SymPy; None where its form has a gap that can be filled."""
    conditions = tuple(x if isinstance(x, bool) else None for x in operands)
    value, derivatives = symbolic(row, len(operands), conditions)
    work = value if place is None else derivatives[place]
    found = []
    # two precisions that agree are enough; a plain formula may need many more digits than it gives
    for digits in (100, 160, 1000):
        try:
            with mpmath.workdps(digits):
                numbers = [mpmath.mpf(x) for x in operands if not isinstance(x, bool)]
                if row.name == "polygamma":
                    numbers[0] = int(numbers[0])
                found.append(mpmath.re(work(*numbers)))
        except (ZeroDivisionError, ValueError):
            return None
        if len(found) == 2 and found[1] != 0 and abs(found[0] - found[1]) <= abs(found[1]) * mpmath.mpf(10) ** -90:
            break
    return MANY.context.make_mpf(found[-1]._mpf_) if mpmath.isfinite(found[-1]) else None


def by_difference(row, operands, place):
    """The slope in one operand by a central difference of the value."""
    for kind in (MANY, THOUSAND):
        exact = in_kind(kind, row, operands)
        step = kind.number("1e-40" if kind is MANY else "1e-200") * max(abs(exact[place]), kind.number("1e-300"))
        values = []
        for sign in (1, -1):
            moved = list(exact)
            moved[place] = exact[place] + sign * step
            values.append(kind.apply(row, moved))
        difference = values[0] - values[1]
        if abs(difference) > abs(values[0]) * kind.number("1e-45"):
            break
    return MANY.context.make_mpf((difference / (2 * step))._mpf_)


def slope(kind, row, operands, place, *, readable=False):
    moving = all_moving(row, operands)
    texts = row.rules(moving) if readable else row.evaluated_rules(moving)
    exact = in_kind(kind, row, operands)
    return rules.formula(texts[place], row, len(operands)).evaluate(kind, exact, kind.apply(row, exact))


def agree(found, expected, digits):
    """Whether two numbers of many digits agree to so many, relative to their size."""
    if found == expected:
        return True
    return abs(found - expected) <= abs(expected) * MANY.context.mpf(10) ** -digits


def condition(function, operands):
    """By how many ulps a function moves when each operand moves by one: the digits nobody can keep."""
    at = function(operands)
    total = 0.0
    for place, x in enumerate(operands):
        if isinstance(x, bool) or x == 0 or at == 0:
            continue
        moved = list(operands)
        moved[place] = x * (1 + MANY.number("1e-30"))
        try:
            shifted = function(moved)
        except ValueError:  # an operand that must be an integer
            continue
        if not isinstance(shifted, Hole):
            total += abs(MANY.to_double((shifted - at) / at * MANY.number("1e30")))
    return total


def ulps(found, truth):
    """How many units in its last place a double is away from the truth."""
    nearest = MANY.to_double(truth)
    if math.isinf(nearest) or math.isinf(found):
        return 0.0 if found == nearest else math.inf
    return abs(MANY.to_double((MANY.from_double(found) - truth) / MANY.from_double(math.ulp(nearest))))


# -- values


@pytest.mark.parametrize(("row", "operands"), points(NUMBERS))
def test_value_is_the_same_in_every_kind_and_in_sympy(row, operands):
    truth = MANY.apply(row, in_kind(MANY, row, operands))
    fifty = FIFTY.apply(row, in_kind(FIFTY, row, operands))
    assert agree(MANY.context.make_mpf(fifty._mpf_), truth, 49)
    expected = by_sympy(row, operands)
    if expected is not None:
        assert agree(truth, expected, 80)
    lost = condition(lambda exact: MANY.apply(row, exact), in_kind(MANY, row, operands))
    assert ulps(REAL.apply(row, list(operands)), truth) <= 3 + lost / 2


@pytest.mark.parametrize(("row", "operands"), points(CONDITIONS))
def test_condition_is_the_same_in_every_kind_and_in_sympy(row, operands):
    import sympy

    expected = bool(row.sympy(sympy, *(sympy.sympify(x) for x in operands)))
    assert REAL.apply(row, list(operands)) is expected
    assert FIFTY.apply(row, in_kind(FIFTY, row, operands)) is expected


# -- slopes


@pytest.mark.parametrize(("row", "operands", "place"), slopes(NUMBERS))
def test_evaluated_rule_is_the_slope(row, operands, place):
    found = slope(MANY, row, operands, place)
    assert agree(found, by_difference(row, operands, place), 40)
    expected = by_sympy(row, operands, place)
    if expected is not None:
        assert agree(found, expected, 80)
    fifty = slope(FIFTY, row, operands, place)
    lost = condition(lambda exact: evaluated_at(row, exact, place), in_kind(MANY, row, operands))
    assert agree(MANY.context.make_mpf(fifty._mpf_), found, 48 - math.log10(1 + lost))


def evaluated_at(row, exact, place):
    moving = all_moving(row, exact)
    rule = rules.formula(row.evaluated_rules(moving)[place], row, len(exact))
    return rule.evaluate(MANY, exact, MANY.apply(row, exact))


@pytest.mark.parametrize(("row", "operands", "place"), slopes(NUMBERS))
def test_evaluated_rule_keeps_its_digits_in_double_precision(row, operands, place):
    truth = slope(MANY, row, operands, place)
    lost = condition(lambda exact: evaluated_at(row, exact, place), in_kind(MANY, row, operands))
    found = slope(REAL, row, operands, place)
    assert not isinstance(found, Hole)
    assert ulps(found, truth) <= 6 + lost


@pytest.mark.parametrize(
    ("row", "operands", "place"), slopes([row for row in NUMBERS if row.stable is not None or callable(row.partials)])
)
def test_readable_rule_says_the_same_as_the_evaluated_one(row, operands, place):
    found = slope(THOUSAND, row, operands, place, readable=True)
    if isinstance(found, Hole):
        assert operands in row.edges, "only at an edge may the readable rule have a gap that the evaluated one fills"
        return
    assert agree(found, slope(THOUSAND, row, operands, place), 60)


@pytest.mark.parametrize("row", NUMBERS, ids=label)
def test_rules_are_read_for_every_choice_of_what_moves(row):
    for arity in {len(operands) for operands in row.samples}:
        for moving in itertools.product((False, True), repeat=arity):
            texts = [*row.rules(moving), *row.evaluated_rules(moving), *row.kinks(arity)]
            texts += [f"where({remark.when}, 1, 0)" for remark in row.remarks_for(moving)]
            if row.domain:
                texts.append(f"where({row.domain}, 1, 0)")
            for text in texts:
                if text is not None:
                    rules.formula(text, row, arity)


@pytest.mark.parametrize("row", [row for row in NUMBERS if callable(row.partials)], ids=label)
def test_rule_of_one_operand_alone_is_the_slope_too(row):
    for operands in row.samples:
        for place in range(len(operands)):
            alone = tuple(other == place for other in range(len(operands)))
            text = row.rules(alone)[place]
            exact = in_kind(MANY, row, operands)
            found = rules.formula(text, row, len(operands)).evaluate(MANY, exact, MANY.apply(row, exact))
            assert agree(found, slope(MANY, row, operands, place), 60)


# -- the domain

GRID = (-3.0, -2.5, -1.0, -0.5, 0.0, 0.3, 1.0, 2.0, 2.5)


@pytest.mark.parametrize("kind", [REAL, FIFTY], ids=lambda kind: kind.name)
@pytest.mark.parametrize("row", [row for row in NUMBERS if row.name != "where"], ids=label)
def test_value_is_refused_exactly_outside_the_domain(row, kind):
    for operands in itertools.product(GRID, repeat=len(row.parameters)):
        exact = in_kind(kind, row, operands)
        inside = not row.domain or rules.holds(row.domain, row, kind, exact, None)
        try:
            value = kind.apply(row, exact)
        except (ValueError, ZeroDivisionError):
            assert not inside, operands
        else:
            assert inside, operands
            assert value == value


@pytest.mark.parametrize(
    ("name", "operands"),
    [("sqrt", (0.0,)), ("cbrt", (0.0,)), ("asin", (1.0,)), ("acos", (-1.0,)), ("acosh", (1.0,)), ("asech", (1.0,)),
     ("asec", (-1.0,)), ("acsc", (1.0,)), ("pow", (0.0, 0.5))],
)  # fmt: skip
def test_infinite_slope_is_a_hole(name, operands):
    assert isinstance(slope(REAL, ops.by_name(name), operands, 0), Hole)
    assert isinstance(slope(FIFTY, ops.by_name(name), operands, 0), Hole)


# -- corners and ties: where mathematics leaves a choice

CORNERS = [
    ("abs", (0.0,), (True,), (0,)),
    ("sign", (0.0,), (True,), (0,)),
    ("floor", (2.0,), (True,), (0,)),
    ("ceil", (-2.0,), (True,), (0,)),
    ("round", (2.5,), (True,), (0,)),
    ("mod", (6.0, 2.0), (True, True), (1, -3)),
    ("relu", (0.0,), (True,), (0,)),
    ("leaky_relu", (0.0,), (True,), (0.01,)),
    ("leaky_relu_with", (0.0, 0.2), (True, True), (0.2, 0)),
    ("leaky_relu_with", (0.0, -0.2), (True, True), (0, 0)),
    ("leaky_relu_with", (0.0, 3.0), (True, True), (1, 0)),
    ("hypot", (0.0, 0.0), (True, True), (0, 0)),
    ("max", (0.0, 0.0), (True, False), (0, None)),
    ("max", (0.0, 0.0), (False, True), (None, 0)),
    ("max", (1.0, 1.0), (True, True), (0.5, 0.5)),
    ("max", (1.0, 1.0, 0.0), (True, True, True), (0.5, 0.5, 0)),
    ("max", (1.0, 0.0, 1.0), (True, True, False), (0, 0, None)),
    ("max", (2.0, 2.0, 1.0), (True, True, False), (0.5, 0.5, None)),
    ("max", (2.0, 2.0, 2.0, 2.0), (True, True, True, True), (0.25, 0.25, 0.25, 0.25)),
    ("min", (1.0, 1.0), (True, True), (0.5, 0.5)),
    ("min", (1.0, 1.0), (True, False), (0, None)),
    ("min", (1.0, 2.0, 1.0), (True, True, True), (0.5, 0, 0.5)),
    ("clip", (0.0, 0.0, 1.0), (True, False, False), (0, None, None)),
    ("clip", (1.0, 0.0, 1.0), (True, False, False), (0, None, None)),
    ("clip", (0.0, 0.0, 1.0), (True, True, True), (0.5, 0.5, 0)),
    ("clip", (1.0, 0.0, 1.0), (True, False, True), (0.5, None, 0.5)),
    ("clip", (1.0, 0.0, 1.0), (True, True, False), (0, 0, None)),
    ("clip", (1.0, 1.0, 1.0), (True, True, False), (0, 0, None)),
    ("clip", (1.0, 1.0, 1.0), (True, False, True), (0, None, 0)),
    ("lt", (2.0, 2.0), (True, True), (None, None)),
    ("ge", (2.0, 2.0), (True, True), (None, None)),
]


@pytest.mark.parametrize("kind", [REAL, FIFTY], ids=lambda kind: kind.name)
@pytest.mark.parametrize(("name", "operands", "moving", "expected"), CORNERS)
def test_corner_is_found_and_the_smallest_subgradient_flows(name, operands, moving, expected, kind):
    row = ops.by_name(name)
    exact = in_kind(kind, row, operands)
    out = kind.apply(row, exact)
    assert rules.is_kink(row, kind, exact, out)
    for place, slope_there in enumerate(expected):
        if slope_there is not None:
            text = row.evaluated_rules(moving)[place]
            found = rules.formula(text, row, len(operands)).evaluate(kind, exact, out)
            assert float(found) == slope_there


@pytest.mark.parametrize(("row", "operands"), points(NUMBERS))
def test_no_sample_but_a_corner_is_a_kink(row, operands):
    assert not rules.is_kink(row, REAL, list(operands), REAL.apply(row, list(operands)))


def test_pow_at_its_corners():
    power = ops.by_name("pow")
    assert slope(REAL, power, (0.0, 0.0), 0) == 0
    assert slope(REAL, power, (0.0, 2.0), 1) == 0
    assert slope(REAL, power, (-2.0, 3.0), 0) == 12
    assert isinstance(slope(REAL, power, (-2.0, 3.0), 1), Hole)
    assert isinstance(slope(REAL, power, (0.0, 0.0), 1), Hole)


# -- beyond the range


@pytest.mark.parametrize(
    ("name", "operands", "expected"),
    [("exp", (1000.0,), math.inf), ("exp", (-math.inf,), 0.0), ("exp2", (2000.0,), math.inf),
     ("expm1", (1000.0,), math.inf), ("pow", (-10.0, 1001.0), -math.inf), ("pow", (-10.0, 1000.0), math.inf),
     ("pow", (0.5, math.inf), 0.0), ("cosh", (-800.0,), math.inf), ("sinh", (-800.0,), -math.inf),
     ("tanh", (math.inf,), 1.0), ("tanh", (800.0,), 1.0), ("atan", (-math.inf,), -math.pi / 2),
     ("gamma", (200.0,), math.inf), ("gamma", (171.9,), math.inf), ("gamma", (math.inf,), math.inf),
     ("factorial", (171.0,), math.inf), ("lgamma", (1e300,), 6.897755278982137e302), ("lgamma", (math.inf,), math.inf),
     ("sigmoid", (-math.inf,), 0.0), ("sigmoid", (800.0,), 1.0), ("softplus", (1000.0,), 1000.0),
     ("softplus", (-1000.0,), 0.0), ("softplus", (math.inf,), math.inf), ("silu", (-math.inf,), 0.0),
     ("gelu", (-math.inf,), 0.0), ("logaddexp", (1000.0, 1000.0), 1000.0 + math.log(2)),
     ("logaddexp", (-math.inf, -math.inf), -math.inf), ("logaddexp", (math.inf, 3.0), math.inf),
     ("sinc", (math.inf,), 0.0), ("hypot", (-math.inf, 1.0), math.inf), ("sech", (800.0,), 0.0),
     ("csch", (-800.0,), 0.0), ("coth", (800.0,), 1.0), ("relu", (-math.inf,), 0.0), ("relu", (math.inf,), math.inf),
     ("elu", (-math.inf,), -1.0), ("elu", (math.inf,), math.inf), ("div", (1.0, math.inf), 0.0),
     ("floor", (math.inf,), math.inf), ("round", (-math.inf,), -math.inf), ("log", (math.inf,), math.inf),
     ("acot", (math.inf,), 0.0), ("acsch", (1e-310,), 714.494526008714), ("asech", (5e-324,), 745.1332191019412),
     ("mod", (-5.0, math.inf), math.inf), ("atan2", (-0.0, -1.0), math.pi), ("digamma", (math.inf,), math.inf)],
)  # fmt: skip
def test_overflow_and_infinite_operands(name, operands, expected):
    assert REAL.apply(ops.by_name(name), list(operands)) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    ("name", "operands"),
    [("exp", (710.0,)), ("cosh", (800.0,)), ("tanh", (800.0,)), ("sigmoid", (-800.0,)), ("sigmoid", (800.0,)),
     ("softplus", (1000.0,)), ("softplus", (-1000.0,)), ("gamma", (200.0,)), ("logaddexp", (1000.0, -1000.0)),
     ("div", (1e200, 1e200)), ("div", (1e-200, 1e-200)), ("coth", (800.0,)), ("sech", (-800.0,)), ("elu", (-800.0,)),
     ("silu", (-800.0,)), ("gelu", (-800.0,)), ("asinh", (1e200,)), ("atan2", (1e-200, 1e200)), ("expm1", (-800.0,))],
)  # fmt: skip
def test_slope_does_not_break_where_an_intermediate_would_overflow(name, operands):
    row = ops.by_name(name)
    found, truth = slope(REAL, row, operands, 0), slope(MANY, row, operands, 0)
    assert ulps(found, truth) <= 8


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
@pytest.mark.parametrize("kind", [REAL, FIFTY], ids=lambda kind: kind.name)
def test_infinite_angle_is_refused(name, kind):
    with pytest.raises(ValueError, match=r".*"):
        kind.apply(ops.by_name(name), [kind.number("inf")])


def test_digits_refuses_what_it_could_never_finish():
    apply, number = FIFTY.apply, FIFTY.number
    power, nine = ops.by_name("pow"), number("9")
    tower = apply(power, [nine, apply(power, [nine, nine])])
    with pytest.raises(OverflowError):
        apply(power, [nine, tower])
    with pytest.raises(OverflowError):
        apply(ops.by_name("sin"), [tower])
    with pytest.raises(OverflowError):
        apply(ops.by_name("mod"), [tower, number("7")])
    with pytest.raises(OverflowError):
        apply(ops.by_name("gamma"), [tower])
    with pytest.raises(OverflowError):
        number("1e999999999999999999")
    assert apply(ops.by_name("tanh"), [tower]) == 1
    assert apply(ops.by_name("exp"), [-tower]) == 0
    assert apply(ops.by_name("floor"), [tower]) == tower
    for name in ("exp", "gamma", "sinh", "erfc", "softplus", "lgamma", "digamma", "sin", "atan", "gelu"):
        apply(ops.by_name(name), [number("1e10")])
    apply(ops.by_name("polygamma"), [number("1"), number("-100000000.5")])
    apply(ops.by_name("sin"), [number("1e400")])


# -- numbers


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0.1", 0.1), ("1e-3", 1e-3), ("1/3", 1 / 3), ("-2/7", -2 / 7), ("pi", math.pi), ("-pi", -math.pi),
     ("tau", math.tau), ("e", math.e), ("inf", math.inf), ("-inf", -math.inf), ("-1.5", -1.5), (".5", 0.5), ("2.", 2.0),
     ("1e-400", 0.0)],
)  # fmt: skip
def test_literal_is_read_in_both_kinds(text, expected):
    assert REAL.number(text) == expected
    assert FIFTY.to_double(FIFTY.number(text)) == expected


def test_literal_too_large_for_a_double_is_refused():
    with pytest.raises(OverflowError):
        REAL.number("1e400")
    assert FIFTY.number("1e400") > FIFTY.from_double(1e308)


@pytest.mark.parametrize("text", ["nan", "two", "", "1/x"])
@pytest.mark.parametrize("kind", [REAL, FIFTY], ids=lambda kind: kind.name)
def test_what_is_no_number_is_refused(text, kind):
    with pytest.raises(ValueError, match=r".*"):
        kind.number(text)


def test_minus_zero_is_zero():
    assert math.copysign(1, REAL.number("-0")) == 1
    assert math.copysign(1, REAL.scale(-3.0, 0.0)) == 1


def test_zero_times_infinity_is_never_guessed():
    with pytest.raises(ArithmeticError):
        REAL.scale(0.0, math.inf)
    with pytest.raises(ArithmeticError):
        FIFTY.scale(FIFTY.number("0"), FIFTY.number("inf"))


def test_digits_keep_their_own_precision():
    before = mpmath.mp.prec
    third = Digits(80).number("1/3")
    assert mpmath.mp.prec == before
    with mpmath.workdps(5):
        assert Digits(80).number("1/3") == third
    assert Digits(30).number("0.1") != Digits(30).from_double(0.1)
    assert Digits(30).to_double(Digits(30).number("0.1")) == 0.1


# -- the table as a whole


def test_every_row_has_what_its_readers_need():
    for row in ROWS:
        assert row.says, row.name
        assert row.samples, row.name
        assert row.sympy is not None, row.name
        assert row.called or row.form or row.name == "copy", row.name
        for operands in row.samples + row.edges:
            assert row.takes(len(operands)), row.name
            assert len(row.rules((True,) * len(operands))) == len(operands), row.name


def test_one_name_never_means_two_rows_with_as_many_operands():
    for name in ops.callable_names():
        for arity in range(1, 7):
            assert sum(row.takes(arity) and not row.settings for row in ops.called(name)) <= 1, (name, arity)


def test_latex_templates_name_only_operands():
    for row in ROWS:
        names = ("operands",) if row.variadic else row.parameters
        written = row.latex.format(**dict.fromkeys(names, "OPERAND"))
        assert not row.latex or "OPERAND" in written, row.name

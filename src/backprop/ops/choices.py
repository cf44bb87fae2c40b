"""Choices: functions with a corner or a jump, and the conditions that decide between two values.

At a corner the number that flows is the smallest subgradient (abs'(0) = 0, a tie between two variables 1/2 each).
"""

from __future__ import annotations

from backprop.ops import AND, COMPARISON, NOT, OR, Moving, Remark, Texts, op
from backprop.ops.steps import step


def extreme_rules(beats: str, extreme: str, moving: Moving) -> Texts:
    """The rules of max (`beats` is >) and min (<).

    The winner has slope 1 and a loser 0. Winners that tie share the slope when all of them move; next to a constant
    that ties with them they have 0, the smallest slope on either side.

    >>> extreme_rules(">", "max", (True, True))[0]
    'where(x1 > x2, 1, where(x1 == x2, 1/2, 0))'
    >>> extreme_rules(">", "max", (True, False))[0]
    'where(x1 > x2, 1, 0)'
    """
    names = [f"x{i}" for i in range(1, len(moving) + 1)]
    if len(names) == 1:
        return ("1",)
    rules = []
    for name, moves in zip(names, moving, strict=True):
        others = [other for other in names if other != name]
        rivals = [other for other, rival_moves in zip(names, moving, strict=True) if rival_moves and other != name]
        constants = [other for other in others if other not in rivals]
        best = others[0] if len(others) == 1 else f"{extreme}({', '.join(others)})"
        if moves and not rivals:
            rules.append(f"where({name} {beats} {best}, 1, 0)")
        elif len(names) == 2:
            rules.append(f"where({name} {beats} {best}, 1, where({name} == {best}, 1/2, 0))")
        else:
            wins = " and ".join([f"{name} == out", *(f"{constant} != out" for constant in constants)])
            winners = " + ".join(["1", *(f"where({rival} == out, 1, 0)" for rival in rivals)])
            rules.append(f"where({wins}, 1/({winners}), 0)")
    return tuple(rules)


def max_kinks(arity: int) -> tuple[str, ...]:
    """Where two operands tie for the largest."""
    return _ties("max(out - {last}, out - {others})", "max", arity)


def min_kinks(arity: int) -> tuple[str, ...]:
    """Where two operands tie for the smallest."""
    return _ties("max({last} - out, {others} - out)", "min", arity)


def _ties(distance: str, extreme: str, arity: int) -> tuple[str, ...]:
    names = [f"x{i}" for i in range(1, arity + 1)]
    if arity == 2:
        return ("x1 - x2",)
    return tuple(
        distance.format(last=names[i], others=names[0] if i == 1 else f"{extreme}({', '.join(names[:i])})")
        for i in range(1, arity)
    )


CONSTANT_WINS = "elements of {{node}} pass no gradient{{which}}; the constant {{{bound}}} wins over {{{x}}} there"


def max_remarks(moving: Moving) -> tuple[Remark, ...]:
    """max(0, x) is relu(x) and dies like one; any other constant that wins stops the gradient too."""
    if len(moving) != 2 or moving[0] == moving[1]:
        return ()
    x, bound = ("x1", "x2") if moving[0] else ("x2", "x1")
    return (
        Remark("dead-relu", f"{bound} == 0 and {x} < 0",
               f"{{node}} is dead: {{{x}}} is below 0, so max gives 0 and no gradient passes",
               f"units of {{node}} are dead{{which}}; {{{x}}} is below 0 there, so max gives 0 and no gradient passes"),
        Remark("constant-wins", f"{bound} != 0 and {x} < {bound}",
               f"the constant {{{bound}}} wins over {{{x}}} at {{node}}, so no gradient passes",
               CONSTANT_WINS.format(bound=bound, x=x)),
    )  # fmt: skip


def min_remarks(moving: Moving) -> tuple[Remark, ...]:
    """A constant that wins stops the gradient."""
    if len(moving) != 2 or moving[0] == moving[1]:
        return ()
    x, bound = ("x1", "x2") if moving[0] else ("x2", "x1")
    return (
        Remark("constant-wins", f"{x} > {bound}",
               f"the constant {{{bound}}} wins over {{{x}}} at {{node}}, so no gradient passes",
               CONSTANT_WINS.format(bound=bound, x=x)),
    )  # fmt: skip


def clip_rules(moving: Moving) -> Texts:
    """The one of x, lo and hi that is the result has slope 1; at a bound it is shared with a bound that moves.

    >>> clip_rules((True, False, False))[0]
    'where(lo < x and x < hi, 1, 0)'
    """
    _, lo_moves, hi_moves = moving
    x_moves = moving[0] or not any(moving)
    at_lo, at_hi = ("1/2" if lo_moves else "0"), ("1/2" if hi_moves else "0")
    x_rule = "where(lo < x and x < hi, 1, 0)"
    if lo_moves or hi_moves:
        at_both = "1/3" if lo_moves and hi_moves else "0"
        x_rule = (f"where(lo < x and x < hi, 1, where(x < lo or x > hi, 0, "
                  f"where(lo == hi, {at_both}, where(x == lo, {at_lo}, {at_hi}))))")  # fmt: skip
    if not x_moves:
        return (x_rule, "where(x < lo, 1, 0)", "where(x > hi, 1, 0)")
    lo_tie = f"where(lo < hi, 1/2, {'1/3' if hi_moves else '0'})"
    hi_tie = f"where(lo < hi, 1/2, {'1/3' if lo_moves else '0'})"
    return (x_rule, f"where(x < lo, 1, where(x == lo, {lo_tie}, 0))", f"where(x > hi, 1, where(x == hi, {hi_tie}, 0))")


op("abs", "x", value=lambda k, x: abs(x), partials=("sign(x)",), sympy=lambda S, x: S.Abs(x), kink="x",
   latex=r"\left|{x}\right|", says="distance from zero; at 0 the slope is taken as 0",
   made_of="max(x, -x)",
   samples=((3.0,), (-3.0,)), edges=((1e-300,), (-1e300,)))

op("sign", "x", called="sign sgn", value=lambda k, x: k.sign(x), partials=("0",),
   sympy=lambda S, x: S.Piecewise((1, x > 0), (-1, x < 0), (0, True)), kink="x", jumps=True,
   locally_constant=True, says="1, 0 or -1; it only jumps, so its slope is 0",
   made_of="where(x > 0, 1, where(x < 0, -1, 0))",
   samples=((3.0,), (-3.0,)), edges=((1e-300,), (-1e300,)))

op("floor", "x", value=lambda k, x: k.floor(x), partials=("0",), sympy=lambda S, x: step(S.floor)(x),
   kink="x - floor(x)", jumps=True, stairs="x", locally_constant=True, latex=r"\left\lfloor {x}\right\rfloor",
   says="the integer at or below x; it only jumps, so its slope is 0",
   samples=((2.7,), (-2.7,)), edges=((1e-300,), (-1e-300,), (100000000.5,)))

op("ceil", "x", value=lambda k, x: k.ceil(x), partials=("0",), sympy=lambda S, x: step(S.ceiling)(x),
   kink="x - floor(x)", jumps=True, stairs="x", locally_constant=True, latex=r"\left\lceil {x}\right\rceil",
   says="the integer at or above x; it only jumps, so its slope is 0",
   made_of="-floor(-x)",
   samples=((2.7,), (-2.7,)), edges=((1e-300,), (-1e-300,), (100000000.5,)))

op("round", "x", value=lambda k, x: k.round(x), partials=("0",),
   # SymPy does not round half to even: above an even integer the half goes down, above an odd one up
   sympy=lambda S, x: S.Piecewise((step(S.ceiling)(x - S.Rational(1, 2)), S.Eq(S.Mod(S.floor(x), 2), 0)),
                                  (step(S.floor)(x + S.Rational(1, 2)), True)),
   kink="x - floor(x) - 1/2", jumps=True, stairs="x", locally_constant=True,
   says="the nearest integer, and the even one of two that are equally near; it only jumps, so its slope is 0",
   made_of="where(x - floor(x) < 1/2, floor(x), where(x - floor(x) > 1/2, floor(x) + 1, 2*floor((x + 1/2)/2)))",
   samples=((2.7,), (-2.7,), (2.2,)), edges=((1e-300,), (-1e-300,), (100000000.25,)))

op("max", "*x", least=2, value=lambda k, *x: k.maximum(*x), partials=lambda moving: extreme_rules(">", "max", moving),
   sympy=lambda S, *x: S.Max(*x), kink=max_kinks, locally_constant=True, remarks=max_remarks,
   latex=r"\max\left({operands}\right)",
   says="the largest; the slope goes to the winner, and winners that tie share it",
   samples=((3.0, 2.0), (-3.0, 2.0), (1.0, -4.0, 0.5), (-1.0, -4.0, -0.5)),
   edges=((1e-300, 0.0), (1e300, -1e300), (1.0, 1.0000000001, 0.9999999999)))

op("min", "*x", least=2, value=lambda k, *x: k.minimum(*x), partials=lambda moving: extreme_rules("<", "min", moving),
   sympy=lambda S, *x: S.Min(*x), kink=min_kinks, locally_constant=True, remarks=min_remarks,
   latex=r"\min\left({operands}\right)",
   says="the smallest; the slope goes to the winner, and winners that tie share it",
   samples=((3.0, 2.0), (-3.0, 2.0), (1.0, -4.0, 0.5), (-1.0, -4.0, -0.5)),
   edges=((1e-300, 0.0), (1e300, -1e300), (1.0, 1.0000000001, 0.9999999999)))

op("clip", "x lo hi", called="clip clamp", value=lambda k, x, lo, hi: k.clip(x, lo, hi), partials=clip_rules,
   sympy=lambda S, x, lo, hi: S.Piecewise((lo, x < lo), (hi, x > hi), (x, True)), domain="lo <= hi",
   kink=("x - lo", "x - hi"), locally_constant=True,
   remarks=(Remark("clipped", "x < lo or x > hi", "{x} is outside the bounds at {node}, so no gradient passes to it",
                   "elements of {node} pass no gradient{which}; {x} is outside the bounds there"),),
   says="x kept between two bounds; outside them x has slope 0",
   made_of="where(lo <= hi, min(max(x, lo), hi), sqrt(hi - lo))",
   samples=((0.5, -1.0, 1.0), (-3.0, -1.0, 1.0), (3.0, -1.0, 1.0)),
   edges=((1e-300, 0.0, 1.0), (1e300, -1e8, 1e8)), flops=2)

op("where", "c x y", value=lambda k, c, x, y: k.where(c, x, y), conditions=(0,),
   partials=(None, "where(c, 1, 0)", "where(c, 0, 1)"), sympy=lambda S, c, x, y: S.Piecewise((x, c), (y, True)),
   locally_constant=True,
   latex=r"\begin{{cases}} {x} & \text{{if }} {c} \\ {y} & \text{{otherwise}} \end{{cases}}",
   says="x where the condition holds, y elsewhere; the other one is not even worked out",
   samples=((True, 2.0, 3.0), (False, 2.0, 3.0)), edges=((True, 0.0, 1e300),))

op("relu", "x", value=lambda k, x: k.maximum(x, k.number("0")), partials=("where(x > 0, 1, 0)",),
   sympy=lambda S, x: S.Piecewise((x, x > 0), (0, True)), kink="x", locally_constant=True,
   remarks=(Remark("dead-relu", "x < 0", "{node} is dead: {x} is below 0, so relu gives 0 and no gradient passes",
                   "units of {node} are dead{which}; {x} is below 0 there, so relu gives 0 and no gradient passes"),),
   says="keeps a positive number and turns the others into 0; at 0 the slope is taken as 0",
   made_of="max(x, 0)",
   samples=((3.0,), (-3.0,)), edges=((1e-300,), (-1e300,)))

op("leaky_relu", "x", value=lambda k, x: k.where(x > 0, x, x / 100), partials=("where(x > 0, 1, 0.01)",),
   sympy=lambda S, x: S.Piecewise((x, x > 0), (x / 100, True)), kink="x",
   says="a relu that lets one part in a hundred of a negative number through; at 0 the slope is taken as 0.01",
   made_of="where(x > 0, x, x/100)",
   samples=((3.0,), (-3.0,)), edges=((1e-300,), (-1e300,)))

op("leaky_relu_with", "x a", called="leaky_relu", value=lambda k, x, a: k.where(x > 0, x, a * x),
   partials=("where(x > 0, 1, a)", "where(x > 0, 0, x)"),
   # at 0 the smallest of the slopes between a and 1
   stable=("where(x > 0, 1, where(x < 0, a, clip(a, 0, 1)))", None),
   sympy=lambda S, x, a: S.Piecewise((x, x > 0), (a * x, True)), kink="x",
   says="a relu that lets a negative number through, a times as large",
   made_of="where(x > 0, x, a*x)",
   samples=((3.0, 0.1), (-3.0, 0.1), (-2.0, -0.5)), edges=((1e-300, 0.2), (-1e300, 0.01)), flops=2)

op("elu", "x", value=lambda k, x: k.where(x > 0, x, k.expm1(k.minimum(x, 0))), partials=("where(x > 0, 1, exp(x))",),
   sympy=lambda S, x: S.Piecewise((x, x > 0), (S.exp(x) - 1, True)),
   says="x above 0 and exp(x) - 1 below: a relu that bends smoothly and never dies",
   made_of="where(x > 0, x, expm1(min(x, 0)))",
   samples=((3.0,), (-3.0,)), edges=((0.0,), (1e-300,), (-1e-9,), (-40.0,), (1e8,)), flops=15)

op("gelu", "x", value=lambda k, x: k.gelu(x),
   partials=("(1 + erf(x/sqrt(2)))/2 + x*exp(-x^2/2)/sqrt(2*pi)",),
   stable=("erfc(-x/sqrt(2))/2 + x*exp(-x^2/2)/sqrt(2*pi)",),
   sympy=lambda S, x: x * (1 + S.erf(x / S.sqrt(2))) / 2,
   says="x times the share of a bell curve that lies below x",
   made_of="x*erfc(-x/sqrt(2))/2",
   samples=((0.5,), (-1.3,), (3.0,)), edges=((0.0,), (1e-9,), (-10.0,), (40.0,)), flops=40)

op("lt", "x y", form="x < y", level=COMPARISON, value=lambda k, x, y: x < y, partials=(None, None),
   sympy=lambda S, x, y: S.Lt(x, y), gives_condition=True, kink="x - y", latex="{x} < {y}",
   says="whether x is below y", samples=((1.0, 2.0), (2.0, 1.0), (-1.0, -1.0)))

op("le", "x y", form="x <= y", level=COMPARISON, value=lambda k, x, y: x <= y, partials=(None, None),
   sympy=lambda S, x, y: S.Le(x, y), gives_condition=True, kink="x - y", latex=r"{x} \le {y}",
   says="whether x is at most y", samples=((1.0, 2.0), (2.0, 1.0), (-1.0, -1.0)))

op("gt", "x y", form="x > y", level=COMPARISON, value=lambda k, x, y: x > y, partials=(None, None),
   sympy=lambda S, x, y: S.Gt(x, y), gives_condition=True, kink="x - y", latex="{x} > {y}",
   says="whether x is above y", samples=((1.0, 2.0), (2.0, 1.0), (-1.0, -1.0)))

op("ge", "x y", form="x >= y", level=COMPARISON, value=lambda k, x, y: x >= y, partials=(None, None),
   sympy=lambda S, x, y: S.Ge(x, y), gives_condition=True, kink="x - y", latex=r"{x} \ge {y}",
   says="whether x is at least y", samples=((1.0, 2.0), (2.0, 1.0), (-1.0, -1.0)))

op("eq", "x y", form="x == y", level=COMPARISON, value=lambda k, x, y: k.equal(x, y), partials=(None, None),
   sympy=lambda S, x, y: S.Eq(x, y), gives_condition=True, kink="x - y", latex="{x} = {y}",
   says="whether x equals y", samples=((1.0, 2.0), (2.0, 1.0), (-1.0, -1.0)))

op("ne", "x y", form="x != y", level=COMPARISON, value=lambda k, x, y: k.negation(k.equal(x, y)), partials=(None, None),
   sympy=lambda S, x, y: S.Ne(x, y), gives_condition=True, kink="x - y", latex=r"{x} \ne {y}",
   says="whether x differs from y", samples=((1.0, 2.0), (2.0, 1.0), (-1.0, -1.0)))

op("and", "x y", form="x and y", level=AND, value=lambda k, x, y: k.both(x, y), partials=(None, None),
   sympy=lambda S, x, y: S.And(x, y), conditions=(0, 1), gives_condition=True, latex=r"{x} \wedge {y}",
   says="whether both conditions hold",
   samples=((True, True), (True, False), (False, True), (False, False)))

op("or", "x y", form="x or y", level=OR, value=lambda k, x, y: k.either(x, y), partials=(None, None),
   sympy=lambda S, x, y: S.Or(x, y), conditions=(0, 1), gives_condition=True, latex=r"{x} \vee {y}",
   says="whether at least one of two conditions holds",
   samples=((True, True), (True, False), (False, True), (False, False)))

op("not", "x", form="not x", level=NOT, value=lambda k, x: k.negation(x), partials=(None,),
   sympy=lambda S, x: S.Not(x), conditions=(0,), gives_condition=True, latex=r"\neg {x}",
   says="whether a condition fails", samples=((True,), (False,)))

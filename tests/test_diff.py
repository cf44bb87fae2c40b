"""Derivatives as formulas, judged by SymPy's own derivative and by differences with many digits."""

from __future__ import annotations

import json
from typing import Any

import mpmath
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from backprop import formulas, ops
from backprop.derivatives import Derivatives, closed, differentiate, gradient_formulas
from backprop.grammar import parse
from backprop.graph import CONST, INPUT, Graph
from backprop.graph.building import build
from backprop.kinds import Hole
from backprop.kinds.digits import Digits
from backprop.kinds.symbol import SYMBOL
from backprop.mistakes import Mistake, OrderOutOfRange, OrderUnlikeNames, UnknownFormat, UnknownNode
from backprop.ops import ATOM
from backprop.point import at
from backprop.render.diff import FORMATS, render
from backprop.render.look import Look
from backprop.reverse import reverse
from backprop.rules import partials
from backprop.values import values
from backprop.writing import written
from programs import NAMES, at_a_kink, points, programs

DIGITS = 60
MANY = Digits(DIGITS)


def value_of(program: str, point: dict[str, Any]) -> Any:
    """The value of a program with many digits."""
    graph = build(parse(program, variables=tuple(point)), given=tuple(point))
    given_numbers = {
        node: MANY.number(repr(point[name])) if isinstance(point[name], float) else point[name]
        for name, node in graph.inputs.items()
    }
    return values(graph, MANY, given_numbers)[graph.output]


def text_of(found: Derivatives, place: int) -> str:
    """One derivative as a program of its own."""
    return "; ".join([*(f"{name} = {what}" for name, what in found.shared), found.derivatives[place].text])


def by_sympy(graph: Graph) -> tuple[list[sympy.Symbol], Any]:
    """The program as SymPy sees it, built from our graph row by row, never from text."""
    made: list[Any] = []
    symbols = {}
    for node, code in enumerate(graph.codes):
        if code == INPUT:
            symbols[node] = sympy.Symbol(f"x{node}", real=True)
            made.append(symbols[node])
        elif code == CONST:
            literal = graph.literals[node]
            made.append({"pi": sympy.pi, "tau": 2 * sympy.pi, "e": sympy.E}.get(literal) or sympy.Rational(literal))
        else:
            made.append(ops.rows()[code].sympy(sympy, *(made[operand] for operand in graph.operands(node))))
    return [symbols[node] for node in graph.inputs.values()], made[graph.output]


def number_by_sympy(symbols: list[sympy.Symbol], expression: Any, numbers: list[float]) -> Any:
    """The value of a SymPy expression with many digits, or None where it has none."""
    if expression.has(sympy.Max, sympy.Min, sympy.Heaviside):
        expression = expression.rewrite(sympy.Piecewise)
    work = sympy.lambdify(symbols, expression, modules="mpmath")
    with mpmath.workdps(DIGITS):
        try:
            found = mpmath.mpmathify(work(*(mpmath.mpf(repr(number)) for number in numbers)))
        except (ZeroDivisionError, ValueError):
            return None
    if isinstance(found, mpmath.mpc):
        found = found.real
    return MANY.context.make_mpf(found._mpf_) if mpmath.isfinite(found) else None


def same(found: Any, expected: Any, digits: int = 30) -> bool:
    if isinstance(found, Hole) or expected is None:
        return False
    return abs(found - expected) <= MANY.number(f"1e-{digits}") * (1 + abs(expected))


ROWS = [
    pytest.param(row, sample, id=f"{row.name}{sample}")
    for row in ops.elementwise()
    for sample in row.samples
    if not row.gives_condition and not row.conditions and row.name != "polygamma"
]


@pytest.mark.parametrize(("row", "sample"), ROWS)
def test_every_row_is_differentiated_as_sympy_does_it(row: ops.Row, sample: tuple[float, ...]) -> None:
    names = [f"x{place + 1}" for place in range(len(sample))]
    program = written(row, [(name, ATOM) for name in names])[0]
    graph = build(parse(program))
    found = differentiate(program)
    assert [one.wrt for one in found.derivatives] == [(name,) for name in graph.inputs]
    symbols, expression = by_sympy(graph)
    point = dict(zip(names, map(float, sample), strict=True))
    numbers = [point[name] for name in graph.inputs]
    moving = dict(zip(graph.inputs, symbols, strict=True))
    for place, one in enumerate(found.derivatives):
        expected = number_by_sympy(symbols, sympy.diff(expression, moving[one.wrt[0]]), numbers)
        mine = value_of(text_of(found, place), point)
        if expected is None or (row.name == "pow" and isinstance(mine, Hole) and point["x1"] < 0):
            continue  # (-2)^y has no slope in y
        assert same(mine, expected), (one.text, mine, expected)


@settings(max_examples=40, deadline=None)
@given(program=programs(3), point=points)
def test_random_programs_are_differentiated_as_sympy_does_it(program: str, point: dict[str, float]) -> None:
    graph = build(parse(program))
    assume(closed(graph).size < 80)
    symbols, expression = by_sympy(graph)
    assume(not expression.has(sympy.Max))  # SymPy takes minutes over a Max in a Max
    found = differentiate(program)
    used = {name: point[name] for name in graph.inputs}
    for place, symbol in enumerate(symbols):
        expected = number_by_sympy(symbols, sympy.diff(expression, symbol), list(used.values()))
        if expected is not None and abs(expected) < 1e6:
            assert same(value_of(text_of(found, place), used), expected), found.derivatives[place].text


@settings(max_examples=120, deadline=None)
@given(program=programs(), point=points, wrt=st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)))
def test_second_derivatives_agree_with_differences_of_the_first(
    program: str, point: dict[str, float], wrt: tuple[str, str]
) -> None:
    program = f"{program} + 0*({' + '.join(NAMES)})"
    assume(not at_a_kink(at(program, {name: repr(number) for name, number in point.items()}, kind=MANY)))
    first, second = differentiate(program, [[wrt[0]]]), differentiate(program, [list(wrt)])
    step = MANY.number("1e-15")
    exact = {name: MANY.number(repr(number)) for name, number in point.items()}
    above, below = (value_of(text_of(first, 0), {**exact, wrt[1]: exact[wrt[1]] + sign * step}) for sign in (1, -1))
    here = value_of(text_of(first, 0), exact)
    assume(not any(isinstance(one, Hole) or abs(one) > 1e4 for one in (above, here, below)))
    assume(abs(above - 2 * here + below) < 1e-20 and abs(above - below) < 1e-9)  # no corner or jump beside the point
    found = value_of(text_of(second, 0), exact)
    assert same(found, (above - below) / (2 * step), 12), second.derivatives[0].text
    assert same(value_of(text_of(differentiate(program, [list(wrt[::-1])]), 0), exact), found)


@settings(max_examples=40, deadline=None)
@given(program=programs(), point=points)
def test_the_engines_run_unchanged_on_formulas(program: str, point: dict[str, float]) -> None:
    graph = build(parse(program))
    known = values(graph, SYMBOL, {node: SYMBOL.symbol(name) for name, node in graph.inputs.items()})
    wrt = list(graph.inputs.values())
    adjoints = reverse(graph, partials(graph, SYMBOL, known, graph.moving(wrt)), SYMBOL).adjoints
    here = at(program, {name: repr(point[name]) for name in graph.inputs}, kind=MANY)
    for name, node in graph.inputs.items():
        expected = here.gradient()[name]
        assume(not isinstance(expected, Hole) and abs(expected) < 1e6)
        adjoint = formulas.ZERO if adjoints[node] is None else adjoints[node]
        assert same(value_of(str(adjoint), point), expected)


@pytest.mark.parametrize(
    ("program", "wrt", "expected"),
    [
        ("(x*y + z)*x", "x", "2*x*y + z"),
        ("(x*y + z)*x", "y", "x^2"),
        ("x^2*sin(x)", "x", "2*x*sin(x) + x^2*cos(x)"),
        ("x*log(x)", "x", "log(x) + 1"),
        ("e^x", "x", "e^x"),
        ("exp(-x^2)", "x", "-2*x*exp(-x^2)"),
        ("1/(1 + exp(-x))", "x", "exp(-x)/(1 + exp(-x))^2"),
        ("sqrt(x)", "x", "1/(2*sqrt(x))"),
        ("x^y", "y", "x^y*log(x)"),
        ("x/y", "y", "-x/y^2"),
        ("tanh(x)", "x", "1 - tanh(x)^2"),
        ("(x^2 + x)^3", "x", "3*(x^2 + x)^2*(2*x + 1)"),
        ("max(0, w*x + b)", "w", "where(w*x + b > 0, x, 0)"),
        ("x^3 if x > 0 else log(2 - x)", "x", "where(x > 0, 3*x^2, -1/(2 - x))"),
        ("Y = α*X + β*X + γ*X; δ*Y + ε*Y + ζ*Y", "X", "(α + β + γ)*(δ + ε + ζ)"),
        ("c = a + b; d = b + 1; c*d", "b", "2*b + a + 1"),
        ("x = x^2; x = x^2; x", "x", "4*x^3"),
        ("sq(t) = t*t; sq(sq(x))", "x", "4*x^3"),
        ("input x = 3; param w = 0.1; w*x + 0.1*x", "x", "w + 0.1"),
        ("u = x^2; sin(u)*u", "u", "u*cos(u) + sin(u)"),
        ("pi*r^2", "pi", "r^2"),
        ("0^y", "y", "where(y > 0, 0, 0^y*log(0))"),
        ("floor(x)*y", "x", "0"),
        ("max(x, x)", "x", "1"),
        ("sin(exp(x))", "x", "cos(exp(x))*exp(x)"),
        # the root is asked for only where there is one
        ("where(y > 0, max(sqrt(y), 1), 0)", "y", "where(y > 0, where(sqrt(y) > 1, 1/(2*sqrt(y)), 0), 0)"),
    ],
)
def test_first_derivatives_read_as_on_paper(program: str, wrt: str, expected: str) -> None:
    assert differentiate(program, [[wrt]])[wrt] == expected


@pytest.mark.parametrize(
    ("program", "wrt", "order", "expected"),
    [
        ("x^3*y", None, 2, {"∂²f/∂x²": "6*x*y", "∂²f/∂y∂x": "3*x^2", "∂²f/∂y²": "0"}),
        ("x^3*y", [["x", "y"]], 1, {"∂²f/∂y∂x": "3*x^2"}),
        ("x^3*y", [["y", "x", "x"]], 3, {"∂³f/∂x²∂y": "6*x"}),
        ("sin(2*x)", [["x"]], 4, {"∂⁴f/∂x⁴": "16*sin(2*x)"}),
        ("x^5", [["x"]], 6, {"∂⁶f/∂x⁶": "0"}),
        ("g = u^2*v", [["u"], ["v"]], 2, {"∂²g/∂u²": "2*v", "∂²g/∂v²": "0"}),
    ],
)
def test_higher_derivatives(program: str, wrt: Any, order: int, expected: dict[str, str]) -> None:
    assert {one.name: one.text for one in differentiate(program, wrt, order).derivatives} == expected


def test_the_chain_rule_of_the_neuron_in_symbols() -> None:
    found = differentiate("z = w*x + b; h = tanh(z); L = (h - y)^2", [["w"]])
    assert [one.line for one in found.chain] == [
        "∂L/∂v2 = 2*v2",
        "∂L/∂h = ∂L/∂v2 · ∂v2/∂h = 2*v2",
        "∂L/∂z = ∂L/∂h · ∂h/∂z = 2*v2*(1 - h^2)",
        "∂L/∂v1 = ∂L/∂z · ∂z/∂v1 = 2*v2*(1 - h^2)",
        "∂L/∂w = ∂L/∂v1 · ∂v1/∂w = 2*v2*x*(1 - h^2)",
    ]


def test_where_edges_meet_the_chain_rule_adds() -> None:
    found = differentiate("c = a + b; d = b + 1; e = c*d", [["b"]])
    assert found.chain[-1].line == "∂e/∂b = ∂e/∂c · ∂c/∂b + ∂e/∂d · ∂d/∂b = d + c"


@settings(max_examples=60, deadline=None)
@given(program=programs(), point=points)
def test_the_chain_rule_over_the_ids_is_the_adjoint(program: str, point: dict[str, float]) -> None:
    found = differentiate(program)
    here = at(program, {name: repr(point[name]) for name in found.inputs}, kind=MANY)
    graph = here.graph
    adjoints = here.reverse().adjoints
    known = {graph.ids[node]: value for node, value in enumerate(here.values) if not isinstance(value, (Hole, bool))}
    for line in found.chain:
        expected = adjoints[graph.ids.index(line.node)]
        if expected is None or "∂" in line.formula or "where" in line.formula:
            continue  # a long adjoint stays a name; conditions are nodes, not numbers
        names = set(build(parse(line.formula)).inputs)
        if all(known.get(name) is not None for name in names) and abs(expected) < 1e6:
            assert same(value_of(line.formula, {name: known[name] for name in names}), expected), line.line


def test_a_product_of_a_thousand_factors_shares_its_parts() -> None:
    found = differentiate("*".join(f"x{place}" for place in range(1000)))
    assert len(found.derivatives) == 1000
    size = sum(len(name) + len(what) for name, what in found.shared) + sum(len(one.text) for one in found.derivatives)
    assert size < 100_000
    point = {f"x{place}": 1.0 + place / 1e4 for place in range(1000)}
    whole = value_of("*".join(point), point)
    assert same(value_of(text_of(found, 500), point) * MANY.number(repr(point["x500"])) / whole, 1)


@pytest.mark.parametrize("step", ["v{0}*v{0}", "v{0} + v{0}", "sin(v{0})*v{0}", "v{0}/(1 + v{0}^2)"])
def test_forty_doublings_stay_small(step: str) -> None:
    program = "v0 = x*y + 1; " + "; ".join(f"v{place + 1} = {step.format(f'{place}')}" for place in range(40))
    found = differentiate(program)
    assert sum(len(name) + len(what) for name, what in found.shared) < 10_000
    assert all(len(one.text) < 2000 for one in found.derivatives)
    point = {"x": 1e-9, "y": 0.5} if "*" in step else {"x": 0.3, "y": 0.5}
    if step == "v{0}*v{0}":
        point = {"x": 1e-13, "y": 0.5}
    exact = {name: MANY.number(repr(number)) for name, number in point.items()}
    tiny = MANY.number("1e-40")
    above, below = (value_of(program, {**exact, "x": exact["x"] + sign * tiny}) for sign in (1, -1))
    quotient = (above - below) / (2 * tiny)
    mine = value_of(text_of(found, 0), exact)
    assert abs(mine - quotient) <= abs(quotient) * MANY.number("1e-10")


def test_gradient_formulas_give_what_is_short_enough_for_a_table() -> None:
    graph = build(parse("c = a*b; c^2 + k"))
    nodes = [*graph.inputs.values(), graph.ids.index("c")]
    assert gradient_formulas(graph, nodes) == {"a": "2*a*b^2", "b": "2*a^2*b", "k": "1", "c": "2*c"}
    long = build(parse("*".join(f"sin(x{place})" for place in range(60))))
    assert gradient_formulas(long, [0]) == {}


@pytest.mark.parametrize(
    ("wrt", "order", "mistake"),
    [(None, 0, OrderOutOfRange), ([["x", "y"]], 3, OrderUnlikeNames), ([["q"]], 1, UnknownNode)],
)
def test_what_makes_no_sense_is_a_mistake(wrt: Any, order: int, mistake: type[Mistake]) -> None:
    with pytest.raises(mistake):
        differentiate("x*y", wrt, order)


def test_too_many_derivatives_are_refused_before_they_are_worked_out() -> None:
    with pytest.raises(Mistake, match="too many derivatives"):
        differentiate("*".join(f"x{place}" for place in range(60)), order=4)


def test_every_format_shows_every_derivative() -> None:
    found = differentiate("x^2*y + sin(y)")
    shown = {name: "\n".join(render(found, Look(), name)) for name in FORMATS}
    assert "∂f/∂x       2*x*y" in shown["table"]
    assert "∂f/∂y       x^2 + cos(y)" in shown["table"]
    assert r"\frac{\partial f}{\partial y} &= x^{2} + \cos\left(y\right)" in shown["latex"]
    record = json.loads(shown["json"])
    assert [one["formula"] for one in record["derivatives"]] == ["2*x*y", "x^2 + cos(y)"]
    assert "∂" not in "\n".join(render(found, Look(ascii=True), "table"))
    with pytest.raises(UnknownFormat):
        list(render(found, Look(), "pdf"))


def test_differentiating_does_not_load_sympy() -> None:
    import subprocess
    import sys

    code = "import sys, backprop; backprop.diff('x^2'); print('sympy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"

"""The sum over paths: listed, counted, summed, ranked and factored, against each other, against products of sums worked
out apart, and against reverse mode."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import random
import time
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backprop.factors import product_of
from backprop.mistakes import NotATrace, TermsWithoutSize, UnknownFormat, UnknownNode
from backprop.path_sums import (
    Routes,
    adjoint,
    agrees,
    count,
    exit_code,
    factor,
    listed,
    listing,
    routes,
    size_total,
    terms,
    top,
    total,
    undefined,
)
from backprop.record import Trace
from backprop.render.csv import csv_line
from backprop.render.look import Look
from backprop.render.paths import lines
from backprop.tracing import trace
from diamonds import diamonds, trace_of, written_diamonds

LESSON = "Y = α*X + β*X + γ*X; Z = δ*Y + ε*Y + ζ*Y"
LESSON_POINT = dict(zip("αβγδεζX", [1, 2, 3, 4, 5, 6, 7], strict=True))


def traced(program: str, **inputs: float) -> Trace:
    return trace(program, inputs, check=False)


def shown(found: list[Routes], **asked: Any) -> list[str]:
    return list(lines(found, Look(), **asked))


# -- the lessons -----------------------------------------------------------------------------------------------------


def test_two_paths_from_b_bring_2_and_3():
    found = Routes(traced("c = a + b; d = b + 1; e = c*d", a=2, b=1), "b")
    assert [(path.nodes, path.partials, path.term, path.running) for path in listing(found)] == [
        (["b", "c", "e"], [1, 2], 2, 2),
        (["b", "d", "e"], [1, 3], 3, 5),
    ]
    text = "\n".join(shown([found]))
    assert "1 · d = 1 · 2" in text
    assert "∂e/∂b = 1 · 2 + 1 · 3 = 5  ✓" in text


def test_a_repeated_input_has_two_paths_minus_3_and_minus_1():
    found = Routes(traced("(x*y + z)*x", x=3, y=-1, z=2), "x")
    assert list(terms(found)) == [-3, -1]
    assert total(found) == adjoint(found) == -4
    assert exit_code([found]) == 0


def test_nine_paths_factor_into_one_product_of_two_sums():
    found = Routes(trace(LESSON, LESSON_POINT, check=False), "X", symbolic=True)
    expected = [f"{first}·{second}" for first in "αβγ" for second in "δεζ"]
    assert list(terms(found)) == expected
    factored = factor(found)
    assert factored.text == "(α+β+γ)·(δ+ε+ζ)"
    assert (factored.listed_multiplications, factored.listed_additions) == (9, 8)
    assert (factored.multiplications, factored.additions) == (1, 4)
    assert factored.names == []
    assert shown([found])[-1] == "∂Z/∂X = " + " + ".join(expected)
    assert "path by path: 9 multiplications, 8 additions" in shown([found], show="factor")


def test_the_nine_terms_need_no_values():
    found = routes(trace(LESSON, {}, symbolic=True), ["X"])
    assert found[0].symbolic
    assert factor(found[0]).text == "(α+β+γ)·(δ+ε+ζ)"
    assert list(terms(found[0]))[:2] == ["α·δ", "α·ε"]


def test_the_factored_lesson_is_worked_out_in_numbers():
    found = Routes(trace(LESSON, LESSON_POINT, check=False), "X")
    assert factor(found).value == 90 == total(found)
    assert "∂Z/∂X = (α+β+γ)·(δ+ε+ζ) = (1+2+3)·(4+5+6) = 90  ✓ the adjoint" in shown([found], show="factor")


def test_five_diamonds_have_243_terms_that_sum_to_the_product_of_sums():
    draw = random.Random(5)
    rows = [[draw.uniform(-2, 2) for _ in range(3)] for _ in range(5)]
    found = Routes(diamonds(rows), "n0")
    listed = list(listing(found))
    product = math.prod(sum(row) for row in rows)
    assert len(listed) == count(found) == 243
    assert [path.term for path in listed] == pytest.approx([math.prod(way) for way in itertools.product(*rows)])
    assert listed[-1].running == pytest.approx(product, rel=1e-12)
    assert total(found) == pytest.approx(product, rel=1e-12)
    assert factor(found).value == pytest.approx(product, rel=1e-12)
    assert size_total(found) == pytest.approx(math.prod(sum(map(abs, row)) for row in rows), rel=1e-12)


@pytest.mark.parametrize(
    "made", [lambda k: diamonds([[0.25, 0.25, 0.5]] * k), lambda k: written_diamonds(k, (1, 2, 3))]
)
def test_three_to_the_200_paths_are_counted_exactly_and_summed(made):
    trace = made(200)
    found = Routes(trace, trace.wrt[0])
    assert count(found) == 3**200
    assert total(found) == pytest.approx(1.0 if trace.wrt == ["n0"] else 6.0**200, rel=1e-12)


def test_three_to_the_1000_is_written_to_its_last_digit():
    found = Routes(diamonds([[1.0] * 3] * 1000), "n0")
    assert count(found) == 3**1000
    assert str(3**1000) in shown([found], show="count")[0]
    assert json.loads("\n".join(shown([found], show="count", format="json")))["routes"][0]["count"] == 3**1000


def test_a_count_of_more_than_4300_digits_is_still_written_out():
    found = Routes(diamonds([[1.0] * 10] * 5000), "n0")
    text = "\n".join(shown([found], show="count", format="json"))
    assert json.loads(text)["routes"][0]["count"] == "1" + "0" * 5000


# -- what is a path --------------------------------------------------------------------------------------------------


def test_parallel_edges_are_kept_apart_by_their_operand():
    found = Routes(traced("x*x", x=3), "x")
    assert [(path.nodes, path.keys, path.term) for path in listing(found)] == [
        (["x", "f"], [0], 3),
        (["x", "f"], [1], 3),
    ]
    text = "\n".join(shown([found]))
    assert "x →₁ f" in text
    assert "x →₂ f" in text
    assert "x ->(2) f" in "\n".join(lines([found], Look(ascii=True)))


@pytest.mark.parametrize(
    ("program", "inputs", "expected"),
    [
        ("x*x", {"x": 2}, 2),
        ("x^3", {"x": 2}, 1),
        ("x^x", {"x": 2}, 2),
        ("max(x, y)", {"x": 1, "y": 2}, 1),
        ("relu(x) - max(x, 0)", {"x": 0}, 2),
        ("0*x", {"x": 2}, 1),
        ("where(x > 0, 2*x, x^3)", {"x": 1}, 1),
        ("m = (x + b)/2; ((x - m)^2 + (b - m)^2)/2", {"x": 1, "b": 1}, 3),
        ("v = 0*x; v = v + x; v = v + x; v = v + x; v = v + x; v*v", {"x": 1.25}, 10),
        ("x^x^x", {"x": 1.7}, 3),
        ("y + 1", {"x": 2, "y": 1}, 0),
    ],
)
def test_every_occurrence_through_which_a_derivative_passes_is_a_path(program, inputs, expected):
    found = Routes(traced(program, **inputs), "x")
    assert count(found) == expected == len(list(listing(found)))


def test_an_input_that_is_not_used_has_no_path_and_derivative_0():
    found = Routes(traced("y + 1", x=2, y=1), "x")
    assert (count(found), total(found), size_total(found)) == (0, 0, 0)
    assert list(listing(found)) == []
    assert top(found, 3).paths == []
    assert factor(found).value == 0
    assert shown([found]) == ["∂f/∂x = 0: no path leads from x to f"]


def test_from_a_node_to_itself_leads_one_path_without_an_edge():
    found = Routes(traced("x*x", x=3), "x", "x")
    assert [(path.nodes, path.term) for path in listing(found)] == [(["x"], 1)]
    assert (count(found), total(found), factor(found).text, factor(found).value) == (1, 1, "1", 1)
    assert top(found, 2).paths[0].term == 1


def test_against_the_arrows_there_is_no_path():
    assert count(Routes(traced("c = x + 1; c*x", x=3), "c", "x")) == 0


def test_any_two_nodes_may_be_asked_for():
    found = Routes(traced("c = a + b; d = b + 1; e = c*d", a=2, b=1), "c", "e")
    assert list(terms(found)) == [2]
    assert adjoint(found) == 2


def test_an_unknown_node_is_a_mistake_that_names_one_like_it():
    with pytest.raises(UnknownNode, match="hidde") as caught:
        Routes(traced("hidden = x*x; hidden + 1", x=3), "hidde")
    assert "hidden" in caught.value.repair


def test_the_sources_are_the_variables_asked_for_unless_others_are_named():
    found = trace("x*y + z", {"x": 1, "y": 2, "z": 3}, wrt=["y", "z"], check=False)
    assert [each.source_id for each in routes(found)] == ["y", "z"]
    assert [each.source_id for each in routes(found, ["v1"])] == ["v1"]


def test_a_trace_read_from_json_gives_the_same_bytes():
    made = traced("(x*y + z)*x + sin(x)", x=3, y=-1, z=2)
    again = Trace.from_json(made.to_json())
    for show, form in itertools.product(["list", "count", "top", "factor"], ["table", "json", "ndjson", "csv"]):
        assert shown(routes(made), show=show, format=form) == shown(routes(again), show=show, format=form)


@pytest.mark.parametrize(
    "edges",
    [[("f", "x", 1.0)], [("x", "x", 1.0)]],
)
def test_edges_that_run_backwards_are_no_trace(edges):
    with pytest.raises(NotATrace):
        Routes(trace_of(edges, nodes=["x", "f"]), "x")


def test_an_edge_from_nowhere_is_no_trace():
    made = trace_of([("x", "f", 1.0)])
    made.edges[0].source = "q"
    with pytest.raises(NotATrace):
        Routes(made, "x")


# -- undefined, zero, infinite ---------------------------------------------------------------------------------------


def test_a_path_over_an_undefined_partial_is_listed_and_its_term_is_undefined():
    found = Routes(traced("sqrt(x) + 2*x", x=0), "x")
    assert [(path.nodes, path.term) for path in listing(found)] == [(["x", "v1", "f"], None), (["x", "v2", "f"], 2)]
    assert (count(found), undefined(found), total(found), factor(found).value) == (2, 1, None, None)
    assert [path.term for path in top(found, 5).paths] == [2]
    assert exit_code([found]) == 3
    assert "undefined" in "\n".join(shown([found]))
    assert "left out: 1 term" in "\n".join(shown([found], show="top"))


def test_a_branch_not_taken_stops_an_undefined_slope():
    """relu(-1 - sqrt(x)) at 0: flat there, however steep the root is; reverse mode says 0 too."""
    found = Routes(traced("relu(-1 - sqrt(x)) + x", x=0), "x")
    assert [path.term for path in listing(found)] == [0, 1]
    assert total(found) == adjoint(found) == 1
    assert undefined(found) == 0


def test_minus_zero_is_written_zero():
    found = Routes(trace_of([("x", "v", -1.0), ("v", "f", 0.0)]), "x")
    (path,) = listing(found)
    assert math.copysign(1, path.term) == 1
    assert math.copysign(1, path.running) == 1
    assert math.copysign(1, total(found)) == 1


def test_terms_beyond_the_range_of_a_double_are_infinite_and_still_ranked():
    found = Routes(diamonds([[1e5, -1e4, 3.0]] * 1000), "n0")
    best = top(found, 1002)
    assert best.paths[0].term == math.inf
    assert best.paths[0].partials == [1e5] * 1000
    # next come the thousand ways to take one -1e4, in the order of the listing: the first step differs last
    changed = [path.partials.index(-1e4) for path in best.paths[1:1001]]
    assert changed == list(range(999, -1, -1))
    assert all(path.term == -math.inf for path in best.paths[1:1001])
    assert best.shares[0] == pytest.approx(float(Fraction(100000, 110003) ** 1000))


def test_a_product_that_leaves_the_range_on_the_way_and_comes_back_is_right():
    steps = [1e200, 1e200, 1e-300, 1e-90]
    edges = [(f"n{k}", f"n{k + 1}", slope) for k, slope in enumerate(steps)]
    found = Routes(trace_of(edges, output="n4"), "n0")
    assert list(terms(found)) == pytest.approx([1e10])
    assert total(found) == pytest.approx(1e10)
    assert top(found, 1).paths[0].term == pytest.approx(1e10)


def test_so_many_small_terms_that_doubles_would_overflow_are_summed():
    rows = [[1.0] * 3] * 800 + [[1 / 9.0]] * 400
    assert total(Routes(diamonds(rows), "n0")) == pytest.approx(1.0, rel=1e-12)


def test_a_wrong_partial_is_told():
    made = traced("c = a + b; d = b + 1; e = c*d", a=2, b=1)
    next(edge for edge in made.edges if edge.source == "d").partial = 3.003
    found = Routes(made, "b")
    assert agrees(found, total(found)) is False
    assert exit_code([found]) == 1
    assert "✗ the adjoint is 5" in shown([found])[-1]


# -- the largest terms -----------------------------------------------------------------------------------------------


def test_ties_stand_in_the_order_of_the_listing():
    found = Routes(diamonds([[2.0, -2.0, 2.0]] * 3), "n0")
    assert [path.keys for path in top(found, 27).paths] == [path.keys for path in listing(found)]


def test_the_same_factors_in_another_order_are_a_tie_though_their_rounding_differs():
    """0.1·0.3·0.7 in six orders: the doubles differ in their last digit, the numbers do not."""
    orders = list(itertools.permutations([0.1, 0.3, 0.7]))
    assert len({math.prod(order) for order in orders}) > 1
    edges = []
    for way, order in enumerate(orders):
        stops = ["x", f"a{way}", f"b{way}", "f"]
        edges += [(stops[k], stops[k + 1], slope) for k, slope in enumerate(order)]
    nodes = ["x", *(f"{letter}{way}" for letter in "ab" for way in range(6)), "f"]
    found = Routes(trace_of(edges, nodes=nodes), "x")
    assert [path.nodes for path in top(found, 6).paths] == [path.nodes for path in listing(found)]


def test_zeros_come_last_and_more_than_there_are_may_be_asked_for():
    found = Routes(trace_of([("x", "f", 0.0), ("x", "f", -5.0), ("x", "f", 3.0)]), "x")
    assert [path.term for path in top(found, 100).paths] == [-5, 3, 0]
    assert top(found, 1).share == pytest.approx(5 / 8)
    assert top(found, 0).paths == []


def test_when_every_term_is_zero_there_is_no_share():
    best = top(Routes(trace_of([("x", "f", 0.0), ("x", "f", 0.0)]), "x"), 1)
    assert (best.paths[0].term, best.share) == (0, None)


def test_formulas_cannot_be_ranked():
    found = Routes(trace(LESSON, {}, symbolic=True), "X")
    with pytest.raises(TermsWithoutSize):
        top(found, 3)
    with pytest.raises(TermsWithoutSize):
        lines([found], Look(), show="top")


# -- the factored form -----------------------------------------------------------------------------------------------


def test_a_sum_that_two_places_share_gets_a_name():
    """x -> a, b; a -> b, c; b -> c, f; c -> f: the sum behind c and behind b is used twice, so each is named once."""
    arrows = ["xa p", "xb q", "ab r", "ac s", "bc t", "bf u", "cf v", "cf w"]
    edges = [(ends[0], ends[1], 2.0, label) for ends, label in map(str.split, arrows)]
    factored = factor(Routes(trace_of(edges, nodes=list("xabcf")), "x"))
    assert [
        (factored.name(node), factored.write(form, factored.routes.network.label)) for node, form in factored.names
    ] == [
        ("∂f/∂c", "v+w"),
        ("∂f/∂b", "t·∂f/∂c+u"),
    ]
    assert factored.text == "p·(r·∂f/∂b+s·∂f/∂c)+q·∂f/∂b"
    # v+w = 4; 2·4+2 = 10; 2·(2·10+2·4)+2·10 = 76
    assert factored.value == 76
    assert (factored.multiplications, factored.additions) == (5, 4)


def test_factoring_never_grows_faster_than_the_graph():
    """Fibonacci: every node feeds the next two; the paths double and double, the factored form does not."""
    edges = []
    for k in range(300):
        edges += [(f"n{k}", f"n{k + 1}", 1.5, f"a{k}"), (f"n{k}", f"n{k + 2}", -0.5, f"b{k}")]
    edges = [edge for edge in edges if edge[1] != "n301"]
    nodes = [f"n{k}" for k in range(301)]
    factored = factor(Routes(trace_of(edges, nodes=nodes, output="n300"), "n0"))
    assert factored.multiplications + factored.additions < 4 * 300
    label = factored.routes.network.label
    assert sum(len(factored.write(form, label)) for _, form in factored.names) + len(factored.text) < 40 * 300
    assert factored.value == pytest.approx(total(factored.routes))


def test_products_are_written_as_on_paper():
    assert product_of(["1", "α", "1", "δ"]) == "α·δ"
    assert product_of(["-1", "x + 1", "-y"]) == "(x + 1)·y"
    assert product_of(["-1", "cos(x + 1)"]) == "-cos(x + 1)"
    assert product_of(["1", "1"]) == "1"
    assert product_of([]) == "1"


# -- large graphs ----------------------------------------------------------------------------------------------------


def test_a_graph_with_1e30_paths_gives_its_first_lines_at_once():
    found = Routes(diamonds([[0.5, -1.25, 0.75]] * 63), "n0")
    assert count(found) > 10**30
    start = time.perf_counter()
    assert [path.index for path in itertools.islice(listing(found), 3)] == [1, 2, 3]
    assert next(terms(found)) == 0.5**63
    for form in ("table", "json", "ndjson", "csv"):
        assert len(list(itertools.islice(lines([found], Look(), format=form), 9))) == 9
    assert time.perf_counter() - start < 2


def test_dead_ends_are_never_walked():
    """3^60 ways lead to a node from which nothing reaches the output; the one path is found without them."""
    edges = [(f"n{k}", f"n{k + 1}", 1.0) for k in range(60) for _ in range(3)]
    found = Routes(trace_of([*edges, ("n0", "f", 7.0)]), "n0")
    assert list(terms(found)) == [7]


def test_a_chain_of_100_000_nodes_meets_no_recursion_limit():
    edges = [(f"n{k}", f"n{k + 1}", 1.0) for k in range(99_999)] + [("n50000", "n99999", 2.0)]
    found = Routes(trace_of(edges, output="n99999"), "n0")
    assert count(found) == 2
    assert [path.term for path in listing(found)] == [1, 2]
    assert list(terms(found)) == [1, 2]
    assert [path.term for path in top(found, 5).paths] == [2, 1]
    assert factor(found).value == 3 == total(found)
    for show in ("list", "count", "top", "factor"):
        assert shown([found], show=show)


def test_deeply_nested_brackets_meet_no_recursion_limit():
    """v1 = a + b x, v2 = a + b v1, ...: a bracket inside a bracket, 20 000 deep."""
    depth = 20_000
    edges = [("x", "n0", 0.5, "a")]
    for k in range(depth):
        edges += [("x", f"n{k + 1}", 0.5, "a"), (f"n{k}", f"n{k + 1}", 0.5, "b")]
    nodes = ["x", *(f"n{k}" for k in range(depth + 1))]
    factored = factor(Routes(trace_of(edges, nodes=nodes, output=f"n{depth}"), "x"))
    assert factored.value == pytest.approx(1.0)
    assert factored.text.count("(") + sum(1 for _ in factored.names) >= depth - 1


# -- laws on random graphs -------------------------------------------------------------------------------------------


@st.composite
def graphs(draw, partials):
    """A random graph on a few nodes with parallel edges, as a trace; its edges run from earlier to later nodes."""
    size = draw(st.integers(2, 7))
    ends = st.tuples(st.integers(0, size - 2), st.integers(1, size - 1)).filter(lambda pair: pair[0] < pair[1])
    pairs = draw(st.lists(ends, min_size=1, max_size=14))
    edges = [(f"n{source}", f"n{target}", draw(partials)) for source, target in pairs]
    return trace_of(edges, wrt=["n0"], output=f"n{size - 1}", nodes=[f"n{k}" for k in range(size)])


def by_hand(made: Trace) -> list[tuple[list[tuple[str, str, int]], Fraction]]:
    """Every path by plain recursion, with exact terms: the definition."""

    def ways(node):
        if node == made.output:
            yield [], Fraction(1)
            return
        for edge in made.edges:
            if edge.source == node:
                for rest, product in ways(edge.target):
                    yield [(edge.source, edge.target, edge.key), *rest], Fraction(edge.partial) * product

    return list(ways("n0"))


def known_by(path) -> list[tuple[str, str, int]]:
    return [(edge.source, edge.target, edge.key) for edge in path.edges]


@given(graphs(st.integers(-4, 4).map(float)))
@settings(max_examples=200, deadline=None)
def test_listing_counting_summing_ranking_and_factoring_agree_with_the_definition(made):
    found = Routes(made, "n0")
    expected = by_hand(made)
    listed = list(listing(found))
    assert [(known_by(path), path.term) for path in listed] == expected
    assert list(terms(found)) == [term for _, term in expected]
    assert [path.running for path in listed] == list(itertools.accumulate(term for _, term in expected))
    assert count(found) == len(expected)
    assert total(found) == factor(found).value == sum(term for _, term in expected)
    assert size_total(found) == sum(abs(term) for _, term in expected)
    ranked = sorted(expected, key=lambda way: -abs(way[1]))
    for k in (1, 3, len(expected) + 1):
        best = top(found, k)
        assert [(known_by(path), path.term) for path in best.paths] == ranked[:k]


@given(graphs(st.floats(-1e3, 1e3) | st.sampled_from([0.0, 1e-200, -1e200, 1e300])))
@settings(max_examples=200, deadline=None)
def test_in_doubles_they_agree_within_rounding(made):
    found = Routes(made, "n0")
    expected = [term for _, term in by_hand(made)]
    if any(term and not 1e-290 < abs(term) < 1e290 for term in expected):
        return
    size = float(sum(map(abs, expected)))
    near = pytest.approx(float(sum(expected)), rel=1e-12, abs=1e-12 * size)
    assert total(found) == near
    assert factor(found).value == near
    assert list(terms(found)) == pytest.approx([float(term) for term in expected], rel=1e-13)
    assert [path.term for path in listing(found)] == list(terms(found))
    best = top(found, 4)
    assert [abs(path.term) for path in best.paths] == pytest.approx(
        sorted((abs(float(term)) for term in expected), reverse=True)[:4], rel=1e-12
    )
    if size:
        carried = sum(sorted(map(abs, expected), reverse=True)[:4]) / sum(map(abs, expected))
        assert best.share == pytest.approx(float(carried), rel=1e-9)


@given(graphs(st.integers(2, 5).map(float)))  # 1 is no factor: a + a takes no multiplication, a·(1+1) takes one
@settings(max_examples=100, deadline=None)
def test_the_factored_form_never_takes_more_operations_than_the_listing(made):
    factored = factor(Routes(made, "n0"))
    assert factored.multiplications <= factored.listed_multiplications
    assert factored.additions <= factored.listed_additions


@st.composite
def programs(draw):
    """A few statements over x and y in which everything is used again and again."""
    names, text = ["x", "y"], []
    for k in range(draw(st.integers(2, 6))):
        form = draw(st.sampled_from(["{}*{}", "{} + {}", "{} - {}", "sin({})*{}", "{}/(1 + {}^2)", "max({}, {})"]))
        text.append(f"t{k} = " + form.format(*(draw(st.sampled_from(names[-4:])) for _ in range(2))))
        names.append(f"t{k}")
    return "; ".join(text)


@given(programs(), st.integers(-8, 8), st.integers(-8, 8))
@settings(max_examples=100, deadline=None)
def test_the_sum_over_paths_is_the_adjoint_of_reverse_mode(program, x, y):
    for found in routes(trace(program, {"x": x / 4, "y": y / 4}, wrt=None, check=False)):
        assert agrees(found, total(found)) is True
        assert agrees(found, factor(found).value) is True
        running = 0.0
        for path in listing(found):
            running = path.running
        assert agrees(found, running) is True


# -- what is printed -------------------------------------------------------------------------------------------------


def test_json_holds_every_path_once():
    record = json.loads("\n".join(shown(routes(traced("x*x + y", x=3, y=1)), format="json")))
    assert [(entry["from"], entry["count"], entry["sum"], entry["agrees"]) for entry in record["routes"]] == [
        ("x", 2, 6, True),
        ("y", 1, 1, True),
    ]
    assert record["routes"][0]["paths"][1] == {
        "index": 2,
        "nodes": ["x", "v1", "f"],
        "keys": [1, 0],
        "formulas": ["x", "1"],
        "partials": [3, 1],
        "term": 3,
        "sum": 6,
    }


def read_back(found: Routes, form: str) -> list[dict[str, Any]]:
    """The paths as a reader of JSON lines or CSV finds them."""
    text = shown([found], format=form)
    if form == "csv":
        return list(csv.DictReader(text))
    return [record for record in map(json.loads, text) if record["what"] == "path"]


@pytest.mark.parametrize("largest_tail", [1, 5, 4096])
@given(made=graphs(st.sampled_from([2.0, -0.5, 0.0, 1e300, None])), symbolic=st.booleans())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_lines_written_in_stretches_hold_what_each_path_holds(monkeypatch, largest_tail, made, symbolic):
    """However few edges the shared tails have, so that paths are put together from heads and tails of any length."""
    monkeypatch.setattr(listed, "LARGEST_TAIL", largest_tail)
    for edge in made.edges:
        edge.formula = f"{edge.source}*{edge.key}"
    found = Routes(made, "n0", symbolic=symbolic)
    paths = list(listing(found))
    records, rows = read_back(found, "ndjson"), read_back(found, "csv")
    assert len(paths) == len(records) == len(rows)
    # JSON has no infinity, and a text in its place
    infinite = {math.inf: "Infinity", -math.inf: "-Infinity"}
    for path, record, row in zip(paths, records, rows, strict=True):
        assert (record["index"], record["nodes"], record["keys"]) == (path.index, path.nodes, path.keys)
        assert record["formulas"] == path.formulas
        assert record.get("term") == (path.product if symbolic else infinite.get(path.term, path.term))
        assert record.get("sum") == (None if symbolic else infinite.get(path.running, path.running))
        assert record.get("partials", path.partials) == path.partials
        assert row["path"].split() == path.nodes
        assert row["formulas"] == " · ".join(path.formulas)
        assert row["term"] == (path.product if symbolic else "" if path.term is None else f"{path.term:g}")
    table = shown([found])
    if paths:
        told = [line.split() for line in table[3 : 3 + len(paths)]]
        assert [line[0] for line in told] == [str(path.index) for path in paths]
        assert [line[1 : 2 * len(path.nodes) : 2] for line, path in zip(told, paths, strict=True)] == [
            path.nodes for path in paths
        ]


def test_a_large_trace_has_the_paths_of_the_same_trace_read_from_json():
    """Its edges are views on columns, of which the paths make no record that nobody sees."""
    program = "\n".join(["y0 = x", *(f"y{k + 1} = 0.5*y{k} + a*y{k} + relu(-y{k})" for k in range(350))])
    large = trace(program, {"x": 1, "a": 0.5}, check=False)
    assert not isinstance(large.nodes, list)
    again = Trace.from_json(large.to_json())
    for name in ("x", "a"):
        one, other = Routes(large, name), Routes(again, name)
        assert (count(one), total(one)) == (count(other), total(other))
        for show, form in (("count", "csv"), ("top", "ndjson"), ("factor", "table")):
            assert shown([one], show=show, format=form) == shown([other], show=show, format=form)
        start = [list(itertools.islice(lines([found], Look()), 20)) for found in (one, other)]
        assert start[0] == start[1]


def test_the_first_lines_of_very_long_paths_are_there_without_hundreds_of_others():
    """A row of 3^2000 paths has a hundred thousand letters: the widths come from the first rows, few of such length."""
    found = Routes(written_diamonds(2000, (1.0, 0.5, 0.25)), "y0")
    seen = 0
    ways = found.network.once(listed.Ways)
    tails = ways.tails

    def counted(node: int) -> Any:
        nonlocal seen
        seen += 1
        return tails(node)

    ways.tails = counted
    first = list(itertools.islice(lines([found], Look()), 4))
    assert first[3].split()[:8] == ["1", "y0", "→", "a0", "→", "s0", "→", "y1"]
    assert seen == 1


@given(st.lists(st.text('ab ,"\n\r;\u2028é', max_size=4), min_size=1, max_size=4))
def test_a_line_of_csv_is_that_of_the_standard_library(row):
    held = io.StringIO()
    csv.writer(held, lineterminator="").writerow(row)
    assert csv_line(row) == held.getvalue()


def test_json_lines_are_one_record_each():
    records = [json.loads(line) for line in shown(routes(traced("x*x + y", x=3, y=1)), format="ndjson")]
    assert [record["what"] for record in records] == ["routes", "path", "path", "routes", "path"]
    assert records[2]["sum"] == 6


def test_csv_has_a_row_for_each_path():
    rows = list(csv.DictReader(shown(routes(traced("x*x + y", x=3, y=1)), format="csv")))
    assert [(row["from"], row["path"], row["term"], row["sum"]) for row in rows] == [
        ("x", "x v1 f", "3", "3"),
        ("x", "x v1 f", "3", "6"),
        ("y", "y f", "1", "1"),
    ]


def test_infinite_terms_are_text_in_json():
    found = Routes(diamonds([[1e5]] * 100), "n0")
    record = json.loads("\n".join(shown([found], format="json")))
    assert record["routes"][0]["paths"][0]["term"] == "Infinity"


def test_a_pipe_gets_every_row_whole_and_a_screen_is_never_overrun():
    found = routes(traced("a_long_name = x*x*x*x*x*x*x*x; a_long_name*a_long_name", x=1.5))
    assert len(shown(found)) == 16 + 4
    assert all(len(line) <= 40 for line in lines(found, Look(width=40)))


def test_ascii_output_is_ascii():
    found = routes(trace(LESSON, LESSON_POINT, check=False), ["X"])
    for show, form in itertools.product(["list", "count", "top", "factor"], ["table", "json", "ndjson", "csv"]):
        assert all(line.isascii() for line in lines(found, Look(ascii=True), show=show, format=form))


def test_an_unknown_format_is_a_mistake():
    with pytest.raises(UnknownFormat, match="jsn") as caught:
        lines([], Look(), format="jsn")
    assert "json" in caught.value.repair


def test_many_digits_stay_many_digits():
    """1/3 to thirty digits, twice in a row: the term is right to all of them."""
    third = "0." + "3" * 30
    made = trace_of([("x", "v", third), ("v", "f", third)], kind="digits:30")
    (path,) = listing(Routes(made, "x"))
    assert path.term.startswith("0." + "1" * 29)
    assert abs(Fraction(path.term) - Fraction(third) ** 2) < Fraction(1, 10**30)


def test_exact_fractions_stay_exact():
    made = trace_of([("x", "v", "2/7"), ("x", "v", "1/7"), ("v", "f", "7/3")], kind="exact")
    found = Routes(made, "x")
    assert list(terms(found)) == ["2/3", "1/3"]
    assert total(found) == factor(found).value == "1"


def test_a_slope_of_a_few_smallest_doubles_agrees_with_its_paths() -> None:
    """2075·0.7^2074 is about 1e-318, where a double is a whole number of 5e-324 and keeps five digits."""
    found = trace("*".join(["x"] * 2075), {"x": 0.7}, check=False)
    routes = Routes(found, "x")
    assert 0 < found.gradient["x"] < 1e-310
    assert agrees(routes, total(routes)) is True

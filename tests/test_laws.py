"""Laws that hold for every program: forward mode = reverse mode = sum over paths = high-precision difference."""

from __future__ import annotations

import math

from hypothesis import assume, given, settings

import backprop
from backprop.kinds import Hole
from backprop.kinds.digits import Digits
from backprop.path_sums import Routes, total
from backprop.point import Program
from backprop.record import Trace
from backprop.values import values
from programs import NAMES, at_a_kink, points, programs


def scale(here: backprop.point.Point, node: int) -> float:
    """Sum of the sizes of all path terms from a node: what rounding errors are measured against."""
    sizes = [0.0] * len(here.graph)
    sizes[here.graph.output] = 1.0
    for target in range(len(here.graph) - 1, -1, -1):
        for edge in here.graph.edges_to(target):
            partial = here.partials.values[edge.place]
            if partial is not None:
                sizes[edge.source] += sizes[target] * abs(partial)
    return sizes[node] + 1e-300


@settings(max_examples=150, deadline=None)
@given(programs(), points)
def test_forward_reverse_paths_and_difference_agree(program: str, point: dict[str, float]) -> None:
    here = Program(program).at(point)
    assume(not isinstance(here.value(), Hole) and math.isfinite(here.value()) and abs(here.value()) < 1e100)
    assume(not at_a_kink(here))
    gradient = here.by_rules()
    trace = backprop.trace(program, point, check=False)
    kind = Digits(60)
    graph = here.graph
    # where doubles lose digits, as in the sine of a large number, the rules are still right
    rules = Program(program).at({name: repr(number) for name, number in point.items()}, kind=kind).gradient()
    exact = {graph.inputs[name]: kind.number(repr(number)) for name, number in point.items()}
    for name in NAMES:
        node = graph.inputs[name]
        size = scale(here, node)
        tangent = here.tangents({node: 1.0})[graph.output]
        assert abs((tangent or 0.0) - gradient[name]) <= 1e-13 * size
        assert abs(float(total(Routes(trace, name))) - gradient[name]) <= 1e-13 * size
        step = kind.number("1e-20")
        ahead = values(graph, kind, exact | {node: exact[node] + step})[graph.output]
        behind = values(graph, kind, exact | {node: exact[node] - step})[graph.output]
        difference = (ahead - behind) / (2 * step)
        # the difference itself is wrong by the square of its step
        assert abs(difference - rules[name]) <= 1e-20 * (size + abs(difference)) + 1e-35


@settings(max_examples=100, deadline=None)
@given(programs(), points)
def test_a_trace_survives_the_way_through_json(program: str, point: dict[str, float]) -> None:
    trace = backprop.trace(program, point, check=False)
    back = Trace.from_json(trace.to_json())
    assert back.to_json() == trace.to_json()


@settings(max_examples=100, deadline=None)
@given(programs(), points)
def test_the_canonical_form_means_the_same(program: str, point: dict[str, float]) -> None:
    trace = backprop.trace(program, point, check=False)
    again = backprop.trace(trace.canonical, point, check=False)
    assert again.canonical == trace.canonical
    assert (again.value, again.gradient) == (trace.value, trace.gradient)
    assert [node.formula for node in again.nodes] == [node.formula for node in trace.nodes]

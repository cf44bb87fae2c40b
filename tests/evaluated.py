"""The evaluator of the page, run by Node and held against traces."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import backprop
from backprop.page.evaluator import Evaluator, evaluator
from backprop.record import Trace
from emitted import in_node

# how what is worked out is printed: JSON has no NaN
PRINT = """
const told = (one) => typeof one === "number" && !Number.isFinite(one) ? String(one) : one;
const lists = ({ values, partials, contributions, adjoints }) => [values, partials, contributions, adjoints].map(
    (list) => Array.from(list, told));
"""

Lists = tuple[list[Any], list[Any], list[Any], list[Any]]


def inputs_of(found: Evaluator, trace: Trace) -> list[float]:
    """The numbers of a trace as `evaluate` takes them."""
    return [trace.nodes[node].value for node in found.leaves]  # type: ignore[misc]


def evaluated(cases: Sequence[tuple[Evaluator, Sequence[Sequence[float]]]]) -> list[list[Lists]]:
    """What evaluators give at points each: values, partials, contributions and adjoints, in one run of Node."""
    parts = [PRINT]
    for found, points in cases:
        assert found.source, found.reason
        at = json.dumps([list(point) for point in points]).replace("NaN", "null")
        parts.append(f"{{\n{found.source}\nconsole.log(JSON.stringify({at}.map((one) => lists(evaluate(one)))));\n}}")
    return [json.loads(line) for line in in_node("\n".join(parts)).splitlines()]


def of_trace(trace: Trace) -> Lists:
    """The same as a trace has it: "NaN" for what has no value, None for what is not there."""
    values = [node.value if node.value is not None else "NaN" if node.taken else None for node in trace.nodes]
    return (
        values,
        [edge.partial for edge in trace.edges],
        [edge.contribution for edge in trace.edges],
        [node.adjoint for node in trace.nodes],
    )


def differences(found: Lists, trace: Trace, within: float = 1e-13) -> list[str]:
    """What is told of numbers that are not those of a trace, up to a part `within` of the largest on the way.

    A rounding of a large value comes back in the slopes: of sin(x) at 1e8 eight digits are right. 0 for `within` asks
    every number for itself, to 1e-12.
    """
    told, expected_lists = [], of_trace(trace)
    room = within * max(map(scale, expected_lists)) if within else 0.0
    names = [node.id for node in trace.nodes]
    edges = [f"{edge.source} to {edge.target} ({edge.key})" for edge in trace.edges]
    for what, places, one, other in zip(
        ("value", "partial", "contribution", "adjoint"),
        (names, edges, edges, names),
        found,
        expected_lists,
        strict=True,
    ):
        assert len(one) == len(other)
        for place, got, expected in zip(places, one, other, strict=True):
            if not same(got, expected, what == "value", room):
                told.append(f"{what} at {place}: {got}, not {expected}")
    return told


def scale(numbers: Sequence[Any]) -> float:
    """The size to which roundings are held: sums on the way may cancel."""
    return max([1.0, *(abs(one) for one in numbers if isinstance(one, float) and math.isfinite(one))])


def same(got: Any, expected: Any, is_value: bool, room: float) -> bool:
    """Whether a number is the one in a trace; a trace does not say why a slope is absent."""
    if expected is None or expected == "NaN":
        return got == "NaN" and expected == "NaN" if is_value and expected == "NaN" else got in (None, "NaN")
    if isinstance(expected, bool) or isinstance(got, bool):
        return got is expected
    if isinstance(expected, float) and math.isinf(expected):
        return got == ("Infinity" if expected > 0 else "-Infinity")
    return isinstance(got, (int, float)) and abs(got - expected) <= max(room, 1e-12 * abs(expected), 1e-322)


def held(cases: Sequence[tuple[str, Sequence[Mapping[str, float]]]], within: float = 1e-13) -> list[str]:
    """What differs for programs at points; the evaluator is made of the trace at the first point."""
    made, traces = [], []
    for program, points in cases:
        some = [backprop.trace(program, point, check=False) for point in points]
        found = evaluator(some[0])
        traces.append(some)
        made.append((found, [inputs_of(found, one) for one in some]))
    told = []
    for (program, points), some, lists in zip(cases, traces, evaluated(made), strict=True):
        for point, one, got in zip(points, some, lists, strict=True):
            told += [f"{program} at {dict(point)}: {text}" for text in differences(got, one, within)]
    return told

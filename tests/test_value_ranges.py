"""Between which numbers an operation stays: no number of it is ever outside, and what is sure not to fail does not."""

from __future__ import annotations

import math
from contextlib import suppress

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from backprop import ops
from backprop.grammar import parse
from backprop.graph.building import build
from backprop.kinds.real import REAL
from backprop.languages.common.value_ranges import BOUNDS, EVERY, HOLDS, OPEN, of_graph, of_row, within
from backprop.ops import Row

NASTY = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 40.0, -700.0, 710.0, 5e-324, 1e-160, 1e200, -1e308, 1.7976931348623157e308)
numbers = st.one_of(st.sampled_from(NASTY), st.floats(allow_nan=False, allow_infinity=False), st.floats(-30, 30))
ends = st.one_of(numbers, st.sampled_from([-math.inf, math.inf]))
NUMERIC = [row for row in ops.elementwise() if row.name in BOUNDS and not row.conditions]


@st.composite
def inside(draw: st.DrawFn) -> tuple[float, tuple[float, float]]:
    """A finite number and bounds around it."""
    x = draw(numbers)
    return x, (min(x, draw(ends)), max(x, draw(ends)))


@settings(max_examples=600, deadline=None)
@given(row=st.sampled_from(NUMERIC), operands=st.lists(inside(), min_size=2, max_size=2))
def test_a_number_is_never_outside_its_bounds(row: Row, operands: list[tuple[float, tuple[float, float]]]) -> None:
    used = operands[: 2 if row.variadic else len(row.parameters)]
    least, most = of_row(row, [bounds for _, bounds in used])
    try:
        found = row.value(REAL, *(x for x, _ in used))
    except (ValueError, ArithmeticError):
        assume(False)
    assume(isinstance(found, bool | float) and not math.isnan(found))
    assert least <= float(found) <= most, (row.name, used)


@settings(max_examples=600, deadline=None)
@given(
    row=st.sampled_from([row for row in ops.elementwise() if row.domain and not row.conditions]),
    operands=st.lists(inside(), min_size=3, max_size=3),
)
def test_what_is_within_its_domain_for_sure_has_a_value(
    row: Row, operands: list[tuple[float, tuple[float, float]]]
) -> None:
    used = operands[: len(row.parameters)]
    if not within(row, [bounds for _, bounds in used]):
        return
    with suppress(OverflowError):
        row.value(REAL, *(x for x, _ in used))


def test_bounds_of_programs() -> None:
    def of(text: str) -> tuple[float, float]:
        return of_graph(build(parse(text)))[-1]

    assert of("1/(1 + exp(-x))") == (0.0, 1.0)
    assert of("x^2 + y^2") == (0.0, math.inf)
    assert of("2 + abs(x)")[0] == 2.0
    assert of("x - y") == EVERY
    assert of("where(x > 0, 2, y^2 + 1)") == (1.0, math.inf)
    assert of("where(x^2 > -1, 1, 0)") == HOLDS
    assert of("where(x > 0, 1, 0)") == OPEN


def test_a_difference_that_is_0_but_for_roundings_is_not_sure_to_be_at_least_0() -> None:
    """sqrt(1 - sin(x)^2): a library may give a sine beyond 1 by a unit in the last place."""
    graph = build(parse("1 - sin(x)^2"))
    assert of_graph(graph)[-1][0] < 0

"""Cost: what a value and its derivatives take, counted and measured, by every way to get them.

Counted is by letting the engines run over numbers that count (`kinds.counted`); measured is the same work in plain
doubles. A forward pass gives the value; one reverse pass then gives the derivatives of one output number by every
input, one tangent pass the derivatives of every output number by one input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from backprop import point as points
from backprop.arrays_text import element_name
from backprop.costs.clocks import Clock
from backprop.costs.conclusions import conclusion
from backprop.costs.counting import BYTES, counts, ways_and_parts
from backprop.costs.machines import by_forward, by_reverse, chosen_places, machine, moving_parts
from backprop.costs.reports import CostReport, Part, PathCost, Way
from backprop.costs.scalar_paths import path_cost, scalars
from backprop.kinds import Hole
from backprop.kinds.counted import Tally
from backprop.mistakes import Undefined
from backprop.ops.work import shape, size
from backprop.refusals import refuse_steps
from backprop.syntax import canonical

if TYPE_CHECKING:
    from backprop.point import Number, Point, Program

# One way may take so many seconds unless another number is asked for.
LONGEST = 10
# and no more than a day
MOST_SECONDS = 86_400


def cost(
    program: str | Program,
    inputs: Mapping[str, Number] | None = None,
    *,
    wrt: Sequence[str] | None = None,
    time: bool = True,
    longest: float = LONGEST,
) -> CostReport:
    """What value and derivatives of a program take at a point: operations, seconds and memory, by every way.

    `time=False` counts only. What would take more than `longest` seconds is estimated and not run. Raises `Mistake`
    for what cannot be read, `NoVariable` for a name in `wrt` that is no input, and `Undefined` for an array without a
    value; numbers that are undefined cost as much as others.
    """
    here = points.at(program, inputs or {}, wrt)
    refuse_steps(here)
    output = here.value()
    if isinstance(output, Hole) and not here.is_scalar:
        from backprop.notes import explained

        # without a value it has no shape either; the opened program tells which element is to blame
        told = here.told()
        here, output = (told, told.answer()) if isinstance(told.answer(), Hole) else (here, output)
        raise Undefined(explained(here, output), span=here.graph.span(output.node)).within(here.syntax.source)
    used = _used(here)
    here.wrt = [node for node in here.wrt if used[node]]
    known = here.values
    shapes, some = _shapes(here), chosen_places(here)
    n = sum(len(some[node]) if node in some else size(known[node]) for node in here.wrt)
    m = size(output)
    count = counts(here)
    ways, parts = ways_and_parts(count, n, m)
    paths = scalars(here)
    found = CostReport(
        program=here.syntax.source,
        canonical=canonical(here.syntax),
        output=here.graph.ids[here.graph.output],
        wrt=list(shapes),
        shapes=shapes,
        inputs=n,
        outputs=m,
        ways=ways,
        parts=parts,
    )
    if isinstance(paths, str):
        found.paths_missing = paths
    else:
        found.paths = path_cost(paths)
        operations = paths.operations + found.paths.multiplications + found.paths.additions
        ways.append(Way("paths", found.paths.terms, "term", operations, BYTES * (paths.kept + n * m)))
    for way in ways:
        way.ratio = _ratio(way.operations, count.value) if count.value else None
    if time:
        Clock(machine(here), here.graph.output, found, longest).run(paths)
    if m == 1:
        found.gradient_ratio, found.measured_ratio = found.way("reverse").ratio, found.way("reverse").time_ratio
    found.winner, found.conclusion = conclusion(found)
    return found


def _shapes(point: Point) -> dict[str, tuple[int, ...]]:
    """The shapes of what moves, by name."""
    return {
        element_name(point.name_of(node), at): shape(point.values[node])[len(at) :] for node, at in moving_parts(point)
    }


def _used(point: Point) -> bytearray:
    """Which nodes derivatives come from, dead ones and those of branches not taken too.

    None comes from the number of a class, from an axis, or from an input that nothing uses, so nobody moves those.
    """
    graph, runner = point.graph, machine(point, Tally())
    known = runner.value()
    slopes = runner.partials(known).values
    used = bytearray(len(graph))
    used[graph.output] = 1
    for node in range(graph.output, -1, -1):
        for edge in graph.edges_to(node) if used[node] else ():
            carries = slopes[edge.place] is not None or known[node] is None or known[edge.source] is None
            used[edge.source] |= carries
    return used


def _ratio(above: int, below: int) -> int | float:
    """above/below; a whole number where no double is as large."""
    try:
        return above / below
    except OverflowError:
        return above // below


__all__ = [
    "LONGEST",
    "MOST_SECONDS",
    "CostReport",
    "Part",
    "PathCost",
    "Way",
    "by_forward",
    "by_reverse",
    "cost",
    "counts",
    "machine",
]

"""Patterns: where a Jacobian or a Hessian may have numbers other than 0, as records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backprop.array_point import ArrayPoint
from backprop.higher.gradient_graph import gradient_graph
from backprop.higher.jacobian_records import Sparsity
from backprop.higher.outputs import Outputs
from backprop.higher.sparsity import pattern
from backprop.mistakes import TooMuchWork
from backprop.opening import MOST_NODES, Opened

if TYPE_CHECKING:
    from backprop.higher.directions import Question

# Places of a pattern, of which each is a bit: 250 megabytes.
MOST_PLACES = 2_000_000_000


def patterns(outputs: Outputs, asked: Question) -> list[Sparsity]:
    """The patterns that are asked for: that of the Jacobian unless it is the Hessian's alone."""
    found = [hessian_sparsity(outputs)] if asked.hessian else []
    return found + ([sparsity(outputs)] if asked.jacobian or not asked.hessian else [])


def sparsity(outputs: Outputs) -> Sparsity:
    """The pattern of the Jacobian. Raises `TooMuchWork` for a program that is too large to be opened."""
    found = outputs.pattern(_opened_for_pattern(outputs, outputs.count))
    assert found is not None
    forward, back = len(found.groups()), len(found.turned().groups())
    return Sparsity("jacobian", found, forward, back, [(outputs.output, outputs.count)], _along(outputs))


def hessian_sparsity(outputs: Outputs) -> Sparsity:
    """The pattern of the Hessian: that of the Jacobian of the gradient. Raises `TooMuchWork`."""
    here, opened = outputs.here, _opened_for_pattern(outputs, len(outputs.columns))
    graph = here.graph if opened is None else opened.graph
    nodes = here.wrt if opened is None else outputs.sources(opened)
    written = gradient_graph(graph, nodes)
    found = pattern(written.graph, written.variables(), written.gradient)
    groups = len(found.groups())
    return Sparsity("hessian", found, groups, groups, _along(outputs), _along(outputs))


def _along(outputs: Outputs) -> list[tuple[str, int]]:
    return [(part.name, len(part.places)) for part in outputs.parts]


def _opened_for_pattern(outputs: Outputs, rows: int) -> Opened | None:
    if rows * len(outputs.columns) > MOST_PLACES:
        raise TooMuchWork(
            f"the pattern would have {rows * len(outputs.columns):,} places; up to {MOST_PLACES:,} are looked at",
            "Try smaller arrays: the pattern is seldom another.",
        ).within(outputs.here.syntax.source)
    if not isinstance(outputs.here, ArrayPoint):
        return None
    opened = outputs.here.opened_graph(MOST_NODES)
    if opened is None:
        raise TooMuchWork(
            f"where derivatives stand is found out number by number, in a program of up to {MOST_NODES:,} of them",
            "Try smaller arrays: the pattern is seldom another.",
        ).within(outputs.here.syntax.source)
    return opened

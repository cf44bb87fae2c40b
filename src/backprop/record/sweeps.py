"""The pass that a trace does not hold, walked over the partials that it does hold: no rule is worked out again.

Forward: a node moves as the sum over the edges into it of the tangent of the source times the partial. Reverse: the
output moves with a node as the sum over the edges out of it of the adjoint of the target times the partial (Griewank
and Walther, Evaluating Derivatives, 2nd ed., sections 3.1 and 3.2).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from backprop.figures import Written
from backprop.record import Edge, Trace, Value


def tangents(trace: Trace, along: str) -> dict[str, Value]:
    """How each node that an input or node `along` leads to moves with it, by id.

    Empty where the partials alone do not tell it: of arrays, formulas, balls and rounded decimals.
    """
    return _swept(trace, along, ((edge, edge.source, edge.target) for edge in trace.edges), trace.edges)


def adjoints(trace: Trace) -> dict[str, Value]:
    """How the output moves with each node that it comes from, by id. Empty where the partials alone do not tell it.

    A trace in forward mode has no partials of what does not move, and nothing is told of that.
    """
    backwards = list(trace.edges)[::-1]
    return _swept(trace, trace.output, ((edge, edge.target, edge.source) for edge in backwards), backwards)


def _swept(trace: Trace, start: str, steps: Iterable[tuple[Edge, str, str]], edges: Iterable[Edge]) -> dict[str, Value]:
    """The edges stand in the order of their targets, and every edge into a node before those out of it."""
    if trace.kind not in ("real", "exact") or any(
        edge.pull is not None or isinstance(edge.partial, list) for edge in edges
    ):
        return {}
    exact = trace.kind == "exact"
    found: dict[str, float | Fraction] = {start: Fraction(1) if exact else 1.0}
    for edge, behind, ahead in steps:
        if behind in found and edge.partial is not None:
            brought = found[behind] * (Fraction(str(edge.partial)) if exact else float(str(edge.partial)))
            found[ahead] = found[ahead] + brought if ahead in found else brought
    return {name: Written(value) if exact else float(value) for name, value in found.items()}

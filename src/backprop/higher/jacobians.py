"""Jacobians: every derivative of every element of the output, and its products with a vector from either side.

A forward pass, moving one element of an input, gives a column of the Jacobian; a reverse pass, from one element of the
output, gives a row. The side that costs less is taken (Griewank and Walther, Evaluating Derivatives, 2008, chapter 3),
and columns, or rows, that do not touch share a pass (`sparsity`). The passes go over the closed graph, whose nodes are
arrays. Beside it each element of the output is a scalar program of its own, the part of the opened one that leads to
it: that confirms its row, and answers where the point is delicate (a kink, a hole, digits that doubles lose).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from backprop import kinds
from backprop import point as points
from backprop.higher.agreement import judged, other_mode, shaken_numbers
from backprop.higher.jacobian_records import Jacobian, Passes
from backprop.higher.outputs import Outputs
from backprop.higher.passes import by_passes, plan
from backprop.kinds import Kind
from backprop.mistakes import TooMuchWork
from backprop.point import Number, Program
from backprop.record import Witness

# Derivatives that are held at once: 10 million doubles are 80 megabytes.
MOST_DERIVATIVES = 10_000_000


def jacobian(
    program: str | Program,
    inputs: Mapping[str, Number],
    wrt: Sequence[str] | None = None,
    kind: str | Kind = "real",
    limit: int | None = None,
    mode: str | None = None,
) -> dict[str, Any]:
    """The Jacobian by each name in `wrt`: the shape of the output, then that of the input.

    `mode` is "forward" or "reverse", the cheaper one when it is None. Raises `Mistake`, also where the value or a
    derivative does not exist.

    >>> jacobian("[x*y, sin(x)]", {"x": 0, "y": 3})["x"].tolist()
    [3.0, 1.0]
    """
    outputs = Outputs(points.at(program, inputs, wrt, kinds.by_name(kind, limit)))
    outputs.refuse()
    return {name: outputs.here.kind.answer(found) for name, found in by_name(outputs, mode).items()}


def _afford(outputs: Outputs) -> None:
    if outputs.count * len(outputs.columns) > MOST_DERIVATIVES:
        raise TooMuchWork(
            f"the Jacobian would have {outputs.count * len(outputs.columns):,} elements; up to {MOST_DERIVATIVES:,} "
            "are worked out",
            "A row or a column of it, or a sum of them, takes one pass: --vjp, --jvp   Fewer inputs: --wrt x",
        ).within(outputs.here.syntax.source)


def matrix(outputs: Outputs, mode: str | None = None) -> tuple[Any, Passes, list[Witness]]:
    """The Jacobian as a matrix of numbers, every element of the output by every element of an input.

    Raises what `gradient.refuse_holes` does for an element that does not exist.
    """
    _afford(outputs)
    passes, groups, found = plan(outputs, mode)
    made = by_passes(outputs, passes.mode, groups, found)
    moved = cache(lambda: shaken_numbers(outputs, passes.mode, groups, found))
    rules = made.copy()
    witnesses = judged(outputs, made, moved)
    if not outputs.here.is_scalar and not outputs.base.intervals:
        witnesses.append(other_mode(outputs, rules, passes.mode, moved))
    outputs.refuse_missing(made.reshape(-1))
    return made, passes, witnesses


def by_name(outputs: Outputs, mode: str | None = None) -> dict[str, Any]:
    """The answer by name: an array in the shape of the output and then that of the input, or one number."""
    made, _, _ = matrix(outputs, mode)
    return outputs.by_name(made)


def told_jacobian(outputs: Outputs, mode: str | None = None) -> Jacobian:
    """The Jacobian as a record."""
    made, passes, witnesses = matrix(outputs, mode)
    found = {name: outputs.kind.record(one) for name, one in outputs.by_name(made).items()}
    return Jacobian(outputs.shape, [*outputs.parts], found, passes, witnesses)

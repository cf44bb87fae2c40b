"""Passes: which mode a Jacobian is worked out in, which columns or rows share a pass, and the passes themselves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from backprop.higher.jacobian_records import Passes
from backprop.higher.outputs import Outputs
from backprop.higher.sparsity import Pattern, members
from backprop.kinds.doubles import Doubles
from backprop.kinds.shapes import shape_of
from backprop.mistakes import OptionValue


def plan(outputs: Outputs, mode: str | None = None) -> tuple[Passes, list[list[int]], Pattern | None]:
    """Which mode to take, and the columns or rows that each of its passes works out."""
    found = outputs.pattern(outputs.opened)
    rows, columns = outputs.count, len(outputs.columns)
    by_column = [[one] for one in range(columns)] if found is None else found.groups()
    by_row = [[one] for one in range(rows)] if found is None else found.turned().groups()
    if mode not in (None, "forward", "reverse"):
        raise OptionValue("mode", mode, "There are: forward, reverse")
    if mode is None:
        shared = None if len(by_column) == columns else len(by_column)
        mode = "forward" if _forward_cost(outputs, shared) <= _reverse_cost(outputs, len(by_row)) else "reverse"
    return (
        Passes(mode, rows, columns, len(by_column), len(by_row)),
        by_column if mode == "forward" else by_row,
        found,
    )


def _work(outputs: Outputs) -> list[int]:
    """About how many multiplications it takes to carry one number over each edge."""
    graph, known, slopes = outputs.here.graph, outputs.here.values, outputs.here.partials.values
    sizes = [math.prod(shape_of(value)) for value in known]
    found = [0] * len(graph.args)
    for node in range(len(graph)):
        for edge in graph.edges_to(node):
            if slopes[edge.place] is not None:
                found[edge.place] = max(sizes[edge.source], sizes[node])
    return found


def _reverse_cost(outputs: Outputs, passes: int) -> int:
    return passes * (len(outputs.here.graph) + sum(_work(outputs)))


def _forward_cost(outputs: Outputs, passes: int | None) -> int:
    """The cost of so many passes; if None, of one for each column, which ends where its input does not reach."""
    graph, work = outputs.here.graph, _work(outputs)
    if passes is not None:
        return passes * (len(graph) + sum(work))
    moved = [0] * len(graph)
    for place, part in enumerate(outputs.parts):
        moved[part.node] |= 1 << place
    single = all(len(part.places) == 1 for part in outputs.parts)
    cost = len(graph) * len(outputs.columns)
    for node in range(len(graph)):
        for edge in graph.edges_to(node):
            if work[edge.place] and moved[edge.source]:
                moved[node] |= moved[edge.source]
                by = moved[edge.source]
                times = by.bit_count() if single else sum(len(outputs.parts[one].places) for one in members(by))
                cost += work[edge.place] * times
    return cost


def by_passes(outputs: Outputs, mode: str, groups: list[list[int]], found: Pattern | None) -> Any:
    """The matrix by the rules, a pass for each group of columns or rows."""
    doubles = isinstance(outputs.kind, Doubles)
    made = np.empty((outputs.count, len(outputs.columns)), dtype=np.float64 if doubles else object)
    made.fill(outputs.base.number("0"))
    across = made if mode == "reverse" else made.T
    touched = None
    if found is not None:
        touched = found.rows if mode == "reverse" else found.turned().rows
    for group in groups:
        line = _row_of(outputs, group) if mode == "reverse" else _column_of(outputs, group)
        if len(group) == 1:
            across[group[0]] = line
            continue
        assert touched is not None  # lines share a pass only where their pattern is known
        for one in group:
            at = list(members(touched[one]))
            across[one, at] = [line[place] for place in at]
    return made


def _column_of(outputs: Outputs, group: list[int]) -> Any:
    zero, one = outputs.base.number("0"), outputs.base.number("1")
    moved: dict[int, list[Any]] = {}
    for column in group:
        node, place = outputs.columns[column]
        moved.setdefault(node, [zero] * math.prod(outputs.shapes[node]))[place] = one
    seed = {node: outputs.shaped(numbers, outputs.shapes[node]) for node, numbers in moved.items()}
    return outputs.flat(outputs.forward(seed), outputs.count)


def _row_of(outputs: Outputs, group: list[int]) -> Any:
    numbers = [outputs.base.number("0")] * outputs.count
    for row in group:
        numbers[row] = outputs.base.number("1")
    return outputs.back(outputs.shaped(numbers, outputs.shape))

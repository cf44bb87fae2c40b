"""Agreement: a Jacobian against the scalar programs of its elements, and against one pass in the other mode."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from backprop.beside.differences import as_double, weights
from backprop.higher.outputs import Outputs, finite, spread_numbers
from backprop.higher.passes import by_passes
from backprop.higher.sparsity import Pattern
from backprop.kinds import is_number
from backprop.kinds.real import Real
from backprop.mistakes import Mistake
from backprop.record import Witness

# Digits that the closed and the opened program have to have in common.
ENOUGH = 10.0
# As many as doubles have.
FULL = 15.95
# Two ways to one number, which is off by rounding, are apart by no more than so many times what a last digit moves it.
MOST_ROUNDINGS = 100


def shaken_numbers(outputs: Outputs, mode: str, groups: list[list[int]], found: Pattern | None) -> Any:
    """How far each number by the rules moves when the last digit of the inputs does, or its largest terms do.

    What is nothing but rounding, as every derivative of inv(A) @ A, moves by as much as it is. Equal numbers stay
    equal, and what is no number to move, like a class, stays.
    """
    if not outputs.base.rounds:
        return np.zeros((outputs.count, len(outputs.columns)))
    graph, slopes = outputs.here.graph, outputs.here.partials.values
    moving = {
        edge.source for node in range(len(graph)) for edge in graph.edges_to(node) if slopes[edge.place] is not None
    }
    exponent = 16 if isinstance(outputs.base, Real) else outputs.base.digits
    low: Any = np.full((outputs.count, len(outputs.columns)), math.inf)
    high: Any = -low
    for times in (-5, -2, 2, 5):
        by = outputs.base.add(outputs.base.number("1"), outputs.base.number(f"{times}e-{exponent}"))
        leaves = {node: outputs.here.values[node] for node in graph.inputs.values()}
        leaves |= {node: outputs.kind.scale(value, by) for node, value in leaves.items() if node in moving}
        try:
            beside = Outputs(outputs.here.in_kind(outputs.base, leaves))
        except Mistake:
            continue  # a class has to be a whole number
        if beside.shape == outputs.shape:  # else there is no value
            made = as_doubles(by_passes(beside, mode, groups, found))
            low, high = np.minimum(low, made), np.maximum(high, made)
    with np.errstate(invalid="ignore"):
        moved = np.nan_to_num(high - low, posinf=0.0, neginf=0.0)
    for row, point in outputs.asked().items():  # where chance moves nothing, the terms tell what rounding may leave
        sizes = weights(point)
        moved[row] = np.maximum(moved[row], 10.0**-exponent * max((sizes[node] for node in point.wrt), default=0.0))
    return moved


def other_mode(outputs: Outputs, made: Any, mode: str, shaken: Callable[[], Any]) -> Witness:
    """One pass in the other mode, along a direction without a pattern, against the same sum of derivatives."""
    across = made if mode == "reverse" else made.T
    spread = np.array(spread_numbers(across.shape[1]))
    amounts = [outputs.base.number(repr(one)) for one in spread.tolist()]
    if mode == "reverse":
        components, at = {}, 0
        for part in outputs.parts:
            components[part.name] = outputs.shaped(amounts[at : at + len(part.places)], part.shape)
            at += len(part.places)
        found = outputs.flat(outputs.forward(outputs.direction(components)), outputs.count)
    else:
        found = outputs.back(outputs.shaped(amounts, outputs.shape))
    doubles = as_doubles(across)
    with np.errstate(invalid="ignore", over="ignore"):
        ours, sizes = (doubles @ spread).tolist(), (np.abs(doubles) @ spread).tolist()
    moved = cache(lambda: (shaken() if mode == "reverse" else shaken().T) @ spread)
    worst = _Worst(FULL, lambda line: float(moved()[line]))
    for line, (one, theirs, size, fine) in enumerate(zip(ours, found, sizes, finite(found), strict=True)):
        if fine and math.isfinite(one):
            worst.hear(one, as_double(theirs), size, line, -1, size)
    by = "forward mode" if mode == "reverse" else "reverse mode"
    return Witness("all", by, "DISAGREES" if worst.wrong else "agrees", digits=worst.known)


def judged(outputs: Outputs, made: Any, shaken: Callable[[], Any]) -> list[Witness]:
    """Put the answers of the scalar programs into the matrix; what they say of the numbers that stood there."""
    doubtful = {row for row in range(outputs.count) if not all(finite(made[row]))}
    asked = outputs.answering([outputs.base.number("0")] * outputs.count, doubtful)
    most = float(outputs.base.digits) if outputs.base.digits > 17 else FULL
    of = [part.name for part in outputs.parts for _ in part.places]
    said = {part.name: _Worst(most, lambda row: float(shaken()[row].max())) for part in outputs.parts}
    for row, point in asked.items():
        answers, rules = point.gradient(), point.by_rules()
        numbers = [] if outputs.base.intervals else [as_double(one) for one in rules.values() if is_number(one)]
        largest = max(map(abs, numbers), default=0.0)
        fine = finite(made[row])
        for column in [column for column, known in enumerate(fine) if not known]:
            made[row, column] = outputs.base.number("0")  # unless there is an answer
        for column in [column for name in answers for column in outputs.places_of[name]]:
            name = outputs.names[column]
            if fine[column] and not outputs.base.intervals and is_number(rules[name]):
                said[of[column]].hear(made[row, column], rules[name], largest, row, column)
            answer = answers[name]
            if answer is not rules[name] or not fine[column] or outputs.is_off(made[row, column], answer):
                made[row, column] = answer
    if outputs.here.is_scalar:
        return []
    return [_said(outputs, part.name, said[part.name], len(asked)) for part in outputs.parts]


def _said(outputs: Outputs, name: str, worst: _Worst, asked: int) -> Witness:
    if outputs.base.intervals:
        return Witness(name, "opened", "not checked", reason="balls hold the true numbers")
    if not asked:
        return Witness(name, "opened", "not checked", reason="it is too large to be asked")
    where = f"∂{outputs.rows[worst.row]}/∂{outputs.names[worst.column]}" if worst.row >= 0 else None
    if worst.wrong:
        return Witness(name, "opened", "DISAGREES", digits=worst.known, worst=where)
    found = Witness(name, "opened", "agrees", digits=worst.known if outputs.base.rounds else None, worst=where)
    written = sum(place < 0 for place in outputs.places(outputs.opened)) if outputs.shape and outputs.opened else 0
    if asked + written < outputs.count:
        found.reason = f"{asked} of {outputs.count} elements of the output were looked at"
    return found


@dataclass(slots=True)
class _Worst:
    """The element on which the opened program agrees least with the closed one.

    `largest` is the size of the numbers from which one is made: what rounding is measured against. Where that says too
    little, `rounding` tells by how much the numbers of a row move when the last digit of the inputs does.
    """

    most: float
    rounding: Callable[[int], float]
    digits: float = math.inf
    row: int = -1
    column: int = -1
    wrong: bool = False

    @property
    def known(self) -> float:
        """The digits on which they agree throughout; as many as there are where there was nothing to compare."""
        return min(self.digits, self.most)

    def hear(self, ours: Any, theirs: Any, largest: float, row: int, column: int, size: float = 0.0) -> None:
        """Take note of two numbers for the same. `size` is that of the terms of which they are sums, if they are."""
        apart, digits = ours - theirs, self.most
        if apart:
            apart = abs(as_double(apart))
            size = max(size, abs(as_double(ours)), abs(as_double(theirs)))
            digits = round(min(self.most, max(0.0, -math.log10(apart / size))), 2)
        if digits < ENOUGH:
            rounding = MOST_ROUNDINGS * self.rounding(row)
            if size <= rounding:
                return  # both are nothing but rounding, so they have no digits
            # what rounding leaves where terms cancel is no disagreement
            self.wrong = self.wrong or apart > max(1e-10 * largest, rounding)
        if digits < self.known:
            self.digits, self.row, self.column = digits, row, column


def as_doubles(numbers: Any) -> Any:
    """A matrix of numbers of any kind as doubles, NaN where there is none."""
    if numbers.dtype == np.float64:
        return numbers
    flat = numbers.reshape(-1)
    known = [as_double(one) if fine else math.nan for one, fine in zip(flat, finite(flat), strict=True)]
    return np.array(known).reshape(numbers.shape)

"""Kernel numpy: blocks of rows that stay in the cache, one NumPy call for each operation on a whole block.

Results go into a small pool of buffers, given back as soon as nothing needs them any more, so that a block with all
that is made of it stays in the second-level cache. An operation that NumPy does not have is worked out row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backprop import ops
from backprop.graph import CONST
from backprop.guards import double
from backprop.kinds.real import REAL
from backprop.mapping.kernels import Answers
from backprop.mapping.kernels.common.line import Line
from backprop.ops import Row

# Measured from 512 to 65536: below, the calls cost more than the work; above, the buffers leave the cache.
BLOCK = 4096

# The functions of NumPy, by the names of their rows.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "pow": np.power,
    "abs": np.abs,
    "sign": np.sign,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "cbrt": np.cbrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "hypot": np.hypot,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "mod": np.mod,
    "max": np.maximum,
    "min": np.minimum,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
}


class Words:
    """The operations that are words here: what NumPy has, choices, and whatever is made of nothing else."""

    def __contains__(self, name: object) -> bool:
        return name in FUNCTIONS or name == "where" or not ops.by_name(str(name)).made_of


WORDS = Words()


def one_by_one(row: Row) -> Callable[..., Any]:
    """An operation that NumPy does not have, on arrays: one row after the other, NaN where it has no value."""

    def value(*operands: float) -> float:
        try:
            return float(row.value(REAL, *map(float, operands)))
        except (ValueError, ArithmeticError):
            return float("nan")

    each = np.frompyfunc(value, len(row.parameters), 1)

    def run(*operands: Any, out: Any) -> None:
        out[...] = each(*operands)

    return run


# An instruction: what is called with the registers of the operands, at these places, and the place of the result.
Instruction = tuple[Callable[..., Any], tuple[int, ...], int]


# Whether the processor has numbers that reach further than doubles: to 1e4932, on the x86.
HAS_WIDE = np.finfo(np.longdouble).maxexp > 1024


class Numpy:
    """A kernel out of NumPy calls; a `wide` one works with numbers that reach further, and answers with doubles."""

    name = "numpy"
    remark = ""

    def __init__(self, line: Line, wide: bool = False) -> None:
        self.line, self.wide = line, wide
        self.number: Any = np.longdouble if wide else np.float64
        self.code: list[Instruction] = []
        self._compile()

    # -- registers: columns, answers, buffers of doubles and of conditions, and literals, told apart by their first part

    def _compile(self) -> None:
        line, graph = self.line, self.line.graph
        place: dict[int, tuple[str, int]] = {}
        for number, name in enumerate(line.columns):
            if name in graph.inputs:
                place[graph.inputs[name]] = ("column", number)
        literals: list[int] = []
        for node, code in enumerate(graph.codes):
            if code == CONST:
                place[node] = ("literal", len(literals))
                literals.append(node)
        answers: dict[int, int] = {}
        copies: list[tuple[int, int]] = []  # answers that are columns, literals or the same as another one
        for number, node in enumerate(line.answers):
            if node in answers or graph.codes[node] < 0:
                copies.append((node, number))
            else:
                answers[node] = number
        kept = {line.check, *(distance for distance, _ in line.kinks)}
        last: dict[int, int] = {}
        for step, node in enumerate(line.order):
            for operand in graph.operands(node):
                last[operand] = step
        free: dict[str, list[int]] = {"double": [], "condition": []}
        size = {"double": 0, "condition": 0}
        steps: list[tuple[Callable[..., Any], list[tuple[str, int]]]] = []

        def taken(sort: str) -> tuple[str, int]:
            if free[sort]:
                return sort, free[sort].pop()
            size[sort] += 1
            return sort, size[sort] - 1

        for step, node in enumerate(line.order):
            row = graph.row(node)
            assert row is not None
            operands = [place[operand] for operand in graph.operands(node)]
            dying = [
                place[operand]
                for operand in dict.fromkeys(graph.operands(node))
                if last[operand] == step and operand not in kept and place[operand][0] in free
            ]
            sort = "condition" if row.gives_condition else "double"
            call = FUNCTIONS.get(row.name) or one_by_one(row)
            # where an operand is needed no more its buffer takes the result
            within = next((one for one in dying if one[0] == sort), None)
            if row.name == "where":
                call, within = _chosen(operands, dying)
            if node in answers:
                out = "answer", answers[node]
                call = _choose if row.name == "where" else call
            elif within is not None:
                out = within
                dying.remove(within)
            else:
                out = taken(sort)
            place[node] = out
            steps.append((call, [*operands, out]))
            for name, number in dying:
                free[name].append(number)
        for node, number in copies:
            steps.append((_copy, [place[node], ("answer", number)]))
        self.kinks = [(place[distance], node) for distance, node in line.kinks]
        self._number(size, literals, steps, place)

    def _number(
        self,
        size: Mapping[str, int],
        literals: list[int],
        steps: list[tuple[Callable[..., Any], list[tuple[str, int]]]],
        place: Mapping[int, tuple[str, int]],
    ) -> None:
        """Put the registers in one row, one sort behind the other."""
        line = self.line
        counts = {
            "column": len(line.columns),
            "answer": len(line.answers),
            "double": size["double"],
            "condition": size["condition"],
            "literal": len(literals),
        }
        first: dict[str, int] = {}
        total = 0
        for sort, count in counts.items():
            first[sort] = total
            total += count
        self.first, self.counts, self.total = first, counts, total
        self.code = []
        for call, places in steps:
            *operands, out = (first[sort] + number for sort, number in places)
            self.code.append((call, tuple(operands), out))
        self.literals = [np.array(double(line.graph.literals[node]), self.number) for node in literals]
        self.check = first[place[line.check][0]] + place[line.check][1]
        self.kink_registers = [(first[sort] + number, node) for (sort, number), node in self.kinks]

    def run(self, columns: Mapping[str, NDArray[np.float64]]) -> Answers:
        """The answers for n rows, of n doubles for each column."""
        given = self.line.arrays(columns)
        rows = len(given[0]) if given else 0
        answers = np.empty((len(self.line.answers), rows), self.number)
        odd = np.zeros(rows, np.uint8)
        kink = np.full(rows, -1) if self.kink_registers else None
        block = min(BLOCK, rows)
        buffers = np.empty((self.counts["double"], block), self.number)
        conditions = np.empty((self.counts["condition"], block), bool)
        with np.errstate(all="ignore"):
            for start in range(0, rows, BLOCK):
                end = min(start + BLOCK, rows)
                length = end - start
                registers = [
                    *(column[start:end].astype(self.number, copy=False) for column in given),
                    *answers[:, start:end],
                    *buffers[:, :length],
                    *conditions[:, :length],
                    *self.literals,
                ]
                for call, operands, out in self.code:
                    call(*[registers[place] for place in operands], out=registers[out])
                block_of_answers = answers[:, start:end]
                np.add(block_of_answers, 0.0, out=block_of_answers)  # -0 is 0
                self._mark(registers, odd[start:end], None if kink is None else kink[start:end])
            if self.wide:
                answers = answers.astype(np.float64)
                odd[~np.isfinite(answers).all(axis=0)] = 2
        return Answers(answers[0], dict(zip(self.line.slopes, answers[1:], strict=True)), odd, kink)

    def _mark(self, registers: list[Any], odd: NDArray[np.uint8], kink: NDArray[np.int64] | None) -> None:
        """Mark the rows at a kink, and those that are not to be believed."""
        for place, node in self.kink_registers:
            distance = registers[place]
            if not distance.all() and kink is not None:
                hit = distance == 0
                # a second way in which the same node is at a kink is no second kink
                odd[hit] = np.where((odd[hit] == 0) | (odd[hit] == 1) & (kink[hit] == node), 1, 2)
                kink[hit] = node
        finite = np.isfinite(registers[self.check])
        if not finite.all():
            odd[~finite] = 2


Place = tuple[str, int]


def _chosen(operands: list[Place], dying: list[Place]) -> tuple[Callable[..., Any], Place | None]:
    """How a choice is made, and the buffer that holds one of the two numbers already and takes the result."""
    _, first, second = operands
    if second in dying and second != first:
        return _put_first, second
    if first in dying and second != first:
        return _put_second, first
    return _choose, None


def _choose(condition: Any, first: Any, second: Any, *, out: Any) -> None:
    np.copyto(out, second)
    np.putmask(out, condition, first)


def _put_first(condition: Any, first: Any, second: Any, *, out: Any) -> None:
    np.putmask(out, condition, first)


def _put_second(condition: Any, first: Any, second: Any, *, out: Any) -> None:
    np.putmask(out, ~condition, second)


def _copy(source: Any, *, out: Any) -> None:
    np.copyto(out, source)


ENGINE = Numpy

"""The tape in plain Python, for a program that is put at a point once."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from typing import Any

from backprop import ops
from backprop.engines.columns import NAN, Columns
from backprop.engines.tape import DECLINED, Tape, is_written
from backprop.graph import Graph
from backprop.kinds.real import REAL


def shapes_of(graph: Graph) -> tuple[tuple[int, int], ...] | None:
    """The operations of a graph with the number of their operands, the most frequent first; None where one is no
    operation of a tape."""
    counted: Counter[tuple[int, int]] = Counter()
    rows, offsets = ops.rows(), graph.offsets
    variadic = set()
    for code, count in Counter(graph.codes).items():
        if code < 0:
            continue
        if rows[code].variadic:
            variadic.add(code)
        else:
            counted[code, len(rows[code].parameters)] = count
    if variadic:
        counted.update(
            (code, offsets[node + 1] - offsets[node]) for node, code in enumerate(graph.codes) if code in variadic
        )
    if not all(is_written(rows[code], arity) for code, arity in counted):
        return None
    return tuple(shape for shape, _ in counted.most_common())


@lru_cache(maxsize=64)
def walks(shapes: tuple[tuple[int, int], ...]) -> dict[str, Callable[..., int]]:
    """The four walks over graphs of these operations."""
    tape = Tape(python=True)
    source = tape.source(shapes)
    names: dict[str, Any] = {}
    for called in tape.calls:
        names[f"real_{called}"] = method(called)
    exec(compile(source, "<tape>", "exec"), names)
    return names


def method(name: str) -> Callable[..., Any]:
    """What a tape calls: a method of kind real, the value of a row by its code ("row_3"), or a power (`x ** 2`)."""
    if name == "power":
        return pow
    if name.startswith("row_"):
        return partial(ops.rows()[int(name.removeprefix("row_"))].value, REAL)
    found: Callable[..., Any] = getattr(REAL, name)
    return found


def leaves(graph: Graph, inputs: Mapping[int, float]) -> list[float] | None:
    """A column of values with those of inputs and literals in it; None where one of them is not finite."""
    found, known = [0.0] * len(graph), dict[str, float]()
    number = REAL.number
    try:
        for node, text in graph.literals.items():
            value = known.get(text)
            if value is None:
                value = known[text] = number(text)
            found[node] = value
    except (OverflowError, ValueError):
        return None
    for node, value in inputs.items():
        found[node] = value
    return found if all(map(math.isfinite, chain(known.values(), inputs.values()))) else None


def value(program: dict[str, Callable[..., int]], graph: Graph, values: list[float]) -> float | None:
    """The output alone; None where the tape declines."""
    try:
        gone = program["value"](graph.codes, graph.offsets, graph.args, values)
    except (ArithmeticError, ValueError, TypeError):
        return None
    return None if gone == DECLINED else values[graph.output]


@dataclass(slots=True)
class Lists:
    """The columns of `Columns` as lists of numbers, which Python is quickest with."""

    values: list[float]
    partials: list[float]
    exact_zero: bytearray
    adjoints: list[float]
    wrong: list[float]
    of_adjoints: list[float]
    strain: list[float]
    told: array[int]

    def columns(self) -> Columns:
        """The same in less memory."""
        partials, adjoints = array("d", self.partials), array("d", self.adjoints)
        wrong, of_adjoints, strain = array("d", self.wrong), array("d", self.of_adjoints), array("d", self.strain)
        values = array("d", self.values)
        return Columns(values, partials, self.exact_zero, adjoints, wrong, of_adjoints, strain, self.told)


def run(
    program: dict[str, Callable[..., int]], graph: Graph, values: list[float], moving: bytearray, careful: bool = True
) -> Lists | None:
    """The tape forward and back; None where it declines.

    `values` has the numbers at inputs and literals in it, and is filled.
    """
    size, edges = len(graph), len(graph.args)
    wrong, of_adjoints, strain = ([0.0] * size if careful else [] for _ in range(3))
    told = array("q", [-1, -1])
    found = Lists(values, [NAN] * edges, bytearray(edges), [NAN] * size, wrong, of_adjoints, strain, told)
    found.adjoints[graph.output] = 1.0
    shared = graph.codes, graph.offsets, graph.args, values, found.partials, found.exact_zero
    try:
        if careful:
            gone = program["careful_forward"](*shared, moving, found.told, found.wrong, found.strain)
        else:
            gone = program["forward"](*shared, moving, found.told)
    except (ArithmeticError, ValueError, TypeError):  # outside a domain; a power that is a complex number
        return None
    if gone == DECLINED:
        return None
    if careful:
        gone = program["careful_backward"](*shared, found.adjoints, found.wrong, found.strain, found.of_adjoints)
    else:
        gone = program["backward"](*shared, found.adjoints)
    return None if gone == DECLINED else found

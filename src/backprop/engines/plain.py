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
from backprop.engines.columns import DECLINED, NAN, TapeColumns
from backprop.engines.shapes import is_written
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
def walks(shapes: tuple[tuple[int, int], ...], careful: bool) -> dict[str, Callable[..., int]]:
    """The walks over graphs of these operations by their names, the careful ones or the bare ones."""
    from backprop.engines.tape import tape  # what writes a tape is loaded where one is written

    written = tape(shapes, python=True, bare=not careful, careful=careful)
    names: dict[str, Any] = {f"real_{called}": method(called) for called in written.calls}
    exec(compile(written.source, "<tape>", "exec"), names)
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
    gone = _declines(program["value"], graph.codes, graph.offsets, graph.args, values)
    return None if gone else values[graph.output]


@dataclass(slots=True)
class Lists:
    """The columns of `TapeColumns` as lists of numbers, which Python is quickest with."""

    values: list[float]
    partials: list[float]
    exact_zero: bytearray
    adjoints: list[float]
    wrong: list[float]
    of_adjoints: list[float]
    strain: array[float]
    told: array[int]

    def columns(self) -> TapeColumns:
        """The same in less memory. The lists are emptied one by one, so that not all is there twice."""
        doubles = []
        for column in (self.of_adjoints, self.wrong, self.adjoints, self.partials, self.values):
            doubles.append(array("d", column))
            column.clear()
        of_adjoints, wrong, adjoints, partials, values = doubles
        return TapeColumns(values, partials, self.exact_zero, adjoints, wrong, of_adjoints, self.strain, self.told)


def careful(
    program: dict[str, Callable[..., int]], graph: Graph, values: list[float], moving: bytearray
) -> Lists | None:
    """The tape forward and back, with errors; None where it declines.

    `values` has the numbers at inputs and literals in it, and is filled; `moving` those that are asked for.
    """
    size, edges = len(graph), len(graph.args)
    strain, told = array("d", bytes(8 * size)), array("q", [-1, -1])  # seldom asked for
    found = Lists(values, [NAN] * edges, bytearray(edges), [NAN] * size, [0.0] * size, [0.0] * size, strain, told)
    found.adjoints[graph.output] = 1.0
    shared = graph.codes, graph.offsets, graph.args
    given = values, found.partials, moving, told, found.exact_zero, found.wrong, strain
    if _declines(program["careful_forward"], *shared, *given):
        return None
    given_back = found.partials, found.adjoints, values, found.exact_zero, found.wrong, strain, found.of_adjoints
    return None if _declines(program["careful_backward"], *shared, *given_back) else found


def constants(program: dict[str, Callable[..., int]], graph: Graph, moving: bytearray) -> list[float]:
    """The column of partials for `bare`, with those in it that are the same at every point."""
    partials = [0.0] * len(graph.args)
    program["constants"](graph.codes, graph.offsets, graph.args, partials, moving)
    return partials


def bare(
    program: dict[str, Callable[..., int]], graph: Graph, values: list[float], partials: list[float], moving: bytearray
) -> tuple[list[float], array[int]] | None:
    """The tape forward and back: the adjoints, and what was told; None where it declines. All that moves is known."""
    adjoints, told = [0.0] * len(graph), array("q", [-1, -1])
    adjoints[graph.output] = 1.0
    shared = graph.codes, graph.offsets, graph.args
    if _declines(program["forward"], *shared, values, partials, moving, told):
        return None
    return None if _declines(program["backward"], *shared, partials, adjoints) else (adjoints, told)


def _declines(walk: Callable[..., int], *columns: Any) -> bool:
    try:
        return walk(*columns) == DECLINED
    except (ArithmeticError, ValueError, TypeError):  # outside a domain; a power that is a complex number
        return True

"""Sweeps: a program at an ordinary point by a tape, forward once and back once."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, cast

from backprop.accuracy.rounding import Errors
from backprop.engines import check_engine
from backprop.engines.columns import BRANCH, KINK, Column, Contributions, TapeColumns
from backprop.engines.plain import careful, leaves, shapes_of, walks
from backprop.graph import Graph
from backprop.kinds import Kind
from backprop.kinds.real import REAL
from backprop.reverse import Reverse
from backprop.rules import Partials


@dataclass(slots=True)
class Swept:
    """What a tape has found at an ordinary point: what the engines of kind real find there, to the last bit.

    `kink` is the first node at a kink, -1 when there is none.
    """

    values: list[Any]
    partials: Partials
    moving: bytearray
    reverse: Reverse
    errors: Errors
    kink: int


def sweep(
    graph: Graph, kind: Kind, inputs: Mapping[int, float], wrt: Collection[int], engine: str = "auto"
) -> Swept | None:
    """A program at a point by a tape; None where it declines, and for other kinds of number.

    `inputs` are the values of the input nodes, `wrt` the nodes that move. Raises `ExtraMissing` when the compiled tape
    is asked for and numba is not there, `OptionValue` for an engine that there is not.
    """
    check_engine(engine)
    if kind is not REAL:
        return None
    shapes = shapes_of(graph)
    values = None if shapes is None else leaves(graph, inputs)
    if shapes is None or values is None:
        return None
    moving = bytearray(len(graph))
    for node in wrt:
        moving[node] = 1
    program = None
    if engine == "fast":
        from backprop.engines import fast

        program = fast.walks(shapes)
    if program is not None:
        columns = fast.run(program, graph, array("d", values), moving)
    else:
        lists = careful(walks(shapes, careful=True), graph, values, moving)
        columns = None if lists is None else lists.columns()
    return None if columns is None else found(graph, columns, moving)


def found(graph: Graph, columns: TapeColumns, moving: bytearray) -> Swept:
    """The columns of a tape as the general engines hand them on."""
    slopes = cast("list[Any]", Column(columns.partials))
    contributions = Contributions(graph, columns.partials, columns.exact_zero, columns.adjoints)
    wrong, of_adjoints, strain = (
        cast("list[Any]", one) for one in (columns.wrong, columns.of_adjoints, columns.strain)
    )
    return Swept(
        cast("list[Any]", columns.values),
        Partials(slopes, columns.exact_zero),
        moving,
        Reverse(cast("list[Any]", Column(columns.adjoints)), cast("list[Any]", contributions)),
        Errors(wrong, of_adjoints, strain, columns.told[BRANCH]),
        columns.told[KINK],
    )

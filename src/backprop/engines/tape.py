"""The tape: the source of a program that walks over a graph once forward and once back, written from the rows.

    value(codes, offsets, args, values)                        the value beside each node
    constants(codes, offsets, args, partials, moving)          the partials that are numbers, whatever the values are
    forward(codes, offsets, args, values, partials, moving, told)      value, and the other partials
    backward(codes, offsets, args, partials, adjoints)                        the adjoint of each node

where a 0 stands for a partial and an adjoint that are not there, and `moving` is known. For a machine `backward` is

    backward(order, targets, sources, partials, adjoints)      the edges from the last node to the first, with both ends
    backward_straight(targets, sources, partials, adjoints)    the same, where the order within a node does not show

(`unordered`), and each step of a careful walk is a function. And with what values and adjoints may be wrong by, as
`accuracy.rounding` tells it, to the last bit,

    careful_forward(codes, offsets, args, values, partials, moving, told, exact_zero, wrong, strain)
    careful_backward(codes, offsets, args, partials, adjoints, values, exact_zero, of_values, strain, wrong)

where a NaN stands for what is not there, and `moving` and `exact_zero` are found out. `told` is filled with the first
node at a kink, and the first that hangs on digits that may be wrong, where there is one. A walk gives
`columns.DECLINED` where it declines, else 0.

The source is the same in Python and in numba but for what a failure is; the names that it calls are put under it by
`plain` and `fast`. It is written from the inside out: `statements` are what one row works out, `walks` the loops about
them, bare ones and careful ones, and here they are put together.
"""

from __future__ import annotations

from typing import NamedTuple

from backprop.accuracy.rounding import DOUBLE
from backprop.engines.shapes import Shapes
from backprop.engines.walks import Functions

HEAD = f"""\
INF = float("inf")
NAN = float("nan")
UNIT = {DOUBLE.unit!r}
LEAST = {DOUBLE.least!r}
SMALLEST = {DOUBLE.smallest_normal!r}
"""


class Tape(NamedTuple):
    """The source of a tape, and the names of what it calls: methods of kind real, `row_3` for the value of a row."""

    source: str
    calls: frozenset[str]


def tape(shapes: Shapes, *, python: bool, bare: bool = True, careful: bool = True, decoration: str = "") -> Tape:
    """The tape for some operations, (code, arity), those that are met most often first: `bare` walks, `careful` ones.

    `python` says that failures raise exceptions, as they do in Python; `decoration` is put above each function.
    """
    parts: list[Functions] = []  # each is loaded where it is written: one point in Python asks for half of them
    if careful:
        from backprop.engines.trials import Trials

        parts.append(Trials(python, decoration))
    if bare:
        from backprop.engines.bare_walks import BareWalks

        parts.append(BareWalks(python, decoration))
    if careful:
        from backprop.engines.careful_walks import CarefulWalks

        parts.append(CarefulWalks(python, decoration))
    lines = [*HEAD.splitlines(), ""]
    for part in parts:
        lines += part.write(shapes)
    return Tape("\n".join(lines) + "\n", frozenset().union(*(part.calls for part in parts)))

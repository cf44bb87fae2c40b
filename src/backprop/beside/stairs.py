"""Stairs: floor, ceil, round and mod, which from afar look like a ramp.

A step beside the point is a small part of the number there, and at 1e200 a small part is 1e180: it goes over so many
stairs that the quotient of floor is 1, the slope of the ramp. So the steps are made shorter until they end on the first
stair, and more digits are taken for them. A row of the table tells by `stairs` how many of them lie below its operands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from backprop import ops
from backprop.graph import Graph
from backprop.kinds import Kind, is_number
from backprop.ops import Row
from backprop.rules import formula

# A step may go over half a stair; one that goes over more is made so many powers of ten shorter than one stair.
MOST, SHORTER = 0.5, 6
# What jumps in itself, as floor(x) in floor(5*floor(x)), goes over a stair however short the step is.
TRIES = 3


def stairs(graph: Graph) -> list[tuple[int, Row]]:
    """The nodes of a graph that are stairs, with their rows."""
    rows = ops.rows()
    stepping = {code for code in set(graph.codes) if code >= 0 and rows[code].stairs}
    return [(node, rows[code]) for node, code in enumerate(graph.codes) if code in stepping] if stepping else []


def climbed(kind: Kind, row: Row, operands: list[Any]) -> Any:
    """How many stairs lie below the operands of a row, a number with a fraction; None where there are none."""
    if not all(map(is_number, operands)):
        return None
    return formula(row.stairs, row, len(operands)).evaluate(kind, operands, None)


def shortened(counts: Callable[[int, int], Iterable[Any]]) -> int:
    """By how many powers of ten steps have to be shortened; they take as many digits more.

    `counts(sign, shorter)` tells on how many stairs everything is after a step to one side that is shortened so much,
    worked out with so many digits more; after the step 0 it is at the point itself.

    >>> shortened(lambda sign, shorter: [10**200 + sign * 10 ** (180 - shorter)])  # a step of 1e180 at 1e200
    186
    """
    shorter = 0
    for _ in range(TRIES):
        here = list(counts(0, shorter))
        passed = 0
        for sign in (-1, 1):
            for one, other in zip(counts(sign, shorter), here, strict=True):
                if is_number(one) and is_number(other) and abs(one - other) > MOST:
                    passed = max(passed, int(abs(one - other)) + 1)  # math.ceil would go by a double, and may overflow
        if not passed:
            break
        shorter += SHORTER + math.ceil(math.log10(passed))
    return shorter

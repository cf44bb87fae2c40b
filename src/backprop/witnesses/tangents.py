"""The witness of the tangents of a vector: each of its elements as the output of an opened program."""

from __future__ import annotations

from typing import Any

import numpy as np

from backprop.accuracy.fine import of as fine_of
from backprop.array_point import ArrayPoint
from backprop.arrays_text import element_name
from backprop.kinds import Hole
from backprop.kinds.shapes import elements
from backprop.point import Point
from backprop.record import Witness
from backprop.witnesses.arrays import BY, compared, gathered


def testify(point: ArrayPoint, name: str, tangent: Any, parts: list[Point] | None) -> Witness:
    """The tangent that the rules of arrays give, by `name`, against the reverse mode of each opened element."""
    if parts is None:
        return Witness(name, BY, "not checked", reason="the program is too large to be opened into single numbers")
    output, zero = point.graph.ids[point.graph.output], point.kind.base.number("0")
    said: list[tuple[str, Witness]] = []
    for at, ours, part in zip(np.ndindex(*point.shape), elements(tangent), parts, strict=True):
        of = element_name(output, at)
        if isinstance(part.answer(), Hole):
            said.append((of, Witness(of, BY, "not checked", reason="there is no value here")))
            continue
        answers = part.gradient()
        theirs = part.by_rules().get(name, zero)
        if name in answers and answers[name] is not theirs:
            said.append((of, Witness(of, BY, "not checked", reason="the answer is that of values beside the point")))
            continue
        place = next((node for node in part.wrt if part.name_of(node) == name), None)
        weight = fine_of(part).weights[place] if part.kind.digits and place is not None else 0.0
        said.append((of, compared(part, of, ours, theirs, weight)))
    return gathered(name, BY, said, len(parts))

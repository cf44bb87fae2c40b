"""Slips that only arrays have: a factor or an answer that is not transposed, a sum over the batch or the 1/n of a mean
that is forgotten.

Each is the gradient with one rule changed, worked out by the same engine in doubles, and is named only when it gives
every element that was claimed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from backprop.array_point import ArrayPoint
from backprop.claims.reading import Claim
from backprop.claims.slips import Slip
from backprop.kinds import Hole, Misfit
from backprop.kinds.array import Diagonal, Linear, Reduced
from backprop.kinds.shapes import shape_of
from backprop.mistakes import Mistake
from backprop.reverse import reverse
from backprop.rules import Partials, formula

# Operations on arrays in which a slip is looked for.
MOST_NODES = 200
# What a formula gives is the same number as that of a slip within this part of it.
CLOSE = 1e-9

Array = Any


def likely(point: ArrayPoint, claim: Claim, said: list[Any], units: list[float], shape: tuple[int, ...]) -> list[Slip]:
    """The slip that gives all of what was claimed, if there is one.

    `units` are those of the last digit of each number that was typed, 0 for a number that is what it is.
    """
    if claim.by is None or any(not isinstance(one, float) for one in said):
        return []
    theirs = np.array(said, dtype=np.float64).reshape(shape)
    allowed = np.maximum(np.array(units).reshape(shape), CLOSE * np.abs(theirs))
    node = claim.by

    def meets(found: Array) -> bool:
        """Whether all numbers are the same to the digits typed, and not all 0."""
        return found.shape == theirs.shape and bool(np.any(found)) and bool(np.all(np.abs(theirs - found) <= allowed))

    with np.errstate(all="ignore"):
        right = _slope(point, point.partials, claim.of, node, claim)
        if right is None or meets(right):  # right here, and wrong elsewhere: this point tells nothing
            return []
        if theirs.ndim == 2 and meets(right.T):
            return [Slip("transposed", "it is transposed")]
        if meets(-right):
            return [Slip("sign", "the sign is turned")]
        for code, told, partials in _changed(point):
            found = _slope(point, partials, claim.of, node, claim)
            if found is not None and meets(found):
                return [Slip(code, told)]
    return []


def _slope(point: ArrayPoint, partials: Partials, of: int, by: int, claim: Claim) -> Array | None:
    """The derivative with these partials."""
    seed: Any = None
    shape = shape_of(point.values[of])
    if shape:
        seed = point.kind.broadcast(point.kind.base.number("0"), shape)
        seed[claim.of_at] = 1.0
    try:
        found = reverse(point.graph, partials, point.kind, of, seed=seed).adjoints[by]
    except (Misfit, Mistake, ValueError):
        return None
    if isinstance(found, Hole):
        return None
    spread = np.asarray(0.0 if found is None else found, dtype=np.float64)
    if shape_of(spread) != shape_of(point.values[by]):
        return None
    return np.asarray(spread[claim.by_at]) if claim.by_at else spread


def _changed(point: ArrayPoint) -> Iterator[tuple[str, str, Partials]]:
    """The partials with one of them changed as somebody may do by mistake, the likeliest first."""
    graph, slopes = point.graph, point.partials
    for node in range(len(graph)):
        row = graph.row(node)
        if row is None or not point.moving[node] or node > MOST_NODES:
            continue
        name, written = graph.ids[node], f"{graph.ids[node]} = {graph.formula(node)}"
        for edge in graph.edges_to(node):
            partial = slopes.values[edge.place]
            operand = graph.written_id(edge.source)[0]
            for code, told, wrong in _wrong(partial):
                changed = list(slopes.values)
                changed[edge.place] = wrong
                where = told.format(operand=operand, name=name, written=written, **_names(point, node))
                yield code, where, replace(slopes, values=changed)


def _names(point: ArrayPoint, node: int) -> dict[str, str]:
    """The operands of an operation by the names in its row."""
    row = point.graph.row(node)
    assert row is not None
    sources = point.graph.operands(node)
    return {
        name: point.graph.written_id(source)[0] for name, source in zip(row.names(len(sources)), sources, strict=True)
    }


def _wrong(partial: Any) -> Iterator[tuple[str, str, Any]]:
    """What somebody may have in the place of a partial, with a code and a sentence."""
    if isinstance(partial, Linear):
        rule = partial.rule
        text, arity = rule.pull.text, len(partial.operands)
        for found in re.finditer(r"(\w+)\.T", text):
            changed = text[: found.end() - 2] + text[found.end() :]
            word = found[1] if found[1] in ("g", "out") else f"{{{found[1]}}}"
            told = f"{word} in place of {word}.T on the way back through {{written}}"
            yield "not-transposed", told.replace("out", "{name}"), _with(partial, changed, arity)
        share = re.search(r"/(?:\d+|size\(\w+\))$", text)
        if share:
            told = "the 1/n of the mean is forgotten in {written}"
            yield "mean-without-n", told, _with(partial, text[: share.start()], arity)
    elif isinstance(partial, Reduced):
        if np.size(partial.values) == 1 or np.ptp(partial.values) == 0:
            size = np.ravel(partial.values)[0]
            if size not in (0.0, 1.0) and abs(1 / size - round(1 / size)) < 1e-9:
                yield "mean-without-n", "the 1/n of the mean is forgotten in {written}", replace(partial, values=1.0)
    elif isinstance(partial, Diagonal) and partial.source != partial.target:
        count = int(np.prod(partial.target)) // max(1, int(np.prod(partial.source)))
        told = "what comes back to {operand} is not added over its copies in {written}, but one of them taken"
        for row in (0, -1):
            mask = np.zeros(partial.target)
            extra = len(partial.target) - len(partial.source)
            places: list[Any] = [row] * extra
            sizes = zip(partial.source, partial.target[extra:], strict=True)
            places += [slice(None) if size == full else row for size, full in sizes]
            mask[tuple(places)] = 1.0
            yield "not-added", told, replace(partial, values=np.broadcast_to(partial.values, partial.target) * mask)
        told = "what comes back to {operand} is a mean over its copies in {written}, not their sum"
        yield "mean-for-sum", told, replace(partial, values=partial.values / count)


def _with(partial: Linear, text: str, arity: int) -> Linear:
    """The same linear map with another rule for what comes back."""
    rule = replace(partial.rule, pull=formula(text, partial.rule.row, arity, ("g",)))
    return Linear(rule, partial.operands, partial.out)

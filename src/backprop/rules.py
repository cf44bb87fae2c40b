"""Rules: the partial on every edge, worked out from the texts in the table of operations.

A rule is a formula in the user's own language over the operands and `out`, so it is read by the same parser into the
same graph as any program: the label on an edge is the rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from backprop import ops
from backprop.grammar import parse
from backprop.graph import CONST, INPUT, Graph
from backprop.graph.building import build
from backprop.kinds import Convention, Hole, Kind, is_number
from backprop.ops import Row
from backprop.values import values


@dataclass(slots=True)
class Partials:
    """One partial for each edge: None where no derivative passes, a `Hole` where there is none.

    `exact_zero` marks the edges of a branch not taken (relu of a negative number): nothing behind them matters,
    however large it is. `zeros` tells what a 0 does on an edge where a convention has a word in it
    (`kinds.Convention`).
    """

    values: list[Any]
    exact_zero: bytearray
    zeros: dict[int, str] = field(default_factory=dict)

    def dies_out(self, place: int, kind: Kind, carried: Any) -> bool:
        """Whether what is carried along an edge becomes 0 there, though it or the partial may be infinite."""
        return (self.zeros[place] == "masks" and kind.is_zero(self.values[place])) or (
            self.zeros[place] == "quiet" and kind.is_zero(carried)
        )


class Formula:
    """A text of the table over the operands of a row and `out`, ready to be worked out in any kind."""

    __slots__ = ("_leaves", "constant", "graph", "indicator", "row", "single", "text")

    def __init__(self, text: str, row: Row, arity: int, carried: tuple[str, ...] = ()) -> None:
        self.text, self.row = text, row
        names = row.names(arity)
        known = (*names, "out", *carried)
        conditions = [names[position] for position in row.conditions]
        settings = [name for position, name in enumerate(names) if row.is_setting(position)]
        self.graph = build(parse(text, variables=known), known, conditions, settings)
        places = {name: place for place, name in enumerate(known)}
        unknown = set(self.graph.inputs) - set(places)
        if unknown:
            raise ValueError(f"the rule {text!r} uses {', '.join(sorted(unknown))}, which is no operand")
        self._leaves = [(node, places[name]) for name, node in self.graph.inputs.items()]
        output = self.graph.output
        # most rules are a number or an operand; those need no walk
        if self.graph.op(output) == "copy":
            output = self.graph.operands(output)[0]
        self.constant = self.graph.literals.get(output)
        self.single = dict(self._leaves).get(output)
        # where(x != 0, 1, 0) is no distance: it says yes or no
        self.indicator = self._only_numbers(output)

    def _only_numbers(self, output: int) -> bool:
        """Whether it chooses between numbers, whatever the operands are."""
        waiting = [output]
        while waiting:
            node = waiting.pop()
            row = self.graph.row(node)
            if row is not None and row.conditions:
                sources = self.graph.operands(node)
                waiting.extend(one for place, one in enumerate(sources) if place not in row.conditions)
            elif node not in self.graph.literals:
                return False
        return True

    def evaluate(self, kind: Kind, operands: list[Any], out: Any, *carried: Any) -> Any:
        """The value, or a `Hole` where the formula has none."""
        if self.constant is not None:
            return kind.number(self.constant)
        known = [*operands, out, *carried]
        if self.single is not None:
            return known[self.single]
        return values(self.graph, kind, self.leaves(known))[self.graph.output]

    def places(self) -> set[int]:
        """The operands that the formula reads, by place; the result stands behind the last one."""
        return {place for _, place in self._leaves}

    def leaves(self, known: list[Any]) -> dict[int, Any]:
        """The values of the input nodes of the graph, given the operands and the result behind them."""
        return {node: known[place] for node, place in self._leaves}


@lru_cache(maxsize=4096)
def formula(text: str, row: Row, arity: int, carried: tuple[str, ...] = ()) -> Formula:
    """A formula of the table, read once."""
    return Formula(text, row, arity, carried)


@dataclass(frozen=True, slots=True)
class Carried:
    """How a change travels through one operand of an operation that is not elementwise.

    `pull` works out what an adjoint `g` of the result brings back to the operand, `push` what a tangent `t` of the
    operand brings to the result; where `push` is None the operation is linear in the operand, or its result is one
    number, so that the pull tells everything.
    """

    row: Row
    position: int
    pull: Formula
    push: Formula | None


@lru_cache(maxsize=4096)
def carried(code: int, moving: tuple[bool, ...], shapes: Any) -> tuple[Carried | None, ...]:
    """The rules of an operation with `pulls`, for operands of these shapes."""
    row, arity = ops.rows()[code], len(moving)
    pulls = row.pulled(shapes)
    pushes = row.pushed(shapes) or (None,) * arity
    return tuple(
        None
        if pull is None or not moves
        else Carried(
            row,
            position,
            formula(pull, row, arity, ("g",)),
            None if push is None else formula(push, row, arity, ("t",)),
        )
        for position, (pull, push, moves) in enumerate(zip(pulls, pushes, moving, strict=True))
    )


@lru_cache(maxsize=4096)
def rules(code: int, moving: tuple[bool, ...], convention: Convention | None = None) -> tuple[Formula | None, ...]:
    """The rules to evaluate for the operation `code` when the operands marked in `moving` move.

    They are those of the table, or of a `convention` that knows better what others do.
    """
    row = ops.rows()[code]
    texts = row.evaluated_rules(moving) if convention is None else convention.rules(row, moving)
    return tuple(
        None if text is None or not moves else formula(text, row, len(moving))
        for text, moves in zip(texts, moving, strict=True)
    )


def partial(row: Row, position: int, moving: tuple[bool, ...]) -> Formula:
    """The rule for one operand, as it is evaluated."""
    found = rules(row.code, moving)[position]
    if found is None:
        raise ValueError(f"{row.name} has no rule for operand {position}")
    return found


def partials(graph: Graph, kind: Kind, known: list[Any], moving: bytearray) -> Partials:
    """The partial on every edge that leads to a node that moves; the others are never evaluated."""
    offsets, args = graph.offsets, graph.args
    found: list[Any] = [None] * len(args)
    exact_zero = bytearray(len(args))
    zeros: dict[int, str] = {}
    zeros_of = {} if kind.convention is None else kind.convention.zeros
    table = ops.rows()
    for node, code in enumerate(graph.codes):
        if not moving[node] or code in (INPUT, CONST):
            continue
        first, end = offsets[node], offsets[node + 1]
        out = known[node]
        if out is None or isinstance(out, Hole):
            continue
        sources = args[first:end]
        moves = tuple(bool(moving[source]) for source in sources)
        operands = [known[source] for source in sources]
        row = table[code]
        apart: list[Any] | None = None  # asked for only where a slope is 0, and once for all operands
        found_rules: Sequence[Any] = (
            rules(code, moves, kind.convention)
            if row.pulls is None
            else carried(code, moves, kind.shapes(row, operands))
        )
        for position, rule in enumerate(found_rules):
            if rule is None or operands[position] is None:
                continue
            slope = slope_at(rule, kind, operands, out, node, position)
            found[first + position] = slope
            if row.name in zeros_of:
                zeros[first + position] = zeros_of[row.name]
                skipped = zeros_of[row.name] == "skips" and kind.is_zero(slope)
                exact_zero[first + position] = skipped or zeros_of[row.name] == "stops"
            if row.locally_constant and not kind.eager and not isinstance(slope, Hole) and kind.has_zeros(slope):
                apart = distances(row, kind, operands, out) if apart is None else apart
                exact_zero[first + position] = kind.skips(slope, apart)
    return Partials(found, exact_zero, zeros)


def slope_at(rule: Formula | Carried, kind: Kind, operands: list[Any], out: Any, node: int, position: int) -> Any:
    """One partial; the hole of a rule becomes the hole of this edge."""
    slope = kind.slope(rule, operands, out, position)
    if isinstance(slope, Hole):
        code = "infinite-slope" if slope.code == "domain" else slope.code
        return Hole(node, code, position, slope.detail)
    return slope


def is_kink(row: Row, kind: Kind, operands: list[Any], out: Any) -> bool:
    """Whether an operation has no derivative at these operands, only one from each side."""
    return any(not isinstance(one, Hole) and kind.is_zero(one) for one in distances(row, kind, operands, out))


def distances(row: Row, kind: Kind, operands: list[Any], out: Any) -> list[Any]:
    """What is 0 where an operation has a kink, at these operands."""
    arity = len(operands)
    return [formula(text, row, arity).evaluate(kind, operands, out) for text in row.kinks(arity)]


def kinks(graph: Graph, kind: Kind, known: list[Any]) -> Iterator[int]:
    """The nodes at a kink, in order; one that was not worked out, or has an infinite operand, is none.

    >>> from backprop.kinds.real import REAL
    >>> graph = build(parse("abs(x)*max(x, y)"))
    >>> [graph.ids[node] for node in kinks(graph, REAL, values(graph, REAL, {0: 0.0, 2: 1.0}))]
    ['v1']
    """
    rows = ops.rows()
    for node, code in enumerate(graph.codes):
        if code >= 0 and rows[code].kink and known[node] is not None:
            operands = [known[operand] for operand in graph.operands(node)]
            if all(map(is_number, operands)) and is_kink(rows[code], kind, operands, known[node]):
                yield node


def holds(condition: str, row: Row, kind: Kind, operands: list[Any], out: Any) -> bool:
    """Whether a condition of the table (a domain, a remark) holds at these operands; a hole in it means no.

    Of arrays, whether it holds at some element.
    """
    found = formula(f"where({condition}, 1, 0)", row, len(operands)).evaluate(kind, operands, out)
    yes = kind.number("1")
    return any(kind.choose(one == yes) is True for one in kind.elements(found))

"""Sparsity: where a Jacobian or a Hessian may have other numbers than 0, and columns that share a pass.

A set of inputs is carried along every edge of the scalar graph: that is the structure, whatever the numbers are at
the point, so a product with 0 counts, and both branches of a condition. Columns that have no row in common are worked
out in one pass: their sum still tells them apart (Curtis, Powell and Reid, On the estimation of sparse Jacobian
matrices, 1974). Which ones go together is a colouring of the graph whose edges join columns that meet in a row
(Coleman and More, Estimation of sparse Jacobian matrices and graph coloring problems, 1983). The colouring is greedy,
the column that meets most others first (Welsh and Powell, 1967), or smallest last (Matula and Beck, Smallest-last
ordering and clustering and graph coloring algorithms, 1983), which takes the fewest groups of all for a banded matrix,
whatever the order of its rows and columns. The order in which they stand is tried too, and the best is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from backprop.graph import Graph
from backprop.rules import rules

# Pairs of columns that meet, up to which they are put in a second order.
MOST_MEETINGS = 2_000_000


def members(numbers: int) -> Iterator[int]:
    """The members of a set of numbers that is held as bits.

    >>> list(members(0b1101))
    [0, 2, 3]
    """
    if numbers.bit_count() * 32 > numbers.bit_length():
        yield from (place for place, bit in enumerate(reversed(bin(numbers))) if bit == "1")
        return
    while numbers:
        last = numbers & -numbers
        yield last.bit_length() - 1
        numbers ^= last


@dataclass(frozen=True, slots=True)
class Pattern:
    """Where a matrix may have numbers other than 0: the columns of each row, as the bits of a whole number."""

    rows: list[int]
    columns: int

    @property
    def nonzeros(self) -> int:
        return sum(row.bit_count() for row in self.rows)

    @property
    def share(self) -> float:
        """The part of the matrix that is not 0; 0 of an empty one."""
        return self.nonzeros / (len(self.rows) * self.columns or 1)

    @property
    def places(self) -> list[list[int]]:
        """The columns of each row, as numbers.

        >>> Pattern([0b101, 0], 3).places
        [[0, 2], []]
        """
        return [list(members(row)) for row in self.rows]

    def turned(self) -> Pattern:
        """The pattern of the transpose.

        >>> Pattern([0b011, 0b100], 3).turned().rows
        [1, 1, 2]
        """
        turned = [0] * self.columns
        for place, row in enumerate(self.rows):
            for column in members(row):
                turned[column] |= 1 << place
        return Pattern(turned, len(self.rows))

    def groups(self) -> list[list[int]]:
        """The columns in groups, no two of one group meeting in a row; columns without a row are in none.

        >>> Pattern([0b00011, 0b00111, 0b01110, 0b11100, 0b11000], 5).groups()
        [[2], [1, 4], [0, 3]]
        """
        rows_of = self.turned().rows
        meets = [0] * self.columns
        for column, rows in enumerate(rows_of):
            for row in members(rows):
                meets[column] |= self.rows[row]
        columns = [one for one in range(self.columns) if rows_of[one]]
        fewest = max((row.bit_count() for row in self.rows), default=0)  # these meet, so no order does with less
        if fewest == len(columns):
            return [[one] for one in columns]
        found = self._greedy(sorted(columns, key=lambda one: -meets[one].bit_count()), rows_of)
        if len(found) > fewest and sum(meets[one].bit_count() for one in columns) <= MOST_MEETINGS:
            others = columns, _smallest_last(columns, meets)
            found = min(found, *(self._greedy(order, rows_of) for order in others), key=len)
        return [sorted(group) for group in found]

    def _greedy(self, order: Sequence[int], rows_of: Sequence[int]) -> list[list[int]]:
        """The columns, one after the other, each in the first group where it meets nobody."""
        taken = [0] * len(self.rows)  # the groups of the columns that were seen in each row
        groups: list[list[int]] = []
        for column in order:
            found = list(members(rows_of[column]))
            forbidden = 0
            for row in found:
                forbidden |= taken[row]
            free = ~forbidden & (forbidden + 1)
            for row in found:
                taken[row] |= free
            if free.bit_length() > len(groups):
                groups.append([])
            groups[free.bit_length() - 1].append(column)
        return groups


def _smallest_last(columns: Sequence[int], meets: Sequence[int]) -> list[int]:
    """The columns so that each meets as few as can be of those before it: the last is that which meets fewest.

    >>> _smallest_last([0, 1, 2], [0b011, 0b111, 0b110])
    [2, 1, 0]
    """
    left, order = {column: meets[column].bit_count() for column in columns}, []
    waiting = [(count, column) for column, count in left.items()]
    heapify(waiting)
    while waiting:
        count, column = heappop(waiting)
        if left.get(column) != count:
            continue  # it has been counted again since
        del left[column]
        order.append(column)
        for other in members(meets[column]):
            if other in left:
                left[other] -= 1
                heappush(waiting, (left[other], other))
    return order[::-1]


def pattern(graph: Graph, sources: Sequence[int], targets: Iterable[int]) -> Pattern:
    """Which of the nodes `sources` each of the nodes `targets` depends on, as rows; a target of -1 depends on none.

    A step function, whose slope is 0 wherever it has one, lets nothing through, nor does a condition.

    >>> from backprop.grammar import parse
    >>> from backprop.graph.building import build
    >>> graph = build(parse("a = x*y; b = floor(x) + z; c = a + b"))
    >>> [bin(row) for row in pattern(graph, list(graph.inputs.values()), [2, 5, 6]).rows]
    ['0b11', '0b100', '0b111']
    """
    targets = list(targets)
    found = [0] * len(graph)
    for place, source in enumerate(sources):
        found[source] |= 1 << place
    last_use = list(range(len(graph)))
    for node in range(len(graph)):
        for operand in graph.operands(node):
            last_use[operand] = node
    kept = {*targets}
    for node, code in enumerate(graph.codes):
        if code < 0:
            continue
        operands = graph.operands(node)
        moves = tuple(found[operand] != 0 for operand in operands)
        if any(moves):
            for operand, rule in zip(operands, rules(code, moves), strict=True):
                if rule is not None and rule.text != "0":
                    found[node] |= found[operand]
        for operand in operands:  # sets of a million inputs are not held longer than they are needed
            if last_use[operand] == node and operand not in kept:
                found[operand] = 0
    return Pattern([found[target] if target >= 0 else 0 for target in targets], len(sources))

"""Walks: functions of a program in the making, each a loop over the nodes of a graph.

What the two sorts of walk have in common stands here: `bare_walks` work out numbers alone, `careful_walks` also what
these may be wrong by.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from backprop import ops
from backprop.engines.columns import DECLINED, KINK
from backprop.engines.shapes import Shapes, distances, patterns
from backprop.engines.statements import Number, Statements
from backprop.ops import Moving, Row
from backprop.rules import Formula

GIVE_UP = f"return {DECLINED}"


def place_of(operand: int) -> str:
    """Where the edge of an operand stands: `first` is the place of the first edge of the node."""
    return f"first + {operand}" if operand else "first"


class Functions:
    """Functions in the making: their `lines`, and the names of what they `calls`.

    `python` says that failures raise exceptions, as they do in Python; `decoration` is the line above each function.
    """

    def __init__(self, python: bool, decoration: str = "") -> None:
        self.python, self.decoration = python, decoration
        self.calls: set[str] = set()
        self.lines: list[str] = []

    def write(self, shapes: Shapes) -> list[str]:
        """The lines of all that there is to write for some operations."""
        raise NotImplementedError  # bare walks and careful ones each write their own

    def function(self, name: str, names: Sequence[str], fail: str = GIVE_UP) -> Statements:
        """The head of a function of these arguments; its statements, to be `put` when they are there."""
        if self.decoration:
            self.lines.append(self.decoration)
        self.lines.append(f"def {name}({', '.join(names)}):")
        return Statements(fail, divides=self.python)

    def put(self, written: Statements) -> None:
        """The statements of a function, under its head."""
        self.calls |= written.calls
        self.lines += [f"    {line}" for line in written.lines]
        self.lines.append("")


class Walks(Functions):
    """Functions that go over the nodes of a graph, with a branch for each operation."""

    def branches(self, out: Statements, shapes: Shapes) -> Iterator[tuple[Row, int]]:
        """A branch for each operation; the lines of each are put in while the branch is open.

        An operation that takes any number of operands has one for each number.
        """
        head = "if"
        for code, arity in shapes:
            row = ops.rows()[code]
            told = f"code == {code}"
            if row.variadic:
                told += f" and offsets[node + 1] - first == {arity}"
            with out.block(f"{head} {told}:"):
                yield row, arity
            head = "elif"

    def ways(self, out: Statements, row: Row, arity: int) -> Iterator[Moving]:
        """A branch for each way in which operands move, where the rules hang on that."""
        head = "if"
        for moves in patterns(row.code, arity):
            told = " and ".join(f"moving[i{k}]" if one else f"not moving[i{k}]" for k, one in enumerate(moves))
            with out.block(f"{head} {told}:"):
                yield moves
            head = "elif"

    @contextmanager
    def forward_walk(self, name: str, names: Sequence[str]) -> Iterator[Statements]:
        """A function that goes over all nodes, operands before operations; what is put in stands in its loop."""
        out = self.function(name, names)
        out.add("first = 0")
        with out.block("for node, code in enumerate(codes):"):
            yield out
        out.add("return 0")
        self.put(out)

    def onward(self, out: Statements, shapes: Shapes) -> Iterator[tuple[Row, int]]:
        """The branches of a walk forward, which also counts the edges that it has left behind."""
        for row, arity in self.branches(out, shapes):
            yield row, arity
            out.add(f"first += {arity}")

    def operands(self, out: Statements, arity: int) -> list[Number]:
        """The operands of a node: i0, i1 are their nodes, x0, x1 their values."""
        for k in range(arity):
            out.add(f"i{k} = args[{place_of(k)}]")
        for k in range(arity):
            out.add(f"x{k} = values[i{k}]")
        return [out.leaf(f"x{k}") for k in range(arity)]

    def result(self, out: Statements, row: Row, operands: Sequence[Number], checked: bool) -> None:
        """The value of an operation, put in its place; `checked` says that it is looked at there."""
        out.add(f"out = {out.value(row, operands).text}")
        if checked:
            with out.block("if out - out != 0.0:"):
                out.add(out.fail)
        out.add("values[node] = out")

    def others_fail(self, out: Statements, shapes: Shapes) -> None:
        """A walk forward gives up at an operation that it has no branch for."""
        with out.block("elif code >= 0:" if shapes else "if code >= 0:"):
            out.add(out.fail)

    def kink(self, out: Statements, row: Row, arity: int, known: Sequence[Number]) -> str:
        """Take note of a kink. Gives the condition for being away from it, "" for a row that has none."""
        if not row.kink:
            return ""
        told = []
        for k, distance in enumerate(distances(row.code, arity)):
            out.add(f"d{k} = {out.formula(distance, known).text}")
            out.refuse(Number(out, f"d{k}"))
            told.append(f"d{k} != 0.0")
        away = " and ".join(told)
        with out.block(f"if not ({away}) and told[{KINK}] < 0:"):
            out.add(f"told[{KINK}] = node")
        return away

    def rule(self, out: Statements, k: int, rule: Formula, known: Sequence[Number]) -> None:
        """The partial in an operand, under its name: p0, p1."""
        out.add(f"p{k} = {out.formula(rule, known).text}")
        if rule.constant is None and rule.single is None:
            with out.block(f"if p{k} - p{k} != 0.0:"):
                out.add(out.fail)

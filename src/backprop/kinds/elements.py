"""Kind elements: values are nodes of a new graph with their numbers, so an array program writes its scalar graph.

Nothing is folded and nothing is shared: the graph has one node for every elementary operation that the definitions of
the array operations make, as somebody would who writes them out on paper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from backprop.graph import CONST, Graph
from backprop.kinds import Hole, Kind, Refused, value_at
from backprop.mistakes import Span
from backprop.ops import Row


class TooManyElements(Exception):
    """The scalar graph grows beyond the limit."""


@dataclass(slots=True)
class Element:
    """A node of the new graph, and the number that stands there.

    A literal, which is at `span` in the source, becomes a node where it is used.
    """

    value: Any
    node: int = -1
    text: str = ""
    span: Span = (0, 0)


class Elements(Kind):
    """A value is an `Element`; `span` is the part of the source that is being opened.

    `numbers` is the kind in which the values are worked out that choose a pivot or a place, `spelled` how it reads a
    text where that is another way than its own. Raises `TooManyElements` beyond `limit` nodes.
    """

    name = "elements"

    def __init__(self, source: str, numbers: Kind, limit: int, spelled: Callable[[str], Any] | None = None) -> None:
        self.graph = Graph(source=source)
        self.numbers = numbers
        self.spelled = numbers.number if spelled is None else spelled
        self.propagates, self.intervals = numbers.propagates, numbers.intervals
        self.rounds, self.digits = numbers.rounds, numbers.digits
        self.limit = limit
        self.span: Span = (0, 0)

    def leaf(self, name: str, text: str, span: Span) -> Element:
        """An input of the new graph."""
        return Element(self._read(text), self.graph.add_input(name, span))

    def number(self, text: str) -> Element:
        return Element(self._read(text), text=text, span=self.span)

    def _read(self, text: str) -> Any:
        """A number; a hole for one that the kind has not, as pi is no fraction: it chooses nothing."""
        try:
            return self.spelled(text)
        except OverflowError:
            return Hole(-1, "overflow")
        except Refused as refused:
            return Hole(-1, refused.code, detail=refused.detail)

    def placed(self, element: Element) -> int:
        """The node of an element."""
        if element.node < 0:
            element.node = self.graph.add(CONST, (), element.span)
            self.graph.literals[element.node] = element.text
        return element.node

    def apply(self, row: Row, operands: list[Any]) -> Element:
        if len(self.graph) > self.limit:
            raise TooManyElements
        nodes = [self.placed(operand) for operand in operands]
        value = value_at(-1, row, self.numbers, [operand.value for operand in operands])
        return Element(value, self.graph.add(row.code, nodes, self.span))

    def choose(self, condition: Any) -> bool | None:
        """Both branches are opened; which one counts is the opened program's to choose."""
        return None

    def is_zero(self, value: Any) -> bool:
        return not isinstance(value.value, Hole) and self.numbers.is_zero(value.value)

    def trouble(self, value: Any, operands: list[Any]) -> str | None:
        return None

"""Kind symbol: formulas stand in the place of numbers, so the same engines give derivatives as formulas."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from backprop import formulas
from backprop.formulas import Formula
from backprop.graph import Graph
from backprop.kinds import Kind
from backprop.ops import Row
from backprop.tidying import tidy


class Symbol(Kind):
    """Values are formulas. Nothing is ever undefined here: log(-1) and 1/0 stay as they are written."""

    name = "symbol"

    def number(self, text: str) -> Formula:
        """The literal, as typed."""
        return formulas.number(text)

    def record(self, value: Any) -> str:
        """The formula as text."""
        return _text(value)

    def symbol(self, name: str) -> Formula:
        """What stands for itself: an input, or the id of a node."""
        return formulas.symbol(name)

    def apply(self, row: Row, operands: list[Any]) -> Any:
        """The operation as a formula; a condition over numbers is decided and is a bool."""
        return formulas.apply(row, operands)

    def choose(self, condition: Any) -> bool | None:
        """A condition over symbols chooses no branch: both are kept."""
        return condition if isinstance(condition, bool) else None

    def scale(self, adjoint: Any, partial: Any) -> Any:
        """adjoint · partial, as a formula; 0 times anything is 0."""
        return formulas.product(adjoint, partial)

    def add(self, left: Any, right: Any) -> Any:
        """The sum, what came first in front."""
        return formulas.sum_of(left, right)

    def is_zero(self, value: Any) -> bool:
        """Whether it is the number 0 for every value of its symbols, as far as is plain to see."""
        return value is formulas.ZERO

    def trouble(self, value: Any, operands: list[Any]) -> str | None:
        """Nothing: a formula has a value or not only where numbers are put in."""
        return None


class ForwardSymbol(Symbol):
    """Formulas for forward mode, where the partial lies nearer to the output than the tangent and stands before it.

    The order matters for conditions: `sqrt(y) > 1` behind `where(y > 0, ...)` may only be asked where y > 0.
    """

    def scale(self, adjoint: Any, partial: Any) -> Any:
        """partial · tangent, as a formula."""
        return formulas.product(partial, adjoint)


@lru_cache(maxsize=1 << 12)
def _text(value: Any) -> str:
    """A formula as text: the same one often stands at a node and on the edges beside it."""
    return str(value)


SYMBOL, FORWARD = Symbol(), ForwardSymbol()


def label(rule: str, row: Row, operands: Sequence[str], out: str) -> str:
    """The rule on an edge with the ids (or numbers) of the operands put in, and the id of the node for `out`.

    >>> from backprop.ops import by_name
    >>> label("y", by_name("mul"), ["c~2", "x"], "f"), label("1 - out^2", by_name("tanh"), ["z"], "h")
    ('x', '1 - h^2')
    """
    # a graph has many edges and few rules: each is worked out once, over places, and then filled in
    names: dict[str, int] = {}
    places = tuple(one if _is_number(one) else names.setdefault(one, len(names)) for one in (*operands, out))
    return _template(rule, row, places).format(*names)


@lru_cache(maxsize=4096)
def _template(rule: str, row: Row, places: tuple[str | int, ...]) -> str:
    blanks = [place if isinstance(place, str) else f"{{{place}}}" for place in places]
    return formulas.text(_rule_over(rule, row, blanks))


def _rule_over(rule: str, row: Row, operands: Sequence[str]) -> Formula:
    """The rule over numbers and names, the last of which is the result, tidied."""
    from backprop.rules import formula

    *known, out = (formulas.number(one) if _is_number(one) else formulas.symbol(one) for one in operands)
    found: Formula = formula(rule, row, len(known)).evaluate(SYMBOL, known, out)
    return tidy(found)


def _is_number(operand: str) -> bool:
    """Whether an operand is a number: it begins with a digit, a dot or a minus, as an id never does."""
    return operand[:1] in frozenset("0123456789-.")


def edge_formula(graph: Graph, node: int, position: int, moving: bytearray) -> Formula | None:
    """The rule on an edge over the ids of the graph; None where no derivative passes."""
    row = graph.row(node)
    sources = graph.operands(node)
    if row is None or not moving[sources[position]]:
        return None
    rule = row.rules(tuple(bool(moving[source]) for source in sources))[position]
    if rule is None:
        return None
    operands = [graph.ids[one] if moving[one] else graph.written_id(one)[0] for one in sources]
    return _rule_over(rule, row, [*operands, graph.ids[node]])

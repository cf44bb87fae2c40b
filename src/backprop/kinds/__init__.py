"""Kinds: what a value can be. A kind is one object with the few things that engines and rows ask for.

The engines know no kind by name. To add a kind, add a file here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from backprop.ops import Row


@dataclass(frozen=True, slots=True)
class Hole:
    """What stands where there is no value: it remembers where it was born, and swallows whatever meets it.

    `node` is the node at which it was born and `code` its sort: "domain" (no real value), "infinite-slope",
    "indeterminate" (0·inf, inf - inf), "overflow" (beyond what the kind can carry). `position` is the operand whose
    partial has no value, -1 when it is the node's own value that is missing.
    """

    node: int
    code: str
    position: int = -1

    def _swallow(self, _other: Any = None) -> Hole:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _swallow
    __neg__ = __abs__ = _swallow


def is_number(value: Any) -> bool:
    """Whether something is a finite number (not a hole, not absent, not inf or NaN)."""
    return value is not None and not isinstance(value, Hole) and bool(value - value == 0)


class Kind:
    """A kind of value: what engines and rows ask of it."""

    name: str = ""

    def number(self, text: str) -> Any:
        """The value of a literal ("0.1", "-1e-3", "1/3") or of a constant ("pi", "tau", "e", "-inf"), in plain text.

        OverflowError when the number is beyond the kind's range.
        """
        raise TypeError(f"kind {self.name} has no numbers")

    def apply(self, row: Row, operands: list[Any]) -> Any:
        """The value of an operation; ValueError or ZeroDivisionError where it has none."""
        return row.value(self, *operands)

    def scale(self, adjoint: Any, partial: Any) -> Any:
        """adjoint · partial: what one edge brings. Raises ArithmeticError for 0·inf, which is never guessed."""
        product = adjoint * partial
        if product != product:
            raise ArithmeticError("0·inf")
        return product + 0  # -0 is written 0

    def add(self, left: Any, right: Any) -> Any:
        """Where edges meet, contributions add. Raises ArithmeticError for inf - inf."""
        total = left + right
        if total != total:
            raise ArithmeticError("inf - inf")
        return total + 0

    def choose(self, condition: Any) -> bool | None:
        """Which branch a condition takes; None when it takes neither, and both stay (formulas)."""
        return bool(condition)

    def is_zero(self, value: Any) -> bool:
        return bool(value == 0)

    def trouble(self, value: Any, operands: list[Any]) -> str | None:
        """What is wrong with a value: "indeterminate" for NaN, "overflow" for an infinity out of finite operands."""
        if value - value == 0:
            return None
        if value != value:
            return "indeterminate"
        return "overflow" if all(operand - operand == 0 for operand in operands) else None

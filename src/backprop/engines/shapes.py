"""Shapes: what a tape has to know of an operation with so many operands before it can write it down.

A shape is a row by its code and the number of its operands. Nothing here is written yet: `plain` asks whether a program
can have a tape at all, the walks ask which rules there are and what they hang on.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product

from backprop import ops
from backprop.accuracy.rounding import plain_rules
from backprop.ops import Moving, Row
from backprop.rules import Formula, formula, rules

# Where the rules hang on which operands move, each pattern is written out: of n operands there are 2^n - 1.
MOST_PATTERNS = 3

Shapes = Sequence[tuple[int, int]]


def is_written(row: Row, arity: int) -> bool:
    """Whether a tape can have a row: one of numbers, without conditions.

    A condition decides what is worked out at all, and a tape works out everything.
    """
    if row.arrays or row.conditions or row.gives_condition or row.settings:
        return False
    return not _hangs_on_moves(row.code, arity) or arity <= MOST_PATTERNS


@lru_cache(maxsize=1024)
def _hangs_on_moves(code: int, arity: int) -> bool:
    """Whether the rule for an operand is another one when others move."""
    row = ops.rows()[code]
    if not callable(row.partials) and not callable(row.stable):
        return False
    if arity > MOST_PATTERNS:
        return True
    for position in range(arity):
        texts = {
            None if (rule := rules(code, moves)[position]) is None else rule.text
            for moves in product((False, True), repeat=arity)
            if moves[position]
        }
        if len(texts) > 1:
            return True
    return False


def patterns(code: int, arity: int) -> list[Moving]:
    """The ways in which operands move that have rules of their own."""
    if not _hangs_on_moves(code, arity):
        return [(True,) * arity]
    found = [moves for moves in product((True, False), repeat=arity) if any(moves)]
    return sorted(found, key=lambda moves: -sum(moves))


def rule_alone(code: int, arity: int, position: int) -> Formula | None:
    """The rule for an operand when it moves and no other does."""
    return rules(code, tuple(position == one for one in range(arity)))[position]


@lru_cache(maxsize=1024)
def distances(code: int, arity: int) -> tuple[Formula, ...]:
    """What is 0 where a row has a kink."""
    row = ops.rows()[code]
    return tuple(formula(text, row, arity) for text in row.kinks(arity))


def signs(code: int, arity: int) -> dict[int, str | None]:
    """For each operand that has a rule "" or "-" where its partial is 1 or -1, and brings the adjoint itself; else
    None."""
    alone = {k: rule for k in range(arity) if (rule := rule_alone(code, arity, k)) is not None}
    if plain_rules(code) is None:
        return dict.fromkeys(alone)
    return {k: {"1": "", "-1": "-"}.get(rule.constant or "") for k, rule in alone.items()}


@lru_cache(maxsize=1024)
def unordered(code: int) -> bool:
    """Whether two equal operands bring the same, as those of a sum and of a product do: either may come first."""
    row = ops.rows()[code]
    if row.variadic or len(row.parameters) != 2 or _hangs_on_moves(code, 2):
        return False
    one, other = rules(code, (True, True))
    if one is None or other is None:
        return False
    if one.single is not None and other.single is not None:
        return one.single < 2 and other.single < 2
    return one.constant is not None and one.constant == other.constant


def constants(code: int, arity: int) -> dict[int, str]:
    """The operands whose partial is one number, with its text."""
    ways = patterns(code, arity)
    if len(ways) > 1:
        return {}
    found = enumerate(rules(code, ways[0]))
    return {k: rule.constant for k, rule in found if rule is not None and rule.constant is not None}

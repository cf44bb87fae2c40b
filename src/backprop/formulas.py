"""Formulas: expressions as values. The same subexpression is one object, so a formula is a graph that shares its parts.

Constructors fold only what is true for every value (`1*x`, `x + 0`, `0*x`, arithmetic of literals); `tidying` does
the rest.

Nothing here recurses over a formula: a sum of 100 000 terms is as fine as one of two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from backprop import ops
from backprop.ops import ATOM, PRODUCT, Row
from backprop.writing import level_of_number, needs_brackets, pieces

if TYPE_CHECKING:
    from backprop.graph import Graph

# Literals with more bits than this are left as they stand: 2^2^2^2^... must not fill the memory.
MOST_BITS = 2048
# Up to this size (as a tree) a family of formulas is written out in full; beyond it shared parts get names.
LARGEST_TREE = 600
_HUGE = 10**9


class Formula:
    """One expression. `sort` is "number", "constant" (pi, tau, e, inf), "symbol" or "operation".

    Made by `number`, `symbol` and `apply` only, which give the same object for the same expression; so equality is
    identity. `size` is the number of parts when written out as a tree, counted up to a billion.
    """

    __slots__ = ("__weakref__", "operands", "row", "size", "sort", "value", "word")

    sort: str
    word: str
    value: Fraction | None
    row: Row | None
    operands: tuple[Formula, ...]
    size: int

    def __bool__(self) -> bool:
        raise TypeError("a formula is neither true nor false")

    def __repr__(self) -> str:
        return f"<Formula {self}>"

    def __str__(self) -> str:
        from backprop.tidying import tidy

        return text(tidy(self))

    def __reduce__(self) -> Any:
        raise TypeError("a formula is kept as text")


_known: WeakValueDictionary[tuple[Any, ...], Formula] = WeakValueDictionary()


def _made(
    sort: str, word: str, value: Fraction | None, row: Row | None = None, operands: tuple[Formula, ...] = ()
) -> Formula:
    key = (sort, word) if row is None else (row.code, *operands)
    found = _known.get(key)
    if found is None:
        found = Formula()
        found.sort, found.word, found.value, found.row, found.operands = sort, word, value, row, operands
        size = 1
        for operand in operands:
            size += operand.size
        found.size = min(size, _HUGE)
        _known[key] = found
    return found


def make(row: Row, *operands: Formula) -> Formula:
    """An operation exactly as it stands, nothing folded."""
    return _made("operation", "", None, row, operands)


def symbol(name: str) -> Formula:
    """What stands for itself: an input, or the id of a node (`c~2` is one)."""
    return _made("symbol", name, None)


# -- numbers --------------------------------------------------------------------------------------------------------

_DECIMAL = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE]([+-]?[0-9]+))?")
_CONSTANTS = {"pi": 3.141592653589793, "tau": 6.283185307179586, "e": 2.718281828459045, "inf": float("inf")}


def number(literal: str) -> Formula:
    """The literal as typed ("0.1", "1e-3", "1/3", "-2") or the constant pi, tau, e or inf.

    >>> print(number("0.10"), number("-1/3"), number("pi/2"))
    0.10 -1/3 pi/2
    """
    if literal in _CONSTANTS:
        return _made("constant", literal, None)
    if "/" in literal:
        above, below = literal.split("/", 1)
        return quotient(number(above), number(below))
    if literal.startswith("-") and literal[1:] in _CONSTANTS:
        return negative(number(literal[1:]))
    found = _DECIMAL.fullmatch(literal)
    if found is None:
        raise ValueError(f"{literal!r} is no number")
    exponent = found[1]
    if (exponent is not None and abs(int(exponent)) > 400) or len(literal) > 1000:
        # exact, but too long to calculate with: it stands for itself
        zero = not literal.lower().split("e")[0].strip("-0.")
        return ZERO if zero else _made("number", literal, None)
    value = Fraction(literal)
    return ZERO if value == 0 else _made("number", literal, value)


def exact(value: Fraction, decimal: bool = False) -> Formula:
    """A number worked out: as a decimal when `decimal` and a short one is exact, else as a fraction."""
    if decimal and 1 < value.denominator < 10**17 and abs(value.numerator) < 10**17:  # no longer one is shown
        rest = value.denominator
        for factor in (2, 5):
            while rest % factor == 0:
                rest //= factor
        if rest == 1 and len(shown := f"{float(value)!r}") <= 17 and "e" not in shown and Fraction(shown) == value:
            return _made("number", shown, value)
    return _made("number", str(value), value)


ZERO = _made("number", "0", Fraction(0))
ONE = _made("number", "1", Fraction(1))
MINUS_ONE = _made("number", "-1", Fraction(-1))


def is_decimal(literal: Formula) -> bool:
    return not literal.word.lstrip("-").replace("/", "").isdigit()


def _small(value: Fraction) -> bool:
    return value.numerator.bit_length() <= MOST_BITS and value.denominator.bit_length() <= MOST_BITS


def _folded(left: Formula, right: Formula, value: Fraction) -> Formula | None:
    """The result of exact arithmetic, None when it is too long to be a literal."""
    return exact(value, is_decimal(left) or is_decimal(right)) if _small(value) else None


def negated(literal: Formula) -> Formula:
    """-c with the text as typed."""
    if literal is ZERO or literal.value is None:
        return literal
    word = literal.word
    return _made("number", word[1:] if word.startswith("-") else f"-{word}", -literal.value)


def times(left: Formula, right: Formula) -> Formula | None:
    """The product of two literals; the text of one stays when the other is 1 or -1."""
    assert left.value is not None
    assert right.value is not None
    for one, other in ((left, right), (right, left)):
        if one.value == 1:
            return other
        if one.value == -1:
            return negated(other)
    return _folded(left, right, left.value * right.value)


def plus(left: Formula, right: Formula) -> Formula | None:
    assert left.value is not None
    assert right.value is not None
    return _folded(left, right, left.value + right.value)


# -- constructors: what is true for every value is folded ------------------------------------------------------------


def row_named(name: str) -> Row:
    return ops.by_name(name)


def is_a(formula: Formula, name: str) -> bool:
    return formula.row is not None and formula.row.name == name


def is_inf(formula: Formula) -> bool:
    return formula.sort == "constant" and formula.word == "inf"


def whole(formula: Formula) -> int | None:
    """The integer that a literal is, else None."""
    value = formula.value
    return value.numerator if value is not None and value.denominator == 1 else None


def zero_branch(formula: Formula) -> tuple[Formula, Formula, bool] | None:
    """For where(c, a, 0) or where(c, 0, b): the condition, the other branch, and whether that is the first."""
    if not is_a(formula, "where"):
        return None
    condition, first, second = formula.operands
    if second is ZERO:
        return condition, first, True
    return (condition, second, False) if first is ZERO else None


def chosen(condition: Formula, branch: Formula, first: bool) -> Formula:
    return where(condition, branch, ZERO) if first else where(condition, ZERO, branch)


def sum_of(left: Formula, right: Formula) -> Formula:
    """left + right."""
    if left is ZERO:
        return right
    if right is ZERO:
        return left
    if left.value is not None and right.value is not None and (total := plus(left, right)) is not None:
        return total
    return make(row_named("add"), left, right)


def difference(left: Formula, right: Formula) -> Formula:
    """left - right."""
    if right is ZERO:
        return left
    if left is ZERO:
        return negative(right)
    if left is right and not is_inf(left):
        return ZERO
    if left.value is not None and right.value is not None and (total := plus(left, negated(right))) is not None:
        return total
    return make(row_named("sub"), left, right)


def negative(of: Formula) -> Formula:
    """-of."""
    if of.value is not None:
        return negated(of)
    return of.operands[0] if is_a(of, "neg") else make(row_named("neg"), of)


def product(left: Formula, right: Formula) -> Formula:
    """left * right. A factor goes into the branches of a condition with a 0: 0 must win over what has no value there.

    >>> x = symbol("x")
    >>> print(product(number("2"), product(number("3"), x)))
    6*x
    """
    if (left is ZERO and not is_inf(right)) or (right is ZERO and not is_inf(left)):
        return ZERO
    if left.value is not None and right.value is not None and (total := times(left, right)) is not None:
        return total
    if right.value is not None:
        left, right = right, left
    if left.value == 1:
        return right
    if left.value == -1:
        return negative(right)
    if left.value is not None and is_a(right, "mul") and right.operands[0].value is not None:
        total = times(left, right.operands[0])
        if total is not None:
            return product(total, right.operands[1])
    for one, other in ((left, right), (right, left)):
        branches = zero_branch(one)
        if branches is not None:
            condition, branch, first = branches
            inside = other if branch is ONE else make(row_named("mul"), branch, other)
            return chosen(condition, inside, first)
    return make(row_named("mul"), left, right)


def quotient(above: Formula, below: Formula) -> Formula:
    """above / below."""
    if below.value == 1:
        return above
    if below.value == -1:
        return negative(above)
    if below is ZERO:
        return make(row_named("div"), above, below)
    if above is ZERO:
        return ZERO
    if above.value is not None and below.value is not None:
        total = _folded(above, below, above.value / below.value)
        if total is not None:
            return total
    branches = zero_branch(above)
    if branches is not None:
        condition, branch, first = branches
        return chosen(condition, make(row_named("div"), branch, below), first)
    return make(row_named("div"), above, below)


def power(base: Formula, exponent: Formula) -> Formula:
    """base ^ exponent; x^0 is 1 also at 0."""
    if exponent.value == 0 or base.value == 1:
        return ONE
    if exponent.value == 1:
        return base
    count = whole(exponent)
    if base.value is not None and count is not None and (base.value != 0 or count > 0):
        longest = max(base.value.numerator.bit_length(), base.value.denominator.bit_length())
        if longest * abs(count) <= 256:
            return exact(base.value**count, is_decimal(base))
    return make(row_named("pow"), base, exponent)


def where(condition: Formula | bool, first: Formula, second: Formula) -> Formula:
    """first if condition else second."""
    if isinstance(condition, bool):
        return first if condition else second
    while is_a(first, "where") and first.operands[0] is condition:  # asked again where the answer is known
        first = first.operands[1]
    while is_a(second, "where") and second.operands[0] is condition:
        second = second.operands[2]
    return first if first is second else make(row_named("where"), condition, first, second)


def _known_size(formula: Formula | bool) -> Fraction | float | None:
    if isinstance(formula, bool):
        return Fraction(formula)
    return formula.value if formula.sort != "constant" else _CONSTANTS[formula.word]


_BUILT: dict[str, Callable[..., Formula | bool]] = {
    "add": sum_of,
    "sub": difference,
    "mul": product,
    "div": quotient,
    "pow": power,
    "neg": negative,
    "where": where,
    "copy": lambda x: x,
}


def apply(row: Row, operands: Sequence[Formula | bool]) -> Formula | bool:
    """An operation of the table over formulas. A condition that is decided is a bool."""
    name = row.name
    built = _BUILT.get(name)
    if built is not None:
        return built(*operands)
    compared = ops.COMPARISONS.get(name)
    if compared is not None:
        left, right = operands
        if left is right:
            return name in ("le", "ge", "eq")
        x, y = _known_size(left), _known_size(right)
        if x is not None and y is not None:
            return bool(compared(x, y))
        if name == "ne" and right is ZERO and isinstance(left, Formula) and left.row and left.row.gives_condition:
            return left
    if name == "log" and len(operands) == 1 and isinstance(operands[0], Formula):
        if operands[0].value == 1:
            return ZERO
        if operands[0].sort == "constant" and operands[0].word == "e":
            return ONE
    if name == "exp" and operands[0] is ZERO:
        return ONE
    if name == "not" and isinstance(operands[0], bool):
        return not operands[0]
    if name in ("and", "or") and any(isinstance(operand, bool) for operand in operands):
        decides = name == "or"
        if decides in [operand for operand in operands if isinstance(operand, bool)]:
            return decides
        rest = [operand for operand in operands if not isinstance(operand, bool)]
        return rest[0] if rest else not decides
    return make(row, *(_as_number(operand) for operand in operands))


def _as_number(operand: Formula | bool) -> Formula:
    if isinstance(operand, Formula):
        return operand
    if isinstance(operand, bool):
        return ONE if operand else ZERO
    raise TypeError(f"{operand!r} is no formula")


# -- walking --------------------------------------------------------------------------------------------------------


def parts(roots: Iterable[Formula]) -> list[Formula]:
    """Every part of the formulas once, operands before what uses them."""
    found: list[Formula] = []
    seen: set[Formula] = set()
    stack: list[tuple[Formula, bool]] = [(root, False) for root in reversed(list(roots))]
    while stack:
        formula, ready = stack.pop()
        if ready:
            found.append(formula)
        elif formula not in seen:
            seen.add(formula)
            if formula.operands:
                stack.append((formula, True))
                stack.extend((operand, False) for operand in reversed(formula.operands) if operand not in seen)
            else:
                found.append(formula)
    return found


def symbols(roots: Iterable[Formula]) -> set[str]:
    """The names that stand in the formulas."""
    return {formula.word for formula in parts(roots) if formula.sort == "symbol"}


def fits(roots: Sequence[Formula], order: Sequence[Formula]) -> bool:
    """Whether a family may be written out in full: it is small, or it hardly shares anything."""
    return sum(root.size for root in roots) <= max(LARGEST_TREE, 2 * len(order))


def uses_of(order: Sequence[Formula], roots: Iterable[Formula]) -> dict[Formula, int]:
    """How often each part is used, by the parts around it and as a whole."""
    uses = dict.fromkeys(order, 0)
    for formula in order:
        for operand in formula.operands:
            uses[operand] += 1
    for root in roots:
        uses[root] += 1
    return uses


def graph_of(formula: Formula) -> Graph:
    """A formula as a graph, ready for any kind of value: one input for each symbol, shared parts once."""
    from backprop.graph import CONST, Graph

    graph = Graph()
    place: dict[Formula, int] = {}
    for part in parts([formula]):
        if part.row is not None:
            place[part] = graph.add(part.row.code, [place[operand] for operand in part.operands], (0, 0))
        elif part.sort == "symbol":
            place[part] = graph.add_input(part.word, (0, 0))
        else:
            place[part] = graph.add(CONST, (), (0, 0))
            graph.literals[place[part]] = part.word
    graph.output = place[formula]
    return graph


# -- writing --------------------------------------------------------------------------------------------------------


class Hand:
    """How one notation writes: leaves, and the pieces of an operation around its operands."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken  # names that stand for themselves, so no constant may be written like them

    def leaf(self, formula: Formula) -> tuple[str, int]:
        """The text of a leaf, and how tightly it holds."""
        if formula.sort == "symbol":
            return formula.word, ATOM
        if formula.sort == "constant":
            return (
                _OTHERWISE.get(formula.word, (formula.word, ATOM))
                if formula.word in self.taken
                else (
                    formula.word,
                    ATOM,
                )
            )
        return formula.word, level_of_number(formula.word)

    def name(self, count: int) -> str:
        return f"t{count}"

    def level(self, row: Row) -> int:
        return row.level

    def pieces(self, formula: Formula, levels: dict[Formula, int], minus: set[Formula]) -> list[str | Formula]:
        """An operation as text and operands, brackets put in."""
        row = formula.row
        assert row is not None
        if not row.form:
            return _call(row.called[0] if row.called else row.name, formula.operands)
        found: list[str | Formula] = []
        for piece in pieces(row.form, row.parameters):
            if isinstance(piece, str):
                found.append(piece)
                continue
            operand = formula.operands[piece]
            if needs_brackets(row.level, piece, "-" if operand in minus else "", levels[operand]):
                found += ("(", operand, ")")
            else:
                found.append(operand)
        return found


_OTHERWISE = {"e": ("exp(1)", ATOM), "pi": ("acos(-1)", ATOM), "tau": ("2*acos(-1)", PRODUCT)}


def _call(name: str, operands: Sequence[Formula], opening: str = "(", closing: str = ")") -> list[str | Formula]:
    found: list[str | Formula] = [name, opening]
    for place, operand in enumerate(operands):
        if place:
            found.append(", ")
        found.append(operand)
    found.append(closing)
    return found


def text(formula: Formula) -> str:
    """The formula in the user's language; parsed again it is the same function.

    A large formula that uses parts of itself again is a program that names them: `t1 = ...; t2 = ...; ...`.

    >>> x = symbol("x")
    >>> print(text(power(difference(x, number("1")), number("2"))))
    (x - 1)^2
    """
    shared, texts = texts_of([formula])
    return "; ".join([*(f"{name} = {what}" for name, what in shared), *texts])


def texts_of(formulas: Sequence[Formula]) -> tuple[list[tuple[str, str]], list[str]]:
    """The formulas as text, with the named parts they share (none while they are small enough to be written out)."""
    return written_out(formulas, Hand(symbols(formulas)))


def written_out(formulas: Sequence[Formula], hand: Hand) -> tuple[list[tuple[str, str]], list[str]]:
    """The formulas in one notation, with the named parts they share."""
    order = parts(formulas)
    names: dict[Formula, str] = {}
    if not fits(formulas, order):
        uses = uses_of(order, formulas)
        count = 0
        for formula in order:
            conditional = formula.row is not None and formula.row.gives_condition
            if uses[formula] > 1 and formula.size > 2 and not conditional:
                count += 1
                while f"t{count}" in hand.taken:
                    count += 1
                names[formula] = hand.name(count)
    levels: dict[Formula, int] = {}
    minus: set[Formula] = set()
    leaves: dict[Formula, str] = {}
    pieces: dict[Formula, list[str | Formula]] = {}
    definitions: list[tuple[str, str]] = []
    for formula in order:
        row = formula.row
        if row is None:
            leaves[formula], levels[formula] = hand.leaf(formula)
            if leaves[formula].startswith("-"):
                minus.add(formula)
            continue
        pieces[formula] = hand.pieces(formula, levels, minus)
        if formula in names:
            definitions.append((names[formula], _emitted(pieces[formula], pieces, leaves)))
            leaves[formula], levels[formula] = names[formula], ATOM
            continue
        levels[formula] = hand.level(row)
        first = pieces[formula][0]
        if first in minus if isinstance(first, Formula) else first.startswith("-"):
            minus.add(formula)
    return definitions, [_emitted([formula], pieces, leaves) for formula in formulas]


def _emitted(start: list[str | Formula], pieces: dict[Formula, list[str | Formula]], leaves: dict[Formula, str]) -> str:
    found: list[str] = []
    stack = start[::-1]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            found.append(item)
        elif item in leaves:
            found.append(leaves[item])
        else:
            stack.extend(reversed(pieces[item]))
    return "".join(found)

"""Formulas: expressions as values. The same subexpression is one object, so a formula is a graph that shares its parts.

Constructors fold only what is true for every value (`1*x`, `x + 0`, `0*x`, arithmetic of literals). `tidy` writes a
formula as a person would: like terms and powers collected, signs and quotients readable, nothing ever expanded.

A tidied formula has the value of the original wherever that has one. Where the original has a hole that cancels
(`x/x` and `0*log(x)` at 0) the tidied one has the value beside it, as on paper.

Nothing here recurses over a formula: a sum of 100 000 terms is as fine as one of two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from backprop import ops
from backprop.ops import ATOM, PRODUCT, Row
from backprop.writing import _needs_brackets, _pieces, level_of_number

if TYPE_CHECKING:
    from backprop.graph import Graph

# Literals with more bits than this are left as they stand: 2^2^2^2^... must not fill the memory.
MOST_BITS = 2048
# Up to this size (as a tree) a family of formulas is written out in full; beyond it shared parts get names.
LARGEST_TREE = 600
# A shared sum or product with at most so many parts is taken apart into the one around it.
SMALL = 8
# Formulas with more parts than this are left as they come.
LARGEST_TIDY = 200_000
_HUGE = 10**9
_DEEPEST = 12  # rewrites inside rewrites (conditions in conditions)


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

_DECIMAL = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]([+-]?[0-9]+))?")
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
    if decimal and value.denominator != 1:
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


def _is_decimal(literal: Formula) -> bool:
    return not literal.word.lstrip("-").replace("/", "").isdigit()


def _small(value: Fraction) -> bool:
    return value.numerator.bit_length() <= MOST_BITS and value.denominator.bit_length() <= MOST_BITS


def _folded(left: Formula, right: Formula, value: Fraction) -> Formula | None:
    """The result of exact arithmetic, None when it is too long to be a literal."""
    return exact(value, _is_decimal(left) or _is_decimal(right)) if _small(value) else None


def _negated(literal: Formula) -> Formula:
    """-c with the text as typed."""
    if literal is ZERO or literal.value is None:
        return literal
    word = literal.word
    return _made("number", word[1:] if word.startswith("-") else f"-{word}", -literal.value)


def _times(left: Formula, right: Formula) -> Formula | None:
    """The product of two literals; the text of one stays when the other is 1 or -1."""
    assert left.value is not None
    assert right.value is not None
    for one, other in ((left, right), (right, left)):
        if one.value == 1:
            return other
        if one.value == -1:
            return _negated(other)
    return _folded(left, right, left.value * right.value)


def _plus(left: Formula, right: Formula) -> Formula | None:
    assert left.value is not None
    assert right.value is not None
    return _folded(left, right, left.value + right.value)


# -- constructors: what is true for every value is folded ------------------------------------------------------------


def _row(name: str) -> Row:
    return ops.by_name(name)


def _is(formula: Formula, name: str) -> bool:
    return formula.row is not None and formula.row.name == name


def _is_inf(formula: Formula) -> bool:
    return formula.sort == "constant" and formula.word == "inf"


def whole(formula: Formula) -> int | None:
    """The integer that a literal is, else None."""
    value = formula.value
    return value.numerator if value is not None and value.denominator == 1 else None


def _zero_branch(formula: Formula) -> tuple[Formula, Formula, bool] | None:
    """For where(c, a, 0) or where(c, 0, b): the condition, the other branch, and whether that is the first."""
    if not _is(formula, "where"):
        return None
    condition, first, second = formula.operands
    if second is ZERO:
        return condition, first, True
    return (condition, second, False) if first is ZERO else None


def _chosen(condition: Formula, branch: Formula, first: bool) -> Formula:
    return where(condition, branch, ZERO) if first else where(condition, ZERO, branch)


def sum_of(left: Formula, right: Formula) -> Formula:
    """left + right."""
    if left is ZERO:
        return right
    if right is ZERO:
        return left
    if left.value is not None and right.value is not None and (total := _plus(left, right)) is not None:
        return total
    return make(_row("add"), left, right)


def difference(left: Formula, right: Formula) -> Formula:
    """left - right."""
    if right is ZERO:
        return left
    if left is ZERO:
        return negative(right)
    if left is right and not _is_inf(left):
        return ZERO
    if left.value is not None and right.value is not None and (total := _plus(left, _negated(right))) is not None:
        return total
    return make(_row("sub"), left, right)


def negative(of: Formula) -> Formula:
    """-of."""
    if of.value is not None:
        return _negated(of)
    return of.operands[0] if _is(of, "neg") else make(_row("neg"), of)


def product(left: Formula, right: Formula) -> Formula:
    """left * right. A factor goes into the branches of a condition with a 0: 0 must win over what has no value there.

    >>> x = symbol("x")
    >>> print(product(number("2"), product(number("3"), x)))
    6*x
    """
    if (left is ZERO and not _is_inf(right)) or (right is ZERO and not _is_inf(left)):
        return ZERO
    if left.value is not None and right.value is not None and (total := _times(left, right)) is not None:
        return total
    if right.value is not None:
        left, right = right, left
    if left.value == 1:
        return right
    if left.value == -1:
        return negative(right)
    if left.value is not None and _is(right, "mul") and right.operands[0].value is not None:
        total = _times(left, right.operands[0])
        if total is not None:
            return product(total, right.operands[1])
    for one, other in ((left, right), (right, left)):
        branches = _zero_branch(one)
        if branches is not None:
            condition, branch, first = branches
            inside = other if branch is ONE else make(_row("mul"), branch, other)
            return _chosen(condition, inside, first)
    return make(_row("mul"), left, right)


def quotient(above: Formula, below: Formula) -> Formula:
    """above / below."""
    if below.value == 1:
        return above
    if below.value == -1:
        return negative(above)
    if below is ZERO:
        return make(_row("div"), above, below)
    if above is ZERO:
        return ZERO
    if above.value is not None and below.value is not None:
        total = _folded(above, below, above.value / below.value)
        if total is not None:
            return total
    branches = _zero_branch(above)
    if branches is not None:
        condition, branch, first = branches
        return _chosen(condition, make(_row("div"), branch, below), first)
    return make(_row("div"), above, below)


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
            return exact(base.value**count, _is_decimal(base))
    return make(_row("pow"), base, exponent)


def where(condition: Formula | bool, first: Formula, second: Formula) -> Formula:
    """first if condition else second."""
    if isinstance(condition, bool):
        return first if condition else second
    return first if first is second else make(_row("where"), condition, first, second)


def _known_size(formula: Formula | bool) -> Fraction | float | None:
    if isinstance(formula, bool):
        return Fraction(formula)
    return formula.value if formula.sort != "constant" else _CONSTANTS[formula.word]


_COMPARED = {
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
}
_BUILT = {
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
        return built(*operands)  # type: ignore[no-any-return,operator]
    compared = _COMPARED.get(name)
    if compared is not None:
        left, right = operands
        x, y = _known_size(left), _known_size(right)
        if x is not None and y is not None:
            return bool(compared(x, y))  # type: ignore[no-untyped-call]
        if name == "ne" and right is ZERO and isinstance(left, Formula) and left.row and left.row.gives_condition:
            return left
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


def _fits(roots: Sequence[Formula], order: Sequence[Formula]) -> bool:
    """Whether a family may be written out in full: it is small, or it hardly shares anything."""
    return sum(root.size for root in roots) <= max(LARGEST_TREE, 2 * len(order))


def _uses(order: Sequence[Formula], roots: Iterable[Formula]) -> dict[Formula, int]:
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
    from backprop.graph import CONST, INPUT, Graph

    graph = Graph()
    place: dict[Formula, int] = {}
    for part in parts([formula]):
        place[part] = node = len(graph)
        graph.args.extend(place[operand] for operand in part.operands)
        graph.offsets.append(len(graph.args))
        graph.starts.append(0)
        graph.ends.append(0)
        if part.row is not None:
            graph.codes.append(part.row.code)
        elif part.sort == "symbol":
            graph.codes.append(INPUT)
            graph.inputs[part.word] = node
            graph.names[node] = part.word
        else:
            graph.codes.append(CONST)
            graph.literals[node] = part.word
    graph.output = place[formula]
    return graph


# -- tidying --------------------------------------------------------------------------------------------------------


def tidy(formula: Formula) -> Formula:
    """The formula as a person would write it, in time that is linear in its parts.

    >>> x, y = symbol("x"), symbol("y")
    >>> print(tidy(sum_of(product(x, y), product(y, x))))
    2*x*y
    >>> print(tidy(product(product(x, number("-1")), power(y, number("-2")))))
    -x/y^2
    """
    return tidied([formula])[0]


def tidied(formulas: Sequence[Formula]) -> list[Formula]:
    """Each formula tidied; what they share stays shared."""
    now = list(formulas)
    for _ in range(4):  # one round is nearly always enough; a second one finds nothing to do
        order = parts(now)
        if len(order) > LARGEST_TIDY:
            break
        before, now = now, _Tidier(order, now).run()
        if all(old is new for old, new in zip(before, now, strict=True)):
            break
    return now


# A product is its factors, bases with whole exponents; a sum is its terms, coefficients before products.
_Key = frozenset[tuple[Formula, int]]
_Term = tuple[Formula, _Key]


class _Tidier:
    """One round over a family of formulas.

    A sum and the sums inside it are one region, gathered in one walk, and so are products: a part that is used once
    is never built on its own. A part that is shared is taken apart again only when it is small or when the whole
    family is, so that the result cannot grow beyond the parts there were.
    """

    def __init__(self, order: list[Formula], roots: Sequence[Formula]) -> None:
        self.order, self.roots = order, roots
        self.uses = _uses(order, roots)
        self.free = _fits(roots, order)
        self.inner: set[Formula] = set()  # parts that belong to the region around them
        self.done: dict[Formula, Formula] = {}
        self.factors: dict[Formula, _Term] = {}  # every tidied product: its coefficient and factors
        self.terms: dict[Formula, list[_Term]] = {}  # every tidied sum: its terms
        self.ordered: dict[_Key, tuple[tuple[Formula, int], ...]] = {frozenset(): ()}  # factors as they are written
        self.sums: dict[frozenset[tuple[Formula, _Key]], Formula] = {}  # a + b and b + a are one sum
        self.depth = 0

    def run(self) -> list[Formula]:
        """The roots, tidied."""
        around: dict[Formula, str] = {}  # the family of the region that a part belongs to
        for formula in reversed(self.order):
            family = around.get(formula) or _family(formula)
            if family is not None and not _is(formula, "pow"):
                inside = [one for one in formula.operands if self.uses[one] == 1 and _joins(one, family)]
                around.update(dict.fromkeys(inside, family))
        self.inner = set(around)
        for formula in self.order:
            if formula not in self.inner:
                self.done[formula] = self.one(formula)
        return [self.done[root] for root in self.roots]

    def one(self, formula: Formula) -> Formula:
        """One formula whose parts are tidied."""
        family = _family(formula)
        if family == "sum":
            return self.total(self.terms_of_region(formula))
        if family == "product":
            return self.multiplied(*self.factors_of_region(formula))
        if formula.row is None:
            return formula
        operands = [self.done[operand] for operand in formula.operands]
        made = apply(formula.row, operands)
        # a condition decided only now stays written, for whatever is chosen by it
        return make(formula.row, *operands) if isinstance(made, bool) else made

    def may_open(self, formula: Formula, uses: int) -> bool:
        """Whether a tidied sum or product may be taken apart into the one around it."""
        if self.free or uses == 1:
            return True
        if formula in self.terms:
            return len(self.terms[formula]) <= SMALL
        return formula not in self.factors or len(self.factors[formula][1]) <= SMALL

    # -- products --

    def factors_of_region(self, root: Formula) -> tuple[Formula, list[tuple[Formula, int, bool]]]:
        """The coefficient and the tidied factors of a product with the products inside it.

        A factor is a formula, its exponent and whether it may be taken apart.
        """
        sign = ONE
        found: list[tuple[Formula, int, bool]] = []
        stack = [(root, 1)]
        while stack:
            formula, exponent = stack.pop()
            if formula is not root and formula not in self.inner:
                done = self.done[formula]
                found.append((done, exponent, self.may_open(done, self.uses[formula])))
                continue
            first, *rest = formula.operands
            if _is(formula, "neg"):
                sign = sign if exponent % 2 == 0 else _negated(sign)
            elif _is(formula, "mul"):
                stack.append((rest[0], exponent))
            elif _is(formula, "div"):
                stack.append((rest[0], -exponent))
            else:
                count = whole(rest[0])
                assert count is not None
                exponent *= count
            stack.append((first, exponent))
        return sign, found

    def multiplied(self, coefficient: Formula, items: Iterable[tuple[Formula, int, bool]]) -> Formula:
        """coefficient · the tidied items to their exponents."""
        found: dict[Formula, int] = {}
        chosen: dict[Formula, bool] = {}
        stack = list(items)[::-1]
        while stack:
            formula, exponent, opens = stack.pop()
            scaled = self.scaled(coefficient, formula, exponent) if formula.value is not None else None
            if scaled is not None:
                coefficient = scaled
            elif opens and formula in self.factors:
                literal, key = self.factors[formula]
                stack.extend((base, count * exponent, self.free) for base, count in reversed(self.ordered[key]))
                stack.append((literal, exponent, False))
            elif exponent > 0 and (branches := _zero_branch(formula)) is not None:
                condition, branch, first = branches
                if chosen.setdefault(condition, first) != first:
                    return ZERO  # one factor is 0 where the other is not
                stack.append((branch, exponent, opens))
            else:
                if formula in self.terms and all(scale.word.startswith("-") for scale, _ in self.terms[formula]):
                    formula = self.total([(formula, MINUS_ONE, True)])
                    coefficient = coefficient if exponent % 2 == 0 else _negated(coefficient)
                found[formula] = found.get(formula, 0) + exponent
        made = self.built(coefficient, found)
        if made is not ZERO:
            for condition, first in reversed(chosen.items()):
                made = _chosen(condition, made, first)
        return made

    @staticmethod
    def scaled(coefficient: Formula, literal: Formula, exponent: int) -> Formula | None:
        """coefficient · literal^exponent; None when that is no literal."""
        assert literal.value is not None
        if exponent == 1:
            return _times(coefficient, literal)
        if literal is ZERO:
            return ZERO if exponent > 0 else None
        if abs(exponent) > MOST_BITS and abs(literal.value) != 1:
            return None
        raised = power(literal, exact(Fraction(exponent)))
        return None if raised.value is None else _times(coefficient, raised)

    def built(self, coefficient: Formula, found: dict[Formula, int]) -> Formula:
        """coefficient · the product of the bases to their exponents."""
        factors = {base: exponent for base, exponent in found.items() if exponent or _is_inf(base)}
        undefined = any(base is ZERO or _is_inf(base) for base in factors)
        if coefficient is ZERO and not undefined:
            return ZERO
        key = frozenset(factors.items())
        base = _only(key)
        if base is not None and abs(coefficient.value or 0) == 1 and base in self.terms:
            return self.total([(base, coefficient, True)])  # -(a - b) is b - a
        if key not in self.ordered:
            self.ordered[key] = tuple(sorted(factors.items(), key=_rank))
        return self.written(coefficient, key)

    def written(self, coefficient: Formula, key: _Key) -> Formula:
        """A coefficient before its factors, as one formula; no factors at all are the number itself."""
        above = [_raised(base, exponent) for base, exponent in self.ordered[key] if exponent > 0]
        below = [_raised(base, -exponent) for base, exponent in self.ordered[key] if exponent <= 0]
        if not above and not below:
            return coefficient
        scale, value = coefficient, coefficient.value
        assert value is not None
        if value.denominator != 1 and not _is_decimal(coefficient):
            below.insert(0, exact(Fraction(value.denominator)))
            scale = exact(Fraction(value.numerator))
        if scale.value == -1 and above:
            above[0] = make(_row("neg"), above[0])
        elif scale.value != 1 or not above:
            above.insert(0, scale)
        made = _chain("mul", above)
        if below:
            made = make(_row("div"), made, _chain("mul", below))
        if _only(key) is not made:
            self.factors[made] = (coefficient, key)
        return made

    # -- sums --

    def terms_of_region(self, root: Formula) -> list[tuple[Formula, Formula, bool]]:
        """The tidied terms of a sum with the sums inside it: a formula, its sign, and whether it may be taken apart."""
        found: list[tuple[Formula, Formula, bool]] = []
        stack = [(root, ONE)]
        while stack:
            formula, sign = stack.pop()
            if formula is not root and formula not in self.inner:
                done = self.done[formula]
                found.append((done, sign, self.may_open(done, self.uses[formula])))
                continue
            first, *rest = formula.operands
            if _is(formula, "neg"):
                sign = _negated(sign)
            else:
                stack.append((rest[0], sign if _is(formula, "add") else _negated(sign)))
            stack.append((first, sign))
        return found

    def total(self, items: Iterable[tuple[Formula, Formula, bool]]) -> Formula:
        """The sum of tidied items, each with its coefficient: like terms meet where the first of them stands."""
        found: dict[_Key, Formula] = {}
        opens: dict[_Key, bool] = {}
        for formula, coefficient, may_open in items:
            if formula.value is not None:
                literal, key = formula, frozenset[tuple[Formula, int]]()
            else:
                literal, key = self.factors.get(formula, (ONE, frozenset({(formula, 1)})))
            opens[key] = opens.get(key, False) or may_open
            self.collect(found, key, coefficient, literal)
        for _ in range(_DEEPEST):
            inside = [key for key, scale in found.items() if opens.get(key, True) and self.is_plain_sum(key, scale)]
            if not inside:
                break
            taken, found = found, {}
            for key, coefficient in taken.items():
                base = _only(key)
                if base is not None and key in inside:
                    for literal, part in self.terms[base]:
                        opens.setdefault(part, self.free)
                        self.collect(found, part, coefficient, literal)
                else:
                    self.collect(found, key, coefficient, ONE)
        return self.collected(found)

    def is_plain_sum(self, key: _Key, coefficient: Formula) -> bool:
        base = _only(key)
        return base is not None and base in self.terms and abs(coefficient.value or 0) == 1

    def collect(self, found: dict[_Key, Formula], key: _Key, coefficient: Formula, literal: Formula) -> None:
        """Add coefficient · literal · the product `key` to a sum."""
        scale = _times(coefficient, literal)
        if key not in self.ordered:
            self.ordered[key] = tuple(sorted(key, key=_rank))
        if scale is not None and not any(_is_inf(base) for base, _ in key):
            known = found.get(key)
            total = scale if known is None else _plus(known, scale)
            if total is not None:
                found[key] = total
                return
        # too long to add up, or an infinity, which never cancels: a term of its own, under a key that nothing shares
        if scale is None or not key:
            alone, scale = product(coefficient, literal), ONE
        else:
            alone = self.written(ONE, key)
        place = 1 + len(found)
        while (key := frozenset({(alone, place), (alone, -place)})) in found:
            place += 1
        self.ordered[key] = ((alone, 1),)
        found[key] = scale

    def collected(self, coefficients: dict[_Key, Formula]) -> Formula:
        """The sum of collected terms, written."""
        terms = [(coefficient, key) for key, coefficient in coefficients.items() if coefficient is not ZERO]
        if not terms:
            return ZERO
        if len(terms) == 1:
            (coefficient, key), = terms
            base = _only(key)
            return base if base is not None and coefficient.value == 1 else self.written(coefficient, key)
        if self.depth < _DEEPEST:
            self.depth += 1
            merged = self.chosen_together(terms)
            if merged is None:
                merged = self.common_sum(terms)
            self.depth -= 1
            if merged is not None:
                return merged
        known = frozenset(terms)
        if known in self.sums:
            return self.sums[known]
        lead = next((place for place, (scale, _) in enumerate(terms) if not scale.word.startswith("-")), 0)
        terms.insert(0, terms.pop(lead))
        made = self.written(*terms[0])
        for coefficient, key in terms[1:]:
            if coefficient.word.startswith("-"):
                made = make(_row("sub"), made, self.written(_negated(coefficient), key))
            else:
                made = make(_row("add"), made, self.written(coefficient, key))
        self.sums[known] = made
        self.terms[made] = terms
        return made

    def chosen_together(self, terms: list[_Term]) -> Formula | None:
        """where(c, a, 0) + where(c, 0, b) is where(c, a, b). None when no two terms share a condition."""
        groups: dict[Formula, list[Formula]] = {}
        for coefficient, key in terms:
            base = _only(key)
            if base is not None and coefficient.value == 1 and _zero_branch(base) is not None:
                groups.setdefault(base.operands[0], []).append(base)
        if all(len(group) == 1 for group in groups.values()):
            return None
        items: list[tuple[Formula, Formula, bool]] = []
        for coefficient, key in terms:
            base = _only(key)
            group = groups.get(base.operands[0], []) if base is not None and _is(base, "where") else []
            if base is None or base not in group or coefficient.value != 1:
                items.append((self.written(coefficient, key), ONE, False))
            elif base is group[0]:
                first, second = (
                    self.total([(one.operands[place], ONE, self.free) for one in group]) for place in (1, 2)
                )
                items.append((where(base.operands[0], first, second), ONE, False))
        return self.total(items)

    def common_sum(self, terms: list[_Term]) -> Formula | None:
        """S·a + S·b is S·(a + b) when the sum S is a factor of every term. None when there is none."""
        shared: set[Formula] | None = None
        for _, key in terms:
            bases = {base for base, exponent in key if exponent > 0 and base in self.terms}
            shared = bases if shared is None else shared & bases
            if not shared:
                return None
        assert shared
        out = next(base for base, _ in self.ordered[terms[0][1]] if base in shared)
        rest: dict[_Key, Formula] = {}
        for coefficient, key in terms:
            left = tuple((base, exponent - (base is out)) for base, exponent in self.ordered[key])
            left = tuple((base, exponent) for base, exponent in left if exponent)
            less = frozenset(left)
            self.ordered.setdefault(less, left)
            rest[less] = coefficient
        return self.multiplied(ONE, [(out, 1, False), (self.collected(rest), 1, True)])


def _family(formula: Formula) -> str | None:
    """Whether a formula belongs to a sum or to a product around it."""
    row = formula.row
    if row is None:
        return None
    if row.name in ("add", "sub"):
        return "sum"
    if row.name == "neg":
        return "sum" if _is(formula.operands[0], "add") or _is(formula.operands[0], "sub") else "product"
    if row.name == "pow":
        count = whole(formula.operands[1])
        return "product" if count is not None and abs(count) < 2**62 else None
    return "product" if row.name in ("mul", "div") else None


def _joins(formula: Formula, family: str) -> bool:
    """Whether a formula belongs to the region around it; a sign belongs to either."""
    return _family(formula) == family or (family == "product" and _is(formula, "neg"))


def _only(key: _Key) -> Formula | None:
    """The formula that a key is, when it is a single one to the first power."""
    if len(key) != 1:
        return None
    ((base, exponent),) = key
    return base if exponent == 1 else None


def _raised(base: Formula, exponent: int) -> Formula:
    return base if exponent == 1 else make(_row("pow"), base, exact(Fraction(exponent)))


def _chain(name: str, formulas: list[Formula]) -> Formula:
    row = _row(name)
    made = formulas[0]
    for formula in formulas[1:]:
        made = make(row, made, formula)
    return made


_DIGITS = re.compile(r"(\d+)")


def _rank(factor: tuple[Formula, int]) -> tuple[int, Any]:
    """Factors as on paper: numbers, constants, letters in their order (Greek first), calls as they come, sums."""
    base = factor[0]
    if base.sort == "number":
        return 0, ()
    if base.sort == "constant":
        return 1, (base.word,)
    if base.sort == "symbol":
        from unicodedata import normalize

        pieces = _DIGITS.split(normalize("NFKC", base.word))
        natural = tuple(int(piece) if place % 2 else piece for place, piece in enumerate(pieces))
        return 2, (not "α" <= base.word[:1].lower() <= "ω", natural)
    return (5 if _is(base, "where") else 4 if _is(base, "add") or _is(base, "sub") else 3), ()


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
            return _OTHERWISE.get(formula.word, (formula.word, ATOM)) if formula.word in self.taken else (
                formula.word,
                ATOM,
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
        for piece in _pieces(row.form, row.parameters):
            if isinstance(piece, str):
                found.append(piece)
                continue
            operand = formula.operands[piece]
            if _needs_brackets(row, piece, "-" if operand in minus else "", levels[operand]):
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
    if not _fits(formulas, order):
        uses = _uses(order, formulas)
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


def _emitted(
    start: list[str | Formula], pieces: dict[Formula, list[str | Formula]], leaves: dict[Formula, str]
) -> str:
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

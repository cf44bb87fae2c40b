"""Tidying: a formula rewritten as a person would write it, with the same value and never longer than it was.

Like terms and powers are collected, signs and quotients made readable, conditions drawn together; nothing is ever
expanded. A tidied formula has the value of the original wherever that has one. Where the original has a hole that
cancels (`x/x` and `0*log(x)` at 0) the tidied one has the value beside it, as on paper.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any
from unicodedata import normalize

from backprop.formulas import (
    MINUS_ONE,
    MOST_BITS,
    ONE,
    ZERO,
    Formula,
    apply,
    chosen,
    exact,
    fits,
    is_a,
    is_decimal,
    is_inf,
    make,
    negated,
    parts,
    plus,
    power,
    product,
    row_named,
    times,
    uses_of,
    where,
    whole,
    zero_branch,
)

# A shared sum or product with at most so many parts is taken apart into the one around it.
SMALL = 8
# Formulas with more parts than this are left as they come.
LARGEST_TIDY = 200_000
_DEEPEST = 12  # rewrites inside rewrites (conditions in conditions)


def tidy(formula: Formula) -> Formula:
    """The formula as a person would write it, in time that is linear in its parts.

    >>> from backprop.formulas import number, product, sum_of, symbol
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
        self.uses = uses_of(order, roots)
        self.free = fits(roots, order)
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
            if family is not None and not is_a(formula, "pow"):
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
            if is_a(formula, "neg"):
                sign = sign if exponent % 2 == 0 else negated(sign)
            elif is_a(formula, "mul"):
                stack.append((rest[0], exponent))
            elif is_a(formula, "div"):
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
        taken: dict[Formula, bool] = {}
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
            elif exponent > 0 and (branches := zero_branch(formula)) is not None:
                condition, branch, first = branches
                if taken.setdefault(condition, first) != first:
                    return ZERO  # one factor is 0 where the other is not
                stack.append((branch, exponent, opens))
            else:
                if formula in self.terms and all(scale.word.startswith("-") for scale, _ in self.terms[formula]):
                    formula = self.total([(formula, MINUS_ONE, True)])
                    coefficient = coefficient if exponent % 2 == 0 else negated(coefficient)
                found[formula] = found.get(formula, 0) + exponent
        made = self.built(coefficient, found)
        if made is not ZERO:
            for condition, first in reversed(taken.items()):
                made = chosen(condition, made, first)
        return made

    @staticmethod
    def scaled(coefficient: Formula, literal: Formula, exponent: int) -> Formula | None:
        """coefficient · literal^exponent; None when that is no literal."""
        assert literal.value is not None
        if exponent == 1:
            return times(coefficient, literal)
        if literal is ZERO:
            return ZERO if exponent > 0 else None
        if abs(exponent) > MOST_BITS and abs(literal.value) != 1:
            return None
        raised = power(literal, exact(Fraction(exponent)))
        return None if raised.value is None else times(coefficient, raised)

    def built(self, coefficient: Formula, found: dict[Formula, int]) -> Formula:
        """coefficient · the product of the bases to their exponents."""
        factors = {base: exponent for base, exponent in found.items() if exponent or is_inf(base)}
        undefined = any(base is ZERO or is_inf(base) for base in factors)
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
        if value.denominator != 1 and not is_decimal(coefficient):
            below.insert(0, exact(Fraction(value.denominator)))
            scale = exact(Fraction(value.numerator))
        if scale.value == -1 and above:
            above[0] = make(row_named("neg"), above[0])
        elif scale.value != 1 or not above:
            above.insert(0, scale)
        made = _chain("mul", above)
        if below:
            made = make(row_named("div"), made, _chain("mul", below))
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
            if is_a(formula, "neg"):
                sign = negated(sign)
            else:
                stack.append((rest[0], sign if is_a(formula, "add") else negated(sign)))
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
        scale = times(coefficient, literal)
        if key not in self.ordered:
            self.ordered[key] = tuple(sorted(key, key=_rank))
        if scale is not None and not any(is_inf(base) for base, _ in key):
            known = found.get(key)
            total = scale if known is None else plus(known, scale)
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
            ((coefficient, key),) = terms
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
        number = next((place for place, (_, key) in enumerate(terms) if not key), 0)
        if number:  # a number stands first, as in 1 + exp(-x), or last
            terms.append(terms.pop(number))
        lead = next((place for place, (scale, _) in enumerate(terms) if not scale.word.startswith("-")), 0)
        terms.insert(0, terms.pop(lead))
        made = self.written(*terms[0])
        for coefficient, key in terms[1:]:
            if coefficient.word.startswith("-"):
                made = make(row_named("sub"), made, self.written(negated(coefficient), key))
            else:
                made = make(row_named("add"), made, self.written(coefficient, key))
        self.sums[known] = made
        self.terms[made] = terms
        return made

    def chosen_together(self, terms: list[_Term]) -> Formula | None:
        """where(c, a, 0) + where(c, 0, b) is where(c, a, b). None when no two terms share a condition."""
        groups: dict[Formula, list[Formula]] = {}
        for coefficient, key in terms:
            base = _only(key)
            if base is not None and coefficient.value == 1 and zero_branch(base) is not None:
                groups.setdefault(base.operands[0], []).append(base)
        if all(len(group) == 1 for group in groups.values()):
            return None
        items: list[tuple[Formula, Formula, bool]] = []
        for coefficient, key in terms:
            base = _only(key)
            group = groups.get(base.operands[0], []) if base is not None and is_a(base, "where") else []
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
        return "sum" if is_a(formula.operands[0], "add") or is_a(formula.operands[0], "sub") else "product"
    if row.name == "pow":
        count = whole(formula.operands[1])
        return "product" if count is not None and abs(count) < 2**62 else None
    return "product" if row.name in ("mul", "div") else None


def _joins(formula: Formula, family: str) -> bool:
    """Whether a formula belongs to the region around it; a sign belongs to either."""
    return _family(formula) == family or (family == "product" and is_a(formula, "neg"))


def _only(key: _Key) -> Formula | None:
    """The formula that a key is, when it is a single one to the first power."""
    if len(key) != 1:
        return None
    ((base, exponent),) = key
    return base if exponent == 1 else None


def _raised(base: Formula, exponent: int) -> Formula:
    return base if exponent == 1 else make(row_named("pow"), base, exact(Fraction(exponent)))


def _chain(name: str, formulas: list[Formula]) -> Formula:
    row = row_named(name)
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
        pieces = _DIGITS.split(normalize("NFKC", base.word))
        natural = tuple(int(piece) if place % 2 else piece for place, piece in enumerate(pieces))
        return 2, (not "α" <= base.word[:1].lower() <= "ω", natural)
    return (5 if is_a(base, "where") else 4 if is_a(base, "add") or is_a(base, "sub") else 3), ()

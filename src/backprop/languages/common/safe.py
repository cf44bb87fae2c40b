"""Kind node for code that is read by others: a branch not taken spoils no answer, and no answer hides what has none.

Code without a tape works out both branches: where a product is 0 because no branch is taken, and the other factor may
have no value, the 0 is written as a choice. And it goes on with what has no value: log(-1) > 0 is false, tanh(1/0) is
1. Where that would not be seen in the value, the value is NaN (in a language with nulls, a null).
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from backprop import ops
from backprop.guards import ANY, SHOWING, SILENT, Range, alternatives, both, conjuncts, demands, opposite
from backprop.languages.common import value_ranges
from backprop.ops import Row
from backprop.straight import Worded

# Choices of a rule within choices: those of clip are four.
DEEPEST = 8
# From so many operations on that may have no value all slopes are looked after, whatever they show.
MOST_SOURCES = 256
# Rows that may be infinite where their operands are numbers and they have a value.
OVERFLOWING = frozenset({"exp", "exp2", "expm1", "sinh", "cosh", "pow", "gamma", "factorial", "polygamma"})

# Rows that are NaN, and never infinite, where they have no value: it is seen below a fraction bar too.
NAN_ALONE = frozenset({"sqrt", "asin", "acos", "acosh", "mod"})

ALWAYS = "True"


class Safe(Worded):
    """Nodes that know which of them may have no value, or none that is finite.

    `nulls` says that what has no value is a null, which everything passes on but `and` and `or`; `raises` that it is an
    error.

    >>> kind = Safe({"div", "tanh", "where", "eq", "sub", "and", "or", "not"})
    >>> x, y = kind.leaf("x"), kind.leaf("y")
    >>> h = kind.apply(ops.by_name("tanh"), [kind.apply(ops.by_name("div"), [x, y])])
    >>> answer = kind.answer(h)
    >>> [kind.graph.formula(node) for node in range(answer + 1) if kind.graph.row(node)]
    ['x/y', 'tanh(v1)', 'v1 - v1', 'v3 == 0', 'where(v4, v2, nan)']
    """

    def __init__(self, words: Container[str], nulls: bool = False, raises: bool = False) -> None:
        super().__init__(words)
        self._nulls, self._raises = nulls, raises
        self._bounds: list[Range] = []  # of each node
        self._sources: set[int] = set()  # operations with a domain that their operands may leave
        self._doubtful: set[int] = set()  # what may have no value therefore
        self._endless: set[int] = set()  # and what may be infinite as well
        self._divisors: set[int] = set()  # what the program itself divides by
        self._poles: set[int] = set()  # what may be infinite in the slopes where the value is a number: 1/(2*sqrt(x))
        self._kinked: dict[int, Any] = {}  # what is 0 at a kink by convention, and when that is
        self._backward = False
        self._chosen: dict[int, int] = {}  # of sums that are 0 unless a condition holds, that condition
        self._inside = 0  # formulas of the table, which know what they do

    def _made(self, key: tuple[Any, ...], code: int, operands: tuple[int, ...]) -> int:
        size = len(self.graph)
        node = super()._made(key, code, operands)
        if key == ("number", "nan"):
            self._doubtful.add(node)
        if code < 0 and node == size:
            self._bounds.append(value_ranges.of_literal(key[1]))
        if code >= 0 and node == size:
            row, known = ops.rows()[code], [self._bounds[operand] for operand in operands]
            self._bounds.append(value_ranges.of_row(row, known, len(operands) == 2 and operands[0] == operands[1]))
            leaves = not value_ranges.within(row, known)
            divisor = operands[1] if row.name == "div" else None
            if leaves:
                self._sources.add(node)
                if not self._backward and divisor is not None:
                    self._divisors.add(divisor)
            if (leaves and self._backward and divisor not in self._divisors) or not self._poles.isdisjoint(operands):
                self._poles.add(node)
            if leaves or not self._doubtful.isdisjoint(operands):
                self._doubtful.add(node)
            if leaves or row.name in OVERFLOWING or not self._endless.isdisjoint(operands):
                self._endless.add(node)
        return node

    def leaf(self, name: str) -> int:
        """An input: any finite number."""
        node = super().leaf(name)
        if node == len(self._bounds):
            self._bounds.append(ANY)
        return node

    def apply(self, row: Row, operands: list[Any]) -> Any:
        """The node of an operation; what has no value for any input is NaN, and 0 times it too."""
        if row.name in ("eq", "ne") and (known := self._known.get((row.code, *reversed(operands)))) is not None:
            return known
        if row.domain and operands and all(one in self.graph.literals for one in operands):  # asin(2)
            worked_out = self._worked_out(row, operands)
            return self.number("nan") if worked_out is None else worked_out
        if self._inside:
            return super().apply(row, operands)
        if row.chooses and operands[1] == operands[2] and operands[0] in self._doubtful:
            return self._made((row.code, *operands), row.code, tuple(operands))
        dying = row.name == "mul" and any(self.is_zero(one) or self._gate(one) is not None for one in operands)
        if dying and not self._doubtful.isdisjoint(operands):
            return self._made((row.code, *operands), row.code, tuple(operands))
        return super().apply(row, operands)

    def answer(self, output: Any) -> Any:
        """The output, and NaN where something that it needs has no value and would not be seen in it."""
        needed = demands(self, [output])
        graph, zero = self.graph, self.number("0")
        # when what a node has for a value is seen in the output: as often as it is needed is often enough
        seen: list[set[Any]] = [set() for _ in needed]
        seen[output].add(ALWAYS)
        noticed: list[set[Any]] = [set() for _ in needed]  # and when it would be if it were NaN
        noticed[output].add(ALWAYS)
        fine: Any = True
        for node in range(len(needed) - 1, -1, -1):
            row, when = graph.row(node), needed[node]
            if graph.literals.get(node) == "nan" and when is not False and seen[node].isdisjoint((ALWAYS, str(when))):
                fine = self._of("and", fine, self._of("not", when))
            if row is None or when is False:
                continue
            shows = not seen[node].isdisjoint((ALWAYS, str(when)))
            as_nan = not noticed[node].isdisjoint((ALWAYS, str(when)))
            known: Any = True
            if row.name in SILENT and not self._nulls:
                known = self._within(row, node)
            hidden = not shows and not (as_nan and row.name in NAN_ALONE)
            if hidden and node in self._sources and not self._raises:
                known = self._of("and", known, self._of("eq", self._make("sub", node, node), zero))
                shows = as_nan = True
            if known is not True:
                fine = self._of("and", fine, self._of("or", self._of("not", when), known))
            for place, operand in enumerate(graph.operands(node) if shows or as_nan else ()):
                told = ALWAYS if when is True else str(when)
                if row.chooses and place:
                    condition = graph.operands(node)[0]
                    told = str(both(self, when, condition if place == 1 else opposite(self, condition)))
                elif not self._shows(row, place):
                    if row.name == "div" and as_nan:
                        noticed[operand].add(told)
                    continue
                if shows:
                    seen[operand].add(told)
                if as_nan:
                    noticed[operand].add(told)
        return self._of("where", fine, output, self.number("nan"))

    def hiding(self, output: Any, slopes: Sequence[Any]) -> set[Any]:
        """Those of the slopes that may be numbers where the output is none; nulls are looked after by the language."""
        if self._nulls:
            return set()
        needed, graph = demands(self, [output]), self.graph
        failing: dict[int, Any] = {}  # what may have no value, and when it is needed
        for node, when in enumerate(needed):
            fails = node in self._sources and not self._raises and not self._implied(node, when)
            if when is not False and (fails or graph.literals.get(node) == "nan"):
                failing[node] = when
        if not failing or len(failing) > MOST_SOURCES:
            return set(slopes) if failing else set()
        bits = {node: 1 << place for place, node in enumerate(failing)}
        everywhere = sum(bits.values())
        # a literal that is NaN, and what is never infinite
        numberless = sum(
            bit for node, bit in bits.items() if node in graph.literals or any(self._is(node, one) for one in NAN_ALONE)
        )
        under: dict[Any, int] = {}  # what is needed only where a condition holds
        for node, when in failing.items():
            for one in conjuncts(self, when) if when is not True else ():
                under[one] = under.get(one, 0) | bits[node]
        shown: list[int] = []  # by which of them each node has no value
        for node in range(len(graph)):
            row, operands = graph.row(node), graph.operands(node)
            found = bits.get(node, 0)
            if row is not None and row.chooses:
                first, second = shown[operands[1]], shown[operands[2]]
                here, there = under.get(operands[0], 0), under.get(self._against(operands[0]), 0)
                found |= first & (second | here) | second & there
            elif row is not None and (row.name in SHOWING or row.name == "div"):
                for place, operand in enumerate(operands):
                    found |= shown[operand] & (everywhere if self._shows(row, place) else numberless)
            shown.append(found)
        return {slope for slope in slopes if everywhere & ~shown[slope]}

    def _against(self, condition: int) -> Any:
        """The opposite of a condition, where the graph has it."""
        return self._known.get((ops.by_name("not").code, condition))

    def _implied(self, node: int, when: Any) -> bool:
        """Whether a node is needed only where its operands are in the domain of its row: log(x), where x > 0."""
        row = self.graph.row(node)
        if row is None or isinstance(when, bool):
            return False
        within = self._within(row, node)
        return within is True or (not isinstance(within, bool) and within in conjuncts(self, when))

    def _of(self, name: str, *operands: Any) -> Any:
        return super().apply(ops.by_name(name), list(operands))

    def _shows(self, row: Row, place: int) -> bool:
        """Whether what has no value as an operand has none as the result."""
        if self._nulls:
            return row.name not in ("and", "or")
        return row.name in SHOWING and (row.name, place) != ("div", 1)

    def _within(self, row: Row, node: int) -> Any:
        """The condition that the operands of a node are in the domain of its row."""
        operands = list(self.graph.operands(node))
        made = self.formula(f"where({row.domain}, out, {row.parameters[0]})", row, operands, node)
        return True if made == node else self.graph.operands(made)[0]

    def formula(self, text: str, row: Row, operands: list[Any], out: Any = None) -> Any:
        """A formula of the table over the operands of a row, written here."""
        self._inside += 1
        try:
            return super().formula(text, row, operands, out)
        finally:
            self._inside -= 1

    def slope(self, rule: Any, operands: list[Any], out: Any, position: int = 0) -> Any:
        """One partial, by the rule of the table."""
        self._backward = True
        self._inside += 1
        try:
            found = super().slope(rule, operands, out, position)
            row = rule.row
            # those that are largest together share the slope: none of them gets 0
            shared = row.variadic and not any(one in self.graph.literals for one in operands)
            conventional = row.kink and not row.jumps and not shared
            if conventional and found not in self._kinked and self._taken(found) is not None:
                self._kinked[found] = self._at_a_kink(row, operands, out)
        finally:
            self._inside -= 1
        return found

    def _taken_or(self, taken: Any, kink: Any) -> Any:
        """Whether a branch is taken or its kink is hit: x >= 0, for x > 0 and x == 0."""
        wanted, before = alternatives(self, kink), alternatives(self, taken)
        found = before[:]
        for equal in wanted:
            if equal in before:
                continue
            if self._is(equal, "eq"):
                at = self.graph.operands(equal)
                above, below = (self._known.get((ops.by_name(name).code, *at)) for name in ("gt", "lt"))
                if above in found and below in found:
                    return True
                for strict, wide in ((above, "ge"), (below, "le")):
                    if strict in found:
                        found[found.index(strict)] = equal = self._of(wide, *at)
            if self._against(equal) in found:
                return True
            if equal not in found:
                found.append(equal)
        if found == before:
            return taken
        joined: Any = False
        for one in found:
            joined = self._of("or", joined, one)
        return joined

    def _at_a_kink(self, row: Row, operands: list[Any], out: Any) -> Any:
        """The condition that an operation has a kink at these operands."""
        found: Any = False
        for text in row.kinks(len(operands)):
            distance = self.formula(text, row, operands, out)
            apart = self.graph.operands(distance) if self._is(distance, "sub") else (distance, self.number("0"))
            found = self._of("or", found, self._of("eq", *apart))
        return found

    def add(self, left: Any, right: Any) -> int:
        """The sum; of two that are 0 unless a branch is taken it is known when that is."""
        if (known := self._worked_out(ops.by_name("add"), [left, right])) is not None:
            return int(known)
        total = super().add(left, right)
        if total not in (left, right) and total not in self._chosen:
            conditions = [self._taken(one) for one in (left, right)]
            if None not in conditions:
                self._chosen[total] = self._of("or", *conditions)
                kinks = [self._kinked[one] for one in (left, right) if one in self._kinked]
                if kinks:
                    self._kinked[total] = self._of("or", *kinks) if len(kinks) == 2 else kinks[0]
        return total

    def _taken(self, node: int, depth: int = DEEPEST) -> Any:
        """The condition without which a node is 0; None when there is none."""
        row = self.graph.row(node)
        if node in self._chosen or row is None or row.name != "where" or not depth:
            return self._chosen.get(node)
        condition, *branches = self.graph.operands(node)
        for branch, other, when in (
            (*branches, condition),  # where(c, x, 0), and where(c, 1, where(d, 1/2, 0)) as the rules of max have it
            (*reversed(branches), self._of("not", condition)),
        ):
            if self.is_zero(other):
                inner = self._taken(branch, depth - 1)
                return when if inner is None else self._of("and", when, inner)
            if not self.is_zero(branch) and (taken := self._taken(other, depth - 1)) is not None:
                return self._of("or", when, taken)
        return None

    def scale(self, adjoint: Any, partial: Any) -> int:
        """adjoint · partial."""
        if (known := self._worked_out(ops.by_name("mul"), [adjoint, partial])) is not None:
            return int(known)
        kinks = [self._kinked[one] for one in (adjoint, partial) if one in self._kinked]
        for one, other in ((partial, adjoint), (adjoint, partial)):
            if one in self._kinked and other in self._poles:  # at a kink nothing is taken, and 0·inf is not guessed
                when = self._taken(one)
                if when is not None and (either := self._taken_or(when, self._kinked[one])) != when:
                    bare = self._make("mul", *sorted((adjoint, partial)))
                    return int(self._of("where", either, bare, self.number("0")))
        product = self._scaled(adjoint, partial)
        if kinks:
            kink = self._of("or", *kinks) if len(kinks) == 2 else kinks[0]
            for one in (adjoint, partial):  # a branch that is not taken has no kink
                if one not in self._kinked and (when := self._taken(one)) is not None:
                    kink = self._of("and", kink, when)
            self._kinked.setdefault(product, kink)
        return product

    def _scaled(self, adjoint: Any, partial: Any) -> int:
        product = super().scale(adjoint, partial)
        taken: Any = True
        endless = False
        for one, other in ((adjoint, partial), (partial, adjoint)):
            if self._gate(one) is None and product not in (one, other) and (when := self._taken(one)) is not None:
                taken, endless = self._of("and", taken, when), endless or other in self._endless
        if taken is True:
            return product
        if endless or self._gate(product) is not None:
            return int(self._of("where", taken, product, self.number("0")))
        self._chosen.setdefault(product, taken)
        return product

"""Statements: what a row of the table works out, written as lines of a program.

The value of a row is a function of a kind: it is called with a kind whose numbers are texts, which writes down what is
done with them. Its rules are graphs already; they are written node by node, each branch of a `where` in a block of its
own, so that the one not taken is not worked out. The lines call the methods of kind real by their names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from backprop.graph import CONST, INPUT
from backprop.kinds.real import REAL
from backprop.ops import Row
from backprop.rules import Formula


class Untraceable(Exception):
    """A value that cannot be written down: it hangs on what its operands are."""


class Number:
    """A number in a program that is being written: its text, which stands for itself inside any other.

    `shows` says that a NaN in what it is made of shows in it; `is_leaf` that it is an operand, a result or a literal,
    and so no NaN; `plain` that working it out can go wrong in no way. A literal has a `value`.
    """

    __slots__ = ("is_leaf", "lines", "plain", "shows", "text", "value")

    def __init__(
        self,
        lines: Statements,
        text: str,
        *,
        shows: bool = True,
        is_leaf: bool = False,
        plain: bool = False,
        value: Any = None,
    ) -> None:
        self.lines, self.text, self.shows, self.value = lines, text, shows, value
        self.is_leaf = is_leaf or value is not None
        self.plain = plain or self.is_leaf

    def _made(self, text: str, *of: Number, plain: bool = True) -> Number:
        shows, plain = all(one.shows for one in of), plain and all(one.plain for one in of)
        return Number(self.lines, text, shows=shows, plain=plain)

    def _with(self, sign: str, other: Any, turned: bool = False) -> Number:
        other = self.lines.number(other)
        left, right = (other, self) if turned else (self, other)
        if sign in ("/", "%"):
            self.lines.divisor(right)
        return self._made(f"({left.text} {sign} {right.text})", left, right, plain=sign in ("+", "-", "*"))

    def __add__(self, other: Any) -> Number:
        return self._with("+", other)

    def __radd__(self, other: Any) -> Number:
        return self._with("+", other, True)

    def __sub__(self, other: Any) -> Number:
        return self._with("-", other)

    def __rsub__(self, other: Any) -> Number:
        return self._with("-", other, True)

    def __mul__(self, other: Any) -> Number:
        return self._with("*", other)

    def __rmul__(self, other: Any) -> Number:
        return self._with("*", other, True)

    def __truediv__(self, other: Any) -> Number:
        return self._with("/", other)

    def __rtruediv__(self, other: Any) -> Number:
        return self._with("/", other, True)

    def __pow__(self, other: Any) -> Number:
        return self.lines.call("power", [self, other])

    def __rpow__(self, other: Any) -> Number:
        return self.lines.call("power", [other, self])

    def __neg__(self) -> Number:
        return self._made(f"(-{self.text})", self)

    def __abs__(self) -> Number:
        return self._made(f"abs({self.text})", self)

    def _compared(self, sign: str, other: Any) -> Condition:
        return Condition(self.lines, f"({self.text} {sign} {self.lines.number(other).text})")

    def __lt__(self, other: Any) -> Condition:
        return self._compared("<", other)

    def __le__(self, other: Any) -> Condition:
        return self._compared("<=", other)

    def __gt__(self, other: Any) -> Condition:
        return self._compared(">", other)

    def __ge__(self, other: Any) -> Condition:
        return self._compared(">=", other)

    # what an object's own give is a bool; here a comparison is written down
    def __eq__(self, other: object) -> Condition:  # type: ignore[override]
        return self._compared("==", other)

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]
        return self._compared("!=", other)

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> bool:
        raise Untraceable


class Condition(Number):
    """Something that is true or false."""

    __slots__ = ()

    def __init__(self, lines: Statements, text: str) -> None:
        super().__init__(lines, text, shows=False)


class Tracer:
    """Kind real as it is written down: each of its methods becomes a call."""

    def __init__(self, lines: Statements) -> None:
        self._lines = lines

    def __getattr__(self, name: str) -> Any:
        found = getattr(REAL, name)
        if not callable(found):
            return self._lines.number(found)
        return lambda *operands: self._lines.call(name, operands)

    def number(self, text: str) -> Number:
        return self._lines.number(REAL.number(text))

    def divide(self, x: Any, y: Any) -> Any:
        return x / y

    def true(self, condition: Any) -> Condition:
        if not isinstance(condition, Condition):
            raise Untraceable
        return condition

    def where(self, condition: Any, x: Any, y: Any) -> Number:
        lines, held = self._lines, self.true(condition)
        # both are worked out, as the arguments of kind real are
        one, other = (number if number.plain else lines.kept(number) for number in map(lines.number, (x, y)))
        return Number(lines, f"({one.text} if {held.text} else {other.text})", shows=False, plain=True)

    def equal(self, x: Any, y: Any) -> Any:
        return x == y

    def both(self, x: Any, y: Any) -> Condition:
        return Condition(self._lines, f"({self.true(x).text} and {self.true(y).text})")

    def either(self, x: Any, y: Any) -> Condition:
        return Condition(self._lines, f"({self.true(x).text} or {self.true(y).text})")

    def negation(self, x: Any) -> Condition:
        return Condition(self._lines, f"(not {self.true(x).text})")

    def maximum(self, *x: Any) -> Number:
        return self._extreme(">", x)

    def minimum(self, *x: Any) -> Number:
        return self._extreme("<", x)

    def _extreme(self, beats: str, x: Sequence[Any]) -> Number:
        """As Python's own max and min: a later one has to beat the best so far."""
        best, *others = map(self._lines.kept, map(self._lines.number, x))
        for other in others:
            text = f"({other.text} if {other.text} {beats} {best.text} else {best.text})"
            best = self._lines.kept(Number(self._lines, text, shows=False, plain=True))
        return best


class Statements:
    """Lines of a program in the making.

    `fail` is the line that gives up. Where `divides` is false a division by 0 raises no exception by itself, and
    is looked for. `calls` collects the names of what is called: methods of kind real, and rows by their codes.
    """

    def __init__(self, fail: str, divides: bool = True) -> None:
        self.lines: list[str] = []
        self.fail, self.divides = fail, divides
        self.calls: set[str] = set()
        self._depth = 0
        self._names = 0

    def add(self, text: str) -> None:
        """One more line, as deep as the block that is open."""
        self.lines.append("    " * self._depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """A block of lines under a head: `if c:`."""
        self.add(head)
        self._depth += 1
        yield
        self._depth -= 1

    def number(self, value: Any) -> Number:
        """A number that is there already, or a literal."""
        if isinstance(value, Number):
            return value
        text = repr(value) if value - value == 0 else "INF" if value > 0 else "-INF"
        return Number(self, f"({text})" if text.startswith("-") else text, value=value)

    def leaf(self, name: str) -> Number:
        """A name that holds an operand or a result."""
        return Number(self, name, is_leaf=True)

    def named(self, name: str, number: Number) -> Number:
        """The number under a name of one's own."""
        self.add(f"{name} = {number.text}")
        return self.leaf(name)

    def kept(self, number: Number) -> Number:
        """The number under a name, so that it may be used again."""
        if number.is_leaf or number.text.isidentifier():
            return number
        self._names += 1
        name = f"t{self._names}"
        self.add(f"{name} = {number.text}")
        return Number(self, name, shows=number.shows, plain=True)

    def call(self, name: str, operands: Sequence[Any]) -> Number:
        """What a method of kind real gives."""
        numbers = [self.number(operand) for operand in operands]
        self.calls.add(name)
        # of the functions of one number in the module math each hands a NaN on
        of_math = getattr(getattr(REAL, name, None), "__module__", "") == "math"
        shows = of_math and len(numbers) == 1 and numbers[0].shows
        return Number(self, f"real_{name}({', '.join(number.text for number in numbers)})", shows=shows)

    def divisor(self, number: Number) -> None:
        """Look at what is divided by."""
        if self.divides or number.value:
            return
        with self.block(f"if {number.text} == 0.0:"):
            self.add(self.fail)

    def refuse(self, number: Number) -> None:
        """Give up where a number is not finite."""
        if not number.is_leaf:
            with self.block(f"if {number.text} - {number.text} != 0.0:"):
                self.add(self.fail)

    def value(self, row: Row, operands: Sequence[Number]) -> Number:
        """The value of a row."""
        before, called = len(self.lines), set(self.calls)
        try:
            return self.number(row.value(Tracer(self), *operands))
        except (Untraceable, TypeError, AttributeError):
            del self.lines[before:]
            self.calls = called
            return self.call(f"row_{row.code}", operands)

    def formula(self, found: Formula, known: Sequence[Number]) -> Number:
        """The value of a formula over the operands of a row and the result."""
        if found.constant is not None:
            return self.number(REAL.number(found.constant))
        if found.single is not None:
            return known[found.single]
        leaves: dict[int, Number] = found.leaves(list(known))
        return self._node(found, found.graph.output, leaves)

    def _node(self, found: Formula, node: int, made: dict[int, Number]) -> Number:
        """One node of a formula, after what it is made of (a rule is a line long: the recursion is not deep)."""
        if node in made:
            return made[node]
        graph = found.graph
        row, operands = graph.row(node), graph.operands(node)
        if row is None:
            assert graph.codes[node] in (CONST, INPUT)
            made[node] = self.number(REAL.number(graph.literals[node]))
            return made[node]
        if row.chooses:
            condition = self._node(found, operands[0], made)
            self._names += 1
            name = f"t{self._names}"
            for head, branch in ((f"if {condition.text}:", operands[1]), ("else:", operands[2])):
                with self.block(head):
                    self.add(f"{name} = {self._node(found, branch, dict(made)).text}")
            made[node] = Number(self, name)
            return made[node]
        numbers = [self._node(found, operand, made) for operand in operands]
        literals = [number.value for number in numbers if number.value is not None]
        if len(literals) == len(numbers) and not row.gives_condition:
            made[node] = self.number(row.value(REAL, *literals))
            return made[node]
        value = self.value(row, numbers)
        shows = value.shows
        if not isinstance(value, Condition):
            value = Number(self, self.kept(value).text, plain=True)
        if not shows:
            for number in numbers:
                if not isinstance(number, Condition):
                    self.refuse(number)
        made[node] = value
        return value

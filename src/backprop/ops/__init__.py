"""The table of elementary operations: one row each, read by everything.

A row says how an operation is called and written, its value in any kind of number, its rules (partials) as text in
the user's own language, its SymPy form, where it is defined, where it has a kink and at which operands it is tried.
To add an operation, add one row to one of the files of this folder; nothing else names it.

Importing this module loads no mathematics: the rows hold functions of a kind `k`, and texts.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

# The flops of the gamma function and its kin, which take seconds with hundreds of digits.
HEAVY = 50

# The rule for each operand of a max names all the others, so the work for one max is the square of this.
MOST_OPERANDS = 64

Texts = tuple[str | None, ...]
Operands = tuple[float | str, ...]  # an array as the text that a user types
Moving = tuple[bool, ...]
# The shape of each operand; a setting stands for itself.
Shapes = tuple[Any, ...]

# What a comparison says of two numbers, by the name of its row.
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}

# How tightly a written form holds together; a call or a name never needs brackets.
CONDITIONAL, OR, AND, NOT, COMPARISON, SUM, PRODUCT, UNARY, POWER, POSTFIX, ATOM = range(11)


class Remark(NamedTuple):
    """Something worth telling a reader when `when` (a condition in the user's language) holds at a node.

    `says` may use the names of the operands, `out` and `node` in braces. `many` says it of several elements of an
    array, behind "3 of 8": {which} tells them.
    """

    code: str
    when: str
    says: str
    many: str


@dataclass(frozen=True, slots=True)
class Work:
    """How many floating-point operations one evaluation takes: `count(operands, out)`, and `says` tells it.

    Operands and result are numbers or arrays, of which the shapes are asked for.
    """

    says: str
    count: Callable[[Sequence[Any], Any], int]


@dataclass(frozen=True, slots=True, eq=False)  # a row is itself; comparing texts and functions would be slow
class Row:
    """One elementary operation.

    value      value(k, *operands) in the kind of number k; raises ValueError or ZeroDivisionError outside the domain
    partials   one rule for each operand, as text over the names of the operands and `out` (the result);
               None where the operand has no derivative (a condition, an integer order). A function instead of a
               tuple gets which operands move, as booleans, and returns the tuple: `x^2` and `x^y` differ.
    stable     the same rules in a form that keeps its digits and says what flows at a kink, evaluated instead of the
               readable ones; None where the readable rule is already good
    sympy      sympy(S, *symbols) with S the module sympy, written without a look at `partials`
    form       how it is written, over the names of the operands: "x + y"; a call when it is empty
    level      how tightly that form holds together
    called     the names by which a user may call it; none for what is only ever written with a sign
    domain     condition for the operation to have a value
    latex      template in braces over the names of the operands; {operands} stands for all of a variadic row; a call
               of the row's name when it is empty. Brackets around an operand are the reader's work, by `level`
    kink       expressions over the operands and `out` that are 0 where the operation has no derivative, but one from
               each side (or a jump); a function of the arity for a variadic row
    remarks    what is worth telling; a function of which operands move when that matters
    jumps      the value jumps at some of its kinks
    stairs     of a row that jumps again and again: how many jumps lie below the operands, as text over them
    locally_constant  a partial of 0 away from a kink is exact (the other branch was taken): nothing behind it matters
    conditions positions of operands that are conditions; gives_condition: the result is one
    least, most  how many operands a variadic row takes
    settings   positions of operands that are settings (an axis, a shape): whole numbers written in the program

    A row works on arrays element by element, with nothing added. One that does not says `arrays`, and how changes
    travel through it:

    pulls      for each operand what comes back to it, as text over the operands, `out` and `g`, the adjoint of the
               result; a function gets the shapes of the operands
    linear_in  positions of operands in which the operation is linear: a tangent goes through it as the operand does;
               when it is `joint`, the others bring nothing to that
    pushes     for each operand what its tangent `t` brings to the result, as text over the operands, `out` and `t`,
               where it is not linear; None where the result is one number (its pull tells all there is)
    reduces    the operation makes one number of many, along its setting `axis` if it has one: its `partials` stand
               at each element, with `out` as it was before the axis went
    moves      numbers only go elsewhere, or some of them nowhere: of the adjoint 1 the pull makes 0 at those from
               which no way leads to the result, and nothing comes back to them, whatever stands behind them
    adds       it adds numbers up, which may cancel: on operands without their signs it tells how much is added
    solves     it takes apart the square matrix that is its first operand, whose condition number tells the digits lost
    samples    operands at which the tests try the row; edges: operands at the edges (0, large, tiny)
    made_of    the same function out of simpler operations, as text over the operands, for a language without its word
    flops      cost of one evaluation, in floating-point operations, roughly; on arrays that of one element
    work       the same where it is not so for each element of the result (a product of matrices, a whole exponent)
    """

    name: str
    parameters: tuple[str, ...]
    value: Callable[..., Any]
    partials: Texts | Callable[[Moving], Texts]
    sympy: Callable[..., Any] | None
    says: str
    stable: Texts | Callable[[Moving], Texts] | None = None
    form: str = ""
    level: int = ATOM
    called: tuple[str, ...] = ()
    latex: str = ""
    domain: str = ""
    kink: tuple[str, ...] | Callable[[int], tuple[str, ...]] = ()
    jumps: bool = False
    stairs: str = ""
    locally_constant: bool = False
    conditions: frozenset[int] = frozenset()
    gives_condition: bool = False
    remarks: tuple[Remark, ...] | Callable[[Moving], tuple[Remark, ...]] = ()
    samples: tuple[Operands, ...] = ()
    edges: tuple[Operands, ...] = ()
    flops: int = 1
    work: Work | None = None
    code: int = -1
    least: int = 1
    most: int = MOST_OPERANDS
    settings: frozenset[int] = frozenset()
    arrays: bool = False
    pulls: Texts | Callable[[Shapes], Texts] | None = None
    pushes: Texts | Callable[[Shapes], Texts] | None = None
    linear_in: frozenset[int] = frozenset()
    joint: bool = False
    reduces: bool = False
    moves: bool = False
    adds: bool = False
    solves: bool = False
    made_of: str = ""

    @property
    def variadic(self) -> bool:
        """Whether the last operand may come any number of times (`max(a, b, c)`)."""
        return bool(self.parameters) and self.parameters[-1].startswith("*")

    def names(self, arity: int) -> tuple[str, ...]:
        """The names of the operands in the row's texts.

        >>> by_name("tanh").names(1), by_name("max").names(3)
        (('x',), ('x1', 'x2', 'x3'))
        """
        if not self.variadic:
            return self.parameters
        stem = self.parameters[-1][1:]
        fixed = self.parameters[:-1]
        return fixed + tuple(f"{stem}{i}" for i in range(1, arity - len(fixed) + 1))

    def takes(self, arity: int) -> bool:
        """Whether so many operands fit."""
        fewest = max(self.least, len(self.parameters))
        return arity >= fewest if self.variadic else arity == len(self.parameters)

    def is_setting(self, position: int) -> bool:
        """Whether an operand is a setting; the last operand of a variadic row stands for all from there on."""
        return self._among(position, self.settings)

    def is_linear_in(self, position: int) -> bool:
        """Whether the operation is linear in an operand, the others held."""
        return self._among(position, self.linear_in)

    @property
    def chooses(self) -> bool:
        """Whether a condition tells which of its operands is the result."""
        return bool(self.conditions) and not self.gives_condition

    @property
    def stops(self) -> bool:
        """Whether there is an operand through which no derivative passes."""
        return bool(self.settings or self.conditions or (not callable(self.partials) and None in self.partials))

    def stops_at(self, position: int) -> bool:
        """Whether no derivative passes through an operand: a condition, a setting, an integer order."""
        if self.settings and self.is_setting(position):
            return True
        if callable(self.partials):
            return position in self.conditions
        return position < len(self.partials) and self.partials[position] is None

    def _among(self, position: int, positions: frozenset[int]) -> bool:
        return (min(position, len(self.parameters) - 1) if self.variadic else position) in positions

    def pulled(self, shapes: Shapes) -> Texts:
        """What comes back to each operand of these shapes, for a row that has `pulls`."""
        return self.pulls(shapes) if callable(self.pulls) else self.pulls or ()

    def pushed(self, shapes: Shapes) -> Texts:
        """What a tangent of each operand brings to the result, for a row that has `pushes`."""
        return self.pushes(shapes) if callable(self.pushes) else self.pushes or ()

    def cost(self, operands: Sequence[Any], out: Any) -> int:
        """The floating-point operations of one evaluation, of numbers or of arrays.

        >>> by_name("add").cost((2.0, 3.0), 5.0), by_name("max").cost((1.0, 2.0, 3.0), 3.0)
        (1, 2)
        """
        if self.work is not None:
            return self.work.count(operands, out)
        times = len(operands) - 1 if self.variadic else 1
        return times * self.flops * math.prod(getattr(out, "shape", ()))

    def rules(self, moving: Moving) -> Texts:
        """The rule for each operand as a reader sees it, when the operands marked in `moving` move."""
        return self.partials(moving) if callable(self.partials) else self.partials

    def evaluated_rules(self, moving: Moving) -> Texts:
        """The rules that are evaluated: the stable ones where the row has them."""
        readable = self.rules(moving)
        if self.stable is None:
            return readable
        stable = self.stable(moving) if callable(self.stable) else self.stable
        return tuple(rule if better is None else better for rule, better in zip(readable, stable, strict=True))

    def kinks(self, arity: int) -> tuple[str, ...]:
        """The expressions that are 0 at a kink, for so many operands.

        >>> by_name("abs").kinks(1), by_name("max").kinks(2)
        (('x',), ('x1 - x2',))
        """
        return self.kink(arity) if callable(self.kink) else self.kink

    def remarks_for(self, moving: Moving) -> tuple[Remark, ...]:
        """What is worth telling when the operands marked in `moving` move."""
        return self.remarks(moving) if callable(self.remarks) else self.remarks


_rows: list[Row] = []
_by_name: dict[str, Row] = {}
_by_call: dict[str, list[Row]] = {}
_loaded = False


def op(
    name: str,
    parameters: str,
    *,
    value: Callable[..., Any],
    partials: Texts | Callable[[Moving], Texts] = (),
    sympy: Callable[..., Any] | None = None,
    says: str,
    stable: Texts | Callable[[Moving], Texts] | None = None,
    form: str = "",
    level: int = ATOM,
    called: str | None = None,
    latex: str = "",
    domain: str = "",
    kink: str | tuple[str, ...] | Callable[[int], tuple[str, ...]] = (),
    jumps: bool = False,
    stairs: str = "",
    locally_constant: bool = False,
    conditions: Iterable[int] = (),
    gives_condition: bool = False,
    remarks: tuple[Remark, ...] | Callable[[Moving], tuple[Remark, ...]] = (),
    samples: tuple[Operands, ...] = (),
    edges: tuple[Operands, ...] = (),
    flops: int = 1,
    work: Work | None = None,
    least: int = 1,
    most: int = MOST_OPERANDS,
    settings: Iterable[int] = (),
    arrays: bool = False,
    pulls: Texts | Callable[[Shapes], Texts] | None = None,
    pushes: Texts | Callable[[Shapes], Texts] | None = None,
    linear_in: Iterable[int] = (),
    joint: bool = False,
    reduces: bool = False,
    moves: bool = False,
    adds: bool = False,
    solves: bool = False,
    made_of: str = "",
) -> Row:
    """Put one row in the table. `called` lists the names of the call, the row's own name unless it has a `form`."""
    calls = called.split() if called is not None else ([] if form else [name])
    row = Row(
        name=name,
        parameters=tuple(parameters.split()),
        value=value,
        partials=partials,
        sympy=sympy,
        says=says,
        stable=stable,
        form=form,
        level=level,
        called=tuple(calls),
        latex=latex,
        domain=domain,
        kink=(kink,) if isinstance(kink, str) else kink,
        jumps=jumps,
        stairs=stairs,
        locally_constant=locally_constant,
        conditions=frozenset(conditions),
        gives_condition=gives_condition,
        remarks=remarks,
        samples=samples,
        edges=edges,
        flops=flops,
        work=work,
        code=len(_rows),
        least=least,
        most=most,
        settings=frozenset(settings),
        arrays=arrays,
        pulls=pulls,
        pushes=pushes,
        linear_in=frozenset(linear_in),
        joint=joint,
        reduces=reduces,
        moves=moves,
        adds=adds,
        solves=solves,
        made_of=made_of,
    )
    if name in _by_name:
        raise ValueError(f"two rows are called {name}")
    _rows.append(row)
    _by_name[name] = row
    for call in calls:
        _by_call.setdefault(call, []).append(row)
    return row


def _load() -> None:
    """Import the files of rows, once, in a fixed order so that the codes of operations are stable."""
    global _loaded
    if _loaded:
        return
    _loaded = True
    from backprop.ops import arithmetic, arrays, choices, exponentials, special, trigonometry

    # imported for the rows they put in the table
    del arithmetic, arrays, choices, exponentials, special, trigonometry


def rows() -> list[Row]:
    """Every row of the table, in order; a row's code is its place."""
    _load()
    return _rows


def elementwise() -> list[Row]:
    """The rows that work on single numbers, and on arrays element by element."""
    return [row for row in rows() if not row.arrays]


def by_name(name: str) -> Row:
    """The row of that name; KeyError when there is none."""
    _load()
    return _by_name[name]


def called(name: str) -> list[Row]:
    """The rows that a call of `name` may mean (`log` takes one operand or two); empty when there is none."""
    _load()
    return _by_call.get(name, [])


def callable_names() -> Iterator[str]:
    """Every name that can be called."""
    _load()
    return iter(_by_call)

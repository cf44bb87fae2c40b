"""Kinds: what a value can be. A kind is one object with the few things that engines and rows ask for.

The engines know no kind by name. To add a kind that `--kind` finds, add a file here, `kinds/NAME.py`, with

- `SPELLING`, how it is asked for: "exact", or "digits:N" when it takes an argument;
- `SAYS`, what it is, in a few words for a list;
- `EXTRA` (if it needs one), the extra to install when a module that it imports is missing;
- `of(argument, limit)`, the kind: `argument` is the text behind the colon ("" when there is none), `limit` how far
  `--limit` moves the kind's own bound (None when it is not moved). It raises `KindArgument` for an argument of no use.

Such a file imports what is heavy inside `of`, so that a list of kinds costs nothing.

What a kind tells of itself beside what engines ask:

- `name`, as a trace has it ("digits:30"), and `figures`, the significant digits in tables unless `--figures` says so;
- `record(value)`, what a Trace holds: a float, or text for what JSON has no number for ("2/7", "0.333..."), or a ball
  as {"mid": "...", "rad": "..."};
- `answer(value)`, what a Python program gets from `backprop.grad`;
- `read(record)`, the value back from what a Trace holds;
- `checked`, the digits to which its numbers are held against witnesses (0 when they are not), `told(value)` and
  `agreement(value, truth)`, which those witnesses ask.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from backprop.figures import DEFAULT_FIGURES
from backprop.mistakes import Apart, ExtraMissing, OptionValue, UnknownKind
from backprop.ops import Moving, Row, Texts


@dataclass(frozen=True, slots=True)
class Hole:
    """What stands where there is no value: it remembers where it was born, and swallows whatever meets it.

    `node` is the node at which it was born and `code` its sort: "domain" (no real value), "infinite-slope",
    "indeterminate" (0·inf, inf - inf), "no-slope" (none on the side that was asked for), "overflow" (beyond what the
    kind can carry); "unproven" (there may be a value or none, as far as a ball can tell); "inexact" and "too-large" are
    refusals of the kind (see `Refused`), about which `detail` may say more. `position` is the operand whose partial has
    no value, -1 when it is the node's own value that is missing.
    """

    node: int
    code: str
    position: int = -1
    detail: str = ""

    def _swallow(self, _other: Any = None) -> Hole:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _swallow
    __neg__ = __abs__ = _swallow


def is_unproven(value: Any) -> bool:
    """Whether it is a hole where a ball cannot tell if there is a value."""
    return isinstance(value, Hole) and value.code == "unproven"


# the sorts of holes that are refusals
REFUSALS = ("inexact", "too-large")


class Refused(ArithmeticError):
    """A result that exists but that the kind will not stand for.

    `code` is the sort of the hole in its place: "inexact" where no exact result is known, "too-large" for one beyond
    the bound that `--limit` moves; `detail` says how large.
    """

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code)
        self.code, self.detail = code, detail


class Misfit(Exception):
    """Operands whose shapes do not fit together, or whose result would not fit into memory.

    `says` has {0}, {1}, ... for the operands, whose names only the graph knows.
    """

    def __init__(self, says: str, repair: str = "", code: str = "shapes") -> None:
        super().__init__(says)
        self.says, self.repair, self.code = says, repair, code


def is_number(value: Any) -> bool:
    """Whether something is a finite number (not a hole, not absent, not inf or NaN)."""
    if value is None or isinstance(value, Hole):
        return False
    finite = getattr(value, "finite", None)  # a ball knows it; inf - inf is no ball
    return bool(value - value == 0) if finite is None else bool(finite)


# The number taken where mathematics leaves a choice, unless another is asked for: the smallest subgradient.
MINIMUM_NORM = "minimum-norm"


class Convention(Hashable, Protocol):
    """Whose rules are taken: texts over the operands of a row and `out`, in the place of the table's own."""

    @property
    def zeros(self) -> Mapping[str, str]:
        """What a 0 does on the edges of a row, by its name: a partial of 0 "masks" any adjoint, or "skips" what lies
        behind; an adjoint of 0 stays 0 ("quiet"); or nothing at all goes further back ("stops")."""

    def rules(self, row: Row, moving: Moving) -> Texts:
        """The rules that are evaluated for a row when the operands marked in `moving` move."""


class Kind:
    """A kind of value: what engines and rows ask of it."""

    name: str = ""
    figures: int = DEFAULT_FIGURES
    # beyond what a number of this kind cannot be, in words
    largest: str = "the largest double, 1.8e308"
    # The decimal digits its numbers carry; 0 where no number lies beside another (formulas, balls).
    digits: int = 0
    # whether its numbers are rounded; False where every result is exact
    rounds: bool = True
    # the digits to which witnesses check its numbers; 0 when they do not
    checked: int = 0
    # whether infinities and NaN are values like any other, as on a plain tape: nothing is ever undefined
    propagates: bool = False
    # whether both branches of a `where` are worked out and nothing is kept from meeting a 0, as in the frameworks
    eager: bool = False
    # whose rules are taken where those of the table have a choice; the table's own when it is None
    convention: Convention | None = None
    # whether a number may be given as an interval, 0.2..0.4
    intervals: bool = False
    # whether the answers still change with the most digits that were tried
    unsteady: bool = False
    # whether its values may be arrays
    arrays: bool = False

    def record(self, value: Any) -> Any:
        """What a Trace holds for a value that is no hole: a float, a bool, text or {"mid": text, "rad": text}."""
        if isinstance(value, (bool, float)):
            return value
        return float(value) if isinstance(value, int) else str(value)

    def read(self, record: Any) -> Any:
        """The value that a Trace holds, back from its record."""
        return self.number(record) if isinstance(record, str) else record

    def nearest(self, value: Any) -> Any:
        """The number of this kind nearest to one of many digits (an mpf)."""
        raise TypeError(f"kind {self.name} has no nearest numbers")

    def answer(self, value: Any) -> Any:
        """The value as a Python program gets it."""
        return value

    def trusts(self, slope: Any) -> bool:
        """Whether a slope that was measured beside the point, and made a number by `nearest`, may be an answer."""
        return True

    def told(self, value: Any) -> str:
        """The very number (of a ball its middle) as text for a witness: a double's `hex()`, "p/q", or "m@e" for m·2^e.

        p, q and m are hexadecimal: there is no limit to their length, and reading them takes no time.
        """
        raise TypeError(f"kind {self.name} has no witnesses")

    def agreement(self, value: Any, truth: Any) -> float:
        """How many digits of a value agree with the truth, an mpf of `checked` digits and more; at most `checked`."""
        raise TypeError(f"kind {self.name} has no witnesses")

    def number(self, text: str) -> Any:
        """The value of a literal ("0.1", "-1e-3", "1/3") or of a constant ("pi", "tau", "e", "-inf"), in plain text.

        OverflowError when the number is beyond the kind's range.
        """
        raise TypeError(f"kind {self.name} has no numbers")

    def divide(self, x: Any, y: Any) -> Any:
        """x/y; ZeroDivisionError where that has no value."""
        return x / y

    def apply(self, row: Row, operands: list[Any]) -> Any:
        """The value of an operation; ValueError or ZeroDivisionError where it has none, `Refused` as it says."""
        return row.value(self, *operands)

    def slope(self, rule: Any, operands: list[Any], out: Any, position: int = 0) -> Any:
        """A partial by its rule (a `rules.Formula`), a `Hole` where it has none; `position` is that of its operand."""
        return rule.evaluate(self, operands, out)

    def has_zeros(self, slope: Any) -> bool:
        """Whether a slope is 0, of an array whether one of them is."""
        return self.is_zero(slope)

    def skips(self, slope: Any, distances: Sequence[Any]) -> bool:
        """Whether a slope that is 0 is that of a branch not taken, behind which nothing matters.

        `distances` are 0 at a kink, where no branch is the one that is taken. The partials of an array hold for
        themselves which of them are.
        """
        return not any(not isinstance(one, Hole) and self.is_zero(one) for one in distances)

    def elements(self, value: Any) -> Iterable[Any]:
        """The numbers in a value: one, or those of an array, row by row."""
        return (value,)

    def shape(self, value: Any) -> tuple[int, ...]:
        """The shape of a value: () of one number."""
        return ()

    def spread(self, value: Any, shape: tuple[int, ...]) -> Any:
        """The value repeated to a shape that it fits."""
        return value

    def shapes(self, row: Row, operands: list[Any]) -> Any:
        """The shapes of operands, as the rules of a row of arrays ask for them."""
        return ((),) * len(operands)

    def finer(self, point: Any) -> Kind | None:
        """The kind to work a point out again with, because its answers are not good enough yet; None when they are."""
        return None

    def scale(self, adjoint: Any, partial: Any) -> Any:
        """adjoint · partial: what one edge brings. Raises ArithmeticError for 0·inf, which is never guessed."""
        product = adjoint * partial
        if product != product:
            raise ArithmeticError("0·inf")
        return product + 0  # -0 is written 0

    def pull(self, adjoint: Any, partial: Any) -> Any:
        """What an edge brings back in reverse mode: of one number its adjoint · partial."""
        return self.scale(adjoint, partial)

    def push(self, tangent: Any, partial: Any) -> Any:
        """What an edge brings on in forward mode: of one number its tangent · partial."""
        return self.scale(tangent, partial)

    def add(self, left: Any, right: Any) -> Any:
        """Where edges meet, contributions add. Raises ArithmeticError for inf - inf."""
        total = left + right
        if total != total:
            raise ArithmeticError("inf - inf")
        return total + 0

    def seeded(self, seed: Any) -> Any:
        """The adjoint or the tangent with which an engine starts."""
        return seed

    def settled(self, found: list[Any]) -> list[Any]:
        """Adjoints, contributions or tangents as an engine hands them on, when it has come to its end."""
        return found

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


def plain(kind: Kind, value: Any) -> Any:
    """A value as a Trace holds it; None where there is none (a hole, and NaN where that is no number)."""
    if value is None or isinstance(value, Hole):
        return None
    if isinstance(value, (float, bool)):
        return value if value == value else math.nan if kind.propagates else None  # one NaN for all
    return kind.record(value)


def value_at(node: int, row: Row, kind: Kind, operands: list[Any]) -> Any:
    """The value of one operation, or the hole that stands in its place. Raises `Misfit` where shapes do not fit."""
    try:
        value = kind.apply(row, operands)
        if kind.trouble(value, operands) == "indeterminate":
            return Hole(node, "indeterminate")
        return value
    except (ValueError, ZeroDivisionError):
        return Hole(node, "domain")
    except OverflowError:
        return Hole(node, "overflow")
    except Refused as refused:
        return Hole(node, refused.code, detail=refused.detail)
    except (TypeError, AttributeError):
        # an operand was a hole: asked for only now, so that ordinary numbers never pay for the question
        for operand in operands:
            if isinstance(operand, Hole):
                return operand
        raise


def names() -> list[tuple[str, str]]:
    """How each kind that can be asked for is spelt, and what it is.

    >>> [spelling for spelling, _ in names()][:2]
    ['certified', 'digits:N']
    """
    from importlib import import_module
    from pkgutil import iter_modules

    found = (f"{__name__}.{module.name}" for module in iter_modules(__path__))
    return sorted((module.SPELLING, module.SAYS) for module in map(import_module, filter(_is_spelt, found)))


def _is_spelt(module: str) -> bool:
    """Whether a module of this folder is a kind to be asked for; read and not run, for those of arrays import NumPy."""
    from importlib.abc import InspectLoader
    from importlib.util import find_spec

    spec = find_spec(module)
    loader = None if spec is None else spec.loader
    code = loader.get_code(module) if isinstance(loader, InspectLoader) else None
    return code is not None and "SPELLING" in code.co_names


def by_name(text: str | Kind, limit: int | None = None) -> Kind:
    """The kind of that name: "real", "exact", "digits:30", "certified"; a kind is itself.

    `limit` moves the bound of kinds that have one (the bits of a fraction, the digits of digits:N). Raises
    `UnknownKind`, `KindArgument`, `ExtraMissing` and `OptionValue` for a limit that is none.

    >>> by_name("real").name
    'real'
    """
    if isinstance(text, Kind):
        return text
    if not isinstance(text, str):
        raise UnknownKind(repr(text), names())
    if limit is not None and not (isinstance(limit, int) and limit > 0):
        raise OptionValue("limit", limit, "A whole number from 1 on, like: --limit 1000000")
    if text == "real":
        if limit is not None:
            raise Apart(
                ["--limit", "--kind real"], "Doubles have no bound to move; kinds exact, digits:N and certified have."
            )
        from backprop.kinds.real import REAL

        return REAL
    from importlib import import_module
    from importlib.util import find_spec

    word, _, argument = text.strip().partition(":")
    known = word.isidentifier() and word.isascii() and find_spec(f"{__name__}.{word}") is not None
    module = import_module(f"{__name__}.{word}") if known else None
    if module is None or not hasattr(module, "SPELLING"):
        raise UnknownKind(text, names())
    try:
        kind: Kind = module.of(argument, limit)
    except ImportError:
        if not getattr(module, "EXTRA", ""):
            raise
        raise ExtraMissing(text, module.EXTRA) from None
    return kind

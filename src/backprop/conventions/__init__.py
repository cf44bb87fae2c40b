"""Conventions: which number is taken where mathematics leaves a choice, and what the frameworks take there.

Five of them are about the true slopes of the whole at a kink: "minimum-norm" (the smallest subgradient, the usual
one), "mean" (of the slopes from left and right), "left", "right" and "nan". The others are what a framework gives: a
plain tape in double precision with the framework's own rules, one file here for each. A rule is text in the language
of the programs over the operands of a row and `out`, like those of the table of operations, and has its source beside
it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module

from backprop.kinds import MINIMUM_NORM, Kind
from backprop.kinds.ieee import IEEE, Ieee
from backprop.mistakes import Apart, OptionValue
from backprop.ops import Moving, Row, Texts

SLOPES = (MINIMUM_NORM, "mean", "left", "right", "nan")
FRAMEWORKS = ("torch", "jax", "tensorflow", "autograd", "casadi")
NAMES = (*SLOPES, *FRAMEWORKS)
UNDEFINED = ("explain", "propagate")

# What a 0 does on the edges of a row: a partial of 0 "masks" any adjoint, also an infinite one; it "skips" what lies
# behind; an adjoint of 0 stays 0 whatever the partial is ("quiet"); or nothing at all goes further back ("stops").
MASKS, SKIPS, QUIET, STOPS = "masks", "skips", "quiet", "stops"


def named(text: str) -> frozenset[str]:
    """The rows named in a text."""
    return frozenset(text.split())


# What no framework offers as a function of its own.
RARE = named("sec csc cot asec acsc acot sech csch coth asech acsch acoth spherical_j1 log_base")


@dataclass(frozen=True, slots=True)
class Choice:
    """The rules of a framework for the row `row` where `when` holds (everywhere when it is empty), and their source.

    `partials` has one text for each operand, None where the framework does as the table; or it is a function of which
    operands move, like the partials of a row.
    """

    row: str
    partials: Texts | Callable[[Moving], Texts]
    source: str
    when: str = ""

    def rules(self, moving: Moving) -> Texts:
        """The texts for these operands."""
        return self.partials(moving) if callable(self.partials) else self.partials


@dataclass(frozen=True, slots=True, eq=False)
class Framework:
    """What one framework gives where others give something else, as measured on one release.

    name, title  how it is asked for, and what it is called
    version      the release on which the facts were measured
    choices      its rules where they are not those of the table; where several fit, the last one counts
    zeros        what a 0 does on the edges of a row: MASKS, SKIPS, QUIET or STOPS
    written      how a row is called there, where that says more than the name: "jnp.maximum(x, y)"
    missing      rows that it does not offer, which have to be put together from others
    raises       operands of a row whose derivative raises an exception
    floats       rows that raise ZeroDivisionError on a Python float where an array has an infinity
    remarks      what else there is to know, by row: "it raises ZeroDivisionError on a Python float"
    simplifies   what it makes of formulas before it differentiates, so that NaN and infinities of the rules may go
    source       where the rules are written down
    """

    name: str
    title: str
    version: str
    source: str
    choices: tuple[Choice, ...]
    zeros: dict[str, str] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    raises: dict[str, tuple[int, ...]] = field(default_factory=dict)
    floats: frozenset[str] = frozenset()
    remarks: dict[str, str] = field(default_factory=dict)
    simplifies: str = ""

    def rules(self, row: Row, moving: Moving) -> Texts:
        """The rules that are evaluated for a row: those of the table, with the framework's own put in."""
        texts = list(row.evaluated_rules(moving))
        for choice in self.of(row.name):
            for place, own in enumerate(choice.rules(moving)):
                if own is not None and texts[place] is not None:
                    texts[place] = f"where({choice.when}, {own}, {texts[place]})" if choice.when else own
        return tuple(texts)

    def of(self, row: str) -> list[Choice]:
        """The choices for a row."""
        return [choice for choice in self.choices if choice.row == row]


class Tape(Ieee):
    """Double precision with the rules of a framework: both branches of a `where` are worked out, as there."""

    eager = True

    def __init__(self, framework: Framework) -> None:
        self.convention = framework


@lru_cache(maxsize=len(FRAMEWORKS))
def framework(name: str) -> Framework:
    """The framework of that name, one of `FRAMEWORKS`.

    >>> framework("torch").title
    'PyTorch'
    """
    found: Framework = import_module(f"{__name__}.{name}").FRAMEWORK
    return found


@lru_cache(maxsize=len(FRAMEWORKS))
def tape(name: str) -> Tape:
    """The kind of number that does as a framework does."""
    return Tape(framework(name))


def numbers(kind: Kind, undefined: str = "explain", convention: str = MINIMUM_NORM) -> Kind:
    """The kind of number in which a program is worked out under a convention.

    Raises `OptionValue` for names that are none and `Apart` for what does not go together.

    >>> from backprop.kinds.real import REAL
    >>> numbers(REAL) is REAL, numbers(REAL, "propagate").log(0.0), numbers(REAL, convention="jax").eager
    (True, -inf, True)
    """
    for option, asked, known in (("undefined", undefined, UNDEFINED), ("convention", convention, NAMES)):
        if asked not in known:
            raise OptionValue(option, asked, f"It is one of {', '.join(known)}.")
    if undefined == "explain" and convention not in FRAMEWORKS:
        if convention != MINIMUM_NORM and not kind.digits:
            told = f"There are no slopes beside the point in kind {kind.name}: leave one of them out."
            raise Apart([f"--convention {convention}", f"--kind {kind.name}"], told)
        return kind
    if kind.name != "real":
        asked = "--undefined propagate" if undefined != "explain" else f"--convention {convention}"
        raise Apart([asked, f"--kind {kind.name}"], "A plain tape works in double precision: leave --kind out.")
    if convention in FRAMEWORKS:
        return tape(convention)
    if convention != MINIMUM_NORM:
        told = f"{convention} is about the true slopes, a plain tape knows only its rules: leave one of them out."
        raise Apart(["--undefined propagate", f"--convention {convention}"], told)
    return IEEE

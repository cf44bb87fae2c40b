"""The commands: one module each, which declares its options and answers one question.

A command is found by the name of its module; to add one, add a module. `asked.Asked` is what it is handed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from backprop.bindings import Option

if TYPE_CHECKING:
    from backprop.asked import Asked

# In this order help lists them; others follow by name.
FIRST = ("trace", "graph", "diff", "grad", "hessian", "paths", "check", "step", "test", "render", "ops", "vars", "plot",
         "cost", "conventions", "schema")  # fmt: skip


class Command(NamedTuple):
    """One command. `takes` names what stands on the line besides options; `binds` says whether it knows variables."""

    name: str
    says: str
    takes: str
    options: tuple[Option, ...]
    examples: tuple[str, ...]
    binds: bool
    run: Callable[[Asked], int]

    @property
    def short(self) -> str:
        return self.says.partition("\n")[0]


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    """The names of all commands, in the order in which help lists them."""
    from pkgutil import iter_modules  # a line that asks one command need not look at the others

    found = sorted(module.name for module in iter_modules(__path__))
    return (*FIRST, *(name for name in found if name not in FIRST))


@cache
def by_name(name: str) -> Command:
    """The command of that name. Raises KeyError for one that there is none of."""
    if name not in FIRST and name not in names():
        raise KeyError(name)
    found: Command = import_module(f"{__name__}.{name}").answer
    return found


def every() -> list[Command]:
    """All commands."""
    return [by_name(name) for name in names()]


def command(
    takes: str, *options: Option, examples: tuple[str, ...] = (), binds: bool = True
) -> Callable[[Callable[[Asked], int]], Command]:
    """Declare a command: the function's name is its name, the function's docstring what it says about itself."""

    def declare(run: Callable[[Asked], int]) -> Command:
        says = "\n".join(line.strip() for line in (run.__doc__ or "").strip().splitlines())
        return Command(run.__module__.rpartition(".")[2], says, takes, options, examples, binds, run)

    return declare


def one_of(*names: str) -> Callable[[], list[str]]:
    """What an option may be, when it is known beforehand."""
    return lambda: list(names)


def format_names() -> list[str]:
    """The formats that a trace can be shown in."""
    from backprop.render import formats

    return [found.name for found in formats()]


def convention_names() -> list[str]:
    """Whose choice can be taken at a kink."""
    from backprop.conventions import NAMES

    return list(NAMES)


def path_formats() -> list[str]:
    """The formats that paths can be shown in."""
    from backprop.render.paths import FORMATS

    return list(FORMATS)


def cost_formats() -> list[str]:
    """The formats that a cost can be shown in."""
    from backprop.render.cost import FORMATS

    return list(FORMATS)


def formula_formats() -> list[str]:
    """The formats that derivatives can be shown in."""
    from backprop.render.diff import FORMATS

    return list(FORMATS)


def language_names() -> list[str]:
    """The languages that code can be written in."""
    from backprop.languages import modules

    return list(modules())


FILE = Option("file", "read the program from a file", "FILE")
AT = Option("at", 'read values from a JSON file such as {"x": 2}; the command line wins', "FILE")
OUT = Option("output", "write to a file, whole or not at all", "FILE", short="-o")
FIGURES = Option("figures", "significant digits in tables (6)", "N")
ENGINE = Option(
    "engine",
    "what works out a large program in doubles: Python, or machine code of the extra fast (auto)",
    "ENGINE",
    one_of("auto", "plain", "fast"),
)
OPEN = Option(
    "open", "open arrays into single numbers, each a node of its own; z,a: these nodes alone", "[NAMES]", many=True
)
FULL = Option("full", "show every row of long tables and every element of large arrays")
STEP = Option("step", "one step of the working after another, on the terminal; ? tells the keys")
BRIEF = Option("brief", "in JSON too, tell large arrays by shape, norm, least and greatest element")
KIND = Option("kind", "the kind of number: real (double precision), exact, digits:N, certified (real)", "KIND")
LIMIT = Option("limit", "the bound of a kind: bits of an exact fraction, N of digits:N", "N")
UNDEFINED = Option(
    "undefined",
    "what has no value: explain, or propagate NaN and infinities as a plain tape does (explain)",
    "HOW",
    one_of("explain", "propagate"),
)
CONVENTION = Option(
    "convention",
    "whose choice is taken at a kink: minimum-norm, mean, left, right, nan, or that of a framework: torch, jax, "
    "tensorflow, autograd, casadi (minimum-norm)",
    "NAME",
    convention_names,
)
MODE = Option(
    "mode",
    "reverse (adjoints, output first) or forward (tangents of one input)",
    "MODE",
    one_of("reverse", "forward"),
)
SYMBOLIC = Option("symbolic", "formulas in place of numbers; no values needed")
WRT = Option("wrt", "the inputs or nodes whose derivatives are asked for: x,y", "NAMES", many=True)
FORMAT = Option("format", "how the trace is shown; -o FILE chooses by the ending", "FORMAT", format_names)
DIRECTION = Option("direction", "where the arrows of a drawing lead (up)", "WAY", one_of("up", "down", "right"))
PATH = Option("path", "in a drawing, the K-th path that backprop paths lists stands out", "K")
AROUND = Option("around", "of a drawing, the part around one node: what it is made from and used for", "NODE")
HOPS = Option("hops", "how many steps --around goes either way (2)", "N")
BOTH = Option("both", "the forward and the reverse pass, drawn side by side")
VIEW = (DIRECTION, PATH, AROUND, HOPS, BOTH)
PLAIN = Option("format", "how the answer is shown", "FORMAT", one_of("table", "json"))
QUESTION = (FILE, AT)
DIRECTIONS = (
    Option("jacobian", "every derivative of every element of the output: a matrix for each input"),
    Option("jvp", "the slope along a direction: x=1,y=0, W=[[1, 0]], @v.npy, or [1, 0] as --wrt goes", "DIRECTION"),
    Option("vjp", "what is pulled back from the output: the gradient times a number, [1, 0] of a vector", "NUMBER"),
    Option("hvp", "the Hessian times a direction: how the gradient moves along it", "DIRECTION"),
    Option("hessian", "every second derivative; backprop hessian checks them too"),
    Option("order", "the Taylor series up to t^N along --jvp, or in the one input", "N"),
    Option("sparsity", "where the Jacobian (or with --hessian the Hessian) is not 0, as dots in place of numbers"),
)

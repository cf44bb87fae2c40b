"""Languages: value and gradient of a program as straight-line code for other tools.

A module of this folder is one language: the words it has for operations, by the names of their rows, and how a function
is put together. To add a language, add a module; the command `emit`, its help and the tests find it. An operation that
it has no word for is made of simpler ones (`straight`). What languages share is in the folder `common`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import import_module
from math import isfinite
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from backprop import ops
from backprop.graph import Graph
from backprop.guards import Range, double
from backprop.kinds.real import REAL
from backprop.mistakes import Mistake, NoWord
from backprop.ops import ATOM, COMPARISON, PRODUCT, SUM, UNARY, Row
from backprop.straight import Wordless, straight_line
from backprop.writing import Written

if TYPE_CHECKING:
    from backprop.syntax import Syntax

# From here on a double that is whole is written with an exponent.
LARGEST_PLAIN = 10**15


@dataclass(frozen=True, slots=True)
class Word:
    """How a language writes an operation, over the names of its row's parameters (x and y of `max`).

    `level` is how tightly that holds together, `inside` how tightly an operand must (as for `level`, where it is None).
    `needs` has to stand before the function: an import, or a definition of some lines. `special` is told the operands,
    each as a number or None, and gives the word for these, or None for this one. `sure` is the word where the operands
    are in the domain of the row, whatever the inputs are.
    """

    form: str
    level: int = ATOM
    inside: int | None = None
    needs: str = ""
    special: Callable[..., Word | None] | None = None
    sure: Word | None = None


# What nearly every language writes alike.
ARITHMETIC = {
    "add": Word("x + y", SUM),
    "sub": Word("x - y", SUM),
    "mul": Word("x*y", PRODUCT),
    "div": Word("x/y", PRODUCT),
    "neg": Word("-x", UNARY),
    "lt": Word("x < y", COMPARISON),
    "le": Word("x <= y", COMPARISON),
    "gt": Word("x > y", COMPARISON),
    "ge": Word("x >= y", COMPARISON),
    "eq": Word("x == y", COMPARISON),
    "ne": Word("x != y", COMPARISON),
}


def calls(prefix: str, names: str, needs: str = "", **others: str) -> dict[str, Word]:
    """Words that are calls: `names` are rows that are called the same, `others` rows that are called otherwise.

    >>> calls("np.", "exp", asin="arcsin")["asin"].form
    'np.arcsin(x)'
    """
    called = {name: name for name in names.split()} | others
    return {name: Word(f"{prefix}{word}({', '.join(operands(name))})", needs=needs) for name, word in called.items()}


@cache
def operands(name: str) -> tuple[str, ...]:
    """The names of the operands in the words for a row: one that takes any number of them is written for two."""
    row = ops.by_name(name)
    return ("x", "y") if row.variadic else row.parameters


def python_number(text: str) -> Written:
    """A literal or a constant as a number in Python: "1/3" is 1/3, "2.0" is 2, pi has all its digits.

    >>> python_number("1/3")[0], python_number("2.50")[0], python_number("-1e30")[0], python_number("pi")[0]
    ('1/3', '2.5', '-1e+30', '3.141592653589793')
    """
    above, slash, below = text.partition("/")
    if slash:
        under, level = python_number(below)
        return f"{python_number(above)[0]}/{under if level == ATOM else f'({under})'}", PRODUCT
    value = REAL.number(text)
    if value == int(value) and abs(value) < LARGEST_PLAIN:
        return str(int(value)), UNARY if value < 0 else ATOM
    return repr(value), UNARY if value < 0 else ATOM


def float_number(text: str) -> Written:
    """The same with a decimal point in it, where a whole number would be an integer.

    >>> float_number("1/3")[0], float_number("2")[0]
    ('1.0/3.0', '2.0')
    """
    above, slash, below = text.partition("/")
    if slash:
        under, level = float_number(below)
        return f"{float_number(above)[0]}/{under if level == ATOM else f'({under})'}", PRODUCT
    value = REAL.number(text)
    return repr(value), UNARY if value < 0 else ATOM


@dataclass(frozen=True, slots=True)
class Language:
    """One language. `write` gives the lines of a whole file with one function (or query).

    number     a literal of a program, and how tightly it holds together; `constants` are the words for pi, tau, e
               and inf, where it has any, and for nan
    operand    a literal that is an operand of a call or of a choice, where that is not written like any other;
               `operand_form` is what it stands in, and a constant too, where a call takes no bare number
    reserved   names that it takes itself; `letters` says whether names may have letters beyond ASCII, `caseless`
               whether X and x are one name; `columns` that the inputs are columns of a table, where
               what has no value is a null and a condition with one too; `functions` that the code always has a name
    refer      how a name stands in an expression: quoted in SQL
    whole_slopes  a slope that nothing else needs is put where it is returned, whatever its length
    pieces     a longer function comes in pieces, in which a name is written by `refer_in_pieces`; 0 for never
    finite     how one asks whether `value` is a finite number, where there are answers that are none
    raises     whether an operation may raise for operands within such bounds, in a language where some do
    runs_on    the Python modules that have to be there to run the code
    """

    name: str
    says: str
    suffix: str
    words: Mapping[str, Word]
    write: Callable[[Code], Iterator[str]]
    number: Callable[[str], Written] = python_number
    operand: Callable[[str], Written] = float_number
    operand_form: str = ""
    constants: Mapping[str, str] = field(default_factory=dict)
    reserved: Collection[str] = ()
    letters: bool = False
    caseless: bool = False
    columns: bool = False
    functions: bool = True
    refer: Callable[[str], str] = str
    whole_slopes: bool = False
    pieces: int = 0
    refer_in_pieces: Callable[[str], str] = str
    finite: str = ""
    raises: Callable[[Row, list[Range]], bool] | None = None
    runs_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Input:
    """An input: its name in the program, its name in the code, and its default as the text of a number."""

    name: str
    code: str
    default: str | None


@dataclass(slots=True)
class Code:
    """A straight line in the words of a language, ready to be put together.

    `statements` are names with what stands for them, in order; `levels` tells for each how many of the others have to
    be known one after the other before it, and `conditions` are those that are true or false. `value` and `slopes` (by
    the names of the program) are what comes back; `fixed` are the slopes that are one number wherever the inputs are,
    and None in it is the value; `literal` those that are finite numbers as they stand. `hiding` are the slopes that may
    be numbers where the value is none: they are written for where it is `defined`, a name. `names` are names for the
    slopes. `used` has the rows that have been written, `needs` what they want to stand before the function. `source` is
    the program as it was typed, `given` the inputs that are numbers in the code. The code comes `in_pieces` when it is
    long and the language wants that.
    """

    language: Language
    function: str
    source: str
    inputs: list[Input] = field(default_factory=list)
    given: dict[str, str] = field(default_factory=dict)
    statements: list[tuple[str, str]] = field(default_factory=list)
    levels: list[int] = field(default_factory=list)
    conditions: set[str] = field(default_factory=set)
    value: str = ""
    slopes: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    fixed: set[str | None] = field(default_factory=set)
    literal: set[str | None] = field(default_factory=set)
    hiding: set[str] = field(default_factory=set)
    defined: str = ""
    used: set[str] = field(default_factory=set)
    needs: list[str] = field(default_factory=list)
    in_pieces: bool = False
    unique: Callable[[str], str] = str

    @property
    def parameters(self) -> list[Input]:
        """The inputs as a function takes them: those with a default come last."""
        return sorted(self.inputs, key=lambda one: one.default is not None)

    def number(self, text: str) -> str:
        """A literal by itself: a default, a value that is one number."""
        return number(self.language, text)[0]


def number(language: Language, text: str, called: bool = False) -> Written:
    """A literal as a language writes it: its own word for a constant, digits for all else; `called` as an operand."""
    value = double(text)
    sign, name = ("-", text[1:]) if text.startswith("-") else ("", text)
    if not isfinite(value):
        name = "nan" if value != value else "inf"
    word = language.constants.get(name)
    if word is not None:
        written = f"{sign}{word}", UNARY if sign else ATOM
    else:
        written = (language.operand if called else language.number)(text)
    return (language.operand_form.format(number=written[0]), ATOM) if called and language.operand_form else written


def names() -> list[tuple[str, str]]:
    """Every language and what it says of itself.

    >>> ("numpy", "NumPy: numbers or arrays of them") in names()
    True
    """
    return [(language.name, language.says) for language in map(by_name, modules())]


@lru_cache(maxsize=1)
def modules() -> tuple[str, ...]:
    """The names of all languages."""
    return tuple(sorted(module.name for module in iter_modules(__path__) if not module.ispkg))


def by_name(name: str) -> Language:
    """The language of that name. Raises KeyError for one that is not here."""
    if name not in modules():
        raise KeyError(name)
    language: Language = import_module(f"{__name__}.{name}").LANGUAGE
    return language


def code(
    syntax: Syntax,
    graph: Graph,
    wrt: Sequence[int],
    language: Language,
    function: str = "value_and_gradient",
    defaults: Mapping[str, str] | None = None,
) -> Code:
    """Value and gradient of a program in the words of a language.

    `defaults` are the texts of numbers by the names of inputs, those of the program when it is None. Named constants
    among the nodes `wrt` become inputs with their number as default.

    Raises `NoWord` for an operation that the language cannot write, `NotElementwise` for arrays.
    """
    from backprop.languages.common.safe import Safe
    from backprop.languages.common.writer import Writer

    try:
        line = straight_line(
            graph, wrt, language.words, kind_of=lambda words: Safe(words, language.columns, language.raises is not None)
        )
    except Wordless as wordless:
        raise _no_word(wordless, graph, language).within(syntax.source) from None
    except Mistake as mistake:
        raise mistake.within(syntax.source) from None
    known = {graph.name_of(node): graph.literals[node] for node in wrt if node in graph.literals}
    return Writer(line, language, function, syntax.source).run(known | dict(defaults or graph.defaults))


def _no_word(wordless: Wordless, graph: Graph, language: Language) -> NoWord:
    row = wordless.row
    others = [name for name in modules() if row.name in by_name(name).words]
    own = any(graph.row(node) is row for node in range(len(graph)))
    return NoWord(row.called[0] if row.called else row.name, language.name, others, in_slope=not own)

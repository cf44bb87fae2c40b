"""Languages: value and gradient of a program as straight-line code for other tools.

A module of this folder is one language: the words it has for operations, by the names of their rows, and how a function
is put together. To add a language, add a module; the command `emit`, its help and the tests find it. An operation that
it has no word for is made of simpler ones (`straight`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from backprop import ops
from backprop.graph import CONST, INPUT, Graph
from backprop.kinds.real import REAL
from backprop.mistakes import Mistake, NoWord
from backprop.ops import ATOM, COMPARISON, PRODUCT, SUM, UNARY
from backprop.straight import StraightLine, Wordless, straight_line
from backprop.writing import Written, needs_brackets, pieces

if TYPE_CHECKING:
    from backprop.syntax import Syntax

# What is used once stands where it is used, while the line is no longer than this.
LONGEST_EXPRESSION = 70


@dataclass(frozen=True, slots=True)
class Word:
    """How a language writes an operation, over the names of its row's parameters (x and y of `max`), and how tightly
    that holds together."""

    form: str
    level: int = ATOM


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


def calls(prefix: str, names: str, **others: str) -> dict[str, Word]:
    """Words that are calls: `names` are rows that are called the same, `others` rows that are called otherwise.

    >>> calls("np.", "exp", asin="arcsin")["asin"].form
    'np.arcsin(x)'
    """
    called = {name: name for name in names.split()} | others
    return {name: Word(f"{prefix}{word}({', '.join(_operands(name))})") for name, word in called.items()}


def _operands(name: str) -> tuple[str, ...]:
    row = ops.by_name(name)
    return ("x", "y") if row.variadic else row.parameters


def python_number(text: str) -> Written:
    """A literal or a constant as a double in Python or C: "1/3" is 1.0/3.0, pi is all its digits."""
    above, slash, below = text.partition("/")
    if slash:
        return f"{python_number(above)[0]}/{python_number(below)[0]}", PRODUCT
    value = REAL.number(text)
    return repr(value), UNARY if value < 0 else ATOM


@dataclass(frozen=True, slots=True)
class Language:
    """One language. `write` gives the lines of a function; `number` writes a literal, `reserved` are names it takes.

    `letters` says whether names may have letters beyond ASCII. `extra` is what has to be installed to run the code.
    """

    name: str
    says: str
    suffix: str
    words: Mapping[str, Word]
    write: Callable[[Code], Iterator[str]]
    number: Callable[[str], Written] = python_number
    reserved: Collection[str] = ()
    letters: bool = False
    runs_on: str = ""


@dataclass(frozen=True, slots=True)
class Input:
    """An input: its name in the program, its name in the code, and its default as the text of a number."""

    name: str
    code: str
    default: str | None


@dataclass(slots=True)
class Code:
    """A straight line in the words of a language, ready to be put together.

    `statements` are names with what stands for them, in order; `value` and `slopes` (by the names of the program) are
    names or short expressions. `source` is the program as it was typed.
    """

    language: Language
    function: str
    source: str
    inputs: list[Input]
    statements: list[tuple[str, str]]
    value: str
    slopes: dict[str, str]
    _taken: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def title(self) -> str:
        """What the code is, in one line."""
        program = " ".join(self.source.split()).replace("\\", "\\\\").replace('"""', "'''")
        what = "Value and gradient" if self.slopes else "Value"
        return f"{what} of {program if len(program) <= 90 else program[:87] + '...'}"


def names() -> list[tuple[str, str]]:
    """Every language and what it says of itself.

    >>> ("numpy", "NumPy: numbers or arrays of them") in names()
    True
    """
    return [(language.name, language.says) for language in map(by_name, sorted(_modules()))]


@lru_cache(maxsize=1)
def _modules() -> tuple[str, ...]:
    return tuple(module.name for module in iter_modules(__path__))


def by_name(name: str) -> Language:
    """The language of that name. Raises KeyError for one that is not here."""
    if name not in _modules():
        raise KeyError(name)
    language: Language = import_module(f"{__name__}.{name}").LANGUAGE
    return language


def code(
    syntax: Syntax, graph: Graph, wrt: Sequence[int], language: Language, function: str = "value_and_gradient"
) -> Code:
    """Value and gradient of a program in the words of a language.

    Raises `NoWord` for an operation that the language cannot write, `NotElementwise` for arrays.
    """
    try:
        line = straight_line(graph, wrt, language.words)
    except Wordless as wordless:
        raise _no_word(wordless, language).within(syntax.source) from None
    except Mistake as mistake:
        raise mistake.within(syntax.source) from None
    return _Writer(line, language, function).run(syntax.source, graph.defaults)


def _no_word(wordless: Wordless, language: Language) -> NoWord:
    row = wordless.row
    others = [name for name in _modules() if row.name in by_name(name).words]
    return NoWord(row.called[0] if row.called else row.name, language.name, others)


def identifier(name: str, letters: bool) -> str:
    """A name of the program as other languages take it: `x₁` is x1, `c~2` is c_2, α is alpha where ASCII is asked.

    >>> identifier("x₁", False), identifier("α~2", False), identifier("α", True)
    ('x1', 'alpha_2', 'α')
    """
    plain = unicodedata.normalize("NFKC", name).replace("~", "_")
    if letters and plain.isidentifier():
        return plain
    return "".join(letter if letter.isascii() else _spelled(letter) for letter in plain)


def _spelled(letter: str) -> str:
    said = unicodedata.name(letter, "")
    greek = re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER (\w+)", said)
    if greek is None:
        return f"u{ord(letter):x}"
    return greek[2].lower() if greek[1] == "SMALL" else greek[2].capitalize()


class _Writer:
    """A straight line being put into words: what is used once stands where it is used."""

    def __init__(self, line: StraightLine, language: Language, function: str) -> None:
        self.line, self.graph, self.language = line, line.graph, language
        self.function = function
        self.taken: set[str] = {function, *language.reserved}
        self.texts: list[Written] = [("", ATOM)] * len(line.graph)
        self.statements: list[tuple[str, str]] = []

    def run(self, source: str, defaults: Mapping[str, str]) -> Code:
        graph, line = self.graph, self.line
        inputs: list[Input] = []
        for name, node in graph.inputs.items():
            own = self.unique(name)
            self.texts[node] = own, ATOM
            inputs.append(Input(name, own, defaults.get(name)))
        slopes = {node: name for name, node in reversed(line.gradient.items())}
        wanted, uses = self.wanted()
        for node, code in enumerate(graph.codes):
            if code == INPUT or not wanted[node]:
                continue
            if code == CONST:
                self.texts[node] = self.language.number(graph.literals[node])
                continue
            text, level = self.written(node)
            name = line.names.get(node) or (f"d_{slopes[node]}" if node in slopes else "")
            if not name and uses[node] == 1 and len(text) <= LONGEST_EXPRESSION:
                self.texts[node] = text, level
                continue
            own = self.unique(name or f"t{len(self.statements) + 1}")
            self.statements.append((own, text))
            self.texts[node] = own, ATOM
        gradient = {name: self.texts[node][0] for name, node in line.gradient.items()}
        value = self.texts[line.output][0]
        return Code(self.language, self.function, source, inputs, self.statements, value, gradient)

    def wanted(self) -> tuple[bytearray, list[int]]:
        """The nodes that lead to an answer, and how often each is used."""
        graph = self.graph
        wanted, uses = bytearray(len(graph)), [0] * len(graph)
        for root in self.line.roots:
            wanted[root] = 1
            uses[root] += 2  # an answer has a name
        for node in range(len(graph) - 1, -1, -1):
            if wanted[node]:
                for operand in graph.operands(node):
                    wanted[operand] = 1
                    uses[operand] += 1
        return wanted, uses

    def written(self, node: int) -> Written:
        row = self.graph.row(node)
        assert row is not None
        word = self.language.words[row.name]
        operands = [self.texts[operand] for operand in self.graph.operands(node)]
        parts: list[str] = []
        for piece in pieces(word.form, _operands(row.name)):
            if isinstance(piece, str):
                parts.append(piece)
            else:
                text, level = operands[piece]
                parts.append(f"({text})" if needs_brackets(word.level, piece, text, level) else text)
        return "".join(parts), word.level

    def unique(self, name: str) -> str:
        stem = identifier(name, self.language.letters)
        found, count = stem, 1
        while found in self.taken:
            count += 1
            found = f"{stem}_{count}"
        self.taken.add(found)
        return found

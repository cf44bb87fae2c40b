"""The writer: a straight line put into the words of a language, statement by statement."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from functools import lru_cache
from math import isfinite

from backprop import ops
from backprop.graph import Graph
from backprop.guards import double
from backprop.languages import Code, Input, Language, Word, number, operands
from backprop.languages.common.identifiers import Names
from backprop.languages.common.lazy import lazily
from backprop.languages.common.value_ranges import of_graph, within
from backprop.ops import ATOM, CONDITIONAL, Row
from backprop.straight import StraightLine
from backprop.writing import Written, needs_brackets, pieces

# What is used once stands where it is used, while the line is no longer than this.
LONGEST_EXPRESSION = 70


def as_written_by_hand(graph: Graph) -> None:
    """Put the graph as one would write it: 2*x for x*2, and y/x for y*(1/x) where nothing else needs 1/x."""
    mul, div = ops.by_name("mul").code, ops.by_name("div").code
    uses = [0] * len(graph)
    for operand in graph.args:
        uses[operand] += 1
    for node, code in enumerate(graph.codes):
        if code != mul:
            continue
        x, y = graph.operands(node)
        if y in graph.literals:
            x, y = y, x
        for one, other in ((x, y), (y, x)):
            if graph.codes[other] == div and uses[other] == 1:
                above, below = graph.operands(other)
                if graph.literals.get(above) == "1":
                    graph.codes[node], x, y = div, one, below
                    break
        graph.args[graph.offsets[node] : graph.offsets[node + 1]] = array(graph.args.typecode, (x, y))


class Writer:
    """A straight line being put into words.

    What is used once stands where it is used; all else is a statement, under its name in the program when it has one.
    """

    def __init__(self, line: StraightLine, language: Language, function: str, source: str) -> None:
        as_written_by_hand(line.graph)
        self.stay: set[int] = set()
        if language.raises is not None:
            line, self.stay = lazily(line, language.raises)
        self.line, self.graph, self.language = line, line.graph, language
        self.bounds = of_graph(line.graph)
        self.varies = bytearray(len(line.graph))
        self.texts: list[Written] = [("", ATOM)] * len(line.graph)
        self.level = [0] * len(line.graph)
        self.count = 0
        names = Names(
            {*language.reserved, *([] if language.columns else [function])}, language.letters, language.caseless
        )
        self.code = Code(language, function, source, unique=names.unique)
        self.refer = language.refer

    def run(self, defaults: Mapping[str, str]) -> Code:
        """The code. `defaults` are texts of numbers by the names of inputs."""
        graph, line, code = self.graph, self.line, self.code
        uses, size = self.uses()
        code.in_pieces = bool(self.language.pieces) and size > self.language.pieces
        if code.in_pieces:
            self.refer = self.language.refer_in_pieces
        for name, node in graph.inputs.items():
            own = code.unique(name)
            self.texts[node] = self.refer(own), ATOM
            self.varies[node] = 1
            code.inputs.append(Input(name, own, defaults.get(name)))
        # the names of the program come before those that are made up here
        slopes = {node: name for name, node in reversed(line.gradient.items())}
        named = {node: code.unique(name) for node, name in line.names.items() if uses[node]}
        if line.output not in line.names and graph.row(line.output) is not None and not self.language.columns:
            named[line.output] = code.unique("value")
        code.names = {name: code.unique(f"d_{name}") for name in line.gradient}
        for node in range(len(graph)):
            row = graph.row(node)
            if row is None or not uses[node]:
                continue
            self.varies[node] = any(self.varies[source] for source in graph.operands(node))
            text, level = self.written(node, row)
            own = named.get(node, "")
            if not own and node in slopes and node not in self.stay:
                if self.language.whole_slopes and uses[node] == 1:
                    self.texts[node] = text, level
                    continue
                own = "" if self.language.whole_slopes else code.names[slopes[node]]
            if node in self.stay or (not own and uses[node] == 1 and len(text) <= LONGEST_EXPRESSION):
                self.texts[node] = text, level
                continue
            own = own or self.made_up()
            code.levels.append(self.level[node])
            self.level[node] += 1
            code.statements.append((own, text))
            if row.gives_condition:
                code.conditions.add(own)
            self.texts[node] = self.refer(own), ATOM
        code.hiding = set(line.hiding)
        code.defined = code.unique("defined") if line.hiding else ""
        code.value = self.answer(line.output, None)
        code.slopes = {name: self.answer(node, name) for name, node in line.gradient.items()}
        return code

    def made_up(self) -> str:
        """A name for what has none."""
        self.count += 1
        return self.code.unique(f"t{self.count}")

    def answer(self, node: int, name: str | None) -> str:
        """The text of a root; it is noted down when it is the same for all inputs."""
        if not self.varies[node]:
            self.code.fixed.add(name)
        text = self.graph.literals.get(node)
        if text is not None and isfinite(double(text)):
            self.code.literal.add(name)
        if text is not None and (self.language.columns or name in self.code.hiding):
            return number(self.language, text, called=True)[0]
        return self.operand(node, None)[0]

    def uses(self) -> tuple[list[int], int]:
        """How often the text of each node is written, 0 for what no answer needs; and how many operations there are."""
        graph, uses, count = self.graph, [0] * len(self.graph), 0
        for root in self.line.roots:
            uses[root] += 1 if self.language.whole_slopes else 2  # an answer has a name
        for node in range(len(graph) - 1, -1, -1):
            row = graph.row(node)
            if uses[node] and row is not None:
                count += 1
                word = self.word(row, node)
                for position, operand in enumerate(graph.operands(node)):
                    uses[operand] += _times(word.form, operands(row.name))[position]
        return uses, count

    def word(self, row: Row, node: int) -> Word:
        """The word for the operation of a node."""
        word, sources = self.language.words[row.name], self.graph.operands(node)
        if word.special is not None:
            texts = [self.graph.literals.get(source) for source in sources]
            word = word.special(*(None if text is None else double(text) for text in texts)) or word
        if word.sure is not None and within(row, [self.bounds[source] for source in sources]):
            return word.sure
        return word

    def asked_for_finite(self, node: int, row: Row) -> int | None:
        """x, of x - x == 0, which is true for finite numbers alone."""
        if row.name != "eq" or not self.language.finite:
            return None
        difference, zero = self.graph.operands(node)
        inner = self.graph.row(difference)
        if inner is None or inner.name != "sub" or self.graph.literals.get(zero) != "0":
            return None
        x, y = self.graph.operands(difference)
        return x if x == y else None

    def operand(self, node: int, word: Word | None) -> Written:
        """How a node is written where it is used, inside the word of an operation."""
        text = self.graph.literals.get(node)
        if text is None:
            return self.texts[node]
        called = word is not None and word.level in (ATOM, CONDITIONAL)
        return number(self.language, text, called)

    def written(self, node: int, row: Row) -> Written:
        """The text of an operation."""
        if (one := self.asked_for_finite(node, row)) is not None:
            self.level[node] = self.level[one]
            return self.language.finite.format(value=self.texts[one][0]), ATOM
        word = self.word(row, node)
        self.code.used.add(row.name)
        if word.needs and word.needs not in self.code.needs:
            self.code.needs.append(word.needs)
        sources = self.graph.operands(node)
        self.level[node] = max((self.level[source] for source in sources), default=0)
        parts: list[str] = []
        form = pieces(word.form, operands(row.name))
        for place, piece in enumerate(form):
            if isinstance(piece, str):
                parts.append(piece)
                continue
            text, level = self.operand(sources[piece], word)
            inside = word.level if word.inside is None else word.inside
            if _between_brackets(form, place):
                inside = ATOM
            parts.append(f"({text})" if needs_brackets(inside, piece, text, level) else text)
        return "".join(parts), word.level


@lru_cache(maxsize=1024)
def _times(form: str, names: tuple[str, ...]) -> tuple[int, ...]:
    """How often each operand stands in a form."""
    found = pieces(form, names)
    return tuple(found.count(position) for position in range(len(names)))


def _between_brackets(form: tuple[str | int, ...], place: int) -> bool:
    """Whether an operand is all that stands between the brackets or commas of a form."""
    before, after = (form[at] if 0 <= at < len(form) else "" for at in (place - 1, place + 1))
    return str(before).endswith(("(", ", ")) and str(after).startswith((")", ", "))

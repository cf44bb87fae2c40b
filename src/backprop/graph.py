"""The computational graph: inputs, constants and the results of operations, in topological order.

Columns hold it, so that ten nodes read well and a million fit in memory: node i is the operation `codes[i]` on the
nodes `args[offsets[i]:offsets[i + 1]]`. `Node` and `Edge` are views made on demand. An edge is one place in `args`,
so `x*x` has two edges from x.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple

from backprop import mistakes, ops
from backprop.arrays_text import MOST_AXES
from backprop.mistakes import Span
from backprop.ops import ATOM, Row
from backprop.source_texts import SourceTexts
from backprop.syntax import WHOLE, Statement, Syntax, literal, readings, slice_text
from backprop.writing import Written, level_of_number, written

INPUT, CONST = -1, -2

# Names that mean a constant while nothing else is bound to them; the text is what every kind of number reads.
CONSTANTS = {"pi": "pi", "π": "pi", "tau": "tau", "τ": "tau", "e": "e", "inf": "inf", "∞": "inf"}

# Functions are inlined where they are called; beyond this a program is refused rather than left to fill the memory.
LARGEST_EXPANSION = 2_000_000
# Functions whose free names have changed since their definition; a reader who is told of more reads nothing.
MOST_BOUND_AGAIN = 20
# The text of a constant array stands for it where it is not longer than this.
LONGEST_TEXT = 40

_ARRAYS = {"vector", "index", "slice", "keyword", "juxtapose"}  # that are more than one row on their operands
_PRODUCTS = ("mul", "div", "mod", "juxtapose")  # what a factor may follow without a sign

_BRACKET_FOLLOWS = re.compile(r"[^\S\r\n]*\(")
_ELEMENT = re.compile(r"[^\[\], ]+")  # of the text of an array
_NAME_FOLLOWS = re.compile(r"[ \t]+[^\W\d_]")


class Edge(NamedTuple):
    """From the node `source` into operand `position` of the node `target`; `place` is its place in `args`."""

    source: int
    target: int
    position: int
    place: int


@dataclass(slots=True)
class Graph:
    """A program as a graph. `names` are the names its author chose; `ids` gives every node one.

    `bound_again` are functions, each with a free name that was bound again between definition and call.
    """

    source: str = ""
    codes: array[int] = field(default_factory=lambda: array("h"))
    offsets: array[int] = field(default_factory=lambda: array("i", [0]))
    args: array[int] = field(default_factory=lambda: array("i"))
    starts: array[int] = field(default_factory=lambda: array("i"))
    ends: array[int] = field(default_factory=lambda: array("i"))
    names: MutableMapping[int, str] = field(default_factory=dict)
    literals: MutableMapping[int, str] = field(default_factory=dict)
    inputs: dict[str, int] = field(default_factory=dict)
    defaults: dict[str, str] = field(default_factory=dict)
    params: list[str] = field(default_factory=list)
    bound_again: list[tuple[str, str]] = field(default_factory=list)
    output: int = -1
    _ids: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.codes)

    def row(self, node: int) -> Row | None:
        """The operation of a node; None for an input or a constant."""
        code = self.codes[node]
        return ops.rows()[code] if code >= 0 else None

    def op(self, node: int) -> str:
        """The word for what a node is: "input", "const" or the name of its operation."""
        code = self.codes[node]
        if code == INPUT:
            return "input"
        return "const" if code == CONST else ops.rows()[code].name

    def operands(self, node: int) -> Sequence[int]:
        return self.args[self.offsets[node] : self.offsets[node + 1]]

    def span(self, node: int) -> Span:
        return self.starts[node], self.ends[node]

    def edges_to(self, node: int) -> Iterator[Edge]:
        """The edges that end at a node, one for each operand."""
        first = self.offsets[node]
        for index in range(first, self.offsets[node + 1]):
            yield Edge(self.args[index], node, index - first, index)

    @property
    def ids(self) -> list[str]:
        """One id for each node: its own name (`c`, `c~2` when bound again), the text of a constant, else v1, v2, ...

        The output, when it has no name, is `f`, or `out` when `f` is taken. A constant array of many numbers is const1.
        """
        if len(self._ids) != len(self.codes):
            self._ids = _ids(self)
        return self._ids

    def name_of(self, node: int) -> str:
        """What a node is called in a gradient: an input by its name, even when the name is bound again, others by id.

        >>> from backprop.grammar import parse
        >>> graph = build(parse("x = 2*x; x = 3*x; x"))
        >>> [graph.name_of(node) for node in graph.names], graph.ids[-1]
        (['x', 'x~2', 'x~3'], 'x~3')
        """
        return self.names[node] if self.codes[node] == INPUT else self.ids[node]

    def formula(self, node: int) -> str:
        """What is worked out at a node, over the ids of its operands; "" for inputs and constants."""
        row = self.row(node)
        if row is None:
            return ""
        return written(row, [self.written_id(arg) for arg in self.operands(node)])[0]

    def written_id(self, node: int) -> Written:
        """How a node is written inside a formula: by its id, a constant as its number."""
        if self.codes[node] == CONST and node not in self.names and not _is_long(self.literals[node]):
            text = self.literals[node]
            return text, level_of_number(text)
        return self.ids[node], ATOM

    def add(self, code: int, operands: Sequence[int], span: Span) -> int:
        """Put one more node at the end."""
        node = len(self.codes)
        self.codes.append(code)
        self.args.extend(operands)
        self.offsets.append(len(self.args))
        self.starts.append(span[0])
        self.ends.append(span[1])
        return node

    def add_input(self, name: str, span: Span) -> int:
        """Put an input at the end. One with an empty span is read by nothing: its gradient is 0, not missing."""
        node = self.inputs[name] = self.add(INPUT, (), span)
        self.names[node] = name
        return node

    def is_unused(self, name: str) -> bool:
        """Whether a name is no input that the program reads or declares."""
        return name not in self.inputs or not self.ends[self.inputs[name]]

    def default_wrt(self) -> list[int]:
        """The nodes whose derivatives are asked for when nobody says: inputs and params, else the named constants."""
        if self.inputs:
            return list(self.inputs.values())
        return [node for node in self.names if self.codes[node] == CONST]

    def moving(self, wrt: Collection[int]) -> bytearray:
        """Which nodes move when the nodes `wrt` do: 1 for each that a derivative can reach."""
        moves = bytearray(len(self.codes))
        for node in wrt:
            moves[node] = 1
        codes, offsets, args, rows = self.codes, self.offsets, self.args, ops.rows()
        stopping = {code for code in set(codes) if code >= 0 and rows[code].stops}
        for node in range(len(codes)):
            code = codes[node]
            if code < 0:
                continue
            first = offsets[node]
            for index in range(first, offsets[node + 1]):
                if moves[args[index]] and not (code in stopping and rows[code].stops_at(index - first)):
                    moves[node] = 1
                    break
        return moves


def _ids(graph: Graph) -> list[str]:
    taken: dict[str, int] = {}

    def unique(stem: str) -> str:
        count = taken.get(stem, 0) + 1
        taken[stem] = count
        return stem if count == 1 else f"{stem}~{count}"

    ids = [""] * len(graph.codes)
    for node in sorted(graph.names):  # names come first, so that no numbered id can take one
        ids[node] = unique(graph.names[node])
    if graph.output >= 0 and not ids[graph.output]:
        ids[graph.output] = unique("f" if "f" not in taken else "out")
    numbers = {"v": 0, "const": 0}
    for node, code in enumerate(graph.codes):
        if ids[node]:
            continue
        if code == CONST and not _is_long(graph.literals[node]):
            ids[node] = unique(graph.literals[node])
            continue
        stem = "const" if code == CONST else "v"
        numbers[stem] += 1
        while f"{stem}{numbers[stem]}" in taken:
            numbers[stem] += 1
        ids[node] = f"{stem}{numbers[stem]}"
    return ids


def _is_long(text: str) -> bool:
    """Whether the text of a constant is an array's, and too long to stand for it."""
    return len(text) > LONGEST_TEXT and text.startswith("[")


# How many entries a vector has along each of its axes; None where it is not written out.
_Shape = tuple[int | None, ...]


def _refuse_unlike(row: _Shape, first: _Shape, span: Span) -> None:
    """Refuse an entry of a vector that cannot have the shape of the first one."""
    for axis, (length, expected) in enumerate(zip_longest(row, first)):
        if length == expected:
            continue
        if axis == min(len(row), len(first)) and None not in (*row, *first):
            told = ("a number", "a list")
            here, there = ("this", "the first entry") if axis == 0 else ("an entry of this", "one of the first row")
            raise mistakes.MixedArray(here, told[len(row) > axis], there, told[len(first) > axis], span)
        if length is None or expected is None:
            return
        here, there = ("this row", "the first one") if axis == 0 else ("a row in this", "one in the first")
        raise mistakes.RaggedArray(here, length, there, expected, span)


def _may_divide(over: str, under: str) -> bool:
    """Whether two texts make a fraction that is a number: neither is one already, infinite, an array or a lower 0."""
    if any(sign in text for text in (over, under) for sign in ("/", "inf", "[")):
        return False
    return under.lstrip("-") in CONSTANTS or float(under) != 0


@dataclass(slots=True)
class _Function:
    """A function of the user's own: its parameters, the syntax nodes `first` .. `root` that are its body, and how many
    nodes the graph had when it was defined."""

    name: str
    parameters: tuple[str, ...]
    first: int
    root: int
    born: int


class _Frame(NamedTuple):
    """Where to go on after a call that is being inlined: in which function, and what its parameters are bound to."""

    rest: Iterator[int]
    local: dict[str, int]
    inside: _Function | None


def build(
    syntax: Syntax, given: Collection[str] = (), conditions: Collection[str] = (), settings: Collection[str] = ()
) -> Graph:
    """The graph of a program. `given` are the names that have been given values: they are never constants.

    `conditions` are the inputs that are true or false, `settings` those that may stand for an axis or a size; the rules
    of the table have them, programs do not.

    Raises a `Mistake` for names, numbers of operands, conditions, arrays and recursion that make no sense.

    >>> from backprop.grammar import parse
    >>> graph = build(parse("(a + b) * (b + 1)"))
    >>> [graph.formula(node) for node in range(len(graph)) if graph.formula(node)]
    ['a + b', 'b + 1', 'v1*v2']
    """
    try:
        return _Builder(syntax, given, conditions, settings).run()
    except mistakes.Mistake as mistake:
        raise mistake.within(syntax.source) from None


class _Builder:
    def __init__(
        self, syntax: Syntax, given: Collection[str], conditions: Collection[str], settings: Collection[str]
    ) -> None:
        self.syntax = syntax
        self.conditions = conditions
        self.settings = settings
        self.given = frozenset(given)
        source = syntax.source
        self.names, self.literals = SourceTexts(source), SourceTexts(source)
        self.graph = Graph(source=source, names=self.names, literals=self.literals)
        self.is_plain = source.isascii()  # every number is in its plain form
        self.env: dict[str, int] = {}
        self.binary: dict[str, int] = {}  # the codes of the signs met so far that take any two numbers
        self.functions: dict[str, _Function] = {}
        self.declared: set[str] = set()
        self.calls: dict[tuple[str, int], Row] = {}  # what was called so far, with how many operands
        self.truths: set[int] = set()  # the nodes that are true or false
        self.sizes: dict[str, int] = {}
        self.inlined = 0
        self.shapes: dict[int, _Shape] = {}  # of the vectors that are written out
        self.variables: set[str] | None = None  # asked for only when a name stands before a bracket

    def run(self) -> Graph:
        graph = self.graph
        last: int | None = None
        for statement in self.syntax.statements:
            if statement.kind in ("input", "param"):
                self.declare(statement)
            elif statement.kind == "function":
                self.define(statement)
            else:
                last = self.assign(statement)
        if last is None:
            raise mistakes.NothingToCompute(self.syntax.statements[-1].span if self.syntax.statements else None)
        graph.output = last
        return graph

    # -- statements ----------------------------------------------------------------------------------------------

    def declare(self, statement: Statement) -> None:
        assert statement.name is not None
        name = statement.name
        bound = self.env.get(name)
        if bound is not None and self.graph.codes[bound] != INPUT:
            raise mistakes.DeclaredLate(name, statement.kind, statement.name_span)
        if name in self.declared:
            raise mistakes.DeclaredTwice(name, statement.name_span)
        self.declared.add(name)
        node = self.input(name, statement.name_span or statement.span)
        if statement.kind == "param":
            self.graph.params.append(name)
        if statement.root is not None:
            self.graph.defaults[name] = self.number_of(statement)
        self.graph.starts[node], self.graph.ends[node] = statement.name_span or statement.span

    def number_of(self, statement: Statement) -> str:
        """The default of a declaration: one number (`0.5`, `-1`, `1/3`), or an array of such numbers."""
        stack: list[str] = []
        shapes: dict[int, _Shape] = {}  # of the arrays, by their syntax nodes
        syntax = self.syntax
        for node in syntax.walk(statement):
            kind = syntax.kinds[node]
            if kind == "number":
                stack.append(self.number(node))
            elif kind == "name" and self.is_constant(syntax.text(node)):
                stack.append(CONSTANTS[syntax.text(node)])
            elif kind == "neg" and not stack[-1].startswith("["):
                text = stack.pop()
                stack.append(text[1:] if text.startswith("-") else f"-{text}")
            elif kind == "div" and _may_divide(stack[-2], stack[-1]):
                below = stack.pop()
                stack.append(f"{stack.pop()}/{below}")
            elif kind == "vector":
                count = syntax.arity[node]
                places = syntax.operands(node)
                shapes[node] = self.shape([shapes.get(place, ()) for place in places], places)
                stack[-count:] = [f"[{', '.join(stack[-count:])}]"]
            else:
                raise mistakes.DefaultNotANumber(statement.kind, statement.name or "", syntax.span(node))
        return stack.pop()

    def is_constant(self, name: str) -> bool:
        """The name means a constant: neither the program so far nor the values given have bound it."""
        return name in CONSTANTS and name not in self.env and name not in self.given

    def define(self, statement: Statement) -> None:
        assert statement.name is not None
        assert statement.root is not None
        names: dict[str, None] = {}
        for name, span in statement.parameters:
            if name in names:
                raise mistakes.ParameterTwice(name, span)
            names[name] = None
        self.sizes.clear()  # a function defined again may be another size
        self.functions[statement.name] = _Function(
            statement.name, tuple(names), self.syntax.first[statement.root], statement.root, len(self.graph)
        )

    def assign(self, statement: Statement) -> int:
        assert statement.root is not None
        graph = self.graph
        before = len(graph.codes)
        node = self.evaluate(self.syntax.first[statement.root], statement.root)
        if node in self.truths:
            raise mistakes.ConditionAsNumber(self.syntax.span(statement.root), self.syntax.text(statement.root))
        fresh = node >= before and graph.codes[node] != INPUT
        if statement.name is None:
            # a bare name at the end is an output of its own only when it is an input or a constant
            if (not fresh and graph.codes[node] in (INPUT, CONST)) or graph.codes[node] == CONST:
                node = self.add(ops.by_name("copy"), (node,), self.syntax.span(statement.root))
            return node
        if not fresh:
            node = self.add(ops.by_name("copy"), (node,), self.syntax.span(statement.root))
        self.names.place(node, statement.name_begin, statement.name_begin + len(statement.name))
        self.env[statement.name] = node
        return node

    # -- expressions ---------------------------------------------------------------------------------------------

    def evaluate(self, first: int, root: int) -> int:
        """Walk a run of syntax nodes with a stack of graph nodes, inlining calls of the user's functions.

        Names that are known and signs between two numbers are most of a large program: they take no call of their own.
        """
        syntax, graph, truths, binary = self.syntax, self.graph, self.truths, self.binary
        source, kinds, arity, starts, ends = syntax.source, syntax.kinds, syntax.arity, syntax.starts, syntax.ends
        codes, offsets, args = graph.codes, graph.offsets, graph.args
        stack: list[int] = []
        frames: list[_Frame] = []
        known = self.env  # and inside a function its parameters
        inside: _Function | None = None
        rest = iter(range(first, root + 1))
        while True:
            for at in rest:
                kind = kinds[at]
                if kind == "name":
                    name = source[starts[at] : ends[at]]
                    node = known.get(name)
                    stack.append(self.name(name, at, inside) if node is None else node)
                elif kind == "number":
                    stack.append(self.number_node(at))
                elif (code := binary.get(kind)) is not None and not (truths and truths.intersection(stack[-2:])):
                    right = stack.pop()
                    args.append(stack[-1])
                    args.append(right)
                    stack[-1] = len(codes)
                    codes.append(code)
                    offsets.append(len(args))
                    graph.starts.append(starts[at])
                    graph.ends.append(ends[at])
                else:
                    count = arity[at]
                    operands = tuple(stack[len(stack) - count :])
                    del stack[len(stack) - count :]
                    if kind != "call":
                        stack.append(self.sign(kind, operands, at))
                        continue
                    name, span = syntax.callees[at]
                    function = self.functions.get(name)
                    labels = self.labels(at) if syntax.keywords else []
                    if function is None and labels:
                        stack.append(self.labelled(name, operands, labels, at, span))
                    elif function is None:
                        stack.append(self.operation(self.called(name, count, at, span), operands, at))
                    elif labels:
                        _, label, where = labels[0]
                        raise mistakes.KeywordForOwnFunction(name, function.parameters, label, where)
                    else:
                        if not frames:  # the first call counts those inside it
                            self.enter(name, function, count, at)
                        elif len(function.parameters) != count:
                            raise self.wrong_count(name, function, count, at)
                        frames.append(_Frame(rest, known, inside))
                        known, inside = dict(zip(function.parameters, operands, strict=True)), function
                        rest = iter(range(function.first, function.root + 1))
                        break
            else:
                if not frames:
                    return stack[-1]
                rest, known, inside = frames.pop()

    def name(self, name: str, at: int, inside: _Function | None) -> int:
        """The node of a name that is no parameter of the function around it."""
        node = self.env.get(name)
        if node is not None:
            if inside is not None and node >= inside.born:
                self.bound_again(inside, name)
            return node
        span = self.syntax.span(at)
        if self.is_constant(name):
            return self.constant(CONSTANTS[name], span)
        if name not in self.given:
            self.refuse_function(name, at)
        return self.input(name, span)

    def bound_again(self, function: _Function, name: str) -> None:
        """Remember a free name of a function that was bound after the definition, if it was bound before it too."""
        told = self.graph.bound_again
        if (function.name, name) in told or len(told) == MOST_BOUND_AGAIN:
            return
        if any(node < function.born and one == name for node, one in self.graph.names.items()):
            told.append((function.name, name))

    def refuse_function(self, name: str, at: int) -> None:
        """A name with no value that is used like a function: say how a call is written, or which one was meant."""
        if name in self.functions or (rows := ops.called(name)):
            found = self.follower(at) or self.subscripts(at)
            if found is None:
                function = self.functions.get(name)
                raise mistakes.FunctionAlone(
                    name, function.parameters if function else rows[0].parameters, self.syntax.span(at)
                )
            argument, power, span = found
            raise mistakes.FunctionWithoutBrackets(name, argument, power, span)
        source, begin, end = self.syntax.source, *self.syntax.span(at)
        if _BRACKET_FOLLOWS.match(source, end):
            if self.variables is None:
                self.variables = self.variable_names()
            if name not in self.variables and (found := self.follower(at)) is not None:
                raise self.unknown_function(name, found[0], (begin, end))
        elif name != "lambda" and name in mistakes.ForeignStatement.words and _NAME_FOLLOWS.match(source, end):
            before = source[max(0, begin - 100) : begin].rstrip(" \t")
            if begin == 0 or before.endswith(("\n", "\r", ";")) or (not before and begin <= 100):
                raise mistakes.ForeignStatement(name, "", (begin, end))

    def follower(self, at: int) -> tuple[str, str | None, Span] | None:
        """What stands right behind a name without a sign, and the power between them: `sin x`, `2 sin^2(x)`."""
        syntax, node, power = self.syntax, at, None
        while (parent := self.parent(node)) is not None:
            kind = syntax.kinds[parent]
            if kind == "juxtapose" and parent - 1 != node:
                return syntax.text(parent - 1), power, (syntax.starts[at], syntax.ends[parent])
            if kind == "pow" and syntax.first[parent] == at:
                text = syntax.text(parent - 1)
                power = literal(text) if syntax.kinds[parent - 1] == "number" else text
            elif kind not in ("neg", "pow") and not (kind in _PRODUCTS and parent - 1 == node):
                return None
            node = parent
        return None

    def subscripts(self, at: int) -> tuple[str, None, Span] | None:
        """What stands in square brackets right behind a name: `exp[x]`."""
        syntax, parent = self.syntax, self.parent(at)
        if parent is None or syntax.kinds[parent] != "index" or syntax.first[parent] != at:
            return None
        argument = syntax.source[syntax.ends[at] : syntax.ends[parent]].strip()
        return argument[1:-1] if syntax.arity[parent] == 2 else argument, None, syntax.span(parent)

    def parent(self, node: int) -> int | None:
        syntax = self.syntax
        for above in range(node + 1, len(syntax)):
            if syntax.first[above] <= node:
                return above
        return None

    def variable_names(self) -> set[str]:
        """The names that the program also uses where only a variable can stand."""
        syntax = self.syntax
        return {
            syntax.text(node)
            for node, kind in enumerate(syntax.kinds)
            if kind == "name" and not _BRACKET_FOLLOWS.match(syntax.source, syntax.ends[node])
        }

    def unknown_function(self, name: str, argument: str, span: Span) -> mistakes.Mistake:
        later = next((one for one in self.syntax.statements if one.kind == "function" and one.name == name), None)
        if later is not None:
            return mistakes.UsedBeforeDefined(name, self.syntax.source.count("\n", 0, later.span[0]) + 1, span)
        return mistakes.UnknownFunction(name, argument, [*self.functions, *ops.callable_names()], span)

    def number(self, at: int) -> str:
        start, end = self.syntax.span(at)
        if end - start > mistakes.LONGEST_NUMBER:
            raise mistakes.NumberTooLong(end - start, (start, end))
        return literal(self.syntax.text(at))

    def called(self, name: str, count: int, at: int, span: Span) -> Row:
        if (found := self.calls.get((name, count))) is not None:
            return found
        rows = ops.called(name)
        if not rows:
            raise self.unknown_function(name, "", span)
        # max(0, x) is the larger of two numbers: an axis by its place is looked for last
        for row in rows if len(rows) == 1 else sorted(rows, key=lambda row: bool(row.settings)):
            if row.takes(count):
                self.refuse_many(row, name, count, at)
                self.calls[name, count] = row
                return row
        raise mistakes.WrongNumberOfOperands(name, [row.parameters for row in rows], count, self.syntax.span(at))

    def refuse_many(self, row: Row, name: str, count: int, at: int) -> None:
        if row.variadic and count > row.most:
            raise mistakes.TooManyOperands(name, count, row.most, self.syntax.span(at))

    def labels(self, at: int) -> list[tuple[int, str, Span]]:
        """The keywords of a call: which operand each one stands at, its name and where that is written."""
        kinds, keywords = self.syntax.kinds, self.syntax.keywords
        operands = enumerate(self.syntax.operands(at))
        return [(place, *keywords[operand]) for place, operand in operands if kinds[operand] == "keyword"]

    def labelled(
        self, name: str, operands: tuple[int, ...], labels: list[tuple[int, str, Span]], at: int, span: Span
    ) -> int:
        """A call with keywords: the row that has parameters of those names, its operands put in the row's order."""
        rows = ops.called(name)
        if not rows:
            raise self.unknown_function(name, "", span)
        places = self.syntax.operands(at)
        fitting = [row for row in rows if all(label in row.parameters for _, label, _ in labels)]
        if not fitting:
            known = list(dict.fromkeys(one for row in rows for one in row.parameters if not one.startswith("*")))
            _, label, where = next((one for one in labels if one[1] not in known), labels[0])
            if any(row.conditions for row in rows):  # where(a = b, 1, 2)
                equal = self.syntax.source.index("=", where[1])
                raise mistakes.AssignmentInside((equal, equal + 1))
            raise mistakes.UnknownKeyword(name, label, known, where)
        plain, count = len(operands) - len(labels), len(operands)
        if labels[0][0] < plain:
            named = {place for place, _, _ in labels}
            after = places[next(one for one in range(labels[0][0], count) if one not in named)]
            raise mistakes.OperandAfterKeyword(labels[0][1], self.syntax.text(after), self.syntax.span(after))
        by_name: dict[str, int] = {}
        for place, label, where in labels:
            if label in by_name:
                raise mistakes.KeywordTwice(label, where)
            by_name[label] = place
        for row in fitting:
            if not row.takes(count):
                continue
            self.refuse_many(row, name, count, at)
            if not row.variadic:
                for _, label, where in labels:
                    if label in row.parameters[:plain]:
                        raise mistakes.KeywordTwice(label, where)
            unnamed = iter(range(plain))
            order: list[int] = []
            for parameter in row.parameters:
                if parameter in by_name:
                    order.append(by_name[parameter])
                elif parameter.startswith("*"):
                    order += unnamed
                else:
                    order.append(next(unnamed))
            return self.operation(row, tuple(operands[one] for one in order), at, [places[one] for one in order])
        raise mistakes.WrongNumberOfOperands(name, [row.parameters for row in fitting], count, self.syntax.span(at))

    def wrong_count(self, name: str, function: _Function, count: int, at: int) -> mistakes.Mistake:
        return mistakes.WrongNumberOfOperands(name, [function.parameters], count, self.syntax.span(at))

    def enter(self, name: str, function: _Function, count: int, at: int) -> None:
        span = self.syntax.span(at)
        if len(function.parameters) != count:
            raise self.wrong_count(name, function, count, at)
        self.inlined += self.expansion(name, span)
        if self.inlined > LARGEST_EXPANSION:
            raise mistakes.TooLarge(name, self.inlined, LARGEST_EXPANSION, span)

    def expansion(self, name: str, span: Span) -> int:
        """How many syntax nodes a call of a function puts in, counted without doing it: doublings of doublings are
        refused at once. Raises `Recursion` for a function that reaches itself."""
        sizes, callees = self.sizes, self.syntax.callees
        open_calls: dict[str, tuple[int, int]] = {name: (self.functions[name].first, 0)}  # how far it is, its size
        while name not in sizes:
            caller, (node, size) = open_calls.popitem()
            root = self.functions[caller].root
            while node <= root:
                callee = callees[node][0] if node in callees else ""
                if callee in self.functions and callee not in sizes:
                    break
                size = min(size + 1 + sizes.get(callee, 0), mistakes.TooLarge.most)
                node += 1
            if node > root:
                sizes[caller] = size
                continue
            open_calls[caller] = (node, size)
            if callee in open_calls:
                raise mistakes.Recursion([*open_calls, callee], span)
            open_calls[callee] = (self.functions[callee].first, 0)
        return sizes[name]

    def sign(self, kind: str, operands: tuple[int, ...], at: int) -> int:
        graph = self.graph
        if kind in _ARRAYS:
            return self.array(kind, operands, at)
        if kind == "neg" and self.syntax.kinds[at - 1] == "number":  # -2 is one number, not an operation on 2
            node = operands[0]
            start, text = self.syntax.starts[at], f"-{graph.literals[node]}"
            graph.starts[node] = start
            self.literals.put(node, text, start)
            return node
        if kind == "ifelse":
            value, condition, otherwise = operands
            places = self.syntax.operands(at)
            return self.operation(
                ops.by_name("where"), (condition, value, otherwise), at, [places[1], places[0], places[2]]
            )
        row = ops.by_name(kind)
        node = self.operation(row, operands, at)
        if len(operands) == 2 and not (row.conditions or row.gives_condition or row.settings):
            self.binary[kind] = row.code
        return node

    def operation(self, row: Row, operands: tuple[int, ...], at: int, places: Sequence[int] = ()) -> int:
        """One operation; `places` are the syntax nodes of its operands where they do not stand in the row's order."""
        truths = self.truths
        if truths or row.conditions:
            for position, operand in enumerate(operands):
                if (operand in truths) != (position in row.conditions):
                    span = self.syntax.span((places or self.syntax.operands(at))[position])
                    text = self.syntax.source[span[0] : span[1]]
                    if operand in truths:
                        raise mistakes.ConditionAsNumber(span, text)
                    raise mistakes.NumberAsCondition(row.name, span, text)
        if row.settings:
            self.refuse_settings(row, operands, places or self.syntax.operands(at))
        return self.add(row, operands, self.syntax.span(at))

    def refuse_settings(self, row: Row, operands: tuple[int, ...], places: Sequence[int]) -> None:
        """A setting is a whole number written in the program: no derivative has a meaning for it."""
        for position, operand in enumerate(operands):
            if row.is_setting(position) and not self.is_setting(operand):
                place = places[position]
                if self.syntax.kinds[place] == "keyword":
                    place -= 1
                call = (row.called or (row.name,))[0]
                parameter = row.parameters[min(position, len(row.parameters) - 1)].removeprefix("*")
                raise mistakes.NotASetting(call, parameter, self.syntax.text(place), self.syntax.span(place))

    def is_setting(self, node: int) -> bool:
        graph = self.graph
        if graph.codes[node] == CONST:
            return WHOLE.fullmatch(graph.literals[node]) is not None
        return graph.codes[node] == INPUT and graph.names[node] in self.settings

    # -- arrays --------------------------------------------------------------------------------------------------

    def array(self, kind: str, operands: tuple[int, ...], at: int) -> int:
        """The signs of arrays that are not simply a row on their operands."""
        syntax = self.syntax
        if kind == "keyword":  # the call around it tells where its operand belongs
            return operands[0]
        if kind == "slice":
            return self.constant(slice_text(syntax.text(at)), syntax.span(at))
        if kind == "vector":
            return self.vector(operands, at)
        if kind == "index":
            return self.index(operands, at)
        if syntax.kinds[syntax.first[at - 1] - 1] == "transpose":
            left, right = (syntax.text(one) for one in syntax.operands(at))
            raise mistakes.ProductAfterTranspose(left, right, syntax.span(at))
        return self.operation(ops.by_name("mul"), operands, at)

    def index(self, operands: tuple[int, ...], at: int) -> int:
        syntax, graph = self.syntax, self.graph
        base, *subscripts = syntax.operands(at)
        row = ops.by_name("index")
        self.refuse_many(row, "an index", len(operands), at)
        if syntax.kinds[base] == "number":
            begin = syntax.ends[base]
            number, rest = syntax.text(base), syntax.source[begin : syntax.ends[at]].strip()
            raise mistakes.MissingSign("[", f"Write the product with its sign: {number}*{rest}", (begin, begin + 1))
        for node, place in zip(operands[1:], subscripts, strict=True):
            text = graph.literals.get(node, "0")
            if graph.codes[node] == INPUT and syntax.text(place) == "None" and "None" not in self.given:
                text = "None"
            if ":" not in text and not all(map(WHOLE.fullmatch, _ELEMENT.findall(text))):
                raise mistakes.NotASubscript(syntax.text(base), syntax.text(place), syntax.span(place))
        return self.operation(row, operands, at)

    def vector(self, operands: tuple[int, ...], at: int) -> int:
        """`[a, b]`: one constant when all of it is numbers, else an operation that puts its operands side by side."""
        syntax, graph = self.syntax, self.graph
        kinds = syntax.kinds
        places = syntax.operands(at)
        first = len(graph) - len(operands)
        literal = operands[0] == first
        shapes: list[_Shape] = []
        for position, (operand, place) in enumerate(zip(operands, places, strict=True)):
            here = literal and graph.codes[operand] == CONST and operand == first + position
            # a constant that has been given a name, or stands in a call around this one, keeps its node
            literal = here and operand not in graph.names and graph.span(operand) == syntax.span(place)
            if kinds[place] == "vector":
                shapes.append(self.shapes[operand])
            else:
                number = kinds[place] == "number" or (kinds[place] == "neg" and kinds[place - 1] == "number")
                shapes.append(() if number else (None,))
        shape = self.shape(shapes, places)
        if literal:
            text = f"[{', '.join(graph.literals[operand] for operand in operands)}]"
            self.take_back(first)
            node = self.constant(text, syntax.span(at))
        else:
            row = ops.by_name("vector")
            self.refuse_many(row, "a vector", len(operands), at)
            node = self.operation(row, operands, at)
        self.shapes[node] = shape
        return node

    def shape(self, rows: Sequence[_Shape], places: Sequence[int]) -> _Shape:
        """The shape of a vector from those of its entries. Raises `RaggedArray`, `MixedArray` and `ArrayTooLarge`."""
        one = rows[0]
        for row, place in zip(rows, places, strict=True):
            if row != one:
                _refuse_unlike(row, one, self.syntax.span(place))
        if len(one) == MOST_AXES:
            told = f"more than {MOST_AXES} axes"
            raise mistakes.ArrayTooLarge("the array", told, MOST_AXES, self.syntax.span(places[0]))
        return len(rows), *one

    def take_back(self, first: int) -> None:
        """The constants from `first` on are parts of a larger one."""
        graph = self.graph
        for node in range(first, len(graph)):
            del graph.literals[node]
            self.shapes.pop(node, None)
        del graph.codes[first:], graph.starts[first:], graph.ends[first:]
        del graph.offsets[first + 1 :]

    # -- nodes ---------------------------------------------------------------------------------------------------

    def add(self, row: Row, operands: tuple[int, ...], span: Span) -> int:
        node = self.graph.add(row.code, operands, span)
        if row.gives_condition:
            self.truths.add(node)
        return node

    def constant(self, text: str, span: Span) -> int:
        node = self.graph.add(CONST, (), span)
        self.literals[node] = text
        return node

    def number_node(self, at: int) -> int:
        begin, end = span = self.syntax.starts[at], self.syntax.ends[at]
        node = self.graph.add(CONST, (), span)
        if self.is_plain and end - begin <= mistakes.LONGEST_NUMBER:
            self.literals.place(node, begin, end)
        else:
            self.literals.put(node, self.number(at), begin)
        return node

    def input(self, name: str, span: Span) -> int:
        if name not in self.graph.inputs:
            node = self.env[name] = self.graph.add_input(name, span)
            if name in self.conditions:
                self.truths.add(node)
        return self.graph.inputs[name]


def misgivings(syntax: Syntax, graph: Graph, given: Collection[str] = ()) -> Iterator[tuple[str, str]]:
    """What a reader may have meant otherwise, as code and sentence. `given` are the names that have values.

    >>> from backprop.grammar import parse
    >>> tree = parse("1/2x + sin2x")
    >>> [text for _, text in misgivings(tree, build(tree))]
    ['1/2x was read as (1/2)*x', 'sin2x was read as one name, not as sin(2x)']
    """
    for span, reading in readings(syntax):
        yield "read-as", f"{' '.join(syntax.source[span[0] : span[1]].split())} was read as {reading}"
    for function, name in graph.bound_again:
        yield "read-as", f"{name} was set again after {function} was defined: {function} takes the newest {name}"
    declared = {statement.name for statement in syntax.statements if statement.kind in ("input", "param")}
    free = [name for name in graph.inputs if name not in declared]
    for name in free[:1000]:
        if name not in given and (apart := mistakes.taken_apart(name, graph.inputs, ops.callable_names())) is not None:
            yield "one-name", f"{name} was read as one name, not as {apart}"
    differentials = {name for name in free if name[0] in "dδ" and len(name) > 1}
    if len(differentials) > 1:
        for node, kind in enumerate(syntax.kinds):
            if kind == "div":
                over, under = (syntax.text(operand) for operand in syntax.operands(node))
                if over in differentials and under in differentials:
                    yield "read-as", f"{over}/{under} was read as a quotient of two variables, not as a derivative"
                    return

"""The computational graph: inputs, constants and the results of operations, in topological order.

Columns hold it, so that ten nodes read well and a million fit in memory: node i is the operation `codes[i]` on the
nodes `args[offsets[i]:offsets[i + 1]]`. `Node` and `Edge` are views made on demand. An edge is one place in `args`,
so `x*x` has two edges from x.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from backprop import mistakes, ops
from backprop.mistakes import Span
from backprop.ops import ATOM, Row
from backprop.syntax import Statement, Syntax, literal, readings
from backprop.writing import Written, level_of_number, written

INPUT, CONST = -1, -2

# Names that mean a constant while nothing else is bound to them; the text is what every kind of number reads.
CONSTANTS = {"pi": "pi", "π": "pi", "tau": "tau", "τ": "tau", "e": "e", "inf": "inf", "∞": "inf"}

# Functions are inlined where they are called; beyond this a program is refused rather than left to fill the memory.
LARGEST_EXPANSION = 2_000_000
# Functions whose free names have changed since their definition; a reader who is told of more reads nothing.
MOST_BOUND_AGAIN = 20
# The rule for each operand of a max names all the others, so the work for one max is the square of this.
MOST_OPERANDS = 64

# Kinds of syntax node that are written with a sign of their own and are not called like their row.
_SIGNS = {"juxtapose": "mul"}
_ARRAYS = {"vector", "index", "transpose", "matmul"}
_PRODUCTS = ("mul", "div", "mod", "juxtapose")  # what a factor may follow without a sign

_BRACKET_FOLLOWS = re.compile(r"[^\S\r\n]*\(")
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
    offsets: array[int] = field(default_factory=lambda: array("q", [0]))
    args: array[int] = field(default_factory=lambda: array("q"))
    starts: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q"))
    names: dict[int, str] = field(default_factory=dict)
    literals: dict[int, str] = field(default_factory=dict)
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

        The output, when it has no name, is `f`, or `out` when `f` is taken.
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
        if self.codes[node] == CONST and node not in self.names:
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
        blocked = {row.code: _positions_without_rule(row) for row in rows if _positions_without_rule(row)}
        for node in range(len(codes)):
            code = codes[node]
            if code < 0:
                continue
            first = offsets[node]
            for index in range(first, offsets[node + 1]):
                if moves[args[index]] and not (code in blocked and index - first in blocked[code]):
                    moves[node] = 1
                    break
        return moves


def _positions_without_rule(row: Row) -> frozenset[int]:
    """Operand positions through which no derivative passes (conditions, integer orders)."""
    if callable(row.partials):
        return row.conditions
    return frozenset(i for i, rule in enumerate(row.partials) if rule is None)


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
    number = 0
    for node, code in enumerate(graph.codes):
        if ids[node]:
            continue
        if code == CONST:
            ids[node] = unique(graph.literals[node])
            continue
        number += 1
        while f"v{number}" in taken:
            number += 1
        ids[node] = f"v{number}"
    return ids


def _may_divide(over: str, under: str) -> bool:
    """Whether two numbers make a fraction that is a number: neither is one already, nor infinite, nor the lower 0."""
    if "/" in over or "/" in under or "inf" in over or "inf" in under:
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


@dataclass(slots=True)
class _Frame:
    """Where to go on after a call that is being inlined: in which function, and what its parameters are bound to."""

    resume: int
    stop: int
    local: dict[str, int]
    inside: _Function | None


def build(syntax: Syntax, given: Collection[str] = (), conditions: Collection[str] = ()) -> Graph:
    """The graph of a program. `given` are the names that have been given values: they are never constants.

    `conditions` are the inputs that are true or false; the rules of the table have them, programs do not.

    Raises a `Mistake` for names, numbers of operands, conditions and recursion that make no sense.

    >>> from backprop.grammar import parse
    >>> graph = build(parse("(a + b) * (b + 1)"))
    >>> [graph.formula(node) for node in range(len(graph)) if graph.formula(node)]
    ['a + b', 'b + 1', 'v1*v2']
    """
    try:
        return _Builder(syntax, given, conditions).run()
    except mistakes.Mistake as mistake:
        raise mistake.within(syntax.source) from None


class _Builder:
    def __init__(self, syntax: Syntax, given: Collection[str], conditions: Collection[str]) -> None:
        self.syntax = syntax
        self.conditions = conditions
        self.given = frozenset(given)
        self.graph = Graph(source=syntax.source)
        self.env: dict[str, int] = {}
        self.functions: dict[str, _Function] = {}
        self.declared: set[str] = set()
        self.is_condition = bytearray()
        self.sizes: dict[str, int] = {}
        self.inlined = 0
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
        """The default of a declaration, which is one number: `0.5`, `-1`, `1/3`."""
        stack: list[str] = []
        syntax = self.syntax
        for node in syntax.walk(statement):
            kind = syntax.kinds[node]
            if kind == "number":
                stack.append(self.number(node))
            elif kind == "name" and self.is_constant(syntax.text(node)):
                stack.append(CONSTANTS[syntax.text(node)])
            elif kind == "neg":
                text = stack.pop()
                stack.append(text[1:] if text.startswith("-") else f"-{text}")
            elif kind == "div" and _may_divide(stack[-2], stack[-1]):
                below = stack.pop()
                stack.append(f"{stack.pop()}/{below}")
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
        if self.is_condition[node]:
            raise mistakes.ConditionAsNumber(self.syntax.span(statement.root), self.syntax.text(statement.root))
        fresh = node >= before and graph.codes[node] != INPUT and node not in graph.names
        if statement.kind == "expression":
            # a bare name at the end is an output of its own only when it is an input or a constant
            if (not fresh and graph.codes[node] in (INPUT, CONST)) or graph.codes[node] == CONST:
                node = self.add(ops.by_name("copy"), (node,), self.syntax.span(statement.root))
            return node
        assert statement.name is not None
        if not fresh:
            node = self.add(ops.by_name("copy"), (node,), self.syntax.span(statement.root))
        graph.names[node] = statement.name
        self.env[statement.name] = node
        return node

    # -- expressions ---------------------------------------------------------------------------------------------

    def evaluate(self, first: int, root: int) -> int:
        """Walk a run of syntax nodes with a stack of graph nodes, inlining calls of the user's functions."""
        syntax = self.syntax
        kinds, arity, text = syntax.kinds, syntax.arity, syntax.text
        stack: list[int] = []
        frames: list[_Frame] = []
        local: dict[str, int] = {}
        inside: _Function | None = None
        at, stop = first, root + 1
        while True:
            if at == stop:
                if not frames:
                    return stack[-1]
                frame = frames.pop()
                at, stop, local, inside = frame.resume, frame.stop, frame.local, frame.inside
                continue
            kind = kinds[at]
            if kind == "name":
                stack.append(self.name(text(at), at, local, inside))
            elif kind == "number":
                stack.append(self.constant(self.number(at), syntax.span(at)))
            elif kind == "call":
                count = arity[at]
                operands = tuple(stack[len(stack) - count :])
                del stack[len(stack) - count :]
                name, name_span = syntax.callees[at]
                function = self.functions.get(name)
                if function is None:
                    stack.append(self.operation(self.called(name, count, at, name_span), operands, at))
                else:
                    if not frames:  # the first call counts those inside it
                        self.enter(name, function, count, at)
                    elif len(function.parameters) != count:
                        raise self.wrong_count(name, function, count, at)
                    frames.append(_Frame(at + 1, stop, local, inside))
                    local = dict(zip(function.parameters, operands, strict=True))
                    at, stop, inside = function.first, function.root + 1, function
                    continue
            else:
                count = arity[at]
                operands = tuple(stack[len(stack) - count :])
                del stack[len(stack) - count :]
                stack.append(self.sign(kind, operands, at))
            at += 1

    def name(self, name: str, at: int, local: dict[str, int], inside: _Function | None) -> int:
        if name in local:
            return local[name]
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
            found = self.follower(at)
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
        rows = ops.called(name)
        if not rows:
            raise self.unknown_function(name, "", span)
        for row in rows:
            if row.takes(count):
                if row.variadic and count > MOST_OPERANDS:
                    raise mistakes.TooManyOperands(name, count, MOST_OPERANDS, self.syntax.span(at))
                return row
        raise mistakes.WrongNumberOfOperands(name, [row.parameters for row in rows], count, self.syntax.span(at))

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
                size += 1 + sizes.get(callee, 0)
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
            raise mistakes.ArraysNotSupported(kind, self.syntax.span(at))
        if kind == "neg" and self.syntax.kinds[at - 1] == "number":  # -2 is one number, not an operation on 2
            node = operands[0]
            graph.literals[node] = f"-{graph.literals[node]}"
            graph.starts[node] = self.syntax.starts[at]
            return node
        if kind == "ifelse":
            value, condition, otherwise = operands
            return self.operation(ops.by_name("where"), (condition, value, otherwise), at)
        return self.operation(ops.by_name(_SIGNS.get(kind, kind)), operands, at)

    def operation(self, row: Row, operands: tuple[int, ...], at: int) -> int:
        is_condition = self.is_condition
        for position, operand in enumerate(operands):
            if bool(is_condition[operand]) != (position in row.conditions):
                where = self.syntax.operands(at)
                span = self.syntax.span(where[position if self.syntax.kinds[at] != "ifelse" else (1, 0, 2)[position]])
                text = self.syntax.source[span[0] : span[1]]
                if is_condition[operand]:
                    raise mistakes.ConditionAsNumber(span, text)
                raise mistakes.NumberAsCondition(row.name, span, text)
        return self.add(row, operands, self.syntax.span(at))

    # -- nodes ---------------------------------------------------------------------------------------------------

    def add(self, row: Row, operands: tuple[int, ...], span: Span) -> int:
        self.is_condition.append(row.gives_condition)
        return self.graph.add(row.code, operands, span)

    def constant(self, text: str, span: Span) -> int:
        self.is_condition.append(False)
        node = self.graph.add(CONST, (), span)
        self.graph.literals[node] = text
        return node

    def input(self, name: str, span: Span) -> int:
        if name not in self.graph.inputs:
            self.is_condition.append(name in self.conditions)
            self.env[name] = self.graph.add_input(name, span)
        return self.graph.inputs[name]


def misgivings(syntax: Syntax, graph: Graph, given: Collection[str] = ()) -> Iterator[tuple[str, str]]:
    """What a reader may have meant otherwise, as code and sentence. `given` are the names that have values.

    >>> from backprop.grammar import parse
    >>> tree = parse("1/2x + sin2x")
    >>> [text for _, text in misgivings(tree, build(tree))]
    ['1/2x was read as (1/2)*x', 'sin2x was read as one name, not as sin(2x)']
    """
    for span, reading in readings(syntax):
        yield "read-as", f"{syntax.source[span[0] : span[1]]} was read as {reading}"
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

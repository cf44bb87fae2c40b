"""Building: the graph of a program out of its syntax, statement by statement, one walk over each."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from backprop import mistakes, ops, progress
from backprop.arrays_text import MOST_AXES
from backprop.graph import CONST, CONSTANTS, INPUT, Graph
from backprop.mistakes import Span
from backprop.ops import Row
from backprop.source_texts import SourceTexts
from backprop.syntax import WHOLE, Statement, Syntax, literal, readings, slice_text

if TYPE_CHECKING:  # loaded only for a program that has them
    from backprop.graph.expansion import Expansion
    from backprop.graph.keywords import Label
    from backprop.graph.unbound import Unbound
    from backprop.graph.vectors import Shape

# Functions whose free names have changed since their definition; a reader who is told of more reads nothing.
MOST_BOUND_AGAIN = 20

_ARRAYS = {"vector", "index", "slice", "keyword", "juxtapose"}  # that are more than one row on their operands

_ELEMENT = re.compile(r"[^\[\], ]+")  # of the text of an array


def _may_divide(over: str, under: str) -> bool:
    """Whether two texts make a fraction that is a number: neither is one already, infinite, an array or a lower 0."""
    if any(sign in text for text in (over, under) for sign in ("/", "inf", "[")):
        return False
    return under.lstrip("-") in CONSTANTS or float(under) != 0


@dataclass(slots=True)
class Function:
    """A function of the user's own: its parameters, the syntax nodes `first` .. `root` that are its body, and how many
    nodes the graph had when it was defined."""

    name: str
    parameters: tuple[str, ...]
    first: int
    root: int
    born: int

    def wrong_count(self, count: int, span: Span) -> mistakes.Mistake:
        """The lesson for a call with more or fewer operands than there are parameters."""
        return mistakes.WrongNumberOfOperands(self.name, [self.parameters], count, span)


class _Frame(NamedTuple):
    """Where to go on after a call that is being inlined: in which function, and what its parameters are bound to."""

    rest: Iterator[int]
    local: dict[str, int]
    inside: Function | None


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
        self.functions: dict[str, Function] = {}
        self.expansion: Expansion | None = None
        self.declared: set[str] = set()
        self.calls: dict[tuple[str, int], Row] = {}  # what was called so far, with how many operands
        self.truths: set[int] = set()  # the nodes that are true or false
        self.shapes: dict[int, Shape] = {}  # of the vectors that are written out
        self.unbound: Unbound | None = None

    def run(self) -> Graph:
        graph = self.graph
        last: int | None = None
        for statement in progress.each(self.syntax.statements, of="building"):
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
        shapes: dict[int, Shape] = {}  # of the arrays, by their syntax nodes
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
        if self.expansion is not None:
            self.expansion.sizes.clear()  # a function defined again may be another size
        self.functions[statement.name] = Function(
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
        inside: Function | None = None
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
                        if len(function.parameters) != count:
                            raise function.wrong_count(count, syntax.span(at))
                        if not frames:  # the first call counts those inside it
                            self.enter(name, at)
                        frames.append(_Frame(rest, known, inside))
                        known, inside = dict(zip(function.parameters, operands, strict=True)), function
                        rest = iter(range(function.first, function.root + 1))
                        break
            else:
                if not frames:
                    return stack[-1]
                rest, known, inside = frames.pop()

    def enter(self, name: str, at: int) -> None:
        """A call of a function of the user's own, by no other one."""
        if self.expansion is None:
            from backprop.graph.expansion import Expansion

            self.expansion = Expansion(self.syntax, self.functions)
        self.expansion.enter(name, self.syntax.span(at))

    def name(self, name: str, at: int, inside: Function | None) -> int:
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
            if self.unbound is None:
                from backprop.graph.unbound import Unbound

                self.unbound = Unbound(self.syntax, self.functions)
            self.unbound.refuse(name, at)
        return self.input(name, span)

    def bound_again(self, function: Function, name: str) -> None:
        """Remember a free name of a function that was bound after the definition, if it was bound before it too."""
        told = self.graph.bound_again
        if (function.name, name) in told or len(told) == MOST_BOUND_AGAIN:
            return
        if any(node < function.born and one == name for node, one in self.graph.names.items()):
            told.append((function.name, name))

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
            raise self.unknown_function(name, span)
        # max(0, x) is the larger of two numbers: an axis by its place is looked for last
        for row in rows if len(rows) == 1 else sorted(rows, key=lambda row: bool(row.settings)):
            if row.takes(count):
                self.refuse_many(row, name, count, at)
                self.calls[name, count] = row
                return row
        raise mistakes.WrongNumberOfOperands(name, [row.parameters for row in rows], count, self.syntax.span(at))

    def unknown_function(self, name: str, span: Span) -> mistakes.Mistake:
        from backprop.graph.unbound import unknown_function

        return unknown_function(self.syntax, self.functions, name, "", span)

    def refuse_many(self, row: Row, name: str, count: int, at: int) -> None:
        if row.variadic and count > row.most:
            raise mistakes.TooManyOperands(name, count, row.most, self.syntax.span(at))

    def labels(self, at: int) -> list[Label]:
        from backprop.graph.keywords import labels_of

        return labels_of(self.syntax, at)

    def labelled(self, name: str, operands: tuple[int, ...], labels: list[Label], at: int, span: Span) -> int:
        """A call with keywords."""
        from backprop.graph.keywords import in_order

        rows = ops.called(name)
        if not rows:
            raise self.unknown_function(name, span)
        row, order = in_order(self.syntax, name, rows, labels, at)
        self.refuse_many(row, name, len(operands), at)
        places = self.syntax.operands(at)
        return self.operation(row, tuple(operands[one] for one in order), at, [places[one] for one in order])

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
        shapes: list[Shape] = []
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

    def shape(self, rows: Sequence[Shape], places: Sequence[int]) -> Shape:
        """The shape of a vector from those of its entries, which stand at these syntax nodes."""
        one = rows[0]
        for row, place in zip(rows, places, strict=True):
            if row != one:
                from backprop.graph.vectors import refuse_unlike

                refuse_unlike(row, one, self.syntax.span(place))
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

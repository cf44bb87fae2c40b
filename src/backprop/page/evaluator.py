"""The evaluator: a program in JavaScript that works out what a Trace holds, at the numbers that a reader chooses.

It is the engine once more, written out for one graph: the value of every node by the words of `languages.javascript`,
the partial on every edge by the rule of the table that is evaluated, the adjoints edge by edge from the output back.
Nothing raises in JavaScript, so NaN stands for what has no value and goes on to whatever needs it: each operation asks
first whether its operands are numbers in its domain. What is worked out in a branch that is not taken is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from backprop import languages
from backprop.graph import Graph
from backprop.kinds import MINIMUM_NORM
from backprop.kinds.real import REAL
from backprop.languages import operands
from backprop.languages.javascript import LANGUAGE
from backprop.mistakes import Mistake
from backprop.ops import ATOM, Row
from backprop.point import Program, has_arrays, resolve
from backprop.record import Trace
from backprop.rules import Formula, formula, rules
from backprop.writing import Written, needs_brackets, pieces

# Beyond so many nodes nobody moves a slider.
MOST_NODES = 2_000
# Rows that are written as they are: of what is no number they make NaN by themselves.
PLAIN = frozenset({"add", "sub", "mul", "neg"})

HEAD = """\
// Values, partials, contributions and adjoints, in the order of the nodes and edges of the trace. NaN stands for what
// has no value, null for what is not there: in a branch not taken, where nothing moves.
function evaluate(inputs) {
    const has = (x) => x !== null && x === x;"""

# from the choices that are made to what they need
TAKEN = """\
    const taken = new Array(v.length).fill(false);
    for (const node of {roots}) {{
        taken[node] = true;
    }}
    for (let node = v.length - 1; node >= 0; node--) {{
        const from = sources.slice(first[node], first[node + 1]);
        if (taken[node] && choices.has(node)) {{
            taken[from[0]] = true;
            if (has(v[from[0]])) {{
                taken[v[from[0]] ? from[1] : from[2]] = true;
            }}
        }} else if (taken[node]) {{
            from.forEach((one) => {{ taken[one] = true; }});
        }}
    }}
    v.forEach((_, node) => {{ v[node] = taken[node] || first[node] === first[node + 1] ? v[node] : null; }});"""

REVERSE = """\
    const a = new Array(v.length).fill(null);
    const c = new Array(sources.length).fill(null);
    const moving = {moving};
    const known = has(v[{output}]);
    a[{output}] = known && moving.includes({output}) ? 1 : null;
    for (let node = v.length - 1; node >= 0; node--) {{
        for (let edge = first[node]; a[node] !== null && edge < first[node + 1]; edge++) {{
            if (p[edge] !== null && !stops.has(edge)) {{
                c[edge] = a[node]*p[edge] + 0;
                a[sources[edge]] = (a[sources[edge]] ?? 0) + c[edge];
            }}
        }}
    }}
    p.forEach((one, edge) => {{ c[edge] ??= has(one) ? 0 : null; }});
    moving.forEach((node) => {{ a[node] ??= known ? 0 : null; }});
    return {{ values: v, partials: p, contributions: c, adjoints: a }};
}}
"""


@dataclass(frozen=True, slots=True)
class Evaluator:
    """`source` is JavaScript that defines `evaluate(inputs)`; where it is "", `reason` says why there is none.

    `leaves` are the nodes, by their places in `Trace.nodes`, whose numbers `inputs` holds in that order: the inputs of
    the program, then its named constants.
    """

    source: str = ""
    leaves: tuple[int, ...] = ()
    reason: str = ""


def evaluator(trace: Trace) -> Evaluator:
    """The program of a trace in JavaScript.

    `evaluate(inputs)` takes an array of numbers and returns { values, partials, contributions, adjoints }, arrays in
    the order of `trace.nodes` and `trace.edges`. There is none for arrays, for other kinds than doubles, under another
    convention than the usual one and for more than `MOST_NODES` nodes.

    >>> import backprop
    >>> evaluator(backprop.trace("a = 2; x*y + a", {"x": 3, "y": 2})).leaves
    (1, 2, 0)
    """
    if reason := _refused(trace):
        return Evaluator(reason=reason)
    try:
        graph = _graph(trace)
        same = graph.ids == [node.id for node in trace.nodes]
        moving = graph.moving(resolve(graph, trace.wrt)) if same else bytearray()
    except Mistake:
        same = False
    if not same:
        return Evaluator(reason="The program of this trace makes another graph now.")
    if has_arrays(graph, {}):
        return Evaluator(reason="The page works out single numbers, not arrays.")
    leaves = [*graph.inputs.values(), *(node for node in sorted(graph.names) if node in graph.literals)]
    return Evaluator("\n".join(_Writer(graph, moving, leaves).lines()), tuple(leaves))


def _refused(trace: Trace) -> str:
    """Why a trace has no evaluator, as far as the trace tells; "" where it may have one."""
    if trace.kind != REAL.name:
        return f"The page works in doubles, not in kind {trace.kind}."
    if trace.undefined is not None or trace.convention not in (None, MINIMUM_NORM):
        return "The page keeps to the rules of the table, not to another convention."
    if len(trace.nodes) > MOST_NODES:
        return f"The page works out up to {MOST_NODES} nodes."
    if trace.opened is not None or any(node.shape is not None for node in trace.nodes):
        return "The page works out single numbers, not arrays."
    return ""


def _graph(trace: Trace) -> Graph:
    """The graph of a trace. Raises `Mistake` when its program cannot be read."""
    _, graph = Program(trace.program).read(trace.inputs)
    for name in trace.inputs:
        if name not in graph.inputs:  # given, and not used
            graph.add_input(name, (0, 0))
    return graph


class _Writer:
    """The function in the making: what it needs is written when it is met, before the lines that use it.

    `needs` are texts of helper functions, `functions` the names of functions with their lines: `$log` for the row log,
    `d1` for a formula of the table.
    """

    def __init__(self, graph: Graph, moving: bytearray, leaves: Sequence[int]) -> None:
        self.graph, self.moving, self.leaves = graph, moving, leaves
        self.needs: list[str] = []
        self.functions: dict[str, list[str]] = {}
        self.formulas: dict[tuple[str, str, int], str] = {}

    def lines(self) -> Iterator[str]:
        """The lines of the function."""
        graph, choices = self.graph, self.choices()
        values, partials = list(self.values()), list(self.partials())
        yield HEAD
        for need in self.needs:
            yield from (f"    {line}".rstrip() for line in need.splitlines())
        for lines in self.functions.values():
            yield from (f"    {line}" for line in lines)
        yield f"    const first = {list(graph.offsets)};"
        yield f"    const sources = {list(graph.args)};"
        yield from values
        if choices:
            yield f"    const choices = new Set({choices});"
            yield TAKEN.format(roots=self.roots())
        yield from partials
        moving = [node for node in range(len(graph)) if self.moving[node]]
        yield REVERSE.format(output=graph.output, moving=moving)

    def choices(self) -> list[int]:
        """The nodes that take one of their operands by a condition."""
        rows = map(self.graph.row, range(len(self.graph)))
        return [node for node, row in enumerate(rows) if row is not None and row.chooses]

    def roots(self) -> list[int]:
        """The nodes that are worked out whatever the conditions say: the output, and what nothing uses."""
        used = set(self.graph.args)
        return [node for node in range(len(self.graph)) if node == self.graph.output or node not in used]

    def values(self) -> Iterator[str]:
        """A statement for the value of each node."""
        graph, places = self.graph, {node: place for place, node in enumerate(self.leaves)}
        yield f"    const v = new Array({len(graph)}).fill(null);"
        for node in range(len(graph)):
            row = graph.row(node)
            if row is not None:
                text = self.applied(row, [(f"v[{one}]", ATOM) for one in graph.operands(node)])[0]
            else:
                text = f"inputs[{places[node]}]" if node in places else _number(graph.literals[node])[0]
            yield f"    v[{node}] = {text};"

    def partials(self) -> Iterator[str]:
        """Statements for the partials, and the edges behind which nothing matters: those of a branch not taken."""
        graph = self.graph
        yield f"    const p = new Array({len(graph.args)}).fill(null);"
        yield "    const stops = new Set();"
        for node in range(len(graph)):
            row = graph.row(node)
            if row is None or not self.moving[node]:
                continue
            sources, first = graph.operands(node), graph.offsets[node]
            known = [f"v[{one}]" for one in (*sources, node)]
            found = rules(row.code, tuple(bool(self.moving[one]) for one in sources))
            yield f"    if (has(v[{node}])) {{"
            for position, rule in enumerate(found):
                if rule is None:
                    continue
                partial = self.called(rule, known)
                if row.chooses:
                    partial = f"v[{sources[position]}] === null ? null : {partial}"
                yield f"        p[{first + position}] = {partial};"
            if row.locally_constant:
                apart = [self.called(formula(text, row, len(sources)), known) for text in row.kinks(len(sources))]
                away = "".join(f" && {one} !== 0" for one in apart)
                edges = [first + position for position, rule in enumerate(found) if rule is not None]
                yield f"        {edges}.filter((edge) => p[edge] === 0{away}).forEach((edge) => stops.add(edge));"
            yield "    }"

    def called(self, rule: Formula, known: Sequence[str]) -> str:
        """A formula at operands and result: a number, one of them, or a call of the function for it."""
        if rule.constant is not None:
            return _number(rule.constant)[0]
        if rule.single is not None:
            return known[rule.single]
        return f"{self.function(rule, len(known) - 1)}({', '.join(known[place] for place in sorted(rule.places()))})"

    def function(self, rule: Formula, arity: int) -> str:
        """The name of the function for a formula of the table over the operands (and the result) that it reads."""
        key = rule.text, rule.row.name, arity
        if key not in self.formulas:
            self.formulas[key] = name = f"d{len(self.formulas) + 1}"
            names = (*rule.row.names(arity), "out")
            parameters = ", ".join(names[place] for place in sorted(rule.places()))
            lines, text = self.body(rule, names, rule.graph.output)
            self.functions[name] = [f"function {name}({parameters}) {{", *lines, f"    return {text};", "}"]
        return self.formulas[key]

    def body(self, rule: Formula, names: Sequence[str], output: int) -> tuple[list[str], str]:
        """Statements for what a formula uses twice, and the text of one of its nodes over the names of its operands."""
        graph = rule.graph
        uses = [0] * len(graph)
        for one in graph.args:
            uses[one] += 1
        texts: list[Written] = []
        leaves = rule.leaves(list(names))
        lines: list[str] = []
        for node in range(len(graph)):
            row = graph.row(node)
            if row is None:
                texts.append((leaves[node], ATOM) if node in leaves else _number(graph.literals[node]))
                continue
            text = self.applied(row, [texts[one] for one in graph.operands(node)])
            if uses[node] > 1 and row.name != "copy":
                lines.append(f"    const t{node} = {text[0]};")
                text = f"t{node}", ATOM
            texts.append(text)
        return lines, texts[output][0]

    def applied(self, row: Row, texts: Sequence[Written]) -> Written:
        """An operation on operands."""
        if row.name == "copy" or (row.variadic and len(texts) == 1):
            return texts[0]
        if row.name in PLAIN:
            return _put(row, texts)
        name = f"${row.name}"
        if name not in self.functions:
            self.functions[name] = []  # its place; what it needs may come behind it
            self.functions[name] = list(self.row(row, name))
        if not row.variadic:
            return f"{name}({', '.join(text for text, _ in texts)})", ATOM
        found = texts[0][0]
        for text, _ in texts[1:]:
            found = f"{name}({found}, {text})"
        return found, ATOM

    def row(self, row: Row, name: str) -> Iterator[str]:
        """The function for an operation: NaN unless its operands are numbers, and in its domain."""
        names, lines = operands(row.name), list[str]()
        asked = [f"{one} === {one}" for one in (names[:1] if row.chooses else names)]
        if row.domain:
            domain = formula(f"where({row.domain}, 1, 0)", row, len(names))
            condition = domain.graph.operands(domain.graph.output)[0]
            lines, text = self.body(domain, names, condition)
            asked.append(text)
        word = LANGUAGE.words.get(row.name)
        if word is None:
            made = formula(row.made_of, row, len(names))
            more, text = self.body(made, names, made.graph.output)
            lines += more
        else:
            text = word.form
            if word.needs and word.needs not in self.needs:
                self.needs.append(word.needs)
        yield f"function {name}({', '.join(names)}) {{"
        yield from lines
        yield f"    return {' && '.join(asked)} ? {text} : NaN;"
        yield "}"


def _put(row: Row, texts: Sequence[Written]) -> Written:
    """Operands put into the word of an operation."""
    word = LANGUAGE.words[row.name]
    parts = []
    for piece in pieces(word.form, row.parameters):
        if isinstance(piece, str):
            parts.append(piece)
        else:
            text, level = texts[piece]
            parts.append(f"({text})" if needs_brackets(word.level, piece, text, level) else text)
    return "".join(parts), word.level


def _number(text: str) -> Written:
    """A literal; NaN for one that no double can hold."""
    try:
        REAL.number(text)
    except OverflowError:
        return "NaN", ATOM
    return languages.number(LANGUAGE, text)

"""Derivatives as formulas: the engines run on formulas in the place of numbers, and no values are needed.

A name in `wrt` that is no input but a node in the middle is held as a variable of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations_with_replacement
from math import comb
from typing import Any

from backprop import formulas
from backprop.factors import as_addend, as_factor
from backprop.formulas import ZERO, Formula
from backprop.forward import tangents
from backprop.graph import CONSTANTS, INPUT, Graph
from backprop.kinds import Hole
from backprop.kinds.symbol import FORWARD, SYMBOL, edge_formula, label
from backprop.latex import latex_name, latex_of
from backprop.mistakes import ArraysInFormulas, OrderOutOfRange, OrderUnlikeNames, TooManyDerivatives
from backprop.notation import slope
from backprop.point import Program, has_arrays, resolve
from backprop.reverse import reverse
from backprop.rules import Partials, formula
from backprop.syntax import canonical
from backprop.tidying import tidied, tidy
from backprop.values import values

# Forward mode gives the product rule in the order of paper; beyond so many steps reverse mode serves all at once.
MOST_FORWARD = 20_000
# A formula with more parts is not differentiated again, and more derivatives are refused: nobody could read them.
MOST_PARTS = 8_000
MOST_PARTS_IN_ALL = 30_000
MOST_DERIVATIVES = 2_000
# An adjoint longer than this stays a name in the lines of the chain rule.
LONGEST_ADJOINT = 24
# In a program of more nodes than this every adjoint stays a name there: it would be one nearly everywhere.
MOST_LINES_TIDIED = 1_000
# Nobody reads the formulas of a larger program: they are longer than the program, and take a minute.
MOST_NODES = 200_000
# Longer than this a formula is left out of a table of numbers.
LONGEST_IN_TABLE = 300


@dataclass(frozen=True, slots=True)
class Derivative:
    """One derivative: by which variables, in the order taken, and the formula as text and in LaTeX."""

    wrt: tuple[str, ...]
    name: str
    text: str
    latex_name: str
    latex: str
    formula: Formula


@dataclass(frozen=True, slots=True)
class ChainLine:
    """The chain rule at a node: its derivative, the terms of its edges, and what they come to over the ids."""

    node: str
    left: str
    terms: tuple[str, ...]
    formula: str

    @property
    def line(self) -> str:
        """The line as on paper."""
        chain = " + ".join(self.terms)
        return " = ".join(dict.fromkeys(part for part in (self.left, chain, self.formula) if part))


@dataclass(frozen=True, slots=True)
class Derivatives:
    """The derivatives asked for. `shared` are parts that large formulas name, to be read first."""

    program: str
    canonical: str
    output: str
    inputs: tuple[str, ...]
    derivatives: tuple[Derivative, ...]
    shared: tuple[tuple[str, str], ...] = ()
    shared_latex: tuple[tuple[str, str], ...] = ()
    definitions: tuple[tuple[str, str], ...] = ()
    chain: tuple[ChainLine, ...] = field(default=())

    def __getitem__(self, wrt: str) -> str:
        """The text of the derivative by one variable or by several: `["x"]`, `["x,y"]`; KeyError for others."""
        names = tuple(wrt.split(","))
        for derivative in self.derivatives:
            if derivative.wrt == names:
                return derivative.text
        raise KeyError(wrt)

    def to_dict(self) -> dict[str, Any]:
        """The record for JSON; absent things are absent."""
        record: dict[str, Any] = {"format": "backprop-derivatives", "version": 1, "program": self.program}
        record |= {"canonical": self.canonical, "output": self.output, "inputs": list(self.inputs)}
        if self.shared:
            record["shared"] = dict(self.shared)
            record["shared_latex"] = dict(self.shared_latex)
        record["derivatives"] = [
            {"wrt": list(one.wrt), "name": one.name, "formula": one.text, "latex": one.latex}
            for one in self.derivatives
        ]
        if self.chain:
            record["definitions"] = dict(self.definitions)
            record["chain"] = [
                {"node": one.node, "of": one.left, "terms": list(one.terms), "formula": one.formula}
                for one in self.chain
            ]
        return record


def differentiate(program: str, wrt: Sequence[Sequence[str]] | None = None, order: int = 1) -> Derivatives:
    """The derivatives of a program as formulas of its inputs.

    Each member of `wrt` is one derivative: by one variable (as often as `order` says) or by one after the other.
    Without `wrt` it is all of that order. Raises a `Mistake` for a program that cannot be read or works on arrays, an
    unknown name, and an order that makes no sense.

    >>> differentiate("x^2*sin(x)")["x"]
    '2*x*sin(x) + x^2*cos(x)'
    >>> differentiate("x^3*y", [["x", "y"]])["x,y"]
    '3*x^2'
    """
    if order < 1:
        raise OrderOutOfRange(order)
    # a constant that is differentiated by is a variable: --wrt pi
    syntax, graph = Program(program).read([name for names in wrt or () for name in names if name in CONSTANTS])
    if has_arrays(graph, graph.defaults):
        raise ArraysInFormulas(program)
    if len(graph) > MOST_NODES:
        raise TooManyDerivatives(
            f"the chain rule over {len(graph)} nodes; I write it out for at most {MOST_NODES}",
            "backprop grad gives the derivatives as numbers, backprop trace --format json every partial with its rule.",
        )
    sequences = _sequences(graph, wrt, order)
    known: dict[frozenset[int], dict[tuple[str, ...], Formula]] = {}
    wanted: list[Formula] = []
    spent = 0
    for nodes, names in sequences.items():
        held = frozenset(node for node in nodes if graph.codes[node] != INPUT)
        found = known.setdefault(held, {})
        spent += _derive(graph, held, names, found)
        if spent > MOST_PARTS_IN_ALL:
            raise TooManyDerivatives(
                f"the first {len(wanted) + 1} of {len(sequences)} derivatives have {spent} parts already",
                f"Ask for one at a time: --wrt {','.join(names[:4])}{',...' if len(names) > 4 else ''}",
            )
        wanted.append(found[names])
    tidy = tidied(wanted)
    shared, texts = formulas.texts_of(tidy)
    shared_latex, latexes = latex_of(tidy)
    output = graph.ids[graph.output]
    return Derivatives(
        program=program,
        canonical=canonical(syntax),
        output=output,
        inputs=tuple(graph.inputs),
        derivatives=tuple(
            Derivative(names, _named(output, names), text, _named_latex(output, names), latex, one)
            for names, one, text, latex in zip(sequences.values(), tidy, texts, latexes, strict=True)
        ),
        shared=tuple(shared),
        shared_latex=tuple(shared_latex),
        definitions=tuple((graph.ids[node], graph.formula(node)) for node in range(len(graph)) if graph.formula(node)),
        chain=tuple(chain_rule(graph, {node for nodes in sequences for node in nodes})),
    )


def _sequences(graph: Graph, wrt: Sequence[Sequence[str]] | None, order: int) -> dict[tuple[int, ...], tuple[str, ...]]:
    """Which derivatives are asked for: nodes and names, in the order taken."""
    asked: list[tuple[int, ...]] = []
    if wrt is None:
        nodes = graph.default_wrt()
        count = comb(len(nodes) + order - 1, order)
        if count > max(MOST_DERIVATIVES, len(nodes)) or (order > 1 and count * order > 10 * MOST_DERIVATIVES):
            some = ",".join([graph.name_of(nodes[0])] * order) if order < 5 else "x,x,y"
            raise TooManyDerivatives(
                f"{len(nodes)} variables have too many derivatives of order {order}", f"Ask for one: --wrt {some}"
            )
        asked = list(combinations_with_replacement(nodes, order))
    else:
        for names in wrt:
            sequence = [resolve(graph, [name])[0] for name in names]
            if len(sequence) == 1:
                sequence *= order
            elif order not in (1, len(sequence)):
                raise OrderUnlikeNames(list(names), order)
            if sequence:
                asked.append(tuple(sequence))
    return {nodes: tuple(graph.name_of(node) for node in nodes) for nodes in asked}


def _derive(graph: Graph, held: frozenset[int], names: tuple[str, ...], found: dict[tuple[str, ...], Formula]) -> int:
    """Put the derivative by `names` into `found`, with the lower ones it is made from (all of one order at once).

    Returns how many parts of formulas that took. Raises `TooManyDerivatives`.
    """
    if names in found:
        return 0
    spent = 0
    one = closed(graph, held)
    inputs = [graph.name_of(node) for node in (*graph.inputs.values(), *sorted(held))]
    for taken in range(len(names)):
        before = names[:taken]
        if (*before, names[taken]) not in found:
            above = found[before] if before else one
            if before:
                size = len(formulas.parts([above]))
                spent += size
                if size > MOST_PARTS or spent > MOST_PARTS_IN_ALL:
                    much = f"the derivative of order {taken} has {size} parts already"
                    if size <= MOST_PARTS:
                        much = f"the derivatives up to order {taken} have {spent} parts already"
                    raise TooManyDerivatives(much, f"Stop there: --order {taken}")
            for name, slope_by in zip(inputs, _gradient(above, inputs), strict=True):
                found[(*before, name)] = slope_by
    return spent


def closed(graph: Graph, held: Collection[int] = ()) -> Formula:
    """The output as one formula of the inputs and of the nodes `held`, which stand for themselves."""
    known = {node: formulas.symbol(graph.name_of(node)) for node in (*graph.inputs.values(), *held)}
    if held:
        codes = graph.codes[:]
        for node in held:
            codes[node] = INPUT
        literals = {node: text for node, text in graph.literals.items() if node not in held}
        graph = replace(graph, codes=codes, literals=literals)
    value = values(graph, SYMBOL, known)[graph.output]
    assert isinstance(value, Formula)
    return value


def gradient(of: Formula, names: Sequence[str]) -> list[Formula]:
    """The derivative of a formula by each name, tidied; what they share stays shared.

    >>> [str(one) for one in gradient(formulas.product(formulas.symbol("x"), formulas.symbol("y")), ["x", "y", "z"])]
    ['y', 'x', '0']
    """
    return tidied(_gradient(of, names))


def _gradient(of: Formula, names: Sequence[str]) -> list[Formula]:
    graph = formulas.graph_of(of)
    wanted = [graph.inputs.get(name) for name in names]
    moving = graph.moving([node for node in wanted if node is not None])
    known = values(graph, SYMBOL, {node: formulas.symbol(name) for name, node in graph.inputs.items()})
    steepness = slopes(graph, known, moving)
    if len(names) * len(graph) <= MOST_FORWARD:
        found = [
            None if node is None else tangents(graph, steepness, FORWARD, {node: formulas.ONE})[graph.output]
            for node in wanted
        ]
    else:
        adjoints = reverse(graph, steepness, SYMBOL).adjoints
        found = [None if node is None else adjoints[node] for node in wanted]
    return tidied([ZERO if one is None else one for one in found])


def slopes(graph: Graph, known: list[Any], moving: bytearray) -> Partials:
    """The partial on every edge as a formula, from the rules as a reader sees them (not the stable ones)."""
    found: list[Any] = [None] * len(graph.args)
    for node, code in enumerate(graph.codes):
        row = graph.row(node)
        if code < 0 or row is None or not moving[node] or known[node] is None or isinstance(known[node], Hole):
            continue
        sources = graph.operands(node)
        operands = [known[source] for source in sources]
        moves = tuple(bool(moving[source]) for source in sources)
        # 0^y has slope 0 for every y > 0, which only the careful rule says
        rules = row.evaluated_rules(moves) if ZERO in operands else row.rules(moves)
        for position, rule in enumerate(rules):
            if rule is not None and moves[position] and operands[position] is not None:
                found[graph.offsets[node] + position] = formula(rule, row, len(operands)).evaluate(
                    SYMBOL, operands, known[node]
                )
    return Partials(found, bytearray(len(graph.args)))


def gradient_formulas(graph: Graph, wrt: Iterable[int]) -> dict[str, str]:
    """The gradient as text by name, where it is short enough to stand in a table."""
    nodes = list(wrt)
    held = [node for node in nodes if graph.codes[node] != INPUT]
    # inputs are differentiated through every node, so a node that is held needs a pass of its own
    found: dict[str, Formula] = {}
    inputs = [graph.name_of(node) for node in nodes if node not in held]
    if inputs:
        found.update(zip(inputs, gradient(closed(graph), inputs), strict=True))
    for node in held:
        name = graph.name_of(node)
        found[name] = gradient(closed(graph, [node]), [name])[0]
    short = {name: formulas.text(one) for name, one in found.items() if one.size <= LONGEST_IN_TABLE}
    return {name: short[name] for name in map(graph.name_of, nodes) if 0 < len(short.get(name, "")) <= LONGEST_IN_TABLE}


# -- the chain rule, node by node -----------------------------------------------------------------------------------


def chain_rule(graph: Graph, wrt: Collection[int]) -> list[ChainLine]:
    """The derivative of the output by every node that moves, output first: along its edges, then over the ids."""
    ids, moving, output = graph.ids, graph.moving(wrt), graph.output
    outgoing: dict[int, list[tuple[int, int]]] = {}
    for node in range(len(graph)):
        for edge in graph.edges_to(node):
            outgoing.setdefault(edge.source, []).append((edge.target, edge.position))
    if len(graph) > MOST_LINES_TIDIED:
        return list(_named_chain_rule(graph, moving, outgoing))
    adjoints: dict[int, Formula] = {output: formulas.ONE}
    lines: list[ChainLine] = []
    for node in range(len(graph) - 1, -1, -1):
        if not moving[node] or node == output:
            continue
        left = slope(ids[output], ids[node])
        terms: list[str] = []
        total = ZERO
        for target, position in outgoing.get(node, []):
            above = adjoints.get(target)
            partial = edge_formula(graph, target, position, moving) if above is not None else None
            if above is None or partial is None:
                continue
            if target == output:
                terms.append(formulas.text(partial))
            else:
                terms.append(f"{slope(ids[output], ids[target])} · {slope(ids[target], ids[node])}")
                if above.size > LONGEST_ADJOINT:
                    above = formulas.symbol(slope(ids[output], ids[target]))
            total = formulas.sum_of(total, formulas.product(above, partial))
        total = tidy(total)
        if terms:
            adjoints[node] = total
        bracketed = [as_addend(term) for term in terms] if len(terms) > 1 else terms
        lines.append(ChainLine(ids[node], left, tuple(bracketed), formulas.text(total)))
    return lines


def _named_chain_rule(
    graph: Graph, moving: bytearray, outgoing: dict[int, list[tuple[int, int]]]
) -> Iterator[ChainLine]:
    """The same lines over the names of the adjoints, each put together from the labels of its edges alone."""
    ids, output = graph.ids, graph.output
    written = [graph.written_id(node)[0] for node in range(len(graph))]
    reaches = bytearray(len(graph))
    reaches[output] = 1
    for node in range(len(graph) - 1, -1, -1):
        if not moving[node] or node == output:
            continue
        terms: list[str] = []
        products: list[str] = []
        for target, position in outgoing.get(node, []):
            row = graph.row(target)
            if row is None or not reaches[target]:
                continue
            sources = graph.operands(target)
            rule = row.rules(tuple(bool(moving[source]) for source in sources))[position]
            if rule is None:
                continue
            partial = label(rule, row, [written[source] for source in sources], ids[target])
            if target == output:
                terms.append(partial)
                products.append(partial)
            else:
                above = slope(ids[output], ids[target])
                terms.append(f"{above} · {slope(ids[target], ids[node])}")
                products.append(above if partial == "1" else f"{above}*{as_factor(partial)}")
        if terms:
            reaches[node] = 1
            if len(terms) > 1:
                terms, products = list(map(as_addend, terms)), list(map(as_addend, products))
        yield ChainLine(ids[node], slope(ids[output], ids[node]), tuple(terms), " + ".join(products) or "0")


# -- names ----------------------------------------------------------------------------------------------------------

_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def _powers(names: tuple[str, ...]) -> list[tuple[str, int]]:
    """The variables below a derivative, the last taken first, as it is written: by x and then y is ∂y∂x."""
    found: list[tuple[str, int]] = []
    for name in reversed(names):
        if found and found[-1][0] == name:
            found[-1] = (name, found[-1][1] + 1)
        else:
            found.append((name, 1))
    return found


def _named(output: str, names: tuple[str, ...]) -> str:
    """∂f/∂x, ∂²f/∂x², ∂²f/∂y∂x."""
    if len(names) == 1:
        return slope(output, names[0])
    below = "".join(f"∂{name}{str(count).translate(_RAISED) if count > 1 else ''}" for name, count in _powers(names))
    return f"∂{str(len(names)).translate(_RAISED)}{output}/{below}"


def _named_latex(output: str, names: tuple[str, ...]) -> str:
    order = f"^{{{len(names)}}}" if len(names) > 1 else ""
    below = " ".join(
        rf"\partial {latex_name(name)}" + (f"^{{{count}}}" if count > 1 else "") for name, count in _powers(names)
    )
    return rf"\frac{{\partial{order} {latex_name(output)}}}{{{below}}}"

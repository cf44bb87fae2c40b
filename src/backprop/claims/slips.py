"""Slips: which single mistake turns the right derivative into the one that was claimed.

A slip is a wrong tangent at one node: a rule misremembered (`wrong_rules`), an inner factor lost, a path forgotten.
Forward mode from there on gives what comes of it. Other slips answer another question: the value, another variable,
another point. A slip is named only when it gives what was claimed at every point that is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import combinations, islice
from typing import Any

from backprop.claims.reading import Claim
from backprop.claims.truth import CLOSE, Sample
from backprop.claims.wrong_rules import RIGHT, WRONG_RULES, WrongRule
from backprop.derivatives import closed, gradient
from backprop.formulas import text as formula_text
from backprop.grammar import parse
from backprop.graph import CONST, INPUT, Edge, Graph
from backprop.graph.building import build
from backprop.kinds import is_number, value_at
from backprop.kinds.digits import Digits
from backprop.notation import slope
from backprop.ops import Row
from backprop.rules import formula
from backprop.tidying import tidy
from backprop.values import values

# Nodes on the ways from the variable to the output; beyond that the search would take seconds.
MOST_NODES = 200
# Other variables and other points that are tried at most, and what trying them may cost in evaluations of a node.
MOST_OTHERS = 30
MOST_EVALUATIONS = 20_000
LONGEST_FORMULA = 80

# Factors that are lost or put in by a slip of the pen: half of a square, a sum for a mean, a decimal point.
FACTORS = ("2", "1/2", "3", "1/3", "4", "1/4", "10", "1/10", "100", "1/100", "1000", "1/1000", "-2", "-1/2")


# What says nothing new when another slip gives the same number.
SAME_IN_OTHER_WORDS = (
    "factor-lost", "divisor-lost", "middle-factor", "outer-factor", "sign-of-a-part", "lost-path", "inner-in-place"
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Slip:
    """A slip that gives what was claimed: a code for programs and a sentence for people."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A slip to be tried: what it would give in a sample (no number where it gives nothing), and its sentence."""

    code: str
    gives: Callable[[Sample], Any]
    says: str | Callable[[], str]

    def slip(self) -> Slip:
        return Slip(self.code, self.says if isinstance(self.says, str) else self.says())


def likely_slips(
    graph: Graph, claim: Claim, samples: Sequence[Sample], gives: Callable[[Sample, Any], bool], most: int = 3
) -> list[Slip]:
    """The simplest slips that give what was claimed in every sample, as `gives` tells; the likeliest first.

    For a formula one is enough; a number of few digits may be met by several, and when some give it exactly those that
    only round to it are chance.
    """
    found: dict[str, Candidate] = {}
    met: list[Any] = []  # what those found give in the first sample
    exact: set[str] = set()
    said = samples[0].said(claim) if samples else None
    for candidate in _candidates(graph, claim) if samples else ():
        if candidate.code in found:
            continue
        value = candidate.gives(samples[0])
        if not is_number(value) or not gives(samples[0], value):
            continue
        others = ((sample, candidate.gives(sample)) for sample in samples[1:])
        if not all(is_number(other) and gives(sample, other) for sample, other in others):
            continue
        if candidate.code in SAME_IN_OTHER_WORDS and any(abs(value - one) <= CLOSE * abs(one) for one in met):
            continue
        met.append(value)
        found[candidate.code] = candidate
        if said is not None and abs(value - said) <= CLOSE * abs(said):
            exact.add(candidate.code)
            if len(exact) == most:
                break
    return [one.slip() for one in found.values() if not exact or one.code in exact][:most]


# -- what may have gone wrong ---------------------------------------------------------------------------------------


def _candidates(graph: Graph, claim: Claim) -> Iterator[Candidate]:
    """Everything that is tried, the likeliest first."""
    if claim.by is None:
        yield from _of_a_value(graph, claim)
        return
    ways = Ways(graph, claim.of, claim.by)
    yield ways.constant()
    yield from ways.wrong_rules(1)
    yield from ways.wrong_everywhere(1)
    yield from ways.inner()
    yield from ways.wrong_rules(2)
    yield from ways.wrong_everywhere(2)
    yield from ways.paths()
    yield from ways.middle()
    yield from ways.other_questions()
    yield Candidate("sign", lambda sample: -ways.right(sample), "the sign is turned")
    yield from ways.outer()
    yield from ways.signs()
    yield from ways.in_place()
    yield from ways.wrong_rules(3)
    yield from ways.kept()
    yield from _times(ways.right)
    yield from ways.twice()
    if claim.constant:
        yield from _other_points(graph, claim)
    else:  # a number is met by too much of this
        yield from ways.wrong_rules(1, turned=True)


def _of_a_value(graph: Graph, claim: Claim) -> Iterator[Candidate]:
    """What a wrong value may be: with the other sign, of another node, a slope."""
    of = claim.of

    def value(node: int, sample: Sample) -> Any:
        return sample.values[node]

    def derivative(by: int, sample: Sample) -> Any:
        return sample.view(of, by).slope

    yield Candidate("sign", lambda sample: _negative(sample.values[of]), "the sign is turned")
    for node in [*graph.names, graph.output][:MOST_OTHERS]:
        if node != of:
            yield Candidate("another-node", partial(value, node), f"this is the value of {graph.ids[node]}")
    for by in graph.default_wrt()[: _most_others(graph)]:
        says = f"this is {slope(graph.ids[of], graph.name_of(by))}, not a value"
        yield Candidate("derivative-instead", partial(derivative, by), says)
    yield from _times(partial(value, of))
    if claim.constant:
        yield from _other_points(graph, claim)


def _times(right: Callable[[Sample], Any]) -> Iterator[Candidate]:
    """The right answer times a simple factor."""

    def times(factor: str, sample: Sample) -> Any:
        value = right(sample)
        return value * sample.kind.number(factor) if is_number(value) and value != 0 else None

    for factor in FACTORS:
        says = f"a constant factor is wrong: this is {factor} times what is right"
        yield Candidate("constant-factor", partial(times, factor), says)


class Ways:
    """The ways from one node to another, and what a slip on them would give."""

    def __init__(self, graph: Graph, of: int, by: int) -> None:
        self.graph, self.of, self.by = graph, of, by
        self.moves = graph.moving([by])
        reaches = bytearray(len(graph))
        reaches[of] = 1
        for node in range(of, -1, -1):
            if reaches[node] and self.moves[node]:
                for operand in graph.operands(node):
                    reaches[operand] = 1
        # the output first: what is done last is differentiated first
        found = [node for node in range(of, by, -1) if self.moves[node] and reaches[node] and graph.codes[node] >= 0]
        self.nodes = found if len(found) <= MOST_NODES else []
        self.edges = [edge for node in self.nodes for edge in graph.edges_to(node) if self.moves[edge.source]]
        self.name = graph.name_of(by)

    def right(self, sample: Sample) -> Any:
        """The right derivative."""
        return sample.view(self.of, self.by).slope

    def row(self, node: int) -> Row:
        row = self.graph.row(node)
        assert row is not None  # the nodes on the ways are operations
        return row

    # -- the right answer to another question

    def constant(self) -> Candidate:
        """0, as if nothing moved."""
        says = f"{self.graph.ids[self.of]} moves with {self.name}, so this derivative is not 0"
        return Candidate("taken-as-constant", lambda sample: sample.kind.number("0"), says)

    def other_questions(self) -> Iterator[Candidate]:
        """The value, or the derivative by another variable."""
        graph, of = self.graph, self.of

        def derivative(by: int, sample: Sample) -> Any:
            return sample.view(of, by).slope

        says = f"this is the value of {graph.ids[of]}"
        yield Candidate("value-instead", lambda sample: sample.values[of], says)
        for other in graph.default_wrt()[: _most_others(graph)]:
            if other != self.by:
                name = graph.name_of(other)
                says = f"this is {slope(graph.ids[of], name)}: differentiated by {name}, not by {self.name}"
                yield Candidate("another-variable", partial(derivative, other), says)
        variables = graph.default_wrt()
        if 1 < len(variables) <= _most_others(graph):
            says = f"this is the sum of the derivatives by all variables; in {slope(graph.ids[of], self.name)} only"
            yield Candidate("all-variables", self.in_all, f"{says} {self.name} moves")

    def in_all(self, sample: Sample) -> Any:
        """The slope when all variables move at once."""
        slopes = [sample.view(self.of, by).slope for by in self.graph.default_wrt()]
        return sum(slopes) if all(map(is_number, slopes)) else None

    # -- rules misremembered

    def wrong_rules(self, rank: int, turned: bool = False) -> Iterator[Candidate]:
        """A rule misremembered at one node; with `turned` the sign of the whole is wrong as well."""
        for rule in (one for one in WRONG_RULES if one.rank == rank):
            for node in self.nodes:
                if self.fits(node, rule):
                    gives, says = partial(self.with_rule, rule, {node}), partial(self.says, rule, node)
                    if turned:
                        yield Candidate(f"{rule.code}+sign", _turned(gives), partial(_and_sign, says))
                    else:
                        yield Candidate(rule.code, gives, says)

    def wrong_everywhere(self, rank: int) -> Iterator[Candidate]:
        """The same rule misremembered at every node of its operation."""
        for rule in (one for one in WRONG_RULES if one.rank == rank):
            where = {node for node in self.nodes if self.fits(node, rule)}
            if len(where) > 1:
                yield Candidate(
                    rule.code, partial(self.with_rule, rule, where), partial(self.says, rule, *sorted(where))
                )

    def fits(self, node: int, rule: WrongRule) -> bool:
        """Whether a wrong rule speaks of a node: what has to move does, what has to stand still does not."""
        row = self.row(node)
        if row.name not in rule.ops:
            return False
        used, operands = _wrong_graph(rule.wrong, row).inputs, self.graph.operands(node)
        moves = {name: bool(self.moves[operand]) for name, operand in zip(row.parameters, operands, strict=True)}
        if any(moves[name] for name in rule.still):
            return False
        # of a rule half done the other half has to be there in truth
        needed = moves if rule.code.endswith("half") else [name for name in moves if f"d{name}" in used]
        return all(moves[name] for name in needed)

    def with_rule(self, rule: WrongRule, where: set[int], sample: Sample) -> Any:
        """The slope when a rule is wrong at some nodes."""

        def tangent(node: int, moved: list[Any]) -> Any:
            row = self.row(node)
            wrong, known = _wrong_graph(rule.wrong, row), {"out": sample.values[node]}
            for name, operand in zip(row.parameters, self.graph.operands(node), strict=True):
                known[name], known[f"d{name}"] = sample.values[operand], moved[operand]
            leaves = {leaf: known[name] for name, leaf in wrong.inputs.items()}
            if not all(map(is_number, leaves.values())):
                return None
            return values(wrong, sample.kind, leaves)[wrong.output]

        return self.forward(sample, dict.fromkeys(where, tangent))

    def says(self, rule: WrongRule, *nodes: int) -> str:
        """The sentence of a wrong rule, for the last of some nodes."""
        node = nodes[-1]
        words = RIGHT | {"node": self.formula(node)}
        for name, operand in zip(self.row(node).parameters, self.graph.operands(node), strict=True):
            words[name] = self.formula(operand)
            words[f"d{name}"] = self.slope_of(operand) if f"{{d{name}}}" in rule.says else ""
        return rule.says.format(**words) + (f"; the same at {len(nodes)} places" if len(nodes) > 1 else "")

    # -- the chain rule

    def inner(self) -> Iterator[Candidate]:
        """The derivative of an inner function lost; h, where h has a name, and not h - y, which moves with it."""
        for node in self.nodes[1:]:
            moving = [operand for operand in self.graph.operands(node) if self.moves[operand]]
            if self.row(node).name in ("add", "sub") and len(moving) == 1 and moving[0] in self.graph.names:
                continue
            yield Candidate("inner-factor", partial(self.with_tangent, node, "1"), partial(self.says_inner, node))

    def says_inner(self, node: int) -> str:
        return (
            f"chain rule: the inner derivative is missing: {self.slope_of(node)} "
            f"for the inner function {self.formula(node)}"
        )

    def middle(self) -> Iterator[Candidate]:
        """A factor of the chain rule lost on one edge alone."""
        for edge in self.edges:
            if edge.source != self.by:
                gives = partial(self.with_edge, edge, lambda sample, rate, moved: rate)
                yield Candidate("inner-factor", gives, partial(self.says_inner, edge.source))
            if edge.source != self.by or edge.target != self.of:
                gives = partial(self.with_edge, edge, lambda sample, rate, moved: moved)
                yield Candidate("middle-factor", gives, partial(self.says_middle, edge, "is missing"))

    def says_middle(self, edge: Edge, what: str) -> str:
        factor = slope(self.called(edge.target), self.called(edge.source))
        return f"chain rule: the factor {factor} of {self.formula(edge.target)} {what}"

    def twice(self) -> Iterator[Candidate]:
        """A factor of the chain rule put in twice."""
        for edge in self.edges:
            gives = partial(self.with_edge, edge, lambda sample, rate, moved: rate * rate * moved)
            yield Candidate("factor-twice", gives, partial(self.says_middle, edge, "stands there twice"))

    def kept(self) -> Iterator[Candidate]:
        """A part that was not differentiated."""
        for node in self.nodes[1:]:
            yield Candidate("not-differentiated", partial(self.with_itself, node), partial(self.says_kept, node))

    def with_itself(self, node: int, sample: Sample) -> Any:
        value = sample.values[node]
        return self.forward(sample, {node: lambda node, moved: value}) if is_number(value) else None

    def says_kept(self, node: int) -> str:
        return f"{self.formula(node)} was not differentiated: its derivative is {self.slope_of(node)}"

    def outer(self) -> Iterator[Candidate]:
        """The inner derivative alone."""
        for node in self.nodes[1:]:
            yield Candidate("outer-factor", partial(self.inner_alone, node), partial(self.says_outer, node))

    def inner_alone(self, node: int, sample: Sample) -> Any:
        view = sample.view(self.of, self.by)
        return view.tangents[node] if view.adjoints[node] != 1 else None

    def says_outer(self, node: int) -> str:
        name = self.called(node)
        outer = slope(self.graph.ids[self.of], name)
        return f"chain rule: this is only {slope(name, self.name)}; the outer factor {outer} is missing"

    def paths(self) -> Iterator[Candidate]:
        """The paths over one edge lost, where the variable reaches the output by others too."""
        for edge in self.edges:
            yield Candidate("lost-path", partial(self.without, edge), partial(self.says_path, edge))

    def without(self, edge: Edge, sample: Sample) -> Any:
        """The slope when one edge is left out; None where it is the only way."""
        found, right = self.with_edge(edge, lambda sample, rate, moved: rate * 0, sample), self.right(sample)
        if not is_number(found) or not is_number(right) or abs(found) <= abs(right) * CLOSE:
            return None
        return found

    def says_path(self, edge: Edge) -> str:
        of = self.graph.ids[self.of]
        return f"{self.name} reaches {of} in several ways, and the one {self.way(edge)} is missing"

    def signs(self) -> Iterator[Candidate]:
        """One sign turned on the way."""
        for edge in self.edges:
            gives = partial(self.with_edge, edge, lambda sample, rate, moved: -rate * moved)
            yield Candidate("sign-of-a-part", gives, partial(self.says_sign, edge))

    def says_sign(self, edge: Edge) -> str:
        return f"the sign is turned of the part that comes {self.way(edge)}"

    def in_place(self) -> Iterator[Candidate]:
        """f(g)' taken as f'(g'), f(g'), f(g)·g' or f'(g) + g'."""
        for edge in self.edges:
            moves = tuple(bool(self.moves[operand]) for operand in self.graph.operands(edge.target))
            sum_or_sign = self.row(edge.target).rules(moves)[edge.position] in ("1", "-1")  # they pass on what comes
            if sum(moves) == 1 and edge.source != self.by and not sum_or_sign:
                for code, wrong, says in IN_PLACE:
                    gives = partial(self.with_wrong, edge, wrong)
                    yield Candidate(code, gives, partial(self.says_in_place, says, edge))

    def with_wrong(self, edge: Edge, wrong: Callable[[Ways, Edge, Sample], Any], sample: Sample) -> Any:
        return self.forward(sample, {edge.target: lambda node, moved: wrong(self, edge, sample)})

    def says_in_place(self, says: str, edge: Edge) -> str:
        return f"{says}, at f(g) = {self.formula(edge.target)} with g' = {self.slope_of(edge.source)}"

    def operands_with(self, edge: Edge, sample: Sample) -> list[Any] | None:
        """The operands of a node, the tangent of one standing in its place."""
        operands = [sample.values[operand] for operand in self.graph.operands(edge.target)]
        operands[edge.position] = sample.view(self.of, self.by).tangents[edge.source]
        return operands if all(map(is_number, operands)) else None

    def prime_of_inner(self, edge: Edge, sample: Sample) -> Any:
        """f'(g')."""
        row, operands = self.row(edge.target), self.operands_with(edge, sample)
        moves = tuple(bool(self.moves[operand]) for operand in self.graph.operands(edge.target))
        rule = row.rules(moves)[edge.position]
        if operands is None or rule is None:
            return None
        out = value_at(edge.target, row, sample.kind, operands)  # a hole does no harm to a rule that does not use it
        return formula(rule, row, len(operands)).evaluate(sample.kind, operands, out)

    def outer_of_inner(self, edge: Edge, sample: Sample) -> Any:
        """f(g')."""
        operands = self.operands_with(edge, sample)
        return None if operands is None else value_at(edge.target, self.row(edge.target), sample.kind, operands)

    def outer_kept(self, edge: Edge, sample: Sample) -> Any:
        """f(g)·g'."""
        out, moved = sample.values[edge.target], sample.view(self.of, self.by).tangents[edge.source]
        return out * moved if is_number(out) and is_number(moved) else None

    def added(self, edge: Edge, sample: Sample) -> Any:
        """f'(g) + g'."""
        view = sample.view(self.of, self.by)
        rate, moved = view.partials.values[edge.place], view.tangents[edge.source]
        return rate + moved if is_number(rate) and is_number(moved) else None

    # -- what comes of a change

    def with_tangent(self, node: int, text: str, sample: Sample) -> Any:
        """The slope when one node has another tangent."""
        return self.forward(sample, {node: lambda node, moved: sample.kind.number(text)})

    def with_edge(self, edge: Edge, brings: Callable[[Sample, Any, Any], Any], sample: Sample) -> Any:
        """The slope when one edge brings something else than its partial times the tangent of its source."""
        rates = sample.view(self.of, self.by).partials.values

        def tangent(node: int, moved: list[Any]) -> Any:
            total = sample.kind.number("0")
            for one in self.graph.edges_to(node):
                rate, carried = rates[one.place], moved[one.source]
                if rate is not None and carried is not None:
                    total = total + (brings(sample, rate, carried) if one.place == edge.place else carried * rate)
            return total

        return self.forward(sample, {edge.target: tangent})

    def forward(self, sample: Sample, wrong: Mapping[int, Callable[[int, list[Any]], Any]]) -> Any:
        """The slope by forward mode when some nodes have wrong tangents; None where there is none.

        The difference to the right slope would be quicker, but loses its digits where the two are far apart.
        """
        view, graph = sample.view(self.of, self.by), self.graph
        moved, first = view.tangents[:], min(wrong)
        for node in reversed(self.nodes):
            if node < first:
                continue
            if node in wrong:
                total = wrong[node](node, moved)
            else:
                total = sample.kind.number("0")
                for edge in graph.edges_to(node):
                    rate, carried = view.partials.values[edge.place], moved[edge.source]
                    if rate is not None and carried is not None and not view.partials.exact_zero[edge.place]:
                        total = total + carried * rate
            if not is_number(total):
                return None
            moved[node] = total
        return moved[self.of]

    # -- words

    def way(self, edge: Edge) -> str:
        """An edge in words."""
        if edge.target == self.of:
            return f"through {self.formula(edge.source)}"
        start = "" if edge.source == self.by else f"from {self.formula(edge.source)} "
        return f"{start}through {self.formula(edge.target)}"

    def called(self, node: int) -> str:
        """What a node is called inside a derivative: its name, else its formula in brackets."""
        name = self.formula(node)
        return name if node in self.graph.names or name == self.graph.ids[node] else f"({name})"

    def formula(self, node: int) -> str:
        """A node in words: the name it was given, else its formula, else its id."""
        graph = self.graph
        if node in graph.names or graph.codes[node] == INPUT:
            return graph.name_of(node)
        return graph.literals[node] if graph.codes[node] == CONST else formula_text_of(graph, node) or graph.ids[node]

    def slope_of(self, node: int) -> str:
        """The derivative of a node by the variable, as a formula where it is short."""
        return derivative_of(self.graph, node, self.by) or slope(self.called(node), self.name)


IN_PLACE: tuple[tuple[str, Callable[[Ways, Edge, Sample], Any], str], ...] = (
    ("inner-in-place", Ways.prime_of_inner,
     "the inner function was differentiated in its place: f'(g)·g' is right, not f'(g')"),
    ("inner-in-place", Ways.outer_of_inner,
     "only the inner function was differentiated, in its place: f'(g)·g' is right, not f(g')"),
    ("outer-kept", Ways.outer_kept,
     "the outer function was not differentiated: f'(g)·g' is right, not f(g)·g'"),
    ("chain-added", Ways.added,
     "the factors of the chain rule are multiplied: f'(g)·g' is right, not f'(g) + g'"),
)  # fmt: skip


# -- another point, another unit ------------------------------------------------------------------------------------


def _other_points(graph: Graph, claim: Claim) -> Iterator[Candidate]:
    """The right formula at a wrong point: a sign lost, two inputs exchanged, 0 or 1 put in, angles in degrees."""

    def opposite(node: int, sample: Sample) -> Any:
        text = sample.texts[node]
        return _elsewhere(sample, claim, {node: text[1:] if text.startswith("-") else f"-{text}"})

    def exchanged(first: int, second: int, sample: Sample) -> Any:
        return _elsewhere(sample, claim, {first: sample.texts[second], second: sample.texts[first]})

    def put_in(node: int, text: str, sample: Sample) -> Any:
        return _elsewhere(sample, claim, {node: text})

    def in_degrees(sample: Sample) -> Any:
        return Sample(graph, sample.texts, sample.digits, Degrees(sample.digits)).right(claim)

    variables = graph.default_wrt()[: _most_others(graph)]
    names = {node: graph.name_of(node) for node in variables}
    for node in variables:
        says = f"this is right where {names[node]} has the opposite sign"
        yield Candidate("wrong-point", partial(opposite, node), says)
    for first, second in islice(combinations(variables, 2), _most_others(graph)):
        says = f"this is right where {names[first]} and {names[second]} are exchanged"
        yield Candidate("wrong-point", partial(exchanged, first, second), says)
    for node in variables:
        for text in ("0", "1"):
            says = f"this is right at {names[node]} = {text}"
            yield Candidate("wrong-point", partial(put_in, node, text), says)
    if any(graph.op(node) in ("sin", "cos", "tan") for node in range(len(graph))):
        yield Candidate("degrees", in_degrees, "the angles were taken in degrees; here they are in radians")


def _elsewhere(sample: Sample, claim: Claim, moved: Mapping[int, str]) -> Any:
    """What is right with other numbers at some inputs; None where they are the same numbers."""
    texts = {**sample.texts, **moved}
    return None if texts == dict(sample.texts) else Sample(sample.graph, texts, sample.digits).right(claim)


class Degrees(Digits):
    """Numbers whose angles are in degrees, as on a calculator that was set so."""

    def sin(self, x: Any) -> Any:
        return super().sin(x * self.pi / 180)

    def cos(self, x: Any) -> Any:
        return super().cos(x * self.pi / 180)

    def tan(self, x: Any) -> Any:
        return super().tan(x * self.pi / 180)


# -- helpers --------------------------------------------------------------------------------------------------------


def _most_others(graph: Graph) -> int:
    """How many other variables or points are tried: fewer on a large graph."""
    return min(MOST_OTHERS, MOST_EVALUATIONS // (4 * len(graph)))


def _negative(value: Any) -> Any:
    return -value if is_number(value) else None


def _turned(gives: Callable[[Sample], Any]) -> Callable[[Sample], Any]:
    return lambda sample: _negative(gives(sample))


def _and_sign(says: Callable[[], str]) -> str:
    return f"{says()}; and the sign is turned"


@lru_cache(maxsize=256)
def _wrong_graph(text: str, row: Row) -> Graph:
    """A wrong rule as a graph over the operands of a row, their tangents and `out`."""
    known = [*row.parameters, *(f"d{name}" for name in row.parameters), "out"]
    return build(parse(text, variables=known), known)


def formula_text_of(graph: Graph, node: int) -> str:
    """The formula of a node over the inputs and the nodes with names; "" when it is long."""
    held = [one for one in graph.names if one < node and graph.codes[one] != INPUT]
    found = closed(replace(graph, output=node), held)
    if found.size > LONGEST_FORMULA:
        return ""
    text = formula_text(tidy(found))
    return text if len(text) <= LONGEST_FORMULA else ""


def derivative_of(graph: Graph, of: int, by: int) -> str:
    """d `of` / d `by` as a formula over the inputs; "" when it is long."""
    variables = [*graph.default_wrt(), by]
    held = [one for one in dict.fromkeys(variables) if graph.codes[one] != INPUT and one != of]
    found = closed(replace(graph, output=of), held)
    if found.size > 10 * LONGEST_FORMULA:
        return ""
    text = formula_text(gradient(found, [graph.name_of(by)])[0])
    return text if len(text) <= LONGEST_FORMULA else ""

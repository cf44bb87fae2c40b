"""Working: the lines a person writes on paper, formula, numbers put in, value; for the steps of a trace and its tables.

    z = u + b = 6 + (-4) = 2
    ∂f/∂w = ∂f/∂u · ∂u/∂w = 1 · x = 1 · 2 = 2

A part that would only repeat its neighbour is left out. Text values are formulas (kind "symbol") and are put in
brackets where they need them. Arrays are put in where they are small; the names of large ones stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeVar

from backprop.figures import ALL, DEFAULT_FIGURES, UNDEFINED, Figures, elements_of, shape_of
from backprop.notation import slope
from backprop.record import Edge, Node, Step, Trace, Value, carried_name

NO_VALUE = "no value here"
NOT_TAKEN = "branch not taken"
NOT_PROVEN = "not proven"

# A sum of more terms than this shows so many at either end; every edge has a line of its own.
MOST_TERMS, TERMS_AT_ENDS = 100, 4

# How numbers are written unless something else is asked for.
USUAL = Figures()

Item = TypeVar("Item")

# An id inside a formula: a name, or a name bound again (c~2), of an opened program an element or a step on the way to
# one (z[0], z[0].1); neither the e of 1e-3 nor the name of a call, nor the word in front of a setting (axis=0).
_ID = re.compile(r"(?<![\w.])[^\W\d⁰¹²³⁴-⁹]\w*(?:~\d+)?(?:\[\d+(?:,\d+)*\](?:\.\d+)?|\.\d+)?(?:~\d+)?(?![\w(]|=(?!=))")
# without `\d+\.?\d*`, which tries every way to share a long row of digits
_NUMBER = re.compile(r"-?(?:\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|inf|NaN)")

_SLOPE = re.compile(r"∂[^\s/]+/∂[^\s/]+")
_FRACTION = re.compile(r"-?\d+/\d+")


@dataclass(frozen=True, slots=True)
class Working:
    """One line in its parts: what is worked out, then for each term the chain rule, the rules and the numbers put in.

    Terms are many where edges meet and are added. `value` is "" where there is none. `partials` are the rules alone.
    """

    left: str
    chain: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    value: str = ""
    remark: str = ""
    partials: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The parts as one line, without those that repeat the one before."""
        parts = [self.left]
        for terms in (self.chain, self.rules, self.numbers):
            text = " + ".join(terms)
            if text and text != parts[-1]:
                parts.append(text)
        if self.value and (self.value != parts[-1] or len(parts) == 1):
            parts.append(self.value)
        said = self.remark
        if not self.value and said != NOT_TAKEN:
            said = f"{NO_VALUE}; {said}" if said else NO_VALUE
        return " = ".join(parts) + (f"   ({said})" if said else "")


@dataclass(frozen=True, slots=True)
class Gap:
    """Lines that are left out of a table, and how many."""

    count: int

    @property
    def told(self) -> str:
        return f"{self.count} more"


def is_unproven(trace: Trace) -> bool:
    """Whether an answer that is not there may exist, as far as balls can tell."""
    return any(note.code == "not-proven" for note in trace.notes)


class Known:
    """What the lines of a trace need to know of its nodes beside their own: what is put in for a name, and operands."""

    def __init__(self, nodes: Iterable[Node] = (), figures: Figures = USUAL) -> None:
        self._nodes = {node.id: node for node in nodes}
        self._figures = figures
        self._read: set[str] | None = None

    def number(self, name: str) -> str | None:
        """What is put in for the id of a node; None where its name stays."""
        node = self._nodes.get(name)
        return None if node is None or node.value is None else self._figures.put_in(node.value)

    def slope(self, name: str) -> Value | None:
        """The adjoint or the tangent of a node."""
        node = self._nodes.get(name)
        return None if node is None else node.tangent if node.adjoint is None else node.adjoint

    def is_read(self, name: str) -> bool:
        """Whether a node is an operand of one that has an adjoint."""
        if self._read is None:
            self._read = {one for node in self._nodes.values() if node.adjoint is not None for one in node.args}
        return name in self._read

    def carried(self, edge: Edge, letter: str) -> str:
        """The name that stands in the pull of an edge for what is carried: no operand is called so."""
        node = self._nodes.get(edge.target)
        return carried_name(letter, () if node is None else (node.id, *node.args))


def known_of(trace: Trace, figures: Figures = USUAL) -> Known:
    """What is known of the nodes of a trace; of a large one it is looked up in its columns."""
    of_columns = getattr(trace.nodes, "known", None)
    found: Known = Known(trace.nodes, figures) if of_columns is None else of_columns(figures)
    return found


def edges_at(trace: Trace, end: str) -> Callable[[int], Sequence[Edge]]:
    """The edges that carry a derivative and have a node, told by its place, as their `end`: "source" or "target"."""
    of_columns = getattr(trace.nodes, "edges_at", None)
    if of_columns is not None:
        found: Callable[[int], Sequence[Edge]] = of_columns(end)
        return found
    by_id: dict[str, list[Edge]] = {}
    for edge in trace.edges:
        if carries(edge):
            by_id.setdefault(edge.source if end == "source" else edge.target, []).append(edge)
    return lambda place: by_id.get(trace.nodes[place].id, ())


# -- a whole trace --------------------------------------------------------------------------------------------------


def steps(found: Trace, digits: int = DEFAULT_FIGURES) -> list[Step]:
    """The lines of working of a trace in the order in which they are done, with so many significant digits."""
    figures = Figures(digits)
    known = Known(found.nodes, figures)
    moved = {node.id: node.adjoint if found.mode == "reverse" else node.tangent for node in found.nodes}
    into: dict[str, list[Edge]] = {}
    out_of: dict[str, list[Edge]] = {}
    for edge in found.edges:
        if carries(edge):
            into.setdefault(edge.target, []).append(edge)
            out_of.setdefault(edge.source, []).append(edge)

    lines: list[Step] = []
    for node in found.nodes:
        lines += forward_steps(node, known.number, figures)
        if found.mode == "forward":
            lines += tangent_steps(node, into.get(node.id, []), moved.get, found.wrt[0], figures, known)
    if found.mode == "reverse":
        for node in reversed(found.nodes):
            lines += reverse_steps(node, out_of.get(node.id, []), moved.get, found.output, figures, known)
    return lines


def forward_steps(node: Node, numbers: Callable[[str], str | None], figures: Figures = USUAL) -> Iterator[Step]:
    """The line that works out the value of a node; none for inputs, constants and branches not taken."""
    if node.formula is not None and node.taken:
        yield Step("forward", node.id, forward_line(node, numbers, figures))


def tangent_steps(
    node: Node,
    arriving: Sequence[Edge],
    moved: Callable[[str], Value | None],
    direction: str,
    figures: Figures,
    known: Known,
) -> Iterator[Step]:
    """The line that works out the tangent of a node, over the edges that carry one to it."""
    if node.formula is not None and node.taken and node.tangent is not None:
        yield Step("tangent", node.id, tangent_line(node, arriving, moved, direction, figures, known))


def reverse_steps(
    node: Node,
    leaving: Sequence[Edge],
    moved: Callable[[str], Value | None],
    output: str,
    figures: Figures,
    known: Known,
) -> Iterator[Step]:
    """The lines that work out the adjoint of a node: what each edge that carries one back brings, and their sum."""
    if node.adjoint is None and not leaving:
        return
    if len(leaving) == 1:
        edge = leaving[0]
        text = reverse_line(node, leaving, moved, output, figures, known)
        yield Step("reverse", node.id, text, (edge.source, edge.target, edge.key))
        return
    doubled = parallel(leaving)
    for edge in leaving:
        text = edge_line(edge, moved(edge.target), output, figures, _key(edge) in doubled, known)
        yield Step("reverse", node.id, text, (edge.source, edge.target, edge.key))
    if node.taken:
        yield Step("reverse", node.id, reverse_line(node, leaving, moved, output, figures, known))


# -- values: inputs first -------------------------------------------------------------------------------------------


def forward_line(node: Node, numbers: Callable[[str], str | None], figures: Figures = USUAL) -> str:
    """How the value of a node is worked out. `numbers` gives the number at an id as text, None where there is none.

    >>> forward_line(Node("z", "add", ("u", "b"), "u + b", value=2.0), {"u": "6", "b": "-4"}.get)
    'z = u + b = 6 + (-4) = 2'
    """
    return forward_working(node, numbers, figures).line


def forward_working(node: Node, numbers: Callable[[str], str | None], figures: Figures = USUAL) -> Working:
    """`forward_line` in its parts: the formula stands under `rules`."""
    value = NOT_PROVEN if node.value is None and not node.proven else figures(node.value)
    remark = "" if node.taken else NOT_TAKEN
    if not node.formula:
        return Working(node.id, value=value, remark=remark)
    put_in = (put_numbers_in(node.formula, numbers),) if node.taken else ()
    return Working(node.id, rules=(node.formula,), numbers=put_in, value=value, remark=remark)


def put_numbers_in(formula: str, numbers: Callable[[str], str | None]) -> str:
    """A formula with the numbers in place of the ids, in brackets where they need them; the rest stays as it is.

    >>> put_numbers_in("e*y^2 + 1e-3", {"e": "-1", "y": "-3"}.get), put_numbers_in("max(max, 0)", {"max": "-4"}.get)
    ('-1*(-3)^2 + 1e-3', 'max(-4, 0)')
    >>> put_numbers_in("x*y", {"x": "a + b", "y": "c"}.get)
    '(a + b)*c'
    """

    def number(found: re.Match[str]) -> str:
        text = numbers(found[0])
        if text is None:
            # x[0] may be an operation on x as well
            name, mark, rest = found[0].partition("[")
            whole = numbers(name) if mark else None
            if whole is None:
                return found[0]
            bare = _is_atom(whole) and not _SLOPE.fullmatch(whole)
            return f"{whole if bare else f'({whole})'}[{rest}"
        before, after = formula[: found.start()].rstrip(), formula[found.end() :].lstrip()
        alone = (not before or before[-1] in "([,") and (not after or after[0] in ")],")
        if after[:1] in ("[", ".") and _SLOPE.fullmatch(text):
            return f"({text})"
        if alone or _is_atom(text):
            return text
        if (not before or before[-1] in "+-") and (not after or after[0] in "+-") and _is_term(text):
            return text
        if not before and not after.startswith(("^", "!")) and _NUMBER.fullmatch(text):
            return text  # a minus at the very start needs no brackets
        if not before and after[:1] in ("+", "-") and _FRACTION.fullmatch(text):
            return text  # nor does one of a fraction that begins a sum
        return f"({text})"

    return _ID.sub(number, formula)


# -- adjoints: output first -----------------------------------------------------------------------------------------


def reverse_line(
    node: Node,
    edges: Sequence[Edge],
    adjoint_of: Callable[[str], Value | None],
    output: str,
    figures: Figures = USUAL,
    known: Known | None = None,
) -> str:
    """How the adjoint of a node is gathered over `edges`, the edges that leave it; `adjoint_of` is asked for targets.

    Between arrays what an edge brings may be no product; then numbers are put in as far as they are `known`.

    >>> edges = [Edge("b", "c", 1, 1.0, "1", 2.0), Edge("b", "d", 0, 1.0, "1", 3.0)]
    >>> reverse_line(Node("b", "input", adjoint=5.0), edges, {"c": 2.0, "d": 3.0}.get, "e")
    '∂e/∂b = ∂e/∂c · ∂c/∂b + ∂e/∂d · ∂d/∂b = 2 · 1 + 3 · 1 = 5   (two edges meet here: add)'
    """
    return reverse_working(node, edges, adjoint_of, output, figures, known).line


def reverse_working(
    node: Node,
    edges: Sequence[Edge],
    adjoint_of: Callable[[str], Value | None],
    output: str,
    figures: Figures = USUAL,
    known: Known | None = None,
) -> Working:
    """`reverse_line` in its parts, one term for each edge."""
    left, value = slope(output, node.id), figures(node.adjoint)
    if node.adjoint is None and not node.proven:
        value = NOT_PROVEN
    if not node.taken:
        return Working(left, value=value or "0", remark=NOT_TAKEN)
    found = [(adjoint_of(edge.target), edge) for edge in edges if carries(edge)]
    terms = [term for term in found if term[0] is not None and _brings(term[1])]
    if node.adjoint is None and found:
        terms = found  # the one without a value must be seen
    edges = [edge for _, edge in terms]
    if not edges:
        remark = "" if node.id == output else f"{output} does not depend on {node.id}"
        if remark and known is not None and known.is_read(node.id):
            remark = f"no derivative passes through {node.id}"  # as class numbers
        return Working(left, value=value, remark=remark)
    doubled, shown = parallel(edges), terms if figures.most == ALL else shortened(terms)
    back = [_Brought(edge, adjoint, slope(output, edge.target), "g", known) for adjoint, edge in shown]
    more = len(terms) - len(shown)
    return Working(
        left,
        chain=with_gap(
            [
                one.chain(f"{slope(output, one.edge.target)} · {edge_name(one.edge, _key(one.edge) in doubled)}")
                for one in back
            ],
            more,
        ),
        rules=with_gap([brought.rule(figures, i == 0) for i, brought in enumerate(back)], more),
        numbers=with_gap([brought.numbers(figures, i == 0) for i, brought in enumerate(back)], more),
        value=value,
        remark=meeting(node.id, [edge.target for edge in edges], [edge.key for edge in edges]) or back[0].added_up(),
        partials=with_gap([brought.partial(figures) for brought in back], more),
    )


def edge_line(
    edge: Edge,
    adjoint: Value | None,
    output: str,
    figures: Figures = USUAL,
    parallel: bool = False,
    known: Known | None = None,
) -> str:
    """What one edge brings to its source: the adjoint of its target times its partial.

    `parallel` names the operand too, for when several edges join the same two nodes.

    >>> edge_line(Edge("x", "v1", 0, -1.0, "y", -3.0), 3.0, "f")
    '∂f/∂v1 · ∂v1/∂x = 3 · y = 3 · (-1) = -3'
    """
    back = _Brought(edge, adjoint, slope(output, edge.target), "g", known)
    return Working(
        f"{slope(output, edge.target)} · {edge_name(edge, parallel)}",
        rules=(back.rule(figures, True),),
        numbers=(back.numbers(figures, True),),
        value=figures(edge.contribution),
    ).line


# -- tangents: inputs first -----------------------------------------------------------------------------------------


def tangent_line(
    node: Node,
    edges_in: Sequence[Edge],
    tangent_of: Callable[[str], Value | None],
    direction: str,
    figures: Figures = USUAL,
    known: Known | None = None,
) -> str:
    """How a node moves with the input `direction`, over `edges_in`, the edges that end at it.

    >>> edges = [Edge("c", "e", 0, 2.0, "d"), Edge("d", "e", 1, 3.0, "c")]
    >>> tangent_line(Node("e", "mul", tangent=5.0), edges, {"c": 1.0, "d": 1.0}.get, "b")
    '∂e/∂b = ∂e/∂c · ∂c/∂b + ∂e/∂d · ∂d/∂b = d · 1 + c · 1 = 2 · 1 + 3 · 1 = 5'
    """
    return tangent_working(node, edges_in, tangent_of, direction, figures, known).line


def tangent_working(
    node: Node,
    edges_in: Sequence[Edge],
    tangent_of: Callable[[str], Value | None],
    direction: str,
    figures: Figures = USUAL,
    known: Known | None = None,
) -> Working:
    """`tangent_line` in its parts. Edges from nodes that do not move bring nothing and are left out."""
    left, value = slope(node.id, direction), figures(node.tangent)
    if node.tangent is None and not node.proven:
        value = NOT_PROVEN
    if not node.taken:
        return Working(left, value=value or "0", remark=NOT_TAKEN)
    found = [(edge, tangent_of(edge.source)) for edge in edges_in if carries(edge)]
    terms = [term for term in found if _brings(term[0]) and not _is_still(term[1])]
    if node.tangent is None and found:
        terms = found  # the one without a value must be seen
    if not terms:
        moves = node.id == direction or not _is_still(node.tangent)
        remark = "" if moves else f"{node.id} does not move with {direction}"
        return Working(left, value=value or "0", remark=remark)
    doubled = parallel([edge for edge, _ in terms])
    on = [_Brought(edge, tangent, slope(edge.source, direction), "t", known) for edge, tangent in terms]
    return Working(
        left,
        chain=tuple(
            brought.chain(f"{edge_name(e, _key(e) in doubled)} · {slope(e.source, direction)}")
            for brought, (e, _) in zip(on, terms, strict=True)
        ),
        rules=tuple(brought.rule(figures, i == 0) for i, brought in enumerate(on)),
        numbers=tuple(brought.numbers(figures, i == 0) for i, brought in enumerate(on)),
        value=value,
        partials=tuple(brought.partial(figures) for brought in on),
    )


def carried_along(edge: Edge, output: str, direction: str | None, known: Known) -> str:
    """The pull of an edge with what it carries by its name: `outer(∂L/∂z, x)`; with a direction, the tangent on."""
    if direction is None:
        return _Brought(edge, None, slope(output, edge.target), "g", known).partial(USUAL)
    return _Brought(edge, None, slope(edge.source, direction), "t", known).partial(USUAL)


# -- the pieces -----------------------------------------------------------------------------------------------------


def edge_name(edge: Edge, parallel: bool = False) -> str:
    """The partial on an edge, as it is written; `x*x` has two, told apart by the number of the operand."""
    return slope(edge.target, edge.source) + (f" #{edge.key + 1}" if parallel else "")


def parallel(edges: Iterable[Edge]) -> set[tuple[str, str]]:
    """The pairs of nodes that more than one edge joins."""
    once: set[tuple[str, str]] = set()
    twice: set[tuple[str, str]] = set()
    for edge in edges:
        (twice if _key(edge) in once else once).add(_key(edge))
    return twice


def carries(edge: Edge) -> bool:
    """Whether a derivative passes along an edge: those to constants and conditions carry none."""
    return edge.formula is not None or _brings(edge)


def _brings(edge: Edge) -> bool:
    """Whether an edge brings something: it has a partial, or between arrays a pull."""
    return edge.partial is not None or edge.pull is not None


def _is_still(tangent: Value | None) -> bool:
    """Whether a node does not move."""
    return tangent is None or (not isinstance(tangent, dict) and all(one in (0, "0") for one in elements_of(tangent)))


def _key(edge: Edge) -> tuple[str, str]:
    return edge.source, edge.target


_COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def meeting(node: str, targets: Sequence[str], keys: Sequence[int]) -> str:
    """Why there is a sum: the edges to `targets`, as their operands `keys`, meet at a node."""
    count = len(targets)
    if count < 2:
        return ""
    word = _COUNTS[count] if count < len(_COUNTS) else str(count)
    if all(target == targets[0] for target in targets):
        places = ", ".join(str(key + 1) for key in keys[:-1])
        return f"{node} is operand {places} and {keys[-1] + 1} of {targets[0]}: add"
    return f"{word} edges meet here: add"


def shortened(terms: Sequence[Item]) -> Sequence[Item]:
    """The terms of a sum that are shown: all, or of very many the first and the last."""
    return terms if len(terms) <= MOST_TERMS else [*terms[:TERMS_AT_ENDS], *terms[-TERMS_AT_ENDS:]]


def with_gap(texts: Sequence[str], more: int) -> tuple[str, ...]:
    """The terms that are shown, and in the middle how many are not.

    >>> with_gap(["a", "b", "c", "d", "e", "f", "g", "h"], 92)
    ('a', 'b', 'c', 'd', '… 92 more …', 'e', 'f', 'g', 'h')
    """
    return (*texts[:TERMS_AT_ENDS], f"… {more} more …", *texts[TERMS_AT_ENDS:]) if more else tuple(texts)


@dataclass(frozen=True, slots=True)
class _Brought:
    """What one edge brings: what is `carried` over it, the adjoint called `name` back or the tangent on.

    A product with the partial, element by element; else (a matrix, a sum over copies) what its pull says, in which
    `letter` stands for what is carried.
    """

    edge: Edge
    carried: Value | None
    name: str
    letter: str
    known: Known | None

    @property
    def is_pulled(self) -> bool:
        """Whether it is told by the pull."""
        edge = self.edge
        if edge.pull is None or edge.partial is None:
            return edge.pull is not None
        if edge.formula in ("1", "-1") and isinstance(self.carried, list):
            return True  # nothing but the adjoint itself
        shape = shape_of(edge.partial)
        return shape != shape_of(edge.contribution) or shape_of(self.carried) not in ((), shape)

    def chain(self, product: str) -> str:
        """The chain rule: a product of slopes, or of matrices where the partial is none that could be written."""
        matrices = in_matrices(self.pulled(self.name, None)) if self.edge.partial is None else ""
        return matrices or product

    def pulled(self, carried: str, known: Known | None) -> str:
        """The pull with what is carried put in, and with numbers for names as far as they are known."""
        letter = self.letter if self.known is None else self.known.carried(self.edge, self.letter)

        def put_in(name: str) -> str | None:
            return carried if name == letter else None if known is None else known.number(name)

        return put_numbers_in(self.edge.pull or "", put_in)

    def added_up(self) -> str:
        """What the adjoint is added up over on its way back: the copies of an operand that was broadcast, a batch."""
        edge, carried, ends = self.edge, shape_of(self.carried), shape_of(self.edge.contribution)
        if carried and shape_of(edge.partial) == carried != ends:
            kept = (*(1 for _ in carried[len(ends) :]), *ends)
            copies = [(size, axis) for axis, size in enumerate(carried) if size != kept[axis]]
            times = " and ".join(f"{size} times" + (f" along axis {axis}" if ends else "") for size, axis in copies)
            if not ends:
                times = f"{prod(carried)} times"
            return f"{edge.source} was repeated {times}: add" if copies else ""
        rows, transposed, right = self.pulled("g", None).rpartition(".T @ g")
        if transposed and not right and len(carried) == 2 and _FACTOR.fullmatch(rows):
            return f"adds up over the {carried[0]} rows of {rows}"
        return ""

    def partial(self, figures: Figures) -> str:
        """The rule alone."""
        return self.pulled(self.name, None) if self.is_pulled else _rule(self.edge, figures)

    def rule(self, figures: Figures, first: bool) -> str:
        """The rule, times the number that is carried."""
        if self.is_pulled:
            return self.pulled(self.name, None)
        return self._product(figures, _rule(self.edge, figures), first)

    def numbers(self, figures: Figures, first: bool) -> str:
        """The same with the numbers put in."""
        if self.is_pulled:
            return self.pulled(figures.put_in(self.carried) or self.name, self.known)
        edge, rule = self.edge, _rule(self.edge, figures)
        if isinstance(self.carried, list) and _NUMBER.fullmatch(rule):
            return self._product(figures, rule, first)  # times 1, not times [1, 1, 1]
        partial = figures.put_in(edge.partial) if edge.proven else NOT_PROVEN
        return self._product(figures, rule if partial is None else partial, first)

    def _product(self, figures: Figures, partial: str, first: bool) -> str:
        carried = figures.put_in(self.carried)
        carried = self.name if carried is None else carried
        factors = (carried, partial) if self.letter == "g" else (partial, carried)
        return _product(*factors, first, isinstance(self.carried, list) and isinstance(self.edge.partial, list))


def in_matrices(pull: str) -> str:
    """A pull that is a product of matrices as it is written on paper; "" for another.

    >>> in_matrices("outer(∂L/∂z, x)"), in_matrices("W.T @ ∂L/∂z"), in_matrices("softmax(x)")
    ('∂L/∂z xᵀ', 'Wᵀ ∂L/∂z', '')
    >>> in_matrices("outer(p, ∂L/∂y)")
    'p (∂L/∂y)ᵀ'
    """
    outer = _OUTER.fullmatch(pull)
    factors = [outer[1], f"{outer[2]}.T"] if outer else pull.split(" @ ")
    if len(factors) < 2 or not all(map(_FACTOR.fullmatch, factors)):
        return ""
    bracketed = (f"({one[:-2]}).T" if one.startswith("∂") and one.endswith(".T") else one for one in factors)
    return " ".join(bracketed).replace(".T", "ᵀ")


_OUTER = re.compile(r"outer\(([^,]+), ([^,]+)\)")
_FACTOR = re.compile(r"(?:[^\W\d]\w*(?:~\d+)?|\(?∂[^\s/]+/∂[^\s/()]+\)?)(?:\.T)?")


def _rule(edge: Edge, figures: Figures) -> str:
    return edge.formula if edge.formula else figures(edge.partial)


def _product(left: str, right: str, first: bool, arrays: bool = False) -> str:
    """Two factors, `left · right`; at the start of a line a minus needs no brackets. One that is missing says so.

    Two `arrays` are multiplied element by element, `left ⊙ right`.
    """
    left, right = left or UNDEFINED, right or UNDEFINED
    if not (first and _NUMBER.fullmatch(left)):
        left = factor(left)
    return f"{left} {'⊙' if arrays else '·'} {factor(right)}"


def factor(text: str) -> str:
    """A text as a factor: sums, quotients and negative ones in brackets, products and powers as they are."""
    if text.startswith("-"):
        return f"({text})"
    if _NUMBER.fullmatch(text) or _SLOPE.fullmatch(text):
        return text
    return f"({text})" if any(sign in "+-±/%<>=@" or sign.isalpha() for sign in _outside(text)) else text


def _is_atom(text: str) -> bool:
    """Whether a text holds together next to any sign: a positive number, a name, a call."""
    whole = _NUMBER.fullmatch(text) or _SLOPE.fullmatch(text)
    return not text.startswith("-") and (bool(whole) or not _outside(text))


def _is_term(text: str) -> bool:
    """Whether a text can stand in a sum without brackets: a product or a power."""
    return not text.startswith("-") and all(sign in "*/^!" for sign in _outside(text))


_WORDS = re.compile(r"\b(?:if|else|and|or|not)\b")
_OPERAND = re.compile(r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|[^\W\d]\w*(?:~\d+)?")


def _outside(text: str) -> list[str]:
    """The signs and words of a formula that stand outside all brackets.

    >>> _outside("1 - tanh(x + 1)^2"), _outside("a if c else b")
    (['-', '^'], ['if', 'else'])
    >>> _outside("[1, -2]")
    []
    """
    depth, bare = 0, []
    for letter in text:
        depth -= letter in ")]"
        if depth == 0 and letter not in "()[]":
            bare.append(letter)
        depth += letter in "(["
    flat = "".join(bare)
    words = _WORDS.findall(flat)
    signs = _OPERAND.sub("", _WORDS.sub("", flat))
    return [*(sign for sign in signs if not sign.isspace() and sign != ","), *words]

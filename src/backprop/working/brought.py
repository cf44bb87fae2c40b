"""What an edge brings: the adjoint of its target times its partial, or between arrays what its pull says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeVar

from backprop.figures import Figures, elements_of, shape_of
from backprop.notation import slope
from backprop.record import Edge, Node, Trace, Value, carried_name
from backprop.working.formula_texts import FACTOR, NUMBER, in_matrices, product, put_numbers_in

NOT_PROVEN = "not proven"
# A sum of more terms than this shows so many at either end; every edge has a line of its own.
MOST_TERMS, TERMS_AT_ENDS = 100, 4
# How numbers are written unless something else is asked for.
USUAL = Figures()
Item = TypeVar("Item")


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


def carried_along(edge: Edge, output: str, direction: str | None, known: Known) -> str:
    """The pull of an edge with what it carries by its name: `outer(∂L/∂z, x)`; with a direction, the tangent on."""
    if direction is None:
        return Brought(edge, None, slope(output, edge.target), "g", known).partial(USUAL)
    return Brought(edge, None, slope(edge.source, direction), "t", known).partial(USUAL)


def edge_name(edge: Edge, parallel: bool = False) -> str:
    """The partial on an edge, as it is written; `x*x` has two, told apart by the number of the operand."""
    return slope(edge.target, edge.source) + (f" #{edge.key + 1}" if parallel else "")


def parallel(edges: Iterable[Edge]) -> set[tuple[str, str]]:
    """The pairs of nodes that more than one edge joins."""
    once: set[tuple[str, str]] = set()
    twice: set[tuple[str, str]] = set()
    for edge in edges:
        (twice if ends(edge) in once else once).add(ends(edge))
    return twice


def carries(edge: Edge) -> bool:
    """Whether a derivative passes along an edge: those to constants and conditions carry none."""
    return edge.formula is not None or brings(edge)


def brings(edge: Edge) -> bool:
    """Whether an edge brings something: it has a partial, or between arrays a pull."""
    return edge.partial is not None or edge.pull is not None


def is_still(tangent: Value | None) -> bool:
    """Whether a node does not move."""
    return tangent is None or (not isinstance(tangent, dict) and all(one in (0, "0") for one in elements_of(tangent)))


def ends(edge: Edge) -> tuple[str, str]:
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
class Brought:
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
        if transposed and not right and len(carried) == 2 and FACTOR.fullmatch(rows):
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
        if isinstance(self.carried, list) and NUMBER.fullmatch(rule):
            return self._product(figures, rule, first)  # times 1, not times [1, 1, 1]
        partial = figures.put_in(edge.partial) if edge.proven else NOT_PROVEN
        return self._product(figures, rule if partial is None else partial, first)

    def _product(self, figures: Figures, partial: str, first: bool) -> str:
        carried = figures.put_in(self.carried)
        carried = self.name if carried is None else carried
        factors = (carried, partial) if self.letter == "g" else (partial, carried)
        return product(*factors, first, isinstance(self.carried, list) and isinstance(self.edge.partial, list))


def _rule(edge: Edge, figures: Figures) -> str:
    return edge.formula if edge.formula else figures(edge.partial)

"""Working: the lines a person writes on paper, formula, numbers put in, value; for the steps of a trace and its tables.

    z = u + b = 6 + (-4) = 2
    ∂f/∂w = ∂f/∂u · ∂u/∂w = 1 · x = 1 · 2 = 2

A part that would only repeat its neighbour is left out. Text values are formulas (kind "symbol") and are put in
brackets where they need them. Arrays are put in where they are small; the names of large ones stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from backprop.figures import ALL, DEFAULT_FIGURES, Figures
from backprop.notation import slope
from backprop.record import Edge, Node, Step, Trace, Value
from backprop.working.brought import (
    NOT_PROVEN,
    USUAL,
    Brought,
    Known,
    brings,
    carries,
    edge_name,
    ends,
    is_still,
    meeting,
    parallel,
    shortened,
    with_gap,
)
from backprop.working.formula_texts import put_numbers_in

NO_VALUE = "no value here"
NOT_TAKEN = "branch not taken"


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
        text = edge_line(edge, moved(edge.target), output, figures, ends(edge) in doubled, known)
        yield Step("reverse", node.id, text, (edge.source, edge.target, edge.key))
    if node.taken:
        yield Step("reverse", node.id, reverse_line(node, leaving, moved, output, figures, known))


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
    terms = [term for term in found if term[0] is not None and brings(term[1])]
    if node.adjoint is None and found:
        terms = found  # the one without a value must be seen
    edges = [edge for _, edge in terms]
    if not edges:
        remark = "" if node.id == output else f"{output} does not depend on {node.id}"
        if remark and known is not None and known.is_read(node.id):
            remark = f"no derivative passes through {node.id}"  # as class numbers
        return Working(left, value=value, remark=remark)
    doubled, shown = parallel(edges), terms if figures.most == ALL else shortened(terms)
    back = [Brought(edge, adjoint, slope(output, edge.target), "g", known) for adjoint, edge in shown]
    more = len(terms) - len(shown)
    return Working(
        left,
        chain=with_gap(
            [
                one.chain(f"{slope(output, one.edge.target)} · {edge_name(one.edge, ends(one.edge) in doubled)}")
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
    back = Brought(edge, adjoint, slope(output, edge.target), "g", known)
    return Working(
        f"{slope(output, edge.target)} · {edge_name(edge, parallel)}",
        rules=(back.rule(figures, True),),
        numbers=(back.numbers(figures, True),),
        value=figures(edge.contribution),
    ).line


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
    terms = [term for term in found if brings(term[0]) and not is_still(term[1])]
    if node.tangent is None and found:
        terms = found  # the one without a value must be seen
    if not terms:
        moves = node.id == direction or not is_still(node.tangent)
        remark = "" if moves else f"{node.id} does not move with {direction}"
        return Working(left, value=value or "0", remark=remark)
    doubled = parallel([edge for edge, _ in terms])
    on = [Brought(edge, tangent, slope(edge.source, direction), "t", known) for edge, tangent in terms]
    return Working(
        left,
        chain=tuple(
            brought.chain(f"{edge_name(e, ends(e) in doubled)} · {slope(e.source, direction)}")
            for brought, (e, _) in zip(on, terms, strict=True)
        ),
        rules=tuple(brought.rule(figures, i == 0) for i, brought in enumerate(on)),
        numbers=tuple(brought.numbers(figures, i == 0) for i, brought in enumerate(on)),
        value=value,
        partials=tuple(brought.partial(figures) for brought in on),
    )

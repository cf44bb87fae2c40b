"""From a program and its inputs to the finished Trace: the flow of the whole program, in its order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backprop import point as points
from backprop.figures import DEFAULT_FIGURES
from backprop.graph import CONST, Graph
from backprop.kinds import Hole
from backprop.mistakes import Mistake
from backprop.notes import notes, reading_notes
from backprop.point import Number, Point, Program
from backprop.record import Edge, Node, Note, Trace, Value
from backprop.syntax import canonical

# Beyond so many nodes the gradient is not written out as one formula; it could not be read anyway.
LARGEST_FORMULA = 400


class OneDirection(Mistake):
    """`--mode forward` without one variable to move."""

    code = "one-direction"
    title = "forward mode moves one input"

    def __init__(self, names: list[str]) -> None:
        super().__init__(
            "forward mode tells how every node moves with one input",
            f"Say which: --wrt {names[0] if names else 'x'}   (there are: {', '.join(names) or 'no inputs'})",
        )


def trace(
    program: str | Program,
    inputs: Mapping[str, Number],
    *,
    wrt: Sequence[str] | None = None,
    mode: str = "reverse",
    check: bool = True,
    symbolic: bool = False,
    figures: int = DEFAULT_FIGURES,
) -> Trace:
    """The Trace of a program at a point; see `backprop.trace`."""
    if isinstance(program, str):
        program = Program(program)
    if symbolic:
        return _assemble(_symbolic(program, inputs, wrt), mode, figures, symbolic=True)
    here = points.at(program, inputs, wrt)
    if not check:
        return _assemble(here, mode, figures)
    from backprop.witnesses import start

    running = start(here)
    found = _assemble(here, mode, figures)
    witnesses, more = running.finish()
    found.witnesses.extend(witnesses)
    found.notes = _merged(found.notes, more)
    return found


def _merged(notes: list[Note], more: list[Note]) -> list[Note]:
    """All notes; where the witnesses say more of the same thing at the same node, their word stands."""
    told = {(note.code, note.node): note for note in more}
    kept = [told.pop((note.code, note.node), note) for note in notes]
    return kept + [note for note in more if (note.code, note.node) in told]


def _symbolic(program: Program, inputs: Mapping[str, Number], wrt: Sequence[str] | None) -> Point:
    """The program with every input standing for itself."""
    from backprop.derivatives import slopes
    from backprop.kinds.symbol import SYMBOL
    from backprop.values import values

    syntax, graph = program.read(program.spelled(inputs))
    nodes = points.resolve(graph, wrt)
    moving = graph.moving(nodes)
    # each operation over the ids of its operands: that is the step a reader follows
    known = values(graph, SYMBOL, {node: SYMBOL.symbol(name) for name, node in graph.inputs.items()})
    return Point(syntax, graph, SYMBOL, {}, [], nodes, moving, known, slopes(graph, known, moving))


def _assemble(point: Point, mode: str, figures: int, symbolic: bool = False) -> Trace:
    graph, ids = point.graph, point.graph.ids
    names = [point.name_of(node) for node in point.wrt]
    if mode == "forward":
        if len(point.wrt) != 1:
            raise OneDirection(names)
        tangents = point.tangents({point.wrt[0]: point.kind.number("1")})
        slope = tangents[graph.output]
        gradient = {names[0]: point.kind.number("0") if slope is None else slope}
        adjoints: list[Any] = [None] * len(graph)
        contributions = _forward_contributions(point, tangents)
    else:
        tangents = [None] * len(graph)
        gradient = point.gradient()
        adjoints, contributions = point.reverse().adjoints, point.reverse().contributions
    found = Trace(
        program=point.syntax.source,
        canonical=canonical(point.syntax),
        kind=point.kind.name,
        mode=mode,
        inputs=_present({name: point.values[graph.inputs[name]] for name in point.given}),
        params=list(graph.params),
        output=ids[graph.output],
        value=plain(point.value()),
        wrt=names,
        gradient=_present(gradient),
        formulas={} if symbolic else _formulas(point),
        nodes=_nodes(point, mode, tangents, adjoints),
        edges=_edges(point, contributions),
        figures=figures,
    )
    found.notes = list(reading_notes(point)) if symbolic else notes(point)
    return found


def plain(value: Any) -> Value | None:
    """A value as a Trace holds it: a hole is absent, a formula is text."""
    if value is None or isinstance(value, Hole):
        return None
    if isinstance(value, (float, bool, str)):
        return value
    return float(value) if isinstance(value, int) else str(value)


def _present(values: Mapping[str, Any]) -> dict[str, Value]:
    """Values by name, without those that there are none of."""
    return {name: value for name, found in values.items() if (value := plain(found)) is not None}


def _nodes(point: Point, mode: str, tangents: list[Any], adjoints: list[Any]) -> list[Node]:
    graph, ids = point.graph, point.graph.ids
    zero = plain(point.kind.number("0"))
    lost = isinstance(point.value(), Hole)  # with no value at the end there is nothing to differentiate
    made: list[Node] = []
    for node, code in enumerate(graph.codes):
        moved = adjoints[node] if mode == "reverse" else tangents[node]
        slope = zero if moved is None else plain(moved)
        known = point.moving[node] and not lost
        made.append(
            Node(
                id=ids[node],
                op=graph.op(node),
                args=tuple(ids[operand] for operand in graph.operands(node)),
                formula=graph.formula(node) or None,
                span=graph.span(node) if graph.ends[node] else None,
                value=plain(point.values[node]),
                tangent=slope if known and mode == "forward" else None,
                adjoint=slope if known and mode == "reverse" else None,
                taken=code == CONST or point.values[node] is not None,
            )
        )
    return made


def _edges(point: Point, contributions: list[Any]) -> list[Edge]:
    from backprop.kinds.symbol import label

    graph, ids, slopes = point.graph, point.graph.ids, point.partials
    zero = plain(point.kind.number("0"))
    made: list[Edge] = []
    for node in range(len(graph)):
        row = graph.row(node)
        if row is None:
            continue
        sources = graph.operands(node)
        moves = tuple(bool(point.moving[source]) for source in sources)
        texts = row.rules(moves) if point.moving[node] else ()
        for edge in graph.edges_to(node):
            source, index = edge.source, edge.place
            made.append(made_edge := Edge(ids[source], ids[node], edge.position))
            rule = texts[edge.position] if texts and moves[edge.position] else None
            if rule is None:
                continue
            made_edge.formula = label(rule, row, [graph.written_id(one)[0] for one in sources], ids[node])
            made_edge.partial = plain(slopes.values[index])
            brought = contributions[index]
            made_edge.contribution = plain(brought)
            if brought is None and made_edge.partial is not None:
                made_edge.contribution = zero  # of a branch not taken: nothing comes through
    return made


def _forward_contributions(point: Point, tangents: list[Any]) -> list[Any]:
    """In forward mode an edge brings the tangent of its source times its partial."""
    from backprop.forward import contribution

    graph, slopes = point.graph, point.partials
    brought: list[Any] = [None] * len(graph.args)
    for node in range(len(graph)):
        for edge in graph.edges_to(node):
            tangent, partial = tangents[edge.source], slopes.values[edge.place]
            if tangent is not None and partial is not None and not slopes.exact_zero[edge.place]:
                brought[edge.place] = contribution(point.kind, tangent, partial, node, edge.position)
    return brought


def _formulas(point: Point) -> dict[str, str]:
    """The gradient as formulas of the inputs, where they are short enough to be read."""
    graph: Graph = point.graph
    if len(graph) > LARGEST_FORMULA:
        return {}
    from backprop.derivatives import gradient_formulas

    return gradient_formulas(graph, point.wrt)

"""From a program and its inputs to the finished Trace: the flow of the whole program, in its order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from backprop import kinds, progress
from backprop import point as points
from backprop.beside.one_sided import tell_sides
from backprop.columnar import Columns, Edges, Nodes, is_large
from backprop.figures import elements_of
from backprop.forward import tangents as moved
from backprop.graph import INPUT, Graph
from backprop.kinds import MINIMUM_NORM, Hole, Kind, plain
from backprop.kinds.real import Real
from backprop.mistakes import Apart, ArraysInFormulas, OneDirection, TooManyDerivatives
from backprop.notation import slope
from backprop.notes import notes, reading_notes
from backprop.point import Number, Point, Program
from backprop.record import Birth, Edge, Node, Note, Trace, Value, Witness
from backprop.refusals import refuse
from backprop.syntax import canonical

if TYPE_CHECKING:
    from backprop.array_point import ArrayPoint

# The witness that tells what the doubles are worth, whatever answers.
ROUNDING = "rounding"

# Beyond so many nodes the gradient is not written out as one formula; it could not be read anyway.
LARGEST_FORMULA = 400
# A formula of more parts than this stands in others by the name of its node, so that a trace in formulas is not longer
# than the square of its nodes; and beyond so many nodes nobody reads it.
LONGEST_PART = 40
MOST_NODES_IN_FORMULAS = 3_000


def trace(
    program: str | Program,
    inputs: Mapping[str, Number],
    *,
    wrt: Sequence[str] | None = None,
    mode: str = "reverse",
    check: bool = True,
    symbolic: bool = False,
    figures: int | None = None,
    kind: str | Kind = "real",
    limit: int | None = None,
    undefined: str = "explain",
    convention: str = MINIMUM_NORM,
    rounding: bool = False,
    opened: Sequence[str] | None = None,
    wait: bool = True,
) -> Trace:
    """The Trace of a program at a point; see `backprop.trace`.

    Without `wait` the witnesses may still be at work: `Trace.settle` waits for what they say.
    """
    if isinstance(program, str):
        program = Program(program)
    kind = kinds.by_name(kind, limit)
    kind = _under(kind, undefined, convention, symbolic)
    if symbolic and kind.name != "real":
        raise Apart(["--symbolic", f"--kind {kind.name}"], "Formulas hold no numbers, of whatever kind.")
    figures = kind.figures if figures is None else figures
    if rounding:
        _refuse_rounding(kind, symbolic)
    if symbolic:
        here, names = _symbolic(program, inputs, wrt, mode, opened)
        return _assemble(here, mode, figures, opened, names)
    here = points.at(program, inputs, wrt, kind, convention, opened)
    refuse(here)
    vector = _of_arrays(here) if here.kind.shape(here.value()) else None
    if not check or vector is not None:
        found = _assemble(here, mode, figures, opened)
        if check and vector is not None:
            found.witnesses.append(_of_tangents(vector))
        if rounding:
            _tell_rounding(here, found)
        return found
    if kind.propagates and (spread := _assemble(here, mode, figures, opened)).birth is not None:
        return spread  # there is nothing to hold a NaN against
    from backprop.witnesses import start

    running = start(here)
    found = _assemble(here, mode, figures, opened)

    def judge(found: Trace) -> None:
        progress.phase("checking")
        witnesses, more = running.finish()
        # what doubles are worth is told when it is little, or asked for
        found.witnesses.extend(one for one in witnesses if one.by != ROUNDING or one.verdict == "inaccurate")
        if rounding:
            _tell_rounding(here, found)
        found.notes = merged(found.notes, more)

    found.verdicts = judge
    if wait or rounding:  # the digits stand beside the values
        found.settle()
    return found


def _under(kind: Kind, undefined: str, convention: str, symbolic: bool) -> Kind:
    """The kind of number in which the program is worked out; see `conventions.numbers`. Raises `Apart`."""
    if undefined == "explain" and convention == MINIMUM_NORM and not kind.propagates:
        return kind
    from backprop.conventions import numbers

    if symbolic:
        asked = "--undefined propagate" if convention == MINIMUM_NORM else f"--convention {convention}"
        raise Apart(["--symbolic", asked], "Formulas have no point at which there could be a choice.")
    return kind if kind.propagates else numbers(kind, undefined, convention)


def _refuse_rounding(kind: Kind, symbolic: bool) -> None:
    """Raise `Apart` where there are no doubles whose rounding could be told."""
    other = "--symbolic" if symbolic else "--undefined propagate" if kind.propagates else f"--kind {kind.name}"
    if symbolic or kind.propagates or not isinstance(kind, Real):
        raise Apart(["--rounding", other], "Rounding is told of doubles, the kind real.")


def _tell_rounding(point: Point, found: Trace) -> None:
    """Put in how many digits of every value and adjoint are right, and of the answers."""
    from backprop.accuracy.lost_digits import surviving
    from backprop.witnesses.rounding import testify

    arrays = _of_arrays(point)
    if arrays is None:
        values, adjoints = surviving(point)
    else:
        from backprop.array_notes import surviving_elements

        values, adjoints = surviving_elements(arrays)
        point = point.told()
    if isinstance(found.nodes, Nodes):
        found.nodes.tell_digits(values, adjoints)
    else:
        for node, digits, of_adjoint in zip(found.nodes, values, adjoints, strict=True):
            node.digits = digits if node.op not in ("input", "const") else None
            node.adjoint_digits = of_adjoint if node.adjoint is not None else None
    said = testify(point)
    if said is not None and all(witness.by != ROUNDING for witness in found.witnesses):
        found.witnesses.append(said)


def _mended(point: Point) -> list[str]:
    """The answers that doubles had lost, by name."""
    arrays = _of_arrays(point)
    if arrays is not None:
        from backprop.array_notes import mended_elements

        return mended_elements(arrays)
    accuracy = point.accuracy()
    if accuracy is None:
        return []
    output = [] if accuracy.value is None else [point.graph.ids[point.graph.output]]
    return output + [point.name_of(node) for node in accuracy.slopes]


def merged(notes: list[Note], more: list[Note]) -> list[Note]:
    """All notes; where the witnesses say more of the same thing at the same node, their word stands."""
    told = {(note.code, note.node): note for note in more}
    kept = [told.pop((note.code, note.node), note) for note in notes]
    return kept + [note for note in more if (note.code, note.node) in told]


def _symbolic(
    program: Program,
    inputs: Mapping[str, Number],
    wrt: Sequence[str] | None,
    mode: str,
    opened: Sequence[str] | None,
) -> tuple[Point, _Names]:
    """The program with every input standing for itself; of an `opened` one the values tell the shapes alone.

    Raises `TooManyDerivatives` when it has too many nodes, `ArraysInFormulas` when they are arrays.
    """
    from backprop.derivatives import slopes
    from backprop.kinds.symbol import SYMBOL

    syntax, graph = program.read(program.spelled(inputs))
    is_scalar = not points.has_arrays(graph, points.texts(program, graph, inputs))
    if is_scalar:
        nodes = points.resolve(graph, wrt)
    elif opened is not None:
        there = points.at(program, inputs, wrt, opened=opened)
        graph, nodes, is_scalar = there.graph, there.wrt, there.is_scalar
    if not is_scalar:
        raise ArraysInFormulas(program.text)
    if len(graph) > MOST_NODES_IN_FORMULAS:
        raise TooManyDerivatives(
            f"a formula for each of {len(graph)} nodes; I write out at most {MOST_NODES_IN_FORMULAS}",
            "backprop diff writes the derivatives and the chain rule; backprop trace with values shows the numbers.",
        )
    moving = graph.moving(nodes)
    known, shown = _formulas_of_nodes(graph)
    here = Point(syntax, graph, SYMBOL, {}, [], nodes, moving, shown, slopes(graph, known, moving))
    names = _Names(here, mode, used=known != shown)
    if mode == "reverse":
        here.reverse(names)
    return here, names


def _formulas_of_nodes(graph: Graph) -> tuple[list[Any], list[Any]]:
    """What stands for each node in those after it, and the formula of the node itself: long ones go by their names."""
    from backprop.kinds import value_at
    from backprop.kinds.symbol import SYMBOL
    from backprop.values import values

    sizes: list[int] = []
    long: list[int] = []
    for node in range(len(graph)):
        sizes.append(1 + sum(sizes[operand] for operand in graph.operands(node)))
        if sizes[node] > LONGEST_PART and node != graph.output:
            row = graph.row(node)
            if row is not None and not row.gives_condition:
                long.append(node)
                sizes[node] = 1
    codes = graph.codes[:]
    for node in long:
        codes[node] = INPUT
    leaves = {node: SYMBOL.symbol(name) for name, node in graph.inputs.items()}
    leaves |= {node: SYMBOL.symbol(graph.ids[node]) for node in long}
    known = values(replace(graph, codes=codes), SYMBOL, leaves)
    shown = known[:]
    for node in long:
        row = graph.row(node)
        assert row is not None
        shown[node] = value_at(node, row, SYMBOL, [known[operand] for operand in graph.operands(node)])
    return known, shown


@dataclass(slots=True)
class _Names:
    """What stands for the adjoint or tangent of a node in the lines that use it: a long formula goes by its name."""

    point: Point
    mode: str
    used: bool

    def __call__(self, node: int, formula: Any) -> Any:
        if formula.size <= LONGEST_PART:
            return formula
        from backprop.formulas import symbol

        self.used = True
        graph, ids = self.point.graph, self.point.graph.ids
        if self.mode == "reverse":
            return symbol(slope(ids[graph.output], ids[node]))
        return symbol(slope(ids[node], self.point.name_of(self.point.wrt[0])))


def _assemble(
    point: Point, mode: str, figures: int, opened: Sequence[str] | None, names: _Names | None = None
) -> Trace:
    graph, ids, symbolic = point.graph, point.graph.ids, names is not None
    wrt = point.names()
    if mode == "forward":
        if len(wrt) != 1:
            raise OneDirection(wrt)
        slopes = moved(graph, point.partials, point.kind, _direction(point), names)
        slope = slopes[graph.output]
        zero = point.kind.spread(point.kind.number("0"), point.kind.shape(point.value()))
        gradient = {wrt[0]: zero if slope is None else slope}
        if not point.kind.shape(point.value()):
            given = point.by_rules()
            gradient = point.gradient() if isinstance(point.value(), Hole) else gradient
            gradient |= {name: slope for name, slope in point.gradient().items() if slope is not given[name]}
        contributions = _forward_contributions(point, slopes, names)
    else:
        gradient = point.gradient()
        slopes, contributions = point.reverse().adjoints, point.reverse().contributions
    nodes, edges = _records(point, mode, slopes, contributions, figures)
    found = Trace(
        program=point.syntax.source,
        canonical=canonical(point.syntax),
        kind=point.kind.name,
        mode=mode,
        inputs=_present(point.kind, {name: point.values[graph.inputs[name]] for name in point.given}),
        params=list(graph.params),
        output=ids[graph.output],
        value=plain(point.kind, point.answer()),
        wrt=wrt,
        gradient=_present(point.kind, gradient),
        formulas={} if symbolic else _formulas(point),
        nodes=nodes,
        edges=edges,
        undefined="propagate" if point.kind.propagates else None,
        convention=point.convention if point.convention != MINIMUM_NORM else None,
        birth=_birth(point),
        opened=None if opened is None else list(opened),
        mended=_mended(point),
        figures=figures,
    )
    found.notes = list(reading_notes(point)) if symbolic else notes(point)
    arrays = _of_arrays(point)
    if arrays is not None:
        from backprop.array_notes import tell_sides_of_elements

        tell_sides_of_elements(arrays, found)
        if arrays.shape:
            _tell_parts(arrays, found)
    elif not symbolic:
        tell_sides(point, found)
    if found.birth is not None:
        from backprop.birthplace import told

        found.notes.insert(0, Note("birth", told(found.birth), point.id_of(found.birth.node)))
    if point.kind.eager or point.kind.convention is not None:
        from backprop.conventions.opinions import remarks

        found.notes += [Note("convention", text) for text in remarks(point)]
    if names is not None and names.used:
        text = "long formulas stand in others by the names of their nodes; backprop diff writes the derivatives out"
        found.notes.append(Note("named-formulas", text))
    return found


def _of_arrays(point: Point) -> ArrayPoint | None:
    """The point of a program with arrays; None for one of single numbers, for which NumPy is not loaded."""
    if point.is_scalar:
        return None
    from backprop.array_point import ArrayPoint

    return point if isinstance(point, ArrayPoint) else None


def _tell_parts(point: ArrayPoint, found: Trace) -> None:
    """Put in what the elements of a vector as output answer, each by itself."""
    from backprop.array_notes import by_parts, notes_of_parts, parts

    each = parts(point)
    found.notes[:0] = notes_of_parts(point, each)
    if each is not None:
        found.value = plain(point.kind, by_parts(point, each))
        found.gradient = _present(point.kind, {name: by_parts(point, each, name) for name in found.wrt})


def _of_tangents(point: ArrayPoint) -> Witness:
    """What the opened program says of the tangents of a vector."""
    from backprop.array_edges import unit
    from backprop.array_notes import parts
    from backprop.witnesses.tangents import testify

    tangent = point.tangents(unit(point))[point.graph.output]
    (name,) = point.names()
    spread = point.kind.spread(point.kind.base.number("0") if tangent is None else tangent, point.shape)
    return testify(point, name, spread, parts(point))


def _direction(point: Point) -> dict[int, Any]:
    """Forward mode: the node that moves, by 1; of an array one element. Raises `OneDirection` for all of an array."""
    arrays = _of_arrays(point)
    if arrays is not None:
        from backprop.array_edges import unit

        return unit(arrays)
    return {point.wrt[0]: point.kind.number("1")}


def _birth(point: Point) -> Birth | None:
    """Where the first NaN or infinity was born; None where the kind of number has a hole in its place."""
    if not point.kind.propagates:
        return None
    from backprop.birthplace import birth

    return birth(point)


def _present(kind: Kind, values: Mapping[str, Any]) -> dict[str, Value]:
    """Values by name, without those that there are none of."""
    told = {name: plain(kind, found) for name, found in values.items()}
    return {name: value for name, value in told.items() if value is not None and not _is_empty(value)}


def _is_empty(value: Value) -> bool:
    """Whether no element of an array has a value."""
    return isinstance(value, list) and all(one is None for one in elements_of(value))


def _records(
    point: Point, mode: str, slopes: list[Any], contributions: list[Any], figures: int
) -> tuple[Sequence[Node], Sequence[Edge]]:
    """The nodes and edges of a trace; of a large one they are views on the columns."""
    graph = point.graph
    columns = Columns(
        graph=graph,
        kind=point.kind,
        mode=mode,
        moving=point.moving,
        lost=isinstance(point.value(), Hole),  # with no value at the end there is nothing to differentiate
        values=point.values,
        slopes=slopes,
        partials=point.partials.values,
        contributions=contributions,
        output=graph.ids[graph.output],
        wrt=point.names(),
        figures=figures,
        zero=plain(point.kind, point.kind.number("0")),
    )
    if is_large(graph, point.kind):
        return Nodes(columns), Edges(columns)
    nodes = range(len(graph))
    if not point.kind.arrays:
        return list(map(columns.node, nodes)), [edge for node in nodes for edge in columns.edges_to(node)]
    from backprop.array_edges import edges_of_arrays

    results = [node for node in nodes if graph.codes[node] >= 0]
    into = (edges_of_arrays(point, node, columns.rules(node), contributions, mode) for node in results)
    return list(map(columns.node, nodes)), [edge for some in into for edge in some]


def _forward_contributions(
    point: Point, tangents: list[Any], named: Callable[[int, Any], Any] | None = None
) -> list[Any]:
    """In forward mode an edge brings the tangent of its source times its partial."""
    from backprop.forward import contribution

    graph, slopes = point.graph, point.partials
    brought: list[Any] = [None] * len(graph.args)
    for node in range(len(graph)):
        for edge in graph.edges_to(node):
            tangent, partial = tangents[edge.source], slopes.values[edge.place]
            if tangent is not None and partial is not None and not slopes.exact_zero[edge.place]:
                tangent = tangent if named is None else named(edge.source, tangent)
                brought[edge.place] = contribution(point.kind.push, tangent, partial, node, edge.position)
    return brought


def _formulas(point: Point) -> dict[str, str]:
    """The gradient as formulas of the inputs, where they are short enough to be read."""
    graph: Graph = point.graph
    if len(graph) > LARGEST_FORMULA or point.kind.arrays:
        return {}
    from backprop.derivatives import gradient_formulas

    return gradient_formulas(graph, point.wrt)

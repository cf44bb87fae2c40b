"""Cost: what a value and its derivatives take, counted and measured, by every way to get them.

Counted is by letting the engines run over numbers that count (`kinds.counted`); measured is the same work in plain
doubles. A forward pass gives the value; one reverse pass then gives the derivatives of one output number by every
input, one tangent pass the derivatives of every output number by one input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from backprop import point as points
from backprop.arrays_text import element_name
from backprop.figures import whole
from backprop.forward import tangents
from backprop.graph import Graph
from backprop.kinds import Hole, Kind
from backprop.kinds.counted import Counted, Tally, Unit
from backprop.kinds.real import REAL, Real
from backprop.mistakes import Undefined
from backprop.ops.work import shape, size
from backprop.record import Edge, Node, Trace
from backprop.refusals import refuse_steps
from backprop.reverse import Reverse, reverse
from backprop.rules import Partials, partials
from backprop.syntax import canonical
from backprop.values import values

if TYPE_CHECKING:
    from backprop.path_sums import Routes
    from backprop.point import Number, Point, Program

BYTES = 8  # of a double
# One way may take so many seconds unless another number is asked for.
LONGEST = 10
# and no more than a day
MOST_SECONDS = 86_400
# A time is the median of runs that take so long together, and of no more than so many.
MEASURED, RUNS = 0.1, 200
# Terms of paths are passed on by so many.
BATCH = 1000
# Fractions of a second, where seconds are whole numbers because there are so many.
SCALE = 10**12
# Paths are counted in graphs of so many nodes.
MOST_NODES = 200_000
# and for so many edges in all, when there are several outputs
MOST_EDGES = 2_000_000
# The steps of differences, which nobody reads: only their cost counts.
STEP = 1e-6


@dataclass(slots=True)
class Way:
    """One way to get the value, or the value and the derivatives.

    `runs` is how often it does its `unit` (a pass, an evaluation, a term). `ratio` and `time_ratio` compare with the
    value alone. `kept` is the bytes of the numbers that it holds at once, `peak` the most that was held while it ran.
    `estimate` is the seconds that it would take where it was not run.
    """

    name: str
    runs: int
    unit: str
    operations: int
    kept: int
    ratio: int | float | None = None
    seconds: float | None = None
    time_ratio: int | float | None = None
    peak: int | None = None
    estimate: int | float | None = None

    @property
    def taken(self) -> int | float | None:
        """The seconds that it took, or would take."""
        return self.estimate if self.seconds is None else self.seconds


@dataclass(slots=True)
class Part:
    """A part of a way: the value, the partials, the sweeps. `each` is its operations for each input number."""

    name: str
    runs: int
    operations: int
    each: float | None
    seconds: float | None = None


@dataclass(slots=True)
class PathCost:
    """What the sum path by path takes against one reverse sweep over the same graph."""

    terms: int
    multiplications: int
    additions: int
    factored_multiplications: int
    factored_additions: int


@dataclass(slots=True)
class CostReport:
    """What a program costs at a point, by N input numbers and M output numbers.

    `wrt` are the inputs that move, `shapes` theirs. `gradient_ratio` is what value and gradient cost in values, counted
    and measured, where the output is one number. `winner` is "reverse", "forward" or "neither", `conclusion` says why.
    `paths_missing` says why paths were not counted.
    """

    program: str
    canonical: str
    output: str
    wrt: list[str]
    shapes: dict[str, tuple[int, ...]]
    inputs: int
    outputs: int
    ways: list[Way]
    parts: list[Part]
    paths: PathCost | None = None
    paths_missing: str | None = None
    gradient_ratio: int | float | None = None
    measured_ratio: int | float | None = None
    winner: str = "neither"
    conclusion: str = ""

    def way(self, name: str) -> Way:
        """The way of that name; KeyError when there is none."""
        for way in self.ways:
            if way.name == name:
                return way
        raise KeyError(name)

    def part(self, name: str) -> Part:
        """The part of that name; KeyError when there is none."""
        for part in self.parts:
            if part.name == name:
                return part
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """The record for JSON; absent things are absent."""
        record: dict[str, Any] = {"format": "backprop-cost", "version": 1, "program": self.program}
        record |= {"canonical": self.canonical, "output": self.output, "wrt": self.wrt}
        record["shapes"] = {name: list(one) for name, one in self.shapes.items()}
        record |= {"inputs": self.inputs, "outputs": self.outputs}
        record["ways"] = [_present(way) for way in self.ways]
        record["parts"] = [_present(part) for part in self.parts]
        if self.paths is not None:
            record["paths"] = _present(self.paths)
        optional = {"paths_missing": self.paths_missing, "gradient_ratio": self.gradient_ratio}
        optional["measured_ratio"] = self.measured_ratio
        record |= {name: value for name, value in optional.items() if value is not None}
        return record | {"winner": self.winner, "conclusion": self.conclusion}


def _present(record: Any) -> dict[str, Any]:
    told = {name: getattr(record, name) for name in record.__slots__}
    return {name: _whole(value) for name, value in told.items() if value is not None and value is not False}


def _whole(value: Any) -> Any:
    """A number as JSON has it: an integer of thousands of digits as text, which readers of JSON refuse else."""
    return whole(value) if isinstance(value, int) and value.bit_length() > MOST_BITS else value


# Integers of more bits than this are text in JSON: about the 4300 digits that Python reads.
MOST_BITS = 14_000


# -- the work ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Machine:
    """A program with its numbers in one kind, ready to be run. `leaves` are the values of what is given.

    `chosen` are the places in an array that move, row by row, where not all of it does.
    """

    graph: Graph
    kind: Kind
    leaves: dict[int, Any]
    wrt: list[int]
    moving: bytearray
    chosen: Mapping[int, Sequence[int]] = field(default_factory=dict)

    def value(self, leaves: Mapping[int, Any] | None = None) -> list[Any]:
        return values(self.graph, self.kind, self.leaves if leaves is None else leaves)

    def partials(self, known: list[Any]) -> Partials:
        return partials(self.graph, self.kind, known, self.moving)

    def backward(self, slopes: Partials, seed: Any) -> Reverse:
        return reverse(self.graph, slopes, self.kind, seed=seed)

    def forward(self, slopes: Partials, seed: Mapping[int, Any]) -> list[Any]:
        return tangents(self.graph, slopes, self.kind, seed)

    def directions(self) -> Iterator[dict[int, Any]]:
        """Each input number moving alone: the seeds of the tangent passes."""
        for node in self.wrt:
            for seed in self.seeds(self.known(node), self.chosen.get(node)):
                yield {node: seed}

    def known(self, node: int) -> Any:
        """The value of an input."""
        return self.leaves[node] if node in self.leaves else self.kind.number(self.graph.literals[node])

    def seeds(self, value: Any, places: Sequence[int] | None = None) -> Iterator[Any]:
        """A 1 in each place of something of the shape of a value, in turn; the array is the same one each time."""
        if not shape(value):
            yield self.kind.number("1")
            return
        import numpy as np

        seed = np.zeros(shape(value))
        flat = seed.reshape(-1)
        for place in range(flat.size) if places is None else places:
            flat[place] = 1.0
            yield seed
            flat[place] = 0.0

    def moved(self, sign: int = 1) -> Iterator[dict[int, Any]]:
        """Each input number moved a little, in turn."""
        for node in self.wrt:
            value = self.known(node)
            if not shape(value):
                yield self.leaves | {node: value + sign * STEP}
                continue
            beside = value.copy()
            flat, given = beside.reshape(-1), value.reshape(-1)
            for place in self.chosen.get(node, range(flat.size)):
                flat[place] = given[place] + sign * STEP
                yield self.leaves | {node: beside}
                flat[place] = given[place]


def machine(point: Point, tally: Tally | None = None) -> Machine:
    """The program of a point in plain doubles, or in doubles that count."""
    graph = point.graph
    leaves = {graph.inputs[name]: point.values[graph.inputs[name]] for name in point.given}
    kind = point.kind if tally is None else _counting(point.kind, tally)
    return Machine(graph, kind, leaves, point.wrt, point.moving, _chosen(point))


def _chosen(point: Point) -> dict[int, list[int]]:
    """The places of the arrays of which only some elements are asked for."""
    found: dict[int, list[int]] = {}
    asked = _asked(point)
    for node, at in asked:
        if (node, ()) not in asked:
            import numpy as np

            value = point.values[node]
            places = np.arange(value.size).reshape(value.shape)[at].ravel().tolist()
            found[node] = list(dict.fromkeys([*found.get(node, ()), *places]))
    return found


def _asked(point: Point) -> list[tuple[int, tuple[int, ...]]]:
    """What moves: nodes, and where in them (all of one when that is empty)."""
    asked: Mapping[str, tuple[int, tuple[int, ...]]] = getattr(point, "asked", {})
    return [(node, at) for node, at in asked.values() if node in point.wrt] or [(node, ()) for node in point.wrt]


def _counting(kind: Kind, tally: Tally) -> Kind:
    if isinstance(kind, Real):
        return Counted(tally)
    from backprop.kinds.counted_arrays import CountedArrays

    return CountedArrays(Counted(tally))


def by_reverse(point: Point) -> dict[str, list[float]]:
    """The gradient by one reverse pass, the numbers of each input row by row (a Jacobian row after row)."""
    runner = machine(point)
    known = runner.value()
    slopes = runner.partials(known)
    found: dict[str, list[float]] = {point.name_of(node): [] for node in point.wrt}
    for seed in runner.seeds(known[point.graph.output]):
        adjoints = runner.backward(slopes, seed).adjoints
        for node in point.wrt:
            numbers = _numbers(adjoints[node])
            found[point.name_of(node)] += numbers * (size(known[node]) if adjoints[node] is None else 1)
    return found


def by_forward(point: Point) -> dict[str, list[float]]:
    """The same numbers by a tangent pass for each input number."""
    runner = machine(point)
    known = runner.value()
    slopes = runner.partials(known)
    outputs = size(known[point.graph.output])
    columns: dict[str, list[list[float]]] = {point.name_of(node): [] for node in point.wrt}
    for direction in runner.directions():
        (node,) = direction
        moved = runner.forward(slopes, direction)[point.graph.output]
        columns[point.name_of(node)].append(_numbers(moved) * (outputs if moved is None else 1))
    return {name: [number for row in zip(*lists, strict=True) for number in row] for name, lists in columns.items()}


def _numbers(value: Any) -> list[float]:
    if value is None:
        return [0.0]
    return [float(one) for one in value.ravel()] if shape(value) else [value]


# -- counting ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Counts:
    """The operations of each part, and the numbers that it leaves to be kept; of the sweeps those of one."""

    value: int
    partials: int
    reverse: int
    forward: int
    kept_values: int
    kept_partials: int
    kept_reverse: int
    kept_forward: int


def counts(point: Point) -> Counts:
    """What each part takes.

    A tangent pass is counted with every input moving, as tapes work it out. Our own leaves out what does not move, and
    takes as long for the walk.
    """
    tally = Tally()
    runner = machine(point, tally)
    known = runner.value()
    value = tally.operations
    slopes = runner.partials(known)
    rules = tally.operations
    back = runner.backward(slopes, _ones(known[point.graph.output]))
    swept = tally.operations
    moved = runner.forward(slopes, {node: _ones(runner.known(node)) for node in runner.wrt})
    return Counts(
        value,
        rules - value,
        swept - rules,
        tally.operations - swept,
        _kept(known),
        _kept(slopes.values),
        _kept(back.adjoints),
        _kept(moved),
    )


def _ones(value: Any) -> Any:
    """A 1 in every place of something of the shape of a value; no `Unit`, for it is a number like any other."""
    if not shape(value):
        return 1.0
    ones = value.copy()
    ones.fill(1.0)
    return ones


def _kept(found: Iterable[Any]) -> int:
    """How many numbers a pass must keep of what it found: not the 1 of a rule, and of a linear map only its operands,
    which are kept already."""
    held = (getattr(one, "values", one) for one in found)
    return sum(size(one) for one in held if one is not None and not isinstance(one, Unit) and not hasattr(one, "rule"))


# -- paths ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Scalars:
    """A scalar program ready for its paths to be counted: the routes, and what value and partials take."""

    routes: list[Routes]
    operations: int
    factored: Tally
    kept: int


def scalars(point: Point) -> Scalars | str:
    """The scalar graph of a program with its partials as a network of paths, or why there is none."""
    from backprop.path_sums import routes

    tally = Tally()
    kind = Counted(tally)
    graph = point.graph
    if isinstance(point.kind, Real):
        leaves = machine(point).leaves
        wrt, outputs = point.wrt, [graph.output]
    else:
        from backprop.array_point import ArrayPoint

        assert isinstance(point, ArrayPoint)
        opened = point.opened_graph(MOST_NODES)
        if opened is None:
            return f"opened into single numbers the program has more than {MOST_NODES} nodes"
        graph, places = opened.graph, opened.places
        leaves = {graph.inputs[name]: float(REAL.number(text)) for name, text in opened.given.items()}
        some = _chosen(point)
        wrt = [
            int(place)
            for node in point.wrt
            for place in (places[node].ravel()[some[node]] if node in some else places[node].flat)
        ]
        outputs = [int(place) for place in places[point.graph.output].flat if place >= 0]
    if len(graph) > MOST_NODES or len(outputs) * len(graph.args) > MOST_EDGES:
        return f"paths are counted in graphs of up to {MOST_NODES} nodes, and of few outputs"
    runner = Machine(graph, kind, leaves, wrt, graph.moving(wrt))
    known = runner.value()
    slopes = runner.partials(known)
    operations, before = tally.operations, replace(tally)
    for output in outputs:
        reverse(graph, slopes, kind, output)
    factored = Tally(tally.multiplications - before.multiplications, tally.additions - before.additions)
    trace = _network(runner, known, slopes)
    found: list[Routes] = []
    for output in outputs:
        found += routes(trace, [str(node) for node in wrt], str(output))
    return Scalars(found, operations, factored, _kept(known) + _kept(slopes.values))


def _network(runner: Machine, known: list[Any], slopes: Partials) -> Trace:
    """As much of a trace as its paths are read from: nodes by their numbers, edges with their partials."""
    graph = runner.graph
    nodes = [Node(str(node), graph.op(node), taken=known[node] is not None) for node in range(len(graph))]
    edges: list[Edge] = []
    for node in range(len(graph)):
        for edge in graph.edges_to(node):
            partial = slopes.values[edge.place]
            if partial is not None:
                trivial = isinstance(partial, Unit)
                formula = f"{partial:g}" if trivial else "partial"
                number = float(partial) if not isinstance(partial, Hole) else None
                edges.append(Edge(str(edge.source), str(node), edge.position, number, formula))
    wrt = [str(node) for node in runner.wrt]
    return Trace("", "", "real", "reverse", {}, [], str(graph.output), None, wrt, {}, {}, nodes, edges)


# -- measuring --------------------------------------------------------------------------------------------------------


def seconds_of(work: Callable[[], Any]) -> float:
    """The median time of some runs."""
    taken: list[float] = []
    while not taken or (sum(taken) < MEASURED and len(taken) < RUNS):
        start = perf_counter()
        work()
        taken.append(perf_counter() - start)
    return median(taken)


def peak_of(work: Callable[[], Any]) -> int:
    """The most bytes that Python and NumPy held at once for a piece of work, beyond what was there before."""
    import tracemalloc

    tracing = tracemalloc.is_tracing()
    if not tracing:
        tracemalloc.start()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    try:
        held = work()
        peak = tracemalloc.get_traced_memory()[1] - before
        del held
    finally:
        if not tracing:
            tracemalloc.stop()
    return max(0, peak)


@dataclass(slots=True)
class Clock:
    """Runs the ways of a program in plain doubles and writes their times into the report.

    What would not end within `longest` seconds is estimated.
    """

    runner: Machine
    output: int
    report: CostReport
    longest: float

    def run(self, paths: Scalars | str) -> None:
        runner, report = self.runner, self.report
        known = runner.value()
        slopes = runner.partials(known)
        value, rules = seconds_of(runner.value), seconds_of(lambda: runner.partials(known))
        report.part("value").seconds, report.part("partials").seconds = value, rules
        report.way("value").seconds, report.way("value").peak = value, peak_of(runner.value)
        shared = value + rules
        self._sweeps("reverse", shared, slopes, lambda: runner.seeds(known[self.output]), runner.backward)
        self._sweeps("forward", shared, slopes, runner.directions, runner.forward)
        self._evaluations("differences", value, (1,))
        self._evaluations("central differences", value, (1, -1))
        if not isinstance(paths, str):
            self._paths(paths, shared)
        for way in report.ways:
            way.time_ratio = None if way.taken is None else _times(way.taken, 1 / value)

    def _sweeps(
        self,
        name: str,
        shared: float,
        slopes: Partials,
        seeds: Callable[[], Iterator[Any]],
        sweep: Callable[[Partials, Any], Any],
    ) -> None:
        """The time of all sweeps of a mode, and with value and partials that of the whole way."""
        way, part = self.report.way(name), self.report.part(f"{name} sweep")
        if not way.runs:
            way.seconds = shared
            return

        def one() -> Any:
            return sweep(slopes, next(seeds()))

        def every() -> None:
            for seed in seeds():
                sweep(slopes, seed)

        def whole_way() -> Any:
            known = self.runner.value()
            again = self.runner.partials(known)
            return known, again, sweep(again, next(seeds()))

        expected = way.runs * seconds_of(one)
        way.peak = peak_of(whole_way)
        if expected > self.longest:
            way.estimate = shared + expected
            return
        part.seconds = seconds_of(every)
        way.seconds = shared + part.seconds

    def _evaluations(self, name: str, value: float, signs: Sequence[int]) -> None:
        """The time of all evaluations; where only one side is moved the value itself is one more."""
        way = self.report.way(name)

        def every() -> None:
            for sign in signs:
                for leaves in self.runner.moved(sign):
                    self.runner.value(leaves)

        way.peak = peak_of(self.runner.value)
        if way.runs * value > self.longest:
            way.estimate = way.runs * value
        else:
            way.seconds = seconds_of(every) + (value if len(signs) == 1 else 0.0)

    def _paths(self, paths: Scalars, shared: float) -> None:
        """Terms are worked out for a moment; if that was not all, the rest is run where it ends in time."""
        from backprop.path_sums import terms

        way = self.report.way("paths")
        stream = (term for routes in paths.routes for term in terms(routes))
        start, done, batch = perf_counter(), 0, BATCH
        while batch == BATCH and perf_counter() - start < MEASURED:
            batch = sum(1 for _ in islice(stream, BATCH))
            done += batch
        taken = perf_counter() - start
        if batch == BATCH:
            expected = _times(way.runs, taken / done)
            if expected > self.longest:
                way.estimate = expected
                return
            for _ in stream:
                pass
            taken = perf_counter() - start
        way.seconds = shared + taken
        way.peak = peak_of(lambda: sum(1 for routes in paths.routes[:1] for _ in islice(terms(routes), BATCH)))


def _times(count: int | float, factor: float) -> int | float:
    """count · factor; a whole number where no double is as large: there may be 3^1000 terms."""
    try:
        return count * factor
    except OverflowError:
        return int(count) * int(factor * SCALE) // SCALE


def _ratio(above: int, below: int) -> int | float:
    """above/below; a whole number where no double is as large."""
    try:
        return above / below
    except OverflowError:
        return above // below


# -- the report -------------------------------------------------------------------------------------------------------


def cost(
    program: str | Program,
    inputs: Mapping[str, Number] | None = None,
    *,
    wrt: Sequence[str] | None = None,
    time: bool = True,
    longest: float = LONGEST,
) -> CostReport:
    """What value and derivatives of a program take at a point: operations, seconds and memory, by every way.

    `time=False` counts only. What would take more than `longest` seconds is estimated and not run. Raises `Mistake`
    for what cannot be read, `NoVariable` for a name in `wrt` that is no input, and `Undefined` for an array without a
    value; numbers that are undefined cost as much as others.
    """
    here = points.at(program, inputs or {}, wrt)
    refuse_steps(here)
    output = here.value()
    if isinstance(output, Hole) and not here.is_scalar:
        from backprop.notes import explained

        # without a value it has no shape either; the opened program tells which element is to blame
        told = here.told()
        here, output = (told, told.answer()) if isinstance(told.answer(), Hole) else (here, output)
        raise Undefined(explained(here, output), span=here.graph.span(output.node)).within(here.syntax.source)
    used = _used(here)
    here.wrt = [node for node in here.wrt if used[node]]
    known = here.values
    shapes, some = _shapes(here), _chosen(here)
    n = sum(len(some[node]) if node in some else size(known[node]) for node in here.wrt)
    m = size(output)
    count = counts(here)
    ways, parts = _counted(count, n, m)
    paths = scalars(here)
    found = CostReport(
        program=here.syntax.source,
        canonical=canonical(here.syntax),
        output=here.graph.ids[here.graph.output],
        wrt=list(shapes),
        shapes=shapes,
        inputs=n,
        outputs=m,
        ways=ways,
        parts=parts,
    )
    if isinstance(paths, str):
        found.paths_missing = paths
    else:
        found.paths = _path_cost(paths)
        operations = paths.operations + found.paths.multiplications + found.paths.additions
        ways.append(Way("paths", found.paths.terms, "term", operations, BYTES * (paths.kept + n * m)))
    for way in ways:
        way.ratio = _ratio(way.operations, count.value) if count.value else None
    if time:
        Clock(machine(here), here.graph.output, found, longest).run(paths)
    if m == 1:
        found.gradient_ratio, found.measured_ratio = found.way("reverse").ratio, found.way("reverse").time_ratio
    found.winner, found.conclusion = _conclusion(found)
    return found


def _shapes(point: Point) -> dict[str, tuple[int, ...]]:
    """The shapes of what moves, by name."""
    return {element_name(point.name_of(node), at): shape(point.values[node])[len(at) :] for node, at in _asked(point)}


def _used(point: Point) -> bytearray:
    """Which nodes derivatives come from, dead ones and those of branches not taken too.

    None comes from the number of a class, from an axis, or from an input that nothing uses, so nobody moves those.
    """
    graph, runner = point.graph, machine(point, Tally())
    known = runner.value()
    slopes = runner.partials(known).values
    used = bytearray(len(graph))
    used[graph.output] = 1
    for node in range(graph.output, -1, -1):
        for edge in graph.edges_to(node) if used[node] else ():
            carries = slopes[edge.place] is not None or known[node] is None or known[edge.source] is None
            used[edge.source] |= carries
    return used


def _counted(count: Counts, n: int, m: int) -> tuple[list[Way], list[Part]]:
    shared, results = count.value + count.partials, BYTES * n * m
    values, slopes = BYTES * count.kept_values, BYTES * (count.kept_values + count.kept_partials)
    back, ahead = m * count.reverse, n * count.forward
    # a moved input (or two), and for each output number a difference and a quotient
    one_sided, central = (n + 1) * count.value + n * (1 + 2 * m), 2 * n * count.value + n * (2 + 2 * m)
    ways = [
        Way("value", 1, "pass", count.value, values),
        Way("reverse", m, "pass", shared + back, slopes + BYTES * count.kept_reverse + (results if m > 1 else 0)),
        Way("forward", n, "pass", shared + ahead, slopes + BYTES * count.kept_forward + results),
        Way("differences", n + 1, "evaluation", one_sided, values + results),
        Way("central differences", 2 * n, "evaluation", central, values + results),
    ]
    parts = [("value", 1, count.value), ("partials", 1, count.partials)]
    parts += [("reverse sweep", m, back), ("forward sweep", n, ahead)]
    return ways, [Part(name, runs, operations, operations / n if n else None) for name, runs, operations in parts]


def _path_cost(paths: Scalars) -> PathCost:
    from backprop.path_sums import count, listed_cost

    listed = [listed_cost(routes) for routes in paths.routes]
    return PathCost(
        sum(map(count, paths.routes)),
        sum(multiplications for multiplications, _ in listed),
        sum(additions for _, additions in listed),
        paths.factored.multiplications,
        paths.factored.additions,
    )


def _conclusion(found: CostReport) -> tuple[str, str]:
    """Which mode takes fewer operations, and why."""
    n, m = found.inputs, found.outputs
    if not n:
        return "neither", "there is no input, so there is nothing to differentiate by"
    back, ahead = found.way("reverse"), found.way("forward")
    if back.operations == ahead.operations or n == m == 1:
        return "neither", f"neither wins: {_passes(m)} in reverse and {_passes(n)} forward take about the same"
    winner, won, other = ("reverse", back, ahead) if back.operations < ahead.operations else ("forward", ahead, back)
    told = f"{winner} wins: {_passes(won.runs)} against {other.runs}"
    if won.runs >= other.runs:
        told = f"{winner} wins with {_passes(won.runs)} against {other.runs}: each of them takes less"
    elif n == 1:
        told = f"one input and many outputs: {told}"
    elif m == 1:
        told = f"many inputs and one output: {told}"
    if won.operations:
        told += f"; {_ratio_text(other.operations, won.operations)} times fewer operations"
    else:
        told += f"; no operation against {other.operations}"
    if other.taken is not None and won.taken:
        told += f", {_ratio_text(other.taken, won.taken)} times faster"
        told += " (estimated)" if other.seconds is None or won.seconds is None else ""
    return winner, told


def _ratio_text(above: int | float, below: int | float) -> str:
    ratio = above / below
    return str(round(ratio)) if ratio >= 100 else f"{ratio:.2g}"


def _passes(count: int) -> str:
    return "one pass" if count == 1 else f"{count} passes"

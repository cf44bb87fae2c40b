"""The sum over paths: terms and lines a second, and what answers for 3^1000 of them."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from harness import HERE, MILLISECONDS, Found, Measure, Subject, Works
from scratch import kept

if TYPE_CHECKING:
    from backprop.record import Trace

sys.path.append(str(HERE.parent))  # chains of diamonds are those of the tests

SLOPES = (0.5, -1.25, 0.75)
TERMS, LINES, JSON, PEER = "backprop, terms", "backprop, printed lines", "backprop, lines of JSON", "networkx, terms"
MANY = 3**11

LISTED = Subject(
    "paths",
    "Paths one by one",
    "Every path of a chain of eleven diamonds of three edges: the terms as numbers, as lines of a table and of JSON; "
    "networkx lists the paths edge by edge and the product is taken along each. Wide is a layered graph, 27 nodes "
    "a layer, in which everything leads to everything; dead ends has as many edges again that lead nowhere.",
    sizes=(MANY,),
    quick=(3**5,),
    works=("diamonds", "wide", "dead ends"),
    measure=Measure("thousand a second", lambda seconds, size: size / seconds / 1e3, more_is_better=True),
    repeats=5,
    answer=lambda result: [result] if isinstance(result, float) else [],
    size_word="paths",
)
WHOLE = Subject(
    "paths-whole",
    "Paths all at once",
    "What is known of 3^k paths without listing them, by an edge a slope and as a program has them (five nodes a "
    "diamond): the routes read from a trace, then their number and sum, the ten largest, the factored form, the first "
    "line of the list.",
    sizes=(100, 300, 1000),
    quick=(20,),
    works=("count and sum", "ten largest", "factored", "first line"),
    measure=MILLISECONDS,
    repeats=5,
    limit=60,
    size_word="diamonds",
)
COMMAND = Subject(
    "paths-command",
    "Paths by the command",
    "`backprop paths` on a program of diamonds, start-up included, all lines written to a file.",
    sizes=(3**8, 3**11, 3**13),
    quick=(3**4,),
    measure=Measure("thousand lines a second", lambda seconds, size: size / seconds / 1e3, more_is_better=True),
    repeats=3,
    size_word="paths",
    memory="Memory of the process",
)
SUBJECTS = [LISTED, WHOLE, COMMAND]


def _graphs(size: int) -> dict[str, tuple[Trace, str]]:
    """The three graphs, each with so many paths, a power of 3."""
    from diamonds import diamonds, trace_of

    count = 0
    while 3**count < size:
        count += 1
    widths = [27] * (count // 3) + [3 ** (count % 3)]  # every path takes one node of each layer
    layers = [["n0"], *([f"l{level}_{k}" for k in range(width)] for level, width in enumerate(widths))]
    wide = [
        (below, above, SLOPES[(i + j) % 3])
        for lower, upper in zip(layers, [*layers[1:], ["out"]], strict=True)
        for i, below in enumerate(lower)
        for j, above in enumerate(upper)
    ]
    dead = [(f"n{k}", f"n{k + 1}", slope) for k in range(count) for slope in SLOPES]
    dead += [(f"n{k}", f"d{k}_{j}", 0.5) for k in range(count) for j in range(3)]
    ids = [f"n{k}" for k in range(count + 1)] + [f"d{k}_{j}" for k in range(count) for j in range(3)]
    return {
        "diamonds": (diamonds([SLOPES] * count), "n0"),
        "wide": (trace_of(wide, wrt=["n0"], output="out"), "n0"),
        "dead ends": (trace_of(dead, wrt=["n0"], output=f"n{count}", nodes=ids), "n0"),
    }


def _drained(items: Callable[[], Iterator[Any]]) -> Callable[[], None]:
    def work() -> None:
        for _ in items():
            pass

    return work


def _each(size: int, made: Callable[[Trace, str], Callable[[], Any]]) -> Works:
    return {name: made(trace, source) for name, (trace, source) in _graphs(size).items()}


@LISTED.contender(TERMS, ["backprop"], ours=True)
def terms(size: int) -> Works:
    from backprop.path_sums import Routes, terms

    return _each(size, lambda trace, source: lambda: sum(terms(Routes(trace, source))))  # type: ignore[arg-type]


@LISTED.contender(LINES, ["backprop"], ours=True)
def lines(size: int) -> Works:
    return _each(size, lambda trace, source: _printed(trace, source, "table"))


@LISTED.contender(JSON, ["backprop"], ours=True)
def ndjson(size: int) -> Works:
    return _each(size, lambda trace, source: _printed(trace, source, "ndjson"))


def _printed(trace: Trace, source: str, format: str) -> Callable[[], None]:
    """The lines, written to a stream as the command does."""
    from backprop.path_sums import Routes
    from backprop.render.look import Look
    from backprop.render.paths import lines

    def work() -> None:
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        for line in lines([Routes(trace, source)], Look(), format=format):
            out.write(line + "\n")

    return work


@LISTED.contender(PEER, ["networkx"])
def networkx(size: int) -> Works:
    return _each(size, lambda trace, source: lambda: sum(_peer_terms(trace)))


def _multigraph(trace: Trace) -> Any:
    import networkx as n

    graph = n.MultiDiGraph()
    for edge in trace.edges:
        graph.add_edge(edge.source, edge.target, key=edge.key, partial=edge.partial)
    return graph


def _peer_terms(trace: Trace) -> Iterator[float]:
    import networkx as n

    graph = _multigraph(trace)
    partials = {(source, target, key): value for source, target, key, value in graph.edges(keys=True, data="partial")}
    for path in n.all_simple_edge_paths(graph, trace.wrt[0], trace.output):
        term = 1.0
        for edge in path:
            term *= partials[edge]
        yield term


# -- all at once ------------------------------------------------------------------------------------------------------

EDGES, PROGRAM = "backprop, an edge a slope", "backprop, five nodes a diamond"


def _whole(trace: Trace, source: str) -> Works:
    from backprop.path_sums import Routes, count, factor, top, total
    from backprop.render.look import Look
    from backprop.render.paths import lines

    def count_and_sum() -> None:
        routes = Routes(trace, source)
        count(routes)
        total(routes)

    return {
        "count and sum": count_and_sum,
        "ten largest": lambda: top(Routes(trace, source), 10) and None,
        "factored": lambda: factor(Routes(trace, source)) and None,
        "first line": lambda: list(islice(lines([Routes(trace, source)], Look()), 4)) and None,
    }


@WHOLE.contender(EDGES, ["backprop"], ours=True)
def edges(size: int) -> Works:
    from diamonds import diamonds

    return _whole(diamonds([SLOPES] * size), "n0")


@WHOLE.contender(PROGRAM, ["backprop"], ours=True)
def program(size: int) -> Works:
    from diamonds import written_diamonds

    return _whole(written_diamonds(size, SLOPES), "y0")


@WHOLE.contender("networkx shortest_simple_paths", ["networkx"])
def shortest(size: int) -> Works:
    import math

    import networkx as n

    from diamonds import written_diamonds

    graph = n.DiGraph()
    for edge in written_diamonds(size, SLOPES).edges:
        graph.add_edge(edge.source, edge.target, weight=1.0 - math.log(abs(float(edge.partial))))  # type: ignore[arg-type]

    def ten() -> None:
        for _ in islice(n.shortest_simple_paths(graph, "y0", f"y{size}", weight="weight"), 10):
            pass

    return {"ten largest": ten}


def _command(format: str) -> Callable[[int], list[str]]:
    def words(size: int) -> list[str]:
        count = 0
        while 3**count < size:
            count += 1
        lines = ["y0 = x", *(f"y{k + 1} = 0.5*y{k} + a*y{k} + b*y{k}" for k in range(count))]
        file = kept(f"diamonds-{count}.bp", lambda path: path.write_text("\n".join(lines), encoding="utf-8"))
        point = ["--x", "1", "--a", "1.25", "--b", "0.75", "--from", "x"]
        return [sys.executable, "-m", "backprop", "paths", "--file", str(file), *point, "--format", format]

    return words


BY_COMMAND = {format: f"backprop paths --format {format}" for format in ("table", "ndjson", "csv")}
for format, name in BY_COMMAND.items():
    COMMAND.command(name, ["backprop"], ours=True)(_command(format))


def _by_command(format: str, name: str) -> None:
    @COMMAND.budget(
        f"paths command {format}", f"paths by the command, {format}: thousand lines a second", 100, more=True
    )
    def _(found: Found) -> float:
        return found.sizes[-1] / found.median(name) / 1e3


for format, name in BY_COMMAND.items():
    _by_command(format, name)


@COMMAND.budget("paths memory", "paths by the command: memory at 3^13 paths over that at 3^11", 1.1)
def _(found: Found) -> float:
    return found.peak_growth(BY_COMMAND["table"])


@LISTED.budget("paths terms", "paths, terms a second: millions", 2, more=True)
def _(found: Found) -> float:
    return min(found.sizes[-1] / found.median(TERMS, work=work) for work in LISTED.works) / 1e6


@LISTED.budget("paths terms networkx", "paths, terms a second: networkx = 1", 20, more=True)
def _(found: Found) -> float:
    return min(found.ratio(PEER, TERMS, work=work) for work in LISTED.works)


@LISTED.budget("paths lines networkx", "paths, printed lines a second: networkx terms = 1", 1.04, more=True)
def _(found: Found) -> float:
    return min(found.ratio(PEER, LINES, work=work) for work in LISTED.works)


def _rate(name: str, words: str) -> None:
    @LISTED.budget(f"paths {words}", f"paths, {words} a second: thousands", 100, more=True)
    def _(found: Found) -> float:
        return min(found.sizes[-1] / found.median(name, work=work) for work in LISTED.works) / 1e3


_rate(LINES, "printed lines")
_rate(JSON, "lines of JSON")


def _work(name: str, work: str) -> None:
    @WHOLE.budget(f"paths {work} {name}", f"paths, {work} of 3^1000, milliseconds: {name}", 50)
    def _(found: Found) -> float:
        return 1e3 * found.median(name, work=work)


for name in (EDGES, PROGRAM):
    for work in ("count and sum", "ten largest", "first line"):
        _work(name, work)

"""Speed of paths against networkx in the same run: python tests/benchmarks/bench_paths.py

Terms and lines a second, and the time for the ten largest of 3^1000 terms, their exact number and their sum.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from backprop.path_sums import Routes, count, factor, listing, terms, top, total
from backprop.record import Trace
from backprop.render.look import Look
from backprop.render.paths import lines
from diamonds import diamonds, written_diamonds

SLOPES = (0.5, -1.25, 0.75)


def drain(items: Iterator[Any]) -> int:
    return sum(1 for _ in items)


def seconds(work: Callable[[], Any], rounds: int = 5) -> float:
    """The median time of some rounds."""
    taken = []
    for _ in range(rounds):
        start = perf_counter()
        work()
        taken.append(perf_counter() - start)
    return sorted(taken)[rounds // 2]


def rate(name: str, made: Callable[[], Iterator[Any]], rounds: int = 3) -> float:
    number = drain(made())
    per_second = number / seconds(lambda: drain(made()), rounds)
    print(f"{name:<58} {per_second:>14,.0f} a second  ({number} items)")
    return per_second


def peer_terms(trace: Trace) -> Iterator[float]:
    """The peer: networkx lists paths edge by edge, and the product is taken along each."""
    import networkx

    graph = networkx.MultiDiGraph()
    for edge in trace.edges:
        graph.add_edge(edge.source, edge.target, key=edge.key, partial=edge.partial)
    partials = {(source, target, key): value for source, target, key, value in graph.edges(keys=True, data="partial")}
    for path in networkx.all_simple_edge_paths(graph, trace.wrt[0], trace.output):
        term = 1.0
        for edge in path:
            term *= partials[edge]
        yield term


def from_new(trace: Trace, source: str, work: Callable[[Routes], Any]) -> None:
    work(Routes(trace, source))


def peak(items: Iterator[Any], number: int) -> int:
    """Bytes held at most while so many items are passed."""
    tracemalloc.start()
    for _ in islice(items, number):
        pass
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return held


def main() -> None:
    short = diamonds([SLOPES] * 13)
    peer = diamonds([SLOPES] * 9)
    ours = rate("terms as numbers", lambda: terms(Routes(short, "n0")))
    rate("terms as numbers, five nodes a diamond", lambda: terms(Routes(written_diamonds(12), "y0")))
    theirs = rate("networkx edge paths with the product", lambda: peer_terms(peer))
    print(f"{'ratio':<58} {ours / theirs:>14,.1f}")
    rate("paths as records", lambda: listing(Routes(diamonds([SLOPES] * 11), "n0")))
    written = written_diamonds(10)
    rate("printed lines", lambda: lines([Routes(diamonds([SLOPES] * 11), "n0")], Look()))
    rate("printed lines, five nodes a diamond", lambda: lines([Routes(written, "y0")], Look()))
    rate("lines of JSON", lambda: lines([Routes(diamonds([SLOPES] * 10), "n0")], Look(), format="ndjson"))

    for name, trace, source in (
        ("3 edges a diamond", diamonds([SLOPES] * 1000), "n0"),
        ("5 nodes a diamond", written_diamonds(1000, SLOPES), "y0"),
    ):
        print(f"\n3^1000 paths, {name}: milliseconds of work (routes built anew for each)")
        works: list[tuple[str, Callable[[Routes], Any]]] = [
            ("routes alone", lambda routes: None),
            ("exact count", count),
            ("sum", total),
            ("ten largest", lambda routes: top(routes, 10)),
            ("factored form", factor),
            ("first listed line", lambda routes: next(lines([routes], Look()))),
            ("first term", lambda routes: next(terms(routes))),
        ]
        alone = 0.0
        for what, work in works:
            taken = 1000 * seconds(partial(from_new, trace, source, work))
            alone = alone or taken
            more = "" if what == "routes alone" else f"  of which {taken - alone:.1f} beyond building the routes"
            print(f"  {what:<20} {taken:8.1f}{more}")

    long = Routes(diamonds([SLOPES] * 63), "n0")
    print(f"\nmemory while listing   10 000 of 3^63: {peak(listing(long), 10_000) / 1e6:.2f} MB")
    print(f"memory while listing  300 000 of 3^63: {peak(listing(long), 300_000) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()

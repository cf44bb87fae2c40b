"""The share of the work that is done: of reading in characters, of a trace in nodes and edges."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator

import pytest

from backprop import columnar, progress
from backprop.asked import write_lines
from backprop.grammar import parse
from backprop.graph.building import build
from backprop.point import Program
from backprop.record import Trace
from backprop.render import by_name
from backprop.render.look import Look
from backprop.tracing import trace


def chain(nodes: int) -> str:
    return "\n".join(f"n{place} = {f'n{place - 1}*y' if place else 'x + y'}" for place in range(nodes))


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Callable[[], dict[str, tuple[int, int]]]:
    """Somebody watches: gives how many steps of each phase were done when the next began, and of how many."""
    watched = progress.Watched(io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    monkeypatch.setattr(progress, "_watched", watched)
    found: dict[str, tuple[int, int]] = {}
    begin = progress.phase

    def phase(*told: str | int, **more: int) -> None:
        found[watched.phase] = watched.done, watched.total
        begin(*told, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(progress, "phase", phase)

    def ended() -> dict[str, tuple[int, int]]:
        found[watched.phase] = watched.done, watched.total
        return found

    return ended


Ended = Callable[[], dict[str, tuple[int, int]]]


def test_a_text_is_read_up_to_its_last_characters_and_its_statements_are_counted(watched: Ended) -> None:
    text = chain(20_000)
    Program(text).read()
    found = watched()
    read, of = found["reading"]
    assert of == len(text)
    assert 0.7 * of < read <= of  # it is told after every 10,000 tokens
    assert found["building"] == (20_000, 20_000)


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("form", ["json", "ndjson"])
def test_a_large_trace_is_written_from_none_to_all_of_its_nodes(form: str, mode: str, watched: Ended) -> None:
    nodes = columnar.LARGE + 10
    made = trace(chain(nodes), {"x": 1.0, "y": 0.999}, wrt=["x"], mode=mode, check=False)
    assert hasattr(made.nodes, "json_lines")
    for _ in by_name(form).render(made, Look()):
        pass
    found = watched()
    assert found["nodes"] == (len(made.nodes), len(made.nodes))
    assert found["edges"] == (len(made.edges), len(made.edges))
    # each node once on the way forward, and once more on the way back
    ways = 2 if mode == "reverse" else 1
    assert found["steps"] == (ways * len(made.nodes), ways * len(made.nodes))


@pytest.mark.parametrize("form", ["json", "ndjson", "csv"])
def test_a_small_trace_is_counted_too(form: str, watched: Ended) -> None:
    made = Trace.from_json(trace(chain(10), {"x": 1.0, "y": 2.0}, check=False).to_json())
    for _ in by_name(form).render(made, Look()):
        pass
    found = watched()
    assert found["nodes"] == (len(made.nodes), len(made.nodes))
    assert found["edges"] == (len(made.edges), len(made.edges))


def test_what_is_written_is_told_in_megabytes_beside_the_share(watched: Ended) -> None:
    def lines() -> Iterator[str]:
        yield from progress.steps("nodes", ("x" * 1000 for _ in range(2500)), total=5000)

    write_lines(io.StringIO(), lines())
    line = progress._watched.line(200) if progress._watched is not None else ""
    assert "nodes" in line
    assert "50%  2,500 of 5,000 nodes" in line
    assert "2 MB written" in line


def test_rules_that_are_read_on_the_way_do_not_count(watched: Ended) -> None:
    progress.phase("values", total=100)
    progress.at(40)
    build(parse(chain(20_000)))
    assert watched()["values"] == (40, 100)

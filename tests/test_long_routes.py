"""Long routes in tables: shown by their ends, never without a word, whole with --full and in every record."""

from __future__ import annotations

import csv
import json
from typing import Any

import pytest

from backprop.path_sums import Routes, routes
from backprop.record import Trace
from backprop.render.look import Look
from backprop.render.paths import lines
from backprop.tracing import trace

TOLD = "of routes of more than 24 nodes the first 8 and last 8 are shown"


def chain(nodes: int) -> str:
    """x, n1, n2, ...: each a third more than twice the one before, so that a partial is 2 and a route has `nodes`."""
    return "\n".join(f"n{place} = 2*{f'n{place - 1}' if place > 1 else 'x'}" for place in range(1, nodes))


def traced(program: str, **more: Any) -> Trace:
    return trace(program, {} if more.get("symbolic") else {"x": 1.0}, check=False, **more)


def shown(found: list[Routes], look: Look | None = None, **asked: Any) -> list[str]:
    return list(lines(found, look or Look(), **asked))


def test_a_route_of_24_nodes_is_whole() -> None:
    table = "\n".join(shown(routes(traced(chain(24)))))
    assert " → ".join(["x", *(f"n{place}" for place in range(1, 24))]) in table
    assert "…" not in table
    assert TOLD not in table


@pytest.mark.parametrize("show", ["list", "top"])
def test_of_a_longer_one_8_nodes_at_each_end_are_shown_and_that_is_said(show: str) -> None:
    table = shown(routes(traced(chain(1000))), show=show)
    row = table[3]
    assert (
        "x → n1 → n2 → n3 → n4 → n5 → n6 → n7 → … 984 nodes … → n992 → n993 → n994 → n995 → n996 → n997 → n998 → n999"
        in row
    )
    # 999 factors, of which 7 stand before the gap and 8 behind it
    assert f"{' · '.join(['2'] * 7)} · … 984 factors … · {' · '.join(['2'] * 8)}" in row
    assert len(row) < 300
    assert table[-1].startswith(TOLD)
    assert "--full shows them whole, and so does --format csv, ndjson or json" in table[-1]


def test_what_is_left_out_and_what_is_shown_are_all_the_nodes() -> None:
    for nodes in (25, 26, 40):
        row = shown(routes(traced(chain(nodes))))[3]
        way = row.split("  ")[1].split(" → ")
        (gap,) = (int(part.split()[1]) for part in way if part.startswith("…"))
        assert len(way) - 1 + gap == nodes


def test_full_shows_every_node() -> None:
    table = shown(routes(traced(chain(1000))), Look().in_full())
    assert table[3].count(" → ") == 999
    assert not any(line.startswith(TOLD) for line in table)


def test_a_term_in_symbols_is_shortened_the_same_way_and_ones_do_not_count() -> None:
    program = "\n".join(f"n{place} = sin({f'n{place - 1}' if place > 1 else 'x'})" for place in range(1, 40))
    found = routes(traced(program, symbolic=True), symbolic=True)
    table = shown(found)
    assert "cos(x)·cos(n1)·cos(n2)·cos(n3)·cos(n4)·cos(n5)·cos(n6)·… 24 factors …·cos(n31)·" in table[3]
    assert table[-1].startswith(TOLD)
    plain = "\n".join(f"n{place} = {f'n{place - 1}' if place > 1 else 'x'} + 1" for place in range(1, 40))
    row = shown(routes(traced(plain, symbolic=True), symbolic=True))[3]
    assert row.split()[-1] == "1"


def test_records_stay_whole() -> None:
    found = routes(traced(chain(1000)))
    record = json.loads("\n".join(shown(found, format="json")))["routes"][0]["paths"][0]
    assert (len(record["nodes"]), len(record["partials"])) == (1000, 999)
    (row,) = csv.DictReader(shown(found, format="csv"))
    assert len(row["path"].split(" ")) == 1000
    told = json.loads(shown(found, format="ndjson")[1])
    assert len(told["nodes"]) == 1000


def test_a_factored_form_of_very_many_letters_is_told_in_part() -> None:
    program = "\n".join(f"n{place} = sin({f'n{place - 1}' if place > 1 else 'x'})" for place in range(1, 1000))
    found = routes(traced(program))
    table = shown(found, show="factor")
    assert max(map(len, table)) < 1000
    assert " more letters … " in table[1]
    assert table[-1] == (
        "of what has more than 4000 letters the first and last 400 are shown; "
        "--full shows them whole, and so does --format csv, ndjson or json"
    )
    assert max(map(len, shown(found, Look().in_full(), show="factor"))) > 4000


def test_ascii_output_is_ascii() -> None:
    table = "\n".join(shown(routes(traced(chain(100))), Look(ascii=True)))
    assert table.isascii()
    assert "... 84 nodes ..." in table

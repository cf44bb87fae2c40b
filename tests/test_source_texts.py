"""Texts of nodes kept as places in the source: a dictionary in all but its size."""

from __future__ import annotations

import copy
import pickle
import sys

from hypothesis import given
from hypothesis import strategies as some

from backprop.grammar import parse
from backprop.graph.building import build
from backprop.source_texts import SourceTexts

SOURCE = "alpha = 2.5; b = -alpha"
texts = some.sampled_from(["alpha", "2.5", "b", "pi", "-2", ""])
deeds = some.lists(some.tuples(some.sampled_from(["place", "put", "set", "take"]), some.integers(0, 9), texts))


@given(deeds)
def test_it_holds_what_a_dictionary_holds(deeds: list[tuple[str, int, str]]) -> None:
    found, expected = SourceTexts(SOURCE), dict[int, str]()
    for deed, node, text in deeds:
        last = max(expected, default=-1)
        begin = SOURCE.find(text)
        if deed == "place" and begin >= 0:
            found.place(last + 1, begin, begin + len(text))
            expected[last + 1] = text
        elif deed == "put":
            found.put(max(last, node), text, max(begin, 0))
            expected[max(last, node)] = text
        elif deed == "set":
            found[node] = expected[node] = text
        elif deed == "take" and node in expected:
            del found[node], expected[node]
    assert found == expected
    assert list(found) == sorted(expected)
    assert list(found.items()) == sorted(expected.items())
    assert [found.get(node, "none") for node in range(12)] == [expected.get(node, "none") for node in range(12)]
    assert len(found) == len(expected)
    assert copy.deepcopy(found) == pickle.loads(pickle.dumps(found)) == expected


def test_names_and_numbers_of_a_program_take_no_strings() -> None:
    graph = build(parse("; ".join(f"name{i} = x*{i}.25" for i in range(10_000))))
    assert isinstance(graph.names, SourceTexts)
    assert isinstance(graph.literals, SourceTexts)
    assert (graph.names.told, graph.literals.told) == ({0: "x"}, {})
    assert graph.names[2] == "name0"
    assert graph.literals[1] == "0.25"
    assert sys.getsizeof(graph.names.nodes) < 50_000


def test_numbers_that_are_not_written_as_they_are_read_are_kept_as_they_are() -> None:
    graph = build(parse("½*x - 2½ + 1e−3 - -2 + - 3 + pi"))
    assert list(graph.literals.values()) == ["1/2", "5/2", "1e-3", "-2", "-3", "pi"]

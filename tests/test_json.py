"""The trace in JSON: strict, complete, read by others, and read back unchanged."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import networkx
import pytest
from hypothesis import given, settings

from backprop.mistakes import NotATrace
from backprop.record import Note, Trace, Witness
from backprop.render import by_name
from backprop.render.look import Look
from backprop.schema import schema
from backprop.tracing import trace
from drawings import TEXTS
from programs import points, programs

SAMPLES = sorted((Path(__file__).parent.parent / "samples").glob("*.bp"))
VALIDATOR = jsonschema.Draft202012Validator(schema())

POINTS: list[tuple[str, dict[str, Any]]] = [
    ("(x*y + z)*x", {"x": 3, "y": -1, "z": 2}),
    ("x*x", {"x": 3}),
    ("where(x > 0, log(x), x^2)", {"x": -3}),
    ("log(x)*y", {"x": -1, "y": 2}),
    ("sqrt(x)*y", {"x": 0, "y": 1}),
    ("x^2", {"x": "inf"}),
    ("α*x₁ + e", {"α": 2, "x₁": 3}),
    ("param w = 1/3; w*2", {}),
    ("a = 2; b = a^2; b", {}),
    ("x", {"x": 1, "unused": 2}),
    ("1 + 1", {}),
]


def traces() -> list[Trace]:
    found = [trace(program, inputs, check=False) for program, inputs in POINTS]
    found.append(trace("c = a + b; d = b + 1; e = c*d", {"a": 2, "b": 1}, check=False, mode="forward", wrt=["b"]))
    found.append(trace("(x*y + z)*x", {}, check=False, symbolic=True))
    found.append(trace("x*y", {"x": 2, "y": 3}, check=False))
    found[-1].witnesses = [
        Witness("x", "sympy", "agrees", 3.0, 16.0),
        Witness("y", "difference", "DISAGREES", float("inf"), 0.0, "because"),
        Witness("all", "sympy rules", "not checked", reason="too large"),
    ]
    found[-1].notes.append(Note("kink", "text", "x"))
    return found


def everything(found: Trace) -> dict[str, str]:
    return {name: "\n".join(by_name(name).render(found, Look())) for name in TEXTS}


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


def test_every_trace_fits_the_schema_and_is_read_back_unchanged() -> None:
    for found in traces():
        record = json.loads(found.to_json())
        VALIDATOR.validate(record)
        back = Trace.from_json(found.to_json())
        assert back == found
        assert back.to_json() == found.to_json()
        assert everything(back) == everything(found)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_sample_fits_the_schema(path: Path) -> None:
    found = trace(path.read_text(encoding="utf-8"), {}, check=False)
    VALIDATOR.validate(json.loads(found.to_json()))
    assert Trace.from_json(found.to_json()) == found


@settings(deadline=None, max_examples=60)
@given(programs(), points)
def test_random_traces_survive_json(program: str, point: dict[str, float]) -> None:
    found = trace(program, point, check=False)
    VALIDATOR.validate(json.loads(found.to_json()))
    back = Trace.from_json(found.to_json())
    assert back == found
    assert everything(back) == everything(found)


def test_the_json_format_is_the_record_itself() -> None:
    found = trace("x*y", {"x": 2, "y": 3}, check=False)
    assert "".join(line + "\n" for line in by_name("json").render(found, Look())) == found.to_json()


def test_json_for_an_ascii_screen_is_the_same_record() -> None:
    found = trace("α*x", {"α": 2, "x": 3}, check=False)
    text = "\n".join(by_name("json").render(found, Look(ascii=True)))
    assert text.isascii()
    assert json.loads(text) == json.loads(found.to_json())


def test_networkx_loads_the_record_with_parallel_edges() -> None:
    record = json.loads(trace("x*x + x", {"x": 3}, check=False).to_json())
    graph = networkx.node_link_graph(record, edges="edges")
    assert graph.is_directed()
    assert graph.number_of_edges("x", "v1") == 2
    assert graph.number_of_edges() == len(record["edges"]) == 4
    assert graph.nodes["x"]["adjoint"] == 7


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_jq_reads_the_record() -> None:
    found = trace("(x*y + z)*x", {"x": 3, "y": -1, "z": 2}, check=False)
    run = subprocess.run(["jq", ".gradient.x"], input=found.to_json(), capture_output=True, text=True, check=True)
    assert float(run.stdout) == -4


def test_each_line_of_ndjson_is_a_record_that_says_what_it_is() -> None:
    found = trace("x*x", {"x": 3}, check=False)
    records = [json.loads(line) for line in by_name("ndjson").render(found, Look())]
    counts = [sum(1 for record in records if record["what"] == what) for what in ("trace", "node", "edge", "step")]
    assert counts == [1, len(found.nodes), len(found.edges), len(found.steps)]


def test_what_json_has_no_number_for_is_text() -> None:
    record = json.loads(trace("x^2", {"x": "inf"}, check=False).to_json())
    assert record["inputs"]["x"] == "Infinity"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", '{"format": "other"}', '{"format": "backprop-trace", "version": 2}', "[" * 100_000]
)
def test_what_is_no_trace_is_refused(text: str) -> None:
    with pytest.raises(NotATrace):
        Trace.from_json(text)


ODD: list[Any] = [None, [], {}, "odd", 1, -1.5, 10**400, True, [[1]], {"a": [1]}, ["a", "b", 3]]


def spoiled(record: Any) -> Any:
    """Every record that differs from this one in one place."""
    places: list[tuple[Any, Any]] = []
    walk = [record]
    while walk:
        here = walk.pop()
        keys = here.keys() if isinstance(here, dict) else range(min(len(here), 2))
        places += [(here, key) for key in keys]
        walk += [here[key] for key in keys if isinstance(here[key], (dict, list))]
    for here, key in places:
        kept = here[key]
        for odd in ODD:
            here[key] = odd
            yield record
        here[key] = kept
        if isinstance(here, dict):
            del here[key]
            yield record
            here["unheard"] = 1
            yield record
            del here["unheard"]
            here[key] = kept


def test_a_spoiled_trace_is_refused_or_rendered_never_a_crash() -> None:
    found = traces()[-1]
    refused = 0
    for record in spoiled(json.loads(found.to_json())):
        try:
            back = Trace.from_dict(record)
        except NotATrace:
            refused += 1
            continue
        assert everything(back)
    assert refused > 500

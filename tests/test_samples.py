"""Every sample carries its own answers, and they hold; the lessons come out to the digits printed."""

from __future__ import annotations

from pathlib import Path

import pytest

import backprop
from backprop import expect
from backprop.point import Program

SAMPLES = Path(__file__).parent.parent / "samples"


@pytest.mark.parametrize("path", sorted(SAMPLES.rglob("*.bp")), ids=lambda path: path.stem)
def test_sample_holds_what_it_says(path: Path) -> None:
    result = expect.run(str(path))
    assert result.count > 0
    assert result.differences == []
    assert result.mistake is None


def test_one_reverse_pass_gives_what_a_thousand_forward_passes_give() -> None:
    """A linear layer of 1000 inputs; the passes are counted by running them."""
    here = Program((SAMPLES / "one_pass_for_all.bp").read_text(encoding="utf-8")).at({})
    weights = [here.graph.inputs[f"w{i}"] for i in range(1, 1001)]
    adjoints = here.reverse().adjoints
    for weight in weights[::50]:
        assert here.tangents({weight: 1.0})[here.graph.output] == adjoints[weight]
    moved = dict.fromkeys(weights, 1.0)
    assert here.tangents(moved)[here.graph.output] == pytest.approx(sum(adjoints[one] for one in weights), rel=1e-12)


def test_dead_relu_stops_every_gradient() -> None:
    trace = backprop.trace((SAMPLES / "dead_relu.bp").read_text(encoding="utf-8"))
    assert [str(slope) for slope in trace.gradient.values()] == ["0.0"] * 3  # never -0
    assert [note.code for note in trace.notes] == ["dead-relu"]
    assert trace.exit_code == 0


def test_live_relu_has_three_operation_nodes() -> None:
    trace = backprop.trace((SAMPLES / "live_relu.bp").read_text(encoding="utf-8"))
    assert [node.id for node in trace.nodes if node.formula] == ["u", "z", "f"]


def test_two_paths_lesson_shows_its_partials_and_tangents() -> None:
    program = (SAMPLES / "two_paths.bp").read_text(encoding="utf-8")
    trace = backprop.trace(program)
    partials = {(edge.source, edge.target): edge.partial for edge in trace.edges if edge.partial is not None}
    assert partials == {("a", "c"): 1, ("b", "c"): 1, ("b", "d"): 1, ("c", "e"): 2, ("d", "e"): 3}
    assert [trace.node(name).adjoint for name in "cdab"] == [2, 3, 2, 5]
    forward = backprop.trace(program, mode="forward", wrt=["b"])
    assert [forward.node(name).tangent for name in "bcde"] == [1, 1, 1, 5]
    assert [term.term for term in backprop.paths(program, source="b")] == [2, 3]


def test_repeated_input_has_two_paths() -> None:
    program = (SAMPLES / "repeated_input.bp").read_text(encoding="utf-8")
    assert [term.term for term in backprop.paths(program, source="x")] == [-3, -1]


def test_saturated_tanh_is_noted() -> None:
    trace = backprop.trace((SAMPLES / "saturation.bp").read_text(encoding="utf-8"))
    assert f"{trace.gradient['x']:.7g}" == "0.0001815832"
    assert "saturated" in {note.code for note in trace.notes}

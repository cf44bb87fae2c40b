"""Size: every command on programs that are long, deep or have more paths than anyone can list.

Each answers in time and memory that grow with the program, or says at once what is too large and what to ask instead.
The ordinary run has one quick program of each kind; `-m slow` has the full sizes.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

import pytest

from drawings import TEXTS, shown

COMMAND = [sys.executable, "-m", "backprop"]
PLAIN = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
GIBI = 1 << 30


def brackets(n: int) -> str:
    return "(" * n + "x" + ")" * n


def sum_of(n: int) -> str:
    return "+".join(["x"] * n)


def product_of(n: int) -> str:
    return "*".join(["x"] * n)


def calls(n: int) -> str:
    return "sin(" * n + "x" + ")" * n


def chain(n: int) -> str:
    return "\n".join(["a0 = x", *(f"a{i + 1} = a{i}*1.00001 + x" for i in range(n))])


def diamonds(n: int) -> str:
    return "\n".join(["d0 = x", *(f"d{i + 1} = sin(d{i}) + d{i}*0.5 + cos(d{i})" for i in range(n))])


def doubling(n: int) -> str:
    return "f(z) = z + z\n" + "f(" * n + "x" + ")" * n


def bounded(*words: str, seconds: float = 60, memory: int = 2 * GIBI) -> subprocess.CompletedProcess[bytes]:
    """The command in a process that may take so much time and address space."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    return subprocess.run(
        [*COMMAND, *words], capture_output=True, env=PLAIN, timeout=seconds, check=False, preexec_fn=limit
    )


QUICK = {
    "brackets": brackets(20_000),
    "sum": sum_of(1_100),
    "product": product_of(700),
    "calls": calls(700),
    "chain": chain(400),
    "diamonds": diamonds(200),
    "doubling": doubling(40),
}
ASKED = [
    "grad --x 0.7",
    "trace --x 0.7 --no-check",
    "trace --x 0.7 --no-check --format json",
    "trace --x 0.7 --no-check --mode forward --wrt x",
    "trace --symbolic",
    "paths --x 0.7 --count",
    "paths --x 0.7 --top 2",
    "paths --x 0.7 --factor",
    "diff",
    "diff --format latex",
    "vars",
]


@pytest.mark.parametrize("asked", ASKED)
def test_every_command_answers_for_a_program_that_is_long_or_deep(
    asked: str, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    from backprop import cli

    command, *options = asked.split()
    limit = sys.getrecursionlimit()
    for name, text in QUICK.items():
        program = tmp_path / f"{name}.bp"
        program.write_text(text, encoding="utf-8")
        code = cli.main([command, "--file", str(program), *options])
        out, err = capsysbinary.readouterr()
        assert (code, err) == (0, b""), name
        assert out, name
    assert sys.getrecursionlimit() == limit


# Formats that lay the graph out; an input that goes into every layer makes many lines.
LAID_OUT = {"cytoscape", "html", "svg", "text", "tikz"}
MODEST = {"sum": sum_of(120), "calls": calls(120), "chain": chain(60)}


def in_formats(text: str, names: Collection[str]) -> None:
    from backprop.record import Trace
    from backprop.tracing import trace

    found = trace(text, {"x": 0.7}, check=False)
    again = Trace.from_json(found.to_json())
    for name in names:
        assert shown(found, name) == shown(again, name), name


@pytest.mark.parametrize("name", MODEST)
def test_a_saved_trace_of_a_long_program_shows_in_every_format(name: str) -> None:
    in_formats(QUICK[name], set(TEXTS) - LAID_OUT)
    in_formats(MODEST[name], LAID_OUT)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODEST)
def test_a_saved_trace_of_a_long_program_is_drawn(name: str) -> None:
    in_formats(QUICK[name], LAID_OUT)


@pytest.mark.parametrize("count", [20_000, pytest.param(70_000, marks=pytest.mark.slow)])
def test_witnesses_of_a_long_program_say_what_they_did_not_check(count: int) -> None:
    from backprop.tracing import trace

    found = trace(sum_of(count), {"x": 0.5})
    assert found.gradient == {"x": float(count)}
    assert {witness.verdict for witness in found.witnesses} <= {"agrees", "not checked"}
    assert all(witness.reason for witness in found.witnesses if witness.verdict == "not checked")
    assert any(witness.verdict == "not checked" for witness in found.witnesses)


def test_the_time_to_differentiate_grows_with_the_program_and_not_with_its_square() -> None:
    from time import process_time

    from backprop.derivatives import differentiate

    def seconds(n: int) -> float:
        begun = process_time()
        differentiate(chain(n))
        return process_time() - begun

    seconds(400)
    small, large = (min(seconds(n) for _ in range(3)) for n in (250, 2_000))  # other work takes time away from some
    assert large < 8 * small * 3


def test_the_chain_rule_of_a_long_program_goes_by_the_names_of_the_adjoints() -> None:
    from backprop.derivatives import MOST_LINES_TIDIED, differentiate

    n = MOST_LINES_TIDIED
    found = differentiate(calls(n))
    lines = {line.node: line for line in found.chain}
    # v1 = sin(x), v2 = sin(v1), ..., f = sin(v[n-1])
    assert (lines["v1"].terms, lines["v1"].formula) == (("∂f/∂v2 · ∂v2/∂v1",), "∂f/∂v2*cos(v1)")
    assert lines[f"v{n - 1}"].formula == f"cos(v{n - 1})"
    assert lines["x"].formula == "∂f/∂v1*cos(x)"
    # y = x*u - 2*x with u = x + x + ...: x meets y twice, with slopes u and -2, and u n times
    both = {line.node: line for line in differentiate(f"u = {sum_of(n)}\ny = x*u - 2*x\ny*y").chain}
    assert both["y"].formula == "y + y"
    assert both["u"].formula.startswith("∂f/∂v")
    assert both["x"].formula.endswith("*u + ∂f/∂v" + both["x"].formula.rpartition("∂f/∂v")[2])


def test_a_decimal_that_outgrows_a_double_stays_exact() -> None:
    from fractions import Fraction

    from backprop.formulas import exact

    assert exact(Fraction(10**400 + 1, 10), decimal=True).value == Fraction(10**400 + 1, 10)
    assert exact(Fraction(1, 8), decimal=True).word == "0.125"


def test_a_trace_in_formulas_names_what_is_long_and_says_so() -> None:
    from backprop.tracing import trace

    found = trace(diamonds(30), {}, symbolic=True)
    assert any(note.code == "named-formulas" for note in found.notes)
    assert max(len(str(node.value)) for node in found.nodes) < 2_000
    assert max(len(str(node.adjoint)) for node in found.nodes) < 2_000
    assert not any(note.code == "named-formulas" for note in trace("x*y + sin(x)", {}, symbolic=True).notes)


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_the_named_formulas_of_a_trace_put_together_are_the_derivative(mode: str) -> None:
    """Names put in from the inputs on give the number that a trace with values gives."""
    from backprop.tracing import trace

    text = diamonds(12)
    formulas = trace(text, {}, wrt=["x"], mode=mode, symbolic=True)
    numbers = trace(text, {"x": 0.7}, wrt=["x"], mode=mode, check=False)
    known = {"x": 0.7}
    for node in formulas.nodes:
        if node.op == "const":
            continue
        known[node.id] = worked_out(str(node.value), known)
        value = numbers.node(node.id).value
        assert isinstance(value, float)
        assert known[node.id] == pytest.approx(value, rel=1e-12)
    nodes = formulas.nodes if mode == "forward" else formulas.nodes[::-1]
    for node in nodes:
        told, name = (node.tangent, f"∂{node.id}/∂x") if mode == "forward" else (node.adjoint, f"∂d12/∂{node.id}")
        if told is not None:
            known[name] = worked_out(str(told), known)
            there = numbers.node(node.id)
            wanted = there.tangent if mode == "forward" else there.adjoint
            assert isinstance(wanted, float)
            assert known[name] == pytest.approx(wanted, rel=1e-11)


def worked_out(formula: str, known: dict[str, float]) -> float:
    """A formula over names such as ∂f/∂v1, by the value of the program alone."""
    from backprop.point import Program

    names = {name: f"q{place}" for place, name in enumerate(sorted(known, key=len, reverse=True)) if "∂" in name}
    for name, plain in names.items():
        formula = formula.replace(name, plain)
    inputs = {names.get(name, name): value for name, value in known.items()}
    return float(Program(formula).at(inputs).value())


def test_more_formulas_than_anyone_reads_are_refused_at_once() -> None:
    from backprop.mistakes import TooManyDerivatives
    from backprop.tracing import trace

    with pytest.raises(TooManyDerivatives, match="4001 nodes"):
        trace(calls(4_000), {}, symbolic=True)


def test_a_max_of_more_numbers_than_its_rules_can_name_is_refused_with_the_way_out() -> None:
    import backprop
    from backprop.ops import MOST_OPERANDS

    names = [f"x{i}" for i in range(MOST_OPERANDS)]
    point = {name: float(i) for i, name in enumerate(names)}
    value, gradient = backprop.grad(f"max({', '.join(names)})", point)
    assert (value, sum(gradient.values()), gradient[names[-1]]) == (MOST_OPERANDS - 1.0, 1.0, 1.0)
    with pytest.raises(backprop.Mistake) as refused:
        backprop.grad(f"max({', '.join(names)}, y)", {**point, "y": 1.0})
    assert "groups" in refused.value.repair


def test_a_message_never_lists_thousands_of_names() -> None:
    import backprop

    many = "+".join(f"x{i}" for i in range(3_000))
    for ask in (
        lambda: backprop.grad(many, {}),
        lambda: backprop.grad(many, dict.fromkeys((f"x{i}" for i in range(2_999)), 1.0)),
        lambda: backprop.grad(many, dict.fromkeys((f"x{i}" for i in range(3_000)), 1.0), wrt=["q"]),
    ):
        with pytest.raises(backprop.Mistake) as refused:
            ask()
        assert len(refused.value.cause) + len(refused.value.repair) < 1_000


N = 10_000
# Text, point, value and slope along x: all of them known on paper.
DEEP: dict[str, tuple[str, dict[str, float], float, float]] = {
    "brackets around sums": ("(" * N + "x" + "+y)*1" * N, {"x": 2, "y": 1}, 2 + N, 1),
    "brackets to the right": ("x+(" * N + "x" + ")" * N, {"x": 2}, 2 * (N + 1), N + 1),
    "minus": ("-" * N + "x", {"x": 2}, 2, 1),
    "powers": ("x^" * N + "x", {"x": 1}, 1, 1),
    "bars": ("|(" * N + "x" + ")|" * N, {"x": 2}, 2, 1),
    "choices": ("x if x > 0 else " * N + "x", {"x": 2}, 2, 1),
    "choices in brackets": ("(" * N + "x" + " if x > 0 else y)" * N, {"x": 2, "y": 1}, 2, 1),
    "largest of": ("max(1, " * N + "x" + ")" * N, {"x": 2}, 2, 1),
    "a function of itself": ("f(z) = z + 1\n" + "f(" * N + "x" + ")" * N, {"x": 2}, 2 + N, 1),
    "functions one after the other": (
        "f0(z) = 3*z\n" + "\n".join(f"f{i + 1}(z) = f{i}(z) + 1" for i in range(N)) + f"\nf{N}(x)",
        {"x": 2},
        6 + N,
        3,
    ),
    "a name set again": ("y = x\n" + "y = y + 1\n" * N + "y", {"x": 2}, 2 + N, 1),
    "a function of thousands": (
        f"f({', '.join(f'a{i}' for i in range(N))}) = {'+'.join(f'a{i}' for i in range(N))}\nf({', '.join(['x'] * N)})",
        {"x": 2},
        2 * N,
        N,
    ),
}


@pytest.mark.parametrize("name", DEEP)
def test_ten_thousand_of_anything_within_each_other_are_no_deeper_than_one(name: str) -> None:
    import backprop

    text, point, value, slope = DEEP[name]
    found, gradient = backprop.grad(text, point)
    assert (found, gradient["x"]) == (value, slope)


@pytest.mark.parametrize("count", [100, 5_000])
def test_functions_that_double_are_refused_at_once_however_many(count: int) -> None:
    from backprop.grammar import parse
    from backprop.graph.building import build
    from backprop.mistakes import TooLarge

    text = "f0(z) = z\n" + "\n".join(f"f{i + 1}(z) = f{i}(z) + f{i}(z)" for i in range(count)) + f"\nf{count}(x)"
    with pytest.raises(TooLarge) as refused:
        build(parse(text))
    assert ("more than 10^1000" if count > 3_400 else "about 10^30") in refused.value.cause


def test_the_collector_is_left_as_it_was_found() -> None:
    import gc

    from backprop.collector import SPARING, sparing

    before = gc.get_threshold()
    try:
        for found, within in (((700, 10, 10), SPARING), ((0, 10, 10), (0, 10, 10)), ((10**6, 5, 5), (10**6, 5, 5))):
            gc.set_threshold(*found)
            with sparing():
                assert gc.get_threshold() == within
            assert gc.get_threshold() == found
    finally:
        gc.set_threshold(*before)


def kept_and_peak(text: str, operations: int) -> tuple[float, float]:
    """Bytes an operation: what the graph of a program keeps, and the most while it is read and built."""
    import tracemalloc

    from backprop.grammar import parse
    from backprop.graph.building import build

    build(parse("x*y + 1.5"))
    tracemalloc.start()
    try:
        tree = parse(text)
        graph = build(tree)
        _, peak = tracemalloc.get_traced_memory()
        del tree
        kept, _ = tracemalloc.get_traced_memory()
        assert len(graph) >= operations
    finally:
        tracemalloc.stop()
    return kept / operations, peak / operations


@pytest.mark.parametrize("name", ["wide", "chain", "nested", "functions"])
def test_a_large_program_is_read_and_built_within_its_memory(name: str) -> None:
    """At most 400 bytes an operation while it is read; of 120 that may be kept, values and adjoints need their part."""
    n = 2_000
    text = {
        "wide": "+".join(f"x*{i}.5" for i in range(n)),
        "chain": chain(n),
        "nested": "(" * n + "x" + "*1.5 + y)" * n,
        "functions": "f(a, b) = a*b\n" + "+".join(["f(x, y)"] * n),
    }[name]
    kept, peak = kept_and_peak(text, 2 * n)
    assert peak < 400
    assert kept < 60


# -- the full sizes ---------------------------------------------------------------------------------------------------

FULL = {
    "brackets": brackets(100_000),
    "product": "*".join(["x", "1.43"] * 50_000),  # a power of 0.7 alone underflows, and the witnesses say so
    "calls": calls(100_000),
    "chain": chain(100_000),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(FULL))
@pytest.mark.parametrize("asked", [*ASKED, "check --x 0.7", "trace --x 0.7 --format markdown", "trace --x 0.7"])
def test_every_command_answers_or_refuses_at_full_size(name: str, asked: str, tmp_path: Path) -> None:
    program = tmp_path / "program.bp"
    program.write_text(FULL[name], encoding="utf-8")
    command, *options = asked.split()
    done = bounded(command, "--file", str(program), *options, seconds=240)
    assert done.returncode == 0 or (done.returncode == 2 and b"too much to write out" in done.stderr)
    assert b"Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked", ["grad --x 0.7", "trace --x 0.7 --format json -o trace.json", "paths --x 0.7 --count", "check --x 0.7"]
)
def test_a_sum_of_a_million_terms_is_answered(asked: str, tmp_path: Path) -> None:
    program = tmp_path / "program.bp"
    program.write_text(sum_of(1_000_000), encoding="utf-8")
    command, *options = asked.replace("trace.json", str(tmp_path / "trace.json")).split()
    done = bounded(command, "--file", str(program), *options, seconds=600, memory=8 * GIBI)
    assert (done.returncode, done.stderr) == (0, b"")
    if command == "trace":
        with (tmp_path / "trace.json").open(encoding="utf-8") as file:
            assert json.load(file)["gradient"] == {"x": 1_000_000.0}

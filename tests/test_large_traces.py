"""Large traces: written from columns with the same bytes, shown in part, checked at a sample, and told while they last.

The ordinary run lowers the size from which columns are used, so that small programs go both ways; `-m slow` has the
full sizes.
"""

from __future__ import annotations

import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pexpect
import pytest

import backprop
from backprop import columnar, progress
from backprop.columnar import Columns, Nodes
from backprop.columnar.numbers import json_numbers
from backprop.mistakes import Mistake, TooManyDerivatives
from backprop.point import at
from backprop.record import Trace
from backprop.render import by_name
from backprop.render.excerpts import AT_ENDS, LARGEST, MOST_ROWS, excerpt, magnitude, some_items, some_lines
from backprop.render.look import Look
from backprop.schema import check_schema, schema
from backprop.tracing import trace
from backprop.witnesses import sampled
from backprop.working import Gap
from backprop.working.brought import MOST_TERMS
from drawings import TEXTS, shown

SAMPLES = sorted((Path(__file__).parent.parent / "samples").glob("*.bp"))
COMMAND = [sys.executable, "-m", "backprop"]
PLAIN = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
WAYS: list[dict[str, Any]] = [
    {},
    {"mode": "forward"},
    {"undefined": "propagate"},
    {"convention": "jax"},
    {"figures": 3},
    {"rounding": True},
]


def chain(count: int) -> str:
    """A deep program of two operations a line."""
    lines = "\n".join(f"a{i + 1} = a{i}*1.00001 + x" for i in range(count // 2))
    return f"input x = 0.7\na0 = x\n{lines}"


def wide(count: int, inputs: int = 50) -> str:
    """One sum of products and sines of many inputs."""
    some = random.Random(1)
    declared = "\n".join(f"input x{i} = {0.3 + i / 100}" for i in range(inputs))
    names = [f"x{some.randrange(inputs)}" for _ in range(count)]
    terms = [f"{a}*{b} + sin({c})*0.{len(c) % 7}1*{a}" for a, b, c in zip(*[iter(names)] * 3, strict=False)]
    return f"{declared}\n{'+'.join(terms[: count // 5])}"


def unlike(seed: int, count: int) -> str:
    """A program of anything: names bound again, constants of every sort, branches, kinks, overflows."""
    some = random.Random(seed)
    names = ["x", "y", "α", "z_1"]
    told = [f"input x = {some.choice([0.5, -1.5, 0.0, 1e-7, 3e8])!r}", f"input y = {some.choice([2.0, -3.0, 1.0])!r}"]
    told += ["input α = 0.3", f"input z_1 = {some.choice([-2.0, 1e200, 7])!r}"]
    literals = ["2", "0.5", "1e-3", "-3", "1/3", "pi", "e", "1e300", "-0.0", "2.50", "tau", "100000000", "∞"]
    functions = ["sin", "tanh", "exp", "log", "sqrt", "abs", "relu", "floor", "sign", "gamma", "elu", "acos"]
    shapes = ["({0}) + ({1})", "({0}) - ({1})", "({0})*({1})", "({0})/({1})", "({0})*({1}) - ({2})", "-({0})"]
    shapes += ["where({0} > {1}, {1}, {2})", "max({0}, {1}, {2}, 1, {0})", "({0})^({1})", "({0})^2", "({0})^(-1)"]
    shapes += ["clip({0}, {1}, {2})", "({0}) % ({1})", "{0}", "min({0}, {1})", "({0})*({0})"]
    shapes += [f"{name}({{0}})" for name in functions]
    for i in range(count):
        operands = [some.choice(names[-8:]) if some.random() < 0.7 else some.choice(literals) for _ in range(3)]
        name = f"t{i}" if some.random() < 0.7 else some.choice(["x", "q", "β", "t0", "pi"])
        told.append(f"{name} = {some.choice(shapes).format(*operands)}")
        names.append(name)
    return "\n".join(told)


def both_ways(text: str, monkeypatch: pytest.MonkeyPatch, **how: Any) -> tuple[Trace, Trace] | None:
    """The trace held as records and as columns; None where the question is a mistake, which it is either way."""
    found: list[Trace | None] = []
    for large in (1 << 60, 0):
        monkeypatch.setattr(columnar, "LARGE", large)
        try:
            found.append(trace(text, {}, check=False, **how))
        except Mistake:
            found.append(None)
    records, columns = found
    if records is None or columns is None:
        assert records is columns
        return None
    return records, columns


# -- the same bytes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_columns_and_records_are_written_with_the_same_bytes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = path.read_text(encoding="utf-8")
    for how in WAYS if len(text) < 3_000 else WAYS[:1]:
        pair = both_ways(text, monkeypatch, **how)
        if pair is not None:
            records, columns = pair
            assert columns.to_json() == records.to_json()
            assert columns == records


@pytest.mark.parametrize("seed", range(14))
def test_random_programs_are_written_with_the_same_bytes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = unlike(seed, 4 + seed % 25)
    for how in WAYS[:4]:
        pair = both_ways(text, monkeypatch, **how | ({"wrt": ["x"]} if how.get("mode") else {}))
        assert pair is not None, text
        records, columns = pair
        assert columns.to_json() == records.to_json()
        assert columns.to_dict() == records.to_dict()


def test_numbers_are_written_as_json_has_them() -> None:
    some = random.Random(7)
    numbers = [some.uniform(-1, 1) * 10.0 ** some.randint(-30, 30) for _ in range(500)]
    numbers += [0.0, -0.0, 1e15, 1e16, 1e-4, 1e-5, 5e-324, 1.7976931348623157e308, 123456789.0]
    assert json_numbers(numbers) == [json.dumps(number + 0.0) for number in numbers]
    assert json_numbers([float("inf"), None, True, float("nan")]) == ['"Infinity"', "", "true", ""]
    assert json_numbers([float("nan")], propagates=True) == ['"NaN"']


@pytest.mark.parametrize("format", TEXTS)
def test_every_format_shows_columns_and_records_alike(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in (unlike(3, 30), chain(60), SAMPLES[0].read_text(encoding="utf-8")):
        pair = both_ways(text, monkeypatch)
        assert pair is not None
        for look in (Look(), Look(width=80), Look(ascii=True), Look().in_full()):
            records, columns = (shown(found, format, look) for found in pair)
            assert columns == records


# -- views ------------------------------------------------------------------------------------------------------------


def test_nodes_edges_and_steps_of_a_large_trace_are_sequences(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = both_ways(unlike(5, 20), monkeypatch)
    assert pair is not None
    records, columns = pair
    for name in ("nodes", "edges", "steps"):
        every, views = getattr(records, name), getattr(columns, name)
        assert len(views) == len(every)
        assert [views[place] for place in range(len(views))] == every
        assert (views[-1], views[2:5]) == (every[-1], every[2:5])
        with pytest.raises(IndexError):
            views[len(every)]
    assert columns.node("t3") == records.node("t3")


def test_hardly_a_record_is_made_while_a_large_trace_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    found = trace(chain(4_000), {}, check=False)
    assert isinstance(found.nodes, Nodes)
    made: list[int] = []
    whole = Columns.node

    def counted(self: Columns, place: int) -> Any:
        made.append(place)
        return whole(self, place)

    monkeypatch.setattr(Columns, "node", counted)
    assert found.to_json().count('"phase"') > 10_000
    assert set(made) == {len(found.nodes) - 1}  # the output, over which no edge leads


def test_what_is_told_of_an_edge_at_a_kink_stays_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = both_ways("input x = 0\nabs(x)*2 + x", monkeypatch)
    assert pair is not None
    (edge,) = (edge for edge in pair[1].edges if edge.left is not None)
    assert (edge.source, edge.left, edge.right) == ("x", -1.0, 1.0)


@pytest.mark.parametrize("text", [chain(2_500), wide(2_500)], ids=["deep", "wide"])
def test_a_large_trace_reads_back_and_fits_its_schema(text: str) -> None:
    found = trace(text, {})
    assert isinstance(found.nodes, Nodes)
    written = found.to_json()
    back = Trace.from_json(written)
    assert back == found
    assert back.to_json() == written
    record = json.loads(written)
    for name in ("nodes", "edges", "steps"):  # what is alike in thousands is looked at in some
        record[name] = [record[name][place] for place in sampled.chosen(len(record[name]), 60)]
    jsonschema.Draft202012Validator(schema()).validate(record)


def test_the_time_to_write_a_trace_grows_with_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    def seconds(count: int) -> float:
        found = trace(chain(count), {}, check=False)
        begun = time.process_time()
        for _ in found.json_lines():
            pass
        return time.process_time() - begun

    seconds(1_500)
    small, large = (min(seconds(count) for _ in range(2)) for count in (1_500, 12_000))
    assert large < 8 * small * 2  # 1.0 to 1.2 on a machine that is left alone


# -- tables -----------------------------------------------------------------------------------------------------------


def test_a_table_of_many_rows_shows_head_tail_and_the_largest_adjoints() -> None:
    found = trace(chain(4_000) + "\nb = 1000*a7\nc = 0.0001*b\na2000 + c", {}, check=False)
    shown = "\n".join(by_name("table").render(found, Look()))
    assert shown.count("\n") < 250
    for name in ("a1 ", "∂f/∂a2000", "∂f/∂x"):  # the first, the last, the sum over two thousand edges
        assert f"\n{name}" in shown
    assert "2001 edges meet here: add" in shown
    assert "… 1993 more …" in shown  # of its terms
    assert f"of {len(found.nodes)} nodes these tables show the first 20, the last 20 and the 20" in shown
    assert "--full shows all" in shown


def test_the_largest_adjoint_is_shown_wherever_it_is() -> None:
    text = chain(4_000).replace("a1000 = a999*1.00001 + x", "s = a999/50\na1000 = s*50")
    assert "\n∂a2000/∂s " in "\n".join(by_name("table").render(trace(text, {}, check=False), Look()))


def test_an_excerpt_says_how_many_rows_it_leaves_out() -> None:
    sizes = {70: 5.0, 2_000: -7.0, 2_001: 6.0}
    found = list(excerpt(range(3_000), lambda row: sizes.get(row, 0.0), Look()))
    gaps = [one.count for one in found if isinstance(one, Gap)]
    rows = [one for one in found if not isinstance(one, Gap)]
    assert rows == [*range(AT_ENDS), 70, 2_000, 2_001, *range(3_000 - AT_ENDS, 3_000)]
    assert sum(gaps) + len(rows) == 3_000
    assert list(excerpt(range(3_000), sizes.get, Look().in_full())) == list(range(3_000))
    assert list(excerpt(range(MOST_ROWS), sizes.get, Look())) == list(range(MOST_ROWS))
    everything = list(excerpt(range(5_000), float, Look()))
    assert len(everything) == 2 * AT_ENDS + LARGEST + 1
    assert (magnitude(float("nan")), magnitude("1/4"), magnitude([-3.0, 2.0])) == (0.0, 0.25, 3.0)


def test_long_programs_and_many_inputs_are_quoted_in_part() -> None:
    assert list(some_lines(["a"] * 500, Look()))[10] == "… 480 more lines …"
    assert "… 9200 more letters …" in next(some_lines(["x" * 10_000], Look()))
    assert next(some_lines(["x" * 10_000], Look().in_full())) == "x" * 10_000
    shown, more = some_items(((f"x{i}", 1.0) for i in range(3_000)), Look())
    assert (len(shown), more) == (20, 2_980)


@pytest.mark.parametrize("format", ["table", "markdown"])
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_a_saved_large_trace_shows_the_same_excerpt(format: str, mode: str) -> None:
    found = trace(chain(3_000), {}, check=False, mode=mode)
    back = Trace.from_json(found.to_json())
    for look in (Look(), Look(width=80), Look(width=40)) if mode == "reverse" else (Look(), Look().in_full()):
        shown = list(by_name(format).render(found, look))
        assert shown == list(by_name(format).render(back, look))
        assert (len(shown) < 600) is not look.full
        assert look.width is None or all(len(line) <= look.width for line in shown) or format == "markdown"


def test_a_gradient_of_many_inputs_shows_the_largest(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from backprop import cli

    program = tmp_path / "many.bp"
    told = [f"input x{i} = {i}" for i in range(1_500)]
    program.write_text("\n".join([*told, "+".join(f"x{i}^2" for i in range(1_500))]), encoding="utf-8")
    assert cli.main(["grad", "--file", str(program)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith("f ")
    assert (shown[1].split(), shown[21]) == (["∂f/∂x0", "=", "0"], "… 1440 more")
    assert shown[-2].split() == ["∂f/∂x1499", "=", "2998"]
    assert "--full shows all" in shown[-1]
    assert cli.main(["grad", "--file", str(program), "--full"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1_501
    assert cli.main(["trace", "--file", str(program), "--no-check"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) < 250
    assert any("of 1500 derivatives these tables show" in line for line in shown)


def test_a_sum_over_very_many_edges_shows_its_ends() -> None:
    found = trace("+".join(["x"] * (MOST_TERMS + 20)), {"x": 2}, check=False)
    text = next(step.text for step in found.steps if step.phase == "reverse" and step.edge is None and step.node == "x")
    assert "… 112 more …" in text
    assert "120 edges meet here: add" in text


# -- witnesses --------------------------------------------------------------------------------------------------------


def large_point(count: int = 8_000) -> Any:
    return at(chain(count), {})


def test_witnesses_of_a_large_program_say_what_they_looked_at() -> None:
    found = trace(chain(8_000), {})
    said = {witness.by: witness for witness in found.witnesses}
    nodes, edges = said["nodes"], said["sympy rules"]
    assert nodes.sample is not None
    assert nodes.sample[1] == len(found.nodes)
    assert 500 < nodes.sample[0] < 1_100
    assert f"{nodes.sample[0]} of {len(found.nodes)} nodes: the first, the last" in (nodes.reason or "")
    assert edges.sample is not None
    assert edges.sample[0] < edges.sample[1]
    assert said["difference"].verdict == "agrees"
    assert said["difference"].reason == "all inputs moved at once, along one direction, in doubles"
    assert said["sympy"].verdict == "not checked"
    shown = list(by_name("table").render(found, Look()))
    assert shown[-1].endswith("nodes tried)")
    assert f"every check agrees ({edges.sample[0]} of {edges.sample[1]} edges" in shown[-1]
    assert trace(chain(8_000), {}).witnesses == found.witnesses  # the same sample each time


def test_a_sample_has_both_ends_and_the_largest() -> None:
    assert sampled.chosen(5, 10) == [0, 1, 2, 3, 4]
    some = sampled.chosen(100_000, 50)
    assert (len(some), some[0], some[-1]) == (50, 0, 99_999)
    here = at("a = 3*x\nb = 100*a\nb/100 + x", {"x": 1.0})
    (top,) = sampled.largest(here, 1)
    assert here.graph.ids[top] == "x"


def test_a_value_that_is_wrong_at_a_sampled_node_is_found() -> None:
    here = large_point()
    last = len(here.graph) - 1
    here.values = list(here.values)
    here.values[last] *= 1 + 1e-9
    (said,) = sampled.testify(here)
    assert (said.verdict, said.reason) == ("DISAGREES", "the value of add at node a4000 is not what it should be")


def test_an_adjoint_that_is_wrong_at_a_sampled_node_is_found() -> None:
    here = large_point()
    back = here.reverse()
    back.adjoints = list(back.adjoints)
    back.adjoints[here.graph.inputs["x"]] *= 1 + 1e-9
    (said,) = sampled.testify(here)
    assert (said.verdict, said.reason) == ("DISAGREES", "the adjoint of input at node x is not what it should be")


def test_a_gradient_that_is_wrong_by_a_part_in_a_thousand_is_seen_along_one_direction() -> None:
    here = large_point()
    right = sampled.direction(here, here.wrt, "all", "difference")
    assert right.verdict == "agrees"
    assert (right.digits or 0) > 6
    here._gradient = {name: slope * 1.001 for name, slope in here.gradient().items()}
    assert sampled.direction(here, here.wrt, "all", "difference").verdict == "DISAGREES"


def test_a_small_program_is_not_sampled() -> None:
    assert all(witness.sample is None for witness in trace("x*y", {"x": 1, "y": 2}).witnesses)


def test_a_conclusion_claims_nothing_of_edges_that_were_not_tried() -> None:
    report = backprop.check(chain(8_000), {})
    (conclusion,) = report.conclusions
    assert report.exit_code == 0
    assert "edges were tried, and nothing is said of the others" in conclusion.text
    jsonschema.Draft202012Validator(check_schema()).validate(report.to_dict())


def test_formulas_of_a_program_that_nobody_could_read_are_refused_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from backprop import derivatives

    monkeypatch.setattr(derivatives, "MOST_NODES", 1_000)
    with pytest.raises(TooManyDerivatives, match="1502 nodes") as refused:
        derivatives.differentiate(chain(1_000))
    assert "backprop grad" in refused.value.repair


# -- progress ---------------------------------------------------------------------------------------------------------


class Screen(io.StringIO):
    """A terminal, as far as anyone can tell."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_nothing_is_said_of_work_that_takes_less_than_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    screen = Screen()
    with progress.watching(screen):
        progress.phase("values")
        progress.at(3)
    assert screen.getvalue() == ""


def test_longer_work_is_told_with_its_phase_and_wiped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    monkeypatch.setattr(progress, "INTERVAL", 0.01)
    screen = Screen()
    with progress.watching(screen):
        progress.phase("rows", total=100, unit="rows")
        for _ in progress.each(range(60)):
            progress.phase("derivatives")  # of one row: the count of rows goes on
        until = time.monotonic() + 5
        while "60%" not in screen.getvalue() and time.monotonic() < until:
            time.sleep(0.01)
        with progress.set_aside():
            screen.write("a note\n")
        assert screen.getvalue().endswith("\r\x1b[2Ka note\n")
        progress.results_follow()
        told = screen.getvalue()
        progress.phase("writing")
        time.sleep(0.05)
        assert screen.getvalue() == told
    assert "rows         ━━━━━━━━━━━━━━──────────  60%  60 of 100 rows" in told
    assert told.endswith("\r\x1b[2K")


@pytest.mark.parametrize("stream", [io.StringIO(), Screen()], ids=["pipe", "dumb"])
def test_nothing_is_said_where_nobody_watches(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.watching(stream):
        progress.phase("values")
        assert progress.each([1, 2]) == [1, 2]
        time.sleep(0.02)
    assert stream.getvalue() == ""


# -- real processes ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "program.bp"
    path.write_text(chain(20_000), encoding="utf-8")
    return path


def children(process: int) -> list[int]:
    """The processes that a process has started, as far as the system tells."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(fields[1]) == process and fields[0] != "Z":
            found.append(int(entry.parent.name))
    return found


MOMENTS = [("reading", ""), ("checking", "a child"), ("writing", "a file")]


@pytest.mark.skipif(not Path("/proc").exists(), reason="the system tells nothing of processes, so no moment is known")
@pytest.mark.parametrize(("moment", "sign"), MOMENTS)
def test_an_interrupt_ends_at_once_and_leaves_nothing_behind(
    moment: str, sign: str, program: Path, tmp_path: Path
) -> None:
    out = tmp_path / "trace.json"
    options = [] if moment == "checking" else ["--no-check"]
    with subprocess.Popen(
        [*COMMAND, "trace", "--file", str(program), *options, "-o", str(out)], stderr=subprocess.PIPE, env=PLAIN
    ) as running:
        until = time.monotonic() + 60
        started: list[int] = []
        while time.monotonic() < until and running.poll() is None:
            started = children(running.pid)
            if (sign == "" and time.monotonic() > until - 59.7) or (sign == "a child" and started):
                break
            if sign == "a file" and any(tmp_path.iterdir()):
                break
            time.sleep(0.005)
        running.send_signal(signal.SIGINT)
        begun = time.monotonic()
        _, err = running.communicate(timeout=30)
        assert time.monotonic() - begun < 10  # at once, on a machine with other work
    assert (running.returncode, err) == (130, b"")
    assert list(tmp_path.iterdir()) == []
    until = time.monotonic() + 10
    while time.monotonic() < until and any(Path(f"/proc/{child}").exists() for child in started):
        time.sleep(0.05)
    assert not any(Path(f"/proc/{child}").exists() for child in started)


def test_a_terminal_is_told_what_goes_on_and_left_clean(program: Path, tmp_path: Path) -> None:
    words = ["-m", "backprop", "trace", "--file", str(program), "-o", str(tmp_path / "trace.json")]
    running = pexpect.spawn(
        sys.executable, words, env=PLAIN | {"TERM": "xterm"}, timeout=60, dimensions=(24, 80), encoding="utf-8"
    )
    running.expect(pexpect.EOF)
    running.close()
    told = running.before or ""
    assert running.exitstatus == 0
    assert "writing" in told or "checking" in told
    assert told.endswith("\r\x1b[2K")
    assert all(len(line) < 80 for line in told.split("\r\x1b[2K"))


# -- the full sizes ---------------------------------------------------------------------------------------------------

FULL = {"deep": chain, "wide": wide}


def timed(*words: str) -> tuple[float, float]:
    """The processor's seconds and the gigabytes that a command takes."""
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    code = (
        "import resource, subprocess, sys; code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL); "
        "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *COMMAND, *words], capture_output=True, env=PLAIN, check=True, text=True
    )
    returned, kilobytes = map(int, done.stdout.split())
    assert returned == 0, done.stderr
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, kilobytes / 1e6


@pytest.mark.slow
@pytest.mark.parametrize("name", list(FULL))
def test_a_trace_of_a_million_operations_is_written_in_time_and_memory(name: str, tmp_path: Path) -> None:
    per_operation = []
    for count in (100_000, 1_000_000):
        path, out = tmp_path / f"{count}.bp", tmp_path / "trace.json"
        path.write_text(FULL[name](count), encoding="utf-8")
        alone, _ = timed("grad", "--file", str(path))
        seconds, gigabytes = timed("trace", "--file", str(path), "--no-check", "-o", str(out))
        checked, with_witnesses = timed("trace", "--file", str(path), "-o", str(out))
        per_operation.append(seconds / count)
        assert seconds < 4.5 * alone
        assert checked < 1.5 * seconds + 20
        assert max(gigabytes, with_witnesses) < 1.3
        with out.open(encoding="utf-8") as file:
            first = [next(file) for _ in range(4)]
        assert first[1] == ' "format": "backprop-trace",\n'
    assert per_operation[1] < 1.5 * per_operation[0]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["check", "trace"])
def test_a_million_operations_are_checked_and_shown(command: str, tmp_path: Path) -> None:
    path = tmp_path / "program.bp"
    path.write_text(chain(1_000_000), encoding="utf-8")
    _, gigabytes = timed(command, "--file", str(path))
    assert gigabytes < 1.3

"""The command line as its users meet it: in real processes with pipes, and in this process for the small cases."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from backprop import asked, commands, completion
from command import call

COMMAND = [sys.executable, "-m", "backprop"]
PLAIN = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}


def process(
    *words: str, stdin: bytes | str = b"", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    return subprocess.run(
        [*COMMAND, *words], input=data, capture_output=True, env=PLAIN | (env or {}), timeout=60, check=False
    )


def shell(line: str) -> subprocess.CompletedProcess[bytes]:
    """A line of bash, whose exit code is that of the first command in a pipe that fails."""
    words = ["bash", "-o", "pipefail", "-c", line]
    return subprocess.run(words, capture_output=True, env=PLAIN, timeout=60, check=False)


def gradient(*words: str, stdin: str = "") -> dict[str, float]:
    code, out, err = call("grad", "--format", "json", *words, stdin=stdin)
    assert (code, err) == (0, "")
    found: dict[str, float] = json.loads(out)["gradient"]
    return found


# -- words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("-x*y+f", "--x", "3", "--y", "-1", "--f", "2"),
        ("--x", "3", "-x*y+f", "--y=-1", "f=2"),
        ("--x", "3", "--y", "−1", "f=2", "--", "-x*y+f"),
    ],
)
def test_an_expression_may_begin_with_a_minus_wherever_it_stands(words: tuple[str, ...]) -> None:
    # d(-x*y+f) = -y dx - x dy + df
    assert gradient(*words) == {"x": 1.0, "y": -3.0, "f": 1.0}


def test_a_variable_may_be_called_like_an_option() -> None:
    assert gradient("format*at", "format=2", "at=5") == {"format": 5.0, "at": 2.0}


def test_an_option_that_is_needed_as_a_variable_says_how() -> None:
    code, out, err = call("grad", "format*2", "--format", "3")
    assert (code, out) == (2, "")
    assert "format=3" in err


def test_a_constants_name_is_a_variable_once_it_has_a_value() -> None:
    assert gradient("e*x", "--e", "3", "--x", "2") == {"e": 2.0, "x": 3.0}
    assert set(gradient("e*x", "--x", "2")) == {"x"}


def test_a_name_is_found_however_its_digits_are_typed() -> None:
    assert gradient("x₂^2", "--x2", "3") == {"x₂": 6.0}
    assert gradient("λ^2", "--λ", "3") == {"λ": 6.0}


def test_an_unused_variable_is_accepted_with_gradient_zero() -> None:
    assert gradient("x^2", "--x", "3", "--q", "1") == {"x": 6.0, "q": 0.0}


def test_a_slip_in_an_option_is_a_mistake_and_not_a_variable() -> None:
    code, _, err = call("trace", "x^2", "--x", "3", "--figurs", "3")
    assert code == 2
    assert "--figures" in err


def test_a_missing_value_names_what_was_given_and_how_to_give_it() -> None:
    code, _, err = call("grad", "x*y*z", "--x", "3", "--yy", "1", "z=1")
    assert code == 2
    assert "--y 2" in err
    assert "y=2" in err
    assert "yy" in err


def test_infinity_is_a_value() -> None:
    code, out, _ = call("grad", "exp(x)", "--x", "-inf", "--format", "json")
    assert (code, json.loads(out)) == (0, {"value": 0.0, "gradient": {"x": 0.0}})


# -- where programs and values come from ----------------------------------------------------------------------------


def test_a_program_comes_from_stdin_or_a_file_and_values_from_a_point_file(tmp_path: Path) -> None:
    (tmp_path / "p.bp").write_text("input x = 1\n# λ\nx^2*y\n", encoding="utf-8")
    (tmp_path / "point.json").write_text('{"x": 5, "y": "1/2"}', encoding="utf-8")
    program, point = str(tmp_path / "p.bp"), str(tmp_path / "point.json")
    assert gradient("--file", program, "--at", point) == {"x": 5.0, "y": 25.0}
    assert gradient("--file", program, "--at", point, "--x", "2") == {"x": 2.0, "y": 4.0}
    assert gradient("-", "--y", "3", "--x", "2", stdin="x^2*y") == {"x": 12.0, "y": 4.0}
    code, _, err = call("grad", "x", "--file", program)
    assert (code, "word too many" in err) == (2, True)


def test_a_trace_in_json_stands_for_its_program_at_its_point() -> None:
    traced = process("trace", "(x*y+z)*x", "x=3", "y=-1", "z=2", "--no-check", "--format", "json")
    assert traced.returncode == 0
    paths = process("paths", "-", "--format", "json", stdin=traced.stdout)
    assert paths.returncode == 0
    found = {route["from"]: route["sum"] for route in json.loads(paths.stdout)["routes"]}
    assert found == {"x": -4.0, "y": 9.0, "z": 3.0}
    moved = process("grad", "-", "--x", "1", "--format", "json", stdin=traced.stdout)
    assert json.loads(moved.stdout)["gradient"] == {"x": 0.0, "y": 1.0, "z": 1.0}
    shown = process("render", "-", "--format", "json", stdin=traced.stdout)
    assert shown.stdout == traced.stdout


@pytest.mark.parametrize("path", ["/nowhere/at/all", "/", ""])
def test_a_file_that_cannot_be_read_is_a_mistake(path: str) -> None:
    for words in (("grad", "--file", path or "\0"), ("render", path or "\0"), ("test", path or "\0")):
        code, _, err = call(*words)
        assert (code, "Traceback" in err) == (2, False)


def test_binary_on_stdin_is_a_mistake() -> None:
    done = process("trace", "-", stdin=b"\x89PNG\r\n\x1a\n\x00\xff")
    assert done.returncode == 2
    assert b"no text" in done.stderr


def test_json_that_is_no_trace_is_a_mistake() -> None:
    assert call("paths", "-", stdin='{"a": 1}')[0] == 2
    assert call("render", "-", stdin="[" * 50_000)[0] == 2


def test_a_closed_stdin_and_a_closed_stdout_are_survived() -> None:
    closed = shell(f"{sys.executable} -m backprop grad - <&-")
    assert (closed.returncode, b"Traceback" in closed.stderr) == (2, False)
    closed = shell(f"{sys.executable} -m backprop grad 'x^2' --x 3 >&-")
    assert b"Traceback" not in closed.stderr


# -- exit codes -----------------------------------------------------------------------------------------------------


def test_exit_code_0_is_an_answer_on_stdout_and_silence_on_stderr() -> None:
    done = process("grad", "(x*y + z)*x", "--x", "3", "--y", "-1", "--z", "2")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == "f     = -3\n∂f/∂x = -4\n∂f/∂y = 9\n∂f/∂z = 3\n"


def test_exit_code_1_is_an_expectation_that_differs() -> None:
    done = process("test", "-", stdin="input x = 3\nf = x^2\n# expect df/dx = 7\n")
    assert done.returncode == 1
    assert b"df/dx = 6" in done.stdout


@pytest.mark.parametrize(
    "words",
    [("grad", "x**"), ("grad", "x"), ("grad",), ("trac", "x"), ("x*y",), ("grad", "x", "--x"), ("ops", "tanhh")],
)
def test_exit_code_2_is_a_mistake_told_on_stderr(words: tuple[str, ...]) -> None:
    done = process(*words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr
    assert b"Traceback" not in done.stderr


def test_exit_code_3_is_an_undefined_point_and_the_json_is_written_all_the_same() -> None:
    assert process("grad", "log(x)", "--x", "-1").returncode == 3
    done = process("trace", "log(x) + x", "--x", "-1", "--format", "json")
    assert done.returncode == 3
    record = json.loads(done.stdout)
    assert "value" not in record
    assert any(note["code"] == "undefined" for note in record["notes"])


def test_exit_code_130_is_an_interrupt_without_a_traceback() -> None:
    busy = subprocess.Popen(
        [*COMMAND, "step", "param w = 1; w^2", "--steps", "100000000", "--format", "ndjson"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=PLAIN,
    )
    assert busy.stdout is not None
    assert json.loads(busy.stdout.readline())["step"] == 1  # every line is handed over at once
    busy.send_signal(signal.SIGINT)
    _, err = busy.communicate(timeout=30)
    assert (busy.returncode, err) == (130, b"")


@pytest.mark.parametrize(
    "words", ["trace 'x^2' --x 3 --no-check", "ops", "paths 'x*x*x*x*x*x' --x 1", "ops > /dev/full"]
)
def test_a_closed_pipe_ends_quietly_and_a_full_disk_with_a_message(words: str) -> None:
    line = f"{sys.executable} -m backprop {words} " + ("" if "full" in words else "| head -1")
    done = shell(line)
    assert b"Traceback" not in done.stderr
    if "full" in words:
        assert (done.returncode, b"stdout" in done.stderr) == (2, True)
    else:
        assert (done.returncode, done.stderr, done.stdout.count(b"\n")) == (0, b"", 1)


def test_a_reader_that_is_gone_before_the_first_line_is_survived() -> None:
    line = f"{sys.executable} -m backprop ops | true"
    done = shell(line)
    assert (done.returncode, done.stderr) == (0, b"")


def test_bytes_that_are_no_text_on_the_line_give_a_message() -> None:
    for words in ([b"x\xff^2"], [b"x^2", b"--x", b"\xff"], [b"x^2", b"--\xff", b"1"], [b"--file", b"\xff"]):
        line = [*map(os.fsencode, COMMAND), b"grad", *words]
        done = subprocess.run(line, capture_output=True, env=PLAIN, check=False)
        assert (done.returncode, b"Traceback" in done.stderr) == (2, False)


def test_a_fault_of_ours_is_told_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.delenv("BACKPROP_DEBUG", raising=False)
    monkeypatch.setattr("backprop.gradient.answered", broken)
    code, out, err = call("grad", "x", "x=1")
    assert (code, out) == (70, "")
    assert "on purpose" in err


@pytest.mark.parametrize("error", [RecursionError, MemoryError])
def test_the_end_of_stack_or_memory_is_a_message(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("backprop.gradient.answered", broken)
    code, out, err = call("grad", "x", "x=1")
    assert (code, out, "too large" in err) == (2, "", True)


# -- colour, letters, files ------------------------------------------------------------------------------------------


def test_colour_is_for_terminals_unless_it_is_forced() -> None:
    words = ("trace", "x^2", "--x", "3", "--no-check")
    assert b"\x1b" not in process(*words).stdout
    assert b"\x1b" in process(*words, env={"FORCE_COLOR": "1"}).stdout
    assert b"\x1b" not in process(*words, env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout


def test_an_ascii_stdout_gets_ascii() -> None:
    for words in (("trace", "λ^2", "--λ", "3", "--no-check"), ("ops",), ("--help",), ("paths", "λ^2", "--λ", "1")):
        done = process(*words, env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
        assert (done.returncode, done.stderr) == (0, b"")
        done.stdout.decode("ascii")


def test_a_piped_table_is_complete_whatever_the_width_of_the_screen() -> None:
    wide = " + ".join(f"variable_number_{i}" for i in range(20))
    values = [f"variable_number_{i}=1" for i in range(20)]
    done = process("grad", wide, *values, env={"COLUMNS": "20"})
    assert done.stdout.count(b"\n") == 21


def test_a_file_is_chosen_by_its_ending_and_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    assert call("trace", "x^2", "--x", "3", "--no-check", "-o", str(path)) == (0, "", "")
    assert json.loads(path.read_text(encoding="utf-8"))["gradient"] == {"x": 6.0}
    path.chmod(0o640)
    assert call("grad", "x^2", "--x", "4", "-o", str(path))[0] == 0
    assert json.loads(path.read_text(encoding="utf-8")) == {"value": 16.0, "gradient": {"x": 8.0}}
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    before = path.read_bytes()
    assert call("grad", "log(x)", "--x", "-1", "-o", str(path))[0] == 3
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("words", "name", "start"),
    [
        (("diff", "x^2"), "f.tex", "\\begin{align*}"),
        (("paths", "x^2", "x=1"), "f.csv", "from,to"),
        (("paths", "x^2", "x=1"), "f.ndjson", '{"what"'),
        (("step", "param w = 1; w^2"), "f.ndjson", '{"step": 1'),
        (("grad", "x^2", "x=1"), "f.txt", "f "),
        (("grad", "x^2", "x=1"), "f", "f "),
        (("check", "x^2", "x=1"), "f.json", "{"),
    ],
)
def test_every_command_chooses_its_format_by_the_ending(
    words: tuple[str, ...], name: str, start: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    assert call(*words, "-o", str(path)) == (0, "", "")
    assert path.read_text(encoding="utf-8").startswith(start)


def test_an_ending_that_a_command_has_no_format_for_is_a_mistake(tmp_path: Path) -> None:
    assert call("grad", "x^2", "x=1", "-o", str(tmp_path / "f.csv"))[0] == 2
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_breaks_off_leaves_nothing_behind(tmp_path: Path) -> None:
    def lines() -> Iterator[str]:
        yield "first"
        raise KeyboardInterrupt

    path = tmp_path / "out.txt"
    with pytest.raises(KeyboardInterrupt):
        asked.write_file(str(path), lines())
    assert list(tmp_path.iterdir()) == []


def test_a_link_is_followed_and_a_device_is_written_to(tmp_path: Path) -> None:
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    assert call("grad", "x^2", "--x", "4", "-o", str(link))[0] == 0
    assert link.is_symlink()
    assert json.loads(target.read_text(encoding="utf-8"))["value"] == 16.0
    assert call("grad", "x^2", "--x", "4", "-o", "/dev/null") == (0, "", "")


@pytest.mark.parametrize("path", ["/nowhere/x.json", "/", "/proc/x.json", "x.unheard-of", "\0", "\ud800"])
def test_a_file_that_cannot_be_written_or_chosen_is_a_mistake(path: str) -> None:
    code, out, err = call("trace", "x^2", "--x", "3", "--no-check", "-o", path)
    assert (code, out, "Traceback" in err) == (2, "", False)


# -- commands --------------------------------------------------------------------------------------------------------


def test_forward_mode_moves_one_input() -> None:
    asked = ("--mode", "forward", "--wrt", "b", "--no-check", "--format", "json")
    code, out, _ = call("trace", "c=a+b; d=b+1; e=c*d", "a=2", "b=1", *asked)
    tangents = {node["id"]: node.get("tangent") for node in json.loads(out)["nodes"]}
    assert code == 0
    assert [tangents[name] for name in "bcde"] == [1.0, 1.0, 1.0, 5.0]


def test_diff_writes_derivatives_as_formulas() -> None:
    code, out, err = call("diff", "x^2*y", "--wrt", "x", "--wrt", "x,y", "--format", "json")
    assert (code, err) == (0, "")
    # paper: d/dx = 2xy, d²/dxdy = 2x
    assert {",".join(one["wrt"]): one["formula"] for one in json.loads(out)["derivatives"]} == {
        "x": "2*x*y",
        "x,y": "2*x",
    }
    assert "\\frac{\\partial f}{\\partial x}" in call("diff", "x^2", "--format", "latex")[1]
    assert "no use" in call("diff", "x^2", "--x", "3")[2]
    assert call("diff", "x^2", "--order", "0")[0] == 2


def test_paths_are_listed_counted_ranked_and_factored() -> None:
    lesson = ("paths", "c=a+b; d=b+1; e=c*d", "a=2", "b=1", "--from", "b")
    assert "1 · 2 + 1 · 3 = 5" in call(*lesson)[1]
    assert "2 paths" in call(*lesson, "--count")[1]
    best = json.loads(call(*lesson, "--top", "1", "--format", "json")[1])["routes"][0]["paths"]
    assert [path["term"] for path in best] == [3.0]
    symbols = ("paths", "Y=α*X+β*X+γ*X; Z=δ*Y+ε*Y+ζ*Y", "--from", "X", "--symbolic", "--factor")
    assert "(α+β+γ)·(δ+ε+ζ)" in call(*symbols)[1]
    assert call(*lesson, "--count", "--factor")[0] == 2
    assert call(*lesson, "--to", "nowhere")[0] == 2


def test_a_count_of_paths_beyond_any_listing_is_exact() -> None:
    diamonds = "; ".join(f"x{i + 1} = x{i} + x{i} + x{i}" for i in range(200))
    code, out, _ = call("paths", diamonds, "x0=1", "--from", "x0", "--count", "--format", "json")
    assert code == 0
    assert json.loads(out)["routes"][0]["count"] == 3**200


def test_check_tells_every_witness() -> None:
    code, out, _ = call("check", "x^2*y", "x=3", "y=2", "--format", "json")
    assert code == 0
    assert {one["verdict"] for one in json.loads(out)["witnesses"]} == {"agrees"}


def test_the_table_of_operations_and_one_of_them() -> None:
    code, out, _ = call("ops")
    assert code == 0
    assert "tanh(x)" in out
    code, out, _ = call("ops", "tanh")
    assert code == 0
    assert "1 - out^2" in out
    assert "tanh(0.5) = 0.462117" in out  # 0.46211715726...
    assert [row["name"] for row in json.loads(call("ops", "log", "--format", "json")[1])] == ["log", "log_base"]


def test_every_operation_has_its_page_with_an_example_that_works() -> None:
    from backprop import ops

    for row in ops.rows():
        code, out, err = call("ops", row.name)
        assert (code, err) == (0, ""), row.name
        assert row.says in out


def test_the_variables_of_an_expression() -> None:
    code, out, _ = call("vars", "input a = 2; param w = 1/3; a*x₁ + w*e", "--format", "json")
    assert code == 0
    assert json.loads(out) == [
        {"name": "a", "declared": "input", "default": "2"},
        {"name": "w", "declared": "param", "default": "1/3"},
        {"name": "x₁", "declared": "input"},
    ]
    assert call("vars", "1 + 1")[1].startswith("no variables")


def test_the_schema_describes_what_trace_writes() -> None:
    import jsonschema

    schema = json.loads(call("schema")[1])
    record = json.loads(call("trace", "x^2", "--x", "3", "--format", "json")[1])
    jsonschema.validate(record, schema)


# -- help, version, completion ----------------------------------------------------------------------------------------


def test_help_names_every_command_and_every_option_and_shows_examples() -> None:
    done = process("--help")
    assert done.returncode == 0
    for name in commands.names():
        assert f"  {name} " in done.stdout.decode()
    for name, command in zip(commands.names(), commands.every(), strict=True):
        code, out, err = call(name, "--help")
        assert (code, err) == (0, "")
        for option in command.options:
            assert f"--{option.name}" in out
        for example in command.examples:
            assert example in out


def test_help_on_a_terminal_is_drawn() -> None:
    done = process("trace", "-h", env={"FORCE_COLOR": "1", "COLUMNS": "100"})
    assert (done.returncode, done.stderr) == (0, b"")
    assert "╭".encode() in done.stdout


def test_every_example_in_the_help_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "samples").mkdir()
    program = "input x = 1\nparam w = 0.5\nL = (w*x - 2)^2\n# expect L = 2.25\n"
    for name in ("neuron.bp", "samples/a.bp"):
        (tmp_path / name).write_text(program, encoding="utf-8")
    (tmp_path / "points.csv").write_text("x,y\n1,3\n2,5\n", encoding="utf-8")
    (tmp_path / "big.csv.gz").write_bytes(gzip.compress(b"id,x,y\na,1,2\n"))
    (tmp_path / "trades").mkdir()
    pq.write_table(pa.table({"x": [1.0], "y": [2.0]}), tmp_path / "trades" / "a.parquet")
    for command in commands.every():
        for example in command.examples:
            if set("|*<>;") & set(re.sub('"[^"]*"', "", example)):  # a shell has something to do in it
                done = shell(f'backprop() {{ {sys.executable} -m backprop "$@"; }}; {example}')
                assert (done.returncode, done.stderr) == (0, b""), example
            else:
                name, *words = shlex.split(example)
                assert name == "backprop"
                code, _, talk = call(*words)
                assert code == 0, (example, talk)
                assert all(line.startswith("note: ") for line in talk.splitlines()), (example, talk)


def test_no_arguments_is_a_call_for_help_and_version_is_one_line() -> None:
    assert "Commands:" in call()[1]
    assert call("help", "trace") == call("trace", "--help")
    assert call("--version")[1] == "backprop 0.1.0\n"


def test_the_typer_application_answers_like_the_command() -> None:
    from typer.testing import CliRunner

    from backprop.application import build

    done = CliRunner().invoke(build(), ["grad", "--x", "3", "-x^2"])
    assert (done.exit_code, done.output) == (0, "f     = -9\n∂f/∂x = -6\n")
    assert CliRunner().invoke(build(), ["grad", "x**"]).exit_code == 2
    assert "--wrt" in CliRunner().invoke(build(), ["grad", "--help"]).output


def test_variables_are_completed_from_the_expression_on_the_line() -> None:
    assert [word for word, _ in completion.offers(["trace", "x*yy + λ"], "--")][:3] == ["--x", "--yy", "--λ"]
    assert completion.offers(["trace", "x*yy + λ", "--x", "3"], "--y") == [("--yy", "variable")]
    assert [word for word, _ in completion.offers(["trace", "x*yy*("], "--y")] == ["--yy"]  # not yet finished
    assert completion.offers(["trace", "x*yy", "--x"], "") == []  # a number
    assert [word for word, _ in completion.offers(["trace", "c=a+b; c^2", "--wrt", "a,"], "a,")][:1] == []
    assert [word for word, _ in completion.offers(["trace", "c=a+b; c^2", "--wrt"], "a,c")] == ["a,c"]


def test_commands_options_and_their_values_are_completed() -> None:
    assert completion.offers([], "tr") == [("trace", commands.by_name("trace").short)]
    assert [word for word, _ in completion.offers(["trace", "x"], "--fo")] == ["--format"]
    assert [word for word, _ in completion.offers(["trace", "x", "--format"], "js")] == ["json"]
    assert [word for word, _ in completion.offers(["trace", "x", "--format", "="], "js")] == ["json"]
    assert [word for word, _ in completion.offers(["trace", "x"], "--format=js")] == ["--format=json"]
    assert [word for word, _ in completion.offers(["ops"], "tanh")] == ["tanh"]
    assert completion.offers(["nonsense"], "x") == []


@pytest.mark.parametrize(
    ("shell", "asked", "answer"),
    [
        ("bash", {"COMP_WORDS": 'backprop\ntrace\n"x*yy"\n--y', "COMP_CWORD": "3"}, "--yy\n"),
        ("bash", {"COMP_WORDS": "backprop\ntrace\nx*yy\n", "COMP_CWORD": "3"}, ""),
        ("zsh", {"_TYPER_COMPLETE_ARGS": 'backprop trace "x*yy" --y'}, '_arguments \'*: :(("--yy":"variable"))\'\n'),
        ("zsh", {"_TYPER_COMPLETE_ARGS": 'backprop trace "x*yy" '}, "_files\n"),
        (
            "fish",
            {"_TYPER_COMPLETE_ARGS": 'backprop trace "x*yy" --y', "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
            "--yy\tvariable\n",
        ),
    ],
)
def test_each_shell_is_answered_in_its_own_way(shell: str, asked: dict[str, str], answer: str) -> None:
    done = process(env={"_BACKPROP_COMPLETE": f"complete_{shell}", **asked})
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, answer, b"")


def test_fish_is_told_whether_there_is_anything_to_offer() -> None:
    asked = {"_BACKPROP_COMPLETE": "complete_fish", "_TYPER_COMPLETE_FISH_ACTION": "is-args"}
    assert process(env=asked | {"_TYPER_COMPLETE_ARGS": "backprop tr"}).returncode == 0
    assert process(env=asked | {"_TYPER_COMPLETE_ARGS": "backprop xyz"}).returncode == 1


def test_bash_completes_through_the_script_it_is_shown(tmp_path: Path) -> None:
    script = process("--show-completion", "bash")
    assert script.returncode == 0
    (tmp_path / "completion.bash").write_bytes(script.stdout)
    program = tmp_path / "backprop"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m backprop "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    line = (
        f"source {tmp_path}/completion.bash; COMP_WORDS=(backprop trace '\"λ*yy\"' --λ 2 --y); COMP_CWORD=5;"
        f' _backprop_completion {program}; echo "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(["bash", "--norc", "-c", line], capture_output=True, env=PLAIN, check=False)
    assert (done.stdout, done.stderr) == (b"--yy\n", b"")


def test_completion_is_installed_where_the_shell_looks(tmp_path: Path) -> None:
    for shell, place in (("bash", ".bash_completions/backprop.sh"), ("fish", ".config/fish/completions/backprop.fish")):
        done = process("--install-completion", shell, env={"HOME": str(tmp_path)})
        assert (done.returncode, done.stderr) == (0, b"")
        assert "_BACKPROP_COMPLETE" in (tmp_path / place).read_text(encoding="utf-8")
    assert process("--show-completion", "tcsh").returncode == 2


def test_answers_start_before_they_are_complete() -> None:
    """A list of paths that nobody can wait for shows its first line at once."""
    diamonds = "; ".join(f"x{i + 1} = x{i} + x{i} + x{i}" for i in range(40))
    begun = time.monotonic()
    with subprocess.Popen(
        [*COMMAND, "paths", diamonds, "x0=1", "--from", "x0", "--format", "ndjson"], stdout=subprocess.PIPE, env=PLAIN
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline()
        running.stdout.close()
        assert running.wait(timeout=30) == 0
    assert time.monotonic() - begun < 30


def test_operations_are_found_by_their_sign_too() -> None:
    assert call("ops", "+")[1].startswith("add: ")
    assert call("ops", "<=")[1].startswith("le: ")
    assert [line.partition(":")[0] for line in call("ops", "log")[1].splitlines() if line.startswith("log")] == [
        "log",
        "log_base",
    ]


def test_the_listing_of_operations_fits_a_screen() -> None:
    from backprop import ops, reference
    from backprop.render.look import Look
    from backprop.render.ops import listing

    lines = list(listing(reference.operations(), Look(width=80)))
    assert max(map(len, lines)) <= 80
    assert {row.name for row in ops.rows()} <= {line.split()[0] for line in lines if line.strip()}


def test_help_about_an_unknown_command_says_so() -> None:
    code, _, told = call("help", "trase")
    assert code == 2
    assert "Did you mean backprop trace?" in told


def test_words_that_a_command_has_no_use_for_are_named() -> None:
    assert "schema takes options alone" in call("schema", "x")[2]
    assert "ops takes one name" in call("ops", "sin", "cos")[2]
    assert "render takes one file" in call("render", "a", "b")[2]


def test_every_format_of_formulas_and_of_traces_begins_with_the_table() -> None:
    assert call("diff", "x^2", "--format", "table") == call("diff", "x^2")


def test_what_was_given_is_named_once() -> None:
    assert "You gave x.  " in call("grad", "relu(xx)", "--x", "2")[2]


def test_a_step_shows_its_program_once() -> None:
    shown = call("step", "param w = 1; (w*x - 3)^2", "--x", "2", "--rate", "0.05")[1]
    assert shown.count("param w = 1") == 1
    assert "  w = 1 - 0.05 · (-4) = 1.2\n" in shown
    assert "Worked out again after the step\nat  x = 2\nparams  w = 1.2\n" in shown


def test_minus_zero_is_written_zero_in_json_too() -> None:
    record = call("grad", "-x*y", "--x", "0", "--y", "0", "--format", "json")[1]
    assert "-0" not in record
    assert json.loads(record) == {"value": 0, "gradient": {"x": 0, "y": 0}}

"""Bad input: whatever is typed or piped in gives a result or a message, with exit code 0, 1, 2 or 3, within seconds."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from backprop import cli, commands
from command import call

COMMAND = [sys.executable, "-m", "backprop"]
PLAIN = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
SAMPLES = sorted((Path(__file__).parent.parent / "samples").rglob("*.bp"))


def is_answered(code: int, err: str) -> bool:
    """A result or a message: no traceback, and no fault of ours."""
    return code in (0, 1, 2, 3) and "Traceback" not in err and "has a fault" not in err and (code != 2 or bool(err))


# -- numbers and operations at their limits -------------------------------------------------------------------------

EXTREME = """
9^9^9^9 + x; x^1e400; 1e400*x; 2^2^2^2^2^2^x; x^2^2^2^2^2^2; (x*1e9)!; gamma(1e300*x); lgamma(1e300*x)
digamma(-1e15 + x); sin(1e308*x); tan(pi/2*x); exp(exp(exp(x*5))); mod(1e300*x, 1e-300); x % 1e-320; x!!!!!
asin(x*1e10); (-1)^(1e15 + x); 9999999999^9999999999*x; x^99999999999999999999; x^(1/9999999999999999999)
sin(10^(10^9))*x; floor(10^(10^9)*x); erf(1e300*x); where(x > 0, 1/0, 2); (1 + x)^(10^9); 1e-99999999999*x
log(x, 1); atan2(x*0, x*0); inf - inf + x
"""


@pytest.mark.parametrize(
    "expression", [one.strip() for line in EXTREME.strip().splitlines() for one in line.split(";")]
)
def test_numbers_beyond_all_bounds_are_answered(expression: str) -> None:
    for words in (("grad", "--x", "1"), ("diff",), ("trace", "--symbolic"), ("trace", "--no-check", "--x", "1")):
        code, _, err = call(words[0], expression, *words[1:])
        assert is_answered(code, err), (words, err)


@pytest.mark.parametrize("at", ["1e308", "-1e300", "1e-320", "5e-324"])
def test_witnesses_beside_the_largest_and_the_smallest_numbers_are_answered(at: str) -> None:
    for expression in ("sin(x)", "x^2", "mod(x, 1e-300)"):
        code, out, err = call("check", expression, f"--x={at}", "--format", "json")
        assert is_answered(code, err), (expression, err)
        json.loads(out)


@pytest.mark.parametrize(
    "words",
    [
        ("grad", "9" * 20_000 + "*x", "--x", "1"),
        ("grad", "input x = " + "9" * 20_000 + "; x"),
        ("grad", "x", "--x", "9" * 20_000),
        ("grad", "x", "x=0." + "0" * 20_000 + "1"),
    ],
)
def test_a_number_of_twenty_thousand_digits_is_refused(words: tuple[str, ...]) -> None:
    code, out, err = call(*words)
    assert (code, out, "number too long" in err) == (2, "", True)
    assert len(err) < 1_000


def test_a_long_expression_after_a_name_is_no_long_number() -> None:
    code, out, _ = call("grad", "y=" + "x+" * 10_000 + "x", "--x", "1", "--format", "json")
    assert (code, json.loads(out)["gradient"]) == (0, {"x": 10_001.0})


def test_a_long_row_of_digits_is_told_from_a_formula_in_no_time() -> None:
    from time import process_time

    from backprop.working.formula_texts import NUMBER as _NUMBER

    begun = process_time()
    assert _NUMBER.fullmatch("9" * 200_000 + "/7") is None
    assert process_time() - begun < 1


# -- options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["0", "-1", "1e9", "999999999999", "1.5", "", "nan", "9" * 5000, "0x3", "²", "١"])
@pytest.mark.parametrize("asked", ["trace --figures", "paths --top", "diff --order", "step --steps", "step --rate"])
def test_a_count_that_makes_no_sense_is_refused(asked: str, value: str) -> None:
    command, option = asked.split()
    if option == "--rate" and value not in ("", "nan", "0x3", "١", "9" * 5000):
        return
    values = () if command == "diff" else ("--x", "2")
    code, out, err = call(command, "param w = 1; (w*x - 3)^2", *values, option, value)
    assert (code, out) == (2, "")
    assert "Traceback" not in err


@pytest.mark.parametrize("expression", ["exp(x*y)*sin(x)", "x^3*y", "tanh(tanh(x))", "x*y*z*u*v"])
def test_an_order_whose_formulas_outgrow_all_reading_is_refused(expression: str) -> None:
    code, out, err = call("diff", expression, "--order", "1000")
    assert (code, out, "too much to write out" in err) == (2, "", True)


def test_more_steps_than_one_record_holds_are_refused_with_the_way_out() -> None:
    code, out, err = call("step", "param w = 1; w^2", "--steps", "1000000000", "--format", "json")
    assert (code, out, "ndjson" in err) == (2, "", True)


# -- files and streams -------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such device here")
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "/"])
def test_a_device_that_never_ends_is_refused(device: str) -> None:
    for words in (("grad", "--file", device), ("grad", "x", "--at", device), ("grad", "x", "--x", "@" + device)):
        code, out, err = call(*words)
        assert (code, out, "cannot be read" in err) == (2, "", True)
    for words in (("render", device), ("test", device)):
        code, _, err = call(*words)
        assert (code, "Traceback" in err) == (2, False)


def test_text_that_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backprop.bindings.LONGEST_TEXT", 1 << 21)
    code, out, err = call("grad", "-", stdin=b"x + " * (1 << 20))
    assert (code, out, "goes on for more than" in err) == (2, "", True)


def test_a_program_too_long_to_work_with_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backprop.asked.LONGEST_PROGRAM", 1_000)
    code, out, err = call("grad", "-", "--x", "1", stdin=b"x + " * 300 + b"x")
    assert (code, out, "1201 characters" in err) == (2, "", True)


def test_a_letter_cut_in_two_between_pieces_of_a_file_is_read_whole() -> None:
    text = "#" + "x" * ((1 << 20) - 2) + "λ\nλ^2"  # the λ of the comment lies across the first MiB
    assert len(text[: text.index("λ")].encode()) == (1 << 20) - 1
    code, out, _ = call("grad", "-", "--λ", "3", "--format", "json", stdin=text.encode())
    assert (code, json.loads(out)["gradient"]) == (0, {"λ": 6.0})
    code, _, err = call("grad", "-", stdin=b"x" * (1 << 20) + b"\xce" + b"+")
    assert (code, f"byte {(1 << 20) + 1}" in err) == (2, True)


def test_utf_16_with_its_mark_is_text() -> None:
    code, out, _ = call("grad", "-", "--x", "3", "--format", "json", stdin="x^2".encode("utf-16"))
    assert (code, json.loads(out)["gradient"]) == (0, {"x": 6.0})


@pytest.mark.parametrize(
    "text", ["[" * 200_000, '{"a":' * 100_000, '{"x": ' + "9" * 100_000 + "}", '{"x": 1e999999999999}', '{"x": [1]}']
)
def test_json_that_is_too_deep_or_too_long_is_a_mistake(text: str, tmp_path: Path) -> None:
    path = tmp_path / "point.json"
    path.write_text(text, encoding="utf-8")
    for words in (("grad", "x", "--at", str(path)), ("render", str(path)), ("paths", "-")):
        code, out, err = call(*words, stdin=text.encode())
        assert (code, out, "Traceback" in err) == (2, "", False)


def saved() -> dict[str, object]:
    found: dict[str, object] = json.loads(
        call("trace", "(x*y+z)*x", "x=3", "y=-1", "z=2", "--no-check", "--format", "json")[1]
    )
    return found


@settings(max_examples=60, deadline=None)
@given(some.data())
def test_a_trace_with_anything_in_any_place_is_answered(data: some.DataObject) -> None:
    record: object = saved()
    at: Any = record
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at))) if isinstance(at, list) else []
        if not keys:
            break
        key = data.draw(some.sampled_from(keys))
        below = at[key]
        if not isinstance(below, (dict, list)) or data.draw(some.booleans()):
            wrong = [None, -1, 1e300, 10**500, "NaN", "x", "\ud800", "a\x1b[2J\n", [], {}, [[]], True]
            at[key] = data.draw(some.sampled_from(wrong))
            break
        at = below
    text = json.dumps(record).encode()
    for words in (("render", "-"), ("render", "-", "--format", "dot"), ("paths", "-", "--count"), ("grad", "-")):
        code, _, err = call(*words, stdin=text)
        assert is_answered(code, err), (words, err, text)


# -- any words, any program --------------------------------------------------------------------------------------------

# fmt: off
WORDS = some.sampled_from([
    "x", "--x", "--x=1", "x=2", "3", "-1", "--", "-", "--file", "--at", "@/", "--format", "json", "table",
    "latex", "--wrt", "x,y", "--figures", "--top", "--count", "--factor", "--symbolic", "--order", "--mode",
    "forward", "2", "--from", "--to", "--rate", "nan", "--update", "--no-check", "--help", "-h", "--steps",
    "x*y + sin(x)", "x)", "param w = 2; (w - 1)^2", "--=", "=", "\ud800", "\x00", "\x1b[2J", "", " ", "1/0",
    "log(-x)", "@", "--\u202e", "é",
])
# fmt: on


@settings(max_examples=150, deadline=None)
@given(some.sampled_from([*commands.names(), "", "nonsense"]), some.lists(WORDS | some.text(max_size=6), max_size=6))
def test_any_words_are_answered(command: str, words: list[str]) -> None:
    if any("/" in word and word not in ("1/0", "@/") for word in words) or "-o" in words or "--output" in words:
        return  # nothing on the disk is to be written or read by chance
    code, out, err = call(command, *words)
    assert is_answered(code, out + err), err


@settings(max_examples=100, deadline=None)
@given(some.data())
def test_a_sample_with_a_slip_in_it_is_answered(data: some.DataObject) -> None:
    text = data.draw(some.sampled_from(SAMPLES)).read_text(encoding="utf-8")
    for _ in range(data.draw(some.integers(1, 3))):
        at = data.draw(some.integers(0, len(text)))
        end = data.draw(some.integers(at, min(len(text), at + 8)))
        text = text[:at] + data.draw(some.text("()[]+-*/^=;#,.|!<> \n01e9xyé²√\x00\u2028", max_size=4)) + text[end:]
    for words in (("grad", "-"), ("test", "-"), ("diff", "-"), ("paths", "-", "--count")):
        code, _, err = call(*words, stdin=text.encode())
        assert is_answered(code, err) or (words[0] == "test" and code in (1, 2)), (words, err)


# -- interrupts, closed streams, screens -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "module",
    ["backprop.cli", "backprop.commands.trace", "backprop.bindings", "backprop.tracing", "backprop.render.table"],
)
def test_an_interrupt_while_modules_are_loading_is_130_and_silent(module: str) -> None:
    code = f"""if True:
        import importlib.abc, os, signal, sys
        class Interrupts(importlib.abc.MetaPathFinder):
            def find_spec(self, name, path=None, target=None):
                if name == {module!r}:
                    os.kill(os.getpid(), signal.SIGINT)
        from backprop.__main__ import main
        sys.meta_path.insert(0, Interrupts())
        sys.argv = ["backprop", "trace", "x^2", "--x", "3", "--no-check"]
        sys.exit(main())
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=PLAIN, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_before_the_door_listens_only_what_is_built_into_python_is_loaded() -> None:
    """A module in a file would take time, in which Python tells an interrupt in its own way."""
    code = """if True:
        import sys, __future__, backprop
        before = set(sys.modules)
        import backprop.__main__
        print(*(set(sys.modules) - before - {"backprop.__main__"} - set(sys.builtin_module_names)))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=PLAIN, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"\n", b"")


def test_the_door_listens_for_an_interrupt_before_anything_of_ours_is_loaded() -> None:
    code = "import sys, backprop.__main__; print(*(name for name in sys.modules if 'backprop' in name))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    loaded = {name for name in done.stdout.split() if not name.startswith("__editable__")}
    assert loaded == {"backprop", "backprop.__main__"}


def test_an_interrupt_leaves_no_half_file(tmp_path: Path) -> None:
    path = tmp_path / "steps.ndjson"
    line = [*COMMAND, "step", "param w = 1; w^2", "--steps", "100000000", "--format", "ndjson", "-o", str(path)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=PLAIN) as busy:
        for _ in range(600):
            if list(tmp_path.iterdir()):
                break
            time.sleep(0.05)
        busy.send_signal(signal.SIGINT)
        _, err = busy.communicate(timeout=30)
    assert (busy.returncode, err, list(tmp_path.iterdir())) == (130, b"", [])


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", "2>/dev/full", "2>&1 | true"])
def test_streams_that_are_closed_or_full_are_survived(closed: str) -> None:
    for words in ("trace 'x^2' --x 3 --no-check", "diff 'x^2'", "grad 'x('", "grad '1/2x' --x 3", "ops tanh"):
        line = f"{sys.executable} -m backprop {words} {closed}"
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line], capture_output=True, env=PLAIN, timeout=60, check=False
        )
        assert done.returncode in ((2,) if "x(" in words else (0, 2)), (words, done)
        assert b"Traceback" not in done.stderr
        assert b"Exception ignored" not in done.stderr


@pytest.mark.parametrize("columns", ["0", "1", "-5", "100000000", "abc"])
def test_a_screen_of_any_width_is_drawn_on(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        encoding = "utf-8"

        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", columns)
    for words in (["trace", "x^2*y", "x=3", "y=2", "--no-check"], ["diff", "x^2"], ["--help"], ["grad", "x**"]):
        out, err = Screen(), Screen()
        assert cli.main(words, None, out, err) in (0, 2)
        assert 0 < len(out.getvalue()) + len(err.getvalue()) < 100_000

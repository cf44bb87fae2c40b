"""Step by step on a real pseudo-terminal: what a user sees there, and that everything is as before when it ends."""

from __future__ import annotations

import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import threading
import time

import pytest

from backprop.stepping import terminal as terminal_module
from backprop.stepping.terminal import Terminal
from stepping import OnTerminal, environment

WORDS = ("trace", "(x*y + z)*x", "--x", "3", "--y", "-1", "--z", "2", "--no-check", "--step")
COMMAND = shlex.join([sys.executable, "-m", "backprop"])
LEFT = b"\x1b[?2004l\x1b[m\x1b[2J\x1b[H\x1b[?1049l\x1b[?25h"


def in_shell(line: str) -> OnTerminal:
    """A line in a shell that watches over jobs, on a terminal."""
    shell = OnTerminal("bash", "--norc", "--noprofile", "--noediting", "-i", PS1="ready> ", PS2="", HISTFILE="")
    shell.until("ready>")
    shell.keys(line, "Enter")
    return shell


def test_steps_are_shown_and_leaving_leaves_everything_as_it_was() -> None:
    with OnTerminal(*WORDS) as terminal:
        before = terminal.modes
        terminal.until("what is given, before 11 steps")
        assert terminal.sent.startswith(b"\x1b[?1049h")
        assert (terminal.screen.cursor.hidden, terminal.modes != before) == (True, True)
        terminal.keys("Enter")
        assert "▸ v1 = x*y = 3*(-1) = -3" in terminal.until("step 1 of 11, forward")
        terminal.keys("End")
        terminal.until("∂f/∂x = -4, ∂f/∂y = 9, ∂f/∂z = 3")
        terminal.keys("Home", "Right", "Right", "Left")
        terminal.until("step 1 of 11")
        terminal.keys("q")
        assert terminal.ended() == 0
        assert terminal.sent.endswith(LEFT)
        assert terminal.modes == before


@pytest.mark.parametrize(("key", "code"), [("Escape", 0), ("\x04", 0), ("\x03", 130)])
def test_each_way_out_puts_the_terminal_back(key: str, code: int) -> None:
    with OnTerminal(*WORDS) as terminal:
        before = terminal.modes
        terminal.until("what is given")
        terminal.keys(key)
        assert (terminal.ended(), terminal.modes == before) == (code, True)
        assert terminal.sent.endswith(LEFT)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_puts_the_terminal_back_before_it_ends_the_command(number: signal.Signals) -> None:
    with OnTerminal(*WORDS) as terminal:
        before = terminal.modes
        terminal.until("what is given")
        terminal.child.kill(number)
        assert (terminal.ended(), terminal.modes == before) == (-number, True)
        assert terminal.sent.endswith(LEFT)


def test_a_fault_puts_the_terminal_back_before_it_is_told() -> None:
    code = "from backprop.stepping import session\nsession.Session.go = lambda *_: 1/0\n"
    code += f"import sys\nfrom backprop import cli\nsys.exit(cli.main({list(WORDS)!r}))"
    with OnTerminal("bash", "-c", f"exec {shlex.join([sys.executable, '-c', code])}") as terminal:
        before = terminal.modes
        terminal.until("what is given")
        terminal.keys("n")
        assert (terminal.ended(), terminal.modes == before) == (70, True)
        assert b"ZeroDivisionError" in terminal.sent.partition(LEFT)[2]


def test_a_terminal_that_hangs_up_ends_the_command_though_it_ignores_the_signal() -> None:
    ours, theirs = pty.openpty()
    line = ["bash", "-c", f"trap '' HUP; exec {COMMAND} {shlex.join(WORDS)}"]
    with subprocess.Popen(line, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, env=environment()) as running:
        os.close(theirs)
        shown = b""
        while b"what is given" not in shown:
            shown += os.read(ours, 1 << 16)
        os.close(ours)
        _, told = running.communicate(timeout=60)
    assert (running.returncode, told) == (0, b"")


def test_the_exit_code_is_that_of_the_trace() -> None:
    with OnTerminal("trace", "log(x)", "--x", "-1", "--step") as terminal:
        terminal.until("what is given")
        terminal.keys("End")
        terminal.until("no value")
        terminal.keys("q")
        assert terminal.ended() == 3


def test_an_arrow_in_pieces_is_an_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal_module, "PATIENCE", 60.0)
    ours, theirs = pty.openpty()

    def send() -> None:
        for byte in b"\x1b[C\x1bODn":
            os.write(ours, bytes([byte]))
            time.sleep(0.01)  # so that they arrive one by one

    with Terminal(theirs, theirs) as terminal:
        sender = threading.Thread(target=send)
        sender.start()
        assert [terminal.key() for _ in range(3)] == ["right", "left", "n"]
        sender.join()
    os.close(ours)
    os.close(theirs)


def test_a_paste_is_no_key() -> None:
    with OnTerminal(*WORDS) as terminal:
        terminal.until("what is given")
        terminal.keys("\x1b[200~qq\rq\x1b[201~", "n")
        terminal.until("step 1 of 11")


def test_a_step_is_typed_at_the_foot() -> None:
    with OnTerminal(*WORDS) as terminal:
        terminal.until("what is given")
        terminal.keys("1")
        terminal.until("\n1_")
        terminal.keys("0", "Enter")
        terminal.until("step 10 of 11, reverse")
        terminal.keys("/v2", "Enter")
        terminal.until("step 2 of 11, forward")
        terminal.keys("?")
        terminal.until("one step back")
        terminal.keys("q")
        terminal.until("step 2 of 11")


def test_another_size_is_drawn_anew() -> None:
    with OnTerminal(*WORDS) as terminal:
        terminal.until("q leave | ? keys | Home, End")
        terminal.resize(40, 12)
        terminal.until(lambda found: found.text.splitlines()[-1] == "Enter forward | Left back | q leave")
        assert len(terminal.text.splitlines()) == 12
        terminal.resize(100, 30)
        terminal.until(lambda found: found.text.splitlines()[-1].startswith("Enter forward | Left back | q leave | ?"))


def test_suspended_it_gives_the_terminal_back_and_takes_it_again() -> None:
    with in_shell(f"{COMMAND} {shlex.join(WORDS)}") as terminal:
        terminal.until("what is given")
        terminal.keys("n")
        terminal.until("step 1 of 11")
        held = terminal.modes
        terminal.keys("\x1a")
        terminal.until("ready>")
        assert LEFT in terminal.sent
        assert terminal.modes != held
        terminal.keys("echo $((20+3)); fg", "Enter")
        terminal.until("step 1 of 11")
        assert terminal.modes == held
        terminal.keys("n")
        terminal.until("step 2 of 11")
        terminal.keys("q")
        terminal.until("ready>")
        terminal.keys("echo code $?", "Enter")
        terminal.until("code 0")
        assert terminal.sent.count(b"\x1b[?1049h") == terminal.sent.count(b"\x1b[?1049l") == 2


def test_a_program_from_stdin_leaves_the_keys_to_the_terminal() -> None:
    with in_shell(f"echo 'x^2 + 1' | {COMMAND} trace - --x 3 --no-check --step; echo code $?") as terminal:
        terminal.until("what is given, before")
        terminal.keys("n")
        terminal.until("▸ v1 = x^2 = 3^2 = 9")
        terminal.keys("q")
        terminal.until("code 0")


def test_a_terminal_that_only_prints_is_asked_line_by_line() -> None:
    with OnTerminal(*WORDS, TERM="dumb") as terminal:
        terminal.until("x = 3, y = -1, z = 2\n>")
        terminal.keys("Enter")
        terminal.until("v1 = x*y = 3*(-1) = -3")
        terminal.keys("b\r")
        terminal.keys("q\r")
        assert (terminal.ended(), b"\x1b" in terminal.sent) == (0, False)


def test_answers_come_from_a_pipe() -> None:
    with in_shell(f"printf '\\n\\n' | {COMMAND} {shlex.join(WORDS)}; echo code $?") as terminal:
        assert "step 2 of 11, forward" in terminal.until("code 0")


def test_without_colour_and_in_ascii_all_is_said() -> None:
    with OnTerminal(*WORDS, NO_COLOR="1", LC_ALL="C", PYTHONCOERCECLOCALE="0") as terminal:
        terminal.until("what is given")
        terminal.keys("n")
        assert "> v1 = x*y = 3*(-1) = -3" in terminal.until("step 1 of 11")
        terminal.keys("q")
        assert (terminal.ended(), terminal.sent.isascii()) == (0, True)
        assert set(re.findall(rb"\x1b\[[0-9;]*m", terminal.sent)) == {b"\x1b[m"}

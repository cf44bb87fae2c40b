"""Interrupts: whenever Ctrl-C comes, the command ends quietly."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest

import backprop
from backprop import cli

PLAIN = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "BACKPROP_DEBUG")}
WORDS = ("trace", "(x*y + z)*x", "--x", "3", "--y", "-1", "--z", "2")
# It tells when the command has begun to listen, with the first module that is loaded then: delays are those of the
# command and not of Python's own start.
BEGINS = """if True:
    import importlib.abc, os, sys
    class Begins(importlib.abc.MetaPathFinder):
        def find_spec(self, name, path=None, target=None):
            if name == "backprop.collector":
                os.write(1, b".")
    sys.meta_path.insert(0, Begins())
    from backprop.__main__ import main
    sys.exit(main())
"""
# 130 by our word, or the signal's own way; 0 where all was done before.
QUIET = (130, -signal.SIGINT, 0)
OURS = re.escape(os.path.dirname(backprop.__file__))


def interrupted(line: list[str], delay: float, begins: bool) -> tuple[int, bytes]:
    """The exit code and stderr of a process to which an interrupt is sent after so many seconds."""
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=PLAIN) as running:
        assert running.stdout is not None
        if begins:
            running.stdout.read(1)
        time.sleep(delay)
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=60)
    return running.returncode, told


@pytest.mark.parametrize("delays", [range(0, 100, 8), pytest.param(range(0, 1000, 5), marks=pytest.mark.slow)])
def test_from_the_first_line_of_the_command_on_an_interrupt_is_quiet(delays: range) -> None:
    step = 1000 if delays.stop == 100 else 10_000
    for delay in delays:
        code, told = interrupted([sys.executable, "-c", BEGINS, *WORDS], delay / step, begins=True)
        assert (code in QUIET, told) == (True, b""), f"after {delay / step} s"


@pytest.mark.slow
def test_from_its_start_on_the_process_tells_nothing_of_ours() -> None:
    """Before our first line Python may tell an interrupt in its own way, and no module of ours can help that."""
    for delay in range(0, 100, 2):
        code, told = interrupted([sys.executable, "-m", "backprop", *WORDS], delay / 1000, begins=False)
        begun = re.search(rf'File "{OURS}/(?!__init__)'.encode(), told)
        assert begun is None, told
        assert code in QUIET or (b"KeyboardInterrupt" in told or b"Fatal Python error: init" in told), told


def test_an_interrupt_that_meets_a_callback_comes_once_more() -> None:
    """Python drops what is raised in a `__del__`; the command has to end all the same."""
    code = """if True:
        import os, signal, sys, time
        class Dropped:
            def __del__(self):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.01)
        from backprop import __main__ as door, cli
        def busy(*_):
            dropped = Dropped()
            del dropped
            time.sleep(20)
        cli.run = busy
        sys.exit(door.main())
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=PLAIN, timeout=15, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_an_interrupt_that_python_made_another_error_of_is_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    class Named:
        def __set_name__(self, owner: type, name: str) -> None:
            raise KeyboardInterrupt

    def busy(*_: object) -> int:
        type("Busy", (), {"named": Named()})  # before Python 3.12 this is a RuntimeError
        return 0

    monkeypatch.setattr(cli, "run", busy)
    monkeypatch.setattr(cli, "discard", lambda _: None)
    assert cli.main(["vars"]) == cli.INTERRUPTED

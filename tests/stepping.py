"""A command on a terminal: a real pseudo-terminal, and a terminal emulator that shows what a user would see."""

from __future__ import annotations

import os
import sys
import termios
import time
from collections.abc import Callable
from typing import Any

import pexpect
import pyte

PATIENCE = 30.0  # for a busy machine; what is waited for comes in a second
PLAIN = ("FORCE_COLOR", "NO_COLOR", "BACKPROP_DEBUG", "COLUMNS", "LINES", "TMUX")
# What the keys send, as xterm has them.
KEYS = {"Enter": "\r", "Escape": "\x1b", "Up": "\x1b[A", "Down": "\x1b[B", "Right": "\x1b[C", "Left": "\x1b[D"}
KEYS |= {"Home": "\x1b[H", "End": "\x1b[F", "PageDown": "\x1b[6~", "PageUp": "\x1b[5~", "Backspace": "\x7f"}


def environment() -> dict[str, str]:
    """The environment of a common terminal."""
    plain = {name: value for name, value in os.environ.items() if name not in PLAIN}
    return plain | {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "PYTHONUTF8": "0"}


class OnTerminal:
    """A command on a terminal of so many columns and rows; as a context it is ended with it."""

    def __init__(self, *words: str, columns: int = 80, rows: int = 24, **env: str) -> None:
        line = [sys.executable, "-m", "backprop", *words] if words and words[0] != "bash" else list(words)
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.sent = b""
        self.child = pexpect.spawn(
            line[0],
            line[1:],
            dimensions=(rows, columns),
            env=environment() | env,
            timeout=PATIENCE,
            echo=True,
        )

    def __enter__(self) -> OnTerminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.child.close(force=True)

    @property
    def text(self) -> str:
        """What the screen shows."""
        return "\n".join(line.rstrip() for line in self.screen.display)

    @property
    def modes(self) -> list[Any]:
        """The modes of the terminal."""
        return termios.tcgetattr(self.child.child_fd)

    def keys(self, *names: str) -> None:
        """Press keys, by their names or their letters."""
        self.child.send("".join(KEYS.get(name, name) for name in names))

    def until(self, wanted: str | Callable[[OnTerminal], bool]) -> str:
        """Wait until the screen shows a text, or something is so. Returns what it shows then."""
        is_there = (lambda found: wanted in found.text) if isinstance(wanted, str) else wanted
        end = time.monotonic() + PATIENCE
        while not is_there(self):
            assert time.monotonic() < end, f"{wanted} is waited for, and the screen shows:\n{self.text}"
            assert self._read(0.5) or is_there(self), f"{wanted} never came, and the screen shows:\n{self.text}"
        return self.text

    def ended(self) -> int:
        """Wait for the end. The exit code, negative for a signal."""
        end = time.monotonic() + PATIENCE
        while self._read(0.5):
            assert time.monotonic() < end, f"the end is waited for, and the screen shows:\n{self.text}"
        self.child.wait()
        return -self.child.signalstatus if self.child.signalstatus else int(self.child.exitstatus)

    def resize(self, columns: int, rows: int) -> None:
        self.child.setwinsize(rows, columns)
        self.screen.resize(rows, columns)

    def _read(self, seconds: float) -> bool:
        """Take in what the command sends; False when no more will come."""
        try:
            data = self.child.read_nonblocking(1 << 16, seconds)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.sent += data
        self.stream.feed(data)
        return True

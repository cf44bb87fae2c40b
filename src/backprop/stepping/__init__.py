"""Stepping: a trace shown one step at a time, on the whole screen or by plain prompts.

`moments` says what is shown at each step and `screen` how it looks; `keys` and `terminal` know the terminal, and
`session` and `prompts` bring them together.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TextIO, cast

from backprop import progress
from backprop.bindings import Words
from backprop.mistakes import Apart, CannotRead, NoTerminal
from backprop.record import Trace
from backprop.render.look import Look
from backprop.stepping.moments import Moments

if TYPE_CHECKING:
    from backprop.layout import Direction

# The terminal of the process, whatever its streams are.
TERMINAL = "/dev/tty"
# Options that have no place beside --step, and why.
APART = {
    "format": "Steps are shown on the terminal and not written",
    "output": "Steps are shown on the terminal and not written",
    "path": "Each step lights the edges that it is about",
    "around": "Each step shows the part around its node",
    "hops": "Each step shows the part around its node",
    "both": "The steps go through both passes, one after the other",
}


@dataclass(frozen=True, slots=True)
class Stage:
    """Where steps are shown: `keys` come from one stream and `screen` is another; `is_whole` takes the whole screen.

    `direction` is where the arrows of the graph lead, if that was said.
    """

    keys: TextIO
    screen: TextIO
    is_whole: bool
    direction: str = ""

    def show(self, trace: Trace, look: Look) -> None:
        """Show the steps of a trace until the user leaves."""
        progress.phase("steps")
        moments = Moments(trace)
        if self.direction:
            look = replace(look, view=replace(look.view, direction=cast("Direction", self.direction)))
        progress.results_follow()
        if not self.is_whole:
            from backprop.stepping.prompts import prompts

            prompts(moments, look, self._write, self._answer)
            return
        from backprop.stepping.session import Session
        from backprop.stepping.terminal import Terminal

        session = Session(moments, look)
        self.screen.flush()
        with Terminal(self.keys.fileno(), self.screen.fileno(), self.screen.encoding) as terminal:
            session.run(terminal)

    def _answer(self) -> str:
        typed = self.keys.readline()
        if not self.keys.isatty():
            self._write(typed)  # a terminal shows what is typed
        return typed

    def _write(self, text: str) -> None:
        self.screen.write(text)
        self.screen.flush()


def stage(words: Words, stdin: TextIO | None, stdout: TextIO) -> Stage:
    """The stage that these streams are for a command with these words; one that reads stdin has its keys elsewhere.

    Raises `NoTerminal` where nobody sees the steps, `CannotRead` where no keys can come, and `Apart` for options of
    what is written or drawn once.
    """
    for name, told in APART.items():
        if name in words.options:
            raise Apart(["--step", f"--{name}"], f"{told}: keep one of them.")
    is_read = "-" in words.positional or "/dev/stdin" in words.options.values()
    if not stdout.isatty():
        raise NoTerminal()
    if stdin is None or (is_read and not stdin.isatty()):
        try:
            stdin = open(TERMINAL, encoding="utf-8", errors="replace")  # noqa: SIM115  (open as long as the process)
        except OSError as error:
            told = "the program comes from stdin, and keys have to come from a terminal"
            raise CannotRead(TERMINAL, f"{told}: {error.strerror}", "Give it as FILE: --file FILE") from None
    is_dumb = os.environ.get("TERM", "") in ("", "dumb", "unknown")
    is_whole = stdin.isatty() and not is_dumb and _has_modes()
    return Stage(stdin, stdout, is_whole, words.text("direction"))


def _has_modes() -> bool:
    """Whether keys can be had one by one: on Windows there are plain prompts."""
    try:
        import termios  # noqa: F401
    except ImportError:
        return False
    return True

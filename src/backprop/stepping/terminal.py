"""The terminal: its alternate screen and its keys for as long as they are needed, and then everything as it was.

Only what every terminal of today knows is sent (ECMA-48 and xterm's private modes 25, 1049 and 2004), so no terminfo is
read. However the screen is left, by an exception, SIGTERM, SIGHUP or Ctrl-Z, the modes are put back first.
"""

from __future__ import annotations

import os
import select
import signal
import termios
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any

from backprop.stepping.keys import Keys

# So many seconds after its first byte a key is given up: bytes of one key come close together even on a slow line,
# and nobody minds when Escape alone takes as long.
PATIENCE = 0.5
# The alternate screen with a clear page, no cursor, and pastes marked as such; and all of it undone. A terminal
# without another screen is left with a clear one.
_ENTER = "\x1b[?1049h\x1b[2J\x1b[?25l\x1b[?2004h"
_LEAVE = "\x1b[?2004l\x1b[m\x1b[2J\x1b[H\x1b[?1049l\x1b[?25h"
_Handler = Any  # what `signal.signal` takes and gives


class Terminal:
    """A terminal of which `keys` and `screen` are the descriptors to read from and to write to, in this encoding.

    As a context it holds the alternate screen; to enter it raises OSError where the terminal is gone already.
    """

    def __init__(self, keys: int, screen: int, encoding: str = "utf-8") -> None:
        self.keys, self.screen, self.encoding = keys, screen, encoding
        self.is_gone = False
        self._pending: list[str] = []
        self._reader = Keys()
        self._before: list[Any] = []
        self._handlers: dict[signal.Signals, _Handler] = {}
        self._is_held = self._redraw = False
        self._wake: tuple[int, int] = (-1, -1)

    # -- the screen ---------------------------------------------------------------------------------------------------

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        try:
            columns, rows = os.get_terminal_size(self.screen)
        except OSError:
            columns, rows = 0, 0
        return columns or 80, rows or 24

    def draw(self, lines: list[str]) -> None:
        """Show these lines, each no wider than the screen and no more than it has rows; in one piece, so that nothing
        flickers."""
        # the rest of a row is wiped first: in its last column the cursor stays, and would wipe a letter
        rows = "".join(f"\x1b[{row};1H\x1b[m\x1b[K{line}" for row, line in enumerate(lines, 1))
        try:
            self._write(f"{rows}\x1b[m" + (f"\x1b[{len(lines) + 1};1H\x1b[J" if len(lines) < self.size[1] else ""))
        except OSError:
            self.is_gone = True

    def _write(self, text: str) -> None:
        data = memoryview(text.encode(self.encoding, "replace"))
        while data:
            try:
                data = data[os.write(self.screen, data) :]
            except BlockingIOError:  # whoever shares the terminal has made it so
                select.select((), (self.screen,), ())

    # -- the keys -----------------------------------------------------------------------------------------------------

    def key(self) -> str:
        """The next key. "redraw" when the screen has to be drawn again; "gone" when no key will ever come."""
        while True:
            if self._redraw:
                self._redraw = False
                return "redraw"
            if self._pending:
                return self._pending.pop(0)
            if self.is_gone:
                return "gone"
            patience = PATIENCE if self._reader.is_waiting else None
            ready, _, _ = select.select((self.keys, self._wake[0]), (), (), patience)
            if self._wake[0] in ready:
                os.read(self._wake[0], 64)
            elif self.keys in ready:
                self._take()
            else:
                self._pending += self._reader.given_up()

    def _take(self) -> None:
        try:
            data = os.read(self.keys, 1024)
        except BlockingIOError:
            return
        except OSError:  # the terminal has hung up
            data = b""
        self._pending += self._reader.pressed(data)
        self.is_gone = not data

    # -- modes and signals --------------------------------------------------------------------------------------------

    def __enter__(self) -> Terminal:
        try:
            self._before = termios.tcgetattr(self.keys)
        except termios.error as error:
            raise OSError(*error.args) from None
        self._wake = os.pipe()
        for end in self._wake:
            os.set_blocking(end, False)
        try:
            self._listen()
            self._begin()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._end()
        finally:
            while self._handlers:
                signal.signal(*self._handlers.popitem())
            for end in self._wake:
                with suppress(OSError):
                    os.close(end)

    def _listen(self) -> None:
        """Hear the signals after which the screen cannot stay as it is."""
        for number, handler in self._signals():
            before = signal.getsignal(number)
            if before is not signal.SIG_IGN:  # as `nohup` has it
                with suppress(ValueError):  # only the main thread can listen
                    signal.signal(number, handler)
                    self._handlers[number] = before or signal.SIG_DFL

    def _signals(self) -> Iterator[tuple[signal.Signals, Callable[[int, FrameType | None], None]]]:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            yield number, self._ended
        yield signal.SIGTSTP, self._suspended
        yield signal.SIGCONT, self._continued
        yield signal.SIGWINCH, self._resized

    def _begin(self) -> None:
        """Keys one by one and unseen, on a screen of our own."""
        modes = [*self._before[:6], list(self._before[6])]
        modes[3] &= ~(termios.ICANON | termios.ECHO)  # Ctrl-C and Ctrl-Z stay signals
        modes[6][termios.VMIN], modes[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self.keys, termios.TCSANOW, modes)
        if not self._is_held:
            self._is_held = True
            self._write(_ENTER)

    def _end(self) -> None:
        """Everything as it was, also where half of it is gone."""
        if not self._is_held:
            return
        self._is_held = False
        try:
            with suppress(termios.error):
                termios.tcflow(self.screen, termios.TCOON)  # Ctrl-S would hold us here
            with suppress(OSError):
                self._write(_LEAVE)
        finally:
            with suppress(termios.error):
                termios.tcsetattr(self.keys, termios.TCSANOW, self._before)

    def _resized(self, *_: object) -> None:
        self._redraw = True
        with suppress(OSError):
            os.write(self._wake[1], b"r")

    def _ended(self, number: int, _: object) -> None:
        """Leave the screen, and then do what the signal would have done."""
        self._end()
        self.is_gone = True
        signal.signal(number, self._handlers[signal.Signals(number)])
        os.kill(os.getpid(), number)

    def _suspended(self, *_: object) -> None:
        """Leave the screen and stop; go on when the shell says so."""
        self._end()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        # here it goes on
        signal.signal(signal.SIGTSTP, self._suspended)
        self._continued()

    def _continued(self, *_: object) -> None:
        """Take the screen again: whoever had the terminal meanwhile may have changed its modes."""
        if not self.is_gone:
            self._begin()
            self._resized()

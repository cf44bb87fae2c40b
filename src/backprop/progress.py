"""Progress: a line on stderr that says what is being done and how far it has come, for work of more than a second.

It is drawn only on a terminal, by a thread of its own, and wiped before results appear. Work tells where it is by a few
calls, which do nothing while nobody watches:

    progress.phase("values")
    progress.phase("rows", total=10_000_000)
    progress.at(1_000_000)
    for batch in progress.each(batches, size=len): ...
    for text in progress.steps("edges", edges, total=len(edges)): ...
"""

from __future__ import annotations

import _thread
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO, TypeVar

# Nothing is shown before this many seconds, and then it is drawn again so often.
PATIENCE, INTERVAL = 1.0, 0.1
# The columns of the bar itself.
BAR = 24

Item = TypeVar("Item")


class Watched:
    """What is being done: the phase, how much of it is done, of how much in all if that is known."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.begun = self.phase_begun = time.monotonic()
        self.phase, self.done, self.total, self.unit = "", 0, 0, ""
        self.within = self.written = ""
        self.is_drawn = self.is_over = self.counts = False
        self.plain = not (stream.encoding or "ascii").lower().replace("-", "").startswith("utf")
        self.lock = _thread.allocate_lock()

    def line(self, width: int) -> str:
        """The line as it is drawn, no wider than the screen.

        >>> import io
        >>> watched = Watched(io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
        >>> watched.phase, watched.done, watched.total = "rows", 1500000, 6000000
        >>> watched.line(100)[:68]
        'rows         ######------------------  25%  1,500,000 of 6,000,000, '
        >>> len(watched.line(50)) < 50
        True
        """
        now = time.monotonic()
        full, empty = ("#", "-") if self.plain else ("━", "─")
        parts = [f"{self.phase:<11}"]
        if self.total > 1:
            share = min(1.0, self.done / self.total)
            parts.append(f"{full * round(share * BAR)}{empty * (BAR - round(share * BAR))} {share:4.0%}")
        if self.done:
            of = f" of {self.total:,}" if self.total else ""
            rate = self.done / max(now - self.phase_begun, 1e-9)
            parts.append(f"{self.done:,}{of} {self.unit}".rstrip() + f", {rate:,.0f} a second")
        parts += [said for said in (self.within, self.written) if said]
        parts.append(f"{now - self.begun:.0f} s")
        while len("  ".join(parts)) >= width and len(parts) > 2:
            del parts[-2]
        return "  ".join(parts)[: max(0, width - 1)]

    def draw(self) -> None:
        """Draw the line over itself, unless it is over."""
        with self.lock:
            if self.is_over or not self.phase:
                return
            try:
                width = os.get_terminal_size(self.stream.fileno()).columns or 80
            except (OSError, ValueError):
                width = 80
            self._write(f"\r\x1b[2K{self.line(width)}")
            self.is_drawn = True

    def wipe(self) -> None:
        """Take the line away for good."""
        with self.lock:
            self.is_over = True
            if self.is_drawn:
                self._write("\r\x1b[2K")

    def _write(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError):  # whoever watched is gone
            self.is_over = True


_watched: Watched | None = None


def phase(name: str, total: int = 0, unit: str = "") -> None:
    """Say what begins now, and of how many steps it consists if that is known; while `each` counts, that goes on."""
    watched = _watched
    if watched is not None and not watched.counts:
        watched.phase, watched.done, watched.total, watched.unit = name, 0, total, unit
        watched.within = ""
        watched.phase_begun = time.monotonic()


def at(done: int, of: str = "") -> None:
    """Say how many steps of the phase are done; of a phase `of` this name only, if one is told."""
    if _watched is not None and (not of or _watched.phase == of):
        _watched.done = done


def steps(name: str, items: Iterable[Item], total: int) -> Iterable[Item]:
    """A phase whose steps are these items, counted as they are taken."""
    phase(name, total, name)
    return each(items)


def wrote(characters: int) -> None:
    """Say how much is written so far, in whatever phase."""
    if _watched is not None:
        _watched.written = f"{characters / 1e6:,.0f} MB written"


def within(text: str) -> None:
    """Say how far a long step has come by itself; "" when it is done."""
    if _watched is not None:
        _watched.within = text


def each(items: Iterable[Item], size: Callable[[Item], int] | None = None, of: str = "") -> Iterable[Item]:
    """The items, counted as they are taken: one step each, or as many as their size; see `at` for `of`."""
    if _watched is None or (of and _watched.phase != of):
        return items
    return _counted(items, _watched, size)


def _counted(items: Iterable[Item], watched: Watched, size: Callable[[Item], int] | None) -> Iterator[Item]:
    watched.counts = True  # the work on one item may have phases of its own, which would wipe the count
    try:
        for item in items:
            yield item
            watched.done += 1 if size is None else size(item)
    finally:
        watched.counts = False


@contextmanager
def set_aside() -> Iterator[None]:
    """While this lasts the line is gone, so that something else may be said on the same screen."""
    watched = _watched
    if watched is None:
        yield
        return
    with watched.lock:
        if watched.is_drawn:
            watched._write("\r\x1b[2K")
        yield


def results_follow() -> None:
    """Take the line away, because results appear on the terminal now."""
    global _watched
    if _watched is not None:
        _watched.wipe()
        _watched = None


@contextmanager
def watching(stream: TextIO) -> Iterator[None]:
    """While this lasts, work of more than a second is told on the stream, if it is a terminal."""
    global _watched
    if _watched is not None or not stream.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    watched = _watched = Watched(stream)
    _thread.start_new_thread(_drawn, (watched,))
    try:
        yield
    finally:
        results_follow()
        watched.wipe()


def _drawn(watched: Watched) -> None:
    """Draw again and again until it is over."""
    time.sleep(PATIENCE)
    while not watched.is_over and not sys.is_finalizing():
        watched.draw()
        time.sleep(INTERVAL)

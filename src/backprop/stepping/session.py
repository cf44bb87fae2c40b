"""A session at the screen: which key shows which moment, until one leaves."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from backprop.bindings import normal
from backprop.render.look import WIDEST, Look
from backprop.stepping.moments import Moments
from backprop.stepping.picture import Picture
from backprop.stepping.screen import Shown, screen

FORWARD = frozenset(("enter", "space", "right", "down", "n"))
BACK = frozenset(("left", "up", "backspace", "p"))
HOME, END = frozenset(("home", "g")), frozenset(("end", "G"))
LEAVE = frozenset(("q", "escape", "ctrl-d", "ctrl-c"))
PAGE = 10
# The longest that is typed at the foot of the screen: names may be long, and a key may be held down.
MOST_TYPED = 200


class Display(Protocol):
    """What a session is held on: a terminal, or what stands for one in a test."""

    @property
    def size(self) -> tuple[int, int]: ...

    def draw(self, lines: list[str]) -> None: ...

    def key(self) -> str: ...


class Session:
    """The moments of a trace on a display."""

    def __init__(self, moments: Moments, look: Look) -> None:
        self.moments, self.look, self.shown = moments, look, Shown()
        self.picture = Picture(moments, look)

    def run(self, display: Display) -> None:
        """Draw and listen until a key leaves, or the terminal is gone."""
        self.draw(display)
        while self.press(display.key()):
            self.draw(display)

    def draw(self, display: Display) -> None:
        """Show the moment; the witnesses have their word when the answer is told."""
        columns, rows = display.size
        look = replace(self.look, width=min(columns, WIDEST))
        trace = self.moments.trace
        if self.shown.place == len(self.moments) - 1 and trace.verdicts is not None:
            before, self.shown.said = self.shown.said, "the witnesses are still at work"
            display.draw(screen(self.moments, self.shown, self.picture, look, rows))
            trace.settle()
            self.shown.said = before
        display.draw(screen(self.moments, self.shown, self.picture, look, rows))

    def press(self, key: str) -> bool:
        """Go where a key leads; False for one that leaves. A key without a meaning changes nothing."""
        shown = self.shown
        shown.said = ""
        if key == "gone":
            return False
        if shown.help:
            shown.help = key in ("redraw", "ctrl-l")
        elif shown.typed:
            self.type(key)
        elif key in LEAVE:
            return False
        elif key.isdecimal() or key == "/":
            shown.typed = key
        elif key == "?":
            shown.help = True
        elif key in FORWARD:
            self.go(shown.place + 1)
        elif key in BACK:
            self.go(shown.place - 1)
        elif key in HOME:
            self.go(0)
        elif key in END:
            self.go(len(self.moments) - 1)
        elif key in ("page down", "page up"):
            self.go(shown.place + (PAGE if key == "page down" else -PAGE))
        elif key in ("f", "r"):
            self.go_to_phase(key)
        return True

    def go(self, place: int) -> None:
        """Show the moment at a place, or the nearest there is."""
        last = len(self.moments) - 1
        if place > last:
            self.shown.said = "this is the answer; q leaves, Home begins again"
        self.shown.place = max(0, min(place, last))

    def go_to_phase(self, key: str) -> None:
        """Show the first value, or the first adjoint or tangent."""
        slopes = "tangent" if self.moments.trace.mode == "forward" else "reverse"
        found = self.moments.first("forward" if key == "f" else slopes)
        if found is None:
            self.shown.said = "no value is worked out here" if key == "f" else "no derivative is worked out here"
        else:
            self.go(found)

    def type(self, key: str) -> None:
        """Go on with the number of a step or the name of a node at the foot of the screen; Enter goes there."""
        shown = self.shown
        if key == "enter":
            typed, shown.typed = shown.typed, ""
            self.go_to_typed(typed)
        elif key == "backspace":
            shown.typed = shown.typed[:-1]
        elif key == "escape":
            shown.typed = ""
        elif len(key) == 1 and len(shown.typed) < MOST_TYPED:
            shown.typed += key

    def go_to_typed(self, typed: str) -> None:
        if not typed.startswith("/"):
            if typed.isdecimal():
                self.go(min(int(typed), len(self.moments) - 2))
            else:
                self.shown.said = f"{typed} is no step; a number from 1 to {len(self.moments) - 2} is"
            return
        name = normal(typed[1:].strip())
        if not name:
            return
        found = self.moments.of_node(name, self.shown.place)
        if found is not None:
            self.go(found)
        elif name in self.moments.places:
            self.shown.said = f"no step works out anything at {name}"
        else:
            self.shown.said = f"no node is called {name}"

"""Prompts: the steps line by line, for a terminal that only prints, such as a paper one or an editor's window."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from backprop.render.characters import painted
from backprop.render.look import Look
from backprop.render.tables import paragraph, visible
from backprop.stepping.moments import Moments
from backprop.stepping.picture import Picture
from backprop.stepping.screen import heading, text_of

HELP = "Enter one step forward, b back, a number: that step, d draw the graph so far, q leave"
_FORWARD, _BACK, _LEAVE = ("", "n"), ("b", "p"), ("q", "quit", "exit")


def prompts(moments: Moments, look: Look, write: Callable[[str], object], answer: Callable[[], str]) -> None:
    """Show moment after moment. `write` takes text, `answer` gives what was typed with its end of line, "" when no
    more will come."""
    picture = Picture(moments, look)
    for line in paragraph(look, moments.trace.canonical.replace("\n", "; "), "heading"):
        write(f"{line}\n")
    write(look.letters(f"{HELP}\n"))
    place, last = 0, len(moments) - 1
    is_new = True
    while True:
        if is_new:
            for line in _moment(moments, place, look):
                write(f"{line}\n")
        write("> ")
        typed = answer()
        word, is_new = typed.strip().lower(), True
        if not typed or word in _LEAVE or (place == last and word in _FORWARD):
            write("" if typed else "\n")
            return
        if word in _FORWARD:
            place += 1
        elif word in _BACK:
            place = max(0, place - 1)
        elif word.isdecimal():
            place = min(int(word), last)
        elif word == "d":
            for row in picture.whole(moments[place], look.width):
                write(f"{painted(row, look)}\n")
            is_new = False
        else:
            write(look.letters(f"{HELP}\n"))
            is_new = False


def _moment(moments: Moments, place: int, look: Look) -> Iterator[str]:
    moment = moments[place]
    if place == len(moments) - 1:
        moments.trace.settle()  # the witnesses have their word in the answer
    yield visible(look.letters(f"{heading(moments, moment)}:"))
    for text, role in text_of(moments, moment, look):
        yield from paragraph(look, text, role)

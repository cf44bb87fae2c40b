"""The screen: what is shown of a moment in so many columns and rows. The graph above, its working below; it draws
nothing by itself, so that every screen can be looked at as lines of text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from backprop.notation import slope
from backprop.render.characters import painted
from backprop.render.look import Look
from backprop.render.tables import cells, visible, wrap
from backprop.render.verdicts import verdict
from backprop.stepping.moments import ANSWER, GIVEN, Moment, Moments
from backprop.stepping.picture import Picture

# So many rows are the heading, the rule between graph and working, and the keys.
AROUND = 3
# The working has at least so many rows where the screen has them, and less than half of it while there is a graph.
LEAST_WORKING = 3
# A graph cut to fewer rows shows no box.
LEAST_GRAPH = 3
# So many derivatives are told in the answer.
MOST_TOLD = 8

KEYS = (
    ("Enter, Space, Right, Down, n", "one step forward"),
    ("Left, Up, Backspace, p", "one step back"),
    ("Page Down, Page Up", "ten steps"),
    ("Home or g, End or G", "what is given, the answer"),
    ("f, r", "the first value, the first derivative"),
    ("12 Enter", "step 12"),
    ("/h Enter", "the next step about node h"),
    ("q, Esc, Ctrl-D", "leave"),
)
# The last row says as much of this as it has room for.
_SHORT_KEYS = ("Enter forward", "Left back", "q leave", "? keys", "Home, End", "12 Enter step 12", "/h Enter node h")


@dataclass(slots=True)
class Shown:
    """What is shown: the place of the moment, the keys instead of the graph, and a line being typed or said."""

    place: int = 0
    help: bool = False
    typed: str = ""
    said: str = ""


def screen(moments: Moments, shown: Shown, picture: Picture, look: Look, rows: int) -> list[str]:
    """The lines of the screen, painted, none wider than `look.width` and no more than `rows`."""
    width = look.width or 80
    moment = moments[shown.place]
    current = _current(moments, moment, look, width)
    working = max(LEAST_WORKING, min(len(current), (rows - AROUND) // 2))
    lines: list[str] = []
    if rows > 1:
        lines.append(_heading(moments, moment, look, width))
    room = rows - AROUND - working
    if shown.help:
        lines += [look.paint(line, None) for line in _help(look, width)][: max(0, rows - 2)]
    elif room >= LEAST_GRAPH:
        seen = picture.part(moment, width, room)
        told = _cut(_plain(f" {seen.left_out} ", look), look, width) if seen.left_out else ""
        lines += [painted(row, look) for row in seen.rows]
        lines.append(look.paint(told + look.letters("─") * (width - cells(told)), "quiet"))
    if not shown.help:
        lines += _working(moments, shown.place, current, look, max(1, rows - len(lines) - (rows > 2)))
    if rows > 2:
        lines += [""] * (rows - 1 - len(lines))
        lines.append(_last(shown, look, width))
    return lines[:rows]


def heading(moments: Moments, moment: Moment) -> str:
    """Where one is: "step 3 of 14, forward"."""
    count = len(moments) - 2
    if moment.phase == GIVEN:
        return f"what is given, before {count} {'step' if count == 1 else 'steps'}"
    if moment.phase == ANSWER:
        return f"the answer, after {count} {'step' if count == 1 else 'steps'}"
    return f"step {moment.place} of {count}, {moment.phase}"


def text_of(moments: Moments, moment: Moment, look: Look) -> list[tuple[str, str | None]]:
    """What a moment says, paragraph by paragraph, with the role of each: its line of working, what is given, or the
    answer."""
    trace = moments.trace
    if moment.phase == GIVEN:
        found = [f"{name} = {look.figure(value)}" for name, value in trace.inputs.items()]
        return [(_some(found) or "nothing is given: the program has no inputs", None)]
    if moment.phase == ANSWER:
        over = trace.wrt if trace.value is not None else []
        found = [f"{slope(trace.output, name)} = {look.figure(trace.gradient.get(name))}" for name in over]
        told: list[tuple[str, str | None]] = [(_some(found), "gradient")] if found else []
        told.append(verdict(trace, look))
        return [*told, *((f"note: {note.text}", "warning") for note in trace.notes)]
    return [(moment.text, None)]


def _some(texts: list[str]) -> str:
    more = len(texts) - MOST_TOLD
    return ", ".join(texts[:MOST_TOLD]) + (f" and {more} more" if more > 0 else "")


def broken(text: str, width: int, indent: str) -> list[str]:
    """A line of working in so many columns: whole where it fits, else a new line at each equals sign.

    >>> broken("c = a + b = 2 + 1 = 3", 12, "  ")
    ['c = a + b', '  = 2 + 1', '  = 3']
    """
    if cells(text) <= width:
        return [text]
    left, *parts = text.split(" = ")
    if not parts:
        return wrap(text, width, indent)
    pieces = [f"{left} = {parts[0]}", *(f"{indent}= {part}" for part in parts[1:])]
    return [line for piece in pieces for line in wrap(piece, width, f"{indent}  ")]


def fitted(text: str, width: int) -> str:
    """The beginning of a text in so many columns, with … where something is left out."""
    if cells(text) <= width:
        return text
    while text and cells(text) > width - 1:
        text = text[: -max(1, (cells(text) - width) // 2)]
    return f"{text}…" if width > 0 else ""


def _plain(text: str, look: Look) -> str:
    """A text in letters that the screen has, none of which moves its cursor."""
    return visible(look.letters(text.replace("\n", "; ")))


def _current(moments: Moments, moment: Moment, look: Look, width: int) -> list[str]:
    mark, margin = (("> " if look.ascii else "▸ "), "  ") if width > 4 else ("", "")
    room = max(1, width - len(margin))
    lines: list[str] = []
    for text, role in text_of(moments, moment, look):
        for line in broken(_plain(text, look), room, "  "):
            lines.append((margin if lines else mark) + look.paint(_cut(line, look, room), role or "value"))
    return lines


def _working(moments: Moments, place: int, current: list[str], look: Look, room: int) -> Iterator[str]:
    """The line of this moment, with as many of those before it as there is room for, as on paper."""
    width = look.width or 80
    if len(current) > room:
        yield from current[: max(1, room - 1)]
        if room > 1:
            yield look.paint(_cut(_plain("  … it goes on: a larger window shows more", look), look, width), "quiet")
        return
    above: list[str] = []
    while place > 1 and len(above) < room - len(current):
        place -= 1
        text = broken(_plain(moments[place].text, look), max(1, width - 2), "  ")
        above = [*(look.paint(_cut(f"  {line}", look, width), "quiet") for line in text), *above]
    yield from above[max(0, len(above) - (room - len(current))) :]
    yield from current


def _heading(moments: Moments, moment: Moment, look: Look, width: int) -> str:
    where = heading(moments, moment)
    program = _plain(moments.trace.canonical, look)
    room = width - cells(where) - 2
    if room < 8:
        return look.paint(_cut(where, look, width), "heading")
    shown = _cut(program, look, room)
    return look.paint(shown, "heading") + " " * (width - cells(shown) - cells(where)) + where


def _cut(text: str, look: Look, width: int) -> str:
    return fitted(text, width).replace("…", look.letters("…")[:1])


def _help(look: Look, width: int) -> Iterator[str]:
    column = max(cells(_plain(keys, look)) for keys, _ in KEYS) + 2
    for keys, says in KEYS:
        text = _plain(keys, look)
        yield _cut(f"  {text}{' ' * (column - cells(text))}{says}", look, width)


def _last(shown: Shown, look: Look, width: int) -> str:
    """What is being typed, else what is to be said, else the keys."""
    if shown.typed:
        return _cut(_plain(shown.typed, look), look, width - 1) + "_"
    if shown.said:
        return look.paint(_cut(_plain(shown.said, look), look, width), "warning")
    told = ""
    for keys in ("any key goes back",) if shown.help else _SHORT_KEYS:
        longer = f"{told} | {_plain(keys, look)}" if told else _plain(keys, look)
        if cells(longer) > width:
            break
        told = longer
    return look.paint(told, "quiet")

"""A mistake as a lesson: its title, the line it stands in with carets below, what is wrong, and how to mend it."""

from __future__ import annotations

from collections.abc import Iterator

from backprop.mistakes import Mistake, Span
from backprop.render.look import Look
from backprop.render.tables import cells, visible, wrap

MARGIN = "  "
# Of a line longer than the screen only a window around the carets is shown; in a pipe the window is this wide.
WIDEST_LINE = 100
# Of a span over several lines the first and the last are shown when there are more than this.
MOST_LINES = 4
TAB = "    "
# A cause or a repair may quote the text it is about; of a longer one the middle is left out.
LONGEST_TOLD = 600


def lines(mistake: Mistake, look: Look) -> Iterator[str]:
    """The lines of the lesson, without line ends."""
    yield look.paint(_shown(look, _place(mistake)), "bad")
    width = look.width if look.width is not None else WIDEST_LINE
    if mistake.span is None or not mistake.source:
        yield from _told(look, mistake.cause)
    else:
        source = mistake.source
        where = _within(source, mistake.span)
        marked = list(_marked_lines(source, where))
        for number, (start, end, left, right) in enumerate(marked):
            if start < 0:
                yield MARGIN + look.letters("…")
                continue
            before, inside, after = _window(look, source[start:end], left - start, right - start, width - len(MARGIN))
            yield MARGIN + before + look.paint(inside, "warning") + after
            carets = " " * cells(before) + "^" * max(1, cells(inside))
            if number < len(marked) - 1:
                yield MARGIN + look.paint(carets, "bad")
                continue
            cause = _shown(look, mistake.cause)
            if look.width is None or cells(carets) + 1 + cells(cause) + len(MARGIN) <= look.width:
                yield MARGIN + look.paint(carets, "bad") + f" {cause}"
            else:
                yield MARGIN + look.paint(carets, "bad")
                yield from _told(look, mistake.cause)
    if mistake.repair:
        yield from _told(look, mistake.repair)


def _place(mistake: Mistake) -> str:
    """The title, with the file and the line when the text came from one."""
    if mistake.origin is None:
        return mistake.title
    if mistake.span is None or mistake.source is None:
        return f"{mistake.title} in {mistake.origin}"
    start, _ = _within(mistake.source, mistake.span)
    return f"{mistake.title} in {mistake.origin}, line {mistake.source.count(chr(10), 0, start) + 1}"


def _within(source: str, span: Span) -> Span:
    """A span inside the text, whatever it was; one that is only blank space at the end points behind the last word."""
    start = min(max(span[0], 0), len(source))
    end = min(max(span[1], start), len(source))
    if not source[start:end].strip() and not source[end:].strip():
        start = end = len(source[:start].rstrip())
    while end > start and source[end - 1] in "\r\n":
        end -= 1
    return start, end


def _marked_lines(source: str, span: Span) -> Iterator[tuple[int, int, int, int]]:
    """The lines a span touches: where each starts and ends, and which part is marked. (-1, ...) stands for a gap."""
    start, end = span
    found: list[tuple[int, int, int, int]] = []
    last_line = source.rfind("\n", 0, end) + 1
    at = source.rfind("\n", 0, start) + 1
    while True:
        stop = source.find("\n", at)
        stop = len(source) if stop < 0 else stop
        if len(found) < MOST_LINES - 1 or at >= last_line:
            left, right = max(at, start), min(stop, end)
            left += len(source[left:right]) - len(source[left:right].lstrip()) if left > start else 0
            if left < right or left == start:
                found.append((at, stop, left, right))
        else:
            found.append((-1, -1, -1, -1))
            at = last_line
            continue
        if at >= last_line:
            break
        at = stop + 1
    yield from found


def _window(look: Look, line: str, left: int, right: int, width: int) -> tuple[str, str, str]:
    """A line in three parts, before, inside and after the mark, cut to what fits around the mark with … at the cuts."""
    width = max(width, 20)
    far = 2 * width  # letters further away than this can never be seen, and a line may have millions
    if right - left > width - 10:
        keep = (width - 10) // 2
        inside = _flat(look, line[left : left + keep]) + look.letters("…") + _flat(look, line[right - keep : right])
    else:
        inside = _flat(look, line[left:right])
    before, after = _flat(look, line[max(0, left - far) : left]), _flat(look, line[right : right + far])
    room = max(0, width - cells(inside))
    if cells(before) + cells(after) <= room and left <= far and len(line) - right <= far:
        return before, inside, after
    dots = look.letters("…")
    share = min(cells(before), max(room // 2, room - cells(after)))
    if share < cells(before) or left > far:
        before = dots + _last_cells(before, max(0, share - len(dots)))
    share = max(0, room - cells(before))
    if share < cells(after) or len(line) - right > far:
        after = _first_cells(after, max(0, share - len(dots))) + dots
    return before, inside, after


def _flat(look: Look, text: str) -> str:
    """Source text on one line: a tab takes four columns, other control characters are written out."""
    return visible(look.letters(text.replace("\t", TAB).rstrip("\r")))


def _first_cells(text: str, width: int) -> str:
    used = 0
    for place, letter in enumerate(text):
        used += cells(letter)
        if used > width:
            return text[:place]
    return text


def _last_cells(text: str, width: int) -> str:
    return _first_cells(text[::-1], width)[::-1]


def _told(look: Look, text: str) -> Iterator[str]:
    for paragraph in text.split("\n"):
        shown = _shown(look, paragraph)
        room = None if look.width is None else max(20, look.width - len(MARGIN))
        yield from (MARGIN + part for part in ([shown] if room is None else wrap(shown, room)))


def _shown(look: Look, text: str) -> str:
    if len(text) > LONGEST_TOLD:
        text = f"{text[: LONGEST_TOLD // 2]} … {text[-LONGEST_TOLD // 2 :]}"
    return visible(look.letters(text))

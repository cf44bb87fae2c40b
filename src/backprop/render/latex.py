r"""The working in LaTeX: the forward and the reverse pass as `align*`, formula = numbers put in = value.

It is for `\input` or to paste: with amsmath it compiles in any document, and MathJax and KaTeX show it. A whole
document of the drawing is format tikz.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from backprop.record import Trace
from backprop.render import Format
from backprop.render.look import Look
from backprop.render.typeset import WIDEST, Piece, formula, name, slope, words
from backprop.render.workings import Line, adjoint_lines, tangent_lines, value_lines
from backprop.working import NO_VALUE, NOT_TAKEN, Gap, Working

FORMAT = Format("latex", suffix=".tex", says="the working as align* environments, to paste into a document")

# A page is never broken inside of an environment.
ROWS = 20
_FOREIGN = re.compile("[^\t -~]")


def render(trace: Trace, look: Look) -> Iterator[str]:
    """The environments, one line of LaTeX for a line of working; long ones go on below."""
    slopes = tangent_lines if trace.mode == "forward" else adjoint_lines
    for lines, of_slopes in ((value_lines(trace, look), False), (slopes(trace, look), True)):
        for line in _environments(_rows(lines, of_slopes, trace)):
            yield _FOREIGN.sub(lambda sign: rf"\texttt{{U+{ord(sign[0]):04X}}}", line) if look.ascii else line


def _environments(rows: Iterable[list[str]]) -> Iterator[str]:
    held: list[str] = []
    for row in rows:
        if held and len(held) + len(row) > ROWS:
            yield from _environment(held)
            held = []
        held += row
    if held:
        yield from _environment(held)


def _environment(rows: list[str]) -> Iterator[str]:
    yield r"\begin{align*}"
    for place, row in enumerate(rows):
        yield row + (r" \\" if place + 1 < len(rows) else "")
    yield r"\end{align*}"


def _rows(lines: Iterable[Line], of_slopes: bool, trace: Trace) -> Iterator[list[str]]:
    for line in lines:
        if isinstance(line, Gap):
            yield [rf"&\;\;\vdots \quad \text{{{words(line.told)}}}"]
        else:
            left = slope(line.left) if of_slopes else name(line.left)
            yield list(_packed(left, _parts(line, trace)))


def _parts(line: Working, trace: Trace) -> Iterator[list[Piece]]:
    """What stands between the signs of equality, and the remark after the last."""
    before = line.left
    for terms in (line.chain, line.rules, line.numbers, (line.value,)):
        text = " + ".join(terms)
        if not text or (text == before and terms != (line.value,)) or text == before != line.left:
            continue
        pieces: list[Piece] = [(" =", 2)]
        for place, term in enumerate(terms):
            # the ends of a ball are no vector
            (head, width), *rest = formula(term, flat=trace.kind == "certified")
            pieces += [((" + " if place else " ") + head, width + 2), *rest]
        yield [(pieces[0][0] + pieces[1][0], pieces[1][1] + 2), *pieces[2:]]
        before = text
    said = line.remark
    if not line.value and said != NOT_TAKEN:
        said = f"{NO_VALUE}; {said}" if said else NO_VALUE
    if said:
        yield [(rf"\quad \text{{({words(said)})}}", len(said) + 4)]


def _packed(left: str, parts: Iterable[list[Piece]]) -> Iterator[str]:
    """The parts in as few lines as they fit: broken before an =, and inside of a part only where it is too long."""
    line, used = f"{left} &", 4.0
    for part in parts:
        width = sum(wide for _, wide in part)
        if used > 4.0 and used + width > WIDEST:
            yield line
            line, used = "&", 4.0
        for piece, wide in part:
            if used > 4.0 and used + wide > WIDEST:
                yield line
                line, used = r"&\quad {}", 6.0
            line += piece
            used += wide
    yield line

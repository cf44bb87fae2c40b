r"""The graph as a LaTeX document of its own, drawn with TikZ.

Plain pdflatex compiles it, with packages that every TeX has. The page is as large as the drawing, and formulas are
set as mathematics.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from backprop.layout.shapes import Point
from backprop.record import Trace
from backprop.render import Format
from backprop.render.drawing import Text
from backprop.render.look import Look
from backprop.render.picture import DrawnArrow, DrawnBox, line_places, picture
from backprop.render.typeset import inline, letters, words
from backprop.theme import THEME

FORMAT = Format("tikz", suffix=".tikz", says="the graph as a document for pdflatex, drawn with TikZ", drawing=True)

# Points of TeX for a pixel, and the largest page that PDF readers take.
SCALE, LARGEST = 0.75, 14_000.0
_FOREIGN = re.compile("[^\t -~]")
_FORMULAS = frozenset({"name", "input", "param", "constant", "output", "value", "gradient", "tangent", "partial"})


def render(trace: Trace, look: Look) -> Iterator[str]:
    """The lines of the document. Raises `TooLargeToDraw` as every drawing does."""
    for line in _document(trace, look):
        yield _FOREIGN.sub(lambda sign: rf"\texttt{{U+{ord(sign[0]):04X}}}", line) if look.ascii else line


def _document(trace: Trace, look: Look) -> Iterator[str]:
    whole = picture(trace, look)
    ground = "dark" if look.view.light is False else "light"
    scale = min(SCALE, LARGEST / max(whole.width, whole.height))
    width, height = whole.width * scale, whole.height * scale
    yield r"\documentclass{article}"
    yield r"\usepackage{amsmath,tikz}"
    yield rf"\usepackage[paperwidth={width + 2:.1f}bp,paperheight={height + 2:.1f}bp,margin=0pt]{{geometry}}"
    yield r"\pagestyle{empty}\setlength{\parindent}{0pt}\setlength{\topskip}{0pt}"
    for role, paint in THEME.items():
        yield rf"\definecolor{{{role}}}{{HTML}}{{{getattr(paint, ground)[1:].upper()}}}"
    yield r"\begin{document}"
    yield rf"\pagecolor{{page}}\begin{{tikzpicture}}[x={scale:.4f}bp,y=-{scale:.4f}bp,inner sep=0pt,"
    yield rf"  every node/.style={{anchor=base,scale={scale / SCALE:.4f},font=\footnotesize}}]"
    yield rf"\useasboundingbox (0,0) rectangle ({whole.width:.1f},{whole.height:.1f});"
    for arrow in whole.arrows:
        yield from _arrow(arrow)
    for box in whole.boxes:
        yield from _box(box)
    for line in whole.caption:
        text, role = line.text
        yield rf"\node[anchor=base west,text={role}] at ({line.x:.1f},{line.y:.1f}) {{{words(text)}}};"
    yield r"\end{tikzpicture}"
    yield r"\end{document}"


def _box(box: DrawnBox) -> Iterator[str]:
    x, y, width, height = box.rect
    if box.role != "constant":
        frame = f"{box.role}-frame" if f"{box.role}-frame" in THEME else "frame"
        ground = f"{box.role}-box" if f"{box.role}-box" in THEME else "box"
        style = [f"draw={frame}", f"fill={ground}", "line width=" + ("1.8bp" if box.role == "output" else "0.8bp")]
        style.append(f"rounded corners={9 if box.role in ('input', 'param') else 2}bp")
        style += [] if box.taken else ["dashed"]
        yield rf"\draw[{','.join(style)}] ({x:.1f},{y:.1f}) rectangle ({x + width:.1f},{y + height:.1f});"
    for across, down, line in line_places(box.rect, box.lines):
        yield _text(across, down, line)


def _arrow(arrow: DrawnArrow) -> Iterator[str]:
    style = ["->", f"draw={arrow.role}", "rounded corners=4bp", f"line width={2.2 if arrow.on_path else 0.8}bp"]
    style += [] if arrow.taken else ["dashed"]
    yield rf"\draw[{','.join(style)}] {_way(arrow.points)};"
    if arrow.label is not None:
        yield from (_text(x, y, line) for x, y, line in line_places(arrow.label, arrow.lines))


def _way(points: Sequence[Point]) -> str:
    return " -- ".join(f"({x:.1f},{y:.1f})" for x, y in points)


def _text(x: float, y: float, line: Text) -> str:
    # letters that no font has are wider than the layout was made for
    small = "" if line.text.isascii() else f",scale={min(1.0, (len(line.text) + 1) / letters(line.text)):.2f}"
    return rf"\node[text={line.role}{small}] at ({x:.1f},{y:.1f}) {{{label(line)}}};"


def label(line: Text) -> str:
    """A line of a box or an arrow: formulas as mathematics, the rest as words."""
    text, suffix = line.text.strip(), ""
    if line.role not in _FORMULAS:
        return words(text)
    if text.endswith(" (param)"):
        text, suffix = text.removesuffix(" (param)"), " (param)"
    word = "value " if text.startswith("value ") else ""
    return f"{word}${inline(text.removeprefix(word))}${suffix}"

"""The picture of a page: the graph as SVG inside the HTML, in the colours of the page's style."""

from __future__ import annotations

import math
from collections.abc import Iterator

from backprop.layout.shapes import Point
from backprop.page.sections import text
from backprop.render.drawing import Text
from backprop.render.picture import FONT, DrawnArrow, DrawnBox, Picture, line_places
from backprop.render.svg import curve, head
from backprop.working import NO_VALUE, NOT_TAKEN
from backprop.working.brought import NOT_PROVEN

# The roles of texts that the style tells by what they depend on; a partial is known by its arrow.
_BY_KEY = frozenset({"value", "gradient", "tangent"})


def svg(drawn: Picture, name: str) -> Iterator[str]:
    """A picture. Ids begin with `name`, so that two on a page keep apart."""
    width, height = math.ceil(drawn.width), math.ceil(drawn.height)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="group" aria-labelledby="{name}-title" font-size="{FONT:g}">'
    )
    yield f'<title id="{name}-title">{text(drawn.title)}</title>'
    yield '<g class="bp-arrows">'
    yield from map(_arrow, drawn.arrows)
    yield '</g><g class="bp-boxes">'
    yield from (_box(box, place) for place, box in enumerate(drawn.boxes))
    yield "</g></svg>"


def _arrow(arrow: DrawnArrow) -> str:
    base, (tip, left, right) = head(arrow.points, on_path=False)
    line = curve([*arrow.points[:-1], base], _at)
    told = "<g>" if arrow.taken else '<g class="bp-rest">'
    told += f'<path d="{line}"/><path d="M{_at(tip)}L{_at(left)} {_at(right)}Z"/>'
    if arrow.label is not None:
        for x, y, one in line_places(arrow.label, arrow.lines):
            told += _text(x, y, one, "")
    return told + "</g>"


def _box(box: DrawnBox, place: int) -> str:
    x, y, width, height = box.rect
    named = [*([] if box.role == "box" else [f"bp-{box.role}"]), *([] if box.taken else ["bp-rest"])]
    corner = round(min(height / 2, 16)) if box.role in ("input", "param") else 5
    told = f'<g class="{" ".join(named)}">' if named else "<g>"
    told += f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}" rx="{corner}"/>'
    held = set[str]()
    for middle, base, one in line_places(box.rect, box.lines):
        is_value = one.role == "value" or one.text in (NO_VALUE, NOT_TAKEN, NOT_PROVEN)
        letter = "V" if is_value else "S" if one.role in ("gradient", "tangent") else ""
        told += _text(middle, base, one, _key(letter, place, bool(letter), held))
    return told + "</g>"


def _key(letter: str, place: int, depends: bool, held: set[str]) -> str:
    """The key of a text that depends on the inputs; of one that is folded the later lines are emptied."""
    if not depends:
        return ""
    again = letter in held
    held.add(letter)
    return f"{'x' if again else letter}{place}"


def _text(x: float, y: float, line: Text, key: str) -> str:
    more = f' data-k="{key}"' if key else ""
    role = "" if (key and line.role in _BY_KEY) or line.role == "partial" else f' class="bp-{line.role}"'
    return f'<text{role} x="{x:.0f}" y="{y:.0f}"{more}>{text(line.text)}</text>'


def _at(point: Point) -> str:
    """Whole pixels are enough, and a page is to be small."""
    return f"{round(point[0])} {round(point[1])}"

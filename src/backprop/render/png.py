"""The drawing of `svg` in pixels, for what shows no SVG."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

from backprop.mistakes import ExtraMissing, TooManyPixels
from backprop.record import Trace
from backprop.render import Format
from backprop.render.look import Look
from backprop.render.picture import picture
from backprop.render.svg import drawn

FORMAT = Format("png", ".png", "the drawing as an image (extra png)", binary=True, drawing=True)

# Twice as fine as a page, as screens of today are; of a drawing with more pixels than memory has room for, less fine.
ZOOM, MOST_PIXELS, LEAST_ZOOM = 2.0, 64_000_000, 0.5


def render(trace: Trace, look: Look) -> Iterator[bytes]:
    """The image, on a light ground unless `look.view` asks for a dark one.

    The letters are those of the font that comes with the extra, so it is the same everywhere; for letters that it has
    not, as Chinese, the fonts of the machine are asked. Raises `ExtraMissing`, `TooLargeToDraw`, `TooManyPixels`.
    """
    whole = picture(trace, look)
    yield pixels("\n".join(drawn(whole, look.view.light is not False)), whole.width, whole.height)


def pixels(svg: str, width: float, height: float) -> bytes:
    """A picture in SVG as PNG. Raises `ExtraMissing` and `TooManyPixels`."""
    try:
        from fontpkg_jetbrains_mono import ROOT
        from resvg_py import svg_to_bytes
    except ImportError:
        raise ExtraMissing("a PNG", "png") from None
    zoom = min(ZOOM, sqrt(MOST_PIXELS / (width * height)))
    if zoom < LEAST_ZOOM:
        raise TooManyPixels(width, height)
    fonts = [str(path) for path in sorted(ROOT.rglob("*.ttf"))]
    return bytes(svg_to_bytes(svg_string=svg, zoom=zoom, font_files=fonts, font_family="JetBrains Mono"))

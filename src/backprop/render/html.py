"""The trace as a page that moves: steps, modes, paths and sliders, in one file that asks nothing of any host."""

from __future__ import annotations

from collections.abc import Iterator

from backprop import page
from backprop.record import Trace
from backprop.render import Format
from backprop.render.look import Look

FORMAT = Format("html", suffix=".html", says="a page with steps, paths and sliders, for a browser")


def render(trace: Trace, look: Look) -> Iterator[str]:
    """The lines of the page. Raises `TooLargeToDraw`."""
    for line in page.document(trace, look):
        yield line.encode("ascii", "xmlcharrefreplace").decode() if look.ascii else line

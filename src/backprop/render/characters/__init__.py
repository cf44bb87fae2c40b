"""The graph in character cells: boxes of text, and lines between them that read one way only."""

from backprop.render.characters.canvas import Span, painted
from backprop.render.characters.drawings import Drawing, Labels, drawn

__all__ = ["Drawing", "Labels", "Span", "drawn", "painted"]

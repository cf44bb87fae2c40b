"""Layered drawings of directed graphs without cycles: boxes in layers, arrows from layer to layer (Sugiyama's method).

Pure geometry: it knows boxes by their sizes and arrows by the two boxes they join, and nothing of what is drawn in
them. The unit is the caller's, pixels or character cells. `layered` gives each box its layer and each arrow a slot in
every layer it passes, in an order with few crossings; `laid_out` gives all of it coordinates.

>>> drawing = laid_out([Box(40, 20), Box(40, 20)], [Arrow(0, 1, 30, 10)])
>>> drawing.boxes[0].y > drawing.arrows[0].label.y > drawing.boxes[1].y
True
"""

from backprop.layout.drawn import laid_out
from backprop.layout.shapes import Arrow, Box, Direction, Layers, Layout, Rect, Route, Slot, Spacing
from backprop.layout.slots import layered

__all__ = [
    "Arrow",
    "Box",
    "Direction",
    "Layers",
    "Layout",
    "Rect",
    "Route",
    "Slot",
    "Spacing",
    "laid_out",
    "layered",
]

"""How a drawing was asked: its direction, the path that stands out, and the part around a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backprop.asked import VIEWS
from backprop.bindings import Words, normal
from backprop.mistakes import Apart, NoSuchPath, OptionValue

if TYPE_CHECKING:
    from backprop.record import Trace
    from backprop.render import Format
    from backprop.render.look import Look

MOST_HOPS = 1_000_000


def viewed(words: Words, trace: Trace, format: Format, look: Look) -> tuple[Trace, Look]:
    """The trace, or the part asked for, with the look of its drawing.

    Raises `Apart` for a format that is no drawing, `UnknownNode`, `NoSuchPath` and `OptionValue`.
    """
    asked = [name for name in VIEWS if name in words.options]
    if not asked:
        return trace, look
    from dataclasses import replace

    if not format.drawing:
        told = f"--{asked[0]} is about a drawing of the graph, and {format.name} is none"
        raise Apart([f"--{asked[0]}", f"--format {format.name}"], f"{told}: --format text or -o graph.svg draws it.")
    view: dict[str, Any] = {"direction": words.text("direction", look.view.direction), "both": words.flag("both")}
    if "path" in words.options:
        view["path"], view["caption"] = _path(words, trace, look)
    if "around" in words.options:
        from backprop.surroundings import HOPS, around

        view["around"] = normal(words.text("around").strip())
        view["hops"] = words.count("hops", HOPS, least=0, most=MOST_HOPS)
        trace = around(trace, view["around"], view["hops"])
    elif "hops" in words.options:
        raise OptionValue("hops", words.text("hops"), "It says how far --around NODE goes: --around h --hops 2")
    return trace, replace(look, view=replace(look.view, **view))


def _path(words: Words, trace: Trace, look: Look) -> tuple[frozenset[tuple[str, str, int]], str]:
    """The edges of the path asked for, counted through the variables in their order, and what it brings."""
    from backprop.notation import slope
    from backprop.path_sums import count, nth, routes
    from backprop.render.paths import one_row

    place = words.count("path", 1)
    left, every = place, routes(trace, symbolic=trace.kind == "symbol")
    for one in every:
        found = nth(one, left)
        if found is None:
            left -= count(one)
            continue
        _, route, *told = one_row(found, look)
        has_number = not found.routes.symbolic and told[0].rpartition("= ")[2] != told[1]
        number = f" = {told[1]}" if has_number else ""
        caption = f"path {place}: {route}   brings {told[0]}{number} to {slope(trace.output, one.source_id)}"
        return frozenset((edge.source, edge.target, edge.key) for edge in found.edges), caption
    raise NoSuchPath(place, {one.source_id: count(one) for one in every}, trace.output)

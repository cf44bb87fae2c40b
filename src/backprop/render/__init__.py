"""Renderers: one module for each format, holding `FORMAT` and `render(trace, look)`, which yields lines, or bytes.

A module here that has a `FORMAT` is a format; nothing else lists them. Each is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from backprop.mistakes import UnknownFormat

if TYPE_CHECKING:
    from backprop.record import Trace
    from backprop.render.look import Look


class Format(NamedTuple):
    """What a format is called (like its module), how its files end, and what it is in a few words.

    A `binary` one gives pieces of bytes in place of lines. A `drawing` shows the graph and nothing that goes over all
    of it, so it can show a part; how it looks is asked by `Look.view`.
    """

    name: str
    suffix: str
    says: str
    binary: bool = False
    drawing: bool = False


class Renderer(NamedTuple):
    """A format with the function that gives its lines, without line ends, or its bytes. It reads the trace alone."""

    format: Format
    render: Callable[[Trace, Look], Iterator[Any]]


def formats() -> list[Format]:
    """Every format, in the order of their names.

    >>> [format.name for format in formats()][:3]
    ['csv', 'cytoscape', 'dot']
    """
    return [renderer.format for renderer in _renderers()]


def by_name(name: str) -> Renderer:
    """The format of that name. Raises `UnknownFormat`."""
    found = _renderer(name) if name.isidentifier() and not name.startswith("_") else None
    if found is not None:
        return found
    raise UnknownFormat(name, [format.name for format in formats()])


def by_suffix(suffix: str) -> Renderer:
    """The format whose files end like that (".mmd"). Raises `UnknownFormat`."""
    for renderer in _renderers():
        if renderer.format.suffix == suffix.lower():
            return renderer
    raise UnknownFormat(suffix, [format.suffix for format in formats()])


@lru_cache(maxsize=1)
def _renderers() -> list[Renderer]:
    from pkgutil import iter_modules  # asking for one format by its name need not look at the others

    found = (_renderer(module.name) for module in sorted(iter_modules(__path__), key=lambda module: module.name))
    return [renderer for renderer in found if renderer is not None]


def _renderer(name: str) -> Renderer | None:
    """The format in the module of that name; None when there is no such module, or it holds no format."""
    full_name = f"{__name__}.{name}"
    try:
        module = import_module(full_name)
    except ModuleNotFoundError as error:
        if error.name == full_name:
            return None
        raise
    return Renderer(module.FORMAT, module.render) if hasattr(module, "FORMAT") else None

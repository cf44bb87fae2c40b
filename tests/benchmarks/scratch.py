"""A folder for the files that contenders read and write; it goes when the run ends."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path


@cache
def folder() -> Path:
    """The folder of this run."""
    _held.append(tempfile.TemporaryDirectory(prefix="benchmarks-"))
    return Path(_held[0].name)


_held: list[tempfile.TemporaryDirectory[str]] = []


def kept(name: str, write: Callable[[Path], object]) -> Path:
    """A file of this name, written once."""
    path = folder() / name
    if not path.exists():
        write(path)
    return path

"""A table cut into parts: several files, and of each the runs of rows that can be read apart."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator

from backprop.mapping import tables
from backprop.mapping.tables import Source, reading
from backprop.mistakes import CannotRead


def files(data: str) -> list[str]:
    """The files of a table, in the order of their names: one file, those in a folder, or those that a pattern fits.

    What begins with a point or an underscore is no part of a table, nor is in a folder what has another ending than
    tables have. Raises `CannotRead` where there is none.
    """
    if data == "-" or os.path.isfile(data):
        return [data]
    if os.path.isdir(data):
        with reading(data):
            found = sorted(_beneath(data))
        if not found:
            endings = ", ".join(suffix for one in tables.formats() for suffix in one.suffixes)
            raise CannotRead(data, "there is no table in this folder", f"Tables end in {endings}.")
        return found
    if glob.has_magic(data) and not os.path.exists(data):
        unmeant = "" if os.path.basename(data).startswith("_") else "_"
        found = sorted(
            path
            for path in glob.glob(data, recursive=True)
            if os.path.isfile(path) and not (unmeant and os.path.basename(path).startswith(unmeant))
        )
        if not found:
            raise CannotRead(data, "no file is called like this", "* stands for any letters, ** for any folders too.")
        return found
    return [data]


def _beneath(folder: str) -> Iterator[str]:
    suffixes = tuple(suffix + end for one in tables.formats() for suffix in one.suffixes for end in ("", ".gz"))
    for here, inside, names in os.walk(folder, onerror=_refuse):
        inside[:] = [name for name in inside if not name.startswith((".", "_"))]
        for name in names:
            if name.lower().endswith(suffixes) and not name.startswith((".", "_")):
                yield os.path.join(here, name)


def _refuse(error: OSError) -> None:
    raise error


def told(part: Source) -> str:
    """Which part of a table it is, for people."""
    if part.span is not None:
        return f"bytes {part.span[0]} to {part.span[1]} of {part.name}"
    if part.groups is not None and part.before is not None and part.rows is not None:
        return f"rows {part.before + 1} to {part.before + part.rows} of {part.name}"
    if part.groups is not None:
        return f"batches {part.groups[0] + 1} to {part.groups[1]} of {part.name}"
    return part.name

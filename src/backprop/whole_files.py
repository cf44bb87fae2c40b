"""Files that are there whole or not at all, written by one process; of many at once see `mapping.whole`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from backprop.mistakes import CannotWrite


@contextmanager
def whole_file(path: str) -> Iterator[BinaryIO]:
    """A file to write: a new one beside it takes its place once it is complete.

    So a file may take the place of the one that it was made from. A device or a named pipe, which has no place to take,
    is written as it comes. Raises `CannotWrite`.
    """
    try:
        if b"\0" in os.fsencode(path):
            raise ValueError
    except ValueError:
        raise CannotWrite(repr(path), "no file can have this name") from None
    try:
        target = os.path.realpath(path)
        if os.path.exists(target) and not os.path.isfile(target):
            with open(target, "wb") as file:
                yield file
            return
        beside = f"{target}.{os.getpid()}.part"
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with open(descriptor, "wb") as file:
                yield file
            if os.path.exists(target):
                os.chmod(beside, os.stat(target).st_mode & 0o7777)
            os.replace(beside, target)
        except BaseException:
            os.unlink(beside)
            raise
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CannotWrite(path, error.strerror or str(error)) from None

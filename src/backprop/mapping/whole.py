"""Files that many tasks write, on whatever machine, whole or not at all; for those of one process see `whole_files`."""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from backprop.mistakes import CannotWrite, PartMissing

# Seconds after which a part that was written elsewhere has to be seen here: network disks take their time.
SEEN = 10.0
# Readers of folders pass over what begins with a point.
_UNFINISHED = re.compile(r"\..+\.[0-9a-f]{16}\.unfinished")


@contextmanager
def whole_part(path: str) -> Iterator[BinaryIO]:
    """A file that gets its name once it is complete.

    Until then it has one that no other task can have, on whatever machine: two that write the same part, because one
    of them was given up too soon, do not meet, and the last one counts. Raises `CannotWrite`.
    """
    folder, name = os.path.split(path)
    beside = os.path.join(folder, f".{name}.{secrets.token_hex(8)}.unfinished")
    try:
        with open(beside, "xb") as file:
            yield file
        os.replace(beside, path)
    except OSError as error:
        raise CannotWrite(path, error.strerror or str(error)) from None
    finally:
        with suppress(OSError):
            os.unlink(beside)


def is_whole(path: str, size: int) -> bool:
    """Whether a file is there and has that many bytes."""
    with suppress(OSError):
        return os.stat(path).st_size == size
    return False


def await_part(path: str, size: int, worker: str) -> None:
    """Return once a part that a worker has written is to be seen here. Raises `PartMissing`."""
    end = time.monotonic() + SEEN
    while not is_whole(path, size):
        if time.monotonic() > end:
            raise PartMissing(path, worker)
        with suppress(OSError):
            os.listdir(os.path.dirname(path) or ".")  # a network disk looks again
        time.sleep(0.1)


def is_unfinished(name: str) -> bool:
    """Whether a file of that name was never finished."""
    return _UNFINISHED.fullmatch(name) is not None


def sweep(folder: str) -> None:
    """Remove what was never finished: a task that was killed leaves it."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if is_unfinished(name):
                with suppress(OSError):
                    os.unlink(os.path.join(folder, name))

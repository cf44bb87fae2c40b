"""What is kept between runs, for each user and version: found again only when it is whole and the user's own.

Values are kept by `marshal`, which is fast and trusts what it reads. So a file is read only when nobody but the user
can have written it, and believed only when it is, byte for byte, what was written, made from the same sources by the
same Python.
"""

from __future__ import annotations

import os
import sys
from typing import Any


def directory() -> str | None:
    """The user's folder for it; None where there is no telling whose home this is.

    BACKPROP_CACHE_DIR chooses another one.
    """
    if chosen := os.environ.get("BACKPROP_CACHE_DIR"):
        return chosen
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser(r"~\AppData\Local")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or ""
        if not os.path.isabs(base):  # the rule for XDG_CACHE_HOME: a relative one is passed over
            base = os.path.expanduser("~/.cache")
    return os.path.join(base, "backprop") if os.path.isabs(base) else None


def file_of(name: str, made_from: bytes) -> str | None:
    """The file that keeps what was made from these sources; each Python has its own, as `marshal` differs."""
    from binascii import crc32

    where = directory()
    tag = sys.implementation.cache_tag or "python"
    return where and os.path.join(where, f"{name}-{tag}-{crc32(made_from):08x}.kept")


def recall(name: str, made_from: bytes) -> Any:
    """What was kept under a name; None when it is not there, not whole, not the user's or made from other sources."""
    import marshal
    from binascii import crc32

    path = file_of(name, made_from)
    try:
        data = b"" if path is None else own_bytes(path)
        if int.from_bytes(data[:4], "little") != crc32(data[4:]):
            return None
        sources, value = marshal.loads(data[4:])
    except (OSError, ValueError, TypeError, EOFError):
        return None
    return value if sources == made_from else None


def keep(name: str, made_from: bytes, value: Any) -> None:
    """Keep a value for the next run: whole or not at all, however many processes do so at once.

    A folder that cannot be written costs time on every run, never an answer.
    """
    import contextlib
    import marshal
    import tempfile
    from binascii import crc32

    path = file_of(name, made_from)
    if path is None:
        return
    data = marshal.dumps((made_from, value))
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=f"{name}-")  # for the user's eyes alone
        try:
            with open(handle, "wb") as file:
                file.write(crc32(data).to_bytes(4, "little") + data)
            os.replace(temporary, path)
        except BaseException:
            os.remove(temporary)
            raise


def own_bytes(path: str) -> bytes:
    """The bytes of a file. Raises `PermissionError` when another user may have written it or led the way to it."""
    # never through a link, and never waiting for what is no file
    how = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, how), "rb") as file:
        found = os.fstat(file.fileno())
        if hasattr(os, "geteuid") and (found.st_uid != os.geteuid() or found.st_mode & 0o022 or found.st_nlink != 1):
            raise PermissionError(path)
        return file.read()

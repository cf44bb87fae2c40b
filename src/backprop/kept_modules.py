"""Modules out of texts that were written here, in files of the user's own, so that numba may keep what it compiles.

Numba puts machine code beside the file that a function comes from, and trusts what it finds there. So the file lies in
a folder that only the user can write to, and is believed only when it holds, byte for byte, what was written.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import ModuleType

from backprop import cache


def load(name: str, text: str, compiled: Callable[[ModuleType], object] = lambda module: None) -> ModuleType | None:
    """The module of a text; None where there is no folder to keep it in. `name` says what it is for: "rows".

    `compiled` is called with it, and once more after what numba has kept was taken away, should that not be whole.
    """
    from hashlib import blake2b

    own = f"{name}_{blake2b(text.encode(), digest_size=12).hexdigest()}"
    where = cache.directory()
    path = None if where is None else _written(where, os.path.join(where, name), f"{own}.py", text.encode())
    if path is None:
        return None
    try:
        found = _run(own, path)
        compiled(found)
    except Exception:  # what numba kept may be damaged, or of another kind: whatever reading it raises
        _forget(own, path)
        found = _run(own, path)
        compiled(found)
    return found


def _run(name: str, path: str) -> ModuleType:
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    found = sys.modules[name] = module_from_spec(spec)  # numba looks for it there when it takes up what it has kept
    spec.loader.exec_module(found)
    return found


def _forget(name: str, path: str) -> None:
    from pathlib import Path

    for kept in Path(path).parent.glob(f"__pycache__/{name}.*"):
        kept.unlink(missing_ok=True)


def _written(where: str, folder: str, name: str, data: bytes) -> str | None:
    """The path of a file that holds these bytes and is the user's own; None where there can be none.

    A file that is there is left as it is: what numba has kept is believed only while the file is as old as it was.
    """
    import tempfile

    path = os.path.join(folder, name)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if not _is_own(where) or not _is_own(folder):
            return None
        if not (os.path.lexists(path) and cache.own_bytes(path) == data):
            handle, temporary = tempfile.mkstemp(dir=folder, prefix=name)
            with open(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
    except OSError:
        return None
    return path


def _is_own(folder: str) -> bool:
    """Whether nobody but the user can put files into a folder: what lies there is run."""
    found = os.lstat(folder)
    return not hasattr(os, "geteuid") or (found.st_uid == os.geteuid() and not found.st_mode & 0o022)

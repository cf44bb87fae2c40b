"""Modules of texts that were written here, in files of the user's own, so that numba may keep what it compiles.

Numba puts machine code beside the file that a function comes from, and trusts what it finds there. So the file lies in
a folder that only the user can write to, and is taken only when it holds, byte for byte, what was written.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from types import ModuleType
from typing import Any

from backprop import cache


def load(name: str, text: str) -> ModuleType | None:
    """The module of a text; None where there is no folder to keep it in. `name` says what it is for: "rows"."""
    from hashlib import blake2b

    where, data = cache.directory(), text.encode()
    own = f"{name}_{blake2b(data, digest_size=12).hexdigest()}"
    path = None if where is None else _written(where, os.path.join(where, name), f"{own}.py", data)
    return None if path is None else Kept(own, path)


class Kept(ModuleType):
    """A module whose functions numba keeps. What it kept is made again, once, where that cannot be read any more."""

    def __init__(self, name: str, path: str) -> None:
        super().__init__(name)
        self._path, self._is_new = path, False
        try:
            self._inner = _run(name, path)
        except Exception:  # what was kept may be damaged, or made by another numba: whatever that raises
            self._make_again()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return partial(self._call, name)

    def _call(self, name: str, *given: Any) -> Any:
        try:
            return getattr(self._inner, name)(*given)
        except Exception:  # as above: a function without a signature is read when it is first called
            if self._is_new:
                raise
            self._make_again()
            return getattr(self._inner, name)(*given)

    def _make_again(self) -> None:
        from pathlib import Path

        self._is_new = True
        for kept in Path(self._path).parent.glob(f"__pycache__/{self.__name__}.*"):
            kept.unlink(missing_ok=True)
        self._inner = _run(self.__name__, self._path)


def _run(name: str, path: str) -> ModuleType:
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    found = sys.modules[name] = module_from_spec(spec)  # numba looks for it there when it takes up what it has kept
    spec.loader.exec_module(found)
    return found


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

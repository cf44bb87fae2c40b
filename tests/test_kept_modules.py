"""Modules that numba compiles and keeps: taken up again, or made again where what was kept cannot be read."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from backprop import kept_modules

TEXT = "def twice(x):\n    return 2 * x\n"
COMPILED = f"from numba import njit\n\n\n@njit(cache=True)\n{TEXT}"
needs_numba = pytest.mark.skipif(find_spec("numba") is None, reason="numba is not installed here")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BACKPROP_CACHE_DIR", str(tmp_path / "kept"))
    return tmp_path / "kept"


def twice(name: str, text: str) -> int:
    found = kept_modules.load(name, text)
    assert found is not None
    answer: int = found.twice(21)
    return answer


def test_a_module_is_written_once_and_its_file_stays_as_old_as_it_is(folder: Path) -> None:
    assert twice("rows", TEXT) == 42
    [file] = folder.glob("rows/*.py")
    os.utime(file, (1, 1))
    assert twice("rows", TEXT) == 42
    assert file.stat().st_mtime == 1


def test_a_file_that_holds_another_text_is_written_anew(folder: Path) -> None:
    assert twice("rows", TEXT) == 42
    [file] = folder.glob("rows/*.py")
    file.write_text("def twice(x):\n    return 666\n", encoding="utf-8")
    assert twice("rows", TEXT) == 42


@pytest.mark.parametrize("place", [".", "rows"])
def test_a_folder_that_others_can_write_to_keeps_nothing(folder: Path, place: str) -> None:
    (folder / "rows").mkdir(parents=True)
    (folder / place).chmod(0o777)
    assert kept_modules.load("rows", TEXT) is None
    assert list(folder.rglob("*.py")) == []


def test_a_link_is_not_followed(folder: Path, tmp_path: Path) -> None:
    assert twice("rows", TEXT) == 42
    [file] = folder.glob("rows/*.py")
    file.rename(tmp_path / "elsewhere.py")
    file.symlink_to(tmp_path / "elsewhere.py")
    assert kept_modules.load("rows", TEXT) is None


@needs_numba
@pytest.mark.parametrize("what", ["nbi", "nbc"])
def test_machine_code_that_cannot_be_read_is_made_again(folder: Path, what: str) -> None:
    assert twice("rows", COMPILED) == 42
    [kept] = folder.rglob(f"*.{what}")
    kept.write_bytes(kept.read_bytes()[:20])
    assert twice("rows", COMPILED) == 42
    assert len(next(folder.rglob(f"*.{what}")).read_bytes()) > 20


def test_what_a_function_raises_is_raised_again(folder: Path) -> None:
    found = kept_modules.load("rows", "def over(x):\n    return 1 / x\n")
    assert found is not None
    with pytest.raises(ZeroDivisionError):
        found.over(0)

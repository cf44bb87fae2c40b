"""What is kept between runs, in processes of their own: fast when it is there, never trusted when it may be wrong."""

from __future__ import annotations

import marshal
import os
import resource
import shutil
import stat
import subprocess
import sys
from binascii import crc32
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lark
import pytest

from backprop import cache, grammar

ASK = "import sys; from backprop.grammar import parse; print(*parse('x - y*2').kinds, 'lark' in sys.modules)"
READ = "name name number mul sub"
OTHERS = ("BACKPROP_CACHE_DIR", "XDG_CACHE_HOME", "HOME")


def ask(where: Path | None, before: str = "", limit: Callable[[], Any] | None = None, **environment: str) -> bool:
    """Whether a process that keeps its tables `where` has to build them; its answer is right and it says nothing."""
    plain = {name: value for name, value in os.environ.items() if name not in OTHERS}
    plain |= {} if where is None else {"BACKPROP_CACHE_DIR": str(where)}
    done = subprocess.run(
        [sys.executable, "-c", before + ASK],
        env=plain | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=limit,
        cwd=environment.get("PWD"),
    )
    assert (done.returncode, done.stderr) == (0, "")
    read, _, built = done.stdout.strip().rpartition(" ")
    assert read == READ
    return built == "True"


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of one run."""
    where = tmp_path_factory.mktemp("kept") / "below" / "that"
    assert ask(where)
    [file] = where.iterdir()
    return file


@pytest.fixture
def file(tables: Path, tmp_path: Path) -> Path:
    """The same file in a folder of its own."""
    return Path(shutil.copy2(tables, tmp_path / tables.name))


def lie(file: Path) -> None:
    """Tables, whole by their looks, that take a sum for a difference and the other way round."""
    sources, columns = marshal.loads(file.read_bytes()[4:])
    other = {"add": "sub", "sub": "add"}
    columns[7] = [other.get(name, name) for name in columns[7]]
    data = marshal.dumps((sources, columns))
    file.write_bytes(crc32(data).to_bytes(4, "little") + data)


def test_tables_are_built_once_and_kept_for_the_user_alone(file: Path) -> None:
    assert not ask(file.parent)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def flip(file: Path) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))


def writable(file: Path, mode: int) -> None:
    lie(file)
    file.chmod(mode)


def replaced(file: Path, make: Callable[[], object]) -> None:
    file.unlink()
    make()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda file: file.write_bytes(b""),
    "cut off": lambda file: file.write_bytes(file.read_bytes()[:-1000]),
    "noise": lambda file: file.write_bytes(bytes(range(256)) * 100),
    "one bit": flip,
    "a link": lambda file: file.symlink_to(file.rename(file.with_suffix(".other"))),
    "a second name": lambda file: file.with_suffix(".other").hardlink_to(file),
    "written by others": lambda file: writable(file, 0o666),
    "written by the group": lambda file: writable(file, 0o620),
    "a link to nowhere": lambda file: replaced(file, lambda: file.symlink_to("/nowhere")),
    "a pipe": lambda file: replaced(file, lambda: os.mkfifo(file)),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_or_may_be_by_another_hand_is_built_again(file: Path, damage: str) -> None:
    DAMAGES[damage](file)
    assert ask(file.parent)
    assert stat.S_IMODE(file.lstat().st_mode) == 0o600
    assert stat.S_ISREG(file.lstat().st_mode)
    assert not ask(file.parent)


def test_a_folder_in_the_place_of_the_file_costs_time_only(file: Path) -> None:
    file.unlink()
    file.mkdir()
    assert ask(file.parent)
    assert [one.name for one in file.parent.iterdir()] == [file.name]


def test_the_file_of_another_user_is_not_believed(file: Path) -> None:
    lie(file)
    assert ask(file.parent, before="import os; os.geteuid = lambda: 4321; ")


def test_tables_of_another_lark_are_not_taken(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "site" / "lark"
    shutil.copytree(Path(lark.__file__).parent, other)
    with (other / "__init__.py").open("a", encoding="utf-8") as text:
        text.write("\n__version__ = '999'\n")
    assert ask(file.parent, PYTHONPATH=str(other.parent))
    assert not ask(file.parent, PYTHONPATH=str(other.parent))
    assert not ask(file.parent)
    assert len(list(file.parent.glob("*.kept"))) == 2


def test_each_python_and_each_grammar_has_its_own_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BACKPROP_CACHE_DIR", str(tmp_path))
    sources = grammar._sources(grammar.grammar_text())
    other = grammar._sources(grammar.grammar_text() + "\n// another\n")
    files = {cache.file_of("grammar", sources), cache.file_of("grammar", other)}
    monkeypatch.setattr(sys.implementation, "cache_tag", "cpython-399")
    files.add(cache.file_of("grammar", sources))
    assert len(files) == 3


def test_what_was_made_from_other_sources_is_not_recalled_under_the_same_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BACKPROP_CACHE_DIR", str(tmp_path))
    cache.keep("one", b"first", [1, 2])
    assert cache.recall("one", b"first") == [1, 2]
    file = cache.file_of("one", b"first")
    monkeypatch.setattr(cache, "file_of", lambda name, made_from: file)
    assert cache.recall("one", b"second") is None


def no_room() -> None:
    """Nothing can be written to any file: the disk is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def test_a_folder_that_cannot_be_written_costs_time_only(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert ask(tmp_path / "file" / "below")
    assert ask(Path("/proc/backprop"))  # a file system that takes no file
    assert ask(tmp_path / "full", limit=no_room)
    assert list((tmp_path / "full").iterdir()) == []
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    ask(locked)  # the superuser writes there all the same
    assert ask(tmp_path / ("x" * 300))  # a name that no folder can have


def test_without_a_home_nothing_is_kept_and_nothing_is_left_behind(tmp_path: Path) -> None:
    nobody = "import pwd\ndef nobody(user): raise KeyError(user)\npwd.getpwuid = nobody\n"
    assert ask(None, before=nobody, PWD=str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_the_folder_is_that_of_the_platform(tmp_path: Path) -> None:
    assert ask(None, HOME=str(tmp_path), XDG_CACHE_HOME="relative", PWD=str(tmp_path))
    assert [one.name for one in (tmp_path / ".cache").iterdir()] == ["backprop"]
    assert ask(None, HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path / "other"))
    assert [one.name for one in (tmp_path / "other").iterdir()] == ["backprop"]
    assert sorted(one.name for one in tmp_path.iterdir()) == [".cache", "other"]


def test_a_run_that_is_killed_while_it_writes_leaves_no_half_tables(tmp_path: Path) -> None:
    killed = "import os; os.replace = lambda *_: os._exit(9)\n"
    done = subprocess.run(
        [sys.executable, "-c", killed + ASK], env={**os.environ, "BACKPROP_CACHE_DIR": str(tmp_path)}, check=False
    )
    assert done.returncode == 9
    assert list(tmp_path.glob("*.kept")) == []
    assert ask(tmp_path)
    assert not ask(tmp_path)


@pytest.mark.parametrize("processes", [2, pytest.param(8, marks=pytest.mark.slow)])
def test_processes_may_fill_the_cache_at_once(tmp_path: Path, processes: int) -> None:
    environment = {**os.environ, "BACKPROP_CACHE_DIR": str(tmp_path)}
    running = [
        subprocess.Popen([sys.executable, "-c", ASK], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    assert {process.communicate()[0].rpartition(" ")[0] for process in running} == {READ}
    assert [one.suffix for one in tmp_path.iterdir()] == [".kept"]
    assert not ask(tmp_path)

"""Wheel, sdist and editable install all find the grammar, and say which file they read."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from backprop.grammar import grammar_path

ROOT = Path(__file__).parent.parent
ASK = "from backprop.grammar import grammar_path, parse; parse('x*y'); print(grammar_path())"


def run(*words: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=240, cwd=cwd, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel made from an sdist, as an index would make it; nothing is fetched."""
    place = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(place), str(ROOT))
    return place


def read_by(package: Path, cache: Path) -> Path:
    """The grammar file that a copy of the package reads, with no table kept from another run."""
    code = f"import sys; sys.path.insert(0, {str(package)!r}); {ASK}"
    environment = {"BACKPROP_CACHE_DIR": str(cache), "PATH": "/usr/bin:/bin"}
    return Path(run(sys.executable, "-c", code, env=environment, cwd=cache).strip())


def test_a_checkout_reads_the_grammar_at_its_top() -> None:
    assert Path(str(grammar_path())).resolve() == (ROOT / "grammars" / "expression.lark").resolve()


def test_an_installed_wheel_reads_the_grammar_inside_the_package(built: Path, tmp_path: Path) -> None:
    [wheel] = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    found = read_by(tmp_path / "site", tmp_path)
    assert found == tmp_path / "site" / "backprop" / "grammars" / "expression.lark"
    assert found.read_bytes() == (ROOT / "grammars" / "expression.lark").read_bytes()


def test_an_unpacked_sdist_reads_its_own_grammar(built: Path, tmp_path: Path) -> None:
    [sdist] = built.glob("*.tar.gz")
    run("tar", "-xzf", str(sdist), "-C", str(tmp_path))
    [top] = tmp_path.glob("backprop_trace-*")
    assert read_by(top / "src", tmp_path) == top / "grammars" / "expression.lark"
    for name in ("README.md", "LICENSE", "CHANGELOG.md", "samples", "tests"):
        assert (top / name).exists()


def test_the_wheel_is_typed_and_licensed(built: Path) -> None:
    [wheel] = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "backprop/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)

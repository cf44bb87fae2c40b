"""An operation is one row: the README's haversin, put into a copy of the table, is read, traced, checked and tested."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with one more row, in one file."""
    place = tmp_path_factory.mktemp("project")
    for name in ("src", "grammars", "tests"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__", "golden", "cases"))
    shutil.copy(ROOT / "pyproject.toml", place)
    [row] = re.findall(r'^op\("haversin".*?\)\)\)$', (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    with (place / "src" / "backprop" / "ops" / "trigonometry.py").open("a", encoding="utf-8") as table:
        table.write(f"\n{row}\n")
    return place


def run(place: Path, *words: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(place / "src"), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=place, env=environment, capture_output=True, encoding="utf-8", timeout=240
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_new_row_is_traced_and_every_witness_agrees(copy: Path) -> None:
    shown = run(copy, "backprop", "trace", "haversin(x)", "--x", "0.5")
    assert "1 · (sin(x)/2)" in shown
    assert "every check agrees" in shown


def test_a_new_row_is_differentiated_and_listed(copy: Path) -> None:
    assert "∂f/∂x       x*sin(x^2)" in run(copy, "backprop", "diff", "haversin(x^2)")
    assert "half of one minus the cosine" in run(copy, "backprop", "ops", "haversin")
    assert "haversin" in run(copy, "backprop", "ops")


def test_a_new_row_brings_its_own_tests(copy: Path) -> None:
    shown = run(copy, "pytest", "tests/test_ops_table.py", "-k", "haversin", "-rA", "-p", "no:cacheprovider")
    assert len(re.findall("^PASSED.*haversin", shown, re.M)) >= 10

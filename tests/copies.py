"""A copy of the project, to see what one more row or one more module does in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def copied(place: Path) -> Path:
    """The copy, in a folder."""
    for name in ("src", "grammars", "tests"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__", "golden", "cases"))
    shutil.copy(ROOT / "pyproject.toml", place)
    return place


def run(place: Path, *words: str, code: int = 0) -> str:
    """What a module of Python says when it is run there: `run(copy, "backprop", "grad", "x^2", "--x", "3")`."""
    environment = os.environ | {"PYTHONPATH": str(place / "src"), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=place, env=environment, capture_output=True, encoding="utf-8", timeout=240
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def ran(place: Path, text: str) -> str:
    """What a script says there."""
    (place / "written.py").write_text(text, encoding="utf-8")
    return run(place, "written")

"""The README is true: every command shown in it is run, and prints what stands below it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)


def commands() -> list[tuple[str, str]]:
    """Each command of the `console` blocks with the output that stands below it."""
    found: list[tuple[str, str]] = []
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            lines = part.split("\n")
            command = [lines.pop(0)]
            while command[-1].endswith("\\"):
                command.append(lines.pop(0))
            found.append(("\n".join(command), "\n".join(lines).rstrip("\n")))
    return found


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the samples in it, in which commands may write."""
    place = tmp_path_factory.mktemp("readme")
    shutil.copytree(ROOT / "samples", place / "samples")
    return place


@pytest.mark.parametrize(("command", "output"), commands(), ids=[command for command, _ in commands()])
def test_command_prints_what_the_readme_shows(command: str, output: str, workshop: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"}
    environment.pop("FORCE_COLOR", None)
    ran = subprocess.run(
        ["bash", "-c", command],
        cwd=workshop,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        timeout=120,
        encoding="utf-8",
    )
    shown = "\n".join(line.rstrip() for line in ran.stdout.rstrip("\n").split("\n"))
    assert shown == output


def test_the_readme_shows_commands_at_all() -> None:
    assert len(commands()) >= 10


def test_the_first_block_holds_the_two_commands() -> None:
    [install, check] = blocks("sh")[0].strip().split("\n")
    assert "pip install" in install
    assert "backprop trace" in install
    assert "pip install" in check
    assert "pytest" in check


@pytest.mark.parametrize("block", blocks("python"))
def test_python_shown_in_the_readme_runs(block: str) -> None:
    import doctest

    examples = doctest.DocTestParser().get_doctest(block, {}, "README", "README.md", 0)
    assert doctest.DocTestRunner().run(examples).failed == 0

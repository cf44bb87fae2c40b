"""What all tests share: golden files, kept in tests/golden and written anew with `pytest --golden`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Protocol

import pytest

GOLDEN = Path(__file__).parent / "golden"

# Lines that a test wants told when all is done.
TOLD = pytest.StashKey[list[str]]()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for line in config.stash.get(TOLD, []):
        terminalreporter.write_line(line)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--golden", action="store_true", help="write the golden files anew; then read the diff as a reviewer would"
    )


class Golden(Protocol):
    """Compares a text with the golden file of that name; `near`, the last digits of its full numbers may differ."""

    def __call__(self, name: str, text: str, near: bool = False) -> None: ...


# A number with so many digits that the last ones depend on how the processor at hand adds up a matrix product.
FULL_NUMBER = re.compile(r"-?\d+\.\d{10,}(?:e-?\d+)?|-?\d(?:\.\d+)?e-1\d")


def same_but_last_digits(text: str, kept: str) -> bool:
    """Whether two texts differ at most in the last digits of full numbers, or in what is left where terms cancel."""
    numbers = [[float(number) for number in FULL_NUMBER.findall(one)] for one in (text, kept)]
    return FULL_NUMBER.sub("#", text) == FULL_NUMBER.sub("#", kept) and numbers[0] == pytest.approx(
        numbers[1], rel=1e-12, abs=1e-14
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare a text with the golden file of that name, or write the file when --golden is given."""

    def compare(name: str, text: str, near: bool = False) -> None:
        path = GOLDEN / name
        if request.config.getoption("--golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            return
        assert path.exists(), f"there is no golden file {name} yet: run pytest --golden and read what it wrote"
        with path.open(encoding="utf-8", newline="") as file:
            kept = file.read()
        assert (near and same_but_last_digits(text, kept)) or text == kept

    return compare

"""Starting: what each command loads, because what is loaded is what a start costs.

Python alone is the measure (tests/benchmarks); here is only counted, so no other work on the machine can
make these fail. A module more in one of these lists is a choice: is its command worth it?
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

POINT = ("(x*y+z)*x", "--x", "3", "--y", "-1", "--z", "2")
# What costs more than it may: each of these takes as long as a good part of a whole start.
HEAVY = {
    *("numpy", "sympy", "mpmath", "lark", "rich", "typer", "click", "pyarrow", "numba", "distributed", "flint"),
    *("subprocess", "multiprocessing", "concurrent.futures", "asyncio", "threading", "logging", "random", "tempfile"),
    *("importlib.metadata", "importlib.resources", "pkgutil", "shutil", "datetime", "difflib", "argparse", "pathlib"),
}
READING = "arrays_text asked bindings cli commands figures mistakes numerals patterns progress collector __main__"
PARSING = "cache grammar graph kinds ops source_texts syntax writing"
VALUES = f"{READING} {PARSING} forward point render reverse rules theme values"
GRADIENT = f"{VALUES} accuracy beside gradient notation refusals"
FORMULAS = "derivatives factors formulas latex notation tidying"
TRACE = f"{VALUES} {FORMULAS} accuracy beside columnar notes record refusals tracing working"
TYPER = {"typer", "subprocess", "threading", "pkgutil", "shutil", "datetime", "difflib", "pathlib"}

# The words, what may be loaded of what is heavy, our own modules by their first names, and the most modules of all.
STARTS: dict[str, tuple[tuple[str, ...], set[str], str, int]] = {
    "version": (("--version",), set(), READING, 65),
    "help": (("--help",), TYPER, f"{READING} application render theme", 150),
    "grad": (("grad", *POINT), set(), GRADIENT, 107),
    "grad in JSON": (("grad", *POINT, "--format", "json"), set(), GRADIENT, 111),
    "grad of a choice": (("grad", "where(x > 0, x, -x)", "--x", "2"), set(), GRADIENT, 107),
    "vars": (("vars", "x*y"), set(), f"{VALUES} record reference", 105),
    "diff": (("diff", "x^2"), set(), f"{VALUES} {FORMULAS}", 117),
    "paths": (("paths", *POINT), set(), f"{TRACE} path_sums", 147),
    "paths --count": (("paths", *POINT, "--count"), set(), f"{TRACE} path_sums", 147),
    "trace": (("trace", *POINT, "--no-check"), set(), TRACE, 138),
    # the layout exchanges boxes at random, with the same numbers every time
    "graph": (("graph", *POINT), {"random"}, f"{TRACE} layout surroundings", 152),
    "step": (("step", "param w = 1; (w - 3)^2"), set(), f"{TRACE} compiled engines gradient step", 151),
    "plot": (
        ("plot", "x^2", "--over", "x=-1..1"),
        set(),
        f"{GRADIENT} compiled engines notes plots record working",
        145,
    ),
    "ops": (("ops", "sin"), set(), f"{TRACE} reference", 137),
    "schema": (("schema",), set(), f"{READING} record render schema theme", 78),
    "a mistake": (("grad", "x**"), set(), f"{VALUES} gradient misreadings refusals", 95),
    "a missing value": (("grad", "x*y"), {"difflib"}, f"{VALUES} gradient refusals", 105),
}

LOADED = """
import sys
before = set(sys.modules)
from backprop.__main__ import main
try:
    main()
finally:
    print(*sorted(set(sys.modules) - before), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that has its tables."""
    where = tmp_path_factory.mktemp("cache")
    loaded(where, "vars", "x")
    return where


def loaded(cache: Path, *words: str) -> set[str]:
    """The modules that a line loads."""
    plain = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "BACKPROP_DEBUG")}
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words],
        env=plain | {"BACKPROP_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("name", STARTS)
def test_a_line_loads_what_it_needs_and_no_more(name: str, cache: Path) -> None:
    words, may, own, most = STARTS[name]
    found = loaded(cache, *words)
    assert found & HEAVY <= may
    ours = {module.split(".")[1] for module in found if module.startswith("backprop.")}
    assert ours - set(own.split()) == set()
    assert len(found) <= most


def test_a_command_loads_no_other_command(cache: Path) -> None:
    found = {module for module in loaded(cache, "grad", *POINT) if module.startswith("backprop.commands.")}
    assert found == {"backprop.commands.grad"}


def test_help_loads_every_command_and_no_engine(cache: Path) -> None:
    from backprop import commands

    found = loaded(cache, "--help")
    assert {f"backprop.commands.{name}" for name in commands.names()} <= found
    assert not {"backprop.ops", "backprop.graph", "backprop.point"} & found


def test_importing_the_library_loads_no_engine() -> None:
    code = "import sys; before = set(sys.modules); import backprop; print(*set(sys.modules) - before)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {module for module in found if module.startswith("backprop")} == {"backprop"}
    assert not HEAVY & set(found)


def test_the_command_is_the_module_so_its_script_costs_nothing_more() -> None:
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    assert 'backprop = "backprop.__main__:main"' in text


def test_a_text_that_cannot_be_read_is_told_without_lark(cache: Path) -> None:
    assert "lark" not in loaded(cache, "grad", "(x +* 2", "--x", "3")

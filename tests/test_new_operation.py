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

# Rows of arrays, made of what a kind of number has already: one that is linear in each operand, and one that is linear
# in one alone and gives a number, so that its pull tells all there is.
ARRAY_ROWS = """
op("kron", "x y", value=lambda k, x, y: k.outer(x, y).reshape(-1), arrays=True, linear_in=(0, 1),
   pulls=lambda shapes: (f"reshape(g, {shapes[0][0]}, {shapes[1][0]}) @ y",
                         f"reshape(g, {shapes[0][0]}, {shapes[1][0]}).T @ x"),
   says="all of y times each element of x, in one vector", samples=(("[1, -2]", "[3, 0.5, 2]"), ("[4]", "[1, 2]")))

op("quadratic", "A x", value=lambda k, A, x: k.dot(x, k.matmul(A, x)), arrays=True, linear_in=(0,), adds=True,
   pulls=("g*outer(x, x)", "g*((A + A.T) @ x)"), says="the quadratic form of a square matrix",
   samples=(("[[2, 1], [0, 3]]", "[1, -2]"),))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with one more row of numbers and two of arrays, in two files."""
    place = tmp_path_factory.mktemp("project")
    for name in ("src", "grammars", "tests"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__", "golden", "cases"))
    shutil.copy(ROOT / "pyproject.toml", place)
    [row] = re.findall(r'^op\("haversin".*?\)\)\)$', (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    with (place / "src" / "backprop" / "ops" / "trigonometry.py").open("a", encoding="utf-8") as table:
        table.write(f"\n{row}\n")
    with (place / "src" / "backprop" / "ops" / "arrays.py").open("a", encoding="utf-8") as table:
        table.write(ARRAY_ROWS)
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


def test_a_new_row_is_on_the_tapes(copy: Path) -> None:
    slow, quick = (
        run(copy, "backprop", "grad", "haversin(x)*y", "--x", "0.5", "--y", "2", "--engine", engine, "--format", "json")
        for engine in ("auto", "plain")
    )
    assert slow == quick
    (copy / "written.py").write_text(
        "from backprop.ops import by_name\n"
        "from backprop.engines.fast import source\n"
        "print(source([(by_name('haversin').code, 1)]))\n"
    )
    assert "real_power(real_sin((x0 / 2)), 2)" in run(copy, "written")


def test_a_new_row_brings_its_own_tests(copy: Path) -> None:
    shown = run(copy, "pytest", "tests/test_ops_table.py", "-k", "haversin", "-rA", "-p", "no:cacheprovider")
    assert len(re.findall("^PASSED.*haversin", shown, re.M)) >= 10


KRON = ("sum(kron(x, y)^2)", "--x", "[1, 2]", "--y", "[3, 4, 5]")  # (1 + 4)(9 + 16 + 25)


def test_a_new_row_of_arrays_is_traced_and_every_witness_agrees(copy: Path) -> None:
    shown = run(copy, "backprop", "trace", *KRON)
    assert "[100, 200]" in shown
    assert "[30, 40, 50]" in shown
    assert "every check agrees" in shown
    assert "reshape(g, 2, 3) @ y" in run(copy, "backprop", "trace", *KRON, "--format", "json")
    form = run(copy, "backprop", "check", "quadratic(A, x)", "--A", "[[3, 4], [1, 2]]", "--x", "[1, 2]")
    assert "DISAGREES" not in form
    assert "opened" in form


@pytest.mark.parametrize("kind", ["exact", "digits:30", "certified"])
def test_a_new_row_of_arrays_has_every_kind_of_number(copy: Path, kind: str) -> None:
    assert "[[1, 2], [2, 4]]" in run(
        copy, "backprop", "grad", "quadratic(A, x)", "--A", "[[3, 4], [1, 2]]", "--x", "[1, 2]", "--kind", kind
    )


def test_a_new_row_of_arrays_is_opened_costed_and_has_a_jacobian(copy: Path) -> None:
    assert re.search(r"v1\[5\] +x\[1\]\*y\[2\] +2\*5 +10", run(copy, "backprop", "trace", *KRON, "--open"))
    assert "forward" in run(copy, "backprop", "cost", *KRON, "--no-time")
    assert "∂f/∂x, shape (6, 2)" in run(copy, "backprop", "grad", "kron(x, y)", *KRON[1:], "--jacobian")
    second = run(copy, "backprop", "hessian", "quadratic([[9, 4], [1, 4]], x)", "--x", "[1, 2]")
    assert re.search(r"x\[0\] +18 +5\nx\[1\] +5 +8\n", second)  # A + A.T


def test_a_new_row_of_arrays_is_listed_and_drawn(copy: Path) -> None:
    shown = run(copy, "backprop", "ops", "kron")
    assert "all of y times each element of x" in shown
    assert "reshape(g" in shown
    for form in ("dot", "markdown"):
        assert "kron" in run(copy, "backprop", "trace", *KRON, "--format", form)


def test_a_new_row_of_arrays_brings_its_own_tests(copy: Path) -> None:
    shown = run(copy, "pytest", "tests/test_array_rows.py", "-k", "kron or quadratic", "-rA", "-p", "no:cacheprovider")
    assert len(re.findall("^PASSED.*kron", shown, re.M)) >= 4

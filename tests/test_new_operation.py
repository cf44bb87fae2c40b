"""An operation is one row: the README's haversin, put into a copy of the table, is read, traced, checked and tested."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from backprop import languages
from backprop.mapping.kernels import ENGINES, c
from copies import ROOT, copied, ran, run

# A row with a kink, which tells what it is made of.
RAMP = """
op("ramp", "x", value=lambda k, x: k.where(x > 0, x * x + x, k.number("0")), partials=("where(x > 0, 2*x + 1, 0)",),
   sympy=lambda S, x: S.Piecewise((x**2 + x, x > 0), (0, True)), kink="x", made_of="where(x > 0, x^2 + x, 0)",
   says="nothing below 0, and steeper and steeper above", samples=((0.5,), (-2.0,)))
"""

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
    """The project with two more rows of numbers and two of arrays, in two files."""
    place = copied(tmp_path_factory.mktemp("project"))
    [row] = re.findall(r'^op\("haversin".*?\)\)\)$', (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    with (place / "src" / "backprop" / "ops" / "trigonometry.py").open("a", encoding="utf-8") as table:
        table.write(f"\n{row}\n{RAMP}")
    with (place / "src" / "backprop" / "ops" / "arrays.py").open("a", encoding="utf-8") as table:
        table.write(ARRAY_ROWS)
    return place


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
    shown = ran(
        copy,
        "from backprop.ops import by_name\n"
        "from backprop.engines.fast import source\n"
        "print(source([(by_name('haversin').code, 1)]))\n",
    )
    assert "real_power(real_sin((x0 / 2)), 2)" in shown


def test_a_new_row_is_written_in_every_language(copy: Path) -> None:
    shown = ran(
        copy,
        "from backprop import languages\n"
        "from backprop.emission import emit\n"
        "files = {name: chr(10).join(emit('ramp(x)*y', to=name)) for name in languages.modules()}\n"
        "names = {}\n"
        "exec(files['python'], names)\n"
        "print(*files)\n"
        "print(names['value_and_gradient'](2, 3), names['value_and_gradient'](-2, 3))\n",
    )
    told, answers = shown.splitlines()
    assert tuple(told.split()) == languages.modules()
    assert eval(answers.replace(") (", "), (")) == ((18, {"x": 15, "y": 6}), (0, {"x": 0, "y": 0}))


HERE = {"c": c.compiler() is not None, "numba": find_spec("numba") is not None}


def test_a_new_row_is_in_every_kernel_with_its_kink(copy: Path) -> None:
    engines = [engine for engine in ENGINES if HERE.get(engine, True)]
    shown = ran(
        copy,
        "import numpy as np\n"
        "from backprop import map_rows\n"
        "columns = {'x': np.array([-1.0, 0.0, 2.0]), 'y': np.full(3, 3.0)}\n"
        f"for engine in {engines}:\n"
        "    found = map_rows('ramp(x)*y', columns, engine=engine)\n"
        "    told = [note is not None and note.startswith('kink: v1 = ramp(x)') for note in found['note']]\n"
        "    print(engine, *found['f'], *found['d_x'], *found['d_y'], *told)\n",
    )
    answers = "0.0 0.0 18.0 0.0 0.0 15.0 0.0 0.0 6.0 False True False"
    assert shown.splitlines() == [f"{engine} {answers}" for engine in engines]


def test_a_new_row_that_is_made_of_nothing_else_is_worked_out_row_by_row(copy: Path) -> None:
    (copy / "angles.csv").write_text("x\n0\n2\n", encoding="utf-8")
    shown = run(copy, "backprop", "map", "haversin(x)", "angles.csv", "--engine", "numpy")
    assert shown.splitlines()[1] == "0,0,0,"
    assert re.match(
        "2,0.70807341827357[0-9]*,0.4546487134128[0-9]*,$", shown.splitlines()[2]
    )  # (1 - cos 2)/2, sin(2)/2
    run(copy, "backprop", "map", "haversin(x)", "angles.csv", "--engine", "c", code=2)


def test_a_new_row_brings_its_own_tests(copy: Path) -> None:
    shown = run(copy, "pytest", "tests/test_ops_table.py", "-k", "haversin or ramp", "-rA", "-p", "no:cacheprovider")
    for name in ("haversin", "ramp"):
        assert len(re.findall(f"^PASSED.*{name}", shown, re.M)) >= 10


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

"""Notebooks: a trace shows itself, and %backprop answers as the command does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import backprop
from backprop.notebook import words_of
from backprop.record import Trace


@pytest.fixture(scope="module")
def ipython() -> Iterator[Any]:
    """A shell of IPython that keeps no history, with the extension."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    shell.run_cell("%load_ext backprop")
    for part in ("write_output_prompt", "write_format_data", "finish_displayhook"):
        setattr(shell.displayhook, part, lambda *_: None)  # results are looked at, not printed
    yield shell
    InteractiveShell.clear_instance()


class Cell:
    """A cell that was run: what it gave and what it printed."""

    def __init__(self, shell: Any, capsys: pytest.CaptureFixture[str], text: str) -> None:
        done = shell.run_cell(text)
        self.error = done.error_before_exec or done.error_in_exec
        self.result = done.result
        self.out, self.err = capsys.readouterr()


@pytest.fixture
def run(ipython: Any, capsys: pytest.CaptureFixture[str]) -> Iterator[Any]:
    yield lambda text: Cell(ipython, capsys, text)
    for name in ("x", "y", "z", "w", "t", "q"):
        ipython.user_ns.pop(name, None)


def test_the_line_magic_gives_the_trace_of_the_command(run: Any) -> None:
    cell = run('%backprop trace "x*y" --x 3 --y 2')
    assert cell.result == backprop.trace("x*y", {"x": 3, "y": 2})
    assert (cell.error, cell.out, cell.err) == (None, "", "")


def test_a_trace_can_be_given_a_name(run: Any) -> None:
    assert run("t = %backprop trace x^2 x=3\nt.gradient").result == {"x": 6.0}


def test_the_cell_magic_takes_the_program_from_the_cell(run: Any) -> None:
    cell = run("%%backprop trace --x 3 --wrt x\n# two lines\nz = x*x\nz + 1\n")
    assert (cell.result.value, cell.result.gradient) == (10.0, {"x": 6.0})
    for first in ("%%backprop", "%%backprop --wrt x", "%%backprop x=3"):
        assert isinstance(run(f"{first}\ninput x = 3\nx*x").result, Trace)


def test_numbers_of_the_notebook_are_values_that_are_not_given(run: Any) -> None:
    assert run('x, y = 3, 2\n%backprop trace "x*y" --y 5').result.inputs == {"x": 3.0, "y": 5.0}
    run(
        "from fractions import Fraction\nimport numpy\nx = Fraction(1, 3)\nw = numpy.array([1.0, 2.0])\nq = 'no number'"
    )
    assert run('%backprop trace "3*x" --kind exact').result.value == "1"
    assert run("%%backprop\nsum(w^2)").result.gradient == {"w": [2.0, 4.0]}
    assert run("%%backprop\ninput x = 7\nx").result.value == 7.0  # the program says it itself
    assert "I have no value for q" in run('%backprop trace "x*q"').err


def test_other_commands_print_what_they_print(run: Any) -> None:
    cell = run('%backprop grad "x*y" --x 3 --y 2')
    assert cell.result is None
    assert "∂f/∂x = 2" in cell.out
    assert run("%backprop --version").out == f"backprop {backprop.__version__}\n"
    assert "what,id,op" in run('%backprop trace "x*y" --x 3 --y 2 --format csv').out
    assert "--wrt" in run("%backprop trace --help").out


def test_a_trace_goes_to_a_file_and_comes_back(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    assert run(f'%backprop trace "x^2" --x 3 -o "{file}"').result is None
    assert run(f'%backprop render "{file}"').result == Trace.from_json(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('%backprop trace "x*" --x 3', "something has to follow *"),
        ('%backprop trac "x"', "Did you mean backprop trace?"),
        ('%backprop trace "x', "x"),
        ("%backprop trace", "backprop trace"),
        ('%backprop trace "x" --x 1 --format tabel', "tabel"),
        ("%backprop trace -", "stdin"),
        ('%backprop trace "x*y" --x 1', "I have no value for y"),
        ("%%backprop\nlog(", "log("),
    ],
)
def test_a_mistake_is_told_without_a_traceback(run: Any, line: str, told: str) -> None:
    cell = run(line)
    assert (cell.error, cell.result, cell.out) == (None, None, "")
    assert told in cell.err
    assert "Traceback" not in cell.err


def test_a_trace_shows_itself_as_text_and_page() -> None:
    trace = backprop.trace("(a + b)*(b + 1)", {"a": 2, "b": Fraction(1, 2)})
    shown = trace._repr_mimebundle_()
    assert "Adjoints, output first" in shown["text/plain"]
    assert shown["text/latex"].startswith(r"\begin{align")  # which MathJax sets as it stands
    assert "<html" not in shown["text/html"]
    assert 'class="bp"' in shown["text/html"]
    assert trace._repr_mimebundle_(include={"text/plain"}) == {"text/plain": shown["text/plain"]}
    assert "text/html" not in trace._repr_mimebundle_(exclude={"text/html"})


def test_what_is_too_large_to_draw_shows_itself_as_text() -> None:
    trace = backprop.trace(" + ".join(["x*x"] * 3000), {"x": 1}, check=False)
    assert list(trace._repr_mimebundle_()) == ["text/plain"]


def test_arrays_and_formulas_and_what_has_no_value_show_themselves() -> None:
    for trace in (
        backprop.trace("sum(W@x)", {"W": [[1, 2], [3, 4]], "x": [1, 1]}),
        backprop.trace("x*y", {}, symbolic=True),
        backprop.trace("log(x)", {"x": -1}),
        backprop.trace("x*y", {"x": 1, "y": 2}, wrt=["x"], mode="forward"),
        backprop.trace("x/3", {"x": 1}, kind="certified"),
    ):
        assert {"text/plain", "text/html"} <= trace._repr_mimebundle_().keys()


def test_ipython_is_not_imported_by_us() -> None:
    code = "import backprop, sys; backprop.trace('x', {'x': 1}, check=False)._repr_mimebundle_()\n"
    code += "print('IPython' in sys.modules, 'ipykernel' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


def test_words_are_those_of_a_shell() -> None:
    assert words_of("grad 'x y' -o \"a b.json\"") == ["grad", "x y", "-o", "a b.json"]
    assert words_of("", "x") == ["trace", "--", "x"]
    assert words_of("grad --x 1", "-x") == ["grad", "--x", "1", "--", "-x"]


# -- a notebook that is run from its first cell to its last, as HTML ---------------------------------------------------

CELLS = (
    "%load_ext backprop\nx, y, z = 3, -1, 2",
    '%backprop trace "(x*y + z)*x"',
    'import backprop\nbackprop.trace("where(x > 0, log(x), 2)*y", {"x": 2, "y": 3})',
    '%backprop grad "x*"',
)


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page that nbconvert makes of a notebook."""
    import nbformat

    folder = tmp_path_factory.mktemp("notebook")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    nbformat.write(notebook, folder / "lesson.ipynb")
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--execute", "lesson.ipynb"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder / "lesson.html"


@pytest.mark.slow
def test_a_notebook_is_executed_and_becomes_html(executed: Path) -> None:
    html = executed.read_text(encoding="utf-8")
    assert html.count('<div class="bp"') == 2
    assert "something has to follow" in html
    assert "Traceback" not in html


@pytest.mark.browser
def test_in_a_browser_its_sliders_work_out_other_numbers(executed: Path) -> None:
    """(x*y + z)*x at x = 4, y = -1, z = 2 is -8, with the slope 2*x*y + z = -6."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.route("**/*", lambda route: route.continue_() if route.request.url.startswith("file:") else route.abort())
        faults: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(executed.as_uri())
        first = page.locator("div.bp").first
        first.get_by_label("x, slider").fill("4")
        text = first.inner_text()
        browser.close()
    assert faults == []
    assert "value -8" in text
    assert "∂f/∂x = -6" in text

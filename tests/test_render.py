"""Renderers: what a trace looks like on a screen, in a pipe and in every format; and how a mistake is told."""

from __future__ import annotations

import csv as csv_reader
import re
from collections.abc import Iterator
from functools import lru_cache
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from backprop import ops
from backprop.mistakes import Mistake, UnknownFormat
from backprop.point import at
from backprop.record import Edge, Node, Note, Trace, Witness
from backprop.reference import operations_called
from backprop.render import by_name, by_suffix, excerpts, formats
from backprop.render import mistakes as lessons
from backprop.render.look import Look
from backprop.render.tables import cells, table, visible, wrap
from backprop.render.verdicts import verdict
from backprop.render.workings import adjoint_lines, value_lines
from backprop.tracing import trace
from backprop.working import Working, forward_line, reverse_line, tangent_line
from backprop.working.formula_texts import put_numbers_in
from conftest import Golden
from drawings import TEXTS, shown

SAMPLES = sorted((Path(__file__).parent.parent / "samples").glob("*.bp"))
WRONG = sorted((Path(__file__).parent.parent / "samples" / "mistakes").glob("*.bp"))
# a larger trace is rendered too, but its golden file would be read by nobody
LARGEST_GOLDEN = 120

TWO_PATHS = "c = a + b; d = b + 1; e = c*d"
NEURON = "z = x1*w1 + x2*w2 + b; h = tanh(z); L = (h - y)^2"
AT_NEURON = {"x1": 2, "w1": 0.5, "x2": -1, "w2": -0.3, "b": 0.1, "y": 1}


@lru_cache
def sample(path: Path) -> Trace:
    return trace(path.read_text(encoding="utf-8"), {}, check=False)


def has_arrays(found: Trace) -> bool:
    return any(node.shape for node in found.nodes)


def rendered(found: Trace, name: str = "table", **look: Any) -> str:
    return "".join(line + "\n" for line in by_name(name).render(found, Look(**look)))


def two_paths(**options: Any) -> Trace:
    return trace(TWO_PATHS, {"a": 2, "b": 1}, check=False, **options)


# -- golden files ---------------------------------------------------------------------------------------------------


def without_assets(text: str) -> str:
    """A page without its style, its script and their hashes, which tests/test_page.py checks; another text as it is."""
    if not text.startswith("<!doctype html>"):
        return text
    text = re.sub(r"sha256-[\w+/=]*", "sha256", text)
    return re.sub(r"<(style|script)>.*?</\1>", r"<\1>...</\1>", text, flags=re.DOTALL)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_sample_runs_in_every_format(path: Path, name: str, golden: Golden) -> None:
    found = sample(path)
    text = "".join(line + "\n" for line in shown(found, name))
    assert text
    if len(found.nodes) <= LARGEST_GOLDEN:
        golden(f"formats/{path.stem}{by_name(name).format.suffix}", without_assets(text), near=has_arrays(found))


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_sample_fits_a_screen(path: Path, width: int, golden: Golden) -> None:
    found = sample(path)
    text = rendered(found, width=width)
    assert max(cells(line) for line in text.splitlines()) <= width
    if len(found.nodes) <= LARGEST_GOLDEN:
        golden(f"screens/{path.stem}.{width}.txt", text, near=has_arrays(found))


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_every_mistake_is_a_lesson(path: Path, golden: Golden) -> None:
    text = path.read_text(encoding="utf-8")
    with pytest.raises(Mistake) as caught:
        at(text, {})
    lines = list(lessons.lines(caught.value.within(text), Look()))
    golden(f"mistakes/{path.stem}.txt", "".join(line + "\n" for line in lines))


# -- the working ----------------------------------------------------------------------------------------------------


def test_a_value_is_worked_out_as_on_paper() -> None:
    numbers = {"u": "6", "b": "-4"}.get
    assert forward_line(Node("z", "add", ("u", "b"), "u + b", value=2.0), numbers) == "z = u + b = 6 + (-4) = 2"


def test_a_leading_minus_stands_without_brackets_unless_a_power_follows() -> None:
    numbers = {"x": "-2", "y": "-3"}.get
    assert put_numbers_in("x*y", numbers) == "-2*(-3)"
    assert put_numbers_in("x^2", numbers) == "(-2)^2"
    assert put_numbers_in("2^x", numbers) == "2^(-2)"
    assert put_numbers_in("max(0, x)", numbers) == "max(0, -2)"


def test_only_names_of_nodes_are_replaced_by_numbers() -> None:
    assert put_numbers_in("1e-3*e + 2.5e2", {"e": "7", "e2": "8"}.get) == "1e-3*7 + 2.5e2"
    assert put_numbers_in("max(max, tanh(tanh))", {"max": "1", "tanh": "2"}.get) == "max(1, tanh(2))"
    assert put_numbers_in("c~2 + c", {"c~2": "5", "c": "4"}.get) == "5 + 4"


def test_formulas_put_in_for_names_keep_their_meaning() -> None:
    formulas = {"x": "a + b", "y": "a*b", "z": "-c", "t": "tanh(a)"}.get
    assert put_numbers_in("x*t", formulas) == "(a + b)*tanh(a)"
    assert put_numbers_in("y^2 - z", formulas) == "(a*b)^2 - (-c)"
    assert put_numbers_in("exp(z)", formulas) == "exp(-c)"


def test_where_edges_meet_the_lesson_line_comes_out() -> None:
    found = two_paths()
    adjoints = {node.id: node.adjoint for node in found.nodes}
    edges = [edge for edge in found.edges if edge.source == "b"]
    assert reverse_line(found.node("b"), edges, adjoints.get, "e") == (
        "∂e/∂b = ∂e/∂c · ∂c/∂b + ∂e/∂d · ∂d/∂b = 2 · 1 + 3 · 1 = 5   (two edges meet here: add)"
    )


def test_a_chain_of_one_edge_shows_rule_and_numbers() -> None:
    edges = [Edge("w", "u", 0, 2.0, "x", 2.0)]
    assert reverse_line(Node("w", "input", adjoint=2.0), edges, {"u": 1.0}.get, "f") == (
        "∂f/∂w = ∂f/∂u · ∂u/∂w = 1 · x = 1 · 2 = 2"
    )


def test_both_edges_of_a_square_are_told_apart() -> None:
    found = trace("x*x", {"x": 3}, check=False)
    assert "∂f/∂f · ∂f/∂x #1 + ∂f/∂f · ∂f/∂x #2" in rendered(found)
    assert "x is operand 1 and 2 of f: add" in rendered(found)


def test_tangents_follow_the_chosen_input() -> None:
    found = two_paths(mode="forward", wrt=["b"])
    tangents = {node.id: node.tangent for node in found.nodes}
    assert [tangents[name] for name in ("b", "c", "d", "e")] == [1, 1, 1, 5]
    edges = [edge for edge in found.edges if edge.target == "e"]
    assert tangent_line(found.node("e"), edges, tangents.get, "b") == (
        "∂e/∂b = ∂e/∂c · ∂c/∂b + ∂e/∂d · ∂d/∂b = d · 1 + c · 1 = 2 · 1 + 3 · 1 = 5"
    )


def test_a_dead_unit_still_shows_the_numbers_behind_it() -> None:
    text = rendered(trace("u = w*x; z = u + b; f = max(0, z)", {"x": -1, "w": 3, "b": -4}, check=False))
    assert re.search(r"∂f/∂u\s+∂f/∂z · ∂z/∂u\s+0 · 1\s+0 · 1\s+0\n", text)
    assert "dead" in text


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_steps_and_table_never_differ(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excerpts, "MOST_ROWS", 10**9)
    found = sample(path)
    every = (*value_lines(found, Look()), *adjoint_lines(found, Look()))
    table_lines = {line.line for line in every if isinstance(line, Working)}
    whole = [step for step in found.steps if step.phase == "forward" or step.edge is None]
    assert whole
    assert not {step.text for step in whole} - table_lines


# -- the table ------------------------------------------------------------------------------------------------------


def test_the_neuron_shows_the_digits_of_the_lesson() -> None:
    text = rendered(trace(NEURON, AT_NEURON, check=False))
    for number in ("1.4", "0.885352", "-0.229297", "0.216152", "-0.049563", "-0.0991261", "0.049563", "-0.0247815"):
        assert number in text


def test_zero_is_never_written_with_a_minus() -> None:
    found = trace("max(0, w*x + b)*y", {"x": -1, "w": 3, "b": -4, "y": -1}, check=False)
    for name in TEXTS:
        assert not re.search(r"-0(?![.\d])", rendered(found, name)), name


def test_rows_keep_their_columns_in_a_pipe_however_long() -> None:
    rows = [["x", "y" * 300, "1"], ["a\tb", "漢字", "22"]]
    lines = list(table(Look(), None, ["a", "b", "c"], rows))
    assert len(lines) == 4
    assert {cells(line[: line.rindex(" ") + 1]) for line in lines[2:]} == {cells(lines[2]) - 1}


def test_cells_wrap_on_a_screen_and_lose_nothing() -> None:
    words = "the quick brown fox jumps over the lazy dog " * 3
    for width in (60, 30, 12):
        lines = list(table(Look(width=width), None, ["a", "b"], [["x" * 25, words.strip()]]))
        assert max(map(cells, lines)) <= width
        letters = sorted("".join(lines[2:]).replace(" ", ""))
        assert letters == sorted("x" * 25 + words.replace(" ", ""))


def test_text_is_never_taken_for_markup_or_control() -> None:
    lines = "\n".join(table(Look(width=60, colour=True), "[red]t[/]", ["c"], [["[bold]x[/] \x1b[2J\r\n\u202e"]]))
    assert "[red]t[/]" in lines
    assert "[bold]x[/] \\x1b[2J\\r\\n\\u202e" in lines


@pytest.mark.parametrize("width", [10, 20, 40, 60, 100, 200])
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    found = trace(
        " + ".join(f"long_name_{n}*tanh(x)^{n}" for n in range(2, 9)),
        dict.fromkeys(["x", *(f"long_name_{n}" for n in range(2, 9))], -0.123456),
        check=False,
    )
    assert max(map(cells, rendered(found, width=width).splitlines())) <= width


def test_a_large_table_streams() -> None:
    taken = 0

    def rows() -> Iterator[list[str]]:
        nonlocal taken
        for taken in range(1, 100_001):
            yield [str(taken)]

    lines = table(Look(), None, ["n"], rows())
    assert next(lines) == "n"
    assert taken <= 2000
    assert sum(1 for _ in lines) == 100_001


def test_colour_is_only_added_never_instead_of_words() -> None:
    found = two_paths()
    plain, coloured = rendered(found, width=80), rendered(found, width=80, colour=True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain


class Stream(StringIO):
    encoding = "utf-8"

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.mark.parametrize(
    ("terminal", "variables", "colour"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colour_follows_the_screen_and_the_wishes_of_its_owner(
    terminal: bool, variables: dict[str, str], colour: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "97")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    look = Look.of(Stream(terminal))
    assert look.colour is colour
    assert look.width == (97 if terminal else None)


def test_the_table_says_who_agrees_and_by_how_many_digits() -> None:
    text = rendered(trace(TWO_PATHS, {"a": 2, "b": 1}))
    assert re.search(r"b +1 +5 +\S.* +agrees: SymPy 1\d", text)
    assert text.rstrip().endswith("e = 6, 2 derivatives, every check agrees")


def test_an_ascii_screen_gets_ascii_in_every_format() -> None:
    found = trace("α = x₁²; α*2·x₁", {"x₁": 3}, check=False)
    for name in TEXTS:
        assert rendered(found, name, ascii=True).isascii()


def test_a_branch_not_taken_is_said_to_be() -> None:
    found = trace("where(x > 0, log(x), x^2)", {"x": -3}, check=False)
    assert re.search(r"log\(x\).*branch not taken", rendered(found))
    assert "no value" not in rendered(found)


def test_an_undefined_point_is_told_plainly() -> None:
    text = rendered(trace("log(x)*y", {"x": -1, "y": 2}, check=False))
    assert "no value here" in text
    assert text.rstrip().endswith("f has no value at this point")


def test_an_overflow_is_no_quiet_infinity() -> None:
    text = rendered(trace("x + y", {"x": 1e308, "y": 1e308}, check=False))
    assert text.rstrip().endswith("f = inf, more than a double can carry")


def test_the_output_comes_first_even_before_what_nobody_reads() -> None:
    lines = rendered(trace("x*2", {"x": 3, "u": 1}, check=False)).splitlines()
    assert lines.index(next(line for line in lines if line.startswith("∂f/∂f"))) < next(
        place for place, line in enumerate(lines) if line.startswith("∂f/∂u")
    )
    assert not any(first == second == "" for first, second in pairwise(lines))


def test_a_disagreement_is_loud_and_the_last_word() -> None:
    found = two_paths()
    found.witnesses = [
        Witness("a", "sympy", "agrees", 2.0, 16.3),
        Witness("b", "difference", "DISAGREES", 4.0, 0.6, reason="the rule of mul"),
    ]
    text = rendered(found)
    assert "agrees: SymPy 16" in text
    assert "DISAGREES: difference says 4.0 (the rule of mul)" in text
    assert verdict(found, Look()) == ("e = 6, but a check DISAGREES on ∂e/∂b", "bad")


def test_a_sum_of_many_terms_is_one_term_a_line() -> None:
    text = rendered(trace(" + ".join(f"{n}*x" for n in range(2, 32)), {"x": 1}, check=False))
    assert "30 edges meet here: add" in text
    assert max(map(len, text.splitlines()[1:])) < 250


def test_formulas_stand_where_numbers_would_in_a_trace_of_symbols() -> None:
    found = trace("(x*y + z)*x", {}, check=False, symbolic=True)
    for name in TEXTS:
        assert rendered(found, name)
    assert found.kind == "symbol"


# -- the other formats ----------------------------------------------------------------------------------------------


def test_formats_are_found_by_name_and_by_suffix() -> None:
    for format in formats():
        assert by_name(format.name).format is format
        assert by_suffix(format.suffix).format is format
    with pytest.raises(UnknownFormat, match="tabel") as caught:
        by_name("tabel")
    assert "Did you mean table?" in caught.value.repair
    with pytest.raises(UnknownFormat):
        by_name("look")


def test_the_csv_has_a_row_for_each_node_and_edge_with_all_digits() -> None:
    found = trace(NEURON, AT_NEURON, check=False)
    rows = list(csv_reader.DictReader(rendered(found, "csv").splitlines()))
    assert [row["what"] for row in rows] == ["node"] * len(found.nodes) + ["edge"] * len(found.edges)
    h = next(row for row in rows if row["id"] == "h")
    assert float(h["value"]) == found.node("h").value


STRANGE = 'end = x; graph = end*x; "&<>#`'


def strange() -> Trace:
    nodes = [Node("end", "input", value=1.0), Node("graph", "lt", ("end", "end"), 'end < "end" & #1 `|', value=True)]
    edges = [Edge("end", "graph", 0, 1.0, "1"), Edge("end", "graph", 1, 1.0, '"a" -> b\\')]
    return Trace(STRANGE, STRANGE, "real", "reverse", {"end": 1.0}, [], "graph", True, [], {}, {}, nodes, edges)


def test_mermaid_labels_hold_no_sign_that_mermaid_could_read() -> None:
    lines = rendered(strange(), "mermaid").splitlines()
    assert lines[0] == "flowchart BT"
    node = re.compile(r'  n\d+(?:\(\["|\[?\["|\{\{"|\(")((?:[^"#<>&`|{}*]|#\d+;|<br/>)*)(?:"\]\)|"\]\]?|"\}\}|"\))')
    look = re.compile(r"  (?:classDef [a-z]+ [a-z#0-9:,-]+|class [n0-9,]+ [a-z]+)")
    edge = re.compile(r'  n\d+ --(?:>|>\|"(?:[^"#<>&`|{}*]|#\d+;)*"\|) n\d+')
    assert all(node.fullmatch(line) or edge.fullmatch(line) or look.fullmatch(line) for line in lines[1:])
    assert sum(1 for line in lines if edge.fullmatch(line)) == 2


def test_dot_strings_are_closed_where_they_should_be() -> None:
    lines = rendered(strange(), "dot").splitlines()
    string = r'"(?:[^"\\]|\\.)*"'
    edges = [line for line in lines if re.fullmatch(rf"  {string} -> {string}(?: \[label={string}\])?;", line)]
    nodes = [line for line in lines if re.fullmatch(rf'  {string} \[label={string}[a-z0-9.=, "#]*\];', line)]
    assert (len(nodes), len(edges)) == (2, 2)
    assert len(lines) == 4 + 6


def test_a_page_says_in_which_kind_and_by_whose_convention() -> None:
    page = rendered(trace("x/3", {"x": 1}, kind="exact", check=False), "markdown")
    assert "\n\nKind: `exact`.\n\n" in page
    page = rendered(trace("relu(x)", {"x": 0}, convention="torch", check=False), "markdown")
    assert "\n\nConvention: `torch`.\n\n" in page


def test_markdown_rows_have_as_many_cells_as_their_head() -> None:
    found = trace("|x|*y + where(x < y, x, y)", {"x": -1, "y": 2}, check=False)
    found.notes.append(Note("odd", "a | b `c` <d>"))
    count = 0
    for line in rendered(found, "markdown").splitlines():
        if not line.startswith("|"):
            count = 0
            continue
        bars = len(re.findall(r"(?<!\\)\|", line))
        count = count or bars
        assert bars == count, line
    assert "a \\| b \\`c\\` \\<d\\>" in rendered(found, "markdown")


def test_every_operation_of_the_table_can_be_rendered() -> None:
    for name in ops.callable_names():
        for one in operations_called(name, 6):
            if one.example is not None:
                assert all(rendered(one.example, name) for name in TEXTS), one.name


# -- mistakes -------------------------------------------------------------------------------------------------------


class Lesson(Mistake):
    title = "unknown name"


def told(source: str, span: tuple[int, int], origin: str | None = None, **look: Any) -> list[str]:
    mistake = Lesson("I have no value for xx", "Did you mean x?", span).within(source, origin)
    return list(lessons.lines(mistake, Look(**look)))


def test_carets_stand_under_the_words_they_are_about() -> None:
    assert told("(x*y + z) * xx", (12, 14)) == [
        "unknown name",
        "  (x*y + z) * xx",
        "              ^^ I have no value for xx",
        "  Did you mean x?",
    ]


def test_carets_stand_right_after_tabs_and_wide_letters() -> None:
    _, line, carets, _ = told("\t漢字 * xx", (6, 8))
    assert cells(line[: line.index("xx")]) == carets.index("^")


def test_a_file_and_its_line_are_named() -> None:
    assert told("a\nb\r\nxx\n", (5, 7), "net.bp")[:2] == ["unknown name in net.bp, line 3", "  xx"]


def test_a_mistake_at_the_end_points_behind_the_last_word() -> None:
    assert told("x +\n\n", (4, 5))[1:3] == ["  x +", "     ^ I have no value for xx"]


def test_a_span_of_many_lines_shows_its_first_and_last() -> None:
    lines = told("(" + "\n+ x" * 9 + "\n)", (0, 39))
    assert lines[1] == "  ("
    assert "  …" in lines
    assert lines[-3:-1] == ["  )", "  ^ I have no value for xx"]


def test_of_a_huge_text_only_a_window_is_shown() -> None:
    lines = told("a" * 5_000_000 + "+ xx +" + "b" * 5_000_000, (5_000_002, 5_000_004), width=70)
    assert max(map(cells, lines)) <= 70
    assert lines[1].startswith("  …")
    assert lines[1].endswith("…")
    assert lines[1][lines[2].index("^") :].startswith("xx +")
    assert sum(map(len, told("x" * 1_000_000, (0, 1_000_000)))) < 500


@pytest.mark.parametrize("span", [(-3, 100), (5, 2), (99, 99), (0, 0)])
def test_no_span_is_out_of_bounds(span: tuple[int, int]) -> None:
    assert told("x + xx", span)
    assert told("", span)


def test_control_characters_in_a_program_are_written_out() -> None:
    assert told("a\x1b[31mb xx", (8, 10))[1] == "  a\\x1b[31mb xx"
    assert visible("tab\there") == "tab\\there"


def test_wrapping_never_cuts_a_word_that_fits() -> None:
    assert wrap("one two three", 7, "  ") == ["one two", "  three"]
    assert wrap("x" * 10, 4) == ["xxxx", "xxxx", "xx"]


# -- what a reader sees -----------------------------------------------------------------------------------------------


def test_a_sum_with_a_number_missing_says_which() -> None:
    found = trace("sqrt(y) + x*y", {"x": -1, "y": 0}, check=False)
    (line,) = [step.text for step in found.steps if step.phase == "reverse" and step.text.startswith("∂f/∂y =")]
    assert line == (
        "∂f/∂y = ∂f/∂v1 · ∂v1/∂y + ∂f/∂v2 · ∂v2/∂y = 1 · (1/(2*v1)) + 1 · x = 1 · undefined + 1 · (-1)"
        "   (no value here; two edges meet here: add)"
    )


def test_the_neuron_is_a_table_on_a_screen_of_80_columns() -> None:
    shown = rendered(trace(NEURON, AT_NEURON, check=False), width=80).splitlines()
    assert "∂L/∂z    ∂L/∂h · ∂h/∂z     1 - h^2  -0.229297 · 0.216152  -0.049563" in shown


def test_below_a_sum_on_a_narrow_screen_stands_why_there_is_one() -> None:
    shown = rendered(trace("x*x*x + sin(x)*x", {"x": 3}, check=False), width=70)
    assert "\n         (five edges meet\n         here: add)\n" in shown
    assert "+ ∂f/∂v1 · ∂v1/∂x #2" in shown


def test_a_sum_too_long_for_a_line_breaks_before_a_plus() -> None:
    shown = rendered(trace("x+x+x+x+x+x*x+sin(x)", {"x": 3}, check=False), width=56)
    lines = shown[shown.index("∂f/∂x =") :].splitlines()[:8]
    assert lines[0] == "∂f/∂x = ∂f/∂v1 · ∂v1/∂x #1 + ∂f/∂v1 · ∂v1/∂x #2"
    assert all(line.startswith(("      + ", "      = ")) for line in lines[1:])
    assert not any(line.endswith(("·", "+", "=")) for line in lines)


def test_the_heading_holds_what_is_worked_out_and_the_point() -> None:
    program = "# a lesson\ninput x = 2  # data\nparam w = 3\n\ny = w*x  # the product\n# expect y = 6\ny^2\n"
    shown = rendered(trace(program, {}, check=False))
    assert shown.startswith("y = w*x\ny^2\nat  x = 2\nparams  w = 3\n\nValues")


def test_values_are_never_broken_inside_an_equation() -> None:
    names = [f"a_long_name_{place}" for place in range(6)]
    shown = rendered(trace(" + ".join(names), dict.fromkeys(names, 1.5), check=False), width=50)
    at = shown[shown.index("at  ") : shown.index("\n\n")].splitlines()
    assert len(at) > 1
    assert all(line.rstrip(",").endswith("= 1.5") and "\u00a0" not in line for line in at)


def test_what_is_told_elsewhere_makes_room_for_the_verdicts() -> None:
    found = trace("(x*y + z)*x", {"x": 3, "y": -1, "z": 2})
    shown = rendered(found, width=80)
    assert "variable  gradient  checked (digits that agree)" in shown
    assert "∂f/∂x = 2*x*y + z" in shown
    assert "agrees: SymPy 15, difference 15, forward mode 15, paths 15\n" in shown


def test_where_there_is_no_slope_there_is_nothing_to_check() -> None:
    shown = rendered(trace("sqrt(y) + x", {"x": 1, "y": 0}), width=80)
    assert "y         no value here  nothing to check\n" in shown


def test_wrapping_keeps_the_margin_and_ends_no_line_with_a_sign() -> None:
    assert wrap("  abc de fg", 8, "    ") == ["  abc de", "    fg"]
    assert wrap("a · b + c = d", 7, "") == ["a · b", "+ c = d"]
    assert wrap("x → v1 → f", 6, "") == ["x → v1", "→ f"]

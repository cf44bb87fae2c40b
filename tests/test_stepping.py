"""Step by step: what is known at each step, which key leads where, and what the screen shows of it."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backprop import stepping
from backprop.bindings import Words
from backprop.figures import figure
from backprop.mistakes import CannotRead, NotATrace
from backprop.point import Program
from backprop.record import Trace
from backprop.render.characters import drawn
from backprop.render.look import Look
from backprop.render.tables import cells
from backprop.stepping import stage
from backprop.stepping.keys import Keys
from backprop.stepping.moments import ANSWER, GIVEN, Moments
from backprop.stepping.picture import MOST_DRAWN, Picture, part_of
from backprop.stepping.prompts import prompts
from backprop.stepping.screen import broken, fitted
from backprop.stepping.session import Session
from backprop.tracing import trace
from command import call

SAMPLES = sorted((Path(__file__).parent.parent / "samples").glob("*.bp"))
HIDDEN = "?"


def traced(text: str, mode: str = "reverse", wrt: list[str] | None = None, **inputs: str) -> Trace:
    return trace(Program(text), inputs, wrt=wrt, mode=mode, check=False)


def paper() -> Trace:
    """e = (a + b)*(b + 1) at a = 2, b = 1: c = 3, d = 2, e = 6; de/da = 2, de/db = 2 + 3 = 5."""
    return traced("c = a + b; d = b + 1; e = c*d", a="2", b="1")


def known(found: Trace, place: int, field: str) -> dict[str, str]:
    """What is known at a moment, by the names of the nodes."""
    moments = Moments(found)
    nodes = moments.so_far(moments[place], found, lambda _: HIDDEN, lambda edge: edge).nodes
    told = {node.id: getattr(node, field) for node in nodes if node.id[0].isalpha()}
    return {name: figure(value) for name, value in told.items() if value not in (None, HIDDEN)}


class Fake:
    """A display on which keys are pressed beforehand; it keeps every screen that was drawn."""

    def __init__(self, keys: Iterable[str], columns: int = 80, rows: int = 24) -> None:
        self.waiting, self.size, self.screens = list(keys), (columns, rows), list[list[str]]()

    def draw(self, lines: list[str]) -> None:
        self.screens.append(lines)

    def key(self) -> str:
        return self.waiting.pop(0) if self.waiting else "gone"

    @property
    def last(self) -> str:
        return "\n".join(self.screens[-1])


def shown(found: Trace, keys: str, columns: int = 80, rows: int = 24, look: Look | None = None) -> str:
    """The last screen after these keys."""
    display = Fake(keys.split(), columns, rows)
    Session(Moments(found), look or Look()).run(display)
    return display.last


# -- keys --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "names"),
    [
        (b"\x1b[A\x1b[B\x1b[C\x1b[D", "up down right left"),
        (b"\x1bOA\x1bOB\x1bOC\x1bOD", "up down right left"),  # with application cursor keys
        (b"\x1b[H\x1b[F\x1b[1~\x1b[4~\x1b[7~\x1b[8~\x1bOH\x1bOF", "home end home end home end home end"),
        (b"\x1b[5~\x1b[6~\x1b[6;5~", "page up,page down,page down"),
        (b"\x1b[1;5C\x1b[1;2D", "right left"),  # with Ctrl, with Shift
        (b"\r\n \x7f\b\x04\x0cn", "enter enter space backspace backspace ctrl-d ctrl-l n"),
        (b"\x1bOM", "enter"),  # of the number pad
        ("αβ".encode(), "α β"),
        (b"\x1b\x1b", "escape"),
        (b"\x1b[3~\x1b[15~\x1bOP\x1b[[A\x1b[Z\x1bq\x1b[<0;3;4Mx", "x"),  # keys and a mouse without a meaning here
        (b"\x1b[12\rn", "enter n"),  # no form ends like this
        (b"\x1b[200~q\rq\x1b[Aq\x1b[201~n", "n"),  # pasted
        (b"\xff\x00n", "\ufffd n"),
    ],
)
def test_keys_are_told_however_their_bytes_are_cut(sent: bytes, names: str) -> None:
    wanted = names.split("," if "," in names else " ")
    assert Keys().pressed(sent) == wanted
    for cut in range(1, len(sent)):
        keys = Keys()
        assert keys.pressed(sent[:cut]) + keys.pressed(sent[cut:]) == wanted, sent[:cut]
    slow = Keys()
    assert [key for byte in sent for key in slow.pressed(bytes([byte]))] == wanted
    assert not slow.is_waiting


def test_escape_alone_is_a_key_when_nothing_follows() -> None:
    keys = Keys()
    assert (keys.pressed(b"\x1b"), keys.is_waiting, keys.given_up(), keys.is_waiting) == ([], True, ["escape"], False)


def test_half_an_arrow_is_no_key() -> None:
    keys = Keys()
    assert (keys.pressed(b"\x1b["), keys.given_up(), keys.pressed(b"n")) == ([], [], ["n"])


def test_a_paste_that_has_not_ended_is_no_key_that_waits() -> None:
    keys = Keys()
    assert (keys.pressed(b"\x1b[200~q\x1b[201"), keys.is_waiting) == ([], False)
    assert keys.pressed(b"~n") == ["n"]


@given(st.binary(max_size=40))
def test_no_bytes_upset_the_keys(sent: bytes) -> None:
    whole, slow = Keys(), Keys()
    assert whole.pressed(sent) == [key for byte in sent for key in slow.pressed(bytes([byte]))]
    whole.given_up()
    assert not whole.is_waiting


# -- what is known -----------------------------------------------------------------------------------------------------


def test_values_come_in_their_order_and_adjoints_the_other_way() -> None:
    found = paper()
    assert [step.node for step in found.steps] == ["c", "d", "e", "e", "d", "c", "b", "b", "b", "a"]
    given = {"a": "2", "b": "1"}
    values = [known(found, place, "value") for place in range(5)]
    assert (
        values
        == [given, given | {"c": "3"}, given | {"c": "3", "d": "2"}] + [given | {"c": "3", "d": "2", "e": "6"}] * 2
    )
    assert [known(found, place, "adjoint") for place in (3, 4, 5, 6)] == [
        {},
        {"e": "1"},
        {"e": "1", "d": "3"},
        {"e": "1", "d": "3", "c": "2"},
    ]
    # the two edges of b bring 3 and 2; only their sum is its adjoint
    before_sum = known(found, 8, "adjoint")
    assert ("b" in before_sum, known(found, 9, "adjoint")["b"]) == (False, "5")
    assert (
        known(found, 10, "adjoint") == known(found, 11, "adjoint") == {"a": "2", "b": "5", "c": "2", "d": "3", "e": "1"}
    )


def test_the_partial_of_an_edge_is_known_from_its_line_on() -> None:
    found = paper()
    moments = Moments(found)

    def partials(place: int) -> set[str]:
        moment = moments[place]
        return {
            f"{edge.source}{edge.target}"
            for edge in found.edges
            if edge.source.isalpha() and moments.has_partial(moment, edge)
        }

    assert [partials(place) for place in (0, 3, 4)] == [set()] * 3
    assert partials(5) == {"de"}
    assert partials(6) == {"de", "ce"}
    one, two = partials(7) - partials(6), partials(8) - partials(7)
    assert len(one) == len(two) == 1
    assert one | two == {"bc", "bd"}
    assert partials(10) == partials(11) == {"ac", "bc", "bd", "ce", "de"}


def test_both_edges_of_a_square_are_about_one_at_a_time() -> None:
    moments = Moments(traced("f = x*x", x="3"))
    about = [moments[place].edges for place in range(len(moments))]
    both = frozenset({("x", "f", 0), ("x", "f", 1)})
    assert about == [frozenset(), both, frozenset(), {("x", "f", 0)}, {("x", "f", 1)}, both, frozenset()]


def test_tangents_come_with_their_values_in_forward_mode() -> None:
    found = traced("c = a + b; d = b + 1; e = c*d", "forward", ["b"], a="2", b="1")
    assert [(step.phase, step.node) for step in found.steps][:3] == [
        ("forward", "c"),
        ("tangent", "c"),
        ("forward", "d"),
    ]
    assert [known(found, place, "tangent").get("c") for place in range(3)] == [None, None, "1"]
    assert known(found, 0, "tangent") == {"b": "1"}
    assert known(found, len(found.steps), "tangent")["e"] == "5"


def test_what_comes_first_and_last_is_no_step() -> None:
    moments = Moments(paper())
    assert (moments[0].phase, moments[0].text, moments[len(moments) - 1].phase) == (GIVEN, "", ANSWER)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_from_step_to_step_more_is_known_and_in_the_end_all(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = trace(Program(text, str(path)), {}, check=False)
    moments = Moments(found)
    before = -1
    for place in [*range(0, len(moments), 1 + len(moments) // 30), len(moments) - 1]:
        part = moments.so_far(moments[place], found, lambda _: HIDDEN, lambda edge: edge)
        hidden = sum(HIDDEN in (node.value, node.adjoint) for node in part.nodes)
        assert before < 0 or hidden <= before
        before = hidden
    assert part == found


# -- which key leads where ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "where"),
    [
        ("", "what is given, before 10 steps"),
        ("enter", "step 1 of 10, forward"),
        ("enter space right down n", "step 5 of 10, reverse"),
        ("n n n left up", "step 1 of 10, forward"),
        ("n n n backspace p p p p", "what is given"),
        ("end", "the answer, after 10 steps"),
        ("G left", "step 10 of 10, reverse"),
        ("end n n", "the answer"),
        ("end home", "what is given"),
        ("n g", "what is given"),
        ("7 enter", "step 7 of 10"),
        ("1 0 enter", "step 10 of 10"),
        ("9 9 9 enter", "step 10 of 10"),
        ("1 0 backspace enter", "step 1 of 10"),
        ("n 9 escape", "step 1 of 10"),
        ("r", "step 4 of 10, reverse"),
        ("r f", "step 1 of 10, forward"),
        ("/ d enter", "step 2 of 10, forward"),
        ("/ d enter / d enter", "step 5 of 10, reverse"),
        ("/ d enter / d enter / d enter", "step 2 of 10, forward"),
        ("page down", "step"),
        ("n ? n n", "step 2 of 10"),
        ("n x redraw ctrl-l", "step 1 of 10"),
    ],
)
def test_a_key_leads_to_its_step(keys: str, where: str) -> None:
    assert where in shown(paper(), keys).splitlines()[0]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("/ q", "/q_"),
        ("1 2", "12_"),
        ("1 x enter", "1x is no step; a number from 1 to 10 is"),
        ("/ q enter", "no node is called q"),
        ("/ a enter n end n", "this is the answer; q leaves"),
        ("?", "any key goes back"),
        ("", "Enter forward"),
    ],
)
def test_the_last_row_says_what_is_typed_and_what_is_wrong(keys: str, said: str) -> None:
    assert said in shown(paper(), keys).splitlines()[-1]


def test_a_number_is_no_node_that_steps_work_out() -> None:
    assert "no step works out anything at 2" in shown(traced("2*3"), "/ 2 enter")


@pytest.mark.parametrize("key", ["q", "escape", "ctrl-d", "ctrl-c", "gone"])
def test_leaving_keys_leave(key: str) -> None:
    display = Fake(["n", key, "n"])
    Session(Moments(paper()), Look()).run(display)
    assert (display.waiting, len(display.screens)) == (["n"], 2)


def test_a_terminal_that_is_gone_ends_what_is_being_typed() -> None:
    display = Fake(["/", "q", "gone", "n"])
    Session(Moments(paper()), Look()).run(display)
    assert display.waiting == ["n"]


# -- what the screen shows ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50), (40, 12), (20, 6), (10, 3), (5, 1), (1, 1)])
@pytest.mark.parametrize("ascii", [False, True])
def test_nothing_is_wider_or_longer_than_the_screen(size: tuple[int, int], ascii: bool) -> None:
    keys = ["n"] * 11 + ["?", "?", "/", *"abcdefghijklmnopqrstuvwxyz"]
    for found in (paper(), traced("f = sum(W @ x) + 漢字", W="[[1, 2], [3, 4]]", x="[1, -1]", 漢字="2")):
        display = Fake(keys, *size)
        Session(Moments(found), Look(ascii=ascii)).run(display)
        for lines in display.screens:
            assert len(lines) <= size[1]
            assert max(map(cells, lines), default=0) <= size[0], lines
            assert not ascii or "".join(lines).isascii()


def test_the_line_of_working_stands_under_those_before_it() -> None:
    lines = shown(paper(), "n n n").splitlines()
    at = lines.index("▸ e = c*d = 3*2 = 6")
    assert lines[at - 2 : at] == ["  c = a + b = 2 + 1 = 3", "  d = b + 1 = 1 + 1 = 2"]


def test_the_answer_is_the_gradient_and_the_last_word() -> None:
    lines = shown(paper(), "end").splitlines()
    at = lines.index("▸ ∂e/∂a = 2, ∂e/∂b = 5")
    assert lines[at + 1] == "  e = 6, 2 derivatives, not checked"


def test_witnesses_have_their_word_in_the_answer() -> None:
    found = trace(Program("x^2"), {"x": "3"}, wait=False)
    assert "confirmed" in shown(found, "end") or "agree" in shown(found, "end")
    assert found.verdicts is None


def test_a_program_without_a_value_says_so() -> None:
    text = shown(traced("log(x)", x="-1"), "end")
    assert "no value" in text


def test_colour_is_never_the_only_sign() -> None:
    plain, painted = (shown(paper(), "n n", look=Look(colour=colour)) for colour in (False, True))
    assert "▸" in plain
    assert "\x1b[" in painted


def test_escapes_in_a_name_move_no_cursor() -> None:
    assert "\x1b" not in shown(traced("x*2", x="1"), "/ \x1b [ 2 J enter")


@pytest.mark.parametrize(
    ("text", "width", "wanted"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("漢字漢", 4, "漢…"), ("ab", 1, "…"), ("ab", 0, "")],
)
def test_a_text_is_cut_to_its_room(text: str, width: int, wanted: str) -> None:
    assert fitted(text, width) == wanted


def test_a_long_line_is_broken_at_its_equals_signs() -> None:
    assert broken("c = a + b = 2 + 1 = 3", 14, "  ") == ["c = a + b", "  = 2 + 1", "  = 3"]
    assert broken("c = 3   (two edges meet here: add)", 20, "  ")[0] == "c = 3   (two edges"


# -- the graph ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ascii", [False, True])
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_nothing_moves_while_the_graph_fills_up(path: Path, ascii: bool) -> None:
    found = trace(Program(path.read_text(encoding="utf-8"), str(path)), {}, check=False)
    if len(found.nodes) > MOST_DRAWN:
        assert "nodes" in shown(found, "n")
        return
    moments, look = Moments(found), Look(ascii=ascii)
    picture = Picture(moments, look)
    whole = drawn(found, look)
    for place in range(0, len(moments), 1 + len(moments) // 12):
        rows = picture.whole(moments[place], None)
        assert len(rows) == len(whole.rows)
        words = ["".join(text for text, _ in row) for row in rows]
        for name, at in whole.boxes.items():
            if found.node(name).op != "const":  # its frame is where it was
                assert words[at.y][at.x] in "╭╔┏+#*", (name, place)
                assert words[at.y + at.height - 1][at.x + at.width - 1] in "╯╝┛+#*", (name, place)
    assert picture.whole(moments[len(moments) - 1], None) == whole.rows


def test_the_current_node_and_edge_are_drawn_otherwise_than_all_others() -> None:
    text = shown(paper(), "r n", 80, 40)  # de/dd = c
    assert "┃ d = b + 1 ┃" in text
    assert "┃ value 2   ┃" in text
    assert "┃ ∂e/∂d = 3 ┃" in text
    assert "┃ c = 3" in text
    assert "│ c = a + b │" in text
    assert "│ ∂e/∂c = … │" in text
    plain = shown(paper(), "r n", 80, 40, Look(ascii=True))
    assert "* de/dd = 3 *" in plain
    assert "# c = 3" in plain
    assert "| de/dc = _ |" in plain


def test_a_graph_fills_up_with_values_and_then_with_adjoints() -> None:
    before, forward, reverse = (shown(paper(), keys, 80, 40) for keys in ("", "n n n", "end"))
    assert (before.count("value …"), before.count("= …")) == (3, 5 + 2)
    assert (forward.count("value …"), forward.count("= …")) == (0, 5 + 2)
    assert reverse.count("…") == 0


def test_a_graph_larger_than_the_screen_is_shown_around_the_current_node() -> None:
    found = traced("; ".join(["y1 = x*2", *(f"y{i} = y{i - 1}*2" for i in range(2, 30))]), x="1")
    for keys, wanted in (("1 2 enter", "┃ y12 = y11*2"), ("r n n", "┃ y27 = y26*2"), ("end", "║ y29 = y28*2")):
        text = shown(found, keys, 60, 24)
        assert wanted in text
        assert " part of the graph ─" in text


def test_of_nodes_far_apart_a_graph_of_their_own_is_drawn() -> None:
    # x is an operand of the first node and of the last
    found = traced("; ".join(["y1 = x*2", *(f"y{i} = y{i - 1}*2" for i in range(2, 20)), "L = y19*x"]), x="1")
    text = shown(found, "end p", 80, 40)
    assert " 3 of " in text
    assert all(name in text for name in ("┃ x ", "│ y1 = x*2", "║ L = y19*x"))


def test_of_a_graph_of_very_many_nodes_what_is_current_is_drawn_at_once() -> None:
    found = traced(" + ".join(f"sin(x*{i})" for i in range(1, 300)), x="2")
    text = shown(found, "r n n n")
    assert " 2 of " in text
    assert "┃" in text


def test_a_small_screen_has_a_line_for_each_node() -> None:
    lines = shown(paper(), "n n n", 40, 10).splitlines()
    assert lines[1:4] == ["- c = a + b   3   ∂e/∂c = …", "- d = b + 1   2   ∂e/∂d = …", "▸ e = c*d   6   ∂e/∂e = …"]


def test_wide_letters_are_cut_at_the_columns_of_the_screen() -> None:
    assert part_of([("漢字a", "name")], 1, 3) == [(" 字", "name")]
    assert part_of([("e\u0301x", None)], 0, 1) == [("e\u0301", None)]


# -- plain prompts, and where there is no terminal ---------------------------------------------------------------------


def prompted(found: Trace, *typed: str) -> list[str]:
    written: list[str] = []
    answers = iter([f"{one}\n" for one in typed])
    prompts(Moments(found), Look(), written.append, lambda: next(answers, ""))
    return "".join(written).splitlines()


def test_prompts_go_on_and_back_and_leave() -> None:
    lines = prompted(paper(), "", "", "b", "3", "what", "q", "not read")
    steps = [line for line in lines if line.startswith(("> step", "what is", "> what"))]
    assert steps == ["what is given, before 10 steps:"] + [f"> step {k} of 10, forward:" for k in (1, 2, 1, 3)]
    assert lines[lines.index("> step 3 of 10, forward:") + 1] == "e = c*d = 3*2 = 6"
    assert lines[-2].startswith("> Enter one step forward, b back")


def test_prompts_end_with_the_answer_or_with_what_is_typed() -> None:
    assert prompted(traced("x*2", x="1"), *[""] * 20)[-2:] == ["f = 2, 1 derivative, not checked", "> "]
    assert prompted(paper())[-1] == "> "


def test_the_arrows_lead_where_they_are_asked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    typed, screen = Watched("d\nq\n"), Watched()
    stage(Words({"direction": "right"}), typed, screen).show(paper(), Look())
    assert "▶║ e = c*d" in screen.getvalue()


@pytest.mark.parametrize(
    "words",
    [(), ("-o", "x.json"), ("--format", "json"), ("--path", "1"), ("--around", "x"), ("--hops", "1"), ("--both",)],
)
def test_without_a_terminal_steps_are_refused(words: tuple[str, ...]) -> None:
    code, out, err = call("trace", "x^2", "--x", "3", "--step", *words)
    assert (code, out) == (2, "")
    assert ("do not go together" if words else "the output goes elsewhere") in err


class Watched(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_where_keys_cannot_be_had_one_by_one_there_are_prompts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert stage(Words(), Watched(), Watched()).is_whole
    assert not stage(Words(), io.StringIO(), Watched()).is_whole
    monkeypatch.setitem(sys.modules, "termios", None)  # as on Windows
    assert not stage(Words(), Watched(), Watched()).is_whole


@pytest.mark.parametrize("term", ["", "dumb", "unknown"])
def test_a_terminal_that_only_prints_gets_prompts(term: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", term)
    assert not stage(Words(), Watched(), Watched()).is_whole


def test_without_a_terminal_a_program_from_stdin_leaves_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stepping, "TERMINAL", "/no/such/terminal")
    with pytest.raises(CannotRead, match="keys have to come from a terminal"):
        stage(Words(positional=["-"]), io.StringIO(), Watched())
    with pytest.raises(CannotRead):
        stage(Words(), None, Watched())


def test_a_saved_trace_is_stepped_through_as_it_stands(tmp_path: Path) -> None:
    found = paper()
    again = Trace.from_json(found.to_json())
    assert shown(again, "n n n") == shown(found, "n n n")
    code, _, err = call("render", "-", "--step", stdin=found.to_json())
    assert (code, "the output goes elsewhere" in err) == (2, True)


def test_a_step_about_no_node_is_refused() -> None:
    record = paper().to_dict()
    record["steps"][0]["node"] = "q"
    with pytest.raises(NotATrace, match="a step is about q, which is no node"):
        Trace.from_dict(record)

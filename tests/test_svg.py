"""The drawing of the graph: as SVG read by a parser of XML, as PNG and PDF, and the theme."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from backprop import cli
from backprop.mistakes import ExtraMissing, TooLargeToDraw
from backprop.record import Edge, Node, Trace
from backprop.render import by_name
from backprop.render.drawing import MOST_EDGES, MOST_NODES, folded, left_to_right
from backprop.render.look import Look, View
from backprop.render.picture import ADVANCE, LINE, picture
from backprop.render.tables import cells
from backprop.theme import GROUNDS, LINES, TEXTS, THEME, contrast
from backprop.tracing import trace
from command import call
from programs import NAMES, points, programs

SVG = "{http://www.w3.org/2000/svg}"
TWO_PATHS = "c = a + b; d = b + 1; e = c*d"


def svg(found: Trace, **view: Any) -> str:
    return "\n".join(by_name("svg").render(found, Look(view=View(**view))))


def parsed(found: Trace, **view: Any) -> ET.Element:
    return ET.fromstring(svg(found, **view))


def groups(root: ET.Element, name: str) -> list[ET.Element]:
    return [one for one in root.iter(f"{SVG}g") if name in one.attrib["class"].split()]


def texts(root: ET.Element) -> list[str]:
    return ["".join(one.itertext()) for one in root.iter(f"{SVG}text")]


def title(group: ET.Element) -> str:
    found = group.find(f"{SVG}title")
    assert found is not None
    assert found.text is not None
    return found.text


def two_paths(**options: Any) -> Trace:
    return trace(TWO_PATHS, {"a": 2, "b": 1}, check=False, **options)


# -- the theme --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("role", TEXTS)
def test_every_text_can_be_read_on_every_ground(role: str, ground: str) -> None:
    assert contrast(TEXTS[role].light, GROUNDS[ground].light) >= 4.5
    assert contrast(TEXTS[role].dark, GROUNDS[ground].dark) >= 4.5


@pytest.mark.parametrize("role", LINES)
def test_every_line_is_seen_on_the_page(role: str) -> None:
    assert contrast(LINES[role].light, GROUNDS["page"].light) >= 3
    assert contrast(LINES[role].dark, GROUNDS["page"].dark) >= 3


# -- what is drawn ----------------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(programs(), points)
def test_every_node_and_edge_is_drawn_once_from_border_to_border(program: str, point: dict[str, float]) -> None:
    found = trace(program, {name: point[name] for name in NAMES if name in program}, check=False)
    root = parsed(found)
    assert [one.attrib["data-node"] for one in groups(root, "node")] == [node.id for node in found.nodes]
    drawn = Counter(
        (one.attrib["data-source"], one.attrib["data-target"], int(one.attrib["data-key"]))
        for one in groups(root, "edge")
    )
    assert drawn == Counter((edge.source, edge.target, edge.key) for edge in found.edges)
    whole = picture(found, Look())
    rects = {box.id: box.rect for box in whole.boxes}
    for arrow in whole.arrows:
        start, end = rects[arrow.source], rects[arrow.target]
        assert arrow.points[0][1] == pytest.approx(start.y)
        assert arrow.points[-1][1] == pytest.approx(end.y + end.height)
    for box in whole.boxes:
        assert max(cells(line.text) for line in box.lines) * ADVANCE <= box.rect.width
        assert len(box.lines) * LINE <= box.rect.height
        assert 0 <= box.rect.x <= box.rect.x + box.rect.width <= whole.width
        assert 0 <= box.rect.y <= box.rect.y + box.rect.height <= whole.height


def test_the_numbers_of_the_lesson_stand_in_the_drawing() -> None:
    shown = texts(parsed(two_paths()))
    assert {"e = c*d", "value 6", "∂e/∂a = 2", "∂e/∂b = 5", "d = 2", "c = 3"} <= set(shown)


def test_forward_mode_shows_tangents() -> None:
    shown = texts(parsed(two_paths(mode="forward", wrt=["b"])))
    assert "∂e/∂b = 5" in shown
    assert "∂d/∂b = 1" in shown
    assert "∂e/∂a = 2" not in shown


def test_both_edges_of_a_square_are_drawn_apart() -> None:
    whole = picture(trace("x*x", {"x": 3}, check=False), Look())
    one, other = whole.arrows
    assert one.points != other.points
    assert (one.title.splitlines()[0], other.title.splitlines()[0]) == ("x → f, operand 1", "x → f, operand 2")


def test_a_kink_a_dead_unit_and_a_hole_have_a_sign_and_a_word() -> None:
    assert "⚠ kink" in texts(parsed(trace("max(0, x)*x", {"x": 0}, check=False)))
    assert "⚠ left 0, right 1" in texts(parsed(trace("relu(x) + x", {"x": 0}, check=False)))
    dead = parsed(trace("relu(x)", {"x": -2}, check=False))
    assert "⚠ dead-relu" in texts(dead)
    assert any("no gradient passes" in title(one) for one in groups(dead, "node"))
    shown = texts(parsed(trace("sqrt(y) + x", {"x": 1, "y": 0}, check=False)))
    assert {"⚠ undefined", "∂f/∂y: no value here"} <= set(shown)


def test_a_branch_not_taken_is_dashed_with_the_way_from_it() -> None:
    root = parsed(trace("where(x < 0, x^2, y + 1)", {"x": 1, "y": 2}, check=False))
    dashed = [one for one in groups(root, "edge") if any("stroke-dasharray" in part.attrib for part in one)]
    ends = [(one.attrib["data-source"], one.attrib["data-target"]) for one in dashed]
    assert ends == [("x", "v2"), ("2", "v2"), ("v2", "f")]
    assert "branch not taken" in texts(root)
    # a branch that is an input has been worked out, but its way to the choice is not taken
    root = parsed(trace("where(x < 0, x, y)", {"x": 1, "y": 2}, check=False))
    dashed = [one for one in groups(root, "edge") if any("stroke-dasharray" in part.attrib for part in one)]
    assert [(one.attrib["data-source"], one.attrib["data-key"]) for one in dashed] == [("x", "1")]


def test_a_path_is_heavier_and_named() -> None:
    root = parsed(two_paths(), path=frozenset({("b", "d", 0), ("d", "e", 1)}))
    heavy = {(one.attrib["data-source"], one.attrib["data-target"]) for one in groups(root, "on-path")}
    assert heavy == {("b", "d"), ("d", "e")}
    assert "path b → d → e" in texts(root)
    widths = {float(one[1].attrib["stroke-width"]) for one in groups(root, "on-path")}
    others = {
        float(one[1].attrib["stroke-width"]) for one in groups(root, "edge") if one not in groups(root, "on-path")
    }
    assert min(widths) > 2 * max(others)


def test_both_passes_stand_side_by_side_in_the_same_places() -> None:
    whole = picture(two_paths(), Look(view=View(both=True)))
    count = len(whole.boxes) // 2
    left, right = whole.boxes[:count], whole.boxes[count:]
    assert {two.rect.x - one.rect.x for one, two in zip(left, right, strict=True)} == {whole.width / 2}
    assert not any("∂" in line.text for box in left for line in box.lines)
    assert any(line.text == "∂e/∂b = 5" for box in right for line in box.lines)


def test_a_long_formula_is_cut_in_the_middle_and_whole_in_the_title() -> None:
    names = [f"a_long_name_{place}" for place in range(12)]
    root = parsed(trace(f"max({', '.join(names)})", dict.fromkeys(names, 1.0), check=False))
    (output,) = groups(root, "output-node")
    assert f"f = max({', '.join(names)})" in title(output)
    shown = [text for text in texts(output) if not text.startswith(("value", "∂", "⚠"))]
    assert len(shown) == 3
    assert "…" in "".join(shown)
    assert shown[0].startswith("f = max(a_long_name_0")
    assert shown[-1].endswith("a_long_name_11)")


def test_folding_keeps_short_texts_and_ends_in_time_on_long_ones() -> None:
    assert folded("x*y", 40, 3) == ["x*y"]
    assert len(folded("x + " * 1_000_000, 40, 3)) <= 3
    assert len(folded("x" * 1_000_000, 40, 3)) <= 3


def test_digits_of_a_number_stay_together() -> None:
    found = trace("exp(x)", {"x": 1}, kind="digits:40", check=False)
    root = ET.fromstring("\n".join(by_name("svg").render(found, Look(figures=40))))
    assert "2.718281828459045235360287471352662497757" in " ".join(texts(root)).split()


def test_a_role_has_a_shape_of_its_own() -> None:
    root = parsed(trace("param w = 2; w*x + 1", {"x": 3}, check=False))
    (given,), (learned,), (output,) = (groups(root, f"{role}-node") for role in ("input", "param", "output"))
    (constant,) = groups(root, "constant-node")
    assert "w (param)" in texts(learned)
    assert "stroke" not in constant[1].attrib
    assert float(output[1].attrib["stroke-width"]) > 2 * float(given[1].attrib["stroke-width"])
    assert float(given[1].attrib["rx"]) > float(output[1].attrib["rx"])


# -- as a file --------------------------------------------------------------------------------------------------------

STRANGE = [
    '</script><script>alert("1")</script>',
    "a&b <c> \"d\" 'e' $\\",
    "\x00\x1b[31m\x85",
    "\ufffe\uffff\ud800",
    "😀",
]


@pytest.mark.parametrize("name", STRANGE, ids=range(len(STRANGE)))
def test_a_label_is_text_whatever_it_holds(name: str) -> None:
    nodes = [Node(name, "input", value=1.0), Node("f", "neg", (name,), f"-{name}", value=-1.0)]
    edges = [Edge(name, "f", 0, -1.0, name)]
    found = Trace(name, name, "real", "reverse", {name: 1.0}, [], "f", -1.0, [name], {}, {}, nodes, edges)
    text = svg(found)
    root = ET.fromstring(text.encode("utf-8"))
    assert {one.tag for one in root.iter()} <= {
        SVG + tag for tag in ("svg", "title", "desc", "style", "rect", "g", "text", "path")
    }
    if name.isprintable():
        assert groups(root, "node")[0].attrib["data-node"] == name
    assert "<script" not in text


def test_a_drawing_has_no_link_and_no_script() -> None:
    text = svg(two_paths()).replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?:|url\(|@import|href|<script|<image|<foreignObject| on\w+=", text)


def test_names_of_hebrew_letters_do_not_turn_a_formula_round() -> None:
    assert left_to_right("אב = 5*אב") == "אב\u200e = 5*אב\u200e"
    assert left_to_right("α = 5") == "α = 5"
    shown = texts(parsed(trace("אב = x*3; אב^2", {"x": 1}, check=False)))
    assert "אב\u200e = x*3" in shown


def test_a_screen_reader_is_told_what_is_drawn() -> None:
    root = parsed(two_paths())
    named, told = root.attrib["aria-labelledby"].split()
    assert root.attrib["role"] == "img"
    assert (root[0].attrib["id"], root[0].text) == (named, f"Graph of {TWO_PATHS}")
    assert root[1].attrib["id"] == told
    assert "6 nodes and 6 edges.\ne = 6.\n∂e/∂a = 2.\n∂e/∂b = 5." in (root[1].text or "")


def test_the_page_turns_dark_only_where_it_is_left_open() -> None:
    text = svg(two_paths())
    assert "prefers-color-scheme: dark" in text
    assert all(f".backprop .{role}{{fill:{paint.dark}}}" in text for role, paint in THEME.items())
    light, dark = svg(two_paths(), light=True), svg(two_paths(), light=False)
    assert "prefers-color-scheme" not in light + dark
    assert THEME["page"].light in light
    assert THEME["page"].light not in dark


def test_where_letters_are_ascii_the_same_is_written_with_entities() -> None:
    found = two_paths()
    plain = "\n".join(by_name("svg").render(found, Look(ascii=True)))
    assert plain.isascii()
    assert ET.tostring(ET.fromstring(plain)) == ET.tostring(parsed(found))


@pytest.mark.parametrize("name", ["svg", "pdf", "png"])
def test_a_saved_trace_gives_the_same_drawing(name: str, tmp_path: Path) -> None:
    words = ["trace", TWO_PATHS, "a=2", "b=1", "--no-check"]
    assert call(*words, "-o", str(tmp_path / "t.json"))[0] == 0
    assert call(*words, "-o", str(tmp_path / f"one.{name}"))[0] == 0
    assert call("render", str(tmp_path / "t.json"), "-o", str(tmp_path / f"other.{name}"))[0] == 0
    assert (tmp_path / f"one.{name}").read_bytes() == (tmp_path / f"other.{name}").read_bytes()


# -- large ones -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["svg", "png", "pdf"])
def test_a_graph_of_a_hundred_thousand_nodes_is_refused_at_once(name: str, tmp_path: Path) -> None:
    nodes = [Node(f"v{place}", "input", value=1.0) for place in range(100_000)]
    found = replace(two_paths(), nodes=nodes, edges=[])
    start = time.perf_counter()
    with pytest.raises(TooLargeToDraw, match="100000 nodes") as caught:
        list(by_name(name).render(found, Look()))
    assert time.perf_counter() - start < 0.5
    assert "--around NODE --hops 2" in caught.value.repair
    assert str(MOST_NODES) in caught.value.cause
    assert str(MOST_EDGES) in caught.value.cause


def test_a_refusal_leaves_no_file(tmp_path: Path) -> None:
    program = " + ".join(["x"] * 3_000)
    for name in ("svg", "png", "pdf"):
        code, _, talk = call("trace", program, "--x", "1", "--no-check", "-o", str(tmp_path / f"large.{name}"))
        assert code == 2
        assert "too large to draw" in talk
    assert list(tmp_path.iterdir()) == []
    code, _, talk = call("trace", "x^2", "--x", "1", "-o", str(tmp_path / "no" / "folder.png"))
    assert code == 2
    assert "cannot be written" in talk
    assert list(tmp_path.iterdir()) == []


# -- PNG and PDF ------------------------------------------------------------------------------------------------------


def size_of(image: bytes) -> tuple[int, int]:
    assert image[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(image[16:20], "big"), int.from_bytes(image[20:24], "big")


def test_an_image_is_twice_as_fine_as_the_drawing_and_has_letters_without_a_font_of_the_machine() -> None:
    from fontpkg_jetbrains_mono import ROOT
    from resvg_py import svg_to_bytes

    found = trace("α^2", {"α": 3}, check=False)
    (image,) = by_name("png").render(found, Look())
    whole = picture(found, Look())
    assert size_of(image) == (2 * int(whole.width), 2 * int(whole.height))
    fonts = [str(path) for path in ROOT.rglob("*.ttf")]
    whole_svg = svg(found, light=True)
    for letters in ("∂f/∂α = 6", "α"):
        assert f">{letters}</text>" in whole_svg
        without = whole_svg.replace(f">{letters}</text>", "></text>")
        drawn = [svg_to_bytes(svg_string=one, skip_system_fonts=True, font_files=fonts) for one in (whole_svg, without)]
        assert bytes(drawn[0]) != bytes(drawn[1])


def test_a_page_holds_its_text_as_text() -> None:
    from pypdf import PdfReader

    found = trace("where(α > 0, max(0, α)*exp(y), y)", {"α": 0, "y": 1}, check=False)
    one, other = (b"".join(by_name("pdf").render(found, Look())) for _ in range(2))
    assert one == other
    reader = PdfReader(io.BytesIO(one))
    (page,) = reader.pages
    shown = page.extract_text()
    for line in ("∂f/∂y = 1", "value 1", "v1 = α > 0"):
        assert line in shown
    assert reader.metadata is not None
    assert reader.metadata.title == "Graph of where(α > 0, max(0, α)*exp(y), y)"


def test_letters_that_the_font_of_a_page_has_not_are_written_out() -> None:
    from pypdf import PdfReader

    found = trace("אב^2", {"אב": 3}, check=False)
    page = b"".join(by_name("pdf").render(found, Look()))
    assert "f = \\u05d0\\u05d1^2" in PdfReader(io.BytesIO(page)).pages[0].extract_text()


@pytest.mark.parametrize(
    ("name", "modules"), [("png", ["resvg_py"]), ("pdf", ["fpdf"]), ("png", ["fontpkg_jetbrains_mono"])]
)
def test_without_its_extra_a_format_names_it(name: str, modules: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ExtraMissing) as caught:
        list(by_name(name).render(two_paths(), Look()))
    assert f'pip install "backprop-trace[{name}]"' in caught.value.repair


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def test_bytes_go_to_a_pipe_and_not_to_a_terminal() -> None:
    out, err = Terminal(io.BytesIO(), encoding="utf-8"), io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    assert cli.main(["trace", "x^2", "--x", "3", "--format", "png"], io.StringIO(), out, err) == 2
    out.seek(0)
    err.seek(0)
    assert (out.read(), "-o graph.png" in err.read()) == ("", True)
    words = [sys.executable, "-m", "backprop", "trace", "x^2", "--x", "3", "--format", "png"]
    piped = subprocess.run(words, capture_output=True, check=True, timeout=60)
    assert size_of(piped.stdout) > (0, 0)

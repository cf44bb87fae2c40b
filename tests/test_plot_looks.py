"""What plots look like: in characters at several widths, in ASCII, as SVG in light and dark."""

from __future__ import annotations

import math
import re
import struct
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from backprop.checks import check
from backprop.plots import Axis, Curve, Mark, Panel, Plot, runs
from backprop.plots.curves import over
from backprop.point import Program
from backprop.render.look import Look, View
from backprop.render.plots import render
from backprop.render.plots.scales import inside, labels, share, ticks
from backprop.render.plots.text import Canvas
from backprop.render.tables import cells
from backprop.step import Descent
from backprop.theme import contrast
from backprop.tracing import trace
from command import call
from conftest import Golden

SVG = "{http://www.w3.org/2000/svg}"
DEEP = "; ".join(["h0 = sigmoid(w*x)", *(f"h{n} = sigmoid(w*h{n - 1})" for n in range(1, 8)), "L = (h7 - y)^2"])


def descent() -> Plot:
    run = Descent(Program("param w = 1; (w*x - 3)^2"), {"x": 2}, 0.05, 20)
    return runs.descent(run, run)


PLOTS: dict[str, Callable[[], Plot]] = {
    "kink": lambda: over(Program("abs(x)*(2 - x)"), {}, "x", -3, 3),
    "pole": lambda: over(Program("a/(x - 1)"), {"a": 2}, "x", -3, 3),
    "stairs": lambda: over(Program("floor(x)"), {}, "x", -2, 2),
    "hole": lambda: over(Program("sin(x)/x"), {}, "x", -9, 9),
    "edge": lambda: over(Program("sqrt(x) + λ"), {"λ": 1}, "x", -1, 3),
    "descent": descent,
    "check": lambda: runs.check(check("tanh(x)", {"x": 1.4})),
    "gradients": lambda: runs.gradients(trace(DEEP, {"w": 2, "x": 1, "y": 1}, check=False)),
}


def shown(found: Plot, name: str = "text", height: int | None = None, **look: object) -> str:
    return "".join(line + "\n" for line in render(found, name, Look(**look), height))  # type: ignore[arg-type]


# -- golden files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", PLOTS)
def test_what_a_plot_looks_like(name: str, width: int, golden: Golden) -> None:
    text = shown(PLOTS[name](), width=width)
    golden(f"plots/{name}.{width}.txt", text)
    assert all(cells(line) <= width for line in text.splitlines())
    assert not any(line.endswith(" ") for line in text.splitlines())


@pytest.mark.parametrize("name", PLOTS)
def test_what_a_plot_looks_like_in_ascii(name: str, golden: Golden) -> None:
    text = shown(PLOTS[name](), width=80, ascii=True)
    golden(f"plots/{name}.ascii.txt", text)
    assert text.isascii()


@pytest.mark.parametrize("name", PLOTS)
def test_what_a_plot_is_as_svg(name: str, golden: Golden) -> None:
    golden(f"plots/{name}.svg", shown(PLOTS[name](), "svg"))


# -- in characters ---------------------------------------------------------------------------------------------------


def test_a_pipe_gets_80_columns_and_no_colour() -> None:
    code, out, err = call("plot", "x^2", "--over", "x=-1..1")
    assert (code, err) == (0, "")
    assert "\x1b" not in out
    assert max(map(cells, out.splitlines())) == 80


def test_the_same_plot_gives_the_same_letters() -> None:
    assert shown(PLOTS["kink"]()) == shown(PLOTS["kink"]())


def test_colours_change_no_letter() -> None:
    plain, painted = (shown(PLOTS["check"](), width=80, colour=colour) for colour in (False, True))
    assert "\x1b[" in painted
    bare = re.sub(r"\x1b\[[0-9;]*m", "", painted)
    assert [line.rstrip() for line in bare.splitlines()] == plain.splitlines()


@pytest.mark.parametrize("height", [12, 20, 40])
def test_the_height_is_that_of_the_panels(height: int) -> None:
    _, out, _ = call("plot", "param w = 1; w^2", "--descent", "--height", str(height))
    rows = [line for line in out.splitlines() if re.match(r" *[-0-9.e]* [│┤]", line)]
    assert len(rows) == height - 3


@pytest.mark.parametrize("ascii", [False, True])
def test_curves_differ_by_their_signs(ascii: bool) -> None:
    text = shown(PLOTS["check"](), width=80, ascii=ascii)
    head = next(line for line in text.splitlines() if "one-sided" in line)
    signs = (
        ("* central", "o one-sided", "- - like h^2", ". . like h")
        if ascii
        else ("● central", "○ one-sided", "╌╌╌ like h²", "┈┈┈ like h")
    )
    assert all(sign in head for sign in signs)


def test_a_line_outside_of_its_panel_is_cut_at_the_border() -> None:
    canvas = Canvas(10, 5, ascii=True)
    canvas.line((0.5, -5.0), (0.5, 9.0), "value", "solid", 0)
    assert [canvas.line_of(row, Look()) for row in range(5)] == ["     :"] * 5
    canvas.line((-3.0, 2.0), (4.0, 2.0), "value", "solid", 0)
    assert [canvas.line_of(row, Look()) for row in range(5)] == ["     :"] * 5


def test_a_wide_name_is_as_wide_as_it_says() -> None:
    canvas = Canvas(10, 1, ascii=False)
    canvas.write(1, 0, "重", "name")
    canvas.write(5, 0, "x", "name")
    assert canvas.line_of(0, Look()) == " 重  x"
    assert not canvas.is_free(2, 0, 1)


# -- scales ----------------------------------------------------------------------------------------------------------


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300), st.integers(2, 12))
def test_ticks_are_1_2_or_5_apart_and_inside(low: float, high: float, most: int) -> None:
    assume(high - low > 1e-9 * max(abs(low), abs(high), 1e-290))
    found = ticks(Axis("", low, high), most)
    assert len(found) <= most
    assert found == sorted(set(found))
    assert all(low - 1e-8 * (high - low) <= tick <= high + 1e-8 * (high - low) for tick in found)
    assert len(set(labels(found, Look()))) == len(found)
    if len(found) > 2:
        apart = f"{found[1] - found[0]:.6e}"
        assert apart[0] in "125" or apart.startswith(("9.99", "4.99", "1.99"))


@given(st.floats(1e-300, 1e300), st.floats(1e-300, 1e300), st.integers(3, 12))
def test_ticks_of_a_logarithmic_axis_are_powers_of_ten(low: float, high: float, most: int) -> None:
    assume(high > 100 * low)
    found = ticks(Axis("", low, high, log=True), most)
    assert 0 < len(found) <= most
    assert all(f"{tick:.12e}".startswith("1.000000000000e") for tick in found)


@given(st.floats(-10, 10), st.floats(-10, 10), st.floats(-10, 10), st.floats(-10, 10))
def test_a_part_of_a_line_inside_a_box_is_on_the_line_and_inside(a: float, b: float, c: float, d: float) -> None:
    found = inside((a, b), (c, d), (0, 0), (1, 1))
    if found is None:
        steps = [step / 50 for step in range(51)]
        places = [(a + step * (c - a), b + step * (d - b)) for step in steps]
        assert not any(0.001 < x < 0.999 and 0.001 < y < 0.999 for x, y in places)
        return
    for x, y in found:
        assert -1e-9 <= x <= 1 + 1e-9
        assert -1e-9 <= y <= 1 + 1e-9
        assert (x - a) * (d - b) == pytest.approx((y - b) * (c - a), abs=1e-9)


def test_numbers_too_far_apart_for_a_double_have_their_place() -> None:
    assert share(Axis("", -1.7e308, 1.7e308), 0.0) == 0.5
    assert math.isfinite(share(Axis("", 0, 1e-300), 1e300))


# -- SVG -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLOTS)
def test_svg_is_xml_with_title_and_description_and_nothing_that_runs_or_is_fetched(name: str) -> None:
    text = shown(PLOTS[name](), "svg")
    root = ET.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert [child.tag for child in root[:2]] == [f"{SVG}title", f"{SVG}desc"]
    assert all(child.text for child in root[:2])
    assert not any(word in text for word in ("<script", "href", "url(", "@import", "onload", "<image", "foreignObject"))
    assert text.count("http") == 1  # its namespace
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        *("svg", "title", "desc", "style", "g", "rect", "path", "circle", "text"),
    }


def test_svg_follows_whoever_looks_unless_a_ground_is_chosen() -> None:
    found = PLOTS["kink"]()
    both = shown(found, "svg")
    light, dark = (shown(found, "svg", view=View(light=light)) for light in (True, False))
    assert "prefers-color-scheme: dark" in both
    assert "prefers-color-scheme" not in light + dark
    for text in (light, dark):
        fills = dict(re.findall(r"\.f-([a-z]+)\{fill:(#[0-9a-f]{6})\}", text))
        page = fills.pop("page")
        fills.pop("line")  # writes nothing
        assert all(contrast(fill, page) >= 4.5 for fill in fills.values())


def test_svg_escapes_whatever_a_program_is_called() -> None:
    axis = Axis("<x & y>", 0, 1)
    panel = Panel(
        "</svg><script>", axis, axis, [Curve("\u202e\x07", "value", [[(0, 0), (1, 1)]])], [Mark("kink", 0, 0)]
    )
    root = ET.fromstring(shown(Plot("over", "a < b & c", "\ud800", [panel], [], []), "svg"))
    assert root[0].text == "a < b & c"
    assert not list(root.iter(f"{SVG}script"))


def test_svg_is_ascii_where_only_ascii_can_be_written() -> None:
    text = shown(PLOTS["edge"](), "svg", ascii=True)
    assert text.isascii()
    assert "λ" in "".join(ET.fromstring(text).itertext())


def test_no_line_of_the_picture_leaves_its_box() -> None:
    root = ET.fromstring(shown(PLOTS["pole"](), "svg"))
    for box in root.iter(f"{SVG}svg"):
        if box is root:
            continue
        wide, tall = float(box.get("width", "")), float(box.get("height", ""))
        for path in box.iter(f"{SVG}path"):
            for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path.get("d", "")):
                assert -0.03 * wide <= float(x) <= 1.03 * wide
                assert -0.03 * tall <= float(y) <= 1.03 * tall


def test_a_file_is_a_picture_by_its_ending(tmp_path: Path) -> None:
    path = f"{tmp_path}/p.svg"
    code, out, err = call("plot", "x^2", "--over", "x=-1..1", "-o", path)
    assert (code, out, err) == (0, "", "")
    assert ET.parse(path).getroot().tag == f"{SVG}svg"


def test_a_png_is_the_same_picture_twice_as_fine(tmp_path: Path) -> None:
    path = tmp_path / "p.png"
    assert call("plot", "abs(x)", "--over", "x=-1..1", "-o", str(path)) == (0, "", "")
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG")
    wide, high = struct.unpack(">II", data[16:24])
    svg = ET.fromstring(shown(over(Program("abs(x)"), {}, "x", -1, 1), "svg"))
    assert (wide, high) == (2 * int(svg.get("width", "")), 2 * int(svg.get("height", "")))

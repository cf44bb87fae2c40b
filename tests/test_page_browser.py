"""The page in a real browser: every control is used, and what stands there then is compared with a trace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backprop.figures import figure
from backprop.record import Trace
from backprop.render import by_name
from backprop.render.look import Look
from backprop.tracing import trace
from test_page import AT_NEURON, EVIL, NEURON, neuron

pytestmark = pytest.mark.browser

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
ARGUMENTS += ["--disable-component-update", "--disable-sync"]
TEXTS = "(chosen) => [...document.querySelectorAll(chosen)].map((one) => one.textContent)"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        found = driver.chromium.launch(executable_path="/usr/bin/chromium", args=ARGUMENTS)
        yield found
        found.close()


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Shows a trace; at the end nothing may have been said on the console, no dialog and no fault."""
    heard: list[str] = []
    pages: list[Any] = []

    def shown(found: Trace, link: str = "", **options: Any) -> Any:
        path = tmp_path / "page.html"
        path.write_text("".join(f"{line}\n" for line in by_name("html").render(found, Look())), encoding="utf-8")
        view = browser.new_page(**({"viewport": {"width": 1280, "height": 900}} | options))
        view.on("console", lambda message: heard.append(message.text))
        view.on("pageerror", lambda error: heard.append(str(error)))
        view.on("dialog", lambda dialog: (heard.append("dialog"), dialog.dismiss()))
        view.goto(f"{path.as_uri()}{link}")
        pages.append(view)
        return view

    yield shown
    for view in pages:
        view.close()
    assert heard == []


def column(view: Any, table: str, place: int) -> list[str]:
    found: list[str] = view.evaluate(TEXTS, f".bp-{table} tbody tr:not(.bp-group) > :nth-child({place})")
    return found


def agrees(view: Any, found: Trace) -> None:
    assert column(view, "nodes", 3) == [figure(node.value) for node in found.nodes]
    assert column(view, "nodes", 4) == [figure(node.adjoint) for node in found.nodes]
    carrying = [edge for edge in found.edges if edge.partial is not None]
    assert column(view, "edges", 3) == [figure(edge.partial) for edge in carrying]
    assert column(view, "edges", 4) == [figure(edge.contribution) for edge in carrying]
    assert view.evaluate(TEXTS, ".bp-steps li") == [step.text for step in found.steps]


def test_the_page_writes_numbers_as_python_does(show: Any) -> None:
    numbers = [
        0.1,
        1 / 3,
        100000.5,
        100001.5,
        12345.25,
        1e15,
        1e16,
        123456789.5,
        1e-5,
        9.9999995e-5,
        -2.5e-7,
        5e-324,
        1e300,
    ]
    numbers += [n * 1.7**k for n in (-1.0, 0.37, 4.4444449) for k in range(-60, 60)]
    view = show(neuron())
    assert view.evaluate("(all) => all.map(document.querySelector('.bp').backprop.figure)", numbers) == [
        figure(number) for number in numbers
    ]


def test_the_lines_that_the_page_writes_are_those_of_the_trace(show: Any) -> None:
    for found in (neuron(), trace("x*x - |y|/x", {"x": -3, "y": 2}, check=False)):
        view = show(found)
        lines = "document.querySelector('.bp').backprop.written().map((one) => one.text)"
        assert view.evaluate(lines) == [step.text for step in found.steps]


def test_steps_go_forward_and_back_by_buttons_keys_and_a_link(show: Any) -> None:
    found = neuron()
    view = show(found, "#step=7")

    def line() -> str:
        return str(view.text_content(".bp-line"))

    assert line() == found.steps[6].text
    view.click("[data-go=on]")
    assert line() == found.steps[7].text
    view.keyboard.press("ArrowLeft")
    assert line() == found.steps[6].text
    assert view.url.endswith("#step=7")
    view.keyboard.press("End")
    assert line() == found.steps[-1].text
    view.keyboard.press("Home")
    assert view.get_attribute(".bp-slider", "aria-valuetext") == "the whole picture"
    view.fill(".bp-slider", "2")
    assert line() == found.steps[1].text
    assert view.text_content(".bp-program mark") == "x2*w2"
    assert view.locator("svg .bp-boxes > .bp-lit").count() == 1
    assert view.locator(".bp-nodes tr.bp-lit").count() == 1


def test_sliders_work_out_what_a_trace_there_tells(show: Any) -> None:
    view = show(neuron())
    agrees(view, neuron())
    view.fill("input[type=number][data-input='0']", "-1.25")
    agrees(view, trace(NEURON, AT_NEURON | {"x1": -1.25}, check=False))
    view.click(".bp-reset")
    agrees(view, neuron())


def test_forward_mode_tells_the_tangents_of_the_chosen_input(show: Any) -> None:
    view = show(neuron())
    view.click("[data-mode=forward]")
    view.select_option(".bp-by", label="w1")
    found = trace(NEURON, AT_NEURON, mode="forward", wrt=["w1"], check=False)
    assert column(view, "nodes", 4) == [figure(node.tangent) for node in found.nodes]
    assert view.evaluate(TEXTS, ".bp-steps li") == [step.text for step in found.steps]


def test_paths_light_up_and_their_sum_fills(show: Any) -> None:
    view = show(trace("c = a + b; d = b + 1; e = c*d", {"a": 2, "b": 1}, check=False))
    view.click("[data-way=on]")
    view.click("[data-way=on]")
    assert view.text_content(".bp-path-line") == "b → c → e: 1 · 2 = 2, the sum so far 2"
    view.click("[data-way=on]")
    assert view.text_content(".bp-path-line") == "b → d → e: 1 · 3 = 3, the sum so far 5"
    assert view.locator(".bp-bar .bp-filled").count() == 2
    assert view.locator(".bp-arrows > .bp-path").count() == 2


def test_an_edge_tells_its_rule_by_pointer_and_by_tab(show: Any) -> None:
    view = show(neuron())
    view.locator(".bp-arrows > g").nth(0).focus()
    assert view.text_content(".bp-edge-line").startswith("∂v1/∂x1 = w1 = 0.5; it brings ")


def test_a_wrong_evaluator_is_told_in_red(show: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = neuron()
    found.nodes[2].value = 1.5
    view = show(found)
    assert view.text_content(".bp-mismatch li") == "v1: 1 here, 1.5 in the trace"
    assert view.is_disabled("input[type=number][data-input='0']")


def test_no_text_of_a_program_runs(show: Any) -> None:
    found = neuron()
    found.program = found.canonical = EVIL
    view = show(found)
    assert "alert(1)" in view.text_content(".bp-program")
    assert view.locator("script").count() == 2


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_the_page_never_moves_sideways(show: Any, width: int) -> None:
    view = show(neuron(), viewport={"width": width, "height": 740})
    assert view.evaluate("document.documentElement.scrollWidth") == width


def test_without_a_script_everything_can_still_be_read(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("\n".join(by_name("html").render(neuron(), Look())), encoding="utf-8")
    view = browser.new_context(java_script_enabled=False).new_page()
    view.goto(path.as_uri())
    assert view.is_visible("svg")
    assert not view.is_visible("[data-go]")
    assert view.locator(".bp-steps li").count() == len(neuron().steps)
    view.close()

"""The page: one file that asks nothing of any host, holds every number, and lets no text of its author run."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from backprop import page
from backprop.mistakes import TooLargeToDraw
from backprop.page.facts import pieces
from backprop.record import Trace
from backprop.render import by_name
from backprop.render.look import Look
from backprop.tracing import trace
from command import call

NEURON = "z = x1*w1 + x2*w2 + b; h = tanh(z); L = (h - y)^2"
AT_NEURON = {"x1": 2, "w1": 0.5, "x2": -1, "w2": -0.3, "b": 0.1, "y": 1}
EVIL = "</script><script>alert(1)</script><!-- \u2028 ]]> \" '"


def written(found: Trace, **look: Any) -> str:
    return "".join(f"{line}\n" for line in by_name("html").render(found, Look(**look)))


def neuron() -> Trace:
    return trace(NEURON, AT_NEURON, check=False)


def told(text: str) -> dict[str, Any]:
    """What the script is told."""
    found = re.search(r'<script type="application/json">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    record: dict[str, Any] = json.loads(found[1])
    return record


def test_the_content_policy_lets_its_own_style_and_script_run_and_nothing_else() -> None:
    text = written(neuron())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    for name, tag in (("script-src", "<script>(.*?)</script>"), ("style-src", "<style>(.*?)</style>")):
        inside = re.findall(tag, text, re.DOTALL)
        assert len(inside) == 1
        assert f"{name} 'sha256-{b64encode(sha256(inside[0].encode()).digest()).decode()}'" in policy[1]
    assert policy[1].startswith("default-src 'none'")
    assert "unsafe" not in policy[1]
    assert not re.search(r"<[^>]* (?:on\w+|style)=", text.partition("<script>")[0])


@pytest.mark.parametrize(("name", "tag"), [("page.js", "script"), ("style.css", "style")])
def test_the_style_and_the_script_are_there_whole(name: str, tag: str) -> None:
    source = (files(page) / name).read_text(encoding="utf-8")
    source = re.sub(r"(?m)^\s*//.*$|/\*.*?\*/", "\n", source, flags=re.DOTALL if tag == "style" else 0)
    inside = re.search(f"<{tag}>(.*?)</{tag}>", written(neuron()), re.DOTALL)
    assert inside is not None
    asked, there = (re.findall(r"\w+|[^\w\s]", one) for one in (source, inside[1]))
    remaining = iter(there)
    assert all(word in remaining for word in asked)  # in this order


def test_the_page_names_no_host_but_that_of_a_namespace() -> None:
    links = set(re.findall(r"https?://[^\s\"'<>]*", written(neuron())))
    assert links == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\b(?:src|href)=\"(?!#)", written(neuron()))


def test_a_page_of_fifty_nodes_is_small() -> None:
    program = "; ".join(f"a{n + 1} = tanh(a{n}*x{n % 5} + b)" for n in range(15))
    found = trace(program, {"a0": 0.5, "b": 0.1} | {f"x{n}": 0.3 + n / 7 for n in range(5)}, check=False)
    assert 50 <= len(found.nodes) <= 55
    assert len(written(found).encode()) < 118_500


def test_no_text_of_a_program_begins_a_tag() -> None:
    found = neuron()
    found.program = found.canonical = EVIL
    found.nodes[0].formula = EVIL
    for text in (written(found), page.fragment(found, Look())):
        assert text.count("<script") == 2
        assert "alert(1)</script>" not in text
        assert "\u2028" not in text
        assert "<!--" not in text


def test_the_facts_are_the_numbers_of_the_trace() -> None:
    found = neuron()
    record = told(written(found))
    assert [node["v"] for node in record["nodes"]] == [node.value for node in found.nodes]
    assert [node["s"] for node in record["nodes"]] == [node.adjoint for node in found.nodes]
    assert [edge.get("p") for edge in record["edges"]] == [edge.partial for edge in found.edges]


def test_a_page_of_arrays_shows_them_and_says_why_there_are_no_sliders() -> None:
    found = trace("sum(tanh(W @ x))", {"W": [[1, 2], [3, 4]], "x": [1, -1]}, check=False)
    text = written(found)
    assert "No sliders: " in text
    assert "⎡1  2⎤" in text
    assert not told(text)["live"]


@pytest.mark.parametrize(
    ("program", "at", "options"),
    [
        ("log(x)*y", {"x": -1, "y": 2}, {}),
        ("|x|*y", {"x": 0, "y": 2}, {}),
        ("x/3", {"x": 1}, {"kind": "exact"}),
        ("x/3", {"x": 1}, {"kind": "certified"}),
        ("(x*y + z)*x", {}, {"symbolic": True}),
        ("x*y", {"x": 2, "y": 3}, {"mode": "forward", "wrt": ["x"]}),
        ("log(x)", {"x": 0}, {"undefined": "propagate"}),
        ("x*2", {"x": 1e308}, {}),
    ],
)
def test_every_kind_of_point_has_a_page(program: str, at: dict[str, Any], options: dict[str, Any]) -> None:
    if options.pop("undefined", None):
        from backprop.conventions import numbers
        from backprop.kinds import by_name as kind

        options["kind"] = numbers(kind("real"), "propagate", "minimum-norm")
    text = written(trace(program, at, check=False, **options))
    assert text.endswith("</html>\n")
    assert "<svg" in text


def test_brackets_are_put_around_negative_numbers_as_in_the_working() -> None:
    assert pieces("tanh(x)", {"x": 0}) == ["tanh(", [0, 0], ")"]
    assert pieces("x^2", {"x": 0}) == [[0, 1], "^2"]
    assert pieces("a - b*a", {"a": 0, "b": 1}) == [[0, 0], " - ", [1, 1], "*", [0, 1]]


def test_a_graph_that_is_too_large_is_refused_at_once() -> None:
    found = trace(" + ".join(f"{n}*x" for n in range(2, 2000)), {"x": 1}, check=False)
    with pytest.raises(TooLargeToDraw):
        written(found)


def test_an_ascii_page_holds_the_same() -> None:
    text = written(neuron(), ascii=True)
    assert text.isascii()
    assert "&#8706;L/&#8706;w1" in text


def test_a_page_goes_into_no_file_that_is_called_a_picture(tmp_path: Path) -> None:
    code, _, err = call("report", "x*y", "--x", "1", "--y", "2", "-o", str(tmp_path / "page.png"))
    assert (code, list(tmp_path.iterdir())) == (2, [])
    assert "A page is HTML: -o page.html" in err

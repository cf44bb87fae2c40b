"""Formats of the graph for other programs: read back by NetworkX, an XML parser, Graphviz, Mermaid, TeX."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import networkx as nx
import pytest

from backprop.record import Trace
from backprop.record.sweeps import adjoints, tangents
from backprop.render import by_name
from backprop.render.look import Look, View
from backprop.render.typeset import formula, inline, slope, words
from backprop.tracing import trace

SAMPLES = sorted((Path(__file__).parent.parent / "samples").glob("*.bp"))
LESSON = "c = a + b; d = b + 1; e = c*d"
# programs whose names and numbers a format could take for something of its own
HARD: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "words": ("end = node*subgraph; graph = end + digraph; f = graph*edge",
              {"node": 2, "subgraph": 3, "digraph": 1, "edge": 2}, {}),
    "letters": ("α = x*é; θ₁ = α^2; жук = θ₁*x; שלום = жук + w_1; f = שלום*x*x", {"x": 2, "é": 3, "w_1": 4}, {}),
    "forward": (LESSON, {"a": 2, "b": 1}, {"mode": "forward", "wrt": ["b"]}),
    "fractions": ("f = x/3*y*y", {"x": "2/7", "y": "3"}, {"kind": "exact"}),
    "balls": ("f = sin(x)*y/x", {"x": "2", "y": "3"}, {"kind": "certified"}),
    "digits": ("f = sin(x)*y/x", {"x": "2", "y": "3"}, {"kind": "digits:30"}),
    "nan": ("f = sqrt(x)/x", {"x": 0}, {"undefined": "propagate"}),
    "undefined": ("f = sqrt(x)/x", {"x": 0}, {}),
    "branch": ("a = x*x; f = a if a > 2 else log(-x)", {"x": 3}, {}),
    "kink": ("f = abs(x)*max(0, x)", {"x": 0}, {}),
    "rows": ("f = exp2(x)*log1p(x) + hypot(x, 2) + floor(x) + softplus(x) + x % 3 + expm1(x)^2", {"x": 2.5}, {}),
}  # fmt: skip
TEXTS = ("dot", "mermaid", "tikz", "latex", "graphml", "cytoscape", "markdown")


def hard(name: str) -> Trace:
    program, inputs, options = HARD[name]
    return trace(program, inputs, check=False, **options)


def rendered(found: Trace, name: str, **look: Any) -> str:
    return "".join(line + "\n" for line in by_name(name).render(found, Look(**look)))


@pytest.fixture(scope="module")
def every() -> dict[str, Trace]:
    found = {path.stem: trace(path.read_text(encoding="utf-8"), {}, check=False) for path in SAMPLES}
    return {name: one for name, one in found.items() if len(one.nodes) < 500} | {name: hard(name) for name in HARD}


# -- the other pass -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["real", "exact"])
def test_tangents_walked_over_the_partials_are_those_of_forward_mode(kind: str) -> None:
    program = "u = x*y; v = u/x + y^2; f = u*v*v"
    point: dict[str, Any] = {"x": 3, "y": "1/2"}
    for name in ("x", "y"):
        forward = trace(program, point, check=False, kind=kind, mode="forward", wrt=[name])
        walked = tangents(trace(program, point, check=False, kind=kind), name)
        assert walked == {node.id: node.tangent for node in forward.nodes if node.id in walked}
        still = [node.tangent for node in forward.nodes if node.id not in walked]
        assert all(tangent in (None, 0, "0") for tangent in still)


def test_adjoints_walked_over_a_forward_trace_are_those_of_reverse_mode() -> None:
    reverse = trace(LESSON, {"a": 2, "b": 1}, check=False)
    walked = adjoints(hard("forward"))
    assert walked == {"b": 5, "c": 2, "d": 3, "e": 1}  # a does not move, and no partial is there for it
    assert walked == {node.id: node.adjoint for node in reverse.nodes if node.id in walked}


def test_arrays_and_balls_have_no_walk() -> None:
    assert tangents(hard("balls"), "x") == {}
    assert tangents(trace("sum(A @ x)", {"A": [[1, 2]], "x": [1, 2]}, check=False), "x") == {}


def test_both_passes_are_those_of_the_lesson() -> None:
    for found in (trace(LESSON, {"a": 2, "b": 1}, check=False), hard("forward")):
        text = rendered(found, "mermaid", view=View(both=True, direction="right"))
        for box in ("∂b/∂b = 1", "∂c/∂b = 1", "∂e/∂b = 2 · 1 + 3 · 1 = 5", "∂e/∂e = 1", "∂e/∂c = 1 · 2 = 2"):
            assert box in text
        assert "direction LR" in text
        assert "direction RL" in text
        assert "∂a/∂b" not in text


# -- each format ----------------------------------------------------------------------------------------------------


def test_both_edges_of_a_square_are_in_every_format() -> None:
    found = trace("x*x", {"x": 3}, check=False)
    assert rendered(found, "dot").count('"x" -> "f"') == 2
    assert rendered(found, "mermaid").count("n0 -->") == 2
    assert nx.parse_graphml(rendered(found, "graphml")).number_of_edges("x", "f") == 2
    assert nx.cytoscape_graph(json.loads(rendered(found, "cytoscape"))).number_of_edges("x", "f") == 2
    assert rendered(found, "tikz").count(r"\draw[->") == 2


def test_every_format_is_ascii_where_nothing_else_can_be_shown(every: dict[str, Trace]) -> None:
    for name, found in every.items():
        for format in TEXTS:
            assert rendered(found, format, ascii=True).isascii(), (name, format)


def test_graphml_is_read_back_with_typed_numbers(every: dict[str, Trace]) -> None:
    for name, found in every.items():
        text = rendered(found, "graphml")
        ElementTree.fromstring(text)
        graph = nx.parse_graphml(text, force_multigraph=True)
        assert list(graph) == [node.id for node in found.nodes], name
        assert graph.number_of_edges() == len(found.edges)
        for node in found.nodes:
            if type(node.value) is float and node.value == node.value:
                assert graph.nodes[node.id]["value"] == node.value


def test_what_no_double_carries_is_text_in_graphml() -> None:
    texts = {
        name: nx.parse_graphml(rendered(hard(name), "graphml")).nodes["f"] for name in ("fractions", "balls", "nan")
    }
    assert texts["fractions"]["value_text"] == "6/7"
    assert set(json.loads(texts["balls"]["value_text"])) == {"mid", "rad"}
    assert texts["nan"]["value_text"] == "NaN"


def test_cytoscape_json_is_read_back(every: dict[str, Trace]) -> None:
    for name, found in every.items():
        record = json.loads(rendered(found, "cytoscape"))
        graph = nx.cytoscape_graph(record)
        assert set(graph) == {node.id for node in found.nodes}, name
        assert graph.number_of_edges() == len(found.edges)
        ids = [one["data"]["id"] for sort in ("nodes", "edges") for one in record["elements"][sort]]
        assert len(set(ids)) == len(ids)


def test_a_path_stands_out() -> None:
    found = trace(LESSON, {"a": 2, "b": 1}, check=False)
    view = View(path=frozenset({("b", "d", 0), ("d", "e", 1)}))
    assert rendered(found, "dot", view=view).count("penwidth=3") == 2
    places = [str(k) for k, edge in enumerate(found.edges) if (edge.source, edge.target) in (("b", "d"), ("d", "e"))]
    assert f"linkStyle {','.join(places)} " in rendered(found, "mermaid", view=view)
    assert rendered(found, "tikz", view=view).count("draw=path") == 2
    assert rendered(found, "cytoscape", view=view).count('"classes": "path"') == 2


@pytest.mark.parametrize(("direction", "dot"), [("up", "BT"), ("down", "TB"), ("right", "LR")])
def test_the_graph_leads_where_it_is_asked(direction: Any, dot: str) -> None:
    found = trace("x*x", {"x": 3}, check=False)
    assert f"rankdir={dot};" in rendered(found, "dot", view=View(direction=direction))
    assert rendered(found, "mermaid", view=View(direction=direction)).startswith(f"flowchart {dot}\n")


def test_formulas_are_set_as_mathematics() -> None:
    told = {
        "v4^2": "v_{4}^{2}",
        "-0.3*x1": r"-0.3\,x_{1}",
        "exp(x)^2": r"\left(e^{x}\right)^{2}",
        "a if a > 2 else 0": r"\begin{cases} a & \text{if } a > 2 \\ 0 & \text{otherwise} \end{cases}",
        "p (∂L/∂y)ᵀ": r"p\,{\left(\frac{\partial L}{\partial y}\right)}^{T}",
        "[[1, 2], [3, 4]]": r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}",
        "floor(x)": r"\left\lfloor x\right\rfloor",
        "not proven": r"\text{not proven}",
        "z[0].1 + 1": "{{{z}_{0}}}^{(1)} + 1",
    }
    for text, tex in told.items():
        assert "".join(piece for piece, _ in formula(text)).replace(r"{{\left", r"{\left") == tex
    assert inline("x/y") == "x/y"


def test_a_page_leaves_out_a_drawing_that_forges_would_refuse() -> None:
    found = trace(" + ".join(["x*x"] * 200), {"x": 2}, check=False)
    text = rendered(found, "markdown")
    assert len(found.edges) > 500
    assert "```mermaid" not in text
    assert "-o graph.svg" in text


def test_signs_of_tex_are_words() -> None:
    assert words("50% & $x_1 #{}~^\\") == (r"50\% \& \$x\_1 \#\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}")
    assert words("😀") == r"\texttt{U+1F600}"
    assert slope("∂f/∂x #2") == r"\left.\frac{\partial f}{\partial x}\right|_{\#2}"


def test_long_lines_of_latex_are_broken() -> None:
    found = trace(
        " + ".join(f"w{i}*tanh(x)" for i in range(40)), {"x": 1} | {f"w{i}": i for i in range(40)}, check=False
    )
    text = rendered(found, "latex")
    assert max(map(len, re.sub(r"\\[a-z]+|[{}]", "", text).splitlines())) < 140


# -- programs of others ---------------------------------------------------------------------------------------------


def run(*command: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    assert shutil.which(command[0]), f"{command[0]} is not there"
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=cwd)


@pytest.mark.peers
def test_graphviz_draws_every_node_and_edge(every: dict[str, Trace], tmp_path: Path) -> None:
    for name, found in every.items():
        for view in (View(), View(both=True)):
            (tmp_path / "g.dot").write_text(rendered(found, "dot", view=view), encoding="utf-8")
            done = run("dot", "-Tplain", str(tmp_path / "g.dot"))
            assert done.returncode == 0, (name, done.stderr)
            if not view.both:
                lines = [line.partition(" ")[0] for line in done.stdout.splitlines()]
                assert (lines.count("node"), lines.count("edge")) == (len(found.nodes), len(found.edges))


@pytest.mark.peers
def test_tex_sets_every_drawing_and_derivation(every: dict[str, Trace], tmp_path: Path) -> None:
    head = "\\documentclass{article}\\usepackage{amsmath}\\begin{document}\n"
    for name, found in every.items():
        texts = {"drawing": rendered(found, "tikz"), "working": f"{head}{rendered(found, 'latex')}\\end{{document}}\n"}
        for job, text in texts.items():
            (tmp_path / f"{job}.tex").write_text(text, encoding="utf-8")
            done = run("pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{job}.tex", cwd=tmp_path)
            assert done.returncode == 0, (name, job, done.stdout[-900:])
            if job == "drawing":
                assert "(1 page," in done.stdout, name

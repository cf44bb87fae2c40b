"""The page: a trace as one file that a browser shows, with what it needs to work out other points.

    sections                      the program, the working, tables, paths and notes as HTML
    drawn                         the graph as SVG inside it
    facts                         what the script is told, as JSON
    evaluator                     a program at other points, worked out in JavaScript
    style.css, page.js            how it looks, and what it does

Everything can be read without the script, which only moves through what stands there. A page asks nothing of any host:
its content policy lets its own style and its own script run, told by their hashes, and nothing else.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib.resources import files
from math import ceil

from backprop.page import drawn, sections
from backprop.page.facts import PHASES, embedded, facts_of, works_out
from backprop.page.sections import Paths, edge_says, text
from backprop.record import Trace
from backprop.render.look import Look
from backprop.render.picture import picture
from backprop.theme import THEME

# A picture that is wider than its place is made smaller down to this part of its size, then it moves in its box.
SMALLEST = 0.7

HINT = "Point at an edge, or move to it with the Tab key, to see its rule."
AGREES = "The numbers that this page works out agree with the trace."
MOVED = "Worked out in this page. Checks, notes and formulas stay those of the point you asked for."


def document(trace: Trace, look: Look) -> Iterator[str]:
    """The lines of a page by itself. Raises `TooLargeToDraw`."""
    page = _Page(trace, look)
    inside = list(page.inside(1))
    policy = (
        f"default-src 'none'; script-src '{_hash(page.script)}'; style-src '{_hash(page.style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    yield "<!doctype html>"
    yield '<html lang="en">'
    yield "<head>"
    yield '<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="color-scheme" content="light dark">'
    yield f"<title>{text(sections.title(trace))}</title>"
    yield from f"<style>{page.style}</style>".split("\n")
    yield "</head>"
    yield '<body class="bp-body">'
    yield f'<main class="bp" data-backprop="{page.name}" data-page>'
    yield from inside
    yield "</main>"
    yield from f"<script>{page.script}</script>".split("\n")
    yield "</body>"
    yield "</html>"


def fragment(trace: Trace, look: Look) -> str:
    """The same as a piece of a page, for notebooks: it keeps to itself, and its keys work while it has the focus.

    Raises `TooLargeToDraw`.
    """
    page = _Page(trace, look)
    dark = '[data-jp-theme-light="false"] .bp{color-scheme:dark;' + _colours("dark") + "}"
    begin = f'<style>{page.style}{dark}</style>\n<div class="bp" data-backprop="{page.name}">'
    return "\n".join([begin, *page.inside(3), "</div>", f"<script>{page.script}</script>"])


def _sound(trace: Trace) -> Trace:
    """The trace without edges and steps of nodes that it lacks, as a trace from elsewhere may have them."""
    there = {node.id for node in trace.nodes}
    edges = [edge for edge in trace.edges if edge.source in there and edge.target in there]
    steps = [step for step in trace.steps if step.node in there and step.phase in PHASES]
    if len(edges) == len(trace.edges) and len(steps) == len(trace.steps):
        return trace
    return replace(trace, edges=edges, written_steps=steps)


class _Page:
    """The parts of a page. `name` tells it from others: it is the same for the same program at the same point."""

    def __init__(self, trace: Trace, look: Look) -> None:
        from backprop.page.evaluator import evaluator  # it reads the program, and whoever draws need not

        trace = _sound(trace)
        self.trace, self.look = trace, look
        self.picture = picture(trace, look)
        self.evaluator = evaluator(trace)
        told = json.dumps([trace.program, trace.mode, trace.kind, repr(trace.inputs), trace.wrt])
        self.name = f"bp{sha256(told.encode()).hexdigest()[:8]}"

    @property
    def style(self) -> str:
        """The style, with the colours of the theme by their roles. A picture is set smaller, but not beyond reading."""
        least = ceil(self.picture.width * SMALLEST)
        return f'[data-backprop="{self.name}"] svg{{min-width:{least}px}}\n{_style()}'

    @property
    def script(self) -> str:
        """The script, which finds its trace by name: of several that are the same the first that is not begun."""
        source = self.evaluator.source
        evaluate = f"(() => {{\n{_bare(source, True)}return evaluate;\n}})()" if source else "null"
        root = f"document.querySelector('[data-backprop=\"{self.name}\"]:not([data-ready])')"
        begin = f"const root = {root};\nif (root) start(root, {evaluate});"
        return f'"use strict";\n(() => {{\n{_bare(_asset("page.js"), True)}{begin}\n}})();'

    def inside(self, level: int) -> Iterator[str]:
        """The sections, under headings of a level and the next."""
        trace, look, name, under = self.trace, self.look, self.name, level + 1
        leaves = self.evaluator.leaves if self.evaluator.source else ()
        paths = Paths(trace)
        told = facts_of(trace, look, leaves, paths.records())
        told |= {"hint": HINT, "begin": _begin(trace), "agreesText": AGREES, "movedText": MOVED}
        if not told["live"]:
            told["says"] = edge_says(trace, look)
        yield from sections.head(trace, look, level)
        yield '<div class="bp-main">'
        yield f'<section class="bp-graph" aria-labelledby="{name}-graph"><h{under} id="{name}-graph">Graph</h{under}>'
        yield '<div class="bp-picture" tabindex="0" role="region" aria-label="Picture of the graph">'
        yield from drawn.svg(self.picture, name)
        yield "</div>"
        yield '<p class="bp-edge-line" aria-live="polite" data-tools hidden></p></section>'
        yield f'<section class="bp-working" aria-labelledby="{name}-work"><h{under} id="{name}-work">Working</h{under}>'
        yield from sections.stepper(trace, works_out(trace))
        yield from sections.sliders(bool(leaves), self.evaluator.reason)
        yield "</section></div>"
        derivatives = "Gradient" if trace.mode == "reverse" else "Derivatives"
        yield from _section(derivatives, under, sections.gradient(trace, look))
        if paths.groups:
            yield from _section("Paths", under, paths.html(look))
        yield '<div class="bp-pair">'
        yield from _section("Nodes", under, sections.node_table(trace, look))
        yield from _section("Edges", under, sections.edge_table(trace, look))
        yield "</div>"
        yield from _section("All steps", under, sections.steps(trace))
        if trace.notes or trace.birth is not None:
            yield from _section("Notes", under, sections.notes(trace))
        yield f'<script type="application/json">{embedded(told)}</script>'


def _begin(trace: Trace) -> str:
    return "Step through the working: every value, then every " + (
        "tangent." if trace.mode == "forward" else "adjoint."
    )


def _section(title: str, level: int, inside: Iterator[str]) -> Iterator[str]:
    yield f'<section class="bp-section"><h{level}>{title}</h{level}>'
    yield from inside
    yield "</section>"


@cache
def _asset(name: str) -> str:
    return (files(__name__) / name).read_text(encoding="utf-8")


@cache
def _style() -> str:
    source = _bare(_asset("style.css"), is_script=False)
    return source.replace("/*LIGHT*/", _colours("light")).replace("/*DARK*/", _colours("dark"))


def _colours(ground: str) -> str:
    """The colours of the theme that the style uses, by their roles."""
    used = (role for role in THEME if f"var(--{role})" in _asset("style.css"))
    return "".join(f"--{role}:{getattr(THEME[role], ground)};" for role in used)


def _bare(source: str, is_script: bool) -> str:
    """A script or a style without indents and comments; a script without blanks around signs where no text is near."""
    lines = (line.strip() for line in source.splitlines())
    kept = (line for line in lines if line and not line.startswith(("//", "/* ")))
    if is_script:
        kept = (line if _TEXT.search(line) else _BLANKS.sub(r"\1", line) for line in kept)
    return "".join(f"{line}\n" for line in kept)


_TEXT, _BLANKS = re.compile("[\"'`/]"), re.compile(r" ?([-+*=<>!&|?:;,(){}\[\]]+) ?")


def _hash(source: str) -> str:
    """How a content policy names a text: the base64 of its SHA-256 (Content Security Policy Level 3)."""
    return f"sha256-{b64encode(sha256(source.encode()).digest()).decode()}"

"""The sections of a page as HTML: the program, the working, the picture, tables, paths and notes.

All of it can be read without the script, which finds its way by the order of rows, cells and shapes: that of the
trace. `data-k` names a text that depends on the inputs: "g3" the derivative by node 3 (see `TEXTS` in page.js).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from backprop.factors import as_factor
from backprop.figures import shape_text, whole
from backprop.notation import slope
from backprop.path_sums import PathTerm, Routes, count, listing, routes, top, total
from backprop.record import Edge, Trace, Value
from backprop.render.asked_for import point_heading
from backprop.render.blocks import block
from backprop.render.gradients import both_sides, checked, limits_beside
from backprop.render.look import Look
from backprop.render.paths import AT_ENDS, MOST_NODES
from backprop.render.tables import visible
from backprop.render.verdicts import verdict
from backprop.working import NO_VALUE, NOT_TAKEN, is_unproven
from backprop.working.brought import NOT_PROVEN, Brought, Known, carried_along, carries, edge_name, ends, parallel

# So many paths are listed of each variable, and so many in all.
MOST_PATHS_OF_ONE, MOST_PATHS = 24, 36
# A derivative of more letters is read by nobody, and a page of fifty nodes would double.
LONGEST_FORMULA = 200


def text(told: str) -> str:
    """Text as it stands in HTML, also between quotes: it holds no tag, and no letter that would reorder it."""
    return escape(visible(told))


def code(told: str, more: str = "") -> str:
    return f"<code{more}>{text(told)}</code>" if told else ""


def title(trace: Trace) -> str:
    """What the page is about."""
    if trace.mode == "forward":
        return f"{trace.output} and its derivative by {', '.join(trace.wrt)}"
    return f"{trace.output} and its gradient" if trace.wrt else trace.output


# -- the program ------------------------------------------------------------------------------------------------------


def head(trace: Trace, look: Look, level: int) -> Iterator[str]:
    """Title, last word, program and point."""
    said, role = verdict(trace, look)
    yield f'<div class="bp-head"><h{level}>{text(title(trace))}</h{level}>'
    yield f'<p class="bp-verdict bp-{role}">{text(said)}</p>'
    shown, _ = program(trace)
    yield f'<pre class="bp-program" tabindex="0" aria-label="Program">{escape(shown)}</pre>'
    point = [line for line in point_heading(trace, look) if line.strip()]
    if point:
        yield f'<p class="bp-point">{"<br>".join(text(" ".join(line.split())) for line in point)}</p>'
    yield "</div>"


def program(trace: Trace) -> tuple[str, list[int]]:
    """The program as it is shown, and where each of its letters stands there: those out of sight are written out."""
    shown, places = [], []
    size = 0
    for letter in trace.program:
        places.append(size)
        told = letter if letter in "\n\t" else visible(letter)
        shown.append(told)
        size += len(told)
    return "".join(shown).rstrip("\n"), [*places, size]


# -- working -----------------------------------------------------------------------------------------------------------


def steps(trace: Trace) -> Iterator[str]:
    """Every line of working."""
    yield '<ol class="bp-steps" tabindex="0" aria-label="All steps">'
    yield from (f"<li>{text(step.text)}</li>" for step in trace.steps)
    yield "</ol>"


def stepper(trace: Trace, toggles: bool) -> Iterator[str]:
    """The current line, and the buttons that move it; the script shows them, for it alone can serve them."""
    yield "<div data-tools hidden>"
    if toggles and trace.wrt:
        yield '<div class="bp-modes" role="group" aria-label="Mode">'
        for name in ("reverse", "forward"):
            pressed = str(name == trace.mode).lower()
            yield f'<button type="button" data-mode="{name}" aria-pressed="{pressed}">{name.capitalize()}</button>'
        places = {node.id: place for place, node in enumerate(trace.nodes)}
        options = (f'<option value="{places[name]}">{text(name)}</option>' for name in trace.wrt if name in places)
        hidden = " hidden" if trace.mode == "reverse" else ""
        yield f'<label{hidden}>tangents of <select class="bp-by">{"".join(options)}</select></label></div>'
    yield '<p class="bp-where"></p>'
    yield '<p class="bp-line" aria-live="polite"></p>'
    yield '<div class="bp-buttons" role="group" aria-label="Steps">'
    for name, sign, says in BUTTONS:
        yield f'<button type="button" data-go="{name}" aria-label="{says}" title="{says}">{sign}</button>'
    yield '<input class="bp-slider" type="range" min="0" step="1" aria-label="Step">'
    yield '<a class="bp-link" href="#step=0">Link</a></div></div>'


# Each button of the steps: its name, its sign, what it does with the key that does the same.
BUTTONS = (
    ("first", "|&lt;", "To the whole picture (Home)"),
    ("back", "&lt;", "One step back (left arrow)"),
    ("on", "&gt;", "One step on (right arrow)"),
    ("last", "&gt;|", "To the last step (End)"),
)


def sliders(is_there: bool, reason: str) -> Iterator[str]:
    """Where the script puts a slider and a field for each number that can be moved, or why there are none."""
    yield '<div class="bp-inputs" data-tools hidden>'
    if is_there:
        told = "This page works out other numbers than the trace:"
        yield f'<div class="bp-mismatch bp-bad" role="alert" hidden><p>{told}</p></div>'
        yield '<ul></ul><p class="bp-quiet"><button type="button" class="bp-reset">Reset</button> '
        yield '<span class="bp-state"></span></p></div>'
    else:
        yield f'<p class="bp-quiet">No sliders: {text(reason[:1].lower() + reason[1:])}</p></div>'


# -- tables ------------------------------------------------------------------------------------------------------------


def _number(value: Value | None, look: Look, missing: str = "") -> str:
    """A number as it is shown, a matrix in lines."""
    if value is None:
        return missing
    return "\n".join(block(look.figure(value)))


def _table(caption: str, columns: Sequence[str], rows: Iterator[str]) -> Iterator[str]:
    """A table in a box of its own, which a narrow window can move."""
    name = caption.lower()
    yield f'<div class="bp-scroll bp-{name}" tabindex="0" role="region" aria-label="{text(caption)}"><table>'
    yield f"<thead><tr>{''.join(_column(name) for name in columns)}</tr></thead><tbody>"
    yield from rows
    yield "</tbody></table></div>"


def _column(name: str) -> str:
    """The head of a column; one of the two modes is told by the script."""
    key = {"adjoint": "h", "tangent": "h", "brings back": "H", "brings on": "H"}.get(name)
    return f'<th data-k="{key}0">{name}</th>' if key else f"<th>{text(name)}</th>"


def node_table(trace: Trace, look: Look) -> Iterator[str]:
    is_forward = trace.mode == "forward"
    shapes = any(node.shape for node in trace.nodes)
    columns = ["node", *(["shape"] if shapes else []), "formula", "value"]

    def rows() -> Iterator[str]:
        for node in trace.nodes:
            missing = NOT_TAKEN if not node.taken else NO_VALUE if node.proven else NOT_PROVEN
            moved = node.tangent if is_forward else node.adjoint
            cells = [f"<th>{text(node.id)}</th>"]
            cells += [f"<td>{text(shape_text(node.shape or ()))}</td>"] if shapes else []
            cells.append(f"<td>{text(node.formula or '')}</td>")
            cells += [f"<td>{_lines(told)}</td>" for told in (_number(node.value, look, missing), _number(moved, look))]
            yield f"<tr>{''.join(cells)}</tr>"

    yield from _table("Nodes", [*columns, "tangent" if is_forward else "adjoint"], rows())


def _lines(shown: str) -> str:
    """A text of several lines, as it stands in a table."""
    return "\n".join(map(text, shown.split("\n")))


def _cell(key: str, place: int, shown: str) -> str:
    return f'<td data-k="{key}{place}">{_lines(shown)}</td>'


def edge_table(trace: Trace, look: Look) -> Iterator[str]:
    doubled = parallel(edge for edge in trace.edges if carries(edge))
    moved = ", ".join(trace.wrt) if trace.mode == "forward" else None
    known = Known(trace.nodes, look.numbers)

    def rows() -> Iterator[str]:
        for edge in trace.edges:
            if not carries(edge):
                continue
            rule = edge.formula or ""
            if edge.partial is None and edge.pull is not None:
                rule = carried_along(edge, trace.output, moved, known)
            missing = "" if edge.pull is not None else NO_VALUE if edge.proven else NOT_PROVEN
            yield (
                f"<tr><th>{text(edge_name(edge, ends(edge) in doubled))}</th>"
                f"<td>{text(rule)}</td><td>{_lines(_number(edge.partial, look, missing))}</td>"
                f"<td>{_lines(_number(edge.contribution, look))}</td></tr>"
            )

    brings = "brings on" if trace.mode == "forward" else "brings back"
    yield from _table("Edges", ["edge", "rule", "partial", brings], rows())


def edge_says(trace: Trace, look: Look) -> list[str]:
    """What is told of each edge: its rule with numbers, and what it brings."""
    doubled = parallel(edge for edge in trace.edges if carries(edge))
    known, figures = Known(trace.nodes, look.numbers), look.numbers
    is_forward, direction = trace.mode == "forward", ", ".join(trace.wrt)

    def told(edge: Edge) -> str:
        name = edge_name(edge, ends(edge) in doubled)
        if not carries(edge):
            return f"{edge.target} reads {edge.source}; no derivative passes here"
        rule = edge.formula or ""
        if edge.partial is None and edge.pull is not None:
            rule = carried_along(edge, trace.output, direction if is_forward else None, known)
        missing = "" if edge.pull is not None else NO_VALUE
        parts = [name, rule, look.figure(edge.partial) if edge.partial is not None else missing]
        shown = " = ".join(part for place, part in enumerate(parts) if part and part != parts[place - 1])
        if edge.contribution is None:
            return shown
        carried = known.slope(edge.source if is_forward else edge.target)
        at, letter = (slope(edge.source, direction), "t") if is_forward else (slope(trace.output, edge.target), "g")
        put = Brought(edge, carried, at, letter, known).numbers(figures, True)
        where = f"on to {edge.target}" if is_forward else f"back to {edge.source}"
        return f"{shown}; it brings {put} = {look.figure(edge.contribution)} {where}"

    return list(map(told, trace.edges))


def gradient(trace: Trace, look: Look) -> Iterator[str]:
    """The derivatives, who agrees with them, and what lies on both sides of a kink."""
    places = {node.id: place for place, node in enumerate(trace.nodes)}
    columns = [
        "derivative",
        "value",
        *(["formula"] if trace.formulas else []),
        *(["checked"] if trace.witnesses else []),
    ]

    def rows() -> Iterator[str]:
        for name in trace.wrt:
            found = trace.gradient.get(name)
            missing = NOT_PROVEN if is_unproven(trace) else NO_VALUE
            shown = _number(found, look, missing)
            told, role = checked([witness for witness in trace.witnesses if witness.of == name])
            cell = _cell("g", places[name], shown) if name in places else f"<td>{text(shown)}</td>"
            row = f"<th>{text(slope(trace.output, name))}</th>{cell}"
            row += f"<td>{text(_short(trace.formulas.get(name, '')))}</td>" if trace.formulas else ""
            row += f'<td class="bp-{role} bp-there">{text(told)}</td>' if trace.witnesses else ""
            yield f"<tr>{row}</tr>"

    if trace.wrt:
        yield from _table("Gradient", columns, rows())
    for witness in (one for one in trace.witnesses if one.of == "all"):
        told, role = checked([witness])
        of = {"sympy rules": "every edge", "rounding": "double precision"}.get(witness.by, "all inputs at once")
        yield f'<p class="bp-{role} bp-there">{text(f"{of} {told}")}</p>'
    for one in trace.one_sided:
        if one.sort != "smooth":
            yield f'<p class="bp-warning bp-there">{text(both_sides(trace, one, look))}</p>'
    if trace.limits is not None:
        for line in limits_beside(trace, look):
            if line:
                yield f'<p class="bp-warning bp-there">{text(line)}</p>'


def _short(formula: str) -> str:
    return formula if len(formula) <= LONGEST_FORMULA else f"a formula of {len(formula)} letters: backprop diff"


def notes(trace: Trace) -> Iterator[str]:
    yield '<ul class="bp-notes">'
    for note in trace.notes:
        role = {"undefined": "bad", "read-as": "quiet"}.get(note.code, "warning")
        yield f'<li class="bp-{role}">{text(note.text)}</li>'
    if trace.birth is not None:
        yield f"<li>To see it alone: {code(trace.birth.command)}</li>"
    yield "</ul>"


# -- paths ------------------------------------------------------------------------------------------------------------


class Paths:
    """The paths that a page lists, and what is told of all of them."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.groups: list[tuple[Routes, list[PathTerm], int]] = []
        there = {node.id for node in trace.nodes}
        names = [name for name in trace.wrt if {name, trace.output} <= there]  # a trace from elsewhere may lack them
        # between arrays a path is a product of maps, not of numbers
        if any(edge.pull is not None for edge in trace.edges) or any(node.shape for node in trace.nodes):
            names = []
        room = MOST_PATHS
        for found in routes(trace, names, symbolic=trace.kind == "symbol") if names else ():
            how_many = count(found)
            most = min(MOST_PATHS_OF_ONE, room)
            if not how_many or not most:
                continue
            shown: list[PathTerm] = []
            if how_many > most and not found.symbolic:
                shown = top(found, most).paths
            elif how_many:
                shown = [path for path, _ in zip(listing(found), range(most), strict=False)]
            room -= len(shown)
            self.groups.append((found, shown, how_many))
        self.groups.sort(key=lambda group: group[2] > 1)

    def records(self) -> list[tuple[int, list[int]]]:
        """The source and the edges of each path, by their places in the trace."""
        edges = {(edge.source, edge.target, edge.key): place for place, edge in enumerate(self.trace.edges)}
        places = {node.id: place for place, node in enumerate(self.trace.nodes)}
        return [
            (places[found.source_id], [edges[edge.source, edge.target, edge.key] for edge in path.edges])
            for found, shown, _ in self.groups
            for path in shown
        ]

    def html(self, look: Look) -> Iterator[str]:
        doubled = parallel(edge for edge in self.trace.edges if carries(edge))

        def rows() -> Iterator[str]:
            for found, shown, how_many in self.groups:
                if how_many > 1:
                    yield _heading(self._told(found, shown, how_many, look))
                elif found is self.groups[0][0]:
                    yield _heading("one path each, and so its term is the derivative")
                for number, path in enumerate(shown, 1):
                    yield self._row(path, number, doubled, look)

        yield '<div class="bp-buttons" data-tools hidden role="group" aria-label="Paths">'
        for way, says in (("back", "Previous path"), ("on", "Next path"), ("none", "None")):
            yield f'<button type="button" data-way="{way}">{says}</button>'
        yield '<span class="bp-bar" aria-hidden="true"></span></div>'
        yield '<p class="bp-path-line" data-tools hidden aria-live="polite"></p>'
        heads = ["path", "way", "rules" if self.trace.kind == "symbol" else "numbers", "term", "sum so far"]
        yield from _table("Paths", heads, rows())

    def _told(self, found: Routes, shown: Sequence[PathTerm], how_many: int, look: Look) -> str:
        """What is told of all paths of a variable: their sum, and how many there are."""
        told = text(slope(found.target_id, found.source_id))
        if not found.symbolic:
            value = total(found)
            place = next(place for place, node in enumerate(self.trace.nodes) if node.id == found.source_id)
            told += f' = <span data-k="g{place}">{text(look.figure(value)) if value is not None else NO_VALUE}</span>'
        told += f", the sum of {whole(how_many)} paths"
        if len(shown) < how_many:
            told += f"; the {'first' if found.symbolic else 'largest'} {len(shown)} are here"
        return told

    def _row(self, path: PathTerm, number: int, doubled: set[tuple[str, str]], look: Look) -> str:
        steps = [path.routes.source_id]
        for edge in path.edges:
            operand = str(edge.key + 1).translate(_SUBSCRIPTS) if ends(edge) in doubled else ""
            steps.append(f" →{operand} {edge.target}")
        way = "".join(_ends(steps, len(steps), " → … {} nodes …"))
        if path.routes.symbolic:
            return f'<tr><td>{number}</td><td>{text(way)}</td><td colspan="3">{text(path.product)}</td></tr>'
        factors = [look.figure(partial) or NO_VALUE for partial in path.partials]
        factors = [*factors[:1], *map(as_factor, factors[1:])]
        product = " · ".join(_ends(factors, len(steps), "… {} factors …")) or "1"
        term, running = (look.figure(one) if one is not None else NO_VALUE for one in (path.term, path.running))
        return (
            f"<tr><td>{number}</td><td>{text(way)}</td>"
            f"<td>{text(product)}</td><td>{text(term)}</td><td>{text(running)}</td></tr>"
        )


def _ends(pieces: Sequence[str], nodes: int, gap: str) -> Sequence[str]:
    """The pieces of a path of so many nodes; of a long one those at its ends, with what stands between them."""
    if nodes <= MOST_NODES:
        return pieces
    return [*pieces[:AT_ENDS], gap.format(len(pieces) - 2 * AT_ENDS), *pieces[-AT_ENDS:]]


def _heading(told: str) -> str:
    return f'<tr class="bp-group"><th colspan="5" scope="rowgroup">{told}</th></tr>'


_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")

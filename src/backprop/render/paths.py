"""Paths as tables, or as records (`path_records`), a line at a time: there may be more than anyone can wait for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import chain, islice
from typing import Any

from backprop.arrays_text import element_of, indices_of, written
from backprop.factors import as_addend, as_factor, product_of, signed
from backprop.figures import figure, whole
from backprop.mistakes import TermsWithoutSize, UnknownFormat
from backprop.notation import slope
from backprop.path_sums import (
    Factored,
    PathTerm,
    Routes,
    Stretch,
    adjoint,
    agrees,
    answer_apart,
    count,
    factor,
    listing,
    not_proven,
    size_total,
    stretches,
    top,
    total,
    undefined,
)
from backprop.record import Value
from backprop.render.excerpts import LETTERS_AT_ENDS, LONGEST_LINE, some_lines
from backprop.render.json import ascii_json
from backprop.render.kinks import taken
from backprop.render.look import Look
from backprop.render.path_records import csv_lines, json_lines, ndjson_lines
from backprop.render.path_texts import Joined, Texts, figures
from backprop.render.tables import GAP, cells, natural_width, paragraph, table, visible

FORMATS = ("table", "json", "ndjson", "csv")
SHOWS = ("list", "count", "top", "factor")

# So many rows, or so many letters, are found before the first is written; their widths are given to all.
MEASURED, MEASURED_LETTERS = 200, 100_000

# A sum is written out under its table while it is this short, in terms and in letters.
TERMS_IN_A_SUM, LETTERS_IN_A_SUM = 16, 160

# A route of more nodes than this, and a product of as many factors, is told by so many at each end.
MOST_NODES, AT_ENDS = 24, 8

SEE_WHOLE = "--full shows them whole, and so does --format csv, ndjson or json"
LONG_ROUTES = f"of routes of more than {MOST_NODES} nodes the first {AT_ENDS} and last {AT_ENDS} are shown; {SEE_WHOLE}"
LONG_FORMS = f"of what has more than {LONGEST_LINE} letters the first and last {LETTERS_AT_ENDS} are shown; {SEE_WHOLE}"

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def lines(
    found: Sequence[Routes], look: Look, *, format: str = "table", show: str = "list", k: int = 10
) -> Iterator[str]:
    """The lines, without line ends, of what is shown of each of the routes: "list", "count", "top" (k), "factor".

    Raises `UnknownFormat` and `TermsWithoutSize` at once, before a line is asked for.
    """
    if show not in SHOWS:
        raise ValueError(f"no such thing to show: {show}")
    if show == "top" and any(routes.symbolic for routes in found):
        raise TermsWithoutSize
    if format == "table":
        return _tables(found, look, show, k)
    if format not in FORMATS:
        raise UnknownFormat(format, FORMATS)
    given = {"json": json_lines, "ndjson": ndjson_lines, "csv": csv_lines}[format](found, show, k)
    if format == "csv":
        return map(look.letters, given)
    return map(ascii_json, given) if look.ascii else given


def one_row(path: PathTerm, look: Look) -> Texts:
    """Index, route and partials, term and sum so far of one path as the list has them; the formula where no numbers."""
    writer = _Writer(path.routes, look, set())
    return writer.symbolic_row(path.index, path.head + path.tail) if path.routes.symbolic else writer.row(path)


def how_many(number: int, one: str, many: str) -> str:
    """`1 path`, `9 paths`; a number too long to be grasped is also given in short."""
    digits = whole(number)
    short = f" (about {Decimal(number):.6g})" if len(digits) > 15 else ""
    return f"{digits}{short} {one if number == 1 else many}"


# -- tables ----------------------------------------------------------------------------------------------------------


def _tables(found: Sequence[Routes], look: Look, show: str, k: int) -> Iterator[str]:
    """A heading for each source and, where paths lead from it, what is shown of them."""
    trace = found[0].network.trace if found else None
    if trace is not None and trace.opened is not None and any("[" in name for name in found[0].network.ids):
        told = f"The arrays are opened into single numbers, {len(trace.nodes)} nodes; paths lead through these."
        yield from paragraph(look, told, "quiet")
    taken = 0
    cut: set[str] = set()  # what to say of what was left out
    for place, routes in enumerate(found):
        if place < taken:
            continue
        if place and show != "count":
            yield ""
        together = _array(found[place:]) if show == "count" else []
        if together:
            yield from _counts(together, look)
            taken = place + len(together)
            continue
        number = count(routes)
        yield from _heading(routes, look, number)
        if number == 0:
            continue
        if show == "list":
            yield from _list(_Writer(routes, look, cut), number)
        elif show == "top":
            yield from _top(_Writer(routes, look, cut), k)
        elif show == "factor":
            yield from _factor(factor(routes), look, cut)
        elif not routes.symbolic:
            yield from _sum(routes, look)
    for told in sorted(cut):
        yield from paragraph(look, told, "quiet")


def _array(found: Sequence[Routes]) -> list[Routes]:
    """The routes at the start that are those of all elements of one array of an opened trace, row by row."""
    name, at = element_of(found[0].source_id)
    if not at or found[0].network.trace.opened is None:
        return []
    each = [element_of(routes.source_id) for routes in found]
    size = next((place for place, (one, _) in enumerate(each) if one != name), len(each))
    shape = tuple(last + 1 for last in each[size - 1][1])
    whole = size > 1 and each[:size] == [(name, indices_of(shape, place)) for place in range(math.prod(shape))]
    return list(found[:size]) if whole else []


def _counts(found: Sequence[Routes], look: Look) -> Iterator[str]:
    """How many paths lead from each element of an array, and their sums, as arrays."""
    name, last = element_of(found[-1].source_id)
    target, shape = found[0].target_id, [one + 1 for one in last]
    numbers, totals = [count(routes) for routes in found], [total(routes) for routes in found]
    slopes = slope(target, name)
    told = f"{slopes}: {how_many(sum(numbers), 'path', 'paths')} from the elements of {name} to {target}"
    yield from paragraph(look, told, "heading")
    if len(numbers) <= look.most or look.full:
        yield from paragraph(look, written(shape, [whole(number) for number in numbers]))
    else:
        least, most = min(numbers), max(numbers)
        yield from paragraph(look, f"{whole(least)} from each" if least == most else f"{least} to {most} from each")
    if found[0].symbolic:
        return
    if None in totals:
        missing = next(routes for routes, one in zip(found, totals, strict=True) if one is None)
        yield from _sum(missing, look)
        return
    text = f"{slopes} = {look.figure(_nested(shape, totals))}"
    judged = [agrees(routes, one) for routes, one in zip(found, totals, strict=True)]
    if False in judged:
        wrong = found[judged.index(False)]
        told = f"{text}{GAP}✗ the adjoint of {wrong.source_id} is {look.figure(adjoint(wrong))}"
        yield from paragraph(look, told, "bad")
        return
    yield from paragraph(
        look, f"{text}{GAP}✓ the adjoints" if all(judged) else text, "good" if all(judged) else "value"
    )


def _nested(shape: Sequence[int], flat: Sequence[Any]) -> Any:
    """Values row by row as nested lists."""
    rows = list(flat)
    for size in reversed(shape[1:]):
        rows = [rows[at : at + size] for at in range(0, len(rows), size)]
    return rows


def _list(writer: _Writer, number: int) -> Iterator[str]:
    routes, look = writer.routes, writer.look
    running: Value | None = None

    def rows() -> Iterator[Texts]:
        nonlocal running
        for found in stretches(routes):
            running = found.sums[-1]
            yield from writer.rows(found)

    columns = ["", "path", "term"] if routes.symbolic else ["", "path", "partials", "term", "sum so far"]
    yield from _rows(look, writer, columns, rows())
    start = list(islice(listing(routes), TERMS_IN_A_SUM))
    text, role = _closing(writer, number, start, running)
    if text:
        yield from paragraph(look, text, role)


def _heading(routes: Routes, look: Look, number: int) -> Iterator[str]:
    name = slope(routes.target_id, routes.source_id)
    if number == 0:
        text = f"{name} = 0: no path leads from {routes.source_id} to {routes.target_id}"
    else:
        text = f"{name}: {how_many(number, 'path', 'paths')} from {routes.source_id} to {routes.target_id}"
    yield from paragraph(look, text, "heading")


def _closing(writer: _Writer, number: int, start: list[PathTerm], running: Value | None) -> tuple[str, str | None]:
    """The sum written out while it is short, its value, and whether the adjoint agrees; "" when there is no room."""
    routes, look = writer.routes, writer.look
    name = slope(routes.target_id, routes.source_id)
    if routes.symbolic:
        products = [writer.product(path.head + path.tail) for path in start]
        return f"{name} = {_sum_of(products)}" if number <= len(start) else "", None
    missing = undefined(routes)
    if running is None and missing:
        word, instead = _missing(routes), _answer_instead(routes, look)
        what, role = ("is no sum of these terms", "warning") if instead else (f"is {word} here", "bad")
        return f"{name} {what}: {how_many(missing, 'term is', 'terms are')} {word}{instead}", role
    if running is None:
        return f"{name} is {_missing(routes)} here: terms without bound cancel{_answer_instead(routes, look)}", "bad"
    value = look.figure(running)
    text = f"{name} = {value}"
    if number <= len(start):
        products = [writer.numbers(path) for path in start]
        added = " + ".join([products[0], *map(as_addend, products[1:])])
        if added != value and len(added) <= LETTERS_IN_A_SUM:
            text = f"{name} = {added} = {value}"
    return _judged(routes, look, running, text)


def _judged(routes: Routes, look: Look, value: Value | None, text: str) -> tuple[str, str | None]:
    if not_proven(routes):
        return f"{text}, but the value may jump: no slope is proven", "bad"
    known = adjoint(routes)
    same = agrees(routes, value)
    apart = answer_apart(routes)
    if apart is not None:
        trace = routes.network.trace
        by = "in doubles" if routes.source_id in trace.mended else "by the rules"
        by = "over the paths" if trace.kind == "certified" else by
        return f"{text} {by}{_answer_instead(routes, look)}", "warning"
    if same is None:
        return text, "value"
    if same:
        return f"{text}{GAP}✓ the adjoint", "good"
    return f"{text}{GAP}✗ the adjoint is {look.figure(known)}", "bad"


def _missing(routes: Routes) -> str:
    """What a term without a value is called: a ball that cannot tell whether there is one proves nothing."""
    network = routes.network
    proven = network.trace.kind != "certified" or all(edge.proven for edge in network.edges)
    return "undefined" if proven else "not proven"


def _answer_instead(routes: Routes, look: Look) -> str:
    """What the trace answers where the terms do not tell it, and how that is known; "" when it has nothing better."""
    apart = answer_apart(routes)
    if apart is None:
        return ""
    if routes.network.trace.kind == "certified":
        return f"; with the intervals taken apart it is {look.figure(apart)}"
    trace = routes.network.trace
    told = next(taken(trace.output, (one for one in trace.one_sided if one.of == routes.source_id), look), "")
    if told:
        return f"; {told}"
    lost = routes.source_id in trace.mended
    return f"; {'with more digits it' if lost else 'the slope of the values beside the point'} is {look.figure(apart)}"


def _sum_of(addends: Sequence[str]) -> str:
    text = addends[0]
    for addend in addends[1:]:
        text += f" - {addend[1:]}" if addend.startswith("-") else f" + {addend}"
    return text


def _sum(routes: Routes, look: Look) -> Iterator[str]:
    name, value = slope(routes.target_id, routes.source_id), total(routes)
    if value is None:
        missing, word = how_many(undefined(routes), "term is", "terms are"), _missing(routes)
        told = f"{name} is {word} here: {missing} {word}"
        yield from paragraph(look, told + _answer_instead(routes, look), "bad")
        return
    size = f"their sizes add up to {look.figure(size_total(routes))}"
    text = f"{name} = {look.figure(value)}, the sum of every term; {size}"
    yield from paragraph(look, *_judged(routes, look, value, text))


def _top(writer: _Writer, k: int) -> Iterator[str]:
    routes, look = writer.routes, writer.look
    best = top(routes, k)
    rows = ((*writer.row(path)[:-1], _percent(share)) for path, share in zip(best.paths, best.shares, strict=True))
    yield from _rows(look, writer, ["", "path", "partials", "term", "share of size"], rows)
    if best.share is not None:
        shown = "this term carries" if len(best.paths) == 1 else f"these {len(best.paths)} terms carry"
        yield from paragraph(look, f"{shown} {_percent(best.share)} of the size of all terms")
    if missing := undefined(routes):
        yield from paragraph(look, f"left out: {how_many(missing, 'term', 'terms')} undefined here", "warning")


def _percent(share: float | None) -> str:
    return "" if share is None else f"{figure(100 * share, 4)} %"


def _factor(factored: Factored, look: Look, cut: set[str]) -> Iterator[str]:
    routes = factored.routes
    network = routes.network
    number = _number_label(routes, look)
    for node, form in [*factored.names, (routes.source, factored.form)]:
        name = factored.name(node)
        symbols = factored.write(form, network.label)
        text = f"{name} = {symbols}"
        if not routes.symbolic:
            numbers = factored.write(form, number)
            text += f" = {numbers}" if numbers != symbols else ""
            if form is factored.form:
                value = factored.value
                shown = look.figure(value) if value is not None else "undefined here"
                text += f" = {shown}" if numbers != shown else ""
                yield from paragraph(look, *_judged(routes, look, value, _in_part(text, look, cut)))
                continue
        yield from paragraph(look, _in_part(text, look, cut))
    listed = _operations(factored.listed_multiplications, factored.listed_additions)
    taken_out = _operations(factored.multiplications, factored.additions)
    yield from paragraph(look, f"path by path: {listed}")
    yield from paragraph(look, f"factored: {taken_out}")


def _in_part(text: str, look: Look, cut: set[str]) -> str:
    """A line of a factored form, a very long one in part."""
    (shown,) = some_lines([text], look)
    if shown is not text:
        cut.add(LONG_FORMS)
    return shown


def _operations(multiplications: int, additions: int) -> str:
    times = how_many(multiplications, "multiplication", "multiplications")
    return f"{times}, {how_many(additions, 'addition', 'additions')}"


def _number_label(routes: Routes, look: Look) -> Callable[[int], str]:
    edges = routes.network.edges

    def label(edge: int) -> str:
        partial = edges[edge].partial
        return "?" if partial is None else look.figure(partial)

    return label


class _Writer:
    """Paths as rows of text: index, route, partials, term and running sum; in symbols index, route and term.

    Long routes are shortened in the middle unless the look is full; `cut` is told.
    """

    def __init__(self, routes: Routes, look: Look, cut: set[str]) -> None:
        self.routes, self.look, self.cut = routes, look, cut
        self.left_out = 0  # nodes, up to here
        network = routes.network
        self.start = visible(look.letters(routes.source_id))
        self.number = _number_label(routes, look)
        self.figure = figures(look, _missing(routes))
        self.narrow = cells(self.start) == len(self.start)  # every letter takes one column
        self.edges, self.label, self.parallel = network.edges, network.label, network.parallel
        dot = look.letters(" · ")
        self.texts = Joined(self._step, ("", dot, dot))

    def rows(self, found: Stretch) -> Iterator[Texts]:
        """A row for each path."""
        if self.routes.symbolic:
            for index, tail in enumerate(found.tails, found.index):
                yield self.symbolic_row(index, found.head + tail)
            return
        if self._is_long(len(found.head) + max(map(len, found.tails))):
            several = zip(found.tails, found.terms, found.sums, strict=True)
            for index, (tail, term, running) in enumerate(several, found.index):
                yield self._row(index, found.head + tail, term, running)
            return
        way, symbols, numbers = self.texts.along(found.head)
        way, figure, alike = self.start + way, self.figure, symbols == numbers
        rows = zip(self.texts.tails(found), found.terms, found.sums, strict=True)
        for index, ((after, behind, put_in), term, running) in enumerate(rows, found.index):
            partials = numbers + put_in
            if not (alike and behind == put_in):
                partials = f"{symbols}{behind} = {partials}"
            yield str(index), way + after, partials or "1", figure(term), figure(running)

    def symbolic_row(self, index: int, edges: tuple[int, ...]) -> Texts:
        way, _, _ = self._along(edges)
        return str(index), self.start + way, visible(self.look.letters(self.product(edges)))

    def row(self, path: PathTerm) -> Texts:
        """The row of a path by itself."""
        return self._row(path.index, path.head + path.tail, path.term, path.running)

    def _row(self, index: int, edges: tuple[int, ...], term: Value | None, running: Value | None) -> Texts:
        way, symbols, numbers = self._along(edges)
        partials = f"{symbols} = {numbers}" if symbols != numbers else numbers
        return str(index), self.start + way, partials or "1", self.figure(term), self.figure(running)

    def numbers(self, path: PathTerm) -> str:
        """The product in numbers."""
        return self._along(path.head + path.tail)[2] or "1"

    def product(self, edges: tuple[int, ...]) -> str:
        """The product in symbols, as on paper."""
        factors = list(map(self.label, edges))
        if self._is_long(len(edges)) and "0" not in factors:
            negative, written = signed(factors)
            written = [factor for factor in written if factor != "1"]
            if self._is_long(len(written)):
                self.cut.add(LONG_ROUTES)
                gap = _gap(len(written), "factors")
                text = "·".join([*written[: AT_ENDS - 1], gap, *written[-AT_ENDS:]])
                return f"-{text}" if negative else text
        return product_of(factors)

    def _is_long(self, edges: int) -> bool:
        """Whether a route of so many edges, which join one node more, is shown in part."""
        return edges >= MOST_NODES and not self.look.full

    def _along(self, edges: tuple[int, ...]) -> Texts:
        """The way, the symbols and the numbers of a path, of a long one those of its ends."""
        if not self._is_long(len(edges)):
            return self.texts.along(edges)
        self.cut.add(LONG_ROUTES)
        self.left_out += len(edges)
        # the first node stands before its edge and every other behind, so as many nodes are left out as factors
        way, *products = self.texts.along(edges[: AT_ENDS - 1])
        rest, *ends = self.texts.along(edges[-AT_ENDS:], first=False)
        letters = self.look.letters
        way += letters(f" → {_gap(len(edges), 'nodes')}") + rest
        between = letters(f" · {_gap(len(edges), 'factors')} · ")
        return way, *(f"{start}{between}{end}" for start, end in zip(products, ends, strict=True))

    def _step(self, edge: int, first: bool) -> Texts:
        """The arrow to the next node, and the partial as a formula and as a number."""
        record, letters = self.edges[edge], self.look.letters
        arrow = letters("→")
        if self.parallel[edge]:  # told apart by the number of the operand
            operand = str(record.key + 1)
            arrow += f"({operand})" if self.look.ascii else operand.translate(_SUBSCRIPTS)
        symbol, number = visible(letters(as_factor(self.label(edge)))), as_factor(self.number(edge))
        if first:
            symbol, number = (text[1:-1] if text.startswith("(-") else text for text in (symbol, number))
        found = f" {arrow} {visible(letters(record.target))}", symbol, number
        self.narrow = self.narrow and all(cells(text) == len(text) for text in found)
        return found


def _gap(edges: int, what: str) -> str:
    """What stands for the middle of a route of so many edges."""
    return f"… {edges + 1 - 2 * AT_ENDS} {what} …"


def _rows(look: Look, writer: _Writer, columns: Sequence[str], rows: Iterator[Texts]) -> Iterator[str]:
    """A table; in a pipe by a shorter way, for there may be millions of rows: widths come from the first of them."""
    shown = _measured(rows, writer)
    if look.width is not None:
        roles = ["quiet", "name", "formula", "value", None] if len(columns) > 3 else ["quiet", "name", "formula"]
        whole: Iterator[Texts] = chain(shown, rows)
        if len(columns) > 3 and natural_width(look, columns, shown) > look.width:
            whole = _numbers_below(whole)
        yield from table(look, None, columns, whole, roles=roles)
        return
    heads = [look.letters(column) for column in columns]
    widths = [max(map(cells, column)) for column in zip(heads, *shown, strict=True)]
    rule = look.letters("─")
    yield _padded(heads, widths)
    yield _padded([rule * width for width in widths], widths)
    form = GAP.join([*(f"%-{width}s" for width in widths[:-1]), "%s"])
    for row in chain(shown, rows):
        yield (form % row).rstrip() if writer.narrow else _padded(row, widths)


def _measured(rows: Iterator[Texts], writer: _Writer) -> list[Texts]:
    """The first rows: so many that they tell the widths of the others, and few where they or their routes are long."""
    found, letters = [], 0
    for row in islice(rows, MEASURED):
        found.append(row)
        letters += sum(map(len, row))
        if letters + writer.left_out > MEASURED_LETTERS:
            break
    return found


def _numbers_below(rows: Iterator[Texts]) -> Iterator[Texts]:
    """Rows for a narrow screen: the formulas multiplied, and in a row of its own the numbers put in."""
    for number, route, partials, *told in rows:
        symbols, sign, numbers = partials.partition(" = ")
        yield number, route, symbols, *told
        if sign:
            yield "", "", f"= {numbers}"


def _padded(row: Sequence[str], widths: Sequence[int]) -> str:
    return GAP.join(text + " " * (width - cells(text)) for text, width in zip(row, widths, strict=True)).rstrip()

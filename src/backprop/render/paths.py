"""Paths as tables, JSON, JSON lines and CSV, a line at a time: there may be more of them than anyone can wait for."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import chain, islice
from typing import Any

from backprop.arrays_text import element_of, indices_of, written
from backprop.factors import as_addend, as_factor
from backprop.figures import figure, json_value, whole
from backprop.mistakes import TermsWithoutSize, UnknownFormat
from backprop.notation import slope
from backprop.path_sums import (
    Factored,
    PathTerm,
    Routes,
    adjoint,
    agrees,
    answer_apart,
    count,
    factor,
    listing,
    not_proven,
    size_total,
    top,
    total,
    undefined,
)
from backprop.record import Value
from backprop.render.csv import all_digits, csv_line
from backprop.render.json import ascii_json
from backprop.render.kinks import taken
from backprop.render.look import Look
from backprop.render.tables import GAP, cells, natural_width, paragraph, table, visible

FORMATS = ("table", "json", "ndjson", "csv")
SHOWS = ("list", "count", "top", "factor")

# So many rows are found before the first is written; their widths are given to all.
MEASURED = 200

# A sum is written out under its table while it is this short, in terms and in letters.
TERMS_IN_A_SUM, LETTERS_IN_A_SUM = 16, 160

# JSON readers in Python refuse longer whole numbers, so beyond it a count is text.
LARGEST_JSON_DIGITS = 4300

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
    given = {"json": _json, "ndjson": _ndjson, "csv": _csv}[format](found, show, k)
    if format == "csv":
        return map(look.letters, given)
    return map(ascii_json, given) if look.ascii else given


def how_many(number: int, one: str, many: str) -> str:
    """`1 path`, `9 paths`; a number too long to be grasped is also given in short."""
    digits = whole(number)
    short = f" (about {Decimal(number):.6g})" if len(digits) > 15 else ""
    return f"{digits}{short} {one if number == 1 else many}"


# -- tables ----------------------------------------------------------------------------------------------------------


def _tables(found: Sequence[Routes], look: Look, show: str, k: int) -> Iterator[str]:
    """A heading for each source and, where paths lead from it, what is shown of them."""
    trace = found[0].network.trace if found else None
    if trace is not None and trace.opened is not None and any("[" in node.id for node in trace.nodes):
        told = f"The arrays are opened into single numbers, {len(trace.nodes)} nodes; paths lead through these."
        yield from paragraph(look, told, "quiet")
    taken = 0
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
            yield from _list(routes, look, number)
        elif show == "top":
            yield from _top(routes, look, k)
        elif show == "factor":
            yield from _factor(factor(routes), look)
        elif not routes.symbolic:
            yield from _sum(routes, look)


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


def _list(routes: Routes, look: Look, number: int) -> Iterator[str]:
    writer = _Writer(routes, look)
    last: list[PathTerm] = []
    start: list[PathTerm] = []

    def rows() -> Iterator[list[str]]:
        for path in listing(routes):
            if path.index <= TERMS_IN_A_SUM:
                start.append(path)
            last[:] = [path]
            yield writer.row(path)

    columns = ["", "path", "term"] if routes.symbolic else ["", "path", "partials", "term", "sum so far"]
    yield from _rows(look, writer, columns, rows())
    text, role = _closing(routes, look, number, start, last[0])
    if text:
        yield from paragraph(look, text, role)


def _heading(routes: Routes, look: Look, number: int) -> Iterator[str]:
    name = slope(routes.target_id, routes.source_id)
    if number == 0:
        text = f"{name} = 0: no path leads from {routes.source_id} to {routes.target_id}"
    else:
        text = f"{name}: {how_many(number, 'path', 'paths')} from {routes.source_id} to {routes.target_id}"
    yield from paragraph(look, text, "heading")


def _closing(routes: Routes, look: Look, number: int, start: list[PathTerm], last: PathTerm) -> tuple[str, str | None]:
    """The sum written out while it is short, its value, and whether the adjoint agrees; "" when there is no room."""
    name = slope(routes.target_id, routes.source_id)
    if routes.symbolic:
        return f"{name} = {_sum_of([path.product for path in start])}" if number <= len(start) else "", None
    missing = undefined(routes)
    if last.running is None and missing:
        word, instead = _missing(routes), _answer_instead(routes, look)
        what, role = ("is no sum of these terms", "warning") if instead else (f"is {word} here", "bad")
        return f"{name} {what}: {how_many(missing, 'term is', 'terms are')} {word}{instead}", role
    if last.running is None:
        return f"{name} is {_missing(routes)} here: terms without bound cancel{_answer_instead(routes, look)}", "bad"
    value = look.figure(last.running)
    text = f"{name} = {value}"
    if number <= len(start):
        writer = _Writer(routes, look)
        products = [writer.numbers(path) for path in start]
        added = " + ".join([products[0], *map(as_addend, products[1:])])
        if added != value and len(added) <= LETTERS_IN_A_SUM:
            text = f"{name} = {added} = {value}"
    return _judged(routes, look, last.running, text)


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
    return "undefined" if all(edge.proven for edge in routes.network.edges) else "not proven"


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


def _top(routes: Routes, look: Look, k: int) -> Iterator[str]:
    best = top(routes, k)
    writer = _Writer(routes, look)
    rows = ([*writer.row(path)[:-1], _percent(share)] for path, share in zip(best.paths, best.shares, strict=True))
    yield from _rows(look, writer, ["", "path", "partials", "term", "share of size"], rows)
    if best.share is not None:
        shown = "this term carries" if len(best.paths) == 1 else f"these {len(best.paths)} terms carry"
        yield from paragraph(look, f"{shown} {_percent(best.share)} of the size of all terms")
    if missing := undefined(routes):
        yield from paragraph(look, f"left out: {how_many(missing, 'term', 'terms')} undefined here", "warning")


def _percent(share: float | None) -> str:
    return "" if share is None else f"{figure(100 * share, 4)} %"


def _factor(factored: Factored, look: Look) -> Iterator[str]:
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
                yield from paragraph(look, *_judged(routes, look, value, text))
                continue
        yield from paragraph(look, text)
    listed = _operations(factored.listed_multiplications, factored.listed_additions)
    taken_out = _operations(factored.multiplications, factored.additions)
    yield from paragraph(look, f"path by path: {listed}")
    yield from paragraph(look, f"factored: {taken_out}")


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
    """Paths as rows of text. Edges and the tails that many paths share are written once."""

    def __init__(self, routes: Routes, look: Look) -> None:
        self.routes, self.look = routes, look
        network = routes.network
        self.start = visible(look.letters(routes.source_id))
        self.number = _number_label(routes, look)
        self.narrow = cells(self.start) == len(self.start)  # every letter takes one column
        self._steps: dict[int, tuple[str, str, str]] = {}
        self._tails: dict[tuple[tuple[int, ...], bool], tuple[str, str, str]] = {}
        self._head: tuple[int, ...] | None = None
        self._head_texts = ("", "", "")
        self.edges, self.label, self.parallel = network.edges, network.label, network.parallel

    def row(self, path: PathTerm) -> list[str]:
        """Index, route, partials, term and running sum; in symbols index, route and term."""
        look = self.look
        route, symbols, numbers = self.texts(path)
        if self.routes.symbolic:
            return [str(path.index), route, visible(look.letters(path.product))]
        partials = f"{symbols} = {numbers}" if symbols != numbers else numbers
        term = _missing(self.routes) if path.term is None else look.figure(path.term)
        running = _missing(self.routes) if path.running is None else look.figure(path.running)
        return [str(path.index), route, partials or "1", term, running]

    def numbers(self, path: PathTerm) -> str:
        """The product in numbers."""
        return self.texts(path)[2] or "1"

    def texts(self, path: PathTerm) -> tuple[str, str, str]:
        """Route, formulas multiplied, numbers multiplied."""
        if path.head is not self._head:
            self._head = path.head
            self._head_texts = self._joined(path.head, True)
        head = self._head_texts
        first = not path.head
        tail = self._tails.get((path.tail, first))
        if tail is None:
            if len(self._tails) > 10_000:
                self._tails.clear()
            tail = self._tails[path.tail, first] = self._joined(path.tail, first)
        if first or not path.tail:
            only = tail if first else head
            return self.start + only[0], only[1], only[2]
        dot = self.look.letters(" · ")
        return self.start + head[0] + tail[0], head[1] + dot + tail[1], head[2] + dot + tail[2]

    def _joined(self, edges: tuple[int, ...], first: bool) -> tuple[str, str, str]:
        steps = [self._steps.get(edge) or self._step(edge) for edge in edges]
        dot = self.look.letters(" · ")
        symbols = [step[1] for step in steps]
        numbers = [step[2] for step in steps]
        if first and steps:
            symbols[0], numbers[0] = (
                text[1:-1] if text.startswith("(-") else text for text in (symbols[0], numbers[0])
            )
        return "".join(step[0] for step in steps), dot.join(symbols), dot.join(numbers)

    def _step(self, edge: int) -> tuple[str, str, str]:
        record, letters = self.edges[edge], self.look.letters
        arrow = letters("→")
        if self.parallel[edge]:  # told apart by the number of the operand
            operand = str(record.key + 1)
            arrow += f"({operand})" if self.look.ascii else operand.translate(_SUBSCRIPTS)
        symbol = as_factor(self.label(edge))
        self._steps[edge] = found = (
            f" {arrow} {visible(letters(record.target))}",
            visible(letters(symbol)),
            as_factor(self.number(edge)),
        )
        self.narrow = self.narrow and all(cells(text) == len(text) for text in found)
        return found


def _rows(look: Look, writer: _Writer, columns: Sequence[str], rows: Iterator[list[str]]) -> Iterator[str]:
    """A table; in a pipe by a shorter way, for there may be millions of rows: widths come from the first of them."""
    if look.width is not None:
        roles = ["quiet", "name", "formula", "value", None] if len(columns) > 3 else ["quiet", "name", "formula"]
        shown = list(islice(rows, MEASURED))
        whole: Iterator[list[str]] = chain(shown, rows)
        if len(columns) > 3 and natural_width(look, columns, shown) > look.width:
            whole = _numbers_below(whole)
        yield from table(look, None, columns, whole, roles=roles)
        return
    heads = [look.letters(column) for column in columns]
    first = list(islice(rows, MEASURED))
    widths = [max(map(cells, column)) for column in zip(heads, *first, strict=True)]
    rule = look.letters("─")
    yield _padded(heads, widths)
    yield _padded([rule * width for width in widths], widths)
    for row in chain(first, rows):
        yield GAP.join(map(str.ljust, row, widths)).rstrip() if writer.narrow else _padded(row, widths)


def _numbers_below(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    """Rows for a narrow screen: the formulas multiplied, and in a row of its own the numbers put in."""
    for number, route, partials, *told in rows:
        symbols, sign, numbers = partials.partition(" = ")
        yield [number, route, symbols, *told]
        if sign:
            yield ["", "", f"= {numbers}"]


def _padded(row: Sequence[str], widths: Sequence[int]) -> str:
    return GAP.join(text + " " * (width - cells(text)) for text, width in zip(row, widths, strict=True)).rstrip()


# -- records ---------------------------------------------------------------------------------------------------------


def _facts(routes: Routes) -> dict[str, Any]:
    """What is known of the routes without listing them; absent things are absent."""
    record: dict[str, Any] = {"from": routes.source_id, "to": routes.target_id, "count": _whole(count(routes))}
    if routes.symbolic:
        return record
    value = total(routes)
    told = {"sum": value, "size": size_total(routes), "adjoint": adjoint(routes)}
    record |= {name: json_value(number) for name, number in told.items() if number is not None}
    if (same := agrees(routes, value)) is not None:
        record["agrees"] = same
    if missing := undefined(routes):
        record["undefined"] = _whole(missing)
    return record


def _path(path: PathTerm) -> dict[str, Any]:
    record: dict[str, Any] = {"index": path.index, "nodes": path.nodes, "keys": path.keys, "formulas": path.formulas}
    if path.routes.symbolic:
        record["term"] = path.product
        return record
    record["partials"] = [json_value(partial) for partial in path.partials]
    if path.term is not None:
        record["term"] = json_value(path.term)
    if path.running is not None:
        record["sum"] = json_value(path.running)
    return record


def _factored(routes: Routes) -> dict[str, Any]:
    factored = factor(routes)
    label = routes.network.label
    record: dict[str, Any] = {"form": factored.text}
    record["names"] = [
        {"node": routes.network.ids[node], "name": factored.name(node), "form": factored.write(form, label)}
        for node, form in factored.names
    ]
    if factored.value is not None:
        record["value"] = json_value(factored.value)
    record["factored"] = {
        "multiplications": _whole(factored.multiplications),
        "additions": _whole(factored.additions),
    }
    record["listed"] = {
        "multiplications": _whole(factored.listed_multiplications),
        "additions": _whole(factored.listed_additions),
    }
    return record


def _ranked(routes: Routes, k: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    best = top(routes, k)
    records = [
        _path(path) | ({} if share is None else {"share": share})
        for path, share in zip(best.paths, best.shares, strict=True)
    ]
    return ({} if best.share is None else {"share": best.share}), records


def _listed(routes: Routes, show: str, k: int) -> tuple[dict[str, Any], Iterator[dict[str, Any]] | None]:
    """The facts, and the paths where they are shown."""
    record = _facts(routes)
    if show == "list":
        return record, map(_path, listing(routes))
    if show == "top":
        more, records = _ranked(routes, k)
        return record | more, iter(records)
    return (record | _factored(routes) if show == "factor" else record), None


def _json(found: Sequence[Routes], show: str, k: int) -> Iterator[str]:
    """One record with an entry for each source; a path stands on a line of its own, written when it is found."""
    yield '{"format": "backprop-paths", "version": 1,'
    if found:
        trace = found[0].network.trace
        yield f' "program": {_text(trace.program)}, "canonical": {_text(trace.canonical)}, "kind": {_text(trace.kind)},'
    yield ' "routes": ['
    for place, routes in enumerate(found):
        record, listed = _listed(routes, show, k)
        end = "" if place == len(found) - 1 else ","
        text = _text(record)
        if listed is None:
            yield f"  {text}{end}"
            continue
        yield f'  {text[:-1]}, "paths": ['
        held: str | None = None
        for path in listed:
            if held is not None:
                yield f"   {held},"
            held = _text(path)
        if held is not None:
            yield f"   {held}"
        yield f"  ]}}{end}"
    yield " ]"
    yield "}"


def _ndjson(found: Sequence[Routes], show: str, k: int) -> Iterator[str]:
    """For each source a record of `what` "routes", then one of `what` "path" for each path."""
    for routes in found:
        record, listed = _listed(routes, show, k)
        yield _text({"what": "routes"} | record)
        ends = {"what": "path", "from": routes.source_id, "to": routes.target_id}
        for path in listed or ():
            yield _text(ends | path)


def _csv(found: Sequence[Routes], show: str, k: int) -> Iterator[str]:
    """One table of all sources; where a cell holds several things they are parted by blanks."""
    if show in ("count", "factor"):
        yield from _csv_facts(found, show)
        return
    columns = ["from", "to", "index", "path", "keys", "formulas", "partials", "term"]
    yield csv_line([*columns, "sum" if show == "list" else "share"])
    for routes in found:
        shares: Iterator[float | None] | None = None
        if show == "top":
            best = top(routes, k)
            listed, shares = iter(best.paths), iter(best.shares)
        else:
            listed = listing(routes)
        for path in listed:
            ends = [routes.source_id, routes.target_id, str(path.index)]
            ways = [" ".join(path.nodes), " ".join(map(str, path.keys)), " · ".join(path.formulas)]
            partials = "" if routes.symbolic else " ".join(all_digits(value) or "undefined" for value in path.partials)
            term = path.product if routes.symbolic else all_digits(path.term)
            yield csv_line([*ends, *ways, partials, term, all_digits(path.running if shares is None else next(shares))])


def _csv_facts(found: Sequence[Routes], show: str) -> Iterator[str]:
    columns = ["from", "to", "paths", "sum", "size", "adjoint"]
    operations = ["listed multiplications", "listed additions", "multiplications", "additions"]
    yield csv_line([*columns, "name", "form", *operations] if show == "factor" else columns)
    for routes in found:
        told = [total(routes), size_total(routes), adjoint(routes)]
        row = [routes.source_id, routes.target_id, whole(count(routes)), *map(all_digits, told)]
        if show == "count":
            yield csv_line(row)
            continue
        factored = factor(routes)
        for node, form in factored.names:
            blank = [""] * (len(columns) - 2)
            named = [factored.name(node), factored.write(form, routes.network.label)]
            yield csv_line([routes.source_id, routes.target_id, *blank, *named, *[""] * len(operations)])
        costs = [factored.listed_multiplications, factored.listed_additions]
        costs += [factored.multiplications, factored.additions]
        yield csv_line([*row, factored.name(routes.source), factored.text, *map(whole, costs)])


def _text(record: Any) -> str:
    return json.dumps(record, ensure_ascii=False, allow_nan=False)


def _whole(number: int) -> int | str:
    digits = whole(number) if number.bit_length() > 3 * LARGEST_JSON_DIGITS else ""
    return digits if len(digits) > LARGEST_JSON_DIGITS else number

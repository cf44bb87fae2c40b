"""Paths as records: JSON, JSON lines and CSV, a line at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from backprop.factors import product_of
from backprop.figures import json_value, whole
from backprop.path_sums import (
    PathTerm,
    Routes,
    adjoint,
    agrees,
    count,
    factor,
    size_total,
    stretches,
    top,
    total,
    undefined,
)
from backprop.render.csv import all_digits, csv_line
from backprop.render.path_texts import Joined, Texts, json_number

# JSON readers in Python refuse longer whole numbers, so beyond it a count is text.
LARGEST_JSON_DIGITS = 4300


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


def _path_texts(routes: Routes, before: Mapping[str, str]) -> Iterator[str]:
    """What `_path` holds of every path, behind what stands `before`, as text: no record is made of each."""
    network = routes.network
    edges, label, symbolic = network.edges, network.label, routes.symbolic
    number = partial(json_number, text=_text)

    def step(edge: int, _: bool) -> Texts:
        record = edges[edge]
        carried = "" if symbolic else number(record.partial)
        return f", {_text(record.target)}", str(record.key), _text(label(edge)), carried

    joined = Joined(step, ("", ", ", ", ", ", "))
    front = "".join(f"{_text(name)}: {_text(value)}, " for name, value in before.items())
    source = _text(routes.source_id)
    for found in stretches(routes):
        nodes, keys, formulas, partials = joined.along(found.head)
        nodes = f'"nodes": [{source}{nodes}'
        keys, formulas, partials = f'], "keys": [{keys}', f'], "formulas": [{formulas}', f'], "partials": [{partials}'
        rows = zip(joined.tails(found), found.tails, found.terms, found.sums, strict=True)
        for index, ((to, key, formula, carried), tail, term, running) in enumerate(rows, found.index):
            if symbolic:
                end = f'], "term": {_text(product_of(list(map(label, found.head + tail))))}'
            else:
                end = f"{partials}{carried}]"
                if term is not None:
                    end += f', "term": {number(term)}'
                if running is not None:
                    end += f', "sum": {number(running)}'
            yield f'{{{front}"index": {index}, {nodes}{to}{keys}{key}{formulas}{formula}{end}}}'


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


def _listed(
    routes: Routes, show: str, k: int, before: Mapping[str, str] | None = None
) -> tuple[dict[str, Any], Iterator[str] | None]:
    """The facts, and where paths are shown the texts of their records, which begin with what stands `before`."""
    record, before = _facts(routes), before or {}
    if show == "list":
        return record, _path_texts(routes, before)
    if show == "top":
        more, records = _ranked(routes, k)
        return record | more, (_text({**before, **path}) for path in records)
    return (record | _factored(routes) if show == "factor" else record), None


def json_lines(found: Sequence[Routes], show: str, k: int) -> Iterator[str]:
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
            held = path
        if held is not None:
            yield f"   {held}"
        yield f"  ]}}{end}"
    yield " ]"
    yield "}"


def ndjson_lines(found: Sequence[Routes], show: str, k: int) -> Iterator[str]:
    """For each source a record of `what` "routes", then one of `what` "path" for each path."""
    for routes in found:
        ends = {"what": "path", "from": routes.source_id, "to": routes.target_id}
        record, listed = _listed(routes, show, k, ends)
        yield _text({"what": "routes"} | record)
        yield from listed or ()


def csv_lines(found: Sequence[Routes], show: str, k: int) -> Iterator[str]:
    """One table of all sources; where a cell holds several things they are parted by blanks."""
    if show in ("count", "factor"):
        yield from _csv_facts(found, show)
        return
    columns = ["from", "to", "index", "path", "keys", "formulas", "partials", "term"]
    yield csv_line([*columns, "sum" if show == "list" else "share"])
    for routes in found:
        if show == "list":
            yield from _csv_paths(routes)
            continue
        best = top(routes, k)
        joined = _csv_texts(routes)
        for path, share in zip(best.paths, best.shares, strict=True):
            nodes, keys, formulas, partials = joined.along(path.head + path.tail)
            told = [str(path.index), routes.source_id + nodes, keys, formulas, partials]
            yield csv_line([routes.source_id, routes.target_id, *told, all_digits(path.term), all_digits(share)])


def _csv_texts(routes: Routes) -> Joined:
    """The cells of edges: nodes, operands, formulas and partials."""
    edges, label, symbolic = routes.network.edges, routes.network.label, routes.symbolic

    def step(edge: int, _: bool) -> Texts:
        record = edges[edge]
        carried = "" if symbolic else all_digits(record.partial) or "undefined"
        return f" {record.target}", str(record.key), label(edge), carried

    return Joined(step, ("", " ", " · ", "" if symbolic else " "))


def _csv_paths(routes: Routes) -> Iterator[str]:
    joined, label, source = _csv_texts(routes), routes.network.label, routes.source_id
    for found in stretches(routes):
        nodes, keys, formulas, partials = joined.along(found.head)
        rows = zip(found.tails, joined.tails(found), found.terms, found.sums, strict=True)
        for index, (tail, (to, key, formula, carried), term, running) in enumerate(rows, found.index):
            product = product_of(list(map(label, found.head + tail))) if routes.symbolic else all_digits(term)
            told = [str(index), source + nodes + to, keys + key, formulas + formula, partials + carried]
            yield csv_line([source, routes.target_id, *told, product, all_digits(running)])


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

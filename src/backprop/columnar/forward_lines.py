"""Forward lines: what is worked out at each node, as JSON: its formula, the numbers put in, its value."""

from __future__ import annotations

from collections.abc import Iterator

from backprop import progress
from backprop.columnar import Columns
from backprop.columnar.numbers import figure_texts
from backprop.columnar.steps import steps_of
from backprop.columnar.texts import Texts
from backprop.record import json_line


def forward_lines(columns: Columns, texts: Texts) -> Iterator[str]:
    graph, ids, sorts, sort_of, written = columns.graph, texts.ids, texts.sorts, texts.sort_of, texts.written
    codes, offsets, args = graph.codes, graph.offsets, graph.args
    shown = figure_texts(columns.values, columns.figures, columns.propagates)
    for node, number in texts.numbers_put_in():
        shown[node] = number
    for node, code in enumerate(progress.each(codes)):
        if code < 0:
            continue
        sort, name, value = sorts[sort_of[node]], ids[node], shown[node]
        if sort.is_odd or not value:
            yield from map(json_line, steps_of(columns, node, is_reverse=False))
            continue
        first, end = offsets[node], offsets[node + 1]
        if end - first == 2:
            a, b = args[first], args[first + 1]
            formula, numbers = sort.formula(written[a], written[b]), sort.numbers(shown[a], shown[b])
        else:
            some = args[first:end]
            formula, numbers = sort.formula(*[written[a] for a in some]), sort.numbers(*[shown[a] for a in some])
        put_in = f" = {numbers}" if numbers != formula else ""
        out = f" = {value}" if value != numbers else ""
        yield f'{{"phase": "forward", "node": "{name}", "text": "{name} = {formula}{put_in}{out}"}}'

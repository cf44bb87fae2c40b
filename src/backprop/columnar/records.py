"""Records: the nodes and edges of a large trace as JSON, written from its columns."""

from __future__ import annotations

from collections.abc import Iterator

from backprop.columnar import Columns
from backprop.columnar.numbers import json_numbers
from backprop.columnar.sorts import NONE
from backprop.columnar.texts import texts_of
from backprop.graph import CONST
from backprop.record import json_line

# So many nodes are written at a time.
CHUNK = 4096


def node_lines(columns: Columns) -> Iterator[str]:
    """Each node as JSON."""
    texts = texts_of(columns)
    if texts is None or columns.digits is not None or columns.slope_digits is not None:
        yield from (json_line(columns.node(node)) for node in range(len(columns.graph)))
        return
    graph, ids, sorts, sort_of = columns.graph, texts.ids, texts.sorts, texts.sort_of
    codes, offsets, args, starts, ends, written = (
        graph.codes,
        graph.offsets,
        graph.args,
        graph.starts,
        graph.ends,
        texts.written,
    )
    name = "adjoint" if columns.mode == "reverse" else "tangent"
    for begin in range(0, len(codes), CHUNK):
        end = min(begin + CHUNK, len(codes))
        values = json_numbers(columns.values[begin:end], columns.propagates)
        slopes = json_numbers(columns.slopes_in(begin, end), columns.propagates)
        for node, value, slope in zip(range(begin, end), values, slopes, strict=True):
            code = codes[node]
            if not value or (code >= 0 and sorts[sort_of[node]].is_odd):
                yield json_line(columns.node(node))
                continue
            span = f', "span": [{starts[node]}, {ends[node]}]' if ends[node] else ""
            told = f', "{name}": {slope}' if slope else ""
            if code < 0:
                op = "const" if code == CONST else "input"
                yield f'{{"id": "{ids[node]}", "op": "{op}"{span}, "value": {value}{told}}}'
                continue
            sort, first = sorts[sort_of[node]], offsets[node]
            if offsets[node + 1] - first == 2:
                a, b = args[first], args[first + 1]
                yield (
                    f'{{"id": "{ids[node]}", "op": "{sort.op}", "args": ["{ids[a]}", "{ids[b]}"], '
                    f'"formula": "{sort.formula(written[a], written[b])}"{span}, "value": {value}{told}}}'
                )
                continue
            some = args[first : offsets[node + 1]]
            named = '", "'.join([ids[a] for a in some])
            formula = sort.formula(*[written[a] for a in some])
            yield (
                f'{{"id": "{ids[node]}", "op": "{sort.op}", "args": ["{named}"], '
                f'"formula": "{formula}"{span}, "value": {value}{told}}}'
            )


def edge_lines(columns: Columns) -> Iterator[str]:
    """Each edge as JSON."""
    texts = texts_of(columns)
    if texts is None:
        nodes = range(len(columns.graph))
        yield from (json_line(edge) for node in nodes for edge in columns.edges_to(node))
        return
    graph, ids, sorts, sort_of, written = columns.graph, texts.ids, texts.sorts, texts.sort_of, texts.written
    offsets, args, kept = graph.offsets, graph.args, columns.kept
    for begin in range(0, len(graph), CHUNK):
        end = min(begin + CHUNK, len(graph))
        start = offsets[begin]
        partials = json_numbers(columns.partials[start : offsets[end]], columns.propagates)
        brought = json_numbers(columns.contributions_in(start, offsets[end]), columns.propagates)
        for node in range(begin, end):
            first, stop = offsets[node], offsets[node + 1]
            if first == stop:
                continue
            sort, target = sorts[sort_of[node]], ids[node]
            if not sort.labels:
                yield from (json_line(edge) for edge in columns.edges_to(node))
                continue
            for key, place in enumerate(range(first, stop)):
                source = args[place]
                rule = sort.labels[key]
                if kept and place in kept:
                    yield json_line(kept[place])
                    continue
                if rule is NONE:
                    yield f'{{"source": "{ids[source]}", "target": "{target}", "key": {key}}}'
                    continue
                partial, contribution = partials[place - start], brought[place - start]
                told = rule.text
                if not told:
                    if rule.fill is None:
                        told = texts.label(rule, node)
                    elif stop - first == 2:
                        told = rule.fill(written[args[first]], written[args[first + 1]], target)
                    else:
                        told = rule.fill(*[written[a] for a in args[first:stop]], target)
                head = f'{{"source": "{ids[source]}", "target": "{target}", "key": {key}'
                if partial and contribution:
                    yield f'{head}, "partial": {partial}, "formula": "{told}", "contribution": {contribution}}}'
                else:
                    value = f', "partial": {partial}' if partial else ""
                    back = f', "contribution": {contribution}' if contribution else ""
                    yield f'{head}{value}, "formula": "{told}"{back}}}'

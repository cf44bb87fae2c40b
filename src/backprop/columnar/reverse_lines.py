"""Reverse lines: how the adjoint of each node comes about, as JSON: what each edge brings, and the sum."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from backprop import progress
from backprop.columnar import Columns
from backprop.columnar.numbers import figure_texts, one_figure, plain_column
from backprop.columnar.sorts import NONE
from backprop.columnar.steps import steps_of
from backprop.columnar.texts import Texts
from backprop.figures import figure
from backprop.record import json_line
from backprop.working.brought import meeting, shortened, with_gap
from backprop.working.formula_texts import factor


def reverse_lines(columns: Columns, texts: Texts) -> Iterator[str]:
    graph, ids, sorts, sort_of, written = columns.graph, texts.ids, texts.sorts, texts.sort_of, texts.written
    offsets, args, targets = graph.offsets, graph.args, columns.targets
    partials, contributions, figures = (
        plain_column(columns.partials),
        plain_column(columns.contributions),
        columns.figures,
    )
    shape, most = f"%.{figures}g", 10.0 ** min(figures, 15)
    shown = figure_texts(columns.slopes_in(0, len(graph)), figures, columns.propagates)
    top, values = f"∂{columns.output}/∂", plain_column(columns.values)
    first, following = columns.leaving_columns
    for node in progress.each(range(len(graph) - 1, -1, -1)):
        value, name, place = shown[node], ids[node], first[node]
        places: list[int] = []
        terms: list[tuple[str, str, str, str]] = []
        ordinary = value and type(values[node]) in (float, bool)
        while place >= 0:
            target = targets[place]
            start, labels = offsets[target], sorts[sort_of[target]].labels
            rule = labels[place - start] if labels else None
            if rule is not NONE:
                places.append(place)
                partial, adjoint = partials[place], shown[target]
                if rule is None or not adjoint or type(partial) is not float or partial != partial:
                    ordinary = False
                    break
                told = rule.factor
                if not told:
                    if rule.fill_factor is None:
                        told = factor(texts.label(rule, target))
                    elif offsets[target + 1] - start == 2:
                        told = rule.fill_factor(written[args[start]], written[args[start + 1]], ids[target])
                    else:
                        told = rule.fill_factor(*[written[a] for a in args[start : offsets[target + 1]]], ids[target])
                number = shape % partial if -most < partial < most and partial else figure(partial, figures)
                terms.append((ids[target], adjoint, told, f"({number})" if number[0] == "-" else number))
            place = following[place]
        if not places and not value:
            continue
        if not ordinary or not places:
            yield from map(json_line, steps_of(columns, node, is_reverse=True))
            continue
        if len(terms) == 1:
            out, adjoint, told, number = terms[0]
            put_in = f" = {adjoint} · {number}" if number != told else ""
            key = places[0] - offsets[targets[places[0]]]
            yield (
                f'{{"phase": "reverse", "node": "{name}", "text": "{top}{name} = {top}{out} · ∂{out}/∂{name} = '
                f'{adjoint} · {told}{put_in} = {value}", "edge": ["{name}", "{out}", {key}]}}'
            )
            continue
        brought = [
            shape % one
            if type(one := contributions[place]) is float and -most < one < most and one
            else one_figure(columns.contribution(place), figures, columns.propagates)
            for place in places
        ]
        if not all(brought):
            yield from map(json_line, steps_of(columns, node, is_reverse=True))
            continue
        keys = [place - offsets[targets[place]] for place in places]
        marks = _marks([targets[place] for place in places], keys)
        for (out, adjoint, told, number), one, key, mark in zip(terms, brought, keys, marks, strict=True):
            put_in = f" = {adjoint} · {number}" if number != told else ""
            yield (
                f'{{"phase": "reverse", "node": "{name}", "text": "{top}{out} · ∂{out}/∂{name}{mark} = '
                f'{adjoint} · {told}{put_in} = {one}", "edge": ["{name}", "{out}", {key}]}}'
            )
        yield _sum_line(name, top, terms, marks, keys, value)


def _marks(targets: list[int], keys: list[int]) -> list[str]:
    """The number of the operand behind each edge that is not alone between its nodes; edges come target by target."""
    doubled = {one for one, two in pairwise(targets) if one == two}
    return [f" #{key + 1}" if target in doubled else "" for target, key in zip(targets, keys, strict=True)]


def _sum_line(
    name: str, top: str, terms: list[tuple[str, str, str, str]], marks: list[str], keys: list[int], value: str
) -> str:
    """The line that adds up what several edges bring."""
    remark = meeting(name, [out for out, *_ in terms], keys)
    each = shortened(list(zip(terms, marks, strict=True)))
    more = len(terms) - len(each)
    # behind the first one a minus needs brackets
    signed = [f"({term[1]})" if place and term[1][0] == "-" else term[1] for place, (term, _) in enumerate(each)]
    chain = [f"{top}{term[0]} · ∂{term[0]}/∂{name}{mark}" for term, mark in each]
    rules = [f"{adjoint} · {term[2]}" for adjoint, (term, _) in zip(signed, each, strict=True)]
    numbers = [f"{adjoint} · {term[3]}" for adjoint, (term, _) in zip(signed, each, strict=True)]
    parts = [" + ".join(with_gap(part, more)) for part in (chain, rules, numbers)]
    if parts[1] == parts[2]:
        del parts[2]
    text = " = ".join([f"{top}{name}", *parts, value])
    return f'{{"phase": "reverse", "node": "{name}", "text": "{text}   ({remark})"}}'

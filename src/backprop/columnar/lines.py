"""Lines: the JSON of a large trace, written from its columns: no record is made and no rule worked out twice.

Nodes of the same sort (operation, how the operands are written, which of them move) share one `Sort`: their formula,
the labels on their edges and their lines of working are worked out once, by the same functions as those of a small
trace, over places in which names and numbers are then filled. What is out of the ordinary (no value, a branch not
taken, many operands) goes the way of a small trace, record by record. The bytes are the same in every case.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from backprop import ops
from backprop.columnar import Columns
from backprop.figures import Figures, figure, json_value
from backprop.graph import CONST
from backprop.kinds.symbol import label
from backprop.ops import ATOM, PRODUCT, Row
from backprop.record import Step, Value, json_line, json_text
from backprop.rules import formula
from backprop.working import (
    Known,
    factor,
    forward_steps,
    meeting,
    put_numbers_in,
    reverse_steps,
    shortened,
    tangent_steps,
    with_gap,
)
from backprop.writing import level_of_number, written

# So many nodes are written at a time.
CHUNK = 4096
# Rules in which a number is worked out that are kept between the edge and its step.
MOST_KEPT = 200_000
# Operations with more operands than this go the ordinary way.
MOST_OPERANDS = 3

# What a name must look like for its place to be filled in: as nearly all do.
_PLAIN = re.compile(r"[^\W\d]\w*(?:~\d+)?")
# A name, a number that is not negative, one that is, a fraction: what stands in the places while texts are worked out.
_PLACE = re.compile(r"q(\d)qw|7700(\d)|-8800(\d)|5/6600(\d)")

Fill = Callable[..., str]


class Sort:
    """What nodes of one sort share. `labels` has, for each operand, the rule on its edge (`Label`)."""

    __slots__ = ("formula", "is_odd", "labels", "numbers", "op", "row")

    def __init__(self, row: Row, forms: Sequence[Form], moves: tuple[bool, ...], same: Sequence[int]) -> None:
        self.row, self.op = row, row.name
        self.is_odd = len(forms) > MOST_OPERANDS or any(form.is_odd for form in forms)
        self.labels: list[Label] = []
        if len(forms) > MOST_OPERANDS:
            return
        texts = [form.placed(place) for place, form in enumerate(forms)]
        told = written(row, [(text, form.level) for text, form in zip(texts, forms, strict=True)])[0]
        self.formula = filled(told)
        shown = {f"q{place}qw": f"{form.number}{place}" for place, form in enumerate(forms)}
        self.numbers = filled(put_numbers_in(told, shown.get))
        rules = row.rules(moves) if any(moves) else (None,) * len(forms)
        for rule, moved in zip(rules, moves, strict=True):
            self.labels.append(NONE if rule is None or not moved else _label(rule, row, forms, same))


class Form:
    """How a node is written as an operand: by its name or, a constant, as its number; and the sign of its value."""

    __slots__ = ("is_number", "is_odd", "is_word", "level", "sign")

    def __init__(self, is_number: bool, level: int, sign: str, is_word: bool = False, is_odd: bool = False) -> None:
        self.is_number, self.level, self.sign = is_number, level, sign
        self.is_word, self.is_odd = is_word, is_odd

    def placed(self, place: int) -> str:
        """What stands in its place while the texts of a sort are worked out."""
        if not self.is_number:
            return f"q{place}qw"
        return f"{'5/6600' if self.level == PRODUCT else self.number}{place}"

    @property
    def number(self) -> str:
        """What stands in the place of its value."""
        return "-8800" if self.sign else "7700"


class Label:
    """The rule on an edge: a `text` that is always the same, or one to `fill` in; else it is put in for each edge.

    `factor` and `fill_factor` are the same as a factor of a product, in brackets where it needs them.
    """

    __slots__ = ("factor", "fill", "fill_factor", "rule", "text")

    def __init__(self, rule: str = "", text: str = "", fill: Fill | None = None, fill_factor: Fill | None = None):
        self.rule, self.text, self.fill, self.fill_factor = rule, text, fill, fill_factor
        self.factor = factor(text) if text else ""


NONE = Label()


def _label(rule: str, row: Row, forms: Sequence[Form], same: Sequence[int]) -> Label:
    """The label of a rule. `same` says for each operand which one it is the same node as."""
    read = formula(rule, row, len(forms))
    used = {place for place in read.places() if place < len(forms)}
    if any(forms[place].is_number or forms[place].is_word for place in used):
        return Label(rule)  # a number may be worked out with the rule: 2*x^(3 - 1)
    texts = [f"q{same[place]}qw" if place in used else "7" for place in range(len(forms))]
    told = label(rule, row, texts, f"q{len(forms)}qw")
    if _PLACE.search(told) is None:
        return Label(rule, text=told)
    return Label(rule, fill=filled(told), fill_factor=filled(factor(told)))


def filled(text: str) -> Fill:
    """A function that puts texts in the places of a text."""
    bare = text.replace("{", "{{").replace("}", "}}")
    return _PLACE.sub(lambda found: f"{{{found[found.lastindex or 0]}}}", bare).format


def of(columns: Columns) -> Texts | None:
    """The texts of a trace, made once; None where a name is not one whose place can be filled in."""
    if columns.texts is None:
        names = {*columns.graph.names.values(), columns.output}
        if not all(map(_PLAIN.fullmatch, names)):
            return None
        columns.texts = Texts(columns)
    return columns.texts


class Texts:
    """What the lines of a trace are made of: how every node is written, and of which sort it is."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        graph = columns.graph
        self.ids = graph.ids
        self.written = list(graph.ids)
        self.forms: list[Form] = [
            Form(False, ATOM, ""),
            Form(False, ATOM, "-"),
            Form(False, ATOM, "", is_odd=True),
        ]
        self.sorts: list[Sort] = []
        self.sort_of = array("i", [-1]) * len(graph)
        words = {text for text in set(graph.literals.values()) if text[:1].isalpha()}
        # the nodes whose ids are the words of constants: pi, e
        self.words = {one: node for node, one in enumerate(self.ids) if one in words} if words else {}
        self._form_of = bytearray(len(graph))
        self._number_forms: dict[tuple[int, str], int] = {}
        self._worked_out: dict[tuple[int, str], str] = {}
        self._put_in_forms()
        self._put_in_sorts()

    def _put_in_forms(self) -> None:
        graph, form_of = self.columns.graph, self._form_of
        for node, value in enumerate(self.columns.values):
            # "-0" is written 0
            form_of[node] = (1 if value < 0 else 0) if type(value) is float else 0 if type(value) is bool else 2
        named = graph.names
        for node, text in graph.literals.items():
            if graph.codes[node] != CONST or node in named:
                continue
            self.written[node] = text
            sign = "-" if text.startswith("-") else ""
            if text.lstrip("-")[:1].isalpha():
                form_of[node] = self._word(text, sign)
                continue
            key = level_of_number(text), sign
            if key not in self._number_forms:
                self._number_forms[key] = len(self.forms)
                self.forms.append(Form(True, *key))
            form_of[node] = self._number_forms[key]

    def numbers_put_in(self) -> Iterator[tuple[int, str]]:
        """What is put in for a constant that is written as its number: that number as it is."""
        for node, text in self.columns.graph.literals.items():
            if self.forms[self._form_of[node]].is_number:
                yield node, text

    def _word(self, text: str, sign: str) -> int:
        """The form of a constant such as pi, for whose name its number is put in: that of the node with that id."""
        owner = self.words.get(text, -1)
        if sign or self.columns.graph.literals.get(owner) != text:
            return 2
        key = -1, text
        if key not in self._number_forms:
            self._number_forms[key] = len(self.forms)
            self.forms.append(Form(False, ATOM, "", is_word=True))
        return self._number_forms[key]

    def _put_in_sorts(self) -> None:
        columns, form_of, sort_of = self.columns, self._form_of, self.sort_of
        graph, moving = columns.graph, columns.moving
        codes, offsets, args = graph.codes, graph.offsets, graph.args
        places: dict[tuple[int, ...], int] = {}
        for node, code in enumerate(codes):
            if code < 0:
                continue
            first, end = offsets[node], offsets[node + 1]
            if end - first == 2:
                a, b = args[first], args[first + 1]
                key: tuple[int, ...] = (code, form_of[a], form_of[b], moving[a], moving[b], a == b, moving[node])
            elif end - first == 1:
                a = args[first]
                key = (code, form_of[a], moving[a], moving[node])
            elif end - first <= MOST_OPERANDS:
                some = args[first:end]
                key = (code, *(form_of[a] for a in some), *(moving[a] for a in some), moving[node])
                key += tuple(some.index(a) for a in some)
            else:
                key = (code, end - first)
            place = places.get(key, -1)
            if place < 0:
                place = places[key] = len(self.sorts)
                some = args[first:end]
                moves = tuple(bool(moving[a]) for a in some) if moving[node] else (False,) * len(some)
                forms = [self.forms[form_of[a]] for a in some]
                self.sorts.append(Sort(ops.rows()[code], forms, moves, [some.index(a) for a in some]))
            sort_of[node] = place

    def label(self, label_: Label, node: int) -> str:
        """The rule on an edge into a node."""
        graph = self.columns.graph
        first, end = graph.offsets[node], graph.offsets[node + 1]
        texts = [self.written[one] for one in graph.args[first:end]]
        if label_.fill is not None:
            return label_.fill(*texts, self.ids[node])
        if label_.text:
            return label_.text
        # a number that is worked out with the rule takes a while, and is asked for by the edge and by its step
        key = node, label_.rule
        told = self._worked_out.pop(key, None)
        if told is None:
            told = _put_in(label_.rule, graph.codes[node], tuple(texts), self.ids[node])
            if len(self._worked_out) < MOST_KEPT:
                self._worked_out[key] = told
        return told


def _put_in(rule: str, code: int, texts: tuple[str, ...], out: str) -> str:
    row = ops.rows()[code]
    read = formula(rule, row, len(texts))
    if read.single is not None and read.single < len(texts):
        return _alone(texts[read.single])
    return label(rule, row, texts, out)


@lru_cache(maxsize=4096)
def _alone(text: str) -> str:
    """A rule that is one operand."""
    return label("x", ops.by_name("copy"), [text], "out") if text[:1] in frozenset("0123456789-.") else text


# -- numbers --------------------------------------------------------------------------------------------------------


def json_numbers(values: Sequence[Any], propagates: bool = False) -> list[str]:
    """Each number as it stands in JSON; "" where there is none. NaN is one where it `propagates`.

    >>> json_numbers([2.0, -0.0, float("inf"), True, None])
    ['2.0', '0.0', '"Infinity"', 'true', '']
    """
    return [
        repr(value + 0.0) if type(value) is float and value - value == 0 else _json_number(value, propagates)
        for value in values
    ]


def _json_number(value: Any, propagates: bool) -> str:
    """One that may be out of the ordinary."""
    if not isinstance(value, (float, bool)) or (value != value and not propagates):
        return ""
    return json_text(json_value(value))


def figure_texts(values: Sequence[Any], figures: int, propagates: bool = False) -> list[str]:
    """Each number as the lines of working have it; "" where there is none."""
    shape, most = f"%.{figures}g", 10.0 ** min(figures, 15)

    def told(value: Any) -> str:
        return _figure(value, figures, propagates)

    return [
        shape % value if type(value) is float and -most < value < most and value else told(value) for value in values
    ]


def _figure(value: Any, figures: int, propagates: bool) -> str:
    """One that may be out of the ordinary: no number, 0, or a whole one with many digits."""
    is_number = isinstance(value, (float, bool)) and (value == value or propagates)
    return figure(value, figures) if is_number else ""


# -- nodes ----------------------------------------------------------------------------------------------------------


def plain_column(column: Any) -> Sequence[Any]:
    """A column that is quick to look into at any place; of a tape's numbers the bare ones, in which NaN is none."""
    column = getattr(column, "column", column)
    found: Sequence[Any] = getattr(column, "numbers", column)
    return found


def node_lines(columns: Columns) -> Iterator[str]:
    """Each node as JSON."""
    texts = of(columns)
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


# -- edges ----------------------------------------------------------------------------------------------------------


def edge_lines(columns: Columns) -> Iterator[str]:
    """Each edge as JSON."""
    texts = of(columns)
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


# -- steps ----------------------------------------------------------------------------------------------------------


class KnownColumns(Known):
    """What the lines of a node need to know of those around it, looked up in the columns."""

    def __init__(self, columns: Columns, figures: Figures) -> None:
        super().__init__((), figures)
        self._columns = columns

    def number(self, name: str) -> str | None:
        columns = self._columns
        place = columns.places.get(name)
        value = None if place is None else columns.value(place)
        return None if value is None else self._figures.put_in(value)

    def slope(self, name: str) -> Value | None:
        found: Value | None = self._columns.slope(self._columns.places[name])
        return found

    def is_read(self, name: str) -> bool:
        columns = self._columns
        leaving = columns.leaving(columns.places[name])
        return any(columns.slope(columns.targets[place]) is not None for place in leaving)


def steps_of(columns: Columns, node: int, is_reverse: bool) -> list[Step]:
    """The lines of working of one node on the way forward or back, as those of a small trace are made."""
    figures = Figures(columns.figures)
    known, record = KnownColumns(columns, figures), columns.node(node)
    if is_reverse:
        leaving = columns.carrying(node, "source")
        return list(reverse_steps(record, leaving, known.slope, columns.output, figures, known))
    made = list(forward_steps(record, known.number, figures))
    if columns.mode == "forward":
        arriving = columns.carrying(node, "target")
        made += tangent_steps(record, arriving, known.slope, columns.wrt[0], figures, known)
    return made


def step_lines(columns: Columns) -> Iterator[str]:
    """Each line of working as JSON."""
    texts = of(columns)
    if texts is None or columns.mode != "reverse":
        yield from map(json_line, all_steps(columns))
        return
    yield from _forward_lines(columns, texts)
    yield from _reverse_lines(columns, texts)


def all_steps(columns: Columns) -> Iterator[Step]:
    """Each line of working, record by record."""
    nodes = range(len(columns.graph))
    for node in nodes:
        yield from steps_of(columns, node, is_reverse=False)
    if columns.mode == "reverse":
        for node in reversed(nodes):
            yield from steps_of(columns, node, is_reverse=True)


def _forward_lines(columns: Columns, texts: Texts) -> Iterator[str]:
    graph, ids, sorts, sort_of, written = columns.graph, texts.ids, texts.sorts, texts.sort_of, texts.written
    codes, offsets, args = graph.codes, graph.offsets, graph.args
    shown = figure_texts(columns.values, columns.figures, columns.propagates)
    for node, number in texts.numbers_put_in():
        shown[node] = number
    for node, code in enumerate(codes):
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


def _reverse_lines(columns: Columns, texts: Texts) -> Iterator[str]:
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
    for node in range(len(graph) - 1, -1, -1):
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
            else _figure(columns.contribution(place), figures, columns.propagates)
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

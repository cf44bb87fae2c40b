"""Texts: what the lines of a large trace are made of: how every node is written, and of which sort it is."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from functools import lru_cache

from backprop import ops
from backprop.columnar import Columns
from backprop.columnar.sorts import MOST_OPERANDS, Form, Label, Sort
from backprop.graph import CONST
from backprop.kinds.symbol import label
from backprop.ops import ATOM
from backprop.rules import formula
from backprop.writing import level_of_number

# Rules in which a number is worked out that are kept between the edge and its step.
MOST_KEPT = 200_000
# What a name must look like for its place to be filled in: as nearly all do.
_PLAIN = re.compile(r"[^\W\d]\w*(?:~\d+)?")


def texts_of(columns: Columns) -> Texts | None:
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

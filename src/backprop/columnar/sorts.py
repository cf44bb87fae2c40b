"""Sorts: what nodes of the same sort share: operation, how the operands are written, which of them move.

Their formula, the labels on their edges and their lines of working are worked out once, by the same functions as those
of a small trace, over places in which names and numbers are then filled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from backprop.kinds.symbol import label
from backprop.ops import PRODUCT, Row
from backprop.rules import formula
from backprop.working.formula_texts import factor, put_numbers_in
from backprop.writing import written

# Operations with more operands than this go the ordinary way.
MOST_OPERANDS = 3

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

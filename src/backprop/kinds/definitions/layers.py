"""Layers: what the layers of a network are made of."""

from __future__ import annotations

import math
from typing import Any

from backprop.kinds import Misfit
from backprop.kinds.definitions.reductions import Reductions
from backprop.kinds.shapes import elements, said, shape_of

LAYERNORM_EPSILON = "1e-5"


class Layers(Reductions):
    """Softmax and its kin, losses, and normalisation."""

    def softmax(self, x: Any, axis: Any) -> Any:
        return self.each("exp", self.log_softmax(x, axis))

    def log_softmax(self, x: Any, axis: Any) -> Any:
        place = self.axis(x, axis)
        return self.each("sub", x, self.expand(self.logsumexp(x, place), place))

    def one_hot(self, x: Any, n: Any) -> Any:
        classes = self.whole(n, "a number of classes")
        if classes < 1:
            raise Misfit(f"there is at least one class, not {classes}")
        self.afford((*shape_of(x), classes), "the result")
        made = self.broadcast(self.base.number("0"), (math.prod(shape_of(x)), classes))
        one = self.base.number("1")
        for row, place in enumerate(self.whole(one, "a class number") for one in elements(x)):
            if not 0 <= place < classes:
                raise Misfit(
                    f"there is no class {place} ({{0}}): the {classes} classes are counted from 0 to {classes - 1}"
                )
            made[row, place] = one
        return made.reshape((*shape_of(x), classes))

    def cross_entropy(self, x: Any, y: Any) -> Any:
        logits, labels = shape_of(x), shape_of(y)
        if not logits:
            raise Misfit("{0} is one number: cross_entropy takes a vector of scores, or rows of them")
        if labels not in (logits, logits[:-1]):
            raise Misfit(
                f"{{0}} is {said(logits)}, {{1}} is {said(labels)}: they have no rows in common",
                f"The targets are class numbers, {said(logits[:-1])}, or probabilities, {said(logits)}.",
            )
        shares = self.log_softmax(x, -1)
        if labels == logits:
            chosen = list(elements(self.total(self.each("mul", y, shares), -1)))
        else:
            rows = shares.reshape(-1, logits[-1])
            chosen = []
            for row, place in zip(rows, (self.whole(one, "a class number") for one in elements(y)), strict=True):
                if not 0 <= place < logits[-1]:
                    raise Misfit(
                        f"there is no class {place} ({{1}}): {{0}} is {said(logits)}, and its {logits[-1]} classes "
                        f"are counted from 0 to {logits[-1] - 1}"
                    )
                chosen.append(row[place])
        loss = self.each("neg", self.fold("add", chosen))
        return loss if len(chosen) == 1 else self.each("div", loss, self.base.number(str(len(chosen))))

    def mse(self, x: Any, y: Any) -> Any:
        if shape_of(x) != shape_of(y):
            raise Misfit(f"{{0}} is {said(shape_of(x))}, {{1}} is {said(shape_of(y))}: mse compares two of one shape",
                         "Broadcast, it is written mean(({0} - {1})^2).")  # fmt: skip
        return self.mean(self.each("pow", self.each("sub", x, y), self.base.number("2")))

    def layernorm(self, x: Any) -> Any:
        self.axis(x, -1)
        apart = self.each("sub", x, self.expand(self.mean(x, -1), -1))
        variance = self.mean(self.each("pow", apart, self.base.number("2")), -1)
        spread = self.each("sqrt", self.each("add", variance, self.base.number(LAYERNORM_EPSILON)))
        return self.each("div", apart, self.expand(spread, -1))

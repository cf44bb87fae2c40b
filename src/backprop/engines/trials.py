"""Trials: the functions that a careful walk asks seldom, where numbers moved by what they are wrong by have to tell.

    hangs_3_1(x0, w0, out)         whether a branch hangs on what the operands of row 3 are wrong by
    trial_3_1_0(x0, w0, p0, out)   what the partial in its first operand is wrong by

A row is told by its code and the number of its operands; x are their values, w what these are wrong by, p the partials.
"""

from __future__ import annotations

from collections.abc import Sequence

from backprop import ops
from backprop.accuracy.rounding import plain_rules
from backprop.engines.shapes import Shapes, distances, patterns, rule_alone
from backprop.engines.statements import Number, Statements
from backprop.engines.walks import Functions
from backprop.ops import Row
from backprop.rules import Formula, rules


class Trials(Functions):
    """The functions `hangs_` and `trial_`, of those operations that need them."""

    def write(self, shapes: Shapes) -> list[str]:
        """The lines of all of them."""
        for code, arity in shapes:
            row = ops.rows()[code]
            if row.kink:
                self._hangs(row, arity)
            if plain_rules(code) is None:
                for position in range(arity):
                    self._trial(row, arity, position)
        return self.lines

    def _hangs(self, row: Row, arity: int) -> None:
        """Whether a corner, a jump or a boundary is as near as the operands are wrong: 1, 0, and 2 for no answer."""
        names = [f"{stem}{k}" for stem in ("x", "w") for k in range(arity)]
        out = self.function(f"hangs_{row.code}_{arity}", [*names, "out"], "return 2")
        for k in range(arity):
            out.add(f"m{k} = w{k} * UNIT")
        out.add(f"reach = {' + '.join(f'm{k}' for k in range(arity))}")
        with out.block("if not reach < INF:"):
            out.add("return 1")
        if all(one.indicator for one in distances(row.code, arity)):
            out.add("return 0")
            self.put(out)
            return
        known = [out.leaf(f"x{k}") for k in range(arity)] + [out.leaf("out")]
        for distance in distances(row.code, arity):
            found = out.kept(out.formula(distance, known))
            out.refuse(found)
            with out.block(f"if abs({found.text}) <= reach:"):
                out.add("return 1")
        ends = []
        for name, sign in (("low", "-"), ("high", "+")):
            for k in range(arity):
                out.add(f"{name}{k} = x{k} {sign} m{k}")
            operands = [out.leaf(f"{name}{k}") for k in range(arity)]
            ends.append(out.kept(out.value(row, operands)))
            out.add(f"{name} = {ends[-1].text}")
            with out.block(f"if {name} - {name} != 0.0:"):
                out.add("return 2")
        out.add("return 1 if abs(high - low) > 0.25 * abs(out) + 4 * reach else 0")
        self.put(out)

    def _trial(self, row: Row, arity: int, position: int) -> None:
        """What a partial is wrong by: its own rounding, and how far its rule moves with what its operands are wrong by.

        A partial that is NaN is that of an operand that does not move.
        """
        if rule_alone(row.code, arity, position) is None:
            return
        names = [f"{stem}{k}" for stem in ("x", "w", "p") for k in range(arity)]
        out = self.function(f"trial_{row.code}_{arity}_{position}", [*names, "out"], "return INF")
        out.add("moved = out")
        out.add("sign = 1.0")
        for k in range(arity):
            out.add(f"y{k} = x{k}")
            with out.block(f"if w{k} != 0.0 or p{k} == p{k}:"):
                with out.block(f"if not w{k} < INF:"):
                    out.add("return INF")
                out.add(f"step = sign * max(w{k}, 4 * abs(x{k})) * UNIT")
                out.add(f"y{k} = x{k} + step")
                with out.block(f"if p{k} == p{k}:"):
                    out.add(f"moved = moved + p{k} * step")
                out.add("sign = -sign")
        known = [out.leaf(f"y{k}") for k in range(arity)] + [out.leaf("moved")]
        ways = [moves for moves in patterns(row.code, arity) if moves[position]]
        out.add("there = INF")
        if len(ways) == 1:
            self._try(out, rules(row.code, ways[0])[position], known)
        else:
            for place, moves in enumerate(ways):
                told = " and ".join(
                    f"p{k} {'==' if one else '!='} p{k}" for k, one in enumerate(moves) if k != position
                )
                with out.block(f"{'elif' if place else 'if'} {told}:"):
                    self._try(out, rules(row.code, moves)[position], known)
        with out.block("if there - there != 0.0:"):
            out.add("return INF")
        out.add(f"return abs(p{position}) + abs(there - p{position}) / UNIT")
        self.put(out)

    def _try(self, out: Statements, rule: Formula | None, known: Sequence[Number]) -> None:
        assert rule is not None
        if not self.python:
            out.add(f"there = {out.formula(rule, known).text}")
            return
        with out.block("try:"):
            out.add(f"there = {out.formula(rule, known).text}")
        with out.block("except (ArithmeticError, ValueError):"):
            out.add("return INF")

"""Careful walks: value, partials and adjoints, and what values and adjoints may be wrong by.

They look for lost digits: what `accuracy.rounding` works out of numbers that are there, these work out on the way, to
the last bit the same. `tape` tells what each of them takes; what they ask for seldom is in `trials`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from backprop import ops
from backprop.accuracy.rounding import CUT_OFF, FEW, LITTLE, plain_rules
from backprop.engines.columns import BRANCH, DECLINED
from backprop.engines.shapes import Shapes, patterns, rule_alone, signs
from backprop.engines.statements import Number, Statements
from backprop.engines.walks import Walks, place_of
from backprop.ops import Row
from backprop.rules import Formula, rules

FORWARD = ("codes", "offsets", "args", "values", "partials", "moving", "told", "exact_zero", "wrong", "strain")
BACKWARD = (
    "codes", "offsets", "args", "partials", "adjoints", "values", "exact_zero", "of_values", "strain", "wrong",
)  # fmt: skip
# What a step of each takes: where it is, and the columns behind codes and offsets.
STEP_FORWARD = ("node", "first", *FORWARD[2:])
STEP_BACKWARD = ("node", "first", "adjoint", "carried", "size", *BACKWARD[2:])


class CarefulWalks(Walks):
    """The walks `careful_forward` and `careful_backward`.

    For a machine each operation is a function: a compiler's time grows with the square of a function.
    """

    def write(self, shapes: Shapes) -> list[str]:
        """The lines of both."""
        self._forward(shapes)
        self._backward(shapes)
        return self.lines

    def _steps(
        self, walk: str, given: Sequence[str], shapes: Shapes, write: Callable[[Statements, Row, int], None]
    ) -> None:
        """Each operation of a walk as a function."""
        for code, arity in shapes:
            out = self.function(f"{walk}_{code}_{arity}", given)
            write(out, ops.rows()[code], arity)
            out.add("return 0")
            self.put(out)

    def _call(self, out: Statements, step: str, given: Sequence[str]) -> None:
        """The call of such a function."""
        with out.block(f"if {step}({', '.join(given)}) == {DECLINED}:"):
            out.add(out.fail)

    # -- forward

    def _forward(self, shapes: Shapes) -> None:
        if not self.python:
            self._steps("forward", STEP_FORWARD, shapes, self._step_forward)
        with self.forward_walk("careful_forward", FORWARD) as out:
            for row, arity in self.onward(out, shapes):
                if self.python:
                    self._step_forward(out, row, arity)
                else:
                    self._call(out, f"forward_{row.code}_{arity}", STEP_FORWARD)
            self.others_fail(out, shapes)

    def _step_forward(self, out: Statements, row: Row, arity: int) -> None:
        """One operation on the way forward; w0, w1 are what its operands are wrong by."""
        operands = self.operands(out, arity)
        self.result(out, row, operands, True)
        known = [*operands, out.leaf("out")]
        away = self.kink(out, row, arity, known)
        for k in range(arity):
            out.add(f"w{k} = wrong[i{k}]")
        if len(patterns(row.code, arity)) == 1:
            for k, rule in enumerate(rules(row.code, (True,) * arity)):
                if rule is not None:
                    self._partial(out, row, k, rule, known, away)
        else:
            for moves in self.ways(out, row, arity):
                for k, rule in enumerate(rules(row.code, moves)):
                    if rule is not None:
                        self.rule(out, k, rule, known)
                        self._put_partial(out, row, k, rule, away)
                    else:
                        self._still(out, row, arity, k, known)
                out.add("moving[node] = 1")
            with out.block("else:"):
                for k in range(arity):
                    self._still(out, row, arity, k, known)
        self._wrong(out, row, arity)

    def _partial(self, out: Statements, row: Row, k: int, rule: Formula, known: Sequence[Number], away: str) -> None:
        """The partial on one edge, if it leads to something that moves."""
        # an error goes on through an operand that does not move; a slope of 1 needs no name for that
        still = rule.constant not in ("1", "-1")
        if still:
            with out.block(f"if moving[i{k}] or w{k} != 0.0:"):
                self.rule(out, k, rule, known)
        with out.block(f"if moving[i{k}]:"):
            if not still:
                self.rule(out, k, rule, known)
            self._put_partial(out, row, k, rule, away)
            out.add("moving[node] = 1")

    def _put_partial(self, out: Statements, row: Row, k: int, rule: Formula, away: str) -> None:
        """Put a partial in its place; that of a branch not taken is marked."""
        place = place_of(k)
        out.add(f"partials[{place}] = p{k}")
        if not row.locally_constant or (rule.constant is not None and rule.constant != "0"):
            return
        with out.block(f"if p{k} == 0.0{' and ' + away if away else ''}:"):
            out.add(f"exact_zero[{place}] = 1")

    def _still(self, out: Statements, row: Row, arity: int, k: int, known: Sequence[Number]) -> None:
        """The slope in an operand that does not move, if that is wrong: its error goes on all the same."""
        rule = rule_alone(row.code, arity, k)
        if rule is not None:
            with out.block(f"if w{k} != 0.0:"):
                self.rule(out, k, rule, known)

    def _wrong(self, out: Statements, row: Row, arity: int) -> None:
        """What the value may be wrong by, from what its operands are wrong by; see `accuracy.rounding`."""
        out.add("size = total = abs(out)")
        if row.kink:
            with out.block(f"if {' or '.join(f'x{k} == out' for k in range(arity))}:"):
                out.add("total = 0.0")
        out.add("apart = 0.0")
        ways = patterns(row.code, arity)
        for k in range(arity):
            with out.block(f"if w{k} != 0.0:"):
                rule = rules(row.code, ways[0])[k]
                unit = rule is not None and len(ways) == 1 and rule.constant in ("1", "-1")
                none = rule is None and len(ways) == 1
                if unit:
                    out.add(f"total += w{k}")
                    out.add(f"large = abs(x{k})")
                    out.add(f"apart += w{k} / large if w{k} <= {FEW} and w{k} <= {FEW} * large else INF")
                    continue
                if not none:
                    with out.block(f"if p{k} != 0.0:"):
                        out.add(f"passed = abs(p{k})")
                        out.add(f"total += passed * w{k}")
                        out.add(f"large = abs(x{k})")
                        told = f"w{k} <= {FEW} and w{k} <= {FEW} * large"
                        told += " and (passed == 1.0 or passed * large >= 1e-3 * size)"
                        out.add(f"apart += w{k} / large if {told} else INF")
                with out.block("else:" if not none else "if True:"):
                    out.add("apart = INF")
                    with out.block(f"if w{k} == INF:"):
                        out.add("total = INF")
        out.add("strain[node] = apart")
        if row.kink:
            given = ", ".join(f"{stem}{k}" for stem in ("x", "w") for k in range(arity))
            with out.block("if apart != 0.0:"):
                out.add(f"hangs = hangs_{row.code}_{arity}({given}, out)")
                with out.block("if hangs == 2:"):
                    out.add(out.fail)
                with out.block(f"if hangs == 1 and told[{BRANCH}] < 0:"):
                    out.add(f"told[{BRANCH}] = node")
        with out.block("if not total < INF:"):
            out.add("total = INF")
        with out.block("elif size < SMALLEST:"):
            given = " or ".join(f"(w{k} == 0.0 and x{k} == 0.0)" for k in range(arity))
            exact = row.name in CUT_OFF or plain_rules(row.code) in ((None,), (None, None))
            with out.block("if out != 0.0:" if exact else f"if not (out == 0.0 and ({given})):"):
                out.add("total += LEAST")
        out.add("wrong[node] = total")

    # -- backward

    def _backward(self, shapes: Shapes) -> None:
        if not self.python:
            self._steps("backward", STEP_BACKWARD, shapes, self._step_backward)
        out = self.function("careful_backward", BACKWARD)
        with out.block("for node in range(len(codes) - 1, -1, -1):"):
            out.add("adjoint = adjoints[node]")
            out.add("code = codes[node]")
            with out.block("if code < 0 or adjoint != adjoint:"):
                out.add("continue")
            out.add("first = offsets[node]")
            out.add("carried = wrong[node]")
            out.add("size = abs(adjoint)")
            for row, arity in self.branches(out, shapes):
                if self.python:
                    self._step_backward(out, row, arity)
                else:
                    self._call(out, f"backward_{row.code}_{arity}", STEP_BACKWARD)
        out.add("return 0")
        self.put(out)

    def _step_backward(self, out: Statements, row: Row, arity: int) -> None:
        """One operation on the way back, with what it makes of the errors of adjoint and partials."""
        brought = signs(row.code, arity)
        if any(sign is not None for sign in brought.values()):
            out.add("unit = size + carried")
            with out.block("if not unit < INF:"):
                out.add("unit = INF")
            with out.block("elif size < SMALLEST and size != 0.0:"):
                out.add("unit += LEAST")
        for k in range(arity):
            out.add(f"i{k} = args[{place_of(k)}]")
        for k, sign in brought.items():
            edge = place_of(k)
            out.add(f"slope = partials[{edge}]")
            with out.block("if slope == slope" + (f" and not exact_zero[{edge}]:" if row.locally_constant else ":")):
                out.add(f"source = i{k}")
                out.add(f"brought = {'adjoint * slope' if sign is None else f'{sign}adjoint'} + 0.0")
                self._total(out)
                if sign is None:
                    self._error(out, row, arity, k)
                else:
                    out.add("wrong[source] += unit")

    def _total(self, out: Statements) -> None:
        """Where edges meet, contributions add."""
        out.add("before = adjoints[source]")
        out.add("total = brought if before != before else before + brought + 0.0")
        with out.block("if total - total != 0.0:"):
            out.add(out.fail)
        out.add("adjoints[source] = total")

    def _error(self, out: Statements, row: Row, arity: int, k: int) -> None:
        """What an adjoint may be wrong by, from what one edge brings; see `accuracy.rounding`."""
        places = plain_rules(row.code)
        out.add("error = large = abs(brought)")
        with out.block("if carried != 0.0:"):
            with out.block("if slope != 0.0:"):
                out.add("error += carried * abs(slope)")
            with out.block("elif carried == INF:"):
                out.add("error = INF")
        place = None if places is None else places[k]
        if place is not None:
            with out.block("if size != 0.0:"):
                out.add(f"error += size * of_values[{f'i{place}' if place < arity else 'node'}]")
        elif places is None:
            with out.block("if size != 0.0:"):
                out.add("passed = abs(slope)")
                with out.block("if passed < SMALLEST:"):
                    out.add("error += size * LEAST")
                out.add("apart = strain[node]")
                told = "passed * abs(values[source]) >= 1e-3 * abs(values[node])"
                with out.block(f"if apart <= {LITTLE} and {told}:"):
                    out.add("error += large * (1 + 4 * apart)")
                with out.block("else:"):
                    self._of_partial(out, row, arity, k)
        with out.block("if not error < INF:"):
            out.add("error = INF")
        with out.block("elif large < SMALLEST and not (slope == 0.0 or adjoint == 0.0):"):
            out.add("error += LEAST")
        out.add("wrong[source] += error")

    def _of_partial(self, out: Statements, row: Row, arity: int, k: int) -> None:
        """What a partial is wrong by, where its rule has to tell; nothing where the rule is a number."""
        given = [f"values[i{one}]" for one in range(arity)]
        given += [f"of_values[i{one}]" for one in range(arity)]
        given += [f"partials[first + {one}]" for one in range(arity)]
        ways = [moves for moves in patterns(row.code, arity) if moves[k]]
        head = "if"
        for moves in ways:
            rule = rules(row.code, moves)[k]
            assert rule is not None
            if rule.constant is not None:
                text = ""
            elif rule.single is not None:
                place = rule.single
                text = f"of_values[{f'i{place}' if place < arity else 'node'}]"
            else:
                text = f"trial_{row.code}_{arity}_{k}({', '.join(given)}, values[node])"
            line = f"error += size * {text}" if text else "pass"
            if len(ways) == 1:
                out.add(line)
                return
            told = " and ".join(
                f"partials[first + {one}] {'==' if moved else '!='} partials[first + {one}]"
                for one, moved in enumerate(moves)
                if one != k
            )
            with out.block(f"{head} {told}:"):
                out.add(line)
            head = "elif"

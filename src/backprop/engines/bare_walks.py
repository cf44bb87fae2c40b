"""Bare walks: value, partials and adjoints, and nothing about how wrong they may be (`tape` tells what each takes)."""

from __future__ import annotations

from collections.abc import Sequence

from backprop.engines.shapes import Shapes, constants, patterns, signs
from backprop.engines.statements import Number, Statements
from backprop.engines.walks import Walks, place_of
from backprop.kinds.real import REAL
from backprop.ops import Row
from backprop.rules import Formula, rules


class BareWalks(Walks):
    """The walks `value`, `constants`, `forward` and `backward`, for a machine `backward_straight` too."""

    def write(self, shapes: Shapes) -> list[str]:
        """The lines of all of them."""
        self._value(shapes)
        self._constants(shapes)
        self._forward(shapes)
        if self.python:
            self._backward(shapes)
        else:
            self._backward_along_edges()
        return self.lines

    def _value(self, shapes: Shapes) -> None:
        with self.forward_walk("value", ["codes", "offsets", "args", "values"]) as out:
            for row, arity in self.onward(out, shapes):
                operands = [out.leaf(f"values[args[{place_of(k)}]]") for k in range(arity)]
                known = [out.named(f"x{k}", one) for k, one in enumerate(operands)]
                self.result(out, row, known, self.python)
            self._end(out, shapes)

    def _constants(self, shapes: Shapes) -> None:
        with self.forward_walk("constants", ["codes", "offsets", "args", "partials", "moving"]) as out:
            for row, arity in self.onward(out, shapes):
                for k, number in constants(row.code, arity).items():
                    with out.block(f"if moving[args[{place_of(k)}]]:"):
                        out.add(f"partials[{place_of(k)}] = {out.number(REAL.number(number)).text}")

    def _forward(self, shapes: Shapes) -> None:
        names = ["codes", "offsets", "args", "values", "partials", "moving", "told"]
        with self.forward_walk("forward", names) as out:
            for row, arity in self.onward(out, shapes):
                self._step_forward(out, row, arity)
            self._end(out, shapes)

    def _end(self, out: Statements, shapes: Shapes) -> None:
        """The end of the loop of a walk forward.

        A machine looks at all results in one place, so that it may work out value and partial together: sin and cos.
        """
        self.others_fail(out, shapes)
        if self.python or not shapes:
            return
        with out.block("else:"):
            out.add("continue")
        with out.block("if out - out != 0.0:"):
            out.add(out.fail)

    def _step_forward(self, out: Statements, row: Row, arity: int) -> None:
        """One operation on the way forward."""
        operands = self.operands(out, arity)
        self.result(out, row, operands, self.python)
        known = [*operands, out.leaf("out")]
        self.kink(out, row, arity, known)
        if len(patterns(row.code, arity)) == 1:
            for k, rule in enumerate(rules(row.code, (True,) * arity)):
                if rule is not None and rule.constant is None:  # what is constant `constants` has put there
                    self._partial(out, k, rule, known)
            return
        for moves in self.ways(out, row, arity):
            for k, rule in enumerate(rules(row.code, moves)):
                if rule is not None:
                    self.rule(out, k, rule, known)
                    self._put_partial(out, k)

    def _partial(self, out: Statements, k: int, rule: Formula, known: Sequence[Number]) -> None:
        """The partial on one edge, if it leads to something that moves."""
        if self.python or (rule.single is None and len(known) > 2):
            with out.block(f"if moving[i{k}]:"):
                self.rule(out, k, rule, known)
                self._put_partial(out, k)
            return
        # what nothing moves may have a partial too, of which nothing comes: a machine is quicker without a choice
        out.add(f"p{k} = {out.formula(rule, known).text}")
        if rule.single is None:
            with out.block(f"if p{k} - p{k} != 0.0:"):
                with out.block(f"if moving[i{k}]:"):
                    out.add(out.fail)
                out.add(f"p{k} = 0.0")
        self._put_partial(out, k)

    def _put_partial(self, out: Statements, k: int) -> None:
        out.add(f"partials[{place_of(k)}] = p{k}")

    def _backward(self, shapes: Shapes) -> None:
        out = self.function("backward", ["codes", "offsets", "args", "partials", "adjoints"])
        with out.block("for node in range(len(codes) - 1, -1, -1):"):
            out.add("adjoint = adjoints[node]")
            with out.block("if adjoint - adjoint != 0.0:"):
                out.add(out.fail)
            out.add("code = codes[node]")
            with out.block("if code < 0 or adjoint == 0.0:"):
                out.add("continue")
            out.add("first = offsets[node]")
            for row, arity in self.branches(out, shapes):
                self._step_backward(out, row, arity)
        out.add("return 0")
        self.put(out)

    def _step_backward(self, out: Statements, row: Row, arity: int) -> None:
        """One operation on the way back."""
        for k, sign in signs(row.code, arity).items():
            edge = place_of(k)
            out.add(f"slope = partials[{edge}]")
            with out.block("if slope != 0.0:"):
                out.add(f"adjoints[args[{edge}]] += {'adjoint * slope' if sign is None else f'{sign}adjoint'}")

    def _backward_along_edges(self) -> None:
        """Without errors every edge is alike: a machine is quickest where there is no choice.

        What is not finite is looked for later, where it goes (`fast.Views.bare`).
        """
        out = self.function("backward", ["order", "targets", "sources", "partials", "adjoints"])
        with out.block("for place in range(len(order)):"):
            out.add("adjoints[sources[place]] += adjoints[targets[place]] * partials[order[place]]")
        out.add("return 0")
        self.put(out)
        out = self.function("backward_straight", ["targets", "sources", "partials", "adjoints"])
        with out.block("for edge in range(len(targets) - 1, -1, -1):"):
            out.add("adjoints[sources[edge]] += adjoints[targets[edge]] * partials[edge]")
        out.add("return 0")
        self.put(out)

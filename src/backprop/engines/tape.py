"""The tape: the source of a program that walks over a graph once forward and once back, written from the rows.

    value(codes, offsets, args, values)                        the value beside each node
    constants(codes, offsets, args, partials, moving)          the partials that are numbers, whatever the values are
    forward(codes, offsets, args, values, partials, moving, told)      value, and the other partials
    backward(codes, offsets, args, partials, adjoints)                        the adjoint of each node

where a 0 stands for a partial and an adjoint that are not there, and `moving` is known. For a machine `backward` is

    backward(order, targets, sources, partials, adjoints)      the edges from the last node to the first, with both ends
    backward_straight(targets, sources, partials, adjoints)    the same, where the order within a node does not show

(`unordered`), and each step of a careful walk is a function. And with what values and adjoints may be wrong by, as
`accuracy.rounding` tells it, to the last bit,

    careful_forward(codes, offsets, args, values, partials, moving, told, exact_zero, wrong, strain)
    careful_backward(codes, offsets, args, partials, adjoints, values, exact_zero, of_values, strain, wrong)

where a NaN stands for what is not there, and `moving` and `exact_zero` are found out. `told` is filled with the first
node at a kink, and the first that hangs on digits that may be wrong, where there is one. A walk gives `DECLINED` where
it declines, else 0.

The source is the same in Python and in numba but for what a failure is; the names that it calls are put under it by
`plain` and `fast`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product

from backprop import ops
from backprop.accuracy.rounding import CUT_OFF, DOUBLE, FEW, LITTLE, plain_rules
from backprop.engines.statements import Number, Statements
from backprop.kinds.real import REAL
from backprop.ops import Moving, Row
from backprop.rules import Formula, formula, rules

# Where the rules hang on which operands move, each pattern is written out.
MOST_PATTERNS = 3

DECLINED = -2
KINK, BRANCH = 0, 1  # the places in `told`

HEAD = f"""\
INF = float("inf")
NAN = float("nan")
UNIT = {DOUBLE.unit!r}
LEAST = {DOUBLE.least!r}
SMALLEST = {DOUBLE.smallest_normal!r}
"""


class Shape(tuple[int, int]):
    """A row by its code, with so many operands."""

    @property
    def row(self) -> Row:
        return ops.rows()[self[0]]


def is_written(row: Row, arity: int) -> bool:
    """Whether a tape can have a row: one of numbers, without conditions."""
    if row.arrays or row.conditions or row.gives_condition or row.settings:
        return False
    return not _hangs_on_moves(row.code, arity) or arity <= MOST_PATTERNS


@lru_cache(maxsize=1024)
def _hangs_on_moves(code: int, arity: int) -> bool:
    """Whether the rule for an operand is another one when others move."""
    row = ops.rows()[code]
    if not callable(row.partials) and not callable(row.stable):
        return False
    if arity > MOST_PATTERNS:
        return True
    for position in range(arity):
        texts = {
            None if (rule := rules(code, moves)[position]) is None else rule.text
            for moves in product((False, True), repeat=arity)
            if moves[position]
        }
        if len(texts) > 1:
            return True
    return False


def _patterns(code: int, arity: int) -> list[Moving]:
    """The ways in which operands move that have rules of their own."""
    if not _hangs_on_moves(code, arity):
        return [(True,) * arity]
    found = [moves for moves in product((True, False), repeat=arity) if any(moves)]
    return sorted(found, key=lambda moves: -sum(moves))


@lru_cache(maxsize=1024)
def distances(code: int, arity: int) -> tuple[Formula, ...]:
    """What is 0 where a row has a kink."""
    row = ops.rows()[code]
    return tuple(formula(text, row, arity) for text in row.kinks(arity))


def _signs(code: int, arity: int) -> dict[int, str | None]:
    """For each operand that has a rule "" or "-" where its partial is 1 or -1, and brings the adjoint itself; else
    None."""
    alone = {k: rules(code, tuple(k == one for one in range(arity)))[k] for k in range(arity)}
    if plain_rules(code) is None:
        return {k: None for k, rule in alone.items() if rule is not None}
    return {k: {"1": "", "-1": "-"}.get(rule.constant or "") for k, rule in alone.items() if rule is not None}


@lru_cache(maxsize=1024)
def unordered(code: int) -> bool:
    """Whether two equal operands bring the same, as those of a sum and of a product do: either may come first."""
    row = ops.rows()[code]
    if row.variadic or len(row.parameters) != 2 or _hangs_on_moves(code, 2):
        return False
    one, other = rules(code, (True, True))
    if one is None or other is None:
        return False
    if one.single is not None and other.single is not None:
        return one.single < 2 and other.single < 2
    return one.constant is not None and one.constant == other.constant


def _constants(code: int, arity: int) -> dict[int, str]:
    """The operands whose partial is one number, with its text."""
    patterns = _patterns(code, arity)
    if len(patterns) > 1:
        return {}
    found = enumerate(rules(code, patterns[0]))
    return {k: rule.constant for k, rule in found if rule is not None and rule.constant is not None}


class Tape:
    """The source for some rows. `python` says that failures raise exceptions, as they do in Python."""

    def __init__(self, python: bool, head: str = "", decoration: str = "") -> None:
        self.python, self.decoration = python, decoration
        self.calls: set[str] = set()
        self.lines = [*head.splitlines(), *HEAD.splitlines(), ""]

    def source(self, shapes: Sequence[tuple[int, int]], careful: Iterable[bool] = (False, True)) -> str:
        """The whole module. `shapes` are (code, arity), those that are met most often first."""
        kinds = list(careful)
        if True in kinds:
            for shape in shapes:
                self._helpers(*shape)
        self._values(shapes)
        self._constants(shapes)
        for each in kinds:
            self._forward(shapes, each)
            self._backward(shapes, each)
        return "\n".join(self.lines) + "\n"

    # -- what is asked for seldom, in functions of its own

    def _function(self, name: str, names: Sequence[str], fail: str) -> Statements:
        written = self._statements(fail)
        if self.decoration:
            self.lines.append(self.decoration)
        self.lines.append(f"def {name}({', '.join(names)}):")
        return written

    def _statements(self, fail: str) -> Statements:
        found = Statements(fail, divides=self.python)
        found.calls = self.calls
        return found

    def _put(self, written: Statements) -> None:
        self.calls |= written.calls
        self.lines += [f"    {line}" for line in written.lines]
        self.lines.append("")

    def _helpers(self, code: int, arity: int) -> None:
        row = ops.rows()[code]
        if row.kink:
            self._hangs(row, arity)
        if plain_rules(code) is None:
            for position in range(arity):
                self._trial(row, arity, position)

    def _hangs(self, row: Row, arity: int) -> None:
        """Whether a corner, a jump or a boundary is as near as the operands are wrong: 1, 0, and 2 for no answer."""
        names = [f"{stem}{k}" for stem in ("x", "w") for k in range(arity)]
        out = self._function(f"hangs_{row.code}_{arity}", [*names, "out"], "return 2")
        for k in range(arity):
            out.add(f"m{k} = w{k} * UNIT")
        out.add(f"reach = {' + '.join(f'm{k}' for k in range(arity))}")
        with out.block("if not reach < INF:"):
            out.add("return 1")
        if all(one.indicator for one in distances(row.code, arity)):
            out.add("return 0")
            self._put(out)
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
        self._put(out)

    def _trial(self, row: Row, arity: int, position: int) -> None:
        """What a partial is wrong by: its own rounding, and how far its rule moves with what its operands are wrong by.

        A partial that is NaN is that of an operand that does not move.
        """
        if rules(row.code, tuple(k == position for k in range(arity)))[position] is None:
            return
        names = [f"{stem}{k}" for stem in ("x", "w", "p") for k in range(arity)]
        out = self._function(f"trial_{row.code}_{arity}_{position}", [*names, "out"], "return INF")
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
        patterns = [moves for moves in _patterns(row.code, arity) if moves[position]]
        out.add("there = INF")
        if len(patterns) == 1:
            self._try(out, rules(row.code, patterns[0])[position], known)
        else:
            for place, moves in enumerate(patterns):
                told = " and ".join(
                    f"p{k} {'==' if one else '!='} p{k}" for k, one in enumerate(moves) if k != position
                )
                with out.block(f"{'elif' if place else 'if'} {told}:"):
                    self._try(out, rules(row.code, moves)[position], known)
        with out.block("if there - there != 0.0:"):
            out.add("return INF")
        out.add(f"return abs(p{position}) + abs(there - p{position}) / UNIT")
        self._put(out)

    def _try(self, out: Statements, rule: Formula | None, known: Sequence[Number]) -> None:
        assert rule is not None
        if not self.python:
            out.add(f"there = {out.formula(rule, known).text}")
            return
        with out.block("try:"):
            out.add(f"there = {out.formula(rule, known).text}")
        with out.block("except (ArithmeticError, ValueError):"):
            out.add("return INF")

    # -- the walks

    def _branches(self, out: Statements, shapes: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """A branch for each operation; the lines of each are put in while the branch is open.

        An operation that takes any number of operands has one for each number.
        """
        head = "if"
        for code, arity in shapes:
            told = f"code == {code}"
            if ops.rows()[code].variadic:
                told += f" and offsets[node + 1] - first == {arity}"
            with out.block(f"{head} {told}:"):
                yield code, arity
            head = "elif"

    def _values(self, shapes: Sequence[tuple[int, int]]) -> None:
        out = self._function("value", ["codes", "offsets", "args", "values"], f"return {DECLINED}")
        out.add("first = 0")
        with out.block("for node, code in enumerate(codes):"):
            for code, arity in self._branches(out, shapes):
                operands = [out.leaf(f"values[args[first{f' + {k}' if k else ''}]]") for k in range(arity)]
                known = [out.named(f"x{k}", one) for k, one in enumerate(operands)]
                self._result(out, ops.rows()[code], known, self.python)
                out.add(f"first += {arity}")
            self._end(out, shapes, self.python or not shapes)
        out.add("return 0")
        self._put(out)

    def _constants(self, shapes: Sequence[tuple[int, int]]) -> None:
        out = self._function("constants", ["codes", "offsets", "args", "partials", "moving"], f"return {DECLINED}")
        out.add("first = 0")
        with out.block("for node, code in enumerate(codes):"):
            for code, arity in self._branches(out, shapes):
                for k, number in _constants(code, arity).items():
                    place = f"first + {k}" if k else "first"
                    with out.block(f"if moving[args[{place}]]:"):
                        out.add(f"partials[{place}] = {out.number(REAL.number(number)).text}")
                out.add(f"first += {arity}")
        out.add("return 0")
        self._put(out)

    def _result(self, out: Statements, row: Row, operands: Sequence[Number], checked: bool = True) -> None:
        """The value of an operation, put in its place."""
        out.add(f"out = {out.value(row, operands).text}")
        if checked:
            with out.block("if out - out != 0.0:"):
                out.add(out.fail)
        out.add("values[node] = out")

    def _end(self, out: Statements, shapes: Sequence[tuple[int, int]], checked: bool = True) -> None:
        """The end of a walk forward; `checked` says that each result has been looked at where it was worked out."""
        with out.block("elif code >= 0:" if shapes else "if code >= 0:"):
            out.add(out.fail)
        if not checked:
            with out.block("else:"):
                out.add("continue")
            with out.block("if out - out != 0.0:"):
                out.add(out.fail)

    def _forward(self, shapes: Sequence[tuple[int, int]], careful: bool) -> None:
        names = ["codes", "offsets", "args", "values", "partials", "moving", "told"]
        if careful:
            names += ["exact_zero", "wrong", "strain"]
        apart = careful and not self.python
        if apart:
            for code, arity in shapes:
                self._step("forward", code, arity, ["node", "first", *names[2:]])
        out = self._function("careful_forward" if careful else "forward", names, f"return {DECLINED}")
        out.add("first = 0")
        with out.block("for node, code in enumerate(codes):"):
            for code, arity in self._branches(out, shapes):
                if apart:
                    self._taken(out, "forward", code, arity, ["node", "first", *names[2:]])
                else:
                    self._value(out, ops.rows()[code], arity, careful)
                out.add(f"first += {arity}")
            self._end(out, shapes, self.python or careful or not shapes)
        out.add("return 0")
        self._put(out)

    def _value(self, out: Statements, row: Row, arity: int, careful: bool) -> None:
        """One operation on the way forward."""
        for k in range(arity):
            out.add(f"i{k} = args[first + {k}]" if k else "i0 = args[first]")
        for k in range(arity):
            out.add(f"x{k} = values[i{k}]")
        operands = [out.leaf(f"x{k}") for k in range(arity)]
        # a machine looks at all results in one place, so that it may work out value and partial together: sin and cos
        self._result(out, row, operands, careful or self.python)
        known = [*operands, out.leaf("out")]
        patterns = _patterns(row.code, arity)
        away = self._distances(out, row, arity, known)
        if careful:
            for k in range(arity):
                out.add(f"w{k} = wrong[i{k}]")
        if len(patterns) == 1:
            for k, rule in enumerate(rules(row.code, patterns[0])):
                self._partial(out, row, k, rule, known, away, careful)
        else:
            head = "if"
            for moves in patterns:
                told = " and ".join(f"moving[i{k}]" if one else f"not moving[i{k}]" for k, one in enumerate(moves))
                with out.block(f"{head} {told}:"):
                    for k, rule in enumerate(rules(row.code, moves)):
                        if rule is not None:
                            self._rule(out, k, rule, known)
                            self._put_slope(out, row, k, rule, away, careful)
                        elif careful:
                            self._still(out, row, arity, k, known)
                    if careful:
                        out.add("moving[node] = 1")
                head = "elif"
            if careful:
                with out.block("else:"):
                    for k in range(arity):
                        self._still(out, row, arity, k, known)
        if careful:
            self._wrong(out, row, arity)

    def _distances(self, out: Statements, row: Row, arity: int, known: Sequence[Number]) -> str:
        """Take note of a kink. Gives the condition for being away from it, "" for a row that has none."""
        if not row.kink:
            return ""
        told = []
        for k, distance in enumerate(distances(row.code, arity)):
            out.add(f"d{k} = {out.formula(distance, known).text}")
            out.refuse(Number(out, f"d{k}"))
            told.append(f"d{k} != 0.0")
        with out.block(f"if not ({' and '.join(told)}) and told[{KINK}] < 0:"):
            out.add(f"told[{KINK}] = node")
        return " and ".join(told)

    def _partial(
        self,
        out: Statements,
        row: Row,
        k: int,
        rule: Formula | None,
        known: Sequence[Number],
        away: str,
        careful: bool,
    ) -> None:
        """The partial on one edge, if it leads to something that moves."""
        if rule is None or (not careful and rule.constant is not None):
            return
        if not careful and not self.python and (rule.single is not None or len(known) == 2):
            # what nothing moves may have a partial too, of which nothing comes: a machine is quicker without a choice
            out.add(f"p{k} = {out.formula(rule, known).text}")
            if rule.single is None:
                with out.block(f"if p{k} - p{k} != 0.0:"):
                    with out.block(f"if moving[i{k}]:"):
                        out.add(out.fail)
                    out.add(f"p{k} = 0.0")
            self._put_slope(out, row, k, rule, away, careful)
            return
        # an error goes on through an operand that does not move; a slope of 1 needs no name for that
        still = careful and rule.constant not in ("1", "-1")
        if still:
            with out.block(f"if moving[i{k}] or w{k} != 0.0:"):
                self._rule(out, k, rule, known)
        with out.block(f"if moving[i{k}]:"):
            if not still:
                self._rule(out, k, rule, known)
            self._put_slope(out, row, k, rule, away, careful)
            if careful:
                out.add("moving[node] = 1")

    def _put_slope(self, out: Statements, row: Row, k: int, rule: Formula, away: str, careful: bool) -> None:
        """Put a partial in its place; that of a branch not taken is marked."""
        place = f"first + {k}" if k else "first"
        out.add(f"partials[{place}] = p{k}")
        if not row.locally_constant or (rule.constant is not None and rule.constant != "0"):
            return
        if careful:
            with out.block(f"if p{k} == 0.0{' and ' + away if away else ''}:"):
                out.add(f"exact_zero[{place}] = 1")

    def _rule(self, out: Statements, k: int, rule: Formula, known: Sequence[Number]) -> None:
        out.add(f"p{k} = {out.formula(rule, known).text}")
        if rule.constant is None and rule.single is None:
            with out.block(f"if p{k} - p{k} != 0.0:"):
                out.add(out.fail)

    def _still(self, out: Statements, row: Row, arity: int, k: int, known: Sequence[Number]) -> None:
        """The slope in an operand that does not move, if that is wrong: its error goes on all the same."""
        rule = rules(row.code, tuple(k == one for one in range(arity)))[k]
        if rule is not None:
            with out.block(f"if w{k} != 0.0:"):
                self._rule(out, k, rule, known)

    def _wrong(self, out: Statements, row: Row, arity: int) -> None:
        """What the value may be wrong by, from what its operands are wrong by; see `accuracy.rounding`."""
        kinky = bool(row.kink)
        out.add("size = total = abs(out)")
        if kinky:
            with out.block(f"if {' or '.join(f'x{k} == out' for k in range(arity))}:"):
                out.add("total = 0.0")
        out.add("apart = 0.0")
        patterns = _patterns(row.code, arity)
        for k in range(arity):
            with out.block(f"if w{k} != 0.0:"):
                rule = rules(row.code, patterns[0])[k]
                unit = rule is not None and len(patterns) == 1 and rule.constant in ("1", "-1")
                none = rule is None and len(patterns) == 1
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

    def _step(self, walk: str, code: int, arity: int, names: Sequence[str]) -> None:
        """One operation of a careful walk as a function: a compiler's time grows with the square of a function."""
        out = self._function(f"{walk}_{code}_{arity}", names, f"return {DECLINED}")
        if walk == "forward":
            self._value(out, ops.rows()[code], arity, True)
        else:
            self._back_carefully(out, ops.rows()[code], arity)
        out.add("return 0")
        self._put(out)

    def _taken(self, out: Statements, walk: str, code: int, arity: int, given: Sequence[str]) -> None:
        """The call of such a step."""
        with out.block(f"if {walk}_{code}_{arity}({', '.join(given)}) == {DECLINED}:"):
            out.add(out.fail)

    def _backward(self, shapes: Sequence[tuple[int, int]], careful: bool) -> None:
        if not careful and not self.python:
            self._backward_along_edges()
            return
        names = ["codes", "offsets", "args", "partials", "adjoints"]
        if careful:
            names += ["values", "exact_zero", "of_values", "strain", "wrong"]
        given = ["node", "first", "adjoint", "carried", "size", *names[2:]]
        if careful and not self.python:
            for code, arity in shapes:
                self._step("backward", code, arity, given)
        out = self._function("careful_backward" if careful else "backward", names, f"return {DECLINED}")
        with out.block("for node in range(len(codes) - 1, -1, -1):"):
            out.add("adjoint = adjoints[node]")
            if not careful:
                with out.block("if adjoint - adjoint != 0.0:"):
                    out.add(out.fail)
            out.add("code = codes[node]")
            with out.block("if code < 0 or adjoint != adjoint:" if careful else "if code < 0 or adjoint == 0.0:"):
                out.add("continue")
            out.add("first = offsets[node]")
            if careful:
                out.add("carried = wrong[node]")
                out.add("size = abs(adjoint)")
                for code, arity in self._branches(out, shapes):
                    if self.python:
                        self._back_carefully(out, ops.rows()[code], arity)
                    else:
                        self._taken(out, "backward", code, arity, given)
            else:
                for code, arity in self._branches(out, shapes):
                    self._back(out, code, arity)
        out.add("return 0")
        self._put(out)

    def _backward_along_edges(self) -> None:
        """Without errors every edge is alike: a machine is quickest where there is no choice.

        What is not finite is looked for later, where it goes (`fast.Views.bare`).
        """
        out = self._function("backward", ["order", "targets", "sources", "partials", "adjoints"], f"return {DECLINED}")
        with out.block("for place in range(len(order)):"):
            out.add("adjoints[sources[place]] += adjoints[targets[place]] * partials[order[place]]")
        out.add("return 0")
        self._put(out)
        out = self._function("backward_straight", ["targets", "sources", "partials", "adjoints"], f"return {DECLINED}")
        with out.block("for edge in range(len(targets) - 1, -1, -1):"):
            out.add("adjoints[sources[edge]] += adjoints[targets[edge]] * partials[edge]")
        out.add("return 0")
        self._put(out)

    def _back(self, out: Statements, code: int, arity: int) -> None:
        """One operation on the way back."""
        for k, sign in _signs(code, arity).items():
            edge = f"first + {k}" if k else "first"
            out.add(f"slope = partials[{edge}]")
            with out.block("if slope != 0.0:"):
                out.add(f"adjoints[args[{edge}]] += {'adjoint * slope' if sign is None else f'{sign}adjoint'}")

    def _total(self, out: Statements) -> None:
        """Where edges meet, contributions add."""
        out.add("before = adjoints[source]")
        out.add("total = brought if before != before else before + brought + 0.0")
        with out.block("if total - total != 0.0:"):
            out.add(f"return {DECLINED}")
        out.add("adjoints[source] = total")

    def _back_carefully(self, out: Statements, row: Row, arity: int) -> None:
        """One operation on the way back, with what it makes of the errors of adjoint and partials."""
        signs = _signs(row.code, arity)
        if any(sign is not None for sign in signs.values()):
            out.add("unit = size + carried")
            with out.block("if not unit < INF:"):
                out.add("unit = INF")
            with out.block("elif size < SMALLEST and size != 0.0:"):
                out.add("unit += LEAST")
        for k in range(arity):
            out.add(f"i{k} = args[first + {k}]" if k else "i0 = args[first]")
        for k, sign in signs.items():
            edge = f"first + {k}" if k else "first"
            out.add(f"slope = partials[{edge}]")
            with out.block("if slope == slope" + (f" and not exact_zero[{edge}]:" if row.locally_constant else ":")):
                out.add(f"source = i{k}")
                out.add(f"brought = {'adjoint * slope' if sign is None else f'{sign}adjoint'} + 0.0")
                self._total(out)
                if sign is None:
                    self._error(out, row, arity, k)
                else:
                    out.add("wrong[source] += unit")

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
        patterns = [moves for moves in _patterns(row.code, arity) if moves[k]]
        head = "if"
        for moves in patterns:
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
            if len(patterns) == 1:
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

"""Taylor series along a line: the coefficients of f(x + t·v) in powers of t, from the rules of the table themselves.

For out = g(a, b, ...) the chain rule is out' = g_a·a' + g_b·b' + ... as series in t; with A the series of the rule g_a

    k·out_k = Σ over operands Σ j·a_j·A_(k-j),  j = 1 .. k

(Griewank and Walther, Evaluating Derivatives, chapter 13, where each function has a recurrence of its own). A rule is a
formula in the language of the programs, so its series is worked out in the same way; equal operations on equal
operands are one node, so that of tanh, whose rule is sech(x)^2, whose rule is -sech(x)*tanh(x), closes on itself. The
coefficient k of an operation needs its rules up to k - 1 only, so the work ends; each node takes order² products.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import copysign, factorial, inf
from typing import Any

from backprop import ops
from backprop.beside.differences import Side, affordable, as_double, exactly, levels, many, primal, side
from backprop.forward import contribution, total
from backprop.graph import CONST, INPUT, Graph
from backprop.higher.curvature import LOST, digits_right, slope_may_jump
from backprop.kinds import Hole, Kind, is_number
from backprop.kinds.node import Nodes, with_inputs
from backprop.mistakes import TooMuchWork
from backprop.point import Point
from backprop.rules import is_kink, rules
from backprop.values import values

LARGEST_ORDER = 200
# Products of coefficients; one takes about a millionth of a second.
MOST_PRODUCTS = 20_000_000
# The smallest double that has all of its digits.
NORMAL = 2.0**-1022
# With many digits one takes ten times as long: so many are worth while to be sure, and so many where doubles underflow.
MOST_TO_BE_SURE, MOST_BELOW_NORMAL = MOST_PRODUCTS // 50, MOST_PRODUCTS // 5
# Up to this order the coefficients are held against divided differences of values beside the point, and up to the
# second those can stand in for them; each order costs some twenty digits more.
LARGEST_COMPARED, LARGEST_BESIDE = 12, 40


@dataclass(slots=True)
class Coefficient:
    """c_k of f(x + t·v). `value` is None where there is none, and `why` says why.

    `digits` agree with the values beside the point; `beside` says that the coefficient itself comes from those, and
    `only` from which side alone there are values. `lost` is how many digits were right before it was worked out with
    more; `truth` is the coefficient with more digits, where it was worked out. `derivative` is k!·c_k, where it was
    asked for.
    """

    k: int
    value: Any = None
    why: str = ""
    digits: float | None = None
    beside: bool = False
    only: str = ""
    lost: float | None = None
    truth: Any = None
    derivative: Any = None


@dataclass(slots=True)
class _System:
    """A graph with the rules of its operations in it. `terms` are operand and rule of each node, by operand position;
    `need` is up to which coefficient each node is needed."""

    graph: Graph
    leaves: dict[int, int]
    output: int
    need: dict[int, int] = field(default_factory=dict)
    terms: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)

    def values(self, kind: Kind, leaves: Mapping[int, Any]) -> list[Any]:
        """The value of every node, by the values of the leaves: of every rule, too, whatever branch is taken."""
        slopes = {slope for terms in self.terms.values() for _, _, slope in terms}
        return values(self.graph, kind, leaves, (self.output, *slopes))


def taylor(here: Point, direction: Mapping[int, Any], order: int, check: bool = True) -> list[Coefficient]:
    """The coefficients c_0 .. c_order along a direction (node to number of the point's kind).

    At a kink or hole, where the rules cannot tell, and to `check` them elsewhere, divided differences of values at
    many digits are taken on both sides. Raises `TooMuchWork`.

    >>> from backprop.point import at
    >>> [one.value for one in taylor(at("exp(x + x)", {"x": 0}), {0: 1.0}, 4)]
    [1.0, 2.0, 2.0, 1.3333333333333333, 0.6666666666666666]
    """
    if isinstance(here.value(), Hole):
        return [Coefficient(k, why="there is no value at the point") for k in range(order + 1)]
    system = _closed(here, direction, order)
    known = system.values(here.kind, {leaf: here.values[node] for node, leaf in system.leaves.items()})
    kink = _kink(here, system, known)
    found = [Coefficient(k) for k in range(order + 1)]
    if not kink:
        for one, value in zip(found, _series(here.kind, system, known, direction, order), strict=True):
            if isinstance(value, Hole):
                one.why = "a rule on the way has no value here"
            elif here.kind.digits and not is_number(value):
                one.why = f"it is beyond {here.kind.largest}"
            else:
                one.value = value
        _with_more_digits(here, system, direction, found)
    elif here.kind.digits == 0:
        found[0].value = here.value()  # nobody looks beside the point, and the value needs no slope
    if kink or any(one.value is None for one in found) or (check and order <= LARGEST_COMPARED):
        _look_beside(here, direction, found, kink)
    return found


def derivative(kind: Kind, one: Coefficient) -> Any:
    """k!·c_k, an infinity where it is beyond the kind. Of a double that has lost digits to underflow it is the truth's.

    >>> from mpmath import mpf
    >>> derivative(Kind(), Coefficient(200, 0.0, truth=1 / mpf(factorial(200))))
    1.0
    """
    if not isinstance(one.value, float):
        return kind.scale(one.value, kind.number(str(factorial(one.k))))
    number = Fraction(one.value)
    if abs(one.value) < NORMAL and one.truth is not None:
        from mpmath import libmp

        number = Fraction(*libmp.to_rational(one.truth._mpf_))
    try:
        return float(number * factorial(one.k))
    except OverflowError:
        return copysign(inf, one.value)


# -- the system of series ---------------------------------------------------------------------------------------------


def _closed(here: Point, direction: Mapping[int, Any], order: int) -> _System:
    """The program and, for every operation that moves, its rules, and theirs, as far as the order needs them."""
    kind, graph = Nodes(), here.graph
    known = {node: kind.leaf(graph.name_of(node)) for node in (*graph.inputs.values(), *direction)}
    known |= {node: kind.typed(text) for node, text in graph.literals.items() if node not in known}
    output = values(with_inputs(graph, dict.fromkeys(direction)), kind, known)[graph.output]
    system = _System(kind.graph, known, output)
    moves = bytearray()
    seeds = {known[node] for node in direction}
    waiting: list[list[int]] = [[] for _ in range(order)] + [[output]]
    for need in range(order, 0, -1):
        while waiting[need]:
            node = waiting[need].pop()
            if node in system.need:
                continue
            _mark(kind.graph, moves, seeds)
            if not moves[node]:
                continue
            system.need[node] = need
            code = kind.graph.codes[node]
            if code in (INPUT, CONST):
                continue
            sources = list(kind.graph.operands(node))
            moving = tuple(bool(moves[source]) for source in sources)
            terms = system.terms[node] = []
            for position, rule in enumerate(rules(code, moving)):
                if rule is None:
                    continue
                slope = rule.evaluate(kind, sources, node)
                terms.append((position, sources[position], slope))
                waiting[need].append(sources[position])
                waiting[need - 1].append(slope)
        if sum(len(terms) for terms in system.terms.values()) * order**2 > 2 * MOST_PRODUCTS:
            raise TooMuchWork(
                f"a series up to order {order} takes more than {MOST_PRODUCTS} products here",
                f"Ask for less: --order {max(1, order // 4)}",
            )
    _mark(kind.graph, moves, seeds)
    return system


def _mark(graph: Graph, moves: bytearray, seeds: set[int]) -> None:
    """Mark the nodes that are new since the last time and move with the seeds."""
    rows = ops.rows()
    for node in range(len(moves), len(graph)):
        code = graph.codes[node]
        held = rows[code].conditions if code >= 0 else frozenset[int]()
        operands = graph.operands(node)
        moves.append(node in seeds or any(moves[one] for place, one in enumerate(operands) if place not in held))


def _with_more_digits(here: Point, system: _System, direction: Mapping[int, Any], found: list[Coefficient]) -> None:
    """Hold the coefficients against the same series at many digits, and take theirs where they have lost their own."""
    kind, order = here.kind, len(found) - 1
    if not kind.digits:
        return
    products = sum(map(len, system.terms.values())) * order**2
    below = next((one.k for one in found if isinstance(one.value, float) and 0 < abs(one.value) < NORMAL), 0)
    if below and products > MOST_BELOW_NORMAL:
        told = f"doubles underflow from t^{below} on, and with more digits the series takes too long"
        raise TooMuchWork(told, f"Ask for less: --order {max(1, below - 1)}")
    if products > (MOST_BELOW_NORMAL if below else MOST_TO_BE_SURE):
        return
    before: list[Any] = []
    for digits in levels(kind):
        if not affordable(system.graph, digits):
            return
        fine = many(digits)
        leaves = {leaf: exactly(fine, here.values[node]) for node, leaf in system.leaves.items()}
        known = system.values(fine, leaves)
        along = {node: exactly(fine, amount) for node, amount in direction.items()}
        truths = _series(fine, system, known, along, order)
        close = fine.number(f"1e-{kind.digits + 4}")
        doubtful = False
        for one, truth in zip(found, truths, strict=True):
            if not is_number(truth) or one.lost is not None:
                continue
            right = 0.0 if one.value is None else digits_right(one.value, truth, kind.digits)
            if right >= kind.digits - LOST:
                one.truth = truth
                continue
            if before and is_number(before[one.k]):
                dwindles = abs(truth) <= abs(before[one.k]) * fine.number("1e-100")
                if dwindles or abs(truth - before[one.k]) <= abs(truth) * close:
                    nearest = kind.nearest(truth * 0 if dwindles else truth)
                    one.truth = truth
                    if nearest != one.value and is_number(nearest):
                        one.value, one.why, one.lost = nearest, "", right
                    continue
            doubtful = True
        if not doubtful:
            return
        before = truths


def _series(kind: Kind, system: _System, known: list[Any], direction: Mapping[int, Any], order: int) -> list[Any]:
    """The coefficients of the output, level by level: every node's k-th before any node's next."""
    zero = kind.number("0")
    numbers = [kind.number(str(k)) for k in range(order + 1)]
    nodes = sorted(node for node in system.need if known[node] is not None)
    # j·a_j of every node that moves, from j = 1 on; and the coefficients themselves
    coefficients: dict[int, list[Any]] = {}
    scaled: dict[int, list[Any]] = {}
    moved = {system.leaves[node]: amount for node, amount in direction.items()}
    idle = _idle(kind, system, known)

    def coefficient(node: int, k: int) -> Any:
        if k == 0:
            return known[node]
        return coefficients[node][k] if node in coefficients else zero

    for node in nodes:
        coefficients[node], scaled[node] = [known[node]], [zero]
    for k in range(1, order + 1):
        for node in nodes:
            if system.need[node] < k:
                continue
            if node in moved:
                value = moved[node] if k == 1 else zero
            else:
                value = None
                for position, source, slope in system.terms.get(node, ()):
                    if (node, position) in idle:
                        continue
                    for j in range(1, k + 1):
                        brought = scaled[source][j] if source in scaled else zero
                        factor = coefficient(slope, k - j)
                        if not isinstance(brought, Hole) and kind.is_zero(brought) and not isinstance(factor, Hole):
                            continue
                        term = contribution(kind.push, brought, factor, node, position)
                        value = term if value is None else total(kind, value, term, node)
                value = zero if value is None else value if isinstance(value, Hole) else kind.divide(value, numbers[k])
            coefficients[node].append(value)
            hole = isinstance(value, Hole)
            scaled[node].append(value if hole else contribution(kind.push, value, numbers[k], node, 0))
    return [coefficient(system.output, k) for k in range(order + 1)]


def _idle(kind: Kind, system: _System, known: list[Any]) -> set[tuple[int, int]]:
    """The operands (node and position) of branches not taken: nothing behind them matters."""
    rows, found = ops.rows(), set[tuple[int, int]]()
    for node, terms in system.terms.items():
        if not rows[system.graph.codes[node]].locally_constant:
            continue
        for position, source, slope in terms:
            if known[source] is None or (not isinstance(known[slope], Hole) and kind.is_zero(known[slope])):
                found.add((node, position))
    return found


def _kink(here: Point, system: _System, known: list[Any]) -> str:
    """The first node, in words, at which the function bends or a condition is at its boundary; "" if there is none."""
    graph, rows, kind = system.graph, ops.rows(), here.kind
    if slope_may_jump(here):
        return "there may be a kink or a boundary within"
    settled: dict[int, bool] = {}

    def is_settled(node: int) -> bool:
        """Whether an operation, or a condition, is the same function all around the point."""
        row, operands = rows[graph.codes[node]], [known[operand] for operand in graph.operands(node)]
        if row.conditions and row.gives_condition:
            parts = [settled.get(operand, True) for operand in graph.operands(node)]
            # one condition that fails decides an "and", one that holds an "or"
            decided = row.name in ("and", "or") and any(
                part and isinstance(value, bool) and value == (row.name == "or")
                for part, value in zip(parts, operands, strict=True)
            )
            return decided or all(parts)
        return not (row.kink and all(map(is_number, operands)) and is_kink(row, kind, operands, known[node]))

    depends = bytearray(len(graph))
    for node, code in enumerate(graph.codes):
        depends[node] = node in system.need or any(depends[operand] for operand in graph.operands(node))
        if code >= 0 and depends[node] and known[node] is not None:
            settled[node] = is_settled(node)
    for node in sorted(system.need):
        if graph.codes[node] < 0 or known[node] is None:
            continue
        conditions = [graph.operands(node)[position] for position in rows[graph.codes[node]].conditions]
        for one in (node, *conditions):
            if not settled.get(one, True):
                return f"{graph.formula(one)} has a kink or a boundary here"
    return ""


# -- beside the point -------------------------------------------------------------------------------------------------


def _look_beside(here: Point, direction: Mapping[int, Any], found: list[Coefficient], kink: str) -> None:
    """Put in what divided differences on both sides tell: as a check, or as the answer where the rules have none."""
    order = len(found) - 1
    exponent = max(20, here.kind.digits + 8)
    digits = (exponent + 4) * order + 2 * exponent
    told = here.kind.digits > 0 and order <= LARGEST_BESIDE and affordable(here.graph, digits)
    sides = _divided(here, direction, order, digits, (-exponent, -exponent - 4)) if told else None
    size = max((abs(one.value) for one in found if one.value is not None), default=0)
    for one in found:
        if sides is None:
            if kink and one.k:
                one.value, one.why = None, kink
            continue
        left, right = sides[0][one.k], sides[1][one.k]
        clear = [end for end in (left, right) if end.sort in ("slope", "zero", "flat")]
        if len(clear) == 1 and (left.sort == "none" or right.sort == "none"):
            one.only = "from the right" if left.sort == "none" else "from the left"
            clear *= 2
        if len(clear) == 2 and _agree(clear[0].value, clear[1].value):
            if one.value is None or kink:
                one.value, one.why, one.beside = here.kind.nearest(clear[0].value), "", one.k > 0
            else:
                one.digits = _digits(one.value, clear[0].value, size)
        elif one.value is None or kink:
            one.value, one.why = None, one.why or kink
            if len(clear) == 2:
                low, high = as_double(left.value), as_double(right.value)
                one.why = f"it is {low:.6g} from the left and {high:.6g} from the right ({kink or one.why})"
    if kink and sides is not None:
        # beyond the first that does not exist there is none
        first = next((one.k for one in found if one.value is None), order + 1)
        for one in found[first + 1 :]:
            one.value, one.why = None, one.why or kink


def _divided(
    here: Point, direction: Mapping[int, Any], order: int, digits: int, steps: tuple[int, int]
) -> list[list[Side]]:
    """For the left and the right side what the divided differences f[0, h, ..., kh] tell for two steps."""
    kind, graph = many(digits), with_inputs(here.graph, dict.fromkeys(direction))
    start = {node: exactly(kind, here.values[node]) for node in direction}
    along = {node: exactly(kind, amount) for node, amount in direction.items()}
    unit = min((abs(at / by) for node, at in start.items() if at and (by := along[node])), default=None)
    found = []
    for sign in (-1, 1):
        quotients: list[list[Any]] = []
        for step in steps:
            h = sign * kind.number(f"1e{step}") * (1 if unit is None else min(unit, kind.number("1")))
            column = []
            for times in range(order + 1):
                moved = {node: at + times * h * along[node] for node, at in start.items()}
                column.append(primal(here, graph, digits, moved)[1][graph.output])
            told = [column[0]]
            size = max((abs(value) for value in column if is_number(value)), default=0)
            noise = size * kind.number(f"1e{3 - digits}")
            for k in range(1, order + 1):
                column = [high - low if is_number(low) and is_number(high) else None for low, high in pairwise(column)]
                first, noise = column[0], 2 * noise
                told.append(None if first is None else first * 0 if abs(first) <= noise else first / _power(h, k))
            quotients.append(told)
        found.append([side([coarse, fine], [1, 1]) for coarse, fine in zip(*quotients, strict=True)])
    return found


def _power(h: Any, k: int) -> Any:
    """h^k · k!, which divides a k-th difference."""
    return h**k * factorial(k)


def _agree(left: Any, right: Any) -> bool:
    return bool(abs(left - right) <= 1e-6 * max(abs(left), abs(right)))


def _digits(ours: Any, truth: Any, largest: Any) -> float:
    """How many digits of a number agree with one from divided differences, which are good to about 16.

    A 0 is held against the `largest` coefficient.
    """
    from mpmath import fabs, log10

    apart = fabs(ours - truth)
    if apart == 0:
        return 16.0
    return min(16.0, max(0.0, -float(log10(apart / (fabs(truth) or largest)))))

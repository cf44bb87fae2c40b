"""Notes: what a reader should know about a program at a point besides its numbers.

Undefined points, overflows, kinks, dead and saturated units, steps that stop every derivative, inputs that nothing
reads, readings that another reader might not share. What an operation has to say stands on its row (`remarks`, `kink`,
`domain`); this module only asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from backprop import ops
from backprop.beside import Slopes, to_double
from backprop.figures import figure
from backprop.graph import CONST, INPUT, misgivings
from backprop.kinds import Hole
from backprop.ops import ATOM, Row
from backprop.point import Point
from backprop.record import Note
from backprop.rules import holds, is_kink, rules
from backprop.syntax import Statement
from backprop.values import value_at
from backprop.working import put_numbers_in
from backprop.writing import written

TOO_LARGE = "beyond the largest double, 1.8e308"


def why(point: Point, hole: Hole) -> str:
    """Why there is no value at a hole: the operation, what it was given, and the condition that fails."""
    graph, node = point.graph, hole.node
    name = graph.ids[node]
    row = graph.row(node)
    if row is None:
        return f"{name} is {TOO_LARGE}"
    formula = graph.formula(node)
    at = _at(point, node)
    if hole.position >= 0:
        source = graph.operands(node)[hole.position]
        slope = f"∂{name}/∂{graph.ids[source]} = {_rule(point, node, hole.position)}"
        if hole.code == "indeterminate":
            return f"{slope} meets 0·inf{at}, which is not guessed{_overflowed(point)}"
        further = "" if source in point.wrt else "; what comes of it further on (0·inf) is not guessed"
        return f"the slope {slope} has no finite value{at}{further}"
    if hole.code == "domain":
        return f"{name} = {formula} has no real value{at}{_condition(row, point, node)}"
    if hole.code == "overflow":
        return f"{name} = {formula}{at} is {TOO_LARGE}"
    return f"{name} = {formula} = {put_numbers_in(formula, _numbers(point))} has no value{_overflowed(point)}"


def notes(point: Point) -> list[Note]:
    """Every note about a program at a point, in the order of the graph; what has no value comes first."""
    return [
        *_undefined(point),
        *_overflows(point),
        *_singular(point),
        *_kinks(point),
        *_remarks(point),
        *_steps(point),
        *_inputs(point),
        *reading_notes(point),
    ]


def reading_notes(point: Point) -> Iterator[Note]:
    """How the program was read where another reader might read it otherwise."""
    for code, text in misgivings(point.syntax, point.graph, point.given):
        yield Note(code, text)
    yield from _lonely_lines(point)


def _lonely_lines(point: Point) -> Iterator[Note]:
    """Expressions that nobody uses, among them lines that were perhaps meant to go on with the one before."""
    source, statements = point.syntax.source, point.syntax.statements
    used = _last_with_a_value(statements)
    for place, statement in enumerate(statements):
        if statement.kind != "expression":
            continue
        start, end = statement.begin, statement.end
        line = source.count("\n", 0, start) + 1
        text = source[start:end] if end - start <= 40 else source[start : start + 37] + "..."
        if place and source[start] in "+-−" and source[:start].rstrip(" \t").endswith("\n"):
            yield Note(
                "lonely-line",
                f"line {line}, {text}, begins with a sign and was read as a statement of its own; "
                "a line goes on with the one before only inside brackets",
            )
        elif place != used:
            yield Note("lonely-line", f"the value of {text} in line {line} is not used: only the last statement counts")


def _last_with_a_value(statements: list[Statement]) -> int:
    return max(place for place, one in enumerate(statements) if one.kind in ("expression", "assign"))


def _undefined(point: Point) -> Iterator[Note]:
    graph = point.graph
    output = point.value()
    if isinstance(output, Hole):
        yield Note("undefined", f"undefined: {why(point, output)}", graph.ids[output.node])
        return
    blamed: dict[Hole, list[str]] = {}
    for name, slope in point.gradient().items():
        if isinstance(slope, Hole):
            blamed.setdefault(slope, []).append(f"∂{graph.ids[graph.output]}/∂{name}")
    beside = [_sides(one.sides, one.apart) for one in point.singular().values() if isinstance(one.slope, Hole)]
    for hole, names in blamed.items():
        text = f"{', '.join(names)} undefined: {why(point, hole)}"
        if len(set(beside)) == 1 and beside[0]:
            text += f"; {beside[0]}"
        yield Note("undefined", text, graph.ids[hole.node])
    for node, value in enumerate(point.values):
        if isinstance(value, Hole) and value.node == node and value is not output:
            yield Note("unused-hole", f"{why(point, value)}; the answer does not depend on it", graph.ids[node])


def _overflows(point: Point) -> Iterator[Note]:
    """Infinities born of finite numbers: the double is too small a vessel, not the mathematics undefined."""
    graph = point.graph
    for node, text in graph.literals.items():
        if point.values[node] == 0 and re.search("[1-9]", text.lower().split("e")[0]):
            yield Note("underflow", f"{text} is below the smallest number of double precision; it counts as 0", None)
    for node in overflown(point):
        value = point.values[node]
        yield Note(
            "overflow",
            f"{graph.ids[node]} = {graph.formula(node)}{_at(point, node)} is {TOO_LARGE}; "
            f"it counts as {figure(value)} from here on",
            graph.ids[node],
        )
    beyond = too_large(point)
    if beyond:
        yield Note("undefined", beyond)


def too_large(point: Point) -> str:
    """Why an answer is infinite though it is finite in mathematics; "" when none is."""
    infinite = [name for name, slope in point.gradient().items() if _is_infinite(slope)]
    if _is_infinite(point.value()) and overflown(point):
        return f"the value overflows: {_first(point)} is {TOO_LARGE}"
    if infinite and not any(map(_is_infinite, _given(point))):
        return f"the derivative with respect to {', '.join(infinite)} overflows: it is {TOO_LARGE}"
    return ""


def overflown(point: Point) -> list[int]:
    """The nodes whose value overflowed: infinite, though every operand is finite."""
    graph, known = point.graph, point.values
    found: list[int] = []
    for node, code in enumerate(graph.codes):
        value = known[node]
        if code in (INPUT, CONST) or not _is_infinite(value):
            continue
        if not any(_is_infinite(known[operand]) for operand in graph.operands(node)):
            found.append(node)
    return found


def _kinks(point: Point) -> Iterator[Note]:
    graph, known = point.graph, point.values
    adjoints = point.reverse().adjoints
    for node, code in enumerate(graph.codes):
        if code < 0 or not point.moving[node] or adjoints[node] is None or known[node] is None:
            continue
        row = ops.rows()[code]
        if not row.kink or isinstance(known[node], Hole):
            continue
        operands = [known[operand] for operand in graph.operands(node)]
        slopes = point.partials.values[graph.offsets[node] : graph.offsets[node + 1]]
        if all(slope is None or isinstance(slope, Hole) for slope in slopes):
            continue  # nothing is taken here
        if is_kink(row, point.kind, operands, known[node]):
            yield Note("kink", _kink_text(point, node, row, operands), graph.ids[node])


def _singular(point: Point) -> Iterator[Note]:
    """Slopes that are known from values beside the point, where the rules have none or only conventions."""
    graph = point.graph
    for node, one in point.singular().items():
        if isinstance(one.slope, Hole):
            continue
        name = point.name_of(node)
        slope, sides = f"∂{graph.ids[graph.output]}/∂{name}", _sides(one.sides, one.apart)
        smooth = one.sides.central is not None
        condition = one.kink is not None and ops.rows()[graph.codes[one.kink]].gives_condition
        if one.mended:
            given = "have no number" if isinstance(one.rules, Hole) else f"give {figure(one.rules)} by convention"
            text = f"the rules {given} here; {slope} is {figure(one.slope)}, from values beside the point: {sides}"
        elif condition and not smooth and one.kink is not None:
            kink = graph.ids[one.kink]
            text = f"{kink} = {graph.formula(one.kink)} is at its boundary{_at(point, one.kink)}: {slope} is taken as "
            text += f"{figure(one.slope)}, and beside the point {sides}"
        else:
            continue
        if isinstance(one.rules, Hole) and smooth:
            yield Note("singular", text, name)
        else:
            yield Note("kink", f"kink: {text}", name)


def _sides(found: Slopes, apart: bool = False) -> str:
    """What the values beside a point tell of the slopes on both sides, in words."""
    if apart:
        return f"{_sides(found)}, but between the axes it is another than along them"
    if found.central is not None:
        return "the slope is the same from both sides"
    if found.ends is None:
        return ""
    parts = []
    for end, which in zip(found.ends, ("left", "right"), strict=True):
        if end.sort in ("slope", "zero", "flat"):
            parts.append(f"the slope is {figure(to_double(end.value) + 0.0)} from the {which}")
        elif end.sort == "steep":
            parts.append(f"the slope is {'+' if end.value > 0 else '-'}infinity from the {which}")
        elif end.sort == "jump":
            parts.append(f"the value jumps on the {which}")
        elif end.sort == "none":
            parts.append(f"there is no value on the {which}")
    return " and ".join(parts)


def _kink_text(point: Point, node: int, row: Row, operands: list[Any]) -> str:
    graph = point.graph
    sources = graph.operands(node)
    name, parts = graph.ids[node], []
    for position, source in enumerate(sources):
        slope = point.partials.values[graph.offsets[node] + position]
        if slope is None or isinstance(slope, Hole):
            continue
        left, right = sides(point, node, position, operands)
        ends = [figure(end) if end == end else "no value" for end in (left, right)]
        between = " (it jumps here)" if left == right else f" (from the left {ends[0]}, from the right {ends[1]})"
        parts.append(f"∂{name}/∂{graph.ids[source]} is taken as {figure(slope)}{between}")
    return f"kink: {name} = {graph.formula(node)} has no derivative{_at(point, node)}; {'; '.join(parts)}"


def sides(point: Point, node: int, position: int, operands: list[Any]) -> tuple[float, float]:
    """The partial just left and just right of an operand's value, at 50 digits so that nothing else changes."""
    from backprop.kinds.digits import Digits

    kind = Digits(50)
    graph = point.graph
    row = ops.rows()[graph.codes[node]]
    moves = tuple(bool(point.moving[source]) for source in graph.operands(node))
    rule = rules(row.code, moves)[position]
    assert rule is not None

    def slope(step: str) -> float:
        beside = [kind.from_double(float(operand)) for operand in operands]
        beside[position] = beside[position] + kind.number(step)
        found = rule.evaluate(kind, beside, value_at(node, row, kind, beside))
        return float("nan") if isinstance(found, Hole) else float(found)

    def limit(sign: str) -> float:
        far, near = slope(f"{sign}1e-30"), slope(f"{sign}1e-40")
        return 0.0 if abs(near) < 0.95 * abs(far) else near  # one that dwindles, as that of x^(3/2), is 0

    return limit("-"), limit("")


def _remarks(point: Point) -> Iterator[Note]:
    graph, known = point.graph, point.values
    adjoints = point.reverse().adjoints
    for node, code in enumerate(graph.codes):
        if code < 0 or not point.moving[node] or adjoints[node] is None:
            continue
        row, out = ops.rows()[code], known[node]
        moves = tuple(bool(point.moving[source]) for source in graph.operands(node))
        for remark in row.remarks_for(moves):
            operands = [known[operand] for operand in graph.operands(node)]
            if out is None or any(operand is None or isinstance(operand, Hole) for operand in (*operands, out)):
                continue
            if holds(remark.when, row, point.kind, operands, out):
                names = dict(zip(row.names(len(operands)), _ids(point, node), strict=True))
                text = remark.says.format(**names, out=figure(out), node=graph.ids[node])
                yield Note(remark.code, text, graph.ids[node])


def _steps(point: Point) -> Iterator[Note]:
    """Inputs that reach the output only through operations whose derivative is 0 wherever they have one."""
    graph = point.graph
    reaches, through_slopes = bytearray(len(graph)), bytearray(len(graph))
    reaches[graph.output] = through_slopes[graph.output] = 1
    for node in range(len(graph) - 1, -1, -1):
        code = graph.codes[node]
        if code < 0 or not reaches[node] or not point.moving[node]:
            continue
        moves = tuple(bool(point.moving[source]) for source in graph.operands(node))
        for source, rule in zip(graph.operands(node), rules(code, moves), strict=True):
            if rule is None:
                continue
            reaches[source] = 1
            if through_slopes[node] and rule.text != "0":
                through_slopes[source] = 1
    for node in point.wrt:
        if reaches[node] and not through_slopes[node]:
            name = point.name_of(node)
            yield Note("step-function", f"{name} acts only through steps, whose slope is 0: its gradient is 0", name)


def _inputs(point: Point) -> Iterator[Note]:
    graph = point.graph
    bound = {name for node, name in graph.names.items() if graph.codes[node] != INPUT}
    for name in point.unused:
        if name in bound:
            text = f"the program sets {name} itself, so the value given for {name} is not used"
        else:
            text = f"{name} does not occur in the program; its gradient is 0"
        yield Note("unused-input", text, graph.ids[graph.inputs[name]])


def _at(point: Point, node: int) -> str:
    """ " at x = -1, y = 2": the operands of a node with their numbers."""
    graph = point.graph
    parts = []
    for operand in dict.fromkeys(graph.operands(node)):
        value = point.values[operand]
        if graph.codes[operand] != CONST and value is not None and not isinstance(value, Hole):
            parts.append(f"{graph.ids[operand]} = {figure(value)}")
    return f" at {', '.join(parts)}" if parts else ""


def _rule(point: Point, node: int, position: int) -> str:
    """The rule on an edge, over ids."""
    from backprop.kinds.symbol import label

    row = point.graph.row(node)
    assert row is not None
    moves = tuple(bool(point.moving[source]) for source in point.graph.operands(node))
    return label(row.rules(moves)[position] or "", row, _ids(point, node), point.graph.ids[node])


def _ids(point: Point, node: int) -> list[str]:
    return [point.graph.written_id(operand)[0] for operand in point.graph.operands(node)]


def _condition(row: Row, point: Point, node: int) -> str:
    """ ": it needs v1 > 0": the domain of a row over the node's own operands; of x/0 it is ": x/y needs y != 0"."""
    if not row.domain:
        return ""
    operands = point.graph.operands(node)
    parameters = row.names(len(operands))
    named = set(re.findall(r"[^\W\d]\w*", row.domain))
    if any(point.graph.codes[one] == CONST for one, name in zip(operands, parameters, strict=True) if name in named):
        # nobody learns from "0 != 0" what is needed; the letters must not be those of the program's own y/0
        taken = {point.graph.ids[one] for one in (*operands, node)}
        letters = (letter for letter in "abcdefgh" if letter not in taken)
        names = {name: next(letters) if name in taken else name for name in parameters}
        needs = written(row, [(names[name], ATOM) for name in parameters])[0] + " needs"
    else:
        names, needs = dict(zip(parameters, _ids(point, node), strict=True)), "it needs"
    return f": {needs} " + re.sub(r"[^\W\d]\w*", lambda found: names.get(found[0], found[0]), row.domain)


def _numbers(point: Point) -> Any:
    graph = point.graph
    known = {graph.ids[node]: figure(value) for node, value in enumerate(point.values) if isinstance(value, float)}
    return known.get


def _overflowed(point: Point) -> str:
    return f" (it comes of the overflow at {_first(point)})" if overflown(point) else ""


def _first(point: Point) -> str:
    node = overflown(point)[0]
    return f"{point.graph.ids[node]} = {point.graph.formula(node)}"


def _given(point: Point) -> list[Any]:
    return [point.values[node] for node in point.graph.inputs.values()]


def _is_infinite(value: Any) -> bool:
    return isinstance(value, float) and value - value != 0 and value == value

"""Notes: what a reader should know about a program at a point besides its numbers.

Undefined points, overflows, kinks, dead and saturated units, steps that stop every derivative, inputs that nothing
reads, readings that another reader might not share. What an operation has to say stands on its row (`remarks`, `kink`,
`domain`); this module only asks.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from backprop import ops
from backprop.beside.one_sided import at_operands as _at
from backprop.beside.one_sided import kink_notes, limits_in_words, sides_in_words
from backprop.figures import figure
from backprop.graph import CONST, INPUT
from backprop.graph.building import misgivings
from backprop.kinds import Hole
from backprop.ops import ATOM, Row
from backprop.point import Point
from backprop.record import Note
from backprop.rules import holds, rules
from backprop.syntax import Statement
from backprop.working.formula_texts import put_numbers_in
from backprop.writing import written

# So many derivatives that one hole spoils are named one by one.
MOST_NAMED = 8
# Of more notes of one sort than this a few are told, and how many more there are.
MOST_NOTES, FIRST_NOTES = 100, 20
# Characters of a piece of the program that is quoted.
LONGEST = 60


def why(point: Point, hole: Hole) -> str:
    """Why there is no value at a hole: the operation, what it was given, and the condition that fails.

    Of a step on the way through an operation on arrays, as f.7 = log(f.6), the operation is told too: logdet(A).
    """
    graph = point.graph
    start, end = graph.span(hole.node)
    is_step = "." in graph.ids[hole.node] and end - start <= LONGEST
    return _why(point, hole) + (f" (a step of {graph.source[start:end]})" if is_step else "")


def _why(point: Point, hole: Hole) -> str:
    graph, node = point.graph, hole.node
    name = graph.ids[node]
    row = graph.row(node)
    if hole.code == "no-slope":
        return f"there is no finite slope {hole.detail or 'beside the point'}"
    if row is None:
        if hole.code == "inexact":
            return f"{name} is no fraction"
        return f"{name} {_too_large(point, hole)}"
    formula = graph.formula(node)
    at = _at(point, node)
    if hole.code in ("domain", "infinite-slope") and _only_in_truth(point, hole):
        from backprop.accuracy.lost_digits import true_operands

        at = true_operands(point, node)
    if hole.code == "unproven":
        return _unproven(point, hole, row)
    if hole.position >= 0:
        source = graph.operands(node)[hole.position]
        slope = f"∂{name}/∂{graph.ids[source]} = {_rule(point, node, hole.position)}"
        if hole.code == "inexact":
            return f"the slope {slope}{at} does not come out as a fraction"
        if hole.code == "too-large":
            return f"the slope {slope}{at} {_too_large(point, hole)}"
        if hole.code == "indeterminate":
            return f"{slope} meets 0·inf{at}, which is not guessed{_overflowed(point)}"
        further = "" if source in point.wrt else "; what comes of it further on (0·inf) is not guessed"
        return f"the slope {slope} has no finite value{at}{further}"
    if hole.code == "domain":
        return f"{name} = {formula} has no real value{at}{_condition(row, point, node)}"
    if hole.code == "overflow":
        return f"{name} = {formula}{at} {_too_large(point, hole)}"
    if hole.code == "inexact":
        return f"{name} = {formula}{at} does not come out as a fraction"
    if hole.code == "too-large":
        return f"{name} = {formula}{at} {_too_large(point, hole)}"
    return f"{name} = {formula} = {put_numbers_in(formula, _numbers(point))} has no value{_overflowed(point)}"


def _only_in_truth(point: Point, hole: Hole) -> bool:
    """Whether doubles have a number at a hole, which comes of digits they have lost."""
    if hole.position < 0:
        return not isinstance(point.values[hole.node], Hole)
    return not isinstance(point.partials.values[point.graph.offsets[hole.node] + hole.position], Hole)


def _unproven(point: Point, hole: Hole, row: Row) -> str:
    """What a ball cannot decide, and which condition may fail."""
    graph, node = point.graph, hole.node
    name, at = graph.ids[node], _at(point, node)
    if row.gives_condition:
        word = "is" if isinstance(point.values[node], bool) else "may be"
        return f"{name} = {graph.formula(node)} {word} at its boundary{at}, and {hole.detail}"
    if hole.position < 0:
        needs = _condition(row, point, node) or f": {hole.detail}"
        return f"{name} = {graph.formula(node)} may have no value{at}{needs}"
    source = graph.ids[graph.operands(node)[hole.position]]
    detail = f": {hole.detail}" if hole.detail else ""
    return f"the slope ∂{name}/∂{source} = {_rule(point, node, hole.position)} may be no number{at}{detail}"


def _too_large(point: Point, hole: Hole) -> str:
    """How a number is too large for its kind."""
    if hole.code == "too-large":
        return f"has {hole.detail} in kind {point.kind.name}"
    return f"is beyond {point.kind.largest}"


def explained(point: Point, hole: Hole) -> str:
    """Why there is no value at a hole that spoils an answer, and what the values beside the point show in its place."""
    if hole == point.answer():
        told = {limits_in_words(point)}
    else:
        told = {sides_in_words(point, one) for one in point.singular().values() if one.slope == hole}
    beside = f"; {told.pop()}" if len(told) == 1 and told != {""} else ""
    return why(point, hole) + beside


def notes(point: Point) -> list[Note]:
    """Every note about a program at a point, in the order of the graph; what has no value comes first."""
    if not point.is_scalar:
        from backprop.array_notes import notes_of_arrays

        return notes_of_arrays(point)
    told = [*troubles(point), *_remarks(point), *steps(point), *unused_inputs(point)]
    return list(_not_too_many([*told, *reading_notes(point)]))


def _not_too_many(told: list[Note]) -> Iterator[Note]:
    """The notes, of more than `MOST_NOTES` of one sort the first few and how many more there are."""
    counts = Counter(note.code for note in told)
    seen: Counter[str] = Counter()
    for note in told:
        seen[note.code] += 1
        if counts[note.code] <= MOST_NOTES or seen[note.code] <= FIRST_NOTES:
            yield note
        elif seen[note.code] == counts[note.code]:
            more = f"{counts[note.code] - FIRST_NOTES} more notes of this sort ({note.code}); the last: {note.text}"
            yield Note(note.code, more, note.node)


def troubles(point: Point, kinks: Callable[[Point], Iterable[Note]] = kink_notes) -> Iterator[Note]:
    """What has no value or lost its digits, and the `kinks` on the way."""
    if point.kind.propagates:  # nothing is undefined on a plain tape, and what came of it is told by `birthplace`
        yield from kinks(point)
        return
    yield from undefined(point)
    if point.kind.intervals:
        from backprop.balls import certificates

        yield from certificates.notes(point)
        return
    yield from unsteady(point)
    told = lost(point)
    yield from told
    yield from _overflows(point, {note.node for note in told})
    yield from kinks(point)


def unsteady(point: Point) -> list[Note]:
    """That the answers still change with the most digits that were tried, so that those shown may be wrong."""
    if not point.kind.unsteady:
        return []
    text = "the answers still change with more digits: terms cancel, and what is left may be 0"
    return [Note("unsteady", f"{text}; --kind exact or --kind certified tells what is sure")]


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


def _last_with_a_value(statements: Sequence[Statement]) -> int:
    return max(place for place, one in enumerate(statements) if one.kind in ("expression", "assign"))


def undefined(point: Point) -> Iterator[Note]:
    """What has no value: the output, a derivative, or a node that the answers do not depend on."""
    graph = point.graph
    output = point.answer()
    if isinstance(output, Hole):
        code, word = ("not-proven", "not proven") if output.code == "unproven" else ("undefined", "undefined")
        yield Note(code, f"{word}: {explained(point, output)}", graph.ids[output.node])
        return
    blamed: dict[Hole, list[str]] = {}
    for name, slope in point.gradient().items():
        if isinstance(slope, Hole):
            blamed.setdefault(slope, []).append(f"∂{graph.ids[graph.output]}/∂{name}")
    for hole, names in blamed.items():
        code, word = ("not-proven", "not proven") if hole.code == "unproven" else ("undefined", "undefined")
        told = ", ".join(names[:MOST_NAMED]) + (f" and {len(names) - MOST_NAMED} more" if names[MOST_NAMED:] else "")
        text = f"{told} {word}: {explained(point, hole)}"
        yield Note(code, text, graph.ids[hole.node])
    yield from unused_holes(point)


def unused_holes(point: Point) -> Iterator[Note]:
    """Nodes without a value on which the output does not depend."""
    graph, on_tape = point.graph, point.value()
    for node, value in enumerate(point.values):
        if isinstance(value, Hole) and value.node == node and value is not on_tape:
            yield Note("unused-hole", f"{why(point, value)}; the answer does not depend on it", graph.ids[node])


def lost(point: Point) -> list[Note]:
    """What doubles could not carry, and what the right digits are (`lost_digits`); mostly nothing."""
    found = point.accuracy()
    if found is None or not found.doubted:
        return []
    from backprop.accuracy.lost_digits import lost_digits  # with all that works with many digits

    return list(lost_digits(point))


def _overflows(point: Point, told: Collection[str | None]) -> Iterator[Note]:
    """Infinities born of finite numbers: the double is too small a vessel, not the mathematics undefined.

    The nodes that are `told` of have been, with their true size.
    """
    graph = point.graph
    for node, text in graph.literals.items():
        if point.values[node] == 0 and re.search("[1-9]", text.lower().split("e")[0]):
            yield Note("underflow", f"{text} is below the smallest number of double precision; it counts as 0", None)
    for node, text in {**graph.literals, **{graph.inputs[name]: text for name, text in point.given.items()}}.items():
        value = point.values[node]
        if isinstance(value, float) and text.isdecimal() and value < math.inf and int(text) != int(value):
            yield Note("rounded", f"{text} is no double; it counts as {int(value)}, the nearest one", None)
    for node in overflown(point):
        value = point.values[node]
        if graph.ids[node] in told:
            continue
        yield Note(
            "overflow",
            f"{graph.ids[node]} = {graph.formula(node)}{_at(point, node)} is beyond {point.kind.largest}; "
            f"it counts as {_figure(point, value)} from here on",
            graph.ids[node],
        )
    beyond = too_large(point)
    if beyond:
        yield Note("undefined", beyond)


def too_large(point: Point) -> str:
    """Why an answer is infinite though it is finite in mathematics; "" when none is."""
    infinite = [name for name, slope in point.gradient().items() if _is_infinite(slope)]
    if _is_infinite(point.answer()) and overflown(point):
        return f"the value overflows: {_first(point)} is beyond {point.kind.largest}"
    if infinite and not any(map(_is_infinite, _given(point))):
        return f"the derivative with respect to {', '.join(infinite)} overflows: it is beyond {point.kind.largest}"
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


def _remarks(point: Point) -> Iterator[Note]:
    graph, known = point.graph, point.values
    adjoints = point.reverse().adjoints
    telling = {code for code in set(graph.codes) if code >= 0 and ops.rows()[code].remarks}
    for node, code in enumerate(graph.codes):
        if code not in telling or not point.moving[node] or adjoints[node] is None:
            continue
        row, out = ops.rows()[code], known[node]
        moves = tuple(bool(point.moving[source]) for source in graph.operands(node))
        for remark in row.remarks_for(moves):
            operands = [known[operand] for operand in graph.operands(node)]
            if out is None or any(operand is None or isinstance(operand, Hole) for operand in (*operands, out)):
                continue
            if holds(remark.when, row, point.kind, operands, out):
                names = dict(zip(row.names(len(operands)), _ids(point, node), strict=True))
                text = remark.says.format(**names, out=_figure(point, out), node=graph.ids[node])
                yield Note(remark.code, text, graph.ids[node])


def steps(point: Point) -> Iterator[Note]:
    """Inputs that reach the output only through operations whose derivative is 0 wherever they have one."""
    graph = point.graph
    if not any(_may_be_flat(ops.rows()[code]) for code in set(graph.codes) if code >= 0):
        return
    lost = point.gradient() if point.kind.intervals else {}
    reaches, through_slopes = bytearray(len(graph)), bytearray(len(graph))
    reaches[graph.output] = through_slopes[graph.output] = 1
    moving, offsets, args = point.moving, graph.offsets, graph.args
    known: dict[tuple[int, bytes], list[str | None]] = {}  # the rules of what was met before
    of_arrays = {code for code in set(graph.codes) if code >= 0 and ops.rows()[code].pulls is not None}
    for node in range(len(graph) - 1, -1, -1):
        code = graph.codes[node]
        if code < 0 or not reaches[node] or not moving[node]:
            continue
        sources = args[offsets[node] : offsets[node + 1]]
        moves = bytes([moving[source] for source in sources])
        passing = None if code in of_arrays else known.get((code, moves))
        if passing is None:
            passing = known[code, moves] = _slopes(point, node)
        for source, rule in zip(sources, passing, strict=True):
            if rule is None:
                continue
            reaches[source] = 1
            if through_slopes[node] and rule != "0":
                through_slopes[source] = 1
    for node in point.wrt:
        name = point.name_of(node)
        if reaches[node] and not through_slopes[node] and not isinstance(lost.get(name), Hole):
            yield Note("step-function", f"{name} acts only through steps, whose slope is 0: its gradient is 0", name)


def _may_be_flat(row: Row) -> bool:
    """Whether an operation may have a slope that is 0 wherever it has one."""
    texts = (row.partials, row.stable)
    return row.pulls is not None or any(callable(one) or (one is not None and "0" in one) for one in texts)


def _slopes(point: Point, node: int) -> list[str | None]:
    """The rule on each edge into a node as it is evaluated; None where no derivative passes."""
    graph, code = point.graph, point.graph.codes[node]
    if ops.rows()[code].pulls is None:
        moves = tuple(bool(point.moving[source]) for source in graph.operands(node))
        return [None if rule is None else rule.text for rule in rules(code, moves)]
    passing = point.partials.values[graph.offsets[node] : graph.offsets[node + 1]]
    return [None if partial is None else "a linear map" for partial in passing]


def unused_inputs(point: Point) -> Iterator[Note]:
    """Inputs that nothing reads."""
    graph = point.graph
    bound = {name for node, name in graph.names.items() if graph.codes[node] != INPUT}
    for name in point.unused:
        if name in bound:
            text = f"the program sets {name} itself, so the value given for {name} is not used"
        else:
            text = f"{name} does not occur in the program; its gradient is 0"
        yield Note("unused-input", text, graph.ids[graph.inputs[name]])


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

    def number(name: str) -> str | None:
        value = known.get(name)
        return None if value is None or isinstance(value, (bool, Hole)) else _figure(point, value)

    known = dict(zip(graph.ids, point.values, strict=True))
    return number


def _figure(point: Point, value: Any) -> str:
    """A number of the kind of a point as notes tell it."""
    return figure(point.kind.record(value))


def _overflowed(point: Point) -> str:
    return f" (it comes of the overflow at {_first(point)})" if overflown(point) else ""


def _first(point: Point) -> str:
    node = overflown(point)[0]
    return f"{point.graph.ids[node]} = {point.graph.formula(node)}"


def _given(point: Point) -> list[Any]:
    return [point.values[node] for node in point.graph.inputs.values()]


def _is_infinite(value: Any) -> bool:
    """Whether a number is infinite, or one of an array."""
    if getattr(value, "shape", ()):
        return any(map(_is_infinite, value.flat))
    return value in (math.inf, -math.inf)

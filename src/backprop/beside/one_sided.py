"""One-sided slopes: what is known on both sides of a kink, as records and in words; and what a hole lets be seen.

At a node it is the partial just left and just right of an operand; for the whole it is the slopes of the output in each
input (`singular`), and where the output has no value, what it approaches (`holes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from backprop import ops
from backprop.beside.differences import exactly, levels, many, nearer_at
from backprop.beside.holes import Closed
from backprop.beside.singular import Singular, kept
from backprop.figures import figure
from backprop.graph import CONST
from backprop.kinds import MINIMUM_NORM, Hole, is_number, value_at
from backprop.point import Point
from backprop.record import Limits, Note, OneSided, Trace
from backprop.rules import is_kink, rules

# Kinks at nodes that are told one by one, and nodes whose partials are looked at on both sides.
MOST_NOTES, MOST_NODES = 20, 200
# Operands of one operation that are told one by one.
MOST_OPERANDS = 8


def tell_sides(point: Point, trace: Trace) -> None:
    """Put into a trace what is known on both sides: of its edges at kinks, of its inputs, and beside a hole."""
    trace.one_sided, trace.limits = one_sided(point), limits(point)
    for node in kinks_met(point)[:MOST_NODES]:
        for place, ends in edges(point, node).items():
            if ends.left != ends.right:
                edge = trace.edge_to_change(place)
                edge.left, edge.right = _record(point, ends.left), _record(point, ends.right)


# -- at a node ----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Edges:
    """The partial of one edge at a kink: just left and just right of the operand, None where there is none there.

    `jumps` says that it is the value that has no limit, not only the slope.
    """

    left: Any
    right: Any
    jumps: bool


def kinks_met(point: Point) -> list[int]:
    """The nodes at a kink that the output depends on, in order, if a derivative is taken there."""
    graph, known = point.graph, point.values
    if isinstance(point.value(), Hole):
        return []
    adjoints, rows = point.reverse().adjoints, ops.rows()
    found: list[int] = []
    for node, code in enumerate(graph.codes):
        if code < 0 or not rows[code].kink or not point.moving[node] or adjoints[node] is None:
            continue
        operands = [known[operand] for operand in graph.operands(node)]
        slopes = point.partials.values[graph.offsets[node] : graph.offsets[node + 1]]
        if not all(map(is_number, operands)) or all(slope is None or isinstance(slope, Hole) for slope in slopes):
            continue  # nothing is taken here
        if is_kink(rows[code], point.kind, operands, known[node]):
            found.append(node)
    return found


def edges(point: Point, node: int) -> dict[int, Edges]:
    """The partials on both sides for each edge into a node at a kink, by the place of the edge."""
    graph = point.graph
    first = graph.offsets[node]
    found = {}
    for place in range(first, graph.offsets[node + 1]):
        slope = point.partials.values[place]
        if slope is not None and not isinstance(slope, Hole) and point.kind.digits:
            found[place] = _sides(point, node, place - first)
    return found


def _sides(point: Point, node: int, position: int) -> Edges:
    """The partial just left and just right of an operand's value, with so many digits that nothing else changes."""
    graph, shorter = point.graph, nearer_at(point, node, position, -30)
    kind = many(levels(point.kind)[0] + shorter)
    row = ops.rows()[graph.codes[node]]
    rule = rules(row.code, tuple(bool(point.moving[source]) for source in graph.operands(node)))[position]
    assert rule is not None
    at = [exactly(kind, point.values[operand]) for operand in graph.operands(node)]
    middle = value_at(node, row, kind, at)
    size = abs(at[position]) or kind.number("1e-400")

    def beside(step: str) -> tuple[Any, Any]:
        moved = list(at)
        moved[position] = at[position] + size * kind.number(step)
        value = value_at(node, row, kind, moved)
        return value - middle, rule.evaluate(kind, moved, value)

    ends: list[Any] = []
    jumps = False
    for sign in ("-", ""):
        (change, far), (smaller_change, near) = (beside(f"{sign}1e{exponent - shorter}") for exponent in (-30, -40))
        if not all(map(is_number, (change, far, smaller_change, near))):
            ends.append(None)
            continue
        jumps = jumps or bool(abs(smaller_change) > abs(change) * 0.5)
        # one that dwindles, as that of x^(3/2), is 0
        ends.append(kept(point, near * 0 if abs(near) < 0.95 * abs(far) else near))
    return Edges(ends[0], ends[1], jumps)


# -- the whole ----------------------------------------------------------------------------------------------------


def one_sided(point: Point) -> list[OneSided]:
    """What is known on both sides of the point, for each input for which the rules alone cannot tell the slope."""
    ids, found = point.graph.ids, []
    for node, one in point.singular().items():
        taken = _record(point, one.within)
        told = OneSided(point.name_of(node), one.sort, ids[one.node], taken=taken)
        told.left, told.right = _record(point, one.left), _record(point, one.right)
        told.low, told.high = _record(point, one.low), _record(point, one.high)
        if one.sort == "corner" and taken is not None:
            told.convention = _convention(point, one)
        found.append(told)
    return found


def _record(point: Point, value: Any) -> Any:
    return None if value is None or isinstance(value, Hole) else point.kind.record(value)


def kink_notes(point: Point) -> Iterator[Note]:
    """The kinks on the way, and what they do to the derivatives of the whole."""
    graph = point.graph
    met = kinks_met(point)
    for node in met[:MOST_NOTES]:
        yield Note("kink", kink_text(point, node), graph.ids[node])
    if len(met) > MOST_NOTES:
        yield Note("kink", f"kink: {len(met) - MOST_NOTES} more nodes have no derivative here", None)
    yield from notes_of_the_whole(point, met)


def notes_of_the_whole(point: Point, met: list[int]) -> Iterator[Note]:
    """What the kinks that are `met` on the way do to the derivatives of the whole."""
    singular = point.singular()
    if singular.reason and (met or any(isinstance(slope, Hole) for slope in point.by_rules().values())):
        text = f"{singular.reason}: the values beside the point are not looked at, and what is taken at each kink"
        yield Note("not-looked-at", f"{text} stands as it is; together it may be no derivative", None)
    yield from _of_the_whole(point, singular.items())


def choices(point: Point) -> list[Note]:
    """What a reader of the numbers alone has to know: which of them were taken at a kink; mostly nothing."""
    singular = point.singular()
    if not singular.reason and all(one.sort == "smooth" for _, one in singular.items()):
        return []
    return [note for note in kink_notes(point) if note.code in ("kink", "not-looked-at")]


def kink_text(point: Point, node: int) -> str:
    """What there is to tell of one node at a kink."""
    graph = point.graph
    name, parts, corner = graph.ids[node], [], False
    beside = edges(point, node)
    # of many operands those are told that make the kink
    met = [place for place, ends in beside.items() if ends.jumps or ends.left != ends.right] or list(beside)
    for place in met[:MOST_OPERANDS]:
        ends = beside[place]
        if ends.jumps:
            between = " (it jumps here)"
        else:
            left, right = ("no value" if end is None else _figure(point, end) for end in (ends.left, ends.right))
            between = f" (from the left {left}, from the right {right})"
            corner = corner or (ends.left != ends.right and None not in (ends.left, ends.right))
        taken = _figure(point, point.partials.values[place])
        parts.append(f"∂{name}/∂{graph.ids[graph.args[place]]} is taken as {taken}{between}")
    where = at_operands(point, node, [graph.args[place] for place in met])
    text = f"kink: {name} = {_formula(point, node)} has no derivative{where}"
    if len(met) > MOST_OPERANDS:
        parts.append(f"{len(met) - MOST_OPERANDS} more operands tie")
    if corner:
        # mean, left, right and nan choose among the slopes of the whole; an operation keeps its own
        by = point.convention if point.kind.convention else "minimum norm"
        parts.append(f"any number between is a subgradient, and the one of {by} is taken")
    return "; ".join([text, *parts])


def _of_the_whole(point: Point, singular: Iterable[tuple[int, Singular]]) -> Iterator[Note]:
    """One note for all inputs of which the same is to be said."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    first: dict[tuple[str, str, str], str] = {}
    output = point.graph.ids[point.graph.output]
    for node, one in singular:
        told = _told(point, node, one)
        if told is not None:
            code, before, what, after = told
            key = (code, before, after)
            groups.setdefault(key, []).append(f"∂{output}/∂{point.name_of(node)}{what}")
            first.setdefault(key, point.name_of(node))
    for (code, before, after), parts in groups.items():
        listed = ", ".join(parts[:8]) + (f" and {len(parts) - 8} more" if len(parts) > 8 else "")
        yield Note(code, f"{before}{listed}{after}", first[code, before, after])


def _told(point: Point, node: int, one: Singular) -> tuple[str, str, str, str] | None:
    """What is to be said of one input: the code, what comes before it, what stands beside it, what comes after."""
    graph = point.graph
    if isinstance(one.slope, Hole):
        return None
    given = "" if not one.mended else "the rules have no number here; "
    if one.mended and not isinstance(one.rules, Hole):
        given = f"the rules give {_figure(point, one.rules)} by convention here; "
    is_ = f" is {_figure(point, one.slope)}"
    if one.sort == "smooth":
        if one.mended:
            code = "singular" if one.hole else "kink"
            before = given if one.hole else f"kink: {given}"
            return code, before, is_, ", from values beside the point: the slope is the same from both sides"
        everywhere = all(other.sort == "smooth" for other in point.singular().values())
        before = f"{graph.ids[graph.output]} is differentiable here all the same: " if everywhere else ""
        return "smooth", before, is_, ", from both sides"
    direct = one.node == graph.output and node in graph.operands(one.node)
    if not one.mended and direct and not one.apart:
        return None  # told at the node
    condition = ops.rows()[graph.codes[one.node]].gives_condition
    if condition:
        kink = graph.ids[one.node]
        given += f"{kink} = {graph.formula(one.node)} is at its boundary{at_operands(point, one.node)}; "
    beside = sides_in_words(point, one) or "what the slopes beside the point are could not be told"
    if one.low is not None and one.low != one.high:
        beside += f"; any of [{_figure(point, one.low)}, {_figure(point, one.high)}] is a subgradient"
    by = f" by {_convention(point, one).replace('-', ' ')}" if one.sort == "corner" else ""
    return "kink", f"kink: {given}", f" is taken as {_figure(point, one.slope)}", f"{by}: {beside}"


def _convention(point: Point, one: Singular) -> str:
    """By which convention the number at a corner is taken."""
    each = point.convention == MINIMUM_NORM and not one.smallest
    return f"{point.convention} at each operation" if each else point.convention


def sides_in_words(point: Point, one: Singular) -> str:
    """What the values beside a point tell of the slopes on both sides."""
    if one.sides.central is not None:
        text = "the slope is the same from both sides"
    elif one.sides.ends is None:
        return ""
    else:
        ends = list(zip(one.sides.ends, ("left", "right"), (one.left, one.right), strict=True))
        slopes = [f"{_signed(point, slope)} from the {which}" for _, which, slope in ends if slope is not None]
        parts = [f"the slope is {' and '.join(slopes)}"] if slopes else []
        for sort, words in _BESIDE.items():
            sides = [which for end, which, _ in ends if end.sort == sort]
            parts += [f"{words} {' and '.join(sides)}"] if sides else []
        text = ", and ".join(parts)
    return f"{text}, but between the axes it is another than along them" if one.apart else text


_BESIDE = {
    "none": "there is no value on the",
    "jump": "the value jumps on the",
    "oscillates": "the quotients oscillate on the",
}


def _signed(point: Point, value: Any) -> str:
    return _figure(point, value) if is_number(value) else f"{'+' if value > 0 else '-'}infinity"


# -- holes --------------------------------------------------------------------------------------------------------


def limits(point: Point) -> Limits | None:
    """What the value and the slopes approach, as a record; None where there is nothing to tell."""
    found = point.approach()
    if found is None or found.reason:
        return None
    if found.both is not None:
        told = _limits(point, found.both)
        told.side = found.side or None
        return told
    left, right = (None if one is None else _limits(point, one) for one in (found.left, found.right))
    return Limits(left=left, right=right)


def _limits(point: Point, closed: Closed) -> Limits:
    slopes = {point.name_of(node): point.kind.record(slope) for node, slope in closed.slopes.items()}
    value = None if closed.value is None else point.kind.record(closed.value)
    return Limits(value=value, gradient=slopes, why=_WHY.get(closed.why))


_WHY = {
    "oscillates": "the value oscillates",
    "slope oscillates": "the slopes oscillate",
    "direction": "the value depends on the direction",
    "slopes": "the slopes depend on the direction",
}


def limits_in_words(point: Point) -> str:
    """What the output and its slopes go to beside a point where there is no value; "" when it cannot be told."""
    found = point.approach()
    if found is None:
        return ""
    if found.reason:
        return found.reason
    if found.both is not None:
        where = f" from the {found.side}" if found.side else ""
        return f"beside the point{where} {_in_words(point, found.both)}"
    sides = [(which, one) for which, one in (("left", found.left), ("right", found.right)) if one is not None]
    return "; ".join(f"from the {which} {_in_words(point, one)}" for which, one in sides)


def _in_words(point: Point, closed: Closed) -> str:
    output = point.graph.ids[point.graph.output]
    if closed.why == "oscillates":
        return f"{output} has no limit: it oscillates"
    if closed.why == "direction":
        return f"{output} has no limit: it depends on the direction"
    if not is_number(closed.value):
        return f"{output} grows without bound, to {_signed(point, closed.value)}"
    parts = [f"{output} goes to {_figure(point, closed.value)}"]
    for node, slope in closed.slopes.items():
        parts.append(f"∂{output}/∂{point.name_of(node)} to {_signed(point, slope)}")
    text = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
    more = {"slope oscillates": "but its slope has no limit: it oscillates"}
    more["slopes"] = "but its slope depends on the direction"
    return f"{text}, {more[closed.why]}" if closed.why in more else text


def _figure(point: Point, value: Any) -> str:
    return figure(point.kind.record(value))


def _formula(point: Point, node: int) -> str:
    """What is worked out at a node; of a call with very many operands the first and the last of them."""
    graph = point.graph
    operands = graph.operands(node)
    if len(operands) <= MOST_OPERANDS:
        return graph.formula(node)
    first, *_, last = (graph.written_id(operand)[0] for operand in operands)
    return f"{graph.op(node)}({first}, ..., {last})"


def at_operands(point: Point, node: int, told: Iterable[int] = ()) -> str:
    """ " at x = -1, y = 2": the operands of a node with their numbers; of very many those that are to be `told`."""
    graph = point.graph
    parts = []
    operands = list(dict.fromkeys(graph.operands(node)))
    if len(operands) > MOST_OPERANDS:
        operands = list(told)[:MOST_OPERANDS]
    for operand in operands:
        value = point.values[operand]
        if graph.codes[operand] != CONST and value is not None and not isinstance(value, Hole):
            parts.append(f"{graph.ids[operand]} = {_figure(point, value)}")
    return f" at {', '.join(parts)}" if parts else ""

"""Birthplace: where the first NaN or infinity of a point came into the world, and the smallest program that shows it.

On a plain tape a NaN spreads without a word from the one operation that made it to everything behind. The search goes
the other way, in one walk over the nodes: from an answer that is no finite number back through values that are none
either, to the first of them. Where all values are finite it goes back from the output to the first adjoint that is
not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from backprop.conventions import FRAMEWORKS
from backprop.figures import figure
from backprop.graph import CONST, INPUT, Graph
from backprop.ops import ATOM, COMPARISON, Row
from backprop.point import Point
from backprop.record import Birth
from backprop.rules import holds
from backprop.writing import Written, level_of_number, written

TOO_LARGE = "beyond the largest double, 1.8e308"

# A part of a program of more statements than this is cut short: the adjoint that comes out of it stands as a factor.
LONGEST_PART = 20


def birth(point: Point) -> Birth | None:
    """Where the first NaN or infinity was born; None when there is none, or only such as was given and did no harm.

    >>> from backprop.kinds.ieee import IEEE
    >>> from backprop.point import at
    >>> found = birth(at("a = x - 2; b = log(a); b + x^2", {"x": 1}, kind=IEEE))
    >>> found.node, found.why
    ('b', 'log of a negative number, it needs a > 0')
    >>> found.program, found.inputs
    ('b = log(a)', {'a': -1.0})
    """
    point = point.told()
    if point.kind.arrays:  # too large to be opened into single numbers
        return None
    if not is_finite(point.value()):
        return _of_value(point, point.graph.output)
    adjoints = point.reverse().adjoints
    reached = _leading_to_output(point)
    lost = [node for node, one in enumerate(adjoints) if one is not None and reached[node] and not is_finite(one)]
    if lost:
        return _of_adjoint(point, lost[-1])
    first = next((node for node in range(len(reached)) if reached[node] and _is_born(point, node)), None)
    return None if first is None else _of_value(point, first)


def told(found: Birth) -> str:
    """The birth in a sentence."""
    if found.what == "adjoint":
        return f"the first adjoint that is NaN or infinite is that of {found.node}: {found.why}"
    if not found.operands:
        return f"the first NaN or infinity is {found.node}: {found.why}"
    statement = found.program.partition("; ")[0]  # where it becomes NaN may come behind
    words = re.findall(r"\w+", statement)
    at = ", ".join(f"{name} = {_shown(value)}" for name, value in found.inputs.items() if name in words)
    born = f"{found.node}, born" if "[" in found.node else "born"  # an element, which the program calls otherwise
    return f"the first NaN or infinity is {born} at {statement}{f', {at}' if at else ''}: {found.why}"


def is_finite(value: Any) -> bool:
    """Whether a value is a finite number or a condition; what was not worked out (None) is no trouble either."""
    return not isinstance(value, float) or math.isfinite(value)


def _leading_to_output(point: Point) -> bytearray:
    """Marks the nodes that the output is worked out from, by a condition too."""
    graph = point.graph
    reached = bytearray(len(graph))
    reached[graph.output] = 1
    for node in range(graph.output, -1, -1):
        if reached[node]:
            for operand in graph.operands(node):
                reached[operand] = point.values[operand] is not None
    return reached


def _is_born(point: Point, node: int) -> bool:
    """Whether an operation made something that is no finite number out of operands that are."""
    graph, known = point.graph, point.values
    if graph.codes[node] < 0 or is_finite(known[node]):
        return False
    return all(is_finite(known[operand]) for operand in graph.operands(node))


# -- a value --------------------------------------------------------------------------------------------------------


def _of_value(point: Point, node: int) -> Birth:
    """The birth of the NaN or infinity that stands at a node: follow it back to the first of its ancestors."""
    ids = point.graph.ids
    line = _line_back(point, node)
    first = line[-1]
    why = _why_value(point, first)
    part = [first]
    # an infinity is not yet a NaN: say, and show, where it became one
    turned = next((one for one in reversed(line) if _is_nan(point.values[one])), first)
    if turned != first:
        why += f"; it becomes NaN at {ids[turned]} = {point.graph.formula(turned)}: {_why_value(point, turned)}"
        between = line[line.index(turned) :]
        part = between[::-1] if len(between) <= LONGEST_PART else part
    program = _Program(point)
    for one in part:
        program.operation(one)
    if not program.lines:  # a leaf alone is a program too
        program.lines.append(program.leaf(first)[0])
    return Birth(ids[first], "value", _operands(point, first), why, *program.record())


def _line_back(point: Point, node: int) -> list[int]:
    """From a node without a finite value back to the first, each an operand of the one before.

    A NaN comes of a NaN where there is one among the operands, else of the first infinity.
    """
    graph, known = point.graph, point.values
    line = [node]
    while graph.codes[line[-1]] >= 0:
        bad = [operand for operand in _sources(point, line[-1]) if not is_finite(known[operand])]
        if not bad:
            break
        line.append(next((operand for operand in bad if _is_nan(known[operand])), bad[0]))
    return line


def _sources(point: Point, node: int) -> Sequence[int]:
    """The operands that a value comes of: of a choice the branch taken alone, though both may have been worked out."""
    operands, row = point.graph.operands(node), point.graph.row(node)
    if row is None or row.gives_condition or not row.conditions or len(operands) != 3:
        return operands
    condition, taken, other = operands
    return [taken if point.values[condition] else other]


def _why_value(point: Point, node: int) -> str:
    """What made a value that is no finite number: of finite operands, of infinities, or from outside."""
    graph, known = point.graph, point.values
    name, value = graph.ids[node], figure(known[node])
    row = graph.row(node)
    if row is None:
        if graph.codes[node] == INPUT:
            return f"the input {name} came in as {value}"
        return f"{graph.literals[node]} is {TOO_LARGE}" if "inf" not in graph.literals[node] else "the constant inf"
    operands = [known[operand] for operand in graph.operands(node)]
    if not all(map(is_finite, operands)):
        return _of_infinities(row, operands, value)
    if row.domain and not holds(row.domain, row, point.kind, operands, known[node]):
        ids = [graph.written_id(operand)[0] for operand in graph.operands(node)]
        return _outside(row, operands, ids)
    if _is_nan(known[node]):
        return f"{_call(row, operands)} has no value"
    return f"overflow: {_call(row, operands)} is {TOO_LARGE}"


_SIGNS = {"add": "+", "sub": "-", "mul": "·", "div": "/"}


def _of_infinities(row: Row, operands: Sequence[Any], value: str) -> str:
    """ "inf - inf", "0·inf", "sin(inf)": what was worked out of operands that are not finite."""
    texts = [figure(operand) for operand in operands]
    sign = _SIGNS.get(row.name)
    if sign is None:
        return f"{_call(row, operands)} is {value}"
    if sign == "+" and texts[1].startswith("-"):
        sign, texts[1] = "-", texts[1][1:]
    elif texts[1].startswith("-"):
        texts[1] = f"({texts[1]})"
    return f" {sign} ".join(texts) if sign in "+-" else sign.join(texts)


def _outside(row: Row, operands: Sequence[Any], ids: Sequence[str]) -> str:
    """An operation outside its domain, in the words that people use where there are some."""
    if row.name == "div":
        return "0/0" if operands[0] == 0 else f"division by {_shown(operands[1])}"
    needs = re.sub(r"[^\W\d]\w*", lambda word: dict(zip(row.names(len(ids)), ids, strict=True)).get(word[0], word[0]),
                   row.domain)  # fmt: skip
    if len(operands) == 1:
        name, x = row.called[0] if row.called else row.name, operands[0]
        which = "a negative number" if x < 0 and row.domain in ("x > 0", "x >= 0") else _shown(x)
        return f"{name} of {which}, it needs {needs}"
    return f"{_call(row, operands)} has no finite value, it needs {needs}"


def _zero(x: float) -> str:
    return "-0" if math.copysign(1.0, x) < 0 else "0"


def _shown(x: Any) -> str:
    """A number with the sign of a zero, which matters here."""
    return _zero(x) if x == 0 else figure(x)


def _call(row: Row, operands: Sequence[Any]) -> str:
    """An operation with its numbers put in."""
    texts = [_shown(one) for one in operands]
    return written(row, [(text, level_of_number(text)) for text in texts])[0]


def _operands(point: Point, node: int) -> dict[str, Any]:
    graph = point.graph
    return {graph.ids[operand]: point.values[operand] for operand in graph.operands(node)}


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and value != value


# -- an adjoint -----------------------------------------------------------------------------------------------------


def _of_adjoint(point: Point, node: int) -> Birth:
    """The birth of the NaN or infinity that is the adjoint of a node, while those of all nodes behind it are finite."""
    graph, ids = point.graph, point.graph.ids
    backward = point.reverse()
    leaving = [
        (target, place)
        for target, place in _edges_from(graph, node)
        if backward.contributions[place] is not None and backward.adjoints[target] is not None
    ]
    brought = backward.contributions
    bad = [one for one in leaving if not is_finite(brought[one[1]])]
    if not bad:
        total = " + ".join(figure(brought[place]) for _, place in leaving)
        why = f"overflow: the sum {total} where edges meet at {ids[node]} is {TOO_LARGE}"
        return Birth(ids[node], "adjoint", _operands(point, leaving[0][0]), why, *_part(point, node, leaving).record())
    target, place = first = next((one for one in bad if _is_nan(brought[one[1]])), bad[0])
    behind = [target, *graph.operands(target)]
    if not is_finite(point.partials.values[place]):
        for one in behind:
            if not is_finite(point.values[one]):
                return _of_value(point, one)
    why, operands = _why_adjoint(point, node, target, place), _operands(point, target)
    needed = [first]
    if _is_nan(backward.adjoints[node]) and not _is_nan(brought[place]):
        why += f"; it becomes NaN where edges meet at {ids[node]}: inf - inf"
        needed = bad if any(brought[one[1]] == -brought[place] for one in bad) else leaving
    edge = (ids[node], ids[target], place - graph.offsets[target])
    return Birth(ids[node], "adjoint", operands, why, *_part(point, node, needed).record(), edge=edge)


def _edges_from(graph: Graph, node: int) -> Iterator[tuple[int, int]]:
    """The edges that leave a node, as target and place in `args`."""
    for target in range(node + 1, len(graph)):
        for place in range(graph.offsets[target], graph.offsets[target + 1]):
            if graph.args[place] == node:
                yield target, place


def _why_adjoint(point: Point, node: int, target: int, place: int) -> str:
    ids, graph = point.graph.ids, point.graph
    edge = f"∂{ids[target]}/∂{ids[node]}"
    slope, adjoint = point.partials.values[place], point.reverse().adjoints[target]
    at = ", ".join(f"{ids[one]} = {_shown(point.values[one])}" for one in dict.fromkeys(graph.operands(target)))
    if is_finite(slope):
        return f"overflow: {figure(adjoint)} · {figure(slope)} on edge {edge} is {TOO_LARGE}"
    if _is_nan(slope):
        return f"the rule of {edge} gives NaN at {at}"
    if adjoint == 0:
        return f"0·{figure(slope)} on edge {edge}: its partial is infinite at {at}"
    return f"the partial on edge {edge} is {figure(slope)} at {at}"


def _part(point: Point, node: int, leaving: Sequence[tuple[int, int]]) -> _Program:
    """The program from a node to the output, as far as the adjoint comes that way."""
    adjoints = point.reverse().adjoints
    program = _Program(point)
    program.leaf(node)
    targets = {target for target, _ in leaving}
    way = _way_to_output(point, targets)
    if len(way) <= LONGEST_PART:
        for one in way:
            program.operation(one, whole=True)
        return program
    for target in sorted(targets):
        program.operation(target, whole=True)
    terms = [f"{_literal(adjoints[target])}*{program.names[target]}" for target in sorted(targets)]
    program.lines.append(" + ".join(terms).replace("+ -", "- "))
    return program


def _way_to_output(point: Point, start: set[int]) -> list[int]:
    """The nodes through which the adjoint of some nodes comes from the output, in order."""
    graph, adjoints, brought = point.graph, point.reverse().adjoints, point.reverse().contributions
    above = bytearray(len(graph))
    for node in sorted(start):
        above[node] = 1
    for node in range(min(start), len(graph)):
        if adjoints[node] is None or above[node]:
            continue
        places = range(graph.offsets[node], graph.offsets[node + 1])
        above[node] = any(above[graph.args[place]] and brought[place] is not None for place in places)
    return [node for node in range(len(graph)) if above[node] and adjoints[node] is not None]


# -- a program one can run ------------------------------------------------------------------------------------------


def _literal(value: float) -> str:
    return repr(value).removesuffix(".0") if value != 0 else _zero(value)


@dataclass(slots=True)
class _Program:
    """A part of a program put down as statements: what it does not work out itself is an input or a number."""

    point: Point
    lines: list[str] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    inputs: dict[str, Any] = field(default_factory=dict)

    def record(self) -> tuple[str, dict[str, Any], str]:
        """The statements in one line, the inputs, and the command that runs it."""
        text = "; ".join(self.lines)
        quote = "'" if "!" in text else '"'  # a shell has a use of its own for ! between double quotes
        words = [f"backprop trace {quote}{text}{quote}"]
        words += [f"{name}={str(value).removesuffix('.0')}" for name, value in self.inputs.items()]
        if self.point.convention in FRAMEWORKS:
            words.append(f"--convention {self.point.convention}")
        else:
            words.append("--undefined propagate")
        return text, self.inputs, " ".join(words)

    def name(self, node: int) -> str:
        """A name for a node that can be typed: its id, without the signs of a name bound again and of an element."""
        if node not in self.names:
            stem = re.sub(r"\W+", "_", self.point.graph.ids[node]).rstrip("_")
            stem = stem if stem[:1].isalpha() else f"v_{stem}"
            taken, number, found = set(self.names.values()), 1, stem
            while found in taken:
                number += 1
                found = f"{stem}_{number}"
            self.names[node] = found
        return self.names[node]

    def leaf(self, node: int) -> Written:
        """A node that is given by its value; a number that has no name stands for itself."""
        graph = self.point.graph
        if graph.codes[node] == CONST and node not in graph.names:
            return graph.written_id(node)
        if node not in self.names:
            self.inputs[self.name(node)] = self.point.values[node]
        return self.names[node], ATOM

    def operation(self, node: int, whole: bool = False) -> None:
        """One statement. Operands are leaves; in a `whole` part those that no statement before gives are numbers."""
        graph = self.point.graph
        row = graph.row(node)
        if row is None:
            self.leaf(node)
            return
        operands = [self.operand(row, place, operand, whole) for place, operand in enumerate(graph.operands(node))]
        self.lines.append(f"{self.name(node)} = {written(row, operands)[0]}")

    def operand(self, row: Row, place: int, node: int, whole: bool) -> Written:
        graph, value = self.point.graph, self.point.values[node]
        if node in self.names:
            return self.names[node], ATOM
        if place in row.conditions or isinstance(value, bool):
            return ("1 > 0" if value else "1 < 0"), COMPARISON
        if value is None:  # in a branch not taken
            return "0", ATOM
        if graph.codes[node] == CONST and node not in graph.names:
            return self.leaf(node)
        # the rules of some rows ask which operands move, so one that moves stays a variable there
        asks = callable(row.partials) and self.point.moving[node]
        if whole and not asks and math.isfinite(value):
            text = _literal(value)
            return text, level_of_number(text)
        return self.leaf(node)

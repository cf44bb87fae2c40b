"""Jacobians: every derivative of every element of the output, and its products with a vector from either side.

A forward pass, moving one element of an input, gives a column of the Jacobian; a reverse pass, from one element of the
output, gives a row. The side that costs less is taken (Griewank and Walther, Evaluating Derivatives, 2008, chapter 3),
and columns, or rows, that do not touch share a pass (`sparsity`). The passes go over the closed graph, whose nodes are
arrays. Beside it each element of the output is a scalar program of its own, the part of the opened one that leads to
it: that confirms its row, and answers where the point is delicate (a kink, a hole, digits that doubles lose).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from backprop import kinds, unopened
from backprop import point as points
from backprop.array_point import ALWAYS_ASKED, DIFFERENT, SLACK, ArrayPoint
from backprop.arrays_text import element_name
from backprop.beside.differences import as_double, weights
from backprop.forward import weighted
from backprop.gradient import refuse_holes, remarks
from backprop.higher.blocks import Part
from backprop.higher.gradient_graph import gradient_graph
from backprop.higher.sparsity import Pattern, members, pattern
from backprop.kinds import Hole, Kind, is_number
from backprop.kinds.array import Arrays
from backprop.kinds.doubles import Doubles
from backprop.kinds.real import Real
from backprop.kinds.shapes import Shape, shape_of
from backprop.mistakes import Mistake, OptionValue, TooMuchWork, Undefined
from backprop.opening import MOST_NODES, Opened
from backprop.point import Number, Point, Program
from backprop.record import Note, Value, Witness
from backprop.reverse import reverse
from backprop.rules import kinks
from backprop.values import values

if TYPE_CHECKING:
    from backprop.higher.directions import Question

# Derivatives that are held at once: 10 million doubles are 80 megabytes.
MOST_DERIVATIVES = 10_000_000
# Places of a pattern, of which each is a bit: 250 megabytes.
MOST_PLACES = 2_000_000_000
# Nodes of the opened program that are worked out again, element by element of the output, to confirm its rows; and to
# look at those that are delicate.
MOST_CONFIRMED, MOST_LOOKED_AT = 15_000, 150_000
# Digits that the closed and the opened program have to have in common.
ENOUGH = 10.0
# As many as doubles have.
FULL = 15.95
# Two ways to one number, which is off by rounding, are apart by no more than so many times what a last digit moves it.
MOST_ROUNDINGS = 100
MOST_NOTES = 20


@dataclass(slots=True)
class Passes:
    """How a Jacobian was worked out: its size, and how many passes each mode takes (and takes without sharing)."""

    mode: str
    rows: int
    columns: int
    forward: int
    reverse: int

    def to_dict(self) -> dict[str, Any]:
        """The record for JSON."""
        return {"mode": self.mode, "forward": self.forward, "reverse": self.reverse}


@dataclass(slots=True)
class Jacobian:
    """The derivatives by each name: nested lists, first the axes of the output, then those of the input.

    `shape` is that of the output, `parts` are what it is differentiated by.
    """

    shape: Shape
    parts: list[Part]
    derivatives: dict[str, Value]
    passes: Passes
    witnesses: list[Witness] = field(default_factory=list)

    @property
    def disagrees(self) -> bool:
        """Whether a witness found other numbers."""
        return any(witness.verdict == "DISAGREES" for witness in self.witnesses)

    def to_dict(self) -> dict[str, Any]:
        """The derivatives for JSON."""
        return {
            part.name: {"shape": [*self.shape, *part.shape], "values": self.derivatives[part.name]}
            for part in self.parts
        }


@dataclass(slots=True)
class Sparsity:
    """Where a Jacobian or a Hessian (`of`) may have numbers other than 0: the columns of each row.

    `forward` and `reverse` are the passes that it takes when columns, or rows, that do not touch share one. `names`
    are the inputs, or the output, along the columns and the rows, each with how many elements it has.
    """

    of: str
    pattern: Pattern
    forward: int
    reverse: int
    along_rows: list[tuple[str, int]]
    along_columns: list[tuple[str, int]]

    def to_dict(self) -> dict[str, Any]:
        """The record for JSON."""
        found = self.pattern
        return {
            "of": self.of,
            "shape": [len(found.rows), found.columns],
            "nonzeros": found.nonzeros,
            "rows": found.places,
            "passes": {"forward": self.forward, "reverse": self.reverse},
        }


def jacobian(
    program: str | Program,
    inputs: Mapping[str, Number],
    wrt: Sequence[str] | None = None,
    kind: str | Kind = "real",
    limit: int | None = None,
    mode: str | None = None,
) -> dict[str, Any]:
    """The Jacobian by each name in `wrt`: the shape of the output, then that of the input.

    `mode` is "forward" or "reverse", the cheaper one when it is None. Raises `Mistake`, also where the value or a
    derivative does not exist.

    >>> jacobian("[x*y, sin(x)]", {"x": 0, "y": 3})["x"].tolist()
    [3.0, 1.0]
    """
    outputs = Outputs(points.at(program, inputs, wrt, kinds.by_name(kind, limit)))
    outputs.refuse()
    return {name: outputs.here.kind.answer(found) for name, found in outputs.jacobian(mode).items()}


@dataclass(frozen=True, slots=True)
class Asked(Part):
    """A part that is asked for: its node, and the places of its elements in that, counted row by row."""

    node: int
    places: list[int]


def asked_parts(here: Point) -> list[Asked]:
    """What is asked for at a point: whole nodes, and elements and rows of them."""
    if not isinstance(here, ArrayPoint):
        return [Asked(here.name_of(node), (), [here.name_of(node)], node, [0]) for node in here.wrt]
    found = []
    for name, (node, at) in here.asked.items():
        shape = shape_of(here.values[node])
        places = np.asarray(np.arange(math.prod(shape)).reshape(shape)[at])
        label = here.name_of(node)
        elements = [element_name(label, (*at, *inside)) for inside in np.ndindex(*places.shape)]
        found.append(Asked(name, places.shape, elements, node, places.reshape(-1).tolist()))
    return found


class Outputs:
    """A program at a point as a function from the elements of its inputs to those of its output.

    `columns` are the elements of what is asked for: the node and the place in it, row by row.
    """

    def __init__(self, here: Point) -> None:
        self.here = here
        self.kind = here.kind
        self.base: Kind = here.kind.base if isinstance(here, ArrayPoint) else here.kind
        self.shape = here.shape
        self.count = math.prod(self.shape)
        self.parts = asked_parts(here)
        self.shapes = {part.node: shape_of(here.values[part.node]) for part in self.parts}
        self.columns = [(part.node, place) for part in self.parts for place in part.places]
        self.names = [name for part in self.parts for name in part.elements]
        self.output = here.graph.ids[here.graph.output]
        self._asked: dict[int, Point] | None = None
        self.unasked: list[int] = []  # delicate rows that would take too long to look at

    @cached_property
    def places_of(self) -> dict[str, list[int]]:
        """The columns of each element; several where it is asked for more than once, as W[0,1] by W and by W[0]."""
        found: dict[str, list[int]] = {}
        for column, name in enumerate(self.names):
            found.setdefault(name, []).append(column)
        return found

    @cached_property
    def rows(self) -> list[str]:
        """What each row is called: f[0]."""
        return [element_name(self.output, at) for at in np.ndindex(*self.shape)]

    # -- refusals and notes

    def refuse(self) -> None:
        """Raises `Undefined` and its like for an output that has no value at all."""
        if isinstance(self.here.value(), Hole):
            refuse_holes(self.here)

    def _afford(self) -> None:
        if self.count * len(self.columns) > MOST_DERIVATIVES:
            raise TooMuchWork(
                f"the Jacobian would have {self.count * len(self.columns):,} elements; up to {MOST_DERIVATIVES:,} are "
                "worked out",
                "A row or a column of it, or a sum of them, takes one pass: --vjp, --jvp   Fewer inputs: --wrt x",
            ).within(self.here.syntax.source)

    def value(self) -> Any:
        """The value of the output. Raises what `gradient.refuse_holes` does for an element that has none."""
        numbers = self._flat(self.here.value(), self.count)
        for row, point in self._answering(numbers).items():
            number, answer = numbers[row], point.answer()
            if answer is not point.value() or not finite([number])[0] or self._is_off(number, answer):
                numbers[row] = answer
        self._refuse_missing(numbers)
        return self.shaped(list(numbers), self.shape)

    def _is_off(self, number: Any, answer: Any) -> bool:
        """Whether a double of the closed program is not that of the opened one, whose digits are known.

        Sums are added up in another order there, so the one may cancel to noise where the other does not.
        """
        if not isinstance(self.kind, Doubles) or not isinstance(self.base, Real):
            return False
        known = is_number(number) and is_number(answer)
        return bool(known and abs(number - answer) > DIFFERENT * abs(answer) + SLACK)

    @cached_property
    def _is_noisy(self) -> bool:
        """Whether that is so anywhere on the way; then the scalar programs answer, as far as they were asked."""
        opened = self.opened
        if opened is None or not isinstance(self.kind, Doubles):
            return False
        known = self._opened_values(opened)
        return any(
            place >= 0 and self._is_off(number, known[place])
            for node, places in enumerate(opened.places)
            for number, place in zip(self.kind.elements(self.here.values[node]), places.flat, strict=False)
        )

    def _opened_values(self, opened: Opened) -> list[Any]:
        leaves = {opened.graph.inputs[name]: self.base.number(text) for name, text in opened.given.items()}
        return values(opened.graph, self.base, leaves)

    def remarks(self) -> list[Note]:
        """What a reader of the numbers has to know: kinks, lost digits."""
        found: dict[str, Note] = {}
        for point in self.asked().values():
            for note in remarks(point):
                found.setdefault(note.text, note)
        told = list(found.values())
        if isinstance(self.here, ArrayPoint) and not self.asked():
            told += [note for _, note in unopened.kinks_met(self._weighted())]
        if len(told) > MOST_NOTES:
            told[MOST_NOTES:] = [Note("more", f"{len(told) - MOST_NOTES} more notes are about other elements")]
        if self.unasked:
            names = ", ".join(self.rows[row] for row in self.unasked[:8])
            text = f"{names}: there is a kink on the way, and the program is too large to look beside the point"
            told.append(Note("not-looked-at", text))
        return told

    # -- the opened program

    @cached_property
    def opened(self) -> Opened | None:
        """The opened program, where it is small enough to be asked always."""
        return self.here.opened_graph(ALWAYS_ASKED) if isinstance(self.here, ArrayPoint) else None

    def places(self, opened: Opened) -> list[int]:
        """The nodes of the elements of the output in an opened program."""
        return [int(place) for place in opened.places[self.here.graph.output].flat]

    def pattern(self, opened: Opened | None) -> Pattern | None:
        """Which columns each row may have numbers in; None for arrays that are not opened."""
        here = self.here
        if here.is_scalar:
            return pattern(here.graph, here.wrt, [here.graph.output])
        if opened is None:
            return None
        return pattern(opened.graph, self._sources(opened), self.places(opened))

    def _sources(self, opened: Opened) -> list[int]:
        """The nodes of the columns in an opened program."""
        return [int(opened.places[part.node].flat[place]) for part in self.parts for place in part.places]

    def asked(self, doubtful: Iterable[int] = ()) -> dict[int, Point]:
        """Elements of the output as scalar programs of their own: all of them where that is soon done, else those that
        meet a kink, and those that are `doubtful`, because a number is missing there."""
        if self._asked is not None:
            return self._asked
        here = self.here
        if not isinstance(here, ArrayPoint):
            self._asked = {0: here}
            return self._asked
        doubtful = set(doubtful)
        if not self.shape:
            point = here.opened()
            self._asked = {} if point is None else {0: point}
            return self._asked
        opened = self.opened or (here.opened_graph(MOST_NODES) if doubtful else None)
        self._asked = {}
        if opened is None:
            return self._asked
        places, spent = self.places(opened), 0
        delicate = doubtful | self._at_kinks(opened, places)
        for row in (*sorted(delicate), *(row for row in range(self.count) if row not in delicate)):
            if places[row] < 0:
                continue  # a number written in the program
            if spent > (MOST_LOOKED_AT if row in delicate else MOST_CONFIRMED):
                self.unasked += [row] if row in delicate else []
                continue
            point = here.element(opened, places[row])
            spent += len(point.graph)
            self._asked[row] = point
        return self._asked

    def _at_kinks(self, opened: Opened, places: list[int]) -> set[int]:
        """The rows on whose way a kink is met."""
        graph = opened.graph
        met = list(kinks(graph, self.base, self._opened_values(opened)))
        if not met:
            return set()
        reached = pattern(graph, met, places)
        return {row for row, found in enumerate(reached.rows) if found}

    # -- products with a vector

    def forward(self, direction: Mapping[int, Any]) -> Any:
        """The Jacobian times a vector (node to tangent), by the rules: one forward pass."""
        return self._filled(self.here.tangents(direction)[self.here.graph.output], self.shape)

    def back(self, seed: Any) -> Any:
        """A vector (in the shape of the output) times the Jacobian, by the rules, a number for each column."""
        adjoints = reverse(self.here.graph, self.here.partials, self.kind, seed=seed).adjoints
        flat = {
            node: self._flat(self._filled(adjoints[node], shape), math.prod(shape))
            for node, shape in self.shapes.items()
        }
        found = [flat[part.node][part.places] for part in self.parts]
        return np.concatenate(found) if found else np.empty(0)

    def _filled(self, found: Any, shape: Shape) -> Any:
        """What a pass found, in its shape; 0 where it did not get."""
        found = self.base.number("0") if found is None else found
        return self.kind.broadcast(found, shape) if isinstance(self.kind, Arrays) else found

    def shaped(self, numbers: Sequence[Any], shape: Shape) -> Any:
        """Numbers, row by row, as a value of the kind."""
        return self.kind.packed(numbers, shape) if isinstance(self.kind, Arrays) else numbers[0]

    def times(self, direction: Mapping[int, Any]) -> Any:
        """The Jacobian times a vector: the answer. Raises what `gradient.refuse_holes` does."""
        found = self._flat(self.forward(direction), self.count)
        amounts = {name: self._amount(direction, *self.columns[at[0]]) for name, at in self.places_of.items()}
        for row, point in self._apart(self._answering(found)).items():
            terms = ((slope, amounts[name]) for name, slope in point.gradient().items())
            found[row] = self._told(weighted(self.base, terms, self.here.graph.output))
        self._refuse_missing(found)
        return self.shaped(list(found), self.shape)

    def _amount(self, direction: Mapping[int, Any], node: int, place: int) -> Any:
        amount = direction.get(node)
        if amount is None:
            return self.base.number("0")
        return amount.item(place) if isinstance(amount, np.ndarray) else amount

    def direction(self, components: Mapping[str, Any]) -> dict[int, Any]:
        """A direction by the names that are asked for as one by nodes, each in its shape."""
        flat: dict[int, list[Any]] = {}
        for part in self.parts:
            numbers = flat.setdefault(part.node, [self.base.number("0")] * math.prod(self.shapes[part.node]))
            for place, one in zip(part.places, self.kind.elements(components[part.name]), strict=True):
                numbers[place] = self.base.add(numbers[place], one)  # W and W[0] may both move
        return {node: self.shaped(numbers, self.shapes[node]) for node, numbers in flat.items()}

    def pulled(self, seed: Any) -> dict[str, Any]:
        """A vector times the Jacobian: the answer by name. Raises what `gradient.refuse_holes` does."""
        numbers = self._flat(seed, self.count).tolist()
        found = self.back(seed)
        missing = not all(finite(found))
        asked = self._answering(numbers, range(self.count) if missing else ())
        mended = asked if missing else self._apart(asked)
        if mended:
            # the pass for the others, and beside it the answers of those
            zero = self.base.number("0")
            others = [zero if row in mended else one for row, one in enumerate(numbers)]
            rest = [zero] * len(self.columns)  # a pass with nothing to carry would meet 0·inf
            if not all(map(self.base.is_zero, others)):
                rest = self.back(self.shaped(others, self.shape)).tolist()
            terms = [[(number, self.base.number("1"))] for number in rest]
            for row, point in mended.items():
                for name, slope in point.gradient().items():
                    for column in self.places_of[name]:
                        terms[column].append((slope, numbers[row]))
            found[:] = [self._told(weighted(self.base, several, self.here.graph.output)) for several in terms]
        self._refuse_missing(found)
        return self._by_part(found)

    def _told(self, number: Any) -> Any:
        """A number as one of an array: doubles have NaN for a hole."""
        return math.nan if isinstance(self.kind, Doubles) and isinstance(number, Hole) else number

    def _by_part(self, numbers: Any) -> dict[str, Any]:
        """Numbers, one for each column, by the names of the parts."""
        told, at = {}, 0
        for part in self.parts:
            told[part.name] = self.shaped(list(numbers[at : at + len(part.places)]), part.shape)
            at += len(part.places)
        return told

    # -- the whole

    def plan(self, mode: str | None = None) -> tuple[Passes, list[list[int]], Pattern | None]:
        """Which mode to take, and the columns or rows that each of its passes works out."""
        found = self.pattern(self.opened)
        rows, columns = self.count, len(self.columns)
        by_column = [[one] for one in range(columns)] if found is None else found.groups()
        by_row = [[one] for one in range(rows)] if found is None else found.turned().groups()
        if mode not in (None, "forward", "reverse"):
            raise OptionValue("mode", mode, "There are: forward, reverse")
        if mode is None:
            shared = None if len(by_column) == columns else len(by_column)
            mode = "forward" if self._forward_cost(shared) <= self._reverse_cost(len(by_row)) else "reverse"
        return (
            Passes(mode, rows, columns, len(by_column), len(by_row)),
            by_column if mode == "forward" else by_row,
            found,
        )

    def _work(self) -> list[int]:
        """About how many multiplications it takes to carry one number over each edge."""
        graph, known, slopes = self.here.graph, self.here.values, self.here.partials.values
        sizes = [math.prod(shape_of(value)) for value in known]
        found = [0] * len(graph.args)
        for node in range(len(graph)):
            for edge in graph.edges_to(node):
                if slopes[edge.place] is not None:
                    found[edge.place] = max(sizes[edge.source], sizes[node])
        return found

    def _reverse_cost(self, passes: int) -> int:
        return passes * (len(self.here.graph) + sum(self._work()))

    def _forward_cost(self, passes: int | None) -> int:
        """The cost of so many passes; if None, of one for each column, which ends where its input does not reach."""
        graph, work = self.here.graph, self._work()
        if passes is not None:
            return passes * (len(graph) + sum(work))
        moved = [0] * len(graph)
        for place, part in enumerate(self.parts):
            moved[part.node] |= 1 << place
        single = all(len(part.places) == 1 for part in self.parts)
        cost = len(graph) * len(self.columns)
        for node in range(len(graph)):
            for edge in graph.edges_to(node):
                if work[edge.place] and moved[edge.source]:
                    moved[node] |= moved[edge.source]
                    by = moved[edge.source]
                    times = by.bit_count() if single else sum(len(self.parts[one].places) for one in members(by))
                    cost += work[edge.place] * times
        return cost

    def matrix(self, mode: str | None = None) -> tuple[Any, Passes, list[Witness]]:
        """The Jacobian as a matrix of numbers, every element of the output by every element of an input.

        Raises what `gradient.refuse_holes` does for an element that does not exist.
        """
        self._afford()
        passes, groups, found = self.plan(mode)
        made = self._by_passes(passes.mode, groups, found)
        shaken = cache(lambda: self._shaken(passes.mode, groups, found))
        rules = made.copy()
        witnesses = self._judged(made, shaken)
        if not self.here.is_scalar and not self.base.intervals:
            witnesses.append(self._other_mode(rules, passes.mode, shaken))
        self._refuse_missing(made.reshape(-1))
        return made, passes, witnesses

    def _by_passes(self, mode: str, groups: list[list[int]], found: Pattern | None) -> Any:
        """The matrix by the rules, a pass for each group of columns or rows."""
        doubles = isinstance(self.kind, Doubles)
        made = np.empty((self.count, len(self.columns)), dtype=np.float64 if doubles else object)
        made.fill(self.base.number("0"))
        across = made if mode == "reverse" else made.T
        touched = None
        if found is not None:
            touched = found.rows if mode == "reverse" else found.turned().rows
        for group in groups:
            line = self._row_of(group) if mode == "reverse" else self._column_of(group)
            if len(group) == 1:
                across[group[0]] = line
                continue
            assert touched is not None  # lines share a pass only where their pattern is known
            for one in group:
                at = list(members(touched[one]))
                across[one, at] = [line[place] for place in at]
        return made

    def _shaken(self, mode: str, groups: list[list[int]], found: Pattern | None) -> Any:
        """How far each number by the rules moves when the last digit of the inputs does, or its largest terms do.

        What is nothing but rounding, as every derivative of inv(A) @ A, moves by as much as it is. Equal numbers stay
        equal, and what is no number to move, like a class, stays.
        """
        if not self.base.rounds:
            return np.zeros((self.count, len(self.columns)))
        graph, slopes = self.here.graph, self.here.partials.values
        moving = {
            edge.source for node in range(len(graph)) for edge in graph.edges_to(node) if slopes[edge.place] is not None
        }
        exponent = 16 if isinstance(self.base, Real) else self.base.digits
        low: Any = np.full((self.count, len(self.columns)), math.inf)
        high: Any = -low
        for times in (-5, -2, 2, 5):
            by = self.base.add(self.base.number("1"), self.base.number(f"{times}e-{exponent}"))
            leaves = {node: self.here.values[node] for node in graph.inputs.values()}
            leaves |= {node: self.kind.scale(value, by) for node, value in leaves.items() if node in moving}
            try:
                beside = Outputs(self.here.in_kind(self.base, leaves))
            except Mistake:
                continue  # a class has to be a whole number
            if beside.shape == self.shape:  # else there is no value
                made = _as_doubles(beside._by_passes(mode, groups, found))
                low, high = np.minimum(low, made), np.maximum(high, made)
        with np.errstate(invalid="ignore"):
            moved = np.nan_to_num(high - low, posinf=0.0, neginf=0.0)
        for row, point in self.asked().items():  # where chance moves nothing, the terms tell what rounding may leave
            sizes = weights(point)
            moved[row] = np.maximum(moved[row], 10.0**-exponent * max((sizes[node] for node in point.wrt), default=0.0))
        return moved

    def _other_mode(self, made: Any, mode: str, shaken: Callable[[], Any]) -> Witness:
        """One pass in the other mode, along a direction without a pattern, against the same sum of derivatives."""
        across = made if mode == "reverse" else made.T
        spread = np.array(_spread(across.shape[1]))
        amounts = [self.base.number(repr(one)) for one in spread.tolist()]
        if mode == "reverse":
            components, at = {}, 0
            for part in self.parts:
                components[part.name] = self.shaped(amounts[at : at + len(part.places)], part.shape)
                at += len(part.places)
            found = self._flat(self.forward(self.direction(components)), self.count)
        else:
            found = self.back(self.shaped(amounts, self.shape))
        doubles = _as_doubles(across)
        with np.errstate(invalid="ignore", over="ignore"):
            ours, sizes = (doubles @ spread).tolist(), (np.abs(doubles) @ spread).tolist()
        moved = cache(lambda: (shaken() if mode == "reverse" else shaken().T) @ spread)
        worst = _Worst(FULL, lambda line: float(moved()[line]))
        for line, (one, theirs, size, fine) in enumerate(zip(ours, found, sizes, finite(found), strict=True)):
            if fine and math.isfinite(one):
                worst.hear(one, as_double(theirs), size, line, -1, size)
        by = "forward mode" if mode == "reverse" else "reverse mode"
        return Witness("all", by, "DISAGREES" if worst.wrong else "agrees", digits=worst.known)

    def jacobian(self, mode: str | None = None) -> dict[str, Any]:
        """The answer by name: an array in the shape of the output and then that of the input, or one number."""
        made, _, _ = self.matrix(mode)
        return self.by_name(made)

    def by_name(self, made: Any) -> dict[str, Any]:
        """The columns of a matrix by the names that they belong to."""
        found, at = {}, 0
        for part in self.parts:
            block = made[:, at : at + len(part.places)].reshape((*self.shape, *part.shape))
            found[part.name] = block if block.shape else block.item()
            at += len(part.places)
        return found

    def _column_of(self, group: list[int]) -> Any:
        zero, one = self.base.number("0"), self.base.number("1")
        moved: dict[int, list[Any]] = {}
        for column in group:
            node, place = self.columns[column]
            moved.setdefault(node, [zero] * math.prod(self.shapes[node]))[place] = one
        seed = {node: self.shaped(numbers, self.shapes[node]) for node, numbers in moved.items()}
        return self._flat(self.forward(seed), self.count)

    def _row_of(self, group: list[int]) -> Any:
        numbers = [self.base.number("0")] * self.count
        for row in group:
            numbers[row] = self.base.number("1")
        return self.back(self.shaped(numbers, self.shape))

    def _flat(self, value: Any, count: int) -> Any:
        """The numbers in a value as one row."""
        if isinstance(value, np.ndarray):
            return value.reshape(-1).copy()
        made = np.empty(count, dtype=object)
        made.fill(value)
        if isinstance(self.kind, Doubles):
            return np.array([self._told(one) for one in made], dtype=np.float64)
        return made

    # -- delicate elements

    def _answering(self, numbers: Any, more: Iterable[int] = ()) -> dict[int, Point]:
        """The scalar programs of elements that were asked, none of which has a hole. Raises as `refuse_holes` does."""
        doubtful = {row for row, fine in enumerate(finite(numbers)) if not fine} | {*more}
        if not self.here.is_scalar:
            value = finite(self._flat(self.here.value(), self.count))
            doubtful |= {row for row, fine in enumerate(value) if not fine}
        found = self.asked(doubtful)
        for point in found.values():
            refuse_holes(point)
        return found

    def _apart(self, asked: dict[int, Point]) -> dict[int, Point]:
        """Those of the scalar programs whose answers are not what the rules give."""
        if self._is_noisy:
            return asked
        return {
            row: point
            for row, point in asked.items()
            if any(point.gradient()[name] is not one for name, one in point.by_rules().items())
        }

    def _judged(self, made: Any, shaken: Callable[[], Any]) -> list[Witness]:
        """Put the answers of the scalar programs into the matrix; what they say of the numbers that stood there."""
        doubtful = {row for row in range(self.count) if not all(finite(made[row]))}
        asked = self._answering([self.base.number("0")] * self.count, doubtful)
        most = float(self.base.digits) if self.base.digits > 17 else FULL
        of = [part.name for part in self.parts for _ in part.places]
        said = {part.name: _Worst(most, lambda row: float(shaken()[row].max())) for part in self.parts}
        for row, point in asked.items():
            answers, rules = point.gradient(), point.by_rules()
            numbers = [] if self.base.intervals else [as_double(one) for one in rules.values() if is_number(one)]
            largest = max(map(abs, numbers), default=0.0)
            fine = finite(made[row])
            for column in [column for column, known in enumerate(fine) if not known]:
                made[row, column] = self.base.number("0")  # unless there is an answer
            for column in [column for name in answers for column in self.places_of[name]]:
                name = self.names[column]
                if fine[column] and not self.base.intervals and is_number(rules[name]):
                    said[of[column]].hear(made[row, column], rules[name], largest, row, column)
                answer = answers[name]
                if answer is not rules[name] or not fine[column] or self._is_off(made[row, column], answer):
                    made[row, column] = answer
        if self.here.is_scalar:
            return []
        return [self._said(part.name, said[part.name], len(asked)) for part in self.parts]

    def _said(self, name: str, worst: _Worst, asked: int) -> Witness:
        if self.base.intervals:
            return Witness(name, "opened", "not checked", reason="balls hold the true numbers")
        if not asked:
            return Witness(name, "opened", "not checked", reason="it is too large to be asked")
        where = f"∂{self.rows[worst.row]}/∂{self.names[worst.column]}" if worst.row >= 0 else None
        if worst.wrong:
            return Witness(name, "opened", "DISAGREES", digits=worst.known, worst=where)
        found = Witness(name, "opened", "agrees", digits=worst.known if self.base.rounds else None, worst=where)
        written = sum(place < 0 for place in self.places(self.opened)) if self.shape and self.opened else 0
        if asked + written < self.count:
            found.reason = f"{asked} of {self.count} elements of the output were looked at"
        return found

    def _refuse_missing(self, numbers: Any) -> None:
        """Raises `Undefined` where a number is missing that no scalar program could tell.

        Those that were asked have told already of what overflows.
        """
        lost = [one for one, fine in zip(numbers, finite(numbers), strict=True) if not fine]
        if not lost or not (self.base.intervals or any(isinstance(one, Hole) or one != one for one in lost)):
            given = [one for node in self.here.graph.inputs.values() for one in self._flat(self.here.values[node], 1)]
            if not lost or len(self.asked()) == self.count or not all(finite(given)):
                return
        if isinstance(self.here, ArrayPoint):
            unopened.refuse(self.here)
            node, text = unopened.without_slope(self._weighted())
            raise Undefined(text, span=self.here.graph.span(node)).within(self.here.syntax.source)
        raise Undefined("a derivative overflows, or has no value by the rules").within(self.here.syntax.source)

    def _weighted(self) -> ArrayPoint:
        """The point with the adjoints of a sum of the elements of the output, each with a weight of its own."""
        assert isinstance(self.here, ArrayPoint)
        seed = self.shaped([self.base.number(repr(one)) for one in _spread(self.count)], self.shape)
        found = reverse(self.here.graph, self.here.partials, self.kind, seed=seed)
        return replace(self.here, _reverse=found)

    # -- how it is told

    def told(self, mode: str | None = None) -> Jacobian:
        """The Jacobian as a record."""
        made, passes, witnesses = self.matrix(mode)
        found = {name: self.kind.record(one) for name, one in self.by_name(made).items()}
        return Jacobian(self.shape, [*self.parts], found, passes, witnesses)

    def patterns(self, asked: Question) -> list[Sparsity]:
        """The patterns that are asked for: that of the Jacobian unless it is the Hessian's alone."""
        found = [self.hessian_sparsity()] if asked.hessian else []
        return found + ([self.sparsity()] if asked.jacobian or not asked.hessian else [])

    def sparsity(self) -> Sparsity:
        """The pattern of the Jacobian. Raises `TooMuchWork` for a program that is too large to be opened."""
        found = self.pattern(self._opened_for_pattern(self.count))
        assert found is not None
        forward, back = len(found.groups()), len(found.turned().groups())
        return Sparsity("jacobian", found, forward, back, [(self.output, self.count)], self._along())

    def hessian_sparsity(self) -> Sparsity:
        """The pattern of the Hessian: that of the Jacobian of the gradient. Raises `TooMuchWork`."""
        here, opened = self.here, self._opened_for_pattern(len(self.columns))
        graph = here.graph if opened is None else opened.graph
        nodes = here.wrt if opened is None else self._sources(opened)
        written = gradient_graph(graph, nodes)
        found = pattern(written.graph, written.variables(), written.gradient)
        groups = len(found.groups())
        return Sparsity("hessian", found, groups, groups, self._along(), self._along())

    def _along(self) -> list[tuple[str, int]]:
        return [(part.name, len(part.places)) for part in self.parts]

    def _opened_for_pattern(self, rows: int) -> Opened | None:
        if rows * len(self.columns) > MOST_PLACES:
            raise TooMuchWork(
                f"the pattern would have {rows * len(self.columns):,} places; up to {MOST_PLACES:,} are looked at",
                "Try smaller arrays: the pattern is seldom another.",
            ).within(self.here.syntax.source)
        if not isinstance(self.here, ArrayPoint):
            return None
        opened = self.here.opened_graph(MOST_NODES)
        if opened is None:
            raise TooMuchWork(
                f"where derivatives stand is found out number by number, in a program of up to {MOST_NODES:,} of them",
                "Try smaller arrays: the pattern is seldom another.",
            ).within(self.here.syntax.source)
        return opened


@dataclass(slots=True)
class _Worst:
    """The element on which the opened program agrees least with the closed one.

    `largest` is the size of the numbers from which one is made: what rounding is measured against. Where that says too
    little, `rounding` tells by how much the numbers of a row move when the last digit of the inputs does.
    """

    most: float
    rounding: Callable[[int], float]
    digits: float = math.inf
    row: int = -1
    column: int = -1
    wrong: bool = False

    @property
    def known(self) -> float:
        """The digits on which they agree throughout; as many as there are where there was nothing to compare."""
        return min(self.digits, self.most)

    def hear(self, ours: Any, theirs: Any, largest: float, row: int, column: int, size: float = 0.0) -> None:
        """Take note of two numbers for the same. `size` is that of the terms of which they are sums, if they are."""
        apart, digits = ours - theirs, self.most
        if apart:
            apart = abs(as_double(apart))
            size = max(size, abs(as_double(ours)), abs(as_double(theirs)))
            digits = round(min(self.most, max(0.0, -math.log10(apart / size))), 2)
        if digits < ENOUGH:
            rounding = MOST_ROUNDINGS * self.rounding(row)
            if size <= rounding:
                return  # both are nothing but rounding, so they have no digits
            # what rounding leaves where terms cancel is no disagreement
            self.wrong = self.wrong or apart > max(1e-10 * largest, rounding)
        if digits < self.known:
            self.digits, self.row, self.column = digits, row, column


def finite(numbers: Any) -> list[bool]:
    """Which of many numbers are finite, and no holes.

    >>> finite(np.array([1.0, math.inf])), finite([math.nan, Hole(0, "domain"), 2])
    ([True, False], [False, False, True])
    """
    if isinstance(numbers, np.ndarray) and numbers.dtype == np.float64:
        told: list[bool] = np.isfinite(numbers).tolist()
        return told
    return [math.isfinite(one) if isinstance(one, float) else is_number(one) for one in numbers]


def _as_doubles(numbers: Any) -> Any:
    """A matrix of numbers of any kind as doubles, NaN where there is none."""
    if numbers.dtype == np.float64:
        return numbers
    flat = numbers.reshape(-1)
    known = [as_double(one) if fine else math.nan for one, fine in zip(flat, finite(flat), strict=True)]
    return np.array(known).reshape(numbers.shape)


def _spread(count: int) -> list[float]:
    """Numbers between 1/2 and 3/2 without a pattern."""
    return [0.5 + place * 0.6180339887498949 % 1 for place in range(count)]

"""A program at a point: its graph, the value of every node and the partial on every edge.

This is where a program meets the numbers given for its inputs; everything that answers a question about a program at a
point (trace, grad, paths, check, step) starts from here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Union

from backprop import ops, progress
from backprop.arrays_text import element_of, is_array, named_elements
from backprop.collector import sparing
from backprop.forward import tangents
from backprop.grammar import load_tables, parse
from backprop.graph import Graph
from backprop.graph.building import build
from backprop.kinds import MINIMUM_NORM, Hole, Kind, Misfit, Refused, by_name
from backprop.mistakes import (
    EmptyInterval,
    EndlessInterval,
    IntervalForNumber,
    MissingValue,
    Mistake,
    NoSuchElement,
    NotANumber,
    NotExact,
    ShapesDiffer,
    TooLargeForKind,
    UnknownNode,
    UnusableNumber,
)
from backprop.numerals import numeral
from backprop.reverse import Reverse, reverse
from backprop.rules import Partials, partials
from backprop.syntax import Syntax, normal
from backprop.values import values

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction

    from backprop.accuracy.mending import Accuracy
    from backprop.accuracy.rounding import Errors
    from backprop.beside.holes import Approach
    from backprop.beside.singular import Singulars
    from backprop.engines.sweeps import Swept
    from backprop.numerals import ArrayLike

# From so many nodes on a tape is worth writing (`engines`).
LARGE = 2_000

# a number, or an array of them
Number = Union[float, int, str, "Fraction", "Decimal", Sequence[Any], "ArrayLike"]


@dataclass(slots=True)
class Point:
    """A program at a point.

    `given` is the text of the number each input has; `wrt` the nodes whose derivatives are asked for; `moving` marks
    the nodes that move when those do. Values and partials stand beside the nodes and edges of `graph`. `convention` is
    whose choice is taken at a kink.
    """

    syntax: Syntax
    graph: Graph
    kind: Kind
    given: dict[str, str]
    unused: list[str]
    wrt: list[int]
    moving: bytearray
    values: list[Any]
    partials: Partials
    convention: str = MINIMUM_NORM
    _reverse: Reverse | None = field(default=None, repr=False)
    _errors: Errors | None = field(default=None, repr=False)
    _ordinary: bool = field(default=False, repr=False)
    _singular: Singulars | None = field(default=None, repr=False)
    _accuracy: list[Accuracy | None] = field(default_factory=list, repr=False)
    _approach: list[Approach | None] = field(default_factory=list, repr=False)
    _narrower: tuple[Any, dict[int, Any]] | None = field(default=None, repr=False)
    _gradient: dict[str, Any] | None = field(default=None, repr=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the output; one number has ()."""
        return ()

    @property
    def is_scalar(self) -> bool:
        """Whether every node is one number."""
        return True

    def reverse(self, named: Callable[[int, Any], Any] | None = None) -> Reverse:
        """The adjoints of all nodes, worked out once; `named` as in `reverse.reverse`."""
        if self._reverse is None:
            self._reverse = reverse(self.graph, self.partials, self.kind, named=named)
        return self._reverse

    def tangents(self, direction: Mapping[int, Any]) -> list[Any]:
        """The tangents of all nodes when the inputs move in a direction (node to tangent)."""
        return tangents(self.graph, self.partials, self.kind, direction)

    def in_kind(self, kind: Kind, leaves: Mapping[int, Any] | None = None) -> Point:
        """The same program at the same point in another kind of number, from the texts that were given.

        `leaves` are the values of inputs (and constants) to take in their place. Raises `UnusableNumber` for a number
        that the kind cannot hold.
        """
        known = values(self.graph, kind, _numbers(self.graph, kind, self.given) if leaves is None else leaves)
        slopes = partials(self.graph, kind, known, self.moving)
        here = replace(
            self,
            kind=kind,
            values=known,
            partials=slopes,
            _reverse=None,
            _errors=None,
            _ordinary=False,
            _singular=None,
            _accuracy=[],
            _narrower=None,
            _gradient=None,
        )
        here.forget()
        finer = kind.finer(here)
        return here if finer is None else self.in_kind(finer, leaves)

    def forget(self) -> None:
        """Leave behind what a point of another sort had worked out with other numbers."""

    def value(self) -> Any:
        """The output as the tape has it, or a `Hole`; `answer` is the one that answers."""
        return self.values[self.graph.output]

    def answer(self) -> Any:
        """The value: that of the tape, and where doubles have lost it the double nearest to the true one.

        Of intervals it is the narrowest enclosure that is found (`narrower`).
        """
        if self.kind.intervals:
            narrow, _ = self.narrower()
            return self.value() if narrow is None else narrow
        found = self.accuracy()
        return self.value() if found is None or found.value is None else found.value

    def narrower(self) -> tuple[Any, dict[int, Any]]:
        """The value and the slopes that are enclosed more narrowly than by the tape; None and none where none is."""
        if self._narrower is None:
            from backprop.balls.narrower import narrower

            self._narrower = narrower(self)
        return self._narrower

    def accuracy(self) -> Accuracy | None:
        """What the doubles are worth here, and the answers in their place where that is too little."""
        if not self._accuracy:
            from backprop.accuracy.mending import accuracy

            self._accuracy.append(accuracy(self))
        return self._accuracy[0]

    @property
    def is_ordinary(self) -> bool:
        """Whether it is known of every node that it has a finite value and finite slopes, and no kink."""
        return self._ordinary

    def errors(self) -> Errors:
        """What values and adjoints may be wrong by, in units of the roundoff of doubles."""
        if self._errors is None:
            from backprop.accuracy.rounding import errors

            back = None if isinstance(self.value(), Hole) else self.reverse()
            self._errors = errors(self.graph, self.kind, self.values, self.partials, self.moving, back)
        return self._errors

    def told(self) -> Point:
        """The point to ask about kinks, holes and lost digits: of an array program the opened one."""
        return self

    def promises(self, digits: int, unit: Any) -> bool:
        """Whether so many digits of the value and of the derivatives by the rules are right, where one rounding is
        wrong by a part `unit`, and inputs and literals are what they are."""
        from backprop.accuracy.mending import promised

        return promised(self, digits, unit)

    def ask(self, wrt: Sequence[str] | None) -> None:
        """Take note of the names whose derivatives are asked for. Raises `NoSuchElement` for one of a number."""
        for name in wrt or ():
            if name.endswith("]") and element_of(name)[0] in self.graph.inputs:
                raise NoSuchElement(name, element_of(name)[0], ())

    def names(self) -> list[str]:
        """The names whose derivatives are asked for, as a gradient has them."""
        return [self.name_of(node) for node in self.wrt]

    def id_of(self, name: str) -> str:
        """The id of the node in which a node of `told` stands."""
        return name

    def name_of(self, node: int) -> str:
        """What a node is called in a gradient; see `Graph.name_of`."""
        return self.graph.name_of(node)

    def gradient(self) -> dict[str, Any]:
        """d output / d each node asked for; a `Hole` where there is none, 0 where the output does not depend on it.

        This is the answer: what the rules give (`by_rules`), and at a singular point, where the rules cannot tell it,
        what the values beside the point tell (`singular`); where doubles have lost the number, the double nearest to
        it (`accuracy`).
        """
        if self._gradient is None:
            progress.phase("derivatives")
            found = self.accuracy()
            mended = {} if found is None else dict(found.slopes)
            if self.kind.intervals:
                mended = dict(self.narrower()[1])
            mended |= {node: one.within for node, one in self.singular().items() if one.mended or node not in mended}
            self._gradient = self.by_rules() | {self.name_of(node): slope for node, slope in mended.items()}
        return self._gradient

    def slopes(self) -> dict[str, Any]:
        """The gradient number by number: the elements of arrays by their own names."""
        return self.gradient()

    def singular(self) -> Singulars:
        """The nodes asked for whose slope the rules alone cannot tell: at kinks, and where 0 meets an infinity."""
        if self._singular is None:
            from backprop.beside.singular import singular

            self._singular = singular(self)
        return self._singular

    def approach(self) -> Approach | None:
        """What value and slopes go to beside the point, where the output has no value; None where nothing is known."""
        if not self._approach:
            from backprop.beside.holes import approach

            self._approach.append(approach(self))
        return self._approach[0]

    def by_rules(self) -> dict[str, Any]:
        """The adjoints of the nodes asked for, whatever the rules are worth here."""
        output = self.value()
        if isinstance(output, Hole):
            return {self.name_of(node): output for node in self.wrt}
        adjoints, zero = self.reverse().adjoints, self.kind.number("0")
        return {self.name_of(node): zero if adjoints[node] is None else adjoints[node] for node in self.wrt}


class Program:
    """A program read once, to be put at many points.

    >>> Program("(x*y + z)*x").at({"x": 3, "y": -1, "z": 2}).gradient()
    {'x': -4.0, 'y': 9.0, 'z': 3.0}
    """

    def __init__(self, text: str, origin: str | None = None, engine: str = "auto") -> None:
        self.text = text
        self.origin = origin
        self.engine = engine  # what works out a large program in doubles; see `engines.sweeps`
        self._read: dict[frozenset[str], tuple[Syntax, Graph]] = {}

    def read(self, given: Sequence[str] | Mapping[str, Any] = ()) -> tuple[Syntax, Graph]:
        """The syntax and the graph; names that are given values are variables even where they could mean a constant."""
        names = frozenset(given)
        if names not in self._read:
            progress.phase("reading", total=len(self.text), unit="characters")
            syntax = parse(self.text, variables=tuple(names), origin=self.origin)
            progress.phase("building", total=len(syntax.statements), unit="statements")
            self._read[names] = syntax, build(syntax, names)
        return self._read[names]

    @sparing()
    def at(
        self,
        inputs: Mapping[str, Number],
        *,
        wrt: Sequence[str] | None = None,
        kind: Kind | str | None = None,
        convention: str = MINIMUM_NORM,
    ) -> Point:
        """The program at a point. `inputs` are numbers, or text such as "1/3", which exact kinds take at its word.

        `convention` is whose choice is taken at a kink (`backprop.conventions`).

        Raises `Mistake` for a program that cannot be read, a value that is missing or is no number, and a name in
        `wrt` that no node has.
        """
        if kind is None or isinstance(kind, str):
            kind = by_name(kind or "real")
        if convention != MINIMUM_NORM and not kind.propagates:
            from backprop.conventions import numbers

            kind = numbers(kind, convention=convention)
        spelled = self.spelled(inputs)
        syntax, graph = self.read(spelled)
        unused = [name for name in spelled if graph.is_unused(name)]
        for name in unused:
            if name not in graph.inputs:  # the graph is kept, so it may have been put at a point before
                graph.add_input(name, (0, 0))
        given: dict[str, str] = {}
        for name in graph.inputs:
            if name in spelled:
                given[name] = numeral(spelled[name], name)
            elif name in graph.defaults:
                given[name] = graph.defaults[name]
        missing = [name for name in graph.inputs if name not in given]
        if missing:
            span = graph.span(graph.inputs[missing[0]])
            functions = ops.callable_names()
            asked = MissingValue(missing, list(given), unused, functions, span, has_arrays(graph, given))
            raise asked.within(syntax.source, self.origin)
        nodes = resolve(graph, wrt)
        sort: type[Point] = Point
        read = graph
        if has_arrays(graph, given):
            from backprop.array_point import ArrayPoint, arrays, with_lengths

            sort, kind, graph = ArrayPoint, arrays(kind), with_lengths(graph)
        try:
            progress.phase("values")
            leaves = _numbers(graph, kind, given)
            small = len(graph) < LARGE and self.engine == "auto"
            swept = None if small else _swept(graph, kind, leaves, nodes, self.engine)
            if swept is None:
                known, moving = values(graph, kind, leaves), read.moving(nodes)
                progress.phase("derivatives")
                slopes = partials(graph, kind, known, moving)
            else:
                known, moving, slopes = swept.values, swept.moving, swept.partials
        except ShapesDiffer as mistake:
            raise mistake.within(syntax.source, self.origin) from None
        here = sort(syntax, graph, kind, given, unused, nodes, moving, known, slopes, convention)
        if swept is not None:
            here._reverse, here._errors, here._ordinary = swept.reverse, swept.errors, swept.kink < 0
        here.ask(wrt)
        finer = kind.finer(here)
        return here if finer is None else here.in_kind(finer)

    def spelled(self, inputs: Mapping[str, Number]) -> dict[str, Number]:
        """The inputs under the names as the program spells them: `x2` gives `x₂` its value when there is no `x2`."""
        if all(name.isascii() for name in inputs) and self.text.isascii():
            return dict(inputs)
        import re
        import unicodedata

        # the graph is not built yet: which names stand for variables depends on the names that are given
        names = set(re.findall(load_tables().name, normal(re.sub("#.*", "", self.text))))
        by_shape = {unicodedata.normalize("NFKC", name): name for name in sorted(names)}
        return {
            name if name in names else by_shape.get(unicodedata.normalize("NFKC", name), name): value
            for name, value in inputs.items()
        }


def _swept(graph: Graph, kind: Kind, leaves: Mapping[int, Any], nodes: Sequence[int], engine: str) -> Swept | None:
    """A large program in doubles, by a tape; None where it has to be done without one."""
    from backprop.engines.sweeps import sweep

    return sweep(graph, kind, leaves, nodes, engine)


def _numbers(graph: Graph, kind: Kind, given: Mapping[str, str]) -> dict[int, Any]:
    """The number or the array at each input node. Raises what `_number` does, for an element of an array by its name.

    That is found out only where an array is refused, so that a million elements are not looked at one by one.
    """
    numbers: dict[int, Any] = {}
    for name, text in given.items():
        try:
            numbers[graph.inputs[name]] = _number(kind, name, text)
        except Misfit as misfit:
            raise ShapesDiffer(f"{name}: {misfit.says}", misfit.repair, None) from None
        except Mistake:
            for called, element in named_elements(name, text):
                _number(kind, called, element)
            numbers[graph.inputs[name]] = kind.number(text)
    return numbers


def _number(kind: Kind, name: str, text: str) -> Any:
    """What a value is in a kind.

    Raises `UnusableNumber`, `NotANumber`, `NotExact`, `TooLargeForKind`, `IntervalForNumber`, `EmptyInterval` and
    `EndlessInterval`.
    """
    if ".." in text and not kind.intervals:
        raise IntervalForNumber(name, text)
    if ".." in text and "inf" in text:
        raise EndlessInterval(name, text)
    try:
        return kind.number(text)
    except OverflowError:
        raise UnusableNumber(name, text, kind.largest) from None
    except Refused as refused:
        if refused.code == "too-large":
            told = f"{name}, as it is given, has {refused.detail} in kind {kind.name}"
            raise TooLargeForKind(told, kind.name) from None
        raise NotExact(f"{name} = {text} is no fraction") from None
    except ValueError:
        raise (EmptyInterval(name, text) if ".." in text else NotANumber(name, text)) from None


def texts(program: Program, graph: Graph, inputs: Mapping[str, Number]) -> dict[str, str]:
    """The text of the number or array that each input has, as far as it has one."""
    return graph.defaults | {name: numeral(value, name) for name, value in program.spelled(inputs).items()}


def has_arrays(graph: Graph, given: Mapping[str, str]) -> bool:
    """Whether a program at a point has anything but single numbers in it."""
    rows = ops.rows()
    return (
        any(is_array(text) for text in given.values())
        or (("[" in graph.source or not graph.source) and any(map(is_array, graph.literals.values())))
        or any(rows[code].arrays for code in set(graph.codes) if code >= 0)
    )


def resolve(graph: Graph, wrt: Sequence[str] | None) -> list[int]:
    """The nodes of the names in `wrt`: inputs first, then any node by its id; of an element the array it stands in.

    Raises `UnknownNode`.
    """
    if wrt is None:
        return graph.default_wrt()
    known = graph.inputs
    if not all(name in known for name in wrt):
        known = {node_id: node for node, node_id in enumerate(graph.ids)} | known
    if any("[" in name for name in wrt):
        wrt = [name if name in known else element_of(name)[0] for name in wrt]
    for name in wrt:
        if name not in known:
            raise UnknownNode(name, list(dict.fromkeys([*graph.inputs, *graph.names.values()])))
    return list(dict.fromkeys(known[name] for name in wrt))


def at(
    program: str | Program,
    inputs: Mapping[str, Number],
    wrt: Sequence[str] | None = None,
    kind: Kind | None = None,
    convention: str = MINIMUM_NORM,
    opened: Sequence[str] | None = None,
) -> Point:
    """A program at a point; see `Program.at`. `opened` names nodes to open into single numbers; with none all are."""
    if isinstance(program, str):
        program = Program(program)
    # z[0].1 is a node that only the opened program has
    steps = [] if opened is None else [name for name in wrt or () if "." in name]
    closed = None if wrt is None else [name for name in wrt if name not in steps]
    here = program.at(inputs, wrt=closed, kind=kind, convention=convention)
    if opened is None or (here.is_scalar and not opened and not steps):
        return here
    from backprop.array_point import opened_at

    return opened_at(here, opened, steps)

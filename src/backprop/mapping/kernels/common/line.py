"""What a kernel works out: a program as a straight line over columns, with the numbers that all rows share put in.

It is the same for every engine but for the operations that an engine has words for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isnan
from typing import TYPE_CHECKING

from backprop.graph import CONST, Graph
from backprop.guards import double
from backprop.kinds.node import pruned, with_literals
from backprop.point import Program, resolve
from backprop.straight import StraightLine, Worded, straight_line
from backprop.values import values
from backprop.writing import pieces

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(slots=True)
class Line:
    """A straight line whose inputs are columns.

    `value`, `slopes` (by name) and `check` are nodes of `graph`; `kinks` are nodes that are 0 where the program is at
    a kink, each with the node of the program. `order` are the operations that are needed, each as late as it can be,
    so that few numbers have to be held at a time.
    """

    graph: Graph
    columns: list[str]
    value: int
    slopes: dict[str, int]
    check: int
    kinks: list[tuple[int, int]]
    order: list[int]

    @property
    def answers(self) -> list[int]:
        """The value, then the slopes."""
        return [self.value, *self.slopes.values()]

    def arrays(self, columns: Mapping[str, NDArray[np.float64]]) -> list[NDArray[np.float64]]:
        """The arrays of the columns, in their order. Raises TypeError and ValueError for what kernels do not take."""
        found = [columns[name] for name in self.columns]
        for name, array in zip(self.columns, found, strict=True):
            if array.dtype != "float64" or array.ndim != 1:
                raise TypeError(f"column {name} is {array.dtype} with {array.ndim} axes: float64 with one is asked for")
            if len(array) != len(found[0]):
                raise ValueError(f"column {name} has {len(array)} rows, column {self.columns[0]} has {len(found[0])}")
        return found

    @property
    def roots(self) -> list[int]:
        """All that is asked for: the answers, the check, and the distances from kinks."""
        return [*self.answers, self.check, *(distance for distance, _ in self.kinks)]

    def is_condition(self, node: int) -> bool:
        """Whether a node is true or false."""
        row = self.graph.row(node)
        return row is not None and row.gives_condition


def line(
    program: Program,
    columns: Sequence[str],
    constants: Mapping[str, str],
    wrt: Sequence[str],
    words: Container[str],
    kind_of: type[Worded] = Worded,
) -> Line:
    """The straight line of a program whose inputs are `columns`, or have the same number in each row (`constants`).

    `kind_of` is what writes it, `Worded` or more careful.

    Raises `Mistake` for a program that cannot be read or works on arrays, and a name in `wrt` that no node has;
    `Wordless` for an operation that is none of the `words` and is made of nothing else.
    """
    graph = program.read([*columns, *constants])[1]
    for name in columns:
        if name not in graph.inputs:
            graph.add_input(name, (0, 0))
    slopes = resolve(graph, wrt) if wrt else []
    # a derivative may be asked for by an input that is no column: its number is put in afterwards
    later = {name: text for name, text in constants.items() if graph.inputs.get(name, -1) in slopes}
    now = {graph.inputs[name]: text for name, text in constants.items() if name in graph.inputs and name not in later}
    straight = straight_line(with_literals(graph, now), slopes, words, guarded=True, kind_of=kind_of)
    return _folded(straight, list(columns), later, kind_of(words))


def _folded(straight: StraightLine, columns: list[str], numbers: Mapping[str, str], kind: Worded) -> Line:
    """The line with the columns as its inputs in their order, numbers in the place of other inputs."""
    graph = straight.graph
    leaves = {name: kind.leaf(name) for name in columns}
    leaves |= {name: kind.typed(text) for name, text in numbers.items()}
    known = {graph.inputs[name]: leaf for name, leaf in leaves.items() if name in graph.inputs}
    assert straight.check is not None
    kinks = [distance for distance, _ in straight.kinks]
    asked = [*straight.roots, straight.check, *kinks]
    found = values(graph, kind, known, asked)
    small, place = pruned(kind.graph, [found[node] for node in asked])
    at = [place[found[node]] for node in asked]
    answers, check, distances = at[: -len(kinks) - 1], at[-len(kinks) - 1], at[len(at) - len(kinks) :]
    made = Line(
        small,
        columns,
        answers[0],
        dict(zip(straight.gradient, answers[1:], strict=True)),
        check,
        # what is a literal now is a kink nowhere
        [
            (distance, node)
            for distance, (_, node) in zip(distances, straight.kinks, strict=True)
            if small.codes[distance] != CONST
        ],
        [],
    )
    made.order = order(small, made.roots)
    return made


def order(graph: Graph, roots: Collection[int]) -> list[int]:
    """The operations that the roots need, operands first, each right before what needs it first."""
    found: list[int] = []
    done = bytearray(code < 0 for code in graph.codes)
    for root in roots:
        waiting = [root]
        while waiting:
            node = waiting[-1]
            if done[node]:
                waiting.pop()
                continue
            missing = [operand for operand in graph.operands(node) if not done[operand]]
            if missing:
                waiting.extend(reversed(missing))
            else:
                waiting.pop()
                done[node] = 1
                found.append(node)
    return found


# -- as text, for engines that write a loop over the rows --------------------------------------------------------------


def operand(line: Line, node: int, infinity: str, nan: str) -> str:
    """How a node is written where it is used: by a name of its own, or a literal as its double."""
    if line.graph.codes[node] != CONST:
        return f"v{node}"
    value = double(line.graph.literals[node])
    if isfinite(value):
        return f"({value!r})" if value < 0 else repr(value)
    return nan if isnan(value) else infinity if value > 0 else f"(-{infinity})"


def put_in(form: str, line: Line, node: int, write: Callable[[Line, int], str]) -> str:
    """An operation by its form over x and y (and c, a condition), in the order of the operands, with them put in."""
    row, operands = line.graph.row(node), line.graph.operands(node)
    names = ("c", "x", "y") if row is not None and row.chooses else ("x", "y")
    return "".join(one if isinstance(one, str) else write(line, operands[one]) for one in pieces(form, names))


def call(name: str, count: int) -> str:
    """The form of a call of so many operands."""
    return f"{name}({', '.join('xy'[:count])})"

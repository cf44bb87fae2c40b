"""A program that is evaluated many times: value and gradient by a tape that is kept, compiled when that pays."""

from __future__ import annotations

import math
import sys
from _thread import allocate_lock
from array import array
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from backprop.accuracy.mending import may_be_wrong
from backprop.engines import check_engine, plain
from backprop.engines.columns import BRANCH, KINK, TapeColumns
from backprop.gradient import answered
from backprop.point import Number, Point, Program

if TYPE_CHECKING:
    from types import ModuleType

    from backprop.engines.fast import Views

# After so many nodes have been worked out by the tape in Python, which takes some five seconds, it is compiled.
WORTH_COMPILING = 3_000_000
LARGEST = sys.float_info.max


class Compiled(Program):
    """A program read once, to be evaluated at many points.

    >>> program = Compiled("(x*y + z)*x")
    >>> program.value_and_gradient({"x": 3, "y": -1, "z": 2})
    (-3.0, {'x': -4.0, 'y': 9.0, 'z': 3.0})
    """

    def __init__(self, text: str, origin: str | None = None, engine: str = "auto") -> None:
        check_engine(engine)
        super().__init__(text, origin, engine)
        self._tapes: dict[tuple[frozenset[str], tuple[str, ...] | None], Repeated | None] = {}

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs to make one of these; it keeps tapes of its own."""
        return {**vars(self), "_tapes": {}}

    def value_and_gradient(
        self, inputs: Mapping[str, Number], *, wrt: Sequence[str] | None = None, careful: bool = True
    ) -> tuple[float, dict[str, float]]:
        """Value and gradient in double precision: what `backprop.grad` gives, quickly when it is asked for again.

        From the second point on a tape is kept, in Python, and after some seconds of work compiled, where numba is
        installed (`engine` of `backprop.compile` forces either). At kinks, where something is not finite and where
        doubles may have lost digits, the answer is that of `backprop.grad`. With `careful=False` lost digits are not
        looked for: the numbers are those of a plain tape, in less than half the time.

        Raises `Mistake`, as `backprop.grad` does.
        """
        key = frozenset(inputs), None if wrt is None else tuple(wrt)
        kept = self._tapes.get(key)
        if kept is not None and (found := kept.at(inputs, careful)) is not None:
            return found
        here = answered(self, inputs, wrt)
        if key not in self._tapes:
            self._tapes[key] = tape(here, self.engine)
        answer = here.kind.answer
        return answer(here.answer()), {name: answer(slope) for name, slope in here.gradient().items()}

    def value(self, inputs: Mapping[str, Number], *, careful: bool = True) -> float:
        """The value alone; see `value_and_gradient`, which costs as much unless `careful` is False."""
        kept = None if careful else self._tapes.get((frozenset(inputs), None))
        if kept is not None and (found := kept.value(inputs)) is not None:
            return found
        return self.value_and_gradient(inputs, careful=careful)[0]


def tape(here: Point, engine: str) -> Repeated | None:
    """The tape of a program that has been put at a point; None where it can have none."""
    shapes = plain.shapes_of(here.graph) if here.is_scalar else None
    return None if shapes is None else Repeated(here, shapes, engine)


class Repeated:
    """A program with a tape, put at one point after the other: its columns are used again, by one thread at a time."""

    def __init__(self, here: Point, shapes: tuple[tuple[int, int], ...], engine: str) -> None:
        self.graph, self.wrt, self.shapes, self.engine = here.graph, here.wrt, shapes, engine
        self.names = [(name, here.graph.inputs[name]) for name in here.given]
        self.slopes = [(here.name_of(node), node) for node in here.wrt]
        self.moving = here.moving
        defaults = {node: here.values[node] for node in here.graph.inputs.values()}
        self.leaves = plain.leaves(here.graph, defaults)
        self.partials: list[float] | None = None
        self.work = 0
        self.lock = allocate_lock()
        self.program: ModuleType | None = None
        self.views: Views | None = None

    def at(self, inputs: Mapping[str, Any], careful: bool = True) -> tuple[float, dict[str, float]] | None:
        """Value and gradient where some inputs are other numbers; None where another engine has to be asked."""
        with self.lock:
            return self._at(inputs, careful)

    def _at(self, inputs: Mapping[str, Any], careful: bool) -> tuple[float, dict[str, float]] | None:
        numbers = self._numbers(inputs)
        if numbers is None:
            return None
        found = self._plainly(numbers, careful) if self.views is None else self._fast(numbers, careful)
        if found is None:
            return None
        values, adjoints, told, wrong, of_adjoints = found
        output = self.graph.output
        if told[KINK] >= 0 or (careful and (told[BRANCH] >= 0 or may_be_wrong(values[output], wrong[output]))):
            return None
        gradient = {}
        for name, node in self.slopes:
            slope = float(adjoints[node])
            if slope != slope:
                slope = 0.0
            elif careful and may_be_wrong(slope, of_adjoints[node]):
                return None
            gradient[name] = slope
        return float(values[output]), gradient

    def value(self, inputs: Mapping[str, Any]) -> float | None:
        """The value alone, as the tape has it; None where another engine has to be asked."""
        with self.lock:
            return self._value(inputs)

    def _value(self, inputs: Mapping[str, Any]) -> float | None:
        numbers = self._numbers(inputs)
        if numbers is None:
            return None
        if self.views is None:
            return plain.value(plain.walks(self.shapes, careful=False), self.graph, self._put(numbers))
        assert self.program is not None
        for node, number in numbers.items():
            self.views.values[node] = number
        return float(self.views.values[self.graph.output]) if self.views.value(self.program) else None

    def _numbers(self, inputs: Mapping[str, Any]) -> dict[int, float] | None:
        """The numbers by the nodes of their inputs, ready for a tape; None for what is no finite number."""
        numbers: dict[int, float] = {}
        for name, node in self.names:
            if name not in inputs:
                continue
            number = inputs[name]
            if not isinstance(number, (float, int)) or isinstance(number, bool) or not -LARGEST <= number <= LARGEST:
                return None
            numbers[node] = float(number) + 0.0  # -0 is 0
        if self.leaves is None:
            return None
        if self.views is None and self._pays():
            self._compile()
        return numbers

    def _pays(self) -> bool:
        """Whether the tape is to be compiled now."""
        if self.engine == "plain" or (self.engine == "auto" and self.work < WORTH_COMPILING):
            self.work += len(self.graph)
            return False
        from backprop.engines import fast

        if self.engine == "auto" and not fast.is_there():
            self.engine = "plain"
            return False
        return True

    def _compile(self) -> None:
        from backprop.engines import fast

        self.program = fast.walks(self.shapes)
        if self.program is None:
            self.engine = "plain"
            return
        assert self.leaves is not None
        self.views = fast.Views(self.graph, TapeColumns.empty(self.graph, array("d", self.leaves)), self.moving)

    def _plainly(self, numbers: Mapping[int, float], careful: bool) -> tuple[Any, ...] | None:
        values = self._put(numbers)
        if careful:
            found = plain.careful(plain.walks(self.shapes, careful=True), self.graph, values, self.moving)
            return None if found is None else (values, found.adjoints, found.told, found.wrong, found.of_adjoints)
        program = plain.walks(self.shapes, careful=False)
        if self.partials is None:
            self.partials = plain.constants(program, self.graph, self.moving)
        bare = plain.bare(program, self.graph, values, self.partials, self.moving)
        return None if bare is None else (values, *bare, None, None)

    def _put(self, numbers: Mapping[int, float]) -> list[float]:
        """A column with the numbers of inputs and literals in it."""
        assert self.leaves is not None
        values = self.leaves[:]
        for node, number in numbers.items():
            values[node] = number
        return values

    def _fast(self, numbers: Mapping[int, float], careful: bool) -> tuple[Any, ...] | None:
        views, program = self.views, self.program
        assert views is not None
        assert program is not None
        for node, number in numbers.items():
            views.values[node] = number
        if careful:
            views.again()
        if not (views.careful(program) if careful else views.bare(program)):
            return None
        if not careful and not all(math.isfinite(views.adjoints[node]) for node in self.wrt):
            return None
        wrong, of_adjoints, _ = views.errors
        return views.values, views.adjoints, views.told, wrong, of_adjoints

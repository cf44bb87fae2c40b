"""Gradient descent on the params of a program, a record for each step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backprop.compiled import tape
from backprop.figures import DEFAULT_FIGURES, elements_of
from backprop.kinds import Hole
from backprop.mistakes import NotAnInput, NothingToLearn, Undefined
from backprop.notes import explained
from backprop.point import Number, Point, Program
from backprop.record import Trace


@dataclass(frozen=True, slots=True)
class Learned:
    """One step: every trained input moved against its slope, `after = before - rate * slope`.

    An array is nested lists, in `before`, `slopes` and `after` alike. `loss_after` is None where the program has no
    finite value at the new point; `trouble` says why, and the descent ends there.
    """

    number: int
    rate: float
    before: dict[str, Any]
    slopes: dict[str, Any]
    after: dict[str, Any]
    loss: float
    loss_after: float | None
    trouble: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON holds it; absent things are absent."""
        record: dict[str, Any] = {"step": self.number, "rate": self.rate, "loss": self.loss}
        if self.loss_after is not None:
            record["loss_after"] = self.loss_after
        record |= {"before": self.before, "gradient": self.slopes}
        # what is not finite has been told by `trouble`
        record["after"] = {name: value for name, value in self.after.items() if all(map(is_finite, elements_of(value)))}
        if self.trouble is not None:
            record["trouble"] = self.trouble
        return record


def trained(program: Program, inputs: Mapping[str, Number], update: Sequence[str] | None = None) -> list[str]:
    """The names that a step moves: `update`, or the params. Raises `NothingToLearn` when there are none."""
    _, graph = program.read(program.spelled(inputs))
    if update is None:
        if not graph.params:
            raise NothingToLearn([name for name in graph.inputs if name not in inputs] or list(graph.inputs))
        return list(graph.params)
    spelled = list(program.spelled(dict.fromkeys(update, 0)))
    for name in spelled:
        if name not in graph.inputs:
            raise NotAnInput(name, list(graph.inputs))
    return spelled


def descend(
    program: str | Program,
    inputs: Mapping[str, Number],
    rate: float,
    steps: int = 1,
    update: Sequence[str] | None = None,
) -> Iterator[Learned]:
    """Gradient descent: each step moves every param by -rate times its slope. Ends early where the loss is lost.

    Raises `NothingToLearn` when nothing is trained, `Undefined` when there is no slope to start with, and what
    `Program.at` raises.

    >>> [step.after["w"] for step in descend("param w = 1; w^2", {}, rate=0.25, steps=2)]
    [0.5, 0.25]
    """
    if isinstance(program, str):
        program = Program(program)
    names = trained(program, inputs, update)
    here = program.at(inputs, wrt=names)
    refused = lost(here)
    if refused is not None:
        raise Undefined(refused).within(here.syntax.source, program.origin)
    return _descend(_Walk(program, here, names), here, rate, steps, names)


class Descent:
    """A run of gradient descent, taken step by step as it is iterated over. `last` is the latest step.

    Raises what `descend` raises, at once.
    """

    def __init__(
        self,
        program: Program,
        inputs: Mapping[str, Number],
        rate: float,
        steps: int = 1,
        update: Sequence[str] | None = None,
        figures: int = DEFAULT_FIGURES,
    ) -> None:
        self.program, self.inputs, self.rate, self.steps, self.figures = program, inputs, rate, steps, figures
        self.last: Learned | None = None
        self._taken = descend(program, inputs, rate, steps, update)

    def __iter__(self) -> Iterator[Learned]:
        for step in self._taken:
            self.last = step
            yield step

    @property
    def start(self) -> Trace:
        """The program at its inputs."""
        return self._trace({})

    @property
    def end(self) -> Trace:
        """The program with its params where the latest step has moved them."""
        return self._trace({} if self.last is None else self.last.after)

    @property
    def exit_code(self) -> int:
        """0 fine, 3 when the loss was lost on the way."""
        return 3 if self.last is not None and self.last.trouble is not None else 0

    def to_dict(self, taken: Iterable[Learned]) -> dict[str, Any]:
        """Every step, and the trace at the end; `taken` are the steps, however they are watched."""
        record: dict[str, Any] = {"rate": self.rate, "steps": [step.to_dict() for step in taken]}
        if self.exit_code == 0:
            record["trace"] = self.end.to_dict()
        return record

    def _trace(self, moved: Mapping[str, float]) -> Trace:
        from backprop.tracing import trace

        inputs = {**self.program.spelled(self.inputs), **moved}
        return trace(self.program, inputs, check=False, figures=self.figures)


@dataclass(slots=True)
class _Stand:
    """Where a descent stands: the numbers of what it moves, the loss and its slopes, and what is wrong with them."""

    values: dict[str, Any]
    loss: Any
    slopes: dict[str, Any]
    trouble: str | None = None


class _Walk:
    """A program at one point after the other, by a tape while that answers."""

    def __init__(self, program: Program, here: Point, names: list[str]) -> None:
        self.program, self.names = program, names
        self.given: dict[str, Number] = dict(here.given)
        self.tape = tape(here, program.engine)

    def at(self, moved: Mapping[str, Any]) -> _Stand:
        found = None if self.tape is None else self.tape.at(moved)
        if found is not None:
            return _Stand(dict(moved), *found)
        here = self.program.at({**self.given, **moved}, wrt=self.names)
        return self.stand(here, lost(here))

    def stand(self, here: Point, trouble: str | None = None) -> _Stand:
        """Where a point is."""
        values = {name: here.values[here.graph.inputs[name]] for name in self.names}
        return _Stand(values, here.answer(), here.gradient(), trouble)


def _descend(walk: _Walk, start: Point, rate: float, steps: int, names: list[str]) -> Iterator[Learned]:
    here, kind = walk.stand(start), start.kind
    for number in range(1, steps + 1):
        slopes, loss, record = here.slopes, here.loss, kind.record
        moved = {name: _moved(here.values[name], rate, slopes[name]) for name in names}
        before = {name: record(here.values[name]) for name in names}
        told = before, {name: record(slopes[name]) for name in names}, {name: record(moved[name]) for name in names}
        gone = next((name for name, value in moved.items() if not all(map(is_finite, kind.elements(value)))), None)
        if gone is not None:
            trouble: str | None = f"{gone} is beyond the largest number of double precision"
            yield Learned(number, rate, *told, loss, None, trouble)
            return
        here = walk.at(moved)
        known = not isinstance(here.loss, Hole) and is_finite(here.loss)
        yield Learned(number, rate, *told, loss, here.loss if known else None, here.trouble)
        if here.trouble is not None:
            return


def _moved(value: Any, rate: float, slope: Any) -> Any:
    """value - rate · slope, of an array element by element; never -0."""
    if not getattr(value, "shape", ()):
        return value - rate * slope + 0
    from numpy import errstate

    with errstate(over="ignore", invalid="ignore"):  # what is lost is told by the step
        return value - rate * slope + 0


def is_finite(number: Any) -> bool:
    """Whether a number is neither infinite nor NaN."""
    return bool(number - number == 0)


def lost(here: Point) -> str | None:
    """Why no step can be taken from a point: the loss or a slope is undefined or infinite. None when it can."""
    here = here.told()
    output = here.graph.ids[here.graph.output]
    for name, answer in (
        (output, here.answer()),
        *((f"∂{output}/∂{n}", slope) for n, slope in here.gradient().items()),
    ):
        for one in here.kind.elements(answer):
            if isinstance(one, Hole):
                return f"{name} is undefined: {explained(here, one)}"
            if not is_finite(one):
                return f"{name} is no longer finite"
    return None

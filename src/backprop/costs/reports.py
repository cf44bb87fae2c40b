"""Reports of what a program costs: ways, their parts, and the sum path by path; what `backprop cost` writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from backprop.figures import whole


@dataclass(slots=True)
class Way:
    """One way to get the value, or the value and the derivatives.

    `runs` is how often it does its `unit` (a pass, an evaluation, a term). `ratio` and `time_ratio` compare with the
    value alone. `kept` is the bytes of the numbers that it holds at once, `peak` the most that was held while it ran.
    `estimate` is the seconds that it would take where it was not run.
    """

    name: str
    runs: int
    unit: str
    operations: int
    kept: int
    ratio: int | float | None = None
    seconds: float | None = None
    time_ratio: int | float | None = None
    peak: int | None = None
    estimate: int | float | None = None

    @property
    def taken(self) -> int | float | None:
        """The seconds that it took, or would take."""
        return self.estimate if self.seconds is None else self.seconds


@dataclass(slots=True)
class Part:
    """A part of a way: the value, the partials, the sweeps. `each` is its operations for each input number."""

    name: str
    runs: int
    operations: int
    each: float | None
    seconds: float | None = None


@dataclass(slots=True)
class PathCost:
    """What the sum path by path takes against one reverse sweep over the same graph."""

    terms: int
    multiplications: int
    additions: int
    factored_multiplications: int
    factored_additions: int


@dataclass(slots=True)
class CostReport:
    """What a program costs at a point, by N input numbers and M output numbers.

    `wrt` are the inputs that move, `shapes` theirs. `gradient_ratio` is what value and gradient cost in values, counted
    and measured, where the output is one number. `winner` is "reverse", "forward" or "neither", `conclusion` says why.
    `paths_missing` says why paths were not counted.
    """

    program: str
    canonical: str
    output: str
    wrt: list[str]
    shapes: dict[str, tuple[int, ...]]
    inputs: int
    outputs: int
    ways: list[Way]
    parts: list[Part]
    paths: PathCost | None = None
    paths_missing: str | None = None
    gradient_ratio: int | float | None = None
    measured_ratio: int | float | None = None
    winner: str = "neither"
    conclusion: str = ""

    def way(self, name: str) -> Way:
        """The way of that name; KeyError when there is none."""
        for way in self.ways:
            if way.name == name:
                return way
        raise KeyError(name)

    def part(self, name: str) -> Part:
        """The part of that name; KeyError when there is none."""
        for part in self.parts:
            if part.name == name:
                return part
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """The record for JSON; absent things are absent."""
        record: dict[str, Any] = {"format": "backprop-cost", "version": 1, "program": self.program}
        record |= {"canonical": self.canonical, "output": self.output, "wrt": self.wrt}
        record["shapes"] = {name: list(one) for name, one in self.shapes.items()}
        record |= {"inputs": self.inputs, "outputs": self.outputs}
        record["ways"] = [_present(way) for way in self.ways]
        record["parts"] = [_present(part) for part in self.parts]
        if self.paths is not None:
            record["paths"] = _present(self.paths)
        optional = {"paths_missing": self.paths_missing, "gradient_ratio": self.gradient_ratio}
        optional["measured_ratio"] = self.measured_ratio
        record |= {name: value for name, value in optional.items() if value is not None}
        return record | {"winner": self.winner, "conclusion": self.conclusion}


def _present(record: Any) -> dict[str, Any]:
    told = {name: getattr(record, name) for name in record.__slots__}
    return {name: _whole(value) for name, value in told.items() if value is not None and value is not False}


# Integers of more bits than this are text in JSON: about the 4300 digits that Python reads.
MOST_BITS = 14_000


def _whole(value: Any) -> Any:
    """A number as JSON has it: an integer of thousands of digits as text, which readers of JSON refuse else."""
    return whole(value) if isinstance(value, int) and value.bit_length() > MOST_BITS else value

"""Rows picked at random, and what the witnesses say of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backprop.mapping.plan import Plan
from backprop.point import Number

if TYPE_CHECKING:
    import numpy as np

    from backprop.mapping.worker import Answered

# What was written may be off by this part of what the witnesses confirm.
NEAR = 1e-9
SEED = 2025


@dataclass(frozen=True, slots=True)
class Sampled:
    """A row for the witnesses: its number, the inputs that are columns, and the answers."""

    row: int
    inputs: dict[str, float]
    value: float
    slopes: dict[str, float]


@dataclass(slots=True)
class Sample:
    """So many rows, each as likely as any other, of a table whose length is not known beforehand.

    Every row draws a number, and the rows with the least are kept; so samples of parts make a sample of the whole.
    """

    count: int
    part: int = 0
    drawn: list[tuple[float, Sampled]] = field(default_factory=list)
    _random: np.random.Generator | None = field(default=None, repr=False)

    @property
    def rows(self) -> list[Sampled]:
        """The rows that were picked, in their order."""
        return sorted((row for _, row in self.drawn), key=lambda one: one.row)

    def add_rows(self, rows: Answered) -> None:
        """Let the rows of a batch that have answers take part."""
        import numpy as np

        if not self.count:
            return
        if self._random is None:
            self._random = np.random.default_rng([SEED, self.part])
        draws = self._random.random(rows.batch.rows)
        most = self.drawn[-1][0] if len(self.drawn) == self.count else 1.0
        found = np.flatnonzero((draws < most) & ~rows.undefined)
        found = found[np.argsort(draws[found])][: self.count]
        picked = []
        for place in found.tolist():
            sampled = Sampled(
                rows.batch.first + place,
                {name: float(values[place]) for name, values in rows.given.items()},
                float(rows.value[place]),
                {name: float(of[place]) for name, of in rows.slopes.items()},
            )
            picked.append((float(draws[place]), sampled))
        self._keep(picked)

    def add(self, other: Sample) -> None:
        """Put in the sample of other rows."""
        self._keep(other.drawn)

    def _keep(self, more: Iterable[tuple[float, Sampled]]) -> None:
        self.drawn = sorted([*self.drawn, *more], key=lambda one: (one[0], one[1].row))[: self.count]


@dataclass(frozen=True, slots=True)
class Checked:
    """What the witnesses say of one row."""

    row: int
    text: str
    agrees: bool


def checked(plan: Plan, sampled: Iterable[Sampled]) -> Iterator[Checked]:
    """What every witness says of each row, and whether the answers that were written are what they confirm."""
    rows = sorted(sampled, key=lambda one: one.row)
    if not rows:
        return
    from backprop.checks import check

    program = plan.program
    for one in rows:
        inputs: dict[str, Number] = {**plan.constants, **one.inputs}
        report = check(program, inputs, wrt=list(plan.wrt))
        against = [found for found in report.conclusions if found.verdict == "DISAGREES"]
        if against:
            told = "; ".join(f"∂{report.output}/∂{found.of} {found.text}" for found in against)
            yield Checked(one.row, f"DISAGREES: {told}", False)
            continue
        pairs = [(report.output, one.value, report.value)]
        pairs += [(f"∂{report.output}/∂{name}", slope, report.gradient.get(name)) for name, slope in one.slopes.items()]
        off = [
            f"{name} is {answer!r}, and {ours!r} was written"
            for name, ours, answer in pairs
            if isinstance(answer, float) and not abs(ours - answer) <= NEAR * abs(answer) + 1e-300
        ]
        if off:
            yield Checked(one.row, f"DISAGREES: {'; '.join(off)}", False)
            continue
        silent = [found for found in report.conclusions if found.verdict == "not checked"]
        digits = [found.digits for found in report.conclusions if found.digits is not None]
        told = f"every derivative agrees, to {min(digits):.1f} digits at least" if digits else "agrees"
        if silent:
            told = f"{len(silent)} of {len(report.conclusions)} derivatives could not be checked"
        yield Checked(one.row, told, True)

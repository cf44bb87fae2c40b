"""What is to be told of many rows, counted up."""

from __future__ import annotations

from dataclasses import dataclass, field, replace


@dataclass(slots=True)
class Lost:
    """A row in which the plain doubles of the kernel are far from the answer, and how many such rows were seen."""

    row: int
    of: str
    kernel: float
    answer: float


@dataclass(slots=True)
class Counts:
    """What is to be told of many rows: how many there are, how many lack an answer (`undefined`) or have a remark with
    theirs, the first note with its row, the whole numbers that were rounded, where doubles lose digits, what is to be
    said of the engine, and how many rows were worked out one by one (`careful`), in how many `seconds`."""

    rows: int = 0
    undefined: int = 0
    remarked: int = 0
    first: tuple[int, str] | None = None
    first_remark: tuple[int, str] | None = None
    rounded: dict[str, tuple[int, str]] = field(default_factory=dict)
    lost: Lost | None = None
    engine_remark: str = ""
    careful: int = 0
    seconds: float = 0.0

    def add(self, other: Counts) -> None:
        """Put in what was found in other rows."""
        self.rows += other.rows
        self.engine_remark = self.engine_remark or other.engine_remark
        self.careful += other.careful
        self.seconds += other.seconds
        self.undefined += other.undefined
        self.remarked += other.remarked
        firsts = [one for one in (self.first, other.first) if one is not None]
        self.first = min(firsts) if firsts else None
        remarks = [one for one in (self.first_remark, other.first_remark) if one is not None]
        self.first_remark = min(remarks) if remarks else None
        for name, found in other.rounded.items():
            self.rounded[name] = min(found, self.rounded.get(name, found))
        if self.lost is None or (other.lost is not None and other.lost.row < self.lost.row):
            self.lost = other.lost or self.lost

    def moved(self, behind: int) -> Counts:
        """The same of rows that stand `behind` so many others."""

        def later(found: tuple[int, str] | None) -> tuple[int, str] | None:
            return None if found is None else (found[0] + behind, found[1])

        return replace(
            self,
            first=later(self.first),
            first_remark=later(self.first_remark),
            rounded={name: (row + behind, text) for name, (row, text) in self.rounded.items()},
            lost=None if self.lost is None else replace(self.lost, row=self.lost.row + behind),
        )

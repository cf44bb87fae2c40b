"""Records of Jacobians: the derivatives, the passes that they took, and where numbers stand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from backprop.higher.blocks import Part
from backprop.higher.sparsity import Pattern
from backprop.kinds.shapes import Shape
from backprop.record import Value, Witness


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

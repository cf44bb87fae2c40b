"""Sums over all rows: exact, so that neither the order of the rows nor the batches nor the jobs can change them.

The doubles of a batch are cut at a power of two so high that the upper parts add up without any rounding; what is left
of them is cut again, until nothing is left. (The extraction of S. M. Rump, T. Ogita and S. Oishi, "Accurate
floating-point summation I", SIAM Journal on Scientific Computing 31, 189-224, 2008.) The sums of the parts are added as
fractions, and rounded once, at the end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from backprop.mapping.worker import Answered

# Beyond this the power of two that is cut at could be too large for a double.
_LARGE = 2.0**900


def exact_sum(values: NDArray[np.float64]) -> Fraction:
    """The sum of n finite doubles, as it is.

    >>> import numpy as np
    >>> exact_sum(np.array([1e300, 1.0, -1e300, 2.0**-60])) == 1 + Fraction(1, 2**60)
    True
    """
    import numpy as np

    large = np.abs(values) > _LARGE
    total = Fraction(0)
    if large.any():
        total += sum(map(Fraction, values[large].tolist()), Fraction(0))
        values = values[~large]
    rest = values
    room = (len(values) + 2).bit_length()
    while len(rest):
        most = float(np.abs(rest).max())
        if not most:
            break
        cut = math.ldexp(1.0, math.frexp(most)[1] + room)
        upper = (rest + cut) - cut
        rest = rest - upper
        total += Fraction(float(upper.sum()))
    return total


def rounded(total: Fraction) -> float:
    """The double nearest to a sum; an infinity beyond the largest.

    >>> rounded(Fraction(1, 3)), rounded(Fraction(10)**400)
    (0.3333333333333333, inf)
    """
    try:
        return float(total)
    except OverflowError:
        return math.inf if total > 0 else -math.inf


@dataclass(slots=True)
class Totals:
    """Exact sums of the value and the slopes over the rows that have all of them (`answered`)."""

    answered: int = 0
    sums: dict[str, Fraction] = field(default_factory=dict)
    infinite: dict[str, float] = field(default_factory=dict)

    def add_rows(self, rows: Answered) -> None:
        """Put in the rows of a batch."""
        import numpy as np

        whole = ~rows.undefined
        self.answered += int(whole.sum())
        for name, found in {"": rows.value, **rows.slopes}.items():
            numbers = found[whole]
            finite = np.isfinite(numbers)
            if not finite.all():
                with np.errstate(invalid="ignore"):  # of both infinities the sum is NaN
                    self.infinite[name] = self.infinite.get(name, 0.0) + float(numbers[~finite].sum())
                numbers = numbers[finite]
            self.sums[name] = self.sums.get(name, Fraction(0)) + exact_sum(numbers)

    def add(self, other: Totals) -> None:
        """Put in the sums of other rows; the order does not matter."""
        self.answered += other.answered
        for name, total in other.sums.items():
            self.sums[name] = self.sums.get(name, Fraction(0)) + total
        for name, total_of in other.infinite.items():
            self.infinite[name] = self.infinite.get(name, 0.0) + total_of

    def number(self, name: str, mean: bool) -> float | None:
        """The sum of the slopes by a name ("" for the value), or their mean; None for the mean of no rows."""
        if name in self.infinite:
            return self.infinite[name]
        if mean and not self.answered:
            return None
        total = self.sums.get(name, Fraction(0))
        return rounded(total / self.answered if mean else total)

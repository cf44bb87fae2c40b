"""Certified: balls that are proven to hold the true number, with Arb (python-flint); see `backprop.balls`."""

from __future__ import annotations

from backprop.kinds import Kind
from backprop.mistakes import KindArgument

SPELLING, SAYS, EXTRA = "certified", "proven enclosures", "certify"

# with fewer than a double has nothing is worth proving
LEAST_BITS = 53


def of(argument: str, limit: int | None = None) -> Kind:
    """The kind `certified`, which takes up to `limit` bits. Raises `KindArgument` for an argument: it takes none."""
    if argument:
        told = "It takes as many bits as it needs: --kind certified. --limit tells the most"
        raise KindArgument(f"certified:{argument}", told)
    if limit is not None and limit < LEAST_BITS:
        raise KindArgument("certified", f"The most bits cannot be fewer than {LEAST_BITS}: --limit {LEAST_BITS}")
    from backprop.balls.enclosures import FIRST_BITS, MOST_BITS, Certified

    most = MOST_BITS if limit is None else limit
    return Certified(min(FIRST_BITS, most), most)

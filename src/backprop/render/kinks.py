"""What is taken where there is no derivative, in the words of a last line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from backprop.notation import slope
from backprop.record import OneSided
from backprop.render.look import Look

# Derivatives that are named one by one.
MOST_NAMED = 3


def is_taken(one: OneSided) -> bool:
    """Whether the answer is a choice among several numbers, or the slope from one side, and so no derivative.

    >>> is_taken(OneSided("x", "corner", "f", taken=0.0)), is_taken(OneSided("x", "smooth", "f", taken=1.0))
    (True, False)
    """
    return one.taken is not None and one.sort != "smooth"


def taken(output: str, ones: Iterable[OneSided], look: Look) -> Iterator[str]:
    """What is taken and why, a phrase for all of which the same is to be said.

    >>> list(taken("f", [OneSided("x", "corner", "f", taken=0.0, convention="minimum-norm")], Look()))
    ['∂f/∂x is taken as 0 at a kink (minimum norm)']
    """
    groups: dict[str, list[OneSided]] = {}
    for one in filter(is_taken, ones):
        groups.setdefault(_where(one), []).append(one)
    for where, those in groups.items():
        names = [slope(output, one.of) for one in those]
        if len(names) == 1:
            yield f"{names[0]} is taken as {look.figure(those[0].taken)} {where}"
        else:
            more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
            yield f"{', '.join(names[:MOST_NAMED])}{more} are taken {where}"


def _where(one: OneSided) -> str:
    """At what sort of point it is, and by whose choice."""
    if one.sort == "edge":
        return f"from the {'right' if one.left is None else 'left'}, where alone there are values"
    by = f" ({one.convention.replace('-', ' ')})" if one.convention is not None else ""
    return _AT.get(one.sort, "at a kink") + by


_AT = {
    "jump": "where the value jumps",
    "vertical": "where the slope grows without bound",
    "none": "where the slopes have no limit",
    "unclear": "at a kink, and what lies beside it could not be told",
}

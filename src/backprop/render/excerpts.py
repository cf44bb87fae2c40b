"""Excerpts: of a table with very many rows the first, the last and those of the largest derivatives.

What is left out is told, in the table and below it, with the ways to see it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from typing import Any

from backprop.figures import elements_of
from backprop.record import Trace
from backprop.render.look import Look
from backprop.working import Gap

# A table of more rows than this is told by an excerpt: so many at each end, and so many of the largest.
MOST_ROWS, AT_ENDS, LARGEST = 1000, 20, 20
# A program of more lines than this is quoted in part, and so is a line of more letters.
MOST_LINES, LINES_AT_ENDS = 200, 10
LONGEST_LINE, LETTERS_AT_ENDS = 4000, 400

ENDS = f"the first {AT_ENDS}, the last {AT_ENDS} and the {LARGEST} with the largest"
SEE_ALL = "--full shows all, and --format csv, ndjson or json tells every one"


def column(trace: Trace, name: str) -> Sequence[Any]:
    """One field of every node of a trace."""
    of_columns = getattr(trace.nodes, "column", None)
    found: Sequence[Any] = [getattr(node, name) for node in trace.nodes] if of_columns is None else of_columns(name)
    return found


def excerpt(rows: Sequence[Any], size: Callable[[Any], Any], look: Look) -> Iterator[Any]:
    """The rows of a table, in order; of very many some, with gaps between them. `size` ranks a row.

    >>> from backprop.render.look import Look
    >>> found = list(excerpt(range(5000), lambda row: row % 5000 if row == 70 else 0.0, Look()))
    >>> found[:2], found[20], found[21], found[22], len(found)
    ([0, 1], Gap(count=50), 70, Gap(count=4909), 43)
    """
    count = len(rows)
    if count <= MOST_ROWS or look.full:
        yield from rows
        return
    ranked = nlargest(LARGEST, range(AT_ENDS, count - AT_ENDS), key=lambda place: magnitude(size(rows[place])))
    kept = [place for place in ranked if magnitude(size(rows[place])) > 0]
    before = -1
    for place in sorted({*range(AT_ENDS), *kept, *range(count - AT_ENDS, count)}):
        if place > before + 1:
            yield Gap(place - before - 1)
        yield rows[place]
        before = place


def magnitude(value: Any) -> float:
    """How large a number is, of an array its largest element; 0 for what has no size.

    >>> magnitude(-2.0), magnitude([[1.0, -3.0]]), magnitude("x^2"), magnitude({"mid": "-5.5", "rad": "0"})
    (2.0, 3.0, 0.0, 5.5)
    """
    if type(value) is float:
        return abs(value) if value == value else 0.0
    if isinstance(value, list):
        return max(map(magnitude, elements_of(value)), default=0.0)
    above, _, below = str(value["mid"] if isinstance(value, dict) else value).partition("/")
    try:
        found = abs(float(above) / float(below or "1"))
    except (ValueError, ArithmeticError):
        return 0.0
    return 0.0 if math.isnan(found) else found


def is_cut(count: int, look: Look) -> bool:
    """Whether a table of so many rows is told by an excerpt."""
    return count > MOST_ROWS and not look.full


def told(what: str, count: int, largest: str) -> str:
    """What an excerpt leaves out, and how to see it."""
    return f"of {count} {what} these tables show {ENDS} {largest}; {SEE_ALL}"


def some_lines(lines: Sequence[str], look: Look) -> Iterator[str]:
    """The lines of a text that is quoted, a very long one in part."""
    if not look.full and len(lines) > MOST_LINES:
        between = f"… {len(lines) - 2 * LINES_AT_ENDS} more lines …"
        lines = [*lines[:LINES_AT_ENDS], between, *lines[-LINES_AT_ENDS:]]
    for line in lines:
        if look.full or len(line) <= LONGEST_LINE:
            yield line
        else:
            more = len(line) - 2 * LETTERS_AT_ENDS
            yield f"{line[:LETTERS_AT_ENDS]} … {more} more letters … {line[-LETTERS_AT_ENDS:]}"


def some_items(items: Iterable[tuple[str, Any]], look: Look) -> tuple[list[tuple[str, Any]], int]:
    """Names with what belongs to them, of very many the first few, and how many more there are."""
    every = list(items)
    return (every[:AT_ENDS], len(every) - AT_ENDS) if is_cut(len(every), look) else (every, 0)


def some_equations(equations: Mapping[str, Any], look: Look) -> Iterator[str]:
    """`name = value` for the value and many derivatives, the first, the last and the largest."""
    from backprop.render.grad import equations as every
    from backprop.render.tables import paragraph

    (output, value), *slopes = equations.items()
    held = {output: value}
    lines: list[str | Gap] = []
    for one in excerpt(slopes, lambda item: item[1], look):
        if not isinstance(one, Gap):
            held |= [one]
        lines.append(one if isinstance(one, Gap) else one[0])
    texts = dict(zip(held, every(held, look), strict=True))
    yield texts[output]
    for line in lines:
        yield texts[line] if not isinstance(line, Gap) else look.letters(f"… {line.told}")
    if is_cut(len(slopes), look):
        told = f"of {len(slopes)} derivatives these are {ENDS} values; --full shows all, and so does --format json"
        yield from paragraph(look, told, "quiet")

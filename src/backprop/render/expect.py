"""Programs held against their expectations: what differs, file by file, and a line that sums up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from backprop.mistakes import CannotRead
from backprop.render import mistakes
from backprop.render.look import Look

if TYPE_CHECKING:
    from backprop.expect import Result


def render(results: Sequence[Result], look: Look) -> Iterator[str]:
    """The lines, without line ends."""
    for result in results:
        number = f"{result.count} expectation{'' if result.count == 1 else 's'}" if result.count else "no expectations"
        mark, role = ("ok", "good") if result.fine else ("FAILED", "bad")
        told = "" if isinstance(result.mistake, CannotRead) else look.paint(f"  ({number})", "quiet")
        yield f"{look.paint(mark.ljust(6), role)}  {look.letters(result.path)}{told}"
        for one in result.differences:
            yield look.letters(f"        line {one.line}: expected {one.expected}")
            yield look.letters(f"        {' ' * len(f'line {one.line}')}  found    {one.found}")
        if result.mistake is not None:
            yield from (f"        {line}" for line in mistakes.lines(result.mistake, look))
    total = sum(result.count for result in results)
    wrong = sum(len(result.differences) for result in results)
    broken = sum(result.mistake is not None for result in results)
    programs = f"{len(results)} program{'' if len(results) == 1 else 's'}"
    parts = [f"{wrong} of {total} expectations differ"] if wrong else []
    parts += [f"{broken} could not be run"] if broken else []
    yield f"{programs}: {', '.join(parts) or f'all {total} expectations hold'}"

"""The variables of a program as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from backprop.render.look import Look
from backprop.render.tables import table


def render(found: Sequence[dict[str, str]], look: Look) -> Iterator[str]:
    """The lines, without line ends; one that says so when there are none."""
    if not found:
        return iter([look.letters("no variables: every name has a value")])
    columns = [name for name in ("name", "declared", "default", "value") if any(name in record for record in found)]
    return table(look, None, columns, ([record.get(name, "") for name in columns] for record in found))

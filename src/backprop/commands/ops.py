"""The table of operations."""

from __future__ import annotations

from backprop.asked import FINE, Asked
from backprop.commands import FIGURES, OUT, PLAIN, command


@command("[NAME]", PLAIN, FIGURES, OUT, binds=False, examples=("backprop ops", "backprop ops tanh"))
def answer(asked: Asked) -> int:
    """Show the table of operations, or all that is known about one."""
    from backprop.reference import operations, operations_called
    from backprop.render.ops import details, listing

    names = asked.at_most(1)
    found = operations_called(names[0], asked.figures) if names else operations()
    if asked.json:
        asked.show_record([one.to_dict() for one in found])
    else:
        asked.show(details(found, asked.look) if names else listing(found, asked.look))
    return FINE

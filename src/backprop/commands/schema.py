"""The JSON Schema of what is printed."""

from __future__ import annotations

from backprop.asked import FINE, Asked
from backprop.bindings import Option
from backprop.commands import OUT, command, one_of


@command(
    "",
    Option(
        "of",
        "the record: trace, grad, hessian, check, cost or map (trace)",
        "RECORD",
        one_of("trace", "grad", "hessian", "check", "cost", "map"),
    ),
    OUT,
    binds=False,
    examples=("backprop schema > trace.schema.json", "backprop schema --of hessian"),
)
def answer(asked: Asked) -> int:
    """Print the JSON Schema of a trace, of what grad prints, of a Hessian, a check, a cost or sums over rows."""
    from backprop import schema as schemas

    asked.at_most(0)
    of = {
        "grad": schemas.grad_schema,
        "hessian": schemas.hessian_schema,
        "check": schemas.check_schema,
        "cost": schemas.cost_schema,
        "map": schemas.map_schema,
    }
    asked.show_record(of.get(asked.words.text("of") or "trace", schemas.schema)())
    return FINE

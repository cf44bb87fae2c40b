"""Reference: what is known about an operation of the table, and the variables of a program, as records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from backprop import ops
from backprop.mistakes import UnknownFunction, UnknownOperation, closest
from backprop.ops import Row
from backprop.point import Number, Program
from backprop.record import Trace


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. `section` is the file of its row, `written` the ways to write it, `partials` its rules by operand.

    `evaluated` are the forms that keep more digits, where they are not the rules themselves. `pulls` tell what comes
    back to each operand of an operation on arrays, for each sort of shapes in its samples: those shapes, and by operand
    the formula with `g` for the adjoint of the result.
    """

    name: str
    section: str
    says: str
    written: list[str]
    partials: dict[str, str]
    evaluated: dict[str, str]
    domain: str
    kinks: list[str]
    notes: list[tuple[str, str]]
    latex: str
    flops: int
    work: str = ""
    example: Trace | None = None
    pulls: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The record for JSON; absent things are absent."""
        record: dict[str, Any] = {"name": self.name, "written": self.written, "says": self.says}
        record["partials"] = self.partials
        if self.pulls:
            record["pulls"] = [{"shapes": shapes, "rules": rules} for shapes, rules in self.pulls]
        optional = {"domain": self.domain, "kink": self.kinks, "latex": self.latex, "flops": self.flops}
        optional["work"] = self.work
        return record | {name: value for name, value in optional.items() if value}


def operations() -> list[Operation]:
    """Every operation, in the order of the table."""
    return [_operation(row) for row in ops.rows()]


def operations_called(name: str, figures: int) -> list[Operation]:
    """What a name may mean, the name of a call, of a row or a sign, each with an example. Raises `UnknownOperation`.

    >>> [(one.name, one.written, one.partials) for one in operations_called("tanh", 6)]
    [('tanh', ['tanh(x)'], {'x': '1 - out^2'})]
    """
    found = list(ops.called(name)) or [row for row in ops.rows() if name in (row.name, row.form, _sign(row))]
    if not found:
        known = [*ops.callable_names(), *(row.name for row in ops.rows())]
        elsewhere = UnknownFunction.elsewhere.get(name.lower())
        raise UnknownOperation(name, elsewhere.format("x") if elsewhere else None, closest(name, known))
    return [_operation(row, _example(row, figures)) for row in found]


def _operation(row: Row, example: Trace | None = None) -> Operation:
    # of a row that takes any number of operands two are shown
    arity = len(row.parameters) + row.variadic
    moving = tuple(place not in row.conditions for place in range(arity))
    names = row.names(arity)
    shown, stable = (
        {name: text for name, text in zip(names, rules, strict=True) if text is not None} if rules else {}
        for rules in (row.rules(moving), row.evaluated_rules(moving))
    )
    return Operation(
        name=row.name,
        section=row.value.__module__.rpartition(".")[2],
        says=row.says,
        written=_forms(row),
        partials=shown,
        evaluated={name: text for name, text in stable.items() if text != shown.get(name)},
        domain=row.domain,
        kinks=list(row.kinks(arity)),
        notes=[(remark.code, remark.when) for remark in row.remarks_for(moving)],
        latex=row.latex,
        flops=0 if row.arrays and row.work is not None else row.flops,
        work="" if row.work is None else row.work.says,
        example=example,
        pulls=_pulls(row),
    )


def _pulls(row: Row) -> list[tuple[str, dict[str, str]]]:
    """What comes back to the operands of a row of arrays, once for each set of rules that its samples have."""
    if row.pulls is None:
        return []
    from backprop.arrays_text import parts

    found: dict[tuple[str | None, ...], tuple[str, dict[str, str]]] = {}
    for sample in row.samples:
        names = row.names(len(sample))
        shapes = [
            int(text) if row.is_setting(place) else () if ":" in str(text) else parts(str(text))[0]
            for place, text in enumerate(sample)
        ]
        rules = row.pulled(tuple(shapes))
        told = ", ".join(
            f"{name} {shape}" for name, shape in zip(names, shapes, strict=True) if isinstance(shape, tuple) and shape
        )
        back = {name: rule for name, rule in zip(names, rules, strict=True) if rule is not None}
        found.setdefault(rules, (told or "numbers", back))
    return [one for one in found.values() if one[1]]


def _sign(row: Row) -> str:
    """The sign that an operation is written with: `+`, `!`, `<=`."""
    return "".join(letter for letter in row.form if not letter.isalnum() and not letter.isspace())


def _forms(row: Row) -> list[str]:
    """The ways to write an operation.

    >>> _forms(ops.by_name("add")), _forms(ops.by_name("max"))
    (['x + y'], ['max(x1, x2, ...)'])
    """
    names = ", ".join(f"{name[1:]}1, {name[1:]}2, ..." if name.startswith("*") else name for name in row.parameters)
    return [*([row.form] if row.form else []), *(f"{name}({names})" for name in row.called)]


def _example(row: Row, figures: int) -> Trace | None:
    """The first sample of a row, traced."""
    if not row.samples or row.gives_condition:
        return None
    from math import prod

    from backprop import point as points
    from backprop.arrays_text import written as written_array
    from backprop.tracing import trace

    operands = row.samples[0]
    names = row.names(len(operands))
    # a condition is written as one, and a setting stands in the program itself
    written = [
        f"{name} > 0" if place in row.conditions else str(operands[place]) if row.is_setting(place) else name
        for place, name in enumerate(names)
    ]
    program = f"{row.called[0]}({', '.join(written)})" if row.called else row.form
    if "axis=axis" in row.form:
        free = [name for place, name in enumerate(written) if not row.is_setting(place)]
        program = f"{row.called[0]}({', '.join(free)}, axis={written[row.parameters.index('axis')]})"
    if not row.called and row.variadic:
        program = row.form.replace(row.parameters[-1][1:], ", ".join(written[len(row.parameters) - 1 :]))
    point: dict[str, float | str] = {
        name: value if isinstance(value, str) else -1.0 if value is False else float(value)
        for place, (name, value) in enumerate(zip(names, operands, strict=True))
        if not row.is_setting(place)
    }
    here = points.at(program, point)
    shape = getattr(here.value(), "shape", ())
    if shape:
        weights = written_array(shape, [str(count) for count in range(1, prod(shape) + 1)])
        flat = points.at(f"sum({program})", point).gradient()
        still = all(abs(slope) < 1e-9 for slopes in flat.values() for slope in here.kind.elements(slopes))
        program = f"sum({program}*{weights})" if still else f"sum({program})"  # the shares of softmax add up to 1
    return trace(program, point, check=False, figures=figures)


def variables(program: Program, given: Mapping[str, Number]) -> list[dict[str, Any]]:
    """The inputs of a program: name, whether it is an input or a param, default or given value, shape of an array."""
    from backprop.arrays_text import is_array, parts
    from backprop.numerals import numeral

    spelled = program.spelled(given)
    _, graph = program.read(spelled)
    found = []
    for name in graph.inputs:
        record: dict[str, Any] = {"name": name, "declared": "param" if name in graph.params else "input"}
        if name in graph.defaults:
            record["default"] = graph.defaults[name]
        if name in spelled:
            record["value"] = numeral(spelled[name], name)
        known = record.get("value", record.get("default", ""))
        if is_array(known):
            record["shape"] = list(parts(known)[0])
        found.append(record)
    return found

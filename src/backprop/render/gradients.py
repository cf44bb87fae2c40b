"""The gradient of a trace as a table: each derivative, who agrees with it, and what is on both sides of a kink."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from backprop.figures import figure, shape_of, shape_text
from backprop.notation import slope
from backprop.record import OneSided, Trace, Value, Witness
from backprop.render.excerpts import excerpt
from backprop.render.look import Look
from backprop.render.tables import MEASURED, Cell, cells, natural_width, paragraph, table
from backprop.working import NO_VALUE, Gap, is_unproven
from backprop.working.brought import NOT_PROVEN

# The widest formula that stands in the gradient's table rather than below it.
WIDEST_FORMULA = 48
WITNESSES = {"sympy": "SymPy", "sympy rules": "SymPy"}


def gradient_table(trace: Trace, look: Look) -> Iterator[str]:
    if not trace.wrt:
        return
    known: dict[str, Value | None] = dict(trace.inputs)
    if any(name not in known for name in trace.wrt):
        known = {node.id: node.value for node in trace.nodes} | known
    wrt = list(excerpt(trace.wrt, trace.gradient.get, look))
    values = {name: _at(name, known) for name in trace.wrt}
    shapes = {name: shape_text(shape_of(values.get(name))) for name in trace.wrt}
    said = _by_variable(trace)
    formulas = ["" if isinstance(name, Gap) else trace.formulas.get(name, "") for name in wrt]
    inside = any(formulas) and max(map(cells, formulas)) <= WIDEST_FORMULA
    full = ["variable", *(["shape"] if any(shapes.values()) else []), "value", "gradient"]
    full += [*(["formula"] if inside else []), "checked (digits that agree)"]
    if not trace.witnesses:
        full.pop()
    if trace.kind == "symbol":
        full.remove("value")  # a name, which is its own value

    def rows(columns: Sequence[str]) -> Iterator[list[Cell]]:
        for name, formula in zip(wrt, formulas, strict=True):
            if isinstance(name, Gap):
                yield [("…", "quiet"), (name.told, "quiet")]
                continue
            slope_there = trace.gradient.get(name)
            missing = NOT_PROVEN if is_unproven(trace) else NO_VALUE
            shown: Cell = look.figure(slope_there) if slope_there is not None else (missing, "bad")
            told = checked(said.get(name, []))
            if slope_there is None and told[1] == "quiet":
                told = ("nothing to check", "quiet")
            cell: dict[str, Cell] = {"variable": name, "shape": shapes[name], "value": look.figure(values.get(name))}
            cell |= {"gradient": shown, "formula": formula}
            yield [cell.get(column, told) for column in columns]

    # what is also told elsewhere makes room on a narrow screen: the value in the heading, the formula below the table
    narrower = [[name for name in full if name not in left] for left in ((), ("value",), ("value", "formula", "shape"))]
    for columns in narrower:
        if look.width is None or natural_width(look, columns, islice(rows(columns), MEASURED)) <= look.width:
            break
    yield from table(look, "Gradient", columns, rows(columns), roles=[_GRADIENT.get(name) for name in columns])
    for witness in said.get("all", ()):
        told, role = checked([witness])
        of = {"sympy rules": "every edge", "rounding": "double precision"}.get(witness.by, "all inputs at once")
        of = of if witness.sample is None else "a sample"
        yield from paragraph(look, f"{of} {told}", role)
    told_apart = [one for one in trace.one_sided if one.sort != "smooth"]
    for one in told_apart:
        yield from paragraph(look, both_sides(trace, one, look), "warning", " " * 6)
    if sum(one.sort == "corner" for one in told_apart) > 1:
        yield from paragraph(look, "each along its own axis: not every choice of them is a subgradient", "warning")
    if any(formulas) and "formula" not in columns:
        yield ""
        for name, formula in zip(wrt, formulas, strict=True):
            if formula:
                yield from paragraph(look, f"{slope(trace.output, name)} = {formula}")


def _at(name: str, values: Mapping[str, Value | None]) -> Value | None:
    """The value of a name, also of an element: W[0,1]."""
    array, bracket, places = name.removesuffix("]").partition("[")
    found = values.get(name, values.get(array) if bracket else None)
    if name in values or not bracket:
        return found
    for place in places.split(","):
        if not isinstance(found, list) or not place.isdecimal() or int(place) >= len(found):
            return None
        found = found[int(place)]
    return found


def both_sides(trace: Trace, one: OneSided, look: Look) -> str:
    """The slopes on both sides of a kink, what is a subgradient and what is taken, in one line."""
    ends = [(one.left, "left"), (one.right, "right")]
    slopes = [f"{look.figure(end)} {which}" for end, which in ends if end is not None]
    parts = [", ".join(slopes) or "no slopes beside it"]
    if one.sort == "jump":
        parts.insert(0, "the value jumps")
    elif one.sort == "edge":
        parts[0] += " only"
    elif one.low is not None and one.low != one.high:
        parts.append(f"any of [{look.figure(one.low)}, {look.figure(one.high)}]")
    elif one.sort == "corner":
        parts.append("another between the axes")
    if one.taken is not None:
        by = f" ({one.convention.replace('-', ' ')})" if one.convention is not None else ""
        parts.append(f"taken {look.figure(one.taken)}{by}")
    return f"{slope(trace.output, one.of)}: {'; '.join(parts)}"


def limits_beside(trace: Trace, look: Look) -> Iterator[str]:
    """What is approached beside a point where there is no value, a line for each side that differs."""
    assert trace.limits is not None
    left, right = trace.limits.left, trace.limits.right
    for where, told in (("beside the point", trace.limits), ("from the left", left), ("from the right", right)):
        if told is None or (told.value is None and told.why is None):
            continue
        where = f"from the {told.side}" if told.side is not None else where
        parts = [] if told.value is None else [f"{trace.output} -> {look.figure(told.value)}"]
        parts += [f"{slope(trace.output, name)} -> {look.figure(end)}" for name, end in told.gradient.items()]
        parts += [f"no limit: {told.why}"] if told.why is not None else []
        yield from paragraph(look, f"{where}  {', '.join(parts)}", "warning", " " * 6)
    yield ""


_GRADIENT = {"variable": "name", "shape": "quiet", "gradient": "gradient", "formula": "formula"}
_ROLES = {"agrees": "good", "not checked": "quiet", "inaccurate": "warning", "DISAGREES": "bad"}


def _by_variable(trace: Trace) -> dict[str, list[Witness]]:
    found: dict[str, list[Witness]] = {}
    for witness in trace.witnesses:
        found.setdefault(witness.of, []).append(witness)
    return found


def checked(witnesses: Sequence[Witness]) -> tuple[str, str]:
    """What the witnesses of one number say, the worst first.

    >>> checked([Witness("x", "sympy", "agrees", digits=16.2), Witness("x", "difference", "agrees", digits=15.9)])
    ('agrees: SymPy 16, difference 15', 'good')
    """
    parts: list[str] = []
    worst = ""
    for sort in ("DISAGREES", "inaccurate", "agrees", "not checked"):
        those = [witness for witness in witnesses if witness.verdict == sort]
        if not those:
            continue
        worst = worst or sort
        # what several say for the same reason is said once
        groups: dict[tuple[str, str], list[str]] = {}
        for witness in those:
            groups.setdefault((_instead(witness), witness.reason or ""), []).append(_name(witness))
        told = (_told(names, instead, reason) for (instead, reason), names in groups.items())
        parts.append(f"{sort}: " + ", ".join(told))
    return ("; ".join(parts), _ROLES[worst]) if worst else ("not checked", "quiet")


def _name(witness: Witness) -> str:
    """Who it is, with the digits that agree."""
    name = WITNESSES.get(witness.by, witness.by.replace("-", " "))
    known = witness.verdict == "agrees" and witness.digits is not None and math.isfinite(witness.digits)
    where = f" at {witness.worst}" if witness.worst is not None else ""
    return f"{name} {math.floor(witness.digits or 0)}{where}" if known else f"{name}{where}"


def _instead(witness: Witness) -> str:
    """What it found when that is not what we found; of an array the worst element."""
    if witness.verdict in ("agrees", "not checked") or witness.value is None:
        return ""
    if isinstance(witness.value, list):
        worst = None if witness.worst is None else _at(witness.worst, {witness.of: witness.value})
        return figure(witness.value if worst is None else worst, 17)
    return str(witness.value)


def _told(names: Sequence[str], instead: str, reason: str) -> str:
    says = f" {'says' if len(names) == 1 else 'say'} {instead}" if instead else ""
    between = " and " if instead else ", "
    return f"{between.join(names)}{says}" + (f" ({reason})" if reason else "")

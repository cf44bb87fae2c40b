"""The last word on a trace: its value, how many derivatives, and whether every witness agrees."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from backprop.arrays_text import element_name, element_of, indices_of
from backprop.figures import elements_of, shape_of
from backprop.notation import slope
from backprop.record import OneSided, Trace, Value
from backprop.render.kinks import is_taken, taken
from backprop.render.look import Look

# So many derivatives that do not exist are named in the last word.
MOST_NAMED = 8


def verdict(trace: Trace, look: Look) -> tuple[str, str]:
    """The last word in one line: the value, how many derivatives, and whether every witness agrees."""
    if trace.value is None:
        if not trace.node(trace.output).proven:
            return f"whether {trace.output} has a value here is not proven", "bad"
        return f"{trace.output} has no value at this point", "bad"
    value = f"{trace.output} = {look.figure(trace.value)}"
    wrong = list(dict.fromkeys(witness.of for witness in trace.witnesses if witness.verdict == "DISAGREES"))
    if wrong:
        return f"{value}, but a check DISAGREES on {', '.join(_slopes(trace, wrong))}", "bad"
    missing = list(_without_derivative(trace))
    if missing:
        told = ", ".join(_slopes(trace, missing[:MOST_NAMED]))
        told += f" and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
        return f"{value}, with no derivative here: {told}", "bad"
    codes = {note.code for note in trace.notes}
    if "undefined" in codes:
        overflows = "overflow" in codes and trace.value in (math.inf, -math.inf)
        return f"{value}, {'more than a double can carry' if overflows else 'undefined at this point'}", "bad"
    if trace.birth is not None:
        what = "" if trace.birth.what == "value" else "the adjoint of "
        return f"{value}; the first NaN or infinity is {what}{trace.birth.node}", "bad"
    if not trace.wrt:
        return value, "good"
    count = "1 derivative" if len(trace.wrt) == 1 else f"{len(trace.wrt)} derivatives"
    if trace.kind == "symbol":
        return f"{value}, {count}", "value"
    chosen = [*taken(trace.output, trace.one_sided, look), *_by_convention(trace)]
    told, role = _confirmed(trace) if trace.one_sided or not chosen else ("", "warning")
    if trace.mended:
        told, role = "worked out with more digits where doubles lose them", "warning"
    elif any(witness.verdict == "inaccurate" for witness in trace.witnesses):
        told, role = "digits are lost at this point", "warning"
    parts = [f"{value}, {count}" + (f", {told}" if told else ""), *chosen]
    return (": " if not told else "; ").join(parts[:2]) + "".join(f"; {part}" for part in parts[2:]), (
        "warning" if chosen else role
    )


def _without_derivative(trace: Trace) -> Iterator[str]:
    """What has no derivative, of an array its elements by name."""
    for name in trace.wrt:
        found = trace.gradient.get(name)
        if found is None:
            yield name
        elif isinstance(found, list) and not isinstance(trace.value, list):
            stem, before = element_of(name)
            shape = shape_of(found)
            for position, one in enumerate(elements_of(found)):
                if one is None:
                    yield element_name(stem, (*before, *indices_of(shape, position)))


def _by_convention(trace: Trace) -> Iterator[str]:
    """What is to be said of kinks beside which nobody looked: a convention, or the rules, had the word."""
    if not trace.one_sided and any(note.code == "kink" for note in trace.notes):
        yield "at a kink, " + ("what the rules take" if trace.convention is None else f"as {trace.convention} takes it")


def _is_chosen(found: Value | None, beside: list[OneSided]) -> bool:
    """Whether a derivative is a choice at a kink, in every one of its elements."""
    count = len(list(elements_of(found))) if isinstance(found, list) else 1
    return len(beside) == count and all(map(is_taken, beside))


_SAMPLED = {"sympy rules": "edges", "nodes": "nodes"}


def _confirmed(trace: Trace) -> tuple[str, str]:
    """How many derivatives are confirmed, of those that are more than a choice; "" where every one is a choice."""
    singular: dict[str, list[OneSided]] = {}
    for one in trace.one_sided:
        singular.setdefault(one.of if one.of in trace.wrt else element_of(one.of)[0], []).append(one)
    names = [name for name in trace.wrt if not _is_chosen(trace.gradient.get(name), singular.get(name, []))]
    agreed = [one for one in trace.witnesses if one.verdict == "agrees" and one.by != "rounding"]
    rules = any(one.by == "sympy rules" for one in agreed)
    each = {one.of for one in agreed if one.by not in _SAMPLED}
    # right rules make a right derivative, but for a point where the answer does not come from them
    confirmed = [name for name in names if {name, "all"} & each or (rules and name not in singular)]
    if not names:
        return "", "warning"
    if len(confirmed) < len(names):
        beside = [slope(trace.output, name) for name in names if name in singular and name not in confirmed]
        if trace.witnesses and len(confirmed) + len(beside) == len(names):
            told = f"{', '.join(beside[:3])} from values beside the point"
            return f"{len(confirmed)} confirmed, {told}" if confirmed else told, "value"
        told = f"{len(confirmed)} confirmed, {len(names) - len(confirmed)} not" if confirmed else "not checked"
        return told, "value"
    tried = ", ".join(
        f"{one.sample[0]} of {one.sample[1]} {_SAMPLED[one.by]}" for one in agreed if one.sample is not None
    )
    told = "every check agrees" if len(names) == len(trace.wrt) else f"{len(names)} confirmed"
    return (f"{told} ({tried} tried)" if tried else told), "good"


def _slopes(trace: Trace, names: Iterable[str]) -> Iterator[str]:
    return ("the edges" if name == "all" else slope(trace.output, name) for name in names)

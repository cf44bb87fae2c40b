"""Traces read back from JSON, each field held against what it may be."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from backprop.figures import Written
from backprop.mistakes import LONGEST_NUMBER, NotATrace
from backprop.record import FORMAT, NUMBERS, VERSION, Birth, Edge, Limits, Node, Note, OneSided, Step, Trace, Witness


def trace_of(record: dict[str, Any]) -> Trace:
    """A trace read back. Raises `NotATrace` for a record of another shape or version."""
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise NotATrace("this JSON is no trace")
    if record.get("version") != VERSION:
        raise NotATrace(f"this trace has version {record.get('version')}, and I read version {VERSION}")
    number = _formula if record.get("kind") == "symbol" else _number
    try:
        found = Trace(
            program=record["program"],
            canonical=record["canonical"],
            kind=record["kind"],
            mode=record["mode"],
            inputs={name: number(value) for name, value in record["inputs"].items()},
            params=record.get("params", []),
            output=record["output"],
            value=number(record.get("value")),
            wrt=record["wrt"],
            gradient={name: number(value) for name, value in record["gradient"].items()},
            formulas=record.get("formulas", {}),
            mended=record.get("mended", []),
            nodes=[Node(**_restored(item, number)) for item in record["nodes"]],
            edges=[Edge(**_restored(item, number)) for item in record["edges"]],
            witnesses=[Witness(**_restored(item, number)) for item in record["witnesses"]],
            notes=[Note(**_restored(item, number)) for item in record["notes"]],
            undefined=record.get("undefined"),
            convention=record.get("convention"),
            opened=record.get("opened"),
            one_sided=[OneSided(**_restored(item, number)) for item in record.get("one_sided", [])],
            limits=Limits.from_dict(record["limits"], number) if "limits" in record else None,
            birth=_birth(record["birth"], number) if "birth" in record else None,
            written_steps=[Step(**_restored(item, number)) for item in record["steps"]],
        )
    except (KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise NotATrace(f"a part of this trace is missing or misshapen: {error}") from None
    _refuse_what_does_not_fit(found)
    return found


def trace_of_json(text: str) -> Trace:
    """A trace read back from JSON text. Raises `NotATrace`."""
    try:
        record = json.loads(text, parse_int=_integer)
    except RecursionError:
        raise NotATrace("the brackets of this JSON are nested too deeply") from None
    except ValueError as error:
        raise NotATrace(f"this is no JSON: {error}") from None
    return trace_of(record)


def _refuse_what_does_not_fit(trace: Trace) -> None:
    """Raise `NotATrace` when a field holds another sort of thing than it should, or an edge joins no nodes."""
    births = [] if trace.birth is None else [trace.birth]
    limits = [] if trace.limits is None else [trace.limits, *filter(None, (trace.limits.left, trace.limits.right))]
    items: list[Any] = [trace, *births, *limits, *trace.one_sided, *trace.nodes, *trace.edges]
    items += [*trace.steps, *trace.witnesses, *trace.notes]
    sorts: dict[str, list[tuple[str, str, bool]]] = {}  # the fields: name, kind, whether it may be absent
    for item in items:
        sort = type(item).__name__
        if sort not in sorts:
            sorts[sort] = [(one.name, str(one.type), str(one.type).endswith(" | None")) for one in fields(item)]
        for name, kind, optional in sorts[sort]:
            value = getattr(item, name)
            if not (value is None and optional) and not _fits(value, kind):
                raise NotATrace(f"{name} of a {sort.lower()} cannot be {value!r:.80}")
    for node in trace.nodes:
        for found in (node.value, node.tangent, node.adjoint):
            shaped = found is not None and (node.shape is not None or type(found) is list)
            if shaped and shape_of(found) != node.shape:
                raise NotATrace(f"{node.id} has the shape {node.shape}, and a value of it has not")
    ids = {node.id for node in trace.nodes}
    if len(ids) < len(trace.nodes):
        raise NotATrace("two nodes of this trace have the same id")
    for edge in trace.edges:
        if edge.source not in ids or edge.target not in ids:
            raise NotATrace(f"an edge leads from {edge.source} to {edge.target}, and one of them is no node")
    for step in trace.steps:
        if step.node not in ids:
            raise NotATrace(f"a step is about {step.node}, which is no node")


def _integer(text: str) -> int:
    if len(text) > LONGEST_NUMBER:
        raise ValueError(f"a number has {len(text)} digits")
    return int(text)


def shape_of(value: Any) -> tuple[int, ...] | None:
    """The shape of a value in a Trace, () for one number; None for lists that are no array.

    >>> shape_of([[1.0, 2.0, None]]), shape_of(3.0), shape_of([[1.0], 2.0]), shape_of([])
    ((1, 3), (), None, None)
    """
    shape: list[int] = []
    level = [value]
    while isinstance(level[0], list):
        shape.append(len(level[0]))
        if not shape[-1] or any(not isinstance(one, list) or len(one) != shape[-1] for one in level):
            return None
        level = [one for row in level for one in row]
    return None if any(isinstance(one, list) for one in level) else tuple(shape)


_BEYOND = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def _restored(item: dict[str, Any], number: Callable[[Any], Any]) -> dict[str, Any]:
    """The fields of a record as they were before it was JSON."""
    return {
        key: number(value) if key in NUMBERS else tuple(value) if isinstance(value, list) else value
        for key, value in item.items()
    }


def _birth(item: dict[str, Any], number: Callable[[Any], Any]) -> Birth:
    values = {key: {name: number(value) for name, value in item[key].items()} for key in ("operands", "inputs")}
    return Birth(**_restored(item, number) | values)


def _number(value: Any) -> Any:
    """A number as it was before it was JSON: a float, one in many digits, a fraction."""
    if isinstance(value, list):
        return [_number(one) for one in value]
    value = _formula(value)
    return Written(value) if isinstance(value, str) and _WRITTEN.fullmatch(value) else value


def _formula(value: Any) -> Any:
    if isinstance(value, list):
        return [_formula(one) for one in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, dict) and "shape" in value:
        raise NotATrace("its large arrays are told in brief, so they cannot be read back: save it without --brief")
    return _BEYOND.get(value, value) if isinstance(value, str) else value


# without `\d+\.?\d*`, which tries every way to share a long row of digits
_WRITTEN = re.compile(r"-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?(?:/\d+)?")


def _fits(value: Any, kind: str) -> bool:
    """Whether a value is of a kind of field, told as the record tells it.

    >>> _fits(2.0, "Value | None"), _fits(["a"], "list[str]"), _fits((1, "a"), "tuple[int, int] | None")
    (True, True, False)
    """
    return any(_fits_one(value, one) for one in kind.split(" | "))


def _fits_one(value: Any, kind: str) -> bool:
    if kind == "Value" and isinstance(value, list):
        return shape_of(value) is not None and all(one is None or _fits_one(one, kind) for one in _elements(value))
    if kind == "Value" and isinstance(value, dict):
        return value.keys() == {"mid", "rad"} and all(_is_ball_part(part) for part in value.values())
    if kind in _PLAIN_KINDS:
        return isinstance(value, _PLAIN_KINDS[kind]) and (kind != "int" or not isinstance(value, bool))
    container, _, inner = kind.removesuffix("]").partition("[")
    parts = inner.split(", ")
    if container == "dict":
        return isinstance(value, dict) and all(isinstance(key, str) and _fits(value[key], parts[1]) for key in value)
    if container == "tuple" and parts[-1] != "...":
        return isinstance(value, tuple) and len(value) == len(parts) and all(map(_fits, value, parts))
    sequence = isinstance(value, tuple if container == "tuple" else list)
    return sequence and (parts[0] not in _PLAIN_KINDS or all(_fits(one, parts[0]) for one in value))


def _elements(value: list[Any]) -> list[Any]:
    """The numbers in nested lists, row by row."""
    while isinstance(value[0], list):
        value = [one for row in value for one in row]
    return value


def _is_ball_part(part: Any) -> bool:
    return isinstance(part, str) and (_WRITTEN.fullmatch(part) is not None and "/" not in part)


_PLAIN_KINDS: dict[str, Any] = {
    "str": str,
    "int": int,
    "bool": bool,
    "float": float,
    "None": type(None),
    "Birth": Birth,
    "Limits": Limits,
    "Value": (float, str, bool),
}

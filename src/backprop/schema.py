"""The JSON Schema (draft 2020-12) of a trace in JSON, which `backprop schema` prints."""

from __future__ import annotations

from typing import Any

from backprop.record import FORMAT, VERSION

_TEXT: dict[str, Any] = {"type": "string"}
_NAMES: dict[str, Any] = {"type": "array", "items": _TEXT}
_PLACE: dict[str, Any] = {"type": "integer", "minimum": 0}
_VALUE = {
    "description": "a number; text where JSON has none: NaN, Infinity, -Infinity, a fraction, a formula",
    "type": ["number", "string", "boolean"],
}


def schema() -> dict[str, Any]:
    """The schema: every field with its meaning; a field that it does not name is refused.

    >>> schema()["properties"]["version"]
    {'const': 1}
    """
    record = _record(
        "a program at a point: values, derivatives and how they were worked out, in NetworkX node-link shape",
        required={
            "format": {"const": FORMAT},
            "version": {"const": VERSION},
            "program": _said(_TEXT, "the program as typed; spans count its characters"),
            "canonical": _said(_TEXT, "the program as it was read, with its signs written out"),
            "kind": _said(_TEXT, 'the kind of value: "real" is double precision, "symbol" formulas'),
            "mode": {"enum": ["reverse", "forward"]},
            "inputs": _map(_VALUE, "the number each input has"),
            "output": _said(_TEXT, "the id of the node that is the result"),
            "wrt": _said(_NAMES, "the names whose derivatives were asked for"),
            "gradient": _map(_VALUE, "d output / d name; a name is absent where its derivative has no value"),
            "directed": {"const": True},
            "multigraph": {"const": True},
            "graph": {"type": "object"},
            "nodes": _list(_node(), "in topological order"),
            "edges": _list(_edge(), "one for each operand of each operation, so x*x has two"),
            "steps": _list(_step(), "the lines of working, in the order in which they are done"),
            "witnesses": _list(_witness(), "what independent ways say of the derivatives"),
            "notes": _list(_note(), "what a reader should know"),
        },
        optional={
            "params": _said(_NAMES, "the inputs that are trainable"),
            "value": _said(_VALUE, "the value of the output; absent where it has none"),
            "formulas": _map(_TEXT, "the gradient as formulas of the inputs, where short enough to be read"),
        },
    )
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": FORMAT, **record}


def _node() -> dict[str, Any]:
    return _record(
        "an input, a constant or the result of one operation",
        required={
            "id": _said(_TEXT, "its name; v1, v2, ... where it has none; c~2 when c is bound again"),
            "op": _said(_TEXT, '"input", "const" or the name of an operation'),
        },
        optional={
            "args": _said(_NAMES, "the ids of its operands"),
            "formula": _said(_TEXT, "what is worked out, over ids"),
            "span": {"type": "array", "items": _PLACE, "minItems": 2, "maxItems": 2},
            "value": _said(_VALUE, "absent where there is none, and in a branch not taken"),
            "tangent": _said(_VALUE, "forward mode: d node / d the chosen input"),
            "adjoint": _said(_VALUE, "reverse mode: d output / d node"),
            "taken": {"const": False, "description": "present in a branch that was not taken"},
        },
    )


def _edge() -> dict[str, Any]:
    return _record(
        "from a node into one operand of another",
        required={"source": _TEXT, "target": _TEXT, "key": _said(_PLACE, "which operand, from 0")},
        optional={
            "partial": _said(_VALUE, "d target / d source, the other operands held"),
            "formula": _said(_TEXT, "the rule of the partial, over ids"),
            "contribution": _said(
                _VALUE, "what the edge brings: partial times adjoint of target, or tangent of source"
            ),
        },
    )


def _step() -> dict[str, Any]:
    edge = {
        "type": "array",
        "prefixItems": [_TEXT, _TEXT, _PLACE],
        "items": False,
        "minItems": 3,
        "description": "source, target, key",
    }
    return _record(
        "one line of working",
        required={"phase": {"enum": ["forward", "tangent", "reverse"]}, "node": _TEXT, "text": _TEXT},
        optional={"edge": edge},
    )


def _witness() -> dict[str, Any]:
    return _record(
        "what one independent way says of one derivative",
        required={
            "of": _said(_TEXT, 'a name of wrt, or "all" for every edge at once'),
            "by": _said(_TEXT, "the way"),
            "verdict": {"enum": ["agrees", "not checked", "inaccurate", "DISAGREES"]},
        },
        optional={
            "value": _VALUE,
            "digits": _said({"type": ["number", "string"]}, "how many digits agree"),
            "reason": _TEXT,
        },
    )


def _note() -> dict[str, Any]:
    return _record(
        "something a reader should know",
        required={"code": _said(_TEXT, 'its sort; "undefined" where an answer has no value'), "text": _TEXT},
        optional={"node": _said(_TEXT, "the id of the node it is about")},
    )


def _record(says: str, required: dict[str, Any], optional: dict[str, Any]) -> dict[str, Any]:
    return {
        "description": says,
        "type": "object",
        "properties": required | optional,
        "required": list(required),
        "additionalProperties": False,
    }


def _said(schema: dict[str, Any], says: str) -> dict[str, Any]:
    return schema | {"description": says}


def _list(item: dict[str, Any], says: str) -> dict[str, Any]:
    return {"type": "array", "items": item, "description": says}


def _map(value: dict[str, Any], says: str) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": value, "description": says}

"""The record of a trace as JSON text: a node of it has ten fields, two edges and their steps."""

from __future__ import annotations

import sys
from typing import Any

from harness import Found, Measure, Subject, Works
from operations import POINT, text

CORE, FAST = "backprop, what core has", "backprop, with orjson"

WRITING = Subject(
    "json",
    "Writing JSON",
    "The trace of a wide program: this program writes the bytes from its columns, the peers from a record of "
    "dictionaries and lists that is there already. The last row is what making that record takes.",
    sizes=(10**4, 10**5),
    quick=(10**2,),
    measure=Measure("nanoseconds a node", lambda seconds, size: 1e9 * seconds / size),
    repeats=3,
    limit=120,
    size_word="nodes",
)
SUBJECTS = [WRITING]


def _trace(size: int) -> Any:
    from backprop.tracing import trace

    return trace(text("wide", size), POINT, check=False)


def _ours(size: int) -> Works:
    found = _trace(size)
    return {"": lambda: sum(map(len, found.json_lines()))}


@WRITING.contender(CORE, ["backprop"], ours=True)
def core(size: int) -> Works:
    sys.modules["orjson"] = None  # type: ignore[assignment]  # as if it were not installed
    return _ours(size)


@WRITING.contender(FAST, ["backprop", "orjson"], ours=True)
def fast(size: int) -> Works:
    return _ours(size)


@WRITING.contender("json.dumps", ["json"])
def standard(size: int) -> Works:
    import json

    record = _trace(size).to_dict()
    return {"": lambda: json.dumps(record)}


@WRITING.contender("orjson", ["orjson"])
def orjson(size: int) -> Works:
    import orjson as o

    record = _trace(size).to_dict()
    return {"": lambda: o.dumps(record)}


@WRITING.contender("msgspec", ["msgspec"])
def msgspec(size: int) -> Works:
    from msgspec.json import encode

    record = _trace(size).to_dict()
    return {"": lambda: encode(record)}


@WRITING.contender("making the record", ["backprop"])
def record(size: int) -> Works:
    found = _trace(size)
    return {"": found.to_dict}


@WRITING.budget("json core", "JSON by what core has, nanoseconds a node", 10_000)
def _(found: Found) -> float:
    return 1e9 * found.median(CORE) / found.sizes[-1]


@WRITING.budget("json fast", "JSON with the extra `fast`, nanoseconds a node", 2_000)
def _(found: Found) -> float:
    return 1e9 * found.median(FAST) / found.sizes[-1]

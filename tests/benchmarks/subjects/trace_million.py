"""The whole trace of a large program, written as JSON."""

from __future__ import annotations

import os
import sys

from harness import MICROSECONDS, Found, Subject
from operations import POINT
from scratch import folder

from subjects.whole import program

JSON, TABLE = "backprop trace --format json -o", "backprop trace --no-check"

TRACE = Subject(
    "trace",
    "The trace of a million operations",
    "`backprop trace --file` on a wide program of assignments: every value, partial, adjoint, step and span as JSON, "
    "and the tables with head, tail and the biggest adjoints.",
    sizes=(10**3, 10**5, 10**6),
    quick=(10**3,),
    measure=MICROSECONDS,
    repeats=3,
    limit=300,
    memory="Memory of the process",
    plot="lines",
)
SUBJECTS = [TRACE]


def _words(size: int) -> list[str]:
    point = [word for name, value in POINT.items() for word in (f"--{name}", str(value))]
    return [sys.executable, "-m", "backprop", "trace", "--file", str(program("wide", size)), *point]


@TRACE.command(JSON, ["backprop"], ours=True)
def json(size: int) -> list[str]:
    return [*_words(size), "--no-check", "--format", "json", "-o", str(folder() / "trace.json")]


@TRACE.command(TABLE, ["backprop"], ours=True)
def table(size: int) -> list[str]:
    return [*_words(size), "--no-check", "-o", os.devnull]


@TRACE.budget("trace growth", "trace as JSON: an operation at 10^6 over one at 10^5", 1.5)
def _(found: Found) -> float:
    return found.growth(JSON, least=10**5)


@TRACE.budget("trace memory", "trace as JSON: memory, bytes an operation", 400)
def _(found: Found) -> float:
    return found.bytes_each(JSON)

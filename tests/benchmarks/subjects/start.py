"""Start-up of one command on a small expression, bare Python being 1."""

from __future__ import annotations

import sys

from harness import Found, Subject

POINT = ["(x*y+z)*x", "--x", "3", "--y", "-1", "--z", "2"]
BARE = "python -c pass"
GRAD, HELP, PATHS, DOT = (
    "backprop grad --format json",
    "backprop --help",
    "backprop paths",
    "backprop trace --format dot",
)
NO_CHECK, FIRST, LAST = "backprop trace --no-check", "backprop trace, first line", "backprop trace, last verdict"

START = Subject(
    "start",
    "Start-up",
    "A process from its start to its end, on `(x*y+z)*x`, as a multiple of bare Python.",
    relative=BARE,
    repeats=11,
    plot="bars",
)
SUBJECTS = [START]

COMMANDS = {
    GRAD: ["grad", *POINT, "--format", "json"],
    HELP: ["--help"],
    PATHS: ["paths", *POINT],
    DOT: ["trace", *POINT, "--no-check", "--format", "dot"],
    NO_CHECK: ["trace", *POINT, "--no-check"],
    FIRST: ["trace", *POINT],
    LAST: ["trace", *POINT],
}
IMPORTS = {
    "import numpy": "numpy",
    "import sympy": "sympy",
    "import lark": "lark",
    "import typer": "typer",
    "import click": "click",
    "import rich.table": "rich",
    "import autograd": "autograd",
    "import casadi": "casadi",
    "import jax": "jax",
    "import torch": "torch",
    "import tensorflow": "tensorflow",
}
LIMITS = {GRAD: 8.0, HELP: 9.0, PATHS: 12.0, DOT: 12.0, NO_CHECK: 12.0, FIRST: 12.0, LAST: 55.0}

START.command(BARE)(lambda _: [sys.executable, "-c", "pass"])


def _add(name: str, words: list[str], needs: str, ours: bool, until: str) -> None:
    START.command(name, [needs], ours=ours, until=until)(lambda _: [sys.executable, *words])


def _limit(name: str, limit: float) -> None:
    @START.budget(f"start {name}", f"start-up of `{name}`, bare Python = 1", limit)
    def _(found: Found) -> float:
        return found.ratio(name, BARE)


for name, words in COMMANDS.items():
    _add(name, ["-m", "backprop", *words], "backprop", True, "first line" if name == FIRST else "end")
    _limit(name, LIMITS[name])
for name, module in IMPORTS.items():
    _add(name, ["-c", name], module, False, "end")

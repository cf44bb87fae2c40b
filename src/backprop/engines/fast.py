"""The tape compiled by numba, for programs that are evaluated many times: the extra `fast`.

There is one tape for each set of operations, as in Python, so that another program of the same operations needs no
compiler. Its machine code is kept in the user's folder (`kept_modules`), for each version of Python and of the rows.
What differs from the tape in Python, in the last bit and seldom, is `hypot`, and what has it in a rule: Python has a
better one of its own than the library of C.
"""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from backprop import kept_modules, progress
from backprop.engines.columns import DECLINED, TapeColumns
from backprop.engines.methods import Uncompilable, functions
from backprop.engines.shapes import Shapes, unordered
from backprop.engines.tape import tape
from backprop.graph import Graph
from backprop.mistakes import ExtraMissing

HEAD = """\
import math
from numba import njit, types

KEPT = {{"cache": {kept}, "error_model": "numpy", "nogil": True}}
foreign_cbrt = types.ExternalFunction("cbrt", types.float64(types.float64))
INF = float("inf")
NAN = float("nan")

@njit(**KEPT)
def divided(x, y):
    return x / y if y != 0.0 else NAN

@njit(**KEPT)
def modulo(x, y):
    return x % y if y != 0.0 else NAN

"""
DECORATION = "@njit(**KEPT)"


def is_there() -> bool:
    """Whether numba is installed."""
    return find_spec("numba") is not None


def require() -> None:
    """Raise `ExtraMissing` where numba is not installed."""
    if not is_there():
        raise ExtraMissing("--engine fast", "fast")


def source(shapes: Shapes, kept: bool = True) -> str:
    """The module for some operations, (code, arity). Raises `Uncompilable`."""
    written = tape(shapes, python=False, decoration=DECORATION)
    called = functions(f"real_{name}" for name in written.calls)
    return HEAD.format(kept=kept) + "".join(f"{DECORATION}\n{one}\n" for one in called.values()) + written.source


def walks(shapes: Shapes) -> ModuleType | None:
    """The compiled walks over graphs of these operations; None where one of them cannot be compiled."""
    require()
    return _walks(tuple(sorted(shapes)))


@lru_cache(maxsize=16)
def _walks(shapes: tuple[tuple[int, int], ...]) -> ModuleType | None:
    try:
        found = kept_modules.load("tapes", source(shapes))
        if found is None:  # nowhere to keep it: it is compiled each time
            found = ModuleType("backprop_tape")
            exec(source(shapes, kept=False), vars(found))
    except Uncompilable:
        return None
    return found


@contextmanager
def _told(program: ModuleType, walk: str) -> Iterator[None]:
    """While this lasts a walk is called. The first time it is compiled, if it is not kept: that takes seconds, and is
    said on a terminal."""
    met = vars(program).setdefault("_met", set())
    if walk in met or sys.stderr is None:
        yield
        return
    with progress.watching(sys.stderr):
        progress.phase("compiling")
        yield
        progress.phase("derivatives")
    met.add(walk)


def run(program: ModuleType, graph: Graph, values: array[float], moving: bytearray) -> TapeColumns | None:
    """The compiled tape, forward and back; None where it declines.

    `values` has the numbers at inputs and literals in it, and is filled.
    """
    found = TapeColumns.empty(graph, values)
    return found if Views(graph, found, moving).careful(program) else None


class Views:
    """The columns of a graph as numba takes them: the same memory."""

    def __init__(self, graph: Graph, found: TapeColumns, moving: bytearray) -> None:
        import numpy as np

        self.output = graph.output
        # places are never below 0: a machine that knows it need not ask
        self.structure = tuple(
            np.frombuffer(one, kind) for one, kind in ((graph.codes, "i2"), (graph.offsets, "u4"), (graph.args, "u4"))
        )
        doubles = found.values, found.partials, found.adjoints, found.wrong, found.of_adjoints, found.strain
        self.values, self.partials, self.adjoints, *self.errors = map(np.frombuffer, doubles)
        self.exact_zero, self.moving = (np.frombuffer(one, "B") for one in (found.exact_zero, moving))
        self.told = np.frombuffer(found.told, "q")
        self.of_bare: Any = None  # partials, with a 0 where there is none
        self.edges: tuple[Any, ...] = ()

    def again(self) -> None:
        """Ready for another careful sweep with the same nodes that move: partials are put anew anyway."""
        self.adjoints.fill(math.nan)
        self.adjoints[self.output] = 1.0
        self.errors[1].fill(0.0)
        self.exact_zero.fill(0)
        self.told.fill(-1)

    def value(self, program: ModuleType) -> bool:
        """The values alone; whether the tape does not decline."""
        with _told(program, "value"):
            return bool(program.value(*self.structure, self.values) != DECLINED)

    def bare(self, program: ModuleType) -> bool:
        """Forward and back, without errors; whether the tape does not decline.

        An adjoint that is not finite makes that of something that was asked for so, since no product and no sum brings
        it back: it is to be looked for there.
        """
        with _told(program, "bare"):
            return self._bare(program)

    def _bare(self, program: ModuleType) -> bool:
        import numpy as np

        if self.of_bare is None:
            self.of_bare = np.zeros(len(self.partials))
            program.constants(*self.structure, self.of_bare, self.moving)
            self.edges = self._edges()
        self.told.fill(-1)
        self.adjoints.fill(0.0)
        self.adjoints[self.output] = 1.0
        if program.forward(*self.structure, self.values, self.of_bare, self.moving, self.told) == DECLINED:
            return False
        back = program.backward_straight if len(self.edges) == 2 else program.backward
        back(*self.edges, self.of_bare, self.adjoints)
        return True

    def _edges(self) -> tuple[Any, ...]:
        """The targets and sources of the edges, as they stand, where the order of those of a node does not show.

        Else the edges from the last node to the first, those of a node in order: their places, targets and sources.
        """
        import numpy as np

        codes, offsets, args = self.structure
        counts = np.diff(offsets)
        targets = np.repeat(np.arange(len(counts), dtype="u4"), counts)
        again = targets[1:][(targets[1:] == targets[:-1]) & (args[1:] == args[:-1])]
        if counts.max(initial=0) <= 2 and all(unordered(int(code)) for code in np.unique(codes[again])):
            return targets, args
        edges = np.arange(len(args))
        order = np.empty(len(args), "u4")
        order[len(args) - offsets[1:][targets].astype("i8") + edges - offsets[:-1][targets]] = edges
        return order, targets[order], args[order]

    def careful(self, program: ModuleType) -> bool:
        """Forward and back, with errors; whether the tape does not decline."""
        with _told(program, "careful"):
            return self._careful(program)

    def _careful(self, program: ModuleType) -> bool:
        wrong, of_adjoints, strain = self.errors
        forward = self.values, self.partials, self.moving, self.told, self.exact_zero, wrong, strain
        if program.careful_forward(*self.structure, *forward) == DECLINED:
            return False
        back = self.partials, self.adjoints, self.values, self.exact_zero, wrong, strain, of_adjoints
        return bool(program.careful_backward(*self.structure, *back) != DECLINED)

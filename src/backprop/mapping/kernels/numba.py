"""Kernel numba (extra `fast`): one loop over the rows, compiled by numba and kept in the user's cache.

The loop is written into a file of its own (`kept_modules`), for numba keeps what it compiles beside the file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backprop import kept_modules
from backprop.mapping.kernels import Answers, Unavailable
from backprop.mapping.kernels.common.line import Line, operand, put_in

# How operations are written, over x and y (and c, a condition).
WORDS = {
    "add": "x + y",
    "sub": "x - y",
    "mul": "x*y",
    "div": "x/y",
    "neg": "-x",
    "abs": "abs(x)",
    "sign": "(x if x == 0.0 else math.copysign(1.0, x))",
    "max": "(x if x > y else y)",
    "min": "(x if x < y else y)",
    "where": "(x if c else y)",
    "lt": "x < y",
    "le": "x <= y",
    "gt": "x > y",
    "ge": "x >= y",
    "eq": "x == y",
    "ne": "x != y",
    "and": "x & y",
    "or": "x | y",
    "not": "not x",
    "mod": "x % y",
    "pow": "x**y",
    "round": "np.rint(x)",
    "floor": "np.floor(x)",
    "ceil": "np.ceil(x)",
    "erf": "math.erf(x)",
    "erfc": "math.erfc(x)",
    "gamma": "math.gamma(x)",
    "lgamma": "math.lgamma(x)",
    "asin": "np.arcsin(x)",
    "acos": "np.arccos(x)",
    "atan": "np.arctan(x)",
    "asinh": "np.arcsinh(x)",
    "acosh": "np.arccosh(x)",
    "atanh": "np.arctanh(x)",
    "atan2": "np.arctan2(x, y)",
    "hypot": "np.hypot(x, y)",
}
_SAME = "exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan sinh cosh tanh"  # as in NumPy
WORDS |= {name: f"np.{name}(x)" for name in _SAME.split()}


def source(line: Line) -> str:
    """The program as a function of Python that numba compiles."""
    return "\n".join(_source(line)) + "\n"


def _source(line: Line) -> Iterator[str]:
    graph = line.graph
    read = [(number, graph.inputs[name]) for number, name in enumerate(line.columns)]
    arrays = [f"x{number}" for number, _ in read] + [f"y{number}" for number in range(len(line.answers))]
    types = ", ".join(["float64[::1]"] * len(arrays) + ["uint8[::1]", "int64[::1]"])
    yield "import math"
    yield "import numba"
    yield "import numpy as np"
    yield f'@numba.njit("void({types})", cache=True, error_model="numpy", nogil=True, boundscheck=False)'
    yield f"def run({', '.join(arrays)}, odd, kink):"
    yield "    for i in range(odd.shape[0]):"
    for number, node in read:
        yield f"        v{node} = x{number}[i]"
    for node in line.order:
        yield f"        v{node} = {_written(line, node)}"
    for number, node in enumerate(line.answers):
        yield f"        y{number}[i] = {_operand(line, node)} + 0.0"  # -0 is 0
    yield "        mark, hit = 0, -1"
    for distance, node in line.kinks:
        yield f"        if {_operand(line, distance)} == 0.0:"
        yield f"            mark = 1 if mark == 0 or (mark == 1 and hit == {node}) else 2"
        yield f"            hit = {node}"
    yield f"        if not abs({_operand(line, line.check)}) <= {sys.float_info.max!r}:"
    yield "            mark = 2"
    yield "        odd[i] = mark"
    if line.kinks:
        yield "        kink[i] = hit"


def _operand(line: Line, node: int) -> str:
    return operand(line, node, "np.inf", "np.nan")


def _written(line: Line, node: int) -> str:
    return put_in(WORDS[line.graph.op(node)], line, node, _operand)


def loaded(text: str) -> Any:
    """The function of a source, compiled or as it was kept. Raises `Unavailable`."""
    try:
        import numba  # noqa: F401 -- the loop that is written imports it
    except ImportError:
        raise Unavailable("it is not installed", "fast") from None
    found = kept_modules.load("rows", text)
    if found is None:  # nowhere to keep it: it is compiled each time
        found = ModuleType("rows")
        exec(compile(text.replace("cache=True, ", ""), "rows", "exec"), vars(found))
    return found.run


class Numba:
    """A kernel out of a loop that numba compiles."""

    name = "numba"
    remark = ""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.function = loaded(source(line))

    def run(self, columns: Mapping[str, NDArray[np.float64]]) -> Answers:
        """The answers for n rows, of n doubles for each column; a column that is not contiguous is copied."""
        given = [np.ascontiguousarray(array) for array in self.line.arrays(columns)]
        rows = len(given[0]) if given else 0
        answers = np.empty((len(self.line.answers), rows))
        odd = np.empty(rows, np.uint8)
        kink = np.empty(rows if self.line.kinks else 0, np.int64)
        self.function(*given, *answers, odd, kink)
        slopes = dict(zip(self.line.slopes, answers[1:], strict=True))
        return Answers(answers[0], slopes, odd, kink if self.line.kinks else None)


ENGINE = Numba

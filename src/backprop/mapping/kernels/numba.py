"""Kernel numba (extra `fast`): one loop over the rows, compiled by numba and kept in the user's cache.

The loop is written into a file of the cache, for numba keeps what it has compiled beside the file it comes from.
"""

from __future__ import annotations

import math
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backprop import cache
from backprop.graph import CONST
from backprop.guards import double
from backprop.mapping.kernels import Answers, Unavailable
from backprop.mapping.kernels.line import Line

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
    if line.graph.codes[node] != CONST:
        return f"v{node}"
    value = double(line.graph.literals[node])
    if math.isfinite(value):
        return f"({value!r})" if value < 0 else repr(value)
    return "np.nan" if math.isnan(value) else "np.inf" if value > 0 else "(-np.inf)"


def _written(line: Line, node: int) -> str:
    row = line.graph.row(node)
    assert row is not None
    operands = [_operand(line, one) for one in line.graph.operands(node)]
    put_in = dict(zip("cxy" if row.name == "where" else "xy", operands, strict=False))
    return re.sub(r"\b[cxy]\b", lambda found: put_in[found[0]], WORDS[row.name])


def loaded(text: str) -> Any:
    """The function of a source, compiled or as it was kept. Raises `Unavailable`."""
    try:
        import numba  # noqa: F401
    except ImportError:
        raise Unavailable("it is not installed", "fast") from None
    from hashlib import blake2b

    name = f"rows_{blake2b(text.encode(), digest_size=12).hexdigest()}"
    folder = cache.directory()
    path = None if folder is None else _written_file(os.path.join(folder, "rows"), f"{name}.py", text)
    if path is None:  # nowhere to keep it: it is compiled each time
        module: Any = {"__name__": name}
        exec(compile(text.replace("cache=True, ", ""), name, "exec"), module)
        return module["run"]
    try:
        return _run_from(name, path)
    except Exception:  # what numba kept may be damaged, or made by another one: whatever that raises
        for kept in Path(path).parent.glob(f"__pycache__/{name}.*"):
            kept.unlink(missing_ok=True)
        return _run_from(name, path)


def _run_from(name: str, path: str) -> Any:
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    found = module_from_spec(spec)
    sys.modules[name] = found  # numba looks for it there when it takes up what it has kept
    spec.loader.exec_module(found)
    return found.run


def _written_file(folder: str, name: str, text: str) -> str | None:
    """The path of a file that has this text and is the user's own; None where there can be none.

    A file that is there is left as it is: what numba has kept is believed only while the file is as old as it was.
    """
    path = os.path.join(folder, name)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if not _is_own(folder):
            return None
        if not (os.path.exists(path) and cache._own(path) == text.encode()):
            handle, temporary = tempfile.mkstemp(dir=folder, prefix=name)
            with open(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(temporary, path)
    except OSError:
        return None
    return path


def _is_own(folder: str) -> bool:
    """Whether nobody but the user can put files into a folder: what lies there is run."""
    found = os.stat(folder)
    return not hasattr(os, "geteuid") or (found.st_uid == os.geteuid() and not found.st_mode & 0o022)


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

"""Kernel c: a loop over the rows in C, compiled where it is run and kept in the user's cache.

The loop has no branch, so that the compiler makes vectors of it: a condition is a mask of 64 bits, a choice takes the
bits of one number or the other. On Linux with the GNU C library the functions are those of libmvec, which are good to
4 units in the last place; elsewhere they are those of the plain library, one row after the other. Nothing is given up
for speed: NaN and infinities are kept, and a product and a sum are rounded one after the other.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backprop import cache
from backprop.mapping.kernels import Answers, Unavailable
from backprop.mapping.kernels.common.line import Line, call, operand, put_in

# The rows whose odd marks are held in registers' size before they are packed into bytes.
BLOCK = 1024
# A compiler that takes longer than this many seconds will not come to an end.
LONGEST = 120
# Beyond so many operations a compiler takes too long over its best.
LARGE = 5_000

# How operations are written, over x and y (and c, a condition).
FORMS = {
    "add": "x + y",
    "sub": "x - y",
    "mul": "x*y",
    "div": "x/y",
    "neg": "-x",
    "abs": "__builtin_fabs(x)",
    "sqrt": "__builtin_sqrt(x)",
    "floor": "__builtin_floor(x)",
    "ceil": "__builtin_ceil(x)",
    "round": "__builtin_rint(x)",
    "sign": "(double)(x > 0) - (double)(x < 0)",
    "max": "pick(-(mask)(x > y), x, y)",
    "min": "pick(-(mask)(x < y), x, y)",
    "where": "pick(c, x, y)",
    "lt": "-(mask)(x < y)",
    "le": "-(mask)(x <= y)",
    "gt": "-(mask)(x > y)",
    "ge": "-(mask)(x >= y)",
    "eq": "-(mask)(x == y)",
    "ne": "-(mask)(x != y)",
    "and": "x & y",
    "or": "x | y",
    "not": "~x",
    "mod": "remainder_of(x, y)",
}
# Functions of the mathematical library, by the names of their rows.
_FIRST = "exp log pow sin cos"
_LATER = "exp2 expm1 log2 log10 log1p cbrt tan asin acos atan sinh cosh tanh asinh acosh atanh atan2 hypot erf erfc"
# Those of which libmvec has vectors; the first ones since it began.
FIRST_VECTORS = frozenset(_FIRST.split())
VECTORS = FIRST_VECTORS | frozenset(_LATER.split())
CALLS = {name: name for name in VECTORS} | {"lgamma": "lgamma", "gamma": "tgamma"}
WORDS = FORMS.keys() | CALLS.keys()

HEAD = """typedef long long mask;
static inline double pick(mask c, double x, double y) {
  mask a, b;
  double out;
  __builtin_memcpy(&a, &x, 8);
  __builtin_memcpy(&b, &y, 8);
  a = (a & c) | (b & ~c);
  __builtin_memcpy(&out, &a, 8);
  return out;
}
"""
REMAINDER = """extern double fmod(double, double);
static inline double remainder_of(double x, double y) {
  double rest = fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}
"""


def source(line: Line, vectors: frozenset[str]) -> str:
    """The program in C: `vectors` are the functions that are there for many numbers at once."""
    return "\n".join(_source(line, vectors)) + "\n"


def _source(line: Line, vectors: frozenset[str]) -> Iterator[str]:
    graph = line.graph
    used = {graph.op(node) for node in line.order}
    yield HEAD + (REMAINDER if "mod" in used else "")
    for name in sorted(used & CALLS.keys()):
        operands = "double, double" if name in ("pow", "atan2", "hypot") else "double"
        many = '__attribute__((simd("notinbranch"), const, nothrow))' if name in vectors else "__attribute__((const))"
        yield f"extern double {CALLS[name]}({operands}) {many};"
    read = [(number, graph.inputs[name]) for number, name in enumerate(line.columns)]
    # what is told apart (restrict) as a parameter is believed
    arrays = [f"const double *restrict x{number}" for number, _ in read]
    arrays += [f"double *restrict y{number}" for number in range(len(line.answers))]
    yield f"static __attribute__((noinline)) void block(int rows, {', '.join(arrays)},"
    yield "    mask *restrict marks, mask *restrict kink) {"
    yield "  for (int i = 0; i < rows; i++) {"
    for number, node in read:
        yield f"    const double v{node} = x{number}[i];"
    for node in line.order:
        sort = "mask" if line.is_condition(node) else "double"
        yield f"    const {sort} v{node} = {_written(line, node)};"
    for number, node in enumerate(line.answers):
        yield f"    y{number}[i] = {_operand(line, node)} + 0.0;"  # -0 is 0
    yield "    mask mark = 0, hit = -1;"
    for number, (distance, node) in enumerate(line.kinks):
        # a second way in which the same node is at a kink is no second kink
        yield f"    const mask at{number} = -(mask)({_operand(line, distance)} == 0);"
        yield f"    mark |= at{number} & (1 + (-(mask)(hit != -1) & -(mask)(hit != {node}) & 1));"
        yield f"    hit = (hit & ~at{number}) | ({node} & at{number});"
    yield f"    const mask fine = -(mask)(__builtin_fabs({_operand(line, line.check)}) <= {sys.float_info.max!r});"
    yield "    marks[i] = mark | (~fine & 2);"
    if line.kinks:
        yield "    kink[i] = hit;"
    yield "  }"
    yield "}"
    yield "void run(long long rows, const double *const *x, double *const *y, unsigned char *odd, mask *kink) {"
    yield f"  mask marks[{BLOCK}];"
    yield f"  for (long long i = 0; i < rows; i += {BLOCK}) {{"
    yield f"    const int length = rows - i < {BLOCK} ? rows - i : {BLOCK};"
    passed = [f"x[{number}] + i" for number, _ in read] + [f"y[{number}] + i" for number in range(len(line.answers))]
    yield f"    block(length, {', '.join(passed)}, marks, kink{' + i' if line.kinks else ''});"
    yield "    for (int j = 0; j < length; j++) odd[i + j] = marks[j] > 2 ? 2 : (unsigned char)marks[j];"
    yield "  }"
    yield "}"


def _operand(line: Line, node: int) -> str:
    return operand(line, node, "__builtin_inf()", '__builtin_nan("")')


def _written(line: Line, node: int) -> str:
    name = line.graph.op(node)
    form = FORMS.get(name) or call(CALLS[name], len(line.graph.operands(node)))
    return put_in(form, line, node, _operand)


# -- the compiler ----------------------------------------------------------------------------------------------------

FLAGS = ("-fPIC", "-shared", "-w", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-fno-builtin")
# From the best that is tried to what every compiler has: what is asked of it, and the functions that are vectors.
WAYS: tuple[tuple[tuple[str, ...], tuple[str, ...], frozenset[str]], ...] = (
    (("-march=native", "-mprefer-vector-width=512"), ("-lmvec", "-lm"), VECTORS),
    (("-march=native",), ("-lmvec", "-lm"), FIRST_VECTORS),
    (("-march=native",), ("-lm",), frozenset()),
    ((), ("-lm",), frozenset()),
)


def compiler() -> list[str] | None:
    """The compiler as it is called: what CC says, else cc, gcc or clang; None where there is none."""
    from shutil import which

    for called in (os.environ.get("CC", ""), "cc", "gcc", "clang"):
        words = shlex.split(called)
        if words and which(words[0]):
            return words
        if words and called == os.environ.get("CC"):
            return None  # one that was asked for, and is not there, is not replaced in silence
    return None


@lru_cache(maxsize=1)
def machine() -> str:
    """What tells this processor from another one: code for the one may not run on the other."""
    import platform

    told = [platform.system(), platform.machine(), platform.processor(), *platform.libc_ver()]
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    told += sorted({line for line in lines if line.startswith(("flags", "Features", "model name", "CPU part"))})
    return "\n".join(told)


def compiled(line: Line) -> bytes:
    """The library of a program: as it was kept, or compiled now. Raises `Unavailable` with the reason."""
    command = compiler()
    if command is None:
        told = f"CC is {os.environ['CC']}, which is not there" if os.environ.get("CC") else ""
        raise Unavailable(told)
    level = "-O3" if len(line.order) <= LARGE else "-O1"
    text = source(line, VECTORS)
    made_from = "\0".join([*command, _version(tuple(command)), level, *FLAGS, machine(), text]).encode()
    known = cache.recall("rows", made_from)
    if isinstance(known, bytes):
        return known
    reason = ""
    for options, libraries, vectors in WAYS:
        library, told = _compile(command, [level, *FLAGS, *options], list(libraries), source(line, vectors))
        if library is not None:
            cache.keep("rows", made_from, library)
            return library
        reason = reason or told
    raise Unavailable(f"{command[0]} failed: {reason}")


@lru_cache(maxsize=8)
def _version(command: tuple[str, ...]) -> str:
    try:
        found = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=LONGEST, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return found.stdout


def _compile(command: list[str], options: list[str], libraries: list[str], text: str) -> tuple[bytes | None, str]:
    """The bytes of a library, or None and what the compiler said."""
    with tempfile.TemporaryDirectory(prefix="backprop-") as folder:
        code, library = Path(folder, "rows.c"), Path(folder, "rows.so")
        code.write_text(text, encoding="ascii")
        call = [*command, *options, str(code), "-o", str(library), *libraries]
        try:
            found = subprocess.run(
                call,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LONGEST,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            return None, f"it takes longer than {LONGEST} s"
        except OSError as error:
            return None, error.strerror or str(error)
        if found.returncode:
            return None, next(
                (line for line in found.stderr.splitlines() if "error" in line), found.stderr[:200]
            ).strip()
        try:
            _load(library)
        except OSError as error:  # a function that the library of vectors does not have yet
            return None, str(error)
        return library.read_bytes(), ""


def _load(path: Path) -> Any:
    run = ctypes.CDLL(str(path), mode=getattr(os, "RTLD_NOW", 2)).run
    pointers = ctypes.POINTER(ctypes.c_void_p)
    run.argtypes = (ctypes.c_longlong, pointers, pointers, ctypes.c_void_p, ctypes.c_void_p)
    run.restype = None
    return run


def loaded(library: bytes) -> Any:
    """The function of a library, called with pointers; while it runs, other threads go on. Raises `Unavailable`."""
    with tempfile.TemporaryDirectory(prefix="backprop-") as folder:
        path = Path(folder, "rows.so")
        path.write_bytes(library)
        try:
            return _load(path)
        except OSError as error:
            raise Unavailable(str(error)) from None


class C:
    """A kernel out of C."""

    name = "c"
    remark = ""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.function = loaded(compiled(line))

    def run(self, columns: Mapping[str, NDArray[np.float64]]) -> Answers:
        """The answers for n rows, of n doubles for each column; a column that is not contiguous is copied."""
        given = [np.ascontiguousarray(array) for array in self.line.arrays(columns)]
        rows = len(given[0]) if given else 0
        answers = np.empty((len(self.line.answers), rows))
        odd = np.empty(rows, np.uint8)
        kink = np.empty(rows, np.int64) if self.line.kinks else None
        self.function(
            rows,
            _pointers(given),
            _pointers(list(answers)),
            odd.ctypes.data,
            None if kink is None else kink.ctypes.data,
        )
        return Answers(answers[0], dict(zip(self.line.slopes, answers[1:], strict=True)), odd, kink)


def _pointers(arrays: list[NDArray[Any]]) -> Any:
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))


ENGINE = C

"""Kernels: value and gradient of a program for whole columns at once, by one engine or another.

A kernel answers in plain double precision and says of which rows that is no answer: where something is not finite and
where a kink is exactly hit. Those rows are worked out one by one (`careful`).

An engine is one module, with its `WORDS` and an `ENGINE` that is made of a line: `numpy` is always there, `c` where
there is a compiler, `numba` with the extra `fast`; `plain` is no kernel at all. To add one, add a module; `_others`
says from how many rows on it pays without being asked for.

Engines have words of their own, not those of `languages`: emitted code is read by people and raises or gives nulls as
its language does, a kernel has no branch, so that a compiler makes vectors of it, and marks its rows instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Protocol

from backprop.mistakes import ExtraMissing, NoEngine, NotElementwise, NoWord, OptionValue

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from backprop.mapping.kernels.common.line import Line
    from backprop.point import Program

ENGINES = ("auto", *sorted(found.name for found in iter_modules(__path__) if not found.ispkg), "plain")
# What other commands call an engine: the extra `fast` brings it.
ALSO = {"fast": "numba"}

# A compiler pays from so many rows on: it takes about 0.7 ms an operation, and saves about 0.7 ns an operation and row.
MANY = 1_000_000
# From here on it takes so much longer that it does not pay any more.
MOST_FOR_C = 5_000
# numba takes seconds, for a long program minutes, and is about half as fast again as NumPy.
VERY_MANY = 50_000_000
MOST_FOR_NUMBA = 500
# Of fewer rows nobody needs to be told that they take long.
FEW = 10_000
# What is told of a program that no kernel works out.
ROW_BY_ROW = "a program with arrays is worked out row by row, as grad does: about a thousand times slower than columns"
# Where nobody knows how many rows there will be, a program of more operations than this is left to NumPy.
LONG = 500


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers for n rows: the value and the slope by each name, n doubles each.

    `odd` tells of each row what its answers are: 0 fine; 1 those of the rules at a kink that is exactly hit, and
    `kink` is the node of the program that has it (-1 elsewhere; None where there is no kink at all); 2 not to be
    believed: something is not finite, or two kinks are hit.
    """

    value: NDArray[np.float64]
    slopes: dict[str, NDArray[np.float64]]
    odd: NDArray[np.uint8]
    kink: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class _Question:
    """What a kernel is asked for: the arguments of `kernel` but for the engine."""

    program: Program
    columns: Sequence[str]
    constants: Mapping[str, str]
    wrt: Sequence[str]
    careful: bool = False


class Kernel(Protocol):
    """What works out rows. `name` is its engine; `remark` is what is to be said of that choice, "" for nothing."""

    name: str
    remark: str

    def run(self, columns: Mapping[str, NDArray[np.float64]]) -> Answers:
        """The answers for rows: each input that is a column with an array of n doubles.

        Threads may run one kernel at the same time. Raises TypeError for an array of anything but doubles, ValueError
        for one that is not as long as the first.
        """


class Unavailable(Exception):
    """An engine that cannot be had here, and why; `missing` is the extra that would bring it."""

    def __init__(self, reason: str, missing: str = "") -> None:
        super().__init__(reason)
        self.reason, self.missing = reason, missing


def kernel(
    program: Program,
    columns: Sequence[str],
    constants: Mapping[str, str],
    wrt: Sequence[str],
    value_only: bool = False,
    engine: str = "auto",
    rows: int | None = None,
    careful: bool = False,
) -> Kernel:
    """The kernel of a program: `columns` are its inputs that are columns, `constants` the texts of the others.

    Without an `engine` it is chosen by the number of `rows`, as far as that is known, so that its start pays: the same
    question gets the same engine, whatever was compiled before; `fast` is a word for numba. A program with arrays is
    worked out row by row, and the kernel has a remark on that and on operations that NumPy does not have. A
    `careful` kernel takes up to twice the time; rows in which rounding has left fewer than 11 digits are odd (2).

    Raises `Mistake` for a program that cannot be read, and for an engine that was asked for and cannot be had:
    `OptionValue`, `ExtraMissing`, `NoEngine`, `NoWord`, `NotElementwise`.
    """
    engine = ALSO.get(engine, engine)
    if engine not in ENGINES:
        raise OptionValue("engine", engine, f"One of {', '.join(ENGINES)}, like: --engine numpy")
    names = () if value_only else tuple(wrt)
    if engine == "plain":
        return Plain(names)
    question = _Question(program, columns, constants, names, careful)
    if engine != "auto":
        return _asked_for(engine, question)
    from backprop.straight import Wordless

    try:
        found = _line("numpy", question)
    except NotElementwise:
        return Plain(names, ROW_BY_ROW)
    remark = _slow(found) if rows is None or rows >= FEW else ""
    for other in _others(rows, len(found.order)):
        try:
            return _engine(other)(_line(other, question))
        except Wordless:  # digamma is in no library of C
            continue
        except Unavailable as missing:
            # that nothing is installed is no news; that something does not work is
            if not missing.missing and missing.reason:
                remark = f"engine {other} cannot be had: {missing.reason}"
    made = _engine("numpy")(found)
    made.remark = remark
    return made


def wide(program: Program, columns: Sequence[str], constants: Mapping[str, str], wrt: Sequence[str]) -> Kernel | None:
    """A careful kernel whose numbers reach further than doubles, for rows in which those overflow on the way.

    What it answers has 11 digits at least. None where the processor has no such numbers, and for programs with arrays.
    """
    from backprop.mapping.kernels.numpy import HAS_WIDE, Numpy

    question = _Question(program, columns, constants, wrt, careful=True)
    try:
        return Numpy(_line("numpy", question), wide=True) if HAS_WIDE else None
    except NotElementwise:
        return None


def _slow(line: Line) -> str:
    """That some operations of a line for NumPy are worked out row by row; "" where none is."""
    numpy = import_module(f"{__name__}.numpy")
    found = dict.fromkeys(line.graph.op(node) for node in line.order)
    slow = [name for name in found if name not in numpy.FUNCTIONS and name != "where"]
    if not slow:
        return ""
    which = f"{', '.join(slow)} {'is' if len(slow) == 1 else 'are'} worked out row by row, for NumPy does not have"
    return f"{which} {'it' if len(slow) == 1 else 'them'}: that takes some hundred times as long as what it has"


def _others(rows: int | None, operations: int) -> list[str]:
    """The engines that are better than NumPy for so many rows, the best one first."""
    if rows is None:
        return ["c"] if operations <= LONG else []
    found = ["c"] if rows >= MANY and operations <= MOST_FOR_C else []
    return [*found, "numba"] if rows >= VERY_MANY and operations <= MOST_FOR_NUMBA else found


def _asked_for(engine: str, question: _Question) -> Kernel:
    from backprop.straight import Wordless

    try:
        return _engine(engine)(_line(engine, question))
    except Unavailable as missing:
        if missing.missing:
            raise ExtraMissing(f"--engine {engine}", missing.missing) from None
        raise NoEngine(engine, missing.reason or "there is no C compiler") from None
    except Wordless as wordless:
        row = wordless.row
        raise NoWord(row.called[0] if row.called else row.name, f"engine {engine}", ["numpy"]) from None


def _line(engine: str, question: _Question) -> Line:
    from backprop.mapping.kernels.common import bounds
    from backprop.mapping.kernels.common.line import line

    words = import_module(f"{__name__}.{engine}").WORDS
    asked = question.program, question.columns, question.constants, question.wrt
    if not question.careful:
        return line(*asked, words)
    return bounds.careful(line(*asked, words, bounds.Faithful), words)


def _engine(name: str) -> Callable[[Line], Kernel]:
    found: Callable[[Line], Kernel] = import_module(f"{__name__}.{name}").ENGINE
    return found


class Plain:
    """No kernel: every row is worked out by itself."""

    name = "plain"

    def __init__(self, wrt: Sequence[str], remark: str = "") -> None:
        self.wrt, self.remark = wrt, remark

    def run(self, columns: Mapping[str, NDArray[np.float64]]) -> Answers:
        """No answers: every row is odd."""
        import numpy as np

        rows = len(next(iter(columns.values()), ()))
        return Answers(np.empty(rows), {name: np.empty(rows) for name in self.wrt}, np.full(rows, 2, np.uint8))

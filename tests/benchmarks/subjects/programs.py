"""A program of N operations evaluated many times: built once, then its value, and its value with the gradient."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

from harness import HERE, NANOSECONDS, Found, Subject, Works
from operations import INPUTS, POINT, SHAPES, listed, text
from scalar_peers import PEERS, Peer

PLAIN, FAST, TAPE = "backprop, plain Python", "backprop, extra fast", "C tape (the limit)"
CAREFUL = ", lost digits looked for"
BUILD, FORWARD, GRADIENT = "build", "forward", "gradient"


def _subject(shape: str) -> Subject:
    made = Subject(
        f"programs-{shape}",
        f"A program of N operations, {shape}",
        f"Operations in a {shape} graph, ten inputs. Built once (for this program from text, for the peers from a list "
        "of operations); then its value, and its value and gradient together, again and again. The peers do not look "
        "for digits that doubles have lost; this program does unless it is asked not to.",
        sizes=(10**3, 10**4, 10**5, 10**6),
        quick=(10**2, 10**3),
        works=(BUILD, FORWARD, GRADIENT),
        once=frozenset([BUILD]),
        measure=NANOSECONDS,
        quotient=(GRADIENT, FORWARD),
        repeats=5,
        limit=90,
        answer=_numbers,
        memory="Memory of the process with the program in it",
        plot="lines",
    )
    _contenders(made, shape)
    _budgets(made, shape)
    return made


def _numbers(result: Any) -> list[float]:
    return result if isinstance(result, list) else []


def _ours(shape: str, engine: str, careful: bool) -> Callable[[int], Works]:
    def make(size: int) -> Works:
        import backprop

        made: dict[str, Any] = {}

        def build() -> None:
            made["program"] = program = backprop.compile(text(shape, size), engine=engine)
            for _ in range(2):  # the second point is the first that a kept tape answers
                program.value_and_gradient(POINT, careful=careful)

        def gradient() -> list[float]:
            value, slopes = made["program"].value_and_gradient(POINT, careful=careful)
            return [value, *(slopes[name] for name in INPUTS)]

        def forward() -> float:
            found: float = made["program"].value(POINT, careful=careful)
            return found

        return {BUILD: build, FORWARD: forward, GRADIENT: gradient}

    return make


def _tape(shape: str) -> Callable[[int], Works]:
    def make(size: int) -> Works:
        import ctypes

        from compiled import library

        tape = library(HERE / "tape.c")
        tape.value.restype = tape.gradient.restype = ctypes.c_double
        program = listed(shape, size)
        made: dict[str, Any] = {}

        def build() -> None:
            nodes = len(program.codes)
            columns = [array("d", bytes(8 * nodes)) for _ in range(4)]
            columns[0][: len(INPUTS)] = array("d", POINT.values())
            made["columns"] = columns
            made["given"] = [
                ctypes.c_long(nodes),
                *((ctypes.c_int * nodes).from_buffer(one) for one in (program.codes, program.left, program.right)),
                *((ctypes.c_double * nodes).from_buffer(one) for one in columns),
            ]

        def gradient() -> list[float]:
            value = tape.gradient(*made["given"])
            return [value, *made["columns"][3][: len(INPUTS)]]

        return {BUILD: build, FORWARD: lambda: tape.value(*made["given"][:5]), GRADIENT: gradient}

    return make


def _peer(shape: str, peer: Peer) -> Callable[[int], Works]:
    return lambda size: peer(listed(shape, size).run, list(POINT.values()))


def _contenders(subject: Subject, shape: str) -> None:
    subject.contender(PLAIN, ["backprop"], ours=True)(_ours(shape, "plain", False))
    subject.contender(FAST, ["backprop", "numba"], ours=True)(_ours(shape, "fast", False))
    subject.contender(PLAIN + CAREFUL, ["backprop"], ours=True)(_ours(shape, "plain", True))
    subject.contender(FAST + CAREFUL, ["backprop", "numba"], ours=True)(_ours(shape, "fast", True))
    subject.contender(TAPE, ["gcc"])(_tape(shape))
    for name, (module, peer) in PEERS.items():
        largest, why = LARGEST.get(name, (None, ""))
        subject.contender(name, [module], largest=largest, why_no_more=why)(_peer(shape, peer))


# peers that take minutes beyond, or need a swap file
LARGEST: dict[str, tuple[int, str]] = {
    "JAX jit": (10**3, "not tried: compiling a thousand operations takes longer than all the others together"),
    "SymPy": (10**2, "not tried: minutes"),
}


def _budgets(subject: Subject, shape: str) -> None:
    @subject.budget(f"reevaluate {shape}", f"{shape}: re-evaluated with `fast`, the C tape = 1, 10^6 operations", 1.3)
    def _(found: Found) -> float:
        return found.ratio(FAST, TAPE, work=GRADIENT)

    @subject.budget(f"casadi {shape}", f"{shape}: re-evaluated with `fast`, CasADi = 1, 10^6 operations", 1)
    def _(found: Found) -> float:
        return found.ratio(FAST, "CasADi SX", work=GRADIENT)

    for name, words in ((PLAIN, "plain"), (FAST, "with `fast`")):
        _ratio(subject, shape, name, words)
        _growth(subject, shape, name, words)

    @subject.budget(f"kept {shape}", f"{shape}: memory kept, bytes an operation", 120)
    def _(found: Found) -> float:
        return found.bytes_each(PLAIN, "held")


def _ratio(subject: Subject, shape: str, name: str, words: str) -> None:
    @subject.budget(f"reverse {shape} {words}", f"{shape}: value and gradient over forward, {words}", 2)
    def _(found: Found) -> float:
        return found.median(name, work=GRADIENT) / found.median(name, work=FORWARD)


def _growth(subject: Subject, shape: str, name: str, words: str) -> None:
    @subject.budget(f"growth {shape} {words}", f"{shape}: an operation at 10^6 over one at 10^3, {words}", 1.5)
    def _(found: Found) -> float:
        return found.growth(name, GRADIENT)


SUBJECTS = [_subject(shape) for shape in SHAPES]

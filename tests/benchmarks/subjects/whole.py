"""The whole run of a cold process: program text in, value and gradient out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from harness import HERE, SECONDS, Found, NotMeasured, Subject
from operations import INPUTS, ONE, POINT, SHAPES, text
from scalar_peers import PEERS
from scratch import kept

OURS = "backprop grad --file"


def _subject(shape: str) -> Subject:
    what = "one expression" if shape == ONE else f"a {shape} program of assignments"
    made = Subject(
        f"whole-{shape.rpartition(' ')[2]}",
        f"From text to gradient in a cold process, {shape}",
        f"`backprop grad --file` on {what}, ten inputs, against Python reading the same text (with `exec`) into the "
        "numbers of each peer.",
        sizes=(30, 10**3, 10**5, 10**6),
        quick=(30,),
        measure=SECONDS,
        repeats=3,
        limit=120,
        answer=_numbers,
        memory="Memory of the process",
        plot="lines",
    )
    made.command(OURS, ["backprop"], ours=True)(lambda size: _ours(program(shape, size)))
    for name, (module, _) in PEERS.items():
        largest, why = LARGEST.get(name, (None, ""))
        made.command(name, [module], largest=largest, why_no_more=why)(_peer(shape, name))
    _budgets(made, shape)
    return made


LARGEST: dict[str, tuple[int, str]] = {
    "JAX jit": (10**3, "not tried: compiling alone takes over an hour"),
    "SymPy": (30, "not tried: minutes"),
}


def program(shape: str, size: int) -> Path:
    """The text of a program, in a file."""
    return kept(
        f"{shape.rpartition(' ')[2]}-{size}.bp", lambda path: path.write_text(text(shape, size), encoding="utf-8")
    )


def _ours(file: Path) -> list[str]:
    point = [word for name, value in POINT.items() for word in (f"--{name}", str(value))]
    return [sys.executable, "-m", "backprop", "grad", "--file", str(file), *point, "--format", "json"]


def _peer(shape: str, name: str) -> Callable[[int], list[str]]:
    return lambda size: [sys.executable, str(HERE / "cold.py"), name, str(program(shape, size))]


def _numbers(out: bytes) -> list[float]:
    found = json.loads(out)
    return found if isinstance(found, list) else [found["value"], *(found["gradient"][name] for name in INPUTS)]


def _budgets(subject: Subject, shape: str) -> None:
    most = 9 if shape == ONE else 12
    says = f"text to gradient, {shape}, 10^6 operations, seconds"

    @subject.budget(f"whole {shape}", says, most)
    def _(found: Found) -> float:
        return found.median(OURS)

    @subject.budget(f"whole {shape} peers", f"{shape}: times faster than the fastest peer at 10^6", 2, more=True)
    def _(found: Found) -> float:
        ratios = []
        for name in PEERS:
            try:
                ratios.append(found.ratio(name, OURS))
            except NotMeasured:
                continue
        if not ratios:
            raise NotMeasured("no peer came to its end")
        return min(ratios)

    @subject.budget(f"whole {shape} CasADi", f"{shape}: times faster than CasADi at 10^6", 5, more=True)
    def _(found: Found) -> float:
        return found.ratio("CasADi SX", OURS)

    @subject.budget(f"whole {shape} memory", f"{shape}: memory of the whole run, bytes an operation", 400)
    def _(found: Found) -> float:
        return found.bytes_each(OURS)


SUBJECTS = [_subject(shape) for shape in (*SHAPES, ONE)]

"""How subjects are measured: every contender ready in a process of its own, then rounds in which each has its turn.

A subject is one question ("how fast is a gradient?") in one module of the folder `subjects`; its contenders are this
program and its peers. In a round every contender is measured once, so that a machine that slows down slows all of them
alike; what is reported is the median over the rounds. A contender that is missing, fails, takes too long or gives
another answer keeps its place in the table, with the reason in place of a figure.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

HERE = Path(__file__).resolve().parent

Works = Mapping[str, Callable[[], Any]]  # what a contender can do, by name; the order is that of the columns
Answer = Callable[[Any], list[float]]

LARGEST_MEMORY = 14 << 30  # bytes of data that a contender may hold
LONGEST_ANSWER = 1 << 16  # bytes of an answer that are read
NEAR = 1e-6  # answers of contenders may differ by so much of the largest number in them
# A limit is in seconds of a processor, so that other work on the machine does not shorten it; on the clock on the wall
# so many times as long may pass. Whether it is over is asked every so many seconds.
WALL, TICK = 8, 0.5
PATIENCE = 10.0  # seconds; a work that takes longer has no round to warm up, and two to be measured


@dataclass(frozen=True)
class Measure:
    """How seconds become the figure of a table."""

    unit: str
    of: Callable[[float, int], float]
    more_is_better: bool = False


SECONDS = Measure("seconds", lambda seconds, _: seconds)
MILLISECONDS = Measure("milliseconds", lambda seconds, _: 1e3 * seconds)
NANOSECONDS = Measure("nanoseconds an operation", lambda seconds, size: 1e9 * seconds / size)
MICROSECONDS = Measure("microseconds an operation", lambda seconds, size: 1e6 * seconds / size)
MILLION_A_SECOND = Measure("million a second", lambda seconds, size: size / seconds / 1e6, more_is_better=True)


class NotMeasured(Exception):
    """A figure that is not there; the message says why."""


@dataclass(frozen=True)
class Contender:
    """One row of a table.

    `make(size)` gives its works, or with `command` the words of a process that is run anew each time. `needs` are
    modules or programs without which it cannot run, `cores` how many it may use, `until` where a command is stopped:
    at its "first line" or, by default, at its end.
    """

    name: str
    make: Callable[[int], Any]
    needs: tuple[str, ...] = ()
    ours: bool = False
    cores: int = 1
    command: bool = False
    until: str = "end"
    largest: int | None = None
    why_no_more: str = ""

    def missing(self) -> str | None:
        """What it needs and is not here."""
        for name in self.needs:
            if not _is_here(name):
                return name
        return None


def _is_here(name: str) -> bool:
    try:
        found = find_spec(name) is not None
    except ModuleNotFoundError:
        found = False
    return found or shutil.which(name) is not None


@dataclass(frozen=True)
class Budget:
    """A line that has to be kept: `value` is what was measured, at most `limit`, or at least where `more` is true.

    Raises `NotMeasured` from `value` where a figure is not there.
    """

    key: str
    says: str
    limit: float
    value: Callable[[Found], float]
    more: bool = False
    unit: str = ""

    def met(self, measured: float) -> bool:
        return measured >= self.limit if self.more else measured <= self.limit


@dataclass
class Subject:
    """One question, its contenders and its budgets.

    `sizes` are measured one after the other, `quick` in their place when time is short. `works` are the columns (one
    without a name unless said); those in `once` are done once only, for they take long. `relative` shows each figure
    as a multiple of that of the contender so called; `quotient` adds a column, one work over another. `memory` is the
    title of a table of bytes an operation, `plot` is "lines" over the sizes or "bars" of the largest.
    """

    name: str
    title: str
    says: str
    sizes: Sequence[int] = (1,)
    quick: Sequence[int] = (1,)
    works: Sequence[str] = ("",)
    once: frozenset[str] = frozenset()
    measure: Measure = SECONDS
    relative: str | None = None
    repeats: int = 5
    limit: float = 120.0
    answer: Answer | None = None
    quotient: tuple[str, str] | None = None
    memory: str | None = None
    plot: str | None = None
    size_word: str = "operations"
    contenders: list[Contender] = field(default_factory=list)
    budgets: list[Budget] = field(default_factory=list)

    def contender(
        self, name: str, needs: Sequence[str] = (), **more: Any
    ) -> Callable[[Callable[[int], Works]], Callable[[int], Works]]:
        """Adds a row: a function from a size to its works, called in a process of its own."""

        def add(make: Callable[[int], Works]) -> Callable[[int], Works]:
            self.contenders.append(Contender(name, make, tuple(needs), **more))
            return make

        return add

    def command(
        self, name: str, needs: Sequence[str] = (), **more: Any
    ) -> Callable[[Callable[[int], list[str]]], Callable[[int], list[str]]]:
        """Adds a row: a function from a size to the words of a command, which is run anew each time."""

        def add(make: Callable[[int], list[str]]) -> Callable[[int], list[str]]:
            self.contenders.append(Contender(name, make, tuple(needs), command=True, **more))
            return make

        return add

    def budget(self, key: str, says: str, limit: float, *, more: bool = False, unit: str = "") -> Callable[[Any], Any]:
        """Adds a budget: a function from what was found to the number that is held against the limit."""

        def add(value: Callable[[Found], float]) -> Callable[[Found], float]:
            self.budgets.append(Budget(key, says, limit, value, more, unit))
            return value

        return add


@dataclass
class Found:
    """What a run found, as it is kept in a file: seconds of every round, bytes, and why something has no figure."""

    subject: str
    quick: bool = False
    sizes: list[int] = field(default_factory=list)
    seconds: dict[str, list[float]] = field(default_factory=dict)  # "contender|size|work"
    peak: dict[str, int] = field(default_factory=dict)  # "contender|size", bytes at most
    held: dict[str, int] = field(default_factory=dict)  # "contender|size", bytes when the work is done
    failed: dict[str, str] = field(default_factory=dict)  # "contender|size"
    versions: dict[str, str] = field(default_factory=dict)
    machine: dict[str, str] = field(default_factory=dict)
    date: str = ""

    def median(self, contender: str, size: int | None = None, work: str = "") -> float:
        """Seconds; of the largest size where none is named."""
        size = self.sizes[-1] if size is None else size
        known = self.seconds.get(f"{contender}|{size}|{work}")
        if not known:
            raise NotMeasured(f"{contender}: {self.failed.get(f'{contender}|{size}', 'not measured')}")
        return median(known)

    def ratio(self, first: str, second: str, size: int | None = None, work: str = "") -> float:
        """How many times the seconds of the second the first takes: the median over the rounds."""
        size = self.sizes[-1] if size is None else size
        self.median(first, size, work), self.median(second, size, work)
        pairs = zip(self.seconds[f"{first}|{size}|{work}"], self.seconds[f"{second}|{size}|{work}"], strict=False)
        return median(one / other for one, other in pairs)

    def bytes_each(self, contender: str, which: str = "peak") -> float:
        """Bytes that one more operation takes: the difference between the two largest sizes."""
        small, large = self._two_sizes()
        more = self._bytes(contender, large, which) - self._bytes(contender, small, which)
        return more / (large - small)

    def peak_growth(self, contender: str) -> float:
        """Bytes at most at the largest size over those at the size before."""
        small, large = self._two_sizes()
        return self._bytes(contender, large, "peak") / self._bytes(contender, small, "peak")

    def _bytes(self, contender: str, size: int, which: str) -> int:
        known: dict[str, int] = getattr(self, which)
        if f"{contender}|{size}" not in known:
            raise NotMeasured(f"{contender}: {self.failed.get(f'{contender}|{size}', 'not measured')}")
        return known[f"{contender}|{size}"]

    def growth(self, contender: str, work: str = "", least: int | None = None) -> float:
        """How much more an operation costs in the largest size than in the smallest (or `least`)."""
        small, large = (self.sizes[0] if least is None or least not in self.sizes else least), self.sizes[-1]
        return (self.median(contender, large, work) / large) / (self.median(contender, small, work) / small)

    def _two_sizes(self) -> tuple[int, int]:
        if len(self.sizes) < 2:
            raise NotMeasured("one size was measured, and bytes an operation need two")
        return self.sizes[-2], self.sizes[-1]


# -- contenders at work -----------------------------------------------------------------------------------------------


class Failed(Exception):
    """A contender did not do its work; the message is the reason that stands in the table."""


def surroundings(cores: int) -> dict[str, str]:
    """The environment of a contender: so many threads, no other device than the processor."""
    threads = {f"{name}_NUM_THREADS": str(cores) for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA")}
    quiet = {"JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    one = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"} if cores == 1 else {}
    return kept | threads | quiet | one


def processor_seconds(pid: int) -> float:
    """What a process has used of a processor so far; 0 where the system does not tell.

    A limit of the system (`RLIMIT_CPU`) is no way: it makes the clock that contenders are timed by go by ticks.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def over(limit: float, used: float, passed: float) -> bool:
    """Whether a contender has had its time: seconds of a processor, and seconds that have passed."""
    return used > limit or passed > WALL * limit


def _stopped(limit: float) -> str:
    return f"stopped after {limit:.0f} s"


class Worker:
    """A contender in a process of its own, ready to be asked for its works by name."""

    def __init__(self, subject: Subject, contender: Contender, size: int) -> None:
        self.limit = subject.limit
        place = subject.contenders.index(contender)
        self.told = tempfile.TemporaryFile()  # noqa: SIM115, it lives as long as the process
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "worker.py"), subject.name, str(place), str(size)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.told,
            env=surroundings(contender.cores),
        )
        self.works: list[str] = self._answer()["works"]

    def go(self, work: str) -> dict[str, Any]:
        """Asks for a work: the seconds it took, and at its first time the answer."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(f"{work}\n".encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Failed(self._reason()) from None
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        used, begun = processor_seconds(self.process.pid), perf_counter()
        while not select.select([self.process.stdout], [], [], TICK)[0]:
            if over(self.limit, processor_seconds(self.process.pid) - used, perf_counter() - begun):
                self.end()
                raise Failed(_stopped(self.limit))
        line = self.process.stdout.readline()
        if not line:
            raise Failed(self._reason())
        found: dict[str, Any] = json.loads(line)
        return found

    def _reason(self) -> str:
        """Why the process is gone: the last thing that it said."""
        code = self.process.wait()
        self.told.seek(0)
        lines = self.told.read().decode(errors="replace").strip().splitlines()
        if code < 0:
            return f"killed by {signal.Signals(-code).name}"
        return _short(lines[-1] if lines else f"exit code {code}")

    def end(self) -> None:
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        self.process.kill()
        self.process.wait()
        self.told.close()


def _short(text: str) -> str:
    text = text.strip().replace("|", "/")
    return text if len(text) <= 90 else f"{text[:87]}..."


def run_command(words: Sequence[str], contender: Contender, limit: float) -> tuple[float, int, bytes]:
    """Seconds, bytes at most and the start of the standard output of a command. Raises `Failed`.

    This process stays small: the bytes of a command count from those of the process that started it.
    """
    with tempfile.TemporaryFile() as told, tempfile.TemporaryFile() as out:
        first_line = contender.until == "first line"
        begun = perf_counter()
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if first_line else out,
            stderr=told,
            env=surroundings(contender.cores),
        )
        seconds, line = 0.0, b""
        if first_line:
            assert process.stdout is not None
            line = process.stdout.readline()
            seconds = perf_counter() - begun
            process.stdout.read()
            process.stdout.close()
        # a child is waited for here and not by `Popen`, which keeps nothing of what it used
        _, status, used = _wait(process, limit)
        seconds = seconds or perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            told.seek(0)
            lines = told.read().decode(errors="replace").strip().splitlines()
            if process.returncode == -signal.SIGKILL:
                raise Failed(_stopped(limit))
            raise Failed(_short(lines[-1] if lines else f"exit code {process.returncode}"))
        out.seek(0)
        return seconds, used.ru_maxrss * 1024, line if first_line else out.read(LONGEST_ANSWER)


def _wait(process: subprocess.Popen[bytes], limit: float) -> tuple[int, int, Any]:
    """`os.wait4` with a limit of time."""
    begun = perf_counter()

    def stop(*_: Any) -> None:
        if over(limit, processor_seconds(process.pid), perf_counter() - begun):
            process.kill()

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
    try:
        return os.wait4(process.pid, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# -- a subject is measured --------------------------------------------------------------------------------------------


def measured(subject: Subject, *, quick: bool = False, say: Callable[[str], None] = lambda _: None) -> Found:
    """Every contender at every size. A contender that fails at one size is not tried at a larger one."""
    sizes = list(subject.quick if quick else subject.sizes)
    found = Found(subject.name, quick, sizes)
    failed: dict[str, str] = {}
    for size in sizes:
        answers: dict[str, list[float]] = {}
        here: list[Contender] = []
        for contender in subject.contenders:
            reason = failed.get(contender.name)
            if (name := contender.missing()) is not None:
                reason = f"{name} is not installed"
            elif contender.largest is not None and size > contender.largest:
                reason = contender.why_no_more
            if reason is None:
                here.append(contender)
            else:
                found.failed[f"{contender.name}|{size}"] = reason
        repeats = 2 if quick else subject.repeats
        for contender, reason in _heat(subject, here, size, repeats, found, answers, say).items():
            found.failed[f"{contender}|{size}"] = reason
            failed[contender] = reason
        for contender, reason in _disagreements(subject, answers).items():
            found.failed[f"{contender}|{size}"] = reason
            for key in [key for key in found.seconds if key.startswith(f"{contender}|{size}|")]:
                del found.seconds[key]
    return found


def _heat(
    subject: Subject,
    here: Sequence[Contender],
    size: int,
    repeats: int,
    found: Found,
    answers: dict[str, list[float]],
    say: Callable[[str], None],
) -> dict[str, str]:
    """All contenders at one size: made ready one after the other, then asked in turns."""
    failed: dict[str, str] = {}
    slow: dict[tuple[str, str], float] = {}
    workers: dict[str, Worker] = {}
    commands: dict[str, tuple[Contender, list[str]]] = {}
    try:
        for contender in here:
            say(f"{subject.name} {size}: {contender.name}")
            try:
                if contender.command:
                    words = contender.make(size)
                    commands[contender.name] = contender, words
                    seconds, _, out = run_command(words, contender, subject.limit)  # fills the caches
                    if seconds > PATIENCE:
                        slow[contender.name, ""] = seconds
                    if subject.answer is not None:
                        answers[contender.name] = subject.answer(out)
                    continue
                workers[contender.name] = worker = Worker(subject, contender, size)
                for work in worker.works:
                    told = worker.go(work)
                    if work in subject.once:
                        found.seconds[f"{contender.name}|{size}|{work}"] = [told["seconds"]]
                    elif told["seconds"] > PATIENCE:
                        slow[contender.name, work] = told["seconds"]
                    if told["answer"]:
                        answers[contender.name] = told["answer"]
                found.held[f"{contender.name}|{size}"] = told["held"]
                found.peak[f"{contender.name}|{size}"] = told["peak"]
            except Failed as reason:
                failed[contender.name] = str(reason)
        for (name, work), seconds in slow.items():
            found.seconds[f"{name}|{size}|{work}"] = [seconds]
        for turn in range(repeats):
            for contender in here:
                name = contender.name
                if name in failed:
                    continue
                try:
                    if contender.command:
                        if turn and (name, "") in slow:
                            continue
                        seconds, peak, _ = run_command(commands[name][1], contender, subject.limit)
                        found.seconds.setdefault(f"{name}|{size}|", []).append(seconds)
                        found.peak[f"{name}|{size}"] = max(peak, found.peak.get(f"{name}|{size}", 0))
                        continue
                    for work in workers[name].works:
                        if work not in subject.once and not (turn and (name, work) in slow):
                            told = workers[name].go(work)
                            found.seconds.setdefault(f"{name}|{size}|{work}", []).append(told["seconds"])
                except Failed as reason:
                    failed[name] = str(reason)
    finally:
        for worker in workers.values():
            worker.end()
    return failed


def _disagreements(subject: Subject, answers: Mapping[str, list[float]]) -> dict[str, str]:
    """Contenders whose answer is not that of the first: a wrong number is no fast number."""
    wrong: dict[str, str] = {}
    expected: list[float] | None = None
    for name, answer in answers.items():
        if expected is None:
            expected = answer
            continue
        scale = max(map(abs, expected), default=0.0) or 1.0
        near = len(answer) == len(expected) and all(
            abs(one - other) <= NEAR * scale for one, other in zip(answer, expected, strict=True)
        )
        if not near:
            wrong[name] = f"gives another answer: {answer[:2]} and not {expected[:2]}"
    return wrong

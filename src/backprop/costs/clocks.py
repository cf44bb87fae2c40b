"""Clocks: the ways of a program run in plain doubles, their times and the most bytes that they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import median
from time import perf_counter
from typing import Any

from backprop.costs.machines import Machine
from backprop.costs.reports import CostReport
from backprop.costs.scalar_paths import Scalars
from backprop.rules import Partials

# A time is the median of runs that take so long together, and of no more than so many.
MEASURED, RUNS = 0.1, 200
# Terms of paths are passed on by so many.
BATCH = 1000
# Fractions of a second, where seconds are whole numbers because there are so many.
SCALE = 10**12


def seconds_of(work: Callable[[], Any]) -> float:
    """The median time of some runs."""
    taken: list[float] = []
    while not taken or (sum(taken) < MEASURED and len(taken) < RUNS):
        start = perf_counter()
        work()
        taken.append(perf_counter() - start)
    return median(taken)


def peak_of(work: Callable[[], Any]) -> int:
    """The most bytes that Python and NumPy held at once for a piece of work, beyond what was there before."""
    import tracemalloc

    tracing = tracemalloc.is_tracing()
    if not tracing:
        tracemalloc.start()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    try:
        held = work()
        peak = tracemalloc.get_traced_memory()[1] - before
        del held
    finally:
        if not tracing:
            tracemalloc.stop()
    return max(0, peak)


@dataclass(slots=True)
class Clock:
    """Runs the ways of a program in plain doubles and writes their times into the report.

    What would not end within `longest` seconds is estimated.
    """

    runner: Machine
    output: int
    report: CostReport
    longest: float

    def run(self, paths: Scalars | str) -> None:
        runner, report = self.runner, self.report
        known = runner.value()
        slopes = runner.partials(known)
        value, rules = seconds_of(runner.value), seconds_of(lambda: runner.partials(known))
        report.part("value").seconds, report.part("partials").seconds = value, rules
        report.way("value").seconds, report.way("value").peak = value, peak_of(runner.value)
        shared = value + rules
        self._sweeps("reverse", shared, slopes, lambda: runner.seeds(known[self.output]), runner.backward)
        self._sweeps("forward", shared, slopes, runner.directions, runner.forward)
        self._evaluations("differences", value, (1,))
        self._evaluations("central differences", value, (1, -1))
        if not isinstance(paths, str):
            self._paths(paths, shared)
        for way in report.ways:
            way.time_ratio = None if way.taken is None else _times(way.taken, 1 / value)

    def _sweeps(
        self,
        name: str,
        shared: float,
        slopes: Partials,
        seeds: Callable[[], Iterator[Any]],
        sweep: Callable[[Partials, Any], Any],
    ) -> None:
        """The time of all sweeps of a mode, and with value and partials that of the whole way."""
        way, part = self.report.way(name), self.report.part(f"{name} sweep")
        if not way.runs:
            way.seconds = shared
            return

        def one() -> Any:
            return sweep(slopes, next(seeds()))

        def every() -> None:
            for seed in seeds():
                sweep(slopes, seed)

        def whole_way() -> Any:
            known = self.runner.value()
            again = self.runner.partials(known)
            return known, again, sweep(again, next(seeds()))

        expected = way.runs * seconds_of(one)
        way.peak = peak_of(whole_way)
        if expected > self.longest:
            way.estimate = shared + expected
            return
        part.seconds = seconds_of(every)
        way.seconds = shared + part.seconds

    def _evaluations(self, name: str, value: float, signs: Sequence[int]) -> None:
        """The time of all evaluations; where only one side is moved the value itself is one more."""
        way = self.report.way(name)

        def every() -> None:
            for sign in signs:
                for leaves in self.runner.moved(sign):
                    self.runner.value(leaves)

        way.peak = peak_of(self.runner.value)
        if way.runs * value > self.longest:
            way.estimate = way.runs * value
        else:
            way.seconds = seconds_of(every) + (value if len(signs) == 1 else 0.0)

    def _paths(self, paths: Scalars, shared: float) -> None:
        """Terms are worked out for a moment; if that was not all, the rest is run where it ends in time."""
        from backprop.path_sums import terms

        way = self.report.way("paths")
        stream = (term for routes in paths.routes for term in terms(routes))
        start, done, batch = perf_counter(), 0, BATCH
        while batch == BATCH and perf_counter() - start < MEASURED:
            batch = sum(1 for _ in islice(stream, BATCH))
            done += batch
        taken = perf_counter() - start
        if batch == BATCH:
            expected = _times(way.runs, taken / done)
            if expected > self.longest:
                way.estimate = expected
                return
            for _ in stream:
                pass
            taken = perf_counter() - start
        way.seconds = shared + taken
        way.peak = peak_of(lambda: sum(1 for routes in paths.routes[:1] for _ in islice(terms(routes), BATCH)))


def _times(count: int | float, factor: float) -> int | float:
    """count · factor; a whole number where no double is as large: there may be 3^1000 terms."""
    try:
        return count * factor
    except OverflowError:
        return int(count) * int(factor * SCALE) // SCALE

"""A table in many tasks, each of which does a part of it: here, in processes beside this one, or on a cluster.

Whoever does them, the parts are the same and are put together in their order, so the result is the same.
"""

from __future__ import annotations

import os
import pickle
import platform
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache

from backprop.mapping import tables
from backprop.mapping.counts import Counts
from backprop.mapping.crews import Crew, refuse_other_versions, versions
from backprop.mapping.partitions import told
from backprop.mapping.plan import Plan
from backprop.mapping.run import Outcome, led
from backprop.mapping.sample import Sample
from backprop.mapping.tables import Layout, Source
from backprop.mapping.totals import Totals
from backprop.mapping.whole import whole_part
from backprop.mapping.worker import Worker
from backprop.mistakes import CannotRead, Mistake, OtherColumns, WorkerLost

# How often a task may lose its worker: together with others twice, then alone.
TOGETHER, ALONE = 2, 1
# Seconds after which a crew is looked after though nothing came back.
PULSE = 1.0


@dataclass(frozen=True, slots=True)
class Task:
    """One part of a table: its `place` among the parts, the plan, where its rows come from, and the file that they go
    to ("" where they are only added up), in which format and layout. `versions` are those that have to do it."""

    place: int
    plan: Plan
    source: Source
    path: str = ""
    format: str = ""
    layout: Layout = field(default_factory=Layout)
    stop: bool = False
    check_rows: int = 0
    first_file: str = ""
    versions: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a part; `size` is that of its file in bytes, `worker` the machine that did it."""

    outcome: Outcome
    size: int = 0
    worker: str = ""


def work(task: Task) -> Done:
    """Do a part of a table, wherever this runs. Its file is there whole or not at all. Raises `Mistake`."""
    here = platform.node()
    if task.versions is not None:
        refuse_other_versions(here, versions(), task.versions)
    if not task.path:
        return Done(rows(task, None), worker=here)
    with whole_part(task.path) as file:
        writer = tables.module(task.format).writer(file, task.plan.names, task.layout)
        outcome = rows(task, writer.write)
        writer.close()
        size = file.tell()
    return Done(outcome, size, here)


def rows(task: Task, write: Callable[[tables.Batch], None] | None) -> Outcome:
    """Lead the rows of a task through its plan. Raises `Mistake`, also `OtherColumns`."""
    outcome = nothing_yet(task, sums=write is None)
    for _ in steps(task, write, outcome):
        pass
    return outcome


def nothing_yet(task: Task, sums: bool) -> Outcome:
    """What became of a part of which no row is done."""
    return Outcome(Counts(), Totals() if sums else None, Sample(task.check_rows, task.place))


def steps(task: Task, write: Callable[[tables.Batch], None] | None, outcome: Outcome) -> Iterator[tables.Batch]:
    """The batches of a part, each when it is done and in `outcome`. Raises as `rows`."""
    plan = task.plan
    reader = task.source.part().reader()
    missing = [name for name in plan.wanted if name not in reader.names]
    if missing:
        raise OtherColumns(task.source.name, task.first_file, missing)
    worker = _worker(pickle.dumps(plan), task.stop, threading.get_ident())
    yield from led(worker, reader.batches(plan.wanted), write, outcome)


def prepare(task: Task) -> None:
    """Make here what works the tasks out, so that what has to be compiled is there when many begin at once.

    Raises what making it does.
    """
    _worker(pickle.dumps(task.plan), task.stop, threading.get_ident())


@lru_cache(maxsize=64)
def _worker(plan: bytes, stop: bool, thread: int) -> Worker:
    """What works out batches, made once for all parts that this thread does."""
    return Worker(pickle.loads(plan), stop)


def in_order(
    crew: Crew, tasks: Sequence[Task], known: Mapping[int, Done], keep: Callable[[int, Done], None] = lambda *_: None
) -> Iterator[Done]:
    """What becomes of every task, in their order; those `known` are not done again.

    `keep` is told the place of each that is done, as soon as it is, in any order.
    At most a few tasks for each worker are handed out. One that loses its worker is done again. Raises the `Mistake`
    of the first task that makes one, with the number of the row, and `WorkerLost`.
    """
    hall = _Hall(crew, tasks, known, keep)
    behind = 0
    for task in tasks:
        found = hall.wait_for(task.place)
        if isinstance(found, Mistake):
            if task.source.before is not None or not behind:
                raise found
            # only now is it known which rows these are: the task is done here once more, to tell them by their numbers
            found = work(replace(task, source=task.source.part(before=behind)))
            keep(task.place, found)
        yield found
        behind += found.outcome.rows


class _Hall:
    """The tasks that are out, those that have come back, and those that are to be done again."""

    def __init__(
        self, crew: Crew, tasks: Sequence[Task], known: Mapping[int, Done], keep: Callable[[int, Done], None]
    ) -> None:
        self.crew, self.tasks, self.keep = crew, tasks, keep
        self.back: dict[int, Done | Mistake] = dict(known)
        self.kept = set(known)
        self.waiting = iter([task.place for task in tasks if task.place not in known])
        self.again: list[int] = []
        self.losses: Counter[int] = Counter()
        self.out: dict[Future[Done], int] = {}

    def wait_for(self, place: int) -> Done | Mistake:
        """What became of a task; it is not kept any longer."""
        while place not in self.back:
            self._hand_out()
            finished, _ = wait(self.out, PULSE, FIRST_COMPLETED)
            self.crew.look_after()
            lost = [one for one in finished if not self._comes_back(one)]
            if lost:
                self._begin_again(lost)
        self.kept.discard(place)
        return self.back.pop(place)

    def _hand_out(self) -> None:
        """Give tasks to the crew: first what is to be done again, alone where it has lost too many workers."""
        room = self.crew.room
        while self.again:
            self.again.sort(key=lambda place: (self.losses[place] >= TOGETHER, place))
            alone = self.losses[self.again[0]] >= TOGETHER
            if len(self.out) >= (1 if alone else room) or not self._submit(self.again[0]):
                return
            self.again.pop(0)
            if alone:
                return
        if any(self.losses[place] >= TOGETHER for place in self.out.values()):
            return
        while len(self.out) + len(self.back) - len(self.kept) < room:
            place = next(self.waiting, None)
            if place is None:
                return
            if not self._submit(place):
                self.again.append(place)
                return

    def _submit(self, place: int) -> bool:
        """Hand out one task, if there is somebody to take it."""
        try:
            future = self.crew.submit(work, self.tasks[place])
        except Exception as error:
            if not self.crew.has_lost(error):
                raise
            self._begin_again([])
            return False
        self.out[future] = place
        return True

    def _comes_back(self, future: Future[Done]) -> bool:
        """Take what became of a task; False where its worker was lost."""
        error = CancelledError() if future.cancelled() else future.exception()
        place = self.out[future]
        if error is not None and self.crew.has_lost(error):
            return False
        del self.out[future]
        if error is None:
            self.back[place] = future.result()
            self.keep(place, future.result())
        elif times := self.crew.gives_up(error):
            raise WorkerLost(told(self.tasks[place].source), times)
        elif isinstance(error, Mistake):
            self.back[place] = error
            self.waiting = iter(())  # what comes later is not needed
        else:
            raise self.crew.explained(error)
        return True

    def _begin_again(self, lost: Iterable[Future[Done]]) -> None:
        """After the loss of a worker: mend the crew, and put back whatever went down with it."""
        self.crew.mend()
        gone = set(lost)
        for future in list(self.out):
            if future in gone or (future.done() and not self._comes_back(future)):
                place = self.out.pop(future)
                self.losses[place] += 1
                if self.losses[place] >= TOGETHER + ALONE:
                    raise WorkerLost(told(self.tasks[place].source), self.losses[place])
                self.again.append(place)


@contextmanager
def employed(crew: Crew) -> Iterator[Crew]:
    """A crew that is let go afterwards: at once when something went wrong or somebody interrupts."""
    try:
        yield crew
    except BaseException:
        crew.close(at_once=True)
        raise
    crew.close()


def schema_of(plan: Plan, source: Source) -> object:
    """The schema of PyArrow of what is written, as the first rows make it. Raises what reading them does."""
    pa = tables.arrow()
    batch = next(iter(source.part().reader().batches(plan.wanted)))
    for column in plan.columns.values():
        batch.columns[column].doubles(column, batch.first, plan.decimal)  # the numbers of text are numbers then
    kept = [(name, batch.columns[name].arrow().type) for name in plan.kept]
    numbers = [(name, pa.float64()) for name in (plan.value, *plan.slopes.values())]
    return pa.schema([*kept, *numbers, (plan.note, pa.string())])


def stamp(path: str) -> dict[str, object]:
    """Which file it is: its size in bytes, and when it was last changed. Raises `CannotRead`."""
    try:
        found = os.stat(path)
    except OSError as error:
        raise CannotRead(path, error.strerror or str(error)) from None
    seconds, rest = divmod(found.st_mtime_ns, 10**9)
    day = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))
    return {"path": path, "bytes": found.st_size, "last change": f"{day}.{rest:09d} UTC"}

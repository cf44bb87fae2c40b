"""Where the rows of all parts go: into one file or stream, into a folder of part files, or into sums."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from typing import Any, BinaryIO

from backprop.mapping import tables
from backprop.mapping.counts import Counts
from backprop.mapping.crews import Alone, Cluster, Crew, Processes, versions
from backprop.mapping.folders import Folder
from backprop.mapping.partitions import told
from backprop.mapping.plan import Plan, arrays_in
from backprop.mapping.run import Outcome
from backprop.mapping.sample import Sample
from backprop.mapping.tables import Cut, Layout, Source, whole_file
from backprop.mapping.tasks import Done, Task, employed, in_order, nothing_yet, prepare, schema_of, stamp, steps
from backprop.mapping.totals import Totals
from backprop.mapping.whole import await_part
from backprop.mistakes import OptionValue

# Nodes of a usual program, how many times longer a row takes by itself, and the most that parts shrink for that.
USUAL, ROW_BY_ROW, SMALLEST = 50, 100, 256
# Parts for each process, so that none waits long for the last one; a cluster is not asked for its workers before.
PARTS_EACH, WORKERS = 4, 64
# Rows that are looked at with care take longer, but no one knows beforehand how many there are.
CARE = 16

Watch = Callable[[Iterable[Any], int | None], Iterable[Any]]


@dataclass(frozen=True, slots=True)
class Job:
    """A table that is mapped: the plan, its parts, the format and the layout of what is written, whether the first row
    without an answer is refused, how many rows are sampled for the witnesses, and who watches the progress: `watch`
    is handed things that have `rows`, and how many rows there are in all."""

    plan: Plan
    parts: Sequence[Source]
    format: str = ""
    layout: Layout = field(default_factory=Layout)
    stop: bool = False
    check_rows: int = 0
    watch: Watch = lambda found, rows: found

    @property
    def rows(self) -> int | None:
        """How many rows there are, where that is known beforehand."""
        known = [part.rows for part in self.parts]
        return None if None in known else sum(rows or 0 for rows in known)

    def tasks(self, path: Callable[[int], str], crew: Crew) -> list[Task]:
        """A task for each part, whose rows go to the file `path(place)`."""
        first, asked = self.parts[0].name, versions()
        # a worker on a cluster is at home in another folder
        full = os.path.abspath if isinstance(crew, Cluster) else str
        return [
            Task(
                place,
                self.plan,
                part.part(stdin=None, path=full(part.path)),
                full(path(place)) if path(place) else "",
                self.format,
                self.layout,
                self.stop,
                self.check_rows,
                first,
                asked,
            )
            for place, part in enumerate(self.parts)
        ]

    def outcome(self, sums: bool) -> Outcome:
        """What became of no row yet."""
        return Outcome(Counts(), Totals() if sums else None, Sample(self.check_rows))

    def asked(self) -> dict[str, Any]:
        """What has to be the same for parts to be of one table."""
        plan = asdict(self.plan)
        for name in ("origin", "remarks"):
            del plan[name]
        return {
            "backprop": versions()["backprop"],
            "program": plan.pop("text"),
            "constants": plan.pop("constants"),
            "wrt": list(self.plan.wrt),
            "plan": {**plan, "slopes": self.plan.slopes},
            "to": self.format,
            "on-error": "fail" if self.stop else "note",
            "check-rows": self.check_rows,
            "inputs": [stamp(path) for path in dict.fromkeys(part.path for part in self.parts)],
            "parts": [told(part) for part in self.parts],
        }


def crew_for(jobs: int, cluster: str, parts: int) -> Crew:
    """Who does so many parts: the cluster of that address, else so many processes (0 for one on each core).

    Few parts are done here: a process takes about as long to begin as for one of them. Raises what `Cluster` does.
    """
    if cluster:
        return Cluster(cluster)
    width = min(jobs or cores(), parts // 2)
    return Alone() if width <= 1 else Processes(width)


def portion(plan: Plan) -> int:
    """How many times smaller the parts should be than those of a usual program, for one that takes longer."""
    _, graph = plan.program.read([*plan.columns, *plan.constants])
    row_by_row = plan.engine == "plain" or bool(arrays_in(plan))
    return max(1, min(len(graph) * (ROW_BY_ROW if row_by_row else 1) // USUAL, SMALLEST))


def cut(
    plan: Plan, sources: Sequence[Source], jobs: int = 1, cluster: bool = False, folder: bool = False
) -> list[Source]:
    """The parts of a table, some for each of so many processes (0: one on each core), where it is large enough.

    In a folder the parts are what can be gone on with, so they do not depend on who does them. Raises `CannotRead`.
    """
    usual = portion(plan)
    width = 1 if folder else WORKERS if cluster else jobs or cores()
    if width == 1:
        return [part for source in sources for part in source.parts(Cut(usual))]
    sizes = [os.path.getsize(source.path) for source in sources]
    smaller = min(usual * (CARE if plan.careful else 1), SMALLEST)
    parts: list[Source] = []
    for source, size in zip(sources, sizes, strict=True):
        wanted = -(-PARTS_EACH * width * size // max(1, sum(sizes)))
        parts += source.parts(Cut(smaller, max(2, wanted)))
    return parts


def can_share(plan: Plan, sources: Sequence[Source], folder: bool) -> bool:
    """Whether two processes would have something to do, each."""
    return len(cut(plan, sources, jobs=2, folder=folder)) // 2 > 1


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def to_sums(job: Job, crew: Crew) -> Outcome:
    """Sums over all rows. Raises `Mistake`."""
    outcome = job.outcome(sums=True)
    tasks = job.tasks(lambda _: "", crew)
    with employed(crew):
        _prepare(crew, tasks)
        if isinstance(crew, Alone):
            _here(job, tasks, None, outcome, lambda: None)
        else:
            _add_up(job, in_order(crew, tasks, {}), outcome)
    return outcome


def to_folder(job: Job, crew: Crew, path: str, resume: bool) -> Outcome:
    """Part files in a folder, or sums that are kept there (a job without a format). Raises `Mistake`."""
    sums = not job.format
    outcome = job.outcome(sums)
    suffix = "" if sums else tables.module(job.format).FORMAT.suffixes[0]
    with employed(crew):
        folder = Folder(path, suffix, job.asked(), resume)
        try:
            tasks = job.tasks(lambda place: "" if sums else folder.part(place), crew)
            if len(folder.known) < len(tasks):
                _prepare(crew, tasks)
            _add_up(job, in_order(crew, tasks, dict(folder.known), folder.keep), outcome)
            folder.finish(outcome)
        except BaseException:
            crew.close(at_once=True)  # nobody writes there any more
            folder.leave()
            raise
    return outcome


def to_stream(job: Job, crew: Crew, sink: BinaryIO | str) -> Outcome:
    """One file, whole or not at all, or a stream. Raises `Mistake`."""
    with ExitStack() as stack:
        stack.enter_context(employed(crew))
        beside = None if not isinstance(sink, str) else os.path.dirname(os.path.realpath(sink))
        if isinstance(crew, Cluster) and beside is None:
            raise OptionValue(
                "output", "-", "Workers on other machines write files: -o FILE or -o FOLDER, on a disk that all share."
            )
        file = stack.enter_context(whole_file(sink)) if isinstance(sink, str) else sink
        format = tables.module(job.format)
        outcome = job.outcome(sums=False)
        if isinstance(crew, Alone):
            writer = format.writer(file, job.plan.names, job.layout)
            _here(job, job.tasks(lambda _: "", crew), writer.write, outcome, getattr(writer, "end_part", lambda: None))
            writer.close()
            return outcome
        folder = tempfile.mkdtemp(".parts", ".map-", beside)
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        stack.callback(crew.close, at_once=True)  # before the folder goes, so that nobody writes there any more
        suffix = format.FORMAT.suffixes[0]
        tasks = job.tasks(lambda place: os.path.join(folder, f"part-{place:05d}{suffix}"), crew)
        _prepare(crew, tasks)
        names = job.plan.names
        has_own = hasattr(format, "joiner")
        joiner = format.joiner(file, names, job.layout) if has_own else _Read(format, file, names, job.layout)
        _add_up(job, _joined(in_order(crew, tasks, {}), tasks, joiner), outcome)
        joiner.close()
    return outcome


def _prepare(crew: Crew, tasks: Sequence[Task]) -> None:
    """Compile before processes of this machine begin; those of others do it for themselves."""
    if isinstance(crew, Processes):
        prepare(tasks[0])


def _here(
    job: Job,
    tasks: Iterable[Task],
    write: Callable[[tables.Batch], None] | None,
    outcome: Outcome,
    end_part: Callable[[], None],
) -> None:
    """Do all parts in this process, one after the other."""

    def batches() -> Iterator[tables.Batch]:
        for task in tasks:
            source = task.source.part(before=outcome.rows)  # here every row is known by its number at once
            one = nothing_yet(task, sums=write is None)
            yield from steps(replace(task, source=source), write, one)
            outcome.add(one)
            end_part()

    for _ in job.watch(batches(), job.rows):
        pass


def _add_up(job: Job, found: Iterable[Done], outcome: Outcome) -> None:
    """Put together what became of the parts."""
    parts = iter(job.parts)
    for one in job.watch((done.outcome for done in found), job.rows):
        outcome.add(one, outcome.rows if next(parts).before is None else 0)


def _joined(found: Iterable[Done], tasks: Sequence[Task], joiner: tables.Joiner) -> Iterator[Done]:
    """The parts, each put behind the others and removed."""
    for task, done in zip(tasks, found, strict=True):
        await_part(task.path, done.size, done.worker)
        joiner.add(task.path)
        os.unlink(task.path)
        yield done


class _Read:
    """A table that is made of files by reading them again, for a format that has no way of its own."""

    def __init__(self, format: Any, sink: BinaryIO, names: Sequence[str], layout: Layout) -> None:
        self.format, self.names = format, names
        self.writer: tables.Writer = format.writer(sink, names, layout)

    def add(self, path: str) -> None:
        for batch in Source(path, self.format.FORMAT.name).reader().batches(self.names):
            self.writer.write(batch)

    def close(self) -> None:
        self.writer.close()


def layout_of(plan: Plan, parts: Sequence[Source], format: str, layout: Layout) -> Layout:
    """How all parts are written: like text that was read, and with one schema where the format has one."""
    if not format or len(parts) == 1 or not tables.module(format).FORMAT.typed:
        return layout
    return replace(layout, schema=schema_of(plan, parts[0]))

"""`backprop map --cluster`: a scheduler of Dask and its workers as real processes on this machine."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from backprop.mapping import lines
from backprop.mapping.crews import Alone, Cluster
from backprop.mapping.gathering import to_folder, to_stream, to_sums
from backprop.mistakes import ClusterDiffers, ClusterLost, ClusterUnreachable, OptionValue, WorkerLost
from command import call
from test_map_tasks import job, numbers, points

pytestmark = pytest.mark.skipif(
    find_spec("distributed") is None, reason="the extra cluster is not installed: pip install 'backprop-trace[cluster]'"
)

README = Path(__file__).parent.parent / "README.md"
# What a worker does at most: once more after it was lost.
ALLOWED_FAILURES = 1
QUICK = {
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(ALLOWED_FAILURES),
    "DASK_DISTRIBUTED__NANNY__PRE_SPAWN_ENVIRON__MALLOC_TRIM_THRESHOLD_": "65536",
}


class Machines:
    """A scheduler and its workers. Each is a process of its own, in a group of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []
        self.address = ""

    def scheduler(self, **environment: str) -> str:
        """Start a scheduler on a free port; its address."""
        note = self.folder / "scheduler.json"
        self._start("scheduler", "--scheduler-file", str(note), "--host", "127.0.0.1", "--port", "0", **environment)
        end = time.monotonic() + 30
        while not (note.exists() and note.stat().st_size) and time.monotonic() < end:
            time.sleep(0.05)
        import json

        self.address = json.loads(note.read_text(encoding="utf-8"))["address"]
        return self.address

    def worker(self, nanny: bool = False, **environment: str) -> subprocess.Popen[bytes]:
        """Start a worker with one thread; a nanny starts it again when it ends."""
        place = self.folder / f"worker-{len(self.started)}"
        extra = () if nanny else ("--no-nanny",)
        words = ("--nthreads", "1", "--local-directory", str(place), "--no-dashboard", *extra)
        return self._start("worker", self.address, *words, **environment)

    def _start(self, what: str, *words: str, **environment: str) -> subprocess.Popen[bytes]:
        log = open(self.folder / f"{what}-{len(self.started)}.log", "wb")  # noqa: SIM115 -- it outlives this call
        command = [sys.executable, "-m", "dask", what, *words]
        if what == "scheduler":
            command += ["--no-dashboard"]
        process = subprocess.Popen(
            command,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env=os.environ | QUICK | environment,
            cwd=self.folder,
        )
        log.close()
        self.started.append(process)
        return process

    def end(self) -> None:
        """End every process that was started here, with those it started."""
        for process in self.started:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    found = Machines(tmp_path_factory.mktemp("machines"))
    yield found
    found.end()


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "PART", 400)


def joined(address: str, workers: int) -> Cluster:
    """The cluster of that address, once so many workers are there."""
    end = time.monotonic() + 60
    while True:
        try:
            crew = Cluster(address)
            crew.client.wait_for_workers(workers, timeout=60)
            return crew
        except ClusterUnreachable:
            assert time.monotonic() < end
            time.sleep(0.2)


# -- who cannot be reached -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address", ["10.0.0.5", "http://10.0.0.5:80", "tcp://host", "tcp://a b:1", "h:99999", "tcp://:1"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(OptionValue, match="--cluster cannot be"):
        Cluster(address)


def test_a_cluster_that_is_not_there_is_told_within_ten_seconds(tmp_path: Path) -> None:
    begun = time.monotonic()
    out = tmp_path / "out"
    code, _, err = call("map", "x*y", points(tmp_path), "-o", f"{out}/", "--cluster", "tcp://127.0.0.1:9")
    assert (code, out.exists()) == (2, False)
    assert "tcp://127.0.0.1:9: connection refused" in err
    assert time.monotonic() - begun < 10


def test_a_stranger_at_the_address_is_told(tmp_path: Path) -> None:
    import socket

    refused = pytest.raises(ClusterUnreachable, match="what answers there is no scheduler of Dask")
    with socket.create_server(("127.0.0.1", 0)) as stranger, refused:
        Cluster(f"tcp://127.0.0.1:{stranger.getsockname()[1]}", answer=1.0)


# -- who works -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_workers_write_what_one_process_writes(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # which is not where the workers are
    address = machines.scheduler()
    machines.worker()
    machines.worker()
    joined(address, 2).close()
    path = os.path.relpath(points(tmp_path))
    alone = call("map", "x/y", path, "-o", "alone.csv")
    many = call("map", "x/y", path, "-o", "many.csv", "--cluster", address)
    assert many == alone
    assert alone[0] == 3
    assert (tmp_path / "many.csv").read_bytes() == (tmp_path / "alone.csv").read_bytes()
    code, _, err = call("map", "x/y", path, "--cluster", address)
    assert (code, "Workers on other machines write files" in err) == (2, True)
    code, _, err = call("map", "x/y", path, "-o", "out/", "--cluster", address, "--on-error", "fail")
    row = 1 + next(place for place, (_, y) in enumerate(numbers(200)) if y == 0)
    assert (code, f"row {row}: " in err) == (3, True)
    assert not list(tmp_path.rglob("*unfinished"))


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_costs_a_retry_and_no_row(machines: Machines, tmp_path: Path) -> None:
    address = machines.scheduler()
    victim = machines.worker()
    machines.worker()
    made = job(points(tmp_path, count=3000), "csv")
    assert len(made.parts) > 50
    out = tmp_path / "out"

    class Killing(Cluster):
        """A cluster of which one worker is killed once a few tasks are out."""

        out = 0

        def submit(self, work: Callable[..., Any], *given: Any) -> Future[Any]:
            self.out += 1
            if self.out == 10:
                victim.kill()
            return super().submit(work, *given)

    joined(address, 2).close()
    to_folder(made, Killing(address), str(out), resume=False)
    assert victim.wait(timeout=10) == -signal.SIGKILL
    to_folder(made, Alone(), str(tmp_path / "alone"), resume=False)
    assert {one.name: one.read_bytes() for one in out.iterdir()} == {
        one.name: one.read_bytes() for one in (tmp_path / "alone").iterdir()
    }


@pytest.mark.slow
def test_a_part_that_kills_its_workers_is_named(machines: Machines, tmp_path: Path) -> None:
    address = machines.scheduler()
    machines.worker(nanny=True)
    machines.worker(nanny=True)
    made = job(points(tmp_path), "csv")

    class Poisoned(Cluster):
        """A cluster whose worker ends whenever it does part 1."""

        def submit(self, work: Callable[..., Any], *given: Any) -> Future[Any]:
            return super().submit(os._exit, 1) if given[0].place == 1 else super().submit(work, *given)

    joined(address, 2).close()
    begin, end = made.parts[1].span or (0, 0)
    with pytest.raises(WorkerLost, match=f"{ALLOWED_FAILURES + 1} workers ended while they did bytes {begin} to {end}"):
        to_stream(made, Poisoned(address), str(tmp_path / "out.csv"))
    assert [one.name for one in tmp_path.iterdir()] == ["points.csv"]


@pytest.mark.slow
def test_a_cluster_without_workers_is_told_and_so_is_one_that_ends(machines: Machines, tmp_path: Path) -> None:
    address = machines.scheduler()
    with pytest.raises(ClusterUnreachable, match="it has no worker"):
        Cluster(address, answer=2.0)
    worker = machines.worker()
    made = job(points(tmp_path, count=3000), "")
    joined(address, 1).close()

    class Ending(Cluster):
        """A cluster of which one process ends once a few tasks are out."""

        def submit(self, work: Callable[..., Any], *given: Any) -> Future[Any]:
            if given[0].place == 5:
                ends.kill()
            return super().submit(work, *given)

    ends = worker
    with pytest.raises(ClusterLost, match="there has been no worker for 2 seconds"):
        to_sums(made, Ending(address, empty=2.0))
    machines.worker()
    joined(address, 1).close()
    ends = machines.started[0]
    with pytest.raises(ClusterLost, match="the scheduler is gone"):
        to_sums(made, Ending(address, answer=3.0))


@pytest.mark.slow
def test_other_versions_on_workers_are_told_and_nothing_else_need_be_on_the_scheduler(
    machines: Machines, tmp_path: Path
) -> None:
    package = tmp_path / "old" / "backprop"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('__version__ = "0.0.1"\n', encoding="utf-8")
    old = str(package.parent)
    address = machines.scheduler(PYTHONPATH=old)
    good = machines.worker()
    made = job(points(tmp_path), "")
    assert to_sums(made, joined(address, 1)).totals == to_sums(made, Alone()).totals
    good.kill()
    good.wait()
    machines.worker(PYTHONPATH=old)
    with pytest.raises(ClusterDiffers, match=r"has backprop 0\.0\.1, and here it is"):
        joined(address, 1)
    later = Later(address)  # a worker that comes when the others have been asked
    with pytest.raises(ClusterDiffers, match=r"the worker of the cluster has no backprop\.mapping"):
        to_sums(made, later)


class Later(Cluster):
    """A cluster whose workers are not asked beforehand."""

    def _compare(self, longest: float) -> None:
        pass


# -- the three commands of the README --------------------------------------------------------------------------------


def three_commands() -> tuple[str, str, str]:
    """The commands of the README that begin with `dask scheduler`, each on one line."""
    found = re.search(r"^```(?:sh|bash)\n(dask scheduler\b.*?)^```$", README.read_text(encoding="utf-8"), re.M | re.S)
    if found is None:
        pytest.skip("README.md shows no block that begins with `dask scheduler`, so there is nothing that may be wrong")
    lines = (line.partition(" #")[0].strip() for line in found[1].replace("\\\n", " ").splitlines())
    scheduler, worker, question = [line for line in lines if line and not line.startswith("#")]
    return scheduler, worker, question


def shell(command: str, place: Path, log: str) -> subprocess.Popen[bytes]:
    """A shell of its own that runs the command in a folder, in a group of its own."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with open(place / log, "wb") as said:
        return subprocess.Popen(
            ["bash", "-c", command],
            cwd=place,
            env=os.environ | {"PATH": path, "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="the README writes for a shell such as bash, and none is here")
def test_the_three_commands_of_the_readme_do_what_they_say(machines: Machines, tmp_path: Path) -> None:
    import socket

    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    scheduler, worker, question = three_commands()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    address = re.search(r"--cluster (tcp://\S+:(\d+))", question)
    assert address is not None
    assert f" {address[1]} " in f"{worker} "  # the worker is told the same
    there = {address[1]: f"tcp://127.0.0.1:{port}"}
    data = re.search(r'"([^"]*)/\*\.parquet"', question)
    assert data is not None
    folder = tmp_path / data[1]
    folder.mkdir(parents=True)
    columns = {"x": [0.5 * row for row in range(60)], "y": [float(row % 7) for row in range(60)]}
    for place in range(3):
        rows = slice(20 * place, 20 * place + 20)
        table = pyarrow.table({name: column[rows] for name, column in columns.items()})
        parquet.write_table(table, folder / f"{place}.parquet")
    # The port of the README may be taken here, and so may that of the dashboard: nothing else is changed.
    machines.started.append(shell(f"{scheduler} --port {port} --dashboard-address :0", tmp_path, "scheduler.log"))
    machines.started.append(shell(worker.replace(address[1], there[address[1]]), tmp_path, "worker.log"))
    joined(there[address[1]], 1).close()
    for _ in range(2):  # the second time every part is there
        asked = shell(question.replace(address[1], there[address[1]]), tmp_path, "map.log")
        machines.started.append(asked)
        assert (asked.wait(timeout=60), (tmp_path / "map.log").read_text(encoding="utf-8")) == (0, "")
    out = re.search(r"-o (\S+)/", question)
    assert out is not None
    found = pyarrow.concat_tables(parquet.read_table(one) for one in sorted((tmp_path / out[1]).iterdir()))
    # (2x + 0.5 - y)^2: its slopes are 4 and -2 times what is squared.
    squared = [2 * x + 0.5 - y for x, y in zip(columns["x"], columns["y"], strict=True)]
    assert found["f"].to_pylist() == [one * one for one in squared]
    assert found["d_x"].to_pylist() == [4 * one for one in squared]
    assert found["d_y"].to_pylist() == [-2 * one for one in squared]

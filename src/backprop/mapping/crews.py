"""Who does the tasks: this process, processes beside it, or the workers of a Dask cluster.

Each is an executor of `concurrent.futures` with a few words about lost workers; who hands out the tasks
(`tasks.in_order`) does not know which it is.
"""

from __future__ import annotations

import os
import pickle
import platform
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from backprop.mistakes import ClusterDiffers, ClusterLost, ClusterUnreachable, ExtraMissing, OptionValue

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

# Tasks that are handed out for each worker: the next waits while one is done.
AHEAD = 3
# Seconds within which a cluster has to answer, and within which it has to have a worker again.
ANSWER, EMPTY = 8.0, 60.0
_ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss)://)?(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/\[\]]+)):(\d{1,5})/?")
_T = TypeVar("_T")


class Crew(Protocol):
    """Who does tasks."""

    width: int  # how many at once
    room: int  # how many tasks may be handed out, those that wait included

    def submit(self, work: Callable[..., _T], *given: Any) -> Future[_T]:
        """Hand out one task. Raises what `has_lost` knows where that cannot be done for the want of a worker."""

    def has_lost(self, error: BaseException) -> bool:
        """Whether an error tells that the worker of a task is gone, so that it has to be done again."""

    def gives_up(self, error: BaseException) -> int:
        """How many workers a task has lost, where an error tells that they are more than are allowed here; else 0."""

    def explained(self, error: BaseException) -> BaseException:
        """What an error of a worker means, in our words where it is not a fault of ours."""

    def mend(self) -> None:
        """Be ready again after a worker was lost."""

    def look_after(self) -> None:
        """What has to be looked at now and then. Raises `ClusterLost` where nobody will ever answer."""

    def close(self, at_once: bool = False) -> None:
        """Part; `at_once` drops what is being done."""


class Alone:
    """This process, one task after the other."""

    width = room = 1

    def submit(self, work: Callable[..., _T], *given: Any) -> Future[_T]:
        future: Future[_T] = Future()
        try:
            future.set_result(work(*given))
        except Exception as error:
            future.set_exception(error)
        return future

    def has_lost(self, error: BaseException) -> bool:
        return False

    def gives_up(self, error: BaseException) -> int:
        return 0

    def explained(self, error: BaseException) -> BaseException:
        return error

    def mend(self) -> None:
        pass

    def look_after(self) -> None:
        pass

    def close(self, at_once: bool = False) -> None:
        pass


# -- processes beside this one -----------------------------------------------------------------------------------------


class Processes:
    """Processes beside this one, each with one thread. They begin with the first task."""

    def __init__(self, width: int) -> None:
        self.width, self.room = width, width * AHEAD
        self._executor, self._line = self._begin()

    def _begin(self) -> tuple[ProcessPoolExecutor, Connection]:
        # spawned, not forked: threads of other libraries may hold locks here
        context = get_context("spawn")
        theirs, ours = context.Pipe(duplex=False)
        return ProcessPoolExecutor(self.width, context, _settle, (theirs,)), ours

    def submit(self, work: Callable[..., _T], *given: Any) -> Future[_T]:
        with _interrupts_wait():  # a process that begins now is not interrupted while it loads, only through its line
            return self._executor.submit(work, *given)

    def has_lost(self, error: BaseException) -> bool:
        return isinstance(error, BrokenProcessPool)

    def gives_up(self, error: BaseException) -> int:
        return 0

    def explained(self, error: BaseException) -> BaseException:
        return error

    def mend(self) -> None:
        self.close(at_once=True)
        self._executor, self._line = self._begin()

    def look_after(self) -> None:
        pass

    def close(self, at_once: bool = False) -> None:
        if at_once:
            self._line.close()
        self._executor.shutdown(wait=True, cancel_futures=True)
        self._line.close()


def _settle(line: Connection) -> None:
    """The beginning of a process: one thread for each library, an end when whoever began it has gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is told through the line
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    threading.Thread(target=_end_with, args=(line,), daemon=True).start()
    try:
        import pyarrow
    except ImportError:
        return
    pyarrow.set_cpu_count(1)


def _end_with(line: Connection) -> None:
    """Nothing is ever sent: the line ends when the other side closes it or is killed."""
    try:
        line.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Ctrl-C is heard after this, here; processes that begin meanwhile never hear it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# -- a cluster ---------------------------------------------------------------------------------------------------------


class Cluster:
    """The workers of a Dask cluster (extra `cluster`): https://distributed.dask.org.

    Raises `ExtraMissing`, `OptionValue` for what is no address, `ClusterUnreachable`, and `ClusterDiffers` where
    Python or backprop are other versions there.
    """

    def __init__(self, address: str, answer: float = ANSWER, empty: float = EMPTY) -> None:
        found = _ADDRESS.fullmatch(address)
        if found is None or not 0 < int(found[3]) < 65536:
            raise OptionValue("cluster", address, "The address that dask scheduler prints, like tcp://10.0.0.5:8786")
        self.address, self.empty = address, empty
        distributed = _distributed()
        _refuse_unreachable(address, found[1] or found[2], int(found[3]), answer / 2)
        try:
            self.client = distributed.Client(address, timeout=answer, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ClusterUnreachable(address, _cause(error)) from None
        self.width = 0
        self.seen = self.looked = time.monotonic()
        try:
            self._await_workers(answer)
            self._compare(answer)
        except BaseException:
            self.close(at_once=True)
            raise
        self._executor: Executor = self.client.get_executor(pure=False)

    def _await_workers(self, longest: float) -> None:
        end = time.monotonic() + longest
        while not self._count():
            if time.monotonic() > end:
                told = "it has no worker"
                raise ClusterUnreachable(self.address, told, f"Start one: dask worker {self.address}")
            time.sleep(0.1)

    def _count(self) -> int:
        """The threads of all workers."""
        self.width = sum(self.client.ncores().values())
        self.room = max(1, self.width) * AHEAD
        return self.width

    def _compare(self, longest: float) -> None:
        """Ask every worker that is free which versions it has; one that is busy tells with its first task."""
        executor = self.client.get_executor(pure=False)
        asked: dict[str, dict[str, Future[Any]]] = {}
        for worker in self.client.ncores():
            there = {"workers": [worker], "allow_other_workers": False}
            module = self.client.submit(import_module, "backprop", **there, pure=False)
            asked[worker] = {
                "backprop": executor.submit(getattr, module, "__version__", **there),
                "Python": executor.submit(platform.python_version, **there),
            }
        wait([future for futures in asked.values() for future in futures.values()], longest / 2)
        for worker, futures in asked.items():
            if not all(future.done() for future in futures.values()):
                continue
            for future in futures.values():
                if (error := future.exception()) is not None:
                    raise _unlike(worker, error)
            found = {name: future.result() for name, future in futures.items()}
            refuse_other_versions(worker, found, versions())
        executor.shutdown(wait=False)

    def submit(self, work: Callable[..., _T], *given: Any) -> Future[_T]:
        # whoever lacks a module that a task names ends, a worker and a scheduler alike; so they are handed bytes, which
        # are read, and thereby done, where an error goes back like any other
        return self._executor.submit(pickle.loads, pickle.dumps(_Call(work, given)))

    def has_lost(self, error: BaseException) -> bool:
        return isinstance(error, CancelledError)

    def gives_up(self, error: BaseException) -> int:
        return int(error.allowed_failures) + 1 if isinstance(error, _distributed().KilledWorker) else 0

    def explained(self, error: BaseException) -> BaseException:
        if isinstance(error, (ImportError, AttributeError)):
            return _unlike("of the cluster", error)
        return error

    def mend(self) -> None:
        self.looked = 0.0
        self.look_after()

    def look_after(self) -> None:
        now = time.monotonic()
        if now - self.looked < 1:
            return
        self.looked = now
        if self.client.status not in ("running", "connecting"):
            raise ClusterLost(self.address, "the scheduler is gone")
        try:
            found = self.client.status == "running" and self._count()
        except (OSError, RuntimeError):
            found = 0
        if found:
            self.seen = now
        elif now - self.seen > self.empty:
            raise ClusterLost(self.address, f"there has been no worker for {self.empty:.0f} seconds")

    def close(self, at_once: bool = False) -> None:
        self.client.close(timeout=2)


class _Call:
    """A call, made by whoever reads it from a pickle."""

    def __init__(self, work: Callable[..., Any], given: tuple[Any, ...]) -> None:
        self.work, self.given = work, given

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self.work, self.given


def _distributed() -> Any:
    """Dask's package, silent. Raises `ExtraMissing`."""
    import logging

    try:
        import distributed
    except ImportError:
        raise ExtraMissing("a Dask cluster", "cluster") from None
    # what matters of a cluster is told here in our words
    for name in ("distributed", "distributed.client", "distributed.comm", "distributed.core", "tornado", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    return distributed


def _refuse_unreachable(address: str, host: str, port: int, longest: float) -> None:
    """Raise `ClusterUnreachable` where no scheduler of Dask answers: its own client takes its time to say so."""
    import asyncio
    import socket

    rpc: Any = _distributed().rpc

    async def answer() -> Any:
        async with rpc(address, timeout=longest) as there:
            return await there.identity()

    try:
        socket.create_connection((host, port), longest).close()
    except OSError as error:
        raise ClusterUnreachable(address, _cause(error)) from None
    try:
        found = asyncio.run(asyncio.wait_for(answer(), longest))
        kind = str(found.get("type"))
    except Exception:  # whatever the words of a stranger are taken for
        raise ClusterUnreachable(address, "what answers there is no scheduler of Dask") from None
    if kind != "Scheduler":
        told = f"this is a {kind.lower()} of a cluster, and its scheduler is needed"
        raise ClusterUnreachable(address, told)


def _cause(error: BaseException) -> str:
    """Why there is no connection."""
    return getattr(error, "strerror", None) or str(error).partition("\n")[0] or "it does not answer"


def _outcome(future: Future[Any]) -> Any:
    error = future.exception()
    return error if error is not None else future.result()


def versions() -> dict[str, str]:
    """The versions that have to be the same on every machine."""
    from backprop import __version__

    return {"backprop": __version__, "Python": platform.python_version()}


def refuse_other_versions(worker: str, found: Mapping[str, str], asked: Mapping[str, str]) -> None:
    """Raise `ClusterDiffers` where a worker has other versions than are asked; of Python two numbers count."""
    for name, here in asked.items():
        there = found[name]
        same = there.split(".")[:2] == here.split(".")[:2] if name == "Python" else there == here
        if not same:
            raise ClusterDiffers(worker, f"has {name} {there}, and here it is {here}")


def _unlike(worker: str, error: BaseException) -> ClusterDiffers:
    """Why a worker cannot even load what it is to do."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.partition(".")[0]
        return ClusterDiffers(worker, f"has no {error.name}", f"Install the same {package} there as here.")
    return ClusterDiffers(worker, f"cannot run backprop: {error}")

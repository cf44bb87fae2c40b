"""The command `backprop`, and `python -m backprop`: the door that an interrupt leaves quietly from the first moment.

Before its first line Python itself starts, finds the package and may tell an interrupt in its own way; nothing of ours
runs there that could help it.
"""

# built into Python: `signal` would load modules before we listen
import _signal  # type: ignore[import-not-found]
import _thread
import gc
import os
import sys
import time

INTERRUPTED = 130  # as `cli.INTERRUPTED`, which is not loaded yet


def main() -> int:
    """Answer the command line. Returns the exit code."""
    # a shell may have told us to ignore it, and a program around us may listen itself
    is_ours = _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler
    if is_ours:
        _signal.signal(_signal.SIGINT, _leave_quietly)  # while modules are loading nothing is half written
        sys.unraisablehook = _heard_again
    from backprop.collector import SPARING

    gc.set_threshold(*SPARING)  # for the whole run, what is drawn included
    from backprop import cli

    try:
        try:
            if is_ours:
                _signal.signal(_signal.SIGINT, _signal.default_int_handler)
            code = cli.main()
        finally:
            if is_ours:
                _signal.signal(_signal.SIGINT, _leave_quietly)  # also while Python shuts down
    except KeyboardInterrupt:  # just before or just after the command, which leaves nothing half done
        code = INTERRUPTED
    if code == INTERRUPTED:
        os._exit(code)  # to give back the memory of a large program would take seconds
    if "pyarrow" in sys.modules:
        leave(code)
    return code


def _leave_quietly(*_: object) -> None:
    os._exit(INTERRUPTED)


def _heard_again(told: "sys.UnraisableHookArgs") -> None:
    """An interrupt that met Python in a callback or a `__del__`, from which nothing is raised, comes once more."""
    if issubclass(told.exc_type, KeyboardInterrupt):
        _thread.start_new_thread(_interrupt_soon, (_thread.get_ident(),))
    else:
        sys.__unraisablehook__(told)


def _interrupt_soon(main: int) -> None:
    time.sleep(0.001)  # at once it would meet the hook
    if hasattr(_signal, "pthread_kill"):
        _signal.pthread_kill(main, _signal.SIGINT)  # which also ends a wait
    else:
        _thread.interrupt_main()


def leave(code: int) -> None:
    """End the process at once. A thread of PyArrow that still reads ahead would abort one that ends in good order."""
    from contextlib import suppress

    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # whoever read it is gone
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())

"""The command `backprop`, and `python -m backprop`: the door that an interrupt leaves quietly from the first moment."""

import gc
import os
import sys

try:
    import signal  # which loads modules of Python itself
except KeyboardInterrupt:
    os._exit(130)


def main() -> int:
    """Answer the command line. Returns the exit code."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a shell may have told us to ignore it
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # while modules are loading nothing is half written
    from backprop.collector import SPARING

    gc.set_threshold(*SPARING)  # for the whole run, what is drawn included
    from backprop import cli

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    code = cli.main()
    if code == cli.INTERRUPTED:
        os._exit(code)  # to give back the memory of a large program would take seconds
    if "pyarrow" in sys.modules:
        leave(code)
    return code


def leave(code: int) -> None:
    """End the process at once. A thread of PyArrow that still reads ahead would abort one that ends in good order."""
    from contextlib import suppress

    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # whoever read it is gone
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())

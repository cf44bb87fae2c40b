"""The command line: from the words to the command that is asked, and from what happens to an exit code.

A line whose words can be told apart is answered before Typer and Rich are loaded; Typer brings the help and the shells'
completion scripts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TextIO

from backprop import bindings, commands, progress
from backprop.asked import FINE, Asked, Streams, discard, write_lines
from backprop.commands import Command
from backprop.mistakes import CannotWrite, Mistake, NotANumber, TooDeep, UnknownCommand

# A mistake tells its own code (2, or 3 where nothing is defined), and so does every answer (1 where a check disagrees).
OUR_FAULT, INTERRUPTED = 70, 130

SAYS = "Trace how a result is computed, and how it moves with each of its inputs."


def run(words: Sequence[str], streams: Streams) -> int:
    """Answer one command line. Raises `Mistake`."""
    first = words[0] if words else "--help"
    if first == "--version":
        from backprop import __version__

        write_lines(streams.stdout, [f"backprop {__version__}"])
        return FINE
    if first in ("--show-completion", "--install-completion"):
        from backprop import completion

        return completion.script(first, words[1:], streams.stdout)
    if first in ("-h", "--help", "help"):
        about = [word for word in words[1:2] if not word.startswith("-")]
        if about and about[0] not in commands.names():
            raise UnknownCommand(about[0], commands.names())
        return show_help(about, streams)
    try:
        found = commands.by_name(first)
    except KeyError:
        raise UnknownCommand(first, commands.names()) from None
    return run_command(found, words[1:], streams)


def run_command(found: Command, words: Sequence[str], streams: Streams) -> int:
    if asks_for_help(words):
        return show_help([found.name], streams)
    try:
        split = bindings.split(words, found.options, found.binds)
    except NotANumber as mistake:
        known = [one.name for one in commands.every() if any(option.name == mistake.name for option in one.options)]
        if known:
            mistake.repair = f"--{mistake.name} is an option of backprop {', '.join(known)}, not of {found.name}."
        raise
    return found.run(Asked(found, split, streams))


def asks_for_help(words: Sequence[str]) -> bool:
    """Whether --help or -h stands where it is no value and no expression after `--`."""
    before = list(words[: words.index("--")] if "--" in words else words)
    return any(word in ("-h", "--help") for word in before)


def show_help(words: list[str], streams: Streams) -> int:
    from backprop import application

    return application.show_help(words, streams.stdout)


def tell(mistake: Mistake, streams: Streams) -> int:
    """Draw a mistake on stderr; the exit code that belongs to it."""
    from backprop.render.look import Look
    from backprop.render.mistakes import lines

    progress.results_follow()
    try:
        write_lines(streams.stderr, lines(mistake, Look.of(streams.stderr)))
    except OSError:  # a full disk or a reader that is gone: the exit code is all that can be told
        discard(streams.stderr)
    return mistake.exit_code


def main(
    argv: Sequence[str] | None = None,
    stdin: TextIO | None = None,
    stdout: TextIO | None = None,
    stderr: TextIO | None = None,
) -> int:
    """The command `backprop`. Returns the exit code; nothing that a user can type gives a traceback."""
    words = sys.argv[1:] if argv is None else list(argv)
    sys.set_int_max_str_digits(0)  # a number may have as many digits as its writer likes, and so may a count of paths
    streams = Streams(stdin or sys.stdin, _writable(stdout or sys.stdout), _writable(stderr or sys.stderr))
    try:
        with progress.watching(streams.stderr):
            return _answered(words, streams)
    except KeyboardInterrupt:
        discard(streams.stdout)  # what is still in the buffer may meet a reader that is gone as well
        return INTERRUPTED
    except BrokenPipeError:
        # whoever read has seen enough; what is still in the buffer goes nowhere, also when Python shuts down
        for stream in (streams.stdout, streams.stderr):
            discard(stream)
        return FINE


def _answered(words: Sequence[str], streams: Streams) -> int:
    try:
        if "_BACKPROP_COMPLETE" in os.environ:
            from backprop import completion

            return completion.answer(os.environ, streams.stdout)
        code = run(words, streams)
        streams.stdout.flush()
        return code
    except Mistake as mistake:
        return tell(mistake, streams)
    except RecursionError:
        return tell(TooDeep("stack"), streams)
    except MemoryError:
        return tell(TooDeep("memory"), streams)
    except BrokenPipeError:
        raise
    except OSError as error:  # a full disk under stdout
        discard(streams.stdout)
        return tell(CannotWrite("stdout", error.strerror or str(error)), streams)
    except Exception as error:
        if _began_as_interrupt(error):
            raise KeyboardInterrupt from None
        if os.environ.get("BACKPROP_DEBUG"):
            raise
        streams.stderr.write(
            f"backprop has a fault: {type(error).__name__}: {error}\n"
            "The line you typed is not to blame. BACKPROP_DEBUG=1 before it shows where the fault is.\n"
        )
        return OUR_FAULT


def _began_as_interrupt(error: BaseException | None) -> bool:
    """Whether an error is what became of an interrupt: one that comes while Python makes a class is a RuntimeError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _writable(stream: TextIO | None) -> TextIO:
    """A stream that takes any letter: what its encoding cannot carry is written \\u03b1. A closed one takes all."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    return stream

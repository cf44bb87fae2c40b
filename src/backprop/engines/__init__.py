"""Engines: value, partials, adjoints and their errors of a large program in double precision, by one walk each way.

A tape is a program that walks over a graph: forward once, putting value and partials beside every node and edge, and
back once. Its source is written from the rows of the table (`tape`), so that a new row works here with nothing else to
touch, and it calls what kind real calls in the same order: the same bits. `plain` runs it in Python, `fast` compiles it
with numba. A tape answers for ordinary points only, where everything is finite; elsewhere it declines, and the engines
that are right about everything (`values`, `rules`, `reverse`, `accuracy.rounding`) take over.

    shapes, statements                     what a row works out, as lines of a program
    walks, bare_walks, careful_walks       loops about them: numbers alone, or with what they may be wrong by
    trials, methods                        what the loops call
    tape                                   the whole source
    columns                                what a tape fills
    plain, fast                            a tape that runs, in Python or compiled
    sweeps                                 a program at a point by one of them, as the general engines would hand it on
"""

from __future__ import annotations

from backprop.mistakes import OptionValue

ENGINES = ("auto", "plain", "fast")


def check_engine(engine: str) -> None:
    """Raise `OptionValue` for an engine that there is not, `ExtraMissing` where numba is needed and not installed."""
    if engine not in ENGINES:
        raise OptionValue("engine", engine, f"One of {', '.join(ENGINES)}.")
    if engine == "fast":
        from backprop.engines.fast import require

        require()

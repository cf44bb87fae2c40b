"""Notebooks: how a trace shows itself in IPython and Jupyter, and the magic `%backprop`.

    %load_ext backprop
    %backprop trace "x*y" --x 3 --y 2

A line is what stands behind `backprop` in a shell; `%%backprop` takes the program from the cell. Values that are not
given are those of the notebook's own variables. `trace` gives the Trace; every other command prints what it prints.
IPython is not imported here: it hands itself over.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from backprop import bindings, cli, commands
from backprop.asked import VIEWS, Asked, Streams
from backprop.mistakes import MissingValue, Mistake, TooDeep, TooLargeToDraw
from backprop.numerals import numeral
from backprop.record import Trace

PLAIN, LATEX, HTML = "text/plain", "text/latex", "text/html"


def shown(
    trace: Trace, include: Collection[str] | None = None, exclude: Collection[str] | None = None
) -> dict[str, str]:
    """A trace as what a notebook can show, by media type: the working as text, and where there is room for more the
    derivation in LaTeX and the page.

    `include` and `exclude` are the types that are asked for and those that are not wanted.
    """
    from backprop import render
    from backprop.render.look import Look

    def wanted(sort: str) -> bool:
        return (include is None or sort in include) and (exclude is None or sort not in exclude)

    trace.settle()
    look, terminal = Look.of(sys.stdout, trace.figures), sys.stdout.isatty()
    found: dict[str, str] = {}
    if wanted(PLAIN):
        found[PLAIN] = "\n".join(render.by_name("table").render(trace, look))
    if terminal:  # which shows text alone
        return found
    from backprop.render.drawing import refuse_too_large

    with suppress(TooLargeToDraw):  # and no browser sets thousands of formulas either
        refuse_too_large(trace)
        if wanted(LATEX):
            found[LATEX] = "\n".join(render.by_name("latex").render(trace, look))
        if wanted(HTML):
            from backprop import page

            found[HTML] = page.fragment(trace, look)
    return found


class _Kept(Asked):
    """A command asked in a notebook: a trace that goes to no file and in no format is kept, to show itself."""

    __slots__ = ("trace",)
    trace: Trace | None

    def show_trace(self, trace: Trace, usual: str = "table") -> None:
        """Keep the trace; write it only where somebody says how, or it would be a drawing."""
        if usual != "table" or not self.words.options.keys().isdisjoint(("format", "output", *VIEWS)):
            super().show_trace(trace, usual)
            return
        trace.settle()
        self.trace = trace


def answer(words: Sequence[str], variables: Mapping[str, Any]) -> Trace | None:
    """Answer the words of a command line: with a trace, or by printing.

    `variables` are those of the notebook, from which come the values that the words do not give. A mistake is told on
    stderr, as it is in a shell.
    """
    streams = Streams(None, sys.stdout, sys.stderr)
    asked = list(words)
    try:
        while True:
            try:
                return _answered(asked, streams)
            except MissingValue as mistake:
                more = _values(mistake.missing, variables)
                if not more:
                    raise
                asked[1:1] = more
    except Mistake as mistake:
        cli.tell(mistake, streams)
    except RecursionError:
        cli.tell(TooDeep("stack"), streams)
    return None


def _answered(words: list[str], streams: Streams) -> Trace | None:
    """The trace that a command line gives, if it gives one; everything else is printed. Raises `Mistake`."""
    first = words[0] if words else "--help"
    if first not in commands.names() or cli.asks_for_help(words):
        cli.run(words, streams)
        return None
    command = commands.by_name(first)
    kept = _Kept(command, bindings.split(words[1:], command.options, command.binds), streams)
    kept.trace = None
    command.run(kept)
    return kept.trace


def _values(names: Sequence[str], variables: Mapping[str, Any]) -> list[str]:
    """Words that give names the values of variables, for those that are numbers or arrays."""
    found = []
    for name in names:
        value = variables.get(name)
        if value is None or isinstance(value, (str, bytes, bool)):
            continue
        try:
            found.append(f"{name}={numeral(value, name)}")
        except (Mistake, TypeError, ValueError):  # something else is called so
            continue
    return found


def words_of(line: str, cell: str | None = None) -> list[str]:
    """The words of a magic: the line as a shell takes it apart, and the program in the cell behind them.

    >>> words_of('trace "x*y" --x 3'), words_of("--x 3", "x^2")
    (['trace', 'x*y', '--x', '3'], ['trace', '--x', '3', '--', 'x^2'])
    """
    try:
        words = shlex.split(line)
    except ValueError:  # a quotation mark that is alone: the program is not readable, and says so
        words = line.split()
    if cell is None:
        return words
    if not words or words[0].startswith("-") or "=" in words[0]:
        words.insert(0, "trace")
    return [*words, "--", cell]


def load(shell: Any) -> None:
    """Put the magics into a shell of IPython: what `%load_ext backprop` does."""

    def backprop(line: str, cell: str | None = None) -> Trace | None:
        """A command of backprop: %backprop trace "x*y" --x 3 --y 2, or the program in the cell below %%backprop."""
        return answer(words_of(line, cell), shell.user_ns)

    shell.register_magic_function(backprop, "line_cell", "backprop")

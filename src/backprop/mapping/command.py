"""The command `map` between its words and its rows: what is asked of a table, and what is told of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from backprop import progress
from backprop.bindings import split
from backprop.figures import json_value
from backprop.mapping import tables
from backprop.mapping.counts import Counts
from backprop.mapping.plan import Plan
from backprop.mapping.run import Outcome
from backprop.mapping.tables import Layout, Reader
from backprop.mistakes import GivenTwice, OptionValue

FORMAT, VERSION = "backprop-map", 1
# Seconds after which it is told what took them.
LONG = 10.0
# Bytes of a cell of text, about.
LETTERS = 10


def settings(text: str) -> dict[str, str]:
    """The numbers in `--set w=2 --set b=1/3`. Raises `OptionValue` and what reading a number does."""
    found: dict[str, str] = {}
    for part in text.split(";"):
        words = split([part.strip()], ())
        if words.positional or not words.given:
            raise OptionValue("set", part, "A name and its number: --set w=2")
        for name, value in words.given.items():
            if name in found:
                raise GivenTwice(name)
            found[name] = value
    return found


def format_of_output(path: str, chosen: str) -> str:
    """The format of the rows: as chosen, or as the file of -o ends; "" where that tells nothing.

    Raises `UnknownFormat`.
    """
    tells_nothing = path == "-" or os.path.splitext(path)[1] in ("", ".txt")
    return chosen or ("" if tells_nothing else tables.format_of_path(path))


def format_like(source: str) -> str:
    """The format of rows on stdout, where none is chosen: text, as that of the data where that is text."""
    return source if source in ("csv", "ndjson") else "csv"


def rows_about(reader: Reader, paths: Sequence[str]) -> int | None:
    """How many rows a table has in all of its files, about; None of a stream."""
    if not all(os.path.isfile(path) for path in paths):
        return None
    size, first = sum(map(os.path.getsize, paths)), os.path.getsize(paths[0])
    if reader.rows is not None:
        return reader.rows * size // max(1, first)
    return size // (LETTERS * max(1, len(reader.names)))


def layout_of_output(path: str, layout: Layout) -> Layout:
    """How text is written: like the data, but with tabs in a file that ends in .tsv, and without them in one that ends
    in .csv."""
    stem = path.lower().removesuffix(".gz")
    if stem.endswith((".tsv", ".tab")):
        return replace(layout, separator="\t")
    if stem.endswith(".csv") and layout.separator == "\t":
        return replace(layout, separator=";" if layout.decimal == "," else ",")
    return layout


def record(plan: Plan, outcome: Outcome, mean: bool) -> dict[str, Any]:
    """The sums over all rows, or the means, as a record of plain values."""
    totals = outcome.totals
    assert totals is not None
    found = {
        "format": FORMAT,
        "version": VERSION,
        "program": plan.text,
        "of": "mean" if mean else "sum",
        "output": plan.output,
        "rows": outcome.counts.rows,
        "answered": totals.answered,
    }
    value = totals.number("", mean)
    if value is None:  # the mean of no rows
        return found | {"gradient": {}}
    return found | {
        "value": json_value(value),
        "gradient": {name: json_value(totals.number(name, mean)) for name in plan.wrt},
    }


def told(plan: Plan, counts: Counts, can_share: Callable[[], bool] = lambda: False) -> Iterator[str]:
    """What a reader of the columns has to know. `can_share` tells whether --jobs would have something to do."""
    if counts.engine_remark:
        yield f"note: {counts.engine_remark}"
    for column, (row, text) in counts.rounded.items():
        yield (
            f"note: column {column} has whole numbers that no double is equal to, the first in row {row}: {text}; "
            "the nearest doubles were taken"
        )
    if counts.seconds > LONG and plan.engine != "plain":
        better = "loses no digits" if plan.careful else "does not overflow on the way"
        most = counts.undefined * 2 > counts.careful  # of them have no answer, whatever the expression
        advice = "" if most else f"; most often an expression that {better} needs none"
        shares = ", which --jobs shares out" if can_share() else ""
        yield f"note: {counts.careful} rows needed care and took {counts.seconds:.0f} s, one by one{shares}{advice}"
    if counts.lost is not None:
        lost, mends = counts.lost, "--engine plain" if plan.careful else "--careful"
        yield (
            f"note: doubles lose digits here: in row {lost.row} they give {lost.of} = {lost.kernel!r}, and with more "
            f"digits it is {lost.answer!r}; {mends} works such rows out with as many digits as they need"
        )
    if counts.first_remark is not None:
        row, text = counts.first_remark
        where = f"a remark in column {plan.note}; the first is row {row}"
        yield f"note: {_rows(counts.remarked, counts.rows)} {where}: {text}"
    if counts.first is not None:
        row, text = counts.first
        yield f"{_rows(counts.undefined, counts.rows)} no answer; the first is row {row}: {text}"


def _rows(count: int, of: int) -> str:
    return f"{count} of {of} row{'s' if of != 1 else ''} {'have' if count != 1 else 'has'}"


def watched(found: Iterable[Any], rows: int | None) -> Iterable[Any]:
    """What comes by with some `rows` each, of so many in all; a terminal shows how far it is."""
    progress.phase("rows", total=rows or 0)
    return progress.each(found, size=lambda one: int(one.rows))


def exit_code(counts: Counts, agree: Sequence[bool]) -> int:
    """1 when a witness disagrees, 3 when a row has no answer, else 0."""
    return 1 if not all(agree) else 3 if counts.undefined else 0

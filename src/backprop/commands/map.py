"""Value and gradient for every row of a table."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO

from backprop import bindings, progress
from backprop.asked import Asked
from backprop.bindings import Option
from backprop.commands import FIGURES, OUT, PLAIN, QUESTION, command, one_of
from backprop.mistakes import Apart, CannotRead, CannotWrite, GivenTwice, OneAtATime, WordMissing

if TYPE_CHECKING:
    from backprop.mapping.plan import Plan
    from backprop.mapping.run import Outcome
    from backprop.mapping.tables import Layout, Source
    from backprop.point import Program

MOST_JOBS = 1024
# Rows that the witnesses are asked about, at a good part of a second each.
MOST_CHECKED = 10_000


def table_formats() -> list[str]:
    """The formats of tables that rows can be read from and written in."""
    from backprop.mapping.tables import formats

    return [one.name for one in formats()]


def engine_names() -> list[str]:
    """What can work out rows."""
    from backprop.mapping.kernels import ALSO, ENGINES

    return [*ENGINES, *ALSO]


@command(
    "EXPRESSION DATA",
    Option("wrt", "whose derivatives are asked for: x,y (the columns; of sums the other inputs)", "NAMES", many=True),
    Option("set", "the number of an input that is no column: w=2; --w 2 does it too", "NAME=VALUE", many=True),
    Option("value-only", "no derivatives"),
    Option("keep", "the columns that are carried over: id,x or none (all)", "COLUMNS", many=True),
    Option("sum", "the sums of value and gradient over all rows in place of the rows; exact, and rounded once"),
    Option("mean", "their means"),
    Option(
        "on-error",
        "what comes of a row without an answer: note, and exit code 3, or fail (note)",
        "HOW",
        one_of("note", "fail"),
    ),
    Option("check-rows", "let every witness judge K rows, picked at random", "K"),
    Option("jobs", "do the parts of a large table in N processes; 0 for one on each core (1)", "N"),
    Option("cluster", "do them on the workers of this Dask cluster: tcp://10.0.0.5:8786", "ADDRESS"),
    Option("resume", "go on with a table in the folder of -o; parts that are whole are not done again"),
    Option(
        "engine",
        "what works the rows out; plain: one by one as grad does; fast: numba (auto)",
        "ENGINE",
        engine_names,
    ),
    Option("careful", "rows in which rounding may have left fewer than 11 digits are worked out as grad does"),
    Option("from", "the format of the data, where its name does not tell", "FORMAT", table_formats),
    Option("to", "the format of the rows; -o FILE chooses by the ending", "FORMAT", table_formats),
    Option("separator", "what stands between the cells of CSV: , ; tab (as in the line of names)", "SIGN"),
    Option("decimal", "what stands before the decimals in CSV (.)", "SIGN", one_of(".", ",")),
    FIGURES,
    *QUESTION,
    PLAIN,
    OUT,
    examples=(
        'backprop map "(w*x + b - y)^2" points.csv --w 2 --b 0.5 -o losses.parquet',
        'backprop map "(w*x + b - y)^2" points.csv --w 2 --b 0.5 --mean',
        'zcat big.csv.gz | backprop map "log(x)*y" - --value-only --keep id',
        'backprop map "log(x)*y" "trades/*.parquet" -o slopes/ --jobs 0 --resume',
    ),
)
def answer(asked: Asked) -> int:
    """Work out value and gradient for every row of a table: CSV, NDJSON, Parquet or Arrow.

    The columns are the inputs of their names. Rows are written with their columns, the value, the derivatives d_x and
    a note, which says why where there is no answer; the exit code is 3 then. A folder or a pattern such as "*.parquet"
    is one table in many files, and -o FOLDER/ writes one.
    """
    from backprop.mapping import command as mapping
    from backprop.mapping import run
    from backprop.mapping.kernels import ALSO
    from backprop.mapping.partitions import files
    from backprop.mapping.plan import plan as planned
    from backprop.mapping.sample import checked
    from backprop.mapping.tables import Source

    words = asked.words
    whole, path = words.flag("sum") or words.flag("mean"), words.text("output", "-")
    _refuse_apart(asked)
    program, data, given = _question(asked)
    decimal = words.text("decimal", ".")
    stdin = getattr(asked.streams.stdin, "buffer", None)
    paths = files(data)
    source = Source(paths[0], words.text("from"), words.text("separator"), decimal, stdin)
    folder = path.endswith(("/", os.sep)) or os.path.isdir(path)
    format = words.text("to", "parquet") if folder else mapping.format_of_output(path, words.text("to"))
    reader = source.reader()
    plan = planned(
        program,
        reader.names,
        given,
        wrt=words.names("wrt"),
        value_only=words.flag("value-only"),
        keep=[] if whole else words.names("keep"),
        engine=ALSO.get(words.text("engine"), words.text("engine", "auto")),
        careful=words.flag("careful"),
        decimal=decimal,
        whole=whole,
        rows=mapping.rows_about(reader, paths),
    )
    for remark in plan.remarks:
        asked.say(f"note: {remark}")
    layout = mapping.layout_of_output(path, reader.layout)
    stop, sampled = words.text("on-error") == "fail", words.count("check-rows", 0, most=MOST_CHECKED)
    format = "" if whole else format or mapping.format_like(source.format)
    sink: BinaryIO | str | None = None if whole and not folder else path
    if path == "-" and not whole:
        sink = _standard_output(asked, format)
    sources: list[Source] = []
    if source.is_file:
        sources = [replace(source.part(), path=path, format=words.text("from")) for path in paths]
        outcome = _in_parts(asked, plan, sources, layout, sink, format, folder, stop, sampled)
    elif folder or any(option in words.options for option in ("cluster", "resume")):
        raise CannotRead(
            "stdin", "a stream cannot be cut into parts", "Name files: -o FOLDER, --cluster and --resume need them."
        )
    else:
        batches = mapping.watched(reader.batches(plan.wanted), reader.rows)
        if sink is None:
            outcome = run.lead(plan, batches, None, stop=stop, check_rows=sampled)
        else:
            outcome = run.map_table(plan, batches, sink, format, layout, stop=stop, check_rows=sampled)
    agree = []
    for one in checked(plan, outcome.sample.rows):
        asked.say(f"check of row {one.row}: {one.text}")
        agree.append(one.agrees)

    def can_share() -> bool:
        from backprop.mapping import gathering

        alone = words.count("jobs", 1, 0, MOST_JOBS) == 1 and "cluster" not in words.options
        return alone and gathering.can_share(plan, sources, folder)

    for line in mapping.told(plan, outcome.counts, can_share):
        asked.say(line)
    if whole:
        record = mapping.record(plan, outcome, words.flag("mean"))
        if asked.json:
            asked.show_record(record)
        else:
            from backprop.render.map import render

            asked.show(render(record, asked.look))
    return mapping.exit_code(outcome.counts, agree)


def _in_parts(
    asked: Asked,
    plan: Plan,
    sources: Sequence[Source],
    layout: Layout,
    sink: BinaryIO | str | None,
    format: str,
    folder: bool,
    stop: bool,
    sampled: int,
) -> Outcome:
    """What becomes of a table that is done part by part, wherever they are done."""
    from backprop.mapping import command as mapping
    from backprop.mapping import gathering

    words, path = asked.words, asked.words.text("output", "-")
    if words.flag("resume") and not folder:
        raise WordMissing("--resume needs the folder that it goes on in", "Parts are in a folder: -o FOLDER/")
    jobs = words.count("jobs", 1, 0, MOST_JOBS)
    parts = gathering.cut(plan, sources, jobs, bool(words.text("cluster")), folder)
    job = gathering.Job(
        plan,
        parts,
        format,
        gathering.layout_of(plan, parts, format, layout),
        stop,
        sampled,
        mapping.watched,
    )
    crew = gathering.crew_for(jobs, words.text("cluster"), len(parts))
    if folder:
        if not format:
            del words.options["output"]  # the sums are shown, those of the parts are in the folder
        return gathering.to_folder(job, crew, path, words.flag("resume"))
    return gathering.to_sums(job, crew) if sink is None else gathering.to_stream(job, crew, sink)


def _refuse_apart(asked: Asked) -> None:
    """Raise `OneAtATime` for options of which one leaves nothing for the other to do."""
    words = asked.words
    of = next((f"--{one}" for one in ("sum", "mean") if words.flag(one)), "")
    if words.flag("sum") and words.flag("mean"):
        raise OneAtATime(["--sum", "--mean"])
    if "jobs" in words.options and "cluster" in words.options:
        raise OneAtATime(["--jobs", "--cluster"])
    for option in ("to", "keep"):
        if of and option in words.options:
            raise OneAtATime([f"--{option}", of])
    for option, instead in (("format", "The format of rows is --to FORMAT."), ("figures", "Rows have every digit.")):
        if not of and option in words.options:
            raise Apart([f"--{option}", "rows"], f"It is for --sum and --mean. {instead}")
    if words.flag("value-only") and "wrt" in words.options:
        raise OneAtATime(["--value-only", "--wrt"])


def _question(asked: Asked) -> tuple[Program, str, dict[str, Any]]:
    """The program, the name of the table it is to meet, and the numbers of what is no column."""
    from backprop.mapping.command import settings
    from backprop.point import Program

    words = asked.words
    found = words.positional
    data = found.pop() if len(found) > (not words.text("file")) else ""
    if not data and (found or words.text("file")):
        raise WordMissing("map needs a table besides the expression", 'Write: backprop map "x^2" data.csv')
    if found and os.path.exists(found[0]) and not (data == "-" or glob.glob(data)):
        raise WordMissing(
            f"the expression stands before the table, and {found[0]} is the table",
            f'Write: backprop map "{data}" {found[0]}',
        )
    text, origin = asked.text()
    if data == "-" and origin == "stdin":
        raise OneAtATime(["- for the expression", "- for the table"])
    given: dict[str, Any] = bindings.point_file(words.text("at")) if words.text("at") else {}
    given |= words.given
    for name, value in (settings(words.text("set")) if "set" in words.options else {}).items():
        if name in words.given:
            raise GivenTwice(name)
        given[name] = value
    return Program(text, origin), data, given


def _standard_output(asked: Asked, format: str) -> BinaryIO:
    """Stdout, for bytes. Raises `CannotWrite` for bytes that a terminal cannot show."""
    stream = asked.streams.stdout
    if stream.isatty() and format not in ("csv", "ndjson"):
        raise CannotWrite("stdout", f"{format} is nothing to look at: -o FILE, --to csv, or a pipe")
    if stream.isatty():
        progress.results_follow()
    stream.flush()
    return stream.buffer

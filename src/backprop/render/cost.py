"""What a program costs: a row for each way to its derivatives, what a pass is made of, and which mode wins."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING

from backprop.figures import whole
from backprop.render.asked_for import statements
from backprop.render.csv import csv_line
from backprop.render.look import Look
from backprop.render.tables import paragraph, table

if TYPE_CHECKING:
    from backprop.costs import CostReport, Part, PathCost, Way

FORMATS = ("table", "json", "csv", "markdown")
INDENT = "  "

NAMES = {"value": "value", "reverse": "reverse mode", "forward": "forward mode", "paths": "path by path"}
UNITS = {"pass": "passes", "evaluation": "evaluations", "term": "terms"}
MINUTE, HOUR, DAY, YEAR = 60, 3600, 86_400, 31_557_600

# What value and gradient cost in values at most, as the principle says it.
CHEAP = 5
PRINCIPLE = (
    "the cheap gradient principle (Baur and Strassen 1983; Griewank and Walther, Evaluating Derivatives) promises "
    "about 4 to 5 at most, however many inputs there are"
)
OPERATIONS = (
    "operations: sums and products of two numbers; functions count as backprop ops NAME tells, factors of 1 are free"
)
MEMORY = "kept: the numbers held at once, 8 bytes each"
PEAK = "peak: the most that Python held for one run or pass, beside what was given (tracemalloc)"


def render(report: CostReport, look: Look, format: str = "table") -> Iterator[str]:
    """The lines, without line ends."""
    if format == "csv":
        return map(look.letters, map(csv_line, _csv(report)))
    if format == "markdown":
        return map(look.letters, _markdown(report, look))
    return _table(report, look)


def _table(report: CostReport, look: Look) -> Iterator[str]:
    yield from paragraph(look, "; ".join(statements(report.canonical.split("; "))), "heading", INDENT)
    yield from paragraph(look, sizes(report), indent=INDENT)
    yield ""
    roles = ["name", None, "value", None, "value", None, None, None]
    columns, rows = ways(report, look)
    yield from table(look, "Value and derivatives", columns, rows, roles=roles)
    yield ""
    columns, rows = parts(report, look)
    yield from table(look, "What they are made of", columns, rows, roles=["name", None, "value"])
    yield ""
    for text in remarks(report, look):
        yield from paragraph(look, text, indent=INDENT)
    timed = report.part("value").seconds is not None
    yield from paragraph(look, OPERATIONS, "quiet", INDENT)
    yield from paragraph(look, f"{MEMORY}; {PEAK}" if timed else MEMORY, "quiet", INDENT)
    yield ""
    yield from paragraph(look, report.conclusion, "good", INDENT)


def sizes(report: CostReport) -> str:
    """How many numbers go in and come out."""
    told = [name if not shape else f"{name} {_shape(shape)}" for name, shape in report.shapes.items()]
    if len(told) > 8:
        told = [*told[:6], "...", told[-1]]
    names = f" ({', '.join(told)})" if told else ""
    return f"{_many(report.inputs, 'input number')}{names}, {_many(report.outputs, 'output number')}"


def _shape(shape: tuple[int, ...]) -> str:
    return str(tuple(shape))


def _many(count: int, word: str) -> str:
    return f"{quantity(count)} {word}" + ("" if count == 1 else "s")


def ways(report: CostReport, look: Look) -> tuple[list[str], list[list[str]]]:
    """The columns and the rows of the ways; without times where none were taken."""
    timed = report.part("value").seconds is not None
    columns = ["way", "runs", "operations", "per value", *(["time", "per value"] if timed else []), "kept"]
    columns += ["peak"] if timed else []
    return columns, [_way(way, look, timed) for way in report.ways]


def _way(way: Way, look: Look, timed: bool) -> list[str]:
    row = [NAMES.get(way.name, way.name), f"{quantity(way.runs)} {way.unit if way.runs == 1 else UNITS[way.unit]}"]
    row += [quantity(way.operations), _ratio(way.ratio)]
    if timed:
        row += [_time(way), _ratio(way.time_ratio)]
    row.append(memory(way.kept))
    if timed and way.peak is not None:
        row.append(memory(way.peak))
    return row


def parts(report: CostReport, look: Look) -> tuple[list[str], list[list[str]]]:
    """The columns and the rows of the parts."""
    timed = report.part("value").seconds is not None
    columns = ["part", "runs", "operations", "per input number", *(["time"] if timed else [])]
    return columns, [_part(part, timed) for part in report.parts]


def _part(part: Part, timed: bool) -> list[str]:
    row = [part.name, quantity(part.runs), quantity(part.operations), _ratio(part.each)]
    return [*row, "" if part.seconds is None else duration(part.seconds)] if timed else row


def remarks(report: CostReport, look: Look) -> Iterator[str]:
    """What is to be said of paths and of the gradient."""
    if report.paths is not None:
        yield _paths(report.paths)
    elif report.paths_missing:
        yield f"path by path: not counted, {report.paths_missing}"
    if report.gradient_ratio is not None and report.inputs:
        told = f"value and gradient cost {_ratio(report.gradient_ratio)} values as counted"
        if report.measured_ratio is not None:
            told += f", {_ratio(report.measured_ratio)} as measured"
        yield f"{told}; {PRINCIPLE}"
        if report.gradient_ratio > CHEAP:
            yield "here it is more, for each rule is worked out by itself and shares nothing with the others"


def _paths(paths: PathCost) -> str:
    listed = _both(paths.multiplications, paths.additions)
    factored = _both(paths.factored_multiplications, paths.factored_additions)
    return f"path by path: {_many(paths.terms, 'term')}, {listed}; factored, as one reverse sweep does it: {factored}"


def _both(multiplications: int, additions: int) -> str:
    return f"{_many(multiplications, 'multiplication')} and {_many(additions, 'addition')}"


# -- numbers with their units ------------------------------------------------------------------------------------------


def quantity(count: int) -> str:
    """A whole number, rounded where it has more digits than anybody counts.

    >>> quantity(2000999), quantity(3**60)
    ('2000999', '≈4.239e+28')
    """
    return str(count) if count < 10**15 else f"≈{Decimal(count):.4g}"


def _ratio(ratio: float | None) -> str:
    """A ratio to three digits, all digits of what is larger."""
    if ratio is None:
        return ""
    if ratio >= 10**15:
        return quantity(int(ratio))
    return str(round(ratio)) if ratio >= 1000 else f"{ratio:.3g}"


def _time(way: Way) -> str:
    if way.seconds is not None:
        return duration(way.seconds)
    return "" if way.estimate is None else f"not run: about {duration(way.estimate, 2)}"


def duration(seconds: float, figures: int = 3) -> str:
    """A time in the unit that suits it.

    >>> duration(2.5e-6), duration(0.0417), duration(10_500, 2), duration(3**200, 2)
    ('2.5 µs', '41.7 ms', '2.9 h', '8.4e+87 years')
    """
    for unit, size, most in (("µs", 1e-6, 1e-3), ("ms", 1e-3, 1), ("s", 1, 100), ("min", MINUTE, HOUR),
                             ("h", HOUR, 2 * DAY), ("days", DAY, YEAR)):  # fmt: skip
        if seconds < most:
            found = float(f"{seconds / size:.{figures}g}")
            return f"{found:.0f} {unit}" if found >= 100 or found.is_integer() else f"{found:g} {unit}"
    return f"{Decimal(int(seconds)) / YEAR:.{figures}g} years"


def memory(count: int) -> str:
    """Bytes in the unit that suits them.

    >>> memory(800), memory(16_016), memory(78_400_000)
    ('800 B', '16 kB', '78.4 MB')
    """
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"


# -- other formats -----------------------------------------------------------------------------------------------------

COLUMNS = ["way", "runs", "unit", "operations", "per value", "seconds", "seconds per value"]
COLUMNS += ["estimated seconds", "kept bytes", "peak bytes"]


def _csv(report: CostReport) -> Iterator[list[str]]:
    """The ways, then the parts, all digits."""
    yield COLUMNS
    for way in report.ways:
        told = [way.operations, way.ratio, way.seconds, way.time_ratio, way.estimate]
        yield [way.name, _cell(way.runs), way.unit, *map(_cell, [*told, way.kept, way.peak])]
    for part in report.parts:
        told = [part.operations, None, part.seconds]
        yield [part.name, _cell(part.runs), "part", *map(_cell, told), "", "", "", ""]


def _cell(value: float | str | None) -> str:
    if value is None:
        return ""
    return whole(value) if isinstance(value, int) else str(value)


def _markdown(report: CostReport, look: Look) -> Iterator[str]:
    yield f"# What {report.output} costs"
    yield ""
    yield f"{sizes(report)}."
    for title, (columns, rows) in (("Value and derivatives", ways(report, look)), ("Parts", parts(report, look))):
        yield from ("", f"## {title}", "")
        yield _line(columns)
        yield _line(["---"] * len(columns))
        yield from (_line([*row, *[""] * (len(columns) - len(row))]) for row in rows)
    yield ""
    yield from (f"- {text}" for text in remarks(report, look))
    yield ""
    yield f"**{report.conclusion}**"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"

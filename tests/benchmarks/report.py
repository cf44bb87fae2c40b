"""The report: the budgets with what was measured beside them, then a table and a plot for each subject."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness import HERE, Budget, Found, NotMeasured, Subject

OWN = ["#b8442f", "#e08e45", "#7a1f1f", "#c9a227"]  # the colours of this program's lines
REMARKS = HERE / "remarks.toml"  # an honest word on budgets that are not met, by their keys

HEAD = """# Benchmarks

Written by `python tests/benchmarks/run.py`. The contenders of a table take turns, so that a machine that slows down
slows all of them alike; figures are medians over the rounds. Those of other machines differ, the ratios less so: that
is why a budget is a ratio where it can be. A contender that is missing, fails, takes too long or gives another answer
keeps its row. Rows of this program are bold. What runs again and again in one process has one core, and its time is
that of the processor; two cores, and whole commands, are timed by the clock on the wall and suffer from whatever else
the machine does: its load before a subject was measured is told under its tables. AADC, which would be a peer, is not
measured: its licence does not allow figures to be published.
"""


def write(subjects: Sequence[Subject], found: Mapping[str, Found], folder: Path) -> None:
    """`report.md` and its plots; subjects that were not measured are named too."""
    lines = [HEAD]
    lines += ["## Budgets", "", *budgets(subjects, found), ""]
    for subject in subjects:
        known = found.get(subject.name)
        lines += [f"## {subject.title}", "", subject.says, ""]
        if known is None:
            lines += [f"Not measured yet: `python tests/benchmarks/run.py {subject.name}`.", ""]
            continue
        lines += [*table(subject, known), ""]
        if subject.memory is not None and len(known.sizes) > 1 and not known.quick:
            lines += [f"{subject.memory}:", "", *memory(subject, known), ""]
        lines += [*plots(subject, known, folder), *circumstances(known), ""]
    (folder / "report.md").write_text("\n".join(lines), encoding="utf-8")


def circumstances(found: Found) -> Iterator[str]:
    """When, on what, with which versions."""
    quick = " Quick run: small sizes, two rounds; no figure to go by." if found.quick else ""
    machine = "; ".join(f"{key} {value}" for key, value in found.machine.items())
    versions = ", ".join(f"{name} {version}" for name, version in found.versions.items())
    yield f"<sub>Measured {found.date}. {machine}.{f' {versions}.' if versions else ''}{quick}</sub>"


# -- budgets ----------------------------------------------------------------------------------------------------------


def remarks() -> dict[str, str]:
    with REMARKS.open("rb") as file:
        found: dict[str, str] = tomllib.load(file)
    return found


def budgets(subjects: Sequence[Subject], found: Mapping[str, Found]) -> Iterator[str]:
    """Every budget of every subject: what it asks, what was measured, whether it is met, and a word where it is not."""
    said = remarks()
    yield "| budget | at most / at least | measured | met | remark |"
    yield "|---|--:|--:|---|---|"
    for subject in subjects:
        for budget in subject.budgets:
            measured, met, why = judged(budget, found.get(subject.name))
            remark = "; ".join(text for text in (why, said.get(budget.key, "") if met != "yes" else "") if text)
            sign = "≥" if budget.more else "≤"
            yield f"| {budget.says} | {sign} {figure(budget.limit)}{budget.unit} | {measured} | {met} | {remark} |"


def judged(budget: Budget, found: Found | None) -> tuple[str, str, str]:
    """The measured figure, yes or no, and why there is none."""
    if found is None:
        return "", "not measured", "to be measured"
    try:
        measured = budget.value(found)
    except NotMeasured as why:
        return "", "not measured", str(why)
    return f"{figure(measured)}{budget.unit}", "yes" if budget.met(measured) else "**no**", ""


# -- tables -----------------------------------------------------------------------------------------------------------


def figure(value: float) -> str:
    """Three digits, no more than a measurement is worth; thousands parted by a blank."""
    if value == 0 or value != value:
        return "0"
    if abs(value) >= 1000:
        return f"{float(f'{value:.3g}'):,.0f}".replace(",", " ")
    return f"{float(f'{value:.3g}'):.10g}" if abs(value) >= 1e-4 else f"{value:.2e}"


def _size(size: int) -> str:
    power = len(str(size)) - 1
    lead = size // 10**power
    if size < 1000 or size % 10**power:
        return f"{size:,}".replace(",", " ")
    return f"10^{power}" if lead == 1 else f"{lead}·10^{power}"


def columns(subject: Subject, found: Found) -> list[tuple[str, int]]:
    """The pairs of work and size that have a column."""
    return [(work, size) for work in subject.works for size in found.sizes]


def shown(subject: Subject, found: Found, contender: str, work: str, size: int) -> float:
    """The figure of a cell. Raises `NotMeasured`."""
    if subject.relative is not None:
        return found.ratio(contender, subject.relative, size, work)
    return subject.measure.of(found.median(contender, size, work), size)


def table(subject: Subject, found: Found) -> Iterator[str]:
    """A row for each contender."""
    unit = f"as a multiple of {subject.relative}" if subject.relative is not None else subject.measure.unit
    several = len(found.sizes) > 1
    heads = [f"{work} {_size(size) if several else ''}".strip() for work, size in columns(subject, found)]
    if subject.quotient is not None:
        heads.append(f"{' over '.join(subject.quotient)}{f' {_size(found.sizes[-1])}' if several else ''}")
    yield f"| {unit} | {' | '.join(heads)} |"
    yield "|---|" + "--:|" * len(heads)
    for contender in subject.contenders:
        cells, reasons = [], []
        for work, size in columns(subject, found):
            try:
                cells.append(figure(shown(subject, found, contender.name, work, size)))
            except NotMeasured:
                cells.append("")
                reason = found.failed.get(f"{contender.name}|{size}")
                if reason is not None and (size, reason) not in reasons:
                    reasons.append((size, reason))
        if subject.quotient is not None:
            cells.append(_quotient(subject.quotient, found, contender.name))
        name = f"**{contender.name}**" if contender.ours else contender.name
        if reasons:
            size, reason = reasons[0]
            name += f" ({f'{_size(size)}: ' if several and any(cells) else ''}{reason})"
        yield f"| {name} | {' | '.join(cells)} |"


def _quotient(works: tuple[str, str], found: Found, contender: str) -> str:
    above, below = works
    try:
        return figure(found.median(contender, work=above) / found.median(contender, work=below))
    except NotMeasured:
        return ""


def memory(subject: Subject, found: Found) -> Iterator[str]:
    """Bytes an operation: what one more operation adds to the most that the process held, and to what it keeps."""
    workers = any(key in found.held for key in found.peak)
    yield f"| bytes for each of the {subject.size_word} | at most |{' kept |' if workers else ''}"
    yield "|---|--:|" + ("--:|" if workers else "")
    for contender in subject.contenders:
        try:
            cells = [figure(found.bytes_each(contender.name, which)) for which in ("peak", "held")[: 1 + workers]]
        except NotMeasured:
            continue
        name = f"**{contender.name}**" if contender.ours else contender.name
        yield f"| {name} | {' | '.join(cells)} |"


# -- plots ------------------------------------------------------------------------------------------------------------


def plots(subject: Subject, found: Found, folder: Path) -> Iterator[str]:
    """The plot of a subject, as the line that shows it; without matplotlib a line that says what is missing."""
    if subject.plot is None:
        return
    try:
        import matplotlib
    except ModuleNotFoundError:
        yield 'Plots need matplotlib: `pip install "backprop-trace[bench]"`.'
        yield ""
        return
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "backprop", "font.size": 9})
    from matplotlib import pyplot

    last = [work for work in subject.works if work not in subject.once][-1]
    figure_, axes = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
    drawn = _lines(subject, found, axes, last) if subject.plot == "lines" else _bars(subject, found, axes, last)
    if drawn:
        name = f"{subject.name}.svg"
        figure_.savefig(folder / name, metadata={"Date": None, "Creator": None})
        yield f"![{subject.title}]({name})"
        yield ""
    pyplot.close(figure_)


def _unit(subject: Subject) -> str:
    return f"multiple of {subject.relative}" if subject.relative is not None else subject.measure.unit


def _title(subject: Subject, work: str) -> str:
    return f"{subject.title}: {work}" if work else subject.title


def _lines(subject: Subject, found: Found, axes: Any, work: str) -> bool:
    """The figure over the size, one line for each contender."""
    own = iter(OWN * len(subject.contenders))
    for contender in subject.contenders:
        points = []
        for size in found.sizes:
            try:
                points.append((size, shown(subject, found, contender.name, work, size)))
            except NotMeasured:
                continue
        if points:
            style: dict[str, Any] = {"linewidth": 1.1, "linestyle": "--"}
            if contender.ours:
                style = {"linewidth": 2.4, "color": next(own)}
            axes.plot(*zip(*points, strict=True), marker="o", markersize=3, label=contender.name, **style)
    axes.set(xscale="log", yscale="log", xlabel=subject.size_word, ylabel=_unit(subject), title=_title(subject, work))
    axes.grid(alpha=0.3)
    if axes.lines:
        axes.figure.legend(loc="outside right upper", frameon=False)
    return bool(axes.lines)


def _bars(subject: Subject, found: Found, axes: Any, work: str) -> bool:
    """The figures of the largest size, a bar for each contender, the best on top."""
    bars = []
    for contender in subject.contenders:
        for size in found.sizes[-1:]:
            try:
                bars.append((shown(subject, found, contender.name, work, size), contender))
            except NotMeasured:
                continue
    bars.sort(key=lambda bar: bar[0], reverse=not subject.measure.more_is_better or subject.relative is not None)
    colours = [OWN[0] if contender.ours else "#9aa5b1" for _, contender in bars]
    axes.barh([contender.name for _, contender in bars], [value for value, _ in bars], color=colours)
    axes.set(xlabel=_unit(subject), title=_title(subject, work))
    axes.margins(x=0.12)
    if bars and max(bars, key=lambda bar: bar[0])[0] > 30 * min(bars, key=lambda bar: bar[0])[0]:
        axes.set_xscale("log")
    axes.bar_label(axes.containers[0], labels=[figure(value) for value, _ in bars], padding=3)
    return bool(bars)

"""Plots of what was worked out step by step: losses of a descent, errors of difference quotients, adjoints by depth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

from backprop.checks import CheckReport
from backprop.figures import elements_of, figure
from backprop.notation import slope
from backprop.plots import Axis, Curve, Mark, Note, Pair, Panel, Plot
from backprop.record import Trace
from backprop.step import Descent, Learned

# A loss that falls to this part of what it was is drawn by its powers of ten.
FALLS = 0.01
# An axis of depths goes a little farther, so that what is deepest does not lie on its end.
BEYOND = 1.03
# Inputs of which the quotients are drawn, a panel each.
MOST_PANELS = 4
# Named nodes that are written beside their points, and names in a note.
MOST_NAMES, MOST_LISTED = 24, 8
# Notes of a report or a trace that tell why there is little to draw.
TOLD = ("undefined", "left-out", "kink")
# A line of reference runs beside its curve, so many times above it.
ASIDE = 5.0
# From input to output adjoints that shrink or grow by this factor vanish or explode.
VANISHING = 1e3


def descent(run: Descent, taken: Iterable[Learned]) -> Plot:
    """The loss over the steps of gradient descent; by powers of ten where it falls far. `taken` are the steps."""
    losses: list[Pair] = []
    rows: list[list[Any]] = []
    names: list[str] = []
    trouble = None
    for step in taken:
        if not losses:
            names = [name for name, value in step.before.items() if isinstance(value, float)]
            losses.append((0.0, step.loss))
            rows.append([0, step.loss, *(step.before[name] for name in names)])
        if step.loss_after is not None:
            losses.append((float(step.number), step.loss_after))
            rows.append([step.number, step.loss_after, *(step.after[name] for name in names)])
        trouble = step.trouble or trouble
    start = run.start
    ys = [y for _, y in losses]
    log = min(ys) > 0 and min(ys) < FALLS * max(ys)
    axis = _logarithmic("", ys) if log else _even("", ys)
    curve = Curve(start.output, "value", [losses], dots=len(losses) <= 40)
    best = min(losses, key=lambda pair: pair[1])
    horizontal = Axis("step", 0.0, max(losses[-1][0], 1.0), whole=True)
    marks = [Mark("best", *best, text=f"least {start.output} = {figure(best[1])} at step {figure(best[0])}")]
    told = f"{start.output} from {figure(ys[0])} to {figure(ys[-1])} in {figure(losses[-1][0])} steps of rate "
    notes = [Note("least", marks[0].text)]
    if trouble is not None:
        notes.append(Note("lost", f"the descent ends after step {figure(losses[-1][0])}: {trouble}"))
    says = f"{told}{figure(run.rate)}"
    panel = Panel(start.output, horizontal, axis, [curve], marks)
    return Plot("descent", start.canonical, says, [panel], ["step", start.output, *names], rows, notes, run.exit_code)


# -- difference quotients --------------------------------------------------------------------------------------------


def check(report: CheckReport) -> Plot:
    """How far difference quotients are off, by their step h: falling with h² or h, until rounding over h takes over.

    Both axes are logarithmic, so that an error like h² is a line of slope 2; such lines are drawn from the largest h
    that tells. An error of 0 has no place on them: a note says so.
    """
    panels: list[Panel] = []
    notes: list[Note] = []
    rows: list[list[Any]] = []
    names = list(report.convergence)
    for name in names:
        panel = _quotients(report, name, notes)
        for row in report.convergence[name]:
            pairs = (row.central, row.one_sided) if row.left is None and row.right is None else (row.left, row.right)
            rows.append([name, row.step, *(None if one is None else one.error for one in pairs)])
        if panel is not None and len(panels) < MOST_PANELS:
            panels.append(panel)
    if len(names) > MOST_PANELS:
        notes.append(Note("left-out", f"{MOST_PANELS} of {len(names)} inputs are drawn: --wrt chooses others"))
    notes += [Note(note.code, note.text) for note in report.notes if note.code in TOLD]
    if not panels and not notes:
        notes.append(Note("undefined", "there is no difference quotient whose error is known"))
    says = f"the error of difference quotients for {report.output} by their step h"
    return Plot(
        "check", report.canonical, says, panels, ["of", "h", "central", "one-sided"], rows, notes, report.exit_code
    )


def _quotients(report: CheckReport, name: str, notes: list[Note]) -> Panel | None:
    """The panel of one input; None where no error is known."""
    rows = report.convergence[name]
    of = slope(report.output, name)
    if any(row.left is not None or row.right is not None for row in rows):
        sorts = [("from the left", "gradient", 1, "left"), ("from the right", "value", 1, "right")]
    else:
        sorts = [("central", "gradient", 2, "central"), ("one-sided", "value", 1, "one_sided")]
    curves, marks, exact = [], [], 0
    for text, role, order, field in sorts:
        found = [(row.step, getattr(row, field)) for row in rows]
        known = [(h, one.error) for h, one in found if one is not None and one.error is not None]
        exact += sum(error == 0 for _, error in known)
        pairs = sorted((h, error) for h, error in known if error > 0)
        if not pairs:
            continue
        curves.append(Curve(text, role, [pairs], dots=True))
        h, error = min(pairs, key=lambda pair: pair[1])
        told = f"{of} {text}: the error is least, {error:.1e}, at h = {h:.0e}"
        chosen = [one for one in report.approaches.get(name, ()) if one.sort.startswith(text) and one.step is not None]
        if chosen and chosen[0].step is not None:
            told += f"; rounding and truncation balance at h = {chosen[0].step:.0e}"
        notes.append(Note("best", told, h))
        marks.append(Mark("best", h, error, f"h = {h:.0e}"))
        curves += _reference(pairs, order)
    if exact:
        notes.append(Note("exact", f"{of}: {exact} quotients have no error at all, and no place on this scale"))
    if not curves:
        return None
    own = [curve for curve in curves if curve.style == "solid"]
    hs = [h for curve in own for piece in curve.pieces for h, _ in piece]
    errors = [error for curve in own for piece in curve.pieces for _, error in piece]
    seen: dict[str, Curve] = {}
    for curve in curves:
        seen.setdefault(curve.name, curve)
    axis = Axis("h", min(hs) / 2, max(hs) * 2, log=True)
    return Panel(f"error of {of}", axis, _logarithmic("", errors), list(seen.values()), marks)


def _reference(pairs: Sequence[Pair], order: int) -> list[Curve]:
    """The line that an error like h^order follows, from the largest step down to where the error was least."""
    h, error = pairs[-1]
    least, _ = min(pairs, key=lambda pair: pair[1])
    if least == h:
        return []
    error *= ASIDE  # on the curve itself it could not be seen
    end = error * (least / h) ** order
    name = "like h" if order == 1 else "like h²"
    return [Curve(name, "quiet", [[(least, end), (h, error)]], "dashed" if order > 1 else "dotted")]


# -- adjoints --------------------------------------------------------------------------------------------------------


def gradients(trace: Trace) -> Plot:
    """The sizes of all adjoints by depth: how many operations lie on the longest way from a node to the output.

    Of an array it is the Euclidean norm. The sizes are drawn by powers of ten; an adjoint of 0 has no place there, and
    a note names such nodes. Numbers written in the program are left out.
    """
    depths = _depths(trace)
    sizes: dict[int, list[float]] = {}
    inner: dict[int, list[float]] = {}  # those of operations: an input used at every depth is no part of the way
    named: list[Mark] = []
    points: list[list[Any]] = []
    zeros: list[str] = []
    for node in trace.nodes:
        depth = depths.get(node.id)
        if depth is None or node.op == "const" or node.adjoint is None:
            continue
        size = _norm(node.adjoint)
        if size is None:
            continue
        points.append([node.id, depth, size])
        if size == 0:
            zeros.append(node.id)
            continue
        sizes.setdefault(depth, []).append(size)
        if node.args:
            inner.setdefault(depth, []).append(size)
        if node.op in ("input", "param") or _is_name(node.id):
            named.append(Mark("name", float(depth), size, node.id))
    notes: list[Note] = []
    cloud = [[(float(depth), size)] for depth in sorted(sizes) for size in sorted(set(sizes[depth]))]
    middle = [(float(depth), median(inner[depth])) for depth in sorted(inner)]
    if zeros:
        listed = ", ".join(zeros[:MOST_LISTED]) + (
            f" and {len(zeros) - MOST_LISTED} more" if zeros[MOST_LISTED:] else ""
        )
        notes.append(Note("zero", f"the adjoint of {listed} is 0, which has no place on this scale"))
    if middle:
        notes.insert(0, _trend(middle))
    panels = []
    if cloud:
        every = [size for several in sizes.values() for size in several]
        x = Axis("operations from the output", 0.0, max(1.0, *map(float, sizes)) * BEYOND, whole=True)
        curves = [Curve("one node", "gradient", cloud, "points"), Curve("middle operation", "value", [middle])]
        if len(named) > MOST_NAMES:
            notes.append(Note("left-out", f"{MOST_NAMES} of {len(named)} names are written"))
            named = named[:: -(-len(named) // MOST_NAMES)]
        panels.append(Panel("size of the adjoint", x, _logarithmic("", every), curves, named))
    notes += [Note(note.code, note.text) for note in trace.notes if note.code in TOLD]
    says = f"the size of the adjoints of {trace.output} by their distance from it"
    return Plot("gradients", trace.canonical, says, panels, ["node", "depth", "size"], points, notes, trace.exit_code)


def _trend(middle: Sequence[Pair]) -> Note:
    """Whether adjoints vanish or explode on the way back."""
    (_, first), (depth, last) = middle[0], middle[-1]
    if depth == 0:
        return Note("trend", "there is no operation")
    each = math.exp((math.log(last) - math.log(first)) / depth)
    way = f"from {first:.3g} at the output to {last:.3g} at depth {depth:.0f}, times {each:.3g} an operation"
    if last < first / VANISHING:
        return Note("vanishing", f"the adjoints vanish: {way}")
    if last > first * VANISHING:
        return Note("exploding", f"the adjoints explode: {way}")
    return Note("steady", f"the adjoints keep their size within a factor of {VANISHING:g}: {way}")


def _depths(trace: Trace) -> dict[str, int]:
    """The number of operations on the longest way from each node to the output; absent where none leads there."""
    found = {trace.output: 0}
    into: dict[str, list[str]] = {}
    for edge in trace.edges:
        into.setdefault(edge.target, []).append(edge.source)
    # nodes stand in order, so every way to a node has been looked at before the node
    for node in reversed(trace.nodes):
        depth = found.get(node.id)
        if depth is None:
            continue
        for source in into.get(node.id, ()):
            found[source] = max(found.get(source, 0), depth + 1)
    return found


def _norm(value: Any) -> float | None:
    """The Euclidean norm of a number or an array; None where something has no finite value."""
    numbers = []
    for one in elements_of(value):
        try:
            number = float(one)
        except (TypeError, ValueError, OverflowError):
            return None
        numbers.append(number)
    found = math.hypot(*numbers)
    return found if math.isfinite(found) else None


def _is_name(node_id: str) -> bool:
    """Whether somebody gave the node its name: v1, v2, ... are ours."""
    return not (node_id.startswith("v") and node_id[1:].isdecimal())


# -- axes ------------------------------------------------------------------------------------------------------------


def _logarithmic(label: str, ys: Sequence[float]) -> Axis:
    """An axis of powers of ten around numbers above 0."""
    low, high = math.log10(min(ys)), math.log10(max(ys))
    room = max((high - low) * 0.05, 0.2)
    return Axis(label, 10 ** max(low - room, -323), 10 ** min(high + room, 308), log=True)


def _even(label: str, ys: Sequence[float]) -> Axis:
    low, high = min(ys), max(ys)
    room = (high / 2 - low / 2) * 0.1 or abs(low) * 0.1 or 1.0
    return Axis(label, low - room, high + room)

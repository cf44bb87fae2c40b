"""Conclusions: which mode takes fewer operations, and why, in a sentence."""

from __future__ import annotations

from backprop.costs.reports import CostReport


def conclusion(found: CostReport) -> tuple[str, str]:
    """Which mode takes fewer operations, and why."""
    n, m = found.inputs, found.outputs
    if not n:
        return "neither", "there is no input, so there is nothing to differentiate by"
    back, ahead = found.way("reverse"), found.way("forward")
    if back.operations == ahead.operations or n == m == 1:
        return "neither", f"neither wins: {_passes(m)} in reverse and {_passes(n)} forward take about the same"
    winner, won, other = ("reverse", back, ahead) if back.operations < ahead.operations else ("forward", ahead, back)
    told = f"{winner} wins: {_passes(won.runs)} against {other.runs}"
    if won.runs >= other.runs:
        told = f"{winner} wins with {_passes(won.runs)} against {other.runs}: each of them takes less"
    elif n == 1:
        told = f"one input and many outputs: {told}"
    elif m == 1:
        told = f"many inputs and one output: {told}"
    if won.operations:
        told += f"; {_ratio_text(other.operations, won.operations)} times fewer operations"
    else:
        told += f"; no operation against {other.operations}"
    if other.taken is not None and won.taken:
        told += f", {_ratio_text(other.taken, won.taken)} times faster"
        told += " (estimated)" if other.seconds is None or won.seconds is None else ""
    return winner, told


def _ratio_text(above: int | float, below: int | float) -> str:
    ratio = above / below
    return str(round(ratio)) if ratio >= 100 else f"{ratio:.2g}"


def _passes(count: int) -> str:
    return "one pass" if count == 1 else f"{count} passes"

"""Paths: the derivative of one node by another as the sum, over every path between them, of the product of partials.

There may be 3^k of them on a graph of a few k edges, so listing is lazy and everything else (how many, their sum, the
largest, the factored form) is a sweep over the edges instead. All of it reads a Trace, so one read from JSON will do.

What counts as a path: every edge through which a derivative passes, also when its partial happens to be 0 (the smaller
operand of a max) or undefined (the slope of sqrt at 0: the path is listed and its term is undefined). Constants,
conditions and branches that were not evaluated carry no partial, and no path runs through them.
"""

from __future__ import annotations

from backprop.path_sums.factored import Factored, factor, listed_cost
from backprop.path_sums.largest import Top, top
from backprop.path_sums.listed import PathTerm, Stretch, listing, stretches, terms
from backprop.path_sums.network import Network, Routes, routes
from backprop.path_sums.one_path import nth
from backprop.path_sums.sums import (
    adjoint,
    agrees,
    answer_apart,
    count,
    exit_code,
    not_proven,
    size_total,
    total,
    undefined,
)

__all__ = [
    "Factored",
    "Network",
    "PathTerm",
    "Routes",
    "Stretch",
    "Top",
    "adjoint",
    "agrees",
    "answer_apart",
    "count",
    "exit_code",
    "factor",
    "listed_cost",
    "listing",
    "not_proven",
    "nth",
    "routes",
    "size_total",
    "stretches",
    "terms",
    "top",
    "total",
    "undefined",
]

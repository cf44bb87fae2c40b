"""Expansion: how large a program becomes when each call of a function of the user's own is put into the graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from backprop import mistakes
from backprop.mistakes import Span
from backprop.syntax import Syntax

if TYPE_CHECKING:
    from backprop.graph.building import Function

# Functions are inlined where they are called; beyond this a program is refused rather than left to fill the memory.
LARGEST_EXPANSION = 2_000_000


class Expansion:
    """What calls put in, counted before it is done. `functions` are those of the user's own, as more are defined."""

    def __init__(self, syntax: Syntax, functions: Mapping[str, Function]) -> None:
        self.syntax, self.functions = syntax, functions
        self.sizes: dict[str, int] = {}
        self.inlined = 0

    def enter(self, name: str, span: Span) -> None:
        """Count in all that a call puts into the graph. Raises `TooLarge` and `Recursion`."""
        self.inlined += self.size_of(name, span)
        if self.inlined > LARGEST_EXPANSION:
            raise mistakes.TooLarge(name, self.inlined, LARGEST_EXPANSION, span)

    def size_of(self, name: str, span: Span) -> int:
        """How many syntax nodes a call of a function puts in, counted without doing it: doublings of doublings are
        refused at once. Raises `Recursion` for a function that reaches itself."""
        sizes, callees = self.sizes, self.syntax.callees
        open_calls: dict[str, tuple[int, int]] = {name: (self.functions[name].first, 0)}  # how far it is, its size
        while name not in sizes:
            caller, (node, size) = open_calls.popitem()
            root = self.functions[caller].root
            while node <= root:
                callee = callees[node][0] if node in callees else ""
                if callee in self.functions and callee not in sizes:
                    break
                size = min(size + 1 + sizes.get(callee, 0), mistakes.TooLarge.most)
                node += 1
            if node > root:
                sizes[caller] = size
                continue
            open_calls[caller] = (node, size)
            if callee in open_calls:
                raise mistakes.Recursion([*open_calls, callee], span)
            open_calls[callee] = (self.functions[callee].first, 0)
        return sizes[name]

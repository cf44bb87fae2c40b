"""Unbound: names that have no value, where they are used like a function, and what was meant by them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from backprop import mistakes, ops
from backprop.mistakes import Span
from backprop.syntax import Syntax, literal

if TYPE_CHECKING:
    from backprop.graph.building import Function

_PRODUCTS = ("mul", "div", "mod", "juxtapose")  # what a factor may follow without a sign

_BRACKET_FOLLOWS = re.compile(r"[^\S\r\n]*\(")
_NAME_FOLLOWS = re.compile(r"[ \t]+[^\W\d_]")


class Unbound:
    """The names of a program that have no value. `functions` are those of the user's own, as more are defined."""

    def __init__(self, syntax: Syntax, functions: Mapping[str, Function]) -> None:
        self.syntax, self.functions = syntax, functions
        self._variables: set[str] | None = None  # asked for only when a name stands before a bracket

    def refuse(self, name: str, at: int) -> None:
        """A name with no value that is used like a function: say how a call is written, or which one was meant."""
        if name in self.functions or (rows := ops.called(name)):
            found = self._follower(at) or self._subscripts(at)
            if found is None:
                function = self.functions.get(name)
                raise mistakes.FunctionAlone(
                    name, function.parameters if function else rows[0].parameters, self.syntax.span(at)
                )
            argument, power, span = found
            raise mistakes.FunctionWithoutBrackets(name, argument, power, span)
        source, begin, end = self.syntax.source, *self.syntax.span(at)
        if _BRACKET_FOLLOWS.match(source, end):
            if self._variables is None:
                self._variables = self._variable_names()
            if name not in self._variables and (found := self._follower(at)) is not None:
                raise unknown_function(self.syntax, self.functions, name, found[0], (begin, end))
        elif name != "lambda" and name in mistakes.ForeignStatement.words and _NAME_FOLLOWS.match(source, end):
            before = source[max(0, begin - 100) : begin].rstrip(" \t")
            if begin == 0 or before.endswith(("\n", "\r", ";")) or (not before and begin <= 100):
                raise mistakes.ForeignStatement(name, "", (begin, end))

    def _follower(self, at: int) -> tuple[str, str | None, Span] | None:
        """What stands right behind a name without a sign, and the power between them: `sin x`, `2 sin^2(x)`."""
        syntax, node, power = self.syntax, at, None
        while (parent := self._parent(node)) is not None:
            kind = syntax.kinds[parent]
            if kind == "juxtapose" and parent - 1 != node:
                return syntax.text(parent - 1), power, (syntax.starts[at], syntax.ends[parent])
            if kind == "pow" and syntax.first[parent] == at:
                text = syntax.text(parent - 1)
                power = literal(text) if syntax.kinds[parent - 1] == "number" else text
            elif kind not in ("neg", "pow") and not (kind in _PRODUCTS and parent - 1 == node):
                return None
            node = parent
        return None

    def _subscripts(self, at: int) -> tuple[str, None, Span] | None:
        """What stands in square brackets right behind a name: `exp[x]`."""
        syntax, parent = self.syntax, self._parent(at)
        if parent is None or syntax.kinds[parent] != "index" or syntax.first[parent] != at:
            return None
        argument = syntax.source[syntax.ends[at] : syntax.ends[parent]].strip()
        return argument[1:-1] if syntax.arity[parent] == 2 else argument, None, syntax.span(parent)

    def _parent(self, node: int) -> int | None:
        syntax = self.syntax
        for above in range(node + 1, len(syntax)):
            if syntax.first[above] <= node:
                return above
        return None

    def _variable_names(self) -> set[str]:
        """The names that the program also uses where only a variable can stand."""
        syntax = self.syntax
        return {
            syntax.text(node)
            for node, kind in enumerate(syntax.kinds)
            if kind == "name" and not _BRACKET_FOLLOWS.match(syntax.source, syntax.ends[node])
        }


def unknown_function(
    syntax: Syntax, functions: Iterable[str], name: str, argument: str, span: Span
) -> mistakes.Mistake:
    """The lesson for a name that is called and is no function; `functions` are those of the user's own so far."""
    later = next((one for one in syntax.statements if one.kind == "function" and one.name == name), None)
    if later is not None:
        return mistakes.UsedBeforeDefined(name, syntax.source.count("\n", 0, later.span[0]) + 1, span)
    return mistakes.UnknownFunction(name, argument, [*functions, *ops.callable_names()], span)

"""Text to a syntax tree, spans included: one long expression, and a program of assignments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness import MICROSECONDS, Found, Subject, Works
from operations import expression, text

OURS, LARK = "backprop", "Lark's own driver, tree"
SUM, LINES = "one expression", "assignments"

PARSING = Subject(
    "parsing",
    "Parsing",
    "A sum of products and sines as one expression, and a program of assignments, a statement for five operations.",
    sizes=(10**3, 10**4, 10**5, 10**6),
    quick=(10**2, 10**3),
    works=(SUM, LINES),
    measure=MICROSECONDS,
    repeats=3,
    limit=120,
    memory="Memory of the process, the text in it",
    plot="lines",
)
SUBJECTS = [PARSING]


def _works(parse: Callable[[str], Any], size: int, both: bool = True) -> Works:
    one = expression(size)
    works = {SUM: lambda: parse(one)}
    if both:
        many = text("wide", size)
        works[LINES] = lambda: parse(many)
    return works


@PARSING.contender(OURS, ["backprop"], ours=True)
def backprop(size: int) -> Works:
    from backprop.grammar import parse

    return _works(parse, size)


@PARSING.contender(LARK, ["lark"])
def lark(size: int) -> Works:
    from lark import Lark

    from backprop.grammar import grammar_text

    return _works(Lark(grammar_text(), parser="lalr", start="program", propagate_positions=True).parse, size)


@PARSING.contender("lark-cython, tree", ["lark_cython"])
def cython(size: int) -> Works:
    import lark_cython
    from lark import Lark

    from backprop.grammar import grammar_text

    parser = Lark(
        grammar_text(), parser="lalr", start="program", propagate_positions=True, _plugins=lark_cython.plugins
    )
    return _works(parser.parse, size)


@PARSING.contender("Python's ast.parse", ["ast"])
def python(size: int) -> Works:
    import ast

    return _works(ast.parse, size)


@PARSING.contender("SymEngine's parser (C++)", ["symengine"])
def symengine(size: int) -> Works:
    from symengine import sympify

    return _works(sympify, size, both=False)


@PARSING.contender("SymPy parse_expr", ["sympy"], largest=10**3, why_no_more="not tried: seconds for each thousand")
def sympy(size: int) -> Works:
    from sympy.parsing.sympy_parser import parse_expr

    return _works(parse_expr, size, both=False)


@PARSING.budget("parse expression", "parsing one expression at every size, µs an operation", 4)
def _(found: Found) -> float:
    return max(1e6 * found.median(OURS, size, SUM) / size for size in found.sizes)


@PARSING.budget("parse assignments", "parsing assignments at every size, µs an operation", 8)
def _(found: Found) -> float:
    return max(1e6 * found.median(OURS, size, LINES) / size for size in found.sizes)


@PARSING.budget("parse against Lark", "parsing one expression, times faster than Lark's own driver", 4.75, more=True)
def _(found: Found) -> float:
    done = [size for size in found.sizes if f"{LARK}|{size}|{SUM}" in found.seconds]  # Lark gives up before we do
    return found.ratio(LARK, OURS, max(done, default=None), SUM)


@PARSING.budget("parse memory", "memory while parsing, bytes an operation", 400)
def _(found: Found) -> float:
    return found.bytes_each(OURS)

"""Syntax: what was typed, as flat columns in the order in which it is worked out.

The parser reduces from the inside out, so nodes arrive in postorder: every node stands after its operands, and a
subtree is a contiguous run that ends at its root. Walking a run from left to right with a stack of results is the
whole evaluation, so nothing that reads a syntax tree ever recurses.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args, overload

from backprop.mistakes import Span

StatementKind = Literal["expression", "assign", "input", "param", "function"]
_STATEMENTS = get_args(StatementKind)


@dataclass(slots=True)
class Statement:
    """One statement, at `begin` .. `end` of the source; the name it binds, if any, stands at `name_begin`.

    `root` is its expression's last node, or a function's body's (None for `input x` and `param w` without a default);
    `parameters` are a function's parameter names with their spans.
    """

    kind: StatementKind
    name: str | None
    root: int | None
    begin: int
    end: int
    name_begin: int = -1
    parameters: tuple[tuple[str, Span], ...] = ()

    @property
    def span(self) -> Span:
        return self.begin, self.end

    @property
    def name_span(self) -> Span | None:
        return None if self.name is None else (self.name_begin, self.name_begin + len(self.name))


class Statements(Sequence[Statement]):
    """The statements of a program as columns: one of a million assignments has a million. `Statement` is a view."""

    __slots__ = ("begins", "ends", "kinds", "name_begins", "name_ends", "parameters", "roots", "source")

    def __init__(self, source: str) -> None:
        self.source = source
        self.kinds = bytearray()
        self.roots, self.begins, self.ends = array("i"), array("i"), array("i")
        self.name_begins, self.name_ends = array("i"), array("i")
        self.parameters: dict[int, tuple[tuple[str, Span], ...]] = {}

    def add(
        self,
        kind: StatementKind,
        root: int | None,
        span: Span,
        name: Span = (-1, -1),
        parameters: tuple[tuple[str, Span], ...] = (),
    ) -> None:
        """Put one more at the end; the span of `name` is (-1, -1) for a statement that binds none."""
        if parameters:
            self.parameters[len(self.kinds)] = parameters
        self.kinds.append(_STATEMENTS.index(kind))
        self.roots.append(-1 if root is None else root)
        self.begins.append(span[0])
        self.ends.append(span[1])
        self.name_begins.append(name[0])
        self.name_ends.append(name[1])

    def __len__(self) -> int:
        return len(self.kinds)

    def __iter__(self) -> Iterator[Statement]:
        return (self[at] for at in range(len(self)))

    @overload
    def __getitem__(self, at: int) -> Statement: ...

    @overload
    def __getitem__(self, at: slice) -> list[Statement]: ...

    def __getitem__(self, at: int | slice) -> Statement | list[Statement]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        begin, root = self.name_begins[at], self.roots[at]
        return Statement(
            _STATEMENTS[self.kinds[at]],
            None if begin < 0 else self.source[begin : self.name_ends[at]],
            None if root < 0 else root,
            self.begins[at],
            self.ends[at],
            begin,
            self.parameters.get(at % len(self), ()) if self.parameters else (),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Statements) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Statements({list(self)})"


@dataclass(slots=True)
class Expectation:
    """One `# expect ...` comment: the text after `expect`, and where that text stands."""

    text: str
    span: Span


@dataclass(slots=True)
class Syntax:
    """A program as columns. Node i is `kinds[i]` with `arity[i]` operands; its subtree is `first[i]` .. i.

    `kinds[i]` is "number", "name", "call" or the name of the operation written with a sign ("add", "pow", "neg",
    "abs" for bars, "sqrt" for a root sign, "lt" for a comparison, ...). "juxtapose" is a product written without a
    sign, "ifelse" is `a if c else b` with operands in the order typed. `callees[i]` is the name a call node calls.

    "vector" is `[a, b]`, "index" `x[a, b]` with the base first, "slice" a leaf (`1:3`), and "keyword" stands in a call
    around what is right of its `=`: `keywords[i]` is the name to the left of it.
    """

    source: str
    kinds: list[str] = field(default_factory=list)
    arity: array[int] = field(default_factory=lambda: array("i"))
    first: array[int] = field(default_factory=lambda: array("i"))
    starts: array[int] = field(default_factory=lambda: array("i"))
    ends: array[int] = field(default_factory=lambda: array("i"))
    callees: dict[int, tuple[str, Span]] = field(default_factory=dict)
    keywords: dict[int, tuple[str, Span]] = field(default_factory=dict)
    expectations: list[Expectation] = field(default_factory=list)
    statements: Statements = field(init=False)

    def __post_init__(self) -> None:
        self.statements = Statements(self.source)

    def __len__(self) -> int:
        return len(self.kinds)

    def span(self, node: int) -> Span:
        return self.starts[node], self.ends[node]

    def text(self, node: int) -> str:
        """The source text of one node, as typed."""
        return self.source[self.starts[node] : self.ends[node]]

    def operands(self, node: int) -> list[int]:
        """The operands of a node, left to right.

        >>> from backprop.grammar import parse
        >>> tree = parse("a + b*c")
        >>> [tree.text(i) for i in tree.operands(len(tree) - 1)]
        ['a', 'b*c']
        """
        found: list[int] = []
        at = node - 1
        for _ in range(self.arity[node]):
            found.append(at)
            at = self.first[at] - 1
        found.reverse()
        return found

    def walk(self, statement: Statement) -> Iterator[int]:
        """The nodes of a statement's expression, operands before their operation."""
        return iter(()) if statement.root is None else iter(range(self.first[statement.root], statement.root + 1))


def normal(text: str) -> str:
    """Text as names are compared: composed letters, and the micro sign read as the Greek letter it looks like."""
    if text.isascii():
        return text
    from unicodedata import normalize

    return normalize("NFC", text).replace("µ", "μ")


_FRACTION = dict(
    zip(
        "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞↉",
        [
            *((1, 4), (1, 2), (3, 4), (1, 7), (1, 9), (1, 10), (1, 3), (2, 3), (1, 5), (2, 5)),
            *((3, 5), (4, 5), (1, 6), (5, 6), (1, 8), (3, 8), (5, 8), (7, 8), (0, 3)),
        ],
        strict=True,
    )
)
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_RAISED = str.maketrans(_SUPERSCRIPTS, "0123456789", "⁺") | str.maketrans("⁻−‑–‐﹣－", "-------")


def _figures(text: str) -> str:
    """A number token in plain figures; only the sign of a fraction stays, as 1/2 is a division of two numbers."""
    return text.translate(_RAISED)


def literal(text: str) -> str:
    """The plain form of a number token: a decimal as typed, or a fraction.

    >>> literal("2½"), literal("⁻¹"), literal("1E3")
    ('5/2', '-1', '1E3')
    """
    if text.isascii():
        return text
    if (ratio := _FRACTION.get(text[-1])) is not None:
        over, under = ratio
        return f"{int(text[:-1] or 0) * under + over}/{under}"
    return _figures(text)


# A whole number as a slice has it at its ends; none has more digits than any array has entries.
WHOLE = re.compile(r"[+\-−‑–‐﹣－]?\s*[0-9]{1,15}")


def slice_text(text: str) -> str:
    """A slice in its normal form: without blanks, comments, or a second colon that says nothing.

    >>> slice_text("1 : −1"), slice_text("::2"), slice_text("2::"), slice_text(":")
    ('1:-1', '::2', '2:', ':')
    """
    bounds = _figures(re.sub(r"#[^\n\r\x85\u2028\u2029]*|[^0-9:\-−‑–‐﹣－]", "", text)).split(":")
    told = [str(int(bound)) if bound else "" for bound in bounds]
    return ":".join(told[:2] if len(told) == 3 and not told[2] else told)


# How tightly each kind holds its operands together; a number or a name is an ATOM.
_IFELSE, _OR, _AND, _NOT, _COMPARISON, _SUM, _PRODUCT, _UNARY, _POWER, _MARKED, _ATOM = range(11)

# kind: how tightly it holds, its sign, and how tightly its left and right operands must hold to stand without brackets.
_SIGNS: dict[str, tuple[int, str, int, int]] = {
    "or": (_OR, " or ", _OR, _AND),
    "and": (_AND, " and ", _AND, _NOT),
    "lt": (_COMPARISON, " < ", _SUM, _SUM),
    "le": (_COMPARISON, " <= ", _SUM, _SUM),
    "gt": (_COMPARISON, " > ", _SUM, _SUM),
    "ge": (_COMPARISON, " >= ", _SUM, _SUM),
    "eq": (_COMPARISON, " == ", _SUM, _SUM),
    "ne": (_COMPARISON, " != ", _SUM, _SUM),
    "add": (_SUM, " + ", _SUM, _PRODUCT),
    "sub": (_SUM, " - ", _SUM, _PRODUCT),
    "mul": (_PRODUCT, "*", _PRODUCT, _UNARY),
    "juxtapose": (_PRODUCT, "*", _PRODUCT, _UNARY),
    "div": (_PRODUCT, "/", _PRODUCT, _UNARY),
    "mod": (_PRODUCT, "%", _PRODUCT, _UNARY),
    "matmul": (_PRODUCT, " @ ", _PRODUCT, _UNARY),
    "pow": (_POWER, "^", _MARKED, _POWER),
}
_HOLDS = {
    **{kind: row[0] for kind, row in _SIGNS.items()},
    "ifelse": _IFELSE,
    "not": _NOT,
    "neg": _UNARY,
    "factorial": _MARKED,
    "transpose": _MARKED,
    "index": _MARKED,
}
_AS_CALLS = {
    "norm": ("norm", "‖", "‖"),
    "sqrt": ("sqrt", "√(", ")"),
    "cbrt": ("cbrt", "∛(", ")"),
}


def written(syntax: Syntax, node: int, full: bool = False, taken: frozenset[str] = frozenset()) -> str:
    """One node in the normal form. `taken` are names of the user's own, so `abs` of them is not the function.

    >>> from backprop.grammar import parse
    >>> tree = parse("a - (b - c)x")
    >>> written(tree, len(tree) - 1), written(tree, len(tree) - 1, full=True)
    ('a - (b - c)*x', 'a - ((b - c)*x)')
    """
    pieces: list[str] = []
    kinds = syntax.kinds
    todo: list[int | str] = [node]

    def held(child: int, least: int, right: bool) -> tuple[int | str, ...]:
        """A child, in brackets where it needs them: pushed backwards."""
        holds = _HOLDS.get(kinds[child], _ATOM)
        if kinds[child] == "number" and _figures(syntax.text(child)).startswith("-"):
            holds = _UNARY
        signed = right and holds == _UNARY  # x*(-y), not x*-y
        if holds < least or signed or (full and holds < _ATOM):
            return ")", child, "("
        return (child,)

    while todo:
        item = todo.pop()
        if isinstance(item, str):
            pieces.append(item)
            continue
        kind = kinds[item]
        if kind == "name":
            pieces.append(syntax.text(item))
        elif kind == "number":
            pieces.append(_figures(syntax.text(item)))
        elif kind == "slice":
            pieces.append(slice_text(syntax.text(item)))
        elif kind == "keyword":
            todo += (item - 1, f"{syntax.keywords[item][0]}=")
        elif (signs := _SIGNS.get(kind)) is not None:
            right = item - 1
            left = syntax.first[right] - 1
            tight = signs[0] >= _SUM
            todo += (*held(right, signs[3], tight), signs[1], *held(left, signs[2], False))
        elif kind in ("neg", "not"):
            todo += (*held(item - 1, _HOLDS[kind], kind == "neg"), "-" if kind == "neg" else "not ")
        elif kind in ("factorial", "transpose"):
            # 2.T would be read as 2. times T
            dotted = kind == "transpose" and kinds[item - 1] == "number"
            operand = (")", item - 1, "(") if dotted else held(item - 1, _MARKED, False)
            todo += ("!" if kind == "factorial" else ".T", *operand)
        elif kind == "ifelse":
            value, condition, other = syntax.operands(item)
            todo += (*held(other, _IFELSE, False), " else ", *held(condition, _OR, False), " if ")
            todo += held(value, _OR, False)
        elif kind == "abs":  # bars stay bars: of a vector they are its length, and abs is taken entry by entry
            todo += ("|", item - 1, "|")
        elif kind in _AS_CALLS:
            name, opening, closing = _AS_CALLS[kind]
            todo += (closing, item - 1, opening) if name in taken else (")", item - 1, f"{name}(")
        else:
            operands = syntax.operands(item)
            base = operands.pop(0) if kind == "index" else None
            todo.append(")" if kind == "call" else "]")
            for at in range(len(operands) - 1, -1, -1):
                todo += (operands[at], ", ") if at else (operands[at],)
            todo.append("(" if kind == "call" else "[")
            if kind == "call":
                todo.append(syntax.callees[item][0])
            elif base is not None:
                todo += held(base, _MARKED, False)
    return "".join(pieces)


def canonical(syntax: Syntax, full: bool = False) -> str:
    """The program in one normal form, which reads back as the same program.

    Signs are plain; brackets stand only where they are needed, or everywhere when `full`.

    >>> from backprop.grammar import parse
    >>> canonical(parse("½x² ÷ (y·z) + 2^-x"))
    '½*x^2/(y*z) + 2^(-x)'
    >>> canonical(parse("c = a b + 1; c²"), full=True)
    'c = (a*b) + 1; c^2'
    """
    taken = frozenset(statement.name for statement in syntax.statements if statement.name is not None)
    lines = []
    for statement in syntax.statements:
        left = f"{statement.name or ''}"
        if statement.kind in ("input", "param"):
            left = f"{statement.kind} {left}"
        elif statement.kind == "function":
            left = f"{left}({', '.join(name for name, _ in statement.parameters)})"
        right = "" if statement.root is None else written(syntax, statement.root, full, taken)
        lines.append(f"{left} = {right}" if left and right else left or right)
    return "; ".join(lines)


# What separates two names without being seen.
_UNSEEN = "\u200b\u2060\ufeff"
# A whole number in base 16, 8 or 2, as other languages write it.
_BASED = r"0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)(?!\w)"


_SUBSCRIPT = r"\([0-9]+\)"


def _set_apart(syntax: Syntax, entry: int) -> bool:
    """Whether an entry of a vector looks like two that are set apart by a blank: `[x y]`, `[1 -2]`."""
    if syntax.kinds[entry] not in ("juxtapose", "add", "sub"):
        return False
    left, right = syntax.operands(entry)
    between = syntax.source[syntax.ends[left] : syntax.starts[right]]
    return between.isspace() if syntax.kinds[entry] == "juxtapose" else between[0].isspace() and between[-1] in "+-−"


def readings(syntax: Syntax, most: int = 20, longest: int = 200) -> list[tuple[Span, str]]:
    """Where two readers could disagree, and how it was read: `1/2x` is (1/2)*x, `√x²` is (√x)^2, `e^2x` is (e^2)*x.

    At most `most` of them, none with more than `longest` nodes: a reader who is told more reads nothing.

    >>> from backprop.grammar import parse
    >>> readings(parse("1 + 1/2x"))
    [((4, 8), '(1/2)*x')]
    """
    found: list[tuple[Span, str]] = []
    source, kinds, starts, ends, first = syntax.source, syntax.kinds, syntax.starts, syntax.ends, syntax.first
    for node, kind in enumerate(kinds):
        if kind not in ("juxtapose", "pow", "factorial", "vector"):
            continue
        if kind == "vector":
            if node - first[node] < longest and any(_set_apart(syntax, entry) for entry in syntax.operands(node)):
                found.append((syntax.span(node), written(syntax, node)))
            if len(found) == most:
                break
            continue
        left = node - 1 if kind == "factorial" else first[node - 1] - 1
        if starts[node] != starts[left]:  # the left operand stands in brackets, so everyone agrees
            continue
        below = kinds[left]
        last, then = source[ends[left] - 1], source[starts[node - 1]]
        glued = kind != "juxtapose" or starts[node - 1] == ends[left]  # `√x y` shows by its blank how it is meant
        doubtful = (
            (below in ("div", "mod") and kind == "juxtapose")  # 1/2x, 7 % 2x
            or (below in ("sqrt", "cbrt") and glued and last not in ")|")  # √x², √2x
            or (below == "pow" and kind == "pow")  # x²^3
            or (below == "pow" and glued and last not in _SUPERSCRIPTS and (then.isalpha() or then == "√"))  # e^2x
            or (below == "pow" and kinds[left - 1] == "name" and source.startswith("(", ends[left]))  # e^x(y + 1)
            or (
                below == "name" and kind == "juxtapose" and re.compile(_SUBSCRIPT).match(source, ends[left])
            )  # x(1) is no entry
            or (below == kind == "factorial")  # n!! is not the product of every other number
            or (below == "number" and glued and re.compile(_BASED).match(source, starts[node]))  # 0x10
            or (kind == "juxtapose" and not glued and not source[ends[left] : starts[node - 1]].strip(_UNSEEN))
        )
        if doubtful and node - first[node] < longest:
            found.append((syntax.span(node), written(syntax, node, full=True)))
            if len(found) == most:
                break
    return found

"""Reading claims: `dx = x^2`, `df/dz = -0.0991`, `f = 1/3`, `x = undefined`, told apart into what is meant.

A claim names a derivative or a value of the program on its left. On its right stands a number, the word `undefined`, or
a formula in the language of programs over the inputs, the named nodes and the functions of the program.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from backprop import bindings
from backprop.arrays_text import element_name, element_of
from backprop.grammar import parse
from backprop.graph import Graph
from backprop.graph.building import build
from backprop.mistakes import Mistake, NotANumber, Span, TwoReadings, UnknownInClaim, UnreadableClaim
from backprop.notation import slope
from backprop.syntax import Syntax, normal

_ID = rf"{bindings.NAME}(?:~[0-9]+)?(?:\s*\[[-0-9,\s]+\])?"
_SLOPE = re.compile(rf"[d∂]\s*({_ID})?\s*/\s*[d∂]\s*({_ID})")
_BY = re.compile(rf"[d∂]\s*({_ID})")
_NAME = re.compile(_ID)
_PRIME = re.compile(rf"({_ID})\s*['′](?:\s*\(\s*({_ID})\s*\))?")
_EQUALS = re.compile(r"(?<![<>!=])=(?!=)")
_UNDEFINED = re.compile(r"undefined|none|[+−-]?nan|dne|does not exist", re.IGNORECASE)
_FRACTION = re.compile(r"[-0-9.eE+]+/[0-9.eE+-]+")
_ENDS = re.compile(r"[;\n]")

_Places = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Claim:
    """What is claimed: that d `of` / d `by` (the value of `of` when `by` is None) is `said`.

    `said` is a number in plain text (`number`), a formula (`formula`, its names given by `names`), or, when both are
    None, that there is none. Of an array program `of_at` and `by_at` are the places in the two nodes that are meant,
    and `number` may be the text of an array.
    """

    text: str
    of: int
    by: int | None
    name: str
    said: str
    number: str | None = None
    formula: Graph | None = None
    names: tuple[tuple[int, int], ...] = ()
    of_at: tuple[int, ...] = ()
    by_at: tuple[int, ...] = ()

    @property
    def undefined(self) -> bool:
        """Whether it says that there is no number."""
        return self.number is None and self.formula is None

    @property
    def constant(self) -> bool:
        """Whether it is the same at every point: a number, or a formula without names."""
        return self.number is not None or (self.formula is not None and not self.formula.inputs)


def from_words(text: str) -> list[tuple[str, str | None]]:
    """The claims of a command line, between semicolons, and where they come from: `@F` stands for the file F.

    Raises `CannotRead`.
    """
    parts = [part.strip() for part in text.split(";")]
    parts = [part for part in parts if part] or [text]
    return [(bindings.read_file(part[1:]), part[1:]) if part.startswith("@") else (part, None) for part in parts]


def read(syntax: Syntax, graph: Graph, texts: Iterable[tuple[str, str | None]], arrays: bool = False) -> list[Claim]:
    """The claims in some texts, one on a line or between semicolons. Raises a `Mistake` that says where.

    Of a program with `arrays` a claim may be about an element, `dW[0,1] = 2`, and say an array, `W = [[1, 2]]`.

    >>> from backprop.grammar import parse
    >>> tree = parse("x^2*y")
    >>> [(one.name, one.said) for one in read(tree, build(tree), [("dx = 2*x*y; y = 9  # by heart", None)])]
    [('∂f/∂x', '2*x*y'), ('∂f/∂y', '9')]
    """
    reader = _Reader(syntax, graph, arrays)
    return [claim for text, origin in texts for claim in reader.claims(normal(text), origin)]


class _Reader:
    """Reads claims about one program."""

    def __init__(self, syntax: Syntax, graph: Graph, arrays: bool) -> None:
        self.graph, self.arrays = graph, arrays
        self.known = {name: node for node, name in enumerate(graph.ids) if node in graph.names or node == graph.output}
        self.known |= graph.inputs
        self.known.setdefault("f", graph.output)  # as on paper, whatever the program calls it
        # left of = an output without a name may be called y as well: dy/dx = 3
        self.called = self.known if graph.output in graph.names else {"y": graph.output} | self.known
        functions = [one for one in syntax.statements if one.kind == "function"]
        self.functions = "".join(f"{syntax.source[one.begin : one.end]}\n" for one in functions)
        self.statements = len(functions) + 1
        self.places: dict[int, tuple[int, ...]] = defaultdict(tuple)

    def claims(self, text: str, origin: str | None) -> Iterator[Claim]:
        """The claims in one text."""
        try:
            found = 0
            for begin, end in _pieces(text):
                found += 1
                yield from self.claim(text, begin, end)
            if not found:
                raise UnreadableClaim("there is no claim here", (0, len(text)))
        except Mistake as mistake:
            raise mistake.within(text, origin) from None

    def claim(self, text: str, begin: int, end: int) -> Iterator[Claim]:
        """One claim, or several that share their left side: `dx = 2*x = 6`."""
        equals = [found.start() + begin for found in _EQUALS.finditer(text[begin:end])]
        if not equals:
            twice = text.find("==", begin, end)
            if twice >= 0:
                raise UnreadableClaim("what is claimed follows one sign =, not two", (twice, twice + 2))
            raise UnreadableClaim("a claim says of what it is: a sign = is missing", (begin, end))
        of, by, name, places = self.left(text, begin, equals[0])
        for start, stop in zip(equals, [*equals[1:], end], strict=True):
            first, last = _trimmed(text, start + 1, stop)
            if first == last:
                raise UnreadableClaim("nothing is claimed: a number or a formula has to follow =", (start, start + 1))
            claim = Claim(text[begin:end], of, by, name, text[first:last], of_at=places[0], by_at=places[1])
            yield self.right(text, (first, last), claim)

    def left(self, text: str, begin: int, end: int) -> tuple[int, int | None, str, _Places]:
        """Which derivative or value is meant, how it is written, and at which places in arrays."""
        begin, end = _trimmed(text, begin, end)
        left, ids = text[begin:end], self.graph.ids
        self.places.clear()
        if not left:
            raise UnreadableClaim("nothing stands before =", (end, end + 1))
        output = self.graph.output
        whole, at = element_of(left) if self.arrays else (left, ())
        if whole.rstrip() in self.called:
            node = self.called[whole.rstrip()]
            if whole.rstrip() in self.graph.inputs:
                return output, node, slope(ids[output], element_name(whole.rstrip(), at)), ((), at)
            return node, None, element_name(ids[node], at), (at, ())
        of, by = output, None
        if found := _SLOPE.fullmatch(left):
            of = output if found[1] is None else self.node(found[1], found.start(1) + begin)
            by = self.node(found[2], found.start(2) + begin)
        elif found := _BY.fullmatch(left):
            by = self.node(found[1], found.start(1) + begin)
        elif found := _PRIME.fullmatch(left):
            of = self.node(found[1], begin)
            if found[2] is not None:
                by = self.node(found[2], found.start(2) + begin)
            elif len(names := self.graph.default_wrt()) == 1:
                by = names[0]
            else:
                some = f"d{found[1]}/d{self.graph.name_of(names[0])}" if names else f"d{found[1]}/dx"
                raise UnreadableClaim(f"{left} does not say by which variable: write {some}", (begin, end))
        elif _NAME.fullmatch(left):
            self.node(left, begin)
        else:
            raise UnreadableClaim(f"{left} is neither a derivative nor the name of a node", (begin, end))
        assert by is not None
        places = self.places[of], self.places[by]
        told = slope(element_name(ids[of], places[0]), element_name(self.graph.name_of(by), places[1]))
        return of, by, told, places

    def node(self, name: str, begin: int) -> int:
        """The node of a name; of an element of an array the node it stands in, and its place in `places`."""
        if self.arrays:
            name, at = element_of(name)
            name = name.rstrip()
            self.places[self.called.get(name, -1)] = at
        if name not in self.called:
            raise UnknownInClaim(name, list(self.known), (begin, begin + len(name)))
        return self.called[name]

    def right(self, text: str, span: Span, claim: Claim) -> Claim:
        """The claim with what stands on its right."""
        said = claim.said
        if _UNDEFINED.fullmatch(said) and said not in self.known:
            return claim
        if said.startswith("[") and not self.arrays:
            raise UnreadableClaim("an array is no answer: one number has to follow =, for one element", span)
        try:
            is_formula = said.startswith("@") or (said.startswith("[") and not _is_one_array(said))
            number = None if is_formula else bindings.read_value(said, claim.name)
        except TwoReadings as mistake:
            mistake.span = span
            raise
        except NotANumber:
            number = None
        if number is not None and ".." in number:
            raise UnreadableClaim("an interval is no answer: one number has to follow =", span)
        if number is not None and "/" in number and not _FRACTION.fullmatch(number):
            number = None  # pi/2 is a formula
        if number is not None and number.lstrip("-") not in self.known:
            return replace(claim, number=number)
        return self.formula(text, span, claim)

    def formula(self, text: str, span: Span, claim: Claim) -> Claim:
        """A formula over the names and functions of the program, read by the parser of programs."""
        shift = span[0] - len(self.functions)
        source = self.functions + text[span[0] : span[1]]
        try:
            syntax = parse(source, variables=self.known)
            graph = build(syntax, self.known)
        except Mistake as mistake:
            if mistake.span is not None:
                mistake.span = mistake.span[0] + shift, mistake.span[1] + shift
            mistake.source = text
            raise
        if len(syntax.statements) != self.statements or syntax.statements[-1].kind != "expression":
            raise UnreadableClaim("one formula has to follow =", span)
        for name, node in graph.inputs.items():
            if name not in self.known:
                begin, end = graph.span(node)
                raise UnknownInClaim(name, list(self.known), (begin + shift, end + shift))
        names = tuple((node, self.known[name]) for name, node in graph.inputs.items())
        return replace(claim, formula=graph, names=names)


def _is_one_array(text: str) -> bool:
    """Whether a text that begins with [ ends where that is closed, so that it is an array and not `[1, 2]*x`."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if not depth:
            return place == len(text) - 1
    return True


def _pieces(text: str) -> Iterator[Span]:
    """Where each claim of a text stands, without comments and blanks."""
    bare = re.sub(r"#[^\n]*", lambda found: " " * len(found[0]), text)
    begin = 0
    for end in [*(found.start() for found in _ENDS.finditer(bare)), len(bare)]:
        first, last = _trimmed(bare, begin, end)
        if first < last:
            yield first, last
        begin = end + 1


def _trimmed(text: str, begin: int, end: int) -> Span:
    """A span without the blanks at its ends."""
    inside = text[begin:end]
    first = begin + len(inside) - len(inside.lstrip())
    return first, max(first, begin + len(inside.rstrip()))

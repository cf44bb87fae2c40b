"""Arrays as text: nested brackets around the texts of numbers, "[[1, 2.5], [-1/3, inf]]".

Where the text of a number may stand, that of an array may: as a value that is given, as a literal, as a default. No
NumPy is needed to read one, to take it apart or to write it. Everything here walks and never recurses.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from backprop.mistakes import ArrayTooLarge, EmptyArray, MixedArray, RaggedArray, Span, UnreadableArray

# More elements than a person looks at, and few enough for their texts to fit in the memory of a small machine.
MOST_ELEMENTS = 10_000_000
# As many as every release of NumPy has room for.
MOST_AXES = 32

Shape = tuple[int, ...]

# what `gather` is fed besides elements
OPEN, CLOSE = object(), object()

# a bracket, a comma, or an element; not compiled before there is an array
_TOKEN = r"[\[\],]|[^\[\],\s](?:[^\[\],]*[^\[\],\s])?"


def is_array(text: str) -> bool:
    """Whether the text of a value is that of an array.

    >>> is_array("[1, 2]"), is_array("1/3")
    (True, False)
    """
    return text.startswith("[")


def written(shape: Sequence[int], elements: Sequence[str]) -> str:
    """The text of an array of this shape; `elements` row by row.

    >>> written((2, 2), ["1", "2.5", "-1/3", "inf"]), written((), ["3"])
    ('[[1, 2.5], [-1/3, inf]]', '3')
    """
    rows = elements
    for size in reversed(shape):
        rows = ["[" + ", ".join(rows[begin : begin + size]) + "]" for begin in range(0, len(rows), size)]
    return rows[0]


def parts(text: str) -> tuple[Shape, list[str]]:
    """The shape and the elements, row by row, of an array as `written` writes it; a number has the shape ().

    Raises a `Mistake` for what is no array.

    >>> parts("[[1, 2.5], [-1/3, inf]]"), parts("3")
    (((2, 2), ['1', '2.5', '-1/3', 'inf']), ((), ['3']))
    """
    return read(text, "the array") if is_array(text) else ((), [text])


def element_name(name: str, indices: Iterable[int]) -> str:
    """What an element of an array (or a row of it) is called.

    >>> element_name("W", (0, 1)), element_name("x", ())
    ('W[0,1]', 'x')
    """
    inside = ",".join(map(str, indices))
    return f"{name}[{inside}]" if inside else name


def element_of(name: str) -> tuple[str, Shape]:
    """The name of an array and where in it, out of the name of an element or of a row; as `element_name` writes it.

    >>> element_of("W[0, 1]"), element_of("x")
    (('W', (0, 1)), ('x', ()))
    """
    found = _ELEMENT.fullmatch(name)
    return (found[1], tuple(map(int, found[2].split(",")))) if found else (name, ())


_ELEMENT = re.compile(r"([^\[\]]+)\[((?:\s*-?[0-9]{1,9}\s*,)*\s*-?[0-9]{1,9}\s*)\]")


def indices_of(shape: Sequence[int], position: int) -> Shape:
    """Where the element at a position, counted row by row, stands.

    >>> indices_of((2, 3), 4)
    (1, 1)
    """
    found = []
    for size in reversed(shape):
        position, index = divmod(position, size)
        found.append(index)
    return tuple(reversed(found))


def named_elements(name: str, text: str) -> Iterator[tuple[str, str]]:
    """The name and the text of each element, row by row; of a number its own name and text.

    >>> list(named_elements("W", "[[1, 2], [3, 4]]"))
    [('W[0,0]', '1'), ('W[0,1]', '2'), ('W[1,0]', '3'), ('W[1,1]', '4')]
    """
    shape, elements = parts(text)
    for position, element in enumerate(elements):
        yield element_name(name, indices_of(shape, position)), element


def put_together(given: Mapping[str, str]) -> dict[str, str]:
    """Values by name, in which the elements of an array, each by its own name, are one array again.

    Raises `UnreadableArray` where some elements are missing.

    >>> put_together({"W[0,0]": "1", "W[0,1]": "2", "x": "3"})
    {'W': '[[1, 2]]', 'x': '3'}
    """
    found: dict[str, str] = {}
    arrays: dict[str, dict[Shape, str]] = {}
    for name, text in given.items():
        whole, at = element_of(name) if name.endswith("]") else (name, ())
        found.setdefault(whole, text)
        if at:
            arrays.setdefault(whole, {})[at] = text
    for name, by_place in arrays.items():
        axes = {len(at) for at in by_place}
        shape = tuple(max(one) + 1 for one in zip(*by_place, strict=False))
        if len(axes) > 1 or math.prod(shape) != len(by_place):
            told = f"Give a value for each element of {name}."
            raise UnreadableArray(name, "some of its elements are missing", told, None)
        found[name] = written(shape, [by_place[indices_of(shape, place)] for place in range(len(by_place))])
    return found


def read(text: str, name: str) -> tuple[Shape, list[str]]:
    """The shape and the elements of an array as a person types it: blanks and line ends are free.

    The elements are not looked at. Raises `UnreadableArray`, `RaggedArray`, `MixedArray`, `EmptyArray` and
    `ArrayTooLarge`.

    >>> read("[[1,2],\\n [3,4]]", "W")
    ((2, 2), ['1', '2', '3', '4'])
    """
    return _regular(text) or _regular(text.replace(",", ", ")) or gather(_tokens(text, name), name)


def span_of_element(text: str, position: int) -> Span:
    """Where the element at a position stands in an array as it was typed.

    >>> span_of_element("[[1, 2],[3,4]]", 2)
    (9, 10)
    """
    elements = (found.span() for found in re.finditer(_TOKEN, text) if found[0] not in ("[", "]", ","))
    return next(islice(elements, position, None))


def _regular(text: str) -> tuple[Shape, list[str]] | None:
    """`read` of a text that is written as `written` does it; None for any other.

    The first row tells the shape, and the whole is right if writing it out again gives the text: for a million
    elements a fifth of the time that it takes to look at every bracket.
    """
    axes = len(text) - len(text.lstrip("["))
    if not 0 < axes <= MOST_AXES or text.count(",") >= MOST_ELEMENTS or len(text.replace(", ", ",").split()) != 1:
        return None
    shape, inside = [], 1
    for count in range(1, axes + 1):  # the text up to the first `]]` is a first matrix, and so on
        end = text.find("]" * count)
        size, over = divmod(text.count(",", 0, end) + 1, inside)
        if end < 0 or over:
            return None
        shape.append(size)
        inside *= size
    shape.reverse()
    elements = text.replace("[", "").replace("]", "").split(", ")
    if len(elements) != inside or "" in elements or written(shape, elements) != text:
        return None
    return tuple(shape), elements


def _tokens(text: str, name: str) -> Iterator[Any]:
    """The brackets and elements of a text, for `gather`. Raises `UnreadableArray` where one is not in its place."""
    open_at: list[int] = []
    before = ","  # what stood last; an array may begin where an element may
    for found in re.finditer(_TOKEN, text):
        token, span = found[0], found.span()
        if before == "end" or (token not in ("]", ",") and before not in ("[", ",")):
            if token == "]":
                cause, repair = "this ] closes nothing", "Take it out, or put [ before the array."
            elif open_at:
                cause, repair = "a comma is missing before this", "Commas stand between elements: [1, 2], [[1], [2]]"
            else:
                cause, repair = "the array ends before this", "All of an array stands between its outer brackets."
            raise UnreadableArray(name, cause, repair, span).within(text)
        if before + token in (",,", ",]", "[,"):
            told = f"before this {token} an element is missing"
            raise UnreadableArray(name, told, "Put a number there, or take the comma out.", span).within(text)
        if token == "[":
            open_at.append(span[0])
            yield OPEN
        elif token == "]":
            open_at.pop()
            yield CLOSE
        elif token != ",":
            yield token
        before = token if open_at else "end"
    if open_at:
        span = open_at[-1], open_at[-1] + 1
        repair = "Put ] where it ends."
        if before == ",":  # --x [1, 2] without quotation marks
            repair += f' An array with blanks needs quotation marks: --{name} "[1, 2]"'
        raise UnreadableArray(name, "this [ is never closed", repair, span).within(text)


def gather(tokens: Iterable[Any], name: str) -> tuple[Shape, list[Any]]:
    """The shape and the elements of what comes as `OPEN`, `CLOSE` and elements, each list between its two marks.

    Raises `RaggedArray`, `MixedArray`, `EmptyArray` and `ArrayTooLarge`.

    >>> gather([OPEN, OPEN, 1, CLOSE, OPEN, 2, CLOSE, CLOSE], "x")
    ((2, 1), [1, 2])
    """
    elements: list[Any] = []
    counts: list[int] = []  # of each list that is open: how many stand in it so far
    lengths: list[int] = []  # of the first list of each depth; the deepest is closed first
    axes: int | None = None  # as many lists as the first element stands in

    def where() -> list[int]:
        return [count - 1 for count in counts]

    def mixed(this: str, first: str) -> MixedArray:
        return MixedArray(element_name(name, where()), this, element_name(name, [0] * len(counts)), first)

    for token in tokens:
        if token is CLOSE:
            count = counts.pop()
            place = (axes or 0) - 1 - len(counts)
            if place < 0:
                raise EmptyArray(f"{element_name(name, where())} is []")
            if place == len(lengths):
                lengths.append(count)
            elif count != lengths[place]:
                first = element_name(name, [0] * len(counts))
                raise RaggedArray(element_name(name, where()), count, first, lengths[place])
            continue
        if counts:
            counts[-1] += 1
        if token is OPEN:
            if len(counts) == axes:
                raise mixed("a list", "a number")
            counts.append(0)
            if len(counts) > MOST_AXES:
                raise ArrayTooLarge(name, f"more than {MOST_AXES} axes", MOST_AXES)
            continue
        if axes is None:
            axes = len(counts)
        elif len(counts) != axes:
            raise mixed("a number", "a list")
        elements.append(token)
        if len(elements) > MOST_ELEMENTS:
            raise ArrayTooLarge(name, f"more than {MOST_ELEMENTS} elements", MOST_ELEMENTS)
    return tuple(reversed(lengths)), elements


def refuse_shape(shape: Sequence[int], name: str) -> None:
    """Refuse an array by its shape, before its elements are touched. Raises `EmptyArray` and `ArrayTooLarge`."""
    told = f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
    if 0 in shape:
        raise EmptyArray(f"{name} has shape {told}")
    if math.prod(shape) > MOST_ELEMENTS:
        raise ArrayTooLarge(name, f"shape {told}, {math.prod(shape)} elements", MOST_ELEMENTS)
    if len(shape) > MOST_AXES:
        raise ArrayTooLarge(name, f"{len(shape)} axes", MOST_AXES)

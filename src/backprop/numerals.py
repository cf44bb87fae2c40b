"""Numerals: a number or an array as a person gives it, turned into the plain text that every kind of number reads."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from backprop import arrays_text
from backprop.mistakes import LONGEST_NUMBER, Mistake, NotANumber, NotReal, NumberTooLong, TwoReadings

_SIGNS = str.maketrans(dict.fromkeys("−‐‑–—﹣－", "-") | {"＋": "+", "∞": "inf"})
_DECIMAL = r"(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?"
_NUMBER = re.compile(rf"([+-]?)({_DECIMAL}|inf(?:inity)?|[nN]a[nN]|pi|π|tau|τ)(?:/({_DECIMAL}))?")
_GREEK = {"π": "pi", "τ": "tau", "infinity": "inf"}
_PLAIN = r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"  # compiled by the first array
# 1,000 is one to some readers and a thousand to others; 0,125 and 1,5 are clear
_THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?![0-9,])")


class ArrayLike(Protocol):
    """What the arrays of NumPy, PyTorch, JAX and their like have in common."""

    def tolist(self) -> Any: ...


def numeral(value: Any, name: str) -> str:
    """The plain text of the number given for `name`: "-1", "1/3", "2.5", "inf", "pi", of an interval: "0.2..0.4".

    A decimal comma is a decimal point, signs as printed in books are signs. "nan" is left to the kind of number to
    take or to refuse. An array is a text in brackets, a list, or what any library of arrays has: see `array_numeral`.
    Raises `NotANumber`, `NumberTooLong`, `TwoReadings` (1,000 is one or a thousand) and `NotReal`.

    >>> numeral("2,5", "x"), numeral("−1", "x"), numeral("½", "x"), numeral(3, "x"), numeral("-1..½", "x")
    ('2.5', '-1', '1/2', '3', '-1..1/2')
    """
    if isinstance(value, str):
        return array_numeral(value, name) if value.lstrip().startswith("[") else _of_text(value, name)
    if isinstance(value, bool):
        raise NotANumber(name, repr(value))
    if isinstance(value, int):
        return _digits(int(value))
    if isinstance(value, float):
        return repr(float(value))  # that of NumPy is a float with a text of its own
    if hasattr(value, "tolist") or hasattr(value, "__array__") or isinstance(value, (list, tuple, range)):
        return array_numeral(value, name)
    if hasattr(value, "as_integer_ratio"):  # a Fraction or a Decimal
        return _of_text(str(value), name)
    if isinstance(value, complex):
        raise NotReal(name, "complex")
    try:
        shown = repr(value)
    except Exception:  # whatever a class raises; Python itself for a whole number of 5000 digits
        shown = type(value).__name__
    raise NotANumber(name, shown)


def _digits(value: int) -> str:
    """A whole number, written out."""
    bits = value.bit_length()
    if bits < 10_000:
        return repr(value)
    from decimal import Decimal  # Python itself writes out no number of more digits than it is allowed to

    length = int(bits * math.log10(2)) + 1
    text = str(Decimal(value)) if length <= LONGEST_NUMBER + 1 else ""
    if not 0 < len(text) <= LONGEST_NUMBER:
        raise NumberTooLong(length)
    return text


def _of_text(value: str, name: str) -> str:
    text = value.strip().translate(_SIGNS)
    first, dots, last = text.partition("..")
    if dots and first and last and not last.startswith("."):
        ends = _of_text(first, name), _of_text(last, name)
        if "nan" in ends:
            raise NotANumber(name, value)
        return "..".join(ends)
    if text and not text.isascii():
        text = _plain(text)
    if _THOUSANDS.fullmatch(text):
        raise TwoReadings(name, text)
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise NotANumber(name, value)
    if len(text) > LONGEST_NUMBER:
        raise NumberTooLong(len(text))
    sign, number, below = found.groups()
    number = _GREEK.get(number, number).replace(",", ".")
    if number.lower() == "nan":
        return "nan"
    if below is not None and not re.search("[1-9]", below.lower().partition("e")[0]):
        raise NotANumber(name, value)
    return ("-" if sign == "-" else "") + number + (f"/{below.replace(',', '.')}" if below else "")


def is_plain(text: str) -> bool:
    """Whether `numeral` gives a text back as it is; most elements of most arrays are told at once.

    >>> is_plain("-2.50"), is_plain("1/3")
    (True, False)
    """
    return len(text) <= LONGEST_NUMBER and re.fullmatch(_PLAIN, text) is not None


def array_numeral(value: Any, name: str, element: Callable[[Any, str], str] = numeral) -> str:
    """The text of the array given for `name`, as `arrays_text.written` writes it.

    `value` is a text in brackets, lists or tuples of any depth, or an object with `tolist` or `__array__`, as the
    arrays of NumPy, PyTorch, JAX and their like are; one without axes is a number. `element` reads what stands inside;
    a comma between brackets always separates. Raises what `element` and `arrays_text.gather` do, and `NotReal`.

    >>> array_numeral("[[1,2],[−½, inf]]", "W"), array_numeral([0.1, "1/3", 2], "x")
    ('[[1, 2], [-1/2, inf]]', '[0.1, 1/3, 2]')
    """
    typed = isinstance(value, str)
    shape, items = arrays_text.read(value, name) if typed else arrays_text.gather(_nested(value, name), name)
    texts = []
    for position, item in enumerate(items):
        kind = type(item)
        if kind is float or (kind is str and is_plain(item)) or (kind is int and item.bit_length() < 64):
            texts.append(str(item))
            continue
        called = arrays_text.element_name(name, arrays_text.indices_of(shape, position))
        try:
            if typed and item[0] == "0" and position and _THOUSANDS.fullmatch(f"{items[position - 1]},{item}"):
                raise TwoReadings(name, f"{items[position - 1]},{item}")  # [1,000, 2,000]
            text = element(item, called)
            if arrays_text.is_array(text):
                raise NotANumber(called, text)
        except Mistake as mistake:
            if typed:
                mistake.span = arrays_text.span_of_element(value, position)
                mistake.within(value)
            raise
        texts.append(text)
    return arrays_text.written(shape, texts)


def _nested(value: Any, name: str) -> Iterator[Any]:
    """The lists in a value, and what stands in them, as `arrays_text.gather` takes them."""
    waiting = [iter((value,))]
    while waiting:
        for item in waiting[-1]:
            if type(item) not in (str, int, float):
                item = _unpacked(item, name)
                if isinstance(item, (list, tuple, range)):
                    yield arrays_text.OPEN
                    waiting.append(iter(item))
                    break
            yield item
        else:
            waiting.pop()
            if waiting:
                yield arrays_text.CLOSE


def _unpacked(value: Any, name: str) -> Any:
    """What the array of a library holds, as lists or a number; every other value as it is.

    The object tells it by itself, so no library is loaded here. Raises `NotReal`, `EmptyArray` and `ArrayTooLarge`.
    """
    if not hasattr(value, "tolist") and not hasattr(value, "__array__"):
        return value
    kind = type(value)
    try:
        shape = tuple(int(size) for size in getattr(value, "shape", ()))
        holds = str(getattr(value, "dtype", ""))
    except (TypeError, ValueError):  # a size that is not known yet
        raise NotReal(name, f"{kind.__module__}.{kind.__qualname__}, whose shape is not known") from None
    arrays_text.refuse_shape(shape, name)
    if "complex" in holds or getattr(getattr(value, "dtype", None), "names", None):  # names of fields
        raise NotReal(name, holds.rpartition(".")[2])
    try:
        value = value.detach() if hasattr(value, "detach") else value
        value = value if hasattr(value, "tolist") else value.__array__()
        # yes and no are counted: a mask of ones and zeros
        value = value + 0 if "bool" in holds and shape else value
        found = value.tolist()
        return str(found) if hasattr(found, "tolist") else found  # Python has nothing for a longdouble
    except Exception as error:  # whatever a library raises
        told = str(error).partition("\n")[0][:200]
        raise NotReal(name, f"{kind.__module__}.{kind.__qualname__}, which gives no numbers: {told}") from None


def saved_number(value: Any, name: str) -> str:
    """The plain text of a number or an array in JSON, where infinities are words. Raises what `array_numeral` does."""
    if isinstance(value, list):
        return array_numeral(value, name, saved_number)
    if isinstance(value, dict) and value.keys() == {"mid", "rad"}:
        return span_of(numeral(value["mid"], name), numeral(value["rad"], name))
    if value is None or isinstance(value, bool):
        raise NotANumber(name, "null" if value is None else repr(value).lower())
    infinite = {"Infinity": "inf", "-Infinity": "-inf"}
    return numeral(infinite.get(value, value) if isinstance(value, str) else value, name)


def span_of(middle: str, radius: str) -> str:
    """The interval from middle - radius to middle + radius, or the number that it is, as text.

    >>> span_of("0.3", "0.1"), span_of("0.1", "0")
    ('0.2..0.4', '0.1')
    """
    import decimal

    if radius == "0":
        return middle
    context = decimal.Context(prec=2 * LONGEST_NUMBER)
    ends = context.create_decimal(middle), context.create_decimal(radius)
    return f"{context.subtract(*ends)}..{context.add(*ends)}"


def _plain(text: str) -> str:
    """Vulgar fractions written out; everything else is left for the pattern to judge."""
    from backprop.syntax import literal

    sign = "-" if text.startswith("-") else ""
    body = text.removeprefix(sign).removeprefix("+")
    if body in ("inf", "π", "τ"):
        return text
    try:
        return sign + literal(body)
    except ValueError:
        return text

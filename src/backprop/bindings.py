"""Bindings: the words of a command line told apart into options, values of variables and the expression.

A command declares its options once, as `Option` records; splitting, help and completion all read that declaration. The
command's own options always win; every other `--NAME VALUE` binds a variable, wherever it stands on the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple

from backprop.mistakes import (
    CannotRead,
    GivenTwice,
    Mistake,
    NotANumber,
    OptionValue,
    UnknownOption,
    WordMissing,
    closest,
)
from backprop.numerals import numeral, saved_number
from backprop.patterns import pattern

# the terminal NAME of the grammar
NAME = (
    r"[^\W\d_⁰-₟²³¹ªºʰ-ʸˠ-ˤᴬ-ᵡᵸᶛ-ᶿⱽ¼-¾⅐-⅟↉](?:[^\W⁰-₟²³¹ªºʰ-ʸˠ-ˤᴬ-ᵡᵸᶛ-ᶿⱽ¼-¾⅐-⅟↉]|[₀-₉ₐ-ₜ\u0300-\u036f\u20d0-\u20dc])*"
)
_BINDING = rf"({NAME})=(?!=)((?s:.*))"
_FROM_FILE = rf"({NAME}(?:\[[^\]]*\])?)\s*=\s*(@[^\s,]+)"
# `W[0,1]` is one name: this is the comma between two
_BETWEEN_NAMES = r",(?![^\[\]]*\])"
_AROUND = r"\s*([\[\],])\s*"


class Option(NamedTuple):
    """One option of a command. `value` names its value in the help ("" for a flag), `choices` lists what it may be.

    `many` options take several names, `x,y` or the option twice. `short` is a single letter with its dash. A value in
    brackets, [NAMES], may be left out.
    """

    name: str
    says: str
    value: str = ""
    choices: Callable[[], Sequence[str]] | None = None
    many: bool = False
    short: str = ""


@dataclass(slots=True)
class Words:
    """A command line told apart. `given` holds the plain text of each number, `options` the text of each option."""

    options: dict[str, str] = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)
    positional: list[str] = field(default_factory=list)

    def flag(self, name: str) -> bool:
        return name in self.options

    def text(self, name: str, otherwise: str = "") -> str:
        return self.options.get(name, otherwise)

    def names(self, name: str) -> list[str] | None:
        """The names in a list option, None when it was not given."""
        if name not in self.options:
            return None
        return [one for several in self.lists(name) or [] for one in several]

    def lists(self, name: str) -> list[list[str]] | None:
        """The names in a list option, one list each time it was given, None when it was not."""
        if name not in self.options:
            return None
        found = [
            [normal(re.sub(_AROUND, r"\1", one.strip())) for one in re.split(_BETWEEN_NAMES, text)]
            for text in self.options[name].split(";")
        ]
        if not all(one for several in found for one in several):
            raise OptionValue(name, self.options[name], f"Names stand between commas: --{name} x,y")
        return found

    def count(self, name: str, otherwise: int, least: int = 1, most: int = 10**9) -> int:
        """A whole number within bounds."""
        text = self.options.get(name)
        if text is None:
            return otherwise
        if not re.fullmatch(r"\+?[0-9]{1,12}", text.strip()) or not least <= int(text) <= most:
            large = text.strip().lstrip("+").isdecimal() and int(text.strip()) > most
            top = f" up to {most}" if most < 10**9 or large else " on"
            raise OptionValue(name, text, f"A whole number from {least}{top}, like: --{name} {max(least, 10)}")
        return int(text)

    def number(self, name: str, otherwise: float) -> float:
        """A number, finite, written like the value of a variable."""
        text = self.options.get(name)
        if text is None:
            return otherwise
        from backprop.kinds.real import REAL

        try:
            found = float(REAL.number(numeral(text, name)))
        except (NotANumber, OverflowError, ValueError):
            found = float("nan")
        if found - found != 0:
            raise OptionValue(name, text, f"A number, like: --{name} 0.5")
        return found


def normal(name: str) -> str:
    """A name in the composed form in which names are compared."""
    if name.isascii():
        return name
    from backprop.syntax import normal as composed

    return composed(name)


def is_name(text: str) -> bool:
    """Whether a text is a name of the language: `x`, `x₁`, `λ`, `w_2`."""
    return pattern(NAME, text).fullmatch(text) is not None


def split(words: Sequence[str], options: Iterable[Option], binds: bool = True) -> Words:
    """Tell the words of a command line apart. `binds` is False for a command that knows no variables.

    Raises `Mistake` for an option that is unknown, repeated or lacks its value, and a value that is no number.

    >>> found = split(["--x", "-1", "-x*y+f", "y=2,5", "--format", "json"], [Option("format", "", "FORMAT")])
    >>> found.positional, found.given, found.options
    (['-x*y+f'], {'x': '-1', 'y': '2.5'}, {'format': 'json'})
    """
    known = {f"--{option.name}": option for option in options}
    known |= {option.short: option for option in known.values() if option.short}
    found = Words()
    rest = list(words)
    at, maybe = 0, ""  # the option with a value that may be the expression
    while at < len(rest):
        word = rest[at]
        at += 1
        if word == "--":
            found.positional += rest[at:]
            break
        name, equals, value = word.partition("=")
        option = known.get(name) if equals else known.get(word)
        if option is not None:
            if not option.value:
                if equals:
                    raise OptionValue(option.name, value, f"It is a switch and takes no value: --{option.name}")
                value = "yes"
            elif not equals and option.value.startswith("["):
                value = ""
                if at < len(rest) and _names_alone(rest[at]):
                    value, maybe = rest[at], option.name
                    at += 1
            elif not equals:
                if at == len(rest) or rest[at] == "--" or re.match(r"--\w", rest[at]):
                    raise WordMissing(f"--{option.name} has no value", f"Write --{option.name} {option.value}")
                value = rest[at]
                at += 1
            _keep_option(found, option, value)
        elif word.startswith("--"):
            variable = normal(name[2:])
            if not binds or not is_name(variable):
                raise UnknownOption(name, _alike(name[2:], (), known))
            if not equals:
                if at == len(rest) or rest[at] == "--":
                    raise WordMissing(f"{name} has no value", _missing_value(variable, known))
                value = rest[at]
                at += 1
            _bind(found.given, variable, _read_or_slip(value, variable, known))
        elif binds and (binding := pattern(_BINDING, word).fullmatch(word)) and reads_as_value(binding[2]):
            variable = normal(binding[1])
            _bind(found.given, variable, read_value(binding[2], variable))
        else:
            found.positional.append(word)
    if maybe and not found.positional and "file" not in found.options:  # --open x, with nothing else to open
        found.positional.append(found.options[maybe])
        found.options[maybe] = ""
    return found


def _names_alone(text: str) -> bool:
    """Whether a word is one name or several, and nothing else."""
    return all(pattern(rf"{NAME}(?:~\d+)?", text).fullmatch(one.strip()) for one in text.split(","))


def _keep_option(found: Words, option: Option, value: str) -> None:
    if option.choices is not None and value not in option.choices():
        choices = list(option.choices())
        near = closest(value, choices)
        repair = f"Did you mean --{option.name} {near}?   " if near else ""
        repair += f"There are: {', '.join(choices)}"
        if _is_number(value):
            repair += f"   To give a variable called {option.name} this value: {option.name}={value}"
        raise OptionValue(option.name, value, repair)
    if option.name not in found.options:
        found.options[option.name] = value
    elif option.many:
        found.options[option.name] += f";{value}"
    else:
        raise GivenTwice(f"--{option.name}")


def _bind(given: dict[str, str], name: str, value: str) -> None:
    if name in given:
        raise GivenTwice(name)
    given[name] = value


def _missing_value(name: str, known: Mapping[str, Option]) -> str:
    near = _alike(name, (), known)
    meant = f"Did you mean {near}?   " if near else ""
    return f"{meant}To give {name} a value: --{name} 2   (or {name}=2)"


def _alike(name: str, variables: Iterable[str], known: Iterable[str]) -> str | None:
    """The variable or option most like `name`, as it would be written."""
    written = {variable: f"--{variable}" for variable in variables}
    written |= {option[2:]: option for option in known if option.startswith("--")}
    near = closest(name, written)
    return None if near is None else written[near]


def reads_as_value(text: str) -> bool:
    """Whether what follows `NAME=` is meant as its value; if not, the word is an expression such as `y=x^2`.

    >>> reads_as_value("[1, 2]"), reads_as_value("[1, 2]; sum(y*x)"), reads_as_value("[1, 2] * x")
    (True, False, False)
    """
    return text.startswith("@") or text.strip().lower() == "nan" or _is_number(text)


def _is_number(text: str) -> bool:
    if text.startswith("["):
        return _is_whole(text)
    try:
        numeral(text, "")
    except NotANumber:
        return False
    return True


def _is_whole(text: str) -> bool:
    """Whether nothing stands behind an array, or only what is a slip in one: a comma, or a bracket more."""
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "[") - (sign == "]")
        if not depth:
            return text[place + 1 :].lstrip()[:1] in ("", ",", "[", "]")
    return True


def read_value(text: str, name: str) -> str:
    """The plain text of the number or the array given for a variable; `@F` reads it from a file.

    >>> read_value("−1", "x"), read_value("½", "x"), read_value("2,5", "x")
    ('-1', '1/2', '2.5')
    """
    if text.startswith("@"):
        from backprop import value_files

        path = text[1:]
        if value_files.is_binary(path):
            return value_files.binary_value(path, name)
        return value_files.text_value(read_file(path), path, name)
    return numeral(text, name)


def with_files(text: str, name: str) -> str:
    """A direction with the numbers of its files in their places: `@v.npy`, `W=@W.csv, x=[1, 0]`. Raises `Mistake`."""
    if text.startswith("@"):
        return read_value(text, name)
    return pattern(_FROM_FILE, text).sub(lambda found: found[1] + "=" + read_value(found[2], found[1]), text)


def _read_or_slip(text: str, name: str, options: Iterable[str]) -> str:
    """`read_value`; when the text is no number and the name is nearly an option's (`--fromat json`), that is told."""
    try:
        return read_value(text, name)
    except NotANumber as mistake:
        near = _nearly(f"--{name}", options)
        if near is not None:
            mistake.repair = f"Did you mean the option {near} {text}?   {mistake.repair}"
        raise


def _nearly(word: str, options: Iterable[str]) -> str | None:
    """The option that was probably meant. Short names are variables: x is one letter from anything."""
    import difflib

    if len(word) <= 5:
        return None
    found = difflib.get_close_matches(word[2:], [option[2:] for option in options], n=1, cutoff=0.75)
    return f"--{found[0]}" if found else None


# More than any program or trace that could be worked with; what goes on for longer may never end.
LONGEST_TEXT = 1 << 30


def read_file(path: str) -> str:
    """The text of a file. Raises `CannotRead`."""
    try:
        with open(path, "rb") as file:
            return text_of(file, path)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise CannotRead(path, getattr(error, "strerror", None) or str(error)) from None


def text_of(stream: BinaryIO, origin: str) -> str:
    """All of a stream as UTF-8 text (a byte order mark tells UTF-16). Raises `CannotRead` for anything else.

    What is no text is refused as soon as it is met, for a device may never end.
    """
    import codecs

    pieces: list[str] = []
    decoder, taken = codecs.getincrementaldecoder("utf-8-sig")(), 0
    while True:
        data = stream.read(1 << 20)
        if not taken and data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            decoder = codecs.getincrementaldecoder("utf-16")()
        waiting = len(decoder.getstate()[0])
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            place, text = taken - waiting + error.start, "\0"
        else:
            place = taken + data.find(b"\0")
        if "\0" in text:
            raise CannotRead(origin, f"byte {place + 1} is no text", "Text is read as UTF-8.")
        pieces.append(text)
        taken += len(data)
        if not data:
            return "".join(pieces)
        if taken > LONGEST_TEXT:
            raise CannotRead(origin, f"it goes on for more than {LONGEST_TEXT >> 30} GiB")


def point_file(path: str) -> dict[str, str]:
    """The values in a JSON file such as `{"x": 2, "W": [[1, "1/3"]]}`, as plain texts. Raises `Mistake`."""
    from backprop.arrays_text import put_together
    from backprop.value_files import json_record, within

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in items:
            _bind(found, normal(name), value)
        return found

    record = json_record(read_file(path), path, object_pairs_hook=pairs)
    if isinstance(record, dict) and isinstance(record.get("inputs"), dict):  # a trace, or a worked case
        record = record["inputs"]
    if not isinstance(record, dict):
        raise CannotRead(path, "this is no point", 'A point is written {"x": 2, "y": "1/3"}')
    point: dict[str, str] = {}
    with within(path):
        for name, value in record.items():
            point[name] = saved_number(value, name)
        point = put_together(point)
    for name in point:
        if not is_name(name):
            raise CannotRead(path, f"{name!r} is no name of a variable")
    return point


def refuse_lookalikes(unused: Iterable[str], variables: Iterable[str], options: Iterable[Option]) -> None:
    """A variable that the program does not use and that looks like an option is a slip of the fingers.

    `--frmat json` has been found out already, for json is no number; this is for `--step 3` and its like.
    """
    variables = list(variables)
    for name in unused:
        near = _nearly(f"--{name}", [f"--{option.name}" for option in options])
        if near is not None:
            raise UnknownOption(f"--{name}", near, variables)


def extra_word(words: Sequence[str]) -> Mistake:
    """The mistake for a second expression on the line."""
    from backprop.mistakes import ExtraWord

    first, extra = words[0], words[1]
    repair = f"I read {first} as the expression."
    single = re.fullmatch(r"-(\w+)", extra) or re.fullmatch(r"-(\w+)", first)
    binding = pattern(_BINDING, extra).fullmatch(extra)
    if binding:
        repair = f"To give {binding[1]} a value, write a number: {binding[1]}=2"
    elif single and is_name(single[1]):
        repair = f"A variable takes two dashes: --{single[1]} 2"
    elif all(re.fullmatch(r"[\w.()+*/^-]+", word) for word in words):
        repair += f' An expression with spaces needs quotation marks: "{" ".join(words)}"'
    else:
        repair += " Put quotation marks around the whole expression."
    return ExtraWord(extra, repair)

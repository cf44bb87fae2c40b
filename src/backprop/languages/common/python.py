"""Functions of Python: what all languages that are libraries of Python write alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from backprop.languages import ARITHMETIC, Code, Word, calls
from backprop.languages.common.origin import origin
from backprop.ops import AND, CONDITIONAL, NOT, OR, POWER, PRODUCT

WIDTH = 96

MATH = "import math"
# The words of Python for numbers, with the module math.
NUMBER_WORDS = {
    **ARITHMETIC,
    **calls(
        "math.",
        "exp expm1 log log10 log1p sqrt sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh hypot erf "
        "erfc gamma lgamma pow",
        MATH,
    ),
    **calls("", "abs"),
    "mod": Word("x % y", PRODUCT),
    "where": Word("x if c else y", CONDITIONAL),
    "and": Word("x and y", AND),
    "or": Word("x or y", OR),
    "not": Word("not x", NOT),
}


def listed(before: str, items: Sequence[str], after: str, indent: str = "    ", last: str = ",") -> Iterator[str]:
    """A call, a signature or a dict on one line, or where it is too long on lines of its own, `last` behind the last.

    >>> list(listed("def f(", ["x", "y"], "):", ""))
    ['def f(x, y):']
    """
    line = f"{indent}{before}{', '.join(items)}{after}"
    if len(line) <= WIDTH:
        yield line
        return
    yield f"{indent}{before}"
    held = ""
    for item in items:
        if held and len(held) + len(item) + 2 > WIDTH - len(indent) - 4:
            yield f"{indent}    {held}"
            held = ""
        held = f"{held} {item},".lstrip()
    yield f"{indent}    {held.removesuffix(',')}{last}"
    yield f"{indent}{after}"


def docstring(code: Code, says: str, indent: str = "    ") -> Iterator[str]:
    """The docstring of a function: what it is and where it comes from, then what `says` tells of its use."""
    lines = [line.replace("\\", "\\\\").replace('"""', '\\"\\"\\"') for line in origin(code)]
    yield f'{indent}"""{_apart(lines[0])}'
    yield from (f"{indent}{line}" if line else "" for line in [*lines[1:-1]])
    yield from (f"{indent}{line}" for line in wrap(f"{lines[-1]} {says}", WIDTH - len(indent), break_long_words=False))
    yield f'{indent}"""'


def _apart(text: str) -> str:
    """A text that may stand behind three quotes: a fourth would belong to them."""
    return f" {text}" if text.startswith('"') else text


def signature(code: Code) -> Iterator[str]:
    """The line that begins a function."""
    given = [one.code if one.default is None else f"{one.code}={code.number(one.default)}" for one in code.parameters]
    yield from listed(f"def {code.function}(", given, "):", "")


def same_shape(code: Code, convert: str, broadcast: str) -> Iterator[str]:
    """The inputs as arrays of one shape: `convert` makes one of `one`, `broadcast` is called for several."""
    names = [one.code for one in code.inputs]
    if len(names) == 1:
        yield f"    {names[0]} = {convert.replace('one', names[0])}"
    elif names:
        convert = f"{convert} for one in"
        if len(f"    inputs = ({convert} ({', '.join(names)}))") <= WIDTH:
            yield f"    inputs = ({convert} ({', '.join(names)}))"
        else:
            yield from listed("inputs = (", names, ")")
            yield f"    inputs = ({convert} inputs)"
        together = ", ".join(names)
        if len(together) < WIDTH // 2:
            yield f"    {together} = {broadcast}(*inputs)"
        else:
            yield from listed("(", names, f") = {broadcast}(*inputs)")


def statements(code: Code) -> Iterator[str]:
    """One line for each statement."""
    for name, text in code.statements:
        yield f"    {name} = {text}"


def returned(code: Code, full: str, choice: str) -> Iterator[str]:
    """The last lines. `full` makes an array of the shape of the inputs out of `number`.

    `choice` is `slope` where the value is `defined`, and NaN elsewhere.
    """

    def shaped(name: str | None, text: str) -> str:
        if name in code.fixed and code.inputs and name not in code.hiding:
            return full.format(like=code.inputs[0].code, number=text)
        return choice.format(defined=code.defined, slope=text) if name in code.hiding else text

    value = shaped(None, code.value)
    if not code.slopes:
        yield f"    return {value}"
        return
    if code.hiding:
        yield f"    {code.defined} = {code.language.finite.format(value=value)}  # no slope where there is no value"
    slopes = [f"{quoted(name)}: {shaped(name, text)}" for name, text in code.slopes.items()]
    yield from listed(f"return {value}, {{", slopes, "}")


def quoted(name: str) -> str:
    """A name as a text of Python."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def imports(code: Code, *first: str) -> Iterator[str]:
    """What stands before the function: imports, then definitions, each with its blank lines."""
    lines = [*first, *(need for need in code.needs if need.startswith(("import", "from")))]
    yield from sorted(dict.fromkeys(lines), key=lambda line: (not line.startswith("import"), line))
    for need in code.needs:
        if not need.startswith(("import", "from")):
            yield from ("", "")
            yield from need.splitlines()
    yield from ("", "")


def numpy_words(module: str) -> dict[str, Word]:
    """The words of NumPy, which others have under the same names in a module of their own."""
    return {
        **ARITHMETIC,
        **calls(
            f"{module}.",
            "exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan sinh cosh tanh hypot abs sign floor ceil where "
            "mod logaddexp",
            asin="arcsin",
            acos="arccos",
            atan="arctan",
            atan2="arctan2",
            asinh="arcsinh",
            acosh="arccosh",
            atanh="arctanh",
            max="maximum",
            min="minimum",
            round="rint",
        ),
        "pow": Word("x**y", POWER),
        "and": Word(f"{module}.logical_and(x, y)"),
        "or": Word(f"{module}.logical_or(x, y)"),
        "not": Word(f"{module}.logical_not(x)"),
    }

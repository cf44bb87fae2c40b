"""The process in which SymPy works: derivatives of single operations and of a whole closed form, at a point.

`python -m backprop.sympy_child` reads one question as JSON on stdin and answers in JSON lines, one as soon as it is
known, so that what is found before time runs out is kept. Everything is built from the `sympy` forms of the table of
operations, never from text and never from the rules (`partials`) that are being checked.

A number travels as text that is exact (`fraction`), an answer as a decimal of 15 digits more than are to be sure.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

# No answer may take more memory than this; where the system has no such limit, time alone bounds it.
MEMORY = 2 << 30
LIFE = 30

# An answer is believed when it stays the same with more digits: 1 - tanh(300)^2 is 0 with fewer than 261. So many are
# tried beyond those that are to be sure.
LADDER = (10, 60, 190, 470, 1070)
# The digits to be sure of, unless the question says so.
SURE = 30

# Beyond so many bits a number of many digits is not written out as a fraction.
LONGEST_FRACTION = 1_000_000

# Whole numbers up to this size stand in the closed form as they are; any other number is a symbol that has its value.
LARGEST_WHOLE = 1000

Answer = dict[str, Any]


def number(text: str) -> Any:
    """The number a text stands for, with as many digits as mpmath works with."""
    from mpmath import ldexp, mpf

    if "0x" in text:
        return mpf(float.fromhex(text))
    if "@" in text:
        mantissa, _, exponent = text.partition("@")
        return ldexp(mpf(int(mantissa, 16)), int(exponent))
    above, _, below = text.partition("/")
    return mpf(int(above, 16)) / int(below, 16)


def fraction(text: str) -> tuple[int, int]:
    """The very number a text stands for: a double's `hex()`, "m@e" for m·2^e, or "p/q" in hexadecimal.

    >>> fraction("0x1.8p+1"), fraction("3@-2"), fraction("-a/3")
    ((3, 1), (3, 4), (-10, 3))
    """
    if "0x" in text:
        return float.fromhex(text).as_integer_ratio()
    if "@" in text:
        mantissa, _, exponent = text.partition("@")
        if abs(int(exponent)) > LONGEST_FRACTION:
            raise OverflowError(f"2^{exponent} is too long to be written out")
        return (int(mantissa, 16) << max(0, int(exponent)), 1 << max(0, -int(exponent)))
    above, _, below = text.partition("/")
    return int(above, 16), int(below, 16)


def steady(function: Callable[..., Any], arguments: Sequence[str], sure: int = SURE) -> Any:
    """The value of a function of mpmath, with as many digits as it takes to be sure of some; None when it has none."""
    from mpmath import isfinite, mpf, workdps

    before: Any = None
    for more in LADDER:
        with workdps(sure + more):
            value = function(*map(number, arguments))
            if getattr(value, "imag", 0) != 0:
                return None
            value = mpf(getattr(value, "real", value))
            if not isfinite(value):
                return None
            # 0 may be all that is left after a cancellation, so it is believed only at the top of the ladder
            if before is not None and value != 0 and abs(value - before) <= abs(value) * mpf(10) ** -sure:
                return value
            before = value
    # what is left has no steady digits, but it is smaller than any double
    return before if abs(before) < mpf(10) ** -400 else None


def decimal(value: Any, sure: int = SURE) -> str | None:
    from mpmath import nstr

    return None if value is None else str(nstr(value, sure + 15))


# -- one operation ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def slope(name: str, position: int, operands: tuple[Any, ...]) -> tuple[tuple[int, ...], Callable[..., Any]]:
    """The derivative of one operation in one operand: where its arguments stand, and a function of mpmath.

    `operands` holds, for each operand, None for a fresh real symbol, or what is put in its place: true or false for a
    condition, the `hex()` of a double. Raises whatever SymPy raises when it cannot.
    """
    import sympy

    from backprop.ops import by_name

    row = by_name(name)
    if row.sympy is None:
        raise ValueError(f"{name} has no form in SymPy")
    symbols = [sympy.Symbol(f"x{place}", real=True) for place in range(len(operands))]
    filled = [symbols[i] if held is None else _held(sympy, held) for i, held in enumerate(operands)]
    derivative = sympy.diff(row.sympy(sympy, *filled), symbols[position])
    used = tuple(i for i, symbol in enumerate(symbols) if symbol in derivative.free_symbols)
    return used, _compiled(sympy, [symbols[i] for i in used], derivative)


def _held(sympy: Any, held: Any) -> Any:
    if isinstance(held, bool):
        return sympy.true if held else sympy.false
    return sympy.Rational(*fraction(held))


def _compiled(sympy: Any, symbols: list[Any], expression: Any) -> Callable[..., Any]:
    """An expression as a function of mpmath."""
    compiled: Callable[..., Any] = sympy.lambdify(symbols, expression, modules=[STEPS, "mpmath"], cse=True)
    return compiled


def _step(x: Any, _at_0: Any = None) -> int:
    """Heaviside's function, which SymPy's derivative of Max contains; it has no value at its step."""
    if x == 0:
        raise ZeroDivisionError("no derivative at the step")
    return int(x > 0)


def _sign(x: Any) -> int:
    return 2 * _step(x) - 1


def _impulse(x: Any, _order: Any = None) -> int:
    return 0 * _step(x)


STEPS = {"Heaviside": _step, "sign": _sign, "DiracDelta": _impulse}


def local(question: dict[str, Any], sure: int = SURE) -> list[str | None]:
    """The derivative of one operation at many operands: what SymPy makes of `question`.

    `question` has "op", "position" and "points", a list of operands; a condition is true or false, a number is text,
    and null is an operand that has no value because it was not needed. None where SymPy has no real finite number.

    >>> local({"op": "mul", "position": 0, "points": [["0x1p+1", "0x1.8p+1"]]})
    ['3.0']
    """
    found: list[str | None] = []
    for point in question["points"]:
        general = tuple(operand if isinstance(operand, bool) else None for operand in point)
        # at a singular point of the general form (0^3) the other operands are put in first
        special = tuple(None if i == question["position"] else operand for i, operand in enumerate(point))
        value = None
        for operands in (general, special):
            try:
                used, function = slope(question["op"], question["position"], operands)
                value = decimal(steady(function, [point[i] for i in used], sure), sure)
            except Exception:  # SymPy and mpmath raise all sorts; each means that they have no answer
                value = None
            if value is not None:
                break
        found.append(value)
    return found


# -- the whole ----------------------------------------------------------------------------------------------------


def closed_form(question: dict[str, Any], cut: int | None) -> tuple[Any, list[Any], list[Any]]:
    """The output as one expression, its symbols and the texts of their values. The node `cut` counts as an input.

    `question` has "nodes", for each node [operation, operands, their values] or [null, its value], and "output".
    An operation with branches is the branch taken here: nested, the conditions of all branches multiply.
    """
    import sympy

    made: list[Any] = []
    symbols: list[Any] = []
    values: list[Any] = []
    moves = set(question["wrt"])
    for node, (name, content, *known) in enumerate(question["nodes"]):
        if name is None or node == cut:
            text = content if name is None else question["values"][str(node)]
            above, below = fraction(text)
            whole = above % below == 0 and abs(above) <= LARGEST_WHOLE * below
            if name is None and whole and node not in moves:
                made.append(sympy.Integer(above // below))
            else:
                made.append(sympy.Symbol(f"x{node}", real=True))
                symbols.append(made[-1])
                values.append(text)
        elif name == "":
            made.append(made[content[0]])
        else:
            operands = [made[operand] for operand in content]
            places, expression = branch_taken(name, known[0])
            made.append(expression.xreplace(dict(zip(places, operands, strict=True))))
    return made[question["output"]], symbols, values


def branch_taken(name: str, known: list[Any]) -> tuple[list[Any], Any]:
    """An operation over fresh symbols: of its cases the one that holds when the operands have these values."""
    import sympy

    symbols, form = branches(name, len(known))
    values = {symbol: _held(sympy, value) for symbol, value in zip(symbols, known, strict=True)}
    while form.has(sympy.Piecewise):
        choice = next(iter(form.atoms(sympy.Piecewise)))
        taken = next(part for part, condition in choice.args if condition.xreplace(values) == sympy.true)
        form = form.xreplace({choice: taken})
    return symbols, form


@lru_cache(maxsize=256)
def branches(name: str, arity: int) -> tuple[list[Any], Any]:
    """The form of an operation over fresh symbols, its choices written as cases."""
    import sympy

    from backprop.ops import by_name

    form = by_name(name).sympy
    if form is None:
        raise ValueError(f"{name} has no form in SymPy")
    symbols = [sympy.Dummy(f"x{place}", real=True) for place in range(arity)]
    expression = form(sympy, *symbols)
    if not expression.has(sympy.Piecewise, sympy.Max, sympy.Min, sympy.Abs):
        return symbols, expression
    return symbols, expression.replace(
        lambda part: isinstance(part, (sympy.Max, sympy.Min, sympy.Abs)), lambda part: part.rewrite(sympy.Piecewise)
    )


def whole(question: dict[str, Any], node: int, sure: int = SURE) -> str | None:
    """The derivative of the output with respect to one node, from the closed form; None when SymPy has no number."""
    import sympy

    is_leaf = question["nodes"][node][0] is None
    expression, symbols, values = closed_form(question, None if is_leaf else node)
    symbol = sympy.Symbol(f"x{node}", real=True)
    if symbol not in expression.free_symbols:
        return "0"
    return decimal(steady(_compiled(sympy, symbols, sympy.diff(expression, symbol)), values, sure), sure)


def whole_twice(question: dict[str, Any], pair: list[int], sure: int = SURE) -> str | None:
    """The second derivative of the output with respect to two inputs, from the closed form."""
    import sympy

    expression, symbols, values = closed_form(question, None)
    for node in pair:
        expression = sympy.diff(expression, sympy.Symbol(f"x{node}", real=True))
    return decimal(steady(_compiled(sympy, symbols, expression), values, sure), sure)


# -- the process --------------------------------------------------------------------------------------------------


def _end_with(parent: int) -> None:
    """End the process after `LIFE` seconds, and as soon as whoever started it is gone (Windows does not tell that)."""
    until = time.monotonic() + LIFE
    while time.monotonic() < until and os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)


def bound() -> None:
    """Let the process have no more than `MEMORY` bytes and `LIFE` seconds, and no longer life than who asks."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
        resource.setrlimit(resource.RLIMIT_CPU, (LIFE, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    except (ImportError, ValueError, OSError):
        pass  # Windows has no such limits, and some systems refuse one


def say(answer: Answer) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Answer the question on stdin: first each operation, then the whole."""
    bound()
    import sympy  # noqa: F401 -- the clock starts when SymPy is there

    say({"ready": True})
    sys.set_int_max_str_digits(0)
    question = json.loads(sys.stdin.read())
    sure = question.get("sure", SURE)
    for place, group in enumerate(question["local"]):
        say({"local": place, "slopes": local(group, sure)})
    if question["whole"] is not None:
        pairs = question["whole"].get("pairs")
        for place, pair in enumerate(pairs or []):
            try:
                say({"whole": place, "slope": whole_twice(question["whole"], pair, sure)})
            except Exception as error:  # as below
                say({"whole": place, "slope": None, "error": type(error).__name__})
        for node in question["whole"]["wrt"] if pairs is None else []:
            try:
                say({"whole": node, "slope": whole(question["whole"], node, sure)})
            except Exception as error:  # as above: no answer, and the sort of the error says why
                say({"whole": node, "slope": None, "error": type(error).__name__})
    say({"done": True})


if __name__ == "__main__":
    main()

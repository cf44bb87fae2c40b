"""Texts at random: programs with every sign of the language, programs with a slip in them, and texts that are none.

A text is written from a number by Python's own generator, not drawn sign by sign, so thousands of them take seconds; it
gets shorter with its size, so a text that breaks a law is still shrunk to a short one.
"""

from __future__ import annotations

from random import Random

from hypothesis import strategies as some

LETTERS = "xyabe"
LEAVES = ("x", "y", "α", "x₁", "x2", "E", "in", "input", "π", "∞", "2", "0.5", ".5", "3.", "1e3", "2E-3", "½", "2¾")
BLANKS = ("", " ", "  ", "\t", "\u00a0")
BINARY: tuple[str, ...] = (*"+-*/^@%·×÷−<>≠", "**", "<=", ">=", "==", "!=", " and ", " or ")
BOUNDS = ("", "0", "1", "-2", "+3", " − 1 ", "\n12")
STEPS = ("", ":", ":2", ": -1")
# % stands for an expression, $ for a slice
SHAPES: tuple[str, ...] = (
    *("%~%",) * 10,  # ~ for a sign between two
    *("(%)", "(\n% )", "-%", "+ %", "not %", "|%|", "‖%‖", "√(%)", "∛%", "(%)²", "%⁻¹", "(%)!", "(%)ᵀ", "(%).T"),
    *("sin(%)", "max(%, %)", "sum(%, axis=%)", "2 a(%)", "(%)(%)", "[%, 1]", "[%,\n%,]"),
    *("(%)[%]", "(%)[$]", "%[$, %]", "(% if % else %)"),
)
STATEMENTS = ("input x", "param w = 0.5", "input y = -1, z", "input = 3", "# expect x = 2", "")
ENDS = ("; ", "\n", "\r\n", "\n\n")
SLIPS: tuple[str, ...] = (*"()[]|,;=!<+-*^/2x'\n #\\²½", "if ")
PIECES: tuple[str, ...] = (
    *"xy2½²⁻ᵀ()[]|‖,;:=<≤+-*^/%@√.'\"#_&:{}$\\ \n\ré\x00\ud800",
    *(".5", "==", "!", "!=", "**", ".T", "&&", ":=", "e\u0301", "sin"),
    *("if", "else", "and", "or", "not", "input ", "param", "let ", "def "),
)


def expression(random: Random, size: int) -> str:
    """An expression with at most so many leaves, or a few more."""
    if size <= 1:
        return random.choice(LEAVES)
    shape = random.choice(SHAPES).replace("~", _sign(random))
    inside, share = shape.count("%"), size - 1
    written = ""
    for sign in shape:
        if sign == "%":
            part = share if inside == 1 else random.randint(1, max(1, share - inside + 1))
            written += expression(random, part)
            inside, share = inside - 1, share - part
        else:
            written += _slice(random) if sign == "$" else sign
    return written.replace("\x01", "%")


def _sign(random: Random) -> str:
    blank = random.choice(BLANKS)
    return blank + random.choice(BINARY).replace("%", "\x01") + blank


def _slice(random: Random) -> str:
    return f"{random.choice(BOUNDS)}:{random.choice(BOUNDS)}{random.choice(STEPS)}"


def program(seed: int, size: int) -> str:
    """One to five statements with expressions of at most about `size` leaves."""
    random = Random(seed)
    statements = []
    for _ in range(random.randint(1, 5)):
        name, right = random.choice(LETTERS), expression(random, random.randint(1, size))
        forms = (right, f"{name} = {right}", f"f_{name}({name}, z) = {right}", random.choice(STATEMENTS))
        statements.append(random.choice(forms))
    return random.choice(ENDS).join(statements)


def with_a_slip(seed: int, size: int) -> str:
    """A program into which a sign is put, where up to three are taken out."""
    random, text = Random(~seed), program(seed, size)
    at = random.randint(0, len(text))
    return text[:at] + random.choice(SLIPS) + text[at + random.randint(0, 3) :]


def soup(seed: int, size: int) -> str:
    """A text that hardly ever is a program."""
    random = Random(seed)
    return "".join(random.choice(PIECES) for _ in range(random.randint(0, size)))


_seeds, _sizes = some.integers(0, 2**32 - 1), some.integers(1, 12)
expressions = some.builds(lambda seed, size: expression(Random(seed), size), _seeds, _sizes)
programs = some.builds(program, _seeds, _sizes)
programs_with_a_slip = some.builds(with_a_slip, _seeds, _sizes)
soups = some.one_of(some.builds(soup, _seeds, _sizes), some.text(max_size=30))

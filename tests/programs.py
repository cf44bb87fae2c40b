"""Random programs for the laws: smooth ones, defined for every real input, and others that may be anything."""

from __future__ import annotations

from hypothesis import strategies as st

from backprop.point import Point
from backprop.rules import kinks

NAMES = ("x", "y", "z")

# (template, how many operands); each is defined and smooth wherever its operands are
SMOOTH = (
    ("({0} + {1})", 2),
    ("({0} - {1})", 2),
    ("{0}*{1}", 2),
    ("({0})/(2 + ({1})^2)", 2),
    ("sin({0})", 1),
    ("cos({0})", 1),
    ("tanh({0})", 1),
    ("sigmoid({0})", 1),
    ("exp(tanh({0}))", 1),
    ("sqrt(1 + ({0})^2)", 1),
    ("log(1 + ({0})^2)", 1),
    ("atan({0})", 1),
    ("softplus({0})", 1),
    ("-({0})", 1),
    ("({0})^2", 1),
    ("({0})^3", 1),
    ("(1 + ({0})^2)^{1}", 2),
    ("hypot(1 + ({0})^2, {1})", 2),
    ("atan2(1 + ({0})^2, {1})", 2),
    ("where({0} > {1}, {0}, sin({1}))", 2),
    ("max({0}, {1}, 0.3)", 2),
    ("abs({0})", 1),
)

numbers = st.floats(min_value=-2, max_value=2, allow_nan=False).map(lambda value: round(value, 6))
points = st.fixed_dictionaries(dict.fromkeys(NAMES, numbers))


@st.composite
def programs(draw: st.DrawFn, statements: int = 5) -> str:
    """A program of a few statements in which later ones use earlier ones, so that paths meet and part."""
    known = list(NAMES)
    lines: list[str] = []
    for place in range(draw(st.integers(1, statements))):
        text = draw(st.sampled_from(known))
        for _ in range(draw(st.integers(1, 3))):
            template, count = draw(st.sampled_from(SMOOTH))
            others = [draw(st.sampled_from([*known, "0.5", "2"])) for _ in range(count - 1)]
            text = template.format(text, *others)
        lines.append(f"n{place} = {text}")
        known.append(f"n{place}")
    lines.append(" + ".join(known[len(NAMES) :]))
    return "; ".join(lines)


# operations that have no value, or no derivative, somewhere, and choices of which one branch may have none
DARING = (
    *("log({0})", "sqrt({0})", "1/({0})", "({0})^1.5", "({0})^({1})", "asin({0})", "acosh({0})", "({0})*({1})"),
    *("({0}) + ({1})", "({0}) - ({1})", "max({0}, {1})", "min({0}, {1})", "abs({0})", "relu({0})", "sin({0})"),
    *(
        "sign({0})",
        "floor({0})",
        "clip({0}, -1, 1)",
        "({0})^2",
        "where({0} > 0, {1}, {2})",
        "where({0} == 0, {1}, {2})",
    ),
    *("where({0} > {1}, {2}, {0})", "where({0} > 0 and {0} < 1, {2}, {1})", "where({0} != 1, {1}, {2})"),
    "where(not ({0} > 0) or {0} > 2, {2}, {1})",
)


@st.composite
def daring(draw: st.DrawFn, statements: int = 7) -> str:
    """A program that may have no value at many points, and of which branches not taken often have none."""
    known, lines = list(NAMES), list[str]()
    for place in range(draw(st.integers(1, statements))):
        operands = st.sampled_from([*known[-3:], *known, "0.5", "2"])
        lines.append(f"n{place} = " + draw(st.sampled_from(DARING)).format(*(draw(operands) for _ in range(3))))
        known.append(f"n{place}")
    return "; ".join([*lines, " + ".join(known[-2:])])


def at_a_kink(here: Point) -> bool:
    """Whether any node has a kink there, so that laws about derivatives say nothing."""
    return any(kinks(here.graph, here.kind, here.values))

"""Programs of any size for the benchmarks: the same operations as text, as a walk for the peers, and as columns.

The cell is v + sin(v*w + x)*c, five operations. A wide program has many columns of four cells, each reading two columns
of the level below, and adds them up in pairs; a deep one is a single column of cells, as deep as it is long. Neither
value nor gradient grows or fades with the size, so that no contender meets an infinity or a denormal number.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

POINT = {f"x{place}": value for place, value in enumerate((0.3, -0.7, 1.1, 0.9, -1.3, 0.2, 0.6, -0.4, 0.01, -0.01))}
INPUTS = list(POINT)
INPUT, ADD, MUL, SIN = range(4)
LEVELS = 4  # of cells in a wide program
SHAPES, ONE = ("wide", "deep"), "one expression"


@dataclass
class Listed:
    """Operations in order: `codes[i]` on the nodes `left[i]` and `right[i]`; the first ones are the inputs."""

    codes: array[int]
    left: array[int]
    right: array[int]

    def __len__(self) -> int:
        return len(self.codes) - len(INPUTS)

    def run(self, inputs: Sequence[Any], sin: Callable[[Any], Any]) -> Any:
        """The output, worked out with any numbers: this is how a peer meets the program."""
        known = list(inputs)
        for code, left, right in zip(
            self.codes[len(inputs) :], self.left[len(inputs) :], self.right[len(inputs) :], strict=True
        ):
            if code == ADD:
                known.append(known[left] + known[right])
            elif code == MUL:
                known.append(known[left] * known[right])
            else:
                known.append(sin(known[left]))
        return known[-1]


def cells(shape: str, size: int) -> list[tuple[int, int, int, int] | tuple[int, int]]:
    """The program by its lines: (v, w, x, c) is a cell, (a, b) a sum; numbers are lines, the first ten the inputs."""
    inputs = len(INPUTS)
    lines: list[tuple[int, int, int, int] | tuple[int, int]] = []
    if shape == "deep":
        last = 0
        for k in range(max(1, size // 5)):
            lines.append((last, k % 7, (k + 3) % 7, 8 + k % 2))
            last = inputs + k
        return lines
    width = max(1, size // (5 * LEVELS + 1))
    level = [k % 7 for k in range(width)]
    for _ in range(LEVELS):
        made = []
        for k, below in enumerate(level):
            made.append(inputs + len(lines))
            lines.append((below, level[(7 * k + 3) % width], k % 5, 8 + k % 2))
        level = made
    while len(level) > 1:
        made = level[len(level) - len(level) % 2 :]
        for first, second in zip(level[::2], level[1::2], strict=False):
            made.append(inputs + len(lines))
            lines.append((first, second))
        level = made
    return lines


def text(shape: str, size: int) -> str:
    """As it is typed: a statement a line, each a cell or a sum, or one expression. Python can read it too."""
    if shape == ONE:
        return f"f = {expression(size)}\n"
    names = list(INPUTS)
    written = []
    for place, line in enumerate(cells(shape, size)):
        name = f"v{place}"
        if len(line) == 2:
            written.append(f"{name} = {names[line[0]]} + {names[line[1]]}")
        else:
            v, w, x, c = (names[one] for one in line)
            written.append(f"{name} = {v} + sin({v}*{w} + {x})*{c}")
        names.append(name)
    return "\n".join(written) + "\n"


def expression(size: int) -> str:
    """So many operations in one expression: each term has four, and one sign leads on to the next."""
    parts = [f"x{k % 7}*(x9 + 2.5*sin(x{k % 5}))" for k in range(size // 5)]
    while len(parts) > 10:  # in brackets of ten, for Python's parser builds its tree by recursion
        parts = [f"({' + '.join(parts[k : k + 10])})" for k in range(0, len(parts), 10)]
    return " + ".join(parts)


def listed(shape: str, size: int) -> Listed:
    """As columns of operations."""
    nodes = list(range(len(INPUTS)))  # of each line
    codes, left, right = array("i", [INPUT] * len(nodes)), array("i", nodes), array("i", nodes)

    def add(code: int, first: int, second: int) -> int:
        codes.append(code)
        left.append(first)
        right.append(second)
        return len(codes) - 1

    for line in cells(shape, size):
        if len(line) == 2:
            nodes.append(add(ADD, nodes[line[0]], nodes[line[1]]))
            continue
        v, w, x, c = (nodes[one] for one in line)
        inner = add(ADD, add(MUL, v, w), x)
        sine = add(SIN, inner, inner)
        nodes.append(add(ADD, v, add(MUL, sine, c)))
    return Listed(codes, left, right)

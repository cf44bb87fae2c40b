"""A peer from nothing: `python cold.py PEER FILE` reads a program of assignments, prints value and gradient as JSON.

Python itself is the reader of the text, and the quickest one there is; the names are bound to the peer's numbers.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from operations import INPUTS, POINT
from scalar_peers import PEERS


def main() -> None:
    name, file = sys.argv[1:]
    source = Path(file).read_text(encoding="utf-8")
    last = source.rstrip().rpartition("\n")[2].partition(" ")[0]
    code = compile(source, file, "exec")

    def run(inputs: Sequence[Any], sin: Callable[[Any], Any]) -> Any:
        names: dict[str, Any] = {"sin": sin} | dict(zip(INPUTS, inputs, strict=True))
        exec(code, names)
        return names[last]

    works = PEERS[name][1](run, list(POINT.values()))
    if "build" in works:
        works["build"]()
    print(json.dumps(works["gradient"]()))


if __name__ == "__main__":
    main()

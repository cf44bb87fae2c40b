"""What starting and parsing cost on this machine: `python tests/benchmarks/bench_start.py`. Not a test.

A start is measured against that of bare Python (1.0), each as the fastest of several runs, after one that fills the
caches. Parsing is in microseconds an operation.
"""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter

RUNS = 7
SIZES = (10**3, 10**5, 10**6)
POINT = ["(x*y+z)*x", "--x", "3", "--y", "-1", "--z", "2"]
STARTS = {
    "python -c pass": ["-c", "pass"],
    "grad --format json": ["-m", "backprop", "grad", *POINT, "--format", "json"],
    "--help": ["-m", "backprop", "--help"],
    "paths": ["-m", "backprop", "paths", *POINT],
    "trace --no-check": ["-m", "backprop", "trace", *POINT, "--no-check"],
    "trace": ["-m", "backprop", "trace", *POINT],
}
PROGRAMS = {
    "one sum": lambda size: "+".join(["x"] * (size + 1)),
    "assignments": lambda size: "\n".join(["a0 = x", *(f"a{i + 1} = a{i}*1.00001 + x" for i in range(size // 2))]),
}


def fastest_start(words: list[str]) -> float:
    """Seconds of the fastest run of Python with these words."""
    seconds = []
    for _ in range(RUNS + 1):
        begun = perf_counter()
        subprocess.run([sys.executable, *words], stdout=subprocess.DEVNULL, check=True)
        seconds.append(perf_counter() - begun)
    return min(seconds[1:])


def main() -> None:
    bare = 0.0
    for name, words in STARTS.items():
        seconds = fastest_start(words)
        bare = bare or seconds
        print(f"{name:20} {seconds * 1000:6.0f} ms {seconds / bare:6.1f}", flush=True)
    from backprop.grammar import parse

    parse("x")
    for name, program in PROGRAMS.items():
        for size in SIZES:
            text = program(size)
            begun = perf_counter()
            parse(text)
            print(f"parse {name:14} {size:8} {(perf_counter() - begun) / size * 1e6:6.2f} µs/op", flush=True)


if __name__ == "__main__":
    main()

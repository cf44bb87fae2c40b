"""The process of one contender: `python worker.py SUBJECT PLACE SIZE`. It is asked by lines on its standard input.

Each line is the name of a work; the answer is a line of JSON with the seconds it took, the bytes held after it and
at most, and at its first time the answer. The seconds are those of the processor where one core is used, so that other
work on the machine counts less, and of the wall clock where there are more. What a contender prints goes to standard
error.
"""

from __future__ import annotations

import json
import math
import os
import resource
import sys
from time import perf_counter, process_time

from harness import LARGEST_MEMORY
from subjects import by_name

SHORTEST, MOST = 0.05, 50_000  # seconds; a work that takes less is repeated to fill them, so many times at most


def main() -> None:
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    name, place, size = sys.argv[1:]
    subject = by_name(name)
    contender = subject.contenders[int(place)]
    resource.setrlimit(resource.RLIMIT_DATA, (LARGEST_MEMORY, LARGEST_MEMORY))
    if hasattr(os, "sched_setaffinity"):
        usable = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, usable[-contender.cores :])
    clock = process_time if contender.cores == 1 else perf_counter
    works = contender.make(int(size))
    times = dict.fromkeys(works, 0)

    def tell(record: dict[str, object]) -> None:
        out.write(json.dumps(record) + "\n")
        out.flush()

    tell({"works": list(works)})
    for line in sys.stdin:
        work = line.strip()
        rounds = max(1, times[work])
        begun, at = clock(), perf_counter()
        for _ in range(rounds):
            result = works[work]()
        seconds = (clock() - begun) / rounds
        first = times[work] == 0
        if first:
            wall = perf_counter() - at
            times[work] = min(MOST, math.ceil(SHORTEST / max(wall, 1e-9))) if work not in subject.once else 1
        answer = subject.answer(result) if first and result is not None and subject.answer is not None else None
        del result
        tell({"seconds": seconds, "answer": answer} | memory())


def memory() -> dict[str, int]:
    """Bytes that this process holds, and held at most; without what its parent held, unlike `getrusage`."""
    found = {"held": 0, "peak": 0}
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            for line in status:
                for word, key in (("VmRSS:", "held"), ("VmHWM:", "peak")):
                    if line.startswith(word):
                        found[key] = 1024 * int(line.split()[1])
    except OSError:  # not Linux
        found = dict.fromkeys(found, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return found


if __name__ == "__main__":
    main()

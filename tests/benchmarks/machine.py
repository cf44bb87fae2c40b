"""Where it was measured: the processor, its cores, memory, the system, Python, and the version of everything."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path


def described() -> dict[str, str]:
    """What a reader has to know to compare these figures with their own."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": _processor(),
        "cores": str(cores),
        "memory": f"{memory:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
        "Python": sys.version.split()[0],
        "gcc": _gcc(),
        "load": f"{os.getloadavg()[0]:.1f}",
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    family = ", ".join(f"{word} {facts[word]}" for word in ("cpu family", "model") if word in facts)
    megahertz = f", {float(facts['cpu MHz']) / 1000:.1f} GHz" if "cpu MHz" in facts else ""
    return f"{facts.get('model name', 'unknown')} ({family}{megahertz})"


def _gcc() -> str:
    try:
        done = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "not installed"
    return done.stdout.strip()


def versions(modules: Iterable[str]) -> dict[str, str]:
    """The version of the distribution behind each module that is installed."""
    owners = metadata.packages_distributions()
    found: dict[str, str] = {}
    for module in modules:
        for owner in owners.get(module.partition(".")[0], [])[:1]:
            found[owner] = metadata.version(owner)
    return dict(sorted(found.items(), key=lambda pair: pair[0].lower()))

"""C compiled by the benchmarks, for the limits that nothing in Python can reach."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from functools import cache
from pathlib import Path

FLAGS = ("-O3", "-march=native", "-fno-math-errno", "-shared", "-fPIC")


@cache
def library(source: Path) -> ctypes.CDLL:
    """A file of C as a library; it lies in a folder that goes when it is loaded."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "library.so")
        subprocess.run(["gcc", *FLAGS, str(source), "-o", str(made), "-lm"], check=True)
        return ctypes.CDLL(str(made))

"""The subjects of the benchmarks: each module of this folder has a list `SUBJECTS`. A new one is a new module here."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from harness import Subject

ORDER = ("start", "parsing", "programs", "whole", "trace_million", "rows", "files", "paths", "json_writing", "one_pass")


def every() -> Iterator[Subject]:
    """All subjects, in the order of the report; modules that the order does not know come last."""
    here = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem != "__init__")
    for name in [*(name for name in ORDER if name in here), *(name for name in here if name not in ORDER)]:
        yield from import_module(f"subjects.{name}").SUBJECTS


def by_name(name: str) -> Subject:
    """Raises `KeyError` for a name that is none."""
    return {subject.name: subject for subject in every()}[name]

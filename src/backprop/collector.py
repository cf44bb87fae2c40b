"""Python's cyclic collector, told to look less often while a program is worked through.

A large program is millions of small records and no cycles: looking for some would take as long as all the work.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# How many records more than before make it look, and how many such looks make it look at older ones too.
SPARING = (200_000, 20, 100)


@contextmanager
def sparing() -> Iterator[None]:
    """Within it the collector looks less often; it is left as it was found, also where it was turned off."""
    before = gc.get_threshold()
    if 0 < before[0] < SPARING[0]:
        gc.set_threshold(*SPARING)
    try:
        yield
    finally:
        gc.set_threshold(*before)

"""Step functions for SymPy: it has floor and ceiling, but leaves their derivatives unevaluated."""

from __future__ import annotations

from functools import lru_cache
from typing import Any


@lru_cache(maxsize=8)
def step(function: Any) -> Any:
    """The same SymPy function, with the derivative 0 that a step function has between its jumps.

    >>> import sympy
    >>> x = sympy.Symbol("x", real=True)
    >>> step(sympy.floor)(x).diff(x), step(sympy.floor)(sympy.Rational(7, 2))
    (0, 3)
    """

    def fdiff(self: Any, argindex: int = 1) -> int:
        return 0

    # the name is kept: SymPy's printers and its translation to mpmath go by it
    return type(function.__name__, (function,), {"fdiff": fdiff})

"""NumPy: a function of numbers or of arrays, element by element."""

from __future__ import annotations

from collections.abc import Iterator
from keyword import kwlist

from backprop.languages import Code, Language, calls
from backprop.languages.common.python import (
    docstring,
    imports,
    numpy_words,
    returned,
    same_shape,
    signature,
    statements,
)

SAYS = "Takes numbers, or arrays that broadcast to one shape"
SPECIAL = "from scipy import special"


def write(code: Code) -> Iterator[str]:
    """The lines of a module with one function."""
    yield from imports(code, "import numpy as np")
    if "where" in code.used:  # what is not taken is worked out too, and may well be undefined
        yield '@np.errstate(all="ignore")'
    yield from signature(code)
    slopes = ", and the slopes by name, of that shape too" if code.slopes else ""
    yield from docstring(code, f"{SAYS}; returns the value{slopes}.")
    yield from same_shape(code, "np.asarray(one, dtype=float)", "np.broadcast_arrays")
    yield from statements(code)
    full, choice = "np.full_like({like}, {number})", "np.where({defined}, {slope}, np.nan)"
    yield from returned(code, full, choice)


WORDS = {
    **numpy_words("np"),
    **calls("special.", "erf erfc gamma digamma polygamma", SPECIAL, lgamma="gammaln"),
}

LANGUAGE = Language(
    name="numpy",
    says="NumPy: numbers or arrays of them",
    suffix=".py",
    words=WORDS,
    write=write,
    constants={"pi": "np.pi", "e": "np.e", "inf": "np.inf", "nan": "np.nan"},
    reserved={*kwlist, "np", "special", "float", "one", "inputs"},
    letters=True,
    finite="np.isfinite({value})",
    runs_on=("numpy",),
)

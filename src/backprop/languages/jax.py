"""JAX: a compiled function of numbers or arrays, with the gradient written out."""

from __future__ import annotations

from collections.abc import Iterator
from keyword import kwlist

from backprop.languages import Code, Language, Word, calls
from backprop.languages.common.python import (
    docstring,
    imports,
    numpy_words,
    returned,
    same_shape,
    signature,
    statements,
)

POLYGAMMA = "jnp.where(x > 0, special.polygamma({n}, x), jnp.nan)"
SPECIAL = "from jax.scipy import special"

# Compiling takes longer than a minute from about so many statements on.
LONG = 1000


def write(code: Code) -> Iterator[str]:
    """The lines of a module with one function."""
    yield from imports(code, "import jax", "import jax.numpy as jnp")
    yield "@jax.jit"
    yield from signature(code)
    slopes = ", and the slopes by name, of that shape too" if code.slopes else ""
    double = 'For double precision call jax.config.update("jax_enable_x64", True) first.'
    says = f"Takes numbers, or arrays that broadcast to one shape; returns the value{slopes}. {double}"
    if "div" in code.used:  # its algebraic simplifier does, whatever has a name of its own
        says += " XLA works out x/a/b as x/(a*b), which overflows where a*b is beyond 1e308."
    if len(code.statements) > LONG:
        says += " JAX takes minutes to compile a function as long as this one."
    yield from docstring(code, says)
    yield from same_shape(code, "jnp.asarray(one, dtype=float)", "jnp.broadcast_arrays")
    yield from statements(code)
    full, choice = "jnp.full_like({like}, {number})", "jnp.where({defined}, {slope}, jnp.nan)"
    yield from returned(code, full, choice)


def _polygamma(n: float | None, x: float | None) -> Word | None:
    """The order as an integer: no other is taken. What JAX gives below 0 is wrong."""
    return None if n is None else Word(POLYGAMMA.format(n=int(n)), needs=SPECIAL)


WORDS = {
    **numpy_words("jnp"),
    **calls("special.", "erf erfc gamma digamma", SPECIAL, lgamma="gammaln"),
    "polygamma": Word(
        "jnp.where(x > 0, special.polygamma(jnp.asarray(n, dtype=int), x), jnp.nan)", needs=SPECIAL, special=_polygamma
    ),
    "sigmoid": Word("jax.nn.sigmoid(x)"),
}

LANGUAGE = Language(
    name="jax",
    says="JAX: numbers or arrays, under jit",
    suffix=".py",
    words=WORDS,
    write=write,
    constants={"pi": "jnp.pi", "e": "jnp.e", "inf": "jnp.inf", "nan": "jnp.nan"},
    reserved={*kwlist, "jax", "jnp", "special", "float", "one", "inputs", "int"},
    letters=True,
    finite="jnp.isfinite({value})",
    runs_on=("jax",),
)

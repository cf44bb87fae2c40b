"""The gradient with what else was asked: along a direction, pulled back, Hessian times vector, a Taylor series."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from backprop.notation import slope
from backprop.render import grad, jacobian, sparsity
from backprop.render.grad import equations
from backprop.render.hessian import matrix
from backprop.render.look import Look
from backprop.render.tables import paragraph, table

if TYPE_CHECKING:
    from backprop.higher.directions import Directional
    from backprop.record import Value

INDENT = "  "


def render(found: Directional, look: Look) -> Iterator[str]:
    """The lines, without line ends: the value and the gradient, then each answer under its title."""
    f = found.output
    if found.value is not None:
        yield from grad.render(f, found.value, found.gradient or {}, look)
    for place, pattern in enumerate(found.sparsity):
        if place or found.value is not None:
            yield ""
        yield from sparsity.render(pattern, f, look)
    if found.jacobian is not None:
        yield from jacobian.render(found.jacobian, f, look)
    slopes = f"∇{f}" if found.gradient is not None else "J"  # of a vector there is no gradient
    if found.jvp is not None:
        along, value = found.jvp
        yield from _title(look, f"Along {_vector(look, along)} ({slopes}·v)")
        yield from equations({f"∂{f}/∂v": value}, look)
    if found.vjp is not None:
        seed, pulled = found.vjp
        yield from _title(look, f"Pulled back from u = {look.figure(seed)} (u·{slopes})")
        yield from equations({f"u·{slope(f, name)}": value for name, value in pulled.items()}, look)
    if found.hvp is not None:
        along, product = found.hvp
        yield from _title(look, f"How the gradient moves along {_vector(look, along)} (H·v)")
        yield from equations({f"∂({slope(f, name)})/∂v": value for name, value in product.items()}, look)
    if found.hessian:
        yield ""
        yield from matrix(look, list(found.hessian), found.hessian)
    if found.taylor is not None:
        along, coefficients = found.taylor
        yield ""
        title = f"Taylor series of {f} along {_vector(look, along)}: c0 + c1·t + c2·t² + ..."
        rows = ([str(one.k), look.figure(one.value), look.figure(one.derivative)] for one in coefficients)
        yield from table(look, title, ["k", "coefficient of t^k", "derivative (k!·coefficient)"], rows)


def _title(look: Look, text: str) -> Iterator[str]:
    yield ""
    yield from paragraph(look, text, "heading", INDENT)


def _vector(look: Look, along: Mapping[str, Value]) -> str:
    """v in words; a long one by what is not 0 in it."""
    shown = {name: value for name, value in along.items() if len(along) <= 6 or look.figure(value) != "0"}
    parts = [f"{name} = {look.figure(value)}" for name, value in list(shown.items())[:12]]
    if len(shown) > 12:
        parts.append("...")
    others = "" if len(shown) == len(along) else ", others 0"
    return f"v: {', '.join(parts)}{others}"

"""Directions through arrays: the same questions as `directions`, of programs whose inputs or output are arrays.

What belongs to the output as a whole (a Jacobian and its products) goes over the closed graph; second derivatives and
series over the opened program while it is small. How the gradient of a large program moves along a direction comes
from dual numbers: reverse mode over values that carry their tangents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from backprop.arrays_text import element_name
from backprop.gradient import refuse_holes
from backprop.graph import INPUT
from backprop.higher.blocks import blocks, gathered
from backprop.higher.directions import (
    Asked,
    Directional,
    amounts,
    named,
    needs_line,
    second_derivatives,
    taylor_series,
    vector,
)
from backprop.higher.hessians import too_large
from backprop.higher.jacobians import Outputs
from backprop.kinds import is_number
from backprop.kinds.array import elements, shape_of
from backprop.kinds.dual import Dual, Duals
from backprop.mistakes import NoVariable, Undefined
from backprop.point import Point
from backprop.record import Note
from backprop.reverse import reverse
from backprop.rules import partials
from backprop.values import values

# The step of the difference quotients of gradients, of the size of the numbers; and how nearly both have to agree with
# the dual numbers, the error of a one-sided quotient being of the size of its step.
STEP, CLOSE = 1e-6, 1e-3


def of_arrays(here: Point, asked: Asked) -> Directional:
    """What is asked of a program with arrays. Raises as `directions.directional` does."""
    outputs = Outputs(here)
    found = Directional(
        output=outputs.output,
        value=None,
        wrt=[here.name_of(node) for node in here.wrt],
        gradient=None,
        shapes={here.name_of(node): shape for node, shape in outputs.shapes.items()},
        figures=here.kind.figures,
    )
    if asked.sparsity:
        found.sparsity = outputs.patterns(asked)
        if all(one is None for one in (asked.jvp, asked.vjp, asked.hvp, asked.order)):
            return found
    second = asked.hvp is not None or asked.order is not None or (asked.hessian and not asked.sparsity)
    if second:
        here.gradient()  # of a vector there is none, nor is there anything beyond
    outputs.refuse()
    if not here.shape:
        refuse_holes(here)
        found.gradient = {name: here.kind.record(value) for name, value in here.gradient().items()}
    found.value = here.kind.record(outputs.value())
    if asked.jacobian and not asked.sparsity:
        found.jacobian = outputs.told(asked.mode)
    if asked.vjp is not None:
        seed = amounts(here, "vjp", asked.vjp, here.shape)
        pulled = zip(found.wrt, outputs.pulled(seed), strict=True)
        found.vjp = here.kind.record(seed), {name: here.kind.record(value) for name, value in pulled}
    if asked.jvp is not None:
        along = vector(here, "jvp", asked.jvp)
        found.jvp = named(here, along), here.kind.record(outputs.times(along))
    found.notes = outputs.remarks()
    if second:
        _second(here, found, asked)
    return found


def _second(here: Point, found: Directional, asked: Asked) -> None:
    """What is asked beyond the gradient, of the opened program or by dual numbers."""
    told = here.told()
    along = None if asked.hvp is None else vector(here, "hvp", asked.hvp)
    if not told.is_scalar:
        if asked.order is not None or (asked.hessian and not asked.sparsity):
            raise too_large("a series" if asked.order is not None else "a Hessian").within(here.syntax.source)
        if along is not None:
            moved, notes = moving_gradient(here, along)
            found.hvp = named(here, along), {name: here.kind.record(value) for name, value in moved.items()}
            found.notes += notes
        return
    second_derivatives(told, found, asked, None if along is None else _by_element(here, told, along))
    if found.hvp is not None and along is not None and found.shapes is not None:
        found.hvp = named(here, along), gathered(found.hvp[1], found.shapes)
    if asked.order is not None:
        if asked.jvp is None and len(told.wrt) != 1:
            raise needs_line([told.name_of(node) for node in told.wrt])
        line = vector(here, "jvp", asked.jvp if asked.jvp is not None else [1])
        taylor_series(told, found, _by_element(here, told, line), asked.order)
        assert found.taylor is not None
        found.taylor = named(here, line), found.taylor[1]


def _by_element(here: Point, told: Point, along: Mapping[int, Any]) -> dict[int, Any]:
    """A direction of arrays as one of the opened program, node by node."""
    found: dict[str, Any] = {}
    for node, amount in along.items():
        names = (element_name(here.name_of(node), at) for at in np.ndindex(*shape_of(amount)))
        found |= dict(zip(names, elements(amount), strict=True))
    return {node: told.kind.number("0") + found[told.name_of(node)] for node in told.wrt}


def arrays_of(here: Point, rows: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Second derivatives by elements as arrays by the names of the inputs, each of the shapes of both."""
    shapes = {here.name_of(node): shape_of(here.values[node]) for node in here.wrt}
    return {
        one: {
            other: here.kind.answer(_packed(here, blocks_of, shapes[one] + shapes[other]))
            for other, blocks_of in row.items()
        }
        for one, row in blocks(rows, shapes).items()
    }


def _packed(here: Point, found: Any, shape: tuple[int, ...]) -> Any:
    for _ in shape[1:]:
        found = [one for row in found for one in row]
    return here.kind.packed(found, shape) if shape else found  # type: ignore[attr-defined]


# -- without opening the program --------------------------------------------------------------------------------------


def moving_gradient(here: Point, along: Mapping[int, Any]) -> tuple[dict[str, Any], list[Note]]:
    """How the gradient of a program with arrays moves along a direction (input to tangent): Hessian times vector.

    Where a kink or the boundary of a condition is met, the difference quotients of the gradient on both sides have to
    agree with it. Raises `NoVariable` for a node that is no input, `Undefined` where there is no such product.
    """
    for node in here.wrt:
        if here.graph.codes[node] != INPUT:
            raise NoVariable(here.name_of(node), list(here.graph.inputs))
    kind = Duals(here.kind)  # type: ignore[arg-type]
    leaves = {node: here.values[node] for node in here.graph.inputs.values()}
    leaves |= {node: Dual(here.values[node], amount) for node, amount in along.items()}
    known = values(here.graph, kind, leaves)
    adjoints = reverse(here.graph, partials(here.graph, kind, known, here.moving), kind).adjoints
    found: dict[str, Any] = {}
    for node in here.wrt:
        adjoint = adjoints[node]
        moved = adjoint.tangent if isinstance(adjoint, Dual) else adjoint if _is_lost(adjoint) else here.kind.number("0")
        name = here.name_of(node)
        if not all(is_number(one) for one in elements(moved)):
            raise Undefined(
                f"how ∂{here.graph.ids[here.graph.output]}/∂{name} moves along this has no value by the rules, or "
                "overflows, and the program is too large to look beside the point"
            ).within(here.syntax.source)
        found[name] = kind.below.broadcast(moved, shape_of(here.values[node]))
    if not kind.kinks:
        return found, []
    met = f"there is a kink or a boundary at {kind.kinks[0]}"
    if here.kind.base.digits and _is_even(here, along, found):
        return found, [Note("kink", f"{met}; along this direction the gradient moves evenly all the same")]
    raise Undefined(
        f"how the gradient moves along this is not told: {met}, and beside the point it moves in another way"
    ).within(here.syntax.source)


def _is_lost(adjoint: Any) -> bool:
    """Whether an adjoint that does not move has no value."""
    return adjoint is not None and not all(is_number(one) for one in elements(adjoint))


def _is_even(here: Point, along: Mapping[int, Any], found: Mapping[str, Any]) -> bool:
    """Whether the difference quotients of the gradient on both sides agree with what was found."""
    number = here.kind.base.number
    size = max((abs(float(one)) for node in along for one in elements(here.values[node])), default=0.0)
    speed = max((abs(float(one)) for amount in along.values() for one in elements(amount)), default=0.0)
    step = STEP * max(size, 1.0) / (speed or 1.0)
    middle = here.by_rules()
    for sign in ("", "-"):
        h = number(f"{sign}{step!r}")
        leaves = {node: here.values[node] for node in here.graph.inputs.values()}
        for node, amount in along.items():
            leaves[node] = here.kind.add(here.values[node], here.kind.times(amount, h, False))
        beside = replace(here.in_kind(here.kind, leaves), _reverse=None).by_rules()
        for name, moved in found.items():
            largest = max(abs(float(one)) for one in elements(moved))
            for ours, near, far in zip(elements(moved), elements(beside[name]), elements(middle[name]), strict=True):
                if not is_number(near) or not is_number(far):
                    return False
                quotient = (near - far) / h
                if abs(float(quotient - ours)) > CLOSE * max(largest, 1.0, abs(float(far))):
                    return False
    return True

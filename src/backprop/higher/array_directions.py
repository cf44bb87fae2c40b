"""Directions through arrays: the same questions as `directions`, of programs whose inputs or output are arrays.

What belongs to the output as a whole (a Jacobian and its products) goes over the closed graph; second derivatives and
series over the opened program while it is small. How the gradient of a large program moves along a direction comes
from dual numbers: reverse mode over values that carry their tangents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backprop.array_point import ArrayPoint
from backprop.gradient import refuse_holes
from backprop.higher.blocks import Part, blocks, gathered
from backprop.higher.directions import (
    Directional,
    Question,
    amounts,
    components,
    needs_line,
    refuse_beyond,
    second_derivatives,
    taylor_series,
)
from backprop.higher.hessians import too_large
from backprop.higher.jacobians import told_jacobian
from backprop.higher.outputs import Outputs, asked_parts
from backprop.kinds import is_number
from backprop.kinds.dual import Dual, Duals
from backprop.kinds.shapes import elements
from backprop.mistakes import Undefined
from backprop.point import Point
from backprop.record import Note
from backprop.refusals import refuse_steps
from backprop.reverse import reverse
from backprop.rules import partials
from backprop.values import values

# The steps of the difference quotients of gradients, of the size of the numbers. The error of a one-sided quotient goes
# with its step; it may be so large a part of the numbers, or has to fall so far from the first step to the second.
STEPS, CLOSE, FALLS = (1e-3, 1e-5), 1e-3, 0.1


def of_arrays(here: Point, asked: Question) -> Directional:
    """What is asked of a program with arrays. Raises as `directions.directional` does."""
    outputs = Outputs(here)
    found = Directional(
        output=outputs.output,
        value=None,
        wrt=here.names(),
        gradient=None,
        parts=[*outputs.parts],
        figures=here.kind.figures,
    )
    second = asked.hvp is not None or asked.order is not None or (asked.hessian and not asked.sparsity)
    if second:
        here.gradient()  # of a vector there is none, nor is there anything beyond
    outputs.refuse()
    record, shapes = here.kind.record, {part.name: part.shape for part in outputs.parts}
    if not here.shape:
        refuse_holes(here)
        found.gradient = {name: record(value) for name, value in here.gradient().items()}
    found.value = record(outputs.value())
    if asked.jacobian and not asked.sparsity:
        found.jacobian = told_jacobian(outputs, asked.mode)
    if asked.vjp is not None:
        seed = amounts(here, "vjp", asked.vjp, here.shape)
        pulled = outputs.pulled(seed)
        for name, one in zip(outputs.names, (one for value in pulled.values() for one in elements(value)), strict=True):
            refuse_beyond(here, f"u·∂{outputs.output}/∂{name}", one)
        found.vjp = record(seed), {name: record(value) for name, value in pulled.items()}
    if asked.jvp is not None:
        along = components(here.kind, "jvp", asked.jvp, shapes)
        moved = outputs.times(outputs.direction(along))
        for row, one in zip(outputs.rows, elements(moved), strict=True):
            refuse_beyond(here, f"∂{row}/∂v", one)
        found.jvp = {name: record(amount) for name, amount in along.items()}, record(moved)
    found.notes = outputs.remarks()
    if second:
        _second(outputs, found, asked, shapes)
    return found


def _second(outputs: Outputs, found: Directional, asked: Question, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """What is asked beyond the gradient, of the opened program or by dual numbers."""
    here, record = outputs.here, outputs.here.kind.record
    told, full = here.told(), asked.hessian and not asked.sparsity
    if full or asked.hvp is not None:
        refuse_steps(here)
    along = None if asked.hvp is None else components(here.kind, "hvp", asked.hvp, shapes)
    if not told.is_scalar:
        if asked.order is not None or full:
            raise too_large("a series" if asked.order is not None else "a Hessian").within(here.syntax.source)
        assert along is not None
        moved, notes = moving_gradient(outputs, outputs.direction(along))
        found.hvp = {}, {name: record(value) for name, value in moved.items()}
        found.notes += notes
    else:
        second_derivatives(told, found, asked, None if along is None else _by_element(outputs, told, along))
        if found.hvp is not None:
            found.hvp = {}, gathered(found.hvp[1], outputs.parts)
    if found.hvp is not None and along is not None:
        found.hvp = {name: record(amount) for name, amount in along.items()}, found.hvp[1]
    if asked.order is not None:
        if asked.jvp is None and len(told.wrt) != 1:
            raise needs_line(shapes, len(told.wrt))
        line = components(here.kind, "jvp", asked.jvp if asked.jvp is not None else [1], shapes)
        taylor_series(told, found, _by_element(outputs, told, line), asked.order)
        assert found.taylor is not None
        found.taylor = {name: record(amount) for name, amount in line.items()}, found.taylor[1]


def _by_element(outputs: Outputs, told: Point, along: Mapping[str, Any]) -> dict[int, Any]:
    """A direction of arrays as one of the opened program, node by node."""
    found: dict[str, Any] = {}
    for part in outputs.parts:
        amount = along[part.name]
        # of Python's numbers, which are told in another way than those of NumPy
        numbers = amount.reshape(-1).tolist() if part.shape else [amount]
        for name, one in zip(part.elements, numbers, strict=True):
            found[name] = told.kind.add(found[name], one) if name in found else one  # W and W[0] may both move
    return {node: found[told.name_of(node)] for node in told.wrt}


def parts(here: Point) -> list[Part]:
    """What is asked for at a point, with the names of its elements."""
    return [*asked_parts(here)]


def arrays_of(here: Point, rows: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Second derivatives by elements as arrays by what is asked for, each of the shapes of both."""
    several = asked_parts(here)
    shapes = {part.name: part.shape for part in several}
    return {
        one: {other: _packed(here, block, shapes[one] + shapes[other]) for other, block in row.items()}
        for one, row in blocks(rows, several).items()
    }


def _packed(here: Point, found: Any, shape: tuple[int, ...]) -> Any:
    for _ in shape[1:]:
        found = [one for row in found for one in row]
    assert isinstance(here, ArrayPoint)
    return here.kind.answer(here.kind.packed(found, shape) if shape else found)


# -- without opening the program --------------------------------------------------------------------------------------


def moving_gradient(outputs: Outputs, along: Mapping[int, Any]) -> tuple[dict[str, Any], list[Note]]:
    """How the gradient of a program with arrays moves along a direction (input to tangent): Hessian times vector.

    Where a kink or the boundary of a condition is met, the difference quotients of the gradient on both sides have to
    agree with it. Raises `Undefined` where there is no such product.
    """
    here = outputs.here
    assert isinstance(here, ArrayPoint)
    kind = Duals(here.kind)
    leaves = {node: here.values[node] for node in here.graph.inputs.values()}
    leaves |= {node: Dual(here.values[node], amount) for node, amount in along.items()}
    known = values(here.graph, kind, leaves)
    adjoints = reverse(here.graph, partials(here.graph, kind, known, here.moving), kind).adjoints
    found: dict[str, Any] = {}
    for part in outputs.parts:
        adjoint, shape = adjoints[part.node], outputs.shapes[part.node]
        moved = (
            adjoint.tangent if isinstance(adjoint, Dual) else adjoint if _is_lost(adjoint) else here.kind.number("0")
        )
        numbers = list(elements(here.kind.broadcast(moved, shape)))
        found[part.name] = outputs.shaped([numbers[place] for place in part.places], part.shape)
        if not all(map(is_number, elements(found[part.name]))):
            raise Undefined(
                f"how ∂{outputs.output}/∂{part.name} moves along this has no value by the rules, or overflows, and the "
                "program is too large to look beside the point"
            ).within(here.syntax.source)
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


def _is_even(here: ArrayPoint, along: Mapping[int, Any], found: Mapping[str, Any]) -> bool:
    """Whether the difference quotients of the gradient on both sides close in on what was found."""
    size = max((abs(float(one)) for node in along for one in elements(here.values[node])), default=0.0)
    speed = max((abs(float(one)) for amount in along.values() for one in elements(amount)), default=0.0)
    middle = here.by_rules()
    for sign in (1, -1):
        errors = []
        for step in STEPS:
            h = here.kind.base.number(repr(sign * step * max(size, 1.0) / (speed or 1.0)))
            leaves = {node: here.values[node] for node in here.graph.inputs.values()}
            for node, amount in along.items():
                leaves[node] = here.kind.add(here.values[node], here.kind.times(amount, h))
            beside, worst = here.in_kind(here.kind.base, leaves).by_rules(), 0.0
            for name, moved in found.items():
                largest = max(1.0, *(abs(float(one)) for one in elements(moved)))
                for ours, near, far in zip(
                    elements(moved), elements(beside[name]), elements(middle[name]), strict=True
                ):
                    if not is_number(near) or not is_number(far):
                        return False
                    worst = max(worst, abs(float((near - far) / h - ours)) / max(largest, abs(float(far))))
            errors.append(worst)
        if errors[1] > max(CLOSE, FALLS * errors[0]):
            return False
    return True

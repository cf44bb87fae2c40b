"""The peers for programs of many operations: each makes a function of ten numbers ready, its value and its gradient.

`run(inputs, sin)` works the program out with any numbers; the same function serves a list of operations that is walked
and a text that Python reads. A peer gives three works: "build", what is done once; "forward", the value; "gradient",
value and gradient as [value, slope, slope, ...].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from harness import Works

Run = Callable[[Sequence[Any], Callable[[Any], Any]], Any]
Peer = Callable[[Run, Sequence[float]], Works]


def casadi(run: Run, point: Sequence[float]) -> Works:
    import casadi as ca

    made: dict[str, Any] = {}

    def build() -> None:
        x = ca.SX.sym("x", len(point))
        f = run([x[k] for k in range(len(point))], ca.sin)
        made["value"] = ca.Function("value", [x], [f])
        made["gradient"] = ca.Function("gradient", [x], [f, ca.gradient(f, x)])

    def forward() -> float:
        return float(made["value"](point))

    def gradient() -> list[float]:
        value, slopes = made["gradient"](point)
        return [float(value), *map(float, slopes.full().ravel())]

    return {"build": build, "forward": forward, "gradient": gradient}


def torch(run: Run, point: Sequence[float]) -> Works:
    import torch as t

    t.set_num_threads(1)
    plain = [t.tensor(value, dtype=t.float64) for value in point]
    moving = [value.clone().requires_grad_() for value in plain]

    def forward() -> float:
        with t.no_grad():
            return float(run(plain, t.sin))

    def gradient() -> list[float]:
        value = run(moving, t.sin)
        slopes = t.autograd.grad(value, moving, allow_unused=True)
        return [float(value.detach()), *(0.0 if slope is None else float(slope) for slope in slopes)]

    return {"forward": forward, "gradient": gradient}


def autograd(run: Run, point: Sequence[float]) -> Works:
    import autograd as a
    from autograd import numpy as np

    def function(*x: Any) -> Any:
        return run(x, np.sin)

    both = a.value_and_grad(function, argnum=tuple(range(len(point))))

    def gradient() -> list[float]:
        value, slopes = both(*point)
        return [float(value), *map(float, slopes)]

    return {"forward": lambda: float(function(*point)), "gradient": gradient}


def micrograd(run: Run, point: Sequence[float]) -> Works:
    from micrograd.engine import Value

    def sin(x: Any) -> Any:
        out = Value(math.sin(x.data), (x,), "sin")

        def backward() -> None:
            x.grad += math.cos(x.data) * out.grad

        out._backward = backward
        return out

    def gradient() -> list[float]:
        inputs = [Value(value) for value in point]
        value = run(inputs, sin)
        value.backward()
        return [value.data, *(each.grad for each in inputs)]

    return {"forward": lambda: float(run([Value(value) for value in point], sin).data), "gradient": gradient}


def jax(run: Run, point: Sequence[float]) -> Works:
    import jax as j

    j.config.update("jax_enable_x64", True)
    made: dict[str, Any] = {}
    x = j.numpy.array(point)

    def function(x: Any) -> Any:
        return run([x[k] for k in range(len(point))], j.numpy.sin)

    def build() -> None:
        made["value"] = j.jit(function).lower(x).compile()
        made["gradient"] = j.jit(j.value_and_grad(function)).lower(x).compile()

    def gradient() -> list[float]:
        value, slopes = made["gradient"](x)
        return [float(value), *map(float, slopes)]

    return {"build": build, "forward": lambda: float(made["value"](x)), "gradient": gradient}


def xad(run: Run, point: Sequence[float]) -> Works:
    import xad.adj_1st as x1
    import xad.math as xm

    def gradient() -> list[float]:
        with x1.Tape() as tape:
            inputs = [x1.Real(value) for value in point]
            for each in inputs:
                tape.registerInput(each)
            tape.newRecording()
            value = run(inputs, xm.sin)
            tape.registerOutput(value)
            value.setDerivative(1.0)
            tape.computeAdjoints()
            return [value.getValue(), *(each.getDerivative() for each in inputs)]

    def forward() -> float:
        return float(run([x1.Real(value) for value in point], xm.sin).getValue())

    return {"forward": forward, "gradient": gradient}


def sympy(run: Run, point: Sequence[float]) -> Works:
    import sympy as s

    made: dict[str, Any] = {}

    def build() -> None:
        x = s.symbols(f"x:{len(point)}", real=True)
        f = run(x, s.sin)
        made["value"] = s.lambdify(x, f, "math", cse=True)
        made["gradient"] = s.lambdify(x, [f, *(s.diff(f, one) for one in x)], "math", cse=True)

    return {
        "build": build,
        "forward": lambda: float(made["value"](*point)),
        "gradient": lambda: [float(one) for one in made["gradient"](*point)],
    }


# what it is called in the tables: the module it needs, and the function
PEERS: dict[str, tuple[str, Peer]] = {
    "micrograd, with a sine": ("micrograd", micrograd),
    "autograd": ("autograd", autograd),
    "PyTorch scalars": ("torch", torch),
    "XAD": ("xad", xad),
    "JAX jit": ("jax", jax),
    "CasADi SX": ("casadi", casadi),
    "SymPy": ("sympy", sympy),
}

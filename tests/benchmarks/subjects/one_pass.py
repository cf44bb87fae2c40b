"""One pass for all: the gradient by one reverse pass against a tangent pass for each of 1000 inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness import MILLISECONDS, Found, Subject, Works

INPUTS, LEAST = 1000, 400
REVERSE, TANGENTS = "one reverse pass", "1000 tangent passes"
ROWS = (1, 100)
SWEEPS, WITH_VALUE = "backprop, the sweeps alone", "backprop, with the value"
WRITTEN = "backprop, written out as 1000 products"

ONE_PASS = Subject(
    "one_pass",
    "One pass for all",
    "A linear layer of 1000 inputs, the sum of W @ x: its gradient by one reverse pass, and by a tangent pass for each "
    "input, in this program and in the frameworks, with matrices of 1 and of 100 rows.",
    sizes=ROWS,
    quick=ROWS[:1],
    works=(REVERSE, TANGENTS),
    measure=MILLISECONDS,
    quotient=(TANGENTS, REVERSE),
    repeats=5,
    limit=120,
    answer=lambda result: [] if result is None else result,
    size_word="rows",
)
SUBJECTS = [ONE_PASS]


def layer(rows: int) -> tuple[Any, Any]:
    """W, with so many rows, and x."""
    import numpy as np

    numbers = np.array([(i * 37 % 101 - 50) / 100 for i in range(rows * INPUTS)])
    return numbers.reshape(rows, INPUTS), np.arange(INPUTS) / 8


def _flat(found: Any) -> list[float]:
    return [float(one) for one in found]


def _sweeps(program: str, point: dict[str, Any], wrt: list[str], with_value: bool) -> Works:
    from backprop import costs
    from backprop.point import at

    here = at(program, point, wrt)
    runner = costs.machine(here)
    slopes = runner.partials(runner.value())

    def known() -> Any:
        return runner.partials(runner.value()) if with_value else slopes

    def tangents() -> None:
        for direction in runner.directions():
            runner.forward(known(), direction)

    return {REVERSE: lambda: runner.backward(known(), 1.0), TANGENTS: tangents}


def _ours(with_value: bool) -> Callable[[int], Works]:
    def make(rows: int) -> Works:
        from backprop import costs
        from backprop.point import at

        W, x = layer(rows)
        here = at("sum(W@x)", {"W": W, "x": x}, ["x"])
        expected = _flat(W.sum(axis=0))
        for found in (costs.by_reverse(here), costs.by_forward(here)):
            if any(abs(one - other) > 1e-9 for one, other in zip(_flat(found["x"]), expected, strict=True)):
                raise SystemExit("the two ways give different gradients")
        works = _sweeps("sum(W@x)", {"W": W, "x": x}, ["x"], with_value)
        return {name: _without_answer(work) for name, work in works.items()}

    return make


def _without_answer(work: Callable[[], Any]) -> Callable[[], None]:
    def run() -> None:
        work()

    return run


ONE_PASS.contender(SWEEPS, ["backprop"], ours=True)(_ours(False))
ONE_PASS.contender(WITH_VALUE, ["backprop"], ours=True)(_ours(True))


@ONE_PASS.contender(WRITTEN, ["backprop"], ours=True, largest=1, why_no_more="one row only")
def written(_: int) -> Works:
    program = " + ".join(f"w{i}*x{i}" for i in range(INPUTS))
    point = {f"{letter}{i}": (i * 37 % 101 - 50) / 100 for letter in "wx" for i in range(INPUTS)}
    works = _sweeps(program, point, [f"w{i}" for i in range(INPUTS)], False)
    return {name: _without_answer(work) for name, work in works.items()}


@ONE_PASS.contender("PyTorch", ["torch"])
def torch(rows: int) -> Works:
    import torch as t

    t.set_num_threads(1)
    W, x = layer(rows)
    weights, given = t.tensor(W), t.tensor(x, requires_grad=True)
    seeds = t.eye(INPUTS, dtype=t.float64)

    def function(x: Any) -> Any:
        return (weights @ x).sum()

    def tangents() -> list[float]:
        point = given.detach()
        return _flat([t.func.jvp(function, (point,), (seed,))[1] for seed in seeds])

    return {REVERSE: lambda: _flat(t.autograd.grad(function(given), given)[0].tolist()), TANGENTS: tangents}


@ONE_PASS.contender("JAX jit", ["jax"])
def jax(rows: int) -> Works:
    import jax as j
    import numpy as np

    j.config.update("jax_enable_x64", True)
    W, x = layer(rows)
    weights, given, seeds = j.numpy.array(W), j.numpy.array(x), list(j.numpy.eye(INPUTS))

    def function(x: Any) -> Any:
        return (weights @ x).sum()

    gradient = j.jit(j.grad(function))
    tangent = j.jit(lambda x, seed: j.jvp(function, (x,), (seed,))[1])

    def tangents() -> list[float]:
        return _flat([tangent(given, seed).block_until_ready() for seed in seeds])

    return {REVERSE: lambda: np.asarray(gradient(given).block_until_ready()).tolist(), TANGENTS: tangents}


@ONE_PASS.contender("CasADi", ["casadi"])
def casadi(rows: int) -> Works:
    import casadi as ca

    W, x = layer(rows)
    argument, seed = ca.MX.sym("x", INPUTS), ca.MX.sym("v", INPUTS)
    value = ca.sum1(ca.mtimes(ca.DM(W), argument))
    reverse = ca.Function("reverse", [argument], [ca.gradient(value, argument)])
    forward = ca.Function("forward", [argument, seed], [ca.jtimes(value, argument, seed)])
    given, seeds = ca.DM(x), [ca.DM([float(k == j) for k in range(INPUTS)]) for j in range(INPUTS)]
    return {
        REVERSE: lambda: reverse(given).full().ravel().tolist(),
        TANGENTS: lambda: [float(forward(given, one)) for one in seeds],
    }


def _limit(name: str, rows: int) -> None:
    key = f"one pass {name.removeprefix('backprop, ')} {rows}"

    @ONE_PASS.budget(key, f"one reverse pass, times faster than 1000 tangents: {name}, {rows} rows", LEAST, more=True)
    def _(found: Found) -> float:
        return found.median(name, rows, TANGENTS) / found.median(name, rows, REVERSE)


for name in (SWEEPS, WITH_VALUE):
    for rows in ROWS:
        _limit(name, rows)
_limit(WRITTEN, 1)

"""One pass for all: `python tests/benchmarks/bench_one_pass.py`. Not a test.

A linear layer of 1000 inputs, y = sum(W @ x): one reverse pass against 1000 tangent passes, both really run, in this
program and in the frameworks that are installed beside it. Each line has the ratio of the two times: of the sweeps
alone, and with the value worked out anew for each, as the frameworks do. Both ways have to give the same gradient.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from backprop import costs
from backprop.point import at

INPUTS, LEAST = 1000, 400
ROUNDS = 7


def seconds(work: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """The median time of some rounds, after one that fills the caches."""
    work()
    taken = []
    for _ in range(rounds):
        start = perf_counter()
        work()
        taken.append(perf_counter() - start)
    return median(taken)


def tell(name: str, reverse: float, forward: float) -> float:
    ratio = forward / reverse
    print(
        f"{name:42} reverse {reverse * 1e6:9.1f} µs   1000 tangents {forward * 1e3:9.2f} ms   {ratio:7.0f}", flush=True
    )
    return ratio


def agree(found: Any, expected: Any) -> None:
    if not np.allclose(np.asarray(found, dtype=float).ravel(), expected, rtol=1e-12, atol=1e-12):
        raise SystemExit("the two ways give different gradients")


def ours(W: Any, x: Any) -> float:
    here = at("sum(W@x)", {"W": W, "x": x}, ["x"])
    for found in (costs.by_reverse(here), costs.by_forward(here)):
        agree(found["x"], W.sum(axis=0))
    runner = costs.machine(here)
    known = runner.value()
    slopes = runner.partials(known)

    def tangents() -> None:
        for direction in runner.directions():
            runner.forward(slopes, direction)

    def reverse_with_value() -> None:
        runner.backward(runner.partials(runner.value()), 1.0)

    def tangents_with_value() -> None:
        for direction in runner.directions():
            runner.forward(runner.partials(runner.value()), direction)

    rows = f"{W.shape[0]} rows"
    sweeps = tell(f"backprop, the sweeps, {rows}", seconds(lambda: runner.backward(slopes, 1.0)), seconds(tangents))
    with_value = tell(f"backprop, with the value, {rows}", seconds(reverse_with_value), seconds(tangents_with_value, 3))
    return min(sweeps, with_value)


def scalar() -> float:
    """The same layer written out: 1000 products and their sum."""
    program = " + ".join(f"w{i}*x{i}" for i in range(INPUTS))
    point = {f"{letter}{i}": (i * 37 % 101 - 50) / 100 for letter in "wx" for i in range(INPUTS)}
    here = at(program, point, [f"w{i}" for i in range(INPUTS)])
    runner = costs.machine(here)
    slopes = runner.partials(runner.value())

    def tangents() -> None:
        for direction in runner.directions():
            runner.forward(slopes, direction)

    return tell("backprop, written out", seconds(lambda: runner.backward(slopes, 1.0)), seconds(tangents, 3))


def pytorch(W: Any, x: Any) -> None:
    import torch

    weights, given = torch.tensor(W), torch.tensor(x, requires_grad=True)
    seeds = torch.eye(INPUTS, dtype=torch.float64)

    def layer(x: Any) -> Any:
        return (weights @ x).sum()

    def reverse() -> Any:
        return torch.autograd.grad(layer(given), given)[0]

    def forward() -> Any:
        point = given.detach()
        return [torch.func.jvp(layer, (point,), (seed,))[1] for seed in seeds]

    agree(reverse(), W.sum(axis=0))
    agree(forward(), W.sum(axis=0))
    tell(f"PyTorch, with the value, {W.shape[0]} rows", seconds(reverse), seconds(forward, 3))


def jax(W: Any, x: Any) -> None:
    import jax as j

    j.config.update("jax_enable_x64", True)
    weights, given, seeds = j.numpy.array(W), j.numpy.array(x), list(j.numpy.eye(INPUTS))

    def layer(x: Any) -> Any:
        return (weights @ x).sum()

    gradient = j.jit(j.grad(layer))
    tangent = j.jit(lambda x, seed: j.jvp(layer, (x,), (seed,))[1])

    def reverse() -> Any:
        return gradient(given).block_until_ready()

    def forward() -> Any:
        return [tangent(given, seed).block_until_ready() for seed in seeds]

    agree(reverse(), W.sum(axis=0))
    agree(forward(), W.sum(axis=0))
    tell(f"JAX jit, with the value, {W.shape[0]} rows", seconds(reverse), seconds(forward, 3))


def main() -> None:
    ratios = [scalar()]
    for rows in (1, 100):
        W = np.array([(i * 37 % 101 - 50) / 100 for i in range(rows * INPUTS)]).reshape(rows, INPUTS)
        x = np.arange(INPUTS) / 8
        ratios.append(ours(W, x))
        for module, peer in (("torch", pytorch), ("jax", jax)):
            if find_spec(module) is None:
                print(f"{module} is not installed here", flush=True)
            else:
                peer(W, x)
    print(f"budget: one reverse pass at least {LEAST} times faster than 1000 tangent passes: ", end="")
    print("kept" if min(ratios) >= LEAST else f"NOT kept, {min(ratios):.0f}")
    sys.exit(min(ratios) < LEAST)


if __name__ == "__main__":
    main()

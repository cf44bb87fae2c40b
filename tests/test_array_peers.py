"""Layers against PyTorch and JAX: the figures of one run are kept in arrays/figures.json, and ours are held to them.

`pytest -m peers` runs both frameworks again, where they are installed; `pytest -m peers --golden` writes their figures
anew. The ordinary tests need neither.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import backprop
import frameworks
from backprop.array_point import ArrayPoint
from backprop.arrays_text import element_name
from backprop.point import at
from layers import (
    ALL_IRISES,
    ATTENTION,
    BATCH_NORM,
    CONVOLUTION,
    CONVOLUTION_2D,
    GAUSSIAN,
    GAUSSIAN_PROCESS,
    IRIS,
    LARGE,
    LAYERS,
    LOGISTIC,
    LSTM,
    MASKED_ATTENTION,
    MIXTURE,
    RECURRENT,
    RESIDUAL,
    Layer,
    numbers,
)

ARRAYS = Path(__file__).parent / "arrays"
FIGURES = ARRAYS / "figures.json"
PAPER = ARRAYS / "paper.json"

# The larger arrays are kept as a summary: a hundred thousand slopes by their norm, their sum, some of them, and what
# three directions make of them.
WHOLE = 200
ELEMENTS = 20
DIRECTIONS = (201, 202, 203)


def summary(gradient: Any) -> Any:
    """A gradient as it is kept: whole when it is small, else what is enough to tell it from any other."""
    array = np.asarray(gradient, dtype=float)
    if array.size <= WHOLE:
        return array.tolist()
    flat = array.reshape(-1)
    return {
        "shape": list(array.shape),
        "norm": float(np.linalg.norm(flat)),
        "sum": float(flat.sum()),
        "elements": {str(place): float(flat[place]) for place in places(flat.size)},
        "along": [float(flat @ numbers(flat.size, seed=seed)) for seed in DIRECTIONS],
    }


def places(size: int) -> list[int]:
    """Fixed places over a whole array, the first and the last among them."""
    return [place * (size - 1) // (ELEMENTS - 1) for place in range(ELEMENTS)]


def apart(ours: Any, theirs: Any) -> float:
    """How far two arrays are apart, with 1 for as much as is allowed: 1e-12 of each element, 1e-14 of the largest."""
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    assert ours.shape == theirs.shape
    size = np.abs(theirs)
    allowed = 1e-12 * size + 1e-14 * size.max(initial=0.0) + 1e-300
    return float((np.abs(ours - theirs) / allowed).max(initial=0.0))


def hold(gradient: Any, kept: Any) -> None:
    """A gradient is what was kept of another."""
    if not isinstance(kept, dict):
        assert apart(gradient, kept) <= 1
        return
    found = summary(gradient)
    assert found["shape"] == kept["shape"]
    size = np.prod(kept["shape"])
    assert found["norm"] == pytest.approx(kept["norm"], rel=1e-12)
    assert found["sum"] == pytest.approx(kept["sum"], rel=1e-12, abs=1e-12 * kept["norm"] * size**0.5)
    assert found["elements"].keys() == kept["elements"].keys()
    mean = kept["norm"] / size**0.5
    for place, slope in kept["elements"].items():
        assert found["elements"][place] == pytest.approx(slope, rel=1e-12, abs=1e-13 * mean), place
    for seed, one, other in zip(DIRECTIONS, found["along"], kept["along"], strict=True):
        length = float(np.linalg.norm(numbers(int(size), seed=seed)))
        assert one == pytest.approx(other, rel=1e-12, abs=1e-13 * kept["norm"] * length)


@cache
def figures() -> dict[str, Any]:
    return json.loads(FIGURES.read_text(encoding="utf-8"))


# -- ours, held to the figures of one run -----------------------------------------------------------------------------


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_a_layer_has_the_gradient_that_pytorch_and_jax_gave(layer: Layer) -> None:
    kept = figures()["layers"][layer.name]
    value, gradient = backprop.grad(layer.program, layer.inputs, wrt=layer.wrt)
    assert value == pytest.approx(kept["value"], rel=1e-12)
    assert gradient.keys() == kept["gradient"].keys()
    for name, slopes in kept["gradient"].items():
        hold(gradient[name], slopes)


@pytest.mark.parametrize("layer", [layer for layer in LAYERS if layer is not LARGE], ids=lambda layer: layer.name)
def test_a_layer_opened_into_numbers_has_the_same_gradient(layer: Layer) -> None:
    here = at(layer.program, layer.inputs, layer.wrt)
    assert isinstance(here, ArrayPoint)
    opened = here.opened()
    assert opened is not None
    slopes = opened.by_rules()
    for name, gradient in here.by_rules().items():
        found = np.empty(np.shape(gradient))
        for place in np.ndindex(found.shape):
            found[place] = slopes[element_name(name, place)]
        assert apart(found, gradient) <= 1, name


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_a_tangent_of_a_layer_is_its_gradient_along_a_direction(layer: Layer) -> None:
    here = at(layer.program, layer.inputs, layer.wrt)
    moved, expected, size = {}, 0.0, 0.0
    for seed, (name, gradient) in enumerate(here.by_rules().items()):
        direction = numbers(*np.shape(gradient), seed=seed)
        moved[here.graph.inputs[name]] = direction if direction.shape else float(direction)
        expected += float(np.sum(direction * gradient))
        size += float(np.sum(np.abs(direction * gradient)))
    assert here.tangents(moved)[here.graph.output] == pytest.approx(expected, abs=1e-13 * size)


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_the_figures_are_those_of_this_very_program(layer: Layer) -> None:
    kept = figures()["layers"][layer.name]
    assert kept["program"] == layer.program.splitlines()
    assert kept["inputs"] == inputs_kept(layer)
    assert list(kept["gradient"]) == (layer.wrt or list(layer.inputs))


def inputs_kept(layer: Layer) -> dict[str, Any]:
    """The inputs as they stand beside the figures: larger arrays, which a formula or a file gives, by their shape."""
    shown = {name: np.asarray(x, dtype=float) for name, x in layer.inputs.items()}
    return {name: x.tolist() if x.size <= WHOLE else {"shape": list(x.shape)} for name, x in shown.items()}


def test_the_figures_are_those_that_the_sources_print() -> None:
    printed = 0
    for layer in LAYERS:
        kept = figures()["layers"][layer.name]
        for name, text in layer.published.items():
            if name == "value":
                found = kept["value"]
            else:
                array, places = name.rstrip("]").split("[")
                found = np.array(kept["gradient"][array])[tuple(map(int, places.split(",")))]
            assert found == pytest.approx(float(text), abs=0.500001 * 10.0 ** -len(text.partition(".")[2])), name
            printed += 1
    assert printed == 6


# -- the frameworks themselves ----------------------------------------------------------------------------------------


def installed(*names: str) -> None:
    """Skip, with its name, where a framework is not installed.

    Only under the mark `peers`, in which nobody has to have both; the figures kept as data are tested without them.
    """
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            pytest.skip(f"{name} is not installed")


def both(layer: Layer) -> tuple[float, dict[str, Any]]:
    """Value and gradients by PyTorch, when JAX gives the same."""
    value, gradient = frameworks.torch(layer.program, layer.inputs, layer.wrt)
    other, slopes = frameworks.jax(layer.program, layer.inputs, layer.wrt)
    assert value == pytest.approx(other, rel=1e-12)
    for name, slope in gradient.items():
        assert apart(slopes[name], slope) <= 1, name
    return value, gradient


@pytest.mark.peers
@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_pytorch_and_jax_agree_and_the_figures_are_theirs(layer: Layer) -> None:
    installed("torch", "jax")
    value, gradient = both(layer)
    kept = figures()["layers"][layer.name]
    assert value == pytest.approx(kept["value"], rel=1e-12)
    for name, slope in gradient.items():
        hold(slope, kept["gradient"][name])


@pytest.mark.peers
@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_every_element_is_that_of_pytorch_and_of_jax(layer: Layer) -> None:
    installed("torch", "jax")
    value, gradient = backprop.grad(layer.program, layer.inputs, wrt=layer.wrt)
    for framework in frameworks.FRAMEWORKS.values():
        theirs, slopes = framework(layer.program, layer.inputs, layer.wrt)
        assert value == pytest.approx(theirs, rel=1e-12)
        for name, slope in slopes.items():
            assert apart(gradient[name], slope) <= 1, name


def _normalised(t: Any, F: Any, x: Any, gamma: Any, beta: Any, t_: Any) -> Any:
    return F.mse_loss(F.batch_norm(x, None, None, gamma, beta, training=True, eps=1e-5).tanh(), t_)


def _lstm(t: Any, F: Any, W: Any, U: Any, b: Any, x: Any, h: Any, c: Any, y: Any, k: Any) -> Any:
    cell = t.nn.LSTMCell(4, 3, dtype=t.float64)
    weights = {"weight_ih": W, "weight_hh": U, "bias_ih": b, "bias_hh": t.zeros_like(b)}
    h1, c1 = t.func.functional_call(cell, weights, (x, (h, c)))
    return F.mse_loss(h1, y, reduction="sum") + k @ c1


def _attention(t: Any, F: Any, X: Any, Wq: Any, Wk: Any, Wv: Any, T: Any) -> Any:
    return F.mse_loss(F.scaled_dot_product_attention(X @ Wq, X @ Wk, X @ Wv), T, reduction="sum")


def _masked(t: Any, F: Any, X: Any, Wq: Any, Wk: Any, Wv: Any, M: Any) -> Any:
    return (F.scaled_dot_product_attention(X @ Wq, X @ Wk, X @ Wv, is_causal=True) ** 2).mean()


def _gaussian(t: Any, F: Any, B: Any, d: Any, y: Any, m: Any) -> Any:
    return t.distributions.MultivariateNormal(m, covariance_matrix=B @ B.T + t.diag(d)).log_prob(y)


def _process(t: Any, F: Any, x: Any, y: Any, s: Any, ell: Any, noise: Any) -> Any:
    K = s**2 * t.exp(-((x[:, None] - x) ** 2) / (2 * ell**2)) + noise**2 * t.eye(6, dtype=t.float64)
    return t.distributions.MultivariateNormal(t.zeros_like(y), covariance_matrix=K).log_prob(y)


def _residual(t: Any, F: Any, x: Any, gain: Any, bias: Any, W1: Any, b1: Any, W2: Any, b2: Any, t_: Any) -> Any:
    inner = F.linear(F.linear(F.layer_norm(x, (4,), gain, bias), W1.T, b1).relu(), W2.T, b2)
    return F.mse_loss(F.layer_norm(x + inner, (4,)), t_)


def _slid(t: Any, F: Any, x: Any, k: Any, b: Any, t_: Any) -> Any:
    c = F.conv1d(x[None, None], k[None, None], b[None]).relu()
    return F.mse_loss(F.max_pool1d(c, 2)[0, 0], t_, reduction="sum")


def _picture(t: Any, F: Any, x: Any, k: Any) -> Any:
    return (F.conv2d(x[None, None], k[None, None], stride=2).tanh() ** 2).mean() + x[-1].sum() * k[0, 0]


def _recurrent(t: Any, F: Any, W: Any, U: Any, x: Any, h0: Any, y: Any) -> Any:
    layer = t.nn.RNN(2, 3, bias=False, dtype=t.float64)
    h, _ = t.func.functional_call(layer, {"weight_ih_l0": W, "weight_hh_l0": U}, (x, h0[None]))
    return F.mse_loss(h, y, reduction="sum") / 3


def _iris(t: Any, F: Any, X: Any, y: Any, W1: Any, b1: Any, W2: Any, b2: Any) -> Any:
    return F.nll_loss(F.log_softmax(F.linear(F.linear(X, W1.T, b1).tanh(), W2.T, b2), dim=1), y.detach().long())


def _logistic(t: Any, F: Any, X: Any, t_: Any, W: Any, b: Any) -> Any:
    return F.binary_cross_entropy_with_logits(X @ W + b, t_, reduction="sum")


def _mixture(t: Any, F: Any, x: Any, mu: Any, sigma: Any, w: Any) -> Any:
    of = t.distributions
    return of.MixtureSameFamily(of.Categorical(logits=w), of.Normal(mu, sigma)).log_prob(x).sum()


# The same layer as PyTorch itself offers it: that our program says what the layer does.
OWN: dict[str, Callable[..., Any]] = {
    BATCH_NORM.name: _normalised,
    LSTM.name: _lstm,
    ATTENTION.name: _attention,
    MASKED_ATTENTION.name: _masked,
    GAUSSIAN.name: _gaussian,
    GAUSSIAN_PROCESS.name: _process,
    RESIDUAL.name: _residual,
    CONVOLUTION.name: _slid,
    CONVOLUTION_2D.name: _picture,
    RECURRENT.name: _recurrent,
    IRIS.name: _iris,
    ALL_IRISES.name: _iris,
    LOGISTIC.name: _logistic,
    MIXTURE.name: _mixture,
}


@pytest.mark.peers
@pytest.mark.parametrize("layer", [layer for layer in LAYERS if layer.name in OWN], ids=lambda layer: layer.name)
def test_the_program_is_the_layer_that_pytorch_offers(layer: Layer) -> None:
    installed("torch")
    import torch as t
    import torch.nn.functional as F

    given = {name: t.tensor(np.asarray(x, dtype=float), requires_grad=True) for name, x in layer.inputs.items()}
    renamed = {"t_" if name == "t" else name: x for name, x in given.items()}
    out = OWN[layer.name](t, F, **renamed)
    kept = figures()["layers"][layer.name]
    assert out.item() == pytest.approx(kept["value"], rel=1e-12)
    slopes = t.autograd.grad(out, [given[name] for name in kept["gradient"]], allow_unused=True, materialize_grads=True)
    for (_, slope), found in zip(kept["gradient"].items(), slopes, strict=True):
        hold(found.detach().numpy(), slope)


@cache
def paper() -> list[dict[str, Any]]:
    return json.loads(PAPER.read_text(encoding="utf-8"))["cases"]


@pytest.mark.peers
@pytest.mark.parametrize("name", ["torch", "jax"])
def test_the_numbers_from_paper_are_those_of_the_frameworks(name: str) -> None:
    """Where a framework is known to give another number, `apart` of the case says which and why."""
    installed(name)
    wrong = []
    for case in paper():
        value, gradient = frameworks.FRAMEWORKS[name](case["program"], case["inputs"], list(case["gradient"]))
        told = name in case.get("apart", {})
        same = value == pytest.approx(case["value"], rel=1e-12, abs=1e-14)
        same &= all(
            np.shape(gradient[x]) == np.shape(slopes)
            and np.asarray(gradient[x]) == pytest.approx(np.asarray(slopes, dtype=float), rel=1e-12, abs=1e-14)
            for x, slopes in case["gradient"].items()
        )
        if same is told:
            wrong.append((case["name"], value, gradient))
    assert wrong == []


# -- writing the figures ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="session", autouse=True)
def written(request: pytest.FixtureRequest) -> None:
    """With `-m peers --golden` the figures of both frameworks are written before they are read."""
    config = request.config
    if not (config.getoption("--golden") and config.getoption("-m") == "peers"):
        return
    installed("torch", "jax")
    import jax
    import torch

    layers = {}
    for layer in LAYERS:
        value, gradient = both(layer)
        layers[layer.name] = {
            "source": layer.source,
            "program": layer.program.splitlines(),
            "inputs": inputs_kept(layer),
            "value": value,
            "gradient": {name: summary(slope) for name, slope in gradient.items()},
        }
    said = (
        "Value and gradients of PyTorch in double precision, which JAX gives too, within 1e-12 of each element and "
        "1e-14 of the largest. Arrays of more than 200 elements by norm, sum, some elements, and their products with "
        "numbers(size, seed=201), 202 and 203 of tests/layers.py."
    )
    versions = {"torch": torch.__version__.partition("+")[0], "jax": jax.__version__, "numpy": np.__version__}
    FIGURES.write_text(table({"figures": said, "versions": versions, "layers": layers}), encoding="utf-8", newline="\n")


def table(record: dict[str, Any], depth: int = 0) -> str:
    """JSON with a line for each array and number, down to the inputs and the gradients."""
    inside = ",\n".join(
        " " * (depth + 1)
        + json.dumps(key)
        + ": "
        + (table(part, depth + 1) if isinstance(part, dict) and depth < 3 else json.dumps(part, ensure_ascii=False))
        for key, part in record.items()
    )
    return f"{{\n{inside}\n{' ' * depth}}}" + ("" if depth else "\n")

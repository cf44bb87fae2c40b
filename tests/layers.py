"""Layers and identities that everyone knows, written in our language, with inputs that a small formula gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
DATA = Path(__file__).parent.parent / "samples" / "data"


def numbers(*shape: int, seed: int, over: int = 5000) -> Array:
    """An array of decimals between -5003/over and 5003/over that every machine makes alike.

    Element i, counted row by row, is ((3141·i² + 5927·i + 1777·seed) mod 10007 - 5003)/over, whole numbers up
    to the one division. The default is about -1 to 1, with four decimals.
    """
    i = np.arange(prod(shape), dtype=np.int64)
    return (((3141 * i * i + 5927 * i + 1777 * seed) % 10007 - 5003) / over).reshape(shape)


@dataclass(frozen=True)
class Layer:
    """A program with its inputs; `wrt` are those that move, all of them when it is None."""

    name: str
    source: str
    program: str
    inputs: dict[str, Any]
    wrt: list[str] | None = None
    published: dict[str, Any] = field(default_factory=dict)  # figures printed at the source, to the digits there


def _lists(**inputs: Any) -> dict[str, Any]:
    return {name: np.asarray(x, dtype=float).tolist() for name, x in inputs.items()}


MAZUR = Layer(
    "two-two-two",
    "Matt Mazur, A Step by Step Backpropagation Example, 2015",
    """h = sigmoid(W1 @ x + b1)
o = sigmoid(W2 @ h + b2)
E = sum(0.5*(t - o)^2)""",
    _lists(
        W1=[[0.15, 0.2], [0.25, 0.3]], b1=0.35, W2=[[0.4, 0.45], [0.5, 0.55]], b2=0.6, x=[0.05, 0.1], t=[0.01, 0.99]
    ),
    published={
        "value": "0.298371109",
        "W2[0,0]": "0.082167041",
        "W2[0,1]": "0.082667628",
        "W2[1,0]": "-0.022602540",
        "W2[1,1]": "-0.022740242",
        "W1[0,0]": "0.000438568",
    },
)

LARGE = Layer(
    "784-128-10",
    "the shape of a network for the digits of MNIST, softmax with cross-entropy, a batch of 64",
    """h = relu(X @ W1 + b1)
z = h @ W2 + b2
L = cross_entropy(z, y)""",
    {
        "X": numbers(64, 784, seed=1, over=10_000) + 0.5,
        "W1": numbers(784, 128, seed=2, over=80_000),
        "b1": numbers(128, seed=3, over=50_000),
        "W2": numbers(128, 10, seed=4, over=30_000),
        "b2": numbers(10, seed=5, over=50_000),
        "y": np.arange(64) * 7 % 10,
    },
    wrt=["X", "W1", "b1", "W2", "b2"],
)

BATCH_NORM = Layer(
    "batch-normalisation",
    "Ioffe and Szegedy, Batch Normalization, 2015, in training form: mean and variance are those of the batch",
    """m = mean(x, axis=0)
v = mean((x - m)^2, axis=0)
n = (x - m)/sqrt(v + 1e-5)
y = gamma*n + beta
L = mse(tanh(y), t)""",
    _lists(x=numbers(6, 3, seed=11), gamma=[1.5, 0.5, -1.25], beta=[0.1, -0.2, 0.3], t=numbers(6, 3, seed=12)),
)

LSTM = Layer(
    "lstm-cell",
    "Hochreiter and Schmidhuber, Long Short-Term Memory, 1997, gates in PyTorch's order: in, forget, cell, out",
    """z = W @ x + U @ h + b
i = sigmoid(z[0:3])
f = sigmoid(z[3:6])
g = tanh(z[6:9])
o = sigmoid(z[9:12])
c1 = f*c + i*g
h1 = o*tanh(c1)
L = sum((h1 - y)^2) + dot(k, c1)""",
    _lists(
        W=numbers(12, 4, seed=21),
        U=numbers(12, 3, seed=22),
        b=numbers(12, seed=23),
        x=numbers(4, seed=24),
        h=numbers(3, seed=25),
        c=numbers(3, seed=26),
        y=[0.5, -0.5, 0.25],
        k=[0.3, -0.1, 0.2],
    ),
)

LSTM_BATCH = Layer(
    "lstm-cell-on-a-batch",
    "the same cell for five rows at once, gates as columns",
    """z = X @ W.T + H @ U.T + b
i = sigmoid(z[:, 0:3])
f = sigmoid(z[:, 3:6])
g = tanh(z[:, 6:9])
o = sigmoid(z[:, 9:])
C1 = f*C + i*g
H1 = o*tanh(C1)
L = mse(H1, Y)""",
    _lists(
        W=numbers(12, 4, seed=21),
        U=numbers(12, 3, seed=22),
        b=numbers(12, seed=23),
        X=numbers(5, 4, seed=27),
        H=numbers(5, 3, seed=28),
        C=numbers(5, 3, seed=29),
        Y=numbers(5, 3, seed=30),
    ),
)

ATTENTION = Layer(
    "attention",
    "Vaswani et al., Attention Is All You Need, 2017, one head",
    """Q = X @ Wq
K = X @ Wk
V = X @ Wv
A = softmax(Q @ K.T/sqrt(3), axis=1)
Y = A @ V
L = sum((Y - T)^2)""",
    _lists(
        X=numbers(5, 4, seed=31),
        Wq=numbers(4, 3, seed=32),
        Wk=numbers(4, 3, seed=33),
        Wv=numbers(4, 3, seed=34),
        T=numbers(5, 3, seed=35),
    ),
)

MASKED_ATTENTION = Layer(
    "masked-attention",
    "the same with a mask that is added: a row sees itself and those before it",
    """S = X @ Wq @ (X @ Wk).T/sqrt(3) + M
Y = softmax(S) @ X @ Wv
L = mean(Y^2)""",
    _lists(
        X=numbers(4, 4, seed=36),
        Wq=numbers(4, 3, seed=32),
        Wk=numbers(4, 3, seed=33),
        Wv=numbers(4, 3, seed=34),
        M=np.triu(np.full((4, 4), -1e9), 1),
    ),
    wrt=["X", "Wq", "Wk", "Wv"],
)

GAUSSIAN = Layer(
    "gaussian-log-likelihood",
    "log N(y; m, S) = -½ (y - m)ᵀ S⁻¹ (y - m) - ½ log det S - n/2 log 2π, with S = B Bᵀ + diag",
    """S = B @ B.T + diag(d)
r = y - m
l = -dot(r, solve(S, r))/2 - logdet(S)/2 - 4/2*log(2*pi)""",
    _lists(B=numbers(4, 4, seed=41), d=[0.5, 0.75, 0.6, 0.8], y=numbers(4, seed=42), m=[0.1, -0.1, 0.2, 0.05]),
)

GAUSSIAN_PROCESS = Layer(
    "gaussian-process",
    "Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, equations 2.30 and 2.31",
    """D = reshape(x, 6, 1) - reshape(x, 1, 6)
K = s^2*exp(-D^2/(2*ell^2)) + noise^2*eye(6)
l = -y @ inv(K) @ y/2 - logdet(K)/2 - 6/2*log(2*pi)""",
    _lists(
        x=[-1.5, -1.0, -0.75, -0.4, -0.25, 0.0],
        y=[-1.7, -1.2, -0.35, 0.1, 0.5, 0.8],
        s=1.27,
        ell=1.0,
        noise=0.3,
    ),
)

RESIDUAL = Layer(
    "layer-norm-and-residual",
    "a block with its normalisation first: x + relu(layernorm(x) W1 + b1) W2 + b2",
    """n = layernorm(x)*gain + bias
y = x + relu(n @ W1 + b1) @ W2 + b2
L = mse(layernorm(y), t)""",
    _lists(
        x=numbers(3, 4, seed=51),
        gain=[1.1, 0.9, -1.2, 0.7],
        bias=[0.05, -0.1, 0.2, 0.0],
        W1=numbers(4, 6, seed=52),
        b1=numbers(6, seed=53),
        W2=numbers(6, 4, seed=54),
        b2=numbers(4, seed=55),
        t=numbers(3, 4, seed=56),
    ),
)

CONVOLUTION = Layer(
    "convolution",
    "a kernel of three that slides along a vector, then pooling by maxima of two",
    """c = k[0]*x[0:6] + k[1]*x[1:7] + k[2]*x[2:8] + b
p = max(reshape(relu(c), 3, 2), axis=1)
L = sum((p - t)^2)""",
    _lists(x=numbers(8, seed=61), k=[0.7, -0.4, 0.9], b=0.35, t=[0.2, 0.1, -0.3]),
)

CONVOLUTION_2D = Layer(
    "convolution-of-a-picture",
    "a kernel of 2 by 2 over a picture of 5 by 5, every second place, then the mean",
    """C = k[0,0]*x[:4:2, :4:2] + k[0,1]*x[:4:2, 1::2] + k[1,0]*x[1::2, :4:2] + k[1,1]*x[1::2, 1::2]
L = mean(tanh(C)^2) + sum(x[-1, :])*k[0,0]""",
    _lists(x=numbers(5, 5, seed=62), k=[[0.5, -0.25], [0.75, 1.0]]),
)

RECURRENT = Layer(
    "recurrent-three-steps",
    "one matrix used three times: what the steps bring is added",
    """h1 = tanh(W @ x[0] + U @ h0)
h2 = tanh(W @ x[1] + U @ h1)
h3 = tanh(W @ x[2] + U @ h2)
L = sum(([h1, h2, h3] - y)^2)/3""",
    _lists(
        W=numbers(3, 2, seed=71),
        U=numbers(3, 3, seed=72),
        x=numbers(3, 2, seed=73),
        h0=[0, 0, 0],
        y=numbers(3, 3, seed=74),
    ),
)

_TWO_LAYERS = """H = tanh(X @ W1 + b1)
Z = H @ W2 + b2
L = cross_entropy(Z, y)"""

_START = _lists(
    W1=[[0.1, -0.2, 0.3], [0.2, 0.1, -0.1], [-0.3, 0.2, 0.1], [0.1, 0.3, -0.2]],
    b1=[0.1, 0, -0.1],
    W2=[[0.3, -0.1, 0.2], [-0.2, 0.1, 0.3], [0.1, 0.2, -0.3]],
    b2=[0, 0, 0],
)


def irises(rows: str) -> dict[str, Any]:
    """The measures of Fisher's irises and their classes, from samples/data."""
    return {
        name: np.loadtxt(DATA / f"{rows}_{what}.csv", delimiter=",", skiprows=1)
        for name, what in (("X", "features"), ("y", "classes"))
    }


IRIS = Layer(
    "iris",
    "Fisher's irises, rows 1-4, 51-54 and 101-104: two layers, softmax and cross-entropy",
    _TWO_LAYERS,
    _lists(**irises("iris12")) | _START,
    wrt=["X", "W1", "b1", "W2", "b2"],
)

ALL_IRISES = Layer(
    "all-irises",
    "Fisher's irises, all 150, through the same two layers",
    _TWO_LAYERS,
    irises("iris") | _START,
    wrt=["X", "W1", "b1", "W2", "b2"],
)

LOGISTIC = Layer(
    "logistic-regression",
    "the JAX Autodiff Cookbook: four rows of three figures, true, true, false, true",
    """p = sigmoid(X @ W + b)
q = p*t + (1 - p)*(1 - t)
L = -sum(log(q))""",
    _lists(
        X=[[0.52, 1.12, 0.77], [0.88, -1.08, 0.15], [0.52, 0.06, -1.30], [0.74, -2.49, 1.39]],
        t=[1, 1, 0, 1],
        W=[0.3, -0.2, 0.1],
        b=0.05,
    ),
    wrt=["X", "W", "b"],
)

SOFT_TARGETS = Layer(
    "soft-targets",
    "Hinton et al., Distilling the Knowledge in a Neural Network, 2015: a temperature of 2, probabilities as labels",
    """P = softmax(T/2)
L = cross_entropy(S/2, P)*2^2""",
    _lists(S=numbers(4, 5, seed=81), T=numbers(4, 5, seed=82, over=2000)),
)

MIXTURE = Layer(
    "mixture",
    "log-likelihood of a mixture of three normal densities: logsumexp over the components",
    """d = reshape(x, 5, 1) - mu
a = log_softmax(w) - log(sigma) - log(2*pi)/2 - (d/sigma)^2/2
l = sum(logsumexp(a, axis=1))""",
    _lists(x=[-1.2, -0.3, 0.4, 1.1, 2.5], mu=[-1, 0, 2], sigma=[0.5, 0.8, 1.2], w=[0.2, -0.1, 0.4]),
)

RIDGE = Layer(
    "ridge-regression",
    "the loss on other rows as a function of the penalty and of every figure, through the normal equations",
    """w = solve(X.T @ X + lam*eye(3), X.T @ y)
L = mse(X2 @ w, y2) + norm(w)""",
    _lists(
        X=numbers(6, 3, seed=91),
        y=numbers(6, seed=92),
        X2=numbers(4, 3, seed=93),
        y2=numbers(4, seed=94),
        lam=0.3,
    ),
)

IDENTITIES = Layer(
    "matrix-cookbook",
    "Petersen and Pedersen, The Matrix Cookbook, 2012: traces, determinants and inverses added up",
    """A1 = trace(A @ X @ B) + trace(A @ X.T @ B) + trace(X @ X) + trace(X.T @ B @ X)
A2 = det(X) + logdet(X) + det(A @ X @ B)
A3 = a @ inv(X) @ b + a @ X @ X.T @ b + trace(A @ inv(X) @ B) + norm(X) + norm(X @ a - b)
f = A1 + A2 + A3""",
    _lists(
        X=[[2, 0.5, -0.3], [0.1, 1.5, 0.4], [-0.2, 0.3, 1.8]],
        A=numbers(3, 3, seed=95),
        B=numbers(3, 3, seed=96),
        a=[0.5, -1, 0.25],
        b=[1, 0.5, -0.75],
    ),
)

JOINED = Layer(
    "joined-and-cut",
    "concat, stack, reshape, steps, rows taken twice, products and extremes",
    """J = concat(A, B, axis=1)
K = stack(prod(J, axis=0), max(J, axis=0), min(J, axis=0))
R = reshape(K[:, ::-1], 5, 3)
E = A[[0, 0, 1]]
f = sum(R^2) + sum(outer(a, b)*R[1:4, :2]) + sum(prod(E, axis=1)) + max(A)*min(B) + sum(concat(a, -b)^3)""",
    _lists(A=numbers(3, 2, seed=97), B=numbers(3, 3, seed=98), a=[0.5, -1, 0.25], b=[1.5, -0.5]),
)

BROADCAST = Layer(
    "broadcast",
    "every way in which shapes meet",
    """S = col*row + M/s
T = C + M
f = sum(exp(S)) + sum(T^2*row) + sum((v @ M - row)*C[0]) + mean(C @ M.T)""",
    _lists(
        col=numbers(3, 1, seed=101),
        row=numbers(4, seed=102),
        M=numbers(3, 4, seed=103),
        s=2.5,
        C=numbers(2, 3, 4, seed=104),
        v=[1, -2, 0.5],
    ),
)

LAYERS = (
    MAZUR, LARGE, BATCH_NORM, LSTM, LSTM_BATCH, ATTENTION, MASKED_ATTENTION, GAUSSIAN, GAUSSIAN_PROCESS, RESIDUAL,
    CONVOLUTION, CONVOLUTION_2D, RECURRENT, IRIS, ALL_IRISES, LOGISTIC, SOFT_TARGETS, MIXTURE, RIDGE, IDENTITIES,
    JOINED, BROADCAST,
)  # fmt: skip

"""Programs about arrays in PyTorch and JAX: what each gives for the value and the gradients, in double precision.

The text of a program is read here by Python and not by our grammar, so that nothing of ours stands between the program
and the framework: `^` is written `**`, and every name of a function is that of the framework.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

Table = dict[str, Callable[..., Any]]
Answer = tuple[float, dict[str, Any]]


class _Spelling(ast.NodeTransformer):
    """Python's own syntax for arrays as calls: `[a, b]` is `array_of(a, b)`, `x[1:3]` is `taken(x, 1:3)`."""

    def visit_List(self, node: ast.List) -> ast.AST:
        return self._call("array_of", [self.visit(part) for part in node.elts])

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        # what stands inside the brackets stays Python's: a list there is a list of rows
        places = ast.Subscript(ast.Name("places", ast.Load()), node.slice, ast.Load())
        return self._call("taken", [self.visit(node.value), places])

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        assert node.attr == "T"
        return self._call("transpose", [self.visit(node.value)])

    @staticmethod
    def _call(name: str, operands: list[Any]) -> ast.Call:
        return ast.Call(ast.Name(name, ast.Load()), operands, [])


class _Places:
    def __getitem__(self, places: Any) -> Any:
        return places


def run(program: str, table: Table, inputs: dict[str, Any]) -> Any:
    """What the last statement gives, with the functions of a framework."""
    tree = _Spelling().visit(ast.parse(program.replace("^", "**")))
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        tree.body[-1] = last = ast.Assign([ast.Name("f", ast.Store())], last.value)
    known: dict[str, Any] = {"pi": math.pi, "places": _Places(), **table, **inputs}
    exec(compile(ast.fix_missing_locations(tree), "<program>", "exec"), known)
    return known[last.targets[0].id]


def torch(program: str, inputs: dict[str, Any], wrt: list[str] | None = None) -> Answer:
    """Value and gradients by PyTorch; `wrt` names the inputs, all of them when it is None."""
    import numpy as np
    import torch as t
    import torch.nn.functional as F

    def tensor(x: Any) -> Any:
        return x if isinstance(x, t.Tensor) else t.tensor(x, dtype=t.float64)

    def of(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *x: function(*map(tensor, x))

    def reduced(function: Callable[..., Any]) -> Callable[..., Any]:
        def called(x: Any, axis: int | None = None) -> Any:
            return function(tensor(x), dim=tuple(range(x.ndim)) if axis is None else axis)

        return called

    def taken(x: Any, places: Any) -> Any:
        # PyTorch has no slices with a negative step: the rows are counted by NumPy
        sizes = np.arange(x.numel()).reshape(tuple(x.shape))[places]
        return x.reshape(-1)[t.tensor(np.ascontiguousarray(sizes))]

    def put(x: Any, into: Any, *places: int) -> Any:
        return t.zeros_like(into).index_put(tuple(map(t.tensor, places)), x, accumulate=True)

    def extreme(all_of: Callable[..., Any], pair: Callable[..., Any]) -> Callable[..., Any]:
        whole = reduced(all_of)
        return lambda x, y=None, axis=None: whole(x, axis) if y is None else pair(tensor(x), tensor(y))

    def prod(x: Any, axis: int | None = None) -> Any:
        return t.prod(x) if axis is None else t.prod(x, dim=axis)

    def cross_entropy(logits: Any, labels: Any) -> Any:
        labels = tensor(labels)
        return F.cross_entropy(logits, labels if labels.ndim == logits.ndim else labels.detach().long())

    table: Table = {
        "array_of": lambda *x: t.stack([tensor(part) for part in x]), "taken": taken,
        "transpose": lambda x: x.permute(*reversed(range(x.ndim))),
        "sum": reduced(t.sum), "mean": reduced(t.mean), "logsumexp": reduced(t.logsumexp), "prod": prod,
        "max": extreme(t.amax, t.maximum), "min": extreme(t.amin, t.minimum), "dot": t.dot, "outer": t.outer,
        "norm": lambda x, axis=None: t.linalg.vector_norm(x, dim=axis),
        "softmax": lambda x, axis=-1: F.softmax(x, dim=axis),
        "log_softmax": lambda x, axis=-1: F.log_softmax(x, dim=axis),
        "reshape": lambda x, *sizes: x.reshape(sizes), "trace": t.trace, "inv": t.linalg.inv,
        "solve": t.linalg.solve, "det": t.linalg.det, "logdet": lambda x: t.linalg.slogdet(x)[1],
        "concat": lambda *x, axis=0: t.cat(list(map(tensor, x)), dim=axis),
        "stack": lambda *x, axis=0: t.stack(list(map(tensor, x)), dim=axis),
        "cross_entropy": cross_entropy, "mse": of(F.mse_loss), "where": of(t.where),
        "layernorm": lambda x: F.layer_norm(x, x.shape[-1:], eps=1e-5), "diag": t.diag,
        "eye": lambda n: t.eye(n, dtype=t.float64), "expand_dims": t.unsqueeze,
        "size": lambda x, axis=None: x.numel() if axis is None else x.shape[axis], "put": put,
        "one_hot": lambda x, n: F.one_hot(x.long(), n).double(), "flatten": t.flatten,
        "var": lambda x, axis=None: t.var(x, dim=axis, correction=0), "cumsum": lambda x, axis=0: t.cumsum(x, dim=axis),
        "std": lambda x, axis=None: t.std(x, dim=axis, correction=0),
    }  # fmt: skip
    names = "sigmoid tanh relu exp log log1p sqrt sin cos abs erf"
    table |= {name: of(getattr(t, name)) for name in names.split()}
    given = {name: t.tensor(np.asarray(x, dtype=float), requires_grad=True) for name, x in inputs.items()}
    wrt = list(given) if wrt is None else wrt
    out = run(program, table, given)
    slopes = t.autograd.grad(out, [given[name] for name in wrt], materialize_grads=True, allow_unused=True)
    return out.item(), {name: slope.detach().numpy() for name, slope in zip(wrt, slopes, strict=True)}


def _in_jax(program: str, inputs: dict[str, Any]) -> tuple[Callable[[dict[str, Any]], Any], dict[str, Any]]:
    """A program as a function of some of its inputs, and all of them as arrays of JAX."""
    import jax as j
    import jax.numpy as np
    import numpy

    j.config.update("jax_enable_x64", True)

    def extreme(all_of: Callable[..., Any], pair: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, y=None, axis=None: all_of(x, axis=axis) if y is None else pair(x, y)

    def cross_entropy(logits: Any, labels: Any) -> Any:
        logs, labels = j.nn.log_softmax(logits), np.asarray(labels, dtype=float)
        if labels.ndim == logits.ndim:
            return -np.mean(np.sum(labels * logs, axis=-1))
        places = j.lax.stop_gradient(labels).astype(int)
        return -np.mean(np.take_along_axis(logs, places[..., None], axis=-1))

    def norm(x: Any, axis: int | None = None) -> Any:
        return np.linalg.norm(x.reshape(-1) if axis is None else x, axis=axis)

    def layernorm(x: Any) -> Any:
        # jax.nn.standardize takes the mean of squares less the square of the mean, which loses digits
        away = x - np.mean(x, axis=-1, keepdims=True)
        return away / np.sqrt(np.mean(away**2, axis=-1, keepdims=True) + 1e-5)

    table: Table = {
        "array_of": lambda *x: np.stack([np.asarray(part, dtype=float) for part in x]),
        "taken": lambda x, places: x[numpy.array(places) if isinstance(places, list) else places],
        "transpose": lambda x: x.T, "max": extreme(np.max, np.maximum), "min": extreme(np.min, np.minimum),
        "logsumexp": j.nn.logsumexp, "norm": norm, "one_hot": lambda x, n: j.nn.one_hot(x.astype(int), n),
        "put": lambda x, into, *places: np.zeros_like(into).at[places].add(x),
        "softmax": j.nn.softmax, "log_softmax": j.nn.log_softmax, "reshape": lambda x, *sizes: np.reshape(x, sizes),
        "inv": np.linalg.inv, "solve": np.linalg.solve, "det": np.linalg.det,
        "logdet": lambda x: np.linalg.slogdet(x)[1], "concat": lambda *x, axis=0: np.concatenate(x, axis=axis),
        "stack": lambda *x, axis=0: np.stack(x, axis=axis), "cross_entropy": cross_entropy,
        "mse": lambda a, y: np.mean((a - y) ** 2), "layernorm": layernorm, "sigmoid": j.nn.sigmoid,
        "relu": j.nn.relu, "erf": j.scipy.special.erf, "flatten": np.ravel,
    }  # fmt: skip
    names = "sum mean var std cumsum prod size dot outer trace diag eye expand_dims"
    names += " where tanh exp log log1p sqrt sin cos abs"
    table |= {name: getattr(np, name) for name in names.split()}
    given = {name: np.asarray(x, dtype=float) for name, x in inputs.items()}
    return lambda moving: run(program, table, given | moving), given


def jax(program: str, inputs: dict[str, Any], wrt: list[str] | None = None) -> Answer:
    """Value and gradients by JAX; `wrt` names the inputs, all of them when it is None."""
    import jax as j
    import numpy

    function, given = _in_jax(program, inputs)
    wrt = list(given) if wrt is None else wrt
    value, slopes = j.value_and_grad(function)({name: given[name] for name in wrt})
    return float(value), {name: numpy.asarray(slopes[name]) for name in wrt}


def jax_jacobian(program: str, inputs: dict[str, Any]) -> dict[str, Any]:
    """The Jacobian by JAX, by input, as nested lists."""
    import jax as j

    function, given = _in_jax(program, inputs)
    return {name: slopes.tolist() for name, slopes in j.jacobian(function)(given).items()}


def jax_hessian(program: str, inputs: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The Hessian by JAX, by input and input, as nested lists."""
    import jax as j

    function, given = _in_jax(program, inputs)
    found = j.hessian(function)(given)
    return {name: {other: block.tolist() for other, block in row.items()} for name, row in found.items()}


FRAMEWORKS = {"torch": torch, "jax": jax}

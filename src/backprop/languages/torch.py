"""PyTorch: a function of tensors of doubles, with its backward pass written out."""

from __future__ import annotations

from collections.abc import Iterator
from keyword import kwlist

from backprop.languages import ARITHMETIC, Code, Language, Word, calls
from backprop.languages.common.python import docstring, imports, returned, same_shape, signature, statements
from backprop.ops import POWER

NUMBER = """\
def number(value):
    return torch.tensor(value, dtype=torch.float64)"""


def write(code: Code) -> Iterator[str]:
    """The lines of a module with one function."""
    if any("number(" in text for text in (*(text for _, text in code.statements), *code.slopes.values())):
        code.needs.append(NUMBER)
    yield from imports(code, "import torch")
    yield "@torch.no_grad()"
    yield from signature(code)
    says = "Takes numbers, or tensors that broadcast to one shape; works in float64"
    slopes = " and the slopes by name. The backward pass is written out: no autograd is needed" if code.slopes else ""
    yield from docstring(code, f"{says}; returns the value{slopes}.")
    yield from same_shape(code, "torch.as_tensor(one, dtype=torch.float64)", "torch.broadcast_tensors")
    yield from statements(code)
    full, choice = "torch.full_like({like}, {number})", "torch.where({defined}, {slope}, torch.nan)"
    yield from returned(code, full, choice)


def _polygamma(n: float | None, x: float | None) -> Word | None:
    """The order as an integer: no other is taken."""
    return None if n is None else Word(f"torch.polygamma({int(n)}, x)")


WORDS = {
    **ARITHMETIC,
    **calls(
        "torch.",
        "exp exp2 expm1 log log2 log10 log1p sqrt sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh "
        "hypot abs sign floor ceil round where sigmoid logaddexp erf erfc lgamma digamma",
        max="maximum",
        min="minimum",
        mod="remainder",
    ),
    "polygamma": Word("torch.polygamma(int(n), x)", special=_polygamma),
    "pow": Word("x**y", POWER),
    "and": Word("torch.logical_and(x, y)"),
    "or": Word("torch.logical_or(x, y)"),
    "not": Word("torch.logical_not(x)"),
}

LANGUAGE = Language(
    name="torch",
    says="PyTorch: tensors of doubles, without autograd",
    suffix=".py",
    words=WORDS,
    write=write,
    operand_form="number({number})",  # functions take tensors alone
    constants={"pi": "torch.pi", "e": "torch.e", "inf": "torch.inf", "nan": "torch.nan"},
    reserved={*kwlist, "torch", "number", "one", "inputs", "int"},
    letters=True,
    finite="torch.isfinite({value})",
    runs_on=("torch",),
)

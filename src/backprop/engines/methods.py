"""Methods: what kind real works out, as functions of their own that a compiler understands.

They are written from the source of the methods, statement by statement, so that they do the same. What differs is how
they fail: an exception is a NaN here, and a tape declines where it meets one. A function of the module `math` that
gives no number for a number raises in Python; so it is a NaN here, an infinity too.
"""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from collections.abc import Iterable
from functools import lru_cache
from types import FunctionType
from typing import Any

from backprop.kinds import real
from backprop.kinds.real import REAL, Real

# What numba knows of Python's own functions, as they are used there.
KNOWN = frozenset({"abs", "max", "min", "float", "round", "range"})
# It has no word for these; the library of C has.
FOREIGN = frozenset({"cbrt"})


class Uncompilable(Exception):
    """A method that cannot be written so."""


@lru_cache(maxsize=512)
def method(name: str) -> tuple[str, frozenset[str]]:
    """A function and the names of what it calls: `real_sin` is a method of kind real, `super_silu` what it inherits,
    `math_sin` of the module `math`, any other name of the module of kind real. Raises `Uncompilable`.
    """
    if name == "real_power":
        return "def real_power(x, y):\n    return math_pow(x, float(y))\n", frozenset({"math_pow"})
    if name.startswith("math_"):
        return _of_math(name.removeprefix("math_")), frozenset()
    if name.startswith("super_"):
        found = _inherited(name.removeprefix("super_"))
    else:
        found = inspect.getattr_static(Real, name.removeprefix("real_"), None) or getattr(real, name, None)
    if isinstance(found, staticmethod):
        one = found.__func__
        if getattr(one, "__module__", "") != "math":
            raise Uncompilable(name)
        operands = ", ".join("xyz"[: _arity(one)])
        called = f"math_{one.__name__}"
        return f"def {name}({operands}):\n    return {called}({operands})\n", frozenset({called})
    if not isinstance(found, FunctionType):
        raise Uncompilable(name)
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(found))).body[0]
    except (OSError, TypeError):
        raise Uncompilable(name) from None
    assert isinstance(tree, ast.FunctionDef)
    writer = _Writer(name)
    tree = writer.visit(tree)
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n", frozenset(writer.calls)


def functions(names: Iterable[str]) -> dict[str, str]:
    """The source of these methods and of all they call, those that are called first. Raises `Uncompilable`."""
    found: dict[str, str] = {}

    def put(name: str) -> None:
        if name not in found:
            source, calls = method(name)
            for one in sorted(calls):
                put(one)
            found[name] = source

    for name in sorted(names):
        put(name)
    return found


def _inherited(name: str) -> Any:
    """What `super()` means inside a method of kind real."""
    for parent in Real.__mro__[1:]:
        if name in vars(parent):
            return vars(parent)[name]
    return None


def _arity(function: Any) -> int:
    """How many operands a function of `math` takes; `log` takes a base too, which nobody gives it here."""
    if function is math.hypot:
        return 2
    try:
        return len(inspect.signature(function).parameters)
    except ValueError:
        return 1


def _of_math(name: str) -> str:
    """A function of the module `math`, which gives a number for numbers or else NaN."""
    function = getattr(math, name, None)
    if function is None:
        raise Uncompilable(name)
    if name in ("floor", "ceil"):
        return f"def math_{name}(x):\n    return float(math.{name}(x))\n"
    operands = "xyz"[: _arity(function)]
    called = f"foreign_{name}" if name in FOREIGN else f"math.{name}"
    lines = [f"def math_{name}({', '.join(operands)}):", f"    found = {called}({', '.join(operands)})"]
    given = " and ".join(f"{one} - {one} == 0.0" for one in operands)
    lines.append(f"    return NAN if found - found != 0.0 and {given} else found")
    return "\n".join(lines) + "\n"


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


class _Writer(ast.NodeTransformer):
    """A method on its way to being a function: without `self`, without exceptions."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls: set[str] = set()
        self.local: set[str] = set()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        names = [one.arg for one in node.args.args]
        if node.args.vararg or node.args.kwonlyargs:
            raise Uncompilable(self.name)
        if names[:1] == ["self"]:
            names = names[1:]
        self.local.update(names)
        self.local.update(
            one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
        )
        body = node.body
        if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]
        made = ast.parse(f"def {self.name}({', '.join(names)}): pass").body[0]
        assert isinstance(made, ast.FunctionDef)
        made.body = [one for line in body for one in self.lines(line)]
        return made

    def lines(self, line: ast.stmt) -> list[ast.stmt]:
        found = self.visit(line)
        return found if isinstance(found, list) else [found]

    def visit_Try(self, node: ast.Try) -> list[ast.stmt]:
        return [one for line in node.body for one in self.lines(line)]

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        return ast.parse("return NAN").body[0]

    def visit_Import(self, node: ast.Import) -> ast.stmt:
        raise Uncompilable(self.name)

    visit_ImportFrom = visit_Import  # type: ignore[assignment]  # it refuses, whatever is imported

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """A division by 0 raises in Python."""
        self.generic_visit(node)
        literal = isinstance(node.right, ast.Constant) and node.right.value
        if isinstance(node.op, (ast.Div, ast.Mod)) and not literal:
            name = "divided" if isinstance(node.op, ast.Div) else "modulo"
            return ast.Call(ast.Name(name, ast.Load()), [node.left, node.right], [])
        if isinstance(node.op, ast.Pow):
            raise Uncompilable(self.name)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        called = node.func
        if isinstance(called, ast.Attribute) and ast.unparse(called) == "self.number":
            return _expression(repr(REAL.number(ast.literal_eval(node.args[0]))))
        node.args = [self.visit(one) for one in node.args]
        if isinstance(called, ast.Attribute):
            owner = ast.unparse(called.value)
            prefixes = {"self": "real_", "super()": "super_", "math": "math_"}
            if owner not in prefixes:
                raise Uncompilable(self.name)
            node.func = self.called(prefixes[owner] + called.attr)
        elif isinstance(called, ast.Name) and called.id not in KNOWN:
            node.func = self.called(called.id)
        return node

    def called(self, name: str) -> ast.expr:
        self.calls.add(name)
        return ast.Name(name, ast.Load())

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        owners = {"self": REAL, "math": math}
        found = getattr(owners.get(ast.unparse(node.value)), node.attr, None)
        return self.literal(found)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.local or node.id in KNOWN:
            return node
        return self.literal(getattr(real, node.id, None))

    def literal(self, found: Any) -> ast.expr:
        if isinstance(found, float) and found == math.inf:
            return ast.Name("INF", ast.Load())
        if isinstance(found, float) and found != found:
            return ast.Name("NAN", ast.Load())
        if isinstance(found, (int, float)) or (isinstance(found, tuple) and all(isinstance(x, float) for x in found)):
            return _expression(repr(found))
        raise Uncompilable(self.name)

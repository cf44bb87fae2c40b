"""The shape of the program: modules stand in the order of the flow, and what draws knows nothing of mathematics."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import backprop

ROOT = Path(backprop.__file__).parent

# From the words on the line to the lines on the screen: a module imports its own layer and those above it. A package
# stands for all of its modules but those that are named elsewhere.
LAYERS = (
    "figures notation mistakes factors arrays_text progress layout theme",
    "ops writing cache kept_modules whole_files collector patterns source_texts",
    "kinds balls conventions",
    "syntax misreadings grammar numerals value_files bindings",
    "graph",
    "values",
    "rules",
    "forward reverse accuracy",
    "balls.ranges balls.enclosures kinds.certified",
    "record working pulls surroundings",
    "kinds.node guards straight languages",
    "kinds.elements kinds.dual opening",
    "engines",
    "point array_point beside balls.narrower accuracy.fine accuracy.mending",
    "higher",
    "formulas tidying latex kinds.symbol derivatives",
    "path_sums",
    "accuracy.rewrites accuracy.lost_digits balls.certificates notes birthplace refusals witnesses sympy_child claims "
    "array_edges array_notes unopened stencils",
    "columnar tracing gradient compiled conventions.opinions higher.hessians higher.directions higher.jacobians "
    "higher.jacobian_records higher.outputs higher.passes higher.agreement higher.patterns higher.array_directions "
    "checks step expect reference schema costs single_numbers emission "
    "page.evaluator",
    "mapping plots",
    "render page",
    "stepping",
    "asked viewing commands cli application completion notebook __main__ __init__",
)


def module_name(path: Path) -> str:
    """`kinds/real.py` is kinds.real, `kinds/__init__.py` is kinds."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


MODULES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def layer(module: str) -> int | None:
    """The place of a module in the flow, by its own name or by that of its package."""
    for name in (module, module.partition(".")[0]):
        for place, names in enumerate(LAYERS):
            if name in names.split():
                return place
    return None


def imported(path: Path) -> Iterator[str]:
    """What a file imports, also inside functions, but not what only a reader of its types does."""
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        waiting.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            if node.module == "backprop" and [name.name for name in node.names] == ["__version__"]:
                continue  # a fact, and the package is there before any of its parts
            inside = [f"{node.module}.{name.name}" for name in node.names]
            own = [name for name in inside if name.removeprefix("backprop.") in MODULES]
            yield from own or [node.module]


def own(imports: Iterator[str]) -> set[str]:
    """The modules of this program among what is imported."""
    found = {name.removeprefix("backprop.") for name in imports if name.startswith("backprop")}
    return {"__init__" if name == "backprop" else name for name in found}


def test_every_module_has_its_place_in_the_flow() -> None:
    assert [module for module in MODULES if layer(module) is None] == []
    assert [name for names in LAYERS for name in names.split() if name not in MODULES] == []


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_back_along_the_flow(module: str) -> None:
    place = layer(module)
    ahead = {name for name in own(imported(MODULES[module])) if (layer(name) or 0) > (place or 0)}
    assert ahead == set(), f"{module} imports what comes after it"


@pytest.mark.parametrize("module", [module for module in MODULES if module.startswith("render")])
def test_what_draws_works_nothing_out(module: str) -> None:
    names = set(imported(MODULES[module]))
    forbidden = {"backprop.point", "backprop.values", "backprop.rules", "backprop.graph", "sympy", "mpmath", "numpy"}
    assert names & forbidden == set()


def test_all_of_drawing_is_loaded_without_the_engines() -> None:
    code = "import sys, importlib, pkgutil, backprop.render as render\n"
    code += (
        "for found in pkgutil.iter_modules(render.__path__): importlib.import_module('backprop.render.' + found.name)\n"
    )
    code += "print(*sys.modules)"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    engines = {
        "backprop.point",
        "backprop.values",
        "backprop.rules",
        "backprop.graph",
        "backprop.ops",
        "sympy",
        "numpy",
    }
    assert loaded & engines == set()
    assert "backprop.render.paths" in loaded


def test_no_module_has_the_name_of_a_function_beside_it() -> None:
    for module, path in MODULES.items():
        if path.name != "__init__.py":
            continue
        package = "backprop" if module == "__init__" else f"backprop.{module}"
        names: set[str] = set()
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.ImportFrom) and node.module != package:
                names.update(name.name for name in node.names)
        assert [name for name in sorted(names) if find_spec(f"{package}.{name}") is not None] == []


def told_in_readme() -> list[str]:
    """What stands in the README's table of modules, `graph/` or `values.py`, row by row."""
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    table = readme.partition("## How it is built")[2].partition("\n\nWhatever")[0]
    rows = re.findall(r"^\|[^|]*\|([^|]*)\|[^|]*\|$", table, re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`(\w+(?:\.py|/))`", row)]


def test_the_readme_tells_the_modules_in_the_order_of_the_flow() -> None:
    names = [re.split(r"[./]", told)[0] for told in told_in_readme()]
    places = [layer(name) for name in names]
    assert None not in places
    assert len(names) > 20
    assert [place or 0 for place in places] == sorted(place or 0 for place in places)


def test_the_readme_tells_every_module_once_and_nothing_that_is_not_there() -> None:
    """A package is told by its folder; what is in it, by the head of its `__init__.py`."""
    there = {f"{path.name}/" for path in ROOT.iterdir() if (path / "__init__.py").is_file()}
    there |= {path.name for path in ROOT.glob("*.py") if path.name not in ("__init__.py", "__main__.py")}
    told = told_in_readme()
    assert sorted(there - set(told)) == []
    assert sorted(set(told) - there) == []
    assert len(told) == len(set(told))

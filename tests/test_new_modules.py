"""A language, a table format, an engine for rows and a command are one module each: put into a copy, they are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from copies import copied, run

MODULES = {
    "languages/julia.py": '''
"""Julia: a function of numbers."""
from backprop.languages import ARITHMETIC, Language, Word, calls
from backprop.ops import AND, CONDITIONAL, OR, UNARY

def write(code):
    yield f"{code.function}({', '.join(one.code for one in code.inputs)}) = ("
    yield from (f"    {name} = {text};" for name, text in code.statements)
    yield f"    ({', '.join([code.value, *code.slopes.values()])}))"

CHOICES = {
    "where": Word("c ? x : y", CONDITIONAL), "and": Word("x && y", AND), "or": Word("x || y", OR),
    "not": Word("!x", UNARY),
}
WORDS = {**ARITHMETIC, **calls("", "exp log sin cos"), **CHOICES}
LANGUAGE = Language("julia", "Julia: numbers", ".jl", WORDS, write)
''',
    "mapping/formats/bars.py": '''
"""A row a line, with bars between the cells."""
from dataclasses import replace
from backprop.mapping.formats import csv
from backprop.mapping.tables import TableFormat

FORMAT = TableFormat("bars", (".bars",), says="text with bars")

def reader(source):
    source.separator = "|"
    return csv.reader(source)

def writer(sink, names, layout):
    return csv.writer(sink, names, replace(layout, separator="|"))
''',
    "mapping/kernels/doubled.py": '''
"""NumPy under another name."""
from backprop.mapping.kernels.numpy import WORDS, Numpy

class Doubled(Numpy):
    name = "doubled"

ENGINE = Doubled
''',
    "commands/greet.py": '''
"""A greeting."""
from backprop.asked import FINE
from backprop.commands import OUT, command

@command("", OUT, examples=("backprop greet",), binds=False)
def answer(asked):
    """Say good day."""
    asked.show(["good day"])
    return FINE
''',
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with one more module of each sort."""
    place = copied(tmp_path_factory.mktemp("project"))
    for name, text in MODULES.items():
        (place / "src" / "backprop" / name).write_text(text.lstrip(), encoding="utf-8")
    (place / "rows.bars").write_text("x|y\n1|2\n3|4\n", encoding="utf-8")
    return place


def test_a_new_language_is_written_and_named_in_the_help(copy: Path) -> None:
    assert "d_x = cos(x) + y;" in run(copy, "backprop", "emit", "x*y + sin(x)", "--to", "julia")
    assert "julia" in run(copy, "backprop", "emit", "--help")


def test_a_new_format_is_read_and_written_in_one_file_and_in_parts(copy: Path) -> None:
    told = "x|y|f|d_x|d_y|note\n1|2|2|2|1|\n3|4|12|4|3|\n"
    run(copy, "backprop", "map", "x*y", "rows.bars", "-o", "one.bars")
    run(copy, "backprop", "map", "x*y", "rows.bars", "--to", "bars", "-o", "many/")
    assert (copy / "one.bars").read_text(encoding="utf-8") == told
    assert (copy / "many" / "part-00000.bars").read_text(encoding="utf-8") == told
    assert "bars" in run(copy, "backprop", "map", "--help")


def test_a_new_engine_works_rows_out_when_it_is_asked_for(copy: Path) -> None:
    shown = [
        run(copy, "backprop", "map", "x*y", "rows.bars", "--to", "csv", "--engine", one) for one in ("doubled", "numpy")
    ]
    assert shown[0] == shown[1]
    assert "doubled" in run(copy, "backprop", "map", "--help")


def test_a_new_command_answers_and_is_listed(copy: Path) -> None:
    assert run(copy, "backprop", "greet") == "good day\n"
    assert "Say good day" in run(copy, "backprop", "--help")
    assert "backprop greet" in run(copy, "backprop", "greet", "--help")

"""Values that are arrays: typed in brackets, read from files, handed over in Python; and what is said of bad ones."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

import backprop
from backprop import arrays_text, mistakes
from backprop.arrays_text import gather, is_array, named_elements, parts, written
from backprop.bindings import Option, point_file, read_value, split
from backprop.mistakes import Mistake
from backprop.numerals import numeral
from command import call

MATRIX = "[[1, 2], [3, 4]]"


def refused(value: Any, by: type[Mistake], read: Callable[[Any, str], str] = numeral) -> Mistake:
    with pytest.raises(by) as caught:
        read(value, "W")
    return caught.value


# -- typed ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("[1]", "[1]"),
        ("[1,-1]", "[1, -1]"),
        ("[[1,2],[3,4]]", MATRIX),
        (" [ [1 , 2],\n\t[3,4 ]\n] ", MATRIX),
        ("[[[1],[2]],[[3],[4]]]", "[[[1], [2]], [[3], [4]]]"),
        ("[0.1, 1/3, −2, inf]", "[0.1, 1/3, -2, inf]"),
        ("[½, ∞, -∞, π, +2, 1e-3, .5, 2., nan]", "[1/2, inf, -inf, pi, 2, 1e-3, .5, 2., nan]"),
        ("[2,5]", "[2, 5]"),
        ("[0,125]", "[0, 125]"),
        ("[0.2..0.4, 1]", "[0.2..0.4, 1]"),
        ("[-1..½]", "[-1..1/2]"),
        ("[007]", "[007]"),
        ("[" * 32 + "1" + "]" * 32, "[" * 32 + "1" + "]" * 32),
    ],
)
def test_an_array_is_read_in_every_way_of_giving_it(typed: str, read: str) -> None:
    for words in (("--W", typed), (f"--W={typed}",), (f"W={typed}",)):
        assert split(["sum(W)", *words], []).given == {"W": read}
    assert numeral(read, "W") == read


REFUSED = [
    ("[1, 2", mistakes.UnreadableArray, "never closed", "["),
    ("[[1, 2], [3, 4]", mistakes.UnreadableArray, "never closed", "["),
    ("[1,", mistakes.UnreadableArray, "never closed", "["),
    ("[1, 2]]", mistakes.UnreadableArray, "closes nothing", "]"),
    ("[1, 2] 3", mistakes.UnreadableArray, "ends before this", "3"),
    ("[1][0]", mistakes.UnreadableArray, "ends before this", "["),
    ("[[1, 2] [3, 4]]", mistakes.UnreadableArray, "comma is missing", "["),
    ("[2[1]]", mistakes.UnreadableArray, "comma is missing", "["),
    ("[1,, 2]", mistakes.UnreadableArray, "element is missing", ","),
    ("[1, 2, ]", mistakes.UnreadableArray, "element is missing", "]"),
    ("[, 2]", mistakes.UnreadableArray, "element is missing", ","),
    ("[1, two, 3]", mistakes.NotANumber, "W[1] is 'two'", "two"),
    ("[[1, 2], [3, 1/0]]", mistakes.NotANumber, "W[1,1] is '1/0'", "1/0"),
    ("[1 2]", mistakes.NotANumber, "W[0] is '1 2'", "1 2"),
    ("[1; 2]", mistakes.NotANumber, "W[0] is '1; 2'", "1; 2"),
    ("[true]", mistakes.NotANumber, "W[0] is 'true'", "true"),
    ("[1,000, 2,000]", mistakes.TwoReadings, "W is 1,000", "000"),
    ("[1, " + "9" * 10_001 + "]", mistakes.NumberTooLong, "10001", "9" * 10_001),
]


@pytest.mark.parametrize(("typed", "kind", "told", "marked"), REFUSED, ids=lambda value: str(value)[:20])
def test_what_is_wrong_in_an_array_is_told_and_marked(typed: str, kind: type[Mistake], told: str, marked: str) -> None:
    mistake = refused(typed, kind)
    assert told in mistake.cause
    assert mistake.source == typed
    assert mistake.span is not None
    assert typed[slice(*mistake.span)] == marked


@pytest.mark.parametrize(
    ("typed", "kind", "told"),
    [
        ("[[1, 2], [3]]", mistakes.RaggedArray, "W[1] has length 1, and W[0] has length 2"),
        ("[[1], [2, 3]]", mistakes.RaggedArray, "W[1] has length 2, and W[0] has length 1"),
        ("[[1, 2], []]", mistakes.RaggedArray, "W[1] has length 0, and W[0] has length 2"),
        ("[[[1, 2], [3, 4]], [[5, 6], [7]]]", mistakes.RaggedArray, "W[1,1] has length 1, and W[0,0] has length 2"),
        ("[[[1], [2]], [[3]]]", mistakes.RaggedArray, "W[1] has length 1, and W[0] has length 2"),
        ("[1, [2]]", mistakes.MixedArray, "W[1] is a list, and W[0] is a number"),
        ("[[1], 2]", mistakes.MixedArray, "W[1] is a number, and W[0] is a list"),
        ("[[[1]], [2]]", mistakes.MixedArray, "W[1,0] is a number, and W[0,0] is a list"),
        ("[[1], [[2]]]", mistakes.MixedArray, "W[1,0] is a list, and W[0,0] is a number"),
        ("[]", mistakes.EmptyArray, "W is []"),
        ("[[]]", mistakes.EmptyArray, "W[0] is []"),
        ("[[], [1]]", mistakes.EmptyArray, "W[0] is []"),
        ("[" * 33 + "1" + "]" * 33, mistakes.ArrayTooLarge, "more than 32 axes"),
        ("[" * 100_000, mistakes.ArrayTooLarge, "more than 32 axes"),
    ],
)
def test_an_array_without_a_shape_is_refused_typed_and_as_a_list(typed: str, kind: type[Mistake], told: str) -> None:
    assert told in refused(typed, kind).cause
    if typed.count("[") < 100:
        assert told in refused(json.loads(typed), kind).cause


@pytest.mark.parametrize("typed", ["1,2,3", "1 2 3", "(1, 2)", "{1; 2}", "2,5;3"])
def test_an_array_without_brackets_is_told_how_it_is_written(typed: str) -> None:
    assert "A vector is written [1, 2]" in refused(typed, mistakes.NotANumber).repair


def test_an_array_torn_apart_by_the_shell_is_told_of_quotation_marks() -> None:
    with pytest.raises(mistakes.UnreadableArray) as caught:
        split(["sum(x)", "--x", "[1,", "2]"], [])
    assert '--x "[1, 2]"' in caught.value.repair


def test_a_long_element_and_a_long_array_are_shortened_in_what_is_told() -> None:
    code, out, err = call("grad", "sum(x)", "--x", "[" + "1, " * 5000 + "k" * 5000 + "]")
    assert (code, out, "x[5000] is 'kkk" in err) == (2, "", True)
    assert len(err) < 600
    code, out, err = call("grad", "sum(x)", "--x", "[" + "1, " * 5000 + "2 2" + ", 1" * 5000)
    assert (code, out, "never closed" in err) == (2, "", True)
    assert len(err) < 600


def test_an_option_still_wins_over_an_array_and_says_how_to_name_it() -> None:
    with pytest.raises(mistakes.OptionValue) as caught:
        split(["format", "--format", "[1, 2"], [Option("format", "how", "F", lambda: ["table", "json"])])
    assert "format=[1, 2" in caught.value.repair
    assert split(["x", "format=[1,2]"], [Option("format", "how", "F")]).given == {"format": "[1, 2]"}


def test_names_of_elements_are_not_split_at_the_commas_inside() -> None:
    words = split(["W", "--wrt", "W[0,1], b,W[ 1, :]", "--wrt=x[2]"], [Option("wrt", "names", "NAMES", many=True)])
    assert words.lists("wrt") == [["W[0,1]", "b", "W[1,:]"], ["x[2]"]]


# -- the text of an array ----------------------------------------------------------------------------------------------


def shaped(draw: some.DrawFn) -> tuple[tuple[int, ...], list[str]]:
    shape = tuple(draw(some.lists(some.integers(1, 4), min_size=0, max_size=4)))
    element = some.one_of(
        some.floats(allow_nan=False).map(repr),
        some.fractions().map(str),
        some.sampled_from(["inf", "pi", "0..1", "nan"]),
    )
    count = math.prod(shape)
    return shape, draw(some.lists(element, min_size=count, max_size=count))


arrays = some.composite(shaped)()


@given(arrays)
def test_writing_and_taking_apart_are_inverses(array: tuple[tuple[int, ...], list[str]]) -> None:
    text = written(*array)
    assert parts(text) == array
    assert is_array(text) == bool(array[0])
    assert numeral(text, "x") == text
    assert [element for _, element in named_elements("x", text)] == array[1]


@given(arrays)
def test_blanks_are_free(array: tuple[tuple[int, ...], list[str]]) -> None:
    text = written(*array)
    for typed in (text.replace(" ", ""), text.replace("[", "\n [ ").replace("]", " ]").replace(",", "\t,")):
        assert numeral(typed, "x") == text


@given(some.text("[], 12\n", max_size=14))
def test_the_quick_way_reads_as_the_thorough_one(text: str) -> None:
    quick = arrays_text._regular(text) or arrays_text._regular(text.replace(",", ", "))
    if quick is not None:
        assert gather(arrays_text._tokens(text, "x"), "x") == quick


@given(some.recursive(some.integers(-9, 9), lambda inner: some.lists(inner, max_size=3), max_leaves=12))
def test_nested_lists_are_arrays_as_numpy_has_them(value: Any) -> None:
    try:
        expected = np.array(value)
    except ValueError:  # ragged
        expected = np.zeros(0)
    if expected.size == 0:
        with pytest.raises(Mistake):
            numeral(value, "x")
    else:
        text = numeral(value, "x")
        assert parts(text) == (expected.shape, [str(one) for one in expected.ravel().tolist()])
        assert numeral(expected, "x") == numeral(str(value), "x") == text


def test_elements_are_named_by_their_indices() -> None:
    assert list(named_elements("W", "[[1, 2], [3, 1/2]]")) == [
        ("W[0,0]", "1"),
        ("W[0,1]", "2"),
        ("W[1,0]", "3"),
        ("W[1,1]", "1/2"),
    ]
    assert list(named_elements("x", "3")) == [("x", "3")]


def test_a_hundred_thousand_elements_are_read_in_every_way(tmp_path: Path) -> None:
    numbers = np.random.default_rng(0).normal(size=(100, 1000))
    text = numeral(numbers, "x")
    np.savetxt(tmp_path / "x.csv", numbers, delimiter=",", fmt="%.17g")
    np.save(tmp_path / "x.npy", numbers)
    (tmp_path / "x.json").write_text(json.dumps(numbers.tolist()))
    for one in ("x.npy", "x.json"):
        assert read_value(f"@{tmp_path / one}", "x") == text
    assert np.array_equal(np.array(parts(read_value(f"@{tmp_path / 'x.csv'}", "x"))[1], float), numbers.ravel())
    assert numeral(json.dumps(numbers.tolist(), separators=(",", ":")), "x") == text
    shape, elements = parts(text)
    assert np.array_equal(np.array(elements, float).reshape(shape), numbers)


# -- files -------------------------------------------------------------------------------------------------------------


def in_file(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return f"@{folder / name}"


@pytest.mark.parametrize(
    ("file", "text", "read"),
    [
        ("W.csv", "1,2\n3,4\n", MATRIX),
        ("W.csv", "a,b\n1,2\n3,4", MATRIX),
        ("W.csv", '"the a, the b","c"\n1,2\n3,4', MATRIX),
        ("W.csv", '"1","2"\n3, 4', MATRIX),
        ("W.csv", "\ufeff1,2\r\n3,4\r\n", MATRIX),
        ("W.csv", "# a remark\n1,2\n\n3,4\n", MATRIX),
        ("W.csv", "1;2\n3;4", MATRIX),
        ("W.csv", "1,5;2\n−3;½", "[[1.5, 2], [-3, 1/2]]"),
        ("W.tsv", "x\ty\n1,5\t2\n3\t4", "[[1.5, 2], [3, 4]]"),
        ("W.txt", "1.0e+00 2.0e+00\n 3   4 \n", "[[1.0e+00, 2.0e+00], [3, 4]]"),
        ("W.txt", "[[1, 2],\n [3, 4]]\n", MATRIX),
        ("W.json", "[[1, 2], [3, 4]]", MATRIX),
        ("W.json", '[[0.10, "1/3"], [Infinity, "-Infinity"]]', "[[0.10, 1/3], [inf, -inf]]"),
        ("W.json", '[{"mid": "0.3", "rad": "0.1"}, 1]', "[0.2..0.4, 1]"),
        ("x.csv", "1,2,3", "[1, 2, 3]"),
        ("x.csv", "1\n2\n3", "[1, 2, 3]"),
        ("x.csv", "height\n1\n2\n3", "[1, 2, 3]"),
        ("x.csv", "1,nan,inf", "[1, nan, inf]"),
        ("x.txt", "1,2,3", "[1, 2, 3]"),
        ("x.txt", "1\n2\n", "[1, 2]"),
        ("x.txt", "2,5\n", "2.5"),
        ("x", " 1/3\n", "1/3"),
        ("x.csv", "x\n2.5\n", "2.5"),
        ("x.json", "2.50", "2.50"),
        ("x.json", '"1/3"', "1/3"),
    ],
)
def test_a_file_holds_a_number_or_an_array(file: str, text: str, read: str, tmp_path: Path) -> None:
    at = in_file(tmp_path, file, text)
    for words in (("--W", at), (f"--W={at}",), (f"W={at}",)):
        assert split(["sum(W)", *words], []).given == {"W": read}


@pytest.mark.parametrize("shape", [(1, 3), (3, 1), (2, 3), (1, 1)])
def test_tables_have_the_shape_that_loadtxt_gives_them(shape: tuple[int, int], tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    np.savetxt(path, np.arange(1.0, math.prod(shape) + 1).reshape(shape))
    assert parts(read_value(f"@{path}", "x"))[0] == np.loadtxt(path).shape


@pytest.mark.parametrize(
    ("file", "text", "kind", "told"),
    [
        ("W.csv", "a,b\n1,2\n\n3\n", mistakes.RaggedArray, "line 4 has length 1, and line 2 has length 2"),
        ("W.csv", "1,2\n3,4,\n", mistakes.RaggedArray, "line 2 has length 3, and line 1 has length 2"),
        ("W.csv", "1,2\n3,x\n", mistakes.NotANumber, "line 2, column 2 is 'x'"),
        ("W.csv", "1,2\n3,\n", mistakes.NotANumber, "line 2, column 2 is empty"),
        ("W.csv", "name,1\nb,2\n", mistakes.NotANumber, "line 1, column 1 is 'name'"),
        ("W.csv", "1;1,000\n", mistakes.TwoReadings, "line 1, column 2 is 1,000"),
        ("W.csv", "a,b\n", mistakes.EmptyArray, "names of columns and no numbers"),
        ("W.csv", "abc", mistakes.NotANumber, "W is 'abc'"),
        ("W.csv", "# nothing but this\n", mistakes.CannotRead, "no numbers"),
        ("W.csv", '1,"2\n3,4', mistakes.CannotRead, "told apart"),
        ("W.csv", '1,"2\n2"\n3,4', mistakes.CannotRead, "over the end of its line"),
        ("W.csv", '1,2\n3,"' + "1" * 200_000 + '"', mistakes.CannotRead, "field limit"),
        ("W.csv", "", mistakes.CannotRead, "nothing in it"),
        ("W.json", " \n", mistakes.CannotRead, "nothing in it"),
        ("W.json", "[[1, 2], [3]]", mistakes.RaggedArray, "W[1] has length 1, and W[0] has length 2"),
        ("W.json", "[1, null]", mistakes.NotANumber, "W[1] is 'null'"),
        ("W.json", "[1, true]", mistakes.NotANumber, "W[1] is 'true'"),
        ("W.json", '[1, "a"]', mistakes.NotANumber, "W[1] is 'a'"),
        ("W.json", '["[1, 2]"]', mistakes.NotANumber, "W[0] is an array"),
        ("W.json", '[1, {"a": 2}]', mistakes.NotANumber, "W[1] is"),
        ("W.json", "null", mistakes.NotANumber, "W is 'null'"),
        ("W.json", '{"W": [1, 2]}', mistakes.CannotRead, "neither a number nor an array"),
        ("W.json", "[1, 2", mistakes.CannotRead, "this is no JSON"),
        ("W.json", "[" * 100_000, mistakes.CannotRead, "nested too deeply"),
        ("x.txt", "abc", mistakes.NotANumber, "W is 'abc'"),
        ("x.txt", "[1, 2", mistakes.UnreadableArray, "never closed"),
        ("W.npz", "", mistakes.CannotRead, "files of type .npz are not read"),
        ("W.npy", "1,2\n3,4", mistakes.CannotRead, "no NPY file"),
        ("W.npy", "", mistakes.CannotRead, "no NPY file"),
    ],
)
def test_a_file_without_an_array_is_refused(
    file: str, text: str, kind: type[Mistake], told: str, tmp_path: Path
) -> None:
    mistake = refused(in_file(tmp_path, file, text), kind, read_value)
    assert told in mistake.cause
    assert str(tmp_path / file) in (mistake.origin or mistake.cause)


def test_a_file_that_is_not_there_or_is_a_folder_is_refused(tmp_path: Path) -> None:
    for name in ("none.npy", "none.csv", "."):
        refused(f"@{tmp_path / name}", mistakes.CannotRead, read_value)
    (tmp_path / "folder.npy").mkdir()
    refused(f"@{tmp_path / 'folder.npy'}", mistakes.CannotRead, read_value)


@pytest.mark.parametrize(
    ("array", "read"),
    [
        (np.array([[1.0, 0.1], [-np.inf, np.nan]]), "[[1.0, 0.1], [-inf, nan]]"),
        (np.array([[1, 2], [3, 4]], dtype=">i2"), MATRIX),
        (np.array([1, 2**63], dtype="u8"), "[1, 9223372036854775808]"),
        (np.asfortranarray([[1, 2], [3, 4]]), MATRIX),
        (np.array([True, False]), "[1, 0]"),
        (np.array([0.1], dtype="f4"), "[0.10000000149011612]"),
        (np.array(2.5), "2.5"),
    ],
    ids=str,
)
def test_numpys_own_files_are_read_and_hold_what_the_array_holds(array: Any, read: str, tmp_path: Path) -> None:
    np.save(tmp_path / "W.npy", array)
    assert read_value(f"@{tmp_path / 'W.npy'}", "W") == read == numeral(array, "W")


@pytest.mark.parametrize(
    ("array", "kind", "told"),
    [
        (np.array([1j]), mistakes.NotReal, "W is of type complex128"),
        (np.array([None, 1]), mistakes.NotReal, "Python objects"),
        (np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]), mistakes.NotReal, "W is of type [('a'"),
        (np.array(["1"]), mistakes.NotReal, "W is of type <U1"),
        (np.array(["2020-01-01"], dtype="M8[D]"), mistakes.NotReal, "W is of type datetime64"),
        (np.zeros((0, 3)), mistakes.EmptyArray, "W has shape (0, 3)"),
        (np.zeros(0), mistakes.EmptyArray, "W has shape (0,)"),
        (np.zeros((1,) * 33), mistakes.ArrayTooLarge, "33 axes"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_numpys_files_of_anything_else_are_refused(array: Any, kind: type[Mistake], told: str, tmp_path: Path) -> None:
    np.save(tmp_path / "W.npy", array, allow_pickle=True)
    mistake = refused(f"@{tmp_path / 'W.npy'}", kind, read_value)
    assert told in mistake.cause
    assert mistake.origin == str(tmp_path / "W.npy")


def test_a_file_that_promises_too_much_is_refused_before_it_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "W.npy"
    np.save(path, np.zeros(3))
    head = path.read_bytes()
    path.write_bytes(head.replace(b"(3,)", b"(1000000000,)").replace(b"         \n", b"\n"))
    assert "1000000000 elements" in refused(f"@{path}", mistakes.ArrayTooLarge, read_value).cause
    path.write_bytes(head[:-1])
    assert "ends before its last number" in refused(f"@{path}", mistakes.CannotRead, read_value).cause
    path.write_bytes(head[:40])
    refused(f"@{path}", mistakes.CannotRead, read_value)


def test_a_point_file_a_trace_and_a_case_hold_arrays(tmp_path: Path) -> None:
    path = tmp_path / "point.json"
    inputs = '{"x": 0.10, "W": [[1, "1/3"], [Infinity, -2e3]], "y": [1]}'
    for text in (
        inputs,
        f'{{"format": "backprop-trace", "inputs": {inputs}}}',
        f'{{"id": "case", "inputs": {inputs}}}',
    ):
        path.write_text(text, encoding="utf-8")
        assert point_file(str(path)) == {"x": "0.10", "W": "[[1, 1/3], [inf, -2e3]]", "y": "[1]"}
    path.write_text('{"W": [[1, 2], [3]]}', encoding="utf-8")
    with pytest.raises(mistakes.RaggedArray) as caught:
        point_file(str(path))
    assert caught.value.origin == str(path)


# -- Python ------------------------------------------------------------------------------------------------------------


class Tensor:
    """What PyTorch, JAX and their like have in common, by way of NumPy."""

    def __init__(self, value: Any, dtype: str = "float32") -> None:
        self._value, self.dtype = np.array(value), dtype
        self.shape = self._value.shape

    def detach(self) -> Tensor:
        return self

    def tolist(self) -> Any:
        return self._value.tolist()


class Eager:
    """What TensorFlow has: no tolist."""

    def __init__(self, value: Any) -> None:
        self._value = np.array(value)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self._value


class Unwritable:
    def __repr__(self) -> str:
        raise ValueError("no words")


class Traced(Tensor):
    def tolist(self) -> Any:
        raise TypeError("no numbers while tracing\nand more about it")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([1, 2.5], "[1, 2.5]"),
        (((1, 2), [3, 4]), MATRIX),
        (range(3), "[0, 1, 2]"),
        ([0.1, "1/3", Fraction(1, 3), Decimal("0.10"), -math.inf, math.nan], "[0.1, 1/3, 1/3, 0.10, -inf, nan]"),
        ([np.array([1, 2]), (3, 4)], MATRIX),
        ([np.float32(0.5), np.int64(2), np.float64(0.1)], "[0.5, 2, 0.1]"),
        (np.array([[1, 3], [2, 4]]).T, MATRIX),
        (np.array([0.5], dtype="longdouble"), "[0.5]"),
        (np.array([Fraction(1, 3), 2], dtype=object), "[1/3, 2]"),
        (np.array(2.0), "2.0"),
        (np.int64(3), "3"),
        (np.float64(0.1), "0.1"),
        (np.float32(0.1), "0.10000000149011612"),
        (np.longdouble("0.5"), "0.5"),
        (Tensor([[1, 2], [3, 4]]), MATRIX),
        (Tensor(2.5), "2.5"),
        (Eager([1, 2]), "[1, 2]"),
        (Eager(2.5), "2.5"),
    ],
)
def test_values_in_python_may_be_lists_and_the_arrays_of_any_library(value: Any, text: str) -> None:
    assert numeral(value, "x") == text


@pytest.mark.parametrize(
    ("value", "kind", "told"),
    [
        (np.array([1j]), mistakes.NotReal, "W is of type complex128"),
        ([1, 2j], mistakes.NotReal, "W[1] is of type complex"),
        (np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]), mistakes.NotReal, "W is of type"),
        (Traced([1]), mistakes.NotReal, "Traced, which gives no numbers: no numbers while tracing"),
        (np.array([None, 1]), mistakes.NotANumber, "W[0] is 'None'"),
        (np.ma.masked_array([1, 2], mask=[False, True]), mistakes.NotANumber, "W[1] is 'None'"),
        ([True, 1], mistakes.NotANumber, "W[0] is 'True'"),
        ([1, "1,000"], mistakes.TwoReadings, "W[1] is 1,000"),
        ("1,000", mistakes.TwoReadings, "W is 1,000"),
        ({1: 2}, mistakes.NotANumber, "W is '{1: 2}'"),
        ([1, Unwritable()], mistakes.NotANumber, "W[1] is 'Unwritable'"),
        ([["[1, 2]"]], mistakes.NotANumber, "W[0,0] is an array"),
        (np.zeros((2, 0)), mistakes.EmptyArray, "W has shape (2, 0)"),
        (np.broadcast_to(1.0, (10**5, 10**5)), mistakes.ArrayTooLarge, "(100000, 100000), 10000000000 elements"),
    ],
)
def test_values_in_python_without_real_numbers_are_refused(value: Any, kind: type[Mistake], told: str) -> None:
    assert told in refused(value, kind).cause


def test_whole_numbers_beyond_what_python_writes_out_are_read_or_refused() -> None:
    assert numeral([10**5000, -(10**9998)], "x") == "[1" + "0" * 5000 + ", -1" + "0" * 9998 + "]"
    assert "10001" in refused(10**10_000, mistakes.NumberTooLong).cause
    assert "50001" in refused([10**50_000], mistakes.NumberTooLong).cause


def test_a_list_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    refused(endless, mistakes.ArrayTooLarge)


def test_reading_an_array_loads_no_numpy() -> None:
    code = "import sys; from backprop.numerals import numeral; from backprop.arrays_text import parts\n"
    code += "parts(numeral('[[1,2],[3,4]]', 'W')); numeral([1, 2], 'x'); assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# -- what a kind of number takes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "kind", "by", "told"),
    [
        ("[[1, 2], [nan, 4]]", "real", mistakes.NotANumber, "W[1,0] is NaN"),
        ("[[1, 2], [nan, 4]]", "exact", mistakes.NotANumber, "W[1,0] is NaN"),
        ("[[1, 2], [nan, 4]]", "digits:20", mistakes.NotANumber, "W[1,0] is NaN"),
        ("[1, 1e400]", "real", mistakes.UnusableNumber, "W[1] is 1e400"),
        ("[1, inf]", "exact", mistakes.NotExact, "W[1] = inf"),
        ("[1, 1e99999999999]", "exact", mistakes.TooLargeForKind, "W[1], as it is given"),
        ("[0.2..0.4, inf]", "real", mistakes.IntervalForNumber, "W[0] is all of 0.2..0.4"),
        ("[0.4..0.2, inf]", "certified", mistakes.EmptyInterval, "W[0] is 0.4..0.2"),
        ("[1, 2..inf]", "certified", mistakes.EndlessInterval, "W[1] is 2..inf"),
    ],
)
def test_an_element_that_a_kind_refuses_is_named(typed: str, kind: str, by: type[Mistake], told: str) -> None:
    with pytest.raises(by) as caught:
        backprop.grad("sum(W)", {"W": typed}, kind=kind)
    assert told in caught.value.cause
    assert "--W[" not in caught.value.repair

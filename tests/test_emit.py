"""Code for other tools: it is run, and gives the numbers that `grad` gives."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

import backprop
from backprop import languages, ops
from backprop.conventions import numbers
from backprop.emission import emit
from backprop.kinds import Hole
from backprop.languages.common.identifiers import identifier
from backprop.mistakes import Mistake, NotElementwise, NoWord, OneColumn, OptionValue
from backprop.ops import ATOM, Row
from backprop.point import Point, Program, has_arrays
from backprop.writing import written
from command import call
from conftest import Golden
from emitted import Answer, c_answers, compiled, missing, run
from programs import NAMES, daring, points, programs

ALL = languages.modules()
QUICK = ("python", "numpy", "sql", "polars")
SAMPLES = Path(__file__).parent.parent / "samples"

# Where the function of a platform is not good to 1e-12, or a compiler rearranges what is written.
WORSE = {
    ("torch", "digamma"): "the trigamma of PyTorch has ten digits",
    ("torch", "polygamma"): "the trigamma of PyTorch has ten digits",
    ("jax", "lgamma"): "near 2 the lgamma of JAX is good to 1e-16 of 1, not of itself",
    ("jax", "div"): "XLA turns x/y/y into x/(y*y), which overflows at 1e200",
    ("jax", "atan2"): "XLA turns x/r/r into x/(r*r), which overflows at 1e200",
    ("jax", "digamma"): "JAX has polygamma above 0 alone: NaN below",
    ("jax", "polygamma"): "JAX has polygamma above 0 alone: NaN below",
}

peers = pytest.mark.peers
slow = pytest.mark.slow
BY_TIME = [
    *QUICK,
    "c",
    pytest.param("numba", marks=slow),
    pytest.param("torch", marks=peers),
    pytest.param("jax", marks=peers),
    pytest.param("javascript", marks=peers),
]


def code(program: str, to: str, **options: object) -> str:
    return backprop.emit(program, to=to, **options)  # type: ignore[arg-type]


def here(language: str) -> None:
    """Skip where the tool is not installed; the environment of the peers has them all."""
    if lacking := missing(language):
        pytest.skip(f"{lacking} is not installed here")


def cases() -> Iterator[tuple[Row, str, list[dict[str, float]]]]:
    """Every row that works number by number as a program, with its samples and edges."""
    for row in ops.elementwise():
        if row.name == "where":
            yield row, "where(c > 0, x, y)", [{"c": c, "x": 2.0, "y": 3.0} for c in (1.0, -1.0)]
        elif row.conditions:
            for left, right in ((0, 0), (0, 1), (1, 0), (1, 1)):
                text = written(
                    row, [(f"p > {left}/2", ops.COMPARISON), (f"q > {right}/2", ops.COMPARISON)][: len(row.parameters)]
                )[0]
                yield row, f"where({text}, 3*p, q)", [{"p": 0.25, "q": 0.75}][: len(row.parameters)]
        else:
            everything = (*row.samples, *row.edges)
            for arity in sorted({len(operands) for operands in everything}):
                names = [f"q{place}" for place in range(arity)]
                text = written(row, [(name, ATOM) for name in names])[0]
                at = [dict(zip(names, map(float, one), strict=True)) for one in everything if len(one) == arity]
                if row.gives_condition:
                    yield row, f"where({text}, 3*q0, q1)", at
                elif row.name == "polygamma":
                    for point in at:
                        yield row, text.replace("q0", str(int(point["q0"]))), [{"q1": point["q1"]}]
                else:
                    yield row, text, at


def truth(program: str, rows: Sequence[Mapping[str, float]]) -> list[Answer]:
    """What kind real gives; NaN where there is none."""
    found = []
    for row in rows:
        point = Program(program).at(row)
        found.append((finite(point.answer()), {name: finite(slope) for name, slope in point.gradient().items()}))
    return found


def finite(value: object) -> float:
    return value if isinstance(value, float) and math.isfinite(value) else math.nan


def apart(answer: Answer, expected: Answer) -> float:
    """The largest relative difference; NaN agrees with NaN alone."""
    assert answer[1].keys() == expected[1].keys()
    worst = 0.0
    for one, other in ((answer[0], expected[0]), *((answer[1][name], expected[1][name]) for name in expected[1])):
        if math.isnan(one) or math.isnan(other):
            worst = max(worst, 0.0 if math.isnan(one) and math.isnan(other) else math.inf)
        elif one != other:
            worst = max(worst, abs(one - other) / max(abs(other), 1e-300))
    return worst


def wrong(language: str, row: Row, text: str, at: Sequence[dict[str, float]], found: list[Answer]) -> list[str]:
    """What is told of answers that differ."""
    told = []
    for point, answer, expected in zip(at, found, truth(text, at), strict=True):
        nothing = math.isnan(expected[0]) or any(map(math.isnan, expected[1].values()))
        if language == "python" and nothing and math.isnan(answer[0]):
            continue  # an error where an answer is missing
        if apart(answer, expected) > 1e-12 and (language, row.name) not in WORSE:
            told.append(f"{text} at {point}: {answer}, not {expected}")
    return told


@pytest.mark.parametrize("language", BY_TIME)
def test_every_operation_gives_the_number_of_grad(language: str, tmp_path: Path) -> None:
    here(language)
    texts, done = {}, 0
    for number, (row, text, at) in enumerate(cases()):
        try:
            texts[str(number)] = code(text, language), row, text, at
        except NoWord:
            continue
        done += 1
    assert done > 70
    told: list[str] = []
    functions = compiled({key: one[0] for key, one in texts.items()}, tmp_path) if language == "c" else {}
    for key, (lines, row, text, at) in texts.items():
        if "scipy" in lines and missing("numpy") == "" and not scipy_is_here():
            continue  # the run for the peers has it
        slopes = list(truth(text, at[:1])[0][1])
        found = c_answers(functions[key], at, slopes) if functions else run(language, lines, at, slopes)
        told += wrong(language, row, text, at, found)
    assert told == []


def scipy_is_here() -> bool:
    from importlib.util import find_spec

    return find_spec("scipy") is not None


@peers
def test_numpy_has_the_functions_of_scipy() -> None:
    if not scipy_is_here():
        pytest.skip("SciPy is not installed here")
    told: list[str] = []
    for row, text, at in cases():
        lines = code(text, "numpy")
        if "scipy" in lines:
            told += wrong("numpy", row, text, at, run("numpy", lines, at, list(truth(text, at[:1])[0][1])))
    assert told == []


# -- programs ---------------------------------------------------------------------------------------------------------


def close(program: str, point: Mapping[str, float], found: Answer) -> None:
    """Whether an answer is that of kind real, up to roundings of what is added up on the way."""
    at = Program(program).at(point)
    backward = at.reverse()
    sizes = [*at.values, *backward.adjoints, *backward.contributions]
    size = max([1.0, *(abs(one) for one in sizes if isinstance(one, float) and math.isfinite(one))])
    slopes = {name: finite(slope) for name, slope in at.by_rules().items()}
    expected = (finite(at.value()), slopes)
    if math.isnan(expected[0]):  # it overflowed: plain Python has an error then, and no slope
        found = found[0], {name: slopes[name] if math.isnan(one) else one for name, one in found[1].items()}
    for one, other in ((found[0], expected[0]), *((found[1][name], slope) for name, slope in slopes.items())):
        assert one == pytest.approx(other, rel=1e-12, abs=1e-13 * size, nan_ok=True), (program, point, expected, found)


@pytest.mark.parametrize("language", ["python", "numpy", "sql", "polars"])
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(program=programs(), point=points)
def test_a_random_program_gives_the_numbers_of_grad(language: str, program: str, point: dict[str, float]) -> None:
    here(language)
    _random(language, program, point)


def _random(language: str, program: str, point: dict[str, float], folder: Path | None = None) -> None:
    graph = Program(program).read()[1]
    at = {name: point[name] for name in graph.inputs}
    if at:
        slopes = list(at)
        close(program, at, run(language, code(program, language), [at], slopes, folder)[0])


@slow
@pytest.mark.parametrize("language", ["python", "numpy", "sql", "polars", "numba", "c"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(program=programs(), point=points)
def test_many_random_programs_give_the_numbers_of_grad(
    language: str, tmp_path_factory: pytest.TempPathFactory, program: str, point: dict[str, float]
) -> None:
    here(language)
    _random(language, program, point, tmp_path_factory.mktemp("c"))


@peers
@pytest.mark.parametrize("language", ["torch", "jax", "javascript"])
@settings(max_examples=30, deadline=None)
@given(program=programs(), point=points)
def test_random_programs_in_the_frameworks(language: str, program: str, point: dict[str, float]) -> None:
    here(language)
    _random(language, program, point)


CORNERS = st.fixed_dictionaries(dict.fromkeys(NAMES, st.sampled_from([0.0, 1.0, -1.0, 0.5, 2.0, -0.3, 3.0])))


@pytest.mark.parametrize("language", ["python", "numpy", "sql", "polars"])
@settings(max_examples=25, deadline=None)
@given(program=daring(), point=CORNERS)
def test_a_program_has_a_value_in_its_code_where_it_has_one(
    language: str, program: str, point: dict[str, float]
) -> None:
    here(language)
    _daring(language, program, point)


@slow
@pytest.mark.parametrize("language", ["python", "numpy", "sql", "polars", "c"])
@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(program=daring(), point=CORNERS)
def test_many_programs_have_a_value_in_their_code_where_they_have_one(
    language: str, tmp_path_factory: pytest.TempPathFactory, program: str, point: dict[str, float]
) -> None:
    here(language)
    _daring(language, program, point, tmp_path_factory.mktemp("c"))


@peers
@pytest.mark.parametrize("language", ["torch", "jax", "numba", "javascript"])
@settings(max_examples=30, deadline=None)
@given(program=daring(), point=CORNERS)
@example(program="n0 = asin(2); max(z, n0) + log(n0)", point={"z": 1.0})
@example(program="max(z, pi) + min(z, e)", point={"z": 1.0})
def test_programs_have_a_value_in_the_frameworks_where_they_have_one(
    language: str, program: str, point: dict[str, float]
) -> None:
    here(language)
    _daring(language, program, point)


def _daring(language: str, program: str, point: dict[str, float], folder: Path | None = None) -> None:
    try:
        names = list(Program(program).read()[1].inputs)
    except Mistake:  # a bound of clip that is none
        assume(False)
    at = {name: point[name] for name in names}
    there = Program(program).at(at)
    value, slopes = there.value(), there.by_rules()
    assume(names and not any(isinstance(one, float) and abs(one) > 1e12 for one in (value, *slopes.values())))
    found = run(language, code(program, language), [at], names, folder)[0]
    if isinstance(value, Hole):
        # an infinity may die out as double arithmetic has it, atan(1/0), but no number is made of what is none
        infinite = any(math.isinf(one) for one in tape(there))
        assert math.isnan(found[0]) or infinite, (program, at, found)
        assert all(map(math.isnan, found[1].values())) or infinite, (program, at, found)
        return
    if language == "python" and any(isinstance(slope, Hole) for slope in slopes.values()):
        return  # an error where an answer is missing
    assert found[0] == pytest.approx(value, rel=1e-9, abs=1e-9, nan_ok=True), (program, at)
    for name, slope in slopes.items():
        if not isinstance(slope, Hole):
            assert found[1][name] == pytest.approx(slope, rel=1e-9, abs=1e-9), (program, at)
        elif not (
            re.search(r"\((\w+)\) - \(\1\)|sign|floor", program) or has_power_0(there)
        ):  # these move with nothing
            given, answer = found[1][name], there.gradient()[name]  # 0·inf that the point itself can decide: x^0
            decided = not isinstance(answer, Hole) and given == pytest.approx(answer, rel=1e-9, abs=1e-9)
            assert math.isnan(given) or decided or any(map(math.isinf, tape(there))), (program, at, name)


def has_power_0(there: Point) -> bool:
    """Whether there is an x^0: it is 1 whatever x is, so that code has the slope 0 where a tape has 0·inf."""
    graph = there.graph
    powers = (graph.operands(node)[1] for node in range(len(graph)) if graph.op(node) == "pow")
    return any(there.values[exponent] == 0 for exponent in powers)


def tape(there: Point) -> list[float]:
    """The numbers of a plain tape at the point."""
    carried = Program(there.graph.source).at(there.given, kind=numbers(there.kind, "propagate"))
    return [one for one in carried.values if isinstance(one, float)]


NEVER_POISONED = [
    ("where(x > 0, log(x), 0)", {"x": -1.0}, 0.0, 0.0),
    ("y = log(x); where(x > 0, y, 0) + where(x > 1, 2*y, 0)", {"x": 0.0}, 0.0, 0.0),
    ("y = sqrt(x)*3; z = y*y + 1/y; where(x > 0, z, 2*x) + where(x > 1, z, x)", {"x": -1.0}, -3.0, 3.0),
    ("y = 1/x; h = where(x != 0, y*y, 1); h*h + where(x != 0, y, x)", {"x": 0.0}, 1.0, 1.0),
    ("where(x > 0 and log(1 + x) > -1, sqrt(x), -x)", {"x": -0.5}, 0.5, -1.0),
    # the kink of abs asks for what the branch hands on
    ("n = where(x < 1, x, sqrt(x - 2)); x*x + abs(n)", {"x": -1.0}, 2.0, -3.0),
    # the condition under which s is needed asks for s itself
    ("s = sqrt(x); where(where(x > 1, s, x) > -1, s, 3*x)", {"x": -2.0}, -6.0, 3.0),
    ("s = sqrt(x); t = s*s*s; where(where(x > 1, t + s, x) > -1, t*t, 3*x)", {"x": -2.0}, -6.0, 3.0),
]


@pytest.mark.parametrize("language", BY_TIME)
def test_a_branch_not_taken_never_spoils_the_answer(language: str, tmp_path: Path) -> None:
    here(language)
    for program, point, value, slope in NEVER_POISONED:
        found = run(language, code(program, language), [point], ["x"], tmp_path)[0]
        assert found == (value, {"x": slope}), (program, found)


KINKS = [
    ("relu(x)", 0.0, 0.0),
    ("abs(x)", 0.0, 0.0),
    ("max(x, 0)", 0.0, 0.0),
    ("max(x, 2*x)", 0.0, 1.5),
    ("clip(x, 0, 1)", 1.0, 0.0),
    ("hypot(x, 0)", 0.0, 0.0),
    ("leaky_relu(x, -0.5)", 0.0, 0.0),
]


@pytest.mark.parametrize("language", BY_TIME)
def test_at_a_kink_the_slope_is_the_smallest_one(language: str, tmp_path: Path) -> None:
    here(language)
    for program, at, slope in KINKS:
        found = run(language, code(program, language), [{"x": at}], ["x"], tmp_path)[0]
        assert found[1] == {"x": slope}, program


@pytest.mark.parametrize("language", BY_TIME)
def test_what_has_no_value_is_never_a_number(language: str, tmp_path: Path) -> None:
    here(language)
    for program in ("where(log(x) > 0, 1, 2)", "where(not (log(x) > 0), 1, 2)", "relu(log(x))", "sign(sqrt(x))",
                    "max(1/(x + 1), 3)*0 + log(x)", "min(log(x), 5)", "clip(sqrt(x), 0, 1)",
                    "where(sqrt(x) == 2 or log(x) > 1, 1, 2)"):  # fmt: skip
        found = run(language, code(program, language), [{"x": -1.0}], ["x"], tmp_path)[0]
        assert math.isnan(found[0]), program


NO_VALUE = [
    ("log(x) + 0*x", {"x": -1.0}),  # its slope is never -1
    ("log(x)*y + 3*z", {"x": -1.0, "y": 2.0, "z": 1.0}),
    ("sqrt(x) + y", {"x": -1.0, "y": 2.0}),
    ("where(x > y, 1/x, y)", {"x": 0.0, "y": -1.0}),
    ("tanh(1/x) + y", {"x": 0.0, "y": 1.0}),
    ("1/x + y", {"x": 0.0, "y": 1.0}),
    ("atan2(y, x)*z", {"x": 0.0, "y": 0.0, "z": 1.0}),
    ("where(x > 0, 0, log(x)) + x*y", {"x": -1.0, "y": 1.0}),
    ("asin(x)*0 + y + z^2", {"x": 2.0, "y": 1.0, "z": 1.0}),
    ("x*y + log(-1)", {"x": 2.0, "y": 1.0}),
]


@pytest.mark.parametrize("language", BY_TIME)
def test_where_there_is_no_value_there_is_no_slope(language: str, tmp_path: Path) -> None:
    here(language)
    codes = {program: code(program, language) for program, _ in NO_VALUE}
    functions = compiled(codes, tmp_path) if language == "c" else {}
    for program, point in NO_VALUE:
        point = {name: point[name] for name in Program(program).read()[1].inputs}
        if functions:
            found = c_answers(functions[program], [point], list(point))[0]
        else:
            found = run(language, codes[program], [point], list(point))[0]
        assert math.isnan(found[0]), program
        assert all(map(math.isnan, found[1].values())), (program, found)


@pytest.mark.parametrize("language", [*QUICK, "c"])
def test_a_negative_number_to_a_power_has_values_and_no_slope(language: str, tmp_path: Path) -> None:
    here(language)
    found = run(language, code("(-0.5)^y", language), [{"y": 2.0}], ["y"], tmp_path)
    assert found[0][0] == 0.25
    assert math.isnan(found[0][1]["y"])


def test_a_difference_of_the_same_is_still_a_number_to_compare_with() -> None:
    found = run("python", code("max(y - y, x)", "python"), [{"y": 1.0, "x": -0.5}], ["y", "x"])
    assert found == [(0.0, {"y": 0.0, "x": 0.0})]


BESIDE_INFINITY = [
    ("sqrt(relu(x))", 0.0),
    ("sqrt(abs(x))", 0.0),
    ("sqrt(max(x, 0))", 0.0),
    ("cbrt(relu(x))", 0.0),
    ("sqrt(hypot(x, 0*x))", 0.0),
    ("sqrt(clip(x, 0, 1))", 0.0),
    ("where(x > 0, 1, 0)*(1/x)", 0.0),
]


@pytest.mark.parametrize("language", BY_TIME)
def test_the_0_of_a_kink_hides_no_infinite_slope(language: str, tmp_path: Path) -> None:
    """sqrt(relu(x)) has the slopes 0 and infinity on the two sides of 0: 0·inf is not guessed."""
    here(language)
    for program, at in BESIDE_INFINITY:
        found = run(language, code(program, language), [{"x": at}, {"x": -2.0}], ["x"], tmp_path)
        assert math.isnan(found[0][1]["x"]), program
        slope = finite(Program(program).at({"x": -2.0}).gradient()["x"])
        assert found[1][1]["x"] == pytest.approx(slope, rel=1e-12), program


@pytest.mark.parametrize("language", ["numpy", "c"])
def test_a_slope_that_shows_what_has_no_value_is_not_asked_twice(language: str) -> None:
    for program in ("sqrt(x)", "x^1.5", "where(x > 0, x*log(x), 0)", "log(1 + x^2)*y", "sqrt(x)*y"):
        assert "defined" not in code(program, language)
    assert "defined" in code("log(x)", language)


# -- what can fail ----------------------------------------------------------------------------------------------------


def test_what_cannot_fail_has_no_guard() -> None:
    """exp of what is at most 0, a quotient by 1 + exp(x), a root of a sum of squares."""
    for program in ("h = sigmoid(w*x + b); (h - y)^2", "exp(-x^2)/(1 + y^2)", "sqrt(1 + x^2)*log(2 + cos(x))",
                    "K/(1 + exp(-r*t))", "where(x > y, atan(exp(-x^2)), 1)/(2 + sin(y))"):  # fmt: skip
        for language, guard in (("sql", r"/nullif|THEN (ln|sqrt)"), ("polars", "!= 0|> 0"), ("python", "exp.* else")):
            assert not re.search(guard, code(program, language)), (program, language)


def test_a_guard_stands_in_the_branch() -> None:
    lines = code("where(x > 0, log(x), 0)", "python", value_only=True)
    assert "    f = math.log(x) if x > 0 else 0.0\n" in lines


# -- arrays of numbers that are known one by one ------------------------------------------------------------------

OPENED = [
    ("dot([x, y], [1, 2])", {"x": 3.0, "y": 4.0}, 11.0, {"x": 1.0, "y": 2.0}),
    ("norm([x, y])", {"x": 3.0, "y": 4.0}, 5.0, {"x": 0.6, "y": 0.8}),
    ("W = [[1, 2], [3, 4]]; v = W@[x, y]; v[0]*v[1]", {"x": 1.0, "y": 1.0}, 21.0, {"x": 16.0, "y": 26.0}),
    ("det([[x, y], [y, 2]])", {"x": 3.0, "y": 1.0}, 5.0, {"x": 2.0, "y": -2.0}),
    ("sum(w*[1, 2, 3])", {"w": 2.0}, 12.0, {"w": 6.0}),
    ("max([x, y, 7])", {"x": 3.0, "y": 9.0}, 9.0, {"x": 0.0, "y": 1.0}),
    ("sum(relu([x, y]))", {"x": -3.0, "y": 9.0}, 9.0, {"x": 0.0, "y": 1.0}),
    ("solve([[4, 1], [0, 2]], [x, y])[0]", {"x": 3.0, "y": 2.0}, 0.5, {"x": 0.25, "y": -0.125}),
    ("cumsum([x, x*y])[1]", {"x": 3.0, "y": 2.0}, 9.0, {"x": 3.0, "y": 3.0}),
]


@pytest.mark.parametrize("language", BY_TIME)
def test_an_array_that_is_put_together_of_numbers_is_written_number_by_number(language: str, tmp_path: Path) -> None:
    here(language)
    codes = {program: code(program, language) for program, *_ in OPENED}
    functions = compiled(codes, tmp_path) if language == "c" else {}
    for program, point, value, slopes in OPENED:
        if functions:
            found = c_answers(functions[program], [point], list(point))[0]
        else:
            found = run(language, codes[program], [point], list(point))[0]
        assert found[0] == pytest.approx(value, rel=1e-14), program
        assert found[1] == pytest.approx(slopes, rel=1e-14, abs=1e-15), program


def test_an_array_on_the_line_is_put_into_the_code_and_elements_have_readable_names() -> None:
    status, out, err = call("emit", "z = W@[x, y]; z[0]*z[1] + z[0]", "--to", "python", "--W", "[[1, 2], [3, 4]]")
    assert (status, err) == (0, "")
    assert "With W = [[1, 2], [3, 4]]." in out
    assert "    z_0 = x + 2*y\n" in out
    assert "    z_1 = 3*x + 4*y\n" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["sum(W)"], "sum works on arrays"),
        (["x*sum(abs(W)^2)"], "sum works on arrays"),
        (["[x, y]*2"], "the value is an array of (2,)"),
        (["a = [1, 2]; dot(a, [b, b])", "--wrt", "a"], "the slope by a is an array of (2,)"),
        (["dot([x, y], [1, 2, 3])"], "dot takes two vectors of one size"),
        (["solve([[x, 1], [2, 3]], [1, 2])[0]"], "solve chooses its pivots by the numbers"),
        (["det([[x, 1, 2, 3], [2, 3, 4, 4], [1, 1, 2, 5], [1, 0, 0, 1]])"], "det chooses its pivots by the numbers"),
        (["[x, y][k]"], "index works on arrays"),
        (["sum(x*eye(200))"], "takes more than 20,000 operations"),
    ],
)
def test_an_array_that_cannot_be_written_number_by_number_is_told(words: list[str], told: str) -> None:
    status, out, err = call("emit", *words, "--to", "python")
    assert (status, out) == (2, "")
    assert told in err
    assert "rows of a table" not in err


# -- columns of a table -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["sql", "polars"])
def test_a_table_keeps_its_rows_and_columns_and_a_row_without_an_answer_has_nulls(language: str) -> None:
    here(language)
    import duckdb
    import polars as pl

    frame = pl.DataFrame(
        {
            "name": ["a", "b", "c", "d", "e"],
            "x": [4, -1, None, 0, 9],
            "t1": [1, 2, 3, 4, 5],
            "y": [0.5, 1.5, 2.5, math.nan, 1e308],
        }
    )
    program = "relu(sqrt(x) - 2.5)*y + where(x > 3, y, 100*y)"
    if language == "polars":
        names: dict[str, object] = {}
        exec(code(program, "polars"), names)
        found = names["value_and_gradient"](frame).collect()  # type: ignore[operator]
        columns, rows = found.columns, found.rows()
    else:
        con = duckdb.connect()
        con.execute("CREATE TABLE data (name VARCHAR, x INTEGER, t1 INTEGER, y DOUBLE)")
        con.executemany("INSERT INTO data VALUES (?, ?, ?, ?)", frame.rows())
        done = con.execute(code(program, "sql"))
        columns, rows = [one[0] for one in done.description], done.fetchall()
    assert columns == ["name", "x", "t1", "y", "value", "d_x", "d_y"]
    assert [row[0] for row in rows] == ["a", "b", "c", "d", "e"]
    assert [row[4:] for row in rows] == [
        (0.5, 0.0, 1.0),
        (None, None, None),
        (None, None, None),
        (None, None, None),  # no slope where there is no value, though of 0*y one factor is known
        (1.5e308, pytest.approx(1e308 / 6), 1.5),
    ]


def test_a_query_takes_whole_numbers_without_an_overflow() -> None:
    here("sql")
    import duckdb

    con = duckdb.connect()
    con.execute("CREATE TABLE data AS SELECT 2000000000::INTEGER AS x, 0.1::DECIMAL(3, 1) AS y")
    assert con.execute(code("x*x*x + y", "sql")).fetchall()[0][2:] == (8e27, 1.2e19, 1.0)


def test_a_query_with_a_name_is_a_view() -> None:
    here("sql")
    import duckdb

    con = duckdb.connect()
    con.execute("CREATE TABLE data AS SELECT 3.0 AS x")
    con.execute(code("x^2", "sql", function="squares"))
    assert con.execute("SELECT * FROM squares").fetchall()[0][1:] == (9.0, 6.0)


def test_no_word_that_duckdb_takes_itself_stands_without_quotes() -> None:
    here("sql")
    import duckdb

    from backprop.languages.sql import KEYWORDS

    reserved = duckdb.sql("SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'").fetchall()
    assert {name for (name,) in reserved} - set(KEYWORDS) == set()


# -- names ------------------------------------------------------------------------------------------------------------

ODD_NAMES = (
    "lambda*int + select*x₁ - x1*α + E*np - (alpha + t1)*d_x1*double + exponent*float + order*this_row + origin*data "
    "+ col*frame + nan1"
)


@pytest.mark.parametrize("language", BY_TIME)
def test_names_that_a_language_takes_itself_are_only_names(language: str, tmp_path: Path) -> None:
    here(language)
    names = list(Program(ODD_NAMES).read()[1].inputs)
    point = {name: 1.5 + place / 7 for place, name in enumerate(names)}
    found = run(language, code(ODD_NAMES, language), [point], names, tmp_path)[0]
    assert apart(found, truth(ODD_NAMES, [point])[0]) <= 1e-12


@pytest.mark.parametrize(
    ("name", "ascii_name", "with_letters"),
    [
        ("x₁", "x1", "x1"),
        ("α", "alpha", "α"),
        ("Δ", "Delta", "Δ"),
        ("c~2", "c_2", "c_2"),
        ("é", "e", "é"),
        ("x̂", "x_hat", "x̂"),
        ("ẋ", "x_dot", "ẋ"),
        ("数", "u6570", "数"),
        ("ς", "sigma", "ς"),
    ],
)
def test_a_name_in_other_letters(name: str, ascii_name: str, with_letters: str) -> None:
    assert identifier(name, letters=False) == ascii_name
    assert identifier(name, letters=True) == with_letters


def test_two_inputs_that_a_table_has_one_column_for_are_refused() -> None:
    with pytest.raises(OneColumn):
        code("x*X", "sql")
    assert "x*X" in code("x*X", "python")


ODD_TEXTS = [
    'x  # """ \\ """" \\',
    "x  # */ /* // ??/ \\",
    "x  # -- '; DROP TABLE data; --",
    "x  # 🙂 \u202e\u2066 evil שלום \u2029# \u0085# \u200b",
    "x  # {0} %s $x `x` \\N{DIGIT ONE} \\u0041 \\",
    "\n\n# first\nx\n\n# last \\\n",
    '# "quoted\nx # "',
    "x # \r\n\r\n # \x0c",
]


@pytest.mark.parametrize("language", BY_TIME)
def test_whatever_is_in_a_program_its_code_runs(language: str, tmp_path: Path) -> None:
    here(language)
    for program in ODD_TEXTS:
        lines = code(program, language)
        assert not re.search("[\u202e\u2066\u2029\u0085\x0c]", lines)
        assert run(language, lines, [{"x": 2.5}], ["x"], tmp_path) == [(2.5, {"x": 1.0})], program


# -- what is asked ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", BY_TIME)
def test_an_input_without_influence_a_constant_slope_and_a_constant_value(language: str, tmp_path: Path) -> None:
    here(language)
    for program, answer in (
        ("input x = 1; input y = 2; 3*x", (6.0, {"x": 3.0, "y": 0.0})),
        ("input x = 1; input y = 2; floor(7.5)", (7.0, {"x": 0.0, "y": 0.0})),
        ("input x = 1; input y = 2; x - y", (0.0, {"x": 1.0, "y": -1.0})),
    ):
        assert run(language, code(program, language), [{"x": 2.0, "y": 2.0}] * 2, ["x", "y"], tmp_path) == [answer] * 2


def test_arrays_broadcast_and_slopes_have_their_shape() -> None:
    import numpy as np

    names: dict[str, object] = {}
    exec(code("3*x + y + 2", "numpy"), names)
    value, slopes = names["value_and_gradient"](np.array([[1], [2]]), np.array([1, 2, 3]))  # type: ignore[operator]
    assert value.tolist() == [[6, 7, 8], [9, 10, 11]]
    assert slopes["x"].tolist() == [[3.0] * 3] * 2
    assert slopes["y"].shape == (2, 3)


def test_whole_numbers_do_not_overflow() -> None:
    import numpy as np

    names: dict[str, object] = {}
    exec(code("x*x*x*x*x", "numpy"), names)
    assert names["value_and_gradient"](np.array([100_000]))[0].tolist() == [1e25]  # type: ignore[operator]


def test_defaults_come_last_and_named_constants_are_defaults() -> None:
    assert "def value_and_gradient(w, x=2, b=0.5):" in code("input x = 2; input b = 1/2; w*x + b", "python").replace(
        "1/2", "0.5"
    )
    assert "def value_and_gradient(a=2, b=1):" in code("a = 2; b = 1; e = (a + b)*(b + 1)", "python")


def test_a_value_on_the_line_is_a_number_in_the_code_and_of_an_input_asked_for_its_default() -> None:
    status, out, err = call("emit", "x^2*y + z", "--to", "python", "--x", "3", "--z", "1/3")
    assert (status, err) == (0, "")
    assert "def value_and_gradient(y):" in out
    assert "With x = 3, z = 1/3." in out
    assert "f = 9*y + 1/3" in out
    _, out, _ = call("emit", "x^2*y", "--to", "python", "--x", "3", "--wrt", "x")
    assert "def value_and_gradient(y, x=3):" in out


def test_only_the_slopes_asked_for_are_written() -> None:
    out = code("h = tanh(w*x); h*y", "python", wrt=["w"])
    assert '{"w": d_w}' in out
    assert "d_x" not in out
    out = code("x*y", "python", value_only=True, function="product")
    assert "def product(x, y):" in out
    assert "    return f\n" in out


def test_the_slope_by_a_node_in_the_middle_is_its_adjoint() -> None:
    program, point = "c = a + b; d = b + 1; e = c*d", {"a": 2.0, "b": 1.0}
    lines = code(program, "python", wrt=["c", "b"])
    assert "def value_and_gradient(a, b):" in lines
    assert run("python", lines, [point], ["c", "b"]) == [(6.0, {"c": 2.0, "b": 5.0})]


def test_a_program_comes_from_a_file_from_stdin_or_from_a_trace(tmp_path: Path) -> None:
    file = tmp_path / "p.bp"
    file.write_text("input x = 2\nx^3\n", encoding="utf-8")
    of_file = call("emit", "--file", str(file), "--to", "c")
    assert of_file[0] == 0
    assert "defaults x = 2.0" in of_file[1]
    assert call("emit", "-", "--to", "c", stdin="input x = 2\nx^3\n") == of_file
    _, trace, _ = call("trace", "x^3*y", "x=5", "y=1", "--format", "json", "--no-check")
    status, out, _ = call("emit", "-", "--to", "python", stdin=trace)
    assert status == 0
    assert "def value_and_gradient(x=5, y=1):" in out
    point = tmp_path / "point.json"
    point.write_text(json.dumps({"x": 7}), encoding="utf-8")
    assert "(y, x=7)" in call("emit", "x^3*y", "--at", str(point), "--to", "python")[1]


def test_code_goes_to_a_file_whole(tmp_path: Path) -> None:
    target = tmp_path / "f.c"
    assert call("emit", "x^2", "--to", "c", "--name", "square", "-o", str(target))[:2] == (0, "")
    assert "double square(double x, double *d_x)" in target.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["W@x", "--to", "c"], "works on arrays"),
        (["x*y", "--to", "c", "--x", "[1, 2]"], "the value is an array"),
        (["input v = [1, 2]; dot(v, v)", "--to", "c"], "v = [1, 2] is an array"),
        (["polygamma(1, x)", "--to", "sql"], "sql has no polygamma"),
        (["digamma(x)", "--to", "c"], "c has no"),
        (["x", "--to", "cobol"], "--to cannot be cobol"),
        (["x"], "emit has to know the language"),
        (["x", "--to", "c", "--name", "while"], "--name cannot be while"),
        (["x", "--to", "c", "--name", "α"], "--name cannot be α"),
        (["x", "--to", "numpy", "--name", "a b"], "--name cannot be a b"),
        (["gamma(x)", "--to", "c"], "The gradient alone needs it: --value-only"),
        (["x*y", "--to", "c", "--name", "x"], "x is an input of the program"),
        (["x*rate", "--to", "c", "--rat", "3"], "Did you mean rate?"),
        (["x*y", "--to", "numpy", "--wrt", "q"], "q"),
        (["x*y", "--to", "numpy", "--x", "1..2"], "x is all of"),
        (["x*y", "--to", "numpy", "--x", "nan"], "x is NaN"),
        (["x*y", "--to", "numpy", "--x", "1e999"], "beyond the largest double"),
        (["x +", "--to", "numpy"], "something has to follow +"),
    ],
)
def test_what_cannot_be_written_is_told(words: list[str], told: str) -> None:
    status, out, err = call("emit", *words)
    assert (status, out) == (2, "")
    assert told in err


def test_the_ending_of_the_file_tells_the_language_where_there_is_one(tmp_path: Path) -> None:
    for ending, begins in (("c", "/* Value"), ("sql", "-- Value")):
        target = tmp_path / f"f.{ending}"
        assert call("emit", "x^2", "-o", str(target)) == (0, "", "")
        assert target.read_text(encoding="utf-8").startswith(begins)
    status, _, err = call("emit", "x^2", "-o", str(tmp_path / "f.py"))
    assert status == 2
    assert "Write --to with one of: jax, numba, numpy, polars, python, torch" in err
    assert not (tmp_path / "f.py").exists()


def test_a_name_that_the_language_takes_is_told_where_it_was_changed() -> None:
    assert "Names: lambda is lambda_." in code("lambda*x₁", "python")
    assert "Names: double is double_." in code("double*x", "c")
    assert "Names:" not in code("α*x₁", "c")


def test_a_condition_is_written_once() -> None:
    lines = code("y = log(x)*sin(x); where(x > 1, y + z*y, z)", "python")
    assert " or " not in lines
    assert "math.log(x) if t1 else 0.0" in lines


def test_numbers_stand_first_and_no_reciprocal_is_multiplied() -> None:
    assert "d_x = 2*x\n" in code("x^2", "python")
    assert "d_x = y/x\n" in code("log(x)*y", "python")


def test_a_mistake_of_arrays_and_of_a_name_has_its_class() -> None:
    with pytest.raises(NotElementwise):
        code("sum(x)", "numpy")
    with pytest.raises(OptionValue):
        list(emit("x", to="numpy", function="lambda"))
    with pytest.raises(Mistake):
        list(emit("x", to="fortran"))


@pytest.mark.parametrize("literal", ["1e999", "-1e999", "inf", "1e-999"])
@pytest.mark.parametrize("language", [*QUICK, "c"])
def test_an_infinite_literal_is_written(language: str, literal: str, tmp_path: Path) -> None:
    here(language)
    found = run(language, code(f"where(x > {literal}, 1, 2)*x", language), [{"x": 1.0}], ["x"], tmp_path)
    expected = 1.0 if literal in ("-1e999", "1e-999") else 2.0
    assert found == [(expected, {"x": expected})]


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.bp")), ids=lambda path: path.stem)
def test_a_sample_is_written_in_every_language_or_its_arrays_are_told(path: Path) -> None:
    program = Program(path.read_text(encoding="utf-8"))
    _, graph = program.read()
    if has_arrays(graph, graph.defaults):
        with pytest.raises(NotElementwise) as refused:
            backprop.emit(program, to="numpy")
        assert refused.value.span is not None
        return
    for language in ALL:
        assert backprop.emit(program, to=language).endswith("\n")


# -- long programs ----------------------------------------------------------------------------------------------------


def chain(count: int) -> str:
    lines = ["n0 = x*y"]
    for place in range(1, count):
        lines.append(
            f"n{place} = " + ("sin({0}) + y", "tanh({0})*x", "{0} - 0.25*y")[place % 3].format(f"n{place - 1}")
        )
    return "\n".join(lines)


def test_a_long_program_is_written_and_comes_in_pieces_in_c(tmp_path: Path) -> None:
    here("c")
    program, point = chain(800), {"x": 0.5, "y": 0.75}
    lines = code(program, "c")
    assert "static void piece2(struct values *v)" in lines
    assert "more lines)" in lines
    close(program, point, run("c", lines, [point], ["x", "y"], tmp_path)[0])
    close(program, point, run("numpy", code(program, "numpy"), [point], ["x", "y"])[0])


@slow
def test_the_time_of_writing_grows_with_the_program_and_no_faster() -> None:
    from time import perf_counter

    taken = {}
    for count in (4_000, 32_000):
        for language in ("numpy", "c", "sql", "python"):
            begin = perf_counter()
            assert len(code(chain(count), language)) > 100 * count / 4
            taken[count, language] = perf_counter() - begin
    for language in ("numpy", "c", "sql", "python"):
        assert taken[32_000, language] < 2.5 * 8 * taken[4_000, language]


# -- as a reader sees it ----------------------------------------------------------------------------------------------

READ = {
    "neuron": "# a neuron and its loss\ninput x₁ = 2\ninput y = 1\nz = x₁*w₁ + b\nh = tanh(z)\nL = (h - y)^2\n",
    "choice": "where(x > 0, x*log(x), 0) + max(x, y)",
    "growth": "N = K/(1 + exp(-r*(t - τ₀)))",
}


@pytest.mark.parametrize("language", ALL)
@pytest.mark.parametrize("name", READ)
def test_code_reads_well(golden: Golden, language: str, name: str) -> None:
    suffix = languages.by_name(language).suffix
    golden(f"emit/{name}.{language}{suffix}.txt", code(READ[name], language))


def test_every_language_says_what_it_is_and_has_an_example_that_runs() -> None:
    assert [name for name, _ in languages.names()] == list(ALL)
    assert all(says for _, says in languages.names())
    assert set(ALL) == {"c", "javascript", "jax", "numba", "numpy", "polars", "python", "sql", "torch"}

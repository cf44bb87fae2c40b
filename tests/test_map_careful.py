"""`backprop map` where doubles fail: rows in which rounding has left few digits (--careful), or overflow on the way."""

from __future__ import annotations

import json
import math
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import backprop
from backprop.mapping import lines, worker
from backprop.mapping.kernels import numpy
from command import call

CANCELS = "(1 - cos(x))/x^2"


def cosine_quotient(x: float) -> tuple[float, float]:
    """(1 - cos(x))/x^2 and its derivative, as series: 1/2 - x^2/24 + x^4/720 and -x/12 + x^3/180."""
    return 0.5 - x * x / 24 + x**4 / 720, -x / 12 + x**3 / 180


def table(folder: Path, text: str) -> str:
    path = folder / "data.csv"
    path.write_text(text, encoding="utf-8")
    return str(path)


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("engine", ["auto", "numpy", "plain"])
def test_rows_that_have_lost_digits_are_worked_out_as_grad_does(engine: str) -> None:
    numbers = [1e-9, 3e-6, 1e-4, 0.02]
    found = backprop.map_rows(CANCELS, {"x": numbers}, engine=engine, careful=True)
    for place, x in enumerate(numbers):
        value, slope = cosine_quotient(x)
        assert found["f"][place] == pytest.approx(value, rel=1e-10)
        assert found["d_x"][place] == pytest.approx(slope, rel=1e-10)
    assert "keeps none of 16 digits" in found["note"][0]


def test_off_it_takes_the_doubles_and_says_what_would_mend_them(tmp_path: Path) -> None:
    code, out, err = call("map", CANCELS, table(tmp_path, "x\n1e-9\n"), "--to", "ndjson")
    assert (code, rows(out)[0]["f"]) == (0, 0)  # cos(1e-9) is 1 in doubles
    assert "with more digits it is 0.5; --careful works such rows out with as many digits as they need" in err


def test_a_root_of_a_difference_is_that_of_the_fractions() -> None:
    x, z = [1.1, 0.1, 1 + 2**-30], [1.21, 0.01, 1.0]
    found = backprop.map_rows("sqrt(x*y - z)", {"x": x, "y": x, "z": z}, careful=True)
    for place, (one, less) in enumerate(zip(x, z, strict=True)):
        inside = Fraction(one) ** 2 - Fraction(less)
        if inside > 0:
            assert found["f"][place] == pytest.approx(math.sqrt(inside), rel=1e-11)
            assert found["d_z"][place] == pytest.approx(-0.5 / math.sqrt(inside), rel=1e-11)
        else:
            assert math.isnan(found["f"][place])
            assert "no real value" in found["note"][place]


def test_sums_and_means_are_those_of_the_careful_rows(tmp_path: Path) -> None:
    numbers = [1e-9, 2e-9, 4e-9]
    path = table(tmp_path, "x\n" + "".join(f"{x}\n" for x in numbers))
    told = json.loads(call("map", CANCELS, path, "--careful", "--sum", "--format", "json")[1])
    assert told["value"] == pytest.approx(1.5, rel=1e-12)
    assert told["gradient"]["x"] == pytest.approx(-sum(numbers) / 12, rel=1e-12)
    told = json.loads(call("map", CANCELS, path, "--careful", "--mean", "--format", "json")[1])
    assert told["value"] == pytest.approx(0.5, rel=1e-12)


def test_parts_are_careful_wherever_they_are_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "PART", 400)
    numbers = np.geomspace(1e-7, 1, 48)
    path = table(tmp_path, "x\n" + "".join(f"{float(x)!r}\n" for x in numbers))
    alone, many = (call("map", CANCELS, path, "--careful", "--jobs", jobs, "--to", "csv") for jobs in ("1", "2"))
    assert alone == many
    assert alone[1] != call("map", CANCELS, path, "--to", "csv")[1]


def test_parts_without_care_are_not_gone_on_with_carefully(tmp_path: Path) -> None:
    path, out = table(tmp_path, "x\n1e-9\n1\n"), str(tmp_path / "out")
    (tmp_path / "out").mkdir()
    words = ("map", CANCELS, path, "--to", "csv", "-o", f"{out}/", "--resume")
    assert call(*words, "--careful")[0] == 0
    assert call(*words, "--careful")[0] == 0
    code, _, err = call(*words)
    assert code == 2
    assert "careful" in err


def test_what_rounding_took_from_the_constants_is_seen() -> None:
    # as doubles 0.1 + 0.2 - 0.3 is 5.6e-17, and the three doubles make half of that
    true = Fraction(0.1) + Fraction(0.2) - Fraction(0.3)
    found = backprop.map_rows("x*(0.1 + 0.2 - 0.3)", {"x": [1.0, 2.0]}, careful=True)
    assert list(found["f"]) == [float(true), float(2 * true)]
    found = backprop.map_rows("x*(w - 0.3)", {"x": [1.0]}, {"w": 0.1 + 0.2}, careful=True)
    assert found["note"] == [None]  # here w is that double, and nothing is rounded


def test_a_kink_that_only_doubles_have_is_none() -> None:
    # hypot(y, x) is larger than x, by less than half of its last digit: clip gives x
    x, y = 377193799187711.75, -2.05
    found = backprop.map_rows("r = hypot(y, x); clip(r, -1, x) + r", {"x": [x], "y": [y]}, careful=True)
    assert found["d_y"][0] == pytest.approx(y / x, rel=1e-12)
    assert found["d_x"][0] == pytest.approx(2, rel=1e-12)


# -- many rows that overflow on the way ------------------------------------------------------------------------------

OVERFLOWS = [
    ("log(1 + exp(x))", lambda x: (x, 1.0), (710, 5000)),
    ("1/(1 + exp(-x))", lambda x: (0.0, 0.0), (-5000, -750)),
    ("sqrt(x^2 + 1)", lambda x: (x, 1.0), (1e155, 1e300)),
    ("x/(exp(x) - 1)", lambda x: (0.0, 0.0), (760, 5000)),
    ("tanh(x)*exp(-x^2)", lambda x: (0.0, 0.0), (1e155, 1e300)),
    ("exp(x)/(1 + exp(x))", lambda x: (1.0, 0.0), (760, 5000)),  # slopes cancel: worked out one by one all the same
]


@pytest.mark.parametrize(("program", "true", "ends"), OVERFLOWS)
def test_many_rows_that_overflow_on_the_way_have_their_true_numbers(program: str, true: Any, ends: Any) -> None:
    x = np.linspace(float(ends[0]), float(ends[1]), worker.IN_FULL + 60)
    found = backprop.map_rows(program, {"x": x})
    for place, number in enumerate(x.tolist()):
        value, slope = true(number)
        assert found["f"][place] == pytest.approx(value, rel=1e-11, abs=0)
        assert found["d_x"][place] == pytest.approx(slope, rel=1e-11, abs=0)


@pytest.mark.skipif(not numpy.HAS_WIDE, reason="this processor has no numbers that reach further than doubles")
def test_a_row_that_overflows_among_many_costs_little_and_is_noted() -> None:
    x = np.linspace(710, 5000, 30_000)  # at 3 ms a row this would take a minute and a half
    begun = time.process_time()
    found = backprop.map_rows("log(1 + exp(x))", {"x": x})
    assert time.process_time() - begun < 10
    assert "write softplus(x)" in found["note"][0]
    assert set(found["note"][worker.IN_FULL :]) == {worker.WIDER}
    assert (found["f"] == x).all()


def test_what_no_number_of_the_processor_holds_is_told_row_by_row() -> None:
    x = np.linspace(710, 9000, worker.IN_FULL + 40)
    found = backprop.map_rows("exp(x)", {"x": x})
    assert np.isnan(found["f"]).all()
    assert all("the value overflows" in note for note in found["note"])


def test_kinks_and_domains_stay_what_they_are_among_many() -> None:
    x = np.linspace(-300, 299, 600)
    y = np.round(x / 2) * 2
    found = backprop.map_rows("log(x)*abs(y - x)", {"x": x, "y": y})
    for place in (*range(300), *range(301, 600, 37)):
        if x[place] <= 0:
            assert "it needs x > 0" in found["note"][place]
        else:
            value, slopes = backprop.grad("log(x)*abs(y - x)", {"x": x[place], "y": y[place]})
            assert found["f"][place] == pytest.approx(value, rel=1e-12, abs=1e-300)
            assert found["d_x"][place] == pytest.approx(slopes["x"], rel=1e-12, abs=1e-300)

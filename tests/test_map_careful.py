"""`backprop map --careful`: rows in which rounding may have left few digits are worked out as `grad` does."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import backprop
from backprop.mapping import lines
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
    numbers = np.geomspace(1e-9, 1, 160)
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

"""`backprop map` as a process: how it ends, and what it says while it goes on."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from backprop import progress
from command import call

LATE = """
import atexit, sys
atexit.register(print, "a good order")
from backprop.__main__ import main
sys.argv = ["backprop", "map", "x*y", sys.argv[1]]
sys.exit(main())
"""


@pytest.mark.parametrize(("text", "code"), [("x,y\n1,2\n", 0), ("x,y\n1,2\n3\n", 2)])
def test_no_thread_of_pyarrow_is_waited_for(text: str, code: int, tmp_path: Path) -> None:
    # one that reads ahead while Python ends in good order aborts it, now and then
    pytest.importorskip("pyarrow", reason="without it there are no threads")
    path = tmp_path / "data.csv"
    path.write_text(text, encoding="utf-8")
    found = subprocess.run([sys.executable, "-c", LATE, str(path)], capture_output=True, text=True, check=False)
    assert found.returncode == code
    assert "a good order" not in found.stdout
    assert (found.stdout == "x,y,f,d_x,d_y,note\n1,2,2,2,1,\n") == (code == 0)
    assert ("row 2 has 1 cell" in found.stderr) == (code == 2)


def test_a_long_step_tells_how_far_it_is() -> None:
    watched = progress.Watched(io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    watched.phase, watched.within = "rows", "512 of 60,000 with care"
    assert "512 of 60,000 with care" in watched.line(100)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_infinities_of_both_signs_add_up_to_nan_without_a_word_of_numpy(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("x\ninf\n-inf\n1\n", encoding="utf-8")
    code, out, err = call("map", "2*x", str(path), "--sum", "--format", "json")
    assert (code, err) == (0, "")
    assert json.loads(out)["value"] == "NaN"
    assert json.loads(out)["gradient"] == {"x": 6}

"""SymPy at work in a process of its own, which can be stopped when it takes too long."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Seconds to answer in, counted from when SymPy has been imported, and seconds for the import.
PATIENCE = 3.0
PATIENCE_FOR_IMPORT = 20.0


@dataclass(slots=True)
class Answers:
    """What the process said in time. `trouble` says why something may be missing."""

    slopes: dict[int, list[str | None]] = field(default_factory=dict)
    whole: dict[int, str | None] = field(default_factory=dict)
    errors: dict[int, str] = field(default_factory=dict)
    trouble: str = ""

    def add(self, answer: dict[str, Any]) -> None:
        if "local" in answer:
            self.slopes[answer["local"]] = answer["slopes"]
        elif "whole" in answer:
            self.whole[answer["whole"]] = answer["slope"]
            self.errors[answer["whole"]] = answer.get("error", "")


class Child:
    """The process: it starts at once and works while the caller goes on; `answers` waits for it.

    `sure` is how many digits of an answer have to be certain.
    """

    def __init__(self, groups: list[dict[str, Any]], whole: dict[str, Any] | None, sure: int = 30) -> None:
        self.trouble = ""
        self.lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        # the child must find this very package, and -P keeps it from importing what lies in the user's directory
        package = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join(part for part in (package, os.environ.get("PYTHONPATH", "")) if part)
        try:
            self.process: subprocess.Popen[str] | None = subprocess.Popen(
                [sys.executable, "-P", "-m", "backprop.sympy_child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
                env={**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"},
            )
        except OSError as error:
            self.process = None
            self.trouble = f"SymPy could not be started ({error.strerror or type(error).__name__})"
            return
        question = json.dumps({"local": groups, "whole": whole, "sure": sure})
        threading.Thread(target=self._ask, args=(self.process, question), daemon=True).start()
        self.listening = threading.Thread(target=self._listen, args=(self.process,), daemon=True)
        self.listening.start()

    def _ask(self, process: subprocess.Popen[str], question: str) -> None:
        """Put the question: in a thread, since a long one fills the pipe before the child reads."""
        assert process.stdin is not None
        try:
            process.stdin.write(question)
            process.stdin.close()
        except (OSError, ValueError):
            pass  # the child has gone, and `answers` says so

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                self.lines.put(line)
        except (OSError, ValueError):
            pass  # the pipe was closed when the child was stopped
        finally:
            process.stdout.close()
        self.lines.put("")

    def answers(self) -> Answers:
        """Everything that was answered in time; the process is gone afterwards."""
        found = Answers(trouble=self.trouble)
        if self.process is None:
            return found
        deadline = time.monotonic() + PATIENCE_FOR_IMPORT
        try:
            while True:
                line = self.lines.get(timeout=max(0.0, deadline - time.monotonic()))
                answer = _read(line)
                if answer is None:
                    found.trouble = "SymPy stopped before it had an answer"
                    break
                if "ready" in answer:
                    deadline = time.monotonic() + PATIENCE
                elif "done" in answer:
                    break
                found.add(answer)
        except queue.Empty:
            found.trouble = f"SymPy took more than {PATIENCE:g} s"
        finally:
            self.stop()
        return found

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        if self.process is not None:
            if self.process.poll() is None:
                self.process.kill()
            self.process.wait()
            self.listening.join()  # the pipe is at its end, and is closed by whoever reads it


def _read(line: str) -> dict[str, Any] | None:
    """One line of the child; None at its end and for half a line."""
    try:
        answer = json.loads(line)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None

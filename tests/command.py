"""The command `backprop` in the process of the tests."""

from __future__ import annotations

import io

from backprop import cli


def call(*words: str, stdin: str | bytes = "") -> tuple[int, str, str]:
    """Exit code, stdout, stderr."""
    typed = io.StringIO(stdin) if isinstance(stdin, str) else io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    code = cli.main(list(words), typed, out, err)
    texts = []
    for stream in (out, err):
        stream.flush()
        stream.seek(0)
        texts.append(stream.read())
    return code, texts[0], texts[1]

"""The expectations in programs."""

from __future__ import annotations

from backprop.asked import Asked
from backprop.commands import FIGURES, OUT, PLAIN, command
from backprop.mistakes import NothingGiven


@command(
    "FILE...",
    FIGURES,
    PLAIN,
    OUT,
    binds=False,
    examples=("backprop test samples/*.bp", 'echo "2 + 2  # expect f = 4" | backprop test -'),
)
def answer(asked: Asked) -> int:
    """Run the expectations written in programs, `# expect de/db = 5`, and show what differs."""
    from backprop import expect
    from backprop.render.expect import render

    files = asked.words.positional
    if not files:
        raise NothingGiven("test", "FILE...", {})
    results = [expect.run(path, asked.standard_input() if path == "-" else None) for path in files]
    if asked.json:
        asked.show_record([result.to_dict() for result in results])
    else:
        asked.show(render(results, asked.look))
    return max(result.exit_code for result in results)

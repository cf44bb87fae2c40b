"""Completion in the shells: commands, options, their values, and the variables of the expression already typed.

Typer's scripts for bash, zsh, fish and PowerShell call `backprop` again with the line so far in the environment; this
module answers. It reads the same declarations as everything else and loads neither Typer nor Rich to do so.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TextIO

from backprop import bindings, commands
from backprop.asked import FINE, write_lines
from backprop.bindings import Option
from backprop.commands import Command
from backprop.mistakes import Mistake, OptionValue

# A word to offer, and what it is.
Offer = tuple[str, str]

PROGRAM, VARIABLE = "backprop", "_BACKPROP_COMPLETE"
SHELLS = ["bash", "zsh", "fish", "powershell", "pwsh"]


def offers(words: Sequence[str], last: str) -> list[Offer]:
    """What the word `last`, not yet finished, may become after the finished `words` of a line.

    >>> [word for word, _ in offers(["trace", "x*yy + z", "--x", "3"], "--y")]
    ['--yy']
    """
    if not words:
        found = [(command.name, command.short) for command in commands.every()]
        if last.startswith("-"):
            found = [("--help", ""), ("--version", ""), ("--show-completion", ""), ("--install-completion", "")]
        return _beginning(found, last)
    if words[0] not in commands.names():
        return []
    command = commands.by_name(words[0])
    line = list(words[1:])
    if line and line[-1] == "=":  # bash hands over `--format=js` in three words
        line.pop()
    joined = ""
    if last.startswith("--") and "=" in last:  # the other shells in one
        joined, _, last = last.partition("=")
        line.append(joined)
        joined += "="
    if last == "=":
        last = ""
    option = _option(command, line[-1]) if line else None
    if option is not None and option.value:
        several = option.many or option.value == "DIRECTION"
        stem, comma, part = last.rpartition(",") if several else ("", "", last)
        found = _beginning(_values(option, command, line[:-1]), part)
        return [(f"{joined}{stem}{comma}{word}", says) for word, says in found]
    if joined or (line and command.binds and line[-1].startswith("--") and line[-1] != "--" and option is None):
        return []  # the value of a variable
    found = []
    if last.startswith("-"):
        typed = {word.partition("=")[0] for word in line}
        found = [(f"--{name}", "variable") for name in _unset(command, line, typed)]
        found += [(f"--{one.name}", one.says) for one in command.options if f"--{one.name}" not in typed or one.many]
        found.append(("--help", "show this command's help"))
    elif command.takes == "[NAME]":
        from backprop import ops

        found = [(row.name, row.says) for row in ops.rows()]
    return _beginning(found, last)


def _beginning(found: Sequence[Offer], start: str) -> list[Offer]:
    return [offer for offer in found if offer[0].startswith(start)]


def _option(command: Command, word: str) -> Option | None:
    for option in command.options:
        if word in (f"--{option.name}", option.short):
            return option
    return None


def _values(option: Option, command: Command, line: Sequence[str]) -> list[Offer]:
    if option.choices is not None:
        return [(choice, "") for choice in option.choices()]
    if option.value == "DIRECTION":
        return [(f"{name}=", "") for name in _names(command, line, every=False)]
    if option.value == "KIND":
        from backprop import kinds

        return [(spelling.replace(":N", ":30"), says) for spelling, says in kinds.names()]
    if option.value in ("NAME", "NAMES", "[NAMES]"):
        return [(name, "") for name in _names(command, line, every=True)]
    return []


def _unset(command: Command, line: Sequence[str], typed: set[str]) -> list[str]:
    """The variables that have no value on the line yet."""
    if not command.binds:
        return []
    given = {word.removeprefix("--") for word in typed} | {word.partition("=")[0] for word in line if "=" in word}
    return [name for name in _names(command, line, every=False) if name not in given]


def _names(command: Command, line: Sequence[str], every: bool) -> list[str]:
    """The variables of the expression on the line, or all names in it. What is unfinished is read word by word."""
    text = _expression(command, line)
    if text is None:
        return []
    try:
        from backprop.point import Program

        _, graph = Program(text).read(())
        return list(dict.fromkeys([*graph.inputs, *graph.names.values()])) if every else list(graph.inputs)
    except Mistake:
        words = re.findall(bindings.NAME, text)
        return list(dict.fromkeys(word for word in words if not re.search(rf"{re.escape(word)}\s*\(", text)))


def _expression(command: Command, line: Sequence[str]) -> str | None:
    """The program of a line that need not be complete."""
    words = list(line)
    if words and _option(command, words[-1]) is not None:
        words.pop()
    while True:
        try:
            found = bindings.split(words, command.options, command.binds)
            break
        except Mistake:
            if not words:
                return None
            words.pop()  # the unfinished end of the line
    try:
        if found.text("file"):
            return bindings.read_file(found.text("file"))
        return found.positional[0] if found.positional and found.positional[0] != "-" else None
    except Mistake:
        return None


# -- the shells' protocol ---------------------------------------------------------------------------------------------


def answer(environment: Mapping[str, str], stdout: TextIO) -> int:
    """Answer a shell that completes: the line stands in the environment, the offers go to stdout."""
    what, _, shell = environment[VARIABLE].partition("_")
    if what != "complete" or shell not in SHELLS:
        return 1
    if shell == "bash":
        words = split_line(environment.get("COMP_WORDS", ""))
        place = int(environment.get("COMP_CWORD") or 0)
        before, last = words[1:place], words[place] if place < len(words) else ""
    else:
        line = environment.get("_TYPER_COMPLETE_ARGS", "")
        before = split_line(line)[1:]
        last = before.pop() if before and not line.endswith(" ") else ""
        if shell in ("powershell", "pwsh"):
            last = environment.get("_TYPER_COMPLETE_WORD_TO_COMPLETE", last)
    found = offers(before, last)
    if shell == "zsh":
        # nothing to offer: files
        pairs = "\n".join(f'"{_zsh(word)}":"{_zsh(says)}"' if says else f'"{_zsh(word)}"' for word, says in found)
        write_lines(stdout, [f"_arguments '*: :(({pairs}))'" if found else "_files"])
        return FINE
    if shell == "fish" and environment.get("_TYPER_COMPLETE_FISH_ACTION") == "is-args":
        return 0 if found else 1
    marks: dict[str, Callable[[Offer], str]] = {
        "bash": lambda offer: offer[0],
        "fish": lambda offer: f"{offer[0]}\t{offer[1]}" if offer[1] else offer[0],
    }
    shown = marks.get(shell, lambda offer: f"{offer[0]}:::{offer[1] or ' '}")
    write_lines(stdout, map(shown, found))
    return FINE


def _zsh(text: str) -> str:
    """Text inside zsh's quotation marks, where a colon ends the word."""
    text = text.replace("\\", "\\\\").replace('"', '""').replace("'", "''").replace("$", "\\$").replace("`", "\\`")
    return text.replace(":", "\\\\:")


def split_line(line: str) -> list[str]:
    """The words of a shell's line, whose last quotation mark may still be open.

    >>> split_line('backprop trace "x * y" --x')
    ['backprop', 'trace', 'x * y', '--x']
    """
    return list(_split(line))


def _split(line: str) -> Iterator[str]:
    import shlex

    lexer = shlex.shlex(line, posix=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        yield from lexer
    except ValueError:
        yield lexer.token


def script(option: str, words: Sequence[str], stdout: TextIO) -> int:
    """`--show-completion [SHELL]` prints a shell's script, `--install-completion [SHELL]` puts it in its place."""
    from typer._completion_shared import get_completion_script, install

    shell = words[0] if words else _shell()
    if shell not in SHELLS:
        raise OptionValue(option.removeprefix("--"), shell or "", f"Name the shell: {option} {'|'.join(SHELLS[:3])}")
    if option == "--show-completion":
        text = get_completion_script(prog_name=PROGRAM, complete_var=VARIABLE, shell=shell)
        write_lines(stdout, text.split("\n"))
        return FINE
    _, path = install(shell=shell, prog_name=PROGRAM, complete_var=VARIABLE)
    write_lines(stdout, [f"{shell} completion installed in {path}; it takes effect in the next shell."])
    return FINE


def _shell() -> str | None:
    """The shell that called, or the one the user logs in with."""
    try:
        import shellingham

        name: str = shellingham.detect_shell()[0]
        return name
    except (ImportError, RuntimeError, OSError):
        return os.path.basename(os.environ.get("SHELL", "")) or None

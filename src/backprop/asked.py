"""A command as it was asked: its words, where it reads and writes, and what belongs to every answer."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TextIO

from backprop import bindings, progress
from backprop.bindings import Words
from backprop.figures import usual_figures
from backprop.mistakes import BinaryOutput, CannotRead, ExtraWord, NothingGiven, OneAtATime, UnknownFormat

if TYPE_CHECKING:
    from backprop.commands import Command
    from backprop.kinds import Kind
    from backprop.point import Program
    from backprop.record import Birth, Trace
    from backprop.render import Format
    from backprop.render.look import Look

FINE = 0  # the exit code of an answer in which nothing disagrees

# About ten million operations: beyond that neither time nor memory is sensible.
LONGEST_PROGRAM = 1 << 25
# The farthest that --limit moves a bound: numbers of a billion bits.
MOST_LIMIT = 10**9
# options that say how a drawing looks
VIEWS = ("direction", "path", "around", "hops", "both")
# commands whose answer says itself how the program was read
TELLS_READINGS = ("trace", "check", "step", "hessian")


@dataclass(slots=True)
class Streams:
    """Where results, talk and questions go."""

    stdin: TextIO | None
    stdout: TextIO
    stderr: TextIO


@dataclass(slots=True)
class Asked:
    """A command as it was asked: its words, and what belongs to reading and answering."""

    command: Command
    words: Words
    streams: Streams
    saved_kind: str = "real"  # of a trace that stands for its program
    saved_opening: list[str] | None = None

    @property
    def format(self) -> str:
        """The format asked for, else the one that the ending of the file of -o stands for, else the command's first."""
        option = next(option for option in self.command.options if option.name == "format")
        known = list(option.choices()) if option.choices is not None else []
        chosen, path = self.words.text("format"), self.words.text("output")
        suffix = os.path.splitext(path)[1].lower()
        if chosen or not suffix or suffix == ".txt":
            return chosen or known[0]
        ending = {".tex": "latex"}.get(suffix, suffix[1:])
        if ending not in known:
            raise UnknownFormat(ending, known)
        return ending

    @property
    def json(self) -> bool:
        """Whether the answer is JSON."""
        return self.format == "json"

    @property
    def kind(self) -> Kind:
        """The kind of number asked for. Raises `UnknownKind`, `KindArgument` and `ExtraMissing`."""
        from backprop import kinds

        limit = self.words.count("limit", 0, most=MOST_LIMIT) if "limit" in self.words.options else None
        kind = kinds.by_name(self.words.text("kind", self.saved_kind), limit)
        if "undefined" not in self.words.options and "convention" not in self.words.options:
            return kind
        from backprop.conventions import numbers

        return numbers(kind, self.words.text("undefined", "explain"), self.convention)

    @property
    def convention(self) -> str:
        """Whose choice is taken at a kink."""
        return self.words.text("convention", "minimum-norm")

    @property
    def opened(self) -> list[str] | None:
        """The nodes to open into single numbers: none where it is not asked for, all where no name is given."""
        if "open" not in self.words.options:
            return self.saved_opening
        return self.words.names("open") if self.words.text("open") else []

    @property
    def figures(self) -> int:
        """The significant digits in tables: those asked for, else as many as the kind has."""
        return self.figures_of(self.words.text("kind", self.saved_kind))

    def figures_of(self, kind: str) -> int:
        """The significant digits of numbers of a kind: those asked for, else as many as the kind has."""
        usual = usual_figures(kind)
        return self.words.count("figures", usual, 1, max(17, usual))

    @property
    def look(self) -> Look:
        """How results look where they go: a file gets every letter, no colour and no width."""
        from backprop.render.look import Look

        here = self.words.text("output", "-") == "-"
        look = Look.of(self.streams.stdout, self.figures) if here else Look(figures=self.figures)
        if self.words.flag("brief"):
            if self.words.flag("full"):
                raise OneAtATime(["--brief", "--full"])
            return replace(look, brief=True)
        return look.in_full() if self.words.flag("full") else look

    def text(self) -> tuple[str, str | None]:
        """The text of the program and where it came from (None when it was typed)."""
        found, file = self.words.positional, self.words.text("file")
        if file:
            if found:
                raise bindings.extra_word([f"--file {file}", found[0]])
            return bindings.read_file(file), file
        if not found:
            raise NothingGiven(self.command.name, self.command.takes, self.words.given)
        if len(found) > 1:
            raise bindings.extra_word(found)
        if found[0] == "-":
            return self.standard_input(), "stdin"
        return found[0], None

    def at_most(self, count: int) -> list[str]:
        """The words besides the options of a command that takes no expression. Raises `ExtraWord`."""
        found = self.words.positional
        if len(found) > count:
            takes = f"takes one {self.command.takes.strip('[]').lower()}" if count else "takes options alone"
            raise ExtraWord(found[count], f"backprop {self.command.name} {takes}.")
        return found

    def standard_input(self) -> str:
        """All of stdin as text. Raises `CannotRead` when it is closed or holds no text."""
        stream = self.streams.stdin
        if stream is None:
            raise CannotRead("stdin", "it is closed")
        try:
            buffer = getattr(stream, "buffer", None)
            return stream.read() if buffer is None else bindings.text_of(buffer, "stdin")
        except (OSError, ValueError) as error:
            raise CannotRead("stdin", str(error)) from None

    def question(self) -> tuple[Program, dict[str, str]]:
        """The program and its inputs. A trace in JSON stands for its program at its point; the command line wins."""
        from backprop.point import Program

        text, origin = self.text()
        given: dict[str, str] = {}
        if origin is not None and text.lstrip().startswith("{"):
            from backprop.arrays_text import put_together
            from backprop.numerals import saved_number

            saved = saved_trace(text)
            text, self.saved_opening = saved.program, saved.opened
            given = put_together({name: saved_number(value, name) for name, value in saved.inputs.items()})
            self.saved_kind = "real" if saved.kind == "symbol" else saved.kind
        if len(text) > LONGEST_PROGRAM:
            told = f"it has {len(text)} characters, and {LONGEST_PROGRAM} are the most that I work with"
            raise CannotRead(origin or "the program", told)
        if self.words.text("at"):
            given |= bindings.point_file(self.words.text("at"))
        given |= self.words.given
        program = Program(text, origin, self.words.text("engine", "auto"))
        if self.words.given:
            spelled = program.spelled(self.words.given)
            _, graph = program.read(program.spelled(given))
            unused = [name for name in spelled if name not in graph.inputs]
            bindings.refuse_lookalikes(unused, graph.inputs, self.command.options)
        if self.command.name not in TELLS_READINGS:
            from backprop.graph.building import misgivings

            for _, told in misgivings(*program.read(program.spelled(given)), given):
                self.say(f"note: {told}")
        return program, given

    def show(self, lines: Iterable[str], at_once: bool = False) -> None:
        """Write the lines of the result to stdout or to the file of -o. `at_once` hands over every line as it comes."""
        path = self.words.text("output", "-")
        if path == "-":
            write_lines(self.streams.stdout, lines, at_once)
        else:
            write_file(path, lines)

    def show_record(self, record: Any) -> None:
        """Write a result as JSON."""
        from backprop.render.json import indented

        self.show(indented(record, self.look.ascii))

    def show_trace(self, trace: Trace, usual: str = "table") -> None:
        """Write a trace in the format asked for, or the one that the ending of the file stands for."""
        from backprop import render

        path = self.words.text("output", "-")
        suffix = os.path.splitext(path)[1]
        if "format" in self.words.options or path == "-" or suffix in ("", ".txt"):
            renderer = render.by_name(self.words.text("format", usual))
        else:
            renderer = render.by_suffix(suffix)
        if renderer.format.name != "table":
            trace.settle()
        look = replace(self.look, figures=self.figures_of(trace.kind))
        if not self.words.options.keys().isdisjoint(VIEWS):
            from backprop.viewing import viewed

            trace, look = viewed(self.words, trace, renderer.format, look)
        if renderer.format.binary:
            self.show_bytes(renderer.format, lambda: renderer.render(trace, replace(look, ascii=False)))
        else:
            self.show(renderer.render(trace, look))

    def show_bytes(self, format: Format, pieces: Callable[[], Iterable[bytes]]) -> None:
        """Write a binary result to the file of -o or to a pipe. Raises `BinaryOutput` where there is room for text."""
        path = self.words.text("output", "-")
        if path != "-":
            write_bytes(path, pieces())
            return
        stream = getattr(self.streams.stdout, "buffer", None)
        if stream is None or self.streams.stdout.isatty():
            raise BinaryOutput(format.name.upper(), format.suffix)
        stream.write(b"".join(pieces()))
        stream.flush()

    def say_birth(self, found: Birth | None) -> None:
        """Tell where a NaN or an infinity came from, if there is one."""
        if found is not None:
            from backprop.birthplace import told

            self.say(f"note: {told(found)}")
            self.say(f"to see it alone: {found.command}")

    def say(self, text: str) -> None:
        """A line of talk; the result does not depend on whether it can be heard."""
        try:
            with progress.set_aside():
                self.streams.stderr.write(text + "\n")
        except OSError:
            discard(self.streams.stderr)


def saved_trace(text: str) -> Trace:
    """A trace read back. Raises `NotATrace`."""
    from backprop.record import Trace

    return Trace.from_json(text)


# -- writing ---------------------------------------------------------------------------------------------------------


def write_lines(stream: TextIO, lines: Iterable[str], at_once: bool = False) -> None:
    """Write lines as they come: the first at once, then in larger pieces unless someone is watching."""
    is_screen = stream.isatty()
    at_once = at_once or is_screen
    held: list[str] = []
    size, room, done = 0, 0, 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= room:
            if is_screen:
                progress.results_follow()
            elif not done:
                progress.phase("writing")
            done += size
            progress.wrote(done)
            stream.write("\n".join(held) + "\n")
            stream.flush()
            held.clear()
            size, room = 0, 0 if at_once else 1 << 16
    if held:
        stream.write("\n".join(held) + "\n")
    stream.flush()


def write_file(path: str, lines: Iterable[str]) -> None:
    """Write lines to a file, whole or not at all (`whole_files`). Raises `CannotWrite`."""
    from io import TextIOWrapper

    from backprop.whole_files import whole_file

    with (
        whole_file(path) as file,
        TextIOWrapper(file, encoding="utf-8", errors="backslashreplace", newline="\n") as text,
    ):
        write_lines(text, lines)


def write_bytes(path: str, pieces: Iterable[bytes]) -> None:
    """Write pieces of bytes to a file, whole or not at all (`whole_files`). Raises `CannotWrite`."""
    from backprop.whole_files import whole_file

    with whole_file(path) as file:
        file.writelines(pieces)


def discard(stream: TextIO) -> None:
    """Let whatever is still written to a stream go nowhere."""
    try:
        descriptor = os.open(os.devnull, os.O_WRONLY)
        os.dup2(descriptor, stream.fileno())
        os.close(descriptor)
    except (OSError, ValueError):  # no real file beneath
        pass

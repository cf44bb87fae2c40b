"""The command line: read the question, call one library function, render, return an exit code.

A line whose words can be told apart is answered before Typer and Rich are loaded; Typer brings the help and the shells'
completion scripts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TextIO

from backprop import bindings
from backprop.bindings import Option, Words, with_files
from backprop.figures import usual_figures
from backprop.mistakes import (
    CannotRead,
    CannotWrite,
    ExtraWord,
    Mistake,
    NotANumber,
    NothingGiven,
    OneAtATime,
    OptionValue,
    TooDeep,
    UnknownCommand,
    UnknownFormat,
)

if TYPE_CHECKING:
    from backprop.kinds import Kind
    from backprop.point import Program
    from backprop.record import Birth, Trace
    from backprop.render.look import Look

# A mistake tells its own code (2, or 3 where nothing is defined), and so does every answer (1 where a check disagrees).
FINE, OUR_FAULT, INTERRUPTED = 0, 70, 130

# About ten million operations: beyond that neither time nor memory is sensible.
LONGEST_PROGRAM = 1 << 25
# One record in JSON holds every step at once.
MOST_STEPS_IN_JSON = 100_000
# The largest terms are held until they are in order; whoever wants them all can have them as they come.
MOST_RANKED = 100_000
# The farthest that --limit moves a bound: numbers of a billion bits.
MOST_LIMIT = 10**9

SAYS = "Trace how a result is computed, and how it moves with each of its inputs."


@dataclass(frozen=True, slots=True)
class Command:
    """One command. `takes` names what stands on the line besides options; `binds` says whether it knows variables."""

    name: str
    says: str
    takes: str
    options: tuple[Option, ...]
    examples: tuple[str, ...]
    binds: bool
    run: Callable[[Asked], int]

    @property
    def short(self) -> str:
        return self.says.partition("\n")[0]


COMMANDS: dict[str, Command] = {}


def command(
    takes: str, *options: Option, examples: tuple[str, ...] = (), binds: bool = True
) -> Callable[[Callable[[Asked], int]], Callable[[Asked], int]]:
    """Declare a command: the function's name is its name, the function's docstring what it says about itself."""

    def declare(run: Callable[[Asked], int]) -> Callable[[Asked], int]:
        says = "\n".join(line.strip() for line in (run.__doc__ or "").strip().splitlines())
        name = run.__name__.rstrip("_")
        COMMANDS[name] = Command(name, says, takes, options, examples, binds, run)
        return run

    return declare


def one_of(*names: str) -> Callable[[], list[str]]:
    """What an option may be, when it is known beforehand."""
    return lambda: list(names)


def format_names() -> list[str]:
    """The formats that a trace can be shown in."""
    from backprop.render import formats

    return [found.name for found in formats()]


def convention_names() -> list[str]:
    """Whose choice can be taken at a kink."""
    from backprop.conventions import NAMES

    return list(NAMES)


def path_formats() -> list[str]:
    """The formats that paths can be shown in."""
    from backprop.render.paths import FORMATS

    return list(FORMATS)


def cost_formats() -> list[str]:
    """The formats that a cost can be shown in."""
    from backprop.render.cost import FORMATS

    return list(FORMATS)


def formula_formats() -> list[str]:
    """The formats that derivatives can be shown in."""
    from backprop.render.diff import FORMATS

    return list(FORMATS)


FILE = Option("file", "read the program from a file", "FILE")
AT = Option("at", 'read values from a JSON file such as {"x": 2}; the command line wins', "FILE")
OUT = Option("output", "write to a file, whole or not at all", "FILE", short="-o")
FIGURES = Option("figures", "significant digits in tables (6)", "N")
OPEN = Option(
    "open", "open arrays into single numbers, each a node of its own; z,a: these nodes alone", "[NAMES]", many=True
)
FULL = Option("full", "show every element of large arrays")
BRIEF = Option("brief", "in JSON too, tell large arrays by shape, norm, least and greatest element")
KIND = Option("kind", "the kind of number: real (double precision), exact, digits:N, certified (real)", "KIND")
LIMIT = Option("limit", "the bound of a kind: bits of an exact fraction, N of digits:N", "N")
UNDEFINED = Option(
    "undefined",
    "what has no value: explain, or propagate NaN and infinities as a plain tape does (explain)",
    "HOW",
    one_of("explain", "propagate"),
)
CONVENTION = Option(
    "convention",
    "whose choice is taken at a kink: minimum-norm, mean, left, right, nan, or that of a framework: torch, jax, "
    "tensorflow, autograd, casadi (minimum-norm)",
    "NAME",
    convention_names,
)
WRT = Option("wrt", "the inputs or nodes whose derivatives are asked for: x,y", "NAMES", many=True)
FORMAT = Option("format", "how the trace is shown; -o FILE chooses by the ending", "FORMAT", format_names)
PLAIN = Option("format", "how the answer is shown", "FORMAT", one_of("table", "json"))
QUESTION = (FILE, AT)
DIRECTIONS = (
    Option("jacobian", "every derivative of every element of the output: a matrix for each input"),
    Option("jvp", "the slope along a direction: x=1,y=0, W=[[1, 0]], @v.npy, or [1, 0] as --wrt goes", "DIRECTION"),
    Option("vjp", "what is pulled back from the output: the gradient times a number, [1, 0] of a vector", "NUMBER"),
    Option("hvp", "the Hessian times a direction: how the gradient moves along it", "DIRECTION"),
    Option("hessian", "every second derivative; backprop hessian checks them too"),
    Option("order", "the Taylor series up to t^N along --jvp, or in the one input", "N"),
    Option("sparsity", "where the Jacobian (or with --hessian the Hessian) is not 0, as dots in place of numbers"),
)
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
        program = Program(text, origin)
        if self.words.given:
            spelled = program.spelled(self.words.given)
            _, graph = program.read(program.spelled(given))
            unused = [name for name in spelled if name not in graph.inputs]
            bindings.refuse_lookalikes(unused, graph.inputs, self.command.options)
        if self.command.name not in TELLS_READINGS:
            from backprop.graph import misgivings

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

    def show_trace(self, trace: Trace) -> None:
        """Write a trace in the format asked for, or the one that the ending of the file stands for."""
        from backprop import render

        path = self.words.text("output", "-")
        suffix = os.path.splitext(path)[1]
        if "format" in self.words.options or path == "-" or not suffix:
            renderer = render.by_name(self.words.text("format", "table"))
        else:
            renderer = render.by_suffix(suffix)
        self.show(renderer.render(trace, replace(self.look, figures=self.figures_of(trace.kind))))

    def say_birth(self, found: Birth | None) -> None:
        """Tell where a NaN or an infinity came from, if there is one."""
        if found is not None:
            from backprop.birthplace import told

            self.say(f"note: {told(found)}")
            self.say(f"to see it alone: {found.command}")

    def say(self, text: str) -> None:
        """A line of talk; the result does not depend on whether it can be heard."""
        try:
            self.streams.stderr.write(text + "\n")
        except OSError:
            _discard(self.streams.stderr)


def saved_trace(text: str) -> Trace:
    """A trace read back. Raises `NotATrace`."""
    from backprop.record import Trace

    return Trace.from_json(text)


# -- writing ---------------------------------------------------------------------------------------------------------


def write_lines(stream: TextIO, lines: Iterable[str], at_once: bool = False) -> None:
    """Write lines as they come: the first at once, then in larger pieces unless someone is watching."""
    at_once = at_once or stream.isatty()
    held: list[str] = []
    size, room = 0, 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= room:
            stream.write("\n".join(held) + "\n")
            stream.flush()
            held.clear()
            size, room = 0, 0 if at_once else 1 << 16
    if held:
        stream.write("\n".join(held) + "\n")
    stream.flush()


def write_file(path: str, lines: Iterable[str]) -> None:
    """Write a file whole or not at all: a new file beside it takes its place once it is complete."""
    try:
        target = os.path.realpath(path)
        if os.path.exists(target) and not os.path.isfile(target):  # a device or a named pipe has no place to take
            with open(target, "w", encoding="utf-8", newline="\n") as file:
                write_lines(file, lines)
            return
        beside = f"{target}.{os.getpid()}.part"
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with open(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
                write_lines(file, lines)
            if os.path.exists(target):
                os.chmod(beside, os.stat(target).st_mode & 0o7777)
            os.replace(beside, target)
        except BaseException:
            os.unlink(beside)
            raise
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        raise CannotWrite(path, getattr(error, "strerror", None) or str(error)) from None


# -- commands --------------------------------------------------------------------------------------------------------


@command(
    "EXPRESSION",
    WRT,
    Option(
        "mode",
        "reverse (adjoints, output first) or forward (tangents of one input)",
        "MODE",
        one_of("reverse", "forward"),
    ),
    OPEN,
    FIGURES,
    FULL,
    BRIEF,
    Option("no-check", "leave the witnesses out"),
    Option("rounding", "tell how many digits of every value and adjoint are right in doubles"),
    Option("symbolic", "formulas in place of numbers; no values needed"),
    KIND,
    LIMIT,
    UNDEFINED,
    CONVENTION,
    *QUESTION,
    FORMAT,
    OUT,
    examples=(
        'backprop trace "(x*y + z)*x" --x 3 --y -1 --z 2',
        'backprop trace "c = a + b; d = b + 1; e = c*d" a=2 b=1 --mode forward --wrt b',
        "backprop trace --file neuron.bp -o neuron.json",
    ),
)
def trace(asked: Asked) -> int:
    """Show every value, partial and adjoint, the gradient and who confirms it."""
    from backprop import tracing

    words = asked.words
    program, inputs = asked.question()
    found = tracing.trace(
        program,
        inputs,
        wrt=words.names("wrt"),
        mode=words.text("mode", "reverse"),
        check=not words.flag("no-check"),
        symbolic=words.flag("symbolic"),
        figures=asked.figures,
        kind=asked.kind,
        convention=asked.convention,
        rounding=words.flag("rounding"),
        opened=asked.opened,
    )
    asked.show_trace(found)
    return found.exit_code


@command(
    "EXPRESSION",
    Option("wrt", "by which variables: x; x,y is by both in turn; --wrt x --wrt y is each", "NAMES", many=True),
    Option("order", "how often to differentiate: 2 for second derivatives (1)", "N"),
    *QUESTION,
    Option("format", "how the formulas are shown", "FORMAT", formula_formats),
    OUT,
    examples=('backprop diff "x^2*sin(y)"', 'backprop diff "x^3*y" --wrt x,y', 'backprop diff "exp(-x^2)" --order 2'),
)
def diff(asked: Asked) -> int:
    """Write the derivatives as formulas, with the chain rule line by line. No values are needed."""
    from backprop.derivatives import differentiate
    from backprop.render.diff import render

    words = asked.words
    program, inputs = asked.question()
    if inputs:
        asked.say(f"diff works with formulas: it has no use for the value of {', '.join(inputs)}")
    try:
        found = differentiate(program.text, words.lists("wrt"), words.count("order", 1, most=1000))
    except Mistake as mistake:
        raise mistake.within(program.text, program.origin) from None
    asked.show(render(found, asked.look, asked.format))
    return FINE


@command(
    "EXPRESSION",
    WRT,
    OPEN,
    FIGURES,
    FULL,
    KIND,
    LIMIT,
    UNDEFINED,
    CONVENTION,
    *DIRECTIONS,
    Option(
        "mode",
        "how a Jacobian is worked out: forward or reverse passes (the cheaper)",
        "MODE",
        one_of("forward", "reverse"),
    ),
    *QUESTION,
    PLAIN,
    OUT,
    examples=(
        'backprop grad "x^2 + sin(x*y)" --x 1/3 --y 2',
        'backprop grad "x^2" --x 3 --format json',
        'backprop grad "x^2*y" --x 3 --y 2 --jvp x=1,y=0 --hvp "[1, 0]" --hessian',
        'backprop grad "exp(sin(x))" --x 0 --order 6',
        'backprop grad "tanh(W @ x)" --W "[[1, 2], [3, 4]]" --x "[0.1, -0.2]" --jacobian',
    ),
)
def grad(asked: Asked) -> int:
    """Show the value and the gradient alone: the fastest answer.

    More can be asked: the Jacobian of a vector, products with a vector from either side, the Hessian or its product
    with a vector, a Taylor series, where derivatives are not 0. Exit code 1 when a check of a Jacobian disagrees.
    """
    if "mode" in asked.words.options and not asked.words.flag("jacobian"):
        told = "It says how a Jacobian is worked out: --jacobian --mode forward"
        raise OptionValue("mode", asked.words.text("mode"), told)
    if any(option.name in asked.words.options for option in DIRECTIONS):
        return _directional(asked)
    from backprop.gradient import answered, remarks

    program, inputs = asked.question()
    kind = asked.kind
    here = answered(program, inputs, asked.words.names("wrt"), kind, convention=asked.convention, opened=asked.opened)
    for note in remarks(here):
        asked.say(f"note: {note.text}")
    if kind.intervals:
        from backprop.balls.certificates import doubles

        if text := doubles(here.told()):
            asked.say(f"note: {text}")
    if kind.propagates:
        from backprop import birthplace
        from backprop.conventions import opinions

        asked.say_birth(birthplace.birth(here))
        for text in opinions.remarks(here):
            asked.say(f"note: {text}")
    value = here.kind.record(here.answer())
    slopes = {name: here.kind.record(slope) for name, slope in here.gradient().items()}
    if asked.json:
        from backprop.figures import json_value

        asked.show_record(json_value({"value": value, "gradient": slopes}))
    else:
        from backprop.render.grad import render

        _, graph = program.read(program.spelled(inputs))
        look = replace(asked.look, whole="figures" not in asked.words.options)
        asked.show(render(graph.ids[graph.output], value, slopes, look))
    return FINE


def _directional(asked: Asked) -> int:
    """What `grad` tells besides the gradient."""
    from backprop.higher.directions import directional
    from backprop.higher.taylor import LARGEST_ORDER
    from backprop.render.directions import render

    words = asked.words
    for option in ("undefined", "convention", "open"):
        if option in words.options:
            named = [f"--{one.name}" for one in DIRECTIONS if one.name in words.options]
            raise OneAtATime([f"--{option}", named[0]])
    along = {one: with_files(words.options[one], "v") for one in ("jvp", "vjp", "hvp") if one in words.options}
    program, inputs = asked.question()
    found = directional(
        program,
        inputs,
        words.names("wrt"),
        asked.kind,
        jvp=along.get("jvp"),
        vjp=along.get("vjp"),
        hvp=along.get("hvp"),
        hessian=words.flag("hessian"),
        order=words.count("order", 1, most=LARGEST_ORDER) if "order" in words.options else None,
        jacobian=words.flag("jacobian"),
        sparsity=words.flag("sparsity"),
        mode=words.options.get("mode"),
    )
    for note in found.notes:
        asked.say(f"note: {note.text}")
    if asked.json:
        asked.show_record(found.to_dict())
    else:
        asked.show(render(found, asked.look))
    return found.exit_code


@command(
    "EXPRESSION",
    Option("wrt", "the inputs whose second derivatives are asked for: x,y", "NAMES", many=True),
    FIGURES,
    Option("no-check", "leave the witnesses out"),
    KIND,
    LIMIT,
    *QUESTION,
    PLAIN,
    OUT,
    examples=(
        'backprop hessian "(1 - x)^2 + 100*(y - x^2)^2" --x -1.2 --y 1',
        'backprop hessian "exp(-sqrt(x^2 + y^2)^2)" --x 0 --y 0 --format json',
    ),
)
def hessian(asked: Asked) -> int:
    """Show every second derivative, and who confirms it.

    Exit code 1 when a witness disagrees, 3 when a second derivative does not exist.
    """
    from backprop.higher.hessians import report
    from backprop.render.hessian import render

    program, inputs = asked.question()
    found = report(program, inputs, asked.words.names("wrt"), asked.kind, check=not asked.words.flag("no-check"))
    if asked.json:
        asked.show_record(found.to_dict())
    else:
        asked.show(render(found, asked.look))
    return found.exit_code


@command(
    "EXPRESSION",
    Option("from", "where the paths begin; every variable when it is left out", "NAMES", many=True),
    Option("to", "where they end; the output when it is left out", "NAME"),
    Option("count", "how many there are, exactly, and their sum, without a list"),
    Option("top", "the K largest terms, the largest first", "K"),
    Option("factor", "the sum with what is shared taken out of the brackets"),
    Option("symbolic", "terms as formulas; no values needed"),
    FIGURES,
    KIND,
    LIMIT,
    UNDEFINED,
    CONVENTION,
    *QUESTION,
    Option("format", "how the paths are shown", "FORMAT", path_formats),
    OUT,
    examples=(
        'backprop paths "c = a + b; d = b + 1; e = c*d" --a 2 --b 1 --from b',
        'backprop paths "Y=α*X+β*X+γ*X; Z=δ*Y+ε*Y+ζ*Y" --from X --symbolic --factor',
        'backprop paths "sum(tanh(W @ x))" --W "[[1, 2], [3, 4]]" --x "[1, -1]" --from "W[0,1]"',
    ),
)
def paths(asked: Asked) -> int:
    """List the paths from each variable to the output, and what each contributes to the derivative."""
    from backprop.path_sums import exit_code, routes
    from backprop.render.paths import lines
    from backprop.tracing import trace

    words = asked.words
    shows = [name for name in ("count", "top", "factor") if name in words.options]
    if len(shows) > 1:
        raise OneAtATime([f"--{name}" for name in shows])
    symbolic = words.flag("symbolic")
    program, inputs = asked.question()
    found = trace(
        program,
        inputs,
        check=False,
        symbolic=symbolic,
        figures=asked.figures,
        kind=asked.kind,
        convention=asked.convention,
        opened=(),
    )
    asked.say_birth(found.birth)
    for note in found.notes:
        if note.code == "convention":
            asked.say(f"note: {note.text}")
    between = routes(found, words.names("from") or [], words.text("to") or None, symbolic=symbolic)
    show = shows[0] if shows else "list"
    look = asked.look
    if found.kind.startswith("digits:") and "figures" not in words.options and look.figures > 2:
        # the partials that a trace holds are rounded, so a product of them has not quite as many digits
        look = replace(look, figures=look.figures - 2)
    asked.show(lines(between, look, format=asked.format, show=show, k=words.count("top", 10, most=MOST_RANKED)))
    return exit_code(between)


@command(
    "EXPRESSION",
    Option(
        "claim",
        "judge an answer: dx=-4, df/dz=2*x, x=undefined, f=7 for a value; @F is a file of claims, one a line",
        "CLAIM",
        many=True,
    ),
    WRT,
    OPEN,
    FIGURES,
    *QUESTION,
    PLAIN,
    OUT,
    examples=(
        'backprop check "tanh(x1*w1 + b)" x1=2 w1=0.5 b=0.1',
        'backprop check "sin(x^2)" --x 3 --claim "dx = 2*x*cos(x^2)" --claim dx=-5.467',
        'backprop check "(x^2 + 1)^3" --claim "dx = 6*x*(x^2 + 1)^2"',
    ),
)
def check(asked: Asked) -> int:
    """Hold the derivatives, or somebody's claims, against every witness; exit code 1 when one disagrees."""
    from backprop.checks import check as checked
    from backprop.render.check import render

    program, inputs = asked.question()
    claims: list[tuple[str, str | None]] = []
    if "claim" in asked.words.options:
        from backprop.claims.reading import from_words

        claims = from_words(asked.words.text("claim"))
    report = checked(program, inputs, wrt=asked.words.names("wrt"), claims=claims, opened=asked.opened)
    if asked.json:
        asked.show_record(report.to_dict())
    else:
        asked.show(render(report, asked.look))
    return report.exit_code


@command(
    "EXPRESSION",
    Option("rate", "a step moves each param by -NUMBER times its slope (0.1)", "NUMBER"),
    Option("steps", "how many steps (1)", "N"),
    Option("update", "train these inputs instead of the params: w1,w2,b", "NAMES", many=True),
    FIGURES,
    FULL,
    *QUESTION,
    Option("format", "how the steps are shown, ndjson is a line for each", "FORMAT", one_of("table", "json", "ndjson")),
    OUT,
    examples=(
        'backprop step "param w = 1; (w*x - 3)^2" --x 2 --rate 0.05',
        "backprop step --file neuron.bp --rate 0.5 --steps 100 --format ndjson",
    ),
)
def step(asked: Asked) -> int:
    """Take steps of gradient descent on the params, and trace the program again at the new values."""
    from backprop.render.step import json_lines, render, watched
    from backprop.step import Descent

    words = asked.words
    program, inputs = asked.question()
    rate, steps = words.number("rate", 0.1), words.count("steps", 1)
    if asked.json and steps > MOST_STEPS_IN_JSON:
        told = f"JSON holds up to {MOST_STEPS_IN_JSON} steps; any number comes line by line with --format ndjson"
        raise OptionValue("steps", words.text("steps"), told)
    descent = Descent(program, inputs, rate, steps, words.names("update"), asked.figures)
    taken = watched(descent, asked.streams.stderr)
    if asked.format == "ndjson":
        asked.show(json_lines(taken, asked.look), at_once=True)
    elif asked.json:
        asked.show_record(descent.to_dict(taken))
    else:
        asked.show(render(descent, taken, asked.look))
    return descent.exit_code


@command(
    "FILE...",
    FIGURES,
    PLAIN,
    OUT,
    binds=False,
    examples=("backprop test samples/*.bp", 'echo "2 + 2  # expect f = 4" | backprop test -'),
)
def test(asked: Asked) -> int:
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


@command(
    "FILE",
    FIGURES,
    FULL,
    BRIEF,
    FORMAT,
    OUT,
    binds=False,
    examples=(
        "backprop render neuron.json --format dot",
        'backprop trace "x^2" --x 3 --format json | backprop render - --format mermaid',
    ),
)
def render(asked: Asked) -> int:
    """Show a saved trace in any format. Nothing is worked out again."""
    words = asked.at_most(1)
    if not words:
        raise NothingGiven("render", "FILE", {})
    text = asked.standard_input() if words[0] == "-" else bindings.read_file(words[0])
    found = saved_trace(text)
    asked.show_trace(found)
    return found.exit_code


@command("[NAME]", PLAIN, FIGURES, OUT, binds=False, examples=("backprop ops", "backprop ops tanh"))
def ops(asked: Asked) -> int:
    """Show the table of operations, or all that is known about one."""
    from backprop.reference import operations, operations_called
    from backprop.render.ops import details, listing

    names = asked.at_most(1)
    found = operations_called(names[0], asked.figures) if names else operations()
    if asked.json:
        asked.show_record([one.to_dict() for one in found])
    else:
        asked.show(details(found, asked.look) if names else listing(found, asked.look))
    return FINE


@command(
    "EXPRESSION",
    *QUESTION,
    PLAIN,
    OUT,
    examples=('backprop vars "w*x + b"', "backprop vars --file neuron.bp"),
)
def vars_(asked: Asked) -> int:
    """Show the variables of an expression, with their defaults."""
    from backprop.reference import variables
    from backprop.render.vars import render

    program, inputs = asked.question()
    found = variables(program, inputs)
    if asked.json:
        asked.show_record(found)
    else:
        asked.show(render(found, asked.look))
    return FINE


@command(
    "EXPRESSION",
    Option("wrt", "the inputs that move; every one when it is left out: W,b", "NAMES", many=True),
    Option("no-time", "count the operations only, and measure nothing"),
    Option("seconds", "the longest that one way may take; longer ones are estimated (10)", "N"),
    *QUESTION,
    Option("format", "how the answer is shown", "FORMAT", cost_formats),
    OUT,
    examples=(
        'backprop cost "(x*y + z)*x" --x 3 --y -1 --z 2',
        "backprop cost --file neuron.bp --no-time",
        "backprop cost --file neuron.bp --wrt w --seconds 60 --format csv",
    ),
)
def cost(asked: Asked) -> int:
    """Count and measure what value and derivatives take: one reverse pass, forward passes, differences, paths."""
    from backprop import costs
    from backprop.render.cost import render

    words = asked.words
    program, inputs = asked.question()
    longest = words.count("seconds", costs.LONGEST, 0, costs.MOST_SECONDS)
    found = costs.cost(program, inputs, wrt=words.names("wrt"), time=not words.flag("no-time"), longest=longest)
    if asked.json:
        asked.show_record(found.to_dict())
    else:
        asked.show(render(found, asked.look, asked.format))
    return FINE


@command(
    "EXPRESSION",
    WRT,
    FIGURES,
    *QUESTION,
    PLAIN,
    OUT,
    examples=('backprop conventions "max(x, 0)" --x 0', 'backprop conventions "sqrt(x*x)" --x 0 --format json'),
)
def conventions(asked: Asked) -> int:
    """Show what each framework and each convention gives for the derivatives here, and which of them are right."""
    from backprop.conventions.opinions import opinions
    from backprop.render.conventions import render

    program, inputs = asked.question()
    found = opinions(program, inputs, asked.words.names("wrt"))
    if asked.json:
        asked.show_record(found.to_dict())
    else:
        asked.show(render(found, asked.look))
    return FINE


@command(
    "",
    Option(
        "of",
        "the record: trace, grad, hessian, check or cost (trace)",
        "RECORD",
        one_of("trace", "grad", "hessian", "check", "cost"),
    ),
    OUT,
    binds=False,
    examples=("backprop schema > trace.schema.json", "backprop schema --of hessian"),
)
def schema(asked: Asked) -> int:
    """Print the JSON Schema of a trace, of what grad prints, of a Hessian, a check or a cost."""
    from backprop import schema as schemas

    asked.at_most(0)
    of = {
        "grad": schemas.grad_schema,
        "hessian": schemas.hessian_schema,
        "check": schemas.check_schema,
        "cost": schemas.cost_schema,
    }
    asked.show_record(of.get(asked.words.text("of") or "trace", schemas.schema)())
    return FINE


# -- from words to a command -----------------------------------------------------------------------------------------


def run(words: Sequence[str], streams: Streams) -> int:
    """Answer one command line. Raises `Mistake`."""
    first = words[0] if words else "--help"
    if first == "--version":
        from backprop import __version__

        write_lines(streams.stdout, [f"backprop {__version__}"])
        return FINE
    if first in ("--show-completion", "--install-completion"):
        from backprop import completion

        return completion.script(first, words[1:], streams.stdout)
    if first in ("-h", "--help", "help"):
        about = [word for word in words[1:2] if not word.startswith("-")]
        if about and about[0] not in COMMANDS:
            raise UnknownCommand(about[0], COMMANDS)
        return show_help(about, streams)
    found = COMMANDS.get(first)
    if found is None:
        raise UnknownCommand(first, COMMANDS)
    return run_command(found, words[1:], streams)


def run_command(found: Command, words: Sequence[str], streams: Streams) -> int:
    if asks_for_help(words):
        return show_help([found.name], streams)
    try:
        split = bindings.split(words, found.options, found.binds)
    except NotANumber as mistake:
        known = [one.name for one in COMMANDS.values() if any(option.name == mistake.name for option in one.options)]
        if known:
            mistake.repair = f"--{mistake.name} is an option of backprop {', '.join(known)}, not of {found.name}."
        raise
    return found.run(Asked(found, split, streams))


def asks_for_help(words: Sequence[str]) -> bool:
    """Whether --help or -h stands where it is no value and no expression after `--`."""
    before = list(words[: words.index("--")] if "--" in words else words)
    return any(word in ("-h", "--help") for word in before)


def show_help(words: list[str], streams: Streams) -> int:
    from backprop import application

    return application.show_help(words, streams.stdout)


def tell(mistake: Mistake, streams: Streams) -> int:
    """Draw a mistake on stderr; the exit code that belongs to it."""
    from backprop.render.look import Look
    from backprop.render.mistakes import lines

    try:
        write_lines(streams.stderr, lines(mistake, Look.of(streams.stderr)))
    except OSError:  # a full disk or a reader that is gone: the exit code is all that can be told
        _discard(streams.stderr)
    return mistake.exit_code


def main(
    argv: Sequence[str] | None = None,
    stdin: TextIO | None = None,
    stdout: TextIO | None = None,
    stderr: TextIO | None = None,
) -> int:
    """The command `backprop`. Returns the exit code; nothing that a user can type gives a traceback."""
    words = sys.argv[1:] if argv is None else list(argv)
    sys.set_int_max_str_digits(0)  # a number may have as many digits as its writer likes, and so may a count of paths
    streams = Streams(stdin or sys.stdin, _writable(stdout or sys.stdout), _writable(stderr or sys.stderr))
    try:
        return _answered(words, streams)
    except KeyboardInterrupt:
        _discard(streams.stdout)  # what is still in the buffer may meet a reader that is gone as well
        return INTERRUPTED
    except BrokenPipeError:
        # whoever read has seen enough; what is still in the buffer goes nowhere, also when Python shuts down
        for stream in (streams.stdout, streams.stderr):
            _discard(stream)
        return FINE


def _answered(words: Sequence[str], streams: Streams) -> int:
    try:
        if "_BACKPROP_COMPLETE" in os.environ:
            from backprop import completion

            return completion.answer(os.environ, streams.stdout)
        code = run(words, streams)
        streams.stdout.flush()
        return code
    except Mistake as mistake:
        return tell(mistake, streams)
    except RecursionError:
        return tell(TooDeep("stack"), streams)
    except MemoryError:
        return tell(TooDeep("memory"), streams)
    except BrokenPipeError:
        raise
    except OSError as error:  # a full disk under stdout
        _discard(streams.stdout)
        return tell(CannotWrite("stdout", error.strerror or str(error)), streams)
    except Exception as error:
        if os.environ.get("BACKPROP_DEBUG"):
            raise
        streams.stderr.write(
            f"backprop has a fault: {type(error).__name__}: {error}\n"
            "The line you typed is not to blame. BACKPROP_DEBUG=1 before it shows where the fault is.\n"
        )
        return OUR_FAULT


def _writable(stream: TextIO | None) -> TextIO:
    """A stream that takes any letter: what its encoding cannot carry is written \\u03b1. A closed one takes all."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    return stream


def _discard(stream: TextIO) -> None:
    try:
        descriptor = os.open(os.devnull, os.O_WRONLY)
        os.dup2(descriptor, stream.fileno())
        os.close(descriptor)
    except (OSError, ValueError):  # no real file beneath
        pass

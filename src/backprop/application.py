"""The Typer application: the same declarations of commands and options, for the help and for whoever embeds it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from typing import Annotated, Any, Literal, TextIO

import typer
from typer.core import TyperCommand

from backprop import cli, commands
from backprop.bindings import Option
from backprop.cli import SAYS
from backprop.commands import Command

CODES = "\n\nExit codes: 0 fine, 1 a witness or an expectation disagrees, 2 a mistake, 3 undefined at this point."
HELP = {"help_option_names": ["-h", "--help"]}


class Words(TyperCommand):
    """A command that splits its words itself: `--x -1` binds a variable and `-x*y` is an expression."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if cli.asks_for_help(args):
            typer.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()
        ctx.args = args
        return args

    def invoke(self, ctx: Any) -> Any:
        raise typer.Exit(cli.main([ctx.info_name, *ctx.args]))


def build(rich: bool = False, detailed: Sequence[str] | None = None) -> typer.Typer:
    """The application. `rich` draws the help for a terminal; without it the help is plain text.

    `detailed` names the commands whose options are told, all when it is None: help of one needs no other's.
    """
    markup: Literal["rich"] | None = "rich" if rich else None
    app = typer.Typer(
        name="backprop",
        help=SAYS,
        epilog=_examples(['backprop trace "(x*y + z)*x" --x 3 --y -1 --z 2', "backprop trace --help"], rich) + CODES,
        rich_markup_mode=markup,
        context_settings=HELP,
        add_completion=True,
    )

    @app.callback()
    def whole(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
        pass

    for command in commands.every():
        app.command(
            command.name,
            cls=Words,
            help=_escaped(command.says, rich),
            short_help=_escaped(command.short, rich),
            epilog=_examples(command.examples, rich),
            context_settings=HELP,
        )(_function(command if detailed is None or command.name in detailed else command._replace(options=()), rich))
    return app


def _function(command: Command, rich: bool) -> Callable[..., None]:
    """A function whose signature says to Typer what the command declares."""

    def run(**_: Any) -> None:
        """Never called: `Words` hands the line over whole."""

    parameters = []
    if command.takes:
        word = command.takes.strip("[].").lower().replace(" ", "_")
        argument = typer.Argument(metavar=command.takes, help=_escaped(_TAKES.get(command.takes, ""), rich))
        parameters.append(_parameter(word, Annotated[str, argument], ""))
    if command.binds:
        values = typer.Option("--NAME", metavar="VALUE", help="the value of a variable; NAME=VALUE means the same")
        parameters.append(_parameter("values", Annotated[str, values], None))
    for option in command.options:
        parameters.append(_parameter(f"option_{option.name.replace('-', '_')}", *_annotated(option, rich)))
    # Typer reads the options off the signature, and any function may carry one of its own; mypy does not know that
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


_TAKES = {
    "EXPRESSION": "an expression or a program; - reads it, or a trace in JSON, from stdin",
    "EXPRESSION DATA": "an expression or a program, and a table; - is stdin",
    "FILE...": "programs; - reads one from stdin",
    "FILE": "a trace in JSON; - reads it from stdin",
    "[NAME]": "one operation",
}


def _annotated(option: Option, rich: bool) -> tuple[Any, Any]:
    names = [f"--{option.name}", *([option.short] if option.short else [])]
    says = option.says
    choices = [] if option.choices is None else [choice for choice in option.choices() if choice[0].isalpha()]
    if not all(choice in says for choice in choices):
        says += f": {', '.join(choices)}"
    if not option.value:
        return Annotated[bool, typer.Option(*names, help=_escaped(says, rich))], False
    return Annotated[str, typer.Option(*names, metavar=option.value, help=_escaped(says, rich))], None


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _escaped(text: str, rich: bool) -> str:
    """Text that holds no markup."""
    if not rich:
        return text
    from rich.markup import escape

    return escape(text)


def _examples(examples: Sequence[str], rich: bool) -> str:
    """Examples, each on a line of its own in either way of drawing."""
    if rich:
        return "\n\n".join(["Examples:", *(f"  {_escaped(example, rich)}" for example in examples)])
    return "\b\nExamples:\n" + "\n".join(f"  {example}" for example in examples)


def show_help(words: Sequence[str], stdout: TextIO) -> int:
    """Print the help of the application, or of one command, the way its reader can show it."""
    from backprop.render.look import Look

    look = Look.of(stdout)
    if look.width is not None and look.colour:
        from typer import rich_utils

        rich_utils.MAX_WIDTH = look.width  # left alone, it believes whatever COLUMNS says
    app = typer.main.get_command(build(rich=look.colour and not look.ascii, detailed=words))
    try:
        with redirect_stdout(stdout):
            app.main([*words, "--help"], prog_name="backprop", standalone_mode=False)
    except typer.Exit as done:
        return done.exit_code
    return 0

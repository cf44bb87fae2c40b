"""Emission: a program as a file of code in another language, with the numbers that are known put in."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from backprop import languages
from backprop.arrays_text import is_array
from backprop.kinds.node import with_literals
from backprop.kinds.real import REAL
from backprop.languages import Language
from backprop.languages.common.identifiers import identifier
from backprop.mistakes import (
    IntervalForNumber,
    Mistake,
    NotANumber,
    NotElementwise,
    OptionValue,
    UnknownNode,
    UnusableNumber,
)
from backprop.point import Number, Program, has_arrays, resolve, texts


def emit(
    program: str | Program,
    inputs: Mapping[str, Number] | None = None,
    to: str = "numpy",
    *,
    wrt: Sequence[str] | None = None,
    fixed: Collection[str] = (),
    value_only: bool = False,
    function: str = "",
) -> Iterator[str]:
    """The lines of code that works out value and gradient of a program, in the language `to` (`languages.names()`).

    `inputs` are defaults for the inputs, before those of the program; those named in `fixed` are numbers in the code,
    unless they are in `wrt`. `function` is the name of the function. Raises `Mistake`: for arrays, for an operation
    that the language has no word for, and for a name that it cannot use.

    >>> print(*list(emit("x*y", to="python", fixed=["y"], inputs={"y": 3}))[-2:], sep="\\n")
        f = 3*x
        return f, {"x": 3}
    """
    if isinstance(program, str):
        program = Program(program)
    if to not in languages.modules():
        raise OptionValue("to", to, f"There are: {', '.join(languages.modules())}")
    language = languages.by_name(to)
    spelled = program.spelled(inputs or {})
    syntax, graph = program.read(spelled)
    defaults = texts(program, graph, inputs or {})
    for name, text in defaults.items():
        try:
            if name not in fixed or not is_array(text):
                _refuse_unless_number(name, text)
        except NotElementwise as mistake:
            mistake.span = graph.span(graph.inputs[name]) if name in graph.inputs and name not in spelled else None
            raise mistake.within(syntax.source, program.origin) from None
    if value_only:
        nodes: list[int] = []
    elif wrt is not None:
        nodes = resolve(graph, wrt)
    else:
        nodes = [node for node in graph.default_wrt() if graph.name_of(node) not in fixed]
    settled = list(program.spelled(dict.fromkeys(fixed, 0)))
    for name in settled:
        if graph.is_unused(name):
            raise UnknownNode(name, list(graph.inputs)).within(syntax.source, program.origin)
    known = {name: defaults[name] for name in settled if name in graph.inputs and graph.inputs[name] not in nodes}
    if not function and language.functions:
        function = "value_and_gradient" if nodes else "value"
    elif function:
        _refuse_unless_name(function, language)
        if function in graph.inputs and not language.columns:
            told = f"{function} is an input of the program; choose a name that is none."
            raise OptionValue("name", function, told)
    put_in = with_literals(graph, {graph.inputs[name]: text for name, text in known.items()})
    if has_arrays(put_in, known):
        from backprop.single_numbers import opened

        try:
            put_in, nodes = opened(put_in, nodes)
        except Mistake as mistake:
            raise mistake.within(syntax.source, program.origin) from None
    code = languages.code(syntax, put_in, nodes, language, function, defaults)
    code.given = known
    return language.write(code)


def _refuse_unless_number(name: str, text: str) -> None:
    if is_array(text):
        raise NotElementwise(f"{name} = {text if len(text) <= 40 else text[:37] + '...'}", why="is an array")
    if ".." in text:
        raise IntervalForNumber(name, text)
    try:
        REAL.number(text)
    except OverflowError:
        raise UnusableNumber(name, text) from None
    except ValueError:
        raise NotANumber(name, text) from None


def _refuse_unless_name(function: str, language: Language) -> None:
    taken = {name.casefold() if language.caseless else name for name in language.reserved}
    plain = function.isidentifier() and identifier(function, language.letters) == function
    if not plain or (function.casefold() if language.caseless else function) in taken:
        letters = "" if language.letters else " of the English alphabet"
        told = f"A name in letters{letters}, digits and _ that {language.name} has no other use for, like: --name loss"
        raise OptionValue("name", function, told)

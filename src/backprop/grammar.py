"""Text to syntax: the LALR tables of `grammars/expression.lark`, driven by one loop.

Lark builds the tables and is imported only when they are not in the user's cache. The loop is our own: one regular
expression cuts the text, rows of integers say shift or reduce, and every completed rule appends to flat columns, so
an operation costs a few microseconds whatever the size and no nesting is too deep.
"""

from __future__ import annotations

import contextlib
import os
import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from backprop import cache, progress
from backprop.collector import sparing
from backprop.mistakes import BadSlice, Mistake, NothingWritten, Span, TooLong
from backprop.patterns import pattern
from backprop.syntax import WHOLE, Expectation, Syntax, normal, slice_text

if TYPE_CHECKING:
    from lark import Lark

__all__ = ["grammar_path", "grammar_text", "lark_parser", "parse"]

FORMAT = 1  # of the cached tables; raise it when their meaning changes

# The most numbers, names, operations and open brackets in a program: what is worked out within some twenty seconds.
LARGEST_PROGRAM = 4_000_000
# The columns hold places in the text as 32 bits.
LONGEST_SOURCE = 2**31 - 1

# What the loop does with a token besides asking the table.
PLAIN, OPENS, CLOSES, BREAKS, REMARK, CALLS, DECLARES, UNKNOWN = range(8)
_TREATMENTS = {
    "LPAR": OPENS,
    "LSQB": OPENS,
    "RPAR": CLOSES,
    "RSQB": CLOSES,
    "NEWLINE": BREAKS,
    "COMMENT": REMARK,
    "CALLEE": CALLS,
    "DECLARE": DECLARES,
    "UNKNOWN": UNKNOWN,
}
_LEAVES = ("number", "name")
_SILENT = ("group", "pos")  # brackets and a unary plus leave no node
# aliases that do more than append one node
_SPECIAL = (
    *("result", "target", "assign", "declaring", "declare", "declare_value"),
    *("superscript", "index", "vector", "call", "call_nothing", "first_item", "next_item"),
    *("label", "keyword", "bound", "slice"),
)


def grammar_path() -> str:
    """Where the grammar is read from: beside the installed package, or at the root of a checkout."""
    here = os.path.dirname(os.path.abspath(__file__))
    packaged = os.path.join(here, "grammars", "expression.lark")
    checkout = os.path.join(os.path.dirname(os.path.dirname(here)), "grammars", "expression.lark")
    return checkout if os.path.exists(checkout) and not os.path.exists(packaged) else packaged


def grammar_text() -> str:
    """The grammar, as Lark reads it."""
    try:
        with open(grammar_path(), encoding="utf-8") as file:
            return file.read()
    except OSError:  # the package may lie in a zip
        from importlib.resources import files

        return (files("backprop") / "grammars" / "expression.lark").read_text(encoding="utf-8")


@dataclass(slots=True)
class Tables:
    """The grammar as integers. A terminal's number is its group in `tokens`; the last two are unknown and end.

    `rows[state][terminal]` is the state to shift to, minus the rule to reduce by, or 0 for a mistake.
    """

    terminals: list[str]
    expressions: list[str]  # the regular expression of each terminal
    rows: list[list[int]]
    gotos: list[list[int]]
    heads: list[int]  # of each rule: the number of what it makes
    sizes: list[int]  # of each rule: how many parts it has
    arities: list[int]  # of each rule: how many of them are expressions
    actions: list[str]  # of each rule: its alias, "" for none
    symbols: list[str]  # of each state: the symbol that leads there
    accepting: int
    blank: str  # the regular expression of what separates tokens

    number: dict[str, int] = field(init=False)
    tokens: str = field(init=False)  # the regular expression of what the loop reads
    treatments: list[int] = field(init=False)
    leaves: list[str] = field(init=False)  # of each state: the node it holds when it holds nothing but a leaf
    passes: list[bool] = field(init=False)  # of each rule: it has one part and leaves it as it is
    jumps: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.number = {name: number for number, name in enumerate(self.terminals)}
        name, callee = (self.expressions[self.number[terminal]] for terminal in ("NAME", "CALLEE"))
        groups = [f"({text})" for text in self.expressions[1:]]
        # A callee is a name with a bracket behind it. Read once, not twice: an empty group tells them apart.
        at = self.number["NAME"]
        groups[at - 1] += f"(?:{callee.removeprefix(name)}())?"
        del groups[at]
        self.tokens = f"{self.blank.removesuffix('+')}*+(?:{'|'.join(groups)})"
        self.treatments = [_TREATMENTS.get(name, PLAIN) for name in self.terminals]
        self.passes = [
            size == 1 and action not in _SPECIAL for size, action in zip(self.sizes, self.actions, strict=True)
        ]
        self.leaves = []
        for row in self.rows:
            found = {self.actions[-entry] if entry < 0 else "" for entry in row if entry}
            self.leaves.append(found.pop() if len(found) == 1 and found <= set(_LEAVES) else "")
        self.jumps = {}

    @property
    def name(self) -> str:
        """The regular expression of a name."""
        return self.expressions[self.number["NAME"]]

    def jump(self, base: int, head: int, terminal: int) -> int:
        """The state after `head` on top of `base`, once every rule that only passes its part on has been taken."""
        state = self.gotos[base][head]
        while (entry := self.rows[state][terminal]) < 0 and self.passes[-entry]:
            state = self.gotos[base][self.heads[-entry]]
        key = (base * len(self.gotos[0]) + head) * len(self.terminals) + terminal
        self.jumps[key] = state
        return state


def _lark(text: str, **options: Any) -> Lark:
    from lark import Lark

    return Lark(text, parser="lalr", start="program", **options)


def build_tables(text: str) -> Tables:
    """Lark's tables for a grammar, flattened to integers."""
    return _flatten(_lark(text))


def _flatten(built: Lark) -> Tables:
    table = built.parser.parser._parse_table
    # in the file's order, but a word that declares is tried before the names, and a callee is a kind of name
    first = ("DECLARE", "NAME", "CALLEE")
    order = sorted(built.terminals, key=lambda one: first.index(one.name) if one.name in first else len(first))
    texts = {terminal.name: terminal.pattern.to_regexp() for terminal in order}
    blank = texts.pop("BLANK")
    terminals = ["", *texts, "UNKNOWN", "$END"]
    expressions = ["", *texts.values(), r"[\s\S]", r"\Z"]
    number = {name: at for at, name in enumerate(terminals)}
    rules = list(built.rules)
    root = table.start_states["program"]
    rule_number: dict[Any, int] = {rule: at for at, rule in enumerate(rules, start=1)}
    heads = {name: at for at, name in enumerate(dict.fromkeys(rule.origin.name for rule in rules))}
    # Lark's states renumbered, the start first: 0 is free to mean "no entry" because nothing ever shifts to the start.
    states = {old: new for new, old in enumerate([root, *(state for state in table.states if state != root)])}
    rows = [[0] * len(terminals) for _ in states]
    gotos = [[0] * len(heads) for _ in states]
    symbols = [""] * len(states)
    for old, entries in table.states.items():
        state = states[old]
        for symbol, (_, argument) in entries.items():
            if isinstance(argument, int):
                symbols[states[argument]] = symbol
                (rows if symbol in number else gotos)[state][(number if symbol in number else heads)[symbol]] = states[
                    argument
                ]
            elif symbol in number:
                rows[state][number[symbol]] = -rule_number[argument]
    return Tables(
        terminals,
        expressions,
        rows,
        gotos,
        [0, *(heads[rule.origin.name] for rule in rules)],
        [0, *(len(rule.expansion) for rule in rules)],
        [0, *(sum(not part.is_term for part in rule.expansion) for rule in rules)],
        ["", *(rule.alias or "" for rule in rules)],
        symbols,
        states[table.end_states["program"]],
        blank,
    )


def _sources(text: str) -> bytes:
    """All that the tables are made from: the grammar, Lark in its version, and what they are made into here."""
    from importlib.machinery import PathFinder

    lark, told = PathFinder.find_spec("lark"), b""  # to import it would cost more than all the rest of a start
    if lark is not None and lark.origin is not None:
        with contextlib.suppress(OSError), open(lark.origin, "rb") as file:
            told = file.read()  # its version is written there
    return b"\0".join((str(FORMAT).encode(), told, text.encode()))


_tables: Tables | None = None


def load_tables() -> Tables:
    """The tables: from memory, from the cache, or built by Lark."""
    global _tables
    if _tables is None:
        text = grammar_text()
        sources = _sources(text)
        columns = cache.recall("grammar", sources)
        if columns is not None:
            _tables = Tables(*columns)
        else:
            _tables = build_tables(text)
            columns = [getattr(_tables, column.name) for column in fields(_tables) if column.init]
            cache.keep("grammar", sources, columns)
    return _tables


class Builder:
    """What is done when a rule is complete: nodes appended in postorder, statements closed.

    `begins` holds where each part on the parser's stack begins; `end` is where the last one ends.
    """

    def __init__(self, source: str, tables: Tables) -> None:
        self.syntax = Syntax(source)
        self.name = pattern(tables.name, source)
        self.gap = pattern(f"(?:{tables.blank})?=", source)
        self.counts: list[int] = []  # items so far, of each list that is open
        self.labels: list[tuple[str, Span]] = []  # names left of = in the calls that are open
        self.word = ""  # input or param
        self.word_begin: int | None = None
        # what stands left of =: where the name is, and a function's parameters
        self.left: tuple[Span, tuple[tuple[str, Span], ...] | None] | None = None

    def action(self, alias: str) -> Callable[[Any, int, int], None]:
        found: Callable[[Any, int, int], None] = getattr(self, f"on_{alias}")
        return found

    def node(self, kind: str, arity: int, begin: int, end: int) -> None:
        tree = self.syntax
        at = first = len(tree.kinds)
        for _ in range(arity):
            first = tree.first[first - 1]
        tree.kinds.append(kind)
        tree.arity.append(arity)
        tree.first.append(first if arity else at)
        tree.starts.append(begin)
        tree.ends.append(end)

    def name_at(self, begin: int) -> tuple[str, Span]:
        found = self.name.match(self.syntax.source, begin)
        assert found is not None
        return found.group(), found.span()

    def on_superscript(self, begins: Any, size: int, end: int) -> None:
        self.node("number", 0, begins[-1], end)
        self.node("pow", 2, begins[-2], end)

    def on_first_item(self, begins: Any, size: int, end: int) -> None:
        self.counts.append(1)

    def on_next_item(self, begins: Any, size: int, end: int) -> None:
        self.counts[-1] += 1

    def on_vector(self, begins: Any, size: int, end: int) -> None:
        self.node("vector", self.counts.pop(), begins[-size], end)

    def on_index(self, begins: Any, size: int, end: int) -> None:
        self.node("index", self.counts.pop() + 1, begins[-size], end)

    def on_label(self, begins: Any, size: int, end: int) -> None:
        """The name of a keyword is taken back out of the columns, like what stands left of = in a statement."""
        tree = self.syntax
        root = len(tree.kinds) - 1
        if tree.kinds[root] != "name" or tree.starts[root] != begins[-2]:
            from backprop.misreadings import bad_label

            raise bad_label(tree, root, (begins[-1], end))
        self.labels.append((tree.text(root), tree.span(root)))
        self.take_back(root)

    def on_keyword(self, begins: Any, size: int, end: int) -> None:
        self.syntax.keywords[len(self.syntax)] = self.labels.pop()
        self.node("keyword", 1, begins[-2], end)

    def on_bound(self, begins: Any, size: int, end: int) -> None:
        """A bound of a slice is a whole number; it is part of the slice and no node of its own."""
        tree = self.syntax
        root = len(tree.kinds) - 1
        if not WHOLE.fullmatch(tree.source[begins[-1] : end]):
            from backprop.misreadings import bad_bound

            raise bad_bound(tree.source, (begins[-1], end))
        self.take_back(tree.first[root])

    def on_slice(self, begins: Any, size: int, end: int) -> None:
        bounds = slice_text(self.syntax.source[begins[-size] : end]).split(":")
        if bounds[2:] == ["0"]:
            raise BadSlice("a step of 0 goes nowhere", (begins[-1], end))
        self.node("slice", 0, begins[-size], end)

    def on_call(self, begins: Any, size: int, end: int) -> None:
        self.syntax.callees[len(self.syntax)] = self.name_at(begins[-size])
        self.node("call", self.counts.pop(), begins[-size], end)

    def on_call_nothing(self, begins: Any, size: int, end: int) -> None:
        self.syntax.callees[len(self.syntax)] = self.name_at(begins[-size])
        self.node("call", 0, begins[-size], end)

    def on_result(self, begins: Any, size: int, end: int) -> None:
        tree = self.syntax
        root = len(tree.kinds) - 1
        tree.statements.add("expression", root, (begins[-1], end))

    def on_target(self, begins: Any, size: int, end: int) -> None:
        """The left side of `=` is taken back out of the columns: it is a name, or a function and its parameters."""
        tree = self.syntax
        root = len(tree.kinds) - 1
        kind = tree.kinds[root]
        begin, stop = tree.starts[root], tree.ends[root]
        bare = begin == begins[-2] and (stop == end - 1 or self.gap.match(tree.source, stop) is not None)  # not `(x) =`
        if kind == "name" and bare:
            self.left = (begin, stop), None
            # popped one by one: a program of 10^6 assignments comes here 10^6 times
            tree.kinds.pop(), tree.arity.pop(), tree.first.pop(), tree.starts.pop(), tree.ends.pop()
            return
        first = tree.first[root]
        if not (kind == "call" and bare and all(tree.kinds[at] == "name" for at in range(first, root))):
            from backprop.misreadings import bad_target

            raise bad_target(tree, root, (begins[-2], stop if bare else len(tree.source[: end - 1].rstrip())))
        _, name = tree.callees.pop(root)
        self.left = name, tuple((tree.text(at), tree.span(at)) for at in range(first, root))
        self.take_back(first)

    def take_back(self, first: int) -> None:
        """The nodes from `first` on are no part of the program after all."""
        tree = self.syntax
        del tree.kinds[first:], tree.arity[first:], tree.first[first:], tree.starts[first:], tree.ends[first:]

    def on_assign(self, begins: Any, size: int, end: int) -> None:
        assert self.left is not None
        name, parameters = self.left
        root = len(self.syntax) - 1
        if parameters is None:
            self.syntax.statements.add("assign", root, (name[0], end), name)
        else:
            self.syntax.statements.add("function", root, (name[0], end), name, parameters)

    def on_declaring(self, begins: Any, size: int, end: int) -> None:
        self.word, (self.word_begin, _) = self.name_at(begins[-1])

    def on_declare(self, begins: Any, size: int, end: int) -> None:
        self._declare(begins[-1], end, None)

    def on_declare_value(self, begins: Any, size: int, end: int) -> None:
        self._declare(begins[-3], end, len(self.syntax) - 1)

    def _declare(self, begin: int, end: int, root: int | None) -> None:
        _, name = self.name_at(begin)
        kind: Any = self.word
        whole = begin if self.word_begin is None else self.word_begin
        self.syntax.statements.add(kind, root, (whole, end), name)
        self.word_begin = None  # the next one of the same line begins at its own name

    def remark(self, begin: int, end: int) -> None:
        """A comment: `# expect ...` is kept."""
        text = self.syntax.source[begin + 1 : end]
        if "expect" not in text:
            return
        words = text.split(None, 1)
        if len(words) == 2 and words[0] == "expect":
            told = words[1].rstrip()
            at = begin + 1 + text.index(words[1])
            self.syntax.expectations.append(Expectation(told, (at, at + len(told))))


class Callables:
    """Which names before a bracket are called: functions, not variables. `f in callables` is asked once a name."""

    def __init__(self, source: str, tables: Tables, variables: Iterable[str]) -> None:
        self.source = source
        self.tables = tables
        self.variables = variables
        self.known: dict[str, bool] = {}
        self.defined: set[str] | None = None
        self.bound: set[str] = set()

    def __contains__(self, name: str) -> bool:
        found = self.known.get(name)
        if found is None:
            from backprop.ops import callable_names  # a text without a call needs no table

            if self.defined is None:
                self._scan()
            assert self.defined is not None
            found = name in self.defined or (name not in self.bound and name in callable_names())
            self.known[name] = found
        return found

    def _scan(self) -> None:
        """The names that the text itself defines (`f(x) =`) and binds (`f =`)."""
        self.defined = set()
        self.bound = {normal(name) for name in self.variables}
        expressions, number = self.tables.expressions, self.tables.number
        name, line = self.tables.name, expressions[number["NEWLINE"]]
        blank = self.tables.blank.removesuffix("+") + "*+"
        scan = (
            f"{expressions[number['COMMENT']]}|(?:^|;|{line}){blank}(?:(?:input|param)(?={blank}{name}))?{blank}"
            f"({name}){blank}(?:=(?!=)|(\\([^()=;#]*\\)){blank}=(?!=)|(?=[,\r\n;#]|$))"
        )
        for found in pattern(scan, self.source).finditer(self.source):
            if found.group(2) is not None:
                self.defined.add(found.group(1))
            elif found.group(1) is not None and self.source[found.end(1) : found.end()].strip():
                self.bound.add(found.group(1))


def parse(text: str, variables: Iterable[str] = (), origin: str | None = None) -> Syntax:
    """The syntax of a program. `variables` are names given from outside: `f(x)` is a product when f is one of them.

    >>> from backprop.syntax import canonical
    >>> canonical(parse("2x(x + 1)"))
    '2*x*(x + 1)'
    """
    source = normal(text)
    if len(source) > LONGEST_SOURCE:
        raise TooLong(LONGEST_SOURCE, (0, 0), "characters").within("", origin)
    tables = load_tables()
    try:
        with sparing():
            return _drive(source, tables, Callables(source, tables, variables))
    except Mistake as mistake:
        raise mistake.within(source, origin) from None


def _batches(tables: Tables, tree: Syntax, begins: array[int]) -> Iterator[Iterable[re.Match[str]]]:
    """The tokens, so many at a time, as long as the program is not too long. `begins` is where open parts begin."""
    tokens = pattern(tables.tokens, tree.source).finditer(tree.source)
    while len(tree) + len(begins) <= LARGEST_PROGRAM:
        yield islice(tokens, 10_000)
        progress.at(tree.ends[-1] if tree.ends else 0, of="reading")
    raise TooLong(LARGEST_PROGRAM, (begins[-1], begins[-1] + 1))


def _drive(source: str, tables: Tables, callables: Callables) -> Syntax:
    builder = Builder(source, tables)
    tree = builder.syntax
    add_kind, add_arity, add_first = tree.kinds.append, tree.arity.append, tree.first.append
    add_start, add_end = tree.starts.append, tree.ends.append
    kinds, first = tree.kinds, tree.first
    rows, heads, sizes, arities, passes = tables.rows, tables.heads, tables.sizes, tables.arities, tables.passes
    leaves, treatments, jumps, jump = tables.leaves, tables.treatments, tables.jumps, tables.jump
    width, wide = len(tables.terminals), len(tables.gotos[0]) * len(tables.terminals)
    head_keys = [head * width for head in heads]
    nodes = [
        "" if action in _SILENT or action in _SPECIAL or passing else action
        for action, passing in zip(tables.actions, passes, strict=True)
    ]
    special = [builder.action(action) if action in _SPECIAL else None for action in tables.actions]
    number = tables.number
    name, end_of_text, accepting = number["NAME"], number["$END"], tables.accepting

    states: list[int] = []  # below `state`
    begins = array("i")
    state = depth = end = 0
    for match in chain.from_iterable(_batches(tables, tree, begins)):
        # never None: each terminal is a group of the pattern, and asking would cost on every token
        terminal: int = match.lastindex  # type: ignore[assignment]
        begin = match.start(terminal)
        if treatment := treatments[terminal]:
            if treatment == OPENS:
                depth += 1
            elif treatment == CLOSES:
                depth -= 1
            elif treatment == BREAKS:
                if depth > 0:
                    continue
            elif treatment == REMARK:
                builder.remark(begin, match.end())
                continue
            elif treatment == CALLS:
                begin = match.start(name)
                if source[begin : match.end()] not in callables:
                    terminal = name
            elif treatment == DECLARES and not rows[state][terminal]:
                terminal = name
        while (entry := rows[state][terminal]) < 0:
            rule = -entry
            size = sizes[rule]
            if kind := nodes[rule]:
                arity = arities[rule]
                if arity == 2:
                    add_first(first[first[-1] - 1])
                elif arity == 1:
                    add_first(first[-1])
                else:
                    add_first(first[first[first[-1] - 1] - 1])
                add_kind(kind)
                add_arity(arity)
                add_start(begins[-size])
                add_end(end)
            elif (act := special[rule]) is not None:
                act(begins, size, end)
            if size > 1:
                del states[1 - size :], begins[1 - size :]
            elif not size:
                states.append(state)
                begins.append(end)
            base = states[-1]
            state = jumps.get(base * wide + head_keys[rule] + terminal, -1)
            if state < 0:
                state = jump(base, heads[rule], terminal)
        if not entry:
            if terminal == end_of_text and state == accepting:
                if not tree.statements:
                    raise NothingWritten((0, len(source)))
                break
            from backprop.misreadings import misreading

            raise misreading(source, tables, [*states, state], begins, terminal, (begin, match.end()), end)
        states.append(state)
        begins.append(begin)
        state = entry
        end = match.end()
        if leaf := leaves[state]:
            add_first(len(kinds))
            add_kind(leaf)
            add_arity(0)
            add_start(begin)
            add_end(end)
    return tree


def lark_parser() -> Callable[[str], Syntax]:
    """The same parser with Lark's own driver, slow and independent of our loop: the tests compare the two."""
    from lark import Token, Tree
    from lark.lexer import Lexer

    tables = load_tables()
    source = ""
    builder = Builder(source, tables)

    class Tokens(Lexer):
        """Our tokens; Lark tells in which state it is, as `input` is a name where no statement begins."""

        __future_interface__ = 2

        def __init__(self, configuration: Any) -> None:
            pass

        def lex(self, lexer_state: Any, parser_state: Any) -> Iterator[Token]:
            depth = 0
            callables = Callables(source, tables, ())
            for match in re.finditer(tables.tokens, source):
                number = match.lastindex or 0
                terminal = tables.terminals[number]
                begin, end = match.start(number), match.end()
                if terminal == "CALLEE":
                    begin = match.start(tables.number["NAME"])
                    terminal = "CALLEE" if source[begin:end] in callables else "NAME"
                elif terminal == "COMMENT":
                    builder.remark(begin, end)
                    continue
                elif (terminal == "NEWLINE" and depth > 0) or terminal == "$END":
                    continue
                elif terminal == "DECLARE":
                    here = parser_state.parse_conf.parse_table.states[parser_state.position]
                    terminal = "DECLARE" if "DECLARE" in here else "NAME"
                depth += (terminal in ("LPAR", "LSQB")) - (terminal in ("RPAR", "RSQB"))
                yield Token(terminal, source[begin:end], begin, end_pos=end)

    built = _lark(grammar_text(), lexer=Tokens, keep_all_tokens=True)

    def parsed(text: str) -> Syntax:
        nonlocal source, builder
        source = normal(text)
        builder = Builder(source, tables)
        spans: list[Span] = []
        todo: list[tuple[Any, bool]] = [(built.parse(source), False)]
        while todo:
            part, done = todo.pop()
            if not isinstance(part, Tree):
                spans.append((part.start_pos, part.end_pos))
            elif not done:
                todo.append((part, True))
                todo += ((child, False) for child in reversed(part.children))
            elif size := len(part.children):
                begins, end = [begin for begin, _ in spans[-size:]], spans[-1][1]
                if part.data in _SPECIAL:
                    builder.action(part.data)(begins, size, end)
                elif part.data in tables.actions and part.data not in _SILENT:
                    arity = sum(isinstance(child, Tree) for child in part.children)
                    builder.node(part.data, arity, begins[0], end)
                spans[-size:] = [(begins[0], end)]
            else:
                spans.append((0, 0))
        return builder.syntax

    return parsed

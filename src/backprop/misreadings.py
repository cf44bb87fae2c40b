"""Why a text cannot be read: from where the parser stopped to a mistake that says how to mend it.

Nothing here runs for a text that parses. The parser's stack tells what is open and what was expected; every question
about the rest of the text is one walk over it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from backprop import mistakes
from backprop.mistakes import Mistake, Span
from backprop.syntax import Syntax

if TYPE_CHECKING:
    from backprop.grammar import Tables

_COMPARISONS = ("LESS", "AT_MOST", "GREATER", "AT_LEAST", "EQUALS", "DIFFERS")
_WORDS = ("IF", "ELSE", "AND", "OR", "NOT")
_OPENERS = {"LPAR": "(", "LSQB": "[", "BAR": "|", "NORM": "‖"}

# Signs of other languages, as they begin where the parser stopped, or with the sign just before it.
_FOREIGN = {
    "&&": "Write and: a < b and c < d",
    "||": "Write or: a < b or c < d",
    "&": "Write and: a < b and c < d",
    ":=": "Write = to give a name its value.",
    "+=": "Write it out: x = x + 1",
    "-=": "Write it out: x = x - 1",
    "*=": "Write it out: x = x*2",
    "/=": "Write it out: x = x/2",
    "=<": "Write <= for 'at most'.",
    "=>": "Write >= for 'at least'; a function is written f(x) = x^2",
    "<>": "Write != for 'differs'.",
    "===": "Write == to compare.",
    "!==": "Write != to compare; a factorial is set apart by a blank: x! == 2",
    "//": "Write floor(a/b) for the whole part, # for a comment.",
    "++": "Write it out: x = x + 1",
    "--": "Write it out: x = x - 1",
    "->": "A function is written f(x) = x^2",
    "→": "A function is written f(x) = x^2",
    "?": "A choice is written: a if c else b",
    "~": "Write not before a condition, or a minus before a number.",
    "^^": "Write ^ for a power.",
    "***": "Write ^ or ** for a power.",
}
_CHARACTERS = {
    "{": "Use ( and ).",
    "}": "Use ( and ).",
    "$": "Names are letters, digits and _: no $ before them.",
    "\\": "Names and functions have no \\ before them; lines may break inside brackets.",
    "_": "A name begins with a letter; a number is written without _",
    "±": "Write two expressions, one with + and one with -",
    "∑": "Write sum(...) of a vector, or the terms.",
    "∏": "Write prod(...) of a vector, or the factors.",
    "∂": "Derivatives are asked for: backprop diff EXPRESSION --wrt x",
    "∇": "Derivatives are asked for: backprop diff EXPRESSION",
    "∫": "Integrals are not part of the language.",
    "º": "Angles are in radians: write x*π/180",
    "∆": "Write the Greek letter Δ, which may begin a name.",
    "°": "Angles are in radians: write x*π/180",
    "∧": "Write and",
    "∨": "Write or",
    "¬": "Write not",
    "≈": "Compare with <= on the difference: abs(a - b) <= 0.001",
    "…": "Write every term.",
    "′": "Derivatives are asked for: backprop diff EXPRESSION --wrt x",
    "∜": "Write x^(1/4)",
    "⊗": "Write outer(a, b)",
    "⊙": "Write * for the product entry by entry.",
    "∘": "Write * for the product entry by entry, f(g(x)) for a composition.",
    "—": "Write - for minus.",
    "―": "Write - for minus.",
    "⟨": "Write dot(a, b)",
    "∣": "Write | from the keyboard.",
    "｜": "Write | from the keyboard.",
}
_PRIMES = "'’′´`"
_QUOTES = "\"“”„«»‘'’`"


def bad_target(tree: Syntax, root: int, span: Span) -> Mistake:
    """`a + b = 3`: the left side of = is neither a name nor a function with its parameters."""
    kind = tree.kinds[root]
    text = tree.text(root)
    if kind == "number":
        return mistakes.BadTarget(
            f"{_short(text)} is a number", "Turn it around: the name stands left of =; to compare write ==", span
        )
    if kind == "juxtapose":
        head = tree.first[root]
        if tree.kinds[head] == "name" and tree.text(head) in mistakes.ForeignStatement.words:
            rest = _short(tree.source[tree.ends[head] : tree.ends[root]])
            return mistakes.ForeignStatement(tree.text(head), f"Write {rest} = ... without it.", tree.span(head))
        left, right = tree.operands(root)
        name = tree.text(left)
        if tree.kinds[left] == "name" == tree.kinds[right]:
            return mistakes.BadTarget("a name has no blanks inside", f"Write {name}_{tree.text(right)} = ...", span)
        if tree.kinds[left] == "name":
            return mistakes.BadTarget(
                f"{name} is also a variable here, so this is a product",
                "Give the function a name of its own, and write its parameters as names: f(x) = x^2",
                span,
            )
    if kind == "call":
        return mistakes.BadTarget(
            "a function is defined with names in its brackets",
            f"Write {tree.callees[root][0]}(x) = ... ; to compare two values write ==",
            span,
        )
    if kind == "index":
        return mistakes.BadTarget("an entry cannot be set alone", "Write the whole vector: v = [1, 2, 3]", span)
    if kind in ("eq", "le", "ge", "ne", "lt", "gt"):
        return mistakes.BadTarget("a comparison stands left of =", "Use one sign: = gives a value, == compares", span)
    if kind == "name":
        return mistakes.BadTarget("the name stands in brackets or after a sign", f"Write {text} = ...", span)
    return mistakes.BadTarget(
        f"{_short(text)} is an expression, not a name",
        "Write a name left of = and the expression right of it; to compare two values write ==",
        span,
    )


def bad_label(tree: Syntax, root: int, equal: Span) -> Mistake:
    """`where(a + 1 = b, 1, 2)`, `sum(W axis=0)`: what stands left of = in a call is no name."""
    if tree.kinds[root] == "juxtapose" and tree.kinds[root - 1] == "name":
        left, right = tree.operands(root)
        repair = f"Put a comma before it: {_short(tree.text(left))}, {tree.text(right)}=..."
        return mistakes.MissingSign(f"{_short(tree.text(right))}=", repair, (tree.starts[right], equal[1]))
    return mistakes.AssignmentInside(equal)


def bad_bound(source: str, span: Span) -> Mistake:
    """`x[i:j]`: a slice is bounded by whole numbers."""
    return mistakes.BadSlice(f"{_short(source[slice(*span)])} is no whole number like 3 or -1", span)


def _short(text: str, most: int = 30) -> str:
    """Text for a sentence: one line, not too long, nothing that cannot be printed."""
    text = " ".join(text.split())
    text = "".join(sign if sign.isprintable() else "�" for sign in text[: most + 1])
    return text if len(text) <= most else f"{text[:most]}…"


class _Place:
    """Where the parser stopped: the token, what stands before it, and what is open."""

    def __init__(
        self,
        source: str,
        tables: Tables,
        states: Sequence[int],
        begins: Sequence[int],
        terminal: int,
        span: Span,
        last: int,
    ) -> None:
        self.source, self.tables, self.span, self.last = source, tables, span, last
        self.begin, self.end = span
        self.token = tables.terminals[terminal]
        self.text = source[self.begin : self.end]
        self.row = tables.rows[states[-1]]
        self.symbol = tables.symbols[states[-1]]
        # a value may begin here, so one is expected (a number may never follow a value)
        self.wants = bool(self.row[tables.number["NUMBER"]])
        self.opener, self.opener_at = "", -1
        self.comparison, self.middle_at, self.left_at = "", -1, -1
        self.half_choice = -1
        for at in range(len(begins) - 1, -1, -1):
            symbol = tables.symbols[states[at + 1]]
            if symbol in _OPENERS:
                self.opener, self.opener_at = symbol, begins[at]
                break
            if symbol in ("target", "EQUAL", "NEWLINE", "SEMICOLON", "lines"):
                break
            if symbol in ("COMMA", "AND", "OR", "NOT", "IF", "ELSE") and not self.comparison:
                self.comparison = "-"
            if symbol in _COMPARISONS and not self.comparison:
                self.comparison, self.middle_at = symbol, begins[at + 1] if at + 1 < len(begins) else -1
                self.left_at = begins[at - 1]
            if symbol == "ELSE":
                self.half_choice = -2
            elif symbol == "IF" and self.half_choice == -1:
                self.half_choice = begins[at]
        # the word or sign before
        self.before_begin = begins[-1] if begins else -1
        self.before = source[self.before_begin : last] if begins else ""
        self.operand = source[self._operand_begin(states, begins) : last] if begins else ""

    def _operand_begin(self, states: Sequence[int], begins: Sequence[int]) -> int:
        """Where the value before this place begins: `f(x)` of `f(x) 2`, not its last bracket."""
        at = len(begins) - 1
        symbols = self.tables.symbols
        if self.symbol in ("RPAR", "RSQB", "BAR", "NORM"):
            opener = {"RPAR": "LPAR", "RSQB": "LSQB"}.get(self.symbol, self.symbol)
            at -= 1
            while at > 0 and symbols[states[at + 1]] != opener:
                at -= 1
            if (
                at > 0
                and (self.symbol == "RSQB" or symbols[states[at]] == "CALLEE")
                and symbols[states[at]] in ("CALLEE", "NAME", "NUMBER", "opened", "solid")
            ):
                at -= 1
        elif self.symbol in ("SUPERSCRIPT", "BANG", "TRANSPOSE") and at:
            at -= 1
        return begins[at]

    def line(self, offset: int) -> int:
        return self.source.count("\n", 0, offset) + 1

    def where(self, offset: int) -> str:
        line, here = self.line(offset), self.line(self.begin)
        return f"of line {line}" if line != here else f"{self.begin - offset} characters before"

    def closes(self) -> bool:
        """The innermost open bracket is closed somewhere behind this place."""
        depth = 1
        for match in re.compile(r"[(\[]|[)\]]|#[^\n]*").finditer(self.source, self.begin):
            sign = match.group()[0]
            if sign == "#":
                continue
            depth += 1 if sign in "([" else -1
            if not depth:
                return True
        return False


def misreading(
    source: str,
    tables: Tables,
    states: Sequence[int],
    begins: Sequence[int],
    terminal: int,
    span: Span,
    last: int,
) -> Mistake:
    """The mistake where the parser stopped: `terminal` at `span`, after a last token that ended at `last`."""
    place = _Place(source, tables, states, begins, terminal, span, last)
    return _foreign_statement(place) or _foreign(place) or _by_token(place)


def _foreign_statement(place: _Place) -> Mistake | None:
    """The statement begins with a word of another language and a name: `from math import *`, `def f(x): return x`."""
    source, begin = place.source, place.begin
    start = max(source.rfind("\n", 0, begin), source.rfind(";", 0, begin)) + 1
    head = re.compile(r"[ \t]*([a-z]{3,8})[ \t]+[^\W\d_]").match(source, start)
    if head is None or head.group(1) not in mistakes.ForeignStatement.words or head.end() > begin:
        return None
    repair = "A function is written f(x) = x^2" if "(" in source[start:begin] and place.text == ":" else ""
    return mistakes.ForeignStatement(head.group(1), repair, head.span(1))


def _foreign(place: _Place) -> Mistake | None:
    """Signs and words of other languages."""
    source, begin, last = place.source, place.begin, place.last
    glued = last == begin and last > 0
    for back in (2, 1, 0) if glued else (0,):
        for length in (3, 2, 1):
            sign = source[begin - back : begin - back + length]
            if back >= length or len(sign) < length or sign not in _FOREIGN:
                continue
            if sign == "--" or (sign == "||" and back):  # a - -b; of |a||b| the first bar of the two was read
                continue
            return mistakes.ForeignSign(sign, _FOREIGN[sign], (begin - back, begin - back + length))
    if place.text == "!" and place.wants:
        return mistakes.ForeignSign("!", "Write not before a condition; ! after a value is the factorial.", place.span)
    if place.token in ("$END", "NEWLINE") and (sign := source[last - 2 : last]) in ("++", "--"):
        return mistakes.ForeignSign(sign, _FOREIGN[sign], (last - 2, last))
    return None


def _by_token(place: _Place) -> Mistake:
    token, text, span = place.token, place.text, place.span
    opener = _OPENERS.get(place.opener, "")
    opened = (place.opener_at, place.opener_at + 1)
    if token == "UNKNOWN":
        return _character(place)
    if token in ("RPAR", "RSQB"):
        if not opener:
            return mistakes.UnopenedBracket(text, span)
        if opener in ("|", "‖"):
            return mistakes.UnclosedBar(place.source[slice(*opened)], opened)
        if (opener == "(") != (text == ")"):
            return mistakes.WrongBracket(opener, text, place.where(place.opener_at), span)
        if place.before == opener:
            return _empty(place, opener + text)
    if token in ("$END", "NEWLINE", "SEMICOLON"):
        if opener in ("|", "‖"):
            return mistakes.UnclosedBar(place.source[slice(*opened)], opened)
        if opener and token == "SEMICOLON" and place.closes():
            return mistakes.SeparatorInside(opener, _rows(place), span)
        if opener:
            return mistakes.UnclosedBracket(opener, opened)
        if token == "$END" and place.symbol in ("", "lines") and not place.before.strip():
            return mistakes.NothingWritten(span)
        if place.wants:
            more = token == "NEWLINE" and place.source[place.end :].strip() != ""
            return mistakes.UnfinishedLine(_short(place.before), (place.before_begin, place.last), more)
    if opener in ("(", "[") and "\n" in place.source[place.opener_at : place.begin] and not place.closes():
        return mistakes.UnclosedBracket(opener, opened)
    if (
        place.half_choice >= 0
        and not place.wants
        and token not in _COMPARISONS
        and token in ("$END", "NEWLINE", "SEMICOLON", "RPAR", "RSQB", "COMMA")
    ):
        return mistakes.HalfChoice((place.half_choice, place.half_choice + 2))
    if token == "EQUAL":
        if place.wants:
            return _missing(place)
        chain = re.compile(r"[ \t]*([^\W\d]\w*)[ \t]*=[ \t]*([^=;\n]+?)[ \t]*\Z")
        start = max(place.source.rfind(sign, 0, place.begin) for sign in "\n;") + 1
        if not opener and (found := chain.match(place.source[start : place.begin])):
            name, value = found.groups()
            *parts, second = value.split()
            if parts and second.isidentifier():  # x = 3 y = 4
                return mistakes.AssignmentInside(span, f"{name} = {_short(' '.join(parts))}; {_short(second)} = ...")
            return mistakes.AssignmentInside(span, f"{_short(value)} = ...; {name} = {_short(value)}")
        return mistakes.AssignmentInside(span)
    if token in _COMPARISONS and not place.wants and place.comparison in _COMPARISONS:
        left = place.source[place.left_at : place.last]
        middle = place.source[place.middle_at : place.last]
        told = len(left) <= 40 and "\n" not in left
        rest = re.compile(r"[^\n;,()\[\]#<>=!]{1,20}").match(place.source, place.end)
        right = _short(rest.group()) if rest else ""
        return mistakes.ChainedComparison(_short(left, 40) if told else "", _short(middle), text, right or "...", span)
    if token == "COMMA" and not place.wants:
        return _comma(place, opener)
    if token == "COLON":
        return _colon(place, opener)
    if place.row[place.tables.number["NAME"]] and not place.wants and place.symbol in ("COMMA", "declaring"):
        if token == "NUMBER" and (number := _decimal(place, place.before_begin, place.begin)):  # input x = 2,5
            return mistakes.DecimalComma(number, (place.before_begin - len(number.split(".")[0]), place.end))
        return mistakes.Misplaced(_short(text), "a name, as in: input x, y = 2", span)
    if token in ("NUMBER", "BAR", "NORM") and not place.wants:
        argument = _ARGUMENT.match(place.source, place.begin)
        piece = _short(argument.group(), 50) if argument else ""
        before = _short(place.operand) if len(place.operand) <= 20 else ""
        word = re.compile(r"[^\W\d]\w*\Z").search(place.source[max(0, place.last - 40) : place.last])
        if piece and word and _is_function(place, word.group()):
            whole = (place.last - len(word.group()), place.begin + len(piece))
            return mistakes.FunctionWithoutBrackets(word.group(), piece, None, whole)
        if token in ("BAR", "NORM"):
            repair = f"Bars stand in pairs around what they act on: {text}x{text}"
            if piece:
                call = "abs" if token == "BAR" else "norm"
                repair = f"Write the product with its sign: {before or '2'}*{piece}, or {call}(x) for the bars."
            return mistakes.MissingSign(text, repair, span)
        below = re.compile(r"/([0-9]{1,20})(?![0-9.])").match(place.source, place.end)
        return mistakes.NumberAfter(
            before, text if len(text) <= 20 else "2", span, _rows(place), below.group(1) if below else ""
        )
    if token in _WORDS and (place.wants or token in ("NOT", "ELSE")):
        return mistakes.ReservedWord(text, span)
    if place.wants:
        return _missing(place)
    return _other(place)


def _missing(place: _Place) -> Mistake:
    """A sign where a value has to stand."""
    sign = place.before if place.before and place.symbol in place.tables.number else ""
    if place.symbol in ("NEWLINE", "SEMICOLON", ""):
        if place.symbol == "NEWLINE" and place.token in ("TIMES", "OVER", "POWER", "PERCENT", "MATMUL", *_COMPARISONS):
            return mistakes.LineBeginsWithSign(_short(place.text), place.span)
        sign = ""
    hint = ""
    if place.before == "%":
        hint = "% is the remainder of a division; 5 percent is 5/100."
    if place.token == "SUPERSCRIPT":
        hint = "A power stands after what it raises: x²"
    elif place.before in ("√", "∛"):
        hint = f"Brackets say what the root is of: {place.before}({_short(place.text)}x)"
    elif place.token == "TRANSPOSE":
        hint = "A transpose stands after its matrix: A.T"
    elif place.token == "RSQB" and place.before == ",":  # no vector: [1, 2,] is fine
        name = _name_before(place.source, place.opener_at) or "x"
        subscripts = _short(place.source[place.opener_at : place.last - 1].rstrip())
        hint = f"Write {name}{subscripts}], or {name}{subscripts}, :] for all of the next axis."
    begin = place.before_begin if sign and place.source[place.before_begin : place.end].isprintable() else place.begin
    return mistakes.MissingOperand(_short(sign.strip()), _short(place.text), (begin, place.end), hint)


def _comma(place: _Place, opener: str) -> Mistake:
    """A comma outside a call and a vector: often a decimal comma, or a tuple as Python has them."""
    numbers = _tuple(place) if opener == "(" else ""
    behind = place.source[max(0, place.opener_at - 100) : place.opener_at]
    if numbers and (_BEFORE_A_TUPLE.search(behind) or numbers.count(",") > 1):
        repair = f"A vector is written [{numbers}]"
        if re.compile(r"reshape\s*\([^()]*\Z").search(behind):
            repair = f"Sizes stand without brackets: reshape(x, {numbers})"
        elif re.compile(r"\b(?:axis|axes|dim)\s*=\s*\Z").search(behind):
            repair = "Take one axis after the other: sum(sum(x, axis=1), axis=0)"
        return mistakes.StrayComma(True, "", place.span, repair)
    name = _name_before(place.source, place.opener_at) if opener == "(" else ""
    if name:
        from backprop.ops import callable_names

        known = list(callable_names())
        if name in mistakes.UnknownFunction.elsewhere or mistakes.closest(name, known):  # zeros(2,3), clamp(1,5)
            span = (place.opener_at - len(name), place.opener_at)
            return mistakes.UnknownFunction(name, "", known, span)
    if number := _decimal(place, place.begin, place.end):
        whole, digits = number.split(".")
        span = place.begin - len(whole), place.end + len(digits)
        return mistakes.DecimalComma(number, span, bracketed=bool(numbers))
    return mistakes.StrayComma(opener == "(", name, place.span)


# Behind these nobody writes a decimal comma: the operands of a call, and an axis.
_BEFORE_A_TUPLE = re.compile(r"(?:[^\W\d]\w*\s*\(|,|\b(?:axis|axes|dim)\s*=)\s*\Z")


def _tuple(place: _Place) -> str:
    """The whole numbers in the round brackets around this place, "3, 1"; "" where other things stand there too."""
    found = re.compile(r"\(\s*(-?[0-9]{1,9}(?:\s*,\s*-?[0-9]{1,9})+)\s*,?\s*\)").match(place.source, place.opener_at)
    return ", ".join(re.split(r"\s*,\s*", found[1])) if found else ""


def _name_before(source: str, offset: int) -> str:
    """The name that ends right before a place, "" when there is none."""
    found = re.compile(r"[^\W\d]\w{0,30}\Z").search(source[max(0, offset - 31) : offset])
    return found[0] if found else ""


def _colon(place: _Place, opener: str) -> Mistake:
    """A colon outside the square brackets behind a value: `W(1:3)`, `[1:3]`, `0:10`."""
    rest = "Statements end with a newline or ;  A function is written f(x) = x^2"
    if opener == "(":
        name = _name_before(place.source, place.opener_at) or "x"
        rest = f"Square brackets stand around the bounds: {name}[1:3]"
    elif opener == "[":
        rest = "A vector has its entries written out: [1, 2, 3]; a slice stands behind what it is of: x[0:3]"
        if place.symbol in ("COLON", "slice", "bound"):
            rest = "A slice has at most a first bound, a last one and a step: x[0:6:2]"
    return mistakes.StrayColon(rest, place.span)


def _empty(place: _Place, brackets: str) -> Mistake:
    """Nothing between two brackets: `x[]`, `A.T()`."""
    behind = re.compile(r"(\.T|ᵀ)\s*\Z").search(place.source[: place.opener_at])
    repair = "A transpose is written A.T, without brackets after it." if brackets == "()" and behind else ""
    return mistakes.EmptyBrackets(brackets, repair, (place.opener_at, place.end))


def _rows(place: _Place) -> str:
    """The vector around this place with commas, "" where there is none: `[1 2; 3 4]` is [[1, 2], [3, 4]]."""
    if place.opener != "LSQB":
        return ""
    found = re.compile(r"\[([^\[\]()|#:]{1,60})\]").match(place.source, place.opener_at)
    if found is None or not re.compile(r"[-+.\w\s,;*/^]+").fullmatch(found[1]):
        return ""
    rows = [re.split(r"\s*,\s*|\s+", row.strip(" ,\n")) for row in found[1].split(";")]
    told = [f"[{', '.join(row)}]" for row in rows if row != [""]]
    return f"[{', '.join(told)}]" if len(told) > 1 else "".join(told)


def _decimal(place: _Place, comma: int, after: int) -> str:
    """`2.5` where digits stand right before a comma and right after it, else ""."""
    whole = re.compile(r"[0-9]{1,20}\Z").search(place.source[max(0, comma - 20) : comma])
    digits = re.compile(r"[0-9]{1,20}").match(place.source, after)
    return f"{whole.group()}.{digits.group()}" if whole and digits and after == comma + 1 else ""


def _is_function(place: _Place, word: str) -> bool:
    """A word is called like a function of the table, or the text defines a function of that name."""
    from backprop.ops import callable_names

    if not word.isidentifier():
        return False
    defined = re.compile(rf"(?:^|[;\n\r])[ \t]*{re.escape(word)}[ \t]*\([^()=;#]*\)[ \t]*=(?!=)")
    return word in callable_names() or defined.search(place.source) is not None


def _character(place: _Place) -> Mistake:
    """A character that begins no token."""
    character, source = place.text, place.source
    glued = place.last == place.begin and not place.wants
    if character in _PRIMES and glued:
        call = re.compile(rf"[{_PRIMES}]*(\([^()\n]{{0,40}}\))").match(source, place.begin)
        name = _short(place.operand)
        return mistakes.PrimeMark(name, f"{name}{_short(call.group(1), 42)}" if call else "", place.span)
    if character in _QUOTES:
        return mistakes.QuoteMark(character, place.span)
    import unicodedata  # for its name

    try:
        name = unicodedata.name(character)
    except ValueError:
        name = {"Cc": "a control character", "Cs": "half of a surrogate pair"}.get(unicodedata.category(character), "")
    repair, span = _elsewhere(place)
    plain = unicodedata.normalize("NFKC", character)
    if repair:
        pass
    elif (digit := unicodedata.decimal(character, None)) is not None:
        repair = f"Write it with the digits 0 to 9: {digit}"
    elif plain != character and len(plain) == 1 and plain.isascii() and plain.isprintable():
        repair = f"Write {plain} from the keyboard."
    elif unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zs"):
        repair = "It cannot be seen: delete it, or type the line again."
    return mistakes.UnknownCharacter(character, name, repair or "Take it out, or write it in words.", span)


def _elsewhere(place: _Place) -> tuple[str, Span]:
    """What a character means in other languages and on paper, written in ours: `\\frac{1}{2}`, `np.exp(x)`, `eˣ`."""
    character, source, begin, span = place.text, place.source, place.begin, place.span
    glued = place.last == begin and not place.wants
    if character == "_" and glued and place.symbol == "NUMBER":
        digits = re.compile(r"[0-9_]{1,30}").match(source, begin)
        return f"Write {_short(place.before)}{digits.group().replace('_', '') if digits else ''}", span
    if character == "." and glued and (found := _MEMBER.match(source, begin)):
        return _short(_member(place.operand, *found.groups()), 200), (begin - len(place.operand), found.end(1))
    if character == "{" and re.compile(r"\{\s*\{").match(source, begin):
        return "A matrix is written [[1, 2], [3, 4]]", span
    if character == "{" and (found := re.compile(r"\{([^{}\n]{1,40})\}").match(source, begin)):
        inside = _short(found.group(1), 40)
        if "," in inside and not glued:
            return f"Write [{inside}]", found.span()
        if glued and place.operand.endswith("_"):  # x_{1}
            return f"Write {_short(place.operand)}{inside}", (begin - len(place.operand), found.end())
        return f"Write ({inside})", found.span()
    if character == "\\" and (found := _LATEX.match(source, begin)):
        return _short(_latex(*found.groups()), 200), (begin, found.end(1))
    if character not in _CHARACTERS and (raised := _raised(source, begin)) is not None:
        return raised
    if source.startswith("...", begin):
        return "Write : for every axis that stays whole: x[:, 0]", (begin, begin + 3)
    if character == ".":
        return "A decimal point needs a digit beside it; a transpose is A.T", span
    return _CHARACTERS.get(character, ""), span


# of a function that stands without brackets
_ARGUMENT = re.compile(r"\|[^|\n;]{1,40}\||‖[^‖\n;]{1,40}‖|[0-9½.][\w.]{0,40}")
_MODULES = (
    *("np", "numpy", "jnp", "jax", "torch", "tf", "keras", "nn", "functional", "linalg", "math", "cmath", "scipy"),
    *("sp", "special", "sympy", "mpmath", "Math"),
)
_MEMBER = re.compile(
    rf"(?:\.(?:{'|'.join(_MODULES)})(?=\.))*\.([^\W\d]\w{{0,40}})"
    r"(\([^()\n]{0,60}(?:\([^()\n]{0,60}\)[^()\n]{0,60})?\))?"
)
_OWNERS = re.compile(rf"\b(?:(?:{'|'.join(_MODULES)})\.)+(?=[^\W\d])")
_LATEX = re.compile(r"\\([A-Za-z]{1,20})(?:\{([^{}\n]{0,60})\})?(?:\{([^{}\n]{0,60})\})?")
_COMMANDS = {
    **dict.fromkeys(("cdot", "times"), "Write *"),
    "le": "Write <=",
    "leq": "Write <=",
    "ge": "Write >=",
    "geq": "Write >=",
    "ne": "Write !=",
    "neq": "Write !=",
    **dict.fromkeys(("left", "right", "big", "Big"), "Write the bracket without it."),
    "infty": "Write inf",
    "div": "Write /",
}


def _member(owner: str, member: str, operands: str | None) -> str:
    """`np.exp(x)`, `math.pi`, `x.grad`, `layer.w`."""
    from backprop.ops import callable_names

    if member in ("t", "transpose", "T"):
        matrix = operands[1:-1] if owner in _MODULES and operands else owner
        return f"A transpose is written {matrix or 'A'}.T"
    if member in ("array", "asarray", "tensor", "matrix") and operands is not None:
        return f"Write {operands[1:-1] or '[1, 2]'}"
    if member == "I":
        return f"Write inv({owner})"
    if operands is not None:
        operands = re.sub(r"\bdim\s*=", "axis=", _OWNERS.sub("", operands))
    if operands is not None and owner not in _MODULES:  # x.sum() is sum(x)
        operands = f"({owner}, {operands[1:-1].strip()})" if operands[1:-1].strip() else f"({owner})"
    if member in callable_names():
        return f"Write {member}{operands or '(x)'}"
    if member in ("shape", "ndim", "size"):
        return f"Shapes stand in every trace; how many entries there are is size({owner})."
    if operands is not None and (meant := mistakes.UnknownFunction.elsewhere.get(member)):
        return f"Here it is written {meant.format(operands[1:-1])}."
    if member in ("grad", "gradient", "backward", "diff", "derivative"):
        return f"Derivatives are asked for: backprop diff {owner}"
    if member in ("pi", "e", "tau", "inf"):
        return f"Write {member}"
    return f"A name has no . inside: write {owner}_{member}"


def _latex(command: str, first: str | None, second: str | None) -> str:
    """`\\frac{1}{2}`, `\\sqrt{x}`, `\\sin`, `\\alpha`."""
    from backprop.ops import callable_names

    if command in ("frac", "dfrac", "tfrac"):
        return f"Write ({first or 'a'})/({second or 'b'})"
    if command in callable_names():
        return f"Write {command}({first or 'x'})"
    if command in ("mathrm", "text", "operatorname", "mathbf"):
        return f"Write {first or 'x'}"
    return _COMMANDS.get(command, f"Write {command}, a name without \\ before it.")


def _raised(source: str, begin: int) -> tuple[str, Span] | None:
    """Raised characters that are no digits, with those around them: `eˣ`, `xⁿ`, `e²ˣ`, `x⁻ⁿ`."""
    from unicodedata import decomposition, normalize

    def is_raised(at: int) -> bool:
        return decomposition(source[at]).startswith("<super>")

    if not is_raised(begin):
        return None
    end = begin + 1
    while begin > 0 and end - begin < 40 and is_raised(begin - 1):
        begin -= 1
    while end < len(source) and end - begin < 40 and (is_raised(end) or source[end] in "¼½¾⅓⅔"):
        end += 1
    if source[begin:end] in ("⁻ᵀ", "⁻¹ᵀ"):
        return f"Write inv({_name_before(source, begin) or 'A'}).T", (begin, end)
    text = "".join(one if one in "¼½¾⅓⅔" else normalize("NFKC", one) for one in source[begin:end]).replace("−", "-")
    if text in ("-", "+"):
        text += "n"
    return f"Write ^{text}" if text.isidentifier() else f"Write ^({text})", (begin, end)


def _other(place: _Place) -> Mistake:
    """What else may not follow: say what may."""
    if place.symbol in ("NAME", "declared", "declaring", "declarations") and place.token in ("NAME", "CALLEE"):
        return mistakes.MissingSign(
            _short(place.text), "Declare several names with commas between them: input x, y = 2", place.span
        )
    words = {
        "PLUS": "a sign like +",
        "RPAR": ")",
        "RSQB": "]",
        "COMMA": "a comma",
        "EQUAL": "=",
        "ELSE": "else",
        "NUMBER": "a number",
        "NAME": "a name",
        "SEMICOLON": "the end of the statement",
    }
    number = place.tables.number
    wanted = [word for terminal, word in words.items() if place.row[number[terminal]]]
    return mistakes.Misplaced(_short(place.text) or "the end", ", ".join(wanted), place.span)

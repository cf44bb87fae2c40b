"""Everything a user can get wrong, one class each.

A mistake holds facts: where (a span of the source text), what (`cause`, which stands beside the carets) and how
to mend it (`repair`). Drawing it is the work of `backprop.render.mistakes`. To add one, add a class here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar

Span = tuple[int, int]


class Mistake(Exception):
    """Base of every mistake. `source` is the text in which `span` counts characters; both may be absent.

    `origin` says where the text came from (a file name); `None` means that it was typed.
    """

    code: ClassVar[str] = "mistake"
    title: ClassVar[str] = "mistake"
    exit_code: ClassVar[int] = 2

    def __init__(self, cause: str, repair: str = "", span: Span | None = None) -> None:
        super().__init__(cause)
        self.cause = cause
        self.repair = repair
        self.span = span
        self.source: str | None = None
        self.origin: str | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """A mistake is made of other things than it holds, so what it holds is what goes to another process."""
        return _again, (type(self), self.args, self.__dict__)

    def within(self, source: str, origin: str | None = None) -> Mistake:
        """The same mistake, told in which text its span lies. The first text told wins."""
        if self.source is None:
            self.source = source
        if self.origin is None:
            self.origin = origin
        return self


def _again(kind: type[Mistake], args: tuple[Any, ...], facts: dict[str, Any]) -> Mistake:
    """The mistake that came from another process."""
    mistake = kind.__new__(kind, *args)
    mistake.__dict__.update(facts)
    return mistake


def listed(names: Sequence[str], between: str = ", ", most: int = 40) -> str:
    """Names in a message; of a great many the first ones, and how many there are.

    >>> listed(["x", "y"]), listed(["x", "y", "z"], most=2)
    ('x, y', 'x, y, ... (3 in all)')
    """
    if len(names) <= most:
        return between.join(names)
    return f"{between.join(names[:most])}{between}... ({len(names)} in all)"


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like `word`, or None when nothing is near enough to be meant.

    >>> closest("rellu", ["relu", "tanh", "exp"]), closest("leaky", ["leaky_relu"]), closest("nope", ["ne"])
    ('relu', 'leaky_relu', None)
    """
    import difflib  # only a mistake needs it
    from itertools import islice

    longest = 60  # the comparison takes quadratic time: nobody mistypes a name of a million letters
    if len(word) > longest:
        return None
    # a slip adds or drops a letter in three, or the word was left off half-way
    near = (
        one
        for one in known
        if abs(len(one) - len(word)) <= max(1, len(word) // 3) or (one.startswith(word) and len(one) <= 2 * len(word))
    )
    found = difflib.get_close_matches(word, list(islice(near, 5000)), n=1, cutoff=0.6)
    return found[0] if found else None


# -- text that cannot be read: found while parsing --------------------------------------------------------------------


class NothingWritten(Mistake):
    """`backprop trace ""`, a program of blanks and comments."""

    code = "nothing-written"
    title = "nothing to read"

    def __init__(self, span: Span) -> None:
        super().__init__("there is no expression here", "Write one, like: (x*y + z)*x", span)


class MissingOperand(Mistake):
    """`2 +* 3`, `(2+)`, `5%`."""

    code = "missing-operand"
    title = "an operand is missing"

    def __init__(self, before: str, after: str, span: Span, hint: str = "") -> None:
        if before and after:
            cause = f"between {before} and {after} there has to be a number, a name or a bracket"
        elif before:
            cause = f"after {before} there has to be a number, a name or a bracket"
        else:
            cause = f"nothing stands before {after}"
        super().__init__(cause, hint or f"Put in what is missing, or take {after or before} out.", span)


class UnfinishedLine(Mistake):
    """`2 +` and the line ends."""

    code = "unfinished-line"
    title = "the line ends in the middle"

    def __init__(self, sign: str, span: Span, more: bool) -> None:
        repair = "Write the rest of it, or take the sign out."
        if sign == "%":
            repair = "% is the remainder of a division; 5 percent is 5/100."
        elif more:
            repair = "A line may break inside brackets only: put ( before the expression and ) after it."
        super().__init__(f"something has to follow {sign}", repair, span)


class LineBeginsWithSign(Mistake):
    """A line that begins with `*`."""

    code = "line-begins-with-sign"
    title = "a line begins in the middle"

    def __init__(self, sign: str, span: Span) -> None:
        super().__init__(
            f"nothing stands before {sign} on this line",
            "A line may break inside brackets only: put ( before the expression and ) after it.",
            span,
        )


class UnclosedBracket(Mistake):
    """`(a + b`."""

    code = "unclosed-bracket"
    title = "a bracket is never closed"

    def __init__(self, opener: str, span: Span) -> None:
        closer = {"(": ")", "[": "]"}[opener]
        super().__init__(f"this {opener} has no {closer}", f"Put {closer} where it ends, or take {opener} out.", span)


class SeparatorInside(Mistake):
    """`[1; 2]`, `(a; b)`."""

    code = "separator-inside"
    title = "; inside brackets"

    def __init__(self, opener: str, rows: str, span: Span) -> None:
        matrix = opener == "["
        repair = "Close the bracket, or write a comma."
        if matrix:
            repair = f"Rows of a matrix are vectors: {rows or '[[1, 2], [3, 4]]'}"
        super().__init__("; ends a statement, and a bracket is still open", repair, span)


class UnopenedBracket(Mistake):
    """`a + b)`."""

    code = "unopened-bracket"
    title = "a bracket was never opened"

    def __init__(self, closer: str, span: Span) -> None:
        opener = {")": "(", "]": "["}[closer]
        super().__init__(f"this {closer} has no {opener}", f"Put {opener} where it begins, or take {closer} out.", span)


class WrongBracket(Mistake):
    """`(a]`."""

    code = "wrong-bracket"
    title = "brackets of two kinds"

    def __init__(self, opener: str, closer: str, place: str, span: Span) -> None:
        meant = {"(": ")", "[": "]"}[opener]
        super().__init__(f"{closer} cannot close the {opener} {place}", f"Write {meant} here.", span)


class UnclosedBar(Mistake):
    """`|x + 1`."""

    code = "unclosed-bar"
    title = "a bar is never closed"

    def __init__(self, bar: str, span: Span) -> None:
        repair = "Write |x|, or abs(x)." if bar == "|" else "Write ‖x‖, or norm(x)."
        super().__init__(f"this {bar} has no second {bar}", repair, span)


class EmptyBrackets(Mistake):
    """`()`, `[]`, `x[]`."""

    code = "empty-brackets"
    title = "empty brackets"

    def __init__(self, brackets: str, repair: str, span: Span) -> None:
        if brackets[0] == "[":
            repair = "Every array has an entry: [0]; the first entry of x is x[0], all of them are x[:]."
        super().__init__(
            f"nothing stands between {brackets[0]} and {brackets[-1]}", repair or "Put in what is missing.", span
        )


class BadSlice(Mistake):
    """`x[i:j]`, `x[0.5:]`, `x[::0]`."""

    code = "bad-slice"
    title = "a slice is bounded by whole numbers"

    def __init__(self, cause: str, span: Span) -> None:
        super().__init__(
            cause, "Write the bounds as numbers: x[1:3] has the entries 1 and 2, x[::2] every second one.", span
        )


class StrayColon(Mistake):
    """`[1:3]`, `x(1:3)`, `x ? 1 : 2`."""

    code = "stray-colon"
    title = "a colon stands alone"

    def __init__(self, repair: str, span: Span) -> None:
        super().__init__("a colon stands between the bounds of a slice: x[1:3]", repair, span)


class AssignmentInside(Mistake):
    """`where(a = b, 1, 2)`, `a = b = 3`."""

    code = "assignment-inside"
    title = "= inside an expression"

    def __init__(self, span: Span, chain: str = "") -> None:
        if chain:
            cause, repair = "one statement has one =", f"Write two statements: {chain}"
        else:
            cause, repair = "= gives a name its value, as a statement of its own", "To compare two values write =="
        super().__init__(cause, repair, span)


class BadTarget(Mistake):
    """`a + b = 3`, `2 = x`, `sin(2) = x`."""

    code = "bad-target"
    title = "only a name can be given a value"


class NumberAfter(Mistake):
    """`x 2`, `2 3`, `1.2.3`, `[1 2]`."""

    code = "number-after"
    title = "a sign is missing before a number"

    def __init__(self, before: str, number: str, span: Span, vector: str = "", below: str = "") -> None:
        if before and before[0] in "0123456789.":
            cause = f"two numbers side by side: {before} and {number}"
            repair = f"Write one number, or the sign between them: {before}*{number}"
            if number.startswith("."):
                cause, repair = "a number has one decimal point", f"Write {before} or {number}, or a sign between them."
            elif vector:
                repair = f"Separate the entries with commas: {vector}"
            elif number in "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒":
                repair = f"Write {before}{number} for the mixed number, {before}*{number} for the product"
            elif below:
                repair = f"A mixed number is written {before} + {number}/{below}, a product {before}*{number}/{below}"
        elif before in ("input", "param"):
            cause, repair = "a name has to follow", f"Write {before} x = {number}"
        elif vector:
            cause, repair = "two entries side by side", f"Separate the entries with commas: {vector}"
        else:
            cause = "a factor without a sign is never a number"
            repair = f"Write {before or 'x'}*{number} for the product, {before or 'x'}^{number} for the power"
            if before.isidentifier() and number.isdigit():
                repair += f", {before}{number} for a name"
            repair += "."
        super().__init__(cause, repair, span)


class MissingSign(Mistake):
    """`2|x|`, `x [`, `input x y`."""

    code = "missing-sign"
    title = "a sign is missing"

    def __init__(self, found: str, repair: str, span: Span) -> None:
        super().__init__(f"{found} cannot follow here without a sign", repair, span)


class UnknownCharacter(Mistake):
    """`x ¿ y`: a character the language does not have, named by its number and its Unicode name."""

    code = "unknown-character"
    title = "unknown character"

    def __init__(self, character: str, name: str, repair: str, span: Span) -> None:
        number = f"U+{ord(character):04X}"
        visible = character.isprintable() and character != " "
        facts = ", ".join(fact for fact in (number if visible else "", name) if fact)
        super().__init__(
            f"the language has no {character if visible else number}{f' ({facts})' if facts else ''}", repair, span
        )


class PrimeMark(Mistake):
    """`f'`, `x'`."""

    code = "prime"
    title = "no ' for a derivative"

    def __init__(self, name: str, call: str, span: Span) -> None:
        ask = f'backprop diff "{call}" --wrt x' if call else f"backprop diff {name or 'EXPRESSION'} --wrt x"
        other = "" if call or not name.isidentifier() else f"   As another name write {name}_1."
        super().__init__(
            "a derivative is not written into the expression",
            f"Ask for it: {ask}   (a transpose is {name if name.isidentifier() and not call else 'A'}.T){other}",
            span,
        )


class ChainedComparison(Mistake):
    """`0 < x < 1`."""

    code = "chained-comparison"
    title = "two comparisons in a chain"

    def __init__(self, left: str, middle: str, sign: str, right: str, span: Span) -> None:
        super().__init__(
            "one comparison has two sides",
            f"Write {left} and {middle} {sign} {right}" if left else f"Join two with 'and': a < x and x {sign} b",
            span,
        )


class DecimalComma(Mistake):
    """`2,5 + x`."""

    code = "decimal-comma"
    title = "a comma in a number"

    def __init__(self, number: str, span: Span, bracketed: bool = False) -> None:
        vector = f", or [{number.replace('.', ', ')}] for a vector" if bracketed else ""
        super().__init__("inside an expression a comma separates operands", f"Write {number}{vector}", span)


class StrayComma(Mistake):
    """`a, b`, `(a, b)`."""

    code = "stray-comma"
    title = "a comma stands alone"

    def __init__(self, inside: bool, before: str, span: Span, repair: str = "") -> None:
        listed, repair = repair, repair or "Separate statements with ; or write a vector: [a, b]"
        if before:
            repair = f"An entry of {before} is written {before}[0, 1]; there is no function {before}."
        elif inside and not listed:
            repair = "A vector is written [a, b]; a call has its name right before the bracket."
        super().__init__("a comma separates the operands of a call or the entries of a vector", repair, span)


class ReservedWord(Mistake):
    """`if = 3`, `or + 1`."""

    code = "reserved-word"
    title = "a word of the language"

    def __init__(self, word: str, span: Span) -> None:
        use = {
            "if": "a choice is written: a if c else b",
            "else": "a choice is written: a if c else b",
            "and": "it joins two conditions: a < b and c < d",
            "or": "it joins two conditions: a < b or c < d",
            "not": "it stands before a condition: not a < b",
        }[word]
        super().__init__(f"{word} cannot stand here", f"{word} is taken, {use}. As a name write {word}_", span)


class HalfChoice(Mistake):
    """`a if c`."""

    code = "half-choice"
    title = "a choice has two values"

    def __init__(self, span: Span) -> None:
        super().__init__("this if has no else", "Write a if c else b: the value otherwise is needed too.", span)


class ForeignSign(Mistake):
    """`a && b`, `a =< b`, `x := 3`, `x += 1`."""

    code = "foreign-sign"
    title = "a sign of another language"

    def __init__(self, sign: str, repair: str, span: Span) -> None:
        super().__init__(f"{sign} is not a sign here", repair, span)


class ForeignStatement(Mistake):
    """`let x = 3`, `def f(x):`, `return x`."""

    code = "foreign-statement"
    title = "a statement of another language"

    # as statements they begin with one of these; each is also free to be a name
    words: ClassVar[dict[str, str]] = {
        **dict.fromkeys(("let", "var", "val", "const", "set", "local", "global"), "A name is set without it: x = 3"),
        **dict.fromkeys(("def", "function"), "A function is written f(x) = x^2"),
        **dict.fromkeys(("return", "print", "yield"), "The last statement is the output: write it without the word."),
        **dict.fromkeys(
            ("import", "from"), "Nothing is imported: every function is there. They are listed by: backprop ops"
        ),
        "lambda": "A function is written f(x) = x^2",
        "assert": "What has to hold is written: # expect f = 3",
        "del": "A name may be set again at any time.",
        "for": "Every step is written out as a statement.",
        "while": "Every step is written out as a statement.",
    }

    def __init__(self, word: str, repair: str, span: Span) -> None:
        repair = repair or f"{self.words[word]}   If {word} is a name, write {word}*x for a product."
        super().__init__(f"{word} is no word of this language", repair, span)


class QuoteMark(Mistake):
    """`"x + 1"` inside the text."""

    code = "quote"
    title = "a quotation mark"

    def __init__(self, mark: str, span: Span) -> None:
        super().__init__(
            f"there is no text in an expression, so no {mark}",
            "Take the marks out; quoting for the shell goes around the whole expression.",
            span,
        )


class Misplaced(Mistake):
    """`x else y`: whatever else cannot stand where it does."""

    code = "misplaced"
    title = "this cannot stand here"

    def __init__(self, found: str, wanted: str, span: Span) -> None:
        super().__init__(f"{found} cannot stand here", f"What may follow: {wanted}." if wanted else "", span)


# -- names, calls and conditions: found while the graph is built ------------------------------------------------------


class NothingToCompute(Mistake):
    """`input x = 2` alone."""

    code = "nothing-to-compute"
    title = "nothing to compute"

    def __init__(self, span: Span | None) -> None:
        super().__init__(
            "no statement here has a value", "End with the expression or the name you want, like: f = x^2", span
        )


class DeclaredLate(Mistake):
    """`x = 3; input x`."""

    code = "declared-late"
    title = "declared after it was set"

    def __init__(self, name: str, word: str, span: Span | None) -> None:
        super().__init__(
            f"{name} has already been set above",
            f"Put '{word} {name}' before the first statement that uses {name}, or choose another name.",
            span,
        )


class DeclaredTwice(Mistake):
    """`input x = 1; input x = 2`."""

    code = "declared-twice"
    title = "declared twice"

    def __init__(self, name: str, span: Span | None) -> None:
        super().__init__(
            f"{name} has already been declared above",
            f"Keep one of the two declarations; to change {name} on the way write {name} = ... without input or param.",
            span,
        )


class DefaultNotANumber(Mistake):
    """`input x = 2*a`."""

    code = "default-not-a-number"
    title = "a default is made of numbers"

    def __init__(self, word: str, name: str, span: Span) -> None:
        super().__init__(
            f"the default of {name} has to be a number like 0.5, -1 or 1/3, or an array of such numbers",
            f"Declare what it depends on and write a plain statement: {name} = ...",
            span,
        )


class ParameterTwice(Mistake):
    """`f(x, x) = x`."""

    code = "parameter-twice"
    title = "the same parameter twice"

    def __init__(self, name: str, span: Span) -> None:
        super().__init__(f"{name} already stands to the left of this", "Give each parameter a name of its own.", span)


class UnknownFunction(Mistake):
    """`rellu(x)`, `lg(x)`, `tg(x)`."""

    code = "unknown-function"
    title = "unknown function"

    # what these are called elsewhere; one name may mean two things, and then the writer must say which
    elsewhere: ClassVar[dict[str, str]] = {
        "lg": "log10({0}), or log2({0}) in computer science",
        "ld": "log2({0})",
        "lb": "log2({0})",
        "tg": "tan({0})",
        "ctg": "cot({0})",
        "cotg": "cot({0})",
        "cotan": "cot({0})",
        "arctg": "atan({0})",
        "arcctg": "acot({0})",
        "sen": "sin({0})",
        "cosec": "csc({0})",
        "sh": "sinh({0})",
        "ch": "cosh({0})",
        "th": "tanh({0})",
        "sqr": "({0})^2, or sqrt({0}) for the root",
        "pow": "a^b",
        "logistic": "sigmoid({0})",
        "expit": "sigmoid({0})",
        "swish": "silu({0})",
        "lngamma": "lgamma({0})",
        "loggamma": "lgamma({0})",
        "psi": "digamma({0})",
        "sgn": "sign({0})",
        "signum": "sign({0})",
        "maximum": "max({0})",
        "minimum": "min({0})",
        "if": "where(condition, value, otherwise)",
        "heaviside": "where({0} > 0, 1, 0)",
        "step": "where({0} > 0, 1, 0)",
        "trunc": "sign({0})*floor(abs({0}))",
        "fabs": "abs({0})",
        "root": "sqrt({0})",
        "input": "input {0}",
        "param": "param {0}",
        "print": "{0}, as the last statement",
        **dict.fromkeys(("array", "tensor", "matrix"), "[1, 2], or [[1, 2], [3, 4]]"),
        **dict.fromkeys(("mm", "mv", "bmm"), "A @ B"),
        **dict.fromkeys(("hstack", "vstack", "concatenate", "cat"), "concat(a, b)"),
        **dict.fromkeys(("zeros", "ones"), "[0, 0], or [1, 1]"),
        "identity": "eye(2)",
        "average": "mean({0})",
        "length": "norm({0}), or size({0})",
        "len": "size({0})",
        "tr": "trace({0})",
    }

    def __init__(self, name: str, argument: str, known: Iterable[str], span: Span) -> None:
        known = list(known)
        inside = argument[1:-1] if argument.startswith("(") and argument.endswith(")") else argument
        meant = self.elsewhere.get(name.lower()) if name not in known else None
        near = closest(name, known) or closest(name.lower(), known)
        if meant is not None:
            repair = f"Here it is written {meant.format(inside or 'x')}."
        elif near is not None:
            repair = f"Did you mean {near}({inside or 'x'})?"
        else:
            repair = "The functions are listed by: backprop ops"
        if argument and meant is None:
            repair += f"   If {name} is a variable, write {name}*{argument if inside != argument else f'({argument})'}"
            if inside.isdigit():
                repair += f", or {name}[{inside}] for an entry of it"
        super().__init__(f"there is no function {name}", repair, span)


class UsedBeforeDefined(Mistake):
    """`y = f(2); f(x) = x^2`."""

    code = "used-before-defined"
    title = "a function used before it is defined"

    def __init__(self, name: str, line: int, span: Span) -> None:
        super().__init__(
            f"{name} is defined further on, in line {line}",
            f"Put the definition of {name} before the first statement that uses it.",
            span,
        )


class FunctionWithoutBrackets(Mistake):
    """`sin x`, `sin^2(x)`, `sin⁻¹(x)`."""

    code = "function-without-brackets"
    title = "a function needs brackets"

    def __init__(self, name: str, argument: str, power: str | None, span: Span) -> None:
        inside = argument[1:-1] if argument.startswith("(") and argument.endswith(")") else argument
        call = f"{name}({inside})"
        if power is None:
            cause, repair = f"{name} stands without brackets around what it acts on", f"Write {call}"
        elif power in ("-1", "(-1)"):
            cause = f"{name}^-1 is read in two ways"
            repair = f"Write a{name}({inside}) for the inverse function, or 1/{call} for the reciprocal"
        else:
            cause, repair = "a power belongs after the brackets", f"Write {call}^{power}"
        super().__init__(cause, repair, span)


class FunctionAlone(Mistake):
    """`sin + 1`."""

    code = "function-alone"
    title = "a function without its operand"

    def __init__(self, name: str, parameters: tuple[str, ...], span: Span) -> None:
        super().__init__(
            f"{name} is a function, and nothing stands in brackets after it",
            f"Write {name}({', '.join(_dots(parameters))}); or give the name a value of its own: --{name} 2",
            span,
        )


class WrongNumberOfOperands(Mistake):
    """`atan2(1)`, `tanh(1,5)`."""

    code = "wrong-number-of-operands"
    title = "wrong number of operands"

    def __init__(self, name: str, forms: list[tuple[str, ...]], count: int, span: Span) -> None:
        ways = " or ".join(f"{name}({', '.join(_dots(form))})" for form in forms)
        given = "1 operand" if count == 1 else f"{count} operands"
        repair = f"Write {ways}."
        if count == 2 and any(len(form) == 1 for form in forms):
            repair += " Inside an expression a comma separates operands: a decimal point is written 1.5"
        super().__init__(f"{name} got {given}", repair, span)


class Recursion(Mistake):
    """`f(x) = f(x - 1)`."""

    code = "recursion"
    title = "a function that calls itself"

    def __init__(self, chain: list[str], span: Span) -> None:
        loop = chain[chain.index(chain[-1]) :]
        super().__init__(
            f"{listed(loop, ' calls ')}: putting it in would never end",
            "Functions are put in where they are called, so none may reach itself. Write the steps out as statements.",
            span,
        )


class TooLarge(Mistake):
    """`f(x) = x + x; g(x) = f(f(x)); ...`: functions that call functions until the graph would not fit."""

    code = "too-large"
    title = "the program grows too large"

    most = 10**1000  # a number of more digits says nothing more, and takes time to count up to

    def __init__(self, name: str, size: int, limit: int, span: Span) -> None:
        much = f"{size:,}" if size < 10**18 else f"about 10^{len(str(size)) - 1}"
        if size >= self.most:
            much = "more than 10^1000"
        super().__init__(
            f"putting in the functions called here gives {much} operations; the limit is {limit:,}".replace(",", " "),
            f"Name a result once and use the name again, instead of calling {name} for it again.",
            span,
        )


class TooLong(Mistake):
    """Millions of signs."""

    code = "too-long"
    title = "the program is too long"

    def __init__(self, limit: int, span: Span, of: str = "numbers, names, operations and open brackets") -> None:
        most = f"{limit:,}".replace(",", " ")
        super().__init__(f"it has more than {most} {of}", "Put the question to a shorter program.", span)


class TooManyOperands(Mistake):
    """`max(x1, x2, ...)` of thousands of numbers."""

    code = "too-many-operands"
    title = "too many operands"

    def __init__(self, name: str, count: int, limit: int, span: Span) -> None:
        super().__init__(
            f"{name} takes at most {limit} operands at once, and here are {count}",
            f"Take them in groups: {name}({name}(a, b, ...), {name}(c, d, ...), ...)",
            span,
        )


class ConditionAsNumber(Mistake):
    """`(x > 0) * 2`."""

    code = "condition-as-number"
    title = "a condition where a number is needed"

    def __init__(self, span: Span, text: str) -> None:
        super().__init__("this is true or false, not a number", f"Write where({text}, 1, 0)", span)


class NumberAsCondition(Mistake):
    """`where(x, 1, 2)`."""

    code = "number-as-condition"
    title = "a number where a condition is needed"

    def __init__(self, name: str, span: Span, text: str) -> None:
        super().__init__(f"{name} asks for something that is true or false here", f"Write {text} != 0", span)


class UnknownKeyword(Mistake):
    """`sum(W, dim=0)`."""

    code = "unknown-keyword"
    title = "no operand of that name"

    elsewhere: ClassVar[dict[str, str]] = {
        **dict.fromkeys(("dim", "dims", "ax", "axes"), "Here it is written axis=0."),
        **dict.fromkeys(
            ("keepdims", "keepdim"), "An axis that has gone is put back by expand_dims: expand_dims(sum(W, axis=1), 1)"
        ),
        "out": "Write a statement: name = ...",
        "dtype": "What numbers are is chosen for the whole program: --kind",
    }

    def __init__(self, function: str, name: str, known: Sequence[str], span: Span) -> None:
        near = closest(name, known)
        if name in self.elsewhere:
            repair = self.elsewhere[name]
        elif near is not None:
            repair = f"Did you mean {near}=...?"
        elif known:
            repair = f"It knows {listed(known)}. To compare two values write =="
        else:
            repair = "Write the operands in their order, without names. To compare two values write =="
        super().__init__(f"{function} has no operand called {name}", repair, span)


class KeywordForOwnFunction(Mistake):
    """`f(x) = x^2; f(x=2)`."""

    code = "keyword-for-own-function"
    title = "a name in the call of a function of one's own"

    def __init__(self, function: str, parameters: Sequence[str], name: str, span: Span) -> None:
        super().__init__(
            f"{function} takes its operands by their order, not by the name {name}",
            f"Write {function}({listed(parameters)}) with the operands alone; to compare two values write ==",
            span,
        )


class KeywordTwice(Mistake):
    """`sum(W, axis=0, axis=1)`, `atan2(1, y=2)`."""

    code = "keyword-twice"
    title = "the same operand twice"

    def __init__(self, name: str, span: Span) -> None:
        super().__init__(f"{name} already stands to the left of this", "Keep one of the two.", span)


class OperandAfterKeyword(Mistake):
    """`sum(axis=0, W)`."""

    code = "operand-after-keyword"
    title = "an operand after one that is named"

    def __init__(self, name: str, operand: str, span: Span) -> None:
        super().__init__(
            f"{name}= stands before this operand",
            f"Put {operand if len(operand) < 30 else 'it'} before {name}=...; to compare two values write ==",
            span,
        )


class NotASetting(Mistake):
    """`sum(W, axis=k)`, `sum(W, axis=None)`."""

    code = "not-a-setting"
    title = "a whole number has to be written here"

    def __init__(self, function: str, parameter: str, text: str, span: Span) -> None:
        if text == "None":
            repair = f"Leave it out: {function}(x) takes all axes."
        elif text.startswith("[") and parameter == "axis":
            repair = f"Take one after the other: {function}({function}(x, {parameter}=1), {parameter}=0)"
        elif text.startswith("["):
            repair = f"Write the numbers themselves, without brackets: {function}(x, {text[1:-1]})"
        else:
            like = "0 or -1" if parameter == "axis" else "3"
            repair = f"Write it out, like {like}: it is part of the program, and no derivative passes through it."
        super().__init__(f"the {parameter} of {function} is a whole number written in the program", repair, span)


class NotASubscript(Mistake):
    """`x[0.5]`, `x[1/2]`."""

    code = "not-a-subscript"
    title = "an index is a whole number"

    def __init__(self, base: str, text: str, span: Span) -> None:
        base = base if base.isidentifier() else "x"
        repair = f"Entries are counted from 0: {base}[0] is the first, {base}[-1] the last, {base}[0:2] the first two."
        if text == "None":
            repair = f"A new axis is put in by expand_dims({base}, 0)"
        super().__init__(f"{text if len(text) <= 30 else 'this'} counts no entries", repair, span)


class ProductAfterTranspose(Mistake):
    """`Aᵀx`, `x.T y`."""

    code = "product-after-transpose"
    title = "a product that is read in two ways"

    def __init__(self, left: str, right: str, span: Span) -> None:
        super().__init__(
            "after a transpose the sign of the product has to be written",
            f"Write {left} @ {right} for the product of matrices, {left}*{right} entry by entry",
            span,
        )


class ShapesDiffer(Mistake):
    """Arrays whose shapes do not fit together: `A @ x` with A (3, 4) and x (5,)."""

    code = "shapes-differ"
    title = "shapes that do not fit"

    def __init__(self, says: str, repair: str, span: Span | None) -> None:
        super().__init__(says, repair, span)


class OutputNotANumber(Mistake):
    """The gradient of a vector or a matrix."""

    code = "output-not-a-number"
    title = "the output is not one number"

    def __init__(self, shape: tuple[int, ...], span: Span | None) -> None:
        what = "vector" if len(shape) == 1 else "matrix" if len(shape) == 2 else "array"
        super().__init__(
            f"the output is a {what} of shape {shape}, and a gradient belongs to one number",
            "backprop grad --jacobian has all its derivatives, --vjp those of a weighted sum; or end with sum(...)",
            span,
        )


class TooLargeToOpen(Mistake):
    """A program with more elements than are shown one by one."""

    code = "too-large-to-open"
    title = "too large to open"

    def __init__(self, most: int) -> None:
        super().__init__(
            f"opened, the program has more than {most} nodes, one for each number",
            "Open one node of it, like: --open z   or try it with smaller arrays.",
        )


class NothingToOpen(Mistake):
    """A node without an operation in it."""

    code = "nothing-to-open"
    title = "nothing to open"

    def __init__(self, name: str, what: str, operations: Collection[str]) -> None:
        named = f"These can be opened: {', '.join(list(operations)[:8])}" if operations else ""
        super().__init__(f"{name} is {what}: there is no operation in it", named or "--open alone opens all of it.")


def _dots(parameters: tuple[str, ...]) -> list[str]:
    """Parameter names as a reader sees them: `*x` is any number of them."""
    return [f"{name[1:]}1, {name[1:]}2, ..." if name.startswith("*") else name for name in parameters]


# -- the point: values and names given --------------------------------------------------------------------------------


_LETTERS = {*"xyzαβγδθφϕψω"}  # what formulas are about, when nothing else is known


def taken_apart(name: str, known: Collection[str], functions: Iterable[str]) -> str | None:
    """What a run of letters could have meant, had it not been one name: `sinx` is sin(x), `xy` is x*y.

    >>> taken_apart("sin2x", [], ["sin"]), taken_apart("xy", ["x", "y"], []), taken_apart("cost", [], ["cos"])
    ('sin(2x)', 'x*y', None)
    """
    for function in sorted(functions, key=len, reverse=True):
        rest = name.removeprefix(function)
        # `cost` and `expo` are words: what is left has to be a known name, a letter of formulas, or begin with a number
        plain = rest.lstrip("0123456789")
        if rest != name and plain != name and (plain in known or plain in _LETTERS or (rest and not plain)):
            return f"{function}({rest})"
    if len(name) > 60 or not known:
        return None
    best: list[list[str] | None] = [[], *[None] * len(name)]
    for end in range(1, len(name) + 1):
        for begin in range(end):
            part, before = name[begin:end], best[begin]
            if before is not None and (part in known or part in "πτ") and part != name:
                best[end] = [*before, part]
                break
    parts = best[-1]
    return "*".join(parts) if parts and len(set(parts)) > 1 else None


class MissingValue(Mistake):
    """`x*y` with a value for x alone."""

    code = "missing-value"
    title = "a value is missing"

    def __init__(
        self,
        missing: list[str],
        given: list[str],
        unused: list[str],
        functions: Iterable[str],
        span: Span,
        arrays: bool = False,
    ) -> None:
        name = missing[0]
        near = closest(name, unused)
        apart = taken_apart(name, {*given, *unused, *missing}, functions)
        self.missing, self.given, self.unused = missing, given, unused
        cause = f"I have no value for {listed(missing)}"
        parts: list[str] = []
        if given or unused:
            parts.append(f"You gave {listed(list(dict.fromkeys([*given, *unused])))}.")
        if apart is not None:
            parts.append(f"{name} is one name: did you mean {apart}?")
        elif near is not None:
            parts.append(f"Did you mean {name} where you wrote {near}?")
        elif (like := closest(name, given)) is not None:
            parts.append(f"Did you mean {like} where you wrote {name}?")
        if "T" in missing:
            parts.append("If T is to be a transpose, write A.T")
        example = " ".join(f"--{one} 2" for one in missing[:3]) + (" ..." if len(missing) > 3 else "")
        written = f'; an array is written "{name}=[[1, 2], [3, 4]]"' if arrays else ""
        parts.append(f"To give values: {example}   (or {name}=2{written})")
        if not given and not unused and not arrays:  # formulas of arrays need their shapes
            parts.append("No values at hand? `backprop diff` and `trace --symbolic` need none.")
        super().__init__(cause, "   ".join(parts), span)


class NotANumber(Mistake):
    """`--x abc`."""

    code = "not-a-number"
    title = "not a number"

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        shown = text if len(text) <= 60 else text[:57] + "..."
        if text.strip().lower() == "nan":
            cause, repair = (
                f"{name} is NaN",
                (
                    "NaN is not a number, so nothing can be differentiated there. "
                    "backprop trace follows it with --undefined propagate"
                ),
            )
        elif text.strip().startswith("["):
            cause, repair = f"{name} is an array", "A single number is needed here, like 3, -1, 2.5, 1e-3, 1/3, inf"
        elif not text.strip():
            cause, repair = f"{name} is empty", "Numbers look like 3, -1, 2.5, 1e-3, 1/3, inf"
        else:
            cause = f"{name} is {shown!r}, which is not a number"
            repair = "Numbers look like 3, -1, 2.5, 1e-3, 1/3, inf"
            if re.fullmatch(r"[\[({\s]*[-+.\d][-+.\deE]*[\s,;]+[-+.\d][-+.\deE\s,;\])}]*", text[:1000]):
                repair += "   A vector is written [1, 2], a matrix [[1, 2], [3, 4]]"
        super().__init__(cause, repair)


class NotReal(Mistake):
    """A value at the Python door, or in a file, that is of a type which holds no real numbers."""

    code = "not-real"
    title = "no real numbers"

    def __init__(self, name: str, what: str) -> None:
        repair = "Values are real numbers, and arrays or nested lists of them."
        if what.startswith("complex"):
            repair += " A complex number is two of them: give the real and the imaginary part names of their own."
        super().__init__(f"{name} is of type {what}", repair)


class UnreadableArray(Mistake):
    """`--x "[1, 2"`, `--x "[1, 2]]"`, `--x "[1,, 2]"`."""

    code = "unreadable-array"
    title = "an array that cannot be read"

    def __init__(self, name: str, cause: str, repair: str, span: Span | None) -> None:
        super().__init__(f"{name}: {cause}", repair, span)


class RaggedArray(Mistake):
    """`--W "[[1, 2], [3]]"`, a file whose lines have different numbers of cells."""

    code = "ragged-array"
    title = "rows of different lengths"

    def __init__(self, here: str, length: int, first: str, expected: int, span: Span | None = None) -> None:
        super().__init__(
            f"{here} has length {length}, and {first} has length {expected}",
            "All rows of an array are of the same length: put in what is missing, or take out what is too much.",
            span,
        )


class MixedArray(Mistake):
    """`--x "[1, [2]]"`."""

    code = "mixed-array"
    title = "numbers beside lists"

    def __init__(self, here: str, this: str, first: str, that: str, span: Span | None = None) -> None:
        super().__init__(
            f"{here} is {this}, and {first} is {that}",
            "Side by side in an array stand only numbers, [1, 2], or only lists, [[1], [2]].",
            span,
        )


class EmptyArray(Mistake):
    """`--x "[]"`, a file with an array of shape (0, 3)."""

    code = "empty-array"
    title = "an array without elements"

    def __init__(self, cause: str) -> None:
        super().__init__(cause, "Nothing can be computed from no numbers: give at least one, [1].")


class ArrayTooLarge(Mistake):
    """A file with 10^9 numbers, brackets a hundred deep."""

    code = "array-too-large"
    title = "an array too large"

    def __init__(self, name: str, has: str, most: int, span: Span | None = None) -> None:
        super().__init__(f"{name} has {has}, and {most} are the most that I work with", "Give a part of it.", span)


def _giving(name: str) -> str:
    """What is typed before the value of a name; an element of an array has none of its own."""
    return "" if "[" in name else f"--{name} "


class IntervalForNumber(Mistake):
    """`--x 0.2..0.4` of a kind that works with single numbers."""

    code = "interval-for-number"
    title = "an interval where a number is needed"

    def __init__(self, name: str, text: str) -> None:
        super().__init__(
            f"{name} is all of {text}, and this kind of number works with one number at a time",
            "Add --kind certified, which encloses what comes of an interval, or give one number.",
        )


class EmptyInterval(Mistake):
    """`--x 0.4..0.2`."""

    code = "empty-interval"
    title = "an interval with nothing in it"

    def __init__(self, name: str, text: str) -> None:
        first, _, last = text.partition("..")
        super().__init__(
            f"{name} is {text}, and there is nothing from {first} up to {last}",
            f"The smaller end comes first: {_giving(name)}{last}..{first}",
        )


class EndlessInterval(Mistake):
    """`--x 0.2..inf`."""

    code = "endless-interval"
    title = "an interval without an end"

    def __init__(self, name: str, text: str) -> None:
        super().__init__(
            f"{name} is {text}, and only what lies between two numbers can be enclosed",
            f"Give two numbers: {_giving(name)}{text.replace('inf', '1e6')}",
        )


class UnusableNumber(Mistake):
    """`--x 1e400`."""

    code = "number-too-large"
    title = "a number too large"

    def __init__(self, name: str, text: str, beyond: str = "the largest double, 1.8e308") -> None:
        shown = text if len(text) <= 60 else text[:57] + "..."
        repair = "Measure in other units, or give inf when infinity is meant."
        super().__init__(f"{name} is {shown}, beyond {beyond}", repair)


class NotExact(Mistake):
    """`sqrt(x)` at x = 2 with `--kind exact`."""

    code = "not-exact"
    title = "no exact result"

    def __init__(self, cause: str, is_slope: bool = False, span: Span | None = None) -> None:
        repair = "Kind exact knows fractions alone; --kind digits:30 gives 30 digits, --kind certified proven ones."
        if is_slope:
            repair += " The value is exact; --wrt names the derivatives to work out."
        super().__init__(cause, repair, span)


class TooLargeForKind(Mistake):
    """`9^9^9^9` with `--kind exact`."""

    code = "too-large-for-kind"
    title = "a number too large for its kind"

    def __init__(self, cause: str, kind: str, span: Span | None = None) -> None:
        repair = "--limit N lets them be longer; --kind digits:30 keeps the first 30 digits of any length."
        super().__init__(cause, repair, span)


# A number with more digits than this is no number that anybody means.
LONGEST_NUMBER = 10_000


class NumberTooLong(Mistake):
    """`--x 111...1` with a million digits."""

    code = "number-too-long"
    title = "a number too long"

    def __init__(self, length: int, span: Span | None = None) -> None:
        super().__init__(
            f"this number has {length} characters, and {LONGEST_NUMBER} are the most",
            "Write it with an exponent, like 1.5e300.",
            span,
        )


class UnknownNode(Mistake):
    """`--wrt q`, `paths --from q`, when nothing is called q."""

    code = "unknown-node"
    title = "unknown name"

    def __init__(self, name: str, known: list[str]) -> None:
        near = closest(name, known)
        repair = f"Did you mean {near}?   " if near else ""
        super().__init__(f"nothing here is called {name}", f"{repair}There are: {listed(known) or 'no names'}")


class NoSuchElement(Mistake):
    """`--wrt "W[2,0]"` when W has two rows."""

    code = "no-such-element"
    title = "there is no such element"

    def __init__(self, name: str, array: str, shape: tuple[int, ...]) -> None:
        if not shape:
            super().__init__(f"there is no {name}: {array} is one number", f"Write --wrt {array}")
            return
        last = ",".join(str(size - 1) for size in shape)
        super().__init__(
            f"there is no {name}: {array} has the shape {shape}",
            f"Its elements are {array}[{','.join('0' for _ in shape)}] to {array}[{last}].",
        )


class NotProven(Mistake):
    """An answer that a ball cannot decide: `log(x - y)` where x - y may be 0, as far as its digits tell."""

    code = "not-proven"
    title = "not proven"
    exit_code = 3


class Undefined(Mistake):
    """An answer that does not exist at this point: `log(x - 3)` at x = 2."""

    code = "undefined"
    title = "undefined at this point"
    exit_code = 3


# -- what is asked of a program: derivatives, paths, steps, expectations ----------------------------------------------


class OneDirection(Mistake):
    """`--mode forward` without one variable to move."""

    code = "one-direction"
    title = "forward mode moves one input"

    def __init__(self, names: list[str], array: str = "") -> None:
        if array:
            super().__init__(
                f"forward mode tells how every node moves with one number, and {array} has many",
                f'Say which: --wrt "{names[0]}"',
            )
            return
        super().__init__(
            "forward mode tells how every node moves with one input",
            f"Say which: --wrt {names[0] if names else 'x'}   (there are: {', '.join(names) or 'no inputs'})",
        )


class OrderOutOfRange(Mistake):
    """`--order 0`."""

    code = "order-out-of-range"
    title = "an order is 1 or more"

    def __init__(self, order: int) -> None:
        super().__init__(f"there is no derivative of order {order} to take", "Write --order 1, 2, 3, ...")


class OrderUnlikeNames(Mistake):
    """`--wrt x,y --order 3`."""

    code = "order-unlike-names"
    title = "the order and the names disagree"

    def __init__(self, names: Sequence[str], order: int) -> None:
        super().__init__(
            f"{','.join(names)} is a derivative of order {len(names)}, not {order}",
            f"Name a variable for each order, like --wrt {','.join([*names, *[names[-1]] * order][:order])}, "
            "or leave out the order.",
        )


class ArraysInFormulas(Mistake):
    """`backprop diff "sum(W @ x)"`."""

    code = "arrays-in-formulas"
    title = "formulas are of single numbers"

    def __init__(self, program: str) -> None:
        shown = program if len(program) <= 60 and program.isprintable() else "EXPRESSION"
        super().__init__(
            "this program works on arrays, and how many elements they have is not known without values",
            f"At a point every element has its derivative and its chain rule: "
            f'backprop trace --open "{shown}" with the values',
        )


class TooManyDerivatives(Mistake):
    """`--order 9` of a function of twenty variables; a formula that outgrows the memory."""

    code = "too-many-derivatives"
    title = "too much to write out"


class TooMuchWork(Mistake):
    """The Hessian of ten thousand inputs; a series up to order 200 of a large program."""

    code = "too-much-work"
    title = "too much to work out"


class NoVariable(Mistake):
    """`backprop hessian "c = a + b; c^2" --wrt c`: second derivatives, or a cost, by a node that is worked out."""

    code = "no-variable"
    title = "only an input moves by itself"

    def __init__(self, name: str, inputs: Sequence[str]) -> None:
        super().__init__(
            f"{name} is worked out from others, so it does not move by itself",
            f"The inputs are: {listed(list(inputs)) or 'none'}",
        )


class UnreadableDirection(Mistake):
    """`--jvp x=`, `--hvp [1,2]` for three inputs, `--jvp q=1` when nothing is called q."""

    code = "unreadable-direction"
    title = "a direction that cannot be read"


class TermsWithoutSize(Mistake):
    """`paths --symbolic --top 3`."""

    code = "terms-without-size"
    title = "formulas have no size"

    def __init__(self) -> None:
        super().__init__(
            "which terms are the largest depends on the numbers", "Give every input a value and leave out --symbolic."
        )


class NothingToLearn(Mistake):
    """`backprop step` of a program without params."""

    code = "nothing-to-learn"
    title = "nothing to learn"

    def __init__(self, inputs: list[str]) -> None:
        name = inputs[0] if inputs else "w"
        some = ",".join(inputs[:8]) + (",..." if len(inputs) > 8 else "")
        named = f", or name them here: --update {some}" if inputs else ""
        super().__init__(
            "the program has no param, so a step changes nothing",
            f"Say which inputs are trained: 'param {name} = 0.5' in the program{named}",
        )


class NotAnInput(Mistake):
    """`--update z` where z is worked out."""

    code = "not-an-input"
    title = "only an input can be trained"

    def __init__(self, name: str, inputs: list[str]) -> None:
        near = closest(name, inputs)
        guess = f"Did you mean {near}?   " if near is not None else ""
        super().__init__(f"{name} is no input of the program", f"{guess}Its inputs are: {listed(inputs) or 'none'}")


class UnreadableExpectation(Mistake):
    """`# expect e is 6`."""

    code = "unreadable-expectation"
    title = "an expectation that cannot be read"

    def __init__(self, cause: str, span: Span) -> None:
        super().__init__(
            cause,
            "They are written: expect e = 6   expect de/db = 5   expect paths from b = 2   expect mistake unknown-name",
            span,
        )


class UnreadableClaim(Mistake):
    """`--claim x=`, `--claim 2*x`."""

    code = "unreadable-claim"
    title = "a claim that cannot be read"

    def __init__(self, cause: str, span: Span) -> None:
        super().__init__(
            cause, "They are written: dx = -4   df/dz = 2*x + 1   x = undefined   and f = 7 for a value", span
        )


class UnknownInClaim(Mistake):
    """`--claim "dq = 2"`, `--claim "dx = 2*q"`, when nothing is called q."""

    code = "unknown-in-claim"
    title = "a claim about an unknown name"

    def __init__(self, name: str, known: list[str], span: Span) -> None:
        near = closest(name, known)
        repair = f"Did you mean {near}?   " if near else ""
        if near is None and name[:1] in ("d", "∂") and name[1:] in known:
            repair = f"Inside a formula {name} is a name like any other: write what the derivative is.   "
        super().__init__(f"nothing in the program is called {name}", f"{repair}There are: {listed(known)}", span)


class UnknownOperation(Mistake):
    """`backprop ops tanhh`."""

    code = "unknown-operation"
    title = "unknown operation"

    def __init__(self, name: str, elsewhere: str | None, near: str | None) -> None:
        if elsewhere is not None:
            repair = f"Here it is written {elsewhere}"
        else:
            repair = f"Did you mean {near}?" if near is not None else "They are listed by: backprop ops"
        super().__init__(f"there is no operation {name}", repair)


# -- tables, and what is asked of their rows --------------------------------------------------------------------------


class MissingColumn(Mistake):
    """`backprop map "x*y" data.csv` where the table has no column y."""

    code = "missing-column"
    title = "a column is missing"

    def __init__(self, missing: list[str], columns: list[str], span: Span | None = None, kept: bool = False) -> None:
        name = missing[0]
        near = closest(name, columns) or next((one for one in columns if one.lower() == name.lower()), None)
        guess = f"Did you mean {near} where you wrote {name}?   " if near is not None else ""
        there = f"The columns are {listed(columns)}.   " if columns else "The table has no columns.   "
        if columns and all(re.fullmatch(r"[-+.,0-9eE ]+", one) for one in columns):
            there = f"The first line has to name the columns; here it is {listed(columns, most=6)}.   "
        bound = "" if kept else f"The same value in every row: --{name} 2   (or {name}=2)"
        super().__init__(f"the table has no column {listed(missing)}", f"{guess}{there}{bound}".rstrip(), span)


class NoColumn(Mistake):
    """`backprop map "2*a" data.csv --a 3`: an expression that is the same in every row."""

    code = "no-column"
    title = "no column is used"

    def __init__(self, columns: list[str]) -> None:
        super().__init__(
            "the expression is the same in every row: it has none of the columns",
            f"The columns are {listed(columns)}." if columns else "The table has no columns.",
        )


class BoundColumn(Mistake):
    """`backprop map "x*y" data.csv --x 2` where x is a column."""

    code = "bound-column"
    title = "a column that is given a value"

    def __init__(self, names: list[str]) -> None:
        told = "is a column" if len(names) == 1 else "are columns"
        super().__init__(
            f"{listed(names)} {told} of the table, and given a value too",
            "Keep one: take the value out, or use another name in the expression.",
        )


class SlopeOfArray(Mistake):
    """`backprop map "sum(W @ [x, y])" data.csv --W "[[1, 2]]" --wrt W`: a column has one number in a row."""

    code = "slope-of-array"
    title = "a derivative that is an array"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the derivative by {name} is an array, and a column holds one number in each row",
            f'Name the elements that you need: --wrt "{name}[0],{name}[1]", of a matrix "{name}[0,1]"',
        )


class ColumnTwice(Mistake):
    """A table in which two columns have the same name."""

    code = "column-twice"
    title = "two columns of the same name"

    def __init__(self, name: str, first: str, second: str) -> None:
        super().__init__(
            f"{first} and {second} {f'are both called {name}' if name else 'have no name'}",
            "Give every column a name of its own, so that none is lost.",
        )


class ColumnType(Mistake):
    """A column of dates, decimals or text where numbers are needed."""

    code = "column-type"
    title = "a column that holds no numbers"

    def __init__(self, name: str, kind: str, row: int) -> None:
        repair = "Numbers are integers, floats and booleans (1 and 0)."
        if kind.startswith("decimal"):
            repair += " Decimals are not rounded unasked: cast the column to double."
        elif kind in ("string", "large_string"):
            repair += " Text is not read as numbers: cast the column to double."
        super().__init__(f"row {row}, column {name}: it is of type {kind}", repair)


class ColumnChanges(Mistake):
    """A column that is of one type at first and of another later, in a table whose types are written down."""

    code = "column-changes"
    title = "a column of two types"

    def __init__(self, name: str, row: int, before: str, now: str) -> None:
        super().__init__(
            f"from row {row} on, column {name} is {now}, and before it was {before}",
            "Leave it out with --keep, or write a format without types: --to ndjson",
        )


class TableCell(Mistake):
    """`row 3, column x: '2,5'`."""

    code = "table-cell"
    title = "a cell that is no number"

    def __init__(self, name: str, row: int, text: str, repair: str) -> None:
        shown = text if len(text) <= 60 else text[:57] + "..."
        super().__init__(f"row {row}, column {name}: {shown!r} is not a number", repair)


class RaggedRow(Mistake):
    """A row of a CSV file with another number of cells than its first line."""

    code = "ragged-row"
    title = "a row of another length"

    def __init__(self, origin: str, row: int, length: int, columns: list[str], text: str = "") -> None:
        at = columns[min(length, len(columns)) - 1]
        missing = length < len(columns)
        where = f"it ends with column {at}" if missing else f"it goes on behind column {at}"
        shown = f": {text if len(text) <= 60 else text[:57] + '...'}" if text else ""
        repair = "Every row has a cell for every column; an empty one is missing."
        if not missing:
            repair += " A cell with a comma stands in quotation marks, and a decimal point is a point."
        super().__init__(
            f"{origin}: row {row} has {length} cell{'s' if length != 1 else ''}, and there are {len(columns)} columns; "
            f"{where}{shown}",
            repair,
        )


class BadRecord(Mistake):
    """A line of NDJSON that is no record."""

    code = "bad-record"
    title = "a line that is no record"

    def __init__(self, origin: str, row: int, cause: str) -> None:
        super().__init__(f"{origin}: row {row}: {cause}", 'A line of NDJSON is a record of one row: {"x": 1.5, "y": 2}')


class RowUndefined(Mistake):
    """A row without an answer, with `--on-error fail`."""

    code = "row-undefined"
    title = "undefined in a row"
    exit_code = 3

    def __init__(self, row: int, note: str) -> None:
        super().__init__(
            f"row {row}: {note}", "With --on-error note the row has this as a note, and the others their answers."
        )


# -- many processes, many machines -------------------------------------------------------------------------------------


class ClusterUnreachable(Mistake):
    """`--cluster tcp://10.0.0.5:8786` where nobody answers, or where no worker is."""

    code = "cluster-unreachable"
    title = "no cluster there"

    def __init__(self, address: str, reason: str, repair: str = "") -> None:
        super().__init__(
            f"{address}: {reason[:1].lower() + reason[1:]}",
            repair or "Is it the address that dask scheduler printed, and may this machine reach it?",
        )


class ClusterDiffers(Mistake):
    """A worker on which Python or backprop have another version than here."""

    code = "cluster-differs"
    title = "another version on a worker"

    def __init__(self, worker: str, what: str, repair: str = "") -> None:
        super().__init__(
            f"the worker {worker} {what}",
            repair or "Install the same versions on every machine; nothing was worked out.",
        )


class ClusterLost(Mistake):
    """A scheduler that ends in the middle, or workers that do not come back."""

    code = "cluster-lost"
    title = "the cluster is gone"

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(f"{address}: {reason}", "Start it again; with -o FOLDER, --resume goes on where this ended.")


class WorkerLost(Mistake):
    """A part of the table at which one worker after the other ends."""

    code = "worker-lost"
    title = "a worker ends again and again"

    def __init__(self, part: str, times: int) -> None:
        super().__init__(
            f"{times} workers ended while they did {part}",
            "Was the memory too small? Fewer --jobs leave more to each; with -o FOLDER, --resume keeps what is done.",
        )


class PartMissing(Mistake):
    """A part that a worker has written and that is not seen from here."""

    code = "part-missing"
    title = "a part is not there"

    def __init__(self, path: str, worker: str) -> None:
        super().__init__(
            f"{path} was written on {worker}, and it is not to be seen from here",
            "The folder has to be one that all machines share: a network disk, mounted in the same place.",
        )


class FolderTaken(Mistake):
    """`-o out/` where the folder holds something already."""

    code = "folder-taken"
    title = "the folder is not empty"

    def __init__(self, path: str, begun: bool) -> None:
        super().__init__(
            f"{path}: {'parts of a table are in it' if begun else 'there is something in it'}",
            "To go on where they end: --resume" if begun else "Parts go into a folder of their own.",
        )


class CannotResume(Mistake):
    """`--resume` with another program, other options or other data than before."""

    code = "cannot-resume"
    title = "not the same as before"

    def __init__(self, path: str, what: str, before: str, now: str) -> None:
        shown = [one if len(one) <= 200 else one[:197] + "..." for one in (before, now)]
        super().__init__(
            f"{path}: {what} was {shown[0]}, and now it is {shown[1]}",
            "Parts of two kinds are no table: ask the same as before, or write to another folder.",
        )


class OtherColumns(Mistake):
    """Files of one table that do not have the same columns."""

    code = "other-columns"
    title = "files with other columns"

    def __init__(self, path: str, first: str, missing: list[str]) -> None:
        super().__init__(
            f"{path} has no column {listed(missing)}, and {first} has", "All files of a table have the same columns."
        )


# -- the words of a command line, files and streams -------------------------------------------------------------------


class UnknownOption(Mistake):
    """`--no-chek`; `--stesp 3` where the program has no variable of that name."""

    code = "unknown-option"
    title = "unknown option"

    def __init__(self, word: str, near: str | None, variables: Iterable[str] | None = None) -> None:
        here = "there is no option" if variables is None else "no option and no variable of the program is called"
        super().__init__(f"{here} {word}", f"Did you mean {near}?" if near else "The options are listed by: --help")


class OptionValue(Mistake):
    """`--figures many`, `--format jsn`, `--no-check=3`."""

    code = "option-value"
    title = "an option with a value it cannot have"

    def __init__(self, name: str, value: Any, repair: str) -> None:
        shown = value if isinstance(value, str) and value.isprintable() and value else repr(value)
        super().__init__(f"--{name} cannot be {shown}", repair)


class OneAtATime(Mistake):
    """`--count --factor`."""

    code = "one-at-a-time"
    title = "options that exclude each other"

    def __init__(self, options: list[str]) -> None:
        super().__init__(f"{' and '.join(options)} ask for different things", "Keep one of them.")


class Apart(Mistake):
    """`--undefined propagate --kind exact`: options of which one leaves nothing for the other to do."""

    code = "apart"
    title = "options that do not go together"

    def __init__(self, options: list[str], repair: str) -> None:
        super().__init__(f"{' and '.join(options)} do not go together", repair)


class UnknownFormat(Mistake):
    """`--format tabel`, `-o trace.doc`."""

    code = "unknown-format"
    title = "unknown format"

    def __init__(self, asked: str, known: Sequence[str]) -> None:
        near = closest(asked, known)
        guess = f"Did you mean {near}?   " if near is not None else ""
        super().__init__(f"there is no format {asked}", f"{guess}The formats are {', '.join(known)}.")


class UnknownKind(Mistake):
    """`--kind exakt`; `known` holds how each kind is spelt and what it is."""

    code = "unknown-kind"
    title = "unknown kind of number"

    def __init__(self, asked: str, known: Sequence[tuple[str, str]]) -> None:
        near = closest(asked.partition(":")[0], [spelling.partition(":")[0] for spelling, _ in known])
        meant = next((spelling for spelling, _ in known if spelling.partition(":")[0] == near), None)
        guess = f"Did you mean {meant}?   " if meant else ""
        kinds = ", ".join(f"{spelling} ({says})" for spelling, says in known)
        shown = asked if asked.isprintable() and 0 < len(asked) <= 60 else repr(asked[:60])
        super().__init__(f"there is no kind of number {shown}", f"{guess}The kinds are {kinds}.")


class KindArgument(Mistake):
    """`--kind digits:many`, `--kind exact:3`."""

    code = "kind-argument"
    title = "a kind with an argument it cannot have"

    def __init__(self, kind: str, repair: str) -> None:
        shown = kind if kind.isprintable() and len(kind) <= 60 else repr(kind[:60])
        super().__init__(f"the kind cannot be {shown}", repair)


class ExtraMissing(Mistake):
    """`--kind certified` where python-flint is not installed."""

    code = "extra-missing"
    title = "something is not installed"

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            f"{what} needs an extra that is not installed here", f'Install it: pip install "backprop-trace[{extra}]"'
        )


class NoEngine(Mistake):
    """`backprop map "x^2" data.csv --engine c` where there is no compiler."""

    code = "no-engine"
    title = "an engine cannot be had here"

    def __init__(self, engine: str, reason: str) -> None:
        super().__init__(
            f"--engine {engine}: {reason}",
            "Leave the choice to me: --engine auto. For c, a compiler is what CC names, or cc, gcc or clang.",
        )


class NoWord(Mistake):
    """`backprop emit "polygamma(1, x)" --to sql`: an operation that a language, or an engine, cannot make of others."""

    code = "no-word"
    title = "no word for an operation"

    def __init__(self, operation: str, language: str, others: Sequence[str], in_slope: bool = False) -> None:
        repair = f"These have it: {', '.join(others)}" if others else "Write it out in simpler operations."
        if in_slope:
            repair += "\nThe gradient alone needs it: --value-only does without, and so does --wrt other inputs."
        super().__init__(f"{language} has no {operation}, and I know nothing to make it of there", repair)


class NotElementwise(Mistake):
    """`backprop emit "W@x" --to c`: code for single numbers is asked of a program with arrays."""

    code = "not-elementwise"
    title = "arrays"

    def __init__(self, what: str, span: Span | None = None, why: str = "works on arrays") -> None:
        super().__init__(
            f"{what} {why}, and straight-line code is made of single numbers",
            "Write arrays out, as in dot([x, y], [1, 2]), or give their numbers: --W '[[1, 2], [3, 4]]'; "
            "or see the gradient with: backprop grad",
            span,
        )


class OneColumn(Mistake):
    """`backprop emit "x*X" --to sql`: two inputs that a database takes for one column."""

    code = "one-column"
    title = "two names for one column"

    def __init__(self, first: str, second: str) -> None:
        super().__init__(
            f"{first} and {second} are inputs, and a table has one column for both: SQL takes X and x for the same",
            "Give one of them another name in the program.",
        )


class GivenTwice(Mistake):
    """`--x 1 --x 2`, `--x 1 x=2`."""

    code = "given-twice"
    title = "given twice"

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is given twice", "Keep one of them.")


class TwoReadings(Mistake):
    """`--x 1,000`."""

    code = "two-readings"
    title = "a number that is read in two ways"

    def __init__(self, name: str, text: str) -> None:
        point, plain = text.replace(",", "."), text.replace(",", "")
        one = f"{point} with a decimal point, or " if text.count(",") == 1 else ""
        super().__init__(f"{name} is {text}", f"Write {one}{plain} without a comma.")


class WordMissing(Mistake):
    """`backprop trace`, `--x` at the end of the line."""

    code = "word-missing"
    title = "something is missing"


class NothingGiven(Mistake):
    """`backprop trace`, `backprop trace x=3`."""

    code = "nothing-given"
    title = "something is missing"

    def __init__(self, command: str, takes: str, given: Iterable[str]) -> None:
        given = list(given)
        what = {"EXPRESSION": "an expression", "EXPRESSION DATA": "an expression and a table"}.get(takes, "a file")
        example = {
            "EXPRESSION": '"x^2 + 1" --x 3',
            "EXPRESSION DATA": '"x^2 + y" data.csv',
            "FILE": "trace.json",
            "FILE...": "samples/*.bp",
        }[takes]
        repair = f"Write, for example: backprop {command} {example}"
        if given:
            repair += f"   ({given[0]}=... was read as the value of {given[0]})"
        super().__init__(f"{command} needs {what}", repair)


class ExtraWord(Mistake):
    """`backprop trace x * y`."""

    code = "extra-word"
    title = "one word too many"

    def __init__(self, word: str, repair: str) -> None:
        super().__init__(f"I do not know what to do with {word}", repair)


class UnknownCommand(Mistake):
    """`backprop trac "x^2"`, `backprop "x^2"`."""

    code = "unknown-command"
    title = "unknown command"

    def __init__(self, word: str, commands: Iterable[str]) -> None:
        commands = list(commands)
        near = closest(word, commands)
        if near is not None:
            repair = f"Did you mean backprop {near}?"
        elif any(sign in word for sign in "+*/^()=; "):
            repair = f'A command comes first: backprop trace "{word}"'
        else:
            repair = f"There are: {', '.join(commands)}"
        super().__init__(f"there is no command {word}", repair)


class CannotRead(Mistake):
    """A file that is missing, a folder, binary data."""

    code = "cannot-read"
    title = "cannot be read"

    def __init__(self, path: str, reason: str, repair: str = "") -> None:
        super().__init__(f"{path}: {reason[:1].lower() + reason[1:]}", repair)


class NoTerminal(Mistake):
    """`backprop trace "x^2" --x 3 --step | less`."""

    code = "no-terminal"
    title = "no terminal"

    def __init__(self) -> None:
        super().__init__(
            "--step shows one step after another on a terminal, and the output goes elsewhere",
            "Without --step all steps come at once; -o FILE keeps them.",
        )


class BinaryOutput(Mistake):
    """`backprop trace "x^2" --x 3 --format png` on a terminal."""

    code = "binary-output"
    title = "not for a screen"

    def __init__(self, name: str, suffix: str) -> None:
        super().__init__(
            f"{name} is binary, and this output is for text", f"Write it to a file: -o graph{suffix}; or to a pipe."
        )


class TooLargeToDraw(Mistake):
    """`backprop trace --file large.bp -o large.svg`: a graph of more nodes or edges than a drawing has room for."""

    code = "too-large-to-draw"
    title = "too large to draw"

    def __init__(self, nodes: int, edges: int, most_nodes: int, most_edges: int) -> None:
        super().__init__(
            f"the graph has {nodes} nodes and {edges} edges; a drawing has room for {most_nodes} and {most_edges}",
            "A part of it: --around NODE --hops 2. All of it for another program: --format dot, json or csv. "
            "backprop trace shows what matters most of it in tables.",
        )


class NoSuchPath(Mistake):
    """`backprop graph "x*x" --x 3 --path 5`: there are two paths."""

    code = "no-such-path"
    title = "no such path"

    def __init__(self, place: int, counts: Mapping[str, int], output: str) -> None:
        every = sum(counts.values())
        told = ", ".join(f"{count} from {name}" for name, count in list(counts.items())[:8])
        more = ", ..." if len(counts) > 8 else ""
        there = f"are {every} paths" if every > 1 else "is one path" if every else "are no paths"
        super().__init__(
            f"there {there} to {output}, so --path cannot be {place}",
            f"{told}{more}: --path counts through them in this order. backprop paths lists them." if told else "",
        )


class TooManyPixels(Mistake):
    """`backprop trace --file large.bp -o large.png`: a drawing that as pixels would have no letters one can read."""

    code = "too-many-pixels"
    title = "too large for pixels"

    def __init__(self, width: float, height: float) -> None:
        super().__init__(
            f"the drawing is {width:.0f} by {height:.0f} pixels wide and high",
            "An SVG or PDF has no such bound: -o graph.svg; a part of the graph: --around NODE --hops 2.",
        )


class PageOnTerminal(Mistake):
    """`backprop report "x^2" --x 3` with nowhere to write the page."""

    code = "page-on-terminal"
    title = "no place for the page"

    def __init__(self) -> None:
        super().__init__("a page is for a browser, and no file is given for it", "Give the file:  -o page.html")


class NotATrace(Mistake):
    """`echo {} | backprop paths -`: JSON that is not a trace."""

    code = "not-a-trace"
    title = "not a trace"

    def __init__(self, cause: str) -> None:
        super().__init__(cause, "A trace is what this prints: backprop trace EXPRESSION --format json")


class CannotWrite(Mistake):
    """`-o /nowhere/trace.json`."""

    code = "cannot-write"
    title = "cannot be written"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason[:1].lower() + reason[1:]}", "Nothing was written.")


class TooDeep(Mistake):
    """A program that this machine has too little memory or stack for."""

    code = "too-large-for-this-machine"
    title = "too large"

    def __init__(self, what: str) -> None:
        super().__init__(f"there is not enough {what} for this", "A smaller program, or a command that lists less.")

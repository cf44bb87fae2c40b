"""C: one function of doubles in C99, with a pointer for each slope."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from backprop.languages import ARITHMETIC, Code, Language, Word, calls, float_number
from backprop.languages.common.origin import origin
from backprop.languages.common.python import WIDTH, listed
from backprop.ops import AND, CONDITIONAL, OR, POSTFIX, UNARY

# Compilers take more than linear time for one function: longer ones come in pieces of this many statements.
PIECE = 400

EXTREME = """\
static double {name}(double x, double y)
{{
    return x {sign} y || x != x ? x : y;
}}"""
MOD = """\
static double mod(double x, double y)
{
    const double rest = fmod(x, y);
    return rest != 0.0 && (rest < 0.0) != (y < 0.0) ? rest + y : rest;
}"""
SIGN = """\
static double sign(double x)
{
    return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x;
}"""

TAKEN = (
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while _Bool "
    "_Complex _Imaginary asm typeof bool true false nullptr constexpr alignas alignof static_assert thread_local "
    # of C++, which reads this too
    "and and_eq bitand bitor catch class compl concept const_cast delete dynamic_cast explicit export friend mutable "
    "namespace new noexcept not not_eq operator or or_eq private protected public reinterpret_cast static_cast this "
    "template throw try typeid typename using virtual wchar_t xor xor_eq "
    "main max min mod sign rest values v errno NAN INFINITY HUGE_VAL M_PI M_E linux unix "
    "j0 j1 jn y0 y1 yn gamma lgamma tgamma signgam drem exp10 pow10 significand scalb "
    "fabs fmod rint abs ldexp frexp modf logb ilogb nan fma fmax fmin fdim round lround trunc remainder copysign isnan "
    "nearbyint nextafter remquo scalbn isinf isfinite signbit fpclassify isnormal"
)
FUNCTIONS = (
    "exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh "
    "hypot floor ceil erf erfc lgamma pow"
)


def write(code: Code) -> Iterator[str]:
    """The lines of a file with one function."""
    yield from _comment(code)
    yield "#include <math.h>"
    yield ""
    for need in code.needs:
        yield from (*need.splitlines(), "")
    pointers = [f"double *{name}" for name in code.names.values()]
    given = [f"double {one.code}" for one in code.inputs]
    if code.in_pieces:
        yield from _pieces(code)
    yield from listed(f"double {code.function}(", [*given, *pointers] or ["void"], ")", "", "")
    yield "{"
    if code.in_pieces:
        count = -(-len(code.statements) // PIECE)
        yield "    struct values all, *const v = &all;"
        yield from (f"    v->{one.code} = {one.code};" for one in code.inputs)
        yield from (f"    piece{piece + 1}(v);" for piece in range(count))
    else:
        text = "\n".join([*(text for _, text in code.statements), code.value, *code.slopes.values()])
        words = set(_words(text))
        yield from (f"    (void){one.code};" for one in code.inputs if one.code not in words)
        for name, text in code.statements:
            yield f"    const {'int' if name in code.conditions else 'double'} {name} = {text};"
    if code.hiding:
        finite = code.language.finite.format(value=code.value)
        yield f"    const int {code.defined} = {finite};  /* no slope where there is no value */"
    for name, text in code.slopes.items():
        if name in code.hiding:
            text = f"{code.defined} ? {f'({text})' if ' ? ' in text else text} : NAN"
        yield f"    *{code.names[name]} = {text};"
    yield f"    return {code.value};"
    yield "}"


def _words(text: str) -> list[str]:
    return "".join(letter if letter.isalnum() or letter == "_" else " " for letter in text).split()


def _comment(code: Code) -> Iterator[str]:
    """What this is, and how to compile it."""
    lines = [line.replace("*/", "* /").replace("/*", "/ *").replace("??/", "? ?/") for line in origin(code)]
    yield f"/* {lines[0]}"
    yield from (f" * {line}".rstrip() for line in lines[1:-1])
    slopes = " and puts each slope where its pointer points" if code.slopes else ""
    says = f"{lines[-1]} Returns the value{slopes}."
    defaults = [f"{one.code} = {code.number(one.default)}" for one in code.inputs if one.default is not None]
    if defaults:
        says += f" The program has the defaults {', '.join(defaults)}."
    yield from (f" * {line}" for line in wrap(says, WIDTH - 3, break_long_words=False))
    yield " * It is C99; link it with -lm."
    yield " */"


def _pieces(code: Code) -> Iterator[str]:
    """A function that is too long for a compiler, in pieces that share a record of all values."""
    yield "struct values {"
    names = [*(one.code for one in code.inputs), *(name for name, _ in code.statements)]
    yield from (f"    double {', '.join(names[at : at + 8])};" for at in range(0, len(names), 8))
    yield from ("};", "")
    for piece, at in enumerate(range(0, len(code.statements), PIECE)):
        yield f"static void piece{piece + 1}(struct values *v)"
        yield "{"
        yield from (f"    v->{name} = {text};" for name, text in code.statements[at : at + PIECE])
        yield from ("}", "")


WORDS = {
    **ARITHMETIC,
    **calls("", FUNCTIONS, abs="fabs", round="rint", gamma="tgamma"),
    "max": Word("max(x, y)", needs=EXTREME.format(name="max", sign=">")),
    "min": Word("min(x, y)", needs=EXTREME.format(name="min", sign="<")),
    "mod": Word("mod(x, y)", needs=MOD),
    "sign": Word("sign(x)", needs=SIGN),
    "where": Word("c ? x : y", CONDITIONAL),
    "and": Word("x && y", AND, POSTFIX),
    "or": Word("x || y", OR, POSTFIX),
    "not": Word("!x", UNARY),
}

LANGUAGE = Language(
    name="c",
    says="C99: doubles, the slopes through pointers",
    suffix=".c",
    words=WORDS,
    write=write,
    number=float_number,
    constants={"inf": "INFINITY", "nan": "NAN"},
    reserved={*TAKEN.split(), *FUNCTIONS.split()},
    finite="isfinite({value})",
    whole_slopes=True,
    pieces=2000,
    refer_in_pieces="v->{}".format,
)

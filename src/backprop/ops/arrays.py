"""Arrays: operations that do not work element by element.

All others take arrays too, broadcast as NumPy does. Conventions: a gradient has the shape of what it belongs to; rows
of a matrix are the batch; `.T` swaps the last two axes; an axis may be counted from the end.
"""

from __future__ import annotations

from collections.abc import Callable

from backprop.ops import POSTFIX, PRODUCT, Shapes, Texts, Work, op, work

VECTOR, MATRIX = "[2, -1, 0.5]", "[[1, 2], [-3, 0.5]]"
TABLE = "[[1, -2, 0.5], [0.25, 3, -1]]"


def added_up(text: str, result: tuple[int, ...], operand: tuple[int, ...]) -> str:
    """What comes back to an operand that was broadcast to the shape of the result: added up where it was repeated.

    >>> added_up("g", (4, 3), (3,)), added_up("g", (4, 3), (4, 1)), added_up("g", (4, 3), (4, 3))
    ('sum(g, 0)', 'expand_dims(sum(g, 1), 1)', 'g')
    """
    for _ in range(len(result) - len(operand)):
        text = f"sum({text}, 0)"
    for axis, (wide, narrow) in enumerate(zip(result[len(result) - len(operand) :], operand, strict=True)):
        if narrow == 1 != wide:
            text = f"expand_dims(sum({text}, {axis}), {axis})"
    return text


def along(text: str, shape: tuple[int, ...], axis: str, reduction: str = "sum") -> str:
    """A sum (or mean) along one axis, which stands there still with the size 1; of a vector simply its sum."""
    return f"{reduction}({text})" if len(shape) == 1 else f"expand_dims({reduction}({text}, {axis}), {axis})"


# -- many numbers become one: `x` alone, or along an axis


def reduction(
    name: str,
    call: str,
    partial: Callable[[Callable[[str, str], str]], str],
    says: str,
    stable: Callable[[Callable[[str, str], str]], str] | None = None,
    samples: tuple[tuple[str], ...] = ((VECTOR,), (TABLE,)),
    edges: tuple[tuple[str], ...] = (),
    kinked: bool = False,
    adds: bool = False,
    takes: Work = work.SUM,
) -> None:
    """Two rows of the table: `name(x)` over all elements, and `name(x, axis)`.

    `partial` writes the slope at each element; it is told how a reduction is written that may stand beside elements.
    """

    def whole(function: str, text: str) -> str:
        return f"{function}({text})"

    def lines(function: str, text: str) -> str:
        line = f"{function}({text}, axis)"
        return line if function == "size" else f"expand_dims({line}, axis)"

    for parameters, row, kept in (("x", name, whole), ("x axis", f"{name}_along", lines)):
        axis = parameters == "x axis"
        rules: Texts = (partial(kept), None) if axis else (partial(kept),)
        better: Texts | None = None
        if stable is not None:
            better = (stable(kept), None) if axis else (stable(kept),)
        function = name.removesuffix("_of")
        op(row, parameters, called=function, form=f"{function}(x, axis=axis)" if axis else "", value=_reduced(call),
           partials=rules, stable=better, arrays=True, reduces=True, settings=(1,) if axis else (),
           locally_constant=kinked, adds=adds, says=says + (" along an axis" if axis else ""), work=takes,
           samples=tuple((*sample, "0") if axis else sample for sample in samples
                         if not axis or sample[0].startswith("[[")),
           edges=() if axis else edges)


def _reduced(call: str) -> Callable[..., object]:
    return lambda k, x, axis=None: getattr(k, call)(x, axis)


reduction("sum", "total", lambda kept: "1", "adds all elements up; each passes its change on unchanged",
          edges=(("3",),), adds=True)
reduction("mean", "mean", lambda kept: f"1/{kept('size', 'x')}", "the sum divided by how many there are",
          adds=True, takes=work.MEAN)
reduction("prod", "prod", lambda kept: "out/x", "multiplies all elements",
          # with one 0 among them only its own slope is left, with two of them none
          stable=lambda kept: (f"where(x != 0, out/where(x == 0, 1, x), {kept('prod', 'where(x == 0, 1, x)')}"
                               f"*where({kept('sum', 'where(x == 0, 1, 0)')} == 1, 1, 0))"),
          edges=(("[2, 0, 3]",), ("[0, 0, 3]",)))
for _name, _call, _which in (("max", "greatest", "largest"), ("min", "least", "smallest")):
    reduction(f"{_name}_of", _call,
              lambda kept: f"where(x == out, 1/{kept('sum', 'where(x == out, 1, 0)')}, 0)",
              f"the {_which} element; elements that tie share the slope", kinked=True)
reduction("logsumexp", "logsumexp", lambda kept: "exp(x - out)", "the logarithm of the sum of exponentials",
          edges=(("[800, 799]",), ("[-800, -801]",)), takes=work.LOGSUMEXP)
reduction("norm", "norm", lambda kept: "x/out", "the length: the root of the sum of squares; at 0 the slope is 0",
          edges=(("[3e200, 4e200]",),), takes=work.NORM)


reduction("var", "variance", lambda kept: f"2*(x - {kept('mean', 'x')})/{kept('size', 'x')}",
          "the mean of the squared differences from the mean", edges=(("3",), ("[2, 2]",)), takes=work.VARIANCE)
reduction("std", "deviation", lambda kept: f"(x - {kept('mean', 'x')})/({kept('size', 'x')}*out)",
          "the root of the variance: how far the elements stray from their mean", takes=work.DEVIATION)


def _size(name: str, parameters: str) -> None:
    axis = parameters == "x axis"
    op(name, parameters, called="size", form="size(x, axis=axis)" if axis else "", value=_reduced("size"),
       partials=(None,) * len(parameters.split()), arrays=True, settings=(1,) if axis else (), flops=0,
       says="how many elements there are" + (" along an axis" if axis else ""),
       samples=((TABLE, "0"),) if axis else ((VECTOR,), (TABLE,)))


_size("size", "x")
_size("size_along", "x axis")


# -- the same numbers in another order or shape


def listed(stem: str, count: int) -> str:
    return ", ".join(f"{stem}{place}" for place in range(1, count + 1))


op("transpose", "x", form="x.T", level=POSTFIX, called="transpose", value=lambda k, x: k.transpose(x), arrays=True,
   pulls=("g.T",), linear_in=(0,), moves=True, flops=0, latex="{x}^{{T}}",
   says="rows become columns; of a stack of matrices each one is turned", samples=((TABLE,), (MATRIX,)))


def reshaped_back(shapes: Shapes) -> Texts:
    back = f"reshape(g, {', '.join(map(str, shapes[0]))})" if shapes[0] else "sum(g)"
    return back, *(None,) * (len(shapes) - 1)


op("reshape", "x *size", value=lambda k, x, *size: k.reshape(x, size), arrays=True, settings=(1,),
   pulls=reshaped_back, linear_in=(0,), moves=True, flops=0,
   says="the same elements, row by row, in another shape; -1 is what is left over",
   samples=((TABLE, "3", "2"), (TABLE, "-1"), (VECTOR, "3", "1")))

op("flatten", "x", value=lambda k, x: k.reshape(x, (k.number("-1"),)), arrays=True, pulls=reshaped_back,
   linear_in=(0,), moves=True, flops=0, says="the same elements, row by row, as a vector",
   samples=((TABLE,), (VECTOR,), ("[[[1, 2]], [[3, -1]]]",)), edges=(("3",),))

op("expand_dims", "x axis", value=lambda k, x, axis: k.expand(x, axis), arrays=True, settings=(1,),
   pulls=("sum(g, axis)", None), linear_in=(0,), moves=True, flops=0,
   says="puts in an axis of size 1", samples=((VECTOR, "0"), (VECTOR, "1"), (TABLE, "-1")))


def put_at(shapes: Shapes) -> Texts:
    return (f"put(g, x, {listed('at', len(shapes) - 1)})", *(None,) * (len(shapes) - 1))


def taken_at(shapes: Shapes) -> Texts:
    return (f"g[{listed('at', len(shapes) - 2)}]", *(None,) * (len(shapes) - 1))


op("index", "x *at", form="x[at]", level=POSTFIX, called="", value=lambda k, x, *at: k.index(x, at), arrays=True,
   pulls=put_at, linear_in=(0,), moves=True, flops=0, least=2, most=32,
   says="some of the elements; the others get nothing back",
   samples=((VECTOR, "1"), (TABLE, "0", "-1"), (TABLE, "1"), (TABLE, ":", "1:3"), (VECTOR, "[0, 0, 2]")))

op("put", "x into *at", value=lambda k, x, into, *at: k.put(x, into, at), arrays=True,
   pulls=taken_at, linear_in=(0,), moves=True, work=work.PUT, least=3, most=32,
   says="zeros in the shape of the second, with the first added at some places: what indexing sends back",
   samples=(("3", VECTOR, "1"), ("[1, 2]", TABLE, ":", "1"), ("[1, 2, 4]", VECTOR, "[0, 0, 2]")))

op("vector", "*x", form="[x]", called="stack", value=lambda k, *x: k.stack(x), arrays=True,
   pulls=lambda shapes: tuple(f"g[{place}]" for place in range(len(shapes))),
   linear_in=(0,), joint=True, moves=True, flops=0, most=1_000_000,
   says="puts its operands one beside the other, along a new first axis",
   samples=(("2", "3"), (VECTOR, "[1, 1, 1]"), ("2",)))


def joined(axis: int, shapes: Shapes) -> list[str]:
    """The part of g that belongs to each operand of a concatenation along an axis."""
    texts, start = [], 0
    for shape in shapes:
        stop = start + shape[axis]
        texts.append(f"g[{':, ' * (axis % len(shape))}{start}:{stop}]")
        start = stop
    return texts


op("concat", "*x", value=lambda k, *x: k.concat(x, 0), arrays=True,
   pulls=lambda shapes: tuple(joined(0, shapes)), linear_in=(0,), joint=True, moves=True, flops=0, most=1_000_000,
   says="joins its operands along their first axis", samples=((VECTOR, "[1, 1]"), (TABLE, "[[1, 1, 1]]")))

op("concat_along", "axis *x", called="concat", form="concat(x, axis=axis)", arrays=True, settings=(0,),
   value=lambda k, axis, *x: k.concat(x, axis, 1),
   pulls=lambda shapes: (None, *joined(shapes[0], shapes[1:])), linear_in=(1,), joint=True, moves=True, flops=0,
   most=1_000_000, says="joins its operands along an axis", samples=(("1", TABLE, MATRIX), ("0", VECTOR, VECTOR)))

op("diag", "x", value=lambda k, x: k.diagonal(x), arrays=True, pulls=("diag(g)",), linear_in=(0,), moves=True,
   flops=0, says="the diagonal of a square matrix, or the matrix that has a vector on its diagonal",
   samples=((VECTOR,), (MATRIX,)))

op("eye", "n", value=lambda k, n: k.identity(n), arrays=True, settings=(0,), pulls=(None,), flops=0,
   says="the identity matrix", samples=(("3",),))

# -- sums on the way


def summed_back(shapes: Shapes) -> Texts:
    """An element is in its own sum and in all those behind it."""
    if len(shapes) == 1:
        return ("cumsum(g[::-1])[::-1]",)
    axis = shapes[1] % len(shapes[0])
    backwards = f"{':, ' * axis}::-1"
    return f"cumsum(g[{backwards}], {axis})[{backwards}]", None


op("cumsum", "x", value=lambda k, x: k.cumulated(x, None), arrays=True, pulls=summed_back, linear_in=(0,), adds=True,
   work=work.CUMSUM, says="of a vector the sums of its elements up to each one", samples=((VECTOR,),))

op("cumsum_along", "x axis", called="cumsum", form="cumsum(x, axis=axis)", arrays=True, settings=(1,),
   value=lambda k, x, axis: k.cumulated(x, axis), pulls=summed_back, linear_in=(0,), adds=True, work=work.CUMSUM,
   says="the sums of the elements up to each one, along an axis",
   samples=((TABLE, "0"), (TABLE, "-1"), (VECTOR, "0")))

# -- products


def product_pulls(shapes: Shapes) -> Texts:
    """What A @ B sends back, by the number of axes; stacks of matrices are multiplied one by one."""
    a, b = shapes
    if len(a) == len(b) == 1:
        return "g*B", "g*A"
    if len(a) == 1:
        if len(b) == 2:
            return "B @ g", "outer(A, g)"
        return (added_up("sum(expand_dims(g, -2)*B, -1)", (*b[:-2], b[-2]), a), "expand_dims(A, -1)*expand_dims(g, -2)")
    if len(b) == 1:
        if len(a) == 2:
            return "outer(g, B)", "A.T @ g"
        return "expand_dims(g, -1)*B", added_up("expand_dims(g, -1)*A", a, b)
    stacks = stacked(a[:-2], b[:-2])
    return added_up("g @ B.T", (*stacks, *a[-2:]), a), added_up("A.T @ g", (*stacks, *b[-2:]), b)


def stacked(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    """The shape to which two shapes that fit are broadcast."""
    short, long = sorted((left, right), key=len)
    padded = (1,) * (len(long) - len(short)) + short
    return tuple(max(pair) if 1 in pair else pair[0] for pair in zip(padded, long, strict=True))


op("matmul", "A B", form="A @ B", level=PRODUCT, called="matmul", value=lambda k, A, B: k.matmul(A, B), arrays=True,
   pulls=product_pulls, linear_in=(0, 1), adds=True, work=work.MATMUL, latex="{A} {B}",
   says="rows times columns; the adjoint goes back through the other factor, transposed",
   samples=((MATRIX, TABLE), (MATRIX, "[1, -1]"), ("[1, -1]", TABLE), (VECTOR, VECTOR),
            ("[[[1, 2]], [[3, -1]]]", MATRIX), (TABLE, "[[[1, 2], [0, 1], [2, 2]], [[0, 3], [1, 1], [-1, 0]]]"),
            ("[[[1, 2]], [[3, -1]]]", "[2, 3]"), ("[1, -1]", "[[[1, 2, 1], [0, 1, 1]]]")))

op("dot", "x y", value=lambda k, x, y: k.dot(x, y), arrays=True, pulls=("g*y", "g*x"), linear_in=(0, 1), adds=True,
   work=work.DOT, says="the sum of the products of the elements of two vectors",
   samples=((VECTOR, "[1, 1, -2]"), ("2", "3")))

op("outer", "x y", value=lambda k, x, y: k.outer(x, y), arrays=True, pulls=("g @ y", "g.T @ x"), linear_in=(0, 1),
   says="every element of the first times every element of the second: a matrix",
   samples=((VECTOR, "[1, -2]"),))

# -- square matrices

op("trace", "A", value=lambda k, A: k.trace(A), arrays=True, pulls=lambda shapes: (f"g*eye({shapes[0][0]})",),
   linear_in=(0,), moves=True, adds=True, work=work.TRACE, says="the sum of the diagonal", samples=((MATRIX,),))

op("inv", "A", value=lambda k, A: k.inverse(A), arrays=True, pulls=("-out.T @ g @ out.T",),
   pushes=("-out @ t @ out",), domain="det(A) != 0", solves=True, work=work.INVERSE,
   says="the inverse of a square matrix", samples=((MATRIX,), ("[[4]]",)))

op("solve", "A b", value=lambda k, A, b: k.solve(A, b), arrays=True,
   pulls=lambda shapes: ("-outer(solve(A.T, g), out)" if len(shapes[1]) == 1 else "-solve(A.T, g) @ out.T",
                         "solve(A.T, g)"),
   pushes=("-solve(A, t @ out)", None), linear_in=(1,), domain="det(A) != 0", solves=True, work=work.SOLVE,
   says="the x with A @ x = b", samples=((MATRIX, "[1, 2]"), (MATRIX, TABLE)))

op("det", "A", value=lambda k, A: k.determinant(A), arrays=True, pulls=("g*out*inv(A).T",), solves=True,
   work=work.DETERMINANT, says="the determinant", samples=((MATRIX,), ("[[2, 1, 0], [1, 3, -1], [0, 2, 4]]",)))

op("logdet", "A", value=lambda k, A: k.logdet(A), arrays=True, pulls=("g*inv(A).T",), solves=True,
   work=work.LOGDET, domain="det(A) != 0", says="the logarithm of the size of the determinant",
   samples=((MATRIX,), ("[[2, 1], [1, 3]]",)))

# -- layers


def softmax_carried(name: str) -> Callable[[Shapes], Texts]:
    """The same for g and for t: the matrix of partials is symmetric."""
    return lambda shapes: (f"out*({name} - {along(f'{name}*out', shapes[0], '-1')})",)


op("softmax", "x", value=lambda k, x: k.softmax(x, -1), arrays=True, pulls=softmax_carried("g"),
   pushes=softmax_carried("t"), work=work.SOFTMAX, says="positive shares that add up to 1, along the last axis",
   samples=((VECTOR,), (TABLE,)), edges=(("[800, 799]",),))

op("softmax_along", "x axis", called="softmax", form="softmax(x, axis=axis)", arrays=True,
   value=lambda k, x, axis: k.softmax(x, axis),
   settings=(1,), pulls=lambda shapes: (f"out*(g - {along('g*out', shapes[0], 'axis')})", None),
   pushes=lambda shapes: (f"out*(t - {along('t*out', shapes[0], 'axis')})", None), work=work.SOFTMAX,
   says="positive shares that add up to 1, along an axis", samples=((TABLE, "0"), (VECTOR, "0")))

op("log_softmax", "x", value=lambda k, x: k.log_softmax(x, -1), arrays=True,
   pulls=lambda shapes: (f"g - exp(out)*{along('g', shapes[0], '-1')}",),
   pushes=lambda shapes: (f"t - {along('exp(out)*t', shapes[0], '-1')}",), work=work.LOG_SOFTMAX,
   says="the logarithm of softmax, along the last axis", samples=((VECTOR,), (TABLE,)), edges=(("[800, 799]",),))

op("log_softmax_along", "x axis", called="log_softmax", form="log_softmax(x, axis=axis)", arrays=True,
   value=lambda k, x, axis: k.log_softmax(x, axis),
   settings=(1,), pulls=lambda shapes: (f"g - exp(out)*{along('g', shapes[0], 'axis')}", None),
   pushes=lambda shapes: (f"t - {along('exp(out)*t', shapes[0], 'axis')}", None), work=work.LOG_SOFTMAX,
   says="the logarithm of softmax, along an axis", samples=((TABLE, "0"), (VECTOR, "0")))


def entropy_pulls(shapes: Shapes) -> Texts:
    """Softmax minus the target, divided by the number of rows; class numbers are a target with one 1 in each row."""
    logits, labels = shapes
    rows = 1
    for size in logits[:-1]:
        rows *= size
    share = "" if rows == 1 else f"/{rows}"
    if len(labels) < len(logits):
        return f"g*(softmax(x) - one_hot(y, {logits[-1]})){share}", None
    return (f"g*(softmax(x)*{along('y', logits, '-1')} - y){share}", f"-g*log_softmax(x){share}")


op("cross_entropy", "x y", value=lambda k, x, y: k.cross_entropy(x, y), arrays=True, pulls=entropy_pulls,
   work=work.CROSS_ENTROPY,
   says="how badly softmax(x) guesses y (class numbers, or probabilities): -log of the share, its mean over the rows",
   samples=((VECTOR, "0"), (VECTOR, "[0, 0, 1]"), (TABLE, "[2, 1]"), (TABLE, "[[0.5, 0.5, 0], [0, 0, 1]]")))

op("one_hot", "x n", value=lambda k, x, n: k.one_hot(x, n), arrays=True, settings=(1,), pulls=(None, None), flops=0,
   says="for each class number a row with a 1 in its place and 0 elsewhere", samples=(("[2, 0]", "3"), ("1", "2")))

op("mse", "x y", value=lambda k, x, y: k.mse(x, y), arrays=True, work=work.MSE,
   pulls=("2*g*(x - y)/size(x)", "-2*g*(x - y)/size(x)"), says="the mean of the squared differences",
   samples=((VECTOR, "[0, 0, 1]"), (TABLE, TABLE.replace("3", "-1"))))


def layernorm_carried(name: str) -> Callable[[Shapes], Texts]:
    """The same for g and for t: the matrix of partials is symmetric."""

    def rule(shapes: Shapes) -> Texts:
        def mean(text: str) -> str:
            return along(text, shapes[0], "-1", "mean")

        middle = mean("x")
        spread = f"sqrt({mean(f'(x - {middle})^2')} + 1e-5)"
        return (f"({name} - {mean(name)} - out*{mean(f'{name}*out')})/{spread}",)

    return rule


op("layernorm", "x", value=lambda k, x: k.layernorm(x), arrays=True, pulls=layernorm_carried("g"),
   pushes=layernorm_carried("t"), work=work.LAYERNORM,
   says="each row minus its mean, divided by sqrt(variance + 1e-5)", samples=((VECTOR,), (TABLE,)))

"""Arithmetic: what is written with a sign."""

from __future__ import annotations

from backprop.ops import POSTFIX, POWER, PRODUCT, SUM, UNARY, op, work
from backprop.ops.steps import step

op("copy", "x", form="x", value=lambda k, x: x, partials=("1",), sympy=lambda S, x: x, called="", latex="{x}",
   says="gives a name to something already there", samples=((3.0,), (-0.5,)), edges=((0.0,), (1e300,)), flops=0)

op("add", "x y", form="x + y", level=SUM, value=lambda k, x, y: x + y, partials=("1", "1"),
   sympy=lambda S, x, y: x + y, latex="{x} + {y}",
   says="a sum passes each change on unchanged",
   samples=((2.0, 1.0), (-3.5, 0.25), (-1.0, -2.0)), edges=((0.0, 0.0), (1e300, 1.0), (1e-300, -1e-300)))

op("sub", "x y", form="x - y", level=SUM, value=lambda k, x, y: x - y, partials=("1", "-1"),
   sympy=lambda S, x, y: x - y, latex="{x} - {y}",
   says="a difference passes the second change on with the opposite sign",
   samples=((2.0, 1.0), (-3.5, 0.25), (-1.0, -2.0)), edges=((0.0, 0.0), (1e300, 1.0), (1e-300, 1e-300)))

op("mul", "x y", form="x*y", level=PRODUCT, value=lambda k, x, y: x * y, partials=("y", "x"),
   sympy=lambda S, x, y: x * y, latex=r"{x} \cdot {y}",
   says="each factor moves the product by the size of the other",
   samples=((2.0, 3.0), (-1.5, 4.0), (-0.5, -7.0)), edges=((0.0, 5.0), (0.0, 0.0), (1e200, 1e-300), (-1e8, 1e8)))

op("div", "x y", form="x/y", level=PRODUCT, value=lambda k, x, y: k.divide(x, y),
   partials=("1/y", "-x/y^2"), stable=(None, "-out/y"),  # y^2 overflows, or vanishes, long before x/y does
   sympy=lambda S, x, y: x / y, domain="y != 0", latex=r"\frac{{{x}}}{{{y}}}",
   says="the larger the divisor, the less the quotient moves",
   samples=((1.0, 2.0), (-3.0, 7.0), (2.5, -0.5)), edges=((0.0, 3.0), (1.0, 1e-200), (1.0, 1e200), (-1e200, 1e200)))

op("pow", "x y", form="x^y", level=POWER, called="pow", value=lambda k, x, y: k.pow(x, y),
   partials=("y*x^(y - 1)", "out*log(x)"),
   # x^0 is 1 everywhere; 0^y is 0 for every y > 0; y - 1 is rounded when y is small, and that costs digits
   stable=("where(y == 0, 0, where(y < 1/2 and y != floor(y) and x != 0, y*out/x, y*x^(y - 1)))",
           "where(x == 0 and y > 0, 0, out*log(x))"),
   sympy=lambda S, x, y: x**y, domain="x > 0 or x == 0 and y >= 0 or x < 0 and y == floor(y)",
   kink="where(x != 0, 1, where(y == floor(y), 1, 0))",  # the left end of x^(3/2) has a slope from the right only
   latex="{x}^{{{y}}}",
   says="the exponent comes down as a factor and goes down by one",
   samples=((3.0, 2.0), (2.0, 0.5), (-2.0, 3.0), (-1.5, -2.0), (0.7, -1.3), (10.0, 1.0)),
   edges=((0.0, 2.0), (0.0, 1.0), (5.0, 0.0), (-5.0, 0.0), (1e300, 0.1), (1e-200, -1.0), (-10.0, 301.0),
          (1.0000001, 1e8)), flops=20, work=work.POWER)

op("neg", "x", form="-x", level=UNARY, value=lambda k, x: -x, partials=("-1",), sympy=lambda S, x: -x, latex="-{x}",
   says="turns the sign, and the sign of every change", samples=((3.0,), (-0.5,)), edges=((0.0,), (1e300,)))

op("mod", "x y", form="x % y", level=PRODUCT, called="mod", value=lambda k, x, y: k.mod(x, y),
   # x/y is rounded and may reach the next integer; (x - out)/y lies next to an integer, so it may be rounded
   partials=("1", "-floor(x/y)"), stable=(None, "-round((x - out)/y)"),
   sympy=lambda S, x, y: x - y * step(S.floor)(x / y), domain="y != 0", kink="x % y", jumps=True, stairs="x/y",
   latex=r"{x} \bmod {y}",
   says="what is left of x after whole multiples of y; it has the sign of y, as in Python",
   samples=((7.5, 2.0), (-7.5, 2.0), (7.5, -2.0), (-1.0, -0.3)), edges=((0.25, 1e8), (1e8, 0.3)), flops=10)

op("factorial", "x", form="x!", level=POSTFIX, called="factorial", value=lambda k, x: k.factorial(x),
   partials=("out*digamma(x + 1)",), sympy=lambda S, x: S.gamma(x + 1), domain="x >= 0 or x != floor(x)",
   latex="{x}!",
   says="1*2*...*x, and between the integers gamma(x + 1)",
   made_of="gamma(x + 1)",
   samples=((3.0,), (5.5,), (0.3,), (-0.5,), (-2.5,)), edges=((0.0,), (1e-9,), (100.25,), (170.0,)), flops=50)

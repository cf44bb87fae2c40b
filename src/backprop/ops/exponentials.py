"""Exponentials, logarithms and roots, and the smooth functions of machine learning made of them."""

from __future__ import annotations

from backprop.ops import Remark, op

op("exp", "x", value=lambda k, x: k.exp(x), partials=("out",), sympy=lambda S, x: S.exp(x), latex="e^{{{x}}}",
   says="grows as fast as it is large: its slope is its own value",
   samples=((1.0,), (-2.0,), (0.3,)), edges=((0.0,), (1e-9,), (700.0,), (-700.0,)), flops=15)

op("exp2", "x", value=lambda k, x: k.exp2(x), partials=("out*log(2)",), sympy=lambda S, x: 2**x, latex="2^{{{x}}}",
   says="doubles with every step of 1", made_of="2^x",
   samples=((1.0,), (-2.5,), (0.3,)),
   edges=((0.0,), (1e-9,), (1000.0,), (-1000.0,)), flops=15)

op("expm1", "x", value=lambda k, x: k.expm1(x), partials=("exp(x)",), sympy=lambda S, x: S.exp(x) - 1,
   latex="e^{{{x}}} - 1",
   says="exp(x) - 1, exact to the last digit even where exp(x) is nearly 1",
   made_of="where(abs(x) > 1, exp(x) - 1, where(exp(x) == 1, x, (exp(x) - 1)*x/log(exp(x))))",
   samples=((1.0,), (-2.0,), (0.3,)), edges=((0.0,), (1e-9,), (1e-300,), (-40.0,), (700.0,)), flops=15)

op("log", "x", called="log ln", value=lambda k, x: k.log(x), partials=("1/x",), sympy=lambda S, x: S.log(x),
   domain="x > 0", latex=r"\ln\left({x}\right)",
   says="the natural logarithm: the power of e that gives x",
   samples=((2.0,), (0.3,), (10.0,)), edges=((1.0,), (1.000000001,), (1e-300,), (1e300,)), flops=15)

op("log_base", "x b", called="log", value=lambda k, x, b: k.log_base(x, b),
   partials=("1/(x*log(b))", "-out/(b*log(b))"), sympy=lambda S, x, b: S.log(x) / S.log(b),
   domain="x > 0 and b > 0 and b != 1", latex=r"\log_{{{b}}}\left({x}\right)",
   says="the power of b that gives x",
   made_of="log(x)/log(b)",
   samples=((8.0, 2.0), (0.3, 10.0), (5.0, 0.5), (7.0, 3.0)),
   edges=((1.0, 3.0), (1e300, 10.0), (1e-300, 1.5)), flops=30)

op("log2", "x", value=lambda k, x: k.log2(x), partials=("1/(x*log(2))",), sympy=lambda S, x: S.log(x) / S.log(2),
   domain="x > 0", latex=r"\log_{{2}}\left({x}\right)",
   says="how often 1 must be doubled to give x",
   made_of="log(x)/log(2)",
   samples=((8.0,), (0.3,), (10.0,)), edges=((1.0,), (1e-300,), (1e300,)), flops=15)

op("log10", "x", value=lambda k, x: k.log10(x), partials=("1/(x*log(10))",), sympy=lambda S, x: S.log(x) / S.log(10),
   domain="x > 0", latex=r"\log_{{10}}\left({x}\right)",
   says="the power of 10 that gives x",
   made_of="log(x)/log(10)",
   samples=((1000.0,), (0.3,), (20.0,)), edges=((1.0,), (1e-300,), (1e300,)), flops=15)

op("log1p", "x", value=lambda k, x: k.log1p(x), partials=("1/(1 + x)",), sympy=lambda S, x: S.log(1 + x),
   domain="x > -1", latex=r"\ln\left(1 + {x}\right)",
   says="log(1 + x), exact to the last digit even where x is tiny",
   made_of="where(1 + x == 1, x, log(1 + x)*x/(1 + x - 1))",
   samples=((2.0,), (-0.3,), (0.1,)), edges=((0.0,), (1e-9,), (1e-300,), (-0.999999999,), (1e300,)), flops=15)

op("sqrt", "x", value=lambda k, x: k.sqrt(x), partials=("1/(2*out)",), sympy=lambda S, x: S.sqrt(x), domain="x >= 0",
   latex=r"\sqrt{{{x}}}",
   says="the number whose square is x; at 0 it rises vertically",
   samples=((4.0,), (2.0,), (0.09,)), edges=((1e-300,), (1e300,), (1e-9,)), flops=5)

op("cbrt", "x", value=lambda k, x: k.cbrt(x), partials=("1/(3*out^2)",),
   sympy=lambda S, x: S.Piecewise((x ** S.Rational(1, 3), x >= 0), (-((-x) ** S.Rational(1, 3)), True)),
   latex=r"\sqrt[3]{{{x}}}",
   says="the number whose cube is x; it has the sign of x and rises vertically at 0",
   made_of="where(x < 0, -((-x)^(1/3)), x^(1/3))",
   samples=((8.0,), (-2.0,), (0.3,)), edges=((1e-300,), (1e300,), (-1e-9,)), flops=20)

op("sigmoid", "x", called="sigmoid logistic", value=lambda k, x: k.sigmoid(x), partials=("out*(1 - out)",),
   stable=("out*sigmoid(-x)",), sympy=lambda S, x: 1 / (1 + S.exp(-x)), latex=r"\sigma\left({x}\right)",
   says="squeezes every number between 0 and 1",
   remarks=(Remark("saturated", "out*(1 - out) < 0.001",
                   "{node} is saturated: sigmoid is so flat at {x} that hardly any gradient passes",
                   "units of {node} are saturated{which}; sigmoid is so flat there that hardly any gradient passes"),),
   made_of="where(x >= 0, 1/(1 + exp(-abs(x))), exp(-abs(x))/(1 + exp(-abs(x))))",
   samples=((0.5,), (-1.3,), (3.0,)), edges=((0.0,), (1e-9,), (40.0,), (-40.0,), (700.0,), (-700.0,)), flops=20)

op("softplus", "x", value=lambda k, x: k.softplus(x), partials=("sigmoid(x)",), sympy=lambda S, x: S.log(1 + S.exp(x)),
   says="log(1 + exp(x)): a relu with a rounded corner",
   made_of="max(x, 0) + log1p(exp(-abs(x)))",
   samples=((0.5,), (-1.3,), (3.0,)), edges=((0.0,), (1e-9,), (40.0,), (-40.0,), (700.0,), (-700.0,)), flops=35)

op("silu", "x", called="silu swish", value=lambda k, x: k.silu(x),
   partials=("sigmoid(x)*(1 + x*(1 - sigmoid(x)))",), stable=("sigmoid(x)*(1 + x*sigmoid(-x))",),
   sympy=lambda S, x: x / (1 + S.exp(-x)),
   says="x*sigmoid(x): a smooth relu that dips below 0",
   made_of="x*sigmoid(x)",
   samples=((0.5,), (-1.3,), (3.0,)),
   edges=((0.0,), (1e-9,), (40.0,), (-40.0,), (700.0,), (-700.0,), (-750.0,)), flops=25)

op("logaddexp", "x y", value=lambda k, x, y: k.logaddexp(x, y), partials=("exp(x - out)", "exp(y - out)"),
   stable=("sigmoid(x - y)", "sigmoid(y - x)"), sympy=lambda S, x, y: S.log(S.exp(x) + S.exp(y)),
   says="log(exp(x) + exp(y)): a smooth maximum of two",
   made_of="max(x, y) + log1p(exp(-abs(x - y)))",
   samples=((0.5, 1.5), (-1.3, 2.0), (3.0, 3.0)),
   edges=((0.0, 0.0), (40.0, 0.0), (700.0, 701.0), (-700.0, -702.0), (700.0, -30.0)), flops=40)

op("xlogy", "x y", value=lambda k, x, y: k.xlogy(x, y), partials=("log(y)", "x/y"),
   stable=(None, "where(x == 0, 0, x/y)"),
   sympy=lambda S, x, y: x * S.log(y), domain="y > 0 or x == 0 and y == 0", latex=r"{x} \ln\left({y}\right)",
   says="x*log(y), and 0 when both are 0: a term of an entropy",
   made_of="where(x == 0 and y >= 0, 0, x*log(y))",
   samples=((0.5, 1.5), (-1.3, 2.0), (3.0, 0.2)), edges=((0.0, 2.0), (1e-300, 1e-300), (1e8, 1e300)), flops=16)

"""Special functions: the error function and the gamma function with its relatives."""

from __future__ import annotations

from backprop.ops import op

op("erf", "x", value=lambda k, x: k.erf(x), partials=("2*exp(-x^2)/sqrt(pi)",), sympy=lambda S, x: S.erf(x),
   says="the error function: how much of a bell curve lies between -x and x",
   samples=((0.5,), (-1.2,), (2.0,)), edges=((0.0,), (1e-300,), (5.0,), (-20.0,)), flops=30)

op("erfc", "x", value=lambda k, x: k.erfc(x), partials=("-2*exp(-x^2)/sqrt(pi)",), sympy=lambda S, x: S.erfc(x),
   says="1 - erf(x), exact to the last digit even where erf(x) is nearly 1",
   samples=((0.5,), (-1.2,), (2.0,)), edges=((0.0,), (1e-300,), (5.0,), (20.0,), (-20.0,)), flops=30)

op("gamma", "x", value=lambda k, x: k.gamma(x), partials=("out*digamma(x)",), sympy=lambda S, x: S.gamma(x),
   domain="x > 0 or x != floor(x)", latex=r"\Gamma\left({x}\right)",
   says="the factorial of x - 1, between the integers too",
   samples=((4.0,), (2.5,), (0.3,), (-1.5,)), edges=((1e-9,), (100.25,), (171.0,), (-50.5,)), flops=50)

op("lgamma", "x", called="lgamma gammaln", value=lambda k, x: k.lgamma(x), partials=("digamma(x)",),
   sympy=lambda S, x: S.log(S.gamma(x) ** 2) / 2, domain="x > 0 or x != floor(x)",
   latex=r"\ln\left|\Gamma\left({x}\right)\right|",
   says="log(abs(gamma(x))), which is still small where gamma(x) is huge",
   samples=((4.0,), (2.5,), (0.3,), (-1.5,)), edges=((1e-9,), (1.0,), (2.000000001,), (1e8,), (-50.5,)), flops=50)

op("digamma", "x", called="digamma psi", value=lambda k, x: k.digamma(x), partials=("polygamma(1, x)",),
   sympy=lambda S, x: S.digamma(x), domain="x > 0 or x != floor(x)", latex=r"\psi\left({x}\right)",
   says="the slope of log(gamma(x))",
   samples=((4.0,), (2.5,), (0.3,), (-1.4,)), edges=((1e-9,), (1e8,), (-50.4,)), flops=50)

op("polygamma", "n x", value=lambda k, n, x: k.polygamma(n, x), partials=(None, "polygamma(n + 1, x)"),
   sympy=lambda S, n, x: S.polygamma(n, x),
   domain="n >= 0 and n == floor(n) and (x > 0 or x != floor(x))", latex=r"\psi^{{({n})}}\left({x}\right)",
   says="the n-th derivative of digamma; the order n is a whole number and does not move",
   samples=((1.0, 4.0), (0.0, 2.5), (2.0, 0.3), (1.0, -1.4)), edges=((1.0, 1e-9), (3.0, 1e8), (2.0, -50.4)), flops=50)

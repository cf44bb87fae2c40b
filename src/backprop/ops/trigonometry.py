"""Trigonometric and hyperbolic functions, and their inverses. Angles are in radians."""

from __future__ import annotations

from backprop.ops import Remark, op

op("sin", "x", value=lambda k, x: k.sin(x), partials=("cos(x)",), sympy=lambda S, x: S.sin(x),
   latex=r"\sin\left({x}\right)", says="height of a point that has gone the angle x round the unit circle",
   samples=((0.5,), (-2.0,), (4.0,)), edges=((0.0,), (1e-300,), (40.0,), (1e8,)), flops=15)

op("cos", "x", value=lambda k, x: k.cos(x), partials=("-sin(x)",), sympy=lambda S, x: S.cos(x),
   latex=r"\cos\left({x}\right)",
   says="how far to the right a point is that has gone the angle x round the unit circle",
   samples=((0.5,), (-2.0,), (4.0,)), edges=((0.0,), (1e-300,), (40.0,), (1e8,)), flops=15)

op("tan", "x", value=lambda k, x: k.tan(x), partials=("1 + out^2",), sympy=lambda S, x: S.tan(x),
   domain="cos(x) != 0", latex=r"\tan\left({x}\right)", says="sin(x)/cos(x): the slope of a line at the angle x",
   samples=((0.5,), (-2.0,), (4.0,)), edges=((0.0,), (1e-300,), (1.5707963267948966,), (1e8,)), flops=20)

op("sec", "x", value=lambda k, x: k.sec(x), partials=("out*tan(x)",), sympy=lambda S, x: S.sec(x),
   domain="cos(x) != 0", latex=r"\sec\left({x}\right)", says="1/cos(x)",
   made_of="1/cos(x)",
   samples=((0.5,), (-2.0,), (4.0,)), edges=((0.0,), (1e-300,), (1.5707963267948966,), (1e8,)), flops=20)

op("csc", "x", value=lambda k, x: k.csc(x), partials=("-out*cot(x)",), sympy=lambda S, x: S.csc(x),
   domain="sin(x) != 0", latex=r"\csc\left({x}\right)", says="1/sin(x)",
   made_of="1/sin(x)",
   samples=((0.5,), (-2.0,), (4.0,)), edges=((1e-100,), (3.141592653589793,), (1e8,)), flops=20)

op("cot", "x", value=lambda k, x: k.cot(x), partials=("-(1 + out^2)",), sympy=lambda S, x: S.cot(x),
   domain="sin(x) != 0", latex=r"\cot\left({x}\right)", says="cos(x)/sin(x)",
   made_of="1/tan(x)",
   samples=((0.5,), (-2.0,), (4.0,)), edges=((1e-100,), (3.141592653589793,), (1e8,)), flops=20)

op("asin", "x", called="asin arcsin", value=lambda k, x: k.asin(x), partials=("1/sqrt(1 - x^2)",),
   stable=("1/sqrt((1 - x)*(1 + x))",), sympy=lambda S, x: S.asin(x), domain="-1 <= x and x <= 1",
   latex=r"\arcsin\left({x}\right)",
   says="the angle from -pi/2 to pi/2 whose sine is x; at -1 and 1 it rises vertically",
   samples=((0.5,), (-0.3,), (0.9,)), edges=((0.0,), (1e-300,), (0.9999999999,), (-0.9999999999,)), flops=25)

op("acos", "x", called="acos arccos", value=lambda k, x: k.acos(x), partials=("-1/sqrt(1 - x^2)",),
   stable=("-1/sqrt((1 - x)*(1 + x))",), sympy=lambda S, x: S.acos(x), domain="-1 <= x and x <= 1",
   latex=r"\arccos\left({x}\right)", says="the angle from 0 to pi whose cosine is x; at -1 and 1 it falls vertically",
   samples=((0.5,), (-0.3,), (0.9,)), edges=((0.0,), (1e-300,), (0.9999999999,), (-0.9999999999,)), flops=25)

op("atan", "x", called="atan arctan", value=lambda k, x: k.atan(x), partials=("1/(1 + x^2)",),
   sympy=lambda S, x: S.atan(x), latex=r"\arctan\left({x}\right)",
   says="the angle from -pi/2 to pi/2 whose tangent is x",
   samples=((0.5,), (-2.0,), (4.0,)), edges=((0.0,), (1e-300,), (-1e8,), (1e150,)), flops=20)

op("asec", "x", called="asec arcsec", value=lambda k, x: k.asec(x), partials=("1/(abs(x)*sqrt(x^2 - 1))",),
   stable=("1/(abs(x)*(sqrt(abs(x) - 1)*sqrt(abs(x) + 1)))",), sympy=lambda S, x: S.asec(x), domain="abs(x) >= 1",
   says="acos(1/x): the angle from 0 to pi whose secant is x",
   made_of="where(x > 0, 0, pi) + where(x > 0, 1, -1)*atan(sqrt(abs(x) - 1)*sqrt(abs(x) + 1))",
   samples=((1.5,), (-2.0,), (4.0,)), edges=((1.0000000001,), (-1.0000000001,), (1e8,), (-1e100,)), flops=35)

op("acsc", "x", called="acsc arccsc", value=lambda k, x: k.acsc(x), partials=("-1/(abs(x)*sqrt(x^2 - 1))",),
   stable=("-1/(abs(x)*(sqrt(abs(x) - 1)*sqrt(abs(x) + 1)))",), sympy=lambda S, x: S.acsc(x), domain="abs(x) >= 1",
   says="asin(1/x): the angle from -pi/2 to pi/2 whose cosecant is x",
   made_of="where(x > 0, 1, -1)*atan2(1, sqrt(abs(x) - 1)*sqrt(abs(x) + 1))",
   samples=((1.5,), (-2.0,), (4.0,)), edges=((1.0000000001,), (-1.0000000001,), (1e8,), (-1e100,)), flops=35)

op("acot", "x", called="acot arccot", value=lambda k, x: k.acot(x), partials=("-1/(1 + x^2)",),
   sympy=lambda S, x: S.atan(1 / x), domain="x != 0",
   says="atan(1/x), which jumps from -pi/2 to pi/2 at 0 (some books take pi/2 - atan(x) instead)",
   made_of="atan(1/x)",
   samples=((0.5,), (-2.0,), (4.0,)), edges=((1e-300,), (-1e8,), (1e150,)), flops=25)

op("atan2", "y x", called="atan2 arctan2", value=lambda k, y, x: k.atan2(y, x),
   partials=("x/(x^2 + y^2)", "-y/(x^2 + y^2)"), stable=("x/hypot(x, y)/hypot(x, y)", "-y/hypot(x, y)/hypot(x, y)"),
   sympy=lambda S, y, x: S.atan2(y, x), domain="x != 0 or y != 0", kink="where(x < 0, y, 1)", jumps=True,
   latex=r"\operatorname{{atan2}}\left({y}, {x}\right)",
   says="the angle, from -pi to pi, at which the point (x, y) is seen from the origin; it jumps at y = 0 where x < 0",
   made_of="where(abs(y) <= abs(x), where(x > 0, 0, where(y >= 0, pi, -pi)) + atan(y/x), where(y > 0, pi/2, "
           "-pi/2) - atan(x/y))",
   samples=((1.0, 2.0), (1.0, -2.0), (-3.0, -0.5), (-3.0, 4.0)),
   edges=((1.0, 0.0), (0.0, 2.0), (1e-200, 1e-200), (1e200, -1e200), (1e-9, 1e8)), flops=25)

op("hypot", "x y", value=lambda k, x, y: k.hypot(x, y), partials=("x/out", "y/out"),
   # a convex function with slopes of every direction at the origin; the smallest of them is 0
   stable=("where(out == 0, 0, x/out)", "where(out == 0, 0, y/out)"),
   sympy=lambda S, x, y: S.sqrt(x**2 + y**2), kink="out", latex=r"\sqrt{{{x}^2 + {y}^2}}",
   says="the long side of a right-angled triangle; at (0, 0) the slope is taken as 0",
   made_of="where(x == 0 and y == 0, 0, max(abs(x), abs(y))*sqrt(1 + (min(abs(x), abs(y))/max(abs(x), abs(y)))^2))",
   samples=((3.0, 4.0), (-1.0, 2.0), (-0.3, -0.4)),
   edges=((0.0, 2.0), (1e200, 1e200), (1e-200, -1e-200), (1.0, 1e-9)), flops=10)

op("sinc", "x", value=lambda k, x: k.sinc(x), partials=("(cos(x) - out)/x",),
   stable=("-spherical_j1(x)",),  # near 0 the two terms cancel
   sympy=lambda S, x: S.sin(x) / x, says="sin(x)/x, and 1 at 0 where it is flat (not sin(pi*x)/(pi*x))",
   made_of="where(x == 0, 1, sin(x)/x)",
   samples=((0.5,), (-2.0,), (4.0,)), edges=((0.0,), (1e-9,), (1e-300,), (40.0,), (1e8,)), flops=20)

op("spherical_j1", "x", value=lambda k, x: k.spherical_j1(x), partials=("sinc(x) - 2*out/x",),
   stable=("where(x == 0, 1/3, sinc(x) - 2*out/x)",), sympy=lambda S, x: S.sin(x) / x**2 - S.cos(x) / x,
   latex=r"j_1\left({x}\right)", says="(sinc(x) - cos(x))/x, and 0 at 0: how fast sinc falls",
   made_of="where(abs(x) >= 1, (sin(x)/x - cos(x))/x, x*(1/3 - x^2*(1/30 - x^2*(1/840 - x^2*(1/45360 - "
           "x^2*(1/3991680 - x^2*(1/518918400 - x^2*(1/93405312000 - x^2*(1/22230464256000 - "
           "x^2/6758061133824000)))))))))",
   samples=((0.5,), (-2.0,), (4.0,)), edges=((0.0,), (1e-9,), (1e-200,), (40.0,), (1e8,)), flops=30)

op("sinh", "x", value=lambda k, x: k.sinh(x), partials=("cosh(x)",), sympy=lambda S, x: S.sinh(x),
   latex=r"\sinh\left({x}\right)", says="(exp(x) - exp(-x))/2",
   made_of="where(x < 0, -1, 1)*where(abs(x) > 20, exp(abs(x))/2, (expm1(abs(x)) + expm1(abs(x))/(1 + "
           "expm1(abs(x))))/2)",
   samples=((0.5,), (-2.0,), (4.0,)), edges=((0.0,), (1e-300,), (40.0,), (-700.0,)), flops=20)

op("cosh", "x", value=lambda k, x: k.cosh(x), partials=("sinh(x)",), sympy=lambda S, x: S.cosh(x),
   latex=r"\cosh\left({x}\right)", says="(exp(x) + exp(-x))/2: the shape of a hanging chain",
   made_of="(exp(x) + exp(-x))/2",
   samples=((0.5,), (-2.0,), (4.0,)), edges=((0.0,), (1e-300,), (40.0,), (-700.0,)), flops=20)

op("tanh", "x", value=lambda k, x: k.tanh(x), partials=("1 - out^2",), stable=("sech(x)^2",),
   sympy=lambda S, x: S.tanh(x), latex=r"\tanh\left({x}\right)", says="flattens towards -1 and 1",
   remarks=(Remark("saturated", "1 - out^2 < 0.001",
                   "{node} is saturated: tanh is so flat at {x} that hardly any gradient passes",
                   "units of {node} are saturated{which}; tanh is so flat there that hardly any gradient passes"),),
   made_of="where(x < 0, 1, -1)*expm1(-2*abs(x))/(2 + expm1(-2*abs(x)))",
   samples=((0.5,), (1.4,), (-0.2,)), edges=((0.0,), (1e-300,), (20.0,), (-40.0,), (300.0,)), flops=20)

op("sech", "x", value=lambda k, x: k.sech(x), partials=("-out*tanh(x)",), sympy=lambda S, x: S.sech(x),
   says="1/cosh(x)",
   made_of="2*exp(-abs(x))/(1 + exp(-abs(x))^2)",
   samples=((0.5,), (-2.0,), (4.0,)), edges=((0.0,), (1e-300,), (20.0,), (-700.0,)), flops=20)

op("csch", "x", value=lambda k, x: k.csch(x), partials=("-out*coth(x)",), sympy=lambda S, x: S.csch(x),
   domain="x != 0", says="1/sinh(x)",
   made_of="where(abs(x) > 20, where(x > 0, 1, -1)*2*exp(-abs(x))/(1 - exp(-abs(x))^2), 1/sinh(x))",
   samples=((0.5,), (-2.0,), (4.0,)), edges=((1e-100,), (20.0,), (-700.0,)), flops=20)

op("coth", "x", value=lambda k, x: k.coth(x), partials=("1 - out^2",), stable=("-csch(x)^2",),
   sympy=lambda S, x: S.coth(x), domain="x != 0", latex=r"\coth\left({x}\right)", says="1/tanh(x)",
   made_of="1/tanh(x)",
   samples=((0.5,), (-2.0,), (4.0,)), edges=((1e-100,), (20.0,), (-300.0,)), flops=20)

op("asinh", "x", called="asinh arsinh arcsinh", value=lambda k, x: k.asinh(x), partials=("1/sqrt(x^2 + 1)",),
   stable=("1/hypot(x, 1)",), sympy=lambda S, x: S.asinh(x), says="the number whose sinh is x",
   made_of="where(x < 0, -1, 1)*where(abs(x) > 1e8, log(abs(x)) + log(2), log1p(abs(x) + x^2/(1 + sqrt(1 + x^2))))",
   samples=((0.5,), (-2.0,), (4.0,)), edges=((0.0,), (1e-300,), (-1e8,), (1e200,)), flops=25)

op("acosh", "x", called="acosh arcosh arccosh", value=lambda k, x: k.acosh(x), partials=("1/sqrt(x^2 - 1)",),
   stable=("1/(sqrt(x - 1)*sqrt(x + 1))",), sympy=lambda S, x: S.acosh(x), domain="x >= 1",
   says="the number from 0 upwards whose cosh is x; at 1 it rises vertically",
   made_of="where(x > 1e8, log(x) + log(2), log1p(x - 1 + sqrt(x - 1)*sqrt(x + 1)))",
   samples=((1.5,), (2.0,), (4.0,)), edges=((1.0000000001,), (1e8,), (1e200,)), flops=25)

op("atanh", "x", called="atanh artanh arctanh", value=lambda k, x: k.atanh(x), partials=("1/(1 - x^2)",),
   stable=("1/((1 - x)*(1 + x))",), sympy=lambda S, x: S.atanh(x), domain="-1 < x and x < 1",
   says="the number whose tanh is x",
   made_of="where(x < 0, -1, 1)*log1p(2*abs(x)/(1 - abs(x)))/2",
   samples=((0.5,), (-0.3,), (0.9,)), edges=((0.0,), (1e-300,), (0.9999999999,), (-0.9999999999,)), flops=25)

op("asech", "x", called="asech arsech arcsech", value=lambda k, x: k.asech(x), partials=("-1/(x*sqrt(1 - x^2))",),
   stable=("-1/(x*sqrt((1 - x)*(1 + x)))",), sympy=lambda S, x: S.asech(x), domain="0 < x and x <= 1",
   says="acosh(1/x): the number from 0 upwards whose sech is x; at 1 it falls vertically",
   made_of="where(2*x < 1, log1p(sqrt((1 - x)*(1 + x))) - log(x), atanh(sqrt((1 - x)*(1 + x))))",
   samples=((0.5,), (0.3,), (0.9,)), edges=((1e-300,), (0.9999999999,)), flops=35)

op("acsch", "x", called="acsch arcsch arccsch", value=lambda k, x: k.acsch(x),
   partials=("-1/(abs(x)*sqrt(1 + x^2))",), stable=("-1/(abs(x)*hypot(1, x))",), sympy=lambda S, x: S.asinh(1 / x),
   domain="x != 0", says="asinh(1/x): the number whose csch is x",
   made_of="where(abs(x) < 1e-150, where(x > 0, 1, -1)*(log(2) - log(abs(x))), asinh(1/x))",
   samples=((0.5,), (-2.0,), (4.0,)), edges=((1e-200,), (-1e8,), (1e100,)), flops=30)

op("acoth", "x", called="acoth arcoth arccoth", value=lambda k, x: k.acoth(x), partials=("1/(1 - x^2)",),
   stable=("1/((1 - x)*(1 + x))",), sympy=lambda S, x: S.acoth(x), domain="abs(x) > 1",
   says="atanh(1/x): the number whose coth is x",
   made_of="where(x > 0, 1, -1)*log1p(2/(abs(x) - 1))/2",
   samples=((1.5,), (-2.0,), (4.0,)), edges=((1.0000000001,), (-1.0000000001,), (1e8,), (-1e100,)), flops=30)

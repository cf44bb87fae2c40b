"""The singular points that everybody asks about, with what paper says of them: holes, corners, jumps, ties, joints."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

import backprop
from backprop.record import Limits
from backprop.render.look import Look
from backprop.render.verdicts import verdict

INF = math.inf
Inputs = dict[str, Any]

CLOSED: list[tuple[str, Inputs, float, Inputs, str | None]] = [
    ("(1-cos(x))/x^2", {"x": 0}, 0.5, {"x": 0}, None),
    ("(exp(x)-1)/x", {"x": 0}, 1, {"x": 0.5}, None),
    ("x/(exp(x)-1)", {"x": 0}, 1, {"x": -0.5}, None),
    ("tan(x)/x", {"x": 0}, 1, {"x": 0}, None),
    ("log(1+x)/x", {"x": 0}, 1, {"x": -0.5}, None),
    ("(x^2-1)/(x-1)", {"x": 1}, 2, {"x": 1}, None),
    ("(sqrt(1+x)-1)/x", {"x": 0}, 0.5, {"x": -1 / 8}, None),
    ("(1+x)^(1/x)", {"x": 0}, math.e, {"x": -math.e / 2}, None),
    ("x^2*sin(1/x)", {"x": 0}, 0, {"x": 0}, None),
    ("exp(-1/x^2)", {"x": 0}, 0, {"x": 0}, None),
    ("1/x-1/sin(x)", {"x": 0}, 0, {"x": -1 / 6}, None),
    ("x^2*log(x)", {"x": 0}, 0, {"x": 0}, "right"),
    ("x*log(abs(x))", {"x": 0}, 0, {"x": -INF}, None),
    ("(x-sin(x))/x^3", {"x": 0}, 1 / 6, {"x": 0}, None),
    ("(tan(x)-x)/x^3", {"x": 0}, 1 / 3, {"x": 0}, None),
    ("(exp(x)-1-x)/x^2", {"x": 0}, 0.5, {"x": 1 / 6}, None),
    ("(sqrt(x)-2)/(x-4)", {"x": 4}, 0.25, {"x": -1 / 64}, None),
    ("1/(exp(x)-1)-1/x", {"x": 0}, -0.5, {"x": 1 / 12}, None),
    ("sin(pi*x)/(x-1)", {"x": 1}, -math.pi, {"x": 0}, None),
    ("(x^10-1)/(x-1)", {"x": 1}, 10, {"x": 45}, None),
    ("log(x)/(x-1)", {"x": 1}, 1, {"x": -0.5}, None),
    ("asin(x)/x", {"x": 0}, 1, {"x": 0}, None),
    ("atan(x)/x", {"x": 0}, 1, {"x": 0}, None),
    ("sinh(x)/x", {"x": 0}, 1, {"x": 0}, None),
    ("(cosh(x)-1)/x^2", {"x": 0}, 0.5, {"x": 0}, None),
    ("(2^x-1)/x", {"x": 0}, 0.6931471805599453, {"x": 0.2402265069591007}, None),
    ("x^3/abs(x)", {"x": 0}, 0, {"x": 0}, None),
    ("1/x^2", {"x": 0}, INF, {}, None),
    ("-1/x^2", {"x": 0}, -INF, {}, None),
    ("x/sin(x)", {"x": 0}, 1, {"x": 0}, None),
    ("tan(x)/tan(3*x)", {"x": 0}, 1 / 3, {"x": 0}, None),
    ("sin(x)/sqrt(x)", {"x": 0}, 0, {"x": INF}, "right"),
    ("log(x)/x", {"x": 0}, -INF, {}, "right"),
    ("log(abs(x))*x^2", {"x": 0}, 0, {"x": 0}, None),
    ("x^2/x", {"x": 0}, 0, {"x": 1}, None),
    ("0/x", {"x": 0}, 0, {"x": 0}, None),
    ("(x-1)/(sqrt(x)-1)", {"x": 1}, 2, {"x": 0.5}, None),
    ("(x^(1/3)-1)/(x^(1/4)-1)", {"x": 1}, 4 / 3, {"x": 0.055555555555555504}, None),
    ("sin(x)^2/(1-cos(x))", {"x": 0}, 2, {"x": 0}, None),
    ("(x-1e300)/(x-1e300)", {"x": 1e300}, 1, {"x": 0}, None),
    ("(x-1e-300)/(x-1e-300)*x", {"x": 1e-300}, 1e-300, {"x": 1}, None),
    ("x*floor(1/x)", {"x": 0}, 1, {}, None),
    ("x^2*y^2/(x^2+y^2)", {"x": 0, "y": 0}, 0, {"x": 0, "y": 0}, None),
    ("sin(x*y)/(x*y)", {"x": 0, "y": 0}, 1, {"x": 0, "y": 0}, None),
    ("sin(x*y)/(x*y)", {"x": 0, "y": 3}, 1, {"x": 0, "y": 0}, None),
    ("(x^2-y^2)/(x-y)", {"x": 3, "y": 3}, 6, {"x": 1, "y": 1}, None),
    ("(x^3-y^3)/(x-y)", {"x": 2, "y": 2}, 12, {"x": 6, "y": 6}, None),
    ("(exp(x)-exp(y))/(x-y)", {"x": 1, "y": 1}, math.e, {"x": math.e / 2, "y": math.e / 2}, None),
    ("(log(x)-log(y))/(x-y)", {"x": 2, "y": 2}, 0.5, {"x": -1 / 8, "y": -1 / 8}, None),
    ("log(x^2+y^2)", {"x": 0, "y": 0}, -INF, {}, None),
    ("sin(x^2+y^2)/(x^2+y^2)", {"x": 0, "y": 0}, 1, {"x": 0, "y": 0}, None),
    ("exp(-1/(x^2+y^2))", {"x": 0, "y": 0}, 0, {"x": 0, "y": 0}, None),
    ("log(x^2 + y^2)", {"x": 0, "y": 0}, -INF, {}, None),
    ("exp(-1/(x^4 + 2*y^4))*y", {"x": 0, "y": 0}, 0, {"x": 0, "y": 0}, None),  # a peak on a circle is no pole
    ("(cos(pi*x) + 1)/(x - 1)^2", {"x": 1}, math.pi**2 / 2, {"x": 0}, None),
    ("sin(x - pi)/(x - pi)", {"x": math.pi}, 1, {"x": 0}, None),
    ("pi/x*x", {"x": 0}, math.pi, {"x": 0}, None),  # nothing but rounding is left of the slope
]

APART: list[tuple[str, Inputs, tuple[float, Inputs], tuple[float, Inputs]]] = [
    ("exp(-1/x)", {"x": 0}, (INF, {}), (0, {"x": 0})),
    ("x*atan(1/x)", {"x": 0}, (0, {"x": -math.pi / 2}), (0, {"x": math.pi / 2})),
    ("atan(1/x)", {"x": 0}, (-math.pi / 2, {"x": -1}), (math.pi / 2, {"x": -1})),
    ("x*tanh(1/x)", {"x": 0}, (0, {"x": -1}), (0, {"x": 1})),
    ("x/sqrt(x^2)", {"x": 0}, (-1, {"x": 0}), (1, {"x": 0})),
    ("sqrt(x^2)/x", {"x": 0}, (-1, {"x": 0}), (1, {"x": 0})),
    ("x/abs(x)", {"x": 0}, (-1, {"x": 0}), (1, {"x": 0})),
    ("x^2/abs(x)", {"x": 0}, (0, {"x": -1}), (0, {"x": 1})),
    ("1/x^3", {"x": 0}, (-INF, {}), (INF, {})),
    ("gamma(x)", {"x": 0}, (-INF, {}), (INF, {})),
    ("floor(x)/x", {"x": 0}, (INF, {}), (0, {"x": 0})),
    ("sin(x)/abs(x)", {"x": 0}, (-1, {"x": 0}), (1, {"x": 0})),
    ("(1-cos(x))/x^2 + abs(x)", {"x": 0}, (0.5, {"x": -1}), (0.5, {"x": 1})),
    ("x/x^2", {"x": 0}, (-INF, {}), (INF, {})),
    ("floor(x)*(1/x)*x", {"x": 0}, (-1, {"x": 0}), (0, {"x": 0})),
    ("1/log(abs(x))", {"x": 0}, (0, {"x": INF}), (0, {"x": -INF})),
    ("1/(x - pi)", {"x": math.pi}, (-INF, {}), (INF, {})),  # the double nearest to pi is given, and meant
]

WITHOUT: list[tuple[str, Inputs, str]] = [
    ("sin(1/x)", {"x": 0}, "the value oscillates"),
    ("x*sin(1/x)", {"x": 0}, "the slopes oscillate"),
    ("x*y/(x^2+y^2)", {"x": 0, "y": 0}, "the value depends on the direction"),
    ("x^2*y/(x^2+y^2)", {"x": 0, "y": 0}, "the slopes depend on the direction"),
    ("x^3/(x^2+y^2)", {"x": 0, "y": 0}, "the slopes depend on the direction"),
    ("atan2(y,x)", {"x": 0, "y": 0}, "the value depends on the direction"),
    ("x*y/sqrt(x^2+y^2)", {"x": 0, "y": 0}, "the slopes depend on the direction"),
    ("x^2*y/(x^4+y^2)", {"x": 0, "y": 0}, "the value depends on the direction"),
    ("(x-y)/abs(x-y)", {"x": 1, "y": 1}, "the value depends on the direction"),
    ("x^4*y^4/(x^2+y^4)^3", {"x": 0, "y": 0}, "the value depends on the direction"),
    ("sin(x)/y", {"x": 0, "y": 0}, "the value depends on the direction"),
    ("1/(x + y)", {"x": 0, "y": 0}, "the value depends on the direction"),  # both infinities
    ("x^2/(x - y)", {"x": 0, "y": 0}, "the value depends on the direction"),
]

# where there is a value: what sort of point it is, the slopes from left and right, and the gradient that answers
SINGULAR: list[tuple[str, Inputs, str | None, dict[str, tuple[Any, Any]], Inputs | None]] = [
    ("hypot(x,y)", {"x": 0, "y": 0}, "corner", {}, {"x": 0, "y": 0}),
    ("abs(x)+abs(y)", {"x": 0, "y": 0}, "corner", {"x": (-1, 1), "y": (-1, 1)}, {"x": 0, "y": 0}),
    ("max(x,y,z)", {"x": 1, "y": 1, "z": 1}, "corner", {}, {"x": 1 / 3, "y": 1 / 3, "z": 1 / 3}),
    ("max(abs(x),abs(y))", {"x": 0, "y": 0}, "corner", {}, {"x": 0, "y": 0}),
    ("sqrt(x^2+y^2) - sqrt(x^2+y^2)", {"x": 0, "y": 0}, "smooth", {}, {"x": 0, "y": 0}),
    ("sqrt(x^2+y^2) - hypot(x,y)", {"x": 0, "y": 0}, "smooth", {}, {"x": 0, "y": 0}),
    ("sqrt(x^2+y^2) - hypot(x,y)+x", {"x": 0, "y": 0}, "smooth", {}, {"x": 1, "y": 0}),
    ("abs(x)^(2/3)", {"x": 0}, "vertical", {"x": (-INF, INF)}, None),
    ("cbrt(x^2)", {"x": 0}, "vertical", {"x": (-INF, INF)}, None),
    ("cbrt(x)^2", {"x": 0}, "vertical", {"x": (-INF, INF)}, None),
    ("cbrt(x)^3", {"x": 0}, "smooth", {}, {"x": 1}),
    ("x^(2/3)", {"x": 0}, "vertical", {"x": (None, INF)}, None),
    ("x^1.5", {"x": 0}, "edge", {}, {"x": 0}),
    ("x^0.1", {"x": 0}, "vertical", {"x": (None, INF)}, None),
    ("abs(x)^1.5", {"x": 0}, "smooth", {}, {"x": 0}),
    ("abs(x)^0.99", {"x": 0}, "vertical", {"x": (-INF, INF)}, None),
    ("x^2.5", {"x": 0}, None, {}, {"x": 0}),
    ("sign(x)*x", {"x": 0}, "corner", {"x": (-1, 1)}, {"x": 0}),
    ("abs(x)*sign(x)", {"x": 0}, "smooth", {}, {"x": 1}),
    ("x*sign(x)*sign(x)", {"x": 0}, "smooth", {}, {"x": 1}),
    ("sign(x)^2", {"x": 0}, "jump", {}, None),
    ("sign(x)+sign(-x)", {"x": 0}, "smooth", {}, {"x": 0}),
    ("floor(x)+ceil(-x)", {"x": 2}, "smooth", {}, {"x": 0}),
    ("floor(x)", {"x": 3}, "jump", {"x": (0, 0)}, {"x": 0}),
    ("x-floor(x)", {"x": 3}, "jump", {"x": (1, 1)}, None),
    ("(x-floor(x))*(1-(x-floor(x)))", {"x": 3}, "corner", {"x": (-1, 1)}, None),
    ("x%1", {"x": 3}, "jump", {"x": (1, 1)}, None),
    ("x%2", {"x": 3}, None, {}, {"x": 1}),
    ("abs(x%2-1)", {"x": 2}, "corner", {"x": (1, -1)}, None),
    ("where(x<0,x^2,x^3)", {"x": 0}, "smooth", {}, {"x": 0}),
    ("where(x<0,x^2,x)", {"x": 0}, "corner", {"x": (0, 1)}, None),
    ("where(x<=0,x^2,x+1)", {"x": 0}, "jump", {"x": (0, 1)}, None),
    ("where(x==0,5,x)", {"x": 0}, "jump", {}, None),
    ("where(x==0,0,x)", {"x": 0}, "smooth", {}, {"x": 1}),
    ("where(x==0,1,sin(x)/x)", {"x": 0}, "smooth", {}, {"x": 0}),
    ("where(abs(x)<1e-8,1,sin(x)/x)", {"x": 0}, None, {}, {"x": 0}),
    ("where(x!=0,x^2*sin(1/x),0)", {"x": 0}, None, {}, {"x": 0}),
    ("where(x!=0,x*sin(1/x),0)", {"x": 0}, "none", {}, None),
    ("where(x!=0,exp(-1/x^2),0)", {"x": 0}, "smooth", {}, {"x": 0}),
    ("where(x>0,exp(-1/x),0)", {"x": 0}, "smooth", {}, {"x": 0}),
    ("where(x>0,sqrt(x),0)", {"x": 0}, "vertical", {"x": (0, INF)}, None),
    ("where(x>0,x*log(x),0)", {"x": 0}, "vertical", {"x": (0, -INF)}, None),
    ("where(x>0,x^2*log(x),0)", {"x": 0}, "smooth", {}, {"x": 0}),
    ("where(x>1,2*x-1,x^2)", {"x": 1}, "smooth", {}, {"x": 2}),
    ("where(x>0,1/x,0)", {"x": 0}, "vertical", {}, None),
    ("clip(clip(x,-1,1),0,2)", {"x": 0}, "corner", {"x": (0, 1)}, None),
    ("clip(clip(x,-1,1),-1,1)", {"x": 1}, "corner", {"x": (1, 0)}, None),
    ("clip(x,0,0)", {"x": 0}, "smooth", {}, {"x": 0}),
    ("max(x,-x)-abs(x)", {"x": 0}, "smooth", {}, {"x": 0}),
    ("max(x,2*x)", {"x": 0}, "corner", {"x": (1, 2)}, None),
    ("max(x,x^2)", {"x": 0}, "corner", {"x": (0, 1)}, None),
    ("max(x,x^2)", {"x": 1}, "corner", {"x": (1, 2)}, None),
    ("min(x^2,x^3)", {"x": 0}, "smooth", {}, {"x": 0}),
    ("max(x^2,2*x-1)", {"x": 1}, "smooth", {}, {"x": 2}),
    ("abs(abs(x)-1)", {"x": 0}, "corner", {"x": (1, -1)}, None),
    ("abs(abs(x)-1)", {"x": 1}, "corner", {"x": (-1, 1)}, None),
    ("relu(relu(x))", {"x": 0}, "corner", {"x": (0, 1)}, None),
    ("relu(x)+relu(-x)-abs(x)", {"x": 0}, "smooth", {}, {"x": 0}),
    ("relu(x)^2", {"x": 0}, "smooth", {}, {"x": 0}),
    ("relu(x)*x", {"x": 0}, "smooth", {}, {"x": 0}),
    ("sqrt(relu(x))", {"x": 0}, "vertical", {}, None),
    (
        "relu(w*x+b)",
        {"w": 1, "x": 1, "b": -1},
        "corner",
        {"w": (0, 1), "x": (0, 1), "b": (0, 1)},
        {"w": 0, "x": 0, "b": 0},
    ),
    ("relu(x)+relu(-y)", {"x": -1, "y": 1}, None, {}, {"x": 0, "y": 0}),
    ("where(abs(x)<=d,x^2/2,d*(abs(x)-d/2))", {"x": 1, "d": 1}, None, {}, {"x": 1, "d": 0}),
    ("where(abs(x)<=d,x^2/2,d*(abs(x)-d/2))", {"x": -1, "d": 1}, None, {}, {"x": -1, "d": 0}),
    ("where(abs(x)<1,x^2/2,abs(x)-1/2)", {"x": 1}, "smooth", {}, {"x": 1}),
    ("max(0,1-y*f)", {"y": 1, "f": 1}, "corner", {"f": (-1, 0), "y": (-1, 0)}, {"f": 0, "y": 0}),
    ("max(0,1-y*f)^2", {"y": 1, "f": 1}, "smooth", {}, {"f": 0, "y": 0}),
    ("max(q*(y-p),(q-1)*(y-p))", {"q": 0.3, "y": 1, "p": 1}, None, {"p": (-0.3, 0.7), "y": (-0.7, 0.3)}, None),
    ("where(x>=0,q*x,(q-1)*x)", {"x": 0, "q": 0.25}, None, {"x": (-0.75, 0.25)}, None),
    ("elu(x)", {"x": 0}, None, {}, {"x": 1}),
    ("where(x>0,x,exp(x)-1)", {"x": 0}, "smooth", {}, {"x": 1}),
    ("1.0507*where(x>0,x,1.67326*(exp(x)-1))", {"x": 0}, "corner", {"x": (1.7580942819999998, 1.0507)}, None),
    ("clip(x,-1,1)", {"x": 1}, None, {"x": (1, 0)}, None),
    ("clip(x/6+1/2,0,1)", {"x": 3}, None, {"x": (1 / 6, 0)}, None),
    ("clip(x/6+1/2,0,1)", {"x": -3}, None, {"x": (0, 1 / 6)}, None),
    ("x*clip(x/6+1/2,0,1)", {"x": -3}, None, {"x": (0, -0.5)}, None),
    ("x*clip(x/6+1/2,0,1)", {"x": 3}, None, {"x": (1.5, 1)}, None),
    ("leaky_relu(x,0.2)", {"x": 0}, None, {"x": (0.2, 1)}, None),
    ("leaky_relu(x,-1)", {"x": 0}, None, {"x": (-1, 1)}, None),
    (
        "m=max(a,b,c); m+log(exp(a-m)+exp(b-m)+exp(c-m))",
        {"a": 1, "b": 1, "c": 1},
        "smooth",
        {},
        {"a": 1 / 3, "b": 1 / 3, "c": 1 / 3},
    ),
    (
        "m=max(a,b,c); m+log(exp(a-m)+exp(b-m)+exp(c-m))",
        {"a": 1, "b": 1, "c": 0},
        "smooth",
        {},
        {"a": 0.4223187982515182, "b": 0.4223187982515182, "c": 0.15536240349696362},
    ),
    ("m=max(a,b); exp(a-m)/(exp(a-m)+exp(b-m))", {"a": 2, "b": 2}, "smooth", {}, {"a": 0.25, "b": -0.25}),
    ("max(x,0)+log1p(exp(-abs(x)))", {"x": 0}, "smooth", {}, {"x": 0.5}),
    ("max(x,0)-x*z+log1p(exp(-abs(x)))", {"x": 0, "z": 1}, "smooth", {}, {"x": -0.5, "z": 0}),
    ("max(a,b)-min(a,b)", {"a": 1, "b": 1}, "corner", {"a": (-1, 1), "b": (-1, 1)}, {"a": 0, "b": 0}),
    ("max(a,b)*min(a,b)", {"a": 2, "b": 2}, "smooth", {}, {"a": 2, "b": 2}),
    ("max(a,b)+min(a,b)", {"a": 2, "b": 2}, "smooth", {}, {"a": 1, "b": 1}),
    ("abs(a-b)+2*min(a,b)", {"a": 3, "b": 3}, "smooth", {}, {"a": 1, "b": 1}),
    ("abs(x-1e-300)", {"x": 1e-300}, "corner", {"x": (-1, 1)}, None),
    ("abs(x-1e300)", {"x": 1e300}, "corner", {"x": (-1, 1)}, None),
    ("abs(x-0.3)", {"x": 0.30000000000000004}, None, {}, {"x": 1}),
    ("max(x,0.1+0.2)", {"x": 0.3}, None, {}, {"x": 0}),
    ("max(x,1e-310)", {"x": 1e-310}, None, {"x": (0, 1)}, None),
    ("abs(x)", {"x": 1e-300}, None, {}, {"x": 1}),
    ("abs(x)", {"x": -5e-324}, None, {}, {"x": -1}),
    ("abs(x^2)", {"x": 1e-200}, None, {}, {"x": 2e-200}),
    ("sqrt(x*x)", {"x": 1e-200}, None, {}, {"x": 1}),
    ("relu(x-1e-320)", {"x": 1e-320}, None, {"x": (0, 1)}, None),
    ("abs(x)*1e300", {"x": 0}, None, {"x": (-1e300, 1e300)}, None),
    ("abs(x)*1e-300", {"x": 0}, None, {"x": (-1e-300, 1e-300)}, None),
    ("abs(x)*1e-300*1e300", {"x": 0}, None, {"x": (-1, 1)}, None),
    ("abs(x)/1e-300/1e300", {"x": 0}, None, {"x": (-1, 1)}, None),
    ("abs(1e-20*x)+abs(x)", {"x": 0}, None, {"x": (-1, 1)}, None),
    ("x+abs(x)*1e-20", {"x": 0}, None, {"x": (1, 1)}, None),
    ("x+abs(x)*1e-5", {"x": 0}, "corner", {"x": (0.99999, 1.00001)}, None),
    ("x+abs(x)*1e-7", {"x": 0}, "corner", {"x": (0.9999999, 1.0000001)}, None),
    ("x+abs(x)*1e-9", {"x": 0}, "corner", {"x": (0.999999999, 1.000000001)}, None),
    ("x+abs(x)*1e-40", {"x": 0}, None, {}, {"x": 1}),
    ("a=x^2; x=3; a*x", {"x": 0}, None, {}, {"x": 0}),
    ("y=abs(x); x=y+1; x*y", {"x": 0}, "corner", {"x": (-1, 1)}, None),
    ("relu(x)", {"x": INF}, None, {}, {"x": 1}),
    ("max(x,1)", {"x": INF}, None, {}, {"x": 1}),
    ("exp(-x)", {"x": INF}, None, {}, {"x": 0}),
    ("abs(x)", {"x": -INF}, None, {}, {"x": -1}),
    ("min(x,5)", {"x": INF}, None, {}, {"x": 0}),
    ("cos(sign(x))*x", {"x": 0}, "smooth", {"x": (math.cos(1), math.cos(1))}, {"x": math.cos(1)}),
    ("x + 1e-8*sqrt(abs(x*y))", {"x": 0, "y": 0}, "corner", {"x": (1, 1), "y": (0, 0)}, {}),
]


def same(found: Any, expected: Any) -> bool:
    if found is None or expected is None:
        return found is expected
    return bool(found == pytest.approx(expected, rel=1e-12, abs=0))


def is_told(found: Limits | None, value: float, slopes: Inputs) -> bool:
    assert found is not None
    assert found.gradient.keys() == slopes.keys()
    return same(found.value, value) and all(same(found.gradient[name], slopes[name]) for name in slopes)


@pytest.mark.parametrize(("program", "inputs", "value", "slopes", "side"), CLOSED)
def test_a_hole_has_the_limit_that_paper_gives(
    program: str, inputs: Inputs, value: float, slopes: Inputs, side: str | None
) -> None:
    trace = backprop.trace(program, inputs, check=False)
    assert (trace.value, trace.exit_code) == (None, 3)
    assert is_told(trace.limits, value, slopes)
    assert trace.limits is not None
    assert trace.limits.side == side


@pytest.mark.parametrize(("program", "inputs", "left", "right"), APART)
def test_a_hole_has_two_limits_where_the_sides_differ(
    program: str, inputs: Inputs, left: tuple[float, Inputs], right: tuple[float, Inputs]
) -> None:
    limits = backprop.trace(program, inputs, check=False).limits
    assert limits is not None
    assert is_told(limits.left, *left)
    assert is_told(limits.right, *right)


@pytest.mark.parametrize(("program", "inputs", "why"), WITHOUT)
def test_where_there_is_no_limit_it_is_said_why(program: str, inputs: Inputs, why: str) -> None:
    limits = backprop.trace(program, inputs, check=False).limits
    assert limits is not None
    assert limits.why == why


@pytest.mark.parametrize(("program", "inputs", "sort", "sides", "gradient"), SINGULAR)
def test_a_singular_point_is_what_paper_says_it_is(
    program: str, inputs: Inputs, sort: str | None, sides: dict[str, tuple[Any, Any]], gradient: Inputs | None
) -> None:
    trace = backprop.trace(program, inputs, check=False)
    told = {one.of: one for one in trace.one_sided}
    if sort is not None:
        assert {one.sort for one in told.values()} == {sort}
    for name, (left, right) in sides.items():
        assert same(told[name].left, left)
        assert same(told[name].right, right)
    if gradient is not None:
        assert trace.gradient.keys() == gradient.keys()
        assert all(same(trace.gradient[name], slope) for name, slope in gradient.items())


@pytest.mark.parametrize("kind", ["exact", "digits:17", "digits:30", "digits:50"])
@pytest.mark.parametrize(
    ("program", "x", "left", "right"),
    [
        ("abs(0.1 + 0.2 + 0.3 - x)", "0.6", -1, 1),
        ("max(x, 0.1 + 0.2)", "0.3", 0, 1),
        ("abs(x*x - 0.01)", "0.1", -0.2, 0.2),
        ("abs(1 - 3*x)", "1/3", -3, 3),
    ],
)
def test_a_tie_of_decimals_is_a_tie_in_kinds_that_read_decimals(
    kind: str, program: str, x: str, left: float, right: float
) -> None:
    (one,) = backprop.trace(program, {"x": x}, check=False, kind=kind).one_sided
    assert (one.sort, *(float(Fraction(str(end))) for end in (one.left, one.right))) == ("corner", left, right)


def test_norms_that_cancel_leave_a_gradient_in_many_digits_too() -> None:
    for kind in ("real", "digits:30", "exact"):
        trace = backprop.trace("sqrt(x^2 + y^2) - hypot(x, y) + x", {"x": 0, "y": 0}, check=False, kind=kind)
        assert [float(str(slope)) for slope in trace.gradient.values()] == [1, 0]


# -- the last line ------------------------------------------------------------------------------------------------


def last_line(program: str, inputs: Inputs, **options: Any) -> str:
    return verdict(backprop.trace(program, inputs, **options), Look())[0]


@pytest.mark.parametrize(
    ("program", "inputs", "line"),
    [
        ("sqrt(x*x)", {"x": 0}, "f = 0, 1 derivative: ∂f/∂x is taken as 0 at a kink (minimum norm)"),
        ("floor(x)", {"x": 2}, "f = 2, 1 derivative: ∂f/∂x is taken as 0 where the value jumps"),
        ("x^1.5", {"x": 0}, "f = 0, 1 derivative: ∂f/∂x is taken as 0 from the right, where alone there are values"),
        ("relu(x) - relu(-x)", {"x": 0}, "f = 0, 1 derivative, ∂f/∂x from values beside the point"),
        ("abs(x)^3", {"x": 0}, "f = 0, 1 derivative, every check agrees"),
        (
            "abs(x)*y",
            {"x": 0, "y": 3},
            "f = 0, 2 derivatives, 1 confirmed; ∂f/∂x is taken as 0 at a kink (minimum norm)",
        ),
        ("abs(x) + abs(y)", {"x": 0, "y": 0}, "f = 0, 2 derivatives: ∂f/∂x, ∂f/∂y are taken at a kink (minimum norm)"),
    ],
)
def test_the_last_line_says_of_each_derivative_whether_it_is_one(program: str, inputs: Inputs, line: str) -> None:
    assert last_line(program, inputs) == line


def test_the_last_line_names_the_convention_that_chose() -> None:
    assert last_line("abs(x)", {"x": 0}, convention="jax") == "f = 0, 1 derivative: at a kink, as jax takes it"
    notes = [note.text for note in backprop.trace("abs(x)", {"x": 0}, convention="jax", check=False).notes]
    assert notes[0].endswith("any number between is a subgradient, and the one of jax is taken")


@pytest.mark.parametrize("convention", ["mean", "left", "right", "nan"])
def test_an_operation_keeps_its_own_choice_where_the_whole_takes_another(convention: str) -> None:
    texts = [note.text for note in backprop.trace("abs(x)*y", {"x": 0, "y": 3}, convention=convention).notes]
    assert "∂v1/∂x is taken as 0" in texts[0]
    assert texts[0].endswith("the one of minimum norm is taken")

"""The JSON Schema (draft 2020-12) of a trace, a Hessian, a check or a cost in JSON, which `backprop schema` prints."""

from __future__ import annotations

from typing import Any

from backprop.record import FORMAT, VERSION

_TEXT: dict[str, Any] = {"type": "string"}
_NAMES: dict[str, Any] = {"type": "array", "items": _TEXT}
_PLACE: dict[str, Any] = {"type": "integer", "minimum": 0}
_PAIR: dict[str, Any] = {"type": "array", "items": _PLACE, "minItems": 2, "maxItems": 2}
_VALUE: dict[str, Any] = {"$ref": "#/$defs/value"}
_SIZES: dict[str, Any] = {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 1}
_DEFINED = {
    "description": "a number; text where JSON has none: NaN, Infinity, -Infinity, a fraction, many digits, a formula; "
    "a ball, which holds the true number, by its middle and its radius; an array as nested lists of these, row by row, "
    "with null for an element that has no value; with --brief a large one by its shape, its norm, its least and "
    "greatest element, and how many elements are undefined or NaN",
    "type": ["number", "string", "boolean", "object", "array"],
    "items": {"anyOf": [{"type": "null"}, _VALUE]},
    "minItems": 1,
    "properties": {"mid": _TEXT, "rad": _TEXT, "shape": _SIZES}
    | dict.fromkeys(("norm", "min", "max"), _VALUE)
    | dict.fromkeys(("undefined", "NaN"), _PLACE),
    "anyOf": [{"required": ["mid", "rad"]}, {"required": ["shape"]}],
    "additionalProperties": False,
}


def schema() -> dict[str, Any]:
    """The schema: every field with its meaning; a field that it does not name is refused.

    >>> schema()["properties"]["version"]
    {'const': 1}
    """
    record = _record(
        "a program at a point: values, derivatives and how they were worked out, in NetworkX node-link shape",
        required={
            "format": {"const": FORMAT},
            "version": {"const": VERSION},
            "program": _said(_TEXT, "the program as typed; spans count its characters"),
            "canonical": _said(_TEXT, "the program as it was read, with its signs written out"),
            "kind": _said(_TEXT, 'the kind of value: "real" is double precision, "exact" fractions, "symbol" formulas'),
            "mode": {"enum": ["reverse", "forward"]},
            "inputs": _map(_VALUE, "the number each input has"),
            "output": _said(_TEXT, "the id of the node that is the result"),
            "wrt": _said(_NAMES, "the names whose derivatives were asked for"),
            "gradient": _map(_VALUE, "d output / d name; a name is absent where its derivative has no value"),
            "directed": {"const": True},
            "multigraph": {"const": True},
            "graph": {"type": "object"},
            "nodes": _list(_node(), "in topological order"),
            "edges": _list(_edge(), "one for each operand of each operation, so x*x has two"),
            "steps": _list(_step(), "the lines of working, in the order in which they are done"),
            "witnesses": _list(_witness(), "what independent ways say of the derivatives"),
            "notes": _list(_note(), "what a reader should know"),
        },
        optional={
            "params": _said(_NAMES, "the inputs that are trainable"),
            "value": _said(_VALUE, "the value of the output; absent where it has none"),
            "undefined": _said(
                {"const": "propagate"}, "present where infinities and NaN are values, as on a plain tape"
            ),
            "convention": _said(_TEXT, "whose choice at kinks; absent for the smallest subgradient"),
            "one_sided": _list(_one_sided(), "the slopes on both sides, where the rules alone cannot tell them"),
            "limits": _limits(),
            "birth": _birth(),
            "opened": _said(_NAMES, "the array nodes opened into single numbers; all of them when it is empty"),
            "mended": _said(_NAMES, "the answers that doubles had lost: the output, names of wrt"),
            "formulas": _map(_TEXT, "the gradient as formulas of the inputs, where short enough to be read"),
        },
    )
    return _titled(FORMAT, record)


def hessian_schema() -> dict[str, Any]:
    """The schema of what `backprop hessian --format json` prints.

    >>> hessian_schema()["properties"]["format"]
    {'const': 'backprop-hessian'}
    """
    rows = _map(_VALUE, "d² output / d row d name; a name is absent where that has no value")
    record = _record(
        "the second derivatives of a program at a point",
        required={
            "format": {"const": "backprop-hessian"},
            "version": {"const": 1},
            "program": _said(_TEXT, "the program as typed"),
            "canonical": _said(_TEXT, "the program as it was read, with its signs written out"),
            "kind": _said(_TEXT, "the kind of value"),
            "inputs": _map(_VALUE, "the number each input has"),
            "output": _said(_TEXT, "the id of the node that is the result"),
            "wrt": _said(_NAMES, "the names by which it is differentiated"),
            "gradient": _map(_VALUE, "d output / d name; a name is absent where its derivative has no value"),
            "hessian": _map(rows, "a row for each name of wrt; symmetric"),
            "witnesses": _list(_witness(), 'what independent ways say; "of" is a pair of names, "x,y", or "all"'),
            "notes": _list(_note(), 'what a reader should know; "node" is a pair of names or the id of a node'),
        },
        optional={
            "value": _said(_VALUE, "the value of the output; absent where it has none"),
            "shapes": _map(
                {"type": "array", "items": _PLACE},
                "of a program with arrays: the shape of each name; a derivative has the shapes of both names then, and "
                "pairs are of elements, W[0,1]",
            ),
            "formulas": _map(_TEXT, "by pair of names: the second derivative as a formula, where it is short"),
            "sides": _map(
                _map(_VALUE, "the limit by where it was taken"),
                "by pair of names: the limits of a second derivative that does not exist because they differ",
            ),
        },
    )
    return _titled("backprop-hessian", record)


def grad_schema() -> dict[str, Any]:
    """The schema of what `backprop grad --format json` prints.

    >>> sorted(grad_schema()["properties"])[:3]
    ['gradient', 'hessian', 'hvp']
    """
    slopes = _map(_VALUE, "by name; a name is absent, an element null, where there is no value")
    sizes = {"type": "array", "items": _PLACE}
    block = _record(
        "the derivatives of every element of the output by every element of an input",
        required={
            "shape": _said(sizes, "the shape of the output, then that of the input"),
            "values": _said(_VALUE, "nested lists of that shape"),
        },
        optional={},
    )
    passes = {"forward": _said(_PLACE, "as many forward passes"), "reverse": _said(_PLACE, "as many reverse passes")}
    direction = _map(_VALUE, "the direction by names, each part in the shape of its name")
    pattern = _record(
        "where a matrix of derivatives may have numbers other than 0, whatever the numbers at the point are",
        required={
            "of": {"enum": ["jacobian", "hessian"]},
            "shape": _said(sizes, "how many rows and columns it has, an element of an array each"),
            "nonzeros": _PLACE,
            "rows": _list(sizes, "the columns of each row, from 0"),
            "passes": _record("what it takes when those that do not touch share a pass", required=passes, optional={}),
        },
        optional={},
    )
    series = _record(
        "the Taylor series along a line",
        required={
            "direction": direction,
            "coefficients": _list(_VALUE, "of t^0, t^1, ..."),
            "derivatives": _list(_VALUE, "the coefficients times k!"),
        },
        optional={},
    )
    record = _record(
        "the value and the gradient of a program at a point, and what was asked besides",
        required={},
        optional={
            "value": _said(_VALUE, "absent where patterns alone were asked for"),
            "gradient": _said(slopes, "d output / d name; absent where the output is an array"),
            "jvp": _record(
                "the derivative along a direction, in the shape of the output",
                required={"direction": direction, "value": _VALUE},
                optional={},
            ),
            "vjp": _record(
                "what is pulled back from the output",
                required={"seed": _said(_VALUE, "in the shape of the output"), "gradient": slopes},
                optional={},
            ),
            "hvp": _record(
                "how the gradient moves along a direction",
                required={"direction": direction, "product": slopes},
                optional={},
            ),
            "hessian": _map(slopes, "a row for each name; between arrays the shape of the one, then of the other"),
            "jacobian": _map(block, "by name"),
            "passes": _record(
                "how the Jacobian was worked out, and what each mode takes",
                required={"mode": {"enum": ["forward", "reverse"]}, **passes},
                optional={},
            ),
            "witnesses": _list(_witness(), "what independent ways say of the Jacobian"),
            "sparsity": _list(pattern, "one for each matrix asked for"),
            "taylor": series,
            "notes": _list(_note(), "what a reader should know"),
        },
    )
    return _titled("backprop-grad", record)


def check_schema() -> dict[str, Any]:
    """The schema of what `backprop check --format json` prints.

    >>> check_schema()["properties"]["format"]
    {'const': 'backprop-check'}
    """
    number = _said(_VALUE, "absent where there is none")
    record = _record(
        "what independent ways say of the derivatives of a program at a point, and of answers that others give",
        required={
            "format": {"const": "backprop-check"},
            "version": {"const": 1},
            "program": _said(_TEXT, "the program as typed"),
            "canonical": _said(_TEXT, "the program as it was read, with its signs written out"),
            "inputs": _map(_VALUE, "the number each input has; empty where claims are judged without a point"),
            "output": _said(_TEXT, "the id of the node that is the result"),
            "wrt": _said(_NAMES, "the names by which it is differentiated"),
            "gradient": _map(_VALUE, "d output / d name; a name is absent where its derivative has no value"),
            "witnesses": _list(_witness(), "what independent ways say of the derivatives"),
            "notes": _list(_note(), "what a reader should know"),
            "conclusions": _list(_conclusion(), "a verdict for each name of wrt"),
            "convergence": _map(_list(_convergence(), "one for each step"), "difference quotients, by name"),
            "approaches": _map(_list(_approach(), "one for each sort of quotient"), "how they close in, by name"),
        },
        optional={
            "value": _said(_VALUE, "the value of the output; absent where it has none"),
            "one_sided": _list(_one_sided(), "the slopes on both sides, where the rules alone cannot tell them"),
            "claims": _list(_claim(number), "the answers of others, judged, in the order in which they were given"),
            "right": _said(_PLACE, "how many of the claims are right"),
        },
    )
    return _titled("backprop-check", record)


def _titled(title: str, record: dict[str, Any]) -> dict[str, Any]:
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": draft, "title": title, **record, "$defs": {"value": _DEFINED}}


def cost_schema() -> dict[str, Any]:
    """The schema of what `backprop cost --format json` prints.

    >>> cost_schema()["properties"]["format"]
    {'const': 'backprop-cost'}
    """
    shape = {"type": "array", "items": _PLACE}
    record = _record(
        "what value and derivatives of a program take at a point, by every way to get them",
        required={
            "format": {"const": "backprop-cost"},
            "version": {"const": 1},
            "program": _said(_TEXT, "the program as typed"),
            "canonical": _said(_TEXT, "the program as it was read, with its signs written out"),
            "output": _said(_TEXT, "the id of the node that is the result"),
            "wrt": _said(_NAMES, "the inputs that move"),
            "shapes": _map(shape, "the shape of each name of wrt; [] of one number"),
            "inputs": _said(_PLACE, "how many numbers they are"),
            "outputs": _said(_PLACE, "how many numbers the output is"),
            "ways": _list(_way(), "the value alone, then each way to the derivatives"),
            "parts": _list(_part(), "what a pass is made of"),
            "winner": {"enum": ["reverse", "forward", "neither"]},
            "conclusion": _said(_TEXT, "which mode wins, and why"),
        },
        optional={
            "paths": _record(
                "the sum path by path against one reverse sweep over the same graph",
                required={
                    "terms": _COUNT,
                    "multiplications": _COUNT,
                    "additions": _COUNT,
                    "factored_multiplications": _COUNT,
                    "factored_additions": _COUNT,
                },
                optional={},
            ),
            "paths_missing": _said(_TEXT, "why paths were not counted"),
            "gradient_ratio": _said(_COUNT, "of one output number: operations of value and gradient, in values"),
            "measured_ratio": _said(_COUNT, "the same in seconds"),
        },
    )
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "backprop-cost", **record}


def map_schema() -> dict[str, Any]:
    """The schema of what `backprop map --sum --format json` prints.

    >>> map_schema()["properties"]["of"]
    {'enum': ['sum', 'mean']}
    """
    record = _record(
        "value and gradient of a program added up over the rows of a table",
        required={
            "format": {"const": "backprop-map"},
            "version": {"const": 1},
            "program": _said(_TEXT, "the program as typed"),
            "of": {"enum": ["sum", "mean"]},
            "output": _said(_TEXT, "the id of the node that is the result"),
            "rows": _said(_PLACE, "the rows of the table"),
            "answered": _said(_PLACE, "those that have an answer, over which the sums and means go"),
            "gradient": _map(_VALUE, "of the derivatives by each name, the exact sum or mean, rounded once"),
        },
        optional={"value": _said(_VALUE, "of the value; absent for the mean of no rows")},
    )
    return _titled("backprop-map", record)


# An integer of thousands of digits is text, for readers of JSON refuse it.
_COUNT: dict[str, Any] = {"type": ["number", "string"]}


def _way() -> dict[str, Any]:
    return _record(
        "one way to get the value, or the value and the derivatives",
        required={
            "name": {"enum": ["value", "reverse", "forward", "differences", "central differences", "paths"]},
            "runs": _said(_COUNT, "how often it does its unit"),
            "unit": {"enum": ["pass", "evaluation", "term"]},
            "operations": _said(_COUNT, "sums and products of two numbers, and what functions count for"),
            "kept": _said(_PLACE, "bytes of the numbers that it holds at once"),
        },
        optional={
            "ratio": _said(_COUNT, "its operations over those of the value; absent where that takes none"),
            "seconds": _said(_COUNT, "measured"),
            "time_ratio": _said(_COUNT, "its seconds, or its estimate, over those of the value"),
            "peak": _said(_PLACE, "the most bytes that Python held for one run or pass"),
            "estimate": _said(_COUNT, "seconds, where it was not run because it takes too long"),
        },
    )


def _part() -> dict[str, Any]:
    return _record(
        "a part of a pass",
        required={
            "name": {"enum": ["value", "partials", "reverse sweep", "forward sweep"]},
            "runs": _PLACE,
            "operations": _COUNT,
        },
        optional={"each": _said(_COUNT, "operations for each input number"), "seconds": _COUNT},
    )


def _conclusion() -> dict[str, Any]:
    return _record(
        "what all witnesses together say of one derivative",
        required={
            "of": _said(_TEXT, "a name of wrt"),
            "verdict": {"enum": ["agrees", "not checked", "inaccurate", "DISAGREES", "undefined"]},
            "text": _TEXT,
        },
        optional={"digits": _said(_VALUE, "to how many digits at least they agree")},
    )


def _convergence() -> dict[str, Any]:
    quotient = _record(
        "a difference quotient of doubles",
        required={"value": _VALUE},
        optional={
            "error": _said(_VALUE, "how far it is from the derivative"),
            "ratio": _said(_VALUE, "how many times farther the one before was"),
        },
    )
    true = {"const": True}
    return _record(
        "the quotients for one step; one is absent where the function has no value there",
        required={"step": _VALUE},
        optional={
            "central": quotient,
            "one_sided": _said(quotient, "to the right, or to the left where `side` says so"),
            "side": {"const": "left"},
            "left": _said(quotient, "at a kink"),
            "right": _said(quotient, "at a kink"),
            "crosses": _said(_NAMES, "the nodes that take another branch between x - h and x + h"),
            "one_sided_crosses": _said(true, "present where one does on the side of the one-sided quotient too"),
            "best_central": _said(true, "present where it comes nearest"),
            "best_one_sided": _said(true, "present where it comes nearest"),
        },
    )


def _approach() -> dict[str, Any]:
    return _record(
        "how one sort of quotient closes in",
        required={"sort": _TEXT, "text": _TEXT},
        optional={
            "step": _said(_VALUE, "the step that was chosen"),
            "value": _said(_VALUE, "the quotient with it"),
            "digits": _said(_VALUE, "to how many digits that agrees"),
            "order": _said(_VALUE, "the observed power of h in the error"),
        },
    )


def _claim(number: dict[str, Any]) -> dict[str, Any]:
    slip = _record("a slip that gives what was claimed", required={"code": _TEXT, "text": _TEXT}, optional={})
    return _record(
        "an answer of somebody else and what is to be said of it",
        required={
            "claim": _said(_TEXT, "as typed"),
            "name": _said(_TEXT, "the derivative or value that it is about"),
            "said": _said(_TEXT, "what stands on its right"),
            "verdict": {"enum": ["right", "wrong", "undefined", "not checked"]},
        },
        optional={
            "yours": _said(number, "the number that it gives at the point"),
            "right": _said(number, "the true number at the point"),
            "left_slope": _said(number, "at a kink or an end of the domain"),
            "right_slope": _said(number, "at a kink or an end of the domain"),
            "undefined": _said({"const": True}, "present where nothing is defined at the point"),
            "formula": _said(_TEXT, "the right formula, where it is short"),
            "digits": _said(_VALUE, "how many digits of a number are right"),
            "agree": _said(_PLACE, "at how many random points a formula is right"),
            "points": _said(_PLACE, "of how many"),
            "skipped": _said(_PLACE, "random points that told nothing"),
            "reason": _TEXT,
            "slips": _list(slip, "the likelier first"),
        },
    )


def _node() -> dict[str, Any]:
    return _record(
        "an input, a constant or the result of one operation",
        required={
            "id": _said(_TEXT, "its name; v1, v2, ... where it has none; c~2 when c is bound again"),
            "op": _said(_TEXT, '"input", "const" or the name of an operation'),
        },
        optional={
            "args": _said(_NAMES, "the ids of its operands"),
            "formula": _said(_TEXT, "what is worked out, over ids"),
            "span": _PAIR,
            "shape": _said(
                _SIZES,
                "of an array: the sizes of its axes; value, tangent and adjoint are nested lists then",
            ),
            "value": _said(_VALUE, "absent where there is none, and in a branch not taken"),
            "tangent": _said(_VALUE, "forward mode: d node / d the chosen input"),
            "adjoint": _said(_VALUE, "reverse mode: d output / d node"),
            "taken": {"const": False, "description": "present in a branch that was not taken"},
            "proven": {"const": False, "description": "present where there may be a value or none"},
            "digits": _said({"type": "number"}, "on request: how many digits of the value are right"),
            "adjoint_digits": _said({"type": "number"}, "on request: how many digits of the adjoint are right"),
        },
    )


def _edge() -> dict[str, Any]:
    return _record(
        "from a node into one operand of another",
        required={"source": _TEXT, "target": _TEXT, "key": _said(_PLACE, "which operand, from 0")},
        optional={
            "partial": _said(
                _VALUE,
                "d target / d source, the other operands held; of arrays for each element of the target, or of the "
                "source where many numbers become one; absent where the operation is another linear map",
            ),
            "formula": _said(_TEXT, "the rule of the partial, over ids"),
            "pull": _said(
                _TEXT,
                "between arrays: what the edge brings, over ids and g, the adjoint of the target (g_ where an operand "
                "is called g), or in forward mode t, the tangent of the source; repeated to the shape where it ends",
            ),
            "contribution": _said(
                _VALUE, "what the edge brings: partial times adjoint of target, or tangent of source"
            ),
            "left": _said(_VALUE, "at a kink: the partial just left of the operand, where it is not that on the right"),
            "right": _said(_VALUE, "at a kink: the partial just right of the operand"),
            "proven": {"const": False, "description": "present where the partial may be a number or none"},
        },
    )


def _step() -> dict[str, Any]:
    edge = {
        "type": "array",
        "prefixItems": [_TEXT, _TEXT, _PLACE],
        "items": False,
        "minItems": 3,
        "description": "source, target, key",
    }
    return _record(
        "one line of working",
        required={"phase": {"enum": ["forward", "tangent", "reverse"]}, "node": _TEXT, "text": _TEXT},
        optional={"edge": edge},
    )


def _witness() -> dict[str, Any]:
    return _record(
        "what one independent way says of one derivative",
        required={
            "of": _said(_TEXT, 'a name of wrt, or "all" for every edge at once'),
            "by": _said(_TEXT, "the way"),
            "verdict": {"enum": ["agrees", "not checked", "inaccurate", "DISAGREES"]},
        },
        optional={
            "value": _VALUE,
            "digits": _said({"type": ["number", "string"]}, "how many digits agree"),
            "reason": _TEXT,
            "worst": _said(_TEXT, "the element of an array that agrees least: W[0,1]"),
            "sample": _said(_PAIR, "how many were looked at of how many, where not all were"),
        },
    )


def _note() -> dict[str, Any]:
    return _record(
        "something a reader should know",
        required={"code": _said(_TEXT, 'its sort; "undefined" where an answer has no value'), "text": _TEXT},
        optional={"node": _said(_TEXT, "the id of the node it is about")},
    )


def _one_sided() -> dict[str, Any]:
    return _record(
        "the slopes of the output on both sides of the value of one input",
        required={
            "of": _said(_TEXT, "a name of wrt"),
            "sort": _said(
                {"enum": ["smooth", "corner", "jump", "edge", "vertical", "none", "unclear"]},
                "smooth: both are the derivative; corner: they differ, or those between the axes do; jump: the value "
                "jumps, they are the slopes beside it; edge: values on one side only; vertical: a slope is infinite",
            ),
            "node": _said(_TEXT, "the id of the first node on the way that has a kink, or no number for its rule"),
        },
        optional={
            "left": _VALUE,
            "right": _VALUE,
            "low": _said(_VALUE, "at a corner: from here to high every number is a subgradient along this axis"),
            "high": _VALUE,
            "taken": _said(_VALUE, "the number that answers"),
            "convention": _said(_TEXT, "by which one was taken of several"),
        },
    )


def _limits() -> dict[str, Any]:
    fields = {
        "value": _said(_VALUE, "what the output goes to"),
        "gradient": _map(_VALUE, "what the slopes go to, with the hole closed by that value"),
        "why": _said(_TEXT, "what hinders where there is no limit"),
    }
    side = _record("what is approached from one side", required={}, optional=fields)
    return _record(
        "what value and slopes go to beside the point, where the output has no value",
        required={},
        optional=fields
        | {"side": _said({"enum": ["left", "right"]}, "the only side with values"), "left": side, "right": side},
    )


def _birth() -> dict[str, Any]:
    edge = {"type": "array", "prefixItems": [_TEXT, _TEXT, _PLACE], "items": False, "minItems": 3}
    return _record(
        "where the first NaN or infinity was born",
        required={
            "node": _said(_TEXT, "the id of the node where it stands"),
            "what": _said({"enum": ["value", "adjoint"]}, "as what it stands there"),
            "operands": _map(_VALUE, "the operands of the operation that made it, by id"),
            "why": _said(_TEXT, "what happened there"),
            "program": _said(_TEXT, "the smallest program that does the same"),
            "inputs": _map(_VALUE, "the point at which it does"),
            "command": _said(_TEXT, "the line that runs it"),
        },
        optional={"edge": _said(edge, "the edge on which an adjoint came: source, target, key")},
    )


def _record(says: str, required: dict[str, Any], optional: dict[str, Any]) -> dict[str, Any]:
    return {
        "description": says,
        "type": "object",
        "properties": required | optional,
        "required": list(required),
        "additionalProperties": False,
    }


def _said(schema: dict[str, Any], says: str) -> dict[str, Any]:
    return schema | {"description": says}


def _list(item: dict[str, Any], says: str) -> dict[str, Any]:
    return {"type": "array", "items": item, "description": says}


def _map(value: dict[str, Any], says: str) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": value, "description": says}

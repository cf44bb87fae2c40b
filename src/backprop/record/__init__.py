"""The Trace: everything worked out about a program at a point, as a record. It is the treaty of the whole program:
below it there are no looks, above it there is no mathematics. Renderers read a Trace and nothing else.

Values are floats, or text for kinds of number that JSON cannot carry (`Written`) and for formulas (plain text), or
balls, {"mid": text, "rad": text}. An array is nested lists of them, in which None is an element without a value.
Absent things are None.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from backprop import progress
from backprop.figures import DEFAULT_FIGURES, brief, json_value

FORMAT, VERSION = "backprop-trace", 1

Value = float | str | bool | dict[str, str] | list[Any]


@dataclass(slots=True)
class Node:
    """A node with what is known at it. `adjoint` is d output / d node, `tangent` d node / d (chosen direction).

    `shape` is that of an array, absent for one number; value, tangent and adjoint are nested lists then.
    `value` is absent where there is none (a note says why), where a ball cannot tell whether there is one (`proven` is
    False) and in a branch not taken (`taken` is False). `digits` and
    `adjoint_digits`, when asked for, are how many digits of value and adjoint are right.
    """

    id: str
    op: str
    args: tuple[str, ...] = ()
    formula: str | None = None
    span: tuple[int, int] | None = None
    shape: tuple[int, ...] | None = None
    value: Value | None = None
    tangent: Value | None = None
    adjoint: Value | None = None
    taken: bool = True
    proven: bool = True
    digits: float | None = None
    adjoint_digits: float | None = None


@dataclass(slots=True)
class Edge:
    """From `source` into operand `key` of `target`. `partial` is d target / d source, `formula` its rule over ids.

    `contribution` is what the edge brings: adjoint of the target times partial in reverse mode, tangent of the source
    times partial in forward mode. At a kink `left` and `right` are the partials beside the operand, if they differ.
    `proven` is False where a ball cannot tell whether the partial is a number.

    Between arrays `partial` has an element for each element of the result where the operation works element by element,
    and for each element of the operand where it makes one number of many; it is absent where the operation is another
    linear map. `pull` says what the edge brings, over ids and `g`, the adjoint of the target, or in forward mode `t`,
    the tangent of the source (`carried_name`).
    """

    source: str
    target: str
    key: int
    partial: Value | None = None
    formula: str | None = None
    contribution: Value | None = None
    left: Value | None = None
    right: Value | None = None
    proven: bool = True
    pull: str | None = None


@dataclass(slots=True)
class Step:
    """One line of working. `phase` is "forward", "reverse" or "tangent"; `edge` names the edge it is about, if one."""

    phase: str
    node: str
    text: str
    edge: tuple[str, str, int] | None = None


@dataclass(slots=True)
class Witness:
    """What one independent way says of one number. `verdict` is "agrees", "not checked", "inaccurate" or "DISAGREES".

    `of` is the name of an input, or "all" for every edge at once; `by` the way; `digits` how many digits agree;
    `reason` why not, or which operation is to blame; `worst` the element of an array that agrees least, "W[0,1]".
    `sample` is how many were looked at of how many, where not all were: nothing is said of the others.
    """

    of: str
    by: str
    verdict: str
    value: Value | None = None
    digits: float | None = None
    reason: str | None = None
    worst: str | None = None
    sample: tuple[int, int] | None = None


@dataclass(slots=True)
class Note:
    """Something a reader should know; `code` is its sort, `node` where."""

    code: str
    text: str
    node: str | None = None


@dataclass(slots=True)
class OneSided:
    """The slopes of the output on both sides of the value of one input, at a kink or where the rules have no number.

    `sort` is "smooth" (both are the derivative), "corner" (they differ, or those between the axes do), "jump" (the
    value jumps; they are the slopes beside it), "edge" (there are values on one side only), "vertical" (a slope is
    infinite), "none" (they have no limit) or "unclear". `node` is the first kink on the way. At a corner every number
    from `low` to `high` is a subgradient along this axis. `taken` is the number that answers, by which `convention` if
    by one.
    """

    of: str
    sort: str
    node: str
    left: Value | None = None
    right: Value | None = None
    low: Value | None = None
    high: Value | None = None
    taken: Value | None = None
    convention: str | None = None


@dataclass(slots=True)
class Limits:
    """What the output and its slopes go to beside a point where the output has no value.

    `side` is "left" or "right" where there are values on that side only; `left` and `right` tell what differs. `why`
    says what hinders where a limit does not exist.
    """

    value: Value | None = None
    gradient: dict[str, Value] = field(default_factory=dict)
    side: str | None = None
    why: str | None = None
    left: Limits | None = None
    right: Limits | None = None

    def to_dict(self) -> dict[str, Any]:
        """The record; absent things are absent."""
        record = {name: json_value(getattr(self, name)) for name in ("value", "gradient", "side", "why")}
        record |= {name: side.to_dict() for name in ("left", "right") if (side := getattr(self, name)) is not None}
        return {name: value for name, value in record.items() if value is not None and value != {}}

    @classmethod
    def from_dict(cls, record: dict[str, Any], number: Callable[[Any], Any]) -> Limits:
        """The limits read back."""
        told = {"value": number(record.get("value"))}
        told["gradient"] = {name: number(value) for name, value in record.get("gradient", {}).items()}
        told |= {side: cls.from_dict(record[side], number) for side in ("left", "right") if side in record}
        return cls(**record | told)


@dataclass(slots=True)
class Birth:
    """Where the first NaN or infinity was born, with the smallest program that shows it.

    `node` is where it stands, as its `what`: "value" or "adjoint"; `operands` are those of the operation that made it,
    `edge` the edge on which an adjoint came to it, `why` what happened there. `program` at `inputs` does the same, and
    `command` runs it.
    """

    node: str
    what: str
    operands: dict[str, Value]
    why: str
    program: str
    inputs: dict[str, Value]
    command: str
    edge: tuple[str, str, int] | None = None


@dataclass(slots=True)
class Trace:
    """A program at a point: values, tangents or adjoints, partials, steps, witnesses and notes."""

    program: str
    canonical: str
    kind: str
    mode: str
    inputs: dict[str, Value]
    params: list[str]
    output: str
    value: Value | None
    wrt: list[str]
    gradient: dict[str, Value]
    formulas: dict[str, str]
    nodes: Sequence[Node] = field(default_factory=list)
    edges: Sequence[Edge] = field(default_factory=list)
    witnesses: list[Witness] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    undefined: str | None = None  # "propagate" where infinities and NaN are values, as on a plain tape
    convention: str | None = None  # whose choice at kinks, when it is not the usual one
    one_sided: list[OneSided] = field(default_factory=list)  # where the rules alone cannot tell a slope
    limits: Limits | None = None  # where the output has no value
    birth: Birth | None = None
    # the nodes of an array program that are opened into single numbers; all when it is empty, none when absent
    opened: list[str] | None = None
    # the answers that are not those of the tape, because doubles lost them: the output, names of wrt
    mended: list[str] = field(default_factory=list)
    figures: int = field(default=DEFAULT_FIGURES, compare=False)
    written_steps: Sequence[Step] | None = field(default=None, compare=False)
    # puts in what the witnesses say, where they are still at work
    verdicts: Callable[[Trace], None] | None = field(default=None, compare=False, repr=False)

    @property
    def steps(self) -> Sequence[Step]:
        """The lines of working in the order in which they are done, `figures` digits each; written when asked for."""
        if self.written_steps is None:
            self.written_steps = getattr(self.nodes, "steps", None)  # of a large trace they are made on demand
        if self.written_steps is None:
            from backprop.working import steps  # it reads traces, so it comes after them

            self.written_steps = steps(self, self.figures)
        return self.written_steps

    def settle(self) -> None:
        """Wait for witnesses that are still at work, whose word is in `witnesses` and `notes` then."""
        verdicts, self.verdicts = self.verdicts, None
        if verdicts is not None:
            verdicts(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """How a notebook shows a trace: `notebook.shown`, which is loaded by its name, for it comes after this."""
        shown: dict[str, str] = import_module("backprop.notebook").shown(self, include, exclude)
        return shown

    @property
    def exit_code(self) -> int:
        """0 fine, 1 a witness disagrees, 3 an answer is undefined at this point, or not proven."""
        self.settle()
        if any(note.code in ("undefined", "not-proven") for note in self.notes):
            return 3
        return 1 if any(witness.verdict == "DISAGREES" for witness in self.witnesses) else 0

    def node(self, node_id: str) -> Node:
        """The node of that id; KeyError when there is none."""
        for node in self.nodes:
            if node.id == node_id:
                return node
        raise KeyError(node_id)

    def edge_to_change(self, place: int) -> Edge:
        """The edge at a place, in which more may be told; a large trace, which makes its edges on demand, keeps it."""
        keep = getattr(self.edges, "keep", None)
        found: Edge = self.edges[place] if keep is None else keep(place)
        return found

    def in_brief(self) -> Trace:
        """The same for JSON in which large arrays are told by shape, norm and least and greatest element alone.

        Only for being written: with the elements goes what renderers and commands read in a trace.
        """

        def told(item: Any) -> Any:
            held = ((name, getattr(item, name)) for name in NUMBERS if hasattr(item, name))
            return replace(item, **{name: brief(value) for name, value in held if isinstance(value, list)})

        found: Trace = told(self)
        if hasattr(self.nodes, "json_lines"):
            return found  # of single numbers
        return replace(
            found,
            inputs={name: brief(value) for name, value in self.inputs.items()},
            gradient={name: brief(value) for name, value in self.gradient.items()},
            nodes=list(map(told, self.nodes)),
            edges=list(map(told, self.edges)),
            witnesses=list(map(told, self.witnesses)),
            written_steps=self.steps,
        )

    def to_dict(self) -> dict[str, Any]:
        """The record of the trace as `backprop schema` describes it: NetworkX node-link shape, absent things absent."""
        record = self.head()
        for key, items in self.lists().items():
            record[key] = [_record(item) for item in items]
        return record

    def to_json(self) -> str:
        """The record as JSON text, one node, edge and step a line: the same input gives the same bytes."""
        return "".join(f"{line}\n" for line in self.json_lines())

    def json_lines(self) -> Iterator[str]:
        """The lines of `to_json`, so that a large trace is never held as one text."""
        line = "{"
        for place, (key, value) in enumerate(self.head().items()):
            yield f"{line}," if place else line
            line = f" {json_text(key)}: {json_text(value)}"
        for key, items in self.lists().items():
            yield f"{line},"
            line = f" {json_text(key)}: []"
            texts = json_records(key, items)
            first = next(texts, None)
            if first is None:
                continue
            yield f" {json_text(key)}: ["
            line = f"  {first}"
            for text in texts:
                yield f"{line},"
                line = f"  {text}"
            yield line
            line = " ]"
        yield line
        yield "}"

    def head(self) -> dict[str, Any]:
        """The record without its lists of nodes, edges, steps, witnesses and notes."""
        record: dict[str, Any] = {"format": FORMAT, "version": VERSION, "program": self.program}
        record |= {"canonical": self.canonical, "kind": self.kind}
        told = ("undefined", "convention", "opened")
        record |= {name: said for name in told if (said := getattr(self, name)) is not None}
        record["mode"] = self.mode
        record["inputs"] = json_value(self.inputs)
        if self.params:
            record["params"] = self.params
        record["output"] = self.output
        if self.value is not None:
            record["value"] = json_value(self.value)
        record["wrt"] = self.wrt
        record["gradient"] = json_value(self.gradient)
        if self.mended:
            record["mended"] = self.mended
        if self.formulas:
            record["formulas"] = self.formulas
        if self.one_sided:
            record["one_sided"] = [_record(one) for one in self.one_sided]
        if self.limits is not None:
            record["limits"] = self.limits.to_dict()
        if self.birth is not None:
            record["birth"] = _record(self.birth)
        record |= {"directed": True, "multigraph": True, "graph": {}}
        return record

    def lists(self) -> dict[str, Sequence[Any]]:
        """The lists of nodes, edges, steps, witnesses and notes, by name."""
        names = ("nodes", "edges", "steps", "witnesses", "notes")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Trace:
        """A trace read back. Raises `NotATrace` for a record of another shape or version."""
        from backprop.record.reading import trace_of

        return trace_of(record)

    @classmethod
    def from_json(cls, text: str) -> Trace:
        """A trace read back from JSON text. Raises `NotATrace`."""
        from backprop.record.reading import trace_of_json

        return trace_of_json(text)


def carried_name(letter: str, taken: Collection[str]) -> str:
    """What is carried over an edge as its pull calls it: the letter, unless the node or an operand is called so.

    >>> carried_name("g", ("z", "W", "x")), carried_name("g", ("z", "g"))
    ('g', 'g_')
    """
    while letter in taken:
        letter += "_"
    return letter


def _record(item: Any) -> dict[str, Any]:
    return {
        name: list(value) if isinstance(value, tuple) else json_value(value)
        for name in item.__slots__
        if _is_told(name, value := getattr(item, name))
    }


def _is_told(name: str, value: Any) -> bool:
    """Whether a field stands in the record: what is absent, empty or as usual does not."""
    return value is not None and value != () and (name not in ("taken", "proven") or value is not True)


def json_records(name: str, items: Sequence[Any]) -> Iterator[str]:
    """Each record of one of the lists as JSON; a large trace writes these lines without making the records."""
    if hasattr(items, "json_lines"):
        found: Iterator[str] = items.json_lines()
        return found
    return map(json_line, progress.steps(name, items, len(items)))


def json_line(item: Any) -> str:
    """`_record` as JSON text, put together here: a trace may have millions of these."""
    parts: list[str] = []
    for name in item.__slots__:
        value = getattr(item, name)
        if value is None:
            continue
        sort = type(value)
        if sort is str:
            parts.append(f'"{name}": {_quoted(value)}')
        elif sort is float:
            parts.append(f'"{name}": {value + 0.0!r}' if value - value == 0 else f'"{name}": "{json_value(value)}"')
        elif sort is tuple:
            if value:
                texts = [_quoted(one) if type(one) is str else json_text(one) for one in value]
                parts.append(f'"{name}": [{", ".join(texts)}]')
        elif _is_told(name, value):
            parts.append(f'"{name}": {json_text(json_value(value))}')
    return f"{{{', '.join(parts)}}}"


# The fields that hold a value, in which JSON has text for what it has no number for.
NUMBERS = {"value", "tangent", "adjoint", "partial", "contribution", "digits", "adjoint_digits"}
NUMBERS |= {"left", "right", "low", "high", "taken"}


json_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_quoted = json.encoder.encode_basestring

"""A part of a graph: one node with what it is made from and what it is used for, a few steps either way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from backprop.mistakes import UnknownNode
from backprop.record import Note, Trace

# Steps, when nothing is said of them; the code of the note that tells what a part leaves out; names that are listed.
HOPS, CODE, MOST_NAMES = 2, "part", 40


class Surroundings:
    """What lies around a node of a trace. The trace may be large: all but the part is read as columns.

    Raises `UnknownNode` for a name that no node has.
    """

    def __init__(self, trace: Trace, name: str) -> None:
        self.trace, self.name = trace, name
        column = getattr(trace.nodes, "column", None)  # of a large trace, whose nodes are views
        ids: Sequence[str] = [node.id for node in trace.nodes] if column is None else column("id")
        try:
            self.middle = ids.index(name)
        except ValueError:
            raise UnknownNode(name, _names(ids, name)) from None
        self.ends = list(_ends(trace, ids))
        self.into: list[list[int]] = [[] for _ in ids]
        self.out_of: list[list[int]] = [[] for _ in ids]
        for source, target in self.ends:
            self.into[target].append(source)
            self.out_of[source].append(target)

    def within(self, hops: int, most: int | None = None) -> Trace | None:
        """The part within so many steps before the node and after it, with a note that tells what is left out.

        None when it has more than `most` nodes. The numbers are those of the whole trace. It is made to be drawn: its
        edges are not all of those that an adjoint adds up.
        """
        kept = {self.middle}
        for near in (self.into, self.out_of):
            reached = [self.middle]
            for _ in range(hops):
                reached = sorted({one for node in reached for one in near[node]} - kept)
                kept.update(reached)
                if most is not None and len(kept) > most:
                    return None
                if not reached:
                    break
        trace = self.trace
        places = sorted(kept)
        nodes = [trace.nodes[place] for place in places]
        inside = [place for place, (source, target) in enumerate(self.ends) if source in kept and target in kept]
        cut = sum((source in kept) != (target in kept) for source, target in self.ends)
        ids = {node.id for node in nodes}
        notes = [note for note in trace.notes if note.node is None or note.node in ids]
        if len(nodes) < len(self.into):
            leads = "edge leads" if cut == 1 else "edges lead"
            told = f"this is {self.name} with what lies within {_steps(hops)} before and after it: "
            told += f"{len(nodes)} of {len(self.into)} nodes; {cut} {leads} elsewhere"
            notes.append(Note(CODE, told))
        return replace(trace, nodes=nodes, edges=[trace.edges[place] for place in inside], notes=notes)


def around(trace: Trace, name: str, hops: int = HOPS) -> Trace:
    """The part of a trace within so many steps of a node; see `Surroundings`. Raises `UnknownNode`."""
    found = Surroundings(trace, name).within(hops)
    assert found is not None  # no bound was given
    return found


def _steps(hops: int) -> str:
    return "1 step" if hops == 1 else f"{hops} steps"


def _ends(trace: Trace, ids: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The places of the two nodes of each edge."""
    of_columns = getattr(trace.edges, "ends", None)
    if of_columns is not None:
        yield from of_columns()
        return
    place = {name: index for index, name in enumerate(ids)}
    for edge in trace.edges:
        yield place[edge.source], place[edge.target]


def _names(ids: Sequence[str], name: str) -> list[str]:
    """The names that may have been meant: of an array its elements; numbered ones are no help among very many."""
    elements = [known for known in ids if known.startswith(f"{name}[")]
    if elements or len(ids) <= MOST_NAMES:
        return elements[:MOST_NAMES] or [known for known in ids if known[0].isalpha() or known[0] == "_"]
    return [known for known in ids if not re.fullmatch(r"v\d+|[^a-zA-Z_]*", known)][:MOST_NAMES]

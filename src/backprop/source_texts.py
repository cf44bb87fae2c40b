"""Texts of nodes: the name that one was given, the number that one is, kept as places in the source.

A program of a million assignments has a million names. As strings in a dictionary they take more memory than the rest
of its graph; as places in the text that is there anyway they take twelve bytes each.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import ItemsView, Iterator, MutableMapping, ValuesView


class SourceTexts(MutableMapping[int, str]):
    """From node to text, in the order of the nodes. A text that does not stand in the source is kept as it is.

    >>> names = SourceTexts("a = 2; b = a")
    >>> names.place(1, 0, 1)
    >>> names[2] = "out"
    >>> dict(names), names.get(0)
    ({1: 'a', 2: 'out'}, None)
    """

    __slots__ = ("begins", "ends", "nodes", "source", "told")

    def __init__(self, source: str = "") -> None:
        self.source = source
        self.nodes = array("i")
        self.begins = array("i")
        self.ends = array("i")
        self.told: dict[int, str] = {}  # the texts that stand nowhere in the source

    def place(self, node: int, begin: int, end: int) -> None:
        """The text of a node, which comes after all that have one, is what stands at `begin` .. `end`."""
        self.nodes.append(node)
        self.begins.append(begin)
        self.ends.append(end)

    def put(self, node: int, text: str, begin: int) -> None:
        """The text of the last node, or of one after it, which most likely stands at `begin`."""
        if not self.source.startswith(text, begin):
            self[node] = text
            return
        if self.nodes and self.nodes[-1] == node:
            del self[node]
        self.place(node, begin, begin + len(text))

    def __getitem__(self, node: int) -> str:
        at = bisect_left(self.nodes, node)
        if at == len(self.nodes) or self.nodes[at] != node:
            raise KeyError(node)
        return self.told[node] if node in self.told else self.source[self.begins[at] : self.ends[at]]

    def __setitem__(self, node: int, text: str) -> None:
        if node not in self:
            at = bisect_left(self.nodes, node)
            self.nodes.insert(at, node)
            self.begins.insert(at, 0)
            self.ends.insert(at, 0)
        self.told[node] = text

    def __delitem__(self, node: int) -> None:
        at = bisect_left(self.nodes, node)
        if at == len(self.nodes) or self.nodes[at] != node:
            raise KeyError(node)
        del self.nodes[at], self.begins[at], self.ends[at]
        self.told.pop(node, None)

    def __contains__(self, node: object) -> bool:
        at = bisect_left(self.nodes, node)  # type: ignore[call-overload]  # any object may be asked for
        return bool(at < len(self.nodes) and self.nodes[at] == node)

    def __iter__(self) -> Iterator[int]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        return f"SourceTexts({dict(self)})"

    # that of a mapping may give anything in place of a text; and it asks for what is not there by an exception
    def get(self, node: int, otherwise: str | None = None) -> str | None:  # type: ignore[override]
        return self[node] if node in self else otherwise  # noqa: SIM401

    def items(self) -> ItemsView[int, str]:
        return _Items(self)

    def values(self) -> ValuesView[str]:
        return _Values(self)


class _Items(ItemsView[int, str]):
    """All texts in one walk: a search for each of a million would take longer than to read them."""

    _mapping: SourceTexts

    def __iter__(self) -> Iterator[tuple[int, str]]:
        texts = self._mapping
        source, told = texts.source, texts.told
        for node, begin, end in zip(texts.nodes, texts.begins, texts.ends, strict=True):
            yield node, told[node] if node in told else source[begin:end]


class _Values(ValuesView[str]):
    """The same without the nodes."""

    _mapping: SourceTexts

    def __iter__(self) -> Iterator[str]:
        return (text for _, text in self._mapping.items())

"""The sum over paths with everything shared taken out of the brackets: `(α+β+γ)·(δ+ε+ζ)`, for any graph."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from backprop.factors import signed
from backprop.path_sums.arithmetic import Number
from backprop.path_sums.network import Network, Routes
from backprop.record import Value


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Form:
    """A nested sum of products: `sort` is "one", "edge", "name" (the derivative by a node), "sum" or "product"."""

    sort: str
    of: int = -1
    parts: tuple[Form, ...] = ()


_ONE = Form("one")


@dataclass(slots=True)
class Factored:
    """The sum over paths with everything shared taken out of the brackets once, as reverse mode works it out.

    `names` are sums that several places use, each by the node whose derivative it is; a name uses only names that
    stand before it. The numbers of multiplications and additions compare the two ways, factors of 1 and -1 not counted.
    """

    routes: Routes
    form: Form
    names: list[tuple[int, Form]]
    multiplications: int
    additions: int
    listed_multiplications: int
    listed_additions: int

    @property
    def text(self) -> str:
        """The form in symbols: `(α+β+γ)·(δ+ε+ζ)`."""
        return self.write(self.form, self.routes.network.label)

    def write(self, form: Form, label: Callable[[int], str]) -> str:
        """A form as text, each edge by its label."""
        return "".join(_tokens(form, label, self.name))

    def name(self, node: int) -> str:
        """What a shared sum is called: `∂e/∂c`."""
        return f"∂{self.routes.target_id}/∂{self.routes.network.ids[node]}"

    @property
    def value(self) -> Value | None:
        """The form worked out in numbers; None where it is undefined or symbolic."""
        arithmetic = self.routes.network.arithmetic
        if self.routes.symbolic:
            return None
        if not self.routes.leads:
            return 0.0
        known: dict[int, Number] = {}
        for node, form in self.names:
            known[node] = _worked_out(form, self.routes.network, known)
        return arithmetic.out(_worked_out(self.form, self.routes.network, known))


def factor(routes: Routes) -> Factored:
    """The factored form of the sum over paths, for any graph, in about as many steps as there are edges.

    Two edges side by side become their sum, two in a row with nothing else between become their product; where neither
    is left, the last node with several ways in gets a name for its derivative, so that nothing is written out twice.
    """
    network = routes.network
    form, names = _reduce(routes) if routes.leads else (Form("sum"), [])
    multiplications = additions = 0
    for each in [form, *(named for _, named in names)]:
        more = _cost(each, network)
        multiplications += more[0]
        additions += more[1]
    return Factored(routes, form, names, multiplications, additions, *listed_cost(routes))


def listed_cost(routes: Routes) -> tuple[int, int]:
    """The multiplications and additions of the sum path by path, exactly; factors of 1 and -1 are not counted."""
    paths, factors, bare = routes.network.once(_costs).get(routes.source, (0, 0, 0))
    return factors - paths + bare, max(0, paths - 1)


def _reduce(routes: Routes) -> tuple[Form, list[tuple[int, Form]]]:
    network, source, target = routes.network, routes.source, routes.network.target
    if source == target:
        return _ONE, []
    first, to = network.first, network.to
    # out[u][v] is the one edge that stands for everything between them, with its place among the edges that leave u
    out: dict[int, dict[int, tuple[int, Form]]] = {source: {}}
    into: dict[int, dict[int, None]] = {}

    def join(start: int, end: int, rank: int, form: Form) -> None:
        beside = out[start].get(end)
        if beside is None:
            into.setdefault(end, {})[start] = None
        else:
            left, right = sorted([beside, (rank, form)], key=operator.itemgetter(0))
            rank, form = left[0], Form("sum", parts=(left[1], right[1]))
        out[start][end] = rank, form

    for node in range(source, target):
        if node in out:
            for edge in range(first[node], first[node + 1]):
                if to[edge] != target:
                    out.setdefault(to[edge], {})
                join(node, to[edge], edge, _ONE if network.label(edge) == "1" else Form("edge", edge))
    inner = sorted(out.keys() - {source})
    waiting = inner[::-1]
    names: list[tuple[int, Form]] = []
    while True:
        while waiting:
            node = waiting.pop()
            if node in (source, target) or node not in out or len(into[node]) != 1 or len(out[node]) != 1:
                continue
            (before,) = into.pop(node)
            ((after, (_, form)),) = out.pop(node).items()
            rank, start = out[before].pop(node)
            del into[after][node]
            join(before, after, rank, _times(start, form))
            waiting += [before, after]
        while inner and inner[-1] not in out:
            inner.pop()
        if not inner:
            return out[source][target][1], names
        node = inner.pop()
        ((_, form),) = out.pop(node).values()  # every later node is gone, so one edge leads on, to the target
        del into[target][node]
        if form.parts:
            names.append((node, form))
            form = Form("name", node)
        for before in into.pop(node):
            rank, start = out[before].pop(node)
            join(before, target, rank, _times(start, form))
            waiting.append(before)


def _times(left: Form, right: Form) -> Form:
    if left is _ONE:
        return right
    return left if right is _ONE else Form("product", parts=(left, right))


def _flat(form: Form, sort: str) -> list[Form]:
    """The addends of a sum or the factors of a product, those of sums in sums and products in products included."""
    found: list[Form] = []
    stack = [form]
    while stack:
        form = stack.pop()
        if form.sort == sort:
            stack.extend(reversed(form.parts))
        else:
            found.append(form)
    return found


def _cost(form: Form, network: Network) -> tuple[int, int]:
    """Multiplications and additions of a form."""
    multiplications = additions = 0
    stack = [form]
    while stack:
        form = stack.pop()
        if form.sort == "sum" and form.parts:
            parts = _flat(form, "sum")
            additions += len(parts) - 1
        elif form.sort == "product":
            parts = _flat(form, "product")
            factors = sum(part.sort != "edge" or not network.is_trivial(part.of) for part in parts)
            multiplications += max(0, factors - 1)
        else:
            continue
        stack.extend(parts)
    return multiplications, additions


def _worked_out(form: Form, network: Network, names: dict[int, Number]) -> Number:
    """A form in numbers, innermost first."""
    arithmetic = network.arithmetic
    results: list[Number] = []
    stack: list[tuple[Form, bool]] = [(form, False)]
    while stack:
        form, ready = stack.pop()
        if form.sort == "one":
            results.append(arithmetic.one)
        elif form.sort == "edge":
            results.append(network.numbers[form.of])
        elif form.sort == "name":
            results.append(names[form.of])
        elif ready:
            right, left = results.pop(), results.pop()
            results.append((arithmetic.add if form.sort == "sum" else arithmetic.mul)(left, right))
        else:
            stack.append((form, True))
            stack.extend((part, False) for part in reversed(form.parts))
    return results.pop()


def _tokens(form: Form, label: Callable[[int], str], name: Callable[[int], str]) -> Iterator[str]:
    """The pieces of a form's text, from left to right: deep brackets are no matter."""
    stack: list[Form | str] = [form]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
            continue
        pieces: list[Form | str] = []
        addends = _flat(item, "sum")
        if not addends:
            pieces.append("0")
        for place, addend in enumerate(addends):
            factors = _flat(addend, "product")
            sign, written = signed([label(part.of) if part.sort == "edge" else "" for part in factors])
            pieces.append("-" if sign else "+" if place else "")
            between = ""
            for part, text in zip(factors, written, strict=True):
                if part.sort == "edge" and text == "1":
                    continue
                pieces.append(between)
                between = "·"
                if part.sort == "sum":
                    pieces += ["(", part, ")"]
                elif part.sort == "edge":
                    pieces.append(text)
                elif part.sort == "name":
                    pieces.append(name(part.of))
                else:
                    pieces.append("1")
            if not between:
                pieces.append("1")
        stack.extend(reversed(pieces))


# -- what listing would cost -----------------------------------------------------------------------------------------


Cost = tuple[int, int, int]  # paths, factors in all of them, paths without a factor


def _costs(network: Network) -> dict[int, Cost]:
    trivial = [network.is_trivial(edge) for edge in range(len(network.edges))]
    return network.sweep(trivial, (1, 0, 1), _lengthened, _joined)


def _lengthened(trivial: bool, rest: Cost) -> Cost:
    paths, factors, _ = rest
    return rest if trivial else (paths, factors + paths, 0)


def _joined(left: Cost, right: Cost) -> Cost:
    return left[0] + right[0], left[1] + right[1], left[2] + right[2]

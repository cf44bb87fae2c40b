"""Laws of the layered layout on random graphs: nothing overlaps, every arrow is drawn, lines keep clear of all else."""

from __future__ import annotations

from functools import cache
from itertools import combinations, pairwise
from random import Random
from time import process_time

import pytest

from backprop.layout import Arrow, Box, Layout, Rect, Spacing, laid_out, layered
from backprop.layout.crossings import crossings_between
from backprop.layout.ports import ports
from backprop.layout.ranks import ranked

SMALL = 1e-6
WHOLE = Spacing(boxes=3, lines=2, layers=3, ports=2, label=1, whole=True)
Graph = tuple[list[Box], list[Arrow]]


def graph(seed: int) -> Graph:
    """One of several kinds: loose nodes and parallel arrows, computations, wide fans, long chains."""
    chance = Random(seed)
    count = chance.randint(1, 24)
    pairs: list[tuple[int, int]] = []
    if seed % 4 == 0:
        for _ in range(chance.randint(0, 36) if count > 1 else 0):
            low, high = sorted(chance.sample(range(count), 2))
            pairs += [(low, high)] * chance.choice((1, 1, 1, 2))
    elif seed % 4 == 1:
        pairs = [(chance.randrange(node), node) for node in range(1, count) for _ in range(chance.choice((1, 2, 2)))]
    elif seed % 4 == 2:
        pairs = [(0, node) for node in range(1, count)] + [(node, count) for node in range(1, count)]
        count += 1
    else:
        pairs = [(node, node + 1) for node in range(count - 1)] + [(0, node) for node in range(2, count, 3)]
    boxes = [Box(chance.randint(8, 80), chance.randint(3, 30)) for _ in range(count)]
    arrows = [
        Arrow(*pair, *((chance.randint(1, 50), chance.randint(1, 15)) if chance.random() < 0.6 else (0, 0)))
        for pair in pairs
    ]
    return boxes, arrows


@cache
def drawn(seed: int) -> tuple[Graph, Layout, str]:
    asked = graph(seed)
    direction = ("up", "down", "right")[seed % 3]
    return asked, laid_out(*asked, WHOLE if seed % 5 == 0 else None, direction), direction  # type: ignore[arg-type]


def overlap(one: Rect, other: Rect) -> bool:
    return (
        one.x < other.x + other.width - SMALL
        and other.x < one.x + one.width - SMALL
        and one.y < other.y + other.height - SMALL
        and other.y < one.y + one.height - SMALL
    )


def passes(start: tuple[float, float], end: tuple[float, float], rect: Rect) -> bool:
    """Whether a line goes through the inside of a rectangle (Liang and Barsky)."""
    first, last = 0.0, 1.0
    for axis, low, size in ((0, rect.x, rect.width), (1, rect.y, rect.height)):
        low, high, way = low + SMALL, low + size - SMALL, end[axis] - start[axis]
        if not way:
            if not low < start[axis] < high:
                return False
            continue
        near, far = sorted(((low - start[axis]) / way, (high - start[axis]) / way))
        first, last = max(first, near), min(last, far)
    return first < last


@pytest.mark.parametrize("block", range(10))
def test_boxes_labels_and_lines_keep_clear_of_each_other(block: int) -> None:
    for seed in range(50 * block, 50 * block + 50):
        (boxes, arrows), layout, _ = drawn(seed)
        labels = [route.label for route in layout.arrows if route.label]
        assert len(labels) == sum(arrow.labelled for arrow in arrows)
        rects = [*layout.boxes, *labels]
        assert not any(overlap(*pair) for pair in combinations(rects, 2)), seed
        for route in layout.arrows:
            for piece in pairwise(route.points):
                assert not any(passes(*piece, rect) for rect in rects), seed
        everywhere = [*rects, *(Rect(x, y, 0, 0) for route in layout.arrows for x, y in route.points)]
        assert all(-SMALL <= one.x <= one.x + one.width <= layout.width + SMALL for one in everywhere)
        assert all(-SMALL <= one.y <= one.y + one.height <= layout.height + SMALL for one in everywhere)
        for box, rect in zip(boxes, layout.boxes, strict=True):
            assert (rect.width, rect.height) == pytest.approx(box)


def test_every_arrow_leads_once_from_its_box_to_its_box_and_on_in_its_direction() -> None:
    for seed in range(500):
        (_, arrows), layout, direction = drawn(seed)
        assert len(layout.arrows) == len(arrows)
        for arrow, route in zip(arrows, layout.arrows, strict=True):
            source, target = layout.boxes[arrow.source], layout.boxes[arrow.target]
            (x, y), (last_x, last_y) = route.points[0], route.points[-1]
            edge = 0 if seed % 5 else 1  # a side of fewer cells than arrows is used to its corners
            if direction == "right":
                assert x == pytest.approx(source.x + source.width)
                assert last_x == pytest.approx(target.x)
                assert source.y - edge < y < source.y + source.height + edge
                assert target.y - edge < last_y < target.y + target.height + edge
                assert all(one[0] <= other[0] + SMALL for one, other in pairwise(route.points))
            else:
                up = direction == "up"
                assert y == pytest.approx(source.y if up else source.y + source.height)
                assert last_y == pytest.approx(target.y + target.height if up else target.y)
                assert source.x - edge < x < source.x + source.width + edge
                assert target.x - edge < last_x < target.x + target.width + edge
                ahead = -1 if up else 1
                assert all(ahead * (other[1] - one[1]) >= -SMALL for one, other in pairwise(route.points))
        if seed % 5:  # where sides are wide enough for all; in whole numbers that is the caller's care
            starts = [(arrow.source, route.points[0]) for arrow, route in zip(arrows, layout.arrows, strict=True)]
            ends = [(arrow.target, route.points[-1]) for arrow, route in zip(arrows, layout.arrows, strict=True)]
            assert len(set(starts)) == len(set(ends)) == len(arrows), seed


def test_the_same_question_gives_the_same_drawing_and_down_is_up_upside_down() -> None:
    for seed in range(0, 200, 9):
        asked = graph(seed)
        up, down = laid_out(*asked, direction="up"), laid_out(*asked, direction="down")
        assert laid_out(*asked, direction="up") == up
        for one, other in zip(up.boxes, down.boxes, strict=True):
            assert one.x == other.x
            assert one.y == pytest.approx(down.height - other.y - other.height)
        for one, other in zip(up.arrows, down.arrows, strict=True):
            assert [x for x, _ in one.points] == [x for x, _ in other.points]
            assert [y for _, y in one.points] == pytest.approx([down.height - y for _, y in other.points])


def test_whole_sizes_give_whole_places() -> None:
    for seed in range(0, 500, 5):
        _, layout, _ = drawn(seed)
        numbers = [number for rect in layout.boxes for number in rect]
        numbers += [number for route in layout.arrows for point in route.points for number in point]
        numbers += [number for route in layout.arrows if route.label for number in route.label]
        assert all(number == int(number) for number in numbers), seed


def test_every_arrow_has_one_slot_in_each_layer_it_passes_and_a_label_one_of_its_own() -> None:
    for seed in range(100):
        boxes, arrows = graph(seed)
        layers = layered(boxes, arrows)
        assert sorted(slot for row in layers.rows for slot in row) == list(range(len(layers.slots)))
        assert all(layers.slots[slot].layer == place for place, row in enumerate(layers.rows) for slot in row)
        for index, (arrow, way) in enumerate(zip(arrows, layers.ways, strict=True)):
            assert (way[0], way[-1]) == (arrow.source, arrow.target)
            places = [layers.slots[slot].layer for slot in way]
            assert places == list(range(places[0], places[-1] + 1))
            assert [layers.slots[slot].kind for slot in way].count("label") == arrow.labelled
            assert all(layers.slots[slot].arrow == index for slot in way[1:-1])


def test_crossings_are_counted_as_by_looking_at_every_pair() -> None:
    for seed in range(100):
        layers = layered(*graph(seed))
        place = {slot: index for row in layers.rows for index, slot in enumerate(row)}
        pieces: dict[int, list[tuple[int, int]]] = {}
        for way in layers.ways:
            for low, high in pairwise(way):
                pieces.setdefault(layers.slots[low].layer, []).append((place[low], place[high]))
        pairs = (pair for layer in pieces.values() for pair in combinations(layer, 2))
        assert layers.crossings == sum((a - c) * (b - d) < 0 for (a, b), (c, d) in pairs)


def test_two_arrows_that_change_sides_cross_once() -> None:
    assert crossings_between([0, 1], [[3], [2], [], []], [0, 1, 0, 1], 2) == 1
    assert crossings_between([0, 1], [[2], [2], []], [0, 1, 0], 1) == 0


def test_a_graph_that_can_be_drawn_without_crossings_is() -> None:
    tree = [Arrow(node, (node - 1) // 2, 20, 10) for node in range(1, 63)]
    assert layered([Box(40, 20)] * 63, tree).crossings == 0
    ladder = [Arrow(node, node + 2) for node in range(40)] + [Arrow(node, node + 3) for node in range(0, 39, 2)]
    assert layered([Box(40, 20)] * 42, ladder).crossings == 0


def test_long_arrows_are_straight() -> None:
    """A chain with one arrow past all of it: between its first and last bend it does not move to the side."""
    arrows = [*(Arrow(node, node + 1, 30, 10) for node in range(9)), Arrow(0, 9, 30, 10)]
    layout = laid_out([Box(40, 20)] * 10, arrows)
    assert len({x for x, _ in layout.arrows[-1].points[1:-1]}) == 1


def test_both_arrows_of_a_square_are_apart_with_a_label_each() -> None:
    layout = laid_out([Box(90, 40), Box(90, 40)], [Arrow(0, 1, 30, 10), Arrow(0, 1, 30, 10)])
    one, other = layout.arrows
    assert all(left[0] + 30 < right[0] for left, right in zip(one.points, other.points, strict=True))
    assert one.label is not None
    assert other.label is not None
    assert one.label.x > one.points[0][0]
    assert one.label.x + one.label.width < other.points[0][0]


def test_layers_are_the_shortest_there_are() -> None:
    """Against every choice of layers, on graphs small enough to try all."""
    from itertools import product

    for seed in range(40):
        chance = Random(seed)
        count = chance.randint(2, 5)
        links = [(*sorted(chance.sample(range(count), 2)), chance.choice((1, 2))) for _ in range(chance.randint(1, 7))]
        layer = ranked(count, links)
        assert all(layer[high] - layer[low] >= length for low, high, length in links)
        choices = product(range(2 * count), repeat=count)
        shortest = min(
            sum(choice[high] - choice[low] for low, high, _ in links)
            for choice in choices
            if all(choice[high] - choice[low] >= length for low, high, length in links)
        )
        assert sum(layer[high] - layer[low] for low, high, _ in links) == shortest


def test_ports_are_in_order_apart_and_within_their_side() -> None:
    for seed in range(200):
        chance = Random(seed)
        wanted = sorted(chance.uniform(-50, 150) for _ in range(chance.randint(1, 12)))
        places = ports(wanted, 0, 100, apart=12)
        assert all(0 < place < 100 for place in places)
        step = min(12, 100 / (len(wanted) + 1))
        assert all(right - left >= step - SMALL for left, right in pairwise(places))


def test_nothing_and_a_single_box_have_a_drawing() -> None:
    assert laid_out([], []) == Layout([], [], 0, 0)
    assert laid_out([Box(30, 20)], []).boxes == [Rect(0, 0, 30, 20)]


@pytest.mark.parametrize("arrows", [[Arrow(0, 1), Arrow(1, 0)], [Arrow(0, 0)], [Arrow(0, 2)], [Arrow(-1, 0)]])
def test_arrows_in_a_circle_or_to_nowhere_are_refused(arrows: list[Arrow]) -> None:
    with pytest.raises(ValueError, match=r"circle|not among"):
        layered([Box(1, 1)] * 2, arrows)


def computation(count: int) -> list[Arrow]:
    """Each node takes one or two earlier ones, mostly recent, as in a program."""
    chance = Random(count)
    return [
        Arrow(chance.randrange(max(0, node - 6) if chance.random() < 0.9 else 0, node), node, 50, 12)
        for node in range(4, count)
        for _ in range(chance.choice((1, 2)))
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("count", "seconds"), [(300, 1), (2000, 10)])
def test_large_drawings_are_there_in_time(count: int, seconds: float) -> None:
    start = process_time()
    laid_out([Box(90, 40)] * count, computation(count))
    assert process_time() - start < seconds

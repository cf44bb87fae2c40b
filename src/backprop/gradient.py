"""Value and gradient alone, by the shortest way."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from backprop import kinds
from backprop import point as points
from backprop.kinds import MINIMUM_NORM, Hole, Kind
from backprop.mistakes import NotProven, Undefined
from backprop.point import Number, Point, Program
from backprop.refusals import refuse

if TYPE_CHECKING:
    from backprop.record import Note


def answered(
    program: str | Program,
    inputs: Mapping[str, Number],
    wrt: Sequence[str] | None = None,
    kind: str | Kind = "real",
    limit: int | None = None,
    undefined: str = "explain",
    convention: str = MINIMUM_NORM,
    opened: Sequence[str] | None = None,
) -> Point:
    """The program at a point at which the value and every derivative asked for exist. Raises `Undefined` where not.

    With undefined="propagate" nothing is undefined: NaN and infinities come out as they do of a plain tape.
    """
    kind = kinds.by_name(kind, limit)
    if undefined != "explain" and not kind.propagates:
        from backprop.conventions import numbers

        kind = numbers(kind, undefined, convention)
    here = points.at(program, inputs, wrt, kind, convention, opened)
    if not kind.propagates and not here.kind.propagates:
        refuse_holes(here)
    return here


def refuse_holes(here: Point) -> None:
    """Raises `Undefined` when the value or a derivative that was asked for does not exist, or overflows, `NotProven`
    when it may not.

    Where it exists but the kind of number refuses it, what `refusals.refuse` raises.
    """
    here.gradient()  # of a vector there is none
    here = here.told()
    refuse(here)
    if not here.is_scalar:
        from backprop.array_point import ArrayPoint
        from backprop.unopened import refuse as refuse_arrays

        assert isinstance(here, ArrayPoint)
        refuse_arrays(here)
    answers = [one for answer in (here.answer(), *here.gradient().values()) for one in here.kind.elements(answer)]
    for answer in answers:
        if isinstance(answer, Hole):
            from backprop.notes import explained

            mistake = NotProven if answer.code == "unproven" else Undefined
            raise mistake(explained(here, answer), span=here.graph.span(answer.node)).within(here.syntax.source)
    # balls that are too large are holes already
    if here.kind.intervals or not any(answer in (math.inf, -math.inf) for answer in answers):
        return
    from backprop.notes import too_large  # notes are for those who ask for them, and for what is not ordinary

    beyond = too_large(here)
    if beyond:
        raise Undefined(beyond, span=here.graph.span(here.graph.output)).within(here.syntax.source)


def remarks(here: Point) -> list[Note]:
    """What a reader of the numbers alone has to know: digits that were lost, slopes taken at kinks."""
    found: list[Note] = []
    asked, here = here, here.told()
    if not here.is_scalar:
        from backprop import unopened
        from backprop.array_point import ArrayPoint

        assert isinstance(here, ArrayPoint)
        return list(unopened.remarks(here))
    if here.kind.unsteady:
        from backprop.notes import unsteady

        found += unsteady(here)
    accuracy, singular = here.accuracy(), here.singular()
    if accuracy is not None and accuracy.doubted:
        from backprop.notes import lost

        found += lost(here)
    if singular or singular.reason:
        from backprop.beside.one_sided import choices

        found += choices(here)
    if found and not asked.is_scalar:
        from backprop.array_notes import gathered

        return list(gathered(asked, found))
    return found

"""The judge of spaces: what it finds, and what it lets pass."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from tamis.protocol.wire.routing_bodies import SpaceStatement
from tamis.simulate.faults.schemas import DECLARED, NAMES, SHAPES, fits, space_of, statement
from tamis.simulate.faults.workload import CONTENTS
from tamis.simulate.oracle.schemas import Held, Schemas

A, B, C = 10, 20, 30
LINE = {A: {B: 1}, B: {A: 1, C: 1}, C: {B: 1}}
PARTED = {A: {B: 1}, B: {A: 1}, C: {}}
HIGHEST, FREE = ({"level": 7, "place": place} for place in ("ab", "abc"))
OF_FILES = {each.name: each for each in DECLARED}
NARROW = statement("ab", SHAPES[1], 2)


class Judged(Schemas):
    def __init__(self) -> None:
        self.found: list[int] = []
        super().__init__(lambda invariant, _: self.found.append(invariant))

    def rest(
        self, held: dict[int, Held], graph: dict[int, dict[int, int]] = LINE, kept: Collection[SpaceStatement] = ()
    ) -> None:
        self.at_rest({(router, 1): spaces for router, spaces in held.items()}, kept, graph)


@pytest.fixture
def judge() -> Judged:
    return Judged()


def test_a_shape_and_the_space_made_of_it_say_the_same() -> None:
    assert [fits(CONTENTS.index(HIGHEST), shape) for shape in SHAPES] == [True, False, False, False, True]
    assert (space_of(CONTENTS.index(HIGHEST)), space_of(CONTENTS.index(FREE))) == ("ab", None)


def test_a_message_that_fits_all_that_routers_may_know_is_not_refused(judge: Judged) -> None:
    judge.refused(1, CONTENTS.index(HIGHEST))
    judge.refused(2, CONTENTS.index(FREE))
    assert judge.found == [16, 16]
    judge.stated(NARROW)
    judge.refused(3, CONTENTS.index(HIGHEST))
    assert judge.found == [16, 16]


def test_what_nobody_holds_or_keeps_any_more_excuses_no_refusal(judge: Judged) -> None:
    judge.stated(NARROW)
    wide = {**OF_FILES, "ab": statement("ab", SHAPES[0], 3)}
    judge.rest(dict.fromkeys((A, B, C), wide), kept=[NARROW])
    judge.refused(1, CONTENTS.index(HIGHEST))
    assert judge.found == []
    judge.rest(dict.fromkeys((A, B, C), wide))
    judge.refused(2, CONTENTS.index(HIGHEST))
    assert judge.found == [16]


def test_at_rest_a_message_is_refused_exactly_if_it_does_not_fit(judge: Judged) -> None:
    narrow = {**OF_FILES, "ab": NARROW}
    for held, is_refused, found in (
        (OF_FILES, False, []),
        (OF_FILES, True, [16]),
        (narrow, True, []),
        (narrow, False, [16]),
        ({**OF_FILES, "ab": statement("ab", None, 2)}, True, [16]),
    ):
        judge.found.clear()
        judge.probed(1, CONTENTS.index(HIGHEST), is_refused, held)
        assert judge.found == found


def test_routers_in_reach_of_each_other_hold_the_same(judge: Judged) -> None:
    other = {**OF_FILES, "ab": NARROW}
    judge.rest({A: OF_FILES, B: OF_FILES, C: other}, PARTED)
    assert judge.found == []
    judge.rest({A: OF_FILES, B: OF_FILES, C: other})
    assert judge.found == [4]


@pytest.mark.parametrize("after", [OF_FILES, {name: OF_FILES[name] for name in NAMES[1:]}], ids=["older", "none"])
def test_a_router_does_not_go_back_while_it_lives(judge: Judged, after: Held) -> None:
    judge.look(A, 1, {**OF_FILES, "ab": NARROW})
    judge.look(A, 2, after)
    assert judge.found == []
    judge.look(A, 1, after)
    assert judge.found == [8]

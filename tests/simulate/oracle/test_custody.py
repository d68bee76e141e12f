"""The judge of custody: what it finds, and what it lets pass."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tamis.simulate.oracle.custody import ChainNumber, ChainOf, CustodyTruth

ENTRY, HOME, OTHER = 1, 11, 21
LOG, WANTED, CONTENT = 1, b"wanted", 3
MESSAGE = (7, 1)


class Judged(CustodyTruth):
    """Of three routers, of which one has a durable subscription that the others know."""

    def __init__(self) -> None:
        self.found: list[int] = []
        super().__init__(lambda invariant, _: self.found.append(invariant))
        self.known: dict[int, dict[int, list[bytes]]] = {ENTRY: {HOME: [WANTED]}, OTHER: {HOME: [WANTED]}, HOME: {}}
        self.statements = self._known
        for router in self.known:
            self.started(router, (LOG, 1, 0))
        self.made(HOME, WANTED, 1 << CONTENT)

    def _known(self, router: int) -> Mapping[int, list[bytes]]:
        return self.known[router]

    def confirm(self, n: int = 1, *, is_stored: bool = True, is_on_disk: bool = True) -> None:
        self.asked(ENTRY, MESSAGE, CONTENT, is_stored)
        self.given(number(n), MESSAGE)
        if is_on_disk:
            self.stored(ENTRY, MESSAGE, [HOME])
        self.confirmed(ENTRY, MESSAGE, is_stored)

    def rest(self, *links: int) -> list[int]:
        reach = {router: {*self.known} for router in self.known}
        self.at_rest(reach, {(ENTRY, HOME): sum(links)})
        return self.found


def number(n: int, log: int = LOG) -> ChainNumber:
    return ChainNumber(ENTRY, log, n)


@pytest.fixture
def judge() -> Judged:
    return Judged()


def test_a_confirmed_message_is_at_its_home_once(judge: Judged) -> None:
    judge.confirm()
    judge.arrived(HOME, number(1), MESSAGE)
    assert judge.rest() == []
    judge.arrived(HOME, ChainNumber(OTHER, LOG, 1), MESSAGE)
    assert judge.found == [19]


def test_one_that_is_missing_is_found_unless_it_is_counted_as_lost(judge: Judged) -> None:
    judge.confirm()
    assert judge.rest() == [19]
    judge.confirm(2)
    judge.counted_lost(HOME, number(2), [1, 2])
    assert judge.rest() == [19]


def test_what_nothing_wants_any_more_may_be_missing(judge: Judged) -> None:
    judge.confirm()
    judge.removed(HOME, WANTED)
    assert judge.rest() == []


def test_what_is_confirmed_is_on_disk(judge: Judged) -> None:
    judge.confirm(is_on_disk=False)
    assert judge.found == [20]


def test_what_is_held_is_at_the_home(judge: Judged) -> None:
    judge.confirm(is_stored=False)
    assert judge.found == [20]


def test_what_is_acknowledged_is_on_disk(judge: Judged) -> None:
    judge.arrived(HOME, number(4), MESSAGE)
    judge.acknowledged(HOME, LOG, ChainOf(ENTRY, LOG), 4)
    judge.acknowledged(HOME, LOG + 1, ChainOf(ENTRY, LOG), 5)
    assert judge.found == []
    judge.acknowledged(HOME, LOG, ChainOf(ENTRY, LOG), 5)
    assert judge.found == [20]


def test_numbers_rise(judge: Judged) -> None:
    judge.given(number(1), MESSAGE)
    judge.arrived(HOME, number(2), MESSAGE)
    assert judge.found == []
    judge.given(number(1), (7, 2))
    judge.passed(HOME, number(2))
    assert judge.found == [19, 19]


def test_what_is_there_is_not_counted_as_lost_and_nothing_twice(judge: Judged) -> None:
    judge.arrived(HOME, number(1), MESSAGE)
    judge.counted_lost(HOME, number(3), [1, 3])
    judge.counted_lost(HOME, number(4), [3, 4])
    assert judge.found == [19, 19]


def test_what_one_disk_had_alone_may_be_missing_where_the_home_doubts(judge: Judged) -> None:
    judge.began(HOME, ENTRY, LOG, 1)
    judge.confirm()
    judge.disk_lost(ENTRY)
    judge.started(ENTRY, (LOG + 1, 1, 0))
    judge.doubted(HOME, ENTRY)
    judge.began(HOME, ENTRY, LOG + 1, 1)
    assert judge.rest() == []
    judge.disk_lost(ENTRY)
    judge.began(HOME, ENTRY, LOG + 2, 1)
    assert judge.found == [19]


def test_what_a_backup_of_the_entry_has_still_arrives(judge: Judged) -> None:
    judge.confirm()
    judge.backed_up(ENTRY)
    judge.put_back(ENTRY)
    assert judge.rest() == [19]


def test_a_backup_of_the_entry_may_have_it_for_another_home_alone(judge: Judged) -> None:
    judge.stored(ENTRY, MESSAGE, [OTHER])
    judge.backed_up(ENTRY)
    judge.confirm()
    judge.put_back(ENTRY)
    assert judge.rest() == []


def test_a_confirmed_message_that_was_stored_for_another_home_alone_is_found(judge: Judged) -> None:
    judge.stored(ENTRY, MESSAGE, [OTHER])
    judge.confirm(is_on_disk=False)
    assert judge.rest() == [19]


def test_a_doubt_has_a_reason(judge: Judged) -> None:
    judge.doubted(HOME, ENTRY)
    assert judge.found == [19]


def test_a_home_that_was_put_back_doubts_what_it_lacks(judge: Judged) -> None:
    judge.backed_up(HOME)
    judge.confirm()
    judge.arrived(HOME, number(1), MESSAGE)
    judge.put_back(HOME)
    assert judge.rest() == []
    judge.passed(HOME, number(2))
    assert judge.rest() == [19]
    judge.removed(HOME, WANTED)
    assert judge.rest() == [19]


def test_what_its_entry_never_had_on_disk_needs_no_doubt(judge: Judged) -> None:
    judge.backed_up(HOME)
    judge.asked(ENTRY, MESSAGE, CONTENT, is_stored=True)
    judge.arrived(HOME, number(1), MESSAGE)
    judge.ended(ENTRY)
    judge.put_back(HOME)
    judge.passed(HOME, number(2))
    assert judge.rest() == []


def test_a_router_with_a_new_disk_owes_what_all_others_know(judge: Judged) -> None:
    judge.named(HOME, WANTED, ENTRY)
    judge.disk_lost(ENTRY)
    judge.known[ENTRY] = {}
    judge.started(ENTRY, (LOG + 1, 1, 0))
    judge.confirm()
    assert judge.rest() == [19]


def test_chains_end_and_publishers_are_answered(judge: Judged) -> None:
    assert judge.rest(2) == [19]
    judge.asked(ENTRY, MESSAGE, CONTENT, is_stored=True)
    assert judge.rest() == [19, 19]
    judge.ended(ENTRY)
    assert judge.rest() == [19, 19]


@pytest.mark.parametrize("is_on_disk", [True, False])
def test_a_stored_message_that_is_tried_again_is_not_due_for_what_is_younger(judge: Judged, is_on_disk: bool) -> None:
    judge.asked(ENTRY, MESSAGE, CONTENT, is_stored=False)
    judge.given(number(1), MESSAGE)
    if is_on_disk:
        judge.stored(ENTRY, MESSAGE, [HOME])
    judge.refused(ENTRY, MESSAGE, is_stored=False)
    judge.known[ENTRY][OTHER] = [b"younger"]
    judge.made(OTHER, b"younger", 1 << CONTENT)
    judge.asked(ENTRY, MESSAGE, CONTENT, is_stored=False)
    judge.stored(ENTRY, MESSAGE, [HOME])
    judge.arrived(HOME, number(1), MESSAGE)
    judge.confirmed(ENTRY, MESSAGE, is_stored=False)
    assert judge.found == ([] if is_on_disk else [20])

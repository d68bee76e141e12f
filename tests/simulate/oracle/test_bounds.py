"""The judge of bounds of custody: what it finds, and what it lets pass."""

from __future__ import annotations

import pytest

from tamis.simulate.oracle.bounds import SOON_US, BoundsTruth, WaitingLimits

ENTRY, HOME, SIZE, AGE_US = 1, 11, 100, 64_000_000
LATE_US = AGE_US + AGE_US // 64 + SOON_US + 1


class JudgedBounds(BoundsTruth):
    """An entry with room for four messages, and what is found wrong."""

    def __init__(self) -> None:
        self.found: list[int] = []
        self.time_us = 0
        super().__init__(lambda invariant, _: self.found.append(invariant), lambda: self.time_us)

    def start(self, *, refuses: bool = False, age_us: int = AGE_US, room: int = 4 * SIZE) -> None:
        self.started(ENTRY, WaitingLimits(room, age_us, refuses))
        self.time_us += SOON_US

    def enter(self, *numbers: int) -> None:
        for n in numbers:
            self.entered(ENTRY, n, [HOME], SIZE)
            self.entered_on_disk(ENTRY, n, [HOME], SIZE)

    def give_up(self, *numbers: int) -> list[int]:
        self.given_up(ENTRY, HOME, numbers)
        self.given_up_on_disk(ENTRY, HOME, numbers)
        return self.found


@pytest.fixture
def judge() -> JudgedBounds:
    return JudgedBounds()


def test_the_oldest_are_given_up_where_there_is_no_room(judge: JudgedBounds) -> None:
    judge.start()
    judge.enter(1, 2, 3, 4, 5)
    assert judge.give_up(1, 2) == []
    assert judge.give_up(3) == [21], "the others have room"


def test_what_is_past_the_bound_of_bytes_is_given_up(judge: JudgedBounds) -> None:
    judge.start()
    judge.enter(1, 2, 3, 4, 5)
    assert judge.found == []
    judge.at_rest([ENTRY])
    assert judge.found == [21]
    judge.acknowledged(ENTRY, HOME, 1)
    judge.at_rest([ENTRY])
    assert judge.found == [21]


@pytest.mark.parametrize("numbers", [(2, 3), (1, 3)])
def test_later_ones_are_not_given_up_before_the_oldest(judge: JudgedBounds, numbers: tuple[int, ...]) -> None:
    judge.start()
    judge.enter(1, 2, 3, 4, 5)
    assert judge.give_up(*numbers) == [21]


def test_no_more_than_half_is_given_up_at_once(judge: JudgedBounds) -> None:
    judge.start()
    judge.enter(1, 2, 3, 4, 5)
    assert judge.give_up(1, 2, 3, 4) == [21]


def test_what_has_waited_for_too_long_is_given_up_and_nothing_else(judge: JudgedBounds) -> None:
    judge.start()
    judge.enter(1)
    judge.time_us += AGE_US
    judge.enter(2)
    assert judge.give_up(1) == []
    assert judge.give_up(2) == [21]


def test_nothing_waits_for_too_long_also_over_a_start(judge: JudgedBounds) -> None:
    judge.start()
    judge.enter(1)
    judge.time_us += LATE_US
    judge.start()
    judge.at_rest([ENTRY])
    assert judge.found == [21]
    judge.start(age_us=0)
    judge.at_rest([ENTRY])
    assert judge.found == [21]


def test_a_start_goes_on_from_what_is_on_disk(judge: JudgedBounds) -> None:
    judge.start()
    judge.enter(1, 2, 3, 4)
    judge.entered(ENTRY, 5, [HOME], SIZE)
    judge.start()
    judge.at_rest([ENTRY])
    assert judge.found == []
    judge.backed_up(ENTRY)
    judge.disk_lost(ENTRY)
    judge.start(room=SIZE)
    judge.at_rest([ENTRY])
    assert judge.found == []
    judge.enter(6, 7)
    judge.at_rest([ENTRY])
    assert judge.found == [21]


def test_where_messages_are_refused_none_is_given_up_for_room_and_none_taken(judge: JudgedBounds) -> None:
    judge.start(refuses=True)
    judge.enter(1, 2, 3, 4)
    judge.refused(ENTRY, SIZE)
    assert judge.found == []
    judge.enter(5)
    assert judge.found == [21]
    assert judge.give_up(1) == [21, 21]


def test_what_has_room_is_not_refused(judge: JudgedBounds) -> None:
    judge.start(refuses=True)
    judge.enter(1, 2)
    judge.refused(ENTRY, SIZE)
    judge.start()
    judge.enter(3, 4)
    judge.refused(ENTRY, SIZE)
    assert judge.found == [21, 21]


def test_numbers_that_were_given_up_together_take_room_until_all_are_acknowledged(judge: JudgedBounds) -> None:
    judge.start(age_us=0, room=4 * SIZE + 8)
    judge.enter(1, 2, 3, 4, 5)
    judge.give_up(1, 2)
    judge.acknowledged(ENTRY, HOME, 1)
    judge.enter(6)
    assert judge.give_up(3) == [], "with both numbers there is no room"
    judge.acknowledged(ENTRY, HOME, 3)
    judge.enter(7)
    assert judge.give_up(4) == [21]


def test_a_home_with_another_log_may_have_more_before_it(judge: JudgedBounds) -> None:
    judge.start()
    judge.enter(1, 2, 3)
    judge.disk_lost(HOME)
    assert judge.give_up(1) == []

"""The answer to a LIST_DURABLES of those elsewhere: all come, in answers of a bounded size and a bounded look."""

from __future__ import annotations

from bisect import bisect_right

import pytest

from tamis.protocol.limits import DURABLES_PER_FRAME_MAX
from tamis.protocol.wire.client_bodies import Ack
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.durable_bodies import DurableElsewhere, DurablesListed, ListDurables
from tamis.protocol.wire.frames import decode
from tamis.protocol.wire.home_bodies import StatedDurable
from tamis.router.remote.lists import NAMES_MAX, listed

FRAME_BYTES = 65_536


class Stated:
    """What routers state: by name, the routers that have it, and the bytes of each one's filter."""

    def __init__(self, routers: dict[str, list[str]], filter_bytes: int = 10) -> None:
        self.routers, self.filter, self.looked = routers, bytes(filter_bytes), 0

    def behind(self, name: str, most: int) -> list[str]:
        names = sorted(self.routers)
        return names[bisect_right(names, name) :][:most]

    def at(self, name: str) -> list[tuple[str, StatedDurable]]:
        self.looked += 1
        return [(router, StatedDurable(name, "owner", (self.filter,), 0, 0, 0)) for router in self.routers[name]]


def answers(stated: Stated, shown: str = "") -> list[list[DurableElsewhere]]:
    """Return the rows of each answer up to the last; the client may see only names with `shown`."""
    found: list[list[DurableElsewhere]] = []
    after, more = "", True
    while more:
        before = stated.looked
        asked = ListDurables(1, after, elsewhere=True)
        _, frame = listed(stated, lambda _, one: shown in one.name, "near".__eq__, asked, FRAME_BYTES)
        answer = decode(frame)
        assert isinstance(answer, DurablesListed)
        assert stated.looked - before <= NAMES_MAX
        assert len(frame) <= FRAME_BYTES
        found.append(list(answer.elsewhere))
        after, more = answer.upto, answer.more
    return found


def names(rows: list[list[DurableElsewhere]]) -> list[str]:
    return [f"{row.name}@{row.router}" for answer in rows for row in answer]


def test_none_are_one_answer() -> None:
    assert answers(Stated({})) == [[]]


def test_all_come_in_order_with_what_their_routers_state() -> None:
    [rows] = answers(Stated({"b": ["near", "far"], "a": ["far"], "own": []}))
    assert [(row.name, row.router, row.is_in_reach) for row in rows] == [
        ("a", "far", False),
        ("b", "near", True),
        ("b", "far", False),
    ]
    assert {(row.owner, row.filters) for row in rows} == {("owner", (bytes(10),))}


@pytest.mark.parametrize("count", [NAMES_MAX - 1, NAMES_MAX, NAMES_MAX + 1, 3 * NAMES_MAX + 7])
def test_an_answer_looks_at_a_bounded_number_of_names(count: int) -> None:
    stated = Stated({f"n{n:04}": ["far"] for n in range(count)})
    found = answers(stated)
    assert names(found) == [f"n{n:04}@far" for n in range(count)]
    assert len(found) == -(-count // NAMES_MAX)


def test_those_that_are_not_shown_are_passed_over() -> None:
    stated = Stated({f"n{n:04}": ["far"] for n in range(3 * NAMES_MAX)})
    found = answers(stated, shown="n0250")
    assert [len(rows) for rows in found] == [0, 0, 1]


def test_an_answer_has_a_bounded_size_and_all_of_a_name() -> None:
    stated = Stated({f"n{n}": ["x", "y"] for n in range(9)}, filter_bytes=10_000)
    found = answers(stated)
    assert [len(rows) for rows in found] == [6, 6, 6]
    assert len(names(found)) == 18


def test_an_answer_has_a_bounded_number_of_rows() -> None:
    routers = [f"r{n}" for n in range(100)]
    found = answers(Stated({f"n{n}": routers for n in range(5)}))
    assert [len(rows) for rows in found] == [200, 200, 100]
    assert all(len(rows) <= DURABLES_PER_FRAME_MAX for rows in found)


@pytest.mark.parametrize("stated", [Stated({"a": ["x"]}, 70_000), Stated({"a": [f"r{n}" for n in range(257)]}, 10)])
def test_what_is_longer_than_the_frame_of_the_client_is_refused_by_name(stated: Stated) -> None:
    _, frame = listed(stated, lambda *_: True, lambda _: True, ListDurables(1, "", elsewhere=True), FRAME_BYTES)
    answer = decode(frame)
    assert isinstance(answer, Ack)
    assert answer.refusals[0].code == RefusalCode.TOO_LARGE
    assert "'a'" in answer.refusals[0].reason

"""R16: filters of worker groups are stated by themselves, with about as many members as there are."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.protocol.filters import EVERYTHING
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.protocol.wire.routing_bodies import Extended, group_of, of_group
from tamis.router.core.statements.cover import Cover
from tamis.router.core.statements.own_predicate import OwnPredicate
from tamis.router.core.strategies.flood import EVERYTHING as ALL
from tamis.router.core.strategies.flood import Everything
from tamis.simulate.twin.filter_index import PureIndex
from tests.router.core.bodies import less
from tests.router.core.graphs import checks

HOLD_US = 10
INTEREST = [
    less(1),
    encode_filter(EVERYTHING),
    *(of_group(packed, group) for packed in (less(1), less(2)) for group in ("a", "b")),
]


def own() -> OwnPredicate:
    return OwnPredicate(HOLD_US, Cover(PureIndex()))


def stated(asked: OwnPredicate) -> list[bytes]:
    asked.issue()
    return list(asked.issued.values())


def shared(asked: OwnPredicate) -> list[tuple[bytes, str, int]]:
    return [(bytes(each), each.group, each.members) for each in stated(asked) if isinstance(each, Extended)]


@checks
@given(st.lists(st.tuples(st.sampled_from(["want", "unwant", "wait", "work"]), st.integers(0, 50)), max_size=60))
def test_each_filter_of_a_group_is_stated_once_whatever_clients_do(steps):
    asked, wanted, now_us = own(), Counter[bytes](), 0
    left_us: dict[bytes, int] = {}
    for what, number in steps:
        wish = INTEREST[number % len(INTEREST)]
        if what == "want":
            asked.want(wish)
            wanted[wish] += 1
        elif what == "unwant" and wanted[wish]:
            asked.unwant(wish, now_us)
            wanted[wish] -= 1
            left_us[wish] = now_us
        elif what == "wait":
            now_us += number % HOLD_US
            asked.expire(now_us)
        else:
            asked.work()
        known = [each for each in stated(asked) if isinstance(each, Extended)]
        names = [of_group(each, each.group) for each in known]
        assert len(names) == len(set(names))
        assert {wish for wish in +wanted if group_of(wish)} <= set(names)
        for each, name in zip(known, names, strict=True):
            count = wanted[name]
            assert count <= each.members < 4 * count or (count == 0 and now_us < left_us[name] + HOLD_US)


def test_a_filter_of_a_group_is_not_covered_and_covers_nothing():
    asked = own()
    for wish in INTEREST:
        asked.want(wish)
    while asked.has_work:
        asked.work()
    assert len(shared(asked)) == 4
    assert [each for each in stated(asked) if not group_of(each)] == [encode_filter(EVERYTHING)]


def test_the_number_of_members_grows_at_once_and_shrinks_late():
    asked, wish = own(), of_group(less(1), "workers")
    seen = []
    for _ in range(5):
        asked.want(wish)
        seen.append(shared(asked))
    assert seen == [[(less(1), "workers", members)] for members in (1, 2, 4, 4, 8)]
    seen.clear()
    for _ in range(4):
        asked.unwant(wish, 0)
        seen.append(shared(asked))
    assert seen == [[(less(1), "workers", members)] for members in (8, 8, 2, 2)]


def test_the_last_member_is_stated_for_the_hold_and_one_that_comes_back_changes_nothing():
    asked, wish = own(), of_group(less(1), "workers")
    asked.want(wish)
    asked.want(wish)
    asked.issue()
    asked.unwant(wish, 0)
    asked.unwant(wish, 0)
    asked.want(wish)
    asked.expire(HOLD_US)
    assert not asked.has_changes
    asked.unwant(wish, HOLD_US)
    asked.expire(2 * HOLD_US)
    assert shared(asked) == []
    asked.want(wish)
    assert shared(asked) == [(less(1), "workers", 1)], "what was remembered of earlier members has gone"


def test_a_member_that_is_none_cannot_leave():
    asked = own()
    with pytest.raises(KeyError):
        asked.unwant(of_group(less(1), "workers"), 0)
    asked.want(of_group(less(1), "workers"))
    asked.unwant(of_group(less(1), "workers"), 0)
    with pytest.raises(KeyError):
        asked.unwant(of_group(less(1), "workers"), 0)


def test_who_floods_states_filters_of_groups_beside_everything():
    asked = Everything(HOLD_US, Cover(PureIndex()))
    asked.want(of_group(less(1), "workers"))
    assert shared(asked) == [(less(1), "workers", 1)]
    asked.want(less(2))
    assert stated(asked) == [of_group(less(1), "workers"), ALL]

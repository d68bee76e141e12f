"""R16: which router a worker group gets a message at."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tamis.router.core.times import Times
from tamis.simulate.twin.forwarder import Forwarder, TransitId
from tamis.simulate.twin.group_choice import choose, pick, turn_of
from tests.router.core.graphs import checks
from tests.simulate.twin.test_forwarder import ME, FakeTrees, forwarder

GROUP = 5
ENTRY = TransitId(ME, 1, 1)
WEIGHTS = st.dictionaries(st.integers(1, 20), st.integers(1, 64), max_size=6)


@checks
@given(WEIGHTS, st.integers(0, 2**64 - 1))
def test_a_router_with_members_is_picked_where_there_is_one(weights, turn):
    assert pick(weights, turn) in (weights or {None})


def test_each_router_is_picked_in_proportion_to_its_members():
    weights = {7: 1, 3: 4, 9: 3}
    picked = Counter(pick(weights, turn_of(b"key", (ME, 1, counter), GROUP)) for counter in range(8_000))
    assert all(abs(picked[router] - 1_000 * members) < 150 for router, members in weights.items())


def test_groups_choose_by_themselves_and_nobody_aims_without_the_key():
    members = {group: dict.fromkeys(range(1, 9), 1) for group in range(20)}
    chosen = choose(b"key", ENTRY, members)
    assert len(set(chosen.values())) > 4
    assert chosen == choose(b"key", ENTRY, members)
    assert chosen != choose(b"another", ENTRY, members)
    assert choose(b"key", ENTRY, {GROUP: {}}) == {}


def test_the_entry_chooses_among_routers_in_reach_and_itself():
    made = forwarder(FakeTrees(down={2: 2, 3: 2}))
    weights = {GROUP: dict.fromkeys((ME, 2, 3, 4), 1)}
    chosen = [made.choices(TransitId(ME, 1, counter), weights, None)[GROUP] for counter in range(100)]
    assert set(chosen) == {ME, 2, 3}
    assert made.choices(ENTRY, {GROUP: {4: 1}}, None) == {}


def test_what_a_message_says_stands_whatever_is_known_here():
    made = forwarder(FakeTrees(down={2: 2}))
    assert made.choices(ENTRY, {GROUP: {2: 1}}, {GROUP: 99}) == {GROUP: 99}
    assert made.choices(ENTRY, {GROUP: {2: 1}}, {}) == {}


def test_another_router_is_none_of_those_that_were_chosen_and_have_nobody():
    made = forwarder(FakeTrees(down={2: 2, 3: 3}))
    weights = {ME: 8, 2: 1, 3: 1, 4: 1}
    others = {made.another(TransitId(9, 1, counter), GROUP, weights) for counter in range(50)}
    assert others == {2, 3}
    assert made.another(ENTRY, GROUP, {ME: 8, 4: 1}) is None
    assert made.towards(3) == 3


def test_a_router_alone_chooses_itself_and_has_no_ways():
    made = Forwarder(ME, 1, Times())
    assert made.choices(ENTRY, {GROUP: {ME: 1, 2: 1}}, None) == {GROUP: ME}
    assert made.towards(2) is None

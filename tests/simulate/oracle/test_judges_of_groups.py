"""The judge of worker groups (invariant 15) finds a second member, and a member that was left out."""

from __future__ import annotations

from tamis.simulate.nodes.message import Chosen, SimulatedMessage
from tamis.simulate.twin.forwarder import TransitId
from tests.simulate.oracle.court import ENTRY, GROUP, A, B, C, Court, S, cut

# 15.


def _asked(court: Court, chosen: int = C, retried: bool = False) -> SimulatedMessage:
    """A message that entered at A, for members of a group: client 1 at C since the beginning, unless a test says so."""
    message = court.message()
    message.chosen[ENTRY] = Chosen(A, 10 * S, {GROUP: chosen})
    if retried:
        message.chosen[TransitId(B, 1, 1)] = Chosen(B, 10 * S, {GROUP: chosen})
    return message


def test_one_member_gets_a_message(shared: Court) -> None:
    message = _asked(shared)
    shared.groups.shared(1, message, GROUP, ENTRY)
    shared.groups.in_motion(message)
    shared.groups.at_rest(message, A)
    assert shared.found == []
    assert shared.groups.counts["required of groups in motion"] == 1


def test_two_members_are_one_too_many_and_one_that_is_none_is_another(shared: Court) -> None:
    shared.groups.joined(2, B, GROUP, 0, 0b1)
    message = _asked(shared)
    shared.groups.shared(1, message, GROUP, ENTRY)
    shared.groups.shared(2, message, GROUP, ENTRY)
    assert shared.found == [15]
    shared.groups.left(1, GROUP, 0)
    shared.groups.shared(1, _asked(shared), GROUP, ENTRY)
    assert shared.found == [15, 15]


def test_a_second_try_may_reach_a_second_member_and_is_counted(shared: Court) -> None:
    shared.groups.joined(2, B, GROUP, 0, 0b1)
    message = _asked(shared, retried=True)
    shared.groups.shared(1, message, GROUP, ENTRY)
    shared.groups.shared(2, message, GROUP, TransitId(B, 1, 1))
    shared.groups.in_motion(message)
    assert shared.found == []
    assert shared.groups.counts["members after a second try"] == 1


def test_a_member_whose_way_stayed_up_gets_it(shared: Court) -> None:
    shared.groups.at_rest(_asked(shared), A)
    shared.groups.in_motion(_asked(shared))
    assert shared.found == [15, 15]


def test_a_way_that_broke_excuses_where_it_is_counted(shared: Court) -> None:
    message = _asked(shared)
    cut(shared)
    message.lost["session over"] = 1
    shared.groups.in_motion(message)
    shared.groups.at_rest(message, A)
    assert shared.found == []


def test_a_copy_that_nobody_counted_is_found(shared: Court) -> None:
    shared.now_us = 9 * S + S // 2
    shared.groups.left(1, GROUP, 0)
    shared.groups.joined(1, C, GROUP, 0, 0b1)  # since too short a time to be required
    message = _asked(shared)
    shared.groups.in_motion(message)
    assert shared.found == [15]
    message.unshared[ENTRY, GROUP] = "no member left"
    shared.groups.in_motion(message)
    assert shared.found == [15]


def test_one_router_whose_last_member_left_excuses_nothing_and_two_do(shared: Court) -> None:
    for client, router in ((2, B), (3, A)):
        shared.now_us = 0
        shared.groups.joined(client, router, GROUP, 0, 0b1)
        shared.now_us = 9 * S
        shared.groups.left(client, GROUP, 0)
        message = _asked(shared, chosen=router)
        message.unshared[ENTRY, GROUP] = "no member left"
        shared.groups.in_motion(message)
        assert shared.found == [15], "with the first alone"

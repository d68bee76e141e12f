"""Unmatched messages, as the switch stores them: which, how many, and in how many bytes."""

from __future__ import annotations

import random

import pytest

from tamis.native import OutOfMemory, Switch, SwitchOptions, Table, keep_unmatched, unmatched
from tamis.native.unmatched import BYTES_MIN
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.sampling import ALL, is_sampled, threshold_of
from tamis.protocol.wire.attributes import decode_attributes
from tamis.protocol.wire.data_frames import DataFrame, encode_data, encode_publish
from tamis.protocol.wire.extensions import ExtensionType
from tamis.protocol.wire.header import Flags
from tamis.protocol.wire.kinds import FrameKind
from tests.native.test_switch import ALICE, BOB, opened, subscribing

ENTRY_BYTES = 48
"""Bytes of an entry without its attributes."""


@pytest.fixture
def switch():
    table = Table()
    made = Switch(table, SwitchOptions(number=1, epoch=2, connections_max=3, publishers_max=10, hop_limit=9))
    yield made
    made.validate()
    made.close()
    table.close()


def publish(switch: Switch, connection: int, counter: int, attributes: dict, payload: bytes = b"") -> None:
    switch.feed(connection, encode_publish(ALICE, counter, 0, attributes, payload))


def test_nothing_is_kept_unless_it_is_asked_for(switch):
    publish(switch, opened(switch, ALICE), 1, {"a": 1})
    assert unmatched(switch, 0, 10) == ([], 0)


def test_what_nobody_wanted_is_kept_without_its_payload(switch):
    alice, bob = opened(switch, ALICE), opened(switch, BOB)
    keep_unmatched(switch, ALL, BYTES_MIN)
    switch.subscribe(switch.subscriber_of(bob), subscribing(BOB, "wanted = true"), 10)
    publish(switch, alice, 1, {"wanted": True})
    publish(switch, alice, 2, {"wanted": False, "text": "x"}, b"a payload")
    question = Message({"wanted": False}, b"", MessageId(ALICE, 3))
    trace = {int(ExtensionType.TRACE): 77}
    switch.feed(alice, encode_data(DataFrame(FrameKind.DRY_RUN, question, Flags.TRACED, extensions=trace)))
    [kept], latest = unmatched(switch, 0, 10)
    assert (kept.n, latest, kept.origin, kept.number, kept.connection) == (1, 1, ALICE, 2, alice)
    assert decode_attributes(kept.attributes) == {"wanted": False, "text": "x"}
    assert kept.payload_bytes == len(b"a payload")


def test_a_message_that_is_sent_twice_is_kept_once(switch):
    alice = opened(switch, ALICE)
    keep_unmatched(switch, ALL, BYTES_MIN)
    publish(switch, alice, 1, {"a": 1})
    publish(switch, alice, 1, {"a": 1})
    assert [kept.number for kept in unmatched(switch, 0, 10)[0]] == [1]


def test_the_share_is_that_of_the_records(switch):
    alice, threshold = opened(switch, ALICE), threshold_of(0.25)
    keep_unmatched(switch, threshold, BYTES_MIN)
    for counter in range(1, 201):
        publish(switch, alice, counter, {"a": counter})
    chosen = [counter for counter in range(1, 201) if is_sampled(MessageId(ALICE, counter), threshold)]
    assert 20 < len(chosen) < 80
    kept, latest = unmatched(switch, 0, 1_000)
    assert ([each.number for each in kept], latest) == (chosen, len(chosen))
    assert [each.number for each in unmatched(switch, 5, 3)[0]] == chosen[5:8]


@pytest.mark.parametrize("seed", range(4))
def test_the_latest_are_kept_and_the_ring_never_grows(switch, seed):
    """Against a list: what is kept is a run of the latest, each as it was, and what lies in the ring is never more than
    its bytes; one more of the size of the next message would not have fitted, but for the place where the ring ends."""
    chance, alice = random.Random(seed), opened(switch, ALICE)
    keep_unmatched(switch, ALL, BYTES_MIN)
    before = switch.figures().memory_bytes
    sent: list[dict] = []
    for counter in range(1, 401):
        longest = 60_000 if chance.random() < 0.1 else 2_000
        sent.append({"t": "x" * chance.randrange(longest), "n": counter})
        publish(switch, alice, counter, sent[-1])
        switch.validate()
        kept, latest = unmatched(switch, 0, 10_000)
        assert latest == counter
        assert [each.n for each in kept] == list(range(counter - len(kept) + 1, counter + 1))
        assert all(decode_attributes(each.attributes) == sent[each.n - 1] for each in kept)
        assert sum(ENTRY_BYTES + len(each.attributes) for each in kept) <= BYTES_MIN
    assert len(kept) >= 1
    assert switch.figures().memory_bytes - before < 1_024 * 1_024


def test_a_message_that_is_larger_than_the_ring_is_numbered_and_not_kept(switch):
    alice = opened(switch, ALICE)
    keep_unmatched(switch, ALL, BYTES_MIN)
    publish(switch, alice, 1, {"a": 1})
    publish(switch, alice, 2, {"a": "x" * BYTES_MIN})
    publish(switch, alice, 3, {"a": 3})
    kept, latest = unmatched(switch, 0, 10)
    assert ([each.n for each in kept], latest) == ([1, 3], 3)


def test_another_size_begins_anew_and_numbers_go_on(switch):
    alice = opened(switch, ALICE)
    keep_unmatched(switch, ALL, BYTES_MIN)
    publish(switch, alice, 1, {"a": 1})
    keep_unmatched(switch, threshold_of(0.5), BYTES_MIN)
    assert len(unmatched(switch, 0, 10)[0]) == 1
    keep_unmatched(switch, ALL, 2 * BYTES_MIN)
    assert unmatched(switch, 0, 10) == ([], 1)
    publish(switch, alice, 2, {"a": 2})
    assert [each.n for each in unmatched(switch, 0, 10)[0]] == [2]
    keep_unmatched(switch, 0, 0)
    publish(switch, alice, 3, {"a": 3})
    assert unmatched(switch, 0, 10) == ([], 2)


def test_without_memory_it_goes_on_as_before(switch):
    alice = opened(switch, ALICE)
    keep_unmatched(switch, ALL, BYTES_MIN)
    publish(switch, alice, 1, {"a": 1})
    switch.fail_allocation(1)
    with pytest.raises(OutOfMemory):
        keep_unmatched(switch, ALL, 4 * BYTES_MIN)
    assert len(unmatched(switch, 0, 10)[0]) == 1

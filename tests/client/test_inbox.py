from __future__ import annotations

from concurrent.futures import Future

from tamis.client.gap import Gap, GapReason
from tamis.client.message import Message
from tamis.client.messages.inbox import Inbox, InboxBounds
from tamis.protocol.wire.data_frames import encode_data
from tests.client.by_hand import delivery

MESSAGE = Message(encode_data(delivery(1)))
SIZE = MESSAGE.frame_bytes


def new(messages: int = 1_000, octets: int = 1 << 20) -> tuple[Inbox, set[Inbox]]:
    full: set[Inbox] = set()
    return Inbox(InboxBounds(octets, messages), full, lambda _: None), full


def fill(inbox: Inbox, count: int) -> None:
    for _ in range(count):
        inbox.put(MESSAGE)


def test_it_is_full_at_either_bound_and_no_more_at_half() -> None:
    for inbox, full in new(messages=10), new(octets=10 * SIZE):
        fill(inbox, 9)
        assert not full
        fill(inbox, 1)
        assert full == {inbox}
        for _ in range(5):
            inbox.take()
        assert full == {inbox}
        inbox.take()
        assert not full
        assert inbox.bytes == 4 * SIZE


def test_one_read_may_pass_the_bounds() -> None:
    inbox, _ = new(messages=10)
    fill(inbox, 100)
    assert list(inbox.items) == [MESSAGE] * 100


def test_past_twice_the_bound_the_newest_are_dropped_and_one_gap_counts_them() -> None:
    inbox, _ = new(messages=10)
    fill(inbox, 15)
    inbox.shut_if_past()
    fill(inbox, 5)
    inbox.shut_if_past()
    fill(inbox, 5)
    items = [inbox.take() for _ in range(21)]
    assert items[:20] == [MESSAGE] * 20
    assert items[20] == Gap(GapReason.INBOX_FULL, 5, 5 * SIZE)
    assert not inbox.items
    assert inbox.bytes == 0


def test_after_a_gap_messages_come_again_and_the_next_gap_counts_anew() -> None:
    inbox, _ = new(messages=2)
    for count in 4, 2:
        fill(inbox, count)
        inbox.shut_if_past()
    inbox.take()
    inbox.take()
    for count in 3, 3:
        inbox.shut_if_past()
        fill(inbox, count)
    shown = [item.count if isinstance(item, Gap) else "message" for item in inbox.items]
    assert shown == ["message", "message", 2, "message", "message", "message", 3]


def test_waiters_hear_of_the_first_message_and_of_the_end() -> None:
    inbox, _ = new()
    waiters: list[Future[None]] = [Future(), Future()]
    inbox.waiters += waiters
    fill(inbox, 1)
    assert all(waiter.done() for waiter in waiters)
    assert not inbox.waiters
    last: Future[None] = Future()
    inbox.waiters.append(last)
    inbox.end()
    assert last.done()
    assert inbox.items  # what has arrived may still be taken


def test_clearing_makes_room() -> None:
    inbox, full = new(messages=3)
    fill(inbox, 3)
    inbox.clear()
    assert not full
    assert inbox.bytes == 0

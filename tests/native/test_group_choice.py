"""R16: the switch chooses once for worker groups, where a message enters, and delivers where it was chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tamis.native import EventType, SubscribeFrame, Table
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.data_frames import DataFrame, encode_data
from tamis.protocol.wire.extensions import NO_EXTENSIONS, Extensions, ExtensionType, ExtensionValue, GroupChoice
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.header import Transit
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import group_number
from tamis.protocol.wire.routing_bodies import of_group
from tests.native.test_others import ALICE, CLIENT, EAST, FAR, ME, WEST, Router, message, packed

WORKERS = group_number("workers")


class Sharing(Router):
    """west -- me -- east -- far; filters of groups have their table."""

    def __init__(self) -> None:
        super().__init__()
        self.shared = Table()
        self.switch.share(self.shared)
        self.published = 0

    def close(self) -> None:
        super().close()
        self.shared.close()

    def join(self, predicate: str = "x > 0", group: str = "workers") -> None:
        item = bodies.SubscriptionItem(5, (packed(predicate),))
        wanted = bodies.Subscribe(1, (item,), True, bodies.Reach.HOME, False, group)
        assert self.switch.subscribe(self.switch.subscriber_of(self.alice), SubscribeFrame(encode(wanted)), 10) == []

    def publish(self, extensions: Extensions = NO_EXTENSIONS, **attributes: int) -> None:
        self.published += 1
        body = Message(attributes or {"x": 1}, b"payload", MessageId(ALICE, self.published))
        self.switch.feed(self.alice, encode_data(DataFrame(FrameKind.PUBLISH, body, extensions=extensions)))

    def went(self, connection: int) -> list[DataFrame]:
        return [frame for frame in self.sent(connection) if isinstance(frame, DataFrame)]


@pytest.fixture
def router() -> Iterator[Sharing]:
    made = Sharing()
    yield made
    made.close()


def chosen_in(frame: DataFrame) -> object:
    return frame.extensions.get(ExtensionType.GROUP_CHOICE)


def test_a_message_that_enters_goes_to_one_router_in_proportion_to_members(router: Sharing) -> None:
    router.switch.install(WEST, {1: of_group(packed("x > 0"), "workers", 1)})
    router.switch.install(FAR, {1: of_group(packed("x > 0"), "workers", 3)})
    for _ in range(400):
        router.publish()
    west, east = router.went(router.west), router.went(router.east)
    assert len(west) + len(east) == 400
    assert 60 < len(west) < 140
    assert {chosen_in(frame) for frame in west} == {(GroupChoice(WORKERS, WEST),)}
    assert {chosen_in(frame) for frame in east} == {(GroupChoice(WORKERS, FAR),)}
    assert all(frame.message.payload == b"payload" for frame in west + east)


def test_its_own_members_count_and_get_their_share(router: Sharing) -> None:
    router.switch.install(EAST, {1: of_group(packed("x > 0"), "workers", 1)})
    router.join()
    for _ in range(200):
        router.publish()
    here, there = router.went(router.alice), router.went(router.east)
    assert len(here) + len(there) == 200
    assert 60 < len(here) < 140
    assert {frame.kind for frame in here} == {FrameKind.DELIVER}


def test_plain_filters_and_groups_share_a_frame(router: Sharing) -> None:
    router.switch.install(FAR, {1: of_group(packed("x > 0"), "workers", 1), 2: packed("x = 1"), 3: packed("y = 1")})
    router.switch.install(WEST, {1: packed("x = 1")})
    expiry: Extensions = {ExtensionType.EXPIRY: 2**63}
    router.publish(expiry)
    [east], [west] = router.went(router.east), router.went(router.west)
    assert chosen_in(east) == chosen_in(west) == (GroupChoice(WORKERS, FAR),)
    assert east.extensions[ExtensionType.EXPIRY] == 2**63
    router.publish(y=1)
    [plain] = router.went(router.east)
    assert chosen_in(plain) is None


def test_groups_choose_apart_and_who_is_out_of_reach_is_not_chosen(router: Sharing) -> None:
    names = [f"g{number}" for number in range(20)]
    for peer in (WEST, FAR, 555):
        router.switch.install(peer, {index: of_group(packed("x > 0"), name, 1) for index, name in enumerate(names, 1)})
    router.publish()
    [east] = router.went(router.east)
    choices = chosen_in(east)
    assert isinstance(choices, tuple)
    assert [choice.group for choice in choices] == sorted(map(group_number, names))
    assert Counter(choice.router for choice in choices).keys() == {WEST, FAR}


def test_a_message_in_transit_goes_where_it_says_and_nothing_is_chosen_anew(router: Sharing) -> None:
    router.switch.install(EAST, {1: of_group(packed("x > 0"), "workers", 64)})
    router.join()
    for counter, (chosen, east, here) in enumerate(((FAR, 1, 0), (ME, 0, 1), (WEST, 0, 0)), 1):
        frame = replace(
            message(counter=counter), extensions={ExtensionType.GROUP_CHOICE: (GroupChoice(WORKERS, chosen),)}
        )
        router.feed(router.west, frame)
        assert len(router.went(router.alice)) == here
        onward = router.went(router.east)
        assert [chosen_in(frame) for frame in onward] == [(GroupChoice(WORKERS, chosen),)] * east
    router.feed(router.west, message(counter=9))
    assert router.went(router.alice) == [], "a message without a choice is for no member"


def chosen_for(router: int, counter: int, only: bool = False, **attributes: int) -> DataFrame:
    """A message from WEST with a choice of `router`, one attribute x or those given."""
    extensions: dict[int, ExtensionValue] = {ExtensionType.GROUP_CHOICE: (GroupChoice(WORKERS, router),)}
    if only:
        extensions[ExtensionType.MEMBERS_ONLY] = b""
    return replace(message(counter=counter, **attributes), extensions=extensions)


def test_a_chosen_router_without_a_member_passes_a_message_on_once(router: Sharing) -> None:
    router.switch.install(FAR, {1: of_group(packed("x > 0"), "workers", 1), 2: packed("x > 0")})
    router.switch.install(EAST, {1: of_group(packed("x > 0"), "others", 1)})
    expiry = {ExtensionType.EXPIRY: 2**63}
    sent = chosen_for(ME, 1)
    router.feed(router.west, replace(sent, extensions={**sent.extensions, **expiry}))
    plain, passed_on = router.went(router.east)
    assert chosen_in(plain) == (GroupChoice(WORKERS, ME),), "what FAR wants besides goes its way"
    assert passed_on.extensions == {
        ExtensionType.GROUP_CHOICE: (GroupChoice(WORKERS, FAR),),
        ExtensionType.MEMBERS_ONLY: b"",
        **expiry,
    }
    assert (passed_on.transit.source, passed_on.transit.epoch, passed_on.hop_limit) == (ME, 2, 6)
    assert passed_on.message == sent.message
    assert router.dropped("no_member") == router.dropped("unmatched") == 0


def test_what_was_passed_on_goes_to_a_member_or_ends_here(router: Sharing) -> None:
    router.switch.install(FAR, {1: of_group(packed("x > 0"), "workers", 1)})
    router.subscribe(9, "x > 0")
    router.feed(router.west, chosen_for(ME, 1, only=True))
    assert router.went(router.alice) == [], "Alice is no member"
    assert router.went(router.east) == []
    assert router.dropped("no_member") == 1
    router.join()
    router.feed(router.west, chosen_for(ME, 2, only=True))
    [frame] = router.went(router.alice)
    assert frame.extensions[ExtensionType.SATISFIED] == (5,)


def test_what_was_passed_on_goes_to_one_router_alone(router: Sharing) -> None:
    router.switch.install(EAST, {1: packed("x > 0")})
    router.switch.install(WEST, {1: packed("x > 0")})
    router.subscribe(9, "x > 0")
    router.feed(router.west, chosen_for(WEST, 1, only=True))
    assert router.went(router.east) == router.went(router.alice) == []
    router.feed(router.west, chosen_for(FAR, 2, only=True))
    [frame] = router.went(router.east)
    assert frame.extensions[ExtensionType.MEMBERS_ONLY] == b""


def test_a_message_that_no_member_is_left_for_is_counted(router: Sharing) -> None:
    router.feed(router.west, chosen_for(ME, 1))
    assert (router.dropped("no_member"), router.dropped("unmatched")) == (1, 0)


def test_a_member_gets_no_second_try_and_plain_subscriptions_spend_none(router: Sharing) -> None:
    router.subscribe(9, "x > 0")
    router.feed(router.west, message(counter=1))
    assert len(router.went(router.alice)) == 1
    router.join()
    again = replace(chosen_for(ME, 2), message=message(counter=1).message)
    router.feed(router.west, again)
    [frame] = router.went(router.alice)
    assert frame.extensions[ExtensionType.SATISFIED] == (5,), "as a member, who had no earlier try"
    router.feed(router.west, replace(again, transit=replace_counter(again, 3)))
    assert router.went(router.alice) == []
    assert router.dropped("duplicate") == 3, "of the plain subscription twice, of the group once"


def replace_counter(frame: DataFrame, counter: int) -> Transit:
    return frame.transit._replace(counter=counter)


def test_a_client_may_not_send_to_members_alone(router: Sharing) -> None:
    router.published += 1
    body = Message({"x": 1}, b"", MessageId(ALICE, router.published))
    frame = DataFrame(FrameKind.PUBLISH, body, extensions={ExtensionType.MEMBERS_ONLY: b""})
    [fault] = [event for event in router.feed(router.alice, frame) if event.type == EventType.FAULT]
    assert fault.code == ErrorCode.BAD_EXTENSION


def test_names_that_groups_alone_know_are_read_in_transit(router: Sharing) -> None:
    """Attributes that no other table knows are left out after a while, and those of groups are not among them."""
    router.switch.install(FAR, {1: of_group(packed("z = 3"), "workers", 1)})
    for counter in range(1, 8):
        router.feed(router.west, message(counter=counter, x=1, y=2, z=3))
    router.feed(router.west, chosen_for(ME, 9, x=1, y=2, z=3))
    [frame] = router.went(router.east)
    assert chosen_in(frame) == (GroupChoice(WORKERS, FAR),)


def test_a_member_whose_queue_is_full_is_not_chosen(router: Sharing) -> None:
    small = replace(CLIENT, number=8, queue_bytes_max=2_000)
    bob = router.opened(small)
    item = bodies.SubscriptionItem(5, (packed("x > 0"),))
    wanted = bodies.Subscribe(1, (item,), True, bodies.Reach.HOME, False, "workers")
    assert router.switch.subscribe(router.switch.subscriber_of(bob), SubscribeFrame(encode(wanted)), 10) == []
    router.join()
    for counter in range(1, 101):
        router.feed(router.west, chosen_for(ME, counter))
    assert len(router.went(router.alice)) + len(router.went(bob)) == 100
    assert router.dropped("queue_full") == 0


def test_a_router_without_ways_keeps_what_its_members_want(router: Sharing) -> None:
    router.join()
    router.publish()
    assert len(router.went(router.alice)) == 1
    router.publish(y=1)
    assert router.went(router.alice) == []

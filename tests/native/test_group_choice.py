"""R16: the switch chooses once for worker groups, where a message enters, and delivers where it was chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tamis.native import SubscribeFrame, Table
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.data_frames import DataFrame, encode_data
from tamis.protocol.wire.extensions import NO_EXTENSIONS, Extensions, ExtensionType, GroupChoice
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import group_number
from tamis.protocol.wire.routing_bodies import of_group
from tests.native.test_others import ALICE, EAST, FAR, ME, WEST, Router, message, packed

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


def test_a_router_without_ways_keeps_what_its_members_want(router: Sharing) -> None:
    router.join()
    router.publish()
    assert len(router.went(router.alice)) == 1
    router.publish(y=1)
    assert router.went(router.alice) == []

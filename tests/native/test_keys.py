"""Keys of matching filters in one switch (R13b): when they are written and used, what each copy carries, who may not
write them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tamis.native import EventType, Table
from tamis.native._tm import lib
from tamis.native.switch import Switch
from tamis.native.switch_values import SwitchOptions
from tamis.protocol import limits
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.data_frames import DataFrame, encode_data
from tamis.protocol.wire.extensions import Extensions, ExtensionType, LinkKeys, Route, RouteMode
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import filter_key
from tests.native.test_others import ALICE, CLIENT, EAST, EVERYTHING, FAR, LINK, ME, WEST, Router, message, packed

DIGEST = bytes(range(16))
SOUTH = 25
HELD = (ME, WEST, EAST, SOUTH, FAR)
CROWD = {id_: packed("y = 7") for id_ in range(100, 140)}
KNOWS = {"takes_route": True, "takes_keys": True}
SOURCE = FAR + 5
"""A source whose messages come from the west, and go on to all others."""


class Crossing(Router):
    """west -- me -- east -- far, and south beside east: a message from the west may leave by two links."""

    def __init__(self) -> None:
        super().__init__()
        self.close()
        self.table, self.network = Table(), Table("counting")
        options = SwitchOptions(number=ME, epoch=2, connections_max=9, publishers_max=10, hop_limit=9)
        self.switch = switch = Switch(self.table, options)
        switch.join(self.network, 10, "keys")
        switch.limit_keys(3)
        self.west = self.opened(LINK)
        self.east, self.south = (self.opened(replace(LINK, number=number, **KNOWS)) for number in (EAST, SOUTH))
        self.alice = self.opened(CLIENT)
        self.routes()
        switch.commit(0)
        switch.install(FAR, CROWD)
        switch.hold(DIGEST, HELD)

    def routes(self) -> None:
        generation = self.switch.begin_routes(6)
        for source, parent in ((ME, None), (WEST, WEST)):
            ways = {EAST: EAST, FAR: EAST, SOUTH: SOUTH} | ({WEST: WEST} if source == ME else {})
            assert self.switch.route(generation, source, parent, ways)


@pytest.fixture
def router() -> Iterator[Crossing]:
    made = Crossing()
    yield made
    made.close()


def sent(router: Crossing, connection: int) -> list[DataFrame]:
    return [frame for frame in router.sent(connection) if isinstance(frame, DataFrame)]


def routes(router: Crossing, connection: int) -> list[object]:
    return [frame.extensions.get(ExtensionType.ROUTE) for frame in sent(router, connection)]


def published(counter: int, **attributes: int) -> DataFrame:
    return DataFrame(FrameKind.PUBLISH, Message(attributes or {"x": 1}, b"", MessageId(ALICE, counter)))


def keyed(
    keys: tuple[int, ...], complete: bool, counter: int = 1, digest: bytes = DIGEST, others: Extensions | None = None
) -> DataFrame:
    extensions = {ExtensionType.ROUTE: LinkKeys(complete, digest, keys), **(others or {})}
    return replace(message(counter=counter), extensions=extensions)


def complete(*keys: int) -> LinkKeys:
    return LinkKeys(True, DIGEST, keys)


def some(*keys: int) -> LinkKeys:
    return LinkKeys(False, DIGEST, keys)


def figures(router: Crossing) -> tuple[int, int, int]:
    found = router.switch.figures()
    return found.keys_written, found.keys_believed, found.keys_stale


def steps(router: Crossing) -> int:
    return router.network.stats().steps


def test_each_copy_has_the_keys_of_its_own_link(router):
    router.switch.install(EAST, {1: EVERYTHING})
    router.switch.install(SOUTH, {2: packed("x = 1"), 3: packed("x < 4"), 4: packed("x = 2")})
    router.feed(router.alice, published(1))
    [east], [south] = routes(router, router.east), routes(router, router.south)
    assert east == complete(filter_key(EAST, 1))
    assert (south.complete, set(south.keys)) == (True, {filter_key(SOUTH, 2), filter_key(SOUTH, 3)})
    assert sent(router, router.west) == []
    assert figures(router) == (1, 0, 0)


def test_more_matches_than_the_limit_are_not_complete(router):
    router.feed(router.alice, published(1, y=7))
    [east] = routes(router, router.east)
    assert (east.complete, len(east.keys)) == (False, 3)
    assert set(east.keys) <= {filter_key(FAR, id_) for id_ in CROWD}
    router.switch.limit_keys(40)
    router.feed(router.alice, published(2, y=7))
    [east] = routes(router, router.east)
    assert (east.complete, set(east.keys)) == (True, {filter_key(FAR, id_) for id_ in CROWD})


def test_complete_keys_take_the_place_of_the_table(router):
    router.switch.install(EAST, {1: EVERYTHING})
    before = steps(router)
    router.feed(router.west, keyed((filter_key(FAR, 100), filter_key(ME, 9)), complete=True))
    assert routes(router, router.east) == [complete(filter_key(FAR, 100))]
    assert routes(router, router.south) == []
    assert steps(router) == before
    assert figures(router) == (0, 1, 0)


def test_other_links_are_matched_if_the_keys_are_not_complete(router):
    router.switch.install(EAST, {1: packed("x = 5")})
    router.switch.install(SOUTH, {2: EVERYTHING})
    router.feed(router.west, keyed((filter_key(EAST, 1), 12345), complete=False))
    assert routes(router, router.east) == [some(filter_key(EAST, 1))]
    assert routes(router, router.south) == [complete(filter_key(SOUTH, 2))]
    assert figures(router) == (1, 1, 0)


def test_keys_behind_the_link_of_the_message_go_nowhere(router):
    router.switch.install(WEST, {1: EVERYTHING})
    router.feed(router.west, keyed((filter_key(WEST, 1),), complete=True))
    assert (routes(router, router.west), routes(router, router.east), routes(router, router.south)) == ([], [], [])


def test_a_message_without_keys_from_a_link_gets_them(router):
    router.switch.install(SOUTH, {2: EVERYTHING})
    router.feed(router.west, message())
    assert routes(router, router.south) == [complete(filter_key(SOUTH, 2))]


def colliding(issuer: int, other: int, ids: int = 200_000) -> tuple[int, int]:
    """Return ids of two filters, one of each router, with one key."""
    keys = {filter_key(issuer, id_): id_ for id_ in range(1, ids)}
    return next((keys[key], id_) for id_ in range(1, ids) if (key := filter_key(other, id_)) in keys)


@pytest.mark.slow
def test_a_key_that_two_filters_share_names_none(router):
    mine, others = colliding(EAST, SOUTH)
    router.switch.install(EAST, {mine: EVERYTHING})
    router.switch.install(SOUTH, {others: packed("x = 5"), 999_999: packed("x = 1")})
    key, south = filter_key(EAST, mine), filter_key(SOUTH, 999_999)
    router.feed(router.west, keyed((key,), complete=True))
    assert routes(router, router.east) == [None]
    assert routes(router, router.south) == [complete(south)]
    router.switch.uninstall(SOUTH, [others])
    router.feed(router.west, keyed((key,), complete=True, counter=2))
    assert (routes(router, router.east), routes(router, router.south)) == ([complete(key)], [])


@pytest.mark.parametrize("why", ["digest", "no digest", "few filters", "two generations", "members", "another policy"])
def test_keys_that_are_not_used_are_cut(router, why):
    digest, others = DIGEST, None
    if why == "digest":
        digest = bytes(16)
    elif why == "no digest":
        router.switch.hold(None)
    elif why == "few filters":
        router.switch.uninstall(FAR, CROWD)
    elif why == "two generations":
        router.routes()
        router.switch.commit(60_000)
    elif why == "another policy":
        router.close()
        Router.__init__(router)
        router.east, router.south = router.opened(replace(LINK, number=EAST, **KNOWS)), router.alice
    router.switch.install(EAST, {1: EVERYTHING})
    if why == "members":
        others = {ExtensionType.MEMBERS_ONLY: b""}
    router.feed(router.west, keyed((12345,), complete=True, digest=digest, others=others))
    assert routes(router, router.east) == [None]
    assert figures(router) == (0, 0, int(why in ("digest", "no digest")))


def test_its_own_clients_are_asked_whatever_the_keys_say(router):
    router.subscribe(1, "x >= 0")
    router.feed(router.west, keyed((12345,), complete=True, others={ExtensionType.EXPIRY: 1 << 62}))
    [got] = sent(router, router.alice)
    assert set(got.extensions) == {ExtensionType.SATISFIED, ExtensionType.EXPIRY}


def test_a_neighbour_that_does_not_know_keys_gets_a_copy_without(router):
    router.switch.install(SOUTH, {2: EVERYTHING})
    router.switch.end(router.south, now=True)
    older = router.opened(replace(LINK, number=SOUTH, takes_route=True, takes_set=True, takes_tree=True))
    router.feed(router.west, keyed((filter_key(SOUTH, 2),), complete=True, others={ExtensionType.EXPIRY: 1 << 62}))
    router.feed(router.west, replace(message(counter=2), extensions={0x8007: Route(RouteMode.ALL)}))
    assert [set(copy.extensions) for copy in sent(router, older)] == [{ExtensionType.EXPIRY}, {ExtensionType.ROUTE}]


def test_a_message_whose_names_come_again_asks_the_table_once(router):
    asked = []
    for counter in range(1, 6):
        before = steps(router)
        router.feed(router.west, keyed((filter_key(FAR, 100),), complete=True, counter=counter))
        asked.append(steps(router) > before)
    assert asked == [False, True, False, False, False]


def test_an_engine_without_limits_and_a_wrong_limit_are_refused(router):
    assert (lib.TM_KEYS, lib.TM_ROUTE_KEYS_MAX) == (limits.ROUTE_KEYS, limits.ROUTE_KEYS_MAX)
    for wrong in (0, limits.ROUTE_KEYS_MAX + 1):
        with pytest.raises(RuntimeError):
            router.switch.limit_keys(wrong)
    with Table() as local, Table() as network:
        switch = Switch(local, SwitchOptions(ME, 2, 9, 10, 9))
        with pytest.raises(RuntimeError):
            switch.join(network, 10, "keys")
        switch.close()


def test_a_client_that_writes_keys_is_refused(router):
    frame = replace(published(1), extensions={0x8007: complete(1)})
    faults = [event for event in router.switch.feed(router.alice, encode_data(frame)) if event.type == EventType.FAULT]
    assert [fault.code for fault in faults] == [ErrorCode.BAD_EXTENSION]


@pytest.mark.parametrize(
    "data",
    [b"\x05", b"\x05\x01" + bytes(16), b"\x05\x02" + bytes(20), b"\x05\x00" + bytes(19), b"\x05\x00" + bytes(16 + 964)],
)
def test_a_neighbour_that_writes_wrong_ones_is_told(router, data):
    area = (0x8007).to_bytes(2, "little") + len(data).to_bytes(2, "little") + data
    plain = encode_data(message())
    size = (len(plain) + len(area)).to_bytes(4, "little")
    frame = size + plain[4:56] + len(area).to_bytes(2, "little") + plain[58:64] + area + plain[64:]
    faults = [event for event in router.switch.feed(router.west, frame) if event.type == EventType.FAULT]
    assert [fault.code for fault in faults] == [ErrorCode.BAD_EXTENSION]


def test_without_memory_a_message_is_matched_as_ever_or_counted_as_dropped(router):
    router.switch.install(EAST, {1: EVERYTHING})
    router.switch.install(SOUTH, {2: EVERYTHING})
    for failing in range(1, 12):
        router.switch.fail_allocation(failing)
        router.feed(router.west, keyed((filter_key(EAST, 1),), complete=False, counter=failing))
        router.switch.fail_allocation(0)
        copies = len(sent(router, router.east)) + len(sent(router, router.south))
        assert copies + router.dropped("memory") >= 1
        router.switch.validate()

"""Frames of custody between routers: each goes to the router that it is for, or ends and is counted."""

from __future__ import annotations

from dataclasses import replace

from tamis.native.switch_figures import DROP_REASONS
from tamis.protocol.limits import FRAME_BYTES_MIN, GAP_NUMBERS_MAX
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.custody_bodies import ChainGap, CustodyAck, CustodyAsk, CustodyBody, LogLife
from tamis.protocol.wire.data_frames import DataFrame, encode_data
from tamis.protocol.wire.extensions import Custody, ExtensionType
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.header import Transit
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.session_bodies import Error
from tamis.router.daemon.epoch import unix_ms
from tamis.router.links import link as link_module
from tamis.router.links.relay import CustodyRelay, RelayEnd
from tests.router.links.conftest import network, start_together
from tests.router.links.test_border import bounded
from tests.router.links.test_hostile import HOSTILE, HUB, STAR, VICTIM, until
from tests.router.links.test_neighbours import let_in

LIFE = LogLife(9, 3, 2)


def frames(home: str, entry: str) -> tuple[CustodyBody, ...]:
    """One of each kind, of the chain from an entry to a home."""
    at, of = stable_number(home), stable_number(entry)
    return (
        CustodyAck(at, 7, of, 9, 5, 1_000),
        CustodyAsk(at, 7, of, 9, 5),
        ChainGap(of, LIFE, at, 7, 9, 5, (6, 9)),
    )


def test_a_frame_goes_on_with_one_hop_less_and_never_back() -> None:
    sent: list[tuple[int, CustodyBody]] = []
    relay = CustodyRelay(1, {2: 20, 3: 30}.get, lambda hop, body: sent.append((hop, body)))
    ask = CustodyAsk(4, 7, 2, 9, 5)
    relay.hear(ask, 30)
    assert sent == [(20, replace(ask, hops=254))]
    for ends, body, came_from in (
        (RelayEnd.NO_ROUTE, ask, 20),
        (RelayEnd.NO_ROUTE, replace(ask, entry=5), 30),
        (RelayEnd.HOPS, replace(ask, hops=0), 30),
        (RelayEnd.HERE, replace(ask, entry=1), 30),
    ):
        relay.ended.clear()
        relay.hear(body, came_from)
        assert relay.ended == {ends: 1}
    assert (relay.passed, len(sent)) == (1, 1)


async def test_the_frames_of_a_chain_cross_a_router_that_has_no_part_in_it(nodes) -> None:
    made = await network(nodes, "ab", "bc")
    a, b, c = made.values()
    ack, ask, gap = frames("a", "c")
    for body in (ack, ask):
        assert a.network.neighbours.relay(stable_number("b"), body) is None
    assert c.network.neighbours.relay(stable_number("b"), gap) is None
    place = Custody(stable_number("c"), 7, LIFE, 5, 4)
    directed = DataFrame(
        *(FrameKind.DIRECTED, Message({"x": 1}, b"...", MessageId(99, 1)), 0, 5, Transit(stable_number("a"), 1, 1)),
        extensions={ExtensionType.CUSTODY: place},
    )
    a.neighbour("b").link.send(FrameKind.DIRECTED, encode_data(directed), urgent=False)
    await c.until(lambda: c.network.neighbours.custody.ended[RelayEnd.HERE] == 2)
    await a.until(lambda: a.network.neighbours.custody.ended[RelayEnd.HERE] == 1)
    await c.until(lambda: c.connections.switch.figures().dropped[DROP_REASONS.index("directed")] == 1)
    assert b.status()["custody"] == {"passed": 3} | {end.value: 0 for end in RelayEnd}
    assert [link["version"] for link in b.status()["links"]] == [3, 3]


async def test_a_neighbour_of_an_earlier_version_gets_none_and_may_send_none(nodes) -> None:
    made = nodes(STAR)
    await start_together({name: made[name] for name in (HUB, VICTIM)})
    older = await let_in(made[HUB], HOSTILE, epoch=unix_ms(), version_high=2)
    hub = made[HUB]
    await hub.until(lambda: hub.is_up(HOSTILE))
    assert hub.network.neighbours.relay(stable_number(HOSTILE), frames(VICTIM, HOSTILE)[0]) is RelayEnd.VERSION
    await older.send(frames(HOSTILE, VICTIM)[0])
    error = await until(older, Error)
    assert (error.code, error.fatal) == (ErrorCode.UNEXPECTED_KIND, True)


async def test_frames_without_room_end_and_the_link_stays(nodes, monkeypatch) -> None:
    made = nodes(STAR)
    await start_together({name: made[name] for name in (HUB, VICTIM)})
    hub = made[HUB]
    await hub.knows(VICTIM)
    hostile = await let_in(hub, HOSTILE, epoch=unix_ms(), version_high=3)
    monkeypatch.setattr(link_module, "CUSTODY_FRAMES_MAX", 3)
    link = hub.neighbour(VICTIM).link
    monkeypatch.setattr(link.outgoing, "_window", 0)
    monkeypatch.setattr(link.outgoing, "_is_waiting", True)
    gap = ChainGap(stable_number(HOSTILE), LIFE, stable_number(VICTIM), 7, 9, 5, (6, 9))
    await hostile.send(*[gap] * 10)
    await hub.until(lambda: hub.network.neighbours.custody.ended[RelayEnd.QUEUE_FULL] == 7)
    assert link.outgoing.waiting(link_module.CUSTODY) == 3
    assert link.is_open


async def test_a_neighbour_speaks_for_those_behind_it_alone(nodes) -> None:
    made = await start_together(bounded(nodes))
    a, b, _ = made.values()
    await b.knows("a", "c")
    await a.until(lambda: a.is_up("b"))
    before = a.status()["links"][0]["statements_refused"]
    for body in frames("c", "a")[:2]:
        assert b.network.neighbours.relay(stable_number("a"), body) is None
    await a.until(lambda: a.status()["links"][0]["statements_refused"] >= before + 2)
    assert sum(a.network.neighbours.custody.ended.values()) == 0
    assert b.network.neighbours.relay(stable_number("a"), frames("b", "a")[0]) is None
    await a.until(lambda: a.network.neighbours.custody.ended[RelayEnd.HERE] == 1)


def test_the_longest_gap_fits_the_shortest_frame() -> None:
    top = 2**64 - 1
    steps = top // GAP_NUMBERS_MAX
    numbers = tuple(range(top - steps * (GAP_NUMBERS_MAX - 1), top + 1, steps))
    gap = ChainGap(top, LogLife(top, 2**32 - 1, 2**32 - 1), top, top, top, 0, numbers)
    assert len(numbers) == GAP_NUMBERS_MAX
    assert 8 * GAP_NUMBERS_MAX < len(encode(gap)) < FRAME_BYTES_MIN


async def test_a_frame_for_a_router_that_is_not_there_ends(nodes) -> None:
    made = await network(nodes, "ab", "bc", "ca")
    lost = replace(frames("a", "c")[0], entry=stable_number("nowhere"))
    assert made["a"].network.neighbours.relay(stable_number("b"), lost) is None
    b = made["b"]
    await b.until(lambda: b.network.neighbours.custody.ended[RelayEnd.NO_ROUTE] == 1)

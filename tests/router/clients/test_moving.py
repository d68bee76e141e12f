"""Clients that are sent away before a router drains: who is told, of what, and how long the router waits for them."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

import tamis
from tamis import testing
from tamis.bench.networks.rolling_restart import rolling
from tamis.configs import parse_topology
from tamis.configs.settings import Entrance
from tamis.protocol.wire.frames import decode
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.session_bodies import MOVES, Drain, GoAway
from tamis.router.clients.moving import REASON, GoAways, addresses_in_reach
from tests.router.wire_client import WireClient, close_all

PATIENCE_S = 20.0


# --- what they are told ----------------------------------------------------------------------------------------------


def test_addresses_are_those_that_the_file_names_of_other_routers() -> None:
    topology = parse_topology(
        """
        routers:
          a: {clients: ["127.0.0.1:7400", "unix:/a"], neighbours: "127.0.0.1:7500"}
          b: {clients: ["oslo.example:7401", "[::1]:7402"], neighbours: "127.0.0.1:7501"}
          c: {clients: ["0.0.0.0:7403"], neighbours: "127.0.0.1:7502"}
          d: {clients: ["10.0.0.1:7404"], neighbours: "127.0.0.1:7503", tls: {certificate: c, key: k}}
          e: {clients: ["10.0.0.1:0"], neighbours: "127.0.0.1:7504"}
        links: [[a, b], [b, c], [c, d], [d, e]]
        """
    )
    found = topology.entrances("a")
    assert found == (
        Entrance("b", ("tamis://oslo.example:7401", "tamis://[::1]:7402")),
        Entrance("d", ("tamis+tls://10.0.0.1:7404",)),
    )
    assert addresses_in_reach(found, "d".__eq__) == ["tamis+tls://10.0.0.1:7404"]


class Told:
    def __init__(self, peer: str) -> None:
        self.peer = peer
        self.frames: list[GoAway] = []

    def send(self, kind: FrameKind, frame: bytes, urgent: bool = True) -> None:  # noqa: ARG002
        body = decode(frame)
        assert kind is FrameKind.GO_AWAY
        assert isinstance(body, GoAway)
        self.frames.append(body)


@pytest.mark.parametrize(
    ("peer", "is_near"),
    [("127.0.0.1:5000", True), ("::1:5000", True), ("unix", True), ("10.0.0.9:5000", False), ("fe80::1:5000", False)],
)
def test_an_address_of_this_machine_is_told_to_those_of_this_machine(peer: str, is_near: bool) -> None:
    near = {"tamis://127.0.0.1:7401", "tamis://localhost:7402", "tamis+tls://[::1]:7403"}
    told = Told(peer)
    GoAways(5_000, [*near, "tamis://10.0.0.1:7404", "tamis://oslo.example:7405"]).tell(told)
    [body] = told.frames
    assert (body.within_ms, body.reason) == (5_000, REASON)
    assert set(body.addresses) - near == {"tamis://10.0.0.1:7404", "tamis://oslo.example:7405"}
    assert (set(body.addresses) >= near) is is_near


def test_of_many_addresses_some_are_told() -> None:
    told = Told("unix")
    GoAways(0, [f"tamis://{'x' * 60}.{number}.example:7400" for number in range(100)]).tell(told)
    assert len(told.frames[0].addresses) == 8


# --- how long a router waits -----------------------------------------------------------------------------------------


ONE = "routers: {a: {clients: ['127.0.0.1:0', 'unix:a.sock']}}\nlimits: {handover_ms: %s}\n"


@pytest.mark.slow
async def test_a_client_that_does_not_move_gets_what_it_got_before(process):
    """As one of an earlier version, which says no capability."""
    router = process(ONE % "60s")
    old = await WireClient.greeted(router.where, "old")
    router.signal(signal.SIGTERM)
    assert await old.until_closed() == [Drain(10_000, "the router is stopping")]
    assert await router.exit_code() == 0
    await close_all()


@pytest.mark.slow
async def test_a_client_that_never_leaves_is_drained_at_the_limit_and_served_until_then(process):
    router = process(ONE % "700")
    stays = await WireClient.greeted(router.where, "stays", capabilities=(MOVES,))
    await stays.subscribe(1, "exists x", own=True)
    router.signal(signal.SIGTERM)
    assert await stays.next() == GoAway(700, (), "the router is stopping")
    await stays.publish({"x": 1})
    assert await stays.delivered() == {"x": 1}
    ack = await stays.subscribe(2, "exists y")
    assert not ack.refusals
    assert await stays.until_closed() == [Drain(10_000, "the router is stopping")]
    assert await router.exit_code() == 0
    await close_all()


@pytest.mark.slow
async def test_nobody_new_comes_in_while_clients_move(process):
    router = process(ONE % "60s")
    moves = await WireClient.greeted(router.where, "moves", capabilities=(MOVES,))
    waiting = await WireClient.connect(router.ready["clients"][1], "late")
    router.signal(signal.SIGTERM)
    assert isinstance(await moves.next(), GoAway)
    with pytest.raises(ConnectionError):
        await WireClient.connect(router.where, "later")
    await waiting.close()
    await moves.close()
    assert await router.exit_code() == 0
    await close_all()


@pytest.mark.slow
async def test_without_a_time_to_move_nobody_is_told(process):
    router = process(ONE % "0")
    moves = await WireClient.greeted(router.where, "moves", capabilities=(MOVES,))
    router.signal(signal.SIGTERM)
    assert await moves.until_closed() == [Drain(10_000, "the router is stopping")]
    await close_all()


# --- whole networks --------------------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_a_ring_is_restarted_in_rotation_and_nothing_is_lost(tmp_path: Path) -> None:
    async with testing.running(tmp_path, testing.ring("a", "b", "c")) as network:
        await network.until_linked()
        outcome = await rolling(network, subscribers=2, publishers=2, rate=100)
    assert outcome.published > 1_000
    assert (outcome.lost, outcome.twice, outcome.order, outcome.gaps, outcome.unknown) == (0, 0, 0, 0, 0)


@pytest.mark.slow
async def test_many_clients_move(tmp_path: Path) -> None:
    async with testing.running(tmp_path, testing.ring("a", "b", "c")) as network:
        await network.until_linked()
        outcome = await rolling(network, subscribers=15, publishers=1, rate=5)
    assert outcome.expected == outcome.published * 45
    assert (outcome.lost, outcome.twice, outcome.gaps) == (0, 0, 0)


@pytest.mark.slow
async def test_a_client_that_finds_no_other_router_comes_back_to_its_own(tmp_path: Path) -> None:
    async with testing.running(tmp_path, testing.line("a", limits={"handover_ms": 700})) as network:
        router = network["a"]
        addresses = f"tamis://127.0.0.1:{router.port}", f"tamis://localhost:{router.port}"
        async with tamis.connect(*addresses) as client, client.subscribe("n >= 0", own_messages=True) as messages:
            assert await router.leave() == 0
            await router.start()
            async with asyncio.timeout(PATIENCE_S):
                gap = await messages.receive()
                await client.publish({"n": 1}, confirm=True)
                items = [gap, await messages.receive()]
    assert [getattr(item, "reason", None) for item in items] == [tamis.GapReason.RECONNECTED, None]


def blocking_life(addresses: list[str], heard: list[int], until: int) -> list[object]:
    """Hear all numbers up to `until` in a thread; return the gaps."""
    gaps: list[object] = []
    with (
        tamis.blocking.connect(*addresses, patience_s=PATIENCE_S) as client,
        client.subscribe("n >= 0", wait="network") as messages,
    ):
        heard.append(-1)  # subscribed
        for item in messages:
            if isinstance(item, tamis.Gap):
                gaps.append(item)
            else:
                heard.append(int(item["n"]))
                if heard[-1] == until:
                    return gaps
    return gaps


@pytest.mark.slow
async def test_a_client_without_an_event_loop_moves_too(tmp_path: Path) -> None:
    async with testing.running(tmp_path, testing.ring("a", "b", "c")) as network:
        await network.until_linked()
        heard: list[int] = []
        addresses = [network["a"].address, network["b"].address]
        life = asyncio.create_task(asyncio.to_thread(blocking_life, addresses, heard, 10_000_000))
        async with tamis.connect(network["c"].address) as publisher:
            while not heard:
                await asyncio.sleep(0.01)
            leaving = asyncio.create_task(network["a"].leave())
            number = 0
            while not leaving.done():
                await publisher.publish({"n": number})
                number += 1
                await asyncio.sleep(0.002)
            assert await leaving == 0
            await publisher.publish({"n": 10_000_000})
            async with asyncio.timeout(PATIENCE_S):
                gaps = await life
    assert heard == [-1, *range(number), 10_000_000]
    assert gaps == []


@pytest.mark.slow
async def test_members_of_a_group_move_and_each_job_is_done_once(tmp_path: Path) -> None:
    async with testing.running(tmp_path, testing.ring("a", "b", "c")) as network:
        await network.until_linked()
        done: list[int] = []

        async def work(client: tamis.Client) -> None:
            async with client.subscribe("n >= 0", wait="network", group="workers") as jobs:
                async for job in jobs:
                    done.append(int(job["n"]) if isinstance(job, tamis.Message) else -1)  # noqa: PERF401

        both = network["a"].address, network["b"].address
        async with (
            tamis.connect(*both) as one,
            tamis.connect(*both) as other,
            tamis.connect(network["c"].address) as publisher,
        ):
            working = [asyncio.create_task(work(client)) for client in (one, other)]
            await asyncio.sleep(0.5)
            leaving = asyncio.create_task(network["a"].leave())
            number = 0
            while not leaving.done():
                await publisher.publish({"n": number}, confirm=True)
                number += 1
                await asyncio.sleep(0.002)
            await asyncio.sleep(1.0)
            assert {one.router, other.router} == {"b"}
            for task in working:
                task.cancel()
            await asyncio.gather(*working, return_exceptions=True)
    assert sorted(done) == list(range(number))

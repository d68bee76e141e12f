"""A neighbour that says what no router would: it harms nobody who can be reached without it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tamis.protocol.errors import FrameError
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.data_frames import DataFrame
from tamis.protocol.wire.header import Transit
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import NO_DIGEST, predicate_digest, stable_number
from tamis.protocol.wire.parts import PartAssembler, RequestPart, cut, packed_whole, split
from tamis.protocol.wire.routing_bodies import (
    Adjacency,
    EpochRefused,
    LinkState,
    ReceiverAdvertisement,
    Scope,
    SenderRequest,
    UpdateReply,
)
from tamis.protocol.wire.session_bodies import Auth, Authenticated, AuthMethod, Error, Role, Welcome
from tamis.protocol.wire.slices import at_once
from tamis.router.core.epochs import DAY_MS
from tamis.router.daemon.epoch import unix_ms
from tamis.testing import free_port
from tests.router.links.conftest import linked, start_together
from tests.router.links.test_neighbours import let_in
from tests.router.wire_client import WireClient, hello
from tests.routers import started

HOSTILE, VICTIM, HUB = sorted("abc", key=stable_number)
"""The hub is dialled by both."""
STAR = linked(HUB + HOSTILE, HUB + VICTIM)
TOP = 2**64 - 1


def said_of(issuer: str, epoch: int, seq: int = TOP) -> list[object]:
    """A link state and an advertisement, as frames take them."""
    body = ReceiverAdvertisement(stable_number(issuer), epoch, seq, True, 0, (), (), predicate_digest([]), 0, False)
    return [LinkState(issuer, epoch, seq, ()), *cut(body, at_once(packed_whole(body)), 65_536)]


async def until(client, kind):
    """The next frame of a kind."""
    async with asyncio.timeout(5):
        while not isinstance(frame := await client.next(), kind):
            pass
        return frame


async def catches_up(client, name: str = HOSTILE) -> None:
    """The hub asks the router that the test plays, which knows of nothing."""
    ask = SenderRequest(stable_number(name), 1, 1, Scope.NEIGHBOUR, b"?" * len(NO_DIGEST), ())
    await client.send(*split(ask))
    asked = PartAssembler()
    while (body := asked.add(await until(client, RequestPart))) is None or body.digest:
        pass
    await client.send(*split(UpdateReply(*body.ticket, ())))


@pytest.fixture
async def star(nodes):
    """The hub and the victim are linked; the hostile router is played by the test."""
    made = nodes(STAR)
    await start_together({name: made[name] for name in (HUB, VICTIM)})
    await made[HUB].knows(VICTIM)
    hostile = await let_in(made[HUB], HOSTILE, epoch=unix_ms())
    return made[HUB], made[VICTIM], hostile


@pytest.mark.parametrize("epoch", [2**62, 2**63, TOP])
async def test_no_epoch_of_a_neighbour_silences_another_router(star, epoch):
    hub, victim, hostile = star
    before = victim.network.core.epoch
    await hostile.send(*said_of(VICTIM, epoch))
    told = await until(hostile, EpochRefused)
    assert (told.issuer, told.epoch) == (stable_number(VICTIM), epoch)
    assert before < told.acceptable <= unix_ms() + 2 * DAY_MS
    for router in (hub, victim):  # ways that change while bob listens would be told to bob as a gap
        await router.until(lambda router=router: router.network.quiet_s > 0.1)
    alice, bob = await hub.client("alice"), await victim.client("bob")
    await bob.subscribe(1, "x = 1")
    await hub.until(lambda: hub.status()["remote_filters"] == 1)
    await alice.publish({"x": 1})
    assert await bob.delivered() == {"x": 1}
    assert victim.network.core.epoch == before
    assert any("refused" in shown.text for shown in hub.connections.health.recent)
    assert hub.connections.health.exceptions == victim.connections.health.exceptions == 0


async def test_a_plausible_forgery_is_outlived(star):
    hub, victim, hostile = star
    bob = await victim.client("bob")
    await bob.subscribe(1, "x = 1")
    await hub.until(lambda: hub.status()["remote_filters"] == 1)
    before = victim.network.core.epoch
    await hostile.send(*said_of(VICTIM, before, TOP))
    await hub.until(lambda: victim.network.core.epoch > before)
    await hub.until(lambda: hub.status()["remote_filters"] == 1)
    assert hub.network.core.core_state.held_epoch(stable_number(VICTIM)) == victim.network.core.epoch
    assert hub.connections.health.exceptions == victim.connections.health.exceptions == 0


async def test_an_absurd_greeting_locks_nobody_out(nodes):
    made = nodes(STAR)
    await made[HUB].start()
    false = await let_in(made[HUB], VICTIM, epoch=TOP)
    await made[VICTIM].start()
    await made[HUB].knows(VICTIM)
    assert ErrorCode.REPLACED in [frame.code for frame in await false.until_closed() if isinstance(frame, Error)]
    assert made[HUB].neighbour(VICTIM).epoch == made[VICTIM].network.core.epoch


async def test_a_second_start_of_a_router_is_an_alarm_at_all_three(nodes):
    made = nodes(STAR)
    await start_together({name: made[name] for name in (HUB, VICTIM)})
    await made[HUB].knows(VICTIM)
    hub, early = made[HUB], made[VICTIM]
    late = await let_in(hub, VICTIM, epoch=unix_ms() + 60_000)
    health = early.connections.health
    async with asyncio.timeout(2.5):
        await early.until(lambda: health.problems)
    assert health.problems == {"twin": f"another router has the id {VICTIM}, and {HUB} accepts that one"}
    assert f"another router has the id {VICTIM}" in health.recent[-1].text
    assert any(f"an earlier start of {VICTIM} connects" in shown.text for shown in hub.connections.health.recent)
    told = await until(late, Error)
    assert (told.code, told.fatal) == (ErrorCode.REPLACED, False)
    await late.close()
    await hub.knows(VICTIM)


async def test_the_later_of_two_starts_raises_an_alarm_when_it_is_told(star):
    hub, victim, _ = star
    hub.neighbour(VICTIM).link.warn(FrameError(ErrorCode.REPLACED, "an earlier start connects"))
    await victim.until(lambda: victim.connections.health.alarms)
    assert "another router has the id" in victim.connections.health.recent[-1].text
    assert victim.connections.health.problems == {}
    assert victim.is_up(HUB)


async def test_messages_of_an_epoch_that_gives_way_are_not_taken_from_then_on(nodes):
    """The hub's only neighbour vouches for an epoch that no clock has, and then states an earlier one. A message
    that is still on its way must not move the window of its source to where later ones count as seen."""
    hub = await nodes(STAR)[HUB].start()
    source, now = stable_number("x"), unix_ms()
    hostile = await let_in(hub, HOSTILE, epoch=now)
    await catches_up(hostile)
    ends = Adjacency(stable_number(HUB), 1, 1), Adjacency(source, 1, 1)
    back = (Adjacency(stable_number(HOSTILE), 1, 1),)
    await hostile.send(LinkState(HOSTILE, now, 1, ends), LinkState("x", now + 30 * DAY_MS, 1, back))
    bob = await hub.client("bob")
    await bob.subscribe(1, "exists n")
    await hub.knows(HOSTILE, "x")
    for _ in range(2):
        await hub.connections.next_tick()
    core_state = hub.network.core.core_state

    def sent(n: int, epoch: int) -> DataFrame:
        message = Message({"n": n}, b"", MessageId(99, n))
        return DataFrame(FrameKind.PUBLISH, message, hop_limit=9, transit=Transit(source, epoch, n))

    await hostile.send(sent(1, now + 30 * DAY_MS))
    assert await bob.delivered() == {"n": 1}
    await hostile.send(LinkState("x", now, 1, back))
    async with asyncio.timeout(5):
        while core_state.held_epoch(source) != now:
            await asyncio.sleep(0)
    await hostile.send(sent(2, now + 30 * DAY_MS), sent(3, now))
    assert await bob.delivered() == {"n": 3}


async def test_numbers_at_their_extremes_cost_no_exception(star):
    hub, victim, hostile = star
    for epoch in (0, 1, 2**63 - 1, 2**63, TOP):
        for name in (HUB, VICTIM, HOSTILE, "nobody"):
            await hostile.send(*said_of(name, epoch), EpochRefused(stable_number(name), epoch, epoch))
    bob = await victim.client("bob")
    await bob.subscribe(1, "x = 1")
    await hub.until(lambda: hub.status()["remote_filters"] == 1)
    assert hub.connections.health.exceptions == victim.connections.health.exceptions == 0


async def test_a_bug_in_the_core_costs_the_link_it_came_by(star, monkeypatch):
    hub, _, hostile = star

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(hub.network.core._states, "hear", fail)
    await hostile.send(LinkState("nobody", 1, 1, ()))
    await asyncio.wait_for(hostile.until_closed(), 5)
    monkeypatch.undo()
    assert (hub.connections.health.exceptions, hub.is_up(VICTIM)) == (1, True)
    await hub.until(lambda: not hub.is_up(HOSTILE))


# --- processes -------------------------------------------------------------------------------------------------------


def ask(admin: str, page: str) -> tuple[int, dict]:
    try:
        with urllib.request.urlopen(f"{admin}{page}", timeout=10) as answer:  # noqa: S310 - our own router
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def topology(folder: Path, file: str, ways: str) -> Path:
    """The star as a file; only who listens for neighbours has an address for them."""
    routers = "".join(
        f"  {name}: {{clients: 'unix:{file}-{name}', admin: '127.0.0.1:{free_port()}', data: '{file}-{name}.d'"
        f", neighbours: '{ways if name == HUB else f'unix:{file}-{name}.links'}'}}\n"
        for name in (HUB, VICTIM, HOSTILE)
    )
    path = folder / f"{file}.yaml"
    path.write_text(f"routers:\n{routers}links: [[{HUB}, {VICTIM}], [{HUB}, {HOSTILE}]]\n")
    return path


@pytest.mark.slow
async def test_real_routers_outlive_one_frame_and_start_with_any_epoch_file(tmp_path):
    file = topology(tmp_path, "one", f"unix:{tmp_path}/hub.links")
    with contextlib.ExitStack() as stack:
        hub = stack.enter_context(started(file, HUB))
        with started(file, VICTIM) as victim:
            await linked_up(hub, VICTIM)
            hostile = await greeted(f"unix:{tmp_path}/hub.links", HOSTILE)
            await hostile.send(*said_of(VICTIM, TOP))
            assert (await until(hostile, EpochRefused)).epoch == TOP
            await asyncio.sleep(1)
            for router in (hub, victim):
                status = (await asyncio.to_thread(ask, router.admin, "/status"))[1]
                assert (status["exceptions"], set(status["problems"]) - {f"step {HOSTILE}"}) == (0, set())
                assert status["epoch"] < unix_ms() + 2 * DAY_MS
        (tmp_path / f"one-{VICTIM}.d" / "epoch").write_text(f"{TOP}\n")
        stack.enter_context(started(file, VICTIM))
        await linked_up(hub, VICTIM)
        assert "the epoch file is not used" in (tmp_path / f"{VICTIM}.log").read_text()


@pytest.mark.slow
async def test_two_real_routers_with_one_id_raise_alarms_within_two_seconds(tmp_path):
    way = f"unix:{tmp_path}/hub.links"
    with contextlib.ExitStack() as stack:
        hub = stack.enter_context(started(topology(tmp_path, "one", way), HUB))
        early = stack.enter_context(started(tmp_path / "one.yaml", VICTIM))
        await linked_up(hub, VICTIM)
        late = stack.enter_context(started(topology(tmp_path, "two", way), VICTIM))
        end_s = asyncio.get_running_loop().time() + 2.5
        waiting = {"the hub": hub, "the early one": early, "the late one": late}
        while waiting and asyncio.get_running_loop().time() < end_s:
            for who, router in list(waiting.items()):
                if (await asyncio.to_thread(ask, router.admin, "/status"))[1]["alarms"]:
                    del waiting[who]
            await asyncio.sleep(0.05)
        assert not waiting
        status, body = await asyncio.to_thread(ask, early.admin, "/readyz")
        assert (status, list(body["problems"])) == (503, ["twin"])
        async with asyncio.timeout(10):
            while (await asyncio.to_thread(ask, late.admin, "/readyz"))[0] != 200:
                await asyncio.sleep(0.05)


async def greeted(where: str, name: str) -> WireClient:
    client = await WireClient.connect(where, name)
    await client.send(hello(name, role=Role.ROUTER, link_cost=1, epoch=unix_ms(), hold_ms=60_000))
    assert isinstance(await client.next(), Welcome)
    await client.send(Auth(AuthMethod.NONE, b""))
    assert isinstance(await client.next(), Authenticated)
    return client


async def linked_up(router, neighbour: str) -> None:
    async with asyncio.timeout(10):
        while True:
            links = (await asyncio.to_thread(ask, router.admin, "/status"))[1]["network"]["links"]
            if any((link["neighbour"], link["state"]) == (neighbour, "up") for link in links):
                return
            await asyncio.sleep(0.05)

"""When a router is in step with its neighbours, and what it does until then."""

from __future__ import annotations

import asyncio
from collections.abc import Generator

from tamis.protocol.wire.client_bodies import Ack, Reach, Subscribe
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.header import CONFIRM
from tamis.router.links import step
from tests.router.links.conftest import linked, start_together
from tests.router.wire_client import subscription

EVERYTHING = "exists x"


async def test_linked_routers_are_in_step_and_say_so(nodes):
    made = nodes(linked("ab"))
    a, b = (await start_together(made)).values()
    assert not a.network.step.was_in_step
    for node in (a, b):
        await node.until(lambda node=node: node.network.step.is_in_step)
        [link] = node.status()["links"]
        assert (link["in_step"], node.status()["in_step"]) == (True, True)


async def test_a_router_is_in_step_when_its_table_has_what_its_neighbour_held(nodes):
    """Filters go into the table in slices, behind others, long after the core holds them."""
    made, held_up = nodes(linked("ab")), asyncio.Event()
    b = await made["b"].start()
    bob = await b.client("bob")
    await bob.send(Subscribe(1, (subscription(1, EVERYTHING),), False, Reach.NETWORK, False))
    await bob.next(Ack)  # it is stated by now, to nobody
    a = await made["a"].start()
    a.network.installer._queue(_until(held_up))
    await a.until(lambda: all(a.network.core.links_in_step().values()) and a.is_up("b"))
    await asyncio.sleep(3 * step.SETTLE_S)
    assert not a.network.step.is_in_step
    assert a.status()["remote_filters"] == 0
    held_up.set()
    await a.until(lambda: a.network.step.is_in_step)
    assert a.status()["remote_filters"] == 1


def _until(event: asyncio.Event) -> Generator[None, None, None]:
    """Work before which nothing else is done."""
    while not event.is_set():
        yield


async def test_a_confirmation_waits_for_the_links_that_come_up(nodes):
    """The neighbour is there, and the link is not yet when the client publishes."""
    made = nodes(linked("ab"))
    b = await made["b"].start()
    far = await b.client("far")
    await far.subscribe(1, EVERYTHING)
    a = await made["a"].start()
    near = await a.client("near")
    await near.publish({"x": 1}, flags=CONFIRM)
    assert await far.delivered() == {"x": 1}
    assert a.network.step.was_in_step


async def test_a_link_that_is_down_is_waited_for_after_the_start_alone(nodes, monkeypatch):
    monkeypatch.setattr(step, "START_S", 0.2)
    a = await nodes(linked("ab"))["a"].start()
    client = await a.client("alone")
    begun_s = asyncio.get_running_loop().time()
    await client.publish({"x": 1}, flags=CONFIRM)
    assert (await client.next(Ack)).ranges
    assert asyncio.get_running_loop().time() - begun_s > 0.1
    await a.until(lambda: a.network.step.is_in_step)


async def test_what_is_not_in_step_in_time_is_refused_and_an_alarm(nodes, monkeypatch):
    monkeypatch.setattr(step, "WAIT_S", 0.3)
    made = nodes(linked("ab"))
    a = await made["a"].start()
    monkeypatch.setattr(a.network.step, "_links", lambda: {made["a"].neighbour("b").number: False})
    await made["b"].start()
    await a.until(lambda: a.is_up("b"))
    client = await a.client("pi")
    await client.publish({"x": 1}, flags=CONFIRM)
    ack = await client.next(Ack)
    assert [refusal.code for refusal in ack.refusals] == [RefusalCode.NOT_IN_STEP]
    await a.until(lambda: a.connections.health.alarms == 1)
    assert list(a.connections.health.problems) == ["step b"]


async def test_a_link_that_goes_down_is_no_problem_of_step_any_more(nodes, monkeypatch):
    monkeypatch.setattr(step, "WAIT_S", 0.1)
    made = nodes(linked("ab"))
    a = await made["a"].start()
    monkeypatch.setattr(a.network.step, "_links", lambda: {made["a"].neighbour("b").number: False})
    b = await made["b"].start()
    await a.until(lambda: "step b" in a.connections.health.problems)
    b.kill()
    await a.until(lambda: not a.is_up("b"))
    assert a.connections.health.problems == {}, "what /readyz says"

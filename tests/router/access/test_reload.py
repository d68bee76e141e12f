"""Changed rules of a running router: whole or not at all, and for sessions that are open."""

from __future__ import annotations

import asyncio
import json
import random
import signal

from tamis.configs.access.load import parse_access
from tamis.native.results import OutOfMemory
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.session_bodies import AuthMethod, Error
from tests.router.access.rules import token_of, written
from tests.router.access.test_admission import asked
from tests.router.wire_client import POLL_S, WireClient, hello, subscription


def rules(publish: str, subscribe: str, *principals: str) -> str:
    roles = {"sensor": {"publish": publish}, "board": {"subscribe": subscribe}}
    held = {"one": "sensor", "two": "board"}
    return written(roles, {name: held[name] for name in principals or held})


async def test_changed_rules_are_in_force_for_open_sessions(inside) -> None:
    router = inside(access=rules("kind = 1", "kind = 1"))
    one = await router.client("one", token=token_of("one"))
    two = await router.client("two", token=token_of("two"))
    await two.subscribe(1, "true")
    assert await asked(one, {"kind": 1, "n": 1}) == []
    router.clients.change_access(parse_access(rules("kind = 2", "n = 3")).rules)
    assert len(await asked(one, {"kind": 1, "n": 3})) == 1
    assert await asked(one, {"kind": 2, "n": 2}) == []
    assert await asked(one, {"kind": 2, "n": 3}) == []
    assert [(await two.delivered())["n"] for _ in range(2)] == [1, 3]


async def test_a_change_without_memory_changes_nothing(inside) -> None:
    """Whichever allocation fails: messages pass by the rules of before, or all by the new ones."""
    files = [parse_access(rules(f"kind = {kind}", f"kind = {kind}")).rules for kind in (1, 2)]
    router = inside(access=rules("kind = 1", "kind = 1"))
    one = await router.client("one", token=token_of("one"))
    two = await router.client("two", token=token_of("two"))
    await two.subscribe(1, "true")
    access, switch = router.clients.access, router.connections.switch
    guards, failed = access._held[0].guarding.door, 0
    for nth in range(1, 100):
        switch.fail_allocation(nth)
        try:
            access.change(files[1], list(router.clients.by_interface.values()))
        except OutOfMemory:
            failed += 1
            assert access._held[0].guarding.door == guards
        else:
            break
        finally:
            switch.fail_allocation(0)
        assert await asked(one, {"kind": 1, "n": nth}) == []
        assert (await two.delivered())["n"] == nth
        assert len(await asked(one, {"kind": 2})) == 1
    assert failed > 10
    assert len(await asked(one, {"kind": 1})) == 1
    assert await asked(one, {"kind": 2, "n": 0}) == []
    assert (await two.delivered())["n"] == 0


async def test_a_removed_principal_is_cut_off_and_others_stay(inside) -> None:
    router = inside(access=rules("true", "true"))
    one = await router.client("one", token=token_of("one"))
    two = await router.client("two", token=token_of("two"))
    await two.subscribe(1, "true")
    router.clients.change_access(parse_access(rules("true", "true", "one")).rules)
    assert await asked(one, {"n": 1}) == []
    [error] = [each for each in await two.until_closed() if isinstance(each, Error)]
    assert error.code == ErrorCode.REVOKED
    await router.until(lambda: len(router.clients.by_interface) == 1)


async def test_no_message_passes_during_reloads_that_neither_file_allows(inside) -> None:
    """Each file lets one kind in and another one out, and the other file the reverse: nothing may ever arrive."""
    files = [parse_access(rules(f"kind = {a}", f"kind = {b}")).rules for a, b in ((1, 2), (2, 1))]
    router = inside(access=rules("kind = 1", "kind = 2"))
    one = await router.client("one", token=token_of("one"))
    two = await router.client("two", token=token_of("two"))
    await two.subscribe(1, "true")

    async def publish() -> int:
        rng = random.Random(1)
        return sum([await asked(one, {"kind": rng.choice((1, 2))}) == [] for _ in range(1_000)])

    publishing = asyncio.create_task(publish())
    reloads = 0
    while not publishing.done():
        router.clients.change_access(files[(reloads := reloads + 1) % 2])
        await asyncio.sleep(0)
    assert reloads > 300
    assert 300 < await publishing < 700
    both = parse_access(rules("true", "true")).rules
    router.clients.change_access(both)
    await one.publish({"kind": 3})
    assert await two.delivered() == {"kind": 3}
    assert len([None for held in router.clients.access._classes.values() for _ in held._shared]) == 4


TOPOLOGY = {"routers": {"a": {"clients": "127.0.0.1:0", "admin": "unix:admin"}}, "access": "rules.yaml"}


async def test_a_daemon_reads_its_file_of_rules_again(process, tmp_path) -> None:
    file = tmp_path / "rules.yaml"
    file.touch(0o600)
    file.write_text(rules("kind = 1", "true"))
    router = process(json.dumps(TOPOLOGY))
    assert router.ready, router.errors
    one = await WireClient.greeted(router.where, "one", token_of("one"))
    assert len(await asked(one, {"kind": 2})) == 1

    file.write_text("roles: {sensor: {publish: 'kind ='}}")
    await reloaded(router)
    assert "the changed settings are not used" in router.errors
    assert "the rules of access are those of before" in router.errors
    assert len(await asked(one, {"kind": 2})) == 1
    file.write_text(rules("kind = 2", "true"))
    await reloaded(router)
    assert await asked(one, {"kind": 2}) == []
    assert len(await asked(one, {"kind": 1})) == 1
    file.write_text(rules("kind = 2", "true", "two"))
    await reloaded(router)
    assert [each.code for each in await one.until_closed() if isinstance(each, Error)] == [ErrorCode.REVOKED]


async def reloaded(router) -> None:
    before = router.errors.count("settings")
    router.signal(signal.SIGHUP)
    while router.errors.count("settings") == before:
        await asyncio.sleep(POLL_S)


async def test_rules_in_place_of_tokens_open_nothing_before_the_restart(process, tmp_path) -> None:
    (tmp_path / "tokens").touch(0o600)
    (tmp_path / "tokens").write_text("one secret-of-one\n")
    router = process(json.dumps({"routers": TOPOLOGY["routers"], "tokens": "tokens"}))
    assert router.ready, router.errors
    router.file.write_text(json.dumps(TOPOLOGY | {"access": json.loads(rules("true", "true"))}))
    await reloaded(router)
    assert "access" in str(router.errors)
    await WireClient.greeted(router.where, "one", b"secret-of-one")
    stranger = await WireClient.connect(router.where, "two")
    await stranger.send(hello("two"))
    welcome = await stranger.next()
    assert welcome.methods == (AuthMethod.TOKEN,)


async def test_tokens_beside_access_are_refused(process) -> None:
    router = process(json.dumps(TOPOLOGY | {"tokens": "tokens", "access": {"roles": {}}}))
    assert not router.ready
    assert "is not used beside `access`" in router.errors


async def test_a_right_to_a_worker_group_that_ends_ends_the_membership(inside) -> None:
    roles = {"writer": {"publish": "true"}, "one": {"subscribe": "true", "groups": "jobs"}}
    principals = {"writer": "writer", "one": "one", "two": "two"}
    router = inside(access=written({**roles, "two": {"subscribe": "true", "groups": "jobs"}}, principals))
    writer, one, two = [await router.client(name, token=token_of(name)) for name in principals]
    for member in one, two:
        items = (subscription(7, "exists n"),)
        await member.send(bodies.Subscribe(1, items, False, bodies.Reach.HOME, False, "jobs"))
        assert not (await member.next(bodies.Ack)).refusals
    assert not (await two.subscribe(8, "n = 19")).refusals
    router.clients.change_access(parse_access(written({**roles, "two": {"subscribe": "true"}}, principals)).rules)
    for n in range(20):
        assert await asked(writer, {"n": n}) == []
    assert [(await one.delivered())["n"] for _ in range(20)] == [*range(20)]
    error = await two.next(Error)
    assert not error.fatal
    assert "worker group jobs" in error.text
    assert (await two.delivered())["n"] == 19
    await two.send(bodies.Unsubscribe(2, (7, 8)))
    ack = await two.next(bodies.Ack)
    assert [each.number for each in ack.refusals] == [7]
    items = (subscription(9, "exists n"),)
    await two.send(bodies.Subscribe(3, items, False, bodies.Reach.HOME, False, "jobs"))
    assert len((await two.next(bodies.Ack)).refusals) == 1

"""AUTH on an open connection: another credential for the same session."""

from __future__ import annotations

import asyncio
import concurrent.futures
import hashlib
import json
import random
import threading
import time

import pytest

import tamis
from tamis.native.results import OutOfMemory
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.client_bodies import Ack, AckOf, Range
from tamis.protocol.wire.codes import ErrorCode, RefusalCode
from tamis.protocol.wire.session_bodies import AUTH_AGAIN, Auth, Authenticated, AuthMethod, Error, Welcome
from tamis.router.access import verifying
from tamis.router.access.proofs import NOT_VALID
from tamis.router.clients.again import WRONG_MAX
from tests.router.access.issuing import Key
from tests.router.access.test_admission import asked
from tests.router.access.test_proofs import RULES, Ruled, said
from tests.router.access.test_reload import reloaded
from tests.router.wire_client import WireClient, hello

FIRST = b"first"
ACCEPTED = Ack(AckOf.AUTH, 0, (Range(0, 0),))


@pytest.fixture(scope="module")
def key():
    return Key("EdDSA")


@pytest.fixture
async def ruled(inside, tmp_path, key):
    it = Ruled(inside, tmp_path, key)
    yield it
    it.net.clients.verifying.close()


class Signed:
    """A client that came in by a signed token."""

    def __init__(self, ruled: Ruled, key: Key, name: str) -> None:
        self.net, self.key, self.name = ruled.net, key, name

    async def greet(self, **claims: object) -> WireClient:
        self.client = await WireClient.connect(self.net.where, self.name)
        await self.client.send(hello(self.name))
        welcome = await self.client.next(Welcome)
        assert AUTH_AGAIN in welcome.capabilities
        await self.client.send(Auth(AuthMethod.JWT, self.key.token(said(**claims))))
        await self.client.next(Authenticated)
        return self.client

    async def again(self, token: bytes = b"", method: AuthMethod = AuthMethod.JWT, **claims: object) -> Ack:
        await self.client.send(Auth(method, token or self.key.token(said(**claims))))
        return await self.client.next(Ack)

    @property
    def admitted(self):
        return self.net.clients.names[self.name].admitted


def reason(ack: Ack) -> str:
    """Why it is refused."""
    assert (ack.of, ack.ranges) == (AckOf.AUTH, ())
    [refusal] = ack.refusals
    return refusal.reason


async def test_the_session_lasts_as_long_as_the_next_token_says(ruled, key):
    ann = Signed(ruled, key, "ann")
    client = await ann.greet(exp=time.time() + 0.5, groups=["reader"])
    await client.subscribe(1, "x > 0", own=True)
    assert await ann.again(groups=["reader"]) == ACCEPTED
    await asyncio.sleep(0.7)
    await client.publish({"x": 1})
    assert await client.delivered() == {"x": 1, "level": 1}
    assert await ann.again(exp=time.time() + 0.2) == ACCEPTED
    assert (await client.next(Error)).code == ErrorCode.REVOKED


async def test_roles_of_the_next_token_count_from_the_next_message_on(ruled, key):
    ann = Signed(ruled, key, "ann")
    client = await ann.greet(groups=["reader"])
    await client.subscribe(1, "x > 0", own=True)
    await client.publish({"x": 1})
    assert (await client.delivered())["x"] == 1
    assert await ann.again() == ACCEPTED
    assert ann.admitted.roles == {"sensor"}
    assert await asked(client, {"x": 2}) == []
    assert await ann.again(groups=["reader"]) == ACCEPTED
    await client.publish({"x": 3})
    assert (await client.delivered())["x"] == 3


async def test_a_refused_credential_changes_nothing(ruled, key):
    ann = Signed(ruled, key, "ann")
    client = await ann.greet(exp=time.time() + 1.5)
    before = ann.admitted
    assert reason(await ann.again(exp=time.time() - 1)) == NOT_VALID
    assert reason(await ann.again(sub="bob")) == NOT_VALID
    assert reason(await ann.again(b"secret", AuthMethod.TOKEN)) == "this token is not valid for this name"
    assert reason(await ann.again(groups=["other"])) == NOT_VALID
    assert ann.admitted is before
    assert await asked(client, {"x": 1}) == []
    assert (await client.next(Error)).code == ErrorCode.REVOKED


async def test_the_credential_of_another_principal_is_refused(ruled, key):
    ann = Signed(ruled, key, "ann/desk")
    await ann.greet()
    assert reason(await ann.again(sub="ann/desk")) == "this credential is of another principal"
    assert ann.admitted.principal == "ann"


@pytest.mark.parametrize(("method", "token"), [(AuthMethod.NONE, b""), (AuthMethod.SECRET, bytes(32))])
async def test_only_tokens_are_taken_again(ruled, key, method, token):
    ann = Signed(ruled, key, "ann")
    client = await ann.greet()
    await client.send(Auth(method, token))
    assert reason(await client.next(Ack)) == "an open connection takes a credential by TOKEN or JWT"


async def test_only_so_many_wrong_credentials_are_looked_at(ruled, key):
    ann = Signed(ruled, key, "ann")
    await ann.greet()
    ruled.net.clients.slowing.wait_s = lambda *_: 0.0
    for _ in range(WRONG_MAX - 1):
        assert reason(await ann.again(sub="bob")) == NOT_VALID
    assert await ann.again() == ACCEPTED
    for _ in range(WRONG_MAX):
        assert reason(await ann.again(sub="bob")) == NOT_VALID
    assert reason(await ann.again()) == "5 credentials of this connection were wrong; connect again"
    assert await asked(ann.client, {"x": 1}) == []


async def test_wrong_credentials_are_slowed_as_at_the_greeting(ruled, key):
    ann = Signed(ruled, key, "ann")
    await ann.greet()
    for _ in range(6):
        await ruled.asks("ann", AuthMethod.TOKEN, b"wrong")
    [refusal] = (await ann.again()).refusals
    assert (refusal.code, refusal.reason) == (
        RefusalCode.OVERLOADED,
        "too many wrong credentials; one is checked in 1 s",
    )


async def test_credentials_are_verified_one_at_a_time_and_so_many_wait(ruled, key, monkeypatch):
    ann = Signed(ruled, key, "ann")
    client = await ann.greet()
    token = key.token(said())
    await client.send(Auth(AuthMethod.JWT, token), Auth(AuthMethod.JWT, token))
    assert reason(await client.next(Ack)) == "the credential before is being verified"
    assert await client.next(Ack) == ACCEPTED
    monkeypatch.setattr(verifying, "WAITING_MAX", 0)
    [refusal] = (await ann.again()).refusals
    assert refusal.code == RefusalCode.OVERLOADED


async def test_the_audit_log_has_what_was_shown(ruled, key):
    ann = Signed(ruled, key, "ann/desk")
    await ann.greet()
    lines = []
    ruled.net.clients.access.note = lambda kind, **said: lines.append((kind, said))
    await ann.again(groups=["reader"])
    await ann.again(b"secret", AuthMethod.TOKEN)
    who = {"name": "ann/desk", "peer": "unix"}
    assert lines == [
        ("admitted again", who | {"method": "jwt", "principal": "ann", "roles": ["reader", "sensor"]}),
        ("not admitted again", who | {"method": "token", "why": "this token is not valid for this name"}),
    ]


async def test_a_router_without_names_takes_none(inside):
    router = inside()
    client = await router.client("ann")
    await client.send(Auth(AuthMethod.TOKEN, b"secret"))
    assert reason(await client.next(Ack)) == "an open connection takes a credential by no method"


async def test_a_client_with_a_changed_token_of_the_file_stays(inside, tmp_path):
    file = tmp_path / "tokens"
    file.touch(0o600)
    file.write_text("ann first\nbob other\n")
    router = inside(keys=f"tokens: {file}")
    client, bob = await router.client("ann", token=b"first"), await router.client("bob", token=b"other")
    file.write_text("ann second\nbob third\n")
    await client.send(Auth(AuthMethod.TOKEN, b"second"))
    assert await client.next(Ack) == ACCEPTED
    assert [each.code for each in await bob.until_closed() if isinstance(each, Error)] == [ErrorCode.REVOKED]
    assert await asked(client, {"x": 1}) == []


# --- clients -------------------------------------------------------------------------------------------------------


async def test_a_client_renews_the_token_of_a_function(ruled, key):
    calls, cuts = [], []

    def token() -> bytes:
        calls.append(time.time())
        return key.token(said(exp=time.time() + 2, groups=["reader"]))

    async with tamis.connect(
        f"tamis+{ruled.net.where}", name="ann", token=token, on_disconnected=cuts.append
    ) as client:
        async with client.subscribe("x > 0", own_messages=True) as messages:
            await asyncio.sleep(2.5)
            await client.publish({"x": 1})
            assert (await anext(messages))["x"] == 1
    assert len(calls) == 2
    assert cuts == []


def two_tokens(*tokens: bytes) -> str:
    digests = [f"sha256:{hashlib.sha256(each).hexdigest()}" for each in tokens]
    line = {"roles": "any", "token": digests}
    return json.dumps({"roles": {"any": {"publish": True}}, "principals": {"one": line, "two": line}})


async def test_both_clients_change_their_token_before_the_old_one_is_removed(process, tmp_path):
    rules = tmp_path / "rules.yaml"
    rules.touch(0o600)
    rules.write_text(two_tokens(FIRST, b"second"))
    router = process(json.dumps({"routers": {"a": {"clients": "127.0.0.1:0"}}, "access": "rules.yaml"}))
    assert router.ready, router.errors

    shown, reloads = threading.Event(), threading.Event()

    def blocking() -> None:
        with tamis.blocking.connect(router.where, name="two", token=FIRST) as client:
            with pytest.raises(tamis.TokenRefused, match="this token is not valid for this name"):
                client.authenticate("third")
            client.authenticate("second")
            shown.set()
            reloads.wait()
            client.publish({"x": 1}, confirm=True)

    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        other = asyncio.wrap_future(thread.submit(blocking))
        async with tamis.connect(router.where, name="one", token=FIRST) as client:
            with pytest.raises(tamis.TokenRefused, match="this token is not valid for this name"):
                await client.authenticate("third")
            await client.authenticate(b"second")
            await asyncio.to_thread(shown.wait, 20)
            rules.write_text(two_tokens(b"second"))
            await reloaded(router)
            reloads.set()
            await client.publish({"x": 1}, confirm=True)
            await other


# --- no gap --------------------------------------------------------------------------------------------------------


def alternating(key_file: str) -> str:
    """Rules of two roles, of which each lets in what the other hands out."""
    rules = RULES.replace("KEYS", key_file).replace("roles: sensor, roles_from", "roles: any, roles_from")
    roles = (
        "a: {publish: 'kind = 1', subscribe: 'kind = 2'}\n  b: {publish: 'kind = 2', subscribe: 'kind = 1'}\n  any: {}"
    )
    return rules.replace("sensor: {publish: true, stamp: {level: 1}}", f"{roles}\n  sensor: {{publish: true}}", 1)


async def test_no_message_passes_during_changes_that_neither_token_allows(ruled, key):
    """One is let in by one role and handed out by the other: nothing may ever arrive."""
    ruled.net.clients.change_access(*ruled.read(alternating(ruled.keys)))
    ann = Signed(ruled, key, "ann")
    client = await ann.greet(groups=["a"])
    await client.subscribe(1, "true", own=True)
    chance, accepted, refused = random.Random(1), 0, 0
    for number in range(300):
        await client.send(Auth(AuthMethod.JWT, key.token(said(groups=["ba"[number % 2]]))))
        counters = {await client.publish({"kind": chance.choice((1, 2))}, flags=1) for _ in range(3)}
        while counters or not accepted > number:
            ack = await client.next(bodies.Ack)  # a DELIVER fails here
            if ack.of is AckOf.AUTH:
                accepted += ack == ACCEPTED
            else:
                counters -= {each for first, last in ack.ranges for each in range(first, last + 1)}
                refused += len(ack.refusals)
                counters -= {each.number for each in ack.refusals}
    assert accepted == 300
    assert 200 < refused < 700


async def test_a_change_without_memory_changes_nothing(ruled, key):
    """Whichever allocation fails: the client is what its token of before says, or all that the next one says."""
    ann = Signed(ruled, key, "ann")
    await ann.greet(groups=["reader"])
    found = ruled.net.clients.proofs.by_token("ann", key.token(said()))
    clients, switch, failed = ruled.net.clients, ruled.net.connections.switch, 0
    subscriber = clients.names["ann"]
    before = subscriber.admitted, clients.access._held[subscriber.interface].guarding
    for nth in range(1, 100):
        switch.fail_allocation(nth)
        try:
            clients.admit_again(subscriber, found)
        except OutOfMemory:
            failed += 1
            assert (subscriber.admitted, clients.access._held[subscriber.interface].guarding) == before
        else:
            break
        finally:
            switch.fail_allocation(0)
    assert failed > 3
    assert subscriber.admitted is found


async def test_rules_that_change_during_the_verification_decide(ruled, key):
    ann = Signed(ruled, key, "ann")
    client, clients, goes_on = await ann.greet(), ruled.net.clients, threading.Event()
    assert clients.verifying.ask(goes_on.wait, lambda _: None)
    await client.send(Auth(AuthMethod.JWT, key.token(said(groups=["reader"]))))
    await ruled.net.until(lambda: clients.verifying.waiting == 2)
    clients.change_access(*ruled.read(RULES.replace("roles: sensor, roles_from", "roles: reader, roles_from")))
    goes_on.set()
    assert await client.next(Ack) == ACCEPTED
    assert ann.admitted.roles == {"reader"}

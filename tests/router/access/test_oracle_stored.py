"""Random files of rules through a real router with a log: messages enter under one file and go out under another. What
is stored, what each consumer gets of its own and of another's durable subscription, what a replay brings and which
requests are served, judged by the oracle of sets. Planted breaks are found.

Law: a message is stored if the first file lets its owner have it; it is handed out if the second file lets the owner
have it and the consumer, too. What is held back comes back with rules that allow it.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tamis.configs.access.load import parse_access
from tamis.protocol.access.decision import Verb
from tamis.protocol.access.rights import ClassRights
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.durable_bodies import (
    CancelConsume,
    Consume,
    CreateDurable,
    DurablePolicy,
    RemoveDurable,
    Replay,
    ReplayEnd,
)
from tamis.protocol.wire.frames import Frame
from tamis.protocol.wire.header import Flags
from tamis.protocol.wire.session_bodies import Error, Ping, Pong
from tamis.router.access.class_guards import ClassGuards, HeldGuards
from tamis.router.access.client_rights import ClientRights
from tamis.router.access.in_force import AccessInForce
from tests.configs.access.oracle import (
    COUNT,
    LINES,
    NAMES,
    Atom,
    Role,
    Tree,
    World,
    as_attributes,
    has,
    possible_tree,
)
from tests.router.access.rules import written
from tests.router.access.test_oracle import DIGEST, TOKEN, as_seen, stamped
from tests.router.conftest import Inside
from tests.router.wire_client import WireClient, subscription

OWNERS = {"orders-1": "n1", "bills": "fleet/1", "n1": "n1/a"}
"""Durable subscriptions to everything, and their owners."""
MADE = ("orders", "n1-x", "fleet/1-x", "n2-x")
"""Names of those that are made under random rules."""
KEYS = "durable: {bytes: 268435456, segment_bytes: 1048576}"
OPEN_PART = 0.7
"""Of the first files: by random rules little is stored."""
PUBLISHES = 20
SINCE_S = 50
CREDIT = 1_000
TOP = 2**64 - 1
PATIENCE_S = 5.0
ALL = {
    "publish": "true",
    "subscribe": "true",
    "durable": {"names": "*", "idle_max": "never"},
    "consume": {"names": "*", "skip": True},
    "remove": "*",
}


def all_open() -> str:
    text = written({"all": ALL}, {})
    lines = ", ".join(f'"{name}": {{"roles": "all", "token": "sha256:{DIGEST}"}}' for name in NAMES)
    return text.replace('"principals": {}', f'"principals": {{{lines}}}')


@dataclass(slots=True)
class Sent:
    """A message that was published, with its stamp."""

    seq: int
    attributes: dict[str, object]


class StoredClient:
    """One client of the router; it makes one request after the other."""

    def __init__(self, wire: WireClient) -> None:
        self.wire = wire
        self.requests = 100
        self.got: list[int] = []

    async def _frame(self) -> Frame:
        frame = await self.wire.next()
        assert not isinstance(frame, Error), frame
        if isinstance(frame, Ping):
            await self.wire.send(Pong(frame.token))
        message = getattr(frame, "message", None)
        if message is not None:
            self.got.append(message.attributes["seq"])
        return frame

    async def _until(self, kind: type) -> Frame:
        while not isinstance(frame := await self._frame(), kind):
            pass
        return frame

    async def publish(self, attributes: dict[str, object]) -> bodies.Ack:
        await self.wire.publish(attributes, flags=Flags.CONFIRM | Flags.DURABLE)
        return await self._until(bodies.Ack)

    async def asks(self, kind: type, *of: object) -> bool:
        """Return whether a request is served."""
        self.requests += 1
        await self.wire.send(kind(self.requests, *of))
        return not (await self._until(bodies.Ack)).refusals

    async def consumed(self, name: str, expected: int) -> list[int] | None:
        """Return what comes of a durable subscription, as soon as nothing more comes; None: it may not be consumed."""
        self.got = []
        if not await self.asks(Consume, 7, name, CREDIT):
            return None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_S):
                while len(self.got) < expected:
                    await self._frame()
        for token in range(2):
            await self.wire.send(Ping(token))
            await self._until(Pong)
            await asyncio.sleep(0)
        assert await self.asks(CancelConsume, 7)
        return sorted(self.got)

    async def replayed(self, predicate: str) -> list[int] | None:
        """Return what a replay brings; None: it is refused."""
        self.got = []
        filters, since = subscription(1, predicate).filters, time.time_ns() - SINCE_S * 10**9
        if not await self.asks(Replay, 8, filters, since, TOP, CREDIT):
            return None
        end = await self._until(ReplayEnd)
        assert isinstance(end, ReplayEnd)
        assert end.code == 0, end
        return sorted(self.got)


def policy(predicate: str, octets: int = 2**20) -> DurablePolicy:
    return DurablePolicy(subscription(1, predicate).filters, bytes=octets, deliveries_max=0, backoff_ms=())


class JudgedStore:
    """A router with a log, which reads two random files a round."""

    def __init__(self, router: Inside) -> None:
        self.router = router
        router.store()
        self.clients: dict[str, StoredClient] = {}
        self.sent: dict[str, int] = {}
        self.decisions = 0

    async def differences(self, seed: int) -> AsyncIterator[str]:
        """Yield what the router and the oracle decide differently for two files."""
        rng = random.Random(seed)
        first, second = World(rng), World(rng)
        if rng.random() < OPEN_PART:
            open_to_all(first)
        await self._open()
        for name, owner in OWNERS.items():
            assert await self.clients[owner].asks(CreateDurable, name, policy("true"))
        await self._in_force(first)
        sent: list[Sent] = []
        async for each in self._published(rng, first, seed, sent):
            yield f"{seed}: {each}\n{first.text()}"
        stored = {name: _may_have(first, sent, owner, name) for name, owner in OWNERS.items()}
        await self._in_force(second)
        async for each in self._handed_out(second, stored, sent, seed):
            yield f"{seed}: {each}\n{first.text()}\n{second.text()}"
        async for each in self._requested(rng, second):
            yield f"{seed}: {each}\n{second.text()}"
        await self._open()
        for name, owner in OWNERS.items():
            self.decisions += 1
            got = await self.clients[owner].consumed(name, len(stored[name]))
            if got != sorted(stored[name]):
                yield f"{seed}: of {name} came back {got}, the oracle says {stored[name]}\n{first.text()}"
            assert await self.clients[owner].asks(RemoveDurable, name)

    # --- files -------------------------------------------------------------------------------------------------------

    async def _open(self) -> None:
        self.router.clients.change_access(parse_access(all_open()).rules)
        for name in NAMES:
            if name not in self.clients:
                self.clients[name] = StoredClient(await self.router.client(name, token=TOKEN, version_high=2))
                self.clients[name].wire._counter = self.sent.get(name, 0)

    async def _in_force(self, rules: World) -> None:
        self.router.clients.change_access(parse_access(rules.text(DIGEST)).rules)
        for name in [name for name in self.clients if rules.roles_of(name) is None]:
            wire = self.clients.pop(name).wire
            self.sent[name] = wire._counter
            assert any(isinstance(each, Error) for each in await wire.until_closed())

    # --- decisions ---------------------------------------------------------------------------------------------------

    async def _published(self, rng: random.Random, rules: World, round_: int, sent: list[Sent]) -> AsyncIterator[str]:
        for seq in range(PUBLISHES if self.clients else 0):
            name, number = rng.choice(list(self.clients)), rng.randrange(COUNT)
            message, may = as_attributes(number, name), rules.may_publish(name, number)
            self.decisions += 1
            ack = await self.clients[name].publish(message | {"seq": seq, "round": round_})
            if bool(ack.refusals) is may:
                yield f"{name} publishes {message}: the oracle says {may}"
            if may:
                sent.append(Sent(seq, stamped(rules, name, message)))
                wanted = any(_may_have(rules, sent[-1:], owner, durable) for durable, owner in OWNERS.items())
                if bool(ack.stored) is not wanted:
                    yield f"{name} publishes {message}, stored: the oracle says {wanted}"

    async def _handed_out(
        self, rules: World, stored: dict[str, list[int]], sent: list[Sent], round_: int
    ) -> AsyncIterator[str]:
        for own, client in self.clients.items():
            for name, owner in OWNERS.items():
                expected = None
                may = is_of(rules, own, owner) and rules.may_name(own, "durable", name)
                if may or rules.may_name(own, "consume", name):
                    both = {*_may_have(rules, sent, owner, name)} & {*_may_have(rules, sent, own, name)}
                    expected = sorted(both.intersection(stored[name]))
                self.decisions += 1 if expected is None else len(stored[name])
                got = await client.consumed(name, len(expected or ()))
                if got != expected:
                    yield f"{own} consumes {name}: {got}, the oracle says {expected}"
            expected = None
            if any("replay" in role.allows for role in rules.roles_of(own) or []):
                expected = self._again(rules, own, stored, sent)
            self.decisions += 1 if expected is None else len(sent)
            got = await client.replayed(f"round = {round_}")
            if got != expected and (got or expected):
                yield f"{own} replays: {got}, the oracle says {expected}"

    @staticmethod
    def _again(rules: World, own: str, stored: dict[str, list[int]], sent: list[Sent]) -> list[int]:
        logged = {seq for each in stored.values() for seq in each}
        may = rules.seen_again(own, 0)
        return [each.seq for each in sent if each.seq in logged and has(may, as_seen(each.attributes, own))]

    async def _requested(self, rng: random.Random, rules: World) -> AsyncIterator[str]:
        for own, client in self.clients.items():
            name, tree, octets = rng.choice(MADE), possible_tree(rng), rng.choice((1_000, 1_001))
            may = rules.makeable(own, name, tree, octets, refuses=False)
            self.decisions += 2
            if await client.asks(CreateDurable, name, policy(tree.text.replace("${name}", own), octets)) is not may:
                yield f"{own} makes {name} of {tree.text} with {octets} bytes: the oracle says {may}"
            if may:
                assert await client.asks(RemoveDurable, name)
            name = rng.choice(list(OWNERS))
            may = is_of(rules, own, OWNERS[name]) or rules.may_name(own, "remove", name)
            if not may and await client.asks(RemoveDurable, name):
                yield f"{own} removes {name}: the oracle says False"


def open_to_all(rules: World) -> None:
    """Let every principal publish and get everything."""
    there = Atom("kind", "exists")
    everything = Tree("or", (there, Tree("not", (there,))))
    role = Role("r0", allows={"publish": everything, "subscribe": everything})
    rules.roles, rules.principals = {"r0": role}, {line: ["r0"] for line in LINES}


def is_of(rules: World, own: str, owner: str) -> bool:
    """Whether what belongs to `owner` is a client's: it has its full name."""
    return own == owner and rules.line_of(own) is not None


def _may_have(rules: World, sent: list[Sent], own: str, durable: str) -> list[int]:
    """The messages that a client may get of a durable subscription."""
    may = rules.seen(own, durable)
    return [each.seq for each in sent if has(may, as_seen(each.attributes, own))]


async def found(inside: Callable[..., Inside], folder: Path, seeds: range, enough: int = 3) -> list[str]:
    judged = JudgedStore(inside(KEYS, f"data: {folder / 'data'}", access=all_open()))
    differing: list[str] = []
    for seed in seeds:
        async for each in judged.differences(seed):
            differing.append(each)
            if len(differing) >= enough:
                return differing
    return differing


async def test_a_log_stores_and_hands_out_as_sets_do(inside, tmp_path: Path) -> None:
    assert await found(inside, tmp_path, range(1)) == []


@pytest.mark.slow
async def test_a_log_stores_and_hands_out_as_sets_do_for_many_files(inside, tmp_path: Path) -> None:
    assert await found(inside, tmp_path, range(100, 115)) == []


# --- planted breaks ---------------------------------------------------------------------------------------------------


def forget_denials_in_replay(patch: pytest.MonkeyPatch) -> None:
    whole = ClassRights.denying
    patch.setattr(ClassRights, "denying", lambda rights, verb: [] if verb is Verb.REPLAY else whole(rights, verb))


def forget_the_consumer(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(AccessInForce, "guard_consumer", lambda *_of: None)


def forget_the_owner_at_a_reload(patch: pytest.MonkeyPatch) -> None:
    whole = AccessInForce._plan

    def plan(access: AccessInForce, admissions: object, planned: dict[int, HeldGuards], consuming: object) -> None:
        whole(access, admissions, planned, consuming)
        for interface in access._stored:
            held = planned.pop(interface)
            held.of.release(held)

    patch.setattr(AccessInForce, "_plan", plan)


def take_others_for_owners(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ClientRights, "owns", lambda _rights, _owner: True)


def share_guards_between_durables(patch: pytest.MonkeyPatch) -> None:
    whole = ClassGuards.of_durable
    patch.setattr(ClassGuards, "of_durable", lambda guards, _durable, owner: whole(guards, "orders-1", owner))


@pytest.mark.slow
@pytest.mark.parametrize(
    "plant",
    [
        *(forget_denials_in_replay, forget_the_consumer, forget_the_owner_at_a_reload, take_others_for_owners),
        share_guards_between_durables,
    ],
)
async def test_a_planted_break_is_found(inside, tmp_path: Path, plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    assert await found(inside, tmp_path, range(40), enough=1) != []

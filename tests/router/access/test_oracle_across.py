"""Random files of rules in two linked routers, a reload of both before each: a message enters one, and clients of the
other one get it exactly where the oracle of sets says so, though routers state filters AND-ed with the rules."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Callable
from itertools import islice, product
from pathlib import Path

import pytest

from tamis.configs import parse_topology
from tamis.configs.access.load import parse_access
from tamis.protocol.access import narrow
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.header import Flags
from tamis.protocol.wire.session_bodies import Error, Ping, Pong
from tests.configs.access.oracle import (
    COUNT,
    NAMES,
    OPERANDS,
    Atom,
    Tree,
    World,
    as_attributes,
    has,
    messages_of,
    possible_tree,
)
from tests.router.access.rules import token_of, written
from tests.router.access.test_oracle import BATCH, DIGEST, TOKEN, as_seen, open_rules, stamped
from tests.router.links.conftest import Node, in_touch, linked
from tests.router.wire_client import WireClient, close_all, subscription

PUBLISHES = 200
READERS = 2
"""Clients that subscribe for each file: few, so that none makes up for what another does not ask for."""
PROBE = "probe"


def with_probe(text: str) -> str:
    """Rules in which a client besides those of the oracle may send and get messages with an attribute of its own."""
    file, probe = (
        json.loads(text),
        json.loads(written({PROBE: {"publish": "exists probe", "subscribe": "exists probe"}}, {PROBE: PROBE})),
    )
    return json.dumps({key: {**file[key], **probe[key]} for key in ("roles", "principals")})


def wide_tree(rng: random.Random) -> Tree:
    """Many conjunctions, with which those of `wide_rule` are more than the bound."""
    return Tree("or", tuple(Atom("device", "=", (each,)) for each in rng.sample(OPERANDS, rng.randint(4, 8))))


def wide_rule(rng: random.Random) -> Tree:
    pairs = rng.sample(list(product(OPERANDS, OPERANDS)), rng.randint(8, 24))
    return Tree("or", tuple(Tree("and", (Atom("kind", "=", (a,)), Atom("plant", "=", (b,)))) for a, b in pairs))


class Reader:
    """A client of the second router, with one subscription for each file."""

    def __init__(self, wire: WireClient) -> None:
        self.wire, self.got, self._requests = wire, [], 0
        self.has_losses = False
        """Whether a router reported that messages may be missing: on a busy machine a link may be cut."""

    async def subscribe(self, predicate: str) -> bool:
        """Subscribe at all routers; return whether the rules accept it."""
        self._requests += 1
        items = (subscription(self._requests, predicate),)
        await self.wire.send(bodies.Subscribe(self._requests, items, True, bodies.Reach.NETWORK, False))
        return not (await self._acked()).refusals

    async def unsubscribed(self) -> list[object]:
        """What it got by its subscription, which ends."""
        await self.wire.send(bodies.Unsubscribe(self._requests, (self._requests,)))
        await self._acked()
        got, self.got = self.got, []
        return got

    async def _acked(self) -> bodies.Ack:
        while True:
            frame = await self.wire.next()
            if isinstance(frame, bodies.Ack):
                return frame
            assert not isinstance(frame, Error), frame
            if isinstance(frame, Ping):
                await self.wire.send(Pong(frame.token))
            elif isinstance(frame, bodies.Lost):
                self.has_losses = True
            elif isinstance(seq := frame.message.attributes.get("seq"), int):
                self.got.append(seq)


class JudgedPair:
    """Two routers, a where messages enter and b where they are delivered."""

    def __init__(self, made: dict[str, Node], publishes: int = PUBLISHES) -> None:
        self.made, self.publishes = made, publishes
        self.decisions = 0
        self._sent: dict[str, int] = {}

    @classmethod
    async def started(cls, folder: Path, publishes: int = PUBLISHES) -> JudgedPair:
        topology = parse_topology(linked("ab").replace("{}", str(folder)))
        made = {name: Node(folder, topology, name) for name in topology.routers}
        for node in made.values():
            node.rules = with_probe(open_rules())
        pair = cls(await in_touch(made), publishes)
        pair._probes = [await node.client(PROBE, token_of(PROBE)) for node in made.values()]
        assert not (await pair._probes[1].subscribe(1, "exists probe", own=True)).refusals
        return pair

    async def differences(self, seed: int) -> AsyncIterator[str]:
        """Yield what the routers and the oracle decide differently for one file."""
        rng = random.Random(seed)
        rules = World(rng)
        is_wide = rng.random() < 0.5
        for role in rules.roles.values() if is_wide else ():
            role.allows["subscribe"] = wide_rule(rng)
        there = [name for name in NAMES if rules.roles_of(name) is not None]
        self._change(with_probe(rules.text(DIGEST)))
        writers = {name: await self._writer(name) for name in rng.sample(there, min(3, len(there)))}
        readers = await self._readers(rng, rules, there, wide_tree if is_wide else possible_tree)
        expected = await self._published(rng, rules, writers, {name: gets for name, (_, gets) in readers.items()})
        await self._probed(seed)
        for name, (reader, _) in readers.items():
            got = await reader.unsubscribed()
            if sorted(got) != expected[name] and not reader.has_losses:
                yield f"{seed}: {name} got {got}, the oracle says {expected[name]}\n{rules.text()}"
        for wire in [*writers.values(), *(reader.wire for reader, _ in readers.values())]:
            await wire.close()

    async def _readers(
        self, rng: random.Random, rules: World, there: list[str], some: Callable[[random.Random], Atom | Tree]
    ) -> dict[str, tuple[Reader, int]]:
        """Clients with a subscription that the rules accept, and what each is to get."""
        readers = {}
        for name in rng.sample(there, min(READERS, len(there))):
            reader = Reader(await self.made["b"].client(name, TOKEN))
            tree = some(rng)
            if await reader.subscribe(tree.text.replace("${name}", name)):
                readers[name] = reader, messages_of(tree, name) & rules.seen(name)
        return readers

    async def _published(
        self, rng: random.Random, rules: World, writers: dict[str, WireClient], gets: dict[str, int]
    ) -> dict[str, list[object]]:
        """Publish messages, and return which of them each reader is to get."""
        expected: dict[str, list[object]] = {name: [] for name in gets}
        for seq in range(self.publishes):
            name, number = rng.choice(list(writers)), rng.randrange(COUNT)
            message = as_attributes(number, name)
            await writers[name].publish(message | {"seq": seq})
            self.decisions += 1 + len(gets)
            for other in gets if rules.may_publish(name, number) else ():
                if has(gets[other], as_seen(stamped(rules, name, message), other)):
                    expected[other].append(seq)
            if (seq + 1) % BATCH == 0 or seq + 1 == self.publishes:
                for each, writer in writers.items():
                    await self._processed(each, writer)
        return expected

    def _change(self, text: str) -> None:
        for node in self.made.values():
            node.clients.change_access(parse_access(text).rules)

    async def _writer(self, name: str) -> WireClient:
        wire = await self.made["a"].client(name, TOKEN)
        wire._counter = self._sent.get(name, 0)  # the router knows the counters of a name
        return wire

    async def _processed(self, name: str, writer: WireClient) -> None:
        """Return when the first router has processed all messages of a client."""
        self._sent[name] = await writer.publish({"seq": "last"}, flags=Flags.CONFIRM)
        while True:
            frame = await writer.next()
            if isinstance(frame, Ping):
                await writer.send(Pong(frame.token))
            elif isinstance(frame, bodies.Ack) and _speaks_of(frame, self._sent[name]):
                return

    async def _probed(self, seed: int) -> None:
        """Return when a message has crossed the link behind all others."""
        await self._probes[0].publish({PROBE: seed})
        await self._probes[1].send(Ping(seed))  # it is there
        while True:
            frame = await self._probes[1].next()
            if isinstance(frame, Ping):
                await self._probes[1].send(Pong(frame.token))
            elif not isinstance(frame, Pong | bodies.Lost) and frame.message.attributes[PROBE] == seed:
                return

    async def close(self) -> None:
        await close_all()
        for node in self.made.values():
            node.kill()


def _speaks_of(ack: bodies.Ack, number: int) -> bool:
    return any(first <= number <= last for first, last in ack.ranges) or number in {
        each.number for each in ack.refusals
    }


async def found(folder: Path, seeds: range, enough: int = 3) -> list[str]:
    judged = await JudgedPair.started(folder)
    differing: list[str] = []
    try:
        for seed in seeds:
            differing += [each async for each in judged.differences(seed)]
            if len(differing) >= enough:
                break
    finally:
        await judged.close()
    return differing


async def test_routers_deliver_across_a_link_as_sets_do(tmp_path) -> None:
    assert await found(tmp_path, range(4)) == []


@pytest.mark.slow
async def test_routers_deliver_across_a_link_as_sets_do_for_many_files(tmp_path) -> None:
    assert await found(tmp_path, range(100, 140)) == []


def state_the_first_filters_only(patch: pytest.MonkeyPatch) -> None:
    """Of more filters than the bound those past it are dropped."""
    patch.setattr(narrow, "_bounded", lambda filters: list(islice(dict.fromkeys(filters), narrow.NARROWED_FILTERS_MAX)))


def state_what_is_allowed_without_the_other_rules(patch: pytest.MonkeyPatch) -> None:
    whole = narrow.narrowed
    patch.setattr(
        "tamis.router.access.subscriptions.narrowed", lambda wanted, allowed, denied: whole(wanted, allowed[:1], denied)
    )


@pytest.mark.slow
@pytest.mark.parametrize("plant", [state_the_first_filters_only, state_what_is_allowed_without_the_other_rules])
async def test_a_planted_break_is_found(tmp_path, plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    assert await found(tmp_path, range(60), enough=1) != []

"""Random files of rules through a real router, a reload before each: what enters, what each client gets and which
subscriptions are accepted, judged by an oracle of sets that shares no code with the rules. Planted breaks are found."""

from __future__ import annotations

import hashlib
import random
from collections.abc import AsyncIterator, Callable
from functools import cache

import pytest

from tamis.configs.access.load import parse_access
from tamis.native.guards import GuardRules
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.extensions import ExtensionType
from tamis.protocol.wire.header import Flags
from tamis.protocol.wire.session_bodies import Error, Ping, Pong
from tamis.router.access import class_guards
from tamis.router.access.class_guards import ClassGuards, HeldGuards
from tamis.router.access.in_force import AccessInForce
from tamis.router.clients.clients import Clients
from tests.configs.access.oracle import (
    COUNT,
    NAMES,
    World,
    as_attributes,
    has,
    named,
    numbers,
    possible_tree,
    world,
)
from tests.router.access.rules import written
from tests.router.conftest import Inside
from tests.router.wire_client import WireClient, subscription

TOKEN = b"the token of all of them"
DIGEST = hashlib.sha256(TOKEN).hexdigest()
PUBLISHES = 50
BATCH = 50
"""Messages that are published at once."""
END = "end"
GROUP = "g"
MEMBER = 2
"""The subscription to everything of all clients, as members of one worker group."""


def open_rules() -> str:
    """Everybody may do everything."""
    everything = {"publish": "true", "subscribe": "true", "groups": GROUP}
    text = written({"all": everything}, dict.fromkeys(NAMES, "all"))
    for name in NAMES:
        text = text.replace(hashlib.sha256(f"token of {name}".encode()).hexdigest(), DIGEST)
    return text


class Client:
    """One client of the router, which has subscribed to everything."""

    def __init__(self, wire: WireClient) -> None:
        self.wire = wire
        self.got: list[object] = []
        self.got_as_member: list[object] = []
        self.is_member = False
        self.requests = MEMBER

    @classmethod
    async def connected(cls, router: Inside, name: str) -> Client:
        client = cls(await router.client(name, token=TOKEN))
        assert not (await client.wire.subscribe(1, "true", own=True)).refusals
        return client

    async def join(self) -> None:
        """Become a member of the group, unless it is one."""
        if not self.is_member:
            items = (subscription(MEMBER, "true"),)
            await self.wire.send(bodies.Subscribe(MEMBER, items, True, bodies.Reach.HOME, False, GROUP))
            assert not (await self.acked()).refusals
            self.is_member = True

    async def acked(self) -> bodies.Ack:
        """The next answer; what is delivered before it is noted."""
        while True:
            frame = await self.wire.next()
            if isinstance(frame, bodies.Ack):
                return frame
            assert not (isinstance(frame, Error) and frame.fatal), frame
            self.note(frame)

    def note(self, frame: object) -> object:
        message = getattr(frame, "message", None)
        if message is not None:
            self.got.append(message.attributes["seq"])
            if MEMBER in frame.extensions[ExtensionType.SATISFIED]:
                self.got_as_member.append(message.attributes["seq"])
        return message

    async def publish(self, attributes: dict[str, object]) -> bool:
        await self.wire.publish(attributes, flags=Flags.CONFIRM)
        return len(await self.entered(1)) == 1

    async def entered(self, count: int) -> set[int]:
        """Return which of the last `count` messages entered the router, by their counters."""
        found: set[int] = set()
        refused: set[int] = set()
        while len(found) + len(refused) < count:
            ack = await self.acked()
            found.update(number for each in ack.ranges for number in range(each.first, each.last + 1))
            refused.update(each.number for each in ack.refusals)
        return found

    async def subscribe(self, predicate: str, group: str) -> bool:
        self.requests += 1
        item = subscription(self.requests, predicate)
        await self.wire.send(bodies.Subscribe(self.requests, (item,), True, bodies.Reach.HOME, False, group))
        is_accepted = not (await self.acked()).refusals
        if is_accepted:
            await self.wire.send(bodies.Unsubscribe(self.requests, (self.requests,)))
            await self.acked()
        return is_accepted

    async def until_end(self) -> tuple[list[object], list[object]]:
        """What it got, and which of it as a member of the group."""
        while END not in self.got:
            frame = await self.wire.next()
            if isinstance(frame, Ping):
                await self.wire.send(Pong(frame.token))
            self.note(frame)
        got, self.got = [each for each in self.got if each != END], []
        as_member, self.got_as_member = [each for each in self.got_as_member if each != END], []
        return got, as_member


class Judged:
    """A router that reads one random file after the other."""

    def __init__(self, router: Inside, publishes: int = PUBLISHES) -> None:
        self.router, self.publishes = router, publishes
        self.decisions = 0
        self.clients: dict[str, Client] = {}
        self.sent: dict[str, int] = {}

    async def differences(self, seed: int) -> AsyncIterator[str]:
        """Yield what the router and the oracle decide differently for one file."""
        rng = random.Random(seed)
        rules = World(rng)
        async for each in self._put_in_force(rules):
            yield f"{seed}: {each}"
        expected: dict[str, list[object]] = {name: [] for name in self.clients}
        for first in range(0, self.publishes, BATCH):
            async for each in self._published(rng, rules, range(first, min(first + BATCH, self.publishes)), expected):
                yield f"{seed}: {each}\n{rules.text()}"
        async for each in self._asked(rng, rules):
            yield f"{seed}: {each}"
        self.router.clients.change_access(parse_access(open_rules()).rules)
        assert await next(iter(self.clients.values())).publish({"seq": END})
        taken: list[object] = []
        for name, client in self.clients.items():
            got, as_member = await client.until_end()
            taken += as_member
            if sorted(got) != expected[name]:
                yield f"{seed}: {name} got {got}, the oracle says {expected[name]}\n{rules.text()}"
        wanted = sorted({seq for name, client in self.clients.items() if client.is_member for seq in expected[name]})
        if sorted(taken) != wanted:
            yield f"{seed}: the group got {sorted(taken)}, the oracle says {wanted}\n{rules.text()}"

    async def _published(
        self, rng: random.Random, rules: World, batch: range, expected: dict[str, list[object]]
    ) -> AsyncIterator[str]:
        """Publish some messages at once, and note who is to get them."""
        verdicts: dict[str, dict[int, tuple[bool, object]]] = {name: {} for name in self.clients}
        for seq in batch:
            name, number = rng.choice(list(self.clients)), rng.randrange(COUNT)
            message, may = as_attributes(number, name), rules.may_publish(name, number)
            self.decisions += 1 + len(expected) * may
            counter = await self.clients[name].wire.publish(message | {"seq": seq}, flags=Flags.CONFIRM)
            verdicts[name][counter] = may, message
            for other in expected if may else ():
                if has(rules.seen(other), as_seen(stamped(rules, name, message), other)):
                    expected[other].append(seq)
        for name, client in self.clients.items():
            entered = await client.entered(len(verdicts[name]))
            for counter, (may, message) in verdicts[name].items():
                if (counter in entered) is not may:
                    yield f"{name} publishes {message}: the oracle says {may}"

    async def _put_in_force(self, rules: World) -> AsyncIterator[str]:
        """Connect all clients, and change the rules; yield whose session did not end though it is removed."""
        for name in NAMES:
            if name not in self.clients:
                client = self.clients[name] = await Client.connected(self.router, name)
                client.wire._counter = self.sent.get(name, 0)  # the router knows the counters of a name
            await self.clients[name].join()
        self.router.clients.change_access(parse_access(rules.text(DIGEST)).rules)
        for name in NAMES:
            if rules.roles_of(name) is None:
                wire = self.clients.pop(name).wire
                self.sent[name] = wire._counter
                left = await wire.until_closed()
                if not any(isinstance(each, Error) for each in left):
                    yield f"{name} was not told that it is removed"
            else:
                self.clients[name].is_member = rules.may_join(name, GROUP)

    async def _asked(self, rng: random.Random, rules: World) -> AsyncIterator[str]:
        for name, client in self.clients.items():
            tree, group = possible_tree(rng), rng.choice(("", "orders-1", "n1"))
            text = tree.text.replace("${name}", name)
            roles = rules.roles_of(name) or []
            allows = [role.allows["subscribe"] for role in roles if "subscribe" in role.allows]
            may = rules.subscribable(name, tree, allows)
            self.decisions += 1
            may &= not group or any(group in named(role.patterns.get("groups", ()), name) for role in roles)
            if await client.subscribe(text, group) is not may:
                yield f"{name} subscribes to {text} in {group}: the oracle says {may}\n{rules.text()}"


def stamped(rules: World, name: str, message: dict[str, object]) -> dict[str, object]:
    stamps = [role.stamp for role in rules.roles_of(name) or []]
    return message | {key: name if v == "${name}" else v for stamp in stamps for key, v in stamp.items()}


@cache
def known_values(own: str) -> frozenset[tuple[str, object]]:
    """The values in the world of a client, with their types."""
    return frozenset((type(v).__name__, v) for each in world(own) for v in each.values())


def as_seen(message: dict[str, object], own: str) -> int:
    """The number of a message in the world of another client, in which names that no rule has are one value."""
    known = known_values(own)
    values = [message.get(name) for name in ("kind", "plant", "device")]
    tagged = [(type(v).__name__, v) for v in values]
    return numbers(own)[tuple(each if each in known else ("str", "other") for each in tagged)]


async def found(inside: Callable[..., Inside], seeds: range, enough: int = 3) -> list[str]:
    judged = Judged(inside(access=open_rules()))
    differing: list[str] = []
    for seed in seeds:
        differing += [each async for each in judged.differences(seed)]
        if len(differing) >= enough:
            break
    return differing


async def test_a_router_decides_as_sets_do(inside) -> None:
    assert await found(inside, range(4)) == []


@pytest.mark.slow
@pytest.mark.parametrize("first", [1_000, 2_000])
async def test_a_router_decides_as_sets_do_for_many_files(inside, first: int) -> None:
    assert await found(inside, range(first, first + 40)) == []


# --- planted breaks ---------------------------------------------------------------------------------------------------


def forget_denials_at_the_hand(patch: pytest.MonkeyPatch) -> None:
    whole = class_guards.hand_rules
    patch.setattr(class_guards, "hand_rules", lambda *of: GuardRules(whole(*of).allowed))


def believe_stamps(patch: pytest.MonkeyPatch) -> None:
    whole = ClassGuards.of_client

    def of_client(guards: ClassGuards, name: str, answers_id: int = 0) -> object:
        rights, stamp = guards.rights, guards.rights.stamp
        rights.stamp = {}
        held = whole(guards, name, answers_id)
        rights.stamp = stamp
        return held

    patch.setattr(ClassGuards, "of_client", of_client)


def share_guards_between_classes(patch: pytest.MonkeyPatch) -> None:
    whole = AccessInForce._class_of
    patch.setattr(
        AccessInForce,
        "_class_of",
        lambda access, roles: next(iter(access._classes.values()), None) or whole(access, roles),
    )


def keep_old_guards_at_a_reload(patch: pytest.MonkeyPatch) -> None:
    whole = AccessInForce._plan

    def plan(access: AccessInForce, admissions: object, planned: dict[int, HeldGuards], consuming: object) -> None:
        whole(access, admissions, planned, consuming)
        for interface in planned.keys() - access._stored.keys():
            held = planned.pop(interface)
            held.of.release(held)

    patch.setattr(AccessInForce, "_plan", plan)


def take_the_line_for_the_name(patch: pytest.MonkeyPatch) -> None:
    whole = ClassGuards.of_client
    patch.setattr(
        ClassGuards, "of_client", lambda guards, name, answers_id=0: whole(guards, name.split("/")[0], answers_id)
    )


def leave_members_in_their_groups(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Clients, "end_memberships", lambda _clients, _subscriber: None)


@pytest.mark.slow
@pytest.mark.parametrize(
    "plant",
    [
        *(forget_denials_at_the_hand, believe_stamps, share_guards_between_classes, keep_old_guards_at_a_reload),
        *(take_the_line_for_the_name, leave_members_in_their_groups),
    ],
)
async def test_a_planted_break_is_found(inside, plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    assert await found(inside, range(60), enough=1) != []

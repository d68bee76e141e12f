"""Guards of the switch against sets: what enters, what each client gets, and why a message is refused.

The oracle asks no filter of the switch: a rule is a function of attributes in Python.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator, Mapping

import pytest

from tamis.native import Switch, SwitchOptions, Table
from tamis.native.guards import Guarding, GuardRules
from tamis.protocol.errors import Refused
from tamis.protocol.filters import EVERYTHING, Constraint, Filter, Op
from tamis.protocol.language import parse
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.data_frames import DataFrame, encode_publish
from tamis.protocol.wire.extensions import ExtensionType
from tamis.protocol.wire.header import HEADER, Flags
from tests.native.slow_router import SlowRouter
from tests.native.test_switch import admission, output, subscribing

Attributes = Mapping[str, object]
PUBLISHER, OWN = 7, "${name}"
NAMES = ("plant/one", "plant/two", "a name that is longer than sixteen bytes")


@pytest.fixture
def switch() -> Iterator[Switch]:
    table = Table()
    made = Switch(table, SwitchOptions(number=1, epoch=2, connections_max=20, publishers_max=30, hop_limit=9))
    yield made
    made.validate()
    made.close()
    table.close()


class World:
    """Clients that want everything, and one that publishes; each may be guarded."""

    def __init__(self, switch: Switch, names: tuple[str, ...]) -> None:
        self.switch = switch
        self.publisher = self._opened(PUBLISHER)
        self.clients = [self._opened(PUBLISHER + 1 + number) for number in range(len(names))]
        for client in self.clients:
            assert switch.subscribe(self.subscriber(client), subscribing(1, "true"), 10) == []
            output(switch, client)
        self.sent = 0
        output(switch, self.publisher)

    def _opened(self, number: int) -> int:
        connection = self.switch.open()
        assert connection is not None
        self.switch.admit(connection, admission(number))
        return connection

    def subscriber(self, client: int) -> int:
        return self.switch.subscriber_of(client)

    def publish(self, attributes: Attributes) -> tuple[str, list[Attributes | None]]:
        """Publish a message; return why it was refused, or "", and the attributes that each client got."""
        self.sent += 1
        self.switch.feed(self.publisher, encode_publish(PUBLISHER, self.sent, 0, attributes, flags=Flags.CONFIRM))
        acks = [each for each in output(self.switch, self.publisher) if isinstance(each, bodies.Ack)]
        refusals = [each for ack in acks for each in ack.refusals]
        assert all(each.code == RefusalCode.NOT_ALLOWED for each in refusals)
        return "".join(each.reason for each in refusals), [self._got(client) for client in self.clients]

    def _got(self, client: int) -> Attributes | None:
        frames = [each for each in output(self.switch, client) if isinstance(each, DataFrame)]
        assert len(frames) <= 1
        return frames[0].message.attributes if frames else None


# --- rules of random words -------------------------------------------------------------------------------------------

Rule = Callable[[Attributes, str], bool]
TEXTS = ("rome", "oslo", "a city with a long name", *NAMES)


def drawn_condition(rng: random.Random) -> tuple[Constraint, Rule]:
    """One constraint, and what it means for the attributes of a message and the name of a client."""
    attribute, negated = rng.choice(("kind", "plant", "level", "device")), rng.random() < 0.2

    def either(holds: Rule) -> Rule:
        return lambda attributes, name: holds(attributes, name) != negated

    match rng.randrange(5):
        case 0:
            return Constraint(attribute, Op.EXISTS, (), negated), either(lambda a, _: attribute in a)
        case 1:
            low = rng.randrange(4)
            return Constraint("level", Op.GE, (low,), negated), either(
                lambda a, _: isinstance(a.get("level"), int | float) and a["level"] >= low  # type: ignore[operator]
            )
        case 2:
            text = rng.choice(TEXTS)
            return Constraint(attribute, Op.EQ, (text,), negated), either(lambda a, _: a.get(attribute) == text)
        case 3:
            return Constraint(attribute, Op.EQ, (OWN,), negated), either(lambda a, name: a.get(attribute) == name)
        case _:
            return Constraint(attribute, Op.NE, (OWN,), negated), either(
                lambda a, name: isinstance(a.get(attribute), str) and a[attribute] != name
            )


def drawn_filter(rng: random.Random) -> tuple[Filter, Rule]:
    drawn = [drawn_condition(rng) for _ in range(rng.randrange(4))]
    rules = [rule for _, rule in drawn]
    return Filter(tuple(each for each, _ in drawn)), lambda a, name: all(rule(a, name) for rule in rules)


def drawn_rules(rng: random.Random) -> tuple[GuardRules, Rule]:
    allowed = [drawn_filter(rng) for _ in range(rng.randrange(1, 4))]
    denied = [drawn_filter(rng) for _ in range(rng.randrange(3))]
    denied = [(each, rule) for each, rule in denied if each.constraints]
    rules = GuardRules(tuple(each for each, _ in allowed), tuple(each for each, _ in denied))
    return (
        rules,
        lambda a, name: any(rule(a, name) for _, rule in allowed) and not any(rule(a, name) for _, rule in denied),
    )


def drawn_message(rng: random.Random) -> dict[str, object]:
    values: dict[str, list[object]] = {
        "kind": [*TEXTS, 3],
        "plant": [*TEXTS],
        "level": [0, 1, 2.5, 3, "high"],
        "device": [*NAMES, True],
        "unrelated": [1, "x"],
    }
    names = [name for name in values if rng.random() < 0.6]
    rng.shuffle(names)
    return {name: rng.choice(values[name]) for name in names}


@pytest.mark.parametrize("seed", range(12))
def test_what_enters_and_who_gets_it_is_what_sets_say(switch, seed):
    """Rules are drawn again while messages flow; the clients have three names and few guards among them."""
    rng = random.Random(seed)
    names = tuple(rng.choice(NAMES) for _ in range(6))
    world = World(switch, names)
    passed = refused = 0
    for _ in range(15):
        made = [drawn_rules(rng) for _ in range(3)]
        guards = [switch.new_guard(rules) for rules, _ in made]
        door, hands = rng.randrange(3), [rng.randrange(4) for _ in names]
        own = rng.choice(NAMES)
        switch.guard(world.subscriber(world.publisher), Guarding(own, door=guards[door]))
        for client, name, hand in zip(world.clients, names, hands, strict=True):
            guarding = None if hand == 3 else Guarding(name, hand=guards[hand])
            switch.guard(world.subscriber(client), guarding)
        for _ in range(20):
            attributes = drawn_message(rng)
            why, got = world.publish(attributes)
            enters = made[door][1](attributes, own)
            assert (why == "") == enters, (made[door][0], attributes, own)
            due = [
                enters and (hand == 3 or made[hand][1](attributes, name))
                for name, hand in zip(names, hands, strict=True)
            ]
            assert [each is not None for each in got] == due
            passed, refused = passed + enters, refused + (not enters)
        for client in (world.publisher, *world.clients):
            switch.guard(world.subscriber(client), None)
        for guard in guards:
            switch.free_guard(guard)
    assert min(passed, refused) > 10


# --- single rules ----------------------------------------------------------------------------------------------------


def rules_of(allowed: str, denied: str = "", reasons: tuple[str, ...] = ()) -> GuardRules:
    return GuardRules(parse(allowed).filters, parse(denied).filters if denied else (), reasons)


def test_clients_of_one_class_are_judged_once(switch):
    world = World(switch, NAMES)
    guard = switch.new_guard(rules_of("level > 1"))
    for client in world.clients:
        switch.guard(world.subscriber(client), Guarding("any", hand=guard))
    assert world.publish({"level": 2}) == ("", [{"level": 2}] * 3)
    assert world.publish({"level": 1}) == ("", [None] * 3)
    assert switch.guard_figures(guard) == (0, 3, 2)


def test_a_result_of_one_name_is_not_that_of_another(switch):
    world = World(switch, NAMES)
    guard = switch.new_guard(rules_of(f'device = "{OWN}"'))
    for client, name in zip(world.clients, NAMES, strict=True):
        switch.guard(world.subscriber(client), Guarding(name, hand=guard))
    for number, name in enumerate(NAMES):
        _, got = world.publish({"device": name})
        assert [each is not None for each in got] == [at == number for at in range(3)]


def test_an_attribute_that_no_filter_names_is_still_tested(switch):
    """The shape of a message leaves out attributes that no table has, until there are guards."""
    world = World(switch, NAMES[:1])
    for _ in range(20):
        assert world.publish({"level": 1, "secret": 1})[1] == [{"level": 1, "secret": 1}]
    guard = switch.new_guard(rules_of("exists level", "exists secret"))
    switch.guard(world.subscriber(world.clients[0]), Guarding(hand=guard))
    for _ in range(20):
        assert world.publish({"level": 1, "secret": 1})[1] == [None]
        assert world.publish({"level": 1})[1] == [{"level": 1}]


def test_the_reason_is_that_of_the_constraint_that_decided(switch):
    world = World(switch, ())
    reasons = ("kind", "rome", "level", "secret", "nothing")
    rules = rules_of('kind = "reading" and plant = "rome" or level > 3', "exists secret", reasons)
    switch.guard(world.subscriber(world.publisher), Guarding(door=switch.new_guard(rules)))
    assert world.publish({"kind": "reading", "plant": "oslo"})[0] == "rome"
    assert world.publish({"plant": "rome"})[0] == "kind"
    assert world.publish({"level": 3})[0] == "level"
    assert world.publish({"level": 4, "secret": 1})[0] == "secret"
    assert world.publish({"level": 4})[0] == ""
    nothing = switch.new_guard(GuardRules((), (), ("nothing is allowed",)))
    switch.guard(world.subscriber(world.publisher), Guarding(door=nothing))
    assert world.publish({"level": 4})[0] == "nothing is allowed"


@pytest.mark.parametrize("count", [0, 1, 14, 15, 16, 60])
def test_a_stamp_is_added_and_never_taken_from_a_client(switch, count):
    world = World(switch, NAMES[:1])
    stamp = {"device": NAMES[2], "level": -5}
    guard = switch.new_guard(rules_of(f'device = "{OWN}" and level = -5'))
    guarding = Guarding(NAMES[2], door=guard, stamp=stamp, stamp_reason="role sensor stamps device")
    switch.guard(world.subscriber(world.publisher), guarding)
    plain: dict[str, object] = {f"a{number}": number for number in range(count)}
    for _ in range(3):
        assert world.publish(plain) == ("", [plain | stamp])
        if count < 60:
            assert world.publish(plain | {"device": NAMES[2]}) == ("role sensor stamps device", [None])


def test_a_stamp_beyond_the_limit_of_attributes_refuses_the_message(switch):
    world = World(switch, NAMES[:1])
    switch.guard(world.subscriber(world.publisher), Guarding(stamp={"device": 1}))
    why, got = world.publish({f"a{number}": number for number in range(64)})
    assert (why, got) == ("with its stamp the message has too many attributes", [None])


def test_a_message_whose_map_has_a_long_head_is_stamped(switch):
    """Its number of attributes is in four bytes, where one would do."""
    world = World(switch, NAMES[:1])
    switch.guard(world.subscriber(world.publisher), Guarding(stamp={"device": 1}))
    frame = encode_publish(PUBLISHER, 1, 0, {"x": 1})
    size, at = len(frame), HEADER.size
    long = frame[:at] + b"\xdf\0\0\0\1" + frame[at + 1 :]
    long = struct.pack("<I", size + 4) + long[4:60] + struct.pack("<I", size - at + 4) + long[64:]
    switch.feed(world.publisher, long)
    [got] = [each for each in output(switch, world.clients[0]) if isinstance(each, DataFrame)]
    assert got.message.attributes == {"x": 1, "device": 1}


def test_a_guard_in_use_is_not_freed(switch):
    world = World(switch, ())
    guard = switch.new_guard(GuardRules((EVERYTHING,)))
    switch.guard(world.subscriber(world.publisher), Guarding(door=guard))
    with pytest.raises(RuntimeError, match="misused"):
        switch.free_guard(guard)
    switch.guard(world.subscriber(world.publisher), None)
    switch.free_guard(guard)
    assert switch.new_guard(GuardRules((EVERYTHING,))) == guard


def test_a_guard_has_a_limit_of_tests(switch):
    constraints = tuple(Constraint(f"a{number}", Op.EXISTS) for number in range(16))
    with pytest.raises(Refused):
        switch.new_guard(GuardRules((Filter(constraints),) * 300))


def test_extensions_stay_with_a_stamped_message(switch):
    world = World(switch, NAMES[:1])
    switch.guard(world.subscriber(world.publisher), Guarding(stamp={"device": 1}))
    frame = encode_publish(PUBLISHER, 1, 0, {"x": 1}, b"payload", extensions={ExtensionType.EXPIRY: 2**62})
    switch.feed(world.publisher, frame)
    [got] = [each for each in output(switch, world.clients[0]) if isinstance(each, DataFrame)]
    assert got.message.payload == b"payload"
    assert got.extensions[ExtensionType.EXPIRY] == 2**62


def test_a_durable_subscription_stores_what_its_guard_lets_pass(tmp_path):
    """Its subscriber is the first of the switch; what is not stored for it is confirmed as for nobody."""
    router = SlowRouter(tmp_path)
    guarded = next(each for each in range(router.table.stats().interfaces) if router.switch.durable_of(each) == 1)
    guard = router.switch.new_guard(rules_of('plant = "rome"'))
    publisher = router.publisher(1)
    router.switch.guard(guarded, Guarding("owner", hand=guard))
    stored = [publisher.publish()]
    router.commit()
    assert router.durables.figures(1).open == 0
    router.switch.guard(guarded, Guarding("owner", hand=router.switch.new_guard(rules_of('kind = "job"'))))
    stored.append(publisher.publish())
    router.switch.guard(guarded, None)
    stored.append(publisher.publish())
    router.commit()
    assert router.durables.figures(1).open == 2
    assert publisher.confirmed == stored
    router.close()

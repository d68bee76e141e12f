"""What may cross a link: the routers that a neighbour may speak for, messages by predicates, and rules that differ."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamis.configs import parse_topology
from tamis.configs.access.load import parse_access
from tamis.native.switch_figures import DROP_REASONS
from tamis.protocol.errors import ConfigError
from tamis.protocol.wire.client_bodies import Ack
from tamis.protocol.wire.header import Flags
from tamis.router.links import same_rules
from tests.router.access.rules import written
from tests.router.links.conftest import in_touch, linked, start_together

EVERYTHING = "true"


async def sent(client, attributes: dict[str, object]) -> None:
    """Publish, and wait until the router has it."""
    await client.publish(attributes, flags=Flags.CONFIRM)
    assert not (await client.next(Ack)).refusals


def bounded(nodes, bound: str = "behind: {b: []}") -> dict:
    """A line of routers a, b, c in which a has a file of its own: there b may speak for nothing but itself."""
    made = nodes(linked("ab", "bc"))
    return made | {"a": nodes(linked("ab", more=f", {bound}"))["a"]}


async def test_a_router_that_is_not_behind_its_neighbour_states_nothing(nodes) -> None:
    made = await start_together(bounded(nodes))
    a, b, c = made.values()
    await b.knows("a", "c")
    await a.knows("b")
    reader = await c.client("reader")
    await reader.subscribe(1, EVERYTHING)
    await c.until(lambda: b.status()["remote_filters"] == 1)
    here = await a.client("here")
    await here.subscribe(1, EVERYTHING)
    await b.until(lambda: c.status()["remote_filters"] == 1)
    for n in range(3):
        await (await c.client(f"writer {n}")).publish({"n": n, "at": "c"})
    await a.until(lambda: a.status()["links"][0]["refused"] == 3)
    await (await b.client("writer")).publish({"at": "b"})
    assert (await here.delivered())["at"] == "b"
    [link] = a.status()["links"]
    await a.until(lambda: a.status()["links"][0]["refused"] == 3)
    assert a.status()["routers"] == 2
    assert a.status()["remote_filters"] == 0
    assert a.status()["links"][0]["statements_refused"] > 0
    assert link["state"] == "up"
    assert sum("not behind it" in each.text for each in a.connections.health.recent) == 1
    dropped = a.connections.switch.figures().dropped
    assert dict(zip(DROP_REASONS, dropped, strict=True))["not_allowed"] == 3


async def test_a_router_that_is_behind_its_neighbour_is_heard(nodes) -> None:
    made = await in_touch(
        nodes(linked("ab", "bc", "ac").replace("ends: [a, b]", "ends: [a, b], behind: {b: [], a: a}"))
    )
    here = await made["a"].client("here")
    await here.subscribe(1, EVERYTHING)
    for name in "bc":
        await made[name].until(lambda name=name: made[name].status()["remote_filters"] == 1)
        await sent(await made[name].client(f"writer {name}"), {"at": name})
        assert await here.delivered() == {"at": name}
    await made["a"].until(lambda: all(each["in_step"] for each in made["a"].status()["links"]))
    assert not any(each["statements_refused"] for each in made["a"].status()["links"])


PARTNER = """trust: partner, passes: {a: 'kind = "order"', b: 'kind = "offer" and not exists price'}"""


@pytest.mark.parametrize("strategy", ["advertise", "flood", "match-first"])
async def test_only_messages_of_the_predicates_cross_to_a_partner(nodes, strategy) -> None:
    made = await in_touch(nodes(f"strategy: {strategy}\n" + linked("ab", more=f", {PARTNER}")))
    readers = {name: await node.client(f"reader {name}") for name, node in made.items()}
    for reader in readers.values():
        await reader.subscribe(1, "exists kind")
    for node in made.values():
        await node.until(lambda node=node: node.status()["remote_filters"] >= 1)
    messages = [{"kind": "offer"}, {"kind": "order"}, {"kind": "offer", "price": 3}, {"kind": "other"}]
    for name, node in made.items():
        writer = await node.client(f"writer {name}")
        for n, message in enumerate([*messages, {"kind": "order" if name == "a" else "offer", "last": True}]):
            await sent(writer, {**message, "n": n, "at": name})
    for name, (other, ours) in {"a": ("b", [0, 4]), "b": ("a", [1, 4])}.items():
        got = [await readers[name].delivered() for _ in range(7)]
        assert sorted(each["n"] for each in got if each["at"] == name) == list(range(5))
        assert sorted(each["n"] for each in got if each["at"] == other) == ours
    assert [made[name].status()["links"][0]["withheld"] for name in "ab"] == [3, 3]
    assert [made[name].status()["links"][0]["dropped"] for name in "ab"] == [0, 0]


async def test_an_end_holds_to_the_predicates_of_the_other_end(nodes) -> None:
    made = nodes(linked("ab"))
    made["a"] = nodes(linked("ab", more=f", {PARTNER}"))["a"]
    made = await in_touch(made)
    reader = await made["a"].client("reader")
    await reader.subscribe(1, "exists n")
    await made["b"].until(lambda: made["b"].status()["remote_filters"] == 1)
    writer = await made["b"].client("writer")
    for n, kind in enumerate(["offer", "order", "offer"]):
        await sent(writer, {"kind": kind, "n": n})
    assert [(await reader.delivered())["n"] for _ in range(2)] == [0, 2]
    assert made["a"].status()["links"][0]["refused"] == 1


def with_rules(node, strict: bool = False, **roles: object):
    text = written({"r": {"publish": "true"} | roles}, {"p": "r"}, strict=strict)
    node.settings = replace(node.settings, access=parse_access(text).rules)


async def test_rules_that_differ_are_an_alarm_until_they_do_not(nodes, monkeypatch) -> None:
    monkeypatch.setattr(same_rules, "DIFFERS_S", 0.05)
    made = nodes(linked("ab"))
    with_rules(made["a"])
    with_rules(made["b"], subscribe="true")
    await in_touch(made)
    for node in made.values():
        await node.until(lambda node=node: any("differ" in each for each in node.connections.health.problems.values()))
        assert not node.connections.health.unready
        assert sum("differ" in each.text for each in node.connections.health.recent) == 1
    with_rules(made["b"])
    made["b"].network.use_rules(made["b"].settings.access)
    for node in made.values():
        await node.until(lambda node=node: not node.connections.health.problems)
    digests = {each for node in made.values() for each in (node.status()["rules"], node.status()["links"][0]["rules"])}
    assert len(digests) == 1


async def test_strict_rules_have_no_link_to_others(nodes, monkeypatch) -> None:
    monkeypatch.setattr(same_rules, "DIFFERS_S", 0.05)
    made = nodes(linked("ab"))
    with_rules(made["a"], strict=True)
    with_rules(made["b"], strict=True)
    await in_touch(made)
    with_rules(made["b"], strict=True, subscribe="true")
    made["b"].network.use_rules(made["b"].settings.access)
    await made["b"].until(lambda: not made["a"].is_up("b") and not made["b"].is_up("a"))
    dialling = next(node for node in made.values() if node.settings.links[0].dial)
    await dialling.until(lambda: "and these are strict" in dialling.status()["links"][0]["problem"])
    with_rules(made["b"], strict=True)
    made["b"].network.use_rules(made["b"].settings.access)
    await made["b"].until(lambda: made["a"].is_up("b") and made["b"].is_up("a"))


@pytest.mark.parametrize(
    ("links", "what"),
    [
        ("{ends: [a, b], behind: {b: [d]}}", 'no router is called "d"'),
        ("{ends: [a, b], behind: {c: [a]}}", "`behind` names c, which is no end of the link: use a or b"),
        ("{ends: [a, b], behind: {b: []}}", 'lacks "c", whose messages come to "a" only by this link'),
        ("{ends: [a, b], behind: {b: [a, c]}}", '"a" is the other end of the link'),
        ("{ends: [a, b], behind: {b: b}}, {ends: [a, c], cost: 3}", 'come to "a" on the shortest path by this link'),
        ("{ends: [a, b], passes: {b: 'n = 1'}}", "`passes` needs `trust: partner`"),
        ("{ends: [a, b], trust: partner, passes: {c: 'n = 1'}}", "`passes` names c, which is no end"),
        ("{ends: [a, b], trust: partner, passes: {b: 'n ='}}", "is no predicate"),
        ("{ends: [a, b], trust: partner, passes: {b: 'n = \"${name}\"'}}", "a link has no `${name}`"),
        ("{ends: [a, b], trust: friend}", "must be network or partner"),
    ],
)
def test_a_wrong_border_is_named(links, what) -> None:
    routers = ", ".join(f"{name}: {{neighbours: 'unix:/tmp/{name}.sock'}}" for name in "abc")
    with pytest.raises(ConfigError) as refused:
        parse_topology(f"routers: {{{routers}}}\nlinks: [{links}, {{ends: [b, c]}}]")
    assert what in str(refused.value)

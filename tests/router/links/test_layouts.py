"""Routers whose topology files differ in the broadcast layer: they say so, and messages arrive all the same."""

from __future__ import annotations

from tamis.configs import parse_topology
from tamis.router.core.routing.source_trees import SourceTrees
from tests.router.links.conftest import in_touch, linked
from tests.router.links.test_network import subscribe
from tests.router.wire_client import subscription


async def test_files_that_differ_are_an_alarm_that_names_who_differs(nodes):
    text = linked("ab", "bc", "ca") + "\nbroadcast: shared-tree"
    made = nodes(text)
    other = parse_topology(text.replace("{}", str(made["a"]._folder)).replace("shared-tree", "source-trees"))
    made["c"].settings = other.router("c")
    await in_touch(made)
    for node in made.values():
        await node.until(lambda node=node: isinstance(node.network.core.core_state.trees, SourceTrees))
    for name, said in {
        "a": "c (states none)",
        "b": "c (states none)",
        "c": "a (rib shared-tree), b (rib shared-",
    }.items():
        health = made[name].connections.health
        await made[name].until(lambda health=health, said=said: any(said in shown.text for shown in health.recent))
        assert health.alarms == len(health.recent) >= 1
    clients = {name: await node.client(f"at {name}") for name, node in made.items()}
    for client in clients.values():
        await subscribe(client, subscription(1, "x = 1"))
    await clients["a"].publish({"x": 1})
    assert [await clients[name].delivered() for name in "bc"] == [{"x": 1}] * 2

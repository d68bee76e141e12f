"""What a ring of five routers is tried by, whatever their strategies: a client at each, that all publish and want.

Law: each client wants one message of every publisher that nobody else wants, and one that everybody wants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tamis.configs import parse_topology
from tamis.native.switch_figures import DROP_REASONS
from tests.router.links.conftest import Node, in_touch, linked
from tests.router.links.test_network import subscribe
from tests.router.wire_client import WireClient, subscription

RING = ("ab", "bc", "cd", "de", "ea")
EVERYBODY = 9


def visits(made: Mapping[str, Node]) -> int:
    """How many messages routers took, those of clients included, and copies by old trees (R5b) left out."""
    figures = [node.connections.switch.figures() for node in made.values()]
    dropped = [dict(zip(DROP_REASONS, each.dropped, strict=True)) for each in figures]
    return sum(each.messages_in for each in figures) - sum(each["transit"] + each["parent"] for each in dropped)


async def mixed_ring(nodes, strategies: Sequence[str]) -> dict[str, Node]:
    """Return a ring of five in touch, each with a strategy of its own: the lines of a topology file that name it, or
    nothing for the default."""
    text = linked(*RING)
    made = nodes(text)
    file = text.replace("{}", str(made["a"]._folder))
    for node, strategy in zip(made.values(), strategies, strict=True):
        node.settings = parse_topology(file + strategy).router(node.name)
    return await in_touch(made)


async def killed(made: Mapping[str, Node], name: str) -> dict[str, Node]:
    """Kill this router; return the others when they know that it is gone."""
    made[name].kill()
    rest = {other: node for other, node in made.items() if other != name}
    for node in rest.values():
        await node.knows(*(rest.keys() - {node.name}))
    return rest


async def all_subscribe(made: Mapping[str, Node]) -> dict[str, WireClient]:
    """Return a client at each router, by its name, that has subscribed."""
    clients = {name: await node.client(f"at {name}") for name, node in made.items()}
    for place, client in enumerate(clients.values()):
        await subscribe(client, subscription(1, f"x = {place} or x = {EVERYBODY}"))
    return clients


async def each_gets_what_it_wants(clients: Mapping[str, WireClient]) -> None:
    """Publish at each router, and check that each client gets what the others published and it wants, once."""
    for name, publisher in clients.items():
        for x in (*range(len(clients)), EVERYBODY):
            await publisher.publish({"x": x, "of": name})
    for place, client in enumerate(clients.values()):
        others = [name for name, other in clients.items() if other is not client]
        wanted = [{"x": x, "of": name} for name in others for x in (place, EVERYBODY)]
        came = [await client.delivered() for _ in wanted]
        assert sorted(came, key=str) == sorted(wanted, key=str)

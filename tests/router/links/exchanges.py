"""What a ring of five routers is tried by, whatever their strategies: a client at each, that all publish and want.

Law: each client wants one message of every publisher that nobody else wants, and one that everybody wants.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.router.links.conftest import Node
from tests.router.links.test_network import subscribe
from tests.router.wire_client import WireClient, subscription

EVERYBODY = 9


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

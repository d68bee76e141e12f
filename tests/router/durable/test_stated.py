"""What a router states of its durable subscriptions: its log, and whether it takes DIRECTED."""

from __future__ import annotations

import pytest

from tamis.cli.network.durable_lines import durable_lines
from tamis.client.durable.policy import durable_of
from tamis.protocol.wire.client_bodies import KnownAt
from tamis.protocol.wire.home_bodies import REFUSES, TAKES_DIRECTED, read_durable
from tamis.router.core.core import Core
from tamis.router.durable.homes import DurableHomes
from tamis.router.links.homes import NetworkHomes
from tamis.router.links.relay import CustodyRelay


@pytest.fixture
def home(inside, tmp_path):
    """home(takes_directed) -> the core of a router with two durable subscriptions, and what states them."""

    async def make(takes_directed: bool):
        router = inside("durable: {bytes: 256 MiB}", f"data: {tmp_path}/data")
        router.store()
        registry, core = router.durables.registry, Core("a", 1)
        core.start(0)
        for name, overflow in (("first", "drop-oldest"), ("second", "refuse")):
            registry.make("alice", durable_of(name, "n > 0", overflow=overflow), lambda _error: None, frozenset())
        await router.until(lambda: len(registry.by_number) == 2)
        relay = CustodyRelay(core.me, {}.get, lambda _hop, _body: None)
        network = NetworkHomes(core.core_state.durables, lambda event: core.handle(event, 0), {}.__getitem__, relay)
        homes = DurableHomes(registry, network, ["b"], router.connections.health, takes_directed=takes_directed)
        homes.start()
        return core, homes, registry

    return make


@pytest.mark.parametrize(("takes_directed", "bit"), [(True, TAKES_DIRECTED), (False, 0)])
async def test_each_durable_subscription_says_whether_its_home_takes_directed(home, takes_directed, bit):
    core, homes, registry = await home(takes_directed)
    stated = [read_durable(packed) for packed in core.core_state.durables.rib.filters(core.me).values()]
    assert {each.name: each.flags for each in stated} == {"first": bit, "second": bit | REFUSES}
    assert core.core_state.durables.log_of(core.me) == registry.log.state()["log_id"]
    assert homes.is_best_effort is not takes_directed


@pytest.mark.parametrize("takes_directed", [True, False])
async def test_the_answer_says_whether_other_routers_store_for_it(home, takes_directed):
    _, homes, _ = await home(takes_directed)
    answers: list[KnownAt] = []
    homes._homes.when_known = lambda _wait_s, answer: answer([], [])
    homes.when_known(answers.append)
    assert answers == [KnownAt((), ("b",), 0, 1, is_directed=takes_directed)]


def test_the_status_says_what_is_best_effort():
    log = {"bytes": 9, "bytes_max": 10, "is_failed": False, "is_full": False, "missing": 0, "is_tight": False}
    form = {"depth": 0, "subscriptions": 2, "log": log, "commit_ms": {"p50": None}, "is_best_effort": True}
    assert [*durable_lines("a", {"durable": form})][2:] == [
        "a: messages for its durable subscriptions that enter at other routers are best effort"
    ]
    assert len([*durable_lines("a", {"durable": form | {"subscriptions": 0}})]) == 2

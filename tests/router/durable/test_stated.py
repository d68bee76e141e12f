"""What a router states of its durable subscriptions: its log, and whether it takes DIRECTED."""

from __future__ import annotations

import pytest

from tamis.cli.network.durable_lines import durable_lines
from tamis.client.durable.policy import durable_of
from tamis.protocol.wire.client_bodies import KnownAt
from tamis.protocol.wire.custody_bodies import LogLife
from tamis.protocol.wire.home_bodies import REFUSES, TAKES_DIRECTED, TAKES_READS, TAKES_REMOTE, read_durable
from tamis.router.core.core import Core
from tamis.router.durable.chains import CustodyBounds, DurableChains
from tamis.router.durable.homes import DurableHomes
from tamis.router.links.homes import NetworkHomes
from tamis.router.links.relay import CustodyRelay


@pytest.fixture
def home(inside, tmp_path):
    """home() -> the core of a router with two durable subscriptions, and what states them."""

    async def make():
        router = inside("durable: {bytes: 256 MiB}", f"data: {tmp_path}/data")
        router.store()
        registry, core = router.durables.registry, Core("a", 1)
        core.start(0)
        for name, overflow in (("first", "drop-oldest"), ("second", "refuse")):
            registry.make("alice", durable_of(name, "n > 0", overflow=overflow), lambda _error: None, frozenset())
        await router.until(lambda: len(registry.by_number) == 2)
        relay = CustodyRelay(core.me, {}.get, lambda _hop, _body: None)
        network = NetworkHomes(core.core_state.durables, lambda event: core.handle(event, 0), {}.__getitem__, relay)

        def chains(written: LogLife) -> DurableChains:
            told = (lambda: None), (lambda *_: None), (lambda: None)
            return DurableChains("a", ["b"], written, registry, network, *told, CustodyBounds(), lambda _: True)

        homes = DurableHomes(registry, network, ["b"], router.connections.health, lambda _: True, chains)
        homes.start()
        return core, homes, registry

    return make


async def test_each_durable_subscription_says_what_its_home_takes(home):
    core, homes, registry = await home()
    stated = [read_durable(packed) for packed in core.core_state.durables.rib.filters(core.me).values()]
    takes = TAKES_DIRECTED | TAKES_REMOTE | TAKES_READS
    assert {each.name: each.flags for each in stated} == {"first": takes, "second": takes | REFUSES}
    assert core.core_state.durables.log_of(core.me) == registry.log.state()["log_id"]
    assert homes.best_effort() == ["b"]


async def test_the_answer_says_whether_the_routers_that_know_it_store_for_it(home):
    _, homes, _ = await home()
    answers: list[KnownAt] = []
    for holding in ([], ["b"]):
        homes._homes.when_known = lambda _wait_s, answer, holding=holding: answer(holding, [])
        homes.when_known(answers.append)
    assert answers == [KnownAt((), ("b",), 0, 1, is_directed=False), KnownAt(("b",), (), 1, 0, is_directed=False)]


def test_the_status_says_what_is_best_effort():
    log = {"bytes": 9, "bytes_max": 10, "is_failed": False, "is_full": False, "missing": 0, "is_tight": False}
    form = {"depth": 0, "subscriptions": 2, "log": log, "commit_ms": {"p50": None}, "best_effort": ["b", "c"]}
    assert [*durable_lines("a", {"durable": form})][2:] == [
        "a: messages for its durable subscriptions that enter at b, c are best effort"
    ]
    assert len([*durable_lines("a", {"durable": form | {"subscriptions": 0}})]) == 2

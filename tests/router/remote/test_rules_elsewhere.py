"""Rules of access for consumers at a router that is not the home: both judge, and the home by the rules of now."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import tamis
from tamis import DurableRefused
from tamis.testing import RouterNetwork, line, running
from tests.router.access.rules import token_of, written
from tests.router.durable.test_homes import DURABLE_KEYS, PATIENCE_S

pytestmark = pytest.mark.slow
ROLES = {
    "worker": {"durable": {"names": ["orders-*"], "of": 'kind = "order"', "bytes": "1 GiB"}, "publish": "true"},
    "helper": {"consume": "orders-*", "subscribe": "n < 2"},
    "none": {},
}
RULES = written(ROLES, {"maker": "worker", "helper": "helper", "none": "none"})


def rules_in(folder: Path) -> Path:
    """Write the access file, which only its owner may read."""
    rules = folder / "rules.yaml"
    rules.touch(0o600)
    rules.write_text(RULES)
    return rules


def client_at(network: RouterNetwork, at: str, name: str, token: str = "") -> tamis.Client:
    """`token`: by default that of the rules."""
    token = token or token_of(name).decode()
    return tamis.connect(network[at].address, name=name, token=token, patience_s=PATIENCE_S)


async def test_a_consumer_elsewhere_has_the_rights_that_it_has_at_the_home(tmp_path: Path) -> None:
    rules = rules_in(tmp_path)
    async with running(tmp_path, line("a", "b", durable=DURABLE_KEYS, access=str(rules))) as network:
        async with client_at(network, "b", "maker") as maker:
            await asyncio.sleep(2)  # the admin interface, which knows of links, is not for strangers
            assert (await maker.durable("orders-eu", 'kind = "order"')).known == ("a",)
            for n in range(4):
                await maker.publish({"kind": "order", "n": n}, confirm="stored")
        async with client_at(network, "a", "none") as none:
            with pytest.raises(DurableRefused, match="there is no durable subscription 'orders-eu'"):
                await none.consume("orders-eu").start()
        async with client_at(network, "a", "helper") as helper, helper.consume("orders-eu") as work:
            assert [(await work.receive(10))["n"] for _ in range(2)] == [0, 1]
            with pytest.raises(TimeoutError):  # the guard of this consumer is at the home
                await work.receive(1.0)
            with pytest.raises(DurableRefused, match="NOT_ALLOWED"):
                await helper.remove_durable("orders-eu")
        async with client_at(network, "a", "maker") as maker, maker.consume("orders-eu") as work:
            assert sorted([(await work.receive(10))["n"] for _ in range(4)]) == [0, 1, 2, 3]
            await maker.remove_durable("orders-eu")


async def test_a_read_elsewhere_gets_what_the_rules_of_both_routers_allow(tmp_path: Path) -> None:
    rules = rules_in(tmp_path)
    async with running(tmp_path, line("a", "b", durable=DURABLE_KEYS, access=str(rules))) as network:
        async with client_at(network, "b", "maker") as maker:
            await asyncio.sleep(2)  # the admin interface, which knows of links, is not for strangers
            assert (await maker.durable("orders-eu", 'kind = "order"', latest_by="n")).known == ("a",)
            for n in range(3):
                await maker.publish({"kind": "order", "n": n}, confirm="stored")
        async with client_at(network, "a", "none") as none:
            with pytest.raises(DurableRefused, match="there is no durable subscription 'orders-eu'"):
                await none.get("orders-eu", 0)
        async with client_at(network, "a", "helper") as helper:
            assert [(found := await helper.get("orders-eu", n)) and found["n"] for n in range(3)] == [0, 1, None]
        async with client_at(network, "a", "maker") as maker:
            assert [(found := await maker.get("orders-eu", n)) and found["n"] for n in range(3)] == [0, 1, 2]


async def test_a_client_lists_its_own_at_other_routers_alone(tmp_path: Path) -> None:
    rules = rules_in(tmp_path)
    async with running(tmp_path, line("a", "b", durable=DURABLE_KEYS, access=str(rules))) as network:
        async with client_at(network, "b", "maker") as maker:
            await asyncio.sleep(2)  # the admin interface, which knows of links, is not for strangers
            assert (await maker.durable("orders-eu", 'kind = "order"')).known == ("a",)
        async with client_at(network, "a", "maker") as maker:
            assert [each.at for each in await maker.durables_elsewhere()] == ["orders-eu@b"]
        for name in ("helper", "none"):
            async with client_at(network, "a", name) as other:
                assert await other.durables_elsewhere() == []


async def test_with_tokens_a_client_lists_its_own_at_other_routers_alone(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.touch(0o600)
    tokens.write_text("maker makers-token\nhelper helpers-token\n")
    async with running(tmp_path, line("a", "b", durable=DURABLE_KEYS, tokens=str(tokens))) as network:
        await network.until_linked()
        async with client_at(network, "b", "maker", "makers-token") as maker:
            assert (await maker.durable("orders-eu", 'kind = "order"')).known == ("a",)
        async with (
            client_at(network, "a", "maker", "makers-token") as maker,
            client_at(network, "a", "helper", "helpers-token") as helper,
        ):
            assert [each.at for each in await maker.durables_elsewhere()] == ["orders-eu@b"]
            assert await helper.durables_elsewhere() == []

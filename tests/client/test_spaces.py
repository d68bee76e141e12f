"""Clients that name spaces: what is refused here, what at the router, and what arrives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import tamis
from tamis.client.messages.in_space import message_of, spaces_of
from tamis.protocol.spaces import SpaceSet, space_from
from tamis.protocol.wire.codes import RefusalCode
from tamis.testing import blocking
from tamis.testing.blocking import BlockingRouter

SPACES: dict[str, object] = {
    "alarms": {"attributes": {"severity": {"one_of": ["low", "medium", "high"]}, "zone": {"integer": [1, 9]}}}
}
TOPOLOGY = """
spaces:
  alarms: {{attributes: {{severity: {{one_of: [low, medium, high]}}, zone: {{integer: [1, 9]}}}}}}
routers:
  rome:
    clients: unix:{path}
"""


def test_a_message_gets_the_name_of_its_space() -> None:
    known = spaces_of(SPACES)
    assert message_of({"severity": "low", "zone": 1}, "alarms", known) == {
        "type": "alarms",
        "severity": "low",
        "zone": 1,
    }
    assert message_of({"x": 1}, "alarms", SpaceSet()) == {"type": "alarms", "x": 1}


@pytest.mark.parametrize(
    ("attributes", "space", "sentence"),
    [
        ({"severity": "low", "zone": 10}, "alarms", "space alarms: attribute zone lies outside its range"),
        ({"severity": "low"}, "alarms", "space alarms: attribute zone is missing"),
        ({"type": "other"}, "alarms", "attribute type is 'other', and the message is published in space 'alarms'"),
        ({}, "alarm", "no space 'alarm'; the spaces are alarms"),
    ],
)
def test_a_message_that_does_not_fit_is_refused_here(attributes, space: str, sentence: str) -> None:
    with pytest.raises(tamis.Refused, match=sentence):
        message_of(attributes, space, spaces_of(SPACES))


@pytest.mark.parametrize("told", [["alarms"], {"alarms": {"attributes": 5}}, {"a b": {}}])
def test_what_is_no_space_is_refused_by_connect(told) -> None:
    with pytest.raises(tamis.Refused):
        tamis.connect("tamis://127.0.0.1:7400", spaces=told)


def test_spaces_are_given_as_mappings_or_built() -> None:
    built = space_from("alarms", SPACES["alarms"])
    assert spaces_of({"alarms": built}) == spaces_of(SPACES) == spaces_of(SpaceSet({"alarms": built}))


@pytest.fixture(scope="module")
def rome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockingRouter]:
    folder: Path = tmp_path_factory.mktemp("rome")
    file = folder / "one.yaml"
    file.write_text(TOPOLOGY.format(path=folder / "clients"))
    with blocking.started(file, "rome") as router:
        yield router


@pytest.mark.slow
async def test_messages_of_a_space_are_checked_and_arrive(rome: BlockingRouter) -> None:
    [address] = rome.said["clients"]
    async with (
        tamis.connect(address, spaces=SPACES) as client,
        client.subscribe("zone > 2.5", space="alarms", own_messages=True) as by_zone,
        client.subscribe("alarms: severity >= 'medium'", own_messages=True) as by_severity,
    ):
        with pytest.raises(tamis.Refused, match="zone lies outside its range"):
            await client.publish({"severity": "low", "zone": 10}, space="alarms")
        with pytest.raises(tamis.PublishRefused, match="zone lies outside its range") as refused:
            await client.publish({"type": "alarms", "severity": "low", "zone": 10}, confirm=True)
        assert refused.value.code == RefusalCode.NOT_IN_SPACE
        await client.publish({"severity": "low", "zone": 3}, space="alarms", confirm=True)
        await client.publish({"severity": "high", "zone": 2}, space="alarms", confirm=True)
        assert (await by_zone.receive(5))["zone"] == 3
        assert (await by_severity.receive(5))["severity"] == "high"
        with pytest.raises(tamis.PredicateError, match="space alarms has no attribute"):
            await client.subscribe("sevrity = 'low'", space="alarms")


@pytest.mark.slow
def test_without_asyncio_too(rome: BlockingRouter) -> None:
    [address] = rome.said["clients"]
    with (
        tamis.blocking.connect(address, spaces=SPACES) as client,
        client.subscribe("severity < 'high'", space="alarms", own_messages=True) as calm,
    ):
        with pytest.raises(tamis.Refused, match="zone lies outside its range"):
            client.publish({"severity": "low", "zone": 10}, space="alarms")
        client.publish({"severity": "high", "zone": 1}, space="alarms")
        client.publish({"severity": "medium", "zone": 1}, space="alarms")
        assert calm.receive(5)["severity"] == "medium"


WRONG: dict[str, tamis.Value] = {"severity": "low", "zone": 10}
RIGHT: dict[str, tamis.Value] = {"severity": "high", "zone": 3}


@pytest.mark.slow
async def test_whatever_publishes_takes_a_space(rome: BlockingRouter) -> None:
    [address] = rome.said["clients"]
    async with (
        tamis.connect(address, spaces=SPACES) as client,
        client.subscribe("zone > 2", space="alarms", own_messages=True) as found,
    ):
        for call in (client.trace, client.route):
            with pytest.raises(tamis.Refused, match="zone lies outside its range"):
                await call(WRONG, space="alarms")
        for confirm in (False, True):
            with pytest.raises(tamis.Refused, match="zone lies outside its range"):
                await client.publish_many([RIGHT, WRONG], confirm=confirm, space="alarms")
        with pytest.raises(tamis.Refused, match="zone lies outside its range"):
            client.try_publish(WRONG, space="alarms")
        assert client.try_publish(RIGHT, space="alarms") is not None
        await client.publish_many([RIGHT], space="alarms")
        assert (await client.trace(RIGHT, space="alarms")).is_complete
        assert (await client.route(RIGHT, space="alarms")).is_complete
        assert all([(await found.receive(5))["type"] == "alarms" for _ in range(3)])


@pytest.mark.slow
def test_whatever_publishes_without_asyncio_takes_a_space(rome: BlockingRouter) -> None:
    [address] = rome.said["clients"]
    with (
        tamis.blocking.connect(address, spaces=SPACES) as client,
        client.subscribe("zone > 2", space="alarms", own_messages=True) as found,
    ):
        for call in (client.trace, client.route, client.try_publish):
            with pytest.raises(tamis.Refused, match="zone lies outside its range"):
                call(WRONG, space="alarms")
        with pytest.raises(tamis.Refused, match="zone lies outside its range"):
            client.publish_many([RIGHT, WRONG], confirm=True, space="alarms")
        client.publish_many([RIGHT], space="alarms")
        assert client.trace(RIGHT, space="alarms").is_complete
        assert client.route(RIGHT, space="alarms").is_complete
        assert found.receive(5)["type"] == "alarms"

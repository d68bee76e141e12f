"""Clients with metrics of their own: the first so many, and one sum for the rest that never goes down."""

from __future__ import annotations

import random

import pytest

from tamis.native import Switch, SwitchOptions, Table
from tamis.protocol.wire.data_frames import encode_publish
from tamis.router.admin.metrics import metrics
from tamis.router.clients.series import OTHERS, ClientSeries
from tests.native.test_switch import admission


@pytest.fixture
def switch():
    table = Table()
    made = Switch(table, SwitchOptions(number=1, epoch=2, connections_max=20, publishers_max=10, hop_limit=9))
    yield made
    made.close()
    table.close()


def came(switch: Switch, series: ClientSeries, name: str, number: int, limit: int = 2) -> int:
    connection = switch.open()
    switch.admit(connection, admission(number))
    series.came(name, connection, limit)
    return connection


def test_the_first_have_series_and_the_rest_one(switch):
    series = ClientSeries(switch)
    for number, name in enumerate(("a", OTHERS, "b", "c"), 1):
        connection = came(switch, series, name, number)
        for counter in range(1, number + 1):
            switch.feed(connection, encode_publish(number, counter, 0, {"x": 1}))
    assert {name: counts.messages_in for name, counts in series.counts()} == {"a": 1, "b": 3, OTHERS: 2 + 4}


@pytest.mark.parametrize("seed", range(3))
def test_nothing_that_is_counted_goes_down_whoever_comes_and_goes(switch, seed):
    """What the others have sent is known by adding it up here: a client is one of them for all of its session."""
    chance, series = random.Random(seed), ClientSeries(switch)
    there: dict[str, tuple[int, int]] = {}  # name -> connection, number
    own: dict[str, int] = {}
    others, number, counter = 0, 0, 0
    for _ in range(400):
        if len(there) < 8 and chance.random() < 0.4:
            number += 1
            name = f"c{number}"
            there[name] = came(switch, series, name, number), number
            if len(own) < 2:
                own[name] = 0
        elif there and chance.random() < 0.3:
            name = chance.choice(list(there))
            connection, _ = there.pop(name)
            switch.end(connection, now=True)
            if chance.random() < 0.5:
                list(series.counts())  # a page is made before the end is handled
            series.went(name, connection)
            own.pop(name, None)
            while switch.forget(connection, 100):
                pass
        elif there:
            name = chance.choice(list(there))
            counter += 1
            switch.feed(there[name][0], encode_publish(there[name][1], counter, 0, {"x": 1}))
            if name in own:
                own[name] += 1
            else:
                others += 1
        assert {name: counts.messages_in for name, counts in series.counts()} == own | {OTHERS: others}


async def test_metrics_have_them_where_the_file_asks_for_that(inside):
    net = inside("limits: {client_series: 1}")
    await net.client("first")
    await net.client("second")
    lines = metrics(net.running, "1").splitlines()
    assert 'tamis_client_messages_received_total{client="first"} 0' in lines
    assert 'tamis_client_filters{client="others"} 0' in lines
    assert not any('client="second"' in line for line in lines)


async def test_without_that_no_metric_names_a_client(inside):
    net = inside()
    await net.client("first")
    assert "tamis_client_" not in metrics(net.running, "1")

"""Rates, quotas and totals of rules, enforced by real routers on real clients."""

from __future__ import annotations

import contextlib
import http.client
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import tamis
from tamis.blocking import Client
from tamis.protocol.limits import FRAME_BYTES_MAX
from tamis.testing import free_port
from tests.router.access.ruled_router import PATIENCE_S, RuledRouter
from tests.router.access.rules import token_of, written

BURST = 400  # a fifth of what slow may send in a second
pytestmark = pytest.mark.slow
LINES = {
    "fast": "all",
    "slow": ["slow", "all"],
    "heavy": "heavy",
    "fleet": "fleet",
    "own": "own",
    "watch": "watch",
    "hoard": "hoard",
}
ROLES: dict[str, object] = {
    "all": {"publish": "true", "subscribe": "true"},
    "slow": {"rate": {"messages_s": 2_000, "burst": 100}},
    "heavy": {"publish": "true", "rate": {"bytes_s": 1_000_000}},
    "fleet": {
        "subscribe": "true",
        "durable": {"names": "${name}-*"},
        "totals": {"connections": 2, "durables": 3, "filters": 5},
    },
    "own": {"subscribe": "true", "durable": {"names": "*"}, "quotas": {"durables": 2, "filters": 4}},
    "hoard": {
        "subscribe": "true",
        "quotas": {"log": "1 MiB"},
        "durable": {"names": "*", "refuse": "grade > 5", "bytes": "1 GiB"},
    },
    "watch": {"subscribe": "true", "admin": "viewer"},
}


class Router(RuledRouter):
    def metrics(self) -> str:
        headers = {"Authorization": f"Bearer watch:{token_of('watch').decode()}"}
        with contextlib.closing(http.client.HTTPConnection(self.one.admin, timeout=PATIENCE_S)) as connection:
            connection.request("GET", "/metrics", headers=headers)
            with connection.getresponse() as answer:
                return answer.read().decode()

    def change_roles(self, roles: dict[str, object]) -> None:
        self.change(written(ROLES | roles, LINES))


@pytest.fixture
def router(tmp_path: Path) -> Iterator[Router]:
    addresses = f'clients: "127.0.0.1:{free_port()}", admin: "127.0.0.1:{free_port()}"'
    with Router.started(tmp_path, written(ROLES, LINES), addresses) as each:
        yield each


def published_s(client: Client, count: int, **more: object) -> float:
    """Seconds until `count` messages were published, and the last one was confirmed."""
    before_s = time.monotonic()
    for n in range(count - 1):
        client.publish({"n": n}, **more)  # type: ignore[arg-type]
    client.publish({"n": -1}, confirm=True, **more)  # type: ignore[arg-type]
    return time.monotonic() - before_s


def refused(what: object) -> str:
    with pytest.raises(tamis.TamisError) as caught:
        what()  # type: ignore[operator]
    return str(caught.value)


def test_a_publisher_in_a_loop_is_as_fast_as_its_rate_says(router: Router) -> None:
    with router.client("slow") as slow:
        took_s = published_s(slow, 5_000)
    rate = (5_000 - BURST) / took_s
    print(f"{rate:,.0f} messages a second")
    assert 1_800 < rate < 2_050, rate


def test_a_rate_of_bytes_is_that_of_whole_frames(router: Router) -> None:
    with router.client("heavy") as heavy:
        took_s = published_s(heavy, 300, payload=bytes(10_000))
    rate = (300 * 10_000 - FRAME_BYTES_MAX) / took_s  # a burst is the longest frame
    assert 800_000 < rate < 1_050_000, rate


def test_a_rate_hurts_no_other_publisher_and_drops_nothing(router: Router) -> None:
    with (
        router.client("watch") as watch,
        router.client("slow") as slow,
        router.client("fast") as fast,
        watch.subscribe("true") as messages,
    ):
        for n in range(1_000):
            slow.publish({"n": n})
        assert published_s(fast, 5_000) < 2.0
        slow.publish({"n": -2}, confirm=True)
        found = {messages.receive(PATIENCE_S).id for _ in range(1_000 + 5_000 + 1)}
    assert len(found) == 6_001


def test_a_name_gains_no_burst_by_connecting_again(router: Router) -> None:
    before_s = time.monotonic()
    for _ in range(5):
        with router.client("slow") as slow:
            published_s(slow, BURST)
    assert time.monotonic() - before_s > 3 * BURST / 2_000


def test_a_rate_comes_and_goes_with_a_reload(router: Router) -> None:
    with router.client("slow") as slow:
        router.change_roles({"slow": {"rate": {"messages_s": 10, "burst": 10}}})
        published_s(slow, BURST)  # what was granted before
        assert published_s(slow, 20) > 0.8
        router.change_roles({"slow": {}})
        assert published_s(slow, 5_000) < 2.0


def test_a_client_past_the_total_of_its_role_is_refused_and_one_that_returns_is_not(router: Router) -> None:
    with router.client("fleet/1"), router.client("fleet/2"):
        assert "role fleet may have at most 2 connections" in refused(lambda: router.client("fleet/3", 0).__enter__())
        with router.client("fleet/2"), router.client("fast"):
            pass
    with router.client("fleet/3"):
        pass


def test_filters_of_a_name_count_live_and_durable_ones(router: Router) -> None:
    with router.client("own") as own, own.subscribe("a = 1 or a = 2") as messages:
        own.durable("d", "b = 1")
        assert "own may have at most 4 filters" in refused(lambda: own.subscribe("c = 1 or c = 2").__enter__())
        with own.subscribe("c = 1"):
            assert "own may have at most 4 filters" in refused(lambda: own.durable("e", "b = 1"))
        messages.unsubscribe()
        own.durable("e", "b = 1")
        assert "own may have at most 2 durable subscriptions" in refused(lambda: own.durable("f", "b = 1"))
        own.remove_durable("d")
        own.durable("f", "b = 1")
    assert 'tamis_access_quota_refused_total{quota="quotas",what="filters"} 2' in router.metrics()


def test_totals_are_of_all_names_with_the_role(router: Router) -> None:
    with router.client("fleet/1") as one, router.client("fleet/2") as two:
        one.durable("fleet/1-a", "b = 1")
        two.durable("fleet/2-a", "b = 1")
        with one.subscribe("a = 1 or a = 2"):
            assert "role fleet may have at most 5 filters" in refused(
                lambda: two.subscribe("a = 1 or a = 2").__enter__()
            )
            two.durable("fleet/2-b", "b = 1")
            assert "role fleet may have at most 3 durable" in refused(lambda: one.durable("fleet/1-b", "b = 1"))
    with router.client("fleet/3") as three, three.subscribe("a = 1 or a = 2"):
        router.change_roles({"fleet": {"subscribe": "true", "totals": {"connections": 1}}})
        assert "role fleet may have at most 1 connections" in refused(lambda: router.client("fleet/4", 0).__enter__())


def stored(client: Client, **attributes: object) -> bool | str | None:
    """Whether the router says that it has stored a message of 100,000 bytes; the reason, if it refuses it."""
    try:
        return client.publish(attributes, payload=bytes(100_000), confirm="stored").is_stored
    except tamis.PublishRefused as error:
        return str(error)


def test_past_its_bound_of_the_log_an_owner_refuses_what_its_role_allows_and_loses_the_rest(router: Router) -> None:
    with router.client("hoard") as hoard, router.client("own") as own, router.client("fast") as fast:
        hoard.durable("refusing", "grade > 0", bytes=2**30, overflow="refuse")
        own.durable("other", "grade = 2", bytes=2**28)
        assert [stored(fast, grade=1) for _ in range(12)] == [True] * 10 + [False] * 2
        assert "no room" in str(stored(fast, grade=6))
        assert {stored(fast, grade=2) for _ in range(20)} == {True}  # the other has room
        gaps = []
        with hoard.consume("refusing") as work:
            while sum(gaps) < 2 + 20:
                found = work.receive(PATIENCE_S)
                gaps += [found.count or 0] if isinstance(found, tamis.Gap) else []
        assert sum(gaps) == 2 + 20
        text = router.metrics()
        assert re.search(r'tamis_quota_used_ratio{name="hoard",what="log"} 0\.9', text), text
        assert 'tamis_quota_used_ratio{name="own",what="durables"} 0.5' in text
        assert "no role allows make" in refused(lambda: fast.durable("no", "a = 1"))
        assert 'tamis_access_refused_total{verb="make",role=""} 1' in router.metrics()


def test_a_bound_of_the_log_makes_one_that_drops_do_so(router: Router) -> None:
    with router.client("hoard") as hoard, router.client("fast") as fast:
        hoard.durable("dropping", "grade < 0", bytes=2**30)
        assert {stored(fast, grade=-1) for _ in range(30)} == {True}
        with hoard.consume("dropping") as work:
            gap = work.receive(PATIENCE_S)
        assert isinstance(gap, tamis.Gap)
        assert gap.count == 20


def test_a_durable_subscription_that_is_not_allowed_makes_no_log(tmp_path: Path) -> None:
    addresses = f'clients: "127.0.0.1:{free_port()}"'
    with Router.started(tmp_path, written(ROLES, LINES), addresses, keys="") as router:
        with router.client("fast") as fast, router.client("own") as own:
            assert "no role allows make" in refused(lambda: fast.durable("no", "a = 1"))
            assert not (tmp_path / "data" / "log").exists()
            own.durable("d", "a = 1")
            assert (tmp_path / "data" / "log").exists()

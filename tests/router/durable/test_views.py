"""What a client sees of its keeps: the list of them, and the newest message of a value. Real routers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import tamis
from tamis import DurableRefused
from tamis.client.durable.view import NOT_ELSEWHERE, NOT_SHOWN
from tamis.client.durable_info import durable_at
from tamis.protocol.filters import Constraint, Filter, Op, Predicate
from tamis.protocol.limits import DURABLES_PER_FRAME_MAX
from tamis.protocol.wire.client_bodies import DURABLE_VIEW, DURABLES, LISTS_ELSEWHERE
from tamis.protocol.wire.durable_bodies import DurableElsewhere, DurablesListed, ListDurables
from tests.client.by_hand import Hand
from tests.router.durable.test_kill import DURABLE_KEYS, PATIENCE_S, client, received, restarted, router

pytestmark = pytest.mark.slow
LATEST = {"latest_by": "symbol"}


def names(infos: list[tamis.DurableInfo]) -> list[str]:
    return [info.name for info in infos]


def test_durables_are_listed_with_how_they_stand_and_what_makes_them(tmp_path: Path) -> None:
    with router(tmp_path) as one, client(one, "alice") as alice:
        assert alice.durables() == []
        every = {
            "until": None,
            "for_": timedelta(hours=1),
            "bytes": "1 MiB",
            "count": 9,
            "overflow": "refuse",
            "idle": None,
            "ack_wait_s": 0.5,
            "max_deliveries": None,
            "backoff_s": (1, 0.25),
            "max_unacked": 7,
            "order_by": "k",
            "latest_by": "symbol",
        }
        alice.durable("b", 'n >= 0 or text = "x"', **every)  # type: ignore[arg-type]
        alice.durable("a", "n >= 0")
        assert [(info.name, info.owner, info.depth, info.lag_s) for info in alice.durables()] == [
            ("a", "alice", 0, 0.0),
            ("b", "alice", 0, 0.0),
        ]
        for n in range(3):
            alice.publish({"n": n, "symbol": str(n)}, confirm="stored")
        with alice.consume("a", credit=2) as work:
            messages = [received(work), received(work)]
            work.ack_all(messages[:1], confirm=True)
            messages[1].extend()
            first, second = alice.durables()
            assert (first.depth, first.unacked + first.ready, first.paused, first.consumers) == (2, 2, 0, 1)
            assert first.unacked >= 1
            assert first.lag_s >= 0.0
            assert (second.depth, second.unacked, second.ready, second.consumers) == (3, 0, 3, 0)
            assert second.bytes > 0
        assert second.predicate == 'n >= 0 or text = "x"'
        alice.durable(second.name, second.predicate, **second.policy)  # the same terms: it is there already
        alice.durable("a", first.predicate, **first.policy)
        with pytest.raises(DurableRefused, match="the existing one differs in count"):
            alice.durable("a", first.predicate, **first.policy | {"count": 5})
        alice.remove_durable("a")
        assert names(alice.durables()) == ["b"]


def test_many_are_listed_in_several_frames(tmp_path: Path) -> None:
    count = DURABLES_PER_FRAME_MAX + 3
    keys = DURABLE_KEYS.replace("}", f", subscriptions_per_client: {count}}}")
    with router(tmp_path, keys) as one, client(one, "alice") as alice:
        for n in range(count):
            alice.durable(f"k{n:04}", f"n = {n}", bytes="1 MiB")
        assert names(alice.durables()) == [f"k{n:04}" for n in range(count)]


async def test_a_list_longer_than_what_is_urgent_may_be_reaches_the_client(tmp_path: Path) -> None:
    """The answer takes 600 KB of one frame; beyond 256 KiB of urgent frames a connection ends."""
    with router(tmp_path) as one:
        async with tamis.connect(one.address, name="alice", patience_s=PATIENCE_S) as alice:
            values = tuple([f"{n:0500}" for n in range(60)])
            long = Predicate((Filter((Constraint("text", Op.IN, values),)),))
            for n in range(20):
                await alice.durable(f"k{n:02}", long, bytes="1 MiB")
            async with asyncio.timeout(PATIENCE_S):
                infos = await alice.durables()
            assert names(infos) == [f"k{n:02}" for n in range(20)]
            assert all(len(info.predicate) > 30_000 for info in infos)


def test_with_tokens_a_client_sees_its_own(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("alice alices-token\nbob bobs-token\n")
    tokens.chmod(0o600)
    with router(tmp_path, f"{DURABLE_KEYS}\ntokens: {tokens}") as one:
        with as_client(one.address, "alice") as alice, as_client(one.address, "bob") as bob:
            alice.durable("hers", "n >= 0")
            bob.durable("his", "n >= 0")
            assert names(alice.durables()) == ["hers"]
            assert names(bob.durables()) == ["his"]


@contextlib.contextmanager
def as_client(address: str, name: str) -> Iterator[tamis.blocking.Client]:
    with tamis.blocking.connect(address, name=name, token=f"{name}s-token", patience_s=PATIENCE_S) as one:
        yield one


def test_the_newest_message_of_a_value_is_read_and_not_given_out(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        with client(one, "alice") as alice:
            alice.durable("prices", "exists symbol", latest_by="symbol")
            assert alice.get("prices", "X") is None
            for n in range(5):
                for symbol in ("X", 7, 7.5, True, False):
                    alice.publish({"symbol": symbol, "n": n}, payload=b"p" * n, confirm="stored")
            for symbol in ("X", 7, 7.0, 7.5, True, False):
                newest = alice.get("prices", symbol)
                assert newest is not None
                assert (newest["n"], newest.payload, newest["symbol"]) == (4, b"pppp", symbol)
            assert alice.get("prices", "Y") is None
            assert alice.get("prices", 1) is None
            with alice.consume("prices") as work:
                given = [received(work) for _ in range(5)]
                assert {message.deliveries for message in given} == {1}
                work.ack_all(given, confirm=True)
            assert alice.get("prices", "X") is not None  # it is kept on, acknowledged or not
        restarted(one)
        with client(one, "bob") as bob:
            newest = bob.get("prices", "X")
            assert newest is not None
            assert newest["n"] == 4


def test_the_newest_is_the_one_that_was_published_last_however_many_are_asked_at_once(tmp_path: Path) -> None:
    with router(tmp_path) as one, client(one, "alice") as alice, client(one, "bob") as bob:
        alice.durable("prices", "exists symbol", latest_by="symbol")
        for n in range(300):
            alice.publish({"symbol": "X", "n": n}, confirm="stored")
            newest = bob.get("prices", "X")
            assert newest is not None
            assert newest["n"] == n


async def test_with_an_event_loop(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        async with tamis.connect(one.address, name="alice", patience_s=PATIENCE_S) as alice:
            await alice.durable("prices", "exists symbol", latest_by="symbol")
            await alice.publish({"symbol": "X"}, b"1", confirm="stored")
            newest = await alice.get("prices", "X")
            assert newest is not None
            assert (newest.payload, await alice.get("prices", "Y")) == (b"1", None)
            assert names(await alice.durables()) == ["prices"]


def test_what_cannot_be_answered_is_refused(tmp_path: Path) -> None:
    with router(tmp_path) as one, client(one, "alice") as alice:
        alice.durable("jobs", "n >= 0")
        with pytest.raises(DurableRefused, match="durable subscription 'jobs' has no latest_by"):
            alice.get("jobs", "X")
        with pytest.raises(DurableRefused, match="there is no durable subscription 'nothing'"):
            alice.get("nothing", "X")
        with pytest.raises(tamis.Refused):
            alice.get("jobs", None)  # type: ignore[arg-type]
    other = tmp_path / "other"
    other.mkdir()
    with router(other, "durable: false") as one, client(one, "alice") as alice:
        with pytest.raises(DurableRefused, match=r"NO_LOG .this router stores no messages"):
            alice.durables()
        with pytest.raises(DurableRefused, match=r"NO_SUCH_DURABLE .this router stores no messages"):
            alice.get("jobs", "X")


def test_before_the_first_durable_the_list_is_empty(tmp_path: Path) -> None:
    with router(tmp_path, "") as one, client(one, "alice") as alice:
        assert alice.durables() == []
        assert alice.durables_elsewhere() == [], "there are no links"
        with pytest.raises(DurableRefused, match=r"there is no durable subscription 'jobs'; "):
            alice.get("jobs", "X")


def test_a_router_of_an_earlier_version_is_asked_nothing() -> None:
    from concurrent.futures import Future

    hand = Hand().open(capabilities=(DURABLES,))
    waiter: Future[None] = Future()
    hand.core.durable_view.list(waiter)
    with pytest.raises(DurableRefused, match=NOT_SHOWN):
        waiter.result(0)
    assert hand.sent() == []


def test_a_router_that_lists_its_own_alone_is_not_asked_for_others() -> None:
    from concurrent.futures import Future

    hand = Hand().open(capabilities=(DURABLES, DURABLE_VIEW))
    waiter: Future[None] = Future()
    hand.core.durable_view.list(waiter, elsewhere=True)
    with pytest.raises(DurableRefused, match=NOT_ELSEWHERE):
        waiter.result(0)
    assert hand.sent() == []


def test_a_predicate_that_the_client_cannot_read_is_empty() -> None:
    for packed in (b"", b"\xc1", b"\x91\x92\xa1x\x7f"):
        stated = DurableElsewhere("orders", "b", "maker", (packed,), True)
        assert durable_at(stated) == tamis.DurableAt("orders", "b", "", "maker", is_in_reach=True)


def test_a_client_asks_on_behind_the_last_name_that_was_looked_at() -> None:
    from concurrent.futures import Future

    hand = Hand().open(capabilities=(DURABLES, DURABLE_VIEW, LISTS_ELSEWHERE))
    waiter: Future[None] = Future()
    look = hand.core.durable_view.list(waiter, elsewhere=True)
    assert hand.sent() == [ListDurables(1, "", elsewhere=True)]
    hand.core.durable_view.listed(DurablesListed(1, (), True, (), "m"))
    assert hand.sent() == [ListDurables(1, "m", elsewhere=True)]
    row = DurableElsewhere("orders", "b", "maker", (b"\x90",), True)
    hand.core.durable_view.listed(DurablesListed(1, (), False, (row,), "orders"))
    waiter.result(0)
    assert look.elsewhere == [row]

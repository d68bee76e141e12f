"""A router with a data folder keeps when it is first asked to; until then it has nothing on disk, and says so."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tamis import DurableRefused, Gap, PublishRefused
from tamis.configs.load import parse_topology
from tamis.configs.sections.durable import GIB, SHARE_OF_FREE, DurableSettings
from tamis.protocol.language import parse
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.durable_bodies import (
    CancelConsume,
    Consume,
    CreateDurable,
    DurablePolicy,
    RemoveDurable,
    Replay,
    ReplayEnd,
)
from tamis.protocol.wire.header import Flags
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.router.clients.durables import NO_FOLDER, SWITCHED_OFF
from tamis.router.durable.begin import start_durables
from tamis.router.durable.log_bounds import LOG_BYTES_MIN, LogBounds, bounds_of, has_log
from tamis.router.durable.on_demand import NO_DURABLE, WAITING_MAX, DurablesOnDemand
from tamis.testing import blocking, free_port
from tamis.testing.blocking import BlockingRouter
from tests.router.conftest import Inside
from tests.router.durable.test_kill import PATIENCE_S, client
from tests.router.wire_client import WireClient

MIB = 1 << 20
LEFT = 64 << 10
"""Bytes that a full disk has left: the files of epoch and life are written again at each start."""
FILTERS = tuple(encode_filter(filter_) for filter_ in parse("exists x").filters)
DURABLE = Flags.CONFIRM | Flags.DURABLE


@contextmanager
def router(folder: Path, keys: str = "", of_router: str = "data: data") -> Iterator[BlockingRouter]:
    file = folder / "one.yaml"
    own = f'clients: "127.0.0.1:{free_port()}", admin: "127.0.0.1:{free_port()}"'
    file.write_text(f"{keys}\nrouters: {{a: {{{own}, {of_router}}}}}\n")
    with blocking.started(file, "a") as one:
        yield one


def status(one: BlockingRouter) -> dict[str, Any]:
    with urllib.request.urlopen(f"http://{one.admin}/status") as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def files_of(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


# --- whole routers ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_first_durable_makes_the_log_and_it_is_there_after_a_kill(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        with client(one, "consumer") as consumer:
            consumer.publish({"x": 0}, confirm="stored")  # nobody keeps it
            with consumer.replay("exists x") as history:
                assert list(history) == []
            with pytest.raises(DurableRefused, match="NO_SUCH_DURABLE"):
                consumer.remove_durable("orders")
            before = status(one)["durable"]
            assert (before["subscriptions"], before["log"]["is_open"], before["log"]["bytes"]) == (0, False, 0)
            assert files_of(tmp_path / "data") == ["epoch"]
            assert len([*Path(f"/proc/{one.pid}/task").iterdir()]) == 1
            consumer.durable("orders", "exists x")
            for n in range(1, 20):
                consumer.publish({"x": n}, confirm="stored")
        after = status(one)["durable"]
        assert (after["subscriptions"], after["depth"], after["log"]["is_open"]) == (1, 19, True)
        assert after["log"]["bytes_max"] <= 10 * GIB
        one.kill()
        one.start()
        assert status(one)["durable"]["log"]["bytes_max"] >= status(one)["durable"]["log"]["bytes"]
        with client(one, "consumer") as consumer, consumer.consume("orders") as work:
            for n in range(1, 20):
                message = work.receive(PATIENCE_S)
                assert not isinstance(message, Gap)
                assert message["x"] == n
                message.ack(confirm=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "of_router", "why"),
    [
        ("", "", NO_FOLDER),
        ("durable: false", "data: data", SWITCHED_OFF),
        ("", "data: data, durable: false", SWITCHED_OFF),
    ],
)
def test_a_router_that_stores_nothing_names_the_key(tmp_path: Path, keys: str, of_router: str, why: str) -> None:
    with router(tmp_path, keys, of_router) as one, client(one, "consumer") as consumer:
        with pytest.raises(DurableRefused) as refused:
            consumer.durable("orders", "exists x")
        assert (refused.value.code, refused.value.reason) == (RefusalCode.NO_LOG, why)
        with pytest.raises(PublishRefused) as not_taken:
            consumer.publish({"x": 1}, confirm="stored")
        assert (not_taken.value.code, not_taken.value.reason) == (RefusalCode.NO_LOG, why)
        consumer.publish({"x": 1}, confirm="accepted")
        assert status(one)["durable"] is None
        assert not (tmp_path / "data" / "log").exists()


@pytest.mark.slow
def test_a_folder_that_cannot_be_made_is_named_and_the_next_durable_tries_again(tmp_path: Path) -> None:
    in_the_way = tmp_path / "data" / "log"
    in_the_way.parent.mkdir()
    in_the_way.write_text("a file")
    with router(tmp_path) as one, client(one, "consumer") as consumer:
        with pytest.raises(DurableRefused, match="data/log") as refused:
            consumer.durable("orders", "exists x")
        assert refused.value.code == RefusalCode.LOG_FAILED
        consumer.publish({"x": 1}, confirm="stored")
        in_the_way.unlink()
        consumer.durable("orders", "exists x")
        consumer.publish({"x": 2}, confirm="stored")
        assert status(one)["durable"]["depth"] == 1


@pytest.mark.slow
def test_switching_it_off_waits_for_a_restart(tmp_path: Path) -> None:
    with router(tmp_path) as one, client(one, "consumer") as consumer:
        consumer.durable("orders", "exists x")
        one.file.write_text(f"durable: false\n{one.file.read_text()}")
        os.kill(one.pid, signal.SIGHUP)
        while status(one)["need_a_restart"] != ["durable"]:
            time.sleep(0.05)
        consumer.durable("more", "exists x")
        assert status(one)["durable"]["subscriptions"] == 2


# --- what comes over the wire ----------------------------------------------------------------------------------------


@contextmanager
def keeping(net: Inside) -> Iterator[DurablesOnDemand]:
    begun = start_durables(net.clients, lambda service: setattr(net.running, "durable", service))
    assert isinstance(begun, DurablesOnDemand)
    try:
        yield begun
    finally:
        begun.close_replays()
        net.connections.switch.validate()
        if net.running.durable is not None:
            net.running.durable.registry.durables.close()
        begun.close_log()


async def next_ack(who: WireClient) -> bodies.Ack:
    ack: bodies.Ack = await who.next(bodies.Ack)
    return ack


async def test_what_is_asked_without_a_durable_is_answered_without_a_log(inside: Any, tmp_path: Path) -> None:
    net = inside(f"data: {tmp_path}/data")
    with keeping(net):
        bob = await net.client("bob", version_high=2)
        for asked, of, number, code in (
            (Consume(5, 7, "orders", 10), bodies.AckOf.CONSUME, 7, RefusalCode.NO_SUCH_DURABLE),
            (CancelConsume(5, 7), bodies.AckOf.CANCEL_CONSUME, 7, RefusalCode.NO_SUCH_ID),
            (RemoveDurable(5, "orders"), bodies.AckOf.REMOVE_DURABLE, 0, RefusalCode.NO_SUCH_DURABLE),
        ):
            reason = (
                NO_DURABLE
                if isinstance(asked, CancelConsume)
                else f"there is no durable subscription 'orders'; {NO_DURABLE}"
            )
            await bob.send(asked)
            assert await next_ack(bob) == bodies.Ack(of, 5, (), (bodies.Refusal(number, code, reason),))
        await bob.send(bodies.Credit(10, 0, 7), Replay(6, 8, FILTERS, 0, 1, 10))
        assert await next_ack(bob) == bodies.Ack(bodies.AckOf.REPLAY, 6, (bodies.Range(8, 8),))
        assert await bob.next() == ReplayEnd(8, 0)
        assert not (tmp_path / "data").exists()


async def test_a_message_that_asks_for_the_disk_is_confirmed_at_once_and_so_is_its_second_try(
    inside: Any, tmp_path: Path
) -> None:
    net = inside(f"data: {tmp_path}/data")
    with keeping(net):
        bob = await net.client("bob", version_high=2)
        for counter, flags in ((1, DURABLE), (2, DURABLE), (1, DURABLE | Flags.RETRY)):
            bob._counter = counter - 1
            await bob.publish({"x": 1}, b"", flags)
            it = (bodies.Range(counter, counter),)
            assert await next_ack(bob) == bodies.Ack(bodies.AckOf.PUBLISH, 0, it, unstored=it)


async def test_requests_that_come_while_the_log_is_opened_are_answered_in_order(inside: Any, tmp_path: Path) -> None:
    net = inside(f"data: {tmp_path}/data")
    with keeping(net):
        bob, eve = await net.client("bob", version_high=2), await net.client("eve", version_high=2)
        await eve.send(CreateDurable(1, "of eve", DurablePolicy(FILTERS)))
        await bob.send(
            CreateDurable(1, "k", DurablePolicy(FILTERS)),
            RemoveDurable(2, "k"),
            CreateDurable(3, "k", DurablePolicy(FILTERS)),
        )
        asked = {(ack.of, ack.request): not ack.refusals for ack in [await next_ack(bob) for _ in range(3)]}
        assert asked.keys() == {
            (bodies.AckOf.CREATE_DURABLE, 1),
            (bodies.AckOf.REMOVE_DURABLE, 2),
            (bodies.AckOf.CREATE_DURABLE, 3),
        }
        assert asked[bodies.AckOf.REMOVE_DURABLE, 2]
        assert asked[bodies.AckOf.CREATE_DURABLE, 3]
        assert await next_ack(eve) == bodies.Ack(bodies.AckOf.CREATE_DURABLE, 1, (bodies.Range(0, 0),))
        assert set(net.running.durable.registry.by_name) == {"k", "of eve"}


async def test_more_requests_than_may_wait_are_refused(inside: Any, tmp_path: Path) -> None:
    net = inside(f"data: {tmp_path}/data")
    with keeping(net) as begun:
        bob = await net.client("bob", version_high=2)
        [end] = net.clients.by_connection.values()
        for request in range(1, WAITING_MAX + 3):  # the loop does not turn meanwhile
            begun.asked(end, CreateDurable(request, f"k{request}", DurablePolicy(FILTERS)))
        acks = [await next_ack(bob) for _ in range(WAITING_MAX + 2)]
        codes = {ack.request: ack.refusals[0].code if ack.refusals else None for ack in acks}
        assert codes[WAITING_MAX + 1] == codes[WAITING_MAX + 2] == RefusalCode.OVERLOADED
        made = [request for request, code in codes.items() if code is None]
        assert made == list(range(1, len(made) + 1)) != []  # in order, up to the quotas of a client
        assert {codes[request] for request in range(len(made) + 1, WAITING_MAX + 1)} == {RefusalCode.OVER_QUOTA}


async def test_a_router_that_drains_makes_no_log(inside: Any, tmp_path: Path) -> None:
    net = inside(f"data: {tmp_path}/data")
    with keeping(net) as begun:
        bob = await net.client("bob", version_high=2)
        [end] = net.clients.by_connection.values()
        net.connections.is_draining = True
        begun.asked(end, CreateDurable(1, "k", DurablePolicy(FILTERS)))
        [refusal] = (await next_ack(bob)).refusals
        assert refusal.code == RefusalCode.DRAINING
        assert not (tmp_path / "data").exists()


async def test_a_disk_without_room_is_told(inside: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    net = inside(f"data: {tmp_path}/data")
    with keeping(net), monkeypatch.context() as disk:
        disk.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=LOG_BYTES_MIN, f_frsize=1))
        bob = await net.client("bob", version_high=2)
        await bob.send(CreateDurable(1, "k", DurablePolicy(FILTERS)))
        [refusal] = (await next_ack(bob)).refusals
        assert refusal.code == RefusalCode.LOG_FULL
        assert f"{LOG_BYTES_MIN:,} bytes free" in refusal.reason
        assert not (tmp_path / "data").exists()
        disk.undo()
        await bob.send(CreateDurable(2, "k", DurablePolicy(FILTERS)))
        assert not (await next_ack(bob)).refusals


# --- bounds ----------------------------------------------------------------------------------------------------------


def kept_in(folder: Path, keys: str = "") -> DurableSettings:
    kept = parse_topology(f"data: {folder}\n{keys}\nrouters: {{a: {{}}}}").router("a").durable
    assert kept is not None
    return kept


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> Any:
    def set_free(count: int) -> None:
        monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=count // 512, f_frsize=512))

    return set_free


@pytest.mark.parametrize(
    ("free_bytes", "bounds"),
    [
        (1024 * GIB, LogBounds(10 * GIB, 64 * MIB)),
        (40 * GIB, LogBounds(10 * GIB, 64 * MIB)),
        (8 * GIB, LogBounds(2 * GIB, 64 * MIB)),
        (2 * GIB, LogBounds(512 * MIB, 32 * MIB)),
        (64 * MIB, LogBounds(16 * MIB, 4 * MIB)),
        (63 * MIB, LogBounds(0, 4 * MIB)),
    ],
)
def test_a_log_has_a_quarter_of_what_is_free(tmp_path: Path, free: Any, free_bytes: int, bounds: LogBounds) -> None:
    free(free_bytes)
    assert bounds_of(kept_in(tmp_path)) == bounds


def test_the_file_says_how_large_a_log_is_whatever_is_free(tmp_path: Path, free: Any) -> None:
    free(0)
    assert bounds_of(kept_in(tmp_path, "durable: {}")) == LogBounds(10 * GIB, 64 * MIB)


def test_a_log_that_is_there_counts_as_free_and_is_never_past_its_bound(tmp_path: Path, free: Any) -> None:
    durable = kept_in(tmp_path)
    assert durable.folder is not None
    log = Path(durable.folder)
    log.mkdir(parents=True)
    (log / "life").write_bytes(bytes(32))
    assert not has_log(durable)
    for name in ("segment-1-1", "segment-2-2", "spare-3"):
        with (log / name).open("wb") as file:
            file.truncate(32 * MIB)
    assert has_log(durable)
    free(SHARE_OF_FREE * GIB - 96 * MIB)
    assert bounds_of(durable) == LogBounds(GIB, 32 * MIB)
    free(0)
    assert bounds_of(durable) == LogBounds(128 * MIB, 32 * MIB)


def mounted(folder: Path, megabytes: int) -> bool:
    """Mount a small disk in memory, where this user may."""
    folder.mkdir()
    return run("mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)) == 0


def run(*command: str) -> int:
    return subprocess.run(command, capture_output=True, check=False).returncode  # noqa: S603 - our own words


def fill(disk: Path) -> None:
    """Leave LEFT bytes of it free."""
    found = os.statvfs(disk)
    (disk / "filler").write_bytes(bytes(found.f_bavail * found.f_frsize - LEFT))


@pytest.mark.slow
@pytest.mark.parametrize("megabytes", [1, 80])
def test_a_router_on_a_small_disk_starts_and_starts_again_when_that_is_full(tmp_path: Path, megabytes: int) -> None:
    disk = tmp_path / "data"
    if not mounted(disk, megabytes):
        pytest.skip("only root may mount a disk")
    try:
        with router(tmp_path) as one:
            with client(one, "consumer") as consumer:
                if megabytes == 1:
                    with pytest.raises(DurableRefused, match="LOG_FULL"):
                        consumer.durable("orders", "exists x")
                else:
                    consumer.durable("orders", "exists x")
                    consumer.publish({"x": 1}, confirm="stored")
                consumer.publish({"x": 2}, confirm="accepted")
            fill(disk)
            one.kill()
            one.start()
            with client(one, "consumer") as consumer:
                consumer.publish({"y": 1}, confirm="stored")
                if megabytes > 1:
                    with consumer.consume("orders") as work:
                        message = work.receive(PATIENCE_S)
                        assert not isinstance(message, Gap)
                        assert message["x"] == 1
                        message.ack(confirm=True)
    finally:
        assert run("umount", "-l", str(disk)) == 0

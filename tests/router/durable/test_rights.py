"""What owners of durable subscriptions may do, and others may not: over TCP, with tokens and without them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tamis import DurableRefused
from tamis.blocking import Client, connect
from tamis.client.durable.policy import durable_of
from tamis.native import Switch, SwitchOptions, Table
from tamis.native.durables import SwitchDurables
from tamis.native.log import Log
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.durable_bodies import CreateDurable
from tamis.router.durable.catalog import DURABLE_CREATED, NUMBERS_TAKEN, catalog_entry, written_numbers
from tamis.testing import blocking, free_port
from tamis.testing.blocking import BlockingRouter
from tests.router.durable.test_kill import DURABLE_KEYS, PATIENCE_S, received

pytestmark = pytest.mark.slow
TOKENS = {"owner": "of-the-owner", "other": "of-the-other"}
ANYBODY = "of-anybody"


@contextlib.contextmanager
def router(folder: Path, *, has_tokens: bool = True) -> Iterator[BlockingRouter]:
    file, tokens = folder / "one.yaml", folder / "tokens"
    tokens.touch(mode=0o600)
    tokens.write_text("".join(f"{name} {token}\n" for name, token in TOKENS.items()) + f"* {ANYBODY}\n")
    keys = f"{DURABLE_KEYS}\ntokens: tokens" if has_tokens else DURABLE_KEYS
    file.write_text(f'{keys}\nrouters: {{a: {{clients: "127.0.0.1:{free_port()}", data: data}}}}\n')
    with blocking.started(file, "a") as one:
        yield one


@contextlib.contextmanager
def client(one: BlockingRouter, name: str | None) -> Iterator[Client]:
    token = TOKENS.get(name or "", ANYBODY)
    with connect(one.address, name=name, token=token, patience_s=PATIENCE_S) as each:
        yield each


def refused(do: object, *what: object, code: RefusalCode = RefusalCode.NOT_ALLOWED, **more: object) -> str:
    with pytest.raises(DurableRefused) as caught:
        do(*what, **more)  # type: ignore[operator]
    assert caught.value.code == code
    return caught.value.reason


def test_a_stranger_attaches_and_takes_and_does_nothing_that_is_the_owners(tmp_path: Path) -> None:
    with router(tmp_path) as one, client(one, "owner") as owner, client(one, "other") as other:
        owner.durable("jobs", "n >= 0", count=77)
        for n in range(3):
            owner.publish({"n": n}, confirm="stored")
        for policy in ({"count": 77}, {"count": 78}):  # equal ones tell as little as others
            assert refused(other.durable, "jobs", "n >= 0", **policy) == "the name 'jobs' is taken"
        assert "only its owner may remove it" in refused(other.remove_durable, "jobs")
        assert "only its owner may skip messages" in refused(consume, other, "jobs", after=2**64 - 1)
        with other.consume("jobs") as work:
            first = received(work)
            assert first["n"] == 0
            first.ack(confirm=True)
        with owner.consume("jobs") as work:
            assert [received(work)["n"] for _ in range(2)] == [1, 2]
        owner.durable("jobs", "n >= 0", count=77)
        owner.remove_durable("jobs")
        other.durable("jobs", "n >= 0")
        assert refused(owner.remove_durable, "jobs")


def consume(each: Client, name: str, **options: int) -> None:
    with each.consume(name, **options) as work, contextlib.suppress(TimeoutError):
        work.receive(0.1)


def test_a_name_that_was_made_up_for_a_connection_can_own_nothing(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        with client(one, None) as nobody:
            assert "give it a name (--name" in refused(nobody.durable, "jobs", "n >= 0")
        with client(one, "visitor") as visitor:
            visitor.durable("jobs", "n >= 0")
        with client(one, None) as nobody:
            assert refused(nobody.durable, "jobs", "n >= 0")
            assert refused(nobody.remove_durable, "jobs")


def test_the_token_of_anybody_makes_nobody_the_owner_by_a_longer_name(tmp_path: Path) -> None:
    with router(tmp_path) as one, client(one, "owner") as owner:
        owner.durable("jobs", "n >= 0")
        with client(one, "owner/7") as byzantine:
            assert refused(byzantine.remove_durable, "jobs")
            assert refused(byzantine.durable, "jobs", "n >= 0") == "the name 'jobs' is taken"


def test_owners_are_those_of_the_catalog_after_a_kill(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        with client(one, "owner") as owner:
            owner.durable("jobs", "n >= 0")
        one.kill()
        one.start()
        with client(one, "other") as other, client(one, "owner") as owner:
            assert refused(other.remove_durable, "jobs")
            owner.remove_durable("jobs")


def test_without_tokens_owners_bind_nobody_and_the_log_says_so(tmp_path: Path) -> None:
    with router(tmp_path, has_tokens=False) as one:
        assert "owners of durable subscriptions are recorded but not enforced" in one.log.read_text()
        with connect(one.address, patience_s=PATIENCE_S) as maker:
            maker.durable("jobs", "n >= 0")
        with connect(one.address, patience_s=PATIENCE_S) as other:
            other.durable("jobs", "n >= 0")
            consume(other, "jobs", after=7)
            other.remove_durable("jobs")


def test_dead_letters_that_would_come_back_are_refused(tmp_path: Path) -> None:
    with router(tmp_path, has_tokens=False) as one, client(one, "owner") as owner:
        owner.durable("a", "n >= 0", dead_letter="b")
        owner.durable("b", "n < 0", dead_letter="c")
        said = refused(owner.durable, "c", "n < 0", dead_letter="a")
        assert said == "dead letters would circulate endlessly: c -> a -> b -> c"
        owner.durable("c", "n < 0")
        owner.durable("d", "n >= 0", dead_letter="a")


@pytest.mark.parametrize(
    ("name", "dead_letter", "what"),
    [
        ("desk ", "", "no space at its ends"),
        ("e\u0301", "", "composed form"),
        ("a\u200b", "", "invisible"),
        ("desk", "dead\u034f", "cannot be seen"),
    ],
)
def test_a_name_that_looks_like_another_is_refused_by_the_router(
    tmp_path: Path, name: str, dead_letter: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever client asks: this one does not check names."""
    for place in ("tamis.client.durable.policy.check_peer_name", "tamis.client.connection.settings.check_peer_name"):
        monkeypatch.setattr(place, lambda name, _what="": name)
    with router(tmp_path, has_tokens=False) as one, client(one, "owner") as owner:
        assert what in refused(owner.durable, name, "n >= 0", dead_letter=dead_letter or None)
        owner.durable("desk", "n >= 0")


def old_durable(name: str, dead_letter: str = "") -> CreateDurable:
    durable = durable_of("x", "n >= 0", idle=None)
    return replace(durable, name=name, policy=replace(durable.policy, dead_letter=dead_letter))


def test_a_catalog_of_an_earlier_version_is_read_with_its_names_owners_and_rings(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        one.leave()
        folder = next(tmp_path.rglob("life")).parent
        log = Log(folder, bytes_max=1 << 28, segment_bytes=1 << 20, ring_bytes=1 << 22, has_no_threads=True)
        table = Table()
        options = SwitchOptions(number=1, epoch=1, connections_max=9, subscribers_max=9, publishers_max=9, hop_limit=9)
        switch = Switch(table, options)
        durables = SwitchDurables(switch, log, ring_bytes=1 << 22, has_no_thread=True)
        durables.append(NUMBERS_TAKEN, written_numbers(1_024))
        for number, durable in enumerate((old_durable("desk "), old_durable("a", "b"), old_durable("b", "a")), 1):
            durables.append(DURABLE_CREATED, catalog_entry(number, "somebody/else ", durable))
        log.commit()
        durables.close()
        switch.close()
        table.close()
        log.close()
        one.start()
        assert "circulate endlessly" in one.log.read_text()
        assert "a -> b -> a" in one.log.read_text()
        with client(one, "owner") as owner:
            consume(owner, "desk ")
            assert refused(owner.remove_durable, "desk ")

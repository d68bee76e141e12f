"""Who gets a place: honest clients beside a flood, links beside clients, everybody when open files run out."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import time
from pathlib import Path

import pytest

from tamis.cli.reach.admin_http import asked
from tamis.configs import parse_topology
from tamis.protocol.wire.codes import ErrorCode
from tamis.router.connections.limits import fitted, places_of
from tamis.serving.cannot_start import CannotStart
from tests.router.flood import crowd, greets, hello, strangers
from tests.router.wire_client import Closed, WireClient
from tests.routers import Running, running, running_line


def tokens(folder) -> str:
    (folder / "tokens").write_text("honest secret\n")
    (folder / "tokens").chmod(0o600)
    return "tokens: tokens"


def linked(router: Running) -> bool:
    status = json.loads(asked(router.admin, "GET", "/status", None)[1])
    return all(link["state"] == "up" for link in status["network"]["links"])


async def until(is_so, patience_s: float) -> float:
    """How long it took."""
    began = time.monotonic()
    while not await asyncio.to_thread(is_so):
        assert time.monotonic() - began < patience_s
        await asyncio.sleep(0.02)
    return time.monotonic() - began


async def back_after_silence(a: Running, b: Running) -> float:
    """`b` stands still for longer than the link's hold time: how long the link takes to come back."""
    os.kill(b.pid, signal.SIGSTOP)
    await asyncio.sleep(1.6)
    os.kill(b.pid, signal.SIGCONT)
    assert not linked(a)
    return await until(lambda: linked(a) and linked(b), 10)


async def filled(router: Running) -> list[WireClient]:
    """Clients of a router, until one is told that it is full."""
    clients = []
    while True:
        try:
            clients.append(await WireClient.greeted(router.client, f"c{len(clients)}"))
        except (AssertionError, Closed, ConnectionError):
            return clients


# --- a flood ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("daemons")
@pytest.mark.parametrize("says", [b"", hello("stranger")], ids=["silent", "hello"])
@pytest.mark.parametrize("connections", [200, 10_000])
@pytest.mark.parametrize("sources", [1, 1_000])
async def test_strangers_do_not_keep_honest_clients_out(tmp_path, connections, sources, says):
    with running(tmp_path, f"{tokens(tmp_path)}\nlimits: {{connections: {connections}}}") as router:
        port = int(router.client.rpartition(":")[2])
        let_in, began_s = [], time.monotonic()
        with strangers(port, sources, 250 if connections == 200 else 2_000, says):
            for _ in range(40):
                let_in.append(await asyncio.to_thread(greets, port, "honest", "secret"))
                await asyncio.sleep(0.05)
        page = asked(router.admin, "GET", "/metrics", None)[1].decode()
    print(f"{sum(let_in)} of 40 in {time.monotonic() - began_s:.1f} s")
    assert sum(let_in) >= 36
    assert f'tamis_admissions_total{{side="client"}} {sum(let_in)}' in page
    assert 'tamis_admissions_refused_total{side="client",reason="gave_way"} 0' not in page


@pytest.mark.slow
@pytest.mark.usefixtures("daemons")
@pytest.mark.parametrize("slow_s", [0, 0.0007])
async def test_a_crowd_that_comes_at_once_gets_in(tmp_path, slow_s):
    names = "".join(f"crowd-{number} secret\n" for number in range(1_500))
    (tmp_path / "tokens").write_text(names)
    (tmp_path / "tokens").chmod(0o600)
    with running(tmp_path, "tokens: tokens") as router:
        port = int(router.client.rpartition(":")[2])
        let_in, last_s = await asyncio.to_thread(crowd, port, 1_500, "secret", slow_s)
    print(f"{let_in} of 1,500 in {last_s:.2f} s")
    assert let_in == 1_500


@pytest.mark.slow
@pytest.mark.usefixtures("daemons")
async def test_strangers_do_not_keep_neighbours_out(tmp_path):
    with running_line(tmp_path, "ab", over_tcp=True) as (a, b), contextlib.ExitStack() as floods:
        await until(lambda: linked(a) and linked(b), 10)
        for router in parse_topology(Path(a.file).read_text()).routers.values():
            floods.enter_context(strangers(router.neighbours[0].port, 1, sockets=100))
        assert await back_after_silence(a, b) < 3


# --- links -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("daemons")
async def test_a_link_comes_back_while_clients_hold_all_places(tmp_path):
    with running_line(tmp_path, "ab", "limits: {connections: 60}") as (a, b):
        await until(lambda: linked(a) and linked(b), 10)
        assert len(await filled(a)) == len(await filled(b)) == 60
        assert await back_after_silence(a, b) < 1.5


@pytest.mark.slow
@pytest.mark.usefixtures("daemons")
async def test_without_open_files_clients_are_told_and_links_come_back(tmp_path):
    with running_line(tmp_path, "ab", files=64) as (a, b):
        await until(lambda: linked(a) and linked(b), 10)
        held = [await filled(router) for router in (a, b)]
        assert min(map(len, held)) >= 5
        for router in (a, b):
            late = await WireClient.connect(router.client, "late")
            assert [error.code for error in await late.until_closed()] == [ErrorCode.FULL]
        assert await back_after_silence(a, b) < 1.5
        for client in held[0] + held[1]:
            await client.close()
        await until(lambda: not json.loads(asked(a.admin, "GET", "/connections", None)[1])["connections"], 2)
        await WireClient.greeted(a.client, "again")


# --- descriptors -----------------------------------------------------------------------------------------------------


def wanted(text: str = "", links: str = ""):
    return places_of(parse_topology(f"{text}\nrouters: {{a: {{neighbours: h:1}}, b: {{}}}}\n{links}").router("a"))


def test_links_files_and_administration_have_descriptors_before_clients_do():
    asked_for = wanted("limits: {connections: 10_000}", "links: [[a, b]]")
    assert (asked_for.clients, asked_for.greeting, asked_for.admin) == (10_000, 1_000, 40)
    assert fitted(asked_for, 1_000_000) == asked_for
    few = fitted(asked_for, 50)
    assert few.clients + few.greeting + few.link_greeting + few.admin + 4 <= 50 - 12
    assert few.clients >= 8
    assert min(few.greeting, few.link_greeting, few.admin) >= 2


def test_a_router_that_has_no_descriptor_for_a_client_does_not_start():
    with pytest.raises(CannotStart, match="allows 10 more open files"):
        fitted(wanted("", "links: [[a, b]]"), 10)

"""Whole daemons: start, signals, reload, credentials."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import stat

import pytest

from tamis.cli.reach.admin_http import asked
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.session_bodies import AuthMethod, Drain
from tamis.router.daemon.exit_codes import CANNOT_START
from tamis.router.daemon.fault_injection import SENTENCE, VARIABLE
from tests.router.wire_client import WireClient, auth, hello

ONE = "routers: {a: {clients: ['127.0.0.1:0', 'unix:a.sock'], admin: 'unix:admin.sock'%s}}\n"

pytestmark = pytest.mark.slow


async def until_logged(router, message: str) -> dict[str, object]:
    async with asyncio.timeout(20):
        while True:
            found = [line for line in router.logged() if line["message"] == message]
            if found:
                return found[-1]
            await asyncio.sleep(0.01)


async def test_a_life(process, tmp_path):
    router = process(ONE % "")
    assert router.ready["ready"] is True
    assert router.ready["pid"] == router.pid
    assert router.ready["clients"][1] == f"tamis+unix:{tmp_path}/a.sock"
    over_tcp = await WireClient.greeted(router.where, "alice")
    over_unix = await WireClient.greeted(router.ready["clients"][1], "bob")
    await over_unix.subscribe(1, "x > 1")
    await over_tcp.publish({"x": 2})
    assert await over_unix.delivered() == {"x": 2}
    router.signal(signal.SIGTERM)
    assert await over_tcp.until_closed() == [Drain(10_000, "the router is stopping")]
    assert await over_unix.until_closed() == [Drain(10_000, "the router is stopping")]
    assert await router.exit_code() == 0
    assert not (tmp_path / "a.sock").exists()
    assert [line["message"] for line in router.logged()] == ["ready", "admitted", "admitted", "draining", "stopped"]


async def test_draining_waits_for_queues_until_the_deadline_and_not_for_a_second_signal(process):
    router = process(ONE % ", limits: {drain_ms: 60_000}")
    alice = await WireClient.greeted(router.where, "alice")
    bob = await WireClient.greeted(router.ready["clients"][1], "bob")
    await bob.subscribe(1, "exists x")
    for number in range(60):
        await alice.publish({"x": number}, bytes(100_000), 1)
    while (await alice.next(bodies.Ack)).ranges[-1].last < 60:
        pass
    router.signal(signal.SIGINT)
    await until_logged(router, "draining")
    router.signal(signal.SIGTERM)
    assert await router.exit_code() == 1
    assert router.logged()[-1] | {"time": 0} == {
        "time": 0,
        "level": "info",
        "message": "stopped",
        "flushed": False,
        "clients_left": 2,
    }


async def test_a_reload_changes_all_that_may_change(process):
    router = process(ONE % "")
    router.file.write_text(ONE % ", engine: counting, limits: {filters_per_client: 1}")
    router.signal(signal.SIGHUP)
    assert (await until_logged(router, "settings reloaded"))["need_a_restart"] == ["engine"]
    router.file.write_text(ONE % ", engine: counting, limits: {filters_per_client: 1}, records: {folder: r}")
    router.signal(signal.SIGHUP)
    async with asyncio.timeout(20):  # measured from the start, not from the last reload
        while (await until_logged(router, "settings reloaded"))["need_a_restart"] != ["engine", "records"]:
            await asyncio.sleep(0.01)
    bob = await WireClient.greeted(router.where, "bob")
    await bob.subscribe(1, "x = 1")
    assert [item.reason for item in (await bob.subscribe(2, "x = 2")).refusals] == [
        "a client may have at most 1 filters (limits.filters_per_client)"
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("routers: {a: {clents: x}}", "unknown key"),
        ("routers: {b: {}}", "no router is called 'a'"),
        (ONE % ", tokens: none", "No such file"),
        ("routers: {a: {clients: '0.0.0.0:1'}}", "set `tokens`"),
    ],
)
async def test_a_reload_of_something_wrong_changes_nothing(process, text, reason):
    router = process(ONE % "")
    router.file.write_text(text)
    router.signal(signal.SIGHUP)
    assert reason in str((await until_logged(router, "the changed settings are not used"))["reason"])
    await WireClient.greeted(router.where, "bob")


async def test_tokens(process, tmp_path):
    file = tmp_path / "tokens"
    file.write_text("alice secret\n")
    file.chmod(0o600)
    router = process(ONE % ", tokens: tokens")
    await WireClient.greeted(router.where, "alice", token=b"secret")
    for name, token in (("alice", b"guess"), ("mallory", b"secret")):
        stranger = await WireClient.connect(router.where, name)
        await stranger.send(hello(name))
        assert (await stranger.next()).methods == (AuthMethod.TOKEN,)
        await stranger.send(auth(token))
        assert [error.code for error in await stranger.until_closed()] == [ErrorCode.AUTHENTICATION_FAILED]
    file.write_text("alice secret\nbob another\n")
    await WireClient.greeted(router.where, "bob", token=b"another")


@pytest.mark.parametrize(
    ("topology", "said"),
    [
        ("routers: {a: {clients: '0.0.0.0:0'}}", "start with --insecure"),
        ("routers: {a: {clients: 'unix:a.sock', engine: plain}}", "choose tamis, sff, counting, linear, kdtree"),
        ("routers: {a: {clients: 5}}", "net.yaml:1:24: routers.a.clients"),
        ("routers: {a: {clients: 'unix:none/a.sock'}}", "cannot listen on unix:"),
        ("routers: {a: {clients: 'unix:a.sock', tls: {certificate: c, key: k}}}", "c: No such file or directory"),
    ],
)
async def test_what_cannot_start_says_why(process, topology, said):
    router = process(topology)
    assert router.ready == {}
    assert await router.exit_code() == CANNOT_START
    assert said in router.errors
    assert "Traceback" not in router.errors


async def test_insecure_is_logged(process):
    router = process("routers: {a: {clients: '0.0.0.0:0'}}", "--insecure")
    assert [line["level"] for line in router.logged() if line["message"] == "insecure"] == ["warning"]


async def test_keys_of_the_version_before_are_logged(process):
    router = process(ONE % ", engine: {name: sff, rounds: 3}")
    (logged,) = [line for line in router.logged() if "routers.a.engine.rounds" in line["message"]]
    assert logged["level"] == "warning"


async def test_a_socket_left_behind_is_taken_over_and_one_in_use_is_not(process, tmp_path):
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "a.sock"))
    assert process(ONE % "").ready
    second = process(ONE % "")
    assert await second.exit_code() == 1
    assert "another process listens there" in second.errors
    assert stat.S_ISSOCK(os.stat(tmp_path / "a.sock").st_mode)  # noqa: PTH116


async def test_systemd_is_told(process, tmp_path, monkeypatch):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(20)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        router = process(ONE % "")
        assert manager.recv(100) == b"READY=1"
        router.signal(signal.SIGHUP)
        assert manager.recv(100).startswith(b"RELOADING=1\nMONOTONIC_USEC=")
        assert manager.recv(100) == b"READY=1"
        router.signal(signal.SIGTERM)
        assert manager.recv(100) == b"STOPPING=1"


async def test_the_start_itself_does_not_count_as_a_stall(process, tmp_path):
    process(ONE % "")
    _, page = await asyncio.to_thread(asked, f"unix:{tmp_path}/admin.sock", "GET", "/metrics", None)
    [held_s] = re.findall(rb"^tamis_loop_stall_max_seconds (\S+)$", page, re.MULTILINE)
    assert float(held_s) < 0.02  # of CPU time; the collection before it takes twice as much


async def test_a_bug_that_a_test_plants_is_said_loudly(process, monkeypatch):
    monkeypatch.setenv(VARIABLE, "drop:2")
    router = process(ONE % "")
    assert any(line["level"] == "error" and "BUG IS PLANTED" in line["message"] for line in router.logged())
    alice = await WireClient.greeted(router.where, "alice")
    bob = await WireClient.greeted(router.ready["clients"][1], "bob")
    await bob.subscribe(1, "exists x")
    for number in (1, 2, 3):
        await alice.publish({"x": number})
    assert [await bob.delivered() for _ in range(2)] == [{"x": 1}, {"x": 3}]
    assert (await until_logged(router, SENTENCE))["number"] == 2


async def test_what_cannot_be_planted_is_refused(process, monkeypatch):
    monkeypatch.setenv(VARIABLE, "lose:often")
    router = process(ONE % "")
    assert await router.exit_code() == CANNOT_START
    assert "TAMIS_PLANT_BUG must be drop:N" in router.errors

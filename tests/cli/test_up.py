"""`tamis up` and `tamis down` with real routers."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tamis.cli.main import main
from tamis.cli.network.linked import wait_until_linked
from tamis.cli.operate import own_router
from tamis.cli.reach.network_view import LinesView, TableDisplay
from tamis.router.daemon.exit_codes import CANNOT_START
from tamis.router.supervisor.identity import ProcessIdentity, is_running
from tamis.router.supervisor.life import ProcessState
from tamis.router.supervisor.state import NetworkState, RouterState, StateFolder
from tamis.testing import blocking
from tamis.testing.ports import lasting_port
from tests.router.connections.test_certificate import made

TWO = """
routers:
  a: {{clients: "127.0.0.1:0", neighbours: "127.0.0.1:{port}", admin: "unix:a.sock"}}
  b: {{clients: "unix:b.sock", admin: "unix:b-admin.sock"}}
links: [[a, b]]
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch) -> str:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "two.yaml").write_text(TWO.format(port=lasting_port()))
    return str(tmp_path / "two.yaml")


@pytest.mark.slow
def test_up_detached_then_down(file, capsys) -> None:
    assert main(["up", "--detach", file, "--json"]) == 0
    try:
        out, err = capsys.readouterr()
        assert err == f"logs: {StateFolder.of(file).logs}\n"
        told = [json.loads(line) for line in out.splitlines()]
        assert {form["router"] for form in told if form["state"] == "ready"} == {"a", "b"}
        assert wait_until_linked(file, {"a", "b"}, wait_s=0) == []  # a filter is sent to all, not to those met so far
        assert main(["status", file]) == 0
        assert main(["up", file]) == 1
        assert "run already" in capsys.readouterr().err
        assert main(["up", "--detach", file]) == 1
    finally:
        assert main(["down", file]) == 0
    assert capsys.readouterr().out.endswith("a: stopped\nb: stopped\n")
    assert [sentence[:2] for sentence in wait_until_linked(file, {"a", "b"}, wait_s=0)] == ["a:", "b:"]
    assert wait_until_linked(file, {"a"}, wait_s=0) == []
    assert main(["down", file]) == 1
    assert "none of its routers was started" in capsys.readouterr().err


@pytest.mark.slow
def test_old_keys_and_the_strategy_are_said_first_and_ctrl_c_stops_all(file) -> None:
    Path(file).write_text(f"{Path(file).read_text()}engine: {{name: sff, rounds: 3}}\nstrategy: match-first\n")
    command = [sys.executable, "-m", "tamis.cli.main", "up", file]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdout
        assert process.stderr
        _, old, strategy = [process.stderr.readline() for _ in range(3)]
        assert old.startswith(f"{file}:6:21: engine.rounds: ")
        assert strategy == "strategy match-first\n"
        ready: set[str] = set()
        while ready != {"a", "b"}:
            router_id, _, said = process.stdout.readline().partition(": ")
            assert said, "it has ended"
            ready |= {router_id} if said.startswith("ready") else set()
        process.send_signal(signal.SIGINT)
        assert process.stdout.read().splitlines()[-1].endswith(": stopped")
    assert process.returncode == 0


@pytest.mark.slow
def test_routers_stay_up_when_nobody_reads_the_pipe_any_more(file) -> None:
    command = [sys.executable, "-m", "tamis.cli.main", "up", file]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        first = _when_all_are_ready(file, restarts=0)
        os.kill(first["b"].pid, signal.SIGKILL)
        again = _when_all_are_ready(file, restarts=1)
        assert again["a"].pid == first["a"].pid
        process.send_signal(signal.SIGTERM)
        assert "Traceback" not in process.stderr.read()
    assert StateFolder.of(file).read() is None


def _when_all_are_ready(file: str, restarts: int) -> dict[str, RouterState]:
    """The routers of the file, once all are ready and together started again so often."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        state = StateFolder.of(file).read()
        routers = state.routers if state is not None else {}
        is_ready = {router.state for router in routers.values()} == {ProcessState.READY}
        if is_ready and sum(router.restarts for router in routers.values()) == restarts:
            return routers
        time.sleep(0.05)
    raise TimeoutError(f"not all routers are ready: {state}")


@pytest.mark.slow
def test_down_after_the_supervisor_was_killed(file, capsys) -> None:
    assert main(["up", "--detach", file]) == 0
    state = StateFolder.of(file).read()
    assert state
    os.kill(state.supervisor.pid, signal.SIGKILL)
    capsys.readouterr()
    assert main(["down", file, "--json"]) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [
        {"router": "a", "end": "stopped"},
        {"router": "b", "end": "stopped"},
    ]
    assert not any(is_running(router.identity) for router in state.routers.values())


@pytest.mark.slow
def test_one_router_of_a_network(file, capsys) -> None:
    assert main(["up", "--detach", file]) == 0
    try:
        capsys.readouterr()
        assert main(["stop", file, "b"]) == 0
        assert main(["stop", file, "b"]) == 1
        said, _ = capsys.readouterr()
        assert main(["status", file]) == 1
        lines = capsys.readouterr().out.splitlines()
        assert lines[1].split()[:2] == ["a", "serving"]
        assert lines[2].split() == ["b", "no", "answer"]
        assert lines[3].startswith("a: the link to b has been down for 0."), lines[3]
        assert lines[4:] == ["b is stopped", f"  tamis start {file} b    restarts it"]
        assert main(["restart", file, "a"]) == 0
        assert main(["start", file, "b", "--json"]) == 0
        assert main(["restart", file, "c"]) == 1
        out, err = capsys.readouterr()
        ready, started = out.splitlines()
        assert (said, ready.partition(",")[0]) == ("b: stopped\n", "a: ready")
        assert json.loads(started)["state"] == "ready"
        assert err.splitlines() == [
            f"Error: {file}: there is no router 'c'; routers: a, b",
        ]
        assert wait_until_linked(file, {"a", "b"}) == []
    finally:
        assert main(["down", file]) == 0


@pytest.mark.slow
def test_all_routers_start_again_one_after_the_other(file, capsys) -> None:
    assert main(["up", "--detach", file]) == 0
    try:
        before = StateFolder.of(file).read()
        assert main(["restart", file]) == 2
        assert main(["restart", file, "a", "--all"]) == 2
        assert main(["restart", file, "a", "c"]) == 1
        assert "there is no router 'c'; routers: a, b" in capsys.readouterr().err
        assert StateFolder.of(file).read().routers["a"].pid == before.routers["a"].pid, "nothing is done by halves"
        assert main(["restart", file, "--all", "--json"]) == 0
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [(line["router"], line["state"]) for line in lines] == [("a", "ready"), ("b", "ready")]
        after = StateFolder.of(file).read()
        assert all(after.routers[name].pid != before.routers[name].pid for name in "ab")
        Path(file).write_text(Path(file).read_text().replace("unix:b-admin.sock", "unix:/nowhere/b.sock"))
        assert main(["restart", file, "b", "a"]) == 1
        assert capsys.readouterr().err.endswith("not restarted: a\n")
    finally:
        assert main(["down", file]) == 0


@pytest.mark.slow
def test_a_changed_file_takes_effect_router_by_router(file, capsys) -> None:
    """Limits change while routers run; a new link needs new starts; routers come and go."""
    assert main(["up", "--detach", file]) == 0
    try:
        capsys.readouterr()
        before, text = StateFolder.of(file).read(), Path(file).read_text()
        assert before
        Path(file).write_text(f"{text}limits: {{drain_ms: 500}}\n")
        assert main(["reload", file]) == 0
        assert capsys.readouterr().out == "a: applied the new settings\nb: applied the new settings\n"
        third = text.replace("links: [[a, b]]", "  c: {admin: 'unix:c.sock'}\nlinks: [[a, b], [a, c]]")
        Path(file).write_text(third)
        assert main(["reload", file, "--no-restart"]) == 1
        started, *rest = capsys.readouterr().out.splitlines()
        assert started.startswith("c: started: ready, process ")
        assert rest == ["a: needs a restart for links", "b: applied the new settings"]
        assert main(["reload", file]) == 0
        took, took_c, restarted = capsys.readouterr().out.splitlines()
        assert {took, took_c} == {"b: applied the new settings", "c: applied the new settings"}
        assert restarted.startswith("a: restarted for links: ready, process ")
        assert wait_until_linked(file, {"a", "b", "c"}, wait_s=0) == []
        after = StateFolder.of(file).read()
        assert after
        assert after.routers["a"].pid != before.routers["a"].pid
        assert after.routers["b"].pid == before.routers["b"].pid, "what needs no restart runs on"
        Path(file).write_text(text)
        assert main(["reload", file, "--json"]) == 0
        said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert said[0] == {"router": "c", "done": True, "what": "stopped: removed from the file"}
        assert said[-1]["what"].startswith("restarted for links")
        elsewhere = "  d: {machine: m2, neighbours: '127.0.0.1:1'}\nlinks: [[a, b], [a, d]]"
        Path(file).write_text(text.replace("links: [[a, b]]", elsewhere))
        assert main(["reload", file, "--no-restart"]) == 1
        *_, last = capsys.readouterr().out.splitlines()
        assert last == "d: not reached, with the old settings: run `tamis reload` on its machine m2"
        Path(file).write_text("routers: {a: {clients: x}}")
        assert main(["reload", file]) == 1
        assert "routers.a.clients" in capsys.readouterr().err
    finally:
        assert main(["down", file]) == 0


@pytest.mark.slow
def test_up_without_a_file_is_one_router(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    ports = {7400: lasting_port(), 7600: lasting_port()}
    text = own_router.TEXT
    for shown, used in ports.items():
        text = text.replace(str(shown), str(used))
    monkeypatch.setattr(own_router, "TEXT", text)
    assert main(["up", "--detach"]) == 0
    try:
        out = capsys.readouterr().out
        assert f"clients tamis://127.0.0.1:{ports[7400]}, admin http://127.0.0.1:{ports[7600]}" in out
        assert main(["pub", f"tamis://127.0.0.1:{ports[7400]}", "a=1", "--confirm"]) == 0
        assert main(["logs"]) == 0
        assert " a info    ready  router=a" in capsys.readouterr().out
        assert list((tmp_path / "tamis" / "default-data").rglob("epoch"))
    finally:
        assert main(["down"]) == 0
    assert capsys.readouterr().out == "a: stopped\n"


def test_what_cannot_start_starts_nothing(file, capsys) -> None:
    """It is found before a process is started, and said as `tamis check` says it."""
    Path(file).write_text("routers: {a: {clients: '0.0.0.0:7410'}}\ntls: {certificate: c.pem, key: k.pem}")
    for command in (["up"], ["up", "--detach"], ["check"], ["reload"]):
        assert main([*command, file]) == 1
        bare, missing = capsys.readouterr().err.splitlines()
        assert bare.startswith(
            f"{file}:1:24: a: clients: 0.0.0.0:7410 is open to other machines, and clients need no credential"
        )
        assert missing.startswith(f"{file}:2:6: a: tls: ")
    assert main(["check", file, "--text-only"]) == 0
    assert main(["check", file, "--insecure"]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert StateFolder.of(file).read() is None


def test_a_file_that_is_not_sound_starts_nothing(file, capsys) -> None:
    Path(file).write_text("routers: {a: {clients: x}}")
    for options in ([], ["--detach"]):
        assert main(["up", *options, file]) == 1
    Path(file).write_text("routers: {a: {machine: x}, b: {machine: y, neighbours: '127.0.0.1:1'}}\nlinks: [[a, b]]")
    assert main(["up", file]) == 1
    assert "--machine: x, y" in capsys.readouterr().err
    assert main(["up", file, "--machine", "z"]) == 1
    assert "x, y, not 'z'" in capsys.readouterr().err
    assert StateFolder.of(file).read() is None


def network(**router: object) -> NetworkState:
    return NetworkState("f", ProcessIdentity(1, ""), 1.0, {"a": RouterState(**router)})


def test_a_change_is_a_line(capsys) -> None:
    view = LinesView(as_json=False)
    view.show(network())
    view.show(network(pid=5))
    ready = network(state=ProcessState.READY, pid=5, clients=["tamis://h:1"], admin=["http://h:2"])
    view.show(ready)
    view.show(ready)
    view.show(network(state=ProcessState.RESTARTING, pause_s=2.0, exit_code=1, last_words="no port"))
    view.show(network(state=ProcessState.FAILED, restarts=4, exit_code=1, last_words="no port"))
    view.show(network(state=ProcessState.FAILED, exit_code=CANNOT_START, last_words="no certificate"))
    view.show(network(state=ProcessState.RESTARTING, pause_s=2.0, exit_code=-9))
    view.show(network(state=ProcessState.STOPPED))
    assert capsys.readouterr().out.splitlines() == [
        "a: starting, process 5",
        "a: ready, process 5, clients tamis://h:1, admin http://h:2",
        "a: restarting, next start in 2 s; it ended with exit code 1: no port",
        "a: failed, 5 failed starts in a row; the last process ended with exit code 1: no port",
        "a: failed, cannot start: no certificate",
        "a: restarting, next start in 2 s; it was killed by SIGKILL",
        "a: stopped",
    ]


def test_a_terminal_sees_a_table(capsys) -> None:
    view = TableDisplay()
    view.show(network(state=ProcessState.READY, pid=5, clients=["unix:/run/[odd]"]))
    view.close()
    out = capsys.readouterr().out
    assert "router" in out
    assert "unix:/run/[odd]" in out


def test_an_address_that_is_taken_is_said_before_anything_starts(tmp_path, capsys) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        file = tmp_path / "net.yaml"
        file.write_text(f"routers:\n  a: {{clients: '127.0.0.1:{port}'}}\n")
        assert main(["check", str(file)]) == 0
        for command in (["up"], ["up", "--detach"]):
            assert main([*command, str(file)]) == 1
            said = capsys.readouterr().err
            assert said == f"{file}:2:16: a: cannot listen on 127.0.0.1:{port}: Address already in use\n"
    assert StateFolder.of(str(file)).read() is None


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="certificates are made with openssl")
def test_a_link_that_does_not_come_up_is_said_with_its_reason(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    certificate = made(tmp_path, 5)
    tls = f"neighbour_tls: {{certificate: {certificate}, key: key.pem, ca: {certificate}}}"
    file = tmp_path / "two.yaml"
    file.write_text(
        f"""\
routers:
  a: {{neighbours: "127.0.0.1:{lasting_port()}", admin: "127.0.0.1:{lasting_port()}", {tls}}}
  b: {{admin: "127.0.0.1:{lasting_port()}", {tls}}}
links: [[a, b]]
"""
    )
    with blocking.started(file, "a"), blocking.started(file, "b"):
        said = wait_until_linked(str(file), {"a", "b"}, wait_s=2)
    assert any("the link to a" in line and "certificate" in line for line in said), said
    assert not any("has no link from a to b" in line for line in said), said

"""`tamis up` and `tamis down` with real routers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tamis.cli.linked import wait_until_linked
from tamis.cli.main import main
from tamis.cli.network_view import LinesView, TableDisplay
from tamis.router.supervisor.identity import ProcessIdentity, is_running
from tamis.router.supervisor.life import ProcessState
from tamis.router.supervisor.state import NetworkState, RouterState, StateFolder
from tamis.testing.ports import lasting_port

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
        assert "up already" in capsys.readouterr().err
        assert main(["up", "--detach", file]) == 1
    finally:
        assert main(["down", file]) == 0
    assert capsys.readouterr().out.endswith("a: stopped\nb: stopped\n")
    assert [sentence[:2] for sentence in wait_until_linked(file, {"a", "b"}, wait_s=0)] == ["a:", "b:"]
    assert wait_until_linked(file, {"a"}, wait_s=0) == []
    assert main(["down", file]) == 1
    assert "none of its routers was started" in capsys.readouterr().err


@pytest.mark.slow
def test_ctrl_c_stops_all(file) -> None:
    command = [sys.executable, "-m", "tamis.cli.main", "up", file]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:  # noqa: S603
        assert process.stdout
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
    view.show(network(state=ProcessState.STOPPED))
    assert capsys.readouterr().out.splitlines() == [
        "a: starting, process 5",
        "a: ready, process 5, clients tamis://h:1, admin http://h:2",
        "a: restarting, again in 2 s; it ended with exit code 1: no port",
        "a: failed, ended 5 times, the last time with exit code 1: no port",
        "a: stopped",
    ]


def test_a_terminal_sees_a_table(capsys) -> None:
    view = TableDisplay()
    view.show(network(state=ProcessState.READY, pid=5, clients=["unix:/run/[odd]"]))
    view.close()
    out = capsys.readouterr().out
    assert "router" in out
    assert "unix:/run/[odd]" in out

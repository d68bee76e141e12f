"""Single routers of a supervisor, asked for over its socket; the routers are lines of Python."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
from pathlib import Path

import pytest

from tamis.router.daemon.exit_codes import CANNOT_START
from tamis.router.supervisor.control import NAME, REQUEST_BYTES_MAX, ask
from tamis.router.supervisor.life import ProcessState, RestartPolicy
from tamis.router.supervisor.plan import Task
from tamis.router.supervisor.state import StateFolder, SupervisorError
from tests.router.supervisor.test_supervise import BLOCKED, READY, UNTIL_TOLD, Network, program

RELOADS = (
    "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGHUP]); "
    + READY
    + "told = signal.sigwait([signal.SIGTERM, signal.SIGHUP]); "
    "print(json.dumps({'reloaded': True, 'need_a_restart': ['links']}), flush=True) if told == signal.SIGHUP else 0; "
    "signal.sigwait([signal.SIGTERM])"
)


async def asked(network: Network, do: str, router: str = "") -> dict:
    return await asyncio.to_thread(ask, network.folder, {"do": do, "router": router}, 20.0)


@pytest.fixture
async def two(tmp_path):
    network = Network(tmp_path, a=BLOCKED + UNTIL_TOLD, b=BLOCKED + UNTIL_TOLD)
    run = asyncio.create_task(network.supervisor.run())
    await network.until(network.are(ProcessState.READY, ProcessState.READY))
    yield network
    network.supervisor.stop()
    await run
    network.folder.release()


async def test_one_router_is_stopped_started_and_restarted(two) -> None:
    other, first = two.state.routers["a"].pid, two.state.routers["b"].pid
    assert (await asked(two, "stop", "b"))["state"] == "stopped"
    with pytest.raises(SupervisorError, match="b is stopped already"):
        await asked(two, "stop", "b")
    started = await asked(two, "start", "b")
    assert (started["state"], started["clients"]) == ("ready", ["tamis://h:1"])
    with pytest.raises(SupervisorError, match="b is ready already"):
        await asked(two, "start", "b")
    again = await asked(two, "restart", "b")
    assert again["state"] == "ready"
    assert len({first, started["pid"], again["pid"]}) == 3
    assert two.state.routers["a"].pid == other, "the other is left alone"
    assert again["since_s"] > started["since_s"]


async def test_the_last_router_that_is_stopped_may_be_started_again(two) -> None:
    await asked(two, "stop", "a")
    await asked(two, "stop", "b")
    assert (await asked(two, "restart", "a"))["state"] == "ready"


async def test_what_cannot_be_asked(two) -> None:
    with pytest.raises(SupervisorError, match="there is no router 'c'; routers: a, b"):
        await asked(two, "stop", "c")
    with pytest.raises(SupervisorError, match="'do' is one of: stop, start, restart, reload, adopt"):
        await asked(two, "explode", "a")
    with pytest.raises(SupervisorError, match="did not answer"):
        await asked(two, "stop", "c" * REQUEST_BYTES_MAX)
    assert stat.S_IMODE((two.folder.path / NAME).stat().st_mode) == 0o600


def test_nobody_is_there(tmp_path) -> None:
    with pytest.raises(SupervisorError, match="no `tamis up` runs its routers"):
        ask(StateFolder(tmp_path / "none"), {"do": "stop", "router": "a"}, 1.0)


def test_a_folder_of_a_long_name(tmp_path) -> None:
    folder = tmp_path / ("x" * 120)

    async def stopped() -> str:
        one = Network(folder, a=BLOCKED + UNTIL_TOLD)
        run = asyncio.create_task(one.supervisor.run())
        await one.until(one.are(ProcessState.READY))
        answer = await asked(one, "stop", "a")
        one.supervisor.stop()
        await run
        one.folder.release()
        return answer["state"]

    assert asyncio.run(stopped()) == "stopped"


async def test_a_pause_before_the_next_start_is_cut_short(tmp_path) -> None:
    patient = RestartPolicy(pause_s_min=600.0, pause_s_max=600.0)
    one = Network(tmp_path, patience=patient, a=BLOCKED + UNTIL_TOLD)
    run = asyncio.create_task(one.supervisor.run())
    await one.until(one.are(ProcessState.READY))
    os.kill(one.state.routers["a"].pid, signal.SIGKILL)
    await one.until(one.are(ProcessState.RESTARTING))
    assert (await asked(one, "start", "a"))["state"] == "ready"
    one.supervisor.stop()
    assert await run is True
    one.folder.release()


async def test_what_cannot_start_is_not_tried_again(tmp_path) -> None:
    """One that has failed starts again when somebody asks, who has mended what was wrong."""
    flag = tmp_path / "mended"
    careful = f"import os, sys; os.path.exists({str(flag)!r}) or sys.exit({CANNOT_START}); " + BLOCKED + UNTIL_TOLD
    one = Network(tmp_path / "state", a=careful, b=BLOCKED + UNTIL_TOLD)
    run = asyncio.create_task(one.supervisor.run())
    await one.until(one.are(ProcessState.FAILED, ProcessState.READY))
    assert one.state.routers["a"].restarts == 0
    flag.touch()
    assert (await asked(one, "start", "a"))["state"] == "ready"
    one.supervisor.stop()
    assert await run is True
    one.folder.release()


async def test_a_router_says_what_it_made_of_a_reload(tmp_path) -> None:
    one = Network(tmp_path, a=RELOADS)
    run = asyncio.create_task(one.supervisor.run())
    await one.until(one.are(ProcessState.READY))
    assert await asked(one, "reload", "a") == {"router": "a", "reloaded": True, "need_a_restart": ["links"]}
    one.supervisor.stop()
    assert await run is True
    one.folder.release()


async def test_routers_come_and_go_with_the_file(two) -> None:
    kept = two.state.routers["a"].pid
    tasks = {name: Task(program(BLOCKED + UNTIL_TOLD), 30.0) for name in ("a", "c")}
    two.supervisor._plan = lambda: tasks
    answer = await asked(two, "adopt")
    assert answer["stopped"] == ["b"]
    assert answer["started"]["c"]["state"] == "ready"
    written = two.folder.read()
    assert written
    assert list(written.routers) == ["a", "c"]
    assert written.routers["a"].pid == kept


async def test_a_supervisor_that_was_killed_leaves_a_socket_that_nobody_minds(tmp_path: Path) -> None:
    (tmp_path / NAME).touch()
    one = Network(tmp_path, a=BLOCKED + UNTIL_TOLD)
    run = asyncio.create_task(one.supervisor.run())
    await one.until(one.are(ProcessState.READY))
    assert (await asked(one, "stop", "a"))["state"] == "stopped"
    one.supervisor.stop()
    await run
    assert not (tmp_path / NAME).exists()
    one.folder.release()

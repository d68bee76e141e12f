"""Supervision of real processes, each a line of Python that lives as long as its case needs."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tamis.router.supervisor.identity import ProcessIdentity, is_running
from tamis.router.supervisor.life import ProcessState, RestartPolicy
from tamis.router.supervisor.plan import Task
from tamis.router.supervisor.state import NetworkState, StateFolder
from tamis.router.supervisor.supervise import STOP_SIGNALS, Supervisor

READY = "import json, sys; print(json.dumps({'clients': ['tamis://h:1'], 'admin': ['http://h:2']}), flush=True); "
UNTIL_TOLD = READY + "import signal; signal.sigwait([signal.SIGTERM]); print('bye', file=sys.stderr)"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + READY + "signal.pause(); signal.pause()"
# SIGTERM must not come before it is waited for
BLOCKED = "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM]); "
QUICK = RestartPolicy(pause_s_min=0.0, pause_s_max=0.0, steady_s=60.0, deaths_max=3)


def program(text: str) -> tuple[str, ...]:
    return sys.executable, "-I", "-S", "-c", text


class Network:
    """A supervisor, what it showed, and a wait for what it is to show."""

    def __init__(self, folder: Path, patience: RestartPolicy = QUICK, stop_s: float = 30.0, **programs: str) -> None:
        self.folder = StateFolder(folder)
        self.folder.claim()
        self.shown: list[tuple[ProcessState, ...]] = []
        self._changed = asyncio.Event()
        tasks = {name: Task(program(text), stop_s) for name, text in programs.items()}
        self.supervisor = Supervisor("net.yaml", tasks, self.folder, self._show, patience)
        self.state = self.supervisor.state

    def _show(self, state: NetworkState) -> None:
        states = tuple(router.state for router in state.routers.values())
        if not self.shown or self.shown[-1] != states:
            self.shown.append(states)
        self._changed.set()

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not is_so():
                self._changed.clear()
                await self._changed.wait()

    def are(self, *states: ProcessState) -> Callable[[], bool]:
        return lambda: tuple(router.state for router in self.state.routers.values()) == states


@pytest.fixture
def network(tmp_path):
    made = []

    def make(**settings) -> Network:
        made.append(Network(tmp_path, **settings))
        return made[-1]

    yield make
    for item in made:
        item.folder.release()


async def test_all_are_started_and_stopped(network) -> None:
    two = network(a=BLOCKED + UNTIL_TOLD, b=BLOCKED + UNTIL_TOLD)
    run = asyncio.create_task(two.supervisor.run())
    await two.until(two.are(ProcessState.READY, ProcessState.READY))
    written = two.folder.read()
    assert written
    assert written.is_up
    assert written.routers == two.state.routers
    assert written.routers["a"].clients == ["tamis://h:1"]
    assert all(is_running(router.identity) for router in written.routers.values())
    two.supervisor.stop()
    assert await run is True
    assert two.are(ProcessState.STOPPED, ProcessState.STOPPED)()
    assert two.folder.read() is None
    assert (two.folder.logs / "a.log").read_text() == "bye\n"
    assert not any(is_running(router.identity) for router in written.routers.values())


@pytest.mark.parametrize("number", STOP_SIGNALS)
async def test_a_signal_to_the_supervisor_stops_all(network, number) -> None:
    one = network(a=BLOCKED + UNTIL_TOLD)
    run = asyncio.create_task(one.supervisor.run())
    await one.until(one.are(ProcessState.READY))
    os.kill(os.getpid(), number)
    assert await run is True


async def test_one_that_is_killed_is_started_again(network) -> None:
    one = network(a=BLOCKED + UNTIL_TOLD)
    run = asyncio.create_task(one.supervisor.run())
    await one.until(one.are(ProcessState.READY))
    first = one.state.routers["a"].pid
    os.kill(first, signal.SIGKILL)
    await one.until(lambda: one.state.routers["a"].restarts == 1 and one.are(ProcessState.READY)())
    assert one.state.routers["a"].pid != first
    assert one.state.routers["a"].exit_code == -signal.SIGKILL
    assert (ProcessState.RESTARTING,) in one.shown
    one.supervisor.stop()
    assert await run is True


async def test_one_that_always_ends_fails_and_the_others_stay(network) -> None:
    two = network(a=BLOCKED + UNTIL_TOLD, b="import sys; sys.exit('no such port')")
    run = asyncio.create_task(two.supervisor.run())
    await two.until(two.are(ProcessState.READY, ProcessState.FAILED))
    failed = two.state.routers["b"]
    assert (failed.restarts, failed.exit_code, failed.last_words) == (QUICK.deaths_max - 1, 1, "no such port")
    assert (two.folder.logs / "b.log").read_text() == "no such port\n" * QUICK.deaths_max
    two.supervisor.stop()
    assert await run is False


async def test_when_all_have_failed_nothing_is_left_to_do(network) -> None:
    one = network(a="raise SystemExit(3)")
    assert await one.supervisor.run() is False
    assert one.shown[-1] == (ProcessState.FAILED,)


async def test_a_pause_ends_when_a_stop_is_asked_for(network) -> None:
    one = network(a="raise SystemExit(3)", patience=RestartPolicy(pause_s_min=600.0, pause_s_max=600.0))
    run = asyncio.create_task(one.supervisor.run())
    await one.until(one.are(ProcessState.RESTARTING))
    assert one.state.routers["a"].pause_s == 600.0
    one.supervisor.stop()
    assert await run is False  # its last process did not end cleanly
    assert one.are(ProcessState.STOPPED)()


async def test_one_that_does_not_stop_is_killed(network) -> None:
    one = network(a=STUBBORN, stop_s=0.01)
    run = asyncio.create_task(one.supervisor.run())
    await one.until(one.are(ProcessState.READY))
    one.supervisor.stop()
    assert await run is False
    assert one.state.routers["a"].exit_code == -signal.SIGKILL


async def test_a_stop_may_come_before_anything_runs(network) -> None:
    one = network(a=UNTIL_TOLD)
    run = asyncio.create_task(one.supervisor.run())
    await one.until(lambda: bool(one.shown))
    one.supervisor.stop()
    assert await run is True
    assert one.are(ProcessState.STOPPED)()


async def test_nothing_is_left_when_the_supervisor_itself_is_cut_short(network) -> None:
    one = network(a=STUBBORN)
    run = asyncio.create_task(one.supervisor.run())
    await one.until(one.are(ProcessState.READY))
    router = one.state.routers["a"].identity
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert not is_running(router)


async def test_a_display_that_cannot_be_written_stops_nothing(network, caplog) -> None:
    one = network(a=BLOCKED + UNTIL_TOLD)
    show, writes = one.supervisor._show, []

    def closed(state: NetworkState) -> None:
        show(state)
        writes.append(state)
        raise BrokenPipeError(32, "Broken pipe")

    one.supervisor._show = closed
    run = asyncio.create_task(one.supervisor.run())
    async with asyncio.timeout(20):
        while not one.are(ProcessState.READY)():
            await asyncio.sleep(0.001)
    assert len(writes) == 1, "it is not tried again"
    assert caplog.messages == ["the state of the routers can no longer be shown: [Errno 32] Broken pipe"]
    assert one.folder.read().is_up
    one.supervisor.stop()
    assert await run is True


async def test_a_disk_that_is_full_harms_nobody(network, monkeypatch) -> None:
    one = network(a=BLOCKED + UNTIL_TOLD)

    def full(_: NetworkState) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(one.folder, "write", full)
    run = asyncio.create_task(one.supervisor.run())
    await one.until(one.are(ProcessState.READY))
    one.supervisor.stop()
    assert await run is True


async def test_a_log_that_cannot_be_written_is_told_once(network, caplog, capsys) -> None:
    chatty = "import sys; print('one', 'two', 'three', sep=chr(10), file=sys.stderr, flush=True); "
    one = network(a=BLOCKED + chatty + UNTIL_TOLD)
    (one.folder.logs / "a.log").symlink_to("/dev/full")
    run = asyncio.create_task(one.supervisor.run())
    await one.until(one.are(ProcessState.READY))
    one.supervisor.stop()
    assert await run is True
    assert one.state.routers["a"].last_words == "bye"
    (told,) = caplog.messages
    assert "a.log" in told
    assert "No space left on device" in told
    assert capsys.readouterr().err == ""


async def test_what_a_router_says_besides_is_logged(network) -> None:
    one = network(a="import sys; print('not json'); print('later'); print('y' * 1_000_000, 'end', file=sys.stderr)")
    await one.supervisor.run()
    logged = (one.folder.logs / "a.log").read_text()
    assert logged.count("later\n") == QUICK.deaths_max
    assert logged.count(" end\n") <= QUICK.deaths_max, "the end of a line that is too long comes if it is read apart"
    assert logged.count("y") < QUICK.deaths_max * 1_000_000


@pytest.mark.parametrize(
    ("lines", "last"),
    [
        (["Traceback ...", "OSError: no port"], "OSError: no port"),
        (["cannot listen", '{"level": "info", "message": "ready"}', ""], "cannot listen"),
        (['{"level": "error", "message": "a page failed"}'], "a page failed"),
        (['{"level": "info", "message": "ready"}'], ""),
        (["[1]", "null"], "null"),
    ],
)
async def test_last_words_are_the_last_complaint(network, lines, last) -> None:
    one = network(
        a=f"import sys; print(*{lines!r}, sep=chr(10), file=sys.stderr)", patience=RestartPolicy(deaths_max=1)
    )
    await one.supervisor.run()
    assert one.state.routers["a"].last_words == last


def test_a_state_is_read_as_it_was_written(tmp_path) -> None:
    folder = StateFolder(tmp_path)
    identity = ProcessIdentity.of(os.getpid())
    assert identity
    assert folder.read() is None
    state = NetworkState("f", identity, 15.0, {})
    folder.write(state)
    assert folder.read() == state
    assert json.loads((tmp_path / "state.json").read_text())["supervisor"]["pid"] == os.getpid()

"""Stopping from outside: whom a state file names, and nobody else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tamis.router.supervisor.identity import ProcessIdentity, held, is_running
from tamis.router.supervisor.state import NetworkState, RouterState, StateFolder, SupervisorError
from tamis.router.supervisor.stop import End, stop_routers

SLEEP = "import signal; print(flush=True); signal.pause()"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + SLEEP + "; signal.pause()"


@pytest.fixture
def processes() -> Iterator[list[subprocess.Popen[bytes]]]:
    made: list[subprocess.Popen[bytes]] = []
    yield made
    for process in made:
        process.kill()
        process.wait()
        assert process.stdout
        process.stdout.close()


@pytest.fixture
def started(processes):
    """started(program) -> the identity of a process that runs it."""

    def start(program: str = SLEEP) -> ProcessIdentity:
        process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)  # noqa: S603 - our own program
        processes.append(process)
        assert process.stdout
        process.stdout.readline()
        identity = ProcessIdentity.of(process.pid)
        assert identity
        return identity

    return start


def gone() -> ProcessIdentity:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        identity = ProcessIdentity.of(process.pid)
    assert identity
    return identity


def written(path, supervisor: ProcessIdentity, stop_s: float = 30.0, **routers: ProcessIdentity) -> StateFolder:
    states = {name: RouterState(pid=router.pid, started=router.started) for name, router in routers.items()}
    folder = StateFolder(path)
    folder.write(NetworkState("f", supervisor, stop_s, states))
    return folder


def test_the_supervisor_is_asked_first_and_stops_its_routers_itself(tmp_path, started, processes) -> None:
    forgets = (
        f"import os, signal; signal.signal(signal.SIGTERM, lambda *_: os.unlink({str(tmp_path / 'state.json')!r})); "
    )
    folder = written(tmp_path, started(forgets + SLEEP), a=started())
    assert stop_routers(folder) == {"a": End.STOPPED}
    assert processes[0].wait(10) == 0
    assert processes[1].poll() is None


def test_a_supervisor_that_ends_without_stopping_its_routers_is_not_believed(tmp_path, started, processes) -> None:
    folder = written(tmp_path, started(), a=started())
    assert stop_routers(folder) == {"a": End.STOPPED}
    assert [process.wait(10) for process in processes] == [-signal.SIGTERM] * 2


def test_routers_without_their_supervisor_are_stopped_one_by_one(tmp_path, started, processes) -> None:
    folder = written(tmp_path, gone(), a=started(), b=gone())
    assert stop_routers(folder) == {"a": End.STOPPED, "b": End.GONE}
    assert processes[0].wait(10) == -signal.SIGTERM
    assert folder.read() is None


def test_one_that_does_not_stop_is_killed(tmp_path, started, processes) -> None:
    folder = written(tmp_path, gone(), stop_s=0.01, a=started(STUBBORN))
    assert stop_routers(folder) == {"a": End.KILLED}
    assert processes[0].wait(10) == -signal.SIGKILL


def test_another_process_of_the_same_number_is_left_alone(tmp_path, started, processes) -> None:
    other = replace(started(), started="another boot/5")
    folder = written(tmp_path, replace(started(), started="another boot/6"), a=other)
    assert stop_routers(folder) == {"a": End.GONE}
    assert [process.poll() for process in processes] == [None, None]


def test_nothing_was_started(tmp_path) -> None:
    with pytest.raises(SupervisorError, match="none of its routers"):
        stop_routers(StateFolder(tmp_path))


def test_a_state_that_cannot_be_read_is_said(tmp_path) -> None:
    (tmp_path / "state.json").write_text('{"file": 1}')
    with pytest.raises(SupervisorError, match=r"state\.json cannot be read"):
        stop_routers(StateFolder(tmp_path))


def test_one_supervisor_a_file(tmp_path) -> None:
    first, second = StateFolder(tmp_path), StateFolder(tmp_path)
    first.claim()
    with pytest.raises(SupervisorError, match="run already"):
        second.claim()
    first.release()
    second.claim()
    second.release()


def test_each_file_has_a_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert StateFolder.of("net.yaml").path == StateFolder.of(tmp_path / "net.yaml").path
    assert StateFolder.of("net.yaml").path != StateFolder.of("other/net.yaml").path
    assert StateFolder.of("net.yaml").path.parent == tmp_path / "tamis"


def test_numbers_that_are_no_process() -> None:
    assert ProcessIdentity.of(2**31 - 1) is None
    with held(ProcessIdentity(2**31 - 1, "")) as handle:
        assert handle is None
    mine = ProcessIdentity.of(os.getpid())
    assert mine
    assert is_running(mine)

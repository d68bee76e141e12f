"""One router process: its start, its output, its restarts, its stop and its reloads.

Law: no process is left behind: `run` ends only when the last process it started has ended. A process has a session of
its own: Ctrl-C at the terminal reaches the supervisor alone, which then requests a clean end.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import signal
import time
from collections.abc import Callable
from logging import Handler
from typing import Any

from tamis.router.daemon.exit_codes import CANNOT_START
from tamis.router.supervisor.identity import ProcessIdentity
from tamis.router.supervisor.life import TRANSITIONS, Deaths, LifeEvent, ProcessState, RestartPolicy
from tamis.router.supervisor.plan import Task
from tamis.router.supervisor.state import RouterState, SupervisorError

LINE_BYTES_MAX = 262_144
"""Bytes of a line of a log; of a longer line only the end is logged."""
LAST_WORDS_CHARACTERS_MAX = 500
RELOAD_S = 10.0
"""Seconds within which a router reports the result of a SIGHUP."""


class ProcessSupervisor:
    def __init__(self, task: Task, log: Handler, patience: RestartPolicy, changed: Callable[[], None]) -> None:
        """Supervise the process of `task`, which may be replaced for later starts. `changed` is called after each
        change of `state`."""
        self.state = RouterState(since_s=time.time())
        self.task = task
        self._log = log
        self._patience = patience
        self._deaths = Deaths(patience)
        self._changed = changed
        self._stop_asked = asyncio.Event()
        self._pause_cut = asyncio.Event()
        self._reloaded: asyncio.Future[dict[str, Any]] | None = None
        self._process: asyncio.subprocess.Process | None = None

    async def run(self) -> None:
        """Run and restart the process until it has stopped or failed."""
        try:
            while self.state.state is ProcessState.STARTING:
                if self._move(self._meaning(await self._life())) is ProcessState.RESTARTING:
                    await self._pause()
            if self.state.state is ProcessState.STOPPING:  # stopped before a process was started
                self._move(LifeEvent.ENDED)
        finally:
            self._log.close()

    def stop(self) -> None:
        """Request a clean end; a second call requests an immediate one."""
        self._move(LifeEvent.STOP_ASKED)
        self._stop_asked.set()
        self._pause_cut.set()
        self._signal(signal.SIGTERM)

    def begin(self) -> None:
        """Prepare another `run` after one that has ended, or end the pause before the next start."""
        if self.state.state is ProcessState.RESTARTING:
            self._pause_cut.set()
            return
        self._deaths = Deaths(self._patience)
        self._stop_asked.clear()
        self._pause_cut.clear()
        self.state.restarts, self.state.exit_code, self.state.last_words = 0, None, ""
        self._move(LifeEvent.START_ASKED)

    async def reload(self) -> dict[str, Any]:
        """Let the process reload its file; return its report. SupervisorError if there is none in time."""
        if self.state.state is not ProcessState.READY:
            raise SupervisorError(f"it is {self.state.state}; it reads the file when it starts")
        if self._reloaded is None or self._reloaded.done():
            self._reloaded = asyncio.get_running_loop().create_future()
        self._signal(signal.SIGHUP)
        try:
            async with asyncio.timeout(RELOAD_S):
                return await asyncio.shield(self._reloaded)
        except TimeoutError:
            raise SupervisorError(f"it did not report the result of the reload within {RELOAD_S:g} s") from None

    def _meaning(self, lived_s: float) -> LifeEvent:
        """Return the event for the end of a process that ran for `lived_s` seconds."""
        if self.state.exit_code == CANNOT_START and self.state.state in (ProcessState.STARTING, ProcessState.STOPPING):
            return LifeEvent.ENDED_FOR_GOOD
        return self._deaths.after(lived_s)

    async def _life(self) -> float:
        """Run one process from its start to its end; return how long it ran, in seconds."""
        began_s = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            *self.task.command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            limit=LINE_BYTES_MAX,
        )
        self._process = process
        self._note_start(process.pid)
        if self._stop_asked.is_set():
            self._signal(signal.SIGTERM)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._listen(process.stdout))
                tasks.create_task(self._copy(process.stderr))
                killer = tasks.create_task(self._kill_late())
                self.state.exit_code = await process.wait()
                killer.cancel()
        finally:
            self._signal(signal.SIGKILL)  # has no effect unless this function itself was cancelled
            await process.wait()
            self._process = None
        return time.monotonic() - began_s

    async def _listen(self, stdout: asyncio.StreamReader | None) -> None:
        """Read the addresses of the process from its first line, and later its reports of reloads; other lines go to
        the log."""
        assert stdout is not None  # noqa: S101 - `_life` requests a pipe
        with contextlib.suppress(ValueError, TypeError):
            said = json.loads(await stdout.readline())
            self.state.clients, self.state.admin = said.get("clients", []), said.get("admin", [])
            self._move(LifeEvent.SAID_READY)
        await self._copy(stdout)

    async def _copy(self, stream: asyncio.StreamReader | None) -> None:
        assert stream is not None  # noqa: S101 - `_life` requests a pipe
        while True:
            try:
                line = await stream.readline()
            except ValueError:  # the line is too long: the part that was read is lost
                continue
            if not line:
                return
            text = line.decode(errors="replace").rstrip("\n")
            if self._is_reloaded(text):
                continue
            self.state.last_words = _complaint(text)[:LAST_WORDS_CHARACTERS_MAX] or self.state.last_words
            self._log.handle(logging.makeLogRecord({"msg": text}))

    def _is_reloaded(self, text: str) -> bool:
        """Return whether a line reports a reload, and pass the report to the waiting caller."""
        if not text.startswith('{"reloaded":'):
            return False
        with contextlib.suppress(ValueError):
            if self._reloaded is not None and not self._reloaded.done():
                self._reloaded.set_result(json.loads(text))
        return True

    async def _kill_late(self) -> None:
        await self._stop_asked.wait()
        await asyncio.sleep(self.task.stop_s)
        self._signal(signal.SIGKILL)

    async def _pause(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._deaths.pause_s):
                await self._pause_cut.wait()
        if self.state.state is ProcessState.RESTARTING:
            self._pause_cut.clear()
            self.state.restarts += 1
            self._move(LifeEvent.PAUSE_OVER)

    def _note_start(self, pid: int) -> None:
        identity = ProcessIdentity.of(pid)
        self.state.pid, self.state.started, self.state.last_words = pid, identity.started if identity else "", ""
        self._changed()

    def _move(self, event: LifeEvent) -> ProcessState:
        state = self.state
        before, state.state = state.state, TRANSITIONS[state.state, event]
        if state.state is not before:
            state.since_s = time.time()
        state.pause_s = self._deaths.pause_s if state.state is ProcessState.RESTARTING else None
        if state.state in (ProcessState.RESTARTING, ProcessState.STOPPED, ProcessState.FAILED):
            state.pid, state.clients, state.admin = None, [], []
        self._changed()
        return state.state

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(number)


def _complaint(line: str) -> str:
    """Return a line that may explain the end of a process: any line except log lines of levels debug and info."""
    try:
        logged = json.loads(line)
        is_well = logged["level"] in ("debug", "info")
        return "" if is_well else str(logged["message"])
    except (ValueError, TypeError, KeyError):
        return line.strip()

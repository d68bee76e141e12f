"""One router process: started, listened to, started again when it ends, stopped and told to reload when asked.

Law: no process is left behind: `run` ends only when the last process it started has ended. A process has a session of
its own, so that Ctrl-C at the terminal reaches the supervisor alone, which then asks for a clean end.
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
"""Bytes of a line of a log; of a longer one only the end is kept."""
LAST_WORDS_CHARACTERS_MAX = 500
RELOAD_S = 10.0
"""Seconds within which a router says what it made of a SIGHUP."""


class Keeper:
    def __init__(self, task: Task, log: Handler, patience: RestartPolicy, changed: Callable[[], None]) -> None:
        """Keep the process of `task`, which may be replaced for later starts. `changed` is called after each change of
        `state`."""
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
        """Keep the process up until it has stopped or failed."""
        try:
            while self.state.state is ProcessState.STARTING:
                if self._move(self._meaning(await self._life())) is ProcessState.RESTARTING:
                    await self._pause()
            if self.state.state is ProcessState.STOPPING:  # asked to stop before anything was started
                self._move(LifeEvent.ENDED)
        finally:
            self._log.close()

    def stop(self) -> None:
        """Ask for a clean end; a second call asks for a quick one."""
        self._move(LifeEvent.STOP_ASKED)
        self._stop_asked.set()
        self._pause_cut.set()
        self._signal(signal.SIGTERM)

    def begin(self) -> None:
        """Make ready for another `run`, after one that has ended; or cut the pause short before the next start."""
        if self.state.state is ProcessState.RESTARTING:
            self._pause_cut.set()
            return
        self._deaths = Deaths(self._patience)
        self._stop_asked.clear()
        self._pause_cut.clear()
        self.state.restarts, self.state.exit_code, self.state.last_words = 0, None, ""
        self._move(LifeEvent.START_ASKED)

    async def reload(self) -> dict[str, Any]:
        """Tell the process to read its file again; return what it says of that. SupervisorError if it says nothing."""
        if self.state.state is not ProcessState.READY:
            raise SupervisorError(f"it is {self.state.state}, and reads the file when it starts")
        if self._reloaded is None or self._reloaded.done():
            self._reloaded = asyncio.get_running_loop().create_future()
        self._signal(signal.SIGHUP)
        try:
            async with asyncio.timeout(RELOAD_S):
                return await asyncio.shield(self._reloaded)
        except TimeoutError:
            raise SupervisorError(f"it did not say within {RELOAD_S:g} s what it made of the file") from None

    def _meaning(self, lived_s: float) -> LifeEvent:
        """Return what the end of the process means, which lived for `lived_s` seconds."""
        if self.state.exit_code == CANNOT_START and self.state.state in (ProcessState.STARTING, ProcessState.STOPPING):
            return LifeEvent.ENDED_FOR_GOOD
        return self._deaths.after(lived_s)

    async def _life(self) -> float:
        """Run one process from its start to its end; return how long it lived, in seconds."""
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
            self._signal(signal.SIGKILL)  # has no effect unless this function itself was cut short
            await process.wait()
            self._process = None
        return time.monotonic() - began_s

    async def _listen(self, stdout: asyncio.StreamReader | None) -> None:
        """Take in where the process listens, which its first line says, and what it says of reloads; further lines go
        to the log."""
        assert stdout is not None  # noqa: S101 - asked for above
        with contextlib.suppress(ValueError, TypeError):
            said = json.loads(await stdout.readline())
            self.state.clients, self.state.admin = said.get("clients", []), said.get("admin", [])
            self._move(LifeEvent.SAID_READY)
        await self._copy(stdout)

    async def _copy(self, stream: asyncio.StreamReader | None) -> None:
        assert stream is not None  # noqa: S101 - asked for above
        while True:
            try:
                line = await stream.readline()
            except ValueError:  # too long a line: what was read of it is gone
                continue
            if not line:
                return
            text = line.decode(errors="replace").rstrip("\n")
            if self._is_reloaded(text):
                continue
            self.state.last_words = _complaint(text)[:LAST_WORDS_CHARACTERS_MAX] or self.state.last_words
            self._log.handle(logging.makeLogRecord({"msg": text}))

    def _is_reloaded(self, text: str) -> bool:
        """Return whether a line says how a reload went; the one who waits for that is told."""
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
    """Return what may say why a process ended: any line except those of the log that report all is well."""
    try:
        logged = json.loads(line)
        is_well = logged["level"] in ("debug", "info")
        return "" if is_well else str(logged["message"])
    except (ValueError, TypeError, KeyError):
        return line.strip()

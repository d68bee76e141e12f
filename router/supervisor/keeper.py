"""One router process: started, listened to, started again when it ends, stopped when asked.

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
from collections.abc import Callable, Sequence
from logging import Handler

from tamis.router.supervisor.identity import ProcessIdentity
from tamis.router.supervisor.life import TRANSITIONS, Deaths, LifeEvent, ProcessState, RestartPolicy
from tamis.router.supervisor.state import RouterState

LINE_BYTES_MAX = 262_144
"""Bytes of a line of a log; of a longer one only the end is kept."""
LAST_WORDS_CHARACTERS_MAX = 500


class Keeper:
    def __init__(
        self, command: Sequence[str], log: Handler, patience: RestartPolicy, stop_s: float, changed: Callable[[], None]
    ) -> None:
        """Keep a process that `command` starts. `changed` is called after each change of `state`; a process that has
        not ended `stop_s` seconds after it was asked to is killed."""
        self.state = RouterState()
        self._command = command
        self._log = log
        self._deaths = Deaths(patience)
        self._stop_s = stop_s
        self._changed = changed
        self._stop_asked = asyncio.Event()
        self._process: asyncio.subprocess.Process | None = None

    async def run(self) -> None:
        """Keep the process up until it has stopped for good."""
        try:
            while self.state.state is ProcessState.STARTING:
                if self._move(self._deaths.after(await self._life())) is ProcessState.RESTARTING:
                    await self._pause()
            if self.state.state is ProcessState.STOPPING:  # asked to stop before anything was started
                self._move(LifeEvent.ENDED)
        finally:
            self._log.close()

    def stop(self) -> None:
        """Ask for a clean end; a second call asks for a quick one."""
        self._move(LifeEvent.STOP_ASKED)
        self._stop_asked.set()
        self._signal(signal.SIGTERM)

    async def _life(self) -> float:
        """Run one process from its start to its end; return how long it lived, in seconds."""
        began_s = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            *self._command,
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
        """Take in where the process listens, which its first line says; further lines go to the log."""
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
            self.state.last_words = _complaint(text)[:LAST_WORDS_CHARACTERS_MAX] or self.state.last_words
            self._log.handle(logging.makeLogRecord({"msg": text}))

    async def _kill_late(self) -> None:
        await self._stop_asked.wait()
        await asyncio.sleep(self._stop_s)
        self._signal(signal.SIGKILL)

    async def _pause(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._deaths.pause_s):
                await self._stop_asked.wait()
        if self.state.state is ProcessState.RESTARTING:
            self.state.restarts += 1
            self._move(LifeEvent.PAUSE_OVER)

    def _note_start(self, pid: int) -> None:
        identity = ProcessIdentity.of(pid)
        self.state.pid, self.state.started, self.state.last_words = pid, identity.started if identity else "", ""
        self._changed()

    def _move(self, event: LifeEvent) -> ProcessState:
        state = self.state
        state.state = TRANSITIONS[state.state, event]
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

"""The supervision of all routers of a plan, until each has stopped or failed.

Law: neither a state file that cannot be written, as on a full disk, nor a display that fails, as on a closed pipe,
harms a router. A signal stops all routers; a terminal that is closed sends one. A router that was stopped alone may be
started again, and the supervisor stays for it; the supervisor ends when all were stopped together, or when all have
failed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Mapping
from typing import Any, Final

from tamis.router.supervisor.control import ControlDoor
from tamis.router.supervisor.identity import ProcessIdentity
from tamis.router.supervisor.life import SETTLED, ProcessState, RestartPolicy
from tamis.router.supervisor.plan import Task, plan
from tamis.router.supervisor.process_supervisor import ProcessSupervisor
from tamis.router.supervisor.state import NetworkState, StateFolder, SupervisorError

Show = Callable[[NetworkState], None]
Plan = Callable[[], Mapping[str, Task]]
ORDINARY: Final = RestartPolicy()
STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that stop all routers; SIGHUP is sent when the terminal is closed."""

_log = logging.getLogger(__name__)


def keep_up(file: str, machine: str | None, is_insecure: bool, show: Show) -> bool:
    """Run the routers of a file until a request to stop; return whether all of them ended cleanly.

    ConfigError or SupervisorError if they cannot start. `show` is called at every change.
    """

    def planned() -> dict[str, Task]:
        return plan(file, machine, is_insecure)

    tasks = planned()
    folder = StateFolder.of(file)
    folder.claim()
    try:
        return asyncio.run(Supervisor(file, tasks, folder, show, plan=planned).run())
    finally:
        folder.release()


class Supervisor:
    def __init__(
        self,
        file: str,
        tasks: Mapping[str, Task],
        folder: StateFolder,
        show: Show,
        patience: RestartPolicy = ORDINARY,
        plan: Plan | None = None,
    ) -> None:
        """Supervise the processes of `tasks`. The caller has locked `folder`. `plan` returns the tasks that the file
        requires now."""
        self._folder, self._show, self._patience = folder, show, patience
        self._plan: Plan = plan or (lambda: tasks)
        self._keepers = {router_id: self._keeper(router_id, task) for router_id, task in tasks.items()}
        self._runs: dict[str, asyncio.Task[None]] = {}
        self._is_stopping = False
        self._over = asyncio.Event()
        self._moved = asyncio.Event()
        supervisor = ProcessIdentity.of(os.getpid())
        assert supervisor is not None  # noqa: S101 - this process exists
        self.state = NetworkState(file, supervisor, 0.0, {})
        self._note_keepers()

    async def run(self) -> bool:
        """Start all routers and run until none is left; return whether all were stopped on request, and cleanly."""
        loop = asyncio.get_running_loop()
        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, self.stop)
        door = ControlDoor(self._folder.path, self)
        self._changed()
        try:
            async with door.opened(), asyncio.TaskGroup() as self._tasks:
                for router_id in self._keepers:
                    self._run(router_id)
                await self._over.wait()
        finally:
            self._folder.forget()
            for number in STOP_SIGNALS:
                loop.remove_signal_handler(number)
        return all(router.is_clean_end for router in self.state.routers.values())

    def stop(self) -> None:
        """Request a clean end of all routers; a second call requests an immediate one."""
        self._is_stopping = True
        for keeper in self._keepers.values():
            keeper.stop()
        self._look_whether_over()

    # --- requests about single routers (control.py)

    async def stop_router(self, router_id: str) -> dict[str, Any]:
        """Stop one router, which stays stopped until a request to start it."""
        keeper = self._found(router_id)
        if keeper.state.state in (ProcessState.STOPPED, ProcessState.FAILED):
            raise SupervisorError(f"{router_id} is {keeper.state.state} already")
        await self._end(router_id, keeper)
        return {"router": router_id} | keeper.state.form()

    async def start_router(self, router_id: str) -> dict[str, Any]:
        """Start one router that is stopped, has failed, or pauses before a restart."""
        keeper = self._found(router_id)
        if keeper.state.state in (ProcessState.STARTING, ProcessState.READY):
            raise SupervisorError(f"{router_id} is {keeper.state.state} already")
        return await self._begin(router_id, keeper)

    async def restart_router(self, router_id: str) -> dict[str, Any]:
        """Stop one router if it runs, and start it."""
        keeper = self._found(router_id)
        if keeper.state.state not in (ProcessState.STOPPED, ProcessState.FAILED):
            await self._end(router_id, keeper)
        return await self._begin(router_id, keeper)

    async def reload_router(self, router_id: str) -> dict[str, Any]:
        """Let one router reload its file; return its report."""
        return {"router": router_id} | await self._found(router_id).reload()

    async def adopt(self) -> dict[str, Any]:
        """Start the routers that are new in the file, and stop and remove those that are gone from it."""
        tasks = await asyncio.to_thread(self._plan)
        gone = [router_id for router_id in self._keepers if router_id not in tasks]
        new = [router_id for router_id in tasks if router_id not in self._keepers]
        for router_id in set(tasks) - set(new):
            self._keepers[router_id].task = tasks[router_id]
        for router_id in gone:
            await self._end(router_id, self._keepers[router_id])
            del self._keepers[router_id]
        for router_id in new:
            self._keepers[router_id] = self._keeper(router_id, tasks[router_id])
        self._note_keepers()
        for router_id in new:
            self._run(router_id)
        await asyncio.gather(*(self._settled(self._keepers[router_id]) for router_id in new))
        return {"stopped": gone, "started": {router_id: self._keepers[router_id].state.form() for router_id in new}}

    def _found(self, router_id: str) -> ProcessSupervisor:
        if self._is_stopping:
            raise SupervisorError("all routers are being stopped")
        if router_id not in self._keepers:
            raise SupervisorError(f"there is no router {router_id!r}; routers: {', '.join(self._keepers)}")
        return self._keepers[router_id]

    async def _end(self, router_id: str, keeper: ProcessSupervisor) -> None:
        keeper.stop()
        await asyncio.wait([self._runs[router_id]])

    async def _begin(self, router_id: str, keeper: ProcessSupervisor) -> dict[str, Any]:
        if self._is_stopping:
            raise SupervisorError("all routers are being stopped")
        is_running = keeper.state.state is ProcessState.RESTARTING
        keeper.begin()
        if not is_running:
            await asyncio.wait([self._runs[router_id]])
            self._run(router_id)
        await self._settled(keeper)
        return {"router": router_id} | keeper.state.form()

    async def _settled(self, keeper: ProcessSupervisor) -> None:
        while keeper.state.state not in SETTLED:
            self._moved.clear()
            await self._moved.wait()

    # --- keepers

    def _keeper(self, router_id: str, task: Task) -> ProcessSupervisor:
        return ProcessSupervisor(task, self._folder.log(router_id), self._patience, self._changed)

    def _note_keepers(self) -> None:
        self.state.routers = {router_id: keeper.state for router_id, keeper in self._keepers.items()}
        self.state.stop_s = max(keeper.task.stop_s for keeper in self._keepers.values())

    def _run(self, router_id: str) -> None:
        self._runs[router_id] = self._tasks.create_task(self._keepers[router_id].run(), name=router_id)

    def _changed(self) -> None:
        self._moved.set()
        self._look_whether_over()
        try:
            self._folder.write(self.state)
        except OSError as error:
            _log.warning("the state of the routers cannot be written: %s", error)
        try:
            self._show(self.state)
        except OSError as error:
            self._show = _nobody
            _log.warning("the state of the routers can no longer be shown: %s", error)

    def _look_whether_over(self) -> None:
        states = {keeper.state.state for keeper in self._keepers.values()}
        has_ended = states <= {ProcessState.STOPPED, ProcessState.FAILED}
        if has_ended and (self._is_stopping or ProcessState.STOPPED not in states):
            self._over.set()


def _nobody(_: NetworkState) -> None:
    pass

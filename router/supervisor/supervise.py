"""All routers of a plan, until each has stopped or failed.

Law: neither a state file that cannot be written, as the disk is full, nor a display that cannot, as nobody reads the
pipe any more, harms a router. A signal stops all routers; a terminal that is closed sends one.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Mapping
from typing import Final

from tamis.router.supervisor.identity import ProcessIdentity
from tamis.router.supervisor.keeper import Keeper
from tamis.router.supervisor.life import RestartPolicy
from tamis.router.supervisor.plan import Task, plan
from tamis.router.supervisor.state import NetworkState, StateFolder

Show = Callable[[NetworkState], None]
ORDINARY: Final = RestartPolicy()
STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that stop all routers; SIGHUP comes when the terminal is closed."""

_log = logging.getLogger(__name__)


def keep_up(file: str, machine: str | None, is_insecure: bool, show: Show) -> bool:
    """Run the routers of a file until they are told to stop; return whether all of them ended cleanly.

    ConfigError or SupervisorError where they cannot begin. `show` is called at every change.
    """
    tasks = plan(file, machine, is_insecure)
    folder = StateFolder.of(file)
    folder.claim()
    try:
        return asyncio.run(Supervisor(file, tasks, folder, show).run())
    finally:
        folder.release()


class Supervisor:
    def __init__(
        self, file: str, tasks: Mapping[str, Task], folder: StateFolder, show: Show, patience: RestartPolicy = ORDINARY
    ) -> None:
        """Keep the processes of `tasks` up. The caller has claimed `folder`."""
        self._keepers = {
            router_id: Keeper(task.command, folder.log(router_id), patience, task.stop_s, self._changed)
            for router_id, task in tasks.items()
        }
        supervisor = ProcessIdentity.of(os.getpid())
        assert supervisor is not None  # noqa: S101 - this process exists
        routers = {router_id: keeper.state for router_id, keeper in self._keepers.items()}
        self.state = NetworkState(file, supervisor, max(task.stop_s for task in tasks.values()), routers)
        self._folder = folder
        self._show = show

    async def run(self) -> bool:
        """Start all routers and stay until none is left; return whether all were stopped on request, and cleanly."""
        loop = asyncio.get_running_loop()
        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, self.stop)
        self._changed()
        try:
            async with asyncio.TaskGroup() as tasks:
                for router_id, keeper in self._keepers.items():
                    tasks.create_task(keeper.run(), name=router_id)
        finally:
            self._folder.forget()
            for number in STOP_SIGNALS:
                loop.remove_signal_handler(number)
        return all(router.is_clean_end for router in self.state.routers.values())

    def stop(self) -> None:
        for keeper in self._keepers.values():
            keeper.stop()

    def _changed(self) -> None:
        try:
            self._folder.write(self.state)
        except OSError as error:
            _log.warning("the state of the routers cannot be written: %s", error)
        try:
            self._show(self.state)
        except OSError as error:
            self._show = _nobody
            _log.warning("the state of the routers is not shown any more: %s", error)


def _nobody(_: NetworkState) -> None:
    pass

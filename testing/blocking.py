"""Routers for tests that have no event loop; they may also be used inside one.

    with blocking.running(folder, line("a", "b")) as network:
        network.until_linked()
        network["b"].kill()

Law: this file makes no decisions. An event loop in a thread runs the routers of `tamis.testing.running`, and each
method waits for the method of equal name there.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, TypeVar

from tamis.testing import network as network_module
from tamis.testing import router as router_module
from tamis.testing.links import ProxyState
from tamis.testing.network import LINKED_S, NetworkPlan, RouterNetwork
from tamis.testing.router import RouterProcess

T = TypeVar("T")


class LoopThread:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="routers under test")
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run `coroutine` in the thread; return its result, or raise its error. After Ctrl-C it is cancelled."""
        running = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return running.result()
        finally:
            running.cancel()

    @contextlib.contextmanager
    def entered(self, manager: AbstractAsyncContextManager[T]) -> Iterator[T]:
        """Enter `manager` in the thread and yield its value; leave it there afterwards."""
        value = self.run(_enter(manager))
        try:
            yield value
        except BaseException as error:
            self.run(_leave(manager, error))
            raise
        self.run(_leave(manager, None))

    @property
    def is_open(self) -> bool:
        return not self._loop.is_closed()

    def close(self) -> None:
        """Cancel the tasks in the thread, let them end, and end the thread."""
        self.run(_end_others())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _end_others() -> None:
    """Cancel all other tasks of this loop; return when they have ended."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


async def _enter(manager: AbstractAsyncContextManager[T]) -> T:
    return await manager.__aenter__()


async def _leave(manager: AbstractAsyncContextManager[object], error: BaseException | None) -> None:
    """Leave `manager`. An error that it passes through is raised by the block itself; another error is raised here."""
    try:
        await manager.__aexit__(None if error is None else type(error), error, error.__traceback__ if error else None)
    except BaseException as other:
        if other is not error:
            raise


class BlockingRouter:
    """A `RouterProcess` whose methods return when they are done. `process` has the other attributes."""

    def __init__(self, process: RouterProcess, loop: LoopThread) -> None:
        self.process, self._loop = process, loop

    @property
    def name(self) -> str:
        return self.process.name

    @property
    def file(self) -> Path:
        """The router's topology file."""
        return self.process.file

    @property
    def log(self) -> Path:
        """The file of the router's log."""
        return self.process.log

    @property
    def said(self) -> Mapping[str, Any]:
        """The addresses that the router reported when it was ready."""
        return self.process.said

    @property
    def address(self) -> str:
        """The address for clients, for `tamis.blocking.connect`."""
        return self.process.address

    @property
    def port(self) -> int:
        """The TCP port for clients; ValueError if the router accepts clients on a Unix socket."""
        return self.process.port

    @property
    def admin(self) -> str:
        """The address of administration, for `tamis status`."""
        return self.process.admin

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def is_running(self) -> bool:
        return self.process.is_running

    def start(self) -> None:
        """Start a process; return when it listens. NotReady if it ends before, or does not listen in time."""
        self._loop.run(self.process.start())

    def kill(self) -> None:
        """End the router with SIGKILL, like a power failure; return when it is gone."""
        self._loop.run(self.process.kill())

    def leave(self) -> int:
        """End the router with SIGTERM, like an operator; return its exit code when it is gone."""
        return self._loop.run(self.process.leave())

    def pause(self) -> None:
        """Stop the router with SIGSTOP: its connections stay open, and nothing is processed."""
        self.process.pause()

    def resume(self) -> None:
        """Continue the router after `pause`."""
        self.process.resume()

    def ask(self, path: str) -> Any:  # noqa: ANN401 - what JSON gives
        """Return a page of its administration, such as "/status"; OSError if it does not answer."""
        return self._loop.run(self.process.ask(path))


class BlockingNetwork:
    """A `RouterNetwork` whose methods return when they are done. `network["a"]` is a router."""

    def __init__(self, network: RouterNetwork, loop: LoopThread) -> None:
        self._network, self._loop = network, loop
        self.routers = {name: BlockingRouter(each, loop) for name, each in network.routers.items()}

    def __getitem__(self, name: str) -> BlockingRouter:
        return self.routers[name]

    def status(self) -> dict[str, dict[str, Any]]:
        """Return the page /status of each router that runs, by name."""
        return self._loop.run(self._network.status())

    def set_link(self, a: str, b: str, state: ProxyState) -> float:
        """Make the link between two routers "open", "cut" or "dark"; the plan must have `is_proxied`."""
        return self._loop.run(self._network.set_link(a, b, state))

    def until_linked(self, patience_s: float = LINKED_S) -> None:
        """Wait until every router knows all others; NotLinked if that takes longer than `patience_s`."""
        self._loop.run(self._network.until_linked(patience_s))

    def until_quiet(self, quiet_s: float, patience_s: float) -> float | None:
        """Wait until no link or table has changed for `quiet_s`; None if that takes longer than `patience_s`."""
        return self._loop.run(self._network.until_quiet(quiet_s, patience_s))

    def until_at_rest(self, quiet_s: float, patience_s: float) -> None:
        """Wait until messages go only to routers with matching filters; NotLinked if that takes longer than
        `patience_s`."""
        self._loop.run(self._network.until_at_rest(quiet_s, patience_s))


@contextlib.contextmanager
def running(folder: Path, plan: NetworkPlan) -> Iterator[BlockingNetwork]:
    """Start the routers of a plan and yield them when they are ready, possibly not linked yet; all are gone afterwards.
    `folder` holds their files."""
    with (
        contextlib.closing(LoopThread()) as loop,
        loop.entered(network_module.running(folder, plan)) as network,
    ):
        yield BlockingNetwork(network, loop)


@contextlib.contextmanager
def started(
    file: Path,
    name: str,
    *,
    environment: Mapping[str, str] | None = None,
    prefix: Sequence[str] = (),
    options: Sequence[str] = (),
) -> Iterator[BlockingRouter]:
    """Start a router of your own topology file, and yield it when it is ready; the arguments are those of
    `tamis.testing.started`.

    At the end the router is stopped: EndedBadly if its exit code is not 0.
    """
    manager = router_module.started(file, name, environment=environment, prefix=prefix, options=options)
    with contextlib.closing(LoopThread()) as loop, loop.entered(manager) as router:
        yield BlockingRouter(router, loop)

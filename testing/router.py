"""One router as a process: started, queried, paused, killed, restarted.

Law: a killed router keeps its folder, and so its epoch and its records: restarted, it is that router again. Its log
lines are appended to `log`, over all of its lives.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tamis.router.supervisor.plan import router_command
from tamis.testing.errors import EndedBadly, NotReady
from tamis.testing.process import last_words, spawn

READY_S: Final = 60
LEAVE_S: Final = 60
"""Seconds in which a router must end: it drains its queues first, and `limits.drain_ms` of its topology is shorter."""
ASK_S: Final = 5


class RouterProcess:
    """A router of a topology file. `process` is its latest process, None before the first start."""

    def __init__(
        self,
        name: str,
        file: Path,
        *,
        environment: Mapping[str, str] | None = None,
        prefix: Sequence[str] = (),
        options: Sequence[str] = (),
    ) -> None:
        """`name` is its id in `file`. `environment` is added to that of this process; `prefix` precedes the command
        (such as `prlimit --nofile=64`), `options` follow it."""
        self.name, self.file = name, file
        self.log = file.with_name(f"{name}.log")
        self.said: dict[str, Any] = {}
        """The report of the router when it was ready: its addresses `clients` and `admin`, and `pid`. Empty before
        that."""
        self.process: asyncio.subprocess.Process | None = None
        self.is_paused = False
        self._environment = dict(environment or {})
        self._command = (*prefix, *router_command(file), "--id", name, *options)

    # --- addresses ---------------------------------------------------------------------------------------------------

    @property
    def address(self) -> str:
        """The address for clients, for `tamis.connect`; NotReady before the router has reported it."""
        return self._listens("clients")

    @property
    def port(self) -> int:
        """The TCP port for clients; ValueError if the router accepts clients on a Unix socket."""
        return int(self.address.rpartition(":")[2])

    @property
    def admin(self) -> str:
        """The address of administration, for `tamis status`: host:port or unix:path."""
        return self._listens("admin").removeprefix("http://")

    @property
    def pid(self) -> int:
        """The id of the latest process; NotReady before the first start."""
        return self._started().pid

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.returncode is None

    def _listens(self, purpose: str) -> str:
        if not self.said:
            raise NotReady(f"router {self.name} has not reported its addresses: it is not ready")
        if not self.said.get(purpose):
            raise NotReady(f"router {self.name} has no address for {purpose} in {self.file}")
        first: str = self.said[purpose][0]
        return first

    def _started(self) -> asyncio.subprocess.Process:
        if self.process is None:
            raise NotReady(f"router {self.name} was never started")
        return self.process

    # --- life --------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Start a process; return when it listens. NotReady if it ends before, or takes longer than READY_S."""
        self.said = {}
        self.process = await spawn(self._command, self.log, self._environment)
        assert self.process.stdout  # noqa: S101 - asked for by spawn
        try:
            async with asyncio.timeout(READY_S):
                line = await self.process.stdout.readline()
        except TimeoutError:
            await self.kill()
            raise NotReady(f"router {self.name} does not listen after {READY_S} s: {last_words(self.log)}") from None
        if not line:
            code = await self.process.wait()
            raise NotReady(f"router {self.name} ended with {code}: {last_words(self.log)}")
        self.said = json.loads(line)

    async def kill(self) -> None:
        """End the router with SIGKILL, like a power failure; return when it is gone. Do nothing if it is not
        running."""
        if self.is_running:
            self.send_signal(signal.SIGKILL)
            await self._started().wait()
        self.is_paused = False

    async def leave(self) -> int:
        """End the router with SIGTERM, like an operator; return its exit code when it is gone. EndedBadly after
        LEAVE_S."""
        self.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(LEAVE_S):
                return await self._started().wait()
        except TimeoutError:
            await self.kill()
            raise EndedBadly(f"router {self.name} still ran {LEAVE_S} s after SIGTERM") from None

    def pause(self) -> None:
        """Stop the router with SIGSTOP: its connections stay open, and nothing is processed."""
        self.send_signal(signal.SIGSTOP)
        self.is_paused = True

    def resume(self) -> None:
        """Continue the router after `pause`."""
        self.send_signal(signal.SIGCONT)
        self.is_paused = False

    def send_signal(self, number: int) -> None:
        """Send a signal to the router; do nothing if it has just ended."""
        with contextlib.suppress(ProcessLookupError):
            self._started().send_signal(number)

    # --- administration ----------------------------------------------------------------------------------------------

    async def ask(self, path: str) -> Any:  # noqa: ANN401 - what JSON gives
        """Return a page of its administration, such as "/status", decoded from JSON.

        OSError if the router does not answer in ASK_S, or refuses; the answer of /readyz that something is missing is
        no refusal.
        """
        async with asyncio.timeout(ASK_S):
            reader, writer = await self._connected_to_admin()
            with contextlib.closing(writer):
                host = "localhost" if self.admin.startswith("unix:") else self.admin
                writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
                head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        status = head.split(b" ", 2)[1:2]
        if status not in ([b"200"], [b"503"]):
            raise OSError(f"router {self.name} refused {path}: {body.decode(errors='replace') or 'no answer'}")
        return json.loads(body)

    async def _connected_to_admin(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self.admin.startswith("unix:"):
            return await asyncio.open_unix_connection(self.admin.removeprefix("unix:"))
        host, _, port = self.admin.rpartition(":")
        return await asyncio.open_connection(host.strip("[]"), int(port))


@contextlib.asynccontextmanager
async def started(
    file: Path,
    name: str,
    *,
    environment: Mapping[str, str] | None = None,
    prefix: Sequence[str] = (),
    options: Sequence[str] = (),
) -> AsyncIterator[RouterProcess]:
    """Start a router of your own topology file, and yield it when it is ready. At the end it is stopped: EndedBadly if
    its exit code is not 0; a router that the block has killed is left as it is."""
    router = RouterProcess(name, file, environment=environment, prefix=prefix, options=options)
    try:
        await router.start()
        yield router
        if router.is_running:
            router.resume()
            if code := await router.leave():
                raise EndedBadly(f"router {name} ended with {code}: {last_words(router.log)}")
    finally:
        await router.kill()

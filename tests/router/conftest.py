"""Routers to test against: the connections inside the test's own loop, and whole daemons as processes."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
import uvloop

from tamis.configs import Address, parse_topology
from tamis.configs.access.load import parse_access
from tamis.router.access.in_force import AccessInForce
from tamis.router.admin.view import RouterLife, RouterView
from tamis.router.clients.clients import Clients
from tamis.router.clients.tokens import TokenFile
from tamis.router.connections.certificate_watch import CertificateWatch
from tamis.router.connections.connections import Connections
from tamis.router.connections.peer import FULL
from tamis.router.daemon.stalls import StallWatch
from tamis.router.durable.begin import start_durables
from tamis.router.durable.service import DurableService
from tamis.serving.listeners import Acceptor, bind
from tamis.testing import NotReady, RouterProcess
from tamis.testing.blocking import LoopThread
from tests.router.wire_client import POLL_S, WireClient, close_all

LOOP = "_asyncio_loop_factory"
"""The parameter by which pytest-asyncio gives a test its loop."""


def pytest_asyncio_loop_factories(item):
    """What runs in the test's own loop runs on both; a daemon of its own has its own loop."""
    factories = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
    return {"asyncio": asyncio.new_event_loop} if {"process", "daemons"} & {*item.fixturenames} else factories


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark one of the two runs of a test that has both loops `slow`.

    The test's name decides which, so that about half of what is left runs on each loop."""
    for item in items:
        loops = {"asyncio", "uvloop"} & set(item.callspec.id.split("-")) if LOOP in _parameters(item) else ()
        for loop in loops:
            name = item.nodeid.replace(loop, "")
            if loop != ("asyncio", "uvloop")[crc32(name.encode()) % 2]:
                item.add_marker(pytest.mark.slow)


def _parameters(item):
    return item.callspec.params if hasattr(item, "callspec") else {}


class Inside:
    """Connections that run in the test's loop, behind a Unix socket."""

    def __init__(self, folder: Path, keys: str, router: str, access: str) -> None:
        self.settings = parse_topology(f"{keys}\nrouters: {{a: {{{router}}}}}").router("a")
        loop = asyncio.get_running_loop()
        tokens = TokenFile(self.settings.tokens) if self.settings.tokens else None
        self.connections = Connections(self.settings, 5, loop)
        rules = AccessInForce(self.connections.switch, parse_access(access).rules) if access else None
        self.clients = Clients(self.connections, tokens, rules)
        self.certificates = CertificateWatch(self.connections.health)
        self.running = RouterView(
            self.connections, self.clients, StallWatch(loop), self.certificates, RouterLife.SERVING
        )
        [listener] = bind(Address("unix", path=str(folder / "a.sock")))
        self.where = str(listener.address)
        self._acceptor = Acceptor(listener, self.clients, loop, FULL)
        self.connections.start()
        self.durables: DurableService | None = None

    def store(self) -> None:
        """Serve durable subscriptions from a log in the `data` of the settings."""
        service = start_durables(self.clients, lambda _service: None)
        assert isinstance(service, DurableService)
        self.durables = service

    async def client(self, name: str, **more: object) -> WireClient:
        return await WireClient.greeted(self.where, name, **more)

    async def stranger(self) -> WireClient:
        """Connected, and has said nothing."""
        return await WireClient.connect(self.where, "nobody")

    async def until(self, is_so) -> None:
        async with asyncio.timeout(10):
            while not is_so():
                await asyncio.sleep(POLL_S)

    async def close(self) -> None:
        self.connections.switch.validate()
        self.connections.table.validate()
        self._acceptor.close()
        if self.durables is not None:
            self.durables.close_replays()
        self.connections.close()
        if self.durables is not None:
            self.durables.close_log()


@pytest.fixture
async def inside(tmp_path):
    """inside(keys, router, access) -> connections with these settings and rules."""
    made = []

    def make(keys: str = "", router: str = "", access: str = "") -> Inside:
        made.append(Inside(tmp_path, keys, router, access))
        return made[-1]

    yield make
    await close_all()
    for item in made:
        await item.close()


@pytest.fixture(autouse=True)
async def _clients_are_closed():
    yield
    await close_all()


@pytest.fixture
def daemons() -> None:
    """Routers are processes of their own: once is enough."""


class Process:
    """A daemon of its own, which is ready or has refused to start."""

    def __init__(self, folder: Path, topology: str, *options: str) -> None:
        self.file = folder / "net.yaml"
        self.file.write_text(topology)
        self._router = RouterProcess("a", self.file, options=options)
        self._loop = LoopThread()
        with contextlib.suppress(NotReady):
            self._loop.run(self._router.start())

    @property
    def ready(self) -> dict[str, Any]:
        """What it said when it was ready; empty if it refused to start."""
        return self._router.said

    @property
    def where(self) -> str:
        return self.ready["clients"][0]

    @property
    def admin(self) -> str:
        return self.ready["admin"][0].removeprefix("unix:")

    @property
    def pid(self) -> int:
        return self._router.pid

    def logged(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.errors.splitlines() if line.startswith("{")]

    @property
    def errors(self) -> str:
        return self._router.log.read_text()

    def signal(self, number: int) -> None:
        self._router.send_signal(number)

    async def exit_code(self) -> int:
        return await asyncio.to_thread(self.wait, 30)

    def wait(self, patience_s: float) -> int:
        """Its exit code, when it has ended; TimeoutError if it takes longer."""
        return self._loop.run(asyncio.wait_for(self._router.process.wait(), patience_s))

    def close(self) -> None:
        """End it with SIGKILL; a second time, nothing happens."""
        if self._loop.is_open:
            self._loop.run(self._router.kill())
            self._loop.close()


@pytest.fixture
def process(tmp_path):
    """process(topology, *options) -> a daemon that is ready, or that has refused to start."""
    made = []

    def make(topology: str, *options: str) -> Process:
        made.append(Process(tmp_path, topology, *options))
        return made[-1]

    yield make
    for item in made:
        item.close()

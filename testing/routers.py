"""Routers as processes on loopback, from a list of links.

    async with running(folder, Wanted(("a", "b", "c"), (("a", "b", 1), ("b", "c", 1)))) as network:
        await network.kill("b")

Law: each router has a topology file of its own, in which its neighbours are reached through the proxy of that very
link. Who is killed keeps its folder, and so its epoch.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from tamis.protocol.errors import TamisError
from tamis.protocol.wire.numbers import stable_number
from tamis.testing.links import Links, Seen, State
from tamis.testing.ports import lasting_port

READY_S: Final = 60
ASK_S: Final = 5
QUIET_POLL_S: Final = 0.05


class NotReady(TamisError):
    """A router did not start; its log says why."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """`links` as (one end, other end, cost); those in `missing` do not work at first. `keys` go into the topology,
    `environments` are what some of the routers see besides ours."""

    routers: tuple[str, ...]
    links: tuple[tuple[str, str, int], ...]
    missing: frozenset[str] = frozenset()
    keys: dict[str, object] = field(default_factory=dict)
    keepalive: dict[str, int] = field(default_factory=dict)
    environments: dict[str, dict[str, str]] = field(default_factory=dict)
    is_proxied: bool = True


def link_name(a: str, b: str) -> str:
    return f"{min(a, b)}-{max(a, b)}"


class Router:
    """One that has run at least once. `process` is the last one."""

    def __init__(self, name: str, file: Path, environment: Mapping[str, str] | None = None) -> None:
        """`environment`: what it sees besides ours."""
        self.name, self.file, self._environment = name, file, dict(environment or {})
        self.clients_port, self.neighbours_port = lasting_port(), lasting_port()
        self.admin = file.with_suffix(".sock")
        self.process: asyncio.subprocess.Process | None = None
        self.is_stopped = False

    @property
    def address(self) -> str:
        """For clients."""
        return f"tamis://127.0.0.1:{self.clients_port}"

    @property
    def pid(self) -> int:
        assert self.process is not None  # noqa: S101
        return self.process.pid

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.returncode is None

    async def start(self) -> None:
        """Returns when it is ready."""
        command = [sys.executable, "-P", "-m", "tamis.cli.main", "router", "--json-logs"]
        guard = [shutil.which("setpriv") or "", "--pdeathsig", "KILL"]
        with self.file.with_suffix(".log").open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *(guard if guard[0] else []),
                *command,
                *("--topology", str(self.file), "--id", self.name),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env=os.environ | self._environment,
                start_new_session=True,
            )
        assert self.process.stdout  # noqa: S101 - asked for above
        async with asyncio.timeout(READY_S):
            line = await self.process.stdout.readline()
        if not line:
            last = self.file.with_suffix(".log").read_text().splitlines()[-3:]
            raise NotReady(f"router {self.name}: {' | '.join(last)}")

    async def kill(self) -> None:
        if self.is_running:
            assert self.process is not None  # noqa: S101
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGKILL)
            await self.process.wait()
        self.is_stopped = False

    async def leave(self) -> None:
        """As it is asked to: it drains."""
        assert self.process is not None  # noqa: S101
        self.process.terminate()
        await self.process.wait()

    def stop(self, is_stopped: bool) -> None:
        assert self.process is not None  # noqa: S101
        self.process.send_signal(signal.SIGSTOP if is_stopped else signal.SIGCONT)
        self.is_stopped = is_stopped

    async def ask(self, path: str) -> Any:  # noqa: ANN401 - what JSON gives
        """A page of its administration; OSError if it does not answer."""
        async with asyncio.timeout(ASK_S):
            reader, writer = await asyncio.open_unix_connection(self.admin)
            with contextlib.closing(writer):
                writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
                answer = await reader.read()
        return json.loads(answer.partition(b"\r\n\r\n")[2])


class Network:
    def __init__(self, folder: Path, wanted: Wanted, seen: Seen) -> None:
        self.wanted = wanted
        self.routers = {
            name: Router(name, folder / f"{name}.yaml", wanted.environments.get(name, {})) for name in wanted.routers
        }
        self.ends = {link_name(a, b): (a, b) for a, b, _ in wanted.links}
        self.links = Links(seen)

    async def start(self) -> None:
        if self.wanted.is_proxied:
            targets = {name: self.routers[_accepting(*ends)].neighbours_port for name, ends in self.ends.items()}
            states: dict[str, State] = {name: "cut" if name in self.wanted.missing else "open" for name in targets}
            await self.links.start(targets, states)
        for router in self.routers.values():
            router.file.write_text(yaml.safe_dump(self._topology(router)))
        await asyncio.gather(*(router.start() for router in self.routers.values()))

    async def close(self) -> None:
        await asyncio.gather(*(router.kill() for router in self.routers.values()))
        await self.links.close()

    def _topology(self, router: Router) -> dict[str, object]:
        """As this router reads it."""
        routers: dict[str, object] = {}
        for name, each in self.routers.items():
            ports = {"clients": f"127.0.0.1:{each.clients_port}", "neighbours": f"127.0.0.1:{each.neighbours_port}"}
            routers[name] = ports | {"admin": f"unix:{each.admin}", "data": str(each.file.with_suffix(""))}
            if self.wanted.is_proxied and link_name(router.name, name) in self.links.ports:
                routers[name] |= {"reached_at": f"127.0.0.1:{self.links.ports[link_name(router.name, name)]}"}  # type: ignore[operator]
        links = [{"ends": [a, b], "cost": cost} for a, b, cost in self.wanted.links]
        if self.wanted.keepalive:
            links = [link | {"keepalive": self.wanted.keepalive} for link in links]
        return {"routers": routers, "links": links} | self.wanted.keys

    async def status(self) -> dict[str, dict[str, Any]]:
        """Of those who run, by name; one that does not answer is left out."""
        asked = [router for router in self.routers.values() if router.is_running and not router.is_stopped]
        answers = await asyncio.gather(*(router.ask("/status") for router in asked), return_exceptions=True)
        return {
            router.name: answer
            for router, answer in zip(asked, answers, strict=True)
            if not isinstance(answer, BaseException)
        }

    async def until_quiet(self, quiet_s: float, patience_s: float) -> float | None:
        """The time since which all are quiet, once they are for `quiet_s`; None if that takes longer."""
        end_s = time.monotonic() + patience_s
        while True:
            asked_s = time.monotonic()
            quiet: list[float] = [each["network"]["quiet_s"] for each in (await self.status()).values()]
            if quiet and min(quiet) >= quiet_s:
                return asked_s - min(quiet)
            if time.monotonic() > end_s:
                return None
            await asyncio.sleep(QUIET_POLL_S)

    async def until_linked(self, patience_s: float = 30) -> None:
        """Every router that runs knows of all others, and is quiet for a moment."""
        count = sum(router.is_running for router in self.routers.values())
        async with asyncio.timeout(patience_s):
            while any(each["network"]["routers"] != count for each in (await self.status()).values()):
                await asyncio.sleep(QUIET_POLL_S)
            await self.until_quiet(0.3, patience_s)


def _accepting(a: str, b: str) -> str:
    """The end that is dialled: the larger number."""
    return max(a, b, key=stable_number)


@contextlib.asynccontextmanager
async def running(folder: Path, wanted: Wanted, seen: Seen = lambda _link, _what, _at: None) -> AsyncIterator[Network]:
    """All have started; all have gone afterwards."""
    network = Network(folder, wanted, seen)
    try:
        await network.start()
        yield network
    finally:
        await network.close()

"""The proxy as seen by who started it: the state of each link, and the sessions that it has seen come and go."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from typing import Literal

State = Literal["open", "cut", "dark"]
Seen = Callable[[str, str, float], None]
"""Link, "up" or "down", and when, by the monotonic clock."""


class Links:
    def __init__(self, seen: Seen) -> None:
        self.ports: dict[str, int] = {}
        self.states: dict[str, State] = {}
        self._seen = seen
        self._changing: dict[str, asyncio.Future[float]] = {}
        self._reading: asyncio.Task[None] | None = None
        self._process: asyncio.subprocess.Process

    async def start(self, targets: Mapping[str, int], states: Mapping[str, State]) -> None:
        """One link for each target port; returns when all can be connected to."""
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tamis.testing.proxy"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        for name, target in targets.items():
            self.states[name] = states[name]
            self._tell(name=name, target=target, state=states[name])
            said = json.loads(await self._line())
            self.ports[said["name"]] = said["port"]
        self._reading = asyncio.create_task(self._read(), name="proxy")

    async def set(self, name: str, state: State) -> float:
        """When it was done."""
        self.states[name] = state
        changed: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._changing[name] = changed
        self._tell(name=name, state=state)
        return await changed

    async def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            assert self._process.stdin  # noqa: S101 - asked for above
            self._process.stdin.close()
            await self._process.wait()

    async def _read(self) -> None:
        while line := await self._line():
            said = json.loads(line)
            if said["is"] in ("up", "down"):
                self._seen(said["name"], said["is"], said["at"])
            else:
                self._changing.pop(said["name"]).set_result(said["at"])

    def _tell(self, **words: object) -> None:
        assert self._process.stdin  # noqa: S101
        self._process.stdin.write(json.dumps(words).encode() + b"\n")

    async def _line(self) -> bytes:
        assert self._process.stdout  # noqa: S101
        return await self._process.stdout.readline()

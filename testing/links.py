"""The links of a network, changed and observed: each command is a line to the proxy, each answer a line from it."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from typing import Literal

ProxyState = Literal["open", "cut", "dark"]
Seen = Callable[[str, str, float], None]
"""Called with the name of a link, "up" or "down", and the time by the monotonic clock."""


class Links:
    """The links of a network. By name of a link, `ports` has the port to which it is connected, and `states` its
    current state."""

    def __init__(self, seen: Seen) -> None:
        self.ports: dict[str, int] = {}
        self.states: dict[str, ProxyState] = {}
        self._seen = seen
        self._changing: dict[str, asyncio.Future[float]] = {}
        self._reading: asyncio.Task[None] | None = None
        self._process: asyncio.subprocess.Process

    async def start(self, targets: Mapping[str, int], states: Mapping[str, ProxyState]) -> None:
        """Start the proxy; return when every link accepts connections.

        By the name of the link, `targets` are the ports where links lead, `states` their initial states.
        """
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "tamis.testing.proxy"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        for name, target in targets.items():
            self.states[name] = states[name]
            self._tell(name=name, target=target, state=states[name])
            said = json.loads(await self._line())
            self.ports[said["name"]] = said["port"]
        self._reading = asyncio.create_task(self._read(), name="proxy")

    async def set(self, name: str, state: ProxyState) -> float:
        """Change the state of a link; return the time of the change, by the monotonic clock."""
        self.states[name] = state
        changed: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._changing[name] = changed
        self._tell(name=name, state=state)
        return await changed

    async def close(self) -> None:
        """End the proxy, if it was started."""
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

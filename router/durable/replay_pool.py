"""Memory that all replays of a router share: a pool of bytes.

Law: half of the pool is for replays that wait for their clients, each of which holds its packed filters and little
else. The other half is for steps, which hold compiled filters and the messages found until those are sent to the
connection. A step waits only for the steps before it, in order of arrival, so that no client can block the pool.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from tamis.native.log_replay import RECORD_BYTES_MAX

TABLE_BYTES: Final = 8 << 20
"""Most bytes of the compiled filters of one replay."""
STEP_ROOM: Final = TABLE_BYTES + RECORD_BYTES_MAX
"""Bytes of the pool that one step reserves, the most it can use."""
REPLAY_BYTES: Final = 8 << 10
"""Most bytes of a waiting replay besides its packed filters."""
CLIENT_PART: Final = 8
"""One client may use 1/CLIENT_PART of the half for waiting replays."""


class ReplayPool:
    """A pool of `bytes_max`."""

    def __init__(self, bytes_max: int) -> None:
        self.waiting_max = bytes_max // 2
        self.client_max = self.waiting_max // CLIENT_PART
        self._steps_max = max(1, (bytes_max - self.waiting_max) // STEP_ROOM)
        self.waiting_bytes = self._steps = 0
        self._asking: deque[asyncio.Future[None]] = deque()

    @property
    def bytes(self) -> int:
        """The bytes in use."""
        return self.waiting_bytes + self._steps * STEP_ROOM

    @asynccontextmanager
    async def step(self) -> AsyncIterator[None]:
        """Wait for the room of one step, and hold it for the body of the `async with`."""
        if self._steps == self._steps_max:
            await self._turn()
        else:
            self._steps += 1
        try:
            yield
        finally:
            self._pass_on()

    async def _turn(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._asking.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        """Hand the room of a step to the first waiting step, or return it to the pool."""
        while self._asking:
            turn = self._asking.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._steps -= 1

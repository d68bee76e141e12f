"""What all replays of a router may have in memory together: a pool of bytes, which they take in turn.

Law: half of the pool is for replays that wait for their clients, of which each has its filters and little else, and the
other half for steps, which have compiled filters and what they found until it is handed to the connection. A step waits
for nobody but the steps before it, so that no client can hold what it has taken; who asked first is served first.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from tamis.native.log_replay import RECORD_BYTES_MAX

TABLE_BYTES: Final = 8 << 20
"""What the filters of one replay may take when they are compiled."""
STEP_ROOM: Final = TABLE_BYTES + RECORD_BYTES_MAX
"""What one step may take, and takes of the pool."""
REPLAY_BYTES: Final = 8 << 10
"""What a replay that waits takes at most beside its packed filters."""
CLIENT_PART: Final = 8
"""One client may have so small a part of what is for those that wait: a half of it is left to others whoever comes."""


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
        """Return what is taken."""
        return self.waiting_bytes + self._steps * STEP_ROOM

    @asynccontextmanager
    async def step(self) -> AsyncIterator[None]:
        """Have room for one step, which is waited for."""
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
        """Give the room of a step to who asked first, or back."""
        while self._asking:
            turn = self._asking.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._steps -= 1

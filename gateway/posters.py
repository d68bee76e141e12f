"""The connections by which single messages are published: one for each credential, made at its first message.

Law: at most POSTERS_MAX are open, of which the one that has been idle longest gives way to a new one; none gives way
while a message waits for its answer. After IDLE_S without a message one is closed.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from tamis.gateway.upstream import Caller, Upstream, Upstreams, drawn
from tamis.serving.problem import refused

POSTERS_MAX: Final = 1_000
IDLE_S: Final = 60.0


class _Poster:
    """An upstream, and how many messages wait for it."""

    def __init__(self, upstream: Upstream) -> None:
        self.upstream, self.users, self.idle_since_s = upstream, 0, 0.0
        self.opening = asyncio.ensure_future(upstream.connect())
        self.opening.add_done_callback(lambda opening: opening.cancelled() or opening.exception())


class Posters:
    def __init__(self, shared: Upstreams) -> None:
        self._shared = shared
        self._of: OrderedDict[Caller, _Poster] = OrderedDict()
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._closing: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._of)

    @asynccontextmanager
    async def of(self, caller: Caller) -> AsyncIterator[Upstream]:
        """Yield the open connection of a credential. Raise RequestRefused if the router does not admit it."""
        poster = self._poster(caller)
        poster.users += 1
        try:
            await asyncio.shield(poster.opening)
            yield poster.upstream
        finally:
            poster.users -= 1
            poster.idle_since_s = self._loop.time()
            if poster.opening.done() and (poster.opening.cancelled() or poster.opening.exception()):
                self._drop(caller, poster)  # it has closed itself

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        posters = list(self._of.values())
        self._of.clear()
        await asyncio.gather(*(poster.upstream.close() for poster in posters), *self._closing)

    def _poster(self, caller: Caller) -> _Poster:
        poster = self._of.get(caller)
        if poster is None or poster.upstream.is_over:
            self._make_room()
            poster = self._of[caller] = _Poster(Upstream(self._shared, caller, f"post-{drawn()}"))
        self._of.move_to_end(caller)
        if self._timer is None:
            self._timer = self._loop.call_later(IDLE_S, self._end_idle)
        return poster

    def _make_room(self) -> None:
        if len(self._of) < POSTERS_MAX:
            return
        for caller, poster in self._of.items():
            if not poster.users:
                self._forget(caller, poster)
                return
        raise refused("slow-down", 429, "too many credentials publish at this gateway", (("Retry-After", "1"),))

    def _end_idle(self) -> None:
        self._timer = None
        before_s = self._loop.time() - IDLE_S
        for caller, poster in list(self._of.items()):
            if not poster.users and poster.idle_since_s <= before_s:
                self._forget(caller, poster)
        if self._of:
            self._timer = self._loop.call_later(IDLE_S, self._end_idle)

    def _forget(self, caller: Caller, poster: _Poster) -> None:
        self._drop(caller, poster)
        closing = self._loop.create_task(poster.upstream.close())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    def _drop(self, caller: Caller, poster: _Poster) -> None:
        if self._of.get(caller) is poster:
            del self._of[caller]

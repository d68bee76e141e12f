"""Durable subscriptions that start with messages of the log: read in a thread, appended for them in small pieces.

    KEEP_BEGUN ──> read, append, read, append, ... ──> messages of the meantime, filters, KEEP_MADE ──> answer

Law: the client is answered once all of it is on disk. A subscription that has KEEP_BEGUN without KEEP_MADE does not
exist: the next start of the router removes it, and its client, which has no answer, requests it again. The loop appends
at most a quarter of a megabyte at a time. STARTS_AT_A_TIME subscriptions copy at a time, each with its own buffer; the
others wait in order.
"""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import Final

from tamis.native.keep_start import KeepStart
from tamis.native.log import LogFailed, LogFull
from tamis.native.results import OutOfMemory
from tamis.protocol.messages import MessageId
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.keep_bodies import Keep, StartAt
from tamis.router.kept.held import HeldKeep
from tamis.router.kept.keeper import KeepHost
from tamis.router.kept.refusals import LOG_HAS_FAILED, RequestRefused
from tamis.router.kept.replays import Replays, table_of

PAUSE_S: Final = 0.005
"""Pause before another try to append a piece that found no room in the ring."""
STARTS_AT_A_TIME: Final = 4


class Starts:
    """The copies from the log of one router. Close it before the replays, whose thread reads for it."""

    def __init__(self, keeper: KeepHost, replays: Replays) -> None:
        self._keeper, self._replays = keeper, replays
        self._tasks: set[asyncio.Task[None]] = set()  # referenced here, because a loop holds its tasks weakly
        self._turns = asyncio.Semaphore(STARTS_AT_A_TIME)
        self._is_closed = False
        keeper.begin = self.begin

    def begin(self, held: HeldKeep, keep: Keep) -> None:
        """Start to copy the messages from the start position of `keep` to `held`; the keeper is notified at the end."""
        task = asyncio.get_running_loop().create_task(self._run(held, keep), name="tamis keep start")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def close(self) -> None:
        """End the copies after the current read of the thread; the next start of the router removes the incomplete
        subscriptions."""
        self._is_closed = True

    async def _run(self, held: HeldKeep, keep: Keep) -> None:
        async with self._turns:
            if self._is_wanted(held):
                await self._start(held, keep)

    async def _start(self, held: HeldKeep, keep: Keep) -> None:
        since_us = keep.start_ns // 1_000 if keep.start is StartAt.TIME else 0
        try:
            wanted = table_of(keep.terms.filters, "a keep")
            start = KeepStart(self._keeper.keeps, self._keeper.log, held.number, wanted, since_us)
            with closing(start):
                await self._take_over(held, keep, start)
            if self._is_wanted(held):
                self._keeper.filled(held, keep)
        except RequestRefused as error:
            await self._give_up(held, error)
        except LogFull:
            await self._give_up(
                held, RequestRefused(RefusalCode.LOG_FULL, "what is in the log has no room in the keep")
            )
        except LogFailed:
            await self._give_up(held, RequestRefused(RefusalCode.LOG_FAILED, LOG_HAS_FAILED))
        except OutOfMemory:
            no_memory = "the router has no memory left for what is in the log"
            await self._give_up(held, RequestRefused(RefusalCode.OUT_OF_MEMORY, no_memory))

    async def _take_over(self, held: HeldKeep, keep: Keep, start: KeepStart) -> None:
        """Copy until `held` has all messages up to now, or has been forgotten, or this is closed."""
        if keep.start is StartAt.AFTER:
            after = MessageId(keep.after_origin, keep.after_counter)
            while self._is_wanted(held) and not await self._replays.aside(lambda: start.find(after)):
                pass
        while self._is_wanted(held):
            start.mark()
            is_all = await self._replays.aside(start.read)
            while self._is_wanted(held) and not start.put():
                await asyncio.sleep(PAUSE_S)
            if is_all and self._is_wanted(held) and start.join():
                return
            await asyncio.sleep(PAUSE_S if is_all else 0)

    def _is_wanted(self, held: HeldKeep) -> bool:
        return not self._is_closed and self._keeper.by_number.get(held.number) is held

    async def _give_up(self, held: HeldKeep, error: RequestRefused) -> None:
        while self._is_wanted(held) and not self._keeper.give_up(held, error):
            await asyncio.sleep(PAUSE_S)

"""Durable subscriptions that start with messages of the log: read in a thread, appended for them in small pieces.

    DURABLE_BEGUN ──> read, append, read, append, ... ──> messages of the meantime, filters, DURABLE_CREATED ──> answer

Law: the client is answered once all of it is on disk. A subscription that has DURABLE_BEGUN without DURABLE_CREATED
does not exist: the next start of the router removes it, and its client, which has no answer, requests it again. The
loop appends at most a quarter of a megabyte at a time. STARTS_AT_A_TIME subscriptions copy at a time, each with its own
buffer; the others wait in order.
"""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import Final

from tamis.native.durable_start import DurableStart
from tamis.native.log import LogFailed, LogFull
from tamis.native.results import OutOfMemory
from tamis.protocol.messages import MessageId
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.durable_bodies import CreateDurable, StartAt
from tamis.router.durable.hosted import HostedDurable
from tamis.router.durable.refusals import LOG_HAS_FAILED, RequestRefused
from tamis.router.durable.registry import DurableRegistry
from tamis.router.durable.replays import Replays, table_of

PAUSE_S: Final = 0.005
"""Pause before another try to append a piece that found no room in the ring."""
STARTS_AT_A_TIME: Final = 4


class Starts:
    """The copies from the log of one router. Close it before the replays, whose thread reads for it."""

    def __init__(self, registry: DurableRegistry, replays: Replays) -> None:
        self._registry, self._replays = registry, replays
        self._tasks: set[asyncio.Task[None]] = set()  # referenced here, because a loop holds its tasks weakly
        self._turns = asyncio.Semaphore(STARTS_AT_A_TIME)
        self._is_closed = False
        registry.begin = self.begin

    def begin(self, held: HostedDurable, durable: CreateDurable) -> None:
        """Start to copy the messages from the start position to `held`; the registry is notified at the end."""
        task = asyncio.get_running_loop().create_task(self._run(held, durable), name="tamis durable start")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def close(self) -> None:
        """End the copies after the current read of the thread; the next start of the router removes the incomplete
        subscriptions."""
        self._is_closed = True

    async def _run(self, held: HostedDurable, durable: CreateDurable) -> None:
        async with self._turns:
            if self._is_wanted(held):
                await self._start(held, durable)

    async def _start(self, held: HostedDurable, durable: CreateDurable) -> None:
        since_us = durable.start_ns // 1_000 if durable.start is StartAt.TIME else 0
        try:
            wanted = table_of(durable.policy.filters, "a durable subscription")
            start = DurableStart(
                *(self._registry.durables, self._registry.log, held.number, wanted, since_us),
                residual=durable.policy.residual,
            )
            with closing(start):
                await self._take_over(held, durable, start)
            if self._is_wanted(held):
                self._registry.filled(held, durable)
        except RequestRefused as error:
            await self._give_up(held, error)
        except LogFull:
            await self._give_up(
                held,
                RequestRefused(
                    RefusalCode.LOG_FULL, "the messages of the log do not fit into the durable subscription"
                ),
            )
        except LogFailed:
            await self._give_up(held, RequestRefused(RefusalCode.LOG_FAILED, LOG_HAS_FAILED))
        except OutOfMemory:
            no_memory = "the router has no memory left for the messages of the log"
            await self._give_up(held, RequestRefused(RefusalCode.OUT_OF_MEMORY, no_memory))

    async def _take_over(self, held: HostedDurable, durable: CreateDurable, start: DurableStart) -> None:
        """Copy until `held` has all messages up to now, or has been forgotten, or this is closed."""
        if durable.start is StartAt.AFTER:
            after = MessageId(durable.after_origin, durable.after_counter)
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

    def _is_wanted(self, held: HostedDurable) -> bool:
        return not self._is_closed and self._registry.by_number.get(held.number) is held

    async def _give_up(self, held: HostedDurable, error: RequestRefused) -> None:
        while self._is_wanted(held) and not self._registry.give_up(held, error):
            await asyncio.sleep(PAUSE_S)

"""The clients of a soak: publishers that move between the entries, and a consumer at each home.

Law: what a client sees is in the journal before it acts on it: a message before it is published, a delivery before its
acknowledgement. A publisher that goes on after this program was ended uses numbers that it has not used.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from random import Random
from typing import Final

import tamis
from tamis.protocol.errors import TamisError
from tests.long.soak.journal import Journal
from tests.long.soak.schedule import ENTRIES, HOMES

PUBLISHERS: Final = ("p0", "p1", "p2", "p3")
RATE: Final = 20.0
"""Messages a second of each publisher."""
PAYLOAD_BYTES: Final = (20, 6_000)
STAYS_S: Final = (2.0, 10.0)
OUTSTANDING: Final = 200
PATIENCE_S: Final = 60.0
END_S: Final = 40.0


class Load:
    """`addresses`: of the routers, by name; `numbers`: the next one of each publisher."""

    def __init__(self, addresses: Mapping[str, str], journal: Journal, dice: Random, numbers: dict[str, int]) -> None:
        self._addresses, self._journal, self._dice, self._next = addresses, journal, dice, numbers
        self._is_on = True
        self.last_got_s = 0.0

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        consumers = [asyncio.create_task(self._consume(home)) for home in HOMES]
        publishers = [asyncio.create_task(self._roam(name, Random(self._dice.random()))) for name in PUBLISHERS]
        try:
            yield
        finally:
            for task in (*consumers, *publishers):
                task.cancel()
            ended = await asyncio.gather(*consumers, *publishers, return_exceptions=True)
            for each in ended:
                if isinstance(each, Exception):
                    raise each

    def stop(self) -> None:
        """Publish nothing more; what is out is waited for."""
        self._is_on = False

    # --- publishers ---------------------------------------------------------------------------------------------------

    async def _roam(self, name: str, dice: Random) -> None:
        while self._is_on:
            entries = dice.sample(ENTRIES, len(ENTRIES))
            with contextlib.suppress(tamis.ConnectFailed):
                await self._stay(name, entries, dice)

    async def _stay(self, name: str, entries: list[str], dice: Random) -> None:
        """Publish at the first of these entries that answers, and at others while it does not."""
        met: list[str] = []
        addresses = [self._addresses[each] for each in entries]
        loop = asyncio.get_running_loop()
        end_s, waiting = loop.time() + dice.uniform(*STAYS_S), set[asyncio.Task[None]]()
        async with tamis.connect(
            *addresses, name=name, patience_s=PATIENCE_S, hold_s=4.0, redial_s=0.5, on_connected=met.append
        ) as client:
            while self._is_on and loop.time() < end_s:
                if len(waiting) < OUTSTANDING:
                    task = asyncio.create_task(self._publish(name, client, met, dice.randint(*PAYLOAD_BYTES)))
                    waiting.add(task)
                    task.add_done_callback(waiting.discard)
                await asyncio.sleep(1 / RATE)
            if waiting:
                await asyncio.wait(waiting, timeout=END_S)

    async def _publish(self, name: str, client: tamis.Client, met: list[str], size: int) -> None:
        n, visits = self._next[name], len(met)
        self._next[name] = n + 1
        self._journal.write("sent", name, n)
        try:
            receipt = await client.publish({"by": name, "n": n}, bytes(size), confirm="stored", retry=True)
        except tamis.PublishRefused as error:
            self._journal.write("refused", name, n, int(error.code))
        except TamisError as error:
            self._journal.write("failed", name, n, type(error).__name__)
        else:
            if receipt.is_stored:
                self._journal.write("confirmed", name, n, met[-1], len(met) != visits)
            else:
                self._journal.write("failed", name, n, f"is_stored: {receipt.is_stored}")

    # --- consumers ----------------------------------------------------------------------------------------------------

    async def _consume(self, home: str) -> None:
        while True:
            with contextlib.suppress(tamis.ConnectFailed, tamis.DurableRefused):
                async with (
                    tamis.connect(
                        self._addresses[home], name="consumer", patience_s=PATIENCE_S, hold_s=4.0, redial_s=0.5
                    ) as client,
                    client.consume(durable_of(home), dedup=0) as work,
                ):
                    async for item in work:
                        self._take(home, item)
            await asyncio.sleep(0.2)

    def _take(self, home: str, item: object) -> None:
        if isinstance(item, tamis.Gap):
            self._journal.write("gap", home, item.reason.name, item.count, str(item.positions))
            return
        assert isinstance(item, tamis.StoredMessage)
        self.last_got_s = asyncio.get_running_loop().time()
        id_ = f"{item.id.origin:016x}-{item.id.counter}"
        self._journal.write("got", home, item["by"], item["n"], id_, item.position)
        item.ack()


def durable_of(home: str) -> str:
    return f"all-{home}"


async def create(home: str, address: str) -> bool:
    """Create the durable subscription of a home, or find it; return whether all routers know it."""
    async with tamis.connect(address, name="consumer", patience_s=PATIENCE_S) as client:
        known = await client.durable(durable_of(home), "n >= 0", idle=None, max_deliveries=None)
    return not known.unknown

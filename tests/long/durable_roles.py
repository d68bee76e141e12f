"""Publishers and consumers of a soak, as processes that may be killed at any moment: what each did is in a journal.

    python -m tests.long.durable_roles publish ADDRESS NAME FOLDER RATE
    python -m tests.long.durable_roles consume ADDRESS NAME FOLDER DURABLE

Law: a line is in the journal before a message is published, after its confirmation, and before its acknowledgement; a
line outlives SIGKILL, as the system has it. SIGTERM ends a publisher when all it published is confirmed, and a consumer
at once. A publisher that is started again goes on behind the last number of its journal.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import tamis
from tamis.protocol.errors import TamisError

OUTSTANDING = 64
"""Messages that a publisher has published and that are not confirmed."""
CREDIT = 200
PATIENCE_S = 120.0
PAYLOAD = b"x" * 150


class Journal:
    """Lines that are there whatever becomes of this process."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def write(self, *words: object) -> None:
        os.write(self._file, (" ".join(map(str, words)) + "\n").encode())


def journal_of(folder: Path, name: str) -> Path:
    return folder / f"{name}.journal"


def last_sent(journal: Path) -> int:
    """The greatest number that was published; 0 if none was."""
    if not journal.exists():
        return 0
    lines = [line.split() for line in journal.read_text().splitlines()]
    return max((int(words[1]) for words in lines if words[0] == "sent"), default=0)


async def publish(address: str, name: str, folder: Path, rate: float) -> None:
    path = journal_of(folder, name)
    n, journal, is_over = last_sent(path), Journal(path), _terminated()
    room, waiting = asyncio.Semaphore(OUTSTANDING), set()

    async def one(number: int) -> None:
        try:
            id_ = await client.publish({"by": name, "n": number}, PAYLOAD, confirm="stored")
        except TamisError as error:
            journal.write("failed", number, type(error).__name__, error)
        else:
            journal.write("confirmed", number, f"{id_.origin:016x}-{id_.counter}")
        finally:
            room.release()

    async with tamis.connect(address, name=name, outbox=folder / f"{name}.outbox", patience_s=PATIENCE_S) as client:
        while not is_over.is_set():
            await room.acquire()
            n += 1
            journal.write("sent", n)
            waiting.add(task := asyncio.create_task(one(n)))
            task.add_done_callback(waiting.discard)
            await asyncio.sleep(1 / rate)
        await asyncio.gather(*waiting)
        await client.drain()
    journal.write("done")


async def consume(address: str, name: str, folder: Path, durable: str) -> None:
    journal, is_over = Journal(journal_of(folder, name)), _terminated()
    async with (
        tamis.connect(address, name=name, patience_s=PATIENCE_S) as client,
        client.consume(durable, credit=CREDIT) as work,
    ):
        reading = asyncio.create_task(_read(work, journal))
        ending = asyncio.create_task(is_over.wait())
        await asyncio.wait((reading, ending), return_when=asyncio.FIRST_COMPLETED)
        ending.cancel()
        if not reading.done():
            reading.cancel()
        elif reading.exception() is not None:
            journal.write("failed", 0, type(reading.exception()).__name__, reading.exception())


async def _read(work: tamis.Consumer, journal: Journal) -> None:
    async for item in work:
        if isinstance(item, tamis.Gap):
            journal.write("gap", item.reason.name, item.count, item.in_all)
            continue
        id_ = f"{item.id.origin:016x}-{item.id.counter}"
        journal.write("got", item["by"], item["n"], id_, item.position, item.deliveries)
        item.ack()


def _terminated() -> asyncio.Event:
    event = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, event.set)
    return event


def main(role: str, address: str, name: str, folder: str, last: str) -> None:
    if role == "publish":
        asyncio.run(publish(address, name, Path(folder), float(last)))
    else:
        asyncio.run(consume(address, name, Path(folder), last))


if __name__ == "__main__":
    main(*sys.argv[1:])

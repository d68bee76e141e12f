"""A work queue: jobs wait on the router's disk until a worker has done them, whoever is killed meanwhile.

    python work_queue.py submit tamis://127.0.0.1:7400 20
    python work_queue.py work tamis://127.0.0.1:7400

Start as many workers as you like, at any time; each job goes to one of them. A job that a worker was given and did not
acknowledge goes to another one. A job that cannot be done now is tried again later, one that nobody can do goes to the
dead letters, and a long one says now and then that the work goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator

import tamis

QUEUE = "squares"
LONG_S = 1.0


class BusyNow(Exception):
    """Raised when a job cannot be done now."""


async def submit(address: str, count: int) -> None:
    async with tamis.connect(address, name="office", patience_s=30) as client:
        await client.durable("squares-dead", 'class = "dead job"')  # what is rejected, or was tried too often
        await client.durable(QUEUE, 'class = "job" and do = "square"', ack_wait_s=10, dead_letter="squares-dead")
        for number in range(count):
            await client.publish({"class": "job", "do": "square", "number": number}, confirm="stored", retry=True)
    print(f"{count} jobs are on disk", flush=True)


async def work(address: str) -> None:
    async with tamis.connect(address, patience_s=30) as client, client.consume(QUEUE, credit=10) as jobs:
        print("ready", flush=True)
        async for job in jobs:
            if isinstance(job, tamis.Gap):
                print(f"{job.in_all} jobs were lost: {job.reason}", flush=True)
                continue
            try:
                async with going_on(job):
                    result = await done(job)
            except BusyNow:
                job.nack(delay_s=0.5)
            except ValueError as error:
                job.reject(str(error))
            else:
                job.ack()  # `await job.ack()` returns when that is on the router's disk
                print(result, flush=True)


@contextlib.asynccontextmanager
async def going_on(job: tamis.StoredMessage) -> AsyncIterator[None]:
    """Say again and again that the work on `job` goes on, so that nobody else is given it."""

    async def extend() -> None:
        while True:
            await asyncio.sleep(LONG_S)
            job.extend()

    extending = asyncio.create_task(extend())
    try:
        yield
    finally:
        extending.cancel()


async def done(job: tamis.StoredMessage) -> str:
    """Do the job: whatever takes its time."""
    number = job["number"]
    if number == 13 and job.deliveries == 1:
        raise BusyNow
    if not isinstance(number, int) or number < 0:
        raise ValueError(f"{number!r} is not a number to square")
    await asyncio.sleep(0.02)
    return f"{number}: {number * number}"


if __name__ == "__main__":
    command, where, *rest = sys.argv[1:]
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(submit(where, int(rest[0])) if command == "submit" else work(where))

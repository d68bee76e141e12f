"""An alerting service: what it is told to watch for is printed; where something may be missing, that is said.

    python alerting.py tamis://127.0.0.1:7400 'class = "alert" and severity > 2'

It waits for its router at the start, comes back by itself whenever the connection is cut, and ends in good order at
Ctrl-C or SIGTERM: what has arrived by then is still printed.
"""

from __future__ import annotations

import asyncio
import signal
import sys

import tamis


def alert(message: tamis.Message) -> None:
    """Here the pager would ring."""
    print(f"{message.time:%H:%M:%S} {message.get('device', 'somebody')}: {message.payload.decode()}", flush=True)


def told(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


async def watch(address: str, predicate: str) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    client = tamis.connect(
        address,
        patience_s=60,
        on_connected=lambda router: told(f"connected to {router}"),
        on_disconnected=lambda reason: told(f"not connected: {reason}"),
    )
    async with client, client.subscribe(predicate) as alerts:
        printing = asyncio.create_task(print_all(alerts))
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait([printing, stopping], return_when=asyncio.FIRST_COMPLETED)
        await client.drain()  # the subscription ends, and its iterator with what has arrived
        await printing


async def print_all(alerts: tamis.Subscription) -> None:
    async for item in alerts:
        if isinstance(item, tamis.Gap):
            told(f"something may be missing: {item.reason}")
        else:
            alert(item)


if __name__ == "__main__":
    asyncio.run(watch(*sys.argv[1:]))

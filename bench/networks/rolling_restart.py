"""How many messages a rolling restart of a ring loses: `python -m tamis.bench.networks.rolling_restart`.

Every router has subscribers of all messages and publishers, each of which has the address of the next router, too. All
routers are stopped by SIGTERM and started again, one after the other, while the publishers go on: half of them without
confirmation, half confirmed and with retry. Then each subscriber's messages are held against what was published.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import tamis
from tamis import testing
from tamis.client.errors import PublishUnknown

SETTLE_S: Final = 3.0
"""How long messages have to arrive when nothing is published any more."""
Key = tuple[str, int]


@dataclass(slots=True)
class Outcome:
    """`order`: messages that came behind a later one of their publisher. `restart_s`: from SIGTERM to the next one."""

    published: int = 0
    expected: int = 0
    lost: int = 0
    twice: int = 0
    order: int = 0
    gaps: int = 0
    unknown: int = 0
    restart_s: list[float] = field(default_factory=list)


@dataclass(slots=True)
class Heard:
    """What one subscriber has been given."""

    counts: Counter[Key] = field(default_factory=Counter)
    newest: dict[str, int] = field(default_factory=dict)
    order: int = 0
    gaps: int = 0

    def take(self, item: tamis.Message | tamis.Gap) -> None:
        if isinstance(item, tamis.Gap):
            self.gaps += 1
            return
        publisher, number = str(item["publisher"]), int(item["n"])
        self.counts[publisher, number] += 1
        self.order += number < self.newest.get(publisher, -1)
        self.newest[publisher] = max(number, self.newest.get(publisher, -1))


async def rolling(
    network: testing.RouterNetwork, *, subscribers: int, publishers: int, rate: float, rounds: int = 1
) -> Outcome:
    """Restart each router of a network, whose clients have two addresses, and return what became of the messages.
    `subscribers` and `publishers` are at each router; each publisher publishes `rate` messages a second."""
    names = list(network.routers)
    addresses = [network[name].address for name in names]
    outcome, stop = Outcome(), asyncio.Event()
    heard: list[Heard] = []
    async with contextlib.AsyncExitStack() as stack, asyncio.TaskGroup() as tasks:
        listening = []
        sent: list[set[Key]] = []
        pairs = [(place, (addresses[place], addresses[(place + 1) % len(names)])) for place in range(len(names))]
        for place, both in pairs:
            for number in range(subscribers):
                client = await stack.enter_async_context(tamis.connect(*both, name=f"s{place}-{number}"))
                subscription = await client.subscribe("n >= 0", wait="network")
                heard.append(Heard())
                listening.append(tasks.create_task(_listen(subscription, heard[-1])))
        for place, both in pairs:
            for number in range(publishers):
                client = await stack.enter_async_context(tamis.connect(*both, name=f"p{place}-{number}"))
                sent.append(set())
                publishing = _publish(client, sent[-1], rate, stop, outcome, is_confirmed=number % 2 == 1)
                tasks.create_task(publishing)
        await asyncio.sleep(1.0)
        for _ in range(rounds):
            for name in names:
                began_s = time.monotonic()
                code = await network[name].leave()
                assert code == 0, (name, code)  # noqa: S101 - a router that fails is a fault of the measurement
                await network[name].start()
                await network.until_linked()
                outcome.restart_s.append(round(time.monotonic() - began_s, 2))
        await asyncio.sleep(1.0)
        stop.set()
        await asyncio.sleep(SETTLE_S)
        for task in listening:
            task.cancel()
    everything = {key for keys in sent for key in keys}
    outcome.published = len(everything)
    for each in heard:
        outcome.expected += len(everything)
        outcome.lost += len(everything - each.counts.keys())
        outcome.twice += sum(count - 1 for count in each.counts.values())
        outcome.order += each.order
        outcome.gaps += each.gaps
    return outcome


async def _listen(subscription: tamis.Subscription, heard: Heard) -> None:
    with contextlib.suppress(asyncio.CancelledError):
        async for item in subscription:
            heard.take(item)


async def _publish(
    client: tamis.Client, sent: set[Key], rate: float, stop: asyncio.Event, outcome: Outcome, *, is_confirmed: bool
) -> None:
    number = 0
    while not stop.is_set():
        attributes: dict[str, str | int] = {"publisher": client.name, "n": number}
        try:
            await client.publish(attributes, confirm=is_confirmed, retry=is_confirmed)
            sent.add((client.name, number))
        except PublishUnknown:
            outcome.unknown += 1
        number += 1
        await asyncio.sleep(1 / rate)


async def _measure(routers: int, options: dict[str, Any]) -> Outcome:
    names = [chr(ord("a") + number) for number in range(routers)]
    with tempfile.TemporaryDirectory() as folder:
        async with testing.running(Path(folder), testing.ring(*names)) as network:
            await network.until_linked()
            return await rolling(network, **options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--routers", type=int, default=5)
    parser.add_argument("--subscribers", type=int, default=2, help="clients at each router")
    parser.add_argument("--publishers", type=int, default=2, help="clients at each router")
    parser.add_argument("--rate", type=float, default=100.0, help="messages a second of each publisher")
    parser.add_argument("--rounds", type=int, default=1, help="number of restarts of each router")
    options = vars(parser.parse_args())
    print(json.dumps(asdict(asyncio.run(_measure(options.pop("routers"), options)))))


if __name__ == "__main__":
    main()

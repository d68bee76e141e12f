"""A durable subscription at one router of a ring, publishers at others; routers are killed, stopped, cut off.
Each confirmed message is in the subscription, or in an unknown range.

    python -m tests.long.elsewhere FOLDER --troubles 12 --seed 1 [--strategy NAME]

FOLDER/results.jsonl has a line for each strategy that is done; a strategy that has one is not run again.

    r0 ── r1 ── r2: the subscription, with a consumer that comes and goes
    │           │
    r4 ──────── r3: another publisher

A router without a log stores nothing for the subscription; with one in each, nothing may be missing.

Law: what is judged is what the publishers and the consumer saw. A message is missing if it was confirmed and the
consumer never had it. It lies in an unknown range whose positions include its place: between the positions of the
messages of its publisher that the consumer had before and after it.
"""

from __future__ import annotations

import argparse
import asyncio
import bisect
import contextlib
import json
import random
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import tamis
from tamis.protocol.errors import TamisError
from tamis.testing import RouterNetwork, ring, running
from tests.long.test_strategies import STRATEGIES
from tests.long.trouble import Trouble, cut, killed, restarted, stopped

NAMES = ("r0", "r1", "r2", "r3", "r4")
HOME = "r2"
PUBLISHERS = ("r0", "r3")
DURABLE = "all"
DURABLE_KEYS = {"bytes": 268435456, "segment_bytes": 1048576}
RATE = 40.0
"""Messages a second of each publisher."""
BETWEEN_S = 3.0
QUIET_S = 1.5
PATIENCE_S = 30.0
ATTACHED_S = (0.5, 4.0)
AWAY_S = (0.0, 4.0)
Range = tuple[int, int]
Tell = Callable[[str], None]


@dataclass
class Had:
    """What the consumer received: the position of each message, by publisher and number, and the unknown ranges."""

    positions: dict[str, dict[int, int]] = field(default_factory=lambda: {name: {} for name in PUBLISHERS})
    unknowns: set[Range] = field(default_factory=set)
    other_gaps: list[str] = field(default_factory=list)
    again: int = 0


@dataclass
class Verdict:
    published: int = 0
    confirmed: int = 0
    had: int = 0
    missing: int = 0
    """Confirmed, and the consumer never had them."""
    untold: list[tuple[str, int]] = field(default_factory=list)
    """Missing, and in no unknown range."""
    unknowns: int = 0
    under_a_unknown: int = 0
    """Messages that the consumer had, and whose positions lie in an unknown range."""
    strange: list[str] = field(default_factory=list)


def judged(sent: dict[str, int], confirmed: dict[str, set[int]], had: Had) -> Verdict:
    """`sent`: how many each publisher published, numbered from 0 on."""
    verdict = Verdict(sum(sent.values()), sum(map(len, confirmed.values())), unknowns=len(had.unknowns))
    verdict.strange = list(had.other_gaps)
    for name, positions in had.positions.items():
        numbers = sorted(positions)
        verdict.had += len(numbers)
        verdict.under_a_unknown += sum(
            any(first <= at <= last for first, last in had.unknowns) for at in positions.values()
        )
        verdict.strange += [f"{n} at {name} was never published" for n in numbers if n >= sent[name]]
        for n in sorted(confirmed[name] - positions.keys()):
            place = bisect.bisect(numbers, n)
            after = positions[numbers[place - 1]] if place > 0 else 0
            before = positions[numbers[place]] if place < len(numbers) else 2**64
            verdict.missing += 1
            if not any(first < before and last > after for first, last in had.unknowns):
                verdict.untold.append((name, n))
    return verdict


class Load:
    """The publishers and the consumer."""

    def __init__(self, network: RouterNetwork, chance: random.Random) -> None:
        self._without_log = network.plan.keys_of.keys()
        self._addresses = {name: network[name].address for name in NAMES}
        self._chance = chance
        self.sent = dict.fromkeys(PUBLISHERS, 0)
        self.confirmed: dict[str, set[int]] = {name: set() for name in PUBLISHERS}
        self.had = Had()
        self._is_on = True
        self._waiting: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def running(self, *, is_consumed: bool = True) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as stack:
            tasks = [asyncio.create_task(self._come_and_go())] if is_consumed else []
            for name in PUBLISHERS:
                client = tamis.connect(self._addresses[name], name=f"publisher at {name}", patience_s=PATIENCE_S)
                tasks.append(asyncio.create_task(self._publish(name, await stack.enter_async_context(client))))
            try:
                yield
                self._is_on = False
                await asyncio.gather(*tasks)
                if self._waiting:
                    await asyncio.wait(self._waiting, timeout=PATIENCE_S)
            finally:
                for task in (*tasks, *self._waiting):
                    task.cancel()
                await asyncio.gather(*tasks, *self._waiting, return_exceptions=True)

    async def _publish(self, name: str, client: tamis.Client) -> None:
        while self._is_on:
            n, self.sent[name] = self.sent[name], self.sent[name] + 1
            task = asyncio.create_task(self._publish_one(name, client, n))
            self._waiting.add(task)
            task.add_done_callback(self._waiting.discard)
            await asyncio.sleep(1 / RATE)

    async def _publish_one(self, name: str, client: tamis.Client, n: int) -> None:
        with contextlib.suppress(TamisError):
            has_log = name not in self._without_log
            await client.publish({"by": name, "n": n, "even": n % 2 == 0}, confirm="stored" if has_log else True)
            self.confirmed[name].add(n)

    async def _come_and_go(self) -> None:
        while self._is_on:
            await self.consume(self._chance.uniform(*ATTACHED_S))
            await asyncio.sleep(self._chance.uniform(*AWAY_S))

    async def consume(self, attached_s: float = 0.0) -> None:
        """Consume and acknowledge messages for this many seconds; 0: until none has come for QUIET_S."""
        end_s = time.monotonic() + attached_s
        async with (
            tamis.connect(self._addresses[HOME], name="consumer", patience_s=PATIENCE_S) as client,
            client.consume(DURABLE, dedup=0) as work,
        ):
            while True:
                left_s = end_s - time.monotonic() if attached_s else QUIET_S
                if left_s <= 0:
                    return
                try:
                    item = await work.receive(left_s)
                except TimeoutError:
                    return
                await self._take(item)

    async def _take(self, item: object) -> None:
        if isinstance(item, tamis.Gap):
            if item.positions is None or item.count is not None:
                self.had.other_gaps.append(str(item))
            else:
                self.had.unknowns.add(item.positions)
            return
        assert isinstance(item, tamis.StoredMessage)
        by, n = str(item["by"]), int(item["n"])  # type: ignore[arg-type]
        self.had.again += n in self.had.positions[by]
        self.had.positions[by].setdefault(n, item.position)
        item.ack()


def some_troubles(chance: random.Random, count: int) -> list[Trouble]:
    """Choose troubles: some of each kind, and some of the router of the subscription."""
    links = [(one, other) for one, other in zip(NAMES, (*NAMES[1:], NAMES[0]), strict=True)]
    kinds: list[Callable[[], Trouble]] = [
        lambda: killed(HOME),
        lambda: killed(chance.choice(NAMES)),
        lambda: cut(*chance.choice(links), chance.choice(["cut", "dark"])),
        lambda: killed(chance.choice(["r1", "r3", "r4"])),
        lambda: restarted(chance.choice(NAMES)),
        lambda: stopped(chance.choice(NAMES)),
    ]
    return [kinds[at % len(kinds)]() for at in range(count)]


async def soaked(
    folder: Path,
    strategy: str,
    troubles: Sequence[Trouble],
    chance: random.Random,
    tell: Tell,
    *,
    is_consumed: bool = True,
    with_log: Sequence[str] = NAMES,
) -> Verdict:
    """Run a ring by a strategy under troubles, and judge. Not `is_consumed`: the consumer comes at the end. `with_log`:
    the routers that have a log."""
    plan = ring(*NAMES, is_proxied=True, strategy=STRATEGIES[strategy], durable=DURABLE_KEYS)
    plan = replace(plan, keys_of={name: {"durable": False} for name in NAMES if name not in with_log})
    async with running(folder, plan) as network:
        await network.until_linked()
        async with tamis.connect(network[HOME].address, name="consumer", patience_s=PATIENCE_S) as client:
            await client.durable(DURABLE, "exists n", idle=None)
        await network.until_at_rest(0.3, PATIENCE_S)
        load = Load(network, chance)
        async with load.running(is_consumed=is_consumed):
            for trouble in troubles:
                await asyncio.sleep(chance.uniform(1, BETWEEN_S))
                tell(f"{strategy}: {trouble.what}")
                await trouble.do(network, [])
                await network.until_linked()
            await asyncio.sleep(2 * BETWEEN_S)  # the last break is reported when the earlier trees are out of force
        await load.consume()
        logs = {name: router.log.read_text() for name, router in network.routers.items()}
    verdict = judged(load.sent, load.confirmed, load.had)
    verdict.strange += [f"{name}: {log[-2_000:]}" for name, log in logs.items() if "Traceback" in log]
    return verdict


def is_sound(verdict: Verdict) -> bool:
    return not verdict.untold and not verdict.strange


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=Path)
    options.add_argument("--troubles", type=int, default=12, help="of each strategy")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--strategy", choices=STRATEGIES, help="only this one")
    told = options.parse_args()
    told.folder.mkdir(parents=True, exist_ok=True)
    results = told.folder / "results.jsonl"
    done = {json.loads(line)["strategy"] for line in results.read_text().splitlines()} if results.exists() else set()
    is_all_sound = True
    for strategy in [told.strategy] if told.strategy else STRATEGIES:
        if strategy in done:
            continue
        chance = random.Random(f"{told.seed} {strategy}")
        folder = told.folder / f"{strategy.replace(' ', '-')}-{time.time_ns()}"
        folder.mkdir()
        troubles = some_troubles(chance, told.troubles)
        verdict = asyncio.run(soaked(folder, strategy, troubles, chance, lambda line: print(line, flush=True)))
        is_all_sound = is_all_sound and is_sound(verdict)
        line = {
            "strategy": strategy,
            "seed": told.seed,
            "troubles": [each.what for each in troubles],
            **asdict(verdict),
        }
        print(json.dumps(line), flush=True)
        with results.open("a") as file:
            file.write(json.dumps(line) + "\n")
    return 0 if is_all_sound else 1


if __name__ == "__main__":
    sys.exit(main())

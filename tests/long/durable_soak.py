"""A soak of durable subscriptions: a router, publishers with outboxes and consumers are killed under load, and judged.

    python -m tests.long.durable_soak FOLDER [--kills 500] [--rate 200] [--seed 1] [--seconds 3600]

Law: one process is killed at a time, by SIGKILL, chosen by the seed, while messages flow, and restarted a moment later.
At the end publishers leave when all messages are confirmed, consumers when none waits; then the bounded subscription is
read, and everything is judged.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import tamis
from tamis.testing import RouterProcess, lasting_port
from tests.long.durable_judge import Soaked, judged, read_consumed, read_published
from tests.long.durable_roles import journal_of

PUBLISHERS: Final = ("press-1", "press-2", "press-3")
CONSUMERS: Final = {"worker-1": "shared", "worker-2": "shared", "worker-3": "shared", "reader": "ordered"}
"""Consumers and their subscriptions: `shared` delivers each message to one of several, `ordered` has one consumer."""
BOUNDED: Final = 500
"""Message limit of the subscription `bounded`, which is read only at the end."""
GOT_BYTES: Final = 2_500
"""What the reader writes down between two kills, some 50 messages."""
DRAIN_S: Final = 180.0
QUIET_S: Final = 2.0
DURABLE_KEYS: Final = "durable: {bytes: 536870912, segment_bytes: 4194304}"


@dataclass(frozen=True, slots=True)
class SoakPlan:
    """`kills` of processes, `pause_s` (from, to) apart; each publisher publishes `rate` a second.

    What was killed is judged after `kill_s` seconds, also where it was less.
    """

    kills: int = 20
    seed: int = 1
    rate: float = 200.0
    pause_s: tuple[float, float] = (0.0, 0.3)
    away_s: tuple[float, float] = (0.0, 0.2)
    kill_s: float = 3_600.0


@dataclass(slots=True)
class Role:
    """A publisher or consumer; `words` are those of its command."""

    name: str
    words: tuple[str, ...]
    log: Path
    process: asyncio.subprocess.Process | None = None

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.returncode is None

    async def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tests.long.durable_roles", *self.words), stderr=log
            )

    async def end(self, number: int, patience_s: float = DRAIN_S) -> int:
        """Send it a signal, and return its exit code."""
        assert self.process is not None
        if self.process.returncode is None:
            self.process.send_signal(number)
        async with asyncio.timeout(patience_s):
            return await self.process.wait()


@dataclass(slots=True)
class Soak:
    plan: SoakPlan
    folder: Path
    tell: Callable[[str], object]
    killed: dict[str, int] = field(default_factory=dict)

    async def run(self) -> Soaked:
        port, admin = lasting_port(), lasting_port()
        file = self.folder / "one.yaml"
        file.write_text(
            f'{DURABLE_KEYS}\nrouters: {{a: {{clients: "127.0.0.1:{port}", admin: "127.0.0.1:{admin}", data: data}}}}\n'
        )
        router, address = RouterProcess("a", file), f"tamis://127.0.0.1:{port}"
        roles = [*self._roles("publish", dict.fromkeys(PUBLISHERS, str(self.plan.rate)), address)]
        roles += self._roles("consume", CONSUMERS, address)
        try:
            await router.start()
            await _durable(address)
            for role in roles:
                await role.start()
            await self._kill(router, roles)
            return await self._end(router, roles, address)
        finally:
            for role in roles:
                if role.process is not None:
                    await role.end(signal.SIGKILL)
            await router.kill()

    def _roles(self, verb: str, lasts: dict[str, str], address: str) -> list[Role]:
        return [
            Role(name, (verb, address, name, str(self.folder), last), self.folder / f"{name}.log")
            for name, last in lasts.items()
        ]

    async def _kill(self, router: RouterProcess, roles: list[Role]) -> None:
        """Kill this many processes, one at a time, and restart each."""
        chance, began_s = random.Random(self.plan.seed), time.monotonic()
        for count in range(1, self.plan.kills + 1):
            await self._until_written("reader", GOT_BYTES)
            if time.monotonic() - began_s > self.plan.kill_s:
                self.tell(f"{count - 1} of {self.plan.kills} kills, and the time is over")
                return
            await asyncio.sleep(chance.uniform(*self.plan.pause_s))
            role = chance.choice([None] * 5 + roles)  # the router as often as most of the others together
            name = "router" if role is None else role.name
            self.killed[name] = self.killed.get(name, 0) + 1
            if role is None:
                await router.kill()
            else:
                assert role.is_running, role.log.read_text()[-2_000:]
                await role.end(signal.SIGKILL)
            await asyncio.sleep(chance.uniform(*self.plan.away_s))
            await (router.start() if role is None else role.start())
            if count % 20 == 0:
                self.tell(f"{count} of {self.plan.kills} kills, {time.monotonic() - began_s:.0f} s")

    async def _until_written(self, name: str, size: int) -> None:
        """Return when a process has written this many more bytes: everything it needs is up and under load."""
        path = journal_of(self.folder, name)
        began = path.stat().st_size if path.exists() else 0
        async with asyncio.timeout(DRAIN_S):
            while not path.exists() or path.stat().st_size < began + size:
                await asyncio.sleep(0.05)

    async def _end(self, router: RouterProcess, roles: list[Role], address: str) -> Soaked:
        publishers = [role for role in roles if role.name in PUBLISHERS]
        await asyncio.gather(*(self._until_written(role.name, 1) for role in publishers))
        codes = await asyncio.gather(*(role.end(signal.SIGTERM) for role in publishers))
        assert codes == [0] * len(publishers), [role.log.read_text()[-500:] for role in publishers]
        async with asyncio.timeout(DRAIN_S):
            while any(durable["depth"] for durable in await _durables(router) if durable["keep"] != "bounded"):
                await asyncio.sleep(0.1)
        for role in roles:
            if role not in publishers:
                await role.end(signal.SIGTERM)
        bounded = await _read_bounded(address)
        return judged(
            {name: read_published(self._journal(name)) for name in PUBLISHERS},
            {
                durable: read_consumed([self._journal(name) for name, its in CONSUMERS.items() if its == durable])
                for durable in ("shared", "ordered")
            },
            read_consumed([bounded]),
            in_order={"ordered"},
        )

    def _journal(self, name: str) -> list[str]:
        return journal_of(self.folder, name).read_text().splitlines()


async def _durable(address: str) -> None:
    async with tamis.connect(address, name="operator") as client:
        policy: dict[str, Any] = {"max_deliveries": None, "idle": None}
        await client.durable("shared", "n > 0", **policy)
        await client.durable("ordered", "n > 0", **policy)
        await client.durable("bounded", "n > 0", count=BOUNDED, **policy)


async def _durables(router: RouterProcess) -> list[dict[str, Any]]:
    page = await router.ask("/durables")
    found: list[dict[str, Any]] = page["durable"]
    return found


async def _read_bounded(address: str) -> list[str]:
    """Read and acknowledge all that `bounded` has; lines as a consumer's journal has them."""
    lines: list[str] = []
    async with tamis.connect(address, name="auditor") as client, client.consume("bounded") as work:
        while True:
            try:
                item = await work.receive(QUIET_S)
            except TimeoutError:
                return lines
            if isinstance(item, tamis.Gap):
                lines.append(f"gap {item.reason.name} {item.count} {item.in_all}")
                continue
            id_ = f"{item.id.origin:016x}-{item.id.counter}"
            lines.append(f"got {item['by']} {item['n']} {id_} {item.position} {item.deliveries}")
            item.ack()


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=Path)
    options.add_argument("--kills", type=int, default=500)
    options.add_argument("--rate", type=float, default=SoakPlan().rate)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--seconds", type=float, default=SoakPlan().kill_s, help="of killing, at most")
    told = options.parse_args()
    told.folder.mkdir(parents=True)
    plan = SoakPlan(told.kills, told.seed, told.rate, kill_s=told.seconds)
    soak = Soak(plan, told.folder, lambda line: print(line, flush=True))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no process is left
    verdict = asyncio.run(soak.run())
    print(f"killed: {soak.killed}\n{verdict}")
    return 1 if verdict.faults else 0


if __name__ == "__main__":
    sys.exit(main())

"""One soak: the routers, the clients and the faults, and the end, at which all that was stored has to have come."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from tests.long.soak.journal import Journal
from tests.long.soak.judge import Verdict, facts_of, judged
from tests.long.soak.load import PUBLISHERS, Load, create
from tests.long.soak.network import SoakNetwork, soaking
from tests.long.soak.schedule import HOMES, Fault, schedule

QUIET_S: Final = 4.0
END_S: Final = 90.0
"""How long messages may come after the last fault."""
Tell = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class SoakPlan:
    minutes: float = 1.0
    seed: int = 1


async def soaked(folder: Path, plan: SoakPlan, tell: Tell) -> Verdict:
    """Run a soak in `folder`, or go on with the one that was begun there; judge all of it."""
    begun = folder / "plan.json"
    folder.mkdir(parents=True, exist_ok=True)
    said = json.dumps([plan.minutes, plan.seed])
    if begun.exists() and begun.read_text() != said:
        raise ValueError(f"{folder} has a soak of {begun.read_text()}, not {said}")
    begun.write_text(said)
    with contextlib.closing(Journal(folder / "journal.jsonl")) as journal:
        return await _soaked(folder, plan, journal, tell)


async def _soaked(folder: Path, plan: SoakPlan, journal: Journal, tell: Tell) -> Verdict:
    done, numbers = 0, dict.fromkeys(PUBLISHERS, 0)
    for _, what, *words in journal.lines():
        done += what == "fault"
        if what == "sent":
            numbers[words[0]] = max(numbers[words[0]], words[1] + 1)
    faults = schedule(plan.seed, plan.minutes)[done:]
    async with soaking(folder, journal) as network:
        addresses = {name: router.address for name, router in network.routers.routers.items()}
        for home in HOMES:
            while not await create(home, addresses[home]):
                tell(f"not all routers know the durable subscription of {home}")
        load = Load(addresses, journal, Random(f"{plan.seed} {done}"), numbers)
        async with load.running():
            await _suffer(network, journal, faults, tell)
            load.stop()
            await _settle(network, load, tell)
        tracebacks = network.tracebacks()
    verdict = judged(facts_of(journal.lines()), HOMES)
    verdict.wrong += tracebacks
    return verdict


async def _suffer(network: SoakNetwork, journal: Journal, faults: list[Fault], tell: Tell) -> None:
    """Let each fault begin in its time; return when all have ended."""
    loop = asyncio.get_running_loop()
    began_s = loop.time() - (faults[0].at_s if faults else 0.0)
    counts: defaultdict[str, int] = defaultdict(int)
    async with asyncio.TaskGroup() as group:
        for fault in faults:
            await asyncio.sleep(began_s + fault.at_s - loop.time())
            journal.write("fault", fault.kind)
            counts[fault.kind] += 1
            tell(f"{fault.at_s:6.1f} s  {fault}")
            group.create_task(network.suffer(fault))


async def _settle(network: SoakNetwork, load: Load, tell: Tell) -> None:
    """Wait until chains have nothing left to send, and nothing comes any longer."""
    loop = asyncio.get_running_loop()
    began_s = time.monotonic()
    end_s = loop.time() + END_S
    await asyncio.sleep(QUIET_S)
    while loop.time() < end_s and (await network.behind() or loop.time() - load.last_got_s < QUIET_S):
        await asyncio.sleep(0.5)
    tell(f"quiet after {time.monotonic() - began_s:.0f} s")

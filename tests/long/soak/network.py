"""The routers of a soak, and what is done to them.

Law: a router has one fault at a time. A fault ends with its target as it was: running, linked, with room; a disk that
was lost is a new one.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

from tamis.testing import NetworkPlan, RouterNetwork, running
from tests.long.soak.journal import Journal
from tests.long.soak.schedule import LINKS, ROUTERS, Fault

DURABLE_KEYS: Final[dict[str, object]] = {
    "bytes": 268435456,
    "segment_bytes": 1048576,
    "custody": {"bytes": 1048576},
}
FAULTY_DISK: Final = Path(__file__).parents[1] / "faulty_disk.c"


class SoakNetwork:
    def __init__(self, network: RouterNetwork, faults: Path, journal: Journal) -> None:
        self.routers, self._faults, self._journal = network, faults, journal
        self._locks = {name: asyncio.Lock() for name in (*ROUTERS, *map("-".join, LINKS))}

    async def suffer(self, fault: Fault) -> None:
        """Begin a fault, wait, and end it."""
        async with self._locks["-".join(fault.target)]:
            await {
                "killed": self._kill,
                "cut": self._cut,
                "stopped": self._stop,
                "full": self._fill,
                "lost": self._lose,
            }[fault.kind](fault)

    async def _kill(self, fault: Fault) -> None:
        router = self.routers[fault.target[0]]
        await router.kill()
        self._done(fault)
        await asyncio.sleep(fault.lasts_s)
        await router.start()

    async def _lose(self, fault: Fault) -> None:
        router = self.routers[fault.target[0]]
        await router.kill()
        shutil.rmtree(router.file.with_suffix("") / "log")
        self._journal.write("disk-lost", router.name)
        self._done(fault)
        await asyncio.sleep(fault.lasts_s)
        await router.start()

    async def _stop(self, fault: Fault) -> None:
        router = self.routers[fault.target[0]]
        router.pause()
        self._done(fault)
        await asyncio.sleep(fault.lasts_s)
        router.resume()

    async def _cut(self, fault: Fault) -> None:
        await self.routers.set_link(*fault.target, "cut" if fault.lasts_s % 1 < 0.5 else "dark")
        self._done(fault)
        await asyncio.sleep(fault.lasts_s)
        await self.routers.set_link(*fault.target, "open")

    async def _fill(self, fault: Fault) -> None:
        full = self._faults / fault.target[0] / "full"
        full.touch()
        self._done(fault)
        await asyncio.sleep(fault.lasts_s)
        full.unlink()

    def _done(self, fault: Fault) -> None:
        self._journal.write("done", fault.kind, "-".join(fault.target))

    async def behind(self) -> int:
        """Return how many chains have something to send, of the routers that answer; one that does not answer counts as
        one."""
        told: dict[str, Any] = await self.routers.status()
        return sum(len(each["durable"]["behind"]) for each in told.values()) + len(ROUTERS) - len(told)

    def tracebacks(self) -> list[str]:
        """Return the beginning of each traceback in a log of a router."""
        logs = {router.name: router.log.read_text() for router in self.routers.routers.values()}
        return [f"{name}: {log[log.index('Traceback') :][:1_500]}" for name, log in logs.items() if "Traceback" in log]


@contextlib.asynccontextmanager
async def soaking(folder: Path, journal: Journal) -> AsyncIterator[SoakNetwork]:
    """Start the routers of a soak in `folder`, with what earlier ones have left there."""
    library, faults = folder / "faulty_disk.so", folder / "faults"
    command = ["gcc", "-shared", "-fPIC", "-O1", "-o", library, FAULTY_DISK, "-ldl"]
    await asyncio.to_thread(subprocess.run, command, check=True)
    environments = {}
    for name in ROUTERS:
        (faults / name).mkdir(parents=True, exist_ok=True)
        (faults / name / "full").unlink(missing_ok=True)
        environments[name] = {"LD_PRELOAD": str(library), "DISK_FAULTS": str(faults / name)}
    plan = NetworkPlan(
        ROUTERS,
        tuple((one, other, 1) for one, other in LINKS),
        keys={"durable": DURABLE_KEYS},
        environments=environments,
        is_proxied=True,
    )
    async with running(folder, plan) as network:
        await network.until_linked(60.0)
        yield SoakNetwork(network, faults, journal)

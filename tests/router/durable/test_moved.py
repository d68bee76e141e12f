"""A publisher whose router ends before it confirms goes on at another one, through which its messages have passed."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import tamis
from tamis.testing import line, running
from tests.router.durable.test_chains import consumed
from tests.router.durable.test_homes import DURABLE_KEYS, PATIENCE_S, create

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("gcc") is None, reason="the slow disk needs a C compiler"),
]
FAULTY_DISK = Path(__file__).parents[2] / "long" / "faulty_disk.c"


async def test_what_passed_through_a_router_is_stored_there_when_its_publisher_comes(tmp_path: Path) -> None:
    library, faults = tmp_path / "faulty_disk.so", tmp_path / "faults"
    faults.mkdir()
    command = ["gcc", "-shared", "-fPIC", "-O1", "-o", library, FAULTY_DISK, "-ldl"]
    await asyncio.to_thread(subprocess.run, command, check=True)
    slow = {"a": {"LD_PRELOAD": str(library), "DISK_FAULTS": str(faults)}}
    plan = replace(line("a", "b", "c", durable=DURABLE_KEYS), environments=slow)
    async with running(tmp_path, plan) as network:
        await network.until_linked()
        await network.until_at_rest(0.5, PATIENCE_S)
        await create(network, "c", "orders")
        await network.until_at_rest(1.0, PATIENCE_S)
        addresses = [network[name].address for name in ("a", "b")]
        async with tamis.connect(*addresses, name="publisher", patience_s=PATIENCE_S, redial_s=0.1) as client:
            (faults / "slow").touch()  # a confirms after a second, and sends before that
            waiting = [asyncio.create_task(client.publish({"n": n}, confirm="stored", retry=True)) for n in range(20)]
            while not (await network["b"].ask("/status"))["forwarded"]:
                await asyncio.sleep(0.01)
            await network["a"].kill()
            receipts = await asyncio.gather(*waiting)
        assert [each.is_stored for each in receipts] == [True] * 20
        assert await consumed(network, "c", "orders") == [*range(20)]

"""The load generator of the brokers, between two routers."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from tamis.bench.router.brokers import build, inputs
from tamis.bench.router.brokers.run import LoadFailed
from tamis.testing import RouterProcess


async def load(
    folder: Path, source: RouterProcess, end: RouterProcess, measured: RouterProcess, **options: object
) -> dict[str, float]:
    """Published at `source`, received at `end`; processor time is that of `measured`."""
    files = inputs.one_filter().write(folder)
    chosen = files | options | {"protocol": "tamis", "port": end.port, "pid": measured.pid}
    chosen["publish-at"] = source.port
    process = await asyncio.create_subprocess_exec(
        str(build.load_generator()),
        *(f"--{name}={value}" for name, value in chosen.items()),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        told, problem = await process.communicate()
    except BaseException:
        process.kill()
        raise
    if process.returncode:
        raise LoadFailed(problem.decode().strip())
    seen: dict[str, float] = json.loads(told)
    return seen

"""The load generator of the brokers, between two routers."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tamis.bench.router.brokers import inputs
from tamis.bench.router.brokers.run import SETUP_S, load
from tamis.testing import RouterProcess


async def load_between(
    folder: Path, source: RouterProcess, end: RouterProcess, measured: RouterProcess, **options: object
) -> dict[str, float]:
    """Published at `source`, received at `end`; processor time is that of `measured`."""
    asked = {"protocol": "tamis", "port": end.port, "pid": measured.pid, "publish-at": source.port, **options}
    files = inputs.one_filter().write(folder)
    return await asyncio.to_thread(load, files | {name: str(value) for name, value in asked.items()}, SETUP_S)

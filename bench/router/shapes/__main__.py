"""What small networks of real routers do.

python -m tamis.bench.router.shapes [--only NAME,...] [--rounds 1] [--json]
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import click

from tamis.bench.commands import chosen
from tamis.bench.router.shapes.diamond import diamond
from tamis.bench.router.shapes.quiet import quiet
from tamis.bench.router.shapes.saturated import saturated
from tamis.bench.router.shapes.triangle import triangle
from tamis.bench.scratch import scratch_folder
from tamis.bench.tables import tell

SHAPES: Final[dict[str, Callable[[Path], Awaitable[dict[str, object]]]]] = {
    "triangle": triangle,
    "diamond-kill": lambda folder: diamond(folder, "kill"),
    "diamond-stop": lambda folder: diamond(folder, "stop"),
    "quiet": quiet,
    "saturated": saturated,
}
PATIENCE_S: Final = 300


@click.command()
@click.option("--only", default=",".join(SHAPES), show_default=True, help="Parts to measure.")
@click.option("--rounds", type=click.IntRange(min=1), default=1, show_default=True, help="Rounds of each shape.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def main(only: str, rounds: int, as_json: bool) -> None:
    """Start each network, do it, count."""
    for name in chosen(only, SHAPES, "--only"):
        for _ in range(rounds):
            found = {"shape": name, "load": round(os.getloadavg()[0], 1)} | asyncio.run(_bounded(name))
            tell(found, as_json)


async def _bounded(name: str) -> dict[str, object]:
    with scratch_folder() as folder:
        async with asyncio.timeout(PATIENCE_S):
            return await SHAPES[name](folder)


if __name__ == "__main__":
    main()

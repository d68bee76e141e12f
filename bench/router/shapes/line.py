"""Three routers in a line: what each of them spends on a message, beside a router that is alone."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Final

from tamis.bench.router.shapes.load import load
from tamis.testing import NetworkPlan, RouterNetwork, running

ROUNDS: Final = 3
OPTIONS: Final = {"warm": 0.5, "seconds": 2, "window": 8192}


async def line(folder: Path) -> dict[str, object]:
    alone_folder, line_folder = folder / "alone", folder / "line"
    alone_folder.mkdir()
    line_folder.mkdir()
    alone = NetworkPlan(("a",), ())
    three = NetworkPlan(("a", "b", "c"), (("a", "b", 1), ("b", "c", 1)))
    rounds: dict[str, list[dict[str, float]]] = {}
    async with running(alone_folder, alone) as one, running(line_folder, three) as network:
        await network.until_linked()
        for _ in range(ROUNDS):
            rounds.setdefault("alone", []).append(await _round(folder, one, "a", "a", "a"))
            for name in "abc":
                rounds.setdefault(name, []).append(await _round(folder, network, "a", "c", name))
    spent = {name: median(each["cpu_us"] for each in of) for name, of in rounds.items()}
    return {
        "messages_per_s_alone": round(median(each["messages_per_s"] for each in rounds["alone"])),
        "messages_per_s_in_line": round(median(each["messages_per_s"] for name in "abc" for each in rounds[name])),
        "cpu_us": {name: round(value, 3) for name, value in spent.items()},
        "times_alone": {name: round(spent[name] / spent["alone"], 2) for name in "abc"},
    }


async def _round(folder: Path, network: RouterNetwork, source: str, end: str, measured: str) -> dict[str, float]:
    routers = network.routers
    seen = await load(folder, routers[source], routers[end], routers[measured], **OPTIONS)
    return {
        "cpu_us": 1e6 * seen["daemon_cpu_s"] / max(1, seen["messages"]),
        "messages_per_s": seen["messages"] / seen["seconds"],
    }

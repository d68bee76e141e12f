"""The cost of knowing the durable subscriptions of other routers: `python -m tamis.bench.custody.stated`.

    own      bytes of one more durable subscription at its home, which states it to all
    stated   bytes of one more at each router that knows and stores it
    one more milliseconds until one more is on the disk of its home, and known and stored at every other router
    held     the longest time for which a router computed without a pause in its event loop

Law: standard routers in processes of their own, in a ring with chords; their memory is the private memory that the
system reports. A few durable subscriptions are made at each before the first measure, so that logs and chains exist.
Then one home makes all of its own, alone, and after that all others make theirs: what the first one has more after that
is of others. A router is restarted at the end, with all of it.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import click

import tamis
from tamis.bench.commands import leave_on_sigterm, say
from tamis.bench.memory import own_bytes
from tamis.bench.scratch import scratch_folder
from tamis.bench.tables import markdown, short
from tamis.testing import NetworkPlan, NotReady, RouterNetwork, RouterProcess, running

HOMES: Final = 8
DURABLES: Final = 10_000
IN_FLIGHT: Final = 250
"""Durable subscriptions of one home that are requested and not answered."""
FEW: Final = 50
"""Of each home, before the first measure."""
QUIET_S: Final = 1.0
PATIENCE_S: Final = 300.0
POLL_S: Final = 0.02
PREDICATES: Final = (
    'customer = "c-{n:07d}"',
    'kind = "order" and customer = "c-{n:07d}"',
    'symbol = "S{some}" and price > {n}.5',
    "sensor = {n} and temperature > {some}",
    'topic prefix "plant/{some}/line/{n}"',
)
"""What applications ask for; `n` differs for each durable subscription, `some` has a hundred values."""


@dataclass(frozen=True, slots=True)
class StatedCost:
    """`held_ms` of all routers until all was made; `restart_held_ms` of the restarted one, `beside_held_ms` of all
    others in the whole run."""

    homes: int
    durables: int
    made_s: float
    before_mib: float
    own_bytes: float
    stated_bytes: float
    grown_mib: float
    grown_mib_max: float
    one_more_ms: float
    one_more_ms_min: float
    one_more_ms_max: float
    held_ms: float
    ready_s: float
    in_step_s: float
    restart_held_ms: float
    beside_held_ms: float


def chorded_ring(homes: int, durables: int) -> NetworkPlan:
    """Return a plan of routers in a ring, each linked to the one opposite, too."""
    names = tuple(f"r{n}" for n in range(homes))
    ends = {frozenset((n, (n + step) % homes)) for n in range(homes) for step in (1, homes // 2)}
    links = tuple((names[min(pair)], names[max(pair)], 1) for pair in sorted(ends, key=sorted) if len(pair) == 2)
    each = durables + 2 * FEW + 1_000
    durable = {"subscriptions": each, "subscriptions_per_client": each, "bytes_per_client": 2**50}
    limits = {"table_bytes_per_client": 2**28, "filters_per_client": 1_000_000}
    return NetworkPlan(names, links, keys={"durable": durable, "limits": limits}, keepalive={"hold_ms": 20_000})


async def make(router: RouterProcess, first: int, count: int) -> None:
    """Make durable subscriptions as one client, several at a time, each with a predicate of its own."""
    numbers = iter(range(first, first + count))

    async def some(client: tamis.Client) -> None:
        for n in numbers:
            name = f"{router.name}-work-{n}"
            predicate = PREDICATES[n % len(PREDICATES)].format(n=int(router.name[1:]) * 1_000_000 + n, some=n % 100)
            await client.durable(name, predicate, idle=None)

    async with tamis.connect(router.address, name=f"maker-{router.name}") as client:
        await asyncio.gather(*(some(client) for _ in range(min(IN_FLIGHT, count))))


async def one_more_ms(router: RouterProcess, n: int, others: int) -> float:
    """Return the milliseconds until one more is known and stored at all `others`; NotReady if it is not."""
    async with tamis.connect(router.address, name="one-more") as client:
        start = time.perf_counter()
        known = await client.durable(f"{router.name}-more-{n}", f"one-more = {n}", idle=None)
        took_ms = (time.perf_counter() - start) * 1e3
    if known.known_count != others:
        raise NotReady(f"one more durable subscription is not known everywhere: {known}")
    return took_ms


async def held_ms(routers: Sequence[RouterProcess]) -> float:
    return max([float((await router.ask("/status"))["longest_stall_ms"]) for router in routers])


async def restart(router: RouterProcess) -> tuple[float, float]:
    """Restart a router; return the seconds until it listens, and until it is in step and stores for all homes."""
    await router.leave()
    start = time.perf_counter()
    await router.start()
    ready_s = time.perf_counter() - start
    while True:
        status = await router.ask("/status")
        if status["ready"] and status["network"]["in_step"] and not status["durable"]["best_effort"]:
            return ready_s, time.perf_counter() - start
        if time.perf_counter() - start > PATIENCE_S:
            raise NotReady(f"router {router.name} is not in step {PATIENCE_S:g} s after its start")
        await asyncio.sleep(POLL_S)


async def measured(folder: Path, homes: int, durables: int, rounds: int) -> StatedCost:
    async with running(folder, chorded_ring(homes, durables)) as network:
        routers = list(network.routers.values())
        first, rest = routers[0], routers[1:]
        await network.until_linked()
        await asyncio.gather(*(make(router, durables, FEW) for router in routers))
        before = await _memory(network)
        start_s = time.perf_counter()
        say(f"{durables:,} durable subscriptions at {first.name} ...")
        await make(first, 0, durables)
        made_s = time.perf_counter() - start_s
        alone = await _memory(network)
        say(f"as many at each of {len(rest)} others ...")
        start_s = time.perf_counter()
        await asyncio.gather(*(make(router, 0, durables) for router in rest))
        made_s += time.perf_counter() - start_s
        after = await _memory(network)
        held = await held_ms(routers)
        say(f"one more, {rounds} times ...")
        more = [await one_more_ms(routers[n % homes], n, len(rest)) for n in range(rounds)]
        say(f"{first.name} is restarted ...")
        ready_s, in_step_s = await restart(first)
        grown = [(after[each.name] - before[each.name]) / 2**20 for each in routers]
        return StatedCost(
            *(homes, durables, made_s, statistics.mean(before.values()) / 2**20),
            own_bytes=(alone[first.name] - before[first.name]) / durables,
            stated_bytes=(after[first.name] - alone[first.name]) / durables / len(rest),
            grown_mib=statistics.mean(grown),
            grown_mib_max=max(grown),
            one_more_ms=statistics.median(more),
            one_more_ms_min=min(more),
            one_more_ms_max=max(more),
            held_ms=held,
            ready_s=ready_s,
            in_step_s=in_step_s,
            restart_held_ms=await held_ms([first]),
            beside_held_ms=await held_ms(rest),
        )


async def _memory(network: RouterNetwork) -> dict[str, int]:
    """Return the private memory of each router, once all are at rest."""
    await network.until_at_rest(QUIET_S, PATIENCE_S)
    return {name: own_bytes(router.pid) for name, router in network.routers.items()}


@click.command()
@click.option("--homes", type=click.IntRange(min=3), default=HOMES, show_default=True, help="Routers, each a home.")
@click.option(
    "--durables", type=click.IntRange(min=1), default=DURABLES, show_default=True, help="Durable subscriptions of each."
)
@click.option("--rounds", type=click.IntRange(min=1), default=8, show_default=True, help="How often one more is made.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def main(homes: int, durables: int, rounds: int, as_json: bool) -> None:
    """Make durable subscriptions at every router of a network; print what each router pays for those of the others."""
    leave_on_sigterm()
    with scratch_folder() as folder:
        cost = asdict(asyncio.run(measured(folder, homes, durables, rounds)))
    if as_json:
        print(json.dumps(cost))
    else:
        print(markdown(["figure", "value"], [[name, short(float(figure))] for name, figure in cost.items()]))


if __name__ == "__main__":
    sys.exit(main())

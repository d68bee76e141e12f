"""Totals of many runs: `python -m tamis.simulate.ledger --minutes 120 --seed-from 1 --processes 2`.

Law: a line of the ledger is one whole run, which can be run again by its seed and its shape. Seeds are taken upwards
from where the ledger ends, or from --seed-from, so no two lines have one seed. A run that was interrupted leaves no
line.
"""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import count, islice, takewhile
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

import click

from tamis.protocol.strategies import BY_NAME, DEFAULT
from tamis.router.core.routing.trees import Broadcast
from tamis.simulate.faults.faults import MIXES
from tamis.simulate.faults.topologies import KINDS
from tamis.simulate.report import for_programs
from tamis.simulate.run import Scenario, run

LEDGER = Path(__file__).parents[1] / "bench" / "results" / "simulation.jsonl"
ACCIDENTS_UNTIL = 5_040
"""The last seed with accidents alone; later ones also have wrong clocks and a hostile router."""
SIZES = (*(2, 3, 4, 5, 6, 8, 10, 12, 16) * 9, 20, 24, 32, 48, 64)
"""The sizes to draw from. The steps of an operation grow with the number of routers, and so does the work of a step: a
run of 64 routers takes as long as a hundred of 2."""
BROADCASTS: tuple[Broadcast, ...] = (*("source-trees",) * 8, "shared-tree", "reverse-path")


def scenario_of(
    seed: int,
    operations: int,
    mix: str | None = None,
    strategy: str = DEFAULT.name,
    merge: float | None = None,
    engine: str | None = None,
) -> Scenario:
    """Return the run of a seed: shapes in turn, sizes and layers by chance; faults of `mix`, or else by the seed."""
    random = Random(f"{seed}/ledger")
    kind = tuple(KINDS)[seed % len(KINDS)]
    broadcast = random.choice(BROADCASTS)
    coarse = broadcast == "source-trees" and random.random() < 0.1
    faults = mix or ("all" if seed <= ACCIDENTS_UNTIL else "worst")
    topology = f"{kind}:{random.choice(SIZES)}"
    return Scenario(topology, operations, faults, seed, strategy, broadcast, coarse, merge=merge, engine=engine)


def line_of(
    seed: int,
    operations: int,
    mix: str | None = None,
    strategy: str = DEFAULT.name,
    merge: float | None = None,
    engine: str | None = None,
) -> dict[str, Any]:
    scenario = scenario_of(seed, operations, mix, strategy, merge, engine)
    began = time.process_time()
    told = for_programs(run(scenario), time.process_time() - began)
    counts = told["counts"]
    return {
        "seed": seed,
        "topology": scenario.topology,
        "broadcast": scenario.broadcast,
        "coarse": scenario.coarse,
        "faults": scenario.faults,
        **({} if strategy == DEFAULT.name else {"strategy": strategy}),
        **({} if merge is None else {"merge": merge}),
        **({} if engine is None else {"engine": engine}),
        "ops": counts["operations"],
        "delivered": counts.get("delivered", 0),
        "required_at_rest": counts.get("required at rest", 0),
        "required_in_motion": counts.get("required in motion", 0),
        "lost": counts.get("lost", 0),
        "gaps": counts.get("gaps", 0),
        "gaps_over_a_loss": counts.get("gaps over a loss", 0),
        **_of_groups(counts),
        **_of_merging(counts),
        **_of_custody(counts),
        "violations": counts.get("violations", 0),
        "cpu_s": told["seconds"],
        "digest": told["digest"],
    } | ({"replay": told["replay"]} if counts.get("violations") else {})


def _of_groups(counts: dict[str, int]) -> dict[str, int]:
    """Return the counts of worker groups of a run; empty if it had none."""
    if "did join" not in counts:
        return {}
    return {
        "shared": counts.get("shared", 0),
        "groups_required_at_rest": counts.get("required of groups at rest", 0),
        "groups_required_in_motion": counts.get("required of groups in motion", 0),
        "groups_dropped_by_a_router": counts.get("for members, dropped by a router", 0),
        "groups_lost_or_refused": counts.get("for members, lost or refused", 0),
        "groups_second_tries": counts.get("members after a second try", 0),
    }


def _of_merging(counts: dict[str, int]) -> dict[str, int]:
    """Return the counts of merged filters of a run; empty if it merged none."""
    if "merged filters at rest" not in counts:
        return {}
    return {
        "merged_filters": counts["merged filters at rest"],
        "merged_parts": counts["parts of merged filters at rest"],
        "contents_wanted": counts["wanted contents at rest"],
        "contents_in_vain": counts["surplus contents at rest"],
        "hops": counts.get("hops", 0),
        "arrived_in_vain": counts.get("arrived unneeded", 0),
    }


def _of_custody(counts: dict[str, int]) -> dict[str, int]:
    """Return the counts of custody of a run; empty if it had none."""
    if "custody frames" not in counts:
        return {}
    return {
        "custody_stored": counts.get("confirmed stored", 0),
        "custody_held": counts.get("confirmed held", 0),
        "custody_required": counts.get("confirmed for a home", 0),
        "custody_there": counts.get("confirmed and there", 0),
        "custody_given_up": counts.get("confirmed and given up", 0),
        "custody_lost_with_a_disk": counts.get("confirmed and lost with a disk", 0),
        "custody_left_for_age": counts.get("given up for age", 0),
        "custody_left_for_room": counts.get("given up for room", 0),
        "custody_refused": counts.get("refused without room", 0),
    }


def totals(lines: Iterable[dict[str, Any]]) -> Counter[str]:
    added: Counter[str] = Counter()
    for line in lines:
        added["runs"] += 1
        for key in ("ops", "delivered", "required_at_rest", "required_in_motion", "violations", "cpu_s"):
            added[key] += line[key]
    return added


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@click.command()
@click.option(
    "--minutes", type=click.FloatRange(min=0), default=1.0, show_default=True, help="Begin no run after this time."
)
@click.option("--runs", type=click.IntRange(min=1), help="Do this many runs, regardless of time.")
@click.option("--seed-from", type=int, help="Begin with this seed (default: after the last of the ledger).")
@click.option(
    "--ops", type=click.IntRange(min=1), default=200, show_default=True, help="Set the operations of each run."
)
@click.option("--processes", type=click.IntRange(min=1), default=1, show_default=True)
@click.option(
    "--faults", "mix", type=click.Choice(tuple(MIXES)), help="Use this mix in all runs (default: by the seed)."
)
@click.option("--strategy", type=click.Choice(tuple(BY_NAME)), default=DEFAULT.name, show_default=True)
@click.option("--merge", type=click.FloatRange(0, 0.9), help="Merge filters within this limit.")
@click.option("--engine", metavar="NAME", help="Find covered filters like a router with this engine, in C.")
@click.option("--into", type=click.Path(path_type=Path), default=LEDGER, help="Append to this ledger.")
def main(
    minutes: float,
    runs: int | None,
    seed_from: int | None,
    ops: int,
    processes: int,
    mix: str | None,
    strategy: str,
    merge: float | None,
    engine: str | None,
    into: Path,
) -> int:
    """Run networks one after another and write a line for each; exit with 1 if any violation was found."""
    before = read(into)
    known = {line["seed"] for line in before}
    first = max(known, default=0) + 1 if seed_from is None else seed_from
    until = time.monotonic() + 60 * minutes if runs is None else math.inf
    seeds = islice((seed for seed in count(first) if seed not in known), runs)
    begun_in_time = takewhile(lambda _: time.monotonic() < until, seeds)
    bad = 0
    with into.open("a") as ledger:
        for line in _lines(begun_in_time, ops, (mix, strategy, merge, engine), processes):
            ledger.write(json.dumps(line) + "\n")
            ledger.flush()
            bad += line["violations"]
            if line["violations"]:
                click.echo(f"{line['violations']} violations: {line['replay']}", err=True)
    added = totals(read(into))
    words = (f"{added[key]:,.0f} {key.replace('_', ' ')}" for key in added)
    click.echo(", ".join(words))
    return 1 if bad else 0


def _lines(
    seeds: Iterator[int], operations: int, how: tuple[str | None, str, float | None, str | None], processes: int
) -> Iterator[dict[str, Any]]:
    """Yield lines of the ledger as runs end. `how` is the mix of faults, the strategy, the limit of merging and the
    engine. Each process has one run at work and one waiting."""
    with ProcessPoolExecutor(processes, get_context("spawn"), max_tasks_per_child=100) as pool:
        running: set[Future[dict[str, Any]]] = set()
        while True:
            for seed in islice(seeds, 2 * processes - len(running)):
                running.add(pool.submit(line_of, seed, operations, *how))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (each.result() for each in done)


if __name__ == "__main__":
    raise SystemExit(main(standalone_mode=False))

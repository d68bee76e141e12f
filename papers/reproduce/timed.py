"""Times of engines on one table, and the work that they count: a row for each engine.

Law: times are `bench/matching/passes.py`'s: for each message the fastest of interleaved passes, the whole three times
over. The spread is that of the three, and at least the share of the time in which the run waited. Beside a time stands
what was counted in a pass of its own, which no neighbour can move: steps, updates of counters and those that were
skipped. Engines that answer differently end the run.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence

from tamis.bench.matching import workloads
from tamis.bench.matching.contenders import Contender, Setup, contenders
from tamis.bench.matching.passes import Built, build, measure_in_turns
from tamis.bench.matching.workloads import Workload
from tamis.papers.measures.waiting import Waiting
from tamis.papers.reproduce.figure import FigureRun, ResultRow


def timed(
    run: FigureRun, workload: str, made: Workload, interfaces: int, engines: Sequence[str], rounds: Sequence[int] = (0,)
) -> list[ResultRow]:
    """A row for each engine, spelled as `contenders` takes it."""
    filters = len(made.filters)
    dealt = workloads.deal(workload, filters, interfaces, run.seed)
    chosen = contenders(engines, rounds)
    setup = Setup(workload, filters, interfaces, len(made.messages), 1, run.seed, chosen, passes=run.whole("passes"))
    return _rows(run, setup, made, dealt, chosen)


def _rows(
    run: FigureRun, setup: Setup, made: Workload, dealt: array[int], chosen: tuple[Contender, ...]
) -> list[ResultRow]:
    built = [build(contender, made.filters, dealt, run.say) for contender in chosen]
    try:
        counted = {id(each): _counted(each, made) for each in built}
        with Waiting() as waiting:
            measure_in_turns(built, made.messages, setup, run.say, math.inf)
        return [
            {
                "F": setup.filter_count,
                "I": setup.interfaces,
                "constraints": made.constraint_count,
                "engine": each.contender.label,
                **counted[id(each)],
                **_times(each, waiting.share),
            }
            for each in built
        ]
    finally:
        for each in built:
            each.table.close()


def _counted(each: Built, made: Workload) -> dict[str, float]:
    before = each.table.stats()
    matched = sum(len(found) for found in each.table.match_batch(made.messages))
    after, messages = each.table.stats(), len(made.messages)
    return {
        "matched": matched / messages,
        "steps": (after.steps - before.steps) / messages,
        "updates": (after.updates - before.updates) / messages,
        "skipped": (after.skipped - before.skipped) / messages,
    }


def _times(each: Built, waited: float) -> dict[str, float]:
    best = each.times.best_us()
    return {"us": sum(best) / max(len(best), 1), "spread": max(each.times.spread(), waited)}

"""How fast the engines match, side by side: built from the same bytes, measured in turns, and held to one answer.

Law: every contender sees the same filters, messages and interfaces, in one run, on one thread (passes.py says how it is
timed); unequal answers fail the run, before, during and after updates. A ratio is taken against the fastest contender
of the first engine named: a slow baseline is a false ratio.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, replace
from typing import Final

from tamis.bench.matching.contenders import Contender, EnginesDisagree, Progress, Setup
from tamis.bench.matching.libraries.contest import Contest, LibraryDisagrees, LibraryFailed, contest
from tamis.bench.matching.passes import Built, build, check_equal, checksum_text, measure_in_turns
from tamis.bench.matching.updates import UpdateTimes, quantile, update
from tamis.bench.matching.workloads import Workload
from tamis.native import Batch

_ASKED_DURING: Final = 50  # messages, while a sample of the filters is out


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One contender's figures; `engine` has its options, but for the rounds. Times of messages exclude decoding;
    `spread` is (slowest - fastest) / fastest repeat.

    Of a library less is known: what it cannot tell is None. `share` is the share of the filters that it expresses, and
    `tamis_us` the time of `tamis` on those; `note` says how, or why there are no figures: then its time is infinite.
    `steps` are those of `tm_stats`, of a message; `passes` is how often each message was timed, and `repeats_us` what
    each of the three repeats says alone.
    """

    engine: str
    rounds: int | None
    build_s: float | None
    mean_us: float
    spread: float | None = None
    median_us: float | None = None
    p99_us: float | None = None
    msgs_per_s: float
    bytes_per_constraint: float | None = None
    hot_bytes_per_constraint: float | None = None
    updates: UpdateTimes | None = None
    active: int
    matched_mean: float
    checksum: str
    ratio: float = 1.0
    steps: float | None = None
    passes: int | None = None
    repeats_us: list[float] | None = None
    instructions: float | None = None
    churn: float | None = None
    share: float | None = None
    tamis_us: float | None = None
    note: str | None = None


def run(setup: Setup, workload: Workload, progress: Progress, seconds_max: float = math.inf) -> list[Result]:
    """Measure every contender on `workload`, which the setup made; EnginesDisagree if they do. One that would take
    longer than `seconds_max` to match the messages has a note in place of its figures; of one whose updates take longer
    fewer are timed."""
    asked = _Asked(setup, workload, setup.deal(), progress, seconds_max)
    ours = [contender for contender in setup.contenders if contender.library is None]
    measured = dict(zip(ours, _run_ours(ours, asked), strict=True))
    for contender in setup.contenders:
        if contender.library is not None:
            measured[contender] = _run_library(contender, asked)
    return with_ratios([measured[contender] for contender in setup.contenders])


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is measured; `interfaces` has that of each filter."""

    setup: Setup
    workload: Workload
    interfaces: array[int]
    progress: Progress
    seconds_max: float


def _run_ours(ours: list[Contender], asked: _Asked) -> list[Result]:
    built = [build(contender, asked.workload.filters, asked.interfaces, asked.progress) for contender in ours]
    try:
        measure_in_turns(built, asked.workload.messages, asked.setup, asked.progress, asked.seconds_max)
        able = [each for each in built if each.too_slow is None]
        updates = _update(able, asked)
        _check_after_updates(able, asked.setup, asked.workload.messages)
        return [_result(each, updates.get(each.contender)) for each in built]
    finally:
        for each in built:
            each.table.close()


def _update(tables: list[Built], asked: _Asked) -> dict[Contender, UpdateTimes]:
    filters, messages = asked.workload.filters, asked.workload.messages
    few = Batch.of(messages[i] for i in range(min(_ASKED_DURING, len(messages))))
    times, answers = {}, {}
    for each in tables:
        label = each.contender.label
        asked.progress(f"updates of {label}")
        told, answers[label] = update(each, filters, asked.interfaces, asked.setup.seed, few, asked.seconds_max)
        times[each.contender] = told
    check_equal({label: {checksum} for label, checksum in answers.items()})
    return times


def _check_after_updates(tables: list[Built], setup: Setup, messages: Batch) -> None:
    """The filters are those of before, so the answers are."""
    for each in tables:
        after = each.table.measure(messages, grouping=setup.grouping)
        if after.checksum not in each.times.checksums:
            raise EnginesDisagree(f"{each.contender.label} answers differently after removing and adding filters")


def _run_library(contender: Contender, asked: _Asked) -> Result:
    """A grouping does to a library what it does to us: the interface of a filter is then its link."""
    links, groups = asked.interfaces, asked.setup.group_count
    if groups is not None:
        links = array("I", (i % groups for i in links))
    asked.progress(f"{contender.label}, in a process of its own")
    seconds_max = None if math.isinf(asked.seconds_max) else asked.seconds_max
    try:
        told = contest(contender.library or "", asked.workload, links, seconds_max)
    except LibraryDisagrees as error:
        raise EnginesDisagree(str(error)) from None
    except LibraryFailed as error:
        asked.progress(str(error))
        return _result_of_library(contender, Contest.nothing(contender.label), str(error))
    note = f"{told.share:.0%} of the filters, on which tamis takes {told.tamis_us:.3g} us; {told.how}"
    return _result_of_library(contender, told, note)


def with_ratios(results: list[Result]) -> list[Result]:
    base_us = min(result.mean_us for result in results if result.engine == results[0].engine)
    able = (math.isfinite(result.mean_us) for result in results)
    return [
        replace(each, ratio=base_us / each.mean_us if is_able else 0.0)
        for each, is_able in zip(results, able, strict=True)
    ]


def fastest_of_each(results: list[Result]) -> list[Result]:
    """One result for each engine, in the order in which engines were named."""
    best: dict[str, Result] = {}
    for result in results:
        if result.engine not in best or result.mean_us < best[result.engine].mean_us:
            best[result.engine] = result
    return list(best.values())


def _result(built: Built, updates: UpdateTimes | None) -> Result:
    stats, times = built.table.stats(), built.times
    singles = sorted(times.best_us()) if times.repeats else []
    mean_us = sum(singles) / len(singles) if singles else math.inf
    return Result(
        engine=built.contender.variant,
        rounds=built.contender.rounds,
        build_s=built.build_s,
        mean_us=mean_us,
        msgs_per_s=1e6 / mean_us if mean_us else math.inf,
        spread=times.spread() if times.repeats else None,
        median_us=quantile(singles, 0.5) if singles else None,
        p99_us=quantile(singles, 0.99) if singles else None,
        bytes_per_constraint=stats.bytes_per_constraint,
        hot_bytes_per_constraint=stats.hot_bytes_per_constraint,
        updates=updates,
        active=stats.active,
        matched_mean=times.matched / max(len(singles), 1),
        checksum=checksum_text(min(times.checksums, default=0)),
        steps=times.steps if times.repeats else None,
        passes=times.passes,
        repeats_us=times.repeats_us(),
        note=built.too_slow,
    )


def _result_of_library(contender: Contender, told: Contest, note: str) -> Result:
    return Result(
        engine=contender.engine,
        rounds=None,
        build_s=told.build_s,
        mean_us=told.mean_us,
        msgs_per_s=1e6 / told.mean_us,
        active=told.expressed,
        matched_mean=told.matched_mean,
        checksum=checksum_text(told.checksum),
        share=told.share,
        tamis_us=told.tamis_us,
        note=note,
    )

"""How fast the engines match, side by side: built from the same bytes, measured in turns, and held to one answer.

Law: every contender sees the same filters, messages and interfaces, in one run, on one thread; passes are interleaved,
because a shared machine drifts by more than engines differ; unequal answers fail the run, before and after updates.
A ratio is taken against the fastest contender of the first engine named: a slow baseline is a false ratio.
"""

from __future__ import annotations

import random
import time
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from tamis.bench.matching import libraries, workloads
from tamis.bench.matching.libraries.contest import Contest, LibraryDisagrees, LibraryFailed, contest
from tamis.bench.matching.workloads import Workload
from tamis.native import Batch, Measurement, Table, engines_with
from tamis.protocol.errors import TamisError
from tamis.protocol.limits import MATCH_STEPS_MAX

PASSES = 3
SFF_ROUNDS = (0, 10)  # paper 004 compares exactly these
_UPDATES_AT_ONCE = 50_000  # the sample of single updates at full size
_UPDATE_SHARE = 4  # no more than a quarter of the table is out at a time
_UPDATES_TIMED = 20_000  # at least: p99.9 needs some of them beyond it
_SETTLE_STEPS = 1_024
_PASS_NS_MIN = 50_000_000  # a short pass would be at the mercy of one time slice (4 ms) of a neighbour
_REPEATS_MAX = 100

Progress = Callable[[str], None]


class EnginesDisagree(TamisError):
    """Two engines answered differently: a bug, and no figure of the run is worth anything."""


@dataclass(frozen=True, slots=True)
class Contender:
    """An engine, with options or without (`sff:circuit=each`), and, if it has that option, its rounds; or
    `library:NAME`, which has no table of ours."""

    engine: str
    rounds: int | None = None

    @property
    def label(self) -> str:
        return self.engine if self.rounds is None else f"{self.engine} r={self.rounds}"

    @property
    def library(self) -> str | None:
        return self.engine.removeprefix(libraries.PREFIX) if self.engine.startswith(libraries.PREFIX) else None

    def table(self) -> Table:
        options = {} if self.rounds is None else {"rounds": self.rounds}
        return Table(self.engine, match_steps=MATCH_STEPS_MAX, options=options)


@dataclass(frozen=True, slots=True)
class Setup:
    """What to run. `interface_count` None is one interface per filter; `group_count` groups the interfaces."""

    workload: str
    filter_count: int
    interface_count: int | None
    message_count: int
    name_count: int
    seed: int
    contenders: tuple[Contender, ...]
    group_count: int | None = None
    passes: int = PASSES

    @property
    def interfaces(self) -> int:
        return self.interface_count or max(self.filter_count, 1)

    @property
    def grouping(self) -> list[int] | None:
        return None if self.group_count is None else [i % self.group_count for i in range(self.interfaces)]

    def make(self) -> Workload:
        return workloads.make(self.workload, self.filter_count, self.message_count, self.name_count, self.seed)


@dataclass(frozen=True, slots=True)
class UpdateTimes:
    """Microseconds of single calls; a removal's mean carries its share of the settling that it left over."""

    add_us: float
    add_p50_us: float
    add_p99_us: float
    add_p999_us: float
    add_max_us: float
    remove_us: float
    remove_p50_us: float
    remove_p99_us: float
    remove_p999_us: float
    remove_max_us: float
    settle_us: float


@dataclass(frozen=True, slots=True)
class Result:
    """One contender's figures. Times of messages exclude decoding; `spread` is (slowest - fastest) / mean of passes.

    Of a library less is known: what it cannot tell is None. `share` is the share of the filters that it expresses, and
    `tamis_us` the time of `tamis` on those; `note` says how, or why there are no figures: then its time is infinite.
    """

    engine: str
    rounds: int | None
    build_s: float
    mean_us: float
    spread: float | None
    median_us: float | None
    p99_us: float | None
    msgs_per_s: float
    bytes_per_constraint: float | None
    hot_bytes_per_constraint: float | None
    updates: UpdateTimes | None
    active: int
    matched_mean: float
    checksum: str
    ratio: float = 1.0
    instructions: float | None = None
    churn: float | None = None
    share: float | None = None
    tamis_us: float | None = None
    note: str | None = None


@dataclass(slots=True)
class _Run:
    """A contender with its table and what has been measured so far."""

    contender: Contender
    table: Table
    handles: array[int]
    build_s: float
    passes: list[Measurement] = field(default_factory=list)


def contenders(engines: Iterable[str], rounds: Iterable[int] = SFF_ROUNDS) -> tuple[Contender, ...]:
    """One contender for each engine, or for each number of rounds if it has that option; LibraryMissing says what to
    install."""
    chosen: list[Contender] = []
    with_rounds = engines_with("rounds")
    known = (*Table.engines(), *(libraries.PREFIX + name for name in libraries.NAMES))
    for asked in engines:
        engine = libraries.present_name(asked)
        base = engine if engine in known else engine.partition(":")[0]
        if base not in known:
            raise ValueError(f"no engine {asked!r}; one of {', '.join(known)}")
        if name := Contender(engine).library:
            libraries.check_installed(name)
        is_several = base in with_rounds and ":rounds=" not in engine
        several = [Contender(engine, count) for count in rounds] if is_several else [Contender(engine)]
        for each in several if base in Table.engines() else []:
            each.table().close()  # says what is wrong with an option before anything is measured
        chosen.extend(several)
    return tuple(dict.fromkeys(chosen))


def run(setup: Setup, workload: Workload, progress: Progress) -> list[Result]:
    """Measure every contender on `workload`, which the setup made; EnginesDisagree if they do."""
    interfaces = workloads.spread(setup.filter_count, setup.interfaces)
    ours = [contender for contender in setup.contenders if contender.library is None]
    measured = dict(zip(ours, _run_ours(ours, setup, workload, interfaces, progress), strict=True))
    for contender in setup.contenders:
        if contender.library is not None:
            measured[contender] = _run_library(contender, setup, workload, interfaces, progress)
    return with_ratios([measured[contender] for contender in setup.contenders])


def _run_ours(
    ours: list[Contender], setup: Setup, workload: Workload, interfaces: array[int], progress: Progress
) -> list[Result]:
    runs = [_build(contender, workload, interfaces, progress) for contender in ours]
    _measure(runs, setup, workload.messages, progress)
    times = [_updates(run, workload.filters, interfaces, setup.seed, progress) for run in runs]
    _check_after_updates(runs, setup, workload.messages)
    results = [_result(run, updates) for run, updates in zip(runs, times, strict=True)]
    for each in runs:
        each.table.close()
    return results


def _run_library(
    contender: Contender, setup: Setup, workload: Workload, interfaces: array[int], progress: Progress
) -> Result:
    """A grouping does to a library what it does to us: the interface of a filter is then its link."""
    links = interfaces if setup.group_count is None else array("I", (i % setup.group_count for i in interfaces))
    progress(f"{contender.label}, in a process of its own")
    try:
        told = contest(contender.library or "", workload, links)
    except LibraryDisagrees as error:
        raise EnginesDisagree(str(error)) from None
    except LibraryFailed as error:
        progress(str(error))
        return _result_of_library(contender, Contest.nothing(contender.label), str(error))
    note = f"{told.share:.0%} of the filters, tamis takes {told.tamis_us:.3g} us on them; {told.how}"
    return _result_of_library(contender, told, note)


def with_ratios(results: list[Result]) -> list[Result]:
    base_us = min(result.mean_us for result in results if result.engine == results[0].engine)
    return [replace(result, ratio=base_us / result.mean_us) for result in results]


def fastest_of_each(results: list[Result]) -> list[Result]:
    """One result for each engine, in the order in which engines were named."""
    best: dict[str, Result] = {}
    for result in results:
        if result.engine not in best or result.mean_us < best[result.engine].mean_us:
            best[result.engine] = result
    return list(best.values())


def _build(contender: Contender, workload: Workload, interfaces: array[int], progress: Progress) -> _Run:
    progress(f"building {contender.label}")
    table = contender.table()
    start = time.perf_counter()
    handles = table.add_many(workload.filters, interfaces)
    return _Run(contender, table, handles, time.perf_counter() - start)


def _measure(runs: list[_Run], setup: Setup, messages: Batch, progress: Progress) -> None:
    for number in range(setup.passes):
        for each in runs:
            progress(f"pass {number + 1} of {setup.passes}: {each.contender.label}")
            each.passes.append(_pass(each.table, messages, setup.grouping))
    _check_equal(runs)


def _check_after_updates(runs: list[_Run], setup: Setup, messages: Batch) -> None:
    """The filters are those of before, so the answers are."""
    for each in runs:
        after = each.table.measure(messages, grouping=setup.grouping)
        if after.checksum != each.passes[0].checksum:
            raise EnginesDisagree(f"{each.contender.label} answers differently after removing and adding filters")


def _pass(table: Table, messages: Batch, grouping: list[int] | None) -> Measurement:
    """One measurement, or as many as last long enough: then the mean of their totals, and the last single times."""
    totals_ns: list[int] = []
    while sum(totals_ns) < _PASS_NS_MIN and len(totals_ns) < _REPEATS_MAX:
        measured = table.measure(messages, grouping=grouping)
        totals_ns.append(measured.total_ns)
    return replace(measured, total_ns=sum(totals_ns) // len(totals_ns))


def _check_equal(runs: list[_Run]) -> None:
    answers = {run.contender.label: {measured.checksum for measured in run.passes} for run in runs}
    if len(set().union(*answers.values())) > 1:
        told = ", ".join(f"{label} {' '.join(map(_hex, sums))}" for label, sums in answers.items())
        raise EnginesDisagree(f"engines disagree: checksums {told}")


def _updates(run: _Run, filters: Batch, interfaces: array[int], seed: int, progress: Progress) -> UpdateTimes:
    """Take a random sample out and put it back, so often that enough single updates have been timed."""
    progress(f"updates of {run.contender.label}")
    rng = random.Random(f"updates {seed}")
    size = min(_UPDATES_AT_ONCE, max(len(filters) // _UPDATE_SHARE, 1), len(filters))
    adds, removals, settle_ns = array("I"), array("I"), 0
    while size and len(adds) < _UPDATES_TIMED:
        chosen = rng.sample(range(len(filters)), size)
        removals.extend(run.table.measure_remove(array("I", (run.handles[i] for i in chosen))))
        settle_ns += _settle(run.table)
        sample = Batch.of(filters[i] for i in chosen)
        handles, taken = run.table.measure_add(sample, array("I", (interfaces[i] for i in chosen)))
        adds.extend(taken)
        for i, handle in zip(chosen, handles, strict=True):
            run.handles[i] = handle
    return _update_times(adds, removals, settle_ns)


def _settle(table: Table) -> int:
    start = time.perf_counter_ns()
    while table.settle(_SETTLE_STEPS):
        pass
    return time.perf_counter_ns() - start


def _update_times(adds: array[int], removals: array[int], settle_ns: int) -> UpdateTimes:
    count = max(len(adds), 1)
    added, removed = ([ns / 1000 for ns in sorted(times)] for times in (adds, removals))
    return UpdateTimes(
        add_us=sum(added) / count,
        add_p50_us=_quantile(added, 0.5),
        add_p99_us=_quantile(added, 0.99),
        add_p999_us=_quantile(added, 0.999),
        add_max_us=_quantile(added, 1),
        remove_us=sum(removed) / count + settle_ns / count / 1000,
        remove_p50_us=_quantile(removed, 0.5),
        remove_p99_us=_quantile(removed, 0.99),
        remove_p999_us=_quantile(removed, 0.999),
        remove_max_us=_quantile(removed, 1),
        settle_us=settle_ns / count / 1000,
    )


def _result(run: _Run, updates: UpdateTimes) -> Result:
    stats = run.table.stats()
    messages = max(len(run.passes[0].nanoseconds), 1)
    means = sorted(measured.total_ns / messages / 1000 for measured in run.passes)
    singles = sorted(ns for measured in run.passes for ns in measured.nanoseconds)
    mean_us = means[len(means) // 2]
    return Result(
        engine=run.contender.engine,
        rounds=run.contender.rounds,
        build_s=run.build_s,
        mean_us=mean_us,
        spread=(means[-1] - means[0]) / mean_us,
        median_us=_quantile(singles, 0.5) / 1000,
        p99_us=_quantile(singles, 0.99) / 1000,
        msgs_per_s=1e6 / mean_us,
        bytes_per_constraint=stats.bytes_per_constraint,
        hot_bytes_per_constraint=stats.hot_bytes_per_constraint,
        updates=updates,
        active=stats.active,
        matched_mean=run.passes[0].matched / messages,
        checksum=_hex(run.passes[0].checksum),
    )


def _result_of_library(contender: Contender, told: Contest, note: str) -> Result:
    return Result(
        engine=contender.engine,
        rounds=None,
        build_s=told.build_s,
        mean_us=told.mean_us,
        spread=None,
        median_us=None,
        p99_us=None,
        msgs_per_s=1e6 / told.mean_us,
        bytes_per_constraint=None,
        hot_bytes_per_constraint=None,
        updates=None,
        active=told.expressed,
        matched_mean=told.matched_mean,
        checksum=_hex(told.checksum),
        share=told.share,
        tamis_us=told.tamis_us,
        note=note,
    )


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else 0


def _hex(checksum: int) -> str:
    return f"{checksum:016x}"

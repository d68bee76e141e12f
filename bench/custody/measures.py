"""The questions about messages that are stored for another process, and the figures of the answers.

Law: as in bench/durable: every message is confirmed by itself, and the first figure is the one that is compared. What
Tamis has confirmed is counted at its home; a confirmation without a message there ends the measure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from tamis.bench.custody.catch_up import Absence, caught_up
from tamis.bench.custody.clusters import CONTENDERS, OF_TAMIS, Contender
from tamis.bench.router.brokers import figures
from tamis.bench.router.brokers.figures import Figure, Round
from tamis.bench.router.brokers.inputs import MESSAGE_BYTES
from tamis.bench.router.brokers.measures import Measure
from tamis.bench.router.brokers.run import SETUP_S, LoadFailed, load

RATE: Final = 10_000
WARM_S: Final = 0.5
_MIB: Final = 2**20
_PEERS: Final = tuple(name for name in CONTENDERS if name not in OF_TAMIS)

_CONFIRMED: Final = Figure("confirmed_per_s", "confirmed/s", figures.MESSAGES.of, True)
_ENTRY: Final = replace(figures.CPU, name="entry_cpu_us", head="entry CPU us/msg")
_HOME: Final = Figure("home_cpu_us", "home CPU us/msg", lambda r: _of_each(r, "other_cpu_s"))
_CAUGHT_UP: Final = Figure("caught_up_mib_s", "MiB/s", lambda r: r.seen["bytes"] / _MIB / r.seen["seconds"], True)
_LIVE: Final = Figure("live_p99_us", "live p99 us", lambda r: 1e6 * r.seen["p99_s"])
_ALONE: Final = Figure("alone_p99_us", "alone p99 us", lambda r: 1e6 * r.seen["alone_p99_s"])
_OVERLAP: Final = Figure("overlap", "overlap", lambda r: r.seen["overlap"], True)


def _of_each(round_: Round, name: str) -> float:
    return 1e6 * round_.seen[name] / max(round_.seen["messages"], 1)


Taken = Callable[[Contender, str, Path, Mapping[str, str], float], dict[str, float]]
"""Takes one round: of a contender's program, in a folder, with the files of the load generator, for some seconds."""


@dataclass(frozen=True, slots=True)
class CustodyMeasure:
    measure: Measure
    take: Taken


def measures(absence: Absence) -> dict[str, CustodyMeasure]:
    """Return the measures by name."""
    every = tuple(CONTENDERS)
    publish = Measure(
        name="publish",
        question=f"1 publisher, {MESSAGE_BYTES} B, confirmed messages a second",
        brokers=every,
        figures=(_CONFIRMED, _ENTRY, _HOME, figures.LOAD_BUSY),
        against=("own", *_PEERS),
    )
    latency = Measure(
        name="latency",
        question=f"{RATE:,} messages a second, time from send to confirmation",
        brokers=every,
        figures=(figures.P50, figures.P99, _ENTRY, _HOME),
        against=("own", *_PEERS),
    )
    catch_up = Measure(
        name="catch-up",
        question=f"a home takes {absence.mib} MiB that were stored while it was away, beside live messages",
        brokers=("stored",),
        figures=(_CAUGHT_UP, _LIVE, _ALONE, _OVERLAP),
    )
    found = (
        CustodyMeasure(publish, published),
        CustodyMeasure(latency, partial(published, rate=RATE)),
        CustodyMeasure(catch_up, lambda _, __, folder, files, ___: caught_up(folder, files, absence)),
    )
    return {each.measure.name: each for each in found}


def published(
    contender: Contender, program: str, folder: Path, files: Mapping[str, str], seconds: float, rate: int = 0
) -> dict[str, float]:
    """Return what the load generator sees that publishes at the entry."""
    with contender.started(program, folder) as cluster:
        options = {
            **files,
            "protocol": contender.protocol,
            "kept": "confirmed",
            "message-bytes": str(MESSAGE_BYTES),
            "port": str(cluster.store_at),
            "publish-at": str(cluster.entry.port),
            "pid": str(cluster.entry.pid),
            "other-pid": str(cluster.home.pid),
            "window": str(contender.window),
            "rate": str(rate),
            "warm": str(min(WARM_S, seconds)),
            "seconds": str(seconds),
        }
        seen = load(options, seconds + WARM_S + SETUP_S)
        confirmed = int(seen["messages"])
        stored = cluster.stored(confirmed) if cluster.stored is not None else confirmed
    if stored < confirmed:
        raise LoadFailed(f"{confirmed} messages were confirmed, and {stored} are stored")
    return seen

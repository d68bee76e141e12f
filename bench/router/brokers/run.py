"""Rounds in turns: for each measure, round 1 of every broker, round 2 of every broker; then medians.

Law: a broker that is not installed, or that fails, is reported in its row and stops no other. A daemon lives for
one round.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from tamis.bench.router.brokers import build
from tamis.bench.router.brokers.daemons import BROKERS, Broker
from tamis.bench.router.brokers.figures import Figure, Round
from tamis.bench.router.brokers.inputs import Inputs
from tamis.bench.router.brokers.measures import Measure
from tamis.bench.router.brokers.process import resident_bytes, running
from tamis.bench.scratch import scratch_folder
from tamis.protocol.errors import TamisError

_WARM_S = 0.5  # at most; a round without messages has none
_SETTLE_S = 0.3  # after which a daemon that has just begun to listen is idle
SETUP_S = 300  # the longest setting-up: 100,000 bindings of rabbitmq

Progress = Callable[[str], None]


class LoadFailed(TamisError):
    """The load generator could not go on; it says why."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How long and how often."""

    rounds: int
    seconds: float


@dataclass(slots=True)
class Row:
    """One broker in one measure. `trouble` says why there are no figures, or fewer."""

    measure: Measure
    broker: str
    rounds: list[Round] = field(default_factory=list)
    missing: str = ""
    trouble: str = ""

    def value(self, figure: Figure) -> float:
        return median(figure.of(each) for each in self.rounds)

    def spread(self, figure: Figure) -> float:
        """(largest - smallest) / median."""
        values = [figure.of(each) for each in self.rounds]
        return (max(values) - min(values)) / median(values) if median(values) else 0.0


def run(
    measures: Sequence[Measure],
    names: Sequence[str],
    plan: Plan,
    progress: Progress,
    brokers: Mapping[str, Broker] | None = None,
) -> Iterator[list[Row]]:
    """The rows of one measure after the other; `names` are of `brokers`, or of those that store nothing."""
    known = BROKERS if brokers is None else brokers
    programs = {name: (known[name], known[name].program()) for name in names}
    for measure in measures:
        with scratch_folder() as folder:
            yield _measured(measure, programs, plan, folder, progress)


def _measured(
    measure: Measure, programs: dict[str, tuple[Broker, str | None]], plan: Plan, folder: Path, progress: Progress
) -> list[Row]:
    rows = [Row(measure, name) for name in measure.brokers if name in programs]
    present = []
    for row in rows:
        broker, program = programs[row.broker]
        if program is None:
            row.missing = f"not installed: {broker.how_to_install}"
        else:
            present.append((row, broker, program))
    if not present:
        return rows
    progress(f"{measure.name}: making messages and filters")
    made = measure.inputs()
    files = made.write(folder)
    for number in range(plan.rounds):
        for row, broker, program in present:
            if not row.trouble:
                progress(f"{measure.name}: round {number + 1} of {plan.rounds}: {row.broker}")
                _add_round(row, broker, program, made, files, plan)
    return rows


def _add_round(row: Row, broker: Broker, program: str, made: Inputs, files: dict[str, str], plan: Plan) -> None:
    try:
        row.rounds.append(_round(row.measure, broker, program, made, files, plan))
    except TamisError as error:
        row.trouble = str(error)


def _round(measure: Measure, broker: Broker, program: str, made: Inputs, files: dict[str, str], plan: Plan) -> Round:
    with scratch_folder() as folder, running(broker.launch(program, folder), folder) as daemon:
        time.sleep(_SETTLE_S)
        idle_bytes = resident_bytes(daemon.pid)
        seconds = plan.seconds if measure.seconds is None else measure.seconds
        warm = min(_WARM_S, seconds)
        options = files | {
            "protocol": measure.protocol(broker.protocol),
            "transport": broker.transport,
            "port": str(daemon.port),
            "pid": str(daemon.pid),
            "warm": str(warm),
            "seconds": str(seconds),
        }
        options |= measure.load_options(broker.name, len(made.others))
        seen = load(options, seconds + warm + SETUP_S)
    subscribers = int(options.get("subscribers", 1))
    return Round(seen, daemon.ready_s, idle_bytes, subscribers, subscribers * len(made.filters))


def load(options: dict[str, str], patience_s: float) -> dict[str, float]:
    """Run the load generator and return what it says; LoadFailed if it fails or takes longer than `patience_s`."""
    command = [str(build.load_generator()), *(f"--{name}={value}" for name, value in options.items())]
    try:
        done = subprocess.run(  # noqa: S603 - our own command
            command, capture_output=True, text=True, check=False, timeout=patience_s
        )
    except subprocess.TimeoutExpired:
        raise LoadFailed(f"not finished after {patience_s:.0f} s") from None
    if done.returncode:
        raise LoadFailed(done.stderr.strip() or f"the load generator exited with {done.returncode}")
    seen: dict[str, float] = json.loads(done.stdout)
    return seen

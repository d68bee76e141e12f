"""One library against `tamis`, on the filters that the library can express.

Law: a library runs in a process of its own, which is ended when its time is up; what it answers is compared with
`tamis` on the same filters, message by message, and an unequal answer is an error, not a figure.

    parent   job -> file, python -m tamis.bench.matching.libraries JOB ANSWER, within SECONDS_MAX
    child    job -> rules -> build -> batches of messages until all are matched or most of the time is gone -> file
"""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tamis.bench.matching import libraries
from tamis.bench.matching.libraries.rules import Rule, Subject, rule_of, subject_of
from tamis.bench.matching.workloads import Workload
from tamis.native import Batch, Table
from tamis.protocol.errors import TamisError
from tamis.protocol.limits import MATCH_STEPS_MAX
from tamis.protocol.wire.attributes import decode_attributes
from tamis.protocol.wire.packed_filters import decode_filter

SECONDS_MAX = 240.0  # Hyperscan compiles 20,000 filters in 90 s on a quiet machine
_BATCH = 200  # messages: what a library that works on sets of them is given at once
_WARMING = 20
_SHARE_OF_TIME = 0.6  # then no further batch is begun
_PASSES = 5  # of `tamis`; the middle one counts


class LibraryFailed(TamisError):
    """A library took too long or broke down: the sentence is all there is in place of its figures."""


class LibraryDisagrees(TamisError):
    """A library and `tamis` answer differently: a bug in an adapter, in a library or in us."""


@dataclass(frozen=True, slots=True)
class _Job:
    name: str
    filters: Batch
    interfaces: array[int]
    messages: list[bytes]
    seconds_max: float


@dataclass(frozen=True, slots=True)
class _Answer:
    """What the child found: `expressed` are indexes of filters, `found` answers the first messages."""

    how: str
    expressed: list[int]
    build_s: float
    match_s: float
    found: list[set[int]]


@dataclass(frozen=True, slots=True)
class Contest:
    """A library's figures, and those of `tamis` on the same filters and messages; microseconds per message."""

    name: str
    how: str
    share: float
    build_s: float
    mean_us: float
    tamis_us: float
    matched_mean: float
    messages: int
    expressed: int
    checksum: int

    @staticmethod
    def nothing(name: str) -> Contest:
        """Of a library that did not finish."""
        return Contest(name, "", 0.0, math.inf, math.inf, math.inf, 0.0, 0, 0, 0)


def contest(name: str, workload: Workload, interfaces: array[int], seconds_max: float | None = None) -> Contest:
    """Measure one library, in SECONDS_MAX unless `seconds_max` says otherwise.

    LibraryMissing, LibraryFailed or LibraryDisagrees if there are no figures.
    """
    libraries.check_installed(name)
    seconds_max = seconds_max or SECONDS_MAX
    messages = [workload.messages[i] for i in range(len(workload.messages))]
    job = _Job(name, workload.filters, interfaces, messages, seconds_max)
    answer = _in_a_child(job)
    seen = Batch.of(messages[: len(answer.found)])
    with Table("tamis", match_steps=MATCH_STEPS_MAX) as table:
        filters = Batch.of(workload.filters[i] for i in answer.expressed)
        table.add_many(filters, array("I", (interfaces[i] for i in answer.expressed)))
        _compare(name, answer.found, table.match_batch(seen))
        passes = sorted((table.measure(seen) for _ in range(_PASSES)), key=lambda each: each.total_ns)
        measured = passes[_PASSES // 2]
    return Contest(
        *(name, answer.how, len(answer.expressed) / max(len(workload.filters), 1), answer.build_s),
        *(answer.match_s * 1e6 / len(seen), measured.total_ns / 1000 / len(seen), measured.matched / len(seen)),
        *(len(seen), len(answer.expressed), measured.checksum),
    )


def _in_a_child(job: _Job) -> _Answer:
    with tempfile.TemporaryDirectory() as folder:
        asked, told = Path(folder) / "job", Path(folder) / "answer"
        asked.write_bytes(pickle.dumps(job))
        command = [sys.executable, "-m", "tamis.bench.matching.libraries", str(asked), str(told)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=job.seconds_max)  # noqa: S603 - ours
        except subprocess.TimeoutExpired:
            size = f"{len(job.filters):,} filters"
            raise LibraryFailed(f"{job.name} did not finish {size} in {job.seconds_max:g} s") from None
        if done.returncode:
            last = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
            raise LibraryFailed(f"{job.name} failed: {last}")
        answer: _Answer = pickle.loads(told.read_bytes())  # noqa: S301 - our own file
    return answer


def _compare(name: str, found: list[set[int]], expected: list[list[int]]) -> None:
    for number, (theirs, ours) in enumerate(zip(found, expected, strict=True)):
        if theirs != set(ours):
            extra, lacking = sorted(theirs - set(ours))[:3], sorted(set(ours) - theirs)[:3]
            raise LibraryDisagrees(f"{name} and tamis differ on message {number}: {extra} extra, {lacking} missing")


# --- in the child ----------------------------------------------------------------------------------------------------


def play(job: _Job) -> _Answer:
    enough = time.monotonic() + job.seconds_max * _SHARE_OF_TIME
    library = libraries.load(job.name)
    rules = dict(_expressed(library, job.filters))
    start = time.process_time()
    library.build(list(rules.values()), [job.interfaces[i] for i in rules])
    build_s = time.process_time() - start
    subjects = [subject_of(decode_attributes(message)) for message in job.messages]
    match_s, found = _match(library, subjects, enough)
    return _Answer(_how(library), list(rules), build_s, match_s, found)


def _how(library: libraries.Library) -> str:
    left_out = f"; left out: {library.cannot}" if library.cannot else ""
    return f"{library.version}: {library.rewritten}{left_out}"


def _expressed(library: libraries.Library, filters: Batch) -> Iterator[tuple[int, Rule]]:
    for index in range(len(filters)):
        rule = rule_of(decode_filter(filters[index]))
        if rule is not None and library.expresses(rule):
            yield index, rule


def _match(library: libraries.Library, subjects: list[Subject], enough: float) -> tuple[float, list[set[int]]]:
    """Seconds of processor time. A few messages go first, unmeasured: our caches are warm too."""
    found: list[set[int]] = []
    library.match(library.prepare(subjects[:_WARMING]))
    match_s = 0.0
    while len(found) < len(subjects) and (not found or time.monotonic() < enough):
        prepared = library.prepare(subjects[len(found) : len(found) + _BATCH])
        start = time.process_time()
        found.extend(library.match(prepared))
        match_s += time.process_time() - start
    return match_s, found

"""The log of stored messages: a committed record is on disk and is readable until all its holders are done with it.

Law: one thread appends; a `Log` returns copies. All methods but `append` and `committed` may block on the disk, so an
event loop must not call them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from tamis.native._tm import ffi, lib
from tamis.native.results import check
from tamis.native.table import Table
from tamis.protocol.errors import TamisError

_Cdata = Any  # cffi's types exist only at run time

MESSAGE: Final = int(lib.TM_LOG_MESSAGE)
DEAD_LETTER: Final = int(lib.TM_LOG_DEAD_LETTER)
SEED: Final = int(lib.TM_LOG_SEED)
CHAIN: Final = int(lib.TM_LOG_CHAIN)
GIVEN_UP: Final = int(lib.TM_LOG_GIVEN_UP)
HOME_HAS: Final = int(lib.TM_LOG_HOME_HAS)
"""Kinds of records."""
_READ_BYTES: Final = 4 << 20  # more than a record may have
_RECORDS_A_CALL: Final = 1 << 16
_SUMMARIES_A_CALL: Final = 1 << 13
_BUSY_S: Final = 0.0002
MIB: Final = 1 << 20
TIME_MAX: Final = 2**64 - 1
"""The largest time, in any unit."""


class LogFull(TamisError):
    """Raised when the log has no room for messages, or for acks not even its reserve, until records in it are done."""


class LogFailed(TamisError):
    """Raised when the disk has failed or cannot be read; committed records are still there."""


class LogBusy(TamisError):
    """Raised when the ring is full or too many reads wait; try again after a commit or an answer."""


@dataclass(frozen=True, slots=True)
class LogRecord:
    """A record of the log: its number, its holders, its source, and its body."""

    n: int
    kind: int
    t_us: int
    durables: tuple[int, ...]
    homes: tuple[tuple[int, int], ...]
    source: tuple[int, int]
    body: bytes
    is_copy: bool


@dataclass(frozen=True, slots=True)
class RecordSummary:
    """The index entry of an open record. If `is_enough`, the record is a message that arrived at `at_ms` and expires at
    `expires_ms` (Unix milliseconds; 0: never); otherwise only its number is known."""

    n: int
    at_ms: int
    expires_ms: int
    body_size: int
    is_enough: bool


@dataclass(frozen=True, slots=True)
class LogChain:
    """How far the chain of an entry has come at this router, or (`is_home`) that of this router at a home. `router`,
    `log` and `life` are of the other one; `lost` and `doubts` are totals. `n` is the number of its last record."""

    router: int
    log: int
    life: int
    have: int
    lost: int
    doubts: int
    is_home: bool
    n: int = 0


def _check(result: int) -> None:
    """Raise the exception for `result` of a call of the log; return for TM_OK."""
    if result == lib.TM_LOG_FULL:
        raise LogFull("the log is full: acknowledge messages, remove subscriptions, or raise its size")
    if result == lib.TM_LOG_BUSY:
        raise LogBusy("the ring is full, or too many requests wait: retry after the next commit or answer")
    if result in {lib.TM_LOG_FAILED, lib.TM_LOG_DISK}:
        raise LogFailed("the disk has failed, or its folder is in use or cannot be read")
    if result == lib.TM_LOG_FOREIGN:
        raise LogFailed("the folder holds the segments of another log, or of a version of Tamis that is too old")
    if result == lib.TM_LOG_NEWER:
        raise LogFailed(
            "a later version of Tamis has written the folder, and its layout cannot be read here (it reads 2 and 3): "
            "start that version, or name another folder"
        )
    check(result)


def reach_of(since_us: int = 0, until_us: int = TIME_MAX, start: int = 0, program: _Cdata = ffi.NULL) -> _Cdata:
    """Return a tm_log_reach: messages from number `start` on, appended between `since_us` and `until_us` (Unix
    microseconds). `program`: a residual program, whose bytes the caller keeps."""
    return ffi.new("tm_log_reach *", {"from": start, "since_us": since_us, "until_us": until_us, "program": program})


class Log:
    """A log in `folder`. `bytes_max`: bound of its segments; `ring_bytes`: memory of the latest records, also while
    they wait for the disk; `memory_bytes_max`: bound of the indexes, 0 for none. `is_held`: no segment is compacted or
    set aside before `release`, so that a first read of the whole log reports each unreadable record."""

    def __init__(
        self,
        folder: Path,
        *,
        bytes_max: int = 1 << 30,
        segment_bytes: int = 64 * MIB,
        ring_bytes: int = 32 * MIB,
        memory_bytes_max: int = 0,
        checkpoint_ms: int = 2000,
        scrub_bytes_per_s: int = 5 * MIB,
        has_no_threads: bool = False,
        is_held: bool = False,
    ) -> None:
        name = ffi.new("char[]", os.fsencode(folder))
        options = ffi.new(
            "tm_log_options *",
            {
                "folder": name,
                "bytes_max": bytes_max,
                "segment_bytes": segment_bytes,
                "ring_bytes": ring_bytes,
                "memory_bytes_max": memory_bytes_max,
                "checkpoint_ms": checkpoint_ms,
                "scrub_bytes_per_s": scrub_bytes_per_s,
                "hash_seed": int.from_bytes(os.urandom(8), "little"),
                "has_no_threads": has_no_threads,
                "is_held": is_held,
            },
        )
        made = ffi.new("tm_log **")
        result = lib.tm_log_open(options, made)
        if result == lib.TM_MISUSED:
            message = (
                f"segment_bytes {segment_bytes} (a multiple of 512 from 16384 on), ring_bytes {ring_bytes} (a power of "
                f"two from 4096 to 2^30), bytes_max {bytes_max} (at least four segments)"
            )
            raise ValueError(f"options of the log in {folder}: {message}")
        _check(result)
        self._c: Any = made[0]
        self._buffer = ffi.new("uint8_t[]", _READ_BYTES)
        self._size = ffi.new("size_t *")
        self._has_threads = not has_no_threads

    @property
    def c(self) -> _Cdata:
        if self._c is None:
            raise ValueError("the log is closed")
        return self._c

    def release(self) -> None:
        """Allow compaction and setting aside of segments from now on."""
        lib.tm_log_release(self.c)

    def serve(self) -> bool:
        """Answer one request, for a log without threads; return False if there is none."""
        return bool(lib.tm_log_serve(self.c))

    def commit(self) -> bool:
        """Write the appended records, for a log without threads; return False if there were none."""
        result = lib.tm_log_commit(self.c)
        if result != lib.TM_ABSENT:
            _check(result)
        return bool(result == lib.TM_OK)

    def maintain(self) -> bool:
        """Do one piece of maintenance, for a log without threads; return True if none is left."""
        is_idle = ffi.new("uint32_t *")
        result = lib.tm_log_maintain(self.c, is_idle)
        if result != lib.TM_LOG_FULL:
            _check(result)
        return bool(is_idle[0]) or result == lib.TM_LOG_FULL

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Commit all appended records, and end the threads."""
        if self._c is not None:
            lib.tm_log_close(self._c)
            self._c = None

    # ---- appending

    def append(
        self,
        body: bytes,
        durables: Sequence[int] = (),
        homes: Sequence[tuple[int, int]] = (),
        *,
        kind: int = lib.TM_LOG_MESSAGE,
        source: tuple[int, int] = (0, 0),
        t_us: int | None = None,
    ) -> int:
        """Add a record to the open batch and return its number; it is on disk once `committed` has reached that. If
        there is no room but the log is freeing some, wait for it. `t_us`: time of the record (Unix microseconds); None
        for now."""
        c_durables = ffi.new("uint32_t[]", list(durables))
        c_homes = ffi.new("tm_log_home[]", list(homes))
        entry = ffi.new(
            "tm_log_entry *",
            {
                "durables": c_durables,
                "homes": c_homes,
                "body": ffi.from_buffer(body),
                "t_us": time.time_ns() // 1000 if t_us is None else t_us,
                "from_router": source[0],
                "from_n": source[1],
                "body_size": len(body),
                "kind": kind,
                "durable_count": len(durables),
                "home_count": len(homes),
            },
        )
        n = ffi.new("uint64_t *")
        result = lib.tm_log_append(self._c, entry, n)
        while result == lib.TM_LOG_BUSY and self._has_threads and lib.tm_log_is_freeing(self._c):
            lib.tm_log_flush(self._c)
            time.sleep(_BUSY_S)
            result = lib.tm_log_append(self._c, entry, n)
        _check(result)
        lib.tm_log_flush(self._c)
        return int(n[0])

    def append_messages(self, bodies: Sequence[bytes], durables: Sequence[int]) -> int:
        """Append a message for each body, all for `durables`, and wait for room if necessary; return the last
        number."""
        c_durables = ffi.new("uint32_t[]", list(durables))
        owned = [ffi.from_buffer(body) for body in bodies]
        entries = ffi.new("tm_log_entry[]", len(bodies))
        for entry, body in zip(entries, owned, strict=True):
            entry.durables, entry.durable_count = c_durables, len(durables)
            entry.body, entry.body_size = body, len(body)
            entry.kind, entry.t_us = lib.TM_LOG_MESSAGE, time.time_ns() // 1000
        return self._append_all(entries, len(bodies))

    def append_blocks(self, body: bytes, durables: Sequence[int], block: int, blocks: int) -> int:
        """Append one body `block` * `blocks` times, without Python objects for a message; for measurements. Return the
        number of the last one."""
        c_durables, c_body = ffi.new("uint32_t[]", list(durables)), ffi.from_buffer(body)
        entries = ffi.new("tm_log_entry[]", block)
        entries[0].durables, entries[0].durable_count = c_durables, len(durables)
        entries[0].body, entries[0].body_size, entries[0].kind = c_body, len(body), lib.TM_LOG_MESSAGE
        for i in range(1, block):
            entries[i] = entries[0]
        n = 0
        for _ in range(blocks):
            n = self._append_all(entries, block)
        return n

    def _append_all(self, entries: _Cdata, count: int) -> int:
        n, result, done = ffi.new("uint64_t *"), ffi.new("int *"), 0
        while True:
            done += lib.tm_log_append_many(self._c, entries + done, count - done, n, result)
            if done == count:
                return int(n[0])
            if result[0] != lib.TM_LOG_BUSY:
                _check(result[0])
            time.sleep(_BUSY_S)

    def ack(self, holder: int, first: int, last: int, *, is_home: bool = False) -> int:
        """Append that a durable subscription (or a home) is done with the numbers from `first` to `last` inclusive."""
        return self._about(lib.TM_LOG_ACK, holder, first, last, is_home=is_home)

    def forget(self, holder: int, *, is_home: bool = False) -> int:
        """Append that a durable subscription (or a home) has ended; its number must not be used again."""
        return self._about(lib.TM_LOG_FORGET, holder, 0, 0, is_home=is_home)

    def forget_entry(self, router: int) -> int:
        """Append that the chain of an entry has ended."""
        return self._about(lib.TM_LOG_FORGET, router, 0, 0, is_home=lib.TM_LOG_ENTRY)

    def set_chain(self, chain: LogChain) -> int:
        """Append how far a chain has come. If `is_home`, the home is done with the numbers up to `have`."""
        fields = (chain.router, chain.log, chain.life, chain.have, chain.lost, chain.doubts, chain.is_home, 0)
        body = bytes(ffi.buffer(ffi.new("tm_log_chain *", fields)))
        return self.append(body, homes=[(chain.router, 0)], kind=HOME_HAS if chain.is_home else CHAIN)

    def give_up(self, home: int, done: Sequence[tuple[int, int]], count: int, numbers: bytes) -> int:
        """Append that a home will not get `count` messages, whose packed `numbers` the log does not interpret. It is
        done with the ranges `done`; the record is open for it."""
        body = ffi.buffer(ffi.new("tm_log_given_up *", (len(done), count)))[:]
        body += ffi.buffer(ffi.new("tm_log_range[]", list(done)))[:] + numbers
        return self.append(body, homes=[(home, 0)], kind=GIVEN_UP)

    def _about(self, kind: int, holder: int, first: int, last: int, *, is_home: int) -> int:
        done = ffi.new("tm_log_done *", (holder, first, last, is_home))
        return self.append(bytes(ffi.buffer(done)), kind=kind)

    @property
    def next_number(self) -> int:
        """The number that the next record gets."""
        return int(lib.tm_log_next(self._c))

    @property
    def committed(self) -> int:
        """The number up to which all records are on disk."""
        return int(lib.tm_log_committed(self._c))

    def wait(self, n: int, timeout_s: float = 30.0) -> None:
        """Wait until record `n` is on disk. Raise TimeoutError after `timeout_s`, LogFailed if the log has failed."""
        end = time.monotonic() + timeout_s
        while self.committed < n:
            if self.state()["is_failed"]:
                raise LogFailed("the disk has failed")
            if time.monotonic() > end:
                raise TimeoutError(f"record {n:#x} is not on disk after {timeout_s} s")
            time.sleep(_BUSY_S)

    # ---- reading

    def read(self, holder: int, after: int = 0, *, is_home: bool = False) -> Iterator[LogRecord]:
        """Yield the open records of a durable subscription (or a home) with numbers past `after`, in order."""
        while True:
            _check(lib.tm_log_read(self._c, holder, is_home, after, self._buffer, _READ_BYTES, self._size))
            records = list(self._records())
            if not records:
                return
            after = records[-1].n
            yield from records

    def summaries(self, holder: int, after: int = 0, *, is_home: bool = False) -> Iterator[RecordSummary]:
        """Yield the index entries of the records that `read` would yield, without reading the records."""
        summaries, count = ffi.new("tm_log_summary[]", _SUMMARIES_A_CALL), ffi.new("size_t *")
        while True:
            _check(lib.tm_log_summaries(self._c, holder, is_home, after, summaries, _SUMMARIES_A_CALL, count))
            if not count[0]:
                return
            after = summaries[count[0] - 1].n
            for c in summaries[0 : count[0]]:
                yield RecordSummary(c.n, c.at_ms, c.expires_ms, c.body_size, bool(c.is_enough))

    def done_with(self, holder: int, *, is_home: bool = False) -> tuple[int, list[tuple[int, int]]]:
        """Return the number up to which a durable subscription (or a home) is done with all records, and the ranges of
        done records above it."""
        done = ffi.new("uint64_t *")
        count = lib.tm_log_done_with(self._c, holder, is_home, done, ffi.NULL, 0)
        ranges = ffi.new("tm_log_range[]", count)
        found = min(count, lib.tm_log_done_with(self._c, holder, is_home, done, ranges, count))
        return int(done[0]), [(ranges[i].first, ranges[i].last) for i in range(found)]

    def durables(self) -> Iterator[LogRecord]:
        """Yield the record of kind TM_LOG_DURABLE of each durable subscription, in order of their numbers."""
        after = 0
        while True:
            _check(lib.tm_log_durables(self._c, after, self._buffer, _READ_BYTES, self._size))
            records = list(self._records())
            if not records:
                return
            after = records[-1].durables[0]
            yield from records

    def chains(self) -> list[LogChain]:
        """Return the chains on disk: those of entries, then those of homes."""
        count = lib.tm_log_chains(self._c, ffi.NULL, 0)
        chains = ffi.new("tm_log_chain[]", count)
        found = min(count, lib.tm_log_chains(self._c, chains, count))
        return [
            LogChain(c.router, c.log, c.life, c.have, c.lost, c.doubts, bool(c.is_home), c.n) for c in chains[0:found]
        ]

    def ask(self, holder: int, after: int, size: int, *, is_home: bool = False) -> int:
        """Request from the reading thread the records that `read` would yield, within `size` bytes; return a ticket."""
        ticket = ffi.new("uint64_t *")
        _check(lib.tm_log_ask(self._c, holder, is_home, after, size, ticket))
        return int(ticket[0])

    def answer(self) -> tuple[int, list[LogRecord]] | None:
        """Return a ticket and its records if an answer is ready, else None; the ticket is released. `descriptor` is
        readable when an answer is ready."""
        answer = ffi.new("tm_log_answer *")
        if not lib.tm_log_answered(self._c, answer):
            return None
        try:
            _check(answer.result)
            return int(answer.ticket), list(_records(ffi.cast("uint8_t *", answer.records), answer.size))
        finally:
            lib.tm_log_give_back(self._c, answer.ticket)

    def descriptor(self) -> int:
        """Return an eventfd that is readable after a commit and after an answer. The log owns it."""
        return int(lib.tm_log_descriptor(self._c))

    def replay(
        self, wanted: Table | None = None, start: int = 0, *, since_us: int = 0, until_us: int = TIME_MAX
    ) -> Iterator[LogRecord]:
        """Yield the messages on disk from number `start` on, appended between `since_us` and `until_us` (Unix
        microseconds), that match the filters of interface 0 of `wanted`; None for all."""
        reach = reach_of(since_us, until_us, start)
        place = ffi.new("tm_log_place *")
        replayed = ffi.new("tm_log_replayed *")
        table = wanted.c if wanted is not None else ffi.NULL
        while not replayed.is_all:
            _check(
                lib.tm_log_replay(
                    self._c, table, reach, _RECORDS_A_CALL, place, self._buffer, _READ_BYTES, self._size, replayed
                )
            )
            yield from list(self._records())

    def replay_count(self, wanted: Table, since_us: int = 0, until_us: int = TIME_MAX) -> tuple[int, float]:
        """Return the number of records that a replay examines and its seconds of CPU, without Python objects for a
        record."""
        reach = reach_of(since_us, until_us)
        place, replayed = ffi.new("tm_log_place *"), ffi.new("tm_log_replayed *")
        looked_at, start = 0, time.thread_time()
        while not replayed.is_all:
            _check(
                lib.tm_log_replay(
                    self._c, wanted.c, reach, _RECORDS_A_CALL, place, self._buffer, _READ_BYTES, self._size, replayed
                )
            )
            looked_at += replayed.looked_at
        return looked_at, time.thread_time() - start

    def _records(self) -> Iterator[LogRecord]:
        """Yield the records in the buffer."""
        return _records(self._buffer, self._size[0])

    def missing(self) -> list[tuple[int, int]]:
        """Return the ranges of numbers that were on disk and cannot be read."""
        count = lib.tm_log_missing(self._c, ffi.NULL, 0)
        ranges = ffi.new("tm_log_range[]", count)
        found = min(count, lib.tm_log_missing(self._c, ranges, count))
        return [(ranges[i].first, ranges[i].last) for i in range(found)]

    def state(self) -> dict[str, int]:
        """Return the figures of the log by name."""
        state = ffi.new("tm_log_state *")
        lib.tm_log_state_of(self._c, state)
        return _figures(state)

    def recovery(self) -> dict[str, int]:
        """Return the figures of the recovery at the opening, by name."""
        recovery = ffi.new("tm_log_recovery *")
        lib.tm_log_recovery_of(self._c, recovery)
        return _figures(recovery)


def _records(buffer: _Cdata, size: int) -> Iterator[LogRecord]:
    at = 0
    while at < size:
        c = ffi.cast("tm_log_record *", buffer + at)
        durables = ffi.cast("uint32_t *", c + 1)
        homes = ffi.cast("tm_log_home *", durables + (c.durables + 1) // 2 * 2)
        yield LogRecord(
            n=c.n,
            kind=c.kind,
            t_us=c.t_us,
            durables=tuple(durables[0 : c.durables]),
            homes=tuple((homes[i].router, homes[i].previous) for i in range(c.homes)),
            source=(c.from_router, c.from_n),
            body=bytes(ffi.buffer(homes + c.homes, c.body_size)),
            is_copy=bool(c.flags & lib.TM_LOG_COPIED),
        )
        at += c.size


def _figures(struct: _Cdata) -> dict[str, int]:
    return {name: int(getattr(struct, name)) for name, _ in ffi.typeof(struct).item.fields}


check_log: Final = _check
"""Raises the exception for a result of the log or of durable subscriptions."""

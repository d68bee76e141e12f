"""The log of kept messages, for tests and tools: what was committed is on disk, and is read until it is done with.

Law: one thread appends; what a `Log` hands out are copies. Everything but `append` and `committed` may wait for a disk,
so it is nothing for an event loop.
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
"""Kinds of records."""
_READ_BYTES: Final = 4 << 20  # more than a record may have
_RECORDS_A_CALL: Final = 1 << 16
_SUMMARIES_A_CALL: Final = 1 << 13
_BUSY_S: Final = 0.0002
MIB: Final = 1 << 20
TIME_MAX: Final = 2**64 - 1
"""The end of all time, in any unit."""


class LogFull(TamisError):
    """There is no room for messages (of acks: for nothing) until something in the log is done with."""


class LogFailed(TamisError):
    """The disk has failed, or cannot be read; what was committed is still there."""


class LogBusy(TamisError):
    """So much waits for the disk that the ring is full, or so much was asked for; again after a commit or an answer."""


@dataclass(frozen=True, slots=True)
class LogRecord:
    """A record as the log holds it: its number, for whom it is kept, where it came from, and its body."""

    n: int
    kind: int
    t_us: int
    keeps: tuple[int, ...]
    homes: tuple[tuple[int, int], ...]
    source: tuple[int, int]
    body: bytes
    is_copy: bool


@dataclass(frozen=True, slots=True)
class RecordSummary:
    """An open record in short, as the index of the log knows it: where `is_enough`, it is a message, which came at
    `at_ms` and expires at `expires_ms` (Unix milliseconds; 0: never); else its number alone is known."""

    n: int
    at_ms: int
    expires_ms: int
    body_size: int
    is_enough: bool


def _check(result: int) -> None:
    """Raise what `result` of a call of the log stands for."""
    if result == lib.TM_LOG_FULL:
        raise LogFull("the log is full: acknowledge or forget something, or give it more bytes")
    if result == lib.TM_LOG_BUSY:
        raise LogBusy("the ring is full, or too much is asked for: wait for the next commit or answer")
    if result in {lib.TM_LOG_FAILED, lib.TM_LOG_DISK}:
        raise LogFailed("the disk has failed, or its folder is in use or cannot be read")
    if result == lib.TM_LOG_FOREIGN:
        raise LogFailed("the folder holds the segments of another log, or of another version of Tamis")
    check(result)


def reach_of(since_us: int = 0, until_us: int = TIME_MAX, start: int = 0) -> _Cdata:
    """A tm_log_reach: messages from number `start` on, appended from `since_us` to `until_us` (Unix microseconds)."""
    return ffi.new("tm_log_reach *", {"from": start, "since_us": since_us, "until_us": until_us})


class Log:
    """A log in `folder`. `bytes_max` bounds its segments, `ring_bytes` what waits for the disk and stays behind it in
    memory; `memory_bytes_max` bounds indexes (0: no bound). `is_held`: no segment is copied forward or set aside before
    `release`, so that who reads all of the log first is told of each record that cannot be read."""

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
        """Let segments be copied forward and set aside from now on."""
        lib.tm_log_release(self.c)

    def commit(self) -> bool:
        """Where there are no threads: write what was appended; False: there was nothing."""
        result = lib.tm_log_commit(self.c)
        if result != lib.TM_ABSENT:
            _check(result)
        return bool(result == lib.TM_OK)

    def maintain(self) -> bool:
        """Where there are no threads: do one piece of what the log needs beside appending; True: it needs nothing."""
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
        """Commit what was appended, and end the threads."""
        if self._c is not None:
            lib.tm_log_close(self._c)
            self._c = None

    # ---- what appends

    def append(
        self,
        body: bytes,
        keeps: Sequence[int] = (),
        homes: Sequence[tuple[int, int]] = (),
        *,
        kind: int = lib.TM_LOG_MESSAGE,
        source: tuple[int, int] = (0, 0),
        t_us: int | None = None,
    ) -> int:
        """Put a record into the open batch and return its number. It is on disk once `committed` has reached that.
        Where there is no room, and what is done with is still to be let go, it waits for that.
        `t_us`: when it was appended (Unix microseconds); None: now."""
        c_keeps = ffi.new("uint32_t[]", list(keeps))
        c_homes = ffi.new("tm_log_home[]", list(homes))
        entry = ffi.new(
            "tm_log_entry *",
            {
                "keeps": c_keeps,
                "homes": c_homes,
                "body": ffi.from_buffer(body),
                "t_us": time.time_ns() // 1000 if t_us is None else t_us,
                "from_router": source[0],
                "from_n": source[1],
                "body_size": len(body),
                "kind": kind,
                "keep_count": len(keeps),
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

    def append_messages(self, bodies: Sequence[bytes], keeps: Sequence[int]) -> int:
        """Append one message a body, all for the same keeps, and wait for room where there is none; the number of the
        last one is returned."""
        c_keeps = ffi.new("uint32_t[]", list(keeps))
        owned = [ffi.from_buffer(body) for body in bodies]
        entries = ffi.new("tm_log_entry[]", len(bodies))
        for entry, body in zip(entries, owned, strict=True):
            entry.keeps, entry.keep_count = c_keeps, len(keeps)
            entry.body, entry.body_size = body, len(body)
            entry.kind, entry.t_us = lib.TM_LOG_MESSAGE, time.time_ns() // 1000
        return self._append_all(entries, len(bodies))

    def append_blocks(self, body: bytes, keeps: Sequence[int], block: int, blocks: int) -> int:
        """Append one body `block` times `blocks`, as measurements do: nothing is made in Python for a message."""
        c_keeps, c_body = ffi.new("uint32_t[]", list(keeps)), ffi.from_buffer(body)
        entries = ffi.new("tm_log_entry[]", block)
        entries[0].keeps, entries[0].keep_count = c_keeps, len(keeps)
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
        """Record that a keep (or a home) has done with the numbers from `first` to `last`, that one too."""
        return self._about(lib.TM_LOG_ACK, holder, first, last, is_home=is_home)

    def forget(self, holder: int, *, is_home: bool = False) -> int:
        """Record that a keep (or a home) is gone. Its number is not used again."""
        return self._about(lib.TM_LOG_FORGET, holder, 0, 0, is_home=is_home)

    def _about(self, kind: int, holder: int, first: int, last: int, *, is_home: bool) -> int:
        done = ffi.new("tm_log_done *", (holder, first, last, is_home))
        return self.append(bytes(ffi.buffer(done)), kind=kind)

    @property
    def committed(self) -> int:
        """The number up to which everything is on disk."""
        return int(lib.tm_log_committed(self._c))

    def wait(self, n: int, timeout_s: float = 30.0) -> None:
        """Return once `n` is on disk; TimeoutError if it is not in time, LogFailed if it never will be."""
        end = time.monotonic() + timeout_s
        while self.committed < n:
            if self.state()["is_failed"]:
                raise LogFailed("the disk has failed")
            if time.monotonic() > end:
                raise TimeoutError(f"record {n:#x} is not on disk after {timeout_s} s")
            time.sleep(_BUSY_S)

    # ---- what reads

    def read(self, holder: int, after: int = 0, *, is_home: bool = False) -> Iterator[LogRecord]:
        """All records that are kept for a keep (or a home) and open, in order, whose numbers are past `after`."""
        while True:
            _check(lib.tm_log_read(self._c, holder, is_home, after, self._buffer, _READ_BYTES, self._size))
            records = list(self._records())
            if not records:
                return
            after = records[-1].n
            yield from records

    def summaries(self, holder: int, after: int = 0, *, is_home: bool = False) -> Iterator[RecordSummary]:
        """What the index knows of what `read` would give; no record is read for it."""
        summaries, count = ffi.new("tm_log_summary[]", _SUMMARIES_A_CALL), ffi.new("size_t *")
        while True:
            _check(lib.tm_log_summaries(self._c, holder, is_home, after, summaries, _SUMMARIES_A_CALL, count))
            if not count[0]:
                return
            after = summaries[count[0] - 1].n
            for c in summaries[0 : count[0]]:
                yield RecordSummary(c.n, c.at_ms, c.expires_ms, c.body_size, bool(c.is_enough))

    def done_with(self, holder: int, *, is_home: bool = False) -> tuple[int, list[tuple[int, int]]]:
        """The number up to which a keep (or a home) has done with everything, and the ranges above it."""
        done = ffi.new("uint64_t *")
        count = lib.tm_log_done_with(self._c, holder, is_home, done, ffi.NULL, 0)
        ranges = ffi.new("tm_log_range[]", count)
        found = min(count, lib.tm_log_done_with(self._c, holder, is_home, done, ranges, count))
        return int(done[0]), [(ranges[i].first, ranges[i].last) for i in range(found)]

    def keeps(self) -> Iterator[LogRecord]:
        """The terms of each keep that there is: records of kind TM_LOG_KEEP, in order of keeps."""
        after = 0
        while True:
            _check(lib.tm_log_keeps(self._c, after, self._buffer, _READ_BYTES, self._size))
            records = list(self._records())
            if not records:
                return
            after = records[-1].keeps[0]
            yield from records

    def ask(self, holder: int, after: int, size: int, *, is_home: bool = False) -> int:
        """Ask the reading thread for what `read` gives, as much as fits `size` bytes; a ticket is returned."""
        ticket = ffi.new("uint64_t *")
        _check(lib.tm_log_ask(self._c, holder, is_home, after, size, ticket))
        return int(ticket[0])

    def answer(self) -> tuple[int, list[LogRecord]] | None:
        """A ticket and its records, if an answer has come; the ticket is given back. `descriptor` is readable then."""
        answer = ffi.new("tm_log_answer *")
        if not lib.tm_log_answered(self._c, answer):
            return None
        try:
            _check(answer.result)
            return int(answer.ticket), list(_records(ffi.cast("uint8_t *", answer.records), answer.size))
        finally:
            lib.tm_log_give_back(self._c, answer.ticket)

    def descriptor(self) -> int:
        """An eventfd that is readable after a commit and after an answer; it stays the log's."""
        return int(lib.tm_log_descriptor(self._c))

    def replay(
        self, wanted: Table | None = None, start: int = 0, *, since_us: int = 0, until_us: int = TIME_MAX
    ) -> Iterator[LogRecord]:
        """All messages on disk from number `start` on, appended from `since_us` to `until_us` (Unix microseconds), that
        `wanted` (filters of interface 0) matches; None: all."""
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
        """How many records a replay looks at, and its seconds of CPU; nothing is made in Python of a record."""
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
        """Those in the buffer."""
        return _records(self._buffer, self._size[0])

    def missing(self) -> list[tuple[int, int]]:
        """Ranges of numbers that were on disk and cannot be read."""
        count = lib.tm_log_missing(self._c, ffi.NULL, 0)
        ranges = ffi.new("tm_log_range[]", count)
        found = min(count, lib.tm_log_missing(self._c, ranges, count))
        return [(ranges[i].first, ranges[i].last) for i in range(found)]

    def state(self) -> dict[str, int]:
        """Figures, by name."""
        state = ffi.new("tm_log_state *")
        lib.tm_log_state_of(self._c, state)
        return _figures(state)

    def recovery(self) -> dict[str, int]:
        """How the opening found the log."""
        recovery = ffi.new("tm_log_recovery *")
        lib.tm_log_recovery_of(self._c, recovery)
        return _figures(recovery)


def _records(buffer: _Cdata, size: int) -> Iterator[LogRecord]:
    at = 0
    while at < size:
        c = ffi.cast("tm_log_record *", buffer + at)
        keeps = ffi.cast("uint32_t *", c + 1)
        homes = ffi.cast("tm_log_home *", keeps + (c.keeps + 1) // 2 * 2)
        yield LogRecord(
            n=c.n,
            kind=c.kind,
            t_us=c.t_us,
            keeps=tuple(keeps[0 : c.keeps]),
            homes=tuple((homes[i].router, homes[i].previous) for i in range(c.homes)),
            source=(c.from_router, c.from_n),
            body=bytes(ffi.buffer(homes + c.homes, c.body_size)),
            is_copy=bool(c.flags & lib.TM_LOG_COPIED),
        )
        at += c.size


def _figures(struct: _Cdata) -> dict[str, int]:
    return {name: int(getattr(struct, name)) for name, _ in ffi.typeof(struct).item.fields}


check_log: Final = _check
"""Raises what a result of the log, or of keeps, stands for."""

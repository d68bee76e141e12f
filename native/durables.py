"""Durable subscriptions in the switch: the calls of tm_durables_api.h, which describes their effect on messages.

Law: this file decides nothing. A durable subscription is identified by a number, which its caller chooses and never
uses again. Only the thread of the switch uses it.

The order of a start: make `Log`, `Switch` and `SwitchDurables`; read `catalog_records`; call `open` with
`recovered_from` for each subscription in them; then call `dead_letter`. Call `close` before the log is closed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Final, Protocol, Self

from tamis.native._tm import ffi, lib
from tamis.native.durable_figures import (
    COMMIT_BUCKETS,
    ArrivalFigures,
    CommitTimes,
    DepartureFigures,
    DurableFigures,
    DurablesFigures,
)
from tamis.native.log import Log, LogRecord, check_log
from tamis.native.results import Gone, check
from tamis.protocol.limits import FINISHED_RANGES_MAX
from tamis.protocol.wire.codes import LossReason
from tamis.protocol.wire.durable_bodies import DurablePolicy

CATALOG: Final = int(lib.TM_DURABLES_CATALOG)
"""The holder of the records of the catalog; no durable subscription has this number."""
KIND_MIN: Final = int(lib.TM_LOG_OTHER)
"""The least kind of a record of the catalog."""
UNKNOWN_MAX: Final = int(lib.TM_DURABLES_UNKNOWN_MAX)
"""Most durable subscriptions in one call of `unknown`."""
HERE: Final = int(lib.TM_DURABLES_HERE)
"""The time of an unknown range behind all that was appended."""
_RANGES_BYTES: Final = FINISHED_RANGES_MAX * int(lib.TM_DURABLE_RANGE_BYTES)
_NEWS: Final = 256
MIB: Final = 1 << 20


class StoredSwitch(Protocol):
    """The part of a switch that SwitchDurables uses."""

    @property
    def c(self) -> Any:  # noqa: ANN401 - cffi has no types
        """The switch in C."""

    def knows(self, subscriber: int) -> None:
        """Let the table return `subscriber`, which C has made, in its answers."""


def catalog_records(log: Log) -> Iterator[LogRecord]:
    """Yield the records of the catalog that are not retired, in order. It blocks on the disk: call it before the router
    serves clients."""
    return (record for record in log.read(CATALOG) if record.kind >= KIND_MIN)


class SwitchDurables:
    """The durable subscriptions of `switch` in `log`, to which only they append from here on."""

    def __init__(
        self,
        switch: StoredSwitch,
        log: Log,
        *,
        ring_bytes: int,
        memory_bytes_max: int = 256 * MIB,
        waits_max: int = 0,
        answers_max: int = 0,
        has_no_thread: bool = False,
    ) -> None:
        """`ring_bytes`: that of `log`. `memory_bytes_max`: most memory of the index, consumers and disk reads."""
        options = ffi.new(
            "tm_durables_options *",
            {
                "memory_bytes_max": memory_bytes_max,
                "ring_bytes": ring_bytes,
                "waits_max": waits_max,
                "answers_max": answers_max,
                "has_no_thread": has_no_thread,
            },
        )
        check(lib.tm_switch_durables(switch.c, log.c, options))
        self._switch: StoredSwitch | None = switch
        self._log = log  # borrowed by C
        self._number, self._long = ffi.new("uint32_t *"), ffi.new("uint64_t *")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Cut all consumers and stop storing messages; stored ones stay in the log. Closing twice is allowed."""
        if self._switch is not None:
            check(lib.tm_switch_durables(self._switch.c, ffi.NULL, ffi.NULL))
            self._switch = None

    @property
    def c(self) -> Any:  # noqa: ANN401 - cffi has no types
        if self._switch is None:
            raise ValueError("the durable subscriptions are closed")
        return self._switch.c

    # --- the catalog ---------------------------------------------------------------------------------------------

    def append(self, kind: int, body: bytes) -> int:
        """Append a record to the catalog and return its number. Raise LogFull, LogFailed or LogBusy."""
        check_log(lib.tm_durables_append(self.c, kind, ffi.from_buffer(body), len(body), self._long))
        return int(self._long[0])

    def retire(self, n: int) -> None:
        """Mark record `n` of the catalog as done. Raise KeyError if there is no such record."""
        check_log(lib.tm_durables_retire(self.c, n))

    def await_(self, n: int = 0) -> None:
        """Request an event COMMITTED once record `n` is on disk; 0 is the last one appended. The frame of the event has
        the last number on disk (8 bytes, little-endian), its code is 1 if the log has failed."""
        check(lib.tm_durables_await(self.c, n))

    # --- durable subscriptions -----------------------------------------------------------------------------------

    def open(
        self,
        number: int,
        policy: DurablePolicy,
        *,
        recovered_from: int | None = None,
        has_filters: bool = True,
        copies: int = 0,
    ) -> int:
        """Make durable subscription `number` with `policy` and its filters; return the number of its
        subscriber. With `recovered_from`, the number of its catalog record, its messages are recovered from the log,
        which blocks on the disk; without it, `number` must be unused in this log. With `has_filters` False, `filter`
        adds the filters later. `copies`: a number that all copies at other homes share; 0: there are none. Raise the
        exceptions of adding a filter; a new subscription is then removed."""
        order_by, latest_by = policy.order_by.encode(), policy.latest_by.encode()
        owned = ffi.from_buffer(order_by), ffi.from_buffer(latest_by)
        backoff = ffi.new(f"uint32_t[{lib.TM_DURABLE_BACKOFFS_MAX}]", list(policy.backoff_ms))
        c_policy = ffi.new(
            "tm_durable_policy *",
            {
                "bytes_max": policy.bytes,
                "count_max": policy.count,
                "for_ms": policy.for_ms,
                "order_by": owned[0],
                "latest_by": owned[1],
                "order_by_size": len(order_by),
                "latest_by_size": len(latest_by),
                "ack_wait_ms": policy.ack_wait_ms,
                "deliveries_max": policy.deliveries_max,
                "unacked_max": policy.unacked_max,
                "backoff_count": len(policy.backoff_ms),
                "backoff_ms": list(backoff),
                "overflow": int(policy.overflow),
                "copies": copies,
                "copies_min": policy.copies_min,
            },
        )
        check(lib.tm_durable_open(self.c, number, c_policy, self._number))
        subscriber = int(self._number[0])
        if self._switch is not None:
            self._switch.knows(subscriber)
        if recovered_from is not None:
            check_log(lib.tm_durable_recover(self.c, number, recovered_from))
            self.filter(number, policy.filters, policy.residual)
            return subscriber
        try:
            self.filter(number, policy.filters if has_filters else (), policy.residual)
        except Exception:
            self._undo(number)
            raise
        return subscriber

    def purge(self, number: int, position: int) -> bool:
        """Remove the message at a position from a subscription; return False if it has none there that waits."""
        return bool(lib.tm_durable_purge(self.c, number, position) == lib.TM_OK)

    def own(self, number: int, owner: int) -> None:
        """Charge the bytes of a subscription in the log to `owner`, a number from 1, from now on."""
        check(lib.tm_durable_own(self.c, number, owner))

    def share(self, size: int) -> None:
        """Limit the subscriptions of each owner to `size` bytes of the log while it is tight; 0: no limit."""
        check(lib.tm_durables_share(self.c, size))

    def bound(self, owner: int, size: int, pools: Sequence[int]) -> None:
        """Limit the subscriptions of an owner to `size` bytes of the log at any time; 0: only by the common share. What
        they hold also counts in each of `pools`. Raise OutOfMemory, with nothing changed."""
        check(lib.tm_durables_bound(self.c, owner, size, ffi.new("uint32_t[]", pools), len(pools)))

    def bound_pool(self, pool: int, size: int) -> None:
        """Limit the subscriptions of all owners of a pool to `size` bytes together; 0: no limit. Raise OutOfMemory."""
        check(lib.tm_durables_bound_pool(self.c, pool, size))

    def pool_charge(self, pool: int) -> int:
        """Return the bytes of the log that the subscriptions of the owners of a pool hold."""
        check(lib.tm_durables_pool_charge(self.c, pool, self._long))
        return int(self._long[0])

    def charge(self, owner: int) -> int:
        """Return the bytes of the log that the subscriptions of an owner hold. Raise KeyError if it never had one."""
        check(lib.tm_durables_charge(self.c, owner, self._long))
        return int(self._long[0])

    @property
    def is_tight(self) -> bool:
        """Whether shares are enforced now: three quarters of the log are in use, or its disk is full."""
        return bool(lib.tm_log_is_tight(self._log.c))

    def finished_news(self) -> list[int]:
        """Return the subscriptions with copies in which messages were finished since the last call, or some of them."""
        numbers = ffi.new("uint32_t[]", _NEWS)
        return list(ffi.unpack(numbers, lib.tm_durables_finished_news(self.c, numbers, _NEWS)))

    def finished(self, number: int, at: int) -> tuple[int, bytes]:
        """Return ranges of messages that consumers here are done with, packed, and the number of the first: `at`, or
        that of the oldest range that is still known. Raise KeyError if there is no such subscription with copies."""
        first, out, count = ffi.new("uint64_t *", at), ffi.new("uint8_t[]", _RANGES_BYTES), ffi.new("size_t *")
        check(lib.tm_durable_finished(self.c, number, first, out, FINISHED_RANGES_MAX, count))
        return int(first[0]), bytes(ffi.buffer(out, count[0] * lib.TM_DURABLE_RANGE_BYTES))

    def passed_on(self, number: int, upto: int) -> None:
        """Forget the ranges up to this number, which all other homes have."""
        check(lib.tm_durable_passed_on(self.c, number, upto))

    def finish(self, number: int, ranges: bytes) -> None:
        """Let the messages leave that consumers at another home are done with, also those that are to come. Raise
        KeyError if there is no such subscription with copies; OutOfMemory if some did not leave."""
        check(lib.tm_durable_finish(self.c, number, ffi.from_buffer(ranges), len(ranges)))

    def filter(self, number: int, filters: Sequence[bytes], residual: bytes = b"") -> None:
        """Store messages that satisfy one of `filters`, and that the program `residual` lets pass if there is one, from
        now on. Raise the exceptions of adding a filter."""
        for packed in filters:
            program = ffi.from_buffer(residual) if residual else ffi.NULL
            check(lib.tm_durable_filter(self.c, number, ffi.from_buffer(packed), len(packed), program, len(residual)))

    def _undo(self, number: int) -> None:
        while self.remove(number, 64):
            pass

    def dead_letter(self, number: int, to: int) -> None:
        """Move dead letters of subscription `number` to subscription `to`, from now on; 0: drop them as losses."""
        check(lib.tm_durable_dead_letter(self.c, number, to))

    def unknown(self, numbers: Sequence[int], since_ms: int, reason: LossReason, messages: int = 0) -> None:
        """Append an unknown range: these subscriptions may have missed messages that entered at other routers since
        `since_ms` (Unix time, or HERE). With CUSTODY_FULL `messages` are missing; 0: that is unknown. Raise LogFull,
        LogFailed or LogBusy, with nothing changed."""
        c = ffi.new("uint32_t[]", numbers)
        check_log(lib.tm_durables_unknown(self.c, c, len(numbers), since_ms, reason, messages))

    def remove(self, number: int, steps: int) -> int:
        """End a subscription and cut its consumers; remove at most `steps` of its filters and return the number of
        those left. Repeat the call until that is 0. Raise LogFailed or LogBusy, with nothing changed."""
        check_log(lib.tm_durable_forget(self.c, number, steps, self._number))
        return int(self._number[0])

    def consume(
        self, number: int, connection: int, id_: int, credit: int, *, after: int = 0, latest: bool = False
    ) -> bool:
        """Attach a connection to a subscription as consumer `id_`. Return False if the limit of consumers of the
        subscription or the connection is reached. Raise KeyError if there is no such subscription, Gone if the
        connection has ended or uses this id."""
        result = lib.tm_durable_consume(self.c, number, connection, id_, credit, after, latest)
        if result == lib.TM_MISUSED:
            raise Gone("the connection has ended, or this id is in use")
        if result != lib.TM_TOO_MANY:
            check(result)
        return bool(result == lib.TM_OK)

    def guard(self, connection: int, id_: int, hand: int) -> bool:
        """Let a consumer get only messages that the guard `hand` lets pass, which the caller keeps. Return False if
        there is no such consumer, or its connection has ended."""
        return bool(lib.tm_durable_guard(self.c, connection, id_, hand) == lib.TM_OK)

    def look_again(self) -> None:
        """Look at all messages again that are held back, after guards have changed."""
        check(lib.tm_durables_look_again(self.c))

    def cancel(self, connection: int, id_: int) -> bool:
        """End a consumer; return False if the connection has none with this id."""
        result = lib.tm_durable_cancel(self.c, connection, id_)
        if result != lib.TM_ABSENT:
            check(result)
        return bool(result == lib.TM_OK)

    def newest(self, number: int, attributes: bytes) -> int | None:
        """Return the position of the newest message whose `latest_by` has the value in the packed `attributes`; None if
        there is none. The message may have another value with an equal key, and may not be on disk yet."""
        n = ffi.new("uint64_t *")
        result = lib.tm_durable_newest(self.c, number, ffi.from_buffer(attributes), len(attributes), n)
        if result != lib.TM_ABSENT:
            check(result)
        return int(n[0]) if result == lib.TM_OK else None

    # --- figures -------------------------------------------------------------------------------------------------

    def figures(self, number: int) -> DurableFigures:
        """Return the figures of a subscription; raise KeyError if there is no such subscription."""
        c = ffi.new("tm_durable_stats *")
        check(lib.tm_durable_figures(self.c, number, c))
        return DurableFigures(**{name: int(getattr(c, name)) for name in DurableFigures.__slots__})

    def all_figures(self) -> DurablesFigures:
        c = ffi.new("tm_durables_stats *")
        check(lib.tm_durables_figures(self.c, c))
        return DurablesFigures(**{name: int(getattr(c, name)) for name in DurablesFigures.__slots__})

    def totals(self) -> DurableFigures:
        """Return the sums over all subscriptions; `oldest` is that of the oldest message of all."""
        c = ffi.new("tm_durable_stats *")
        check(lib.tm_durables_totals(self.c, c))
        return DurableFigures(**{name: int(getattr(c, name)) for name in DurableFigures.__slots__})

    def arrivals(self) -> ArrivalFigures:
        """Return the counts of messages of chains of other routers."""
        c = ffi.new("tm_custody_stats *")
        check(lib.tm_custody_figures(self.c, c))
        return ArrivalFigures(**{name: int(getattr(c, name)) for name in ArrivalFigures.__slots__})

    def departures(self) -> DepartureFigures:
        """Return the counts of messages for homes elsewhere."""
        c = ffi.new("tm_custody_sent *")
        check(lib.tm_custody_sent_figures(self.c, c))
        return DepartureFigures(**{name: int(getattr(c, name)) for name in DepartureFigures.__slots__})

    def commits(self) -> CommitTimes:
        """Return the times for which confirmed publishes have waited for the disk since the start."""
        counts = ffi.new("uint64_t[]", COMMIT_BUCKETS)
        check(lib.tm_durables_commits(self.c, counts, self._long))
        return CommitTimes(tuple(ffi.unpack(counts, COMMIT_BUCKETS)), int(self._long[0]) / 1e6)

    # --- tests ---------------------------------------------------------------------------------------------------

    def validate(self) -> None:
        """Check every invariant of the structures in C; raise RuntimeError for a violated one."""
        reason = ffi.new("char **")
        if lib.tm_durables_validate(self.c, reason) == lib.TM_MISUSED:
            raise RuntimeError(f"durable subscriptions: {ffi.string(reason[0]).decode()}")

    def advance(self, wall_ms: int) -> None:
        """Advance the clock by which messages age and expire by `wall_ms`, which may be negative. For tests."""
        check(lib.tm_durables_advance(self.c, wall_ms))

    def fail_allocation(self, n: int) -> None:
        """Make the n-th allocation of durable subscriptions from now on fail; 0 turns this off. For tests."""
        lib.tm_durables_fail_allocation(self.c, n)

"""The forwarding table: filters by interface, matched by one of the engines.

Law: a refused add or remove does not change the table. One thread uses a table at a time: a match uses scratch memory
of the table, and C runs without Python's global lock. Lists of interfaces are sorted.
"""

from __future__ import annotations

import enum
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from types import TracebackType
from typing import Any, NamedTuple, Self

from tamis.native._tm import ffi, lib
from tamis.native.attributes import Decoder, packed_attributes
from tamis.native.batch import Batch
from tamis.native.engines import DEFAULT_ENGINE, ENGINES, engine_spelled
from tamis.native.query import Candidates, Grouping, Mode, Query, Rows, TableView
from tamis.native.results import check
from tamis.native.seed import random_seed
from tamis.protocol.errors import Refused
from tamis.protocol.filters import Filter
from tamis.protocol.limits import MATCH_STEPS
from tamis.protocol.values import Value
from tamis.protocol.wire.packed_filters import encode_filter

_LIMIT_MAX = 0xFFFF_FFFF
_BATCH_ROWS = 65_536  # initial room of a batch: a quarter of a megabyte, and few returns to Python

_Cdata = Any  # cffi's types exist only at run time


class InterfaceKind(enum.IntEnum):
    """The kind of an interface. A match reports once whether a link matches, and every matching filter of a client."""

    LINK = lib.TM_INTERFACE_LINK
    CLIENT = lib.TM_INTERFACE_CLIENT


@dataclass(frozen=True, slots=True)
class TableStats:
    """The figures of a table; the fields are those of `tm_stats` in tm_api.h."""

    filters: int
    constraints: int
    active: int
    tombstones: int
    memory_bytes: int
    hot_memory_bytes: int
    names: int
    interfaces: int
    steps: int
    updates: int
    skipped: int
    excluded: int

    @property
    def bytes_per_constraint(self) -> float:
        return self.memory_bytes / max(self.constraints, 1)

    @property
    def hot_bytes_per_constraint(self) -> float:
        return self.hot_memory_bytes / max(self.constraints, 1)


class Probes(NamedTuple):
    """Lengths of the searches for all keys in the hash tables of a table."""

    searches: int
    slots: int
    longest: int

    @property
    def mean(self) -> float:
        return self.slots / max(self.searches, 1)


@dataclass(frozen=True, slots=True)
class Measurement:
    """One measured run over a batch: the time of each message, and the time of all without a clock in between."""

    nanoseconds: array[int]
    total_ns: int
    matched: int
    checksum: int


class Table:
    """A table of one engine. `memory_bytes_max`: bound of its memory, 0 for none; `options`: the engine's options by
    name (see ENGINES), each a number or the name of a value. The name may have options, too:
    `sff:rounds=3:circuit=each`. `spaces`: filters that all messages of a space satisfy, for engines that arrange their
    filters by the values that names may have (protocol/spaces/finite.py); answers do not depend on them.

    Without `hash_seed` a random one is used, so that strangers cannot choose colliding names; with one, the work of a
    table is reproducible. A match of more than `match_steps` steps raises TooCostly.
    """

    def __init__(
        self,
        engine: str = DEFAULT_ENGINE,
        memory_bytes_max: int = 0,
        hash_seed: int | None = None,
        match_steps: int = MATCH_STEPS,
        options: Mapping[str, int | str] | None = None,
        spaces: Iterable[Filter] = (),
    ) -> None:
        if match_steps < 1:
            raise ValueError(f"match_steps is {match_steps}; it must be at least 1")
        chosen, spelled = engine_spelled(engine)
        named = chosen.values({**spelled, **(options or {})})
        self.engine = engine
        names = [ffi.new("char[]", name.encode()) for name in named]
        values = ffi.new("tm_option[]", list(zip(names, named.values(), strict=True)))
        asked = ffi.new("tm_options *", {"memory_bytes_max": memory_bytes_max, "match_steps": match_steps})
        asked.hash_seed = random_seed() if hash_seed is None else hash_seed
        asked.named, asked.named_count = values, len(names)
        made = ffi.new("tm_table **")
        check(lib.tm_table_new(chosen.number, asked, made))
        self._table: _Cdata | None = ffi.gc(made[0], lib.tm_table_free)
        for space in map(encode_filter, spaces):
            check(lib.tm_table_space(self.c, ffi.from_buffer(space), len(space)))
        self._handle = ffi.new("uint32_t *")
        self._decoder, self._rows = Decoder(), Rows()
        self._interface_count = 0
        self._plain_query: Query | None = None

    @staticmethod
    def engines() -> tuple[str, ...]:
        return tuple(ENGINES)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Free the table; closing twice is allowed."""
        if self._table is not None:
            ffi.release(self._table)
            self._table = None

    @property
    def is_closed(self) -> bool:
        return self._table is None

    @property
    def c(self) -> _Cdata:
        """The table in C, for modules of this package that keep the table alive."""
        if self._table is None:
            raise ValueError("the table is closed")
        return self._table

    # --- filters -------------------------------------------------------------------------------------------------

    def add(self, filter_: Filter | bytes, interface: int) -> int:
        """Add a filter, an object or its wire form; return its handle, which is valid until its removal."""
        data = filter_ if isinstance(filter_, bytes) else encode_filter(filter_)
        check(lib.tm_table_add(self.c, ffi.from_buffer(data), len(data), interface, self._handle))
        self.knows(interface)
        return int(self._handle[0])

    def remove(self, handle: int) -> None:
        """Remove the filter with this handle; raise KeyError if there is none."""
        check(lib.tm_table_remove(self.c, handle))

    def add_many(self, filters: Batch, interfaces: array[int]) -> array[int]:
        """Add all filters of the batch in one call of C; return their handles. If one is refused, none is added."""
        return self._add_many(filters, interfaces, ffi.NULL)

    def remove_many(self, handles: array[int]) -> None:
        """Remove filters in one call of C. Raise KeyError at the first unknown handle, with those before it removed."""
        check(lib.tm_table_remove_many(self.c, *_counted(handles), ffi.NULL, ffi.new("size_t *")))

    def _add_many(self, filters: Batch, interfaces: array[int], nanoseconds: _Cdata) -> array[int]:
        if len(interfaces) != len(filters):
            raise ValueError(f"{len(filters)} filters need {len(filters)} interfaces, not {len(interfaces)}")
        handles, done = array("I", bytes(4 * len(filters))), ffi.new("size_t *")
        result = lib.tm_table_add_many(
            *(self.c, ffi.from_buffer(filters.data), ffi.from_buffer("uint64_t[]", filters.offsets)),
            *(_numbers(interfaces), len(filters), _numbers(handles), nanoseconds, done),
        )
        if result != lib.TM_OK:
            self.remove_many(handles[: done[0]])
        check(result)
        self.knows(max(interfaces, default=-1))
        return handles

    def compares(self, handle: int) -> bool:
        """Return whether the filter `handle` is among those that `covering` and `covered` compare."""
        return bool(lib.tm_table_compares(self.c, handle))

    def covering(self, packed: bytes, most: int) -> list[int]:
        """Return the handles of at most `most` filters that cover this one, also of equivalent ones. Each is right,
        and the work is bounded. Raise RuntimeError if the engine does not compare (`Engine.compares`)."""
        return self._ask(lib.tm_table_covering, packed, most)

    def covered(self, packed: bytes, most: int) -> list[int]:
        """Return the handles of at most `most` filters that this one covers, like `covering`."""
        return self._ask(lib.tm_table_covered, packed, most)

    def _ask(self, question: Callable[..., int], packed: bytes, most: int) -> list[int]:
        handles, count = ffi.new("uint32_t[]", most), ffi.new("size_t *")
        check(question(self.c, packed, len(packed), handles, most, count))
        return list(ffi.unpack(handles, count[0])) if count[0] else []

    def set_interface(self, interface: int, kind: InterfaceKind) -> None:
        """Set the kind of `interface`, before it has filters."""
        check(lib.tm_table_set_interface(self.c, interface, kind))

    def view(self, grouping: Grouping) -> TableView:
        """Register a grouping for any number of matches; it ends when it is closed or with the table."""
        return TableView(self, grouping)

    def settle(self, steps: int) -> int:
        """Do at most `steps` of the work that removals have left; return how much of it remains, 0 for none."""
        left = ffi.new("uint64_t *")
        check(lib.tm_table_settle(self.c, steps, left))
        return int(left[0])

    @property
    def unknown(self) -> int:
        """A number that changes with the names of its filters; 0 for an engine that has none."""
        return int(lib.tm_table_unknown(self.c))

    def stats(self) -> TableStats:
        stats = ffi.new("tm_stats *")
        lib.tm_table_stats(self.c, stats)
        return TableStats(*(int(getattr(stats, field.name)) for field in fields(TableStats)))

    def probes(self) -> Probes:
        """Walk the whole table and return the lengths of searches, for tests of its hash tables."""
        probes = ffi.new("tm_probes *")
        lib.tm_table_probes(self.c, probes)
        return Probes(int(probes.searches), int(probes.slots), int(probes.longest))

    @property
    def used(self) -> int:
        """Bytes of the filters as charged to the clients that add them; see `tm_table_used`."""
        return int(lib.tm_table_used(self.c))

    def validate(self) -> None:
        """Check every invariant of the structures in C; raise RuntimeError for a violated one."""
        reason = ffi.new("char **")
        result = lib.tm_table_validate(self.c, reason)
        if result == lib.TM_MISUSED:
            raise RuntimeError(f"table of engine {self.engine}: {ffi.string(reason[0]).decode()}")
        check(result)

    def fail_allocation(self, n: int) -> None:
        """Make the n-th allocation from now on fail; 0 turns this off. For tests."""
        lib.tm_table_fail_allocation(self.c, n)

    # --- one message ---------------------------------------------------------------------------------------------

    def match(
        self,
        attributes: Mapping[str, Value] | bytes,
        candidates: Candidates | None = None,
        grouping: Grouping | TableView | None = None,
    ) -> list[int]:
        """Return the interfaces, or with a grouping the groups, that match the message."""
        with self._query(candidates, grouping) as query:
            self._match(attributes, query, Mode.INTERFACES, query.group_count)
        return sorted(self._rows.groups(0, self._rows.c.count))

    def match_which(
        self,
        attributes: Mapping[str, Value] | bytes,
        candidates: Candidates | None = None,
        grouping: Grouping | TableView | None = None,
    ) -> dict[int, int]:
        """Return for each matching interface or group the handle of one matching filter."""
        with self._query(candidates, grouping) as query:
            self._match(attributes, query, Mode.WHICH, query.group_count)
        return dict(sorted(self._rows.pairs()))

    def match_all(
        self, attributes: Mapping[str, Value] | bytes, candidates: Candidates | None = None
    ) -> list[tuple[int, int]]:
        """Return (interface, handle) of every matching filter of interfaces that are clients."""
        with self._query(candidates, None) as query:
            if self._match(attributes, query, Mode.ALL, _BATCH_ROWS) == lib.TM_TOO_MANY:
                self._match(attributes, query, Mode.ALL, self._rows.c.count)
        return sorted(self._rows.pairs())

    def match_some(self, attributes: Mapping[str, Value] | bytes, capacity: int) -> tuple[list[tuple[int, int]], int]:
        """Return at most `capacity` of the rows that `match_all` finds, unordered, and the number of all."""
        with self._query(None, None) as query:
            self._match(attributes, query, Mode.ALL, capacity)
        return self._rows.pairs(capacity), int(self._rows.c.count)

    def match_limited(
        self,
        attributes: Mapping[str, Value] | bytes,
        limit: int,
        candidates: Candidates | None = None,
        grouping: Grouping | TableView | None = None,
    ) -> tuple[list[tuple[int, int]], dict[int, int]]:
        """Return (group, handle) of up to `limit` matching filters of each interface or group, and for each with any
        their number, or limit + 1 if more match. Raise ValueError for an engine without `limits`."""
        if not lib.tm_table_limits(self.c):
            raise ValueError(f"engine {self.engine} cannot stop a match after some filters")
        if not 1 <= limit < _LIMIT_MAX:
            raise ValueError(f"limit is {limit}; it must be from 1 to {_LIMIT_MAX - 1:,}")
        data = packed_attributes(attributes)
        count = self._decoder.decode(data)
        with self._query(candidates, grouping) as query:
            hits = self._rows.ask(max(min(limit, self.stats().filters) * query.group_count, 1), with_handles=True)
            counts = hits.counts = ffi.new("uint32_t[]", max(query.group_count, 1))
            query.c.limit = limit
            try:
                check(lib.tm_table_match(self.c, self._decoder.attributes, count, query.ask(Mode.LIMITED), hits))
            finally:
                hits.counts = ffi.NULL
            return sorted(self._rows.pairs()), {group: found for group, found in enumerate(counts) if found}

    def _match(self, attributes: Mapping[str, Value] | bytes, query: Query, mode: Mode, capacity: int) -> int:
        """Match one message and store the answer in `_rows`; return TM_OK, or, for Mode.ALL only, TM_TOO_MANY."""
        data = packed_attributes(attributes)
        count = self._decoder.decode(data)
        hits = self._rows.ask(max(capacity, 1), with_handles=mode is not Mode.INTERFACES)
        result: int = lib.tm_table_match(self.c, self._decoder.attributes, count, query.ask(mode), hits)
        if result != lib.TM_TOO_MANY or mode is not Mode.ALL:
            check(result)
        return result

    # --- many messages -------------------------------------------------------------------------------------------

    def match_batch(
        self,
        messages: Batch | Iterable[bytes],
        candidates: Candidates | None = None,
        grouping: Grouping | TableView | None = None,
    ) -> list[list[int]]:
        """Return the result of `match` for each message. Raise Refused with the index of the first malformed one."""
        batch = messages if isinstance(messages, Batch) else Batch.of(messages)
        with self._query(candidates, grouping) as query:
            return self._match_batch(batch, query)

    def _match_batch(self, batch: Batch, query: Query) -> list[list[int]]:
        offsets = ffi.from_buffer("uint64_t[]", batch.offsets)
        results, ends = ffi.new("uint8_t[]", len(batch) + 1), ffi.new("uint64_t[]", len(batch) + 1)
        hits, done = self._rows.ask(max(query.group_count, _BATCH_ROWS)), ffi.new("size_t *")
        found: list[list[int]] = []
        while len(found) < len(batch):
            start = len(found)
            check(
                lib.tm_table_match_batch(
                    *(self.c, ffi.from_buffer(batch.data), offsets + start, len(batch) - start),
                    *(query.ask(Mode.INTERFACES), hits, ends, results, done),
                )
            )
            if not done[0]:
                raise RuntimeError("a batch had room for every group and did not advance")
            _refuse_malformed(ffi.unpack(results, done[0]), start)
            found.extend(self._lists(ffi.unpack(ends, done[0])))
        return found

    def _lists(self, ends: list[int]) -> Iterable[list[int]]:
        start = 0
        for end in ends:
            yield sorted(self._rows.groups(start, end))
            start = end

    @contextmanager
    def _query(self, candidates: Candidates | None, grouping: Grouping | TableView | None) -> Iterator[Query]:
        """Provide a query; a grouping that is no view is registered while the query is used."""
        if isinstance(grouping, TableView):
            yield Query(self._interface_count, candidates, grouping)
        elif grouping is not None:
            with TableView(self, grouping) as view:
                yield Query(self._interface_count, candidates, view)
        elif candidates is not None:
            yield Query(self._interface_count, candidates, None)
        else:
            if self._plain_query is None:
                self._plain_query = Query(self._interface_count, None, None)
            yield self._plain_query

    def knows(self, interface: int) -> None:
        """Include `interface` in answers, whose filters C adds without this class."""
        if interface >= self._interface_count:
            self._interface_count = interface + 1
            self._plain_query = None

    # --- for benchmarks ------------------------------------------------------------------------------------------

    def measure(
        self,
        messages: Batch,
        candidates: Candidates | None = None,
        grouping: Grouping | TableView | None = None,
        mode: Mode = Mode.INTERFACES,
    ) -> Measurement:
        with self._query(candidates, grouping) as query:
            return self._measure(messages, query, mode)

    def _measure(self, messages: Batch, query: Query, mode: Mode) -> Measurement:
        nanoseconds = array("I", bytes(4 * len(messages)))
        total_ns, matched, checksum = (ffi.new("uint64_t *") for _ in range(3))
        check(
            lib.tm_table_measure(
                *(self.c, ffi.from_buffer(messages.data), ffi.from_buffer("uint64_t[]", messages.offsets)),
                *(len(messages), query.ask(mode), ffi.from_buffer("uint32_t[]", nanoseconds)),
                *(total_ns, matched, checksum),
            )
        )
        return Measurement(nanoseconds, int(total_ns[0]), int(matched[0]), int(checksum[0]))

    def measure_add(self, filters: Batch, interfaces: array[int]) -> tuple[array[int], array[int]]:
        """Add filters like `add_many`; also return the nanoseconds of each addition."""
        nanoseconds = array("I", bytes(4 * len(filters)))
        return self._add_many(filters, interfaces, _numbers(nanoseconds)), nanoseconds

    def measure_remove(self, handles: array[int]) -> array[int]:
        """Remove filters like `remove_many`; return the nanoseconds of each removal."""
        nanoseconds = array("I", bytes(4 * len(handles)))
        check(lib.tm_table_remove_many(self.c, *_counted(handles), _numbers(nanoseconds), ffi.new("size_t *")))
        return nanoseconds


def _numbers(values: array[int]) -> _Cdata:
    if values.typecode != "I":
        raise ValueError(f"interfaces and handles must be an array of type I, not {values.typecode}")
    return ffi.from_buffer("uint32_t[]", values)


def _counted(values: array[int]) -> tuple[_Cdata, int]:
    return _numbers(values), len(values)


def _refuse_malformed(results: list[int], start: int) -> None:
    if not any(results):
        return
    for index, result in enumerate(results, start):
        try:
            check(result)
        except Refused as error:
            raise Refused(f"message {index}: {error}") from None

"""Subscriptions in force, prepared for batches of messages: which of them may want a message, and whose they are.

Law: subscriptions lie in the memory of each process that judges, about a hundred bytes each, up to HELD_BYTES. Beyond,
they lie in files beside the records, which the processes of a machine map and share: pages of them leave memory when it
is short, and answers are equal. Subscriptions that last less than SLOT_US are looked for near a message only: a client
that changes often subscribes to one filter very often.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tamis.analysis.questions.matches import Ints
from tamis.analysis.questions.standing import RecordedNetwork

SLOT_US: Final = 30_000_000
HELD_BYTES: Final = 64 * 1024 * 1024
"""Bytes of subscriptions that each process may hold: some six hundred thousand filters."""
PLACE: Final = ("router", "epoch", "connection")
_KEY: Final = pa.binary(24)


@dataclass(frozen=True)
class Places:
    """Connections, numbered in the order of router, life and number."""

    keys: pa.Array

    def numbers(self, keys: pa.Array) -> Ints:
        """Return the number of each; -1 for an unknown one."""
        found: Ints = pc.fill_null(pc.index_in(keys, self.keys), -1).to_numpy().astype(np.int64)
        return found


def keys_of(router: Ints, epoch: Ints, connection: Ints) -> pa.Array:
    packed = np.ascontiguousarray(np.stack([router, epoch, connection], axis=1), np.int64)
    return pa.FixedSizeBinaryArray.from_buffers(_KEY, len(packed), [None, pa.py_buffer(packed.tobytes())])


@dataclass(frozen=True)
class Demand:
    """A row for each filter of each subscription, by filter, lasting ones first and others by their begin."""

    places: Places
    clients: pa.Array
    """By place."""
    groups: pa.Array
    filter: Ints
    router: Ints
    life: Ints
    connection: Ints
    place: Ints
    group: Ints
    """Its number, or -1."""
    is_own: Ints
    since_us: Ints
    until_us: Ints
    since_at_us: Ints
    until_at_us: Ints
    begins: Ints
    """By filter: the first row, and the first of short subscriptions; then the end of all."""
    by_place: Ints
    """Rows by place and filter."""
    place_filter: Ints
    """Each pair of a place and a filter that has rows, as a number, in order."""
    place_begins: Ints
    """Of each pair, and of one that has no rows, the first of its rows in `by_place`; then the end of all."""
    folder: Path | None = None
    """Where the files are of which this is made, if it is."""

    @classmethod
    def of(cls, in_force: pa.Table, network: RecordedNetwork, filters: int) -> Demand:
        rows = in_force.combine_chunks()
        router = pc.index_in(rows.column("router"), pa.array(network.routers, pa.string())).to_numpy()
        epoch, since_us, until_us = (rows.column(name).to_numpy() for name in ("epoch", "since_us", "until_us"))
        connection = pc.fill_null(rows.column("connection"), -1).to_numpy()
        each = keys_of(router, epoch, connection)
        places = Places(pc.unique(each.take(pa.array(np.lexsort([connection, epoch, router])))))
        place, number = places.numbers(each), rows.column("filter").to_numpy().astype(np.int64)
        _, firsts = np.unique(place, return_index=True)
        groups = rows.column("group").combine_chunks().dictionary_encode()
        offset_us = network.offsets_us[router]
        is_short = until_us - since_us < SLOT_US
        order = np.lexsort([since_us + offset_us, is_short, number])
        edges = np.arange(2 * filters + 1)
        begins = np.searchsorted((2 * number + is_short)[order], edges)
        columns = {
            "filter": number,
            "router": router,
            "connection": connection,
            "place": place,
            "life": network.lives_of(rows.column("router").combine_chunks(), rows.column("epoch").combine_chunks()),
            "group": pc.fill_null(groups.indices, -1).to_numpy().astype(np.int64),
            "is_own": rows.column("own").to_numpy(),
            "since_us": since_us,
            "until_us": until_us,
            "since_at_us": since_us + offset_us,
            "until_at_us": until_us + offset_us,
        }
        columns = {name: column[order] for name, column in columns.items()}
        place_filter = columns["place"] * max(filters, 1) + columns["filter"]
        by_place = np.argsort(place_filter, kind="stable")
        pairs, pair_begins = np.unique(place_filter[by_place], return_index=True)
        clients = rows.column("client").combine_chunks().take(pa.array(firsts))
        return cls(
            places,
            clients,
            groups.dictionary,
            **columns,
            begins=begins,
            by_place=by_place,
            place_filter=pairs,
            place_begins=np.append(pair_begins, [len(by_place)] * 2),
        )

    @property
    def size_bytes(self) -> int:
        return sum(column.nbytes for column in self._columns().values())

    def held(self, folder: Callable[[], Path]) -> Demand:
        """Return this if it has at most HELD_BYTES; else one that is mapped from files in `folder`, which it makes."""
        if self.size_bytes <= HELD_BYTES:
            return self
        place = folder()
        place.mkdir(parents=True)
        for name, column in self._columns().items():
            if isinstance(column, pa.Array):
                table = pa.table({name: column})
                with pa.OSFile(str(place / f"{name}.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as sink:
                    sink.write_table(table)
            else:
                np.save(place / f"{name}.npy", column)
        return mapped(place)

    def _columns(self) -> dict[str, Ints | pa.Array]:
        named = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "folder"}
        return named | {"places": self.places.keys}

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what another process makes it of: its columns, or the folder of its files."""
        if self.folder is not None:
            return mapped, (self.folder,)
        return Demand, tuple(getattr(self, field.name) for field in fields(self))

    def load(self, filters: Ints) -> Ints:
        """Return how many pairs each of `filters` makes with a message, at most."""
        return self.begins[2 * filters + 2] - self.begins[2 * filters]

    def pairs(self, filters: Ints, at_us: Ints, error_us: Ints) -> tuple[Ints, Ints]:
        """Return the pairs of a message and a subscription that may want it: the place in `filters`, which has one
        that a message at `at_us` satisfies, and the row. Clocks may be wrong by `error_us`."""
        lasting, ends = self.begins[2 * filters], self.begins[2 * filters + 1]
        low, high = np.array(ends), np.array(ends)
        is_asked = self.begins[2 * filters + 2] > ends
        for each in np.unique(filters[is_asked]):
            mine = np.flatnonzero(filters == each)
            first, last = self.begins[2 * each + 1], self.begins[2 * each + 2]
            since_us = self.since_at_us[first:last]
            low[mine] = first + np.searchsorted(since_us, at_us[mine] - error_us[mine] - SLOT_US, "left")
            high[mine] = first + np.searchsorted(since_us, at_us[mine] + error_us[mine], "right")
        one, other = expanded(lasting, ends), expanded(low, high)
        return np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]])

    def at_place(self, places: Ints, filters: Ints) -> tuple[Ints, Ints]:
        """Return the pairs of a place in `places` and a row of that connection with that filter."""
        wanted = places * max((len(self.begins) - 1) // 2, 1) + filters
        pair = pc.index_in(pa.array(wanted), pa.array(self.place_filter))
        known = pc.fill_null(pair, len(self.place_filter)).to_numpy()
        place, row = expanded(self.place_begins[known], self.place_begins[known + 1])
        return place, self.by_place[row]


def mapped(folder: Path) -> Demand:
    """Return the subscriptions whose columns are the files in `folder`."""
    columns: dict[str, Any] = {path.stem: np.load(path, mmap_mode="r") for path in folder.glob("*.npy")}
    for path in folder.glob("*.arrow"):
        (batch,) = pa.ipc.open_file(pa.memory_map(str(path))).read_all().to_batches()
        columns[path.stem] = batch.column(0)
    return Demand(**columns | {"places": Places(columns["places"])}, folder=folder)


def expanded(begins: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Return each number of the spans from `begins` to before `ends`, behind the place of its span."""
    sizes = ends - begins
    place = np.repeat(np.arange(len(begins)), sizes)
    before = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if len(sizes) else sizes
    return place, np.arange(len(place)) - np.repeat(before - begins, sizes)

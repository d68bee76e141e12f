"""What the verdicts on the messages of a chapter, and counts of subscriptions in force, depend on beside the records of
these messages, in a few bytes.

Law: equal grounds mean equal verdicts and counts. The time of an event counts by the messages of the chapter before it:
a clock that is better known, or a life that lasts on, changes nothing unless a message comes to be on the other side.
What happened at other times, and whom it does not concern, is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tamis.analysis.questions.matches import Flags, Ints, MatchContext
from tamis.analysis.questions.standing import LOCAL_US, RecordedNetwork
from tamis.analysis.records.by_message import CHAPTER

ENTERED, TAKEN, TRIED = range(3)
TIMES: Final = pa.schema(
    [
        *((CHAPTER, pa.int64()), ("what", pa.int64()), ("router", pa.string()), ("epoch", pa.int64())),
        ("t_us", pa.int64()),
    ]
)
"""When messages ENTERED a life of a router, by its clock; the first and the last times at which a router's clients had
TAKEN one; a row of TRIED if a message entered twice: then the clocks decide where it entered first."""
_NEVER: Final = -(1 << 62)


def times(known: MatchContext, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the rows of TIMES of a batch of messages."""
    entered = pa.table(batch).filter(pc.is_valid(batch.column("source")))
    routers = pa.array(known.routers, pa.string())
    offset_us = pa.array(known.offsets_us).take(pc.index_in(entered.column("source"), routers).combine_chunks())
    at_source = [*(entered.column(name) for name in (CHAPTER, "source", "source_epoch"))]
    each = _rows(ENTERED, *at_source, pc.subtract(entered.column("at_us"), offset_us))
    taken = batch.column("taken")
    of, rows = pc.list_parent_indices(taken), taken.flatten()
    got = pa.table([batch.column(CHAPTER).take(of), rows.field("router"), rows.field("got_us")], names=["c", "r", "u"])
    got = got.group_by(["c", "r"], use_threads=False).aggregate([("u", "min"), ("u", "max")])
    none = pa.nulls(len(got), pa.int64())
    ends = [_rows(TAKEN, got.column("c"), got.column("r"), none, got.column(name)) for name in ("u_min", "u_max")]
    twice = entered.filter(pc.greater(entered.column("tries"), 1)).column(CHAPTER)
    nulls = (pa.nulls(len(twice), TIMES.field(name).type) for name in TIMES.names[2:])
    every = pa.concat_tables([each, *ends, _rows(TRIED, twice, *nulls)])
    (found,) = every.group_by(TIMES.names, use_threads=False).aggregate([]).combine_chunks().to_batches() or (None,)
    return pa.RecordBatch.from_pylist([], TIMES) if found is None else found


def sources(found: pa.Table) -> list[str]:
    """Return the routers where messages with these TIMES entered."""
    entered = found.filter(pc.equal(found.column("what"), ENTERED))
    names: list[str] = entered.column("router").unique().to_pylist()
    return names


def _rows(what: int, *columns: pa.ChunkedArray) -> pa.Table:
    chapter, *others = columns
    return pa.table([chapter, pa.array([what] * len(chapter), pa.int64()), *others], schema=TIMES)


@dataclass(frozen=True)
class Grounds:
    """What is known of the network and its subscriptions. Rows are those of `subscriptions.in_force`."""

    network: RecordedNetwork
    told: Ints
    """Of each row what does not depend on time: router, epoch, connection, group, filter, and whether the publisher
    itself is served; words by `_number`."""
    router: Ints
    life: Ints
    since_us: Ints
    until_us: Ints

    @classmethod
    def of(cls, network: RecordedNetwork, in_force: pa.Table, forms: Sequence[str]) -> Grounds:
        rows = in_force.combine_chunks()
        router, group = (rows.column(name).combine_chunks() for name in ("router", "group"))
        epoch = rows.column("epoch").combine_chunks()
        filters = np.array([_number(form) for form in forms], np.int64)
        told = (
            *(_numbers(router), epoch.to_numpy(), pc.fill_null(rows.column("connection"), -1).to_numpy()),
            *(_numbers(group), filters[rows.column("filter").to_numpy()] if len(rows) else np.zeros(0, np.int64)),
            np.asarray(rows.column("own").to_numpy(), np.int64),
        )
        return cls(
            network,
            np.stack(told, axis=1),
            pc.index_in(router, pa.array(network.routers, pa.string())).to_numpy().astype(np.int64),
            network.lives_of(router, epoch),
            *(rows.column(name).to_numpy() for name in ("since_us", "until_us")),
        )

    def digest(self, found: pa.Table) -> str:
        """Return the grounds for the messages with these TIMES."""
        said = blake2b(digest_size=16)
        sums = [pc.equal(found.column("what"), what) for what in (ENTERED, TAKEN, TRIED)]
        entered, taken, tried = (found.filter(mine) for mine in sums)
        if len(tried):
            said.update(repr([*zip(self.network.routers, self.network.offsets_us.tolist(), strict=True)]).encode())
        by_router = _spans(taken)
        spans = [by_router.get(router, (-_NEVER, _NEVER)) for router in self.network.routers]
        first_us, last_us = np.array(spans, np.int64).reshape(-1, 2)[self.router].T
        concerned = (self.since_us - LOCAL_US <= last_us) & (self.until_us + LOCAL_US >= first_us)
        places = np.zeros((len(self.since_us), 0), np.int64)
        for router, epoch, t_us in by_life(entered):
            source = _Source(self.network, router, epoch, t_us)
            mine = self._places(source)
            concerns = mine[:, 0] < mine[:, 3]
            said.update(repr((router, epoch, len(t_us))).encode())
            for text in self._circumstances(source, concerns):
                said.update(text)
            concerned, places = concerned | concerns, np.hstack([places, mine])
        ends_us = np.minimum(self.until_us, last_us + LOCAL_US + 1)
        for life, (from_us, _) in self.network.dark_events.items():
            router, epoch = self.network.lives[life][:2]
            if router in by_router and from_us[0] <= by_router[router][1]:
                said.update(repr((router, epoch, int(from_us[0]))).encode())
        rows = np.hstack([self.told, self.since_us[:, None], ends_us[:, None], places])[concerned]
        said.update(np.ascontiguousarray(rows).tobytes())
        return said.hexdigest()

    def _places(self, source: _Source) -> Ints:
        """Return of each row how many of the messages come before it may be, must be, must no longer be and can no
        longer be in force, and before it begins and ends if the clocks are right; zeros if it is in force at none."""
        network, count = self.network, len(source.at_us)
        is_home = (self.life == source.life) & (source.life < len(network.lives))
        error_us = np.where(is_home, 0, network.errors_us[source.router] + network.errors_us[self.router])
        margin_us = error_us + np.where(is_home, LOCAL_US, network.settle_us)
        since_us, until_us = (each + network.offsets_us[self.router] for each in (self.since_us, self.until_us))
        found = np.zeros((len(since_us), 6), np.int64)
        first_us, last_us = source.at_us[0], source.at_us[-1]
        is_always = (since_us + margin_us <= first_us) & (until_us - margin_us >= last_us)
        found[is_always] = 0, 0, count, count, 0, count
        is_never = (since_us - error_us > last_us) | (until_us + error_us < first_us)
        some = np.flatnonzero(~is_always & ~is_never)
        since_us, until_us, error_us, margin_us = (each[some] for each in (since_us, until_us, error_us, margin_us))
        lefts = since_us - error_us, since_us + margin_us, since_us
        rights = until_us - margin_us, until_us + error_us, until_us
        edges = [np.searchsorted(source.at_us, edge_us, "left") for edge_us in lefts]
        edges += [np.searchsorted(source.at_us, edge_us, "right") for edge_us in rights]
        places = np.stack([edges[place] for place in (0, 1, 3, 4, 2, 5)], axis=1)
        found[some] = np.where((places[:, 0] < places[:, 3])[:, None], places, 0)
        return found

    def _circumstances(self, source: _Source, concerns: Flags) -> Iterator[bytes]:
        """Yield what is known of the routes from the source, and of the records, when the messages entered."""
        network, at_us = self.network, source.at_us
        reach = None if source.life == len(network.lives) else network.reach.get((source.name, source.epoch))
        then = None if reach is None else reach.then(at_us)
        is_any_unknown = False
        for home in np.unique(self.router[concerns & (self.life != source.life)]).tolist():
            name = network.routers[home]
            yield name.encode()
            way = network.ways.get((source.name, name))
            is_any_unknown |= way is None
            yield b"-" if way is None else _bits(way.hold(at_us))
            if reach is not None and then is not None:
                yield _bits(np.array([name in routers for routers in reach.routers], np.bool_)[then])
        if is_any_unknown:
            yield _bits(network.is_restless(at_us))
        code, covers = network.samples
        yield _bits(covers[code[self.life[concerns]], code[source.life]])
        lives = set(self.life[concerns].tolist())
        for life in sorted(lives & network.dark_messages.keys(), key=lambda life: network.lives[life][:2]):
            yield repr(network.lives[life][:2]).encode()
            yield _bits(network.dark_messages[life].hold(self._here_us(source, life)))
        for life in sorted(lives & network.dark_events.keys(), key=lambda life: network.lives[life][:2]):
            from_us, ends_us = network.dark_events[life]
            before = np.searchsorted(self._here_us(source, life), from_us, "right")
            dark = before < len(at_us)
            yield repr((network.lives[life][:2], before[dark].tolist(), ends_us[dark].tolist())).encode()

    def _here_us(self, source: _Source, life: int) -> Ints:
        """Return when the messages entered, by the clock of another router."""
        network = self.network
        here_us: Ints = source.at_us - network.offsets_us[network.routers.index(network.lives[life].router)]
        return here_us


class _Source:
    """A life of a router, and when messages entered there, in order."""

    def __init__(self, network: RecordedNetwork, name: str, epoch: int, t_us: Ints) -> None:
        self.name, self.epoch = name, epoch
        self.router = network.routers.index(name)
        self.life = network.numbers.get((name, epoch), len(network.lives))
        self.at_us = t_us + network.offsets_us[self.router]


def _spans(taken: pa.Table) -> dict[str, tuple[int, int]]:
    """Return when clients of each router first and last took a message."""
    spans = taken.group_by("router", use_threads=False).aggregate([("t_us", "min"), ("t_us", "max")])
    return {row["router"]: (row["t_us_min"], row["t_us_max"]) for row in spans.to_pylist()}


def by_life(found: pa.Table) -> Iterator[tuple[str, int, Ints]]:
    """Yield each life of a router with the times at which messages entered, each once."""
    entered = found.filter(pc.equal(found.column("what"), ENTERED))
    lists = entered.group_by(["router", "epoch"], use_threads=False).aggregate([("t_us", "list")])
    for row in lists.sort_by([("router", "ascending"), ("epoch", "ascending")]).to_batches():
        for router, epoch, t_us in zip(*(row.column(name) for name in ("router", "epoch", "t_us_list")), strict=True):
            yield router.as_py(), epoch.as_py(), np.unique(t_us.values.to_numpy())


def _bits(flags: Flags) -> bytes:
    return np.packbits(flags).tobytes()


def _numbers(words: pa.Array) -> Ints:
    each = words.dictionary_encode(null_encoding="encode")
    known = np.array([_number(word) for word in each.dictionary.to_pylist()], np.int64)
    return known[each.indices.to_numpy()] if len(words) else np.zeros(0, np.int64)


def _number(word: str | None) -> int:
    """Return a number for a word, another one for each."""
    return int.from_bytes(blake2b(repr(word).encode(), digest_size=8).digest(), "big", signed=True)

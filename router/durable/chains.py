"""The chains of messages between this router, as an entry and as a home, and other routers.

    switch ── CHAINS, answers of the log ─┐
    links ─── ACK, ASK, GAP, FINISHED ────┼─> DurableChains ─┬─> ArrivingChains     this router is a home
    core ──── statements, HELD ───────────┘                  ├─> DepartingChains    this router is an entry
                                                             └─> FinishedExchange   this router is one of several homes

Law: this file passes on, and decides nothing but when: what is lost or could not be done is done at a later tick.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from tamis.native.custody import SwitchCustody, SwitchHomes, chain_reports
from tamis.protocol.wire.custody_bodies import ChainGap, CopyFinished, CustodyAck, CustodyAsk, CustodyBody, LogLife
from tamis.protocol.wire.home_bodies import TAKES_DIRECTED, read_durable
from tamis.protocol.wire.numbers import stable_number
from tamis.router.connections.wider_network import OtherHomes
from tamis.router.durable.arriving_chains import WINDOW, ArrivingChains, MissedOf, Missing
from tamis.router.durable.departing_chains import AGE_MS, ALL_BYTES_MAX, BYTES_MAX, DepartingChains, HomeStanding
from tamis.router.durable.finished import FinishedExchange
from tamis.router.durable.registry import DurableRegistry

REPEAT_US: Final = 1_000_000
"""How often a home acknowledges again what is on its disk, and begins the chains of entries that hold its statement."""


class CustodyBounds(NamedTuple):
    """Bytes that are stored for one home, and for all together; those that an entry may send ahead of the disk here;
    for how long a message waits for a home; whether one without room is refused."""

    bytes_max: int = BYTES_MAX
    all_bytes_max: int = ALL_BYTES_MAX
    window: int = WINDOW
    age_ms: int = AGE_MS
    refuses: bool = False


class DurableChains:
    """`written` is the present life of the log of router `name`, `others` are those of the network. `begin` is called
    before a chain of an entry begins, `missing` and `began` are those of ArrivingChains, `reaches` returns whether a
    router is in reach."""

    def __init__(
        self,
        name: str,
        others: Iterable[str],
        written: LogLife,
        registry: DurableRegistry,
        homes: OtherHomes,
        begin: Callable[[], None],
        missing: Missing,
        began: Callable[[], None],
        bounds: CustodyBounds,
        reaches: Callable[[str], bool],
    ) -> None:
        me, durables, log = stable_number(name), registry.durables, registry.log
        self._homes, self._begin, self._repeat_us = homes, begin, 0
        self._names = {stable_number(each): each for each in others}
        self._switch_homes = SwitchHomes(durables, log)
        self.departing = DepartingChains(
            *(me, written, self._switch_homes, homes.send),
            *(bounds.bytes_max, bounds.all_bytes_max, bounds.age_ms),
            refuses=bounds.refuses,
        )
        self.arriving = ArrivingChains(
            *(me, written.log, SwitchCustody(durables), log.chains(), homes.send),
            *(homes.log_of, homes.has_no_log, missing, began, bounds.window),
        )
        self._finished = FinishedExchange(me, written.log, self._names, registry, homes, reaches)

    def start(self) -> None:
        self._homes.take_frames(self._heard)
        self._homes.when_stored(self._held)

    def comes_from(self, name: str) -> bool:
        """Return whether router `name` stores what the durable subscriptions here want, in the log that it states."""
        entry = stable_number(name)
        log = self._homes.log_of(entry)
        return log != 0 and self.arriving.log_of(entry) == log

    def _held(self, entry: int, written: LogLife) -> None:
        if self.arriving.log_of(entry) != written.log:
            self._begin()
        self.arriving.held(entry, written)

    def state(self, name: str, log: int, added: Mapping[int, bytes], removed: Iterable[int]) -> None:
        """Store from now on what durable subscriptions of router `name` want. Those that do not take DIRECTED are left
        to the copies for live subscribers. Raise as `DepartingChains.state`."""
        directed = {number: packed for number, packed in added.items() if _takes_directed(packed)}
        home = stable_number(name)
        self.departing.state(home, log, directed, {*removed, *(added.keys() - directed.keys())})
        self._switch_homes.name(home, name)

    def standings(self) -> Iterator[tuple[str, HomeStanding]]:
        """Yield the routers for which this one stores messages, and how they stand."""
        return ((self._name(each.home), each) for each in self.departing.standings(_now_us()))

    def missed(self) -> Iterator[tuple[str, MissedOf]]:
        """Yield the routers from which messages come by a chain, and what of it is missing."""
        return ((self._name(entry), each) for entry, each in self.arriving.missed.items())

    def _name(self, number: int) -> str:
        return self._names.get(number, f"{number:016x}")

    def reported(self, reports: bytes) -> None:
        self.arriving.news(chain_reports(reports), _now_us())

    def answered(self) -> float:
        return self.departing.answered(_now_us()) / 1e6

    def tick(self) -> None:
        now_us = _now_us()
        self.departing.tick(now_us)
        self._finished.tick(now_us)
        if now_us >= self._repeat_us:
            self._repeat_us = now_us + REPEAT_US
            self.arriving.tick()
            self._homes.when_stored(self._held)  # a full log may have refused to begin a chain

    def _heard(self, body: CustodyBody) -> None:
        match body:
            case CustodyAck():
                self.departing.acknowledge(body)
            case CustodyAsk():
                self.departing.ask(body, _now_us())
            case ChainGap():
                self.arriving.gap(body, _now_us())
            case CopyFinished():
                self._finished.heard(body)


def _takes_directed(packed: bytes) -> bool:
    return bool(read_durable(packed).flags & TAKES_DIRECTED)


def _now_us() -> int:
    return time.monotonic_ns() // 1_000

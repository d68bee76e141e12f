"""The durable subscriptions of other routers, as the rest of this router sees them (`OtherHomes`).

Law: what other routers state is stored before it is confirmed (R19b): by the owner of the log, once there is one, else
in memory alone, under log 0. Each wait is answered once. What a router has said of its log counts until it says
something else (C10), in reach or not.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Protocol

from tamis.protocol.wire.custody_bodies import NO_LOG, CustodyBody, LogLife
from tamis.protocol.wire.home_bodies import DurablesStatement, StatedDurable
from tamis.router.connections.wider_network import StatementStore
from tamis.router.core.commands import DurablesKnown, DurablesStoredAt, StoreDurables
from tamis.router.core.events import AwaitDurables, DurablesRecalled, DurablesStated, DurablesStored, Event
from tamis.router.core.times import S


class HeldDurables(Protocol):
    """What the core holds of durable subscriptions."""

    me: int
    refused: set[int]

    @property
    def issuers(self) -> Collection[int]: ...

    def log_of(self, router: int) -> int: ...

    def statement(self, issuer: int) -> DurablesStatement: ...

    def at(self, name: str) -> Sequence[tuple[str, StatedDurable]]: ...

    def everywhere(self, name: str) -> Sequence[tuple[str, StatedDurable]]: ...

    def behind(self, name: str, most: int) -> list[str]: ...

    def listed(self, first: int) -> Iterator[tuple[int, str]]: ...


class FrameRelay(Protocol):
    """What carries frames of custody."""

    take: Callable[[CustodyBody], None] | None

    def send(self, body: CustodyBody) -> None: ...


class NetworkHomes:
    """`handle` passes an event to the core; `name_of` returns the id of a router; `relay` carries frames of custody."""

    def __init__(
        self,
        known: HeldDurables,
        handle: Callable[[Event], None],
        name_of: Callable[[int], str],
        relay: FrameRelay,
    ) -> None:
        self._known, self._handle, self._name_of, self._relay = known, handle, name_of, relay
        self._store: StatementStore | None = None
        self._ask: Callable[[bool], bool] = lambda is_needed: False  # noqa: ARG005
        self.is_recalled = False
        """Whether the log of this router is that of an earlier run."""
        self._tickets = itertools.count(1)
        self._awaited: dict[int, Callable[[list[str], list[str]], None]] = {}
        self._storing: dict[int, LogLife] = {}
        self._when_stored: Callable[[int, LogLife], None] = lambda router, written: None  # noqa: ARG005

    # --- for the owner of durable subscriptions

    def store_in(self, store: StatementStore) -> None:
        """Use `store` from now on; what is known already is written to it first."""
        self._store = store
        for issuer in [*self._known.issuers]:
            if issuer != self._known.me and issuer not in self._known.refused:
                body = self._known.statement(issuer)
                about = issuer, body.name, body.log, body.epoch, body.seq
                self.store(StoreDurables(*about, dict(body.added), ()))

    def recall(self, written: LogLife, statements: tuple[DurablesStatement, ...]) -> None:
        self.is_recalled = True
        self._handle(DurablesRecalled(written, statements))

    def state(self, log: int, added: Mapping[int, bytes], removed: tuple[int, ...] = ()) -> None:
        self._handle(DurablesStated(log, added, removed))

    def when_known(self, wait_s: float, answer: Callable[[list[str], list[str]], None]) -> None:
        ticket = next(self._tickets)
        self._awaited[ticket] = answer
        self._handle(AwaitDurables(ticket, round(wait_s * S)))

    def when_stored(self, tell: Callable[[int, LogLife], None]) -> None:
        self._when_stored = tell
        for router, written in self._storing.items():
            tell(router, written)

    def when_asked(self, ask: Callable[[bool], bool]) -> None:
        self._ask = ask

    def send(self, body: CustodyBody) -> None:
        self._relay.send(body)

    def take_frames(self, take: Callable[[CustodyBody], None]) -> None:
        self._relay.take = take

    # --- questions

    def log_of(self, router: int) -> int:
        return self._known.log_of(router)

    def has_no_log(self, router: int) -> bool:
        return router in self._known.issuers and self._known.log_of(router) == 0

    def at(self, name: str) -> list[tuple[str, StatedDurable]]:
        return list(self._known.at(name))

    def everywhere(self, name: str) -> list[tuple[str, StatedDurable]]:
        return list(self._known.everywhere(name))

    def behind(self, name: str, most: int) -> list[str]:
        return self._known.behind(name, most)

    def listed(self, first: int) -> Iterator[tuple[int, str, StatedDurable]]:
        for number, name in self._known.listed(first):
            for home, stated in self._known.at(name):
                yield number, home, stated

    # --- commands of the core

    def store(self, command: StoreDurables) -> None:
        if self._store is None:
            if not self._ask(bool(command.added)):  # else it is stored once the log is there, and confirmed then
                self._handle(DurablesStored(command.issuer, command.epoch, command.seq, NO_LOG))
            return

        def on_disk(written: LogLife) -> None:
            self._handle(DurablesStored(command.issuer, command.epoch, command.seq, written))

        about = command.name, command.log, command.epoch, command.seq
        self._store(*about, command.added, command.removed, on_disk)

    def stored_at(self, command: DurablesStoredAt) -> None:
        for holder in command.holders:
            written = LogLife(holder.log, holder.life, holder.before)
            if holder.router in self._known.issuers:  # others have no log, and no bound on how many they are
                self._storing[holder.router] = written
                self._when_stored(holder.router, written)

    def known(self, command: DurablesKnown) -> None:
        holding = sorted(self._name_of(holder.router) for holder in command.holding)
        self._awaited.pop(command.ticket)(holding, sorted(map(self._name_of, command.missing)))

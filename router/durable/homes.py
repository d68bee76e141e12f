"""R19: what this router states of its durable subscriptions, and what it stores of those of others.

Law: a durable subscription is stated once its record is on disk, and until it is forgotten. Its filters are also part
of this router's predicate (`DurableRegistry._interest`), for messages that enter at routers which store nothing.
Of one with several homes, a home without a copy makes it from what another one states, by its own quotas.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final, Protocol

from tamis.native.log import LogBusy, LogFailed
from tamis.native.results import OutOfMemory
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.limits import DURABLE_WAIT_ROUTERS_MAX
from tamis.protocol.wire.client_bodies import KnownAt
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.custody_bodies import LogLife
from tamis.protocol.wire.durable_bodies import CreateDurable, Overflow, StartAt
from tamis.protocol.wire.home_bodies import (
    REFUSES,
    TAKES_DIRECTED,
    TAKES_READS,
    TAKES_REMOTE,
    StatedCopy,
    StatedDurable,
    packed_durable,
    read_durable,
)
from tamis.router.connections.wider_network import OtherHomes
from tamis.router.daemon.durable_events import DurableChanged
from tamis.router.durable.chains import DurableChains
from tamis.router.durable.copies import are_copies, homes_of, serving
from tamis.router.durable.elsewhere import ANSWERED_MS
from tamis.router.durable.home_records import HomeRecords
from tamis.router.durable.hosted import HostedDurable
from tamis.router.durable.refusals import RequestRefused
from tamis.router.durable.registry import DurableRegistry

WAIT_S: Final = ANSWERED_MS / 1_000
"""How long the answer to CREATE_DURABLE waits for routers that have not stored the subscription."""


class AlarmSink(Protocol):
    def alarm(self, text: str) -> None: ...


class DurableHomes:
    """`routers`: the other routers of the topology file, of which `reaches` returns whether one is in reach;
    `make_chains` makes the chains of a life of the log."""

    def __init__(
        self,
        registry: DurableRegistry,
        homes: OtherHomes,
        routers: Sequence[str],
        health: AlarmSink,
        reaches: Callable[[str], bool],
        make_chains: Callable[[LogLife], DurableChains],
    ) -> None:
        self._registry, self._homes, self._routers, self._health = registry, homes, routers, health
        settings = registry.connections.settings
        self._me, self._domain = settings.id, settings.domain
        self._reaches, self._make_chains = reaches, make_chains
        state = registry.log.state()
        self._written = LogLife(state["log_id"], state["life"], state["life_before"])
        self.chains: DurableChains | None = None
        """None until `start`."""
        self._has_started = False
        self._awaited: list[tuple[CreateDurable, float, Callable[[tuple[str, ...]], None]]] = []
        """New durable subscriptions with several homes, until when to wait for their copies, and whom to tell."""

    def start(self) -> None:
        """Recall what the log has of others, state what this router has, if it is only a log, and go on with each
        change."""
        found, homes, registry = self._registry.homes_found, self._homes, self._registry
        connections = registry.connections
        chains = self.chains = self._make_chains(self._written)
        known = tuple([each for each in found.statements() if each.name in self._routers])
        for each in known:
            self._want(each.name, each.log, dict(each.added), ())
        records = HomeRecords(registry, found, self._written, connections.work.add, self._want)
        homes.store_in(records.store)  # what it recalls is stored already
        chains.start()
        connections.chains = chains
        if self._written.before:
            homes.recall(self._written, known)
        own = {held.number: self._packed(held) for held in registry.by_number.values()}
        homes.state(self._written.log, {number: packed for number, packed in own.items() if packed})
        registry.connections.events.listen(DurableChanged, self._changed)
        self._has_started = True
        for each in known:
            self._copy(each.name, dict(each.added))

    def best_effort(self) -> list[str]:
        """Return the other routers of the topology file that do not store what the durable subscriptions here want."""
        chains = self.chains
        return [router for router in self._routers if chains is None or not chains.comes_from(router)]

    def has_all_chains(self) -> bool:
        """Return whether each other router of the topology file stores what the durable subscriptions here want."""
        return not self.best_effort()

    def when_known(self, answer: Callable[[KnownAt], None]) -> None:
        """Call `answer` with the routers that know what this router has now, and those that do not: others in reach,
        once WAIT_S are over, and those of the topology file that are out of reach."""

        def known(holding: list[str], missing: list[str]) -> None:
            unknown = sorted({*missing, *(each for each in self._routers if each not in holding)})
            most = DURABLE_WAIT_ROUTERS_MAX
            some = tuple(holding[:most]), tuple(unknown[:most])
            is_directed = bool(holding) and not set(holding).intersection(self.best_effort())
            answer(KnownAt(*some, len(holding), len(unknown), is_directed))

        self._homes.when_known(WAIT_S, known)

    def check(self, owner: str, create: CreateDurable) -> RequestRefused | None:
        """Return the refusal of a new durable subscription whose homes are none of this router, or whose name another
        router of the topology file has; None if it may be made."""
        me, name = self._me, create.name
        if create.homes and me not in create.homes:
            where = f"{_routers(create.homes)}: connect to one of them"
            return RequestRefused(RefusalCode.NOT_ALLOWED, f"router {me} is no home of {name!r}, as are {where}")
        if strange := [home for home in create.homes if home not in (me, *self._domain)]:
            reason = f"copies stay in the domain of router {me}, which has no {_routers(strange)}"
            return RequestRefused(RefusalCode.NOT_ALLOWED, reason)
        policy = create.policy
        if create.homes and (create.start is not StartAt.NEW or policy.overflow is Overflow.REFUSE):
            reason = f"{name!r} has several homes, so it starts with new messages and drops the oldest past its bounds"
            return RequestRefused(RefusalCode.NOT_ALLOWED, reason)
        found = [each for each in self._homes.at(name) if each[0] in self._routers]
        homes = [home for home, _ in found]
        mine = StatedDurable(name, owner, policy.filters, 0, 0, 0, (StatedCopy(create.homes, 0, policy, ()),))
        if not homes or are_copies([(me, mine), *found]):
            return None
        return RequestRefused(
            RefusalCode.DURABLE_ELSEWHERE,
            f"{_routers(homes)} {'has' if len(homes) == 1 else 'have'} a durable subscription {name!r}: consume it, "
            "remove it, or choose another name",
        )

    def _want(self, name: str, log: int, added: Mapping[int, bytes], removed: Iterable[int]) -> None:
        """Store from now on what durable subscriptions of another router want; RequestRefused if that has no room: the
        statement is then not confirmed (C12)."""
        assert self.chains is not None  # noqa: S101 - made by `start`
        try:
            self.chains.state(name, log, added, removed)
        except (FrameError, Refused, OutOfMemory, LogBusy, LogFailed) as error:
            self._health.alarm(f"messages for durable subscriptions of router {name} are not stored: {error}")
            raise RequestRefused(RefusalCode.OUT_OF_MEMORY, str(error)) from error
        if self._has_started:
            self._copy(name, added)
            self._look_at_awaited()

    # --- copies

    def when_copied(self, create: CreateDurable, answer: Callable[[tuple[str, ...]], None]) -> None:
        """Call `answer` with the other homes of a durable subscription that have not stated their copies: none of them,
        or those once WAIT_S are over."""
        self._awaited.append((create, time.monotonic() + WAIT_S, answer))
        self._look_at_awaited()

    def each_second(self) -> None:
        self._look_at_awaited()

    def served_elsewhere(self) -> Iterator[tuple[HostedDurable, str]]:
        """Yield the copies of this router that another router serves, with that router."""
        for held in [each for each in self._registry.by_number.values() if each.copy is not None]:
            found = self._homes.everywhere(held.name)
            first = serving(found, lambda at: at == self._me or self._reaches(at)) if are_copies(found) else None
            if first is not None and first[0] != self._me:
                yield held, first[0]

    def _look_at_awaited(self) -> None:
        awaited, self._awaited = self._awaited, []
        for create, end_s, answer in awaited:
            having = {self._me, *(home for home, _ in self._homes.at(create.name))}
            lacking = tuple([home for home in create.homes if home not in having])
            if lacking and time.monotonic() < end_s:
                self._awaited.append((create, end_s, answer))
            else:
                answer(lacking)

    def _copy(self, router: str, added: Mapping[int, bytes]) -> None:
        """Make this router's copy of each durable subscription that another home of it has and this one lacks. A router
        behind a border proves the name of no owner here."""
        for packed in added.values() if router in self._domain else ():
            with suppress(FrameError, Refused):  # what a later release states, or no client can ask for, is not used
                stated = read_durable(packed)
                if {self._me, router} <= {*homes_of(stated)} and stated.name not in self._registry.by_name:
                    self._make_copy(router, stated)

    def _make_copy(self, router: str, stated: StatedDurable) -> None:
        homes, _, policy, roles = stated.copy[0]

        def made(error: RequestRefused | None) -> None:
            if error is not None:
                what = f"the copy of durable subscription {stated.name}, which router {router} has"
                self._health.alarm(f"{what}, is not made here: {error.reason}")

        create = CreateDurable(0, stated.name, policy, homes=homes)
        self._registry.make(stated.owner, create, made, frozenset(roles))

    # --- steps

    def _changed(self, changed: DurableChanged) -> None:
        if changed.what == "forgotten":
            self._homes.state(self._written.log, {}, (changed.number,))
        elif changed.what == "made":
            held = self._registry.by_number[changed.number]
            self._registry.when_on_disk(held.n, lambda error: self.restate(held) if error is None else None)

    def restate(self, held: HostedDurable) -> None:
        """State a durable subscription as it is now, if it is still there."""
        packed = self._packed(held)
        if packed and self._registry.by_number.get(held.number) is held:
            self._homes.state(self._written.log, {held.number: packed})

    def _packed(self, held: HostedDurable) -> bytes:
        name, policy = held.name, held.policy
        copy: tuple[StatedCopy, ...] = ()
        if held.copy is not None:
            copy = (StatedCopy(*held.copy, policy, tuple(sorted(self._registry.roles_of(held)))),)
        takes = TAKES_DIRECTED | TAKES_REMOTE | TAKES_READS
        flags = takes | (REFUSES if policy.overflow is Overflow.REFUSE else 0)
        try:
            more = flags, policy.for_ms, policy.idle_ms, copy
            return packed_durable(StatedDurable(name, held.owner, policy.filters, *more))
        except Refused as error:
            self._health.alarm(f"durable subscription {name} is not stated to other routers: {error}")
            return b""


def _routers(homes: Sequence[str]) -> str:
    return f"router{'' if len(homes) == 1 else 's'} {' and '.join(homes)}"

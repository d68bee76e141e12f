"""The durable subscriptions of a router: made, consumed and removed, in the log and in the switch.

    clients ── CREATE_DURABLE, CONSUME, CANCEL_CONSUME, REMOVE_DURABLE ──> registry ──> catalog (records) ──> log
                                                  │   └──> C: subscriptions, filters, consumers ──> work per message
              <── answers, once they are on disk ─┘<────── on disk up to n

Law: a durable subscription exists for other clients, and its maker gets the answer, once its record is on disk. All
work per message is done in C and never reaches this file.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import suppress
from typing import Final, Literal, Protocol

from tamis.configs.sections.durable import DurableSettings
from tamis.native.durable_figures import CommitTimes, DurableFigures, DurablesFigures
from tamis.native.durables import StoredSwitch, SwitchDurables, catalog_records
from tamis.native.log import Log, LogFull
from tamis.native.results import Gone, OutOfMemory
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.durable_bodies import Consume, CreateDurable, DurablePolicy, StartAt
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.router.clients.interest import LocalInterest
from tamis.router.connections.wider_network import ChainWork
from tamis.router.connections.work import SlicedWork
from tamis.router.daemon.durable_events import DurableChanged, DurableConsumed
from tamis.router.daemon.events import EventBus
from tamis.router.daemon.memory import MemorySettings, table_bytes_per_client
from tamis.router.durable.announced import AnnouncedFilters
from tamis.router.durable.catalog import (
    DURABLE_BEGUN,
    DURABLE_CREATED,
    CatalogFound,
    DurableCreated,
    catalog_entry,
    read_catalog,
)
from tamis.router.durable.catalog_writer import Answer, CatalogWriter
from tamis.router.durable.consumers import Consumer, Consumers
from tamis.router.durable.dead_letters import DeadLetters
from tamis.router.durable.home_records import FoundHomes
from tamis.router.durable.hosted import HostedDurable, SharedPolicy
from tamis.router.durable.life import DurableChange, DurableState
from tamis.router.durable.log_bounds import ring_bytes
from tamis.router.durable.owners import OwnedDurables, Owners, filter_bytes
from tamis.router.durable.quotas import DurableQuotas
from tamis.router.durable.refusals import LOG_HAS_FAILED, RequestRefused, no_such_durable
from tamis.router.durable.rights import Rights, check_names

FILTERS_PER_SLICE: Final = 64
INDEX_OF_RING: Final = 16
"""Memory for the index of stored messages, consumers and disk reads, as a multiple of `memory_bytes`."""


class RegistrySettings(MemorySettings, Protocol):
    """The settings of a router that durable subscriptions use."""

    @property
    def id(self) -> str: ...

    @property
    def durable(self) -> DurableSettings | None: ...

    @property
    def domain(self) -> Collection[str]: ...


class Switchboard(Protocol):
    """The part of Connections that durable subscriptions use."""

    work: SlicedWork
    events: EventBus
    is_draining: bool
    on_committed: Callable[[int, bool], None] | None
    durable_name: Callable[[int], str | None]
    chains: ChainWork | None

    @property
    def switch(self) -> StoredSwitch: ...

    @property
    def settings(self) -> RegistrySettings: ...


class Guards(Protocol):
    """The guards of durable subscriptions and consumers."""

    def begin(self, number: int, subscriber: int, made: DurableCreated) -> None:
        """Let durable subscription `number`, `subscriber` in the switch, store only what its owner may have. Raise
        OutOfMemory, or Refused beyond a limit."""

    def give(self, number: int, name: str, owner: str, filters: int) -> None:
        """Let a durable subscription store what another owner may have. Raise OutOfMemory, or Refused beyond a limit;
        then nothing has changed."""

    def roles_of(self, number: int) -> frozenset[str]:
        """Return the roles that the owner had, if the rules did not list it."""

    def end(self, number: int) -> None:
        """Release the guard of a durable subscription that the switch has forgotten."""

    def consumer_gone(self, consumer: Consumer) -> None:
        """Release the guard of a consumer."""


class DurableRegistry:
    """The durable subscriptions of one router. The caller owns `log` and closes it after the switch."""

    def __init__(
        self, connections: Switchboard, log: Log, interest: LocalInterest, rights: Rights, guards: Guards
    ) -> None:
        settings = connections.settings
        assert settings.durable is not None  # noqa: S101 - built only with `durable` settings
        self.connections, self.log = connections, log
        self.durables = SwitchDurables(
            connections.switch,
            log,
            ring_bytes=ring_bytes(settings.durable),
            memory_bytes_max=settings.durable.memory_bytes * INDEX_OF_RING,
        )
        self.by_number: dict[int, HostedDurable] = {}
        self.by_name: dict[str, HostedDurable] = {}
        self.cut: Callable[[HostedDurable, Consumer], None] = lambda _durable, _consumer: None
        """Called with each consumer of a durable subscription that is removed."""
        self.begin: Callable[[HostedDurable, CreateDurable], None]
        """Starts to copy messages from the log to a new subscription; ends with `filled` or `give_up`. It is set before
        any client is served."""
        self.new_owner: Callable[[str], None] = lambda _owner: None
        """Called with each owner to whom a new subscription is charged."""
        self._filling: dict[int, list[Answer]] = {}
        """Subscriptions that still copy messages from the log, by number: callbacks that wait for the end of it."""
        self.announced = AnnouncedFilters(interest, self.by_number, connections.work)
        self._rights, self._guards = rights, guards
        self.owners = Owners()
        self._policy = SharedPolicy()
        self._consumers = Consumers()
        self._dead_letters = DeadLetters(self.durables, self.by_name)
        try:
            records = list(catalog_records(log))
            found, self.homes_found = read_catalog(records), FoundHomes(records)
            self.missed = found.missed
            self._recover(found)
        except BaseException:
            self.durables.close()
            raise
        log.release()
        self._writer = CatalogWriter(self.durables, found.taken, found.taken_in)
        connections.on_committed = self._writer.committed
        connections.durable_name = self._name_of

    # --- the start -------------------------------------------------------------------------------------------------

    def _recover(self, found: CatalogFound) -> None:
        now_ms = _steady_ms()
        for durable in found.begun:
            self.durables.open(durable.number, durable.made.policy, has_filters=False)
            with suppress(LogFull):  # the disk is full: the next start tries again
                self.durables.remove(durable.number, FILTERS_PER_SLICE)
        for n in (*(durable.n for durable in found.begun), *found.overtaken):
            with suppress(LogFull):
                self.durables.retire(n)
        for durable in found.durables:
            subscriber = self.durables.open(
                *(durable.number, durable.made.policy),
                recovered_from=durable.since,
                copies=durable.made.copies,
            )
            self._guards.begin(durable.number, subscriber, durable.made)
            self.durables.own(durable.number, self.owners.of(durable.made.owner).number)
            rest = self._policy.share(durable.made.policy)
            state = DurableState.IDLE, now_ms, durable.made_ms
            held = HostedDurable(durable.number, durable.n, durable.made, rest, *state)
            held.first_n = durable.since
            self._hold(held, durable.made.policy)
            if self.connections.events.is_heard(DurableChanged):
                self._tell("found", held, unknowns=self.figures(held).unknowns)
        self._dead_letters.found()

    # --- durable subscriptions -------------------------------------------------------------------------------------

    def make(self, owner: str, durable: CreateDurable, answer: Answer, roles: frozenset[str] = frozenset()) -> None:
        """Make a durable subscription of `owner`, or find it with an equal policy. Call `answer` when it is on disk, or
        with the error. `roles`: those of an owner that the rules do not list."""
        found = self.by_name.get(durable.name)
        try:
            self._rights.may_make(owner, durable, found)
            if found is None:
                found = self._made(owner, durable, roles)
            else:
                differing = found.policy.differing(durable.policy) + ("homes",) * (found.homes != durable.homes)
                if differing:
                    raise RequestRefused(
                        RefusalCode.DURABLE_DIFFERS, f"the existing one differs in {', '.join(differing)}"
                    )
        except RequestRefused as error:
            answer(error)
        else:
            self._when_there(found, answer)

    def _when_there(self, held: HostedDurable, answer: Answer) -> None:
        if held.number in self._filling:
            self._filling[held.number].append(answer)
        else:
            self._writer.when_on_disk(held.n, answer)

    def _made(self, owner: str, durable: CreateDurable, roles: frozenset[str]) -> HostedDurable:
        made = DurableCreated(durable.name, owner, durable.policy, roles, durable.homes)
        self._check(owner, durable)
        number = self._writer.next_number()
        is_new = durable.start is StartAt.NEW
        try:
            subscriber = self.durables.open(number, durable.policy, has_filters=is_new, copies=made.copies)
        except (Refused, FrameError):
            raise RequestRefused(RefusalCode.BAD_FILTER, what_is_wrong(durable.policy)) from None
        except OutOfMemory:
            raise RequestRefused(
                RefusalCode.OUT_OF_MEMORY, "the router has no memory left for durable subscriptions"
            ) from None
        try:
            self._guard(number, subscriber, made)
            self._own(number, owner)
            entry = catalog_entry(number, owner, durable, roles=roles)
            n = self._writer.append(DURABLE_CREATED if is_new else DURABLE_BEGUN, entry)
        except RequestRefused:
            self.connections.work.add(self._let_go(number))
            raise
        rest = self._policy.share(durable.policy)
        held = HostedDurable(number, n, made, rest, DurableState.MAKING, _steady_ms(), time.time_ns() // 1_000_000)
        self._hold(held, durable.policy)
        for name in {durable.name, durable.policy.dead_letter}:
            self._dead_letters.join(name)
        if is_new:
            self._is_made(held)
            return held
        self._filling[number] = []
        self.begin(held, durable)
        return held

    def _own(self, number: int, owner: str) -> None:
        try:
            self.durables.own(number, self.owners.of(owner).number)
            self.new_owner(owner)
        except OutOfMemory:
            raise RequestRefused(
                RefusalCode.OUT_OF_MEMORY, "the router has no memory left for durable subscriptions"
            ) from None

    def _guard(self, number: int, subscriber: int, made: DurableCreated) -> None:
        try:
            self._guards.begin(number, subscriber, made)
        except (OutOfMemory, Refused):
            raise RequestRefused(
                RefusalCode.OUT_OF_MEMORY, "the rules of access cannot be enforced for another durable subscription"
            ) from None

    def _is_made(self, held: HostedDurable) -> None:
        """Announce a subscription whose DURABLE_CREATED record is appended and whose filters are in the switch."""
        self._writer.when_on_disk(held.n, lambda error: self._is_there(held) if error is None else None)
        self._tell("made", held)
        self.announced.made(held)

    def filled(self, held: HostedDurable, durable: CreateDurable) -> None:
        """Complete `held`, whose copy from the log has reached the present. Raise RequestRefused if memory or the log
        does not allow it."""
        try:
            self.durables.filter(held.number, held.filters, durable.policy.residual)
        except OutOfMemory:
            raise RequestRefused(
                RefusalCode.OUT_OF_MEMORY, "the router has no memory left for durable subscriptions"
            ) from None
        begun = held.n
        entry = catalog_entry(held.number, held.owner, durable, begun, self._guards.roles_of(held.number))
        held.n = self._writer.append(DURABLE_CREATED, entry)
        self.durables.retire(begun)
        self._is_made(held)
        for answer in self._filling.pop(held.number):
            self._writer.when_on_disk(held.n, answer)

    def give_up(self, held: HostedDurable, error: RequestRefused) -> bool:
        """End a subscription whose copy from the log has failed. Return False if the log rejects that for now: the
        caller tries again."""
        answers, self._filling[held.number] = self._filling[held.number], []
        for answer in answers:
            answer(error)
        try:
            self._forget(held)
        except RequestRefused:
            return self.has_failed
        return True

    def _check(self, owner: str, durable: CreateDurable) -> None:
        """Raise RequestRefused if this router does not make `durable` for `owner`."""
        settings = self.connections.settings
        assert settings.durable is not None  # noqa: S101 - `__init__` checks it
        quotas, own = quotas_of(settings), self.owners.of(owner)
        if self.connections.is_draining:
            raise RequestRefused(RefusalCode.DRAINING, "the router is draining")
        if self.has_failed:
            raise RequestRefused(RefusalCode.LOG_FAILED, LOG_HAS_FAILED)
        check_names(durable, self.by_name.__contains__)
        if ring := self._dead_letters.ring(durable.name, durable.policy.dead_letter):
            raise RequestRefused(RefusalCode.NOT_ALLOWED, f"dead letters would circulate endlessly: {ring}")
        if exceeded := quotas.exceeded(len(self.by_number), own.count, own.bytes, durable):
            raise RequestRefused(RefusalCode.OVER_QUOTA, exceeded)
        if own.filters + len(durable.policy.filters) > settings.limits.filters_per_client:
            raise RequestRefused(
                RefusalCode.OVER_QUOTA,
                f"durable subscriptions of a client may have at most {settings.limits.filters_per_client:,} filters",
            )
        most = table_bytes_per_client(settings)
        if own.filter_bytes + filter_bytes(durable.policy) > most:
            raise RequestRefused(
                RefusalCode.OVER_QUOTA,
                f"filters of a client's durable subscriptions may have at most {most:,} bytes",
            )

    def _is_there(self, held: HostedDurable) -> None:
        if self.by_number.get(held.number) is held:
            held.change(DurableChange.COMMITTED, _steady_ms())

    def remove(self, owner: str, name: str, answer: Answer) -> None:
        """End a durable subscription of `owner`. Call `answer` when that is on disk, or with the error."""
        held = self.by_name.get(name)
        if held is None:
            answer(no_such_durable(name))
            return
        try:
            self._rights.may_forget(owner, held)
            self._forget(held)
        except RequestRefused as error:
            answer(error)
        else:
            self._writer.when_on_disk(0, answer)

    def give(self, held: HostedDurable, owner: str, answer: Answer) -> None:
        """Let a durable subscription belong to another owner. Call `answer` when that is on disk. Raise RequestRefused,
        with nothing changed."""
        if held.state is DurableState.MAKING:
            raise RequestRefused(RefusalCode.OVERLOADED, f"{held.name!r} is not complete yet; try again in a moment")
        if held.homes:
            where = " and ".join(held.homes)
            raise RequestRefused(RefusalCode.NOT_ALLOWED, f"{held.name!r} has copies at {where}, of one owner")
        before, policy, own = held.owner, held.policy, self.owners.of(owner)
        asked = CreateDurable(0, held.name, policy)
        quotas, others = quotas_of(self.connections.settings), len(self.by_number) - 1
        if exceeded := quotas.exceeded(others, own.count, own.bytes, asked):
            raise RequestRefused(RefusalCode.OVER_QUOTA, exceeded)
        n = self.write(DURABLE_CREATED, catalog_entry(held.number, owner, asked, held.first_n))
        self.owners.add(owner, policy)
        try:
            self._own(held.number, owner)
            self._guards.give(held.number, held.name, owner, len(policy.filters))
        except (RequestRefused, OutOfMemory, Refused):
            self.durables.own(held.number, self.owners.of(before).number)
            self.owners.remove(owner, policy)
            self.durables.retire(n)
            raise RequestRefused(RefusalCode.OUT_OF_MEMORY, "the router has no memory left for that") from None
        self.owners.remove(before, policy)
        self.durables.retire(held.n)
        held.n, held.owner = n, owner
        self.durables.look_again()
        self.announced.restate()
        self._writer.when_on_disk(n, answer)

    def _forget(self, held: HostedDurable, cause: str = "asked") -> None:
        work = self._let_go(held.number)
        try:
            next(work)
        except StopIteration:
            work = _nothing()
        self._unhold(held)
        self.durables.retire(held.n)
        self._tell("forgotten", held, cause=cause)
        for answer in self._filling.pop(held.number, ()):
            answer(RequestRefused(RefusalCode.NO_SUCH_DURABLE, "it was removed before it was complete"))
        for consumer in self._consumers.of_durable(held.number):
            self._consumers.remove(consumer)
            self._guards.consumer_gone(consumer)
            self.cut(held, consumer)
        self.connections.work.add(work)
        self.announced.removed(held)

    def _let_go(self, number: int) -> Generator[None, None, None]:
        """Remove a subscription from the switch, in slices. Raise RequestRefused, with nothing changed, if the log
        rejects it."""
        while self._writer.written(lambda: self.durables.remove(number, FILTERS_PER_SLICE)):
            yield
        self._guards.end(number)

    def owned(self, owner: str) -> Iterator[HostedDurable]:
        """Yield the subscriptions that a client with principal `owner` may end."""
        return (held for held in self.by_number.values() if self._rights.owns(owner, held))

    def roles_of(self, held: HostedDurable) -> frozenset[str]:
        """Return the roles that the owner had, if the rules did not list it."""
        return self._guards.roles_of(held.number)

    def newest(self, held: HostedDurable, attributes: bytes) -> int | None:
        """Return the position of the newest message with the value of `latest_by` in `attributes`; None if there is
        none."""
        return self.durables.newest(held.number, attributes)

    def when_on_disk(self, n: int, answer: Answer) -> None:
        """Call `answer` when record `n` is on disk, or with an error if the log has failed."""
        self._writer.when_on_disk(n, answer)

    # --- consumers -------------------------------------------------------------------------------------------------

    def consume(self, client: str, owner: str, connection: int, consume: Consume) -> None:
        """Attach a connection of `client`, whose principal is `owner`. Raise RequestRefused if that is not allowed or
        not possible."""
        held = self.by_name.get(consume.name)
        if held is None or held.state is DurableState.MAKING:
            raise no_such_durable(consume.name)
        self._rights.may_consume(owner, consume, held)
        if consume.after and held.homes:
            reason = f"{held.name!r} has several homes, and each has positions of its own: consume without `after`"
            raise RequestRefused(RefusalCode.NOT_ALLOWED, reason)
        if exceeded := quotas_of(self.connections.settings).too_many(self._consumers.count(held.number)):
            raise RequestRefused(RefusalCode.OVER_QUOTA, exceeded)
        consumer = connection, consume.id
        if self._consumers.durable_of(consumer) is not None:
            raise RequestRefused(RefusalCode.ID_IN_USE, f"consumer {consume.id} exists already")
        try:
            is_consumed = self.durables.consume(
                *(held.number, connection, consume.id, consume.credit_frames),
                after=consume.after,
                latest=consume.latest,
            )
        except Gone:
            raise RequestRefused(RefusalCode.ID_IN_USE, f"id {consume.id} is used by a subscription") from None
        except OutOfMemory:
            raise RequestRefused(RefusalCode.OUT_OF_MEMORY, "the router has no memory left for consumers") from None
        if not is_consumed:
            raise RequestRefused(
                RefusalCode.OVER_QUOTA, "the durable subscription or the connection has reached its consumer limit"
            )
        if held.state is not DurableState.SERVED:
            held.change(DurableChange.FIRST_CONSUMED, _steady_ms())
        self._consumers.add(consumer, held.number, client)
        self._tell_consumer("attached", held, client, consumer)

    def cancel(self, connection: int, id_: int) -> bool:
        """End a consumer; return False if there is none with this id."""
        consumer = connection, id_
        if self._consumers.durable_of(consumer) is None:
            return False
        self.durables.cancel(connection, id_)
        self._left(consumer)
        return True

    def consumers_of(self, held: HostedDurable) -> list[Consumer]:
        return list(self._consumers.of_durable(held.number))

    def gone(self, connection: int) -> None:
        """Remove the consumers of a connection that has ended; C has removed its own already."""
        for consumer in self._consumers.of_connection(connection):
            self._left(consumer)

    def _left(self, consumer: Consumer) -> None:
        number = self._consumers.durable_of(consumer)
        client = self._consumers.remove(consumer)
        self._guards.consumer_gone(consumer)
        if number is not None:
            held = self.by_number[number]
            self._tell_consumer("detached", held, client, consumer)
            if self._consumers.count(number) == 0:
                held.change(DurableChange.LAST_CONSUMED, _steady_ms())

    # --- leases ----------------------------------------------------------------------------------------------------

    def end_leases(self) -> None:
        """Remove the subscriptions that had no consumer for the time in their policy; one with several homes may
        have its consumers at another."""
        now_ms = _steady_ms()
        for held in list(self.by_number.values()):
            ends_ms = held.lease_ends_ms(held.rest.idle_ms)
            if ends_ms is not None and ends_ms <= now_ms and not self.has_failed and not held.homes:
                with suppress(RequestRefused):  # the ring is full: tried again in a second
                    self._forget(held, "lease")

    # --- figures ---------------------------------------------------------------------------------------------------

    def write(self, kind: int, body: bytes) -> int:
        """Append a catalog record and return its number. Raise RequestRefused if the log rejects it."""
        return self._writer.append(kind, body)

    def retire(self, n: int) -> None:
        """Mark a catalog record as done; while the disk is full it stays until the next start."""
        with suppress(LogFull):
            self.durables.retire(n)

    @property
    def has_failed(self) -> bool:
        """Whether the log has failed and accepts no records."""
        return self._writer.has_failed

    def figures(self, held: HostedDurable) -> DurableFigures:
        return self.durables.figures(held.number)

    def all_figures(self) -> DurablesFigures:
        return self.durables.all_figures()

    def charge_of(self, owner: OwnedDurables) -> int:
        """Return the bytes of the log that the subscriptions of an owner hold."""
        return self.durables.charge(owner.number)

    def totals(self) -> DurableFigures:
        return self.durables.totals()

    def commits(self) -> CommitTimes:
        return self.durables.commits()

    def _name_of(self, number: int) -> str | None:
        held = self.by_number.get(number)
        return held.name if held is not None else None

    # --- events ----------------------------------------------------------------------------------------------------

    def _tell(
        self, what: Literal["made", "found", "forgotten"], held: HostedDurable, unknowns: int = 0, cause: str = ""
    ) -> None:
        made = held.made
        told = held.number, made.name, made.owner, made.policy, unknowns, cause
        self.connections.events.tell(DurableChanged, what, *told)

    def _tell_consumer(
        self, what: Literal["attached", "detached"], held: HostedDurable, client: str, consumer: Consumer
    ) -> None:
        self.connections.events.tell(DurableConsumed, what, held.number, held.name, client, *consumer)

    # --- steps -----------------------------------------------------------------------------------------------------

    def _hold(self, held: HostedDurable, policy: DurablePolicy) -> None:
        self.by_number[held.number] = self.by_name[held.name] = held
        self.owners.add(held.owner, policy)
        self._dead_letters.add(held)

    def _unhold(self, held: HostedDurable) -> None:
        del self.by_number[held.number], self.by_name[held.name]
        self.owners.remove(held.owner, held.policy)
        self._policy.release(held.rest)
        self._dead_letters.remove(held)


def quotas_of(settings: RegistrySettings) -> DurableQuotas:
    """Return the quotas of durable subscriptions in `settings`."""
    durable = settings.durable
    assert durable is not None  # noqa: S101 - called only with `durable` settings
    return DurableQuotas(
        durable.subscriptions,
        durable.subscriptions_per_client,
        durable.bytes_per_client,
        durable.consumers_per_subscription,
    )


def what_is_wrong(policy: DurablePolicy) -> str:
    """Return the error of the first filter of `policy` that cannot be decoded, as a sentence."""
    for packed in policy.filters:
        try:
            decode_filter(packed)
        except FrameError as error:
            return error.problem
    return "a filter exceeds a limit of this router"


def _steady_ms() -> int:
    return time.monotonic_ns() // 1_000_000


def _nothing() -> Generator[None, None, None]:
    yield from ()

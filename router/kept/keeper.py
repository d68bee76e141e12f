"""The durable subscriptions of a router: made, attached to and forgotten, in the log and in the switch.

    clients ── KEEP, ATTACH, DETACH, FORGET ──> keeper ──> catalog (records) ──> log
                                                  │   └──> C: subscriptions, filters, consumers ──> work per message
              <── answers, once they are on disk ─┘<────── on disk up to n

Law: a durable subscription exists for other clients, and its maker gets the answer, once its record is on disk. All
work per message is done in C and never reaches this file.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from typing import Final, Literal, Protocol

from tamis.configs.sections.kept import KeptSettings
from tamis.native.keep_figures import CommitTimes, KeepFigures, KeepsFigures
from tamis.native.keeps import KeptSwitch, SwitchKeeps, book_records
from tamis.native.log import Log, LogFull
from tamis.native.results import Gone, OutOfMemory
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.keep_bodies import Attach, Keep, KeepTerms, StartAt
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.router.clients.interest import LocalInterest
from tamis.router.connections.work import SlicedWork
from tamis.router.daemon.events import EventBus
from tamis.router.daemon.keep_events import KeepAttended, KeepChanged
from tamis.router.daemon.memory import MemorySettings, table_bytes_per_client
from tamis.router.kept.book import KEEP_BEGUN, KEEP_MADE, BookFound, KeepMade, read_book, written_keep
from tamis.router.kept.book_writer import Answer, BookWriter
from tamis.router.kept.dead_letters import DeadLetters
from tamis.router.kept.held import HeldKeep, SharedTerms
from tamis.router.kept.life import KeepChange, KeepState
from tamis.router.kept.log_bounds import ring_bytes
from tamis.router.kept.members import KeepMembers, Member
from tamis.router.kept.owners import OwnedKeeps, Owners, filter_bytes
from tamis.router.kept.quotas import KeepQuotas
from tamis.router.kept.refusals import LOG_HAS_FAILED, RequestRefused
from tamis.router.kept.rights import Rights, check_names

FILTERS_PER_SLICE: Final = 64
INDEX_OF_RING: Final = 16
"""Memory for the index of stored messages, consumers and disk reads, as a multiple of `memory_bytes`."""


class KeeperSettings(MemorySettings, Protocol):
    """The settings of a router that durable subscriptions use."""

    @property
    def id(self) -> str: ...

    @property
    def kept(self) -> KeptSettings | None: ...


class Switchboard(Protocol):
    """The part of Connections that durable subscriptions use."""

    work: SlicedWork
    events: EventBus
    is_draining: bool
    on_committed: Callable[[int, bool], None] | None
    keep_name: Callable[[int], str | None]

    @property
    def switch(self) -> KeptSwitch: ...

    @property
    def settings(self) -> KeeperSettings: ...


class KeepHost:
    """The durable subscriptions of one router. The caller owns `log` and closes it after the switch."""

    def __init__(self, connections: Switchboard, log: Log, interest: LocalInterest, rights: Rights) -> None:
        settings = connections.settings
        assert settings.kept is not None  # noqa: S101 - built only with `kept` settings
        self.connections, self.log = connections, log
        self.keeps = SwitchKeeps(
            connections.switch,
            log,
            ring_bytes=ring_bytes(settings.kept),
            memory_bytes_max=settings.kept.memory_bytes * INDEX_OF_RING,
        )
        self.by_number: dict[int, HeldKeep] = {}
        self.by_name: dict[str, HeldKeep] = {}
        self.cut: Callable[[HeldKeep, Member], None] = lambda _keep, _member: None
        """Called with each consumer of a durable subscription that is forgotten."""
        self.begin: Callable[[HeldKeep, Keep], None]
        """Starts to copy messages from the log to a new subscription; ends with `filled` or `give_up`. It is set before
        any client is served."""
        self._filling: dict[int, list[Answer]] = {}
        """Subscriptions that still copy messages from the log, by number: callbacks that wait for the end of it."""
        self.known: Callable[[], None] = lambda: None
        """Called once all reachable routers have the filters of the subscriptions that were found at the start."""
        self._interest, self._rights = interest, rights
        self._wished: deque[HeldKeep] = deque()  # made, and still to be announced to the network
        self.owners = Owners()
        self._terms = SharedTerms()
        self._members = KeepMembers()
        self._letters = DeadLetters(self.keeps, self.by_name)
        try:
            found = read_book(book_records(log))
            self.missed = found.missed
            self._recover(found)
        except BaseException:
            self.keeps.close()
            raise
        log.release()
        self._writer = BookWriter(self.keeps, found.taken, found.taken_in)
        connections.on_committed = self._writer.committed
        connections.keep_name = self._name_of

    # --- the start -------------------------------------------------------------------------------------------------

    def _recover(self, found: BookFound) -> None:
        now_ms = _steady_ms()
        for keep in found.begun:
            self.keeps.open(keep.number, keep.made.terms, has_filters=False)
            with suppress(LogFull):  # the disk is full: the next start tries again
                self.keeps.forget(keep.number, FILTERS_PER_SLICE)
        for n in (*(keep.n for keep in found.begun), *found.overtaken):
            with suppress(LogFull):
                self.keeps.retire(n)
        for keep in found.keeps:
            self.keeps.open(keep.number, keep.made.terms, recovered_from=keep.since)
            self.keeps.own(keep.number, self.owners.of(keep.made.owner).number)
            rest = self._terms.share(keep.made.terms)
            held = HeldKeep(keep.number, keep.n, keep.made, rest, KeepState.IDLE, now_ms)
            self._hold(held, keep.made.terms)
            if self.connections.events.is_heard(KeepChanged):
                self._tell("found", held, doubts=self.figures(held).doubts)
        self._letters.found()
        if found.keeps:
            filters = {held.number: held.filters for held in self.by_number.values()}
            self.connections.work.add(self._interest.add(lambda: filters, lambda: True, self._known))

    def _known(self) -> None:
        self.known()  # read late: it is set after the constructor

    # --- durable subscriptions -------------------------------------------------------------------------------------

    def make(self, owner: str, keep: Keep, answer: Answer) -> None:
        """Make a durable subscription of `owner`, or find it with an equal policy. Call `answer` when it is on disk, or
        with the error."""
        found = self.by_name.get(keep.name)
        try:
            self._rights.may_make(owner, keep, found)
            if found is None:
                found = self._made(owner, keep)
            else:
                differing = found.terms.differing(keep.terms)
                if differing:
                    raise RequestRefused(RefusalCode.KEEP_DIFFERS, f"it differs in {', '.join(differing)}")
        except RequestRefused as error:
            answer(error)
        else:
            self._when_there(found, answer)

    def _when_there(self, held: HeldKeep, answer: Answer) -> None:
        if held.number in self._filling:
            self._filling[held.number].append(answer)
        else:
            self._writer.when_on_disk(held.n, answer)

    def _made(self, owner: str, keep: Keep) -> HeldKeep:
        self._check(owner, keep)
        number = self._writer.next_number()
        is_new = keep.start is StartAt.NEW
        try:
            self.keeps.open(number, keep.terms, has_filters=is_new)
        except (Refused, FrameError):
            raise RequestRefused(RefusalCode.BAD_FILTER, what_is_wrong(keep.terms)) from None
        except OutOfMemory:
            raise RequestRefused(RefusalCode.OUT_OF_MEMORY, "the router has no memory left for keeps") from None
        try:
            self._own(number, owner)
            n = self._writer.append(KEEP_MADE if is_new else KEEP_BEGUN, written_keep(number, owner, keep))
        except RequestRefused:
            self.connections.work.add(self._let_go(number))
            raise
        made = KeepMade(keep.name, owner, keep.terms)
        rest = self._terms.share(keep.terms)
        held = HeldKeep(number, n, made, rest, KeepState.MAKING, _steady_ms())
        self._hold(held, keep.terms)
        for name in {keep.name, keep.terms.dead_letter}:
            self._letters.join(name)
        if is_new:
            self._is_made(held)
            return held
        self._filling[number] = []
        self.begin(held, keep)
        return held

    def _own(self, number: int, owner: str) -> None:
        try:
            self.keeps.own(number, self.owners.of(owner).number)
        except OutOfMemory:
            raise RequestRefused(RefusalCode.OUT_OF_MEMORY, "the router has no memory left for keeps") from None

    def _is_made(self, held: HeldKeep) -> None:
        """Announce a subscription whose KEEP_MADE record is appended and whose filters are in the switch."""
        self._writer.when_on_disk(held.n, lambda error: self._is_there(held) if error is None else None)
        self._tell("made", held)
        self._wished.append(held)
        if len(self._wished) == 1:
            self._wish()

    def _wish(self) -> None:
        self.connections.work.add(self._tell_network(), self._wish)

    def _tell_network(self) -> Generator[None, None, None]:
        """Announce the filters of new subscriptions, also of those made while this runs."""
        while self._wished:
            yield from self._interest_of(self._wished.popleft())

    def _interest_of(self, held: HeldKeep) -> Generator[None, None, None]:
        filters = {held.number: held.filters}
        return self._interest.add(lambda: filters, lambda: self.by_number.get(held.number) is held)

    def filled(self, held: HeldKeep, keep: Keep) -> None:
        """Complete `held`, whose copy from the log has reached the present. Raise RequestRefused if memory or the log
        does not allow it."""
        try:
            self.keeps.filter(held.number, held.filters)
        except OutOfMemory:
            raise RequestRefused(RefusalCode.OUT_OF_MEMORY, "the router has no memory left for keeps") from None
        begun = held.n
        held.n = self._writer.append(KEEP_MADE, written_keep(held.number, held.owner, keep, begun))
        self.keeps.retire(begun)
        self._is_made(held)
        for answer in self._filling.pop(held.number):
            self._writer.when_on_disk(held.n, answer)

    def give_up(self, held: HeldKeep, error: RequestRefused) -> bool:
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

    def _check(self, owner: str, keep: Keep) -> None:
        """Raise RequestRefused if this router does not make `keep` for `owner`."""
        settings = self.connections.settings
        assert settings.kept is not None  # noqa: S101 - `__init__` checks it
        quotas, own = quotas_of(settings), self.owners.of(owner)
        if self.connections.is_draining:
            raise RequestRefused(RefusalCode.DRAINING, "the router is draining")
        if keep.homes not in ((), (settings.id,)):
            raise RequestRefused(
                RefusalCode.NOT_ALLOWED, "a keep is kept by the router that is asked, and by no other yet"
            )
        if self.has_failed:
            raise RequestRefused(RefusalCode.LOG_FAILED, LOG_HAS_FAILED)
        check_names(keep, self.by_name.__contains__)
        if ring := self._letters.ring(keep.name, keep.terms.dead_letter):
            raise RequestRefused(RefusalCode.NOT_ALLOWED, f"dead letters would go round for ever: {ring}")
        if exceeded := quotas.exceeded(len(self.by_number), own.count, own.bytes, keep):
            raise RequestRefused(RefusalCode.OVER_QUOTA, exceeded)
        if own.filters + len(keep.terms.filters) > settings.limits.filters_per_client:
            raise RequestRefused(
                RefusalCode.OVER_QUOTA,
                f"the keeps of a client may have {settings.limits.filters_per_client:,} filters in all",
            )
        most = table_bytes_per_client(settings)
        if own.filter_bytes + filter_bytes(keep.terms) > most:
            raise RequestRefused(
                RefusalCode.OVER_QUOTA, f"the filters of a client's keeps may have {most:,} bytes in all"
            )

    def _is_there(self, held: HeldKeep) -> None:
        if self.by_number.get(held.number) is held:
            held.change(KeepChange.COMMITTED, _steady_ms())

    def forget(self, owner: str, name: str, answer: Answer) -> None:
        """End a durable subscription of `owner`. Call `answer` when that is on disk, or with the error."""
        held = self.by_name.get(name)
        if held is None:
            answer(RequestRefused(RefusalCode.NO_SUCH_KEEP, f"there is no keep {name!r}"))
            return
        try:
            self._rights.may_forget(owner, held)
            self._forget(held)
        except RequestRefused as error:
            answer(error)
        else:
            self._writer.when_on_disk(0, answer)

    def _forget(self, held: HeldKeep, cause: str = "asked") -> None:
        work = self._let_go(held.number)
        try:
            next(work)
        except StopIteration:
            work = _nothing()
        self._unhold(held)
        self.keeps.retire(held.n)
        self._tell("forgotten", held, cause=cause)
        for answer in self._filling.pop(held.number, ()):
            answer(RequestRefused(RefusalCode.NO_SUCH_KEEP, "it was forgotten before it was made"))
        for member in self._members.of_keep(held.number):
            self._members.remove(member)
            self.cut(held, member)
        self.connections.work.add(work)
        self.connections.work.add(self._interest.remove([held.number]))

    def _let_go(self, number: int) -> Generator[None, None, None]:
        """Remove a subscription from the switch, in slices. Raise RequestRefused, with nothing changed, if the log
        rejects it."""
        while self._writer.written(lambda: self.keeps.forget(number, FILTERS_PER_SLICE)):
            yield

    def owned(self, owner: str) -> Iterator[HeldKeep]:
        """Yield the subscriptions that a client with principal `owner` may end."""
        return (held for held in self.by_number.values() if self._rights.owns(owner, held))

    def newest(self, held: HeldKeep, attributes: bytes) -> int | None:
        """Return the position of the newest message with the value of `latest_by` in `attributes`; None if there is
        none."""
        return self.keeps.newest(held.number, attributes)

    def when_on_disk(self, n: int, answer: Answer) -> None:
        """Call `answer` when record `n` is on disk, or with an error if the log has failed."""
        self._writer.when_on_disk(n, answer)

    # --- consumers -------------------------------------------------------------------------------------------------

    def attach(self, client: str, owner: str, connection: int, attach: Attach) -> None:
        """Attach a connection of `client`, whose principal is `owner`. Raise RequestRefused if that is not allowed or
        not possible."""
        held = self.by_name.get(attach.name)
        if held is None or held.state is KeepState.MAKING:
            raise RequestRefused(RefusalCode.NO_SUCH_KEEP, f"there is no keep {attach.name!r}")
        self._rights.may_attach(owner, attach, held)
        if exceeded := quotas_of(self.connections.settings).too_many(self._members.count(held.number)):
            raise RequestRefused(RefusalCode.OVER_QUOTA, exceeded)
        member = connection, attach.id
        if self._members.keep_of(member) is not None:
            raise RequestRefused(RefusalCode.ID_IN_USE, f"attachment {attach.id} is there already")
        try:
            is_attached = self.keeps.attach(
                *(held.number, connection, attach.id, attach.credit_frames), after=attach.after, latest=attach.latest
            )
        except Gone:
            raise RequestRefused(RefusalCode.ID_IN_USE, f"id {attach.id} is that of a subscription") from None
        except OutOfMemory:
            raise RequestRefused(
                RefusalCode.OUT_OF_MEMORY, "the router has no memory left for members of keeps"
            ) from None
        if not is_attached:
            raise RequestRefused(
                RefusalCode.OVER_QUOTA, "the keep, or the connection, has as many attachments as it may"
            )
        if held.state is not KeepState.SERVED:
            held.change(KeepChange.FIRST_ATTACHED, _steady_ms())
        self._members.add(member, held.number, client)
        self._tell_member("attached", held, client, member)

    def detach(self, connection: int, id_: int) -> bool:
        """End a consumer; return False if there is none with this id."""
        member = connection, id_
        if self._members.keep_of(member) is None:
            return False
        self.keeps.detach(connection, id_)
        self._left(member)
        return True

    def gone(self, connection: int) -> None:
        """Remove the consumers of a connection that has ended; C has removed its own already."""
        for member in self._members.of_connection(connection):
            self._left(member)

    def _left(self, member: Member) -> None:
        number = self._members.keep_of(member)
        client = self._members.remove(member)
        if number is not None:
            held = self.by_number[number]
            self._tell_member("detached", held, client, member)
            if self._members.count(number) == 0:
                held.change(KeepChange.LAST_DETACHED, _steady_ms())

    # --- leases ----------------------------------------------------------------------------------------------------

    def end_leases(self) -> None:
        """Forget the subscriptions that had no consumer for the time in their policy."""
        now_ms = _steady_ms()
        for held in list(self.by_number.values()):
            ends_ms = held.lease_ends_ms(held.rest.idle_ms)
            if ends_ms is not None and ends_ms <= now_ms and not self.has_failed:
                with suppress(RequestRefused):  # the ring is full: tried again in a second
                    self._forget(held, "lease")

    # --- figures ---------------------------------------------------------------------------------------------------

    def write(self, kind: int, body: bytes) -> int:
        """Append a catalog record and return its number. Raise RequestRefused if the log rejects it."""
        return self._writer.append(kind, body)

    @property
    def has_failed(self) -> bool:
        """Whether the log has failed and accepts no records."""
        return self._writer.has_failed

    def figures(self, held: HeldKeep) -> KeepFigures:
        return self.keeps.figures(held.number)

    def all_figures(self) -> KeepsFigures:
        return self.keeps.all_figures()

    def charge_of(self, owner: OwnedKeeps) -> int:
        """Return the bytes of the log that the subscriptions of an owner hold."""
        return self.keeps.charge(owner.number)

    def totals(self) -> KeepFigures:
        return self.keeps.totals()

    def commits(self) -> CommitTimes:
        return self.keeps.commits()

    def _name_of(self, number: int) -> str | None:
        held = self.by_number.get(number)
        return held.name if held is not None else None

    # --- events ----------------------------------------------------------------------------------------------------

    def _tell(
        self, what: Literal["made", "found", "forgotten"], held: HeldKeep, doubts: int = 0, cause: str = ""
    ) -> None:
        made = held.made
        told = held.number, made.name, made.owner, made.terms, doubts, cause
        self.connections.events.tell(KeepChanged, what, *told)

    def _tell_member(self, what: Literal["attached", "detached"], held: HeldKeep, client: str, member: Member) -> None:
        self.connections.events.tell(KeepAttended, what, held.number, held.name, client, *member)

    # --- steps -----------------------------------------------------------------------------------------------------

    def _hold(self, held: HeldKeep, terms: KeepTerms) -> None:
        self.by_number[held.number] = self.by_name[held.name] = held
        self.owners.add(held.owner, terms)
        self._letters.add(held)

    def _unhold(self, held: HeldKeep) -> None:
        del self.by_number[held.number], self.by_name[held.name]
        self.owners.remove(held.owner, held.terms)
        self._terms.release(held.rest)
        self._letters.remove(held)


def quotas_of(settings: KeeperSettings) -> KeepQuotas:
    """Return the quotas of durable subscriptions in `settings`."""
    kept = settings.kept
    assert kept is not None  # noqa: S101 - called only with `kept` settings
    return KeepQuotas(kept.keeps, kept.keeps_per_client, kept.bytes_per_client, kept.members_per_keep)


def what_is_wrong(terms: KeepTerms) -> str:
    """Return the error of the first filter of `terms` that cannot be decoded, as a sentence."""
    for packed in terms.filters:
        try:
            decode_filter(packed)
        except FrameError as error:
            return error.problem
    return "a filter is past a limit of this router"


def _steady_ms() -> int:
    return time.monotonic_ns() // 1_000_000


def _nothing() -> Generator[None, None, None]:
    yield from ()

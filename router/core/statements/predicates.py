"""R2, R3: the part that receives the predicates of other routers.

Law: an advertisement that is fresher than all others of its issuer is forwarded first, and applied if its base is held;
else the missing part is requested. A neighbour that states something older than the held version is corrected, and an
issuer of which two different statements of equal freshness arrive is informed. A predicate that exceeds one body is
collected in slices before it is held (`collecting.py`), and no router sends it without a request: neighbours detect it
by digests, and a corrected router receives the version alone.
"""

from __future__ import annotations

from collections.abc import Callable

from tamis.protocol.limits import ASSEMBLY_STREAMS_MAX, COLLECTED_BYTES_MAX
from tamis.protocol.wire.numbers import predicate_digest
from tamis.protocol.wire.routing_bodies import Body, Entry, Held, ReceiverAdvertisement, UpdateReply
from tamis.router.core.commands import Alarm
from tamis.router.core.statements.collecting import IncomingPredicate
from tamis.router.core.statements.core_state import CoreState
from tamis.router.core.statements.exchange import PIECES_SINCE, fits_whole
from tamis.router.core.statements.flood import Flood
from tamis.router.core.statements.freshness import Verdict, Version
from tamis.router.core.statements.held import Confirmations
from tamis.router.core.statements.links import CoreLink
from tamis.router.core.statements.rib import AppliedChange, MissingBase
from tamis.router.core.statements.shared_numbers import shared
from tamis.router.core.statements.sizes import FILTERS_MAX, LONG_SHARE, cut, is_large, is_long, listed_size
from tamis.router.core.timers import Due


class Predicates:
    """`heard_of` is called with every issuer of which a statement was kept; `collected` (once it is set) with the
    neighbours that sent a large predicate, when the predicate is held."""

    def __init__(self, core_state: CoreState, flood: Flood, heard_of: Callable[[int], None]) -> None:
        self._core_state = core_state
        self.flood = flood
        self.confirmations: Confirmations[int, Held] = Confirmations(Held)
        self._heard_of = heard_of
        self.collected: Callable[[set[int]], None] = lambda _: None
        self._collections: dict[int, IncomingPredicate] = {}

    # --- received statements

    def hear(self, body: ReceiverAdvertisement, came_from: int) -> None:
        core_state, version = self._core_state, Version(body.epoch, body.seq)
        if not self._is_of_another(body.issuer, version, body.digest, came_from):
            return
        is_long_whole = body.full and is_long(body.added)
        if not is_long_whole and self.flood.is_fresh(body.issuer, version):
            if is_large(LONG_SHARE * listed_size(body.added)):
                core_state.pass_on(body, came_from)
            else:
                core_state.flood(body, came_from)
            if body.confirm:
                self.confirmations.asked(body.issuer, version)
        verdict = core_state.rib.judge(body.issuer, version, body.digest)
        if verdict is Verdict.NEWER:
            if is_long_whole and body.confirm:
                self.confirmations.asked(body.issuer, version)
            self._take(body, version, came_from)
        elif verdict is Verdict.OLDER:
            self._correct(body.issuer, body.epoch, came_from)
        elif verdict is Verdict.CONFLICT:
            self._tell_issuer(body.issuer, body)

    def hear_entry(self, entry: Entry, came_from: int) -> None:
        """Accept the entry of a reply about one issuer; forward it if it is new."""
        core_state, version = self._core_state, Version(entry.epoch, entry.seq)
        if not self._is_of_another(entry.issuer, version, entry.digest, came_from):
            return
        is_long_or_piece = entry.total > 0 or is_long(entry.filters)
        is_fresh = not is_long_or_piece and self.flood.is_fresh(entry.issuer, version)
        if is_fresh:
            core_state.flood(_as_advertisement(entry), came_from)
        verdict = core_state.rib.judge(entry.issuer, version, entry.digest)
        if verdict is Verdict.NEWER:
            if not is_fresh and not is_long_or_piece:  # a gap is closed
                self._announce()
            self._heard_of(entry.issuer)
            self._replace(entry, came_from)
        elif verdict is Verdict.OLDER:
            self._correct(entry.issuer, entry.epoch, came_from)
        elif verdict is Verdict.CONFLICT:
            said = entry._replace(filters=(), first=0) if entry.total else entry
            self._tell_issuer(entry.issuer, _as_reply(said, entry.issuer))

    def _announce(self) -> None:
        """Schedule digests to the neighbours: a neighbour that sent a request in the meantime has not received the
        change."""
        self._core_state.timers.set_earlier(
            (Due.DIGESTS, 0), self._core_state.now_us + self._core_state.times.base_wait_us
        )

    def _is_of_another(self, issuer: int, version: Version, digest: bytes, came_from: int) -> bool:
        """Return whether the epoch of a statement is valid and its issuer another router for which there is room. A
        statement about this router itself is handled here."""
        core_state = self._core_state
        if not core_state.believes(issuer, version.epoch, came_from):
            return False
        if issuer == core_state.me:
            self._hear_of_me(version, digest)
            return False
        return core_state.has_room_for(issuer)

    def _hear_of_me(self, version: Version, digest: bytes) -> None:
        core_state = self._core_state
        mine = core_state.rib.entries[core_state.me]
        if version > mine.version or (version == mine.version and digest != mine.digest):
            core_state.hear_of_me(version)

    # --- held predicates

    def _take(self, body: ReceiverAdvertisement, version: Version, came_from: int) -> None:
        self._heard_of(body.issuer)
        if body.full:
            self._replace(Entry(body.issuer, *version, body.digest, body.added), came_from)
            return
        is_short = not is_long(body.added) and len(body.removed) <= FILTERS_MAX
        try:
            if not is_short:  # version 1 sends such changes; the whole can be applied in slices, and this cannot
                raise MissingBase
            change = self._core_state.rib.apply(body)
        except MissingBase:
            if is_short:
                self._core_state.rib.put_off(body)
            self._core_state.timers.set_earlier(
                (Due.GAP, body.issuer), self._core_state.now_us + self._core_state.times.base_wait_us
            )
        else:
            self._accepted(body.issuer, change)

    def _replace(self, entry: Entry, came_from: int) -> None:
        """Accept a whole predicate: at once if it is short, else in slices."""
        held = self._core_state.rib.entries.get(entry.issuer)
        if entry.total or is_long(entry.filters) or (held is not None and held.is_large):
            self._collect(entry, came_from)
            return
        filters, version = shared(entry.filters), Version(entry.epoch, entry.seq)
        if len(filters) < len(entry.filters) or predicate_digest(filters.items()) != entry.digest:
            return  # the entry contradicts its digest
        self._accepted(
            entry.issuer, self._core_state.rib.replace(entry.issuer, version, entry.digest, filters, entry.rest)
        )

    def _accepted(self, issuer: int, *changes: AppliedChange) -> None:
        core_state = self._core_state
        for change in changes:
            self._install(issuer, change)
        self._take_pending(issuer)
        collection = self._collections.get(issuer)
        if collection is not None and collection.version <= core_state.rib.entries[issuer].version:
            self._drop(issuer)

    def _take_pending(self, issuer: int) -> None:
        """Apply pending changes whose base has arrived, at most one slice."""
        core_state, size = self._core_state, 0
        while not is_large(size) and (pending := core_state.rib.next_pending(issuer)) is not None:
            size += listed_size(pending.added)
            try:
                self._install(issuer, core_state.rib.apply(pending))
            except MissingBase:
                break
        if is_large(size):
            core_state.timers.set((Due.PENDING, issuer), core_state.now_us + 1)
        self._confirm(issuer)

    def go_on(self, issuer: int) -> None:
        """Continue with the pending changes."""
        if issuer in self._core_state.rib.entries:
            self._take_pending(issuer)

    def _confirm(self, issuer: int) -> None:
        core_state = self._core_state
        version = core_state.rib.entries[issuer].version
        if not self.is_behind(issuer):
            core_state.timers.cancel((Due.GAP, issuer))
        if self.confirmations.holds(issuer, version, core_state.me):
            core_state.timers.set_earlier((Due.HELD, 0), core_state.now_us + core_state.times.held_merge_us)

    def _install(self, issuer: int, change: AppliedChange) -> None:
        if change.added or change.removed:
            self._core_state.install(issuer, change.added, change.removed)

    def is_behind(self, issuer: int) -> bool:
        """Return whether a newer version is known than the one held."""
        newest, held = self.flood.newest(issuer), self._core_state.rib.version(issuer)
        return newest is not None and (held is None or held < newest)

    def give_up(self, issuer: int) -> None:
        """Forget versions of `issuer` that no router holds. The version held is the newest again, and all neighbours
        compare: one of them would have a newer version if any router did."""
        core_state = self._core_state
        self.forget(issuer)
        core_state.rib.drop_pending(issuer)
        version = core_state.rib.version(issuer)
        if version is not None:
            self.flood.is_fresh(issuer, version)
        self._announce()

    # --- large predicates

    @property
    def collecting(self) -> int:
        """The number of incomplete predicates."""
        return len(self._collections)

    def collects(self, issuer: int) -> bool:
        return issuer in self._collections

    def collects_from(self, neighbour: int) -> bool:
        return any(neighbour in collection.said_by for collection in self._collections.values())

    def _collect(self, entry: Entry, came_from: int) -> None:
        version = Version(entry.epoch, entry.seq)
        if entry.total and not entry.filters:
            self._ask_for_news(came_from)
            return
        collection = self._collections.get(entry.issuer)
        if collection is not None and collection.version < version:
            self._drop(entry.issuer)
            collection = None
        total = entry.total or len(entry.filters)
        if collection is None:
            if len(self._collections) >= ASSEMBLY_STREAMS_MAX:
                return
            collection = self._collections[entry.issuer] = IncomingPredicate(version, entry.digest, total, entry.rest)
        collection.said_by.add(came_from)  # a neighbour that states an older version waits for this one, too
        if (collection.version, collection.digest, collection.total) != (version, entry.digest, total):
            return
        if is_long(entry.filters):
            collection.waiting.append(cut(entry.filters))
        else:
            collection.take(entry.filters)
        self._plan(entry.issuer, collection)

    def _ask_for_news(self, neighbour: int) -> None:
        """Schedule a request to a neighbour that has named a version without stating it."""
        link = self._core_state.links.by_neighbour.get(neighbour)
        if link is not None and not link.asked:
            self._core_state.timers.set((Due.NEWS, neighbour), self._core_state.now_us)

    def _plan(self, issuer: int, collection: IncomingPredicate) -> None:
        """Schedule the next step for `collection`: its end, its next slice, or a wait for its next piece."""
        core_state = self._core_state
        problem = ""
        if collection.is_wrong:
            problem = "does not agree with its digest"
        elif sum(other.size for other in self._collections.values()) > COLLECTED_BYTES_MAX:
            problem = f"would exceed {COLLECTED_BYTES_MAX} bytes of incomplete predicates"
        if problem:
            self._drop(issuer)
            if core_state.may_correct(core_state.me, issuer):
                who = core_state.topology.name_of(issuer)
                core_state.out.append(Alarm(f"the predicate of {who} {problem} and is refused"))
        elif collection.waiting or collection.is_there:
            core_state.timers.set((Due.COLLECT, issuer), core_state.now_us + 1)
        else:
            core_state.timers.set((Due.COLLECT, issuer), core_state.now_us + core_state.times.piece_wait_us)

    def collect_on(self, issuer: int) -> None:
        """Do the next slice of a collection; drop it if the next piece has not arrived in time."""
        core_state, collection = self._core_state, self._collections[issuer]
        held = core_state.rib.entries.get(issuer)
        if collection.waiting:
            collection.take_waiting()
            self._plan(issuer, collection)
        elif not collection.is_there:
            self._drop(issuer)
        elif not collection.compare(held):
            core_state.timers.set((Due.COLLECT, issuer), core_state.now_us + 1)
        else:
            self._hold(issuer, collection)

    def _hold(self, issuer: int, collection: IncomingPredicate) -> None:
        del self._collections[issuer]
        self._core_state.rib.put(issuer, collection.as_held())
        self.flood.is_fresh(issuer, collection.version)
        self._accepted(issuer, *collection.changes)
        self._announce()
        self._tidy()
        self.collected(collection.said_by)

    def _drop(self, issuer: int) -> None:
        self._core_state.timers.cancel((Due.COLLECT, issuer))
        collection = self._collections.pop(issuer, None)
        if collection is not None:
            self._core_state.rib.scrap(collection.filters)
            self._tidy()

    def lost(self, neighbour: int) -> None:
        """Drop collections that only this neighbour, whose link is down, was sending: they will not become complete."""
        for issuer, collection in list(self._collections.items()):
            collection.said_by.discard(neighbour)
            if not collection.said_by and not collection.is_there:
                self._drop(issuer)

    def _tidy(self) -> None:
        if self._core_state.rib.has_scraps:
            self._core_state.soon(Due.TIDY)

    def tidy(self) -> None:
        """Empty a slice of predicates that are no longer held."""
        self._core_state.rib.tidy()
        self._tidy()

    # --- corrections

    def _correct(self, issuer: int, epoch: int, neighbour: int) -> None:
        """Send the held statement to a neighbour that states something older."""
        core_state = self._core_state
        if core_state.is_corrected(issuer, epoch, neighbour):
            self._say_held(issuer, core_state.links.by_neighbour[neighbour], neighbour)

    def _tell_issuer(self, issuer: int, heard: Body) -> None:
        link = self._core_state.link_towards(issuer)
        if link is not None and self._core_state.may_correct(self._core_state.me, issuer):
            self._say_held(issuer, link, issuer)
            self._core_state.send(link, heard)

    def _say_held(self, issuer: int, link: CoreLink, to: int) -> None:
        """Send the held predicate of an issuer; for a large one the version alone, where the other end accepts that."""
        held = self._core_state.rib.entries[issuer]
        if held.is_large and link.version >= PIECES_SINCE:
            self._core_state.send(link, _as_reply(held.as_news(issuer), to))
        elif fits_whole(held):
            self._core_state.send(link, _as_reply(held.as_entry(issuer), to))

    def pass_held(self, body: Held) -> None:
        """Forward towards its issuer which routers hold another router's advertisement; merged with what else is
        pending for it."""
        core_state = self._core_state
        self.confirmations.add(body.issuer, Version(body.epoch, body.seq), body.holders, body.rest)
        core_state.timers.set_earlier((Due.HELD, 0), core_state.now_us + core_state.times.held_merge_us)

    def say_held(self) -> None:
        for body in self.confirmations.take():
            self._core_state.send_towards(body.issuer, body)

    def forget(self, issuer: int) -> None:
        self.flood.forget(issuer)
        self.confirmations.forget(issuer)
        self._core_state.timers.cancel((Due.GAP, issuer))
        self._core_state.timers.cancel((Due.PENDING, issuer))
        self._drop(issuer)
        self._tidy()


def _as_advertisement(entry: Entry) -> ReceiverAdvertisement:
    return ReceiverAdvertisement(
        entry.issuer, entry.epoch, entry.seq, True, 0, entry.filters, (), entry.digest, len(entry.filters), False
    )


def _as_reply(entry: Entry, to: int) -> UpdateReply:
    """Return `entry` as a reply to no request."""
    return UpdateReply(to, 0, 0, (entry,))

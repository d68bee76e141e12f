"""The messages of a client that is subscribed at two routers: each is delivered once, in the order of the old router.

    old ──> delivered to inboxes at once     the id (origin, counter) identifies a message that both routers send
    new ──> waits ──release──> inboxes       until the old router has nothing more to send

Law: each inbox receives a message once, from whichever router sends it. The messages of one publisher stay in order, as
all messages of the old router come first. Messages of the new router wait, at most OVERLAP_MESSAGES_MAX or
OVERLAP_BYTES_MAX bytes; at the bound the new connection is not read. Of the messages that only the old router has sent
so far, OVERLAP_IDS_MAX ids are known; the oldest ids are forgotten, since those messages were published before the
client subscribed at the new router. A message shared by a worker group comes from one of the two routers only, so it is
delivered at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Final

from tamis.client.gap import Gap
from tamis.client.message import Message
from tamis.client.messages.pending import PendingSubscription
from tamis.client.messages.registry import Registry
from tamis.protocol.messages import MessageId

OVERLAP_MESSAGES_MAX: Final = 65_536
OVERLAP_BYTES_MAX: Final = 16_777_216
OVERLAP_IDS_MAX: Final = 65_536


@dataclass(slots=True)
class _Waiting:
    """An item that the new router has sent for these subscriptions, and the old one has not."""

    item: Message | Gap
    wanting: set[PendingSubscription]


class Overlap:
    """The messages of one client during a handover. `origin` is the client's number as a publisher."""

    def __init__(self, registry: Registry, origin: int) -> None:
        self._registry = registry
        self._origin = origin
        self._mirrored: set[PendingSubscription] = set()
        self._waiting: dict[MessageId | int, _Waiting] = {}  # by id; gaps by a number of their own
        self._given: dict[MessageId, set[PendingSubscription]] = {}
        self._due: set[MessageId] = set()  # marked messages that the old router still has to send
        self._bytes = 0
        self._gaps = 0
        self._is_released = False

    def mirror(self, wanted: PendingSubscription) -> None:
        """Record that both routers have this subscription."""
        self._mirrored.add(wanted)

    @property
    def has_room(self) -> bool:
        return len(self._waiting) < OVERLAP_MESSAGES_MAX and self._bytes < OVERLAP_BYTES_MAX

    # --- what comes ----------------------------------------------------------------------------------------------

    def from_old(self, message: Message) -> None:
        wanting = self._wanting(message)
        if not wanting:
            return
        waiting = self._waiting.get(message.id)
        if waiting is None:
            self._note_given(message.id, wanting)
        else:
            waiting.wanting -= wanting
            if not waiting.wanting:
                self._forget(message.id, waiting)
        for wanted in wanting:
            self._registry.hand(wanted, message)

    def from_new(self, message: Message) -> None:
        wanting = self._wanting(message)
        at_once = wanting if self._is_released else {each for each in wanting if not self._waits(each)}
        given = self._given.pop(message.id, set())
        for wanted in at_once - given if self._is_released else at_once:
            self._registry.hand(wanted, message)
        rest = wanting - at_once - given
        if rest:
            self._waiting[message.id] = _Waiting(message, rest)
            self._bytes += message.frame_bytes

    def gap_from_new(self, gap: Gap, wanting: set[PendingSubscription]) -> None:
        """Put a gap behind the messages that have arrived."""
        if self._is_released:
            for wanted in wanting:
                self._registry.hand(wanted, gap)
        else:
            self._gaps += 1
            self._waiting[self._gaps] = _Waiting(gap, wanting)

    # --- the end of the overlap ----------------------------------------------------------------------------------

    def mark(self) -> None:
        """Record which messages wait now: when the old router has sent all of them, it has caught up with the new
        one."""
        self._due = {id_ for id_ in self._waiting if isinstance(id_, MessageId)}

    @property
    def is_caught_up(self) -> bool:
        return not self._due

    def release(self) -> None:
        """Deliver the waiting items, and everything that arrives later at once: the old router sends nothing more."""
        self._is_released = True
        waiting, self._waiting = self._waiting, {}
        self._bytes = 0
        self._due.clear()
        for each in waiting.values():
            for wanted in each.wanting:
                self._registry.hand(wanted, each.item)

    def drop(self) -> None:
        """Forget the messages of the new router, since its connection was lost."""
        self._waiting.clear()
        self._given.clear()
        self._due.clear()
        self._mirrored.clear()
        self._bytes = 0

    # --- rules ---------------------------------------------------------------------------------------------------

    def _wanting(self, message: Message) -> set[PendingSubscription]:
        """Return the subscriptions that are to receive `message`. A router recognises messages of this client as its
        own only if they came over the connection to that router, so they are filtered here."""
        wanting = self._registry.wanting(message.matched)
        if message.id.origin != self._origin:
            return wanting
        return {each for each in wanting if each.options.own_messages or each.options.group}

    def _waits(self, wanted: PendingSubscription) -> bool:
        return not wanted.options.group and wanted in self._mirrored

    def _note_given(self, id_: MessageId, wanting: set[PendingSubscription]) -> None:
        mirrored = {each for each in wanting if self._waits(each)}
        if mirrored and not self._is_released:
            self._given[id_] = mirrored
            if len(self._given) > OVERLAP_IDS_MAX + OVERLAP_IDS_MAX // 8:
                for oldest in list(islice(self._given, OVERLAP_IDS_MAX // 8)):
                    del self._given[oldest]

    def _forget(self, id_: MessageId, waiting: _Waiting) -> None:
        del self._waiting[id_]
        self._due.discard(id_)
        self._bytes -= waiting.item.frame_bytes

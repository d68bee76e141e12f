"""What comes while a client is subscribed at two routers: each message is given once, in the order of the old router.

    old ──> given to inboxes at once         a message that both bring is known by its id (origin, counter)
    new ──> waits ──release──> inboxes       until the old router has nothing more to bring

Law: each inbox is given a message once, by whichever router brings it; what one publisher sent comes in its order, as
all that the old router brings comes first. What the new one brings waits, at most OVERLAP_MESSAGES_MAX of it or
OVERLAP_BYTES_MAX bytes: at the bound the new connection is not read. Of what the old one has brought and the new one
has not, OVERLAP_IDS_MAX ids are known; the oldest are forgotten, as they were sent before the new one was asked. What a
worker group shares comes by one of the two alone, so it is given at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Final

from tamis.client.gap import Gap
from tamis.client.message import Message
from tamis.client.messages.registry import Registry
from tamis.client.messages.wanted import PendingSubscription
from tamis.protocol.messages import MessageId

OVERLAP_MESSAGES_MAX: Final = 65_536
OVERLAP_BYTES_MAX: Final = 16_777_216
OVERLAP_IDS_MAX: Final = 65_536


@dataclass(slots=True)
class _Waiting:
    """What the new router has brought for these subscriptions, and the old one has not."""

    item: Message | Gap
    wanting: set[PendingSubscription]


class Overlap:
    """`origin` is the number of this client as a publisher."""

    def __init__(self, registry: Registry, origin: int) -> None:
        self._registry = registry
        self._origin = origin
        self._mirrored: set[PendingSubscription] = set()
        self._waiting: dict[MessageId | int, _Waiting] = {}  # by id; gaps by a number of their own
        self._given: dict[MessageId, set[PendingSubscription]] = {}
        self._due: set[MessageId] = set()  # those that wait since the mark, and the old router still has to bring
        self._bytes = 0
        self._gaps = 0
        self._is_released = False

    def mirror(self, wanted: PendingSubscription) -> None:
        """Take in that both routers bring what this subscription wants."""
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
        """Put a gap behind what has come."""
        if self._is_released:
            for wanted in wanting:
                self._registry.hand(wanted, gap)
        else:
            self._gaps += 1
            self._waiting[self._gaps] = _Waiting(gap, wanting)

    # --- the end of the overlap ----------------------------------------------------------------------------------

    def mark(self) -> None:
        """Note what waits now: once the old router has brought all of this, it is not behind the new one."""
        self._due = {id_ for id_ in self._waiting if isinstance(id_, MessageId)}

    @property
    def is_caught_up(self) -> bool:
        return not self._due

    def release(self) -> None:
        """Give what waits, and from here on all that comes, at once: the old router brings nothing more."""
        self._is_released = True
        waiting, self._waiting = self._waiting, {}
        self._bytes = 0
        self._due.clear()
        for each in waiting.values():
            for wanted in each.wanting:
                self._registry.hand(wanted, each.item)

    def drop(self) -> None:
        """Forget what the new router has brought, as its connection was lost."""
        self._waiting.clear()
        self._given.clear()
        self._due.clear()
        self._mirrored.clear()
        self._bytes = 0

    # --- rules ---------------------------------------------------------------------------------------------------

    def _wanting(self, message: Message) -> set[PendingSubscription]:
        """Return the subscriptions that are to be given `message`. A router knows of this client's own messages only
        those that came over its own connection."""
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

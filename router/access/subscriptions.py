"""What the rules of one class of clients leave of subscriptions: whether one is refused, and its filters in force.

Law: `tamis.protocol.access` defines both. C finds what the rules leave of a filter where that follows name by name;
otherwise the definition is asked, and its result stored. What both leave are the same messages.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final, NamedTuple

from tamis.native.covering import FilterCovers
from tamis.native.guards import GuardRules
from tamis.protocol.access.decision import Decision
from tamis.protocol.access.narrow import narrowed
from tamis.protocol.access.rights import ANSWER_TO, ClassRights, is_for_answers
from tamis.protocol.access.rule import bound_filter
from tamis.protocol.errors import Refused
from tamis.protocol.filters import EVERYTHING, Filter, Predicate
from tamis.protocol.wire.packed_filters import decode_filter, encode_filter

HAND: Final = "hand"
"""The rules of what a client gets by any subscription but one to answers."""
STORED_BYTES_MAX: Final = 1 << 20
"""Bytes of what is stored for one class about subscriptions; past it all of that is dropped, and found again."""
ROW_BYTES: Final = 500
"""Of what is stored about one subscription, besides its filters and a reason."""
PARTS_MAX: Final = 8
"""The most alternatives of rules of which C is asked about each."""

_ANSWER_BYTES: Final = ANSWER_TO.encode()

Packed = tuple[bytes, ...]
"""The packed filters of a subscription."""


class DecidedSubscription(NamedTuple):
    """What rules say about a subscription. `refusal`: None if it is accepted; `in_force`: its filters AND-ed with the
    rules, those that were asked for if the rules leave it whole, None if they would be too many or too long."""

    refusal: Decision | None
    is_for_answers: bool
    in_force: Packed | None


class ClassSubscriptions:
    """Subscriptions of the class with these rights. `rules_of`: returns the rules of a hand, by its key."""

    def __init__(self, rights: ClassRights, covers: FilterCovers, rules_of: Callable[[Hashable], GuardRules]) -> None:
        self._rights, self._covers, self._rules_of = rights, covers, rules_of
        self._asks_name = rights.asks_name
        self._parts: dict[Hashable, Packed] = {}
        self._stored: dict[tuple[Hashable, str, Packed], DecidedSubscription] = {}
        self._stored_bytes = 0

    def decided(self, hand: Hashable, name: str, packed: Packed) -> DecidedSubscription:
        """Return the decision about a subscription to these filters of a client with this name, whose messages pass
        `hand`; of other hands than HAND nothing is refused here. Raise FrameError if a filter is malformed."""
        left = self.left(hand, name, packed)
        return DecidedSubscription(None, False, left) if left else self.defined(hand, name, packed)

    def defined(self, hand: Hashable, name: str, packed: Packed) -> DecidedSubscription:
        """Return the decision by the definition."""
        key = hand, name if self._asks_name else "", packed
        found = self._stored.get(key)
        if found is None:
            found = self._by_definition(hand, name, packed)
            self._store(key, found)
        return found

    def left(self, hand: Hashable, name: str, packed: Packed) -> Packed:
        """Return what C finds to be left of these filters, `packed` itself if the rules leave it whole: the
        subscription is accepted then, and not for answers. Return nothing if C does not find it."""
        key = (hand, name) if self._asks_name else hand
        parts = self._parts.get(key)
        if parts is None:
            parts = self._find_parts(key, hand, name)
        if len(packed) == len(parts) == 1 and _ANSWER_BYTES not in (only := packed[0]):
            left = self._covers.left(only, parts[0])
            return packed if left is only else (left,) if left else ()
        found = self._left_of_many(parts, packed)
        return packed if found == packed else found

    def _left_of_many(self, parts: Packed, packed: Packed) -> Packed:
        """Return what C finds to be left of several filters, or by several alternatives of the rules."""
        found: dict[bytes, None] = {}
        for each in packed:
            left = None if _ANSWER_BYTES in each else self._left_of(parts, each)  # it may ask for answers
            if left is None:
                return ()
            if left:
                found[left] = None
        return tuple(found)

    def _left_of(self, parts: Packed, packed: bytes) -> bytes | None:
        """Return the one filter that is left of this one; b"" if nothing is, None if C does not find it."""
        if len(parts) == 1:
            return self._covers.left(packed, parts[0])
        some = [left for part in parts if (left := self._covers.left(packed, part)) != b""]
        if packed in some:
            return packed
        if len(some) > 1:  # one may cover another
            return None
        return some[0] if some else b""

    def _find_parts(self, key: Hashable, hand: Hashable, name: str) -> Packed:
        """Return the alternatives of what the rules leave of everything; nothing if they are too many or too long."""
        found = self._in_force(hand, name, (EVERYTHING,), ())
        self._parts[key] = parts = found if found is not None and len(found) <= PARTS_MAX else ()
        self._count(ROW_BYTES + sum(map(len, parts)))
        return parts

    def _by_definition(self, hand: Hashable, name: str, packed: Packed) -> DecidedSubscription:
        wanted = tuple(map(decode_filter, packed))
        in_force = self._in_force(hand, name, wanted, packed)
        if hand != HAND:
            return DecidedSubscription(None, False, in_force)
        predicate = Predicate(wanted)
        decision = self._rights.subscribe(name, predicate)
        return DecidedSubscription(None if decision.allowed else decision, is_for_answers(predicate), in_force)

    def _in_force(self, hand: Hashable, name: str, wanted: tuple[Filter, ...], packed: Packed) -> Packed | None:
        """Return filters AND-ed with the rules; `packed`, which is their packed form, if the rules leave them whole."""
        rules = self._rules_of(hand)
        allowed, denied = ([bound_filter(each, name) for each in filters] for filters in (rules.allowed, rules.denied))
        found = narrowed(wanted, allowed, denied)
        if found is None or (found == wanted and packed):
            return None if found is None else packed
        try:
            return tuple(map(encode_filter, found))
        except Refused:
            return None

    def _store(self, key: tuple[Hashable, str, Packed], found: DecidedSubscription) -> None:
        reason = found.refusal.reason if found.refusal is not None else ""
        self._stored[key] = found
        self._count(ROW_BYTES + len(reason) + sum(map(len, key[2])) + sum(map(len, found.in_force or ())))

    def _count(self, more: int) -> None:
        """Count bytes that are stored; drop all that is stored if they are too many."""
        self._stored_bytes += more
        if self._stored_bytes > STORED_BYTES_MAX:
            self._stored.clear()
            self._parts.clear()
            self._stored_bytes = 0

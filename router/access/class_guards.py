"""The guards of one class of clients in the switch: made for the first client that needs them, freed with the last.

Law: a guard is in the switch as long as it has users here, and all clients of the class share it. A class belongs to
the rules that were in force when it was made; changed rules make other classes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple, Protocol

from tamis.native.covering import FilterCovers
from tamis.native.guards import NO_GUARD, GuardFigures, Guarding, GuardRules
from tamis.protocol.access.decision import Decision, Verb
from tamis.protocol.access.judge import RulePart
from tamis.protocol.access.narrow import narrowed
from tamis.protocol.access.rights import ANSWER_TO, ClassRights, is_for_answers
from tamis.protocol.access.rule import NAME, bound_filter
from tamis.protocol.errors import Refused
from tamis.protocol.filters import Filter, Predicate
from tamis.protocol.wire.packed_filters import decode_filter, encode_filter
from tamis.router.access.guard_rules import door_rules, hand_rules, refuse_rules, stamp_reason

_ANSWER_BYTES: Final = ANSWER_TO.encode()
_DOOR: Final = "door"
_HAND: Final = "hand"
_ANSWERS: Final = "answers"
_REFUSE: Final = "refuse"
ANSWERS_MAX: Final = 4_096
"""Subscriptions of a class of which the decision, and the filters with the rules, are stored; past it they are found
again."""


class GuardingSwitch(Protocol):
    """The part of the switch that has guards."""

    def new_guard(self, rules: GuardRules) -> int: ...

    def free_guard(self, number: int) -> None: ...

    def guard(self, subscriber: int, guarding: Guarding | None) -> None: ...

    def guard_all(self, guardings: Mapping[int, Guarding]) -> None: ...

    def guard_figures(self, number: int) -> GuardFigures: ...


class DecidedSubscription(NamedTuple):
    """A subscription that a client of the class has asked for, and the decision about it. `wanted`: None if C decided
    that one rule covers it."""

    wanted: Predicate | None
    decision: Decision
    is_for_answers: bool

    @property
    def is_whole(self) -> bool:
        """Whether the rules of subscriptions alone let all of its messages through."""
        decision = self.decision
        return decision.allowed and not decision.narrowed and not self.is_for_answers


class HeldGuards(NamedTuple):
    """The guards that one subscriber has. Give it back to `release` once the subscriber has others, or has ended."""

    of: ClassGuards
    keys: tuple[Hashable, ...]
    guarding: Guarding

    def hand_of(self, subscription: int) -> Hashable:
        """Return the key of the guard of what is delivered for a subscription."""
        if self.guarding.door == NO_GUARD:
            return self.keys[0]
        return _ANSWERS if subscription == self.guarding.answers_id else _HAND


@dataclass(slots=True)
class _SharedGuard:
    number: int
    users: int = 0


class _Whole(NamedTuple):
    """The first filter, packed, of what a class may subscribe to, and the decision about a subscription that it
    covers."""

    filter: bytes
    decision: Decision


class ClassGuards:
    """The guards of the class with these rights. `observes`: they count what they do not allow, and let it pass."""

    def __init__(self, switch: GuardingSwitch, rights: ClassRights, covers: FilterCovers, *, observes: bool) -> None:
        self._switch, self.rights, self._covers, self._observes = switch, rights, covers, observes
        self._shared: dict[Hashable, _SharedGuard] = {}
        self._stamp_reason = stamp_reason(rights) if rights.stamp else ""
        self._asked: dict[tuple[str, tuple[bytes, ...]], DecidedSubscription] = {}
        self._narrowed: dict[tuple[Hashable, str, tuple[bytes, ...]], tuple[bytes, ...] | None] = {}

    def of_client(self, name: str, answers_id: int = 0) -> HeldGuards:
        """Return guards for a client with this name. `answers_id`: its subscription to answers, 0 if it has none. Raise
        OutOfMemory, or Refused beyond a limit."""
        keys = (_DOOR, _HAND, _ANSWERS) if answers_id else (_DOOR, _HAND)
        numbers = self._take(keys)
        stamp = {attribute: name if value == NAME else value for attribute, value in self.rights.stamp.items()}
        guarding = Guarding(
            name,
            door=numbers[0],
            hand=numbers[1],
            answers=numbers[2] if answers_id else NO_GUARD,
            answers_id=answers_id,
            observes=self._observes,
            stamp=stamp,
            stamp_reason=self._stamp_reason,
        )
        return HeldGuards(self, keys, guarding)

    def of_durable(self, durable: str, owner: str) -> HeldGuards:
        """Return the guards of what is stored for a durable subscription of this owner, and of what it may turn away.
        Raise OutOfMemory, or Refused beyond a limit."""
        keys = (tuple(self.rights.allowing_of(durable, owner)), (_REFUSE, *self.rights.refusing(durable, owner)))
        hand, refuse = self._take(keys)
        return HeldGuards(self, keys, Guarding(owner, hand=hand, refuse=refuse, observes=self._observes))

    def of_consumer(self, durable: str, client: str) -> HeldGuards:
        """Return the guard of what a client gets of a durable subscription. Raise OutOfMemory, or Refused beyond a
        limit."""
        keys = (tuple(self.rights.allowing_of(durable, client)),)
        [hand] = self._take(keys)
        return HeldGuards(self, keys, Guarding(client, hand=hand, observes=self._observes))

    def asked(self, name: str, packed: tuple[bytes, ...]) -> DecidedSubscription:
        """Return the decision about a subscription of a client with this name to these filters. Raise FrameError if one
        of them is malformed."""
        key = name if self.rights.asks_name else "", packed
        found = self._asked.get(key)
        if found is None:
            if len(self._asked) >= ANSWERS_MAX:
                self._asked.clear()
            found = self._asked[key] = self._decided(name, packed)
        return found

    def _decided(self, name: str, packed: tuple[bytes, ...]) -> DecidedSubscription:
        whole = self._whole
        if whole is not None and all(self._is_within(whole.filter, each) for each in packed):
            return DecidedSubscription(None, whole.decision, is_for_answers=False)
        wanted = Predicate(tuple(map(decode_filter, packed)))
        return DecidedSubscription(wanted, self.rights.subscribe(name, wanted), is_for_answers(wanted))

    @cached_property
    def _whole(self) -> _Whole | None:
        """None if something is denied, or depends on a name."""
        rights = self.rights
        allowed = [each for part in rights.allowing(Verb.SUBSCRIBE) for each in part.rule.predicate.filters]
        if not allowed or rights.asks_name or rights.denying(Verb.SUBSCRIBE):
            return None
        decision = rights.subscribe("", Predicate((allowed[0],)))
        return _Whole(encode_filter(allowed[0]), decision) if decision.allowed and not decision.narrowed else None

    def _is_within(self, whole: bytes, packed: bytes) -> bool:
        """Return whether a filter is satisfiable, may not ask for answers, and is covered by `whole`."""
        if _ANSWER_BYTES in packed:
            return False
        try:
            return self._covers.covers(whole, packed) and self._covers.is_satisfiable(packed)
        except Refused:  # the filter is malformed
            return False

    def narrowed(self, held: HeldGuards, subscription: int, packed: tuple[bytes, ...]) -> tuple[bytes, ...] | None:
        """Return the filters of a subscription of who holds these guards AND-ed with its rules, `packed` itself if they
        leave it whole; None if they would be too many or too long. `packed` is well-formed."""
        if self._observes:
            return packed
        hand, name = held.hand_of(subscription), held.guarding.name if self.rights.asks_name else ""
        asked = self._asked.get((name, packed))
        if hand == _HAND and asked is not None and asked.is_whole:
            return packed
        key = hand, name, packed
        if key not in self._narrowed:
            if len(self._narrowed) >= ANSWERS_MAX:
                self._narrowed.clear()
            decoded = asked.wanted if asked is not None else None
            wanted = decoded.filters if decoded is not None else tuple(map(decode_filter, packed))
            self._narrowed[key] = self._with_rules(hand, held.guarding.name, wanted, packed)
        return self._narrowed[key]

    def _with_rules(
        self, key: Hashable, name: str, wanted: tuple[Filter, ...], packed: tuple[bytes, ...]
    ) -> tuple[bytes, ...] | None:
        rules = self._rules(key)
        allowed, denied = ([bound_filter(each, name) for each in filters] for filters in (rules.allowed, rules.denied))
        found = narrowed(wanted, allowed, denied)
        if found is None or found == wanted:
            return None if found is None else packed
        try:
            return tuple(map(encode_filter, found))
        except Refused:
            return None

    def release(self, held: HeldGuards) -> None:
        """Count one user less of each guard; free those without users."""
        for key in held.keys:
            shared = self._shared[key]
            shared.users -= 1
            if shared.users == 0:
                self._switch.free_guard(shared.number)
                del self._shared[key]

    def figures(self) -> Iterable[GuardFigures]:
        """Return the counters of its guards."""
        return (self._switch.guard_figures(shared.number) for shared in self._shared.values())

    def _take(self, keys: tuple[Hashable, ...]) -> list[int]:
        """Return the numbers of guards, each with one user more; on an exception none has one more."""
        made: dict[Hashable, _SharedGuard] = {}
        try:
            for key in keys:
                if key not in self._shared:
                    made[key] = _SharedGuard(self._switch.new_guard(self._rules(key)))
        except BaseException:
            for each in made.values():
                self._switch.free_guard(each.number)
            raise
        self._shared |= made
        for key in keys:
            self._shared[key].users += 1
        return [self._shared[key].number for key in keys]

    def _rules(self, key: Hashable) -> GuardRules:
        if key == _DOOR:
            return door_rules(self.rights)
        if key == _HAND:
            return hand_rules(self.rights)
        if isinstance(key, tuple) and key[:1] == (_REFUSE,):
            return refuse_rules(key[1:])
        more: Iterable[RulePart] = self.rights.allowing_answers() if key == _ANSWERS else key  # type: ignore[assignment]
        return hand_rules(self.rights, more)

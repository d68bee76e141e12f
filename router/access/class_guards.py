"""The guards of one class of clients in the switch: made for the first client that needs them, freed with the last.

Law: a guard is in the switch as long as it has users here, and all clients of the class share it. A class belongs to
the rules that were in force when it was made; changed rules make other classes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from tamis.native.covering import FilterCovers
from tamis.native.guards import NO_GUARD, GuardFigures, Guarding, GuardRules
from tamis.protocol.access.judge import RulePart
from tamis.protocol.access.rights import ClassRights
from tamis.protocol.access.rule import NAME
from tamis.router.access.guard_rules import door_rules, hand_rules, refuse_rules, stamp_reason
from tamis.router.access.subscriptions import HAND, ClassSubscriptions, Packed

_DOOR: Final = "door"
_ANSWERS: Final = "answers"
_REFUSE: Final = "refuse"


class GuardingSwitch(Protocol):
    """The part of the switch that has guards."""

    def new_guard(self, rules: GuardRules) -> int: ...

    def free_guard(self, number: int) -> None: ...

    def guard(self, subscriber: int, guarding: Guarding | None) -> None: ...

    def guard_all(self, guardings: Mapping[int, Guarding]) -> None: ...

    def guard_figures(self, number: int) -> GuardFigures: ...


class HeldGuards(NamedTuple):
    """The guards that one subscriber has. Give it back to `release` once the subscriber has others, or has ended."""

    of: ClassGuards
    keys: tuple[Hashable, ...]
    guarding: Guarding

    def hand_of(self, subscription: int) -> Hashable:
        """Return the key of the guard of what is delivered for a subscription."""
        if self.guarding.door == NO_GUARD:
            return self.keys[0]
        return _ANSWERS if subscription == self.guarding.answers_id else HAND


@dataclass(slots=True)
class _SharedGuard:
    number: int
    users: int = 0


class ClassGuards:
    """The guards of the class with these rights. `observes`: they count what they do not allow, and let it pass."""

    def __init__(self, switch: GuardingSwitch, rights: ClassRights, covers: FilterCovers, *, observes: bool) -> None:
        self._switch, self.rights, self.observes = switch, rights, observes
        self._shared: dict[Hashable, _SharedGuard] = {}
        self._stamp_reason = stamp_reason(rights) if rights.stamp else ""
        self.subscriptions = ClassSubscriptions(rights, covers, self._rules)

    def of_client(self, name: str, answers_id: int = 0) -> HeldGuards:
        """Return guards for a client with this name. `answers_id`: its subscription to answers, 0 if it has none. Raise
        OutOfMemory, or Refused beyond a limit."""
        keys = (_DOOR, HAND, _ANSWERS) if answers_id else (_DOOR, HAND)
        numbers = self._take(keys)
        stamp = {attribute: name if value == NAME else value for attribute, value in self.rights.stamp.items()}
        guarding = Guarding(
            name,
            door=numbers[0],
            hand=numbers[1],
            answers=numbers[2] if answers_id else NO_GUARD,
            answers_id=answers_id,
            observes=self.observes,
            stamp=stamp,
            stamp_reason=self._stamp_reason,
        )
        return HeldGuards(self, keys, guarding)

    def of_durable(self, durable: str, owner: str) -> HeldGuards:
        """Return the guards of what is stored for a durable subscription of this owner, and of what it may turn away.
        Raise OutOfMemory, or Refused beyond a limit."""
        keys = (tuple(self.rights.allowing_of(durable, owner)), (_REFUSE, *self.rights.refusing(durable, owner)))
        hand, refuse = self._take(keys)
        return HeldGuards(self, keys, Guarding(owner, hand=hand, refuse=refuse, observes=self.observes))

    def of_consumer(self, durable: str, client: str) -> HeldGuards:
        """Return the guard of what a client gets of a durable subscription. Raise OutOfMemory, or Refused beyond a
        limit."""
        keys = (tuple(self.rights.allowing_of(durable, client)),)
        [hand] = self._take(keys)
        return HeldGuards(self, keys, Guarding(client, hand=hand, observes=self.observes))

    def narrowed(self, held: HeldGuards, subscription: int, packed: Packed) -> Packed | None:
        """Return the filters of a subscription of who holds these guards AND-ed with its rules, `packed` itself if they
        leave it whole; None if they would be too many or too long. `packed` is well-formed."""
        if self.observes:
            return packed
        return self.subscriptions.decided(held.hand_of(subscription), held.guarding.name, packed).in_force

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
        if key == HAND:
            return hand_rules(self.rights)
        if isinstance(key, tuple) and key[:1] == (_REFUSE,):
            return refuse_rules(key[1:])
        more: Iterable[RulePart] = self.rights.allowing_answers() if key == _ANSWERS else key  # type: ignore[assignment]
        return hand_rules(self.rights, more)

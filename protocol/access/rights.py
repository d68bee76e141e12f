"""The rights of a class of principals, which is a set of roles: the definition of every decision.

    door   `publish`: a message comes in, gets the stamps of all roles, and is judged with them
    hand   `sees`, `sees_of`, `sees_again`: a message is handed to a client, live, of a durable subscription, replayed
    verbs  the other functions: a request comes in

Law: nothing is allowed that no role allows; a denial of one role wins over everything that other roles allow, at every
hand. All conditions of one right are those of one role: rights of two roles do not mix. `own` is the full name of the
connection, which stands for `${name}`; a principal with a sub-name has the class of its line.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeVar

from tamis.protocol import limits
from tamis.protocol.access.decision import Decision, Verb
from tamis.protocol.access.judge import Attributes, RulePart, judged, named, within
from tamis.protocol.access.patterns import NamePattern, first_match
from tamis.protocol.access.role import AccessRole, AdminLevel, DurableRight, Permission, Quota, Rate
from tamis.protocol.access.rule import NAME, AccessRule
from tamis.protocol.filters import EVERYTHING, Constraint, Filter, Op, Predicate
from tamis.protocol.language.literals import write_name
from tamis.protocol.values import Value

ANSWER_TO: Final = "answer-to"
"""The attribute by which an answer finds the client that asked."""

_RULES_OF: Final = {
    Verb.PUBLISH: ("publish",),
    Verb.SEES: ("subscribe",),
    Verb.SUBSCRIBE: ("subscribe",),
    Verb.REPLAY: ("replay", "subscribe"),
}
"""The rules that decide about a message: the first allow, and all deny."""

N = TypeVar("N", int, float)


_ALL: Final = Predicate((EVERYTHING,))


@dataclass(frozen=True, slots=True)
class DurableTerms:
    """What a request for a durable subscription asks for. `idle_s` 0: for ever; `bytes` 0: no limit of its own."""

    name: str
    wanted: Predicate = _ALL
    bytes: int = 0
    refuses: bool = False
    idle_s: int = 1


class ClassRights:
    """The rights of all principals with exactly these roles."""

    def __init__(self, roles: Iterable[AccessRole]) -> None:
        self.roles = tuple(sorted(roles, key=lambda role: role.name))
        self.names = tuple(role.name for role in self.roles)
        self.asks_name = any(role.asks_name for role in self.roles)
        self.stamp = {attribute: value for role in self.roles for attribute, value in role.stamp.items()}

    # --- the door ----------------------------------------------------------------------------------------------------

    def publish(self, own: str, attributes: Attributes) -> Decision:
        """Return whether a message may come in. Its stamps must not be in it; rules are about the stamped message."""
        for role in self.roles:
            said = next((name for name in role.stamp if name in attributes), None)
            if said is not None:
                reason = f"role {role.name} stamps {write_name(said)}, which a client may not set"
                return Decision(Verb.PUBLISH, False, role.name, reason, Constraint(said, Op.EXISTS, negated=True))
        stamped = self.stamped(own, attributes)
        if len(stamped) > limits.ATTRIBUTES_MAX:
            reason = f"with its stamps the message has more than {limits.ATTRIBUTES_MAX} attributes"
            return Decision(Verb.PUBLISH, False, self.names[0], reason)
        return judged(Verb.PUBLISH, own, stamped, self.allowing(Verb.PUBLISH), self.denying(Verb.PUBLISH))

    def stamped(self, own: str, attributes: Attributes) -> dict[str, Value]:
        """Return the attributes with the stamps of all roles, which replace those of the same name."""
        stamp = {name: own if value == NAME else value for name, value in self.stamp.items()}
        return {**attributes, **stamp}

    @property
    def rate(self) -> Rate | None:
        """The rate of one name: of several roles that limit it the largest of each number."""
        rates = [role.rate for role in self.roles if role.rate is not None]
        if not rates:
            return None
        return Rate(
            _most(rate.messages_s for rate in rates),
            _most(rate.burst for rate in rates),
            _most(rate.bytes_s for rate in rates),
        )

    @cached_property
    def quota(self) -> Quota:
        """The quotas of one name: of several roles that limit it the largest of each number."""
        quotas = [role.quotas for role in self.roles]
        return Quota(
            _most(quota.connections for quota in quotas),
            _most(quota.durables for quota in quotas),
            _most(quota.filters for quota in quotas),
            _most(quota.log for quota in quotas),
            _most(quota.log_bytes for quota in quotas),
        )

    @cached_property
    def bounds_filters(self) -> bool:
        """Whether a quota or a total bounds how many filters one name, or all of a role, may have."""
        return self.quota.filters is not None or any(role.totals.filters is not None for role in self.roles)

    # --- the hand ----------------------------------------------------------------------------------------------------

    def sees(self, own: str, attributes: Attributes, *, is_answer: bool = False) -> Decision:
        """Return whether a message may be handed to a subscriber, or shown by administration. `is_answer`: it answers a
        question of this client, and came by the address that the client asked with."""
        allows = self.allowing(Verb.SEES)
        if is_answer and ANSWER_TO in attributes:
            allows += self.allowing_answers()
        return judged(Verb.SEES, own, attributes, allows, self.denying(Verb.SEES))

    def sees_of(self, durable: str, own: str, attributes: Attributes) -> Decision:
        """Return whether a message of a durable subscription may be delivered: to its owner, which decides whether it
        is stored, and to a consumer. Peeking and dead letters ask this, too."""
        allows = self.allowing(Verb.SEES) + self.allowing_of(durable, own)
        return judged(Verb.SEES, own, attributes, allows, self.denying(Verb.SEES))

    def sees_again(self, own: str, attributes: Attributes, age_s: float = 0) -> Decision:
        """Return whether a stored message of this age may be replayed. What `subscribe` denies is denied here, too."""
        recent = [role for role in self.roles if role.replay_since_s is None or age_s <= role.replay_since_s]
        allows = [RulePart(role.name, role.replay.allow) for role in recent if role.replay.allow is not None]
        if not allows and (part := next(iter(self.allowing(Verb.REPLAY)), None)) is not None:
            reason = f"role {part.role} allows replay of the last {self._since(part.role):,} s"
            return Decision(Verb.REPLAY, False, part.role, reason)
        return judged(Verb.REPLAY, own, attributes, allows, self.denying(Verb.REPLAY))

    def denying(self, verb: Verb) -> list[RulePart]:
        """Return the rules that deny messages of a verb about messages."""
        return [part for what in _RULES_OF[verb] for part in self._denying(what)]

    def allowing(self, verb: Verb) -> list[RulePart]:
        """Return the rules that allow messages of a verb about messages."""
        return self._allowing(_RULES_OF[verb][0])

    def allowing_of(self, durable: str, own: str) -> list[RulePart]:
        """Return the rules that allow messages of a durable subscription besides those that allow them live."""
        return [
            RulePart(role.name, right.of)
            for role, right in self._durable_rights()
            if right.of is not None and first_match(right.names, durable, own)
        ]

    def allowing_answers(self) -> list[RulePart]:
        """Return the rules that allow answers to the address that a client asked with."""
        return [RulePart(role.name, _ANSWERS) for role in self.roles if role.requests]

    # --- verbs about messages ----------------------------------------------------------------------------------------

    def subscribe(self, own: str, wanted: Predicate) -> Decision:
        """Return whether a subscription is accepted: some message that it asks for may be delivered. `wanted` that
        asks for answers by their address is accepted of a role that may ask."""
        allows = self.allowing(Verb.SUBSCRIBE)
        if is_for_answers(wanted):
            allows += self.allowing_answers()
        return within(Verb.SUBSCRIBE, own, wanted, allows, self.denying(Verb.SUBSCRIBE))

    def replay(self, own: str, wanted: Predicate, since_s: float = 0) -> Decision:
        """Return whether a replay of what is wanted, since that many seconds ago, is accepted."""
        parts = self.allowing(Verb.REPLAY)
        allows = [part for part in parts if since_s <= self._since(part.role)]
        if parts and not allows:
            longest = max(parts, key=lambda part: self._since(part.role))
            reason = f"role {longest.role} allows replay of the last {self._since(longest.role):,} s"
            return Decision(Verb.REPLAY, False, longest.role, reason)
        return within(Verb.REPLAY, own, wanted, allows, self.denying(Verb.REPLAY))

    # --- verbs about names -------------------------------------------------------------------------------------------

    def group(self, own: str, name: str) -> Decision:
        """Return whether a subscription may join the worker group `name`."""
        return named(Verb.GROUP, own, name, ((role.name, role.groups) for role in self.roles))

    def make(self, own: str, terms: DurableTerms) -> Decision:
        """Return whether a durable subscription may be made, or its terms changed by its owner."""
        rights = list(self._durable_rights())
        fitting = [(role, right) for role, right in rights if first_match(right.names, terms.name, own)]
        if not fitting:
            return named(Verb.MAKE, own, terms.name, ((role.name, right.names) for role, right in rights))
        found = [self._makes(own, terms, role, right) for role, right in fitting]
        return next((decision for decision in found if decision.allowed), found[0])

    def refuse(self, durable: str, own: str, attributes: Attributes) -> Decision:
        """Return whether a durable subscription of this principal may turn a message away when it is full."""
        return judged(Verb.REFUSE, own, attributes, self.refusing(durable, own), [])

    def refusing(self, durable: str, own: str) -> list[RulePart]:
        """Return the rules of messages that a durable subscription of this principal may turn away."""
        return [
            RulePart(role.name, right.refuse)
            for role, right in self._durable_rights()
            if right.refuse is not None and first_match(right.names, durable, own)
        ]

    def consume(self, own: str, name: str, *, is_owner: bool) -> Decision:
        """Return whether messages of a durable subscription may be taken, acknowledged and rejected."""
        return named(Verb.CONSUME, own, name, self._taken(is_owner, skip=False), hides=True)

    def skip(self, own: str, name: str, *, is_owner: bool) -> Decision:
        """Return whether a consumer may begin behind what waits (`after`, `latest`)."""
        may_consume = self.consume(own, name, is_owner=is_owner)
        if not may_consume:
            return Decision(Verb.SKIP, False, may_consume.role, may_consume.reason, hides=True)
        return named(Verb.SKIP, own, name, self._taken(is_owner, skip=True))

    def inspect(self, own: str, name: str, *, is_owner: bool) -> Decision:
        """Return whether a durable subscription is listed and shown; the owner always may."""
        if is_owner:
            return Decision(Verb.INSPECT, True, reason=_OWNED)
        return named(Verb.INSPECT, own, name, ((role.name, role.inspect) for role in self.roles), hides=True)

    def remove(self, own: str, name: str, *, is_owner: bool) -> Decision:
        """Return whether a durable subscription may be removed; the owner always may."""
        if is_owner:
            return Decision(Verb.REMOVE, True, reason=_OWNED)
        is_hidden = not self.inspect(own, name, is_owner=False) and not self.consume(own, name, is_owner=False)
        return named(Verb.REMOVE, own, name, ((role.name, role.remove) for role in self.roles), hides=is_hidden)

    def admin(self, level: AdminLevel) -> Decision:
        """Return whether a request of administration that needs this level may be made."""
        having = [role for role in self.roles if role.admin is not None]
        best = max(having, key=lambda role: role.admin or 0, default=None)
        wanted = level.name.lower()
        if best is None or best.admin is None:
            return Decision(Verb.ADMIN, False, reason="no role allows admin")
        reason = f"role {best.name} is {best.admin.name.lower()}"
        return Decision(Verb.ADMIN, best.admin >= level, best.name, f"{reason}; this needs {wanted}")

    # --- how ---------------------------------------------------------------------------------------------------------

    def _makes(self, own: str, terms: DurableTerms, role: AccessRole, right: DurableRight) -> Decision:
        def refused(reason: str) -> Decision:
            return Decision(Verb.MAKE, False, role.name, f"role {role.name} {reason}")

        if right.bytes is not None and not 0 < terms.bytes <= right.bytes:
            return refused(f"allows {right.bytes:,} bytes")
        if terms.refuses and right.refuse is None:
            return refused("allows no durable subscription that refuses messages when it is full")
        if right.idle_max_s and not 0 < terms.idle_s <= right.idle_max_s:
            return refused(f"allows {right.idle_max_s:,} s without a consumer")
        allows = self.allowing(Verb.SUBSCRIBE) if right.of is None else [RulePart(role.name, right.of)]
        return within(Verb.MAKE, own, terms.wanted, allows, self.denying(Verb.SUBSCRIBE))

    def _taken(self, is_owner: bool, *, skip: bool) -> Iterator[tuple[str, tuple[NamePattern, ...]]]:
        """Yield the patterns of durable subscriptions that may be consumed, with `skip` from behind what waits."""
        for role in self.roles:
            if role.consume is not None and (role.consume.skip or not skip):
                yield role.name, role.consume.names
            if is_owner and role.durable is not None:
                yield role.name, role.durable.names

    def _durable_rights(self) -> Iterator[tuple[AccessRole, DurableRight]]:
        return ((role, role.durable) for role in self.roles if role.durable is not None)

    def _since(self, role: str) -> float:
        found = next(each.replay_since_s for each in self.roles if each.name == role)
        return math.inf if found is None else found

    def _allowing(self, what: str) -> list[RulePart]:
        return [RulePart(name, permission.allow) for name, permission in self._permissions(what) if permission.allow]

    def _denying(self, what: str) -> list[RulePart]:
        return [RulePart(name, permission.deny) for name, permission in self._permissions(what) if permission.deny]

    def _permissions(self, what: str) -> Iterator[tuple[str, Permission]]:
        return ((role.name, getattr(role, what)) for role in self.roles)


_OWNED: Final = "the owner may"
_ANSWERS: Final = AccessRule(f"exists {ANSWER_TO}", Predicate((Filter((Constraint(ANSWER_TO, Op.EXISTS),)),)))


def is_for_answers(wanted: Predicate) -> bool:
    """Return whether a predicate asks for nothing but answers to certain addresses."""
    return all(
        any(each.name == ANSWER_TO and each.op is Op.EQ and not each.negated for each in filter_.constraints)
        for filter_ in wanted.filters
    )


def _most(values: Iterable[N | None]) -> N | None:
    return max((value for value in values if value is not None), default=None)

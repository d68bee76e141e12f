"""The rules in force in a router: who comes in, what guards each client, and what a request may do.

Law: there is no moment in which more is allowed than by the old rules or by the new ones: all guards change between two
messages, in one call of `change`, or none does. A client whose rules cannot be enforced is not served.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Protocol

from tamis.native.covering import FilterCovers
from tamis.native.guards import GuardFigures
from tamis.native.rates import PacingSwitch, pace
from tamis.native.results import OutOfMemory
from tamis.native.switch_values import Admission
from tamis.protocol.access.decision import Decision, Verb
from tamis.protocol.access.rights import ClassRights
from tamis.protocol.access.role import AdminLevel
from tamis.protocol.access.rules import AccessMode, AccessRules
from tamis.protocol.errors import Refused
from tamis.protocol.limits import FRAME_BYTES_MAX
from tamis.protocol.values import Value
from tamis.protocol.wire.routing_bodies import group_of, of_group
from tamis.router.access.admitted import Admitted, Denial
from tamis.router.access.class_guards import ClassGuards, GuardingSwitch, HeldGuards
from tamis.router.access.rates import PublishRates
from tamis.router.access.usage import Counted, Usage

NO_ROLES: Final[frozenset[str]] = frozenset()


class RulingSwitch(GuardingSwitch, PacingSwitch, Protocol):
    """The part of the switch that rules use."""

    def connection_of(self, subscriber: int) -> int | None: ...

    def filters_of(self, subscriber: int) -> int: ...


class GuardedClient(Protocol):
    """A client as rules see it. `interface`: its number in the switch; `answers_id`: its subscription to answers, 0 if
    it has none."""

    interface: int
    name: str
    admitted: Admitted
    answers_id: int


Admissions = list[tuple[GuardedClient, Admitted | None]]
"""Clients, and what each is admitted as from now on; None: its session ends."""

Plan = Callable[[Admissions, dict[int, HeldGuards], dict[Hashable, HeldGuards]], None]
"""Makes guards, by interface and of consumers; what it has made before an exception is released by its caller."""


class StoredFor(NamedTuple):
    """A durable subscription, for whom it stores. `roles`: of an owner that the rules do not list."""

    name: str
    owner: str
    roles: frozenset[str]


def _note_nothing(kind: str, **said: object) -> None:
    """Do nothing: there is no audit log."""


@dataclass(slots=True)
class Consuming:
    """A consumer of a durable subscription."""

    client: GuardedClient
    durable: str
    set_hand: Callable[[int], object]
    held: HeldGuards


class AccessInForce:
    """The rules of one router, and the guards of its switch."""

    def __init__(self, switch: RulingSwitch, rules: AccessRules, frame_bytes_max: int = FRAME_BYTES_MAX) -> None:
        self._switch, self.rules = switch, rules
        self._covers = FilterCovers()
        self.usage, self.rates = Usage(), PublishRates(switch, frame_bytes_max)
        self._classes: dict[frozenset[str], ClassGuards] = {}
        self._held: dict[int, HeldGuards] = {}  # by interface
        self._stored: dict[int, StoredFor] = {}  # by interface
        self._roles: dict[str, frozenset[str]] = {}  # of owners that the rules do not list
        self._consumers: dict[Hashable, Consuming] = {}
        self.changed: Callable[[], None] = lambda: None
        """Called after each change of the rules."""
        self.note: Callable[..., None] = _note_nothing
        """Adds a line of a kind, with fields, to the audit log."""
        self.refused: Counter[tuple[Verb, str]] = Counter()
        """Requests that the rules did not allow, by verb and role."""

    @property
    def observes(self) -> bool:
        """Whether everything passes, and decisions are only recorded."""
        return self.rules.mode is AccessMode.OBSERVE

    # --- admission ---------------------------------------------------------------------------------------------------

    def admits(self, name: str, token: bytes) -> Admitted | Denial:
        """Return what a client `name` that sends `token` is admitted as, or the denial."""
        digest = hashlib.sha256(token).digest()
        return self._by_digest(name, digest) or Denial("this token is not valid for this name")

    def again(self, name: str, admitted: Admitted) -> Admitted | None:
        """Return what a client is admitted as by the rules of now; None: its session ends."""
        if admitted.proof is not None:
            return admitted.proof.admitted(name)
        return self._by_digest(name, admitted.token_digest or b"")

    def _by_digest(self, name: str, digest: bytes) -> Admitted | None:
        found = self.rules.principals.resolve(name) if self.rules.principals.shows_digest(name, digest) else None
        if found is None:
            return None
        line, number = found
        return Admitted(digest, line, frozenset(self.rules.classes.rights[number].names))

    # --- rights ------------------------------------------------------------------------------------------------------

    def class_of(self, client: GuardedClient) -> ClassGuards:
        """Return the class of a client."""
        held = self._held.get(client.interface)
        return held.of if held is not None else self._class_of(client.admitted.roles or NO_ROLES)

    def passes(self, decision: Decision) -> bool:
        """Count a decision that refuses; return whether the request is served."""
        if not decision.allowed:
            self.refused[decision.verb, decision.role] += 1
        return decision.allowed or self.observes

    def note_rules(self) -> None:
        """Add the rules in force to the audit log."""
        self.note("rules", digest=self.rules.digest, mode=self.rules.mode.value)

    def _class_of(self, roles: frozenset[str]) -> ClassGuards:
        """Return the class with these roles; roles that the rules no longer have give no rights."""
        rules = self.rules
        known = roles.intersection(rules.roles)
        found = self._classes.get(known)
        if found is None:
            rights = rules.classes.rights[rules.classes.number(known)]
            found = self._classes[known] = ClassGuards(self._switch, rights, self._covers, observes=self.observes)
        return found

    def full(self, name: str, admitted: Admitted, *, replaces: bool) -> str:
        """Return which quota of connections another client would exceed, as a sentence; "" if none. `replaces`: it
        takes the place of an earlier client of its name."""
        rights = self._class_of(_roles_of(admitted)).rights
        more = 0 if replaces else 1
        return "" if self.observes else self.usage.exceeded(name, rights, Counted.CONNECTIONS, more)

    def limited(self, name: str, admission: Admission, admitted: Admitted) -> Admission:
        """Return the limits of a client with those of its roles; one that is no operator requests no traces. Raise
        OutOfMemory without memory for its rate."""
        rights = self._class_of(_roles_of(admitted)).rights
        if self.observes:
            return admission
        most = rights.quota.filters
        if most is not None:
            admission = replace(admission, filters_max=min(most, admission.filters_max))
        if not rights.admin(AdminLevel.OPERATOR):
            admission = replace(admission, traces_per_s=1, traces_burst=0)
        return replace(admission, bucket=self.rates.of(name, rights.rate))

    # --- changed rules -----------------------------------------------------------------------------------------------

    def change(self, rules: AccessRules, clients: Iterable[GuardedClient]) -> list[GuardedClient]:
        """Enforce other rules from the next message on, for all clients and durable subscriptions of the switch. Return
        the clients that may not stay: nothing enters from them or reaches them any more. Raise OutOfMemory, or Refused
        beyond a limit of guards; then nothing has changed."""
        before = self.rules, self._classes
        self.rules, self._classes = rules, {}
        try:
            admissions = [(client, self.again(client.name, client.admitted)) for client in clients]
            return self._guard_again(admissions, self._plan)
        except BaseException:
            self.rules, self._classes = before
            raise

    def admit_again(self, client: GuardedClient, admitted: Admitted) -> bool:
        """Let a client be what another credential has proved, from the next message on. Return whether it may stay.
        Raise OutOfMemory, or Refused beyond a limit of guards; then nothing has changed."""
        return not self._guard_again([(client, admitted)], self._plan_clients)

    def _guard_again(self, admissions: Admissions, plan: Plan) -> list[GuardedClient]:
        """Guard what `plan` plans from the next message on; return the clients that may not stay. On an exception
        nothing has changed."""
        planned: dict[int, HeldGuards] = {}
        consuming: dict[Hashable, HeldGuards] = {}
        try:
            plan(admissions, planned, consuming)
            self._switch.guard_all({interface: held.guarding for interface, held in planned.items()})
        except BaseException:
            for held in (*planned.values(), *consuming.values()):
                held.of.release(held)
            raise
        return self._changed(admissions, planned, consuming)

    def _plan(
        self, admissions: Admissions, planned: dict[int, HeldGuards], consuming: dict[Hashable, HeldGuards]
    ) -> None:
        """Make the guards by the rules of now: by interface, and those of consumers."""
        self._plan_clients(admissions, planned, consuming)
        for interface, stored in self._stored.items():
            of_owner = self._class_of(self._roles_of_owner(stored))
            planned[interface] = of_owner.of_durable(stored.name, stored.owner)
        for key, consumer in self._consumers.items():
            if key not in consuming:  # its client has gone
                consuming[key] = self._class_of(NO_ROLES).of_consumer(consumer.durable, consumer.client.name)

    def _plan_clients(
        self, admissions: Admissions, planned: dict[int, HeldGuards], consuming: dict[Hashable, HeldGuards]
    ) -> None:
        """Make the guards of clients, and of what they consume."""
        roles = {client.interface: _roles_of(admitted) for client, admitted in admissions}
        for client, _ in admissions:
            held = self._class_of(roles[client.interface]).of_client(client.name, client.answers_id)
            planned[client.interface] = held
        for key, consumer in self._consumers.items():
            client = consumer.client
            if client.interface in roles:
                of_client = self._class_of(roles[client.interface])
                consuming[key] = of_client.of_consumer(consumer.durable, client.name)

    def _changed(
        self, admissions: Admissions, planned: dict[int, HeldGuards], consuming: dict[Hashable, HeldGuards]
    ) -> list[GuardedClient]:
        """Take over the guards, which the switch has, and return the clients that may not stay. Nothing here fails."""
        for key, held in consuming.items():
            consumer = self._consumers[key]
            released, consumer.held = consumer.held, held
            consumer.set_hand(held.guarding.hand)
            released.of.release(released)
        for interface, held in planned.items():
            before = self._held.get(interface)
            self._held[interface] = held
            if before is not None:
                before.of.release(before)
            stored = self._stored.get(interface)
            if stored is not None:
                self.usage.is_of(interface, stored.owner, held.of.rights)
        leaving = []
        for client, admitted in admissions:
            if admitted is not None and self._is_limited(client, admitted):
                client.admitted = admitted
            else:
                leaving.append(client)
        self.changed()
        return leaving

    def _is_limited(self, client: GuardedClient, admitted: Admitted) -> bool:
        """Limit a client by the quotas and the rate of its roles of now; return False without memory for its rate."""
        rights = self._class_of(_roles_of(admitted)).rights
        if rights.bounds_filters:
            self.usage.has_filters(client.interface, self._switch.filters_of(client.interface))
        self.usage.is_of(client.interface, client.name, rights)
        connection = self._switch.connection_of(client.interface)
        try:
            if connection is not None:
                pace(self._switch, connection, self.rates.of(client.name, None if self.observes else rights.rate))
        except (OutOfMemory, Refused):
            return False
        return True

    # --- guards ------------------------------------------------------------------------------------------------------

    def guard(self, client: GuardedClient) -> None:
        """Guard a client from the next message on, in place of what guarded it. Raise OutOfMemory, or Refused beyond a
        limit; then nothing has changed."""
        held = self._class_of(client.admitted.roles or NO_ROLES).of_client(client.name, client.answers_id)
        self._hold(client.interface, held)

    def came(self, client: GuardedClient) -> None:
        """Count a client that is served from now on."""
        self.usage.came(client.interface, client.name, self.class_of(client).rights, Counted.CONNECTIONS)

    def gone(self, interface: int) -> None:
        """Release the guards of a client or durable subscription that the switch has forgotten."""
        self._store(interface, None)
        self.usage.gone(interface)
        held = self._held.pop(interface, None)
        if held is not None:
            held.of.release(held)

    def guard_durable(
        self, interface: int, name: str, owner: str, filters: int, roles: frozenset[str] = NO_ROLES
    ) -> None:
        """Let a durable subscription, a subscriber of the switch, store only what its owner may have. `filters`: their
        number; `roles`: of an owner that the rules do not list. Raise OutOfMemory, or Refused beyond a limit."""
        stored = StoredFor(name, owner, roles)
        of_owner = self._class_of(self._roles_of_owner(stored))
        self._hold(interface, of_owner.of_durable(name, owner))
        self._store(interface, stored)
        self.usage.came(interface, owner, of_owner.rights, Counted.DURABLES, filters)

    def guard_consumer(
        self, key: Hashable, client: GuardedClient, durable: str, set_hand: Callable[[int], object]
    ) -> None:
        """Let a consumer of a durable subscription get only what its client may have. `set_hand` is called with the
        guard, now and after each change. Raise OutOfMemory, or Refused beyond a limit."""
        roles = client.admitted.roles or NO_ROLES
        held = self._class_of(roles).of_consumer(durable, client.name)
        set_hand(held.guarding.hand)
        self._consumers[key] = Consuming(client, durable, set_hand, held)

    def consumer_gone(self, key: Hashable) -> None:
        """Release the guard of a consumer that the switch no longer has."""
        consumer = self._consumers.pop(key, None)
        if consumer is not None:
            consumer.held.of.release(consumer.held)

    def gets(self, interface: int, attributes: Mapping[str, Value]) -> bool:
        """Return whether a message that satisfies a filter of this subscriber of the switch is handed to it."""
        held, stored = self._held.get(interface), self._stored.get(interface)
        if held is None or self.observes:
            return True
        rights, name = held.of.rights, held.guarding.name
        found = rights.sees(name, attributes) if stored is None else rights.sees_of(stored.name, name, attributes)
        return found.allowed

    def narrowed(self, interface: int, subscription: int, packed: tuple[bytes, ...]) -> tuple[bytes, ...] | None:
        """Return the filters of a subscription of this subscriber of the switch AND-ed with the rules of who receives
        its messages, `packed` itself if they leave it whole; None if they would be too many or too long."""
        held = self._held.get(interface)
        return packed if held is None else held.of.narrowed(held, subscription, packed)

    def announced(self, interface: int, subscription: int, packed: tuple[bytes, ...]) -> tuple[bytes, ...]:
        """Return the filters to state to neighbours for a subscription, of the worker group of `packed`."""
        found = self.narrowed(interface, subscription, packed)
        if found is None or found == packed:
            return packed
        group = group_of(packed[0])
        return tuple(of_group(each, group) for each in found) if group else found

    def rights_of_owner(self, owner: str) -> ClassRights:
        """Return what an owner of durable subscriptions may do; if the rules do not list it, by its roles at the last
        making."""
        return self._class_of(self._roles_of_owner(StoredFor("", owner, self._roles.get(owner, NO_ROLES)))).rights

    def _roles_of_owner(self, stored: StoredFor) -> frozenset[str]:
        found = self.rules.of(stored.owner)
        return stored.roles if found is None else frozenset(found.rights.names)

    def _store(self, interface: int, stored: StoredFor | None) -> None:
        """Record for whom a subscriber of the switch stores; None: it does not any longer."""
        before = self._stored.pop(interface, None)
        if stored is not None:
            self._stored[interface] = stored
            if stored.roles:
                self._roles[stored.owner] = stored.roles
        if (
            before is not None
            and before.roles
            and not any(each.owner == before.owner for each in self._stored.values())
        ):
            self._roles.pop(before.owner, None)

    def figures(self) -> GuardFigures:
        """Return the sums of the counters of all guards of now."""
        found = [figures for each in self._classes.values() for figures in each.figures()]
        return GuardFigures(*map(sum, zip(*found, strict=True))) if found else GuardFigures(0, 0, 0)

    def _hold(self, interface: int, held: HeldGuards) -> None:
        try:
            self._switch.guard(interface, held.guarding)
        except BaseException:
            held.of.release(held)
            raise
        before = self._held.get(interface)
        self._held[interface] = held
        if before is not None:
            before.of.release(before)


def _roles_of(admitted: Admitted | None) -> frozenset[str]:
    return (admitted.roles if admitted is not None else None) or NO_ROLES

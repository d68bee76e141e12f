"""The rules for a history of durable subscriptions, judged from outside.

Law: it imports nothing of the project, and knows of a subscription what its creator requested and of a message what its
publisher sent. Each rule raises Wrong with its name: D1 delivered or counted as lost; D2 once, unless marked; D3 order
of a publisher and of a value; D4 only matching messages; D5 one consumer at a time; D6 losses counted right; D7 a
position always means one message; D8 exactly as many failed attempts as allowed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

MessageKey = tuple[int, int]


class Wrong(AssertionError):
    """A rule was broken."""


@dataclass(frozen=True)
class Wanted:
    """The request for a durable subscription, as far as the rules need it."""

    wants: Callable[[dict[str, object]], bool]
    ack_wait_ms: int
    order_by: str = ""
    latest_by: str = ""
    dead_letter: str = ""
    lets_go: bool = False
    """By its terms: bounds, ages or newer values. A crash may undo that something was let go, which then comes late."""
    attempts: int = 0
    """How many may fail; 0: any number."""


@dataclass
class Seen:
    """The observations of one durable subscription since it was created."""

    wanted: Wanted
    is_owed: bool = False
    owed: set[MessageKey] = field(default_factory=set)
    offered: set[MessageKey] = field(default_factory=set)
    given: dict[int, MessageKey] = field(default_factory=dict)
    given_ids: set[MessageKey] = field(default_factory=set)
    given_directly: set[MessageKey] = field(default_factory=set)
    attempts: Counter[int] = field(default_factory=Counter)
    done: set[int] = field(default_factory=set)
    surely_done: set[int] = field(default_factory=set)
    holders: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Position: the member that has it, and until when."""
    last_holder: dict[int, int] = field(default_factory=dict)
    lost: dict[str, int] = field(default_factory=dict)
    order: dict[int, int] = field(default_factory=dict)
    """Position: of all that was given, which one it was last."""
    failures: Counter[int] = field(default_factory=Counter)
    has_begun: bool = False
    """With what was in the log, which has a record of each try; or in an earlier life, of which little is known."""
    may_come_late: bool = False
    """Skipped messages, as a crash may undo that; messages copied in the log before the subscription began with it."""

    def is_dead(self, position: int) -> bool:
        """Return whether as many attempts with it failed as may."""
        return 0 < self.wanted.attempts <= self.failures[position]


class Judge:
    """Tell it all that happens, in order."""

    def __init__(self) -> None:
        self.durables: dict[str, Seen] = {}
        self.sent: dict[MessageKey, dict[str, object]] = {}
        self.attempts: Counter[MessageKey] = Counter()
        self.plain: set[MessageKey] = set()
        self.members: dict[int, str] = {}
        self.now_ms = 0
        self.position_is: dict[tuple[str, int, int], MessageKey] = {}
        self.makings: Counter[str] = Counter()
        self.could_die: defaultdict[str, dict[tuple[str, int, int], MessageKey]] = defaultdict(dict)
        """By name of a subscription for dead letters: deliveries of the subscriptions that name it, by name, creation
        and position. It may get one message from each of them, and because it matches the message itself."""
        self.may_die: defaultdict[str, set[MessageKey]] = defaultdict(set)
        """As above: messages that were rejected there or have reached the delivery limit."""
        self.kept_by: dict[MessageKey, set[tuple[str, int]]] = {}
        """By message: the subscriptions that were confirmed when it was first sent, with which creation of the name."""

    # ---- requests ----

    def durable_asked(self, name: str, wanted: Wanted, waiting: Collection[MessageKey] = ()) -> None:
        """`waiting`: what was sent before and may be taken in later, as its publisher waits for the disk."""
        if name not in self.durables:
            self.durables[name] = Seen(wanted, offered={key for key in waiting if wanted.wants(self.sent[key])})
            self.makings[name] += 1

    def began_with_the_log(self, name: str) -> None:
        """It may have what was sent before it was asked for."""
        seen = self.durables[name]
        seen.has_begun = seen.may_come_late = True
        seen.offered |= {key for key, attributes in self.sent.items() if seen.wanted.wants(attributes)}

    def durable_confirmed(self, name: str) -> None:
        if name in self.durables:
            self.durables[name].is_owed = True

    def durable_gone(self, name: str) -> None:
        """It was removed, or its lease ended: nothing is owed any longer."""
        self.durables.pop(name, None)

    def published(self, key: MessageKey, attributes: dict[str, object], *, is_plain: bool) -> None:
        """A message that is sent again is no other: it is owed to those that it was owed to the first time. `is_plain`:
        it is not stored on request, so that a subscription may lose it, and after a crash its arrival is unknown."""
        if is_plain:
            self.plain.add(key)
        self.sent[key] = attributes
        kept_by = {(name, self.makings[name]) for name, seen in self.durables.items() if seen.is_owed}
        self.kept_by.setdefault(key, kept_by)
        self.attempts[key] += 1
        for seen in self.durables.values():
            if seen.wanted.wants(attributes):
                seen.offered.add(key)

    def publish_confirmed(self, key: MessageKey) -> None:
        for name, seen in self.durables.items() if key not in self.plain else ():
            if (name, self.makings[name]) in self.kept_by[key] and seen.wanted.wants(self.sent[key]):
                seen.owed.add(key)

    # ---- members ----

    def consumer(self, member: int, name: str, after: int = 0) -> None:
        """`after`: what nobody has, up to this position, is passed over."""
        self.members[member] = name
        seen = self.durables.get(name)
        if seen is not None and after:
            seen.may_come_late = True
            seen.done |= {position for position in seen.given if position <= after and position not in seen.holders}

    def left(self, member: int, *, is_lost: bool = False) -> None:
        """It is attached no more. `is_lost`: as its peer went away, so that what it had first has failed once."""
        seen = self.durables.get(self.members.pop(member))
        if seen and is_lost:
            held = [p for p, (holder, _) in seen.holders.items() if holder == member]
            if held:
                self._failed(seen, min(held, key=seen.order.__getitem__))
        for position in [p for p, (holder, _) in seen.holders.items() if holder == member] if seen else []:
            del seen.holders[position]

    def given(
        self, member: int, position: int, key: MessageKey, deliveries: int, *, replayed: bool, maybe: bool, dead: bool
    ) -> None:
        if member not in self.members:
            raise Wrong(f"D4: {key} was delivered to a connection that is no consumer")
        name = self.members[member]
        seen = self.durables[name]
        self._position_is_one_message(name, position, key)
        if not self._may_get(name, key):
            raise Wrong(f"D4: {name} does not match {key}")
        if not self._may_have_died(name, key) if dead else not seen.wanted.wants(self.sent[key]):
            raise Wrong(f"D4: {key} of {name} is marked as dead letter: {dead}")
        if dead and key not in self.may_die[name]:
            raise Wrong(f"D8: {key} is a dead letter, but was not rejected and had attempts left")
        if replayed:
            return
        self._once(seen, position, key, deliveries, may_be_second=maybe or dead)
        self._one_at_a_time(seen, position, member)
        self._in_order(seen, position, key, member, maybe)
        if seen.is_dead(position):
            raise Wrong(f"D8: {key} is delivered to {member} after {seen.failures[position]} failed attempts")
        seen.attempts[position] += 1
        seen.order[position] = sum(seen.attempts.values())
        seen.given[position] = key
        seen.given_ids.add(key)
        if not dead:
            seen.given_directly.add(key)
        self.could_die[seen.wanted.dead_letter][name, self.makings[name], position] = key
        seen.holders[position] = (member, self.now_ms + seen.wanted.ack_wait_ms)
        seen.last_holder[position] = member

    def _may_get(self, name: str, key: MessageKey) -> bool:
        return self.durables[name].wanted.wants(self.sent[key]) or self._may_have_died(name, key)

    def _position_is_one_message(self, name: str, position: int, key: MessageKey) -> None:
        first = self.position_is.setdefault((name, self.makings[name], position), key)
        if first != key:
            raise Wrong(f"D7: position {position} of {name} was {first} and is {key}")

    def _once(self, seen: Seen, position: int, key: MessageKey, deliveries: int, *, may_be_second: bool) -> None:
        if position in seen.surely_done:
            raise Wrong(f"D2: {key} is delivered after its acknowledgement was confirmed")
        if deliveries != seen.attempts[position] + 1:
            raise Wrong(f"D2: {key} states delivery {deliveries}, it is {seen.attempts[position] + 1}")
        if deliveries == 1 and key in seen.given_directly and not may_be_second:
            raise Wrong(f"D2: {key} is delivered twice without a mark")

    def _may_have_died(self, name: str, key: MessageKey) -> bool:
        return key in self.could_die[name].values()

    def _one_at_a_time(self, seen: Seen, position: int, member: int) -> None:
        holder, until = seen.holders.get(position, (member, 0))
        if until > self.now_ms:
            raise Wrong(f"D5: position {position} goes to {member} while {holder} has it")

    def _in_order(self, seen: Seen, position: int, key: MessageKey, member: int, maybe: bool) -> None:
        name = seen.wanted.order_by
        value = self.sent[key].get(name) if name else None
        for other, (holder, until) in seen.holders.items():
            if value is not None and until > self.now_ms and self.sent[seen.given[other]].get(name) == value:
                if holder != member:
                    raise Wrong(f"D5: {key} goes to another consumer than {seen.given[other]} with the same value")
                if other > position:
                    raise Wrong(f"D3: {key} goes behind {seen.given[other]}, which a consumer has")
        for other, before in seen.given.items():
            is_back = other < position and other not in seen.done and other not in seen.holders
            if is_back and value is not None and self.sent[before].get(name) == value:
                raise Wrong(f"D3: {key} goes before {before}, which is redelivered")
        if position in seen.given or (maybe and (seen.wanted.lets_go or seen.may_come_late)):
            return
        later = [k for p, k in seen.given.items() if k[0] == key[0] and k[1] > key[1]]
        if name:
            later = [k for k in later if self.sent[k].get(name) == value and value is not None]
        is_late = any(self.attempts[k] == 1 for k in later) and self.attempts[key] == 1
        if is_late and not self._may_have_died(self.members[member], key):
            raise Wrong(f"D3: {key} is first delivered behind {later}")

    # ---- acknowledgements ----

    def acked(self, member: int, positions: list[int], verdict: str) -> None:
        seen = self.durables.get(self.members.get(member, ""))
        for position in sorted(positions) if seen else []:
            if seen.last_holder.get(position) != member:
                continue
            holder, _ = seen.holders.get(position, (member, 0))
            if verdict == "extend" and position in seen.holders and holder == member:
                seen.holders[position] = (member, self.now_ms + seen.wanted.ack_wait_ms)
            elif verdict == "done":
                seen.done.add(position)
                seen.holders.pop(position, None)
            elif verdict in ("again", "reject"):
                if verdict == "again" and position in seen.holders:
                    self._take_along(seen, position)
                    self._failed(seen, position)
                seen.holders.pop(position, None)
                if verdict == "reject":
                    seen.done.add(position)
                    self.may_die[seen.wanted.dead_letter].add(seen.given[position])

    def ack_confirmed(self, name: str, positions: list[int], was: dict[int, MessageKey]) -> None:
        """`was`: what these positions were, of those that the member had."""
        seen = self.durables.get(name)
        if seen is not None:
            seen.surely_done |= {position for position in positions if position in was}

    def reject_confirmed(self, name: str, keys: list[MessageKey]) -> None:
        target = self.durables.get(self.durables[name].wanted.dead_letter) if name in self.durables else None
        if target is not None and target.is_owed:
            target.owed |= set(keys)

    def _failed(self, seen: Seen, position: int) -> None:
        seen.failures[position] += 1
        if seen.is_dead(position):
            self.may_die[seen.wanted.dead_letter].add(seen.given[position])

    def _take_along(self, seen: Seen, position: int) -> None:
        name = seen.wanted.order_by
        value = self.sent[seen.given[position]].get(name) if name else None
        for other in [o for o in seen.holders if o > position]:
            if value is not None and self.sent[seen.given[other]].get(name) == value:
                del seen.holders[other]

    # ---- time, losses, the disk ----

    def time_is(self, now_ms: int) -> None:
        """What members have had for too long comes back."""
        self.now_ms = now_ms
        for seen in self.durables.values():
            for position in sorted(p for p, (_, until) in seen.holders.items() if until <= now_ms):
                if position in seen.holders:
                    self._take_along(seen, position)
                    del seen.holders[position]
                    self._failed(seen, position)

    def told_lost(self, member: int, how: str, in_all: int) -> None:
        if member in self.members:
            seen = self.durables[self.members[member]]
            if in_all < seen.lost.get(how, 0):
                raise Wrong(f"D6: {how} in all was {seen.lost[how]} and is {in_all}")
            seen.lost[how] = in_all

    def crashed(self) -> None:
        self.members.clear()
        for seen in self.durables.values():
            seen.holders.clear()
            seen.last_holder.clear()
            seen.attempts.clear()
            seen.order.clear()
            seen.failures.clear()

    def at_rest(self, name: str, came: int, open_: int, recorded: int) -> None:
        """All that could be delivered was, and was acknowledged. `came`: what the keep got in all; `recorded`: losses
        by the records on disk."""
        seen = self.durables[name]
        sent = sum(self.attempts[key] if key in self.plain else 1 for key in seen.offered) + len(self.could_die[name])
        if came > sent and not seen.has_begun:
            raise Wrong(f"D2: {name} got {came}, but {sent} were sent")
        if open_:
            raise Wrong(f"D1: {open_} messages of {name} are stuck")
        lost = sum(seen.lost.values())
        missing = {key for key in seen.owed - seen.given_ids if not self._was_replaced(seen, key)}
        if len(missing) > lost:
            raise Wrong(f"D1: {name} misses {sorted(missing)}, and reported {lost} lost")
        if lost > sent:
            raise Wrong(f"D6: {name} reported {lost} lost, but {sent} were sent")
        if lost != recorded:
            raise Wrong(f"D6: {name} reported {lost} lost, but its records {recorded}")

    def _was_replaced(self, seen: Seen, key: MessageKey) -> bool:
        name = seen.wanted.latest_by
        value = self.sent[key].get(name) if name else None
        newer = [k for k, attributes in self.sent.items() if k != key and attributes.get(name) == value]
        return value is not None and any(k in seen.offered for k in newer)

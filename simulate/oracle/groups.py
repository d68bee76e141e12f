"""Invariant 15: one member of a worker group receives each message, and never two.

Law: required deliveries follow from the truth alone. For each entry of a message into the network and each group, two
members never receive the message. One member must receive it if all routers know the routers of all members that may
have been chosen, and the paths to them stayed whole; a single router whose last member has just left forwards the
message, which is no excuse. If no member received it for another reason, some router or line has counted the reason,
unless paths were just changing. At rest there is no excuse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tamis.simulate.oracle.deliveries import NOT_JUDGED, Deliveries, Entrance, Judged, Patience, Report
from tamis.simulate.oracle.paths import component, graph_of
from tamis.simulate.oracle.truth import FOREVER, Truth

Entry = tuple[int, int, int]
"""The source, epoch and counter of a message where it entered."""


class EntranceWithChoices(Entrance, Protocol):
    @property
    def choices(self) -> Mapping[int, int]: ...


class SharedMessage(Judged, Protocol):
    """The part of a message that is read here, besides that of `Judged`. Keys are an Entry, or (Entry, group)."""

    @property
    def chosen(self) -> Mapping[Any, EntranceWithChoices]: ...

    @property
    def shared(self) -> dict[Any, list[int]]: ...

    @property
    def unshared(self) -> Mapping[Any, str]: ...

    @property
    def refusals(self) -> Mapping[str, int]: ...


@dataclass(slots=True, eq=False)
class Membership:
    """A filter of a client in a group that was in force for a while, at one router."""

    client: int
    router: int
    group: int
    contents: int
    since_us: int
    until_us: int = FOREVER


class Groups:
    def __init__(self, truth: Truth, patience: Patience, report: Report, deliveries: Deliveries) -> None:
        """`deliveries` determines which routes stayed whole."""
        self.counts: Counter[str] = Counter()
        self._truth, self._patience, self._report = truth, patience, report
        self._deliveries = deliveries
        self._history: list[Membership] = []
        self._in_force: dict[tuple[int, int, int], Membership] = {}

    # Events.

    def joined(self, client: int, router: int, group: int, wish: int, contents: int) -> None:
        member = Membership(client, router, group, contents, self._truth.now_us)
        self._in_force[client, group, wish] = member
        self._history.append(member)

    def left(self, client: int, group: int, wish: int) -> None:
        member = self._in_force.pop((client, group, wish), None)
        if member is not None:
            member.until_us = self._truth.now_us

    def shared(self, client: int, message: SharedMessage, group: int, entry: Entry) -> None:
        """Record that a client received a message as a member; report a second member, and a client that is no
        member."""
        self.counts["shared"] += 1
        receivers = message.shared.setdefault((entry, group), [])
        receivers.append(client)
        if len(receivers) > 1:
            self._report(15, f"members {receivers} of group {group:x} received message {message.serial}")
        if not self.contents(client, group) >> message.content & 1:
            self._report(15, f"client {client} received message {message.serial}, and is no member for it")

    def contents(self, client: int, group: int) -> int:
        """Return the contents to which a client subscribes as a member of a group."""
        bits = 0
        for (whose, of, _), member in self._in_force.items():
            if (whose, of) == (client, group):
                bits |= member.contents
        return bits

    def asked(self) -> dict[int, dict[int, int]]:
        """Return by router and group the contents to which its members subscribe."""
        asked: dict[int, dict[int, int]] = {}
        for member in self._in_force.values():
            groups = asked.setdefault(member.router, {})
            groups[member.group] = groups.get(member.group, 0) | member.contents
        return asked

    def forget(self, before_us: int) -> None:
        self._history = [member for member in self._history if member.until_us > before_us - self._patience.gone_us]

    # Judgement.

    def at_rest(self, message: SharedMessage, source: int) -> None:
        """Judge a message that entered at `source` at rest: one member of each group with reachable members received
        it."""
        truth = self._truth
        reachable = component(graph_of(truth.edges(truth.now_us), truth.living()), source)
        wanting = {
            member.group
            for member in self._in_force.values()
            if member.router in reachable and member.contents >> message.content & 1
        }
        for group in sorted(wanting):
            self.counts["required of groups at rest"] += 1
            if self._received(message, group) != 1:
                self._report(15, f"no member of group {group:x} received message {message.serial}, at rest")

    def in_motion(self, message: SharedMessage) -> None:
        if self._truth.is_tainted:
            return
        groups = sorted({member.group for member in self._history if member.contents >> message.content & 1})
        for group in groups if message.chosen else ():
            self._judge(message, group, next(iter(message.chosen.values())))
        extra = Counter(group for _, group in message.shared)
        self.counts["members after a second try"] += sum(count - 1 for count in extra.values())

    @staticmethod
    def _received(message: SharedMessage, group: int) -> int:
        return sum(len(receivers) for (_, of), receivers in message.shared.items() if of == group)

    def _judge(self, message: SharedMessage, group: int, first: EntranceWithChoices) -> None:
        is_required = self._is_required(message, group, first)
        self.counts["required of groups in motion"] += is_required
        if self._received(message, group) > 0:
            return
        if is_required:
            self._report(
                15, f"no member of group {group:x} received message {message.serial}, although its paths worked"
            )
        elif any(of == group for _, of in message.unshared):
            self.counts["for members, dropped by a router"] += 1
        elif message.lost or message.refusals:
            self.counts["for members, lost or refused"] += 1
        elif group in first.choices and self._is_calm(group, first, message):
            self._report(
                15, f"message {message.serial} for group {group:x} was lost, and no router or line counted why"
            )
        elif group in first.choices:
            self.counts["for members, while ways changed"] += 1

    def _is_calm(self, group: int, first: EntranceWithChoices, message: SharedMessage) -> bool:
        """Return whether the routes to the chosen router worked, and no change that may break them happened since all
        routers last knew the topology: then some router or line has handled the message. A router behind links that
        have fallen silent may still be chosen."""
        calm_us, until_us = self._deliveries.calm_before(first, message.last_us), message.last_us
        if calm_us is None or self._truth.has_ended(calm_us, until_us + self._patience.hold_us):
            return False
        return self._deliveries.ways_stayed(first.router, first.choices[group], calm_us, until_us, message.content)

    def _is_required(self, message: SharedMessage, group: int, trial: Entrance) -> bool:
        """Return whether a member must have received the message."""
        until_us = message.last_us
        calm_us = self._deliveries.calm_before(trial, until_us)
        if calm_us is None or len(message.chosen) > 1 or message.lost.keys() & NOT_JUDGED:
            return False
        members = list(self._candidates(message, group, calm_us, until_us))
        staying = {m.router for m in members if m.until_us > until_us}
        known = {m for m in members if m.until_us > until_us and m.since_us <= calm_us - self._patience.asked_us}
        gone = {m.router for m in members if m.until_us <= until_us} - {m.router for m in known}
        if not known or len(gone) > 1:
            return False
        ways = [(trial.router, router) for router in staying | gone] + [(old, new) for old in gone for new in staying]
        return all(self._deliveries.ways_stayed(start, end, calm_us, until_us, message.content) for start, end in ways)

    def _candidates(self, message: SharedMessage, group: int, calm_us: int, until_us: int) -> Iterable[Membership]:
        for member in self._history:
            is_asked = member.group == group and member.contents >> message.content & 1
            if is_asked and member.since_us <= until_us and member.until_us > calm_us - self._patience.gone_us:
                yield member

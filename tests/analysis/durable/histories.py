"""Histories of one durable subscription, as a router would record them: stored, delivered, acknowledged, with crashes.

Law: what became of each message is known here as it happens, and from no record. A crash takes back what left within
SETTLE_US before it, or does not, as chance has it, and takes records from the end of the life's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from tamis.analysis.durable.catalog import DurableCatalog, made_of
from tamis.analysis.durable.fate import DurableEvent, DurableFate, judged

ROUTER: Final = "a"
DURABLE: Final = 7
FORM: Final = '[["n",">=",0]]'
SECOND_US: Final = 1_000_000
SETTLE_US: Final = 5 * SECOND_US
LIVES: Final = 3
STEPS: Final = 60
POLICY: Final = {"for_ms": 0, "bytes": 1 << 30, "count": 4, "deliveries_max": 3}


@dataclass(slots=True)
class Stored:
    position: int
    stored_us: int
    epoch: int
    expires_us: int = 0
    out: bool = False
    tries: int = 0
    end: str = ""
    end_us: int = 0
    was_given: bool = False


@dataclass(slots=True)
class DurableHistory:
    """`terms` are those of the record `keep`."""

    chance: Random
    policy: dict[str, Any] = field(
        default_factory=lambda: {"terms": POLICY, "overflow": "drop-oldest", "dead_letter": "dead", "latest_by": "k"}
    )
    messages: list[Stored] = field(default_factory=list)
    events: list[tuple[int, DurableEvent]] = field(default_factory=list)
    """With the position of each."""
    durable_events: list[dict[str, Any]] = field(default_factory=list)
    lives: list[dict[str, Any]] = field(default_factory=list)
    now_us: int = 1_000 * SECOND_US
    epoch: int = 0
    n: int = 0

    def lived(self) -> DurableHistory:
        for _ in range(LIVES):
            self._live(is_broken=self.chance.random() < 0.7)
        return self

    # --- what happens ----------------------------------------------------------------------------------------------

    def _live(self, *, is_broken: bool) -> None:
        self.epoch, self.n, begin = self.epoch + 1, 0, len(self.events)
        first_us = self.now_us
        self._durable_event("made" if self.epoch == 1 else "found", name="k", client="c", **self.policy, filters=[FORM])
        self._durable_event("attached", connection=1, consumer=1)
        for message in self.messages:
            message.out, message.tries = False, 0
        for _ in range(STEPS):
            self.now_us += self.chance.randrange(SECOND_US)
            self.chance.choices((self._publish, self._give, self._leave, self._come_back), (4, 5, 3, 1))[0]()
        if is_broken:
            self._crash(begin)
        last_us = max((event.t_us for _, event in self.events[begin:]), default=first_us)
        end = "broke off" if is_broken else "stopped"
        ends_us = last_us if is_broken else self.now_us
        self.lives.append({"router": ROUTER, "epoch": self.epoch, "first_us": first_us, "last_us": ends_us, "end": end})
        self.now_us += SECOND_US

    def _publish(self) -> None:
        self.messages.append(Stored(1_000 * self.epoch + len(self.messages), self.now_us, self.epoch))
        message = self.messages[-1]
        message.expires_us = self.now_us + 20 * SECOND_US if self.chance.random() < 0.3 else 0
        self._event(message, "kept", source="publisher", expires_us=message.expires_us or None)

    def _give(self) -> None:
        waiting = [message for message in self.messages if not message.end and not message.out]
        if waiting:
            message = waiting[0]
            message.out, message.tries, message.was_given = True, message.tries + 1, True
            is_old = message.epoch < self.epoch
            self._event(message, "given", deliveries=message.tries, maybe_duplicate=is_old or None, connection=1)

    def _come_back(self) -> None:
        out = [message for message in self.messages if message.out]
        if out:
            self.chance.choice(out).out = False

    def _leave(self) -> None:
        out = [message for message in self.messages if message.out]
        waiting = [message for message in self.messages if not message.end and not message.out]
        over = [message for message in waiting if 0 < message.expires_us <= self.now_us]
        if over:
            self._end(self.chance.choice(over), "expired")
        elif out and self.chance.random() < 0.8:
            message = self.chance.choice(out)
            self._end(message, "dead" if message.tries >= POLICY["deliveries_max"] else "acked")
        elif waiting:
            self._end(waiting[0], self.chance.choice(("dropped", "replaced")))

    def _end(self, message: Stored, how: str) -> None:
        connection = 1 if message.out else None
        message.out, message.end, message.end_us = False, how, self.now_us
        self._event(message, how, connection=connection, deliveries=message.tries or None)

    def _crash(self, begin: int) -> None:
        """Records are lost from the end, and what was not on disk is undone; what was only kept may be gone."""
        lost = min(self.chance.randrange(4), len(self.events) - begin)
        last_us = self.events[len(self.events) - lost - 1][1].t_us if len(self.events) > begin + lost else self.now_us
        del self.events[len(self.events) - lost :]
        for message in list(self.messages):
            if message.end and message.end_us > last_us - SETTLE_US and self.chance.random() < 0.5:
                message.end = ""
            is_late = message.stored_us > last_us - SETTLE_US and not message.was_given
            if is_late and not message.end and self.chance.random() < 0.5:
                self.messages.remove(message)

    # --- records ---------------------------------------------------------------------------------------------------

    def _event(self, message: Stored, what: str, **more: Any) -> None:
        self.n += 1
        fields = dict.fromkeys(DurableEvent._fields) | {"origin": "0", "number": message.position} | more
        fields |= {"epoch": self.epoch, "n": self.n, "t_us": self.now_us, "what": what}
        self.events.append((message.position, DurableEvent(**fields)))

    def _durable_event(self, what: str, **more: Any) -> None:
        names = ("name", "client", "connection", "attachment", "filters", "terms", "overflow", "order_by", "latest_by")
        blank = dict.fromkeys((*names, "dead_letter", "doubts", "residual"))
        place = {"router": ROUTER, "epoch": self.epoch, "n": len(self.durable_events), "t_us": self.now_us}
        self.durable_events.append(blank | place | {"durable": DURABLE, "what": what} | more)

    # --- the audit -------------------------------------------------------------------------------------------------

    def catalog(self, holes: tuple[dict[str, Any], ...] = ()) -> DurableCatalog:
        catalog = made_of(self.durable_events, self.lives, holes, {FORM: 0}, SETTLE_US)
        for position, event in self.events:
            if event.what == "given" and event.deliveries == 1:
                place = ROUTER, event.epoch, DURABLE
                catalog.given_to[place] = max(catalog.given_to.get(place, 0), position)
        return catalog

    def audited(self, holes: tuple[dict[str, Any], ...] = ()) -> dict[int, DurableFate]:
        """What the audit says of each position."""
        catalog = self.catalog(holes)
        found: dict[int, list[DurableEvent]] = {}
        for position, event in sorted(self.events, key=lambda each: (each[1].epoch, each[1].n)):
            found.setdefault(position, []).append(event)
        return {position: judged(catalog, ROUTER, DURABLE, position, events) for position, events in found.items()}

"""A history of durable subscriptions, as lines that native/tests/test_durables_history.c prints, before the judge of
durables_oracle.py.

Law: what clients see between two lines "read" was sent by one or several calls, so it is taken in by rising position. A
line has the time of the switch; what it tells was decided before that time took anything back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from tests.native.durables_oracle import Judge, MessageKey, Wanted

PUBLISHER: Final = 1
VERDICTS: Final = ("done", "again", "extend", "reject")
WAYS: Final = ("expired", "dropped", "undeliverable", "skipped")
REPLAYED, MAYBE, DEAD = 1, 2, 4


def is_kind(*kinds: int) -> Callable[[dict[str, object]], bool]:
    return lambda attributes: attributes["kind"] in kinds


WAIT_MS: Final = 30_000
DURABLES: Final = {
    "plain": Wanted(is_kind(0), WAIT_MS, dead_letter="dead", attempts=3),
    "dead": Wanted(lambda attributes: attributes["kind"] == 0 and attributes["value"] == 0, WAIT_MS),
    "ordered": Wanted(is_kind(0, 1, 2), WAIT_MS, order_by="value"),
    "small": Wanted(is_kind(1), WAIT_MS, lets_go=True, attempts=2),
    "full": Wanted(is_kind(2), WAIT_MS),
    "aged": Wanted(is_kind(1), WAIT_MS, lets_go=True),
    "latest": Wanted(is_kind(0), WAIT_MS, latest_by="value", lets_go=True),
}
"""What is asked of each kind, as DURABLES_OF_KINDS of durables_lives.c has it."""
NAMES: Final = tuple(DURABLES)


class History:
    def __init__(self) -> None:
        self.judge = Judge()
        self._waiting: set[MessageKey] = set()
        self._answers: dict[int, Callable[[], None]] = {}
        self._deliveries: list[tuple[int, int, int, int, int]] = []
        self._losses: list[tuple[int, int, str]] = []
        self._stored: list[MessageKey] = []

    def take(self, lines: Iterable[str]) -> None:
        """Take in what happened; raise Wrong where a rule was broken."""
        for line in lines:
            time, what, *numbers = line.split()
            self.judge.now_ms = int(time)
            getattr(self, f"_{what}")(*map(int, numbers))

    # ---- subscriptions ----

    def _made(self, kind: int) -> None:
        self.judge.durable_asked(NAMES[kind], DURABLES[NAMES[kind]], self._waiting)

    def _began(self, kind: int) -> None:
        self.judge.began_with_the_log(NAMES[kind])

    def _owed(self, kind: int) -> None:
        self.judge.durable_confirmed(NAMES[kind])

    def _gone(self, kind: int) -> None:
        self.judge.durable_gone(NAMES[kind])

    def _rest(self, kind: int, came: int, open_: int, recorded: int) -> None:
        self.judge.at_rest(NAMES[kind], came, open_, recorded)

    def _crashed(self) -> None:
        self.judge.crashed()
        self._answers.clear()

    # ---- what is asked ----

    def _sent(self, counter: int, kind: int, value: int, is_plain: int) -> None:
        key = (PUBLISHER, counter)
        self._waiting.add(key)
        self.judge.published(key, {"kind": kind, "value": value}, is_plain=bool(is_plain))

    def _consumer(self, member: int, kind: int, after: int) -> None:
        self.judge.consumer(member, NAMES[kind], after)

    def _left(self, member: int, is_lost: int) -> None:
        self.judge.left(member, is_lost=bool(is_lost))

    def _acked(self, member: int, first: int, last: int, verdict: int, request: int) -> None:
        name = self.judge.members[member]
        seen = self.judge.durables[name]
        positions = [p for p in seen.given if first <= p <= last]
        mine = {p: seen.given[p] for p in positions if seen.last_holder.get(p) == member}
        rejected = [key for p, key in mine.items() if p not in seen.done and not seen.is_dead(p)]
        self.judge.acked(member, positions, VERDICTS[verdict])
        dead = seen.wanted.dead_letter  # that there is now; one that is made later gets nothing of this
        makings = self.judge.makings[name], self.judge.makings[dead]
        has_dead = dead in self.judge.durables

        def answered() -> None:
            now = self.judge.makings[name], self.judge.makings[dead]
            if VERDICTS[verdict] == "done" and now[0] == makings[0]:
                self.judge.ack_confirmed(name, list(mine), mine)
            if VERDICTS[verdict] == "reject" and now == makings and has_dead:
                self.judge.reject_confirmed(name, rejected)

        if request:
            self._answers[request] = answered

    # ---- what clients see ----

    def _answered(self, request: int, is_done: int) -> None:
        answered = self._answers.pop(request)
        if is_done:
            answered()

    def _confirmed(self, first: int, last: int) -> None:
        self._stored += [(PUBLISHER, counter) for counter in range(first, last + 1)]

    def _given(self, member: int, position: int, counter: int, deliveries: int, bits: int) -> None:
        self._deliveries.append((position, member, counter, deliveries, bits))

    def _lost(self, member: int, way: int, in_all: int) -> None:
        self._losses.append((in_all, member, WAYS[way]))

    def _read(self) -> None:
        self.judge.time_is(self.judge.now_ms)
        for in_all, member, how in sorted(self._losses):  # consumers of a subscription get equal reports, each in order
            self.judge.told_lost(member, how, in_all)
        for position, member, counter, deliveries, bits in sorted(self._deliveries):
            flags = {"replayed": bool(bits & REPLAYED), "maybe": bool(bits & MAYBE), "dead": bool(bits & DEAD)}
            self.judge.given(member, position, (PUBLISHER, counter), deliveries, **flags)
        self._waiting -= set(self._stored)
        for key in self._stored:
            self.judge.publish_confirmed(key)
        self._losses, self._deliveries, self._stored = [], [], []

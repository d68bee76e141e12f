"""The outcome of one message in one durable subscription, and its faults.

    kept ──> given, again ... ──> acked | expired | dropped | replaced | dead | undeliverable | damaged | skipped
                              └── waiting, unless its durable subscription is removed

Law: its records are read in the order in which they were written. A message that has left is never delivered again,
unless a crash came before its leaving was on disk. Nothing is a fault that a missing record would explain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from tamis.analysis.durable.catalog import TURN_US, DurableCatalog, KnownDurable

LEAVING: Final = ("acked", "expired", "dropped", "replaced", "dead", "undeliverable", "damaged", "skipped")
FATES: Final = (*LEAVING, "waiting", "forgotten", "unknown")
"""`forgotten`: removed with its durable subscription while it waited; `unknown`: it was not on disk, or not in the
records, at a crash."""
DURABLE_FAULTS: Final = {
    "missing": "published at the subscription's router and matched, but not stored",
    "missing at home": "stored by another router for this one, which neither stored it nor reported it as lost",
    "passed over": "later messages were delivered, but this one was not delivered and has not left",
    "stray": "does not match the subscription, or was never stored",
    "stranger": "delivered to, or acknowledged by, a connection that was no consumer",
    "uncounted": "delivered again, but counted as a first delivery",
    "late": "delivered after it had left",
    "left twice": "left the subscription more than once",
    "twice": "stored at two positions",
    "against terms": "left with an outcome, or at a time, that the policy does not allow",
    "order": "stored or delivered behind a message that was published later",
    "untold": "messages were lost and not reported, although there were consumers",
    "vanished": "the subscription was missing after a start, but had not been removed",
}
CUSTODY_VERDICTS: Final = {
    "stored": "stored by their home",
    "passed": "passed over by their home, which no longer wanted them or had them",
    "given up": "given up by the router where they entered",
    "lost": "lost with the disk of the router where they entered, as their home has reported",
    "pending": "on their way to their home",
    "unknown": "unknown, because records are missing",
    "missing": "missing at their home, and not reported as lost",
}
"""Verdicts on messages that a router stored for another one, their home (`custody.py`)."""


class DurableEvent(NamedTuple):
    """A record of kind `kept` that names a position, with the fields that are judged."""

    epoch: int
    n: int
    t_us: int
    what: str
    origin: str | None
    number: int | None
    maybe_duplicate: bool | None
    source: str | None
    expires_us: int | None
    connection: int | None
    deliveries: int | None


@dataclass(slots=True)
class DurableFate:
    """`faults`: with the time of each."""

    fate: str = "waiting"
    faults: list[tuple[str, int]] = field(default_factory=list)
    kept: DurableEvent | None = None
    left: DurableEvent | None = None
    given: list[DurableEvent] = field(default_factory=list)
    undone: set[int] = field(default_factory=set)
    """Lives in which it had left, which a crash has undone."""


class Case(NamedTuple):
    """A durable subscription of a router, and the known facts about both."""

    catalog: DurableCatalog
    router: str
    number: int
    durable: KnownDurable

    def is_dark_before(self, at_us: int) -> bool:
        """Return whether a record from before that time may be missing."""
        return self.catalog.is_dark(self.router, 0, at_us)

    def is_undone(self, left: DurableEvent, later: DurableEvent) -> bool:
        """Return whether a crash between the two may have undone its leaving."""
        return later.epoch > left.epoch and self.catalog.may_be_undone(self.router, left.epoch, left.t_us)

    def is_member(self, event: DurableEvent) -> bool:
        """Return whether the named consumer was attached then, or may have been."""
        settle_us, place = self.catalog.settle_us, (self.router, event.epoch, self.number)
        if event.connection is not None and self.catalog.was_member(*place, event.connection, event.t_us):
            return True
        return self.catalog.is_dark(self.router, event.t_us - settle_us, event.t_us + settle_us)


def judged(
    catalog: DurableCatalog,
    router: str,
    number: int,
    position: int,
    events: Sequence[DurableEvent],
) -> DurableFate:
    """Judge the message at `position` of a durable subscription by its records, in order."""
    case = Case(catalog, router, number, catalog.durables.get((router, number)) or KnownDurable())
    found = DurableFate()
    for event in events:
        step = _STEPS.get(event.what)
        if step is not None:
            found.faults += [(fault, event.t_us) for fault in step(case, found, event)]
    found.fate = _fate(case, found, events[-1])
    if found.fate == "waiting":
        _look_whether_passed(case, position, found, events[-1])
    return found


Faults = Iterator[str]


def _stored(_: Case, found: DurableFate, event: DurableEvent) -> Faults:
    if found.kept is not None:
        yield "twice"
    else:
        found.kept = event


def _given(case: Case, found: DurableFate, event: DurableEvent) -> Faults:
    before = found.given[-1] if found.given else None
    if found.kept is None and before is None and not case.is_dark_before(event.t_us):
        yield "stray"
    if found.left is not None:
        if case.is_undone(found.left, event):
            found.undone.add(found.left.epoch)
            found.left = None
        else:
            yield "late"
    tries = event.deliveries or 0
    if before is None:
        is_counted = tries <= 1 or case.is_dark_before(event.t_us)
    else:
        is_counted = tries > (before.deliveries or 0) if before.epoch == event.epoch else bool(event.maybe_duplicate)
    if not is_counted:
        yield "uncounted"
    found.given.append(event)
    if not case.is_member(event):
        yield "stranger"


def _replayed(case: Case, found: DurableFate, event: DurableEvent) -> Faults:
    if not case.durable.keeps_past or (found.left is None and not case.is_dark_before(event.t_us)):
        yield "late"
    if not case.is_member(event):
        yield "stranger"


def _left(case: Case, found: DurableFate, event: DurableEvent) -> Faults:
    if found.left is not None and not case.is_undone(found.left, event):
        yield "left twice"
    found.left = event
    if event.what == "acked" and event.connection is not None:
        had = {(each.epoch, each.connection) for each in found.given}
        if (event.epoch, event.connection) not in had and not case.is_dark_before(event.t_us):
            yield "stranger"
    elif case.durable.policy and not _is_allowed(case.durable, found, event):
        yield "against terms"


Step = Callable[[Case, DurableFate, DurableEvent], Faults]
_STEPS: Final[dict[str, Step]] = {
    "kept": _stored,
    "given": _given,
    "replayed": _replayed,
    **dict.fromkeys(LEAVING, _left),
}


def _is_allowed(durable: KnownDurable, found: DurableFate, event: DurableEvent) -> bool:
    """Return whether the policy allows this outcome."""
    kept = found.kept
    match event.what:
        case "expired":
            ends = [kept.expires_us] if kept and kept.expires_us else []
            ends += [kept.t_us + durable.for_us] if kept and durable.for_us else []
            return kept is None or (bool(ends) and event.t_us >= min(ends) - TURN_US)
        case "dropped":
            return durable.overflow == "drop-oldest"
        case "replaced":
            return bool(durable.latest_by)
        case "dead":
            return bool(durable.dead_letter)
        case _:
            return True


def _fate(case: Case, found: DurableFate, last: DurableEvent) -> str:
    """Return the final outcome."""
    if found.left is not None:
        return found.left.what
    durable, catalog, first = case.durable, case.catalog, found.kept or last
    if durable.forgotten_us is not None and durable.forgotten_us >= last.t_us - TURN_US:
        return "forgotten"
    later = list(catalog.later_lives(case.router, first.epoch))
    may_be_gone = not found.given and last.epoch == first.epoch and len(later) > 1  # a delivered message is on disk
    is_unsure = may_be_gone and catalog.may_be_undone(case.router, first.epoch, first.t_us)
    return "unknown" if is_unsure or durable.has_unknowns else "waiting"


def _look_whether_passed(case: Case, position: int, found: DurableFate, last: DurableEvent) -> None:
    """Find whether later messages were delivered in a life in which this one was not: unknown if it may have left
    before."""
    catalog, router = case.catalog, case.router
    had_in = {each.epoch for each in found.given} | found.undone
    may_have_left = False  # and the record of its leaving was lost in a crash
    for epoch in catalog.later_lives(router, (found.kept or last).epoch) if not case.durable.order_by else ():
        life = catalog.lives[router, epoch]
        may_have_left &= epoch not in had_in
        if epoch not in had_in and catalog.given_to.get((router, epoch, case.number), 0) > position:
            if may_have_left or catalog.has_hole(router, life.first_us, life.last_us):
                found.fate = "unknown"
            else:
                found.faults.append(("passed over", last.t_us))
            return
        may_have_left |= life.is_broken

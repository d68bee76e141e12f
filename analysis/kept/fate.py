"""What became of one message in one keep, and what is wrong with that.

    kept ──> given, again ... ──> acked | expired | dropped | replaced | dead | undeliverable | damaged
                              └── waiting, unless its keep is forgotten

Law: its records are read in the order in which they were written. A message that has left is never given again, unless
a crash came before that was on disk. Nothing is a fault that a missing record would explain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from tamis.analysis.kept.book import TURN_US, KeepBook, KnownKeep

LEAVING: Final = ("acked", "expired", "dropped", "replaced", "dead", "undeliverable", "damaged")
FATES: Final = (*LEAVING, "waiting", "forgotten", "unknown")
"""`forgotten`: with its keep, while it waited; `unknown`: it was not on disk, or not in the records, at a crash."""
KEPT_FAULTS: Final = {
    "missing": "it entered at the keep's router, satisfies its predicate, and the keep has not got it",
    "passed over": "later messages of the keep were handed out, and this one neither was nor has left",
    "stray": "it does not satisfy the keep's predicate, or the keep has never got it",
    "stranger": "it was handed to, or acknowledged by, somebody who did not have it to be",
    "uncounted": "it was handed out again as if it were the first time",
    "late": "it was handed out after it had left",
    "left twice": "it left the keep more than once",
    "twice": "the keep got it under two positions",
    "against terms": "it left in a way, or at a time, that the keep's terms do not allow",
    "order": "it came behind what came after it",
    "untold": "messages were lost, and no member was told so, though there were members",
    "vanished": "the keep was not there after a start, and nobody had forgotten it",
}


class KeptEvent(NamedTuple):
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
class Judged:
    """`faults`: with the time of each."""

    fate: str = "waiting"
    faults: list[tuple[str, int]] = field(default_factory=list)
    kept: KeptEvent | None = None
    left: KeptEvent | None = None
    given: list[KeptEvent] = field(default_factory=list)
    undone: set[int] = field(default_factory=set)
    """Lives in which it had left, which a crash has taken back."""


def judged(
    book: KeepBook, router: str, number: int, position: int, events: Sequence[KeptEvent], filters: Sequence[int] | None
) -> Judged:
    """Judge the message at `position` of a keep by its records, in order. `filters`: those that it satisfies; None: not
    known."""
    keep = book.keeps.get((router, number)) or KnownKeep()
    found = Judged()
    for event in events:
        step = _STEPS.get(event.what)
        if step is not None:
            found.faults += [(fault, event.t_us) for fault in step(book, router, number, keep, found, event)]
    if found.kept is not None and found.kept.source != "letter" and keep.filters and filters is not None:
        found.faults += [] if keep.filters & set(filters) else [("stray", found.kept.t_us)]
    _end(book, router, number, position, keep, found, events[-1])
    return found


Faults = Iterator[str]


def _kept(_: KeepBook, __: str, ___: int, ____: KnownKeep, found: Judged, event: KeptEvent) -> Faults:
    if found.kept is not None:
        yield "twice"
    else:
        found.kept = event


def _given(book: KeepBook, router: str, number: int, keep: KnownKeep, found: Judged, event: KeptEvent) -> Faults:
    if found.kept is None and not found.given and not book.is_dark(router, 0, event.t_us):
        yield "stray"
    if found.left is not None:
        if _is_undone(book, router, found.left, event):
            found.undone.add(found.left.epoch)
            found.left = None
        else:
            yield "late"
    before = found.given[-1] if found.given else None
    tries = event.deliveries or 0
    if before is not None:
        is_again = tries > (before.deliveries or 0) if before.epoch == event.epoch else bool(event.maybe_duplicate)
        if not is_again:
            yield "uncounted"
    elif tries > 1 and not book.is_dark(router, 0, event.t_us):
        yield "uncounted"
    found.given.append(event)
    if not _is_member(book, router, number, event):
        yield "stranger"


def _replayed(book: KeepBook, router: str, number: int, keep: KnownKeep, found: Judged, event: KeptEvent) -> Faults:
    if not keep.keeps_past or (found.left is None and not book.is_dark(router, 0, event.t_us)):
        yield "late"
    if not _is_member(book, router, number, event):
        yield "stranger"


def _left(book: KeepBook, router: str, number: int, keep: KnownKeep, found: Judged, event: KeptEvent) -> Faults:
    if found.left is not None and not _is_undone(book, router, found.left, event):
        yield "left twice"
    found.left = event
    if event.what == "acked" and event.connection is not None:
        had = {(each.epoch, each.connection) for each in found.given}
        if (event.epoch, event.connection) not in had and not book.is_dark(router, 0, event.t_us):
            yield "stranger"
    elif keep.terms and not _is_allowed(keep, found, event):
        yield "against terms"


_STEPS: Final[dict[str, Any]] = {"kept": _kept, "given": _given, "replayed": _replayed, **dict.fromkeys(LEAVING, _left)}


def _is_undone(book: KeepBook, router: str, left: KeptEvent, later: KeptEvent) -> bool:
    """Return whether a crash between the two may have taken back that it left."""
    return later.epoch > left.epoch and book.may_be_undone(router, left.epoch, left.t_us)


def _is_member(book: KeepBook, router: str, number: int, event: KeptEvent) -> bool:
    connection = event.connection
    if connection is not None and book.was_member(router, event.epoch, number, connection, event.t_us):
        return True
    return book.is_dark(router, event.t_us - book.settle_us, event.t_us + book.settle_us)


def _is_allowed(keep: KnownKeep, found: Judged, event: KeptEvent) -> bool:
    """Return whether the terms let it leave so."""
    kept = found.kept
    match event.what:
        case "expired":
            ends = [kept.expires_us] if kept and kept.expires_us else []
            ends += [kept.t_us + keep.for_us] if kept and keep.for_us else []
            return kept is None or (bool(ends) and event.t_us >= min(ends) - TURN_US)
        case "dropped":
            return keep.overflow == "drop-oldest"
        case "replaced":
            return bool(keep.latest_by)
        case "dead":
            return bool(keep.dead_letter)
        case _:
            return True


def _end(
    book: KeepBook, router: str, number: int, position: int, keep: KnownKeep, found: Judged, last: KeptEvent
) -> None:
    """Say what became of it in the end."""
    if found.left is not None:
        found.fate = found.left.what
        return
    first = found.kept or last
    if keep.forgotten_us is not None and keep.forgotten_us >= last.t_us - TURN_US:
        found.fate = "forgotten"
        return
    later = list(book.later_lives(router, first.epoch))
    may_be_gone = not found.given and last.epoch == first.epoch and len(later) > 1  # what is given out is on disk
    is_unsure = may_be_gone and book.may_be_undone(router, first.epoch, first.t_us)
    if is_unsure or keep.has_doubts:
        found.fate = "unknown"
        return
    had_in = {each.epoch for each in found.given} | found.undone
    may_have_left = False  # and the record that says so was lost in a crash
    for epoch in later if not keep.order_by else ():
        life = book.lives[router, epoch]
        may_have_left &= epoch not in had_in
        if epoch not in had_in and book.given_to.get((router, epoch, number), 0) > position:
            if may_have_left or book.has_hole(router, life.first_us, life.last_us):
                found.fate = "unknown"
            else:
                found.faults.append(("passed over", last.t_us))
            return
        may_have_left |= life.is_broken

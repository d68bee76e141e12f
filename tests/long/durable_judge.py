"""The judge of a soak: what publishers and consumers wrote down, against the promises of durable subscriptions.

Law: it reads journals and shares no code with what it judges. Each durable subscription received all confirmed
messages; a message has one id, under which it counts once; first deliveries of a publisher's messages are in its order;
the losses of a subscription are the number in its last Gap.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple


class Got(NamedTuple):
    by: str
    n: int
    id: str
    position: int
    deliveries: int


@dataclass(slots=True)
class Published:
    """What one publisher wrote down."""

    sent: set[int] = field(default_factory=set)
    confirmed: dict[int, str] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    is_done: bool = False


@dataclass(slots=True)
class Consumed:
    """The journals of the consumers of one durable subscription, each in its order."""

    got: list[Got] = field(default_factory=list)
    lost: dict[str, int] = field(default_factory=dict)
    """The last total of each reason."""
    failed: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Soaked:
    """The verdict."""

    confirmed: int = 0
    delivered: int = 0
    again: int = 0
    """Deliveries of what had been got before."""
    lost: int = 0
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.confirmed:,} confirmed, {self.delivered:,} messages got, {self.again:,} again, {self.lost:,} lost "
            f"and told; {len(self.faults)} faults{''.join(f'{chr(10)}  {fault}' for fault in self.faults[:20])}"
        )


def read_published(lines: Iterable[str]) -> Published:
    found = Published()
    for what, *words in map(str.split, lines):
        if what == "sent":
            found.sent.add(int(words[0]))
        elif what == "confirmed":
            found.confirmed[int(words[0])] = words[1]
        elif what == "failed":
            found.failed.append(" ".join(words))
        elif what == "done":
            found.is_done = True
    return found


def read_consumed(journals: Iterable[Iterable[str]]) -> Consumed:
    found = Consumed()
    for lines in journals:
        for what, *words in map(str.split, lines):
            if what == "got":
                by, n, id_, position, deliveries = words
                found.got.append(Got(by, int(n), id_, int(position), int(deliveries)))
            elif what == "gap":
                reason, _, in_all = words
                found.lost[reason] = max(found.lost.get(reason, 0), int(in_all) if in_all != "None" else 0)
            elif what == "failed":
                found.failed.append(" ".join(words))
    return found


def judged(
    published: dict[str, Published], whole: dict[str, Consumed], bounded: Consumed, in_order: set[str]
) -> Soaked:
    """Judge a soak. `whole`: the subscriptions that may lose nothing, by name; `in_order`: those with one consumer at a
    time; `bounded`: the subscription that drops its oldest, read at the end."""
    verdict = Soaked(confirmed=sum(len(each.confirmed) for each in published.values()))
    for name, publisher in published.items():
        verdict.faults += [f"{name}: not confirmed: {why}" for why in publisher.failed]
        verdict.faults += [] if publisher.is_done else [f"{name} did not end by itself"]
    for durable, consumed in whole.items():
        first = _first_of_each(consumed.got)
        verdict.delivered, verdict.again = len(first), verdict.again + len(consumed.got) - len(first)
        verdict.faults += [f"{durable}: {why}" for why in consumed.failed]
        verdict.faults += [f"{durable} has lost {count} ({why})" for why, count in consumed.lost.items() if count]
        verdict.faults += list(_missing(durable, published, first))
        verdict.faults += list(_doubled(durable, first))
        verdict.faults += list(_unknown(durable, published, first))
        verdict.faults += list(_out_of_order(durable, first)) if durable in in_order else []
    verdict.lost = sum(bounded.lost.values())
    there = {got.position for consumed in whole.values() for got in consumed.got}
    came = {got.position for got in bounded.got}
    verdict.faults += [f"bounded: {why}" for why in bounded.failed]
    if came - there:
        verdict.faults.append(f"bounded has {len(came - there)} that no other subscription has")
    if len(there - came) != verdict.lost:
        verdict.faults.append(f"bounded misses {len(there - came):,}, and its Gaps say {verdict.lost:,}")
    return verdict


def _first_of_each(got: Iterable[Got]) -> list[Got]:
    """What is left after deduplication by id."""
    seen: set[str] = set()
    return [each for each in got if not (each.id in seen or seen.add(each.id))]  # type: ignore[func-returns-value]


def _missing(durable: str, published: dict[str, Published], first: list[Got]) -> Iterable[str]:
    ids = {got.id for got in first}
    for name, publisher in published.items():
        lost = sorted(n for n, id_ in publisher.confirmed.items() if id_ not in ids)
        if lost:
            yield f"{durable} misses {len(lost):,} that were confirmed to {name}, such as {lost[:5]}"


def _doubled(durable: str, first: list[Got]) -> Iterable[str]:
    seen: dict[tuple[str, int], str] = {}
    for got in first:
        other = seen.setdefault((got.by, got.n), got.id)
        if other != got.id:
            yield f"{durable} has {got.n} of {got.by} as {other} and as {got.id}"


def _unknown(durable: str, published: dict[str, Published], first: list[Got]) -> Iterable[str]:
    strange = [got for got in first if got.by not in published or got.n not in published[got.by].sent]
    if strange:
        yield f"{durable} has {len(strange):,} that were never published, such as {strange[0]}"


def _out_of_order(durable: str, first: list[Got]) -> Iterable[str]:
    newest: dict[str, int] = defaultdict(int)
    for got in first:
        if got.n < newest[got.by]:
            yield f"{durable} has {got.n} of {got.by} behind {newest[got.by]}"
        newest[got.by] = max(newest[got.by], got.n)

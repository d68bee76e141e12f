"""The judge of a soak, from its journal alone.

Law: it shares no code with routers or clients. Each home gets each message that was confirmed as stored, unless

  - the disk of the entry that confirmed it was lost after that, the home has told a Gap for ENTRY_LOST since, and no
    later message of its publisher came from there before, as a chain is in order;
  - Gaps of that home for CUSTODY_FULL count it: together they count at least what is missing of confirmed messages, and
    at most all that is missing, and what its publisher brought to another entry besides.

A message has one id, and one number of its publisher has one id. Nothing comes that was not sent. Each entry has a
chain, so a Gap for ROUTE_CHANGED is told only where one was broken: the disk of an entry was lost, and messages that it
took without a confirmation, until its chain began again, may be missing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

Message = tuple[str, int]
SLACK_S = 5.0
"""How long a confirmation may be on its way to its publisher."""
TOLD_S = 120.0
"""How long after the disk of an entry was lost a home, which may be down meanwhile, tells that."""


@dataclass(slots=True)
class Home:
    """`ids`: of each message that came. `full`, `lost`: the Gaps for CUSTODY_FULL, with counts, and for ENTRY_LOST,
    with the times at which they came, by their positions."""

    ids: dict[Message, set[str]] = field(default_factory=lambda: defaultdict(set))
    positions: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    full: dict[str, int] = field(default_factory=dict)
    lost: dict[str, float] = field(default_factory=dict)
    uncertain: dict[str, float] = field(default_factory=dict)
    """Gaps for ROUTE_CHANGED, by their positions, with the time at which each came first."""
    others: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Facts:
    sent: set[Message] = field(default_factory=set)
    confirmed: dict[Message, tuple[float, str]] = field(default_factory=dict)
    """When, and at which entry."""
    moved: set[Message] = field(default_factory=set)
    homes: dict[str, Home] = field(default_factory=lambda: defaultdict(Home))
    disks_lost: list[tuple[float, str]] = field(default_factory=list)
    faults: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """Those that were done."""
    refused: int = 0


@dataclass(slots=True)
class Verdict:
    sent: int = 0
    confirmed: int = 0
    moved: int = 0
    got: int = 0
    """Of all homes."""
    stored_twice: int = 0
    """At a home, under one id: the log had freed the first one before a restart, and the other came after it."""
    missing: int = 0
    """Neither come nor told."""
    doubled: int = 0
    """Under different ids."""
    with_a_disk: int = 0
    """Missing, of an entry whose disk was lost, and told."""
    given_up: int = 0
    """Missing, and counted by Gaps for CUSTODY_FULL."""
    counted: int = 0
    """By these."""
    uncertain: int = 0
    """Gaps for ROUTE_CHANGED after a disk was lost, which excuse nothing."""
    refused: int = 0
    """Of publishers that were told so, or not told that it is stored."""
    faults: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


def facts_of(lines: Iterable[list[Any]]) -> Facts:
    facts = Facts()
    for at_s, what, *words in lines:
        match what:
            case "sent":
                facts.sent.add((words[0], words[1]))
            case "confirmed":
                facts.confirmed[words[0], words[1]] = at_s, words[2]
                if words[3]:
                    facts.moved.add((words[0], words[1]))
            case "refused" | "failed":
                facts.moved.add((words[0], words[1]))
                facts.refused += 1
            case "got":
                home, by, n, id_, position = words
                facts.homes[home].ids[by, n].add(id_)
                facts.homes[home].positions[id_].add(position)
            case "gap":
                _take_gap(facts.homes[words[0]], at_s, *words[1:])
            case "disk-lost":
                facts.disks_lost.append((at_s, words[0]))
            case "done":
                facts.faults[words[0]] += 1
    return facts


def _take_gap(home: Home, at_s: float, reason: str, count: int | None, positions: str) -> None:
    """Take a Gap, which may be told more than once, and later with more."""
    if reason == "CUSTODY_FULL" and count is not None:
        home.full[positions] = max(count, home.full.get(positions, 0))
    elif reason == "ENTRY_LOST":
        home.lost[positions] = max(at_s, home.lost.get(positions, 0.0))
    elif reason == "ROUTE_CHANGED" and count is None:
        home.uncertain.setdefault(positions, at_s)
    else:
        home.others.append(f"{reason} {count} {positions}")


def judged(facts: Facts, homes: Iterable[str]) -> Verdict:
    """Judge a soak that had these homes."""
    counts = len(facts.sent), len(facts.confirmed), len(facts.moved)
    verdict = Verdict(*counts, refused=facts.refused, faults=dict(facts.faults))
    for name in homes:
        home = facts.homes[name]
        verdict.got += len(home.ids)
        verdict.stored_twice += sum(len(places) > 1 for places in home.positions.values())
        unexplained = [each for each, at_s in home.uncertain.items() if not _is_of_a_disk(facts, home, each, at_s)]
        verdict.uncertain += len(home.uncertain) - len(unexplained)
        verdict.wrong += [f"{name}: told a Gap for ROUTE_CHANGED {each} without a reason" for each in unexplained]
        doubled = [message for message, ids in home.ids.items() if len(ids) > 1]
        verdict.doubled += len(doubled)
        strange = home.ids.keys() - facts.sent
        verdict.wrong += [f"{name}: {len(doubled)} doubled, such as {doubled[0]}"] if doubled else []
        verdict.wrong += [f"{name}: {len(strange)} that no publisher sent, such as {min(strange)}"] if strange else []
        verdict.wrong += [f"{name}: told a Gap for {each}" for each in home.others]
        _judge_missing(name, home, facts, verdict)
    return verdict


def _judge_missing(name: str, home: Home, facts: Facts, verdict: Verdict) -> None:
    missing = {message for message in facts.confirmed if message not in home.ids}
    excused = _went_with_a_disk(facts, home, missing)
    left, counted = missing - excused, sum(home.full.values())
    most = len(facts.sent - home.ids.keys()) + len(facts.moved & home.ids.keys())
    verdict.with_a_disk += len(excused)
    verdict.given_up += len(left)
    verdict.counted += counted
    verdict.missing += max(0, len(left) - counted)
    if len(left) > counted:
        some = sorted(left)[:3]
        verdict.wrong.append(f"{name}: {len(left)} are missing, such as {some}, and Gaps count {counted}")
    if counted > most:
        verdict.wrong.append(f"{name}: Gaps count {counted}, and at most {most} are missing")


def _went_with_a_disk(facts: Facts, home: Home, missing: set[Message]) -> set[Message]:
    """Return those of `missing` that went with the disk of the entry that confirmed them, of which the home told."""
    gone: set[Message] = set()
    told_s = max(home.lost.values(), default=0.0)
    for lost_s, entry in facts.disks_lost:
        if lost_s > told_s:
            continue
        before = {each for each, (at_s, at) in facts.confirmed.items() if at == entry and at_s <= lost_s + SLACK_S}
        newest: dict[str, int] = defaultdict(lambda: -1)
        for by, n in (before & home.ids.keys()) - facts.moved:
            newest[by] = max(newest[by], n)
        gone |= {(by, n) for by, n in before & missing if n > newest[by]}
    return gone


def _is_of_a_disk(facts: Facts, home: Home, positions: str, at_s: float) -> bool:
    """Return whether a Gap begins before a place where the loss of a disk is told, and was told after that loss."""
    return any(
        lost_s <= at_s and lost_s <= told_s <= lost_s + TOLD_S and _ends(positions)[0] <= _ends(told)[1]
        for lost_s, _ in facts.disks_lost
        for told, told_s in home.lost.items()
    )


def _ends(positions: str) -> tuple[int, int]:
    first, last = map(int, positions.strip("()").split(","))
    return first, last

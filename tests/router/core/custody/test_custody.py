"""Rules of custody: a judge that knows all compares what was confirmed with what the homes have on disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import pytest

from tamis.router.core.custody.commands import Level
from tamis.router.core.custody.frames import Message
from tamis.router.core.custody.records import Arrived, Doubt, Entered, NumbersLost
from tests.router.core.custody.world import (
    BREAKS,
    BREAKS_OF_BACKUPS,
    EntryNode,
    HomeNode,
    World,
    WorldOfBackups,
    arrived,
)


def judge(world: World) -> list[str]:
    """Return what is wrong at the end, when all is up and linked."""
    wrong = list(world.wrong)
    for home in world.homes:
        wrong += _of_home(world, home)
    for entry in world.entries:
        wrong += [
            f"{entry.number} has {len(chain)} links for {home}, which it will never acknowledge"
            for home, chain in entry.entry.chains.items()
            if len(chain)
        ]
    for publisher in world.publishers:
        if publisher.waiting and publisher.level is Level.STORED:
            wrong.append(f"publisher {publisher.number} waits for {len(publisher.waiting)} answers")
    return wrong


def _of_home(world: World, home: HomeNode) -> list[str]:
    records = home.disk.safe
    has = Counter(arrived(records))
    gone = Counter((record.entry, n) for record in records if isinstance(record, NumbersLost) for n in record.numbers)
    gone_messages = {world.numbers[number] for number in gone if number in world.numbers}
    taken_by = {(record.entry, record.n) for record in records if isinstance(record, Arrived)}
    return [
        *(f"{home.number} has {message} {times} times" for message, times in has.items() if times > 1),
        *(f"{home.number} counts {number} as lost {times} times" for number, times in gone.items() if times > 1),
        *(f"{home.number} counts {number} as lost and has it" for number in taken_by & gone.keys()),
        *(
            f"{home.number} lacks {message}, confirmed as {level.name} by {entry.number}"
            for message, (level, entry, at) in world.confirmations.items()
            if home in world.due(message, entry)
            and message not in has
            and message not in gone_messages
            and message not in world.lost_with[home]
            and not (world.given_up[home] or _is_excused(home, entry, level, at))
        ),
        *_out_of_order(world, home, gone_messages),
        *_untold(world, home, gone_messages),
        *(
            f"{home.number} doubts {record.entry} without a reason"
            for record in records
            if isinstance(record, Doubt) and not (world.nodes[record.entry].ends_of_disk or home.backups)
        ),
    ]


def _untold(world: World, home: HomeNode, gone: Collection[Message]) -> list[str]:
    """Return the messages that a backup of the home lacks, of which there is no doubt and no other try, although their
    entry has them in its records. Of an entry whose own disk ended, the home may have known nothing."""
    has = set(arrived(home.disk.safe))
    entered = {
        (entry.number, record.n) for entry in world.entries for record in entry.disk.safe if isinstance(record, Entered)
    }
    wrong = []
    for length, lacking in home.backups:
        doubts = {record.entry for record in home.disk.safe[length:] if isinstance(record, Doubt)}
        wrong += [
            f"{home.number} was put back, lacks {record.message} by {record.entry}, and says nothing"
            for record in lacking
            if isinstance(record, Arrived)
            and (record.entry, record.n) in entered
            and record.message not in has
            and record.message not in gone
            and record.entry not in doubts
            and not world.nodes[record.entry].ends_of_disk
        ]
    return wrong


def _is_excused(home: HomeNode, entry: EntryNode, level: Level, at: float) -> bool:
    """Return whether a stored message may be missing: its entry's disk was lost or put back afterwards, and the home
    says so, or cannot know: it lost its own disk, or had not heard of the life that the entry went back to."""
    ended = [end for end in entry.ends_of_disk if end > at]
    doubts = any(isinstance(record, Doubt) and record.entry == entry.number for record in home.disk.safe)
    cannot_know = entry.was_restored or bool(home.ends_of_disk)
    return level is Level.STORED and bool(ended) and (doubts or cannot_know)


def _out_of_order(world: World, home: HomeNode, gone: Collection[Message]) -> list[str]:
    """Return the messages that are stored behind a later one of their publisher, which stayed at one router. A message
    that was counted as lost before may come late, by another try."""
    last: Counter[int] = Counter()
    wrong = []
    for message in arrived(home.disk.safe):
        publisher, counter = message
        first = world.takes[message][0]
        is_settled = world.publishers[publisher].stays == 0 and not first.entry.ends_of_disk
        if not is_settled or home not in first.due or message in gone:
            continue
        if counter < last[publisher]:
            wrong.append(f"{home.number} has {message} behind {last[publisher]}")
        last[publisher] = counter
    return wrong


def found(seed: int, left_out: str = "", kind: type[World] = World) -> tuple[list[str], dict[Message, object]]:
    world = kind(seed, left_out)
    world.run()
    return judge(world), dict(world.confirmations)


@pytest.mark.parametrize("kind", [World, WorldOfBackups])
@pytest.mark.parametrize("first", [0, pytest.param(1_000, marks=pytest.mark.slow)])
def test_no_confirmed_message_is_lost(first: int, kind: type[World]) -> None:
    confirmed = 0
    for seed in range(first, first + (40 if first == 0 else 800)):
        wrong, confirmations = found(seed, kind=kind)
        assert wrong == [], seed
        confirmed += len(confirmations)
    assert confirmed > 1_000


@pytest.mark.slow
@pytest.mark.parametrize("rule", BREAKS)
def test_a_rule_that_is_left_out_is_noticed(rule: str) -> None:
    assert any(found(seed, rule)[0] for seed in range(300)), BREAKS[rule]


@pytest.mark.parametrize("rule", BREAKS_OF_BACKUPS)
def test_a_rule_of_backups_that_is_left_out_is_noticed(rule: str) -> None:
    assert any(found(seed, rule, WorldOfBackups)[0] for seed in range(100)), BREAKS_OF_BACKUPS[rule]

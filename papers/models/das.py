"""Paper 003's 17 algorithms and what they are given: brokers, profiles and events. `das_costs.py` says what each costs.

    EF       events go to all brokers, each of which filters for its own clients
    PF1-8    profiles go to all brokers, so that events are filtered where they are published
    RN1-8    profiles and events go to the root of their type, PF with this way in the place of all

    1, 2     exclusive: all profiles are filtered at one broker
    3, 4, 5  on the way, preventive: covered profiles are stored and not filtered
    6, 7, 8  on the way, optimistic: covered profiles are neither
    1, 3, 6  a notification goes directly to its subscriber; one for each that it is for
    2, 4, 7  it goes by the brokers; one for each that it is for
    5, 8     brokers stand for those behind them: one on each link, and profiles cover those of other subscribers

Law: an algorithm is where it filters, how it spreads that, and how a subscriber hears; nothing else is said of one.
Events are all there are, each with its chance as a fraction; none is drawn at random.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple

from tamis.papers.models.das_tree import Broker, BrokerTree


class Profile(NamedTuple):
    """What one subscriber asks for. Of profiles of one `kind` (the paper's event type) and `group`, one of a lower
    `level` covers those of higher levels; equal ones have all three alike."""

    number: int
    """Of this profile alone."""
    broker: Broker
    subscriber: int
    kind: int
    group: int
    level: int = 0


@dataclass(frozen=True)
class DasSetting:
    """Brokers, and what they are asked for. `roots` has the root of each kind. Each broker publishes as much as
    another, and as much of each kind. An event matches with chance `matching` a group of its kind, up to some level,
    each as likely as another; but for `locality`, the share of those that match whose group is one of the publisher's
    broker."""

    tree: BrokerTree
    roots: tuple[Broker, ...]
    profiles: tuple[Profile, ...]
    matching: Fraction = Fraction(1)
    locality: Fraction | None = None


class Event(NamedTuple):
    chance: Fraction
    publisher: Broker
    kind: int
    matched: tuple[Profile, ...]


class Where(enum.Enum):
    """Where events are filtered: as close as possible to whom, or at the root of their kind."""

    SUBSCRIBERS = "subscribers"
    PUBLISHERS = "publishers"
    ROOT = "root"


class Spreading(enum.Enum):
    EXCLUSIVE = "exclusive"
    PREVENTIVE = "preventive"
    OPTIMISTIC = "optimistic"


class Notice(enum.Enum):
    """How a subscriber hears of an event."""

    DIRECT = "direct"
    FORWARDED = "forwarded"
    PROXY = "proxy"


@dataclass(frozen=True)
class Algorithm:
    name: str
    where: Where
    spreading: Spreading
    notice: Notice

    def stated(self, profiles: Iterable[Profile], with_covered: bool) -> frozenset[tuple[int, ...]]:
        """Return what a broker holds of the profiles behind a link. `with_covered`: and what others of it cover.
        Equal profiles of one subscriber are held once, those of several once where the broker there stands for them."""
        if self.spreading is Spreading.EXCLUSIVE:
            return frozenset((profile.number,) for profile in profiles)
        said: dict[tuple[int, ...], set[int]] = {}
        for each in profiles:
            of = (each.kind, each.group) if self.notice is Notice.PROXY else (each.kind, each.group, each.subscriber)
            said.setdefault(of, set()).add(each.level)
        levels = {of: found if with_covered else {min(found)} for of, found in said.items()}
        return frozenset((*of, level) for of, found in levels.items() for level in found)


_BY_NUMBER: Final = (
    (Spreading.EXCLUSIVE, Notice.DIRECT),
    (Spreading.EXCLUSIVE, Notice.FORWARDED),
    *((spreading, notice) for spreading in (Spreading.PREVENTIVE, Spreading.OPTIMISTIC) for notice in Notice),
)
ALGORITHMS: Final = {
    each.name: each
    for each in (
        Algorithm("EF", Where.SUBSCRIBERS, Spreading.EXCLUSIVE, Notice.DIRECT),
        *(Algorithm(f"PF{i}", Where.PUBLISHERS, *each) for i, each in enumerate(_BY_NUMBER, 1)),
        *(Algorithm(f"RN{i}", Where.ROOT, *each) for i, each in enumerate(_BY_NUMBER, 1)),
    )
}


def events(setting: DasSetting) -> Iterator[Event]:
    """Yield each event with its chance; those of a publisher and kind that match nothing are one."""
    groups: dict[int, dict[int, list[Profile]]] = {kind: {} for kind, _ in enumerate(setting.roots)}
    for profile in setting.profiles:
        groups[profile.kind].setdefault(profile.group, []).append(profile)
    each = Fraction(1, len(setting.tree.brokers) * len(setting.roots))
    for publisher in setting.tree.brokers:
        for kind, of_kind in groups.items():
            yield Event(each * (1 - setting.matching), publisher, kind, ())
            for group, profiles in of_kind.items():
                depths = sorted({profile.level for profile in profiles})
                chance = each * setting.matching * _share(setting, publisher, of_kind, group) / len(depths)
                for depth in depths:
                    matched = tuple(profile for profile in profiles if profile.level <= depth)
                    yield Event(chance, publisher, kind, matched)


def _share(setting: DasSetting, publisher: Broker, groups: dict[int, list[Profile]], group: int) -> Fraction:
    """Return the share of the matching events of a publisher that match this group."""
    if setting.locality is None:
        return Fraction(1, len(groups))
    local = {each for each, profiles in groups.items() if any(of.broker == publisher for of in profiles)}
    is_local = group in local
    among = len(local) if is_local else len(groups) - len(local)
    return (setting.locality if is_local else 1 - setting.locality) / among

"""What paper 003's brokers have to do for an event, by its cost model (`papers/models/das_costs.py`).

    work      of a broker: events that it receives, filters and sends on, and profiles that it notifies, each weighed
    rate      events that the network takes per unit of work: the busiest broker's work is what ends it

Law: exact fractions over all events with their chances; no router takes part, and nothing is timed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Final

from tamis.papers.models.das import ALGORITHMS, DasSetting, Profile, Spreading, Where, events
from tamis.papers.models.das_costs import held, passage
from tamis.papers.models.das_tree import Broker, BrokerTree

_TOPOLOGIES: Final = Path(__file__).parents[3] / "configs" / "topologies"
ROOT: Final = 1
"""Place of the paper's rendezvous broker, b2, among the brokers."""


@dataclass(frozen=True, slots=True)
class BrokerNetwork:
    """A network of the paper, or its first brokers."""

    name: str
    tree: BrokerTree

    @property
    def links(self) -> tuple[tuple[int, int, int], ...]:
        """(end, end, cost) of each link, ends as places of brokers."""
        place = {broker: number for number, broker in enumerate(self.tree.brokers)}
        return tuple(
            (place[one], place[other], 1)
            for one in self.tree.brokers
            for other in self.tree.neighbours[one]
            if place[one] < place[other]
        )


@cache
def network(name: str, brokers: int | None = None) -> BrokerNetwork:
    """The network of configs/topologies, or its part with the first `brokers`."""
    tree = BrokerTree.of(_TOPOLOGIES / f"{name}.yaml")
    if brokers is None or brokers == len(tree.brokers):
        return BrokerNetwork(name, tree)
    return BrokerNetwork(f"{name}, first {brokers}", tree.first(brokers))


def asked(
    tree: BrokerTree,
    pe: Fraction,
    *,
    kinds: int | None = None,
    equal: int = 1,
    locality: Fraction | None = None,
) -> DasSetting:
    """One subscriber a broker, with one thing of each type of events, which `equal` profiles ask for. `kinds`: so many
    types, and the root of type i is broker i; None: one, with b2 for its root."""
    roots = (tree.brokers[min(ROOT, len(tree.brokers) - 1)],) if kinds is None else tree.brokers[:kinds]
    wanted = [(kind, group, broker) for kind, _ in enumerate(roots) for group, broker in enumerate(tree.brokers)]
    profiles = [
        Profile(number, broker, group, kind, group)
        for number, (kind, group, broker) in enumerate(each for each in wanted for _ in range(equal))
    ]
    return DasSetting(tree, roots, tuple(profiles), pe, locality)


@dataclass(frozen=True, slots=True)
class Load:
    """Of an event on average: frames between brokers, stored profiles for one of a client, and the share of events
    that the busiest broker filters."""

    frames: Fraction
    duplication: Fraction
    busiest_visits: Fraction


def load_of(algorithm: str, setting: DasSetting) -> Load:
    frames, visits = Fraction(), defaultdict[Broker, Fraction](Fraction)
    for event in events(setting):
        passed = passage(ALGORITHMS[algorithm], setting, event)
        frames += event.chance * passed.frames.total()
        for broker in passed.filtered:
            visits[broker] += event.chance
    return Load(frames, Fraction(stored(algorithm, setting).total(), len(setting.profiles)), max(visits.values()))


def stored(algorithm: str, setting: DasSetting) -> Counter[Broker]:
    """Profiles that each broker keeps, those of its own clients included."""
    of = ALGORITHMS[algorithm]
    return held(of, setting, setting.profiles, of.spreading is not Spreading.OPTIMISTIC)


@dataclass(frozen=True, slots=True)
class UnitCosts:
    """What a broker pays for each piece of work."""

    receive: Fraction = Fraction(1)
    """An event that comes in."""
    enter: Fraction = Fraction(0)
    """What one of its own publishers adds to that."""
    name: Fraction = Fraction(0)
    """What one adds whose root the broker writes into it."""
    filter: Fraction = Fraction(1)
    """Filtering an event for its clients."""
    others: Fraction = Fraction(0)
    """Filtering it for other brokers, where it holds profiles of theirs."""
    compare: Fraction = Fraction(0)
    """A stored profile, where an event is compared with all of them."""
    send: Fraction = Fraction(1)
    """A copy to another broker."""
    deliver: Fraction = Fraction(0)
    """An event that some client of its gets."""
    notify: Fraction = Fraction(1)
    """A profile of its clients that is notified."""


def _ns(count: int) -> Fraction:
    return Fraction(count, 1_000_000_000)


EVEN: Final = UnitCosts()
OURS_S: Final = UnitCosts(
    receive=Fraction(0),
    name=_ns(75),
    filter=_ns(270),
    others=_ns(110),
    send=_ns(35),
    deliver=_ns(160),
    notify=_ns(3),
)
"""Seconds that they take routers of ours with 500 profiles each, as `fitting.py` found them; to receive an event is a
part of filtering it. A router of PF or RN asks two tables, that of its clients and that of other routers."""
Pieces = dict[str, Fraction]
"""How often a broker does each piece of work for an event, on average, by the field of UnitCosts."""


def pieces(algorithm: str, setting: DasSetting) -> dict[Broker, Pieces]:
    """What each broker does."""
    of = ALGORITHMS[algorithm]
    done: dict[Broker, Pieces] = {broker: defaultdict(Fraction) for broker in setting.tree.brokers}
    kept, own = stored(algorithm, setting), Counter(profile.broker for profile in setting.profiles)
    for event in events(setting):
        passed = passage(of, setting, event)
        for piece in ("receive", "enter", *(("name",) if of.where is Where.ROOT else ())):
            done[event.publisher][piece] += event.chance
        for (sender, receiver), frames in passed.frames.items():
            done[sender]["send"] += event.chance * frames
            done[receiver]["receive"] += event.chance * frames
        for broker in passed.filtered:
            done[broker]["filter"] += event.chance
            done[broker]["others"] += event.chance * (kept[broker] > own[broker])
            done[broker]["compare"] += event.chance * kept[broker]
        for broker, profiles in Counter(profile.broker for profile in event.matched).items():
            done[broker]["deliver"] += event.chance
            done[broker]["notify"] += event.chance * profiles
    return done


def work(algorithm: str, setting: DasSetting, costs: UnitCosts = EVEN) -> dict[Broker, Fraction]:
    """The work of each broker for an event, on average."""
    done = pieces(algorithm, setting)
    return {
        broker: sum((getattr(costs, name) * n for name, n in of.items()), Fraction()) for broker, of in done.items()
    }


def rate(algorithm: str, setting: DasSetting, costs: UnitCosts = EVEN) -> Fraction:
    """Events per unit of work when every broker has a machine of its own: the paper's efficiency."""
    return 1 / max(work(algorithm, setting, costs).values())

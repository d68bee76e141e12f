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

from tamis.papers.models.das import ALGORITHMS, DasSetting, Profile, Spreading, events
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
    """What a broker pays: for an event that comes in, for filtering it, for each stored profile that this compares it
    with, for a copy to another broker, and for each profile of its clients that is notified."""

    receive: Fraction = Fraction(1)
    filter: Fraction = Fraction(1)
    compare: Fraction = Fraction(0)
    send: Fraction = Fraction(1)
    notify: Fraction = Fraction(1)


EVEN: Final = UnitCosts()


def work(algorithm: str, setting: DasSetting, costs: UnitCosts = EVEN) -> dict[Broker, Fraction]:
    """The work of each broker for an event, on average."""
    spent, kept = defaultdict[Broker, Fraction](Fraction), stored(algorithm, setting)
    for event in events(setting):
        passed = passage(ALGORITHMS[algorithm], setting, event)
        spent[event.publisher] += event.chance * costs.receive
        for (sender, receiver), frames in passed.frames.items():
            spent[sender] += event.chance * frames * costs.send
            spent[receiver] += event.chance * frames * costs.receive
        for broker in passed.filtered:
            spent[broker] += event.chance * (costs.filter + costs.compare * kept[broker])
        for profile in event.matched:
            spent[profile.broker] += event.chance * costs.notify
    return dict(spent)


def rate(algorithm: str, setting: DasSetting, costs: UnitCosts = EVEN) -> Fraction:
    """Events per unit of work when every broker has a machine of its own: the paper's efficiency."""
    return 1 / max(work(algorithm, setting, costs).values())

"""Brokers of paper 003 as real switches with real cores, which must equal the paper's cost model.

    profiles    each broker's clients want values of their own, each asked for by sigma clients
    events      every publisher publishes alike; of the matching ones (share pe) each broker's profiles get as many, or
                a share `locality` those of the publisher's own broker

Law: events are laid out and not drawn, so that sums are exact. Deliveries are those of an oracle (`Wants.wanting`), and
frames, loads and stored filters those of the model (`load.py`), which knows a tree and nothing of routers; otherwise
the run ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from random import Random
from typing import Final

from tamis.bench.networks.strategies.fleet import Fleet
from tamis.bench.networks.strategies.wants import Event, Wants
from tamis.papers.models.das import DasSetting
from tamis.papers.reproduce.emulated import emulated
from tamis.papers.reproduce.figure import Disagreement
from tamis.papers.reproduce.paper003.load import ROOT, BrokerNetwork, Load, asked, load_of
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.router.core.routing.roots import REST, RootChoice
from tamis.simulate.faults.topologies import NetworkPlan
from tamis.simulate.nodes.node import Node

STRATEGIES: Final = {"EF": "flood-everywhere", "PF": "profile", "RN": "rendezvous", "advertise": "advertise"}
"""Strategies by the paper's names; the last one, whose filters go to all routers, is ours and stands beside them."""
MODELS: Final = {"EF": "EF", "PF": "PF8", "RN": "RN8", "advertise": "PF8"}
"""The algorithm of the cost model that a strategy follows: the three that the paper measures."""
ENGINE: Final = "interval"
_VALUES: Final = 1_000_000
"""Values of one broker's profiles; those beyond all brokers' nobody wants."""
_EVERYTHING: Final = encode_filter(Filter(()))


@dataclass(frozen=True, slots=True)
class BrokersAsked:
    """One point of a figure: `pe` is the share of events that match, `sigma` how many profiles ask for one value,
    `locality` the share of matching events that are wanted where they are published; None: all brokers alike. `kinds`
    is the number of types of events, each with its root at another broker; None: one type, whose root is b2."""

    network: BrokerNetwork
    strategy: str
    pe: Fraction
    sigma: int = 1
    locality: Fraction | None = None
    kinds: int | None = None

    def __str__(self) -> str:
        local = "" if self.locality is None else f", locality {float(self.locality):g}"
        types = "" if self.kinds is None else f", {self.kinds} types"
        return f"{self.strategy} on {self.network.name}, pe {float(self.pe):g}, sigma {self.sigma}{local}{types}"

    @property
    def setting(self) -> DasSetting:
        """What the paper's cost model is given."""
        return asked(self.network.tree, self.pe, kinds=self.kinds, equal=self.sigma, locality=self.locality)

    @property
    def algorithm(self) -> str:
        return MODELS[self.strategy]

    def model(self) -> Load:
        """What the paper's cost model says."""
        return load_of(self.algorithm, self.setting)


def fleet_of(point: BrokersAsked, profiles: int, engine: str = ENGINE) -> tuple[Fleet, Wants, int]:
    """Routers with `profiles` of each broker, through which the events of `point` have gone; what their clients want;
    and how many filters routers hold of others."""
    wants = wants_of(point, profiles)
    fleet, nodes = emulated(plan_of(point), STRATEGIES[point.strategy], engine, wants, classes_of(point))
    return fleet, wants, sum(map(_known, nodes))


def plan_of(point: BrokersAsked) -> NetworkPlan:
    """The network of routers."""
    return NetworkPlan(_names(point), point.network.links, "shared-tree")


def _names(point: BrokersAsked) -> tuple[str, ...]:
    return tuple(f"b{place + 1}" for place, _ in enumerate(point.network.tree.brokers))


def classes_of(point: BrokersAsked) -> tuple[RootChoice, ...]:
    """The classes of messages of a strategy that has roots, with the roots that the point has for them."""
    names = _names(point)
    rest = RootChoice(REST, (stable_number(names[min(ROOT, len(names) - 1)]),))
    of_types = (
        RootChoice(type_name(kind), (stable_number(names[kind]),), (encode_filter(Filter((_of_type(kind),))),))
        for kind in range(point.kinds or 0)
    )
    return (*of_types, rest)


def type_name(kind: int) -> str:
    return f"T{kind}"


def _of_type(kind: int) -> Constraint:
    return Constraint("type", Op.EQ, (type_name(kind),))


def _known(node: Node) -> int:
    """Filters of others that a router holds; not that another router wants everything."""
    others = (filters for issuer, filters in node.table.filters.items() if issuer != node.number)
    return sum(packed != _EVERYTHING for filters in others for packed in filters.values())


def measured(point: BrokersAsked, profiles: int) -> tuple[Load, float]:
    """What the routers did, and the bytes of frames of an event; Disagreement if it is not what the model says."""
    fleet, wants, known = fleet_of(point, profiles)
    first, events = fleet.first, len(wants.events)
    if set(first.delivered) != {(event, home) for event, homes in enumerate(wants.wanting) for home in homes}:
        raise Disagreement(f"{point}: routers deliver otherwise than the oracle says")
    local = sum(map(len, wants.filters))
    found = Load(
        frames=Fraction(first.frames, events),
        duplication=Fraction(local + known, local),
        busiest_visits=Fraction(max(first.arrived.values()), events),
    )
    told = point.model()
    if found != told:
        raise Disagreement(f"{point}: routers {found}, the model {told}")
    return found, first.bytes / events


def wants_of(point: BrokersAsked, profiles: int) -> Wants:
    """What clients want, `profiles` of each broker, and the events."""
    unique = _unique(point, profiles)
    filters = [
        [
            profile(kind, home * _VALUES + value)
            for kind in range(point.kinds or 1)
            for value in range(unique)
            for _ in range(point.sigma)
        ]
        for home in range(len(point.network.tree.brokers))
    ]
    return Wants(filters, [], [], events_of(point, profiles))


def _unique(point: BrokersAsked, profiles: int) -> int:
    return profiles // (point.kinds or 1) // point.sigma


def profile(kind: int, value: int) -> bytes:
    """A filter that wants one value of events of one type, packed."""
    return encode_filter(Filter((Constraint("a1", Op.EQ, (value,)), _of_type(kind))))


def events_of(point: BrokersAsked, profiles: int, at_least: int = 0) -> list[Event]:
    """Events that enter at one broker after the other, as few as make every share a whole number of them, and
    `at_least` so many."""
    brokers, unique = len(point.network.tree.brokers), _unique(point, profiles)
    columns = [_published(point, publisher, unique) for publisher in range(brokers)]
    once = [event for of_each in zip(*columns, strict=True) for event in of_each]
    return once * -(-max(at_least, 1) // len(once))


def _published(point: BrokersAsked, publisher: int, unique: int) -> list[Event]:
    brokers = len(point.network.tree.brokers)
    shares = [point.pe * _share(publisher, home, brokers, point.locality) for home in range(brokers)]
    count = lcm(point.pe.denominator, *(share.denominator for share in shares))
    matching = [
        home * _VALUES + place % unique for home, share in enumerate(shares) for place in range(int(share * count))
    ]
    values = [*matching, *(brokers * _VALUES + place for place in range(count - len(matching)))]
    drawn: list[Event] = [
        {"type": type_name(kind), "a1": value} for kind in range(point.kinds or 1) for value in values
    ]
    Random(publisher).shuffle(drawn)
    return drawn


def _share(publisher: int, home: int, brokers: int, locality: Fraction | None) -> Fraction:
    """Of the matching events of a publisher, those for a broker."""
    if locality is None or brokers == 1:
        return Fraction(1, brokers)
    return locality if publisher == home else (1 - locality) / (brokers - 1)

"""Brokers of paper 003 as real switches with real cores, and what arithmetic says of them.

    profiles    each broker's clients want values of their own, each asked for by sigma clients
    events      every publisher publishes alike; of the matching ones (share pe) each broker's profiles get as many, or
                a share `locality` those of the publisher's own broker

Law: events are laid out and not drawn, so that sums are exact. Deliveries are those of an oracle (`Wants.wanting`), and
frames, loads and stored filters those of the arithmetic below, which knows a tree and nothing of routers; otherwise the
run ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Final

from tamis.bench.networks.strategies.control import Budget, Network
from tamis.bench.networks.strategies.fleet import Fleet
from tamis.bench.networks.strategies.wants import Event, Wants
from tamis.bench.reproduce.figure import Disagreement
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.strategies import BY_NAME
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.simulate.topologies import NetworkPlan

BUS4: Final = ((0, 1), (1, 2), (2, 3))
DAS9: Final = ((0, 1), (1, 2), (1, 3), (1, 4), (0, 5), (3, 6), (2, 7), (4, 8))
"""Links of configs/topologies/das9.yaml, in an order in which the first n - 1 join the first n brokers."""
EF: Final = "flood-everywhere"
ADVERTISE: Final = "advertise"
STRATEGIES: Final = {EF: "EF", ADVERTISE: "advertise"}
_BUDGET_S: Final = 600.0
_VALUES: Final = 1_000
"""Values of one broker's profiles; those beyond all brokers' nobody wants."""

Links = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class BrokersMeasured:
    """An event on average, and filters stored for one filter of a client."""

    frames: Fraction
    bytes: float
    duplication: Fraction
    busiest: Fraction
    """Share of the events that the busiest broker looks at."""


def far(links: Links, brokers: int) -> list[list[int]]:
    """Hops between brokers."""
    hops = [[0 if a == b else brokers * 2 for b in range(brokers)] for a in range(brokers)]
    for a, b in links:
        hops[a][b] = hops[b][a] = 1
    for via in range(brokers):
        for a in range(brokers):
            for b in range(brokers):
                hops[a][b] = min(hops[a][b], hops[a][via] + hops[via][b])
    return hops


def expected(
    links: Links, brokers: int, strategy: str, pe: Fraction, sigma: int, locality: Fraction
) -> BrokersMeasured:
    """What arithmetic says; `bytes` is not known to it."""
    hops = far(links, brokers)
    if strategy == EF:
        return BrokersMeasured(Fraction(brokers - 1), 0.0, Fraction(1), Fraction(1))
    share = {(p, h): _share(p, h, brokers, locality) for p in range(brokers) for h in range(brokers)}
    frames = sum((each * hops[p][h] for (p, h), each in share.items()), Fraction(0)) / brokers
    load = [
        Fraction(1, brokers)
        + pe
        * sum(
            (each for (p, h), each in share.items() if p != at and hops[p][at] + hops[at][h] == hops[p][h]), Fraction(0)
        )
        / brokers
        for at in range(brokers)
    ]
    return BrokersMeasured(pe * frames, 0.0, 1 + Fraction(brokers - 1, sigma), max(load))


def _share(publisher: int, home: int, brokers: int, locality: Fraction) -> Fraction:
    """Of the matching events of a publisher, those for a broker. Locality -1: all brokers alike."""
    if locality < 0 or brokers == 1:
        return Fraction(1, brokers)
    return locality if publisher == home else (1 - locality) / (brokers - 1)


def measured(
    links: Links, brokers: int, strategy: str, profiles: int, pe: Fraction, sigma: int, locality: Fraction
) -> BrokersMeasured:
    """What the routers did; Disagreement if it is not what was expected."""
    wants = _wants(brokers, profiles, pe, sigma, locality)
    plan = NetworkPlan(tuple(f"b{n + 1}" for n in range(brokers)), tuple((a, b, 1) for a, b in links), "shared-tree")
    budget = Budget(_BUDGET_S)
    with budget:
        network = Network(plan, strategy, budget)
        network.come_up()
        network.subscribe(wants)
        fleet = Fleet(network.nodes, wants, BY_NAME[strategy], "interval", budget)
    first, events = fleet.first, len(wants.events)
    if set(first.delivered) != {(event, home) for event, homes in enumerate(wants.wanting) for home in homes}:
        raise Disagreement(f"{strategy} on {brokers} brokers delivers otherwise than the oracle says")
    local = sum(router.local.stats().filters for router in fleet.routers)
    remote = sum(router.network.stats().filters for router in fleet.routers)
    if strategy == EF:
        remote -= brokers * (brokers - 1)  # of each other broker the one filter that is everything
    busiest = Fraction(max(first.arrived.values()), events)
    found = BrokersMeasured(
        Fraction(first.frames, events), first.bytes / events, Fraction(local + remote, local), busiest
    )
    known = expected(links, brokers, strategy, pe, sigma, locality)
    for what in ("frames", "duplication", "busiest"):
        ours, theirs = getattr(found, what), getattr(known, what)
        if ours != theirs:
            raise Disagreement(f"{strategy} on {brokers} brokers, pe {pe}: {what} {ours}, by arithmetic {theirs}")
    return found


def _wants(brokers: int, profiles: int, pe: Fraction, sigma: int, locality: Fraction) -> Wants:
    filters = [[_profile(home * _VALUES + number // sigma) for number in range(profiles)] for home in range(brokers)]
    columns = [_events_of(publisher, brokers, profiles // sigma, pe, locality) for publisher in range(brokers)]
    return Wants(filters, [], [], [event for of_each in zip(*columns, strict=True) for event in of_each])


def _profile(value: int) -> bytes:
    return encode_filter(Filter((Constraint("a1", Op.EQ, (value,)), Constraint("type", Op.EQ, ("T1",)))))


def _events_of(publisher: int, brokers: int, unique: int, pe: Fraction, locality: Fraction) -> list[Event]:
    """As few events as make every share a whole number of them."""
    shares = [pe * _share(publisher, home, brokers, locality) for home in range(brokers)]
    count = lcm(pe.denominator, *(share.denominator for share in shares))
    matching = [
        home * _VALUES + place % unique for home, share in enumerate(shares) for place in range(int(share * count))
    ]
    values = [*matching, *(brokers * _VALUES + place for place in range(count - len(matching)))]
    return [{"type": "T1", "a1": value} for value in values]

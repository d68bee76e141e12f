"""Facility management, the application of paper 003 (DAS): typed events of devices, with limited and ordered domains.

Law: an event has exactly one value for each attribute of its type, and a profile at most one predicate for each, of the
five operators of the paper.

The paper names the kinds of domains (integers, fixed point numbers, enumerations) and not the domains; those here are
ours. Its own experiments take unique equalities on one attribute.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from tamis.bench.matching.workloads.kind import Kind, Size
from tamis.bench.matching.workloads.pieces import condition, conjunction, message, pack
from tamis.protocol.filters import Op
from tamis.protocol.values import Value

_TYPES = ("boiler", "door", "lamp", "lift", "meter", "pump", "room", "smoke", "valve", "window")
_DOMAINS: dict[str, Sequence[Value]] = {
    "building": range(20),
    "celsius": [tenths / 10 for tenths in range(500)],
    "floor": range(40),
    "state": ["0-off", "1-idle", "2-on", "3-warning", "4-alarm", "5-broken"],
    "watt": range(0, 5_000, 10),
}
_SPECIFIED = 0.7  # share of the attributes of its type that a profile speaks of
_OPS = {Op.EQ: 0.45, Op.BETWEEN: 0.25, Op.LT: 0.1, Op.GT: 0.1, Op.IN: 0.1}
_LISTED = 3


def _predicate(name: str, op: Op, domain: Sequence[Value], rng: random.Random) -> bytes:
    at = rng.randrange(len(domain))
    if op is Op.BETWEEN:
        low = min(at, len(domain) - 2)
        most = max(len(domain) // 10, 1)
        return condition(name, op, domain[low], domain[min(low + rng.randint(1, most), len(domain) - 1)])
    if op is Op.IN:
        return condition(name, op, *(domain[place] for place in sorted(rng.sample(range(len(domain)), _LISTED))))
    return condition(name, op, domain[at])


def _profiles(size: Size, rng: random.Random) -> Iterator[bytes]:
    types = [condition("type", Op.EQ, each) for each in _TYPES]
    ops, shares = list(_OPS), list(_OPS.values())
    for _ in range(size.filters):
        chosen = [name for name in _DOMAINS if rng.random() < _SPECIFIED]
        predicates = (_predicate(name, rng.choices(ops, shares)[0], _DOMAINS[name], rng) for name in chosen)
        yield conjunction(rng.choice(types), *predicates)


def _events(size: Size, rng: random.Random) -> Iterator[bytes]:
    types = [pack("type") + pack(each) for each in _TYPES]
    values = {name: [pack(name) + pack(value) for value in domain] for name, domain in _DOMAINS.items()}
    for _ in range(size.messages):
        yield message(rng, rng.choice(types), *(rng.choice(each) for each in values.values()))


DAS = Kind(
    about="Operators of buildings who watch one kind of device: a type, and values or ranges of five attributes.",
    hits="about F / 1,400",
    filters=_profiles,
    messages=_events,
)

BUILDINGS = {"das": DAS}

"""Filters whose equalities differ by far in what they select: one shared by all or by many, one that few have.

Law: a workload that is spelled twice has the same filters, hits and lengths of names in both; only the order of the
names in the alphabet is turned, which must not matter.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache, partial

from tamis.bench.matching import words
from tamis.bench.matching.workloads.kind import Kind, Size
from tamis.bench.matching.workloads.pieces import (
    Choice,
    condition,
    condition_head,
    conjunction,
    message,
    pack,
    zipf,
)
from tamis.protocol.filters import Op

# --- alerts: one equality that all filters share ---------------------------------------------------------------------


def _alert_filters(shared: str, size: Size, rng: random.Random) -> Iterator[bytes]:
    alert, device = condition(shared, Op.EQ, "alert"), condition_head("device", Op.EQ)
    for number in _shuffled(size.filters, rng):
        yield conjunction(alert, device + pack(f"web-{number}"))


def _alert_messages(shared: str, size: Size, rng: random.Random) -> Iterator[bytes]:
    classes = [pack(shared) + pack(each) for each in ("alert", "alert", "metric", "log")]
    device, severity, region = pack("device"), pack("severity"), pack("region")
    for _ in range(size.messages):
        where = region + pack(f"region-{rng.randrange(20)}")
        what = severity + pack(rng.randint(1, 10))
        yield message(rng, rng.choice(classes), device + pack(f"web-{rng.randrange(size.filters)}"), what, where)


def _alerts(about: str, shared: str) -> Kind:
    filters, messages = partial(_alert_filters, shared), partial(_alert_messages, shared)
    return Kind(about, "one message in two hits one", filters, messages, drawn_as="alerts")


ALERTS = _alerts(
    'Operators who are called for one machine: class = "alert", which all have, and device = "web-17".', "class"
)
ALERTS_TURNED = _alerts("As alerts, but the shared name (event) sorts after the other.", "event")


# --- tenants: one equality that a hundredth shares --------------------------------------------------------------------

_TENANTS = 100


def _tenant_of(number: int) -> str:
    return f"acme-{number % _TENANTS:03d}"


def _tenant_filters(shared: str, size: Size, rng: random.Random) -> Iterator[bytes]:
    tenants = [condition(shared, Op.EQ, _tenant_of(k)) for k in range(_TENANTS)]
    sensor = condition_head("sensor", Op.EQ)
    for number in _shuffled(size.filters, rng):
        yield conjunction(tenants[number % _TENANTS], sensor + pack(f"s-{number:07d}"))


def _tenant_messages(shared: str, size: Size, rng: random.Random) -> Iterator[bytes]:
    tenant, sensor, value = pack(shared), pack("sensor"), pack("value")
    for _ in range(size.messages):
        number = rng.randrange(size.filters)
        reading = value + pack(rng.randrange(1_000))
        yield message(rng, tenant + pack(_tenant_of(number)), sensor + pack(f"s-{number:07d}"), reading)


def _tenants(about: str, shared: str) -> Kind:
    return Kind(about, "1", partial(_tenant_filters, shared), partial(_tenant_messages, shared), drawn_as="tenants")


TENANTS = _tenants("A service of 100 customers with the customer in every filter: client and sensor.", "client")
TENANTS_TURNED = _tenants("As tenants, but the shared name (tenant) sorts after the other.", "tenant")


# --- exceptions: an equality and a negation --------------------------------------------------------------------------

_REGIONS = 20
_SHARE_OF_A_KIND = 10


def _kinds(size: Size) -> int:
    return max(size.filters // _SHARE_OF_A_KIND, 1)


def _exception_filters(size: Size, rng: random.Random) -> Iterator[bytes]:
    kind, region = condition_head("kind", Op.EQ), condition_head("region", Op.EQ, negated=True)
    rehearsal = condition("host", Op.PREFIX, "test-", negated=True)
    for number in _shuffled(size.filters, rng):
        excepted = rehearsal if rng.randrange(5) == 0 else region + pack(f"region-{rng.randrange(_REGIONS)}")
        yield conjunction(kind + pack(f"kind-{number % _kinds(size)}"), excepted)


def _exception_messages(size: Size, rng: random.Random) -> Iterator[bytes]:
    kind, region, host = pack("kind"), pack("region"), pack("host")
    for _ in range(size.messages):
        name = f"{rng.choice(['test', 'web', 'db'])}-{rng.randrange(1_000)}"
        where = region + pack(f"region-{rng.randrange(_REGIONS)}")
        yield message(rng, kind + pack(f"kind-{rng.randrange(_kinds(size))}"), where, host + pack(name))


EXCEPTIONS = Kind(
    about="A user who wants all of a kind except a region that is down or machines of a rehearsal.",
    hits="about 9",
    filters=_exception_filters,
    messages=_exception_messages,
)


# --- lists: `in` of 20 -----------------------------------------------------------------------------------------------

_LIST = 20
_LIST_HITS = 10


def _accounts(size: Size) -> int:
    return max(_LIST * size.filters // _LIST_HITS, _LIST)


def _list_filters(size: Size, rng: random.Random) -> Iterator[bytes]:
    head, most = condition_head("account", Op.IN, _LIST), _accounts(size)
    for _ in range(size.filters):
        chosen: dict[int, None] = {}
        while len(chosen) < _LIST:
            chosen[int(rng.random() * most)] = None
        yield conjunction(head + b"".join([b"\xaaA-%08d" % number for number in chosen]))


def _list_messages(size: Size, rng: random.Random) -> Iterator[bytes]:
    account, amount, currency = pack("account"), pack("amount"), pack("currency")
    for _ in range(size.messages):
        who = account + (b"\xaaA-%08d" % rng.randrange(_accounts(size)))
        paid = currency + pack(rng.choice(["CHF", "EUR", "USD"]))
        yield message(rng, who, amount + pack(rng.randrange(10**6)), paid)


LISTS = Kind(
    about="A user who follows 20 accounts: account in (20 values).",
    hits=f"about {_LIST_HITS}",
    filters=_list_filters,
    messages=_list_messages,
)


# --- skewed: values and filters by Zipf ------------------------------------------------------------------------------

_AUTHORS, _TAGS = 10_000, 1_000


def _skewed_filters(size: Size, rng: random.Random) -> Iterator[bytes]:
    authors, tags = _authors().draw(rng), _tags().draw(rng)
    author, tag, likes = condition_head("author", Op.EQ), condition_head("tag", Op.EQ), condition_head("likes", Op.GE)
    for _ in range(size.filters):
        form = rng.randrange(3)
        popular = likes + pack(int(rng.paretovariate(1.0)))
        if form == 0:
            yield conjunction(author + next(authors), popular)
        elif form == 1:
            yield conjunction(tag + next(tags), popular)
        else:
            yield conjunction(author + next(authors), tag + next(tags))


def _skewed_messages(size: Size, rng: random.Random) -> Iterator[bytes]:
    authors, tags = _authors().draw(rng), _tags().draw(rng)
    author, tag, likes = pack("author"), pack("tag"), pack("likes")
    for _ in range(size.messages):
        yield message(rng, author + next(authors), tag + next(tags), likes + pack(int(rng.paretovariate(1.0)) - 1))


@cache
def _authors() -> Choice:
    return Choice.of((pack(f"@{k}"), zipf(k)) for k in range(_AUTHORS))


@cache
def _tags() -> Choice:
    return Choice.of((pack(f"#{word}"), zipf(rank)) for rank, word in enumerate(words.words(_TAGS)))


SKEWED = Kind(
    about="Readers of a social network: all follow a few popular authors and tags (Zipf), or posts with many likes.",
    hits="about F / 220",
    filters=_skewed_filters,
    messages=_skewed_messages,
    messages_measured=(1_000, 100),
)


def _shuffled(count: int, rng: random.Random) -> list[int]:
    """0 to count - 1, each once: what comes later is not sorted."""
    numbers = list(range(count))
    rng.shuffle(numbers)
    return numbers


EQUALITIES = {"alerts": ALERTS, "alerts-turned": ALERTS_TURNED, "tenants": TENANTS, "tenants-turned": TENANTS_TURNED}
EQUALITIES |= {"exceptions": EXCEPTIONS, "lists": LISTS, "skewed": SKEWED}

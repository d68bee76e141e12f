"""Hypothesis strategies for every kind of frame, drawn from the declared schemas.

Law: every kind is drawn, each field over the whole of its range; where fields depend on each other the class is built
by hand in `_BY_HAND`, so that nothing drawn is thrown away.
"""

from __future__ import annotations

import inspect
import struct
from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tamis.protocol.messages import Message, MessageId
from tamis.protocol.wire import (
    client_bodies,
    durable_bodies,
    edge_bodies,
    home_bodies,
    parts,
    routing_bodies,
    session_bodies,
)
from tamis.protocol.wire.custody_bodies import ChainGap, CopyFinished, LogLife
from tamis.protocol.wire.data_frames import DataFrame
from tamis.protocol.wire.extensions import (
    Custody,
    DeliveryCount,
    Extensions,
    ExtensionType,
    GroupChoice,
    LinkKeys,
    ReuseKeys,
    Route,
    RouteMode,
    RouterSet,
)
from tamis.protocol.wire.frames import BODY_OF, Frame
from tamis.protocol.wire.header import OWN, TRACED, Transit
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.protocol.wire.schema import Binary, Choice, Codec, Flag, Many, Record, Text, Unsigned, record_of
from tests.strategies import filters, wide_attributes

U32 = st.integers(0, 2**32 - 1)
U64 = st.integers(0, 2**64 - 1)
POSITIVE_U64 = st.integers(1, 2**64 - 1)


def of_codec(codec: Codec) -> SearchStrategy[object]:
    match codec:
        case Unsigned(bits, least):
            return st.integers(least, 2**bits - 1)
        case Text(least, most):
            return st.text(min_size=least, max_size=most // 4)
        case Binary(least, most):
            return st.binary(min_size=least, max_size=min(most, max(least, 40)))
        case Flag():
            return st.booleans()
        case Choice(options):
            return st.sampled_from(list(options))
        case Many(item, least, most):
            return st.lists(of_codec(item), min_size=least, max_size=min(most, 3)).map(tuple)
        case Record():
            return of_class(codec.of)
    raise AssertionError(codec)


@cache
def of_class(declared: type) -> SearchStrategy[object]:
    return _BY_HAND[declared]() if declared in _BY_HAND else of_fields(declared)


def of_fields(declared: type, **known: SearchStrategy[object]) -> SearchStrategy[object]:
    """Each field by its codec, but those in `known`."""
    fields = record_of(declared).fields
    others = {field.name: of_codec(field.codec) for field in fields if field.name not in known}
    if "rest" in inspect.signature(declared).parameters:
        others["rest"] = st.just(())
    return st.builds(declared, **others, **known)


def frames(kind: FrameKind) -> SearchStrategy[Frame]:
    return data_frames(kind) if kind.is_data else of_class(BODY_OF[kind])


def any_frame() -> SearchStrategy[Frame]:
    return st.sampled_from(list(FrameKind)).flatmap(frames)


def extensions(kind: FrameKind) -> SearchStrategy[Extensions]:
    ids = st.lists(U32, min_size=1, max_size=4).map(tuple)
    choices = st.dictionaries(st.integers(1, 2**32 - 1), POSITIVE_U64, min_size=1, max_size=3)
    known: dict[int, SearchStrategy[object]] = {
        ExtensionType.REUSE_KEYS: st.builds(ReuseKeys, st.booleans(), st.lists(U32, max_size=3).map(tuple)),
        ExtensionType.EXPIRY: U64,
        ExtensionType.GROUP: st.text(min_size=1, max_size=20),
        ExtensionType.GROUP_CHOICE: choices.map(lambda drawn: tuple(map(GroupChoice._make, sorted(drawn.items())))),
        ExtensionType.MEMBERS_ONLY: st.just(b""),
        ExtensionType.TELL_UNWANTED: st.just(b""),
        0x0777: st.binary(max_size=5),
        0x7FFF: st.binary(max_size=5),
    }
    trace: dict[int, SearchStrategy[object]] = {ExtensionType.TRACE: POSITIVE_U64}
    if kind is FrameKind.DELIVER:
        count, maybe = st.integers(0, 2**32 - 1), st.booleans()
        deliveries = st.builds(lambda tries, *bits: DeliveryCount(tries, not tries, *bits), count, maybe, maybe)
        known |= {ExtensionType.SATISFIED: ids, ExtensionType.LOG_POSITION: U64, ExtensionType.DELIVERIES: deliveries}
    rest = (
        st.fixed_dictionaries(trace, optional=known)
        if kind is FrameKind.DRY_RUN
        else st.fixed_dictionaries({}, optional=known | trace)
    )
    if kind is FrameKind.DELIVER:
        return rest
    if kind is FrameKind.DIRECTED:
        return st.builds(lambda first, others: {ExtensionType.CUSTODY: first} | others, places(), rest)
    return st.one_of(rest, st.builds(lambda first, others: {ExtensionType.ROUTE: first} | others, routes(), rest))


def numbers(most: int) -> SearchStrategy[tuple[int, ...]]:
    """Rising numbers, with steps of any size."""
    return st.sets(st.one_of(st.integers(1, 300), POSITIVE_U64), max_size=most).map(sorted).map(tuple)


def places() -> SearchStrategy[Custody]:
    steps = st.sets(U64, min_size=2, max_size=2).map(sorted)
    lives = st.builds(LogLife, U64, U32, U32)
    return st.builds(
        lambda home, log, life, ns: Custody(home, log, life, ns[1], ns[0]), POSITIVE_U64, U64, lives, steps
    )


def gaps() -> SearchStrategy[object]:
    """With numbers, and a doubt without them."""
    steps = st.sets(U64, min_size=2, max_size=2).map(sorted).map(lambda ns: (ns[1], ns[0], ()))
    some = numbers(5).filter(bool).map(lambda ns: (ns[-1], 0, ns))
    ends = POSITIVE_U64, st.builds(LogLife, U64, U32, U32), POSITIVE_U64, U64
    last = steps | some, st.integers(0, 255), U64
    return st.builds(lambda *drawn: ChainGap(*drawn[:4], *drawn[4], *drawn[5:]), *ends, *last)


def finished() -> SearchStrategy[object]:
    ends = POSITIVE_U64, U64, POSITIVE_U64, U64, st.text("abc", min_size=1, max_size=8), U64, U64
    ranges = st.lists(st.tuples(U64, U64, st.integers(1, 64)), max_size=3)
    packed = ranges.map(lambda some: b"".join(struct.pack("<QQI", *each) for each in some))
    return st.builds(CopyFinished, *ends, packed, st.integers(0, 255))


def routes() -> SearchStrategy[Route | RouterSet | LinkKeys]:
    listed = st.sets(POSITIVE_U64, min_size=1, max_size=4).map(sorted).map(tuple)
    rooted = st.builds(lambda root: Route(RouteMode.TREE, (root,)), POSITIVE_U64)
    sets = st.builds(RouterSet, st.binary(min_size=16, max_size=16), st.binary(min_size=1, max_size=4))
    some = st.lists(U32, min_size=1, max_size=3).map(tuple)
    keys = st.builds(LinkKeys, st.booleans(), st.binary(min_size=16, max_size=16), some)
    lists = st.builds(Route, st.just(RouteMode.LIST), listed)
    return st.one_of(st.just(Route(RouteMode.ALL)), lists, rooted, sets, keys)


@st.composite
def data_frames(draw: st.DrawFn, kind: FrameKind) -> DataFrame:
    found = draw(extensions(kind))
    flags = draw(st.integers(0, 15)) & ~(0 if kind is FrameKind.DELIVER else OWN)
    identity = MessageId(draw(POSITIVE_U64), draw(POSITIVE_U64))
    message = Message(draw(wide_attributes()), draw(st.binary(max_size=20)), identity)
    flags |= TRACED if ExtensionType.TRACE in found else 0
    transit = Transit(draw(U64), draw(U64), draw(U64))
    return DataFrame(kind, message, flags, draw(st.integers(0, 255)), transit, draw(U64), found)


@st.composite
def _hello(draw: st.DrawFn) -> object:
    role = draw(st.sampled_from(list(session_bodies.Role)))
    versions = sorted(draw(st.tuples(st.integers(1, 2**32 - 1), st.integers(1, 2**32 - 1))))
    cost = st.integers(1, 2**32 - 1) if role is session_bodies.Role.ROUTER else st.just(0)
    low, high = (st.just(version) for version in versions)
    drawn = of_fields(session_bodies.Hello, role=st.just(role), version_low=low, version_high=high, link_cost=cost)
    return draw(drawn)


def _auth() -> SearchStrategy[object]:
    methods = session_bodies.AuthMethod
    fitting = {methods.NONE: (0, 0), methods.TOKEN: (1, 4096), methods.SECRET: (32, 32), methods.JWT: (1, 4096)}
    return st.one_of(
        st.builds(session_bodies.Auth, st.just(method), st.binary(min_size=least, max_size=most))
        for method, (least, most) in fitting.items()
    )


def _authenticated() -> SearchStrategy[object]:
    proofs = st.just(b"") | st.binary(min_size=32, max_size=32)
    return of_fields(session_bodies.Authenticated, proof=proofs)


def _subscription() -> SearchStrategy[object]:
    packed = st.lists(filters().map(encode_filter), min_size=1, max_size=3).map(tuple)
    residual = st.just(b"") | st.binary(max_size=60)
    dialect = st.sampled_from(["", "jms", "é" * 16])
    return st.builds(client_bodies.SubscriptionItem, U32, packed, residual, st.just(()) | packed, dialect)


def _subscribe() -> SearchStrategy[object]:
    batch = st.lists(_subscription(), min_size=1, max_size=3, unique_by=lambda subscription: subscription.id)
    return of_fields(client_bodies.Subscribe, subscriptions=batch.map(tuple))


def _unsubscribe() -> SearchStrategy[object]:
    return of_fields(client_bodies.Unsubscribe, ids=st.lists(U32, min_size=1, max_size=4, unique=True).map(tuple))


def _ack() -> SearchStrategy[object]:
    ranges = st.sets(st.integers(0, 9) | U64).map(client_bodies.ranges_of)
    return of_fields(client_bodies.Ack, ranges=ranges, unstored=ranges, stored=ranges)


def _policy(copies_min: int = 255, residual_max: int = 9) -> SearchStrategy[object]:
    return of_fields(
        durable_bodies.DurablePolicy,
        unacked_max=st.integers(1, 100_000),
        dead_letter=st.sampled_from(["", "d"]),
        copies_min=st.integers(0, copies_min),
        residual=st.binary(max_size=residual_max),
    )


@st.composite
def _durable(draw: st.DrawFn) -> object:
    start = draw(st.sampled_from(list(durable_bodies.StartAt)))
    at = U64 if start is durable_bodies.StartAt.TIME else st.just(0)
    after = U64 if start is durable_bodies.StartAt.AFTER else st.just(0)
    known = {"start": st.just(start), "start_ns": at, "after_origin": after, "after_counter": after}
    homes = draw(st.lists(st.text(min_size=1, max_size=9), max_size=3).map(tuple))
    policy = _policy(len(homes), 0 if homes else 9)
    known |= {"name": st.text(min_size=2, max_size=9), "homes": st.just(homes), "policy": policy}
    return draw(of_fields(durable_bodies.CreateDurable, **known))


@st.composite
def _replay(draw: st.DrawFn) -> object:
    since, until = sorted(draw(st.tuples(U64, U64)))
    return draw(of_fields(durable_bodies.Replay, since_ns=st.just(since), until_ns=st.just(until)))


def _link_state() -> SearchStrategy[object]:
    links = st.lists(of_class(routing_bodies.Adjacency), max_size=4, unique_by=lambda link: link.neighbour)
    return of_fields(routing_bodies.LinkState, links=links.map(tuple))


def _advertised_filter() -> SearchStrategy[object]:
    packed = st.binary(min_size=1, max_size=40)
    plain = st.builds(routing_bodies.AdvertisedFilter, U64, packed)
    name, members = st.text(min_size=1, max_size=20), st.integers(1, 2**32 - 1)
    return plain | st.builds(routing_bodies.AdvertisedFilter, U64, packed, name, members)


@st.composite
def _advertisement(draw: st.DrawFn) -> object:
    whole = draw(of_fields(routing_bodies.UpdateReply))
    added = draw(st.lists(of_class(routing_bodies.AdvertisedFilter), max_size=4).map(tuple))
    digest, confirm = draw(st.binary(min_size=16, max_size=16)), draw(st.booleans())
    if draw(st.booleans()):
        rest = (True, 0, added, (), digest, len(added), confirm)
        return routing_bodies.ReceiverAdvertisement(*whole.ticket, *rest)
    base, seq = sorted(draw(st.lists(U64, min_size=2, max_size=2, unique=True)))
    removed = draw(st.lists(U64, max_size=4).map(tuple))
    rest = (False, base, added, removed, digest, draw(U64), confirm)
    return routing_bodies.ReceiverAdvertisement(whole.requester, whole.epoch, seq, *rest)


def _request() -> SearchStrategy[object]:
    nothing = {"known": st.just(()), "topology": st.just(())}
    sixteen = st.binary(min_size=16, max_size=16)
    spaces, durables = st.just(b"") | sixteen, st.just(b"") | sixteen
    stated = {"spaces": spaces, "durables": durables, "access": st.just(b"") | st.binary(min_size=4, max_size=4)}
    digest = of_fields(routing_bodies.SenderRequest, digest=sixteen, **stated, **nothing)
    return digest | of_fields(routing_bodies.SenderRequest, digest=st.just(b""), **stated)


@st.composite
def _edge_statement(draw: st.DrawFn) -> object:
    root, epoch, sixteen = draw(U64), draw(U64), st.binary(min_size=16, max_size=16)
    added = draw(st.lists(of_class(edge_bodies.EdgeFilter), max_size=4).map(tuple))
    behind, digest, complete, confirm = draw(sixteen), draw(sixteen), draw(st.booleans()), draw(st.booleans())
    base, seq = sorted(draw(st.lists(U64, min_size=2, max_size=2, unique=True)))
    if draw(st.booleans()):
        change = (True, 0, added, (), digest, len(added))
    else:
        change = (False, base, added, draw(st.lists(U64, max_size=4).map(tuple)), digest, draw(U64))
    return edge_bodies.EdgeStatement(root, behind, epoch, seq, *change, complete, confirm)


@st.composite
def _durables_statement(draw: st.DrawFn) -> object:
    name, sixteen = draw(st.text(min_size=1, max_size=9)), st.binary(min_size=16, max_size=16)
    added = draw(st.lists(of_class(home_bodies.NumberedDurable), max_size=4).map(tuple))
    digest, confirm = draw(sixteen), draw(st.booleans())
    base, seq = sorted(draw(st.lists(U64, min_size=2, max_size=2, unique=True)))
    if draw(st.booleans()):
        change = (True, 0, added, (), digest, len(added))
    else:
        change = (False, base, added, draw(st.lists(U64, max_size=4).map(tuple)), digest, draw(U64))
    return home_bodies.DurablesStatement(stable_number(name), name, draw(U64), seq, draw(U64), *change, confirm)


def _part(declared: type) -> SearchStrategy[object]:
    numbers = st.lists(st.integers(1, 65_536), min_size=2, max_size=2).map(sorted)
    return numbers.flatmap(lambda kn: of_fields(declared, k=st.just(kn[0]), n=st.just(kn[1])))


_BY_HAND = {
    session_bodies.Hello: _hello,
    session_bodies.Auth: _auth,
    session_bodies.Authenticated: _authenticated,
    client_bodies.SubscriptionItem: _subscription,
    client_bodies.Subscribe: _subscribe,
    client_bodies.Unsubscribe: _unsubscribe,
    client_bodies.Ack: _ack,
    durable_bodies.DurablePolicy: _policy,
    durable_bodies.CreateDurable: _durable,
    durable_bodies.Replay: _replay,
    routing_bodies.LinkState: _link_state,
    routing_bodies.AdvertisedFilter: _advertised_filter,
    routing_bodies.ReceiverAdvertisement: _advertisement,
    routing_bodies.SenderRequest: _request,
    parts.AdvertisementPart: lambda: _part(parts.AdvertisementPart),
    parts.RequestPart: lambda: _part(parts.RequestPart),
    parts.ReplyPart: lambda: _part(parts.ReplyPart),
    parts.SpacePart: lambda: _part(parts.SpacePart),
    parts.EdgePart: lambda: _part(parts.EdgePart),
    parts.DurablesPart: lambda: _part(parts.DurablesPart),
    home_bodies.DurablesStatement: _durables_statement,
    edge_bodies.EdgeStatement: _edge_statement,
    ChainGap: gaps,
    CopyFinished: finished,
}


def wholes() -> SearchStrategy[parts.Whole]:
    """Bodies that travel in parts."""
    declared = (
        *(routing_bodies.ReceiverAdvertisement, routing_bodies.SenderRequest, routing_bodies.UpdateReply),
        routing_bodies.SpaceStatement,
        edge_bodies.EdgeStatement,
        home_bodies.DurablesStatement,
    )
    return st.one_of(of_class(one) for one in declared)

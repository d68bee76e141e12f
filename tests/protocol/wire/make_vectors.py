"""Adds frames to the frozen vectors: `python -m tests.protocol.wire.make_vectors`.

Law: a vector that exists is never written again, for it is what peers in the field send. A new one is added under a new
name; one whose bytes would come out differently today is an error, here and in `test_vectors.py`.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path

from tamis.protocol.filters import EVERYTHING, Constraint, Filter, Op
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.residual import Instruction, Opcode, Program
from tamis.protocol.spaces import pack, space_from
from tamis.protocol.wire import client_bodies as client
from tamis.protocol.wire import custody_bodies as custody
from tamis.protocol.wire import durable_bodies as durables
from tamis.protocol.wire import edge_bodies, home_bodies, parts, routing_bodies, session_bodies
from tamis.protocol.wire import remote_bodies as remote
from tamis.protocol.wire import report_bodies as report
from tamis.protocol.wire.attributes import encode_attributes
from tamis.protocol.wire.codes import ErrorCode, LossReason, RefusalCode
from tamis.protocol.wire.custody_bodies import LogLife
from tamis.protocol.wire.data_frames import DataFrame
from tamis.protocol.wire.extensions import (
    Custody,
    DeliveryCount,
    ExtensionType,
    GroupChoice,
    LinkKeys,
    ReuseKeys,
    Route,
    RouteMode,
    RouterSet,
)
from tamis.protocol.wire.frames import Frame, encode
from tamis.protocol.wire.header import Flags, Transit
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import NO_DIGEST, of_classes_digest, predicate_digest, routers_digest, stable_number
from tamis.protocol.wire.packed_filters import encode_filter
from tests.protocol.wire.json_forms import json_form

VECTORS = Path(__file__).parent / "vectors.json"

ALICE, ROME, OSLO = (stable_number(name) for name in ("alice", "rome", "oslo"))
TIME_NS = 1_700_000_000_123_456_789
CHEAP = encode_filter(Filter((Constraint("price", Op.LT, (500,)), Constraint("dest", Op.EQ, ("MXP",)))))
ODD = encode_filter(
    Filter(
        (
            Constraint("venue", Op.IN, ("X", "Y", 3, 2.5, True), negated=True),
            Constraint("price", Op.BETWEEN, (10, 20)),
            Constraint("région", Op.EXISTS),
        )
    )
)
ANY = encode_filter(EVERYTHING)
TOTAL_ABOVE_1000 = Program(
    ("price", "quantity", 1_000),
    (
        *(Instruction(Opcode.ATTRIBUTE), Instruction(Opcode.ATTRIBUTE, 1), Instruction(Opcode.MUL)),
        *(Instruction(Opcode.CONSTANT, 2), Instruction(Opcode.GT)),
    ),
)
NONCE = bytes(range(16))
TRADES = pack(space_from("trades", {"attributes": {"price": {"fixed": [0, 99.5], "digits": 2}, "side": "string"}}))
LAST = 2**64 - 1


def data_frames() -> dict[str, Frame]:
    quote = Message({"price": 300, "dest": "MXP"}, b"hello", MessageId(ALICE, 7))
    every_type = {"s": "é\U0001f600", "i": -(2**63), "f": 1.0, "g": -2.5, "yes": True, "no": False}
    typed = Message(every_type, b"", MessageId(LAST, LAST))
    routed = Transit(ROME, 5, 1_000)
    extended = {
        ExtensionType.REUSE_KEYS: ReuseKeys(True, (1, 2**32 - 1)),
        ExtensionType.TRACE: 99,
        ExtensionType.EXPIRY: TIME_NS + 10**9,
        ExtensionType.GROUP: "order-17",
        0x0777: b"unknown",
    }
    chosen = {ExtensionType.GROUP_CHOICE: (GroupChoice(7, OSLO), GroupChoice(2**32 - 1, ROME))}
    only = {ExtensionType.GROUP_CHOICE: (GroupChoice(7, OSLO),), ExtensionType.MEMBERS_ONLY: b""}
    listed = {ExtensionType.ROUTE: Route(RouteMode.LIST, (ROME, OSLO)), ExtensionType.EXPIRY: TIME_NS}
    rooted = {ExtensionType.ROUTE: Route(RouteMode.TREE, (OSLO,)), ExtensionType.EXPIRY: TIME_NS}
    everybody = {ExtensionType.ROUTE: Route(RouteMode.ALL)}
    stated = {ExtensionType.ROUTE: RouterSet(bytes(range(16)), b"\x05\x80"), ExtensionType.EXPIRY: TIME_NS}
    keyed = {ExtensionType.ROUTE: LinkKeys(True, bytes(range(16)), (7, 2**32 - 1)), ExtensionType.EXPIRY: TIME_NS}
    delivered = {ExtensionType.SATISFIED: (1, 7), ExtensionType.LOG_POSITION: 42}
    again = {**delivered, ExtensionType.DELIVERIES: DeliveryCount(3, replayed=False, maybe_duplicate=True)}
    letter = {
        **delivered,
        ExtensionType.DELIVERIES: DeliveryCount(1, replayed=False, maybe_duplicate=False, dead_letter=True),
    }
    replayed = {**delivered, ExtensionType.DELIVERIES: DeliveryCount(0, replayed=True, maybe_duplicate=False)}
    traced = {ExtensionType.TRACE: 100}
    place = Custody(OSLO, 88, LogLife(77, 9, 8), 9 << 40 | 3, 9 << 40 | 1)
    chained = {ExtensionType.CUSTODY: place, ExtensionType.EXPIRY: TIME_NS}
    begun = {ExtensionType.CUSTODY: Custody(LAST, 0, LogLife(LAST, 1, 0), LAST, 0)}
    return {
        "publish": DataFrame(FrameKind.PUBLISH, quote, Flags.CONFIRM, publish_time_ns=TIME_NS),
        "publish, every type": DataFrame(FrameKind.PUBLISH, typed, 0, 255, Transit(LAST, LAST, LAST), LAST),
        "publish, every home": DataFrame(
            FrameKind.PUBLISH, quote, Flags.CONFIRM | Flags.DURABLE | Flags.EVERY_HOME, publish_time_ns=TIME_NS
        ),
        "publish, extended": DataFrame(FrameKind.PUBLISH, quote, Flags.TRACED, 9, routed, TIME_NS, extended),
        "publish, for groups": DataFrame(FrameKind.PUBLISH, quote, 0, 9, routed, TIME_NS, chosen),
        "publish, for members alone": DataFrame(FrameKind.PUBLISH, quote, 0, 9, routed, TIME_NS, only),
        "publish, listed": DataFrame(FrameKind.PUBLISH, quote, 0, 9, routed, TIME_NS, listed),
        "publish, to all": DataFrame(FrameKind.PUBLISH, quote, 0, 9, routed, TIME_NS, everybody),
        "publish, to be told": DataFrame(
            FrameKind.PUBLISH, quote, 0, 0, Transit(), TIME_NS, {ExtensionType.TELL_UNWANTED: b""}
        ),
        "publish, along a tree": DataFrame(FrameKind.PUBLISH, quote, 0, 9, routed, TIME_NS, rooted),
        "publish, with a set": DataFrame(FrameKind.PUBLISH, quote, 0, 9, routed, TIME_NS, stated),
        "publish, with keys": DataFrame(FrameKind.PUBLISH, quote, 0, 9, routed, TIME_NS, keyed),
        "deliver": DataFrame(FrameKind.DELIVER, quote, 0, 8, routed, TIME_NS, {ExtensionType.SATISFIED: (1,)}),
        "deliver, from the log": DataFrame(
            FrameKind.DELIVER, quote, Flags.RETRY | Flags.DURABLE | Flags.OWN, 8, routed, TIME_NS, delivered
        ),
        "deliver, again": DataFrame(FrameKind.DELIVER, quote, Flags.DURABLE, 8, routed, TIME_NS, again),
        "deliver, dead letter": DataFrame(FrameKind.DELIVER, quote, Flags.DURABLE, 8, routed, TIME_NS, letter),
        "deliver, replayed": DataFrame(FrameKind.DELIVER, quote, Flags.DURABLE, 8, routed, TIME_NS, replayed),
        "directed": DataFrame(FrameKind.DIRECTED, quote, Flags.DURABLE, 9, routed, TIME_NS, chained),
        "directed, first of a chain": DataFrame(FrameKind.DIRECTED, typed, 0, 255, routed, 0, begun),
        "dry run": DataFrame(FrameKind.DRY_RUN, quote, Flags.TRACED, 0, Transit(), TIME_NS, traced),
        "dry run, between routers": DataFrame(FrameKind.DRY_RUN, typed, Flags.TRACED, 3, routed, 0, traced),
    }


def session_frames() -> dict[str, Frame]:
    roles, methods = session_bodies.Role, session_bodies.AuthMethod
    return {
        "hello, client": session_bodies.Hello(roles.CLIENT, "alice", 0, NONCE, 1, 1, ("trace",), 1_048_576, 30_000, 0),
        "hello, router": session_bodies.Hello(
            roles.ROUTER, "rome", 5, NONCE, 1, 2, ("trace", "durable"), 1_048_576, 10_000, 10
        ),
        "welcome, client": session_bodies.Welcome("rome", 5, NONCE, 1, ("trace",), 1_048_576, 30_000, 0, (0, 1)),
        "welcome, router": session_bodies.Welcome("oslo", 6, NONCE, 1, (), 65_536, 10_000, 12, (2,)),
        "auth, none": session_bodies.Auth(methods.NONE, b""),
        "auth, token": session_bodies.Auth(methods.TOKEN, b"a token"),
        "auth, jwt": session_bodies.Auth(methods.JWT, b"a.b.c"),
        "auth, secret": session_bodies.Auth(methods.SECRET, bytes(range(32))),
        "authenticated": session_bodies.Authenticated(b"", ALICE, 10_000),
        "authenticated, known": session_bodies.Authenticated(b"", ALICE, 10_000, 7),
        "authenticated, mutually": session_bodies.Authenticated(bytes(range(32, 64)), ROME, 0),
        "error, fatal": session_bodies.Error(ErrorCode.MALFORMED, "ids of UNSUBSCRIBE: cut short", 0x21, True),
        "error, passing": session_bodies.Error(ErrorCode.UNKNOWN_EXTENSION, "", 1, False),
        "ping": session_bodies.Ping(0),
        "ping, last": session_bodies.Ping(LAST),
        "pong": session_bodies.Pong(0),
        "pong, last": session_bodies.Pong(LAST),
        "pong, with the time": session_bodies.Pong(5, 1_800_000_000_000_000),
        "drain": session_bodies.Drain(30_000, "upgrade"),
        "drain, at once": session_bodies.Drain(0, ""),
        "go away": session_bodies.GoAway(5_000, ("tamis://oslo.example:7400", "tamis+tls://[::1]:7401"), "upgrade"),
        "go away, anywhere": session_bodies.GoAway(0, (), ""),
    }


def client_frames() -> dict[str, Frame]:
    reach, of = client.Reach, client.AckOf
    one, two = client.SubscriptionItem(1, (CHEAP,)), client.SubscriptionItem(2, (ODD, ANY))
    refusal = client.Refusal(2, RefusalCode.NEVER_MATCHES, "price: nothing is below 1 and above 2")
    return {
        "subscribe": client.Subscribe(1, (one,), False, reach.HOME, False),
        "subscribe, two": client.Subscribe(2, (one, two), True, reach.NETWORK, True),
        "subscribe, with a residual program": client.Subscribe(
            5, (client.SubscriptionItem(3, (CHEAP,), TOTAL_ABOVE_1000.pack()),), False, reach.HOME, False
        ),
        "subscribe, with filters for the index": client.Subscribe(
            6, (client.SubscriptionItem(4, (CHEAP,), TOTAL_ABOVE_1000.pack(), (CHEAP, ODD)),), False, reach.HOME, False
        ),
        "subscribe, in a dialect": client.Subscribe(
            7, (client.SubscriptionItem(5, (CHEAP,), dialect="amqp-headers"),), False, reach.HOME, False
        ),
        "unsubscribe": client.Unsubscribe(3, (1,)),
        "unsubscribe, two": client.Unsubscribe(4, (2**32 - 1, 0)),
        "ack, subscribe": client.Ack(of.SUBSCRIBE, 1, (client.Range(1, 1),), (refusal,)),
        "ack, unsubscribe": client.Ack(of.UNSUBSCRIBE, 3, (client.Range(1, 2),)),
        "ack, publish": client.Ack(of.PUBLISH, 0, (client.Range(1, 6), client.Range(8, LAST))),
        "ack, duplicate": client.Ack(
            of.PUBLISH, 0, (), (client.Refusal(7, RefusalCode.DUPLICATE, "message 7 was taken before", 9),)
        ),
        "ack, deliver": client.Ack(of.DELIVER, 0, (client.Range(0, 42),)),
        "credit": client.Credit(1_000, 10_000_000),
        "credit, none": client.Credit(0, 0),
        "lost": client.Lost(12, 34_567, LossReason.QUEUE_FULL, (1, 7)),
        "lost, unknown": client.Lost(1, 0, LossReason.LINK_CUT),
        "lost, way changed": client.Lost(0, 0, LossReason.ROUTE_CHANGED, (1,)),
        "lost, out of reach": client.Lost(0, 0, LossReason.ROUTE_CHANGED, (), 4_000, goes_on=True),
        "lost, on a link": client.Lost(5, 900, LossReason.QUEUE_FULL, (), 500, sources=(ROME,), hops=3),
    }


def durable_frames() -> dict[str, Frame]:
    start = durables.StartAt
    every_term = durables.DurablePolicy(
        (ODD, ANY),
        7 * durables.DAY_MS,
        LAST,
        1_000,
        durables.Overflow.REFUSE,
        0,
        60_000,
        0,
        (),
        "dead",
        100_000,
        "dest",
        "id",
    )
    return {
        "keep": durables.CreateDurable(1, "orders", durables.DurablePolicy((CHEAP,))),
        "keep, every term": durables.CreateDurable(
            2, "trades", every_term, start.TIME, TIME_NS, homes=("rome", "oslo")
        ),
        "durable, one of two copies": durables.CreateDurable(
            6, "trades", durables.DurablePolicy((CHEAP,), copies_min=1), homes=("rome", "oslo")
        ),
        "keep, after a message": durables.CreateDurable(3, "trades", every_term, start.AFTER, 0, ALICE, 7),
        "attach": durables.Consume(4, 1, "orders", 500),
        "attach, after a position": durables.Consume(5, 2, "trades", LAST, 42, latest=True),
        "detach": durables.CancelConsume(6, 1),
        "detach, last": durables.CancelConsume(2**32 - 1, 2**32 - 1),
        "forget": durables.RemoveDurable(7, "orders"),
        "forget, last": durables.RemoveDurable(2**32 - 1, "é" * 128),
        "replay": durables.Replay(8, 3, (CHEAP,), TIME_NS, LAST, 1_000),
        "replay, no time": durables.Replay(9, 0, (ODD, ANY), 0, 0, 0),
        "create durable, with a residual program": durables.CreateDurable(
            7, "totals", durables.DurablePolicy((CHEAP,), residual=TOTAL_ABOVE_1000.pack())
        ),
        "create durable, in a dialect": durables.CreateDurable(
            8, "cheap", durables.DurablePolicy((CHEAP,), dialect="jms")
        ),
        "replay, with a residual program": durables.Replay(10, 4, (CHEAP,), 0, LAST, 9, TOTAL_ABOVE_1000.pack()),
        "replay end": durables.ReplayEnd(3, 12),
        "replay end, early": durables.ReplayEnd(3, 0, RefusalCode.LOG_FAILED, "a segment cannot be read"),
        "list keeps": durables.ListDurables(10, ""),
        "list keeps, behind one": durables.ListDurables(2**32 - 1, "orders"),
        "keeps listed": durables.DurablesListed(10, (), more=False),
        "keeps listed, two": durables.DurablesListed(
            10,
            (
                durables.DurableStatus("orders", "alice", durables.DurablePolicy((CHEAP,)), 3, 2, 1, 400, 1, 1_500),
                durables.DurableStatus("trades", "", every_term, LAST, 0, 0, LAST, 2**32 - 1, LAST),
            ),
            more=True,
        ),
        "list durables, elsewhere": durables.ListDurables(13, "orders", elsewhere=True),
        "durables listed, elsewhere": durables.DurablesListed(
            13, (), True, (durables.DurableElsewhere("orders", "rome", "alice", (CHEAP,), True),), "orders"
        ),
        "get": durables.Get(11, 4, "prices", encode_attributes({durables.GET_VALUE: "oslo"})),
        "get, a number": durables.Get(12, 5, "prices", encode_attributes({durables.GET_VALUE: -1})),
    }


def durable_answer_frames() -> dict[str, Frame]:
    of, verdict = client.AckOf, client.AckVerdict
    differs = client.Refusal(0, RefusalCode.DURABLE_DIFFERS, "it differs in count, order_by")
    return {
        "ack, get": client.Ack(of.GET, 11, (client.Range(4, 4),)),
        "ack, keep": client.Ack(of.CREATE_DURABLE, 1, (client.Range(0, 0),)),
        "ack, created and known": client.Ack(
            of.CREATE_DURABLE, 3, (client.Range(0, 0),), known_at=client.KnownAt(("oslo",), ("rome", "paris"), 1, 2)
        ),
        "ack, created and stored for elsewhere": client.Ack(
            *(of.CREATE_DURABLE, 3, (client.Range(0, 0),)),
            known_at=client.KnownAt(("oslo",), ("rome", "paris"), 1, 2, is_directed=True),
        ),
        "ack, narrowed": client.Ack(
            of.SUBSCRIBE, 4, (client.Range(1, 2),), narrowed=(client.Narrowed(1, (CHEAP, ODD)), client.Narrowed(2))
        ),
        "ack, keep differs": client.Ack(of.CREATE_DURABLE, 2, (), (differs,)),
        "ack, attach": client.Ack(of.CONSUME, 4, (client.Range(1, 1),)),
        "ack, deliver of a keep": client.Ack(of.DELIVER, 9, (client.Range(0, 42),), (), verdict.DONE, 1),
        "ack, deliver again": client.Ack(of.DELIVER, 0, (client.Range(43, 43),), (), verdict.AGAIN, 1, 5_000, "busy"),
        "ack, reject": client.Ack(of.DELIVER, 0, (client.Range(44, 44),), (), verdict.REJECT, 1, 0, "no such order"),
        "credit, of a keep": client.Credit(1_500, 0, 1),
        "lost, in all": client.Lost(3, 0, LossReason.UNDELIVERABLE, (1,), in_all=True),
        "lost, log damaged": client.Lost(
            2, 0, LossReason.LOG_DAMAGED, (1,), in_all=True, unknowns=1, first=2**40 + 5, last=2**40 + 9
        ),
    }


def report_frames() -> dict[str, Frame]:
    departures = (report.Departure(OSLO, False, TIME_NS + 900), report.Departure(ALICE, True, TIME_NS + 950))
    filters = (report.MatchedFilter(OSLO, 3), report.MatchedFilter(ALICE, 1))
    passed = (report.WouldDeliver(ALICE, 1), report.WouldDeliver(ALICE, 7))
    return {
        "trace record": report.TraceRecord(99, ROME, "rome", ALICE, 9, TIME_NS, 800, 2, filters, 2, departures, ""),
        "trace record, dropped": report.TraceRecord(99, ROME, "oslo", ROME, 0, TIME_NS, 0, 0, (), 0, (), "hop limit"),
        "dry run report": report.DryRunReport(100, ROME, "rome", ALICE, 2, passed, 1, (OSLO,)),
        "dry run report, end": report.DryRunReport(100, ROME, "oslo", ROME, 0, (), 0, ()),
    }


def routing_frames() -> dict[str, Frame]:
    filters = tuple(routing_bodies.AdvertisedFilter(i, packed) for i, packed in enumerate((CHEAP, ODD, ANY), 1))
    digest = predicate_digest(filters)
    less = predicate_digest(filters[:2])
    shared = (routing_bodies.AdvertisedFilter(1, CHEAP, "workers", 4), routing_bodies.AdvertisedFilter(2, CHEAP))
    shared_digest = predicate_digest(shared)
    behind = routers_digest((OSLO, LAST))
    stated = tuple(edge_bodies.EdgeFilter(id_, packed, id_ == 3) for id_, packed in filters)
    known = (routing_bodies.Known(ROME, 5, 1, digest), routing_bodies.Known(OSLO, 6, 0, NO_DIGEST))
    wholes: dict[str, parts.Whole] = {
        "ra, full": routing_bodies.ReceiverAdvertisement(ROME, 5, 1, True, 0, filters, (), digest, 3, False),
        "ra, change": routing_bodies.ReceiverAdvertisement(ROME, 5, 2, False, 1, (), (3,), less, 2, True),
        "ra, of a group": routing_bodies.ReceiverAdvertisement(
            ROME, 5, 3, True, 0, shared, (), shared_digest, 2, False
        ),
        "sr, digest": routing_bodies.SenderRequest(OSLO, 6, 1, routing_bodies.Scope.NEIGHBOUR, digest, ()),
        "sr, vector": routing_bodies.SenderRequest(OSLO, 6, 2, routing_bodies.Scope.TREE, b"", known, known[:1]),
        "sr, digest and spaces": routing_bodies.SenderRequest(
            *(OSLO, 6, 7, routing_bodies.Scope.NEIGHBOUR, digest, (), ()), spaces=less
        ),
        "space": routing_bodies.SpaceStatement("trades", 3, TRADES),
        "space, withdrawn": routing_bodies.SpaceStatement("trades", 2**63 - 1, b""),
        "sr, digest and edges": routing_bodies.SenderRequest(
            *(OSLO, 6, 8, routing_bodies.Scope.NEIGHBOUR, digest, (), (), less),
            edges=(edge_bodies.EdgeSaid(ROME, behind, 4, less),),
        ),
        "ea, full": edge_bodies.EdgeStatement(
            *(ROME, behind, 6, 3, True, 0, stated, (), digest, 3), complete=False, confirm=False
        ),
        "ea, change": edge_bodies.EdgeStatement(
            *(ROME, behind, 6, 4, False, 3, (), (3,), less, 2), complete=True, confirm=True
        ),
        "ea, of classes": edge_bodies.EdgeStatement(
            *(ROME, of_classes_digest(behind, 0b101), 6, 5, True, 0, (), (), NO_DIGEST, 0), complete=True, confirm=False
        ),
        "sr, digest and durables": routing_bodies.SenderRequest(
            *(OSLO, 6, 9, routing_bodies.Scope.NEIGHBOUR, digest, (), (), b"", (), less, known)
        ),
        "ur": routing_bodies.UpdateReply(OSLO, 6, 2, (routing_bodies.Entry(ROME, 5, 1, digest, filters),)),
        "ur, a piece": routing_bodies.UpdateReply(
            OSLO, 6, 5, (routing_bodies.Entry(ROME, 5, 1, digest, filters[1:2], 1, 3),), True
        ),
        "ur, nothing": routing_bodies.UpdateReply(OSLO, 6, 3, ()),
        "ur, of a tree": routing_bodies.UpdateReply(OSLO, 6, 4, (), True, 3, (ROME, LAST)),
    }
    long = parts.split(wholes["ra, full"], parts.PART_OVERHEAD_BYTES + 60)
    adjacency = (routing_bodies.Adjacency(OSLO, 1, 10), routing_bodies.Adjacency(LAST, LAST, 2**32 - 1))
    return {
        "lsa": routing_bodies.LinkState("rome", 5, 3, adjacency),
        "lsa, alone": routing_bodies.LinkState("oslo", 6, 0, ()),
        **{name: parts.split(whole)[0] for name, whole in wholes.items()},
        **{f"ra, part {part.k} of {part.n}": part for part in long},
        "eh": edge_bodies.EdgeHeld(ROME, behind, 6, 4),
        "eh, last": edge_bodies.EdgeHeld(LAST, NO_DIGEST, LAST, LAST),
        "er": edge_bodies.EdgeRequest(ROME, behind),
        "er, of classes": edge_bodies.EdgeRequest(ROME, of_classes_digest(behind, 0b101)),
        "er, last": edge_bodies.EdgeRequest(LAST, NO_DIGEST),
        "held": routing_bodies.Held(ROME, 5, 2, (OSLO,)),
        "held, by two": routing_bodies.Held(ROME, 5, 2, (OSLO, LAST)),
        "epoch refused": routing_bodies.EpochRefused(ROME, LAST, TIME_NS // 10**6),
        "epoch refused, none": routing_bodies.EpochRefused(OSLO, 1, 0),
    }


def home_frames() -> dict[str, Frame]:
    homed = (
        home_bodies.NumberedDurable(
            1, home_bodies.packed_durable(home_bodies.StatedDurable("orders", "alice", (CHEAP, ODD), 1, 0, 604_800_000))
        ),
        home_bodies.NumberedDurable(2, b"\x91\xa1x"),
    )
    taken = (
        home_bodies.NumberedDurable(
            3, home_bodies.packed_durable(home_bodies.StatedDurable("trades", "alice", (CHEAP,), 2, 0, 604_800_000))
        ),
    )
    copy = home_bodies.StatedCopy(("rome", "oslo"), TIME_NS // 10**6, durables.DurablePolicy((CHEAP,)), ("clerk",))
    copied = (
        home_bodies.NumberedDurable(
            4, home_bodies.packed_durable(home_bodies.StatedDurable("bills", "alice", (CHEAP,), 6, 0, 0, (copy,)))
        ),
    )
    holders = (home_bodies.DurablesHolder(OSLO, 78), home_bodies.DurablesHolder(LAST, 0))
    wholes: dict[str, parts.Whole] = {
        "durables, full": home_bodies.DurablesStatement(
            *(ROME, "rome", 5, 8, 77, True, 0, homed, (), predicate_digest(homed), 2), confirm=False
        ),
        "durables, change": home_bodies.DurablesStatement(
            *(ROME, "rome", 5, 9, 77, False, 8, (), (2,), predicate_digest(homed[:1]), 1), confirm=True
        ),
        "durables, of a home that takes DIRECTED": home_bodies.DurablesStatement(
            *(ROME, "rome", 5, 10, 77, False, 9, taken, (), predicate_digest(taken), 1), confirm=True
        ),
        "durables, with a copy": home_bodies.DurablesStatement(
            *(ROME, "rome", 5, 11, 77, False, 10, copied, (), predicate_digest(copied), 1), confirm=True
        ),
    }
    return {
        **{name: parts.split(whole)[0] for name, whole in wholes.items()},
        "durables held": home_bodies.DurablesHeld(ROME, 5, 9, holders[:1]),
        "durables held, by two": home_bodies.DurablesHeld(ROME, 5, 9, holders),
        "durables held, by a life": home_bodies.DurablesHeld(
            ROME, 5, 9, (home_bodies.DurablesHolder(OSLO, 78, 9, 8), *holders[1:])
        ),
    }


def custody_frames() -> dict[str, Frame]:
    written, given_up = LogLife(77, 9, 8), (9 << 40 | 5, 9 << 40 | 6, 9 << 40 | 900)
    return {
        "custody ack": custody.CustodyAck(OSLO, 88, ROME, 77, 9 << 40 | 3, 4 << 20),
        "custody ack, lacking": custody.CustodyAck(
            *(OSLO, 88, ROME, 77, 9 << 40 | 30, 4 << 20),
            lacking_since=9 << 40 | 2,
            lacking=(custody.ChainRange(9 << 40 | 7, 9 << 40 | 9),),
        ),
        "custody ack, last": custody.CustodyAck(LAST, LAST, LAST, LAST, LAST, LAST, 0),
        "custody ask": custody.CustodyAsk(OSLO, 88, ROME, 77, 9 << 40 | 1),
        "custody ask, of nothing": custody.CustodyAsk(OSLO, 88, ROME, 77, 0, 1),
        "gap": custody.ChainGap(ROME, written, OSLO, 88, 9 << 40 | 900, 9 << 40 | 3, given_up),
        "gap, doubt": custody.ChainGap(ROME, written, OSLO, 88, 9 << 40 | 3, 8 << 40, (), 7),
        "custody ask, with a token": custody.CustodyAsk(OSLO, 88, ROME, 77, 9 << 40 | 1, token=LAST),
        "gap, as asked for": custody.ChainGap(
            ROME, written, OSLO, 88, 9 << 40 | 900, 9 << 40 | 3, given_up, token=LAST
        ),
        "finished": custody.CopyFinished(
            ROME, 77, OSLO, 88, "orders", 9 << 40, 5, struct.pack("<QQIQQI", 5, 1, 64, 6, 9, 1)
        ),
        "finished, all of it": custody.CopyFinished(OSLO, 88, ROME, 77, "orders", LAST, LAST, b"", 0),
    }


def remote_frames() -> dict[str, Frame]:
    return {
        "remote": remote.RemotePiece(9, OSLO, ROME, 5, 70_000, 900, 262_144, remote.FROM_FAR, b"a piece"),
        "remote, the end": remote.RemotePiece(0, LAST, LAST, LAST, 0, 0, 0, remote.ENDS | remote.IS_LOST, b""),
        "remote hello": remote.RemoteHello("rome", "alice", "", 3, 1_048_576, False, ()),
        "remote hello, with roles": remote.RemoteHello(
            "rome", "press/7", "press", 3, 4_096, True, ("helper", "worker")
        ),
    }


def frames() -> dict[str, Frame]:
    of_clients = data_frames() | session_frames() | client_frames() | durable_frames() | durable_answer_frames()
    return of_clients | report_frames() | routing_frames() | home_frames() | custody_frames() | remote_frames()


def main() -> None:
    vectors = json.loads(VECTORS.read_text()) if VECTORS.exists() else []
    frozen = {vector["name"]: vector["hex"] for vector in vectors}
    for name, frame in frames().items():
        encoded = encode(frame).hex()
        if name not in frozen:
            vectors.append({"name": name, "hex": encoded, "frame": json_form(frame)})
        elif frozen[name] != encoded:
            raise SystemExit(f"vector {name!r} is frozen and would change; give the new form a name of its own")
    VECTORS.write_text(json.dumps(vectors, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

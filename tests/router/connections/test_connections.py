"""Clients of a router: what they ask for, what they get, and how they end."""

from __future__ import annotations

import asyncio
import json
import signal
import time

import pytest

from tamis.native.switch_figures import DROP_REASONS
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.codes import ErrorCode, RefusalCode
from tamis.protocol.wire.data_frames import DataFrame
from tamis.protocol.wire.extensions import ExtensionType
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.header import Flags
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.report_bodies import DryRunReport, TraceRecord, WouldDeliver
from tamis.protocol.wire.session_bodies import Authenticated, Drain, Error, Ping, Pong, Role, Welcome
from tests.router.wire_client import WireClient, auth, hello, subscribe, subscription


def dry_run(client: WireClient, **attributes: object) -> DataFrame:
    message = Message(attributes, b"", MessageId(client.number, 1))
    return DataFrame(FrameKind.DRY_RUN, message, Flags.TRACED, extensions={ExtensionType.TRACE: 77})


# --- messages --------------------------------------------------------------------------------------------------------


async def test_a_message_reaches_whom_it_concerns_once_with_all_subscriptions(inside):
    net = inside()
    alice, bob, carol = [await net.client(name) for name in ("alice", "bob", "carol")]
    await bob.send(subscribe(1, subscription(7, "price < 500"), subscription(8, 'dest = "MXP" or price > 1')))
    assert await bob.next() == bodies.Ack(bodies.AckOf.SUBSCRIBE, 1, (bodies.Range(7, 8),))
    await carol.subscribe(1, "price > 500")
    await alice.publish({"price": 300, "dest": "MXP"}, b"hello", Flags.CONFIRM)
    assert await alice.next() == bodies.Ack(bodies.AckOf.PUBLISH, 0, (bodies.Range(1, 1),))
    got = await bob.next(DataFrame)
    assert (got.message.payload, got.message.id) == (b"hello", MessageId(alice.number, 1))
    assert sorted(got.extensions[ExtensionType.SATISFIED]) == [7, 8]
    await alice.publish({"price": 501})
    assert await carol.delivered() == {"price": 501}


@pytest.mark.parametrize("own", [True, False])
async def test_own_messages_only_for_those_who_ask(inside, own):
    net = inside()
    alice = await net.client("alice")
    await alice.subscribe(1, "x = 1", own=own)
    await alice.subscribe(2, "x = 2", own=True)
    await alice.publish({"x": 1})
    await alice.publish({"x": 2})
    assert await alice.delivered() == ({"x": 1} if own else {"x": 2})


async def test_credit_comes_with_the_admission(inside):
    alice = await inside("limits: {credit_frames: 50, credit_bytes: 1_048_576}").client("alice")
    await alice.subscribe(1, "x = 1")
    assert alice.credit == [bodies.Credit(50, 1_048_576)]


# --- subscriptions ---------------------------------------------------------------------------------------------------


async def test_nothing_arrives_after_the_answer_to_unsubscribe(inside):
    net = inside()
    alice, bob = await net.client("alice"), await net.client("bob")
    await bob.subscribe(1, "exists x")
    for number in range(200):
        await alice.publish({"x": number})
    await bob.send(bodies.Unsubscribe(2, (1, 9)))
    got = [await bob.next()]
    while not isinstance(got[-1], bodies.Ack):
        got.append(await bob.next())
    assert got[-1].ranges == (bodies.Range(1, 1),)
    assert [(item.number, item.code) for item in got[-1].refusals] == [(9, RefusalCode.NO_SUCH_ID)]
    await alice.publish({"x": 1000}, flags=Flags.CONFIRM)
    await alice.next(bodies.Ack)
    await bob.send(Ping(5))
    assert await bob.next() == Pong(5)


async def test_a_refusal_says_why(inside):
    bob = await inside("limits: {filters_per_client: 3}").client("bob")
    await bob.subscribe(1, "x = 1")
    bad = bodies.SubscriptionItem(2, (b"\x91\x93\xa1x\x63\x01",))
    await bob.send(
        subscribe(2, bad, subscription(1, "x = 2"), subscription(3, "a=1 or b=1 or c=1"), subscription(4, "y=1"))
    )
    ack = await bob.next(bodies.Ack)
    assert ack.ranges == (bodies.Range(4, 4),)
    assert [item[:3] for item in ack.refusals] == [
        (2, RefusalCode.BAD_FILTER, "no operator 99"),
        (1, RefusalCode.ID_IN_USE, "subscription 1 exists already"),
        (3, RefusalCode.TOO_MANY_FILTERS, "a client may have at most 3 filters (limits.filters_per_client)"),
    ]


async def test_a_refusal_for_bytes_of_table_says_how_many_there_may_be(inside):
    """One client fills its share; another one is served as ever, and what is taken back counts no more."""
    net = inside("limits: {table_bytes_per_client: 65_536}")
    bob = await net.client("bob")
    values = ", ".join(map(str, range(256)))
    large = f"x in {{{values}}} and y in {{{values}}}"
    for i in range(1, 6):
        ack = await bob.subscribe(i, large)
        if ack.refusals:
            break
    assert [item[:3] for item in ack.refusals] == [
        (
            i,
            RefusalCode.OVER_QUOTA,
            "a client's filters may use at most 65,536 bytes of table (limits.table_bytes_per_client)",
        )
    ]
    assert i > 2
    assert (await bob.subscribe(9, "x = 1")).refusals == ()
    alice = await net.client("alice")
    assert (await alice.subscribe(1, large)).refusals == ()
    await bob.send(bodies.Unsubscribe(7, (1,)))
    await bob.next(bodies.Ack)
    assert (await bob.subscribe(i, large)).refusals == ()


async def test_a_message_that_is_too_costly_is_told_to_its_publisher(inside):
    net = inside("limits: {match_steps: 10_000}")
    alice, bob = await net.client("alice"), await net.client("bob")
    await bob.subscribe(1, 'x contains "aab" or y = 1')
    await alice.publish({"x": "a" * 60_000, "y": 1}, flags=Flags.CONFIRM)
    [refused] = (await alice.next(bodies.Ack)).refusals
    assert refused.code == RefusalCode.TOO_COSTLY
    assert net.connections.switch.figures().dropped[DROP_REASONS.index("costly")] == 1


async def test_a_subscription_is_taken_with_all_of_its_filters_or_not_at_all(inside):
    net = inside()
    bob = await net.client("bob")
    await bob.send(subscribe(1, bodies.SubscriptionItem(1, (b"\x90", b"\xc1"))))
    assert (await bob.next(bodies.Ack)).ranges == ()
    assert net.connections.switch.figures().filters == 0


async def test_durable_subscriptions_are_refused_until_there_are_logs(inside):
    bob = await inside().client("bob")
    await bob.send(subscribe(1, subscription(1, "x = 1"), durable=True))
    assert [item.code for item in (await bob.next(bodies.Ack)).refusals] == [RefusalCode.NOT_ALLOWED]


async def test_requests_are_answered_in_order_and_a_crowd_of_them_pauses_reading(inside):
    net = inside()
    bob = await net.client("bob")
    frames = [encode(subscribe(number, subscription(number, f"x = {number}"))) for number in range(1, 201)]
    paused = []
    pause = net.connections.switch.pause
    net.connections.switch.pause = lambda connection, is_paused: (
        paused.append(is_paused),
        pause(connection, is_paused),
    )
    await bob.send_bytes(b"".join(frames))
    assert [(await bob.next(bodies.Ack)).request for _ in range(200)] == list(range(1, 201))
    assert paused[0] is True
    assert paused[-1] is False
    assert net.connections.switch.figures().filters == 200


async def test_an_answer_fits_the_frames_that_the_client_takes(inside):
    bob = await inside().client("bob", frame_bytes_max=4_096)
    await bob.send(subscribe(1, *(bodies.SubscriptionItem(2 * number, (b"\xc1",)) for number in range(2_000))))
    refused = []
    while len(refused) < 2_000:
        refused += (await bob.next(bodies.Ack)).refusals
    assert sorted(item.number for item in refused) == [2 * number for number in range(2_000)]


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (b"\x0a\0\0\0\x20\0\0\0\x91\x01", ErrorCode.MALFORMED),
        (b"\x09\0\0\0\x21\0\0\0\xc1", ErrorCode.MALFORMED),
        (encode(subscribe(1, subscription(1, "x=1"))).replace(b"\x92\x01", b"\x92\xc0"), ErrorCode.MALFORMED),
        (encode(hello("again")), ErrorCode.UNEXPECTED_KIND),
        (encode(bodies.Credit(1, 1)), ErrorCode.UNEXPECTED_KIND),
        (b"\x08\0\0\0\x7f\0\0\0", ErrorCode.UNKNOWN_KIND),
        (b"\x03\0\0\0", ErrorCode.TOO_SHORT),
    ],
)
async def test_who_breaks_the_rules_is_told_and_disconnected_and_nobody_else_is(inside, frame, code):
    net = inside()
    bob, mallory = await net.client("bob"), await net.client("mallory")
    await mallory.send_bytes(frame)
    [error] = await mallory.until_closed()
    assert (error.code, error.fatal) == (code, True)
    await bob.subscribe(1, "x = 1", own=True)
    await bob.publish({"x": 1})
    assert await bob.delivered() == {"x": 1}


async def test_a_repeated_id_in_one_batch_is_malformed(inside):
    bob = await inside().client("bob")
    frame = bytearray(encode(subscribe(1, subscription(1, "x=1"), subscription(2, "x=1"))))
    second = frame.rindex(b"\x92\x02")
    frame[second + 1] = 1
    await bob.send_bytes(bytes(frame))
    [error] = await bob.until_closed()
    assert error.text == "the ids of a batch differ"


# --- coming and going ------------------------------------------------------------------------------------------------


async def test_of_two_clients_with_one_name_the_newer_stays(inside):
    net = inside()
    older = await net.client("bob")
    newer = await net.client("bob")
    [error] = await older.until_closed()
    assert (error.code, error.fatal) == (ErrorCode.REPLACED, True)
    assert (await newer.subscribe(1, "x = 1")).ranges == (bodies.Range(1, 1),)
    assert list(net.clients.names) == ["bob"]


async def test_filters_of_the_gone_are_forgotten_and_their_number_is_used_again(inside):
    net = inside()
    bob = await net.client("bob")
    await bob.send(subscribe(1, *(subscription(number, f"x = {number}") for number in range(1_200))))
    await bob.next(bodies.Ack)
    await bob.close()
    await net.until(lambda: not net.clients.by_connection and net.connections.switch.figures().filters == 0)
    await net.client("carol")
    assert list(net.clients.by_connection) == [0]


async def test_a_greeting_that_takes_too_long_is_ended(inside):
    net = inside("limits: {greeting_ms: 100}")
    stranger = await net.stranger()
    [error] = await stranger.until_closed()
    assert error.code == ErrorCode.UNAUTHENTICATED
    assert error.text == "the next frame of the greeting took more than 100 ms"


@pytest.mark.slow
async def test_hello_and_auth_have_their_time_each(inside):
    net = inside("limits: {greeting_ms: 300}")
    stranger = await net.stranger()
    began_s = time.monotonic()
    await asyncio.sleep(0.2)
    await stranger.send(hello("bob"))
    await stranger.next(Welcome)
    await asyncio.sleep(0.2)
    await stranger.send(auth())
    await stranger.next(Authenticated)
    assert time.monotonic() - began_s > 0.3


async def test_a_greeting_that_is_too_long_is_ended(inside):
    stranger = await inside().stranger()
    await stranger.send_bytes((8_192).to_bytes(4, "little") + b"\x10\0\0\0")
    [error] = await stranger.until_closed()
    assert error.code == ErrorCode.UNAUTHENTICATED


async def test_a_message_before_the_greeting_is_over_is_an_error(inside):
    stranger = await inside().stranger()
    await stranger.publish({"x": 1})
    [error] = await stranger.until_closed()
    assert error.code == ErrorCode.UNEXPECTED_KIND


async def test_a_router_is_told_where_neighbours_connect(inside):
    stranger = await inside().stranger()
    await stranger.send(hello("rome", role=Role.ROUTER, link_cost=1))
    [error] = await stranger.until_closed()
    assert "neighbours connect to the addresses under `neighbours`" in error.text


async def test_time_in_which_a_router_was_stopped_is_no_silence_of_its_clients(process):
    """What they have sent meanwhile is read before they are judged."""
    router = process(
        json.dumps({"routers": {"a": {"clients": "127.0.0.1:0"}}, "keepalive": {"hold_ms": 1_000, "ping_ms": 300}})
    )
    bob = await WireClient.greeted(router.where, "bob")
    for number in range(3):
        router.signal(signal.SIGSTOP)
        for _ in range(8):
            await asyncio.sleep(0.2)
            await bob.send(Ping(number))
        router.signal(signal.SIGCONT)
        await asyncio.sleep(0.2)
        await bob.send(Ping(number + 100))
        while (frame := await bob.next()) != Pong(number + 100):
            assert isinstance(frame, Ping | Pong), frame


@pytest.mark.slow
async def test_a_silent_client_is_found(inside):
    bob = await inside("keepalive: {hold_ms: 300, ping_ms: 100}").client("bob")
    *pings, error = await bob.until_closed()
    assert (error.code, error.text) == (ErrorCode.SILENT, "no frame arrived for 300 ms")
    assert pings
    assert all(isinstance(ping, Ping) for ping in pings)


@pytest.mark.slow
async def test_a_client_that_answers_stays(inside):
    net = inside("keepalive: {hold_ms: 300, ping_ms: 50}")
    bob = await net.client("bob")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.8):
            await bob.answer_pings()
    assert "bob" in net.clients.names


async def test_pings_come_in_time_for_the_hold_time_of_the_client(inside):
    bob = await inside().client("bob", hold_ms=300)
    assert isinstance(await bob.next(), Ping)


async def test_full_says_so(inside):
    net = inside("limits: {connections: 2}")
    await net.client("a")
    await net.client("b")
    stranger = await net.stranger()
    [error] = await stranger.until_closed()
    assert error.code == ErrorCode.FULL


async def test_a_slow_client_is_disconnected_where_that_is_the_policy(inside):
    net = inside("slow_consumer: {policy: disconnect}\nlimits: {connection_queue_bytes: 1_048_576}")
    alice, bob = await net.client("alice"), await net.client("bob")
    await bob.subscribe(1, "exists x")
    for number in range(40):
        await alice.publish({"x": number}, bytes(100_000))
    await alice.publish({"x": 0}, flags=Flags.CONFIRM)
    await alice.next(bodies.Ack)
    errors = [frame for frame in await bob.until_closed() if isinstance(frame, Error)]
    assert [error.code for error in errors] == [ErrorCode.SLOW]
    await net.until(lambda: "bob" not in net.clients.names)


async def test_draining_tells_clients_and_refuses_what_is_new(inside):
    net = inside()
    alice, bob = await net.client("alice"), await net.client("bob")
    await bob.subscribe(1, "exists x")
    await alice.publish({"x": 1}, flags=Flags.CONFIRM)
    await alice.next(bodies.Ack)
    net.connections.drain()
    assert await bob.delivered() == {"x": 1}
    assert isinstance(await bob.next(), Drain)
    assert isinstance(await alice.next(), Drain)
    await alice.publish({"x": 2}, flags=Flags.CONFIRM)
    assert [item.code for item in (await alice.next(bodies.Ack)).refusals] == [RefusalCode.DRAINING]
    await bob.send(subscribe(2, subscription(2, "x = 1")), bodies.Unsubscribe(3, (1,)))
    assert [item.code for item in (await bob.next(bodies.Ack)).refusals] == [RefusalCode.DRAINING]
    assert (await bob.next(bodies.Ack)).ranges == (bodies.Range(1, 1),)
    late = await net.stranger()
    await late.send(hello("late"))
    assert [error.code for error in await late.until_closed()] == [ErrorCode.FULL]
    await net.until(lambda: net.connections.is_flushed)
    net.connections.dismiss()
    assert await bob.until_closed() == []


async def test_a_bug_costs_the_client_that_met_it(inside, monkeypatch, caplog):
    net = inside()
    bob, mallory = await net.client("bob"), await net.client("mallory")
    monkeypatch.setattr("tamis.router.clients.client.report_of", lambda *_: 1 / 0)
    await mallory.send(dry_run(mallory, x=1))
    assert await mallory.until_closed() == []
    assert "failed to handle an event" in caplog.text
    assert (await bob.subscribe(1, "x = 1")).ranges


# --- dry runs --------------------------------------------------------------------------------------------------------


async def test_a_dry_run_says_whom_it_would_reach_and_reaches_nobody(inside):
    net = inside()
    alice, bob = await net.client("alice"), await net.client("bob")
    await bob.subscribe(4, "x = 1 or x < 5")
    await alice.subscribe(5, "x = 1")
    await alice.send(dry_run(alice, x=1))
    report = await alice.next(DryRunReport)
    assert (report.trace, report.router, report.came_from) == (77, "a", alice.number)
    assert (report.delivery_count, report.deliveries) == (1, (WouldDeliver(bob.number, 4),))
    await bob.send(Ping(1))
    assert await bob.next() == Pong(1)


async def test_a_dry_run_under_another_name_is_refused(inside):
    net = inside()
    alice, bob = await net.client("alice"), await net.client("bob")
    await alice.send(dry_run(bob, x=1))
    [error] = await alice.until_closed()
    assert error.code == ErrorCode.WRONG_SENDER


# --- what a client may ask for ---------------------------------------------------------------------------------------


def traced(client: WireClient, counter: int) -> DataFrame:
    message = Message({"x": counter}, b"payload", MessageId(client.number, counter))
    extensions = {ExtensionType.GROUP: "g", ExtensionType.TRACE: 1_000 + counter, ExtensionType.EXPIRY: 2**63}
    return DataFrame(FrameKind.PUBLISH, message, Flags.TRACED | Flags.CONFIRM, extensions=extensions)


async def test_past_its_traces_a_message_goes_on_untraced_and_the_client_hears_of_it(inside):
    net = inside("limits: {traces_per_s: 1, traces_burst: 3}")
    alice, bob = await net.client("alice"), await net.client("bob")
    await bob.subscribe(1, "exists x")
    await alice.send(*(traced(alice, counter) for counter in range(1, 9)))
    reports, taken = [], 0
    while taken < 8 or len(reports) < 4:
        frame = await alice.next()
        if isinstance(frame, bodies.Ack):
            taken += sum(each.last - each.first + 1 for each in frame.ranges)
        else:
            reports.append(frame)
    assert [(report.trace, report.dropped[:11]) for report in reports] == [
        (1_001, ""),
        (1_002, ""),
        (1_003, ""),
        (1_004, "not dropped"),
    ]
    for counter in range(1, 9):
        got = await bob.next(DataFrame)
        assert (dict(got.message.attributes), got.message.payload) == ({"x": counter}, b"payload")
        assert (ExtensionType.TRACE in got.extensions) is bool(got.flags & Flags.TRACED) is (counter <= 3)
        assert got.extensions[ExtensionType.GROUP] == "g"
        assert got.extensions[ExtensionType.EXPIRY] == 2**63
    assert net.connections.switch.figures().traces_refused == 5
    net.connections.switch.advance(1_000)
    await alice.send(traced(alice, 9))
    assert isinstance(await alice.next(), bodies.Ack | TraceRecord)


async def test_past_its_traces_a_dry_run_is_refused(inside):
    net = inside("limits: {traces_per_s: 1, traces_burst: 1}")
    alice = await net.client("alice")
    await alice.send(dry_run(alice, x=1), dry_run(alice, x=1))
    frames = [await alice.next(), await alice.next()]
    [report] = [frame for frame in frames if isinstance(frame, DryRunReport)]
    [ack] = [frame for frame in frames if isinstance(frame, bodies.Ack)]
    assert report.trace == 77
    assert [(item.number, item.code) for item in ack.refusals] == [(1, RefusalCode.OVERLOADED)]

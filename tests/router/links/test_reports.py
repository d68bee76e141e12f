"""What routers report of a message on its way: who tells whom, and what happens to reports that find nobody."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses

import pytest

import tamis
from tamis.protocol.limits import NAME_BYTES_MAX, REPORT_DURABLES_MAX, REPORT_ITEMS_MAX
from tamis.protocol.wire.frames import decode, encode
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.prefix import PREFIX_BYTES
from tamis.protocol.wire.report_bodies import Departure, DryRunReport, MatchedFilter, TraceRecord, WouldDeliver, fitted
from tamis.router.clients import trace_askers
from tamis.router.links import link as link_module
from tests.router.links.conftest import network
from tests.router.wire_client import PATIENCE_S

RING5 = ("ab", "bc", "cd", "de", "ea", "ac")


def client(node, name: str) -> tamis.Client:
    return tamis.connect(node.where.replace("unix:", "tamis+unix:"), name=name)


def record(trace: int, source: str, router: str, **more: object) -> TraceRecord:
    said = {"hop_limit": 1, "arrived_ns": 1, "match_ns": 1, "filter_count": 0, "filters": (), "departure_count": 0}
    return TraceRecord(trace, stable_number(source), router, 1, **{**said, "departures": (), "dropped": ""} | more)


@contextlib.asynccontextmanager
async def subscribers(made, names: str, predicate: str):
    """One at each of these routers, all known everywhere."""
    async with contextlib.AsyncExitStack() as stack:
        for name in names:
            one = await stack.enter_async_context(client(made[name], f"at {name}"))
            await one.subscribe(predicate, wait="network").start()
        yield


async def test_each_router_of_a_line_reports_to_the_client(nodes):
    made = await network(nodes, "ab", "bc")
    async with client(made["a"], "alice") as alice, client(made["c"], "carol") as carol:
        async with carol.subscribe("x > 1", wait="network") as wanted:
            trail = await alice.trace({"x": 2}, b"payload", timeout_s=PATIENCE_S)
            message = await anext(wanted)
    assert (message.payload, trail.is_complete, trail.unanswered) == (b"payload", True, ())
    by_name = {report.router: report for report in trail.reports}
    first, middle, last = [by_name[name] for name in "abc"]
    a, b, c = map(stable_number, "abc")
    assert [each.came_from for each in (first, middle, last)] == [stable_number("alice"), a, b]
    assert [[d[:2] for d in each.departures] for each in (first, middle, last)] == [
        [(b, False)],
        [(c, False)],
        [(stable_number("carol"), True)],
    ]
    assert [each.filter_count for each in (first, middle, last)] == [1, 1, 1]
    assert last.filters == (MatchedFilter(stable_number("carol"), wanted.ids[0]),)
    assert first.filters[0].issuer == c
    assert first.arrived_ns <= middle.arrived_ns <= last.arrived_ns
    assert middle.hop_limit == last.hop_limit + 1
    assert [each.dropped for each in (first, middle, last)] == ["", "", ""]
    assert trail.entry == (stable_number("alice"), a)
    assert trail.onward(trail.entry) == ((a, b),)
    assert trail.report((a, b)) is middle


@pytest.mark.slow
async def test_a_ring_is_one_tree(nodes):
    made = await network(nodes, *RING5)
    async with subscribers(made, "bcde", "x = 1"), client(made["a"], "alice") as alice:
        traced = await alice.trace({"x": 1}, timeout_s=PATIENCE_S)
        dry = await alice.route({"x": 1}, timeout_s=PATIENCE_S)
        nobody = await alice.route({"x": 2}, timeout_s=PATIENCE_S)
    assert traced.is_complete
    assert dry.is_complete
    # While earlier trees are in force, a router may get a second copy, which it does not take.
    assert sorted(report.router for report in traced.reports if not report.dropped) == list("abcde")
    delivered = sorted((report.router, row) for report in dry.reports for row in report.deliveries)
    assert delivered == [(name, WouldDeliver(stable_number(f"at {name}"), 1)) for name in "bcde"]
    assert [(report.router, report.passed_count) for report in nobody.reports] == [("a", 0)]


async def test_a_dry_run_is_delivered_to_nobody(nodes):
    made = await network(nodes, "ab")
    async with client(made["a"], "alice") as alice, client(made["b"], "bob") as bob:
        async with bob.subscribe("x = 1", wait="network") as wanted:
            dry = await alice.route({"x": 1}, timeout_s=PATIENCE_S)
            await alice.publish({"x": 1}, b"real")
            assert (await anext(wanted)).payload == b"real"
    assert [report.delivery_count for report in dry.reports] == [0, 1]


async def test_a_router_that_does_not_answer_is_named(nodes):
    made = await network(nodes, "ab", "bc")
    made["c"].network.reported = lambda *_: None
    async with subscribers(made, "c", "x = 1"), client(made["a"], "alice") as alice:
        trail = begin(alice)
        await made["a"].until(lambda: len(trail.reports) == 2)
    assert not trail.is_complete
    assert trail.unanswered == ((stable_number("b"), stable_number("c")),)


async def test_the_oldest_asker_is_forgotten(nodes, monkeypatch):
    monkeypatch.setattr(trace_askers, "ASKED_MAX", 1)
    node = (await network(nodes, "ab"))["a"]
    async with client(node, "alice") as alice:
        trails = older, newer = begin(alice), begin(alice)
        await node.until(lambda: older.reports and newer.reports)
        for trail in trails:
            node.network.reported(record(trail.trace, "a", "x"), stable_number("b"))
        await node.until(lambda: len(newer.reports) == 2)
        assert len(older.reports) == 1


def begin(alice: tamis.Client) -> tamis.Trail:
    """A message is published; who looks at its trail does not wait for its end."""
    taken, complete = (asyncio.get_running_loop().create_future() for _ in range(2))
    complete.add_done_callback(asyncio.Future.exception)  # nobody else looks at it
    trail = alice._pump.core.trails.begin(TraceRecord, {"x": 1}, b"", 1, taken, complete)
    alice._pump.written()
    return trail


async def test_a_report_never_goes_back_where_it_came_from(nodes):
    made = await network(nodes, "ab", "bc")
    out = made["b"].neighbour("a").link.outgoing
    before = out.frames
    made["b"].network.reported(record(1, "a", "x"), stable_number("a"))
    made["b"].network.reported(record(1, "nowhere", "x"), stable_number("c"))
    assert out.frames == before
    made["b"].network.reported(record(1, "a", "x"), stable_number("c"))
    assert out.frames == before + 1


async def test_reports_that_find_no_room_are_lost_and_nothing_else(nodes, monkeypatch):
    made = await network(nodes, "ab")
    link = made["a"].neighbour("b").link
    monkeypatch.setattr(link_module, "REPORTS_MAX", 2)
    monkeypatch.setattr(link.outgoing, "_window", 0)
    for _ in range(5):
        link.report(record(1, "b", "x"))
    assert link.outgoing.waiting(link_module.REPORTS) == 2
    assert link.is_open


@pytest.mark.parametrize("room", [4_096, 65_536])
def test_a_report_fits_the_frames_of_whoever_takes_it(room):
    rows = range(REPORT_ITEMS_MAX)
    most = 2**64 - 1
    names = tuple(f"{row:0{NAME_BYTES_MAX}}" for row in range(REPORT_DURABLES_MAX))
    durables = {"durable_count": 2**32 - 1, "durables": names}
    long = record(
        *(most, "a", "r" * 256),
        dropped="d" * 1_024,
        filters=tuple(MatchedFilter(most, most - row) for row in rows),
        departures=tuple(Departure(most - row, False, most) for row in rows),
        filter_count=2**32 - 1,
        departure_count=2**32 - 1,
        **durables,
    )
    dry = DryRunReport(
        *(most, most, "r" * 256, most, 2**32 - 1, tuple(WouldDeliver(most, 2**32 - 1) for _ in rows)),
        *(2**32 - 1, tuple(most - row for row in rows)),
        **durables,
    )
    for report in (long, dry):
        fits = fitted(report, room)
        frame = encode(fits, room)
        assert decode(frame) == fits
        assert (fits == report) is (room == 65_536)
        assert (len(fits.durables) > 0, fits.durable_count) == (True, 2**32 - 1)


def test_a_report_without_keeps_is_that_of_earlier_versions() -> None:
    """What they write reads as none, and what they read has the bytes that they know; of others they skip the end."""
    none = record(7, "a", "b")
    some = dataclasses.replace(none, durable_count=2, durables=("audit", "jobs"))
    of_old = encode(none)[PREFIX_BYTES:]
    assert of_old[0] == 0x9C, "an array of twelve fields"
    assert encode(some)[PREFIX_BYTES:][1:].startswith(of_old[1:])
    assert decode(encode(none)) == none
    assert decode(encode(some)) == some

"""The small parts without sockets: answers, slices, stalls, logs, addresses, settings."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest

from tamis.configs import parse_topology
from tamis.native import SlowPolicy
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.wire.client_bodies import Ack, AckOf, Range, Refusal
from tamis.protocol.wire.frames import decode
from tamis.router.clients.acks import answer, refusal
from tamis.router.connections.work import SlicedWork
from tamis.router.daemon.exposure import check_exposure
from tamis.router.daemon.logs import SAME_PER_SECOND, JsonLines, TextLines, Throttle, fields
from tamis.router.daemon.settings import admission, new_table, switch_options
from tamis.router.daemon.settings_file import load_settings, restart_keys
from tamis.router.daemon.stalls import StallWatch
from tamis.serving.cannot_start import CannotStart
from tests.router.wire_client import hello


def settings(router: str = "", keys: str = ""):
    return parse_topology(f"{keys}\nrouters: {{a: {{{router}}}}}").router("a")


# --- acks ------------------------------------------------------------------------------------------------------------


def test_an_answer_is_one_frame_where_it_fits():
    [frame] = answer(AckOf.SUBSCRIBE, 3, [5, 1, 2], [Refusal(9, 1, "why")], 65_536)
    assert decode(frame) == Ack(AckOf.SUBSCRIBE, 3, (Range(1, 2), Range(5, 5)), (Refusal(9, 1, "why"),))


def test_an_answer_that_does_not_fit_loses_its_reasons_first():
    [frame] = answer(AckOf.SUBSCRIBE, 3, [], [Refusal(number, 1, "why" * 100) for number in range(20)], 4_096)
    assert {item.reason for item in decode(frame).refusals} == {""}


def test_and_is_cut_in_pieces_then_each_item_once():
    done, refused = list(range(0, 6_000, 2)), [Refusal(number, 1, "") for number in range(1, 6_000, 2)]
    frames = list(answer(AckOf.UNSUBSCRIBE, 3, done, refused, 4_096))
    assert max(map(len, frames)) <= 4_096
    acks = [decode(frame) for frame in frames]
    assert sorted(part.first for ack in acks for part in ack.ranges) == done
    assert sorted(item.number for ack in acks for item in ack.refusals) == [item.number for item in refused]


def test_a_long_reason_is_cut_between_characters():
    assert refusal(1, 1, "é" * 1_000).reason == "é" * 512


# --- work ------------------------------------------------------------------------------------------------------------


def test_tasks_take_turns():
    calls, seen = [], []
    work = SlicedWork(calls.append)

    def task(name, slices):
        for number in range(slices):
            seen.append(f"{name}{number}")
            yield

    work.add(task("a", 3))
    work.add(task("b", 1))
    while calls:
        calls.pop()()
    assert seen == ["a0", "b0", "a1", "a2"]
    assert work.is_idle


def test_work_that_is_stopped_stays_where_it_is():
    calls, seen = [], []
    work = SlicedWork(calls.append)

    def task():
        seen.append("never")
        yield

    work.add(task())
    work.stop()
    calls.pop()()
    assert (calls, seen) == ([], [])


def test_a_task_that_fails_leaves_the_others(caplog):
    calls, seen = [], []
    work = SlicedWork(calls.append)

    def bad():
        yield
        raise ZeroDivisionError

    def good():
        yield
        yield
        seen.append("done")

    work.add(bad())
    work.add(good())
    while calls:
        calls.pop()()
    assert seen == ["done"]
    assert "a task failed" in caplog.text


# --- stalls ----------------------------------------------------------------------------------------------------------


async def test_only_what_we_computed_ourselves_is_a_stall():
    watch = StallWatch(asyncio.get_running_loop())
    watch.note(late_s=0.2, computed_s=0.01)
    assert (watch.late_s_max, watch.held_s_max, watch.stalls) == (0.2, 0.01, 0)
    watch.note(late_s=0.06, computed_s=0.07)
    assert (watch.late_s_max, watch.held_s_max, watch.stalls) == (0.2, 0.06, 1)


# --- logs ------------------------------------------------------------------------------------------------------------


def record(message="ready", **values):
    made = logging.LogRecord("tamis.router", logging.INFO, "file", 1, message, (), None)
    made.__dict__.update(fields(**values), created=0.0, msecs=0.0)
    return made


def test_a_line_as_text_and_as_json():
    made = record(router="a", where=["x y", "z"], reason="two words")
    assert (
        TextLines().format(made) == '1970-01-01T00:00:00.000Z info    ready  router=a where="x y z" reason="two words"'
    )
    line = json.loads(JsonLines().format(made))
    assert line == {
        "time": "1970-01-01T00:00:00.000Z",
        "level": "info",
        "message": "ready",
        "router": "a",
        "where": ["x y", "z"],
        "reason": "two words",
    }


def test_what_comes_from_outside_stays_on_its_line():
    assert "\n" not in TextLines().format(record(client="a\nb"))


def test_a_flood_of_one_sentence_is_counted():
    now = [0.0]
    throttle = Throttle(lambda: now[0])
    assert sum(throttle.filter(record("bad")) for _ in range(SAME_PER_SECOND + 7)) == SAME_PER_SECOND
    assert throttle.filter(record("other"))
    now[0] = 1.5
    late = record("bad")
    assert throttle.filter(late)
    assert late.fields == {"suppressed": 7}


# --- exposure --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.8.8.8:1", "localhost:1", "'[::1]:1'", "unix:x"])
def test_what_only_this_machine_reaches_needs_no_credentials(address):
    check_exposure(settings(f"clients: {address}"), False)
    check_exposure(settings(f"admin: {address}"), False)


@pytest.mark.parametrize("address", ["0.0.0.0:1", "'[::]:1'", "10.0.0.1:1", "example.org:1"])
def test_what_others_reach_needs_them(address, caplog):
    with pytest.raises(CannotStart, match="set `tokens`"):
        check_exposure(settings(f"clients: {address}"), False)
    check_exposure(settings(f"clients: {address}"), True)
    assert "insecure" in caplog.text
    check_exposure(settings(f"clients: {address}, tokens: t, tls: {{certificate: c, key: k}}"), False)


def test_tokens_in_the_clear_are_warned_of(caplog):
    check_exposure(settings("clients: 10.0.0.1:1, tokens: t"), False)
    assert "unencrypted" in caplog.text


def test_administration_is_never_open_to_others():
    with pytest.raises(CannotStart, match="administration needs no credential"):
        check_exposure(settings("admin: 10.0.0.1:1, tokens: t"), False)


# --- settings --------------------------------------------------------------------------------------------------------


def test_which_keys_need_a_restart():
    old = settings("clients: h:1, engine: tamis")
    new = settings(
        "clients: h:2, engine: counting, tls: {certificate: c, key: k}, limits: {connections: 5, drain_ms: 5}",
        "logging: {level: debug}",
    )
    assert restart_keys(old, new) == ["clients", "engine", "limits.connections", "tls"]
    assert restart_keys(old, old) == []


def test_an_engine_that_serves_no_router():
    with pytest.raises(CannotStart, match="choose tamis, sff, counting, linear, kdtree"):
        new_table(settings("engine: plain"))


def test_an_engine_that_factors_knows_the_spaces_of_the_file():
    space = "spaces: {s: {attributes: {side: {one_of: [buy, sell]}}}}"
    plain, factored = (new_table(settings(f"engine: {{name: pst, options: {{factor: {k}}}}}", space)) for k in (0, 1))
    wanted = Filter((Constraint("type", Op.EQ, ("s",)), Constraint("side", Op.EQ, ("buy",))))
    steps = []
    for table in (plain, factored):
        table.add(wanted, 0)
        before = table.stats().steps
        assert table.match({"type": "s", "side": "buy"}) == [0]
        steps.append(table.stats().steps - before)
    tests, space_looked_at = 2, 1
    assert steps[1] == steps[0] - tests + space_looked_at


def test_memory_is_shared_between_table_and_switch():
    assert switch_options(settings(keys="limits: {memory_bytes: 33_554_433}"), 1, 8).memory_bytes_max == 16_777_217


def test_an_admission_follows_the_settings_and_the_hello():
    keys = "slow_consumer: {policy: drop-oldest}\nlimits: {filters_per_client: 9}\nkeepalive: {ping_ms: 700}"
    granted = admission(settings(keys=keys), hello("alice", hold_ms=900, frame_bytes_max=5_000), 2)
    assert (granted.policy, granted.filters_max) == (SlowPolicy.DROP_OLDEST, 9)
    assert (granted.ping_ms, granted.frame_bytes_max, granted.version) == (300, 5_000, 2)
    assert admission(settings(keys=keys), hello("alice", hold_ms=1), 1).ping_ms == 1


def test_an_unknown_router_is_named(tmp_path):
    file = tmp_path / "net.yaml"
    file.write_text("routers: {a: {}}")
    with pytest.raises(CannotStart, match="no router is called 'b'; there are a"):
        load_settings(file, "b")

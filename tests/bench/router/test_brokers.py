"""The comparison is fair before it is fast: what is sent is right, nothing is lost unseen, nothing is left running."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import ssl
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tamis.bench.router.brokers import build, daemons, inputs, report
from tamis.bench.router.brokers.__main__ import main
from tamis.bench.router.brokers.daemons import BROKERS, Broker
from tamis.bench.router.brokers.figures import Round
from tamis.bench.router.brokers.inputs import Inputs
from tamis.bench.router.brokers.measures import MEASURES
from tamis.bench.router.brokers.process import Launch, NotStarted, running
from tamis.bench.router.brokers.run import Plan, Row, run
from tamis.native import Table
from tamis.protocol.wire.attributes import decode_attributes
from tamis.protocol.wire.data_frames import encode_publish
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.testing import free_port
from tests.bench.router.toy_router import CREDIT_STEP, ToyRouter

needs_compiler = pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")), reason="needs a C compiler")
SHORT = Plan(rounds=1, seconds=0.1)


# --- what is sent ----------------------------------------------------------------------------------------------------


def test_a_message_of_the_market_is_a_frame_of_150_bytes_with_ten_attributes() -> None:
    for packed in inputs.one_filter().messages:
        attributes = decode_attributes(packed)
        assert len(attributes) == 10
        assert len(encode_publish(1, 1, 0, attributes)) == inputs.MESSAGE_BYTES


def test_neighbouring_messages_differ() -> None:
    for made in (inputs.one_filter(), inputs.paper(20)):
        assert len(made.messages) == inputs.MESSAGES
        assert all(one != next_one for one, next_one in pairwise(made.messages))


def test_inputs_are_the_same_in_every_run() -> None:
    assert inputs.paper(50) == inputs.paper(50)
    assert inputs.symbols(50) == inputs.symbols(50)


def matched(made: Inputs) -> list[int]:
    """How many of the subscriber's filters each message satisfies; none of the others' may be."""
    with Table() as own, Table() as others:
        for index, packed in enumerate(made.filters):
            own.add(packed, index)
        for index, packed in enumerate(made.others):
            others.add(packed, index)
        assert not any(others.match(message) for message in made.messages)
        return [len(own.match(message)) for message in made.messages]


def test_each_message_satisfies_one_symbol_filter() -> None:
    assert set(matched(inputs.symbols(10_000))) == {1}


def test_a_million_filters_are_dealt_so_that_no_connection_holds_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "SUBSCRIBER_FILTERS_MAX", 10_000)
    made = inputs.symbols(10_100)
    assert (len(made.filters), len(made.others)) == (10_000, 100)
    assert set(matched(made)) == {1}
    assert max(100_000, 1_000_000 / inputs.OTHER_CONNECTIONS) <= daemons.FILTERS_PER_CLIENT


def test_no_message_of_the_paper_satisfies_a_filter_of_the_others() -> None:
    made = inputs.paper(300)
    assert len(made.others) == 300
    assert min(len(decode_filter(packed).constraints) for packed in made.others) >= 3
    assert {len(decode_attributes(packed)) for packed in made.messages} == {10}
    assert set(matched(made)) == {1}


# --- the load generator ----------------------------------------------------------------------------------------------


async def loaded(
    router: ToyRouter, made: Inputs, folder: Path, tls: ssl.SSLContext | None = None, **options: object
) -> tuple[int, str, str]:
    """Run the load generator against the router; exit code, stdout, stderr."""
    async with router.listening(tls) as port:
        chosen = {**made.write(folder), "protocol": "tamis", "port": port, "pid": os.getpid(), "warm": 0, **options}
        arguments = [f"--{name.replace('_', '-')}={value}" for name, value in chosen.items()]
        process = await asyncio.create_subprocess_exec(
            build.load_generator(), *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        out, err = await process.communicate()
        return process.returncode or 0, out.decode(), err.decode()


@pytest.fixture
def market() -> Inputs:
    return replace(inputs.one_filter(), others=inputs.paper(50).others)


@pytest.mark.slow
@needs_compiler
async def test_the_load_generator_speaks_what_the_wire_page_says(market: Inputs, tmp_path: Path) -> None:
    router = ToyRouter(market.filters[0])
    code, out, err = await loaded(router, market, tmp_path, subscribers=3, others=2, window=500, seconds=0.2)
    assert (code, err) == (0, "")
    seen = json.loads(out)
    assert seen["messages"] > 0
    assert seen["deliveries"] >= 3 * seen["messages"]
    assert len(router.published) > CREDIT_STEP
    assert [frame.message.id.counter for frame in router.published] == list(range(1, len(router.published) + 1))
    sent = [decode_attributes(packed) for packed in market.messages]
    for number, frame in enumerate(router.published):
        assert frame.message.attributes == sent[number % len(sent)]
    held = [[each.filters for batch in batches for each in batch.subscriptions] for batches in router.subscribed]
    assert [*held[0], *held[1]] == [(packed,) for packed in market.others]
    assert held[2:] == [[(market.filters[0],)]] * 3 + [[]]


@pytest.mark.slow
@needs_compiler
async def test_no_more_is_published_than_there_is_credit_for(market: Inputs, tmp_path: Path) -> None:
    router = ToyRouter(market.filters[0], loses=1)
    code, _out, err = await loaded(router, market, tmp_path, window=CREDIT_STEP * 2, seconds=5)
    assert code == 1
    assert "message 2 came behind message 0" in err
    assert len(router.published) <= CREDIT_STEP * 2


@pytest.mark.slow
@needs_compiler
async def test_a_fixed_rate_is_kept_and_latency_told(market: Inputs, tmp_path: Path) -> None:
    code, out, err = await loaded(ToyRouter(market.filters[0]), market, tmp_path, rate=1000, seconds=0.3)
    assert (code, err) == (0, "")
    seen = json.loads(out)
    assert 0 < seen["p50_s"] <= seen["p99_s"]
    assert seen["samples"] == seen["messages"] <= 1000 * (seen["seconds"] + 0.1)


@needs_compiler
async def test_a_longer_message_carries_payload(market: Inputs, tmp_path: Path) -> None:
    router = ToyRouter(market.filters[0])
    code, out, _err = await loaded(router, market, tmp_path, message_bytes=200, seconds=0.1)
    assert (code, json.loads(out)["frame_bytes"]) == (0, 200)
    assert router.published[0].message.payload == bytes(50)


@pytest.mark.slow
@needs_compiler
@pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl")
async def test_tls_moves_the_same_messages(market: Inputs, tmp_path: Path) -> None:
    if not build.has_openssl():
        pytest.skip("needs libssl-dev")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*daemons.make_certificate(tmp_path))
    router = ToyRouter(market.filters[0])
    code, out, err = await loaded(router, market, tmp_path, tls, transport="tls", window=2000, seconds=0.2)
    assert (code, err) == (0, "")
    assert json.loads(out)["messages"] > 0
    assert [frame.message.id.counter for frame in router.published] == list(range(1, len(router.published) + 1))


@needs_compiler
async def test_a_refused_subscription_fails_the_run(market: Inputs, tmp_path: Path) -> None:
    code, out, err = await loaded(ToyRouter(market.filters[0], refuses=True), market, tmp_path)
    assert (code, out) == (1, "")
    assert err == "the router refused 1 of what was asked: not today\n"


# --- the daemons -----------------------------------------------------------------------------------------------------


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.slow
@needs_compiler
def test_a_daemon_is_stopped_however_the_block_ends(tmp_path: Path) -> None:
    port = free_port()
    launch = Launch((str(build.forwarder()), str(port)), port)
    pids = []

    def interrupted() -> None:
        with running(launch, tmp_path) as daemon:
            pids.append(daemon.pid)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not Path(f"/proc/{pids[0]}").exists()
    assert not is_listening(port)


@needs_compiler
def test_a_helper_runs_before_the_daemon_and_as_long(tmp_path: Path) -> None:
    ports = free_port(), free_port()
    helper, daemon = (Launch((str(build.forwarder()), str(port)), port) for port in ports)
    with running(replace(daemon, helper=helper), tmp_path) as alive:
        assert alive.port == ports[1]
        assert all(map(is_listening, ports))
    assert not any(map(is_listening, ports))


def test_a_daemon_that_ends_at_once_says_what_it_said(tmp_path: Path) -> None:
    launch = Launch((sys.executable, "-c", "raise SystemExit('no such luck')"), free_port())
    with pytest.raises(NotStarted, match="exited at once with 1: no such luck"):
        running(launch, tmp_path).__enter__()


@pytest.mark.slow
@needs_compiler
def test_the_forwarder_is_measured() -> None:
    (rows,) = run([MEASURES["one"]], ["forward"], SHORT, lambda _words: None)
    (row,) = rows
    assert row.trouble == ""
    assert row.rounds[0].seen["messages"] > 0


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("name", ["nats", "redis", "mosquitto"])
@pytest.mark.parametrize("measure", ["ten", "latency"])
def test_a_broker_is_measured(name: str, measure: str) -> None:
    if BROKERS[name].program() is None:
        pytest.skip(BROKERS[name].how_to_install)
    (rows,) = run([MEASURES[measure]], [name], SHORT, lambda _words: None)
    assert rows[0].trouble == ""
    assert rows[0].rounds[0].seen["messages"] > 0


@pytest.mark.long
@needs_compiler
@pytest.mark.parametrize("measure", ["ten", "symbols-10k"])
def test_rabbitmq_is_measured(measure: str) -> None:
    if BROKERS["rabbitmq"].program() is None:
        pytest.skip(BROKERS["rabbitmq"].how_to_install)
    (rows,) = run([MEASURES[measure]], ["rabbitmq"], replace(SHORT, seconds=2), lambda _words: None)
    assert rows[0].trouble == ""
    assert rows[0].rounds[0].seen["messages"] > 0


# --- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def brokers(monkeypatch: pytest.MonkeyPatch) -> dict[str, Broker]:
    """The brokers, to be changed."""
    changed = dict(BROKERS)
    monkeypatch.setattr("tamis.bench.router.brokers.run.BROKERS", changed)
    return changed


def commanded(*arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "--rounds", "1", "--seconds", "0.1"])


@pytest.mark.slow
@needs_compiler
def test_a_missing_daemon_gets_a_row_that_says_how_to_install_it(brokers: dict[str, Broker]) -> None:
    brokers["nats"] = replace(BROKERS["nats"], program=lambda: None)
    told = commanded("--only", "nats,forward", "--measure", "one")
    assert told.exit_code == 0
    assert "nats: not installed: apt-get install --no-install-recommends nats-server" in told.stdout
    assert "| forward" in told.stdout
    objects = commanded("--only", "nats", "--measure", "one", "--json").stdout.splitlines()
    assert [(row["broker"], row["rounds"], row["why"][:13]) for row in map(json.loads, objects)] == [
        ("nats", 0, "not installed")
    ]


@pytest.mark.slow
@needs_compiler
def test_a_daemon_that_fails_is_told_about_and_stops_nobody_else(brokers: dict[str, Broker]) -> None:
    brokers["nats"] = replace(BROKERS["nats"], program=lambda: shutil.which("false"))
    told = commanded("--only", "nats,forward", "--measure", "one", "--json")
    assert told.exit_code == 1
    forward, nats = map(json.loads, told.stdout.splitlines())
    assert nats["why"].startswith("exited at once with 1")
    assert forward["messages_per_s"] > 0
    assert forward["times"] == {"forward": 1.0}


@pytest.mark.parametrize("arguments", [("--only", "kafka"), ("--measure", "beauty")])
def test_an_unknown_name_is_refused_with_the_known_ones(arguments: tuple[str, str]) -> None:
    told = commanded(*arguments)
    assert told.exit_code == 2
    assert f"unknown '{arguments[1]}'; allowed: " in told.stderr


# --- the table -------------------------------------------------------------------------------------------------------


def a_round(messages: float, p50_s: float) -> Round:
    seen = {"messages": messages, "deliveries": messages, "seconds": 2.0, "daemon_cpu_s": 1.0, "load_cpu_s": 0.5}
    seen |= {"resident_before": 2**20, "resident_ready": 2**21, "resident_end": 2**22, "frame_bytes": 150.0}
    return Round(seen | {"p50_s": p50_s, "p99_s": 2 * p50_s}, 0.1, 2**20, 1, 1)


def rows_of(measure: str, **rounds: list[Round]) -> list[Row]:
    return [Row(MEASURES[measure], name, made) for name, made in rounds.items()]


def test_a_figure_is_the_median_and_tells_its_spread() -> None:
    rows = rows_of("one", nats=[a_round(n, 1e-4) for n in (2e6, 1e6, 1.5e6)], tamis=[a_round(6e6, 1e-4)])
    nats, tamis = report.rows_for_programs(rows)
    assert nats["messages_per_s"] == 750_000
    assert nats["cpu_us"] == pytest.approx(0.66667)
    assert nats["spread"]["messages_per_s"] == pytest.approx(0.66667)
    assert tamis["times"] == {"nats": 4.0}
    lines = report.table_for_people(MEASURES["one"], rows).splitlines()
    assert lines[2].split("|")[1].strip() == "broker"
    assert [line.split()[1] for line in lines[4:]] == ["nats", "tamis"]
    assert lines[4].count("|") == lines[2].count("|")
    assert "67%" in lines[4]


def test_a_shorter_time_is_the_better_one() -> None:
    rows = rows_of("latency", redis=[a_round(1e4, 3e-5)], tamis=[a_round(1e4, 6e-5)])
    assert report.ratio(rows[1], rows, "redis") == pytest.approx(0.5)
    assert report.ratio(rows[0], rows, "forward") is None

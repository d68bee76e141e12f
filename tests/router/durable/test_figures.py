"""Figures of keeps: those of all are the sums over each, by the pages, the metrics and the commands."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Gap
from tamis.blocking import connect
from tamis.cli.main import main
from tamis.native.durable_figures import COMMIT_BOUNDS_S, CommitTimes
from tamis.protocol.language import parse
from tamis.protocol.normal import normalize_predicate
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.router.admin.durable import SHOWN_BYTES, predicate_form
from tamis.testing import blocking, free_port

PATIENCE_S = 20.0
SUMMED = ("depth", "unacked", "paused", "ready", "bytes", "consumers", "acked", "delivered", "redelivered", "dead")
LOSSES = ("dropped", "expired", "undeliverable")


@given(st.lists(st.integers(0, 20), min_size=len(COMMIT_BOUNDS_S) + 1, max_size=len(COMMIT_BOUNDS_S) + 1))
def test_a_quantile_lies_where_the_sorted_times_have_it(counts: list[int]) -> None:
    times = CommitTimes(tuple(counts), 1.0)
    bounds = [0.0, *COMMIT_BOUNDS_S]
    buckets = [at for at, count in enumerate(counts) for _ in range(count)]
    for part in (0.5, 0.99, 1.0):
        found = times.quantile_s(part)
        if not buckets:
            assert found is None
            continue
        at = buckets[max(0, -int(-part * len(buckets) // 1) - 1)]
        assert found is not None
        assert bounds[at] <= found <= (COMMIT_BOUNDS_S + COMMIT_BOUNDS_S[-1:])[at] + 1e-12


@given(st.lists(st.integers(0, 100), min_size=1, max_size=80))
def test_a_long_predicate_is_shown_by_its_beginning_and_says_how_much_is_left_out(lengths: list[int]) -> None:
    texts = [f'name = "{"x" * length * 10}"' for length in lengths]
    packed = tuple(encode_filter(filter_) for text in texts for filter_ in normalize_predicate(parse(text)).filters)
    form = predicate_form(packed)
    text = str(form["predicate"])
    assert len(text) <= SHOWN_BYTES + 4 * len(packed) + 32
    if "predicate_cut" not in form:
        assert text == " or ".join(texts)
        return
    shown, _, rest = text.rpartition("... (")
    count = shown.count("name = ")
    assert shown == "".join(f"{each} or " for each in texts[:count])
    assert rest == f"{len(texts) - count} more)"


def asked(file: Path, capsys: pytest.CaptureFixture[str], *argv: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main([*argv, str(file), "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.slow
def test_the_figures_of_all_durables_are_the_sums_over_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "one.yaml"
    keys = "durable: {bytes: 268435456, segment_bytes: 1048576, series: 2}"
    ports = f'clients: "127.0.0.1:{free_port()}", admin: "127.0.0.1:{free_port()}"'
    file.write_text(f"{keys}\nrouters: {{a: {{{ports}, data: data}}}}\n")
    with blocking.started(file, "a") as one, connect(one.address, name="both") as client:
        [before] = asked(file, capsys, "status")
        assert (before["durable"]["subscriptions"], before["durable"]["commit_ms"]) == (0, {"p50": None, "p99": None})
        client.durable("dead", "n < 0")
        client.durable("some", "n > 3", dead_letter="dead", max_unacked=4)
        client.durable("few", "n > 0", count=5)
        client.durable("none", "n > 1000")
        for n in range(20):
            client.publish({"n": n}, b"x" * n, confirm="stored")
        with client.consume("some", credit=4) as work:
            messages = [work.receive(PATIENCE_S) for _ in range(4)]
            assert not any(isinstance(message, Gap) for message in messages)
            messages[0].ack(confirm=True)  # type: ignore[union-attr]
            messages[1].reject("no")  # type: ignore[union-attr]
            messages[2].nack(delay_s=30)  # type: ignore[union-attr]
            messages[3].ack(confirm=True)  # type: ignore[union-attr]
            durables = {form["durable"]: form for form in asked(file, capsys, "durable", "ls")}
            [status] = asked(file, capsys, "status")
            page = one_page(one)
        kept = status["durable"]
        assert kept["subscriptions"] == len(durables) == 4
        for name in (*SUMMED, *LOSSES):
            assert kept[name] == sum(form[name] for form in durables.values()), name
        assert (durables["few"]["dropped"], durables["few"]["depth"], durables["dead"]["depth"]) == (14, 5, 1)
        assert (durables["some"]["acked"], durables["some"]["dead"], durables["some"]["paused"]) == (2, 1, 1)
        assert kept["lag_s"] >= max(form["lag_s"] for form in durables.values()) > 0
        assert (kept["stored"], kept["log"]["is_full"], kept["log"]["bytes"] > 0) == (19, False, True)
        assert 0 < kept["commit_ms"]["p50"] <= kept["commit_ms"]["p99"]
        assert page["tamis_durables_depth_messages"] == kept["depth"]
        assert page["tamis_durables_confirmed_total"] == kept["confirmed"] == 19
        assert page["tamis_durables_commit_duration_seconds_count"] == kept["confirmed"]
        assert page['tamis_durable_depth_messages{durable="some"}'] == durables["some"]["depth"]
        assert not any('durable="few"' in name for name in page), "two have series of their own"
        assert_people_are_told(file, capsys)


def one_page(one: blocking.BlockingRouter) -> dict[str, float]:
    from tamis.cli.reach.admin_http import asked as asked_over_http

    _, body = asked_over_http(one.said["admin"][0].removeprefix("http://"), "GET", "/metrics", None)
    return {name: float(value) for name, value in re.findall(r"^([^#\s]\S*) (\S+)$", body.decode(), re.MULTILINE)}


def assert_people_are_told(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    [line] = [line for line in lines if line.startswith("a: 4 durable subscriptions, depth ")]
    assert line.endswith(", lost 14")
    assert [line for line in lines if line.startswith("a: log ")]
    [top] = asked(file, capsys, "top", "--once", "--interval", "0.1")
    assert top["routers"][0]["durable"]["depth"] == asked(file, capsys, "status")[0]["durable"]["depth"]
    assert main(["top", "--once", "--interval", "0.1", str(file)]) == 0
    assert " commit " in capsys.readouterr().out.splitlines()[0]

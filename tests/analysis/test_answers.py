"""Every figure of a report against the simulator's own account of the same run."""

from __future__ import annotations

import html
import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("pyspark")

from tamis.analysis import report
from tamis.analysis.answers import QUESTIONS
from tamis.analysis.job import REPORT
from tamis.analysis.traffic import COUNTERS
from tamis.protocol.json_form import encode_filter
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.simulate.faults import WISHES
from tamis.simulate.oracle.meaning import contents_of
from tamis.simulate.workload import CONTENTS, wishes
from tests.analysis.conftest import SCENARIO, Simulated

pytestmark = pytest.mark.long
Tables = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def tables(answered: Path) -> Tables:
    return report.read(answered)


def test_every_table_is_there(tables: Tables) -> None:
    assert set(tables) == {f"{question}/{table}" for question, answers in QUESTIONS.items() for table in answers}


def test_messages_and_deliveries_are_those_of_the_account(tables: Tables, simulated: Simulated) -> None:
    truth = simulated.truth
    verdicts = Counter({row["verdict"]: 0 for row in tables["delivery/counts"]})
    for row in tables["delivery/counts"]:
        verdicts[row["verdict"]] += row["deliveries"]
    assert verdicts["delivered"] == len(truth["delivered"]) == simulated.outcome.counts["delivered"]
    assert {"missing", "duplicate", "stray"}.isdisjoint(verdicts)
    (densities,) = tables["content/densities"]
    assert densities["published"] == len({tuple(each) for each in truth["published"]}) == truth["counts"]["messages"]
    sources = tables["traffic/by_source"]
    assert sum(row["published"] for row in sources) == len(truth["published"])
    assert sum(row["deliveries"] for row in sources) == len(truth["delivered"])
    assert sum(row["published"] + row["hops"] for row in sources) == truth["counts"]["hops"]


def test_most_of_what_must_arrive_at_rest_is_due(tables: Tables, simulated: Simulated) -> None:
    """Not what is said within the time that a dead link may go unnoticed before the next change."""
    due = sum(row["due"] for row in tables["delivery/counts"])
    assert due > simulated.outcome.counts["required at rest"] / 2


def test_lives_and_changes(tables: Tables, simulated: Simulated) -> None:
    starts = simulated.truth["starts"]
    assert Counter(row["router"] for row in tables["logs/lives"]) == starts
    changes = sum(row["changes"] for row in tables["control/convergence"])
    assert changes == simulated.truth["link_changes"] + sum(starts.values())


def test_frames_of_the_control_plane(tables: Tables, simulated: Simulated) -> None:
    frames, size = Counter[str](), Counter[str]()
    for row in tables["control/frames"]:
        frames[f"{row['way']} {row['what']}"] += row["frames"]
        size[f"{row['way']} {row['what']}"] += row["bytes"]
    assert frames == simulated.truth["frames"]
    assert size == simulated.truth["frame_bytes"]
    told = Counter[str]()
    for row in tables["control/statements"]:
        told[f"out {row['what']}"] += row["frames"]
    assert told == {what: frames[what] for what in ("out LSA", "out RA")}


def test_traffic_but_for_the_last_second_of_the_crashed(tables: Tables, simulated: Simulated) -> None:
    """A simulated router writes what it has counted when the second is over."""
    truth = simulated.truth
    counted = {
        "per_link": {f"{row['router']} {row['neighbour']}": row["messages_out"] for row in tables["traffic/by_link"]},
        "arrived": {f"{row['neighbour']} {row['router']}": row["messages_in"] for row in tables["traffic/by_link"]},
        "dropped": {
            f"{row['router']} {row['neighbour']}": row["messages"]
            for row in tables["traffic/drops"]
            if row["what"] == "dropped"
        },
        "entered": {row["source"]: row["published"] for row in tables["traffic/by_source"]},
    }
    crashed = {row["router"] for row in tables["logs/lives"] if row["end"] == "broke off"}
    for what, found in counted.items():
        writer = {"arrived": -1}.get(what, 0)
        for where, messages in truth[what].items():
            assert found.get(where, 0) <= messages, (what, where)
            assert found.get(where, 0) == messages or where.split()[writer] in crashed, (what, where)
        assert not {where for where, messages in found.items() if messages} - truth[what].keys()


def test_traffic_over_time_is_that_of_the_routers(tables: Tables) -> None:
    over_time = Counter[tuple[str, str]]()
    for row in tables["traffic/over_time"]:
        over_time.update({(row["router"], name): row[name] for name in COUNTERS})
    assert over_time == {(row["router"], name): row[name] for row in tables["traffic/by_router"] for name in COUNTERS}


def test_refusals(tables: Tables, simulated: Simulated) -> None:
    refused = Counter[str]()
    for row in tables["traffic/drops"]:
        if row["what"] == "refused":
            refused[row["reason"]] += row["messages"]
    assert refused == simulated.truth["refused"]


def test_frames_in_vain(tables: Tables, simulated: Simulated) -> None:
    found = {f"{row['from_neighbour']} {row['router']}": row["in_vain"] for row in tables["delivery/in_vain"]}
    assert found == simulated.truth["vain"]
    frames = sum(row["frames"] for row in tables["delivery/in_vain"])
    assert frames == sum(simulated.truth["visits"].values()) - len(simulated.truth["published"])


def test_deliveries_by_client(tables: Tables, simulated: Simulated) -> None:
    found = Counter[str]()
    for row in tables["delivery/by_client"]:
        found[row["client"]] += row["delivered"]
    assert +found == Counter(f"c{client}" for _, _, client in simulated.truth["delivered"])


def test_latency_is_that_of_the_links(tables: Tables, simulated: Simulated) -> None:
    """The clocks of the simulated routers go wrong by up to 40 ms."""
    links = {f"{row['from_router']} {row['to_router']}": percentiles_of(row) for row in tables["latency/by_link"]}
    assert links == {link: percentiles(took) for link, took in simulated.truth["link_us"].items()}
    lengths = {str(row["hop"]): percentiles_of(row) for row in tables["latency/by_length"]}
    assert lengths == {hop: percentiles(took) for hop, took in simulated.truth["way_us"].items()}
    assert tables["latency/matching"] == []  # nothing takes time in a simulated table


def percentiles_of(row: dict[str, Any]) -> list[int]:
    return [row[name] for name in ("messages", "p50_us", "p90_us", "p99_us", "max_us")]


def percentiles(took_us: dict[str, int]) -> list[int]:
    each = sorted(int(us) for us, messages in took_us.items() for _ in range(messages))
    return [len(each), *(each[-(-len(each) * percent // 100) - 1] for percent in (50, 90, 99)), each[-1]]


def test_content_is_what_was_said(tables: Tables, simulated: Simulated) -> None:
    said = {int(content): messages for content, messages in simulated.truth["contents"].items()}
    names, values = Counter[str](), Counter[tuple[str, str]]()
    for content, messages in said.items():
        for name, value in CONTENTS[content].items():
            names[name] += messages
            values[name, value if isinstance(value, str) else json.dumps(value)] += messages
    assert {row["name"]: row["messages"] for row in tables["content/attributes"]} == names
    assert {(row["name"], row["value"]): row["messages"] for row in tables["content/values"]} == values
    assert {row["name"]: row["distinct"] for row in tables["content/attributes"]} == Counter(name for name, _ in values)


def test_filters_are_what_was_asked_for(tables: Tables, simulated: Simulated) -> None:
    asked, matches, constraints = Counter[str](), {}, Counter[tuple[str, str]]()
    drawn = wishes(WISHES, Random(f"{SCENARIO.seed}/wishes"))
    for wish, times in simulated.truth["wished"].items():
        form = json.dumps(encode_filter(decode_filter(drawn[int(wish)].packed)), separators=(",", ":"))
        bits = contents_of(drawn[int(wish)].plain, CONTENTS)
        asked[form] += times
        matches[form] = sum(count for content, count in simulated.truth["contents"].items() if bits >> int(content) & 1)
    assert {row["form"]: row["subscriptions"] for row in tables["content/filters"]} == asked
    assert {row["form"]: row["matches"] for row in tables["content/filters"]} == matches
    for form in asked:
        constraints.update((each[0], "not " + each[2] if each[1] == "not" else each[1]) for each in json.loads(form))
    assert {(row["name"], row["operator"]): row["filters"] for row in tables["content/constraints"]} == constraints


def test_densities(tables: Tables, simulated: Simulated) -> None:
    truth = simulated.truth
    (found,) = tables["content/densities"]
    names = ("notified", "matching", "looked")
    assert {name: found[name] for name in names} == {name: truth[name] for name in names}
    assert found["pe"] == truth["matching"] / found["published"]
    assert found["pp"] == truth["notified"] / found["published"]
    assert found["sigma"] == truth["notified"] / truth["matching"]
    assert found["density"] == truth["notified"] / truth["looked"]


def test_the_report_is_one_page_that_loads_nothing(answered: Path, simulated: Simulated) -> None:
    page = (answered / REPORT).read_text()
    assert "src=" not in page
    assert "http" not in page.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert page.count("<svg") >= 4
    delivered = simulated.outcome.counts["delivered"]
    assert f"{delivered:,} are right; 0 missing, 0 duplicate, 0 stray." in html.unescape(page)
    assert "broke off without a last word" in page

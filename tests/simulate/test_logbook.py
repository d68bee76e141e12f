"""What simulated routers write: lines of the kinds that the table of records knows, in order, and the same truth."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tamis.protocol.json_form import decode_filter
from tamis.protocol.keys import filter_key
from tamis.protocol.records import COMMON, KINDS, VERSION
from tamis.simulate.account.wall import SECOND_US
from tamis.simulate.run import TRUTH, Scenario, run
from tests.schema_of_records import OF_DURABLES

TYPES = {
    "integer": int,
    "number": int | float,
    "boolean": bool,
    "text": str,
    "texts": list,
    "integers": list,
    "counts": dict,
}
SCENARIO = Scenario("ring:5", 30, "cut,crash,flood", 3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    with_records = run(SCENARIO, records=folder)
    assert with_records == run(SCENARIO), "writing changes nothing"
    return folder


def _records(folder: Path) -> dict[Path, list[dict[str, Any]]]:
    return {
        path: [json.loads(line) for line in path.read_text().splitlines()] for path in sorted(folder.glob("*/*.jsonl"))
    }


def test_every_record_is_one_of_the_table(folder: Path) -> None:
    common = {field.name: field for field in COMMON}
    seen = set()
    for path, records in _records(folder).items():
        for record in records:
            kind = KINDS[record["kind"]]
            fields = common | {field.name: field for field in kind.fields}
            assert path.name.startswith(f"{kind.family}-{record['epoch']}-"), path
            assert record["v"] == VERSION
            for name, value in record.items():
                assert isinstance(value, TYPES[fields[name].type]), (record, name)
            seen.add(kind.name)
    assert seen == KINDS.keys() - {"lost", *OF_DURABLES}


def test_records_are_numbered_without_gaps_in_the_order_of_their_times(folder: Path) -> None:
    for records in _records(folder).values():
        assert [record["n"] for record in records] == list(range(len(records)))
        times = [record["t_us"] for record in records]
        assert times == sorted(times)


def test_the_truth_is_the_same_as_what_was_written(folder: Path) -> None:
    truth = json.loads((folder / TRUTH).read_text())["messages"]
    messages = [record for records in _records(folder).values() for record in records if record["kind"] == "message"]
    took = [record for record in messages if "refused" not in record]
    entered = [(int(record["origin"], 16), record["number"]) for record in took if "attributes" in record]
    assert Counter(entered) == Counter((publisher, number) for publisher, number, *_ in truth["published"])
    assert sum(len(record["to_connections"]) for record in took) == len(truth["delivered"])
    links = Counter(f"{record['router']} {to}" for record in took for to in record["to_neighbours"])
    assert links == Counter(truth["per_link"])
    assert Counter(record["router"] for record in took) == Counter(truth["visits"])
    refused = Counter(record["refused"] for record in messages if "refused" in record)
    assert refused == Counter(truth["refused"])


def test_filters_are_written_as_the_matcher_reads_them(folder: Path) -> None:
    wishes = {
        pair
        for records in _records(folder).values()
        for record in records
        if record["kind"] == "subscription"
        for pair in zip(record["filters"], record["keys"], strict=True)
    }
    assert wishes
    for form, key in wishes:
        assert f"{filter_key(decode_filter(json.loads(form))):016x}" == key


def test_counters_are_those_of_the_second_in_which_they_are_written(folder: Path) -> None:
    counted: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for record in chain.from_iterable(_records(folder).values()):
        if record["kind"] == "interface":
            counts = counted[record["router"]][str(record["t_us"] // SECOND_US)]
            behind = record.get("neighbour") or record["client"]
            for what in ("messages_in", "messages_out", "bytes_in", "bytes_out"):
                counts[f"{behind} {what}"] += record.get(what, 0)
            for what in ("dropped", "refused"):
                counts.update({f"{behind} {what}:{reason}": count for reason, count in record.get(what, {}).items()})
    told = json.loads((folder / TRUTH).read_text())["interfaces"]["counted"]
    found = {router: {second: +counts for second, counts in each.items()} for router, each in counted.items()}
    assert found == told

"""What was said and asked for, against the simulator's account, with the judge's own reading of filters."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from itertools import groupby

import pytest

pytest.importorskip("pyspark")

from tamis.analysis.questions.content import TOP
from tamis.protocol.values import Value
from tamis.simulate.faults.workload import CONTENTS
from tamis.simulate.oracle.meaning import contents_of
from tests.analysis.accounts.told import DRAWN, asked, contents, matches, written
from tests.analysis.conftest import Simulated, Tables
from tests.analysis.containment import covered

pytestmark = pytest.mark.long


def test_attributes_and_values(tables: Tables, simulated: Simulated) -> None:
    messages = Counter[str]()
    values: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    numbers: dict[str, list[float]] = defaultdict(list)
    for content, times in contents(simulated).items():
        for name, value in CONTENTS[content].items():
            messages[name] += times
            values[name][sort_of(value), value if isinstance(value, str) else json.dumps(value)] += times
            numbers[name] += [float(value)] * times if sort_of(value) == "number" else []
    for row in tables["content/attributes"]:
        name = row["name"]
        each = sorted(numbers[name]) or [None]
        assert (row["messages"], row["distinct"]) == (messages[name], len(values[name]))
        assert row["types"] == sorted({sort for sort, _ in values[name]})
        assert (row["least"], row["median"], row["most"]) == (each[0], each[(len(each) - 1) // 2], each[-1])
        assert row["share"] == messages[name] / sum(contents(simulated).values())
    assert {row["name"] for row in tables["content/attributes"]} == set(messages)
    for name, rows in groupby(tables["content/values"], key=lambda row: row["name"]):
        ranked = sorted(values.pop(name).items(), key=lambda each: (-each[1], each[0][1]))
        expected = [(*value, times, rank) for rank, (value, times) in enumerate(ranked, 1)]
        assert [(row["type"], row["value"], row["messages"], row["rank"]) for row in rows] == expected[:TOP]
    assert not values


def sort_of(value: Value) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "string" if isinstance(value, str) else "number"


def test_filters_are_what_was_asked_for(tables: Tables, simulated: Simulated) -> None:
    forms, found, wished = asked(simulated), matches(simulated), Counter[str]()
    for wish, times in simulated.truth["wants"]["wished"].items():
        wished[written(DRAWN[int(wish)])] += times
    total = sum(contents(simulated).values())
    assert {row["filter"]: row["form"] for row in tables["content/filters"]} == dict(enumerate(sorted(forms)))
    for row in tables["content/filters"]:
        hits = found[row["form"]]
        assert (row["subscriptions"], row["matches"]) == (wished[row["form"]], hits), row
        assert row["selectivity"] == hits / total


def test_constraints(tables: Tables, simulated: Simulated) -> None:
    constraints = Counter(
        (name, f"not {op}" if negated else op) for plain in asked(simulated).values() for name, op, _, negated in plain
    )
    assert {(row["name"], row["operator"]): row["filters"] for row in tables["content/constraints"]} == constraints


def test_densities(tables: Tables, simulated: Simulated) -> None:
    truth = simulated.truth["messages"]
    (found,) = tables["content/densities"]
    assert found["published"] == sum(contents(simulated).values()) == simulated.outcome.counts["messages"]
    names = ("notified", "matching", "looked")
    assert {name: found[name] for name in names} == {name: truth[name] for name in names}
    assert found["pe"] == truth["matching"] / found["published"]
    assert found["pp"] == truth["notified"] / found["published"]
    assert found["sigma"] == truth["notified"] / truth["matching"]
    assert found["density"] == truth["notified"] / truth["looked"]


def test_covered_filters_are_those_that_say_no_more_than_another(tables: Tables, simulated: Simulated) -> None:
    forms = asked(simulated)
    texts = sorted(forms)
    expected = covered([forms[text] for text in texts])
    found = sorted((row["filter"], row["covered_by"]) for row in tables["content/covered"])
    assert found == expected != []
    for row in tables["content/covered"]:
        assert (row["form"], row["covered_by_form"]) == (texts[row["filter"]], texts[row["covered_by"]])
        narrow, wide = (contents_of(forms[row[name]], CONTENTS) for name in ("form", "covered_by_form"))
        assert narrow & ~wide == 0

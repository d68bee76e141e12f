"""What was said and asked for, against the simulator's account, with the judge's own reading of filters."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from functools import cache
from itertools import groupby, product

import pytest

pytest.importorskip("pyspark")

from tamis.analysis.content import TOP
from tamis.protocol.values import Value
from tamis.simulate.oracle.meaning import contents_of
from tamis.simulate.workload import CONTENTS, LEVELS, Plain
from tests.analysis.accounts.told import DRAWN, asked, contents, matches, written
from tests.analysis.conftest import Simulated, Tables

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
    forms, wished = asked(simulated), Counter[str]()
    for wish, times in simulated.truth["wants"]["wished"].items():
        wished[written(DRAWN[int(wish)])] += times
    total = sum(contents(simulated).values())
    assert [row["form"] for row in sorted(tables["content/filters"], key=lambda row: row["filter"])] == sorted(forms)
    for row in tables["content/filters"]:
        hits = matches(simulated)[row["form"]]
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
    """Of several that cover one the first is told, and of two that mean the same the later one."""
    forms = asked(simulated)
    texts = sorted(forms)
    expected = []
    for number, text in enumerate(texts):
        wider = [
            other
            for other, form in enumerate(texts)
            if other != number
            and covers(forms[form], forms[text])
            and (other < number or not covers(forms[text], forms[form]))
        ]
        if wider:
            expected.append((number, text, wider[0], texts[wider[0]]))
    columns = ("filter", "form", "covered_by", "covered_by_form")
    found = [tuple(row[name] for name in columns) for row in tables["content/covered"]]
    assert sorted(found) == expected != []
    for _, narrow, _, wide in found:
        assert contents_of(forms[narrow], CONTENTS) & ~contents_of(forms[wide], CONTENTS) == 0


def covers(wide: Plain, narrow: Plain) -> bool:
    """Attributes are independent of each other: what a filter admits is what it admits of each, and no wish is without
    meaning. Of each attribute all values are tried that tell any two constraints of wishes apart."""
    return all(admitted(narrow, name) & ~admitted(wide, name) == 0 for name in EVERYTHING)


@cache
def admitted(filter_: Plain, name: str) -> int:
    bits = contents_of([constraint for constraint in filter_ if constraint[0] == name], EVERYTHING[name])
    assert bits, "it can match"
    return bits


TEXTS_MAX = 4
"""Any pattern of a wish, with another letter before or behind it."""
TEXTS = tuple("".join(letters) for length in range(TEXTS_MAX + 1) for letters in product("abcx", repeat=length))
NUMBERS = tuple(half / 2 for half in range(-1, 2 * len(LEVELS)))
"""Each level, one between each two, and one on either side."""
ANYTHING: tuple[Value, ...] = (*NUMBERS, *TEXTS, True, False)
EVERYTHING: dict[str, list[dict[str, Value]]] = {
    name: [{}, *({name: value} for value in ANYTHING)] for name in ("level", "place", "urgent")
}

"""What was said and asked for, against the simulator's account, with the judge's own reading of filters."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from random import Random
from typing import Any

import pytest

pytest.importorskip("pyspark")

from tamis.protocol.json_form import encode_filter
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.simulate.faults import WISHES
from tamis.simulate.oracle.meaning import contents_of
from tamis.simulate.workload import CONTENTS, Plain, wishes
from tests.analysis.conftest import SCENARIO, Simulated, Tables

pytestmark = pytest.mark.long


def said(simulated: Simulated) -> dict[int, int]:
    """Content -> messages."""
    return {int(content): messages for content, messages in simulated.truth["messages"]["contents"].items()}


def asked(simulated: Simulated) -> dict[str, Plain]:
    """What was asked for: as it is written -> as the judge reads it."""
    drawn = wishes(WISHES, Random(f"{SCENARIO.seed}/wishes"))
    chosen = [drawn[int(wish)] for wish in simulated.truth["wants"]["wished"]]
    return {written(wish.packed): wish.plain for wish in chosen}


def written(packed: bytes) -> str:
    return json.dumps(encode_filter(decode_filter(packed)), separators=(",", ":"))


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



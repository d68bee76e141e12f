"""How many subscriptions were in force, and satisfied, when a message came: counted one by one."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

pytest.importorskip("pyspark")

import pyarrow as pa

from tamis.analysis.questions import content
from tamis.analysis.questions.content import HeldFilters
from tamis.analysis.questions.matches import matching
from tamis.analysis.questions.meaning import ParsedFilters
from tamis.analysis.records.by_message import CHAPTER


@pytest.mark.slow
def test_counts_are_those_of_looking_at_each() -> None:
    random = Random(3)
    spans = [(random.randrange(5), since := random.randrange(50), since + random.randrange(20)) for _ in range(200)]
    messages = [(random.randrange(80), sorted(random.sample(range(7), random.randrange(4)))) for _ in range(300)]
    columns = zip(*spans, strict=True)
    held = HeldFilters.of(pa.table(dict(zip(("filter", "since_us", "until_us"), map(list, columns), strict=True))))
    at_us, filters = (list(column) for column in zip(*messages, strict=True))
    each = [
        (
            sum(since <= at <= until for _, since, until in spans),
            sum(f in wants and since <= at <= until for f, since, until in spans),
        )
        for at, wants in messages
    ]
    expected = (300, sum(bool(hits) for _, hits in each), sum(hits for _, hits in each), sum(all_ for all_, _ in each))
    counts = held.counts(pa.array(at_us, pa.int64()).to_numpy(), pa.array(filters, pa.list_(pa.int32())))
    assert counts == expected


def test_a_form_that_is_new_is_matched_with_kept_texts() -> None:
    random = Random(4)
    forms = [f'[["x","=",{number}]]' for number in range(9)]
    texts = [f'{{"x":{random.randrange(9)}}}' for _ in range(200)] + ["{broken"]

    def messages(chapter: int | None, asked: list[str]) -> pa.RecordBatch:
        filters = matching(ParsedFilters.of(asked), pa.array(texts))
        columns = {"attributes": texts, "filters": filters, CHAPTER: pa.array([chapter] * len(texts), pa.int64())}
        return pa.RecordBatch.from_pydict(columns)

    def counted(rows: pa.RecordBatch, asked: list[str]) -> pa.Table:
        return content.by_form(pa.Table.from_batches([rows]), asked)

    old, late = forms[:5], content.new_forms([pa.table({"form": forms[:5]}), pa.table({"form": forms[:7]})], forms)
    assert late == forms[5:]
    kept = counted(content.hits(None, messages(1, old)), old)
    saved = content.texts(None, messages(1, old))
    new = counted(content.text_hits(ParsedFilters.of(late), saved), late)
    every = counted(content.hits(None, messages(None, forms)), forms)
    assert sums(content.hits_of([kept, new], forms)) == sums(every)
    assert len(saved) < len(texts)


def sums(rows: pa.Table) -> Counter[str]:
    found = Counter[str]()
    for row in rows.to_pylist():
        found[row["form"]] += row["matches"]
    return found

"""Candidates and passed messages of filters with programs, from recorded messages."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("pyspark")

import pyarrow as pa
from pyspark.sql import SparkSession

from tamis.analysis.advice.candidates import counted
from tamis.analysis.questions.matches import matching
from tamis.analysis.questions.meaning import ParsedFilters
from tamis.analysis.questions.programs import with_program
from tamis.analysis.spark import parts
from tamis.protocol import dialects

pytestmark = pytest.mark.slow


def test_candidates_match_the_constraints_and_those_that_passed_the_program(spark: SparkSession) -> None:
    found = dialects.get("jms").decided("sym = 'A' AND price * qty > 1000")
    assert found.residual is not None
    program = with_program('[["sym","=","A"],["price","exists"],["qty","exists"]]', found.residual.pack().hex())
    forms = ['[["sym","=","B"]]', program]
    messages = [{"sym": "A", "price": 9, "qty": qty} for qty in range(120)] + [{"sym": "A"}, {"sym": "B"}] * 7
    texts = pa.array([json.dumps(each) for each in messages] + [None], pa.string())
    filters = matching(ParsedFilters.of(forms), texts).cast(pa.list_(pa.int32()))
    held = pa.table({"router": ["a", "a", "b"], "client": ["alice", "alice", "bob"], "filter": pa.array([1, 1, 0])})
    published = parts.of_table(spark, pa.table({"attributes": texts, "filters": filters}))
    (row,) = counted(published, forms, held).collect()
    assert (row.router, row.client, row.candidates, row.passed) == ("a", "alice", 120, len(range(112, 120)))
    assert row.text.endswith(", and a residual program")
    assert counted(published, forms[:1], held).collect() == []

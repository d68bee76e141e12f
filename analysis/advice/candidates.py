"""How many recorded messages the residual program of each filter was asked about, and how many it let pass.

Law: candidates are the messages that satisfy the constraints of a filter; its program is evaluated by the twin, as all
that a filter satisfies.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.advice.wording import FOR_CLIENTS, Advice, Evidence
from tamis.analysis.page.formatting import predicate
from tamis.analysis.questions.matches import matching
from tamis.analysis.questions.meaning import ParsedFilters
from tamis.analysis.questions.programs import index_part
from tamis.analysis.spark import parts

CANDIDATES: Final = "filter int, candidates long, passed long"
PASSED_OF: Final = 10_000
"""A program that lets one of as many candidates pass, or fewer, decides what an index should."""


def counted(published: DataFrame, forms: Sequence[str], in_force: pa.Table) -> DataFrame:
    """Return a row for each filter with a program and each client that has it: router, client, text, candidates and
    passed."""
    spark = published.sparkSession
    places = [place for place, form in enumerate(forms) if index_part(form) != json.loads(form)]
    of_index = ParsedFilters.of(json.dumps(index_part(forms[place])) for place in places)

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            matched = matching(of_index, batch.column("attributes")).flatten().to_numpy()
            satisfied = batch.column("filters").flatten().to_numpy()
            candidates = np.bincount(matched, minlength=len(places))
            passed = [int((satisfied == place).sum()) for place in places]
            columns = [pa.array(places, pa.int32()), pa.array(candidates, pa.int64()), pa.array(passed, pa.int64())]
            yield pa.RecordBatch.from_arrays(columns, names=["filter", "candidates", "passed"])

    read = published.where(F.col("attributes").isNotNull()).select("attributes", "filters")
    sums = read.mapInArrow(count, CANDIDATES).groupBy("filter").agg(F.sum("candidates"), F.sum("passed"))
    named = sums.toDF("filter", "candidates", "passed")
    held = parts.of_table(spark, in_force.select(["router", "client", "filter"])).distinct()
    texts = pa.table([pa.array(places, pa.int32()), pa.array([predicate(forms[each]) for each in places], pa.string())],
                     names=["filter", "text"])  # fmt: skip
    found = held.join(named, "filter").join(F.broadcast(parts.of_table(spark, texts)), "filter")
    return found.select("router", "client", "text", "candidates", "passed").orderBy("router", "client", "text")


def programs(evidence: Evidence) -> Iterator[Advice]:
    found = [row for row in evidence.candidates if _is_wide(row["candidates"], row["passed"])]
    for row in found:
        option = f"filter of {row['client']} at {row['router']}"
        now = f"{row['passed']:,} of {row['candidates']:,} candidates pass"
        why = f"the program of `{row['text']}` decides nearly alone, once for each candidate"
        then = "constraints that an index serves: =, in, prefix, or bounds"
        yield Advice("programs", option, FOR_CLIENTS, now, why, then)
    if not found:
        why = f"no program lets 1 of {PASSED_OF:,} candidates pass, or fewer"
        yield Advice("programs", "filters", "nothing to change", "as they are", why)


def _is_wide(candidates: int, passed: int) -> bool:
    return candidates >= PASSED_OF and passed * PASSED_OF <= candidates

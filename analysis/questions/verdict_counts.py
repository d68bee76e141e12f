"""The number of deliveries of each verdict in an analysis, from its tables.

Law: a verdict without deliveries counts 0, and an analysis without the question of deliveries has no counts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pyarrow.parquet as pq

from tamis.analysis.durable.fate import CUSTODY_VERDICTS, DURABLE_FAULTS, FATES

VERDICTS: Final = ("delivered", "missing", "duplicate", "stray", "dropped", "undecided")
"""Each delivery has one of them."""
FAULTS: Final = VERDICTS[1:5]


def durable_counts(out: Path) -> dict[str, dict[str, int]] | None:
    """Return the number of stored messages by outcome, of faults by name, and of messages that were stored for other
    routers by verdict, in the answers at `out`; None without the tables of `durable`."""
    if not (out / "durable" / "fates").is_dir():
        return None
    fates, faults = dict.fromkeys(FATES, 0), dict.fromkeys(DURABLE_FAULTS, 0)
    for row in pq.read_table(out / "durable" / "fates").to_pylist():
        fates[row["fate"]] += row["messages"]
    for row in pq.read_table(out / "durable" / "faults").to_pylist():
        faults[row["fault"]] += row["messages"] or 1
    custody = dict.fromkeys(CUSTODY_VERDICTS, 0)
    for row in pq.read_table(out / "durable" / "custody").to_pylist():
        custody[row["verdict"]] += row["messages"]
    return {"fates": fates, "faults": faults, "custody": custody}


def verdict_counts(out: Path) -> dict[str, int] | None:
    """Return the number of deliveries by verdict in the answers at `out`; None without the table of `delivery`."""
    table = out / "delivery" / "counts"
    if not table.is_dir():
        return None
    counts = dict.fromkeys(VERDICTS, 0)
    for row in pq.read_table(table).to_pylist():
        counts[row["verdict"]] += row["deliveries"]
    return counts

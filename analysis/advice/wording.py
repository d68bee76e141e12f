"""The input of a rule, and its advice.

Law: advice that changes the file has edits, a figure, its old value and its promised one; advice that changes nothing
has the reason. A figure is one that a later analysis finds again under the same rule, so that the promise can be
checked.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DoubleType, StringType, StructField, StructType

from tamis.configs import Topology
from tamis.configs.edit import Path, Value

GAIN_MIN: Final = 0.2
"""The least gain that justifies a restart; passes of one engine differ by a tenth on a busy machine."""

Verdict = Literal["change", "nothing to change", "for experiments", "for clients"]
FOR_EXPERIMENTS: Final = "for experiments"
FOR_CLIENTS: Final = "for clients"
"""The change is one of a client's filter, not of the file."""
Edits = Mapping[Path, Value | None]
"""By path of a key: its new value; None removes the key."""
Rows = Sequence[Mapping[str, Any]]

SCHEMA: Final = StructType(
    [
        *(StructField(name, StringType()) for name in ("rule", "option", "verdict", "now", "then", "evidence")),
        *(StructField(name, StringType()) for name in ("promise", "figure")),
        *(StructField(name, DoubleType()) for name in ("before", "promised")),
        StructField("edits", StringType()),
    ]
)


class Contender(NamedTuple):
    """An engine to compare; `rounds` belong to `sff` alone."""

    engine: str
    rounds: int | None = None

    def __str__(self) -> str:
        return self.engine if self.rounds is None else f"{self.engine} with {self.rounds} rounds"


@dataclass(frozen=True, slots=True)
class Evidence:
    """The tables of `evidence.py` and `trials.py` as rows, `engines` as the logs name them, and the file's topology."""

    topology: Topology
    engines: Mapping[str, str] = field(default_factory=dict)
    match_times: Rows = ()
    trials: Rows = ()
    overflows: Rows = ()
    reach: Rows = ()
    totals: Rows = ()
    exclusions: Rows = ()
    keys: Rows = ()
    candidates: Rows = ()


@dataclass(frozen=True, slots=True)
class Advice:
    """One piece of advice. `option` is the dotted path of its key; a lower `figure` is better."""

    rule: str
    option: str
    verdict: Verdict
    now: str
    evidence: str
    then: str | None = None
    promise: str | None = None
    figure: str | None = None
    before: float | None = None
    promised: float | None = None
    edits: Edits = field(default_factory=dict)

    @property
    def row(self) -> dict[str, Any]:
        """Return the advice as a row for programs, with dotted paths of edits."""
        edits = {".".join(path): value for path, value in self.edits.items()}
        return {each.name: getattr(self, each.name) for each in fields(self)} | {"edits": edits}

    def __str__(self) -> str:
        if self.verdict == "nothing to change":
            return f"{self.option}: nothing to change ({self.now}): {self.evidence}"
        then = f"{self.then}, which is for experiments" if self.verdict == FOR_EXPERIMENTS else self.then
        promise = f"; promised: {self.promise}" if self.promise else ""
        return f"{self.option}: {self.now} -> {then}: {self.evidence}{promise}"


def table(spark: SparkSession, found: Iterable[Advice]) -> DataFrame:
    rows = [each.row | {"edits": json.dumps(each.row["edits"]) if each.edits else None} for each in found]
    return spark.createDataFrame([tuple(row[name] for name in SCHEMA.names) for row in rows], SCHEMA)

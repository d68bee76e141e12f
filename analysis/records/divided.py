"""What chapters divide: the messages of publishers by their numbers, and what durable subscriptions stored by its
positions.

Law: the record that a message was stored is of the message and of its position; those of a chain between routers are
of the message. Records of its deliveries and of its
outcome, maybe days later, are of the position only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Protocol

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import dataset
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.records.increments import MESSAGES, STORED
from tamis.analysis.records.logs import Logs

IDS: Final = ("origin", "number")
_COUNTED: Final = ("file", *IDS, "t_us")
STORINGS: Final = ("kept", "entered", "passed")
"""What is recorded of a message by its id: it was stored, here or for another router, or not stored for that one."""
_IS_STORED: Final = dataset.field("what").isin(STORINGS)
_HAS_PLACE: Final = dataset.field("position").is_valid() & dataset.field("keep").is_valid()


class Divided(Protocol):
    @property
    def folder(self) -> str:
        """The folder of the files, a name of `increments.DIVIDED`."""

    @property
    def ids(self) -> tuple[str, str]:
        """The columns of records with a publisher, or what stands for it, and with the number that divides its
        records."""

    def placed(self, logs: Logs, places: Sequence[Path]) -> DataFrame:
        """Return (file, origin, number, t_us) of all records, also of those that messages were stored."""

    def found(self, file: Path) -> Iterator[pa.Table]:
        """Yield (origin, number) of the records in a file."""


class OfMessages:
    folder, ids = MESSAGES, IDS

    def stored(self, logs: Logs, places: Sequence[Path]) -> DataFrame:
        """Return the records of STORINGS."""
        return logs.stored_in([*map(_beside, places)]).where(F.col("what").isin(*STORINGS))

    def placed(self, logs: Logs, places: Sequence[Path]) -> DataFrame:
        stored = logs.stored_in([*map(_beside, places)], with_file=True).where(F.col("what").isin(*STORINGS))
        stored = stored.withColumn("file", F.regexp_replace("file", STORED, MESSAGES))
        return logs.messages_in(places, with_file=True).select(*_COUNTED).union(stored.select(*_COUNTED))

    def found(self, file: Path) -> Iterator[pa.Table]:
        is_message = dataset.field("kind") == "message"
        yield from _scanned(file, IDS, is_message)
        if _beside(file).exists():
            yield from _scanned(_beside(file), IDS, _IS_STORED)


class OfPositions:
    """A durable subscription of a router stands for a publisher: the column `place`."""

    folder, ids = STORED, ("place", "position")

    def rows(self, logs: Logs, places: Sequence[Path]) -> DataFrame:
        return _with_place(logs.stored_in(places))

    def placed(self, logs: Logs, places: Sequence[Path]) -> DataFrame:
        found = _with_place(logs.stored_in(places, with_file=True))
        return found.select("file", F.col("place").alias("origin"), F.col("position").alias("number"), "t_us")

    def found(self, file: Path) -> Iterator[pa.Table]:
        for rows in _scanned(file, ("router", "keep", "position"), _HAS_PLACE):
            place = pc.binary_join_element_wise(pc.cast(rows.column("keep"), pa.string()), rows.column("router"), " ")
            yield pa.table([place, rows.column("position")], names=IDS)


def _with_place(stored: DataFrame) -> DataFrame:
    alone = stored.where(F.col("position").isNotNull() & F.col("durable").isNotNull())
    return alone.withColumn("place", F.concat_ws(" ", F.col("durable").cast("string"), "router"))


def _beside(messages: Path) -> Path:
    """Return the file, or the folder, of records of stored messages that were read with these messages."""
    if messages.name == MESSAGES:
        return messages.parent / STORED
    return messages.parent.parent / STORED / messages.name


def _scanned(file: Path, names: Sequence[str], which: dataset.Expression) -> Iterator[pa.Table]:
    for batch in dataset.dataset(file).to_batches(columns=list(names), filter=which):
        yield pa.Table.from_batches([batch])

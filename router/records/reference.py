"""The reference page of records.

    python -m tamis.router.records.reference > docs/reference/records.md

Law: kinds and fields are printed from protocol/records.py; a test compares the page with a new print.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from tamis.protocol.records import COMMON, KINDS, VERSION, RecordField, RecordKind

_TYPES = {
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "text": "text",
    "texts": "list of texts",
    "integers": "list of integers",
    "counts": "object of text to integer",
}
_INTRO = f"""\
# Records

Records that routers and simulated routers write if the topology file has a section
[`records`](topology.md#records). Version {VERSION}; printed by `python -m tamis.router.records.reference`, do not edit.
How to use them: [the how-to](../how-to/records.md).

## Files

    <folder>/<router>/events-<epoch>-<number>.jsonl        one JSON object a line; the open file
    <folder>/<router>/events-<epoch>-<number>.jsonl.gz     closed and compressed
    <folder>/<router>/messages-<epoch>-<number>.jsonl      message records, which are many
    <folder>/<router>/messages-<epoch>-<number>.parquet    closed, as columns

Each start of a router has an epoch; a larger epoch is later. Numbers begin at 000000 in each epoch. If a file exists in
several forms, readers use the `.parquet`, or else the `.gz`; they skip files that end in `.part`. A router that stops
compresses its last files. Files that a crash has left plain, perhaps with an incomplete last line, are compressed after
the next start.

Columns are `v` to `n`, a struct for each kind of the file family, and `line`: the bytes of a line that has another
field, kind or type, and then no other column has a value.

## Every record

A field that does not apply is left out. A later version may add kinds, and fields to a kind; readers skip unknown ones.
Integers fit 64 bits with sign: ids of 64 bits without one are hex digits, or signed integers of the same bits
(`number`). Times are Unix time in microseconds by the writer's clock; `clock` records have its difference from the
clocks of neighbours.
"""


def page() -> str:
    sections = (_section(kind) for kind in KINDS.values())
    return "\n".join([_INTRO, _table(COMMON), *sections])


def _section(kind: RecordKind) -> str:
    where = f"In the files `{kind.family}-*`."
    return f"## `{kind.name}`\n\n{kind.meaning[0].upper()}{kind.meaning[1:]}. {where}\n\n{_table(kind.fields)}"


def _table(fields: Iterable[RecordField]) -> str:
    return "\n".join(["| field | type | meaning |", "|---|---|---|", *_rows(fields)]) + "\n"


def _rows(fields: Iterable[RecordField]) -> Iterator[str]:
    for field in fields:
        yield f"| `{field.name}` | {_TYPES[field.type]} | {field.meaning} |"


if __name__ == "__main__":
    sys.stdout.write(page())

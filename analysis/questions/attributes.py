"""The attributes of messages by column, parsed from their texts by Arrow where its types hold them exactly.

Law: what Arrow's parser would change (an integer beside a fraction beyond 2**53, a number in one message that is a text
in another) or refuse is not read here: then `columns` is None, and each text is parsed by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as arrow_json

EXACT_MAX: Final = 2.0**53
"""Up to here each integer is a number of the type that Arrow has for fractions."""


def columns(texts: pa.Array) -> Mapping[str, pa.Array] | None:
    """Return the values of each attribute, a row for each of `texts`, which has no nulls; null where it is absent.
    None if they cannot be read by column."""
    if not len(texts):
        return {}
    is_object = pc.and_(pc.starts_with(texts, "{"), pc.ends_with(texts, "}"))
    if not pc.all(is_object).as_py() or pc.any(pc.match_substring(texts, "\n")).as_py():
        return None
    every = pa.ListArray.from_arrays(pa.array([0, len(texts)], pa.int32()), texts)
    found = _parsed(pc.binary_join(every, "\n")[0].as_buffer())
    if found is None or len(found) != len(texts):
        return None
    each = {name: found.column(name).combine_chunks() for name in found.schema.names}
    return each if all(map(_is_exact, each.values())) else None


def _parsed(lines: pa.Buffer) -> pa.Table | None:
    reading = arrow_json.ReadOptions(use_threads=False, block_size=len(lines) + 1)
    try:
        found = arrow_json.read_json(pa.BufferReader(lines), reading)
        times = [pa.field(field.name, pa.string()) for field in found.schema if pa.types.is_timestamp(field.type)]
        if times:  # texts to everybody but Arrow
            parsing = arrow_json.ParseOptions(explicit_schema=pa.schema(times))
            found = arrow_json.read_json(pa.BufferReader(lines), reading, parsing)
    except pa.ArrowInvalid:
        return None
    return found


def _is_exact(column: pa.Array) -> bool:
    if pa.types.is_floating(column.type):
        return pc.all(pc.less(pc.abs(column), EXACT_MAX)).as_py() is not False
    return column.type in (pa.int64(), pa.bool_(), pa.string())

"""The subscribed filters that another one covers.

Law: this is the product's own covering, not the audit's: it shows what routers could leave out of their advertisements.
Filters are few compared with messages, so they are compared where the tables are made.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from tamis.analysis.spark import parts
from tamis.native.covering import FilterCovers
from tamis.protocol.covering import covers_normal
from tamis.protocol.errors import Refused
from tamis.protocol.filters import Filter
from tamis.protocol.json_form import decode_filter
from tamis.protocol.normal import normalize
from tamis.protocol.wire.packed_filters import encode_filter

_SCHEMA: Final = pa.schema(
    [("filter", pa.int32()), ("form", pa.string()), ("covered_by", pa.int32()), ("covered_by_form", pa.string())]
)


def covered(forms: Sequence[str]) -> pa.Table:
    """Return each filter that another one covers, with the first one that does."""
    rows = [(number, forms[number], wider, forms[wider]) for number, wider in pairs(forms)]
    return parts.table_of(rows, _SCHEMA)


def pairs(forms: Sequence[str]) -> list[tuple[int, int]]:
    """Return pairs of a filter and the first one that covers it; of two with equal meaning, the later is covered."""
    filters = _readable(forms)
    found = []
    with FilterCovers() as index:
        numbers = {index.add(encode_filter(filter_)): number for number, filter_ in filters.items()}
        for number, filter_ in filters.items():
            others = (numbers[id_] for id_ in index.covering(encode_filter(filter_)))
            wider = [other for other in others if other < number or not covers_normal(filter_, filters[other])]
            if wider:
                found.append((number, min(wider)))
    return found


def _readable(forms: Sequence[str]) -> dict[int, Filter]:
    """Return the filters in normal form by their places in `forms`, without those that never match or that this version
    cannot read: they cover nothing."""
    filters = {}
    for number, form in enumerate(forms):
        try:
            filters[number] = normalize(decode_filter(json.loads(form)))
        except (Refused, ValueError):
            continue
    return filters

"""The families of hostile shapes, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tamis.bench.matching.adversary.boxes import BOXES
from tamis.bench.matching.adversary.buckets import BUCKETS
from tamis.bench.matching.adversary.intervals import INTERVALS
from tamis.bench.matching.adversary.names import NAMES
from tamis.bench.matching.adversary.patterns import PATTERNS
from tamis.bench.matching.adversary.shapes import Family
from tamis.bench.matching.adversary.values import VALUES

FAMILIES: Final[Mapping[str, Family]] = {
    "names": NAMES,
    "values": VALUES,
    "patterns": PATTERNS,
    "boxes": BOXES,
    "buckets": BUCKETS,
    "intervals": INTERVALS,
}

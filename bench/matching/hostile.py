"""What a byte of a value costs that was made to hurt: 64 KiB of `a` against patterns of `a`.

    hits      contains "a", "aa", "aaa", ...          every one holds, from the first characters on
    misses    contains "ab", "aab", "aaab", ...       none holds, and each looks as if it would at every character
    both      the two together                        no early end, whatever holds

Law: every filter has an interface of its own, so that none of them answers for another; engines are held to one answer.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from tamis.bench.matching.contenders import EnginesDisagree
from tamis.native import Batch, Table
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.limits import MATCH_STEPS_MAX, STRING_BYTES_MAX
from tamis.protocol.wire.attributes import encode_attributes
from tamis.protocol.wire.packed_filters import encode_filter

LENGTHS = (1, 8, 32, 127)  # so many `a` in the longest pattern; there is one of each length up to it
KINDS = {"hits": ("",), "misses": ("b",), "both": ("", "b")}
_PASSES = 5


@dataclass(frozen=True, slots=True)
class Cost:
    """Nanoseconds per byte of the value, the fastest of a few passes, for each engine."""

    patterns: int
    kind: str
    ns_per_byte: dict[str, float]
    matched: int


def cost(kind: str, length_max: int, engines: Sequence[str], value_bytes: int = STRING_BYTES_MAX) -> Cost:
    """EnginesDisagree if they do."""
    texts = ["a" * length + tail for length in range(1, length_max + 1) for tail in KINDS[kind]]
    filters = Batch.of(encode_filter(Filter((Constraint("x", Op.CONTAINS, (text,)),))) for text in texts)
    message = Batch.of([encode_attributes({"x": "a" * value_bytes})])
    times, answers = {}, set()
    for engine in engines:
        with Table(engine, match_steps=MATCH_STEPS_MAX) as table:
            table.add_many(filters, array("I", range(len(texts))))
            passes = [table.measure(message) for _ in range(_PASSES)]
        times[engine] = min(each.total_ns for each in passes) / value_bytes
        answers |= {(each.matched, each.checksum) for each in passes}
    if len(answers) > 1:
        raise EnginesDisagree(
            f"engines disagree on {value_bytes:,} bytes of `a` against {len(texts)} patterns ({kind})"
        )
    return Cost(len(texts), kind, times, answers.pop()[0])

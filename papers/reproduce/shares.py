"""What a generator of workloads really draws, counted from its bytes.

Law: filters and messages are decoded by the wire's own decoder; the generator is not asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from tamis.bench.matching.workloads import Workload
from tamis.papers.reproduce.figure import Criterion, Judgement, ResultRow, ResultRows
from tamis.papers.reproduce.judging import number, ruled
from tamis.protocol.filters import Op
from tamis.protocol.values import Value
from tamis.protocol.wire.attributes import decode_attributes
from tamis.protocol.wire.packed_filters import decode_filter

_SIGMAS: Final = 4
_Drawn = TypeVar("_Drawn")


@dataclass(slots=True)
class DrawnShares:
    """How often each type, operator, size and name came."""

    filter_types: Counter[str] = field(default_factory=Counter)
    message_types: Counter[str] = field(default_factory=Counter)
    ops: dict[str, Counter[Op]] = field(default_factory=dict)
    """By type."""
    constraints: Counter[int] = field(default_factory=Counter)
    attributes: Counter[int] = field(default_factory=Counter)
    names: Counter[str] = field(default_factory=Counter)


def drawn_shares(made: Workload) -> DrawnShares:
    shares = DrawnShares()
    for index in range(len(made.filters)):
        constraints = decode_filter(made.filters[index]).constraints
        shares.constraints[len(constraints)] += 1
        for each in constraints:
            kind = _kind(each.operands[0])
            shares.filter_types[kind] += 1
            shares.ops.setdefault(kind, Counter())[each.op] += 1
            shares.names[each.name] += 1
    for index in range(len(made.messages)):
        attributes = decode_attributes(made.messages[index])
        shares.attributes[len(attributes)] += 1
        shares.message_types.update(map(_kind, attributes.values()))
    return shares


def _kind(value: Value) -> str:
    return "boolean" if isinstance(value, bool) else "string" if isinstance(value, str) else "integer"


def share_rows(parameter: str, counts: Mapping[_Drawn, int], stated: Mapping[_Drawn, float]) -> Iterator[ResultRow]:
    """A row for each value that the paper gives a share; the rest is one row that should not be there."""
    total = sum(counts.values())
    for value, share in stated.items():
        yield _row(parameter, str(value), counts.get(value, 0), total, share)
    others = total - sum(counts.get(value, 0) for value in stated)
    if others:
        yield _row(parameter, "others", others, total, 0.0)


def _row(parameter: str, value: str, count: int, total: int, share: float) -> ResultRow:
    sigma = (share * (1 - share) / max(total, 1)) ** 0.5
    return {"parameter": parameter, "value": value, "paper": share, "ours": count / total, "sigma": sigma}


def as_stated(name: str, claim: str, paper: str) -> Criterion:
    """That every share is within four standard deviations of what the paper states."""

    def judge(rows: ResultRows) -> Judgement:
        far = [
            row
            for row in rows
            if number(row, "sigma") and abs(number(row, "ours") - number(row, "paper")) > _SIGMAS * number(row, "sigma")
        ]
        most = max(abs(number(row, "ours") - number(row, "paper")) for row in rows)
        told = "; ".join(f"{row['parameter']} {row['value']}: {number(row, 'ours'):.3f}" for row in far)
        ours = f"{len(rows) - len(far)} of {len(rows)} shares, the farthest off by {most:.2%} {told}".strip()
        return ruled(not far, ours, "the generator draws otherwise than the paper states")

    return Criterion(name, claim, paper, judge)

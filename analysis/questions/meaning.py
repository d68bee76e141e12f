"""The filters that a batch of messages satisfies, by a second implementation of the language, column by column.

Law: this shares nothing with the matchers that routers run, so an error of either is found. Each distinct value of an
attribute has a rank; a constraint is evaluated once on ranks, never on messages; a filter starts with the messages of
its rarest constraint and only those are tested against the others. Numbers are compared exactly, as Python does; a
boolean is no number.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tamis.analysis.questions.programs import RESIDUAL, Decided

Rows = NDArray[np.int64]
Key = tuple[int, Any]
"""(kind, value), with the kinds boolean, number and string in one order."""

_BOOLEAN, _NUMBER, _STRING = range(3)


class Test(Protocol):
    """The rows of a batch that satisfy a constraint."""

    @property
    def count(self) -> int:
        """Return how many rows satisfy it."""

    def rows(self) -> Rows: ...

    def holds(self, rows: Rows) -> NDArray[np.bool_]:
        """Return, for each of `rows`, whether it satisfies the constraint."""


class Column:
    """One attribute of a batch. Rank 0 means absence; ranks from 1 on number its distinct values in their order."""

    def __init__(self, ranks: NDArray[np.int32], values: list[Key]) -> None:
        self.ranks = ranks
        self.values = values
        self._order = np.argsort(ranks, kind="stable")
        self.counts = np.bincount(ranks, minlength=len(values) + 1)
        self._starts = np.concatenate([[0], np.cumsum(self.counts)])

    def count(self, low: int, high: int) -> int:
        return int(self._starts[high] - self._starts[low])

    def rows(self, low: int, high: int) -> Rows:
        """Return the rows whose rank lies in [low, high)."""
        return self._order[self._starts[low] : self._starts[high]]


class Spans:
    """Rows whose ranks lie in one of a few disjoint spans."""

    def __init__(self, column: Column, spans: Sequence[tuple[int, int]]) -> None:
        self._column = column
        self._spans = [span for span in spans if span[0] < span[1]]
        self.count = sum(column.count(*span) for span in self._spans)

    def rows(self) -> Rows:
        return _joined([self._column.rows(*span) for span in self._spans])

    def holds(self, rows: Rows) -> NDArray[np.bool_]:
        ranks = self._column.ranks[rows]
        held = np.zeros(len(rows), np.bool_)
        for low, high in self._spans:
            held |= (ranks >= low) & (ranks < high)
        return held


class Mask:
    """Rows whose ranks are marked, one by one."""

    def __init__(self, column: Column, marks: NDArray[np.bool_]) -> None:
        self._column = column
        self._marks = marks
        self.count = int(column.counts[marks].sum())

    def rows(self) -> Rows:
        return np.flatnonzero(self._marks[self._column.ranks])

    def holds(self, rows: Rows) -> NDArray[np.bool_]:
        return self._marks[self._column.ranks[rows]]


class MessageBatch:
    """The attributes of a batch of messages, by column."""

    def __init__(self, size: int, columns: Mapping[str, Column]) -> None:
        self.size = size
        self._columns = columns
        self._absent = Column(np.zeros(size, np.int32), [])

    @classmethod
    def of(cls, messages: Sequence[Mapping[str, Any]]) -> MessageBatch:
        cells: dict[str, list[tuple[int, Key]]] = {}
        for row, message in enumerate(messages):
            for name, value in message.items():
                cells.setdefault(name, []).append((row, _key(value)))
        return cls(len(messages), {name: _of_cells(rows, len(messages)) for name, rows in cells.items()})

    @classmethod
    def of_columns(cls, size: int, columns: Mapping[str, pa.Array]) -> MessageBatch:
        """Return the batch of `columns`, as `attributes.columns` returns them."""
        return cls(size, {name: _of_values(values) for name, values in columns.items()})

    def test(self, constraint: Sequence[Any]) -> Test:
        name, *rest = constraint
        if rest[0] == RESIDUAL:
            return Decided(rest[1], self.size, self._message)
        return _test(self._columns.get(name, self._absent), rest)

    def _message(self, row: int) -> dict[str, Any]:
        ranks = {name: column.ranks[row] for name, column in self._columns.items()}
        return {name: self._columns[name].values[rank - 1][1] for name, rank in ranks.items() if rank}

    def satisfying(self, tests: Sequence[Test]) -> Rows:
        """Return the rows that satisfy all of some tests of this batch."""
        if not tests:
            return np.arange(self.size)
        first, *others = sorted(tests, key=lambda test: test.count)
        if not first.count:
            return np.empty(0, np.int64)
        rows = first.rows()
        for test in others:
            rows = rows[test.holds(rows)]
        return rows


@dataclass(frozen=True)
class ParsedFilters:
    """Filters; equal constraints are one."""

    constraints: Sequence[Sequence[Any]]
    filters: Sequence[Sequence[int]]
    """Of each, the places of its constraints."""

    @classmethod
    def of(cls, forms: Iterable[str]) -> ParsedFilters:
        """Return the filters with these JSON forms."""
        places: dict[str, int] = {}
        found = [[places.setdefault(json.dumps(each), len(places)) for each in json.loads(form)] for form in forms]
        return cls([json.loads(text) for text in places], found)


def _of_cells(cells: list[tuple[int, Key]], size: int) -> Column:
    values = sorted({key for _, key in cells})
    rank_of = {key: rank for rank, key in enumerate(values, 1)}
    ranks = np.zeros(size, np.int32)
    ranks[[row for row, _ in cells]] = [rank_of[key] for _, key in cells]
    return Column(ranks, values)


def _of_values(column: pa.Array) -> Column:
    each = column.dictionary_encode()
    order = pc.sort_indices(each.dictionary).to_numpy()
    rank_of = np.zeros(len(order) + 1, np.int32)  # with that of absence at its end
    rank_of[order] = np.arange(1, len(order) + 1)
    ranks = rank_of[pc.fill_null(each.indices, -1).to_numpy()]
    return Column(ranks, [_key(value) for value in each.dictionary.take(pa.array(order)).to_pylist()])


def match_lists(filters: ParsedFilters, batch: MessageBatch) -> tuple[Rows, NDArray[np.int64]]:
    """Return the numbers of the filters that each row satisfies, of all rows in one array, and the offsets at which
    each row's numbers begin (the last one: at which all end)."""
    tests = [batch.test(constraint) for constraint in filters.constraints]
    found = [batch.satisfying([tests[place] for place in each]) for each in filters.filters]
    rows = _joined(found)
    numbers = np.repeat(np.arange(len(found)), [len(each) for each in found])
    order = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[order], np.arange(batch.size + 1))
    return numbers[order], starts


def _joined(parts: Sequence[Rows]) -> Rows:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _key(value: Any) -> Key:  # noqa: ANN401 - a value of JSON
    if isinstance(value, bool):
        return _BOOLEAN, value
    return (_STRING if isinstance(value, str) else _NUMBER), value


def _test(column: Column, rest: Sequence[Any]) -> Test:
    negated = rest[0] == "not"
    op, *operands = rest[1:] if negated else rest
    if op in _PATTERNS:
        holds = _PATTERNS[op]
        marks = [kind == _STRING and holds(value, operands[0]) for kind, value in column.values]
        return Mask(column, np.array([False, *marks]) != negated)
    spans = _spans(column.values, op, operands)
    if negated:
        edges = [0, *(edge for span in sorted(spans) for edge in span), len(column.values) + 1]
        spans = list(zip(edges[::2], edges[1::2], strict=True))
    return Spans(column, spans)


def _spans(values: list[Key], op: str, operands: Sequence[Any]) -> list[tuple[int, int]]:
    """Return the spans of ranks, which begin at 1, that satisfy `op` with `operands`."""
    if op == "exists":
        return [(1, len(values) + 1)]
    if op == "in":
        return [_equal(values, key) for key in {_key(operand) for operand in operands[0]}]
    if op == "between":
        least, most = map(_key, operands[0])
        return [(bisect_left(values, least) + 1, bisect_right(values, most) + 1)]
    key = _key(operands[0])
    kind = key[0]
    first, end = bisect_left(values, (kind,)) + 1, bisect_left(values, (kind + 1,)) + 1
    low, high = _equal(values, key)
    spans: dict[str, list[tuple[int, int]]] = {
        "=": [(low, high)],
        "!=": [(first, low), (high, end)],
        "<": [(first, low)],
        "<=": [(first, high)],
        ">": [(high, end)],
        ">=": [(low, end)],
    }
    return spans[op]


def _equal(values: list[Key], key: Key) -> tuple[int, int]:
    return bisect_left(values, key) + 1, bisect_right(values, key) + 1


_PATTERNS: Final = {
    "prefix": str.startswith,
    "suffix": str.endswith,
    "contains": str.__contains__,
    "substring": str.__contains__,
}

"""SQLite: constraints are rows under one index, and a query counts the satisfied ones of each filter.

    part    (key, op, operand)   what holds by equality: each value, its prefixes, its suffixes and its substrings
    bound   (key, value)         each value, for < and >

The planner is not given statistics: with them it builds a Bloom filter over the whole table for each message.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import ClassVar

from tamis.bench.matching.libraries.rules import Condition, Operand, Rule, Subject

_SCHEMA = """
create table wanted(key text, op text, operand, filter integer);
create table filter(id integer primary key, size integer, interface integer);
create temp table part(key text, op text, operand);
create temp table bound(key text, value);
"""
_MATCH = """
with held as (
    select filter from part cross join wanted using (key, op, operand)
    union all select filter from bound cross join wanted using (key) where op = '<' and operand > value
    union all select filter from bound cross join wanted using (key) where op = '>' and operand < value),
full as (select filter, count(*) as satisfied from held group by filter)
select distinct interface from full cross join filter on id = full.filter where size = satisfied
"""

_Prepared = list[tuple[list[Condition], list[tuple[str, Operand]]]]


class Adapter:
    rewritten: ClassVar[str] = (
        "filters as rows under one index; prefix, suffix, contains as equality with parts of the value"
    )
    cannot: ClassVar[str] = ""
    version = sqlite3.sqlite_version

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:", isolation_level=None)
        self._db.executescript(_SCHEMA)

    def expresses(self, _rule: Rule) -> bool:
        return True

    def build(self, rules: Sequence[Rule], interfaces: Sequence[int]) -> None:
        wanted = ((*condition, number) for number, rule in enumerate(rules) for condition in rule)
        self._db.executemany("insert into wanted values (?, ?, ?, ?)", wanted)
        sizes = ((i, len(rule), interface) for i, (rule, interface) in enumerate(zip(rules, interfaces, strict=True)))
        self._db.executemany("insert into filter values (?, ?, ?)", sizes)
        self._db.execute("create index by_operand on wanted(key, op, operand, filter)")

    def prepare(self, subjects: Sequence[Subject]) -> _Prepared:
        return [
            ([(key, *part) for key, value in subject.items() for part in _parts(value)], list(subject.items()))
            for subject in subjects
        ]

    def match(self, prepared: _Prepared) -> list[set[int]]:
        return [self._match(parts, bounds) for parts, bounds in prepared]

    def _match(self, parts: list[Condition], bounds: list[tuple[str, Operand]]) -> set[int]:
        self._db.execute("delete from part")
        self._db.execute("delete from bound")
        self._db.executemany("insert into part values (?, ?, ?)", parts)
        self._db.executemany("insert into bound values (?, ?)", bounds)
        return {interface for (interface,) in self._db.execute(_MATCH)}


def _parts(value: Operand) -> Iterator[tuple[str, Operand]]:
    yield "=", value
    if isinstance(value, str):
        yield from (("prefix", value[:end]) for end in range(len(value) + 1))
        yield from (("suffix", value[start:]) for start in range(len(value) + 1))
        cuts = combinations(range(len(value) + 1), 2)
        yield from (("contains", part) for part in {"", *(value[start:end] for start, end in cuts)})

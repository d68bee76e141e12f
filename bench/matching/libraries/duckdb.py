"""DuckDB: constraints and the messages of a batch are two tables; one join evaluates, one grouping counts.

It is built for scans, so a batch of messages goes through in one query; a single message would cost several times more.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, ClassVar

from tamis.bench.matching.libraries.rules import Operand, Rule, Subject

_MATCH = """
select distinct message, interface from (
    select message, filter, any_value(interface) as interface
    from subject join wanted using (key)
    where case op
        when '=' then coalesce(subject.number = wanted.number, subject.text = wanted.text)
        when '<' then coalesce(subject.number < wanted.number, subject.text < wanted.text)
        when '>' then coalesce(subject.number > wanted.number, subject.text > wanted.text)
        when 'prefix' then starts_with(subject.text, wanted.text)
        when 'suffix' then suffix(subject.text, wanted.text)
        else contains(subject.text, wanted.text) end
    group by message, filter having count(*) = any_value(size))
"""


class Adapter:
    rewritten: ClassVar[str] = "filters as rows; all messages of a batch of 200 in one query"
    cannot: ClassVar[str] = ""

    def __init__(self) -> None:
        self._duckdb, self._arrow = (importlib.import_module(name) for name in ("duckdb", "pyarrow"))
        self._db = self._duckdb.connect(":memory:", config={"threads": 1})

    @property
    def version(self) -> str:
        return str(self._duckdb.__version__)

    def expresses(self, _rule: Rule) -> bool:
        return True

    def build(self, rules: Sequence[Rule], interfaces: Sequence[int]) -> None:
        rows = [
            (key, op, *_columns(operand), number, len(rule), interfaces[number])
            for number, rule in enumerate(rules)
            for key, op, operand in rule
        ]
        names = ("key", "op", "number", "text", "filter", "size", "interface")
        self._db.register("rows", self._table(names, rows))
        self._db.execute("create table wanted as select * from rows")
        self._db.unregister("rows")

    def prepare(self, subjects: Sequence[Subject]) -> tuple[int, Any]:
        rows = [
            (number, key, *_columns(value)) for number, subject in enumerate(subjects) for key, value in subject.items()
        ]
        return len(subjects), self._table(("message", "key", "number", "text"), rows)

    def match(self, prepared: tuple[int, Any]) -> list[set[int]]:
        count, table = prepared
        found: list[set[int]] = [set() for _ in range(count)]
        self._db.register("subject", table)
        for message, interface in self._db.execute(_MATCH).fetchall():
            found[message].add(interface)
        return found

    def _table(self, names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> Any:  # noqa: ANN401 - of an optional package
        types = {"key": "string", "op": "string", "text": "string"}
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        arrays = [self._arrow.array(c, types.get(n, "int64")) for n, c in zip(names, columns, strict=True)]
        return self._arrow.table(dict(zip(names, arrays, strict=True)))


def _columns(value: Operand) -> tuple[int | None, str | None]:
    return (None, value) if isinstance(value, str) else (int(value), None)

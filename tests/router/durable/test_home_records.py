"""R19c: what a log has of other routers, after each crash that may cut its records."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from tamis.native.log import LogRecord
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.custody_bodies import LogLife
from tamis.protocol.wire.home_bodies import StatedDurable, packed_durable
from tamis.protocol.wire.numbers import predicate_digest
from tamis.router.durable.home_records import FoundHomes, HomeRecords
from tamis.router.durable.refusals import RequestRefused
from tests.router.core.bodies import less

LOG = LogLife(77, 5, 4)


class Catalog:
    """The records of a log in memory, each on disk at once, or none while it is full."""

    def __init__(self, records: list[LogRecord]) -> None:
        self.records = records
        self.is_full = False

    def write(self, kind: int, body: bytes) -> int:
        if self.is_full:
            raise RequestRefused(RefusalCode.LOG_FULL, "the log has no room")
        n = 1 + max((record.n for record in self.records), default=0)
        self.records.append(LogRecord(n, kind, 0, (), (), (0, 0), body, False))
        return n

    def retire(self, n: int) -> None:
        self.records[:] = [record for record in self.records if record.n != n]

    def when_on_disk(self, n: int, answer: Callable[[RequestRefused | None], None]) -> None:
        assert any(record.n == n for record in self.records)
        answer(None)


def durable(name: str) -> bytes:
    return packed_durable(StatedDurable(name, "alice", (less(5),), 0, 0, 0))


def found(records: list[LogRecord]) -> dict[str, tuple[tuple[int, int], dict[int, bytes]]]:
    return {each.name: ((each.epoch, each.seq), dict(each.added)) for each in FoundHomes(records).statements()}


def opened(records: list[LogRecord]) -> tuple[Catalog, HomeRecords]:
    catalog = Catalog(records)
    return catalog, HomeRecords(catalog, FoundHomes(records), LOG, lambda task: deque(task, 0), lambda *_: None)


def test_what_is_written_is_found_and_confirmed_with_the_id_of_the_log():
    catalog, homes = opened([])
    logs: list[LogLife] = []
    homes.store("rome", 5, 1, 3, {1: durable("x"), 2: durable("y")}, (), logs.append)
    homes.store("oslo", 6, 9, 1, {1: durable("x")}, (), logs.append)
    assert found(catalog.records) == {
        "rome": ((1, 3), {1: durable("x"), 2: durable("y")}),
        "oslo": ((9, 1), {1: durable("x")}),
    }
    assert logs == [LOG, LOG]
    [rome, _] = FoundHomes(catalog.records).statements()
    assert (rome.log, rome.digest) == (5, predicate_digest([(1, durable("x")), (2, durable("y"))]))


def test_what_is_removed_leaves_no_record_also_after_a_restart():
    catalog, homes = opened([])
    homes.store("rome", 5, 1, 3, {1: durable("x"), 2: durable("y")}, (), lambda _: None)
    catalog, homes = opened(catalog.records)
    homes.store("rome", 5, 1, 4, {3: durable("z")}, (1,), lambda _: None)
    homes.store("rome", 5, 1, 5, {}, (2, 3), lambda _: None)
    assert found(catalog.records) == {"rome": ((1, 5), {})}
    assert len(catalog.records) == 1


def test_each_crash_leaves_at_least_what_was_confirmed():
    catalog, homes = opened([])
    homes.store("rome", 5, 1, 3, {1: durable("x"), 2: durable("y")}, (), lambda _: None)
    before = list(catalog.records)
    homes.store("rome", 5, 1, 4, {3: durable("z")}, (1,), lambda _: None)
    written = [record for record in catalog.records if record not in before]
    for kept in range(len(written)):
        version, durables = found([*before, *written[:kept]])["rome"]
        assert version == (1, 3)
        assert durables.items() >= {1: durable("x"), 2: durable("y")}.items()


def test_records_that_a_later_one_replaces_are_retired_at_the_next_start():
    catalog, homes = opened([])
    homes.store("rome", 5, 1, 3, {1: durable("x")}, (), lambda _: None)
    left = list(catalog.records)
    homes.store("rome", 5, 1, 4, {1: durable("x2")}, (), lambda _: None)
    both = [*left, *catalog.records]
    catalog, _ = opened(both)
    assert found(catalog.records) == {"rome": ((1, 4), {1: durable("x2")})}
    assert len(catalog.records) == 2


def test_what_a_full_log_rejects_is_not_confirmed_and_written_with_the_next_statement():
    catalog, homes = opened([])
    catalog.is_full = True
    logs: list[LogLife] = []
    homes.store("rome", 5, 1, 3, {1: durable("x")}, (), logs.append)
    assert logs == []
    catalog.is_full = False
    homes.store("rome", 5, 1, 4, {2: durable("y")}, (), logs.append)
    assert logs == [LOG]
    assert found(catalog.records) == {"rome": ((1, 4), {1: durable("x"), 2: durable("y")})}


def test_a_long_statement_is_written_in_slices_before_a_later_one():
    catalog, tasks, logs = Catalog([]), [], []
    homes = HomeRecords(catalog, FoundHomes([]), LOG, tasks.append, lambda *_: None)
    long = dict.fromkeys(range(2000), b"\x90")
    homes.store("rome", 5, 1, 3, long, (), lambda _: logs.append("first"))
    homes.store("rome", 5, 1, 4, {}, range(1_000), lambda _: logs.append("second"))
    [task] = tasks
    before = 0
    for _ in task:
        assert len(catalog.records) - before <= 501
        before = len(catalog.records)
        assert logs in ([], ["first"], ["first", "second"])
    assert logs == ["first", "second"]
    assert found(catalog.records) == {"rome": ((1, 4), dict.fromkeys(range(1000, 2000), b"\x90"))}
    homes.store("rome", 5, 1, 5, {1: b"\x90"}, (), lambda _: logs.append("third"))
    assert len(tasks) == 2

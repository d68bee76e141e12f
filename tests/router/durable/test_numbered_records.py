"""The numbers of records by the numbers of what they are about, beside a dict."""

from __future__ import annotations

import random
import sys

from tamis.router.durable.home_records import NumberedRecords


def test_it_answers_as_a_dict_does() -> None:
    rng, records, twin = random.Random(7), NumberedRecords(), dict[int, int]()
    for record in range(1, 2_000):
        number = rng.choice((record, rng.randrange(300), 2**64 - 1 - rng.randrange(9)))
        if rng.random() < 0.4:
            assert records.pop(number) == twin.pop(number, 0)
        else:
            before, twin[number] = twin.get(number, 0), record
            assert records.put(number, record) == before
        assert len(records) == len(twin)
    assert {number: records.pop(number) for number in twin} == twin
    assert len(records) == 0


def test_one_of_ten_thousand_takes_less_than_twenty_bytes() -> None:
    records = NumberedRecords()
    for number in range(10_000):
        records.put(number, 2**41 + number)
    kept = sum(sys.getsizeof(getattr(records, name)) for name in NumberedRecords.__slots__)
    assert kept / 10_000 < 20

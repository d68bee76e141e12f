"""The numbers of records in the log by the numbers of what they are about, in 16 bytes for each: there may be a hundred
thousand.

Law: both are unsigned integers of 64 bits. Most numbers are greater than all before them, which costs a step; another
one moves those behind it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left


class NumberedRecords:
    __slots__ = ("_numbers", "_records")

    def __init__(self) -> None:
        self._numbers, self._records = array("Q"), array("Q")

    def __len__(self) -> int:
        return len(self._numbers)

    def put(self, number: int, record: int) -> int:
        """Note the record of `number`; return the one before, 0 if there is none."""
        numbers, records = self._numbers, self._records
        at = len(numbers) if not numbers or number > numbers[-1] else bisect_left(numbers, number)
        if at < len(numbers) and numbers[at] == number:
            before, records[at] = records[at], record
            return before
        numbers.insert(at, number)
        records.insert(at, record)
        return 0

    def pop(self, number: int) -> int:
        """Forget the record of `number` and return it; 0: there is none."""
        at = bisect_left(self._numbers, number)
        if at == len(self._numbers) or self._numbers[at] != number:
            return 0
        del self._numbers[at]
        return self._records.pop(at)

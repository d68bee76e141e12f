"""Messages or filters in one piece of memory, for one call of C.

data     |message 0|message 1|...|
offsets   0         a         b   len(data)        one more than the number of items
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate, pairwise


@dataclass(frozen=True, slots=True)
class Batch:
    """Items in one piece of memory: item i is data[offsets[i] : offsets[i + 1]]."""

    data: bytes | bytearray
    offsets: array[int]

    def __post_init__(self) -> None:
        ordered = all(low <= high for low, high in pairwise(self.offsets))
        if self.offsets.typecode != "Q" or not self.offsets or not ordered or self.offsets[-1] > len(self.data):
            raise ValueError("offsets of a batch must be an ascending array of type Q")

    @staticmethod
    def of(items: Iterable[bytes]) -> Batch:
        kept = list(items)
        return Batch(b"".join(kept), array("Q", accumulate(map(len, kept), initial=0)))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> bytes:
        if not 0 <= index < len(self):
            raise IndexError(f"item {index} of a batch of {len(self)}")
        return bytes(self.data[self.offsets[index] : self.offsets[index + 1]])

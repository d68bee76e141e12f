"""A dictionary of filters in parts, each of which grows separately.

Law: when a plain dictionary of a million keys grows, all of it is moved at once, which takes a tenth of a second;
moving one part of this one takes a millisecond or two.
"""

from __future__ import annotations

from typing import Final, Generic, TypeVar

Value = TypeVar("Value")
PARTS: Final = 64


class Shards(Generic[Value]):
    """A dictionary whose keys are packed filters."""

    def __init__(self) -> None:
        self._parts: tuple[dict[bytes, Value], ...] = tuple({} for _ in range(PARTS))

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __contains__(self, key: bytes) -> bool:
        return key in self._parts[hash(key) % PARTS]

    def __getitem__(self, key: bytes) -> Value:
        return self._parts[hash(key) % PARTS][key]

    def __setitem__(self, key: bytes, value: Value) -> None:
        self._parts[hash(key) % PARTS][key] = value

    def __delitem__(self, key: bytes) -> None:
        del self._parts[hash(key) % PARTS][key]

    def get(self, key: bytes, default: Value) -> Value:
        return self._parts[hash(key) % PARTS].get(key, default)

    def pop(self, key: bytes) -> Value:
        return self._parts[hash(key) % PARTS].pop(key)

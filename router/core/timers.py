"""What is due when, by name.

Law: a name is due once; setting it again moves it. What is due together comes in the order of time, then of setting.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from heapq import heappop, heappush
from typing import Generic, TypeVar

Name = TypeVar("Name", bound=Hashable)


class Timers(Generic[Name]):
    def __init__(self) -> None:
        self._due: dict[Name, tuple[int, int]] = {}
        self._heap: list[tuple[int, int, Name]] = []
        self._serial = 0

    def __len__(self) -> int:
        return len(self._due)

    def __contains__(self, name: Name) -> bool:
        return name in self._due

    def set(self, name: Name, at_us: int) -> None:
        self._serial += 1
        self._due[name] = (at_us, self._serial)
        heappush(self._heap, (at_us, self._serial, name))
        self._drop_stale()

    def set_earlier(self, name: Name, at_us: int) -> None:
        """As `set`, unless it is due by then anyway."""
        held = self._due.get(name)
        if held is None or at_us < held[0]:
            self.set(name, at_us)

    def cancel(self, name: Name) -> None:
        self._due.pop(name, None)
        self._drop_stale()

    @property
    def due_us(self) -> int | None:
        return self._heap[0][0] if self._heap else None

    def pop_due(self, now_us: int) -> Iterator[Name]:
        """Those that are due, each forgotten as it comes; setting some meanwhile is allowed."""
        while self._heap and self._heap[0][0] <= now_us:
            name = heappop(self._heap)[2]
            del self._due[name]
            self._drop_stale()
            yield name

    def _drop_stale(self) -> None:
        """The first of the heap is always in force, and the heap is at most three times as long as it need be."""
        heap, due = self._heap, self._due
        while heap and due.get(heap[0][2]) != heap[0][:2]:
            heappop(heap)
        if len(heap) > 3 * len(due) + 8:
            self._heap = sorted((at_us, serial, name) for name, (at_us, serial) in due.items())

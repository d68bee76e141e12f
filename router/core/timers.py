"""What is due when, by name.

Law: a name is due once; setting it again moves it. What is due together comes in the order of time, then of setting.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable, Iterator
from heapq import heappop, heappush
from typing import Generic, TypeVar

Name = TypeVar("Name", bound=Hashable)


class Due(enum.IntEnum):
    """What a core has timers for; `core.py` has the table of what is then done."""

    ISSUE = enum.auto()  # a change of what this router asks for is said
    MORE = enum.auto()  # a change that is too much for one body goes on
    NARROW = enum.auto()  # what nobody wants any more is taken back
    CONFIRM = enum.auto()  # those that have not confirmed are asked again
    LINKS = enum.auto()  # new links are told
    REROUTE = enum.auto()  # trees follow the graph
    WAYS = enum.auto()  # ways that broke are told to clients
    AGE = enum.auto()  # a router out of reach is forgotten
    REQUEST = enum.auto()  # a neighbour is compared with
    ASK = enum.auto()  # a neighbour is asked again
    ANSWER = enum.auto()  # a neighbour is told more of an answer
    GAP = enum.auto()  # what is missing of an issuer is asked for
    PENDING = enum.auto()  # changes of an issuer that wait are applied
    COLLECT = enum.auto()  # a large predicate is put together; mode paper: the whole tree is asked
    TIDY = enum.auto()  # what is no longer held and large is emptied
    DIGESTS = enum.auto()  # neighbours are told what is held
    HELD = enum.auto()  # issuers are told who holds their advertisement
    AUDIT = enum.auto()  # a request to the whole tree is over
    JUMP = enum.auto()  # an epoch is raised
    LOWER = enum.auto()  # an epoch that others refuse is given up
    ADVERTISE = enum.auto()  # mode paper: what is wanted is said again
    COLLECTED = enum.auto()  # mode paper: answers to a request that have come are passed on


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

"""R11: what came before: of each source router and of each publisher, the counters seen last.

Law: of whoever is remembered, the last `size` counters up to the highest are known one by one: such a counter is
fresh once. What is older counts as seen. A higher counter moves the window up to it, however far, and what falls out
below is forgotten. The first counter heard sets the window: those below it are fresh until they are older than its
size. At the bound, whoever was asked about least recently is forgotten, whatever the answer was; heard again, he is
new, and a double of his would pass.

    bit 0 of `seen` is the highest counter, bit k the one k below; up to twice `size` bits are kept
"""

from __future__ import annotations

import enum
from collections import OrderedDict
from typing import Final

TRANSIT_WINDOW: Final = 65_536  # messages of one source on the way at once, along old and new trees
SOURCES_MAX: Final = 4_096  # routers whose messages come by within the hold; 8 to 16 KiB each at most
PUBLISHER_WINDOW: Final = 4_096  # what one publisher may try again elsewhere
PUBLISHERS_MAX: Final = 10_000  # 512 bytes to 1 KiB each at most


class Window:
    """Which counters of one sender were seen."""

    __slots__ = ("_highest", "_seen", "_size")

    def __init__(self, size: int, first: int) -> None:
        """`first` is seen."""
        self._size = size
        self._highest = first
        self._seen = 1

    def behind(self, counter: int) -> int:
        """How far below the highest."""
        return self._highest - counter

    def fresh(self, counter: int) -> bool:
        """It was not seen before, and is now."""
        behind = self._highest - counter
        if behind < 0:
            self._move_up(-behind)
            return True
        if behind >= self._size or self._seen >> behind & 1:
            return False
        self._seen |= 1 << behind
        return True

    def _move_up(self, by: int) -> None:
        self._highest += by
        self._seen = self._seen << by | 1 if by < self._size else 1
        if self._seen.bit_length() > 2 * self._size:  # seldom: bits past the window are never looked at
            self._seen &= (1 << self._size) - 1


class Place(enum.Enum):
    """Where a message lies from the window of its source."""

    AHEAD = "far ahead, or the first"
    NEAR = "near"
    BEHIND = "far behind"


class TransitWindows:
    """(source router, its epoch, its counter) of messages on their way. A newer epoch of a source begins with an empty
    window; an older one than the newest heard is refused."""

    def __init__(self, sources_max: int = SOURCES_MAX, size: int = TRANSIT_WINDOW) -> None:
        self._sources_max = sources_max
        self._size = size
        self._sources: OrderedDict[int, tuple[int, Window]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sources)

    def place(self, source: int, epoch: int, counter: int) -> Place:
        known = self._sources.get(source)
        if known is None or epoch > known[0]:
            return Place.AHEAD
        if epoch < known[0]:
            return Place.BEHIND
        behind = known[1].behind(counter)
        if abs(behind) < self._size:
            return Place.NEAR
        return Place.BEHIND if behind > 0 else Place.AHEAD

    def forget(self, source: int) -> None:
        """Whatever it sends next is fresh."""
        self._sources.pop(source, None)

    def fresh(self, source: int, epoch: int, counter: int) -> bool:
        known = self._sources.get(source)
        if known is not None:
            self._sources.move_to_end(source)
            newest, window = known
            if epoch <= newest:
                return epoch == newest and window.fresh(counter)
        self._sources[source] = epoch, Window(self._size, counter)
        if len(self._sources) > self._sources_max:
            self._sources.popitem(last=False)
        return True


class PublisherWindows:
    """(publisher, its counter) of messages where they enter the network, and where they are delivered."""

    def __init__(self, publishers_max: int = PUBLISHERS_MAX, size: int = PUBLISHER_WINDOW) -> None:
        self._publishers_max = publishers_max
        self._size = size
        self._publishers: OrderedDict[int, Window] = OrderedDict()

    def __len__(self) -> int:
        return len(self._publishers)

    def fresh(self, publisher: int, counter: int) -> bool:
        window = self._publishers.get(publisher)
        if window is not None:
            self._publishers.move_to_end(publisher)
            return window.fresh(counter)
        self._publishers[publisher] = Window(self._size, counter)
        if len(self._publishers) > self._publishers_max:
            self._publishers.popitem(last=False)
        return True

"""R11: detection of duplicates: the last counters seen of each source router, and the runs of counters of each
publisher.

Law of a source's window: the last `size` counters up to the highest are recorded one by one, and each of them is fresh
once. An older counter counts as seen. A higher counter moves the window up to it, however far; counters that fall out
below are forgotten. The first counter received sets the window: counters below it are fresh until they are older than
its size.

Law of a publisher's runs: a publisher increments its counter by one while it runs, and begins with any counter when it
starts, so its counters form *runs*. A counter within RUN_REACH above a run belongs to that run. The last `size`
counters of each run are recorded one by one, and an older counter within the run counts as seen. A counter outside
every run was never seen, however old it is. Where a message enters, the counter of its publisher must be less than
`size` below the newest known one.

At a limit, the publisher of the least recent query is forgotten, whatever the result of the query was. When it
publishes again it counts as new, and duplicates of its earlier messages would pass. The least recent run of a publisher
is forgotten likewise.

Bit 0 of `seen` is the highest counter, bit k the one k below; up to twice `size` bits are stored.
"""

from __future__ import annotations

import enum
from collections import OrderedDict
from typing import Final

TRANSIT_WINDOW: Final = 65_536  # messages of one source in transit at once, along old and new trees
SOURCES_MAX: Final = 4_096  # routers whose messages arrive within the hold; 8 to 16 KiB each at most
REACHED_MAX: Final = 16_384  # pairs of a source and a tree of its messages, while some wait for older paths
PUBLISHER_WINDOW: Final = 4_096  # counters below its newest that a publisher may send again, at another router
PUBLISHERS_MAX: Final = 10_000  # RUNS_MAX runs each at most, of 1 to 2 KiB
RUNS_MAX: Final = 4  # of one publisher: starts with other clocks, and gaps between messages that are received here
RUN_REACH: Final = 1 << 20  # counters: a millisecond, if they begin at the clock; no restart takes less


class Window:
    """The record of counters of one sender that were seen."""

    __slots__ = ("_highest", "_seen", "_size")

    def __init__(self, size: int, first: int) -> None:
        """Begin a window in which the counter `first` is seen."""
        self._size = size
        self._highest = first
        self._seen = 1

    def has(self, counter: int) -> bool:
        """Return whether `counter` was seen, or counts as seen."""
        behind = self._highest - counter
        return behind >= self._size or (behind >= 0 and bool(self._seen >> behind & 1))

    def behind(self, counter: int) -> int:
        """Return how far `counter` lies below the highest one seen; negative if it lies above."""
        return self._highest - counter

    def fresh(self, counter: int) -> bool:
        """Return whether `counter` was not seen before, and mark it as seen."""
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
        if self._seen.bit_length() > 2 * self._size:  # rarely: bits past the window are never read
            self._seen &= (1 << self._size) - 1


class WindowPlace(enum.Enum):
    """The position of a message relative to the window of its source."""

    AHEAD = "far ahead, or the first"
    NEAR = "near"
    BEHIND = "far behind"


class TransitWindows:
    """The record of messages in transit that were seen, by (source router, its epoch, its counter). A newer epoch of a
    source begins with an empty window; an epoch older than the newest received is refused."""

    def __init__(self, sources_max: int = SOURCES_MAX, size: int = TRANSIT_WINDOW) -> None:
        self._sources_max = sources_max
        self._size = size
        self._sources: OrderedDict[int, tuple[int, Window]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sources)

    def place(self, source: int, epoch: int, counter: int) -> WindowPlace:
        known = self._sources.get(source)
        if known is None or epoch > known[0]:
            return WindowPlace.AHEAD
        if epoch < known[0]:
            return WindowPlace.BEHIND
        behind = known[1].behind(counter)
        if abs(behind) < self._size:
            return WindowPlace.NEAR
        return WindowPlace.BEHIND if behind > 0 else WindowPlace.AHEAD

    def has_seen(self, source: int, epoch: int, counter: int) -> bool:
        """Return whether the message with this stamp has arrived, or counts as seen."""
        known = self._sources.get(source)
        return known is not None and (epoch < known[0] or (epoch == known[0] and known[1].has(counter)))

    def forget(self, source: int) -> None:
        """Forget `source`: its next message is fresh, with any stamp."""
        self._sources.pop(source, None)

    def forget_above(self, source: int, epoch: int) -> None:
        """Forget `source` if its window is of a later epoch than `epoch`."""
        if source in self._sources and self._sources[source][0] > epoch:
            del self._sources[source]

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


class ReachedStamps:
    """The last message that arrived of each source, by tree: that of a root, or (None) that of the source."""

    def __init__(self, pairs_max: int = REACHED_MAX) -> None:
        self._pairs_max = pairs_max
        self._stamps: dict[tuple[int, int | None], tuple[int, int]] = {}

    def note(self, source: int, epoch: int, counter: int, root: int | None) -> None:
        """Record that a message has arrived. A pair of source and tree beyond the limit is not recorded: none of its
        messages counts as arrived."""
        known = self._stamps.get((source, root))
        if known is not None or len(self._stamps) < self._pairs_max:
            self._stamps[source, root] = max(known or (0, 0), (epoch, counter))

    def has(self, source: int, epoch: int, counter: int, root: int | None) -> bool:
        """Return whether the message with this stamp, or a later one of its source by its tree, has arrived."""
        known = self._stamps.get((source, root))
        return known is not None and (epoch, counter) <= known

    def clear(self) -> None:
        self._stamps.clear()


class EntryVerdict(enum.Enum):
    """The verdict on a message that a publisher sends to this router."""

    NEW = "new"
    NEW_AND_DELIVERED = "new here, and delivered here when it entered elsewhere"
    DUPLICATE = "it entered here before"
    TOO_OLD = "older than what is remembered"


ENTERED: Final = 0
DELIVERED: Final = 1


class Run:
    """Consecutive counters of one publisher, with two marks for each of the last ones: entered, and delivered."""

    __slots__ = ("_marks", "_size", "first", "highest")

    def __init__(self, size: int, counter: int) -> None:
        """Begin a run with `counter`, which has no mark yet."""
        self._size = size
        self.first = self.highest = counter
        self._marks = [0, 0]

    def has(self, mark: int, counter: int) -> bool:
        behind = self.highest - counter
        return 0 <= behind < self._size and bool(self._marks[mark] >> behind & 1)

    def fresh(self, mark: int, counter: int) -> bool:
        """Return whether `counter` did not have `mark` before, and give it that mark."""
        by = counter - self.highest
        if by > 0:
            mask = (1 << self._size) - 1
            self._marks = [seen << by & mask if by < self._size else 0 for seen in self._marks]
            self.highest = counter
        self.first = min(self.first, counter)
        if self.highest - counter >= self._size or self.has(mark, counter):
            return False
        self._marks[mark] |= 1 << self.highest - counter
        return True


class PublisherWindows:
    """The record of messages that entered the network here or were delivered here, by (publisher, its counter)."""

    def __init__(self, publishers_max: int = PUBLISHERS_MAX, size: int = PUBLISHER_WINDOW) -> None:
        self._publishers_max = publishers_max
        self._size = size
        self._publishers: OrderedDict[int, list[Run]] = OrderedDict()
        """Maps a publisher to its runs, the most recent first."""

    def __len__(self) -> int:
        return len(self._publishers)

    def newest(self, publisher: int) -> int:
        """Return the highest known counter of `publisher`; 0 if none is known."""
        return max((run.highest for run in self._publishers.get(publisher, ())), default=0)

    def enter(self, publisher: int, counter: int) -> EntryVerdict:
        """Check a message that `publisher` sent to this router. A message that is NEW is delivered here."""
        runs = self._runs(publisher)
        run = self._run_of(runs, counter)
        if counter + self._size <= self.newest(publisher):
            is_known = run is not None and run.has(ENTERED, counter)
            return EntryVerdict.DUPLICATE if is_known else EntryVerdict.TOO_OLD
        run = self._use(runs, run, counter)
        if not run.fresh(ENTERED, counter):
            return EntryVerdict.DUPLICATE
        return EntryVerdict.NEW if run.fresh(DELIVERED, counter) else EntryVerdict.NEW_AND_DELIVERED

    def fresh(self, publisher: int, counter: int) -> bool:
        """Return whether a message from another router was not delivered here before, and record it as delivered."""
        runs = self._runs(publisher)
        return self._use(runs, self._run_of(runs, counter), counter).fresh(DELIVERED, counter)

    def _runs(self, publisher: int) -> list[Run]:
        runs = self._publishers.setdefault(publisher, [])
        self._publishers.move_to_end(publisher)
        if len(self._publishers) > self._publishers_max:
            self._publishers.popitem(last=False)
        return runs

    def _run_of(self, runs: list[Run], counter: int) -> Run | None:
        """Return the run that contains `counter`, or that it follows, or that begins shortly above it, in this order;
        None: it begins a new run."""
        for run in runs:
            if run.first <= counter <= run.highest:
                return run
        below = max((run for run in runs if run.highest < counter), key=lambda run: run.highest, default=None)
        if below is not None and counter - below.highest <= RUN_REACH:
            return below
        above = min((run for run in runs if run.first > counter), key=lambda run: run.first, default=None)
        return above if above is not None and above.highest - counter < self._size else None

    def _use(self, runs: list[Run], run: Run | None, counter: int) -> Run:
        """Return `run`, or a new one for None, and make it the most recent."""
        if run is None:
            run = Run(self._size, counter)
        else:
            runs.remove(run)
        runs.insert(0, run)
        del runs[RUNS_MAX:]
        return run

"""The interest of one client, announced to the network while the client is connected.

Law: a filter is announced to the core after its subscription is in the switch, and withdrawn after that has left the
switch, once for each subscription with this filter. Both happen in slices. Under rules of access a filter is announced
AND-ed with them: that saves traffic, and the guards of the switch decide.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Final, Protocol

FILTERS_PER_SLICE: Final = 200
BYTES_PER_SLICE: Final = 131_072
"""Bytes of filters in a slice; FILTERS_PER_SLICE and this bound it to a few milliseconds of work in the core."""
NARROWED_PER_SLICE: Final = 50
"""Filters of a slice under rules of access: to find what they leave of one may take some 100 us."""

_Slices = Generator[None, None, None]


Filters = Mapping[int, tuple[bytes, ...]]
"""The packed filters of subscriptions, by the id of the subscription."""
Narrow = Callable[[int, tuple[bytes, ...]], tuple[bytes, ...]]
"""Returns the filters to announce for a subscription with these filters."""


class NetworkOfClients(Protocol):
    """The part of the network that LocalInterest uses."""

    def wanted(self, filters: Iterable[bytes], known: Callable[[], None] | None = None) -> None:
        """Add these packed filters to the interest of this router; each occurrence counts. `known` is called once every
        reachable router has the present interest."""

    def unwanted(self, filters: Iterable[bytes]) -> None:
        """Remove one occurrence of each of these filters from the interest of this router."""


class LocalInterest:
    """`narrow`: what rules of access leave of each subscription; None where there are none."""

    __slots__ = ("_asked", "_held", "_narrow", "_network")

    def __init__(self, network: NetworkOfClients, narrow: Narrow | None = None) -> None:
        self._network, self._narrow = network, narrow
        self._held: dict[int, tuple[bytes, ...]] = {}  # as announced
        self._asked: dict[int, tuple[bytes, ...]] = {}  # before `narrow`; empty without it

    def add(
        self,
        added: Callable[[], Filters],
        is_there: Callable[[], bool],
        known: Callable[[], None] | None = None,
    ) -> _Slices:
        """Announce filters to the network. `added`: returns them, called when the task runs; `is_there`: returns
        whether the client is still connected; `known` is called when every reachable router has them. Those of
        subscriptions that are announced already are left out."""
        subscriptions = added()
        left = len(subscriptions)
        for asked in self._announced(subscriptions.items()):
            if not is_there():
                return
            left -= len(asked)
            some = [each for each in asked if each[0] not in self._held]
            self._held.update(some)
            if self._narrow is not None:
                self._asked.update((id_, subscriptions[id_]) for id_, _ in some)
            self._network.wanted((filter_ for _, filters in some for filter_ in filters), None if left else known)
            yield

    def remove(self, ids: Iterable[int]) -> _Slices:
        for some in _sliced((id_, self._held.pop(id_, ())) for id_ in ids):
            self._network.unwanted(filter_ for _, filters in some for filter_ in filters)
            for id_, _ in some:
                self._asked.pop(id_, None)
            yield

    def restate(self) -> _Slices:
        """Announce what the rules of now leave of each subscription, in place of what those of before left."""
        asked = ((id_, self._asked[id_]) for id_ in list(self._asked) if id_ in self._asked)
        for some in self._announced(asked):
            changed = {id_: now for id_, now in some if now != self._held[id_]}
            before = [self._held[id_] for id_ in changed]
            self._held.update(changed)
            self._network.wanted(filter_ for now in changed.values() for filter_ in now)
            self._network.unwanted(filter_ for filters in before for filter_ in filters)
            yield

    def _announced(
        self, asked: Iterable[tuple[int, tuple[bytes, ...]]]
    ) -> Iterable[list[tuple[int, tuple[bytes, ...]]]]:
        """Return slices of what is announced for these subscriptions."""
        narrow = self._narrow
        if narrow is None:
            return _sliced(asked)
        return _sliced(((id_, narrow(id_, filters)) for id_, filters in asked), NARROWED_PER_SLICE)

    def clear(self) -> _Slices:
        """Withdraw all interest of the client."""
        yield from self.remove(list(self._held))


class _NoInterest(LocalInterest):
    """The interest of clients of a router without links: nothing is announced or stored."""

    __slots__ = ()

    def __init__(self) -> None: ...

    def add(
        self,
        added: Callable[[], Filters],  # noqa: ARG002
        is_there: Callable[[], bool],  # noqa: ARG002
        known: Callable[[], None] | None = None,
    ) -> _Slices:
        if known is not None:
            known()
        yield from ()

    def remove(self, ids: Iterable[int]) -> _Slices:  # noqa: ARG002
        yield from ()

    def restate(self) -> _Slices:
        yield from ()

    def clear(self) -> _Slices:
        yield from ()


NO_INTEREST: Final = _NoInterest()


def _sliced(
    pairs: Iterable[tuple[int, tuple[bytes, ...]]], most: int = FILTERS_PER_SLICE
) -> Generator[list[tuple[int, tuple[bytes, ...]]], None, None]:
    """Yield the pairs in lists of about `most` filters or BYTES_PER_SLICE bytes each."""
    some, count, size = [], 0, 0
    for pair in pairs:
        some.append(pair)
        count += len(pair[1]) or 1
        size += sum(map(len, pair[1]))
        if count >= most or size >= BYTES_PER_SLICE:
            yield some
            some, count, size = [], 0, 0
    if some:
        yield some

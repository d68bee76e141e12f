"""The interest of one client, announced to the network while the client is connected.

Law: a filter is announced to the core after its subscription is in the switch, and withdrawn after that has left the
switch, once for each subscription with this filter. Both happen in slices.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Final, Protocol

FILTERS_PER_SLICE: Final = 200
BYTES_PER_SLICE: Final = 131_072
"""Bytes of filters in a slice; FILTERS_PER_SLICE and this bound it to a few milliseconds of work in the core."""

_Slices = Generator[None, None, None]


Filters = Mapping[int, tuple[bytes, ...]]
"""The packed filters of subscriptions, by the id of the subscription."""


class NetworkOfClients(Protocol):
    """The part of the network that LocalInterest uses."""

    def wanted(self, filters: Iterable[bytes], known: Callable[[], None] | None = None) -> None:
        """Add these packed filters to the interest of this router; each occurrence counts. `known` is called once every
        reachable router has the present interest."""

    def unwanted(self, filters: Iterable[bytes]) -> None:
        """Remove one occurrence of each of these filters from the interest of this router."""


class LocalInterest:
    __slots__ = ("_held", "_network")

    def __init__(self, network: NetworkOfClients) -> None:
        self._network = network
        self._held: dict[int, tuple[bytes, ...]] = {}

    def add(
        self,
        added: Callable[[], Filters],
        is_there: Callable[[], bool],
        known: Callable[[], None] | None = None,
    ) -> _Slices:
        """Announce filters to the network. `added`: returns them, called when the task runs; `is_there`: returns
        whether the client is still connected; `known` is called when every reachable router has them."""
        subscriptions = added()
        left = len(subscriptions)
        for some in _sliced(subscriptions.items()):
            if not is_there():
                return
            left -= len(some)
            self._held.update(some)
            self._network.wanted((filter_ for _, filters in some for filter_ in filters), None if left else known)
            yield

    def remove(self, ids: Iterable[int]) -> _Slices:
        for some in _sliced((id_, self._held.pop(id_, ())) for id_ in ids):
            self._network.unwanted(filter_ for _, filters in some for filter_ in filters)
            yield

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

    def clear(self) -> _Slices:
        yield from ()


NO_INTEREST: Final = _NoInterest()


def _sliced(
    pairs: Iterable[tuple[int, tuple[bytes, ...]]],
) -> Generator[list[tuple[int, tuple[bytes, ...]]], None, None]:
    """Yield the pairs in lists of about FILTERS_PER_SLICE filters or BYTES_PER_SLICE bytes each."""
    some, count, size = [], 0, 0
    for pair in pairs:
        some.append(pair)
        count += len(pair[1])
        size += sum(map(len, pair[1]))
        if count >= FILTERS_PER_SLICE or size >= BYTES_PER_SLICE:
            yield some
            some, count, size = [], 0, 0
    if some:
        yield some

"""What one client asks of the network, for as long as it is connected.

Law: the core is told of a filter when its subscription is in the switch, and of its end when that is out of it, each as
often as there are subscriptions with it. Both are told in slices.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Final, Protocol

FILTERS_PER_SLICE: Final = 200
BYTES_PER_SLICE: Final = 131_072
"""Bytes of filters in a slice; either limit is a few milliseconds of the core's work."""

_Slices = Generator[None, None, None]


Filters = Mapping[int, tuple[bytes, ...]]
"""The packed filters of subscriptions, by the id of the subscription."""


class NetworkOfClients(Protocol):
    """What the interest of clients need of the network."""

    def wanted(self, filters: Iterable[bytes], known: Callable[[], None] | None = None) -> None:
        """Take in that clients want these packed filters; each counts as often as it is named. `known` is called once
        every router that can be reached knows all that is wanted now."""

    def unwanted(self, filters: Iterable[bytes]) -> None:
        """Take in that clients want these filters no more."""


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
        """Tell the network of filters. `added` returns them, and is called when they are needed; `is_there` says
        whether the client is still connected; `known` is called when every router knows of them."""
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
        """Take back all interest, as the client has gone."""
        yield from self.remove(list(self._held))


class _NoInterest(LocalInterest):
    """The interest of the clients of a router that stands alone: no other router has to know, and nothing is kept."""

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
    """Give the pairs in lists of about FILTERS_PER_SLICE filters each, or of BYTES_PER_SLICE bytes."""
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

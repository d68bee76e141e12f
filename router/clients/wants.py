"""What one client asks of the network, for as long as it is there.

Law: the core is told of a filter when its subscription is in the switch, and of its end when that is out of it, as
often as it came. Both in slices.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tamis.router.links.network import Network

FILTERS_PER_SLICE: Final = 500

_Slices = Generator[None, None, None]


class Wants:
    __slots__ = ("_held", "_network")

    def __init__(self, network: Network) -> None:
        self._network = network
        self._held: dict[int, tuple[bytes, ...]] = {}

    def add(
        self,
        subscriptions: Mapping[int, tuple[bytes, ...]],
        is_there: Callable[[], bool],
        known: Callable[[], None] | None = None,
    ) -> _Slices:
        """By id; `is_there` says whether the client still is, `known` is called when every router knows of them."""
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
        """The client has gone."""
        yield from self.remove(list(self._held))


def _sliced(
    pairs: Iterable[tuple[int, tuple[bytes, ...]]],
) -> Generator[list[tuple[int, tuple[bytes, ...]]], None, None]:
    """Of about FILTERS_PER_SLICE filters each."""
    some, count = [], 0
    for pair in pairs:
        some.append(pair)
        count += len(pair[1])
        if count >= FILTERS_PER_SLICE:
            yield some
            some, count = [], 0
    if some:
        yield some

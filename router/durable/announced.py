"""The filters of this router's durable subscriptions as part of its predicate, as those of a live subscriber (R18).

Law: they are announced from `begin` on, for messages that enter at routers which store nothing, and for dry runs, which
go by the trees. Those that are made later are announced one by one, in the order in which they were made.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping

from tamis.router.clients.interest import LocalInterest
from tamis.router.connections.work import SlicedWork
from tamis.router.durable.hosted import HostedDurable

_Slices = Generator[None, None, None]


class AnnouncedFilters:
    """`interest` is that of all subscriptions of `by_number`."""

    def __init__(self, interest: LocalInterest, by_number: Mapping[int, HostedDurable], work: SlicedWork) -> None:
        self._interest, self._by_number, self._work = interest, by_number, work
        self._made: deque[HostedDurable] = deque()
        self._is_on = False

    def begin(self, known: Callable[[], None]) -> None:
        """Announce the filters of all subscriptions that there are. `known` is called once all reachable routers have
        them."""
        self._is_on = True
        filters = {number: held.filters for number, held in self._by_number.items()}
        if filters:
            self._work.add(self._interest.add(lambda: filters, lambda: True, known))

    def made(self, held: HostedDurable) -> None:
        self._made.append(held)
        if len(self._made) == 1:
            self._go_on()

    def _go_on(self) -> None:
        self._work.add(self._add_made(), self._go_on)

    def _add_made(self) -> _Slices:
        """Announce the filters of new subscriptions, also of those made while this runs."""
        while self._made:
            yield from self._add(self._made.popleft())

    def _add(self, held: HostedDurable) -> _Slices:
        filters = {held.number: held.filters}
        return self._interest.add(lambda: filters, lambda: self._is_on and self._by_number.get(held.number) is held)

    def removed(self, held: HostedDurable) -> None:
        self._work.add(self._interest.remove([held.number]))

    def restate(self) -> None:
        """Announce what the rules of access leave of the filters now."""
        self._work.add(self._interest.restate())

"""The filters of this router's durable subscriptions as part of its predicate, as those of a live subscriber (R18).

Law: they are announced while some router stores nothing for them; what all others store comes apart from the predicate,
and would otherwise come twice. Subscriptions that are made meanwhile are announced one by one, in the order in which
they were made.
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
        self.is_on = False

    def turn(self, *, is_on: bool, known: Callable[[], None]) -> None:
        """Announce all filters, or withdraw them. `known` is called once all reachable routers have them."""
        if is_on is not self.is_on:
            self.is_on = is_on
            self._work.add(self._add_all(known) if is_on else self._withdraw())

    def _add_all(self, known: Callable[[], None]) -> _Slices:
        filters = {number: held.filters for number, held in self._by_number.items()}
        if not filters:
            known()
        return self._interest.add(lambda: filters, lambda: self.is_on, known)

    def _withdraw(self) -> _Slices:
        for number in list(self._by_number):
            if self.is_on:
                return
            yield from self._interest.remove([number])

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
        return self._interest.add(lambda: filters, lambda: self.is_on and self._by_number.get(held.number) is held)

    def removed(self, held: HostedDurable) -> None:
        self._work.add(self._interest.remove([held.number]))

    def restate(self) -> None:
        """Announce what the rules of access leave of the filters now."""
        self._work.add(self._interest.restate())

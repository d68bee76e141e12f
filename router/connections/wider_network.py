"""Interface to the other routers, and its implementation for a router without links.

Law: a router without links has a network without links that is always in step, so that no caller distinguishes the
cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from tamis.native.switch_figures import RemoteFigures
from tamis.native.switch_values import SwitchEvent
from tamis.protocol.wire.custody_bodies import CustodyBody, LogLife
from tamis.protocol.wire.home_bodies import DurablesStatement, StatedDurable


class LinkSession(Protocol):
    """A link that is up."""

    name: str
    """The id of the neighbour."""
    session: int
    connection: int


class StatementStore(Protocol):
    """Writes what another router states about its durable subscriptions."""

    def __call__(
        self,
        name: str,
        log: int,
        epoch: int,
        seq: int,
        added: Mapping[int, bytes],
        removed: tuple[int, ...],
        on_disk: Callable[[LogLife], None],
    ) -> None:
        """Store that router `name` has `added`, packed, by number, and no longer `removed`; call `on_disk` with this
        router's log when that is done."""


class OtherHomes(Protocol):
    """The durable subscriptions of other routers (R19)."""

    def at(self, name: str) -> list[tuple[str, StatedDurable]]:
        """Return those of this name with their routers, in the order of the routers' names."""

    def everywhere(self, name: str) -> list[tuple[str, StatedDurable]]:
        """Return what `at` does, and what this router states."""

    def behind(self, name: str, most: int) -> list[str]:
        """Return the first names behind `name`, at most `most`; some may be this router's alone."""

    def listed(self, first: int) -> Iterator[tuple[int, str, StatedDurable]]:
        """Yield them in the order of their names, from name number `first` on: the number, the router, and what it has
        stated."""

    def store_in(self, store: StatementStore) -> None:
        """Use `store` from now on; what is known already is written to it first."""

    def recall(self, written: LogLife, statements: tuple[DurablesStatement, ...]) -> None:
        """Know what this router's log had of others at the start."""

    def state(self, log: int, added: Mapping[int, bytes], removed: tuple[int, ...] = ()) -> None:
        """State durable subscriptions of this router, packed, by number, and numbers that it has no longer."""

    def when_known(self, wait_s: float, answer: Callable[[list[str], list[str]], None]) -> None:
        """Call `answer` once all routers in reach have stored what this router states, or after `wait_s`: with the
        routers that have, and those that have not."""

    def log_of(self, router: int) -> int:
        """Return the id of the log that a router, by its number, states; 0: it states none."""

    def has_no_log(self, router: int) -> bool:
        """Return whether a router states that it has no log; one that has stated nothing may have one."""

    def when_stored(self, tell: Callable[[int, LogLife], None]) -> None:
        """Call `tell` with the number of each router that has stored what this router states, and the life of its log
        (C10, C12): at once with those that are known, and each time that one says another log or life."""

    def when_asked(self, ask: Callable[[bool], bool]) -> None:
        """Call `ask` when another router states durable subscriptions and there is no store for them, with whether it
        states more than before; it returns whether there will be one."""

    def send(self, body: CustodyBody) -> None:
        """Send a frame of custody towards its receiver; it may be lost."""

    def take_frames(self, take: Callable[[CustodyBody], None]) -> None:
        """Call `take` with each frame of custody that comes for this router."""


class ChainWork(Protocol):
    """What moves chains of messages between routers."""

    def reported(self, reports: bytes) -> None:
        """Take an event CHAINS."""

    def answered(self) -> float:
        """Take what the log has answered; called after each poll of the switch. Return after how many seconds to call
        it again in any case; 0: never."""

    def tick(self) -> None:
        """Do the periodic work; called ten times a second."""


class RemoteWork(Protocol):
    """What serves remote sessions."""

    def happened(self, event: SwitchEvent) -> None:
        """Handle an event REMOTE_BEGINS, REMOTE_SAID or REMOTE_ENDED."""

    def figures(self) -> RemoteFigures:
        """Return the counters of remote sessions in the switch."""


class WiderNetwork(Protocol):
    @property
    def homes(self) -> OtherHomes:
        """The durable subscriptions of other routers."""

    @property
    def links(self) -> Sequence[LinkSession]:
        """The links that are up."""

    @property
    def is_in_step(self) -> bool:
        """Whether each linked neighbour has the state that this router had when their link came up."""

    @property
    def was_in_step(self) -> bool:
        """Whether `is_in_step` has been true at least once."""

    @property
    def queued_bytes(self) -> int:
        """Number of bytes that wait to be sent over links."""

    def start(self) -> None:
        """Start to dial the neighbours that this router connects to, and redial them when necessary."""

    def tick(self) -> None:
        """Do the periodic work; called ten times a second."""

    def unlinked(self) -> Mapping[str, int]:
        """Return the number of messages by neighbour that found no link, a part in each call, and reset them. An empty
        result means that all are reported."""

    def reaches(self, router_id: str) -> bool:
        """Return whether there is a route to another router."""

    def leave(self) -> None:
        """Announce that this router leaves, so that others route around it; it still forwards what arrives."""

    def is_left(self) -> bool:
        """Return whether the others route around this router and no message passed since the last call."""


class NoHomes:
    """The durable subscriptions of others, where there are no others."""

    def at(self, name: str) -> list[tuple[str, StatedDurable]]:  # noqa: ARG002
        return []

    def everywhere(self, name: str) -> list[tuple[str, StatedDurable]]:  # noqa: ARG002
        return []

    def behind(self, name: str, most: int) -> list[str]:  # noqa: ARG002
        return []

    def listed(self, first: int) -> Iterator[tuple[int, str, StatedDurable]]:  # noqa: ARG002
        return iter(())

    def store_in(self, store: StatementStore) -> None:
        """Do nothing: nothing is ever stated."""

    def recall(self, written: LogLife, statements: tuple[DurablesStatement, ...]) -> None:
        """Do nothing: a router that has no links any more asks no other."""

    def state(self, log: int, added: Mapping[int, bytes], removed: tuple[int, ...] = ()) -> None:
        """Do nothing: there is no router to tell."""

    def when_known(self, wait_s: float, answer: Callable[[list[str], list[str]], None]) -> None:  # noqa: ARG002
        answer([], [])

    def log_of(self, router: int) -> int:  # noqa: ARG002
        return 0

    def has_no_log(self, router: int) -> bool:  # noqa: ARG002
        return False

    def when_stored(self, tell: Callable[[int, LogLife], None]) -> None:
        """Do nothing: there is no router that stores something."""

    def when_asked(self, ask: Callable[[bool], bool]) -> None:
        """Do nothing: nothing is ever stated."""

    def send(self, body: CustodyBody) -> None:
        """Do nothing: there is no router to send to."""

    def take_frames(self, take: Callable[[CustodyBody], None]) -> None:
        """Do nothing: no frame comes."""


class NoNetwork:
    """The network of a router without links."""

    homes: OtherHomes = NoHomes()

    links: Sequence[LinkSession] = ()
    is_in_step = was_in_step = True
    queued_bytes = 0

    def start(self) -> None:
        """Do nothing: there is no neighbour to dial."""

    def tick(self) -> None:
        """Do nothing: nothing is due."""

    def unlinked(self) -> Mapping[str, int]:
        return {}

    def reaches(self, router_id: str) -> bool:  # noqa: ARG002
        return False

    def leave(self) -> None:
        """Do nothing: no message goes through this router."""

    def is_left(self) -> bool:
        return True

"""One core whose neighbours are played by the test, by hand."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.routing_bodies import Body, SenderRequest, UpdateReply
from tamis.router.core.commands import Command, Send
from tamis.router.core.core import Core, CoreSettings
from tamis.router.core.events import Event, Heard, LinkDown, LinkUp, Tick
from tamis.router.core.timers import Due
from tamis.router.core.times import S
from tests.router.core.bodies import digest_of, state
from tests.router.core.world import USUAL

Of = TypeVar("Of")
NOW = 1_700_000_000_000
"""What the clock of a core shows, in milliseconds, unless a test moves it."""


class Single:
    """The router "me"."""

    def __init__(
        self,
        epoch: int = 1,
        core: Callable[..., Core] = USUAL,
        started_us: int = 0,
        **settings: object,
    ) -> None:
        self.core = core("me", epoch, CoreSettings(**settings))  # type: ignore[arg-type]
        self.now_us = started_us
        self.done: list[Command] = self.core.start(started_us)

    def handle(self, event: Event) -> None:
        self.done += self.core.handle(event, self.now_us)

    def up(self, neighbour: str, session: int = 1, cost: int = 1) -> None:
        self.handle(LinkUp(stable_number(neighbour), session, cost))

    def down(self, neighbour: str, session: int = 1) -> None:
        self.handle(LinkDown(stable_number(neighbour), session))

    def hears(self, neighbour: str, *bodies: Body, session: int = 1) -> None:
        for body in bodies:
            self.handle(Heard(stable_number(neighbour), session, body))

    def joins(self, *neighbours: str, session: int = 1) -> None:
        """Links with them that have caught up, and which they list too."""
        for neighbour in neighbours:
            self.up(neighbour, session)
            self.catches_up(neighbour, session)
            self.hears(neighbour, state(neighbour, session, "me"), session=session)

    def catches_up(self, neighbour: str, session: int = 1) -> None:
        """It asks the neighbour, which has nothing to tell."""
        self.hears(neighbour, digest_of(neighbour), session=session)
        self.hears(neighbour, UpdateReply(*self.took(SenderRequest, neighbour)[-1].ticket, ()), session=session)

    def waits(self, for_us: int) -> None:
        """All that is due in so long."""
        end_us = self.now_us + for_us
        while self.core.due_us is not None and self.core.due_us <= end_us:
            self.now_us = max(self.now_us, self.core.due_us)
            self.handle(Tick())
        self.now_us = end_us

    def due_in(self, kind: Due, about: int = 0) -> int | None:
        """In how many microseconds a timer is due; None: it is not set."""
        timers = self.core.core_state.timers
        return timers._due[kind, about][0] - self.now_us if (kind, about) in timers else None

    def took(self, kind: type[Of], to: str | None = None) -> list[Of]:
        """Commands or bodies of a kind since this was asked last, to one neighbour or any; all others are forgotten."""
        done, self.done = self.done, []
        number = stable_number(to) if to else None
        sends = [command for command in done if isinstance(command, Send)]
        bodies = [send.body for send in sends if number is None or number in dict(send.to)]
        return [it for it in (*done, *bodies) if isinstance(it, kind)]


def clocked(clock_ms: list[int], *neighbours: str, epoch: int = NOW) -> Single:
    """It has these neighbours and knows x, which a reaches, in the epoch NOW; `clock_ms` holds what its clock shows."""
    single = Single(epoch, partial(Core, unix_ms=lambda: clock_ms[0]))
    single.joins(*neighbours)
    single.hears("a", state("a", 5, "me", "x"), state("x", 5, "a", epoch=NOW))
    single.waits(3 * S)
    single.handle(Tick())
    single.took(object)
    return single

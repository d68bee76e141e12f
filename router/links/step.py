"""Whether this router and its neighbours are in step: each holds the state that the other held when their link came up.

Law: a message that is confirmed while in step goes to every subscriber that wants it. A link is in step when both ends
list it, which each does once it has caught up (R4). The router is in step when all links that are up are in step, the
filters received over them are in its table, and every reachable router knows that, which means that none refuses
messages on a new path. Links that are down are not waited for, except for a while after the start. Confirmed publishes
wait for at most WAIT_S and are refused from then on.

    behind --links in step--> asking --all have confirmed--> settling --SETTLE_S--> in step
       ^_______________a link comes up___|_______________________|____________________|
"""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from tamis.native.switch_values import Step

WAIT_S: Final = 5.0
"""The longest wait of a publisher for its confirmation, in seconds; a link that takes longer raises an alarm."""
START_S: Final = 2.0
"""How long links that are down are waited for after the start, in seconds: a running neighbour is linked by then, as
the end that dials makes another attempt after 1.25 s at most."""
SETTLE_S: Final = 0.05
"""Seconds from receiving a topology to being in step: a router that has received it uses it within 20 ms (R5)."""


class Phase(enum.Enum):
    BEHIND = enum.auto()
    ASKING = enum.auto()
    SETTLING = enum.auto()
    IN_STEP = enum.auto()


class StepSwitch(Protocol):
    """A switch whose treatment of confirmed publishes can be set."""

    def step(self, step: Step) -> None: ...

    def step_stored(self, step: Step) -> None: ...


class Switchboard(Protocol):
    """The hub of all connections, as `InStep` needs it."""

    @property
    def switch(self) -> StepSwitch: ...

    def later(self, delay_s: float, what: Callable[[], None]) -> asyncio.TimerHandle:
        """Call `what` after `delay_s` seconds."""

    def resume(self) -> None:
        """Continue the connections whose publishes had to wait."""


class InStep:
    """The tracking of whether this router is in step. `links` returns for each link that is up whether it is in step;
    `ask` calls back when the table has the state held now and all reachable routers have confirmed the present
    statements; `alarm` is called with a neighbour whose link is not in step after WAIT_S, `caught_up` with one whose
    link is in step, or down."""

    def __init__(
        self,
        connections: Switchboard,
        neighbours: int,
        links: Callable[[], Mapping[int, bool]],
        ask: Callable[[Callable[[], None]], None],
        alarm: Callable[[int], None],
        caught_up: Callable[[int], None],
    ) -> None:
        self._connections, self._neighbours = connections, neighbours
        self._links, self._ask, self._alarm, self._caught_up = links, ask, alarm, caught_up
        self._phase = Phase.BEHIND
        self._round = 0
        """The number of links that have come up: a reply to an earlier request than the last of them does not count."""
        self.is_starting = True
        """Whether links that are down are waited for."""
        self.was_in_step = False
        """Whether the router has been in step at least once."""
        self._timers: dict[object, asyncio.TimerHandle] = {}
        self._is_waiting = False  # publishers wait for being in step, within WAIT_S
        self._until_in_step: list[Callable[[], None]] = []

    @property
    def is_in_step(self) -> bool:
        return self._phase is Phase.IN_STEP

    def when_in_step(self, callback: Callable[[], None]) -> None:
        """Call `callback` once the router is in step, at once if it is; or when publishers no longer wait for that."""
        self._until_in_step.append(callback)
        if not self._is_waiting:
            self._tell_in_step()

    def _tell_in_step(self) -> None:
        self._is_waiting = False
        waiting, self._until_in_step = self._until_in_step, []
        for callback in waiting:
            callback()

    def start(self) -> None:
        self._behind()
        self._later("start", START_S, self._started)

    def close(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def up(self, neighbour: int) -> None:
        """Begin to wait for the link to `neighbour`, which has come up."""
        self._caught_up(neighbour)
        self._round += 1
        self._behind()
        self._later(neighbour, WAIT_S, lambda: self._alarm(neighbour))

    def down(self, neighbour: int) -> None:
        self._cancel(neighbour)
        self._caught_up(neighbour)

    def look(self) -> None:
        """Check whether all links are in step now; to be called after each event."""
        if self._phase is not Phase.BEHIND:
            return
        links = self._links()
        for neighbour, is_in_step in links.items():
            if is_in_step:
                self._cancel(neighbour)
                self._caught_up(neighbour)
        if all(links.values()) and not (self.is_starting and len(links) < self._neighbours):
            self._phase = Phase.ASKING
            round_ = self._round
            self._ask(lambda: self._heard_by_all(round_))

    def _behind(self) -> None:
        if self._phase is Phase.IN_STEP or "wait" not in self._timers:
            self._connections.switch.step(Step.WAIT)
            self._is_waiting = True
            self._later("wait", WAIT_S, self._waited)
        self._phase = Phase.BEHIND

    def _heard_by_all(self, round_: int) -> None:
        if self._phase is Phase.ASKING and round_ == self._round:
            self._phase = Phase.SETTLING
            self._later("settle", SETTLE_S, lambda: self._settled(round_))

    def _settled(self, round_: int) -> None:
        if self._phase is Phase.SETTLING and round_ == self._round:
            self._phase, self.was_in_step = Phase.IN_STEP, True
            self._cancel("wait")
            self._connections.switch.step(Step.IN)
            self._connections.resume()
            self._tell_in_step()

    def _waited(self) -> None:
        """Refuse waiting and new publishes until the router is in step again."""
        self._connections.switch.step(Step.REFUSE)
        self._connections.resume()
        self._tell_in_step()

    def _started(self) -> None:
        self.is_starting = False
        self.look()

    def _later(self, what: object, delay_s: float, do: Callable[[], None]) -> None:
        self._cancel(what)
        self._timers[what] = self._connections.later(delay_s, do)

    def _cancel(self, what: object) -> None:
        timer = self._timers.pop(what, None)
        if timer is not None:
            timer.cancel()


class StoredStep:
    """C14: publishes that are to be confirmed as stored wait after the start until `knows` returns whether this router
    knows what durable subscriptions elsewhere want; after WAIT_S they are refused until then."""

    def __init__(self, connections: Switchboard, knows: Callable[[], bool]) -> None:
        self._connections, self._knows = connections, knows
        self._is_known = False
        self._timers: list[asyncio.TimerHandle] = []

    def start(self) -> None:
        self._connections.switch.step_stored(Step.WAIT)
        later = self._connections.later
        self._timers = [later(START_S, self.look), later(WAIT_S, self._waited)]
        self.look()

    def close(self) -> None:
        for timer in self._timers:
            timer.cancel()

    def look(self) -> None:
        """Check whether this router knows it now; to be called after each event."""
        if not self._is_known and self._knows():
            self._is_known = True
            self.close()
            self._set(Step.IN)

    def _waited(self) -> None:
        if not self._is_known:
            self._set(Step.REFUSE)

    def _set(self, step: Step) -> None:
        self._connections.switch.step_stored(step)
        self._connections.resume()

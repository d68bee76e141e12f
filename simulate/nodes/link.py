"""A link between two routers: a line that may be cut, and the sessions that come and go on it.

Law: each end knows only what it has noticed itself of a session: one end may use a session that the other gave up.
Numbers of sessions increase, a new session replaces the old one. An end without a session dials after a pause; greeting
takes a round trip. An end detects silence after the hold time, as it would by heartbeats, which are not simulated
individually, since they carry no other information.
"""

from __future__ import annotations

from random import Random
from typing import Protocol

from tamis.protocol.wire.routing_bodies import Body
from tamis.simulate.nodes.clock import Clock
from tamis.simulate.nodes.custody import CustodyPacket
from tamis.simulate.nodes.direction import NO_SESSION, Direction, Frame, Line, SimulatedSession
from tamis.simulate.nodes.message import Packet

MS = 1_000
HOLD_US = 1_000 * MS
"""The time of silence after which a session with a neighbour ends."""
HEARTBEAT_US = 250 * MS
"""The greatest age of the last heartbeat when the silence begins."""
DIAL_FIRST_US = 50 * MS
DIAL_LAST_US = 1_000 * MS


class LinkEnd(Protocol):
    """The part of a router that a link uses."""

    number: int
    alive: bool

    def link_up(self, neighbour: int, session: int, cost: int) -> None: ...

    def link_down(self, neighbour: int, session: int) -> None: ...

    def sent(self, neighbour: int, session: int) -> None: ...

    def heard(self, neighbour: int, session: int, body: Body) -> None: ...

    def carried(self, neighbour: int, packet: Packet | CustodyPacket) -> None: ...


class Watcher:
    """Receives the events of a link. Each method does nothing unless a subclass overrides it."""

    def joined(self, link: SimulatedLink) -> None: ...

    def broken(self, link: SimulatedLink) -> None: ...

    def unsettled(self) -> None: ...

    def lost(self, frame: Frame, reason: str) -> None: ...


class SimulatedLink:
    """A link between two routers, called side 0 and side 1; `ways[i]` is the direction that leaves from side i."""

    __slots__ = (
        *("ends", "name", "cost", "line", "intact", "ways", "believed"),
        *("_clock", "_random", "_watcher", "_newest", "_dialling"),
    )

    def __init__(
        self,
        clock: Clock,
        ends: tuple[LinkEnd, LinkEnd],
        cost: int,
        line: Line,
        random: Random,
        watcher: Watcher,
        direction: type[Direction] = Direction,
    ) -> None:
        self.ends = ends
        self.cost = cost
        self.line = line
        self.name = (ends[0].number, ends[1].number)
        self.intact = True
        """False while the line is cut."""
        self.ways = (direction(clock, line), direction(clock, line))
        self.believed: list[SimulatedSession | None] = [None, None]
        """The session that each side considers open; None: it considers none open."""
        self._clock = clock
        self._random = random
        self._watcher = watcher
        self._newest = NO_SESSION
        self._dialling = False
        for side, way in enumerate(self.ways):
            way.lost = watcher.lost
            way.overflowed = self.reset
            way.arrived = self._arrived_at_1 if side == 0 else self._arrived_at_0

    # Calls of the ends.

    def side_of(self, router: int) -> int:
        return 0 if self.name[0] == router else 1

    def send(self, side: int, number: int, size: int, body: Body, is_told: bool = False) -> None:
        """Send a control frame from `side` in session `number`. With `is_told` the core is notified when the frame has
        left."""
        session = self.believed[side]
        if session is None or session.number != number:
            self.ways[side].refuse(True, body)
        else:
            self.ways[side].send(session, True, size, body)
            if is_told:
                self._clock.at(self.ways[side].control_leaves_us, self._left, (side, session))

    def _left(self, what: tuple[int, SimulatedSession]) -> None:
        side, session = what
        if self.believed[side] is session:
            self.ends[side].sent(self.name[1 - side], session.number)

    def carry(self, side: int, size: int, packet: Packet | CustodyPacket | None) -> bool:
        """Send a data frame in the session of `side`; `packet` None is traffic that only takes room. Return false if
        the frame was dropped at once."""
        session = self.believed[side]
        if session is None:
            self.ways[side].refuse(False, packet)
            return False
        return self.ways[side].send(session, False, size, packet)

    # Events of the line.

    def cut(self, silently: bool) -> None:
        """Let no byte pass any more. The ends are notified, or with `silently` detect the silence."""
        self.intact = False
        self._end_session()
        for side in (0, 1):
            self._find_out(side, silently)

    def restore(self) -> None:
        self.intact = True
        for way in self.ways:
            way.dark = False
        self.wake()

    def reset(self, _: SimulatedSession | None = None) -> None:
        """Break the session; the line stays whole."""
        self._end_session()
        for side in (0, 1):
            self._find_out(side, silently=False)

    def darken(self, side: int) -> None:
        """Let all frames that leave from `side` vanish from now on; the other end detects the silence."""
        way = self.ways[side]
        way.dark = True
        way.deaf_to = self.believed[1 - side]
        self._broken(self._newest)
        self._find_out(1 - side, silently=True)

    def end_died(self, side: int, silently: bool) -> None:
        """Record that the router at `side` has died: its neighbour is notified, or with `silently` detects the
        silence."""
        self.believed[side] = None
        self._end_session()
        self._find_out(1 - side, silently)

    def join(self) -> None:
        """Put both ends into a new session at once, without dialling and without notice."""
        session = self._newest = SimulatedSession(self._newest.number + 1)
        session.whole = True
        self.believed = [session, session]

    def wake(self) -> None:
        """Let an end without a session dial. If it cannot dial now, each event that may change that calls this
        again."""
        self._clock.after(self._random.randint(DIAL_FIRST_US, DIAL_LAST_US), self._dial)

    @property
    def passable(self) -> bool:
        return (
            self.intact
            and not self.ways[0].dark
            and not self.ways[1].dark
            and self.ends[0].alive
            and self.ends[1].alive
        )

    @property
    def open(self) -> bool:
        """Whether both ends consider one session open, and bytes pass."""
        session = self.believed[0]
        return (
            session is not None and session is self.believed[1] and session.whole and not session.over and self.passable
        )

    # Sessions.

    def _end_session(self) -> None:
        self._newest.over = True
        self._broken(self._newest)

    def _broken(self, session: SimulatedSession) -> None:
        if session.whole:
            session.whole = False
            self._watcher.broken(self)
        self._watcher.unsettled()

    def _find_out(self, side: int, silently: bool) -> None:
        """Let `side` notice that its session is dead: soon, or with `silently` when the hold time is over."""
        session = self.believed[side]
        if session is None:
            return
        soon = (HOLD_US - HEARTBEAT_US, HOLD_US) if silently else (0, 2 * self.line.delay_us)
        self._clock.after(self._random.randint(*soon), self._close, (side, session))

    def _close(self, what: tuple[int, SimulatedSession]) -> None:
        side, session = what
        if self.believed[side] is not session:
            return
        self.believed[side] = None
        session.over = True
        self._broken(session)
        other = 1 - side
        if self.believed[other] is session and not self.ways[side].dark and self.intact:
            self._clock.after(self.line.delay_us, self._close, (other, session))
        self.ends[side].link_down(self.name[other], session.number)
        self.wake()

    def _dial(self, _: None) -> None:
        if self._dialling or not self.passable or None not in self.believed:
            return
        self._dialling = True
        dialler = self.believed.index(None)
        self._newest.over = True  # an end that still considers it open receives the new one
        session = self._newest = SimulatedSession(self._newest.number + 1)
        delay = self.line.delay_us
        self._clock.after(delay, self._greet, (1 - dialler, session))
        self._clock.after(2 * delay, self._greet, (dialler, session))

    def _greet(self, what: tuple[int, SimulatedSession]) -> None:
        """Record that a side has received the other's greeting."""
        side, session = what
        last = self.believed[1 - side] is session
        if session.over or not self.passable:
            self._dialling = False
            session.over = True
            if last:
                self._find_out(1 - side, silently=False)
            self.wake()
            return
        self.believed[side] = session
        self._watcher.unsettled()
        if last:
            self._dialling = False
            session.whole = True
            self._watcher.joined(self)
        self.ends[side].link_up(self.name[1 - side], session.number, self.cost)

    def _arrived_at_0(self, frame: Frame) -> bool:
        return self._arrived(0, frame)

    def _arrived_at_1(self, frame: Frame) -> bool:
        return self._arrived(1, frame)

    def _arrived(self, side: int, frame: Frame) -> bool:
        if self.believed[side] is not frame.session:
            return False
        if frame.control:
            self.ends[side].heard(self.name[1 - side], frame.session.number, frame.content)
        elif frame.content is not None:
            self.ends[side].carried(self.name[1 - side], frame.content)
        return True

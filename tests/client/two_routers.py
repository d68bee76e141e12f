"""A client that is sent away, by hand: the router that does so, and the one to which it goes."""

from __future__ import annotations

from typing import Any

from tamis.client.connection.handover import Step
from tamis.client.connection.line import Line
from tamis.client.messages.pending import ON_ITS_WAY_S
from tamis.protocol.wire.client_bodies import DURABLES, GROUPS, Ack, AckOf, Refusal, Subscribe, Unsubscribe, ranges_of
from tamis.protocol.wire.frames import Frame, decode, encode
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.reader import FrameReader
from tamis.protocol.wire.session_bodies import Authenticated, AuthMethod, GoAway, Ping, Pong, Welcome
from tests.client.by_hand import NAME, PLENTY, Hand

AWAY = GoAway(5_000, (), "the router is stopping")


class Other:
    """The other router, by hand: what it says to the new connection of a core, and what that has sent."""

    def __init__(self, hand: Hand) -> None:
        self._hand = hand
        dial = hand.core.take_dial()
        assert dial is not None
        self.address, self.pause_s = dial
        assert hand.core.take_dial() is None
        line = hand.core.move_connected(self.address, hand.now)
        assert line is not None
        self.line: Line = line
        self._reader = FrameReader()
        self._reader.authenticated()

    def open(self, *, capabilities: tuple[str, ...] = (DURABLES, GROUPS)) -> Other:
        self.say(Welcome("oslo", 1, bytes(16), 2, capabilities, 1 << 20, 30_000, 0, (AuthMethod.NONE,)))
        self.sent()
        self.say(Authenticated(b"", stable_number(NAME), 10_000), PLENTY)
        return self

    def say(self, *frames: Frame) -> None:
        self._hand.core.receive(b"".join(encode(frame) for frame in frames), self._hand.now, self.line)

    def sent(self) -> list[Frame]:
        while output := self._hand.core.take_output(self._hand.now, self.line):
            self._reader.feed(output)
        return [decode(frame) for frame in self._reader]

    def sent_of(self, kind: type) -> list[Any]:
        return [frame for frame in self.sent() if isinstance(frame, kind)]

    def accept(self, *refusals: Refusal) -> list[Subscribe]:
        asked = self.sent_of(Subscribe)
        refused = {refusal.number for refusal in refusals}
        for body in asked:
            ids = {subscription.id for subscription in body.subscriptions}
            mine = tuple(refusal for refusal in refusals if refusal.number in ids)
            self.say(Ack(AckOf.SUBSCRIBE, body.request, ranges_of(ids - refused), mine))
        return asked

    def cut(self) -> None:
        self._hand.core.cut("closed by the router", self._hand.now, self.line)


class Old:
    """The router that sends the client away: its line, which the core may have left meanwhile."""

    def __init__(self, hand: Hand) -> None:
        self._hand, self.line = hand, hand.core.line

    def say(self, *frames: Frame) -> None:
        self._hand.core.receive(b"".join(encode(frame) for frame in frames), self._hand.now, self.line)

    def sent(self) -> list[Frame]:
        reader = FrameReader()
        reader.authenticated()
        while output := self._hand.core.take_output(self._hand.now, self.line):
            reader.feed(output)
        return [decode(frame) for frame in reader]

    def end_all(self) -> list[Frame]:
        """Answer what a client that leaves asks; return what it sends then."""
        for frame in self.sent():
            if isinstance(frame, Unsubscribe):
                self.say(Ack(AckOf.UNSUBSCRIBE, frame.request, ranges_of(frame.ids)))
            elif isinstance(frame, Ping):
                self.say(Pong(frame.token))
        return self.sent()

    def cut(self) -> None:
        self._hand.core.cut("closed by the router", self._hand.now, self.line)


def opened(**settings: Any) -> Hand:
    return Hand(**settings).open(capabilities=(DURABLES, GROUPS))


def sent_away(hand: Hand) -> tuple[Old, Other]:
    hand.sent()
    old = Old(hand)
    hand.say(AWAY)
    return old, Other(hand)


def step_of(hand: Hand) -> Step:
    return Step.OVER if hand.core.handover is None else hand.core.handover.step


def later(hand: Hand, seconds: float) -> None:
    hand.now += seconds
    hand.core.tick(hand.now)


def to_step(hand: Hand, step: Step) -> tuple[Old, Other]:
    """Let a client with a subscription of id 1 come to `step`."""
    old, other = sent_away(hand)
    if step is not Step.DIALLING:
        other.open()
    if step not in (Step.DIALLING, Step.SUBSCRIBING):
        other.accept()
    if step in (Step.LEAVING, Step.TRAILING):
        later(hand, ON_ITS_WAY_S)
    if step is Step.TRAILING:
        old.end_all()
    assert step_of(hand) is step
    return old, other

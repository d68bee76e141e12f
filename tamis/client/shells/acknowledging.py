"""What a task says of kept messages: it has effect at once, and is waited for only where that is asked for."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING

from tamis.client.durable.attached import Attached
from tamis.client.durable.kept_message import Handed
from tamis.protocol.wire.client_bodies import AckVerdict

if TYPE_CHECKING:
    from tamis.client.shells.pump import Pump


class Confirmation:
    """What a verb of a kept message returns. The verb has taken effect: the router is told at the end of the loop's
    turn. `await` returns when what was said is on the router's disk; AckUnknown if the connection was cut before."""

    __slots__ = ("_work",)

    def __init__(self, work: Acknowledging) -> None:
        self._work = work

    def __await__(self) -> Generator[object, None, None]:
        pump = self._work._pump
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        pump.core.kept.confirm(self._work._started, waiter)
        pump.written()
        yield from waiter


class Acknowledged(Handed):
    """A message that its attachment can be told to be done with."""

    __slots__ = ()

    _work: Acknowledging

    def ack(self) -> Confirmation:
        """Be done with the message. Saying it twice, or of a message that is replayed, does nothing."""
        work = self._work
        pump = work._pump
        pump.core.kept.acknowledge(work._started, self)
        if not pump.flush_due:
            pump.written()
        return Confirmation(work)

    def _say(self, verdict: AckVerdict, delay_ms: int = 0, reason: str = "") -> Confirmation:
        pump = self._work._pump
        pump.core.kept.say(self._work._started, self, verdict, delay_ms, reason)
        pump.written()
        return Confirmation(self._work)


class Acknowledging(ABC):
    """The part of an attachment that tells the router of messages that are done."""

    _pump: Pump

    @property
    @abstractmethod
    def _started(self) -> Attached:
        """What the core knows of it; RuntimeError before there is something."""

    def ack_all(self, messages: Iterable[Acknowledged]) -> Confirmation:
        """Be done with each of `messages`, which this attachment has given; see `KeptMessage.ack`."""
        for message in messages:
            self._pump.core.kept.acknowledge(self._started, message)
        self._pump.written()
        return Confirmation(self)

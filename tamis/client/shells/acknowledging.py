"""The acknowledgement of stored messages, for asyncio: it takes effect at once, and waits only if it is awaited."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING

from tamis.client.durable.consumer_state import ConsumerState
from tamis.client.durable.stored_message import Handed
from tamis.protocol.wire.client_bodies import AckVerdict

if TYPE_CHECKING:
    from tamis.client.shells.pump import Pump


class Confirmation:
    """The result of a verb of a message. The verb has taken effect, and is sent to the router at the end of the loop's
    turn. `await` returns when it is on the router's disk; AckUnknown if the connection was cut before."""

    __slots__ = ("_work",)

    def __init__(self, work: Acknowledging) -> None:
        self._work = work

    def __await__(self) -> Generator[object, None, None]:
        pump = self._work._pump
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        pump.core.durables.confirm(self._work._started, waiter)
        pump.written()
        yield from waiter


class Acknowledged(Handed):
    """A message that can be acknowledged."""

    __slots__ = ()

    _work: Acknowledging

    def ack(self) -> Confirmation:
        """Acknowledge the message. This has no effect on a message that is settled or replayed."""
        work = self._work
        pump = work._pump
        pump.core.durables.acknowledge(work._started, self)
        if not pump.flush_due:
            pump.written()
        return Confirmation(work)

    def _say(self, verdict: AckVerdict, delay_ms: int = 0, reason: str = "") -> Confirmation:
        pump = self._work._pump
        pump.core.durables.say(self._work._started, self, verdict, delay_ms, reason)
        pump.written()
        return Confirmation(self._work)


class Acknowledging(ABC):
    """The part of a consumer that sends acknowledgements."""

    _pump: Pump

    @property
    @abstractmethod
    def _started(self) -> ConsumerState:
        """The consumer in the core; RuntimeError before it is started."""

    def ack_all(self, messages: Iterable[Acknowledged]) -> Confirmation:
        """Acknowledge each of `messages`, which must be of this consumer; see `StoredMessage.ack`."""
        for message in messages:
            self._pump.core.durables.acknowledge(self._started, message)
        self._pump.written()
        return Confirmation(self)

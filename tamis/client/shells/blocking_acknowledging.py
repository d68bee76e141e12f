"""The acknowledgement of stored messages, for threads: it waits for the disk only if `confirm` is given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from concurrent.futures import Future
from typing import TYPE_CHECKING

from tamis.client.durable.consumer_state import ConsumerState
from tamis.client.durable.stored_message import Handed
from tamis.protocol.wire.client_bodies import AckVerdict

if TYPE_CHECKING:
    from tamis.client.shells.blocking_pump import BlockingPump


class BlockingAcknowledged(Handed):
    """A message that can be acknowledged."""

    __slots__ = ()

    _work: BlockingAcknowledging

    def ack(self, *, confirm: bool = False) -> None:
        """Acknowledge the message. This has no effect on a message that is settled or replayed. With `confirm`, return
        when the acknowledgement is on the router's disk; AckUnknown if the connection was cut before."""
        self._work.ack_all((self,), confirm=confirm)

    def _say(self, verdict: AckVerdict, delay_ms: int = 0, reason: str = "") -> None:
        pump = self._work._pump
        with pump.lock:
            pump.core.durables.say(self._work._started, self, verdict, delay_ms, reason)
            pump.written()


class BlockingAcknowledging(ABC):
    """The part of a consumer that sends acknowledgements."""

    _pump: BlockingPump

    @property
    @abstractmethod
    def _started(self) -> ConsumerState:
        """The consumer in the core; RuntimeError before it is started."""

    def ack_all(self, messages: Iterable[BlockingAcknowledged], *, confirm: bool = False) -> None:
        """Acknowledge each of `messages`, which must be of this consumer; with `confirm`, return when that is on
        disk."""
        pump = self._pump
        waiter: Future[None] = Future()
        with pump.lock:
            for message in messages:
                pump.core.durables.acknowledge(self._started, message)
            if confirm:
                pump.core.durables.confirm(self._started, waiter)
            pump.written()
        if confirm:
            pump.wait(waiter)

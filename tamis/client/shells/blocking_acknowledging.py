"""What a thread says of kept messages: it waits for the disk only where that is asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from concurrent.futures import Future
from typing import TYPE_CHECKING

from tamis.client.durable.attached import Attached
from tamis.client.durable.kept_message import Handed
from tamis.protocol.wire.client_bodies import AckVerdict

if TYPE_CHECKING:
    from tamis.client.shells.blocking_pump import BlockingPump


class BlockingAcknowledged(Handed):
    """A message that its attachment can be told to be done with."""

    __slots__ = ()

    _work: BlockingAcknowledging

    def ack(self, *, confirm: bool = False) -> None:
        """Be done with the message. Saying it twice, or of a message that is replayed, does nothing. With `confirm`,
        return when it is on the router's disk; AckUnknown if the connection was cut before."""
        self._work.ack_all((self,), confirm=confirm)

    def _say(self, verdict: AckVerdict, delay_ms: int = 0, reason: str = "") -> None:
        pump = self._work._pump
        with pump.lock:
            pump.core.kept.say(self._work._started, self, verdict, delay_ms, reason)
            pump.written()


class BlockingAcknowledging(ABC):
    """The part of an attachment that tells the router of messages that are done."""

    _pump: BlockingPump

    @property
    @abstractmethod
    def _started(self) -> Attached:
        """What the core knows of it; RuntimeError before there is something."""

    def ack_all(self, messages: Iterable[BlockingAcknowledged], *, confirm: bool = False) -> None:
        """Be done with each of `messages`, which this attachment has given; with `confirm`, return when that is on
        disk."""
        pump = self._pump
        waiter: Future[None] = Future()
        with pump.lock:
            for message in messages:
                pump.core.kept.acknowledge(self._started, message)
            if confirm:
                pump.core.kept.confirm(self._started, waiter)
            pump.written()
        if confirm:
            pump.wait(waiter)

"""An outbox whose messages survive the publisher: messages to be confirmed are in a file until they are answered.

    publish ---> file ---> output ---> socket ---> answer ---> out of the file      after a restart: from the file

Law: a message is in the file, on disk, before its frame is sent; its counter is reserved before that. A message in the
file is sent until it has an answer, even if no call waits for it; after a restart it is sent under its id, before all
messages that are published then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tamis.client.errors import OutboxFailed
from tamis.client.messages.outbox import Outbox, Unconfirmed
from tamis.client.messages.outbox_file import OutboxFile
from tamis.client.messages.waiter import OwnWaiter, Waiter, settle
from tamis.client.receipt import Receipt
from tamis.protocol.messages import MessageId
from tamis.protocol.values import Value
from tamis.protocol.wire.header import FLAGS_OFFSET, RETRY


class StoredOutbox(Outbox):
    """The outbox of a client with `outbox=`. `tell` is called with a sentence for the log when a message from before a
    restart is refused."""

    def __init__(self, origin: int, file: OutboxFile, tell: Callable[[str], object]) -> None:
        super().__init__(origin, file.reserved)
        self._file = file
        self._tell = tell
        self._stored: dict[int, Unconfirmed] = {}
        self._is_ended = False
        for counter, frame in file.saved():
            again = bytearray(frame)
            again[FLAGS_OFFSET] |= RETRY
            message = Unconfirmed(MessageId(origin, counter), bytes(again), _Nobody(tell), confirm=True, retry=True)
            self._store(message)
            self.held.append(message)

    def try_publish(self, attributes: Mapping[str, Value], payload: bytes, time_ns: int) -> Receipt | None:
        if not self._is_ended:
            self._file.reserve(self._counter)
        return super().try_publish(attributes, payload, time_ns)

    def taken(self) -> bytearray:
        """Return the output as `Outbox.taken` does, after the file is committed; if the file cannot be written, nothing
        more is sent."""
        try:
            if not self._is_ended:
                self._file.commit()
        except OutboxFailed as error:
            self._tell(str(error))
            self.drop(error)
            return bytearray()
        return super().taken()

    def drop(self, error: Exception) -> None:
        """Drop the messages as `Outbox.drop` does; messages without an answer stay in the file."""
        if self._is_ended:
            return
        self._is_ended = True
        super().drop(error)
        try:
            self._file.close()
        except OutboxFailed as failed:
            self._tell(str(failed))

    # --- rules ---------------------------------------------------------------------------------------------------

    def _hold(self, message: Unconfirmed) -> None:
        self._check_size(len(message.frame))
        self._file.reserve(self._counter)
        if message.confirm:
            message.retry = True
            self._file.check_room(len(message.frame))
            self._file.put(message.id.counter, message.frame)
            self._store(message)
        super()._hold(message)

    def _hold_refused(self, message: Unconfirmed) -> None:
        message.retry = True
        self._file.check_room(len(message.frame))
        self._file.put(message.id.counter, message.frame)
        self._store(message)
        super()._hold_refused(message)

    def _count_above(self, newest: int) -> None:
        super()._count_above(newest)
        self._file.reserve(self._counter)
        moved = {counter: message for counter, message in self._stored.items() if message.id.counter != counter}
        for counter, message in moved.items():
            del self._stored[counter]
            self._file.drop(counter, len(message.frame))
        for message in moved.values():
            self._stored[message.id.counter] = message
            self._file.put(message.id.counter, message.frame)

    def _store(self, message: Unconfirmed) -> None:
        self._stored[message.id.counter] = message
        message.waiter = _Answered(message.waiter, lambda: self._answered_for(message))

    def _answered_for(self, message: Unconfirmed) -> None:
        if not self._is_ended:
            del self._stored[message.id.counter]
            self._file.drop(message.id.counter, len(message.frame))


class _Answered(OwnWaiter):
    """The waiter of a stored message. It is never given up, since the file waits for the answer."""

    def __init__(self, waiter: Waiter, then: Callable[[], None]) -> None:
        super().__init__()
        self._waiter, self._then = waiter, then

    def _settled(self, error: BaseException | None) -> None:
        self._then()
        settle(self._waiter, error)


class _Nobody:
    """The waiter of a message from before a restart, for which no call waits."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        self._tell = tell

    def done(self) -> bool:
        return False

    def set_result(self, result: None, /) -> None:
        """Do nothing: no call waits for the message."""

    def set_exception(self, exception: BaseException, /) -> None:
        self._tell(f"of a message that was published before this start: {exception}")

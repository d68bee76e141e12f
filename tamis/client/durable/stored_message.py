"""A message of a durable subscription, with its log position and its number of deliveries.

Law: the extensions of such a DELIVER are checked when it arrives, and decoded when they are read; the number of
deliveries is never guessed.
"""

from __future__ import annotations

from typing import cast

from tamis.client.message import Message
from tamis.protocol.errors import FrameError
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.deliver_view import DeliverView, StoredArea, stored_area
from tamis.protocol.wire.extensions import DeliveryCount, ExtensionType


def stored_head(frame: bytes) -> StoredArea:
    """Return the extensions of a DELIVER of a durable subscription; FrameError if one of them is missing."""
    area = stored_area(frame)
    if area is not None:
        return area
    extensions = DeliverView(frame).extensions
    count = cast("DeliveryCount | None", extensions.get(ExtensionType.DELIVERIES))
    position = cast("int | None", extensions.get(ExtensionType.LOG_POSITION))
    ids = cast("tuple[int, ...]", extensions.get(ExtensionType.SATISFIED, ()))
    if count is None or position is None or not ids:
        raise FrameError(
            ErrorCode.BAD_EXTENSION, "a DELIVER of a durable subscription needs SATISFIED, LOG_POSITION and DELIVERIES"
        )
    return StoredArea(ids[0], position, *count)


class Handed(Message):
    """A message of a durable subscription, without the verbs that settle it, which the shell adds."""

    __slots__ = {  # noqa: RUF023 - with what `help` says of each
        "position": "Its position in the log: `consume(after=position)` starts after it.",
        "_identity": "Its identity among the messages given to the application; empty if replayed.",
        "_work": "The shell's consumer, which sends verbs to the router.",
    }

    position: int
    _identity: bytes
    _work: object

    def __init__(self, frame: bytes, matched: tuple[int, ...], position: int, identity: bytes, work: object) -> None:
        self._frame = frame
        self.frame_bytes = len(frame)
        self.matched = matched
        self._decoded = None
        self.position = position
        self._identity = identity
        self._work = work

    @property
    def deliveries(self) -> int:
        """How often the message was delivered, including this delivery; 0 if it is replayed."""
        return stored_head(self._frame).deliveries

    @property
    def replayed(self) -> bool:
        """Whether the message is history: it is not to be acknowledged."""
        return not self._identity

    @property
    def maybe_duplicate(self) -> bool:
        """Whether the message may have been delivered before without being counted."""
        return stored_head(self._frame).maybe_duplicate

    @property
    def dead_letter(self) -> bool:
        """Whether the message is a dead letter of another durable subscription, which rejected it or reached its limit
        of deliveries."""
        return stored_head(self._frame).dead_letter

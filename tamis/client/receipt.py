"""What a publisher gets for what it has published: the id of a message, and whether a keep has stored it.

Law: `is_stored` is what a router has said of this message. What nobody has said is None.
"""

from __future__ import annotations

from typing import NamedTuple

from tamis.client.confirming import Confirm, level_of
from tamis.client.errors import NotStored
from tamis.protocol.errors import Refused
from tamis.protocol.messages import MessageId


class Receipt(MessageId):
    """The id of a message that was published, to which it is equal, and whether the message is stored.

    `is_stored`: True if a keep of the router that confirmed it has it on disk; False if no keep of that router wanted
    it; None if nobody has said so: without `confirm="kept"` or `"held"`, from a router of an earlier version, and where
    a second try cannot tell.
    """

    is_stored: bool | None = None


class Receipts(NamedTuple):
    """How many messages `publish_many` has published, and of how many the router has said that they are stored, or that
    no keep wanted them."""

    published: int = 0
    stored: int = 0
    unstored: int = 0


def receipt_of(id_: MessageId, is_stored: bool | None) -> Receipt:
    receipt = Receipt(*id_)
    if is_stored is not None:
        receipt.is_stored = is_stored
    return receipt


def counted(receipts: Receipts, receipt: Receipt) -> Receipts:
    """Return `receipts` and one more."""
    published, stored, unstored = receipts
    is_stored = receipt.is_stored
    return Receipts(published + 1, stored + (is_stored is True), unstored + (is_stored is False))


def check_required(confirm: Confirm, *, require_stored: bool) -> None:
    """Refuse `require_stored` where nobody is asked whether a message is stored."""
    if require_stored and not level_of(confirm)[1]:
        raise Refused(f"require_stored goes with confirm='kept' or 'held', not with {confirm!r}")


def required(receipt: Receipt, *, require_stored: bool) -> Receipt:
    """Return `receipt`; NotStored where it has to be stored and the router has not said that it is."""
    if require_stored and not receipt.is_stored:
        raise NotStored(receipt, receipt.is_stored)
    return receipt

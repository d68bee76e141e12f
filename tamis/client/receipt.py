"""The result of `publish`: the id of a message, and whether a durable subscription has stored it.

Law: `is_stored` is what a router has reported of this message; None until one has.
"""

from __future__ import annotations

from typing import NamedTuple

from tamis.client.confirming import Confirm, level_of
from tamis.client.errors import NotStored
from tamis.protocol.errors import Refused
from tamis.protocol.messages import MessageId


class Receipt(MessageId):
    """The id of a published message, which the receipt is equal to, and whether the message is stored.

    `is_stored`: True if a durable subscription at the router that confirmed the message has it on disk; False if none
    at that router matched it; None if unknown: without `confirm="stored"` or `"held"`, from a router of an earlier
    version, and where a second attempt cannot tell.
    """

    is_stored: bool | None = None


class Receipts(NamedTuple):
    """How many messages `publish_many` has published; of these, how many the router reported as stored, and how many as
    matched by no durable subscription."""

    published: int = 0
    stored: int = 0
    unstored: int = 0


def receipt_of(id_: MessageId, is_stored: bool | None) -> Receipt:
    receipt = Receipt(*id_)
    if is_stored is not None:
        receipt.is_stored = is_stored
    return receipt


def counted(receipts: Receipts, receipt: Receipt) -> Receipts:
    """Return `receipts` with `receipt` added."""
    published, stored, unstored = receipts
    is_stored = receipt.is_stored
    return Receipts(published + 1, stored + (is_stored is True), unstored + (is_stored is False))


def check_required(confirm: Confirm, *, require_stored: bool) -> None:
    """Raise Refused if `require_stored` is given with a level of `confirm` that does not report storage."""
    if require_stored and not level_of(confirm).is_stored:
        raise Refused(f"require_stored goes with confirm='stored' or 'held', not with {confirm!r}")


def required(receipt: Receipt, *, require_stored: bool) -> Receipt:
    """Return `receipt`; NotStored if it has to be stored and the router has not confirmed that it is."""
    if require_stored and not receipt.is_stored:
        raise NotStored(receipt, receipt.is_stored)
    return receipt

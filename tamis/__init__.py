"""Tamis: a content-based network.

    async with tamis.connect("tamis://127.0.0.1:7400") as client:
        await client.publish({"class": "alert", "severity": 6}, payload=b"...")

`tamis.blocking` has the same names for programs without asyncio. Everything is loaded at first use, so that
`import tamis` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tamis import blocking
    from tamis.client.client import Client, connect
    from tamis.client.consumer import Consumer, StoredMessage
    from tamis.client.durable_info import DurableAt, DurableInfo, KnownRouters
    from tamis.client.errors import (
        AckUnknown,
        ClientClosed,
        ClientError,
        ConnectFailed,
        DurableRefused,
        NotAdmitted,
        NotStored,
        OutboxFailed,
        PublishRefused,
        PublishUnknown,
        SubscriptionRefused,
        TokenRefused,
        Unanswered,
    )
    from tamis.client.gap import Gap, GapReason
    from tamis.client.message import Message
    from tamis.client.receipt import Receipt, Receipts
    from tamis.client.responder import Question, Responder
    from tamis.client.subscription import Subscription
    from tamis.client.trail import Trail
    from tamis.protocol.errors import FrameError, PredicateError, Refused, TamisError
    from tamis.protocol.messages import MessageId
    from tamis.protocol.wire.report_bodies import DryRunReport, TraceRecord

    __version__: str

_HOME = {
    "blocking": "tamis.blocking",
    "connect": "tamis.client.client",
    "Client": "tamis.client.client",
    "Subscription": "tamis.client.subscription",
    "Consumer": "tamis.client.consumer",
    "StoredMessage": "tamis.client.consumer",
    "DurableAt": "tamis.client.durable_info",
    "DurableInfo": "tamis.client.durable_info",
    "KnownRouters": "tamis.client.durable_info",
    "Message": "tamis.client.message",
    "MessageId": "tamis.protocol.messages",
    "Receipt": "tamis.client.receipt",
    "Receipts": "tamis.client.receipt",
    "Responder": "tamis.client.responder",
    "Question": "tamis.client.responder",
    "Gap": "tamis.client.gap",
    "GapReason": "tamis.client.gap",
    "Trail": "tamis.client.trail",
    "TraceRecord": "tamis.protocol.wire.report_bodies",
    "DryRunReport": "tamis.protocol.wire.report_bodies",
    "ClientError": "tamis.client.errors",
    "ConnectFailed": "tamis.client.errors",
    "NotAdmitted": "tamis.client.errors",
    "Unanswered": "tamis.client.errors",
    "ClientClosed": "tamis.client.errors",
    "PublishRefused": "tamis.client.errors",
    "PublishUnknown": "tamis.client.errors",
    "NotStored": "tamis.client.errors",
    "SubscriptionRefused": "tamis.client.errors",
    "DurableRefused": "tamis.client.errors",
    "AckUnknown": "tamis.client.errors",
    "TokenRefused": "tamis.client.errors",
    "OutboxFailed": "tamis.client.errors",
    "TamisError": "tamis.protocol.errors",
    "Refused": "tamis.protocol.errors",
    "PredicateError": "tamis.protocol.errors",
    "FrameError": "tamis.protocol.errors",
}

__all__ = [
    "connect",
    "blocking",
    "Client",
    "Subscription",
    "Consumer",
    "Message",
    "StoredMessage",
    "DurableAt",
    "DurableInfo",
    "KnownRouters",
    "MessageId",
    "Receipt",
    "Receipts",
    "Responder",
    "Question",
    "Gap",
    "GapReason",
    "Trail",
    "TraceRecord",
    "DryRunReport",
    "TamisError",
    "Refused",
    "PredicateError",
    "FrameError",
    "ClientError",
    "ConnectFailed",
    "NotAdmitted",
    "ClientClosed",
    "Unanswered",
    "PublishRefused",
    "PublishUnknown",
    "NotStored",
    "SubscriptionRefused",
    "DurableRefused",
    "AckUnknown",
    "TokenRefused",
    "OutboxFailed",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        return import_module("importlib.metadata").version("tamis")
    if name not in _HOME:
        from tamis.client.old_names import CLASSES
        from tamis.protocol.old_names import warn

        if name in CLASSES:
            warn(f"tamis.{name}", f"tamis.{CLASSES[name]}")
            return __getattr__(CLASSES[name])
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(_HOME[name])
    found = home if name == "blocking" else getattr(home, name)
    globals()[name] = found  # the next time, perhaps for every message, it is found without this
    return found


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__")), "__version__"]

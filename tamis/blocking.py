"""The client for programs without asyncio, with the names of `tamis`: `with tamis.blocking.connect(...) as client`."""

from __future__ import annotations

from tamis.client.blocking.client import Client, connect
from tamis.client.blocking.consumer import Consumer, StoredMessage
from tamis.client.blocking.responder import Question, Responder
from tamis.client.blocking.subscription import Subscription
from tamis.client.gap import Gap, GapReason
from tamis.client.message import Message
from tamis.client.trail import Trail

__all__ = [
    "connect",
    "Client",
    "Subscription",
    "Consumer",
    "Message",
    "StoredMessage",
    "Responder",
    "Question",
    "Gap",
    "GapReason",
    "Trail",
]

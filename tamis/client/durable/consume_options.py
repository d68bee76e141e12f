"""The checked arguments of `attach` and `replay`.

Law: options that exist can be sent; an invalid argument is Refused with its name and the valid values.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from tamis.client.durable.consumer_state import CREDIT_MAX, ConsumeOptions
from tamis.client.durable.core import DurableCore
from tamis.client.durable.policy import durable_name, unix_ns
from tamis.client.durable.seen import SeenIds
from tamis.client.messages.pending import DecidedPredicate, packed_of
from tamis.protocol.errors import Refused
from tamis.protocol.filters import Predicate
from tamis.protocol.limits import MESSAGE_IDS_REMEMBERED
from tamis.protocol.spaces import SpaceSet
from tamis.protocol.wire.durable_bodies import Consume, Replay

ENDLESS_NS = 2**64 - 1


def consume_options(
    core: DurableCore, name: str, *, credit: int, after: int, replay: Literal["latest"] | None, dedup: int
) -> ConsumeOptions:
    """Return the options of a consumer; it shares the record of seen messages with other consumers of this client
    to one durable subscription."""
    _check_number("credit", credit, 1, CREDIT_MAX)
    _check_number("after", after, 0, 2**64 - 1)
    _check_number("dedup", dedup, 0, MESSAGE_IDS_REMEMBERED)
    if replay not in ("latest", None):
        raise Refused(f"replay is None or 'latest', not {replay!r}")
    ask = Consume(0, 0, durable_name(name), credit, after, replay == "latest")
    return ConsumeOptions(ask, credit, core.seen(name, dedup))


def replay_options(
    predicate: str | Predicate | DecidedPredicate,
    *,
    since: datetime | None,
    until: datetime | None,
    credit: int,
    spaces: SpaceSet,
    space: str | None,
) -> ConsumeOptions:
    """Return the options of a replay."""
    _check_number("credit", credit, 1, CREDIT_MAX)
    packed = packed_of(predicate, spaces, space)
    first = 0 if since is None else unix_ns("since", since)
    last = ENDLESS_NS if until is None else unix_ns("until", until)
    return ConsumeOptions(Replay(0, 0, packed.filters, first, last, credit, packed.residual), credit, SeenIds(0))


def _check_number(what: str, value: int, least: int, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise Refused(f"{what} is a whole number from {least:,} to {most:,}, not {value!r}")

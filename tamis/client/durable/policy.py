"""The policy of a durable subscription, from arguments to its wire form.

Law: a router can refuse a CREATE_DURABLE made here only for its quotas or its disk; every other mistake is Refused
here, with the name of the argument and the valid values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, Literal

from tamis.client.messages.pending import DecidedPredicate, packed_of
from tamis.protocol.amounts import Duration, Size, count_of, milliseconds_of, octets_of, short_milliseconds_of
from tamis.protocol.errors import Refused
from tamis.protocol.filters import Predicate
from tamis.protocol.limits import DURABLE_BACKOFFS_MAX, DURABLE_HOMES_MAX, DURABLE_UNACKED_MAX, NAME_BYTES_MAX
from tamis.protocol.messages import MessageId
from tamis.protocol.peer_names import check_peer_name
from tamis.protocol.spaces import NO_SPACES, SpaceSet
from tamis.protocol.wire.durable_bodies import CreateDurable, DurablePolicy, Overflow, StartAt

Start = Literal["new", "earliest"] | datetime | MessageId
OverflowName = Literal["drop-oldest", "refuse"]
DURABLE_BYTES: Final = "1 GiB"
IDLE: Final = "7d"
ACK_WAIT_S: Final = 30
DELIVERIES: Final = 5
BACKOFF_S: Final = (1, 5, 30)
UNACKED: Final = 1_000

_OVERFLOWS: Final = {"drop-oldest": Overflow.DROP_OLDEST, "refuse": Overflow.REFUSE}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def durable_of(
    name: str,
    predicate: str | Predicate | DecidedPredicate,
    *,
    start: Start = "new",
    until: Literal["acked"] | None = None,
    for_: Duration | None = None,
    bytes: Size = DURABLE_BYTES,  # noqa: A002 - the name of the term
    count: int | None = None,
    overflow: OverflowName = "drop-oldest",
    idle: Duration | None = IDLE,
    ack_wait_s: Duration = ACK_WAIT_S,
    max_deliveries: int | None = DELIVERIES,
    backoff_s: Sequence[Duration] = BACKOFF_S,
    dead_letter: str | None = None,
    max_unacked: int = UNACKED,
    order_by: str | None = None,
    latest_by: str | None = None,
    homes: Sequence[str] = (),
    copies_min: int | None = None,
    spaces: SpaceSet = NO_SPACES,
    space: str | None = None,
) -> CreateDurable:
    """Return the CREATE_DURABLE of this policy, with request 0."""
    if until not in ("acked", None):
        raise Refused(f"until is 'acked', or None with for_=..., not {until!r}")
    if until is not None and for_ is not None:
        raise Refused("a durable subscription has until='acked' or for_=..., not both")
    if overflow not in _OVERFLOWS:
        raise Refused(f"overflow is {' or '.join(map(repr, _OVERFLOWS))}, not {overflow!r}")
    homes = _homes(homes)
    if len(homes) > 1 and (start != "new" or overflow != "drop-oldest"):
        raise Refused("with several homes, start is 'new' and overflow is 'drop-oldest'")
    if isinstance(backoff_s, str) or not isinstance(backoff_s, Sequence) or len(backoff_s) > DURABLE_BACKOFFS_MAX:
        raise Refused(f"backoff_s is at most {DURABLE_BACKOFFS_MAX} times in a list, not {backoff_s!r}")
    packed = packed_of(predicate, spaces, space, is_exact=bool(homes))
    policy = DurablePolicy(
        filters=packed.filters,
        for_ms=0 if for_ is None else milliseconds_of("for_", for_),
        bytes=octets_of("bytes", bytes),
        count=count_of("count", count),
        overflow=_OVERFLOWS[overflow],
        idle_ms=0 if idle is None else milliseconds_of("idle", idle),
        ack_wait_ms=short_milliseconds_of("ack_wait_s", ack_wait_s),
        deliveries_max=count_of("max_deliveries", max_deliveries),
        backoff_ms=tuple(short_milliseconds_of("backoff_s", pause) for pause in backoff_s),
        dead_letter="" if dead_letter is None else new_durable_name(dead_letter, "dead_letter"),
        unacked_max=_unacked(max_unacked),
        order_by=_name("order_by", order_by),
        latest_by=_name("latest_by", latest_by),
        copies_min=_copies_min(copies_min, len(homes)),
        residual=packed.residual,
        dialect=packed.dialect,
    )
    return _started(CreateDurable(0, new_durable_name(name), policy, homes=homes), start)


def new_durable_name(name: str, what: str = "the name of a durable subscription") -> str:
    """Return the name of a durable subscription to be made; Refused if it is invalid. `what` names the argument in the
    error."""
    return check_peer_name(durable_name(name, what), what)


def durable_name(name: str, what: str = "the name of a durable subscription") -> str:
    """Return the name of a durable subscription that may exist: earlier versions have accepted names that
    `new_durable_name` refuses."""
    if not isinstance(name, str) or not name:
        raise Refused(f"{what} is text of 1 to {NAME_BYTES_MAX} bytes, not {name!r}")
    return _name(what, name)


def unix_ns(what: str, at: datetime) -> int:
    """Return a time in Unix nanoseconds; `what` names the argument in the error."""
    if not isinstance(at, datetime) or at.tzinfo is None:
        raise Refused(f"{what} is a datetime with a time zone, not {at!r}: datetime.now(timezone.utc) has one")
    since = at - _EPOCH
    return max(0, (since.days * 86_400 + since.seconds) * 1_000_000_000 + since.microseconds * 1_000)


def _started(durable: CreateDurable, start: Start) -> CreateDurable:
    """Return `durable` with its start in the log set."""
    if isinstance(start, datetime):
        return replace(durable, start=StartAt.TIME, start_ns=unix_ns("start", start))
    if isinstance(start, MessageId):
        return replace(durable, start=StartAt.AFTER, after_origin=start.origin, after_counter=start.counter)
    if start not in ("new", "earliest"):
        raise Refused(f"start is 'new', 'earliest', a datetime or the id of a message, not {start!r}")
    return replace(durable, start=StartAt[start.upper()])


def _homes(homes: Sequence[str]) -> tuple[str, ...]:
    if isinstance(homes, str) or not isinstance(homes, Sequence) or len(homes) > DURABLE_HOMES_MAX:
        raise Refused(f"homes is at most {DURABLE_HOMES_MAX} routers in a list, not {homes!r}")
    if len(set(homes)) < len(homes):
        raise Refused(f"homes is a list of different routers, not {homes!r}")
    return tuple([check_peer_name(home, "a router of homes") for home in homes])


def _copies_min(number: int | None, homes: int) -> int:
    if number is None:
        return 0
    if homes < 2:
        raise Refused("copies_min is of several homes: name them with homes=")
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= homes:
        raise Refused(f"copies_min is a whole number from 1 to {homes}, the number of homes, not {number!r}")
    return number


def _unacked(number: int) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= DURABLE_UNACKED_MAX:
        raise Refused(f"max_unacked is a whole number from 1 to {DURABLE_UNACKED_MAX:,}, not {number!r}")
    return number


def _name(what: str, name: str | None) -> str:
    if name is None:
        return ""
    if not isinstance(name, str) or not 1 <= len(name.encode(errors="replace")) <= NAME_BYTES_MAX:
        raise Refused(f"{what} is text of 1 to {NAME_BYTES_MAX} bytes, or None, not {name!r}")
    return name

"""The state of a durable subscription as its owner sees it: `await client.durables()`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tamis.protocol.errors import FrameError
from tamis.protocol.language import format_filter
from tamis.protocol.old_names import warn
from tamis.protocol.wire.client_bodies import KnownAt
from tamis.protocol.wire.durable_bodies import DurableElsewhere, DurablePolicy, DurableStatus
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.protocol.wire.schema import PackedProgram


@dataclass(frozen=True, slots=True)
class KnownRouters:
    """Which other routers know a durable subscription: `known` have stored it, so its name is taken there; `unknown`
    did not confirm that in time, or are out of reach. Up to 256 names of each; the counts are of all. `is_best_effort`:
    some of `known` do not store messages for it; what enters there may be lost before it arrives. `lacking`: its homes
    that have not made their copy, and will when they hear of it."""

    known: tuple[str, ...]
    unknown: tuple[str, ...]
    known_count: int
    unknown_count: int
    is_best_effort: bool
    lacking: tuple[str, ...] = ()


def known_routers(at: KnownAt) -> KnownRouters:
    is_best_effort = bool(at.known_count) and not at.is_directed
    return KnownRouters(at.known, at.unknown, at.known_count, at.unknown_count, is_best_effort, at.lacking)


@dataclass(frozen=True, slots=True)
class DurableInfo:
    """The state of a durable subscription when the router answered.

    `depth`: messages that are not acknowledged; of these `unacked` are at consumers, `paused` wait for the time of
    their redelivery, and `ready` wait for a consumer with credit. `lag_s`: the age of the oldest of them, by the clock
    of the router; 0.0 if there is none. `consumers`: how many consumers are attached. `bytes`: of all stored messages.
    `policy`: as the arguments of `durable` that make an equal durable subscription. `homes`: its routers, if several.
    `residual`: the program that decides about messages that satisfy `predicate`; b"" if there is none.
    `dialect`: the one that its predicate was written in; "" for the language of Tamis.
    """

    name: str
    predicate: str
    owner: str
    depth: int
    unacked: int
    paused: int
    ready: int
    lag_s: float
    consumers: int
    bytes: int
    policy: dict[str, object]
    homes: tuple[str, ...] = ()
    residual: PackedProgram = b""
    dialect: str = ""

    @property
    def terms(self) -> dict[str, object]:
        warn("KeepInfo.terms", "DurableInfo.policy")
        return self.policy


@dataclass(frozen=True, slots=True)
class DurableAt:
    """A durable subscription of another router, as that states it. `at` is the name by which `consume`, `get` and
    `remove_durable` find it where several routers have the name. `predicate` is empty if this client cannot read it, as
    one of a later version. `is_in_reach`: there is a way to the router now."""

    name: str
    router: str
    predicate: str
    owner: str
    is_in_reach: bool

    @property
    def at(self) -> str:
        return f"{self.name}@{self.router}"


def durable_at(stated: DurableElsewhere) -> DurableAt:
    try:
        predicate = _predicate(stated.filters)
    except FrameError:
        predicate = ""
    return DurableAt(stated.name, stated.router, predicate, stated.owner, stated.is_in_reach)


def _predicate(filters: Iterable[bytes]) -> str:
    return " or ".join([format_filter(decode_filter(packed)) for packed in filters])


def info_of(standing: DurableStatus) -> DurableInfo:
    return DurableInfo(
        name=standing.name,
        predicate=_predicate(standing.policy.filters),
        owner=standing.owner,
        depth=standing.open,
        unacked=standing.out,
        paused=standing.paused,
        ready=standing.open - standing.out - standing.paused,
        lag_s=standing.lag_ms / 1e3,
        consumers=standing.consumers,
        bytes=standing.bytes,
        policy=_policy(standing.policy),
        homes=standing.homes,
        residual=standing.policy.residual,
        dialect=standing.policy.dialect,
    )


def _policy(policy: DurablePolicy) -> dict[str, object]:
    """Return the policy as arguments of `Client.durable`."""
    return {
        "until": None if policy.for_ms else "acked",
        "for_": policy.for_ms / 1e3 if policy.for_ms else None,
        "bytes": policy.bytes,
        "count": policy.count or None,
        "overflow": policy.overflow.name.lower().replace("_", "-"),
        "idle": policy.idle_ms / 1e3 or None,
        "ack_wait_s": policy.ack_wait_ms / 1e3,
        "max_deliveries": policy.deliveries_max or None,
        "backoff_s": tuple([pause / 1e3 for pause in policy.backoff_ms]),
        "dead_letter": policy.dead_letter or None,
        "max_unacked": policy.unacked_max,
        "order_by": policy.order_by or None,
        "latest_by": policy.latest_by or None,
        "copies_min": policy.copies_min or None,
    }

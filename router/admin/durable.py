"""The pages of durable subscriptions: their list, their figures, and the messages that wait in one.

Law: the list is made on the loop, from figures in memory; waiting messages are read by the thread that reads the log. A
look consumes no message and is no delivery.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from heapq import nlargest
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from tamis.native.durable_figures import COMMIT_BUCKETS, CommitTimes, DurableFigures, DurablesFigures
from tamis.native.log import LogFailed
from tamis.protocol.errors import FrameError
from tamis.protocol.json_form import encode_publication
from tamis.protocol.language import format_filter
from tamis.protocol.message_text import format_attributes
from tamis.protocol.old_names import with_old
from tamis.protocol.wire.deliver_view import DeliverView
from tamis.protocol.wire.home_bodies import TAKES_DIRECTED
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.router.access.client_rights import ClientRights
from tamis.router.admin.allowed import may_inspect, may_see
from tamis.router.admin.answers import TEXT_CUT, BadRequest, Budget, Items
from tamis.router.admin.view import RouterView
from tamis.router.clients.durables import why_nothing
from tamis.router.durable.log_bounds import bounds_of
from tamis.serving.answers import Answer

if TYPE_CHECKING:
    from tamis.configs.sections.durable import DurableSettings
    from tamis.protocol.wire.home_bodies import StatedDurable
    from tamis.router.durable.chains import DurableChains
    from tamis.router.durable.hosted import HostedDurable
    from tamis.router.durable.owners import OwnedDurables
    from tamis.router.durable.registry import DurableRegistry
    from tamis.router.durable.service import DurableService
    from tamis.router.durable.waiting import WaitingMessage

SHOWN_BYTES: Final = 16_384
"""Most bytes of packed attributes shown as values, and of a payload; longer attributes are shown as the beginning of
their text, longer payloads by their size."""

OWNERS_SHOWN: Final = 100
BEHIND_S: Final = 2.0
"""How long a router has acknowledged nothing, to be shown as behind."""


def durables_after(
    running: RouterView, number: int, name: str | None, is_shown: Callable[[HostedDurable], bool]
) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield the durable subscriptions from `number` on with their numbers, in the order in which they were made; with
    `name`, only that one. Those that are not shown are left out."""
    if running.durable is None:
        return
    registry = running.durable.registry
    if name is not None:
        held = registry.by_name.get(name)
        yield from [] if held is None or not is_shown(held) else [(held.number, durable_form(registry, held))]
        return
    for each in sorted(found for found in registry.by_number if found >= number):
        if is_shown(registry.by_number[each]):
            yield each, durable_form(registry, registry.by_number[each])


def elsewhere_forms(
    running: RouterView, first: int, name: str | None
) -> Iterator[tuple[int, StatedDurable, dict[str, object]]]:
    """Yield the durable subscriptions of other routers from name number `first` on, as their routers state them; with
    `name`, only those of this name. `at` is the name by which one of several homes is addressed."""
    homes = running.connections.network.homes
    rows = homes.listed(first) if name is None else ((first, *each) for each in homes.at(name))
    for number, router, stated in rows:
        filters = [format_filter(decode_filter(packed)) for packed in stated.filters]
        yield (
            number,
            stated,
            {
                "durable": stated.name,
                "router": router,
                "at": f"{stated.name}@{router}",
                "owner": stated.owner,
                "predicate": " or ".join(filters),
                "is_best_effort": not stated.flags & TAKES_DIRECTED,
                "is_in_reach": running.connections.network.reaches(router),
            },
        )


def durables_form(service: DurableService | None, settings: DurableSettings) -> dict[str, object]:
    """Return the figures of all durable subscriptions and of the log. `service` is None before the first subscription:
    the bound of the log then follows from the space that is free now."""
    if service is None:
        nothing = DurablesFigures.none(), DurableFigures.none(), CommitTimes((0,) * COMMIT_BUCKETS, 0.0)
        log = _log_form({}, 0, bounds_of(settings).bytes_max, is_tight=False)
        empty: dict[str, object] = {
            "best_effort": [],
            "share_bytes": None,
            "owners": [],
            "behind": [],
            "held": _held_form(0, 0, 0),
        }
        return {**_form(*nothing), "log": log, **empty}
    registry = service.registry
    log = _log_form(
        service.log.state(), service.used_bytes(), service.bounds.bytes_max, is_tight=registry.durables.is_tight
    )
    departures = registry.durables.departures()
    owners = [
        with_old({"owner": owner, "subscriptions": own.count, "log_bytes": held}, keeps="subscriptions")
        for owner, own, held in largest_owners(registry)
    ]
    return {
        **_form(registry.all_figures(), registry.totals(), registry.commits()),
        "log": log,
        "best_effort": service.homes.best_effort(),
        "share_bytes": service.share_bytes or None,
        "owners": owners,
        "behind": [] if service.homes.chains is None else list(behind_forms(service.homes.chains)),
        "held": _held_form(departures.waiting, departures.held, departures.not_held),
    }


def _held_form(waiting: int, confirmed: int, refused: int) -> dict[str, object]:
    """Return figures of messages whose publishers wait until each home has them."""
    return {"waiting": waiting, "confirmed": confirmed, "refused": refused}


def behind_forms(chains: DurableChains) -> Iterator[dict[str, object]]:
    """Yield the routers for which messages wait, and that have acknowledged none for BEHIND_S."""
    for router, each in chains.standings():
        if each.silent_s >= BEHIND_S:
            yield {
                "router": router,
                "bytes": each.bytes,
                "full": round(each.full, 3),
                "silent_s": round(each.silent_s, 1),
                "given_up": each.given_up,
                "given_up_old": each.given_up_old,
                "refused": each.refused,
            }


def _log_form(log: dict[str, int], log_bytes: int, bytes_max: int, *, is_tight: bool) -> dict[str, object]:
    return {
        "is_open": bool(log),
        "bytes": log_bytes,
        "bytes_max": bytes_max,
        **{name: log.get(name, 0) for name in ("segments", "batches", "damaged", "set_aside", "missing")},
        **{name: bool(log.get(name)) for name in ("is_full", "is_disk_full", "is_failed")},
        "is_tight": is_tight,
    }


def _form(all_: DurablesFigures, sums: DurableFigures, commits: CommitTimes) -> dict[str, object]:
    form = {
        "subscriptions": all_.durables,
        **_standing(sums),
        **_counts(sums),
        "stored": all_.stored,
        "confirmed": all_.confirmed,
        "refused": all_.refused,
        "held": all_.held,
        "memory_bytes": all_.memory_bytes,
        "commit_ms": {"p50": _ms(commits.quantile_s(0.5)), "p99": _ms(commits.quantile_s(0.99))},
    }
    return with_old(form, keeps="subscriptions", kept="stored")


def largest_owners(registry: DurableRegistry) -> list[tuple[str, OwnedDurables, int]]:
    """Return the OWNERS_SHOWN owners whose subscriptions hold most bytes of the log, and these bytes."""
    held = ((owner, owned, registry.charge_of(owned)) for owner, owned in registry.owners)
    return nlargest(OWNERS_SHOWN, held, key=itemgetter(2))


def lag_s(figures: DurableFigures) -> float:
    """Return the age of the oldest open message in seconds; 0.0 if there is none."""
    return max(0.0, time.time() - figures.oldest_ms / 1e3) if figures.open else 0.0


def ready(figures: DurableFigures) -> int:
    """Return the number of messages that wait for a consumer with credit."""
    return figures.open - figures.out - figures.paused - figures.held_back


def _standing(figures: DurableFigures) -> dict[str, object]:
    form: dict[str, object] = {
        "consumers": figures.consumers,
        "depth": figures.open,
        "unacked": figures.out,
        "paused": figures.paused,
        "ready": ready(figures),
        "held_back": figures.held_back,
        "bytes": figures.bytes,
        "log_bytes": figures.charge,
        "lag_s": round(lag_s(figures), 3),
    }
    return with_old(form, members="consumers")


def _counts(figures: DurableFigures) -> dict[str, object]:
    form = {name: getattr(figures, name) for name in _COUNTS} | {"unknown_ranges": figures.unknowns}
    return with_old(form, doubts="unknown_ranges")


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1e3, 3)


def predicate_form(packed: tuple[bytes, ...]) -> dict[str, object]:
    """Return the text of a predicate; if it is longer than SHOWN_BYTES, its beginning and `predicate_cut`."""
    texts: list[str] = []
    left, at = SHOWN_BYTES, 0
    while at < len(packed) and len(packed[at]) <= left:
        texts.append(format_filter(decode_filter(packed[at])))
        left, at = left - len(texts[-1]), at + 1
    if at < len(packed):
        return {"predicate": " or ".join([*texts, f"... ({len(packed) - at:,} more)"]), "predicate_cut": True}
    return {"predicate": " or ".join(texts)}


def durable_form(registry: DurableRegistry, held: HostedDurable) -> dict[str, object]:
    """Return the figures and the policy of a durable subscription."""
    figures, made = registry.figures(held), held.made
    policy = made.policy
    form = {
        "durable": made.name,
        **predicate_form(policy.filters),
        "dialect": policy.dialect or None,
        "owner": made.owner,
        **({"homes": list(made.homes)} if made.homes else {}),
        "state": held.state.value,
        **_standing(figures),
        "oldest": figures.oldest,
        **_counts(figures),
        "credit": figures.credit,
        "unknown_range": [figures.unknown_first, figures.unknown_last] if figures.unknowns else None,
        "policy": {
            "bytes": policy.bytes,
            "count": policy.count or None,
            "overflow": policy.overflow.name.lower().replace("_", "-"),
            "idle_s": policy.idle_ms / 1e3 or None,
            "ack_wait_s": policy.ack_wait_ms / 1e3,
            "max_deliveries": policy.deliveries_max or None,
            "backoff_s": [pause / 1e3 for pause in policy.backoff_ms],
            "dead_letter": policy.dead_letter or None,
            "max_unacked": policy.unacked_max,
            "order_by": policy.order_by or None,
            "copies_min": policy.copies_min or None,
            "residual": policy.residual.hex() or None,
        },
    }
    return with_old(form, keep="durable", terms="policy", doubtful="unknown_range")


_COUNTS: Final = (
    *("appended", "acked", "delivered", "redelivered", "expired", "dropped", "replaced", "dead", "undeliverable"),
    *("damaged", "skipped", "refused"),
)


async def waiting_page(
    running: RouterView, name: str, after: int, limit: int, is_dead: bool, rights: ClientRights | None
) -> Answer:
    """Return the page of messages that wait in the durable subscription `name` after position `after`; if `is_dead`, of
    its dead letters, which wait in the subscription that its policy names."""
    service, held = held_of(running, name, rights)
    place = held
    if is_dead:
        if not held.rest.dead_letter:
            raise BadRequest(
                404,
                f"durable subscription {name!r} has no `dead_letter`: messages that are rejected or "
                "delivered too often are counted as `undeliverable`",
            )
        _, place = held_of(running, held.rest.dead_letter, rights)
    try:
        looked = await service.look(place, after, limit, held if is_dead else None)
    except LogFailed as error:
        raise BadRequest(503, f"the log cannot be read: {error}") from None
    items, upto = Items(limit, Budget()), after
    names = {each.number: each.name for each in service.registry.by_number.values()}
    left_out = 0
    for message in looked.found:
        if not _is_shown(message, place.name, rights):
            left_out += 1
        elif items.is_full or not items.add(_message_form(message, names)):
            return items.page("messages", durable=place.name, left_out=left_out, next=upto)
        upto = message.position
    return items.page("messages", durable=place.name, left_out=left_out, next=looked.next)


def _is_shown(message: WaitingMessage, durable: str, rights: ClientRights | None) -> bool:
    try:
        return rights is None or may_see(rights, DeliverView(message.frame).attributes, durable)
    except FrameError:
        return False


def held_of(running: RouterView, name: str, rights: ClientRights | None) -> tuple[DurableService, HostedDurable]:
    """Return a durable subscription that is shown to the asker. Raise BadRequest if there is none."""
    service = running.durable
    if running.settings.durable is None:
        raise BadRequest(404, why_nothing(running.settings.data))
    held = service.registry.by_name.get(name) if service is not None else None
    if service is None or held is None or not may_inspect(rights, held.name, held.owner):
        raise BadRequest(404, f"there is no durable subscription {name[:100]!r}")
    return service, held


def _message_form(message: WaitingMessage, names: dict[int, str]) -> dict[str, object]:
    form: dict[str, object] = {"position": message.position, "came_ms": message.came_ms}
    if message.death is not None:
        durable = names.get(message.death.durable)
        dead = {
            "durable": durable,
            "position": message.death.position,
            "deliveries": message.death.deliveries,
            "reason": message.death.reason[:TEXT_CUT],
        }
        form["dead"] = with_old(dead, keep="durable")
    try:
        view = DeliverView(message.frame)
        attributes, payload = view.attributes, view.payload
    except FrameError as error:
        return form | {"unreadable": error.problem}
    form["id"] = f"{view.id.origin:016x}-{view.id.counter}"
    if len(payload) > SHOWN_BYTES:
        form["payload_bytes"], payload = len(payload), b""
    if len(message.frame) - len(view.payload) > SHOWN_BYTES:
        return form | {"attributes": None, "text": format_attributes(attributes)[:TEXT_CUT], "cut": True}
    return form | encode_publication(attributes, payload)

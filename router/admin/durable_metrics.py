"""Metrics of durable subscriptions and of the log.

Law: durable subscriptions are counted together; only the first `durable.series` of them have series by name,
because each name adds series.
"""

from __future__ import annotations

from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from tamis.native.durable_figures import COMMIT_BOUNDS_S
from tamis.router.admin.durable import lag_s, largest_owners, ready
from tamis.router.admin.exposition import Exposition
from tamis.router.durable.alarms import full_part

if TYPE_CHECKING:
    from tamis.configs.sections.durable import DurableSettings
    from tamis.router.durable.service import DurableService

_ARRIVALS: Final = ("arrived", "passed", "repeated", "early", "strange", "not_taken", "from_trees")
_DEPARTURES: Final = ("sent", "left", "resent", "lost", "given_up")
_LOSSES: Final = ("expired", "dropped", "undeliverable", "damaged", "skipped")
_depth, _unacked, _consumers = attrgetter("open"), attrgetter("out"), attrgetter("consumers")


def durable_metrics(page: Exposition, service: DurableService, settings: DurableSettings) -> None:
    """Append the metrics of a router that stores messages."""
    registry = service.registry
    all_, sums, commits = registry.all_figures(), registry.totals(), registry.commits()
    page.gauge("tamis_durables", "Durable subscriptions.", all_.durables)
    page.gauge("tamis_durables_consumers", "Consumers of durable subscriptions.", all_.consumers)
    for name, meaning, value in (
        ("depth", "Messages of durable subscriptions that are not acknowledged.", sums.open),
        ("unacked", "Of these, those at consumers.", sums.out),
        ("paused", "Of these, those that wait for the time of their redelivery.", sums.paused),
        ("ready", "Of these, those that wait for a consumer with credit.", ready(sums)),
    ):
        page.gauge(f"tamis_durables_{name}_messages", meaning, value)
    page.gauge("tamis_durables_lag_seconds", "Age of the oldest message that is not acknowledged.", lag_s(sums))
    for name, meaning, value in (
        ("tamis_durables_messages", "Messages that were written to the log.", all_.stored),
        ("tamis_durables_confirmed", "Publishes that were confirmed from the disk.", all_.confirmed),
        ("tamis_durables_disk_behind", "Times that publishers waited because the disk was behind.", all_.holds),
        (
            "tamis_durables_refused",
            "Publishes refused: a durable subscription, the log or the disk is full.",
            all_.refused,
        ),
    ):
        page.counter(name, meaning, value)
    page.gauge(
        "tamis_durables_held_publishers", "Connections that wait to publish because the disk is behind.", all_.held
    )
    page.histogram(
        "tamis_durables_commit_duration_seconds",
        "Time for which confirmed publishes waited for the disk.",
        COMMIT_BOUNDS_S,
        commits.counts,
        commits.sum_s,
    )
    page.gauge("tamis_durables_memory_bytes", "Memory of the index of the stored messages.", all_.memory_bytes)
    _log(page, service, sums.unknowns)
    _each(page, service, settings.series)


def custody_metrics(page: Exposition, service: DurableService) -> None:
    """Append the metrics of messages between entries and homes."""
    durables = service.registry.durables
    arrivals, departures = durables.arrivals(), durables.departures()
    page.gauge("tamis_custody_chains", "Routers whose messages come to this one by a chain.", arrivals.chains)
    page.gauge("tamis_custody_homes", "Routers for which this one stores messages.", departures.homes)
    page.family(
        "tamis_custody_arrivals_total",
        "counter",
        "Messages that came by a chain, by what became of them.",
        [({"outcome": name}, getattr(arrivals, name)) for name in _ARRIVALS],
    )
    page.family(
        "tamis_custody_departures_total",
        "counter",
        "Copies for homes elsewhere, by how they left.",
        [({"outcome": name}, getattr(departures, name)) for name in _DEPARTURES],
    )
    page.gauge("tamis_custody_waiting", "Messages whose publishers wait until each home has them.", departures.waiting)
    page.family(
        "tamis_custody_held_total",
        "counter",
        "Messages that each home had, and those that were given up for one, of publishers that waited.",
        [({"outcome": name}, getattr(departures, name)) for name in ("held", "not_held")],
    )
    page.counter("tamis_custody_held_seconds", "Time that publishers waited so, in all.", departures.held_us / 1e6)
    chains = service.homes.chains
    if chains is None:
        return
    homes = [({"home": name}, each) for name, each in chains.standings()]
    for name, meaning, value in (
        ("pending_bytes", "Bytes of messages that are stored for another router.", attrgetter("bytes")),
        ("full_ratio", "Part of their bound.", attrgetter("full")),
        ("silent_seconds", "Time for which messages waited and it acknowledged none.", attrgetter("silent_s")),
    ):
        page.family(f"tamis_custody_{name}", "gauge", meaning, [(label, value(each)) for label, each in homes])
    page.family(
        "tamis_custody_given_up_total",
        "counter",
        "Messages for it that were given up, by the bound that they were past.",
        [
            ({**label, "bound": bound}, value)
            for label, each in homes
            for bound, value in (("bytes", each.given_up - each.given_up_old), ("age", each.given_up_old))
        ],
    )
    page.family(
        "tamis_custody_refused_total",
        "counter",
        "Messages for it that had no room, where that is refused.",
        [(label, each.refused) for label, each in homes],
    )
    entries = [({"entry": name}, each) for name, each in chains.missed()]
    for name, meaning, value in (
        ("missing", "Messages that another router gave up for this one.", attrgetter("lost")),
        ("doubts", "Times that it no longer had what it stored for this one.", attrgetter("doubts")),
    ):
        samples = [(label, value(each)) for label, each in entries]
        page.family(f"tamis_custody_{name}_total", "counter", meaning, samples)


def _log(page: Exposition, service: DurableService, unknown_ranges: int) -> None:
    """Append the metrics of the log of a router."""
    registry, log = service.registry, service.log.state()
    page.gauge("tamis_durables_log_bytes", "Bytes of the log that are in use on disk.", service.used_bytes())
    page.gauge("tamis_durables_log_limit_bytes", "Limit of tamis_durables_log_bytes.", service.bounds.bytes_max)
    page.gauge(
        "tamis_durables_log_tight",
        "1 while three quarters of the log are in use, so that shares of owners apply.",
        int(registry.durables.is_tight),
    )
    page.gauge(
        "tamis_durables_share_bytes",
        "Bytes of the log that one owner may hold then; 0 where shares do not apply.",
        service.share_bytes,
    )
    page.family(
        "tamis_durables_owner_log_bytes",
        "gauge",
        "Bytes of the log held by an owner: frames, and 128 bytes a message; the largest 100.",
        [({"owner": owner}, held) for owner, _, held in largest_owners(registry)],
    )
    page.gauge("tamis_durables_log_full", "1 while the log is full.", log["is_full"])
    page.gauge("tamis_durables_disk_full", "1 while the disk has no room for the log to grow.", log["is_disk_full"])
    page.gauge(
        "tamis_durables_log_damaged_files", "Files of the log that are damaged, since the start.", log["damaged"]
    )
    page.gauge("tamis_durables_log_failed", "1 after the log could not be written.", log["is_failed"])
    page.gauge("tamis_durables_log_missing_records", "Records that were on disk and cannot be read.", log["missing"])
    page.gauge(
        "tamis_durables_unknown_ranges",
        "Ranges of these whose durable subscriptions are unknown; reported as Gaps.",
        unknown_ranges,
    )


def _each(page: Exposition, service: DurableService, count: int) -> None:
    registry = service.registry
    rows = [
        ({"durable": held.name}, held, registry.figures(held)) for held in islice(registry.by_number.values(), count)
    ]
    for name, meaning, value in (
        ("depth_messages", "Messages of the durable subscription that are not acknowledged.", _depth),
        ("unacked_messages", "Of these, those at consumers.", _unacked),
        ("lag_seconds", "Age of the oldest of these.", lag_s),
        ("consumers", "Consumers of the durable subscription.", _consumers),
    ):
        page.family(f"tamis_durable_{name}", "gauge", meaning, [(label, value(figures)) for label, _, figures in rows])
    parts = [(label, full_part(figures, held.rest)) for label, held, figures in rows]
    page.family(
        "tamis_durable_full_ratio", "gauge", "Fraction of its limit that the durable subscription holds.", parts
    )
    for name, meaning in (
        ("delivered", "Messages that were delivered."),
        ("redelivered", "Of these, those that were delivered again."),
        ("acked", "Messages that were acknowledged."),
        ("dead", "Messages that became dead letters."),
    ):
        samples = [(label, getattr(figures, name)) for label, _, figures in rows]
        page.family(f"tamis_durable_{name}_total", "counter", meaning, samples)
    lost = [(label | {"how": how}, getattr(figures, how)) for label, _, figures in rows for how in _LOSSES]
    page.family("tamis_durable_lost_total", "counter", "Messages that were lost and reported as a Gap.", lost)

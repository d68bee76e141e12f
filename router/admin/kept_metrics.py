"""Metrics of durable subscriptions and of the log.

Law: durable subscriptions are counted together; only the first `kept.keep_series` of them have series by name, because
each name adds series.
"""

from __future__ import annotations

from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from tamis.native.keep_figures import COMMIT_BOUNDS_S
from tamis.router.admin.exposition import Exposition
from tamis.router.admin.kept import lag_s, largest_owners, ready
from tamis.router.kept.alarms import full_part

if TYPE_CHECKING:
    from tamis.configs.sections.kept import KeptSettings
    from tamis.router.kept.service import KeptService

_LOSSES: Final = ("expired", "dropped", "undeliverable", "damaged", "skipped")
_depth, _unacked, _members = attrgetter("open"), attrgetter("out"), attrgetter("members")


def kept_metrics(page: Exposition, kept: KeptService, settings: KeptSettings) -> None:
    """Append the metrics of a router that stores messages."""
    keeper, log = kept.keeper, kept.log.state()
    all_, sums, commits = keeper.all_figures(), keeper.totals(), keeper.commits()
    page.gauge("tamis_kept_keeps", "Kept subscriptions.", all_.keeps)
    page.gauge("tamis_kept_members", "Attachments to keeps.", all_.members)
    for name, meaning, value in (
        ("depth", "Messages of keeps that nobody has acknowledged.", sums.open),
        ("unacked", "Of these, those that are given out.", sums.out),
        ("paused", "Of these, those that came back and go out again later.", sums.paused),
        ("ready", "Of these, those that wait for a consumer with credit.", ready(sums)),
    ):
        page.gauge(f"tamis_kept_{name}_messages", meaning, value)
    page.gauge("tamis_kept_lag_seconds", "Age of the oldest message that nobody has acknowledged.", lag_s(sums))
    for name, meaning, value in (
        ("tamis_kept_messages", "Messages that were written to the log.", all_.kept),
        ("tamis_kept_confirmed", "Publishes that were confirmed from the disk.", all_.confirmed),
        ("tamis_kept_disk_behind", "Times that publishers had to wait, as the disk was behind.", all_.holds),
        ("tamis_kept_refused", "Publishes that were refused: the log or a keep is full, or the disk is.", all_.refused),
    ):
        page.counter(name, meaning, value)
    page.gauge("tamis_kept_held_publishers", "Connections that wait to publish, as the disk is behind.", all_.held)
    page.histogram(
        "tamis_kept_commit_duration_seconds",
        "How long confirmed publishes waited for the disk.",
        COMMIT_BOUNDS_S,
        commits.counts,
        commits.sum_s,
    )
    page.gauge("tamis_kept_memory_bytes", "Memory of the index of what is kept.", all_.memory_bytes)
    page.gauge("tamis_kept_log_bytes", "Bytes of the log that are in use on disk.", kept.used_bytes())
    page.gauge("tamis_kept_log_limit_bytes", "What tamis_kept_log_bytes may grow to.", kept.bounds.bytes_max)
    page.gauge(
        "tamis_kept_log_tight",
        "1 while three quarters of the log are in use, so that shares of owners bind.",
        int(keeper.keeps.is_tight),
    )
    page.gauge(
        "tamis_kept_share_bytes",
        "What the keeps of one owner may hold of the log then; 0 where shares do not bind.",
        kept.share_bytes,
    )
    page.family(
        "tamis_kept_owner_log_bytes",
        "gauge",
        "Bytes of the log that the keeps of an owner hold: frames, and 128 bytes a message; the largest 100.",
        [({"owner": owner}, held) for owner, _, held in largest_owners(keeper)],
    )
    page.gauge("tamis_kept_log_full", "1 while the log takes no messages for want of room.", log["is_full"])
    page.gauge("tamis_kept_disk_full", "1 while the disk has no room for the log to grow.", log["is_disk_full"])
    page.gauge("tamis_kept_log_damaged_files", "Files of the log that are damaged, since the start.", log["damaged"])
    page.gauge("tamis_kept_log_failed", "1 once the log cannot be written any more.", log["is_failed"])
    page.gauge("tamis_kept_log_missing_records", "Records that were on disk and cannot be read.", log["missing"])
    page.gauge(
        "tamis_kept_doubts",
        "Stretches of these of which nobody knows which keeps they concern; told as Gaps.",
        sums.doubts,
    )
    _each(page, kept, settings.keep_series)


def _each(page: Exposition, kept: KeptService, count: int) -> None:
    keeper = kept.keeper
    rows = [({"keep": held.name}, held, keeper.figures(held)) for held in islice(keeper.by_number.values(), count)]
    for name, meaning, value in (
        ("depth_messages", "Messages of the keep that nobody has acknowledged.", _depth),
        ("unacked_messages", "Of these, those that are given out.", _unacked),
        ("lag_seconds", "Age of the oldest of these.", lag_s),
        ("members", "Attachments to the keep.", _members),
    ):
        page.family(f"tamis_keep_{name}", "gauge", meaning, [(label, value(figures)) for label, _, figures in rows])
    parts = [(label, full_part(figures, held.rest)) for label, held, figures in rows]
    page.family("tamis_keep_full_ratio", "gauge", "The part that the keep has of what it may have.", parts)
    for name, meaning in (
        ("delivered", "Messages that were given out."),
        ("redelivered", "Of these, those that were given out again."),
        ("acked", "Messages that were acknowledged."),
        ("dead", "Messages that went to the keep for dead letters."),
    ):
        samples = [(label, getattr(figures, name)) for label, _, figures in rows]
        page.family(f"tamis_keep_{name}_total", "counter", meaning, samples)
    lost = [(label | {"how": how}, getattr(figures, how)) for label, _, figures in rows for how in _LOSSES]
    page.family("tamis_keep_lost_total", "counter", "Messages that left the keep and were told as a Gap.", lost)

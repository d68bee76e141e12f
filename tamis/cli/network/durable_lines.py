"""The lines of `tamis status` about durable subscriptions.

Law: a router without a log, or of an earlier version, has no line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tamis.cli.tables import byte_count, duration, so_many

_NAMED = 3


def durable_lines(who: object, status: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line about the durable subscriptions of a router, a line about its log, and one for each fault of it."""
    form = status.get("durable")
    if not form:
        return
    log, times = form["log"], form["commit_ms"]
    depth = f"depth {form['depth']:,}"
    if form["depth"]:
        depth += f" ({form['unacked']:,} at consumers), lag {duration(form['lag_s'])}"
    lost = f", lost {lost_of(form):,}" if lost_of(form) else ""
    yield f"{who}: {so_many(form['subscriptions'], 'durable subscription')}, {depth}{lost}"
    commits = "" if times["p50"] is None else f", commits p50 {times['p50']:.1f} ms, p99 {times['p99']:.1f} ms"
    yield f"{who}: log {byte_count(log['bytes'])} of {byte_count(log['bytes_max'])}{commits}"
    if form["subscriptions"] and (best_effort := form.get("best_effort")):
        more = f" and {len(best_effort) - _NAMED} more" if len(best_effort) > _NAMED else ""
        yield (
            f"{who}: messages for its durable subscriptions that enter at {', '.join(best_effort[:_NAMED])}{more} are "
            "best effort"
        )
    if log["is_failed"]:
        yield f"{who} cannot write its log: the disk has failed; stored messages are still delivered"
    elif log["is_full"] and log.get("is_disk_full"):
        yield f"{who} has a full disk: publishes to be stored are refused, acknowledgements are accepted"
    elif log["is_full"]:
        yield f"{who} has a full log: publishes to be stored are refused until messages are acknowledged"
    share = form.get("share_bytes")
    past = [each for each in form.get("owners", ()) if share and log["is_tight"] and each["log_bytes"] > share]
    if past:
        named = ", ".join(f"{each['owner']} ({byte_count(each['log_bytes'])})" for each in past[:_NAMED])
        yield (
            f"{who} has an almost full log; owners above their share of {byte_count(share)}, whose durable "
            f"subscriptions are full: {named}" + (f" and {len(past) - _NAMED:,} more" if len(past) > _NAMED else "")
        )
    yield from _behind(who, form)
    if log["missing"]:
        damaged = f"{so_many(form.get('damaged', 0), 'message')} lost"
        if form.get("unknown_ranges"):
            damaged += f", and {so_many(form['unknown_ranges'], 'range')} of unknown size"
        yield f"{who} cannot read {so_many(log['missing'], 'record')} of its log: {damaged}"


def _behind(who: object, form: Mapping[str, Any]) -> Iterator[str]:
    for each in form.get("behind", ()):
        given_up = f"; {so_many(each['given_up'], 'message')} given up" if each["given_up"] else ""
        yield (
            f"{who} stores {byte_count(each['bytes'])} for {each['router']}, which has acknowledged none of it for "
            f"{duration(each['silent_s'])}: {each['full']:.0%} of the bound{given_up}"
        )


def lost_of(form: Mapping[str, int]) -> int:
    """Return how many messages were lost by policy, damage or skipping; `form` is of a durable subscription or of a
    router."""
    return sum(form.get(how, 0) for how in ("expired", "dropped", "undeliverable", "damaged", "skipped"))

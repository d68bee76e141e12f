"""The router, and one connection, as JSON objects."""

from __future__ import annotations

import os
import time
from dataclasses import asdict
from typing import Final

from tamis.native.switch_figures import DROP_REASONS, LOSSES
from tamis.router.admin.routes import network_form
from tamis.router.admin.view import RouterView
from tamis.router.clients.client import Client
from tamis.router.connections.certificate_watch import CertificateWatch
from tamis.router.daemon.process import resident_bytes

_STATES: Final = ("free", "greeting", "open", "closing", "closed")


def status_form(running: RouterView, version: str) -> dict[str, object]:
    connections, settings = running.connections, running.settings
    figures = connections.switch.figures()
    dropped = dict(zip(DROP_REASONS, figures.dropped, strict=True))
    durable = _durables_form(running)
    return {
        "router": settings.id,
        "version": version,
        "pid": os.getpid(),
        "epoch": connections.epoch,
        "state": running.life.value,
        "ready": running.is_ready,
        "problems": running.connections.health.problems,
        "unready": sorted(running.connections.health.unready),
        "exceptions": running.connections.health.exceptions,
        "alarms": [{"at_s": round(shown.at_s, 3), "text": shown.text} for shown in running.connections.health.recent],
        "need_a_restart": running.need_a_restart,
        "settings_refused": running.settings_refused,
        "uptime_s": round(time.time() - running.started_s, 3),
        "listening": running.listening,
        "certificates": _certificate_forms(running.certificates),
        "strategy": settings.strategy.facts.name,
        "engine": settings.engine.name,
        "clients": len(running.clients.names),
        "connections": figures.connections,
        "subscriptions": figures.subscriptions,
        "filters": figures.filters,
        "publishers": figures.publishers,
        "messages_in": figures.messages_in,
        "deliveries": figures.deliveries,
        "forwarded": figures.forwarded,
        "bytes_in": figures.bytes_in,
        "bytes_out": figures.bytes_out,
        "lost": {reason: count for reason, count in dropped.items() if reason in LOSSES},
        "dropped": dropped,
        "sets": _reuse_form(figures.sets_written, figures.sets_believed, figures.sets_stale),
        "keys": _reuse_form(figures.keys_written, figures.keys_believed, figures.keys_stale),
        "in_vain": figures.in_vain,
        "faults": figures.faults,
        "match_ns_mean": figures.match_ns_sum // max(figures.matches_timed, 1),
        "match_ns_sum": figures.match_ns_sum,
        "matches_timed": figures.matches_timed,
        "queued_bytes": figures.queued_bytes,
        "memory_bytes": resident_bytes(),
        "switch_memory_bytes": figures.memory_bytes,
        "table": asdict(connections.table.stats()),
        "longest_stall_ms": round(running.stalls.held_s_max * 1000, 1),
        "stalls": running.stalls.stalls,
        "network": network_form(running.network) if running.network is not None else None,
        "durable": durable,
        "kept": durable,  # the name of the previous version
        "records": _records_form(running),
    }


def _reuse_form(written: int, believed: int, stale: int) -> dict[str, int]:
    return {"written": written, "believed": believed, "stale": stale}


def _certificate_forms(watch: CertificateWatch) -> list[dict[str, object]]:
    """Return the certificates in use, with their dates as Unix time and the remaining seconds."""
    now = watch.now()
    return [
        {
            "key": each.key,
            "file": each.file,
            "since_s": int(each.valid.since.timestamp()),
            "until_s": int(each.valid.until.timestamp()),
            "left_s": int((each.valid.until - now).total_seconds()),
            "expires_soon": each.expires_soon(now),
        }
        for each in watch.in_use
    ]


def _durables_form(running: RouterView) -> dict[str, object] | None:
    """Return the figures of durable subscriptions; None if the router stores nothing. Its modules are imported only if
    it stores messages."""
    if running.settings.durable is None:
        return None
    from tamis.router.admin.durable import durables_form

    return durables_form(running.durable, running.settings.durable)


def _records_form(running: RouterView) -> dict[str, object] | None:
    """Return why records cannot be written, and how many were lost; None if the router writes no records."""
    if running.recorder is None:
        return None
    return {"trouble": running.recorder.trouble, "lost": running.recorder.lost}


def connection_form(client: Client) -> dict[str, object]:
    figures = asdict(client.connections.switch.connection(client.connection))
    figures["state"] = _STATES[figures["state"]]
    figures["is_blocked"] = bool(figures["is_blocked"])
    head = {"interface": client.connection, "client": client.name, "peer": client.peer}
    return head | figures | {"requests_waiting": client.requests}

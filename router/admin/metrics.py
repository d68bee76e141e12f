"""The metrics page.

Law: figures are read for each request and cost nothing in between. Clients are counted together, because a name for
each would make as many series as clients; `limits.client_series` of them have series of their own, and `/connections`
lists all. The name of a metric consists of what is counted, its unit, and `_total` if it only grows. Alerts, dashboard
and docs/reference/daemon.md change with the names.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from tamis.native.switch_figures import DROP_REASONS, LOSSES, MATCH_BUCKET_LEAST, SwitchFigures
from tamis.native.switch_values import SpaceFigures
from tamis.native.table import TableStats
from tamis.router.admin.edges import edge_figures, root_changes, roots
from tamis.router.admin.exposition import Exposition
from tamis.router.admin.routes import link_forms
from tamis.router.admin.view import RouterView
from tamis.router.connections.wider_network import RemoteWork
from tamis.router.daemon.memory import switch_bytes_max, table_bytes_max
from tamis.router.daemon.process import resident_bytes
from tamis.router.links.relay import RelayEnd

if TYPE_CHECKING:
    from tamis.router.core.core import Core
    from tamis.router.links.joined import JoinedNetwork


def metrics(running: RouterView, version: str) -> str:
    page = Exposition()
    figures = running.connections.switch.figures()
    _about(page, running, version)
    _traffic(page, figures)
    _spaces(page, running.connections.switch.spaces())
    _matching(page, figures)
    _clients(page, running)
    _admissions(page, running)
    _certificates(page, running)
    _tables(page, figures, running.connections.table.stats())
    _limits(page, running, figures)
    if running.network is not None:
        _links(page, running.network)
        _edges(page, running.network.core)
        _roots(page, running.network)
    if running.durable is not None and running.settings.durable is not None:
        from tamis.router.admin.durable_metrics import custody_metrics, durable_metrics
        from tamis.router.admin.old_metrics import append_old

        durable = Exposition()
        durable_metrics(durable, running.durable, running.settings.durable)
        page.append(str(durable))
        if running.settings.metrics.old_names:
            append_old(page, durable)
        custody_metrics(page, running.durable)
    if running.clients.access is not None:
        from tamis.router.admin.access_metrics import access_metrics

        access_metrics(page, running.clients.access, running.durable)
    if running.recorder is not None:
        trouble, lost = running.recorder.trouble, running.recorder.lost
        page.gauge("tamis_records_failing", "1 while records cannot be written.", int(bool(trouble)))
        page.counter("tamis_records_lost", "Records lost for lack of room in memory or on the disk.", lost)
    _process(page, running)
    return str(page)


def _about(page: Exposition, running: RouterView, version: str) -> None:
    settings = running.settings
    build = {"version": version, "python": platform.python_version()}
    page.family("tamis_build_info", "gauge", "Version that runs; always 1.", [(build, 1)])
    chosen = {"broadcast": settings.broadcast, "strategy": settings.strategy.facts.name, "engine": settings.engine.name}
    page.family("tamis_router_info", "gauge", "Identity of the router; always 1.", [({"id": settings.id} | chosen, 1)])
    page.gauge("tamis_ready", "1 while the router is ready: it serves and has no problem.", int(running.is_ready))
    health = running.connections.health
    page.counter("tamis_alarms", "Alarms for the operator.", health.alarms)
    page.counter("tamis_exceptions", "Unexpected exceptions: bugs.", health.exceptions)
    page.gauge("tamis_clients", "Connected clients, after their greeting.", len(running.clients.names))


def _spaces(page: Exposition, spaces: Mapping[str, SpaceFigures]) -> None:
    for name, meaning, column in (
        ("checked", "Messages that named the space where they entered.", 0),
        ("refused", "Of these, those that violated the space.", 1),
    ):
        samples = [({"space": space}, row[column]) for space, row in spaces.items()]
        page.family(f"tamis_space_messages_{name}_total", "counter", meaning, samples)


def _traffic(page: Exposition, figures: SwitchFigures) -> None:
    for name, meaning, value in (
        ("tamis_messages_received", "Well-formed messages from clients and neighbours.", figures.messages_in),
        ("tamis_messages_delivered", "Copies of messages queued for clients.", figures.deliveries),
        ("tamis_messages_forwarded", "Copies of messages queued for neighbours.", figures.forwarded),
        ("tamis_received_bytes", "Bytes received from clients and neighbours.", figures.bytes_in),
        ("tamis_sent_bytes", "Bytes sent to clients and neighbours.", figures.bytes_out),
    ):
        page.counter(name, meaning, value)
    for name, meaning, value in (
        ("tamis_sets_written", "Messages that got the set of routers with matching interest.", figures.sets_written),
        ("tamis_sets_believed", "Messages that were forwarded by their set, without a match.", figures.sets_believed),
        ("tamis_sets_stale", "Messages that were matched because their set was of other tables.", figures.sets_stale),
        ("tamis_keys_written", "Messages that were matched for the keys of their copies.", figures.keys_written),
        ("tamis_keys_believed", "Messages with copies sent by keys, without a match.", figures.keys_believed),
        ("tamis_keys_stale", "Messages that were matched because their keys were of other tables.", figures.keys_stale),
        ("tamis_messages_in_vain", "Messages from neighbours that match no interest here or behind.", figures.in_vain),
        (
            "tamis_residual_candidates",
            "Messages that a residual program was asked about, for each of them.",
            figures.residual_candidates,
        ),
        ("tamis_residual_passed", "Messages that a residual program let pass.", figures.residual_passed),
        (
            "tamis_residual_over_budget",
            "Messages that a residual program had too few steps for.",
            figures.residual_over_budget,
        ),
    ):
        page.counter(name, meaning, value)
    for name, meaning, values in (
        ("tamis_messages_dropped", "Messages, or copies of them, that were dropped.", figures.dropped),
        ("tamis_dropped_bytes", "Bytes of dropped messages.", figures.drop_bytes),
    ):
        samples = [({"reason": why}, value) for why, value in zip(DROP_REASONS, values, strict=True)]
        page.family(f"{name}_total", "counter", meaning, samples)
    lost = [({"reason": why}, n) for why, n in zip(DROP_REASONS, figures.dropped, strict=True) if why in LOSSES]
    page.family("tamis_messages_lost_total", "counter", "Of the dropped messages, those that a receiver misses.", lost)
    page.counter("tamis_faults", "Protocol violations of peers.", figures.faults)
    meaning = "Traces and dry runs above a client's limit."
    page.counter("tamis_traces_refused", meaning, figures.traces_refused)
    page.gauge("tamis_queued_bytes", "Bytes that wait for receivers.", figures.queued_bytes)


def _clients(page: Exposition, running: RouterView) -> None:
    """Append the metrics of single clients, if the topology file has `limits.client_series`."""
    if not running.settings.limits.client_series:
        return
    counts = list(running.clients.series.counts())
    for name, kind, meaning, key in _CLIENT_FAMILIES:
        samples = [({"client": client}, getattr(own, key)) for client, own in counts]
        page.family(f"tamis_client_{name}", kind, meaning, samples)


_CLIENT_FAMILIES: Final = (
    ("messages_received_total", "counter", "Messages from the client.", "messages_in"),
    ("messages_delivered_total", "counter", "Copies of messages queued for the client.", "deliveries"),
    ("messages_dropped_total", "counter", "Messages dropped because the client's queue was full.", "dropped"),
    ("queued_bytes", "gauge", "Bytes that wait for the client.", "queued_bytes"),
    ("filters", "gauge", "Filters of the client.", "filters"),
)


def _admissions(page: Exposition, running: RouterView) -> None:
    admissions = running.connections.admissions
    let_in = [({"side": side.value}, count) for side, count in admissions.let_in.items()]
    page.family("tamis_admissions_total", "counter", "Clients and neighbours that were admitted.", let_in)
    refused = [({"side": side.value, "reason": why.value}, count) for (side, why), count in admissions.refused.items()]
    meaning = "Connections that were not admitted."
    page.family("tamis_admissions_refused_total", "counter", meaning, refused)
    page.gauge("tamis_greeting_connections", "Connections that have not greeted.", len(running.clients.room))


def _certificates(page: Exposition, running: RouterView) -> None:
    """Append the expiry times of the router's certificates, if it has any."""
    in_use = running.certificates.in_use
    if in_use:
        samples = [({"certificate": each.key}, int(each.valid.until.timestamp())) for each in in_use]
        meaning = "Unix time at which the certificate expires."
        page.family("tamis_certificate_expires_timestamp_seconds", "gauge", meaning, samples)


def _matching(page: Exposition, figures: SwitchFigures) -> None:
    bounds = [2 ** (MATCH_BUCKET_LEAST + index) / 1e9 for index in range(len(figures.match_ns) - 1)]
    meaning = "Time to match a message; one in 256 is measured."
    page.histogram("tamis_match_duration_seconds", meaning, bounds, figures.match_ns, figures.match_ns_sum / 1e9)
    page.counter(
        "tamis_match_steps",
        "Steps of matching in all tables; the engine defines a step.",
        figures.steps,
    )


def _tables(page: Exposition, figures: SwitchFigures, table: TableStats) -> None:
    page.gauge("tamis_subscriptions", "Subscriptions of clients.", figures.subscriptions)
    page.gauge("tamis_filters", "Filters in the table.", table.filters)
    page.gauge("tamis_constraints", "Constraints in the table.", table.constraints)
    page.gauge("tamis_publishers", "Publishers whose messages are remembered.", figures.publishers)
    page.gauge("tamis_table_bytes", "Memory of the table of clients' filters.", table.memory_bytes)
    page.gauge("tamis_switch_bytes", "Memory of queues, buffers and subscriptions.", figures.memory_bytes)


def _limits(page: Exposition, running: RouterView, figures: SwitchFigures) -> None:
    """Append limits and the figures that they bound."""
    settings = running.settings
    page.gauge("tamis_table_limit_bytes", "Limit of tamis_table_bytes.", table_bytes_max(settings))
    page.gauge("tamis_switch_limit_bytes", "Limit of tamis_switch_bytes.", switch_bytes_max(settings))
    page.gauge("tamis_connections", "Connections, including those that greet or close.", figures.connections)
    page.gauge("tamis_connections_limit", "Limit of tamis_clients.", running.connections.places.clients)


def _links(page: Exposition, network: JoinedNetwork) -> None:
    forms = link_forms(network)
    labels = [{"neighbour": str(form["neighbour"])} for form in forms]
    page.gauge(
        "tamis_reachable_routers",
        "Routers that can be reached, this one included.",
        len(network.core.core_state.trees.routers),
    )
    page.gauge("tamis_remote_filters", "Filters of other routers.", network.connections.switch.figures().remote_filters)
    up = [float(form["state"] == "up") for form in forms]
    page.family("tamis_link_up", "gauge", "1 while the neighbour is linked.", zip(labels, up, strict=True))
    in_step = [float(form["in_step"]) for form in forms]
    page.family(
        "tamis_link_in_step", "gauge", "1 while both ends have the same state.", zip(labels, in_step, strict=True)
    )
    page.gauge("tamis_in_step", "1 while all links that are up are in step.", int(network.step.is_in_step))
    page.counter("tamis_custody_frames_passed", "Frames of custody passed on.", network.neighbours.custody.passed)
    ends = [({"reason": end.value}, network.neighbours.custody.ended[end]) for end in RelayEnd]
    meaning = "Frames of custody that ended here; their senders repeat them."
    page.family("tamis_custody_frames_ended_total", "counter", meaning, ends)
    _remote_sessions(page, network.connections.remotes)
    rtt = [(label, form["rtt_us"] / 1e6) for label, form in zip(labels, forms, strict=True) if form["rtt_us"]]
    page.family("tamis_link_rtt_seconds", "gauge", "Round-trip time measured by the kernel.", rtt)
    for name, kind, meaning, key in _LINK_FAMILIES:
        samples = [(label, form[key]) for label, form in zip(labels, forms, strict=True)]
        page.family(f"tamis_link_{name}", kind, meaning, samples)


def _remote_sessions(page: Exposition, remotes: RemoteWork | None) -> None:
    if remotes is None:
        return
    figures = remotes.figures()
    ends = [({"end": "near"}, figures.near_ends), ({"end": "far"}, figures.far_ends)]
    page.family("tamis_remote_sessions", "gauge", "Sessions of clients with homes at other routers.", ends)
    names = ("sent", "resent", "passed", "dropped", "ended")
    samples = [({"what": name}, getattr(figures, name)) for name in names]
    page.family("tamis_remote_frames_total", "counter", "Frames of remote sessions, and sessions that broke.", samples)


def _edges(page: Exposition, core: Core) -> None:
    """Append the figures of edges, if the strategy has edges."""
    form = edge_figures(core)
    if form is not None:
        page.gauge("tamis_edges", "Edges with received interest.", form.heard)
        meaning = "Of these, edges that receive all messages until their interest is complete."
        page.gauge("tamis_edges_incomplete", meaning, form.incomplete)
        page.gauge("tamis_edge_filters", "Filters of edges, received from neighbours.", form.filters)


def _roots(page: Exposition, network: JoinedNetwork) -> None:
    """Append the roots of classes, if the strategy has roots."""
    found = roots(network)
    if found is not None:
        named = [({"class": each.class_name or "", "root": str(each.root)}, 1) for each in found if each.is_named]
        meaning = "The root that messages of a class name; always 1."
        page.family("tamis_class_root_info", "gauge", meaning, named)
        meaning = "Classes whose messages name no root, and go to all routers."
        page.gauge("tamis_classes_without_root", meaning, len(found) - len(named))
        page.counter("tamis_root_changes", "Changes of the root of a class.", root_changes(network.core) or 0)


_LINK_FAMILIES: Final = (
    ("queued_bytes", "gauge", "Bytes that wait in the switch for the neighbour.", "queued_bytes"),
    ("control_queued_bytes", "gauge", "Bytes of control frames that wait for their turn.", "control_queued_bytes"),
    ("sessions_total", "counter", "Sessions with the neighbour.", "sessions"),
    ("messages_received_total", "counter", "Messages from the neighbour.", "messages_in"),
    ("messages_sent_total", "counter", "Messages queued for the neighbour.", "messages_out"),
    ("received_bytes_total", "counter", "Bytes from the neighbour.", "bytes_in"),
    ("sent_bytes_total", "counter", "Bytes sent to the neighbour.", "bytes_out"),
    ("messages_dropped_total", "counter", "Messages dropped because the queue for the neighbour was full.", "dropped"),
    ("messages_lost_total", "counter", "Messages that the neighbour reports as dropped.", "lost"),
    ("messages_refused_total", "counter", "Messages from the neighbour that its border did not let come.", "refused"),
    ("messages_withheld_total", "counter", "Messages that the border did not let go to the neighbour.", "withheld"),
    ("statements_refused_total", "counter", "Statements for routers that are not behind it.", "statements_refused"),
    ("control_frames_received_total", "counter", "Control frames from the neighbour.", "control_frames_in"),
    ("control_frames_sent_total", "counter", "Control frames sent to the neighbour.", "control_frames_out"),
    ("control_received_bytes_total", "counter", "Bytes of control frames from the neighbour.", "control_bytes_in"),
    ("control_sent_bytes_total", "counter", "Bytes of control frames sent to the neighbour.", "control_bytes_out"),
)


def _process(page: Exposition, running: RouterView) -> None:
    stalls = running.stalls
    page.gauge("tamis_loop_late_max_seconds", "Longest delay of the loop, for any reason.", stalls.late_s_max)
    page.gauge("tamis_loop_stall_max_seconds", "Longest time that the router itself held the loop.", stalls.held_s_max)
    page.counter("tamis_loop_stalls", "Times that the router held the loop for more than 50 ms.", stalls.stalls)
    page.gauge("process_resident_memory_bytes", "Resident memory size in bytes.", resident_bytes())
    page.counter("process_cpu_seconds", "Total user and system CPU time spent in seconds.", time.process_time())
    page.gauge("process_start_time_seconds", "Start time since the epoch in seconds.", running.started_s)

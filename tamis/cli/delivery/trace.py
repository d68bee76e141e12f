"""`tamis trace`: publish a message, and show what each router did with it or where it would go."""

from __future__ import annotations

import click

from tamis.cli.delivery.dry_run import HEAD as DRY_HEAD
from tamis.cli.delivery.dry_run import DryRunDisplay
from tamis.cli.delivery.trails import Form, Names, end, followed, router_option, show, some, timeout_option
from tamis.cli.reach.connecting import access_options
from tamis.cli.reach.predicates import event_dialect_option
from tamis.protocol.old_names import with_old
from tamis.protocol.wire.report_bodies import MatchedFilter, TraceRecord

_EXAMPLE = """\b
Examples:
  tamis trace class=alert severity=6 device=web-3
  tamis trace tamis://10.0.0.5:7400 '{"price": 300, "dest": "MXP"}' --payload hello
  tamis trace class=alert severity=6 --router network.yaml
  tamis trace class=alert severity=6 --json
  tamis trace --dialect mqtt hall/temperature
  tamis trace --dry-run class=alert severity=6 device=web-3 --router network.yaml
"""
_HEAD = ("arrived ms", "match us", "filters", "forwarded to", "stored by", "delivered to", "matching filters")


@click.command("trace", epilog=_EXAMPLE)
@click.argument("words", nargs=-1, metavar="[ADDRESS]... ATTRIBUTE...")
@click.option("--payload", metavar="TEXT", default="", help="Set the payload.")
@click.option("--dry-run", "is_dry", is_flag=True, help="Publish nothing; show where the message would go.")
@event_dialect_option
@router_option
@timeout_option
@access_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each step.")
def command(
    words: tuple[str, ...],
    payload: str,
    is_dry: bool,
    dialect: str | None,
    target: str | None,
    timeout_s: float,
    name: str | None,
    token_file: str | None,
    ca: str | None,
    as_json: bool,
) -> int:
    """Publish a message and show its route.

    The message is published and delivered. Each line is a router that received it, below the router that forwarded it:
    the arrival time after the first router (by the clocks of both), the time for matching, the number of matching
    filters of clients and of other routers, the routers and clients that it was queued for, and the durable
    subscriptions that store it. For another router only the first matching filter counts.

    With --dry-run nothing is delivered or stored. A request takes the route of the message, and each line shows the
    number of subscriptions at a router that the message would satisfy and their clients, the routers that it would be
    forwarded to, and the durable subscriptions that would store it.

    ADDRESS, ATTRIBUTE and --dialect are as for `tamis pub`. Routers report the numbers of clients and of their
    subscriptions; --router also requests names and predicates (TARGET is as for `tamis status`). The exit code is 1 if
    a router did not answer.
    """
    if is_dry and payload:
        raise click.UsageError("--payload cannot be used with --dry-run, which publishes no message")
    if is_dry:
        dry, names = followed(
            *(words, (name, token_file, ca), target, dialect),
            lambda client, say: client.route(say, timeout_s=timeout_s),
        )
        display = DryRunDisplay(names)
        show(dry, names, DRY_HEAD, display.row, display.form if as_json else None)
        return end(dry, names, timeout_s)
    trail, names = followed(
        *(words, (name, token_file, ca), target, dialect),
        lambda client, attributes: client.trace(attributes, payload.encode(), timeout_s=timeout_s),
    )
    entry = trail.report(trail.entry) if trail.entry is not None else None
    view = _TraceDisplay(names, entry.arrived_ns if entry is not None else 0)
    show(trail, names, _HEAD, view.row, view.form if as_json else None)
    return end(trail, names, timeout_s)


class _TraceDisplay:
    """The lines of a trace. `began_ns`: when the message arrived at the first router."""

    def __init__(self, names: Names, began_ns: int) -> None:
        self._names = names
        self._began_ns = began_ns

    def row(self, record: TraceRecord) -> list[str]:
        to_routers, to_clients = self._departures(record, False), self._departures(record, True)
        unlisted = record.departure_count - len(record.departures)  # a report lists routers before clients
        return [
            f"{(record.arrived_ns - self._began_ns) / 1e6:10.3f}",
            f"{record.match_ns / 1e3:8.1f}",
            f"{record.filter_count:7,}",
            f"dropped: {record.dropped}" if record.dropped else some(to_routers, len(to_routers)),
            some(record.durables, record.durable_count),
            some(to_clients, len(to_clients) + unlisted),
            some([self._matched(each) for each in record.filters], record.filter_count, "; "),
        ]

    def form(self, record: TraceRecord) -> Form:
        form: Form = {
            "arrived_ns": record.arrived_ns,
            "after_ns": record.arrived_ns - self._began_ns,
            "match_ns": record.match_ns,
            "hop_limit": record.hop_limit,
            "filter_count": record.filter_count,
            "filters": [self._filter_form(each) for each in record.filters],
            "departure_count": record.departure_count,
            "routers": self._departures(record, False),
            "clients": self._departures(record, True),
            "durable_count": record.durable_count,
            "durables": list(record.durables),
            "dropped": record.dropped,
        }
        return with_old(form, keeps="durables", keep_count="durable_count")

    def _departures(self, record: TraceRecord, to_client: bool) -> list[str]:
        return [self._names.of(each.to) for each in record.departures if each.to_client is to_client]

    def _matched(self, matched: MatchedFilter) -> str:
        return self._names.subscription(*matched)

    def _filter_form(self, matched: MatchedFilter) -> Form:
        issuer, id_ = matched
        return {
            "issuer": self._names.of(issuer),
            "id": id_,
            "text": self._names.text(issuer, id_),
            "group": self._names.group(issuer, id_),
        }

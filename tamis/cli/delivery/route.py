"""`tamis route`: where a message would go."""

from __future__ import annotations

import click

from tamis.cli.delivery.trails import Form, Names, end, followed, router_option, show, some, timeout_option
from tamis.cli.reach.connecting import access_options
from tamis.protocol.wire.report_bodies import DryRunReport, WouldDeliver

_EXAMPLE = """\b
Examples:
  tamis route class=alert severity=6 device=web-3
  tamis route tamis://10.0.0.5:7400 '{"price": 300, "dest": "MXP"}' --router network.yaml
  tamis route class=alert severity=6 --json
"""
_HEAD = ("subscriptions", "passed on to", "would be kept by", "would deliver to")


@click.command("route", epilog=_EXAMPLE)
@click.argument("words", nargs=-1, metavar="[ADDRESS]... ATTRIBUTE...")
@router_option
@timeout_option
@access_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each step.")
def command(
    words: tuple[str, ...],
    target: str | None,
    timeout_s: float,
    name: str | None,
    token_file: str | None,
    ca: str | None,
    as_json: bool,
) -> int:
    """Show where a message would go, and to whom; nothing is delivered or kept.

    The question goes the way of the message. Each line is a router that it came to, under the one that it came from:
    how many subscriptions there the message would satisfy and whose they are, the routers that it was passed on to, and
    the kept subscriptions that would take it.

    ADDRESS, ATTRIBUTE, --router and the exit code are as for `tamis trace`.
    """
    trail, names = followed(
        *(words, (name, token_file, ca), target),
        lambda client, attributes: client.route(attributes, timeout_s=timeout_s),
    )
    view = _RouteDisplay(names)
    show(trail, names, _HEAD, view.row, view.form if as_json else None)
    return end(trail, names, timeout_s)


class _RouteDisplay:
    def __init__(self, names: Names) -> None:
        self._names = names

    def row(self, report: DryRunReport) -> list[str]:
        return [
            f"{report.delivery_count:13,}",
            some(self._routers(report), report.passed_count),
            some(report.keeps, report.keep_count),
            some([self._names.subscription(*each) for each in report.deliveries], report.delivery_count, "; "),
        ]

    def form(self, report: DryRunReport) -> Form:
        return {
            "delivery_count": report.delivery_count,
            "deliveries": [self._delivery_form(each) for each in report.deliveries],
            "passed_count": report.passed_count,
            "routers": self._routers(report),
            "keep_count": report.keep_count,
            "keeps": list(report.keeps),
        }

    def _routers(self, report: DryRunReport) -> list[str]:
        return [self._names.of(number) for number in report.passed_to]

    def _delivery_form(self, delivery: WouldDeliver) -> Form:
        client, id_ = delivery
        said = {"text": self._names.text(client, id_), "group": self._names.group(client, id_)}
        return {"client": self._names.of(client), "subscription": id_} | said
